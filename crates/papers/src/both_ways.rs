//! Every claim is shown able to hold and to fail, over synthetic runs: all hold over runs that agree with the claims, and each fails
//! after one change. A claim that is missing here fails the test. `tests/mutations.rs` breaks claims in real runs.

use super::synthetic::{Synthetic as _, run, verdict};
use super::{PAPERS, c07, m08, modern, next, r07, t11, z07};
use crate::claims::Holds;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::Id;

/// Changes to runs that agree with a claim.
enum Turn {
    /// A metric of some runs: (scenario, words of the condition, PAUSE, scheme) with `*` for any, then metric and value.
    Metric(&'static str, &'static str, &'static str, &'static str, Id, f64),
    /// A series of a scheme, in every run that has it: scheme, name, value of all bins.
    Series(&'static str, &'static str, f64),
    /// A port's mean queue and its share of time in XOFF.
    Port(&'static str, f64, f64),
    /// A metric of the traffic or class of this name.
    Named(&'static str, Id, f64),
    /// Two schemes change names.
    Swap(&'static str, &'static str),
    /// Every scheme has the values of the second one, so it has no effect of its own.
    Same(&'static str, &'static str),
    /// Values of one condition stand under another, too: (scenario, from, to).
    Condition(&'static str, &'static str, &'static str),
}
use Turn::{Condition, Metric, Named, Port, Same, Series, Swap};

/// Each claim with the change that breaks it; a line for each part of a claim.
#[rustfmt::skip]
const TURNS: &[(&str, Turn)] = &[
    ("B07.1", Metric("baseline", "EFR off", "on", "qcn-2pt", Id::SdHotQueue, 19.0)),
    ("B07.1", Metric("baseline", "EFR off", "off", "qcn-2pt", Id::AggregateThroughput, 10.0)),
    ("B07.1", Condition("baseline", "load 50%", "load 50%, EFR off")),
    ("B07.2", Metric("baseline", "packet-current", "off", "qcn-2pt", Id::SdHotQueue, 9.0)),
    ("B07.2", Metric("baseline", "packet-last", "on", "qcn-2pt", Id::SdHotQueue, 10.0)),
    ("B07.2", Condition("baseline", "load 50%", "load 50%, sampling packet-last")),
    ("B07.3", Swap("qcn-2pt", "qcn-3pt")),
    ("B07.3", Swap("qcn-3pt", "ecm")),
    ("B07.3", Swap("none", "qcn-2pt")),
    ("B07.3", Same("none", "*")),
    ("B07.3", Metric("single-hop", "0 Gb/s", "on", "ecm", Id::AggregateThroughput, 60.0)),
    ("B07.4", Swap("qcn-3pt", "ecm")),
    ("B07.4", Swap("qcn-3pt", "qcn-2pt")),
    ("B07.4", Metric("single-hop", "2 Gb/s", "on", "qcn-3pt", Id::Overhead, 40.0)),
    ("B07.4", Metric("multi-hop", " 0 Gb/s", "on", "ecm", Id::Overhead, 20.0)),
    ("B07.4", Metric("fat-tree", "0.5 Gb/s", "on", "ecm", Id::Overhead, 200.0)),
    ("B07.5", Metric("uniform", "85%", "on", "qcn-3pt", Id::Overhead, 90.0)),
    ("B07.5", Condition("signalling", "steady hotspot 2 Gb/s", "two steady hotspots 2 Gb/s")),
    ("B07.5", Condition("signalling", "steady hotspot 2 Gb/s", "steady hotspot 1 Gb/s")),
    ("B07.6", Swap("qcn-2pt", "qcn-3pt")),
    ("B07.6", Swap("qcn-3pt", "ecm")),
    ("B07.6", Swap("none", "qcn-2pt")),
    ("B07.6", Same("none", "*")),
    ("B07.7", Swap("qcn-2pt", "ecm")),
    ("B07.7", Same("ecm", "qcn-2pt")),
    ("B07.7", Metric("single-hop", "0 Gb/s", "off", "ecm", Id::RecoveryTime, 500.0)),
    ("B07.8", Swap("none", "qcn-2pt")),
    ("B07.8", Same("none", "*")),
    ("B07.8", Metric("single-hop", "2 Gb/s", "off", "qcn-3pt", Id::DroppedFrames, 3000.0)),
    ("B07.8", Metric("multi-hop", "0.5 Gb/s", "off", "ecm", Id::DroppedFrames, 6000.0)),
    ("B07.9", Swap("none", "ecm")),
    ("B07.9", Same("none", "*")),
    ("B07.9", Metric("fat-tree", "0.5 Gb/s", "on", "qcn-2pt", Id::AggregateThroughput, 420.0)),
    ("B07.10", Swap("qcn-3pt", "ecm")),
    ("B07.10", Metric("uniform", "85%", "on", "qcn-3pt", Id::Overhead, 139.0)),
    ("B07.10", Metric("uniform", "85%", "on", "qcn-2pt", Id::Overhead, 3.0)),
    ("M08.1", Swap("none", "qcn-serial-hai")),
    ("M08.1", Same("none", "*")),
    ("M08.1", Metric("multi-hop-periodic", "200 ms", "on", "none", Id::InnocentFlowUtilization, 75.0)),
    ("M08.1", Metric("multi-hop-periodic", "80 ms on/off", "on", "qcn-serial-hai", Id::InnocentFlowUtilization, 85.0)),
    ("M08.2", Metric("symmetric-4-to-1", "500 us", "off", "*", Id::Throughput, 7.9)),
    ("M08.2", Metric("symmetric-4-to-1", "1 ms", "off", "*", Id::Throughput, 5.0)),
    ("M08.2", Condition("symmetric-4-to-1", "control loop delay 500 us", "control loop delay 1 ms")),
    ("M08.3", Condition("symmetric-4-to-1", "control loop delay 8 us", "control loop delay 100 us")),
    ("M08.3", Metric("symmetric-16-to-1", " 8 us", "off", "*", Id::DroppedFrames, 20.0)),
    ("M08.3", Metric("symmetric-4-to-1", "500 us", "off", "*", Id::DroppedFrames, 10.0)),
    ("M08.4", Series("qcn-serial-hai", "hot_queue", 45.0)),
    ("M08.4", Series("qcn-serial-hai", "hot_queue", 10.0)),
    ("M08.4", Series("qcn-serial-hai", "hot_port_throughput", 0.4)),
    ("M08.5", Condition("multi-hop-periodic", "congestion 25 ms on/off", "congestion 200 ms on/off")),
    ("M08.5", Metric("multi-hop-periodic", "125 ms", "on", "none", Id::InnocentFlowUtilization, 50.0)),
    ("M08.5", Metric("multi-hop-periodic", "200 ms", "on", "none", Id::InnocentFlowUtilization, 64.0)),
    ("R07.1", Swap("qcn-h", "qcn-2pt")),
    ("R07.1", Same("qcn-2pt", "qcn-h")),
    ("R07.2", Condition("chain-20", "bursty", "bursty, HAI")),
    ("R07.2", Condition("single-hop-10", "hotspot 1 Gb/s", "hotspot 1 Gb/s, HAI")),
    ("R07.3", Metric("single-hop-10", "*", "on", "qcn-2pt", Id::RecoveryTime, 50.0)),
    ("R07.3", Condition("single-hop-10", "hotspot 2 Gb/s", "hotspot 0.1 Gb/s")),
    ("R07.4", Metric("single-hop-20", "*", "on", "qcn-2pt", Id::AggregateThroughput, 180.0)),
    ("R07.4", Metric("single-hop-20", "2 Gb/s", "on", "qcn-2pt", Id::AggregateThroughput, 140.0)),
    ("R07.5", Swap("qcn-p", "qcn-2pt")),
    ("R07.5", Swap("qcn-sp", "qcn-2pt")),
    ("R07.5", Same("qcn-2pt", "*")),
    ("R07.6", Swap("ecm", "qcn-pp")),
    ("R07.6", Metric("chain-20", "bursty, HAI", "on", "ecm", Id::DiscardedPositiveShare, 0.3)),
    ("R07.7", Swap("qcn-sp", "qcn-2pt")),
    ("R07.7", Swap("qcn-hsp", "qcn-2pt")),
    ("R07.7", Swap("qcn-sp", "qcn-pp")),
    ("R07.7", Same("qcn-2pt", "*")),
    ("R07.7", Metric("chain-20", "bursty, HAI", "on", "qcn-p", Id::PortsThroughput, 170.0)),
    ("R07.8", Condition("single-hop-10", "hotspot 1 Gb/s", "hotspot 1 Gb/s, oversampling")),
    ("Z07.1", Metric("*", "RTT 500 us", "off", "e2cm-dst", Id::MeanHotQueue, 1000.0)),
    ("Z07.1", Metric("*", "*", "off", "e2cm-src", Id::HotPortThroughput, 1.14)),
    ("Z07.1", Metric("*", "*", "off", "e2cm-src", Id::AggregateThroughput, 120.0)),
    ("Z07.1", Swap("e2cm-src", "ecm")),
    ("Z07.2", Condition("single-hop-16", "service rate 10%, no output-queue limit", "service rate 10%, RTT 500 us, no output-queue limit")),
    ("Z07.2", Metric("*", "600 KB", "off", "e2cm-src", Id::MeanHotQueueLate, 590.0)),
    ("Z07.2", Metric("*", "RTT 500 us", "off", "*", Id::MeanHotQueueLate, 300.0)),
    ("Z07.2", Metric("*", "*", "off", "e2cm-dst", Id::BottleneckUtilization, 80.0)),
    ("Z07.2", Metric("*", "no output-queue limit", "off", "e2cm-dst", Id::LateDrops, 10.0)),
    ("Z07.3", Condition("single-hop-16", "service rate 10%, no output-queue limit", "service rate 10%, output-queue limit 600 KB")),
    ("Z07.3", Metric("*", "*", "off", "ecm", Id::InnocentDropShare, 50.0)),
    ("Z07.3", Metric("*", "600 KB", "*", "*", Id::DroppedFrames, 50_000.0)),
    ("Z07.4", Metric("*", "no output-queue limit", "on", "e2cm-src", Id::DroppedFrames, 1.0)),
    ("Z07.5", Swap("ecm", "e2cm-src")),
    ("Z07.5", Same("ecm", "e2cm-src")),
    ("Z07.5", Metric("*", "RTT 500 us", "*", "ecm", Id::DroppedFrames, 10_000.0)),
    ("C07.1", Metric("symmetric-on-off", "1%", "*", "bcn", Id::Overhead, 0.4)),
    ("C07.1", Metric("symmetric-on-off", "30 us", "*", "becn", Id::Overhead, 800.0)),
    ("C07.2", Metric("symmetric-on-off", "30 us", "*", "becn", Id::Fairness, 0.97)),
    ("C07.2", Metric("symmetric-on-off", "1%", "*", "bcn", Id::Fairness, 1.0)),
    ("C07.3", Metric("symmetric-on-off", "30 us", "*", "becn", Id::HotPortThroughput, 9.0)),
    ("C07.3", Metric("symmetric-on-off", "30 us", "*", "becn", Id::Overhead, 16_380.0)),
    ("C07.4", Port("E5>H5", 3.0, 0.0)),
    ("C07.4", Port("X>E5", 30.0, 0.0)),
    ("C07.5", Metric("asymmetric", "300 us", "*", "becn", Id::FlowRateMax, 500.0)),
    ("C07.5", Metric("asymmetric", "300 us", "*", "becn", Id::FlowRateMin, 300.0)),
    ("C07.5", Series("bcn", "aggregate_throughput", 8.0)),
    ("C07.6", Metric("asymmetric", "30 us", "*", "becn", Id::AggregateThroughput, 1.0)),
    ("C07.6", Series("becn", "control_rate", 900.0)),
    ("C07.6", Port("E1>X", 0.0, 1.0)),
    ("C07.7a", Metric("parking-lot", "30 us", "*", "becn", Id::FlowRateMin, 1500.0)),
    ("C07.7a", Metric("parking-lot", "30 us", "*", "becn", Id::BottleneckControl, 500.0)),
    ("C07.7b", Metric("parking-lot", "run 1 s", "*", "bcn", Id::FlowRateMax, 3500.0)),
    ("C07.8", Metric("parking-lot", "200 us, W 4", "*", "bcn", Id::SdHotQueue, 25.0)),
    ("C07.8", Condition("parking-lot", "sampling rate 1%, added delay 50 us", "sampling rate 1%, added delay 50 us, W 4")),
    ("C07.9", Condition("symmetric-on-off", "tagging rate 1%", "tagging rate 100%")),
    ("C07.9", Condition("symmetric-on-off", "tagging rate 100%", "tagging rate 1%")),
    ("C07.9", Condition("symmetric-on-off", "tagging rate 5%", "tagging rate 10%")),
    ("C07.9", Metric("symmetric-on-off", "tagging rate 10%", "*", "fecn", Id::Fairness, 0.8)),
    ("C07.9", Series("fecn", "flow H4>H5", 100.0)),
    ("C07.10", Metric("parking-lot", "30 us", "*", "becn", Id::ThroughputLoss, 2.0)),
    ("C07.10", Metric("parking-lot", "30 us", "*", "becn", Id::AggregateLoss, 1.5)),
    ("C07.10", Series("bcn", "flow H5>H7", 1000.0)),
    ("C07.11", Metric("symmetric-on-off", "1%", "*", "bcn", Id::SdHotQueue, 80.0)),
    ("C07.11", Metric("symmetric-on-off", "12 ms", "*", "becn", Id::SdHotQueue, 10.0)),
    ("C07.12", Series("bcn", "hot_port_throughput", 5.0)),
    ("C07.12", Series("fecn", "hot_port_throughput", 10.0)),
    ("T11.1", Metric("commercial", "32 hosts", "on", "newreno", Id::QueryTime, 2.0)),
    ("T11.1", Metric("commercial", "Q_eq 20 KB", "on", "*", Id::QueryTime, 0.5)),
    ("T11.2", Metric("commercial", "32 hosts", "off", "cubic", Id::QueryTime, 1.0)),
    ("T11.3", Metric("commercial", "Q_eq 20 KB", "*", "*", Id::QueryTime, 0.3)),
    ("T11.3", Metric("commercial", "RED", "*", "*", Id::QueryTime, 0.75)),
    ("T11.4", Metric("commercial", "RED", "off", "*", Id::QueryTime, 0.3)),
    ("T11.5", Metric("hpc", "RED", "on", "*", Id::JobTime, 15.0)),
    ("T11.5", Metric("hpc", "Q_eq 20 KB", "off", "*", Id::JobTime, 21.0)),
    ("T11.6", Swap("none", "qcn-802.1Qau")),
    ("T11.7", Metric("queue", "8 hosts", "on", "*", Id::SdHotQueue, 40.0)),
    ("T11.7", Metric("queue", "8 hosts", "off", "*", Id::SdHotQueue, 5.0)),
    ("next.1", Metric("incast", "64 servers", "on", "none", Id::Timeouts, 1.0)),
    ("next.2", Metric("incast", "10 servers", "off", "none", Id::Timeouts, 1.0)),
    ("next.2", Metric("incast", "11 servers", "off", "none", Id::Timeouts, 0.0)),
    ("next.3", Metric("incast", "200 ms", "off", "none", Id::QueryGoodput, 5.0)),
    ("next.4", Same("none", "qcn-802.1Qau")),
    ("next.5", Metric("tcp-symmetric", "raw", "off", "*", Id::Throughput, 9.0)),
    ("next.5", Metric("tcp-symmetric", "TCP", "off", "*", Id::Throughput, 5.0)),
    ("next.6", Metric("tcp-single-hop", "TCP", "on", "none", Id::InnocentThroughput, 70.0)),
    ("next.6", Metric("tcp-single-hop", "TCP", "off", "none", Id::InnocentThroughput, 40.0)),
    ("next.7", Same("none", "qcn-serial-hai")),
    ("next.8", Same("none", "qcn-2pt")),
    ("next.8", Condition("cn-domain", "hotspot 2 Gb/s, defence outside", "hotspot 2 Gb/s, defence off")),
    ("modern.1", Condition("collectives", "clos, double-tree, 64 KB", "clos, halving-doubling, 64 KB")),
    ("modern.1", Metric("collectives", "rails, ring, 64 KB", "on", "none", Id::JobTime, 0.055)),
    ("modern.2", Metric("collectives", "leaf-spine, halving-doubling, 8 MB", "on", "none", Id::JobTime, 0.3)),
    ("modern.2", Condition("collectives", "rails, ring, 8 MB", "rails, halving-doubling, 8 MB")),
    ("modern.3", Metric("collectives", "clos, halving-doubling, 8 MB", "on", "hpcc", Id::JobTime, 0.96)),
    ("modern.3", Metric("collectives", "rails, ring, 8 MB", "on", "dcqcn", Id::JobTime, 0.3)),
    ("modern.4", Condition("two-classes", "weight of roce 1", "weight of roce 16")),
    ("modern.4", Condition("two-classes", "weight of roce 16", "weight of roce 1")),
    ("modern.5", Named("class roce", Id::DroppedFrames, 1.0)),
    ("modern.5", Named("class tcp", Id::TimePaused, 0.1)),
    ("modern.6", Condition("isolation", "TCP lossless on, storm at H0", "TCP lossless off, storm at H0")),
    ("modern.6", Condition("isolation", "TCP lossless on, storm at H16", "TCP lossless on, storm at H0")),
    ("modern.6", Condition("isolation", "TCP lossless off, storm at H16", "TCP lossless off, storm at H0")),
];

/// B07 as claimed.
fn b07() -> Vec<RunRecord> {
    const RATES: [&str; 3] = ["hotspot 2 Gb/s", "hotspot 0.5 Gb/s", "hotspot 0 Gb/s"];
    let mut all = Vec::new();
    for seed in 1..=3 {
        let new =
            |scenario, condition: &str, pause, scheme| run("B07", scenario, condition, pause, scheme, seed);
        for pause in ["on", "off"] {
            for (more, sd, rate) in [
                ("", 10.0, 10.0),
                (", EFR off", 25.0, 9.5),
                (", sampling packet-last", 13.0, 10.0),
                (", sampling packet-current", 12.0, 10.0),
            ] {
                let r = new("baseline", &format!("load 50%{more}"), pause, "qcn-2pt");
                all.push(r.has(Id::SdHotQueue, sd).has(Id::AggregateThroughput, rate));
            }
            // By scheme: aggregate of the single hop, overhead, recovery, drops.
            for (scheme, share, overhead, recovery, drops) in [
                ("none", 0.6, 0.0, 10.0, 200_000.0),
                ("qcn-2pt", 0.9, 0.5, 200.0, 100.0),
                ("qcn-3pt", 0.95, 140.0, 120.0, 50.0),
                ("ecm", 0.97, 5.0, 50.0, 20.0),
            ] {
                for (scenario, ideal) in [("single-hop", 85.0), ("multi-hop", 31.0), ("fat-tree", 544.0)] {
                    for c in RATES {
                        let r = new(scenario, c, pause, scheme)
                            .has(Id::AggregateThroughput, share * ideal)
                            .has(Id::Overhead, overhead)
                            .has(Id::RecoveryTime, recovery)
                            .has(Id::DroppedFrames, if pause == "on" { 0.0 } else { drops });
                        all.push(r);
                    }
                }
            }
        }
        for (load, share) in [("load 85%", 1.0), ("load 42.5%", 0.5)] {
            for (scheme, full) in [("qcn-2pt", 0.2), ("qcn-3pt", 145.0), ("ecm", 0.9)] {
                all.push(new("uniform", load, "on", scheme).has(Id::Overhead, full * share));
            }
        }
        for scheme in ["qcn-2pt", "ecm"] {
            for (condition, overhead) in [
                ("steady hotspot 2 Gb/s", 2.0),
                ("steady hotspot 1 Gb/s", 1.0),
                ("two steady hotspots 2 Gb/s", 4.0),
            ] {
                all.push(new("signalling", condition, "on", scheme).has(Id::Overhead, overhead));
            }
        }
    }
    all
}

/// A study's runs as claimed.
fn as_claimed(study: &str) -> Vec<RunRecord> {
    match study {
        "B07" => b07(),
        "M08" => m08::tests::runs(),
        "R07" => r07::tests::runs(),
        "Z07" => z07::tests::runs(10),
        "C07" => c07::tests::runs(),
        "T11" => t11::tests::runs(),
        "next" => next::tests::runs(),
        "modern" => modern::tests::runs(),
        other => panic!("no runs of {other} as claimed: write some"),
    }
}

/// Takes the values of another run.
fn take(r: &mut RunRecord, from: &RunRecord) {
    r.metrics.clone_from(&from.metrics);
    r.over_time.series.clone_from(&from.over_time.series);
    r.ports.clone_from(&from.ports);
    r.traffic.clone_from(&from.traffic);
}

/// The runs after a change; none if it changed nothing.
fn turned(mut all: Vec<RunRecord>, turn: &Turn) -> Option<Vec<RunRecord>> {
    let before = all.clone();
    let same = |word: &str, what: &str| word == "*" || word == what;
    for r in &mut all {
        match *turn {
            Metric(scenario, words, pause, scheme, id, value) => {
                let condition = words == "*" || r.case.condition.contains(words);
                if same(scenario, &r.case.scenario)
                    && condition
                    && same(pause, &r.case.pause)
                    && same(scheme, &r.case.scheme)
                {
                    *r = r.clone().has(id, value);
                }
            }
            Series(scheme, name, value) => {
                if let Some(curve) = r.over_time.series.get_mut(name).filter(|_| r.case.scheme == scheme) {
                    curve.values.fill(value);
                }
            }
            Port(name, queue, paused) => {
                if r.ports.contains_key(name) {
                    *r = r.clone().port(name, queue, paused);
                }
            }
            Named(name, id, value) => {
                for facts in r.traffic.iter_mut().filter(|facts| facts.name == name) {
                    facts.metrics.insert(id.text(), value);
                }
            }
            Swap(a, b) => {
                let other = if r.case.scheme == a { b } else { a };
                if r.case.scheme == a || r.case.scheme == b {
                    r.case.scheme = other.into();
                }
            }
            Same(source, scheme) => {
                let twin = |x: &&RunRecord| x.case == r.case.under(source) && x.seed == r.seed;
                if let Some(from) = before.iter().find(twin).filter(|_| same(scheme, &r.case.scheme)) {
                    take(r, from);
                }
            }
            Condition(scenario, from, to) => {
                let other = CaseId { condition: from.into(), ..r.case.clone() };
                let twin = |x: &&RunRecord| x.case == other && x.seed == r.seed;
                let here = r.case.scenario == scenario && r.case.condition == to;
                if let Some(source) = before.iter().find(twin).filter(|_| here) {
                    take(r, source);
                }
            }
        }
    }
    let text = |all: &[RunRecord]| all.iter().map(|r| format!("{r:?}\n")).collect::<String>();
    (text(&before) != text(&all)).then_some(all)
}

#[test]
fn every_claim_can_hold() {
    for paper in PAPERS.iter().filter(|p| !p.claims.is_empty()) {
        let (records, other) = (as_claimed(paper.id), [run(paper.id, "x", "x", "on", "none", 1)]);
        for claim in paper.claims {
            assert_eq!(verdict(&records, claim.id), Holds::Yes, "{}", claim.id);
            assert_eq!(verdict(&other, claim.id), Holds::NotRun, "{}", claim.id);
        }
    }
}

#[test]
fn every_claim_can_fail() {
    let claims = || PAPERS.iter().flat_map(|p| p.claims);
    for claim in claims() {
        assert!(TURNS.iter().any(|t| t.0 == claim.id), "{}: say in TURNS what makes it fail", claim.id);
    }
    for (i, (id, turn)) in TURNS.iter().enumerate() {
        let claim = claims().find(|c| c.id == *id);
        let study = claim.unwrap_or_else(|| panic!("line {i} speaks of {id}, which is no claim")).study();
        let records =
            turned(as_claimed(study), turn).unwrap_or_else(|| panic!("line {i}, for {id}, changes nothing"));
        assert_eq!(verdict(&records, id), Holds::No, "line {i}, for {id}");
    }
}
