//! What the map shows of runs: all ports over time, and the flows that took longest beside what they take alone.

use super::scene::Scene;
use super::topology::of_map;
use crate::model::{Page, Play, Report, Topology};
use cnsim_measure::spent::FlowParts;
use cnsim_problem::joined;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::tables::record;
use cnsim_scheme_api::Time;
use std::collections::BTreeSet;

/// Most flows of a run that can be chosen, and of a page.
const FLOWS: (usize, usize) = (300, 2400);
/// Most letters of the maps of a page; the first run's is there in any case.
const LETTERS: usize = 12_000_000;

/// The first seed's run of each case, if it kept its ports over time or where the time of its flows went, and its network is the one
/// that is drawn.
pub(crate) fn plays(scene: &Scene<'_>, drawn: &Topology) -> Vec<Play> {
    let ports: BTreeSet<&str> = drawn.links.iter().flat_map(|l| &l.ports).map(String::as_str).collect();
    let runs: Vec<&RunRecord> = scene.cases.iter().filter_map(|c| c.runs.first().copied()).collect();
    let kept = |r: &&RunRecord| {
        r.over_time.map.is_some() || r.flows.spent.as_ref().is_some_and(|s| !s.flows.is_empty())
    };
    let fits = |r: &&RunRecord| {
        r.over_time.map.iter().flat_map(|m| &m.ports).all(|p| ports.contains(p.port.as_str()))
    };
    let mine: Vec<&RunRecord> = runs.iter().copied().filter(kept).filter(fits).collect();
    let flows = FLOWS.0.min(FLOWS.1 / mine.len().max(1));
    let (mut all, mut letters) = (Vec::new(), 0);
    for r in &mine {
        let mut play = play(r, flows);
        letters += play.map.iter().flat_map(|m| &m.ports).map(|p| p.letters()).sum::<usize>();
        if letters > LETTERS && !all.is_empty() && play.map.take().is_some() {
            play.notes.push("Its ports over time are not in this file, which would be too large: run this case alone (--scheme, --condition).".into());
        }
        all.push(play);
    }
    all
}

/// A report of a run's map alone; none if the run kept no ports over time.
pub fn alone(r: &RunRecord) -> Option<Report> {
    let topology = of_map(r.over_time.map.as_ref()?);
    let title = format!("{}/{}", r.case.study, r.case.scenario);
    let plays = vec![play(r, FLOWS.0)];
    let page = Page { id: title.clone(), title: title.clone(), topology, plays, ..Page::default() };
    Some(Report { title, version: env!("CARGO_PKG_VERSION").into(), pages: vec![page], ..Report::default() })
}

/// A run with up to so many flows.
fn play(r: &RunRecord, most: usize) -> Play {
    let said = |text: &str| if text.is_empty() || text == "default" { String::new() } else { text.into() };
    let pause = if r.case.pause.is_empty() { String::new() } else { format!("PAUSE {}", r.case.pause) };
    let title = [said(&r.case.scheme), pause, said(&r.case.condition), format!("seed {}", r.seed)];
    let title = joined(title, ", ");
    let mut notes = Vec::new();
    match &r.over_time.map {
        None => notes.push(
            "Ports over time were not recorded: `record.map = \"on\"` keeps them, and the map plays.".into(),
        ),
        Some(map) => {
            let (bin, end) = (Time::from_ps(map.bin), Time::from_ps(map.bin * map.steps as u64));
            notes.push(format!(
                "A step is a bin of {bin} (record.bin). A port's half of its link stands at its own node."
            ));
            match map.xoff_until.map(Time::from_ps) {
                None => notes.push("XOFFs were not recorded: `record.pauses = \"on\"` keeps them.".into()),
                Some(until) if until < end => {
                    notes.push(format!(
                        "XOFF is known up to {until}: later ones are not among the first that are kept."
                    ));
                }
                Some(_) => {}
            }
        }
    }
    let (flows, ports) = match &r.flows.spent {
        None => {
            if r.metrics.get("completed_transfers").is_some() {
                notes.push(
                    "Where the time of flows went was not recorded: `record.trips = \"on\"` keeps it.".into(),
                );
            }
            Default::default()
        }
        Some(spent) => {
            let mut flows: Vec<FlowParts> = spent.flows.clone();
            let named = r.config.value(record::FLOWS).and_then(|v| v.as_array().cloned()).unwrap_or_default();
            let named = |f: &FlowParts| named.iter().any(|name| name.as_str() == Some(&f.flow));
            flows.sort_by(|a, b| named(b).cmp(&named(a)).then(b.slowdown().total_cmp(&a.slowdown())));
            flows.truncate(most);
            notes.push(format!(
                "{} of {} complete flows can be chosen: those that record.flows names, then those with the largest slowdown, their time over that alone in the network.",
                flows.len(),
                spent.complete
            ));
            (flows, spent.ports.clone())
        }
    };
    Play { title, map: r.over_time.map.clone(), flows, ports, notes }
}
