//! Inputs for decoders: seeds, and what becomes of them by chance.

/// A source of inputs; the same number makes the same ones.
pub(crate) struct Mutation(u64);

impl Mutation {
    pub(crate) fn new(number: u64) -> Self {
        Self(number)
    }

    /// The next input: pure noise now and then, else a seed changed in one to four places, or not at all.
    pub(crate) fn of(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if self.below(20) == 0 {
            return (0..self.below(64)).map(|_| self.byte()).collect();
        }
        let mut input = self.pick(seeds).clone();
        for _ in 0..self.below(5) {
            self.change(&mut input, seeds);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        match self.below(8) {
            // A bit, a byte.
            0 | 1 if at < input.len() => input[at] ^= 1 << self.below(8),
            2 if at < input.len() => input[at] = self.byte(),
            // Less, or more.
            3 => input.truncate(at),
            4 => input.insert(at, self.byte()),
            // The end of another seed, or the whole of it.
            5 => {
                let other = self.pick(seeds);
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 => input.extend_from_slice(&self.pick(seeds).clone()),
            // A number that lengths do not like.
            _ => {
                let number = [0, 1, 0x7f, 0x80, 0xff, 0x0fff, 0xffff, 0x7fff_ffff, u64::MAX][self.below(9)];
                let width = [1, 2, 4, 8][self.below(4)];
                for (place, byte) in input.iter_mut().skip(at).zip(&number.to_le_bytes()[..width]) {
                    *place = *byte;
                }
            }
        }
    }

    fn pick<'a>(&mut self, seeds: &'a [Vec<u8>]) -> &'a Vec<u8> {
        &seeds[self.below(seeds.len())]
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
