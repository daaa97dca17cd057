//! The policies as one would write them without a thought for speed: vectors, searched from end to end.

use borough_protocol::sharding::passivation::Policy;

/// What a policy does, for the comparison.
pub(crate) struct Model {
    rule: Rule,
    limit: usize,
    last_touched: Option<u32>,
}

enum Rule {
    /// The least recent first; whether the most recent goes.
    Recency(Vec<u32>, bool),
    /// Levels from the lowest up, the least recent of each first; their shares in hundredths.
    Segmented(Vec<Vec<u32>>, Vec<usize>),
    Frequency {
        /// Slot, messages, rank; the least recent first.
        entries: Vec<(u32, u64, u64)>,
        age: u64,
        aging: bool,
    },
}

impl Model {
    /// `shares` are those of the levels, if the policy has any.
    pub(crate) fn new(policy: Policy, shares: &[u8], limit: u32) -> Self {
        let rule = match policy {
            Policy::LeastRecentlyUsed => Rule::Recency(Vec::new(), false),
            Policy::MostRecentlyUsed => Rule::Recency(Vec::new(), true),
            Policy::SegmentedLeastRecentlyUsed(_) => Rule::Segmented(
                vec![Vec::new(); shares.len()],
                shares.iter().map(|&share| share.into()).collect(),
            ),
            Policy::LeastFrequentlyUsed { dynamic_aging } => {
                Rule::Frequency { entries: Vec::new(), age: 0, aging: dynamic_aging }
            }
            Policy::WindowTinyLfu { .. } => panic!("its model is beside its sketch"),
        };
        Self { rule, limit: limit as usize, last_touched: None }
    }

    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit.max(1) as usize;
    }

    /// Those that are ranked, in no order.
    pub(crate) fn slots(&self) -> Vec<u32> {
        match &self.rule {
            Rule::Recency(slots, _) => slots.clone(),
            Rule::Segmented(levels, _) => levels.concat(),
            Rule::Frequency { entries, .. } => entries.iter().map(|entry| entry.0).collect(),
        }
    }

    pub(crate) fn insert(&mut self, slot: u32) {
        self.remove(slot);
        self.last_touched = Some(slot);
        match &mut self.rule {
            Rule::Recency(slots, _) => slots.push(slot),
            Rule::Segmented(levels, _) => levels[0].push(slot),
            Rule::Frequency { entries, age, .. } => entries.push((slot, 1, *age + 1)),
        }
    }

    pub(crate) fn access(&mut self, slot: u32) {
        if !self.slots().contains(&slot) {
            return;
        }
        self.last_touched = Some(slot);
        match &mut self.rule {
            Rule::Recency(slots, _) => {
                slots.retain(|&other| other != slot);
                slots.push(slot);
            }
            Rule::Segmented(levels, shares) => {
                let level = levels.iter().position(|level| level.contains(&slot)).expect("present");
                levels[level].retain(|&other| other != slot);
                let level = (level + 1).min(levels.len() - 1);
                levels[level].push(slot);
                for level in (1..=level).rev() {
                    for _ in 0..2 {
                        if levels[level].len() > self.limit * shares[level] / 100 {
                            let sinks = levels[level].remove(0);
                            levels[level - 1].push(sinks);
                        }
                    }
                }
            }
            Rule::Frequency { entries, age, .. } => {
                let place = entries.iter().position(|entry| entry.0 == slot).expect("present");
                let count = (entries.remove(place).1 + 1).min(1023);
                entries.push((slot, count, *age + count));
            }
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        match &mut self.rule {
            Rule::Recency(slots, _) => slots.retain(|&other| other != slot),
            Rule::Segmented(levels, _) => {
                for level in levels {
                    level.retain(|&other| other != slot);
                }
            }
            Rule::Frequency { entries, .. } => entries.retain(|entry| entry.0 != slot),
        }
    }

    pub(crate) fn victim(&mut self) -> Option<u32> {
        let slots = self.slots();
        if slots.len() <= self.limit {
            return None;
        }
        // More than the limit, which is 1 at least, so there is always another than the last touched one.
        let spared = self.last_touched;
        let victim = match &mut self.rule {
            Rule::Recency(slots, false) => slots[0],
            Rule::Recency(slots, true) => slots[slots.len() - 2],
            Rule::Segmented(levels, _) => {
                levels.concat().into_iter().find(|&slot| Some(slot) != spared).expect("another")
            }
            Rule::Frequency { entries, age, aging } => {
                let others = entries.iter().filter(|entry| Some(entry.0) != spared);
                let victim = others.min_by_key(|entry| entry.2).expect("another").0;
                if *aging {
                    *age = entries.iter().map(|entry| entry.2).min().expect("some");
                }
                victim
            }
        };
        self.remove(victim);
        Some(victim)
    }
}
