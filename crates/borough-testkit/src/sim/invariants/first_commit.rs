//! Who is elected commits an entry of its own term before it does anything else.
//!
//! Until then it may not know what is committed, and would decide on a table that is behind.

use borough_protocol::incarnation::Uid;
use borough_protocol::version::Term;

use crate::sim::violation::Violation;

/// The newest election of one life: its term, and the end of the log then.
#[derive(Debug, Default)]
pub(super) struct Elected {
    newest: Option<(Term, u64)>,
}

impl Elected {
    /// The life is in office. Says whether that is news.
    pub(super) fn is_in_office(
        &mut self,
        uid: Uid,
        term: Term,
        last_index: u64,
        may_act: bool,
    ) -> Result<bool, Violation> {
        match self.newest {
            Some((known, end)) if known == term => {
                if !may_act && last_index > end {
                    let text = format!("{uid:?} appended {last_index} in {term:?} before it committed {end}");
                    return Err(Violation::Safety("first_commit", text));
                }
                Ok(false)
            }
            _ => {
                self.newest = Some((term, last_index));
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::uid;

    #[test]
    fn an_entry_before_the_first_commit_of_a_term_is_found() {
        let mut elected = Elected::default();
        let term = Term::new(3);
        assert_eq!(elected.is_in_office(uid(1), term, 7, false), Ok(true));
        assert_eq!(elected.is_in_office(uid(1), term, 7, false), Ok(false));
        assert!(elected.is_in_office(uid(1), term, 8, false).is_err());
    }

    #[test]
    fn entries_after_it_and_other_terms_pass() {
        let mut elected = Elected::default();
        assert_eq!(elected.is_in_office(uid(1), Term::new(3), 7, false), Ok(true));
        assert_eq!(elected.is_in_office(uid(1), Term::new(3), 9, true), Ok(false));
        assert_eq!(elected.is_in_office(uid(1), Term::new(5), 12, false), Ok(true));
    }
}
