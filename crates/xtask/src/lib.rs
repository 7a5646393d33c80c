//! Chores of the repository: checks beyond the compiler, and files made from the code.

pub mod chapters;
pub mod check;
pub mod circles;
pub mod commands;
pub mod deny;
pub mod figure;
pub mod fingerprints;
pub mod gallery;
pub mod generate;
pub mod laws;
pub mod measured;
pub mod reference;

/// The code in `CONTRIBUTING.md`, compiled as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
