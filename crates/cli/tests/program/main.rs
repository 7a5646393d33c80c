//! The program as a user meets it. One binary: each of its files would link all crates again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod causes;
mod command_line;
mod documents;
mod estimates;
mod folders;
mod frozen;
mod grids;
mod reports;
mod results;
mod safe;
mod transcripts;
mod widths;
