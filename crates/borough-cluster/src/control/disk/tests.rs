//! What the disk reports, and when the machine may hear it: also of a disk that fails, is full, or does not answer.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use borough_protocol::disk::Write;
use borough_protocol::log::raft;
use borough_protocol::node::Input;
use borough_protocol::version::Term;
use borough_protocol::voters::VoterId;
use borough_sqlite::failpoints::{Fault, Hook, Step};
use borough_sqlite::{DataDirectory, OpenOptions, inspect};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::news::News;
use super::{Disk, DiskOptions, Home};

/// On a wake-up it runs that, in the thread that woke it.
struct OnWake(Box<dyn Fn() + Send + Sync>);

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

#[test]
fn what_is_known_as_written_was_told_to_the_life_that_wrote_it() {
    let (inputs, received) = mpsc::unbounded_channel();
    let news = News::new(Path::new("data"), inputs);
    let (received, queued) = (Mutex::new(received), Arc::new(Mutex::new(None)));
    let seen = queued.clone();
    // A wait for the disk ends here: what is queued now is what the next life can discard.
    let wake = move || *seen.lock().unwrap() = Some(received.lock().unwrap().len());
    let waker = Waker::from(Arc::new(OnWake(Box::new(wake))));
    let mut progress = news.progress.subscribe();
    let mut settled = pin!(progress.wait_for(|progress| progress.written >= 137));
    assert!(settled.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    news.written(137);
    assert_eq!(*queued.lock().unwrap(), Some(1));
}

#[test]
fn a_report_about_the_last_life_never_reaches_the_next() {
    let (inputs, mut received) = mpsc::unbounded_channel();
    let news = News::new(Path::new("data"), inputs);
    // The disk is known to have failed: nobody waited for the write.
    news.begin_life(1);
    news.written(1);
    assert!(received.try_recv().is_err(), "of the last life");
    news.written(2);
    assert!(matches!(received.try_recv(), Ok(Input::Written(1))), "its first write");
}

/// How long anything may take on a machine that has much else to do.
const BOUND: Duration = Duration::from_secs(60);

/// What the disk does with the transactions that come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Works,
    Fails(Fault),
    /// It neither answers nor fails.
    Stuck,
}

/// A disk whose mood a test sets.
#[derive(Clone)]
struct Moody(Arc<(Mutex<Mood>, Condvar)>);

impl Moody {
    fn new() -> Self {
        Self(Arc::new((Mutex::new(Mood::Works), Condvar::new())))
    }

    fn set(&self, mood: Mood) {
        *self.0.0.lock().unwrap() = mood;
        self.0.1.notify_all();
    }

    fn hook(&self) -> Hook {
        let disk = self.clone();
        Arc::new(move |_, step| {
            let (mood, changed) = &*disk.0;
            let mood = mood.lock().unwrap();
            match *changed.wait_while(mood, |mood| step == Step::Begin && *mood == Mood::Stuck).unwrap() {
                Mood::Fails(fault) if step == Step::Commit => Err(fault),
                Mood::Works | Mood::Stuck | Mood::Fails(_) => Ok(()),
            }
        })
    }
}

struct Rig {
    folder: TempDir,
    moody: Moody,
    disk: Disk,
    received: mpsc::UnboundedReceiver<Input>,
}

impl Rig {
    /// A disk with a thread, in its first life.
    fn new(stuck_after: Duration) -> Self {
        let (folder, moody) = (TempDir::new().unwrap(), Moody::new());
        let open = OpenOptions::new("test").hook(moody.hook());
        let options = DiskOptions { open, home: Home::Thread, stuck_after: Some(stuck_after) };
        let (inputs, mut received) = mpsc::unbounded_channel();
        let mut disk = Disk::open(folder.path(), &options, inputs).unwrap();
        disk.begin_life(&mut received);
        Self { folder, moody, disk, received }
    }

    /// The next thing that the machine is told.
    async fn told(&mut self) -> Input {
        timeout(BOUND, self.received.recv()).await.unwrap().unwrap()
    }

    fn vote(&mut self, number: u64, term: u64) {
        let write = raft::Write::Vote { term: Term::new(term), vote: None };
        self.disk.write(number, Write::Log(write));
    }

    fn begin_life(&mut self) -> Option<u64> {
        let (image, _) = self.disk.begin_life(&mut self.received);
        image.log.map(|log| log.term.get())
    }
}

#[tokio::test]
async fn a_write_is_told_when_it_is_synced_and_the_next_life_resumes_with_it() {
    let mut rig = Rig::new(BOUND);
    rig.vote(1, 1);
    assert!(matches!(rig.told().await, Input::Written(1)));
    rig.vote(2, 2);
    rig.disk.settled().await;
    assert_eq!(rig.begin_life(), Some(2));
    assert!(rig.received.try_recv().is_err(), "what is left of a life goes with it");
    rig.vote(1, 3);
    assert!(matches!(rig.told().await, Input::Written(1)), "numbers start again");
}

#[tokio::test]
async fn a_disk_that_fails_or_is_full_is_told_to_every_life() {
    for fault in [Fault::Io, Fault::Full] {
        let mut rig = Rig::new(BOUND);
        rig.vote(1, 1);
        assert!(matches!(rig.told().await, Input::Written(1)));
        rig.moody.set(Mood::Fails(fault));
        rig.vote(2, 2);
        assert!(matches!(rig.told().await, Input::DiskWorks(false)));
        for _ in 0..2 {
            rig.disk.settled().await;
            assert_eq!(rig.begin_life(), Some(1), "what failed is not resumed");
            assert!(matches!(rig.told().await, Input::DiskWorks(false)));
        }
        rig.disk.check_at(Instant::now() + 2 * BOUND);
        rig.vote(1, 1);
        assert!(rig.received.try_recv().is_err(), "it is told once in a life");
        assert!(!rig.disk.close().await, "a write is missing");
        assert_eq!(inspect(rig.folder.path()).unwrap().loaded.voter.unwrap().term, 1);
    }
}

#[tokio::test]
async fn a_stuck_disk_is_told_to_every_life_until_it_answers() {
    let mut rig = Rig::new(BOUND);
    rig.moody.set(Mood::Stuck);
    rig.vote(1, 1);
    let asked = Instant::now();
    rig.disk.check_at(asked);
    assert!(rig.received.try_recv().is_err(), "it may take its time");
    for _ in 0..2 {
        rig.disk.check_at(asked + 2 * BOUND);
    }
    assert!(matches!(rig.told().await, Input::DiskWorks(false)));
    assert!(rig.received.try_recv().is_err(), "it is told once");
    rig.begin_life();
    assert!(matches!(rig.told().await, Input::DiskWorks(false)));
    rig.moody.set(Mood::Works);
    rig.disk.settled().await;
    rig.disk.check();
    assert!(matches!(rig.told().await, Input::DiskWorks(true)));
}

#[tokio::test]
async fn a_wait_for_a_stuck_disk_can_be_broken_off_and_begun_again() {
    let mut rig = Rig::new(BOUND);
    rig.moody.set(Mood::Stuck);
    rig.vote(1, 1);
    for _ in 0..2 {
        assert!(timeout(Duration::ZERO, rig.disk.settled()).await.is_err());
    }
    rig.moody.set(Mood::Works);
    rig.disk.settled().await;
    assert_eq!(rig.begin_life(), Some(1));
}

#[tokio::test]
async fn a_stuck_disk_is_closed_by_its_thread_and_nobody_waits_for_that() {
    let mut rig = Rig::new(Duration::from_millis(30));
    rig.moody.set(Mood::Stuck);
    rig.vote(1, 1);
    for _ in 0..2 {
        assert!(!timeout(BOUND, rig.disk.close()).await.unwrap(), "it is not known to be written");
    }
    rig.moody.set(Mood::Works);
    let mut progress = rig.disk.news.progress.subscribe();
    timeout(BOUND, progress.wait_for(|progress| progress.is_closed)).await.unwrap().unwrap();
    assert!(rig.disk.close().await);
    let (_directory, loaded) = DataDirectory::open(rig.folder.path(), &OpenOptions::new("test")).unwrap();
    assert_eq!(loaded.voter.unwrap().term, 1);
}

/// A node that took such a directory as that of a fresh one would forget its vote and its log.
#[tokio::test]
async fn a_log_without_a_record_is_refused() {
    let mut rig = Rig::new(BOUND);
    rig.vote(1, 1);
    assert!(rig.disk.close().await);
    let options = DiskOptions { open: OpenOptions::new("test"), home: Home::Here, stuck_after: None };
    let (inputs, _received) = mpsc::unbounded_channel();
    let refused = Disk::open(rig.folder.path(), &options, inputs).err().unwrap();
    let words = refused.to_string();
    assert!(words.contains("no record") && words.contains("as seeds"), "{words}");
}

#[tokio::test]
async fn a_directory_is_that_of_a_voter_from_its_first_vote_until_it_is_that_of_another() {
    let mut rig = Rig::new(BOUND);
    assert!(!rig.disk.votes());
    rig.vote(1, 1);
    rig.disk.settled().await;
    assert!(rig.disk.votes());
    let voter = VoterId::new(9).unwrap();
    rig.disk.write(2, Write::Become { voter, record: None, log: Vec::new() });
    assert!(rig.disk.close().await);
    assert!(!rig.disk.votes());
}
