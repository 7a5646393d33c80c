//! Finite flows that were not received whole: told beside every figure of completion, with the remedy.

use crate::look::{self, Colour, paint};
use cnsim_studies::files::digits;
use cnsim_studies::store::RunRecord;

/// Most cases that are told one by one.
const MOST: usize = 8;

/// What the runs of one case count.
struct Case<'a> {
    record: &'a RunRecord,
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
        let r = self.record;
        let all = self.finished + self.open;
        let head = format!(
            "{}, PAUSE {}, {}: {} of {all} flows were not received whole",
            r.condition, r.pause, r.scheme, self.open
        );
        if self.lost > 0.0 {
            format!(
                "{head}, and {} frames were lost: none is sent again; give switches more memory, or turn PAUSE on",
                self.lost
            )
        } else if r.frozen.is_some() {
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
    let mut cases: Vec<Case<'a>> = Vec::new();
    for r in records {
        let of = |id: &str| r.metrics.get(id).copied().unwrap_or(0.0);
        let (finished, open) = (of("completed_transfers"), of("incomplete_transfers"));
        let lost = of("dropped_frames") + of("source_discards");
        if finished + open == 0.0 {
            continue;
        }
        match cases.iter_mut().find(|c| c.record.case() == r.case()) {
            Some(c) => {
                c.finished += finished;
                c.open += open;
                c.lost += lost;
            }
            None => cases.push(Case { record: r, finished, open, lost }),
        }
    }
    cases
}

/// A line for each case that has unfinished flows, and one for each comparison of schemes that rests on other shares of flows.
pub(crate) fn lines<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<String> {
    let cases = cases(records);
    let mut lines: Vec<String> = cases.iter().filter(|c| c.open > 0.0).map(Case::line).collect();
    let hidden = lines.len().saturating_sub(MOST);
    if hidden > 0 {
        lines.truncate(MOST);
        lines.push(format!("{} more have unfinished flows", look::count(hidden as u64, "case")));
    }
    let mut compared: Vec<Vec<&Case<'_>>> = Vec::new();
    for c in &cases {
        let place =
            |r: &RunRecord| (r.study.clone(), r.scenario.clone(), r.condition.clone(), r.pause.clone());
        match compared.iter_mut().find(|g| place(g[0].record) == place(c.record)) {
            Some(g) => g.push(c),
            None => compared.push(vec![c]),
        }
    }
    let uneven: Vec<&Vec<&Case<'_>>> =
        compared.iter().filter(|g| g.iter().any(|c| c.share() != g[0].share())).collect();
    for g in uneven.iter().take(MOST) {
        let share =
            |c: &&Case<'_>| format!("{} {} %", c.record.scheme, digits((c.share() * 10.0).round() / 10.0));
        let shares = g.iter().map(share).collect::<Vec<_>>().join(", ");
        let r = g[0].record;
        lines.push(format!(
            "{}, PAUSE {}: schemes finished other shares of the flows ({shares}); means are over these alone, percentiles over all",
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
        assert!(said.len() == 9 && said[8].starts_with("2 cases more"), "{said:?}");
    }
}
