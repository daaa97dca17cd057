//! What tests of Borough clusters are made of.
//!
//! [`sim`] runs whole clusters from one seed and checks the rules after every step.
//! [`scale`] runs one large cluster and measures what it costs.
//! [`shells`] runs whole nodes, actors and connections included, from one seed.

pub mod scale;
pub mod shells;
pub mod sim;
