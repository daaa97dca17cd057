//! Nodes that are set by files and variables.

use std::fs;
use std::path::PathBuf;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Config, ConfigError, Node, SettingRow, StartError};

use crate::rig::Rig;

struct Echo;

impl Actor for Echo {
    type Msg = (u32, Reply<u32>);
    async fn receive(&mut self, (number, reply): Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(number);
        Ok(())
    }
}

/// A folder of this test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("borough-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is(rows: &[SettingRow], key: &str, value: &str, origin: &str) {
    let row = rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{key} is not there"));
    assert_eq!((row.value.as_str(), row.origin.to_string().as_str()), (value, origin), "{key}");
}

#[tokio::test]
async fn a_node_is_what_its_file_and_its_variables_say_and_tells_so() {
    let folder = Folder::new("settings-of-a-node");
    let path = folder.write(
        "borough.toml",
        "[node]\nlisten = \"127.0.0.1:0\"\nid = \"alpha\"\nzone = \"one\"\nroles = [\"back\"]\n",
    );
    let vars = Config::from_vars([("BOROUGH_NODE_ZONE".to_owned(), "two".to_owned())]).unwrap();
    let node = Node::builder("test").role("front").config_file(&path).config(vars).start().await.unwrap();
    assert_eq!(node.node_id().as_str(), "alpha");
    let topology = node.wait_for(1).await.unwrap();
    let member = topology.up().next().unwrap();
    assert!(member.has_role("front") && !member.has_role("back"), "code wins");
    let (rows, file) = (node.settings(), path.display().to_string());
    is(&rows, "node.id", "alpha", &format!("{file}:3"));
    is(&rows, "node.zone", "two", "env BOROUGH_NODE_ZONE");
    is(&rows, "node.roles", "front", "code");
    is(&rows, "node.rejoin", "true", "default");
}

#[tokio::test(start_paused = true)]
async fn a_type_is_what_the_file_says_of_it_unless_code_says_otherwise() {
    let text = "[sharding]\nhold_limit = 7\n[sharding.types.echoes]\nshards = 8\nmax_entities = 5\n[sharding.types.absent]\nshards = 3";
    let config = Config::parse("b.toml", text).unwrap();
    let node = Rig::new(70).node("a:1", &[]).config(config).start().await.unwrap();
    node.wait_for(1).await.unwrap();
    let echoes = node.shard("echoes", |_| Echo).max_entities(9).keeps_own_state().start().await.unwrap();
    assert_eq!(echoes.shards(), 8);
    let plain = node.shard("plain", |_| Echo).shards(4).keeps_own_state().start().await.unwrap();
    assert_eq!(plain.shards(), 4);
    let rows = node.settings();
    is(&rows, "sharding.types.echoes.shards", "8", "b.toml:4");
    is(&rows, "sharding.types.echoes.max_entities", "9", "code");
    is(&rows, "sharding.types.echoes.hold_limit", "7", "b.toml:2");
    is(&rows, "sharding.types.echoes.hash", "xxh3", "default");
    is(&rows, "sharding.types.echoes.codec", "postcard", "default");
    is(&rows, "sharding.types.plain.shards", "4", "code");
    is(&rows, "sharding.types.absent.shards", "3", "b.toml:7");
    assert!(!rows.iter().any(|row| row.key == "sharding.types.absent.hash"));
}

#[tokio::test(start_paused = true)]
async fn a_type_that_a_variable_names_is_listed_started_or_not_and_once() {
    let variable = |name: &str| (format!("BOROUGH_SHARDING_TYPES_{name}_SHARDS"), "8".to_owned());
    let vars = Config::from_vars(["ECHOES", "ABSENT", "FILED"].map(variable)).unwrap();
    let config = Config::parse("b.toml", "[sharding.types.filed]\nhold_limit = 7").unwrap().over(vars);
    let node = Rig::new(71).node("a:1", &[]).config(config).start().await.unwrap();
    node.wait_for(1).await.unwrap();
    node.shard("echoes", |_| Echo).keeps_own_state().start().await.unwrap();
    let rows = node.settings();
    is(&rows, "sharding.types.echoes.shards", "8", "env BOROUGH_SHARDING_TYPES_ECHOES_SHARDS");
    is(&rows, "sharding.types.ABSENT.shards", "8", "env BOROUGH_SHARDING_TYPES_ABSENT_SHARDS");
    is(&rows, "sharding.types.filed.shards", "8", "env BOROUGH_SHARDING_TYPES_FILED_SHARDS");
    let told = |key: &str| rows.iter().filter(|row| row.key.eq_ignore_ascii_case(key)).count();
    for name in ["echoes", "absent", "filed"] {
        assert_eq!(told(&format!("sharding.types.{name}.shards")), 1, "{name}");
    }
}

#[tokio::test]
async fn unsafe_settings_keep_a_node_from_starting_with_their_places() {
    let config =
        Config::parse("b.toml", "[node]\nlisten = \"127.0.0.1:0\"\n[cluster]\nmax_pause = \"2 s\"").unwrap();
    let error = Node::builder("test").config(config).start().await.unwrap_err();
    assert!(matches!(error, StartError::Config(ConfigError::Unsafe { .. })), "{error}");
    for word in ["cluster.max_pause = 2 s (b.toml:4)", "cluster.failover_target = 3.5 s (default)"] {
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_the_error_of_the_start() {
    let error = Node::builder("test").config_file("no/such.toml").start().await.unwrap_err();
    assert!(error.to_string().contains("no/such.toml"), "{error}");
    let folder = Folder::new("settings-that-are-wrong");
    let path = folder.write("borough.toml", "[node]\nlisen = \"127.0.0.1:0\"");
    let error = Node::builder("test").config_file(path).config(Config::default()).start().await.unwrap_err();
    assert!(error.to_string().ends_with("did you mean node.listen?"), "{error}");
}

#[tokio::test]
async fn the_secret_beside_a_file_protects_a_node_that_others_reach() {
    let folder = Folder::new("settings-with-a-secret");
    let text = "[node]\nlisten = \"0.0.0.0:0\"\nadvertise = \"127.0.0.1:9\"\nfound_alone = true\nvolatile = true\n[security]\nsecret_file = \"secret\"";
    let path = folder.write("borough.toml", text);
    let error = Node::builder("test").config_file(&path).start().await.unwrap_err();
    assert!(matches!(error, StartError::Secret(_)), "{error}");
    folder.write("secret", "0123456789abcdef\n");
    let node = Node::builder("test").config_file(&path).start().await.unwrap();
    assert!(!format!("{:?}", node.settings()).contains("0123456789abcdef"));
}
