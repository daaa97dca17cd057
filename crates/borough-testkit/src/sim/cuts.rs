//! Who cannot be heard by whom. Cuts are directed, and several may lie over each other.

/// A slot: an address at which one life after another may run.
pub type SlotIndex = usize;

/// The cuts in force between slots.
#[derive(Clone, Debug)]
pub(crate) struct Cuts {
    slots: usize,
    /// How many cuts lie on each way, by sender and then by receiver.
    ways: Vec<u16>,
    /// How many cuts there are: while there are none, and that is most of the time, nobody looks at the ways.
    total: usize,
}

impl Cuts {
    /// No cuts among so many slots.
    pub(crate) fn none(slots: usize) -> Self {
        Self { slots, ways: vec![0; slots * slots], total: 0 }
    }

    /// Nothing gets from `from` to `to` any more.
    pub(crate) fn cut(&mut self, from: SlotIndex, to: SlotIndex) {
        self.ways[from * self.slots + to] += 1;
        self.total += 1;
    }

    /// Takes one cut back; others on the same way stay.
    pub(crate) fn lift(&mut self, from: SlotIndex, to: SlotIndex) {
        let way = &mut self.ways[from * self.slots + to];
        // Healing may have lifted it before.
        if *way > 0 {
            *way -= 1;
            self.total -= 1;
        }
    }

    /// Takes all cuts back.
    pub(crate) fn lift_all(&mut self) {
        self.ways.fill(0);
        self.total = 0;
    }

    /// Whether nothing gets from `from` to `to`.
    pub(crate) fn is_cut(&self, from: SlotIndex, to: SlotIndex) -> bool {
        self.total > 0 && self.ways[from * self.slots + to] > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_a_direction() {
        let mut cuts = Cuts::none(3);
        cuts.cut(0, 2);
        assert!(cuts.is_cut(0, 2));
        assert!(!cuts.is_cut(2, 0));
    }

    #[test]
    fn lifting_one_cut_leaves_the_other_on_the_same_way() {
        let mut cuts = Cuts::none(2);
        cuts.cut(0, 1);
        cuts.cut(0, 1);
        cuts.lift(0, 1);
        assert!(cuts.is_cut(0, 1));
        cuts.lift(0, 1);
        assert!(!cuts.is_cut(0, 1));
    }

    #[test]
    fn lifting_after_everything_was_lifted_does_no_harm() {
        let mut cuts = Cuts::none(2);
        cuts.cut(0, 1);
        cuts.lift_all();
        cuts.lift(0, 1);
        assert!(!cuts.is_cut(0, 1));
    }
}
