//! # DCTCP: data centre TCP
//!
//! A switch marks each frame that arrives while its output queue is longer than `K`. From the share of marked bytes in each
//! window the source estimates how much congestion there is (`alpha`). Once per window, the first mark cuts the window by half
//! of that share. Without marks the window grows by a frame per round trip.
//!
//! Sources: M. Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010, and RFC 8257 (both from memory); the simulator of
//! HPCC, alibaba-edu/High-Precision-Congestion-Control 9f4be2a (`rdma-hw.cc`, `run.py`: read).
//!
//! | paper | here |
//! |---|---|
//! | mark if the queue is longer than `K` on arrival | [`step`] |
//! | `alpha = (1 - g) alpha + g F`, once per window | [`averaged`] |
//! | `cwnd (1 - alpha / 2)`, once per window | [`cut`] |
//! | slow start; one frame per round trip | `Reaction::grow` |
//!
//! ## Two forms
//!
//! | | `form = window`: the paper | `form = rate`: HPCC's simulator |
//! |---|---|---|
//! | start | `initial_window` frames, slow start | line rate |
//! | held back by | the window | the rate, and a window of the bandwidth-delay product at that rate |
//! | growth | a frame per round trip, not after a cut in the same round trip | `ai_rate` per window, as long as none was cut |
//! | NACK, timeout | half the window; one frame and slow start | nothing |
//!
//! ## Assumptions, each a parameter
//!
//! * `mark_at = arrival`. HPCC's simulator marks as a frame departs, by the queue behind it.
//! * `k_rate`: `k` is for ports of this rate, and grows with a port's rate, from `k_least` on. Off: it is equal at all ports.
//! * `ramp = 1`: a step, as the paper has it. ns-3's example of the paper's two bottlenecks marks at most 2 % from K to three times K.
//! * `initial_alpha = 1`, as RFC 8257 has it: the first cut halves.
//! * `min_window = 2`: the window does not fall below two frames, as in Linux.
//! * `base_rtt = 0`, `header = 0` (`form = rate`): T is that of the flow's path, and the window counts all bytes of a frame.
//!
//! ## Deviations
//!
//! * A window that the flow does not fill does not grow, as Linux and RFC 7661 have it: a flow that its link limits would else have a
//!   window without bound, and keep the link from flows that come later.
//! * A window holds whole frames. Nothing but marks and losses moves it; there is no recovery as TCP has it.
//! * An initial rate of the scenario begins with a window of the bandwidth-delay product at that rate, and without slow start.
//!
//! ## Against closed forms
//!
//! With N flows in step the paper gives a largest queue of K + N frames and a swing of `sqrt(2 N (C RTT + K)) / 2`. Let W be the
//! window that fills the pipe and K. A cycle has one window with marks and `(W + 1) alpha / 2` without.
//! So `alpha (1 + (W + 1) alpha / 2) = 1`. The paper weighs windows by their frames. It has `alpha = sqrt(2 / W)`, which is 8 %
//! more at W = 100. Tests compare with both: N of 2 to 40 at 10 Gb/s have the largest queue to the frame, and a swing within 12 %.
//!
//! At two bottlenecks the paper's flows get 46, 475 and 54 Mb/s (figure 17); here 43.8, 460 and 52.6. With its ramps, ns-3's example has
//! 23, 471 and 74; here 28.4, 468 and 68.0. RED as ns-3 has it spaces its marks, which this ramp does not.

use crate::counters::CUTS;
use crate::dcqcn::MarkAt;
use crate::queue_pair::{self, MarkRow, Marker, PacedWindow};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, CongestionPoint, Counter, Idle, Limiter, Loss, Plan, Preset, QueueSite, Ramp,
    Rate, ReactionPoint, Registration, Scheme, SourceSite, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// How a flow is held back.
    pub enum Form {
        /// By a window alone, as in the paper.
        Window = "window",
        /// By a rate, and a window in proportion, as in HPCC's simulator.
        Rate = "rate",
    }
}

params! {
    /// Parameters of DCTCP, with the paper's values for 10 Gb/s and frames of 1500 B.
    pub struct DctcpParams {
        /// How a flow is held back.
        form: Form = Form::Window, symbol "";
        /// Queue length above which every frame is marked (paper: 65 frames at 10 Gb/s, 20 at 1; HPCC's simulator: 3 KB for each Gb/s).
        k: Bytes = Bytes::new(97_500), symbol "K", from Bytes::ZERO, to Bytes::from_mb(1000);
        /// Port rate for which `k` is given: it scales with a port's rate. Off: it is equal at all ports.
        k_rate: Option<Rate> = None, symbol "", from Some(Rate::from_bps(1e4)), to Some(Rate::from_gbps(10_000.0));
        /// Smallest K at a slower port, where it scales (paper: 20 frames at 1 Gb/s beside 65 at 10).
        k_least: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::from_mb(1000);
        /// Marks of ports by their rate, such as `100 Gb/s: 400 KB to 1600 KB at 0.2`; ports of other rates have `k`.
        k_table: Option<Vec<MarkRow>> = None, symbol "";
        /// Queue length, in K, above which every frame is marked; from K on a share of frames is (paper: a step; ns-3's example: 3).
        ramp: f64 = 1.0, symbol "", from 1.0, to 1000.0;
        /// Share that is marked at the end of such a ramp (ns-3's example).
        p_max: f64 = 0.02, symbol "P_max", from 0.0, to 1.0;
        /// When the queue length is read (paper: on arrival).
        mark_at: MarkAt = MarkAt::Arrival, symbol "";
        /// Gain of alpha (paper, Linux, HPCC's simulator).
        g: f64 = 1.0 / 16.0, symbol "g", from 0.0, to 1.0;
        /// Alpha at the start (RFC 8257, HPCC's simulator; other simulators 0).
        initial_alpha: f64 = 1.0, symbol "", from 0.0, to 1.0;
        /// Window at the start, frames (RFC 6928).
        initial_window: u32 = 10, symbol "IW", from 1, to 1_000_000;
        /// Smallest window, frames (Linux).
        min_window: u32 = 2, symbol "", from 1, to 1_000_000;
        /// Step of the rate per window (HPCC's simulator: 1000 B in 13 us).
        ai_rate: Rate = Rate::from_mbps(615.0), symbol "R_AI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Smallest rate (HPCC's simulator: 1 Gb/s).
        min_rate: Rate = Rate::from_mbps(100.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Base round-trip time of the window that goes with a rate; 0 for that of the flow's path.
        base_rtt: Time = Time::ZERO, symbol "T", from Time::ZERO, to Time::from_s(1);
        /// Bytes of a full frame that this window does not count (HPCC's simulator: 48 of 1048).
        header: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::new(1000);
    }
}

impl DctcpParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let (keys, why): (&[&'static str], _) = match self.form {
            Form::Window => (&["ai_rate", "min_rate", "base_rtt", "header"], "form is window"),
            Form::Rate => (&["initial_window", "min_window"], "form is rate"),
        };
        let mut idle: Idle = keys.iter().map(|key| (*key, why)).collect();
        if self.k_rate.is_none() {
            idle.push(("k_least", "k_rate is off"));
        }
        if self.ramp <= 1.0 {
            idle.push(("p_max", "ramp is 1: every frame is marked above K"));
        }
        idle
    }
}

/// The settings of HPCC's simulator.
const PRESETS: [Preset; 1] = [queue_pair::preset_hpcc(|rate| {
    let own = [
        ("form", "rate".to_string()),
        ("k", format!("{:.0} KB", (3.0 * rate.gbps()).max(1.0))),
        ("k_rate", rate.to_string()),
        ("mark_at", "departure".into()),
        ("min_rate", queue_pair::preset_floor(rate)),
        ("header", "48 B".into()),
    ];
    own.to_vec()
})];

/// The step, or ramp, by which a port of this rate marks.
pub fn step(p: &DctcpParams, rate: Rate) -> Ramp {
    if let Some(ramp) = MarkRow::ramp(p.k_table.as_ref(), rate, p.mark_at.of_ramp()) {
        return ramp;
    }
    let k = p.k_rate.map_or(p.k, |own| p.k.scale(rate.bps() / own.bps()).max(p.k_least));
    let step = Ramp { at: p.mark_at.of_ramp(), ..Ramp::step(k) };
    if p.ramp > 1.0 { Ramp { high: k.scale(p.ramp), p_max: p.p_max, ..step } } else { step }
}

/// `(1 - g) alpha + g F`: alpha after a window with a share of `f` marked.
pub fn averaged(alpha: f64, g: f64, f: f64) -> f64 {
    (1.0 - g) * alpha + g * f
}

/// `1 - alpha / 2`: the part of a window or rate that a cut leaves.
pub fn cut(alpha: f64) -> f64 {
    1.0 - alpha / 2.0
}

/// The scheme DCTCP with its parameters.
#[derive(Debug)]
pub struct Dctcp(Arc<DctcpParams>);

impl Dctcp {
    /// DCTCP with these parameters.
    pub fn new(p: DctcpParams) -> Self {
        Self(Arc::new(p))
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "data centre TCP: windows by the share of marks (2010)";
    let text = include_str!("dctcp.rs");
    Registration::with_idle(title, text, DctcpParams::default(), DctcpParams::idle, Dctcp::new)
        .presets(Rate::from_gbps(10.0), &PRESETS)
        .promise(Promise::reacting(Rate::from_mbps(100.0)))
}

impl Scheme for Dctcp {
    fn name(&self) -> &str {
        "dctcp"
    }
    fn plan(&self) -> Plan {
        let paces = self.0.form == Form::Rate;
        Plan { paces, exact_marks: true, ..queue_pair::plan(Acks::Needed) }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Marker(step(&self.0, site.rate))))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let t = queue_pair::base_rtt(self.0.base_rtt, site);
        let frame = site.mtu.as_f64();
        let product = |rate: Rate| rate.bps() / 8.0 * site.base_rtt.as_secs_f64();
        let given = site.initial_rate.map(|rate| (product(rate) / frame).max(1.0));
        Some(Box::new(Reaction {
            p: self.0.clone(),
            frame,
            paced: PacedWindow::new(t, self.0.header, site),
            rate: queue_pair::initial_rate_from(self.0.min_rate, site),
            window: given.unwrap_or(f64::from(self.0.initial_window)),
            threshold: if given.is_some() { 0.0 } else { f64::INFINITY },
            alpha: self.0.initial_alpha,
            acked: 0,
            marked: 0,
            in_flight: [0.0; 2],
            window_end: Bytes::ZERO,
            cut_until: None,
        }))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CUTS]
    }
    fn repeats(&self) -> bool {
        true
    }
}

/// The reaction point: one for each queue pair.
#[derive(Debug)]
struct Reaction {
    p: Arc<DctcpParams>,
    /// Bytes of a full frame.
    frame: f64,
    /// The window that goes with a rate.
    paced: PacedWindow,
    /// Rate, in the form of this name.
    rate: Rate,
    /// `cwnd`, in frames.
    window: f64,
    /// `ssthresh`, in frames: slow start below it.
    threshold: f64,
    alpha: f64,
    /// Bytes acknowledged in this window, and those of them with a mark.
    acked: u64,
    marked: u64,
    /// Most frames in flight in this window, and in the one before.
    in_flight: [f64; 2],
    /// An acknowledgement of more than this ends the window.
    window_end: Bytes,
    /// After a cut: no other until more than this is acknowledged.
    cut_until: Option<Bytes>,
}

impl Reaction {
    fn apply(&mut self, limiter: &mut Limiter<'_>) {
        match self.p.form {
            Form::Window => {
                self.window = self.window.max(f64::from(self.p.min_window));
                limiter.set_window(Bytes::new((self.window as u64).saturating_mul(self.frame as u64)));
            }
            Form::Rate => {
                limiter.set_rate(self.rate);
                limiter.set_window(self.paced.at(self.rate));
            }
        }
    }

    /// Slow start, or a frame per round trip, for so many frames acknowledged. A window that the flow does not fill stays as it is: in
    /// slow start one of twice the frames in flight, later one of a frame more.
    fn grow(&mut self, frames: f64) {
        let used = self.in_flight[0].max(self.in_flight[1]);
        let starts = self.window < self.threshold;
        if self.window < if starts { 2.0 * used } else { used + 1.0 } {
            self.window += if starts { frames } else { frames / self.window };
        }
    }

    /// Cuts the window to this part of itself; no other cut follows until all sent bytes are acknowledged.
    fn cut(&mut self, part: f64, limiter: &mut Limiter<'_>) {
        limiter.count(CUTS);
        self.rate = (self.rate * part).max(self.p.min_rate).min(limiter.line_rate());
        self.window = (self.window * part).max(f64::from(self.p.min_window));
        self.threshold = self.window;
        self.cut_until = Some(limiter.next_seq());
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        self.apply(limiter);
        let of_rate = AckGate { marked: true, ..AckGate::PER_WINDOW };
        limiter.wake_on_acks(if self.p.form == Form::Rate { of_rate } else { AckGate::EACH });
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.acked += ack.newly.get();
        self.marked += ack.newly_marked.get();
        let over = ack.acked > self.window_end;
        let before = (limiter.in_flight() + ack.newly).as_f64() / self.frame;
        self.in_flight[0] = self.in_flight[0].max(before);
        if over {
            self.in_flight = [before, self.in_flight[0]];
            // The first acknowledgement only begins to count.
            if self.window_end > Bytes::ZERO && self.acked > 0 {
                let share = self.marked as f64 / self.acked as f64;
                self.alpha = averaged(self.alpha, self.p.g, share);
                (self.acked, self.marked) = (0, 0);
            }
            self.window_end = limiter.next_seq().max(Bytes::new(1));
        }
        if self.cut_until.is_some_and(|until| ack.acked > until) {
            self.cut_until = None;
        }
        if ack.marked && self.cut_until.is_none() {
            self.cut(cut(self.alpha), limiter);
        }
        if self.cut_until.is_none() {
            self.grow(ack.newly.as_f64() / self.frame);
            if over {
                self.rate = (self.rate + self.p.ai_rate).min(limiter.line_rate());
            }
        }
        self.apply(limiter);
    }

    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        if self.p.form == Form::Rate || (loss == Loss::Nack && self.cut_until.is_some()) {
            return;
        }
        self.cut(0.5, limiter);
        if loss == Loss::Timeout {
            self.window = 1.0;
            self.cut_until = None;
        }
        self.apply(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::RampAt;
    use cnsim_scheme_api::testing::ReactionRig;

    const LINE: Rate = Rate::from_gbps(10.0);
    const RTT: Time = Time::from_us(12);

    fn rig(sets: &[(&str, &str)]) -> ReactionRig {
        use cnsim_scheme_api::Params;
        let mut p = DctcpParams::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        let mut rig = ReactionRig::new(Dctcp::new(p), LINE);
        (rig.site.base_rtt, rig.site.mtu) = (RTT, Bytes::new(1000));
        rig.begin();
        rig
    }

    /// Sends as the window allows.
    fn fill(rig: &mut ReactionRig) {
        while rig.state().acks.in_flight() < rig.state().acks.window {
            rig.frame(1000);
        }
    }

    /// Has each frame in flight acknowledged, the last `marked` of them with a mark, and sends at once what the window then allows.
    fn round(rig: &mut ReactionRig, marked: u64) -> u64 {
        fill(rig);
        let (from, to) = (rig.state().acks.acked / 1000, rig.state().acks.next_seq / 1000);
        for frame in from..to {
            rig.ack((frame + 1) * 1000, frame >= to - marked.min(to), RTT, &[]);
            fill(rig);
        }
        to - from
    }

    #[test]
    fn marks_above_k_in_proportion_to_the_port() {
        let mut p = DctcpParams::default();
        let by = |p: &DctcpParams, len| step(p, Rate::from_gbps(40.0)).probability(len);
        assert_eq!((by(&p, 97_500), by(&p, 97_501)), (0.0, 1.0));
        assert_eq!(step(&p, LINE).at, RampAt::Arrival);
        p.k_rate = Some(LINE);
        assert_eq!((by(&p, 390_000), by(&p, 390_001)), (0.0, 1.0));
        p.k_least = Bytes::from_kb(30);
        let at = |p: &DctcpParams, gbps, len| step(p, Rate::from_gbps(gbps)).probability(len);
        assert_eq!((at(&p, 1.0, 30_000), at(&p, 1.0, 30_001)), (0.0, 1.0));
        assert_eq!((at(&p, 10.0, 97_500), at(&p, 10.0, 97_501)), (0.0, 1.0));
        p.ramp = 3.0;
        assert_eq!((at(&p, 1.0, 30_000), at(&p, 1.0, 60_000), at(&p, 1.0, 90_001)), (0.0, 0.01, 1.0));
    }

    /// In slow start a window grows to twice the frames in flight, later to one more than these.
    #[test]
    fn a_window_that_is_not_filled() {
        let mut rig = rig(&[]);
        let mut to = 0;
        let mut few = |rig: &mut ReactionRig, marked: bool| {
            for _ in 0..5 {
                for _ in 0..5 {
                    rig.frame(1000);
                }
                for _ in 0..5 {
                    to += 1000;
                    rig.ack(to, marked, RTT, &[]);
                }
            }
            rig.state().acks.window
        };
        assert_eq!(few(&mut rig, false), 10_000, "ten frames of which five are used");
        let cut = few(&mut rig, true);
        assert!(cut < 5000, "{cut}");
        for _ in 0..100 {
            few(&mut rig, false);
        }
        assert_eq!(few(&mut rig, false), 6000);
    }

    /// 10, 20, 40 frames; a mark halves 80 to 40, as alpha was 1 and the marked share of the window moves it by a sixteenth.
    #[test]
    fn slow_start_and_the_first_cut() {
        let mut rig = rig(&[]);
        let sent: Vec<u64> = (0..3).map(|_| round(&mut rig, 0)).collect();
        assert_eq!(sent, [10, 20, 40]);
        assert_eq!(rig.state().acks.window, 80_000);
        // Three windows without a mark are over by the first frame of the fourth but one that only begins to count.
        rig.ack(71_000, true, RTT, &[]);
        let alpha = (0..3).fold(1.0, |alpha, _| averaged(alpha, 1.0 / 16.0, 0.0));
        let alpha_with_mark = averaged(alpha / (1.0 - 1.0 / 16.0), 1.0 / 16.0, 1.0 / 40.0);
        let window = rig.state().acks.window as f64 / 80_000.0;
        assert!((window - cut(alpha_with_mark)).abs() < 0.02, "{window} {}", cut(alpha_with_mark));
        let before = rig.state().acks.window;
        rig.ack(72_000, true, RTT, &[]);
        assert_eq!(rig.state().acks.window, before, "one cut a window");
    }

    /// A frame a round trip; half at a NACK, one frame (the floor is two) at a timeout, then slow start.
    #[test]
    fn growth_and_losses_by_hand() {
        let mut rig = rig(&[("initial_window", "16"), ("initial_alpha", "0"), ("min_window", "1")]);
        round(&mut rig, 1);
        round(&mut rig, 0);
        let at = rig.state().acks.window;
        for _ in 0..4 {
            round(&mut rig, 0);
        }
        let grown = (rig.state().acks.window - at) / 1000;
        assert!((3..=4).contains(&grown), "{grown}");
        let before = rig.state().acks.window;
        rig.frame(1000);
        rig.lose(Loss::Nack);
        assert!(rig.state().acks.window.abs_diff(before / 2) <= 1000);
        rig.lose(Loss::Timeout);
        assert_eq!(rig.state().acks.window, 1000);
        assert_eq!((0..3).map(|_| round(&mut rig, 0)).collect::<Vec<_>>(), [1, 2, 4]);
    }

    /// Of 16 frames a NACK leaves 8, and a second one before any acknowledgement no fewer. After one the next halves; a timeout
    /// always cuts.
    #[test]
    fn nacks_halve_once_a_window() {
        let mut rig = rig(&[("initial_window", "16"), ("min_window", "1")]);
        fill(&mut rig);
        rig.lose(Loss::Nack);
        assert_eq!(rig.state().acks.window, 8000);
        rig.lose(Loss::Nack);
        assert_eq!(rig.state().acks.window, 8000);
        fill(&mut rig);
        rig.ack(1000, false, RTT, &[]);
        assert_eq!(rig.state().acks.window, 8000, "8 frames and an eighth");
        rig.lose(Loss::Nack);
        assert_eq!(rig.state().acks.window, 4000, "4 frames and a sixteenth");
        rig.lose(Loss::Timeout);
        assert_eq!((rig.state().acks.window, rig.counts.of("cuts")), (1000, Some(3)));
        // Half of 4 is where slow start ends: a frame for each of two, then one a round trip.
        assert_eq!((0..4).map(|_| round(&mut rig, 0)).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    /// A mark's first cut halves, as alpha is 1; a NACK of the same window cuts nothing.
    #[test]
    fn a_nack_after_a_mark() {
        let mut rig = rig(&[("initial_window", "16")]);
        fill(&mut rig);
        rig.ack(1000, true, RTT, &[]);
        assert_eq!(rig.state().acks.window, 8000);
        rig.lose(Loss::Nack);
        assert_eq!(rig.state().acks.window, 8000);
    }

    /// A window ends by the first frame sent after it, not by its own last one. Of 24 frames two are in flight; the second has a mark,
    /// which cuts by an alpha of 1; the third begins a window, and alpha is then two thirds.
    #[test]
    fn a_window_ends_behind_its_last_frame() {
        let mut rig = rig(&[("initial_window", "24"), ("g", "1")]);
        (0..2).for_each(|_| _ = rig.frame(1000));
        rig.ack(1000, false, RTT, &[]);
        rig.ack(2000, true, RTT, &[]);
        assert_eq!(rig.state().acks.window, 12_000);
        rig.frame(1000);
        rig.ack(3000, true, RTT, &[]);
        assert_eq!(rig.state().acks.window, 8000, "by a third, as two of three had a mark");
    }

    /// 4 Gb/s for 12 us are 6 frames, and none of them is slow start: a round trip adds one.
    #[test]
    fn a_rate_to_begin_at_is_a_window() {
        let mut rig = ReactionRig::new(Dctcp::new(DctcpParams::default()), LINE);
        (rig.site.base_rtt, rig.site.mtu) = (RTT, Bytes::new(1000));
        rig.site.initial_rate = Some(Rate::from_gbps(4.0));
        rig.begin();
        assert_eq!((0..3).map(|_| round(&mut rig, 0)).collect::<Vec<_>>(), [6, 6, 7]);
    }

    /// 10 Gb/s for 12 us are 15,000 B. The first window's alpha of 1 halves; then a step per window without a mark.
    #[test]
    fn rates_by_hand() {
        let mut rig = rig(&[("form", "rate"), ("ai_rate", "1 Gb/s")]);
        assert_eq!((rig.rate(), rig.state().acks.window), (LINE, 15_000));
        fill(&mut rig);
        for frame in 1..=15 {
            rig.ack(frame * 1000, false, RTT, &[]);
        }
        rig.frame(1000);
        rig.ack(16_000, true, RTT, &[]);
        // The window of 15 frames and this one had one mark of 16; the first only began to count, but is counted.
        let alpha = averaged(1.0, 1.0 / 16.0, 1.0 / 16.0);
        assert!((rig.rate().gbps() - 10.0 * cut(alpha)).abs() < 1e-9, "{}", rig.rate());
        let (rate, window) = (rig.rate(), rig.state().acks.window);
        assert_eq!(window, (rate.bps() * 12e-6 / 8.0) as u64);
        rig.frame(1000);
        rig.ack(17_000, true, RTT, &[]);
        assert!(rig.rate() < rate, "all that had been sent at the cut is acknowledged");
        let rate = rig.rate();
        rig.send(2000);
        rig.ack(18_000, false, RTT, &[]);
        assert!((rig.rate().gbps() - rate.gbps() - 1.0).abs() < 1e-9, "{} {rate}", rig.rate());
        rig.lose(Loss::Timeout);
        assert!(rig.rate() > rate);
    }

    /// One flow, whose window swings about a pipe with K of W frames: the paper's alpha. Every frame is marked that is sent while
    /// more than W are in flight, which a round trip sees. The gain is small, as the closed form takes alpha as constant.
    #[test]
    fn alpha_of_the_sawtooth() {
        for full in [100_u64, 400] {
            let mut rig = rig(&[("initial_window", "30"), ("initial_alpha", "0.2"), ("g", "0.004")]);
            let (mut cuts, mut rounds, mut marks) = (Vec::new(), 0, false);
            while cuts.len() < 400 && rounds < 200_000 {
                let before = rig.state().acks.window;
                let over = (before / 1000 > full) && !marks;
                let n = before / 1000;
                round(&mut rig, if over { n } else { 0 });
                marks = over;
                let after = rig.state().acks.window;
                if over {
                    cuts.push(2.0 * (1.0 - after as f64 / before as f64));
                }
                rounds += 1;
            }
            let mean = cuts[200..].iter().sum::<f64>() / 200.0;
            // A cycle has one window with marks and (W + 1) alpha / 2 without: alpha (1 + (W + 1) alpha / 2) = 1.
            let w = full as f64 + 1.0;
            let by_hand = ((1.0 + 2.0 * w).sqrt() - 1.0) / w;
            assert!((mean / by_hand - 1.0).abs() < 0.02, "W = {full}: alpha {mean}, by hand {by_hand}");
            let paper = (2.0 / full as f64).sqrt();
            assert!((mean / paper - 1.0).abs() < 0.1, "W = {full}: alpha {mean}, paper {paper}");
        }
    }
}
