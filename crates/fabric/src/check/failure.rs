//! Why a run cannot go on.

use cnsim_scheme_api::Time;
use std::fmt::Display;

/// What stops a run at a node: one of a scheme's objects there, or a frame of no flow. The earliest counts.
#[derive(Debug, Default)]
pub(crate) struct Failure(Option<(u64, String)>);

impl Failure {
    /// Notes what happens now (ps) to whom, and why.
    #[cold]
    pub(crate) fn note(&mut self, now: u64, who: impl Display, cause: &str) {
        if self.0.as_ref().is_none_or(|(before, _)| now < *before) {
            self.0 = Some((now, format!("{who}, {}: {cause}", Time::from_ps(now))));
        }
    }
    /// When it happened, ps.
    pub(crate) fn at(&self) -> Option<u64> {
        self.0.as_ref().map(|f| f.0)
    }
    /// The earliest of all nodes, given in their order: of one moment, the first node's.
    pub(crate) fn first<'a>(nodes: impl Iterator<Item = &'a Failure>) -> Option<&'a str> {
        nodes.filter_map(|f| f.0.as_ref()).min_by_key(|f| f.0).map(|f| f.1.as_str())
    }
}
