//! Who comes in: control connections stay here, the others go to the links.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use borough_protocol::incarnation::Uid;
use tokio::task::AbortHandle;

use super::addresses::Addresses;
use super::dial::Use;
use super::inbound::Ear;
use crate::door::{Admission, Connection, Doorman, Guest, Lane, NotAdmitted};
use crate::link::Hub;

/// The doorman of a node.
///
/// One who was removed may still speak on the control lane: only so does it learn that it was. What it says counts for nothing there, which
/// is the machine's to see to. Its data lanes are closed to it.
pub(super) struct Gate {
    pub(super) hub: Arc<Hub>,
    pub(super) ear: Ear,
    pub(super) addresses: Arc<Mutex<Addresses>>,
    pub(super) guests: Arc<Guests>,
}

/// The control connections by which others speak to this node: one of each use a peer, the newest.
#[derive(Debug, Default)]
pub(super) struct Guests {
    here: Mutex<BTreeMap<(Uid, u64), (u64, AbortHandle)>>,
    entered: AtomicU64,
}

impl Guests {
    /// Closes them all.
    pub(super) fn send_away(&self) {
        let all = std::mem::take(&mut *self.here.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, task) in all.into_values() {
            task.abort();
        }
    }

    fn leave(&self, key: (Uid, u64), number: u64) {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        if here.get(&key).is_some_and(|(newest, _)| *newest == number) {
            here.remove(&key);
        }
    }
}

impl Doorman for Gate {
    fn admit(&self, guest: &Guest) -> Result<Admission, NotAdmitted> {
        match guest.lane {
            Lane::Control if Use::SESSIONS.contains(&guest.session) => Ok(Admission::default()),
            Lane::Control => Err(NotAdmitted::TooMany),
            Lane::Messages | Lane::Answers => self.hub.admit(guest),
        }
    }

    fn enter(&self, connection: Connection) {
        if connection.lane != Lane::Control {
            return self.hub.enter(connection);
        }
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).meet(&connection.peer);
        let key = (connection.peer.uid, connection.session);
        let number = self.guests.entered.fetch_add(1, Ordering::Relaxed);
        let (ear, guests) = (self.ear.clone(), self.guests.clone());
        // The lock is held until the task is entered, so that it cannot leave before.
        let mut here = self.guests.here.lock().unwrap_or_else(PoisonError::into_inner);
        let task = tokio::spawn(async move {
            ear.listen(connection).await;
            guests.leave(key, number);
        });
        if let Some((_, older)) = here.insert(key, (number, task.abort_handle())) {
            older.abort();
        }
    }
}
