//! An entity as a user would write it.

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Node, ShardBuilder};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Account {
    Deposit(u64),
    Balance(Reply<u64>),
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct AccountEntity {
    balance: u64,
}

impl Actor for AccountEntity {
    type Msg = Account;

    async fn receive(&mut self, message: Account, _: &mut Context<Self>) -> Result<(), Fault> {
        match message {
            Account::Deposit(amount) => self.balance += amount,
            Account::Balance(reply) => reply.send(self.balance),
        }
        Ok(())
    }
}

pub(crate) fn accounts(node: &Node) -> ShardBuilder<AccountEntity> {
    node.shard("accounts", |_| AccountEntity::default()).shards(16).migrate_state()
}
