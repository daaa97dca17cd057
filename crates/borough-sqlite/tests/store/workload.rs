//! A scripted workload, and what a directory must hold after each of its batches.

use borough_sqlite::{Loaded, Operation, Payload, Record, RecordState, VoterState};

use crate::sample::{append, record, snapshot, term};

/// What is kept, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) record: Option<Record>,
    pub(crate) voter: Option<VoterState>,
    pub(crate) pledges: Option<Payload>,
}

impl Model {
    pub(crate) fn of(loaded: Loaded) -> Self {
        Self { record: loaded.record, voter: loaded.voter, pledges: loaded.pledges }
    }

    fn apply(&mut self, operation: &Operation) {
        let voter = &mut self.voter;
        match operation {
            Operation::SetTermAndVote { term, vote } => {
                let none = VoterState { term: 0, vote: None, snapshot: None, entries: Vec::new() };
                let voter = voter.get_or_insert(none);
                (voter.term, voter.vote) = (*term, *vote);
            }
            Operation::CutAbove(index) => {
                voter.as_mut().unwrap().entries.retain(|entry| entry.position.index <= *index);
            }
            Operation::Append(entry) => voter.as_mut().unwrap().entries.push(entry.clone()),
            Operation::SetSnapshot(snapshot) => {
                let voter = voter.as_mut().unwrap();
                voter.entries.retain(|entry| entry.position.index > snapshot.position.index);
                voter.snapshot = Some(snapshot.clone());
            }
            Operation::ReplaceLog(snapshot) => {
                let voter = voter.as_mut().unwrap();
                voter.entries.clear();
                voter.snapshot = Some(snapshot.clone());
            }
            Operation::ForgetVoter => *voter = None,
            Operation::SetRecord(record) => self.record = Some(record.clone()),
            Operation::SetPledges(pledges) => self.pledges = Some(pledges.clone()),
            Operation::ForgetPledges => self.pledges = None,
            Operation::RenewStamp | Operation::BecomeNode(_) => {}
        }
    }
}

/// The states before the first batch, after it, and so on.
pub(crate) fn states(batches: &[Vec<Operation>]) -> Vec<Model> {
    let mut states = vec![Model::default()];
    for batch in batches {
        let mut next = states[states.len() - 1].clone();
        for operation in batch {
            next.apply(operation);
        }
        states.push(next);
    }
    states
}

/// A voter's life: it joins, votes, follows, has a tail replaced, compacts, leaves, and is a new voter afterwards.
pub(crate) fn batches() -> Vec<Vec<Operation>> {
    let set = |state, era| Operation::SetRecord(record(state, era));
    let pledges = |text: &str| Operation::SetPledges(Payload { codec: 1, bytes: text.into() });
    vec![
        vec![pledges("first")],
        vec![pledges("second")],
        vec![set(RecordState::Member, 1), Operation::ForgetPledges],
        vec![term(1, Some(7))],
        vec![append(1, 1), append(2, 1), append(3, 1)],
        vec![Operation::RenewStamp],
        vec![append(4, 1), append(5, 1)],
        vec![term(2, Some(8)), Operation::CutAbove(3), append(4, 2)],
        vec![append(5, 2), append(6, 2), Operation::RenewStamp],
        vec![Operation::SetSnapshot(snapshot(4, 2))],
        vec![term(3, None), append(7, 3)],
        vec![Operation::SetSnapshot(snapshot(20, 3)), append(21, 3)],
        vec![term(4, None), append(22, 4), append(23, 4)],
        vec![Operation::ReplaceLog(snapshot(25, 3))],
        vec![set(RecordState::Left, 1)],
        vec![Operation::ForgetVoter, Operation::BecomeNode(77), set(RecordState::Member, 2)],
        vec![term(1, None), append(1, 1)],
        vec![append(2, 1), set(RecordState::Ended, 2)],
    ]
}
