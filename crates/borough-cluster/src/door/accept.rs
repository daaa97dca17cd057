//! One who came to the door: from its first byte until it is in or gone.
//!
//! Promise: it is over within the time of a handshake, whatever the other side does; it ends in exactly one of "entered" and
//! one more refusal that is counted.
//!
//! ```text
//! secure --> hello --> challenge --> proof --> certified --> admitted --> seated --> accepted --> entered
//! ```

use std::io;
use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_wire::handshake::Refusal as Words;
use borough_wire::handshake::{Acceptor, HandshakeError, Proven, Reason};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::refusals::Refusal;
use super::seat::Seated;
use super::words::{Broken, hear, incarnation, say};
use super::{Admission, Connection, Door, Doorman, Guest, NotAdmitted};
use crate::transport::Stream;

/// One who is not let in, with what is worth knowing about it.
struct Turned {
    why: Refusal,
    detail: String,
}

impl Turned {
    fn new(why: Refusal) -> Self {
        Self { why, detail: String::new() }
    }
}

impl Door {
    /// Lets one who connected in, or does not.
    pub(super) async fn receive(
        self: Arc<Self>,
        stream: Box<dyn Stream>,
        from: String,
        doorman: Arc<dyn Doorman>,
    ) {
        let mut was_heard = false;
        let welcome = self.welcome(stream, &mut was_heard, &*doorman);
        match timeout(self.limits.handshake_time, welcome).await {
            Ok(Ok(connection)) => doorman.enter(connection),
            Ok(Err(turned)) => self.refusals.add(turned.why, &from, &turned.detail),
            Err(_) if was_heard => self.refusals.add(Refusal::TimedOut, &from, ""),
            Err(_) => self.refusals.add(Refusal::Silent, &from, ""),
        }
    }

    async fn welcome(
        &self,
        stream: Box<dyn Stream>,
        was_heard: &mut bool,
        doorman: &dyn Doorman,
    ) -> Result<Connection, Turned> {
        let mut stream = self.transport.secure(stream).await.map_err(|error| turned_by_io(&error))?;
        let mut out = Vec::new();
        let life = self.myself.uid();
        let outcome = self.listen_to(&mut stream, was_heard, &mut out).await;
        let proven = match outcome {
            Ok(proven) => proven,
            Err(broken) => {
                let turned = turned_by(&broken);
                // What was wrong is told to those who may understand it; whether they hear it is their affair.
                drop(say(&mut stream, &mut out).await);
                return Err(turned);
            }
        };
        match self.admit(life, &proven, &*stream, doorman) {
            Ok((guest, Admission { resume, ticket }, seat)) => {
                let peer = proven.accept(resume, self.limits.sizes(), &mut out);
                say(&mut stream, &mut out).await.map_err(|error| turned_by_io(&error))?;
                let sizes = self.limits.sizes();
                Ok(Connection {
                    peer: guest.who,
                    lane: guest.lane,
                    session: guest.session,
                    resume,
                    ticket,
                    frame_max: bounded(sizes.frame_max),
                    message_max: bounded(sizes.message_max),
                    codecs: peer.codecs.mask(),
                    stream: Box::new(Seated { stream, _seat: seat }),
                })
            }
            Err((turned, words)) => {
                words.put(&mut out);
                drop(say(&mut stream, &mut out).await);
                Err(turned)
            }
        }
    }

    /// Goes through the handshake. What is left in `out` after an error is to be said before closing.
    async fn listen_to(
        &self,
        stream: &mut Box<dyn Stream>,
        was_heard: &mut bool,
        out: &mut Vec<u8>,
    ) -> Result<Proven, Broken> {
        let mut acceptor = Acceptor::new(self.identity(), self.secret.clone(), self.chance.nonce())?;
        loop {
            let message = hear(stream, was_heard).await?;
            if let Some(proven) = acceptor.step(&message, out)? {
                return Ok(proven);
            }
            say(stream, out).await?;
        }
    }

    /// Everything that is asked of one who proved itself, to that life of this node.
    fn admit(
        &self,
        life: Uid,
        proven: &Proven,
        stream: &dyn Stream,
        doorman: &dyn Doorman,
    ) -> Result<(Guest, Admission, OwnedSemaphorePermit), (Turned, Words)> {
        if self.myself.uid() != life {
            // Another life began while they spoke: what is meant for one must not reach the other.
            return Err((Turned::new(Refusal::NotMe), Reason::NotMe.into()));
        }
        let peer = proven.peer();
        let Some(who) = incarnation(&peer.address, peer.uid) else {
            let detail = "no node can be called so".to_owned();
            return Err((Turned { why: Refusal::Malformed, detail }, Reason::Malformed.into()));
        };
        if stream.vouches_for(&who.address) == Some(false) {
            let detail = format!("it says that it is at {}", who.address.as_str().escape_debug());
            let words = Words {
                reason: Reason::NotAuthenticated,
                what: "the dialer's certificate is not valid for the address that it advertises".to_owned(),
                remedy: "issue it for that host, or advertise the host that it is for".to_owned(),
            };
            return Err((Turned { why: Refusal::AddressNotCertified, detail }, words));
        }
        let Ok(seat) = self.seats.clone().try_acquire_owned() else {
            return Err((Turned::new(Refusal::TooMany), Reason::TooMany.into()));
        };
        let guest = Guest { who, lane: peer.lane, session: peer.session };
        match doorman.admit(&guest) {
            Ok(admission) => Ok((guest, admission, seat)),
            Err(NotAdmitted::Removed) => Err((Turned::new(Refusal::Removed), Reason::Removed.into())),
            Err(NotAdmitted::TooMany) => Err((Turned::new(Refusal::TooMany), Reason::TooMany.into())),
        }
    }
}

/// A size as the wire has it; the checked limits are far below.
fn bounded(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn turned_by(broken: &Broken) -> Turned {
    let error = match broken {
        Broken::Io(error) => return turned_by_io(error),
        Broken::Handshake(error) => error,
    };
    let why = match error {
        HandshakeError::NotBorough { .. } => Refusal::NotBorough,
        HandshakeError::Versions { .. } => Refusal::Versions,
        HandshakeError::OtherCluster { .. } => Refusal::OtherCluster,
        HandshakeError::NotMe { .. } => Refusal::NotMe,
        HandshakeError::NotAuthenticated => Refusal::NotAuthenticated,
        HandshakeError::Myself => Refusal::Myself,
        _ => Refusal::Malformed,
    };
    Turned { why, detail: error.to_string() }
}

fn turned_by_io(error: &io::Error) -> Turned {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => Refusal::NotCertified,
        io::ErrorKind::InvalidData => Refusal::NotBorough,
        _ => Refusal::ClosedEarly,
    };
    Turned { why, detail: error.to_string() }
}
