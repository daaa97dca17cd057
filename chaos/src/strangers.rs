//! Those who are no nodes of the cluster and connect all the same.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use borough_wire::codec::Codecs;
use borough_wire::handshake::{Call, Dialer, Identity, Lane, SPOKEN, Secret, missing};

/// How long a node may take to accept or to close.
const BOUND: Duration = Duration::from_secs(15);

/// Connects.
pub(crate) fn connect(to: &str) -> Result<TcpStream, String> {
    let address: SocketAddr = to.parse().map_err(|error| format!("{to}: {error}"))?;
    let until = Instant::now() + BOUND;
    loop {
        match TcpStream::connect_timeout(&address, BOUND) {
            Ok(stream) => return Ok(stream),
            // So many at once that the system has no place for one more: as a scanner, it tries again.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && Instant::now() < until => {}
            Err(error) => return Err(format!("{to}: {error}")),
        }
    }
}

/// Says these bytes, and waits until the node closes: what it said before, and how long it took.
pub(crate) fn say(to: &str, bytes: &[u8]) -> Result<(Vec<u8>, Duration), String> {
    let mut stream = connect(to)?;
    let began = Instant::now();
    // A node that has heard enough may close while this is still being said.
    stream.write_all(bytes).ok();
    let said = read_to_end(&mut stream)?;
    Ok((said, began.elapsed()))
}

/// Reads until the node closes.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> Result<Vec<u8>, String> {
    stream.set_read_timeout(Some(BOUND)).map_err(|error| error.to_string())?;
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(said),
            Ok(read) => said.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(said),
            Err(error) => return Err(format!("the node has not closed within {BOUND:?}: {error}")),
        }
    }
}

/// Greets as a node of that cluster with that secret would, and gives the error that it is refused with.
pub(crate) fn greet(to: &str, cluster: &str, secret: Option<&str>, number: u64) -> Result<String, String> {
    let secret = secret.map(Secret::new).transpose().map_err(|error| error.to_string())?;
    let ours = Identity {
        cluster: cluster.to_owned(),
        address: "127.0.0.1:9".to_owned(),
        uid: number,
        codecs: Codecs::built_in(),
        versions: SPOKEN,
    };
    let call = Call { lane: Lane::Control, session: 0, expected: None };
    let mut nonce = [0; 32];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    let mut out = Vec::new();
    let mut dialer = Dialer::new(ours, call, secret, nonce, &mut out).map_err(|error| error.to_string())?;
    let mut stream = connect(to)?;
    stream.set_read_timeout(Some(BOUND)).map_err(|error| error.to_string())?;
    loop {
        stream.write_all(&out).map_err(|error| error.to_string())?;
        out.clear();
        let message = hear(&mut stream)?;
        match dialer.step(&message, &mut out) {
            Ok(None) => {}
            Ok(Some(link)) => return Err(format!("it was let in: {link:?}")),
            Err(error) => return Ok(error.to_string()),
        }
    }
}

/// One message of the handshake.
fn hear(stream: &mut TcpStream) -> Result<Vec<u8>, String> {
    let mut message = Vec::new();
    loop {
        match missing(&message).map_err(|error| error.to_string())? {
            0 => return Ok(message),
            more => {
                let have = message.len();
                message.resize(have + more, 0);
                stream
                    .read_exact(&mut message[have..])
                    .map_err(|error| format!("closed without a word: {error}"))?;
            }
        }
    }
}

/// Bytes that nobody meant, the same each time.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}
