//! Counters of the schemes: the name in the results and the meaning.

use cnsim_scheme_api::Counter;

/// Declares counters: constant, name and meaning.
macro_rules! counters {
    ($($constant:ident $name:literal $meaning:literal;)*) => {$(
        #[doc = concat!("`", $name, "`: ", $meaning, ".")]
        pub const $constant: Counter = Counter::new($name, $meaning);
    )*};
}

counters! {
    FALSE_POSITIVES "false_positives"
        "positive messages that a source discards: its flow is not limited, or another congestion point owns the limiter";
    CPID_CHANGES "cpid_changes" "times that another congestion point became the owner of a limiter";
    POSITIVE_MESSAGES "positive_messages" "messages of congestion points with Fb > 0";
    NEGATIVE_MESSAGES "negative_messages" "messages of congestion points with Fb < 0, stops included";
    CNM_MESSAGES "cnm_messages" "congestion notification messages sent by congestion points";
    REFLECTIONS_SENT "reflections_sent" "messages Fb = 0 sent by destinations";
    REFLECTIONS_USED "reflections_used" "messages Fb = 0 of destinations that reached a limited flow";
    CNPS_SENT "cnps_sent" "congestion notification packets sent by destinations";
    CUTS "cuts" "times that a source lowered a rate";
    TARGETS_DIVIDED "targets_divided" "times that a target above ten times the rate was divided by eight";
    HYPERACTIVE_STEPS "hyperactive_steps" "increases of a target by a hyperactive step";
    PROBES_SENT "probes_sent" "probes sent by sources";
    PROBES_RETURNED "probes_returned" "probes that came back to their source";
    PROBES_LOST "probes_lost" "probes without an answer in time";
    PROBE_STEPS "probe_steps" "probes whose feedback was applied to a limiter";
    ANSWERS_POSITIVE "answers_positive" "answers to probes with Fb >= 0";
    ANSWERS_NEGATIVE "answers_negative" "answers to probes with Fb < 0";
    POINT_CHANGES "point_changes" "times that another congestion point became the target of probes";
    BECN_MESSAGES "becn_messages" "rates broadcast by ports, one for each port and interval";
    RATES_RETURNED "rates_returned" "rate-discovery tags that destinations returned";
}
