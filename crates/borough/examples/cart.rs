//! Shopping carts: `cargo run --example cart`.
//!
//! Messages carry the id of their cart, as those of a web shop do. A cart that nobody touches for a while ends, and so do those unused for longest when there are too many: memory is for carts
//! in use. What a cart holds outlives that on a shelf, which stands for a database. When a node leaves, its carts move as they are, without the shelf.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough::prelude::*;

/// What can be said to a cart; each message says which.
#[derive(Serialize, Deserialize)]
enum Cart {
    Add { cart: String, item: String },
    Items { cart: String, reply: Reply<Vec<String>> },
}

impl EntityMessage for Cart {
    type Inner = Self;
    fn route(self) -> Result<(EntityId, Self), Self> {
        let (Self::Add { cart, .. } | Self::Items { cart, .. }) = &self;
        match cart.into_entity_id() {
            Ok(id) => Ok((id, self)),
            Err(_) => Err(self), // an empty name, or one of more than 255 bytes: it goes back to the sender
        }
    }
}

/// Where carts are kept that are not in use: it stands for a database, which all nodes reach.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<HashMap<EntityId, Vec<String>>>>);

impl Shelf {
    fn put(&self, id: EntityId, items: Vec<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, items);
    }

    fn take(&self, id: &EntityId) -> Option<Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

struct CartEntity {
    id: EntityId,
    items: Vec<String>,
    shelf: Shelf,
}

impl CartEntity {
    fn new(id: &EntityId, items: Vec<String>, shelf: &Shelf) -> Self {
        Self { id: id.clone(), items, shelf: shelf.clone() }
    }
}

impl Actor for CartEntity {
    type Msg = Cart;

    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.items = self.shelf.take(&self.id).unwrap_or_default();
        Ok(())
    }

    /// It came from another node with its items: the shelf has none of it.
    async fn arrived(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }

    async fn receive(&mut self, msg: Cart, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Cart::Add { item, .. } => self.items.push(item),
            Cart::Items { reply, .. } => reply.send(self.items.clone()),
        }
        Ok(())
    }

    async fn stopping(&mut self, _reason: StopReason, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.shelf.put(self.id.clone(), std::mem::take(&mut self.items));
        Ok(())
    }
}

/// Starts the carts on a node: at most 100 live there, none for longer than half a second without a message.
async fn start(node: &Node, shelf: &Shelf) -> Result<Region<Cart>, borough::Error> {
    let (here, there) = (shelf.clone(), shelf.clone());
    let carts = node
        .shard("carts", move |id| CartEntity::new(id, Vec::new(), &here))
        // The items move; the way to the shelf cannot, and is made anew where they arrive.
        .migrate_state_as(|cart| cart.items.clone(), move |id, items| CartEntity::new(id, items, &there))
        .max_entities(100)
        .passivate_after(Duration::from_millis(500));
    Ok(carts.start().await?)
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let shelf = Shelf::default();
    let first = Node::builder("shop").listen("127.0.0.1:0").start().await?;
    let carts = start(&first, &shelf).await?;

    for customer in 0..1000 {
        let cart = format!("customer-{customer}");
        carts.send(Cart::Add { cart: cart.clone(), item: "tea".into() }).await?;
        // The answer to an ask says that what was told to the same cart before is handled, not only accepted.
        items(&carts, &cart).await?;
    }
    for item in ["bread", "jam"] {
        carts.send(Cart::Add { cart: "alice".into(), item: item.into() }).await?;
    }
    println!("alice has {}", items(&carts, "alice").await?);
    println!("{} carts live, {} are on the shelf", carts.state().await.entities(), shelf.len());

    until_none_lives(&carts).await;
    println!("nobody shops: no cart lives, {} are on the shelf", shelf.len());
    println!("alice comes back: {}", items(&carts, "alice").await?);

    let second = Node::builder("shop").listen("127.0.0.1:0").seed(first.address()).start().await?;
    second.wait_for(2).await?;
    let carts = start(&second, &shelf).await?;
    first.leave().await?;
    println!("the first node has left; alice has {}", items(&carts, "alice").await?);
    if let Err(error) = carts.send(Cart::Add { cart: String::new(), item: "salt".into() }).await {
        println!("a cart without a name: {error}");
    }
    second.leave().await?;
    Ok(())
}

async fn items(carts: &Region<Cart>, cart: &str) -> Result<String, borough::Error> {
    let items = carts.request(|reply| Cart::Items { cart: cart.to_owned(), reply }).await?;
    Ok(items.join(" and "))
}

async fn until_none_lives(carts: &Region<Cart>) {
    while carts.state().await.entities() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
