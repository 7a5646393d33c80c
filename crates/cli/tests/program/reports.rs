//! The report and the terminal as `run` and `reproduce` make them, and what `explain` draws and says.

use crate::common::Folder;
use serde_json::Value;

/// Did it end well, and what did it say?
fn cnsim(args: &[&str]) -> (bool, String) {
    let o = crate::common::cnsim(args);
    (o.status.success(), crate::common::text(&o))
}

/// What the report's scripts are given for a page.
fn data(html: &str, page: &str) -> Value {
    let from = html.find(&format!("data-for=\"{page}\">")).expect("data of the page");
    let from = from + html[from..].find('>').unwrap() + 1;
    serde_json::from_str(&html[from..from + html[from..].find("</script>").unwrap()]).unwrap()
}

fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|x| x[key].as_str().unwrap()).collect()
}

/// Six conditions with two schemes each; figures asked for.
const MANY: &str = r#"study = "mine"
name = "many"
title = "Many conditions"
condition = "RTT {host.feedback_delay}, limit {switch.output_limit}, no limit{switch.output_limit=off}"
[topology]
hosts = 4
[hotspot]
host = "H1"
rate = "1 Gb/s"
start = "1 ms"
stop = "4 ms"
period = "1 ms"
[run]
duration = "5 ms"
seeds = 2
[record]
bin = "0.1 ms"
flows = ["H2>H1"]
[matrix]
"host.feedback_delay" = ["0 us", "10 us", "100 us"]
"switch.output_limit" = ["off", "60 KB"]
pause = ["off"]
schemes = ["none", "ecm"]
[[figure]]
title = "Drops"
metric = "dropped_frames"
[[figure]]
title = "Queue and rate"
caption = "A remark."
series = ["hot_queue", "flow H2>H1"]
conditions = ["RTT 10 us, no limit"]
each = "scheme"
"#;

#[test]
fn a_report_of_many_conditions() {
    let folder = Folder::new("many");
    let file = folder.write("many.toml", MANY);
    let published = folder.write(
        "p.csv",
        "study,scenario,condition,pause,scheme,metric,value,unit,note\n\
         mine,many,\"RTT 10 us, no limit\",off,ecm,aggregate_throughput,1.00,Gb/s,\n\
         mine,many,\"RTT 50 us, no limit\",off,ecm,mean_latency,1,us,\n\
         mine,many,sunny,off,ecm,mean_latency,1,us,\n",
    );
    let out = folder.file("out");
    let (done, said) = cnsim(&["run", &file, "--published", &published, "--out", &out]);
    assert!(done, "{said}");
    assert!(said.contains("RTT 50 us, no limit"), "a new row adds its condition: {said}");
    assert!(said.contains("differs: aggregate") && said.contains("published 1.00"), "{said}");
    assert!(said.contains("Published, not run: 1"), "{said}");
    assert!(said.contains(&format!("cnsim run {file}")), "{said}");

    let html = folder.read("out/report.html");
    assert!(html.contains("no condition of the scenario reads like this"));
    let page = data(&html, "mine/many");
    let tables = page["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 1, "few schemes and many conditions stand in one table");
    let columns = texts(&tables[0]["columns"], "metric");
    assert!(columns.contains(&"mean_latency"), "a published metric has its column: {columns:?}");
    assert!(!columns.contains(&"time_paused"), "zero by construction throughout: {columns:?}");
    let rows = tables[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 7 * 2);
    let at = columns.iter().position(|c| *c == "aggregate_throughput").unwrap();
    let row = rows.iter().find(|r| r["condition"] == "RTT 10 us, no limit" && r["scheme"] == "ecm").unwrap();
    let cell = &row["cells"][at];
    assert_eq!((cell["published"].as_str(), cell["verdict"].as_str()), (Some("1.00"), Some("differs")));
    assert!(
        cell["accept"][0].as_f64() < cell["measured"].as_f64()
            && cell["values"].as_array().unwrap().len() == 2
    );

    let figures = page["figures"].as_array().unwrap();
    let named = |title: &str| figures.iter().filter(|f| f["title"] == title).collect::<Vec<_>>();
    // One line a condition, a figure for each limit.
    let queue = named("Hot queue length: ecm, no limit");
    assert_eq!(texts(&queue[0]["traces"], "name"), ["RTT 0 us", "RTT 10 us", "RTT 100 us", "RTT 50 us"]);
    assert!(queue[0]["traces"][0]["low"].is_object(), "a band over the seeds");
    assert_eq!(queue[0]["windows"].as_array().unwrap().len(), 2, "a periodic hotspot");
    let limited = named("Hot queue length: ecm, limit 60 KB");
    let levels = texts(&limited[0]["levels"], "label");
    assert!(
        levels.contains(&"limit 60 KB") && levels.iter().any(|l| l.starts_with("set point")),
        "{levels:?}"
    );
    // No scheme's colour: settings have their own.
    let slots: Vec<u64> =
        queue[0]["traces"].as_array().unwrap().iter().map(|t| t["slot"].as_u64().unwrap()).collect();
    assert_eq!(slots, [8, 10, 12, 15], "settings run over the colours that are no scheme's");
    let rate = named("Hot-port throughput: none, no limit");
    assert_eq!(texts(&rate[0]["levels"], "label"), ["service rate 1 Gb/s"]);
    // Those asked for: a metric as bars, series split by unit, one for each scheme.
    let drops = named("no limit");
    assert_eq!(drops[0]["kind"], "bars");
    assert_eq!(drops[0]["categories"].as_array().unwrap().len(), 4);
    assert_eq!(texts(&drops[0]["traces"], "name"), ["none", "ecm"]);
    let ecm = named("ecm");
    let units: Vec<&str> = ecm.iter().map(|f| f["y"]["unit"].as_str().unwrap()).collect();
    assert_eq!(units, ["KB", "Mb/s"]);
    assert!(html.contains("A remark. Seed 1; band: least and greatest of 2 seeds."));
    assert!(html.contains("<h3>Queue and rate</h3>"));
}

#[test]
fn a_study_and_its_claims_are_in_the_report() {
    let folder = Folder::new("study");
    let out = folder.file("out");
    let only = "2 Gb/s, PAUSE on, ecm";
    let (done, said) = cnsim(&["reproduce", "B07/single-hop", "--only", only, "--seeds", "1", "--out", &out]);
    assert!(done, "{said}");
    let html = folder.read("out/report.html");
    assert!(html.contains("ECM and QCN on the CN-SIM benchmarks"), "heading of the study");
    assert!(html.contains("IEEE 802 plenary, July 2007"), "citation");
    assert!(html.contains("Claims decided here") && html.contains("Assumptions made here"));
    let page = data(&html, "B07/single-hop");
    let columns = texts(&page["tables"][0]["columns"], "metric");
    assert!(columns.contains(&"recovery_time"), "a claim rests on it: {columns:?}");
    assert!(html.contains("links of 10 Gb/s with a delay of 500 ns"));
    let (_, said) = cnsim(&["explain", "b07.7", "--out", &out]);
    assert!(said.contains("recovery_time") && said.contains("claims.csv: not-run"), "{said}");
}

#[test]
fn describes() {
    for (name, words) in [
        (
            "qcn-2pt",
            &["fast recovery", "A4 efr", "before-cut | after-cut", "rate H2", "↑ H2 starts", "queue "][..],
        ),
        ("none", &["No parameters", "rate H1"]),
        ("B07", &["B07/single-hop", "B07.4", "cnsim reproduce B07", "120"]),
        (
            "single-hop",
            &["[S] ── H0* H1..H9", "hot port S>H0", "24 cases, 240 runs", "CPU time", "A1 source-queue"],
        ),
    ] {
        let (done, said) = cnsim(&["explain", name]);
        assert!(done, "{said}");
        for w in words {
            assert!(said.contains(w), "{name}: `{w}` is not in {said}");
        }
    }
    let (done, said) = cnsim(&["explain", "single-hopp"]);
    assert!(!done && said.contains("cnsim explain B07/single-hop "), "{said}");
    let (_, said) = cnsim(&["list", "studies"]);
    assert!(["B07", "M08", "R07", "Z07", "C07"].iter().all(|s| said.contains(s)), "{said}");
}

#[test]
fn every_metric_claim_and_assumption_is_explained() {
    for kind in ["metrics", "assumptions"] {
        let (_, listed) = cnsim(&["list", kind, "--json"]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        for name in texts(&listed, "name") {
            let id = name.split(' ').next().unwrap();
            let (done, said) = cnsim(&["explain", id]);
            assert!(done && said.starts_with(id) && said.len() > id.len() + 20, "{name}: {said}");
        }
    }
    let (done, said) = cnsim(&["explain", "B07.33", "--out", "/nowhere"]);
    assert!(!done && said.contains("cnsim explain B07.3 "), "{said}");
}

/// Seven hosts send to one and three to another, whose NIC says XOFF for a while: two roots, by one shared buffer a switch.
const STOPPED: &str = r#"study = "mine"
name = "stopped"
[topology]
kind = "leaf-spine"
leaves = 6
spines = 3
per_switch = 4
link_rate = "100 Gb/s"
link_delay = "1 us"
[switch]
buffer = "shared"
memory = "1 MB"
reserve = "4 KB"
alpha = "1/8"
headroom = "auto"
resume = "3 KB"
[workload]
kind = "transfers"
transfers = ["0 us, H4, H0, 1 MB", "0 us, H5, H0, 1 MB", "0 us, H6, H0, 1 MB", "0 us, H8, H0, 1 MB", "0 us, H9, H0, 1 MB", "0 us, H12, H0, 1 MB", "0 us, H1, H0, 1 MB", "0 us, H11, H13, 1 MB", "0 us, H2, H13, 1 MB", "0 us, H3, H13, 1 MB"]
[[fault]]
host = "H13"
kind = "xoff"
from = "50 us"
to = "400 us"
[record]
pauses = "on"
[run]
duration = "1 ms"
seeds = 2
[matrix]
pause = ["on"]
schemes = ["none"]
"#;

/// Nine switches: eight rows, the closest to a limit first, none wider than the terminal; the report says the same.
#[test]
fn shared_buffers_are_told_in_eighty_columns_and_in_the_report() {
    let folder = Folder::new("shared");
    let (file, out) = (folder.write("stopped.toml", STOPPED), folder.file("out"));
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_cnsim"))
        .args(["run", &file, "--out", &out])
        .envs([("COLUMNS", "80"), ("NO_COLOR", "1")])
        .output()
        .unwrap();
    let said = crate::common::text(&done);
    assert!(said.lines().all(|l| l.chars().count() <= 80), "{said}");
    let table: Vec<&str> = said.lines().skip_while(|l| *l != "Shared buffers").skip(3).take(9).collect();
    let results: Value = serde_json::from_str(&folder.read("out/results.json")).unwrap();
    // The most of both seeds, by switch: share of the pool and of the headroom.
    let most = |switch: &str, part: &str| -> f64 {
        let runs = results["runs"].as_array().unwrap().iter();
        let facts = runs.flat_map(|r| r["shared"].as_array().unwrap()).filter(|s| s["switch"] == switch);
        let share = |s: &Value| s[part][0].as_f64().unwrap() / s[part][1].as_f64().unwrap();
        facts.map(|s| 100.0 * share(s)).fold(0.0, f64::max)
    };
    let mut before = f64::INFINITY;
    for line in &table[..8] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let told = |i: usize| words[i].parse::<f64>().unwrap();
        let (pool, headroom) = (most(words[0], "pool"), most(words[0], "headroom"));
        assert!((told(2) - pool).abs() < 0.006 && (told(4) - headroom).abs() < 0.006, "{line}");
        assert!(pool.max(headroom) <= before, "{said}");
        before = pool.max(headroom);
    }
    assert!(before > 0.0 && table[8].starts_with("The most that pool and headroom"), "{said}");
    let page = data(&folder.read("out/report.html"), "mine/stopped");
    let tables = page["tables"].as_array().unwrap();
    let shared = tables.iter().find(|t| t["condition"] == "Shared buffers").unwrap();
    let caption = shared["caption"].as_str().unwrap();
    for words in ["any of the 2 runs (seeds)", "in 64ths of its size, rounded up", "1 more switch"] {
        assert!(caption.contains(words), "{caption}");
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{said}");
    }
    assert_eq!(shared["rows"].as_array().unwrap().len(), 8);
}

/// The bars of PAUSE in the report are as long as the transmitters stood: of one seed, and of each case.
#[test]
fn pause_is_drawn_by_root() {
    let folder = Folder::new("roots");
    let (file, out) = (folder.write("stopped.toml", STOPPED), folder.file("out"));
    let (done, said) = cnsim(&["run", &file, "--out", &out]);
    assert!(done, "{said}");
    let page = data(&folder.read("out/report.html"), "mine/stopped");
    let spans = page["figures"].as_array().unwrap().iter().filter(|f| f["kind"] == "spans");
    let by_root = |f: &&Value| f["title"].as_str().unwrap().starts_with("Who stood");
    let (figures, others): (Vec<&Value>, Vec<&Value>) = spans.partition(by_root);
    assert!(others.iter().any(|f| f["title"] == "Flows of 1 MB"), "where the time of flows went");
    assert_eq!(figures.len(), 1, "the first seed's");
    let mut drawn = 0.0;
    for t in figures[0]["traces"].as_array().unwrap() {
        let numbers = |axis: &str| -> Vec<f64> {
            let list = t["line"][axis]["plain"].as_array().unwrap().iter();
            list.map(|v| v.as_f64().unwrap()).collect()
        };
        let (x, y) = (numbers("x"), numbers("y"));
        drawn += x.windows(2).zip(&y).map(|(x, y)| (x[1] - x[0]) * y / 100.0).sum::<f64>();
    }
    let (done, tree) = cnsim(&["explain-pause", &out, "--seed", "1"]);
    assert!(done, "{tree}");
    let sum = tree.lines().find_map(|l| l.strip_prefix("sum over the trees ")).unwrap();
    let stood: f64 = sum.split_once(" ms = ").unwrap().0.parse().unwrap();
    assert!(stood > 1.0 && (drawn - stood).abs() < 1e-5 * stood, "{drawn} ms drawn; {tree}");
    // The roots are named as the tree names them.
    let roots = texts(&figures[0]["traces"], "name");
    for root in tree.lines().filter(|l| l.starts_with("root ")).take(5) {
        let name = root.split_once("  ").unwrap().1.split("; stopped").next().unwrap();
        assert!(roots.iter().any(|r| r.starts_with(name)), "{name}: {roots:?}");
    }
    assert!(roots.iter().any(|r| r.starts_with("H13: its NIC said XOFF")), "{roots:?}");
}
