//! The mailbox under every schedule a few thousand random tries can find.
//!
//! The real source is compiled in here with shuttle's lock in the place of ours, so that shuttle decides at each lock
//! who runs next. A schedule that fails is printed, and can be run again with `shuttle::replay`.
//! A lost wake-up shows as a deadlock, which shuttle finds.

#![allow(unreachable_pub, reason = "what the mailbox shows to hosts is shown to nobody here")]
#![allow(dead_code, reason = "the mailbox is taken in whole, and not all of it is raced")]
#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

#[path = "../../src/mailbox/mod.rs"]
mod mailbox;

/// Stands where the crate's own `sync` does.
mod sync {
    use std::sync::PoisonError;

    pub(crate) use shuttle::sync::{Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

use std::collections::VecDeque;
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use shuttle::future::block_on;
use shuttle::thread;

use self::mailbox::{Batch, Letter, Mailbox, Refusal, Taken, Ticket, WhenFull};

impl Letter for u32 {
    fn is_expendable(&self) -> bool {
        true
    }
}

/// Numbers that move as one.
struct Bundle(Vec<u32>);

impl Letter for Bundle {
    fn is_expendable(&self) -> bool {
        true
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn cut(&mut self, weight: usize) -> Option<Self> {
        Some(Self(self.0.drain(..weight).collect()))
    }
}

const TRIES: usize = 3000;

/// An interrupt that ends the readers of these tests.
const END: u8 = 1;
const OTHER: u8 = 2;

type Shared = Arc<Mailbox<u32>>;

fn mailbox(capacity: u32) -> Shared {
    Arc::new(Mailbox::new(NonZeroU32::new(capacity).unwrap(), WhenFull::Wait))
}

fn check(race: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(race, TRIES);
}

/// Sends one item, in line if need be; gives the item if the mailbox is closed.
fn send(mailbox: &Mailbox<u32>, item: u32) -> Result<(), u32> {
    match mailbox.push(item) {
        Ok(()) => return Ok(()),
        Err(Refusal::Full(_)) => {}
        Err(Refusal::Closed(item)) => return Err(item),
        Err(other) => panic!("{other:?}"),
    }
    let mut ticket: Option<Ticket> = None;
    block_on(poll_fn(|cx| {
        let Some(ticket) = ticket else {
            return match mailbox.push_or_wait(item, cx.waker()) {
                Ok(None) => Poll::Ready(Ok(())),
                Ok(Some(joined)) => {
                    ticket = Some(joined);
                    Poll::Pending
                }
                Err(Refusal::Closed(item)) => Poll::Ready(Err(item)),
                Err(other) => panic!("{other:?}"),
            };
        };
        mailbox.poll_waiting(ticket, cx.waker())
    }))
}

/// Looks for work as an actor does: one that is parked does not take the lock.
fn poll_next(mailbox: &Mailbox<u32>, batch: &mut Batch<u32>, cx: &mut Context<'_>) -> Poll<Taken> {
    if mailbox.is_parked() { Poll::Pending } else { mailbox.poll_take(batch, 3, cx) }
}

/// Takes batches until there are `count` items.
fn take(mailbox: &Mailbox<u32>, count: usize) -> Vec<u32> {
    let mut items = Vec::new();
    let mut batch = Batch::default();
    while items.len() < count {
        let taken = block_on(poll_fn(|cx| poll_next(mailbox, &mut batch, cx)));
        assert_eq!(taken, Taken::Batch);
        while let Some(item) = batch.pop() {
            items.push(item);
        }
    }
    items
}

/// Takes batches until it is interrupted; gives the items and the bits.
fn take_until_interrupted(mailbox: &Mailbox<u32>) -> (Vec<u32>, u8) {
    let mut items = Vec::new();
    let mut batch = Batch::default();
    loop {
        match block_on(poll_fn(|cx| poll_next(mailbox, &mut batch, cx))) {
            Taken::Interrupted(bits) => return (items, bits),
            Taken::Batch => items.extend(std::iter::from_fn(|| batch.pop())),
        }
    }
}

/// Three senders of three items each: `10 * sender + n`.
fn senders(mailbox: &Shared) -> Vec<thread::JoinHandle<()>> {
    (0..3)
        .map(|sender| {
            let mailbox = mailbox.clone();
            thread::spawn(move || (0..3).for_each(|n| send(&mailbox, 10 * sender + n).unwrap()))
        })
        .collect()
}

fn join_all(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

fn assert_each_once_and_in_order(items: &[u32]) {
    for sender in 0..3 {
        let of_sender: Vec<_> = items.iter().copied().filter(|item| item / 10 == sender).collect();
        assert_eq!(of_sender, [10 * sender, 10 * sender + 1, 10 * sender + 2]);
    }
    assert_eq!(items.len(), 9);
}

#[test]
fn concurrent_items_are_taken_once_and_in_each_senders_order() {
    check(|| {
        let mailbox = mailbox(100);
        let senders = senders(&mailbox);
        assert_each_once_and_in_order(&take(&mailbox, 9));
        join_all(senders);
    });
}

#[test]
fn senders_that_wait_for_room_lose_nothing_and_keep_their_order() {
    for capacity in 1..5 {
        check(move || {
            let mailbox = mailbox(capacity);
            let senders = senders(&mailbox);
            assert_each_once_and_in_order(&take(&mailbox, 9));
            join_all(senders);
        });
    }
}

/// Puts all in, as far as there is room, and stands in line for the others, as an inlet does.
fn send_bundle(mailbox: &Mailbox<Bundle>, numbers: Vec<u32>) {
    let mut weight = numbers.len();
    let mut staged = VecDeque::from([Bundle(numbers)]);
    loop {
        weight -= mailbox.push_all(&mut staged, weight);
        let Some(first) = staged.front_mut() else { return };
        let single = if first.weight() > 1 { first.cut(1) } else { staged.pop_front() }.unwrap();
        weight -= 1;
        let mut ticket = None;
        let mut single = Some(single);
        block_on(poll_fn(|cx| {
            if let Some(single) = single.take() {
                ticket = mailbox.push_or_wait(single, cx.waker()).unwrap_or_else(|_| panic!("it is open"));
            }
            ticket.map_or(Poll::Ready(()), |ticket| mailbox.poll_waiting(ticket, cx.waker()).map(drop))
        }));
    }
}

#[test]
fn items_that_weigh_more_than_one_are_taken_once_in_order_and_within_the_bound() {
    for capacity in [1, 2, 3, 5, 12] {
        check(move || {
            let mailbox = Arc::new(Mailbox::new(NonZeroU32::new(capacity).unwrap(), WhenFull::Wait));
            let senders: Vec<_> = (0..2)
                .map(|sender| {
                    let mailbox: Arc<Mailbox<Bundle>> = mailbox.clone();
                    thread::spawn(move || {
                        send_bundle(&mailbox, vec![10 * sender, 10 * sender + 1]);
                        send_bundle(&mailbox, (2..7).map(|n| 10 * sender + n).collect());
                    })
                })
                .collect();
            let limit = 2.min(capacity as usize / 4).max(1);
            let (mut taken, mut batch) = (Vec::new(), Batch::default());
            while taken.len() < 14 {
                block_on(poll_fn(|cx| {
                    if mailbox.is_parked() { Poll::Pending } else { mailbox.poll_take(&mut batch, 2, cx) }
                }));
                assert!(batch.weight() <= limit, "{} of {limit}", batch.weight());
                while let Some(Bundle(numbers)) = batch.pop() {
                    batch.lighten(numbers.len() - 1);
                    taken.extend(numbers);
                }
                assert_eq!(batch.weight(), 0);
            }
            for sender in 0..2 {
                let own: Vec<u32> = taken.iter().copied().filter(|n| n / 10 == sender).collect();
                assert_eq!(own, (0..7).map(|n| 10 * sender + n).collect::<Vec<_>>());
            }
            join_all(senders);
        });
    }
}

#[test]
fn a_reader_that_parks_is_woken_for_every_item() {
    check(|| {
        let there = mailbox(1);
        let back = mailbox(1);
        let partner = {
            let (there, back) = (there.clone(), back.clone());
            thread::spawn(move || {
                for n in 0..4 {
                    assert_eq!(take(&there, 1), [n]);
                    send(&back, n).unwrap();
                }
            })
        };
        for n in 0..4 {
            send(&there, n).unwrap();
            assert_eq!(take(&back, 1), [n]);
        }
        partner.join().unwrap();
    });
}

#[test]
fn a_reader_that_parks_is_woken_for_an_item_beyond_the_bound() {
    check(|| {
        let mailbox = mailbox(1);
        let pushing = {
            let mailbox = mailbox.clone();
            thread::spawn(move || (0..3).for_each(|n| mailbox.push_beyond_bound(n).unwrap()))
        };
        assert_eq!(take(&mailbox, 3), [0, 1, 2]);
        pushing.join().unwrap();
    });
}

/// Joins the line of a full mailbox with a waker nobody listens to.
fn join(mailbox: &Mailbox<u32>, item: u32) -> Ticket {
    mailbox.push_or_wait(item, Waker::noop()).unwrap().expect("it is full")
}

#[test]
fn senders_in_line_are_admitted_in_line_and_withdrawn_ones_leave_nothing() {
    check(|| {
        let mailbox = mailbox(2);
        mailbox.push(0).unwrap();
        mailbox.push(1).unwrap();
        let tickets: Vec<_> = (2..7).map(|item| (item, join(&mailbox, item))).collect();
        let cancelling = {
            let mailbox = mailbox.clone();
            thread::spawn(move || {
                // The second and the fourth give up, perhaps too late.
                [3, 5].map(|item| {
                    let (_, ticket) = tickets[item as usize - 2];
                    let withdrawn = mailbox.withdraw(ticket);
                    assert!(withdrawn.is_none() || withdrawn == Some(item));
                    assert_eq!(mailbox.withdraw(ticket), None, "an item is given back once");
                    (item, withdrawn.is_some())
                })
            })
        };
        let reading = {
            let mailbox = mailbox.clone();
            thread::spawn(move || take_until_interrupted(&mailbox).0)
        };
        let withdrawn = cancelling.join().unwrap();
        // A last one in line shows that nobody is stuck before it.
        send(&mailbox, 7).unwrap();
        while mailbox.push(8).is_err() {
            thread::yield_now();
        }
        mailbox.interrupt(END);
        let mut taken = reading.join().unwrap();
        taken.extend(mailbox.close());
        let left: Vec<_> = (0..9).filter(|item| !withdrawn.contains(&(*item, true))).collect();
        assert_eq!(taken, left);
    });
}

#[test]
fn nobody_enters_past_those_who_wait_in_line() {
    check(|| {
        let mailbox = mailbox(4);
        (0..4).for_each(|item| mailbox.push(item).unwrap());
        (4..6).for_each(|item| {
            join(&mailbox, item);
        });
        let pushing = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.push(6).is_ok())
        };
        let mut taken = take(&mailbox, 2);
        let entered = pushing.join().unwrap();
        taken.extend(take(&mailbox, 4 + usize::from(entered)));
        assert_eq!(taken, (0..6 + u32::from(entered)).collect::<Vec<_>>());
    });
}

#[test]
fn a_close_gives_every_item_exactly_one_place_to_go() {
    check(|| {
        let mailbox = mailbox(1);
        let senders: Vec<_> = (0..3)
            .map(|sender| {
                let mailbox = mailbox.clone();
                thread::spawn(move || {
                    (0..2).filter_map(|n| send(&mailbox, 10 * sender + n).err()).collect::<Vec<_>>()
                })
            })
            .collect();
        let taken = take(&mailbox, 1);
        let left = mailbox.close();
        let refused: Vec<_> = senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
        let mut all: Vec<_> = taken.into_iter().chain(left).chain(refused).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 10, 11, 20, 21]);
        assert!(matches!(mailbox.push(99), Err(Refusal::Closed(99))));
        assert_eq!(mailbox.push_beyond_bound(99), Err(99));
    });
}

#[test]
fn a_close_and_a_withdrawal_do_not_both_get_the_item() {
    check(|| {
        let mailbox = mailbox(1);
        mailbox.push(0).unwrap();
        let ticket = join(&mailbox, 1);
        let withdrawing = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.withdraw(ticket))
        };
        let reading = {
            let mailbox = mailbox.clone();
            thread::spawn(move || take(&mailbox, 1))
        };
        let taken = reading.join().unwrap();
        let left = mailbox.close();
        let given_back = match mailbox.poll_waiting(ticket, Waker::noop()) {
            Poll::Ready(Err(item)) => Some(item),
            Poll::Ready(Ok(())) => None,
            Poll::Pending => panic!("nobody waits at a closed mailbox"),
        };
        let withdrawn = withdrawing.join().unwrap();
        let mut all: Vec<_> = taken.into_iter().chain(left).chain(given_back).chain(withdrawn).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

#[test]
fn a_reader_that_parks_misses_no_interrupt_and_gets_each_once() {
    check(|| {
        let mailbox = mailbox(1);
        let raising = {
            let mailbox = mailbox.clone();
            thread::spawn(move || {
                mailbox.interrupt(OTHER);
                mailbox.interrupt(END);
            })
        };
        let mut raised = take_until_interrupted(&mailbox).1;
        if raised & END == 0 {
            let more = take_until_interrupted(&mailbox).1;
            assert_eq!(raised & more, 0, "a bit was given twice");
            raised |= more;
        }
        assert_eq!(raised, OTHER | END);
        raising.join().unwrap();
        assert!(!mailbox.is_interrupted(OTHER | END));
    });
}

#[test]
fn an_interrupt_overtakes_items_and_loses_none() {
    check(|| {
        let mailbox = mailbox(100);
        let senders = senders(&mailbox);
        let raising = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.interrupt(END))
        };
        let (mut items, bits) = take_until_interrupted(&mailbox);
        assert_eq!(bits, END);
        items.extend(take(&mailbox, 9 - items.len()));
        assert_each_once_and_in_order(&items);
        raising.join().unwrap();
        join_all(senders);
    });
}

#[test]
fn a_reader_that_left_its_waker_misses_no_interrupt() {
    check(|| {
        let mailbox = mailbox(1);
        let raising = {
            let mailbox = mailbox.clone();
            thread::spawn(move || {
                mailbox.interrupt(OTHER);
                mailbox.interrupt(END);
            })
        };
        // As a turn does that waits for something else: it ends only by the bit it asked for.
        block_on(poll_fn(
            |cx| if mailbox.leave_waker(cx.waker(), END) { Poll::Pending } else { Poll::Ready(()) },
        ));
        raising.join().unwrap();
        assert!(mailbox.is_interrupted(OTHER) && mailbox.is_interrupted(END));
    });
}

#[test]
fn a_reader_that_waits_for_interrupts_alone_misses_none_and_leaves_the_items() {
    check(|| {
        let mailbox = mailbox(2);
        let raising = {
            let mailbox = mailbox.clone();
            thread::spawn(move || {
                mailbox.push(1).unwrap();
                mailbox.interrupt(OTHER);
                mailbox.push(2).unwrap();
                mailbox.interrupt(END);
            })
        };
        let mut raised = 0;
        while raised & END == 0 {
            raised |= block_on(poll_fn(|cx| mailbox.poll_interrupt(cx)));
        }
        assert_eq!(raised, OTHER | END);
        raising.join().unwrap();
        assert_eq!(take(&mailbox, 2), [1, 2]);
    });
}

#[test]
fn at_most_as_many_items_wait_as_the_mailbox_may_hold() {
    check(|| {
        let mailbox = mailbox(3);
        let pushing: Vec<_> = (0..3)
            .map(|sender| {
                let mailbox = mailbox.clone();
                thread::spawn(move || (0..3).filter(|n| mailbox.push(10 * sender + n).is_ok()).count())
            })
            .collect();
        let accepted: usize = pushing.into_iter().map(|pushing| pushing.join().unwrap()).sum();
        assert_eq!(accepted, 3);
        assert_eq!(mailbox.close().len(), 3);
    });
}

/// The reader has taken one item, less than half is free, and it waits for the very sender that stands in line.
#[test]
fn a_sender_in_line_is_let_in_while_the_reader_is_busy_elsewhere() {
    check(|| {
        let mailbox = mailbox(4);
        for item in 0..4 {
            mailbox.push(item).unwrap();
        }
        let sending = {
            let mailbox = mailbox.clone();
            thread::spawn(move || {
                send(&mailbox, 4).unwrap();
                mailbox.interrupt(END);
            })
        };
        let mut taken = take(&mailbox, 1);
        block_on(poll_fn(
            |cx| if mailbox.leave_waker(cx.waker(), END) { Poll::Pending } else { Poll::Ready(()) },
        ));
        sending.join().unwrap();
        assert_eq!(block_on(poll_fn(|cx| mailbox.poll_interrupt(cx))), END);
        taken.extend(take(&mailbox, 4));
        assert_eq!(taken, [0, 1, 2, 3, 4]);
    });
}
