//! `cnsim reproduce`: run, compare, write, tell.

use crate::look;
use crate::output::{Output, quoted};
use crate::request::{is_file, refuse_huge, refuse_no_seeds, tell_notes, threads, wanted};
use crate::summary::{self, Told};
use crate::{Common, Done, EngineArg, Failure, ReproduceArgs, notes};
use cnsim_lab::results::Partial;
use cnsim_lab::run::{Job, Watch, jobs, run_jobs, stored, unkept};
use cnsim_lab::scenario::{Case, EMBEDDED, Scenario};
use cnsim_lab::store::{RunRecord, Store};
use cnsim_papers::cells::{Cell, all_cases, cells, not_run};
use cnsim_papers::files::{claims_csv, numbers_csv};
use cnsim_papers::findings;
use cnsim_papers::own::Studies;
use cnsim_papers::published::{self, Published};
use cnsim_papers::verdict::Verdict;
use cnsim_problem::{MAX_FILE, read_file};
use cnsim_report::build::{Parts, build};
use cnsim_scheme_api::Registry;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The scenarios that a word asks for, and which of their cases.
fn choose(registry: &Registry, what: &str) -> Result<Vec<Scenario>, Failure> {
    if what == "quick" {
        return Ok(vec![Scenario::load_in(registry, "B07/single-hop", &[], &[])?]);
    }
    if is_file(what) {
        return Ok(vec![Scenario::load_in(registry, what, &[], &[])?]);
    }
    let wanted = |id: &str| {
        what == "all" || id.eq_ignore_ascii_case(what) || id.split('/').any(|p| p.eq_ignore_ascii_case(what))
    };
    let ids: Vec<&str> = EMBEDDED.iter().map(|(id, _)| *id).filter(|id| wanted(id)).collect();
    if ids.is_empty() {
        let names = EMBEDDED.iter().flat_map(|(id, _)| std::iter::once(*id).chain(id.split('/')));
        let hint = cnsim_lab::meant::did_you_mean(what, names);
        return Err(Failure::input(format!(
            "there is no study or scenario `{what}`\n  help: {hint}write quick, all, a study, STUDY/SCENARIO or a FILE.toml; `cnsim list scenarios` shows them"
        )));
    }
    ids.iter().map(|id| Ok(Scenario::load_in(registry, id, &[], &[])?)).collect()
}

/// Most experiments other than the study's that are named.
const OTHERS: usize = 4;

/// `quick` = the 2 and 0.5 Gb/s tables with PAUSE.
fn is_quick(case: &Case) -> bool {
    case.pause == "on" && matches!(case.condition.as_str(), "hotspot 2 Gb/s" | "hotspot 0.5 Gb/s")
}

pub(crate) fn reproduce(args: &ReproduceArgs, common: &Common) -> Done {
    let mut scenarios = choose(&common.registry, &args.what)?;
    if let Some(seeds) = args.seeds {
        scenarios.iter_mut().for_each(|s| s.set_seeds(seeds));
    }
    wanted(&args.metric)?;
    let published = published_in(args.published.as_deref())?;
    if let (Some(file), false) = (&args.published, common.quiet) {
        let mut studies: Vec<&str> = EMBEDDED.iter().filter_map(|(id, _)| id.split('/').next()).collect();
        studies.extend(scenarios.iter().map(|s| s.study.as_str()));
        published::unknown(&published, &studies).iter().for_each(|l| eprintln!("{}: {l}", file.display()));
    }
    let quick = args.what == "quick";
    let only = args.only.as_ref().map(|t| t.to_lowercase());
    let keep =
        |case: &Case| (!quick || is_quick(case)) && only.as_ref().is_none_or(|t| words_of(case).contains(t));
    let mut all: Vec<Job> = Vec::new();
    let mut lost: Vec<Published> = Vec::new();
    for s in &scenarios {
        refuse_no_seeds(s.seeds)?;
        let (cases, unread) = all_cases(s, &published);
        let more = jobs(s, cases.into_iter().filter(keep)).map_err(Failure::Input)?;
        all.extend(more.into_iter().map(|job| Job { engine: args.engine.engine(), ..job }));
        lost.extend(unread);
    }
    if all.is_empty() {
        return Err(Failure::input(
            "no case is left to run\n  help: `--only` must match a part of `CONDITION, PAUSE on|off, SCHEME`",
        ));
    }
    refuse_huge(&all, args.force)?;
    // Of the embedded studies docs/assumptions.md speaks.
    if is_file(&args.what) {
        tell_notes(&all, common);
    }
    let threads = threads(args.threads);
    if !common.quiet {
        eprintln!(
            "cnsim {}: {} of {}, {} threads",
            env!("CARGO_PKG_VERSION"),
            look::count(all.len() as u64, "run"),
            args.what,
            threads
        );
    }
    Output::check(&args.out, args.force)?;
    let watch = Arc::new(Watch::default());
    // A second opinion takes no run from the store, and leaves none there.
    let kept = args.engine == EngineArg::Fast;
    look::on_interrupt(&watch, kept);
    let records = run_all(&all, (&args.out, args.force), threads, &watch, common.quiet)?;
    let records: Vec<RunRecord> = records.into_iter().flatten().collect();
    if common.verbose {
        let hops = watch.hops.load(Ordering::Relaxed);
        eprintln!("{hops} packet-hops simulated now");
    }
    let cells = cells(&records, &published, &scenarios);
    let some = quick || only.is_some();
    let left = left(&published, &cells, &scenarios, lost, some, args.what == "all");
    let findings = findings(&judged(&records, &scenarios));
    let command = command_line(args);
    let partial = partial(&watch, records.len(), all.len());
    let typed = command.trim_start_matches("cnsim ");
    let Some(mut output) = Output::open(&args.out, typed, &records, partial, args.force)? else {
        return interrupted(&watch, (records.len(), all.len()), kept, Some(&args.out));
    };
    output.write("numbers.csv", numbers_csv(&cells, partial).as_bytes())?;
    output.write("claims.csv", claims_csv(&findings, partial).as_bytes())?;
    let mut report = build(&Parts {
        command: &command,
        scenarios: &scenarios,
        records: &records,
        cells: &cells,
        findings: &findings,
        left: &left,
    });
    mark_partial(&mut report, partial);
    output.write("report.html", page_of(&report)?.as_bytes())?;
    let out = output.dir().to_path_buf();
    // The first seed's series stand for the figures; all others are in the store.
    let first = records.iter().map(|r| r.seed).min().unwrap_or(1);
    output.results(&records, |r| r.seed == first)?;
    if let Some(p) = partial {
        println!("{}\n", p.text());
    }
    notes::print(&records);
    if !common.quiet {
        summary::tell(&Told {
            args,
            out: &out,
            report: &report,
            cells: &cells,
            findings: &findings,
            records: &records,
        });
        unshown(&args.metric, &records).iter().for_each(|line| println!("{line}"));
    }
    interrupted(&watch, (records.len(), all.len()), kept, None)?;
    missed(args.fail_on_miss, cells.iter().map(|c| c.verdict))?;
    // In the embedded studies a deadlock is what was published.
    if is_file(&args.what) { notes::ends(&records) } else { Ok(()) }
}

/// The runs on which verdicts are passed: those of the studies' own experiments. What the others are is told.
fn judged<'a>(records: &'a [RunRecord], scenarios: &[Scenario]) -> Cow<'a, [RunRecord]> {
    let mut studies = Studies::of(scenarios);
    let others: Vec<Option<String>> = records.iter().map(|r| studies.other(r)).collect();
    let words: BTreeSet<&String> = others.iter().flatten().collect();
    words.iter().take(OTHERS).for_each(|why| eprintln!("note: no verdict: {why}"));
    if words.is_empty() {
        return records.into();
    }
    records.iter().zip(&others).filter(|(_, other)| other.is_none()).map(|(r, _)| r.clone()).collect()
}

/// With `--fail-on-miss` a published cell that differs ends the program with the exit code of a verification.
fn missed(fail_on_miss: bool, verdicts: impl Iterator<Item = Verdict>) -> Done {
    let differ = verdicts.filter(|v| *v == Verdict::Differs).count();
    match differ {
        n if n > 0 && fail_on_miss => {
            Err(Failure::Differs(format!("{} differ from what was published", look::count(n as u64, "cell"))))
        }
        _ => Ok(()),
    }
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

/// What `--only` looks into, in small letters.
pub(crate) fn words_of(case: &Case) -> String {
    format!("{}, PAUSE {}, {}", case.condition, case.pause, case.scheme).to_lowercase()
}

/// Runs jobs with progress and the store; `None` for those that an interruption left out. The first failure ends it.
pub(crate) fn run_all(
    jobs: &[Job],
    out: (&Path, bool),
    asked: usize,
    watch: &Arc<Watch>,
    quiet: bool,
) -> Result<Vec<Option<RunRecord>>, Failure> {
    Ok(with_store(jobs, out, watch, quiet, |store| run_jobs(jobs, Some(store), threads(asked), watch))??)
}

/// Does `work` on jobs with progress and the store of a folder.
pub(crate) fn with_store<T: Send>(
    jobs: &[Job],
    (out, force): (&Path, bool),
    watch: &Arc<Watch>,
    quiet: bool,
    work: impl FnOnce(&Store) -> T + Send,
) -> Result<T, Failure> {
    let store = Store::open(out, force)?;
    let strangers = store.strangers();
    if strangers > 0 {
        let dir = out.join("runs");
        eprintln!(
            "note: {} holds {strangers} files of another version of cnsim; those runs are done anew",
            dir.display()
        );
    }
    unkept(jobs).iter().for_each(|note| eprintln!("note: {note}"));
    // What is in the store costs next to nothing.
    let new = jobs.iter().filter(|j| !stored(j, &store));
    let hops = new.map(|j| j.ready.estimate().packet_hops).sum();
    let done = look::with_progress(jobs.len() as u64, hops, watch, quiet, || work(&store));
    tell_stored(watch, jobs.len(), quiet);
    Ok(done)
}

/// Says how many runs were not done now. `--quiet` leaves out that there were none.
pub(crate) fn tell_stored(watch: &Watch, of: usize, quiet: bool) {
    let stored = watch.stored.swap(0, Ordering::Relaxed);
    if stored > 0 || !quiet {
        eprintln!("{stored} of {of} runs taken from the store");
    }
}

/// How much is finished of what Ctrl-C has cut short.
pub(crate) fn partial(watch: &Watch, finished: usize, of: usize) -> Option<Partial> {
    (watch.stop.load(Ordering::Relaxed) && finished < of).then_some(Partial { finished, of })
}

/// The end of a verb that Ctrl-C may have cut short after so many runs of all. `kept`: they are in the store. `stay` is where finished
/// results stand that partial ones did not replace.
pub(crate) fn interrupted(
    watch: &Watch,
    (finished, of): (usize, usize),
    kept: bool,
    stay: Option<&Path>,
) -> Done {
    if partial(watch, finished, of).is_none() {
        return Ok(());
    }
    let stay =
        stay.map_or_else(String::new, |out| format!("; the results in {} are as they were", out.display()));
    let (place, next) = match kept {
        true => (" and kept in the store", "goes on from here"),
        false => (", and the store keeps none of the model's", "begins anew"),
    };
    Err(Failure::Interrupted(format!(
        "interrupted: {finished} of {of} runs are finished{place}{stay}; the same command {next}"
    )))
}

/// Published rows without a cell, each with the reason.
fn left(
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
        let known = |p: &&Published| scenarios.iter().any(|s| s.study == p.study && s.name == p.scenario);
        left.extend(published.iter().filter(|p| !known(p)).cloned());
    }
    let mut with: Vec<(Published, String)> = Vec::new();
    for p in left {
        if with.iter().all(|w| w.0 != p) {
            let why = reason(&p, scenarios);
            with.push((p, why));
        }
    }
    with
}

fn reason(p: &Published, scenarios: &[Scenario]) -> String {
    let Some(s) = scenarios.iter().find(|s| s.study == p.study && s.name == p.scenario) else {
        return "there is no scenario of this name".into();
    };
    let Some(scheme) = s.registry().find(&p.scheme) else {
        return format!("there is no scheme `{}`", p.scheme);
    };
    if cnsim_lab::metrics::find(&p.metric).is_none() {
        return format!("there is no metric `{}`", p.metric);
    }
    if s.case_of(&p.condition, &p.pause, &scheme.name).is_none() {
        return "no condition of the scenario reads like this".into();
    }
    "the scenario does not measure this".into()
}

fn command_line(args: &ReproduceArgs) -> String {
    let mut text = format!("cnsim reproduce {}", quoted(&args.what));
    if let Some(n) = args.seeds {
        text += &format!(" --seeds {n}");
    }
    if args.engine == EngineArg::Model {
        text += " --engine model";
    }
    if let Some(o) = &args.only {
        text += &format!(" --only {o:?}");
    }
    text
}

/// A report as a page.
pub(crate) fn page_of(report: &cnsim_report::model::Report) -> Result<String, Failure> {
    cnsim_report::render(report).map_err(|e| Failure::Run(e.to_string()))
}

/// Says at the head of a report that it is partial.
pub(crate) fn mark_partial(report: &mut cnsim_report::model::Report, partial: Option<Partial>) {
    if let Some(p) = partial {
        report.title = format!("PARTIAL: {}", report.title);
        report.facts.insert(0, cnsim_report::model::Fact { name: "partial".into(), value: p.text() });
    }
}

/// What is said of metrics that were asked for and that no table shows.
fn unshown(asked: &[String], records: &[RunRecord]) -> Vec<String> {
    let studies: std::collections::BTreeSet<&str> = records.iter().map(|r| r.study.as_str()).collect();
    if studies.len() > 1 && !asked.is_empty() {
        return vec!["--metric shows metrics of one study: name one; numbers.csv has those of all".into()];
    }
    let none = |id: &&String| !records.iter().any(|r| r.metrics.contains_key(id.as_str()));
    let line = |id: &String| match id.starts_with("latency") {
        true => format!("{id}: no run measured it; set record.latency = true"),
        false => {
            format!("{id}: no run measured it, as nothing happened that it counts; `cnsim explain {id}`")
        }
    };
    asked.iter().filter(none).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_miss_fails_where_that_is_asked_for() {
        use Verdict::{Agrees, Differs, Incomparable, Near, Unpublished};
        let ends = |asked, verdicts: &[Verdict]| missed(asked, verdicts.iter().copied());
        let Err(Failure::Differs(text)) = ends(true, &[Agrees, Differs]) else {
            panic!("one miss is a miss")
        };
        assert!(text.starts_with("1 cell"), "{text}");
        assert!(ends(false, &[Differs]).is_ok());
        assert!(ends(true, &[Agrees, Near, Unpublished, Incomparable]).is_ok());
        assert!(ends(true, &[]).is_ok());
    }

    #[test]
    fn metrics_that_no_table_shows_are_named() {
        let run = |study: &str| RunRecord {
            study: study.into(),
            metrics: [("pauses".to_string(), 1.0)].into(),
            ..RunRecord::default()
        };
        let of = |asked: &[&str], records: &[RunRecord]| {
            unshown(&asked.iter().map(|a| (*a).to_string()).collect::<Vec<_>>(), records).join("\n")
        };
        assert_eq!(of(&["pauses"], &[run("mine")]), "");
        assert!(
            of(&["pauses", "latency_p99"], &[run("mine")])
                .starts_with("latency_p99: no run measured it; set")
        );
        assert!(of(&["frozen_since"], &[run("mine")]).contains("nothing happened"));
        assert!(of(&["pauses"], &[run("B07"), run("C07")]).contains("name one"));
        assert_eq!(of(&[], &[run("B07"), run("C07")]), "");
    }

    fn row(scenario: &str, metric: &str, condition: &str, scheme: &str) -> Published {
        Published {
            study: "B07".into(),
            scenario: scenario.into(),
            condition: condition.into(),
            pause: "on".into(),
            scheme: scheme.into(),
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
            condition: condition.into(),
            row: Vec::new(),
            pause: pause.into(),
            scheme: "ecm".into(),
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
    fn a_partial_report_says_so() {
        let fact = |name: &str| cnsim_report::model::Fact { name: name.into(), ..Default::default() };
        let mut r = cnsim_report::model::Report {
            title: "T".into(),
            facts: vec![fact("runs")],
            ..Default::default()
        };
        mark_partial(&mut r, None);
        assert_eq!((r.title.as_str(), r.facts.len()), ("T", 1));
        let p = Partial { finished: 1, of: 2 };
        mark_partial(&mut r, Some(p));
        assert_eq!(
            (r.title.as_str(), r.facts[0].name.as_str(), &r.facts[0].value),
            ("PARTIAL: T", "partial", &p.text())
        );
        // What was stopped with nothing left to do is whole.
        let watch = Watch::default();
        assert_eq!(partial(&watch, 1, 2), None);
        watch.stop.store(true, Ordering::Relaxed);
        assert_eq!((partial(&watch, 1, 2), partial(&watch, 2, 2)), (Some(p), None));
        assert!(
            matches!(interrupted(&watch, (1, 2), true, None), Err(Failure::Interrupted(text)) if text.starts_with("interrupted: 1 of 2 runs"))
        );
        assert!(interrupted(&watch, (2, 2), true, None).is_ok());
    }

    #[test]
    fn the_command_is_told_as_typed() {
        let args = ReproduceArgs {
            what: "B07".into(),
            seeds: Some(3),
            only: Some("ecm".into()),
            ..ReproduceArgs::default()
        };
        assert_eq!(command_line(&args), "cnsim reproduce B07 --seeds 3 --only \"ecm\"");
        assert_eq!(command_line(&ReproduceArgs::default()), "cnsim reproduce quick");
    }
}
