//! A sweep that is made up: its table, its files, and its figures.

use super::*;
use clap::Parser;
use cnsim_measure::quantity::Quantities;
use cnsim_scenario::Case;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: SweepArgs,
}

fn args(words: &[&str]) -> SweepArgs {
    Line::parse_from([&["sweep", "small.toml", "--over", "hotspot.rate=1 Gb/s,2 Gb/s"], words].concat()).args
}

fn axis(key: &str, values: &[&str]) -> Axis {
    Axis { key: key.into(), values: values.iter().map(|v| (*v).into()).collect(), log: false }
}

/// Points over two axes, under these PAUSE modes with these schemes; two seeds each.
fn sweep_of(axes: Vec<Axis>, pauses: &[&str], schemes: &[&str]) -> Sweep {
    let mut points = Vec::new();
    for index in grid::product(&axes) {
        for pause in pauses {
            for scheme in schemes {
                let case =
                    Case { group: 0, row: Vec::new(), id: ["mine", "small", "c", pause, scheme].into() };
                let values = index.iter().zip(&axes).map(|(i, a)| a.values[*i].clone()).collect();
                points.push(Point { values, case, first: 2 * points.len() });
            }
        }
    }
    Sweep { axes, points, jobs: Vec::new(), seeds: 2, notes: Vec::new() }
}

type Runs = Vec<Result<Option<RunRecord>, JobError>>;

/// Of point `i` the seeds measured `i + 1` and `i + 3` Mb/s of messages.
fn runs_of(sweep: &Sweep) -> Runs {
    let one = |i: usize| {
        let overhead = (i / 2 + 1 + 2 * (i % 2)) as f64;
        let metrics = [("overhead", overhead), ("fairness", 1.0)].into();
        Ok(Some(RunRecord { seed: 1 + i as u64 % 2, metrics, ..RunRecord::default() }))
    };
    (0..2 * sweep.points.len()).map(one).collect()
}

fn rows_of<'a>(sweep: &'a Sweep, runs: &'a Runs) -> Vec<Row<'a>> {
    sweep.points.iter().filter_map(|p| row(p, runs, sweep.seeds)).collect()
}

fn metrics_of(ids: &[&str]) -> Vec<What<'static>> {
    ids.iter().map(|id| What::all(metrics::find(id).unwrap())).collect()
}

fn scenario() -> Scenario {
    let text = "study = \"mine\"\nname = \"small\"\ntitle = \"Small\"\n[topology]\nhosts = 4\n";
    Scenario::parse("t.toml", text, &[]).unwrap()
}

fn lines(sweep: &Sweep, rows: &[Row<'_>], ids: &[&str]) -> Vec<String> {
    let text = text(Path::new("out"), sweep, rows, &metrics_of(ids), false);
    let plain = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    plain.filter(|l| !l.is_empty() && !l.starts_with('─')).collect()
}

#[test]
fn the_table_and_what_failed() {
    let sweep = sweep_of(vec![axis("hotspot.rate", &["1 Gb/s", "2 Gb/s"])], &["on", "off"], &["ecm"]);
    let mut runs = runs_of(&sweep);
    let failed = |why: &str| Err(JobError::Failed { run: "r".into(), why: why.into() });
    (runs[3], runs[4], runs[5]) = (failed("a rate of NaN"), failed("one\u{1b}"), failed("two"));
    let mut rows = rows_of(&sweep, &runs);
    rows[3].metrics.iter_mut().filter(|m| m.0.metric.id == "overhead").for_each(|m| m.1.bound = true);
    assert_eq!(
        lines(&sweep, &rows, &["overhead", "fairness", "pauses"]),
        [
            "hotspot.rate PAUSE scheme overhead [Mb/s] fairness XOFF sent",
            "1 Gb/s on ecm 2.00 (0.00 to 14.71) 1.00 ± 0.00 -",
            "1 Gb/s off ecm failed failed failed",
            "2 Gb/s on ecm failed failed failed",
            // A mean of lower bounds has no interval.
            "2 Gb/s off ecm ≥ 5.00 1.00 ± 0.00 -",
            "failed: hotspot.rate=1 Gb/s, PAUSE off, ecm, seed 2: a rate of NaN",
            "failed: hotspot.rate=2 Gb/s, PAUSE on, ecm, seed 1: one\\u{1b}",
            &interval([2]),
            "Figures out/sweep.html",
            "Numbers out/sweep.csv (all metrics), results.json",
            "Next cnsim compare out --baseline \"hotspot.rate=1 Gb/s\"",
        ]
    );
    let counts: Vec<Option<usize>> = rows.iter().map(|r| r.failed.as_ref().map(|f| f.runs)).collect();
    assert_eq!(counts, [None, Some(1), Some(2), None]);
    // One PAUSE mode needs no column; only the header is dim.
    let one = sweep_of(vec![axis("hotspot.rate", &["1 Gb/s", "2 Gb/s"])], &["on"], &["ecm"]);
    let runs_of_one = runs_of(&one);
    let rows_of_one = rows_of(&one, &runs_of_one);
    assert_eq!(lines(&one, &rows_of_one, &["overhead"])[0], "hotspot.rate scheme overhead [Mb/s]");
    let painted = text(Path::new("out"), &one, &rows_of_one, &metrics_of(&["overhead"]), true);
    assert_eq!(painted.lines().filter(|l| l.contains("[2m")).count(), 2);
    // A run that an interruption left out.
    let mut cut = runs_of(&one);
    cut[2] = Ok(None);
    assert_eq!(rows_of(&one, &cut).len(), 1);
    let csv = csv(&sweep, &rows, Some(Partial { finished: 1, of: 2 }));
    let fields: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(fields.len(), 1 + 2 + 1 + 1 + 2);
    assert_eq!(fields[1][..9].join(","), "1 Gb/s,mine,small,c,on,ecm,overhead,Mb/s,2");
    // 2 and 12.7062; a further run would lie within 12.7062 sqrt 3.
    let ends: Vec<f64> = fields[1][9..13].iter().map(|f| f.parse().unwrap()).collect();
    for (is, by_hand) in ends.iter().zip([0.0, 14.7062, 0.0, 2.0 + 12.7062 * 2_f64.sqrt() * 1.5_f64.sqrt()]) {
        assert!((is - by_hand).abs() < 1e-3, "{is}, by hand {by_hand}");
    }
    assert_eq!(fields[1][13], "2");
    assert_eq!(fields[4][1..].join(","), "mine,small,c,on,ecm,failed,,,,,,,2,failed: seed 1: one\u{1b},");
    let note = Partial { finished: 1, of: 2 }.text();
    assert!(csv.lines().nth(1).unwrap().ends_with(&format!("{note},")));
    assert!(csv.lines().nth(5).unwrap().contains(",5,,,,,2,"), "{csv}");
    assert!(csv.lines().nth(5).unwrap().ends_with("; at least: flows were unfinished,"), "{csv}");
    let json = as_json(&scenario(), &sweep, &rows);
    assert_eq!(json["rows"][3]["metrics"]["overhead"]["at_least"], json!(true));
    assert_eq!(json["rows"][0]["metrics"]["overhead"]["at_least"], json!(null));
    assert_eq!(
        (&json["rows"][1]["failed"], &json["rows"][0]["failed"]),
        (&json!("seed 2: a rate of NaN"), &json!(null))
    );
    assert_eq!(json["rows"][0]["values"], json!({"hotspot.rate": "1 Gb/s"}));
}

#[test]
fn figures_over_numbers_or_words() {
    let axes = || vec![axis("a.mode", &["x", "y"]), axis("hotspot.rate", &["2 Gb/s", "1 Gb/s"])];
    let sweep = sweep_of(axes(), &["on", "off"], &["ecm", "bcn"]);
    let runs = runs_of(&sweep);
    let rows = rows_of(&sweep, &runs);
    let f = figure(&sweep, &rows, &What::all(metrics::find("overhead").unwrap()));
    let names: Vec<&str> = f.traces.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names[..3], ["ecm, PAUSE on, mode x", "bcn, PAUSE on, mode x", "ecm, PAUSE off, mode x"]);
    assert_eq!(
        (names.len(), f.x.title.as_str(), f.x.unit.as_str(), f.x.log),
        (8, "hotspot.rate", "Gb/s", false)
    );
    assert_eq!((f.kind, f.categories.len(), f.y.unit.as_str()), (model::Kind::Points, 0, "Mb/s"));
    // Points in order of the axis: the fifth point, 1 Gb/s, before the first.
    let line = &f.traces[0];
    assert_eq!((&line.x[..], &line.y[..]), (&[1.0, 2.0][..], &[6.0, 2.0][..]));
    let band = line.band.as_ref().unwrap();
    assert!((band.high[1] - 14.706).abs() < 1e-3 && band.low[1] == 0.0);
    let words = sweep_of(vec![axis("a.mode", &["x", "y"])], &["on"], &["ecm"]);
    let runs = runs_of(&words);
    let f = figure(&words, &rows_of(&words, &runs), &What::all(metrics::find("overhead").unwrap()));
    assert_eq!((f.kind, &f.categories[..]), (model::Kind::Bars, &["x".to_string(), "y".into()][..]));
    assert_eq!((f.traces[0].name.as_str(), &f.traces[0].x[..]), ("ecm", &[0.0, 1.0][..]));
    let one = Sweep { seeds: 1, ..words };
    assert!(
        figure(&one, &rows_of(&one, &runs), &What::all(metrics::find("overhead").unwrap())).traces[0]
            .band
            .is_none()
    );
    let mut log = sweep_of(axes(), &["on"], &["ecm"]);
    log.axes[1].log = true;
    let runs = runs_of(&log);
    let f = figure(&log, &rows_of(&log, &runs), &What::all(metrics::find("overhead").unwrap()));
    assert!(f.x.log && f.traces[0].name == "mode x");
}

#[test]
fn the_report_and_its_command() {
    let asked = args(&[
        "--scheme", "ecm,bcn", "--condition", "a b", "--seeds", "2", "--set", "run.duration=1 ms", "--pause",
        "on",
    ]);
    let typed = "cnsim sweep small.toml --over \"hotspot.rate=1 Gb/s,2 Gb/s\" --set \"run.duration=1 ms\" --scheme ecm,bcn --pause on --condition \"a b\" --seeds 2";
    assert_eq!(command(&asked), typed);
    let sweep = sweep_of(vec![axis("hotspot.rate", &["1 Gb/s", "2 Gb/s"])], &["on", "off"], &["ecm"]);
    let runs = runs_of(&sweep);
    let rows = rows_of(&sweep, &runs);
    let r = report(&asked, &scenario(), &sweep, &rows, &metrics_of(&["overhead", "fairness"]));
    let facts: Vec<&str> = r.facts.iter().map(|f| f.value.as_str()).collect();
    assert_eq!(
        (r.title.as_str(), r.command.as_str(), facts),
        ("Sweep over mine/small", typed, vec!["4", "0", "2"])
    );
    let page = &r.pages[0];
    assert_eq!(
        (page.title.as_str(), page.question.as_str(), page.source.as_str()),
        ("Sweep: Small", "hotspot.rate: 1 Gb/s, 2 Gb/s", "")
    );
    assert!(page.figures_first && page.figures.len() == 2);
    let tables: Vec<(&str, usize, usize)> =
        page.tables.iter().map(|t| (t.pause.as_str(), t.rows.len(), t.columns.len())).collect();
    assert_eq!(tables, [("on", 2, 2), ("off", 2, 2)]);
    assert!(page.tables.iter().all(|t| t.file == "sweep.csv"), "where all metrics are");
    let row = &page.tables[1].rows[1];
    assert_eq!((row.condition.as_str(), row.cells[0].as_ref().unwrap().measured), ("2 Gb/s", Some(5.0)));
}

/// The main metrics that were measured and say something, in their order.
#[test]
fn main_metrics_by_hand() {
    let of = |pause: &str, scheme: &str| {
        let sweep = sweep_of(vec![axis("hotspot.rate", &["1 Gb/s"])], &[pause], &[scheme]);
        let ids = ["overhead", "dropped_frames", "time_paused", "time_paused_links", "fairness", "pauses"];
        let mut metrics: Quantities = ids.map(|id| (id, 0.0)).into();
        metrics.insert("time_paused_links", if pause == "global" { 5.0 } else { 0.0 });
        let run = || Ok(Some(RunRecord { metrics: metrics.clone(), ..RunRecord::default() }));
        let runs = vec![run(), run()];
        main_metrics(&rows_of(&sweep, &runs)).iter().map(|m| m.metric.id).collect::<Vec<_>>()
    };
    assert_eq!(of("on", "ecm"), ["fairness", "time_paused", "overhead"]);
    assert_eq!(of("off", "none"), ["fairness", "dropped_frames"]);
    // Where hosts may send and links between switches may not, the latter are shown.
    assert_eq!(of("global", "ecm"), ["fairness", "time_paused", "time_paused_links", "overhead"]);
}
