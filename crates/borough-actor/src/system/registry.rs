//! Who is alive in a system, who is whose child, what they are called, and who watches them.
//!
//! Promise: an id names one actor for ever. An actor that is gone has told every watcher, once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::cell::{AnyCell, interrupt};
use crate::fault::Fault;
use crate::id::ActorId;
use crate::path;
use crate::sync::{Mutex, lock};
use crate::watch::{StopReason, Terminated, WatchId, Watcher};

#[derive(Default)]
pub(crate) struct Registry {
    places: Mutex<Places>,
    /// Entities whose turn awaits something, and their paths: they have no place here.
    awaiting: Mutex<HashMap<ActorId, String>>,
    emptied: Notify,
}

#[derive(Default)]
struct Places {
    residents: Vec<Option<Resident>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    names: HashMap<Arc<str>, ActorId>,
    alive: usize,
    closed: bool,
}

struct Resident {
    cell: Arc<dyn AnyCell>,
    /// What most actors never need.
    bonds: Option<Box<Bonds>>,
}

/// What ties an actor to others.
#[derive(Default)]
struct Bonds {
    parent: Option<ActorId>,
    name: Option<Arc<str>>,
    children: BTreeSet<ActorId>,
    /// In the order they came.
    watchers: BTreeMap<WatchId, Watcher>,
    escalated: Vec<Fault>,
    /// Set while the actor waits for its children to be gone.
    awaits_children: bool,
}

/// Why an actor could not be taken in.
#[derive(Debug)]
pub(crate) enum Rejected {
    Closed,
    NameTaken(String),
}

impl Registry {
    /// Takes an actor in: names it, ties it to its parent, and has `make` build it.
    pub(crate) fn enrol<C: AnyCell + 'static>(
        &self,
        parent: Option<ActorId>,
        name: Option<&str>,
        make: impl FnOnce(ActorId, Option<Arc<str>>) -> C,
    ) -> Result<Arc<C>, Rejected> {
        let mut places = lock(&self.places);
        if places.closed || parent.is_some_and(|parent| !places.takes_children(parent)) {
            return Err(Rejected::Closed);
        }
        let id = places.vacant();
        let path: Option<Arc<str>> = match (parent, name) {
            (None, None) => None,
            (parent, name) => Some(path::child(&places.path_of_parent(parent), id, name).into()),
        };
        if let (Some(path), Some(_)) = (&path, name)
            && places.names.contains_key(path)
        {
            places.free.push(id.place);
            return Err(Rejected::NameTaken(path.to_string()));
        }
        let cell = Arc::new(make(id, path.clone()));
        let named = path.filter(|_| name.is_some());
        if let Some(name) = &named {
            places.names.insert(name.clone(), id);
        }
        let bonds = (parent.is_some() || named.is_some())
            .then(|| Box::new(Bonds { parent, name: named, ..Bonds::default() }));
        places.residents[id.place as usize] = Some(Resident { cell: cell.clone(), bonds });
        places.alive += 1;
        if let Some(parent) = parent.and_then(|parent| places.bonds(parent)) {
            parent.children.insert(id);
        }
        Ok(cell)
    }

    /// The actor is gone: frees its place, lets its parent go on, tells its watchers.
    pub(crate) fn dismiss(&self, id: ActorId, path: &str, reason: StopReason) {
        let mut places = lock(&self.places);
        let Some(resident) = places.remove(id) else { return };
        let mut orphans = Vec::new();
        let mut waiting_parent = None;
        // Taken whole, and dropped without the lock: faults and watchers are the user's.
        let mut bonds = resident.bonds.unwrap_or_default();
        if let Some(name) = &bonds.name {
            places.names.remove(name);
        }
        orphans.extend(bonds.children.iter().filter_map(|child| places.cell(*child)));
        if let Some(parent) = bonds.parent {
            waiting_parent = places.child_gone(parent, id);
        }
        let empty = places.alive == 0;
        drop(places);
        if empty {
            self.emptied.notify_waiters();
        }
        // Left only if the actor ended without its own farewell; they must not outlive it.
        let farewell = if reason == StopReason::Killed { interrupt::KILL } else { interrupt::PARENT_STOPS };
        for orphan in orphans {
            orphan.interrupt(farewell);
        }
        for watcher in std::mem::take(&mut bonds.watchers).into_values() {
            watcher(Terminated { id, path: path.to_owned(), reason: Some(reason) });
        }
        if let Some(parent) = waiting_parent {
            parent.interrupt(interrupt::CHILDLESS);
        }
    }

    pub(crate) fn is_alive(&self, id: ActorId) -> bool {
        lock(&self.places).resident(id).is_some()
    }

    /// Whether the actor is in a turn that awaits something.
    pub(crate) fn is_awaiting(&self, id: ActorId) -> bool {
        let cell = lock(&self.places).cell(id);
        cell.map_or_else(|| lock(&self.awaiting).contains_key(&id), |cell| cell.is_awaiting())
    }

    pub(crate) fn path(&self, id: ActorId) -> String {
        let cell = lock(&self.places).cell(id);
        let awaiting = || lock(&self.awaiting).get(&id).cloned();
        let path = cell.map(|cell| cell.path()).or_else(awaiting);
        path.unwrap_or_else(|| path::nameless(id))
    }

    pub(crate) fn note_awaiting(&self, entity: ActorId, path: String) {
        lock(&self.awaiting).insert(entity, path);
    }

    pub(crate) fn forget_awaiting(&self, entity: ActorId) {
        lock(&self.awaiting).remove(&entity);
    }

    pub(crate) fn find(&self, path: &str) -> Option<Arc<dyn AnyCell>> {
        let places = lock(&self.places);
        places.names.get(path).and_then(|id| places.cell(*id))
    }

    pub(crate) fn interrupt(&self, id: ActorId, bits: u8) {
        let cell = lock(&self.places).cell(id);
        if let Some(cell) = cell {
            cell.interrupt(bits);
        }
    }

    pub(crate) fn next_watch_id() -> WatchId {
        // One count for all systems: an actor may watch actors of several.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        WatchId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Has `watcher` told when the actor is gone; gives it back if it is.
    pub(crate) fn watch(&self, id: ActorId, watch: WatchId, watcher: Watcher) -> Option<Watcher> {
        match lock(&self.places).bonds(id) {
            Some(bonds) => {
                bonds.watchers.insert(watch, watcher);
                None
            }
            None => Some(watcher),
        }
    }

    pub(crate) fn unwatch(&self, id: ActorId, watch: WatchId) {
        let mut places = lock(&self.places);
        let Some(bonds) = places.resident(id).and_then(|resident| resident.bonds.as_mut()) else { return };
        let ended = bonds.watchers.remove(&watch);
        drop(places);
        drop(ended);
    }

    /// Interrupts every child. Gives `true` if there is none; otherwise [`interrupt::CHILDLESS`] follows.
    pub(crate) fn dismiss_children(&self, id: ActorId, bits: u8) -> bool {
        let mut places = lock(&self.places);
        let Some(bonds) = places.resident(id).and_then(|resident| resident.bonds.as_mut()) else {
            return true;
        };
        if bonds.children.is_empty() {
            return true;
        }
        bonds.awaits_children = true;
        let children: Vec<_> = bonds.children.iter().copied().collect();
        let cells: Vec<_> = children.into_iter().filter_map(|child| places.cell(child)).collect();
        drop(places);
        for cell in cells {
            cell.interrupt(bits);
        }
        false
    }

    pub(crate) fn children(&self, id: ActorId) -> usize {
        lock(&self.places)
            .resident(id)
            .and_then(|resident| resident.bonds.as_ref())
            .map_or(0, |bonds| bonds.children.len())
    }

    /// Hands a child's fault to its parent; gives it back if there is none.
    pub(crate) fn escalate(&self, child: ActorId, fault: Fault) -> Result<(), Fault> {
        let mut places = lock(&self.places);
        let parent = places.resident(child).and_then(|child| child.bonds.as_ref()?.parent);
        let Some(resident) = parent.and_then(|parent| places.resident(parent)) else { return Err(fault) };
        resident.bonds.get_or_insert_default().escalated.push(fault);
        let cell = resident.cell.clone();
        drop(places);
        cell.interrupt(interrupt::ESCALATED);
        Ok(())
    }

    /// The oldest fault a child has handed up, and whether there are more.
    pub(crate) fn next_escalated(&self, id: ActorId) -> (Option<Fault>, bool) {
        let mut places = lock(&self.places);
        let Some(bonds) = places.resident(id).and_then(|resident| resident.bonds.as_mut()) else {
            return (None, false);
        };
        let fault = (!bonds.escalated.is_empty()).then(|| bonds.escalated.remove(0));
        (fault, !bonds.escalated.is_empty())
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.places).alive
    }

    /// Lets nobody in any more.
    pub(crate) fn close(&self) {
        lock(&self.places).closed = true;
    }

    /// Interrupts those at the top of the tree; they see to their children.
    pub(crate) fn interrupt_roots(&self, bits: u8) {
        self.interrupt_where(bits, |resident| {
            resident.bonds.as_ref().is_none_or(|bonds| bonds.parent.is_none())
        });
    }

    pub(crate) fn interrupt_all(&self, bits: u8) {
        self.interrupt_where(bits, |_| true);
    }

    fn interrupt_where(&self, bits: u8, which: impl Fn(&Resident) -> bool) {
        let cells: Vec<_> = {
            let places = lock(&self.places);
            places
                .residents
                .iter()
                .flatten()
                .filter(|resident| which(resident))
                .map(|resident| resident.cell.clone())
                .collect()
        };
        for cell in cells {
            cell.interrupt(bits);
        }
    }

    /// The paths of those alive, `at_most` of them.
    pub(crate) fn paths(&self, at_most: usize) -> Vec<String> {
        let cells: Vec<_> = {
            let places = lock(&self.places);
            places.residents.iter().flatten().take(at_most).map(|resident| resident.cell.clone()).collect()
        };
        cells.iter().map(|cell| cell.path()).collect()
    }

    /// Waits until nobody is alive.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }
}

impl Places {
    fn vacant(&mut self) -> ActorId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.residents.push(None);
            self.generations.push(0);
            u32::try_from(self.generations.len() - 1).expect("fewer than 2^32 actors fit into memory")
        });
        ActorId { place, generation: self.generations[place as usize] }
    }

    fn resident(&mut self, id: ActorId) -> Option<&mut Resident> {
        let current = self.generations.get(id.place as usize) == Some(&id.generation);
        self.residents.get_mut(id.place as usize)?.as_mut().filter(|_| current)
    }

    /// Whether the actor lives and does not wait for its children to be gone.
    fn takes_children(&mut self, id: ActorId) -> bool {
        self.resident(id)
            .is_some_and(|resident| resident.bonds.as_ref().is_none_or(|bonds| !bonds.awaits_children))
    }

    fn bonds(&mut self, id: ActorId) -> Option<&mut Bonds> {
        self.resident(id).map(|resident| &mut **resident.bonds.get_or_insert_default())
    }

    fn cell(&self, id: ActorId) -> Option<Arc<dyn AnyCell>> {
        let current = self.generations.get(id.place as usize) == Some(&id.generation);
        self.residents
            .get(id.place as usize)?
            .as_ref()
            .filter(|_| current)
            .map(|resident| resident.cell.clone())
    }

    fn remove(&mut self, id: ActorId) -> Option<Resident> {
        self.resident(id)?;
        let resident = self.residents[id.place as usize].take();
        // A place whose numbers are used up is not used again: an id names one actor for ever.
        if let Some(next) = id.generation.checked_add(1) {
            self.generations[id.place as usize] = next;
            self.free.push(id.place);
        }
        self.alive -= 1;
        resident
    }

    /// Takes a child from its parent; gives the parent if it was waiting for that.
    fn child_gone(&mut self, parent: ActorId, child: ActorId) -> Option<Arc<dyn AnyCell>> {
        let resident = self.resident(parent)?;
        let bonds = resident.bonds.as_mut()?;
        bonds.children.remove(&child);
        let done = bonds.awaits_children && bonds.children.is_empty();
        if done {
            bonds.awaits_children = false;
        }
        done.then(|| resident.cell.clone())
    }

    fn path_of_parent(&self, parent: Option<ActorId>) -> String {
        parent.and_then(|parent| self.cell(parent)).map_or_else(String::new, |cell| cell.path())
    }
}
