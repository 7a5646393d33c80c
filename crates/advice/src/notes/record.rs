//! Notes on `[record]`: the port that is hot by name, the series, and the span of the measurement.

use super::workload::two_frames;
use super::{once, sum};
use cnsim_measure::quantity::digits;
use cnsim_problem::any_of;
use cnsim_runs::points::Point;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::config::Config;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables::record::{FROM, HOST, TO};
use cnsim_units::{Rate, Time};
use std::collections::BTreeSet;

/// The host whose port is hot by name.
fn named(config: &Config) -> Option<&str> {
    config.text(HOST).filter(|host| *host != "auto" && *host != "off")
}

/// Share by which more is sent to one host than to others that is no chance.
const EVEN: f64 = 1.1;

/// A hot port, named by hand, that gets no more than others, and less than its link carries.
pub(super) fn even(ready: &Ready) -> Option<String> {
    let settings = &ready.settings;
    if named(&ready.config).is_none() || settings.hotspot().is_some() {
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

/// Fewest bins of a run whose series show its course.
const BINS: u64 = 4;

/// Series of a few values.
pub(super) fn coarse(ready: &Ready) -> Option<String> {
    let (bin, duration) = (ready.settings.record.bin, ready.settings.duration);
    (bin.as_ps().saturating_mul(BINS) > duration.as_ps()).then(|| {
        format!("a bin of {bin} (record.bin) leaves fewer than {BINS} values to each series of {duration}: set a shorter one, or leave it out")
    })
}

/// A hot port, named by hand, at which nothing waits: its queue is two frames at most, or a tenth of the longest.
pub(super) fn cool(case: &[&RunRecord]) -> Option<String> {
    let config = &case[0].config;
    let host = named(config)?;
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

/// Share of a measurement that is no pause worth a word, where its idle parts are named.
const SHORT: f64 = 0.05;

/// A measurement that is idle for more than half of its time, before its first or after its last frame.
fn idle(case: &[&RunRecord]) -> Option<String> {
    let time = |key: &str, r: &RunRecord| r.config.read::<Time>(key);
    let (mut busy, mut all, mut before, mut after) = (0.0, 0.0, f64::INFINITY, 0.0_f64);
    let mut window = (0.0, 0.0);
    for r in case {
        let Some(curve) = r.over_time.series.get(Id::AggregateThroughput.text()) else { continue };
        let sends = |v: &f64| *v > 0.0;
        let Some(first) = curve.values.iter().position(sends) else { continue };
        let last = curve.values.iter().rposition(sends).unwrap_or(first);
        let end = curve.values.len() as f64 * curve.bin;
        let from = time(FROM.path, r).map_or(0.0, Time::as_secs_f64);
        let to = time(TO.path, r).map_or(end, Time::as_secs_f64).min(end);
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
    let whole = from == 0.0 && time(TO.path, case[0]).is_none();
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

/// Cases whose measurement is idle. One that is idle under one scheme is as long as another scheme needs it.
pub(super) fn idle_cases(cases: &[Point<'_>]) -> Vec<String> {
    let busy: BTreeSet<_> = cases.iter().filter(|c| idle(&c.runs).is_none()).map(Point::place).collect();
    once(cases, &idle, &|case| !busy.contains(&case.place())).into_iter().collect()
}
