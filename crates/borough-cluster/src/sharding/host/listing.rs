//! Which entities of a shard live, a page at a time.

use std::collections::BinaryHeap;

use borough_actor::remote::Message;
use borough_actor::{Actor, EntityId};
use tokio::sync::oneshot;

use super::hall::Hall;
use super::table::Body;
use super::turns::Turns;
use crate::sharding::listing::{ENTITY_PAGE, EntityPage};

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    /// The ids behind that one, by their bytes. Not said if nothing of the shard is here.
    ///
    /// Each page looks at every entity of the shard, as the statistics do, and keeps no more than it gives.
    pub(super) fn list(&self, number: u32, after: Option<&EntityId>, say: oneshot::Sender<EntityPage>) {
        let shard = self.shards.get((number / self.lanes) as usize).and_then(Option::as_ref);
        let Some(home) = shard.and_then(|shard| shard.home.as_ref()) else { return };
        let mut first: BinaryHeap<&EntityId> = BinaryHeap::new();
        for slot in home.table.taken() {
            let place = home.table.peek(slot);
            let is_behind = after.is_none_or(|after| place.id > *after);
            // One more than is given says whether there is another page.
            let has_room = first.len() <= ENTITY_PAGE || first.peek().is_some_and(|last| place.id < **last);
            if is_behind && has_room && !matches!(place.body, Body::Vacant) {
                first.push(&place.id);
                if first.len() > ENTITY_PAGE + 1 {
                    first.pop();
                }
            }
        }
        let is_last = first.len() <= ENTITY_PAGE;
        let ids = first.into_sorted_vec().into_iter().take(ENTITY_PAGE).cloned().collect();
        // Whoever asked may be gone.
        drop(say.send(EntityPage { epoch: home.epoch.get(), ids, is_last }));
    }
}
