//! How an expectation that is not met is told.

use std::fmt::Arguments;
use std::panic::Location;

/// Ends the test: what was expected there, and what came of it.
pub(super) fn fail(at: &Location<'_>, wanted: Arguments<'_>, found: Arguments<'_>) -> ! {
    panic!("{at}: expected {wanted}, but {found}")
}
