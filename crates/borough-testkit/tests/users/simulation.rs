//! A user's entity under the simulator: what is right passes, what is wrong is found, and a seed is the same every time.

use borough_actor::{Actor, Context, Fault};
use borough_cluster::{Node, ShardBuilder};
use borough_testkit::{Faults, History, Random, Simulation};
use serde::{Deserialize, Serialize};

use crate::account::{Account, accounts};

fn amount(message: &Account) -> u64 {
    if let Account::Deposit(amount) = message { *amount } else { 0 }
}

/// What was paid in is there, as far as nothing could have taken it; and nothing else.
fn is_balanced(history: &History<Account>, balance: u64) -> Result<(), String> {
    let sure: u64 = history.sure().map(amount).sum();
    let all: u64 = history.accepted().map(amount).sum();
    if (sure..=all).contains(&balance) { Ok(()) } else { Err(format!("{balance}, not {sure} to {all}")) }
}

fn deposits(random: &mut Random) -> (String, Account) {
    (format!("account-{}", random.below(20)), Account::Deposit(random.between(1, 100)))
}

fn simulation() -> Simulation<crate::account::AccountEntity> {
    Simulation::of(accounts).workload(deposits).invariant(Account::Balance, is_balanced)
}

#[test]
fn an_entity_that_keeps_its_promises_passes_whatever_strikes() {
    let summary = simulation().seeds(0..12).run();
    assert_eq!(summary.seeds, 12);
    assert!(summary.messages > 5000 && summary.strikes > 60, "{summary:?}");
    assert!(summary.entities > 200, "{summary:?}");
}

#[test]
fn nothing_is_in_doubt_while_nodes_are_only_replaced() {
    let exact = |history: &History<Account>, balance: u64| {
        let all: u64 = history.accepted().map(amount).sum();
        if history.is_sure() && balance == all { Ok(()) } else { Err(format!("{balance}, not {all}")) }
    };
    Simulation::of(accounts)
        .faults(Faults::Planned)
        .seeds(0..6)
        .workload(deposits)
        .invariant(Account::Balance, exact)
        .run();
}

#[test]
fn one_seed_goes_the_same_way_every_time() {
    let hash = |seed| simulation().seeds(seed..=seed).run().trace_hash;
    for seed in 0..4 {
        assert_eq!(hash(seed), hash(seed), "seed {seed}");
    }
    assert_ne!(hash(0), hash(1));
}

/// An account that forgets its balance when it moves.
#[derive(Default, Serialize, Deserialize)]
struct Forgetful {
    #[serde(skip)]
    balance: u64,
}

impl Actor for Forgetful {
    type Msg = Account;

    async fn receive(&mut self, message: Account, _: &mut Context<Self>) -> Result<(), Fault> {
        match message {
            Account::Deposit(amount) => self.balance += amount,
            Account::Balance(reply) => reply.send(self.balance),
        }
        Ok(())
    }
}

fn forgetful(node: &Node) -> ShardBuilder<Forgetful> {
    node.shard("accounts", |_| Forgetful::default()).shards(16).migrate_state()
}

#[test]
fn a_balance_that_does_not_survive_a_move_is_found_and_its_seed_repeats_it() {
    let run = |seeds: std::ops::Range<u64>| {
        let simulation = Simulation::of(forgetful).seeds(seeds).workload(deposits);
        simulation.invariant(Account::Balance, is_balanced).try_run()
    };
    let failure = run(0..20).unwrap_err();
    assert!(failure.broken.starts_with("invariant: account-"), "{failure}");
    assert!(failure.events.iter().any(|event| event.contains("node-")), "{failure}");
    let text = failure.to_string();
    let replay = format!(
        "BOROUGH_SEED={} cargo test simulation::a_balance_that_does_not_survive_a_move_is_found_and_its_seed_repeats_it",
        failure.seed
    );
    assert!(text.contains(&replay), "{text}");
    assert_eq!(run(failure.seed..failure.seed + 1).unwrap_err(), failure);
}
