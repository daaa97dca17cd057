//! ractor_cluster under the remote workloads of `borough-bench`: two nodes, one TCP session, the sink found through its
//! process group. Messages are laid out by its own derive, their fields encoded by postcard; tells are `cast`, asks are
//! `call!` without a timeout, and no mailbox is bounded.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;
#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/remote/mod.rs"]
mod remote;

use ractor::{Actor, ActorProcessingErr, ActorRef, BytesConvertable, RpcReplyPort, call, pg};
use ractor_cluster::{NetworkStream, NodeServer, NodeServerMessage, RactorClusterMessage};
use remote::{Item, Link, Pair, Role, Sink, Total};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

const GROUP: &str = "sinks";
const JOIN_LIMIT: Duration = Duration::from_secs(20);

#[derive(RactorClusterMessage)]
enum Msg {
    Tell(Item),
    #[rpc]
    Ask(Item, RpcReplyPort<u64>),
    #[rpc]
    Total(RpcReplyPort<Total>),
}

macro_rules! encoded_by_postcard {
    ($($message:ty),*) => {$(
        impl BytesConvertable for $message {
            fn into_bytes(self) -> Vec<u8> {
                postcard::to_stdvec(&self).expect("encodes")
            }

            fn from_bytes(bytes: Vec<u8>) -> Self {
                postcard::from_bytes(&bytes).expect("decodes")
            }
        }
    )*};
}

encoded_by_postcard!(Item, Total);

struct SinkActor;

impl Actor for SinkActor {
    type Msg = Msg;
    type State = Sink;
    type Arguments = ();

    async fn pre_start(&self, _myself: ActorRef<Msg>, _: ()) -> Result<Sink, ActorProcessingErr> {
        Ok(Sink::default())
    }

    async fn handle(
        &self,
        _myself: ActorRef<Msg>,
        msg: Msg,
        sink: &mut Sink,
    ) -> Result<(), ActorProcessingErr> {
        match msg {
            Msg::Tell(item) => sink.accept(&item),
            Msg::Ask(item, reply) => reply.send(sink.answer(&item))?,
            Msg::Total(reply) => reply.send(sink.total())?,
        }
        Ok(())
    }
}

struct RactorCluster;

impl Pair for RactorCluster {
    type Link = SinkLink;

    async fn serve() -> SocketAddr {
        let (sink, _) = Actor::spawn(None, SinkActor, ()).await.expect("a sink");
        pg::join(GROUP.to_owned(), vec![sink.get_cell()]);
        let node = node("server").await;
        // Its own listener does not tell which port it got; this one hands streams over just as that one does.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port of its own");
        let address = listener.local_addr().expect("a bound port has an address");
        tokio::spawn(async move {
            let (stream, peer_addr) = listener.accept().await.expect("the client connects");
            open(&node, stream, peer_addr, true);
        });
        address
    }

    async fn connect(server: SocketAddr) -> SinkLink {
        let node = node("client").await;
        open(&node, TcpStream::connect(server).await.expect("the server listens"), server, false);
        let found = async {
            loop {
                if let Some(sink) = pg::get_members(&GROUP.to_owned()).pop() {
                    return sink;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let sink = tokio::time::timeout(JOIN_LIMIT, found).await.expect("the sink is seen in time");
        SinkLink { sink: sink.into() }
    }
}

/// Starts a node. Its own listener takes some free port, where nobody comes.
async fn node(name: &str) -> ActorRef<NodeServerMessage> {
    let server = NodeServer::new(0, "cookie".to_owned(), name.to_owned(), "localhost".to_owned(), None, None)
        .with_listen_addr(Ipv4Addr::LOCALHOST.into());
    Actor::spawn(None, server, ()).await.expect("a node").0
}

fn open(node: &ActorRef<NodeServerMessage>, stream: TcpStream, peer_addr: SocketAddr, is_server: bool) {
    stream.set_nodelay(true).expect("a connected stream");
    let local_addr = stream.local_addr().expect("a connected stream");
    let stream = Box::new(NetworkStream::Raw { peer_addr, local_addr, stream });
    node.cast(NodeServerMessage::ConnectionOpened { stream, is_server }).expect("the node lives");
}

#[derive(Clone)]
struct SinkLink {
    sink: ActorRef<Msg>,
}

impl Link for SinkLink {
    async fn flood(&mut self, count: u64, breath: driver::Breath) {
        for seq in 0..count {
            self.sink.cast(Msg::Tell(Item::new(seq))).expect("told");
            breath.after(seq).await;
        }
    }

    async fn ask(&mut self, seq: u64) -> u64 {
        call!(self.sink, Msg::Ask, Item::new(seq)).expect("answered")
    }

    async fn ask_many(&mut self, count: u64) -> u64 {
        remote::by_tasks(self, count).await
    }

    async fn total(&mut self) -> Total {
        call!(self.sink, Msg::Total).expect("answered")
    }
}

fn main() -> ExitCode {
    remote::run::<RactorCluster>(Role::from_args(std::env::args().skip(1)))
}
