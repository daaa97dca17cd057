//! Settings that are data: from a file and from the environment, over documented defaults, under what code says.
//!
//! Promise: every setting stands once, in [`table`], with its key, what it may be, and a sentence; reading, names in the environment, the
//! listing with origins and the page of all settings are made from that. Its default is not written there: it is read off the same value that a
//! node starts from, so the two cannot differ. Nothing unknown, ill-formed or out of range is passed over, and no secret is ever shown.
//!
//! ```text
//! file.rs (TOML) ----.
//! environment.rs ----+--> Config --resolve--> NodeOptions (node_options.rs) --checks.rs--> NodeBuilder::start
//! what code said -------------------'  |
//!                                      '-of_type--> KindOptions (kind_options.rs) -------> ShardBuilder, ProxyBuilder
//! ```

mod checks;
mod datum;
mod environment;
mod error;
mod file;
mod kind;
mod kind_options;
mod layers;
mod ledger;
mod nearest;
mod node_options;
mod origin;
mod page;
mod setting;
mod stray;
mod table;
#[cfg(test)]
mod tests;
mod units;
mod value;

pub(crate) use self::checks::{Code, check};
pub use self::error::ConfigError;
pub use self::kind::SettingKind;
pub(crate) use self::kind_options::KindOptions;
pub use self::layers::Config;
pub(crate) use self::layers::Resolved;
pub(crate) use self::ledger::Ledger;
pub use self::node_options::DEFAULT_MANAGEMENT_LISTEN;
pub(crate) use self::node_options::{ManagementOptions, NodeOptions};
pub use self::origin::{SettingOrigin, SettingRow};
pub use self::page::settings_page;
pub use self::setting::Setting;
