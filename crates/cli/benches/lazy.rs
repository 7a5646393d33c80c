//! The windowed engine beside a lazy event list, on networks whose windows hold many frames and few.
//! This file is long because it is a whole engine, kept apart from the product.
//!
//! `cargo bench -p cnsim-cli --bench lazy [-- CASE...]`: each case runs in a process of its own, the two engines in
//! turns; the table has medians of CPU time and, where `perf stat` works, instructions per packet-hop, without those of
//! reading the scenario. Ratios above 1: the windowed engine is slower.
//!
//! The opponent is as good as we know how to make an event list: one event per hop, as a departure is fixed when a
//! frame is stored (`end = max(now, free) + tx`); a tournament tree with a leaf for each link, 64-bit keys of (time,
//! receiving port), the frame left in the link's ring; no allocation on the way. Sources, random draws, routes and
//! transmission times are the product's own files, so that both do the same work, and the order-sensitive checksum of all
//! deliveries must be the same in both, or the case fails. What it leaves out favours it: PAUSE, control, schemes, limit and
//! occupancy of memory (but in `mixed`, where frames are dropped), limit of a host's queue, latency, conservation, recording.
//!
//! A second variant, `model`, keeps the books that the model asks of every run, as the engine does: occupancy of each cell of a
//! switch's memory with its departures, its limit and the watermark of PAUSE, queue lengths and the longest, bytes to the
//! next sample, frames and bits sent, the limit of a host's queue, latency (sum and largest), and the sums of
//! conservation. They must be equal to the engine's. What the cases never do (PAUSE, control, schemes) it only tests for.
#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[path = "../../fabric/src/check/sums.rs"]
#[allow(dead_code)]
mod check;
#[path = "../../fabric/src/flows.rs"]
#[allow(dead_code, unused_imports)]
mod flows;
#[path = "../../fabric/src/fast/frame.rs"]
#[allow(dead_code, unused_imports)]
mod frame;
#[path = "../../fabric/src/net.rs"]
#[allow(dead_code, unused_imports)]
mod net;
#[path = "../../fabric/src/fast/source.rs"]
#[allow(dead_code, unused_imports)]
mod source;
#[path = "../../fabric/src/tx_rate.rs"]
#[allow(dead_code)]
mod tx_rate;
/// Where the files above look for each other.
mod fast {
    pub(crate) use crate::frame;
}

use check::{Hash, mix};
#[allow(unused_imports)]
use cnsim_fabric as outcome;
use cnsim_fabric as spec;
use cnsim_fabric::{Organisation, RunError, RunSpec};
use frame::NEVER;
use net::Net;
use prefetch_index as _;
use source::Source;
use std::process::Command;
use tx_rate::TxRate;

/// Name, row of `cnsim bench`, settings over the row's own.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What tells a data frame from all others, for the sums of conservation.
fn identity(src: u32, dst: u32, seq: u32) -> u64 {
    mix(u64::from(src) | u64::from(dst) << 16 | u64::from(seq) << 32)
}

const DURATION: &str = "run.duration";
const LOAD: &str = "workload.load";
const SHORT: (&str, &str) = ("topology.link_delay", "100 ns");
const LONG: (&str, &str) = ("workload.frame", "9000 B");
/// Memory in which long frames cause no XOFF.
const ROOM: [(&str, &str); 3] = [("switch.share", "1 MB"), ("pause.high", "800 KB"), ("pause.low", "700 KB")];

const CASES: &[Case] = &[
    ("small", "small", &[(DURATION, "20 ms")]),
    ("sparse", "sparse", &[(DURATION, "4 s")]),
    ("mixed", "mixed", &[(DURATION, "3 ms")]),
    ("w1", "w1", &[(DURATION, "400 ms")]),
    ("w1, 100 ns", "w1-short", &[(DURATION, "400 ms"), SHORT]),
    ("w1, 1 %", "w1", &[(DURATION, "10 s"), (LOAD, "1 %")]),
    ("w2", "w2", &[(DURATION, "20 ms")]),
    ("w2, 60 %", "w2", &[(DURATION, "30 ms"), (LOAD, "60 %")]),
    ("w2, 30 %", "w2", &[(DURATION, "60 ms"), (LOAD, "30 %")]),
    ("w2, 10 %", "w2", &[(DURATION, "120 ms"), (LOAD, "10 %")]),
    ("w2, 5 %", "w2", &[(DURATION, "200 ms"), (LOAD, "5 %")]),
    ("w2, 1 %", "w2", &[(DURATION, "800 ms"), (LOAD, "1 %")]),
    ("w2, 500 ns", "w2-short", &[(DURATION, "20 ms")]),
    ("w2, 100 ns", "w2-short", &[(DURATION, "20 ms"), SHORT]),
    ("w2, 100 ns, 10 %", "w2-short", &[(DURATION, "120 ms"), SHORT, (LOAD, "10 %")]),
    ("w2, 9000 B", "w2", &[(DURATION, "100 ms"), LONG, ROOM[0], ROOM[1], ROOM[2]]),
    ("w2, 9000 B, 10 %", "w2", &[(DURATION, "600 ms"), LONG, (LOAD, "10 %"), ROOM[0], ROOM[1], ROOM[2]]),
    ("t1024, 5 %", "t1024", &[(DURATION, "10 ms"), (LOAD, "5 %")]),
];

/// What an opponent keeps: nothing but what it needs for the deliveries, or the books of the model as well.
trait Books: Copy + Default {
    const KEPT: bool;
    /// Of a frame made at a time, and that time.
    fn born(at: u64) -> Self;
    fn at(self) -> u64;
}

/// No books: frames do not know when they were made.
#[derive(Clone, Copy, Default)]
struct Bare;

impl Books for Bare {
    const KEPT: bool = false;
    fn born(_: u64) -> Self {
        Self
    }
    fn at(self) -> u64 {
        0
    }
}

/// The model's books.
#[derive(Clone, Copy, Default)]
struct Model(u64);

impl Books for Model {
    const KEPT: bool = true;
    fn born(at: u64) -> Self {
        Self(at)
    }
    fn at(self) -> u64 {
        self.0
    }
}

/// A frame on its way or in a queue; the time is that of its arrival at the far end.
#[derive(Clone, Copy, Default)]
struct Entry<B> {
    born: B,
    at: u64,
    flow: u32,
    dst: u32,
    seq: u32,
    len: u16,
    input: u16,
}

/// One direction of a link, with the queue before it: entries from `head` to `tail` in a ring of a power of two.
struct Link<B> {
    ring: Box<[Entry<B>]>,
    head: usize,
    tail: usize,
    /// First entry whose memory is not yet free (only where memory is limited).
    stored: usize,
    free: u64,
    delay: u64,
    tx: TxRate,
    /// Receiving node, and its port.
    node: u32,
    input: u16,
    /// First cell of the sending port.
    row: u32,
    /// Books of the queue: bytes in it and most of them, bytes to the next sample, frames and bytes sent.
    queued: u64,
    queue_max: u64,
    countdown: i64,
    sent: u64,
    left: u64,
}

impl<B: Books> Link<B> {
    /// The first frame whose memory is not free leaves it.
    #[inline]
    fn leave(&mut self, cells: &mut [u32]) {
        let e = self.ring[self.stored & (self.ring.len() - 1)];
        cells[self.row as usize + usize::from(e.input)] -= u32::from(e.len);
        self.stored += 1;
        if B::KEPT {
            self.queued -= u64::from(e.len);
            self.left += u64::from(e.len);
            self.sent += 1;
        }
    }
    #[inline]
    fn push(&mut self, e: Entry<B>) {
        if self.tail - self.head.min(self.stored) == self.ring.len() {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[self.tail & mask] = e;
        self.tail += 1;
    }
    #[cold]
    fn grow(&mut self) {
        let (old, first) = (self.ring.len(), self.head.min(self.stored));
        let mut more = vec![Entry::default(); old * 2].into_boxed_slice();
        for i in first..self.tail {
            more[i & (old * 2 - 1)] = self.ring[i & (old - 1)];
        }
        self.ring = more;
    }
    #[inline]
    fn first(&self) -> u64 {
        if self.head == self.tail { NEVER } else { self.ring[self.head & (self.ring.len() - 1)].at }
    }
}

/// A tournament over keys: the least is at the top, and a leaf's change costs one walk upwards.
struct Tournament {
    nodes: Vec<u64>,
    leaves: usize,
}

impl Tournament {
    #[inline]
    fn set(&mut self, leaf: usize, key: u64) {
        let mut at = leaf + self.leaves;
        let nodes = &mut self.nodes[..];
        nodes[at] = key;
        let mut least = key;
        while at > 1 {
            least = least.min(nodes[at ^ 1]);
            at >>= 1;
            nodes[at] = least;
        }
    }
}

#[derive(Default)]
struct Sink {
    delivered: u64,
    bits: u64,
    hash: Hash,
    latency_sum: u64,
    latency_max: u64,
    last: u64,
    /// Identities of frames made and got.
    made: u64,
    got: u64,
}

struct Lazy<B> {
    net: Net,
    links: Vec<Link<B>>,
    /// Per switch: number of its first port among the outputs, and its turns.
    switches: Vec<(usize, Vec<u8>)>,
    /// Per output port of a switch: its link.
    outputs: Vec<u32>,
    sources: Vec<(Source, u32)>,
    /// Per host: its uplink.
    sinks: Vec<Sink>,
    tree: Tournament,
    bits: u32,
    /// Memory of the switches: a cell for each pair of ports, and the limit of one.
    cells: Vec<u32>,
    limit: u32,
    /// Watermark above which a cell asks for PAUSE, and the limit of a host's queue in frames.
    high: u32,
    fifo: u64,
    dropped: u64,
}

impl<B: Books> Lazy<B> {
    fn new(spec: &RunSpec) -> Self {
        let net = Net::build(spec).expect("a network that can be built");
        let hosts = net.hosts as usize;
        let node = |port: u32| net.ports.partition_point(|&p| p <= port) - 1;
        // A link has the number of its receiving port, less those that have none.
        let receiving: Vec<u32> =
            (0..net.links.len() as u32).filter(|&p| net.links[p as usize].is_some()).collect();
        let number = |port: u32| receiving.binary_search(&port).expect("a linked port") as u32;
        let mut cells = 0;
        let rows: Vec<u32> = (0..net.links.len() as u32)
            .map(|p| {
                let n = node(p);
                let row = cells;
                cells += net.ports[n + 1] - net.ports[n];
                row
            })
            .collect();
        let links: Vec<Link<B>> = receiving
            .iter()
            .map(|&p| {
                // The sender is the peer of the receiver.
                let from = net.links[p as usize].expect("linked").peer;
                let link = net.links[from as usize].expect("linked");
                Link {
                    ring: vec![Entry::default(); 8].into_boxed_slice(),
                    head: 0,
                    tail: 0,
                    stored: 0,
                    free: 0,
                    delay: link.delay,
                    tx: link.tx,
                    node: node(p) as u32,
                    input: (p - net.ports[node(p)]) as u16,
                    row: rows[from as usize],
                    queued: 0,
                    queue_max: 0,
                    countdown: i64::MAX / 2,
                    sent: 0,
                    left: 0,
                }
            })
            .collect();
        let outputs: Vec<u32> = net.links.iter().map(|l| l.map_or(u32::MAX, |l| number(l.peer))).collect();
        let turns = if net.round_robin() { hosts } else { 0 };
        let switches = (0..net.switches()).map(|s| (net.ports[hosts + s] as usize, vec![0; turns])).collect();
        let sources = (spec.hosts.iter().enumerate())
            .map(|(h, s)| {
                assert_eq!(s.sources.len(), 1, "one source a host");
                let line = net.links[net.ports[h] as usize].expect("linked").tx;
                let source = Source::new(
                    &s.sources[0],
                    h as u32,
                    0,
                    &net.flows,
                    net.hosts,
                    line,
                    net.seed,
                    net.duration,
                );
                assert!(!source.greedy, "a source that is never held back");
                (source, 0)
            })
            .collect();
        let leaves = links.len().next_power_of_two();
        let share = spec.switches[0].buffer.share.get() as u32;
        assert_eq!(spec.switches[0].buffer.organisation, Organisation::Crosspoint);
        let bits = leaves.trailing_zeros();
        assert!(net.duration < 1 << (63 - bits), "times fit the keys");
        Self {
            links,
            switches,
            outputs,
            sources,
            sinks: (0..hosts).map(|_| Sink::default()).collect(),
            tree: Tournament { nodes: vec![NEVER; 2 * leaves], leaves },
            bits,
            cells: vec![0; cells as usize],
            limit: share,
            high: spec.switches[0].buffer.pause.map_or(u32::MAX, |p| p.high.get() as u32),
            fifo: u64::from(spec.hosts[0].fifo_frames),
            dropped: 0,
            net,
        }
    }

    /// Puts the next frame of a host on its uplink: nothing holds a source back, so one ahead is enough.
    #[inline]
    fn draw(&mut self, host: usize, l: usize) {
        let (source, seq) = &mut self.sources[host];
        let slot = source.next;
        if slot == NEVER {
            return;
        }
        let (dst, len) = (source.frame(), source.len);
        let link = &mut self.links[l];
        let time = link.tx.time(len);
        if B::KEPT {
            // What waits at the host, one more would be lost of.
            assert!(link.free < slot + self.fifo * time, "a host's queue is never full");
        }
        link.free = slot.max(link.free) + time;
        let flow = host as u32 * self.net.hosts + dst;
        let at = link.free + link.delay;
        link.push(Entry { born: B::born(slot), at, flow, dst, seq: *seq, len, input: 0 });
        if B::KEPT && slot < self.net.duration {
            let sink = &mut self.sinks[host];
            sink.made = sink.made.wrapping_add(identity(host as u32, dst, *seq));
        }
        *seq += 1;
    }

    #[inline]
    fn settle(&mut self, l: usize) {
        let first = self.links[l].first();
        // A link without a frame is never due.
        let key = if first == NEVER { NEVER } else { first << self.bits | l as u64 };
        self.tree.set(l, key);
    }

    fn run<const LIMITED: bool>(&mut self) {
        let hosts = self.net.hosts as usize;
        for h in 0..hosts {
            let up = self.outputs[self.net.ports[h] as usize] as usize;
            self.draw(h, up);
            self.settle(up);
        }
        loop {
            let key = self.tree.nodes[1];
            let now = key >> self.bits;
            if now >= self.net.duration {
                return;
            }
            let l = (key & ((1 << self.bits) - 1)) as usize;
            let link = &mut self.links[l];
            let e = link.ring[link.head & (link.ring.len() - 1)];
            if LIMITED && link.stored == link.head {
                link.leave(&mut self.cells);
            }
            link.head += 1;
            if !LIMITED {
                link.stored = link.head;
            }
            let (node, input) = (link.node as usize, link.input);
            if node < hosts {
                let sink = &mut self.sinks[node];
                sink.delivered += 1;
                sink.bits += u64::from(e.len) * 8;
                sink.hash.add(now, (u64::from(e.flow) << 32) | u64::from(e.seq));
                if B::KEPT {
                    let latency = now - e.born.at();
                    sink.latency_sum += latency;
                    sink.latency_max = sink.latency_max.max(latency);
                    sink.last = now;
                    let src = e.flow / self.net.hosts;
                    sink.got = sink.got.wrapping_add(identity(src, e.dst, e.seq));
                }
                self.settle(l);
                continue;
            }
            let s = node - hosts;
            // The frames of an uplink have input 0 and no cell of a switch; they are never limited.
            let from = e.flow / self.net.hosts;
            if self.outputs[self.net.ports[from as usize] as usize] as usize == l {
                self.draw(from as usize, l);
            }
            self.settle(l);
            let (base, turn) = &mut self.switches[s];
            let out = self.net.choose(s, e.dst, e.flow, e.seq, turn);
            let o = self.outputs[*base + usize::from(out)] as usize;
            let link = &mut self.links[o];
            if LIMITED {
                while link.stored != link.tail {
                    let first = link.ring[link.stored & (link.ring.len() - 1)];
                    if first.at - link.delay > now {
                        break;
                    }
                    link.leave(&mut self.cells);
                }
                let cell = &mut self.cells[link.row as usize + usize::from(input)];
                if *cell + u32::from(e.len) > self.limit {
                    self.dropped += 1;
                    continue;
                }
                *cell += u32::from(e.len);
                if B::KEPT {
                    assert!(*cell <= self.high, "a PAUSE would be needed");
                    link.queued += u64::from(e.len);
                    link.queue_max = link.queue_max.max(link.queued);
                    link.countdown -= i64::from(e.len);
                    assert!(link.countdown > 0, "a sample would be due");
                }
            }
            link.free = now.max(link.free) + link.tx.time(e.len);
            let at = link.free + link.delay;
            let idle = link.head == link.tail;
            link.push(Entry { at, input, ..e });
            if idle {
                self.tree.set(o, at << self.bits | o as u64);
            }
        }
    }
}

impl Lazy<Model> {
    /// Checks conservation, and gives the books: latency of each host; frames sent and longest queue of each port.
    fn close(&mut self) -> Vec<u64> {
        let hosts = self.net.hosts as usize;
        let (mut made, mut got) = (0u64, 0u64);
        for s in &self.sinks {
            (made, got) = (made.wrapping_add(s.made), got.wrapping_add(s.got));
        }
        for link in &mut self.links {
            let mask = link.ring.len() - 1;
            for i in link.head..link.tail {
                let e = link.ring[i & mask];
                if e.born.at() < self.net.duration {
                    got = got.wrapping_add(identity(e.flow / self.net.hosts, e.dst, e.seq));
                }
            }
            let end = self.net.duration + link.delay;
            while link.stored != link.tail && link.ring[link.stored & mask].at < end {
                link.leave(&mut self.cells);
            }
        }
        assert!(self.dropped > 0 || made == got, "frames are conserved");
        let latency = self.sinks.iter().flat_map(|s| [s.latency_sum, s.latency_max]);
        let ports = self.net.ports[hosts] as usize..self.outputs.len();
        let queues = self.outputs[ports]
            .iter()
            .flat_map(|&l| self.links.get(l as usize).map_or([0, 0], |link| [link.sent, link.queue_max]));
        latency.chain(queues).collect()
    }
}

/// Nanoseconds of CPU of this thread so far.
fn cpu() -> u64 {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    text.split(' ').next().and_then(|t| t.parse().ok()).expect("a number")
}

fn find(name: &str) -> RunSpec {
    let case = CASES.iter().find(|c| c.0 == name).expect("a case");
    cnsim_cli::bench_row(case.1, case.2).expect("a row")
}

/// One run in this process: CPU ns, packet-hops (the windowed engine's), a checksum of deliveries.
fn child(name: &str, engine: &str) {
    let spec = find(name);
    let before = cpu();
    match engine {
        "windowed" | "all" | "due" => {
            let visits = match engine {
                "all" => spec::Visits::All,
                "due" => spec::Visits::Due,
                _ => spec::Visits::Adaptive,
            };
            let options = spec::Options { threads: 1, visits, ..spec::Options::default() };
            let out = cnsim_fabric::run(&spec, &options).expect("a run");
            let took = cpu() - before;
            let xoffs: u64 = out.switches.iter().flat_map(|s| &s.ports).map(|p| p.xoffs).sum();
            let discards: u64 = out.hosts.iter().map(|h| h.source_discards).sum();
            assert_eq!((xoffs, discards), (0, 0), "what the opponent lacks has happened: no comparison");
            let sum: Vec<u64> = out.hosts.iter().flat_map(|h| [h.delivered, h.delivered_bits]).collect();
            let latency = out.hosts.iter().flat_map(|h| [h.latency_sum.as_ps(), h.latency_max.as_ps()]);
            let ports = out.switches.iter().flat_map(|s| &s.ports);
            let books: Vec<u64> = latency.chain(ports.flat_map(|p| [p.sent, p.queue_max])).collect();
            let (frames, books) = (out.fingerprint.frames, fold(&books));
            println!("{took} {} {frames:016x} {} {books}", out.packet_hops, fold(&sum));
        }
        "model" => {
            let mut lazy = Lazy::<Model>::new(&spec);
            lazy.run::<true>();
            let took = cpu() - before;
            let mut all = Hash::default();
            lazy.sinks.iter().for_each(|s| all.add(s.hash.0, 2));
            let sum: Vec<u64> = lazy.sinks.iter().flat_map(|s| [s.delivered, s.bits]).collect();
            println!("{took} 0 {:016x} {} {}", all.0, fold(&sum), fold(&lazy.close()));
        }
        "lazy" => {
            let mut lazy = Lazy::<Bare>::new(&spec);
            if name == "mixed" {
                lazy.run::<true>()
            } else {
                lazy.run::<false>()
            };
            let took = cpu() - before;
            let mut all = Hash::default();
            lazy.sinks.iter().for_each(|s| all.add(s.hash.0, 2));
            let sum: Vec<u64> = lazy.sinks.iter().flat_map(|s| [s.delivered, s.bits]).collect();
            println!("{took} 0 {:016x} {}", all.0, fold(&sum));
        }
        _ => println!("0 0 0 0"),
    }
}

fn fold(values: &[u64]) -> u64 {
    values.iter().fold(0, |a, &v| a.wrapping_mul(0x100_0000_01B3) ^ v)
}

/// A child's words, and its instructions if `perf stat` works here.
fn run_child(name: &str, engine: &str, counting: bool) -> (Vec<String>, f64) {
    let me = std::env::current_exe().expect("this program");
    let mut command = if counting { Command::new("perf") } else { Command::new(&me) };
    if counting {
        command.args(["stat", "-x,", "-e", "instructions:u"]).arg(&me);
    }
    let out = command.args(["--child", name, engine]).output().expect("a child");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{name}, {engine}: {said}");
    let count =
        said.lines().find(|l| l.contains("instructions")).and_then(|l| l.split(',').next()?.parse().ok());
    let words = String::from_utf8_lossy(&out.stdout).split_whitespace().map(str::to_string).collect();
    (words, count.unwrap_or(0.0))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, name, engine] = &args[..]
        && flag == "--child"
    {
        return child(name, engine);
    }
    let counting = Command::new("perf").args(["stat", "-x,", "-e", "instructions:u", "true"]).output();
    let counting = counting.is_ok_and(|o| o.status.success());
    println!("ns and instructions per packet-hop; the ratio is to the event list of the same model");
    println!(
        "{:18} {:>9} | {:>8} {:>8} {:>8} {:>6} | {:>8} {:>8} {:>8} {:>6}",
        "case", "hops", "ns", "bare", "model", "ratio", "instr.", "bare", "model", "ratio"
    );
    let mut differs = 0;
    for (name, ..) in CASES.iter().filter(|c| args.is_empty() || args.iter().any(|a| a == c.0)) {
        let engines = ["windowed", "lazy", "model"];
        let (mut times, mut counts) = ([const { Vec::new() }; 3], [0.0; 3]);
        let mut hops = 0.0;
        for _ in 0..5 {
            let said: Vec<(Vec<String>, f64)> =
                engines.iter().map(|e| run_child(name, e, counting)).collect();
            let windowed = &said[0].0;
            hops = windowed[1].parse().expect("hops");
            for (i, (words, count)) in said.iter().enumerate() {
                times[i].push(words[0].parse::<f64>().expect("ns") / hops);
                counts[i] = *count;
                if words[2..] != windowed[2..words.len()] {
                    differs += 1;
                    println!("{name}, {}: differs: {:?} {:?}", engines[i], &words[2..], &windowed[2..]);
                }
            }
        }
        let none = run_child(name, "neither", counting).1;
        let [w, l, m] = times.map(median);
        let [wi, li, mi] = counts.map(|c| (c - none) / hops);
        println!(
            "{name:18} {hops:9} | {w:8.1} {l:8.1} {m:8.1} {:6.2} | {wi:8.0} {li:8.0} {mi:8.0} {:6.2}",
            w / m,
            wi / mi
        );
    }
    assert_eq!(differs, 0, "the engines must deliver the same");
}
