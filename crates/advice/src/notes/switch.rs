//! Notes on the memory of `[switch]` and `[host]`: frames that were lost for good.

use super::event::slowed;
use super::sum;
use cnsim_runs::points::Point;
use cnsim_scenario::metrics::Id;
use indexmap::IndexMap;

/// Largest number of places with losses in a note.
const PLACES: usize = 4;

/// Where frames of traffic without an end are lost: the metric that counts them, what happened, and the remedy.
const LOSSES: [(&str, &str, &str); 2] = [
    (
        Id::DroppedFrames.text(),
        "frames were lost, and none is sent again",
        "queues and times are of those that arrived: give switches more memory, lower the load, or turn PAUSE on",
    ),
    (
        Id::SourceDiscards.text(),
        "sources discarded frames, as their queues (host.fifo) were full",
        "rates and times are of those that were sent: lower the load, or spread it over more links",
    ),
];

/// Frames of traffic without an end that were lost at one of [`LOSSES`], for all schemes of a place at once.
fn lossy(cases: &[Point<'_>], (metric, lost, remedy): (&str, &str, &str)) -> Vec<String> {
    let count = |c: &Point<'_>| {
        // A finite flow that lost a frame is unfinished, and reported as that.
        let open = sum(&c.runs, Id::IncompleteTransfers).unwrap_or(0.0);
        // Nothing is lost for good that is sent again.
        let (again, _) = c.first().config.sends_again();
        let meant = again || metric == Id::SourceDiscards.text() && slowed(c.first());
        // Drops of a watchdog are asked for, and no loss of memory.
        let by_watchdogs = sum(&c.runs, Id::WatchdogDrops).filter(|_| metric == Id::DroppedFrames.text());
        let frames = sum(&c.runs, metric)? - by_watchdogs.unwrap_or(0.0);
        (open == 0.0 && !meant).then_some((frames / c.runs.len() as f64).round())
    };
    let mut places: IndexMap<_, Vec<(&Point<'_>, f64)>> = IndexMap::new();
    for (c, lost) in cases.iter().filter_map(|c| Some((c, count(c)?))) {
        places.entry(c.place()).or_default().push((c, lost));
    }
    let told = |place: &Vec<(&Point<'_>, f64)>| {
        let first = place[0].0.first();
        let own = |c: &Point<'_>, of_scheme: bool| -> String {
            let values = c.swept.iter().filter(|v| v.0.starts_with("scheme.") == of_scheme);
            values.map(|(k, v)| format!(", {k} = {v}")).collect()
        };
        let each =
            |(c, frames): &(&Point<'_>, f64)| format!("{}{} {frames}", c.first().case.scheme, own(c, true));
        format!(
            "{}{}: {lost} (frames a run: {}); {remedy}",
            first.case.place(),
            own(place[0].0, false),
            place.iter().map(each).collect::<Vec<_>>().join(", ")
        )
    };
    let losing = |place: &&Vec<(&Point<'_>, f64)>| place.iter().any(|p| p.1 > 0.0);
    let mut lines: Vec<String> = places.values().filter(losing).take(PLACES).map(told).collect();
    let hidden = places.values().filter(losing).count() - lines.len();
    if hidden > 0 {
        lines.push(format!("{lost} under {hidden} further conditions, too"));
    }
    lines
}

/// Frames that were lost at each of [`LOSSES`].
pub(super) fn losses(cases: &[Point<'_>]) -> Vec<String> {
    LOSSES.into_iter().flat_map(|loss| lossy(cases, loss)).collect()
}
