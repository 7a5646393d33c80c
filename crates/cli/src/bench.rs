//! `cnsim bench`: packet-hops per CPU-second of a standard set, a child process per row for its own peak memory.

use crate::{Common, Done, Failure, look, progress};
use cnsim_fabric::{
    Arrivals, Engine, FaultKind, LinkSpec, PauseTransport, PortFault, Routing, RunSpec, Transfer,
};
use cnsim_scenario::tables;
use cnsim_scenario::{Scenario, needs_queue_pairs};
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Registry, Time};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Changes of a row to the network of its scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing.
    AsWritten,
    /// A fat tree of 2-level pods (k = 16: 1024 hosts, 320 switches of 16 ports); the scenario has its 1024 hosts.
    FatTree,
    /// A fat tree of `k` ports a switch in which every host sends 2 MB to another one, drawn as a permutation; paths by a hash of
    /// the flow. With PAUSE or without.
    Permutation {
        k: usize,
        pause: bool,
    },
    /// Access links of 10 to 400 Gb/s, frames of 300 to 9000 bytes, trunks of 400 Gb/s.
    Mixed,
    /// Hosts with queue pairs: the scenario without the FIFO and the limiters' queues, which they do not have.
    QueuePairs,
    /// `benches/roce320.toml` in place of `benches/network.toml`: 320 hosts with queue pairs, each frame acknowledged.
    Roce320,
    /// `Roce320` with a buffer that the inputs share, and PAUSE; and with a NIC that says XOFF from 10 us on.
    Roce320Pfc,
    Storm,
    /// `scenarios/modern/fork-incast.toml`: 60 hosts send to one, whose switch stops them.
    Incast,
}

/// A row: name, scheme, settings over `benches/network.toml`, and further changes.
/// Durations are such that a row takes about a second.
struct Row(&'static str, &'static str, &'static [(&'static str, &'static str)], Shape);

const SHARED: &[(&str, &str)] = &[
    (tables::switch::BUFFER.path, "shared"),
    (tables::switch::MEMORY.path, "32 MB"),
    (tables::switch::ALPHA.path, "1/8"),
    (tables::switch::ALPHA_BY_RATE.path, "on"),
];
const STORM: &[(&str, &str)] = &[
    (tables::switch::BUFFER.path, "shared"),
    (tables::switch::MEMORY.path, "4 MB"),
    (tables::switch::ALPHA.path, "1/8"),
    (tables::switch::ALPHA_BY_RATE.path, "on"),
    (tables::workload::LOAD.path, "40 %"),
];
const HOSTS: (&str, &str) = (tables::topology::HOSTS.path, "10");
const PORTS: (&str, &str) = (tables::topology::PORTS.path, "16");
const TREE: (&str, &str) = (tables::topology::KIND.path, "k-ary-n-tree");
const FRAME_HASH: (&str, &str) = (tables::topology::ROUTING.path, "frame-hash");
const SHORT: [(&str, &str); 2] =
    [(tables::switch::PROCESSING.path, "0 us"), (tables::host::PROCESSING.path, "0 us")];
/// PAUSE begins within 5 us, and is there until the end.
const INCAST: &[(&str, &str)] = &[
    (tables::switch::MEMORY.path, "4 MiB"),
    ("traffic.0.size", "5 MB"),
    (tables::run::DURATION.path, "24 ms"),
];
/// Memory of a port, in partitions or shared, bytes.
const MEMORY: u64 = 150_000;
const FIFO: (&str, &str) = (tables::host::FIFO.path, "500");

const W1: &[(&str, &str)] = &[HOSTS, PORTS, (tables::run::DURATION.path, "2 s")];
const W2: &[(&str, &str)] = &[(tables::run::DURATION.path, "100 ms"), TREE, FRAME_HASH, FIFO];
/// `w2` where windows hold few frames.
const W2_10: &[(&str, &str)] =
    &[(tables::run::DURATION.path, "400 ms"), TREE, FRAME_HASH, FIFO, (tables::workload::LOAD.path, "10 %")];
/// `w2` without congestion: the cost of schemes that have nothing to do.
const W2_60: &[(&str, &str)] =
    &[(tables::run::DURATION.path, "100 ms"), TREE, FRAME_HASH, FIFO, (tables::workload::LOAD.path, "60 %")];
/// The load of `w2-60` in finite flows, with and without acknowledgements of each frame and a window of a round trip.
const FLOWS_60: [(&str, &str); 6] = [
    (tables::run::DURATION.path, "20 ms"),
    TREE,
    (tables::host::QUEUES.path, "per-flow"),
    (tables::workload::KIND.path, "poisson"),
    (tables::workload::SIZES.path, "websearch"),
    (tables::workload::LOAD.path, "60 %"),
];
const W2_60_FLOWS: &[(&str, &str)] =
    &[FLOWS_60[0], FLOWS_60[1], FLOWS_60[2], FLOWS_60[3], FLOWS_60[4], FLOWS_60[5]];
const W2_60_ACKS: &[(&str, &str)] = &[
    FLOWS_60[0],
    FLOWS_60[1],
    FLOWS_60[2],
    FLOWS_60[3],
    FLOWS_60[4],
    FLOWS_60[5],
    (tables::transport::WINDOW.path, "bdp"),
];
const B07_FAT: &[(&str, &str)] =
    &[(tables::run::DURATION.path, "100 ms"), TREE, (tables::topology::ROUTING.path, "round-robin"), FIFO];
const PERM_128: &[(&str, &str)] =
    &[PORTS, (tables::run::DURATION.path, "10 ms"), FIFO, (tables::topology::HOSTS.path, "128")];
const PERM_1024: &[(&str, &str)] =
    &[PORTS, (tables::run::DURATION.path, "10 ms"), FIFO, (tables::topology::HOSTS.path, "1024")];
/// `perm128` and `perm1024` with a shared buffer, and PFC.
const PERM_128_PFC: &[(&str, &str)] =
    &[PERM_128[0], PERM_128[1], PERM_128[2], PERM_128[3], SHARED[0], SHARED[1], SHARED[2], PFC];
const PERM_1024_PFC: &[(&str, &str)] =
    &[PERM_1024[0], PERM_1024[1], PERM_1024[2], PERM_1024[3], SHARED[0], SHARED[1], SHARED[2], PFC];
const PFC: (&str, &str) = (tables::pause::FRAMES.path, "pfc");
/// The port of a host serves 2 of 10 Gb/s for 400 ms.
const HOTSPOT: &[(&str, &str)] = &[
    HOSTS,
    PORTS,
    (tables::run::DURATION.path, "1 s"),
    (tables::hotspot::HOST.path, "H0"),
    (tables::hotspot::RATE.path, "2 Gb/s"),
    (tables::hotspot::START.path, "100 ms"),
    (tables::hotspot::STOP.path, "500 ms"),
];

const ROWS: &[Row] = &[
    Row("w1", "none", W1, Shape::AsWritten),
    Row(
        "w1-short",
        "none",
        &[HOSTS, PORTS, (tables::run::DURATION.path, "2 s"), SHORT[0], SHORT[1]],
        Shape::AsWritten,
    ),
    Row("w2", "none", W2, Shape::AsWritten),
    Row("w2", "qcn-2pt", W2, Shape::AsWritten),
    Row(
        "w2-short",
        "none",
        &[(tables::run::DURATION.path, "100 ms"), TREE, FRAME_HASH, FIFO, SHORT[0], SHORT[1]],
        Shape::AsWritten,
    ),
    Row("w2-10", "none", W2_10, Shape::AsWritten),
    Row("w2-60", "none", W2_60, Shape::AsWritten),
    Row(
        "w1-60",
        "none",
        &[HOSTS, PORTS, (tables::run::DURATION.path, "500 ms"), (tables::workload::LOAD.path, "60 %")],
        Shape::AsWritten,
    ),
    Row("b07-single", "qcn-2pt", W1, Shape::AsWritten),
    Row("b07-single", "qcn-3pt", W1, Shape::AsWritten),
    Row("b07-single", "ecm", W1, Shape::AsWritten),
    Row("b07-fat", "none", B07_FAT, Shape::AsWritten),
    Row("b07-fat", "qcn-2pt", B07_FAT, Shape::AsWritten),
    Row("b07-fat", "ecm", B07_FAT, Shape::AsWritten),
    Row("hotspot", "none", HOTSPOT, Shape::AsWritten),
    Row("hotspot", "qcn-2pt", HOTSPOT, Shape::AsWritten),
    Row("hotspot", "ecm", HOTSPOT, Shape::AsWritten),
    Row(
        "t1024",
        "none",
        &[PORTS, (tables::run::DURATION.path, "10 ms"), FIFO, (tables::topology::HOSTS.path, "1024")],
        Shape::FatTree,
    ),
    Row(
        "t1024",
        "qcn-2pt",
        &[PORTS, (tables::run::DURATION.path, "10 ms"), FIFO, (tables::topology::HOSTS.path, "1024")],
        Shape::FatTree,
    ),
    Row(
        "t4096",
        "none",
        &[(tables::run::DURATION.path, "4 ms"), TREE, (tables::topology::K.path, "16"), FRAME_HASH, FIFO],
        Shape::AsWritten,
    ),
    Row("perm128", "none", PERM_128, Shape::Permutation { k: 8, pause: true }),
    Row("perm128", "dcqcn", PERM_128, Shape::Permutation { k: 8, pause: true }),
    Row("perm128-no-pause", "none", PERM_128, Shape::Permutation { k: 8, pause: false }),
    Row("perm128-pfc", "none", PERM_128_PFC, Shape::Permutation { k: 8, pause: true }),
    Row("perm1024", "none", PERM_1024, Shape::Permutation { k: 16, pause: true }),
    Row("perm1024", "dcqcn", PERM_1024, Shape::Permutation { k: 16, pause: true }),
    Row("perm1024-pfc", "none", PERM_1024_PFC, Shape::Permutation { k: 16, pause: true }),
    Row("w2-60-flows", "none", W2_60_FLOWS, Shape::QueuePairs),
    Row("w2-60-acks", "none", W2_60_ACKS, Shape::QueuePairs),
    Row("roce320", "dcqcn", &[], Shape::Roce320),
    Row("roce320-hpcc", "hpcc", &[], Shape::Roce320),
    Row("roce320-pfc", "dcqcn", SHARED, Shape::Roce320Pfc),
    Row("storm320", "dcqcn", STORM, Shape::Storm),
    Row("incast-pfc", "none", INCAST, Shape::Incast),
    Row("incast-pfc", "dcqcn", INCAST, Shape::Incast),
    Row("mixed", "none", &[(tables::run::DURATION.path, "15 ms"), TREE, FRAME_HASH, FIFO], Shape::Mixed),
    Row(
        "small",
        "none",
        &[HOSTS, PORTS, (tables::run::DURATION.path, "80 ms"), (tables::workload::FRAME.path, "64 B")],
        Shape::AsWritten,
    ),
    Row(
        "sparse",
        "none",
        &[HOSTS, PORTS, (tables::run::DURATION.path, "20 s"), (tables::workload::LOAD.path, "5 %")],
        Shape::AsWritten,
    ),
];

pub(crate) fn bench(
    rows: &[String],
    duration: Option<&str>,
    as_json: bool,
    child: bool,
    common: &Common,
) -> Done {
    let registry = &common.registry;
    if child {
        let (name, scheme) =
            (rows.first().map_or("", String::as_str), rows.get(1).map_or("", String::as_str));
        let threads = rows.get(2).and_then(|t| t.parse().ok()).unwrap_or(1);
        let duration = rows.get(3).map(String::as_str);
        let engine = if rows.get(4).is_some_and(|e| e == "model") { Engine::Model } else { Engine::Fast };
        println!("{}", measure(registry, name, scheme, (threads, engine), duration)?);
        return Ok(());
    }
    check(registry, rows, duration)?;
    let results: Vec<Value> = (ROWS.iter())
        .filter(|r| rows.is_empty() || rows.iter().any(|x| x == r.0))
        .map(|Row(name, scheme, ..)| in_child(name, scheme, duration))
        .collect::<Result<_, _>>()?;
    let columns: [Column; 7] = [
        ROW,
        SCHEME,
        HOPS,
        ("CPU s", |r| format!("{:.2}", number(r, "cpu_s"))),
        SPEED,
        ("peak MB", |r| format!("{:.1}", number(r, "peak_rss_bytes") / 1e6)),
        ("fingerprint", |r| word(r, "fingerprint")),
    ];
    show(&results, &columns, as_json);
    Ok(())
}

/// Are these rows of the standard set, and is this a duration for them?
fn check(registry: &Registry, rows: &[String], duration: Option<&str>) -> Done {
    let known = |r: &String| ROWS.iter().any(|x| x.0 == r);
    if let Some(r) = rows.iter().find(|r| !known(r)) {
        let mut names: Vec<&str> = ROWS.iter().map(|r| r.0).collect();
        names.dedup();
        return Err(Failure::input(format!("there is no row `{r}`\n  help: rows are {}", names.join(", "))));
    }
    let duration = duration.map(|d| (tables::run::DURATION.path, d));
    for Row(name, scheme, ..) in ROWS.iter().filter(|x| rows.is_empty() || rows.iter().any(|r| x.0 == r)) {
        spec(registry, name, scheme, duration.as_slice())?;
    }
    Ok(())
}

fn number(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap_or(0.0)
}

fn word(v: &Value, key: &str) -> String {
    v[key].as_str().unwrap_or("").into()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A column of the table: its head, and its cell of a row.
type Column = (&'static str, fn(&Value) -> String);

const ROW: Column = ("row", |r| word(r, "name"));
const SCHEME: Column = ("scheme", |r| word(r, "scheme"));
const HOPS: Column = ("packet-hops", |r| format!("{:.2e}", number(r, "packet_hops")));
const SPEED: Column = ("M hops/CPU s", |r| format!("{:.1}", number(r, "mhops_per_cpu_s")));

/// Prints the measured values.
fn show(rows: &[Value], columns: &[Column], as_json: bool) {
    if as_json {
        let host = json!({"cores": std::thread::available_parallelism().map_or(1, usize::from), "arch": std::env::consts::ARCH, "os": std::env::consts::OS});
        println!("{}", json!({"schema": 1, "host": host, "rows": rows}));
        return;
    }
    let heads: Vec<&str> = columns.iter().map(|c| c.0).collect();
    let table: Vec<Vec<String>> = rows.iter().map(|r| columns.iter().map(|c| c.1(r)).collect()).collect();
    println!("{}", look::table(&heads, &table, true));
}

/// Measures a row in a process of its own.
fn in_child(name: &str, scheme: &str, duration: Option<&str>) -> Result<Value, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::Run(e.to_string()))?;
    // Where a Python package carries this program, the process is the interpreter.
    let hosted = program.file_name().is_some_and(|n| n.to_string_lossy().starts_with("python"));
    let mut child = std::process::Command::new(program);
    child.args(if hosted { &["-m", "cnsim.program"][..] } else { &[] });
    child.args(["bench", "--child", name, scheme, "1"]).args(duration);
    let out = child.output().map_err(|e| Failure::Run(e.to_string()))?;
    serde_json::from_slice(&out.stdout)
        .map_err(|e| Failure::Run(format!("{name} {scheme}: {e}: {}", String::from_utf8_lossy(&out.stderr))))
}

/// `cnsim bench --schemes`: packet-hops per CPU-second of every scheme beside those of `none`, on the same network. In each
/// round the schemes take turns, so that other load of the machine meets all of them. The median counts.
pub(crate) fn compare_schemes(
    rows: &[String],
    rounds: u16,
    duration: Option<&str>,
    as_json: bool,
    common: &Common,
) -> Done {
    let registry = &common.registry;
    let default = ["w2-60".to_string()];
    let rows = if rows.is_empty() { &default[..] } else { rows };
    check(registry, rows, duration)?;
    // Schemes of queue pairs run where there are some.
    let more = duration.map(|d| (tables::run::DURATION.path, d));
    let mut run = Vec::new();
    for row in rows {
        let pairs = spec(registry, row, "none", more.as_slice())?.transport.is_some();
        let names = registry.iter().filter(|e| pairs || !needs_queue_pairs(e)).map(|e| e.name.as_str());
        run.push((row.as_str(), names.collect::<Vec<_>>()));
    }
    let steps = run.iter().map(|r| r.1.len()).sum::<usize>() as u64 * u64::from(rounds);
    let results = progress::counted(steps, |done| in_turn(&run, rounds, duration, done))?;
    let columns: [Column; 6] = [
        ROW,
        SCHEME,
        HOPS,
        ("of them control", |r| percent(number(r, "control_hops") / number(r, "packet_hops"))),
        SPEED,
        ("share of none", |r| percent(number(r, "share_of_none"))),
    ];
    show(&results, &columns, as_json);
    Ok(())
}

/// The medians of each row with its schemes; `done` counts the measurements.
fn in_turn(
    rows: &[(&str, Vec<&str>)],
    rounds: u16,
    duration: Option<&str>,
    done: &AtomicU64,
) -> Result<Vec<Value>, Failure> {
    let mut results = Vec::new();
    for (row, names) in rows {
        let names = || names.iter().copied();
        let mut seen: Vec<Vec<Value>> = names().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (scheme, seen) in names().zip(&mut seen) {
                seen.push(in_child(row, scheme, duration)?);
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
        let mut medians: Vec<Value> = Vec::new();
        for mut seen in seen {
            seen.sort_by(|a, b| number(a, "mhops_per_cpu_s").total_cmp(&number(b, "mhops_per_cpu_s")));
            medians.extend(seen.drain(..).nth(usize::from(rounds / 2)));
        }
        let none =
            medians.iter().find(|r| r["scheme"] == "none").map_or(0.0, |r| number(r, "mhops_per_cpu_s"));
        for mut r in medians {
            r["share_of_none"] = json!(number(&r, "mhops_per_cpu_s") / none);
            results.push(r);
        }
    }
    Ok(results)
}

/// Peak memory of this process so far, bytes, from the system; 0 if unknown.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse::<u64>().ok());
    peak.unwrap_or(0) * 1024
}

/// The network of a row, with these settings over the row's own. It records the defaults of `cnsim run`.
pub(crate) fn spec(
    registry: &Registry,
    name: &str,
    scheme: &str,
    more: &[(&str, &str)],
) -> Result<RunSpec, Failure> {
    // Any scheme runs on the network of a row; the standard set has some of them.
    let Some(Row(_, _, sets, shape)) = ROWS.iter().find(|r| r.0 == name) else {
        return Err(Failure::input(format!("there is no row {name}")));
    };
    let text = match shape {
        Shape::Roce320 | Shape::Roce320Pfc | Shape::Storm => include_str!("../../../benches/roce320.toml"),
        Shape::Incast => include_str!("../../../scenarios/modern/fork-incast.toml"),
        _ => include_str!("../../../benches/network.toml"),
    };
    let without: &[&str] = match shape {
        Shape::QueuePairs => &["fifo", "limiter"],
        _ if sets.contains(&SHARED[0]) => &["share", "mode", "high", "low"],
        _ => &[],
    };
    let kept = |line: &&str| !without.iter().any(|key| line.starts_with(key));
    let text = text.lines().filter(kept).collect::<Vec<_>>().join("\n");
    let pause = if *shape == Shape::Roce320 { "off" } else { "on" };
    let mut flat: Vec<(String, String)> = (sets.iter().filter(|s| more.iter().all(|m| m.0 != s.0)))
        .chain(more)
        .map(|(k, v)| ((*k).to_string(), (*v).to_string()))
        .collect();
    flat.push(("matrix.schemes".into(), format!("[{scheme}]")));
    let scenario = Scenario::parse_in(registry, name, &text, &flat, &[])?;
    let case = scenario.case(0, Vec::new(), pause, scheme);
    let ready = scenario.ready(&case)?;
    let mut spec = ready.settings.spec(&ready.built, 1, false);
    match shape {
        Shape::FatTree => fat_tree(&mut spec, 16),
        Shape::Permutation { k, pause } => permutation(&mut spec, *k, *pause),
        Shape::Mixed => mixed(&mut spec),
        Shape::Storm => storm(&mut spec),
        Shape::AsWritten | Shape::QueuePairs | Shape::Roce320 | Shape::Roce320Pfc | Shape::Incast => {}
    }
    Ok(spec)
}

/// A NIC says XOFF from 10 us to the end.
fn storm(spec: &mut RunSpec) {
    let transport = spec.switches[0].buffer.pause.map_or(PauseTransport::Frame, |pause| pause.transport);
    let (from, to) = (Time::from_us(10), spec.duration);
    spec.faults.push(PortFault { node: NodeId(36), port: 0, from, to, transport, kind: FaultKind::Xoff });
}

/// Runs a row in this process; `duration` overrides its own.
fn measure(
    registry: &Registry,
    name: &str,
    scheme: &str,
    (threads, engine): (usize, Engine),
    duration: Option<&str>,
) -> Result<Value, Failure> {
    let duration = duration.map(|d| (tables::run::DURATION.path, d));
    let spec = spec(registry, name, scheme, duration.as_slice())?;
    let unknown = |e| Failure::Run(format!("the system does not say how long this process has run: {e}"));
    let before = cpu_time::ProcessTime::try_now().map_err(unknown)?;
    let wall = std::time::Instant::now();
    let out = cnsim_fabric::run(&spec, &cnsim_fabric::Options { threads, engine, ..Default::default() })
        .map_err(|e| Failure::Run(e.to_string()))?;
    let wall = wall.elapsed().as_secs_f64();
    let cpu = before.try_elapsed().map_err(unknown)?.as_secs_f64();
    let f = out.fingerprint;
    Ok(json!({
        "name": name, "scheme": scheme, "packet_hops": out.packet_hops, "control_hops": out.control_hops, "cpu_s": cpu, "wall_s": wall,
        "mhops_per_cpu_s": out.packet_hops as f64 / cpu / 1e6, "peak_rss_bytes": peak_memory(), "threads": threads,
        "fingerprint": format!("{:016x}", f.events ^ f.frames.rotate_left(21) ^ f.samples.rotate_left(42)),
    }))
}

/// The k-ary fat tree of 2-level pods: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores.
fn fat_tree(spec: &mut RunSpec, k: usize) {
    let half = k / 2;
    let hosts = k * half * half;
    let edge = |pod: usize, i: usize| hosts + pod * half + i;
    let aggregation = |pod: usize, i: usize| hosts + k * half + pod * half + i;
    let core = |group: usize, i: usize| hosts + 2 * k * half + group * half + i;
    let model = spec.links[0];
    let mut links = Vec::new();
    let mut join = |a: usize, pa: usize, b: usize, pb: usize| {
        let (a, b) = ((NodeId(a as u32), pa as u16), (NodeId(b as u32), pb as u16));
        links.push(LinkSpec { a, b, ..model });
    };
    for pod in 0..k {
        for i in 0..half {
            for j in 0..half {
                join((pod * half + i) * half + j, 0, edge(pod, i), j);
                join(edge(pod, i), half + j, aggregation(pod, j), i);
                join(aggregation(pod, i), half + j, core(i, j), pod);
            }
        }
    }
    let mut switch = spec.switches[0].clone();
    switch.ports = k as u16;
    if let Some(shared) = &mut switch.shared {
        shared.inputs.truncate(k);
        shared.memory = Bytes::new(MEMORY * k as u64);
    }
    spec.switches = vec![switch; 2 * k * half + half * half];
    spec.links = links;
    spec.routing = Routing::FrameHash;
}

/// Every host sends 2 MB to another one, and receives as much: a permutation of one cycle, the same in every run.
fn permutation(spec: &mut RunSpec, k: usize, pause: bool) {
    fat_tree(spec, k);
    spec.routing = Routing::FlowHash;
    let mut to: Vec<u32> = (0..spec.hosts.len() as u32).collect();
    let mut stream = Stream::new(1, 0, Purpose::Test);
    for i in (1..to.len()).rev() {
        to.swap(i, stream.below(i as u64) as usize);
    }
    for (h, &dst) in spec.hosts.iter_mut().zip(&to) {
        for s in &mut h.sources {
            s.arrivals = Arrivals::Transfers;
            s.transfers =
                vec![Transfer { start: Time::ZERO, dst: NodeId(dst), bytes: Bytes::new(2_000_000) }];
        }
    }
    for s in spec.switches.iter_mut().filter(|_| !pause) {
        s.buffer.pause = None;
    }
}

/// Unequal links and frames: every host its own speed and size.
fn mixed(spec: &mut RunSpec) {
    let hosts = spec.hosts.len();
    let rates = [10.0, 25.0, 40.0, 100.0, 200.0, 400.0];
    let sizes = [300, 600, 1500, 4000, 9000];
    for (i, h) in spec.hosts.iter_mut().enumerate() {
        for s in &mut h.sources {
            s.frame = Bytes::new(sizes[i % sizes.len()]);
            s.arrivals = Arrivals::Bernoulli { load: 0.3 };
        }
    }
    for l in &mut spec.links {
        let access = (l.a.0.0 as usize) < hosts;
        l.rate = Rate::from_gbps(if access { rates[l.a.0.0 as usize % rates.len()] } else { 400.0 });
    }
    // Fast hosts overload slow ones: what does not fit is dropped, as headroom for such links is another matter.
    for s in &mut spec.switches {
        s.buffer.pause = None;
    }
}
