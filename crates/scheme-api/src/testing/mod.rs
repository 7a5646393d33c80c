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
#[cfg(test)]
mod broken_acks;
mod conformance;
mod loopback;
mod reaction;
mod returns;
mod sites;
mod suite;

pub use conformance::{CHECKS, Check, Make, Promise, Violation, conformance, hostile_feedback};
pub use loopback::{Faults, Loopback};
pub use reaction::ReactionRig;
pub use sites::{PointRig, ReflectorRig};
pub use suite::{Bridge, Checked, Suite, conformance_over};

use crate::checks::MOST;
use crate::{Gauge, Slot, Time};

/// Hosts of the network in which a rig's flows are numbered.
const HOSTS: u32 = 100;

/// Has the scheme a gauge of this name?
fn known(gauges: &[Gauge], name: &str) -> Result<(), String> {
    let found = gauges.iter().any(|g| g.name == name).then_some(());
    found.ok_or_else(|| format!("there is no gauge `{name}` among `Scheme::gauges`"))
}

/// Adds an object's requests to those that a rig keeps: all, or of very many the later ones.
fn keep<A>(kept: &mut Vec<A>, more: Vec<A>) {
    kept.extend(more);
    if kept.len() > 2 * MOST {
        kept.drain(..kept.len() - MOST);
    }
}

/// The timers of an object in a rig.
#[derive(Debug, Default)]
struct Timers {
    running: Vec<(Time, Slot)>,
}

impl Timers {
    /// A time beyond the last one is the last one.
    fn start(&mut self, slot: Slot, now: Time, after: Time) {
        self.stop(slot);
        self.running.push((Time::from_ps(now.as_ps().saturating_add(after.as_ps())), slot));
    }
    fn stop(&mut self, slot: Slot) {
        self.running.retain(|t| t.1 != slot);
    }
    fn clear(&mut self) {
        self.running.clear();
    }
    /// Takes the next expiry up to `end`.
    fn next(&mut self, end: Time) -> Option<(Time, Slot)> {
        let due = self.running.iter().filter(|t| t.0 <= end).min_by_key(|t| (t.0, t.1.0)).copied();
        self.stop(due?.1);
        due
    }
}
