//! A scheme of one's own over TCP: rate and window from samples, on a path that loses frames.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::{Engine, Options, Outcome, run};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::testing::conformance_over;

#[test]
fn it_keeps_the_contract() {
    assert_eq!(conformance_over(&my_scheme::bbr::registration()), Ok(()));
}

/// A flow of 20 MB through a port of 1 Gb/s, which has memory for 200 frames; the product is 16 frames.
fn run_by(scheme: &str, loss: &str) -> Outcome {
    let mut registry = cnsim_schemes::registry();
    registry.register(my_scheme::bbr::registration()).unwrap();
    let text = format!(
        r#"
name = "lossy"
[topology]
kind = "single-switch"
hosts = 2
link_delay = "50 us"
[switch]
buffer = "SO"
share = "300 KB"
[host]
queues = "per-flow"
[transport]
kind = "tcp"
rto_min = "fine"
[workload]
kind = "transfers"
transfers = ["0 us, H1, H0, 20 MB"]
[[event]]
port = "S>H0"
at = "0 us"
rate = "1 Gb/s"
{loss}
[run]
duration = "2 s"
[matrix]
pause = ["off"]
schemes = ["{scheme}"]
"#
    );
    let scenario = Scenario::parse_in(&registry, "lossy.toml", &text, &[], &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let spec = ready.settings.spec(&ready.built, 1, false);
    let by = |engine| run(&spec, &Options { engine, ..Options::default() }).unwrap().results();
    let (fast, model) = (by(Engine::Fast), by(Engine::Model));
    assert_eq!(format!("{fast:?}"), format!("{model:?}"), "{scheme}");
    fast
}

/// 20 MB take 160 ms at 1 Gb/s. One frame in 200 is lost: NewReno's window is some 17 frames then, and each loss halves it. Without
/// losses NewReno fills the memory, and this scheme does not.
#[test]
fn losses_do_not_slow_it_and_queues_stay_short() {
    let time = |out: &Outcome| out.hosts[0].transfers.completions[0].end.as_secs_f64() * 1e3;
    let queue = |out: &Outcome| out.switches[0].ports[0].queue_max / 1500;
    let [mine, reno] = ["my-bbr", "newreno"]
        .map(|scheme| time(&run_by(scheme, "[[event]]\nlink = \"H1-S\"\nloss = \"0.5 %\"")));
    assert!((160.0..185.0).contains(&mine), "{mine} ms");
    assert!(reno > 1.2 * mine, "{reno} ms, mine {mine}");
    let [mine, reno] = ["my-bbr", "newreno"].map(|scheme| run_by(scheme, ""));
    assert!(time(&mine) < 180.0 && time(&reno) < 180.0, "{} and {} ms", time(&mine), time(&reno));
    assert!(queue(&mine) < 80 && queue(&reno) >= 199, "{} and {} frames", queue(&mine), queue(&reno));
}
