//! Notes on `[workload]` and `[[traffic]]`: what sources offer, and what was sent.

use super::rounded::{three, told_bytes};
use cnsim_measure::quantity::digits;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::config::Config;
use cnsim_scenario::keys::find;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables::workload::FRAME;
use cnsim_units::{Bytes, Rate, Time};

/// A link that is offered more than it carries.
pub(super) fn overload(ready: &Ready) -> Option<String> {
    let all = ready.settings.overloads();
    let worst = all.first()?;
    let more = match all.len() {
        1 => String::new(),
        2 => ", and 1 further port is overloaded".into(),
        n => format!(", and {} further ports are overloaded", n - 1),
    };
    let (from, to) = worst.span;
    let bytes = |rate: f64| told_bytes(rate * (to - from).as_secs_f64() / 8.0);
    if let Some(since) = worst.shut {
        return Some(format!(
            "{} serves nothing from {since} on, and {} should pass it from {from} to {to}{more}: let a later [[event]] raise its rate, or send elsewhere",
            worst.port,
            bytes(worst.offered)
        ));
    }
    let times = digits(three(worst.offered / worst.carries));
    if !worst.steady {
        return Some(format!(
            "{} is to carry {} in the run, {times} times what it can{more}: lengthen the run, send less, or give it more or faster links",
            worst.port,
            bytes(worst.offered)
        ));
    }
    // Offered and carried rate have the unit of the link's rate.
    let carries = Rate::from_bps(three(worst.carries)).to_string();
    let (number, unit) = carries.split_once(' ').unwrap_or((&carries, ""));
    let offered = number.parse::<f64>().map_or_else(
        |_| String::new(),
        |n| format!("{} {unit} of ", digits(three(n * worst.offered / worst.carries))),
    );
    let whole = worst.span == (Time::ZERO, ready.settings.duration);
    let when = if whole { "over the run".into() } else { format!("while sources send, from {from} to {to}") };
    Some(format!(
        "{} is offered {times} times what it carries, {offered}{carries} on average {when}{more}: lower the load, or give it more or faster links",
        worst.port,
    ))
}

/// Share of flows below the smallest frame above which a table is hardly meant in bytes.
const TINY: f64 = 0.1;

/// A table of sizes that look like KB.
pub(super) fn tiny(ready: &Ready) -> Option<String> {
    let settings = &ready.settings;
    let least = Bytes::SMALLEST_FRAME.get() as f64 - 1.0;
    let tables = (0..settings.hosts()).flat_map(|h| settings.plans(h)).filter_map(|p| p.sizes());
    let small = tables.into_iter().find(|t| t.share_up_to(least) >= TINY)?;
    let (from, to) = (small.points().iter().find(|p| p.1 > 0.0)?.0, small.points().last()?.0);
    Some(format!(
        "{} % of the flows have fewer than 64 B (the table of sizes goes from {from} to {to}): sizes are in bytes; multiply them by 1000 if they are in KB",
        digits(three(small.share_up_to(least) * 100.0))
    ))
}

/// Traffic with a name, or a flow that is recorded, of which nothing was sent in any run.
pub(super) fn empty(case: &[&RunRecord]) -> Option<String> {
    let first = case[0];
    let of = |r: &RunRecord, name: &str, id: &Id| {
        let facts = r.traffic.iter().find(|t| t.name == name);
        facts.and_then(|t| t.metrics.get(id)).unwrap_or(0.0)
    };
    let counts =
        [Id::AggregateThroughput, Id::CompletedTransfers, Id::IncompleteTransfers, Id::DroppedFrames];
    let silent = |name: &str| case.iter().all(|r| counts.iter().all(|id| of(r, name, id) == 0.0));
    let named = first.traffic.iter().map(|t| t.name.as_str()).filter(|name| silent(name));
    let still = |id: &str| {
        let zero =
            |r: &&RunRecord| r.over_time.series.get(id).is_some_and(|c| c.values.iter().all(|v| *v == 0.0));
        case.iter().all(zero)
    };
    let flows =
        first.over_time.series.keys().filter(|id| id.starts_with("flow ") && still(id)).map(String::as_str);
    let all: Vec<&str> = named.chain(flows).collect();
    (!all.is_empty()).then(|| {
        format!(
            "nothing of {} was received: lengthen run.duration, raise its load, or leave it out",
            all.join(", ")
        )
    })
}

/// Longest queue of a port at which nothing waits, KB: two frames of the largest size in a run's traffic.
pub fn two_frames(config: &Config) -> f64 {
    let frames = config.keys().filter(|(key, _)| key.ends_with(".frame"));
    let sizes = frames.filter_map(|(key, _)| config.read::<Bytes>(key));
    // A table that names none has the usual one.
    let usual = find(FRAME.path).and_then(|k| k.default.parse::<Bytes>().ok());
    sizes.chain(usual).max().map_or(0.0, |b| 2.0 * b.as_f64() / 1e3)
}
