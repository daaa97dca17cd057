//! Wakes a second worker of a tokio runtime, so that sockets and timers are polled while a handler blocks the worker that polled them.
//!
//! One worker of a tokio runtime at a time polls the driver for sockets and timers; the others sleep until they are woken. The worker that a socket wakes
//! runs the task that the socket woke. If that task blocks its thread, no worker polls the driver until something else wakes one. The control thread looks from
//! outside whether a worker has not returned for a while, and then wakes another one with a task that does nothing.
//!
//! Promise: a runtime whose workers return, or have nothing to do, is left alone. A runtime with one worker is left alone too: nothing helps there.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor, RuntimeMetrics};
use tokio::time::sleep;

/// How often it looks; up to twice as long sockets and timers may wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// See the module.
pub(super) struct DriverWaker {
    runtime: Handle,
    metrics: RuntimeMetrics,
    /// How often each thread had rested, and come back, at the last look.
    seen: Vec<u64>,
}

impl DriverWaker {
    /// `None` if that runtime has no other thread to wake.
    pub(super) fn of(runtime: &Handle) -> Option<Self> {
        let metrics = runtime.metrics();
        let has_others = runtime.runtime_flavor() == RuntimeFlavor::MultiThread && metrics.num_workers() > 1;
        // Nothing that is seen of a thread at rest.
        let seen = vec![1; metrics.num_workers()];
        has_others.then(|| Self { runtime: runtime.clone(), metrics, seen })
    }

    /// Looks for as long as it is polled, which another runtime does. A runtime that is gone drops what it is given.
    pub(super) async fn run(mut self) {
        loop {
            sleep(LOOK_EVERY).await;
            if self.look() {
                self.runtime.spawn(async {});
            }
        }
    }

    /// Whether a thread has been at work since the last look, without a rest.
    fn look(&mut self) -> bool {
        let mut is_held = false;
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            let now = self.metrics.worker_park_unpark_count(worker);
            let is_at_work = now.is_multiple_of(2);
            is_held |= is_at_work && std::mem::replace(seen, now) == now;
        }
        is_held
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::sync::mpsc::channel;
    use std::thread;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    /// Longer than anything here takes.
    const BOUND: Duration = Duration::from_secs(30);
    /// Which thread waits for sockets as one is blocked is chance.
    const ROUNDS: usize = 16;
    const BLOCK: u8 = 1;

    fn runtime(threads: usize) -> Runtime {
        Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
    }

    /// Sends every byte back; [`BLOCK`] only once `block` has returned.
    async fn echo(listener: TcpListener, block: impl Fn() + Clone + Send + 'static) {
        while let Ok((mut stream, _)) = listener.accept().await {
            let block = block.clone();
            tokio::spawn(async move {
                let mut byte = [0];
                while stream.read_exact(&mut byte).await.is_ok() {
                    if byte[0] == BLOCK {
                        block();
                    }
                    stream.write_all(&byte).await.unwrap();
                }
            });
        }
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream
    }

    /// Sends that byte; it has come back on return.
    fn call(stream: &mut TcpStream, byte: u8) {
        stream.write_all(&[byte]).unwrap();
        stream.read_exact(&mut [0]).expect("nobody polls the socket");
    }

    /// No node here, whose pings would wake the threads of the runtime each second.
    #[test]
    fn a_socket_is_served_while_what_another_socket_woke_blocks_its_thread() {
        let served = runtime(2);
        let control = Builder::new_current_thread().enable_all().build().unwrap();
        let driver_waker = DriverWaker::of(served.handle()).unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let control = thread::spawn(move || {
            control.block_on(async {
                tokio::select! {
                    () = driver_waker.run() => {}
                    _ = stopped => {}
                }
            });
        });
        let listener = served.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (say, blocks) = channel();
        let (go_on, goes_on) = channel::<()>();
        let goes_on = std::sync::Arc::new(std::sync::Mutex::new(goes_on));
        served.spawn(echo(listener, move || {
            say.send(()).unwrap();
            // An error: the test failed.
            let _ = goes_on.lock().unwrap().recv_timeout(2 * BOUND);
        }));
        let (mut blocker, mut other) = (connect(address), connect(address));
        for _ in 0..ROUNDS {
            call(&mut other, 0);
            blocker.write_all(&[BLOCK]).unwrap();
            blocks.recv_timeout(BOUND).unwrap();
            call(&mut other, 0);
            go_on.send(()).unwrap();
            blocker.read_exact(&mut [0]).unwrap();
        }
        drop(stop);
        control.join().unwrap();
    }

    #[test]
    fn a_runtime_at_rest_is_left_alone() {
        let runtime = runtime(2);
        let mut driver_waker = DriverWaker::of(runtime.handle()).unwrap();
        let metrics = runtime.metrics();
        let rests = || (0..2).all(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1);
        let begun = std::time::Instant::now();
        while !rests() {
            assert!(begun.elapsed() < BOUND, "it does not come to rest");
            thread::yield_now();
        }
        assert!(!driver_waker.look() && !driver_waker.look());
        let (go_on, goes_on) = channel::<()>();
        let (say, works) = channel();
        runtime.spawn(async move {
            say.send(()).unwrap();
            goes_on.recv_timeout(BOUND).unwrap();
        });
        works.recv_timeout(BOUND).unwrap();
        assert!(!driver_waker.look(), "it may come back at once");
        assert!(driver_waker.look());
        go_on.send(()).unwrap();
    }

    #[test]
    fn there_is_none_where_no_other_thread_can_be_woken() {
        let current = Builder::new_current_thread().build().unwrap();
        assert!(DriverWaker::of(current.handle()).is_none());
        assert!(DriverWaker::of(runtime(1).handle()).is_none());
    }
}
