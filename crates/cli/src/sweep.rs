//! `cnsim sweep`: a grid over keys of a scenario, as a table, a CSV file and a figure.

use crate::experiment::{interrupted, mark_partial, page_of, partial, with_store};
use crate::look::{self, Colour, at_least, interval, measured, said};
use crate::names::Names;
use crate::output::{Output, quoted};
use crate::request::{
    condition_of, first_case, refuse_many, refuse_no_seeds, schemes, tell_notes, threads, wanted,
};
use crate::{Batch, Common, Done, Failure, find, notes, pairs};
use clap::Args;
use cnsim_advice::notes::after;
use cnsim_advice::unfinished::FINISHED;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_problem::printable;
use cnsim_report::build::{alerts, cell, colours, conclusions};
use cnsim_report::model;
use cnsim_runs::files::table;
use cnsim_runs::grid::{self, Axis, Point, Sweep};
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Partial;
use cnsim_runs::run::{JobError, Watch, run_each};
use cnsim_runs::store::Store;
use cnsim_scenario::Scenario;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::{self, Id, METRICS, Metric, structural_zero};
use cnsim_scenario::tables;
use cnsim_scheme_api::Registry;
use indexmap::{IndexMap, IndexSet};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Arguments of `sweep`.
#[derive(Args, Debug, Clone)]
pub(crate) struct SweepArgs {
    /// Scenario: embedded name or file.
    scenario: String,
    /// A key and its values: KEY=V1,V2, or KEY=FROM..TO/COUNT in even steps, or with /log in equal factors; may be
    /// repeated.
    #[arg(long, value_name = "KEY=V1,V2", required = true)]
    over: Vec<String>,
    /// Schemes that are run [default: the scenario's].
    #[arg(long, value_delimiter = ',', value_parser = Names::Schemes, hide_possible_values = true)]
    scheme: Vec<String>,
    /// PAUSE modes that are run [default: the scenario's first].
    #[arg(long, value_delimiter = ',', value_parser = ["on", "off", "global"])]
    pause: Vec<String>,
    /// The one condition that is run, as `cnsim explain SCENARIO` lists it: "hotspot 2 Gb/s" [default: the first].
    #[arg(long)]
    condition: Option<String>,
    /// Number of seeds of each point [default: the scenario's].
    #[arg(long)]
    seeds: Option<u64>,
    /// Metrics that table and figures show [default: the main ones]; the CSV file has all.
    #[arg(long, value_delimiter = ',', value_parser = Names::Metrics, hide_possible_values = true)]
    metric: Vec<String>,
    /// Set a key of the scenario for all points.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    batch: Batch,
}

/// Shown where some were paused.
const LINKS: &str = Id::TimePausedLinks.text();

/// Metrics of named traffic that stand behind those of all traffic.
const BY_NAME: &str = Id::CompletionTimeP99.text();

/// A measured quantity: a metric, of all traffic or of one name.
#[derive(Clone, Copy, Debug)]
struct What<'a> {
    metric: &'static Metric,
    name: &'a str,
}

impl<'a> What<'a> {
    fn all(metric: &'static Metric) -> Self {
        Self { metric, name: "" }
    }
    fn is(&self, other: &Self) -> bool {
        (self.metric.id, self.name) == (other.metric.id, other.name)
    }
    /// Heading: `victim: 99 % completion`.
    fn title(&self) -> String {
        if self.name.is_empty() {
            self.metric.title.into()
        } else {
            format!("{}: {}", self.name, self.metric.title)
        }
    }
    /// The metric's value in a run, and whether that is a lower bound.
    fn of(&self, r: &'a RunRecord) -> Option<(f64, bool)> {
        r.of_traffic(self.name)?.0.get(self.metric.id).map(|q| (q.value, q.at_least))
    }
}

/// A point with its measured values; empty if one of its runs failed.
struct Row<'a> {
    point: &'a Point,
    /// Summaries over the seeds; of lower bounds, where flows were not received whole.
    metrics: Vec<(What<'a>, Summary)>,
    failed: Option<Failed>,
}

/// How a point failed.
struct Failed {
    /// Number of its runs that did.
    runs: usize,
    /// The first one's seed and reason: `seed 2: REASON`.
    why: String,
}

impl Row<'_> {
    fn get(&self, what: &What<'_>) -> Option<&Summary> {
        self.metrics.iter().find(|m| m.0.is(what)).map(|m| &m.1)
    }

    /// The summary of a quantity as a cell of the report.
    fn cell(&self, what: &What<'_>) -> Option<model::Cell> {
        self.get(what).map(cell)
    }

    /// A mean with its interval, as the table has it.
    fn shown(&self, what: &What<'_>) -> Option<String> {
        let s = self.get(what)?;
        Some(at_least(s.bound) + &measured(s.mean, s.confidence()))
    }

    /// The point's name and why it failed: a line for terminal and report.
    fn failure(&self, axes: &[Axis]) -> Option<String> {
        let case = &self.point.case;
        let values = axes.iter().zip(&self.point.values).map(|(a, v)| format!("{}={v}", a.key));
        let values = values.collect::<Vec<_>>().join(", ");
        let why = &self.failed.as_ref()?.why;
        Some(format!("failed: {values}, PAUSE {}, {}, {why}", case.id.pause, case.id.scheme))
    }
}

/// `KEY=VALUES` with the key's whole path.
pub(crate) fn whole(registry: &Registry, over: &str) -> String {
    match over.split_once('=') {
        Some((key, values)) => format!("{}={values}", find::whole_key(registry, key)),
        None => over.into(),
    }
}

/// The sweep that the arguments ask for; nothing has run yet.
fn plan(args: &SweepArgs, scenario: &Scenario) -> Result<Sweep, Failure> {
    let over: Vec<String> = args.over.iter().map(|o| whole(scenario.registry(), o)).collect();
    let axes = grid::axes(&over).map_err(Failure::Input)?;
    let mut schemes: Vec<String> = schemes(scenario.registry(), &args.scheme)?;
    let cases = scenario.cases();
    let first = first_case(&cases, schemes.first().map(String::as_str))?;
    let mut base = match &args.condition {
        None => first.clone(),
        Some(text) => condition_of(scenario, text, None, schemes.first().map(String::as_str))?,
    };
    // A key set on the command line wins over the matrix.
    let sets = pairs(&args.sets, scenario.registry())?;
    base.row.retain(|(k, _)| args.condition.is_some() || !sets.iter().any(|s| s.0 == *k));
    if schemes.is_empty() {
        schemes.clone_from(&scenario.groups[base.group].schemes);
    }
    let set_pause = sets.iter().find(|s| s.0 == tables::pause::MODE.path).map(|s| s.1.clone());
    let pauses = match (&args.pause[..], set_pause) {
        ([], Some(p)) => vec![p],
        ([], None) => vec![first.id.pause.clone()],
        (asked, _) => asked.to_vec(),
    };
    let seeds = args.seeds.unwrap_or(scenario.seeds);
    refuse_no_seeds(seeds)?;
    grid::plan(scenario, axes, &base, &pauses, &schemes, seeds).map_err(Failure::Input)
}

pub(crate) fn sweep(args: &SweepArgs, common: &Common) -> Done {
    let asked = wanted(&args.metric)?;
    let schemes = schemes(&common.registry, &args.scheme)?;
    let names: Vec<&str> = schemes.iter().map(String::as_str).collect();
    let scenario =
        Scenario::load_in(&common.registry, &args.scenario, &pairs(&args.sets, &common.registry)?, &names)?;
    let sweep = plan(args, &scenario)?;
    refuse_many(&sweep.jobs, args.batch.force)?;
    tell_notes(&sweep.jobs, common);
    if !common.quiet {
        eprintln!(
            "cnsim {}: {} points of {}, {} runs, {} threads",
            env!("CARGO_PKG_VERSION"),
            sweep.points.len(),
            scenario.id(),
            sweep.jobs.len(),
            threads(args.batch.threads)
        );
        sweep.notes.iter().for_each(|n| eprintln!("note: {n}"));
    }
    Output::check(&args.batch.out, args.batch.force)?;
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch, true);
    let runs = runs_of(&sweep, args, &watch, common)?;
    let rows: Vec<Row<'_>> = sweep.points.iter().filter_map(|p| row(p, &runs, sweep.seeds)).collect();
    let asked: Vec<What<'_>> = asked.into_iter().map(What::all).collect();
    let mut shown = if asked.is_empty() { main_metrics(&rows) } else { asked };
    finished_by_name(&rows, &mut shown);
    let all: Vec<RunRecord> = runs.iter().flatten().flatten().cloned().collect();
    let partial = partial(&watch, all.len(), sweep.jobs.len());
    let typed = command(args);
    let typed = typed.trim_start_matches("cnsim ");
    let Some(mut output) = Output::open(&args.batch.out, typed, &all, partial, args.batch.force)? else {
        return interrupted(&watch, (all.len(), sweep.jobs.len()), true, Some(&args.batch.out));
    };
    output.write("sweep.csv", csv(&sweep, &rows, partial).as_bytes())?;
    let mut page = report(args, &scenario, &sweep, &rows, &shown);
    page.pages[0].alerts = alerts(all.iter());
    page.pages[0].alerts.push(conclusions(after(&all)));
    let lines: Vec<String> = rows.iter().filter_map(|r| r.failure(&sweep.axes)).collect();
    if !lines.is_empty() {
        let (title, about) = ("Points failed.".into(), "They have no numbers.".into());
        page.pages[0].alerts.insert(0, model::Alert { title, about, lines, mild: false });
    }
    mark_partial(&mut page, partial);
    output.write("sweep.html", page_of(&page)?.as_bytes())?;
    let out = output.dir().to_path_buf();
    output.results(&all, |_| false)?;
    if args.batch.json {
        println!("{}", as_json(&scenario, &sweep, &rows));
    } else {
        if let Some(p) = partial {
            println!("{}\n", p.text());
        }
        notes::print(&all);
        println!("{}", text(&out, &sweep, &rows, &shown, look::colour_on_stdout()));
    }
    let failed = rows.iter().filter(|r| r.failed.is_some()).count();
    if failed > 0 {
        let (of, file) = (rows.len(), out.join("sweep.csv"));
        let text =
            format!("{failed} of {of} points failed: the table and {} have the reasons", file.display());
        return Err(Failure::Run(text));
    }
    interrupted(&watch, (all.len(), sweep.jobs.len()), true, None)?;
    notes::ends(&all)
}

/// The runs of all points, each with its own end. A disk that takes no result ends a sweep.
fn runs_of(
    sweep: &Sweep,
    args: &SweepArgs,
    watch: &Arc<Watch>,
    common: &Common,
) -> Result<Vec<Result<Option<RunRecord>, JobError>>, Failure> {
    let jobs = &sweep.jobs;
    let each = |store: &Store| run_each(jobs, Some(store), threads(args.batch.threads), watch);
    let runs = with_store(jobs, (&args.batch.out, args.batch.force), watch, common.quiet, each)?;
    let lost = runs.iter().filter_map(|r| r.as_ref().err()).find(|e| matches!(e, JobError::NotKept(_)));
    lost.map_or(Ok(()), |e| Err(e.clone()))?;
    Ok(runs)
}

/// Values of a point, or the reason of its failure; none if an interruption left out one of its runs.
fn row<'a>(point: &'a Point, runs: &'a [Result<Option<RunRecord>, JobError>], seeds: u64) -> Option<Row<'a>> {
    let runs = &runs[point.first..point.first + seeds as usize];
    let mut failures = (1..=seeds).zip(runs).filter_map(|(seed, r)| Some((seed, r.as_ref().err()?)));
    if let Some((seed, e)) = failures.next() {
        let why = match e {
            JobError::Failed { why, .. } | JobError::NotKept(why) => why,
        };
        let failed = Failed { runs: 1 + failures.count(), why: format!("seed {seed}: {why}") };
        return Some(Row { point, metrics: Vec::new(), failed: Some(failed) });
    }
    let runs: Vec<&RunRecord> = runs.iter().map(|r| r.as_ref().ok()?.as_ref()).collect::<Option<_>>()?;
    let of = |what: What<'a>| {
        let values: Vec<(f64, bool)> = runs.iter().filter_map(|r| what.of(r)).collect();
        let summary = Summary::of_metric(what.metric, &values.iter().map(|v| v.0).collect::<Vec<_>>())?;
        Some((what, summary.bounded(values.iter().any(|v| v.1))))
    };
    let names = runs.iter().take(1).flat_map(|r| &r.traffic).map(|t| t.name.as_str());
    let whats = std::iter::once("")
        .chain(names)
        .flat_map(|name| METRICS.iter().map(move |metric| What { metric, name }));
    Some(Row { point, metrics: whats.filter_map(of).collect(), failed: None })
}

/// The main metrics that were measured and are not zero by construction throughout, and the tail of each name.
fn main_metrics<'a>(rows: &[Row<'a>]) -> Vec<What<'a>> {
    let says = |r: &Row<'_>, what: &What<'_>| {
        let zero = structural_zero(what.metric.id, &r.point.case.id.pause, &r.point.case.id.scheme);
        r.get(what).is_some_and(|s| !zero && (what.metric.id != LINKS || s.mean > 0.0))
    };
    let measured = rows.iter().find(|r| r.failed.is_none()).into_iter().flat_map(|r| &r.metrics).map(|m| m.0);
    let named: Vec<What<'a>> =
        measured.filter(|what| what.metric.id == BY_NAME && !what.name.is_empty()).collect();
    let of = |m: &'static Metric| {
        std::iter::once(What::all(m)).chain(named.iter().copied().filter(|what| what.metric.id == m.id))
    };
    let main = metrics::own().into_iter().flat_map(of);
    main.filter(|what| rows.iter().any(|r| says(r, what))).collect()
}

/// Beside the share of all flows that finished, that of each name that left some unfinished.
fn finished_by_name<'a>(rows: &[Row<'a>], shown: &mut Vec<What<'a>>) {
    let Some(at) = shown.iter().position(|what| what.metric.id == FINISHED) else { return };
    let mut named: Vec<What<'a>> = Vec::new();
    for (what, share) in rows.iter().flat_map(|r| &r.metrics) {
        let open = what.metric.id == FINISHED && !what.name.is_empty() && share.mean < 100.0;
        if open && !named.iter().any(|n| n.is(what)) {
            named.push(*what);
        }
    }
    shown.splice(at + 1..=at, named);
}

/// The ends of an interval as two fields of a CSV file; empty if there is none.
pub(crate) fn bounds(interval: Option<(f64, f64)>) -> [String; 2] {
    interval.map_or_else(Default::default, |(low, high)| [digits(low), digits(high)])
}

fn csv(sweep: &Sweep, rows: &[Row<'_>], partial: Option<Partial>) -> String {
    let mut header: Vec<String> = sweep.axes.iter().map(|a| a.key.clone()).collect();
    let rest = "study,scenario,condition,pause,scheme,metric,unit,measured,ci95_low,ci95_high,pi95_low,pi95_high,seeds,note,traffic";
    header.extend(rest.split(',').map(String::from));
    let mut lines = Vec::new();
    for r in rows {
        let mut head = r.point.values.clone();
        let CaseId { study, scenario, condition, pause, scheme } = &r.point.case.id;
        head.extend([study, scenario, condition, pause, scheme].map(Clone::clone));
        if let Some(f) = &r.failed {
            let rest =
                ["failed", "", "", "", "", "", "", &f.runs.to_string(), &format!("failed: {}", f.why), ""];
            lines.push(head.into_iter().chain(rest.map(String::from)).collect());
            continue;
        }
        for (what, s) in &r.metrics {
            let (mut line, m) = (head.clone(), what.metric);
            line.extend([m.id.to_string(), m.unit.to_string(), digits(s.mean)]);
            line.extend(bounds(s.confidence()));
            line.extend(bounds(s.prediction()));
            line.push(s.n.to_string());
            let bound = s.bound.then(|| "at least: flows were unfinished".to_string());
            line.push(partial.map(Partial::text).into_iter().chain(bound).collect::<Vec<_>>().join("; "));
            line.push(what.name.into());
            lines.push(line);
        }
    }
    table(&header, &lines)
}

fn as_json(scenario: &Scenario, sweep: &Sweep, rows: &[Row<'_>]) -> serde_json::Value {
    let of = |r: &Row<'_>| {
        let values: serde_json::Map<String, serde_json::Value> =
            sweep.axes.iter().zip(&r.point.values).map(|(a, v)| (a.key.clone(), json!(v))).collect();
        let quantity = |(what, s): &(What<'_>, Summary)| {
            let unit = what.metric.unit;
            let mut value =
                json!({"value": s.mean, "unit": unit, "ci95": s.confidence(), "pi95": s.prediction()});
            if s.bound {
                value["at_least"] = json!(true);
            }
            (what.metric.id.to_string(), value)
        };
        let of_name = |name: &str| -> serde_json::Map<String, serde_json::Value> {
            r.metrics.iter().filter(|m| m.0.name == name).map(quantity).collect()
        };
        let names: BTreeSet<&str> = r.metrics.iter().map(|m| m.0.name).filter(|n| !n.is_empty()).collect();
        let case = &r.point.case;
        let mut row = json!({"values": values, "condition": case.id.condition, "pause": case.id.pause, "scheme": case.id.scheme, "metrics": of_name("")});
        names.iter().for_each(|name| row["traffic"][*name] = json!(of_name(name)));
        r.failed.iter().for_each(|f| row["failed"] = json!(f.why));
        row
    };
    let axes: Vec<_> = sweep.axes.iter().map(|a| json!({"key": a.key, "values": a.values})).collect();
    json!({
        "schema": 1, "scenario": scenario.id(), "axes": axes, "seeds": sweep.seeds, "notes": sweep.notes,
        "rows": rows.iter().map(of).collect::<Vec<_>>(),
    })
}

/// Does this vary over the points?
fn varies<T: PartialEq>(rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> T) -> bool {
    rows.windows(2).any(|w| of(&w[0]) != of(&w[1]))
}

/// The printed result: the table, and the failed points.
fn text(folder: &Path, sweep: &Sweep, rows: &[Row<'_>], shown: &[What<'_>], colour: bool) -> String {
    let mut out = Vec::new();
    let pauses = varies(rows, |r| r.point.case.id.pause.clone());
    let mut header: Vec<String> = sweep.axes.iter().map(|a| a.key.clone()).collect();
    if pauses {
        header.push("PAUSE".into());
    }
    header.push("scheme".into());
    header.extend(shown.iter().map(|m| {
        if m.metric.unit.is_empty() { m.title() } else { format!("{} [{}]", m.title(), m.metric.unit) }
    }));
    let line = |r: &Row<'_>| {
        let mut line = r.point.values.clone();
        if pauses {
            line.push(r.point.case.id.pause.clone());
        }
        line.push(r.point.case.id.scheme.clone());
        let none = if r.failed.is_some() { "failed" } else { "-" };
        line.extend(shown.iter().map(|m| r.shown(m).unwrap_or_else(|| none.into())));
        line
    };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    out.extend(look::painted(&look::table(&header, &lines, false), colour, |_| Colour::Plain));
    let folder = folder.display();
    out.push(String::new());
    rows.iter().filter_map(|r| r.failure(&sweep.axes)).for_each(|l| out.push(printable(&l).into_owned()));
    out.push(interval([sweep.seeds]));
    out.push(format!(
        "Figures  {folder}/sweep.html\nNumbers  {folder}/sweep.csv (all metrics), results.json"
    ));
    if let Some(axis) = sweep.axes.first() {
        let value = axis.values.first().map_or("", String::as_str);
        out.push(format!(
            "Next     cnsim compare {folder} --baseline {}",
            quoted(&format!("{}={value}", axis.key))
        ));
    }
    out.join("\n")
}

/// The command, to be typed again.
fn command(args: &SweepArgs) -> String {
    let mut text = format!("cnsim sweep {}", quoted(&args.scenario));
    let lists = [("--scheme", &args.scheme), ("--pause", &args.pause), ("--metric", &args.metric)];
    args.over.iter().for_each(|o| text += &format!(" --over {}", quoted(o)));
    args.sets.iter().for_each(|s| text += &format!(" --set {}", quoted(s)));
    for (name, list) in lists.iter().filter(|l| !l.1.is_empty()) {
        text += &format!(" {name} {}", quoted(&list.join(",")));
    }
    if let Some(c) = &args.condition {
        text += &format!(" --condition {c:?}");
    }
    args.seeds.iter().for_each(|n| text += &format!(" --seeds {n}"));
    text
}

/// A column.
pub(crate) fn column(m: &Metric) -> model::Column {
    model::Column {
        metric: m.id.into(),
        title: m.title.into(),
        unit: m.unit.into(),
        about: m.about.into(),
        more: false,
    }
}

fn report(
    args: &SweepArgs,
    scenario: &Scenario,
    sweep: &Sweep,
    rows: &[Row<'_>],
    shown: &[What<'_>],
) -> model::Report {
    let fact = |name: &str, value: String| model::Fact { name: name.into(), value };
    let words = |a: &Axis| format!("{}: {}", a.key, a.values.join(", "));
    let mut page = model::Page {
        id: scenario.id(),
        title: format!("Sweep: {}", scenario.title),
        question: sweep.axes.iter().map(words).collect::<Vec<_>>().join("; "),
        source: if said(&scenario.source) { scenario.source.clone() } else { String::new() },
        figures: shown.iter().map(|m| figure(sweep, rows, m)).collect(),
        figures_first: true,
        ..model::Page::default()
    };
    for pause in rows.iter().map(|r| r.point.case.id.pause.as_str()).collect::<IndexSet<_>>() {
        let mine = rows.iter().filter(|r| r.point.case.id.pause == pause);
        page.tables.push(model::Table {
            id: format!("pause-{pause}"),
            pause: pause.into(),
            columns: shown.iter().map(|m| model::Column { title: m.title(), ..column(m.metric) }).collect(),
            rows: mine
                .map(|r| model::Row {
                    scheme: r.point.case.id.scheme.clone(),
                    condition: r.point.values.join(", "),
                    cells: shown.iter().map(|m| r.cell(m)).collect(),
                })
                .collect(),
            file: "sweep.csv".into(),
            ..model::Table::default()
        });
    }
    model::Report {
        title: format!("Sweep over {}", scenario.id()),
        version: env!("CARGO_PKG_VERSION").into(),
        command: command(args),
        facts: vec![
            fact("points", rows.len().to_string()),
            fact("runs", sweep.jobs.len().to_string()),
            fact("seeds", sweep.seeds.to_string()),
        ],
        pages: vec![page],
        colours: colours(scenario.registry()),
        ..model::Report::default()
    }
}

/// A point of a line: its place, mean, and interval of the mean.
type At = (f64, f64, (f64, f64));

/// A metric over the first axis whose values are numbers, as lines with intervals; without such an axis, as bars.
fn figure(sweep: &Sweep, rows: &[Row<'_>], what: &What<'_>) -> model::Figure {
    let metric = what.metric;
    let numeric = sweep.axes.iter().position(|a| a.values.len() > 1 && grid::numbers(&a.values).is_some());
    let across = numeric.unwrap_or(0);
    let axis = &sweep.axes[across];
    let (places, unit) = numeric
        .and_then(|_| grid::numbers(&axis.values))
        .unwrap_or_else(|| ((0..axis.values.len()).map(|i| i as f64).collect(), String::new()));
    let (pauses, schemes) =
        (varies(rows, |r| r.point.case.id.pause.clone()), varies(rows, |r| r.point.case.id.scheme.clone()));
    let name = |r: &Row<'_>| {
        let case = &r.point.case;
        let others = sweep.axes.iter().zip(&r.point.values).enumerate();
        let mut parts: Vec<String> = others
            .filter(|(i, (a, _))| *i != across && a.values.len() > 1)
            .map(|(_, (a, v))| format!("{} {v}", a.key.rsplit('.').next().unwrap_or(&a.key)))
            .collect();
        if pauses {
            parts.insert(0, format!("PAUSE {}", case.id.pause));
        }
        if schemes || parts.is_empty() {
            parts.insert(0, case.id.scheme.clone());
        }
        parts.join(", ")
    };
    let mut traces: IndexMap<String, Vec<At>> = IndexMap::new();
    for r in rows {
        let Some(s) = r.get(what) else { continue };
        let at = axis.values.iter().position(|v| *v == r.point.values[across]).unwrap_or(0);
        let point = (places[at], s.mean, s.confidence().unwrap_or((s.mean, s.mean)));
        traces.entry(name(r)).or_default().push(point);
    }
    let trace = |(name, mut points): (String, Vec<At>)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let of = |f: fn(&At) -> f64| points.iter().map(f).collect::<Vec<f64>>();
        let band = (sweep.seeds > 1).then(|| model::Band { low: of(|p| p.2.0), high: of(|p| p.2.1) });
        model::Trace { name, slot: None, x: of(|p| p.0), y: of(|p| p.1), band, ..model::Trace::default() }
    };
    model::Figure {
        title: what.title(),
        caption: match sweep.seeds {
            1 => format!("{}. One seed at each point, so no interval.", metric.about),
            n => format!("{}. Mean over {n} seeds at each point, with its 95 % interval.", metric.about),
        },
        x: model::Axis { title: axis.key.clone(), unit, log: axis.log && numeric.is_some() },
        y: model::Axis { title: metric.title.into(), unit: metric.unit.into(), log: false },
        kind: if numeric.is_some() { model::Kind::Points } else { model::Kind::Bars },
        categories: if numeric.is_some() { Vec::new() } else { axis.values.clone() },
        traces: traces.into_iter().map(trace).collect(),
        ..model::Figure::default()
    }
}

#[cfg(test)]
#[path = "sweep_tests.rs"]
mod tests;
