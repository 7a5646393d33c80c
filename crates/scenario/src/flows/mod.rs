//! Finite flows: sizes that published workloads draw from, and arrivals by load, incast, permutation and all-to-all.

mod arrivals;
mod framing;
mod sizes;

pub use arrivals::{Flow, Incast, LoadCounts, Poisson, all_to_all, permutation};
pub use framing::Framing;
pub use sizes::{BUILT_IN, Sizes, SizesError};

/// How flows are put into groups by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bins {
    /// This number of groups with equally many flows each, as the field plots them.
    Equal(usize),
    /// Up to 1 KB, 10 KB, 100 KB, ...
    #[default]
    Decades,
}
