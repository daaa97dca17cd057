//! The program as people and scripts start it: real processes, real exit codes.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod certificates;
mod commands;
mod data;
mod demo;
mod folder;
mod losing;
mod managed;
#[cfg(target_os = "linux")]
mod recovering;
mod run;
#[cfg(target_os = "linux")]
mod screen;
mod secured;
