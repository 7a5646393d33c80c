//! B07: ECM and QCN on the CN-SIM benchmarks.

use super::Paper;
use crate::claims::{Claim, Evidence, Parts, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use cnsim_scheme_api::Rate;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "B07",
    title: "ECM and QCN on the CN-SIM benchmarks",
    citation: "D. Bergamasco, Comparison of ECM and QCN based on CN-SIM Benchmarks, IEEE 802 plenary, July 2007",
    summary: "Do ECM and QCN keep a hotspot's congestion from the flows that do not cross it, and at what cost in control traffic and slow recovery?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim("B07.1", "printed", "extra fast recovery (EFR) is essential for QCN's stability", efr),
    claim("B07.2", "printed", "byte-based sampling jitters less than packet-based", sampling),
    claim("B07.3", "printed", "both QCN do their job, ECM does better, QCN-2pt suffers most", |e, parts| {
        order_in(e, "single-hop", &RATES, parts)
    }),
    claim("B07.4", "printed", "QCN-3pt's overhead is one to two orders of magnitude larger", overhead),
    claim(
        "B07.5",
        "printed",
        "QCN-3pt's overhead grows with nodes and load, that of the others with congestion points and bottleneck rate",
        scaling,
    ),
    claim("B07.6", "printed", "the same order in multi-hop", |e, parts| {
        order_in(e, "multi-hop", &RATES[..2], parts)
    }),
    claim("B07.7", "printed", "recovery of QCN-2pt is slower than ECM's", recovery),
    claim("B07.8", "table", "without PAUSE, loss falls by orders of magnitude", loss),
    claim("B07.9", "table", "fat tree: schemes keep what none loses", fat_tree),
    claim("B07.10", "printed", "QCN-3pt signals without congestion, too", idle_overhead),
];

const RATES: [&str; 3] = ["hotspot 2 Gb/s", "hotspot 0.5 Gb/s", "hotspot 0 Gb/s"];
const SCHEMES: [&str; 3] = ["qcn-2pt", "qcn-3pt", "ecm"];
const BASELINE: &str = "load 50%";

fn efr(e: &Evidence<'_>, parts: &mut Parts) {
    for pause in ["on", "off"] {
        let get = |c, m| e.runs("baseline", c, pause, "qcn-2pt").metric(m);
        let off = "load 50%, EFR off";
        let (with, without) = (get(BASELINE, Id::SdHotQueue.text()), get(off, Id::SdHotQueue.text()));
        let text =
            format!("PAUSE {pause}: sd of queue {:.1} KB with, {:.1} without", with.mean(), without.mean());
        parts.add(at_most(2.0, &with, &without), text);
        let (with, without) =
            (get(BASELINE, Id::AggregateThroughput.text()), get(off, Id::AggregateThroughput.text()));
        let lower = less(&without, &with);
        parts.add(
            lower,
            format!("PAUSE {pause}: {:.3} Gb/s with, {:.3} without", with.mean(), without.mean()),
        );
    }
}

fn sampling(e: &Evidence<'_>, parts: &mut Parts) {
    for pause in ["on", "off"] {
        let get = |c: &str| e.runs("baseline", c, pause, "qcn-2pt").metric(Id::SdHotQueue);
        let bytes = get(BASELINE);
        for how in ["packet-last", "packet-current"] {
            let packet = get(&format!("load 50%, sampling {how}"));
            let text = format!(
                "PAUSE {pause}: sd of queue {:.2} KB by bytes, {:.2} {how}",
                bytes.mean(),
                packet.mean()
            );
            parts.add(less(&bytes, &packet), text);
        }
    }
}

/// 2pt <= 3pt <= ECM with PAUSE, and at 2 and 0.5 Gb/s none < 2pt.
fn order_in(e: &Evidence<'_>, scenario: &str, rates: &[&str], parts: &mut Parts) {
    for c in rates {
        let get = |s| e.runs(scenario, c, "on", s).metric(Id::AggregateThroughput);
        let (none, two, three, ecm) = (get("none"), get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
        let (a, b, d) = (two.mean(), three.mean(), ecm.mean());
        parts.add(at_most(1.0, &two, &three), format!("{c}: 2pt {a:.2}, 3pt {b:.2} Gb/s"));
        parts.add(at_most(1.0, &three, &ecm), format!("{c}: 3pt {b:.2}, ECM {d:.2} Gb/s"));
        if *c != RATES[2] {
            parts.add(less(&none, &two), format!("{c}: none {:.2}, 2pt {a:.2} Gb/s", none.mean()));
        }
    }
}

fn overhead(e: &Evidence<'_>, parts: &mut Parts) {
    let places =
        [("single-hop", &RATES[..], 10.0), ("multi-hop", &RATES[..], 10.0), ("fat-tree", &RATES[..2], 5.0)];
    for (scenario, rates, factor) in places {
        for c in rates {
            let get = |s| e.runs(scenario, c, "on", s).metric(Id::Overhead);
            let (two, three, ecm) = (get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
            for (name, v) in [("2pt", &two), ("ECM", &ecm)] {
                let text = format!("{scenario}, {c}: 3pt {:.1} Mb/s, {name} {:.2}", three.mean(), v.mean());
                parts.add(at_most(factor, v, &three), text);
            }
        }
    }
}

fn scaling(e: &Evidence<'_>, parts: &mut Parts) {
    let get = |scenario, c, s| e.runs(scenario, c, "on", s).metric(Id::Overhead);
    let ratio = |a: &Values, b: &Values| a.with(b, |a, b| if b > 0.0 { a / b } else { 0.0 });
    let r = ratio(&get("uniform", "load 85%", "qcn-3pt"), &get("uniform", "load 42.5%", "qcn-3pt"));
    parts.add(r.within(1.8, 2.2), format!("3pt, twice the load: x {:.2}", r.mean()));
    let [one, half, two] = ["steady hotspot 2 Gb/s", "steady hotspot 1 Gb/s", "two steady hotspots 2 Gb/s"];
    for s in ["qcn-2pt", "ecm"] {
        let base = get("signalling", one, s);
        let more = ratio(&get("signalling", two, s), &base);
        parts.add(more.within(1.4, 2.6), format!("{s}, a second hot port: x {:.2}", more.mean()));
        let less = ratio(&get("signalling", half, s), &base);
        parts.add(less.within(0.35, 0.65), format!("{s}, half the hot rate: x {:.2}", less.mean()));
    }
}

fn recovery(e: &Evidence<'_>, parts: &mut Parts) {
    for c in RATES {
        for pause in ["on", "off"] {
            let get = |s| e.runs("single-hop", c, pause, s).metric(Id::RecoveryTime);
            let (two, ecm) = (get("qcn-2pt"), get("ecm"));
            let text = format!("{c}, PAUSE {pause}: {:.0} ms against {:.0} ms", two.mean(), ecm.mean());
            parts.add(less(&ecm, &two), text);
        }
    }
}

fn loss(e: &Evidence<'_>, parts: &mut Parts) {
    for (scenario, factor) in [("single-hop", 100.0), ("multi-hop", 50.0)] {
        for c in &RATES[..2] {
            let get = |s| e.runs(scenario, c, "off", s).metric(Id::DroppedFrames);
            let none = get("none");
            for s in SCHEMES {
                let with = get(s);
                let text = format!("{scenario}, {c}: {s} {:.0}, none {:.0}", with.mean(), none.mean());
                parts.add(at_most(factor, &with, &none), text);
            }
        }
    }
}

fn fat_tree(e: &Evidence<'_>, parts: &mut Parts) {
    for c in &RATES[..2] {
        let get = |s| e.runs("fat-tree", c, "on", s).metric(Id::AggregateThroughput);
        let none = get("none");
        for s in SCHEMES {
            let with = get(s);
            let text = format!("{c}: {s} {:.1}, none {:.1} Gb/s", with.mean(), none.mean());
            parts.add(at_most(1.3, &none, &with), text);
        }
    }
}

fn idle_overhead(e: &Evidence<'_>, parts: &mut Parts) {
    let get = |s| e.runs("uniform", "load 85%", "on", s).metric(Id::Overhead);
    let three = get("qcn-3pt");
    parts.add(three.within(145.0 * 0.98, 145.0 * 1.02), format!("3pt {:.1} Mb/s", three.mean()));
    for s in ["qcn-2pt", "ecm"] {
        let v = get(s);
        parts.add(v.at_most(1.0), format!("{s} {:.2} Mb/s", v.mean()));
    }
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: Id) -> &'static str {
    let (scheme, pause) = (run.case.scheme.as_str(), run.case.pause.as_str());
    let rate = run.config.read::<Rate>(tables::hotspot::RATE);
    let [zero, half] = [Rate::from_mbps(0.0), Rate::from_mbps(500.0)].map(|r| rate == Some(r));
    let qcn = scheme.starts_with("qcn");
    match (run.case.scenario.as_str(), scheme, metric) {
        (_, "none", Id::TimePaused) => {
            return "A15 paused-over: a transmitter that was in XOFF for a moment counts as one, and how many there are differs from run to run; the throughputs agree";
        }
        ("fat-tree", ..) if half && metric != Id::DroppedFrames => {
            return "A3 limiter-position and A8 sampling: frames that wait unpaced in the hosts' FIFOs keep the port jammed for longer than in the published row";
        }
        ("fat-tree", ..) if metric != Id::DroppedFrames => {
            return "A14 routing and A3 limiter-position: they decide how many innocent flows the jammed queues of the tree limit";
        }
        ("multi-hop", "none", Id::DroppedFrames) if zero => {
            return "double of what 0.4 s of the offered load can lose: a misprint, or another run";
        }
        ("multi-hop", "none", _) => {
            return "A1 source-queue: its size in the multi-hop study is derived, not printed";
        }
        ("multi-hop", "ecm", Id::DroppedFrames | Id::Overhead) if pause == "off" => {
            return "A6 oversampling and A5 r-min: factor and floor decide the first burst; the drops of all three rates together ask for a factor of 7 and a floor of 1 Mb/s";
        }
        ("multi-hop", ..) if pause == "on" => {
            return "A3 limiter-position: queues jammed by PAUSE limit innocent flows, and frames in the FIFO are not recalled";
        }
        _ => {}
    }
    match (qcn, pause, metric) {
        (true, "on", _) if zero || half => {
            "A3b limiter-backlog and A8 sampling: what waits unpaced when PAUSE begins, and when the first messages come, decide how long flows stay limited"
        }
        (true, "on", Id::TimePaused | Id::Overhead) => {
            "A8 sampling: the first messages of the start-up burst decide how long PAUSE lasts"
        }
        (_, "off", Id::Overhead) if zero => {
            "A7 gate-qoff: the three rows at 0 Gb/s without PAUSE look like a build without the gate"
        }
        (true, "off", Id::DroppedFrames) if zero && scheme == "qcn-3pt" => {
            "A5 r-min: the published row would fit a floor of 50 Mb/s (14 537) or 10 Mb/s (7040), other rows of the scheme do not"
        }
        (true, "off", Id::DroppedFrames) => "A8 sampling: early drops depend on when the first samples fall",
        (true, "off", Id::HotPortThroughput | Id::InnocentThroughput | Id::AggregateThroughput) => {
            "A4 efr and A2 limiter-queue decide the hot port's recovery"
        }
        (true, _, _) => "A2 limiter-queue and A8 sampling decide the hot port's share",
        (_, "on", _) if zero && scheme == "ecm" => {
            "A3b limiter-backlog and A6 oversampling decide how many innocent flows are limited after PAUSE"
        }
        (_, _, Id::DroppedFrames | Id::Overhead) if scheme == "ecm" => {
            "A6 oversampling: rule and factor are not printed; this one gives too few messages at loaded innocent ports"
        }
        _ if scheme == "ecm" => "A6 oversampling and A2 limiter-queue",
        _ => "A1 source-queue",
    }
}
