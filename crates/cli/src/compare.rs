//! `cnsim compare`: two results, run by run; or with a baseline every other case of some results beside it. Both yield rows: a
//! quantity of two points, paired by seed.

use crate::baseline::{Baseline, choices, points};
use crate::look::{self, Colour, paint};
use crate::pairs::{Pairs, Row, seeds, table};
use crate::request::wanted;
use crate::{Done, Failure, chosen, notes};
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Results;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::columns::COMPARED;
use cnsim_scenario::metrics::{METRICS, Metric};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Largest number of printed lines of each kind; `--json` has all.
const TOLD: usize = 20;

/// Differences of two results.
#[derive(Default)]
struct Found {
    equal: usize,
    only: [Vec<String>; 2],
    /// Case, key, first, second.
    configuration: BTreeSet<[String; 4]>,
    fingerprints: Vec<String>,
    /// Records of places that differ: when a port was in XOFF, what a shared buffer held, whether the network stood.
    places: Vec<String>,
    rows: Vec<Row>,
}

impl Found {
    /// Are the two results equal?
    fn is_nothing(&self) -> bool {
        let lists = [&self.only[0], &self.only[1], &self.fingerprints, &self.places];
        self.configuration.is_empty() && self.rows.is_empty() && lists.iter().all(|l| l.is_empty())
    }
}

pub(crate) fn compare(paths: &[PathBuf], baseline: Option<&str>, metrics: &[String], as_json: bool) -> Done {
    let files: Vec<PathBuf> = paths.iter().map(|p| chosen::path(p, "results.json")).collect();
    let (read, wrong): (Vec<_>, Vec<_>) = files.iter().map(|f| Results::read(f)).partition(Result::is_ok);
    if !wrong.is_empty() {
        let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
        return Err(Failure::Input(wrong.join("\n")));
    }
    let read: Vec<Results> = read.into_iter().flatten().collect();
    for (all, file) in read.iter().zip(&files) {
        if all.runs.is_empty() {
            return Err(Failure::input(format!(
                "{}: holds no run: there is nothing to compare",
                file.display()
            )));
        }
    }
    remarks(&read, &files).iter().for_each(|n| eprintln!("note: {n}"));
    if let Some(baseline) = baseline {
        return beside(read, baseline, &wanted(metrics)?, as_json);
    }
    let ([x, y], [a, b]) = (&read[..], &files[..]) else {
        return Err(Failure::input(
            "one result is compared with nothing\n  help: name a second one, or a case of this one: --baseline none",
        ));
    };
    let found = differences(x, y);
    if as_json {
        println!("{}", told(&found));
    } else {
        println!("{}", text(&found, [a, b]));
    }
    if found.is_nothing() { Ok(()) } else { Err(Failure::Differs("the results differ".into())) }
}

/// Notes on the files themselves.
fn remarks(read: &[Results], files: &[PathBuf]) -> Vec<String> {
    let mut notes = Vec::new();
    for (all, file) in read.iter().zip(files) {
        if all.sum() != all.checksum {
            notes.push(format!("{} was changed after it was written", file.display()));
        }
        notes.extend(all.partial.map(|p| format!("{}: {}", file.display(), p.text())));
    }
    let versions: Vec<u32> = read.iter().map(|r| r.result_version).collect();
    if let [x, y] = versions[..]
        && x != y
    {
        notes.push(format!("results of versions {x} and {y}"));
    }
    notes
}

/// A number of a run: of which traffic or port, its name, and its unit.
type Number = (String, String, String);

/// All numbers of a run.
fn quantities(run: &RunRecord) -> BTreeMap<Number, f64> {
    let mut all = BTreeMap::new();
    let mut add = |of: &str, id: &str, unit: &str, v: f64| {
        all.insert((of.into(), id.into(), unit.into()), v);
    };
    run.metrics.0.iter().for_each(|(id, q)| add("", id, q.unit.as_ref(), q.value));
    run.counters.iter().for_each(|(id, n)| add("", id, "", *n as f64));
    for (port, facts) in &run.ports {
        let facts = serde_json::to_value(facts).unwrap_or_default();
        for (id, v) in facts.as_object().into_iter().flatten() {
            add(port, id, "", v.as_f64().unwrap_or(f64::NAN));
        }
    }
    for t in &run.traffic {
        t.metrics.0.iter().for_each(|(id, q)| add(&t.name, id, q.unit.as_ref(), q.value));
    }
    add("", "packet_hops", "", run.execution.packet_hops as f64);
    all
}

/// A case with its swept values.
type Point = (CaseId, Vec<(String, String)>);

/// The runs of two files by point, seed, and number of the run among those of its seed. The values of a point are of the keys that vary
/// among runs of one case and seed in one of the files.
fn by_point(files: [&Results; 2]) -> BTreeMap<Point, [BTreeMap<(u64, usize), &RunRecord>; 2]> {
    let mut swept: BTreeMap<&CaseId, BTreeSet<String>> = BTreeMap::new();
    for all in files {
        let mut first: BTreeMap<(&CaseId, u64), BTreeMap<String, String>> = BTreeMap::new();
        for run in &all.runs {
            let config = run.config.settings();
            let before = first.entry((&run.case, run.seed)).or_insert_with(|| config.clone());
            let vary = config.keys().chain(before.keys()).filter(|k| config.get(*k) != before.get(*k));
            swept.entry(&run.case).or_default().extend(vary.cloned());
        }
    }
    let mut points: BTreeMap<Point, [BTreeMap<(u64, usize), &RunRecord>; 2]> = BTreeMap::new();
    for (side, run) in (0..).zip(files).flat_map(|(side, all)| all.runs.iter().map(move |run| (side, run))) {
        let config = run.config.settings();
        let value = |k: &String| (k.clone(), config.get(k).cloned().unwrap_or_else(|| "none".into()));
        let values = swept.get(&run.case).into_iter().flatten().map(value).collect();
        let seeds = &mut points.entry((run.case.clone(), values)).or_default()[side];
        let twice = seeds.keys().filter(|k| k.0 == run.seed).count();
        seeds.insert((run.seed, twice), run);
    }
    points
}

fn differences(x: &Results, y: &Results) -> Found {
    let mut found = Found::default();
    for ((case, values), [mine, theirs]) in by_point([x, y]) {
        let case = case.to_string() + &values.iter().map(|(k, v)| format!(", {k} = {v}")).collect::<String>();
        for (side, (one, other)) in [(&mine, &theirs), (&theirs, &mine)].into_iter().enumerate() {
            let lonely = one.keys().filter(|k| !other.contains_key(k));
            found.only[side].extend(lonely.map(|(seed, _)| format!("{case}, seed {seed}")));
        }
        let mut numbers: BTreeMap<Number, Vec<((f64, bool), (f64, bool))>> = BTreeMap::new();
        for (a, b) in mine.iter().filter_map(|(k, a)| Some((a, theirs.get(k)?))) {
            let known = found.fingerprints.len() + found.places.len();
            let (p, q) = (a.config.settings(), b.config.settings());
            let text = |v: Option<&String>| v.cloned().unwrap_or_else(|| "none".into());
            let keys = p.keys().chain(q.keys()).filter(|k| p.get(*k) != q.get(*k));
            let mut alike = keys.clone().next().is_none();
            found
                .configuration
                .extend(keys.map(|k| [case.clone(), k.clone(), text(p.get(k)), text(q.get(k))]));
            let here = format!("{case}, seed {}", a.seed);
            found.fingerprints.extend((a.fingerprint != b.fingerprint).then(|| here.clone()));
            let (p, q) = (a.of_places(), b.of_places());
            let of: BTreeSet<&String> = p.keys().chain(q.keys()).filter(|k| p.get(*k) != q.get(*k)).collect();
            let stood = (a.frozen != b.frozen).then(|| "where the network stood".to_string());
            found.places.extend(of.into_iter().cloned().chain(stood).map(|told| format!("{here}: {told}")));
            let (p, q) = (quantities(a), quantities(b));
            alike &= p == q && known == found.fingerprints.len() + found.places.len();
            for number in p.keys().chain(q.keys()).collect::<BTreeSet<_>>() {
                let of = |all: &BTreeMap<Number, f64>| (all.get(number).copied().unwrap_or(f64::NAN), false);
                numbers.entry(number.clone()).or_default().push((of(&p), of(&q)));
            }
            found.equal += usize::from(alike);
        }
        for ((name, id, unit), values) in numbers {
            let same = values.iter().all(|(a, b)| a.0.to_bits() == b.0.to_bits());
            let Some(pairs) = Pairs::new(&values).filter(|_| !same) else { continue };
            let (own, base) = (String::new(), String::new());
            found.rows.push(Row { place: case.clone(), own, base, name, id, unit, pairs });
        }
    }
    found
}

fn told(found: &Found) -> Value {
    let finite = |v: f64| v.is_finite().then_some(v);
    let row = |r: &Row| {
        json!({
            "case": r.place, "quantity": r.title(), "unit": r.unit, "first": finite(r.pairs.means[0]),
            "second": finite(r.pairs.means[1]), "difference": finite(r.pairs.difference.mean),
            "ci95": r.pairs.interval(), "seeds": r.pairs.difference.n, "verdict": r.pairs.verdict(),
        })
    };
    let change = |c: &[String; 4]| json!({"case": c[0], "key": c[1], "first": c[2], "second": c[3]});
    json!({
        "schema": 1, "equal": found.equal, "only_first": found.only[0], "only_second": found.only[1],
        "configuration": found.configuration.iter().map(change).collect::<Vec<_>>(),
        "fingerprints": found.fingerprints, "places": found.places, "differences": found.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// The printed differences.
fn text(found: &Found, files: [&Path; 2]) -> String {
    let mut out = Vec::new();
    let [a, b] = [&found.only[0], &found.only[1]];
    out.push(format!(
        "{} runs equal, {} only in {}, {} only in {}",
        found.equal,
        a.len(),
        files[0].display(),
        b.len(),
        files[1].display()
    ));
    let mut list = |title: String, lines: &[String]| {
        if lines.is_empty() {
            return;
        }
        out.push(format!("\n{title}"));
        lines.iter().take(TOLD).for_each(|l| out.push(format!("  {l}")));
        if lines.len() > TOLD {
            out.push(format!("  and {} more (--json lists all)", lines.len() - TOLD));
        }
    };
    list(format!("Only in {}", files[0].display()), a);
    list(format!("Only in {}", files[1].display()), b);
    let changed =
        |c: &[String; 4]| format!("{}: {} is {} in the first, {} in the second", c[0], c[1], c[2], c[3]);
    list("Configuration changed".into(), &found.configuration.iter().map(changed).collect::<Vec<_>>());
    list("Other fingerprints".into(), &found.fingerprints);
    list("Other records of places over time".into(), &found.places);
    if found.rows.is_empty() {
        return out.join("\n");
    }
    let mut places: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    found.rows.iter().take(TOLD * 10).for_each(|r| places.entry(&r.place).or_default().push(r));
    for (case, rows) in places {
        out.push(format!("\n{case}\n{}", table(&rows, ["first", "second"], true)));
    }
    if found.rows.len() > TOLD * 10 {
        out.push(format!("and {} more (--json lists all)", found.rows.len() - TOLD * 10));
    }
    let over = seeds(&found.rows);
    out.push(format!("\nA difference is the mean over {over}, second less first, ± its 95 % interval."));
    out.join("\n")
}

/// All metrics of these runs beside the baseline, and the number of cases without a partner in the baseline.
fn rows(all: &Results, asked: &str) -> Result<(Baseline, Vec<Row>, u64), Failure> {
    let points = points(&all.runs)?;
    let baseline = Baseline::read(asked, &points)?;
    if points.iter().all(|p| baseline.is(p)) {
        return Err(Failure::input(format!(
            "all runs are the baseline {}\n  help: {}",
            baseline.text(),
            choices(&points)
        )));
    }
    let (mut rows, mut alone) = (Vec::new(), 0);
    for p in points.iter().filter(|p| !baseline.is(p)) {
        let mut bases = baseline.of(p, &points);
        bases.retain(|(b, _)| b.seeds.keys().any(|seed| p.seeds.contains_key(seed)));
        alone += u64::from(bases.is_empty());
        let names: Vec<&str> =
            std::iter::once("").chain(p.run.traffic.iter().map(|t| t.name.as_str())).collect();
        for (base, title) in bases {
            let rest = baseline.rest(p, base);
            for (name, metric) in names.iter().flat_map(|name| METRICS.iter().map(move |m| (*name, m))) {
                let Some(pairs) = Pairs::of(&base.seeds, &p.seeds, name, metric) else { continue };
                let (place, own, base) = (rest.clone(), baseline.own(p), title.clone());
                let (name, id, unit) = (name.into(), metric.id.into(), metric.unit.into());
                rows.push(Row { place, own, base, name, id, unit, pairs });
            }
        }
    }
    Ok((baseline, rows, alone))
}

/// Compares all runs of these results with those of the baseline.
fn beside(files: Vec<Results>, text: &str, asked: &[&'static Metric], as_json: bool) -> Done {
    let all = Results::new("compare", None, files.into_iter().flat_map(|f| f.runs).collect());
    let (baseline, rows, alone) = rows(&all, text)?;
    if rows.is_empty() {
        return Err(Failure::input(format!(
            "nothing can be paired with {}\n  help: the others must have run under the same seeds, and differ from it in that alone",
            baseline.text()
        )));
    }
    if as_json {
        let wanted = |r: &&Row| asked.is_empty() || asked.iter().any(|m| r.id == m.id);
        let row = |r: &Row| {
            json!({
                "place": r.place, "case": r.own, "beside": r.base, "traffic": r.name, "metric": r.id, "unit": r.unit,
                "baseline": r.pairs.means[0], "value": r.pairs.means[1], "at_least": r.pairs.bounds,
                "difference": r.pairs.difference.mean, "ci95": r.pairs.interval(), "seeds": r.pairs.difference.n,
                "verdict": r.pairs.verdict(),
            })
        };
        let rows: Vec<_> = rows.iter().filter(wanted).map(row).collect();
        println!("{}", json!({"schema": 1, "baseline": baseline.text(), "rows": rows, "unpaired": alone}));
        return Ok(());
    }
    notes::print(&all.runs);
    tell(&rows, asked);
    if alone > 0 {
        println!(
            "{} left out: no run of {} has the same seed and is alike in all else.",
            look::count(alone, "case"),
            baseline.text()
        );
    }
    Ok(())
}

fn tell(rows: &[Row], asked: &[&'static Metric]) {
    let wanted = |r: &&Row| match asked {
        [] => COMPARED.iter().any(|m| m.text() == r.id),
        asked => asked.iter().any(|m| r.id == m.id),
    };
    let rank = |r: &Row| COMPARED.iter().position(|m| m.text() == r.id);
    let places: IndexSet<[&str; 3]> =
        rows.iter().filter(wanted).map(|r| [&*r.place, &*r.own, &*r.base]).collect();
    for at @ [place, own, base] in places {
        let here = |r: &&Row| [&r.place, &r.own, &r.base] == at;
        let mut mine: Vec<&Row> = rows.iter().filter(wanted).filter(here).collect();
        let all = mine.len();
        mine.retain(|r| r.pairs.changes());
        mine.sort_by_key(|r| (r.name.clone(), rank(r)));
        let title = format!("{place}: {own} beside {base}");
        println!("{}", paint(&title, Colour::Bold, look::colour_on_stdout()));
        if !mine.is_empty() {
            println!("{}", table(&mine, ["baseline", "here"], false));
        }
        if all > mine.len() {
            let equal = look::count((all - mine.len()) as u64, "further metric");
            let are = if all - mine.len() == 1 { "is" } else { "are" };
            println!("{equal} {are} equal under every seed.");
        }
        println!();
    }
    let over = seeds(rows);
    println!(
        "A difference is the mean over {over}, each less the baseline under the same seed, ± its 95 % interval. \"undecided\" without a reason: the interval contains zero. Each interval stands alone: of twenty without a true difference, one would miss zero."
    );
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
