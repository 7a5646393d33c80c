//! `cnsim reproduce`: a study's scenarios beside its published numbers.

use crate::experiment::{Experiment, perform};
use crate::output::quoted;
use crate::request::{is_file, refuse_no_seeds};
use crate::{Common, Done, EngineArg, Failure, ReproduceArgs};
use cnsim_papers::cells::{Cell, all_cases, not_run};
use cnsim_papers::published::{self, Published};
use cnsim_problem::{MAX_FILE, read_file};
use cnsim_runs::run::{Job, jobs};
use cnsim_scenario::tables;
use cnsim_scenario::{Case, EMBEDDED, Scenario};
use cnsim_scheme_api::{Rate, Registry};
use std::collections::BTreeSet;
use std::path::Path;

/// The scenarios that a word asks for, and which of their cases.
fn choose(registry: &Registry, what: &str) -> Result<Vec<Scenario>, Failure> {
    if what == "quick" {
        return Ok(vec![Scenario::load_in(registry, "B07/single-hop", &[], &[])?]);
    }
    let wanted = |id: &str| {
        what == "all" || id.eq_ignore_ascii_case(what) || id.split('/').any(|p| p.eq_ignore_ascii_case(what))
    };
    let ids: Vec<&str> = EMBEDDED.iter().map(|(id, _)| *id).filter(|id| wanted(id)).collect();
    if ids.is_empty() {
        let names = EMBEDDED.iter().flat_map(|(id, _)| std::iter::once(*id).chain(id.split('/')));
        let hint = cnsim_scenario::meant::did_you_mean(what, names);
        return Err(Failure::input(format!(
            "there is no study or scenario `{what}`\n  help: {hint}write quick, all, a study or STUDY/SCENARIO; `cnsim list scenarios` shows them"
        )));
    }
    ids.iter().map(|id| Ok(Scenario::load_in(registry, id, &[], &[])?)).collect()
}

/// Rates of the hot port in the tables of `quick`.
const QUICK: [Rate; 2] = [Rate::from_gbps(2.0), Rate::from_gbps(0.5)];

/// `quick` is the tables of these rates with PAUSE.
fn is_quick(case: &Case) -> bool {
    let rate = |(key, value): &(String, String)| {
        key == tables::hotspot::RATE.path && value.parse::<Rate>().is_ok_and(|rate| QUICK.contains(&rate))
    };
    case.id.pause == "on" && case.row.iter().any(rate)
}

pub(crate) fn reproduce(args: &ReproduceArgs, common: &Common) -> Done {
    let what = args.what.as_str();
    if is_file(what) {
        return Err(Failure::input(format!(
            "{what}: reproduce is for published studies\n  help: `cnsim run {what}` runs a file of your own"
        )));
    }
    let mut scenarios = choose(&common.registry, what)?;
    if let Some(seeds) = args.seeds {
        scenarios.iter_mut().for_each(|s| s.set_seeds(seeds));
    }
    let published = published_in(args.making.published.as_deref())?;
    if let (Some(file), false) = (&args.making.published, common.quiet) {
        let studies: Vec<&str> = EMBEDDED.iter().filter_map(|(id, _)| id.split('/').next()).collect();
        published::unknown(&published, &studies).iter().for_each(|l| eprintln!("{}: {l}", file.display()));
    }
    let quick = what == "quick";
    let only = args.making.only.as_ref().map(|t| t.to_lowercase());
    let keep =
        |case: &Case| (!quick || is_quick(case)) && only.as_ref().is_none_or(|t| words_of(case).contains(t));
    let mut all: Vec<Job> = Vec::new();
    let mut lost: Vec<Published> = Vec::new();
    for s in &scenarios {
        refuse_no_seeds(s.seeds)?;
        let (cases, unread) = all_cases(s, &published);
        let more = jobs(s, cases.into_iter().filter(keep)).map_err(Failure::Input)?;
        all.extend(more.into_iter().map(|job| Job { engine: args.making.engine.engine(), ..job }));
        lost.extend(unread);
    }
    if all.is_empty() {
        return Err(none_left());
    }
    let some = quick || only.is_some();
    let left = |cells: &[Cell]| left(&published, cells, &scenarios, lost.clone(), some, what == "all");
    let experiment = Experiment {
        command: command_line(args),
        what,
        own: false,
        scenarios: &scenarios,
        jobs: all,
        published: &published,
        left: &left,
        series: "key",
        captures: Vec::new(),
        json: false,
        making: &args.making,
    };
    perform(&experiment, common)
}

/// The published numbers: those of a file, or the embedded ones.
pub(crate) fn published_in(file: Option<&Path>) -> Result<Vec<Published>, Failure> {
    let found = match file {
        None => published::parse("published.csv", published::EMBEDDED),
        Some(file) => read_file(file, MAX_FILE)
            .map_err(|reason| {
                format!("{}: {reason}\n  help: name a table like published.csv", file.display())
            })
            .and_then(|text| published::parse(&file.display().to_string(), &text)),
    };
    found.map_err(Failure::Input)
}

/// The error where `--only` fits no case.
pub(crate) fn none_left() -> Failure {
    Failure::input(
        "no case is left to run\n  help: `--only` must match a part of `CONDITION, PAUSE on|off, SCHEME`",
    )
}

/// The text that `--only` searches, in lower case.
pub(crate) fn words_of(case: &Case) -> String {
    case.id.name().to_lowercase()
}

/// Published rows without a cell, each with the reason.
pub(crate) fn left(
    published: &[Published],
    cells: &[Cell],
    scenarios: &[Scenario],
    lost: Vec<Published>,
    partial: bool,
    all: bool,
) -> Vec<(Published, String)> {
    let mut left = if partial { Vec::new() } else { not_run(published, cells, scenarios) };
    left.extend(lost);
    if all && !partial {
        let known =
            |p: &&Published| scenarios.iter().any(|s| s.study == p.case.study && s.name == p.case.scenario);
        left.extend(published.iter().filter(|p| !known(p)).cloned());
    }
    let mut seen = BTreeSet::new();
    left.retain(|p| seen.insert((p.case.clone(), [&p.metric, &p.text, &p.unit, &p.note].map(String::clone))));
    let why = left.iter().map(|p| reason(p, scenarios)).collect::<Vec<_>>();
    left.into_iter().zip(why).collect()
}

fn reason(p: &Published, scenarios: &[Scenario]) -> String {
    let Some(s) = scenarios.iter().find(|s| s.study == p.case.study && s.name == p.case.scenario) else {
        return "there is no scenario of this name".into();
    };
    let Some(scheme) = s.registry().find(&p.case.scheme) else {
        return format!("there is no scheme `{}`", p.case.scheme);
    };
    if cnsim_scenario::metrics::find(&p.metric).is_none() {
        return format!("there is no metric `{}`", p.metric);
    }
    if s.case_of(&p.case.condition, &p.case.pause, &scheme.name).is_none() {
        return "no condition of the scenario reads like this".into();
    }
    "the scenario does not measure this".into()
}

fn command_line(args: &ReproduceArgs) -> String {
    let mut text = format!("reproduce {}", quoted(&args.what));
    if let Some(n) = args.seeds {
        text += &format!(" --seeds {n}");
    }
    if args.making.engine == EngineArg::Model {
        text += " --engine model";
    }
    if let Some(o) = &args.making.only {
        text += &format!(" --only {o:?}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scenario: &str, metric: &str, condition: &str, scheme: &str) -> Published {
        Published {
            case: ["B07", scenario, condition, "on", scheme].into(),
            metric: metric.into(),
            value: 1.0,
            text: "1".into(),
            unit: "Mb/s".into(),
            note: String::new(),
        }
    }

    #[test]
    fn words_choose_scenarios() {
        let registry = cnsim_schemes::registry();
        let ids = |what: &str| {
            choose(&registry, what)
                .map(|all| all.iter().map(Scenario::id).collect::<Vec<_>>())
                .unwrap_or_default()
        };
        assert_eq!(ids("quick"), ["B07/single-hop"]);
        assert_eq!(ids("b07/SINGLE-hop"), ["B07/single-hop"]);
        let study = ids("b07");
        assert!(study.len() > 1 && study.iter().all(|id| id.starts_with("B07/")), "{study:?}");
        assert_eq!(ids("single-hop"), ["B07/single-hop"]);
        assert_eq!(ids("all").len(), EMBEDDED.len());
        assert!(ids("nothing").is_empty());
        let case = |condition: &str, pause: &str| Case {
            group: 0,
            row: vec![("hotspot.rate".into(), condition.trim_start_matches("hotspot ").into())],
            id: ["B07", "single-hop", condition, pause, "ecm"].into(),
        };
        let quick = [
            ("hotspot 2 Gb/s", "on"),
            ("hotspot 0.5 Gb/s", "on"),
            ("hotspot 2 Gb/s", "off"),
            ("hotspot 1 Gb/s", "on"),
        ];
        assert_eq!(quick.map(|(c, p)| is_quick(&case(c, p))), [true, true, false, false]);
        assert_eq!(words_of(&case("Hotspot 2 Gb/s", "on")), "hotspot 2 gb/s, pause on, ecm");
    }

    /// Published rows without a cell, each once, with the reason.
    #[test]
    fn rows_without_a_cell_have_a_reason() {
        let scenarios = choose(&cnsim_schemes::registry(), "B07/single-hop").unwrap_or_default();
        let rows = [
            row("single-hop", "overhead", "hotspot 2 Gb/s", "no-scheme"),
            row("single-hop", "no_metric", "hotspot 2 Gb/s", "ecm"),
            row("single-hop", "overhead", "at noon", "ecm"),
            row("single-hop", "frozen_since", "hotspot 2 Gb/s", "ecm"),
            row("elsewhere", "overhead", "hotspot 2 Gb/s", "ecm"),
        ];
        let whys = |lost: &[Published], partial, all| -> Vec<String> {
            left(&rows, &[], &scenarios, lost.to_vec(), partial, all).into_iter().map(|l| l.1).collect()
        };
        let (scheme, metric, condition, measure, scenario) = (
            "there is no scheme `no-scheme`",
            "there is no metric `no_metric`",
            "no condition of the scenario reads like this",
            "the scenario does not measure this",
            "there is no scenario of this name",
        );
        assert_eq!(whys(&[], false, false), [scheme, metric, condition, measure]);
        assert_eq!(whys(&rows[1..2], false, true), [scheme, metric, condition, measure, scenario]);
        // Of a part nothing is missed but what cannot be read.
        assert_eq!(whys(&rows[2..3], true, true), [condition]);
    }

    #[test]
    fn the_command_is_told_as_typed() {
        let mut args = ReproduceArgs { what: "B07".into(), seeds: Some(3), ..ReproduceArgs::default() };
        args.making.only = Some("ecm".into());
        assert_eq!(command_line(&args), "reproduce B07 --seeds 3 --only \"ecm\"");
        assert_eq!(command_line(&ReproduceArgs::default()), "reproduce quick");
    }
}
