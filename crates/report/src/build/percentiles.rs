//! Figures of distributions: percentiles of frame latency and of completion times, by scheme.

use super::scene::{CaseRuns, column, columns, seeds};
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_scenario::columns::PERCENTILES;
use cnsim_scenario::metrics::Id;

/// A figure for each family that was measured, one set of bars a scheme.
pub(crate) fn percentiles(cases: &[&CaseRuns<'_>], group: &str) -> Vec<Figure> {
    PERCENTILES.iter().filter_map(|f| figure(f, cases, group)).collect()
}

fn figure(
    (title, axis, members): &(&str, &str, &[(&str, Id)]),
    cases: &[&CaseRuns<'_>],
    group: &str,
) -> Option<Figure> {
    let summary = |c: &CaseRuns<'_>, id: Id| c.summary(id.row());
    let shown: Vec<&(&str, Id)> =
        members.iter().filter(|(_, id)| cases.iter().any(|c| summary(c, *id).is_some())).collect();
    if shown.len() < 2 {
        return None;
    }
    let trace = |c: &&CaseRuns<'_>| -> Option<Trace> {
        let mut t = columns(&c.case.scheme, None);
        for (place, (_, id)) in shown.iter().enumerate() {
            let Some(s) = summary(c, *id) else { continue };
            column(&mut t, place, s.mean, s.confidence());
        }
        (!t.x.is_empty()).then_some(t)
    };
    let traces: Vec<Trace> = cases.iter().filter_map(trace).collect();
    let finite = || traces.iter().flat_map(|t| &t.y).copied().filter(|v| *v > 0.0);
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    let unit = shown.first().map_or("", |(_, id)| id.row().unit);
    Some(Figure {
        group: group.into(),
        title: (*title).into(),
        caption: seeds(cases.iter().map(|c| c.runs.len())),
        x: Axis { title: "percentile".into(), ..Axis::default() },
        y: Axis { title: (*axis).into(), unit: unit.into(), log: high > 30.0 * low },
        kind: Kind::Bars,
        categories: shown.iter().map(|(name, _)| (*name).into()).collect(),
        traces,
        ..Figure::default()
    })
}
