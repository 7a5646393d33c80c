//! What ranks and ports do over a collective's time: a row each, bars as high as its share of each part.

use super::scene::Scene;
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_measure::jobs::{JobFacts, Lane, PARTS};
use cnsim_runs::record::RunRecord;

/// Most collectives of a page that are drawn.
const FIGURES: usize = 4;

/// The figures of the first seed's collectives of each case: of ranks, and of ports where it is kept by which transfers went.
pub(crate) fn lanes(scene: &Scene<'_>) -> Vec<Figure> {
    let jobs = scene
        .cases
        .iter()
        .filter_map(|c| Some((*c.runs.first()?, scene.ready(c)?.settings.duration.as_ps())));
    let jobs = jobs.flat_map(|(run, end)| run.jobs.iter().map(move |job| (run, job, end)));
    let mut all: Vec<_> = jobs.filter(|(_, job, _)| !job.lanes.is_empty()).collect();
    let left = all.len().saturating_sub(FIGURES);
    all.truncate(FIGURES);
    let mut figures: Vec<Figure> =
        all.into_iter().flat_map(|(run, job, end)| figures(run, job, end)).collect();
    if let (Some(last), 1..) = (figures.last_mut(), left) {
        last.caption += &format!(" {left} more are not drawn: `cnsim explain-collective` has them.");
    }
    figures
}

fn figures(run: &RunRecord, job: &JobFacts, end: u64) -> Vec<Figure> {
    let begin = job.rounds.first().map_or(0, |round| round.begin);
    let span = (begin, job.time.map_or(end, |time| begin + time));
    let spread = match job.lanes.len() {
        n if n < job.ranks.len() => format!(" {n} of {} ranks are drawn.", job.ranks.len()),
        _ => String::new(),
    };
    let of = |title: &str, caption: String, names: [&str; 2], lanes: &[Lane]| Figure {
        group: "Collectives over time".into(),
        title: format!("{title}: {}, {}", job.name, run.case),
        caption: format!(
            "Seed {}. {caption} A bar is one of {PARTS} parts of the collective's time, to a tenth of its height.",
            run.seed
        ),
        x: Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: Axis { title: "share of time".into(), unit: "%".into(), log: false },
        kind: Kind::Spans,
        traces: lanes.iter().flat_map(|lane| traces(lane, span, names)).collect(),
        scheme: run.case.scheme.clone(),
        condition: run.case.condition.clone(),
        pause: run.case.pause.clone(),
        ..Figure::default()
    };
    let ranks = format!("A rank computes, has a transfer to it or from it under way, or waits.{spread}");
    let mut all = vec![of("Ranks over time", ranks, ["computes", "transfers"], &job.lanes)];
    if !job.ports.is_empty() {
        let most = cnsim_measure::jobs::PORTS;
        let ports = format!(
            "The ports over which transfers were under way longest, {most} at most: in XOFF, or with a transfer under way that goes by them."
        );
        all.push(of("Ports over time", ports, ["in XOFF", "transfers"], &job.ports));
    }
    all
}

/// The two lines of a row.
fn traces(lane: &Lane, (begin, end): (u64, u64), names: [&str; 2]) -> Vec<Trace> {
    let edge = |n: usize| (begin as f64 + (end - begin) as f64 * n as f64 / PARTS as f64) / 1e9;
    let line = |name: &str, slot: u8, text: &str| Trace {
        name: name.into(),
        slot: Some(slot),
        group: lane.name.clone(),
        x: (0..=PARTS).map(edge).collect(),
        y: Lane::tenths(text).map(|tenths| f64::from(10 * tenths)).chain([0.0]).collect(),
        ..Trace::default()
    };
    vec![line(names[0], 4, &lane.first), line(names[1], 0, &lane.second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::jobs::RoundFacts;

    /// A rank that computes half of the first part and transfers all of the last: bars at these times, as high as that.
    #[test]
    fn a_rank_has_bars_of_two_colours() {
        let (first, second) = (format!("5{}", "0".repeat(59)), format!("{}a", "0".repeat(59)));
        let lane = Lane { name: "0 H0".into(), first, second };
        let ms = 1_000_000_000;
        let job = JobFacts {
            name: "job".into(),
            ranks: vec!["H0".into(), "H1".into()],
            rounds: vec![RoundFacts { begin: ms, ..RoundFacts::default() }],
            time: Some(6 * ms),
            ports: vec![Lane { name: "S>H0".into(), ..lane.clone() }],
            lanes: vec![lane],
            ..JobFacts::default()
        };
        let run = RunRecord {
            case: ["mine", "small", "default", "on", "none"].into(),
            seed: 3,
            ..RunRecord::default()
        };
        let all = figures(&run, &job, 20 * ms);
        assert_eq!(all.iter().map(|f| f.traces.len()).collect::<Vec<_>>(), [2, 2]);
        let bars = |t: &Trace| -> Vec<(f64, f64, f64)> {
            let bars = t.x.windows(2).zip(&t.y).map(|(x, y)| (x[0], x[1], *y));
            bars.filter(|b| b.2 > 0.0).collect()
        };
        assert_eq!(bars(&all[0].traces[0]), [(1.0, 1.1, 50.0)]);
        assert_eq!(bars(&all[0].traces[1]), [(6.9, 7.0, 100.0)]);
        assert!(
            all[0].caption.contains("1 of 2 ranks are drawn")
                && all[0].title.starts_with("Ranks over time: job, "),
            "{:?}",
            all[0]
        );
        assert!(all[1].caption.contains("longest, 16 at most: in XOFF"), "{}", all[1].caption);
        assert!(all[1].traces.iter().all(|t| t.group == "S>H0"), "{:?}", all[1].traces);
        assert_eq!(all[1].traces.iter().map(|t| bars(t).len()).sum::<usize>(), 2);
    }
}
