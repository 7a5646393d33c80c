//! Parameters of DCQCN. Rules that its sources leave open are choices.

use crate::queue_pair::MarkRow;
use cnsim_scheme_api::{Bytes, Idle, RampAt, Rate, Time, choice, params};

choice! {
    /// When the queue length for the ramp is read.
    pub enum MarkAt {
        /// The length is read when the frame's transmission begins; the frame is not counted.
        Departure = "departure",
        /// The length is read when the frame arrives; the frame is counted.
        Arrival = "arrival",
    }
}

choice! {
    /// The meaning of "at most one CNP per interval".
    pub enum CnpSpacing {
        /// Marks less than an interval after a CNP are ignored.
        SinceLast = "since-last",
        /// Marks less than an interval after a CNP cause one more CNP, at the first frame after the interval.
        Deferred = "deferred",
        /// At most one CNP in each interval of a clock, with a random phase for each flow.
        Windows = "windows",
        /// At most one CNP for each interval of such a clock, at the first frame after the interval.
        WindowEnd = "window-end",
    }
}

choice! {
    /// Which frames the destination answers.
    pub enum Echo {
        /// The destination answers marked frames by CNPs.
        Marks = "marks",
        /// The destination answers each frame by 64 B with the frame's mark, as acknowledgements echo marks.
        Frames = "frames",
        /// The acknowledgements of the network bring the marks back: each with a mark is a CNP.
        Acks = "acks",
    }
}

choice! {
    /// When alpha is updated.
    pub enum AlphaUpdate {
        /// Alpha is updated at a CNP, and after each whole period without one.
        OnCnp = "on-cnp",
        /// Alpha is updated once per period, by whether a CNP came in it.
        Periodic = "periodic",
    }
}

choice! {
    /// Which alpha a cut uses (`alpha_update = on-cnp`).
    pub enum CutOrder {
        /// The cut uses alpha before this CNP.
        CutFirst = "cut-first",
        /// The cut uses alpha as raised by this CNP.
        AlphaFirst = "alpha-first",
    }
}

choice! {
    /// When a CNP cuts.
    pub enum CutWhen {
        /// The CNP cuts on arrival.
        AtCnp = "at-cnp",
        /// The CNP cuts at the end of its clock period: `cut_period` long, counted from the first CNP.
        Periodic = "periodic",
    }
}

choice! {
    /// The counters whose expiries decide the stage.
    pub enum Stages {
        /// Timer and byte counter decide.
        Both = "both",
        /// The timer alone decides: fewer than `F` expiries are fast recovery, `F` additive increase, more hyper increase.
        Timer = "timer",
    }
}

choice! {
    /// Whether an expiry counts itself when it determines the stage.
    pub enum StageTest {
        /// The expiry is counted, then the stage is determined.
        After = "after",
        /// The stage is determined, then the expiry is counted.
        Before = "before",
    }
}

choice! {
    /// Step of hyper increase.
    pub enum HaiStep {
        /// The step is multiplied by the number of the hyper-increase stage.
        Stage = "stage",
        /// The step is constant.
        Fixed = "fixed",
    }
}

choice! {
    /// When a limiter is removed.
    pub enum Release {
        /// A limiter is never removed.
        Never = "never",
        /// A limiter is removed when its flow is back at line rate.
        AtLineRate = "at-line-rate",
    }
}

impl MarkAt {
    /// As a ramp has it.
    pub(crate) fn of_ramp(self) -> RampAt {
        match self {
            Self::Departure => RampAt::Departure,
            Self::Arrival => RampAt::Arrival,
        }
    }
}

params! {
    /// Parameters of DCQCN, with the defaults of the paper for 40 Gb/s.
    pub struct DcqcnParams {
        /// Queue length up to which nothing is marked.
        k_min: Bytes = Bytes::from_kb(5), symbol "K_min", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Queue length at which the ramp ends; every frame is marked above it.
        k_max: Bytes = Bytes::from_kb(200), symbol "K_max", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Port rate for which `k_min` and `k_max` are given: they scale with a port's rate. Off: they are equal at all ports.
        k_rate: Option<Rate> = None, symbol "", from Some(Rate::from_bps(1e4)), to Some(Rate::from_gbps(10_000.0));
        /// Marks of ports by their rate, such as `100 Gb/s: 400 KB to 1600 KB at 0.2`; ports of other rates have `k_min`, `k_max` and
        /// `p_max`.
        k_table: Option<Vec<MarkRow>> = None, symbol "";
        /// Marking probability at the end of the ramp.
        p_max: f64 = 0.01, symbol "P_max", from 0.0, to 1.0;
        /// When the queue length for the ramp is read.
        mark_at: MarkAt = MarkAt::Departure, symbol "";
        /// Which frames the destination answers.
        echo: Echo = Echo::Marks, symbol "";
        /// Least time between CNPs of a flow.
        cnp_interval: Time = Time::from_us(50), symbol "N, tau", from Time::ZERO, to Time::from_s(100);
        /// The meaning of "at most one CNP per interval".
        cnp_spacing: CnpSpacing = CnpSpacing::Deferred, symbol "";
        /// Period of alpha.
        alpha_period: Time = Time::from_us(55), symbol "tau'", from Time::from_ns(1), to Time::from_s(100);
        /// When alpha is updated.
        alpha_update: AlphaUpdate = AlphaUpdate::OnCnp, symbol "";
        /// Which alpha a cut uses.
        cut_order: CutOrder = CutOrder::CutFirst, symbol "";
        /// Gain of alpha.
        g: f64 = 1.0 / 256.0, symbol "g", from 0.0, to 1.0;
        /// Alpha at the first CNP.
        initial_alpha: f64 = 1.0, symbol "", from 0.0, to 1.0;
        /// Part of alpha by which the rate is cut.
        gd: f64 = 0.5, symbol "", from 0.0, to 1.0;
        /// Smallest part of the rate that a cut leaves.
        min_dec_fac: f64 = 0.0, symbol "", from 0.0, to 1.0;
        /// Least time between cuts: earlier CNPs move only alpha, or wait (`cut_when`). Off for none.
        cut_period: Option<Time> = None, symbol "", from Some(Time::from_ns(1)), to Some(Time::from_s(100));
        /// When a CNP cuts.
        cut_when: CutWhen = CutWhen::AtCnp, symbol "";
        /// Rate set by the first CNP before its cut; off for the present rate.
        rate_on_first_cnp: Option<Rate> = None, symbol "", from Some(Rate::from_bps(1e4)), to Some(Rate::from_gbps(10_000.0));
        /// Every cut lowers the target to the rate before it.
        clamp_tgt_rate: bool = true, symbol "";
        /// With `clamp_tgt_rate` off: a cut lowers the target also if only timer stages came before it.
        clamp_tgt_rate_after_time_inc: bool = true, symbol "";
        /// Increase timer.
        time_reset: Time = Time::from_us(55), symbol "T", from Time::from_ns(100), to Time::from_s(100);
        /// Increase byte counter, off for none.
        byte_reset: Option<Bytes> = Some(Bytes::from_mb(10)), symbol "B", from Some(Bytes::new(64)), to Some(Bytes::from_mb(100_000));
        /// Stages of fast recovery.
        threshold: u32 = 5, symbol "F", from 0, to 1_000_000;
        /// The counters whose expiries decide the stage.
        stages: Stages = Stages::Both, symbol "";
        /// Whether an expiry counts itself when it determines the stage.
        stage_test: StageTest = StageTest::After, symbol "";
        /// Additive step of the target.
        ai_rate: Rate = Rate::from_mbps(40.0), symbol "R_AI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Hyper step of the target.
        hai_rate: Rate = Rate::from_mbps(400.0), symbol "R_HAI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// How the hyper step grows.
        hai_step: HaiStep = HaiStep::Stage, symbol "";
        /// Smallest rate of a limiter.
        min_rate: Rate = Rate::from_mbps(40.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// When a limiter is removed.
        release: Release = Release::Never, symbol "";
    }
}

impl DcqcnParams {
    /// Are cuts periodic?
    pub(super) fn by_clock(&self) -> bool {
        self.cut_when == CutWhen::Periodic && self.cut_period.is_some()
    }

    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        let mut note = |on: bool, key, why| {
            if on {
                idle.push((key, why));
            }
        };
        note(
            self.min_dec_fac <= 1.0 - self.gd,
            "min_dec_fac",
            "no cut is that large: alpha is at most 1, so at least 1 - gd is left",
        );
        note(self.k_min > self.k_max, "k_min", "k_max is below it: the ramp is a step there");
        note(self.clamp_tgt_rate, "clamp_tgt_rate_after_time_inc", "clamp_tgt_rate is on");
        note(
            self.cnp_interval == Time::ZERO,
            "cnp_spacing",
            "cnp_interval is 0: every marked frame makes a CNP",
        );
        let every = match self.echo {
            Echo::Marks => None,
            Echo::Frames => Some("echo is frames: every frame is answered"),
            Echo::Acks => Some("echo is acks: every acknowledgement brings its mark"),
        };
        if let Some(why) = every {
            note(self.cnp_interval > Time::ZERO, "cnp_interval", why);
            note(true, "cnp_spacing", why);
        }
        note(self.alpha_update == AlphaUpdate::Periodic, "cut_order", "alpha_update is periodic");
        note(self.by_clock(), "cut_order", "cut_when is periodic: a cut comes after the CNP");
        note(
            self.cut_period.is_none(),
            "cut_when",
            "cut_period is off: there is no clock, and every CNP cuts",
        );
        if self.byte_reset.is_none() && self.stages == Stages::Both {
            // The smaller stage stays 0.
            note(true, "hai_rate", "byte_reset is off: both counters must pass the threshold");
            note(true, "hai_step", "byte_reset is off: both counters must pass the threshold");
        }
        idle
    }
}
