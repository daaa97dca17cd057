//! A whole type behind one actor's address.

use std::time::Duration;

use borough_actor::{Actor, Context, DeadLetterReason, Fault, Reply, TellError, TryTellError, Unsendable};
use borough_cluster::{EntityId, EntityMessage, Envelope, IntoEntityId, Node, Region};
use serde::{Deserialize, Serialize};

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

/// What may be said to a cart; it names the cart itself.
#[derive(Serialize, Deserialize)]
enum Order {
    Add { cart: String, item: u64 },
    Items { cart: String, reply: Reply<Vec<u64>> },
    Nobody,
    Worst,
}

impl EntityMessage for Order {
    type Inner = Self;

    fn route(self) -> Result<(EntityId, Self), Self> {
        let id = match &self {
            Self::Add { cart, .. } | Self::Items { cart, .. } => cart.as_str().into_entity_id(),
            Self::Nobody => return Err(self),
            Self::Worst => panic!("no route at all"),
        };
        // One that is empty is nobody's.
        Ok((id.unwrap_or_default(), self))
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Cart {
    items: Vec<u64>,
}

impl Actor for Cart {
    type Msg = Order;

    async fn receive(&mut self, order: Order, _: &mut Context<Self>) -> Result<(), Fault> {
        match order {
            Order::Add { item, .. } => self.items.push(item),
            Order::Items { reply, .. } => reply.send(self.items.clone()),
            Order::Nobody | Order::Worst => unreachable!("they have no route"),
        }
        Ok(())
    }
}

async fn carts(node: &Node) -> Region<Order> {
    node.shard("carts", |_| Cart::default()).shards(16).migrate_state().start().await.unwrap()
}

fn add(cart: &str, item: u64) -> Order {
    Order::Add { cart: cart.to_owned(), item }
}

async fn items(carts: &Region<Order>, cart: &str) -> Vec<u64> {
    within(carts.ask(cart, |reply| Order::Items { cart: cart.to_owned(), reply })).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_region_of_messages_that_carry_their_id_is_usable_as_an_actor() {
    let [a, b] = Rig::new(151).cluster(["a:1", "b:1"]).await;
    let regions = [carts(&a).await, carts(&b).await];
    let all = regions[0].actor_ref();
    for number in 0..20 {
        within(all.tell(add(&format!("cart{number}"), number))).await.unwrap();
        all.try_tell(add(&format!("cart{number}"), 100)).unwrap();
        let asked = all.ask(|reply| Order::Items { cart: format!("cart{number}"), reply });
        assert_eq!(within(asked).await.unwrap(), [number, 100]);
    }
    // As whoever does not wait sends, too.
    Reply::to_actor(all.clone()).send(add("cart3", 7));
    assert_eq!(items(&regions[0], "cart3").await, [3, 100, 7]);
    assert!(!all.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn a_message_to_a_region_as_an_actor_that_names_nobody_comes_back() {
    let [node] = Rig::new(152).cluster(["a:1"]).await;
    let all = carts(&node).await.actor_ref();
    let refused = within(all.tell(Order::Nobody)).await.unwrap_err();
    assert!(matches!(refused, TellError::Unsendable(Order::Nobody, Unsendable::NoRoute)), "{refused}");
    let refused = within(all.tell(add("", 5))).await.unwrap_err();
    assert!(matches!(refused, TellError::Unsendable(Order::Add { item: 5, .. }, Unsendable::BadId(_))));
    assert!(all.try_tell(Order::Nobody).is_err());
    let dead = || node.dead_letters().count(DeadLetterReason::Stopped);
    let before = dead();
    Reply::to_actor(all.clone()).send(Order::Nobody);
    assert_eq!(dead(), before + 1, "nobody gets it back");
    within(all.tell(Order::Worst)).await.unwrap();
    assert_eq!(dead(), before + 2, "it is gone with the panic");
}

#[tokio::test(start_paused = true)]
async fn a_region_takes_envelopes_as_an_actor_and_gives_back_those_it_refuses() {
    let [a, b] = Rig::new(153).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).hold_limit(0).start().await.unwrap();
    let all = proxy.envelope_ref();
    let note = |number| Envelope::new("x", Book::Note { sender: 1, number }).unwrap();
    let refused = all.try_tell(note(1)).unwrap_err();
    let TryTellError::HoldFull(Envelope { id, message: Book::Note { sender: 1, number: 1 } }, _) = refused
    else {
        panic!("{refused}")
    };
    assert_eq!(id.to_string(), "x");
    // Nobody waits for it.
    drop(all.tell(note(2)));
    let region = books(&b).await;
    within(region.ask("x", Book::Read)).await.unwrap();
    // By then the proxy knows where it lives, too.
    after(Duration::from_secs(1)).await;
    within(all.tell(note(1))).await.unwrap();
    assert_eq!(within(proxy.ask("x", Book::Read)).await.unwrap().notes[&1], (1, 1));
}
