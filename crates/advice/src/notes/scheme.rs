//! Notes on `[scheme]`: parameters that cannot act, and what a scheme did in finished runs, though PAUSE acted or frames were lost.
//!
//! A scheme acts by the rates and windows of its limiters, whatever tells it of congestion: messages of its own, or the marks, delays
//! and telemetry of acknowledgements.

mod levels;

use super::transport::longest_round_trip;
use super::{once, sum};
use cnsim_measure::flow_times::Paths;
use cnsim_measure::pauses::time;
use cnsim_measure::quantity::digits;
use cnsim_runs::points::Point;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::metrics::Id;
use cnsim_units::{Bytes, Rate, Time};
pub(super) use levels::late;
use levels::{MARKS, windowed};
use std::collections::BTreeSet;

/// Parameters that hold the rate below which a scheme slows no flow.
const FLOORS: [&str; 3] = ["min_rate", "r_min", "rpg_min_rate"];

/// Senders to one host whose lowest rates fill its link.
pub(super) fn floor(ready: &Ready) -> Option<String> {
    let (settings, scheme) = (&ready.settings, &ready.scheme);
    let (host, senders) = settings.most_sent_to()?;
    let line = settings.wiring.access(host)?.rate;
    let rate = |key: &&'static str| {
        let value = ready.built.values.iter().find(|v| v.0 == **key)?;
        Some((*key, value.1.parse::<Rate>().ok()?))
    };
    let (key, least) = FLOORS.iter().find_map(rate)?;
    let all = least.bps() * senders as f64;
    // A window holds back what a lowest rate does not.
    let held = windowed(ready, line) || settings.fixed_window().is_some();
    (all > line.bps() && !held).then(|| {
        format!(
            "{scheme} slows no flow below {least} ({key}), and {senders} hosts send to {0}: together they fill its link of {line} {1:.1} times over; set scheme.{scheme}.{key} below {2}",
            settings.wiring.hosts[host],
            all / line.bps(),
            Rate::from_bps((line.bps() / senders as f64 / 1e6).floor().max(1.0) * 1e6)
        )
    })
}

/// Parameters that hold the round-trip time above which a scheme slows a flow in any case; and what a scheme adds for each hop, and
/// at most for a small window.
const TARGETS: [&str; 2] = ["t_high", "base_target"];

const PER_HOP: &str = "per_hop";

const MOST_ADDED: &str = "fs_range";

/// A scheme that aims at a round-trip time that the longest path exceeds without a queue.
pub(super) fn unreachable(ready: &Ready) -> Option<String> {
    let value = |key: &str| {
        let of = ready.built.values.iter().find(|v| v.0 == key)?;
        of.1.parse::<Time>().ok()
    };
    let (key, least) = TARGETS.iter().find_map(|key| Some((*key, value(key)?)))?;
    let (trip, from, to) = longest_round_trip(&ready.settings)?;
    let hops = Paths::new(&ready.settings).between(from, to).hops.len() as u64;
    let added = value(PER_HOP).unwrap_or(Time::ZERO) * hops + value(MOST_ADDED).unwrap_or(Time::ZERO);
    let (scheme, most) = (&ready.scheme, least + added);
    let hosts = &ready.settings.wiring.hosts;
    (most < trip).then(|| {
        format!(
            "{scheme} slows a flow whose round trip takes longer than {most}, and that of {} > {} takes {} without a queue, so it is slowed \
             for ever: raise scheme.{scheme}.{key}",
            hosts[from],
            hosts[to],
            time(trip.as_ps())
        )
    })
}

/// A note on a scheme that lowered no rate and no window although PAUSE acted or frames were lost. Runs that differ from those `without`
/// a scheme are of one that acts otherwise.
fn mute(case: &[&RunRecord], without: Option<&[&RunRecord]>) -> Option<String> {
    let (xoffs, lost) = (sum(case, Id::Pauses)?, sum(case, Id::DroppedFrames)?);
    let (made, slowed) = (sum(case, Id::ControlMessages)?, sum(case, Id::SlowedFlows)?);
    let differs = |r: &&RunRecord| {
        let bare = without.and_then(|all| all.iter().find(|b| b.seed == r.seed));
        bare.is_some_and(|b| b.fingerprint.get("frames") != r.fingerprint.get("frames"))
    };
    let scheme = &case[0].case.scheme;
    if scheme == "none" || made + slowed > 0.0 || xoffs + lost == 0.0 {
        return None;
    }
    let beside = beside(case, xoffs, lost);
    match by_acknowledgements(case) {
        // Telemetry and windows that a flow begins with change a run, too.
        true => {
            let marks = sum(case, Id::MarkedShare) == Some(0.0) && marks_above(case).is_some();
            let unmarked = if marks { ", as no acknowledged frame was marked" } else { "" };
            let level = marks_above(case).map_or_else(
                || format!("lower the queue or delay above which it slows them (`cnsim explain {scheme}`)"),
                |(key, level)| {
                    format!("lower scheme.{scheme}.{key} = {level}, above which frames are marked")
                },
            );
            Some(format!(
                "the scheme slowed no flow{unmarked}, beside {beside}: {level}, or send larger flows"
            ))
        }
        false if case.iter().any(differs) => None,
        false => Some(format!(
            "the scheme made no message and slowed no flow, beside {beside}: lower the queue at which it sends feedback, or its interval of samples"
        )),
    }
}

/// Do acknowledgements tell the scheme of congestion? It makes no message, and its flows are acknowledged.
fn by_acknowledgements(case: &[&RunRecord]) -> bool {
    case.iter().all(|r| r.metrics.get(Id::MarkedShare).is_some())
}

/// The parameter of a run's scheme above whose queue frames are marked.
fn marks_above<'a>(case: &[&'a RunRecord]) -> Option<(&'static str, &'a str)> {
    // Elsewhere such a name may be of a factor.
    let level = |key: &String| case[0].config.text(key).filter(|text| text.parse::<Bytes>().is_ok());
    MARKS.iter().find_map(|key| Some((*key, level(&format!("scheme.params.{key}"))?)))
}

/// `12 XOFF and 3 frames lost`: means over the runs.
fn beside(case: &[&RunRecord], xoffs: f64, lost: f64) -> String {
    let what = [(xoffs, "XOFF"), (lost, "frames lost")];
    let what = what.iter().filter(|w| w.0 > 0.0);
    let words = what.map(|(n, what)| format!("{} {what}", rounded(case, *n)));
    words.collect::<Vec<_>>().join(" and ")
}

/// The mean of a sum over the runs, with one decimal.
fn rounded(case: &[&RunRecord], sum: f64) -> String {
    digits((sum / case.len() as f64 * 10.0).round() / 10.0)
}

/// Flows of at least so many bytes last long enough for feedback on them.
const LARGE: u64 = 100_000;

/// A scheme that lives by messages and made fewer than there are flows that it could slow, though PAUSE acted or frames were lost.
fn silent(case: &[&RunRecord]) -> Option<String> {
    let messages = sum(case, Id::ControlMessages)?;
    if case[0].case.scheme == "none" || messages == 0.0 && by_acknowledgements(case) {
        return None;
    }
    let sizes = || {
        let of = |r: &&RunRecord| {
            let done = r.flows.times.iter().map(|f| f.bytes);
            done.chain(r.flows.unfinished.iter().map(|f| f.bytes)).collect::<Vec<u64>>()
        };
        case.iter().flat_map(of)
    };
    let flows = sum(case, Id::CompletedTransfers)? + sum(case, Id::IncompleteTransfers)?;
    // Where the times of flows are not kept, their sizes are not known.
    let large = sizes().filter(|b| *b >= LARGE).count() as f64;
    let known = sizes().count() as f64 == flows;
    let flows = if large > 0.0 { large } else { flows };
    let (xoffs, lost) = (sum(case, Id::Pauses)?, sum(case, Id::DroppedFrames)?);
    (known && messages < flows && xoffs + lost > 0.0).then(|| {
        format!(
            "the scheme made {} messages for {} flows a run, fewer than one each, beside {}: lower the queue at which it sends feedback or its interval of samples, or send larger flows",
            rounded(case, messages),
            rounded(case, flows),
            beside(case, xoffs, lost)
        )
    })
}

/// Schemes that did nothing, or too little, each told once. What each did nothing of has a remedy of its own.
pub(super) fn acted(cases: &[Point<'_>]) -> Vec<String> {
    // Beside each case, the one without a scheme.
    let bare = |case: &Point<'_>| {
        let same = |c: &&Point<'_>| c.first().case.scheme == "none" && c.place() == case.place();
        cases.iter().find(same).map(|c| &c.runs[..])
    };
    let mutes: BTreeSet<_> =
        cases.iter().filter(|c| mute(&c.runs, bare(c)).is_some()).map(|c| &c.first().case).collect();
    let is_mute = |case: &Point<'_>| mutes.contains(&case.first().case);
    let schemes: BTreeSet<_> = mutes.iter().map(|case| &case.scheme).collect();
    let of = |scheme: &String| {
        once(cases, &|runs| mute(runs, None), &|c| is_mute(c) && c.first().case.scheme == *scheme)
    };
    let silent = once(cases, &silent, &|case| !is_mute(case));
    schemes.into_iter().filter_map(of).chain(silent).collect()
}
