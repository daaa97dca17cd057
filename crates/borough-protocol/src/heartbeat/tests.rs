//! One node with heartbeats, and peers that answer, are silent, or are slow.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;

use super::Opinion::{Reachable, Unreachable};
use super::*;
use crate::settings::Settings;

const START: Timestamp = Timestamp::from_millis(1000);
const TRIP: Duration = Duration::from_millis(20);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

/// Node 1 among peers 2, 3 and so on; those in `dead` do not answer.
struct Rig {
    node: Heartbeats,
    now: Timestamp,
    dead: BTreeSet<Uid>,
    /// By when it arrives, and in the order it was sent.
    echoes: BTreeMap<(Timestamp, usize), (Uid, Message)>,
    sent: usize,
    beats: Vec<(Timestamp, Uid)>,
    /// How long after its deadline the node is called.
    slowness: Duration,
    seen: Vec<(Timestamp, Uid, Opinion)>,
}

impl Rig {
    fn new(members: u64) -> Self {
        Self::with(members, Checked::new(Settings::default()).unwrap())
    }

    #[cfg(feature = "flaws")]
    fn flawed(members: u64, flaw: Flaw) -> Self {
        let mut settings = Checked::new(Settings::default()).unwrap();
        settings.flaws = crate::flaws::Flaws::only(flaw);
        Self::with(members, settings)
    }

    fn with(members: u64, settings: Checked) -> Self {
        let mut node = Heartbeats::new(START, uid(1), settings, &mut Random::seeded(1));
        node.set_members(START, (1..=members).map(uid));
        Self {
            node,
            now: START,
            dead: BTreeSet::new(),
            echoes: BTreeMap::new(),
            sent: 0,
            beats: Vec::new(),
            slowness: Duration::ZERO,
            seen: Vec::new(),
        }
    }

    /// Lets that much time pass, calling the node when something happens.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = self.node.next_deadline() + self.slowness;
            let arrives = self.echoes.keys().next().map_or(Timestamp::NEVER, |(at, _)| *at);
            if due.min(arrives) > end {
                break;
            }
            // What comes while the node is busy is read when it is back.
            self.now = self.now.max(due.min(arrives));
            if arrives < due { self.deliver() } else { self.ring() }
        }
        self.now = end;
    }

    /// The node is frozen: messages wait.
    fn pause(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    fn ring(&mut self) {
        let mut out = Vec::new();
        self.node.on_deadline(self.now, &mut out);
        for (to, message) in out {
            let Message::Beat { seq } = message else { panic!("{message:?}") };
            self.beats.push((self.now, to));
            if !self.dead.contains(&to) {
                self.sent += 1;
                self.echoes.insert((self.now + TRIP, self.sent), (to, Message::Echo { seq }));
            }
        }
        self.look();
    }

    fn deliver(&mut self) {
        let ((_, _), (from, echo)) = self.echoes.pop_first().unwrap();
        let mut out = Vec::new();
        self.node.handle(self.now, from, echo, &mut out);
        assert_eq!(out, []);
        self.look();
    }

    fn look(&mut self) {
        self.node.assert_invariants();
        self.seen.extend(self.node.take_changes().into_iter().map(|(uid, opinion)| (self.now, uid, opinion)));
    }

    fn kill(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.dead.extend(numbers.into_iter().map(uid));
    }

    /// When the peer was first accused, from `since` on.
    fn accused_after(&self, number: u64, since: Timestamp) -> Option<Duration> {
        let found =
            self.seen.iter().find(|(_, peer, opinion)| *peer == uid(number) && *opinion == Unreachable);
        found.map(|(at, _, _)| at.since(since))
    }
}

#[test]
fn everybody_watched_is_beaten_once_an_interval() {
    let mut rig = Rig::new(5);
    rig.run(ms(10_000));
    assert_eq!(rig.beats.len(), 4 * 10);
    let first = rig.beats[0].0;
    for (place, (at, _)) in rig.beats.iter().enumerate() {
        assert_eq!(at.since(first), ms(1000) * u32::try_from(place / 4).unwrap());
    }
    assert_eq!(rig.seen, []);
}

#[test]
fn nodes_beat_at_different_moments() {
    let settings = Checked::new(Settings::default()).unwrap();
    let mut random = Random::seeded(3);
    let first: BTreeSet<Timestamp> = (1..=100)
        .map(|number| Heartbeats::new(START, uid(number), settings.clone(), &mut random).next_deadline())
        .collect();
    assert!(first.len() > 95);
    assert!(first.iter().all(|at| *at >= START && *at < START + ms(1000)));
}

#[test]
fn any_beat_is_echoed() {
    let mut node =
        Heartbeats::new(START, uid(1), Checked::new(Settings::default()).unwrap(), &mut Random::seeded(1));
    let mut out = Vec::new();
    node.handle(START, uid(77), Message::Beat { seq: 5 }, &mut out);
    assert_eq!(out, [(uid(77), Message::Echo { seq: 5 })]);
}

#[test]
fn a_message_is_five_bytes() {
    assert_eq!((Message::Beat { seq: 1 }.wire_size(), Message::Echo { seq: 1 }.wire_size()), (5, 5));
}

#[test]
fn a_healthy_node_accuses_one_dead_peer_within_a_bound_and_nobody_else() {
    let mut rig = Rig::new(6);
    rig.run(ms(120_000));
    rig.kill([3]);
    let died = rig.now;
    rig.run(ms(60_000));
    let accused = rig.accused_after(3, died).expect("accused");
    // Between one interval less and all of interval, pause and deviations after it died.
    assert!(accused > ms(3500) && accused < ms(4600), "{accused:?}");
    assert_eq!(rig.seen.len(), 1);
    assert_eq!(rig.node.health().score(), 0);
}

#[test]
fn a_peer_that_never_answered_is_accused() {
    let mut rig = Rig::new(3);
    rig.kill([2]);
    rig.run(ms(5310));
    assert_eq!(rig.accused_after(2, START).map(|after| after.as_millis()), Some(5306));
}

#[test]
fn a_peer_that_answers_again_is_reachable_at_once() {
    let mut rig = Rig::new(4);
    rig.run(ms(10_000));
    rig.kill([2]);
    rig.run(ms(20_000));
    assert!(rig.accused_after(2, START).is_some());
    rig.dead.clear();
    let back = rig.now;
    rig.run(ms(1020));
    let (at, peer, opinion) = *rig.seen.last().unwrap();
    assert_eq!((peer, opinion), (uid(2), Reachable));
    let beaten = rig.beats.iter().find(|(at, to)| *at >= back && *to == uid(2)).unwrap().0;
    assert_eq!(at, beaten + TRIP);
    rig.run(ms(30_000));
    assert_eq!(rig.seen.len(), 2);
}

#[test]
fn an_echo_that_is_old_or_was_never_asked_for_proves_nothing() {
    let mut rig = Rig::new(2);
    rig.kill([2]);
    rig.run(ms(10_000));
    assert_eq!(rig.seen.len(), 1);
    for seq in [0, 11, 12, u32::MAX] {
        rig.node.handle(rig.now, uid(2), Message::Echo { seq }, &mut Vec::new());
        assert_eq!(rig.node.take_changes(), []);
    }
    rig.node.handle(rig.now, uid(99), Message::Echo { seq: 10 }, &mut Vec::new());
    assert_eq!(rig.node.take_changes(), []);
    rig.node.handle(rig.now, uid(2), Message::Echo { seq: 9 }, &mut Vec::new());
    assert_eq!(rig.node.take_changes(), [(uid(2), Reachable)]);
    let deadline = rig.node.next_deadline();
    rig.node.handle(rig.now + ms(1), uid(2), Message::Echo { seq: 9 }, &mut Vec::new());
    rig.node.handle(rig.now + ms(1), uid(2), Message::Echo { seq: 8 }, &mut Vec::new());
    assert_eq!(rig.node.next_deadline(), deadline);
}

#[test]
fn beat_numbers_may_wrap() {
    let mut rig = Rig::new(3);
    rig.node.sent = u32::MAX - 5;
    rig.node.watched.iter_mut().for_each(|watch| watch.echoed = u32::MAX - 5);
    rig.run(ms(30_000));
    assert!(rig.node.sent < 100);
    assert_eq!(rig.seen, []);
}

#[test]
fn a_node_that_was_paused_accuses_nobody_who_answers_now() {
    for pause in [ms(5000), ms(60_000)] {
        for before in 0..20 {
            let mut rig = Rig::new(8);
            rig.run(ms(20_000 + 50 * before));
            rig.pause(pause);
            rig.run(ms(30_000));
            assert_eq!(rig.seen, [], "paused for {pause:?}");
        }
    }
}

#[test]
fn a_node_that_was_paused_still_accuses_who_does_not_answer() {
    let mut rig = Rig::new(8);
    rig.run(ms(20_000));
    rig.kill([5]);
    rig.pause(ms(5000));
    let resumed = rig.now;
    rig.run(ms(30_000));
    let accused = rig.accused_after(5, resumed).expect("accused");
    assert!(accused > ms(1000) && accused < ms(5000 + 3000), "{accused:?}");
    assert_eq!(rig.seen.len(), 1);
}

#[test]
fn a_pause_is_noticed_by_whatever_comes_first() {
    let mut rig = Rig::new(3);
    rig.run(ms(20_000));
    rig.pause(ms(5000));
    rig.node.handle(rig.now, uid(2), Message::Beat { seq: 1 }, &mut Vec::new());
    assert_eq!(rig.node.health().score(), 1);
    // And counted once.
    rig.ring();
    assert_eq!((rig.node.health().score(), &rig.seen[..]), (1, &[][..]));
}

#[test]
fn a_slow_node_accuses_later_than_a_healthy_one() {
    let accused = [0, 300, 450].map(|slowness| {
        let mut rig = Rig::new(6);
        rig.slowness = ms(slowness);
        rig.run(ms(60_000));
        rig.kill([2]);
        let died = rig.now;
        rig.run(ms(120_000));
        assert_eq!(rig.seen.len(), 1);
        rig.accused_after(2, died).expect("accused, late or not")
    });
    // What is within max_pause is no slowness.
    assert!(accused[1].abs_diff(accused[0]) < ms(1000), "{accused:?}");
    assert!(accused[2] > accused[0] * 5, "{accused:?}");
}

#[test]
fn a_node_that_hears_nearly_nobody_doubts_itself_for_a_while() {
    let mut rig = Rig::new(10);
    rig.run(ms(20_000));
    rig.kill(2..=10);
    let cut = rig.now;
    rig.run(ms(30_000));
    for number in 2..=10 {
        let accused = rig.accused_after(number, cut).expect("in the end it says so");
        assert!(accused > ms(9000) && accused < ms(11_500), "{accused:?}");
    }
    // Those still trusted all answer, being none: the doubt is over.
    assert_eq!(rig.node.health().score(), 0);
}

#[test]
fn a_short_cut_is_forgiven() {
    let mut rig = Rig::new(10);
    rig.run(ms(20_000));
    rig.kill(2..=10);
    rig.run(ms(7000));
    rig.dead.clear();
    rig.run(ms(30_000));
    assert_eq!(rig.seen, []);
}

#[test]
fn peers_that_stay_watched_keep_their_history() {
    let mut rig = Rig::new(4);
    rig.run(ms(20_000));
    let before: Vec<f64> = (2..=4).map(|number| rig.node.suspicion(rig.now, uid(number)).unwrap()).collect();
    rig.node.set_members(rig.now, (1..=5).map(uid));
    let after: Vec<f64> = (2..=4).map(|number| rig.node.suspicion(rig.now, uid(number)).unwrap()).collect();
    assert_eq!(before, after);
    assert!(rig.node.suspicion(rig.now, uid(5)).is_some());
    assert_eq!(rig.node.suspicion(rig.now, uid(6)), None);
    rig.kill([5]);
    let joined = rig.now;
    rig.run(ms(10_000));
    assert_eq!(rig.accused_after(5, joined).map(|after| after.as_millis()), Some(5306));
}

#[test]
fn who_is_no_member_any_more_is_neither_beaten_nor_accused() {
    let mut rig = Rig::new(4);
    rig.run(ms(10_000));
    rig.kill([3]);
    rig.node.set_members(rig.now, [1, 2, 4].map(uid));
    let removed = rig.now;
    rig.run(ms(20_000));
    assert!(rig.beats.iter().all(|(at, to)| *at <= removed || *to != uid(3)));
    assert_eq!(rig.seen, []);
}

#[test]
fn an_accused_member_is_watched_until_it_answers_though_the_ring_moved_on() {
    let mut rig = Rig::new(2);
    rig.kill([2]);
    rig.run(ms(10_000));
    assert_eq!(rig.seen.len(), 1);
    let watched = |rig: &Rig| rig.node.opinions().map(|(uid, _)| uid).collect::<BTreeSet<Uid>>();
    // So many that node 2 is on the ring of node 1 no more.
    rig.node.set_members(rig.now, (1..=200).map(uid));
    rig.node.assert_invariants();
    assert!(!rig.node.ring.watches(uid(2)) && watched(&rig).contains(&uid(2)));
    assert_eq!(watched(&rig).len(), 10);
    rig.dead.clear();
    rig.run(ms(2000));
    assert_eq!(rig.seen.last().map(|(_, uid, opinion)| (*uid, *opinion)), Some((uid(2), Reachable)));
    assert!(!watched(&rig).contains(&uid(2)));
}

#[test]
fn an_accused_peer_that_is_removed_is_forgotten() {
    let mut rig = Rig::new(3);
    rig.kill([2]);
    rig.run(ms(10_000));
    rig.node.set_members(rig.now, [1, 3].map(uid));
    assert_eq!(rig.node.opinions().collect::<Vec<_>>(), vec![(uid(3), Reachable)]);
}

#[test]
fn a_node_alone_beats_nobody_and_waits_for_its_next_beat() {
    let mut rig = Rig::new(1);
    rig.run(ms(10_000));
    assert_eq!(rig.beats, []);
    assert!(rig.node.next_deadline() > rig.now && rig.node.next_deadline() <= rig.now + ms(1000));
}

#[test]
fn the_deadline_detector_can_be_chosen() {
    let settings = Settings { detector: crate::settings::DetectorKind::Deadline, ..Settings::default() };
    let mut rig = Rig::with(3, Checked::new(settings).unwrap());
    rig.kill([2]);
    rig.run(ms(10_000));
    assert_eq!(rig.accused_after(2, START), Some(ms(4000)));
    assert_eq!(rig.node.suspicion(rig.now, uid(3)), Some(0.0));
}

#[cfg(feature = "flaws")]
mod flaws {
    use super::*;

    #[test]
    fn a_detector_that_never_accuses_does_not_and_does_not_spin() {
        let mut rig = Rig::flawed(3, Flaw::DetectorNeverAccuses);
        rig.kill([2]);
        rig.run(ms(60_000));
        assert_eq!(rig.seen, []);
        assert!(rig.node.next_deadline() > rig.now);
    }

    #[test]
    fn a_detector_that_never_recovers_does_not() {
        let mut rig = Rig::flawed(3, Flaw::DetectorNeverRecovers);
        rig.kill([2]);
        rig.run(ms(20_000));
        rig.dead.clear();
        rig.run(ms(20_000));
        assert_eq!(rig.seen.len(), 1);
    }

    #[test]
    fn monitors_that_forget_watch_who_they_watched_first() {
        let mut rig = Rig::flawed(3, Flaw::MonitorsForget);
        rig.node.set_members(rig.now, (1..=6).map(uid));
        rig.run(ms(5000));
        assert_eq!(rig.node.opinions().count(), 2);
    }
}
