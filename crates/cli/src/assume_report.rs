//! The figures and tables of the report of `cnsim assume`.

use crate::sweep::column;
use cnsim_measure::stats::Summary;
use cnsim_papers::assume::{Scored, ScoredCell};
use cnsim_report::build::cell;
use cnsim_report::model;
use cnsim_scenario::metrics::Metric;
use cnsim_scenario::{Case, Scenario};

/// The ranking as a table.
pub(crate) fn ranking(id: &str, title: &str, list: &[&Scored]) -> model::Table {
    let column = |title: &str, unit: &str, about: &str| model::Column {
        metric: title.replace(' ', "_"),
        title: title.into(),
        unit: unit.into(),
        about: about.into(),
        ..model::Column::default()
    };
    let count = |n: usize| Some(model::Cell { measured: Some(n as f64), ..model::Cell::default() });
    model::Table {
        id: id.into(),
        condition: title.into(),
        caption: "Distance: mean over published cells of |published - run| / scale, where one scale is what one honest run may be off.".into(),
        columns: vec![
            column("distance", "scales", "mean over cells, with its interval over seeds"),
            column("nearer by", "scales", "than the scenario as it is, seed by seed"),
            column("agree", "cells", "published cells within tolerance or prediction interval"),
            column("better", "cells", "nearer by more than one scale"),
            column("worse", "cells", "farther by more than one scale"),
        ],
        rows: list
            .iter()
            .map(|s| model::Row {
                scheme: s.label.clone(),
                cells: vec![
                    Some(cell(&s.distance)),
                    s.gain.as_ref().map(cell),
                    count(s.agree),
                    count(s.better),
                    count(s.worse),
                ],
                ..model::Row::default()
            })
            .collect(),
        ..model::Table::default()
    }
}

pub(crate) fn bars(group: &str, title: &str, list: &[&Scored], seeds: u64) -> model::Figure {
    let of = |f: &dyn Fn(&Summary) -> f64| list.iter().map(|s| f(&s.distance)).collect::<Vec<f64>>();
    let ends = |s: &Summary| s.confidence().unwrap_or((s.mean, s.mean));
    let band = (seeds > 1).then(|| model::Band { low: of(&|s| ends(s).0), high: of(&|s| ends(s).1) });
    model::Figure {
        group: group.into(),
        title: title.into(),
        caption: format!("Mean over {seeds} seeds with its 95 % interval; nearest first."),
        x: model::Axis { title: "reading".into(), ..model::Axis::default() },
        y: model::Axis { title: "distance".into(), unit: "scales".into(), log: false },
        kind: model::Kind::Bars,
        categories: list.iter().map(|s| s.label.clone()).collect(),
        traces: vec![model::Trace {
            name: "distance".into(),
            slot: Some(0),
            x: (0..list.len()).map(|i| i as f64).collect(),
            y: of(&|s| s.mean),
            band,
            ..model::Trace::default()
        }],
        ..model::Figure::default()
    }
}

/// Values of the cells of a case under each reading. The colour of a cell shows its verdict.
pub(crate) fn heat(
    number: usize,
    case: &Case,
    scenario: &Scenario,
    several: bool,
    list: &[&Scored],
) -> model::Table {
    let mine = |s: &Scored| -> Vec<ScoredCell> {
        s.cells.iter().filter(|c| c.cell.case == case.id).cloned().collect()
    };
    let mut metrics: Vec<&'static Metric> =
        list.first().map(|s| mine(s)).unwrap_or_default().iter().map(|c| c.cell.metric).collect();
    metrics.dedup_by_key(|m| m.id);
    let cell = |c: &ScoredCell| {
        let (of, p) = (&c.cell, c.cell.published.as_ref());
        model::Cell {
            at_least: of.at_least > 0,
            published: p.map(|p| p.text.clone()),
            measured: Some(of.summary.mean),
            ci95: of.summary.confidence(),
            range: None,
            pi95: of.summary.prediction(),
            accept: p.map(|p| (p.value - c.scale, p.value + c.scale)),
            seeds: of.summary.n as u32,
            values: of.values.clone(),
            verdict: if c.agrees { model::Verdict::Agrees } else { model::Verdict::Differs },
            structural: false,
            note: format!("{:.1} scales", c.distance),
        }
    };
    model::Table {
        id: format!("case-{number}"),
        condition: if several {
            format!("{}, {}, {}", scenario.name, case.id.condition, case.id.scheme)
        } else {
            format!("{}, {}", case.id.condition, case.id.scheme)
        },
        pause: case.id.pause.clone(),
        columns: metrics.iter().map(|m| column(m)).collect(),
        rows: list
            .iter()
            .map(|s| {
                let mine = mine(s);
                let of = |m: &&'static Metric| mine.iter().find(|c| c.cell.metric.id == m.id).map(cell);
                let cells = metrics.iter().map(of).collect();
                model::Row { scheme: s.label.clone(), cells, ..model::Row::default() }
            })
            .collect(),
        ..model::Table::default()
    }
}
