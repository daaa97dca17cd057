//! A front end that hosts nothing: `cargo run --example proxy`.
//!
//! Two nodes of the role `back` host the sessions. A third has neither that role nor the code of a session: it knows what can be said to one, and its proxy finds the way.

use borough::cluster::KindStats;
use borough::prelude::*;

/// What can be said to a session: all that the front end knows of it.
#[derive(Serialize, Deserialize)]
enum Session {
    Visit(String, Reply<usize>),
}

/// Compiled into the back end alone, if the two were programs of their own.
mod back_end {
    use super::{Actor, Context, Deserialize, Fault, Node, Region, Serialize, Session};

    #[derive(Default, Serialize, Deserialize)]
    struct SessionEntity {
        pages: Vec<String>,
    }

    impl Actor for SessionEntity {
        type Msg = Session;
        async fn receive(
            &mut self,
            Session::Visit(page, reply): Session,
            _: &mut Context<Self>,
        ) -> Result<(), Fault> {
            self.pages.push(page);
            reply.send(self.pages.len());
            Ok(())
        }
    }

    pub(crate) async fn start(
        name: &str,
        seed: Option<String>,
    ) -> Result<(Node, Region<Session>), borough::Error> {
        let others = usize::from(seed.is_some());
        let node = Node::builder("site").node_id(name).role("back").listen("127.0.0.1:0").seeds(seed);
        let node = node.start().await?;
        // On a member a type is ready once the cluster knows that it lives there, too: each of the two gets its share.
        node.wait_for(others + 1).await?;
        let sessions = node.shard("sessions", |_id| SessionEntity::default()).role("back").migrate_state();
        let sessions = sessions.start().await?;
        Ok((node, sessions))
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let (back_1, _) = back_end::start("back-1", None).await?;
    let (back_2, _) = back_end::start("back-2", Some(back_1.address().into())).await?;
    let front =
        Node::builder("site").node_id("front").listen("127.0.0.1:0").seed(back_1.address()).start().await?;
    // The name, the messages and the role are all it says. What is sent before a back end is there waits for one.
    let sessions = front.shard_proxy::<Session>("sessions").role("back").start().await?;
    front.wait_for_role("back", 2).await?;

    let mut visits = 0;
    for visitor in 0..100 {
        for page in ["home", "news"] {
            visits = sessions
                .ask(format!("visitor-{visitor}"), |reply| Session::Visit(page.into(), reply))
                .await?;
        }
    }
    println!("100 visitors, {visits} pages each");
    let mut hosted = 0;
    for (name, stats) in front.sharding_stats().await {
        let entities = stats?.kinds.iter().map(KindStats::entities).sum::<usize>();
        println!("{name} hosts {}", if entities == 0 { "nothing" } else { "sessions" });
        hosted += entities;
    }
    println!("{hosted} sessions in all");

    // The front end notices nothing when a back end goes.
    back_1.leave().await?;
    let visits = sessions.ask("visitor-7", |reply| Session::Visit("jobs".into(), reply)).await?;
    println!("back-1 has left; visitor-7 has seen {visits} pages");
    front.leave().await?;
    back_2.leave().await?;
    Ok(())
}
