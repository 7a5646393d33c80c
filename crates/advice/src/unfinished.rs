//! Notes on unfinished flows, with the remedy. They stand beside every figure of completion.

use cnsim_measure::fct::Unfinished;
use cnsim_measure::pauses::time;
use cnsim_measure::quantity::digits;
use cnsim_runs::points::{Point, points};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of cases that are listed one by one.
const MOST: usize = 8;

/// The share of all finite flows that were received whole.
pub const FINISHED: &str = Id::FinishedFlows.text();

/// Counts of the runs of one case.
struct Case<'a> {
    point: Point<'a>,
    finished: f64,
    open: f64,
    /// Frames that switches and sources discarded, and data frames that links lost.
    lost: f64,
    on_links: f64,
}

impl Case<'_> {
    /// Share of all flows that were received whole, per cent.
    fn share(&self) -> f64 {
        self.finished / (self.finished + self.open) * 100.0
    }

    /// Of the names with unfinished flows: ` (6 of 6 of backup)`; nothing if no traffic has a name.
    fn by_name(&self) -> String {
        let mut names: IndexMap<&str, (f64, f64)> = IndexMap::new();
        for t in self.point.runs.iter().flat_map(|r| &r.traffic) {
            let of = |id: &str| t.metrics.get(id).unwrap_or(0.0);
            let (done, open) = (of(Id::CompletedTransfers.text()), of(Id::IncompleteTransfers.text()));
            let n = names.entry(&t.name).or_default();
            *n = (n.0 + done + open, n.1 + open);
        }
        let open = names.iter().filter(|(_, n)| n.1 > 0.0);
        let words: Vec<String> =
            open.map(|(name, (all, open))| format!("{open} of {all} of {name}")).collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    }

    /// How many unfinished flows lost frames; none if the runs do not have that of each. They have the drops of switches alone.
    fn hurt(&self) -> Option<f64> {
        let sources = self.point.runs.iter().filter_map(|r| r.metrics.get(Id::SourceDiscards)).sum::<f64>();
        let all = || self.point.runs.iter().flat_map(|r| &r.flows.unfinished);
        let known = all().filter(|f| f.lost.is_some()).count() as f64 == self.open;
        let known = known && sources + self.on_links == 0.0;
        known.then(|| all().filter(|f| f.lost > Some(0)).count() as f64)
    }

    /// Of the flows that have such a time: how many there are, the earliest in words, and its flow with its seed.
    fn longest<T: Ord>(&self, since: impl Fn(&Unfinished) -> Option<T>) -> Option<(usize, T, String)> {
        let all = self.point.runs.iter().flat_map(|r| r.flows.unfinished.iter().map(move |f| (r.seed, f)));
        let found: Vec<_> = all.filter_map(|(seed, f)| Some((since(f)?, seed, f))).collect();
        let count = found.len();
        let (since, seed, flow) = found.into_iter().min_by(|a, b| a.0.cmp(&b.0))?;
        let seed = if self.point.runs.len() > 1 { format!(" (seed {seed})") } else { String::new() };
        Some((count, since, format!("{}{seed}", flow.flow)))
    }

    /// Of flows that send in vain: how many, the one that does longest, and the remedy.
    fn in_vain(&self) -> Option<String> {
        let (count, (since, times), flow) = self.longest(|f| f.in_vain)?;
        let of = if count > 1 { format!(", the longest of {count} such flows") } else { String::new() };
        Some(format!(
            ": {flow} sends in vain since {}{of}; it has begun anew {times} times, and nothing of it was acknowledged meanwhile: raise \
             transport.rto above the round trip with its queues, lower transport.nack_interval, bound what is in flight \
             (transport.window), or give switches more memory",
            time(since)
        ))
    }

    /// Of flows that stand for good: how many, the one that does longest, and the remedy.
    fn stands(&self) -> Option<String> {
        let (count, since, flow) = self.longest(|f| f.stands)?;
        let of = if count > 1 { format!(", the longest of {count} such flows") } else { String::new() };
        Some(format!(
            ": {flow} stands for good since {}{of}: its window closes before an acknowledgement is due (transport.ack_every): set \
             transport.ack_every = 1, or let no window get that small",
            time(since)
        ))
    }

    /// The finished share in words, per cent. If flows are missing, it has enough digits to differ from 100.
    fn percent(&self) -> String {
        let rounded = |scale: f64| (self.share() * scale).round() / scale;
        let told = [10.0, 1e2, 1e3, 1e4, 1e5].map(rounded).into_iter().find(|share| *share < 100.0);
        digits(told.filter(|_| self.open > 0.0).unwrap_or(rounded(10.0)))
    }

    /// The case in a sentence, with the remedy.
    fn line(&self) -> String {
        let all = self.finished + self.open;
        let seeds = match self.point.runs.len() {
            1 => String::new(),
            n => format!(" in {n} seeds"),
        };
        let head = format!(
            "{}: {} of {all} flows{seeds} were not received whole{}",
            self.point.name(),
            self.open,
            self.by_name()
        );
        let storms = self.point.runs.iter().filter_map(|r| r.metrics.get(Id::WatchdogDrops)).sum::<f64>();
        let config = &self.point.first().config;
        let (sends_again, not_all) = config.sends_again();
        let queues = match config.text(tables::host::QUEUES) {
            Some("per-flow") => "",
            _ => "host.queues = \"per-flow\", ",
        };
        let on_switches = self.lost > self.on_links && storms == 0.0;
        let pairs = (!sends_again && (queues.is_empty() || !on_switches))
            .then(|| format!("let queue pairs send again ({queues}transport.kind = \"go-back-n\")"));
        let memory = match self.point.runs.iter().all(|r| r.case.pause == "off") {
            true => "give switches more memory, or turn PAUSE on",
            false => "give switches more memory, or PAUSE the headroom that `cnsim check` names",
        };
        let longer = "lengthen run.duration, or let the last flows start earlier";
        let watchdog = (storms > 0.0).then(|| format!("a watchdog dropped {storms}"));
        let remedies = watchdog.into_iter().chain(pairs);
        let remedies = remedies.chain(on_switches.then(|| memory.into()));
        let remedies: Vec<String> = remedies.chain(sends_again.then(|| longer.into())).collect();
        if let Some(vain) = self.in_vain() {
            return format!("{head}{vain}");
        }
        if let Some(stands) = self.stands() {
            return format!("{head}{stands}");
        }
        let hurt = self.hurt();
        if self.lost > 0.0 && hurt != Some(0.0) {
            let rest = hurt.map_or(0.0, |n| self.open - n);
            let whole = if rest > 0.0 {
                format!("; {rest} of them lost none and were still under way: {longer}")
            } else {
                String::new()
            };
            let again = match (sends_again, not_all) {
                (true, false) => "they are sent again",
                (true, true) => "those of some classes are sent again (class.transport)",
                _ => "none is sent again",
            };
            let on_links = if self.on_links == self.lost {
                " on links".into()
            } else if self.on_links > 0.0 {
                format!(", {} of them on links", self.on_links)
            } else {
                String::new()
            };
            format!(
                "{head}, and {} frames were lost{on_links}: {again}; {}{whole}",
                self.lost,
                remedies.join("; ")
            )
        } else if self.point.runs.iter().any(|r| r.frozen.is_some()) {
            format!("{head}, as the network stood still")
        } else {
            format!("{head}: they were still under way; {longer}")
        }
    }
}

/// The cases of each scenario in which cases of one scheme finished different shares of the flows, as in a sweep or matrix, or with
/// and without PAUSE.
fn apart<'a, 'b>(cases: &'b [Case<'a>]) -> Vec<Vec<&'b Case<'a>>> {
    let mut schemes = BTreeMap::new();
    let mut uneven = BTreeSet::new();
    let place = |c: &'b Case<'a>| (&c.point.first().case.study, &c.point.first().case.scenario);
    for c in cases {
        let params: Vec<_> = c.point.swept.iter().filter(|v| v.0.starts_with("scheme.")).collect();
        let first = *schemes.entry((place(c), &c.point.first().case.scheme, params)).or_insert(c.share());
        if c.share() != first {
            uneven.insert(place(c));
        }
    }
    uneven.into_iter().map(|at| cases.iter().filter(|c| place(c) == at).collect()).collect()
}

/// The consequence of means over different flows.
const MEANS: &str = "means are over these alone, percentiles over all";

/// The cases with finite flows, over their seeds.
fn cases<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<Case<'a>> {
    let of = |point: Point<'a>| {
        let sum = |id: &str| point.runs.iter().filter_map(|r| r.metrics.get(id)).sum::<f64>();
        let (finished, open) = (sum(Id::CompletedTransfers.text()), sum(Id::IncompleteTransfers.text()));
        let on_links = sum(Id::LostOnLinks.text());
        let lost = sum(Id::DroppedFrames.text()) + sum(Id::SourceDiscards.text()) + on_links;
        (finished + open > 0.0).then_some(Case { point, finished, open, lost, on_links })
    };
    points(records).into_iter().filter_map(of).collect()
}

/// A line for each case that has unfinished flows, and one for each comparison that rests on different shares of
/// flows: of schemes in one place, and of the places of one scheme.
pub fn lines<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let cases = cases(records);
    let mut lines: Vec<String> = cases.iter().filter(|c| c.open > 0.0).map(Case::line).collect();
    let hidden = lines.len().saturating_sub(MOST);
    if hidden > 0 {
        lines.truncate(MOST);
        lines.push(match hidden {
            1 => "1 more case has unfinished flows".into(),
            n => format!("{n} more cases have unfinished flows"),
        });
    }
    let mut places = BTreeMap::new();
    let mut compared: Vec<Vec<&Case<'_>>> = Vec::new();
    for c in &cases {
        let at = *places.entry(c.point.place()).or_insert(compared.len());
        if at == compared.len() {
            compared.push(Vec::new());
        }
        compared[at].push(c);
    }
    let uneven = compared.iter().filter(|g| g.iter().any(|c| c.share() != g[0].share()));
    for g in uneven.take(MOST) {
        let own = |c: &Case<'_>, of_scheme: bool| -> String {
            let values = c.point.swept.iter().filter(|v| v.0.starts_with("scheme.") == of_scheme);
            values.map(|(k, v)| format!(", {k} = {v}")).collect()
        };
        let share =
            |c: &&Case<'_>| format!("{}{} {} %", c.point.first().case.scheme, own(c, true), c.percent());
        let shares = g.iter().map(share).collect::<Vec<_>>().join(", ");
        let (r, place) = (g[0].point.first(), own(g[0], false));
        lines.push(format!(
            "{}{place}: schemes finished different shares of the flows ({shares}); {MEANS}",
            r.case.place()
        ));
    }
    for g in apart(&cases).into_iter().take(MOST) {
        let by_share = |a: &&&Case<'_>, b: &&&Case<'_>| a.share().total_cmp(&b.share());
        let (Some(least), Some(most)) = (g.iter().min_by(by_share), g.iter().rev().max_by(by_share)) else {
            continue;
        };
        let at = |c: &Case<'_>| format!("{} % ({})", c.percent(), c.point.name());
        lines.push(format!(
            "cases finished different shares of the flows: from {} to {}; {MEANS}",
            at(least),
            at(most)
        ));
    }
    lines
}

/// Heading of the lines.
pub const HEAD: &str = "UNFINISHED: flows that were not received whole count as longer than all others";

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::traffic::TrafficFacts;

    fn run(scheme: &str, counts: [f64; 3]) -> RunRecord {
        let ids = ["completed_transfers", "incomplete_transfers", "dropped_frames"];
        RunRecord {
            case: ["", "", "c", "off", scheme].into(),
            metrics: ids.into_iter().zip(counts).collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn what_was_left_behind_is_told() {
        let lost = run("none", [3.0, 1.0, 7.0]);
        let seeds = [lost.clone(), lost, run("dcqcn", [9.0, 1.0, 0.0]), run("ecm", [10.0, 0.0, 0.0])];
        let said = lines(seeds.iter());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].contains("none: 2 of 8 flows in 2 seeds") && said[0].contains("14 frames were lost"),
            "{said:?}"
        );
        assert!(
            said[1].contains("dcqcn: 1 of 10 flows") && said[1].contains("lengthen run.duration"),
            "{said:?}"
        );
        assert!(said[2].contains("(none 75 %, dcqcn 90 %, ecm 100 %)"), "{said:?}");
        let whole = [run("none", [4.0, 0.0, 7.0]), run("ecm", [10.0, 0.0, 0.0])];
        assert!(lines(whole.iter()).is_empty());
        assert!(lines([run("none", [0.0; 3])].iter()).is_empty());
        let many: Vec<RunRecord> = (0..10).map(|i| run(&format!("s{i}"), [1.0, 1.0, 0.0])).collect();
        let said = lines(many.iter());
        assert!(said.len() == 9 && said[8].starts_with("2 more cases have"), "{said:?}");
        // Points of a sweep are cases of their own.
        let swept = |scheme: &str, share: &str, open: f64| {
            let config = serde_json::json!({"switch.share": share}).into();
            RunRecord { config, ..run(scheme, [4.0 - open, open, 0.0]) }
        };
        let all = [
            swept("none", "1 KB", 0.0),
            swept("none", "2 KB", 2.0),
            swept("ecm", "1 KB", 0.0),
            swept("ecm", "2 KB", 1.0),
        ];
        let said = lines(all.iter());
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[0].starts_with("c, PAUSE off, none, switch.share = 2 KB: 2 of 4 flows"), "{said:?}");
        let both = "c, PAUSE off, switch.share = 2 KB: schemes finished different shares of the flows (none 50 %, ecm 75 %)";
        assert!(said[2].starts_with(both), "{said:?}");
        let ends = "from 50 % (c, PAUSE off, none, switch.share = 2 KB) to 100 % (c, PAUSE off, none, switch.share = 1 KB)";
        assert!(said[3].contains(ends), "{said:?}");
        let said = lines([run("none", [3897.0, 1.0, 0.0]), run("ecm", [3898.0, 0.0, 0.0])].iter());
        assert!(said[1].contains("(none 99.97 %, ecm 100 %)"), "{said:?}");
        // So are PAUSE modes, and conditions.
        let mut on = run("none", [4.0, 0.0, 0.0]);
        on.case.pause = "on".into();
        let said = lines([run("none", [1.0, 3.0, 0.0]), on].iter());
        assert!(said.len() == 2 && said[1].contains("from 25 % (c, PAUSE off, none) to 100 %"), "{said:?}");
        let mut late = run("none", [1.0, 3.0, 9.0]);
        late.case.pause = "on".into();
        let said = lines([late].iter());
        assert!(said[0].contains("or PAUSE the headroom") && !said[0].contains("turn PAUSE on"), "{said:?}");
        // Flows that lost frames, and those under way, each have their remedy.
        let waits = |lost: [Option<u64>; 2]| {
            let flow = |lost| Unfinished {
                flow: "H0>H1".into(),
                src: 0,
                dst: 1,
                nth: 0,
                bytes: 1,
                start: 0,
                so_far: 1,
                missing: 1,
                lost,
                in_vain: None,
                stands: None,
                waits_for: String::new(),
                name: 0,
            };
            let mut r = run("none", [5.0, 2.0, 9.0]);
            r.flows.unfinished = lost.map(flow).into();
            let line = lines([r].iter()).remove(0);
            (
                line.contains("PAUSE on"),
                line.contains("lengthen run.duration"),
                line.contains("; 1 of them lost none"),
            )
        };
        assert_eq!(waits([Some(0), Some(0)]), (false, true, false));
        assert_eq!(waits([Some(0), Some(9)]), (true, true, true));
        assert_eq!(waits([Some(3), Some(6)]), (true, false, false));
        assert_eq!(waits([Some(0), None]), (true, false, false));
        // More memory keeps no frame that a link loses; what is sent again needs time.
        let links = |dropped: f64, kind: &str| {
            let config = serde_json::json!({"host.queues": "per-flow", "transport.kind": kind}).into();
            let counts = [("incomplete_transfers", 2.0), ("dropped_frames", dropped), ("lost_on_links", 4.0)];
            let r = RunRecord { config, metrics: counts.into(), ..run("none", [0.0; 3]) };
            lines([r].iter()).remove(0)
        };
        let said = links(0.0, "none");
        assert!(said.ends_with("4 frames were lost on links: none is sent again; let queue pairs send again (transport.kind = \"go-back-n\")"), "{said}");
        let said = links(9.0, "tcp");
        let end = "13 frames were lost, 4 of them on links: they are sent again; give switches more memory, or turn PAUSE on; lengthen run.duration, or let the last flows start earlier";
        assert!(said.ends_with(end), "{said}");
        // Names of traffic are told apart.
        let named = |name: &str, done: f64, open: f64| TrafficFacts {
            name: name.into(),
            metrics: [("completed_transfers", done), ("incomplete_transfers", open)].into(),
            ..TrafficFacts::default()
        };
        let traffic = vec![named("backup", 0.0, 3.0), named("rpc", 5.0, 0.0)];
        let two = [(); 2].map(|()| RunRecord { traffic: traffic.clone(), ..run("none", [5.0, 3.0, 1.0]) });
        let said = lines(two.iter());
        assert!(
            said[0].contains("6 of 16 flows in 2 seeds were not received whole (6 of 6 of backup)"),
            "{said:?}"
        );
    }
}
