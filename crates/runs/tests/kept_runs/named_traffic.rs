//! Traffic with a name: its flows, throughput and losses are told apart from those of other names.

use crate::{done, job};
use cnsim_fabric::{Engine, Options};
use cnsim_runs::flow_files::{fct_csv, read_flows, traffic_csv};
use cnsim_runs::record::RunRecord;
use std::path::Path;

/// An incast without PAUSE that loses frames, a victim that loses none, and what two hosts send all the time.
const LOSSY: &str = r#"
name = "t"
[topology]
hosts = 8
[pause]
mode = "off"
[[traffic]]
name = "incast"
hosts = "H1..H4"
kind = "incast"
destinations = ["H0"]
size = "400 KB"
[[traffic]]
name = "victim"
hosts = ["H1"]
kind = "transfers"
transfers = ["0 us, H1, H5, 50 KB", "10 us, H1, H5, 60 KB"]
[[traffic]]
name = "noise"
hosts = ["H6", "H7"]
destinations = ["H5", "H4"]
load = "20 %"
[run]
duration = "3 ms"
"#;

fn run(text: &str) -> RunRecord {
    done(&job(text))
}

fn of(r: &RunRecord, name: &str, metric: &str) -> Option<f64> {
    r.traffic.iter().find(|t| t.name == name).unwrap().metrics.get(metric)
}

#[test]
fn parts_sum_up_to_the_whole() {
    let r = run(LOSSY);
    assert_eq!(r.traffic.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["incast", "victim", "noise"]);
    let sum = |metric: &str| r.traffic.iter().filter_map(|t| t.metrics.get(metric)).sum::<f64>();
    for metric in ["dropped_frames", "completed_transfers", "incomplete_transfers", "aggregate_throughput"] {
        assert!(
            (sum(metric) - r.metrics[metric]).abs() < 1e-9,
            "{metric}: {} {}",
            sum(metric),
            r.metrics[metric]
        );
    }
    assert!(r.metrics["dropped_frames"] > 50.0, "{:?}", r.metrics);
    assert_eq!(of(&r, "incast", "dropped_frames"), Some(r.metrics["dropped_frames"]));
    assert_eq!(of(&r, "victim", "dropped_frames"), Some(0.0));
    assert_eq!(of(&r, "victim", "completed_transfers"), Some(2.0));
    assert_eq!(of(&r, "noise", "completion_time"), None, "it has no flows that end");
    assert!(of(&r, "noise", "aggregate_throughput").unwrap() > 3.0);
    let incast = &r.traffic[0];
    assert!(incast.metrics.at_least("completion_time_p99") && incast.metrics["finished_flows"] < 100.0);
    // Each pair of the incast has one flow, so its lost frames are known; the rest of the bytes have arrived.
    let lost: u64 = r.flows.unfinished.iter().map(|f| f.lost.unwrap()).sum();
    assert_eq!(lost as f64, r.metrics["dropped_frames"]);
    let fits = |missing: u64, lost: u64| missing.div_ceil(1500) == lost;
    assert!(r.flows.unfinished.iter().all(|f| fits(f.missing, f.lost.unwrap())), "{:?}", r.flows.unfinished);
    assert!(
        r.flows.unfinished[0].waits_for.contains("frames that switches dropped"),
        "{:?}",
        r.flows.unfinished[0]
    );
}

#[test]
fn both_engines_lose_the_same_frames() {
    let job = job(LOSSY);
    let spec = job.ready.settings.spec(&job.ready.built, 1, false);
    let lost =
        |engine| cnsim_fabric::run(&spec, &Options { engine, ..Options::default() }).unwrap().recorded.lost;
    let fast = lost(Options::default().engine);
    assert_eq!(fast, lost(Engine::Model));
    assert!(fast.iter().sum::<u64>() > 50);
}

#[test]
fn a_name_is_no_part_of_other_runs() {
    let named = job(LOSSY);
    let plain: String = LOSSY
        .lines()
        .filter(|l| !l.starts_with("name = ") || *l == "name = \"t\"")
        .map(|l| format!("{l}\n"))
        .collect();
    let bare = job(&plain);
    assert_eq!(named.ready.config.0["traffic.0.name"], "incast");
    assert!(bare.ready.config.0.as_object().unwrap().keys().all(|k| !k.ends_with("name") || k == "name"));
    let (a, b) = (run(LOSSY), run(&plain));
    assert_eq!((&a.fingerprint, &a.metrics), (&b.fingerprint, &b.metrics), "a name changes nothing else");
    assert!(b.traffic.is_empty() && traffic_csv(&[b]).is_none());
    let unnamed = LOSSY.replace("name = \"victim\"\n", "");
    let two = run(&unnamed);
    assert_eq!(two.traffic.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["incast", "noise"]);
    assert_eq!(two.traffic[0], a.traffic[0]);
}

/// Where two names send without end between the same hosts, and frames of theirs are lost, nobody can tell whose.
#[test]
fn what_cannot_be_told_apart_is_left_out() {
    let twice = LOSSY.replace(
        "[run]",
        "[[traffic]]\nname = \"more\"\nhosts = [\"H6\"]\ndestinations = [\"H5\"]\nload = \"10 %\"\n[run]",
    );
    let r = run(&twice);
    assert_eq!(
        (of(&r, "noise", "aggregate_throughput"), of(&r, "more", "aggregate_throughput")),
        (None, None)
    );
    assert!(of(&r, "incast", "aggregate_throughput").is_some());
    // Nothing of theirs was dropped.
    assert_eq!(of(&r, "more", "dropped_frames"), Some(0.0));
}

/// Two tables list the same flow: nothing tells the two apart, so one has the one name and one the other.
#[test]
fn flows_that_are_alike_have_a_name_each() {
    let list = |name: &str, size: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nhosts = [\"H1\"]\nkind = \"transfers\"\ntransfers = [\"0 us, H1, H5, {size}\"]\n"
        )
    };
    for (size, finished) in [("50 KB", 1.0), ("9 MB", 0.0)] {
        let two = list("a", size) + &list("b", size);
        let r = run(&format!("name = \"t\"\ntopology.hosts = 8\nrun.duration = \"1 ms\"\n{two}"));
        let open = 1.0 - finished;
        for name in ["a", "b"] {
            let counts = ["completed_transfers", "incomplete_transfers"].map(|m| of(&r, name, m));
            assert_eq!(counts, [Some(finished), Some(open)], "{name}: {size}");
        }
        let mut names: Vec<u64> = r.flows.times.iter().map(|f| f.name).collect();
        names.extend(r.flows.unfinished.iter().map(|f| f.name));
        assert_eq!(names, [1, 2], "{size}");
        let bits = |name| of(&r, name, "aggregate_throughput").unwrap();
        assert!((bits("a") + bits("b") - r.metrics["aggregate_throughput"]).abs() < 1e-9);
    }
}

#[test]
fn files_have_the_names() {
    let r = run(LOSSY);
    let text = traffic_csv(std::slice::from_ref(&r)).unwrap();
    assert!(text.starts_with("condition,pause,scheme,seed,traffic,metric,unit,value,at_least\n"));
    assert!(
        text.lines().any(|l| l.contains(",incast,completion_time_p99,us,") && l.ends_with(",yes")),
        "{text}"
    );
    let flows = fct_csv(std::slice::from_ref(&r)).unwrap();
    assert_eq!(flows.lines().filter(|l| l.contains(",victim,")).count(), 2, "{flows}");
    // What is written reads back as it was.
    let path = std::env::temp_dir().join(format!("cnsim-names-{}.csv", std::process::id()));
    std::fs::write(&path, &flows).unwrap();
    let mut back = [r.brief(Vec::new())];
    read_flows(Path::new(&path), &mut back).unwrap();
    assert_eq!(back[0].traffic, r.traffic);
    let name = |r: &RunRecord, n: u64| r.traffic[n as usize - 1].name.clone();
    let names = |r: &RunRecord| -> Vec<(u64, String)> {
        let mut all: Vec<(u64, String)> = r.flows.times.iter().map(|f| (f.time, name(r, f.name))).collect();
        all.extend(r.flows.unfinished.iter().map(|f| (f.missing, name(r, f.name))));
        all
    };
    assert_eq!(names(&back[0]), names(&r));
    assert_eq!(
        back[0].flows.unfinished.iter().map(|f| f.lost).collect::<Vec<_>>(),
        r.flows.unfinished.iter().map(|f| f.lost).collect::<Vec<_>>()
    );
    // A field that is damaged is named with its line.
    let (at, line) = flows.lines().enumerate().find(|l| l.1.contains("switches dropped")).unwrap();
    let fields: Vec<&str> = line.split(',').collect();
    let damaged = line.replacen(&format!(",{},", fields[13]), ",1x,", 1);
    std::fs::write(&path, flows.replacen(line, &damaged, 1)).unwrap();
    let said = read_flows(Path::new(&path), &mut back).unwrap_err();
    let _ = std::fs::remove_file(&path);
    assert!(said.contains(&format!(":{}: no times of a flow", at + 1)), "{said}");
}

/// H1 sends to H0 at a fifth of 10 Gb/s. Of two names that H2 sends to H3, whose port serves nothing, nothing arrives: that is 0 of each,
/// though it is not known which of them a byte would be of.
#[test]
fn names_that_receive_nothing_have_nothing() {
    let table = |name: &str, from: &str, to: &str, load: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nhosts = [\"{from}\"]\ndestinations = [\"{to}\"]\nload = \"{load} %\"\n"
        )
    };
    let tables =
        [table("a", "H1", "H0", 20), table("b", "H2", "H3", 10), table("c", "H2", "H3", 10)].concat();
    let r = run(&format!(
        "name = \"t\"\n[topology]\nhosts = 4\nlink_rate = \"10 Gb/s\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"5 ms\"\n\
         [[event]]\nat = \"0 us\"\nport = \"S>H3\"\nrate = \"0 Gb/s\"\n{tables}"
    ));
    let all = r.metrics["aggregate_throughput"];
    assert!((all - 2.0).abs() < 0.3, "{all}");
    assert_eq!(
        ["a", "b", "c"].map(|name| of(&r, name, "aggregate_throughput")),
        [Some(all), Some(0.0), Some(0.0)]
    );
}

/// A class has a row of its own, whatever traffic is called like it. What its flows wait for is told by its own transport.
#[test]
fn a_class_is_no_traffic_of_its_name() {
    let r = run(r#"
name = "t"
[topology]
hosts = 3
[pause]
mode = "off"
[switch]
share = "5 KB"
[host]
queues = "per-flow"
[[class]]
name = "a"
weight = 1
[[class]]
name = "b"
weight = 1
transport = "go-back-n"
scheme = "dcqcn"
[[traffic]]
name = "a"
class = "b"
hosts = ["H1", "H2"]
kind = "incast"
destinations = ["H0"]
size = "1 MB"
[[traffic]]
name = "b"
class = "a"
hosts = ["H1", "H2"]
kind = "incast"
destinations = ["H0"]
size = "200 KB"
[run]
duration = "1 ms"
"#);
    let names: Vec<&str> = r.traffic.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "class a", "class b"]);
    // Traffic a is in class b.
    let schemes: Vec<&str> = r.traffic.iter().map(|t| t.scheme.as_str()).collect();
    assert_eq!(schemes, ["dcqcn", "", "", "dcqcn"]);
    let share = |at: usize| r.traffic[at].metrics.get("resent_share");
    assert!(share(0).is_none() && share(2) == Some(0.0) && share(3) > Some(0.0), "{:?}", r.traffic);
    let waits = |bytes: u64| {
        r.flows.unfinished.iter().filter(|f| f.bytes == bytes).map(|f| &f.waits_for).collect::<Vec<_>>()
    };
    let (again, lost) = (waits(1_000_000), waits(200_000));
    assert!(again.iter().any(|w| w.ends_with("they are sent again")), "{again:?}");
    assert!(lost.iter().all(|w| w.ends_with("none is sent again")) && !lost.is_empty(), "{lost:?}");
}

/// Ports and their XOFF say their class where a run has several, and what a port did is the sum of its classes.
#[test]
fn ports_say_their_class() {
    let text = r#"
name = "t"
[topology]
hosts = 4
[pause]
frames = "pfc"
[host]
queues = "per-flow"
[[class]]
name = "a"
weight = 1
[[class]]
name = "b"
weight = 1
[[traffic]]
class = "a"
hosts = ["H1", "H2", "H3"]
kind = "incast"
destinations = ["H0"]
size = "1 MB"
[[traffic]]
class = "b"
hosts = ["H1"]
kind = "transfers"
transfers = ["0 us, H1, H0, 50 KB"]
[record]
host = "H0"
[run]
duration = "4 ms"
"#;
    let r = run(text);
    let port = |name: &str| r.ports.get(name).unwrap_or_else(|| panic!("{name} of {:?}", r.ports.keys()));
    let (all, a, b) = (port("S>H0"), port("S>H0, class a"), port("S>H0, class b"));
    assert!(b.throughput > 0.0 && a.throughput > 10.0 * b.throughput, "{a:?} {b:?}");
    assert!((all.throughput - a.throughput - b.throughput).abs() < 1e-6, "{all:?} {a:?} {b:?}");
    assert!(port("H1, class a").paused > 0.0 && (port("H1").paused - port("H1, class a").paused).abs() < 5.0);
    let rows: Vec<(&str, String)> = r.xoff.iter().map(|x| (x.port.as_str(), x.heading())).collect();
    assert!(rows.contains(&("H1", "hosts, class a".into())), "{rows:?}");
    assert!(
        rows.windows(2).all(|w| w[0] != w[1]) && rows.iter().all(|row| row.1.contains(", class ")),
        "{rows:?}"
    );
    let sum = |class: &str| {
        let mine = r.xoff.iter().filter(|x| x.port == "H2" && x.class == class);
        mine.flat_map(|x| &x.percent).map(|p| u64::from(*p)).sum::<u64>() as f64 / 60.0
    };
    let stood = port("H2, class a").paused;
    assert!((stood..stood + 1.0).contains(&sum("class a")), "{stood} {}", sum("class a"));
    // Where XOFFs are not kept by class, that is said.
    let r = run(&text.replace("host = \"H0\"", "host = \"H0\"\npauses = \"off\""));
    assert!(!r.xoff.is_empty() && r.xoff.iter().all(|x| x.class == "all classes"), "{:?}", r.xoff);
}
