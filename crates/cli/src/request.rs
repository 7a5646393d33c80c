//! Requests of a command line: files or names, cases, schemes, metrics, seeds and threads; and limits of time and memory.

use crate::{Common, Done, Failure};
use cnsim_advice::notes::{before, few_seeds, of_settings};
use cnsim_advice::unfinished::FINISHED;
use cnsim_problem::Problem;
use cnsim_report::build::caption;
use cnsim_runs::run::Job;
use cnsim_scenario::keys::MAX_SEEDS;
use cnsim_scenario::metrics::{self, METRICS, Metric};
use cnsim_scenario::settings::Estimate;
use cnsim_scenario::{Case, Ready, Scenario};
use cnsim_scheme_api::Registry;
use cnsim_units::UnitError;
use indexmap::{IndexMap, IndexSet};
use std::str::FromStr;

/// A quantity of the command line, or how to write it.
pub(crate) fn quantity<T: FromStr<Err = UnitError>>(key: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|e: UnitError| {
        Failure::input(format!("--{key} {text}: {}\n  help: write for example \"{}\"", e.reason, e.example))
    })
}

/// Is this meant as a file, not as a name?
pub(crate) fn is_file(name: &str) -> bool {
    name == "-" || name.ends_with(".toml") || std::path::Path::new(name).is_file()
}

/// Seconds of CPU and bytes beyond which a request needs --force.
pub(crate) const HUGE_SECONDS: f64 = 4.0 * 3600.0;

pub(crate) const HUGE_BYTES: f64 = 8e9;

/// Packet-hops a CPU-second assumed by estimates.
pub(crate) const ASSUMED_SPEED: f64 = 12e6;

pub(crate) fn refuse_no_seeds(seeds: u64) -> Done {
    match seeds {
        0 => Err(Failure::input("--seeds 0 runs nothing; use at least 1 (2 for intervals)")),
        n if n > MAX_SEEDS => {
            Err(Failure::input(format!("--seeds {n} is out of range\n  help: 1 to {MAX_SEEDS}")))
        }
        _ => Ok(()),
    }
}

/// Number of threads asked for, or all cores.
pub(crate) fn threads(asked: usize) -> usize {
    if asked > 0 { asked.min(256) } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// Estimated cost of each run; equal for the runs of a case.
fn estimates(jobs: &[Job]) -> Vec<Estimate> {
    let mut all: Vec<Estimate> = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        let same = i > 0 && jobs[i - 1].ready.config == job.ready.config;
        all.push(if same { all[i - 1] } else { job.ready.estimate() });
    }
    all
}

/// Refuses runs that would take hours or fill the memory.
pub(crate) fn refuse_huge(jobs: &[Job], force: bool) -> Done {
    let all = estimates(jobs);
    let hops: f64 = all.iter().map(|e| e.packet_hops).sum();
    let most = all.iter().map(|e| e.memory).fold(0.0, f64::max);
    // A run on each core at a time, and what stays of each until all are finished.
    let memory = most * threads(0).min(jobs.len()) as f64 + all.iter().map(|e| e.kept).sum::<f64>();
    let seconds: f64 = all.iter().map(|e| e.seconds).sum();
    if !force && (seconds > HUGE_SECONDS || memory > HUGE_BYTES) {
        return Err(Failure::input(format!(
            "this is huge: about {hops:.1e} packet-hops, {:.1} CPU-hours, {:.1} GB of memory\n  help: shorten run.duration, use fewer hosts or seeds, or insist with --force",
            seconds / 3600.0,
            memory / 1e9
        )));
    }
    Ok(())
}

/// Largest number of notes that are printed one by one.
const NOTES: usize = 8;

/// Notes on the results before the runs: each once, with its conditions and PAUSE modes.
#[derive(Default)]
pub(crate) struct Notes {
    all: IndexMap<String, IndexSet<String>>,
}

impl Notes {
    pub(crate) fn add(&mut self, case: &Case, ready: &Ready) {
        for text in of_settings(ready).into_iter().chain(before(ready)) {
            self.say(case, text);
        }
    }

    fn say(&mut self, case: &Case, text: String) {
        self.all.entry(text).or_default().insert(case.id.place());
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// A line each of the first ones, and how many there are beside.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(text, places): (&String, &IndexSet<String>)| {
            let more = match places.len() - 1 {
                0 => String::new(),
                1 => " (and 1 more condition)".into(),
                n => format!(" (and {n} more conditions)"),
            };
            format!("{}{more}: {text}", places[0])
        };
        let first = self.all.iter().take(NOTES).map(line);
        let hidden = self.all.len().saturating_sub(NOTES);
        first.chain((hidden > 0).then(|| format!("and {hidden} more"))).collect()
    }
}

/// Prints the notes on the results before the runs.
pub(crate) fn tell_notes(jobs: &[Job], common: &Common) {
    if common.quiet {
        return;
    }
    let mut notes = Notes::default();
    for (i, job) in jobs.iter().enumerate() {
        let other = |j: Option<&Job>| j.is_none_or(|j| j.ready.config != job.ready.config);
        if i == 0 || other(jobs.get(i - 1)) {
            notes.add(&job.case, &job.ready);
            let seeds = if other(jobs.get(i + 1)) { 1 } else { 2 };
            few_seeds(&job.ready, seeds).into_iter().for_each(|text| notes.say(&job.case, text));
        }
    }
    notes.lines().iter().for_each(|note| eprintln!("note: {note}"));
}

/// Estimated cost of a whole scenario, with all cases and seeds.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) cases: usize,
    pub(crate) runs: u64,
    pub(crate) packet_hops: f64,
    pub(crate) seconds: f64,
    /// Bytes of the largest run.
    pub(crate) memory: f64,
    pub(crate) notes: Notes,
    /// Networks of its cases, each once.
    pub(crate) networks: IndexSet<String>,
}

impl Cost {
    /// Sums the cost of all cases of a scenario.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, Vec<Problem>> {
        let mut cost = Self::default();
        for case in scenario.cases() {
            let (ready, seeds) = (scenario.ready(&case)?, scenario.seeds_of(&case));
            let one = ready.estimate();
            cost.cases += 1;
            cost.runs += seeds;
            cost.packet_hops += one.packet_hops * seeds as f64;
            cost.seconds += one.seconds * seeds as f64;
            cost.memory = cost.memory.max(one.memory);
            cost.notes.add(&case, &ready);
            cost.networks.insert(caption(&ready));
            few_seeds(&ready, seeds).into_iter().for_each(|text| cost.notes.say(&case, text));
        }
        Ok(cost)
    }
}

/// Runs beyond which a request needs --force.
const MANY: usize = 10_000;

/// Refuses more runs than anyone wants by mistake.
pub(crate) fn refuse_many(jobs: &[Job], force: bool) -> Done {
    if !force && jobs.len() > MANY {
        return Err(Failure::input(format!(
            "this is huge: {} runs\n  help: use fewer values, schemes or seeds, or insist with --force",
            jobs.len()
        )));
    }
    refuse_huge(jobs, force)
}

/// Metrics by their names; before times of flows stands the share of flows that finished.
pub(crate) fn wanted(names: &[String]) -> Result<Vec<&'static Metric>, Failure> {
    let one = |name: &String| {
        metrics::find(name.trim()).ok_or_else(|| {
            let near = cnsim_scenario::meant::metric(name);
            let parts = name.rsplit_once('.').or_else(|| name.split_once(" of ").map(|(id, of)| (of, id)));
            let of_name = parts.and_then(|(of, id)| Some((of, metrics::find(id)?.id)));
            let hint = match (of_name, near) {
                (Some((of, id)), _) => format!("`--metric {id}` shows the rows of every name, `{of}` too. "),
                (_, Some(n)) => format!("did you mean `{n}`? "),
                _ => String::new(),
            };
            Failure::input(format!(
                "there is no metric `{name}`\n  help: {hint}`cnsim list metrics` shows them"
            ))
        })
    };
    let mut all: Vec<&'static Metric> = names.iter().map(one).collect::<Result<_, _>>()?;
    let finished = |m: &&Metric| m.id == FINISHED;
    if let (Some(at), false) = (all.iter().position(|m| m.times.is_some()), all.iter().any(finished)) {
        all.splice(at..at, METRICS.iter().find(finished));
    }
    Ok(all)
}

/// The first case of the scheme asked for; a scheme that the scenario does not run takes the first case's place.
pub(crate) fn first_case<'a>(cases: &'a [Case], scheme: Option<&str>) -> Result<&'a Case, Failure> {
    let first = cases.iter().find(|c| scheme.is_none_or(|s| s == c.id.scheme)).or(cases.first());
    first.ok_or_else(|| Failure::input("the scenario has no case\n  help: give its matrix a scheme"))
}

/// The case of a condition as it is written on the command line.
pub(crate) fn condition_of(
    scenario: &Scenario,
    text: &str,
    pause: Option<&str>,
    scheme: Option<&str>,
) -> Result<Case, Failure> {
    let case = scenario.case_asked(text, pause, scheme);
    case.map_err(|(reason, remedy)| Failure::input(format!("{reason}\n  help: {remedy}")))
}

/// Schemes by their registered names.
pub(crate) fn schemes(registry: &Registry, asked: &[String]) -> Result<Vec<String>, Failure> {
    let one = |s: &String| {
        registry.find(s.trim()).map(|e| e.name.clone()).ok_or_else(|| unknown_scheme(registry, s))
    };
    asked.iter().map(one).collect()
}

/// The error for a scheme that does not exist.
fn unknown_scheme(registry: &Registry, name: &str) -> Failure {
    if name.contains(',') {
        return Failure::input(format!(
            "`{name}`: one scheme is due here\n  help: list all as schemes of [matrix], and run them with `cnsim run FILE`"
        ));
    }
    let hint = cnsim_scenario::meant::scheme(registry, name);
    Failure::input(format!("there is no scheme `{name}`\n  help: {hint}`cnsim list schemes` shows them"))
}
