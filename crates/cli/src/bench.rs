//! `cnsim bench`: packet-hops per CPU-second of a standard set, a child process per row for its own peak memory.

use crate::{Done, Failure, look};
use cnsim_studies::scenario::Scenario;
use serde_json::{Value, json};

/// Rows: name, scheme, settings over the single-hop scenario.
const ROWS: &[(&str, &str, &[(&str, &str)])] = &[
    ("w1", "none", &[("hotspot.host", "off"), ("run.duration", "400 ms")]),
    (
        "w1-short",
        "none",
        &[
            ("hotspot.host", "off"),
            ("run.duration", "400 ms"),
            ("switch.processing", "0 us"),
            ("host.processing", "0 us"),
        ],
    ),
    (
        "w2",
        "none",
        &[
            ("hotspot.host", "off"),
            ("run.duration", "20 ms"),
            ("topology.kind", "k-ary-n-tree"),
            ("topology.routing", "frame-hash"),
            ("host.fifo", "500"),
        ],
    ),
    (
        "w2-short",
        "none",
        &[
            ("hotspot.host", "off"),
            ("run.duration", "20 ms"),
            ("topology.kind", "k-ary-n-tree"),
            ("topology.routing", "frame-hash"),
            ("host.fifo", "500"),
            ("switch.processing", "0 us"),
            ("host.processing", "0 us"),
        ],
    ),
    ("b07-single", "none", &[("hotspot.host", "off"), ("run.duration", "400 ms")]),
    ("b07-single", "qcn-2pt", &[("hotspot.host", "off"), ("run.duration", "400 ms")]),
    ("b07-single", "qcn-3pt", &[("hotspot.host", "off"), ("run.duration", "400 ms")]),
    ("b07-single", "ecm", &[("hotspot.host", "off"), ("run.duration", "400 ms")]),
    ("hotspot", "none", &[("run.duration", "1 s")]),
    ("hotspot", "qcn-2pt", &[("run.duration", "1 s")]),
    ("hotspot", "ecm", &[("run.duration", "1 s")]),
    ("small", "none", &[("hotspot.host", "off"), ("run.duration", "20 ms"), ("workload.frame", "64 B")]),
    ("sparse", "none", &[("hotspot.host", "off"), ("run.duration", "1 s"), ("workload.load", "5 %")]),
];

pub(crate) fn bench(rows: &[String], as_json: bool, child: bool) -> Done {
    if child {
        let (name, scheme) =
            (rows.first().map_or("", String::as_str), rows.get(1).map_or("", String::as_str));
        println!("{}", measure(name, scheme)?);
        return Ok(());
    }
    let known = |r: &String| ROWS.iter().any(|x| x.0 == r);
    if let Some(r) = rows.iter().find(|r| !known(r)) {
        let mut names: Vec<&str> = ROWS.iter().map(|r| r.0).collect();
        names.dedup();
        return Err(Failure::input(format!("there is no row `{r}`\n  help: rows are {}", names.join(", "))));
    }
    let program = std::env::current_exe().map_err(|e| Failure::Run(e.to_string()))?;
    let mut results: Vec<Value> = Vec::new();
    for (name, scheme, _) in ROWS.iter().filter(|r| rows.is_empty() || rows.iter().any(|x| x == r.0)) {
        let out = std::process::Command::new(&program).args(["bench", "--child", name, scheme]).output();
        let out = out.map_err(|e| Failure::Run(e.to_string()))?;
        let row = serde_json::from_slice(&out.stdout).map_err(|e| {
            Failure::Run(format!("{name} {scheme}: {e}: {}", String::from_utf8_lossy(&out.stderr)))
        })?;
        results.push(row);
    }
    if as_json {
        let host = json!({"cores": std::thread::available_parallelism().map_or(1, usize::from), "arch": std::env::consts::ARCH, "os": std::env::consts::OS});
        println!("{}", json!({"schema": 1, "host": host, "rows": results}));
        return Ok(());
    }
    let number = |v: &Value, k: &str| v[k].as_f64().unwrap_or(0.0);
    let table: Vec<Vec<String>> = results
        .iter()
        .map(|r| {
            vec![
                r["name"].as_str().unwrap_or("").into(),
                r["scheme"].as_str().unwrap_or("").into(),
                format!("{:.2e}", number(r, "packet_hops")),
                format!("{:.2}", number(r, "cpu_s")),
                format!("{:.1}", number(r, "mhops_per_cpu_s")),
                format!("{:.1}", number(r, "peak_rss_bytes") / 1e6),
                r["fingerprint"].as_str().unwrap_or("").into(),
            ]
        })
        .collect();
    println!(
        "{}",
        look::table(
            &["row", "scheme", "packet-hops", "CPU s", "M hops/CPU s", "peak MB", "fingerprint"],
            &table,
            true
        )
    );
    Ok(())
}

/// Seconds of CPU of this process, and its peak memory, from the system.
fn usage() -> (f64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks: f64 = [11, 12].iter().filter_map(|&i| after.get(i)?.parse::<f64>().ok()).sum();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse::<u64>().ok());
    (ticks / 100.0, peak.unwrap_or(0) * 1024)
}

fn measure(name: &str, scheme: &str) -> Result<Value, Failure> {
    let Some((_, _, sets)) = ROWS.iter().find(|r| r.0 == name && r.1 == scheme) else {
        return Err(Failure::input(format!("there is no row {name} {scheme}")));
    };
    let text = include_str!("../../../scenarios/B07/single-hop.toml");
    let mut flat: Vec<(String, String)> =
        sets.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
    let quiet = sets.iter().any(|s| s.0 == "hotspot.host");
    let tree = sets.iter().any(|s| s.1 == "k-ary-n-tree");
    // The study's text with the lines that a row replaces left out.
    let text: String = text
        .lines()
        .filter(|l| {
            !(quiet
                && (l.starts_with("rate = ")
                    || l.starts_with("start = ")
                    || l.starts_with("stop = ")
                    || l.contains("hotspot.rate")))
        })
        .filter(|l| !(tree && (l.starts_with("hosts = ") || l.starts_with("ports = "))))
        .map(|l| format!("{l}\n"))
        .collect();
    flat.push(("matrix.schemes".into(), format!("[{scheme}]")));
    let scenario = Scenario::parse(name, &text, &flat)?;
    let case = scenario.case(0, Vec::new(), "on", scheme);
    let ready = scenario.ready(&case)?;
    let spec = ready.settings.spec(&ready.built, 1, false);
    let (before, wall) = (usage().0, std::time::Instant::now());
    let out = cnsim_fabric::run(&spec, &cnsim_fabric::Options::default())
        .map_err(|e| Failure::Run(e.to_string()))?;
    let wall = wall.elapsed().as_secs_f64();
    let (after, peak) = usage();
    let cpu = if after > before { after - before } else { wall };
    let f = out.fingerprint;
    Ok(json!({
        "name": name, "scheme": scheme, "packet_hops": out.packet_hops, "control_hops": out.control_hops, "cpu_s": cpu, "wall_s": wall,
        "mhops_per_cpu_s": out.packet_hops as f64 / cpu / 1e6, "peak_rss_bytes": peak, "threads": 1,
        "fingerprint": format!("{:016x}", f.events ^ f.frames.rotate_left(21) ^ f.samples.rotate_left(42)),
    }))
}
