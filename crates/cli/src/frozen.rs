//! Runs whose network stood still at the end: told before anything else, and in the exit code.

use crate::look::{self, Colour, paint};
use crate::{Done, Failure};
use cnsim_studies::results::case_title;
use cnsim_studies::store::RunRecord;

/// Most cases that are told one by one.
const MOST: usize = 8;

/// A line for each case that froze.
pub(crate) fn lines<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<String> {
    let mut cases: Vec<(&RunRecord, Vec<u64>)> = Vec::new();
    for r in records.filter(|r| r.frozen.is_some()) {
        match cases.iter_mut().find(|c| c.0.case() == r.case()) {
            Some(c) => c.1.push(r.seed),
            None => cases.push((r, vec![r.seed])),
        }
    }
    let mut lines: Vec<String> = cases.iter().filter_map(|(r, seeds)| line(r, seeds)).collect();
    let hidden = lines.len().saturating_sub(MOST);
    if hidden > 0 {
        lines.truncate(MOST);
        lines.push(format!("{} more froze; results.json names them", look::count(hidden as u64, "case")));
    }
    lines
}

fn line(r: &RunRecord, seeds: &[u64]) -> Option<String> {
    let (study, scenario, condition, pause, scheme) = r.case();
    let case = case_title([study, scenario, condition, pause, scheme]);
    let text = r.frozen.as_ref()?.text();
    Some(match seeds {
        [one] => format!("{case}, seed {one}: {text}"),
        many => format!("{case}, {} seeds; seed {}: {text}", many.len(), r.seed),
    })
}

/// Tells the cases that froze, before the tables.
pub(crate) fn tell<'a>(records: impl Iterator<Item = &'a RunRecord>) {
    let lines = lines(records);
    if lines.is_empty() {
        return;
    }
    let colour = look::colour_on_stdout();
    println!(
        "{}",
        paint("FROZEN: the numbers below are of a network that stands still", Colour::Red, colour)
    );
    lines.iter().for_each(|l| println!("  {l}"));
    println!();
}

/// The end of a verb some of whose runs froze.
pub(crate) fn ends<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Done {
    let (mut frozen, mut all) = (0, 0);
    for r in records {
        all += 1;
        frozen += u64::from(r.frozen.is_some());
    }
    match frozen {
        0 => Ok(()),
        n => Err(Failure::Frozen(format!(
            "the network froze in {n} of {}; all results are written\n  help: PAUSE needs paths without a circle: \
             see topology.routing, or try --pause off",
            look::count(all, "run")
        ))),
    }
}
