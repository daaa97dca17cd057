//! Accounts that outlive a crash, in a database of your own: `cargo run --example ledger`.
//!
//! The accounts live on a node and in SQLite. Three rules make that safe, whoever crashes, hangs or is cut off: load in `started`; save before you answer; and have the database refuse what carries an
//! older epoch than it has seen for the shard, in the same transaction. The fence tells it of the new epoch before the new owner reads anything.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use borough::cluster::{Epoch, EpochRefused, Fence, Fenced};
use borough::prelude::*;
use rusqlite::{Connection, OptionalExtension, params};

/// What can be said to an account.
#[derive(Serialize, Deserialize)]
enum Account {
    Deposit(i64, Reply<i64>),
    Balance(Reply<i64>),
}

/// A connection to the database. Each node has its own, and all must reach the same database.
#[derive(Clone)]
struct Store(Arc<Mutex<Connection>>);

impl Store {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS fences (shard INTEGER PRIMARY KEY, epoch INTEGER NOT NULL);",
        )?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Has it done on a thread that may wait for a disk: a turn must not.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let store = self.0.clone();
        let done =
            tokio::task::spawn_blocking(move || work(&store.lock().unwrap_or_else(PoisonError::into_inner)));
        Ok(done.await??)
    }

    async fn load(&self, id: String) -> Result<i64, Fault> {
        let query = "SELECT balance FROM accounts WHERE id = ?1";
        let found = self.run(move |sql| sql.query_row(query, [id], |row| row.get(0)).optional()).await?;
        Ok(found.unwrap_or(0))
    }

    /// Saves if nobody owns the shard since a later epoch; one statement, so nothing comes in between.
    async fn save(&self, id: String, balance: i64, shard: u32, epoch: u64) -> Result<(), Fault> {
        let epoch = i64::try_from(epoch)?;
        let saved = self.run(move |sql| {
            sql.execute(
                "INSERT INTO accounts SELECT ?1, ?2 WHERE (SELECT epoch FROM fences WHERE shard = ?3) <= ?4
                 ON CONFLICT (id) DO UPDATE SET balance = excluded.balance",
                params![id, balance, shard, epoch],
            )
        });
        match saved.await? {
            1 => Ok(()),
            _ => Err(self.refusal(shard).await?.into()),
        }
    }

    /// What the cluster must know of a refusal: it gives the shard a higher epoch, if this node is its owner still.
    async fn refusal(&self, shard: u32) -> Result<EpochRefused, Fault> {
        let query = "SELECT epoch FROM fences WHERE shard = ?1";
        let seen: i64 = self.run(move |sql| sql.query_row(query, [shard], |row| row.get(0))).await?;
        Ok(EpochRefused { seen: Epoch::new(u64::try_from(seen)?) })
    }
}

/// Called before the first turn of a shard at its owner: from then on, owners before that one save nothing.
impl Fence for Store {
    fn fence<'a>(
        &'a self,
        fenced: Fenced<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>> {
        Box::pin(async move {
            let (shard, epoch) = (fenced.shard, i64::try_from(fenced.epoch.get())?);
            let raised = self.run(move |sql| {
                sql.execute(
                    "INSERT INTO fences VALUES (?1, ?2)
                     ON CONFLICT (shard) DO UPDATE SET epoch = excluded.epoch WHERE epoch <= excluded.epoch",
                    params![shard, epoch],
                )
            });
            if raised.await? == 1 { Ok(()) } else { Err(self.refusal(shard).await?.into()) }
        })
    }
}

struct AccountEntity {
    id: String,
    balance: i64,
    store: Store,
}

impl Actor for AccountEntity {
    type Msg = Account;

    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.balance = self.store.load(self.id.clone()).await?;
        Ok(())
    }

    async fn receive(&mut self, msg: Account, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Account::Deposit(amount, reply) => {
                let balance = self.balance + amount;
                let (shard, epoch) = (ctx.shard().unwrap_or(0), ctx.epoch().unwrap_or(0));
                self.store.save(self.id.clone(), balance, shard, epoch).await?;
                self.balance = balance;
                reply.send(balance);
            }
            Account::Balance(reply) => reply.send(self.balance),
        }
        Ok(())
    }
}

/// Starts a node that hosts accounts.
async fn start(name: &str, seed: String, path: &Path) -> Result<Node, borough::Error> {
    let node = Node::builder("bank").node_id(name).listen("127.0.0.1:0").seed(seed).start().await?;
    node.wait_for(2).await?;
    let store = Store::open(path)?;
    let fence = store.clone();
    let account = move |id: &EntityId| AccountEntity { id: id.to_string(), balance: 0, store: store.clone() };
    node.shard("accounts", account).keeps_own_state().fence(fence).start().await?;
    Ok(node)
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let path = std::env::temp_dir().join(format!("borough-ledger-{}.sqlite", std::process::id()));
    // The desk hosts no accounts. It is the oldest node, whose vote decides when another is lost.
    let desk = Node::builder("bank").node_id("desk").listen("127.0.0.1:0").start().await?;
    let accounts = desk.shard_proxy::<Account>("accounts").start().await?;
    let vault = start("vault", desk.address().into(), &path).await?;
    accounts.ask("alice", |reply| Account::Deposit(100, reply)).await?;
    println!("alice has {}", accounts.ask("alice", |reply| Account::Deposit(50, reply)).await?);
    let before = desk.explain("accounts", "alice")?;

    drop(vault); // no goodbye: the others see a crash
    desk.topology().wait_until(|topology| topology.named("vault").next().is_none()).await?;
    let second = start("second-vault", desk.address().into(), &path).await?;
    println!("the vault has crashed; alice has {}", accounts.ask("alice", Account::Balance).await?);

    // The first vault was not dead but slow, and wants to save what it had in its hands.
    let late = Store::open(&path)?;
    let refused = late.save("alice".into(), 999, before.shard, before.epoch.get()).await;
    if refused.is_err_and(|fault| fault.downcast_ref::<EpochRefused>().is_some()) {
        println!("an owner of yesterday: a later owner has the shard; nothing was saved");
    }
    println!("alice has {}", accounts.ask("alice", |reply| Account::Deposit(25, reply)).await?);
    second.leave().await?;
    desk.leave().await?;
    Ok(std::fs::remove_file(path)?)
}
