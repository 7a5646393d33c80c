//! Where time went: a figure for each size class and each named traffic, a row a scheme, its bar divided by part of the flows' time.

use super::scene::{CaseRuns, Scene};
use crate::colour::REST;
use crate::html::distinct;
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_measure::spent::{FlowParts, PARTS, Spent};
use cnsim_problem::joined;
use cnsim_scenario::case::Dimension;
use cnsim_scheme_api::Bytes;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Heading of the figures.
const GROUP: &str = "Where time went";
/// Most figures of a page.
const FIGURES: usize = 12;
/// Parts that have a colour of their own: their places in [`PARTS`], and their slots. The others are one, in grey.
const DRAWN: [(usize, u8); 8] = [(1, 0), (2, 3), (3, 6), (4, 2), (5, 5), (6, 4), (7, 1), (8, 7)];
/// The colour of a part, by its place among [`PARTS`].
pub(crate) fn slot_of(part: usize) -> u8 {
    DRAWN.iter().find(|d| d.0 == part).map_or(0, |d| 8 + d.1 % 8)
}

/// The others: the opening of a connection, the last frame on its links, and the way back.
const OTHERS: &str = "connection, links, acknowledgement";

/// Flows that have a row together: of a class of sizes, by its upper end in bytes, or of a named traffic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kin {
    Size(u64),
    Traffic(String),
}

/// A row: its name, and its flows.
type Row<'a> = (String, Vec<&'a FlowParts>);

/// The figures of all cases that kept the parts of their flows; none if no run kept them.
pub(crate) fn spent(scene: &Scene<'_>) -> Vec<Figure> {
    let cases: Vec<&CaseRuns<'_>> = scene.cases.iter().filter(|c| flows(c).next().is_some()).collect();
    let several = |d: Dimension| cases.windows(2).any(|w| d.of(&w[0].case) != d.of(&w[1].case));
    let dimensions = [Dimension::Scheme, Dimension::Condition, Dimension::Pause];
    // Rows of a figure differ in the scheme; of one scheme in the condition, or else in the PAUSE mode.
    let across = dimensions.into_iter().find(|d| several(*d)).unwrap_or(Dimension::Scheme);
    let text = |c: &CaseRuns<'_>, d: Dimension| match d {
        Dimension::Pause => format!("PAUSE {}", c.case.pause),
        _ => d.of(&c.case).to_string(),
    };
    let mut figures: IndexMap<(String, Kin), Vec<Row<'_>>> = IndexMap::new();
    for c in &cases {
        let words: Vec<String> =
            dimensions.into_iter().filter(|d| *d != across && several(*d)).map(|d| text(c, d)).collect();
        let sizes = flows(c).map(|f| Kin::Size(class(f.bytes)));
        let names = flows(c).filter(|f| !f.traffic.is_empty()).map(|f| Kin::Traffic(f.traffic.clone()));
        for kin in sizes.chain(names).collect::<BTreeSet<Kin>>() {
            let mine = |f: &&FlowParts| match &kin {
                Kin::Size(end) => class(f.bytes) == *end,
                Kin::Traffic(name) => f.traffic == *name,
            };
            let all: Vec<&FlowParts> = flows(c).filter(mine).collect();
            let row = (format!("{} ({})", text(c, across), all.len()), all);
            figures.entry((words.join(", "), kin)).or_default().push(row);
        }
    }
    figures.sort_keys();
    let y = match across {
        Dimension::Condition => "condition",
        Dimension::Pause => "PAUSE",
        Dimension::Scheme => "scheme",
    };
    let left = figures.len().saturating_sub(FIGURES);
    figures.truncate(FIGURES);
    // All figures have the same lines, so that one legend serves them: those that occur.
    let shares = |rows: &[Row<'_>]| rows.iter().map(|r| shares(&r.1)).collect::<Vec<_>>();
    let drawn: Vec<_> = figures.values().map(|rows| shares(rows)).collect();
    let occurs = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|n| drawn.iter().flatten().any(|s: &[f64; 9]| s[n] > 0.0));
    let about = caption(&cases);
    let mut all: Vec<Figure> = Vec::new();
    for (((words, kin), rows), shares) in figures.iter().zip(&drawn) {
        let bytes = || rows.iter().flat_map(|r| &r.1).map(|f| f.bytes);
        let (least, most) = (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0));
        let title = match kin {
            Kin::Traffic(name) => format!("Traffic {name}"),
            Kin::Size(_) if least == most => format!("Flows of {}", Bytes::new(most)),
            Kin::Size(_) => format!("Flows of {} to {}", Bytes::new(least), Bytes::new(most)),
        };
        all.push(Figure {
            group: GROUP.into(),
            title: joined([&title, words], ", "),
            // The first figure says it for all.
            caption: if all.is_empty() { about.clone() } else { String::new() },
            x: Axis { title: "mean share of completion time".into(), unit: "%".into(), log: false },
            y: Axis { title: y.into(), ..Axis::default() },
            kind: Kind::Spans,
            traces: rows.iter().zip(shares).flat_map(|(r, s)| bar(&r.0, s, &occurs)).collect(),
            ..Figure::default()
        });
    }
    if let (Some(last), 1..) = (all.last_mut(), left) {
        let more = format!("{left} more are not drawn: flows.csv has their flows.");
        last.caption = joined([&last.caption, &more], " ");
    }
    all
}

fn flows<'a>(c: &CaseRuns<'a>) -> impl Iterator<Item = &'a FlowParts> + Clone {
    c.runs.clone().into_iter().flat_map(|r| &r.flows.spent).flat_map(|s: &Spent| &s.flows)
}

/// The class of a flow: the least power of ten that its bytes do not exceed, from 1 KB on.
fn class(bytes: u64) -> u64 {
    (3..=18).map(|e| 10u64.pow(e)).find(|end| bytes <= *end).unwrap_or(u64::MAX)
}

/// The mean over flows of each part's share of the completion time, %: those of [`DRAWN`], and the others.
fn shares(flows: &[&FlowParts]) -> [f64; 9] {
    let mut sums = [0.0; 9];
    for f in flows {
        let by = f.by_part();
        for (part, time) in by.iter().enumerate().take(PARTS.len()) {
            let at = DRAWN.iter().position(|d| d.0 == part).unwrap_or(DRAWN.len());
            sums[at] += 100.0 * *time as f64 / f.time.max(1) as f64;
        }
    }
    sums.map(|sum| sum / flows.len().max(1) as f64)
}

/// A row's bar from 0 to 100 %: a line a part, from where the one before it ends.
fn bar<'s>(row: &'s str, shares: &'s [f64; 9], occurs: &'s [bool; 9]) -> impl Iterator<Item = Trace> + 's {
    let mut end = 0.0;
    (0..shares.len()).filter(|n| occurs[*n]).map(move |n| {
        let from: f64 = end;
        end += shares[n];
        // Bars that begin at one place would stand upon each other, so one without length has no height.
        let edge = |v: f64| (v * 1e3).round() / 1e3;
        let tall = if edge(end) > edge(from) { 100.0 } else { 0.0 };
        Trace {
            name: DRAWN.get(n).map_or(OTHERS, |d| PARTS[d.0].1).into(),
            slot: Some(DRAWN.get(n).map_or(REST, |d| d.1)),
            group: row.into(),
            x: vec![edge(from), edge(end)],
            y: vec![tall, 0.0],
            notes: vec![format!("{:.1} %", shares[n]), String::new()],
            ..Trace::default()
        }
    })
}

/// What a bar is, and of which flows: the complete ones of all seeds, or those of which the parts were kept.
fn caption(cases: &[&CaseRuns<'_>]) -> String {
    let seeds =
        distinct(cases.iter().flat_map(|c| &c.runs).filter(|r| r.flows.spent.is_some()).map(|r| r.seed))
            .len();
    let all = || cases.iter().flat_map(|c| &c.runs).flat_map(|r| &r.flows.spent);
    let (kept, complete) =
        (all().map(|s| s.flows.len() as u64).sum::<u64>(), all().map(|s| s.complete).sum::<u64>());
    let of = if kept < complete {
        format!(
            "Parts were kept of {kept} of {complete} complete flows: of runs with too many, the slowest and those named."
        )
    } else {
        "All complete finite flows; those that did not end are left out.".into()
    };
    let over = if seeds > 1 { format!(", of {seeds} seeds together") } else { String::new() };
    format!(
        "A row is the mean over flows, each of which counts alike; in brackets stands their number{over}. {of} Grey: the opening of a \
         connection, the last frame on its links, and the last acknowledgement."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_runs::record::{FlowRecord, RunRecord};
    use cnsim_scenario::Scenario;

    /// A flow of so many bytes that lasted 1000 ps, `gap` of it in the limiter's gap, 100 on links, the rest its own frames.
    fn flow(bytes: u64, traffic: &str, gap: u64) -> FlowParts {
        let source = [0, gap, 0, 0, 0, 0, 900 - gap];
        FlowParts { bytes, traffic: traffic.into(), time: 1000, source, answer: 100, ..FlowParts::default() }
    }

    fn figures(of: &[(&str, u64, Option<Spent>)]) -> Vec<Figure> {
        let text = "study = \"mine\"\nname = \"small\"\n[topology]\nhosts = 4\n[run]\nduration = \"1 ms\"\n";
        let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
        let run = |(scheme, seed, spent): &(&str, u64, Option<Spent>)| RunRecord {
            case: ["mine", "small", "default", "on", *scheme].into(),
            seed: *seed,
            flows: FlowRecord { spent: spent.clone(), ..FlowRecord::default() },
            ..RunRecord::default()
        };
        let records: Vec<RunRecord> = of.iter().map(run).collect();
        spent(&Scene::of(&scenario, &records))
    }

    fn kept(flows: Vec<FlowParts>) -> Option<Spent> {
        Some(Spent { complete: flows.len() as u64, flows, ..Spent::default() })
    }

    #[test]
    fn bars_of_sizes_and_traffic_by_hand() {
        let small = || vec![flow(500, "", 0), flow(1000, "query", 600)];
        let large = flow(50_000, "query", 900);
        let runs = [("none", 1, kept(small())), ("none", 2, kept(vec![large])), ("ecm", 1, kept(small()))];
        let all = figures(&runs);
        let titles: Vec<&str> = all.iter().map(|f| f.title.as_str()).collect();
        assert_eq!(titles, ["Flows of 500 B to 1 KB", "Flows of 50 KB", "Traffic query"]);
        assert!(all.iter().all(|f| f.group == GROUP && f.kind == Kind::Spans));
        let lines = |f: &Figure| -> Vec<(String, String, Vec<f64>, f64)> {
            f.traces.iter().map(|t| (t.group.clone(), t.name.clone(), t.x.clone(), t.y[0])).collect()
        };
        let line = |row: &str, part: &str, x: [f64; 2], tall: f64| {
            (row.to_string(), part.to_string(), x.to_vec(), tall)
        };
        let (gap, own) = (PARTS[1].1, PARTS[6].1);
        assert_eq!(
            lines(&all[0]),
            [("none (2)"), ("ecm (2)")]
                .map(|row| [
                    line(row, gap, [0.0, 30.0], 100.0),
                    line(row, own, [30.0, 90.0], 100.0),
                    line(row, OTHERS, [90.0, 100.0], 100.0),
                ])
                .concat()
        );
        // The seeds of a scheme are one row. A part without time has a line, so that all figures have one legend.
        assert_eq!(
            lines(&all[2])[..3],
            [
                line("none (2)", gap, [0.0, 75.0], 100.0),
                line("none (2)", own, [75.0, 90.0], 100.0),
                line("none (2)", OTHERS, [90.0, 100.0], 100.0),
            ]
        );
        assert_eq!(lines(&all[1])[1], line("none (1)", own, [90.0, 90.0], 0.0));
        let told = crate::words::describe(&all[2]);
        assert_eq!(all[2].traces[0].notes[0], "75.0 %");
        assert!(told.ends_with("ecm (1): connection, links, acknowledgement 10.0 %"), "{told}");
        assert!(told.contains("; none (2): limiter's gap 75.0 %; none (2): own frames"), "{told}");
        assert!(all[0].caption.contains("2 seeds together. All complete"), "{}", all[0].caption);
    }

    #[test]
    fn a_limit_of_flows_is_said_and_runs_without_parts_have_no_figure() {
        assert!(figures(&[("none", 1, None), ("ecm", 1, kept(Vec::new()))]).is_empty());
        let cut = Spent { complete: 200_000, flows: vec![flow(1000, "", 0)], ..Spent::default() };
        let one = figures(&[("none", 1, Some(cut)), ("ecm", 1, None)]);
        assert_eq!((one.len(), one[0].traces[0].group.as_str()), (1, "none (1)"));
        assert!(one[0].caption.contains("kept of 1 of 200000 complete flows"), "{}", one[0].caption);
    }
}
