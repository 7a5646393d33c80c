//! Calls of a scheme by the network, and the end of a run if a scheme panics or asks for the impossible: one body for both ways to run.

use crate::RunError;
use cnsim_scheme_api::network::{Failing, guarded, settled};
use cnsim_scheme_api::{
    CongestionPoint, Counter, Feedback, FlowId, Gauge, Plan, QueueSite, ReactionPoint, Reflector, Scheme,
    Scope, SinkSite, SourceSite,
};
use std::sync::Arc;

/// A scheme of the network, and what it says of itself: that is asked for once.
#[derive(Debug)]
pub(crate) struct Managed {
    scheme: Arc<dyn Scheme>,
    name: String,
    pub(crate) plan: Plan,
    pub(crate) counters: Vec<Counter>,
    pub(crate) gauges: Vec<Gauge>,
    /// [`Scheme::repeats`].
    pub(crate) repeats: bool,
    /// Number of its first gauge among those of all schemes.
    first: usize,
}

impl Managed {
    /// All schemes of a network, each of which is asked for its plan, counters and gauges.
    pub(crate) fn all(schemes: &[Arc<dyn Scheme>]) -> Result<Vec<Self>, RunError> {
        let mut first = 0;
        let ask = |scheme: &Arc<dyn Scheme>| {
            let name = || (scheme.name().to_string(), scheme.repeats());
            let asked = || (name(), scheme.plan(), scheme.counters(), scheme.gauges());
            let ((name, repeats), plan, counters, gauges) = guarded(asked).map_err(RunError::Scheme)?;
            let wrong = |why: String| RunError::Scheme(format!("the plan of `{name}`: {why}"));
            let plan = settled(plan).map_err(wrong)?;
            first += gauges.len();
            Ok(Self {
                name: name.clone(),
                scheme: scheme.clone(),
                plan,
                counters,
                first: first - gauges.len(),
                gauges,
                repeats,
            })
        };
        schemes.iter().map(ask).collect()
    }
    /// Name of the scheme.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
    /// Number of a gauge among those of all schemes.
    pub(crate) fn gauge(&self, name: &str) -> Option<u16> {
        let at = self.gauges.iter().position(|g| g.name == name)?;
        u16::try_from(self.first + at).ok()
    }
    /// Builds a congestion point.
    pub(crate) fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        guarded(|| self.scheme.congestion_point(site)).unwrap_or_else(|why| Some(Box::new(Failing(why))))
    }
    /// Builds a reaction point.
    pub(crate) fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        guarded(|| self.scheme.reaction_point(site)).unwrap_or_else(|why| Some(Box::new(Failing(why))))
    }
    /// Builds a reflector.
    pub(crate) fn reflector(&self, site: &SinkSite) -> Option<Box<dyn Reflector>> {
        guarded(|| self.scheme.reflector(site)).unwrap_or_else(|why| Some(Box::new(Failing(why))))
    }
    /// May this message build a reaction point?
    pub(crate) fn engages(&self, feedback: &Feedback) -> Result<bool, String> {
        guarded(|| self.scheme.engages(feedback))
    }
}

/// Key of a limiter that serves all flows of its host; others have the number of their destination, or of their flow with a queue pair.
pub(crate) const WHOLE_HOST: u32 = u32::MAX;

/// Key of the limiter of frames to `dst`, of a flow that has a queue pair or of none.
#[inline(always)]
pub(crate) fn key_of(scope: Scope, dst: u32, pair: Option<FlowId>) -> u32 {
    match (scope, pair) {
        (Scope::Host, _) => WHOLE_HOST,
        (Scope::Flow, Some(flow)) => flow.0,
        _ => dst,
    }
}

/// Calls an object of a scheme. One that panics is not called again: in its place stands one that does nothing.
#[inline]
pub(crate) fn call<T: ?Sized, R>(
    object: &mut Box<T>,
    call: impl FnOnce(&mut T) -> R,
    no_more: impl FnOnce(Failing) -> Box<T>,
) -> Result<R, String> {
    let said = guarded(|| call(object));
    if let Err(why) = &said {
        *object = no_more(Failing(why.clone()));
    }
    said
}
