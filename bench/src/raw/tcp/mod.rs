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
