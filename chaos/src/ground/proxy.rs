//! Proxies between nodes: for machines that permit no namespaces, and for those who listen in.
//!
//! Each node advertises the address of its proxy. Who dials is read from the greeting, which names the dialler's own address. Bytes
//! of a way that is cut are held back until it heals, and connections across it do not come about, as without packets.

use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the node behind may take to accept.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// How long a greeting may take.
const GREETING_BOUND: Duration = Duration::from_secs(10);
/// How much is kept of one connection.
const RECORDED_MAX: usize = 64 * 1024;

/// The proxies of one fleet. Their threads end with the connections, and the listeners when this is dropped.
#[derive(Default)]
pub(crate) struct Proxies {
    places: usize,
    shared: Arc<Shared>,
    listeners: Vec<SocketAddr>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_over: bool,
    cuts: BTreeSet<(usize, usize)>,
    places: Vec<(String, usize)>,
    recorded: HashMap<usize, Vec<Vec<u8>>>,
}

impl Proxies {
    /// Opens proxies for places up to this one; `addresses` says where each listens and where it leads.
    pub(super) fn prepare(
        &mut self,
        last: usize,
        addresses: impl Fn(usize) -> (String, String),
    ) -> Result<(), String> {
        while self.places < last {
            self.places += 1;
            let (place, (front, back)) = (self.places, addresses(self.places));
            let listener = TcpListener::bind(&front).map_err(|error| format!("{front}: {error}"))?;
            let back: SocketAddr = back.parse().map_err(|error| format!("{back}: {error}"))?;
            self.listeners.extend(listener.local_addr());
            self.shared.lock().places.push((front, place));
            let shared = self.shared.clone();
            std::thread::spawn(move || {
                for dialled in listener.incoming().flatten() {
                    if shared.lock().is_over {
                        return;
                    }
                    let shared = shared.clone();
                    std::thread::spawn(move || shared.connect(dialled, place, back));
                }
            });
        }
        Ok(())
    }

    pub(super) fn cut(&self, from: usize, to: usize) {
        self.shared.lock().cuts.insert((from, to));
    }

    pub(super) fn heal(&self) {
        self.shared.lock().cuts.clear();
        self.shared.changed.notify_all();
    }

    pub(super) fn recorded(&self, place: usize) -> Vec<Vec<u8>> {
        self.shared.lock().recorded.get(&place).cloned().unwrap_or_default()
    }
}

impl Drop for Proxies {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        for address in &self.listeners {
            // Wakes the listener, which then sees that it is over.
            drop(TcpStream::connect_timeout(address, CONNECT_BOUND));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a way is open; false if it never will be.
    fn pass(&self, from: usize, to: usize) -> bool {
        let mut state = self.lock();
        while state.cuts.contains(&(from, to)) && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_over
    }

    /// One who dialled the node at `to`. It fails as a connection does: by ending.
    fn connect(self: Arc<Self>, mut dialled: TcpStream, to: usize, back: SocketAddr) {
        let Some(greeting) = read_greeting(&mut dialled) else { return };
        let place = {
            let state = self.lock();
            let text = String::from_utf8_lossy(&greeting);
            state.places.iter().find(|(address, _)| text.contains(address.as_str())).map(|(_, place)| *place)
        };
        let Some(from) = place else { return };
        if !self.pass(from, to) || !self.pass(to, from) {
            return;
        }
        let Ok(mut behind) = TcpStream::connect_timeout(&back, CONNECT_BOUND) else { return };
        let number = {
            let mut state = self.lock();
            let of_it = state.recorded.entry(to).or_default();
            of_it.push(greeting.clone());
            of_it.len() - 1
        };
        let (Ok(from_behind), Ok(to_dialler)) = (behind.try_clone(), dialled.try_clone()) else { return };
        if behind.write_all(&greeting).is_err() {
            return;
        }
        let back_way = self.clone();
        std::thread::spawn(move || back_way.pump(from_behind, to_dialler, (to, from), None));
        self.pump(dialled, behind, (from, to), Some(number));
    }

    /// Carries bytes one way until it ends.
    fn pump(
        &self,
        mut source: TcpStream,
        mut sink: TcpStream,
        (from, to): (usize, usize),
        record: Option<usize>,
    ) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = source.read(&mut buffer) {
            if let Some(number) = record
                && let Some(kept) = self.lock().recorded.get_mut(&to).and_then(|of_it| of_it.get_mut(number))
            {
                let room = RECORDED_MAX.saturating_sub(kept.len()).min(read);
                kept.extend_from_slice(&buffer[..room]);
            }
            if !self.pass(from, to) || sink.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        if self.pass(from, to) {
            // Whichever is gone already cannot be closed again.
            source.shutdown(Shutdown::Read).ok();
            sink.shutdown(Shutdown::Write).ok();
        }
    }
}

/// The first message of the handshake: two bytes of length, then as many.
fn read_greeting(dialled: &mut TcpStream) -> Option<Vec<u8>> {
    dialled.set_read_timeout(Some(GREETING_BOUND)).ok()?;
    let mut greeting = vec![0; 2];
    dialled.read_exact(&mut greeting).ok()?;
    let length = usize::from(u16::from_le_bytes([greeting[0], greeting[1]]));
    greeting.resize(2 + length, 0);
    dialled.read_exact(&mut greeting[2..]).ok()?;
    dialled.set_read_timeout(None).ok()?;
    Some(greeting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A greeting that names the address, as the handshake does.
    fn greeting(address: &str) -> Vec<u8> {
        let length = u16::try_from(address.len()).unwrap();
        [&length.to_le_bytes()[..], address.as_bytes()].concat()
    }

    #[test]
    fn what_is_said_across_a_cut_arrives_once_it_heals_and_is_recorded() {
        let behind = TcpListener::bind("127.0.0.1:0").unwrap();
        let back = behind.local_addr().unwrap().to_string();
        let mut proxies = Proxies::default();
        let front = |place| format!("127.{}.77.{place}:25521", 64 + std::process::id() % 128);
        proxies.prepare(2, |place| (front(place), back.clone())).unwrap();
        proxies.cut(1, 2);

        let mut dialled = TcpStream::connect(front(2)).unwrap();
        dialled.write_all(&greeting(&front(1))).unwrap();
        dialled.write_all(b"late").unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut arrived, _) = behind.accept().unwrap();
            let mut said = vec![0; 2 + "127.1.77.1:25521".len()];
            arrived.read_exact(&mut said[..2]).unwrap();
            said.resize(2 + usize::from(said[0]) + 4, 0);
            arrived.read_exact(&mut said[2..]).unwrap();
            tell.send(said).unwrap();
        });
        assert!(told.recv_timeout(Duration::from_millis(100)).is_err(), "nothing crosses a cut");
        proxies.heal();
        let said = told.recv_timeout(Duration::from_secs(5)).unwrap();
        assert_eq!(said, [&greeting(&front(1))[..], b"late"].concat());
        assert_eq!(proxies.recorded(2), [said]);
    }
}
