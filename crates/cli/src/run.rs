//! `cnsim run`: a scenario's cases, or those that are asked for.

use crate::experiment::{Experiment, perform};
use crate::output::quoted;
use crate::reproduce::{left, none_left, published_in, words_of};
use crate::request::{condition_of, first_case, refuse_no_seeds, schemes};
use crate::{Common, Done, EngineArg, Failure, RunArgs, pairs};
use cnsim_papers::cells::all_cases;
use cnsim_runs::capture::Captures;
use cnsim_runs::run::Job;
use cnsim_scenario::tables;
use cnsim_scenario::{Case, Scenario};
use indexmap::IndexSet;

pub(crate) fn run(args: &RunArgs, common: &Common) -> Done {
    let registry = &common.registry;
    let sets = pairs(&args.sets, registry)?;
    let asked = schemes(registry, &args.scheme)?;
    let names: Vec<&str> = asked.iter().map(String::as_str).collect();
    let scenario = match &args.scenario {
        Some(name) => Scenario::load_in(registry, name, &sets, &names)?,
        None => args.foreign.scenario(common, &sets, &names)?,
    };
    let seeds = args.seeds.unwrap_or(1);
    refuse_no_seeds(seeds)?;
    refuse_no_seeds(scenario.seeds)?;
    let published = published_in(args.making.published.as_deref())?;
    let engine = args.making.engine.engine();
    let only = args.making.only.as_ref().map(|t| t.to_lowercase());
    // Numbers that the user gives have cases of their own, and those that have none are listed.
    let (every, lost) = match args.making.published {
        Some(_) => all_cases(&scenario, &published),
        None => (scenario.cases(), Vec::new()),
    };
    let count = every.len();
    let mut cases = narrowed(&scenario, every, args, &sets, &asked)?;
    cases.retain(|c| only.as_ref().is_none_or(|t| words_of(c).contains(t)));
    if cases.is_empty() {
        return Err(none_left());
    }
    let some = args.making.published.is_none() || cases.len() < count;
    let mut jobs = Vec::new();
    for case in cases {
        let ready = scenario.ready(&case)?;
        let of = match (args.seed, args.seeds) {
            (None, None) => 1..=scenario.seeds_of(&case),
            (first, _) => first.unwrap_or(1)..=first.unwrap_or(1).saturating_add(seeds - 1),
        };
        let job = |seed| Job { engine, ..Job::new(case.clone(), ready.clone(), seed) };
        jobs.extend(of.map(|seed| Job { all_series: args.series == "all", ..job(seed) }));
    }
    let captures =
        if args.pcap.is_empty() && args.trace.is_empty() { Vec::new() } else { captured(&jobs, args)? };
    let own = args.scenario.clone().unwrap_or_else(|| args.foreign.command());
    let scenarios = std::slice::from_ref(&scenario);
    let experiment = Experiment {
        command: command_line(&own, args),
        what: &own,
        own: true,
        scenarios,
        jobs,
        published: &published,
        left: &|cells| left(&published, cells, scenarios, lost.clone(), some, false),
        series: &args.series,
        captures,
        json: args.json,
        making: &args.making,
    };
    perform(&experiment, common)
}

/// Captures of the first seed of each case, by number of the job.
fn captured(jobs: &[Job], args: &RunArgs) -> Result<Vec<(usize, Captures)>, Failure> {
    let mut all: Vec<(usize, Captures)> = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        if !jobs[..i].iter().any(|before| before.case == job.case) {
            all.push((i, Captures::read(&args.pcap, &args.trace, job).map_err(Failure::input)?));
        }
    }
    Ok(all)
}

/// The command, with all that decides its runs.
fn command_line(what: &str, args: &RunArgs) -> String {
    let list = |all: &[String]| (!all.is_empty()).then(|| all.join(","));
    let options = [
        ("scheme", list(&args.scheme)),
        ("pause", list(&args.pause)),
        ("condition", args.condition.clone()),
        ("case", args.case.clone()),
        ("only", args.making.only.clone()),
        ("seed", args.seed.map(|n| n.to_string())),
        ("seeds", args.seeds.map(|n| n.to_string())),
        ("engine", (args.making.engine == EngineArg::Model).then(|| "model".into())),
    ];
    let own = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let all = own.chain(args.sets.iter().map(|set| ("set", set.clone())));
    let options: String = all.map(|(name, value)| format!(" --{name} {}", quoted(&value))).collect();
    // A file's name is quoted; options of another simulator's files are written as they are.
    let what = if args.scenario.is_some() { quoted(what) } else { what.into() };
    format!("run {what}{options}")
}

/// The cases of a scenario that are asked for. A key set on the command line wins over the matrix; a scheme or PAUSE mode that the
/// matrix has not takes the place of its own.
fn narrowed(
    scenario: &Scenario,
    mut all: Vec<Case>,
    args: &RunArgs,
    sets: &[(String, String)],
    schemes: &[String],
) -> Result<Vec<Case>, Failure> {
    let set_pause = sets.iter().filter(|s| s.0 == tables::pause::MODE.path).map(|s| s.1.clone()).collect();
    let pauses: &Vec<String> = if args.pause.is_empty() { &set_pause } else { &args.pause };
    first_case(&all, None)?;
    if let Some(id) = &args.case {
        all = named(scenario, all, id)?;
    }
    if let Some(text) = &args.condition {
        all.retain(|c| c.id.condition == *text);
        if all.is_empty() {
            let case = condition_of(scenario, text, pauses.first().map(String::as_str), None)?;
            let group = &scenario.groups[case.group];
            let each = |pause: &String| {
                let of = |scheme: &String| scenario.case(case.group, case.row.clone(), pause, scheme);
                group.schemes.iter().map(of).collect::<Vec<_>>()
            };
            all = group.pauses.iter().flat_map(each).collect();
        }
    }
    let with_sets = |c: &Case| {
        let row = c.row.iter().filter(|(k, _)| !sets.iter().any(|s| s.0 == *k)).cloned().collect();
        let set = scenario.case(c.group, row, &c.id.pause, &c.id.scheme);
        let asked = args.condition.is_some() || args.case.is_some();
        if asked && set.id.condition != c.id.condition
            || args.case.is_some() && !pauses.iter().all(|p| *p == c.id.pause)
        {
            return Err(Failure::input(format!(
                "--set makes another case of \"{}\": \"{}, PAUSE {}\"\n  help: leave out that --set, or name the other case",
                c.id.place(),
                set.id.condition,
                pauses.first().unwrap_or(&c.id.pause)
            )));
        }
        Ok(set)
    };
    all = all.iter().map(with_sets).collect::<Result<IndexSet<_>, _>>()?.into_iter().collect();
    all =
        chosen(&all, schemes, |c| &c.id.scheme, |c, s| scenario.case(c.group, c.row.clone(), &c.id.pause, s));
    all =
        chosen(&all, pauses, |c| &c.id.pause, |c, p| scenario.case(c.group, c.row.clone(), p, &c.id.scheme));
    Ok(all)
}

/// The cases with one of the values asked for; of a value that no case has, all cases with this value instead of their own.
fn chosen(
    all: &[Case],
    asked: &[String],
    of: impl Fn(&Case) -> &String,
    with: impl Fn(&Case, &str) -> Case,
) -> Vec<Case> {
    if asked.is_empty() {
        return all.to_vec();
    }
    let strange: Vec<&String> = asked.iter().filter(|a| !all.iter().any(|c| of(c) == *a)).collect();
    let own = all.iter().filter(|c| asked.contains(of(c))).cloned();
    let more = strange.iter().flat_map(|value| all.iter().map(|c| with(c, value)));
    own.chain(more).collect::<IndexSet<_>>().into_iter().collect()
}

/// Most cases that an error names.
const NAMED: usize = 6;

/// The case of an id: `CONDITION, PAUSE on, SCHEME`, with or without study and scenario before it.
fn named(scenario: &Scenario, cases: Vec<Case>, id: &str) -> Result<Vec<Case>, Failure> {
    let short = id.strip_prefix(&format!("{}, ", scenario.id())).unwrap_or(id).to_lowercase();
    let found: Vec<Case> = cases.iter().filter(|c| c.id.name().to_lowercase() == short).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let some: Vec<String> = cases.iter().take(NAMED).map(|c| format!("\n    \"{}\"", c.id.name())).collect();
    let more =
        if cases.len() > NAMED { format!("\n    and {} more", cases.len() - NAMED) } else { String::new() };
    Err(Failure::input(format!(
        "--case {id:?}: {} has no such case\n  help: write one of{}{more}",
        scenario.id(),
        some.concat()
    )))
}
