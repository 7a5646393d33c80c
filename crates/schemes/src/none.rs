//! No congestion management: the row "NOCM" of the tables. A scheme like any other, that does nothing.

use cnsim_scheme_api::{Scheme, params};

params! {
    /// No parameters.
    pub struct NoneParams {}
}

/// The null scheme.
#[derive(Debug)]
pub struct NoScheme;

impl Scheme for NoScheme {
    fn name(&self) -> &str {
        "none"
    }
}
