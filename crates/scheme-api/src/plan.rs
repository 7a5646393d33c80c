//! A plan, as a network or a rig carries it out.

use crate::{Acks, Built, Plan, Scope};

/// Why a point whose frames carry no telemetry cannot record departures.
pub const NO_TELEMETRY: &str =
    "it records departures, but the plan of its scheme has no `acks: Acks::Telemetry`";

/// The plan as a network carries it out.
///
/// # Errors
/// A probability that is none, and acknowledgements that are not of a flow.
pub fn settled(plan: Plan) -> Result<Plan, String> {
    plan.reflect.check()?;
    match plan.acks {
        Acks::Optional => Ok(plan),
        _ if plan.limiter_scope != Scope::Flow => {
            Err("acknowledgements are of a flow: write `limiter_scope: Scope::Flow`".into())
        }
        _ => Ok(Plan { built: Built::FirstFrame, ..plan }),
    }
}
