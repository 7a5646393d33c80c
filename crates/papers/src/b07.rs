//! B07: ECM and QCN on the CN-SIM benchmarks.

use super::Paper;
use crate::claims::{Claim, Evidence, Finding, Parts, Values, at_most, claim, less};
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
    claim("B07.3", "printed", "both QCN do their job, ECM does better, QCN-2pt suffers most", ordering),
    claim("B07.4", "printed", "QCN-3pt's overhead is one to two orders of magnitude larger", overhead),
    claim(
        "B07.5",
        "printed",
        "QCN-3pt's overhead grows with nodes and load, that of the others with congestion points and bottleneck rate",
        scaling,
    ),
    claim("B07.6", "printed", "the same order in multi-hop", multi_hop),
    claim("B07.7", "printed", "recovery of QCN-2pt is slower than ECM's", recovery),
    claim("B07.8", "table", "without PAUSE, loss falls by orders of magnitude", loss),
    claim("B07.9", "table", "fat tree: schemes keep what none loses", fat_tree),
    claim("B07.10", "printed", "QCN-3pt signals without congestion, too", idle_overhead),
];

const RATES: [&str; 3] = ["hotspot 2 Gb/s", "hotspot 0.5 Gb/s", "hotspot 0 Gb/s"];
const SCHEMES: [&str; 3] = ["qcn-2pt", "qcn-3pt", "ecm"];
const BASELINE: &str = "load 50%";

fn efr(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
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
    parts.finding()
}

fn sampling(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
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
    parts.finding()
}

fn ordering(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    order_in(e, "single-hop", &RATES, &mut parts);
    parts.finding()
}

fn multi_hop(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    order_in(e, "multi-hop", &RATES[..2], &mut parts);
    parts.finding()
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

fn overhead(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
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
    parts.finding()
}

fn scaling(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
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
    parts.finding()
}

fn recovery(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in RATES {
        for pause in ["on", "off"] {
            let get = |s| e.runs("single-hop", c, pause, s).metric(Id::RecoveryTime);
            let (two, ecm) = (get("qcn-2pt"), get("ecm"));
            let text = format!("{c}, PAUSE {pause}: {:.0} ms against {:.0} ms", two.mean(), ecm.mean());
            parts.add(less(&ecm, &two), text);
        }
    }
    parts.finding()
}

fn loss(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
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
    parts.finding()
}

fn fat_tree(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in &RATES[..2] {
        let get = |s| e.runs("fat-tree", c, "on", s).metric(Id::AggregateThroughput);
        let none = get("none");
        for s in SCHEMES {
            let with = get(s);
            let text = format!("{c}: {s} {:.1}, none {:.1} Gb/s", with.mean(), none.mean());
            parts.add(at_most(1.3, &none, &with), text);
        }
    }
    parts.finding()
}

fn idle_overhead(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    let get = |s| e.runs("uniform", "load 85%", "on", s).metric(Id::Overhead);
    let three = get("qcn-3pt");
    parts.add(three.within(145.0 * 0.98, 145.0 * 1.02), format!("3pt {:.1} Mb/s", three.mean()));
    for s in ["qcn-2pt", "ecm"] {
        let v = get(s);
        parts.add(v.at_most(1.0), format!("{s} {:.2} Mb/s", v.mean()));
    }
    parts.finding()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Holds;
    use cnsim_scenario::case::CaseId;

    /// (scenario, condition, PAUSE, scheme, metric, value): three seeds a little apart.
    fn holds(id: &str, facts: &[(&str, &str, &str, &str, &str, f64)]) -> Holds {
        let mut all: Vec<RunRecord> = Vec::new();
        for (scenario, condition, pause, scheme, metric, value) in facts {
            for seed in 1..=3 {
                let case = CaseId::from(["B07", scenario, condition, pause, scheme]);
                let value = value * (1.0 + 1e-4 * seed as f64);
                if let Some(r) = all.iter_mut().find(|r| r.case == case && r.seed == seed) {
                    r.metrics.insert(metric, value);
                    continue;
                }
                all.push(RunRecord {
                    case,
                    seed,
                    metrics: [(*metric, value)].into(),
                    ..RunRecord::default()
                });
            }
        }
        let found = crate::findings(&all);
        found.iter().find(|(c, _)| c.id == id).map_or(Holds::NotRun, |f| f.1.holds)
    }

    #[test]
    fn efr_can_go_both_ways() {
        let with = |sd: f64, rate: f64| {
            let facts: Vec<_> = ["on", "off"]
                .iter()
                .flat_map(|p| {
                    let off = "load 50%, EFR off";
                    [
                        ("baseline", BASELINE, *p, "qcn-2pt", "sd_hot_queue", 10.0),
                        ("baseline", off, *p, "qcn-2pt", "sd_hot_queue", sd),
                        ("baseline", BASELINE, *p, "qcn-2pt", "aggregate_throughput", 10.0),
                        ("baseline", off, *p, "qcn-2pt", "aggregate_throughput", rate),
                    ]
                })
                .collect();
            holds("B07.1", &facts)
        };
        assert_eq!(with(25.0, 9.5), Holds::Yes);
        assert_eq!(with(15.0, 9.5), Holds::No);
        assert_eq!(with(25.0, 10.0), Holds::No, "equal throughput is not lower");
        assert_eq!(
            holds("B07.1", &[("baseline", BASELINE, "on", "qcn-2pt", "overhead", 1.0)]),
            Holds::NotRun
        );
    }

    #[test]
    fn sampling_can_go_both_ways() {
        let with = |packet: f64| {
            let mut facts = Vec::new();
            for p in ["on", "off"] {
                facts.push(("baseline", BASELINE, p, "qcn-2pt", "sd_hot_queue", 10.0));
                for c in ["load 50%, sampling packet-last", "load 50%, sampling packet-current"] {
                    facts.push(("baseline", c, p, "qcn-2pt", "sd_hot_queue", packet));
                }
            }
            holds("B07.2", &facts)
        };
        assert_eq!((with(12.0), with(8.0), with(10.0)), (Holds::Yes, Holds::No, Holds::No));
    }

    #[test]
    fn scaling_can_go_both_ways() {
        let with = |second: f64, half: f64| {
            let mut facts = vec![
                ("uniform", "load 85%", "on", "qcn-3pt", "overhead", 145.0),
                ("uniform", "load 42.5%", "on", "qcn-3pt", "overhead", 72.5),
            ];
            for s in ["qcn-2pt", "ecm"] {
                facts.push(("signalling", "steady hotspot 2 Gb/s", "on", s, "overhead", 2.0));
                facts.push(("signalling", "two steady hotspots 2 Gb/s", "on", s, "overhead", second));
                facts.push(("signalling", "steady hotspot 1 Gb/s", "on", s, "overhead", half));
            }
            holds("B07.5", &facts)
        };
        assert_eq!(with(4.0, 1.0), Holds::Yes);
        assert_eq!((with(2.0, 1.0), with(4.0, 2.0)), (Holds::No, Holds::No));
    }

    #[test]
    fn multi_hop_and_fat_tree_can_go_both_ways() {
        let of = |id: &str, scenario: &str, values: [f64; 4]| {
            let schemes = ["none", "qcn-2pt", "qcn-3pt", "ecm"];
            let facts: Vec<_> = RATES[..2]
                .iter()
                .flat_map(|c| {
                    schemes
                        .iter()
                        .zip(values)
                        .map(move |(s, v)| (scenario.to_string(), (*c).to_string(), (*s).to_string(), v))
                })
                .collect();
            let facts: Vec<_> = facts
                .iter()
                .map(|(a, c, s, v)| (a.as_str(), c.as_str(), "on", s.as_str(), "aggregate_throughput", *v))
                .collect();
            holds(id, &facts)
        };
        assert_eq!(of("B07.6", "multi-hop", [26.0, 30.0, 30.5, 31.0]), Holds::Yes);
        assert_eq!(of("B07.6", "multi-hop", [26.0, 30.6, 30.5, 31.0]), Holds::No);
        assert_eq!(of("B07.9", "fat-tree", [380.0, 520.0, 530.0, 540.0]), Holds::Yes);
        assert_eq!(of("B07.9", "fat-tree", [380.0, 480.0, 530.0, 540.0]), Holds::No);
    }

    #[test]
    fn idle_overhead_can_go_both_ways() {
        let with = |three: f64, ecm: f64| {
            let at = |s, v| ("uniform", "load 85%", "on", s, "overhead", v);
            holds("B07.10", &[at("qcn-3pt", three), at("qcn-2pt", 0.2), at("ecm", ecm)])
        };
        assert_eq!(with(145.0, 0.9), Holds::Yes);
        assert_eq!((with(139.0, 0.9), with(145.0, 9.0)), (Holds::No, Holds::No));
    }
}
