//! What can travel between nodes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message, or an answer, that can travel between nodes: everything that derives serde's two traits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel between nodes",
    note = "derive `Serialize` and `Deserialize` for it; every field needs them too, and an `ActorRef` or `Reply` in it needs them for its own messages"
)]
pub trait Message: Serialize + DeserializeOwned + Send + 'static {}

impl<M: Serialize + DeserializeOwned + Send + 'static> Message for M {}
