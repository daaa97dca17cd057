//! Two branches of a bank that keep accounts together: `cargo run --example bank`.
//!
//! Two nodes of one cluster, here in one process, name each other as seeds. Both take deposits for the same account; it lives at one of them. A deposit is an ask: a tell
//! that is `Ok` was accepted, not handled, and whoever pays in wants to know. Then the branch that keeps the account leaves, and the account moves to the other with its
//! balance: there is no database.

use std::net::TcpListener;

use borough::prelude::*;

/// What can be said to an account, from any node.
#[derive(Serialize, Deserialize)]
enum Account {
    /// Says the balance after it.
    Deposit(u64, Reply<u64>),
    Balance(Reply<u64>),
}

/// An account; what it has moves with it.
#[derive(Default, Serialize, Deserialize)]
struct AccountEntity {
    balance: u64,
}

impl Actor for AccountEntity {
    type Msg = Account;
    async fn receive(&mut self, msg: Account, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Account::Deposit(amount, reply) => {
                self.balance += amount;
                reply.send(self.balance);
            }
            Account::Balance(reply) => reply.send(self.balance),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let seeds = two_addresses()?;
    let north = Node::builder("bank").node_id("north").listen(&seeds[0]).seeds(&seeds).start().await?;
    let south = Node::builder("bank").node_id("south").listen(&seeds[1]).seeds(&seeds).start().await?;
    // A type is started on every node that is to host it, with the same settings.
    let at_north = north.shard("accounts", |_id| AccountEntity::default()).migrate_state().start().await?;
    let at_south = south.shard("accounts", |_id| AccountEntity::default()).migrate_state().start().await?;
    north.wait_for(2).await?;

    println!("100 paid in at north: {}", at_north.ask("alice", |reply| Account::Deposit(100, reply)).await?);
    println!("50 paid in at south: {}", at_south.ask("alice", |reply| Account::Deposit(50, reply)).await?);

    // Whichever branch keeps the account closes.
    let keeper = north.explain("accounts", "alice")?.owner.ok_or("the account lives nowhere")?.0;
    let (leaves, (stays, accounts)) =
        if keeper == *north.node_id() { (north, (south, at_south)) } else { (south, (north, at_north)) };
    leaves.leave().await?;
    println!("the branch that kept the account is closed");
    println!("Alice's balance: {}", accounts.ask("alice", Account::Balance).await?);
    stays.leave().await?;
    Ok(())
}

/// Two addresses of this machine that nobody uses at the moment. They are below those from which the system draws the ports of connections, so that none takes them meanwhile.
fn two_addresses() -> Result<[String; 2], borough::Error> {
    let first = 20_000 + u16::try_from(std::process::id() % 1_000)? * 10;
    let mut free = (first..32_768).filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let (north, south) = free.next().zip(free.next()).ok_or("no port is free")?;
    Ok([north.local_addr()?.to_string(), south.local_addr()?.to_string()])
}
