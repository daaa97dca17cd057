//! What an invariant is shown.

/// What was sent to one entity in one run.
#[derive(Debug)]
pub struct History<M> {
    pub(super) id: String,
    pub(super) sent: Vec<Sent<M>>,
}

/// One message that was sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sent<M> {
    /// What was sent.
    pub message: M,
    /// Who sent it: one life of one node. The messages of one sender are handled in order; of two senders there is no order.
    pub sender: u32,
    /// What may have become of it.
    pub fate: Fate,
}

/// What may have become of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It was accepted, and nothing has happened since by which it, or the state that it led to, could be lost: it counts exactly once.
    Sure,
    /// It was accepted, and a node crashed or was cut off afterwards: it, or the state it led to, may be lost. It counts once, or not at all.
    InDoubt,
    /// It was given back: it does not count.
    Refused,
}

impl<M> History<M> {
    /// The entity.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// All that was sent, in the order in which it was.
    pub fn sent(&self) -> &[Sent<M>] {
        &self.sent
    }

    /// What must have been handled, once.
    pub fn sure(&self) -> impl Iterator<Item = &M> {
        self.sent.iter().filter(|sent| sent.fate == Fate::Sure).map(|sent| &sent.message)
    }

    /// What may have been handled: what is sure, and what is in doubt.
    pub fn accepted(&self) -> impl Iterator<Item = &M> {
        self.sent.iter().filter(|sent| sent.fate != Fate::Refused).map(|sent| &sent.message)
    }

    /// Whether nothing is in doubt: then what was accepted is what was handled.
    pub fn is_sure(&self) -> bool {
        self.sent.iter().all(|sent| sent.fate != Fate::InDoubt)
    }
}
