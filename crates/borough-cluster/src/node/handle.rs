//! A node, for those who do not own it.

use std::fmt;
use std::ops::Deref;

use super::Node;

/// A way to a [`Node`] that does not keep it running; cheap to clone, and it can do all that the node can.
///
/// The node ends when its owner drops it, whoever has handles: they find it stopped from then on.
pub struct NodeHandle {
    node: Node,
}

impl NodeHandle {
    pub(super) fn new(node: &Node) -> Self {
        let (system, shared, ledger) = (node.system.clone(), node.shared.clone(), node.ledger.clone());
        Self { node: Node { system, owned: None, shared, ledger } }
    }
}

impl Deref for NodeHandle {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Clone for NodeHandle {
    fn clone(&self) -> Self {
        Self::new(&self.node)
    }
}

impl fmt::Debug for NodeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.node, f)
    }
}
