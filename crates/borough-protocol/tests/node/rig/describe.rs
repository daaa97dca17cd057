//! Everything about all nodes, for the message of a test that failed.

use std::fmt::Write;

use borough_protocol::log::Log;
use borough_protocol::node::Node;

use super::Rig;

impl Rig {
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("at {:?}, {:?}, ends {:?}\n", self.now, self.network, self.ends);
        for (name, node) in &self.nodes {
            write!(text, "{name} {:?} runs {} ", node.uid(), self.runs(name)).expect("a string takes it");
            text += &details(node).unwrap_or_default();
            text += "\n";
        }
        text
    }
}

fn details(node: &Node) -> Option<String> {
    let (table, log, document) = (node.table()?, node.log()?, node.document()?);
    let seen: Vec<_> =
        document.view(true).iter().map(|line| (line.member.uid(), line.shown, line.unreachable)).collect();
    Some(format!(
        "{:?} {:?} members {:?} removed {:?} voters {:?} {:?} office {} {} log voters {:?} learners {:?} \
         coordinator {:?} gossip {seen:?} converged {}",
        table.cluster(),
        table.version(),
        table.members().keys().collect::<Vec<_>>(),
        table.removed(),
        table.voters(),
        log.term(),
        log.in_office(),
        log.may_act(),
        log.voters(),
        log.learners(),
        log.coordinator(),
        document.is_converged(),
    ))
}
