//! The page of all settings, made from the table.

use std::fmt::Write;

use super::Setting;
use super::environment::PASSED_OVER;

const INTRODUCTION: &str = r#"# Settings

<!-- Made by `cargo xtask settings` from crates/borough-cluster/src/config/table.rs: change that, not this. -->

Everything that can be set without code, with its default. Code can set all of it too, and more: functions, certificates in memory, strategies of your own.

```toml
# borough.toml
[node]
listen = "0.0.0.0:25520"
advertise = "10.0.0.1:25520"
seeds = ["10.0.0.1:25520", "10.0.0.2:25520", "10.0.0.3:25520"]
data_dir = "/var/lib/bank"

[security]
secret_file = "secret.txt"

[cluster]
max_pause = "300 ms"

[sharding]                 # every type of entities
hold_limit = 50000

[sharding.types.accounts]  # one of them
shards = 1024
passivate_after = "10 min"
```

```rust,no_run
use borough::cluster::Config;
use borough::prelude::*;

# #[tokio::main]
# async fn main() -> Result<(), borough::Error> {
let node = Node::builder("bank").config(Config::load("borough.toml")?).start().await?;
for row in node.settings() {
    println!("{} = {}  ({})", row.key, row.value, row.origin); // cluster.max_pause = 300 ms  (borough.toml:12)
}
# Ok(())
# }
```

- **Who wins**, the later over the earlier: the default, the file, the environment, a call of a builder in code; in whatever order the calls stand. For a type of entities, what is said of that type goes before what is said of all types.
- `Config::load` reads a file and the environment; `.config_file(path)` and `.config_env()` of the builder read one of them, and fail at `start`.
- **The name of a variable** is the key in capitals with `_` for what is neither letter nor digit: `BOROUGH_CLUSTER_MAX_PAUSE`, and for a type `BOROUGH_SHARDING_TYPES_ACCOUNTS_SHARDS`. Lists are separated by commas. An empty variable counts as not set.
- Where settings stand in place of each other (`node.seeds`, `node.seeds_dns`, `node.seeds_file`; `node.data_dir` and `node.volatile = true`), the one that is said by the higher of these wins; two in one place are refused.
- **Times** have a unit: `"250 ms"`, `"3.5 s"`, `"10 min"`, `"24 h"`. **Sizes** may have one: `"256 KiB"`, `"8 MiB"`, or a number of bytes.
- **Files** that a settings file names, and whose path is not absolute, lie beside it; those that a variable names, where the program was started.
- What is unknown, of the wrong type or out of range is refused, with file, line and what was probably meant. So is what does not go together or would break a promise, with every setting that has a part in it. Secrets are never shown.
- A type of which settings speak and which no node starts may be one that is misspelt: a node says so, as a warning, when it has been a member for a minute.
- The name of the cluster is in code: `Node::builder("bank")`.
"#;

const SERVICES: &str = "\nKubernetes tells every pod of a service that is called `borough`, or has a name that begins so, by variables that begin with `BOROUGH_` \
                        too (`BOROUGH_SERVICE_HOST`, `BOROUGH_PORT_25520_TCP_ADDR`). They are passed over.\n";

/// `docs/settings.md`: every setting with its variable, default, what it may be, and what it does.
pub fn settings_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = "";
    for setting in Setting::all() {
        let (of, _) = setting.key.split_once('.').unwrap_or_default();
        if of != section {
            section = of;
            let also = if setting.is_per_type() { " and `[sharding.types.NAME]`" } else { "" };
            // Writing to a text does not fail.
            let _ = write!(
                page,
                "\n## `[{section}]`{also}\n\n| setting, variable | default | may be | |\n|---|---|---|---|\n"
            );
        }
        let (env, default, allowed) = (setting.env(), setting.default(), setting.kind.allowed());
        let allowed = escaped(&allowed);
        let help = escaped(setting.help);
        let _ = writeln!(page, "| `{}`<br>`{env}` | {default} | {allowed} | {help} |", setting.word());
    }
    page.push_str("\n## Other variables\n\nThese begin with `BOROUGH_` and are no settings; nobody refuses them.\n\n| variable | for |\n|---|---|\n");
    for (name, what) in PASSED_OVER {
        let _ = writeln!(page, "| `{name}` | {what} |");
    }
    page.push_str(SERVICES);
    page
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
