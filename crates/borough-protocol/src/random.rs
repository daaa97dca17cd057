//! Chance that can be repeated: the only source of it in the core.

/// A small generator (xoshiro256**), the same on every platform for the same seed.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator of that seed.
    pub fn seeded(seed: u64) -> Self {
        let mut mixer = seed;
        Self { state: core::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// Another generator, whose numbers tell nothing about this one's.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::seeded(self.next_u64())
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of a plain product is below 2^-32 for the bounds used here.
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// A number from `low` up to and including `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// True that many times in a thousand.
    pub fn per_mille(&mut self, chance: u64) -> bool {
        self.below(1000) < chance
    }

    /// One of the items; none if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(usize::try_from(self.below(items.len() as u64)).ok()?)
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// A change here would make every recorded seed mean another run.
    #[test]
    fn the_numbers_of_a_seed_are_frozen() {
        let mut random = Random::seeded(1);
        let numbers: [u64; 3] = core::array::from_fn(|_| random.next_u64());
        assert_eq!(
            numbers,
            [12_966_619_160_104_079_557, 9_600_361_134_598_540_522, 10_590_380_919_521_690_900]
        );
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::seeded(7);
        let mut seen = [0_u32; 4];
        for _ in 0..1000 {
            seen[usize::try_from(random.below(4)).expect("small")] += 1;
        }
        assert!(seen.iter().all(|&count| count > 150), "{seen:?}");
        assert_eq!(random.below(0), 0);
        assert!((0..100).map(|_| random.between(5, 6)).all(|n| n == 5 || n == 6));
    }
}
