//! No congestion management: a scheme that does nothing. It is the row "NOCM" of the studies' tables.

use cnsim_scheme_api::{Registration, Scheme, params};

params! {
    /// The parameters of the null scheme: it has none.
    pub struct NoneParams {}
}

/// The null scheme: it marks nothing, sends nothing and limits nothing.
#[derive(Debug)]
pub struct NoScheme;

/// The registration.
pub(crate) fn registration() -> Registration {
    Registration::new("no congestion management", include_str!("none.rs"), NoneParams::default(), |_| {
        NoScheme
    })
    .alias("nocm")
}

impl Scheme for NoScheme {
    fn name(&self) -> &str {
        "none"
    }
    fn repeats(&self) -> bool {
        true
    }
}
