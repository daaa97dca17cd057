//! How busy other processes kept the machine during a run, from `/proc`: a figure measured beside a compiler is not one.

use std::fs::read_to_string;

/// A reading of the machine's clocks, in ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clocks {
    /// Of all cores, idle or not.
    total: f64,
    busy: f64,
    /// Used by this process and by the children it has waited for.
    ours: f64,
}

impl Clocks {
    /// `None` where `/proc` does not tell.
    pub(crate) fn read() -> Option<Self> {
        Self::parse(&read_to_string("/proc/stat").ok()?, &read_to_string("/proc/self/stat").ok()?)
    }

    fn parse(machine: &str, process: &str) -> Option<Self> {
        // user nice system idle iowait irq softirq steal; what follows is counted in user and nice already.
        let fields: Vec<f64> = numbers(machine.lines().next()?.strip_prefix("cpu")?);
        let total: f64 = fields.iter().take(8).sum();
        let busy = total - fields.get(3)? - fields.get(4)?;
        // The name, in brackets, may hold spaces; user, system and their sums over dead children are 12th to 15th after it.
        let (_, after_name) = process.rsplit_once(") ")?;
        let ours = after_name
            .split_whitespace()
            .skip(11)
            .take(4)
            .filter_map(|field| field.parse::<f64>().ok())
            .sum();
        Some(Self { total, busy, ours })
    }

    /// The share of all cores that others used since `earlier`, from 0 to 1.
    pub(crate) fn others_since(self, earlier: Self) -> Option<f64> {
        let total = self.total - earlier.total;
        let others = (self.busy - earlier.busy) - (self.ours - earlier.ours);
        (total > 0.0).then(|| (others / total).clamp(0.0, 1.0))
    }
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().filter_map(|field| field.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_what_is_busy_and_not_ours() {
        let process =
            |user, children| format!("7 (a (b) c) S 1 7 7 0 -1 0 0 0 0 0 {user} 0 {children} 0 20 0");
        let earlier = Clocks::parse("cpu  100 0 0 900 0 0 0 0 5 0\ncpu0 1", &process(1, 10)).unwrap();
        let later = Clocks::parse("cpu  150 0 10 1030 10 0 0 0 9 0\ncpu0 1", &process(1, 40)).unwrap();
        // 200 ticks went by, 60 of them busy, 30 of those ours.
        assert_eq!(later.others_since(earlier), Some(0.15));
        assert_eq!(earlier.others_since(earlier), None);
    }
}
