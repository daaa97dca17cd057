//! A host in miniature: ids get messages, start when they are not awake, and go when the policy says so.

use borough_protocol::sharding::passivation::{Policy, Ranking};

/// How many messages of a trace found their entity awake.
pub(crate) fn hits(policy: Policy, limit: u32, trace: &[u32]) -> usize {
    let ids = trace.iter().max().map_or(0, |&id| id as usize + 1);
    let mut slot_of: Vec<Option<u32>> = vec![None; ids];
    // One more than the limit: whoever starts is there before another goes.
    let mut id_in: Vec<u32> = vec![0; limit as usize + 1];
    let mut free: Vec<u32> = (0..=limit).collect();
    let mut ranking = Ranking::new(policy, limit);
    let mut hits = 0;
    for &id in trace {
        if let Some(slot) = slot_of[id as usize] {
            hits += 1;
            ranking.on_access(slot);
            continue;
        }
        let slot = free.pop().expect("one is free whenever one starts");
        slot_of[id as usize] = Some(slot);
        id_in[slot as usize] = id;
        ranking.on_insert(slot, hash(id));
        if let Some(victim) = ranking.victim() {
            slot_of[id_in[victim as usize] as usize] = None;
            free.push(victim);
        }
    }
    hits
}

fn hash(id: u32) -> u64 {
    borough_protocol::sharding::hash::xxh3(&id.to_le_bytes())
}
