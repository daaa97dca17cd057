//! Tests of a member's side, against answers written by hand.

use alloc::vec;

use super::*;

type Log_ = RegisterLog<u32, u32>;
type Said = Outbox<Message<u32, u32>>;

const TIMING: RegisterTiming = RegisterTiming {
    follow_every: Duration::from_millis(200),
    round_trip: Duration::from_millis(100),
    suspect_after: Duration::from_millis(750),
};

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn at(term: u64, index: u64) -> Version {
    Version { term: Term::new(term), index }
}

/// The one ask that was said.
fn asked(said: &mut Said) -> Ask<u32> {
    assert_eq!(said.len(), 1, "{said:?}");
    match said.remove(0) {
        (VoterId::STORE, Message::Ask(ask)) => ask,
        other => panic!("{other:?}"),
    }
}

fn answer(
    ask: &Ask<u32>,
    term: u64,
    holder: u64,
    entries: Vec<(Version, Entry<u32>)>,
    seq: u64,
) -> Message<u32, u32> {
    let (term, holder) = (Term::new(term), Some(uid(holder)));
    let renewals = holder.map(|holder| (holder, seq)).into_iter().collect();
    Message::Answer(Answer { number: ask.number, term, holder, news: News::Entries(entries), renewals })
}

/// Node 1, which has seen at 0 ms that `holder` is in office in term 1.
fn log(holder: u64) -> Log_ {
    let mut log = Log_::new(uid(1), TIMING, ms(0));
    let mut said = Said::new();
    log.on_deadline(ms(0), &mut said);
    let ask = asked(&mut said);
    let first = vec![(at(1, 1), Entry::Nothing)];
    log.handle(ms(0), VoterId::STORE, answer(&ask, 1, holder, first, 1), &mut said).expect("good");
    log
}

/// Node 1 in office in term 1; its first ask in office is answered.
fn in_office() -> Log_ {
    let mut log = log(1);
    let ask = log.under_way.as_ref().expect("asked at once").ask.clone();
    log.handle(ms(0), VoterId::STORE, answer(&ask, 1, 1, Vec::new(), 1), &mut Said::new()).expect("good");
    log
}

#[test]
fn it_is_in_office_when_the_store_says_so_and_may_act_at_once() {
    assert!(!log(2).in_office());
    let log = log(1);
    assert!(log.in_office() && log.may_act());
    assert_eq!(log.voters().now, BTreeSet::from([VoterId::STORE]));
}

#[test]
fn one_swap_is_under_way_and_what_comes_meanwhile_goes_with_the_next() {
    let (mut log, mut said) = (in_office(), Said::new());
    assert_eq!(log.propose(ms(10), 7, &mut said), Ok(at(1, 2)));
    let first = asked(&mut said);
    assert_eq!(first.swap, Swap::Append { term: Term::new(1), last: at(1, 1), payloads: [7].into() });
    assert_eq!(log.propose(ms(11), 8, &mut said), Ok(at(1, 3)));
    assert_eq!(log.propose(ms(12), 9, &mut said), Ok(at(1, 4)));
    assert!(said.is_empty());
    assert_eq!((log.tail().copied().collect::<Vec<_>>(), log.last_index()), (vec![7, 8, 9], 4));
    let news = vec![(at(1, 2), Entry::Payload(7))];
    log.handle(ms(15), VoterId::STORE, answer(&first, 1, 1, news, 2), &mut said).expect("good");
    let second = asked(&mut said);
    assert_eq!(second.swap, Swap::Append { term: Term::new(1), last: at(1, 2), payloads: [8, 9].into() });
    assert_eq!(log.take_committed().len(), 2);
    assert_eq!(log.tail().copied().collect::<Vec<_>>(), [8, 9]);
}

#[test]
fn an_answer_that_comes_twice_or_to_another_ask_says_nothing() {
    let (mut log, mut said) = (in_office(), Said::new());
    log.propose(ms(10), 7, &mut said).expect("in office");
    let ask = asked(&mut said);
    let news = vec![(at(1, 2), Entry::Payload(7))];
    for _ in 0..2 {
        log.handle(ms(15), VoterId::STORE, answer(&ask, 1, 1, news.clone(), 2), &mut said).expect("good");
    }
    assert_eq!((log.last_index(), log.take_committed().len()), (2, 2));
}

#[test]
fn an_answer_to_an_ask_that_was_given_up_says_nothing() {
    let (mut log, mut said) = (in_office(), Said::new());
    log.propose(ms(10), 7, &mut said).expect("in office");
    let given_up = asked(&mut said);
    log.on_deadline(ms(760), &mut said);
    let ask = asked(&mut said);
    log.handle(ms(770), VoterId::STORE, answer(&given_up, 1, 1, Vec::new(), 9), &mut said).expect("good");
    assert!(log.take_sighting().is_some_and(|sighting| sighting.asked == ms(0)));
    log.handle(ms(780), VoterId::STORE, answer(&ask, 1, 1, Vec::new(), 9), &mut said).expect("good");
    assert!(log.take_sighting().is_some_and(|sighting| sighting.asked == ms(760)));
}

#[test]
fn an_unanswered_ask_is_repeated_under_its_number_and_then_the_office_is_left() {
    let (mut log, mut said) = (in_office(), Said::new());
    log.propose(ms(10), 7, &mut said).expect("in office");
    let ask = asked(&mut said);
    assert_eq!(log.next_deadline(), ms(210));
    log.on_deadline(ms(210), &mut said);
    assert_eq!(asked(&mut said), ask);
    log.on_deadline(ms(760), &mut said);
    assert!(!log.in_office() && log.tail().all(|payload| *payload != 7));
    assert_eq!(log.propose(ms(761), 8, &mut said), Err(NotTaken::NotInOffice));
    let ask = asked(&mut said);
    assert_eq!(ask.swap, Swap::None);
    // The store still names it, but what it sent may still arrive: only a new term is its own.
    log.handle(ms(800), VoterId::STORE, answer(&ask, 1, 1, Vec::new(), 2), &mut said).expect("good");
    assert!(!log.in_office() && log.coordinator().is_none());
    log.stand(ms(801), &mut said);
    let ask = asked(&mut said);
    assert_eq!(ask.swap, Swap::Stand { term: Term::new(1) });
    let news = vec![(at(1, 2), Entry::Payload(7)), (at(2, 3), Entry::Nothing)];
    log.handle(ms(810), VoterId::STORE, answer(&ask, 2, 1, news, 2), &mut said).expect("good");
    assert!(log.in_office() && log.last_index() == 3);
}

#[test]
fn a_newer_term_ends_the_office_and_what_was_not_taken_is_gone() {
    let (mut log, mut said) = (in_office(), Said::new());
    log.propose(ms(10), 7, &mut said).expect("in office");
    let ask = asked(&mut said);
    let news = vec![(at(2, 2), Entry::Nothing)];
    log.handle(ms(15), VoterId::STORE, answer(&ask, 2, 3, news, 1), &mut said).expect("good");
    assert!(!log.in_office() && log.last_index() == 2 && log.tail().next().is_none());
    assert_eq!(log.coordinator(), Some((VoterId::of_life(uid(3)), ms(15))));
}

/// Lets the log ask at each of these moments, answered at once with that renewal of node 2.
fn follow(log: &mut Log_, rounds: &[(u64, u64)]) {
    let mut said = Said::new();
    for (moment, seq) in rounds {
        log.on_deadline(ms(*moment), &mut said);
        let ask = asked(&mut said);
        log.handle(ms(*moment), VoterId::STORE, answer(&ask, 1, 2, Vec::new(), *seq), &mut said)
            .expect("good");
    }
}

#[test]
fn it_stands_only_once_the_store_shows_that_the_one_in_office_is_silent() {
    let (mut log, mut said) = (log(2), Said::new());
    follow(&mut log, &[(200, 2), (400, 2), (600, 2), (800, 2)]);
    assert_eq!(log.coordinator(), Some((VoterId::of_life(uid(2)), ms(200))));
    // Long ago on its own clock, but the store has not said so.
    log.stand(ms(960), &mut said);
    assert!(said.is_empty());
    follow(&mut log, &[(1000, 2)]);
    log.stand(ms(1001), &mut said);
    assert_eq!(asked(&mut said).swap, Swap::Stand { term: Term::new(1) });
}

#[test]
fn time_in_which_the_store_does_not_answer_is_nobodys_silence() {
    let (mut log, mut said) = (log(2), Said::new());
    follow(&mut log, &[(200, 2)]);
    log.take_sighting();
    log.on_deadline(ms(400), &mut said);
    log.on_deadline(ms(1150), &mut said);
    let (_, Message::Ask(ask)) = said.pop().expect("asked again") else { panic!("no ask") };
    said.clear();
    log.handle(ms(1200), VoterId::STORE, answer(&ask, 1, 2, Vec::new(), 2), &mut said).expect("good");
    let late = Duration::from_millis(700);
    assert_eq!(log.take_sighting(), Some(Sighting { asked: ms(1150), late, renewed: Vec::new() }));
    assert_eq!(log.coordinator(), Some((VoterId::of_life(uid(2)), ms(900))));
    log.stand(ms(1300), &mut said);
    assert!(said.is_empty());
}

#[test]
fn what_no_store_says_is_refused() {
    let (mut log, mut said) = (log(2), Said::new());
    log.on_deadline(ms(200), &mut said);
    let ask = asked(&mut said);
    let hole = vec![(at(1, 3), Entry::Nothing)];
    for (from, message) in [
        (VoterId::of_life(uid(2)), answer(&ask, 1, 2, Vec::new(), 1)),
        (VoterId::STORE, Message::Ask(ask.clone())),
        (VoterId::STORE, answer(&ask, 1, 2, hole, 1)),
    ] {
        assert!(log.handle(ms(201), from, message, &mut said).is_err());
    }
    // And it asks again.
    log.on_deadline(ms(202), &mut said);
    let ask = asked(&mut said);
    assert!(log.handle(ms(203), VoterId::STORE, answer(&ask, 0, 2, Vec::new(), 1), &mut said).is_err());
    assert_eq!((log.term(), log.last_index()), (Term::new(1), 1));
}
