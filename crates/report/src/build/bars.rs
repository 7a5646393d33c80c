//! Figures of a metric: bars.

use super::scene::{CaseRuns, column, columns, ordinal, seeds, split};
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_measure::stats::Summary;
use cnsim_problem::joined;
use cnsim_scenario::case::Dimension;
use cnsim_scenario::metrics::find;
use indexmap::{IndexMap, IndexSet};

/// A metric as bars with the 95 % interval of the mean.
pub(crate) fn bars(
    cases: &[&CaseRuns<'_>],
    metric: &str,
    across: Dimension,
    title: String,
    caption: String,
) -> Option<Figure> {
    let m = find(metric)?;
    let parts = |c: &CaseRuns<'_>| -> (String, [Option<String>; 3]) {
        let all =
            [c.case.condition.to_string(), format!("PAUSE {}", c.case.pause), c.case.scheme.to_string()];
        let at = all[across as usize].clone();
        let rest = [0, 1, 2].map(|i| (i != across as usize).then(|| all[i].clone()));
        (at, rest)
    };
    let known: Vec<(String, [Option<String>; 3], Summary)> = cases
        .iter()
        .filter_map(|c| {
            let (at, rest) = parts(c);
            Some((at, rest, c.summary(m)?))
        })
        .collect();
    let short = |condition: &str| -> String {
        let all: Vec<&str> = known.iter().filter_map(|k| k.1[0].as_deref()).collect();
        let words = condition.split(", ").filter(|p| !all.iter().all(|c| c.split(", ").any(|q| q == *p)));
        words.collect::<Vec<_>>().join(", ")
    };
    // Parts of a name that all bars share are left out.
    let differs = [0, 1, 2].map(|i| known.windows(2).any(|w| w[0].1[i] != w[1].1[i]));
    let name = |rest: &[Option<String>; 3]| {
        let text = |i: usize| rest[i].as_deref().map(|t| if i == 0 { short(t) } else { t.to_string() });
        let words: Vec<String> = [2, 0, 1].into_iter().filter(|&i| differs[i]).filter_map(text).collect();
        if words.is_empty() { rest[2].clone().unwrap_or_else(|| m.title.into()) } else { words.join(", ") }
    };
    let plain = !differs[0] && !differs[1] && across != Dimension::Scheme;
    let (mut places, mut traces): (IndexSet<String>, IndexMap<String, Trace>) = Default::default();
    for (at, rest, s) in &known {
        let (place, _) = places.insert_full(at.clone());
        let (name, slot) = (name(rest), (!plain).then(|| ordinal(traces.len())));
        let trace = traces.entry(name).or_insert_with_key(|name| columns(name, slot));
        column(trace, place, s.mean, s.confidence());
    }
    let mut categories: Vec<String> = places.into_iter().collect();
    let all: Vec<&str> = categories.iter().map(String::as_str).collect();
    if let (Dimension::Condition, [(_, members)]) = (across, &split(&all)[..]) {
        categories = members.iter().map(|m| m.0.clone()).collect();
    }
    let shared = shared_clauses(&categories);
    let said = seeds(known.iter().map(|k| k.2.n));
    let x = match across {
        Dimension::Condition => shared.as_ref().map_or("condition", |s| s.0.as_str()),
        Dimension::Pause => "PAUSE",
        Dimension::Scheme => "scheme",
    };
    let x = Axis { title: x.into(), ..Axis::default() };
    let (unit, y) = (m.unit.to_string(), m.title.to_string());
    (!traces.is_empty()).then(|| Figure {
        title,
        caption: joined([caption, said], " "),
        x,
        y: Axis { title: y, unit, log: false },
        kind: Kind::Bars,
        categories: shared.map_or(categories, |s| s.1),
        traces: traces.into_values().collect(),
        ..Figure::default()
    })
}

/// Leading words that all categories share, and the rest of each: `hotspot`, [`2 Gb/s`, `0.5 Gb/s`].
fn shared_clauses(categories: &[String]) -> Option<(String, Vec<String>)> {
    let first: Vec<&str> = categories.first()?.split(' ').collect();
    let split: Vec<Vec<&str>> = categories.iter().map(|c| c.split(' ').collect()).collect();
    let same = (0..first.len()).take_while(|&i| {
        let digit = first[i].starts_with(|c: char| c.is_ascii_digit());
        !digit && split.iter().all(|s| s.len() > i + 1 && s[i] == first[i])
    });
    let n = same.count();
    (n > 0 && categories.len() > 1)
        .then(|| (first[..n].join(" "), split.iter().map(|s| s[n..].join(" ")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_lose_what_they_share() {
        let all = ["hotspot 2 Gb/s".to_string(), "hotspot 0.5 Gb/s".to_string()];
        assert_eq!(shared_clauses(&all), Some(("hotspot".into(), vec!["2 Gb/s".into(), "0.5 Gb/s".into()])));
        assert_eq!(shared_clauses(&["ecm".into(), "none".into()]), None);
    }
}
