//! Live nodes and words that no correct peer says: such words change nothing that matters, and whatever is said, nothing panics.
//!
//! `directed` has one case for each rule; `fuzz` says whatever chance makes up, from any sender, to nodes in the middle of their work.

mod directed;
mod fuzz;
mod net;
mod pieces;
mod words;
