//! Notes on an experiment that may mislead, each with its figure and a remedy: before its runs and after them.
//!
//! All that they name is allowed, and may be meant. Published studies are as their authors made them: they have no notes.

mod levels;
mod schemes;

use crate::round_trips::{all_again, doubts, overtaken, too_early, unreachable};
use crate::rounded::{three, told_bytes};
use cnsim_fabric::WatchdogSpec;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_problem::any_of;
use cnsim_runs::points::{Point, points};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::columns::RANKED;
use cnsim_scenario::config::Config;
use cnsim_scenario::keys::find as find_key;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use cnsim_scenario::{EMBEDDED, Ready};
use cnsim_units::{Bytes, Rate, Time};
use indexmap::IndexMap;
use levels::{late, windowed};
use schemes::{mute, silent};
use std::collections::{BTreeMap, BTreeSet};

/// Notes on settings that are valid but hardly intended, a sentence each: defaults of the scheme that do not fit the links, phases
/// that lock, memory too small for PAUSE, times that are scaled down. Mostly none. Published studies have them, too.
pub fn of_settings(ready: &Ready) -> Vec<String> {
    let settings = &ready.settings;
    // A scheme that changes rates parts the phases.
    let locked = settings.locked().filter(|_| ready.scheme == "none");
    let short = settings.shortages(&ready.built);
    let scaled = settings.watchdog.and_then(|watchdog| scaled_down(&watchdog));
    ready.misfit.iter().cloned().chain(locked).chain(doubts(settings)).chain(short).chain(scaled).collect()
}

/// Times of detection in the field are longer, of some hundreds of ms.
const FIELD: Time = Time::from_ms(100);

/// A note on watchdog times that are shorter than those of the field.
fn scaled_down(watchdog: &WatchdogSpec) -> Option<String> {
    let WatchdogSpec { detect, restore, .. } = watchdog;
    (*detect < FIELD).then(|| {
        format!(
            "the watchdogs' times are scaled down: detect {detect} and restore {restore}, where those of the field are some hundreds of ms"
        )
    })
}

/// Notes on a case before it runs.
pub fn before(ready: &Ready) -> Vec<String> {
    if of_others(ready.config.text("study").unwrap_or_default()) {
        return Vec::new();
    }
    let all = [overload, late, floor, even, in_vain, idle_scheme, coarse, tiny, unreachable, all_again];
    all.iter().filter_map(|say| say(ready)).collect()
}

/// One seed of traffic that is drawn.
pub fn few_seeds(ready: &Ready, seeds: u64) -> Option<String> {
    let own = !of_others(ready.config.text("study").unwrap_or_default());
    (own && seeds == 1 && ready.settings.is_drawn()).then(|| {
        "the traffic is drawn by one seed alone, so a difference may be chance and has no interval: set run.seeds = 5, or use --seeds 5".into()
    })
}

/// Notes on finished runs of one or more cases; each note once, with the first case that has it.
pub fn after<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let cases = points(records.into_iter().filter(|r| !of_others(&r.case.study)));
    type Say<'s> = &'s dyn Fn(&[&RunRecord]) -> Option<String>;
    let once = |say: Say<'_>, asked: &dyn Fn(&Point<'_>) -> bool| {
        // A network that stands still has one remedy, which is told apart.
        let moves = |c: &&Point<'_>| c.runs.iter().all(|r| r.frozen.is_none());
        let asked = cases.iter().filter(moves).filter(|c| asked(c));
        let mut found = asked.filter_map(|case| Some((case, say(&case.runs)?)));
        let (first, text) = found.next()?;
        let more = match found.count() {
            0 => String::new(),
            1 => " (and 1 more case)".into(),
            n => format!(" (and {n} more cases)"),
        };
        Some(format!("{}{more}: {text}", first.name()))
    };
    // A run that is idle for one scheme is as long as another one needs it.
    let busy: BTreeSet<_> = cases.iter().filter(|c| idle(&c.runs).is_none()).map(Point::place).collect();
    let idle = once(&idle, &|case| !busy.contains(&case.place()));
    // Beside each case, the one without a scheme.
    let bare = |case: &Point<'_>| {
        cases
            .iter()
            .find(|c| c.first().case.scheme == "none" && c.place() == case.place())
            .map(|c| &c.runs[..])
    };
    let mutes: BTreeSet<_> =
        cases.iter().filter(|c| mute(&c.runs, bare(c)).is_some()).map(|c| &c.first().case).collect();
    let is_mute = |case: &Point<'_>| mutes.contains(&case.first().case);
    // Each scheme has a remedy of its own.
    let mute: Vec<String> = (mutes.iter().map(|case| &case.scheme).collect::<BTreeSet<_>>().into_iter())
        .filter_map(|scheme| {
            once(&|runs| mute(runs, None), &|c| is_mute(c) && c.first().case.scheme == *scheme)
        })
        .collect();
    let silent = once(&silent, &|case| !is_mute(case));
    let all: [Say<'_>; 5] = [&empty, &cool, &wide, &overtaken, &too_early];
    let all = all.iter().filter_map(|say| once(*say, &|_| true));
    let first = LOSSES.into_iter().flat_map(|loss| lossy(&cases, loss)).chain(idle).chain(mute).chain(silent);
    first.chain(all).chain(flat(&cases)).collect()
}

/// Most cases that froze and are named one by one.
const FROZEN: usize = 8;

/// A line for each case whose network stood still at the end.
pub fn frozen<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let mut cases: IndexMap<&CaseId, (&RunRecord, Vec<u64>)> = IndexMap::new();
    for r in records.into_iter().filter(|r| r.frozen.is_some()) {
        cases.entry(&r.case).or_insert((r, Vec::new())).1.push(r.seed);
    }
    let mut lines: Vec<String> = cases.values().filter_map(|(r, seeds)| frozen_case(r, seeds)).collect();
    let hidden = lines.len().saturating_sub(FROZEN);
    if hidden > 0 {
        lines.truncate(FROZEN);
        lines.push(match hidden {
            1 => "1 more case froze; results.json names it".into(),
            n => format!("{n} more cases froze; results.json names them"),
        });
    }
    lines
}

fn frozen_case(r: &RunRecord, seeds: &[u64]) -> Option<String> {
    let (case, text) = (&r.case, r.frozen.as_ref()?.text());
    Some(match seeds {
        [one] => format!("{case}, seed {one}: {text}"),
        many => format!("{case}, {} seeds; seed {}: {text}", many.len(), r.seed),
    })
}

/// Is it a published study, whose scenarios come with cnsim?
pub fn of_others(study: &str) -> bool {
    EMBEDDED.iter().any(|(id, _)| id.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(study)))
}

/// A link that is offered more than it carries.
fn overload(ready: &Ready) -> Option<String> {
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

/// A scheme that no host runs that sends.
fn idle_scheme(ready: &Ready) -> Option<String> {
    (ready.scheme != "none" && ready.settings.all_bare()).then(|| {
        format!(
            "no host that sends runs {}: the [[group]] tables take all of them out of it; name fewer hosts there",
            ready.scheme
        )
    })
}

/// Parameters that hold the rate below which a scheme slows no flow.
const FLOORS: [&str; 3] = ["min_rate", "r_min", "rpg_min_rate"];

/// Senders to one host whose lowest rates fill its link.
fn floor(ready: &Ready) -> Option<String> {
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

/// A port that is slowed down, and to which nothing is sent.
fn in_vain(ready: &Ready) -> Option<String> {
    let ports = ready.settings.slowed_in_vain();
    (!ports.is_empty()).then(|| {
        format!(
            "nothing is sent through {}, which is slowed down: name a port that traffic passes, or add its host to the destinations",
            ports.join(", ")
        )
    })
}

/// Fewest bins of a run whose series show its course.
const BINS: u64 = 4;

/// Series of a few values.
fn coarse(ready: &Ready) -> Option<String> {
    let (bin, duration) = (ready.settings.record.bin, ready.settings.duration);
    (bin.as_ps().saturating_mul(BINS) > duration.as_ps()).then(|| {
        format!("a bin of {bin} (record.bin) leaves fewer than {BINS} values to each series of {duration}: set a shorter one, or leave it out")
    })
}

/// Share by which more is sent to one host than to others that is no chance.
const EVEN: f64 = 1.1;

/// Share of flows below the smallest frame above which a table is hardly meant in bytes.
const TINY: f64 = 0.1;

/// A table of sizes that look like KB.
fn tiny(ready: &Ready) -> Option<String> {
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

/// A hot port, named by hand, that gets no more than others, and less than its link carries.
fn even(ready: &Ready) -> Option<String> {
    let settings = &ready.settings;
    let named = ready.config.text(tables::record::HOST).is_some_and(|h| h != "auto" && h != "off");
    if !named || settings.hotspot().is_some() {
        return None;
    }
    let (host, sent) = (settings.record.receiver, settings.sent_to());
    let others =
        || sent.iter().enumerate().filter(|(h, rate)| *h != host && **rate > 0.0).map(|(_, rate)| *rate);
    let mean = others().sum::<f64>() / (others().count() as f64).max(1.0);
    let line = settings.wiring.access(host)?.rate;
    (sent[host] < line.bps() && sent[host] <= EVEN * mean).then(|| {
        format!(
            "record.host names {0}, but its port is no hotter than others: {1} are sent to {0} on average, and {2} to each other receiver; name the host to which most is sent, or leave it out",
            settings.wiring.hosts[host],
            Rate::from_bps((sent[host] / 1e6).round() * 1e6),
            Rate::from_bps((mean / 1e6).round() * 1e6)
        )
    })
}

/// Sum of a metric over the runs of a case; none if a run lacks it.
fn sum(case: &[&RunRecord], metric: impl AsRef<str>) -> Option<f64> {
    case.iter().map(|r| r.metrics.get(metric.as_ref())).sum()
}

/// Share of a measurement that is no pause worth a word, where its idle parts are named.
const SHORT: f64 = 0.05;

/// A measurement that is idle for more than half of its time, before its first or after its last frame.
fn idle(case: &[&RunRecord]) -> Option<String> {
    let time = |key: &str, r: &RunRecord| r.config.read::<Time>(key);
    let (mut busy, mut all, mut before, mut after) = (0.0, 0.0, f64::INFINITY, 0.0_f64);
    let mut window = (0.0, 0.0);
    for r in case {
        let Some(curve) = r.series.get("aggregate_throughput") else { continue };
        let sends = |v: &f64| *v > 0.0;
        let Some(first) = curve.values.iter().position(sends) else { continue };
        let last = curve.values.iter().rposition(sends).unwrap_or(first);
        let end = curve.values.len() as f64 * curve.bin;
        let from = time(tables::record::FROM.path, r).map_or(0.0, Time::as_secs_f64);
        let to = time(tables::record::TO.path, r).map_or(end, Time::as_secs_f64).min(end);
        let (begins, ends) = (first as f64 * curve.bin, (last + 1) as f64 * curve.bin);
        busy += (ends.min(to) - begins.max(from)).max(0.0);
        all += to - from;
        (before, after, window) = (before.min(begins), after.max(ends), (from, to));
    }
    // Flows that are not over wait for something, of which others speak.
    let open = case.iter().any(|r| r.metrics.get(Id::IncompleteTransfers).is_some_and(|n| n > 0.0));
    // Times of collectives and queries do not depend on the length of a run.
    let timed = [Id::JobTime, Id::QueryTime].iter().any(|id| sum(case, id).is_some());
    if all <= 0.0 || 2.0 * busy >= all || open || timed {
        return None;
    }
    let at = |seconds: f64| Time::from_us((seconds * 1e6).round() as u64);
    let (from, to) = window;
    let early = (before - from > SHORT * (to - from)).then(|| format!("before {}", at(before)));
    let late = (to - after > SHORT * (to - from)).then(|| format!("after {}", at(after)));
    let start = early.as_ref().map(|_| "let traffic start earlier");
    let stop = late.as_ref().map(|_| "shorten run.duration");
    let whole = from == 0.0 && time(tables::record::TO.path, case[0]).is_none();
    Some(format!(
        "{:.0} % of the {} is idle, as nothing arrives {}, and rates are means over all of it: {}",
        (1.0 - busy / all) * 100.0,
        if whole { "run" } else { "measurement" },
        any_of(&early.into_iter().chain(late).collect::<Vec<_>>()),
        start
            .into_iter()
            .chain(stop)
            .chain(["set record.from and record.to"])
            .collect::<Vec<_>>()
            .join(", or ")
    ))
}

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

/// Is a port slowed on purpose, so that its senders must wait, and is no latency compared?
fn slowed(r: &RunRecord) -> bool {
    let hotspot = r.config.has_hotspot();
    let event = r.config.keys().any(|(k, _)| k.starts_with("event."));
    (hotspot || event) && r.metrics.get(Id::LatencyP99).is_none()
}

/// Frames of traffic without an end that were lost at one of [`LOSSES`], for all schemes of a place at once.
fn lossy(cases: &[Point<'_>], (metric, lost, remedy): (&str, &str, &str)) -> Vec<String> {
    let count = |c: &Point<'_>| {
        // A finite flow that lost a frame is unfinished, and reported as that.
        let open = sum(&c.runs, Id::IncompleteTransfers).unwrap_or(0.0);
        // Nothing is lost for good that is sent again.
        let again = c.first().config.sends_again();
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

/// Longest queue of a port at which nothing waits, KB: two frames of the largest size in a run's traffic.
pub fn two_frames(config: &Config) -> f64 {
    let frames = config.keys().filter(|(key, _)| key.ends_with(".frame"));
    let sizes = frames.filter_map(|(key, _)| config.read::<Bytes>(key));
    // A table that names none has the usual one.
    let usual = find_key(tables::workload::FRAME.path).and_then(|k| k.default.parse::<Bytes>().ok());
    sizes.chain(usual).max().map_or(0.0, |b| 2.0 * b.as_f64() / 1e3)
}

/// Traffic with a name, or a flow that is recorded, of which nothing was sent in any run.
fn empty(case: &[&RunRecord]) -> Option<String> {
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
        let zero = |r: &&RunRecord| r.series.get(id).is_some_and(|c| c.values.iter().all(|v| *v == 0.0));
        case.iter().all(zero)
    };
    let flows = first.series.keys().filter(|id| id.starts_with("flow ") && still(id)).map(String::as_str);
    let all: Vec<&str> = named.chain(flows).collect();
    (!all.is_empty()).then(|| {
        format!(
            "nothing of {} was received: lengthen run.duration, raise its load, or leave it out",
            all.join(", ")
        )
    })
}

/// A hot port, named by hand, at which nothing waits: its queue is two frames at most, or a tenth of the longest.
fn cool(case: &[&RunRecord]) -> Option<String> {
    let config = &case[0].config;
    let host = config.text(tables::record::HOST).filter(|h| *h != "off" && *h != "auto")?;
    if config.has_hotspot() {
        return None;
    }
    let ends = format!(">{host}");
    let queue = |r: &&RunRecord| r.ports.iter().find(|p| p.0.ends_with(&ends)).map(|p| p.1.queue_max);
    let most = case.iter().filter_map(queue).fold(f64::NAN, f64::max);
    let all = case.iter().filter_map(|r| r.metrics.get(Id::QueueMax));
    let longest = all.fold(f64::NAN, f64::max);
    (most <= two_frames(config) || most < 0.1 * longest).then(|| {
        format!(
            "record.host names {host}, but its port is not hot: its queue never passes {} KB, and the longest of all is {} KB; name the host whose port is full, or leave it out",
            digits(most),
            digits(longest)
        )
    })
}

/// An interval that is wider than its value.
fn wide(case: &[&RunRecord]) -> Option<String> {
    // Collectives and queries are ranked by their time, not by that of their parts.
    let whole = |id: &&Id| matches!(id, Id::JobTime | Id::QueryTime);
    let timed = RANKED.iter().filter(whole).any(|id| sum(case, id).is_some());
    RANKED.iter().filter(|id| !timed || whole(id)).find_map(|id| {
        let values: Vec<f64> = case.iter().filter_map(|r| r.metrics.get(id)).collect();
        let metric = id.row();
        let id = metric.id;
        let summary = Summary::of_metric(metric, &values)?;
        let summary = summary.bounded(case.iter().any(|r| r.metrics.at_least(id)));
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

/// The key of a group of runs that differ in one setting: study, scenario, scheme, seed and all other settings.
type Alike<'a> = (&'a str, &'a str, &'a str, u64, Vec<(&'a String, &'a String)>);

/// Keys that were varied and changed no bit of any run.
fn flat(points: &[Point<'_>]) -> Option<String> {
    // A key of [record] changes no run; a sweep over it asks for its records.
    let keys = points.iter().flat_map(|p| p.told.keys()).filter(|k| !k.starts_with("record."));
    let keys: BTreeSet<&String> = keys.collect();
    let unchanged = |key: &&String| {
        let mut alike: BTreeMap<Alike<'_>, (&RunRecord, &String)> = BTreeMap::new();
        let mut varied = false;
        for p in points {
            let Some(value) = p.told.get(*key) else { continue };
            for r in &p.runs {
                // A key that has an effect beside some values of this one only follows it.
                let follows = |k: &String| find_key(k).and_then(|k| k.only.key()) == Some(key.as_str());
                let rest = p.told.iter().filter(|(k, _)| k != key && !follows(k)).collect();
                let place =
                    (r.case.study.as_str(), r.case.scenario.as_str(), r.case.scheme.as_str(), r.seed, rest);
                let (first, other) = *alike.entry(place).or_insert((r, value));
                varied |= other != value;
                let same = |a: &RunRecord, b: &RunRecord| {
                    a.fingerprint == b.fingerprint && a.metrics == b.metrics && a.traffic == b.traffic
                };
                if !same(first, r) {
                    return false;
                }
            }
        }
        varied
    };
    let flat: Vec<&str> = keys.into_iter().filter(unchanged).map(String::as_str).collect();
    (!flat.is_empty()).then(|| {
        format!(
            "{} changed nothing: runs that differ in it alone are the same to the last bit; vary a key that matters here, or one that it depends on",
            flat.join(", ")
        )
    })
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
