//! Scenes that are made up, and the tables and figures that come of them.

use super::bars::bars;
use super::figure::figures;
use super::ports::ports;
use super::scene::{CaseRuns, Scene, ordinal};
use super::table::{Layout, tables};
use super::topology::{caption, topology};
use crate::model::{Figure, Hot, Kind, Verdict as Shown};
use cnsim_measure::PortFacts;
use cnsim_measure::fct::SizeGroup;
use cnsim_measure::stats::Summary;
use cnsim_papers::cells::Cell;
use cnsim_papers::published::Published;
use cnsim_papers::verdict::Verdict;
use cnsim_runs::record::{Curve, OverTime, RunRecord};
use cnsim_scenario::Scenario;
use cnsim_scenario::case::Dimension;
use cnsim_scenario::metrics::find;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Four hosts; H1's port is slow from 1 to 4 ms.
fn scenario(rates: &str, pauses: &str, more: &str) -> Scenario {
    let text = format!(
        "study = \"mine\"\nname = \"small\"\ncondition = \"hotspot {{hotspot.rate}}\"\n[topology]\nhosts = 4\n[hotspot]\nhost = \"H1\"\n\
         start = \"1 ms\"\nstop = \"4 ms\"\n[run]\nduration = \"6 ms\"\n[matrix]\n\"hotspot.rate\" = [{rates}]\npause = [{pauses}]\n\
         schemes = [\"none\", \"ecm\", \"qcn-2pt\"]\n{more}"
    );
    Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}"))
}

fn run(condition: &str, pause: &str, scheme: &str, seed: u64) -> RunRecord {
    let k = seed as f64;
    let curve = |unit: &str, peaks: Vec<f64>| Curve {
        unit: unit.into(),
        bin: 0.001,
        values: vec![10.0 * k, 20.0 * k],
        peaks,
    };
    let series = BTreeMap::from([
        ("hot_queue".into(), curve("KB", vec![15.0 * k, 30.0 * k])),
        ("aggregate_throughput".into(), curve("Gb/s", Vec::new())),
        ("flow H0>H1".into(), curve("Mb/s", Vec::new())),
        ("flow H2>H1".into(), curve("Mb/s", Vec::new())),
    ]);
    RunRecord {
        case: ["mine", "small", condition, pause, scheme].into(),
        seed,
        config: json!({}).into(),
        metrics: [("overhead", k), ("latency_p50", 10.0 * k), ("latency_p99", 400.0 * k)].into(),
        over_time: OverTime { series, ..OverTime::default() },
        ..RunRecord::default()
    }
}

fn drawn(s: &Scenario, records: &[RunRecord]) -> Vec<Figure> {
    let scene = Scene::of(s, records);
    figures(&scene, Layout::of(&scene))
}

fn names(f: &Figure) -> Vec<&str> {
    f.traces.iter().map(|t| t.name.as_str()).collect()
}

#[test]
fn figures_below_a_table_and_asked_for() {
    let s = scenario(
        "\"1 Gb/s\"",
        "\"off\"",
        "[record]\nflows = [\"H0>H1\", \"H2>H1\"]\n[[figure]]\nseries = [\"flow H0>H1\", \"flow H2>H1\"]\n[[figure]]\nmetric = \"overhead\"\nacross = \"scheme\"\n",
    );
    let mut records: Vec<RunRecord> = Vec::new();
    for scheme in ["none", "ecm"] {
        records.extend([2, 1].map(|seed| run("hotspot 1 Gb/s", "off", scheme, seed)));
    }
    let group = |size: u64, p50: f64| SizeGroup {
        sizes: (size / 2, size),
        flows: 5,
        finished: 5,
        at_least: [false; 4],
        slowdown: [p50, 40.0 * p50, 3.0 * p50, 4.0 * p50],
        mean: p50,
    };
    for r in &mut records {
        r.flows.by_size = vec![group(1000, 1.0), group(9000, 10.0)];
        if r.case.scheme == "ecm" {
            r.config =
                json!({"scheme": {"params": {"q_eq": "24 KB"}}, "switch.output_limit": "20 KB"}).into();
        }
    }
    records.pop();
    let all = drawn(&s, &records);
    let id = "hotspot 1 Gb/s, PAUSE off";
    let found: Vec<(&str, &str)> = all.iter().map(|f| (f.title.as_str(), f.group.as_str())).collect();
    assert_eq!(
        found,
        [
            ("Hot queue length", id),
            ("Aggregate throughput", id),
            ("Latency of frames", id),
            ("Slowdown by flow size, median", id),
            ("Slowdown by flow size, 95 %", id),
            ("Slowdown by flow size, 99 %", id),
            ("Delivered rate H0>H1", id),
            ("Overhead", id),
        ]
    );
    let queue = &all[0];
    assert_eq!(
        queue.caption,
        "Seed 1; band: from the least sample to the longest queue of each bin, of up to 2 seeds."
    );
    assert_eq!((queue.y.title.as_str(), queue.y.unit.as_str(), queue.x.unit.as_str()), ("queue", "KB", "ms"));
    let line = &queue.traces[0];
    assert_eq!(
        (names(queue), &line.x[..], &line.y[..]),
        (vec!["none", "ecm"], &[1.0, 2.0][..], &[10.0, 20.0][..])
    );
    let band = line.band.as_ref().unwrap();
    assert_eq!((&band.low[..], &band.high[..]), (&[10.0, 20.0][..], &[30.0, 60.0][..]));
    let levels: Vec<(f64, &str)> = queue.levels.iter().map(|l| (l.value, l.label.as_str())).collect();
    assert_eq!(levels, [(20.0, "limit 20 KB"), (24.0, "set point 24 KB")]);
    let windows: Vec<(f64, f64, &str)> =
        queue.windows.iter().map(|w| (w.from, w.to, w.label.as_str())).collect();
    assert_eq!(windows, [(1.0, 4.0, "hotspot")]);
    assert_eq!(
        (queue.scheme.as_str(), queue.condition.as_str(), queue.pause.as_str()),
        ("", "hotspot 1 Gb/s", "off")
    );
    assert_eq!(all[1].caption, "Seed 1; band: least and greatest of up to 2 seeds.");
    assert!(all[1].levels.is_empty());
    // 15 and 600 us: more than thirty times as much is drawn on a scale of logarithms.
    let latency = &all[2];
    assert_eq!(
        (&latency.traces[0].y[..], latency.y.log, latency.y.unit.as_str()),
        (&[15.0, 600.0][..], true, "us")
    );
    assert_eq!(
        (latency.caption.as_str(), latency.categories.len()),
        ("Mean of 2 seeds and its 95 % interval.", 2)
    );
    assert!(!all[3].y.log && !all[4].y.log, "1 to 10, and 40 to 400");
    assert!(all[3].caption.ends_with("Mean of 2 seeds; band: least and greatest."), "{}", all[3].caption);
    // Flows of two schemes: four lines, of looks of their own.
    let flows = &all[6];
    assert_eq!(names(flows), ["none, H0>H1", "none, H2>H1", "ecm, H0>H1", "ecm, H2>H1"]);
    assert_eq!((flows.y.title.as_str(), flows.y.unit.as_str()), ("rate", "Mb/s"));
    let slots: Vec<Option<u8>> = flows.traces.iter().map(|t| t.slot).collect();
    // Below one table stand five names: these and the bars' one.
    assert_eq!(slots, [Some(0), Some(1), Some(3), Some(5)]);
    assert_eq!(
        (all[7].traces[0].slot, all[7].categories.as_slice()),
        (Some(7), &["none".to_string(), "ecm".into()][..])
    );
    // One seed, and one line more.
    let one = drawn(&s, &records[3..]);
    assert!(one.is_empty(), "no record is left");
    let one = drawn(&s, &records[1..2]);
    assert_eq!(
        one[0].caption,
        "Seed 1: the line is the length at the end of each bin; the band extends to the longest queue in the bin."
    );
    assert_eq!((one[1].caption.as_str(), one[2].caption.as_str()), ("Seed 1.", "One seed."));
    assert_eq!(names(&one[6]), ["H0>H1", "H2>H1"]);
    assert_eq!(one[0].scheme, "none");
}

#[test]
fn latencies_close_together_are_drawn_evenly() {
    let s = scenario("\"1 Gb/s\"", "\"off\"", "");
    let mut r = run("hotspot 1 Gb/s", "off", "none", 1);
    let mut log = |p99: f64| {
        r.metrics.insert("latency_p99", p99);
        drawn(&s, std::slice::from_ref(&r))[2].y.log
    };
    assert_eq!((log(300.0), log(300.1)), (false, true), "thirty times the median, and more");
}

/// Set points that lie close together share a label; of more than three levels none is drawn.
#[test]
fn levels_share_labels() {
    let s = scenario("\"1 Gb/s\"", "\"off\"", "");
    let of = |points: &[&str]| {
        let record = |(q_eq, scheme): (&&str, &str)| RunRecord {
            config: json!({"scheme": {"params": {"q_eq": q_eq}}}).into(),
            ..run("hotspot 1 Gb/s", "off", scheme, 1)
        };
        let records: Vec<RunRecord> =
            points.iter().zip(["none", "ecm", "qcn-2pt", "bcn"]).map(record).collect();
        let all = drawn(&s, &records);
        all[0].levels.iter().map(|l| (l.value, l.label.clone())).collect::<Vec<_>>()
    };
    assert_eq!(
        of(&["26 KB", "24 KB", "26 KB"]),
        [(24.0, String::new()), (26.0, "set points 24 KB, 26 KB".into())]
    );
    assert_eq!(of(&["30 KB", "24 KB"])[0].1, "set point 24 KB", "a fifth apart");
    assert_eq!(of(&["29.9 KB", "24 KB"])[0].1, "");
    assert_eq!(
        (of(&["10 KB", "20 KB", "30 KB"]).len(), of(&["10 KB", "20 KB", "30 KB", "40 KB"]).len()),
        (3, 0)
    );
}

/// Two conditions in one table: a figure for each scheme, a line for each condition.
#[test]
fn many_conditions_are_lines() {
    let s = scenario(
        "\"1 Gb/s\", \"0.5 Gb/s\"",
        "\"off\"",
        "[[figure]]\nseries = [\"aggregate_throughput\"]\nschemes = [\"ecm\"]\ntitle = \"Asked\"\ncaption = \"Why.\"\n",
    );
    let mut records = Vec::new();
    for scheme in ["none", "ecm"] {
        for condition in ["hotspot 1 Gb/s", "hotspot 0.5 Gb/s"] {
            records.push(run(condition, "off", scheme, 1));
        }
    }
    let all = drawn(&s, &records);
    let found: Vec<(&str, &str)> = all.iter().map(|f| (f.title.as_str(), f.group.as_str())).collect();
    assert_eq!(
        found,
        [
            ("Hot queue length: none", "PAUSE off"),
            ("Aggregate throughput: none", "PAUSE off"),
            ("Hot queue length: ecm", "PAUSE off"),
            // A figure that the scenario asks for is not drawn twice.
            ("Asked", ""),
        ]
    );
    for f in &all {
        assert_eq!(names(f), ["hotspot 1 Gb/s", "hotspot 0.5 Gb/s"]);
        assert_eq!(f.traces.iter().map(|t| t.slot).collect::<Vec<_>>(), [Some(0), Some(7)]);
    }
    assert!(all[0].windows.len() == 1 && all[3].caption == "Why. Seed 1.");
    // Two conditions more of other schemes: too few a table for one of their own.
    let scene = Scene::of(&s, &records);
    assert_eq!(Layout::of(&scene), Layout::Together);
    let more: Vec<RunRecord> = ["none", "ecm", "qcn-2pt", "bcn"]
        .iter()
        .flat_map(|m| [run("a", "off", m, 1), run("b", "off", m, 1)])
        .collect();
    let of = |records: &[RunRecord]| Layout::of(&Scene::of(&s, records));
    assert_eq!(
        (of(&more[..6]), of(&more[..7]), of(&more[..1])),
        (Layout::Together, Layout::Apart, Layout::Apart)
    );
}

/// More than ten lines are split by what has the fewest values.
#[test]
fn too_many_lines_are_split() {
    let rates = "\"1 Gb/s\", \"2 Gb/s\", \"3 Gb/s\", \"4 Gb/s\", \"5 Gb/s\", \"6 Gb/s\"";
    let asked = "[[figure]]\nseries = [\"aggregate_throughput\"]\ntitle = \"Asked\"\n[[figure]]\nseries = [\"hot_queue\"]\n";
    let s = scenario(rates, "\"off\", \"on\"", asked);
    let of = |conditions: usize, pauses: &[&str], schemes: &[&str]| {
        let mut records = Vec::new();
        for c in 1..=conditions {
            for p in pauses {
                records.extend(schemes.iter().map(|m| run(&format!("hotspot {c} Gb/s"), p, m, 1)));
            }
        }
        let all = drawn(&s, &records);
        let mine = |f: &&Figure| f.group == "Asked" || f.title == "Asked";
        all.iter()
            .filter(mine)
            .map(|f| (f.title.clone(), names(f).iter().map(|n| (*n).to_string()).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let titles = |all: &[(String, Vec<String>)]| all.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    let by_pause = of(6, &["off", "on"], &["none"]);
    assert_eq!(titles(&by_pause), ["PAUSE off", "PAUSE on"]);
    assert_eq!(by_pause[0].1[..2], ["hotspot 1 Gb/s", "hotspot 2 Gb/s"]);
    let by_scheme = of(4, &["off"], &["none", "ecm", "qcn-2pt"]);
    assert_eq!(titles(&by_scheme), ["none", "ecm", "qcn-2pt"]);
    let by_condition = of(2, &["off", "on"], &["none", "ecm", "qcn-2pt"]);
    assert_eq!(titles(&by_condition), ["hotspot 1 Gb/s", "hotspot 2 Gb/s"]);
    assert_eq!(by_condition[0].1[..2], ["none, PAUSE off", "ecm, PAUSE off"]);
    assert_eq!(titles(&of(5, &["off", "on"], &["none"])), ["Asked"], "ten lines are one figure");
    let two = of(1, &["off", "on"], &["none"]);
    assert_eq!(
        (two[0].0.as_str(), &two[0].1[..]),
        ("Asked", &["PAUSE off".to_string(), "PAUSE on".into()][..])
    );
    assert_eq!(of(1, &["off"], &["none", "ecm"])[0].1, ["none", "ecm"]);
}

#[test]
fn bars_by_hand() {
    let runs: Vec<RunRecord> = [1, 2, 3, 5].map(|seed| run("", "", "", seed)).into();
    let case = |condition: &'static str, pause: &'static str, scheme: &'static str, n: usize| CaseRuns {
        case: ["", "", condition, pause, scheme].into(),
        runs: runs[..n].iter().collect(),
    };
    let of = |cases: &[CaseRuns<'_>], across| {
        bars(&cases.iter().collect::<Vec<_>>(), "overhead", across, "T".into(), "Why.".into()).unwrap()
    };
    let looks =
        |f: &Figure| f.traces.iter().map(|t| (t.name.clone(), t.slot, t.x.clone())).collect::<Vec<_>>();
    let f = of(
        &[
            case("hotspot 1 Gb/s", "off", "none", 3),
            case("hotspot 2 Gb/s", "off", "none", 1),
            case("hotspot 2 Gb/s", "off", "ecm", 2),
        ],
        Dimension::Condition,
    );
    assert_eq!(
        (f.x.title.as_str(), &f.categories[..]),
        ("hotspot", &["1 Gb/s".to_string(), "2 Gb/s".into()][..])
    );
    assert_eq!(looks(&f), [("none".into(), None, vec![0.0, 1.0]), ("ecm".into(), None, vec![1.0])]);
    assert_eq!(
        (f.title.as_str(), f.caption.as_str(), f.kind),
        ("T", "Why. Mean of 3 seeds and its 95 % interval.", Kind::Bars)
    );
    assert_eq!((f.y.title.as_str(), f.y.unit.as_str(), f.y.log), ("overhead", "Mb/s", false));
    // 1, 2, 3: 2 and 4.3027 / sqrt 3; one run is a point.
    let band = f.traces[0].band.as_ref().unwrap();
    assert_eq!(&f.traces[0].y[..], &[2.0, 1.0]);
    // Nothing is below zero.
    assert!(
        band.low[0] == 0.0
            && (band.high[0] - 4.4841).abs() < 1e-3
            && (band.low[1], band.high[1]) == (1.0, 1.0)
    );
    let f = of(&[case("c", "off", "none", 1), case("c", "on", "none", 1)], Dimension::Scheme);
    assert_eq!(
        looks(&f),
        [("PAUSE off".into(), Some(0), vec![0.0]), ("PAUSE on".into(), Some(1), vec![0.0])]
    );
    assert_eq!(
        (f.x.title.as_str(), f.caption.as_str(), &f.categories[..]),
        ("scheme", "Why. One seed.", &["none".to_string()][..])
    );
    let f = of(
        &[
            case("rate 10%, RTT 10 us", "off", "none", 1),
            case("rate 10%, RTT 20 us", "off", "ecm", 1),
            case("rate 10%, RTT 20 us", "on", "ecm", 1),
        ],
        Dimension::Pause,
    );
    let found: Vec<String> = f.traces.iter().map(|t| t.name.clone()).collect();
    assert_eq!(
        (found, f.x.title.as_str()),
        (vec!["none, RTT 10 us".to_string(), "ecm, RTT 20 us".into()], "PAUSE")
    );
    assert_eq!(f.categories, ["off", "on"]);
    let f = of(&[case("c", "off", "none", 1)], Dimension::Scheme);
    assert_eq!(looks(&f)[0].0, "overhead");
    assert!(bars(&[], "overhead", Dimension::Scheme, String::new(), String::new()).is_none());
    assert_eq!([0, 31, 32].map(ordinal), [0, 31, 0]);
}

/// A cell of one seed with value 2, published as this.
fn cell(condition: &str, scheme: &str, metric: &str, unit: &str, published: Option<&str>) -> Cell {
    let metric = find(metric).unwrap();
    let row = |text: &str| Published {
        case: ["mine", "small", condition, "off", scheme].into(),
        metric: metric.id.into(),
        value: text.parse().unwrap(),
        text: text.into(),
        unit: unit.into(),
        note: String::new(),
    };
    Cell {
        case: ["mine", "small", condition, "off", scheme].into(),
        metric,
        unit: unit.into(),
        published: published.map(row),
        values: vec![2.0],
        summary: Summary::of(&[2.0]).unwrap(),
        verdict: if published.is_some() { Verdict::Agrees } else { Verdict::Unpublished },
        structural: false,
        at_least: 0,
        note: String::new(),
    }
}

#[test]
fn tables_by_hand() {
    let s = scenario("\"1 Gb/s\", \"0.5 Gb/s\"", "\"off\"", "");
    let (one, half) = ("hotspot 1 Gb/s", "hotspot 0.5 Gb/s");
    let records: Vec<RunRecord> =
        [one, half].iter().flat_map(|c| ["none", "ecm", "qcn-2pt"].map(|m| run(c, "off", m, 1))).collect();
    let scene = Scene::of(&s, &records);
    let cells = [
        cell(half, "ecm", "overhead", "Mb/s", None),
        cell(half, "none", "overhead", "Gb/s", Some("0.002")),
        cell(one, "ecm", "overhead", "Mb/s", Some("2.0")),
        cell(one, "none", "control_messages", "", None),
        cell(one, "none", "throughput", "Gb/s", Some("2.0")),
        cell(one, "none", "hot_port_throughput", "Gb/s", None),
        cell(one, "none", "fairness", "", None),
        cell(one, "none", "queue_max", "KB", None),
        cell(one, "none", "aggregate_throughput", "Gb/s", None),
        Cell { structural: true, ..cell(one, "none", "dropped_frames", "frames", None) },
    ];
    let shown: Vec<&Cell> = cells.iter().collect();
    let claimed = BTreeSet::from(["control_messages"]);
    let apart = tables(&scene, &shown, &claimed, Layout::Apart);
    let heads = |t: &crate::model::Table| {
        let shown = t.columns.iter().filter(|c| !c.more);
        shown.map(|c| format!("{} {}", c.metric, c.unit)).collect::<Vec<_>>()
    };
    let more = |t: &crate::model::Table| {
        t.columns.iter().filter(|c| c.more).map(|c| c.metric.clone()).collect::<Vec<_>>()
    };
    // Published, claimed, or of the printed tables; without a hotspot's rate twice, without what is zero throughout.
    assert_eq!(
        heads(&apart[0]),
        ["aggregate_throughput Gb/s", "overhead Mb/s", "control_messages ", "throughput Gb/s"]
    );
    assert_eq!(apart[0].columns[1].about.split(". Near: ").nth(1), Some("within 5 %"));
    let at: Vec<(&str, &str, Vec<&str>)> = apart
        .iter()
        .map(|t| (t.id.as_str(), t.condition.as_str(), t.rows.iter().map(|r| r.scheme.as_str()).collect()))
        .collect();
    assert_eq!(
        at,
        [
            ("hotspot 1 Gb/s, PAUSE off", one, vec!["none", "ecm"]),
            ("hotspot 0.5 Gb/s, PAUSE off", half, vec!["none", "ecm"])
        ],
        "in the order of the runs"
    );
    assert!(apart.iter().flat_map(|t| &t.rows).all(|r| r.condition.is_empty()));
    let value = |t: usize, r: usize, c: usize| apart[t].rows[r].cells[c].as_ref().and_then(|c| c.measured);
    assert_eq!(
        ([0, 1, 2, 3].map(|c| value(0, 0, c)), value(0, 1, 1)),
        ([Some(2.0), None, Some(2.0), Some(2.0)], Some(2.0))
    );
    // Of the second table: overhead in the unit of each published number. What was not published stands in the first of them, too.
    assert_eq!(heads(&apart[1]), ["overhead Gb/s", "overhead Mb/s"]);
    assert_eq!(more(&apart[0]), ["hot_port_throughput", "queue_max", "fairness"]);
    let second: Vec<Option<f64>> =
        apart[1].rows.iter().flat_map(|r| &r.cells).map(|c| c.as_ref().and_then(|c| c.measured)).collect();
    assert_eq!(second, [Some(2.0), None, Some(0.002), Some(2.0)]);
    let together = tables(&scene, &shown, &claimed, Layout::Together);
    assert_eq!(
        (together.len(), together[0].id.as_str(), together[0].condition.as_str()),
        (1, "PAUSE off", "")
    );
    let rows: Vec<(&str, &str)> =
        together[0].rows.iter().map(|r| (r.condition.as_str(), r.scheme.as_str())).collect();
    assert_eq!(rows, [(one, "none"), (one, "ecm"), (half, "none"), (half, "ecm")]);
    // Nothing published: what one asks of an experiment of one's own.
    let own = [
        cell(one, "none", "hot_port_throughput", "Gb/s", None),
        cell(one, "none", "pauses", "", None),
        cell(one, "none", "queue_max", "KB", None),
    ];
    let own = tables(&scene, &own.iter().collect::<Vec<_>>(), &BTreeSet::new(), Layout::Apart);
    assert_eq!(heads(&own[0]), ["hot_port_throughput Gb/s", "queue_max KB"]);
    assert_eq!(more(&own[0]), ["pauses"]);
    assert_eq!(own[0].rows[0].cells[0].as_ref().unwrap().verdict, Shown::Unpublished);
}

#[test]
fn a_port_at_which_nothing_waits_is_not_hot() {
    let s = scenario("\"1 Gb/s\"", "\"off\"", "");
    let one = "hotspot 1 Gb/s";
    let heads = |longest: f64| {
        let mut r = run(one, "off", "none", 1);
        let queue = Curve { unit: "KB".into(), bin: 1e-3, values: vec![0.0, 1.0], peaks: vec![2.0, longest] };
        r.over_time.series.insert("hot_queue".into(), queue);
        let records = [r];
        let scene = Scene::of(&s, &records);
        let cells = ["hot_port_throughput", "completion_time_p99", "time_paused_links", "completion_time"]
            .map(|m| cell(one, "none", m, "us", None));
        let all = tables(&scene, &cells.iter().collect::<Vec<_>>(), &BTreeSet::new(), Layout::Apart);
        let shown = all[0].columns.iter().filter(|c| !c.more);
        let drawn = figures(&scene, Layout::Apart).iter().any(|f| f.title == "Hot queue length");
        (shown.map(|c| c.metric.clone()).collect::<Vec<_>>(), drawn)
    };
    let calm = ["completion_time_p99", "time_paused_links", "completion_time"].map(String::from);
    assert_eq!(heads(3.0), (calm.to_vec(), false));
    let hot = ["completion_time_p99", "hot_port_throughput", "time_paused_links", "completion_time"];
    assert_eq!(heads(3.1), (hot.map(String::from).to_vec(), true), "tails before means");
}

/// A mean of which one value is a lower bound has no interval: not in tables, not in figures.
#[test]
fn a_lower_bound_has_no_interval() {
    let mut records = [1, 2, 5].map(|seed| run("c", "off", "none", seed)).to_vec();
    let ends = |records: &[RunRecord]| {
        let case = CaseRuns { case: ["", "", "c", "off", "none"].into(), runs: records.iter().collect() };
        let f = bars(&[&case], "overhead", Dimension::Scheme, "T".into(), String::new()).unwrap();
        let band = f.traces[0].band.as_ref().unwrap();
        let cell = super::cell(&case.summary(find("overhead").unwrap()).unwrap());
        let known = (cell.at_least, cell.ci95.is_some(), cell.pi95.is_some());
        (f.traces[0].y[0], band.high[0] - band.low[0] > 0.0, known)
    };
    let (mean, drawn, known) = ends(&records);
    assert_eq!((drawn, known), (true, (false, true, true)));
    records[1].metrics.0.get_mut("overhead").unwrap().at_least = true;
    assert_eq!(ends(&records), (mean, false, (true, false, false)));
}

#[test]
fn unpublished_numbers_take_the_first_published_unit() {
    let s = scenario("\"1 Gb/s\"", "\"off\"", "");
    let records = ["none", "ecm"].map(|m| run("hotspot 1 Gb/s", "off", m, 1));
    let scene = Scene::of(&s, &records);
    let cells = [
        cell("hotspot 1 Gb/s", "none", "overhead", "Gb/s", Some("0.002")),
        cell("hotspot 1 Gb/s", "ecm", "overhead", "Mb/s", None),
    ];
    let all = tables(&scene, &cells.iter().collect::<Vec<_>>(), &BTreeSet::new(), Layout::Apart);
    let measured: Vec<Option<f64>> =
        all[0].rows.iter().map(|r| r.cells[0].as_ref().unwrap().measured).collect();
    assert_eq!((all[0].columns.len(), measured), (1, vec![Some(2.0), Some(0.002)]), "2 Mb/s are 0.002 Gb/s");
}

#[test]
fn tables_of_ports() {
    let facts = |paused: f64, queue_max: f64| PortFacts {
        paused,
        queue_max,
        xoffs: 3,
        throughput: 1.0,
        ..PortFacts::default()
    };
    let of = |names: usize| {
        let ports = (0..names).map(|i| (format!("S>H{i}"), facts(i as f64, 1.0)));
        let mut r = RunRecord { ports: ports.collect(), ..run("c", "on", "none", 1) };
        r.ports.insert("H0".into(), facts(200.0, 0.0));
        let runs = [r];
        let case = |condition| CaseRuns {
            case: ["", "", condition, "on", "none"].into(),
            runs: runs.iter().collect(),
        };
        (ports_of(&[case("c")]), ports_of(&[case("c"), case("d")]))
    };
    fn ports_of(cases: &[CaseRuns<'_>]) -> Vec<crate::model::Table> {
        ports(cases)
    }
    assert!(of(0).0.is_empty(), "one port is known from elsewhere");
    let (one, two) = of(1);
    assert_eq!((one[0].rows.len(), one[0].row_heading.as_str()), (2, "port"));
    let order = "In order: those longest in XOFF in any row, then those with the longest queue.";
    assert_eq!(one[0].caption, order);
    assert_eq!((two[0].rows.len(), two[0].row_heading.as_str()), (4, "port, condition"));
    assert_eq!((two[0].rows[0].condition.as_str(), one[0].rows[0].condition.as_str()), ("H0, c", "H0"));
    // Of a host only its time in XOFF is known. A queue that is not recorded has no mean.
    let cells: Vec<Option<f64>> =
        one[0].rows[0].cells.iter().map(|c| c.as_ref().and_then(|c| c.measured)).collect();
    assert_eq!(cells, [Some(200.0), None, None, None]);
    // Neither zeros nor unknown values make a column, though other ports may have it.
    let heads: Vec<&str> = one[0].columns.iter().map(|c| c.metric.as_str()).collect();
    assert_eq!(heads, ["paused", "xoffs", "queue_max", "throughput"]);
    let port: Vec<Option<f64>> =
        one[0].rows[1].cells.iter().map(|c| c.as_ref().and_then(|c| c.measured)).collect();
    assert_eq!(port, [Some(0.0), Some(3.0), Some(1.0), Some(1.0)]);
    assert_eq!((of(9).0[0].rows.len(), of(9).0[0].caption.as_str()), (10, order));
    let many = &of(10).0[0];
    assert_eq!(
        (many.rows.len(), many.caption.as_str()),
        (10, format!("{order} 1 further port is in results.json.").as_str())
    );
    assert_eq!(many.rows[1].condition, "S>H9", "those in XOFF longest come first");
}

#[test]
fn the_network_is_drawn_with_its_hot_port() {
    let s = scenario("\"1 Gb/s\"", "\"off\"", "");
    let ready = s.ready(&s.cases()[0]).unwrap();
    let t = topology(&ready);
    let nodes: Vec<(&str, bool)> = t.nodes.iter().map(|n| (n.name.as_str(), n.switch)).collect();
    assert_eq!(nodes, [("H0", false), ("H1", false), ("H2", false), ("H3", false), ("S", true)]);
    let hot: Vec<bool> = t.links.iter().map(|l| l.hot != Hot::No).collect();
    assert_eq!(hot, [false, true, false, false]);
    let l = &t.links[1];
    // The end at the switch is the hot one.
    assert_eq!(l.hot, if l.a == 4 { Hot::A } else { Hot::B });
    assert!(
        caption(&ready).starts_with("4 hosts, 1 switch, links of 10 Gb/s with a delay of "),
        "{}",
        caption(&ready)
    );
    assert_eq!(t.caption, caption(&ready));
    let rails = "name = \"r\"\n[topology]\nkind = \"rails\"\nservers = 2\ngpus = 4\n[workload]\nkind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 MB\"]\n\
                 [host]\nqueues = \"per-flow\"\n[run]\nduration = \"1 ms\"\n[matrix]\nschemes = [\"none\"]\n";
    let s = Scenario::parse("r.toml", rails, &[]).unwrap();
    let said = caption(&s.ready(&s.cases()[0]).unwrap());
    assert!(said.starts_with("8 hosts with 16 NICs, 8 switches, "), "{said}");
}
