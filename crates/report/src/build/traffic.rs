//! Traffic by name, as a table and a figure: results of each name under each scheme.

use super::scene::{CaseRuns, cell, column, columns, seeds};
use crate::model::{Axis, Cell, Column, Figure, Kind, Row, Table, Trace};
use cnsim_measure::stats::Summary;
use cnsim_scenario::columns::OF_TRAFFIC;
use cnsim_scenario::metrics::{Id, Metric, find};
use indexmap::IndexSet;

/// A table for each PAUSE mode and condition; none if no `[[traffic]]` table has a name.
pub fn traffic(cases: &[CaseRuns<'_>]) -> Vec<Table> {
    let places: IndexSet<(&str, &str)> = cases.iter().map(|c| (&*c.case.condition, &*c.case.pause)).collect();
    // PAUSE modes of one condition are told apart by themselves.
    let several = places.iter().any(|p| p.0 != places[0].0);
    places.iter().filter_map(|p| table(cases, *p, several)).collect()
}

fn table(cases: &[CaseRuns<'_>], (condition, pause): (&str, &str), several: bool) -> Option<Table> {
    let mine: Vec<&CaseRuns<'_>> =
        cases.iter().filter(|c| (&*c.case.condition, &*c.case.pause) == (condition, pause)).collect();
    let all = || mine.iter().flat_map(|c| &c.runs).flat_map(|r| &r.traffic);
    let known = |m: &&Metric| all().any(|t| t.metrics.0.contains_key(m.id));
    let metrics: Vec<&Metric> = OF_TRAFFIC.iter().map(|id| id.row()).filter(known).collect();
    let names: IndexSet<&str> = all().map(|t| t.name.as_str()).collect();
    let rows = names.iter().flat_map(|name| {
        mine.iter().map(|c| Row {
            scheme: scheme(c, name),
            condition: (*name).into(),
            cells: metrics.iter().map(|m| value(c, name, m)).collect(),
        })
    });
    let head = |m: &&Metric| Column {
        metric: m.id.into(),
        title: m.title.into(),
        unit: m.unit.into(),
        about: format!("Of the traffic of this name, over the whole run: {}", m.about),
        more: false,
    };
    (!names.is_empty()).then(|| Table {
        id: format!("traffic, {condition}, PAUSE {pause}"),
        // The window of a measurement (record.from) does not concern it.
        condition: if several {
            format!("Traffic by name, whole run, {condition}")
        } else {
            "Traffic by name, whole run".into()
        },
        pause: pause.into(),
        row_heading: "traffic".into(),
        columns: metrics.iter().map(head).collect(),
        rows: rows.collect(),
        file: "traffic.csv".into(),
        ..Table::default()
    })
}

/// Id of the scheme under which the traffic of a name ran: its class's own, or the case's.
fn scheme(case: &CaseRuns<'_>, name: &str) -> String {
    let facts = case.runs.iter().flat_map(|r| &r.traffic).find(|t| t.name == name);
    let own = facts.map(|t| &t.scheme).filter(|own| !own.is_empty());
    own.unwrap_or(&case.case.scheme).clone()
}

/// A metric of a name over the seeds of a case.
fn value(case: &CaseRuns<'_>, name: &str, m: &Metric) -> Option<Cell> {
    let mine = || case.runs.iter().flat_map(|r| &r.traffic).filter(|t| t.name == name);
    let values: Vec<f64> = mine().filter_map(|t| t.metrics.get(m.id)).collect();
    let summary = Summary::of_metric(m, &values)?.bounded(mine().any(|t| t.metrics.at_least(m.id)));
    Some(Cell { values, ..cell(&summary) })
}

/// Metric of the figure.
const DRAWN: &str = Id::CompletionTimeP99.text();

/// Below a table of cases: the tail of the completion times of each name, a bar for each scheme; none if no name has flows
/// that end.
pub(crate) fn tails(cases: &[&CaseRuns<'_>], group: &str) -> Option<Figure> {
    let m = find(DRAWN)?;
    let all = cases.iter().flat_map(|c| &c.runs).flat_map(|r| &r.traffic);
    let names: IndexSet<&str> =
        all.filter(|t| t.metrics.0.contains_key(m.id)).map(|t| t.name.as_str()).collect();
    let trace = |c: &&CaseRuns<'_>| {
        let mut t = columns(&c.case.scheme, None);
        for (at, cell) in names.iter().enumerate().filter_map(|(at, name)| Some((at, value(c, name, m)?))) {
            column(&mut t, at, cell.measured?, cell.ci95);
        }
        (!t.x.is_empty()).then_some(t)
    };
    let traces: Vec<Trace> = cases.iter().filter_map(trace).collect();
    (!traces.is_empty()).then(|| Figure {
        group: group.into(),
        title: "99 % completion by traffic".into(),
        caption: seeds(cases.iter().map(|c| c.runs.len())),
        x: Axis { title: "traffic".into(), ..Axis::default() },
        y: Axis { title: m.title.into(), unit: m.unit.into(), log: false },
        kind: Kind::Bars,
        categories: names.iter().map(|n| (*n).to_string()).collect(),
        traces,
        ..Figure::default()
    })
}
