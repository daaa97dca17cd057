//! What the disk reports, and when the machine may hear it.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use borough_protocol::node::Input;
use tokio::sync::mpsc;

use super::news::News;

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
