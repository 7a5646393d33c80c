//! Facts about a source that notes need: when it sends, to whom, and flows of which sizes.

use super::SourcePlan;
use cnsim_units::Time;

impl SourcePlan {
    /// From when to when it offers a rate, within a run; none of a greedy one, and of finite flows that begin at given moments.
    pub(crate) fn sends_from(&self, duration: Time) -> Option<(Time, Time)> {
        match &self.drawn {
            Some(drawn) => drawn.sends_from(),
            None if self.finite() || self.endless() => None,
            None => Some((self.start, self.stop.min(duration))),
        }
    }

    /// The table of sizes that its flows are drawn from.
    pub fn sizes(&self) -> Option<&crate::flows::Sizes> {
        self.drawn.as_ref()?.sizes()
    }

    /// May it send to this host, by its listed flows or those of its rule?
    pub fn may_send(&self, to: usize) -> bool {
        match &self.transfers[..] {
            [] => self.receivers().have(to),
            listed => listed.iter().any(|t| t.dst.0 as usize == to),
        }
    }
}
