//! What an idle entity costs, by an allocator that counts what one thread takes: all of the node runs on it. A program of its own, because the
//! allocator is that of all of it.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::future::pending;
use std::ops::Range;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault};
use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Node, Region};

/// How many there are before.
const FIRST: u64 = 10_000;
/// How many entities are made then; enough that what there is once for all of them does not count.
const ENTITIES: u64 = 200_000;
/// How many bytes each may cost, its id of 16 bytes and its state of 16 included.
const MOST: i64 = 128;

/// A state of 16 bytes.
#[derive(Default)]
struct Account {
    balance: u64,
    changes: u64,
}

impl Actor for Account {
    type Msg = u64;

    async fn receive(&mut self, amount: u64, _: &mut Context<Self>) -> Result<(), Fault> {
        self.balance += amount;
        self.changes += 1;
        Ok(())
    }
}

fn id(number: u64) -> String {
    format!("account-{number:08}")
}

/// Tells each of these something, and waits until all up to them live and nothing is on its way.
async fn tell(accounts: &Region<u64>, ids: Range<u64>) {
    let all = ids.end;
    for number in ids {
        accounts.tell(id(number), 1).await.unwrap();
    }
    let live = async {
        while accounts.state().await.handled < all {
            tokio::time::timeout(Duration::from_millis(10), pending::<()>()).await.unwrap_err();
        }
    };
    tokio::time::timeout(Duration::from_secs(120), live).await.unwrap();
}

#[test]
fn an_idle_entity_costs_less_than_128_bytes() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (_node, accounts) = runtime.block_on(async {
        let network = MemoryNetwork::new(1);
        let node = Node::builder("test").listen("a:1").simulated(&network, 1, 0).start().await.unwrap();
        node.wait_for(1).await.unwrap();
        let accounts = node.shard("accounts", |_| Account::default()).keeps_own_state();
        let accounts = accounts.start().await.unwrap();
        // Every shard has its place, and every queue its room.
        tell(&accounts, 0..FIRST).await;
        (node, accounts)
    });
    let taken = allocation_counter::measure(|| runtime.block_on(tell(&accounts, FIRST..FIRST + ENTITIES)));
    assert_eq!(runtime.block_on(accounts.state()).entities(), 210_000);
    let each = taken.bytes_current / i64::try_from(ENTITIES).unwrap();
    assert!(each < MOST, "{each} bytes for each");
    // Less than its state and its id alone: then it is not measured.
    assert!(each >= 32, "{each} bytes for each");
}
