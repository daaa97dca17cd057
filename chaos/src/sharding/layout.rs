//! What lives where, and whether that is balanced.

use std::collections::{BTreeMap, BTreeSet};

use crate::words::ShardsOf;

/// How many shards each type has.
pub(super) const SHARDS: u32 = 256;

/// Each shard's node and epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout(BTreeMap<u32, (String, u64)>);

impl Layout {
    /// The layout, if every shard lives on exactly one of these nodes, and each of them has about as many.
    pub(super) fn balanced(nodes: &[ShardsOf], hosts: &BTreeSet<String>) -> Result<Self, String> {
        let mut layout = BTreeMap::new();
        if let Some(missing) = nodes.iter().find(|node| node.missing.is_some()) {
            return Err(format!("{} does not say what lives there: {:?}", missing.node, missing.missing));
        }
        let hosting: BTreeSet<String> =
            nodes.iter().filter(|node| node.hosts).map(|node| node.node.clone()).collect();
        if hosting != *hosts {
            return Err(format!("{hosting:?} host entities and {hosts:?} should"));
        }
        for node in nodes {
            for &(shard, epoch) in &node.shards {
                if let Some((other, _)) = layout.insert(shard, (node.node.clone(), epoch)) {
                    return Err(format!("shard {shard} is on {other} and on {}", node.node));
                }
            }
        }
        let counts: Vec<_> = nodes
            .iter()
            .filter(|node| node.hosts)
            .map(|node| (node.node.as_str(), node.shards.len()))
            .collect();
        if layout.len() != SHARDS as usize {
            return Err(format!("{} of {SHARDS} shards live somewhere: {counts:?}", layout.len()));
        }
        let (most, fewest) =
            (counts.iter().map(|(_, count)| count).max(), counts.iter().map(|(_, count)| count).min());
        if most.zip(fewest).is_none_or(|(most, fewest)| most - fewest > 1) {
            return Err(format!("the shards are not balanced: {counts:?}"));
        }
        Ok(Self(layout))
    }

    /// How many shards live on another node than before, at whatever epoch.
    pub(super) fn elsewhere_than(&self, before: &Self) -> usize {
        let node = |layout: &Self, shard: u32| layout.0.get(&shard).map(|(node, _)| node.clone());
        (0..SHARDS).filter(|shard| node(self, *shard) != node(before, *shard)).count()
    }

    /// How many shards moved, if all that did moved to that node.
    pub(super) fn moved_only_to(&self, newcomer: &str, before: &Self) -> Result<usize, String> {
        let mut moved = 0;
        for (shard, (node, epoch)) in &self.0 {
            let was = before.0.get(shard);
            if was == Some(&(node.clone(), *epoch)) {
                continue;
            }
            if node != newcomer {
                return Err(format!("shard {shard} was {was:?} and is on {node} at {epoch}"));
            }
            moved += 1;
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, shards: impl IntoIterator<Item = u32>) -> ShardsOf {
        let shards = shards.into_iter().map(|shard| (shard, 1)).collect();
        ShardsOf { node: name.to_owned(), hosts: true, shards, ..ShardsOf::default() }
    }

    fn hosts(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_layout_has_every_shard_once_and_nobody_has_many_more_than_others() {
        let both = hosts(&["a", "b"]);
        assert!(Layout::balanced(&[node("a", 0..128), node("b", 128..256)], &both).is_ok());
        assert!(Layout::balanced(&[node("a", 0..128), node("b", 128..255)], &both).is_err());
        assert!(Layout::balanced(&[node("a", 0..129), node("b", 128..256)], &both).is_err());
        assert!(Layout::balanced(&[node("a", 0..130), node("b", 130..256)], &both).is_err());
        assert!(Layout::balanced(&[node("a", 0..256)], &both).is_err());
        let silent = ShardsOf { missing: Some("gone".to_owned()), ..ShardsOf::default() };
        assert!(Layout::balanced(&[node("a", 0..128), node("b", 128..256), silent], &both).is_err());
    }

    #[test]
    fn a_move_to_anybody_else_is_needless() {
        let before =
            Layout::balanced(&[node("a", 0..128), node("b", 128..256)], &hosts(&["a", "b"])).unwrap();
        let after = [node("a", 0..85), node("b", 128..213), node("c", (85..128).chain(213..256))];
        let after = Layout::balanced(&after, &hosts(&["a", "b", "c"])).unwrap();
        assert_eq!(after.moved_only_to("c", &before), Ok(86));
        assert_eq!((after.elsewhere_than(&before), before.elsewhere_than(&before)), (86, 0));
        assert!(after.moved_only_to("b", &before).is_err());
    }
}
