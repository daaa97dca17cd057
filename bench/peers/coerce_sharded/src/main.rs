//! The sharding of coerce under the sharded workloads of `borough-bench`: one node, a coordinator whose log is in memory. Entities can
//! only be asked (`Sharded::send`), so the workloads of tells have no figure. Its messages are encoded even when they stay in the process;
//! here by hand, the quickest way there is.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;
#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/sharded/mod.rs"]
mod sharded;

use async_trait::async_trait;
use coerce::actor::context::ActorContext;
use coerce::actor::message::{Handler, Message, MessageUnwrapErr, MessageWrapErr};
use coerce::actor::system::ActorSystem;
use coerce::actor::{Actor, ActorCreationErr, ActorFactory, ActorId, ActorRecipe};
use coerce::persistent::Persistence;
use coerce::persistent::journal::provider::inmemory::InMemoryStorageProvider;
use coerce::remote::system::RemoteActorSystem;
use coerce::sharding::Sharding;
use coerce::sharding::host::ShardAllocator;
use driver::Breath;
use sharded::{Host, Id, Ids, Resident, SHARDS};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::process::ExitCode;

struct Entity(Resident);

impl Actor for Entity {}

/// Asked with a number.
struct Ask(u64);

/// Asked for its sum.
struct Sum;

#[async_trait]
impl Handler<Ask> for Entity {
    async fn handle(&mut self, Ask(number): Ask, _ctx: &mut ActorContext) -> u64 {
        self.0.answer(number)
    }
}

#[async_trait]
impl Handler<Sum> for Entity {
    async fn handle(&mut self, _: Sum, _ctx: &mut ActorContext) -> u64 {
        self.0.sum()
    }
}

impl Message for Ask {
    type Result = u64;

    fn as_bytes(&self) -> Result<Vec<u8>, MessageWrapErr> {
        Ok(written(self.0))
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Self, MessageUnwrapErr> {
        read(&bytes).map(Self)
    }

    fn read_remote_result(bytes: Vec<u8>) -> Result<u64, MessageUnwrapErr> {
        read(&bytes)
    }

    fn write_remote_result(number: u64) -> Result<Vec<u8>, MessageWrapErr> {
        Ok(written(number))
    }
}

impl Message for Sum {
    type Result = u64;

    fn as_bytes(&self) -> Result<Vec<u8>, MessageWrapErr> {
        Ok(Vec::new())
    }

    fn from_bytes(_: Vec<u8>) -> Result<Self, MessageUnwrapErr> {
        Ok(Self)
    }

    fn read_remote_result(bytes: Vec<u8>) -> Result<u64, MessageUnwrapErr> {
        read(&bytes)
    }

    fn write_remote_result(number: u64) -> Result<Vec<u8>, MessageWrapErr> {
        Ok(written(number))
    }
}

fn written(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

fn read(bytes: &[u8]) -> Result<u64, MessageUnwrapErr> {
    bytes.try_into().map(u64::from_le_bytes).map_err(|_| MessageUnwrapErr::NotTransmittable)
}

struct Recipe;

impl ActorRecipe for Recipe {
    fn read_from_bytes(_: &Vec<u8>) -> Option<Self> {
        Some(Self)
    }

    fn write_to_bytes(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

#[derive(Clone)]
struct Factory;

#[async_trait]
impl ActorFactory for Factory {
    type Actor = Entity;
    type Recipe = Recipe;

    async fn create(&self, _: Recipe) -> Result<Entity, ActorCreationErr> {
        Ok(Entity(Resident::default()))
    }
}

/// As many shards as everybody has.
struct Shards;

impl ShardAllocator for Shards {
    fn allocate(&mut self, id: &ActorId) -> u32 {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        (hasher.finish() % u64::from(SHARDS)) as u32
    }
}

#[derive(Clone)]
struct Coerce {
    sharding: Sharding<Factory>,
}

async fn build() -> Coerce {
    let system = ActorSystem::new().to_persistent(Persistence::from(InMemoryStorageProvider::new()));
    let remote = RemoteActorSystem::builder()
        .with_actor_system(system)
        .with_tag("one")
        .with_id(1)
        .with_actors(|actors| {
            actors.with_actor(Factory).with_handler::<Entity, Ask>("Ask").with_handler::<Entity, Sum>("Sum")
        })
        .configure(|settings| coerce::sharding::sharding(settings))
        .single_node()
        .build()
        .await;
    Coerce { sharding: Sharding::<Factory>::builder(remote).with_allocator(Shards).build().await }
}

impl Host for Coerce {
    async fn start() -> Self {
        // Its builder cannot wait in a task that other threads may take over.
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(build()))
    }

    fn flood(&self, _: Ids, _: Range<u64>, _: Breath) -> Option<impl Future<Output = ()> + Send> {
        None::<std::future::Ready<()>>
    }

    async fn ask(&self, id: Id, number: u64) -> u64 {
        self.sharding.get(id.as_str(), Some(Recipe)).send(Ask(number)).await.expect("answered")
    }

    async fn sum(&self, id: Id) -> u64 {
        self.sharding.get(id.as_str(), Some(Recipe)).send(Sum).await.expect("answered")
    }
}

fn main() -> ExitCode {
    sharded::run::<Coerce>(driver::Job::from_args(std::env::args().skip(1)))
}
