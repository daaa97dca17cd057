//! Windows into a cluster: what a node tells of it over HTTP, and what it can be told to do.
//!
//! [`view`] is what is told, as values that both sides share: the node that answers, and the program that asks.

pub mod view;
