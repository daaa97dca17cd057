//! Decision tables and properties of the strategies.
