//! Where a control loop must come to rest, by arithmetic, and where it does: four greedy flows into one port, for every
//! scheme that steers a queue; and the engines on switches that are off by default.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::{Engine, Options, Outcome, SeriesKind, run};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::NodeId;

const SENDERS: u32 = 4;

fn go(scheme: &str, params: &str, ms: u32, seed: u64, engine: Engine) -> Outcome {
    // A flow's own rate is the line's where it is greedy.
    let kind = if params.contains("initial_rate") { "bernoulli" } else { "greedy" };
    let text = format!(
        r#"
        name = "equilibrium"
        [topology]
        hosts = 5
        [pause]
        mode = "on"
        [[traffic]]
        hosts = "H0..H3"
        kind = "{kind}"
        destinations = ["H4"]
        [run]
        duration = "{ms} ms"
        [record]
        bin = "100 us"
        host = "H4"
        limiters = ["H0>H4", "H1>H4", "H2>H4", "H3>H4"]
        [scheme.params]
        {params}
        [matrix]
        pause = ["on"]
        schemes = ["{scheme}"]
        "#
    );
    let scenario = Scenario::parse("equilibrium.toml", &text, &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    run(&ready.settings.spec(&ready.built, seed, false), &Options { engine, ..Options::default() }).unwrap()
}

/// Mean queue [B], sum of the limiters' rates and delivered rate [bit/s] over the second half.
fn rest(out: &Outcome) -> (f64, f64, f64) {
    let mean = |kind| {
        let values = &out.series(kind).unwrap().values;
        let late = &values[values.len() / 2..];
        late.iter().sum::<f64>() / late.len() as f64
    };
    let sink = NodeId(SENDERS);
    let rates = (0..SENDERS).map(|h| mean(SeriesKind::LimiterRate { src: NodeId(h), dst: sink })).sum();
    let queue = mean(SeriesKind::Queue { node: NodeId(5), port: SENDERS as u16 });
    (queue, rates, mean(SeriesKind::Delivered { host: sink }))
}

/// Feedback is 0 only where the queue stands at Q_eq and does not grow: where the rates add up to the service rate.
/// Quantised feedback is 0 for up to a step (2 KB) more or less, and recovery by bytes pushes a little above it.
#[test]
fn the_queue_rests_at_the_set_point() {
    for (scheme, q_eq) in [
        ("bcn", 24e3),
        ("ecm", 24e3),
        ("qcn-2pt", 26_176.0),
        ("qcn-3pt", 26_176.0),
        ("qcn-serial-hai", 26e3),
        ("qcn-802.1Qau", 26e3),
        ("qcn-h", 24e3),
        ("qcn-p", 24e3),
        ("qcn-hp", 24e3),
        ("qcn-sp", 24e3),
        ("qcn-hsp", 24e3),
        ("qcn-pp", 24e3),
        ("fecn", 24e3),
    ] {
        let (queue, rates, delivered) = rest(&go(scheme, "", 300, 1, Engine::Fast));
        assert!((queue / q_eq - 1.0).abs() < 0.1, "{scheme}: mean queue {queue} B, set point {q_eq} B");
        assert!((rates / 10e9 - 1.0).abs() < 0.01, "{scheme}: the rates add up to {rates} bit/s");
        assert!((delivered / 10e9 - 1.0).abs() < 0.003, "{scheme}: {delivered} bit/s delivered");
    }
}

/// Each flow holds its occupancy at 15 KB: four of them stand in the port's queue with 60 KB. Little's law, not the queue's
/// length, is what E2CM measures.
#[test]
fn occupancies_add_up_to_the_queue() {
    for scheme in ["e2cm-src", "e2cm-dst"] {
        let (queue, rates, delivered) = rest(&go(scheme, "", 400, 1, Engine::Fast));
        assert!((queue / 60e3 - 1.0).abs() < 0.1, "{scheme}: mean queue {queue} B");
        assert!((rates / 10e9 - 1.0).abs() < 0.01, "{scheme}: the rates add up to {rates} bit/s");
        assert!((delivered / 10e9 - 1.0).abs() < 0.003, "{scheme}: {delivered} bit/s delivered");
    }
}

/// At 2.5 Gb/s a frame leaves each 4.8 us, so the first one 30 us after the last tag is the seventh: 4 flows x 512 bit / 33.6
/// us are 60.95 Mb/s.
#[test]
fn tags_by_time_cost_a_message_per_interval() {
    let out = go("fecn", "tag_by = \"time\"", 60, 1, Engine::Fast);
    let overhead = out.messages.bits as f64 / 60e-3;
    assert!((overhead / 60.95e6 - 1.0).abs() < 0.01, "{overhead} bit/s");
    let (queue, rates, _) = rest(&out);
    assert!(
        (queue / 24e3 - 1.0).abs() < 0.2 && (rates / 10e9 - 1.0).abs() < 0.01,
        "{queue} B, {rates} bit/s"
    );
}

/// Switches that change when a congestion point wakes, marks or sends: the same bits from both engines, and other bits than
/// without the switch.
#[test]
fn engines_agree_on_switches() {
    for (scheme, params) in [
        ("ecm", "sampling = \"packet-last\""),
        ("ecm", "initial_rate = \"own\""),
        ("ecm", "q_sc = \"100 KB\"\ndrift = \"1 Mb/s\"\nstop_time = \"1 ms\""),
        ("ecm", "assoc = \"most-negative\"\ntag_match = \"rp\"\nclip_components = \"on\""),
        ("ecm", "limiter_scope = \"per-host\""),
        ("e2cm-src", "sampling = \"packet-last\"\ninitial_rate = \"own\""),
        ("qcn-2pt", "release_share = \"0.7\"\ndrift = \"1.005\""),
        ("qcn-3pt", "de = \"feedback\"\nsampling = \"packet-last\""),
        ("becn", "phase = \"common\""),
        ("fecn", "phase = \"common\"\ntag_by = \"time\""),
    ] {
        let fast = go(scheme, params, 8, 2, Engine::Fast).fingerprint;
        assert_eq!(fast, go(scheme, params, 8, 2, Engine::Model).fingerprint, "{scheme}: {params}");
        let plain = if params.contains("initial_rate") { "initial_rate = \"line\"" } else { "" };
        assert_ne!(fast, go(scheme, plain, 8, 2, Engine::Fast).fingerprint, "{scheme}: {params}");
    }
}
