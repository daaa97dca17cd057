//! Each rule notices what it forbids.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::{Epoch, KindId, ShardId};

use super::{Books, Handling};
use crate::sim::sharding::message::{Ended, Key, Message, MessageId};
use crate::sim::violation::Violation;

const KEY: Key = (1, ShardId { kind: KindId(0), number: 0 });

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn send(books: &mut Books, seq: u32) -> MessageId {
    books.send(Message { sender: (uid(9), 0), key: KEY, entity: 0, seq })
}

/// That message is handled by the owner of that epoch, whose uid is of the same number.
fn handling(id: MessageId, epoch: u64) -> Handling {
    let (by, epoch, lineage) = (uid(epoch), Epoch::new(epoch), Epoch::new(1));
    Handling { id, by, epoch, lineage, count: 1, is_excused: false }
}

fn rule(outcome: Result<(), Violation>) -> &'static str {
    outcome.map_or_else(|violation| violation.rule(), |()| "none")
}

#[test]
fn what_is_handled_twice_is_noticed() {
    let mut books = Books::default();
    let id = send(&mut books, 1);
    assert_eq!(rule(books.handle(handling(id, 1))), "none");
    assert_eq!(rule(books.handle(handling(id, 1))), "once");
}

#[test]
fn what_is_refused_and_handled_is_noticed() {
    let mut books = Books::default();
    let (one, two) = (send(&mut books, 1), send(&mut books, 2));
    assert_eq!(rule(books.end(one, Ended::Refused("full"))), "none");
    assert_eq!(rule(books.handle(handling(one, 1))), "ends");
    assert_eq!(rule(books.handle(handling(two, 1))), "none");
    assert_eq!(rule(books.end(two, Ended::Refused("full"))), "ends");
}

#[test]
fn a_broken_order_is_noticed_and_a_gap_is_none() {
    let mut books = Books::default();
    let ids: Vec<MessageId> = (1..=3).map(|seq| send(&mut books, seq)).collect();
    assert_eq!(rule(books.handle(handling(ids[0], 1))), "none");
    assert_eq!(rule(books.handle(handling(ids[2], 1))), "none");
    assert_eq!(rule(books.handle(handling(ids[1], 1))), "order");
}

#[test]
fn two_runners_are_noticed() {
    let mut books = Books::default();
    let (one, two) = (send(&mut books, 1), send(&mut books, 2));
    assert_eq!(rule(books.begin_turn(KEY, Epoch::new(1), uid(1))), "none");
    assert_eq!(rule(books.begin_turn(KEY, Epoch::new(2), uid(2))), "none");
    let excused = Handling { is_excused: true, ..handling(two, 1) };
    assert_eq!(rule(books.handle(excused)), "none", "nothing was promised of it");
    assert_eq!(rule(books.handle(handling(one, 1))), "one_runner");
    assert_eq!(rule(books.begin_turn(KEY, Epoch::new(2), uid(3))), "one_runner");
}

#[test]
fn state_that_was_rolled_back_is_noticed() {
    let mut books = Books::default();
    books.begins(KEY, Epoch::new(1), BTreeMap::new());
    let id = send(&mut books, 1);
    assert_eq!(rule(books.handle(handling(id, 1))), "none");
    assert_eq!(rule(books.goes_on(KEY, Epoch::new(1), &BTreeMap::from([(0, 1)]))), "none");
    assert_eq!(rule(books.goes_on(KEY, Epoch::new(1), &BTreeMap::new())), "state");
}

#[test]
fn what_has_not_ended_is_named_and_what_was_lost_in_calm_is_noticed() {
    let mut books = Books::default();
    let (one, two) = (send(&mut books, 1), send(&mut books, 2));
    assert_eq!(rule(books.end(one, Ended::Lost("its sender is no more"))), "none");
    assert!(books.unended().is_some_and(|text| text.starts_with("1 messages")));
    assert_eq!(rule(books.lost_in_calm()), "none", "what was lost is the sender's own");
    assert_eq!(rule(books.end(two, Ended::Lost("its host is no more"))), "none");
    assert_eq!(books.unended(), None);
    assert_eq!(rule(books.lost_in_calm()), "calm");
    assert_eq!(books.tally(), [2, 0, 0, 2]);
}
