//! B07: every scenario reads, every published row finds its case, and what the multi-hop, tree and baseline show in short runs.

use crate::go;
use cnsim_papers::cells::all_cases;
use cnsim_papers::published;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::jobs;
use cnsim_scenario::{EMBEDDED, Scenario};

/// All cases become ready; every published row, and its neighbours, find a case that the same words name.
#[test]
fn every_row_is_run() {
    let published = published::parse("published.csv", published::EMBEDDED).unwrap();
    for (id, _) in EMBEDDED.iter().filter(|(id, _)| id.starts_with("B07/")) {
        let mut s = Scenario::load(id, &[]).unwrap();
        s.set_seeds(1);
        let (cases, lost) = all_cases(&s, &published);
        let all = jobs(&s, cases).unwrap();
        assert!(lost.is_empty(), "{id}: {lost:?}");
        for j in &all {
            let again = s.case_of(&j.case.id.condition, &j.case.id.pause, &j.case.id.scheme).unwrap();
            assert_eq!(again.id.condition, j.case.id.condition, "{id}");
        }
    }
    for (id, condition, pause) in [
        ("B07/multi-hop", "hotspot 1 Gb/s", "off"),
        ("B07/fat-tree", "hotspot 0.5 Gb/s", "on"),
        ("B07/fat-tree", "hotspot 0 Gb/s", "off"),
        ("B07/baseline", "load 60%", "on"),
    ] {
        let s = Scenario::load(id, &[]).unwrap();
        let case = s.case_of(condition, pause, "ecm").unwrap();
        assert_eq!(case.id.condition, condition);
        assert!(s.ready(&case).is_ok(), "{id} {condition}");
    }
}

const SHORT: &[(&str, &str)] =
    &[("run.duration", "100 ms"), ("hotspot.start", "20 ms"), ("hotspot.stop", "70 ms")];

/// Without PAUSE the core knows nothing of the hotspot: the innocents get all they are offered,
/// 31 Gb/s less what is offered to H1, 28.5/9 Gb/s. With PAUSE and no scheme the jam stops them; ECM prevents most of it.
#[test]
fn pause_spreads_the_jam_over_the_core() {
    let innocents = |pause: &str, scheme: &str| {
        go("B07/multi-hop", ["hotspot 0.5 Gb/s", pause, scheme], SHORT).metrics["innocent_throughput"]
    };
    let offered = 31.0 - 28.5 / 9.0;
    let off = innocents("off", "none");
    assert!((off / offered - 1.0).abs() < 0.02, "{off} of {offered}");
    let (on, ecm) = (innocents("on", "none"), innocents("on", "ecm"));
    assert!(on < 0.75 * offered, "PAUSE alone leaves {on}");
    assert!(ecm > on + 2.0, "ECM {ecm}, PAUSE alone {on}");
}

/// Each value of `record.paused` averages as the metric of that name does. At 2 Gb/s H2 and H3, next to the hot port, are never
/// stopped, and the links to and from the core are: no two averages are equal.
#[test]
fn whose_time_paused() {
    let paused = |sets: &[(&str, &str)]| {
        let sets: Vec<_> = SHORT.iter().chain(sets).copied().collect();
        go("B07/multi-hop", ["hotspot 2 Gb/s", "on", "none"], &sets).metrics
    };
    let as_it_is = paused(&[]);
    assert_eq!(as_it_is["time_paused"], as_it_is["time_paused_touched"], "assumption A15");
    let mut seen: Vec<f64> = Vec::new();
    for who in ["senders", "affected", "touched", "all"] {
        let metrics = paused(&[("record.paused", who)]);
        let value = metrics["time_paused"];
        assert_eq!(value, metrics[format!("time_paused_{who}").as_str()], "{who}");
        assert!(
            value > 10.0 && seen.iter().all(|s| (s - value).abs() > 1.0),
            "{who}: {value} after {seen:?}"
        );
        seen.push(value);
    }
    assert!((seen[0] / seen[1] - 7.0 / 9.0).abs() < 0.01, "seven of nine senders are stopped: {seen:?}");
}

/// 64 hosts in the tree: 0.85 x 640 = 544 Gb/s pass without a hotspot; then every sender is held to the hot port's pace:
/// 63 x r (each a 63rd of its frames, of r/63) plus the hot host's own 8.5.
#[test]
fn the_tree_carries_its_load_and_stops() {
    let sets = [("run.duration", "6 ms"), ("hotspot.start", "5.9 ms"), ("hotspot.stop", "5.95 ms")];
    let free = go("B07/fat-tree", ["hotspot 2 Gb/s", "on", "none"], &sets);
    let aggregate = free.metrics["aggregate_throughput"];
    assert!((aggregate / 544.0 - 1.0).abs() < 0.015, "{aggregate}");
    let sets = [
        ("run.duration", "20 ms"),
        ("hotspot.start", "0.1 ms"),
        ("hotspot.stop", "20 ms"),
        ("record.from", "14 ms"),
    ];
    let jammed = go("B07/fat-tree", ["hotspot 2 Gb/s", "on", "none"], &sets);
    let (aggregate, bound) = (jammed.metrics["aggregate_throughput"], 63.0 * 2.0 + 8.5);
    assert!((aggregate / bound - 1.0).abs() < 0.12, "{aggregate} against {bound}");
}

/// Four at half load share the port fairly, and the queue stays near its set point under every scheme.
#[test]
fn the_baseline_fills_the_port() {
    let sets = [("run.duration", "200 ms"), ("record.from", "100 ms")];
    let none = go("B07/baseline", ["load 50%", "off", "none"], &sets);
    assert!((none.metrics["aggregate_throughput"] - 10.0).abs() < 0.05);
    let ecm = go("B07/baseline", ["load 50%", "off", "ecm"], &sets);
    let queue = |r: &RunRecord| r.metrics["mean_hot_queue"];
    assert!(ecm.metrics["aggregate_throughput"] > 9.0, "{}", ecm.metrics["aggregate_throughput"]);
    assert!(queue(&ecm) < 0.4 * queue(&none), "{} against {} KB", queue(&ecm), queue(&none));
}

/// QCN-3pt signals per frame received, congestion or not: 0.04 x 512 bit a frame.
#[test]
fn reflection_without_congestion() {
    let sets = [("run.duration", "30 ms")];
    let overhead = |load: &str| go("B07/uniform", [load, "on", "qcn-3pt"], &sets).metrics["overhead"];
    let expected = 85e9 / 12_000.0 * 0.04 * 512.0 / 1e6;
    let (full, half) = (overhead("load 85%"), overhead("load 42.5%"));
    assert!((full / expected - 1.0).abs() < 0.05, "{full} against {expected}");
    assert!((full / half - 2.0).abs() < 0.15, "{full} and {half}");
}
