//! Messages of another node, in packets.

use std::future::poll_fn;
use std::sync::Arc;

use borough_actor::remote::{Carrier, within};
use borough_actor::{IntoEntityId, System};
use borough_wire::codec::CodecId;

use super::rig::{Node, e, shard_of, uid};
use super::thing::{STARTED, Word, system, things};
use crate::sharding::host::packet::{Packet, Spares};
use crate::sharding::host::waiting::CROWDED;
use crate::sharding::host::{Came, Depth, Surroundings};

fn came<'a>(id: &'a str, ask: Option<(u64, Option<u32>)>, body: &'a [u8]) -> Came<'a> {
    let shard = shard_of(&id.into_entity_id().unwrap());
    Came { shard, tag: e(1), id: id.as_bytes(), ask, codec: CodecId::Postcard, body }
}

fn carrier(system: &System) -> Arc<dyn Carrier> {
    Node::running(system, things()).around.carrier(uid(2)).unwrap()
}

fn bodies(packet: &mut Packet) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| packet.next().map(|(came, _)| came.body.to_vec())).collect()
}

#[tokio::test]
async fn a_packet_gives_its_messages_as_they_were_put_in() {
    let system = system();
    let mut packet = Packet::new(carrier(&system), Arc::default());
    let asks = [None, Some((7, None)), Some((u64::MAX, Some(0))), Some((1, Some(u32::MAX)))];
    for ask in asks {
        packet.push(&came("some id", ask, b"body"));
    }
    packet.push(&came("a", None, b""));
    assert_eq!((packet.len(), packet.messages().count()), (5, 5));
    for ask in asks {
        let same = packet.next().map(|(came, _)| (came.id.to_vec(), came.tag, came.ask, came.body.to_vec()));
        assert_eq!(same, Some((b"some id".to_vec(), e(1), ask, b"body".to_vec())));
    }
    assert_eq!(
        packet.next().map(|(came, _)| (came.shard, came.body.len())),
        Some((came("a", None, b"").shard, 0))
    );
    assert_eq!((packet.next().is_none(), packet.messages().count()), (true, 0));
}

#[tokio::test]
async fn what_is_cut_off_a_packet_comes_before_the_rest() {
    let system = system();
    let mut packet = Packet::new(carrier(&system), Arc::default());
    for number in 0..5_u8 {
        packet.push(&came("a", (number == 1).then_some((7, None)), &[number]));
    }
    let mut front = packet.cut(2);
    assert_eq!((front.len(), packet.len()), (2, 3));
    assert!(front.has_asks());
    assert_eq!(
        (bodies(&mut front), bodies(&mut packet)),
        (vec![vec![0], vec![1]], vec![vec![2], vec![3], vec![4]])
    );
}

#[tokio::test]
async fn the_buffer_of_a_packet_serves_the_next_one_which_has_nothing_of_it() {
    let system = system();
    let (carrier, spares) = (carrier(&system), Arc::<Spares>::default());
    let mut first = Packet::new(carrier.clone(), spares.clone());
    first.push(&came("a", None, &[1; 5000]));
    drop(first);
    assert_eq!(spares.len(), 1);
    let mut next = Packet::new(carrier, spares.clone());
    next.push(&came("a", None, b"x"));
    assert!(!next.has_asks());
    assert_eq!(spares.len(), 0);
    assert_eq!(bodies(&mut next), [b"x"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_read_or_is_asked_in_vain_harms_no_other_of_its_packet() {
    let system = system();
    let node = Node::running(&system, things());
    let carrier = node.around.carrier(uid(2)).unwrap();
    let noted = |note| {
        let mut body = Vec::new();
        within(&carrier, || CodecId::Postcard.encode(&Word::Note(note), &mut body)).unwrap();
        body
    };
    let mut inlet = node.lane(came("a", None, b"").shard).inlet(carrier.clone());
    inlet.take(came("a", None, &noted(1)));
    inlet.take(came("a", None, &[0xff; 3]));
    // Its asker waits no longer.
    inlet.take(came("a", Some((9, Some(0))), &noted(2)));
    inlet.take(came("a", Some((9, None)), &noted(3)));
    poll_fn(|cx| inlet.poll_flush(cx)).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_node_is_warned_once_of_a_crowded_entity_and_told_when_that_has_room() {
    let system = system();
    let node = Node::running(&system, things());
    let carrier = node.around.carrier(uid(2)).unwrap();
    let mut body = Vec::new();
    within(&carrier, || CodecId::Postcard.encode(&Word::Note(7), &mut body)).unwrap();
    let shard = came("a", None, b"").shard;
    let mut inlet = node.lane(shard).inlet(carrier.clone());
    let id = "a".into_entity_id().unwrap();
    node.tell("a", Word::Work(1000, 0)).await;
    for _ in 0..CROWDED {
        assert!(!inlet.take(came("a", None, &body)));
        poll_fn(|cx| inlet.poll_flush(cx)).await;
    }
    node.attended().await;
    assert_eq!(node.lane(shard).stats(Depth::Entities).await.busiest, [("a".to_owned(), CROWDED)]);
    assert!(inlet.take(came("a", None, &body)));
    assert!(!inlet.take(came("a", None, &body)), "it was told");
    assert!(!inlet.take(came("i", None, &body)), "of another entity there is nothing to tell");
    assert!(!inlet.enlist(shard, &id), "there is no room");
    poll_fn(|cx| inlet.poll_flush(cx)).await;
    assert_eq!(*node.around.admitted.lock().unwrap(), []);
    assert_eq!(node.ask("a", Word::Heard).await.unwrap().len(), CROWDED + 4);
    let told = node.around.admitted.lock().unwrap().clone();
    assert_eq!(told, [(carrier.uid(), shard, "a".to_owned(), CROWDED / 4)]);
    assert!(inlet.enlist(shard, &id));
    assert!(!inlet.take(came("a", None, &body)));
}

#[tokio::test]
async fn only_so_much_is_kept_of_the_buffers_of_packets() {
    let system = system();
    let (carrier, spares) = (carrier(&system), Arc::<Spares>::default());
    let packets: Vec<_> = (0..100)
        .map(|_| {
            let mut packet = Packet::new(carrier.clone(), spares.clone());
            packet.push(&came("a", None, &[1; 10_000]));
            packet
        })
        .collect();
    drop(packets);
    let kept = spares.len();
    assert!((10..=26).contains(&kept), "{kept} buffers of 10 KB");
    let mut large = Packet::new(carrier, spares.clone());
    large.push(&came("a", None, &vec![1; 1024 * 1024]));
    drop(large);
    assert_eq!(spares.len(), kept - 1);
}
