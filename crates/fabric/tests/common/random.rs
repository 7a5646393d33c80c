//! The one generator of random networks. [`Random`] says between which settings each network chooses; a test of a feature names those
//! that matter to it. A menu that names a setting twice has it twice as often.
#![allow(dead_code)]

use super::shaker::{Shaker, act};
use super::{bernoulli, host, with_scheme};
use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::sync::Arc;

/// The draws of a network.
pub(crate) struct Draws(Stream);

impl Draws {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Stream::new(seed, stream, Purpose::Test))
    }
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
    pub(crate) fn one<T: Clone>(&mut self, menu: &[T]) -> T {
        menu[self.below(menu.len() as u64) as usize].clone()
    }
    pub(crate) fn within(&mut self, (least, most): (u64, u64)) -> u64 {
        least + self.below(most - least + 1)
    }
    /// True once in `n` times; never for 0.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }
    /// Go-back-N; timers of this and the others suit runs of some hundred microseconds.
    pub(crate) fn go_back_n(&mut self) -> Reliability {
        Reliability::GoBackN { nack_interval: Time::from_us(self.one(&[0, 5, 50])), rto: Time::from_us(60) }
    }
    /// Selective repeat, whose reports are NACKs at once or later.
    pub(crate) fn selective(&mut self) -> Reliability {
        Reliability::Selective(SelectiveSpec {
            gap_frames: self.one(&[1, 1, 3]),
            gap_time: Time::from_us(self.one(&[0, 0, 5])),
            rto_low: Time::from_us(40),
            rto_high: Time::from_us(self.one(&[40, 90])),
            few: self.one(&[0, 3]),
        })
    }
    /// TCP that finds losses in this way, and may probe.
    pub(crate) fn tcp(&mut self, recovery: Recovery, probe: bool) -> Reliability {
        Reliability::Tcp(TcpSpec {
            recovery,
            probe,
            handshake: false,
            classic_ecn: self.once_in(2),
            proportional: false,
            burst: 1,
            limited_transmit: self.once_in(2),
            receive_window: self.one(&[None, None, Some(Bytes::new(20_000))]),
            rto_first: Time::from_us(100),
            rto_min: Time::from_us(self.one(&[0, 30])),
            rto_max: Time::from_us(200),
            quantum: Time::from_us(self.one(&[0, 0, 10])),
            ack_delay: Time::from_us(self.one(&[0, 7])),
        })
    }
}

/// What a source sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Traffic {
    Chance,
    Greedy,
    Bursts,
    OnOff,
    /// So many finite flows at most, begun in the first half.
    Flows(u64),
    /// By chance; and at times as fast as it may to host 0, besides.
    Rush,
}

/// Between which settings a network chooses.
pub(crate) struct Random {
    /// Sets its draws apart from those of other tests.
    pub(crate) stream: u64,
    /// Least and most switches, and hosts at each.
    pub(crate) switches: (u64, u64),
    pub(crate) hosts: (u64, u64),
    /// Two spines join several switches; else they are a tangle of trees, parallel paths and rings.
    pub(crate) spines: bool,
    /// us.
    pub(crate) duration: (u64, u64),
    /// One in so many is in step: frames, rates, phases and delays alike, but for a message's time, so that much is done in one moment.
    pub(crate) in_step: u64,
    pub(crate) loads: &'static [f64],
    /// B.
    pub(crate) frames: &'static [u64],
    /// Gb/s.
    pub(crate) rates: &'static [f64],
    /// ns, of links, switches and hosts.
    pub(crate) delays: &'static [u64],
    pub(crate) processing: &'static [u64],
    pub(crate) traffic: &'static [Traffic],
    /// Frames of FIFOs, and ahead of limiters.
    pub(crate) fifo: &'static [u32],
    pub(crate) backlog: &'static [u32],
    pub(crate) organisations: &'static [Organisation],
    /// High watermark in kB; 0 for none, with a partition of one of these, kB.
    pub(crate) xoff: &'static [u64],
    pub(crate) memory: &'static [u64],
    /// One in so many has a limit for each output.
    pub(crate) limit: u64,
    pub(crate) control: &'static [ControlTransport],
    pub(crate) ties: &'static [Ties],
    /// Rates of a port that is slow for a while, Gb/s; none for no change.
    pub(crate) slow: &'static [Option<f64>],
    pub(crate) scheme: fn(&mut Draws) -> Option<Shaker>,
}

use Organisation::{Crosspoint, Input, SharedOutput};
use Traffic::{Bursts, Chance, Flows, Greedy, OnOff};

/// Every feature.
pub(crate) const ANY: Random = Random {
    stream: 0,
    switches: (1, 4),
    hosts: (1, 4),
    spines: false,
    duration: (150, 400),
    in_step: 3,
    loads: &[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    frames: &[64, 300, 1500, 1500, 1500, 9000],
    rates: &[10.0, 10.0, 10.0, 1.0, 3.0, 25.0, 100.0, 400.0],
    delays: &[50, 180, 310, 500, 700, 1000, 1480],
    processing: &[0, 100, 400, 500, 1000],
    traffic: &[Chance, Chance, Chance, Greedy, Bursts, OnOff, Flows(6)],
    fifo: &[2, 3, 20, 500],
    backlog: &[0, 0, 0, 3],
    organisations: &[Crosspoint, Input, SharedOutput],
    xoff: &[0, 12, 18, 30],
    memory: &[20, 40, 80],
    limit: 4,
    control: &[ControlTransport::Priority, ControlTransport::Priority, ControlTransport::InBand],
    ties: &[Ties::ByPort, Ties::ByPort, Ties::ByStart, Ties::Drawn],
    slow: &[None, None, None, Some(0.0), Some(0.3), Some(2.0)],
    scheme: |draws| {
        // The first draw has no use: networks of known seeds stay as they are.
        draws.below(6);
        (!draws.once_in(4)).then(|| Shaker::drawn(draws, 0, act::RESTLESS))
    },
};

impl Random {
    /// The network of a seed.
    pub(crate) fn network(&self, seed: u64) -> RunSpec {
        let d = &mut Draws::new(seed, self.stream);
        let switches = d.within(self.switches) as usize;
        let hosts = (switches * d.within(self.hosts) as usize).max(2);
        let step = d.once_in(self.in_step).then(|| d.one(self.frames));
        let mut spec = super::single_switch(2, 0.5, false, Time::from_us(d.within(self.duration)), seed);
        spec.duration += Time::from_ps(d.below(3));
        spec.hosts = (0..hosts).map(|i| self.host(i, hosts, step, spec.duration, d)).collect();
        let mut xoff = d.one(self.xoff);
        if xoff > 0 && step.is_none() {
            xoff += d.below(1 + xoff / 4);
        }
        let pause = PauseSpec {
            high: Bytes::from_kb(xoff),
            low: Bytes::from_kb(xoff / 2),
            global: d.once_in(3),
            pool: d.once_in(2),
            transport: d.one(&[PauseTransport::Frame, PauseTransport::Wire]),
        };
        let switch = SwitchSpec {
            ports: (hosts + switches * 2 + 3) as u16,
            processing: Time::from_ns(d.one(self.processing)),
            buffer: BufferSpec {
                organisation: d.one(self.organisations),
                share: if xoff > 0 { Bytes::from_mb(3) } else { Bytes::from_kb(d.one(self.memory)) },
                output_limit: d.once_in(self.limit).then(|| Bytes::from_kb(30 + d.below(40))),
                pause: (xoff > 0).then_some(pause),
            },
            ..spec.switches[0].clone()
        };
        let spines = if self.spines && switches > 1 { 2 } else { 0 };
        spec.switches = vec![switch; switches + spines];
        spec.switches.iter_mut().enumerate().for_each(|(i, s)| s.name = format!("S{}", 100 + i));
        self.links(&mut spec, (hosts, switches, spines), step.is_some(), d);
        spec.routing = d.one(&[
            Routing::FlowHash,
            Routing::PolarisedHash,
            Routing::FrameHash,
            Routing::RoundRobin,
            Routing::Destination,
        ]);
        let finite = |s: &SourceSpec| s.arrivals == Arrivals::Transfers;
        if d.once_in(2) && spec.hosts.iter().flat_map(|h| &h.sources).all(finite) {
            spec.routing = Routing::ForkHash;
        }
        spec.laws.rounding = d.one(&[Rounding::Exact, Rounding::Exact, Rounding::Exact, Rounding::WholeNs]);
        let node = NodeId(hosts as u32);
        if let Some(slow) = d.one(self.slow) {
            let change = |at, rate| RateChange {
                at: spec.duration.scale(at),
                node,
                port: 0,
                rate: Rate::from_gbps(rate),
            };
            spec.events.changes = vec![change(0.2, slow), change(0.6, 10.0)];
        }
        spec.laws.ties = d.one(self.ties);
        spec.laws.control = d.one(self.control);
        if let Some(mut shaker) = (self.scheme)(d) {
            shaker.points = (hosts as u32, spec.switches.iter().map(|s| u32::from(s.ports)).sum());
            with_scheme(&mut spec, Arc::new(shaker));
            spec.hosts.iter_mut().filter(|_| d.below(7) == 0).for_each(|h| h.scheme = None);
        }
        let pauses = if seed.is_multiple_of(8) { 20 } else { 1 << 20 };
        spec.record = Record { matrix: true, latency: true, pauses, ..Record::default() };
        if d.once_in(2) {
            spec.record = Record {
                bin: Time::from_ns(d.one(&[500, 7_000, 70_000])),
                queues: vec![(node, 0), (node, 1)],
                delivered: vec![NodeId(0)],
                rates: vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(0))],
                flows: vec![(NodeId(0), NodeId(1))],
                control: true,
                ..spec.record
            };
        }
        // By the seed, as a draw would change all networks.
        spec.record.links = seed % 5 < 2;
        if seed.is_multiple_of(3) {
            let ends = spec.links.iter().flat_map(|l| [l.a, l.b]).enumerate();
            spec.record.captures =
                ends.filter(|(i, _)| (*i as u64 + seed) % 4 < 2).map(|(_, end)| end).collect();
            spec.record.capture_limit = if seed.is_multiple_of(2) { 40 } else { 1 << 20 };
        }
        spec
    }

    fn host(&self, i: usize, hosts: usize, step: Option<u64>, run: Time, d: &mut Draws) -> HostSpec {
        let mut h = host(i, Vec::new());
        h.fifo_frames = d.one(self.fifo);
        h.backlog_frames = d.one(self.backlog);
        h.limiter_frames = d.one(&[1, 2, 4, 20]);
        h.processing = Time::from_ns(d.one(self.processing));
        h.limiter_position = d.one(&[LimiterPosition::AtSource, LimiterPosition::BelowQueue]);
        h.queues = d.one(&[HostQueues::Fifo, HostQueues::Fifo, HostQueues::PerDestination]);
        h.faults.feedback_lost = d.one(&[0, 0, 3]);
        h.feedback_delay = Time::from_ns(d.one(&[0, 0, 1_700, 12_000]));
        h.clock_ppm = if step.is_none() && d.once_in(8) { d.below(2000) as f64 - 1000.0 } else { 0.0 };
        let other = |to: u64| NodeId(((i as u64 + 1 + to) % hosts as u64) as u32);
        for _ in 0..=u32::from(d.once_in(4)) {
            let mut s = bernoulli(d.one(self.loads));
            s.frame = Bytes::new(step.unwrap_or_else(|| d.one(self.frames)));
            s.phase = if step.is_some() || d.once_in(4) { Phase::Aligned } else { Phase::Random };
            s.destinations = match d.below(4) {
                0 => Destinations::Fixed(other(d.below(hosts as u64 - 1))),
                1 => Destinations::Among(vec![NodeId(0), NodeId(1)]),
                _ => Destinations::Uniform,
            };
            if d.once_in(5) {
                s.start = run.scale(0.1);
                s.stop = run.scale(d.one(&[0.4, 0.7, 1.0]));
            }
            let traffic = d.one(self.traffic);
            let on_off = |on, off, shift| Arrivals::OnOff {
                on: Time::from_us(on),
                off: Time::from_us(off),
                shift: Time::from_us(shift),
            };
            match traffic {
                Traffic::Chance => {}
                Traffic::Greedy => s.arrivals = Arrivals::Greedy,
                Traffic::Bursts => s.arrivals = Arrivals::Bursts { load: 0.4, frames: 5 },
                Traffic::OnOff => s.arrivals = on_off(20, 13, d.below(2) * 20),
                Traffic::Flows(most) => {
                    s.arrivals = Arrivals::Transfers;
                    s.floor = Bytes::new([64, 0, 50][run.as_ps() as usize % 3]);
                    let half = run.as_ps() / 2;
                    let flow = |_| Transfer {
                        start: Time::from_ps(d.below(half)),
                        dst: other(d.below(hosts as u64 - 1)),
                        bytes: Bytes::new(d.below(60_000) >> d.below(4)),
                    };
                    s.transfers = (0..1 + most / 2).map(flow).collect();
                    s.transfers.truncate(1 + d.below(most) as usize);
                }
                Traffic::Rush if i > 0 => {
                    let mut rush = SourceSpec { destinations: Destinations::Fixed(NodeId(0)), ..s.clone() };
                    if d.once_in(2) {
                        rush.arrivals = on_off(20, 150, 0);
                    } else {
                        rush.arrivals = Arrivals::Greedy;
                        (rush.start, rush.stop) = (run.scale(0.4), run.scale(0.5));
                    }
                    h.sources.push(rush);
                }
                Traffic::Rush => {}
            }
            h.sources.push(s);
            if traffic == Traffic::Rush || self.traffic.len() == 1 {
                break;
            }
        }
        h
    }

    /// Links hosts and switches, at rates and delays from the menus.
    fn links(
        &self,
        spec: &mut RunSpec,
        (hosts, switches, spines): (usize, usize, usize),
        alike: bool,
        d: &mut Draws,
    ) {
        let mut joints = super::spines(hosts, switches);
        if spines == 0 {
            // Each switch by one or two links to one before it.
            joints.truncate(hosts);
            for s in 1..switches {
                (0..=d.below(2)).for_each(|_| joints.push((hosts + s, hosts + d.below(s as u64) as usize)));
            }
            // A ring of three: no two halves of which each node has its neighbours in the other.
            if switches > 2 && d.once_in(4) {
                joints.extend([(0, 1), (1, 2), (2, 0)].map(|(a, b)| (hosts + a, hosts + b)));
            }
        }
        let both = (d.one(self.rates), d.one(self.delays));
        super::place(spec, &joints, &mut || match alike {
            // In step but for the time of a message of 64 B at 10 Gb/s.
            true => (both.0, both.1 * 1000 - if both.1 > 100 { d.one(&[0, 0, 51_200]) } else { 0 }),
            false => (d.one(self.rates), d.one(self.delays) * 1000),
        });
    }
}
