//! A model of what hosts one shard: a mailbox, the stance, entities with queues and turns, what is frozen, installed or waits.

mod orders;
mod turns;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use borough_protocol::flaws::{Flaw, Flaws};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::{Effect, Input};
use borough_protocol::sharding::stance::{Origin, Passage, Place, Stance};
use borough_protocol::sharding::{Epoch, ShardId};
use borough_protocol::table::Table;
use borough_protocol::version::Version;

pub(in crate::sim) use self::turns::Turn;
use super::message::{Cargo, Ended, Frame, Item, MessageId};

/// What stands in a lane's mailbox.
#[derive(Clone, Debug)]
pub(in crate::sim) enum Letter {
    Item {
        tag: Epoch,
        item: Item,
    },
    Begin {
        next: Epoch,
        origin: Origin,
    },
    Whole {
        next: Epoch,
        cargo: Cargo,
    },
    /// An order of the region, and the lineage that the table shows with it.
    Order(Effect, Epoch),
    /// The table is newer.
    Look(Arc<Table>),
}

/// What a lane wants done.
#[derive(Debug)]
pub(in crate::sim) enum Deed {
    Send {
        to: Uid,
        frame: Frame,
    },
    Tell(Input),
    Done {
        origin: Uid,
        nonce: u64,
    },
    End(MessageId, Ended),
    /// What came with a transfer, or was frozen, is to run from this state on.
    GoesOn {
        lineage: Epoch,
        counts: BTreeMap<u8, u32>,
    },
    /// It was dropped because its node leaves and no other hosts the type.
    HadNoOtherHost,
    /// It is to be fenced before it runs.
    Fence {
        epoch: Epoch,
    },
    /// A move that cannot be if it is not cut in time.
    Freezing {
        next: Epoch,
    },
}

/// The host of one shard on one node.
#[derive(Debug)]
pub(in crate::sim) struct Lane {
    me: Uid,
    shard: ShardId,
    flaws: Flaws,
    stance: Stance,
    table: Arc<Table>,
    pub(in crate::sim) mailbox: VecDeque<Letter>,
    pub(in crate::sim) is_planned: bool,
    home: Option<Home>,
    install: Option<Install>,
    waiting: VecDeque<(Epoch, Item)>,
    turns: u64,
    cuts: u32,
}

/// A shard that lives here.
#[derive(Debug)]
struct Home {
    epoch: Epoch,
    lineage: Epoch,
    /// The epoch at which the store was fenced last: turns run at it.
    runs_at: Epoch,
    /// Whether it began here and was never fenced.
    is_new: bool,
    /// Whether the store is fenced and the state is there.
    is_ready: bool,
    /// The epoch was raised: it is fenced once no entity is in a turn.
    is_raised: bool,
    entities: BTreeMap<u8, Entity>,
    frost: Option<Frost>,
    /// What came after the cut.
    late: VecDeque<Item>,
}

#[derive(Debug, Default)]
struct Entity {
    count: u32,
    queue: VecDeque<MessageId>,
    turn: Option<Turn>,
}

/// Where it is to go, and whether it was cut and sent.
#[derive(Clone, Copy, Debug)]
struct Frost {
    to: Uid,
    next: Epoch,
    is_cut: bool,
}

/// What is being taken in.
#[derive(Debug)]
struct Install {
    epoch: Epoch,
    cargo: Option<Cargo>,
    late: VecDeque<Item>,
}

impl Lane {
    pub(in crate::sim) fn new(me: Uid, shard: ShardId, table: Arc<Table>, flaws: Flaws) -> Self {
        let mut stance = Stance::new(flaws);
        stance.look(table.issued(Some(shard)));
        Self {
            me,
            shard,
            flaws,
            stance,
            table,
            mailbox: VecDeque::new(),
            is_planned: false,
            home: None,
            install: None,
            waiting: VecDeque::new(),
            turns: 0,
            cuts: 0,
        }
    }

    /// Does what the next letter says.
    pub(in crate::sim) fn step(&mut self, deeds: &mut Vec<Deed>) {
        let Some(letter) = self.mailbox.pop_front() else { return };
        let is_news = matches!(letter, Letter::Order(..) | Letter::Look(_));
        match letter {
            Letter::Item { tag, item } => self.place(tag, item, deeds),
            Letter::Begin { next, origin } => self.begin_install(next, origin, deeds),
            Letter::Whole { next, cargo } => self.end_install(next, cargo, deeds),
            Letter::Order(order, lineage) => self.obey(&order, lineage, deeds),
            Letter::Look(table) => {
                self.stance.look(table.issued(Some(self.shard)));
                self.table = table;
            }
        }
        let later = self.flaws.has(Flaw::WaitingOvertaken) && !self.mailbox.is_empty();
        if is_news && !later {
            for (tag, item) in std::mem::take(&mut self.waiting) {
                self.place(tag, item, deeds);
            }
        }
    }

    fn place(&mut self, tag: Epoch, item: Item, deeds: &mut Vec<Deed>) {
        match item {
            Item::Message { id, entity } => self.place_message(tag, (id, entity), deeds),
            Item::Barrier { origin, nonce, min_version } => {
                self.place_barrier(tag, (origin, nonce, min_version), deeds);
            }
        }
    }

    fn place_message(&mut self, tag: Epoch, (id, entity): (MessageId, u8), deeds: &mut Vec<Deed>) {
        let item = Item::Message { id, entity };
        match (self.stance.place(tag), &mut self.home, &mut self.install) {
            (Place::Run, Some(home), _) => home.entities.entry(entity).or_default().queue.push_back(id),
            (Place::BehindTheCut, Some(home), _) => home.late.push_back(item),
            (Place::Installed, _, Some(install)) => install.late.push_back(item),
            (Place::Forward { to, epoch }, ..) => {
                let (to, epoch) = self.by_table().unwrap_or((to, epoch));
                deeds.push(Deed::Send { to, frame: Frame::Item { shard: self.shard, tag: epoch, item } });
            }
            (Place::Wait, ..) => self.waiting.push_back((tag, item)),
            (Place::Refuse(_), ..) => deeds.push(Deed::End(id, Ended::Refused("no such tag here"))),
            (Place::Run | Place::BehindTheCut | Place::Installed, ..) => {
                unreachable!("the stance and the shard differ")
            }
        }
    }

    fn place_barrier(
        &mut self,
        tag: Epoch,
        (origin, nonce, min_version): (Uid, u64, Option<Version>),
        deeds: &mut Vec<Deed>,
    ) {
        let (table, shard) = (self.table.clone(), self.shard);
        let is_member = |uid| table.member(uid).is_some();
        let item = |min_version| Item::Barrier { origin, nonce, min_version };
        let passage = self.stance.place_barrier(tag, min_version, table.version(), is_member);
        match (passage, &mut self.home, &mut self.install) {
            (Passage::Done, ..) => deeds.push(Deed::Done { origin, nonce }),
            (Passage::Stand(Place::Installed), _, Some(install)) => install.late.push_back(item(None)),
            (Passage::Stand(_), Some(home), _) => home.late.push_back(item(None)),
            (Passage::Pass { to, tag }, ..) => {
                let (to, tag) = self.by_table().unwrap_or((to, tag));
                deeds.push(Deed::Send { to, frame: Frame::Item { shard, tag, item: item(None) } });
            }
            (Passage::Back { to, tag }, ..) => {
                deeds.push(Deed::Send { to, frame: Frame::Item { shard, tag, item: item(min_version) } });
            }
            (Passage::Wait, ..) => self.waiting.push_back((tag, item(min_version))),
            (Passage::Broken, ..) => deeds.push(Deed::Tell(Input::Broken { origin, nonce, hop: None })),
            (Passage::Stand(_), ..) => unreachable!("the stance and the shard differ"),
        }
    }

    /// Where the table says that the shard is: the flaw, not the rule.
    fn by_table(&self) -> Option<(Uid, Epoch)> {
        let entry = self.table.shard(self.shard)?;
        self.flaws.has(Flaw::ForwardedByTable).then_some((entry.owner, entry.epoch))
    }

    /// Everything that is queued here in whatever way, when the node is no more.
    pub(in crate::sim) fn messages(&self) -> Vec<MessageId> {
        let id = |item: &Item| if let Item::Message { id, .. } = item { Some(*id) } else { None };
        let letters = self.mailbox.iter().filter_map(|letter| match letter {
            Letter::Item { item, .. } => id(item),
            _ => None,
        });
        let queued = self.home.iter().flat_map(|home| home.entities.values());
        let queued =
            queued.flat_map(|entity| entity.queue.iter().copied().chain(entity.turn.map(|turn| turn.id)));
        let late = self.home.iter().flat_map(|home| &home.late);
        let installed = self.install.iter().flat_map(|install| &install.late);
        let waiting = self.waiting.iter().map(|(_, item)| item);
        let cargo = self.install.iter().filter_map(|install| install.cargo.as_ref());
        let carried = cargo.flat_map(|cargo| cargo.values().flat_map(|(_, queue)| queue.iter().copied()));
        letters
            .chain(queued)
            .chain(late.chain(installed).chain(waiting).filter_map(id))
            .chain(carried)
            .collect()
    }

    /// Whether it runs by that epoch.
    pub(in crate::sim) fn runs(&self, epoch: Epoch) -> bool {
        self.home.as_ref().is_some_and(|home| home.epoch == epoch && home.is_ready && home.frost.is_none())
    }

    /// How many wait for the table.
    pub(in crate::sim) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
