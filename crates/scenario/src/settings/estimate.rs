//! Estimated cost of a run: packet-hops, time and memory, each within a factor of two.
//!
//! Traffic is taken as a fluid. It is spread over the shortest paths, and where a link is offered more than it carries, the
//! excess is lost there (no PAUSE, no scheme), held back at its flow's source (a scheme, or a queue per destination), or
//! holds back all that its source sends (PAUSE alone before one FIFO). Constants were measured on one core of a server.

use super::Settings;
use super::fluid::{Demand, Excess, Fluid, Tree, Way, breadth};
use crate::tables::host::Queues;
use crate::tables::workload::SourcePlan;
use cnsim_fabric::{ControlTransport, Destinations, Organisation, Routing};
use cnsim_scheme_api::Bytes;
use cnsim_scheme_api::{Acks, Plan, ReflectGate, Speaks};
use cnsim_units::{Rate, Time};
use std::collections::HashMap;

/// Estimated cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Frames that finish a link.
    pub packet_hops: f64,
    /// CPU-seconds on one core.
    pub seconds: f64,
    /// Bytes at most at a time.
    pub memory: f64,
    /// Bytes that are kept of a run until all runs are finished: settings, metrics, series.
    pub kept: f64,
}

/// Control messages that a scheme makes by the clock, congested or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Messages {
    /// How many are made; those for which no link has room cost time, too.
    made: f64,
    /// Frames that finish a link.
    hops: f64,
    /// Bytes of those that wait at the end because no link has room.
    waiting: f64,
}

/// Switches for which the spread of traffic is followed; more stand for others like them.
const FOLLOWED: usize = 48;
/// Bits of a control message on a link, and bytes of a waiting one with the reserve of its queue.
const CONTROL_BITS: f64 = 512.0;
const WAITING_MESSAGE: f64 = 32.0 * 1.2;
/// Bits from one sample to the next: 150 KB.
const SAMPLE: f64 = 150e3 * 8.0;
/// Bytes that a queue holds beyond its set point where a sample slows a sender most, and the set point.
const STRONG: f64 = 130e3;
const SET_POINT: f64 = 26e3;
/// Bytes of two frames by which a full queue rises and falls: samples count that, too.
const SWING: f64 = 3e3;
/// Bits that a port serves until its marks have slowed its senders. A port below this rate, bit/s, marks so seldom that senders recover
/// from each mark.
const MARKED: f64 = 20.0 * 1500.0 * 8.0;
const MARKS_IN_VAIN: f64 = 40e6;
/// Seconds of a hop with queue pairs, without telemetry and with it.
const WITH_PAIRS: f64 = 1.1e-7;
const WITH_TELEMETRY: f64 = 1.5e-7;
/// CPU time of a hop of several classes over that of one: 2.0 (queue pairs) to 3.0 were measured.
const OF_CLASSES: f64 = 2.5;

/// Bytes of a frame on a link.
const TRAVELLING: f64 = 45.0;

impl Settings {
    /// How many hosts send.
    fn senders(&self) -> f64 {
        self.traffic.plans.iter().filter(|p| !p.is_empty()).count() as f64
    }

    /// Estimated cost of a run under a scheme with this plan, which limits rates or not.
    pub fn estimate(&self, limits: bool, plan: &Plan) -> Estimate {
        let demand = self.demand();
        let senders = self.senders();
        // Where an output may queue less than it takes to fill the memories before it, frames are lost before XOFF goes.
        let pause = self.switch.buffer.pause.filter(|p| {
            self.switch.buffer.output_limit.is_none_or(|limit| limit.as_f64() >= senders * p.high.as_f64())
        });
        let excess = match (limits, pause) {
            (false, None) => Excess::Lost,
            (false, Some(_)) if self.host.queues == Queues::Fifo => Excess::HeldBySource,
            _ => Excess::HeldByFlow,
        };
        let net = self.ways();
        let hot = self.hot_share();
        let mut rate = 0.0;
        for (share, slow) in [(1.0 - hot, false), (hot, true)] {
            if share > 0.0 {
                rate += share * self.bit_hops(&demand, &net, (excess, pause.is_some()), (slow, plan.reflect));
            }
        }
        let frame = if demand.frames > 0.0 { demand.bits / demand.frames } else { 12_000.0 };
        let whole = self.duration.as_secs_f64();
        let packet_hops = rate / frame * whole * self.arriving(&demand, rate, frame);
        let mut messages = match plan.speaks {
            Speaks::Ports(interval) => self.broadcast(interval),
            Speaks::Sinks(interval) => self.returned(&demand, interval, rate),
            Speaks::Asked => Messages::default(),
        };
        if let Some(pairs) = self.pairs {
            messages.hops += self.acknowledged(packet_hops, pairs.spec.ack_every);
        }
        let travelling = self.travelling(&demand, rate / frame, rate / demand.bits.max(1.0));
        let packet_hops = packet_hops + self.sent_in_vain(limits) / frame;
        self.cost(&demand, packet_hops, messages, (travelling, plan.acks == Acks::Telemetry))
    }

    /// Frames on links at the end, of so many hops a second on paths of so many links: those of a path are reached one by one.
    fn travelling(&self, demand: &Demand, hops: f64, path: f64) -> f64 {
        let all = self.wiring.links.len().max(1) as f64;
        let delay = self.wiring.links.iter().map(|l| l.delay.as_secs_f64()).sum::<f64>() / all;
        let time = self.duration.as_secs_f64() - demand.begin;
        let path = path.round().clamp(1.0, 1000.0);
        (0..path as usize).map(|i| (time - i as f64 * delay).clamp(0.0, delay)).sum::<f64>() * hops / path
    }

    /// Every port of every switch sends to every host in each interval, along a tree, as fast as its links allow.
    fn broadcast(&self, interval: Time) -> Messages {
        let whole = self.duration.as_secs_f64();
        let ports: f64 = self.wiring.switches.iter().map(|s| f64::from(s.1)).sum();
        let told = ports * whole / interval.as_secs_f64();
        let tree = (self.hosts() + self.wiring.switches.len()) as f64 - 1.0;
        let links = self.wiring.links.len().max(1) as f64;
        let mut messages = Messages { made: told, ..Messages::default() };
        for l in &self.wiring.links {
            let room = l.rate.bps() * whole / CONTROL_BITS;
            messages.hops += told.min(room) * tree / links;
            messages.waiting += (told - room).max(0.0) * WAITING_MESSAGE * tree / links;
        }
        messages
    }

    /// A flow's sink answers once in each interval.
    fn returned(&self, demand: &Demand, interval: Time, rate: f64) -> Messages {
        let answers = self.duration.as_secs_f64() / interval.as_secs_f64();
        let path = rate / demand.bits.max(1.0);
        let frames = demand.frames * self.duration.as_secs_f64();
        let made = (demand.flows * answers).min(frames);
        Messages { made, hops: made * path.clamp(2.0, 1000.0), waiting: 0.0 }
    }

    /// Links that acknowledgements of one frame in so many finish, where they are frames: each goes back as far as the data came.
    fn acknowledged(&self, data_hops: f64, every: u32) -> f64 {
        match (self.control, every) {
            (ControlTransport::Ideal { .. }, _) | (_, 0) => 0.0,
            (_, every) => data_hops / f64::from(every),
        }
    }

    /// Share of the run in which the hot ports are slow.
    fn hot_share(&self) -> f64 {
        let Some(h) = self.hotspots.first() else { return 0.0 };
        let span = h.stop.saturating_sub(h.start).as_secs_f64() / self.duration.as_secs_f64();
        span * if h.period.is_some() { 0.5 } else { 1.0 }
    }

    fn demand(&self) -> Demand {
        let hosts = self.hosts();
        let mut d = Demand {
            uniform: vec![0.0; self.wiring.switches.len()],
            alike: vec![0.0; hosts],
            to_host: vec![0.0; hosts],
            ..Demand::default()
        };
        let whole = self.duration;
        let mut spread = 0.0;
        for (h, plans) in self.traffic.plans.iter().enumerate() {
            let Some(seat) = self.seat(h) else { continue };
            let mut left = self.wiring.access(h).map_or(0.0, |l| l.rate.bps());
            for p in plans {
                let begin = p.span().0;
                let offered = self.mean_offer(h, p).min(left);
                left -= offered;
                if offered <= 0.0 {
                    continue;
                }
                d.bits += offered;
                d.frames += offered / p.bits_of_frames(h);
                d.begin += offered * begin.min(whole).as_secs_f64();
                d.transfers += p.count(h);
                let goals: Vec<(usize, f64)> = match (&p.destinations, &p.transfers[..]) {
                    (_, [_, ..]) => p.shares_of_transfers(),
                    (Destinations::Fixed(n), _) => vec![(n.0 as usize, 1.0)],
                    (Destinations::Among(list), _) if !list.is_empty() && list.len() <= 64 => {
                        list.iter().map(|n| (n.0 as usize, 1.0 / list.len() as f64)).collect()
                    }
                    _ => Vec::new(),
                };
                for (to, share) in &goals {
                    *d.fixed.entry((seat, *to)).or_default() += offered * share;
                    d.to_host[*to] += offered * share;
                }
                d.flows += match (goals.len(), &p.destinations) {
                    // Drawn by the seed.
                    (0, Destinations::Among(list)) if list.is_empty() => 1.0,
                    (0, _) => hosts as f64 - 1.0,
                    (n, _) => n as f64,
                };
                if goals.is_empty() {
                    d.uniform[seat] += offered;
                    d.alike[h] += offered;
                    spread += offered;
                }
            }
        }
        let others = (hosts as f64 - 1.0).max(1.0);
        // Nobody sends to itself: that tells where one host sends most.
        d.to_host.iter_mut().zip(&d.alike).for_each(|(r, own)| *r += (spread - own) / others);
        d.begin /= d.bits.max(1.0);
        d
    }

    /// Rate that a source offers, mean over the run, bit/s.
    pub(super) fn mean_offer(&self, host: usize, p: &SourcePlan) -> f64 {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let whole = self.duration.as_secs_f64();
        if p.transfers.is_empty() {
            let (begin, end) = p.span();
            let on = end.min(self.duration).saturating_sub(begin).as_secs_f64() / whole;
            return p.offered(host, line, self.duration).bps() * on;
        }
        let begun = p
            .transfers
            .iter()
            .filter(|t| t.start < self.duration || t.start == cnsim_fabric::Transfer::FOLLOWS);
        let bits: f64 = begun.map(|t| t.bytes.as_f64() * 8.0).sum();
        (bits / whole).min(line.bps())
    }

    /// Index of the switch of a host.
    pub(super) fn seat(&self, host: usize) -> Option<usize> {
        (self.wiring.feeder(host).0.0 as usize).checked_sub(self.hosts())
    }

    /// Links between switches.
    pub(super) fn ways(&self) -> Vec<Vec<Way>> {
        let hosts = self.hosts();
        let mut ways = vec![Vec::new(); self.wiring.switches.len()];
        for (i, l) in self.wiring.links.iter().enumerate() {
            let ends = (l.a.0.0 as usize).checked_sub(hosts).zip((l.b.0.0 as usize).checked_sub(hosts));
            if let Some((a, b)) = ends {
                let rate = l.rate.bps();
                ways[a].push(Way { to: b, rate, index: 2 * i });
                ways[b].push(Way { to: a, rate, index: 2 * i + 1 });
            }
        }
        ways
    }

    /// Seconds for which a sender of this rate is not slowed: its scheme needs so many samples for each flow, and more where an output may
    /// queue so little that samples say little. `pass`: the shares of its traffic that its switch's outputs let through.
    #[allow(clippy::disallowed_methods)] // An estimate: no simulation reads it.
    fn unheard(&self, (host, rate): (usize, f64), flows: f64, pass: &[f64]) -> f64 {
        let at = self.seat(host);
        let offered = |h: &usize| self.offered_by(*h).bps();
        let beside: f64 = (0..self.hosts()).filter(|h| self.seat(*h) == at).map(|h| offered(&h)).sum();
        let outputs = match self.switch.buffer.organisation {
            Organisation::Crosspoint => 1.0,
            Organisation::Input | Organisation::SharedOutput => pass.len().max(1) as f64,
        };
        let deepest = self.deepest((beside / rate).round().max(1.0) as usize).bytes.as_f64() / outputs;
        let limit = self.switch.buffer.output_limit.map_or(f64::INFINITY, Bytes::as_f64);
        let beyond = deepest.min(limit) + SWING - SET_POINT;
        let weakness = (STRONG / beyond.max(1.0)).max(1.0);
        let halvings = flows * pass.iter().fold(1.0_f64, |a, p| a.min(*p)).recip().log2();
        let samples = (halvings * (weakness / 8.0).min(0.5)).max(10.0);
        samples * weakness * SAMPLE / rate
    }

    /// Bits that finish a link a second, in a network whose hot ports are slow or not, with a scheme whose reflectors wake so. PAUSE may
    /// keep all frames.
    fn bit_hops(
        &self,
        demand: &Demand,
        ways: &[Vec<Way>],
        (excess, kept): (Excess, bool),
        (slow, reflect): (bool, ReflectGate),
    ) -> f64 {
        let mut fluid = self.fluid(demand, ways, slow);
        let (hops, loads) = fluid.settle();
        if excess == Excess::Lost {
            return hops;
        }
        let (through, mut worst) = fluid.through();
        if excess == Excess::HeldBySource {
            let least = self.least_of_hashed(demand, ways, &fluid.trees, &loads);
            worst.iter_mut().for_each(|w| *w = w.min(least));
        }
        let held = fluid.held(&through, &worst, excess);
        // Until it is held back, it fills the memories on its way.
        let share = self.switch.buffer.share;
        let fill = self.switch.buffer.pause.map_or(share, |p| p.high.min(share));
        let links = hops / demand.bits.max(1.0);
        // Bytes that leave their source before feedback has come back to it.
        let unheard = demand.bits * self.hearing(links);
        let filling = (self.senders() * fill.as_f64() * 8.0 + unheard) * links / self.duration.as_secs_f64();
        let held = (held + filling).min(hops.max(held));
        if kept {
            return held;
        }
        let unheard = self.unheard_share(&fluid, reflect);
        hops.max(held) * unheard + held * (1.0 - unheard)
    }

    /// Share of the run in which all is lost without PAUSE, until the scheme has brought the fastest sender down.
    fn unheard_share(&self, fluid: &Fluid<'_>, reflect: ReflectGate) -> f64 {
        let Fluid { demand, ways, down, pass, pass_down, .. } = fluid;
        let hosts = || 0..self.hosts();
        let offered = hosts().map(|h| (h, self.offered_by(h).bps()));
        let fastest = offered.fold((0, 1.0), |a, b| if b.1 > a.1 { b } else { a });
        // Marks come to the receiver no faster than the slowest port serves.
        let served = hosts().filter(|h| pass_down[*h] < 1.0).map(|h| down[h]).fold(f64::INFINITY, f64::min);
        let marked = match reflect {
            ReflectGate::Marked if served < MARKS_IN_VAIN => f64::INFINITY,
            ReflectGate::Marked => MARKED / served,
            _ => 0.0,
        };
        let near = self.seat(fastest.0);
        let down = hosts().filter(|h| self.seat(*h) == near).map(|h| pass_down[h]);
        let up = near.iter().flat_map(|s| &ways[*s]).map(|w| pass[w.index]);
        let full: Vec<f64> = down.chain(up).filter(|p| *p < 1.0).collect();
        let unheard = self.unheard(fastest, demand.flows / self.senders().max(1.0), &full) + marked;
        (unheard / self.duration.as_secs_f64()).min(1.0)
    }

    /// The traffic of a network whose hot ports are slow or not, before any link has held some back.
    fn fluid<'a>(&self, demand: &'a Demand, ways: &'a [Vec<Way>], slow: bool) -> Fluid<'a> {
        let hosts = self.hosts();
        let mut down: Vec<f64> =
            (0..hosts).map(|h| self.wiring.access(h).map_or(0.0, |l| l.rate.bps())).collect();
        if slow {
            self.hotspots.iter().for_each(|h| down[h.host] = h.rate.bps());
        }
        let mut of_switch: Vec<Vec<usize>> = vec![Vec::new(); ways.len()];
        for (h, s) in (0..hosts).filter_map(|h| Some((h, self.seat(h)?))) {
            of_switch[s].push(h);
        }
        let all: Vec<usize> =
            (0..ways.len()).filter(|t| of_switch[*t].iter().any(|h| demand.to_host[*h] > 0.0)).collect();
        let step = all.len().div_ceil(FOLLOWED).max(1);
        let followed: Vec<usize> = all.iter().copied().step_by(step).collect();
        let scale = all.len() as f64 / followed.len().max(1) as f64;
        let mut towards: HashMap<usize, Vec<(usize, usize, f64)>> = HashMap::new();
        for (&(s, to), &rate) in demand.fixed.iter().collect::<std::collections::BTreeMap<_, _>>() {
            if let Some(t) = self.seat(to) {
                towards.entry(t).or_default().push((s, to, rate));
            }
        }
        let trees = followed.iter().map(|t| breadth(ways, *t)).collect();
        let (pass, pass_down) = (vec![1.0; 2 * self.wiring.links.len()], vec![1.0; hosts]);
        Fluid { demand, ways, down, of_switch, followed, scale, towards, trees, pass, pass_down }
    }

    /// Share of random flows over equal paths that gets through. A hash gives some link more than its share of flows, and with PAUSE
    /// alone this link holds back nearly everyone.
    #[allow(clippy::disallowed_methods)] // An estimate: no simulation reads it.
    fn least_of_hashed(&self, demand: &Demand, ways: &[Vec<Way>], trees: &[Tree], load: &[f64]) -> f64 {
        let choice = |(_, dist): &Tree| {
            ways.iter().enumerate().any(|(s, w)| w.iter().filter(|w| dist[w.to] + 1 == dist[s]).count() > 1)
        };
        let links = ways.iter().flatten().count().max(1) as f64;
        if self.topology.routing != Routing::FlowHash || !trees.iter().any(choice) {
            return 1.0;
        }
        let reached = |d: &&u32| **d != u32::MAX;
        let far: f64 = trees.iter().flat_map(|t| t.1.iter().filter(reached)).map(|d| f64::from(*d)).sum();
        let pairs: usize = trees.iter().map(|t| t.1.iter().filter(reached).count()).sum();
        let each = (demand.flows * far / pairs.max(1) as f64 / links).max(1.0);
        let uneven = 1.0 + (2.0 * links.ln() / each).sqrt();
        let fullest = ways.iter().flatten().map(|w| load[w.index] / w.rate).fold(0.0, f64::max);
        (1.0 / (fullest * uneven).max(1e-9)).min(1.0)
    }

    /// Share of the hops that fall within the run: a frame needs its time for every link of its path.
    fn arriving(&self, demand: &Demand, rate: f64, frame: f64) -> f64 {
        let links = self.wiring.links.len().max(1) as f64;
        let line = self.wiring.links.iter().map(|l| l.rate.bps()).sum::<f64>() / links;
        let delay = self.wiring.links.iter().map(|l| l.delay.as_secs_f64()).sum::<f64>() / links;
        let one = frame / line + delay + self.switch.processing.as_secs_f64();
        let whole = self.duration.as_secs_f64();
        let time = (whole - demand.begin).max(1e-12);
        let path = (rate / demand.bits.max(1.0)).round().clamp(1.0, 1000.0) as usize;
        // A hop counts as its frame leaves.
        (0..path).map(|i| (1.0 - (i as f64 * one + frame / line) / time).max(0.0)).sum::<f64>() / path as f64
    }

    /// Time from the first frame of a source until feedback over a path of this many links arrives, s; at most the run.
    fn hearing(&self, links: f64) -> f64 {
        let all = self.wiring.links.len().max(1) as f64;
        let delay = self.wiring.links.iter().map(|l| l.delay.as_secs_f64()).sum::<f64>() / all;
        (2.0 * links * (delay + self.switch.processing.as_secs_f64())).min(self.duration.as_secs_f64())
    }

    /// `travelling`: frames on links at a time; `telemetry`: frames carry some.
    fn cost(
        &self,
        demand: &Demand,
        data_hops: f64,
        messages: Messages,
        (travelling, telemetry): (f64, bool),
    ) -> Estimate {
        let packet_hops = data_hops + messages.hops;
        let (hosts, switches) = (self.hosts() as f64, self.wiring.switches.len() as f64);
        let ports: f64 = self.wiring.switches.iter().map(|s| f64::from(s.1)).sum();
        let linked = 2.0 * self.wiring.links.len() as f64 - hosts;
        let bins = self.duration.as_secs_f64() / self.record.bin.as_secs_f64().max(1e-12);
        let curves = if self.whole() { hosts.min(1024.0) } else { hosts };
        let changes: f64 = self.events.changes.len() as f64
            + self.hotspots.iter().map(|h| 2.0 * h.windows().len() as f64).sum::<f64>();
        let named =
            self.record.named.flows.len() + self.record.named.limiters.len() + self.record.named.ports.len();
        // A node is looked at once in a turn of the engine in which a frame is due there.
        let turn = self.hearing(1.0).max(1e-9);
        let visits = (self.duration.as_secs_f64() / turn * (hosts + switches)).min(2.0 * packet_hops);
        // Frames that their source makes and finds no room for: each goes over two links at least.
        let made = demand.frames * self.duration.as_secs_f64();
        let held_back = (made - data_hops / 2.0).max(0.0);
        // A map has four values of each port, and a queue's series four more.
        let map = if self.record.map { 8.0 * linked } else { 0.0 };
        let series = bins * ((6 + named) as f64 + map);
        // Nodes that do not fit the cache make a hop dearer.
        let hop = 5e-8 * (1.0 + ((hosts + switches) / 1000.0).min(2.0));
        let with_pairs = if telemetry { WITH_TELEMETRY } else { WITH_PAIRS };
        let hop = if self.has_queue_pairs() { with_pairs } else { hop };
        let hop = if self.classes.list.len() > 1 { hop * OF_CLASSES } else { hop };
        let seconds = 0.01
            + packet_hops * hop
            + visits * 1.4e-7
            + held_back * 3e-8
            + messages.made * 7e-7
            + series * 4e-7
            + hosts * 1.5e-5
            + ports * 1.2e-6
            + switches * switches * 8e-8
            + bins * (1.5e-7 + curves * 1.8e-8)
            + changes * 2e-6
            + demand.transfers * 3e-6;
        let latency = if self.record.latency { hosts * 4e3 } else { 0.0 };
        // Frames of queue pairs wait in no queue of their host.
        let waiting = if self.has_queue_pairs() { 0.0 } else { hosts }
            * f64::from(self.host.fifo + self.host.backlog)
                .min(demand.frames * self.duration.as_secs_f64() / hosts)
            * 4.0;
        // Bytes of a queue pair, and of its source if frames are acknowledged.
        let of_pair = self.pairs.map_or(0.0, |p| if p.spec.ack_every > 0 { 700.0 } else { 130.0 });
        let memory = 16e6
            + hosts * 3e3
            + ports * 740.0
            + linked * 600.0
            + switches * switches * 2.0
            + bins * (80.0 + curves * 8.0)
            + series * 8.0
            + changes * 150.0
            + demand.transfers * (500.0 + of_pair)
            + latency
            + waiting
            + travelling * TRAVELLING
            + messages.waiting;
        let kept = 12e3 + hosts * 400.0 + series * 8.0 + demand.transfers * 100.0;
        Estimate { packet_hops, seconds, memory, kept }
    }
}
