//! A second textbook, of queue pairs: hosts that send finite flows, links that lose frames, switches that drop them, and what go-back-N,
//! selective repeat and TCP make of it. Its links and switches are those of the first textbook. Its hosts share nothing with the crate but
//! the words of a question ([`RunSpec`]) and of an answer ([`Outcome`]), and were written from the documents before their author read the
//! model's queue pairs. Both engines agree with it frame by frame on 300 random networks, or on `CNSIM_NETWORKS` others from seed
//! `CNSIM_SEED` on.
//!
//! Where textbook and model first differed, the RFCs decided. In these points they are silent, and the textbook follows the model. A frame
//! that came out of order and acknowledges nothing new echoes its own start. The time of a gap begins anew as its first frame comes.
//! Selective repeat counts all that is not acknowledged for `few`. By go-back-N the timeout runs from the last acknowledgement on, and
//! a NACK sends nothing again where all has begun anew.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[path = "../textbook/book.rs"]
mod book;
#[path = "../common/mod.rs"]
mod common;
mod ends;
mod hosts;
mod rack;
mod reno;

use book::Textbook;
use cnsim_fabric::*;
use cnsim_scheme_api::*;
use common::random::Draws;
use common::script::Notes;
use hosts::Drill;
use reno::Reno;
use std::sync::Arc;

/// Counters of a host's queue pairs, or of one.
fn counts(o: &TransportOutcome) -> [u64; 7] {
    [o.acks, o.acked, o.resent, o.resent_bytes, o.nacks, o.timeouts, o.recoveries]
}

/// All that textbook and program are to agree on: what happened, when flows were whole, what hosts counted, and what links lost.
fn summary(out: &Outcome, hosts: &[[u64; 7]], mut log: Vec<(Time, String)>) -> String {
    log.sort_unstable();
    let log: String = log.iter().map(|(at, what)| format!("{} ps: {what}\n", at.as_ps())).collect();
    let whole = (0_u32..).zip(&out.hosts).flat_map(|(to, h)| {
        h.transfers.completions.iter().map(move |c| ((c.src.0, to), c.end, c.acknowledged))
    });
    let mut whole: Vec<_> = whole.collect();
    whole.sort_unstable();
    let names = "acks, acked, resent, bytes, NACKs, timeouts, recoveries";
    format!("{log}whole {whole:?}\n{names} {hosts:?}\nlost {:?}", out.lost_on_links)
}

/// Windows by [`Reno`], and notes of all that the network says.
#[derive(Clone, Debug)]
struct Watch {
    notes: Notes,
    begin: Option<u64>,
    marks: Option<u64>,
}

#[derive(Debug)]
struct Watched {
    notes: Notes,
    name: String,
    frame: u64,
    reno: Reno,
}

impl Scheme for Watch {
    fn name(&self) -> &str {
        "watch"
    }
    fn plan(&self) -> Plan {
        Plan {
            built: Built::FirstFrame,
            limiter_scope: Scope::Flow,
            acks: Acks::Needed,
            reflect: ReflectGate::Always,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let k = self.marks.filter(|_| site.attached)?;
        Some(Box::new(Marks(Bytes::new(k))))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let (notes, frame) = (self.notes.clone(), site.mtu.get());
        let name = format!("{} to {}", site.src.0, site.dst.0);
        Some(Box::new(Watched { notes, name, frame, reno: Reno::new(frame, self.begin?) }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(self.clone()))
    }
}

#[derive(Debug)]
struct Marks(Bytes);

impl CongestionPoint for Marks {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.mark(Ramp::step(self.0));
    }
}

impl Reflector for Watch {
    fn on_frame(&mut self, f: &FrameView, ctl: &mut ReflectorControl<'_>) {
        self.notes.say(ctl.now(), format!("{} to {}: {} B", f.src.0, f.dst.0, f.len.get()));
    }
}

impl Watched {
    fn say(&self, now: Time, what: String) {
        self.notes.say(now, format!("{} {what}", self.name));
    }
}

impl ReactionPoint for Watched {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_on_acks(AckGate::EACH);
        limiter.set_window(Bytes::new(self.reno.window));
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        if ack.newly > Bytes::ZERO || ack.marked {
            let (acked, newly) = (ack.acked.get(), ack.newly.get());
            self.say(limiter.now(), format!("acked {acked} more {newly} marked {}", ack.marked));
            let now = (limiter.outstanding().get(), limiter.next_seq().get());
            self.reno.ack(self.frame, (acked, newly), ack.marked, now);
            limiter.set_window(Bytes::new(self.reno.window));
        }
    }
    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        let (timeout, at) = (loss == Loss::Timeout, (limiter.acked().get(), limiter.next_seq().get()));
        self.say(limiter.now(), format!("timeout: {timeout}"));
        self.reno.loss(self.frame, timeout, limiter.outstanding().get(), at);
        limiter.set_window(Bytes::new(self.reno.window));
    }
}

fn up_to(d: &mut Draws, menu: &[u64]) -> u64 {
    let most = d.one(menu);
    1 + d.below(most)
}

fn reliability(d: &mut Draws, seed: u64) -> Reliability {
    let recovery = match seed % 5 {
        0 => return d.go_back_n(),
        1 => return d.selective(),
        2 => Recovery::NewReno,
        3 => Recovery::Sack,
        _ => Recovery::Rack,
    };
    let probe = recovery == Recovery::Rack && d.once_in(2);
    let (handshake, proportional) = (d.once_in(4), recovery != Recovery::NewReno && d.once_in(2));
    match d.tcp(recovery, probe) {
        Reliability::Tcp(tcp) => Reliability::Tcp(TcpSpec { handshake, proportional, ..tcp }),
        other => other,
    }
}

/// Hosts at one switch or two, which parallel links of unlike length may join, so that frames overtake others.
fn scenario(seed: u64) -> (RunSpec, Option<u64>, Option<u64>) {
    let d = &mut Draws::new(seed, 60);
    let (hosts, switches) = (2 + d.below(3) as usize, 1 + d.below(2) as usize);
    let mut spec = common::single_switch(hosts, 0.0, false, Time::from_us(300 + d.below(1200)), seed);
    spec.routing = Routing::RoundRobin;
    spec.switches[0].buffer.share = Bytes::new(1500 * d.one(&[2, 4, 10, 100]));
    spec.switches = vec![spec.switches[0].clone(); switches];
    let mut joints: Vec<(usize, usize)> = (0..hosts).map(|h| (h, hosts + h % switches)).collect();
    if switches > 1 {
        (0..=d.below(3)).for_each(|_| joints.push((hosts, hosts + 1)));
    }
    common::place(&mut spec, &joints, &mut || {
        (d.one(&[10.0, 10.0, 3.0, 40.0]), 500_000 + d.below(2_000_000))
    });
    let reliability = reliability(d, seed);
    let by_tcp = matches!(reliability, Reliability::Tcp(_));
    let begin = (by_tcp && d.once_in(2)).then(|| d.one(&[1, 2, 10]));
    let mut transport = TransportSpec {
        reliability,
        ack_every: d.one(&[1, 1, 2, 3]),
        ack_class: d.one(&[Class::Data, Class::Data, Class::Control]),
        ..common::TRANSPORT
    };
    if begin.is_none() {
        transport.window = Window::Fixed(Bytes::new(1500 * d.one(&[1, 4, 8, 20, 100])));
    }
    spec.transport = Some(transport);
    for h in 0..hosts {
        let to = |k: u64| NodeId(((h as u64 + 1 + k) % hosts as u64) as u32);
        let most = if d.once_in(3) { 0 } else { 1 + d.below(hosts as u64 - 1) };
        let flow = |k| Transfer {
            start: Time::from_ps(d.below(20_000_000)),
            dst: to(k),
            bytes: Bytes::new(up_to(d, &[1500, 15_000, 60_000, 150_000])),
        };
        let flows = (0..most).map(flow).collect();
        spec.hosts[h].sources = vec![common::flows(flows)];
        spec.hosts[h].sources[0].floor = Bytes::ZERO;
    }
    let ends: Vec<_> = spec.links.iter().flat_map(|l| [l.a, l.b]).collect();
    let pairs: Vec<_> = (0..)
        .zip(&spec.hosts)
        .flat_map(|(h, s)| s.sources[0].transfers.iter().map(move |t| (NodeId(h), t.dst)))
        .collect();
    for (node, port) in ends {
        if d.once_in(3) && !pairs.is_empty() {
            let lost = |_| LostFrame {
                flow: d.one(&pairs),
                number: None,
                acknowledgement: d.once_in(3),
                nth: up_to(d, &[4, 12, 40]),
            };
            let kind = LossKind::Listed((0..8).map(lost).collect());
            let loss = LinkLoss { node, port, from: Time::ZERO, to: Time::MAX, kind };
            spec.events.losses.push(loss);
        } else if d.once_in(6) {
            let from = d.below(200_000_000);
            let (from, to) = (Time::from_ps(from), Time::from_ps(from + 1 + d.below(40_000_000)));
            spec.events.losses.push(LinkLoss { node, port, from, to, kind: LossKind::Drawn(1.0) });
        }
    }
    let marks = d.one(&[None, Some(1500), Some(1500), Some(6000)]);
    (spec, begin, marks)
}

#[test]
fn both_engines_agree_with_the_second_textbook() {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 300));
    let mut seen = [0; 5];
    for seed in first..first + count {
        let (mut spec, begin, marks) = scenario(seed);
        let notes = Notes::default();
        common::with_scheme(&mut spec, Arc::new(Watch { notes: notes.clone(), begin, marks }));
        let book = Textbook::run(&spec, Drill { begin, marks, ..Drill::default() });
        let mut sums = vec![[0; 7]; spec.hosts.len()];
        for f in &book.drill.flows {
            sums[f.ends.0].iter_mut().zip(counts(&f.source.out)).for_each(|(sum, n)| *sum += n);
        }
        let of = |i: usize| sums.iter().any(|s| s[i] > 0);
        let whole = book.drill.flows.iter().all(|f| f.source.una == f.source.n);
        let classic = spec.transport.as_ref().is_some_and(ends::is_classic);
        let echoes = classic && book.drill.flows.iter().any(|f| f.source.heard_mark);
        let now = [of(2), of(5), of(6), whole, echoes];
        seen.iter_mut().zip(now).for_each(|(n, is)| *n += u64::from(is));
        let book = summary(&book.out, &sums, book.log);
        for engine in common::BOTH {
            notes.take();
            let out = common::by(engine, &spec);
            let sums: Vec<_> = out.hosts.iter().map(|h| counts(&h.transport)).collect();
            let program = summary(&out, &sums, notes.take());
            let differ: Vec<_> = program.lines().zip(book.lines()).filter(|(a, b)| a != b).take(4).collect();
            assert!(program == book, "seed {seed}, {engine:?}, textbook: {differ:#?}\n{:?}", spec.transport);
        }
    }
    let often = seen[..4].iter().all(|n| *n >= count / 8) && seen[4] >= count / 20;
    assert!(
        often || count < 5 * common::ENOUGH,
        "{count} networks; resent, timeouts, recoveries, whole, cuts by an echo: {seen:?}"
    );
}
