//! The report and the terminal as `run` and `reproduce` make them, and what `explain` draws and says.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Folder;
use serde_json::Value;

/// Did it end well, and what did it say?
fn cnsim(args: &[&str]) -> (bool, String) {
    let o = common::cnsim(args);
    (o.status.success(), common::text(&o))
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
