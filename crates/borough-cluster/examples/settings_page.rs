//! Prints the page of all settings; `cargo xtask settings` puts it where it is kept.
#![allow(clippy::print_stdout, reason = "a command-line program speaks on it")]

fn main() {
    print!("{}", borough_cluster::settings_page());
}
