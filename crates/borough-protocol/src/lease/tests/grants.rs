//! The voter's side: whom it acks, and whom it calls quiet.

use super::*;

/// A log that says what the test wants.
struct Told {
    voters: Voters,
    tail: Vec<Change>,
    learners: BTreeSet<VoterId>,
}

impl Log<Change, Arc<Table>> for Told {
    type Message = ();

    fn handle(&mut self, _: Timestamp, _: VoterId, (): (), _: &mut Outbox<()>) -> Result<(), Malformed> {
        Ok(())
    }
    fn on_deadline(&mut self, _: Timestamp, _: &mut Outbox<()>) {}
    fn next_deadline(&self) -> Timestamp {
        Timestamp::NEVER
    }
    fn stand(&mut self, _: Timestamp, _: &mut Outbox<()>) {}
    fn propose(&mut self, _: Timestamp, _: Change, _: &mut Outbox<()>) -> Result<Version, NotTaken> {
        Err(NotTaken::NotInOffice)
    }
    fn change_voters(&mut self, _: Timestamp, _: VotersChange, _: &mut Outbox<()>) -> Result<(), NotTaken> {
        Err(NotTaken::NotInOffice)
    }
    fn hand_over(&mut self, _: Timestamp, _: VoterId, _: &mut Outbox<()>) -> bool {
        false
    }
    fn take_committed(&mut self) -> Vec<Committed<Change, Arc<Table>>> {
        vec![]
    }
    fn compact(&mut self, _: Version, _: Arc<Table>) {}
    fn kept(&self) -> usize {
        0
    }
    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a Change>
    where
        Change: 'a,
    {
        self.tail.iter()
    }
    fn voters(&self) -> &Voters {
        &self.voters
    }
    fn learners(&self) -> &BTreeSet<VoterId> {
        &self.learners
    }
    fn term(&self) -> Term {
        Term::new(1)
    }
    fn in_office(&self) -> bool {
        false
    }
    fn may_act(&self) -> bool {
        false
    }
    fn coordinator(&self) -> Option<(VoterId, Timestamp)> {
        Some((super::voter(2), at(0)))
    }
    fn matched(&self, _: VoterId) -> u64 {
        0
    }
    fn last_index(&self) -> u64 {
        0
    }
}

/// A voter, 1, with a table that lists 9, admitted at 2, and has removed 8.
struct Voter {
    grants: Grants,
    table: Table,
    log: Told,
}

fn entry(change: Change) -> Entry<Change> {
    Entry::Payload(change)
}

fn admit(number: u64, address: &str) -> Entry<Change> {
    let facts = Facts {
        id: NodeId::new(address),
        roles: [].into(),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let incarnation = Incarnation { address: Address::new(address), uid: uid(number) };
    entry(Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) })))
}

fn voter() -> Voter {
    voter_with(Flaws::default())
}

fn voter_with(flaws: Flaws) -> Voter {
    let mut table = Table::new(Cluster { name: 1, era: 1, founder: uid(1) });
    let removed = entry(Change::Remove(uid(8), Removal::Quiet));
    for (index, entry) in (1..).zip([admit(8, "h"), admit(ME, "i"), removed, admit(1, "a")]) {
        table.apply(version(index), &entry);
    }
    let log = Told { voters: voters(3, &[1, 2, 3], &[]), tail: vec![], learners: BTreeSet::new() };
    Voter { grants: Grants::new(flaws), table, log }
}

fn renew(seq: u64) -> Renew {
    Renew {
        admission: Some(version(2)),
        voters: version(3),
        seq,
        answered: seq - 1,
        version: version(4),
        feed: false,
    }
}

impl Voter {
    fn judge(&mut self, millis: u64, from: u64, renew: &Renew) -> Option<Verdict> {
        let me = super::voter(1);
        self.grants.renew(at(millis), (me, uid(from)), renew, &self.table, &self.log)
    }

    fn look(&mut self, millis: u64) -> Look {
        self.grants.look(at(millis), &timing(), uid(1), &self.table)
    }

    fn quiet(&mut self, millis: u64) -> Vec<u64> {
        self.look(millis).quiet.into_iter().map(Uid::get).collect()
    }
}

#[test]
fn a_member_is_acked() {
    assert_eq!(voter().judge(1000, ME, &renew(1)), Some(Verdict::Acked));
}

#[test]
fn a_removed_node_is_told_so_and_not_heard() {
    let mut voter = voter();
    assert_eq!(voter.judge(1000, 8, &renew(1)), Some(Verdict::NotAdmitted));
    assert_eq!(voter.grants.heard(uid(8)), None);
}

#[test]
fn a_guest_is_told_to_wait_and_is_heard() {
    let mut voter = voter();
    let guest = Renew { admission: None, ..renew(1) };
    assert_eq!(voter.judge(1000, 7, &guest), Some(Verdict::NotYet));
    assert_eq!(voter.grants.heard(uid(7)), Some(at(1000)));
}

/// Only members renew with every voter. A guest may never have sent a renewal to this voter.
#[test]
fn the_silence_of_a_member_begins_with_its_admission() {
    let mut voter = voter();
    let guest = Renew { admission: None, ..renew(1) };
    voter.judge(1000, ME, &guest);
    voter.grants.admit(at(5000), uid(ME));
    assert!(!voter.look(5749).quiet.contains(&uid(ME)));
    assert!(voter.look(5750).quiet.contains(&uid(ME)));
}

#[test]
fn an_admission_that_this_voter_has_not_come_to_is_no_reason_to_send_it_away() {
    let mut voter = voter();
    let ahead = Renew { admission: Some(version(5)), ..renew(1) };
    assert_eq!(voter.judge(1000, 7, &ahead), Some(Verdict::NotYet));
    let forgotten = Renew { admission: Some(version(4)), ..renew(1) };
    assert_eq!(voter.judge(1000, 7, &forgotten), Some(Verdict::NotAdmitted));
}

#[test]
fn another_admission_than_the_tables_is_none() {
    let other = Renew { admission: Some(version(1)), ..renew(1) };
    assert_eq!(voter().judge(1000, ME, &other), Some(Verdict::NotAdmitted));
}

#[test]
fn there_is_no_answer_as_soon_as_the_removal_is_appended_and_again_one_when_it_vanished() {
    let mut voter = voter();
    voter.log.tail.push(Change::Remove(uid(7), Removal::Quiet));
    assert_eq!(voter.judge(1000, ME, &renew(1)), Some(Verdict::Acked), "another's removal");
    voter.log.tail.push(Change::Remove(uid(ME), Removal::Quiet));
    assert_eq!(voter.judge(1250, ME, &renew(2)), None);
    assert_eq!(voter.grants.heard(uid(ME)), Some(at(1000)), "it does not count as heard either");
    voter.log.tail.clear();
    assert_eq!(voter.judge(1500, ME, &renew(3)), Some(Verdict::Acked));
}

/// Attack 11: a renewal under an old list of voters.
#[test]
fn a_renewal_under_another_list_is_answered_with_the_list() {
    let mut voter = voter();
    voter.log.voters = voters(6, &[1, 2, 3], &[1, 4, 5]);
    let expected = Verdict::NewVoters(Arc::new(voter.log.voters.clone()));
    assert_eq!(voter.judge(1000, ME, &renew(1)), Some(expected), "appended is enough");
    assert_eq!(voter.grants.heard(uid(ME)), Some(at(1000)), "it is heard all the same");
    let newer = Renew { voters: version(7), ..renew(2) };
    assert!(matches!(voter.judge(1000, ME, &newer), Some(Verdict::NewVoters(_))));
}

/// Seed 300417 of the simulator: the list had only been appended, and most of its voters were gone. Guests that went by the list before it waited for an answer of
/// a quorum that they took themselves to have.
#[test]
fn a_guest_that_asks_by_another_list_is_told_the_list() {
    let mut voter = voter();
    voter.log.voters = voters(6, &[1], &[1, 4, 5]);
    let guest = |seq, list| Renew { admission: None, voters: version(list), ..renew(seq) };
    let expected = Verdict::NewVoters(Arc::new(voter.log.voters.clone()));
    assert_eq!(voter.judge(1000, 7, &guest(1, 3)), Some(expected));
    assert_eq!(voter.grants.heard(uid(7)), Some(at(1000)), "it is heard all the same");
    assert_eq!(voter.judge(1010, 7, &guest(2, 6)), Some(Verdict::NotYet));
}

#[test]
fn one_who_does_not_vote_acks_nobody() {
    let mut voter = voter();
    voter.log.voters = voters(3, &[2, 3, 4], &[]);
    assert!(matches!(voter.judge(1000, ME, &renew(1)), Some(Verdict::NewVoters(_))));
}

#[test]
fn silence_counts_from_the_last_renewal() {
    let mut voter = voter();
    voter.judge(1000, ME, &renew(1));
    assert_eq!(voter.look(1000), Look { quiet: vec![], silent: vec![], next: at(1375) });
    assert_eq!(voter.quiet(1749), []);
    assert_eq!(voter.quiet(1750), [ME]);
    assert!(!voter.grants.is_fresh(at(1750), &timing(), uid(ME)));
    voter.judge(1760, ME, &renew(2));
    assert_eq!(voter.quiet(1760), []);
}

#[test]
fn who_is_silent_for_half_the_time_is_to_be_told_once_who_votes() {
    let mut voter = voter();
    voter.judge(1000, ME, &renew(1));
    assert_eq!(voter.look(1374).silent, []);
    assert_eq!(voter.look(1375), Look { quiet: vec![], silent: vec![uid(ME)], next: at(1750) });
    assert_eq!(voter.look(1500).silent, [], "it was told");
    voter.judge(1510, ME, &renew(2));
    assert_eq!(voter.look(1900).silent, [uid(ME)], "a later silence is another matter");
    let news = voter.grants.news(&voter.log.voters, Some(uid(2)));
    assert_eq!(news.verdict, Verdict::NewVoters(Arc::new(voter.log.voters.clone())));
    assert_eq!((news.seq, news.coordinator), (0, Some(uid(2))));
}

#[test]
fn from_a_member_never_heard_silence_counts_from_the_first_look() {
    let mut voter = voter();
    assert_eq!(voter.quiet(5000), []);
    assert_eq!(voter.quiet(5749), []);
    assert_eq!(voter.quiet(5750), [ME]);
}

#[test]
fn nobody_is_quiet_to_itself_or_when_it_is_no_member() {
    let mut voter = voter();
    voter.judge(1000, 7, &Renew { admission: None, ..renew(1) });
    voter.quiet(1000);
    assert_eq!(voter.quiet(9000), [ME], "neither 1, which looks, nor 7, a guest, nor 8, removed");
}

fn deaf(flaws: Flaws) -> Voter {
    let mut voter = voter_with(flaws);
    voter.judge(1000, ME, &renew(1));
    for seq in 2..10 {
        let renew = Renew { answered: 1, ..renew(seq) };
        assert_eq!(voter.judge(750 + 250 * seq, ME, &renew), Some(Verdict::Acked));
    }
    voter
}

/// Attack 14.
#[test]
fn one_who_hears_no_answers_is_as_good_as_silent() {
    let mut voter = deaf(Flaws::default());
    assert_eq!(voter.grants.heard(uid(ME)), Some(at(1750)), "three may be under way");
    assert_eq!(voter.quiet(3000), [ME]);
    voter.judge(3000, ME, &renew(10));
    assert_eq!(voter.quiet(3000), [], "it hears again");
}

#[cfg(feature = "flaws")]
mod broken {
    use super::*;
    use crate::flaws::Flaw;

    #[test]
    fn a_deaf_node_that_counts_as_heard_is_noticed() {
        let mut voter = deaf(Flaws::only(Flaw::DeafNodeCountsAsHeard));
        assert_eq!(voter.quiet(3000), []);
    }

    #[test]
    fn an_ack_of_one_whose_removal_is_appended_is_noticed() {
        let mut voter = voter_with(Flaws::only(Flaw::RefusesOnlyAfterCommit));
        voter.log.tail.push(Change::Remove(uid(ME), Removal::Quiet));
        assert_eq!(voter.judge(1000, ME, &renew(1)), Some(Verdict::Acked));
    }

    #[test]
    fn an_ack_under_another_list_is_noticed() {
        let mut voter = voter_with(Flaws::only(Flaw::RenewalNotBoundToVoters));
        voter.log.voters = voters(6, &[1, 2, 3], &[1, 4, 5]);
        assert_eq!(voter.judge(1000, ME, &renew(1)), Some(Verdict::Acked));
    }
}

#[test]
fn a_refused_connection_starts_the_suspicion_and_the_next_renewal_ends_it() {
    let mut voter = voter();
    voter.judge(1000, ME, &renew(1));
    voter.grants.suspect(at(1000), &timing(), uid(ME));
    assert_eq!(voter.quiet(1000), [], "it proves nothing");
    assert_eq!(voter.quiet(1299), [], "the next renewal, and half of one more, may still come");
    assert_eq!(voter.quiet(1300), [ME]);
    voter.judge(1380, ME, &renew(2));
    assert_eq!(voter.quiet(1380), []);
    voter.grants.suspect(at(2120), &timing(), uid(ME));
    assert_eq!(voter.quiet(2130), [ME], "an older silence is not made younger");
}

#[test]
fn nobody_is_to_blame_for_what_a_voter_could_not_hear_while_it_was_away() {
    let mut voter = voter();
    voter.judge(1000, ME, &renew(1));
    voter.grants.forgive(Duration::from_millis(500));
    assert_eq!(voter.quiet(2249), []);
    assert_eq!(voter.quiet(2250), [ME]);
    voter.grants.forgive_all(at(3000));
    assert_eq!(voter.quiet(3749), []);
    assert_eq!(voter.quiet(3750), [ME]);
}

#[test]
fn those_that_want_the_table_are_known_with_what_they_have() {
    let mut voter = voter();
    voter.judge(1000, ME, &Renew { feed: true, ..renew(1) });
    voter.judge(1000, 7, &Renew { admission: None, ..renew(1) });
    assert_eq!(voter.grants.fed().collect::<Vec<_>>(), [(uid(ME), version(4))]);
    voter.grants.sent(uid(ME), version(6));
    voter.grants.sent(uid(ME), version(5));
    assert_eq!(voter.grants.fed().collect::<Vec<_>>(), [(uid(ME), version(6))]);
    assert_eq!(voter.grants.confirmed(uid(ME)), Some(version(4)), "what was sent may be lost");
}

#[test]
fn strangers_not_heard_for_long_are_forgotten() {
    let mut voter = voter();
    voter.judge(1000, ME, &renew(1));
    voter.judge(1000, 7, &Renew { admission: None, ..renew(1) });
    voter.grants.prune(at(10_999), &timing(), &voter.table);
    assert!(voter.grants.heard(uid(7)).is_some());
    voter.grants.prune(at(11_000), &timing(), &voter.table);
    assert_eq!((voter.grants.heard(uid(7)), voter.grants.heard(uid(ME))), (None, Some(at(1000))));
}

#[test]
fn guests_that_are_not_heard_are_told_who_votes_once_in_a_while() {
    let mut voter = voter();
    let mut told = |millis| voter.grants.silent_guests(at(millis), &timing(), [uid(7), uid(8)].into_iter());
    assert_eq!(told(1000), [uid(7), uid(8)], "never heard");
    assert_eq!(told(1749), []);
    assert_eq!(told(1750), [uid(7), uid(8)]);
    voter.judge(2300, 7, &Renew { admission: None, ..renew(1) });
    let mut told = |millis| voter.grants.silent_guests(at(millis), &timing(), [uid(7), uid(8)].into_iter());
    assert_eq!(told(2500), [uid(8)]);
    assert_eq!(voter.grants.silent_guests(at(2600), &timing(), [].into_iter()), []);
    assert_eq!(
        voter.grants.silent_guests(at(2700), &timing(), [uid(8)].into_iter()),
        [uid(8)],
        "it came back"
    );
}
