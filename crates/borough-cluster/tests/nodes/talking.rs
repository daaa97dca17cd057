//! Actors of two nodes talk over real sockets, with TLS, and with each codec.

use borough_actor::{Actor, ActorRef, Context, Fault, Reply};
use borough_cluster::{CodecId, Node, NodeBuilder, Secret, Tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde::{Deserialize, Serialize};

use crate::rig::within;

#[derive(Serialize, Deserialize)]
enum Pour {
    Bytes(Vec<u8>, Reply<usize>),
    /// Asks whoever that is how much it has.
    Other {
        of: ActorRef<Pour>,
        reply: Reply<u64>,
    },
    Total(Reply<u64>),
}

#[derive(Default)]
struct Sink {
    poured: u64,
}

impl Actor for Sink {
    type Msg = Pour;

    async fn receive(&mut self, pour: Pour, _: &mut Context<Self>) -> Result<(), Fault> {
        match pour {
            Pour::Bytes(bytes, reply) => {
                self.poured += bytes.len() as u64;
                reply.send(bytes.len());
            }
            Pour::Other { of, reply } => {
                of.tell(Pour::Total(reply)).await.map_err(|error| Fault::new(error.to_string()))?;
            }
            Pour::Total(reply) => reply.send(self.poured),
        }
        Ok(())
    }
}

/// Two nodes set up so; with each a sink of its own, and the second's ref to the first's.
async fn two(set: impl Fn(NodeBuilder) -> NodeBuilder) -> (Node, Node, ActorRef<Pour>, ActorRef<Pour>) {
    let first = set(Node::builder("test").listen("127.0.0.1:0").node_id("first")).start().await.unwrap();
    let second = set(Node::builder("test").listen("127.0.0.1:0").seed(first.address().as_str()));
    let second = second.start().await.unwrap();
    let sink = first.actor(Sink::default).name("sink").spawn().unwrap();
    first.expose(&sink).unwrap();
    within(second.wait_for(2)).await.unwrap();
    let sink = within(second.lookup::<Pour>("/sink").on("first")).await.unwrap();
    let own = second.spawn(Sink::default);
    (first, second, sink, own)
}

#[tokio::test]
async fn large_messages_travel_with_tls_and_a_secret() {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let secured = |builder: NodeBuilder| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap().pem();
        let secret = Secret::new(b"sixteen bytes or more").unwrap();
        builder.tls(Tls::from_pem(authority.pem(), certificate, key.serialize_pem())).secret(secret)
    };
    let (_first, _second, sink, _own) = two(secured).await;
    for size in [0, 70_000, 1_000_000, 8_000_000] {
        let poured = within(sink.ask(|reply| Pour::Bytes(vec![7; size], reply))).await.unwrap();
        assert_eq!(poured, size);
    }
}

/// Messages, refs and replies travel so, there and back.
async fn speaks(codec: CodecId) {
    let (_first, _second, sink, own) = two(|builder| builder.codec(codec)).await;
    assert_eq!(within(sink.ask(|reply| Pour::Bytes(vec![7; 300_000], reply))).await.unwrap(), 300_000);
    assert_eq!(within(own.ask(|reply| Pour::Bytes(vec![7; 5], reply))).await.unwrap(), 5);
    let of_own = within(sink.ask(|reply| Pour::Other { of: own.clone(), reply })).await.unwrap();
    assert_eq!(of_own, 5);
    assert_eq!(within(sink.ask(Pour::Total)).await.unwrap(), 300_000);
}

#[tokio::test]
async fn nodes_speak_postcard() {
    speaks(CodecId::Postcard).await;
}

#[cfg(feature = "message-pack")]
#[tokio::test]
async fn nodes_speak_message_pack() {
    speaks(CodecId::MessagePack).await;
}

#[cfg(feature = "json")]
#[tokio::test]
async fn nodes_speak_json() {
    speaks(CodecId::Json).await;
}

#[cfg(not(feature = "json"))]
#[tokio::test]
async fn a_codec_that_is_not_built_in_is_refused_at_the_start() {
    let refused = Node::builder("test").listen("127.0.0.1:0").codec(CodecId::Json).start().await.unwrap_err();
    assert!(refused.to_string().contains("JSON is not built in"), "{refused}");
}
