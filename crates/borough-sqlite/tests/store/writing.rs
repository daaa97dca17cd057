//! Writing: what is written is read back, what does not fit is refused and changes nothing.

use borough_sqlite::{
    DataDirectory, Entry, Loaded, Operation, Payload, RecordState, Refusal, VoterState, WriteError,
};

use crate::sample::{append, entry, open, record, reopened, snapshot, term};

fn refusal(directory: &mut DataDirectory, batch: &[Operation]) -> Refusal {
    match directory.write(batch).unwrap_err() {
        WriteError::Refused { refusal, .. } => refusal,
        other => panic!("{other}"),
    }
}

/// A log of four entries behind a snapshot at 3.
fn prepared(folder: &tempfile::TempDir) -> DataDirectory {
    let (mut directory, _) = open(folder.path());
    directory.write(&[term(1, Some(9)), append(1, 1), append(2, 1), append(3, 1), append(4, 1)]).unwrap();
    directory.write(&[term(2, None), append(5, 2), append(6, 2), append(7, 2)]).unwrap();
    directory.write(&[Operation::SetSnapshot(snapshot(3, 1))]).unwrap();
    directory
}

fn voter(folder: &tempfile::TempDir) -> VoterState {
    reopened(folder.path()).voter.unwrap()
}

#[test]
fn everything_that_was_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let directory = prepared(&folder);
    drop(directory);
    let entries = vec![entry(4, 1), entry(5, 2), entry(6, 2), entry(7, 2)];
    let expected = VoterState { term: 2, vote: None, snapshot: Some(snapshot(3, 1)), entries };
    assert_eq!(voter(&folder), expected);
}

#[test]
fn numbers_and_payloads_of_any_size_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    let large = Entry { payload: Payload { codec: u16::MAX, bytes: vec![0xAB; 3 << 20] }, ..entry(1, 5) };
    let empty = Entry { payload: Payload { codec: 0, bytes: Vec::new() }, ..entry(2, 5) };
    let operations = [Operation::Append(large.clone()), Operation::Append(empty.clone())];
    directory.write(&[term(5, Some(u64::MAX))]).unwrap();
    directory.write(&operations).unwrap();
    drop(directory);
    let found = voter(&folder);
    assert_eq!((found.vote, found.entries), (Some(u64::MAX), vec![large, empty]));
}

#[test]
fn a_record_is_kept_beside_the_voter() {
    let folder = tempfile::tempdir().unwrap();
    for state in [RecordState::Member, RecordState::Left, RecordState::Ended] {
        let (mut directory, _) = open(folder.path());
        directory.write(&[Operation::SetRecord(record(state, 4))]).unwrap();
        drop(directory);
        let Loaded { record: found, voter, .. } = reopened(folder.path());
        assert_eq!((found, voter), (Some(record(state, 4)), None));
    }
}

#[test]
fn a_tail_is_cut_and_written_again_in_one_batch() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    directory.write(&[term(3, None), Operation::CutAbove(5), append(6, 3)]).unwrap();
    drop(directory);
    assert_eq!(voter(&folder).entries, [entry(4, 1), entry(5, 2), entry(6, 3)]);
}

#[test]
fn the_whole_log_behind_a_snapshot_can_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    directory.write(&[Operation::CutAbove(3), append(4, 2)]).unwrap();
    directory.write(&[Operation::CutAbove(90)]).unwrap();
    drop(directory);
    assert_eq!(voter(&folder).entries, [entry(4, 2)]);
}

#[test]
fn a_snapshot_beyond_the_log_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    directory.write(&[Operation::SetSnapshot(snapshot(20, 2)), append(21, 2)]).unwrap();
    drop(directory);
    let found = voter(&folder);
    assert_eq!((found.snapshot, found.entries), (Some(snapshot(20, 2)), vec![entry(21, 2)]));
}

#[test]
fn a_forgotten_voter_begins_with_an_empty_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    directory.write(&[Operation::ForgetVoter]).unwrap();
    directory.write(&[term(1, None), append(1, 1)]).unwrap();
    drop(directory);
    assert_eq!(voter(&folder).entries, [entry(1, 1)]);
}

#[test]
fn a_log_is_replaced_by_a_state_of_another_history() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    // Its last entries are of a later term than the state, and go all the same.
    directory.write(&[Operation::ReplaceLog(snapshot(9, 1)), append(10, 2)]).unwrap();
    drop(directory);
    let found = voter(&folder);
    assert_eq!(found.entries, [entry(10, 2)]);
    assert_eq!(found.snapshot.map(|snapshot| snapshot.position.index), Some(9));
}

#[test]
fn a_node_gets_another_number_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    directory.write(&[Operation::ForgetVoter, Operation::BecomeNode(u64::MAX)]).unwrap();
    drop(directory);
    let found = reopened(folder.path());
    assert_eq!((found.identity.node, found.voter), (u64::MAX, None));
}

#[test]
fn what_does_not_fit_is_refused() {
    let cases: Vec<(Operation, Refusal)> = vec![
        (append(9, 2), Refusal::NotNext { index: 9, expected: 8 }),
        (append(7, 2), Refusal::NotNext { index: 7, expected: 8 }),
        (append(8, 1), Refusal::TermFalls { term: 1, last: 2 }),
        (append(8, 3), Refusal::TermNotWritten { term: 3, written: Some(2) }),
        (term(1, None), Refusal::TermGoesBack { term: 1, written: 2 }),
        (term(u64::MAX, None), Refusal::OutOfRange { number: u64::MAX }),
        (Operation::CutAbove(2), Refusal::CutsSnapshot { above: 2, snapshot: 3 }),
        (Operation::SetSnapshot(snapshot(2, 1)), Refusal::SnapshotGoesBack { index: 2, written: 3 }),
        (Operation::SetSnapshot(snapshot(5, 1)), Refusal::SnapshotDisagrees { index: 5, term: 1, in_log: 2 }),
        (Operation::SetSnapshot(snapshot(3, 2)), Refusal::SnapshotDisagrees { index: 3, term: 2, in_log: 1 }),
        (Operation::SetSnapshot(snapshot(9, 1)), Refusal::TermFalls { term: 1, last: 2 }),
        (Operation::SetSnapshot(snapshot(9, 3)), Refusal::TermNotWritten { term: 3, written: Some(2) }),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    for (operation, expected) in cases {
        assert_eq!(refusal(&mut directory, std::slice::from_ref(&operation)), expected, "{operation:?}");
    }
    directory.write(&[append(8, 2)]).unwrap();
}

#[test]
fn entries_need_a_term() {
    let folder = tempfile::tempdir().unwrap();
    let (mut directory, _) = open(folder.path());
    assert_eq!(refusal(&mut directory, &[append(1, 1)]), Refusal::TermNotWritten { term: 1, written: None });
    assert_eq!(
        refusal(&mut directory, &[term(1, None), append(2, 1)]),
        Refusal::NotNext { index: 2, expected: 1 }
    );
    drop(directory);
    assert_eq!(reopened(folder.path()).voter, None);
}

#[test]
fn a_refused_batch_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = prepared(&folder);
    let batch = [term(5, Some(1)), Operation::CutAbove(4), append(5, 5), append(9, 5)];
    assert_eq!(refusal(&mut directory, &batch), Refusal::NotNext { index: 9, expected: 6 });
    directory.write(&[append(8, 2)]).unwrap();
    drop(directory);
    let found = voter(&folder);
    assert_eq!((found.term, found.vote, found.entries.len()), (2, None, 5));
}
