//! `cnsim run`.

use crate::look::{self, Colour, paint};
use crate::output::{Output, quoted};
use crate::reproduce::refuse_huge;
use crate::{Common, Done, Failure, RunArgs, pairs};
use cnsim_scheme_api::Registry;
use cnsim_studies::files::digits;
use cnsim_studies::metrics::METRICS;
use cnsim_studies::scenario::{Case, Scenario};
use cnsim_studies::study::{Job, Watch, run_job};
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
    let command = format!("run {}", quoted(&args.scenario));
    let records = std::slice::from_ref(&record);
    let Some(output) = Output::open(&args.out, &command, records, None)? else {
        return Err(Failure::Run("nothing was written".into()));
    };
    let text = output.results(records, |_| args.series != "none")?;
    let path = output.dir().join("results.json");
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
