//! B07: ECM and QCN on the CN-SIM benchmarks.

use super::Paper;
use crate::claims::{Claim, Evidence, Finding, Parts, at_most};
use crate::store::RunRecord;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "B07",
    title: "ECM and QCN on the CN-SIM benchmarks",
    citation: "D. Bergamasco, Comparison of ECM and QCN based on CN-SIM Benchmarks, IEEE 802 plenary, July 2007",
    summary: "Do ECM and QCN keep a hotspot's congestion from the flows that do not cross it, and at what cost in control traffic and slow recovery?",
    claims: CLAIMS,
    suspect,
};

const fn claim(
    id: &'static str,
    origin: &'static str,
    text: &'static str,
    test: fn(&Evidence<'_>) -> Finding,
) -> Claim {
    Claim { study: "B07", id, text, origin, test }
}

const CLAIMS: &[Claim] = &[
    claim("B07.3", "printed", "both QCN do their job, ECM does better, QCN-2pt suffers most", ordering),
    claim("B07.4", "printed", "QCN-3pt's overhead is one to two orders of magnitude larger", overhead),
    claim("B07.7", "printed", "recovery of QCN-2pt is slower than ECM's", recovery),
    claim("B07.8", "table", "without PAUSE, loss falls by orders of magnitude", loss),
];

const RATES: [&str; 3] = ["hotspot 2 Gb/s", "hotspot 0.5 Gb/s", "hotspot 0 Gb/s"];

fn ordering(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in RATES {
        let get = |s| e.runs("single-hop", c, "on", s).metric("aggregate_throughput");
        let (none, two, three, ecm) = (get("none"), get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
        let (a, b, d) = (two.mean(), three.mean(), ecm.mean());
        parts.add(at_most(1.0, &two, &three), format!("{c}: 2pt {a:.2}, 3pt {b:.2} Gb/s"));
        parts.add(at_most(1.0, &three, &ecm), format!("{c}: 3pt {b:.2}, ECM {d:.2} Gb/s"));
        if c != RATES[2] {
            parts.add(at_most(1.0, &none, &two), format!("{c}: none {:.2}, 2pt {a:.2} Gb/s", none.mean()));
        }
    }
    parts.finding()
}

fn overhead(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in RATES {
        let get = |s| e.runs("single-hop", c, "on", s).metric("overhead");
        let (two, three, ecm) = (get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
        for (name, v) in [("2pt", &two), ("ECM", &ecm)] {
            let text = format!("{c}: 3pt {:.1} Mb/s, {name} {:.2}", three.mean(), v.mean());
            parts.add(at_most(10.0, v, &three), text);
        }
    }
    parts.finding()
}

fn recovery(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in RATES {
        for pause in ["on", "off"] {
            let get = |s| e.runs("single-hop", c, pause, s).metric("recovery_time");
            let (two, ecm) = (get("qcn-2pt"), get("ecm"));
            let text = format!("{c}, PAUSE {pause}: {:.0} ms against {:.0} ms", two.mean(), ecm.mean());
            parts.add(at_most(1.0, &ecm, &two), text);
        }
    }
    parts.finding()
}

fn loss(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::default();
    for c in &RATES[..2] {
        let get = |s| e.runs("single-hop", c, "off", s).metric("dropped_frames");
        let none = get("none");
        for s in ["qcn-2pt", "qcn-3pt", "ecm"] {
            let with = get(s);
            let text = format!("{c}: {s} {:.0}, none {:.0}", with.mean(), none.mean());
            parts.add(at_most(100.0, &with, &none), text);
        }
    }
    parts.finding()
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: &str) -> &'static str {
    let (scheme, pause, condition) = (run.scheme.as_str(), run.pause.as_str(), run.condition.as_str());
    let zero = condition.ends_with(" 0 Gb/s");
    let half = condition.ends_with(" 0.5 Gb/s");
    let qcn = scheme.starts_with("qcn");
    match (qcn, pause, metric) {
        (true, "on", _) if zero || half => {
            "A3 limiter-position, known miss: in the published row innocent flows lose throughput after PAUSE for longer than any reading tried explains"
        }
        (true, "on", "time_paused" | "overhead") => {
            "A8 sampling: the first messages of the start-up burst decide how long PAUSE lasts"
        }
        (_, "off", "overhead") if zero => {
            "A7 gate-qoff: the three rows at 0 Gb/s without PAUSE look like a build without the gate"
        }
        (true, "off", "dropped_frames") if zero && scheme == "qcn-3pt" => {
            "A5 r-min: 14 537 drops would fit a floor of 50 Mb/s for this scheme alone"
        }
        (true, "off", _) if half => "A4 efr: the published hot port lies between EFR on and off",
        (true, "off", "dropped_frames") => "A8 sampling: early drops depend on when the first samples fall",
        (true, "off", "hot_port_throughput" | "innocent_throughput" | "aggregate_throughput") => {
            "A4 efr and A2 limiter-queue decide the hot port's recovery"
        }
        (true, _, _) => "A2 limiter-queue and A8 sampling decide the hot port's share",
        (_, "on", _) if zero && scheme == "ecm" => {
            "A3 limiter-position and A6 oversampling decide how many innocent flows are limited after PAUSE"
        }
        (_, _, "dropped_frames" | "overhead") if scheme == "ecm" => {
            "A6 oversampling: rule and factor are not printed"
        }
        _ if scheme == "ecm" => "A6 oversampling and A2 limiter-queue",
        _ => "A1 source-queue",
    }
}
