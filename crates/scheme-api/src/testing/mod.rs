//! Rigs that drive one scheme alone, and the conformance suite that any scheme can run.
//!
//! ```
//! use cnsim_scheme_api::testing::{Promise, conformance};
//! use cnsim_scheme_api::Scheme;
//!
//! #[derive(Debug)]
//! struct Mine;
//! impl Scheme for Mine {
//!     fn name(&self) -> &str {
//!         "mine"
//!     }
//! }
//! assert_eq!(conformance(&|| Box::new(Mine), Promise::default()), Ok(()));
//! ```

#[cfg(test)]
mod broken;
mod conformance;
mod loopback;
mod reaction;
mod sites;

pub use conformance::{CHECKS, Check, Make, Promise, Violation, conformance, hostile_feedback};
pub use loopback::{Faults, Loopback};
pub use reaction::ReactionRig;
pub use sites::{PointRig, ReflectorRig};

use crate::{Slot, Time};

/// Expiries at one moment after which a rig gives a timer up.
const PATIENCE: u32 = 10_000;

/// The timers of an object in a rig.
#[derive(Debug, Default)]
struct Timers {
    running: Vec<(Time, Slot)>,
    /// Moment of the last expiry, and how many it has had.
    last: (Time, u32),
}

impl Timers {
    fn start(&mut self, slot: Slot, at: Time) {
        self.stop(slot);
        self.running.push((at, slot));
    }
    fn stop(&mut self, slot: Slot) {
        self.running.retain(|t| t.1 != slot);
    }
    fn clear(&mut self) {
        self.running.clear();
    }
    /// Takes the next expiry up to `end`; an error when time does not pass any more.
    fn next(&mut self, end: Time) -> Result<Option<(Time, Slot)>, String> {
        let due = self.running.iter().filter(|t| t.0 <= end).min_by_key(|t| (t.0, t.1.0)).copied();
        let Some((at, slot)) = due else { return Ok(None) };
        self.stop(slot);
        self.last = if at == self.last.0 { (at, self.last.1 + 1) } else { (at, 1) };
        if self.last.1 > PATIENCE {
            self.clear();
            return Err(format!("timer {} expires for ever at {at}: time does not pass", slot.0));
        }
        Ok(Some((at, slot)))
    }
}
