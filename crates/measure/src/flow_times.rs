//! Completion times of a run's finite flows beside their ideal ones.

use crate::fct::{self, FlowTime, Path, SizeGroup, Timed, Unfinished};
use crate::owners::Owners;
use cnsim_fabric::{Completion, Incomplete, Outcome, Routing, Transfer, Waiting};
use cnsim_scenario::flows::Framing;
use cnsim_scenario::settings::{Answer, Settings};
use cnsim_scenario::tables::record::Ideal;
use cnsim_scenario::workload::SourcePlan;
use cnsim_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Largest number of flows whose times are kept by default.
const MOST_KEPT: usize = 100_000;

/// Results of a run's finite flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flows {
    /// Finished flows, by receiver, in order of completion.
    pub done: Vec<FlowTime>,
    /// All flows by the ideal time of the scenario: finished ones first, then unfinished ones.
    pub timed: Vec<Timed>,
    /// Payload of finite flows that arrived, bytes.
    pub payload: u64,
}

impl Flows {
    /// The flows of a run, without the names of their traffic.
    pub fn of(settings: &Settings, out: &Outcome) -> Self {
        Self::with(settings, out, &Owners::default())
    }

    /// The flows of a run, each with its traffic's name.
    pub fn with(settings: &Settings, out: &Outcome, owners: &Owners) -> Self {
        let mut paths = Paths::new(settings);
        let (mut flows, mut open) = (Self::default(), Vec::new());
        let floored = settings.record.ideal == Ideal::Fork;
        let mut ideals = |src: usize, dst: usize, (on_link, class): (u64, u8)| {
            let framing = framing(settings, src, class)?;
            let bytes = Bytes::new(framing.payload_of(on_link).max(1));
            let path = paths.between(src, dst);
            // The ideal is the same under all schemes: without telemetry and time stamps.
            let header = framing.header.saturating_sub(settings.telemetry().get());
            let arrival = |bytes: Bytes| path.exact_ideal(bytes, framing.payload, header, framing.floor);
            let answer = settings.last_answer();
            let exact = match answer {
                None => arrival(bytes),
                Some(Answer::Direct(latency)) => arrival(bytes) + latency,
                Some(Answer::Frame { length, every }) => {
                    let earlier = bytes.get().div_ceil(framing.payload) - 1;
                    let answered = earlier > 0 && earlier % u64::from(every) == 0;
                    let before = answered.then(|| arrival(Bytes::new(earlier * framing.payload)));
                    paths.between(dst, src).answered(before, arrival(bytes), length.get())
                }
            };
            let framed = matches!(answer, Some(Answer::Frame { .. }));
            let fork = match (path.fork_ideal(bytes, framing.payload, header, framed), answer) {
                (fork, Some(Answer::Direct(latency))) => fork + latency,
                (fork, _) => fork,
            };
            Some((framing, exact, fork, if floored { fork } else { exact }))
        };
        for (dst, host) in out.hosts.iter().enumerate() {
            for c in &host.transfers.completions {
                let src = c.src.0 as usize;
                let Some((framing, exact, fork, ideal)) = ideals(src, dst, (c.bytes, c.class)) else {
                    continue;
                };
                let bytes = Bytes::new(framing.payload_of(c.bytes).max(1));
                flows.payload += bytes.get();
                let name = owners.of(src, dst, c.nth);
                let Some(end) = settings.end_of(c) else {
                    let time = out.duration.saturating_sub(c.start);
                    open.push(Timed { bytes, time, ideal, floored, whole: false, name });
                    continue;
                };
                let time = end.saturating_sub(c.start);
                flows.timed.push(Timed { bytes, time, ideal, floored, whole: true, name });
                flows.done.push(FlowTime {
                    src: src as u64,
                    dst: dst as u64,
                    bytes: bytes.get(),
                    nth: c.nth.into(),
                    start: c.start.as_ps(),
                    time: time.as_ps(),
                    exact: exact.as_ps(),
                    fork: fork.as_ps(),
                    name,
                });
            }
            for m in &host.transfers.missing {
                let src = m.src.0 as usize;
                let Some((framing, _, _, ideal)) = ideals(src, dst, (m.bytes, m.class)) else { continue };
                let bytes = Bytes::new(framing.payload_of(m.bytes).max(1));
                flows.payload += framing.payload_of(m.bytes.saturating_sub(m.missing));
                let time = out.duration.saturating_sub(m.start);
                let name = owners.of(src, dst, m.nth);
                open.push(Timed { bytes, time, ideal, floored, whole: false, name });
            }
        }
        flows.timed.extend(open);
        flows
    }

    /// Are the times of all flows kept?
    fn all_kept(&self, settings: &Settings) -> bool {
        settings.record.flow_times.unwrap_or(self.timed.len() <= MOST_KEPT)
    }

    /// Flows whose times are kept.
    pub fn kept(&self, settings: &Settings) -> Vec<FlowTime> {
        if self.all_kept(settings) { self.done.clone() } else { Vec::new() }
    }

    /// Slowdowns by size.
    pub fn by_size(&self, settings: &Settings) -> Vec<SizeGroup> {
        fct::by_size(&self.timed, settings.record.bins)
    }

    /// The unfinished flows by start, each with the reason why it waits: all if the times of flows are kept, else the first ones.
    pub fn unfinished(&self, settings: &Settings, out: &Outcome, owners: &Owners) -> Vec<Unfinished> {
        first_unfinished(settings, out, owners, if self.all_kept(settings) { usize::MAX } else { MOST_NAMED })
    }
}

/// Framing of the finite flows that a host sends in a class. An edge port may have taken them there from another one.
pub(crate) fn framing(settings: &Settings, src: usize, class: u8) -> Option<Framing> {
    let finite = || settings.plans(src).iter().filter(|p| p.finite());
    let own = finite().find(|p| p.class() == usize::from(class));
    own.or_else(|| finite().next()).map(|p| p.framing)
}

/// The unfinished flows by start, each with the reason why it waits.
pub fn unfinished(settings: &Settings, out: &Outcome, owners: &Owners) -> Vec<Unfinished> {
    first_unfinished(settings, out, owners, usize::MAX)
}

/// So many of them, the first.
fn first_unfinished(settings: &Settings, out: &Outcome, owners: &Owners, most: usize) -> Vec<Unfinished> {
    let discarded = out.hosts.iter().map(|h| h.source_discards).sum::<u64>();
    let lost = out.dropped() + discarded;
    // Frames that were dropped of a pair of hosts, where that is known.
    let of_pair =
        |src: usize, dst: usize| match (out.dropped(), out.recorded.lost.get(src * settings.hosts() + dst)) {
            (0, _) => Some(0),
            (_, known) => known.copied(),
        };
    let of_flow = |dst: usize, m: &Incomplete, lost: Option<u64>, waits_for: String| {
        let src = m.src.0 as usize;
        let framing = settings.plans(src).iter().find(|p| p.finite()).map(|p| p.framing);
        Unfinished {
            flow: format!("{}>{}", settings.wiring.hosts[src], settings.wiring.hosts[dst]),
            src: src as u64,
            dst: dst as u64,
            bytes: framing.map_or(m.bytes, |f| f.payload_of(m.bytes)),
            nth: m.nth.into(),
            start: m.start.as_ps(),
            so_far: out.duration.saturating_sub(m.start).as_ps(),
            missing: m.missing,
            lost,
            waits_for,
            name: owners.of(src, dst, m.nth),
            ..Unfinished::default()
        }
    };
    let of = |(dst, host): (usize, &cnsim_fabric::HostOutcome)| -> Vec<Unfinished> {
        // How many flows of each host go here, received whole or not.
        let mut from: BTreeMap<u32, usize> = BTreeMap::new();
        let waits = |c: &Completion| settings.end_of(c).is_none();
        let mut all: Vec<Unfinished> = Vec::new();
        if !host.transfers.missing.is_empty() || host.transfers.completions.iter().any(waits) {
            for c in &host.transfers.completions {
                *from.entry(c.src.0).or_default() += 1;
                if waits(c) {
                    let Completion { src, start, nth, bytes, flow, class, .. } = *c;
                    let m = Incomplete { src, start, nth, bytes, missing: 0, class, flow };
                    all.push(of_flow(dst, &m, None, "its last acknowledgement".into()));
                }
            }
            host.transfers.missing.iter().for_each(|m| *from.entry(m.src.0).or_default() += 1);
        }
        let one = |m: &Incomplete| {
            let src = m.src.0 as usize;
            let alone = from.get(&m.src.0) == Some(&1) && settings.plans(src).iter().all(SourcePlan::finite);
            let pair = of_pair(src, dst);
            let own = pair.filter(|n| *n == 0 || alone);
            // Where frames may have been lost of it or of another, its state does not say what it waits for.
            let again = again(settings, m.class);
            let waits_for = waits_for(m, own, (lost, discarded), again, out.freeze.last_delivery.is_some());
            of_flow(dst, m, own, waits_for)
        };
        let mut missing: Vec<&Incomplete> = host.transfers.missing.iter().collect();
        if missing.len() > most {
            // The order of all flows, which have the same destination here.
            let name = |m: &Incomplete| settings.wiring.hosts[m.src.0 as usize].bytes().chain(*b">");
            missing.sort_by(|a, b| a.start.cmp(&b.start).then(name(a).cmp(name(b))).then(a.nth.cmp(&b.nth)));
            missing.truncate(most);
        }
        all.extend(missing.into_iter().map(one));
        all
    };
    let mut all: Vec<Unfinished> = out.hosts.iter().enumerate().flat_map(of).collect();
    unheard(settings, out, &mut all);
    all.sort_by(|a, b| (a.start, &a.flow, a.nth).cmp(&(b.start, &b.flow, b.nth)));
    all.truncate(most);
    all
}

/// What becomes of lost frames of a class.
fn again(settings: &Settings, class: u8) -> &'static str {
    match settings.sends_again(class.into()) {
        true => "they are sent again",
        false => "none is sent again",
    }
}

/// The cause for which an unfinished flow waits. Given are its dropped frames, if known, and those of the run: so many were lost, and so many of
/// them at sources.
fn waits_for(
    m: &Incomplete,
    own: Option<u64>,
    (lost, discarded): (u64, u64),
    again: &str,
    frozen: bool,
) -> String {
    if m.start == Transfer::FOLLOWS {
        "those that it follows: it has not begun".into()
    } else if let (Some(own @ 1..), 0) = (own, discarded) {
        format!("{own} frames that switches dropped, and what else has not arrived: {again}")
    } else if lost > 0 && (own.is_none() || discarded > 0) {
        format!("the rest of its frames, or some of the {lost} that the run lost: {again}")
    } else if frozen {
        "a delivery: the network has stood still".into()
    } else if m.missing >= m.bytes {
        "its turn: nothing of it has arrived yet".into()
    } else {
        "the rest of its frames, which are on their way or to be sent".into()
    }
}

/// Says of flows that wait for acknowledgements whether they send in vain, or stand for good.
fn unheard(settings: &Settings, out: &Outcome, all: &mut [Unfinished]) {
    let mut waiting = BTreeMap::new();
    for (src, host) in out.hosts.iter().enumerate() {
        let of = |w: &Waiting| (src as u64, u64::from(w.dst.0), u64::from(w.nth));
        waiting.extend(host.transport.waiting.iter().map(|w| (of(w), *w)));
    }
    for f in all {
        let Some(w) = waiting.get(&(f.src, f.dst, f.nth)) else { continue };
        // Of what was never acknowledged, the wait begins with the flow.
        let since = w.since.as_ps().max(f.start);
        let told = crate::pauses::time(since);
        if w.times >= IN_VAIN {
            f.in_vain = Some((since, w.times.into()));
            f.waits_for = format!(
                "an acknowledgement: it sends in vain since {told}, and has begun anew {} times",
                w.times
            );
        } else if let Some(each) = settings.acks_without_timer().filter(|each| {
            let plans = settings.plans(f.src as usize).iter();
            let frame = plans.filter(|p| p.finite()).map(|p| p.frame.get()).max();
            w.left == f.missing && frame.is_some_and(|frame| w.in_flight < u64::from(*each) * frame)
        }) {
            f.stands = Some(since);
            f.waits_for = format!(
                "an acknowledgement that never comes: one is due for each {each} frames, and its window has closed with {} B in flight at {told}",
                w.in_flight
            );
        }
    }
}

/// A flow that has begun anew so often without an acknowledgement sends in vain.
const IN_VAIN: u32 = 3;

/// Unfinished flows that are kept where the times of flows are not.
const MOST_NAMED: usize = 16;

/// A hop between switches: where to, rate, delay.
type Hop = (usize, Rate, Time);

/// Shortest paths between hosts, or clockwise ones. Of several the first one stands for all, as they are alike in the networks of the
/// field.
pub struct Paths<'a> {
    settings: &'a Settings,
    /// By switch: the switches that lead to it.
    ways: Vec<Vec<Hop>>,
    /// By destination switch: the next hop of each other one.
    next: HashMap<usize, Vec<Option<Hop>>>,
    /// Rates and delays of the links between two switches, by their numbers.
    known: HashMap<(usize, usize), Vec<(Rate, Time)>>,
}

impl<'a> Paths<'a> {
    /// The paths of these settings.
    pub fn new(settings: &'a Settings) -> Self {
        let mut ways = vec![Vec::new(); settings.wiring.switches.len()];
        let (hosts, processing) = (settings.hosts(), settings.processing().1);
        let clockwise = settings.routing() == Routing::Clockwise;
        for l in &settings.wiring.links {
            for (from, to) in [(l.a, l.b), (l.b, l.a)] {
                let ends = (from.0.0 as usize).checked_sub(hosts).zip((to.0.0 as usize).checked_sub(hosts));
                // Switch `b` leads to `a`. Clockwise each switch leads to the next one only.
                let all = ways.len();
                let leads = |a: usize, b: usize| !clockwise || (b + 1) % all == a;
                if let Some((a, b)) = ends.filter(|&(a, b)| leads(a, b)) {
                    ways[a].push((b, l.rate, l.delay + processing));
                }
            }
        }
        Self { settings, ways, next: HashMap::new(), known: HashMap::new() }
    }

    /// The path from one host to another.
    pub fn between(&mut self, src: usize, dst: usize) -> Path {
        let wiring = &self.settings.wiring;
        let (host, switch) = self.settings.processing();
        let (Some(first), Some(last)) = (wiring.access(src), wiring.access(dst)) else {
            return Path::default();
        };
        let seat = |h: usize| (wiring.feeder(h).0.0 as usize).saturating_sub(wiring.hosts.len());
        let (from, to) = (seat(src), seat(dst));
        let mut hops = vec![(first.rate, first.delay + switch)];
        hops.extend(self.middle(from, to));
        hops.push((last.rate, last.delay + host));
        Path { hops, whole_ns: self.settings.whole_ns() }
    }

    fn middle(&mut self, from: usize, to: usize) -> Vec<(Rate, Time)> {
        if let Some(known) = self.known.get(&(from, to)) {
            return known.clone();
        }
        let ways = &self.ways;
        let next = self.next.entry(to).or_insert_with(|| towards(ways, to));
        let (mut at, mut hops) = (from, Vec::new());
        while at != to
            && let Some((further, rate, delay)) = next[at]
        {
            hops.push((rate, delay));
            at = further;
        }
        self.known.insert((from, to), hops.clone());
        hops
    }
}

/// The next hop of each switch on a shortest path to one.
fn towards(ways: &[Vec<Hop>], to: usize) -> Vec<Option<Hop>> {
    let mut next: Vec<Option<Hop>> = vec![None; ways.len()];
    let mut seen = vec![false; ways.len()];
    seen[to] = true;
    let mut queue = VecDeque::from([to]);
    while let Some(s) = queue.pop_front() {
        for &(other, rate, delay) in &ways[s] {
            if !std::mem::replace(&mut seen[other], true) {
                next[other] = Some((s, rate, delay));
                queue.push_back(other);
            }
        }
    }
    next
}
