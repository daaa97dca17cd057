//! What is said of one type goes before what is said of all.

use super::{file, is, vars};
use crate::config::Config;
use crate::config::layers::type_rows;

fn rows(config: &Config, name: &str) -> Vec<crate::config::SettingRow> {
    type_rows(name, &config.of_type(name))
}

#[test]
fn one_type_before_all_types_before_the_default() {
    let config = file("[sharding]\nshards = 8\nmin_regions = 2\n[sharding.types.carts]\nshards = 16");
    is(&rows(&config, "carts"), "sharding.types.carts.shards", "16", "conf/borough.toml:5");
    is(&rows(&config, "carts"), "sharding.types.carts.min_regions", "2", "conf/borough.toml:3");
    is(&rows(&config, "carts"), "sharding.types.carts.hold_limit", "100000", "default");
    is(&rows(&config, "orders"), "sharding.types.orders.shards", "8", "conf/borough.toml:2");
    is(&config.report(), "sharding.shards", "8", "conf/borough.toml:2");
}

#[test]
fn what_a_file_says_of_one_type_goes_before_what_the_environment_says_of_all() {
    let all = vars(&[("BOROUGH_SHARDING_SHARDS", "8")]).unwrap();
    let config = file("[sharding.types.carts]\nshards = 16").over(all);
    is(&rows(&config, "carts"), "sharding.types.carts.shards", "16", "conf/borough.toml:2");
    let one = vars(&[("BOROUGH_SHARDING_TYPES_CARTS_SHARDS", "32")]).unwrap();
    let env = "env BOROUGH_SHARDING_TYPES_CARTS_SHARDS";
    is(&rows(&config.over(one), "carts"), "sharding.types.carts.shards", "32", env);
}

#[test]
fn names_that_are_no_bare_keys_are_quoted_in_files_and_made_plain_in_variables() {
    let config = file("[sharding.types.\"old carts.v2\"]\nshards = 16");
    let key = "sharding.types.\"old carts.v2\".shards";
    is(&rows(&config, "old carts.v2"), key, "16", "conf/borough.toml:2");
    let config = vars(&[("BOROUGH_SHARDING_TYPES_OLD_CARTS_V2_MAX_ENTITIES", "7")]).unwrap();
    let key = "sharding.types.\"old carts.v2\".max_entities";
    is(&rows(&config, "old carts.v2"), key, "7", "env BOROUGH_SHARDING_TYPES_OLD_CARTS_V2_MAX_ENTITIES");
}
