//! Figures of slowdowns by flow size: a percentile each, one line a scheme, as studies of flow completion draw them.

use super::scene::CaseRuns;
use crate::model::{Axis, Band, Figure, Kind, Trace};
use cnsim_lab::flows::fct::SizeGroup;

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
    let run = cases.iter().flat_map(|c| &c.runs).find(|r| !r.by_size.is_empty())?;
    let ideal = run.config.text("record.ideal").unwrap_or("exact");
    let seeds = cases.iter().map(|c| c.runs.len()).max().unwrap_or(0);
    let band =
        if seeds > 1 { format!(" Mean of {seeds} seeds; band: least and greatest.") } else { String::new() };
    (!traces.is_empty()).then(|| Figure {
        group: group.into(),
        title: format!("Slowdown by flow size, {name}"),
        caption: format!(
            "A point is a group of flows, drawn at its largest flow. Ideal time: {ideal}, without a floor at 1.{band}"
        ),
        x: Axis { title: "flow size".into(), unit: "KB".into(), log: true },
        y: Axis { title: "slowdown".into(), unit: String::new(), log: high > 30.0 * low },
        kind: Kind::Points,
        traces,
        ..Figure::default()
    })
}

/// The line of a case: over its seeds the mean, least and greatest slowdown of each group. Seeds with other numbers of groups than the
/// first are left out.
fn trace(case: &CaseRuns<'_>, place: usize) -> Option<Trace> {
    let first = case.runs.first().map(|r| r.by_size.len()).filter(|n| *n > 1)?;
    let runs: Vec<&[SizeGroup]> =
        case.runs.iter().map(|r| r.by_size.as_slice()).filter(|g| g.len() == first).collect();
    let mut t = Trace { name: case.case.scheme.clone(), ..Trace::default() };
    let mut band = Band::default();
    for i in 0..first {
        let mean =
            |of: &dyn Fn(&SizeGroup) -> f64| runs.iter().map(|g| of(&g[i])).sum::<f64>() / runs.len() as f64;
        let all = || runs.iter().map(|g| g[i].slowdown[place]);
        t.x.push(mean(&|g| g.sizes.1 as f64 / 1e3));
        t.y.push(mean(&|g| g.slowdown[place]));
        band.low.push(all().fold(f64::INFINITY, f64::min));
        band.high.push(all().fold(0.0, f64::max));
    }
    t.band = (runs.len() > 1).then_some(band);
    Some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_lab::record::RunRecord;

    #[test]
    fn a_line_is_the_mean_of_its_seeds() {
        let group = |size: u64, p50: f64| SizeGroup {
            sizes: (size / 2, size),
            flows: 5,
            finished: 5,
            at_least: [false; 4],
            slowdown: [p50, 2.0 * p50, 3.0 * p50, 4.0 * p50],
            mean: p50,
        };
        let run = |sizes: &[(u64, f64)]| RunRecord {
            by_size: sizes.iter().map(|&(size, p50)| group(size, p50)).collect(),
            ..RunRecord::default()
        };
        let runs = [run(&[(1000, 1.0), (9000, 2.0)]), run(&[(3000, 2.0), (9000, 4.0)]), run(&[(1, 9.0)])];
        let case = CaseRuns { case: ["", "", "", "off", "none"].into(), runs: runs.iter().collect() };
        let figures = slowdowns(&[&case], "table");
        assert_eq!(figures.len(), 3);
        assert!(!figures[0].y.log);
        let far = [run(&[(1000, 0.0), (3000, 1.0), (9000, 31.0)])];
        let far = CaseRuns { case: ["", "", "", "off", "none"].into(), runs: far.iter().collect() };
        assert!(slowdowns(&[&far], "table")[0].y.log, "more than thirty times the least above zero");
        let line = &figures[1].traces[0];
        assert_eq!((line.x.as_slice(), line.y.as_slice()), (&[2.0, 9.0][..], &[3.0, 6.0][..]));
        let band = line.band.as_ref().unwrap();
        assert_eq!((band.low.as_slice(), band.high.as_slice()), (&[2.0, 4.0][..], &[4.0, 8.0][..]));
        // Flows of one size have no line.
        let one = [run(&[(1000, 1.0)])];
        let case = CaseRuns { case: ["", "", "", "off", "none"].into(), runs: one.iter().collect() };
        assert!(slowdowns(&[&case], "table").is_empty());
    }
}
