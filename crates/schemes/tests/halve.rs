//! Halve: a queue above its set point asks the sender of a sampled frame to halve its rate. [idea, table]
//!
//! Sources: none, this is an example.

use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FrameView, Limiter, PointControl, Queue, QueueSite, Rate,
    ReactionPoint, Scheme, Slot, SourceSite, Time, params,
};

params! {
    /// Parameters of Halve.
    pub struct Halve {
        /// Queue length above which a sampled frame is answered.
        q_eq: Bytes = Bytes::from_kb(26), symbol "Q_eq", from Bytes::new(64), to Bytes::from_mb(10);
        /// Bytes between samples.
        interval: Bytes = Bytes::from_kb(150), symbol "I_s", from Bytes::new(64), to Bytes::from_mb(10);
        /// Rate won back per period.
        step: Rate = Rate::from_mbps(50.0), symbol "R_AI", from Rate::from_mbps(1.0), to Rate::from_gbps(10.0);
        /// Period of recovery.
        period: Time = Time::from_ms(1), symbol "T", from Time::from_us(1), to Time::from_s(1);
        /// Smallest rate.
        r_min: Rate = Rate::from_mbps(10.0), symbol "R_min", from Rate::from_mbps(1.0), to Rate::from_gbps(10.0);
    }
}

impl Scheme for Halve {
    fn name(&self) -> &str {
        "halve"
    }
    fn congestion_point(&self, _site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point { p: self.clone() }))
    }
    fn reaction_point(&self, _site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { p: self.clone() }))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::User(_))
    }
}

#[derive(Debug)]
struct Point {
    p: Halve,
}

impl CongestionPoint for Point {
    fn start(&mut self, _queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(self.p.interval);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        if queue.len > self.p.q_eq {
            ctl.notify(frame.flow, Feedback::User([0, 0]));
        }
        ctl.sample_after(self.p.interval);
    }
}

const RECOVER: Slot = Slot(0);

#[derive(Debug)]
struct Reaction {
    p: Halve,
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if matches!(feedback, Feedback::User(_)) {
            limiter.engage();
            limiter.set_rate((limiter.rate() / 2.0).max(self.p.r_min).min(limiter.line_rate()));
            limiter.start_timer(RECOVER, self.p.period);
        }
    }
    fn on_timer(&mut self, _slot: Slot, limiter: &mut Limiter<'_>) {
        limiter.set_rate((limiter.rate() + self.p.step).min(limiter.line_rate()));
        if limiter.rate() < limiter.line_rate() {
            limiter.start_timer(RECOVER, self.p.period);
        } else {
            limiter.release_when_empty();
        }
    }
}

// The lines above stand in CONTRIBUTING.md, as the worked example: here they are compiled, and keep the contract.

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{Promise, ReactionRig, conformance};

    const FILE: &str = include_str!("halve.rs");
    const GUIDE: &str = include_str!("../../../CONTRIBUTING.md");

    #[test]
    fn the_guide_shows_this_file() {
        let (example, _) = FILE.split_once("\n// The lines above").unwrap();
        let plain: Vec<&str> = GUIDE.lines().map(|l| l.strip_prefix("   ").unwrap_or(l)).collect();
        let shown = |at: usize| example.lines().enumerate().all(|(i, l)| plain.get(at + i) == Some(&l));
        assert!((0..plain.len()).any(shown), "CONTRIBUTING.md and this file differ");
    }

    #[test]
    fn the_example_conforms() {
        let promise = Promise {
            floor: Rate::from_mbps(10.0),
            reacts: true,
            recovers: Some((Bytes::from_mb(100), Time::from_ms(300))),
            ..Promise::default()
        };
        conformance(&|| Box::new(Halve::default()), promise).unwrap();
    }

    /// 10, 5, 2.5 Gb/s; 50 Mb/s a millisecond later.
    #[test]
    fn rates_by_hand() {
        let mut rig = ReactionRig::new(Halve::default(), Rate::from_gbps(10.0));
        (0..2).for_each(|_| rig.feedback(&Feedback::User([0, 0])));
        assert_eq!(rig.rate(), Rate::from_gbps(2.5));
        rig.wait(Time::from_ms(1));
        assert_eq!(rig.rate(), Rate::from_gbps(2.55));
    }
}
