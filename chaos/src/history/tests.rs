//! Each rule finds what it is for, and nothing else.

use std::time::Duration;

use super::late::{TOO_LATE, TOO_MANY, TURNS_MAX};
use super::*;

/// A history of one entity, told step by step. Times are milliseconds.
#[derive(Default)]
struct Tale(History);

const HERE: usize = 0;
const THERE: usize = 1;

impl Tale {
    fn new() -> Self {
        let mut tale = Self::default();
        tale.0.processes = vec!["here".to_owned(), "there".to_owned()];
        tale
    }

    fn turn(mut self, process: usize, at: u64, epoch: u64, life: u64, count: u64, number: u32) -> Self {
        let signed = Signed { at: at * 1_000_000, epoch, life, count };
        self.0.turns.push((process, Turn { signed, sender: 1, id: 0, number }));
        self
    }

    fn sending(mut self, is_ask: bool, sent: u64, number: u32, outcome: Outcome) -> Self {
        let (sent, done) = (sent * 1_000_000, (sent + 1) * 1_000_000);
        self.0.sendings.push(Sending { is_ask, sent, done, sender: 1, id: 0, number, outcome });
        self
    }

    fn told(self, sent: u64, number: u32) -> Self {
        self.sending(false, sent, number, Outcome::Accepted)
    }

    fn asked(self, sent: u64, number: u32, at: u64, epoch: u64, life: u64, count: u64) -> Self {
        let signed = Signed { at: at * 1_000_000, epoch, life, count };
        self.sending(true, sent, number, Outcome::Answered(signed))
    }

    fn page(mut self, at: u64, life: u64, count: u64, last: u32) -> Self {
        let senders = [(1, (u32::try_from(count).unwrap(), last))].into();
        self.0.pages.push((0, Page { at: at * 1_000_000, life, count, misplaced: 0, senders }));
        self
    }

    fn findings(&self, lives: Lives) -> Findings {
        check(&self.0, &Expected { lives, ..Expected::default() }, 1)
    }

    fn faults(&self, lives: Lives) -> Vec<&'static str> {
        self.findings(lives).faults.rules()
    }
}

/// Two messages, a planned move between them.
fn moved() -> Tale {
    Tale::new()
        .told(1, 1)
        .turn(HERE, 2, 1, 7, 1, 1)
        .asked(3, 2, 5, 2, 7, 2)
        .turn(THERE, 5, 2, 7, 2, 2)
        .page(9, 7, 2, 2)
}

fn here() -> Lives {
    Lives::EndIn(["here".to_owned()].into())
}

#[test]
fn a_planned_move_that_keeps_everything_is_well() {
    let findings = moved().findings(Lives::Last);
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    assert_eq!((findings.sent, findings.handled, findings.lost, findings.refused), (2, 2, 0, 0));
    assert_eq!((findings.silence.time.as_millis(), findings.renewed), (2, 0));
}

#[test]
fn a_message_that_is_lost_in_a_planned_move_is_found() {
    let faults = moved().told(6, 3).faults(Lives::Last);
    assert!(
        faults.contains(&"a message was lost") && faults.contains(&"an entity has not what was sent to it")
    );
}

#[test]
fn a_message_that_is_lost_with_its_process_is_counted_and_one_to_a_living_entity_is_found() {
    let begun_anew = Tale::new()
        .told(1, 1)
        .turn(HERE, 2, 1, 7, 1, 1)
        .told(3, 2)
        .told(4, 3)
        .turn(THERE, 5, 2, 8, 1, 3)
        .page(9, 8, 1, 3);
    let findings = begun_anew.findings(here());
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    assert_eq!((findings.lost, findings.renewed), (1, 1));
    assert_eq!(moved().told(6, 3).faults(here()), ["a message was lost"]);
}

#[test]
fn an_entity_that_begins_anew_while_its_process_lives_is_found() {
    let faults = moved().told(6, 3).turn(THERE, 7, 3, 8, 1, 3).page(9, 8, 1, 3).faults(here());
    assert_eq!(faults, ["an entity lost its state though its process ran on"]);
}

#[test]
fn an_older_epoch_at_work_after_a_newer_one_is_found() {
    let faults = moved().told(6, 3).turn(HERE, 7, 1, 7, 3, 3).page(9, 7, 3, 3).faults(Lives::EndAnywhere);
    assert_eq!(faults, ["two activations overlap"]);
}

#[test]
fn an_epoch_at_work_in_two_processes_is_found() {
    let faults = moved().told(6, 3).turn(HERE, 7, 2, 7, 3, 3).page(9, 7, 3, 3).faults(Lives::EndAnywhere);
    assert_eq!(faults, ["two activations overlap"]);
}

#[test]
fn the_late_turns_of_a_frozen_process_are_counted_and_their_answers_found() {
    let tale = Tale::new()
        .told(1, 1)
        .turn(HERE, 2, 1, 7, 1, 1)
        .asked(3, 2, 5, 2, 8, 1)
        .turn(THERE, 5, 2, 8, 1, 2)
        .sending(true, 2, 3, Outcome::Open("the node was lost".to_owned()))
        .turn(HERE, 20, 1, 7, 2, 3)
        .page(30, 8, 1, 2);
    let findings = check(&tale.0, &thawed(), 1);
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    assert_eq!((findings.late, findings.handled), (1, 2));
    let answered = tale.asked(19, 4, 21, 1, 7, 3).turn(HERE, 21, 1, 7, 3, 4);
    let faults = check(&answered.0, &thawed(), 1).faults.rules();
    assert_eq!(faults, ["an older life answered after a newer one"]);
}

/// This process went on after 15 ms, and may take 400 ms for what it was in the middle of.
fn thawed() -> Expected {
    let thaw = Thaw::new(15_000_000, 15_000_000, Duration::from_millis(400));
    Expected { lives: here(), frozen: [("here".to_owned(), thaw)].into(), ..Expected::default() }
}

/// What is found of an entity that begins anew elsewhere after 5 ms, and at these moments has turns here all the same.
fn faults_of_late(turns: impl IntoIterator<Item = u64>) -> Vec<&'static str> {
    faults_of_late_after(&thawed(), turns)
}

/// The same, if this is expected of the process.
fn faults_of_late_after(expected: &Expected, turns: impl IntoIterator<Item = u64>) -> Vec<&'static str> {
    let mut tale = Tale::new()
        .told(1, 1)
        .turn(HERE, 2, 1, 7, 1, 1)
        .asked(3, 2, 5, 2, 8, 1)
        .turn(THERE, 5, 2, 8, 1, 2)
        .page(500, 8, 1, 2);
    for (at, number) in turns.into_iter().zip(3..) {
        tale = tale.told(2, number).turn(HERE, at, 1, 7, u64::from(number) - 1, number);
    }
    check(&tale.0, expected, 1).faults.rules()
}

#[test]
fn a_late_turn_more_than_a_frozen_process_can_have_been_in_the_middle_of_is_found() {
    let most = TURNS_MAX as u64;
    assert!(faults_of_late(20..20 + most).is_empty());
    assert_eq!(faults_of_late(20..=20 + most), [TOO_MANY]);
}

#[test]
fn a_process_whose_threads_were_blocked_ends_one_turn_on_each_and_no_more() {
    let released = || {
        let mut expected = thawed();
        expected.frozen.values_mut().for_each(|thaw| *thaw = thaw.of_blocked_turns());
        expected
    };
    let workers = crate::words::WORKERS as u64;
    assert!(faults_of_late_after(&released(), 20..20 + workers).is_empty());
    assert_eq!(faults_of_late_after(&released(), 20..=20 + workers), [TOO_MANY]);
}

#[test]
fn a_turn_later_than_a_healthy_pause_after_a_frozen_process_went_on_is_found() {
    assert!(faults_of_late([415]).is_empty());
    assert_eq!(faults_of_late([416]), [TOO_LATE]);
}

#[test]
fn work_at_an_older_epoch_before_its_process_went_on_is_an_overlap_like_any_other() {
    assert!(faults_of_late([14]).contains(&"two activations overlap"));
}

#[test]
fn a_state_that_is_rolled_back_is_found() {
    let faults = moved().told(6, 3).turn(THERE, 7, 3, 7, 2, 3).page(9, 7, 2, 3).faults(here());
    assert_eq!(faults, ["a state was rolled back, or has turns that nobody wrote down"]);
}

#[test]
fn what_is_doubled_or_out_of_order_is_found() {
    let doubled = moved().turn(THERE, 6, 2, 7, 3, 2).page(9, 7, 3, 2).findings(here());
    assert_eq!(doubled.faults.rules(), ["a message was handled twice"]);
    let swapped = moved()
        .told(6, 3)
        .told(6, 4)
        .turn(THERE, 7, 2, 7, 3, 4)
        .turn(THERE, 8, 2, 7, 4, 3)
        .page(9, 7, 4, 4)
        .findings(here());
    assert_eq!(swapped.faults.rules(), ["messages of one sender are out of order"]);
    assert_eq!((doubled.reordered, swapped.reordered), (0, 1));
}

#[test]
fn a_refused_message_that_was_handled_is_found() {
    let why = || Outcome::Refused("the hold is full".to_owned());
    let tale = moved().sending(false, 6, 3, why());
    assert!(tale.faults(here()).is_empty());
    assert_eq!(tale.findings(here()).refused, 1);
    assert!(tale.faults(Lives::Last).contains(&"a message was refused though all nodes were well"));
    let handled = tale.turn(THERE, 7, 2, 7, 3, 3).page(9, 7, 3, 3);
    assert_eq!(handled.faults(here()), ["a message was refused and handled all the same"]);
}

#[test]
fn an_ask_that_ends_by_timeout_is_found_unless_its_sender_was_cut_off() {
    let tale = moved().sending(true, 6, 3, Outcome::Open("ledger/0 did not answer within 20s".to_owned()));
    assert_eq!(tale.faults(here()), ["an ask was not answered, and nobody knows why"]);
    let apart = Expected { lives: here(), apart: [(1, u64::MAX)].into(), ..Expected::default() };
    assert!(check(&tale.0, &apart, 1).faults.is_empty());
    let back_again = Expected { lives: here(), apart: [(1, 5_000_000)].into(), ..Expected::default() };
    assert!(!check(&tale.0, &back_again, 1).faults.is_empty());
}

#[test]
fn a_message_that_nobody_sent_is_found_unless_its_sender_was_killed() {
    let tale = moved().turn(THERE, 7, 2, 7, 3, 3).page(9, 7, 3, 3);
    assert_eq!(tale.faults(here()), ["a message was handled that nobody sent"]);
    let killed = Expected { lives: here(), cut_short: [1].into(), ..Expected::default() };
    assert!(check(&tale.0, &killed, 1).faults.is_empty());
}

#[test]
fn what_lived_in_a_process_whose_runtime_stood_still_may_be_silent_and_time_out_and_nothing_else_may() {
    let timeout = || Outcome::Open("ledger/0 did not answer within 20s".to_owned());
    let tale = moved().sending(true, 100, 3, timeout()).told(200, 4).turn(THERE, 9000, 2, 7, 3, 4);
    let tale = tale.page(9001, 7, 3, 4);
    let wedged = |process: &str, from: u64, to: u64| Expected {
        lives: here(),
        wedged: [(process.to_owned(), (from * 1_000_000, to * 1_000_000))].into(),
        ..Expected::default()
    };
    let there = check(&tale.0, &wedged("there", 90, 8000), 1);
    assert!(there.faults.is_empty(), "{:?}", there.faults);
    assert_eq!(there.others_silence.time.as_millis(), 2);
    let fault = ["an ask was not answered, and nobody knows why"];
    for elsewhere in [wedged("here", 90, 8000), wedged("there", 10, 90)] {
        let findings = check(&tale.0, &elsewhere, 1);
        assert_eq!(findings.faults.rules(), fault);
        assert_eq!(findings.others_silence.time.as_millis(), 8900);
    }
}

#[test]
fn an_entity_that_cannot_be_read_is_found() {
    let findings = check(&moved().0, &Expected::default(), 2);
    assert_eq!(findings.faults.rules(), ["an entity cannot be read in the end"]);
}

#[test]
fn silence_is_the_time_until_the_entity_next_does_something() {
    let tale = Tale::new()
        .told(1, 1)
        .turn(HERE, 2, 1, 7, 1, 1)
        .sending(true, 100, 2, Outcome::Open("the node was lost".to_owned()))
        .told(2900, 3)
        .turn(THERE, 3000, 2, 8, 1, 3)
        .page(4000, 8, 1, 3);
    let findings = tale.findings(here());
    assert_eq!((findings.silence.time.as_millis(), findings.silence.since), (2900, 100_000_000));
    assert_eq!(findings.others_silence.time.as_millis(), 0);
    let expected = Expected { lives: here(), ..Expected::default() };
    assert_eq!(again(&tale.0, &expected, 90_000_000, u64::MAX).as_millis(), 2910);
    assert_eq!(again(&tale.0, &expected, 90_000_000, 95_000_000).as_millis(), 0);
    assert_eq!(findings.unanswered, 1);
}

#[test]
fn the_longest_silence_of_a_time_leaves_out_what_was_over_before_and_what_began_after() {
    let tale = moved().told(100, 3).turn(THERE, 150, 2, 7, 3, 3).told(200, 4).turn(THERE, 400, 2, 7, 4, 4);
    let longest = |from: u64, until: u64| {
        let found = longest_between(&tale.0, &Expected::default(), from * 1_000_000, until * 1_000_000);
        found.time.as_millis()
    };
    assert_eq!((longest(0, 1000), longest(0, 200), longest(151, 200), longest(151, 201)), (200, 50, 0, 200));
}

#[test]
fn what_entities_do_meanwhile_leaves_out_those_that_began_anew() {
    let tale = moved().asked(100, 3, 150, 2, 7, 3).turn(THERE, 150, 2, 7, 3, 3).page(500, 7, 3, 3);
    let of = |tale: &Tale, from: u64, until: u64| {
        let found = meanwhile(&tale.0, &Expected::default(), from * 1_000_000, until * 1_000_000);
        (found.answered, found.silence.time.as_millis())
    };
    assert_eq!(of(&tale, 50, 200), (1, 50));
    assert_eq!(of(&tale, 50, 101), (0, 50), "it was sent in that time, and answered later");
    assert_eq!(of(&tale, 151, 200), (0, 0));
    let begun_anew = tale.told(160, 4).turn(THERE, 170, 3, 8, 1, 4);
    assert_eq!(of(&begun_anew, 50, 200), (0, 0));
}

#[test]
fn what_a_process_was_writing_when_it_was_killed_is_left_out() {
    let mut history = History::default();
    history.add("n1", "turn 1 1 1 1 1 0 1\nturn 2 1 1 2").unwrap();
    assert_eq!((history.turns.len(), history.processes.len()), (1, 1));
    assert!(history.add("n2", "nonsense\n").is_err());
}
