//! How the demo ends: what became of every message, and whether that is as it must be.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Serialize;

use super::ledger::Account;
use super::probe::Latency;
use crate::output;

/// What the demo found.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub(super) account: Account,
    /// The nodes that the cluster went on without.
    pub(super) lost: BTreeSet<String>,
    /// Of questions asked all the while.
    pub(super) asks: Latency,
}

impl Summary {
    /// Prints it, and fails as [`check`](Self::check) does, whether anybody reads it or not.
    pub(super) fn conclude(&self, json: bool, all_handled: bool) -> Result<()> {
        let shown = self.show(json);
        self.check(all_handled)?;
        shown
    }

    fn show(&self, json: bool) -> Result<()> {
        if json {
            return output::json(self);
        }
        let Account { sent, handled, refused, gone_with_lost, .. } = self.account;
        let mut table = output::table(&["MESSAGES", ""]);
        let unexplained = self.account.missing + self.account.doubled + self.account.misplaced;
        for (what, count) in [
            ("sent", sent),
            ("handled", handled),
            ("refused, and given back", refused),
            ("gone with a lost process", gone_with_lost),
            ("missing, doubled, out of order", unexplained),
        ] {
            table.add_row([what.to_owned(), output::grouped(count)]);
        }
        output::line(table)?;
        output::line(format_args!(
            "{} questions on the way: half answered within {}, 99 of 100 within {}, {} not answered",
            output::grouped(self.asks.answered + self.asks.failed),
            output::brief(self.asks.p50_micros),
            output::brief(self.asks.p99_micros),
            output::grouped(self.asks.failed),
        ))?;
        if !self.lost.is_empty() {
            output::line(self.losses())?;
        }
        let is_balanced = if self.account.is_balanced() { "yes" } else { "NO" };
        output::line(format_args!("every message is accounted for: {is_balanced}"))
    }

    fn losses(&self) -> String {
        let names: Vec<_> = self.lost.iter().map(String::as_str).collect();
        format!("the cluster had to go on without {}", names.join(", "))
    }

    /// Fails if a message is not accounted for; or if one was not handled though all of them must be.
    fn check(&self, all_handled: bool) -> Result<()> {
        let account = &self.account;
        if !account.is_balanced() {
            bail!(
                "{} missing, {} doubled, {} misplaced: {}",
                account.missing,
                account.doubled,
                account.misplaced,
                account.unexplained.join("; ")
            );
        }
        if all_handled && account.sent != account.handled {
            bail!(
                "{} sent and {} handled, though nothing was killed; {}",
                account.sent,
                account.handled,
                if self.lost.is_empty() { "no node was lost".to_owned() } else { self.losses() }
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_was_killed_a_refused_message_is_one_too_many() {
        let account = Account { sent: 3, handled: 2, refused: 1, ..Account::default() };
        let summary = Summary { account, lost: BTreeSet::new(), asks: Latency::default() };
        assert!(summary.check(false).is_ok());
        assert!(summary.check(true).is_err());
    }
}
