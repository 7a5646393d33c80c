//! # IEEE 802.1Qau-2010: QCN as standardised
//!
//! 802.1Qau is the congestion notification that became clauses 30 to 33 of IEEE 802.1Q. A congestion point (CP) samples frames
//! every `cpSampleBase` bytes, more often as congestion grows. It sends a congestion notification message (CNM) with six bits
//! of feedback to the source of the sampled frame. The source's reaction point (RP) lowers its rate by it, and recovers by
//! itself. A byte counter and a timer run in parallel; each finished stage moves the rate half-way to the target. The larger
//! count starts active increase, the smaller one hyperactive increase. The rules are those of [`crate::qcn_serial_hai`];
//! parameters have the standard's names.
//!
//! Sources: IEEE8021-CN-MIB [Qau 17.7.16] (names, defaults, ranges); IEEE 802.1Qau-2010, whose table of contents gives the clauses
//! below; vendors' guides for the CNM's format.
//!
//! | standard | here |
//! |---|---|
//! | [Qau 12.17.4] congestion point managed object | `cp_q_sp`, `cp_w`, `cp_sample_base` |
//! | [Qau 12.17.5] reaction point port priority managed object | `rpp_max_rps` |
//! | [Qau 12.17.6] reaction point group managed object | `rpg_...` |
//! | [Qau 33.3] CNM PDU | [`cnsim_scheme_api::Feedback::Cnm`]: `CPID`, quantised feedback, `cnmQOffset`, `cnmQDelta` |
//! | `cpFb`, `qntzFb = trunc(-cpFb 63 / (cpQSp (2 cpW + 1)))` | [`crate::qcn_serial_hai::quantise`], `scale63` |
//! | `cpEnqued`, interval by `qntzFb >> 3` | [`crate::qcn_serial_hai::mark`] |
//! | `rpByteCount`, `rpByteStage`, `rpWhile`, `rpTimeStage`, `rpTargetRate`, `rpCurrentRate`, AdjustRates | `Rates` there |
//!
//! ## Assumptions, each a parameter
//!
//! * `rpp_max_rps`: the MIB's default is one RP per port and priority, which then holds all flows of the host (`1`). `per-flow`
//!   is a table with a limiter for each flow, as in the studies; sizes between the two are not modelled. The default is
//!   `per-flow`, because all other schemes here have it and the comparison is of control laws.
//! * Jitter of the CP's interval is +-15 % (`cp_jitter` = 0.3, full width). The RP's is not normative: `rp_jitter` = 0.
//! * The quantiser truncates; `quantiser = shift` is that of the 2007 pseudocode.
//! * `rpg_gd` and `cp_w` are the numbers, not the MIB's logarithms; `rpg_max_rate = off` is the port's speed.
//! * `tr_over_8`, `byte_restart`, `release_share`, `sample_dropped` are as in [`crate::qcn_serial_hai`].
//!
//! Not modelled: defence modes and LLDP, the CN-TAG's bytes, `cpMinHeaderOctets` (a CNM is a 64 B frame), the rounding of
//! `cnmQOffset` to 64 octets, the CNM's own priority (`control.transport` says how messages travel).

use crate::qcn_serial_hai::{
    ByteRestart, MarkInterval, Point, PointRules, Quantiser, RateRules, Rates, counted, starts,
};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Counter, Feedback, Idle, Plan, QueueSite, Rate, ReactionPoint, Registration,
    Scheme, Scope, SourceSite, Time, choice, params,
};

choice! {
    /// Reaction points of a port and priority.
    pub enum MaxRps {
        /// All flows of the host share one reaction point.
        One = "1",
        /// Each flow has a reaction point of its own.
        PerFlow = "per-flow",
    }
}

params! {
    /// Parameters of 802.1Qau, with the defaults and ranges of the MIB.
    pub struct QauParams {
        /// Set point of the queue.
        cp_q_sp: Bytes = Bytes::from_kb(26), symbol "cpQSp", from Bytes::new(100), to Bytes::from_mb(100);
        /// Weight of the queue's growth (the MIB holds its logarithm to base 2, 1).
        cp_w: f64 = 2.0, symbol "cpW", from 1.0 / 1024.0, to 1024.0;
        /// Bytes between samples at Fb = 0.
        cp_sample_base: Bytes = Bytes::from_kb(150), symbol "cpSampleBase", from Bytes::from_kb(10), to Bytes::from_mb(1000);
        /// Full width of the uniform jitter on the sampling interval.
        cp_jitter: f64 = 0.3, symbol "", from 0.0, to 1.9;
        /// How |Fb| becomes six bits.
        quantiser: Quantiser = Quantiser::Scale63, symbol "qntzFb";
        /// Count and sample frames that are being dropped.
        sample_dropped: bool = true, symbol "";
        /// Reaction points obey messages.
        rpg_enable: bool = true, symbol "rpgEnable";
        /// Reaction points of a port and priority.
        rpp_max_rps: MaxRps = MaxRps::PerFlow, symbol "rppMaxRps";
        /// Time of a stage up to the threshold; half of it beyond.
        rpg_time_reset: Time = Time::from_ms(15), symbol "rpgTimeReset", from Time::from_ms(1), to Time::from_s(100);
        /// Bytes of a stage up to the threshold; half of it beyond.
        rpg_byte_reset: Bytes = Bytes::from_kb(150), symbol "rpgByteReset", from Bytes::new(1), to Bytes::from_mb(4000);
        /// Stages of fast recovery.
        rpg_threshold: u32 = 5, symbol "rpgThreshold", from 0, to 1_000_000;
        /// Rate at which a limited flow is free again; off for the port's speed.
        rpg_max_rate: Option<Rate> = None, symbol "rpgMaxRate", from Some(Rate::from_mbps(1.0)), to Some(Rate::from_gbps(10_000.0));
        /// Step of active increase.
        rpg_ai_rate: Rate = Rate::from_mbps(5.0), symbol "rpgAiRate", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Step of hyperactive increase, per stage past the threshold.
        rpg_hai_rate: Rate = Rate::from_mbps(50.0), symbol "rpgHaiRate", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Decrease gain per step of the quantised feedback (the MIB holds minus its logarithm to base 2, 7).
        rpg_gd: f64 = 1.0 / 128.0, symbol "rpgGd", from 0.0, to 1.0;
        /// Smallest factor of one cut, per cent.
        rpg_min_dec_fac: u32 = 50, symbol "rpgMinDecFac", from 1, to 100;
        /// Smallest rate of a limiter (the drafts had 10 Mb/s).
        rpg_min_rate: Rate = Rate::from_mbps(5.0), symbol "rpgMinRate", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Full width of the uniform jitter on the byte and time stages (drafts of 2008: 0.3).
        rp_jitter: f64 = 0.0, symbol "", from 0.0, to 1.9;
        /// At the first stage a target above 10 x rate is divided by 8.
        tr_over_8: bool = true, symbol "";
        /// When a message restarts the byte counter.
        byte_restart: ByteRestart = ByteRestart::AfterCycle, symbol "";
        /// Share of the largest rate that counts as recovered.
        release_share: f64 = 1.0, symbol "", from 0.5, to 1.0;
    }
}

impl QauParams {
    fn min_dec_factor(&self) -> f64 {
        f64::from(self.rpg_min_dec_fac) / 100.0
    }

    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        if !self.rpg_enable {
            let keys = [
                "rpp_max_rps", "rpg_time_reset", "rpg_byte_reset", "rpg_threshold", "rpg_max_rate",
                "rpg_ai_rate", "rpg_hai_rate", "rpg_gd", "rpg_min_dec_fac", "rpg_min_rate", "rp_jitter",
                "tr_over_8", "byte_restart", "release_share",
            ];
            return keys.into_iter().map(|key| (key, "rpg_enable is off")).collect();
        }
        if self.rate_rules().deepest_cut() >= self.min_dec_factor() {
            return vec![("rpg_min_dec_fac", "rpg_gd x 63 never cuts as deep")];
        }
        Vec::new()
    }

    pub(crate) fn point_rules(&self) -> PointRules {
        PointRules {
            w: self.cp_w,
            q_eq: self.cp_q_sp,
            base: self.cp_sample_base,
            jitter: self.cp_jitter,
            interval: MarkInterval::LastSample,
            quantiser: self.quantiser,
            sample_dropped: self.sample_dropped,
            at_zero: true,
        }
    }

    fn rate_rules(&self) -> RateRules {
        RateRules {
            gd: self.rpg_gd,
            min_rate: self.rpg_min_rate,
            max_rate: self.rpg_max_rate,
            bytes: self.rpg_byte_reset,
            period: self.rpg_time_reset,
            ai: self.rpg_ai_rate,
            hai: self.rpg_hai_rate,
            threshold: self.rpg_threshold,
            jitter: self.rp_jitter,
            min_dec_factor: self.min_dec_factor(),
            tr_over_8: self.tr_over_8,
            byte_restart: self.byte_restart,
            at_zero: false,
            release_share: self.release_share,
        }
    }
}

/// The scheme of IEEE 802.1Qau with its parameters.
#[derive(Debug)]
pub struct Qau(pub QauParams);

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "QCN as standardised, IEEE 802.1Qau-2010";
    Registration::with_idle(title, include_str!("qcn_8021qau.rs"), QauParams::default(), QauParams::idle, Qau)
        .alias("qcn-8021qau")
        .promise(Promise {
            // As with serial HAI, whose stages these are.
            recovers: Some((Bytes::from_mb(100), Time::from_ms(200))),
            ..Promise::reacting(Rate::from_mbps(5.0))
        })
}

impl Scheme for Qau {
    fn name(&self) -> &str {
        "qcn-802.1Qau"
    }
    fn plan(&self) -> Plan {
        let limiter_scope = match self.0.rpp_max_rps {
            MaxRps::One => Scope::Host,
            MaxRps::PerFlow => Scope::Pair,
        };
        Plan { limiter_scope, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point::new(self.0.point_rules(), site.point)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Rates::new(self.0.rate_rules())))
    }
    /// `qntzFb != 0` and `cnmQOffset < 0`.
    fn engages(&self, feedback: &Feedback) -> bool {
        self.0.rpg_enable && starts(feedback, true)
    }
    fn counters(&self) -> Vec<Counter> {
        counted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{PointRig, ReactionRig};
    use cnsim_scheme_api::{Params, Tag};

    fn params(sets: &[(&str, &str)]) -> QauParams {
        let mut params = QauParams { cp_jitter: 0.0, ..QauParams::default() };
        sets.iter().for_each(|(key, text)| params.set(key, text).unwrap());
        params
    }

    fn reaction(sets: &[(&str, &str)]) -> ReactionRig {
        ReactionRig::new(Qau(params(sets)), Rate::from_gbps(10.0))
    }

    /// The 100th frame of 150 KB samples. 30 KB above the set point, growth 56: 63. Then 30 x 63 / 130 = 14.5: 14.
    #[test]
    fn point_by_hand() {
        let mut rig = PointRig::new(&Qau(params(&[])), Rate::from_gbps(10.0), 1).unwrap();
        (0..100).for_each(|_| {
            rig.frame(1, 56_000, Tag::None);
        });
        assert_eq!((rig.messages().len(), rig.state.countdown), (1, 18_500));
        (0..13).for_each(|_| {
            rig.frame(1, 56_000, Tag::None);
        });
        assert!(matches!(rig.messages()[1], Feedback::Cnm { qntz_fb: 14, .. }));
        assert_eq!(rig.state.countdown, 75_000);
    }

    #[test]
    fn names_and_numbers_of_the_standard() {
        let mut rig = reaction(&[]);
        rig.cnm(63);
        assert_eq!(rig.rate(), Rate::from_gbps(10.0) * (65.0 / 128.0));
        (0..40).for_each(|_| rig.cnm(63));
        assert_eq!(rig.rate(), Rate::from_mbps(5.0));
        let mut rig = reaction(&[("rpg_min_dec_fac", "80")]);
        rig.cnm(63);
        assert_eq!(rig.rate(), Rate::from_gbps(8.0));
        for (key, text) in [("cp_q_sp", "99 B"), ("cp_w", "2000"), ("cp_sample_base", "9 KB")] {
            assert!(QauParams::default().set(key, text).is_err(), "{key}");
        }
        for (key, text) in [("rpg_min_dec_fac", "0"), ("rpg_min_dec_fac", "101"), ("rpp_max_rps", "7")] {
            assert!(QauParams::default().set(key, text).is_err(), "{key}");
        }
    }

    /// A limited flow starts from, and is free at, rpgMaxRate.
    #[test]
    fn largest_rate() {
        let mut rig = reaction(&[("rpg_max_rate", "4 Gb/s")]);
        rig.cnm(63);
        assert_eq!(rig.rate(), Rate::from_gbps(4.0) * (65.0 / 128.0));
        rig.send(20_000_000);
        assert!(!rig.engaged());
    }

    #[test]
    fn disabled_points_ignore_messages() {
        let mut rig = reaction(&[("rpg_enable", "off")]);
        rig.cnm(63);
        assert!(!rig.engaged());
        let off = params(&[("rpg_enable", "off")]);
        let idle = off.idle();
        let rp = QauParams::info().into_iter().filter(|i| !i.key.starts_with("cp_"));
        let others = ["quantiser", "sample_dropped", "rpg_enable"];
        for i in rp.filter(|i| !others.contains(&i.key.as_str())) {
            assert!(idle.iter().any(|(key, _)| *key == i.key), "{}", i.key);
        }
    }

    #[test]
    fn one_point_for_the_port_or_one_for_each_flow() {
        assert_eq!(Qau(params(&[])).plan().limiter_scope, Scope::Pair);
        assert_eq!(Qau(params(&[("rpp_max_rps", "1")])).plan().limiter_scope, Scope::Host);
    }
}
