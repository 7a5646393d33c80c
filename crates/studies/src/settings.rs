//! Typed settings of one case, checked, and the network that they describe.

use crate::headroom::Loop;
use crate::keys::find;
use crate::text::{Flat, Problem, nearest};
use cnsim_fabric::{
    Arrivals, BufferSpec, ControlTransport, Destinations, HostSpec, LimiterPosition, LinkSpec, Organisation,
    PauseSpec, PauseTransport, Phase, RateChange, Record, Routing, RunSpec, SourceSpec, SwitchSpec,
};
use cnsim_scheme_api::NodeId;
use cnsim_schemes::Built;
use cnsim_units::{Bytes, Rate, Time};
use std::str::FromStr;

/// A hotspot: one port slows down for a while.
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
}

/// Everything typed and in range.
#[derive(Clone, Debug)]
pub struct Settings {
    topology: Topology,
    link_rate: Rate,
    link_delay: Time,
    switch_processing: Time,
    host_processing: Time,
    buffer: BufferSpec,
    routing: Routing,
    control: ControlTransport,
    fifo: u32,
    limiter_queue: u32,
    limiter_position: LimiterPosition,
    arrivals: Vec<Arrivals>,
    frame: Bytes,
    fixed: Option<usize>,
    phase: Phase,
    /// The hotspot, if there is one.
    pub hotspot: Option<Hotspot>,
    /// Simulated time.
    pub duration: Time,
    /// Width of a bin of the series.
    pub bin: Time,
}

#[derive(Clone, Debug)]
enum Topology {
    Single { hosts: usize, ports: u16 },
    CoreEdge { edges: Vec<usize>, ports: u16 },
    Tree { k: usize, n: u32 },
}

impl Topology {
    fn hosts(&self) -> usize {
        match self {
            Self::Single { hosts, .. } => *hosts,
            Self::CoreEdge { edges, .. } => edges.iter().sum(),
            Self::Tree { k, n } => k.saturating_pow(*n),
        }
    }

    /// Inputs in use at the busiest switch.
    fn inputs(&self) -> u64 {
        match self {
            Self::Single { hosts, .. } => *hosts as u64,
            Self::CoreEdge { edges, .. } => {
                edges.iter().map(|e| e + 1).chain([edges.len()]).max().unwrap_or(1) as u64
            }
            Self::Tree { k, .. } => 2 * *k as u64,
        }
    }
}

/// Reads values of a flat table; collects problems.
struct Reader<'a> {
    flat: &'a Flat,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn word(&self, key: &str) -> String {
        let own = self.flat.leaves.get(key).and_then(|l| l.items.first().cloned());
        own.unwrap_or_else(|| find(key).map_or("", |k| k.default).into())
    }

    fn wrong(&mut self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) {
        let problem = self.flat.at(key, reason, remedy);
        self.problems.push(problem);
    }

    /// A quantity between two bounds.
    fn quantity<T>(&mut self, key: &str, low: T, high: T) -> T
    where
        T: FromStr<Err = cnsim_units::UnitError> + PartialOrd + Copy + std::fmt::Display,
    {
        let text = self.word(key);
        match text.parse::<T>() {
            Ok(v) if v >= low && v <= high => v,
            Ok(v) => {
                self.wrong(key, format!("{v} is out of range"), format!("allowed: {low} to {high}"));
                low
            }
            Err(e) => {
                self.wrong(
                    key,
                    format!("`{text}`: {}", e.reason),
                    format!("write for example \"{}\"", e.example),
                );
                low
            }
        }
    }

    fn integer(&mut self, key: &str, low: u64, high: u64) -> u64 {
        let text = self.word(key);
        match text.replace('_', "").parse::<u64>() {
            Ok(v) if (low..=high).contains(&v) => v,
            Ok(v) => {
                self.wrong(key, format!("{v} is out of range"), format!("allowed: {low} to {high}"));
                low
            }
            Err(_) => {
                self.wrong(
                    key,
                    format!("`{text}` is not a whole number"),
                    format!("write a number from {low} to {high}"),
                );
                low
            }
        }
    }

    fn percent(&mut self, key: &str, text: &str) -> f64 {
        match text.trim().strip_suffix('%').and_then(|t| t.trim().parse::<f64>().ok()) {
            Some(v) if (0.0..=100.0).contains(&v) => v / 100.0,
            Some(v) => {
                self.wrong(key, format!("{v} % is out of range"), "allowed: 0 % to 100 %");
                0.0
            }
            None => {
                self.wrong(key, format!("`{text}` is not a percentage"), "write for example \"85 %\"");
                0.0
            }
        }
    }

    fn choice(&mut self, key: &str) -> String {
        let text = self.word(key);
        let Some(k) = find(key) else { return text };
        if !k.kind.split('|').any(|c| c == text) {
            let near = nearest(&text, k.kind.split('|'))
                .map_or_else(String::new, |n| format!("did you mean \"{n}\"? "));
            self.wrong(
                key,
                format!("`{text}` is not a choice"),
                format!("{near}choose one of {}", k.kind.replace('|', " | ")),
            );
            return k.default.into();
        }
        text
    }

    /// Index of a host by its name.
    fn host(&mut self, key: &str, text: &str, hosts: usize) -> Option<usize> {
        let index =
            text.strip_prefix(['H', 'h']).and_then(|n| n.parse::<usize>().ok()).filter(|&i| i < hosts);
        if index.is_none() {
            self.wrong(
                key,
                format!("there is no host `{text}`"),
                format!("hosts are H0 to H{}", hosts.saturating_sub(1)),
            );
        }
        index
    }
}

impl Settings {
    /// Reads and checks all settings; none when something is wrong.
    pub fn read(flat: &Flat, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.len();
        let mut r = Reader { flat, problems };
        let topology = topology(&mut r);
        let hosts = topology.hosts();
        if hosts < 2 {
            r.wrong("topology.hosts", "one host has nobody to send to", "use at least 2 hosts");
        }
        let link_rate = r.quantity("topology.link_rate", Rate::from_mbps(1.0), Rate::from_gbps(1600.0));
        let link_delay = r.quantity("topology.link_delay", Time::ZERO, Time::from_ms(100));
        let switch_processing = r.quantity("switch.processing", Time::ZERO, Time::from_ms(100));
        let host_processing = r.quantity("host.processing", Time::ZERO, Time::from_ms(100));
        let least = link_delay + switch_processing.min(host_processing);
        if least < Time::from_ns(10) {
            r.wrong(
                "topology.link_delay",
                format!("link delay and processing together are {least}"),
                "make them at least 10 ns together",
            );
        }
        let frame = r.quantity("workload.frame", Bytes::new(64), Bytes::new(9216));
        let loop_delay = Loop {
            rate: link_rate,
            delay: link_delay,
            processing: switch_processing.max(host_processing),
            frame,
        };
        let buffer = buffer(&mut r, loop_delay, hosts, topology.inputs());
        let fixed = match r.word("workload.destinations").as_str() {
            "uniform" => None,
            name => r.host("workload.destinations", name, hosts),
        };
        let arrivals = arrivals(&mut r, hosts);
        let duration = r.quantity("run.duration", Time::from_us(1), Time::from_s(1000));
        let bin = r.quantity("record.bin", Time::from_us(1), Time::from_s(10));
        let hotspot = hotspot(&mut r, hosts, duration, link_rate);
        let settings = Self {
            link_rate,
            link_delay,
            switch_processing,
            host_processing,
            buffer,
            routing: match r.choice("topology.routing").as_str() {
                "frame-hash" => Routing::FrameHash,
                "round-robin" => Routing::RoundRobin,
                "destination" => Routing::Destination,
                _ => Routing::FlowHash,
            },
            control: if r.choice("control.transport") == "in-band" {
                ControlTransport::InBand
            } else {
                ControlTransport::Priority
            },
            fifo: r.integer("host.fifo", 1, 100_000_000) as u32,
            limiter_queue: r.integer("host.limiter_queue", 1, 100_000_000) as u32,
            limiter_position: if r.choice("host.limiter_position") == "at-source" {
                LimiterPosition::AtSource
            } else {
                LimiterPosition::BelowQueue
            },
            arrivals,
            frame,
            fixed,
            phase: if r.choice("workload.phase") == "aligned" { Phase::Aligned } else { Phase::Random },
            hotspot,
            duration,
            bin: bin.min(duration),
            topology,
        };
        (problems.len() == before).then_some(settings)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.topology.hosts()
    }

    /// Rate of the access links.
    pub fn link_rate(&self) -> Rate {
        self.link_rate
    }

    /// Sum of the loads offered, a greedy host counting fully.
    pub fn offered(&self) -> Rate {
        let load = |a: &Arrivals| match a {
            Arrivals::Bernoulli { load } => *load,
            _ => 1.0,
        };
        let sends = |h: &usize| self.fixed != Some(*h);
        let of = |h: usize| load(&self.arrivals[h.min(self.arrivals.len() - 1)]);
        self.link_rate * (0..self.hosts()).filter(sends).map(of).sum::<f64>()
    }

    /// Estimate of the packet-hops of one run.
    pub fn packet_hops(&self) -> f64 {
        let hops = match self.topology {
            Topology::Single { .. } => 2.0,
            Topology::CoreEdge { .. } => 3.6,
            Topology::Tree { n, .. } => 2.0 * f64::from(n),
        };
        self.offered().bps() * self.duration.as_secs_f64() / (self.frame.as_f64() * 8.0) * hops
    }

    /// Estimate of the memory of one run, bytes.
    pub fn memory(&self) -> f64 {
        let hosts = self.hosts() as f64;
        let bins = self.duration.as_secs_f64() / self.bin.as_secs_f64();
        hosts * (4e3 + f64::from(self.fifo.min(1_000_000)) * 32.0) + bins * 16.0 * (hosts.min(64.0) + 2.0)
    }

    /// The switch and port that feed a host.
    fn feeder(&self, host: usize, links: &[LinkSpec]) -> (NodeId, u16) {
        let at = NodeId(host as u32);
        links.iter().find(|l| l.a.0 == at).map_or((at, 0), |l| l.b)
    }

    /// The run that these settings describe.
    ///
    /// `all` records every queue in use, not only the hot one.
    pub fn spec(&self, built: &Built, seed: u64, all: bool) -> RunSpec {
        let hosts = self.hosts();
        let wiring = self.wire();
        let destinations = |h: usize| match self.fixed {
            Some(d) if d != h => Destinations::Fixed(NodeId(d as u32)),
            _ => Destinations::Uniform,
        };
        let source = |h: usize| SourceSpec {
            arrivals: self.arrivals[h.min(self.arrivals.len() - 1)],
            destinations: destinations(h),
            frame: self.frame,
            start: Time::ZERO,
            stop: Time::MAX,
            phase: self.phase,
            transfers: Vec::new(),
        };
        let sends = |h: usize| self.fixed != Some(h);
        let mut record = Record {
            bin: self.bin,
            delivered: (0..hosts.min(1024)).map(|h| NodeId(h as u32)).collect(),
            ..Record::default()
        };
        let mut changes = Vec::new();
        if let Some(hot) = self.hotspot {
            let (node, port) = self.feeder(hot.host, &wiring.links);
            record.queues.push((node, port));
            changes.push(RateChange { at: hot.start, node, port, rate: hot.rate });
            changes.push(RateChange { at: hot.stop, node, port, rate: self.link_rate });
        } else {
            record.queues.push(self.feeder(self.fixed.unwrap_or(0), &wiring.links));
        }
        if all {
            let ends = wiring.links.iter().flat_map(|l| [l.a, l.b]).filter(|e| e.0.0 as usize >= hosts);
            let more: Vec<_> = ends.filter(|e| !record.queues.contains(e)).collect();
            record.queues.extend(more);
        }
        RunSpec {
            hosts: (0..hosts)
                .map(|h| HostSpec {
                    name: format!("H{h}"),
                    processing: self.host_processing,
                    sources: if sends(h) { vec![source(h)] } else { Vec::new() },
                    fifo_frames: self.fifo,
                    limiter_frames: self.limiter_queue,
                    limiter_position: self.limiter_position,
                    queues: Default::default(),
                    feedback_delay: Time::ZERO,
                    scheme: Some(0),
                })
                .collect(),
            switches: wiring
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
            links: wiring.links,
            routing: self.routing,
            schemes: vec![built.scheme.clone()],
            control: self.control,
            changes,
            duration: self.duration,
            seed,
            record,
        }
    }

    /// Switches (name, ports) and links; host links come first, host end first, in order of hosts.
    pub fn wire(&self) -> Wiring {
        let hosts = self.hosts();
        let link = |a: (usize, usize), b: (usize, usize)| LinkSpec {
            a: (NodeId(a.0 as u32), a.1 as u16),
            b: (NodeId(b.0 as u32), b.1 as u16),
            rate: self.link_rate,
            delay: self.link_delay,
        };
        match &self.topology {
            Topology::Single { hosts, ports } => Wiring {
                switches: vec![("S".into(), (*ports).max(*hosts as u16))],
                links: (0..*hosts).map(|h| link((h, 0), (*hosts, h))).collect(),
            },
            Topology::CoreEdge { edges, ports } => {
                let core = hosts + edges.len();
                let mut links = Vec::new();
                let mut h = 0;
                for (e, &n) in edges.iter().enumerate() {
                    for p in 0..n {
                        links.push(link((h, 0), (hosts + e, p)));
                        h += 1;
                    }
                }
                for (e, &n) in edges.iter().enumerate() {
                    links.push(link((hosts + e, n), (core, e)));
                }
                let mut switches: Vec<_> = edges
                    .iter()
                    .enumerate()
                    .map(|(e, &n)| (format!("E{}", e + 1), (*ports).max(n as u16 + 1)))
                    .collect();
                switches.push(("X".into(), (*ports).max(edges.len() as u16)));
                Wiring { switches, links }
            }
            Topology::Tree { k, n } => {
                let (k, n) = (*k, *n);
                let per_level = k.pow(n - 1);
                let at = |level: u32, w: usize| hosts + level as usize * per_level + w;
                let mut links: Vec<_> = (0..hosts).map(|h| link((h, 0), (at(0, h / k), h % k))).collect();
                for level in 0..n - 1 {
                    let step = k.pow(level);
                    for w in 0..per_level {
                        // Up-port u of <level; w> leads to the switch above whose digit `level` is u.
                        let digit = w / step % k;
                        for u in 0..k {
                            let above = w - digit * step + u * step;
                            links.push(link((at(level, w), k + u), (at(level + 1, above), digit)));
                        }
                    }
                }
                let switches = (0..n)
                    .flat_map(|l| (0..per_level).map(move |w| (format!("<{l};{w}>"), 2 * k as u16)))
                    .collect();
                Wiring { switches, links }
            }
        }
    }
}

/// Switches and links of a topology.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// Name and number of ports.
    pub switches: Vec<(String, u16)>,
    /// Links.
    pub links: Vec<LinkSpec>,
}

fn topology(r: &mut Reader<'_>) -> Topology {
    match r.choice("topology.kind").as_str() {
        "core-edge" => {
            let items = r
                .flat
                .leaves
                .get("topology.edges")
                .map_or_else(|| vec!["3".into(), "3".into(), "2".into(), "2".into()], |l| l.items.clone());
            let edges: Vec<usize> =
                items.iter().filter_map(|i: &String| i.parse().ok()).filter(|&n| n > 0).collect();
            if edges.len() != items.len() || edges.len() < 2 {
                r.wrong(
                    "topology.edges",
                    "must list at least two positive numbers of hosts",
                    "write for example [3, 3, 2, 2]",
                );
            }
            Topology::CoreEdge { edges, ports: r.integer("topology.ports", 2, 4096) as u16 }
        }
        "k-ary-n-tree" => {
            let (k, n) = (r.integer("topology.k", 2, 64) as usize, r.integer("topology.n", 1, 8) as u32);
            if k.saturating_pow(n) > 65_535 {
                r.wrong("topology.k", format!("{k}^{n} hosts are too many"), "at most 65535 hosts");
                return Topology::Tree { k: 2, n: 1 };
            }
            Topology::Tree { k, n }
        }
        _ => Topology::Single {
            hosts: r.integer("topology.hosts", 1, 65_000) as usize,
            ports: r.integer("topology.ports", 2, 65_000) as u16,
        },
    }
}

fn buffer(r: &mut Reader<'_>, loop_delay: Loop, hosts: usize, inputs: u64) -> BufferSpec {
    let kind = r.choice("switch.buffer");
    let share = if kind == "SW" {
        let capacity = r.quantity("switch.capacity", Bytes::new(64), Bytes::from_mb(4000));
        Bytes::new(capacity.get() / inputs.max(1))
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
            r.wrong("pause.low", format!("the low watermark {low} is not below the high one {high}"), "lower pause.low");
        }
        let memory = match organisation {
            Organisation::SharedOutput => share * (hosts as u64).max(2),
            _ => share,
        };
        let need = loop_delay.headroom();
        if high + need > memory {
            let best = Bytes::new(memory.get().saturating_sub(need.get()));
            r.wrong(
                "pause.high",
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

fn arrivals(r: &mut Reader<'_>, hosts: usize) -> Vec<Arrivals> {
    match r.choice("workload.kind").as_str() {
        "greedy" => vec![Arrivals::Greedy],
        "on-off" => {
            let on = r.quantity("workload.on", Time::from_us(1), Time::from_s(1000));
            let off = r.quantity("workload.off", Time::ZERO, Time::from_s(1000));
            vec![Arrivals::OnOff { on, off, off_first: false }]
        }
        _ => {
            let list = r.flat.leaves.get("workload.loads").map(|l| l.items.clone()).unwrap_or_default();
            if list.is_empty() {
                let text = r.word("workload.load");
                return vec![Arrivals::Bernoulli { load: r.percent("workload.load", &text) }];
            }
            if list.len() != hosts {
                r.wrong(
                    "workload.loads",
                    format!("{} loads for {hosts} hosts", list.len()),
                    "give one load per host",
                );
            }
            list.iter().map(|t| Arrivals::Bernoulli { load: r.percent("workload.loads", t) }).collect()
        }
    }
}

fn hotspot(r: &mut Reader<'_>, hosts: usize, duration: Time, link: Rate) -> Option<Hotspot> {
    let name = r.word("hotspot.host");
    if name == "off" {
        for key in ["hotspot.rate", "hotspot.start", "hotspot.stop"] {
            if r.flat.leaves.contains_key(key) {
                r.wrong(key, "has no effect: there is no hotspot", "set hotspot.host, or remove this key");
            }
        }
        return None;
    }
    let host = r.host("hotspot.host", &name, hosts)?;
    let rate = r.quantity("hotspot.rate", Rate::ZERO, link);
    let start = r.quantity("hotspot.start", Time::ZERO, Time::from_s(1000));
    let stop = r.quantity("hotspot.stop", Time::ZERO, Time::from_s(1000));
    if stop <= start {
        r.wrong(
            "hotspot.stop",
            format!("the hotspot stops at {stop}, not after its start at {start}"),
            "make hotspot.stop later",
        );
    } else if stop > duration {
        r.wrong(
            "hotspot.stop",
            format!("the hotspot ends at {stop}, outside the run of {duration}"),
            "lengthen run.duration or shorten the hotspot",
        );
    }
    if rate > Rate::ZERO && rate < Rate::from_bps(1e4) {
        r.wrong(
            "hotspot.rate",
            format!("{rate} is too slow"),
            "use 0 Gb/s to stop the port, or at least 10 kb/s",
        );
    }
    Some(Hotspot { host, rate, start, stop })
}
