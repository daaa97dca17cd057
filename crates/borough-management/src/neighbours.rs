//! Where the managements of the other members listen.
//!
//! Each is asked once it is a member, again while it does not answer, and from time to time afterwards. It is for links that people
//! follow: what is shown may be a little old.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use borough_cluster::{NodeHandle, Uid};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::bureau::Bureau;
use crate::steward::{Order, PATH};

/// How soon one that did not answer is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How soon one that answered is asked again.
const RENEW: Duration = Duration::from_secs(30);
/// How long one may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many are asked at once.
const AT_ONCE: usize = 16;

/// What is known of them, by life.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    known: Mutex<BTreeMap<Uid, Known>>,
}

#[derive(Debug)]
struct Known {
    address: Option<String>,
    next: Instant,
}

impl Neighbours {
    /// Where that member's management listens, if it said.
    pub(crate) fn of(&self, uid: Uid) -> Option<String> {
        self.lock().get(&uid)?.address.clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Uid, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to ask now.
    fn due(&self, members: &[(Uid, String)]) -> Vec<(Uid, String)> {
        let (mut known, now) = (self.lock(), Instant::now());
        known.retain(|uid, _| members.iter().any(|(member, _)| member == uid));
        let is_due = |(uid, _): &&(Uid, String)| known.get(uid).is_none_or(|known| known.next <= now);
        members.iter().filter(is_due).take(AT_ONCE).cloned().collect()
    }

    fn learn(&self, uid: Uid, address: Option<String>) {
        let pause = if address.is_some() { RENEW } else { ASK_AGAIN };
        self.lock().insert(uid, Known { address, next: Instant::now() + pause });
    }

    /// When somebody is to be asked next.
    fn next(&self) -> Instant {
        let idle = Instant::now() + RENEW;
        self.lock().values().map(|known| known.next).min().unwrap_or(idle)
    }
}

/// Keeps what is known of them new, until management ends.
pub(crate) async fn follow(bureau: Arc<Bureau>) {
    tokio::select! {
        () = bureau.closed() => {}
        () = ask_all(&bureau) => {}
    }
}

async fn ask_all(bureau: &Bureau) {
    let mut topology = bureau.node.topology();
    let me = |uid: Uid| uid == bureau.node.uid();
    loop {
        let snapshot = topology.current();
        let others = snapshot.up().filter(|member| !me(member.uid()));
        let others: Vec<_> = others.map(|member| (member.uid(), member.node_id().to_string())).collect();
        let mut asked = JoinSet::new();
        for (uid, name) in bureau.neighbours.due(&others) {
            asked.spawn(ask(bureau.node.clone(), uid, name));
        }
        let is_idle = asked.is_empty();
        while let Some(Ok((uid, address))) = asked.join_next().await {
            bureau.neighbours.learn(uid, address);
        }
        if is_idle {
            tokio::select! {
                changed = topology.changed() => if changed.is_err() { return },
                () = sleep_until(bureau.neighbours.next()) => {}
            }
        }
    }
}

async fn ask(node: NodeHandle, uid: Uid, name: String) -> (Uid, Option<String>) {
    let asked = async {
        let steward = node.lookup::<Order>(PATH).on(&name).await.ok()?;
        steward.ask(Order::Where).timeout(PATIENCE).await.ok()
    };
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    (uid, answer.ok().flatten())
}
