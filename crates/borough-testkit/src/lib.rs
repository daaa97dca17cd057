//! What tests of Borough clusters are made of.
//!
//! [`sim`] runs whole clusters from one seed and checks the rules after every step.

pub mod sim;
