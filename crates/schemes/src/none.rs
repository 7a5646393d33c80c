//! No congestion management: the row "NOCM" of the tables. A scheme like any other, that does nothing.

use cnsim_scheme_api::{Registration, Scheme, params};

params! {
    /// The parameters of the null scheme: there are none.
    pub struct NoneParams {}
}

/// The null scheme: it marks nothing, sends nothing and limits nothing.
#[derive(Debug)]
pub struct NoScheme;

/// How it is registered.
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
}
