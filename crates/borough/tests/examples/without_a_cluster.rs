//! Local actors.

use crate::program::output;

#[test]
fn traffic_light_changes_its_behaviour() {
    assert_eq!(output("traffic_light"), "red green red green red green blinking blinking\n");
}
