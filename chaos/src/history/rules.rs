//! What may not be found in a history of one entity.
//!
//! | rule | looks at |
//! |---|---|
//! | no two activations overlap: no epoch works in two processes, none after a newer one | turns by time; for what a process does that had stood still see `late` |
//! | no older life answers after a newer one | answers as they came |
//! | a life ends only where its process was harmed | turns by time |
//! | a state that moved was not rolled back | the counts of each life's turns |
//! | nothing is doubled or out of order | the numbers of each sender |
//! | what was accepted is handled, what was refused is not, every ask ends with an answer or a reason | messages beside turns |
//! | what the entity remembers is what happened to it | its page beside its turns |

use std::collections::HashMap;

use super::History;
use super::check::{Expected, Faults, Lives, after};
use super::line::Outcome;
use super::of_id::OfId;

/// How it is told that messages of one sender were handled in another order than sent.
pub(super) const OUT_OF_ORDER: &str = "messages of one sender are out of order";

/// Runs all rules.
pub(super) fn run(of_id: &OfId<'_>, history: &History, expected: &Expected, faults: &mut Faults) {
    epochs_never_fall(of_id, history, faults);
    lives_follow_each_other(of_id, history, expected, faults);
    answers_follow_lives(of_id, faults);
    counts_rise_by_one(of_id, faults);
    senders_are_in_order(of_id, faults);
    messages_end_once(of_id, history, expected, faults);
    the_page_is_right(of_id, expected, faults);
}

fn epochs_never_fall(of_id: &OfId<'_>, history: &History, faults: &mut Faults) {
    let mut newest: Option<(usize, u64, u64)> = None;
    for (process, turn) in &of_id.turns {
        let (at, epoch) = (turn.signed.at, turn.signed.epoch);
        match newest {
            Some((other, highest, since)) if epoch < highest => {
                faults.note("two activations overlap", || {
                    let (here, there) = (&history.processes[*process], &history.processes[other]);
                    let late = after(at, since);
                    format!(
                        "{} in {here} at epoch {epoch}, {late:?} after {there} had begun with {highest}",
                        of_id.id
                    )
                });
            }
            Some((other, highest, since)) if epoch == highest => {
                if other != *process {
                    faults.note("two activations overlap", || {
                        let (here, there) = (&history.processes[*process], &history.processes[other]);
                        let late = after(at, since);
                        format!(
                            "{} in {here} at epoch {epoch}, {late:?} after {there} had begun with the same",
                            of_id.id
                        )
                    });
                }
            }
            _ => newest = Some((*process, epoch, at)),
        }
    }
}

fn lives_follow_each_other(of_id: &OfId<'_>, history: &History, expected: &Expected, faults: &mut Faults) {
    let mut over = Vec::new();
    for pair in of_id.turns.windows(2) {
        let [(process, before), (_, turn)] = pair else { continue };
        let (before, life) = (before.signed.life, turn.signed.life);
        if before == life {
            continue;
        }
        if over.contains(&life) {
            faults.note("a life that was over goes on", || format!("{} at {}", of_id.id, turn.signed.at));
        }
        over.push(before);
        let process = &history.processes[*process];
        let may_end = match &expected.lives {
            Lives::Last => false,
            Lives::EndIn(harmed) => harmed.contains(process),
            Lives::EndAnywhere => true,
        };
        if !may_end {
            faults.note("an entity lost its state though its process ran on", || {
                format!("{} of {process} at {}", of_id.id, turn.signed.at)
            });
        }
    }
}

fn answers_follow_lives(of_id: &OfId<'_>, faults: &mut Faults) {
    let mut answers: Vec<_> = of_id
        .sendings
        .iter()
        .filter_map(|sending| match &sending.outcome {
            Outcome::Answered(signed) => Some((sending.done, signed)),
            _ => None,
        })
        .collect();
    answers.sort_by_key(|(done, _)| *done);
    // A life is known by when it began.
    let mut newest = 0;
    for (done, signed) in answers {
        if signed.life < newest {
            faults.note("an older life answered after a newer one", || {
                format!("{}: life {} at {done}, after {newest}", of_id.id, signed.life)
            });
        }
        newest = newest.max(signed.life);
    }
}

fn counts_rise_by_one(of_id: &OfId<'_>, faults: &mut Faults) {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let mut turns: Vec<_> = of_id.turns.iter().chain(&of_id.late).map(|(_, turn)| turn.signed).collect();
    turns.sort_by_key(|signed| signed.at);
    for signed in turns {
        let before = counts.insert(signed.life, signed.count).unwrap_or(0);
        if signed.count != before + 1 {
            faults.note("a state was rolled back, or has turns that nobody wrote down", || {
                format!("{}: turn {} of life {} after {before}", of_id.id, signed.count, signed.life)
            });
        }
    }
}

fn senders_are_in_order(of_id: &OfId<'_>, faults: &mut Faults) {
    let mut last: HashMap<u32, u32> = HashMap::new();
    for (_, turn) in &of_id.turns {
        let before = last.entry(turn.sender).or_insert(0);
        if turn.number < *before {
            faults.note(OUT_OF_ORDER, || {
                format!("{}: {} of sender {} after {before}", of_id.id, turn.number, turn.sender)
            });
        }
        *before = turn.number.max(*before);
    }
}

fn messages_end_once(of_id: &OfId<'_>, history: &History, expected: &Expected, faults: &mut Faults) {
    let mut handled = of_id.by_message();
    let is_planned = matches!(expected.lives, Lives::Last);
    // What was sent to an entity that did not begin anew was sent to a process that lives.
    let nothing_is_lost = is_planned || !of_id.is_renewed();
    let named = |number, sender| format!("{}: {number} of sender {sender}", of_id.id);
    for sending in &of_id.sendings {
        let turns = handled.remove(&(sending.sender, sending.number)).unwrap_or_default();
        let name = || named(sending.number, sending.sender);
        if turns.len() > 1 {
            faults.note("a message was handled twice", name);
        }
        match &sending.outcome {
            Outcome::Accepted if turns.is_empty() && nothing_is_lost && !expected.is_apart(sending) => {
                faults.note("a message was lost", name);
            }
            Outcome::Accepted => {}
            Outcome::Answered(signed) => {
                if !turns.iter().any(|turn| turn.signed == *signed) {
                    faults.note("an answer has no turn", name);
                }
            }
            Outcome::Refused(why) => {
                if !turns.is_empty() {
                    faults.note("a message was refused and handled all the same", || {
                        format!("{} ({why})", name())
                    });
                }
                if is_planned {
                    faults.note("a message was refused though all nodes were well", || {
                        format!("{} ({why})", name())
                    });
                }
            }
            Outcome::Open(why) => {
                let may_time_out = expected.is_apart(sending) || of_id.is_wedged(sending, history, expected);
                if !may_time_out && (is_planned || why.contains("did not answer")) {
                    faults.note("an ask was not answered, and nobody knows why", || {
                        format!("{} ({why})", name())
                    });
                }
            }
        }
    }
    for (sender, number) in handled.into_keys().filter(|(sender, _)| !expected.cut_short.contains(sender)) {
        faults.note("a message was handled that nobody sent", || named(number, sender));
    }
}

fn the_page_is_right(of_id: &OfId<'_>, expected: &Expected, faults: &mut Faults) {
    let Some(page) = of_id.page else { return };
    let Some((_, last)) = of_id.turns.last() else { return };
    if (page.life, page.count) != (last.signed.life, last.signed.count) || page.misplaced > 0 {
        faults.note("an entity does not remember what happened to it", || {
            format!("{}: {page:?} after {last:?}", of_id.id)
        });
    }
    if matches!(expected.lives, Lives::Last) {
        let mut sent: HashMap<u32, u32> = HashMap::new();
        for sending in &of_id.sendings {
            *sent.entry(sending.sender).or_insert(0) += 1;
        }
        for (sender, sent) in sent {
            if page.senders.get(&sender) != Some(&(sent, sent)) {
                faults.note("an entity has not what was sent to it", || {
                    let has = page.senders.get(&sender);
                    format!("{}: {has:?} of {sent} by sender {sender}", of_id.id)
                });
            }
        }
    }
}
