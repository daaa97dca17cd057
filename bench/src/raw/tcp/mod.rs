//! A bare TCP stream with postcard: what the same messages cost between two processes with no actor library at all.
//!
//! Nothing is routed, nobody is known by name, and a lost connection is the end: a floor, not a rival. What an actor
//! library cannot do without either is here: frames with a length, an encoded and a decoded message each.

mod client;
mod frames;
mod server;

use crate::remote::{Item, Pair, Total};
use client::Client;
use frames::Frames;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpStream};

/// Two processes with one stream between them.
#[derive(Debug)]
pub(super) struct Tcp;

/// What goes to the server.
#[derive(Serialize, Deserialize)]
enum Request {
    Tell(Item),
    Ask(Item),
    Total,
}

/// What comes back, in the order of the requests.
#[derive(Serialize, Deserialize)]
enum Answer {
    Seq(u64),
    Total(Total),
}

impl Pair for Tcp {
    type Link = Client;

    async fn serve() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port of its own");
        let address = listener.local_addr().expect("a bound port has an address");
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("the client connects");
            server::serve(Frames::new(stream)).await;
        });
        address
    }

    async fn connect(server: SocketAddr) -> Client {
        Client::new(Frames::new(TcpStream::connect(server).await.expect("the server listens")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Breath;
    use crate::remote::Link;

    #[test]
    fn what_is_told_and_asked_over_the_stream_arrives_in_order() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let mut client = Tcp::connect(Tcp::serve().await).await;
            // Some batches, the last one not full.
            client.flood(3001, Breath::ALONE).await;
            assert_eq!(client.total().await, Total { count: 3001, wrong: 0 });
            assert_eq!(client.ask(7).await, 7);
            assert_eq!(client.ask_many(2500).await, 2500 * 2499 / 2);
            assert_eq!(client.total().await, Total { count: 3001 + 1 + 2500, wrong: 0 });
        });
    }
}
