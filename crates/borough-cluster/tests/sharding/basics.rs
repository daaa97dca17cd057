//! Entities are made by their first message, and found from everywhere.

use borough_cluster::{EntityId, EntityMessage, Envelope, IntoEntityId, Node};

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, within};

#[tokio::test(start_paused = true)]
async fn an_entity_is_made_by_its_first_message_and_keeps_what_it_was_told() {
    let [node] = Rig::new(1).cluster(["a:1"]).await;
    let books = books(&node).await;
    within(books.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    within(books.tell("x", Book::Note { sender: 1, number: 2 })).await.unwrap();
    let pages = within(books.ask("x", Book::Read)).await.unwrap();
    assert_eq!(pages.notes[&1], (2, 2));
    let others = within(books.ask("y", Book::Read)).await.unwrap();
    assert!(others.notes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn every_node_reaches_every_entity_and_all_speak_to_the_same() {
    let nodes = Rig::new(2).cluster(["a:1", "b:1", "c:1"]).await;
    let mut regions = Vec::new();
    for node in &nodes {
        regions.push(books(node).await);
    }
    for id in 0..60_u64 {
        for (sender, region) in (0..).zip(&regions) {
            let written = region.ask(id.to_string(), |reply| Book::Sign { sender, number: 1, reply });
            assert_eq!(within(written).await.unwrap(), 1);
        }
        let pages = within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        assert_eq!(pages.notes.len(), 3, "of {id}");
    }
    let stats = within(nodes[0].sharding_stats()).await;
    let entities: Vec<usize> =
        stats.iter().map(|(_, stats)| stats.as_ref().unwrap().kinds[0].entities()).collect();
    assert_eq!(entities.iter().sum::<usize>(), 60);
    assert!(entities.iter().all(|entities| *entities > 0), "{entities:?}");
}

#[tokio::test(start_paused = true)]
async fn a_proxy_hosts_nothing_and_reaches_everything() {
    let [host, front] = Rig::new(3).cluster(["a:1", "b:1"]).await;
    books(&host).await;
    let proxy = front.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    for id in 0..20_u64 {
        within(proxy.tell(id.to_string(), Book::Note { sender: 1, number: 1 })).await.unwrap();
        assert_eq!(within(proxy.ask(id.to_string(), Book::Read)).await.unwrap().notes[&1], (1, 1));
    }
    assert_eq!(front.sharding_stats_here().await.kinds[0].entities(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_type_that_is_started_as_a_proxy_is_not_hosted_there() {
    let nodes = Rig::new(9).cluster(["a:1", "b:1"]).await;
    let start = |node: &Node| node.shard("books", |_| Writer::default()).shards(16).migrate_state();
    let front = start(&nodes[0]).eager(["x"]).proxy().start().await.unwrap();
    start(&nodes[1]).start().await.unwrap();
    for id in 0..20_u64 {
        within(front.tell(id.to_string(), Book::Note { sender: 1, number: 1 })).await.unwrap();
        assert_eq!(within(front.ask(id.to_string(), Book::Read)).await.unwrap().notes[&1], (1, 1));
    }
    let stats = front.state().await;
    assert_eq!((stats.hosts, stats.entities()), (false, 0));
    let hosts: Vec<_> = nodes[0].shard_maps()[0].hosts.iter().map(|(_, uid)| *uid).collect();
    assert_eq!(hosts, [nodes[1].uid()]);
}

#[tokio::test(start_paused = true)]
async fn several_types_live_side_by_side() {
    let [node] = Rig::new(4).cluster(["a:1"]).await;
    let books = books(&node).await;
    let diaries =
        node.shard("diaries", |_| Writer::default()).shards(4).migrate_state().start().await.unwrap();
    within(books.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    assert!(within(diaries.ask("x", Book::Read)).await.unwrap().notes.is_empty());
    assert!(node.is_ready_for(&["books", "diaries"]) && !node.is_ready_for(&["letters"]));
}

/// A message that carries its id, and one that has none.
enum Post {
    To(String, Book),
    Nobody,
}

impl EntityMessage for Post {
    type Inner = Book;

    fn route(self) -> Result<(EntityId, Book), Self> {
        match self {
            Self::To(id, book) => match id.as_str().into_entity_id() {
                Ok(id) => Ok((id, book)),
                Err(_) => Err(Self::To(id, book)),
            },
            Self::Nobody => Err(Self::Nobody),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn messages_may_carry_their_id_and_one_without_comes_back() {
    let [node] = Rig::new(5).cluster(["a:1"]).await;
    let books = books(&node).await;
    within(books.send(Post::To("x".into(), Book::Note { sender: 1, number: 1 }))).await.ok().unwrap();
    let pages = within(books.request(|reply| Post::To("x".into(), Book::Read(reply)))).await.unwrap();
    assert_eq!(pages.notes[&1], (1, 1));
    let refused = within(books.send(Post::Nobody)).await.err().unwrap();
    assert!(refused.to_string().contains("route"), "{refused}");
    let envelope = Envelope::new("x", Book::Note { sender: 1, number: 2 }).unwrap();
    within(books.send(envelope)).await.ok().unwrap();
    assert_eq!(within(books.ask("x", Book::Read)).await.unwrap().notes[&1], (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_entity_s_address_is_an_actor_s_address() {
    let [node] = Rig::new(6).cluster(["a:1"]).await;
    let books = books(&node).await;
    let one = books.entity("x").unwrap();
    within(one.tell(Book::Note { sender: 1, number: 1 })).await.unwrap();
    let actor = one.actor_ref();
    within(actor.tell(Book::Note { sender: 1, number: 2 })).await.unwrap();
    assert_eq!(within(actor.ask(Book::Read)).await.unwrap().notes[&1], (2, 2));
    assert!(!actor.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_none_is_refused_with_words() {
    let [node] = Rig::new(7).cluster(["a:1"]).await;
    let books = books(&node).await;
    let refused = within(books.tell("", Book::Close)).await.unwrap_err();
    assert!(refused.to_string().contains("empty"), "{refused}");
    let refused = within(books.ask("x".repeat(256), Book::Read)).await.unwrap_err();
    assert!(refused.to_string().contains("256"), "{refused}");
}

/// It is the mark of a place where nobody lives: one there could not move.
#[tokio::test(start_paused = true)]
async fn no_message_goes_to_the_id_of_nobody() {
    let [node] = Rig::new(10).cluster(["a:1"]).await;
    let books = books(&node).await;
    let nobody = EntityId::default;
    let refused = within(books.tell(nobody(), Book::Close)).await.unwrap_err();
    assert!(refused.to_string().contains("empty"), "{refused}");
    assert!(books.try_tell(nobody(), Book::Close).is_err());
    assert!(within(books.ask(nobody(), Book::Read)).await.is_err());
    assert!(within(books.start(nobody())).await.is_err());
    assert!(books.entity(nobody()).is_err());
    let envelope = || Envelope { id: nobody(), message: Book::Close };
    let refused = within(books.send(envelope())).await.err().unwrap();
    assert!(refused.to_string().contains("empty"), "{refused}");
    let extractor = books.extractor(|book: Book| Ok((EntityId::default(), book)));
    assert!(within(extractor.tell(Book::Close)).await.is_err());
    assert!(within(extractor.ask(Book::Read)).await.is_err());
    assert!(within(books.envelope_ref().tell(envelope())).await.is_err());
    assert_eq!(books.state().await.entities(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_is_started_late_finds_shards_that_live_long_since() {
    let [host, front] = Rig::new(8).cluster(["a:1", "b:1"]).await;
    let books = books(&host).await;
    for id in 0..20_u64 {
        within(books.ask(id.to_string(), Book::Read)).await.unwrap();
    }
    let proxy = front.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    for id in 0..20_u64 {
        within(proxy.ask(id.to_string(), Book::Read)).await.unwrap();
    }
}
