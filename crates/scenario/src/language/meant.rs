//! Known names that an unknown one may stand for.

use crate::metrics::{Id, METRICS, find};
use cnsim_problem::nearest;
use cnsim_scheme_api::Registry;

/// A question that a remedy begins with, or nothing: the members of a family that has this name, else the name that comes
/// nearest.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let head = format!("{}-", word.to_lowercase());
    let family: Vec<&str> = known.clone().filter(|k| k.to_lowercase().starts_with(&head)).collect();
    match (&family[..], nearest(word, known)) {
        ([_, _, ..], _) => format!("`{word}` is a family: choose one of {}; ", family.join(", ")),
        (_, Some(n)) => format!("did you mean `{n}`? "),
        _ => String::new(),
    }
}

/// As [`did_you_mean`], for a scheme: its presets, and PAUSE, are no schemes.
pub fn scheme(registry: &Registry, word: &str) -> String {
    if let Some(e) = registry.iter().find(|e| e.preset(word).is_some()) {
        return format!(
            "`{word}` is a preset of {0}, no scheme: name {0}, and set scheme.{0}.preset = \"{word}\"; ",
            e.name
        );
    }
    match word.to_lowercase().as_str() {
        "pfc" | "pause" => {
            "PAUSE is no scheme: write pause = [\"on\"] in [matrix], with schemes = [\"none\"]; ".into()
        }
        "ecn" | "red" | "roce" | "rocev2" => "did you mean `dcqcn`, whose switches set ECN marks? ".into(),
        _ => did_you_mean(word, registry.names()),
    }
}

/// Words of the field for which our metrics have others.
const ALSO: [(&str, &str); 11] = [
    ("fct", Id::CompletionTime.text()),
    ("jct", Id::CompletionTime.text()),
    ("drops", Id::DroppedFrames.text()),
    ("loss", Id::DroppedFrames.text()),
    ("jain", Id::Fairness.text()),
    ("cnps", Id::ControlMessages.text()),
    ("queue", Id::QueueMax.text()),
    ("latency", Id::MeanLatency.text()),
    ("rtt", Id::RttP50.text()),
    ("retransmissions", Id::ResentShare.text()),
    ("marks", Id::MarkedShare.text()),
];

/// The metric that may be meant by a name that none has: spelled alike, or in other words of the field (`fct_p99`).
pub fn metric(name: &str) -> Option<&'static str> {
    let small = name.trim().to_lowercase();
    let (word, rest) = small.split_once('_').map_or((small.as_str(), ""), |(w, r)| (w, r));
    let ours = ALSO.iter().find(|a| a.0 == word).map(|a| a.1);
    // A key of ours that differs in its first word alone is meant, however similar another spelling is.
    let whole = ours.and_then(|ours| find(&format!("{ours}_{rest}")));
    let other = || ours.and_then(find).map(|m| m.id);
    whole.map(|m| m.id).or_else(|| nearest(&small, METRICS.iter().map(|m| m.id))).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_other_words_and_spelling() {
        let schemes = ["bcn", "ecm", "qcn-2pt", "qcn-802.1Qau", "dcqcn"].into_iter();
        assert_eq!(
            did_you_mean("QCN", schemes.clone()),
            "`QCN` is a family: choose one of qcn-2pt, qcn-802.1Qau; "
        );
        assert_eq!(did_you_mean("emc", schemes.clone()), "did you mean `ecm`? ");
        assert_eq!(did_you_mean("timely", schemes), "");
        for (name, meant) in [
            ("fct_p99", "completion_time_p99"),
            ("FCT", "completion_time"),
            ("queue_maxx", "queue_max"),
            ("queue_p9", "queue_p99"),
            ("Queue_P999", "queue_p99"),
            ("queue", "queue_max"),
            ("latency", "mean_latency"),
            ("rtt", "rtt_p50"),
            ("retransmissions", "resent_share"),
        ] {
            assert_eq!(metric(name), Some(meant), "{name}");
        }
        assert_eq!(metric("timely"), None);
    }

    #[test]
    fn what_is_no_scheme() {
        let registry = cnsim_schemes::registry();
        for (word, meant) in [
            ("nvidia", "name dcqcn, and set scheme.dcqcn.preset = \"nvidia\""),
            ("PFC", "write pause = [\"on\"]"),
            ("ecn", "did you mean `dcqcn`"),
            ("emc", "did you mean `ecm`"),
        ] {
            assert!(scheme(&registry, word).contains(meant), "{}", scheme(&registry, word));
        }
    }

    /// The meaning of a metric does not refer to other metrics.
    #[test]
    fn each_meaning_stands_alone() {
        for m in METRICS {
            assert!(!["the same", "that same"].iter().any(|w| m.about.contains(w)), "{}: {}", m.id, m.about);
        }
        let p99 = find("completion_time_p99").unwrap();
        assert!(p99.about.starts_with("99th percentile of the completion time over all finite flows"));
    }
}
