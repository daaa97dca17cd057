//! The first program of the README: an account that takes deposits and tells its balance.

use borough::prelude::*;

enum Account {
    Deposit(u64),
    Balance(Reply<u64>),
}

#[derive(Default)]
struct AccountActor {
    balance: u64,
}

impl Actor for AccountActor {
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
    let system = System::new("bank")?;
    let alice = system.spawn(AccountActor::default);
    alice.tell(Account::Deposit(100)).await?;
    alice.tell(Account::Deposit(50)).await?;
    println!("Alice's balance: {}", alice.ask(Account::Balance).await?);
    system.shutdown().await;
    Ok(())
}
