//! What may be meant by a name that nothing has.

use crate::metrics::{METRICS, find};
use crate::text::nearest;

/// A question that a remedy begins with, or nothing: the members of a family that has this name, else the name that comes
/// nearest.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let head = format!("{}-", word.to_lowercase());
    let family: Vec<&str> = known.clone().filter(|k| k.to_lowercase().starts_with(&head)).collect();
    match (&family[..], nearest(word, known)) {
        ([_, _, ..], _) => format!("`{word}` is a family: choose one of {}. ", family.join(", ")),
        (_, Some(n)) => format!("did you mean `{n}`? "),
        _ => String::new(),
    }
}

/// Words of the field for which our metrics have others.
const ALSO: [(&str, &str); 8] = [
    ("fct", "completion_time"),
    ("jct", "completion_time"),
    ("goodput", "aggregate_throughput"),
    ("drops", "dropped_frames"),
    ("loss", "dropped_frames"),
    ("jain", "fairness"),
    ("cnps", "control_messages"),
    ("queue", "queue_max"),
];

/// The metric that may be meant by a name that none has: in other words of the field (`fct_p99`), or spelled alike.
pub fn metric(name: &str) -> Option<&'static str> {
    let small = name.trim().to_lowercase();
    let (word, rest) = small.split_once('_').map_or((small.as_str(), ""), |(w, r)| (w, r));
    let other = ALSO.iter().find(|a| a.0 == word).and_then(|(_, ours)| {
        let whole = if rest.is_empty() { (*ours).to_owned() } else { format!("{ours}_{rest}") };
        find(&whole).or_else(|| find(ours)).map(|m| m.id)
    });
    other.or_else(|| nearest(name, METRICS.iter().map(|m| m.id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_other_words_and_spelling() {
        let schemes = ["bcn", "ecm", "qcn-2pt", "qcn-802.1Qau", "dcqcn"].into_iter();
        assert_eq!(
            did_you_mean("QCN", schemes.clone()),
            "`QCN` is a family: choose one of qcn-2pt, qcn-802.1Qau. "
        );
        assert_eq!(did_you_mean("emc", schemes.clone()), "did you mean `ecm`? ");
        assert_eq!(did_you_mean("timely", schemes), "");
        let names = ["fct_p99", "FCT", "goodput", "queue_maxx", "timely"].map(metric);
        let want = ["completion_time_p99", "completion_time", "aggregate_throughput", "queue_max"];
        assert_eq!(names, [Some(want[0]), Some(want[1]), Some(want[2]), Some(want[3]), None]);
    }
}
