//! One document that everybody has, sooner or later.
