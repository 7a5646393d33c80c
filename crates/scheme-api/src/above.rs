//! A scheme that sets windows above one that sets rates: a flow of TCP that passes the limiter of 802.1Qau.

use crate::{
    Ack, Acks, Built, CongestionPoint, Counter, Feedback, FlowId, FrameView, Gauge, Limiter, Loss, Plan,
    PointControl, Probe, Queue, QueueSite, ReactionPoint, Reflector, Scheme, Scope, SinkSite, Slot,
    SourceSite, Time,
};
use std::sync::Arc;

/// Two schemes as one. Each flow has a limiter of its own, whose window follows the first scheme and whose rate the second.
///
/// Acknowledgements and losses go to the first. Feedback, bytes sent and timers go to the second, which also has the reflectors. Of the
/// first scheme's congestion points only the ramp counts that they set in `start`.
#[derive(Debug)]
pub struct Above {
    /// Sets windows by acknowledgements ([`Acks::Needed`]); none for flows without a window, which send as fast as their limiter lets them.
    pub window: Option<Arc<dyn Scheme>>,
    /// Sets rates by feedback.
    pub rate: Arc<dyn Scheme>,
}

impl Above {
    /// Both as one.
    ///
    /// # Errors
    /// Why they are none: what is wrong, and a remedy.
    pub fn of(window: Arc<dyn Scheme>, rate: Arc<dyn Scheme>) -> Result<Self, (String, &'static str)> {
        let (above, below) = (window.plan(), rate.plan());
        if above.acks != Acks::Needed || above.reflect != Plan::default().reflect {
            let remedy = "name a scheme that sets windows by acknowledgements alone, such as newreno, or write \"scheme\"";
            return Err((format!("{} sets no windows by acknowledgements alone", window.name()), remedy));
        }
        if above.paces {
            let reason =
                format!("{} sets rates, and above {} the rates are the latter's", window.name(), rate.name());
            return Err((
                reason,
                "let it set windows alone (newreno: pacing = \"off\"), or run it as the case's scheme",
            ));
        }
        if below.limiter_scope == Scope::Host {
            let reason = format!("{} limits whole hosts, and windows are of flows", rate.name());
            return Err((reason, "let its limiters be per flow, or write \"scheme\""));
        }
        Ok(Self { window: Some(window), rate })
    }

    /// Its twin for flows without a window.
    pub fn without_window(&self) -> Self {
        Self { window: None, rate: self.rate.clone() }
    }
}

impl Scheme for Above {
    fn name(&self) -> &str {
        self.rate.name()
    }
    fn plan(&self) -> Plan {
        let below = self.rate.plan();
        let above = self.window.as_ref().map_or(below, |window| window.plan());
        let each = |scope| if scope == Scope::Pair { Scope::Flow } else { scope };
        Plan {
            limiter_scope: Scope::Flow,
            built: Built::FirstFrame,
            reflector_scope: each(below.reflector_scope),
            acks: above.acks,
            exact_marks: above.exact_marks,
            stamp: above.stamp.max(below.stamp),
            ..below
        }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        match (self.window.as_ref().and_then(|w| w.congestion_point(site)), self.rate.congestion_point(site))
        {
            (Some(marks), Some(asks)) => Some(Box::new(Points { marks, asks })),
            (one, other) => other.or(one),
        }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let window = self.window.as_ref().and_then(|window| window.reaction_point(site));
        let at_once = self.rate.plan().built == Built::FirstFrame;
        let below = if at_once { self.rate.reaction_point(site) } else { None };
        Some(Box::new(Both { window, below, at_once, scheme: self.rate.clone(), site: site.clone() }))
    }
    fn reflector(&self, site: &SinkSite) -> Option<Box<dyn Reflector>> {
        self.rate.reflector(site)
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        self.rate.engages(feedback)
    }
    fn repeats(&self) -> bool {
        self.rate.repeats() && self.window.as_ref().is_none_or(|window| window.repeats())
    }
    fn counters(&self) -> Vec<Counter> {
        let mut all = self.rate.counters();
        let more = self.window.as_ref().map(|window| window.counters()).unwrap_or_default();
        all.extend(more.into_iter().filter(|m| self.rate.counters().iter().all(|c| c.name != m.name)));
        all
    }
    fn gauges(&self) -> Vec<Gauge> {
        let mut all = self.rate.gauges();
        let more = self.window.as_ref().map(|window| window.gauges()).unwrap_or_default();
        all.extend(more.into_iter().filter(|m| self.rate.gauges().iter().all(|g| g.name != m.name)));
        all
    }
}

/// Congestion points of both schemes at one queue.
#[derive(Debug)]
struct Points {
    marks: Box<dyn CongestionPoint>,
    asks: Box<dyn CongestionPoint>,
}

impl CongestionPoint for Points {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.marks.start(queue, ctl);
        self.asks.start(queue, ctl);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.asks.on_sample(frame, queue, ctl);
    }
    fn on_probe(&mut self, probe: &mut Probe, flow: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.asks.on_probe(probe, flow, queue, ctl);
    }
    fn on_departure(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.asks.on_departure(frame, queue, ctl);
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.asks.on_timer(slot, queue, ctl);
    }
}

/// Reaction points of both schemes at one flow.
#[derive(Debug)]
struct Both {
    window: Option<Box<dyn ReactionPoint>>,
    /// That of the rate, while there is one.
    below: Option<Box<dyn ReactionPoint>>,
    /// It is there from the first frame on. Otherwise feedback builds it, and it ends with the limiter's engagement.
    at_once: bool,
    scheme: Arc<dyn Scheme>,
    site: SourceSite,
}

impl Both {
    /// The reaction point of the rate, if it has not ended.
    fn below(&mut self, limiter: &Limiter<'_>) -> Option<&mut Box<dyn ReactionPoint>> {
        if !self.at_once && !limiter.is_engaged() {
            self.below = None;
        }
        self.below.as_mut()
    }
}

impl ReactionPoint for Both {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.window.iter_mut().for_each(|window| window.start(limiter));
        self.below.iter_mut().for_each(|below| below.start(limiter));
    }
    fn on_message(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if self.below(limiter).is_none() && !self.at_once && self.scheme.engages(feedback) {
            self.below = self.scheme.reaction_point(&self.site);
            self.below.iter_mut().for_each(|below| below.start(limiter));
        }
        // What has just been built is not engaged yet.
        self.below.iter_mut().for_each(|below| below.on_message(feedback, limiter));
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.window.iter_mut().for_each(|window| window.on_ack(ack, limiter));
    }
    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        self.window.iter_mut().for_each(|window| window.on_loss(loss, limiter));
    }
    fn on_recovered(&mut self, limiter: &mut Limiter<'_>) {
        self.window.iter_mut().for_each(|window| window.on_recovered(limiter));
    }
    fn on_restart(&mut self, idle: Time, timeout: Time, limiter: &mut Limiter<'_>) {
        self.window.iter_mut().for_each(|window| window.on_restart(idle, timeout, limiter));
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.below(limiter).into_iter().for_each(|below| below.on_bytes(limiter));
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        self.below(limiter).into_iter().for_each(|below| below.on_timer(slot, limiter));
    }
}
