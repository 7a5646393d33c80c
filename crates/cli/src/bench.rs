//! `cnsim bench`: packet-hops per CPU-second of a standard set, a child process per row for its own peak memory.

use crate::{Common, Done, Failure, look, progress};
use cnsim_fabric::{
    Arrivals, Engine, FaultKind, LinkSpec, PauseTransport, PortFault, Reuse, Routing, RunSpec, Transfer,
};
use cnsim_runs::files::read_csv;
use cnsim_scenario::keys::Key;
use cnsim_scenario::tables::{host, pause, record, run, switch, transport, workload};
use cnsim_scenario::{Scenario, needs_queue_pairs};
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Registry, Time};
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A row with one of its schemes. Durations are such that it takes about a second.
struct Row {
    name: String,
    scheme: String,
    /// The file of its network.
    network: String,
    /// A change of the network that no key makes; empty without one.
    change: String,
    sets: Vec<(String, String)>,
}

/// The rows of `benches/rows.csv`.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let set = |text: &str| text.split_once('=').map(|(key, value)| (key.into(), value.into()));
    let row = |line: Vec<String>| {
        let all = line[1].split(' ').map(String::from).collect::<Vec<_>>();
        let of = move |scheme| {
            let [name, network, change] = [0, 2, 3].map(|i| line[i].clone());
            Row { name, scheme, network, change, sets: line[4].split(", ").filter_map(set).collect() }
        };
        all.into_iter().map(of)
    };
    read_csv(include_str!("../../../benches/rows.csv")).into_iter().flat_map(row).collect()
});

/// Memory of a port, in partitions or shared, bytes.
const MEMORY: u64 = 150_000;

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
    let results: Vec<Value> =
        asked(rows).map(|r| in_child(&r.name, &r.scheme, duration)).collect::<Result<_, _>>()?;
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

/// The rows of these names; all without any.
fn asked(rows: &[String]) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|r| rows.is_empty() || rows.contains(&r.name))
}

/// Are these rows of the standard set, and is this a duration for them?
fn check(registry: &Registry, rows: &[String], duration: Option<&str>) -> Done {
    let known = |r: &String| ROWS.iter().any(|x| x.name == *r);
    if let Some(r) = rows.iter().find(|r| !known(r)) {
        let mut names: Vec<&str> = ROWS.iter().map(|r| r.name.as_str()).collect();
        names.dedup();
        return Err(Failure::input(format!("there is no row `{r}`\n  help: rows are {}", names.join(", "))));
    }
    let duration = duration.map(|d| (run::DURATION.path, d));
    for Row { name, scheme, .. } in asked(rows) {
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
    let more = duration.map(|d| (run::DURATION.path, d));
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
    let Some(row) = ROWS.iter().find(|r| r.name == name) else {
        return Err(Failure::input(format!("there is no row {name}")));
    };
    let text = match row.network.as_str() {
        "roce320" => include_str!("../../../benches/roce320.toml"),
        "roce320-tcp" => include_str!("../../../benches/roce320-tcp.toml"),
        "classes" => include_str!("../../../benches/classes.toml"),
        "iteration128" => include_str!("../../../benches/iteration128.toml"),
        "fork-incast" => include_str!("../../../scenarios/modern/fork-incast.toml"),
        _ => include_str!("../../../benches/network.toml"),
    };
    let has = |key: Key, word: &str| row.sets.iter().any(|(k, v)| k == key.path && v == word);
    // Keys of the file that have no effect beside the row's own.
    let without: &[&str] = match () {
        () if has(workload::KIND, "all-reduce") => &["sizes", "load", "share", "mode"],
        () if has(host::QUEUES, "per-flow") => &["fifo", "limiter"],
        () if has(transport::KIND, "tcp") => &["rto =", "share"],
        () if has(switch::BUFFER, "shared") => &["share", "mode", "high", "low"],
        () => &[],
    };
    let kept = |line: &&str| !without.iter().any(|key| line.starts_with(key));
    let text = text.lines().filter(kept).collect::<Vec<_>>().join("\n");
    let more = more.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string()));
    let own =
        row.sets.iter().filter(|s| s.0 != pause::MODE.path && more.clone().all(|m| m.0 != s.0)).cloned();
    let schemes = ("matrix.schemes".to_string(), format!("[{scheme}]"));
    let flat: Vec<(String, String)> = own.chain(more.clone()).chain([schemes]).collect();
    let scenario = Scenario::parse_in(registry, name, &text, &flat, &[])?;
    let mode = if has(pause::MODE, "off") { "off" } else { "on" };
    let ready = scenario.ready(&scenario.case(0, Vec::new(), mode, scheme))?;
    let mut spec = ready.settings.spec(&ready.built, 1, false);
    // Where the time of flows went is recorded only where the row says so.
    spec.record.trips &= has(record::TRIPS, "on");
    match row.change.as_str() {
        "fat-tree" => fat_tree(&mut spec, 16),
        "mixed" => mixed(&mut spec),
        "storm" => storm(&mut spec),
        "permutation" => permutation(&mut spec, true),
        "permutation without PAUSE" => permutation(&mut spec, false),
        _ => {}
    }
    Ok(spec)
}

/// A NIC says XOFF from 10 us to the end.
fn storm(spec: &mut RunSpec) {
    let transport = spec.switches[0].buffer.pause.map_or(PauseTransport::Frame, |pause| pause.transport);
    let (from, to) = (Time::from_us(10), spec.duration);
    spec.events.faults.push(PortFault {
        node: NodeId(36),
        port: 0,
        class: 0,
        from,
        to,
        transport,
        kind: FaultKind::Xoff,
    });
}

/// Runs a row in this process; `duration` overrides its own.
fn measure(
    registry: &Registry,
    name: &str,
    scheme: &str,
    (threads, engine): (usize, Engine),
    duration: Option<&str>,
) -> Result<Value, Failure> {
    let duration = duration.map(|d| (run::DURATION.path, d));
    let spec = spec(registry, name, scheme, duration.as_slice())?;
    let unknown = |e| Failure::Run(format!("the system does not say how long this process has run: {e}"));
    let before = cpu_time::ProcessTime::try_now().map_err(unknown)?;
    let wall = std::time::Instant::now();
    let mut sets = ROWS.iter().filter(|row| row.name == name).flat_map(|row| &row.sets);
    let off = sets.any(|(key, value)| key == run::REUSE.path && value == "off");
    let reuse = if off { Reuse::Off } else { Reuse::Auto };
    let options = cnsim_fabric::Options { threads, engine, reuse, ..Default::default() };
    let out = cnsim_fabric::run(&spec, &options).map_err(|e| Failure::Run(e.to_string()))?;
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
fn permutation(spec: &mut RunSpec, pause: bool) {
    let k = (2..).step_by(2).find(|k| k * k * k / 4 >= spec.hosts.len()).unwrap_or(2);
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
