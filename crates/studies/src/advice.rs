//! What a colleague would say of an experiment, each with its figure and a remedy: before its runs and after them.
//!
//! All of it is allowed, and may be meant. Studies of others are as their authors made them: nothing is said of them.

use crate::files::digits;
use crate::metrics::find;
use crate::papers::PAPERS;
use crate::scenario::Ready;

use crate::store::{LABELS, RunRecord};
use cnsim_units::{Bytes, Rate, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What can be known before a case runs.
pub fn before(ready: &Ready) -> Vec<String> {
    if of_others(ready.config["study"].as_str().unwrap_or_default()) {
        return Vec::new();
    }
    overload(ready).into_iter().chain(late(ready)).collect()
}

/// One seed of traffic that is drawn.
pub fn few_seeds(ready: &Ready, seeds: u64) -> Option<String> {
    let own = !of_others(ready.config["study"].as_str().unwrap_or_default());
    (own && seeds == 1 && ready.settings.is_drawn()).then(|| {
        "one seed draws the traffic, so a difference may be chance and has no interval: set run.seeds = 5, or use --seeds 5".into()
    })
}

/// What is known after these runs of one or more cases; each thing once, with the first case that has it.
pub fn after<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let own: Vec<&RunRecord> = records.into_iter().filter(|r| !of_others(&r.study)).collect();
    let mut cases: Vec<Vec<&RunRecord>> = Vec::new();
    for r in &own {
        match cases.iter_mut().find(|c| c[0].case() == r.case() && essence(c[0], "") == essence(r, "")) {
            Some(case) => case.push(r),
            None => cases.push(vec![r]),
        }
    }
    let kinds: [fn(&[&RunRecord]) -> Option<String>; 4] = [idle, silent, cool, wide];
    let once = kinds.iter().filter_map(|say| {
        let said: Vec<(&RunRecord, String)> = cases.iter().filter_map(|c| Some((c[0], say(c)?))).collect();
        let (first, text) = said.first()?;
        let more = match said.len() {
            1 => String::new(),
            n => format!(" (and {} more cases)", n - 1),
        };
        Some(format!("{}, PAUSE {}, {}{more}: {text}", first.condition, first.pause, first.scheme))
    });
    once.chain(flat(&own)).collect()
}

fn of_others(study: &str) -> bool {
    PAPERS.iter().any(|p| p.id.eq_ignore_ascii_case(study))
}

/// A link that is offered more than it carries.
fn overload(ready: &Ready) -> Option<String> {
    let all = ready.settings.overloads();
    let worst = all.first()?;
    let more = match all.len() {
        1 => String::new(),
        n => format!(", and {} further ports are overloaded", n - 1),
    };
    let (offered, carries) = (Rate::from_bps(worst.offered.round()), Rate::from_bps(worst.carries));
    Some(format!(
        "{} is offered {:.2} times what it carries, {:.1} of {carries} on average over the run{more}: lower the load, lengthen the run, or give it more or faster links",
        worst.port,
        worst.offered / worst.carries,
        offered.gbps(),
    ))
}

/// A scheme that speaks only above the length at which PAUSE has stopped the input.
fn late(ready: &Ready) -> Option<String> {
    let xoff = ready.settings.xoff()?;
    let size = |key: &str| {
        let value = ready.built.values.iter().find(|v| v.0 == key)?;
        Some((key.to_owned(), value.1.parse::<Bytes>().ok()?))
    };
    let (key, level) = ["k_min", "q_eq"].into_iter().find_map(size).filter(|(_, level)| *level > xoff)?;
    let inputs = level.get() / xoff.get().max(1) + 1;
    Some(format!(
        "{} speaks above a queue of {level} ({key}), and PAUSE stops an input at {xoff}, so it speaks only where {inputs} or more inputs fill one output: set scheme.{}.{key} below pause.high, or raise pause.high and switch.share",
        ready.scheme, ready.scheme
    ))
}

fn mean(case: &[&RunRecord], metric: &str) -> Option<f64> {
    let values: Vec<f64> = case.iter().filter_map(|r| r.metrics.get(metric).copied()).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A run that is idle for more than half of its time, before its first or after its last frame.
fn idle(case: &[&RunRecord]) -> Option<String> {
    let spans: Vec<(usize, usize, f64)> = case
        .iter()
        .filter_map(|r| {
            let curve = r.series.get("aggregate_throughput")?;
            let busy = |v: &f64| *v > 0.0;
            let first = curve.values.iter().position(busy)?;
            let last = curve.values.iter().rposition(busy)?;
            Some((last + 1 - first, curve.values.len(), (last + 1) as f64 * curve.bin))
        })
        .collect();
    let (busy, all) = (spans.iter().map(|s| s.0).sum::<usize>(), spans.iter().map(|s| s.1).sum::<usize>());
    let end = spans.iter().map(|s| s.2).fold(0.0, f64::max);
    (all > 0 && 2 * busy < all).then(|| {
        let share = (1.0 - busy as f64 / all as f64) * 100.0;
        let end = Time::from_us((end * 1e6).ceil() as u64);
        format!(
            "{share:.0} % of the run is idle, as nothing arrives after {end}, and rates are means over all of it: shorten run.duration, or set record.from and record.to"
        )
    })
}

/// Flows of at least so many bytes are there long enough to be told.
const LARGE: u64 = 100_000;

/// A scheme that made fewer messages than there are flows that it could slow, though inputs were stopped or frames lost.
fn silent(case: &[&RunRecord]) -> Option<String> {
    if case[0].scheme == "none" {
        return None;
    }
    let sizes = || {
        let done = case.iter().flat_map(|r| r.flows.iter().map(|f| f.bytes));
        done.chain(case.iter().flat_map(|r| r.unfinished.iter().map(|f| f.bytes)))
    };
    let large = sizes().filter(|b| *b >= LARGE).count();
    let flows = if large > 0 { large } else { sizes().count() };
    let messages = mean(case, "control_messages")? * case.len() as f64;
    let (stopped, lost) = (mean(case, "pauses")?, mean(case, "dropped_frames")?);
    (messages < flows as f64 && stopped + lost > 0.0).then(|| {
        format!(
            "it made {messages:.0} messages for {flows} flows, fewer than one each, while {} inputs were stopped and {} frames lost: lower the queue at which it speaks or its interval of samples, or send larger flows",
            digits(stopped),
            digits(lost)
        )
    })
}

/// Longest queue of a port at which nothing waits: two frames, KB.
const TWO_FRAMES: f64 = 3.0;

/// A hot port, named by hand, at which nothing waits.
fn cool(case: &[&RunRecord]) -> Option<String> {
    let config = &case[0].config;
    let host = config["record.host"].as_str().filter(|h| *h != "off" && *h != "auto")?;
    if config["hotspot.host"].as_str().is_some_and(|h| h != "off") || config["hotspot.host"].is_array() {
        return None;
    }
    let ends = format!(">{host}");
    let queue = |r: &&RunRecord| r.ports.iter().find(|p| p.0.ends_with(&ends)).map(|p| p.1.queue_max);
    let most = case.iter().filter_map(queue).fold(f64::NAN, f64::max);
    let longest = mean(case, "queue_max")?;
    (most <= TWO_FRAMES || most < 0.1 * longest).then(|| {
        format!(
            "record.host names {host}, but its port is not hot: its queue never passes {} KB, and the longest of all is {} KB; name the host whose port is full, or leave it out",
            digits(most),
            digits(longest)
        )
    })
}

/// Metrics whose intervals are looked at: what schemes are ranked by.
const RANKED: [&str; 4] =
    ["completion_time_p99", "completion_time_p50", "aggregate_throughput", "hot_port_throughput"];

/// An interval that is wider than its value.
fn wide(case: &[&RunRecord]) -> Option<String> {
    RANKED.iter().find_map(|id| {
        let values: Vec<f64> = case.iter().filter_map(|r| r.metrics.get(*id).copied()).collect();
        let metric = find(id)?;
        let summary = metric.summary(&values)?;
        let (low, high) = summary.confidence()?;
        (high - low > summary.mean && summary.mean > 0.0).then(|| {
            format!(
                "the interval of {id}, {} to {} {}, is wider than its mean of {}: run more than {} seeds (--seeds {})",
                digits(low),
                digits(high),
                metric.unit,
                digits(summary.mean),
                summary.n,
                4 * summary.n
            )
        })
    })
}

/// What a run is made from, as keys with values, without its labels and the key `but`.
fn essence(r: &RunRecord, but: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in r.config.as_object().into_iter().flatten() {
        match value {
            Value::Object(scheme) => {
                for (name, value) in scheme["params"].as_object().into_iter().flatten() {
                    all.insert(format!("scheme.params.{name}"), value.to_string());
                }
            }
            value if !LABELS.contains(&key.as_str()) => drop(all.insert(key.clone(), value.to_string())),
            _ => {}
        }
    }
    all.remove(but);
    all
}

/// Runs that are looked at for keys without effect.
const LOOKED_AT: usize = 2000;

/// Keys that were varied and changed no bit of any run.
fn flat(records: &[&RunRecord]) -> Option<String> {
    let records = &records[..records.len().min(LOOKED_AT)];
    let mut values: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for r in records {
        for (key, value) in essence(r, "") {
            values.entry((&r.scheme, key)).or_default().insert(value);
        }
    }
    let varied: BTreeSet<&String> = values.iter().filter(|v| v.1.len() > 1).map(|v| &v.0.1).collect();
    let changes = |key: &str| {
        let mut same: BTreeMap<(&str, u64, BTreeMap<String, String>), BTreeSet<&BTreeMap<String, String>>> =
            BTreeMap::new();
        let mut runs = 0;
        for r in records {
            same.entry((&r.scheme, r.seed, essence(r, key))).or_default().insert(&r.fingerprint);
            runs += 1;
        }
        // Runs that differ in this key alone, and came out alike.
        (same.len() < runs).then(|| same.values().any(|prints| prints.len() > 1))
    };
    let flat: Vec<&str> =
        varied.into_iter().filter(|k| changes(k) == Some(false)).map(String::as_str).collect();
    (!flat.is_empty()).then(|| {
        format!(
            "{} changed nothing: runs that differ in it alone are the same to the last bit; vary a key that matters here, or one that it depends on",
            flat.join(", ")
        )
    })
}
