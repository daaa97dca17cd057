//! Who watches whom.
