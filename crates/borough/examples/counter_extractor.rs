//! The counter of Akka's sharding guide: `cargo run --example counter_extractor`.
//!
//! Senders put what they say into an envelope with the id, or ask for a counter by its id; `route` takes both apart. A counter that idles asks to be let go and gets a message to end with;
//! what a fault leads to is decided by its kind.

use std::time::Duration;

use borough::prelude::*;

/// What senders say.
enum Request {
    Envelope {
        id: u64,
        payload: Counter,
    },
    Get {
        id: u64,
        reply: Reply<i64>,
    },
    /// Is for no counter.
    Hello,
}

impl EntityMessage for Request {
    type Inner = Counter;
    fn route(self) -> Result<(EntityId, Counter), Self> {
        let (id, message) = match self {
            Self::Envelope { id, payload } => (id, payload),
            Self::Get { id, reply } => (id, Counter::Get(reply)),
            Self::Hello => return Err(self),
        };
        Ok((EntityId::from(id), message))
    }
}

/// What a counter gets.
#[derive(Serialize, Deserialize)]
enum Counter {
    Increment,
    Decrement,
    Divide(i64, Reply<i64>),
    Get(Reply<i64>),
    /// It has idled.
    Idle,
    /// The last message: it is about to end.
    Stop,
}

/// A division that has no result. The counter is as it was.
#[derive(Debug)]
struct NoResult;

impl std::fmt::Display for NoResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the division has no result")
    }
}

impl std::error::Error for NoResult {}

#[derive(Default, Serialize, Deserialize)]
struct CounterEntity {
    count: i64,
}

impl Actor for CounterEntity {
    type Msg = Counter;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.set_receive_timeout(Duration::from_secs(1), || Counter::Idle);
        Ok(())
    }

    async fn receive(&mut self, msg: Counter, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Counter::Increment => self.count += 1,
            Counter::Decrement => self.count -= 1,
            Counter::Divide(by, reply) => {
                self.count = self.count.checked_div(by).ok_or(NoResult)?;
                reply.send(self.count);
            }
            Counter::Get(reply) => reply.send(self.count),
            // What comes meanwhile is not lost: it makes the counter's next life.
            Counter::Idle => ctx.passivate_with(Counter::Stop),
            Counter::Stop => println!("{} ends at {}", ctx.path(), self.count),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let node = Node::builder("counting").listen("127.0.0.1:0").start().await?;
    let counters = node
        .shard("counters", |_id| CounterEntity::default())
        .migrate_state()
        .stop_with(|| Counter::Stop)
        .supervision(Supervision::by(|fault| match fault.downcast_ref::<NoResult>() {
            Some(_) => Directive::Resume,
            None => Directive::Restart,
        }))
        .start()
        .await?;

    for payload in [Counter::Increment, Counter::Increment, Counter::Increment, Counter::Decrement] {
        counters.send(Request::Envelope { id: 123, payload }).await.map_err(|error| error.to_string())?;
    }
    println!("counter 123: {}", counters.request(|reply| Request::Get { id: 123, reply }).await?);
    println!("counter 7: {}", counters.request(|reply| Request::Get { id: 7, reply }).await?);

    let halved = |by| move |reply| Request::Envelope { id: 123, payload: Counter::Divide(by, reply) };
    if let Err(error) = counters.request(halved(0)).await {
        println!("divided by 0: {error}");
    }
    println!("it went on as it was; divided by 2: {}", counters.request(halved(2)).await?);
    if let Err(error) = counters.send(Request::Hello).await {
        println!("hello: {error}");
    }

    while counters.state().await.entities() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("all have ended");
    node.leave().await?;
    Ok(())
}
