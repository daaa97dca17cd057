//! The first program of the README: accounts that take deposits and tell their balance, wherever in the cluster they live.

use borough::prelude::*;

#[derive(Serialize, Deserialize)]
enum Account {
    Deposit(u64),
    Balance(Reply<u64>),
}

#[derive(Default, Serialize, Deserialize)]
struct AccountEntity {
    balance: u64,
}

impl Actor for AccountEntity {
    type Msg = Account;
    async fn receive(&mut self, msg: Account, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Account::Deposit(amount) => self.balance += amount,
            Account::Balance(reply) => reply.send(self.balance),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let node = Node::builder("bank").listen("127.0.0.1:0").start().await?;
    let accounts = node.shard("accounts", |_id| AccountEntity::default()).migrate_state().start().await?;
    accounts.tell("alice", Account::Deposit(100)).await?;
    accounts.tell("alice", Account::Deposit(50)).await?;
    println!("Alice's balance: {}", accounts.ask("alice", Account::Balance).await?);
    node.leave().await?;
    Ok(())
}
