//! Notes on settings and results that may mislead, each with its remedy.

pub mod notes;
mod round_trips;
mod rounded;
pub mod unfinished;
