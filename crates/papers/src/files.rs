//! `numbers.csv` and `claims.csv`.

use crate::cells::Cell;
use crate::claims::{Claim, Finding};
use cnsim_measure::quantity::digits;
use cnsim_runs::files::table;
use cnsim_runs::results::Partial;

/// The columns of numbers.csv.
pub const COLUMNS: [&str; 16] = [
    "study", "scenario", "condition", "pause", "scheme", "metric", "unit", "published", "measured",
    "ci95_low", "ci95_high", "pi95_low", "pi95_high", "seeds", "verdict", "note",
];

/// numbers.csv; after an interrupted command, every note marks it as partial.
pub fn numbers_csv(cells: &[Cell], partial: Option<Partial>) -> String {
    let bound = |i: Option<(f64, f64)>, high: bool| {
        i.map_or_else(String::new, |(l, h)| digits(if high { h } else { l }))
    };
    let row = |c: &Cell| {
        let (ci, pi) = (c.summary.confidence(), c.summary.prediction());
        let published = c.published.as_ref().map_or_else(String::new, |p| digits(p.value));
        let note = [partial.map_or_else(String::new, Partial::text), c.note.clone()];
        let note: Vec<String> = note.into_iter().filter(|n| !n.is_empty()).collect();
        let case = c.shown();
        vec![
            case.study,
            case.scenario,
            case.condition,
            case.pause,
            case.scheme,
            c.metric.id.into(),
            c.unit.clone(),
            published,
            digits(c.summary.mean),
            bound(ci, false),
            bound(ci, true),
            bound(pi, false),
            bound(pi, true),
            c.summary.n.to_string(),
            c.verdict.text().into(),
            note.join("; "),
        ]
    };
    table(&COLUMNS.map(String::from), &cells.iter().map(row).collect::<Vec<_>>())
}

/// claims.csv; after an interrupted command, every row marks it as partial.
pub fn claims_csv(findings: &[(&'static Claim, Finding)], partial: Option<Partial>) -> String {
    let header = ["study", "claim", "text", "origin", "holds", "evidence"].map(String::from);
    let row = |(c, f): &(&'static Claim, Finding)| {
        let evidence = [partial.map_or_else(String::new, Partial::text), f.evidence.clone()];
        let evidence: Vec<String> = evidence.into_iter().filter(|e| !e.is_empty()).collect();
        [c.study(), c.id, c.text, c.origin, f.holds.text(), &evidence.join("; ")].map(String::from).to_vec()
    };
    table(&header, &findings.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scenario::metrics::find;

    #[test]
    fn rows_of_numbers_and_claims_by_hand() {
        let summary = cnsim_measure::stats::Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let cell = Cell {
            case: ["B07", "s", "c", "on", "ecm"].into(),
            metric: find("overhead").unwrap(),
            unit: "Mb/s".into(),
            published: None,
            values: vec![],
            summary,
            verdict: crate::verdict::Verdict::Unpublished,
            structural: false,
            at_least: 0,
            note: "A3".into(),
        };
        // The mean is 3; its interval reaches 1.963 to both sides, that of a further run 4.809.
        let part = Partial { finished: 1, of: 2 };
        let row = |p| numbers_csv(std::slice::from_ref(&cell), p).lines().nth(1).unwrap().to_string();
        let fields: Vec<String> = row(None).split(',').map(str::to_owned).collect();
        assert_eq!(fields[..9].join(","), "B07,s,c,on,ecm,overhead,Mb/s,,3");
        for (field, by_hand) in fields[9..13].iter().zip([1.0368, 4.9632, -1.8089, 7.8089]) {
            assert!((field.parse::<f64>().unwrap() - by_hand).abs() < 1e-3, "{field}, by hand {by_hand}");
        }
        assert_eq!(fields[13..], ["5", "unpublished", "A3"]);
        assert!(row(Some(part)).ends_with(&format!("{}; A3", part.text())), "{}", row(Some(part)));
        let claim = crate::find("B07").unwrap().claims;
        let finding = Finding { holds: crate::claims::Holds::Yes, evidence: "seen".into() };
        let text = claims_csv(&[(&claim[0], finding)], None);
        assert!(
            text.starts_with("study,claim,text,origin,holds,evidence\nB07,") && text.ends_with(",yes,seen\n"),
            "{text}"
        );
    }
}
