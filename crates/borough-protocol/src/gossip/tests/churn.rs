//! A document does not grow with what has happened, only with what is.

use core::time::Duration;

use super::{document, facts, incarnation, uid, version};
use crate::flaws::Flaws;
use crate::gossip::{Document, Gone};
use crate::time::Timestamp;

#[test]
fn size_is_bounded_by_members_and_living_tombstones_under_endless_churn() {
    const LIVING: u64 = 20;
    let life = Duration::from_secs(60);
    let mut now = Timestamp::ZERO;
    let mut documents = [1_u64, 2].map(|me| {
        let mut document = Document::new(life, Flaws::default());
        document.add_joining(uid(me), incarnation(uid(me)), facts(uid(me)));
        document
    });
    let mut index = 0;
    for newest in 10..4000_u64 {
        now = now + Duration::from_secs(1);
        let joiner = uid(newest);
        documents[0].add_joining(uid(1), incarnation(joiner), facts(joiner));
        // It writes once itself, so that it is an author too.
        documents[0].set_unreachable(joiner, uid(2), true);
        index += 1;
        documents[0].admit(index, incarnation(joiner), facts(joiner), version(index));
        if let Some(oldest) = newest.checked_sub(LIVING).filter(|oldest| *oldest >= 10) {
            index += 1;
            documents[0].bury_by_table(index, uid(oldest), Gone::Left, now);
        }
        let [a, b] = &mut documents;
        super::tell(a, b, now);
        super::tell(b, a, now);
        for document in &mut documents {
            document.expire(now);
            assert!(document.member_count() as u64 <= LIVING + 2);
            assert!(document.clock().len() as u64 <= LIVING + 3);
            assert!(document.reports().count() as u64 <= LIVING + 2);
            assert!(document.tombstone_count() <= 60);
        }
        assert_eq!(documents[0].version_hash(), documents[1].version_hash());
    }
    documents.iter().for_each(Document::assert_invariants);
}

#[test]
fn a_full_document_of_a_thousand_members_is_of_sober_size() {
    let others: alloc::vec::Vec<u64> = (2..=1000).collect();
    let document = document(1, &others, Flaws::default());
    let size = document.everything(Timestamp::ZERO, false).wire_size();
    assert!((40_000..80_000).contains(&size), "{size}");
}
