//! M08 and the next steps: scenarios, conditions, and the main effects in short runs.

use crate::{go, scenario};
use cnsim_papers::cells::all_cases;
use cnsim_papers::published;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::jobs;
use cnsim_scenario::EMBEDDED;

/// Every scenario is read, every case can be run, and a user's own copy of the file is the same.
#[test]
fn scenarios_are_ready() {
    let mine = EMBEDDED.iter().filter(|(id, _)| id.starts_with("M08/") || id.starts_with("next/"));
    let mut seen = 0;
    for (id, _) in mine {
        let embedded = scenario(id, &[]);
        assert_eq!(embedded.id(), *id);
        let file = format!("{}/../../scenarios/{id}.toml", env!("CARGO_MANIFEST_DIR"));
        let own = scenario(&file, &[]);
        assert_eq!(embedded.cases(), own.cases(), "{id}");
        for case in embedded.cases() {
            let config = embedded.ready(&case).unwrap().config;
            assert_eq!(config, own.ready(&case).unwrap().config, "{id}, {}", case.id.condition);
        }
        seen += 1;
    }
    assert_eq!(seen, 13);
}

/// Every published number finds its run, and so do neighbours with other values.
#[test]
fn published_rows_find_their_runs() {
    let published = published::parse("published.csv", published::EMBEDDED).unwrap();
    for (name, cases) in [("multi-hop-periodic", 10), ("symmetric-4-to-1", 16), ("symmetric-16-to-1", 12)] {
        let mut scenario = scenario(&format!("M08/{name}"), &[]);
        scenario.set_seeds(1);
        let (all, lost) = all_cases(&scenario, &published);
        let jobs = jobs(&scenario, all).unwrap();
        assert_eq!((jobs.len(), lost.len()), (cases, 0), "{name}: printed values are in the matrix");
    }
    let text = "study,scenario,condition,pause,scheme,metric,value,unit,note\n\
        M08,multi-hop-periodic,congestion 50 ms on/off,on,none,innocent_flow_utilization,60,%,\n\
        M08,multi-hop-periodic,congestion 50 ms on/off,on,qcn-serial-hai,victim_flow_utilization,60,%,\n\
        M08,multi-hop-800ms,hotspot 1 Gb/s,off,qcn-serial-hai,hot_port_throughput,1,Gb/s,\n\
        M08,symmetric-16-to-1,control loop delay 200 us,off,qcn-serial-hai,throughput,9.5,Gb/s,\n\
        M08,symmetric-4-to-1,control loop delay 0.25 ms,off,qcn-serial-hai,dropped_frames,600,frames,\n";
    let other = published::parse("more.csv", text).unwrap();
    for (name, more) in
        [("multi-hop-periodic", 2), ("multi-hop-800ms", 2), ("symmetric-16-to-1", 3), ("symmetric-4-to-1", 3)]
    {
        let mut scenario = scenario(&format!("M08/{name}"), &[]);
        scenario.set_seeds(1);
        let (all, lost) = all_cases(&scenario, &other);
        let jobs = jobs(&scenario, all).unwrap();
        assert_eq!((jobs.len(), lost.len()), (scenario.cases().len() + more, 0), "{name}");
    }
}

/// 31 Gb/s are offered, 28 of them past node 7; a loop between hosts of different edges takes 16 us.
#[test]
fn multi_hop_by_hand() {
    let s = scenario("M08/multi-hop-periodic", &[]);
    let ready = s.ready(&s.cases()[0]).unwrap();
    let settings = ready.settings;
    assert!((settings.offered().gbps() - 31.0).abs() < 1e-9);
    let past: f64 =
        (0..10).map(|h| settings.offered_between(h, false, (settings.record.from, settings.record.to))).sum();
    assert!((past - 28e9).abs() < 1.0, "{past}");
    let delay = settings.wiring.links[0].delay.as_secs_f64();
    assert!((6.0 * (delay + 1e-6) - 16e-6).abs() < 1e-8, "three links and three processing delays each way");
    // Share of a second that is congested, first at the start of the run.
    for (period, share) in
        [("25 ms", 0.5), ("80 ms", 0.52), ("125 ms", 0.5), ("150 ms", 0.55), ("200 ms", 0.6)]
    {
        let case = s.case_of(&format!("congestion {period} on/off"), "on", "none").unwrap();
        let hot = s.ready(&case).unwrap().settings.hotspot().unwrap();
        let spent: f64 = hot.windows().iter().map(|w| (w.1 - w.0).as_secs_f64()).sum();
        assert!((spent - share).abs() < 1e-9, "{period}: {spent}");
    }
}

/// Congested for good, PAUSE alone leaves each of nine hosts what the slow port serves of it, and node 7 its own 4 Gb/s:
/// 8.0 of 28 Gb/s. QCN frees most of the rest once its limiters hold.
#[test]
fn pause_alone_blocks_the_innocents() {
    let sets = [
        ("run.duration", "120 ms"),
        ("hotspot.stop", "120 ms"),
        ("hotspot.period", "120 ms"),
        ("record.from", "40 ms"),
    ];
    let utilisation = |scheme: &str, sets: &[(&str, &str)]| {
        let run = go("M08/multi-hop-periodic", ["congestion 120 ms on/off", "on", scheme], sets);
        assert_eq!(run.metrics["dropped_frames"], 0.0);
        run.metrics["innocent_flow_utilization"]
    };
    let alone = utilisation("none", &sets);
    assert!((alone - 8.0 / 28.0 * 100.0).abs() < 1.0, "{alone} %");
    let with = utilisation("qcn-serial-hai", &sets);
    assert!(with > 75.0, "{with} %");
    // Limiters that never lower a rate help nobody.
    let deaf: Vec<(&str, &str)> = sets.into_iter().chain([("scheme.params.gd", "0")]).collect();
    let deaf = utilisation("qcn-serial-hai", &deaf);
    assert!((deaf - alone).abs() < 1.0, "{deaf} % with a decrease gain of 0, {alone} % without a scheme");
}

/// The queue of the 800 ms run stands near its set point once the start is over, and the port never idles.
#[test]
fn the_queue_settles() {
    let sets = [("run.duration", "310 ms"), ("hotspot.stop", "310 ms")];
    let run = go("M08/multi-hop-800ms", ["hotspot 0.5 Gb/s", "off", "qcn-serial-hai"], &sets);
    let mean = |name: &str| run.over_time.series[name].values[200..310].iter().sum::<f64>() / 110.0;
    let (queue, rate) = (mean("hot_queue"), mean("hot_port_throughput"));
    assert!((13.0..45.0).contains(&queue), "mean queue {queue} KB");
    assert!((0.475..=0.5005).contains(&rate), "{rate} Gb/s");
    let drops = run.metrics["dropped_frames"];
    let sum = run.over_time.series["innocent_throughput"].values[0]
        + run.over_time.series["hot_port_throughput"].values[0];
    assert!((sum - run.over_time.series["aggregate_throughput"].values[0]).abs() < 1e-3);
    let none = go("M08/multi-hop-800ms", ["hotspot 0.5 Gb/s", "off", "none"], &sets);
    assert!(none.metrics["dropped_frames"] > 50.0 * drops, "{} and {drops}", none.metrics["dropped_frames"]);
}

/// The scenario is the network of `serial_hai.rs`; its auxiliary row takes the rule away.
#[test]
fn one_line_of_pseudocode() {
    let run = |condition: &str| go("M08/symmetric-4-to-1", [condition, "off", "qcn-serial-hai"], &[]);
    let (with, without) = (run("control loop delay 500 us"), run("control loop delay 500 us, without TR/8"));
    let rate = |r: &RunRecord| r.metrics["throughput"];
    assert!((rate(&with) / 9.446 - 1.0).abs() < 0.05, "{}", rate(&with));
    assert!(rate(&without) < 0.9 * rate(&with), "{} without the rule", rate(&without));
    assert!(without.metrics["dropped_frames"] > 3.0 * with.metrics["dropped_frames"]);
}

const SHORT: &[(&str, &str)] = &[
    ("run.duration", "60 ms"),
    ("traffic.1.start", "0 ms"),
    ("traffic.1.stop", "60 ms"),
    ("record.from", "20 ms"),
    ("record.to", "60 ms"),
];

/// Nine inputs at full rate into one output with PAUSE: the port serves 10 Gb/s, and whatever else the nine hosts send
/// waits behind frames for it. Their two sources compete for each free place of a full FIFO: in proportion to their
/// loads, 0.64 of what enters is for H0; where their slots alternate, 0.6 / 0.76 and 0.36 / 0.76 in the mean, 0.67.
#[test]
fn inputs_alone_make_a_hotspot() {
    let run = |scheme: &str, pause: &str| {
        go("next/input-generated-single-hop", ["sources H1..H9", pause, scheme], SHORT)
    };
    let none = run("none", "on");
    let others = |won: f64| {
        let to_hot = won + (1.0 - won) / 9.0;
        10.0 / to_hot * (1.0 - to_hot) + 4.0
    };
    let (low, high) = (others((0.6 + 0.36) / 0.76 / 2.0), others(0.6));
    let innocents = none.metrics["innocent_throughput"];
    assert!((low - 0.1..high + 0.1).contains(&innocents), "{innocents} Gb/s, expected {low} to {high}");
    assert!((none.metrics["hot_port_throughput"] - 10.0).abs() < 0.01);
    let qcn = run("qcn-serial-hai", "on").metrics["innocent_throughput"];
    assert!(qcn > 2.0 * innocents, "{qcn} with QCN, {innocents} Gb/s with PAUSE alone");
    // Without PAUSE the overload is dropped, and nobody else notices.
    let off = run("none", "off");
    assert!((off.metrics["innocent_flow_utilization"] - 100.0).abs() < 1.5);
    assert!(off.metrics["dropped_frames"] > 0.0);
}

/// Hosts of 1 Gb/s stop those of 100 Gb/s; QCN frees them.
#[test]
fn slow_hosts_stop_fast_ones() {
    let sets = [("run.duration", "60 ms"), ("record.from", "20 ms")];
    let rate = |scheme: &str| go("next/mixed-rates", ["load 5%", "on", scheme], &sets).metrics["innocent_throughput"];
    let (none, qcn) = (rate("none"), rate("qcn-802.1Qau"));
    assert!(qcn > 1.3 * none, "{qcn} with QCN, {none} Gb/s with PAUSE alone");
}
