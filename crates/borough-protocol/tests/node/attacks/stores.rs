//! Attacks on stores: 29 to 31.
//!
//! Shards and stores come later: this is a store of the test's own, which shows what the rules ask of a real one.

use std::collections::BTreeMap;

type Shard = u32;
type Epoch = u64;
type Owner = &'static str;

/// How an owner is told from an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    EpochAndOwner,
    EpochAlone,
}

/// The owner is not, or no more, the one the store knows of. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fenced;

struct Store {
    check: Check,
    fences: BTreeMap<Shard, (Epoch, Owner)>,
    journal: BTreeMap<Shard, Vec<&'static str>>,
}

impl Store {
    fn new(check: Check) -> Self {
        Self { check, fences: BTreeMap::new(), journal: BTreeMap::new() }
    }

    /// From now on nobody older writes.
    fn fence(&mut self, shard: Shard, epoch: Epoch, owner: Owner) -> Result<(), Fenced> {
        match self.fences.get(&shard) {
            Some((stored, _)) if *stored > epoch => return Err(Fenced),
            Some((stored, other))
                if *stored == epoch && *other != owner && self.check == Check::EpochAndOwner =>
            {
                return Err(Fenced);
            }
            Some(_) | None => {}
        }
        self.fences.insert(shard, (epoch, owner));
        Ok(())
    }

    /// In one step with the look at the fence.
    fn write(&mut self, shard: Shard, epoch: Epoch, owner: Owner, event: &'static str) -> Result<(), Fenced> {
        let mine = self.fences.get(&shard).is_some_and(|(stored, other)| {
            *stored == epoch && (*other == owner || self.check == Check::EpochAlone)
        });
        if !mine {
            return Err(Fenced);
        }
        self.journal.entry(shard).or_default().push(event);
        Ok(())
    }

    fn read(&self, shard: Shard) -> Vec<&'static str> {
        self.journal.get(&shard).cloned().unwrap_or_default()
    }
}

const SHARD: Shard = 1;

/// Attack 29. A file for each node: the new owner has another file, and no check ever meets the old owner.
#[test]
fn a_store_of_each_nodes_own_protects_nothing() {
    let (mut of_o, mut of_n) = (Store::new(Check::EpochAndOwner), Store::new(Check::EpochAndOwner));
    of_o.fence(SHARD, 1, "o").expect("the first");
    of_n.fence(SHARD, 2, "n").expect("newer");
    of_n.write(SHARD, 2, "n", "by n").expect("the owner");
    assert_eq!(of_o.write(SHARD, 1, "o", "late"), Ok(()), "nobody told this file");
}

/// Attack 29, with the rule: one store that all nodes reach.
#[test]
fn a_store_that_all_reach_refuses_the_old_owner() {
    let mut store = Store::new(Check::EpochAndOwner);
    store.fence(SHARD, 1, "o").expect("the first");
    store.fence(SHARD, 2, "n").expect("newer");
    store.write(SHARD, 2, "n", "by n").expect("the owner");
    assert_eq!(store.write(SHARD, 1, "o", "late"), Err(Fenced));
    assert_eq!(store.fence(SHARD, 1, "o"), Err(Fenced), "and it does not get it back");
    assert_eq!(store.read(SHARD), ["by n"]);
}

/// Attack 30. Fenced at the first write: the new owner had answered a read by then, and the old one wrote behind its back.
#[test]
fn a_fence_at_the_first_write_lets_a_read_go_stale() {
    let mut store = Store::new(Check::EpochAndOwner);
    store.fence(SHARD, 1, "o").expect("the first");
    let answered = store.read(SHARD);
    assert_eq!(store.write(SHARD, 1, "o", "late"), Ok(()), "n wrote nothing yet");
    store.fence(SHARD, 2, "n").expect("newer");
    assert_ne!(store.read(SHARD), answered, "n's answer was wrong");
}

/// Attack 30, with the rule: fenced before the first turn, a read too.
#[test]
fn a_fence_before_the_first_turn_keeps_reads_true() {
    let mut store = Store::new(Check::EpochAndOwner);
    store.fence(SHARD, 1, "o").expect("the first");
    store.fence(SHARD, 2, "n").expect("newer");
    let answered = store.read(SHARD);
    assert_eq!(store.write(SHARD, 1, "o", "late"), Err(Fenced));
    assert_eq!(store.read(SHARD), answered);
}

/// Attack 31. Two owners of one epoch, as in attack 2: a store that compares epochs alone takes both.
#[test]
fn a_store_that_compares_epochs_alone_takes_two_owners() {
    let mut store = Store::new(Check::EpochAlone);
    store.fence(SHARD, 5, "b").expect("the first");
    store.fence(SHARD, 5, "c").expect("equal passes");
    assert_eq!(store.write(SHARD, 5, "b", "by b"), Ok(()));
    assert_eq!(store.write(SHARD, 5, "c", "by c"), Ok(()));
}

/// Attack 31, with the rule: of one epoch the owner that was first stays the only one.
#[test]
fn a_store_that_compares_the_owner_too_takes_one() {
    let mut store = Store::new(Check::EpochAndOwner);
    store.fence(SHARD, 5, "b").expect("the first");
    assert_eq!(store.fence(SHARD, 5, "c"), Err(Fenced));
    assert_eq!(store.write(SHARD, 5, "c", "by c"), Err(Fenced));
    assert_eq!(store.write(SHARD, 5, "b", "by b"), Ok(()));
    assert_eq!(store.fence(SHARD, 5, "b"), Ok(()), "the same owner may say it again");
}
