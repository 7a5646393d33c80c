//! A short flow on a free path, beside a long one of its host that congestion limits: the limit holds up nothing else.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::{Options, run};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::Time;

/// H2 to H5 send 2 MB each to H1; at 200 us H2 sends 95 KB to H10, which nobody else uses. Completion of that, us.
fn short_flow(scheme: &str, queues: &str) -> f64 {
    let text = format!(
        r#"
        name = "free-path"
        [topology]
        kind = "single-switch"
        hosts = 13
        link_rate = "10 Gb/s"
        [pause]
        mode = "off"
        [host]
        queues = "{queues}"
        [workload]
        kind = "transfers"
        transfers = [
          "0 us, H2, H1, 2 MB", "0 us, H3, H1, 2 MB", "0 us, H4, H1, 2 MB", "0 us, H5, H1, 2 MB",
          "200 us, H2, H10, 95 KB",
        ]
        [run]
        duration = "10 ms"
        [matrix]
        pause = ["off"]
        schemes = ["{scheme}"]
        "#
    );
    let scenario = Scenario::parse("free-path.toml", &text, &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let out = run(&ready.settings.spec(&ready.built, 1, false), &Options::default()).unwrap();
    (out.hosts[10].transfers.completions[0].end - Time::from_us(200)).as_secs_f64() * 1e6
}

#[test]
fn a_short_flow_on_a_free_path_takes_its_time() {
    for queues in ["fifo", "per-destination"] {
        // With no limit the two flows of H2 take turns.
        for (scheme, takes) in [("none", 156.6), ("qcn-802.1Qau", 89.8), ("qcn-2pt", 85.0), ("dcqcn", 87.4)] {
            let took = short_flow(scheme, queues);
            assert!((took / takes - 1.0).abs() < 0.03, "{queues} {scheme}: {took} us, not {takes}");
        }
    }
}
