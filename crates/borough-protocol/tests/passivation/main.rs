//! Passivation policies against naive models, and on traces beside the ideal.

mod belady;
mod cache;
mod models;
mod properties;
mod table;
mod traces;
