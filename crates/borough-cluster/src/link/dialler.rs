//! The node's door, as the lanes use it.

use std::future::Future;
use std::pin::Pin;

use borough_protocol::incarnation::Incarnation;
use borough_wire::handshake::Reason;

use super::{Dialler, NoWay};
use crate::door::{Connection, DialError, Door, Lane};

impl Dialler for Door {
    fn dial<'a>(
        &'a self,
        peer: &'a Incarnation,
        lane: Lane,
        session: u64,
    ) -> Pin<Box<dyn Future<Output = Result<Connection, NoWay>> + Send + 'a>> {
        Box::pin(async move {
            Self::dial(self, &peer.address, Some(peer.uid), lane, session).await.map_err(
                |error| match error {
                    // Another life listens there now, or there never was one.
                    DialError::Refused { reason: Reason::NotMe, .. } | DialError::Myself { .. } => {
                        NoWay::Gone
                    }
                    other => NoWay::Later(other.to_string()),
                },
            )
        })
    }
}
