//! Finite flows that were not received whole: told beside every figure of completion, with the remedy.

use crate::look::{self, Colour, paint};
use cnsim_studies::files::digits;
use cnsim_studies::points::{Point, points};
use cnsim_studies::store::RunRecord;
use std::collections::BTreeMap;

/// Most cases that are told one by one.
const MOST: usize = 8;

/// What the runs of one case count.
struct Case<'a> {
    point: Point<'a>,
    finished: f64,
    open: f64,
    lost: f64,
}

impl Case<'_> {
    /// Share of all flows that were received whole, per cent.
    fn share(&self) -> f64 {
        self.finished / (self.finished + self.open) * 100.0
    }

    /// The case in a sentence, with the remedy.
    fn line(&self) -> String {
        let all = self.finished + self.open;
        let head = format!("{}: {} of {all} flows were not received whole", self.point.name(), self.open);
        if self.lost > 0.0 {
            format!(
                "{head}, and {} frames were lost: none is sent again; give switches more memory, or turn PAUSE on",
                self.lost
            )
        } else if self.point.runs.iter().any(|r| r.frozen.is_some()) {
            format!("{head}, as the network stood still")
        } else {
            format!(
                "{head}: they were still under way; lengthen run.duration, or let the last flows start earlier"
            )
        }
    }
}

/// The cases with finite flows, over their seeds.
fn cases<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<Case<'a>> {
    let of = |point: Point<'a>| {
        let sum = |id: &str| point.runs.iter().filter_map(|r| r.metrics.get(id)).sum::<f64>();
        let (finished, open) = (sum("completed_transfers"), sum("incomplete_transfers"));
        let lost = sum("dropped_frames") + sum("source_discards");
        (finished + open > 0.0).then_some(Case { point, finished, open, lost })
    };
    points(records).into_iter().filter_map(of).collect()
}

/// A line for each case that has unfinished flows, and one for each comparison of schemes that rests on other shares of flows.
pub(crate) fn lines<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<String> {
    let cases = cases(records);
    let mut lines: Vec<String> = cases.iter().filter(|c| c.open > 0.0).map(Case::line).collect();
    let hidden = lines.len().saturating_sub(MOST);
    if hidden > 0 {
        lines.truncate(MOST);
        lines.push(match hidden {
            1 => "1 more case has unfinished flows".into(),
            n => format!("{n} more cases have unfinished flows"),
        });
    }
    let mut places = BTreeMap::new();
    let mut compared: Vec<Vec<&Case<'_>>> = Vec::new();
    for c in &cases {
        let at = *places.entry(c.point.place()).or_insert(compared.len());
        if at == compared.len() {
            compared.push(Vec::new());
        }
        compared[at].push(c);
    }
    let uneven = compared.iter().filter(|g| g.iter().any(|c| c.share() != g[0].share()));
    for g in uneven.take(MOST) {
        let own = |c: &Case<'_>, of_scheme: bool| -> String {
            let values = c.point.swept.iter().filter(|v| v.0.starts_with("scheme.") == of_scheme);
            values.map(|(k, v)| format!(", {k} = {v}")).collect()
        };
        let share = |c: &&Case<'_>| {
            let percent = digits((c.share() * 10.0).round() / 10.0);
            format!("{}{} {percent} %", c.point.first().scheme, own(c, true))
        };
        let shares = g.iter().map(share).collect::<Vec<_>>().join(", ");
        let (r, place) = (g[0].point.first(), own(g[0], false));
        lines.push(format!(
            "{}, PAUSE {}{place}: schemes finished other shares of the flows ({shares}); means are over these alone, percentiles over all",
            r.condition, r.pause
        ));
    }
    lines
}

/// Tells them before the tables.
pub(crate) fn tell<'a>(records: impl Iterator<Item = &'a RunRecord>) {
    let lines = lines(records);
    if lines.is_empty() {
        return;
    }
    println!("{}", paint(HEAD, Colour::Yellow, look::colour_on_stdout()));
    lines.iter().for_each(|l| println!("  {l}"));
    println!();
}

/// What stands above the lines.
pub(crate) const HEAD: &str =
    "UNFINISHED: flows that were not received whole count as longer than all others";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scheme: &str, counts: [f64; 3]) -> RunRecord {
        let ids = ["completed_transfers", "incomplete_transfers", "dropped_frames"];
        RunRecord {
            condition: "c".into(),
            pause: "off".into(),
            scheme: scheme.into(),
            metrics: ids.iter().zip(counts).map(|(id, v)| ((*id).to_string(), v)).collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn what_was_left_behind_is_told() {
        let lost = run("none", [3.0, 1.0, 7.0]);
        let seeds = [lost.clone(), lost, run("dcqcn", [9.0, 1.0, 0.0]), run("ecm", [10.0, 0.0, 0.0])];
        let said = lines(seeds.iter());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].contains("none: 2 of 8 flows") && said[0].contains("14 frames were lost"),
            "{said:?}"
        );
        assert!(
            said[1].contains("dcqcn: 1 of 10 flows") && said[1].contains("lengthen run.duration"),
            "{said:?}"
        );
        assert!(said[2].contains("(none 75 %, dcqcn 90 %, ecm 100 %)"), "{said:?}");
        let whole = [run("none", [4.0, 0.0, 7.0]), run("ecm", [10.0, 0.0, 0.0])];
        assert!(lines(whole.iter()).is_empty());
        assert!(lines([run("none", [0.0; 3])].iter()).is_empty());
        let many: Vec<RunRecord> = (0..10).map(|i| run(&format!("s{i}"), [1.0, 1.0, 0.0])).collect();
        let said = lines(many.iter());
        assert!(said.len() == 9 && said[8].starts_with("2 more cases have"), "{said:?}");
        // Points of a sweep are cases of their own.
        let swept = |scheme: &str, share: &str, open: f64| {
            let config = serde_json::json!({"switch.share": share});
            RunRecord { config, ..run(scheme, [4.0 - open, open, 0.0]) }
        };
        let all = [
            swept("none", "1 KB", 0.0),
            swept("none", "2 KB", 2.0),
            swept("ecm", "1 KB", 0.0),
            swept("ecm", "2 KB", 1.0),
        ];
        let said = lines(all.iter());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("c, PAUSE off, none, switch.share = 2 KB: 2 of 4 flows"), "{said:?}");
        let both = "c, PAUSE off, switch.share = 2 KB: schemes finished other shares of the flows (none 50 %, ecm 75 %)";
        assert!(said[2].starts_with(both), "{said:?}");
    }
}
