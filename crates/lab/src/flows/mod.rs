//! Finite flows: sizes that published workloads draw from, and arrivals by load, incast, permutation and all-to-all.

mod arrivals;
pub mod fct;
mod sizes;

pub use arrivals::{Flow, Incast, LoadCounts, Poisson, all_to_all, permutation};
pub use sizes::{BUILT_IN, Sizes, SizesError};
