//! The driver with a machine of toys, and each end of a control connection with a peer that behaves as it should not.

mod driver;
mod inbound;
mod outbound;

use borough_protocol::incarnation::{Address, Incarnation, Uid};

use crate::door::{Connection, Lane};
use crate::transport::memory::MemoryNetwork;
use crate::transport::{Stream, Transport};

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

/// Both ends of a connection from one to the other.
async fn connect(network: &MemoryNetwork, from: u64, to: &str) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let to = Address::new(to);
    let mut listener = network.transport(to.clone()).bind(&to).await.unwrap();
    let transport = network.transport(Address::new(format!("peer:{from}")));
    let (near, far) = tokio::join!(transport.dial(&to), listener.accept());
    (near.unwrap(), far.unwrap().0)
}

/// A connection of the control lane with that peer at the other end.
fn connection(peer: u64, stream: Box<dyn Stream>) -> Connection {
    Connection {
        peer: Incarnation { address: Address::new(format!("peer:{peer}")), uid: uid(peer) },
        lane: Lane::Control,
        session: 0,
        resume: 0,
        ticket: 0,
        frame_max: 256 * 1024,
        message_max: 8 * 1024 * 1024,
        codecs: 1,
        stream,
    }
}
