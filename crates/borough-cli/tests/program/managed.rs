//! A node of this process with a management, for the program to ask.
//!
//! Tests that start one run on several threads: they wait for the program on their own while the management answers on another.

use std::time::Duration;

use borough::Tls;
use borough::prelude::*;
use borough_management::Management;

/// Ends when it is dropped.
pub(crate) struct Managed {
    pub(crate) node: Node,
    management: Management,
}

impl Managed {
    /// Asked by whoever reaches it. Ready once it is a member of its own cluster.
    pub(crate) async fn start(name: &str) -> Self {
        Self::with(name, None, None).await
    }

    /// The same, as a member of the other's cluster.
    pub(crate) async fn beside(name: &str, other: &Self) -> Self {
        Self::with(name, None, Some(other)).await
    }

    /// Asked by who shows a certificate of the authority.
    pub(crate) async fn secured(name: &str, tls: Tls) -> Self {
        Self::with(name, Some(tls), None).await
    }

    async fn with(name: &str, tls: Option<Tls>, other: Option<&Self>) -> Self {
        let seed = other.map(|other| other.node.address().to_string());
        let node = Node::builder("managed").listen("127.0.0.1:0").node_id(name).seeds(seed);
        let node = node.start().await.unwrap();
        let members = 1 + usize::from(other.is_some());
        tokio::time::timeout(Duration::from_secs(60), node.wait_for(members)).await.unwrap().unwrap();
        let mut management = Management::builder(&node).listen("127.0.0.1:0");
        if let Some(tls) = tls {
            management = management.tls(tls);
        }
        let management = management.start().await.unwrap();
        Self { node, management }
    }

    pub(crate) fn address(&self) -> String {
        self.management.address().to_string()
    }
}
