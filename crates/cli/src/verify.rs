//! `cnsim verify`: repeats the runs of a results.json from their configurations and reports each difference.

use crate::look;
use crate::request::{refuse_huge, threads};
use crate::{Common, Done, Failure};
use cnsim_fabric::Engine;
use cnsim_measure::frozen::Frozen;
use cnsim_measure::quantity::Quantity;
use cnsim_problem::{read_file, told};
use cnsim_runs::files::LARGEST;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::{Results, series_csv, series_file};
use cnsim_runs::run::{Job, Watch, run_jobs};
use cnsim_runs::store::RESULT_VERSION;
use cnsim_scenario::Scenario;
use cnsim_scheme_api::Registry;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Largest number of reported differences of a run, and of reported runs.
const TOLD: usize = 8;

/// `asked` is the number of threads (0 = all cores) and the engine.
pub(crate) fn verify(file: &Path, (asked, engine): (usize, Engine), force: bool, common: &Common) -> Done {
    let all = Results::read(file).map_err(Failure::Input)?;
    if all.runs.is_empty() {
        return Err(Failure::input(format!("{}: holds no run: there is nothing to verify", file.display())));
    }
    let mut jobs = Vec::new();
    for run in &all.runs {
        let job = job(&common.registry, run)
            .map_err(|e| Failure::input(format!("{}: {}: {e}", file.display(), run.title())))?;
        jobs.push(Job { engine, ..job });
    }
    refuse_huge(&jobs, force)?;
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch, false);
    let mut again = repeat(&jobs, asked, &watch, common)?;
    // Where a series is listed that is not among the key ones, all were kept.
    let folder = file.parent().unwrap_or(Path::new("."));
    let more: Vec<usize> = (0..jobs.len()).filter(|&i| !stray(&all.runs[i], &again[i]).is_empty()).collect();
    if !more.is_empty() {
        let wide: Vec<Job> = more.iter().map(|&i| Job { all_series: true, ..jobs[i].clone() }).collect();
        for (i, record) in more.into_iter().zip(repeat(&wide, asked, &watch, common)?) {
            again[i] = record;
        }
    }
    let (mut differ, mut absent, mut series) = (Vec::new(), 0, 0);
    for ((run, record), job) in all.runs.iter().zip(&again).zip(&jobs) {
        let mut lines = differences(run, record, job);
        for name in record.over_time.series.keys() {
            let listed = series_file(record, name);
            if !run.files.contains(&listed) {
                continue;
            }
            let path = folder.join(&listed);
            match read_file(&path, LARGEST) {
                _ if !path.exists() => absent += 1,
                Ok(text) if text == series_csv(name, &record.over_time.series[name]) => series += 1,
                Ok(_) => lines.push(format!("{listed}: the run gives another series")),
                Err(e) => lines.push(format!("{listed}: {e}")),
            }
        }
        if !lines.is_empty() {
            let lines = first(lines, TOLD, "and", "");
            differ.push(format!("  {}\n    {}", run.title(), lines.join("\n    ")));
        }
    }
    if absent > 0 {
        eprintln!("note: {absent} series files are not beside {} and were not compared", file.display());
    }
    if let Some(text) = misfit(&all, file, differ) {
        return Err(Failure::Differs(text));
    }
    let with = if series > 0 { format!(", {series} series") } else { String::new() };
    println!("{} runs verified{with}: the same bits", all.runs.len());
    if let Some(p) = all.partial {
        println!("{}", p.text());
    }
    Ok(())
}

/// The first lines, and the number of the others.
fn first(mut lines: Vec<String>, most: usize, and: &str, what: &str) -> Vec<String> {
    let hidden = lines.len().saturating_sub(most);
    lines.truncate(most);
    lines.extend((hidden > 0).then(|| format!("{and} {hidden} more{what}")));
    lines
}

/// Why a file is not verified, where these runs differ; none if all is well.
fn misfit(all: &Results, file: &Path, differ: Vec<String>) -> Option<String> {
    let changed = all.sum() != all.checksum;
    if differ.is_empty() && !changed {
        return None;
    }
    let mut said = Vec::new();
    if changed {
        said.push(format!("{}: was changed after it was written: its checksum does not fit", file.display()));
    }
    if all.result_version != RESULT_VERSION {
        let theirs = all.result_version;
        said.push(format!(
            "it holds results of version {theirs}, this program's are of version {RESULT_VERSION}"
        ));
    }
    if differ.is_empty() {
        said.push("what the runs themselves say is the same".into());
    } else {
        said.push(format!("{} of {} runs differ:", differ.len(), all.runs.len()));
        said.extend(first(differ, TOLD * 4, "  and", " runs"));
    }
    Some(said.join("\n"))
}

/// The job that a run's configuration describes.
fn job(registry: &Registry, run: &RunRecord) -> Result<Job, String> {
    let (scenario, case) = Scenario::from_config(registry, &run.config).map_err(told)?;
    let ready = scenario.ready(&case).map_err(told)?;
    Ok(Job::new(case, ready, run.seed))
}

fn repeat(
    jobs: &[Job],
    asked: usize,
    watch: &Arc<Watch>,
    common: &Common,
) -> Result<Vec<RunRecord>, Failure> {
    let work = jobs.iter().map(|j| j.ready.estimate().packet_hops).sum();
    let records = look::with_progress(jobs.len() as u64, work, watch, common.quiet, || {
        run_jobs(jobs, None, threads(asked), watch)
    });
    let records: Option<Vec<RunRecord>> = records?.into_iter().collect();
    records.ok_or_else(|| Failure::Interrupted("interrupted before all runs were verified".into()))
}

/// Listed series that a run does not give.
fn stray<'a>(run: &'a RunRecord, record: &RunRecord) -> Vec<&'a String> {
    let known: BTreeSet<String> =
        record.over_time.series.keys().map(|name| series_file(record, name)).collect();
    run.files.iter().filter(|s| !known.contains(*s)).collect()
}

/// Values of a run in the file and in the repeated run, if they differ.
fn differences(said: &RunRecord, is: &RunRecord, job: &Job) -> Vec<String> {
    let mut lines = Vec::new();
    if said.case != is.case {
        lines.push(format!("it is of {}, its configuration of {}", said.case, is.case));
    }
    let (a, b) = (said.config.leaves(), job.ready.config.leaves());
    lines.extend(unequal("configuration", &a, &b, &|v| v.clone()));
    lines.extend(unequal("fingerprint of", &said.fingerprint, &is.fingerprint, &|v| v.clone()));
    let shown = |q: &Quantity| format!("{}{} {}", look::at_least(q.at_least), q.value, q.unit);
    lines.extend(unequal("metric", &said.metrics.0, &is.metrics.0, &shown));
    let names = |r: &RunRecord| r.traffic.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    if names(said) != names(is) {
        lines.push(format!("traffic is {:?}, the run gives {:?}", names(said), names(is)));
    }
    for (a, b) in said.traffic.iter().zip(&is.traffic).filter(|(a, b)| a.name == b.name) {
        lines.extend(unequal(&format!("traffic {}: metric", a.name), &a.metrics.0, &b.metrics.0, &shown));
    }
    lines.extend(unequal("counter", &said.counters, &is.counters, &|v| v.to_string()));
    lines.extend(unequal("port", &said.ports, &is.ports, &json));
    lines.extend(unequal("the record of", &said.of_places(), &is.of_places(), &|v| v.clone()));
    if said.frozen != is.frozen {
        let text = |f: &Option<Frozen>| f.as_ref().map_or_else(|| "not frozen".into(), Frozen::text);
        lines.push(format!("it is {}, the run is {}", text(&said.frozen), text(&is.frozen)));
    }
    if said.execution.packet_hops != is.execution.packet_hops {
        lines.push(format!(
            "packet_hops is {}, the run gives {}",
            said.execution.packet_hops, is.execution.packet_hops
        ));
    }
    lines.extend(stray(said, is).iter().map(|s| format!("{s}: the run gives no such series")));
    lines
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Entries in which two tables differ.
fn unequal<T: PartialEq>(
    what: &str,
    said: &BTreeMap<String, T>,
    is: &BTreeMap<String, T>,
    show: &dyn Fn(&T) -> String,
) -> Vec<String> {
    let keys: BTreeSet<&String> = said.keys().chain(is.keys()).collect();
    let line = |key: &String| match (said.get(key), is.get(key)) {
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) => Some(format!("{what} {key} is {}, the run gives {}", show(a), show(b))),
        (None, Some(b)) => Some(format!("{what} {key} is missing, the run gives {}", show(b))),
        (Some(a), None) => Some(format!("{what} {key} is {}, the run has none", show(a))),
        (None, None) => None,
    };
    keys.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told() {
        let file = Path::new("r.json");
        let runs = vec![RunRecord::default(); 40];
        let mut all = Results::new("run x", None, runs);
        assert_eq!(misfit(&all, file, Vec::new()), None);
        let told = |all: &Results, n: usize| {
            misfit(all, file, (0..n).map(|i| format!("  run {i}")).collect()).unwrap_or_default()
        };
        assert_eq!(told(&all, 2), "2 of 40 runs differ:\n  run 0\n  run 1");
        // Four times eight are named.
        assert!(
            told(&all, 32).ends_with("\n  run 31")
                && told(&all, 34).ends_with("\n  run 31\n  and 2 more runs")
        );
        all.command = "run y".into();
        let changed = "r.json: was changed after it was written: its checksum does not fit";
        assert_eq!(told(&all, 0), format!("{changed}\nwhat the runs themselves say is the same"));
        all.result_version += 1;
        all.checksum = all.sum();
        let theirs = RESULT_VERSION + 1;
        let version =
            format!("it holds results of version {theirs}, this program's are of version {RESULT_VERSION}");
        assert_eq!(told(&all, 1), format!("{version}\n1 of 40 runs differ:\n  run 0"));
        assert_eq!(first(vec!["a".into(), "b".into()], 2, "and", ""), ["a", "b"]);
        assert_eq!(first(vec!["a".into(), "b".into()], 1, "and", ""), ["a", "and 1 more"]);
    }
}
