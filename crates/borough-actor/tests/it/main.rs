//! The behaviour of local actors, seen through the public interface.

mod support;
mod tell;
