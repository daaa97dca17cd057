//! Traces: which ids get messages, in which order.

use borough_protocol::random::Random;

/// Ids by how often they are wanted: the n-th about 1/n of the first.
struct Zipf {
    /// For each id, the sum of the weights up to it.
    sums: Vec<u64>,
}

impl Zipf {
    fn new(ids: u32) -> Self {
        let weights = (1..=u64::from(ids)).scan(0, |sum, n| {
            *sum += (1 << 32) / n;
            Some(*sum)
        });
        Self { sums: weights.collect() }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let point = random.below(self.sums[self.sums.len() - 1]);
        u32::try_from(self.sums.partition_point(|&sum| sum <= point)).expect("few ids")
    }
}

const LENGTH: u32 = 300_000;
const IDS: u32 = 10_000;

/// The same few are always wanted most.
pub(crate) fn zipf() -> Vec<u32> {
    let (zipf, mut random) = (Zipf::new(IDS), Random::seeded(1));
    (0..LENGTH).map(|_| zipf.draw(&mut random)).collect()
}

/// The same, and in between somebody goes through thousands of ids, once each.
pub(crate) fn scan() -> Vec<u32> {
    let (zipf, mut random) = (Zipf::new(IDS), Random::seeded(2));
    let mut once = IDS..;
    (0..LENGTH)
        .map(|n| if n % 5_000 < 2_000 { once.next().expect("endless") } else { zipf.draw(&mut random) })
        .collect()
}

/// A few more ids than there is room for, round and round.
pub(crate) fn round() -> Vec<u32> {
    (0..LENGTH).map(|n| n % 650).collect()
}

/// A few are wanted most, now and then others.
pub(crate) fn shift() -> Vec<u32> {
    let (zipf, mut random) = (Zipf::new(IDS), Random::seeded(3));
    (0..LENGTH).map(|n| (zipf.draw(&mut random) + n / 30_000 * 1_000) % IDS).collect()
}

/// An id gets some messages within a short time, mixed with those of others, and hardly any later.
pub(crate) fn bursts() -> Vec<u32> {
    let mut random = Random::seeded(4);
    (0..LENGTH).map(|n| n / 8 + u32::try_from(random.below(150)).expect("small")).collect()
}
