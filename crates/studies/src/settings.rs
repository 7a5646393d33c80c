//! Typed settings of one case, checked, and the network that they describe.

use crate::headroom::Loop;
use crate::reader::Reader;
use crate::text::{Flat, Problem};
use crate::topology::{self, Wiring};
use crate::workload::{self, Plan};
use cnsim_fabric::{
    BufferSpec, ControlTransport, Faults, HostQueues, HostSpec, LimiterPosition, Organisation, PauseSpec,
    PauseTransport, RateChange, Record, Routing, RunSpec, SwitchSpec,
};
use cnsim_scheme_api::{Configured, NodeId, Registry};
use cnsim_units::{Bytes, Rate, Time};

/// A hotspot: the switch port that feeds a host slows down for a while.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot {
    /// Host behind the port.
    pub host: usize,
    /// Service rate.
    pub rate: Rate,
    /// From.
    pub start: Time,
    /// To.
    pub stop: Time,
    /// Slow for this long, then as long at full rate, and so on; none: slow all the time.
    pub period: Option<Time>,
}

impl Hotspot {
    /// The spans in which the port is slow.
    pub fn windows(&self) -> Vec<(Time, Time)> {
        let Some(period) = self.period else { return vec![(self.start, self.stop)] };
        let starts = (0..).map(|i| self.start + period * (2 * i)).take_while(|t| *t < self.stop);
        starts.map(|t| (t, (t + period).min(self.stop))).collect()
    }
}

/// What is recorded by name.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Output ports whose queues are recorded; the first is the hot port.
    pub ports: Vec<(NodeId, u16)>,
    /// Flows whose delivered rate is recorded.
    pub flows: Vec<(NodeId, NodeId)>,
    /// Flows whose limiter's rate is recorded.
    pub limiters: Vec<(NodeId, NodeId)>,
}

/// Everything typed and in range.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts, switches, links.
    pub wiring: Wiring,
    switch_processing: Time,
    host_processing: Time,
    feedback_delay: Time,
    faults: Faults,
    buffer: BufferSpec,
    routing: Routing,
    control: ControlTransport,
    fifo: u32,
    limiter_queue: u32,
    limiter_position: LimiterPosition,
    /// Frames of `fifo` that wait ahead of the limiters.
    backlog: u32,
    queues: HostQueues,
    plans: Vec<Vec<Plan>>,
    /// Hosts that run without the scheme.
    bare: Vec<bool>,
    /// Hotspots; the first host's are those that metrics speak of.
    pub hotspots: Vec<Hotspot>,
    events: Vec<RateChange>,
    /// Host behind the hot port.
    pub receiver: usize,
    /// There is a hot port: a hotspot, a host named, or only one destination.
    pub hot: bool,
    /// Recorded by name.
    pub named: Named,
    latency: bool,
    /// `time_paused` averages over every transmitter that was in XOFF at some time, not over the sending hosts.
    pub paused_touched: bool,
    /// Simulated time.
    pub duration: Time,
    /// Width of a bin of the series.
    pub bin: Time,
    /// Rates, fairness and queue statistics are measured from here (and to [`Settings::to`]), where given.
    pub from: Time,
    /// End of the measurement.
    pub to: Time,
}

impl Settings {
    /// Reads and checks all settings; none when something is wrong.
    pub fn read(flat: &Flat, registry: &Registry, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.len();
        let mut r = Reader::new(flat, problems);
        let mut wiring = topology::read(&mut r);
        if r.problems.len() > before {
            return None;
        }
        if wiring.hosts.len() < 2 {
            r.wrong("topology.hosts", "one host has nobody to send to", "use at least 2 hosts");
            return None;
        }
        let switch_processing = r.quantity("switch.processing", Time::ZERO, Time::from_ms(100));
        let host_processing = r.quantity("host.processing", Time::ZERO, Time::from_ms(100));
        let plans = workload::read(&mut r, &wiring);
        delays(&mut r, &mut wiring, &plans, switch_processing * 2 + host_processing);
        for l in &wiring.links {
            let least = l.delay + switch_processing.min(host_processing);
            if least < Time::from_ns(10) {
                let (a, b) = (wiring.name(l.a.0), wiring.name(l.b.0));
                let reason = format!("delay and processing of the link {a} - {b} are together {least}");
                r.wrong("topology.link_delay", reason, "make them at least 10 ns together");
                break;
            }
        }
        let frame = plans.iter().flatten().map(Plan::frame).max().unwrap_or(Bytes::new(1500));
        let processing = switch_processing.max(host_processing);
        let loops: Vec<Loop> =
            wiring.links.iter().map(|l| Loop { rate: l.rate, delay: l.delay, processing, frame }).collect();
        let buffer = buffer(&mut r, &loops, &wiring);
        let duration = r.quantity("run.duration", Time::from_us(1), Time::from_s(1000));
        let hotspots = hotspots(&mut r, &wiring, duration);
        let (receiver, hot) = receiver(&mut r, &wiring, &hotspots, &plans);
        let named = named(&mut r, &wiring, receiver);
        let events = events(&mut r, &wiring);
        let queues = match r.choice("host.queues").as_str() {
            "per-destination" => HostQueues::PerDestination,
            _ => HostQueues::Fifo,
        };
        let limiter_position = match r.choice("host.limiter_position").as_str() {
            "at-source" => LimiterPosition::AtSource,
            _ => LimiterPosition::BelowQueue,
        };
        if queues == HostQueues::PerDestination && limiter_position == LimiterPosition::AtSource {
            let reason = "queues per destination are paced in place: a limiter at the source has no effect";
            r.wrong("host.limiter_position", reason, "write below-queue, or host.queues = \"fifo\"");
        }
        let fifo = r.integer("host.fifo", 1, 100_000_000) as u32;
        let backlog = match r.choice("host.limiter_backlog").as_str() {
            "ahead" => fifo.saturating_sub(r.integer("host.nic", 1, 100_000_000) as u32),
            _ => 0,
        };
        if backlog > 0 && queues == HostQueues::PerDestination {
            let reason = "queues per destination have no FIFO that could stand ahead of the limiters";
            r.wrong("host.limiter_backlog", reason, "write behind, or host.queues = \"fifo\"");
        }
        let control = match r.choice("control.transport").as_str() {
            "in-band" => ControlTransport::InBand,
            "ideal" => {
                let delays = wiring.links.iter().map(|l| l.delay).min().unwrap_or_default();
                let least = (delays + switch_processing.min(host_processing)) * 2;
                let latency = r.quantity("control.latency", least, Time::from_s(1));
                ControlTransport::Ideal { latency }
            }
            _ => ControlTransport::Priority,
        };
        let from = r.quantity("record.from", Time::ZERO, Time::from_s(1000));
        let to = match r.word("record.to").as_str() {
            "end" => duration,
            _ => r.quantity("record.to", Time::ZERO, Time::from_s(1000)),
        };
        if from >= to || to > duration {
            let reason = format!("nothing is measured between {from} and {to} of {duration}");
            let keys = ["record.from", "record.to", "run.duration"];
            r.clash(&keys, reason, "make record.from < record.to <= run.duration");
        }
        let bin = match r.word("record.bin").as_str() {
            "auto" => {
                let slow = hotspots.iter().flat_map(Hotspot::windows).map(|w| w.1.saturating_sub(w.0)).min();
                auto_bin(duration, to.saturating_sub(from), slow)
            }
            _ => r.quantity("record.bin", Time::from_us(1), Time::from_s(10)).min(duration),
        };
        if from < to && to - from < bin {
            let reason = format!("no bin of {bin} lies between {from} and {to}");
            r.clash(
                &["record.bin", "record.from", "record.to"],
                reason,
                "use a smaller record.bin, or \"auto\"",
            );
        }
        let settings = Self {
            switch_processing,
            host_processing,
            feedback_delay: r.quantity("host.feedback_delay", Time::ZERO, Time::from_ms(100)),
            faults: Faults {
                ignores_pause: r.choice("host.ignores_pause") == "on",
                feedback_lost: r.integer("host.feedback_lost", 0, 1_000_000_000) as u32,
            },
            buffer,
            routing: match r.choice("topology.routing").as_str() {
                "frame-hash" => Routing::FrameHash,
                "round-robin" => Routing::RoundRobin,
                "destination" => Routing::Destination,
                _ => Routing::FlowHash,
            },
            control,
            fifo: fifo - backlog,
            limiter_queue: r.integer("host.limiter_queue", 1, 100_000_000) as u32,
            limiter_position,
            backlog,
            queues,
            bare: bare(&mut r, registry, &wiring),
            plans,
            hotspots,
            events,
            receiver,
            hot,
            named,
            latency: r.choice("record.latency") == "on",
            paused_touched: r.choice("record.paused") == "touched",
            duration,
            bin,
            from,
            to,
            wiring,
        };
        (problems.len() == before).then_some(settings)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.wiring.hosts.len()
    }

    /// The hotspot that metrics speak of.
    pub fn hotspot(&self) -> Option<Hotspot> {
        self.hotspots.first().copied()
    }

    /// Rate that a host's sources offer.
    pub fn offered_by(&self, host: usize) -> Rate {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let sum = self.plans[host].iter().map(|p| p.offered(line, self.duration).bps()).sum();
        Rate::from_bps(sum)
    }

    /// Rate in bit/s that a host offers to the one behind the hot port, or to all others, between two moments.
    pub fn offered_between(&self, host: usize, to_hot: bool, span: (Time, Time)) -> f64 {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let who = (host, self.receiver, self.hosts());
        self.plans[host].iter().map(|p| p.offered_between(line, who, to_hot, span)).sum()
    }

    /// Is the measurement the whole run?
    pub fn whole(&self) -> bool {
        self.from == Time::ZERO && self.to == self.duration
    }

    /// The sources of a host.
    pub fn plans(&self, host: usize) -> &[Plan] {
        &self.plans[host]
    }

    /// Flows (source, destination) of sources with one destination.
    pub fn fixed_flows(&self) -> Vec<(usize, usize)> {
        let of = |(h, plans): (usize, &Vec<Plan>)| -> Vec<(usize, usize)> {
            plans.iter().filter_map(|p| Some((h, p.only()?))).collect()
        };
        self.plans.iter().enumerate().flat_map(of).collect()
    }

    /// Do all sources send as fast as they may, so that a port not full is a loss?
    pub fn greedy(&self) -> bool {
        let mut all = self.plans.iter().flatten().peekable();
        all.peek().is_some() && all.all(Plan::greedy)
    }

    /// Sum of the loads offered, a greedy host counting fully.
    pub fn offered(&self) -> Rate {
        Rate::from_bps((0..self.hosts()).map(|h| self.offered_by(h).bps()).sum())
    }

    /// Estimate of the packet-hops of one run.
    pub fn packet_hops(&self) -> f64 {
        let frame = self.plans.iter().flatten().map(|p| p.frame().as_f64()).next().unwrap_or(1500.0);
        self.offered().bps() * self.duration.as_secs_f64() / (frame * 8.0) * self.wiring.mean_hops()
    }

    /// Estimate of the memory of one run, bytes.
    pub fn memory(&self) -> f64 {
        let hosts = self.hosts() as f64;
        let bins = self.duration.as_secs_f64() / self.bin.as_secs_f64();
        hosts * (4e3 + f64::from((self.fifo + self.backlog).min(1_000_000)) * 32.0)
            + bins * 16.0 * (hosts.min(64.0) + 2.0)
    }

    /// The run that these settings describe.
    ///
    /// `all` records every queue in use and the limiters of all named flows, not only what is named.
    pub fn spec(&self, built: &Configured, seed: u64, all: bool) -> RunSpec {
        let hosts = self.hosts();
        let mut record = Record {
            bin: self.bin,
            // Where a part of the run is measured, every rate needs its series.
            delivered: (0..if self.whole() { hosts.min(1024) } else { hosts })
                .map(|h| NodeId(h as u32))
                .collect(),
            queues: self.named.ports.clone(),
            flows: self.named.flows.clone(),
            rates: self.named.limiters.clone(),
            control: true,
            matrix: hosts <= 128,
            latency: self.latency,
        };
        let mut changes = self.events.clone();
        for hot in &self.hotspots {
            let (node, port) = self.wiring.feeder(hot.host);
            let rate = self.wiring.access(hot.host).map_or(hot.rate, |l| l.rate);
            for (start, stop) in hot.windows() {
                changes.push(RateChange { at: start, node, port, rate: hot.rate });
                if stop < self.duration {
                    changes.push(RateChange { at: stop, node, port, rate });
                }
            }
        }
        if !self.whole() {
            let fixed = self.fixed_flows();
            let pairs = fixed.iter().take(MOST_FLOWS).map(|&(a, b)| (NodeId(a as u32), NodeId(b as u32)));
            record.flows.extend(pairs.filter(|f| !self.named.flows.contains(f)));
        }
        if all || !self.whole() && self.greedy() {
            let ends = self.wiring.links.iter().flat_map(|l| [l.a, l.b]);
            let ends = ends.filter(|e| e.0.0 as usize >= hosts && !record.queues.contains(e));
            let more: Vec<_> = ends.collect();
            record.queues.extend(more);
        }
        RunSpec {
            hosts: (0..hosts)
                .map(|h| HostSpec {
                    name: self.wiring.hosts[h].clone(),
                    processing: self.host_processing,
                    sources: self.plans[h].iter().enumerate().map(|(i, p)| p.spec(h, i, seed)).collect(),
                    fifo_frames: self.fifo,
                    limiter_frames: self.limiter_queue,
                    limiter_position: self.limiter_position,
                    backlog_frames: self.backlog,
                    queues: self.queues,
                    feedback_delay: self.feedback_delay,
                    faults: self.faults,
                    scheme: (!self.bare[h]).then_some(0),
                })
                .collect(),
            switches: self
                .wiring
                .switches
                .iter()
                .map(|(name, ports)| SwitchSpec {
                    name: name.clone(),
                    ports: *ports,
                    processing: self.switch_processing,
                    buffer: self.buffer,
                    scheme: Some(0),
                })
                .collect(),
            links: self.wiring.links.clone(),
            routing: self.routing,
            schemes: vec![built.scheme.clone()],
            control: self.control,
            changes,
            duration: self.duration,
            seed,
            record,
        }
    }
}

/// Most flows whose rates are recorded for a measurement of a part of the run.
const MOST_FLOWS: usize = 4096;

/// The width of a bin that follows the run: the largest of 1, 2, 5, 10 ... us up to 1 ms that leaves 200 bins to the
/// measurement and 20 to the shortest time that the hot port is slow, where the whole run stays below 20,000 bins.
fn auto_bin(duration: Time, measured: Time, slow: Option<Time>) -> Time {
    const STEPS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    let part = |t: Time, n: u64| Time::from_ps(t.as_ps() / n);
    let wanted = slow.map_or(part(measured, 200), |s| part(measured, 200).min(part(s, 20)));
    let least = part(duration, 20_000);
    let steps = || STEPS.iter().map(|us| Time::from_us(*us));
    let fits = steps().rev().find(|t| *t <= wanted).unwrap_or(Time::from_us(1));
    let bound = steps().find(|t| *t >= least).unwrap_or(least);
    fits.max(bound).min(duration)
}

/// Delays of the access links of hosts that send: `topology.added_delay`, or what makes the control loop as long as
/// `topology.loop_delay` says: propagation there and back, processing in the switch of the frame and of the message, and
/// in the host.
fn delays(r: &mut Reader<'_>, wiring: &mut Wiring, plans: &[Vec<Plan>], processing: Time) {
    let added = r.quantity("topology.added_delay", Time::ZERO, Time::from_ms(100));
    let whole = match r.word("topology.loop_delay").as_str() {
        "off" => None,
        _ => Some(r.quantity("topology.loop_delay", Time::ZERO, Time::from_s(1))),
    };
    if let Some(whole) = whole
        && whole < processing
    {
        let reason = format!("{whole} is less than the processing of both ends, {processing}");
        return r.wrong("topology.loop_delay", reason, "lower switch.processing and host.processing");
    }
    for l in &mut wiring.links {
        if plans.get(l.a.0.0 as usize).is_some_and(|p| !p.is_empty()) {
            l.delay = match whole {
                Some(whole) => Time::from_ps((whole - processing).as_ps() / 2),
                None => l.delay,
            } + added;
        }
    }
}

/// The host behind the port that metrics call hot: named, that of the first hotspot, the only destination, or the
/// first host.
fn receiver(r: &mut Reader<'_>, wiring: &Wiring, hotspots: &[Hotspot], plans: &[Vec<Plan>]) -> (usize, bool) {
    let name = r.word("record.host");
    if name != "auto" {
        return (r.host("record.host", &name, wiring).unwrap_or(0), true);
    }
    let only = || plans.iter().flatten().find_map(Plan::only);
    // The one host that all transfers go to.
    let addressed = || {
        let mut all = plans.iter().flatten().flat_map(Plan::addressed);
        let first = all.next()?;
        all.all(|h| h == first).then_some(first)
    };
    let host = hotspots.first().map(|h| h.host).or_else(only).or_else(addressed);
    (host.unwrap_or(0), host.is_some())
}

/// What `[record]` names; the hot port first.
fn named(r: &mut Reader<'_>, wiring: &Wiring, receiver: usize) -> Named {
    let hot = match r.word("record.port").as_str() {
        "auto" => Some(wiring.feeder(receiver)),
        name => r.port("record.port", name, wiring),
    };
    let mut named = Named { ports: hot.into_iter().collect(), ..Named::default() };
    for name in r.list("record.ports") {
        if let Some(p) = r.port("record.ports", &name, wiring)
            && !named.ports.contains(&p)
        {
            named.ports.push(p);
        }
    }
    for name in r.list("record.flows") {
        named.flows.extend(r.pair("record.flows", &name, wiring));
    }
    for name in r.list("record.limiters") {
        named.limiters.extend(r.pair("record.limiters", &name, wiring));
    }
    named
}

/// Hosts that `[[group]]` tables take out of the scheme.
fn bare(r: &mut Reader<'_>, registry: &Registry, wiring: &Wiring) -> Vec<bool> {
    let mut bare = vec![false; wiring.hosts.len()];
    for prefix in r.tables("group") {
        let key = format!("{prefix}.hosts");
        let scheme = r.word(&format!("{prefix}.scheme"));
        match registry.find(&scheme) {
            Some(entry) if entry.name == "none" => {}
            Some(_) => {
                let reason = format!("a group cannot bring `{scheme}` beside the scheme of the matrix");
                let hint = "two kinds of congestion point exclude each other in one queue; a group can be `none`, and \
                            hosts in no group run the scheme of the matrix";
                r.wrong(&format!("{prefix}.scheme"), reason, hint);
            }
            None => r.wrong(
                &format!("{prefix}.scheme"),
                format!("there is no scheme `{scheme}`"),
                "a group can be `none`",
            ),
        }
        let names = r.list(&key);
        if names.is_empty() {
            r.wrong(&key, "names no hosts: the group has no effect", "write for example hosts = \"H0..H4\"");
        }
        for name in names {
            for host in r.range(&key, &name, wiring) {
                bare[host] = true;
            }
        }
    }
    bare
}

/// `[[event]]` tables: a switch port serves data at another rate from a moment on.
fn events(r: &mut Reader<'_>, wiring: &Wiring) -> Vec<RateChange> {
    let mut events = Vec::new();
    for prefix in r.tables("event") {
        let at = r.quantity(&format!("{prefix}.at"), Time::ZERO, Time::from_s(1000));
        let rate = r.quantity(&format!("{prefix}.rate"), Rate::ZERO, Rate::from_gbps(1600.0));
        let name = r.word(&format!("{prefix}.port"));
        if let Some((node, port)) = r.port(&format!("{prefix}.port"), &name, wiring) {
            let line = wiring.links.iter().find(|l| l.a == (node, port) || l.b == (node, port));
            if let Some(l) = line.filter(|l| l.rate < rate) {
                let reason = format!("{rate} is more than the link's {}", l.rate);
                r.wrong(&format!("{prefix}.rate"), reason, "use at most the link's rate");
            }
            events.push(RateChange { at, node, port, rate });
        }
    }
    events
}

fn hotspots(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<Hotspot> {
    let names = r.list("hotspot.host");
    if names.is_empty() || names == ["off"] {
        for key in ["hotspot.rate", "hotspot.start", "hotspot.stop", "hotspot.period"] {
            if r.is_set(key) {
                r.wrong(key, "has no effect: there is no hotspot", "set hotspot.host, or remove this key");
            }
        }
        return Vec::new();
    }
    let start = r.quantity("hotspot.start", Time::ZERO, Time::from_s(1000));
    let stop = r.quantity("hotspot.stop", Time::ZERO, Time::from_s(1000));
    let period = match r.word("hotspot.period").as_str() {
        "off" => None,
        _ => Some(r.quantity("hotspot.period", Time::from_us(1), Time::from_s(1000))),
    };
    if stop <= start {
        let reason = format!("the hotspot stops at {stop}, not after its start at {start}");
        r.clash(&["hotspot.stop", "hotspot.start"], reason, "make hotspot.stop later");
    } else if stop > duration {
        let reason = format!("the hotspot ends at {stop}, outside the run of {duration}");
        let remedy = "lengthen run.duration or shorten the hotspot";
        r.clash(&["hotspot.stop", "run.duration"], reason, remedy);
    }
    let mut hotspots = Vec::new();
    for name in names {
        let Some(host) = r.host("hotspot.host", &name, wiring) else { continue };
        let line = wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let text = r.word("hotspot.rate");
        let rate = if text.trim_end().ends_with('%') {
            line * r.percent("hotspot.rate", &text)
        } else {
            r.quantity("hotspot.rate", Rate::ZERO, line)
        };
        if rate > Rate::ZERO && rate < Rate::from_bps(1e4) {
            let hint = "use 0 Gb/s to stop the port, or at least 10 kb/s";
            r.wrong("hotspot.rate", format!("{rate} is too slow"), hint);
        }
        hotspots.push(Hotspot { host, rate, start, stop, period });
    }
    hotspots
}

fn buffer(r: &mut Reader<'_>, loops: &[Loop], wiring: &Wiring) -> BufferSpec {
    let kind = r.choice("switch.buffer");
    let share = if kind == "SW" {
        let capacity = r.quantity("switch.capacity", Bytes::new(64), Bytes::from_mb(4000));
        Bytes::new(capacity.get() / wiring.inputs())
    } else {
        r.quantity("switch.share", Bytes::new(64), Bytes::from_mb(4000))
    };
    let output_limit = match r.word("switch.output_limit").as_str() {
        "off" => None,
        _ => Some(r.quantity("switch.output_limit", Bytes::new(64), Bytes::from_mb(4000))),
    };
    let organisation = match kind.as_str() {
        "IN" | "SW" => Organisation::Input,
        "SO" => Organisation::SharedOutput,
        _ => Organisation::Crosspoint,
    };
    let mode = r.choice("pause.mode");
    let pause = (mode != "off").then(|| {
        let high = r.quantity("pause.high", Bytes::new(64), Bytes::from_mb(4000));
        let low = r.quantity("pause.low", Bytes::new(0), Bytes::from_mb(4000));
        if low >= high {
            let reason = format!("the low watermark {low} is not below the high one {high}");
            r.clash(&["pause.low", "pause.high"], reason, "lower pause.low");
        }
        let memory = match organisation {
            Organisation::SharedOutput => {
                share * wiring.switches.iter().map(|s| u64::from(s.1)).min().unwrap_or(1)
            }
            _ => share,
        };
        let need = loops.iter().map(Loop::headroom).max().unwrap_or_default();
        if high + need > memory {
            let best = Bytes::new(memory.get().saturating_sub(need.get()));
            r.clash(
                &["pause.high", "switch.share", "switch.capacity"],
                format!("watermark without headroom: {memory} - {high} leaves {} but {need} can still arrive after XOFF", Bytes::new(memory.get().saturating_sub(high.get()))),
                format!("set pause.high to at most {best}, or enlarge switch.share; see `cnsim headroom`"),
            );
        }
        PauseSpec {
            high,
            low,
            global: mode == "global",
            pool: r.choice("pause.pool") == "on",
            transport: if r.choice("pause.transport") == "wire" { PauseTransport::Wire } else { PauseTransport::Frame },
        }
    });
    BufferSpec { organisation, share, output_limit, pause }
}
