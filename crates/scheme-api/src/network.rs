//! The contract as a network, a rig or a bridge to another language sees it. No scheme needs this module.

pub use crate::acks::AckState;
pub use crate::checks::Patience;
pub use crate::counters::Counts;
pub use crate::guard::{Failing, guarded};
pub use crate::lent::Lent;
pub use crate::limiter::{LimiterAction, LimiterState};
pub use crate::plan::{NO_TELEMETRY, settled};
pub use crate::point::{Gate, NO_PROBE, PointAction, PointState, rewritten};
pub use crate::random::{Purpose, Stream};
pub use crate::reflector::{ReflectorAction, ReflectorState};
