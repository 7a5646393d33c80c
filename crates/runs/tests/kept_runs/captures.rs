//! Captures: the real tshark reads in them what the records say, under each scheme and each transport.

use cnsim_runs::capture::{Captures, DISSECTOR, run_captured};
use cnsim_runs::files::read_csv;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, jobs, run_job};
use cnsim_scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Five hosts at a switch: four send to H0, and H5 to the others. PAUSE is on, and H0's port is slow for a while.
const STAR: &str = r#"
name = "star"
[topology]
kind = "single-switch"
hosts = 6
[switch]
share = "60 KB"
[hotspot]
host = "H0"
rate = "5 Gb/s"
start = "200 us"
stop = "600 us"
[[traffic]]
hosts = ["H1..H4"]
kind = "incast"
destinations = ["H0"]
size = "1200 KB"
[[traffic]]
hosts = ["H5"]
kind = "poisson"
load = "50 %"
sizes = "file"
size_table = ["64 50", "9000 100"]
destinations = ["H1..H4"]
[run]
duration = "2500 us"
seeds = 1
[record]
pauses = "on"
"#;

fn job(head: &str, scheme: &str) -> Result<Job, String> {
    // ECN marks before PAUSE stops.
    let ramp = if scheme == "dcqcn" { "[scheme.dcqcn]\nk_min = \"5 KB\"\nk_max = \"40 KB\"" } else { "" };
    let text = format!("{STAR}{head}\n{ramp}\n[matrix]\nschemes = [\"{scheme}\"]\n");
    let scenario = Scenario::parse("star.toml", &text, &[]).map_err(|p| format!("{p:?}"))?;
    let jobs = jobs(&scenario, scenario.cases()).map_err(|e| format!("{e:?}"))?;
    jobs.into_iter().next().ok_or_else(|| "no job".into())
}

const PAIRS: &str = "[host]\nqueues = \"per-flow\"\n";

/// Jobs of each scheme, with queue pairs if it needs them, and of each transport.
fn all_jobs() -> Vec<Job> {
    let registry = cnsim_schemes::registry();
    let mut all: Vec<Job> = Vec::new();
    for scheme in registry.names() {
        all.push(job("", scheme).or_else(|_| job(PAIRS, scheme)).unwrap_or_else(|e| panic!("{scheme}: {e}")));
    }
    let loses = "[[event]]\nlink = \"S-H0\"\nloss = \"1 %\"\n";
    for kind in ["go-back-n", "selective", "tcp"] {
        all.push(job(&format!("{PAIRS}[transport]\nkind = \"{kind}\"\n{loses}"), "dcqcn").unwrap());
    }
    all.push(job(&format!("{PAIRS}[transport]\nkind = \"tcp\"\n"), "newreno").unwrap());
    let echoes = "[transport]\nkind = \"tcp\"\necn = \"rfc3168\"\nhandshake = \"on\"\n[scheme.newreno]\nmark_from = \"15 KB\"\n";
    all.push(job(&format!("{PAIRS}{echoes}"), "newreno").unwrap());
    all.push(job("[pause]\nframes = \"pfc\"\n", "none").unwrap());
    let classes = "[[class]]\nname = \"a\"\n[[class]]\nname = \"b\"\n";
    all.push(
        job(
            &format!("{PAIRS}[pause]\nframes = \"pfc\"\n[transport]\nkind = \"go-back-n\"\n{classes}"),
            "none",
        )
        .unwrap(),
    );
    all
}

/// A row of a trace by its columns.
type Row = BTreeMap<&'static str, String>;

const COLUMNS: [&str; 20] = [
    "time_ns", "port", "kind", "bytes", "class", "source", "destination", "number", "frame", "marked",
    "lost", "again", "acked_frames", "point", "fb", "q_off_bytes", "q_delta_bytes", "rate_bps", "tag", "why",
];

/// Runs a job with both forms of captures of these names: its record, the pcapng file, and the rows of the trace.
fn captured(job: &Job, names: &[&str]) -> (RunRecord, Vec<u8>, Vec<Row>) {
    let names: Vec<String> = names.iter().map(|n| (*n).into()).collect();
    let captures = Captures::read(&names, &names, job).unwrap();
    let (record, files, cut) = run_captured(job, &captures, None, &Watch::default(), 1).unwrap().unwrap();
    assert_eq!(cut, None);
    let [pcap, trace] = &files[..] else { panic!("two files") };
    let text = String::from_utf8(trace.bytes.clone()).unwrap();
    assert!(text.starts_with(&COLUMNS.join(",")), "{text:.200}");
    let rows: Vec<Row> =
        read_csv(&text).into_iter().map(|row| COLUMNS.into_iter().zip(row).collect()).collect();
    assert_eq!((pcap.frames, trace.frames), (rows.len(), rows.len()));
    (record, pcap.bytes.clone(), rows)
}

/// A capture changes nothing of a run, and its counts are those of the run.
#[test]
fn counts_are_those_of_the_run() {
    let loses =
        format!("{PAIRS}[transport]\nkind = \"go-back-n\"\n[[event]]\nlink = \"S-H0\"\nloss = \"1 %\"\n");
    for (head, scheme) in [("", "none"), ("", "dcqcn"), (&loses[..], "dcqcn")] {
        let job = job(head, scheme).unwrap();
        let (record, _, rows) = captured(&job, &["H0>S", "H1>S", "S>H2", "S>H3", "S>H4", "S>H5"]);
        assert_eq!(record, run_job(&job, None, &Watch::default(), 1).unwrap().unwrap());
        let count = |port: &str, kinds: &[&str]| {
            rows.iter().filter(|r| r["port"] == port && kinds.contains(&r["kind"].as_str())).count() as f64
        };
        for (port, facts) in record.ports.iter().filter(|p| p.0.contains('>')) {
            assert_eq!(count(port, &["xoff"]), facts.xoffs as f64, "{port}");
            let lost =
                rows.iter().filter(|r| r["port"] == *port && r["kind"] == "data" && r["lost"] == "yes");
            assert_eq!(lost.count() as u64, facts.lost, "{port}");
        }
        let metric = |id: &str| record.metrics.get(id).unwrap_or(0.0);
        let cnps: f64 = (0..6).map(|h| count(&format!("H{h}>S"), &["cnp"])).sum();
        let waits = metric("control_messages") - cnps;
        assert!((0.0..=8.0).contains(&waits), "{cnps} of {}", metric("control_messages"));
        assert_eq!(
            (cnps > 20.0, rows.iter().any(|r| r["marked"] == "yes")),
            (scheme == "dcqcn", scheme == "dcqcn")
        );
        let why = rows.iter().filter(|r| r["kind"] == "xoff" && r["why"].contains("wait for S>H0, which"));
        assert!(why.count() > 0 || scheme != "none", "why XOFF was said");
        let again = rows.iter().filter(|r| r["again"] == "yes").count();
        assert_eq!(again > 0, !head.is_empty());
    }
}

/// A flow is captured at the links of its hosts, and nothing else is.
#[test]
fn a_flow_is_captured_at_both_ends() {
    let job = job(PAIRS, "dcqcn").unwrap();
    let (_, _, rows) = captured(&job, &["H1>H0"]);
    let ports: BTreeSet<&str> = rows.iter().map(|r| r["port"].as_str()).collect();
    assert_eq!(ports, BTreeSet::from(["H0>S", "H1>S", "S>H0", "S>H1"]));
    assert!(rows.iter().all(|r| r["source"] == "H1" && r["destination"] == "H0"));
    let first = |port: &str| rows.iter().find(|r| r["port"] == port && r["kind"] == "data").unwrap();
    // 1500 B take 1.2 us at 10 Gb/s; the link and the switch 1.5 us; then the port sends it.
    let at = |port: &str| first(port)["time_ns"].parse::<f64>().unwrap();
    assert_eq!(at("H1>S"), 1_200.0);
    assert!(at("S>H0") >= 1_200.0 + 1_500.0 + 1_200.0);
    let one = Captures::read(&["H1>H0#1".into()], &[], &job).unwrap();
    assert_eq!(one.pcap.ports().len(), 4);
}

/// Names of nothing are refused with the nearest ones.
#[test]
fn names_that_are_not_there() {
    let job = job(PAIRS, "dcqcn").unwrap();
    let of = |name: &str| Captures::read(&[name.into()], &[], &job).unwrap_err();
    for (name, said) in [
        ("S>H00", "did you mean `S>H0`?"),
        ("S->H0", "did you mean `S>H0`?"),
        ("H1>H2", "H1 sends H1>H0"),
        ("H1>H0#2", "the last of these hosts is #1"),
        (
            "nothing",
            "a port is named by a node and its neighbour, as `S>H5`, and a flow by its hosts, as `H0>H5`",
        ),
    ] {
        assert!(of(name).contains(said), "{name}: {}", of(name));
    }
}

fn tshark() -> bool {
    Command::new("tshark").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// Names the test as skipped where `make test` looks; under `CNSIM_STRICT=1` that is a failure.
fn skip(name: &str, needs: &str) {
    assert!(std::env::var("CNSIM_STRICT").as_deref() != Ok("1"), "{name} needs {needs}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t));
    let list = std::fs::OpenOptions::new().create(true).append(true).open(target.join("skipped.txt"));
    let _ = list.and_then(|mut f| writeln!(f, "SKIPPED: {name} (needs {needs})"));
}

const FIELDS: [&str; 40] = [
    "frame.time_epoch", "frame.interface_name", "frame.len", "frame.comment", "macc.opcode",
    "macc.pause_time", "macc.cbfc.enbv", "infiniband.bth.opcode", "infiniband.bth.psn",
    "infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.bth.destqp", "ip.dsfield.ecn", "ip.src",
    "ip.dst", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags.ece", "tcp.flags.cwr", "tcp.flags.syn",
    "tcp.flags.ack", "cnm.qfb", "cnm.qoffset", "cnm.qdelta", "cnm.cpid", "cntag.flow", "cnsim.kind",
    "cnsim.flag", "cnsim.src", "cnsim.dst", "cnsim.nth", "cnsim.number", "cnsim.tag", "cnsim.fb",
    "cnsim.qoff", "cnsim.qdelta", "cnsim.rate", "cnsim.probe_fb", "_ws.malformed", "vlan.priority",
];

/// What tshark finds in a capture: the fields of each frame.
fn read(dir: &Path, pcap: &[u8]) -> Vec<BTreeMap<&'static str, String>> {
    std::fs::write(dir.join("a.pcapng"), pcap).unwrap();
    std::fs::write(dir.join("cnsim.lua"), DISSECTOR.1).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"]);
    tshark.arg("-X").arg(format!("lua_script:{}", dir.join("cnsim.lua").display()));
    tshark.arg("-r").arg(dir.join("a.pcapng"));
    FIELDS.iter().for_each(|field| _ = tshark.args(["-e", field]));
    let out = tshark.output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    let errors: Vec<&str> = errors.lines().filter(|l| !l.contains("as user \"root\"")).collect();
    assert!(out.status.success() && errors.is_empty(), "{errors:?}");
    let text = String::from_utf8(out.stdout).unwrap();
    let line = |line: &str| FIELDS.into_iter().zip(line.split('\t').map(String::from)).collect();
    text.lines().map(line).collect()
}

/// A folder for files of a test.
fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("cnsim-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A number, decimal or hexadecimal.
fn number(text: &str) -> i64 {
    let hex = text.strip_prefix("0x").map(|hex| i64::from_str_radix(hex, 16));
    hex.unwrap_or_else(|| text.parse()).unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Does tshark find in a frame what the row says?
fn compare(row: &Row, found: &BTreeMap<&'static str, String>, transport: &str) {
    let same =
        |field: &str, value: i64| assert_eq!(number(&found[field]), value, "{field}: {row:?}\n{found:?}");
    let host = |name: &str| number(&row[name][1..]);
    let ps = |text: &str| {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{part:0<9.9}").parse::<u64>().unwrap()
    };
    let ns = row["time_ns"].split('.').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(ps(&found["frame.time_epoch"]), ns, "{row:?}");
    assert_eq!(found["frame.interface_name"], row["port"]);
    assert_eq!(found["frame.comment"], row["why"], "{row:?}");
    assert_eq!(found["_ws.malformed"], "", "{row:?}");
    let bytes = number(&row["bytes"]);
    let kind = row["kind"].as_str();
    // An acknowledgement with a VLAN tag is longer than 64 B.
    let tagged = kind == "ack" && !found["vlan.priority"].is_empty();
    same("frame.len", if tagged { 64 } else { bytes - 4 });
    let roce = !found["infiniband.bth.opcode"].is_empty();
    let address = |field: &str, host: i64| assert_eq!(found[field], format!("10.0.0.{}", host + 1));
    let private = |kind: i64| {
        same("cnsim.kind", kind);
        if !row["source"].is_empty() {
            same("cnsim.src", host("source"));
            same("cnsim.dst", host("destination"));
        }
        if !row["number"].is_empty() {
            same("cnsim.nth", number(&row["number"]));
        }
        let fields =
            [("rate_bps", "cnsim.rate"), ("fb", if kind == 2 { "cnsim.fb" } else { "cnsim.probe_fb" })];
        for (column, field) in fields.into_iter().filter(|f| !row[f.0].is_empty()) {
            let value = |text: &str| text.parse::<f64>().unwrap();
            let (a, b) = (value(&row[column]), value(&found[field]));
            // tshark prints so many digits.
            assert!((a - b).abs() <= 1e-5 * a.abs(), "{column}: {row:?}\n{found:?}");
        }
        for (column, field) in
            [("q_off_bytes", "cnsim.qoff"), ("q_delta_bytes", "cnsim.qdelta"), ("frame", "cnsim.number")]
        {
            if !row[column].is_empty() {
                same(field, number(&row[column]));
            }
        }
    };
    match kind {
        "xoff" | "xon" => {
            let quanta = if kind == "xoff" { 65_535 } else { 0 };
            if transport == "pfc" {
                same("macc.opcode", 0x0101);
                same("macc.cbfc.enbv", 1);
            } else {
                same("macc.opcode", 1);
                same("macc.pause_time", quanta);
            }
        }
        "cnm" => {
            same("cnm.qfb", number(&row["fb"]));
            same("cnm.qoffset", number(&row["q_off_bytes"]) / 64);
            same("cnm.qdelta", number(&row["q_delta_bytes"]) / 64);
            same("cntag.flow", host("source") * 6 + host("destination"));
        }
        "cnp" => {
            same("infiniband.bth.opcode", 0x81);
            address("ip.dst", host("source"));
        }
        // SYN goes to the flow's destination, and SYN with ACK comes back; both agree on ECN (RFC 3168, 6.1.1).
        "open" => {
            let back = row["port"].starts_with(&format!("{}>", row["destination"]))
                || row["port"].ends_with(&format!(">{}", row["source"]));
            let flags = [("syn", 1), ("ack", i64::from(back)), ("ece", 1), ("cwr", i64::from(!back))];
            flags.iter().for_each(|(flag, value)| same(&format!("tcp.flags.{flag}"), *value));
        }
        "ack" | "nack" if transport == "tcp" => {
            let frames = number(&row["acked_frames"]);
            let flags = [("syn", 0), ("ack", 1), ("ece", i64::from(row["marked"] == "yes")), ("cwr", 0)];
            flags.iter().for_each(|(flag, value)| same(&format!("tcp.flags.{flag}"), *value));
            let whole = 1500 - 58;
            let acked = number(&found["tcp.ack_raw"]) - 1;
            assert!(
                acked == frames * whole || acked >= (frames - 1) * whole && acked < frames * whole,
                "{row:?}"
            );
        }
        "ack" | "nack" => {
            same("infiniband.bth.opcode", 0x11);
            let gap = kind == "nack";
            same("infiniband.aeth.syndrome", if gap { 0x60 } else { 0x1F });
            same("infiniband.bth.psn", (number(&row["acked_frames"]) - i64::from(!gap)) & 0xFF_FFFF);
            address("ip.dst", host("source"));
        }
        "data" if transport == "tcp" || roce => {
            same("ip.dsfield.ecn", if row["marked"] == "yes" { 3 } else { 2 });
            address("ip.src", host("source"));
            address("ip.dst", host("destination"));
            match transport {
                "tcp" => {
                    same("tcp.seq_raw", number(&row["frame"]) * (1500 - 58) + 1);
                    let cut = row["why"].contains("its source has cut the window");
                    let flags = [("syn", 0), ("ack", 1), ("ece", 0), ("cwr", i64::from(cut))];
                    flags.iter().for_each(|(flag, value)| same(&format!("tcp.flags.{flag}"), *value));
                }
                _ => same("infiniband.bth.psn", number(&row["frame"])),
            }
        }
        "data" => {
            assert_eq!(found["cnsim.flag"], if row["marked"] == "yes" { "1" } else { "0" }, "{row:?}");
            private(1);
        }
        "ecm" => private(2),
        "reflection" => private(3),
        "rate" => private(4),
        "returned-rate" => private(5),
        "probe" => private(6),
        "probe-reply" => private(7),
        "user" => private(8),
        "echo" => private(9),
        kind => panic!("{kind}"),
    }
}

/// On more than 1e5 frames in all, of runs of each scheme and each transport; with ECN by RFC 3168 marks are echoed until a cut is said.
#[test]
fn tshark_reads_what_the_records_say() {
    if !tshark() {
        return skip("tshark_reads_what_the_records_say", "tshark");
    }
    let dir = folder("tshark");
    let (mut frames, mut kinds) = (0, BTreeMap::new());
    for job in all_jobs() {
        let (_, pcap, rows) = captured(&job, &["S>H0", "S>H1", "S>H2", "S>H5"]);
        let found = read(&dir, &pcap);
        assert_eq!(found.len(), rows.len(), "{}", job.case.id);
        let config = |key: &str| job.ready.config.0.get(key).map(ToString::to_string).unwrap_or_default();
        let tcp = config("transport.kind").contains("tcp");
        let transport = if tcp {
            "tcp"
        } else if config("pause.frames").contains("pfc") {
            "pfc"
        } else {
            ""
        };
        for (row, found) in rows.iter().zip(&found) {
            compare(row, found, transport);
            *kinds.entry(row["kind"].clone()).or_insert(0) += 1;
            if found["tcp.flags.cwr"] == "1" && row["kind"] == "data" {
                *kinds.entry("cut".into()).or_insert(0) += 1;
            }
            if config("transport.ecn").contains("rfc3168") && row["marked"] == "yes" {
                *kinds.entry(format!("marked {}", row["kind"])).or_insert(0) += 1;
            }
        }
        frames += rows.len();
    }
    std::fs::remove_dir_all(&dir).unwrap();
    eprintln!("{frames} frames: {kinds:?}");
    assert!(frames >= 100_000, "{frames}");
    for kind in [
        "data", "ack", "nack", "cnp", "cnm", "ecm", "rate", "returned-rate", "probe", "probe-reply", "xoff",
        "xon", "open", "cut", "marked data", "marked ack",
    ] {
        assert!(kinds.get(kind).is_some_and(|n| *n > 2), "{kind}: {kinds:?}");
    }
}
