//! R07's three scenarios: wiring, and main effects in short runs.

use crate::{go, job};
use cnsim_fabric::{Options, run};
use cnsim_papers::published;
use cnsim_runs::run::{Watch, run_job};
use cnsim_runs::store::Store;
use cnsim_scenario::Scenario;
use cnsim_scheme_api::Time;

const NAMES: [&str; 3] = ["single-hop-10", "single-hop-20", "chain-20"];

const SHORT: &[(&str, &str)] =
    &[("run.duration", "160 ms"), ("hotspot.start", "20 ms"), ("hotspot.stop", "80 ms")];
const CHAIN: &[(&str, &str)] = &[("run.duration", "30 ms"), ("record.bin", "1 ms")];

/// Everything parses and is ready, conditions are as agreed, and those of neighbouring values find a run too.
#[test]
fn scenarios_are_whole() {
    for (name, count) in NAMES.iter().zip([76, 66, 19]) {
        let scenario = Scenario::load(&format!("R07/{name}"), &[]).unwrap();
        assert_eq!(scenario.cases().len(), count, "{name}");
        for case in scenario.cases() {
            assert!(scenario.ready(&case).is_ok(), "{name}: {}", case.id.condition);
            let again = scenario.case_of(&case.id.condition, &case.id.pause, &case.id.scheme).unwrap();
            let (a, b) = (scenario.ready(&case).unwrap(), scenario.ready(&again).unwrap());
            assert_eq!((again.id.condition, a.config), (case.id.condition, b.config), "{name}: read back");
        }
        for p in published::parse("published.csv", published::EMBEDDED).unwrap() {
            if p.case.study == "R07" && p.case.scenario == **name {
                assert!(
                    scenario.case_of(&p.case.condition, &p.case.pause, &p.case.scheme).is_some(),
                    "{p:?}"
                );
            }
        }
        // A copy in a file is the same.
        let path = format!("{}/../../scenarios/R07/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let copy = Scenario::load(&path, &[]).unwrap();
        assert_eq!(copy.cases(), scenario.cases());
    }
    let single = Scenario::load("R07/single-hop-10", &[]).unwrap();
    let chain = Scenario::load("R07/chain-20", &[]).unwrap();
    for (scenario, scheme, condition, key, value) in [
        (&single, "qcn-h", "hotspot 0.2 Gb/s, HAI", "hai", "linear"),
        (&single, "qcn-2pt", "hotspot 0.1 Gb/s", "hai", "off"),
        (&single, "qcn-2pt", "hotspot 0.1 Gb/s", "ri", "0.012 Gb/s"),
        (&single, "qcn-2pt", "hotspot 0.1 Gb/s, A 24 Mb/s", "ri", "0.024 Gb/s"),
        (&single, "qcn-2pt", "hotspot 0.1 Gb/s, HAI, A 36 Mb/s", "ri", "0.036 Gb/s"),
        (&single, "qcn-sp", "hotspot 1 Gb/s", "drift", "1.005"),
        (&single, "qcn-h", "hotspot 1 Gb/s", "ri", "0.024 Gb/s"),
        (&single, "ecm", "hotspot 1 Gb/s", "oversampling", "off"),
        (&single, "ecm", "hotspot 0.3 Gb/s, oversampling", "oversampling", "proportional"),
        (&single, "ecm", "hotspot 0.3 Gb/s, oversampling negative", "oversampling", "negative"),
        (&chain, "ecm", "bursty", "tag_match", "rp"),
        (&chain, "ecm", "bursty, HAI, tag match cp", "tag_match", "cp"),
        (&chain, "qcn-pp", "bursty, HAI", "hai", "linear"),
    ] {
        let case = scenario.case_of(condition, "on", scheme).unwrap();
        let ready = scenario.ready(&case).unwrap();
        let found = ready.built.values.iter().find(|v| v.0 == key).map(|v| v.1.as_str());
        assert_eq!(found, Some(value), "{condition}, {scheme}: {key}");
    }
}

/// What is written for one scheme replaces what is written for all, whatever the order of their names.
#[test]
fn a_schemes_own_value_comes_last() {
    let text = "name = \"x\"\n[scheme.params]\nr_min = \"20 Mb/s\"\n[scheme.ecm]\nr_min = \"30 Mb/s\"\n[scheme.qcn-h]\n\
         r_min = \"40 Mb/s\"\n[matrix]\nschemes = [\"ecm\", \"qcn-2pt\", \"qcn-h\"]\n";
    let scenario = Scenario::parse("x.toml", text, &[]).unwrap();
    let floor = |i: usize| {
        let ready = scenario.ready(&scenario.cases()[i]).unwrap();
        ready.built.values.iter().find(|v| v.0 == "r_min").unwrap().1.clone()
    };
    assert_eq!([floor(0), floor(1), floor(2)], ["0.03 Gb/s", "0.02 Gb/s", "0.04 Gb/s"]);
}

/// ECM has no hyperactive increase: the run is the same, and comes from the store under both conditions.
#[test]
fn one_run_under_two_conditions() {
    let dir = std::env::temp_dir().join(format!("cnsim-r07-{}", std::process::id()));
    let store = Store::open(&dir, false).unwrap();
    let sets = [("run.duration", "4 ms"), ("hotspot.start", "1 ms"), ("hotspot.stop", "3 ms")];
    let kept = |condition| {
        let job = job("R07/single-hop-10", [condition, "on", "ecm"], &sets);
        run_job(&job, Some(&store), &Watch::default(), 1).unwrap().unwrap()
    };
    let (plain, hai) = (kept("hotspot 1 Gb/s"), kept("hotspot 1 Gb/s, HAI"));
    assert_eq!(
        (plain.case.condition.as_str(), hai.case.condition.as_str()),
        ("hotspot 1 Gb/s", "hotspot 1 Gb/s, HAI")
    );
    assert_eq!(plain.fingerprint, hai.fingerprint);
    assert_eq!(
        std::fs::read_dir(dir.join("runs")).unwrap().filter(|f| f.is_ok()).count(),
        2,
        "one, and a lock"
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

/// No loss with PAUSE; probes and drift bring the hot port back sooner, as does a milder hotspot (R07.3, R07.5).
#[test]
fn recovery_of_the_single_hop() {
    let deficit = |scheme: &str, condition: &str, sets: &[(&str, &str)]| {
        let r = go("R07/single-hop-10", [condition, "on", scheme], &[SHORT, sets].concat());
        assert_eq!(r.metrics["dropped_frames"], 0.0);
        r.metrics["recovery_deficit"]
    };
    let plain = deficit("qcn-2pt", "hotspot 0.5 Gb/s", &[]);
    assert!(plain > 5.0, "{plain} ms");
    for scheme in ["qcn-p", "qcn-sp"] {
        let probed = deficit(scheme, "hotspot 0.5 Gb/s", &[]);
        assert!(probed < 0.6 * plain, "{scheme} {probed} ms, QCN {plain} ms");
    }
    let still = deficit("qcn-2pt", "hotspot 0.5 Gb/s", &[("scheme.qcn-2pt.drift", "off")]);
    assert!(still > 1.1 * plain, "without drift {still} ms, with {plain} ms");
    let mild = deficit("qcn-2pt", "hotspot 2 Gb/s", &[]);
    assert!(mild < plain, "2 Gb/s {mild} ms, 0.5 Gb/s {plain} ms");
}

/// Every named port carries what its flows deliver: node 3k and 3k + 2 cross one link, node 3k + 1 all links to S17
/// and the port of node 52.
#[test]
fn chain_adds_up() {
    let job = job("R07/chain-20", ["bursty, HAI", "on", "qcn-2pt"], CHAIN);
    let out = run(&job.ready.settings.spec(&job.ready.built, 1, false), &Options::default()).unwrap();
    let mut expected = 0.0;
    for (from, to) in (0..54).flat_map(|a| (0..54).map(move |b| (a, b))) {
        let bits = out.recorded.matrix[from * 54 + to] as f64 * 8.0;
        let goal = match from % 3 {
            0 => from + 3,
            1 => 52,
            _ => from + 2,
        };
        assert_eq!(bits > 0.0, goal == to && from != 52 && goal < 54, "{from} to {to}");
        if bits > 0.0 {
            expected += bits * ((to / 3 - from / 3) + usize::from(to == 52)) as f64;
        }
    }
    let expected = expected / Time::from_ms(30).as_secs_f64() / 1e9;
    let r = cnsim_runs::run::record(&job, &out);
    let total = r.metrics["ports_throughput"];
    assert!((total / expected - 1.0).abs() < 0.03, "{total} through the ports, {expected} by flows");
    assert!(r.metrics["flow_rate_min"] > 0.0);
    // Series and metrics agree.
    for (series, metric) in [("ports_throughput", "ports_throughput"), ("sent S2>S3", "port_throughput")] {
        let values = &r.over_time.series[series].values;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - r.metrics[metric]).abs() < 1e-3, "{series}: {mean} and {}", r.metrics[metric]);
    }
    assert_eq!(r.ports.len(), 18);
}

/// Who filters by the tag decides whether positive messages are discarded (R07.6); without a scheme PAUSE spreads.
#[test]
fn false_positives_and_pause_in_the_chain() {
    let share = |condition| {
        let r = go("R07/chain-20", [condition, "on", "ecm"], CHAIN);
        (r.metrics["discarded_positive_share"], r.metrics["point_changes"], r.metrics["ports_throughput"])
    };
    let (rp, cp) = (share("bursty, HAI"), share("bursty, HAI, tag match cp"));
    assert!(rp.0 > 30.0 && cp.0 < 5.0, "rp {} %, cp {} %", rp.0, cp.0);
    assert!(rp.1 > 100.0, "{} changes", rp.1);
    let none = go("R07/chain-20", ["bursty", "on", "none"], CHAIN);
    let total = none.metrics["ports_throughput"];
    assert!(total < 0.5 * rp.2, "without a scheme {total}, ECM {} Gb/s", rp.2);
    assert!(!none.metrics.0.contains_key("point_changes"));
}
