//! Notes on settings and results that may mislead, each with its remedy.

pub mod notes;
pub mod unfinished;
