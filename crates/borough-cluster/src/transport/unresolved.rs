//! A name without an address: told apart from an address at which nobody answers.

use std::fmt;
use std::io;

use borough_protocol::incarnation::Address;

/// The host of an address is a name that does not resolve. Carried inside of an [`io::Error`], as what a dial fails with.
#[derive(Debug)]
pub(crate) struct Unresolved {
    address: Address,
    why: String,
}

impl Unresolved {
    /// The error of a dial to that address, whose name was not resolved for that reason.
    pub(crate) fn error(address: &Address, why: &impl ToString) -> io::Error {
        let unresolved = Self { address: address.clone(), why: why.to_string() };
        io::Error::new(io::ErrorKind::NotFound, unresolved)
    }

    /// Whether a dial failed for that.
    pub(crate) fn is_in(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).is_some()
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name in {} does not resolve: {}", self.address, self.why)
    }
}

impl std::error::Error for Unresolved {}
