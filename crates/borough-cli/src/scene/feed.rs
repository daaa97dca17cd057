//! Asks a node's management again and again.
//!
//! What the node knows by itself is asked for more often than what it must ask the others for: one that does not answer holds up the counts,
//! and must not hold up the map.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::News;
use crate::client::Client;

/// How often the table is asked for.
const TABLE: Duration = Duration::from_millis(400);
/// How often the counts are.
const COUNTS: Duration = Duration::from_secs(1);

/// News of a cluster. Dropped, its threads end after their next question.
#[derive(Debug)]
pub(crate) struct Feed {
    news: Receiver<News>,
}

impl Feed {
    /// Asks that node from now on.
    pub(crate) fn open(client: &Client) -> Result<Self> {
        let (sender, news) = channel();
        spawn("table", client, sender.clone(), TABLE, table)?;
        spawn("counts", client, sender, COUNTS, counts)?;
        Ok(Self { news })
    }

    /// What came since the last time.
    pub(crate) fn take(&self) -> impl Iterator<Item = News> {
        self.news.try_iter()
    }
}

/// Who is there and who hosts what.
pub(super) fn table(client: &Client) -> Result<News> {
    Ok(News::Table(client.members()?, client.shards()?))
}

/// What happens there.
pub(super) fn counts(client: &Client) -> Result<News> {
    Ok(News::Counts(client.stats()?, client.entities()?))
}

fn spawn(
    name: &str,
    client: &Client,
    sender: Sender<News>,
    every: Duration,
    ask: fn(&Client) -> Result<News>,
) -> Result<()> {
    let client = client.clone();
    let asking = move || {
        loop {
            let news = ask(&client).unwrap_or_else(|error| News::Silence(format!("{error:#}")));
            if sender.send(news).is_err() {
                return;
            }
            thread::sleep(every);
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(asking).context("no thread can be started")?;
    Ok(())
}
