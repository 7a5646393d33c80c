//! Figures of slowdowns by flow size: a percentile each, one line a scheme, as studies of flow completion draw them.

use super::scene::CaseRuns;
use crate::model::{Axis, Band, Figure, Kind, Trace};
use cnsim_measure::fct::SizeGroup;
use cnsim_scenario::tables;
use std::collections::BTreeSet;

/// Percentiles drawn: their headings, and their places in [`SizeGroup::slowdown`].
const DRAWN: [(&str, usize); 3] = [("median", 0), ("95 %", 1), ("99 %", 2)];

/// A figure for each percentile; none if no flows of several sizes ended.
pub(crate) fn slowdowns(cases: &[&CaseRuns<'_>], group: &str) -> Vec<Figure> {
    DRAWN.iter().filter_map(|&(name, place)| figure(cases, group, name, place)).collect()
}

fn figure(cases: &[&CaseRuns<'_>], group: &str, name: &str, place: usize) -> Option<Figure> {
    let traces: Vec<Trace> = cases.iter().filter_map(|c| trace(c, place)).collect();
    let values = || traces.iter().flat_map(|t| &t.y).copied().filter(|v| *v > 0.0);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let run = cases.iter().flat_map(|c| &c.runs).find(|r| !r.flows.by_size.is_empty())?;
    let ideal = run.config.text(tables::record::IDEAL).unwrap_or("exact");
    let floor = if ideal == "exact" { "" } else { ", with the floor at 1 of that fork's scripts" };
    let seeds = cases.iter().map(|c| c.runs.len()).max().unwrap_or(0);
    let band =
        if seeds > 1 { format!(" Mean of {seeds} seeds; band: least and greatest.") } else { String::new() };
    (!traces.is_empty()).then(|| Figure {
        group: group.into(),
        title: format!("Slowdown by flow size, {name}"),
        caption: format!(
            "A step is a group of flows, from its smallest to its largest; a point beside a step holds the number of its flows. \
             Ideal time: {ideal}{floor}.{band}"
        ),
        x: Axis { title: "flow size".into(), unit: "KB".into(), log: true },
        y: Axis { title: "slowdown".into(), unit: String::new(), log: high > 30.0 * low },
        kind: Kind::Points,
        traces,
        ..Figure::default()
    })
}

/// The line of a case: at each size where a group begins or ends, the mean, least and greatest slowdown over the seeds that
/// have a group of that size. None for flows of one size.
fn trace(case: &CaseRuns<'_>, place: usize) -> Option<Trace> {
    let groups = || case.runs.iter().flat_map(|r| &r.flows.by_size);
    let sizes: BTreeSet<u64> = groups().flat_map(|g| [g.sizes.0, g.sizes.1]).collect();
    let mut t = Trace { name: case.case.scheme.clone(), ..Trace::default() };
    let mut band = Band::default();
    for &size in sizes.iter().filter(|_| sizes.len() > 1) {
        let here: Vec<&SizeGroup> = groups().filter(|g| (g.sizes.0..=g.sizes.1).contains(&size)).collect();
        let all = || here.iter().map(|g| g.slowdown[place]);
        t.x.push(size as f64 / 1e3);
        t.y.push(all().sum::<f64>() / here.len() as f64);
        let bound = if here.iter().any(|g| g.at_least[place]) { ", a lower bound" } else { "" };
        t.notes.push(counted(here.iter().map(|g| g.flows)) + bound);
        band.low.push(all().fold(f64::INFINITY, f64::min));
        band.high.push(all().fold(0.0, f64::max));
    }
    t.band = (case.runs.len() > 1).then_some(band);
    (!t.x.is_empty()).then_some(t)
}

/// Number of flows of a group, from the least to the greatest over the seeds: `41 to 43 flows`.
fn counted(of: impl Iterator<Item = usize> + Clone) -> String {
    let (least, most) = (of.clone().min().unwrap_or(0), of.max().unwrap_or(0));
    match (least == most, most) {
        (true, 1) => "1 flow".into(),
        (true, _) => format!("{most} flows"),
        _ => format!("{least} to {most} flows"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_runs::record::{FlowRecord, RunRecord};

    /// Two seeds with a group up to 1000 and up to 3000 bytes, a common one of 9000 bytes, and a third seed with another group.
    #[test]
    fn a_line_is_drawn_over_the_sizes_of_its_groups() {
        let group = |sizes: (u64, u64), flows: usize, p50: f64| SizeGroup {
            sizes,
            flows,
            finished: flows,
            at_least: [false, p50 == 4.0, false, false],
            slowdown: [p50, 2.0 * p50, 3.0 * p50, 4.0 * p50],
            mean: p50,
        };
        let run = |by_size: Vec<SizeGroup>| RunRecord {
            flows: FlowRecord { by_size, ..FlowRecord::default() },
            ..RunRecord::default()
        };
        let runs = [
            run(vec![group((500, 1000), 5, 1.0), group((9000, 9000), 1, 2.0)]),
            run(vec![group((800, 3000), 5, 2.0), group((9000, 9000), 3, 4.0)]),
            run(vec![group((100, 100), 1, 9.0)]),
        ];
        let case = |runs: &'_ [RunRecord]| -> Vec<Figure> {
            let id = ["", "", "", "off", "none"].into();
            slowdowns(&[&CaseRuns { case: id, runs: runs.iter().collect() }], "table")
        };
        let figures = case(&runs);
        assert_eq!(figures.len(), 3);
        assert!(!figures[0].y.log);
        let far = [(1, 0.0), (2, 1.0), (3, 31.0)].map(|(size, p50)| group((size, size), 1, p50));
        let far = [run(far.into())];
        assert!(case(&far)[0].y.log, "more than thirty times the least above zero");
        let line = &figures[1].traces[0];
        assert_eq!(line.x, [0.1, 0.5, 0.8, 1.0, 3.0, 9.0]);
        assert_eq!(line.y, [18.0, 2.0, 3.0, 3.0, 4.0, 6.0]);
        let band = line.band.as_ref().unwrap();
        assert_eq!((band.low[5], band.high[5], band.low[1], band.high[1]), (4.0, 8.0, 2.0, 2.0));
        assert_eq!(line.notes[..3], ["1 flow", "5 flows", "5 flows"]);
        assert_eq!(line.notes[5], "1 to 3 flows, a lower bound");
        // Flows of one size have no line.
        assert!(case(&[run(vec![group((1000, 1000), 5, 1.0)])]).is_empty());
    }
}
