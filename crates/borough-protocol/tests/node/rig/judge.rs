//! What must hold in every test, whatever it does: looked at after every step.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::node::{Event, Node};
use borough_protocol::table::{Cluster, Removal, Table};
use borough_protocol::version::Term;

#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// Tables as the first who had them had them.
    tables: BTreeMap<(Cluster, u64), Table>,
    offices: BTreeMap<(Cluster, Term), Uid>,
    /// Lives whose things may have new owners.
    freed: BTreeSet<Uid>,
}

impl Judge {
    /// Two tables of one version are equal, and one node a term is in office.
    pub(crate) fn look(&mut self, node: &Node) {
        let (Some(table), Some(log)) = (node.table(), node.log()) else { return };
        let place = (table.cluster(), table.version().index);
        let first = self.tables.entry(place).or_insert_with(|| table.clone());
        assert_eq!(first, table, "two tables of one version differ");
        if log.in_office() {
            let first = *self.offices.entry((table.cluster(), log.term())).or_insert(node.uid());
            assert_eq!(first, node.uid(), "two coordinators of one term");
        }
    }

    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::Freed(uid) | Event::Removed(uid, Removal::Goodbye) => {
                self.freed.insert(*uid);
            }
            Event::Joined(_)
            | Event::Admitted(_)
            | Event::Suspended
            | Event::Resumed
            | Event::Topology
            | Event::Table(_)
            | Event::Removed(..)
            | Event::Drain
            | Event::Closing
            | Event::LogLost(_)
            | Event::AddressTaken(..)
            | Event::EraIgnored(_)
            | Event::Rests(_) => {}
        }
    }

    /// Whether what that life owned may run elsewhere.
    pub(crate) fn is_freed(&self, uid: Uid) -> bool {
        self.freed.contains(&uid)
    }
}
