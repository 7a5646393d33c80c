//! Valid scenarios that nobody thought of: topologies, memories, schemes, workloads, rates of 1 Mb/s to 10 Tb/s.

use super::Dice;
use cnsim_scenario::needs_queue_pairs;
use std::sync::LazyLock;

const RATES: [&str; 10] = [
    "1 Mb/s", "10 Mb/s", "100 Mb/s", "1 Gb/s", "10 Gb/s", "25 Gb/s", "100 Gb/s", "400 Gb/s", "1.6 Tb/s",
    "10 Tb/s",
];

/// All schemes that are registered, but those of queue pairs; and those of queue pairs, with DCQCN, which runs with both.
static SCHEMES: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| {
    let registry = cnsim_schemes::registry();
    let of = |pairs| registry.iter().filter(move |e| needs_queue_pairs(e) == pairs).map(|e| e.name.clone());
    [of(false).collect(), of(true).chain(["dcqcn".to_string()]).collect()]
});

/// Bits a second of one of [`RATES`].
fn bps(rate: &str) -> f64 {
    rate.parse::<cnsim_scheme_api::Rate>().unwrap().bps()
}

/// A scenario's text, a line a thing; about a thousand frames a link.
pub(crate) fn scenario(d: &mut Dice) -> String {
    let rate = *d.of(&RATES);
    let frame = *d.of(&[64, 512, 1500, 1500, 9216]);
    let frame_time = frame as f64 * 8.0 / bps(rate);
    let duration = (frame_time * d.between(40, 600) as f64 * 1e9).max(2000.0) as u64;
    let at = |share: f64| format!("{} ns", (duration as f64 * share) as u64);
    let mut t = vec!["name = \"random\"".to_string()];
    let mut line = |text: String| t.push(text);
    line(format!("topology.link_rate = \"{rate}\""));
    line(format!("topology.link_delay = \"{}\"", d.of(&["10 ns", "0.5 us", "5 us", "50 us"])));
    line(format!("run.duration = \"{duration} ns\""));
    line(format!("record.bin = \"{} us\"", (duration / 10_000).clamp(1, 9_000_000)));
    let (kind, more, last): (&str, Vec<String>, u64) = match d.below(9) {
        0 => ("single-switch", vec![], 0),
        1 => ("core-edge", vec!["edges = [2, 1, 3]".into()], 6),
        2 => ("k-ary-n-tree", vec!["k = 2".into(), "n = 3".into()], 8),
        3 => ("fat-tree", vec!["k = 4".into()], 16),
        4 => ("leaf-spine", vec!["leaves = 3".into(), "spines = 2".into(), "per_switch = 2".into()], 6),
        5 => ("chain", vec!["switches = 3".into(), "per_switch = 2".into()], 6),
        6 => ("ring", vec!["switches = 4".into(), "per_switch = 1".into()], 4),
        7 => ("parking-lot", vec!["stages = 2".into(), "long = 2".into()], 4),
        _ => (
            "graph",
            vec![
                "nodes = [\"S 8\", \"T 8\"]".into(),
                "links = [\"A S\", \"B S\", \"S T\", \"C T 1 Gb/s\"]".into(),
            ],
            3,
        ),
    };
    line(format!("topology.kind = \"{kind}\""));
    more.into_iter().for_each(|m| line(format!("topology.{m}")));
    let hosts = if last == 0 { d.between(2, 9) } else { last };
    if last == 0 {
        line(format!("topology.hosts = {hosts}"));
    }
    let paused = d.below(3);
    // Room for what arrives after XOFF: a loop of at most 110 us, and some frames.
    let room = (bps(rate) * 115e-6 / 8.0) as u64 + 8 * 9216;
    line(format!("pause.mode = \"{}\"", ["on", "off", "global"][paused as usize]));
    if paused == 0 && d.below(4) == 0 {
        line("switch.buffer = \"shared\"".into());
        shared(d, room).into_iter().for_each(&mut line);
    } else {
        line(format!("switch.buffer = \"{}\"", d.of(&["XP", "IN", "SO"])));
        if paused == 1 {
            line(format!("switch.share = \"{} B\"", d.between(20_000, 200_000)));
        } else {
            let high = d.between(20_000, 60_000);
            line(format!("switch.share = \"{} B\"", (high + room).min(4_000_000_000)));
            line(format!("pause.high = \"{high} B\""));
            line(format!("pause.low = \"{} B\"", high - 10_000));
        }
        if d.below(4) == 0 {
            line(format!("switch.output_limit = \"{} B\"", d.between(20_000, 100_000)));
        }
    }
    if paused == 0 {
        stopped(d, kind, at).into_iter().for_each(&mut line);
    }
    let pairs = d.below(4) == 0;
    if pairs {
        queue_pairs(d, kind, at).into_iter().for_each(&mut line);
    } else {
        line(format!("host.fifo = {}", d.between(1, 300)));
        let queues = *d.of(&["fifo", "fifo", "per-destination"]);
        line(format!("host.queues = \"{queues}\""));
        if queues == "fifo" && d.below(3) == 0 {
            line("host.limiter_position = \"at-source\"".into());
        }
    }
    line(format!("control.transport = \"{}\"", d.of(&["priority", "priority", "in-band"])));
    line(format!("workload.frame = \"{frame} B\""));
    let size = frame as u64 * d.between(1, 30) - d.below(frame as u64);
    let traffic = match if pairs { d.between(5, 7) } else { d.below(8) } {
        // Its hosts have names of their own.
        6 if kind == "core-edge" => 7,
        traffic => traffic,
    };
    match traffic {
        5..=7 => finite(d, traffic, size, at).into_iter().for_each(&mut line),
        0 => line("workload.kind = \"greedy\"".into()),
        1 => {
            line("workload.kind = \"on-off\"".into());
            line(format!("workload.on = \"{} us\"", (duration / 6000).max(1)));
            line(format!("workload.off = \"{} us\"", (duration / 9000).max(1)));
        }
        2 => {
            line("workload.kind = \"bursts\"".into());
            line(format!("workload.burst = {}", d.between(1, 40)));
            line(format!("workload.load = \"{} %\"", d.between(0, 100)));
        }
        _ => line(format!("workload.load = \"{} %\"", d.between(0, 100))),
    }
    // A permutation draws its pairs, and an incast has a host by name.
    if traffic == 6 {
        let to = if kind == "graph" { "A" } else { "H1" };
        line(format!("workload.destinations = \"{to}\""));
    } else if kind != "parking-lot" && traffic != 7 {
        line(format!("workload.destinations = \"{}\"", d.of(&["uniform", "permutation", "+1"])));
    }
    let first = match kind {
        "graph" => "A",
        "single-switch" => "H0",
        _ => "",
    };
    if !first.is_empty() && d.below(2) == 0 {
        line(format!("hotspot.host = \"{first}\""));
        line(format!("hotspot.rate = \"{}%\"", d.between(1, 60)));
        line(format!("hotspot.start = \"{}\"", at(0.2)));
        line(format!("hotspot.stop = \"{}\"", at(0.7)));
    }
    let scheme = if d.below(3) == 0 { "none" } else { d.of(&SCHEMES[usize::from(pairs)]).as_str() };
    line(format!("matrix.schemes = [\"{scheme}\"]"));
    line("run.seeds = 1".into());
    t.join("\n") + "\n"
}

/// A shared buffer with room for the headroom of a dozen inputs.
fn shared(d: &mut Dice, room: u64) -> Vec<String> {
    let mut t = Vec::new();
    let reserve = d.of(&[0, 2_000, 20_000]);
    let pool = d.between(30_000, 300_000);
    t.push(format!("switch.memory = \"{} B\"", (12 * (room + reserve) + pool).min(4_000_000_000)));
    t.push(format!("switch.reserve = \"{reserve} B\""));
    match d.below(4) {
        0 => t.push(format!("switch.threshold = \"{} B\"", d.between(5_000, 40_000))),
        by_rate => {
            t.push(format!("switch.alpha = \"{}\"", d.of(&["1/64", "1/8", "0.3", "2"])));
            t.push(format!("switch.alpha_by_rate = {}", by_rate == 1));
        }
    }
    // At times too little for what comes, which PAUSE then loses.
    if d.below(3) == 0 {
        t.push(format!("switch.headroom = \"{} B\"", d.between(0, 20_000)));
    }
    if d.below(2) == 0 {
        t.push(format!("switch.resume = \"{} B\"", d.between(0, 6_000)));
    }
    if d.below(3) == 0 {
        t.push("switch.freed = \"start\"".into());
    }
    t
}

/// What goes with PAUSE: its record, faults that say XOFF, and watchdogs.
fn stopped(d: &mut Dice, kind: &str, at: impl Fn(f64) -> String) -> Vec<String> {
    let mut t = vec![format!("record.pauses = \"{}\"", d.of(&["on", "off", "auto"]))];
    if d.below(6) == 0 {
        t.push(format!("pause.response = \"{} ns\"", d.between(0, 2_000)));
    }
    if d.below(6) == 0 {
        t.push("pause.length = \"43 B\"".into());
    }
    if d.below(4) == 0 {
        let host = match kind {
            "graph" => "A",
            "core-edge" | "parking-lot" => "",
            _ => "H1",
        };
        let when = format!("from = \"{}\", to = \"{}\"", at(0.1), at(0.5));
        let what = match d.below(2) {
            0 => "kind = \"xoff\"".to_string(),
            _ => format!(
                "kind = \"slow\", rate = \"{}%\", buffer = \"{} B\"",
                d.between(1, 60),
                d.between(10_000, 90_000)
            ),
        };
        if !host.is_empty() {
            t.push(format!("fault = [{{ host = \"{host}\", {what}, {when} }}]"));
        }
    }
    if d.below(4) == 0 {
        t.push(format!("watchdog.action = \"{}\"", d.of(&["alert", "drop", "forward"])));
        t.push(format!("watchdog.rule = \"{}\"", d.of(&["continuous", "polled-80", "polled-99"])));
        t.push(format!("watchdog.detect = \"{}\"", at(0.05)));
    }
    t
}

/// Queue pairs and their transport, and links that lose frames.
fn queue_pairs(d: &mut Dice, kind: &str, at: impl Fn(f64) -> String) -> Vec<String> {
    let mut t = vec!["host.queues = \"per-flow\"".to_string()];
    match d.below(4) {
        0 => {
            t.push("transport.kind = \"go-back-n\"".into());
            t.push(format!("transport.rto = \"{} us\"", d.of(&[50, 500, 5_000])));
        }
        1 => {
            t.push("transport.kind = \"selective\"".into());
            t.push(format!("transport.gap_frames = {}", d.of(&[1, 1, 3])));
            t.push(format!("transport.rto_low = \"{}\"", at(0.05)));
        }
        2 => {
            t.push("transport.kind = \"tcp\"".into());
            t.push(format!("transport.recovery = \"{}\"", d.of(&["sack", "newreno", "rack"])));
            t.push(format!("transport.rto_min = \"{}\"", at(0.05)));
            t.push(format!("transport.rto_first = \"{}\"", at(0.2)));
            t.push(format!("transport.limited_transmit = \"{}\"", d.of(&["on", "on", "off"])));
            t.push(format!("transport.handshake = \"{}\"", d.of(&["off", "on"])));
            t.push(format!("workload.connection = \"{}\"", d.of(&["each", "kept"])));
            t.push(format!("transport.ecn = \"{}\"", d.of(&["exact", "rfc3168"])));
            t.push(format!("transport.burst = {}", d.of(&[1, 1, 3])));
        }
        _ => {}
    }
    let link = [("leaf-spine", "L1-S1"), ("graph", "S-T")].into_iter().find(|of| of.0 == kind);
    if let Some((_, link)) = link.filter(|_| d.below(2) == 0) {
        let (from, to, lost) = (at(0.1), at(0.6), d.of(&["1e-3", "5 %"]));
        t.push(format!(
            "event = [{{ link = \"{link}\", loss = \"{lost}\", from = \"{from}\", to = \"{to}\" }}]"
        ));
    }
    t.push(format!("transport.ack_class = \"{}\"", d.of(&["data", "data", "control"])));
    t.push(format!("transport.window = \"{}\"", d.of(&["scheme", "scheme", "off", "bdp", "30000 B"])));
    if d.below(3) == 0 {
        t.push(format!("transport.ack_every = {}", d.of(&[1, 2, 7])));
    }
    t
}

/// Traffic of finite flows.
fn finite(d: &mut Dice, n: u64, size: u64, at: impl Fn(f64) -> String) -> Vec<String> {
    let mut t = Vec::new();
    if n == 5 {
        t.push("workload.kind = \"poisson\"".to_string());
        t.push("workload.sizes = \"file\"".into());
        t.push(format!("workload.size_table = [\"{size} 60\", \"{} 100\"]", size * 4));
        t.push(format!("workload.load = \"{} %\"", d.between(5, 90)));
    } else {
        t.push(format!("workload.kind = \"{}\"", if n == 6 { "incast" } else { "permutation" }));
        t.push(format!("workload.size = \"{size} B\""));
    }
    t.push(format!("workload.stop = \"{}\"", at(0.6)));
    t
}
