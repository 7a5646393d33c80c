//! Counters that several schemes have: the name in the results and its words stand once.

use cnsim_scheme_api::Counter;

/// Counts tagged frames that a congestion point did not own (`false_positives`).
pub const FALSE_POSITIVES: Counter = Counter::new(
    "false_positives",
    "positive messages that a source discards: its flow is not limited, or another congestion point owns the limiter",
);
/// `cpid_changes`.
pub const CPID_CHANGES: Counter =
    Counter::new("cpid_changes", "times that a limiter went from one congestion point to another");
/// `positive_messages`.
pub const POSITIVE_MESSAGES: Counter =
    Counter::new("positive_messages", "messages of congestion points with Fb > 0");
/// `negative_messages`.
pub const NEGATIVE_MESSAGES: Counter =
    Counter::new("negative_messages", "messages of congestion points with Fb < 0, stops included");
/// `cnm_messages`.
pub const CNM_MESSAGES: Counter =
    Counter::new("cnm_messages", "congestion notification messages sent by congestion points");
/// `reflections_sent`.
pub const REFLECTIONS_SENT: Counter =
    Counter::new("reflections_sent", "messages Fb = 0 sent by destinations");
/// `reflections_used`.
pub const REFLECTIONS_USED: Counter =
    Counter::new("reflections_used", "of these, those that met a limited flow");
/// `cnps_sent`.
pub const CNPS_SENT: Counter =
    Counter::new("cnps_sent", "congestion notification packets sent by destinations");
/// `cuts`.
pub const CUTS: Counter = Counter::new("cuts", "times that a source lowered a rate");
/// `targets_divided`.
pub const TARGETS_DIVIDED: Counter =
    Counter::new("targets_divided", "times that a target above ten times the rate was divided by eight");
/// `hyperactive_steps`.
pub const HYPERACTIVE_STEPS: Counter =
    Counter::new("hyperactive_steps", "increases of a target by a hyperactive step");
/// `probes_sent`.
pub const PROBES_SENT: Counter = Counter::new("probes_sent", "probes sent by sources");
/// `probes_returned`.
pub const PROBES_RETURNED: Counter = Counter::new("probes_returned", "probes that came back to their source");
/// `probes_lost`.
pub const PROBES_LOST: Counter =
    Counter::new("probes_lost", "probes that were given up, as no answer came in time");
/// `probe_steps`.
pub const PROBE_STEPS: Counter =
    Counter::new("probe_steps", "probes that moved a limiter's rate, or could have");
/// `answers_positive`.
pub const ANSWERS_POSITIVE: Counter = Counter::new("answers_positive", "answers to probes with Fb >= 0");
/// `answers_negative`.
pub const ANSWERS_NEGATIVE: Counter = Counter::new("answers_negative", "answers to probes with Fb < 0");
/// `point_changes`.
pub const POINT_CHANGES: Counter =
    Counter::new("point_changes", "times that a limiter's probes turned to another congestion point");
/// `becn_messages`.
pub const BECN_MESSAGES: Counter =
    Counter::new("becn_messages", "rates broadcast by ports, one for each port and interval");
/// `rates_returned`.
pub const RATES_RETURNED: Counter =
    Counter::new("rates_returned", "rate-discovery tags that destinations returned");
