//! The stance of a lane towards one shard: what becomes of a message or barrier that carries a tag.
//!
//! The region gives [orders](crate::sharding::region::Effect); the lane applies them here in their order and asks where what arrives is to
//! go. It is kept apart from queues and tasks so that the lanes of a node and those of the simulator place alike.
//!
//! ```text
//!            tag = home's epoch, or one that it was raised from
//!                                         running: Run          frozen, or freezing: BehindTheCut
//!            tag = installed epoch        Installed: behind what was carried
//!            tag = a released epoch       Forward, even when the shard is at home here again
//!            tag > issued                 Wait: this node's table is too old to say
//!            else                         Refuse
//! ```
//! Rules for a lane: after **every** order, and after [`Stance::look`], whatever waits is placed again, the oldest first, before anything else
//! is placed: otherwise what comes later would overtake it. A barrier is placed like a message, by [`Stance::place_barrier`].
//!
//! A straight barrier proves that nothing of a removed hop can come any more. The host that gets it can say so of itself, but not of
//! the hops between: what the removed one passed on to the host before this one may still be on its way from there. So it goes
//! **back** along the way the shard came, as far as there are living hosts, and from there forward again as a common barrier, behind
//! whatever they forward.

use alloc::vec::Vec;

use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::sharding::Epoch;
use crate::version::Version;

/// Where a message is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To its entity.
    Run,
    /// It is kept behind the cut: forwarded when the shard is released, handled when it resumes.
    BehindTheCut,
    /// Behind what was carried with the transfer.
    Installed,
    /// To that node, by that tag.
    Forward {
        /// To whom.
        to: Uid,
        /// By which tag.
        epoch: Epoch,
    },
    /// It is kept until this node's table is newer.
    Wait,
    /// It is refused: whoever sent it is told.
    Refuse(Why),
}

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The shard was here by that tag and was dropped, or it is too long ago that it went.
    Past,
    /// The shard was never here by that tag.
    Elsewhere,
}

/// What becomes of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It is answered: everything before it is here.
    Done,
    /// It stands in line where messages of its tag do, as a common one. Carried and forwarded like them; when the shard runs, it is placed again.
    Stand(Place),
    /// It is passed on as a common one (without a version), in the stream of the forwards.
    Pass {
        /// To whom.
        to: Uid,
        /// By which tag.
        tag: Epoch,
    },
    /// It goes back to whom the shard came from, with its version.
    Back {
        /// To whom.
        to: Uid,
        /// By which tag.
        tag: Epoch,
    },
    /// It is kept until this node's table is newer.
    Wait,
    /// It can go no further: [`Input::Broken`](crate::sharding::region::Input::Broken) without a hop.
    Broken,
}

/// Whence a shard came: who had it, and by which epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who sent the transfer.
    pub from: Uid,
    /// The epoch by which that one owned the shard.
    pub epoch: Epoch,
}

/// Where what arrives for one shard is to go.
#[derive(Clone, Debug, Default)]
pub struct Stance {
    home: Option<Home>,
    install: Option<Home>,
    released: Vec<Released>,
    /// The highest epoch that this node's table knows to be handed out, as far as the lane was told.
    issued: Epoch,
    /// The newest epoch at which the shard ever ran here.
    newest: Epoch,
    flaws: Flaws,
}

#[derive(Clone, Copy, Debug)]
struct Home {
    epoch: Epoch,
    /// The epoch at which it began or came here, if that was raised since. Nobody else ever had one between the two.
    since: Epoch,
    frozen: bool,
    origin: Option<Origin>,
}

#[derive(Clone, Copy, Debug)]
struct Released {
    epoch: Epoch,
    since: Epoch,
    to: Uid,
    next: Epoch,
    origin: Option<Origin>,
}

impl Home {
    /// Whether what carries that tag is for this home.
    fn has(&self, tag: Epoch) -> bool {
        (self.since..=self.epoch).contains(&tag)
    }
}

impl Stance {
    /// Of a shard of which nothing is here.
    pub fn new(flaws: Flaws) -> Self {
        Self { flaws, ..Self::default() }
    }

    /// The node's table says that epochs up to this one were handed out for the shard.
    pub fn look(&mut self, issued: Epoch) {
        self.issued = self.issued.max(issued);
    }

    /// It begins here, empty.
    pub fn start(&mut self, epoch: Epoch) {
        self.live(Home { epoch, since: epoch, frozen: false, origin: None });
    }

    /// It is to move away: what comes from now on is behind the cut. Whether it lives here by that epoch.
    pub fn freeze(&mut self, epoch: Epoch) -> bool {
        self.set_frozen(epoch, true)
    }

    /// It stays. Whether it lives here by that epoch.
    pub fn resume(&mut self, epoch: Epoch) -> bool {
        self.set_frozen(epoch, false)
    }

    /// A transfer begins to arrive. Whether it is to be taken in: one that is not above all that ran or was taken in here is not. Taking it in
    /// replaces what was taken in for an older move.
    pub fn install(&mut self, next: Epoch, origin: Origin) -> bool {
        let second = self.install.is_some_and(|before| before.epoch >= next);
        if self.flaws.has(Flaw::SecondTransferOverwrites) {
            self.install = Some(Home { epoch: next, since: next, frozen: false, origin: Some(origin) });
            return true;
        }
        if next <= self.newest || second {
            return false;
        }
        self.install = Some(Home { epoch: next, since: next, frozen: false, origin: Some(origin) });
        true
    }

    /// What was taken in runs. Whether it was.
    pub fn run(&mut self, epoch: Epoch) -> bool {
        let careless = self.flaws.has(Flaw::InstallKeptAfterCallOff);
        match self.install {
            Some(install) if install.epoch == epoch || careless => {
                self.live(Home { epoch, since: epoch, ..install });
                true
            }
            Some(_) | None => false,
        }
    }

    /// What was taken in, or is being taken in, for a move of at most that epoch is dropped. Whether there was something.
    pub fn discard(&mut self, epoch: Epoch) -> bool {
        let had = self.install.is_some();
        self.install = self.install.filter(|install| install.epoch > epoch);
        had && self.install.is_none()
    }

    /// It lives on at a higher epoch; what comes by the epochs before is still its own. Whether it lives here by that epoch.
    pub fn raise(&mut self, epoch: Epoch, next: Epoch) -> bool {
        match self.home.filter(|home| home.epoch == epoch && next > epoch) {
            Some(home) => {
                self.live(Home { epoch: next, ..home });
                true
            }
            None => false,
        }
    }

    /// It is owned elsewhere: what comes by its epoch is forwarded. Whether it lived here by that epoch.
    pub fn release(&mut self, epoch: Epoch, to: Uid, next: Epoch) -> bool {
        match self.home.take_if(|home| home.epoch == epoch) {
            Some(Home { since, origin, .. }) => {
                self.released.push(Released { epoch, since, to, next, origin });
                true
            }
            None => false,
        }
    }

    /// It is dropped. Whether it lived here by that epoch.
    pub fn drop(&mut self, epoch: Epoch) -> bool {
        self.home.take_if(|home| home.epoch == epoch).is_some()
    }

    /// One thing of that epoch is forgotten: whence the shard came, if that is still remembered, else where it went.
    pub fn forget(&mut self, epoch: Epoch) {
        let homes = self.home.iter_mut().map(|home| (home.epoch, &mut home.origin));
        let records = self.released.iter_mut().map(|record| (record.epoch, &mut record.origin));
        let mut origins = homes.chain(records).filter(|(at, _)| *at == epoch);
        if origins.find_map(|(_, origin)| origin.take()).is_none() {
            self.released.retain(|record| record.epoch != epoch);
        }
    }

    /// By which epoch it lives here, frozen or not.
    pub fn home(&self) -> Option<Epoch> {
        self.home.map(|home| home.epoch)
    }

    /// By which epoch it lives here and is not frozen.
    pub fn running(&self) -> Option<Epoch> {
        self.home.filter(|home| !home.frozen).map(|home| home.epoch)
    }

    /// By which epoch it was taken in, or is being taken in.
    pub fn installing(&self) -> Option<Epoch> {
        self.install.map(|install| install.epoch)
    }

    /// Whether nothing of the shard is here, and nothing is remembered of it but which epochs are over.
    pub fn is_bare(&self) -> bool {
        self.home.is_none() && self.install.is_none() && self.released.is_empty()
    }

    /// Where a message that carries that tag is to go.
    pub fn place(&self, tag: Epoch) -> Place {
        let careless = self.flaws.has(Flaw::AnyTagTaken);
        if let Some(home) = self.home.filter(|home| home.has(tag) || careless) {
            return if home.frozen { Place::BehindTheCut } else { Place::Run };
        }
        if self.install.is_some_and(|install| install.epoch == tag) {
            return Place::Installed;
        }
        match self.released.iter().find(|record| (record.since..=record.epoch).contains(&tag)) {
            Some(_) if self.home.is_some() && self.flaws.has(Flaw::ForwardsDroppedWhenOwnedAgain) => {}
            Some(record) => return Place::Forward { to: record.to, epoch: record.next },
            None => {}
        }
        if tag > self.issued {
            Place::Wait
        } else if tag <= self.newest {
            Place::Refuse(Why::Past)
        } else {
            Place::Refuse(Why::Elsewhere)
        }
    }

    /// What becomes of a barrier that carries that tag and, if it is a straight one, a version. `version` is that of the node's table;
    /// `is_member` says who is a member by it.
    pub fn place_barrier(
        &self,
        tag: Epoch,
        min_version: Option<Version>,
        version: Version,
        is_member: impl Fn(Uid) -> bool,
    ) -> Passage {
        let place = self.place(tag);
        let placed = !matches!(place, Place::Wait | Place::Refuse(_));
        if let Some(min_version) = min_version
            && placed
        {
            if version < min_version {
                return Passage::Wait;
            }
            let walks = !self.flaws.has(Flaw::StraightBarrierNotWalkedBack);
            if let Some(Origin { from, epoch }) =
                self.origin(tag).filter(|origin| walks && is_member(origin.from))
            {
                return Passage::Back { to: from, tag: epoch };
            }
        }
        match place {
            Place::Run => Passage::Done,
            Place::BehindTheCut if self.flaws.has(Flaw::FrozenHostAnswersBarrier) => Passage::Done,
            Place::BehindTheCut | Place::Installed => Passage::Stand(place),
            Place::Forward { to, epoch } => Passage::Pass { to, tag: epoch },
            Place::Wait => Passage::Wait,
            Place::Refuse(_) => Passage::Broken,
        }
    }

    /// Whence it came when it came by that epoch.
    fn origin(&self, tag: Epoch) -> Option<Origin> {
        let homes = self.home.iter().chain(&self.install);
        let homes = homes.map(|home| (home.since..=home.epoch, home.origin));
        let records = self.released.iter().map(|record| (record.since..=record.epoch, record.origin));
        homes.chain(records).find(|(epochs, _)| epochs.contains(&tag)).and_then(|(_, origin)| origin)
    }

    fn set_frozen(&mut self, epoch: Epoch, frozen: bool) -> bool {
        match self.home.as_mut().filter(|home| home.epoch == epoch) {
            Some(home) => {
                home.frozen = frozen;
                true
            }
            None => false,
        }
    }

    fn live(&mut self, home: Home) {
        self.newest = self.newest.max(home.epoch);
        self.issued = self.issued.max(home.epoch);
        self.home = Some(home);
        self.install = self.install.filter(|install| install.epoch > home.epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn e(number: u64) -> Epoch {
        Epoch::new(number)
    }

    fn uid(number: u64) -> Uid {
        Uid::new(number).unwrap()
    }

    fn version(index: u64) -> Version {
        Version { index, ..Version::ZERO }
    }

    fn stance() -> Stance {
        let mut stance = Stance::new(Flaws::default());
        stance.look(e(9));
        stance
    }

    const ALL: fn(Uid) -> bool = |_| true;
    const NONE: fn(Uid) -> bool = |_| false;

    #[test]
    fn a_running_shard_takes_its_own_tag_alone() {
        let mut stance = stance();
        stance.start(e(3));
        assert_eq!(stance.place(e(3)), Place::Run);
        assert_eq!(stance.place(e(2)), Place::Refuse(Why::Past));
        assert_eq!(stance.place(e(4)), Place::Refuse(Why::Elsewhere));
        assert_eq!(stance.place(e(10)), Place::Wait, "the table is too old to say");
    }

    #[test]
    fn what_comes_after_the_cut_is_kept_and_then_forwarded() {
        let mut stance = stance();
        stance.start(e(3));
        assert!(stance.freeze(e(3)));
        assert_eq!(stance.place(e(3)), Place::BehindTheCut);
        assert!(stance.resume(e(3)));
        assert_eq!(stance.place(e(3)), Place::Run);
        assert!(stance.freeze(e(3)));
        assert!(stance.release(e(3), uid(2), e(4)));
        assert_eq!(stance.place(e(3)), Place::Forward { to: uid(2), epoch: e(4) });
        stance.forget(e(3));
        assert_eq!(stance.place(e(3)), Place::Refuse(Why::Past));
    }

    #[test]
    fn a_released_tag_is_forwarded_even_when_the_shard_is_home_again() {
        let mut stance = stance();
        stance.start(e(3));
        assert!(stance.freeze(e(3)));
        // It comes back while the table here still shows that it is to go.
        assert!(stance.install(e(5), Origin { from: uid(2), epoch: e(4) }));
        assert_eq!(stance.place(e(3)), Place::BehindTheCut);
        assert_eq!(stance.place(e(5)), Place::Installed);
        assert!(stance.release(e(3), uid(2), e(4)));
        assert!(stance.run(e(5)));
        assert_eq!(stance.place(e(3)), Place::Forward { to: uid(2), epoch: e(4) });
        assert_eq!(stance.place(e(5)), Place::Run);
    }

    #[test]
    fn a_second_transfer_and_one_of_the_past_are_not_taken() {
        let origin = Origin { from: uid(2), epoch: e(1) };
        let mut stance = stance();
        assert!(stance.install(e(4), origin));
        assert!(!stance.install(e(4), origin), "the same once more");
        assert!(stance.install(e(5), origin), "a newer move");
        assert!(!stance.run(e(4)), "it was replaced");
        assert!(stance.run(e(5)));
        assert!(!stance.install(e(5), origin), "it ran here");
        assert!(!stance.discard(e(9)), "what runs was not discarded");
        assert_eq!(stance.running(), Some(e(5)));
    }

    #[test]
    fn a_barrier_is_answered_by_a_running_host_alone() {
        let mut stance = stance();
        stance.start(e(3));
        let place = |stance: &Stance, tag| stance.place_barrier(e(tag), None, version(0), ALL);
        assert_eq!(place(&stance, 3), Passage::Done);
        assert!(stance.freeze(e(3)));
        assert_eq!(place(&stance, 3), Passage::Stand(Place::BehindTheCut));
        assert!(stance.release(e(3), uid(2), e(4)));
        assert_eq!(place(&stance, 3), Passage::Pass { to: uid(2), tag: e(4) });
        assert_eq!(place(&stance, 2), Passage::Broken);
        assert_eq!(place(&stance, 10), Passage::Wait);
    }

    #[test]
    fn a_straight_barrier_waits_for_its_version_and_goes_back_to_living_hosts() {
        let mut stance = stance();
        assert!(stance.install(e(4), Origin { from: uid(2), epoch: e(3) }));
        assert!(stance.run(e(4)));
        let straight = |stance: &Stance, at, is_member: fn(Uid) -> bool| {
            stance.place_barrier(e(4), Some(version(7)), version(at), is_member)
        };
        assert_eq!(straight(&stance, 6, NONE), Passage::Wait);
        assert_eq!(straight(&stance, 7, NONE), Passage::Done);
        assert_eq!(straight(&stance, 7, ALL), Passage::Back { to: uid(2), tag: e(3) });
        stance.forget(e(4));
        assert_eq!(straight(&stance, 7, ALL), Passage::Done, "too long ago for anything to be under way");
    }

    #[test]
    fn whence_a_shard_came_is_forgotten_before_where_it_went() {
        let mut stance = stance();
        assert!(stance.install(e(4), Origin { from: uid(2), epoch: e(3) }));
        assert!(stance.run(e(4)));
        assert!(stance.freeze(e(4)));
        assert!(stance.release(e(4), uid(1), e(5)));
        let straight = |stance: &Stance| stance.place_barrier(e(4), Some(version(7)), version(7), ALL);
        assert_eq!(straight(&stance), Passage::Back { to: uid(2), tag: e(3) });
        stance.forget(e(4));
        assert_eq!(straight(&stance), Passage::Pass { to: uid(1), tag: e(5) });
        stance.forget(e(4));
        assert_eq!(straight(&stance), Passage::Broken);
    }

    #[test]
    fn a_straight_barrier_is_passed_on_as_a_common_one_where_the_shard_began() {
        let mut stance = stance();
        stance.start(e(3));
        assert!(stance.freeze(e(3)));
        assert!(stance.release(e(3), uid(2), e(4)));
        let passage = stance.place_barrier(e(3), Some(version(7)), version(8), ALL);
        assert_eq!(passage, Passage::Pass { to: uid(2), tag: e(4) });
    }

    #[test]
    fn a_raised_shard_takes_what_was_sent_to_it_before() {
        let mut stance = stance();
        assert!(stance.install(e(4), Origin { from: uid(2), epoch: e(3) }));
        assert!(stance.run(e(4)));
        assert!(!stance.raise(e(3), e(8)) && !stance.raise(e(4), e(4)));
        assert!(stance.raise(e(4), e(8)));
        assert_eq!((stance.running(), stance.place(e(3))), (Some(e(8)), Place::Refuse(Why::Past)));
        for tag in [e(4), e(8)] {
            assert_eq!(stance.place(tag), Place::Run);
            assert_eq!(stance.place_barrier(tag, None, version(0), ALL), Passage::Done);
            let straight = stance.place_barrier(tag, Some(version(7)), version(7), ALL);
            assert_eq!(straight, Passage::Back { to: uid(2), tag: e(3) });
        }
        assert!(stance.freeze(e(8)));
        assert_eq!(stance.place(e(4)), Place::BehindTheCut);
        assert!(stance.release(e(8), uid(1), e(9)));
        assert_eq!(stance.place(e(4)), Place::Forward { to: uid(1), epoch: e(9) });
        stance.forget(e(8));
        stance.forget(e(8));
        assert_eq!(stance.place(e(4)), Place::Refuse(Why::Past));
    }
}
