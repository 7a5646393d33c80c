//! Schemes of queue pairs in a small network, against what their papers say of it: flows of one port.
#![allow(clippy::unwrap_used, clippy::panic)]

use cnsim_fabric::{Options, Outcome, SeriesKind, run};
use cnsim_lab::scenario::Scenario;
use cnsim_scheme_api::NodeId;
use cnsim_schemes::swift::{SwiftParams, scaling, target};

/// Flows from H1 to Hn into H0, on one switch; their bytes, the rate of all links and their delay.
struct Star<'a> {
    flows: usize,
    bytes: &'a str,
    rate: &'a str,
    delay: &'a str,
    frame: &'a str,
    more: &'a str,
    /// Keys of acknowledgements.
    acks: &'a str,
    duration: &'a str,
    /// Rates at which flows begin, Gb/s, if the scenario has some.
    begin: &'a [f64],
}

const HUNDRED: Star<'_> = Star {
    flows: 2,
    bytes: "1 GB",
    rate: "100 Gb/s",
    delay: "1 us",
    frame: "frame = \"1000 B\"",
    more: "",
    acks: "ack_class = \"control\"",
    duration: "2 ms",
    begin: &[],
};

/// The run, and the queue before H0 in KB, every microsecond.
fn look(star: &Star<'_>, scheme: &str, sets: &[(&str, &str)]) -> (Outcome, Vec<f64>) {
    let Star { flows, bytes, rate, delay, frame, more, acks, duration, begin } = star;
    let hosts = flows + 1;
    let traffic: Vec<String> = (1..=*flows)
        .map(|h| {
            let begins = begin.get(h - 1).map(|g| format!("initial_rate = \"{g} Gb/s\"\n")).unwrap_or_default();
            format!(
                "[[traffic]]\nhosts = [\"H{h}\"]\nkind = \"transfers\"\ntransfers = [\"0 us, H{h}, H0, {bytes}\"]\n{frame}\n{begins}"
            )
        })
        .collect();
    let text = format!(
        "name = \"star\"\n[topology]\nkind = \"single-switch\"\nhosts = {hosts}\nports = {hosts}\nlink_rate = \"{rate}\"\n\
         link_delay = \"{delay}\"\n[switch]\nprocessing = \"0 us\"\nbuffer = \"SO\"\nshare = \"100 MB\"\n[pause]\nmode = \"off\"\n\
         [host]\nprocessing = \"0 us\"\nqueues = \"per-flow\"\n[transport]\n{acks}\n{}\n{more}\n\
         [run]\nduration = \"{duration}\"\n[record]\nbin = \"1 us\"\n[matrix]\npause = [\"off\"]\nschemes = [\"{scheme}\"]\n",
        traffic.join("")
    );
    let sets: Vec<(String, String)> =
        sets.iter().map(|(k, v)| (format!("scheme.{scheme}.{k}"), (*v).to_string())).collect();
    let scenario = Scenario::parse("star.toml", &text, &sets).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let mut spec = ready.settings.spec(&ready.built, 1, false);
    let queue = (NodeId(hosts as u32), 0);
    spec.record.queues = vec![queue];
    spec.record.flows = (1..=*flows as u32).map(|h| (NodeId(h), NodeId(0))).collect();
    let out = run(&spec, &Options::default()).unwrap();
    let kind = SeriesKind::Queue { node: queue.0, port: queue.1 };
    let queue = out.series(kind).unwrap().values.iter().map(|bytes| bytes / 1e3).collect();
    (out, queue)
}

/// The later half of a series.
fn late(all: &[f64]) -> &[f64] {
    &all[all.len() / 2..]
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn most(all: &[f64]) -> f64 {
    all.iter().fold(0.0, |most, v| most.max(*v))
}

/// Mean rates of the flows in the later half, Gb/s.
fn rates(out: &Outcome, flows: usize) -> Vec<f64> {
    let of = |h: u32| SeriesKind::Flow { src: NodeId(h), dst: NodeId(0) };
    (1..=flows as u32).map(|h| mean(late(&out.series(of(h)).unwrap().values)) / 1e9).collect()
}

/// Utilisation `eta`, the steps of all flows besides, and a queue of less than a frame a flow; with quantised records, too.
#[test]
fn hpcc_holds_eta_and_no_queue() {
    for (flows, sets) in [(2, &[][..]), (2, &[("preset", "hpcc")]), (10, &[]), (30, &[("preset", "hpcc")])] {
        let (out, queue) = look(&Star { flows, ..HUNDRED }, "hpcc", sets);
        let sum: f64 = rates(&out, flows).iter().sum();
        let (mean, most) = (mean(late(&queue)), most(late(&queue)));
        assert!((sum - 95.0).abs() < 1.0, "{flows} {sets:?}: {sum} Gb/s");
        assert!(mean < flows as f64 && most < 2.0 * flows as f64, "{flows} {sets:?}: {mean}, {most} KB");
    }
}

/// 10 Gb/s, a round trip of 100 us, frames of 1500 B, K of 65: largest queue K + N frames, and the swing of the paper.
#[test]
fn dctcp_swings_about_k() {
    for flows in [2, 5, 10, 20, 40] {
        let star = Star {
            flows,
            rate: "10 Gb/s",
            delay: "24.4 us",
            frame: "frame = \"1500 B\"",
            duration: "200 ms",
            ..HUNDRED
        };
        let (out, queue) = look(&star, "dctcp", &[]);
        let frames: Vec<f64> = late(&queue).iter().map(|kb| kb / 1.5).collect();
        let n = flows as f64;
        let swing = |of: &[f64]| most(of) - of.iter().fold(f64::MAX, |low, v| low.min(*v));
        let pipe = 1e10 * 100e-6 / 12_000.0 + 65.0;
        let paper = 0.5 * (2.0 * n * pipe).sqrt();
        // Of one cycle: as many round trips as frames that a cut takes from a window, and one.
        let cycle = ((paper / n + 1.0) * pipe * 1.2).ceil() as usize;
        let swings: Vec<f64> = frames.chunks_exact(cycle).map(swing).collect();
        let (top, seen) = (most(&frames), mean(&swings));
        let sum: f64 = rates(&out, flows).iter().sum();
        assert!((sum - 10.0).abs() < 0.01, "{flows}: {sum} Gb/s");
        assert!((seen / paper - 1.0).abs() < 0.2, "{flows}: a swing of {seen} frames, paper {paper}");
        assert!((top - 65.0 - n).abs() <= 2.0, "{flows}: at most {top} frames");
    }
}

/// From 7 and 3 Gb/s: the rule of 2015 keeps flows apart; patched they become equal, with the queue of the equation.
#[test]
fn timely_and_its_patch() {
    let star = Star {
        rate: "10 Gb/s",
        frame: "frame = \"1000 B\"",
        duration: "300 ms",
        begin: &[7.0, 3.0],
        ..HUNDRED
    };
    for scheme in ["timely", "timely-patched"] {
        let (out, queue) = look(&star, scheme, &[("hai_after", "off")]);
        let (rates, queue) = (rates(&out, 2), mean(late(&queue)));
        if scheme == "timely" {
            assert!(rates[0] > 2.0 * rates[1], "{rates:?}");
        } else {
            assert!((rates[0] / rates[1] - 1.0).abs() < 0.01, "{rates:?}");
            // 78.1 KB less what the links hold of the round trip: 4 us, two frames of 0.8 us, two acknowledgements.
            assert!((queue / (78.125 - 1.25 * 5.7) - 1.0).abs() < 0.03, "{queue} KB");
        }
    }
}

/// The round-trip time of N flows is the target of their windows.
#[test]
fn swift_holds_its_target() {
    for flows in [2, 10, 50] {
        let star = Star { flows, duration: "10 ms", ..HUNDRED };
        let (out, queue) = look(&star, "swift", &[]);
        let delay = mean(late(&queue)) * 8e3 / 1e11 + 4.2e-6;
        let window = delay * 1e11 / 8e3 / flows as f64;
        let p = SwiftParams::default();
        let target = target(&p, scaling(&p), 2, window);
        let sum: f64 = rates(&out, flows).iter().sum();
        assert!((delay / target - 1.0).abs() < 0.05, "{flows}: {delay} s, target {target} s");
        assert!((sum - 100.0).abs() < 0.1, "{flows}: {sum} Gb/s");
    }
}

/// Case R of HPCC's simulator: two flows of 200 MB, whose last acknowledgements arrive after 35.669855 and 36.685006 ms. Nothing is
/// random.
#[test]
fn hpcc_as_its_simulator() {
    let star = Star {
        bytes: "200 MB",
        frame: "frame = \"1048 B\"\nheader = \"48 B\"",
        duration: "40 ms",
        more: "[timing]\nrounding = \"whole-ns\"",
        acks: "ack_length = \"60 B\"",
        ..HUNDRED
    };
    let sets = [
        ("max_stage", "0"),
        ("ai_rate", "50 Mb/s"),
        ("min_rate", "100 Mb/s"),
        ("telemetry", "quantised"),
        ("header", "90 B"),
        ("base_rtt", "4160 ns"),
    ];
    let (out, _) = look(&star, "hpcc", &sets);
    let ends = out.hosts[0].completions.iter().map(|c| c.acknowledged.unwrap().as_secs_f64() * 1e3);
    for (end, fork) in ends.zip([35.669_855, 36.685_006]) {
        assert!((end / fork - 1.0).abs() < 0.001, "{end} ms, its simulator {fork}");
    }
    assert_eq!(out.hosts[0].completions.len(), 2);
}
