//! What each change of shards does to the table, and that a step which no longer fits does nothing.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use crate::log::Entry as LogEntry;
use crate::sharding::{Allocation, Entry, Epoch, Hashing, Kind, KindId, ShardId, Step};
use crate::table::{Admission, Applied, Change, Cluster, NoRoom, Removal, Table};
use crate::version::{Term, Version};

const KIND: KindId = KindId(0);
const SHARD: ShardId = ShardId { kind: KIND, number: 3 };

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn kind(name: &str, shards: u32) -> Arc<Kind> {
    Arc::new(Kind {
        name: name.into(),
        shards,
        hashing: Hashing::Xxh3,
        role: None,
        min_hosts: 1,
        allocation: Allocation::External,
        codec: 1,
    })
}

/// Of era 5, which the tables here are of.
fn epoch(count: u64) -> Epoch {
    Epoch::new(5 << 32 | count)
}

fn admit(number: u64) -> Change {
    let facts = Facts {
        id: NodeId::new("n"),
        roles: Arc::from([]),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let incarnation = Incarnation { address: Address::new(alloc::format!("a{number}")), uid: uid(number) };
    Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) }))
}

fn step(step: Step) -> Change {
    Change::Shards(Arc::from([(SHARD, step)]))
}

fn apply(table: &mut Table, change: Change) -> Applied {
    let version = Version { term: Term::new(1), index: table.version().index + 1 };
    table.apply(version, &LogEntry::Payload(change))
}

/// Members 1 to 4, of which 1 to 3 host the type of eight shards.
fn town() -> Table {
    let mut table = Table::new(Cluster { name: 1, era: 5, founder: uid(1) });
    let mut changes: Vec<Change> = (1..=4).map(admit).collect();
    changes.push(Change::Declare(kind("account", 8)));
    changes.extend((1..=3).map(|number| Change::Host(uid(number), KIND)));
    for change in changes {
        assert_ne!(apply(&mut table, change.clone()), Applied::Nothing, "{change:?}");
    }
    table
}

fn after(changes: impl IntoIterator<Item = Change>) -> Table {
    let mut table = town();
    for change in changes {
        assert_ne!(apply(&mut table, change.clone()), Applied::Nothing, "{change:?}");
    }
    table
}

fn owned() -> Table {
    after([step(Step::Own(uid(1), epoch(1)))])
}

fn moving() -> Table {
    after([step(Step::Own(uid(1), epoch(1))), step(Step::Move(uid(2), epoch(2)))])
}

fn entry(table: &Table) -> Entry {
    *table.shard(SHARD).expect("it has an owner")
}

/// The step changes nothing there.
#[track_caller]
fn no_longer_fits(table: &Table, change: &Change) {
    let mut changed = table.clone();
    assert_eq!(apply(&mut changed, change.clone()), Applied::Nothing, "{change:?}");
    assert_eq!(changed.kinds(), table.kinds(), "{change:?}");
}

#[test]
fn a_type_is_declared_once_and_only_if_it_is_sound() {
    let table = town();
    no_longer_fits(&table, &Change::Declare(kind("account", 9)));
    no_longer_fits(&table, &Change::Declare(kind("", 8)));
    no_longer_fits(&table, &Change::Declare(kind("b", 0)));
    no_longer_fits(&table, &Change::Declare(kind("b", Kind::SHARDS_MAX + 1)));
    no_longer_fits(&table, &Change::Declare(kind(&"b".repeat(256), 1)));
    no_longer_fits(&table, &Change::Declare(Arc::new(Kind { codec: 0, ..(*kind("b", 8)).clone() })));
    let full = after([Change::Declare(kind("b", Kind::SHARDS_MAX))]);
    no_longer_fits(&full, &Change::Declare(kind("c", Kind::SHARDS_MAX)));
    assert_eq!(full.kind_named("b").map(|(id, _)| id), Some(KindId(1)));
}

#[test]
fn a_table_that_is_full_of_types_or_shards_says_which_and_how_many() {
    let full = after([Change::Declare(kind("b", Kind::SHARDS_MAX))]);
    let declared = u64::from(Kind::SHARDS_MAX) + 8;
    assert_eq!(full.room_for(&kind("c", Kind::SHARDS_MAX - 8)), Ok(()));
    let refused = Err(NoRoom::Shards { declared, max: 1 << 17 });
    assert_eq!(full.room_for(&kind("c", Kind::SHARDS_MAX - 7)), refused);
    let types = (1..1024).map(|number| Change::Declare(kind(&alloc::format!("t{number}"), 1)));
    let full = after(types);
    assert_eq!(full.kinds().len(), 1024);
    assert_eq!(full.room_for(&kind("one more", 1)), Err(NoRoom::Kinds { max: 1024 }));
    no_longer_fits(&full, &Change::Declare(kind("one more", 1)));
}

#[test]
fn members_host_types_that_there_are() {
    let table = town();
    no_longer_fits(&table, &Change::Host(uid(1), KIND));
    no_longer_fits(&table, &Change::Host(uid(9), KIND));
    no_longer_fits(&table, &Change::Host(uid(4), KindId(1)));
    assert!(table.may_host(uid(3), KIND) && !table.may_host(uid(4), KIND));
}

#[test]
fn a_shard_begins_at_the_first_epoch_of_the_era() {
    let table = owned();
    let first = epoch(1);
    let expected = Entry { owner: uid(1), epoch: first, issued: first, lineage: first, moving: None };
    assert_eq!(entry(&table), expected);
}

#[test]
fn only_active_hosts_are_given_shards_and_only_those_that_there_are() {
    let draining = after([Change::Drain(uid(2))]);
    no_longer_fits(&draining, &step(Step::Own(uid(2), epoch(1))));
    no_longer_fits(&town(), &step(Step::Own(uid(4), epoch(1))));
    no_longer_fits(&town(), &step(Step::Own(uid(9), epoch(1))));
    no_longer_fits(&town(), &step(Step::Own(uid(1), epoch(2))));
    let beyond = ShardId { kind: KIND, number: 8 };
    no_longer_fits(&town(), &Change::Shards(Arc::from([(beyond, Step::Own(uid(1), epoch(1)))])));
    let unknown = ShardId { kind: KindId(7), number: 0 };
    no_longer_fits(&town(), &Change::Shards(Arc::from([(unknown, Step::Own(uid(1), epoch(1)))])));
}

#[test]
fn what_has_an_owner_is_given_to_nobody_else() {
    no_longer_fits(&owned(), &step(Step::Own(uid(2), epoch(2))));
}

#[test]
fn an_orphan_begins_anew_once_it_is_freed() {
    let removed = after([step(Step::Own(uid(1), epoch(1))), Change::Remove(uid(1), Removal::Quiet)]);
    assert_eq!(entry(&removed).owner, uid(1));
    no_longer_fits(&removed, &step(Step::Own(uid(2), epoch(2))));
    let mut freed = removed;
    apply(&mut freed, Change::Free(uid(1)));
    no_longer_fits(&freed, &step(Step::Own(uid(2), epoch(1))));
    apply(&mut freed, step(Step::Own(uid(2), epoch(2))));
    let second = epoch(2);
    let expected = Entry { owner: uid(2), epoch: second, issued: second, lineage: second, moving: None };
    assert_eq!(entry(&freed), expected);
}

#[test]
fn an_orphan_of_one_long_forgotten_begins_anew_too() {
    let mut table = after([step(Step::Own(uid(1), epoch(1))), Change::Remove(uid(1), Removal::Goodbye)]);
    apply(&mut table, Change::Forget(Arc::from([uid(1)])));
    assert!(!table.is_removed(uid(1)));
    assert_eq!(apply(&mut table, step(Step::Own(uid(2), epoch(2)))), Applied::Shards);
}

#[test]
fn a_move_hands_out_an_epoch_and_keeps_the_owner() {
    let table = moving();
    let expected = Entry {
        owner: uid(1),
        epoch: epoch(1),
        issued: epoch(2),
        lineage: epoch(1),
        moving: Some((uid(2), epoch(2))),
    };
    assert_eq!(entry(&table), expected);
    no_longer_fits(&table, &step(Step::Move(uid(3), epoch(3))));
}

#[test]
fn a_shard_moves_from_a_member_to_another_that_stays() {
    no_longer_fits(&town(), &step(Step::Move(uid(2), epoch(1))));
    no_longer_fits(&owned(), &step(Step::Move(uid(1), epoch(2))));
    no_longer_fits(&owned(), &step(Step::Move(uid(4), epoch(2))));
    no_longer_fits(&owned(), &step(Step::Move(uid(2), epoch(3))));
    let draining = after([step(Step::Own(uid(1), epoch(1))), Change::Drain(uid(2))]);
    no_longer_fits(&draining, &step(Step::Move(uid(2), epoch(2))));
    let leaves = after([step(Step::Own(uid(1), epoch(1))), Change::Drain(uid(1))]);
    assert!(leaves.after(SHARD, Step::Move(uid(2), epoch(2))).is_some(), "who leaves gives away");
    let orphaned = after([step(Step::Own(uid(1), epoch(1))), Change::Remove(uid(1), Removal::Goodbye)]);
    no_longer_fits(&orphaned, &step(Step::Move(uid(2), epoch(2))));
}

#[test]
fn a_settled_move_keeps_the_lineage() {
    let mut table = moving();
    no_longer_fits(&table, &step(Step::Settle(epoch(1))));
    apply(&mut table, step(Step::Settle(epoch(2))));
    let expected =
        Entry { owner: uid(2), epoch: epoch(2), issued: epoch(2), lineage: epoch(1), moving: None };
    assert_eq!(entry(&table), expected);
    no_longer_fits(&table, &step(Step::Settle(epoch(2))));
    no_longer_fits(&table, &step(Step::CallOff(epoch(2))));
}

#[test]
fn a_move_that_is_called_off_burns_its_epoch() {
    let mut table = moving();
    no_longer_fits(&table, &step(Step::CallOff(epoch(1))));
    apply(&mut table, step(Step::CallOff(epoch(2))));
    let expected =
        Entry { owner: uid(1), epoch: epoch(1), issued: epoch(2), lineage: epoch(1), moving: None };
    assert_eq!(entry(&table), expected);
    no_longer_fits(&table, &step(Step::Settle(epoch(2))));
    no_longer_fits(&table, &step(Step::Move(uid(2), epoch(2))));
    assert_eq!(apply(&mut table, step(Step::Move(uid(2), epoch(3)))), Applied::Shards);
}

#[test]
fn a_move_can_be_settled_after_its_owner_is_gone() {
    let mut table = moving();
    apply(&mut table, Change::Remove(uid(1), Removal::Quiet));
    assert_eq!(apply(&mut table, step(Step::Settle(epoch(2)))), Applied::Shards);
    assert_eq!(entry(&table).lineage, epoch(1));
}

#[test]
fn the_removal_of_the_receiver_calls_the_move_off() {
    let mut table = moving();
    apply(&mut table, Change::Remove(uid(2), Removal::Quiet));
    assert_eq!((entry(&table).moving, entry(&table).issued), (None, epoch(2)));
    assert!(!table.kinds()[0].hosts().contains(&uid(2)));
    no_longer_fits(&table, &step(Step::Settle(epoch(2))));
}

#[test]
fn nobody_stops_hosting_while_anything_moves_away_from_it_and_what_moves_to_it_is_called_off() {
    no_longer_fits(&moving(), &Change::EndHosting(uid(1), KIND));
    no_longer_fits(&moving(), &Change::EndHosting(uid(4), KIND));
    let mut table = moving();
    assert_eq!(apply(&mut table, Change::EndHosting(uid(2), KIND)), Applied::Shards);
    assert_eq!(entry(&table).moving, None);
    no_longer_fits(&table, &step(Step::Move(uid(2), epoch(3))));
}

#[test]
fn what_an_owner_that_hosts_the_type_no_more_has_left_begins_anew_with_whoever_hosts_it() {
    let mut table = owned();
    no_longer_fits(&table, &step(Step::Own(uid(2), epoch(2))));
    assert_eq!(apply(&mut table, Change::EndHosting(uid(1), KIND)), Applied::Shards);
    assert!(table.is_left(KIND, &entry(&table)));
    let mut other = table.clone();
    assert_eq!(apply(&mut other, step(Step::Own(uid(2), epoch(2)))), Applied::Shards);
    assert_eq!((entry(&other).owner, entry(&other).lineage), (uid(2), epoch(2)));
    // The same node again, before another was named.
    assert_eq!(apply(&mut table, Change::Host(uid(1), KIND)), Applied::Shards);
    let again = entry(&table);
    assert_eq!(
        (again.owner, again.epoch, again.issued, again.lineage),
        (uid(1), epoch(2), epoch(2), epoch(2))
    );
}

#[test]
fn a_member_that_leaves_does_not_become_a_host_again() {
    let mut table = owned();
    apply(&mut table, Change::Drain(uid(1)));
    assert_eq!(apply(&mut table, Change::EndHosting(uid(1), KIND)), Applied::Shards);
    no_longer_fits(&table, &Change::Host(uid(1), KIND));
    assert_eq!(apply(&mut table, step(Step::Own(uid(2), epoch(2)))), Applied::Shards);
    assert_eq!(entry(&table).owner, uid(2), "it begins anew with another at once");
}

#[test]
fn of_several_steps_each_counts_for_itself() {
    let steps =
        [(SHARD, Step::Settle(epoch(1))), (ShardId { kind: KIND, number: 0 }, Step::Own(uid(2), epoch(1)))];
    let mut table = owned();
    assert_eq!(apply(&mut table, Change::Shards(Arc::from(steps))), Applied::Shards);
    assert_eq!(entry(&table).owner, uid(1));
    assert_eq!(table.owned_by(uid(2)).count(), 1);
}

#[test]
fn a_recovered_shard_goes_on_in_the_new_era() {
    let table = owned();
    let mut reborn = Table::new(Cluster { era: 6, ..table.cluster() });
    reborn.kinds.clone_from(&table.kinds);
    assert_eq!(reborn.next_epoch(SHARD), Epoch::first(6));
}

#[test]
fn what_an_era_before_handed_out_is_over_and_what_this_one_will_is_not() {
    let declared = ShardId { kind: KIND, number: 0 };
    for shard in [None, Some(declared), Some(ShardId { kind: KindId(7), number: 0 })] {
        let issued = owned().issued(shard);
        assert!(issued >= Epoch::new(4 << 32 | u64::from(u32::MAX)) && issued < epoch(1), "{issued}");
    }
    assert_eq!(owned().issued(Some(SHARD)), epoch(1));
    let mut reborn = Table::new(Cluster { era: 6, ..owned().cluster() });
    reborn.kinds.clone_from(&owned().kinds);
    assert!(reborn.issued(Some(SHARD)) > epoch(1) && reborn.issued(Some(SHARD)) < Epoch::first(6));
}

#[test]
fn a_raised_epoch_keeps_owner_and_lineage_and_ends_a_move() {
    for mut table in [owned(), moving()] {
        apply(&mut table, step(Step::Raise(epoch(9))));
        let expected =
            Entry { owner: uid(1), epoch: epoch(9), issued: epoch(9), lineage: epoch(1), moving: None };
        assert_eq!(entry(&table), expected);
        assert_eq!(table.next_epoch(SHARD), epoch(10));
        no_longer_fits(&table, &step(Step::Settle(epoch(2))));
    }
}

#[test]
fn an_epoch_that_is_not_higher_raises_nothing() {
    no_longer_fits(&town(), &step(Step::Raise(epoch(9))));
    no_longer_fits(&owned(), &step(Step::Raise(epoch(1))));
    no_longer_fits(&owned(), &step(Step::Raise(Epoch::first(4))));
    no_longer_fits(&moving(), &step(Step::Raise(epoch(2))));
    let orphaned = after([step(Step::Own(uid(1), epoch(1))), Change::Remove(uid(1), Removal::Quiet)]);
    no_longer_fits(&orphaned, &step(Step::Raise(epoch(9))));
}

#[test]
fn an_epoch_is_raised_into_another_era_but_not_ten_years_ahead() {
    const TEN_YEARS: u32 = 10 * 366 * 24 * 60 * 60;
    let table = owned();
    let (last, far) = (Epoch::first(5 + TEN_YEARS - 1), Epoch::first(5 + TEN_YEARS));
    assert_eq!(table.epoch_above(SHARD, last), Some(last.next()));
    assert_eq!(after([step(Step::Own(uid(1), epoch(1))), step(Step::Raise(last))]).issued(Some(SHARD)), last);
    assert!(!table.is_far_ahead(last) && table.is_far_ahead(far));
    for seen in [far, Epoch::new(u64::MAX), Epoch::new(Epoch::before(5 + TEN_YEARS).get() - 1)] {
        assert_eq!(table.epoch_above(SHARD, seen), None, "{seen}");
    }
    no_longer_fits(&table, &step(Step::Raise(far)));
    assert_eq!(table.epoch_above(SHARD, Epoch::ZERO), Some(epoch(2)), "above what is handed out, always");
}
