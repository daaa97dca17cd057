//! Many messages at once, to entities whose shards nobody owns; and asks until every entity of a type has answered.

use std::ops::Range;
use std::time::{Duration, Instant};

use borough::{IntoEntityId, TellError};
use tokio::task::JoinSet;

use super::Ledgers;
use super::entity::Entry;
use crate::words::Answer;

/// How many entities are asked at once.
const AT_ONCE: usize = 256;
/// How long one ask waits.
const ASK_TIME: Duration = Duration::from_secs(10);

impl Ledgers {
    /// As many tells as that to entities of the type `unknown`, as fast as they are accepted or refused.
    pub(in crate::program) async fn flood(&self, count: u64) -> Answer {
        let began = Instant::now();
        let mut numbers = vec![0; self.ids.len()];
        let (mut accepted, mut failed) = (0, None);
        for message in 0..count {
            let place = usize::try_from(message).unwrap_or(0) % self.ids.len();
            numbers[place] += 1;
            let note = Entry::Note { sender: 1, number: numbers[place] };
            match self.unknown.tell(&self.ids[place], note).await {
                Ok(()) => accepted += 1,
                Err(error) => {
                    // Numbers go on from what was accepted.
                    numbers[place] -= 1;
                    failed = failed.or_else(|| Some(in_words(&error)));
                }
            }
            // Others of this process go on meanwhile.
            if message % 1024 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Answer::Told { accepted, failed, millis: millis(began.elapsed()) }
    }

    /// One tell to each of these entities of the type `ledger`: they live from then on, with something to remember.
    pub(in crate::program) async fn fill(&self, ids: Range<u32>) -> Result<Answer, String> {
        let (began, accepted) = (Instant::now(), u64::from(ids.end.saturating_sub(ids.start)));
        for id in ids {
            let name = id.to_string().into_entity_id().map_err(|error| error.to_string())?;
            let note = Entry::Note { sender: 1, number: 1 };
            self.ledger.tell(&name, note).await.map_err(|error| in_words(&error))?;
        }
        Ok(Answer::Told { accepted, failed: None, millis: millis(began.elapsed()) })
    }

    /// Those that there is load for.
    pub(in crate::program) fn loaded(&self) -> Range<u32> {
        0..u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    /// What these entities of a type have counted, and how much of it was out of order.
    pub(in crate::program) async fn received(&self, kind: &str, ids: Range<u32>) -> Result<Answer, String> {
        let region = self.named(kind)?;
        let (mut reading, mut received, mut misplaced) = (JoinSet::new(), 0, 0);
        let mut ids = ids;
        loop {
            while reading.len() < AT_ONCE {
                let Some(id) = ids.next() else { break };
                let name = id.to_string().into_entity_id().map_err(|error| error.to_string())?;
                let region = region.clone();
                reading.spawn(async move { region.ask(&name, Entry::Read).timeout(ASK_TIME).await });
            }
            let Some(read) = reading.join_next().await else { break };
            let page = read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            received += page.count;
            misplaced += page.misplaced;
        }
        Ok(Answer::Received { kind: kind.to_owned(), received, misplaced })
    }

    /// Asks so many entities of a type, each until it answers or the time is over.
    pub(in crate::program) async fn poke(
        &self,
        kind: &str,
        count: usize,
        bound: Duration,
    ) -> Result<Answer, String> {
        let region = self.named(kind)?;
        let until = Instant::now() + bound;
        let (mut asking, mut took) = (JoinSet::new(), Vec::new());
        for name in self.ids.iter().take(count) {
            let (region, name) = (region.clone(), name.clone());
            asking.spawn(async move {
                let began = Instant::now();
                while Instant::now() < until {
                    let sign = |reply| Entry::Sign { sender: 0, number: 0, reply };
                    if region.ask(&name, sign).timeout(ASK_TIME.min(bound)).await.is_ok() {
                        return Some(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                None
            });
        }
        while let Some(asked) = asking.join_next().await {
            took.extend(asked.map_err(|error| error.to_string())?);
        }
        took.sort_unstable();
        Ok(Answer::Asked {
            answered: took.len() as u64,
            failed: (count - took.len()) as u64,
            median_us: took.get(took.len() / 2).copied().unwrap_or(0),
            max_us: took.last().copied().unwrap_or(0),
        })
    }
}

fn in_words(error: &TellError<Entry>) -> String {
    error.to_string()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
