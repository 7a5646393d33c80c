//! AF-QCN beside the 802.1Qau that it is built on: eight greedy flows into one port.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::{Options, Outcome, run};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::NodeId;

const TEXT: &str = r#"
name = "fair"
[topology]
kind = "single-switch"
hosts = 9
first = 1
[pause]
mode = "on"
[[traffic]]
hosts = ["H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8"]
kind = "greedy"
destinations = ["H9"]
[run]
duration = "400 ms"
[matrix]
schemes = ["qcn-802.1Qau", "af-qcn"]
[record]
flows = ["H1>H9", "H2>H9", "H3>H9", "H4>H9", "H5>H9", "H6>H9", "H7>H9", "H8>H9"]
"#;

/// Rates of the flows after the first 100 ms, Gb/s.
fn rates(scheme: &str, sets: &[(&str, &str)], seed: u64) -> Vec<f64> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let scenario =
        Scenario::parse_in(&cnsim_schemes::registry(), "fair.toml", TEXT, &sets, &[scheme]).unwrap();
    let case = scenario.cases().into_iter().find(|c| c.id.scheme == scheme).unwrap();
    let ready = scenario.ready(&case).unwrap();
    let mut spec = ready.settings.spec(&ready.built, seed, false);
    spec.record.bin = cnsim_scheme_api::Time::from_ms(1);
    spec.record.flows = (0..8).map(|i| (NodeId(i), NodeId(8))).collect();
    let out: Outcome = run(&spec, &Options { threads: 1, ..Options::default() }).unwrap();
    let mean = |src| {
        let kind = cnsim_fabric::SeriesKind::Flow { src, dst: NodeId(8) };
        let late = &out.series(kind).unwrap().values[100..];
        late.iter().sum::<f64>() / late.len() as f64 / 1e9
    };
    (0..8).map(|i| mean(NodeId(i))).collect()
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(s, q), r| (s + r, q + r * r));
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn equal_weights_come_nearer_to_equal_rates() {
    let mean = |scheme| (1..=3).map(|seed| jain(&rates(scheme, &[], seed))).sum::<f64>() / 3.0;
    let (af, qau) = (mean("af-qcn"), mean("qcn-802.1Qau"));
    assert!(af > qau && af > 0.99, "AF-QCN {af}, 802.1Qau {qau}");
}

/// The hosts have the weights 3, 1, 3, 1, ...; the port stays busy.
#[test]
fn weights_share_the_port() {
    let rates = rates("af-qcn", &[("scheme.params.weights", "3; 1")], 1);
    let of = |from: usize| rates.iter().skip(from).step_by(2).sum::<f64>();
    let (heavy, light) = (of(0), of(1));
    assert!(heavy + light > 9.5, "{rates:?}");
    assert!((2.0..3.5).contains(&(heavy / light)), "{} to 1: {rates:?}", heavy / light);
}
