//! C07's scenarios: all of them can be run, and say the same as the networks wired by hand in jain.rs.

use crate::go;
use cnsim_papers::cells::all_cases;
use cnsim_papers::published;
use cnsim_runs::run::jobs;
use cnsim_scenario::Scenario;

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value}, expected {expected}");
}

#[test]
fn all_rows_are_read_and_ready() {
    let published = published::parse("published.csv", published::EMBEDDED).unwrap();
    for (name, cases) in [("symmetric-on-off", 9), ("asymmetric", 9), ("parking-lot", 9 + 11 + 1)] {
        let mut scenario = Scenario::load(&format!("C07/{name}"), &[]).unwrap();
        scenario.set_seeds(1);
        assert_eq!(scenario.cases().len(), cases, "{name}");
        let (all, lost) = all_cases(&scenario, &published);
        let jobs = jobs(&scenario, all).unwrap();
        assert!(lost.is_empty(), "{lost:?}");
        assert_eq!(jobs.len(), cases, "{name}: every published row is among them");
        // Values that nobody printed.
        for (scheme, text) in [
            ("becn", "measurement interval 100 us, added delay 20 us"),
            ("bcn", "sampling rate 2%"),
            ("bcn", "sampling rate 0.5%, added delay 500 us, W 16"),
            ("fecn", "tagging rate 20%, run 200 ms"),
        ] {
            if name == "parking-lot" || !text.contains("delay") {
                let case = scenario.case_of(text, "global", scheme).unwrap();
                assert_eq!(case.id.condition, text);
                scenario.ready(&case).unwrap();
            }
        }
    }
    let scenario = Scenario::load("C07/symmetric-on-off", &[]).unwrap();
    let param = |scheme: &str, text: &str, key: &str| {
        let ready = scenario.ready(&scenario.case_of(text, "global", scheme).unwrap()).unwrap();
        ready.config.0["scheme"]["params"][key].clone()
    };
    assert_eq!(param("bcn", "sampling rate 1%", "sample"), "150 KB");
    assert_eq!(param("fecn", "tagging rate 5%", "tagging"), "0.05");
    assert_eq!(param("becn", "measurement interval 3 ms", "interval"), "3 ms");
}

/// 96 ports x 512 bit / 30 us, in every millisecond; the edge port becomes the bottleneck, and shares are equal.
#[test]
fn becn_pays_with_throughput() {
    let r = go(
        "C07/symmetric-on-off",
        ["measurement interval 30 us", "global", "becn"],
        &[("run.duration", "45 ms")],
    );
    near(r.metrics["overhead"], 1638.4, 0.005);
    r.over_time.series["control_rate"].values.iter().for_each(|v| near(*v, 1638.4, 0.01));
    near(r.metrics["hot_port_throughput"], 10.0 - 1.638, 0.02);
    assert!(r.ports["E5>H5"].mean_queue.unwrap() > 2.0 * r.ports["X>E5"].mean_queue.unwrap());
    assert!(r.metrics["fairness"] > 0.999);
    // Two flows in the second phase: theirs is the index.
    assert!(r.over_time.series["flow H1>H5"].values[22..40].iter().all(|v| *v == 0.0));
    assert!(r.over_time.series["fairness"].values[22..40].iter().all(|v| *v > 0.99));
}

/// The rates of single flows are those of the flows named, not of the way back.
#[test]
fn the_slowest_port_rules_all_under_becn() {
    let r =
        go("C07/asymmetric", ["measurement interval 300 us", "global", "becn"], &[("run.duration", "40 ms")]);
    for id in ["flow_rate", "flow_rate_min", "flow_rate_max"] {
        near(r.metrics[id], 418.0, 0.02);
    }
    near(r.metrics["aggregate_throughput"], 1.672, 0.02);
}

#[test]
fn becn_stops_the_network_at_30_us() {
    let r =
        go("C07/asymmetric", ["measurement interval 30 us", "global", "becn"], &[("run.duration", "25 ms")]);
    assert!(r.metrics["frozen_since"] < 15.0 && r.metrics["aggregate_throughput"] < 0.5);
    assert!(r.ports["E1>X"].paused > 30.0);
}

/// Six equal rates of what control leaves; the aggregate loses the messages of all 96 ports.
#[test]
fn the_parking_lot_is_max_min_fair_under_becn() {
    let r =
        go("C07/parking-lot", ["measurement interval 30 us", "global", "becn"], &[("run.duration", "40 ms")]);
    near(r.metrics["flow_rate_min"], 1727.0, 0.01);
    near(r.metrics["flow_rate_max"], 1727.0, 0.01);
    near(r.metrics["throughput_loss"], 1.365, 0.01);
    near(r.metrics["aggregate_loss"], 1.638, 0.03);
}

/// Every flow over both ports has less than one over a single port; hardly anything is lost.
#[test]
fn bcn_fills_the_parking_lot() {
    let r = go("C07/parking-lot", ["sampling rate 1%, W 4", "global", "bcn"], &[("run.duration", "60 ms")]);
    assert!(r.metrics["overhead"] < 8.0);
    assert!(r.metrics["flow_rate_max"] > 1.3 * r.metrics["flow_rate_min"]);
    let late = &r.over_time.series["aggregate_throughput"].values[30..];
    assert!(late.iter().sum::<f64>() / late.len() as f64 > 12.0);
}

/// Messages per delivered frame: tagging says how many.
#[test]
fn fecn_pays_by_the_tag() {
    for (rate, share) in [("100%", 1.0), ("10%", 0.1)] {
        let r = go(
            "C07/symmetric-on-off",
            [&format!("tagging rate {rate}"), "global", "fecn"],
            &[("run.duration", "30 ms")],
        );
        near(r.metrics["overhead"], 10e3 / 12_000.0 * 512.0 * share, 0.03);
    }
}
