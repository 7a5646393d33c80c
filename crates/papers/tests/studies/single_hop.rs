//! The single-hop study against its published numbers, and what an expert would try on it.

use crate::{go, job};
use cnsim_fabric::{Engine, Options};
use cnsim_papers::cells::{all_cases, cells};
use cnsim_papers::published;
use cnsim_runs::run::{Watch, jobs, run_jobs};
use cnsim_scenario::{Scenario, needs_queue_pairs};

/// All six tables with one seed, within what the study's issue asks for.
#[test]
fn published_rows() {
    let mut scenario = Scenario::load("B07/single-hop", &[]).unwrap();
    scenario.set_seeds(1);
    let published = published::parse("published.csv", published::EMBEDDED).unwrap();
    let (cases, lost) = all_cases(&scenario, &published);
    let jobs = jobs(&scenario, cases).unwrap();
    assert_eq!((jobs.len(), lost.len()), (24, 0));
    let records: Vec<_> =
        run_jobs(&jobs, None, 0, &Watch::default()).unwrap().into_iter().flatten().collect();
    let cells = cells(&records, &published, std::slice::from_ref(&scenario));
    assert_eq!(
        cells.iter().filter(|c| c.published.is_some()).count(),
        120,
        "every published cell has its measured one"
    );
    let mut looked = 0;
    for c in &cells {
        let Some(p) = &c.published else { continue };
        let (measured, value) = (c.summary.mean, p.value);
        let close = |share: f64| (measured / value - 1.0).abs() <= share;
        let place = format!(
            "{}, PAUSE {}, {}, {}: {measured} against {value}",
            c.condition(),
            c.case.pause,
            c.case.scheme,
            c.metric.id
        );
        let severe = c.condition() == "hotspot 0 Gb/s";
        match (c.case.scheme.as_str(), c.metric.id) {
            ("none", "aggregate_throughput" | "hot_port_throughput") => assert!(close(0.01), "{place}"),
            ("none", "time_paused") => assert!((measured - value).abs() <= 0.5, "{place}"),
            ("none", "dropped_frames") => {
                assert!(if value == 0.0 { measured == 0.0 } else { close(0.01) }, "{place}")
            }
            ("qcn-3pt", "overhead") if c.case.pause == "on" && c.condition() == "hotspot 2 Gb/s" => {
                assert!(close(0.03), "{place}");
            }
            // It follows the throughput, of which PAUSE takes more or less by seed: over ten seeds 76.4 +- 2.0 Gb/s, published 78.65.
            // So overhead for each bit that is delivered is close, and overhead itself is lower by 4 %.
            ("qcn-3pt", "overhead") if c.case.pause == "on" && !severe => {
                let same = |x: &&cnsim_papers::published::Published| {
                    (&x.case.scenario, &x.case.condition, &x.case.pause, &x.case.scheme)
                        == (&p.case.scenario, &p.case.condition, &p.case.pause, &p.case.scheme)
                        && x.metric == "aggregate_throughput"
                };
                let carried = published.iter().find(same).unwrap().value;
                let job = job("B07/single-hop", [c.condition(), "on", "qcn-3pt"], &[]);
                let seeds: Vec<_> =
                    (1..=10).map(|seed| cnsim_runs::run::Job { seed, ..job.clone() }).collect();
                let runs = run_jobs(&seeds, None, 0, &Watch::default()).unwrap();
                let sum = |id: &str| runs.iter().flatten().map(|r| r.metrics[id]).sum::<f64>();
                let share = sum("overhead") / sum("aggregate_throughput");
                let mean = sum("overhead") / 10.0;
                assert!((mean / value - 1.0).abs() <= 0.05, "{place}, mean of ten {mean}");
                assert!(
                    (share / (value / carried) - 1.0).abs() <= 0.02,
                    "{place}, {share} Mb/s for each Gb/s"
                );
            }
            ("ecm" | "qcn-2pt", "aggregate_throughput")
                if c.case.pause == "off" || c.condition() == "hotspot 2 Gb/s" =>
            {
                assert!(close(0.015), "{place}");
            }
            // How far the schemes are from these cells is said with intervals, by the verdicts of the report.
            ("ecm" | "qcn-2pt" | "qcn-3pt", _) | ("none", "overhead") => continue,
            _ => panic!("nobody has said whether this cell is to be looked at: {place}"),
        }
        looked += 1;
    }
    assert_eq!(looked, 24 + 2 + 8, "every judged cell was looked at");
    for r in records.iter().filter(|r| r.case.scheme == "qcn-3pt" && r.case.pause == "on") {
        let expected = r.metrics["aggregate_throughput"] * 1e9 / 12_000.0 * 0.04 * 512.0 / 1e6;
        let overhead = r.metrics["overhead"];
        assert!((overhead / expected - 1.0).abs() < 0.03, "{}: {overhead} and {expected}", r.case.condition);
    }
    for r in records.iter().filter(|r| r.case.pause == "off") {
        let innocents = r.metrics["innocent_throughput"];
        assert!(
            (innocents - 76.5).abs() < 0.25,
            "{} {}: innocents lose without PAUSE: {innocents}",
            r.case.condition,
            r.case.scheme
        );
    }
}

const SHORT: &[(&str, &str)] =
    &[("run.duration", "120 ms"), ("hotspot.start", "20 ms"), ("hotspot.stop", "80 ms")];

/// The engines agree bit for bit under the real schemes too, on 1, 2 and 4 threads. Those of queue pairs have no endless sources.
#[test]
fn engines_agree_under_every_scheme() {
    let short = [("run.duration", "40 ms"), ("hotspot.start", "5 ms"), ("hotspot.stop", "25 ms")];
    for entry in cnsim_schemes::registry().iter().filter(|e| !needs_queue_pairs(e)) {
        for (pause, rate) in [("on", "hotspot 0.5 Gb/s"), ("off", "hotspot 0 Gb/s")] {
            let job = job("B07/single-hop", [rate, pause, &entry.name], &short);
            let spec = job.ready.settings.spec(&job.ready.built, 3, false);
            let go = |engine, threads| {
                format!(
                    "{:?}",
                    cnsim_fabric::run(&spec, &Options { engine, threads, ..Options::default() })
                        .unwrap()
                        .results()
                )
            };
            let oracle = go(Engine::Model, 1);
            for threads in [1, 2, 4] {
                assert!(
                    go(Engine::Fast, threads) == oracle,
                    "{} PAUSE {pause}, {threads} threads",
                    entry.name
                );
            }
        }
    }
}

/// Without the derivative the queue oscillates.
#[test]
fn w_of_zero_oscillates() {
    for scheme in ["ecm", "qcn-2pt"] {
        let sd = |w: &str| {
            let mut sets = SHORT.to_vec();
            sets.push(("scheme.params.w", w));
            go("B07/single-hop", ["hotspot 2 Gb/s", "off", scheme], &sets).metrics["sd_hot_queue"]
        };
        let (without, with) = (sd("0"), sd("2"));
        assert!(without > 1.15 * with, "{scheme}: sd {without} KB with W = 0, {with} KB with W = 2");
    }
}

/// Gd = 0: messages flow, nothing is lowered, the result is that of no scheme.
#[test]
fn gd_of_zero_is_none() {
    let none = go("B07/single-hop", ["hotspot 2 Gb/s", "on", "none"], SHORT).metrics["aggregate_throughput"];
    for scheme in ["ecm", "qcn-2pt"] {
        let mut sets = SHORT.to_vec();
        sets.push(("scheme.params.gd", "0"));
        let off =
            go("B07/single-hop", ["hotspot 2 Gb/s", "on", scheme], &sets).metrics["aggregate_throughput"];
        assert!((off / none - 1.0).abs() < 0.005, "{scheme}: {off} against {none}");
    }
}

/// 400 Gb/s links run the same study.
#[test]
fn four_hundred_gigabits() {
    let sets = [
        ("topology.link_rate", "400 Gb/s"),
        ("run.duration", "4 ms"),
        ("hotspot.start", "1 ms"),
        ("hotspot.stop", "2 ms"),
        ("switch.share", "6 MB"),
        ("record.bin", "0.1 ms"),
    ];
    let aggregate =
        go("B07/single-hop", ["hotspot 2 Gb/s", "off", "none"], &sets).metrics["aggregate_throughput"];
    // All of 3400 Gb/s, less what the hot port does not serve for a quarter of the run; nine partitions of 6 MB hold
    // 432 Mb of it until later.
    let lost = 0.25 * (340.0 - 2.0);
    assert!((3400.0 - lost - 10.0..3400.0 + 1.0).contains(&aggregate), "{aggregate}");
}
