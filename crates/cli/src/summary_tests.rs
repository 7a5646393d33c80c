//! Reports that are made up, and what is told of them, line by line.

use super::*;
use crate::ReproduceArgs;
use cnsim_measure::stats::Summary;
use cnsim_papers::published::Published;
use cnsim_report::model::{Column, Figure, NotRun, Row};
use cnsim_runs::record::Curve;
use cnsim_scenario::metrics::find;
use std::path::Path;

const fn claim(id: &'static str, origin: &'static str) -> Claim {
    Claim { id, text: "it holds", origin, test: |_, _| {} }
}

static CLAIMS: [Claim; 5] = [
    claim("A.1", "printed"),
    claim("A.2", "table"),
    claim("B.1", "printed"),
    claim("B.2", "figure"),
    claim("B.3", "printed"),
];

fn finding(i: usize, holds: Holds) -> (&'static Claim, Finding) {
    (&CLAIMS[i], Finding { holds, evidence: String::new() })
}

/// A cell of `overhead`, published as 2.0.
fn cell(study: &str, verdict: Verdict, note: &str) -> Cell {
    let published = Published {
        case: [study, "one", "c", "on", "ecm"].into(),
        metric: "overhead".into(),
        value: 2.0,
        text: "2.0".into(),
        unit: "Mb/s".into(),
        note: String::new(),
    };
    Cell {
        case: [study, "one", "c", "on", "ecm"].into(),
        metric: find("overhead").unwrap(),
        unit: "Mb/s".into(),
        published: (verdict != Verdict::Unpublished).then_some(published),
        values: vec![2.5],
        summary: Summary::of(&[2.5]).unwrap(),
        verdict,
        structural: false,
        at_least: 0,
        note: note.into(),
    }
}

fn shown(verdict: Verdict, structural: bool) -> Option<model::Cell> {
    let published = (verdict != Verdict::Unpublished).then(|| "2.0".to_string());
    Some(model::Cell { published, measured: Some(2.5), verdict, structural, ..model::Cell::default() })
}

/// A page of one row.
fn page(id: &str, cells: Vec<Option<model::Cell>>, not_run: usize, figures: usize) -> Page {
    let rows = vec![Row { scheme: "ecm".into(), cells, ..Row::default() }];
    Page {
        id: id.into(),
        tables: vec![Table { rows, ..Table::default() }],
        not_run: vec![NotRun::default(); not_run],
        figures: vec![Figure::default(); figures],
        ..Page::default()
    }
}

fn run(study: &str, scheme: &str) -> RunRecord {
    RunRecord { case: [study, "one", "c", "on", scheme].into(), ..RunRecord::default() }
}

/// The printed table, as lines of words: columns are aligned elsewhere.
fn lines(
    args: &ReproduceArgs,
    report: &Report,
    cells: &[Cell],
    findings: &[(&'static Claim, Finding)],
    records: &[RunRecord],
) -> Vec<String> {
    let (what, metric) = (args.what.as_str(), &args.making.metric[..]);
    let told = Told { what, metric, out: Path::new("out"), report, cells, findings, records };
    let text = text(&told, false);
    text.lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|l| !l.is_empty() && !l.starts_with('─'))
        .collect()
}

#[test]
fn many_studies_have_a_line_a_scenario() {
    use Verdict::{Agrees, Differs, Incomparable, Near, Undecided, Unpublished};
    let one = vec![
        shown(Agrees, false),
        shown(Differs, false),
        shown(Incomparable, false),
        shown(Agrees, true),
        shown(Agrees, true),
        shown(Unpublished, false),
        shown(Unpublished, true),
        None,
    ];
    let two = vec![shown(Near, false), shown(Near, false), shown(Differs, false), shown(Undecided, false)];
    let report = Report {
        pages: vec![page("A/one", one, 2, 3), page("B/one", two, 0, 0)],
        not_run: vec![NotRun::default()],
        ..Report::default()
    };
    let zero = Cell { structural: true, ..cell("A", Verdict::Agrees, "") };
    let unpublished = Cell { structural: true, ..cell("A", Verdict::Unpublished, "") };
    let cells = [
        cell("A", Verdict::Agrees, ""),
        zero,
        unpublished,
        cell("A", Verdict::Incomparable, "of a figure"),
        cell("B", Verdict::Near, "A3 is suspected"),
        cell("B", Verdict::Differs, ""),
        cell("B", Verdict::Near, "A3 is suspected"),
        cell("B", Verdict::Undecided, "too few seeds"),
    ];
    let findings = [
        finding(0, Holds::Yes),
        finding(1, Holds::No),
        finding(2, Holds::Undecided),
        finding(3, Holds::Yes),
        finding(4, Holds::NotRun),
    ];
    let records = [run("A", "none"), run("A", "ecm"), run("B", "ecm")];
    let args = ReproduceArgs { what: "all".into(), ..ReproduceArgs::default() };
    let told = lines(&args, &report, &cells, &findings, &records);
    let miss = "c, PAUSE on, ecm, overhead: published 2.0, measured 2.5";
    let expected = [
        "scenario runs agree near differ undecided zero unpublished not run figures",
        // A cell that cannot be compared counts as a difference.
        "A/one 2 1 - 2 - 2 1 2 3",
        "B/one 1 - 2 1 1 - - - -",
        "1 published cells agree, 2 are near, 1 differ, 1 undecided by so few seeds, 1 cannot be compared; 1 more are zero by construction. One seed has no interval.",
        "B/one: A3 is suspected",
        &format!("{miss} (near)"),
        &format!("{miss} (near)"),
        "B/one: no assumption is suspected yet",
        miss,
        "claims of yes no undecided not run read from figures",
        "A 1 1 0 0 0",
        "B 0 0 1 1 1",
        // Among many studies, claims that hold are not told.
        "A.2 no it holds",
        "B.1 undecided it holds",
        "Published, not run: 3 cells; the report lists them.",
        "Report out/report.html",
        "Numbers out/numbers.csv, claims.csv, results.json, series/",
        "Why cnsim explain B/one/ecm/overhead --condition \"c\" --pause on",
        "Next cnsim explain B/one · cnsim run B/one --scheme ecm · cnsim new mine > mine.toml",
    ];
    assert_eq!(told[..told.len() - 1], expected);
    assert!(told.last().unwrap().starts_with("Fingerprint of all runs: "));
}

#[test]
fn many_misses_are_told_in_part() {
    let args = ReproduceArgs::default();
    let of = |n: usize| lines(&args, &Report::default(), &vec![cell("A", Verdict::Near, "A3"); n], &[], &[]);
    let count = |told: &[String]| told.iter().filter(|l| l.ends_with("(near)")).count();
    assert_eq!(count(&of(30)), 30);
    assert!(!of(30).iter().any(|l| l.ends_with("more")));
    let many = of(31);
    assert_eq!(count(&many), 2);
    assert!(many.contains(&"and 29 more".to_string()), "{many:?}");
}

#[test]
fn one_study_tells_tables_claims_and_the_queue() {
    use Verdict::{Agrees, Differs, Incomparable, Near, Unpublished};
    let column = |metric: &str, title: &str, unit: &str| Column {
        metric: metric.into(),
        title: title.into(),
        unit: unit.into(),
        ..Column::default()
    };
    let of = |verdict, published: Option<&str>, measured: f64, half: f64| {
        Some(model::Cell {
            published: published.map(str::to_string),
            measured: Some(measured),
            ci95: Some((measured - half, measured + half)),
            verdict,
            ..model::Cell::default()
        })
    };
    let row = |scheme: &str, condition: &str, cells| Row {
        scheme: scheme.into(),
        condition: condition.into(),
        cells,
    };
    let zero = || shown(Unpublished, true);
    let columns = vec![
        column("overhead", "overhead", "Mb/s"),
        column("control_messages", "messages", ""),
        column("aggregate_throughput", "aggregate", "Gb/s"),
        column("fairness", "fairness", ""),
        column("dropped_frames", "dropped", "frames"),
    ];
    let bound = |at_least| {
        let cell = of(Unpublished, None, 8.25, 0.25).unwrap();
        Some(model::Cell { at_least, ci95: cell.ci95.filter(|_| !at_least), ..cell })
    };
    let rows = vec![
        row(
            "none",
            "c",
            vec![
                of(Differs, Some("2.0"), 2.5, 0.25),
                of(Near, Some("4"), 5.0, 0.5),
                bound(true),
                of(Unpublished, None, 1.0, 0.0),
                zero(),
            ],
        ),
        row("ecm", "c", vec![None, of(Agrees, Some("4"), 4.0, 0.5), bound(false), None, zero()]),
        row("bcn", "d", vec![of(Incomparable, Some("3.0"), 2.5, 0.25), None, None, None, zero()]),
        row("rcp", "d", vec![None, None, None, None, zero()]),
    ];
    let table = Table { condition: "x".into(), pause: "on".into(), columns, rows, ..Table::default() };
    let page = Page { id: "A/one".into(), tables: vec![table], ..Page::default() };
    let mut report = Report { pages: vec![page], ..Report::default() };
    let mut records = [run("A", "none"), run("A", "ecm")];
    for (r, values) in records.iter_mut().zip([vec![9.0, 9.0], vec![0.0, 14.0]]) {
        let curve = Curve { unit: "KB".into(), bin: 0.001, values, peaks: Vec::new() };
        r.over_time.series.insert("hot_queue".into(), curve);
    }
    let cells = [cell("A", Verdict::Agrees, "")];
    let findings = [finding(0, Holds::Yes), finding(1, Holds::NotRun)];
    let mut args = ReproduceArgs { what: "quick".into(), ..ReproduceArgs::default() };
    let told = lines(&args, &report, &cells, &findings, &records);
    let expected = [
        "A/one, x, PAUSE on",
        // Of what was not published, only the columns of the printed tables; none that is zero by construction.
        "condition scheme overhead publ. measured [Mb/s] messages publ. measured aggregate [Gb/s] verdict",
        "c none 2.0 2.50 ± 0.25 4 5.00 ± 0.50 ≥ 8.25 differs: overhead; near: messages",
        "ecm 4 4.00 ± 0.50 8.25 ± 0.25 agrees",
        "d bcn 3.0 2.50 ± 0.25 not compared: overhead",
        "rcp -",
        "1 published cells agree, 0 are near, 0 differ; 0 more are zero by construction. One seed has no interval.",
        "Claims (1 of 2 not run here):",
        "A.1 yes it holds",
        // The first case that has a scheme.
        "Hot queue, ecm, c, PAUSE on: ▁█ 0 to 14 KB",
        "Report out/report.html",
        "Numbers out/numbers.csv, claims.csv, results.json, series/",
        "Why cnsim explain A/one/ecm/overhead --condition \"c\" --pause on",
        "Next cnsim reproduce A · cnsim reproduce all · cnsim explain A/one · cnsim run A/one --scheme ecm · cnsim new mine > mine.toml",
    ];
    assert_eq!(told[..told.len() - 1], expected);
    // Only what was asked for.
    args.making.metric = vec!["fairness".into(), "dropped_frames".into()];
    let told = lines(&args, &report, &cells, &findings[1..], &records);
    assert_eq!(
        told[1..4],
        ["condition scheme fairness dropped [frames] verdict", "c none 1.00 ± 0.00 2.50 -", "ecm 2.50 -"]
    );
    assert!(
        told.contains(&"Claims: the whole study decides them (`cnsim reproduce A`).".to_string()),
        "{told:?}"
    );
    // An experiment of one's own, and its ports: columns that say something.
    args.making.metric.clear();
    args.what = "mine.toml".into();
    let t = &mut report.pages[0].tables[0];
    t.rows.truncate(1);
    // The report leaves it to its list of all numbers.
    t.columns[1].more = true;
    for c in t.rows[0].cells.iter_mut().flatten() {
        (c.published, c.verdict) = (None, Unpublished);
    }
    let told = lines(&args, &report, &cells, &[], &[]);
    assert_eq!(
        told[1..3],
        [
            "condition scheme overhead [Mb/s] aggregate [Gb/s] fairness dropped [frames]",
            "c none 2.50 ± 0.25 ≥ 8.25 1.00 ± 0.00 2.50"
        ]
    );
    assert!(told.iter().any(|l| l.starts_with("Next cnsim explain mine.toml · ")), "{told:?}");
    let t = &mut report.pages[0].tables[0];
    t.row_heading = "port".into();
    t.rows[0].cells[2] = of(Unpublished, None, 0.0, 0.0);
    let told = lines(&args, &report, &cells, &[], &[]);
    assert_eq!(told[1], "port scheme overhead [Mb/s] fairness dropped [frames]");
    assert_eq!(told[3], "Zero in every row: aggregate.");
    // The least and greatest of few seeds are no interval, and the caption says so.
    let t = &mut report.pages[0].tables[0];
    t.caption = "few seeds".into();
    if let Some(c) = &mut t.rows[0].cells[0] {
        (c.range, c.ci95) = (Some((2.25, 2.75)), None);
    }
    let told = lines(&args, &report, &cells, &[], &[]);
    assert!(told[2].contains(" 2.50, 2.25 to 2.75 ") && told[4] == "few seeds", "{told:?}");
    // Ports stand whole, and only so many of them.
    let t = &mut report.pages[0].tables[0];
    let row = t.rows[0].clone();
    t.rows = (0..15).flat_map(|i| vec![Row { condition: format!("S>H{i}, c"), ..row.clone() }; 5]).collect();
    let told = lines(&args, &report, &cells, &[], &[]);
    assert_eq!(told.iter().filter(|l| l.contains(" 2.50, 2.25 to 2.75 ")).count(), 20);
    assert!(told.contains(&"55 further rows are in the report.".into()), "{told:?}");
    report.pages[0].tables[0].rows = vec![row];
    report.pages[0].tables[0].rows[0].cells.iter_mut().flatten().for_each(|c| c.measured = Some(0.0));
    // Columns of zeros are named below the table: that nothing finished, too.
    report.pages[0].tables[0].row_heading.clear();
    let told = lines(&args, &report, &cells, &[], &[]);
    assert_eq!(told[3], "Zero in every row: overhead, aggregate, fairness, dropped.");
}

/// Where nothing was measured, nothing is told of seeds.
#[test]
fn without_cells_no_word_of_seeds() {
    let told = lines(&ReproduceArgs::default(), &Report::default(), &[], &[], &[]);
    assert_eq!(told[0], "Nothing was measured.");
}

/// One published column is enough for a verdict, the first one, too.
#[test]
fn the_first_column_alone_is_judged() {
    let column = |metric: &str| Column { metric: metric.into(), title: metric.into(), ..Column::default() };
    let cells = vec![shown(Verdict::Agrees, false), shown(Verdict::Unpublished, false)];
    let table = Table {
        columns: vec![column("overhead"), column("fairness")],
        rows: vec![Row { scheme: "ecm".into(), cells, ..Row::default() }],
        ..Table::default()
    };
    let report = Report { pages: vec![Page { tables: vec![table], ..Page::default() }], ..Report::default() };
    let told = lines(&ReproduceArgs::default(), &report, &[], &[], &[]);
    assert_eq!(told[1..3], ["scheme overhead publ. measured verdict", "ecm 2.0 2.50 agrees"]);
}
