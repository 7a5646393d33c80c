//! How XOFF spreads: a strip of heat for each case of an experiment of one's own, a row a port.

use super::facts::{by_pause, several};
use super::scene::{CaseRuns, Scene};
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_measure::xoff;

/// The strips, below the table of ports of their PAUSE mode: all strips of a mode have the same rows. None if fewer than two ports
/// were in XOFF.
pub(crate) fn strips(scene: &Scene<'_>) -> Vec<Figure> {
    by_pause(&scene.cases, |pause, cases| of_pause(scene, pause, cases))
}

fn of_pause(scene: &Scene<'_>, pause: &str, cases: &[&CaseRuns<'_>]) -> Vec<Figure> {
    let ports = xoff::ports(cases.iter().filter_map(|c| c.runs.first()).map(|r| &r.xoff[..]));
    if ports.len() < 2 {
        return Vec::new();
    }
    let several = several(cases);
    let strip = |c: &&CaseRuns<'_>| {
        let (run, ready) = (c.runs.first()?, scene.ready(c)?);
        let part = ready.settings.duration.as_secs_f64() * 1e3 / xoff::PARTS as f64;
        let x: Vec<f64> = (1..=xoff::PARTS).map(|i| ((i as f64 * part) * 1e6).round() / 1e6).collect();
        let row = |(port, class, heading): &(&str, &str, String)| Trace {
            name: (*port).into(),
            group: heading.clone(),
            slot: Some(0),
            x: x.clone(),
            y: match run.xoff.iter().find(|x| x.port == *port && x.class == *class) {
                Some(x) => x.percent.iter().map(|p| f64::from(*p)).collect(),
                None => vec![0.0; xoff::PARTS],
            },
            ..Trace::default()
        };
        let place =
            if several { format!("{}, {}", c.case.scheme, c.case.condition) } else { c.case.scheme.clone() };
        Some(Figure {
            group: format!("ports, PAUSE {pause}"),
            title: format!("How XOFF spreads: {place}"),
            caption: format!(
                "Seed {}. Each port is a row, darker the longer it was in XOFF. XOFF spreads from the top down: from ports towards hosts \
                 to ports towards spines, and to hosts. Level 1: the switches with hosts.",
                run.seed
            ),
            x: Axis { title: "time".into(), unit: "ms".into(), log: false },
            y: Axis { title: "share of time in XOFF".into(), unit: "%".into(), log: false },
            kind: Kind::Heat,
            traces: ports.iter().map(row).collect(),
            scheme: c.case.scheme.clone(),
            condition: c.case.condition.clone(),
            pause: pause.into(),
            ..Figure::default()
        })
    };
    cases.iter().filter_map(strip).collect()
}
