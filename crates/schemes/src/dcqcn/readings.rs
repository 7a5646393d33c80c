//! Parameters of DCQCN, with the readings that its sources leave open as choices.

use cnsim_scheme_api::{Bytes, Idle, Rate, Time, choice, params};

choice! {
    /// When the ramp looks at the queue.
    pub enum MarkAt {
        /// When the frame's transmission begins, without it.
        Departure = "departure",
        /// When the frame arrives, with it.
        Arrival = "arrival",
    }
}

choice! {
    /// The meaning of "at most one CNP per interval".
    pub enum CnpSpacing {
        /// Marks less than an interval after a CNP are forgotten.
        SinceLast = "since-last",
        /// They make a CNP at the first frame after it.
        Deferred = "deferred",
        /// One per interval of a clock of its own, with a random phase for each flow.
        Windows = "windows",
        /// So too, but when the interval is over: at the first frame after it.
        WindowEnd = "window-end",
    }
}

choice! {
    /// Which frames the destination answers.
    pub enum Echo {
        /// Marked ones, by CNPs.
        Marks = "marks",
        /// All: a message of 64 B for each frame, with its mark, as marks are echoed on acknowledgements.
        Frames = "frames",
    }
}

choice! {
    /// When alpha is updated.
    pub enum AlphaUpdate {
        /// At a CNP, and after each whole period without one.
        OnCnp = "on-cnp",
        /// Once per period, by whether a CNP came in it.
        Periodic = "periodic",
    }
}

choice! {
    /// Which alpha a cut uses (`alpha_update = on-cnp`).
    pub enum CutOrder {
        /// The one before this CNP.
        CutFirst = "cut-first",
        /// The one that this CNP has raised.
        AlphaFirst = "alpha-first",
    }
}

choice! {
    /// When a CNP cuts.
    pub enum CutWhen {
        /// When it arrives.
        AtCnp = "at-cnp",
        /// When the present period of a clock is over, which runs in steps of `cut_period` from the first CNP on.
        Periodic = "periodic",
    }
}

choice! {
    /// Whose expiries decide the stage.
    pub enum Stages {
        /// Those of timer and byte counter.
        Both = "both",
        /// Those of the timer alone: fewer than `F` are fast recovery, `F` additive increase, more hyper increase.
        Timer = "timer",
    }
}

choice! {
    /// Whether an expiry counts itself when it looks up its stage.
    pub enum StageTest {
        /// The stage is counted up first.
        After = "after",
        /// The stage is looked up first.
        Before = "before",
    }
}

choice! {
    /// Step of hyper increase.
    pub enum HaiStep {
        /// Times the number of the hyper-increase stage.
        Stage = "stage",
        /// Always the same.
        Fixed = "fixed",
    }
}

choice! {
    /// When a limiter is given back.
    pub enum Release {
        /// Not at all.
        Never = "never",
        /// When the flow is back at line rate.
        AtLineRate = "at-line-rate",
    }
}

params! {
    /// Parameters of DCQCN, with the defaults of the paper for 40 Gb/s.
    pub struct DcqcnParams {
        /// Queue length up to which nothing is marked.
        k_min: Bytes = Bytes::from_kb(5), symbol "K_min", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Queue length at which the ramp ends; every frame is marked above it.
        k_max: Bytes = Bytes::from_kb(200), symbol "K_max", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Rate of the ports to which `k_min` and `k_max` belong: at another one they grow as the rate does. Off: at all alike.
        k_rate: Option<Rate> = None, symbol "", from Some(Rate::from_bps(1e4)), to Some(Rate::from_gbps(10_000.0));
        /// Marking probability at the end of the ramp.
        p_max: f64 = 0.01, symbol "P_max", from 0.0, to 1.0;
        /// When the ramp looks at the queue.
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
        /// Without the former: a cut lowers it also if only timer stages, no byte stages, lie before it.
        clamp_tgt_rate_after_time_inc: bool = true, symbol "";
        /// Increase timer.
        time_reset: Time = Time::from_us(55), symbol "T", from Time::from_ns(100), to Time::from_s(100);
        /// Increase byte counter, off for none.
        byte_reset: Option<Bytes> = Some(Bytes::from_mb(10)), symbol "B", from Some(Bytes::new(64)), to Some(Bytes::from_mb(100_000));
        /// Stages of fast recovery.
        threshold: u32 = 5, symbol "F", from 0, to 1_000_000;
        /// Whose expiries decide the stage.
        stages: Stages = Stages::Both, symbol "";
        /// Whether an expiry counts itself.
        stage_test: StageTest = StageTest::After, symbol "";
        /// Additive step of the target.
        ai_rate: Rate = Rate::from_mbps(40.0), symbol "R_AI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Hyper step of the target.
        hai_rate: Rate = Rate::from_mbps(400.0), symbol "R_HAI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// How the hyper step grows.
        hai_step: HaiStep = HaiStep::Stage, symbol "";
        /// Smallest rate of a limiter.
        min_rate: Rate = Rate::from_mbps(40.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// When a limiter is given back.
        release: Release = Release::Never, symbol "";
    }
}

impl DcqcnParams {
    /// Do cuts come by the clock?
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
        note(
            self.echo == Echo::Frames && self.cnp_interval > Time::ZERO,
            "cnp_interval",
            "echo is frames: every frame is answered",
        );
        note(self.echo == Echo::Frames, "cnp_spacing", "echo is frames: every frame is answered");
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
