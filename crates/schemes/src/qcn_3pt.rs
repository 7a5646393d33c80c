//! # QCN-3pt: QCN with a reflection point
//!
//! QCN-3pt adds a third point, the reflection point, at the destination. A congestion point marks frames (DE bit) that meet a
//! queue longer than the set point. The reflection point answers an unmarked frame, with a small probability, by a message `Fb
//! = 0` to its source. Such a message shows a limited source that its path is free. It counts as a finished byte cycle of
//! [`crate::qcn_2pt`]. Messages are sent for all traffic, limited or not, so overhead grows with nodes x load: the scheme's
//! drawback. Cuts are those of QCN-2pt.
//!
//! Sources: B07 (parameters, tables). The overhead printed there equals delivered frames x 0.04 x 512 bit, to 0.04 % in the
//! least congested row. So messages have 64 B, and all received frames count.
//!
//! ## Assumptions, each a parameter
//!
//! * `de`: a frame is marked where q > Q_eq on arrival (`queue`), where Fb < 0 (`feedback`), or never (`never`).
//! * `fr_every_n_messages`: the number of messages that make a fast-recovery cycle (1; or 4, the mean spacing of 150 KB).
//! * `byte_counter`: the byte cycles of QCN-2pt count beside the messages. The pseudocode of November 2007 counts bytes in
//!   every limiter. With `off`, only the messages count.

use crate::counters::{CNM_MESSAGES, REFLECTIONS_SENT, REFLECTIONS_USED};
use crate::qcn_2pt::{Mark, Point, QcnParams, Rates};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    CongestionPoint, Counter, Feedback, FrameView, Idle, Join, Limiter, Plan, QueueSite, Rate, ReactionPoint,
    ReflectGate, Reflector, ReflectorControl, Registration, Scheme, Scope, SinkSite, Slot, SourceSite,
    choice, params,
};

choice! {
    /// When the DE bit is set.
    pub enum De {
        /// The bit is set when the frame meets q > Q_eq.
        Queue = "queue",
        /// The bit is set when Fb < 0 at the frame's arrival.
        Feedback = "feedback",
        /// The bit is never set.
        Never = "never",
    }
}

params! {
    /// Parameters that 3pt adds to those of QCN-2pt.
    pub struct ReflectionParams {
        /// Probability that an unmarked received frame is answered by a message.
        ref_p: f64 = 0.04, symbol "RefP", from 0.0, to 1.0;
        /// When the DE bit is set.
        de: De = De::Queue, symbol "DE";
        /// Messages that make a fast-recovery cycle.
        fr_every_n_messages: u32 = 1, symbol "", from 1, to 1000;
        /// The byte cycles of QCN-2pt count beside the messages.
        byte_counter: bool = true, symbol "";
    }
}

/// All parameters of QCN-3pt: those of QCN-2pt, and those of the reflection point.
pub type Qcn3ptParams = Join<QcnParams, ReflectionParams>;

/// Keys that were set but have no effect under these settings, with the reason.
fn idle(p: &Qcn3ptParams) -> Idle {
    let mut idle = p.first.idle();
    if !p.second.byte_counter {
        idle.extend(["fr_bytes", "ai_bytes", "byte_restart"].map(|key| (key, "byte_counter is off")));
    }
    idle
}

/// The scheme QCN-3pt with its parameters.
#[derive(Debug)]
pub struct Qcn3pt(pub Qcn3ptParams);

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "QCN with a reflection point (2007)";
    Registration::with_idle(title, include_str!("qcn_3pt.rs"), Qcn3ptParams::default(), idle, Qcn3pt)
        .promise(Promise::reacting(Rate::from_mbps(10.0)))
}

impl Scheme for Qcn3pt {
    fn name(&self) -> &str {
        "qcn-3pt"
    }
    fn plan(&self) -> Plan {
        let reflect = ReflectGate::Unmarked(self.0.second.ref_p);
        Plan { reflect, reflector_scope: Scope::Host, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let mark = match self.0.second.de {
            De::Queue => Mark::Queue,
            De::Feedback => Mark::Feedback,
            De::Never => Mark::Never,
        };
        Some(Box::new(Point::new(self.0.first.clone(), site.point, mark)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let rates = Rates::new(self.0.first.clone());
        Some(Box::new(Reaction { rates, reflection: self.0.second.clone(), messages: 0 }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Reflection))
    }
    /// A reflection is for limited flows only.
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::Cnm { qntz_fb, .. } if *qntz_fb > 0)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CNM_MESSAGES, REFLECTIONS_USED, REFLECTIONS_SENT]
    }
}

#[derive(Debug)]
struct Reflection;

impl Reflector for Reflection {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.count(REFLECTIONS_SENT);
        ctl.reply(Feedback::Reflection);
    }
}

#[derive(Debug)]
struct Reaction {
    rates: Rates,
    reflection: ReflectionParams,
    messages: u32,
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        match *feedback {
            Feedback::Cnm { qntz_fb, .. } if qntz_fb > 0 => {
                let restarts = self.rates.cut(qntz_fb.min(63), limiter);
                self.messages = 0;
                if self.reflection.byte_counter && restarts {
                    limiter.wake_after(self.rates.need());
                }
            }
            Feedback::Reflection if limiter.is_engaged() => {
                limiter.count(REFLECTIONS_USED);
                self.messages += 1;
                let recovering = self.rates.cycle < self.rates.p.fr_threshold;
                if !recovering || self.messages >= self.reflection.fr_every_n_messages {
                    self.messages = 0;
                    self.rates.cycle(limiter);
                }
            }
            _ => {}
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.rates.cycle(limiter);
        limiter.wake_after(self.rates.need());
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.rates.period(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::Params as _;
    use cnsim_scheme_api::testing::{PointRig, ReactionRig};
    use cnsim_scheme_api::{Rate, Tag};

    #[test]
    fn a_reflection_is_a_finished_cycle() {
        let line = Rate::from_gbps(10.0);
        let mut rig = ReactionRig::new(set("byte_counter", "off"), line);
        rig.feedback(&Feedback::Reflection);
        assert!(!rig.engaged(), "an unlimited flow ignores it");
        rig.cnm(63);
        let low = rig.rate();
        rig.send(150_000);
        assert_eq!(rig.rate(), low, "the messages alone");
        rig.feedback(&Feedback::Reflection);
        assert_eq!(rig.rate(), (low + line) * 0.5);
    }

    fn set(key: &str, text: &str) -> Qcn3pt {
        let mut params = Qcn3ptParams::default();
        params.set(key, text).unwrap();
        Qcn3pt(params)
    }

    /// The first sample sees 0 B; later ones the queue as it stands: above Q_eq = 26 176 B both rules mark. Before the
    /// first, W = 2 puts Fb = 0 at 8725 B.
    #[test]
    fn marks_by_queue_or_feedback() {
        for (de, early, late) in
            [("queue", 26_176, 26_176), ("feedback", 8_725, 26_176), ("never", u64::MAX, u64::MAX)]
        {
            let mut rig = PointRig::new(&set("de", de), Rate::from_gbps(10.0), 1).unwrap();
            let marks = |rig: &PointRig, above: u64| {
                let at = |q| rig.state.ramp.is_some_and(|r| r.probability(q) > 0.0);
                above == u64::MAX && rig.state.ramp.is_none() || (!at(above) && at(above.saturating_add(1)))
            };
            assert!(marks(&rig, early), "{de}: {:?}", rig.state.ramp);
            (0..500).for_each(|_| {
                rig.frame(1, 26_176, Tag::None);
            });
            assert!(marks(&rig, late), "{de}: {:?}", rig.state.ramp);
        }
    }

    /// 4 % of what is not marked.
    #[test]
    fn reflects_a_share_of_unmarked_frames() {
        assert_eq!(set("ref_p", "0.04").plan().reflect, ReflectGate::Unmarked(0.04));
        let mut rig = ReactionRig::new(Qcn3pt(Qcn3ptParams::default()), Rate::from_gbps(10.0));
        rig.cnm(0);
        assert!(!rig.built(), "a message of 0 is nothing");
        rig.cnm(63);
        rig.feedback(&Feedback::Reflection);
        (0..4).for_each(|_| rig.cnm(0));
        rig.feedback(&Feedback::Reflection);
        let expected = 10.0 - 10.0 * 63.0 / 128.0 / 4.0;
        assert!((rig.rate().gbps() - expected).abs() < 1e-9, "nor is it between two cycles: {}", rig.rate());
        let mut rig = ReactionRig::new(Qcn3pt(Qcn3ptParams::default()), Rate::from_gbps(10.0));
        rig.cnm(63);
        let low = rig.rate();
        rig.send(150_000);
        assert!(rig.rate() > low, "byte cycles beside the messages");
    }

    #[test]
    fn four_messages_a_cycle() {
        let mut params = Qcn3ptParams::default();
        params.set("fr_every_n_messages", "4").unwrap();
        let mut rig = ReactionRig::new(Qcn3pt(params), Rate::from_gbps(10.0));
        rig.cnm(63);
        let low = rig.rate();
        (0..3).for_each(|_| rig.feedback(&Feedback::Reflection));
        assert_eq!(rig.rate(), low);
        rig.feedback(&Feedback::Reflection);
        assert!(rig.rate() > low);
    }
}
