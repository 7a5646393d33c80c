//! `cnsim run`, `verify`, `compare`.

use crate::look::{self, Colour, paint};
use crate::reproduce::{measured, refuse_huge, series_file, threads, write, write_series};
use crate::{Common, Done, Failure, RunArgs, pairs};
use cnsim_scheme_api::Registry;
use cnsim_studies::files::{digits, results_json};
use cnsim_studies::metrics::METRICS;
use cnsim_studies::scenario::{Case, Scenario};
use cnsim_studies::store::RunRecord;
use cnsim_studies::study::{Job, Watch, run_job, run_jobs};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &RunArgs, common: &Common) -> Done {
    let sets = pairs(&args.sets)?;
    let asked = match &args.scheme {
        None => None,
        Some(s) => {
            let found = common.registry.find(s).ok_or_else(|| unknown_scheme(&common.registry, s))?;
            Some(found.name.as_str())
        }
    };
    let scenario = Scenario::load_in(&common.registry, &args.scenario, &sets, asked.as_slice())?;
    let cases = scenario.cases();
    let first = first_case(&cases, asked)?;
    let set_pause = sets.iter().find(|s| s.0 == "pause.mode").map(|s| s.1.as_str());
    let pause = args.pause.as_deref().or(set_pause);
    let mut case = match &args.condition {
        None => {
            let (pause, scheme) = (pause.unwrap_or(&first.pause), asked.unwrap_or(&first.scheme));
            scenario.case(first.group, first.row.clone(), pause, scheme)
        }
        Some(text) => condition_of(&scenario, text, pause, asked, first)?,
    };
    // A key set on the command line wins over the matrix.
    let mut row = std::mem::take(&mut case.row);
    row.retain(|(k, _)| args.condition.is_some() || !sets.iter().any(|s| s.0 == *k));
    let case = scenario.case(case.group, row, &case.pause, &case.scheme);
    let ready = scenario.ready(&case)?;
    let job = Job { all_series: args.series == "all", ..Job::new(&scenario, case, ready, args.seed) };
    refuse_huge(std::slice::from_ref(&job), args.force)?;
    if common.verbose {
        eprintln!("effective configuration: {:#}", job.ready.config);
    }
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch);
    let started = std::time::Instant::now();
    let record = look::with_progress(1, job.ready.settings.packet_hops(), &watch, common.quiet, || {
        run_job(&job, None, &watch, args.threads.min(64))
    });
    let Some(record) = record.map_err(Failure::Run)? else {
        return Err(Failure::Interrupted("interrupted: nothing was written".into()));
    };
    let files: Vec<String> = match args.series.as_str() {
        "none" => Vec::new(),
        _ => {
            write_series(&args.out, &record)?;
            record.series.keys().map(|n| series_file(&record, n)).collect()
        }
    };
    let json = results_json(std::slice::from_ref(&record), &|_| files.clone());
    let text = serde_json::to_string(&json).map_err(|e| Failure::Run(e.to_string()))?;
    let path = args.out.join("results.json");
    write(&path, text.as_bytes())?;
    if args.json {
        println!("{text}");
        return Ok(());
    }
    let colour = look::colour_on_stdout();
    println!(
        "{}",
        paint(
            &format!(
                "{}, {}, PAUSE {}, {}, seed {}",
                scenario.id(),
                record.condition,
                record.pause,
                record.scheme,
                record.seed
            ),
            Colour::Bold,
            colour
        )
    );
    let rows: Vec<Vec<String>> = METRICS
        .iter()
        .filter_map(|m| Some(vec![m.id.to_string(), digits(*record.metrics.get(m.id)?), m.unit.to_string()]))
        .chain(record.counters.iter().map(|(k, v)| vec![k.clone(), v.to_string(), String::new()]))
        .collect();
    println!("{}", look::table(&["metric", "value", "unit"], &rows, true));
    if let Some(q) = record.series.get("hot_queue") {
        println!(
            "hot queue  {}  up to {:.0} KB",
            look::spark(&q.values, 60),
            q.values.iter().copied().fold(0.0, f64::max)
        );
    }
    let f = &record.fingerprint;
    println!("fingerprint {} {} {} (events, frames, samples)", f["events"], f["frames"], f["samples"]);
    if !common.quiet {
        let s = started.elapsed().as_secs_f64();
        eprintln!("{} packet-hops in {s:.2} s; results in {}", record.packet_hops, path.display());
    }
    Ok(())
}

/// The first case of the scheme asked for; a scheme that the scenario does not run takes the first case's place.
pub(crate) fn first_case<'a>(cases: &'a [Case], scheme: Option<&str>) -> Result<&'a Case, Failure> {
    let first = cases.iter().find(|c| scheme.is_none_or(|s| s == c.scheme)).or(cases.first());
    first.ok_or_else(|| Failure::input("the scenario has no case\n  help: give its matrix a scheme"))
}

/// The case of a condition as it is written on the command line; `example` shows how another is written.
pub(crate) fn condition_of(
    scenario: &Scenario,
    text: &str,
    pause: Option<&str>,
    scheme: Option<&str>,
    example: &Case,
) -> Result<Case, Failure> {
    scenario.case_named(text, pause, scheme).ok_or_else(|| {
        Failure::input(format!(
            "the condition `{text}` does not fit this scenario's templates\n  help: write for example \"{}\"",
            example.condition
        ))
    })
}

/// The error for a scheme that does not exist.
pub(crate) fn unknown_scheme(registry: &Registry, name: &str) -> Failure {
    let near = cnsim_studies::text::nearest(name, registry.names());
    let hint = near.map_or_else(String::new, |n| format!("did you mean `{n}`? "));
    Failure::input(format!("there is no scheme `{name}`\n  help: {hint}`cnsim list schemes` shows them"))
}

fn read(path: &Path) -> Result<serde_json::Value, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    if json["schema"] != 1 || !json["runs"].is_array() {
        return Err(Failure::input(format!("{}: not a results.json of schema 1", path.display())));
    }
    Ok(json)
}

pub(crate) fn verify(file: &Path, asked: usize, common: &Common) -> Done {
    let json = read(file)?;
    let runs = json["runs"].as_array().cloned().unwrap_or_default();
    let mut jobs = Vec::new();
    for r in &runs {
        let (scenario, case) = Scenario::from_config(&common.registry, &r["config"])?;
        let ready = scenario.ready(&case)?;
        let name =
            (r["study"].as_str().unwrap_or("").to_string(), r["scenario"].as_str().unwrap_or("").to_string());
        jobs.push(Job {
            scenario: name,
            case,
            ready,
            seed: r["seed"].as_u64().unwrap_or(1),
            all_series: false,
        });
    }
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch);
    let work = jobs.iter().map(|j| j.ready.settings.packet_hops()).sum();
    let records = look::with_progress(jobs.len() as u64, work, &watch, common.quiet, || {
        run_jobs(&jobs, None, threads(asked), &watch)
    });
    let records: Vec<Option<RunRecord>> = records.map_err(Failure::Run)?;
    let mut differ = Vec::new();
    for (r, record) in runs.iter().zip(&records) {
        let Some(record) = record else {
            return Err(Failure::Interrupted("interrupted before all runs were verified".into()));
        };
        let same = record.fingerprint.iter().all(|(k, v)| r["fingerprint"][k].as_str() == Some(v));
        if !same {
            differ.push(format!(
                "  {}/{} {}, PAUSE {}, {}, seed {}",
                record.study, record.scenario, record.condition, record.pause, record.scheme, record.seed
            ));
        }
    }
    if differ.is_empty() {
        println!("{} runs verified: the same bits", runs.len());
        return Ok(());
    }
    Err(Failure::Differs(format!("{} of {} runs differ:\n{}", differ.len(), runs.len(), differ.join("\n"))))
}

pub(crate) fn compare(a: &Path, b: &Path) -> Done {
    let (x, y) = (read(a)?, read(b)?);
    let key = |r: &serde_json::Value| -> String {
        let f = |k: &str| r[k].as_str().unwrap_or("").to_string();
        format!(
            "{}/{}, {}, PAUSE {}, {}, seed {}",
            f("study"),
            f("scenario"),
            f("condition"),
            f("pause"),
            f("scheme"),
            r["seed"]
        )
    };
    let empty = Vec::new();
    let theirs = y["runs"].as_array().unwrap_or(&empty);
    let (mut same, mut rows, mut missing) = (0, Vec::new(), 0);
    for r in x["runs"].as_array().unwrap_or(&empty) {
        let Some(o) = theirs.iter().find(|o| key(o) == key(r)) else {
            missing += 1;
            continue;
        };
        if r["fingerprint"] == o["fingerprint"] && r["metrics"] == o["metrics"] {
            same += 1;
            continue;
        }
        for (metric, v) in r["metrics"].as_object().into_iter().flatten() {
            let (p, q) =
                (v["value"].as_f64().unwrap_or(0.0), o["metrics"][metric]["value"].as_f64().unwrap_or(0.0));
            if p != q {
                rows.push(vec![
                    key(r),
                    metric.clone(),
                    digits(p),
                    digits(q),
                    measured(q - p, 0.0).replace(" ± 0.00", "").replace(" ± 0.000", ""),
                ]);
            }
        }
    }
    println!("{same} runs equal, {missing} only in {}", a.display());
    if !rows.is_empty() {
        println!("{}", look::table(&["run", "metric", "first", "second", "difference"], &rows, false));
    }
    Ok(())
}
