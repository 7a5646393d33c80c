//! The files that hold what came out: numbers.csv and results.json.

use crate::metrics::find;
use crate::store::RunRecord;
use crate::study::Cell;
use std::collections::BTreeMap;

/// A number with six significant digits.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.5e}");
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (5 - exponent).clamp(0, 17) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// numbers.csv.
pub fn numbers_csv(cells: &[Cell]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = [
        "study",
        "scenario",
        "condition",
        "pause",
        "scheme",
        "metric",
        "unit",
        "published",
        "measured",
        "ci95_low",
        "ci95_high",
        "pi95_low",
        "pi95_high",
        "seeds",
        "verdict",
        "note",
    ];
    let _ = out.write_record(header);
    let bound = |i: Option<(f64, f64)>, high: bool| {
        i.map_or_else(String::new, |(l, h)| digits(if high { h } else { l }))
    };
    for c in cells {
        let (ci, pi) = (c.summary.confidence(), c.summary.prediction());
        let published = c.published.as_ref().map_or_else(String::new, |p| digits(p.value));
        let row = [
            c.study.clone(),
            c.scenario.clone(),
            c.condition.clone(),
            c.pause.clone(),
            c.scheme.clone(),
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
            c.note.clone(),
        ];
        let _ = out.write_record(row);
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Reads a table that cnsim wrote: rows of fields, without the header.
pub fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    reader
        .records()
        .flatten()
        .map(|r| (0..16).map(|i| r.get(i).unwrap_or("").to_string()).collect())
        .collect()
}

/// results.json; `series` names the files that hold each run's series.
pub fn results_json(records: &[RunRecord], series: &dyn Fn(&RunRecord) -> Vec<String>) -> serde_json::Value {
    let runs: Vec<serde_json::Value> = records
        .iter()
        .map(|r| {
            let metrics: BTreeMap<&String, serde_json::Value> = r
                .metrics
                .iter()
                .map(|(k, v)| (k, serde_json::json!({"value": v, "unit": find(k).map_or("ms", |m| m.unit)})))
                .collect();
            serde_json::json!({
                "study": r.study, "scenario": r.scenario, "condition": r.condition, "pause": r.pause, "scheme": r.scheme,
                "seed": r.seed, "fingerprint": r.fingerprint, "config": r.config, "metrics": metrics,
                "counters": r.counters, "ports": r.ports, "packet_hops": r.packet_hops, "series": series(r),
            })
        })
        .collect();
    serde_json::json!({
        "schema": 1, "version": env!("CARGO_PKG_VERSION"), "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "runs": runs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits() {
        for (v, t) in [
            (62.79, "62.79"),
            (0.517, "0.517"),
            (214_569.0, "214569"),
            (1.0 / 3.0, "0.333333"),
            (1e-7, "0.0000001"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (12_345_678.0, "12345678"),
        ] {
            assert_eq!(digits(v), t);
        }
    }
}
