//! What the schemes count, in words: one place for `cnsim explain`, `cnsim describe` and the chapter on schemes.

/// (name, meaning) of every counter that a scheme of the catalogue has.
pub const COUNTERS: &[(&str, &str)] = &[
    (
        "false_positives",
        "positive messages that a source discards: its flow is not limited, or another congestion point owns the limiter",
    ),
    ("cpid_changes", "times that a limiter went from one congestion point to another"),
    ("positive_messages", "messages of congestion points with Fb > 0"),
    ("negative_messages", "messages of congestion points with Fb < 0, stops included"),
    ("cnm_messages", "congestion notification messages sent by congestion points"),
    ("reflections_sent", "messages Fb = 0 sent by destinations"),
    ("reflections_used", "of these, those that met a limited flow"),
    ("cnps_sent", "congestion notification packets sent by destinations"),
    ("cuts", "times that a source lowered a rate"),
    ("targets_divided", "times that a target above ten times the rate was divided by eight"),
    ("hyperactive_steps", "increases of a target by a hyperactive step"),
    ("probes_sent", "probes sent by sources"),
    ("probes_returned", "probes that came back to their source"),
    ("probes_lost", "probes that were given up, as no answer came in time"),
    ("probe_steps", "probes that moved a limiter's rate, or could have"),
    ("answers_positive", "answers to probes with Fb >= 0"),
    ("answers_negative", "answers to probes with Fb < 0"),
    ("point_changes", "times that a limiter's probes turned to another congestion point"),
    ("becn_messages", "rates broadcast by ports, one for each port and interval"),
    ("rates_returned", "rate-discovery tags that destinations returned"),
];

/// The meaning of a counter.
pub fn meaning(name: &str) -> Option<&'static str> {
    COUNTERS.iter().find(|c| c.0 == name).map(|c| c.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_words() {
        let mut all: Vec<&str> = Vec::new();
        for entry in crate::catalogue() {
            let built = (entry.build)(&[]).unwrap();
            for name in built.scheme.counters() {
                assert!(meaning(name).is_some(), "{}: {name}", entry.name);
                all.push(name);
            }
        }
        let nobodys: Vec<&str> = COUNTERS.iter().map(|c| c.0).filter(|c| !all.contains(c)).collect();
        assert!(nobodys.is_empty(), "{nobodys:?}");
    }
}
