//! The common part of `run` and `reproduce`: make the runs, measure, write and print.

use crate::bench::peak_memory;
use crate::look;
use crate::output::Output;
use crate::request::{refuse_many, tell_notes, threads, wanted};
use crate::summary::{self, Told};
use crate::{Common, Done, EngineArg, Failure, Making, notes, one_case};
use cnsim_papers::cells::{Cell, cells};
use cnsim_papers::claims::{Claim, Finding};
use cnsim_papers::files::{claims_csv, numbers_csv};
use cnsim_papers::findings;
use cnsim_papers::own::Studies;
use cnsim_papers::published::Published;
use cnsim_papers::verdict::Verdict;
use cnsim_report::build::{Parts, build};
use cnsim_report::model::Report;
use cnsim_runs::capture::{CaptureFile, Captures, DISSECTOR, MOST as CAPTURED, run_captured};
use cnsim_runs::flow_files::fork_columns;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Partial;
use cnsim_runs::run::{Job, JobError, Watch, run_job, run_jobs, stored, unkept};
use cnsim_runs::store::Store;
use cnsim_scenario::Scenario;
use cnsim_scenario::metrics::Metric;
use cnsim_units::Time;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs that are asked for, and the forms in which their results are.
pub(crate) struct Experiment<'a> {
    /// The command without the program's name, as results and report have it.
    pub(crate) command: String,
    /// The command's word for the scenario: a name, a file, `quick` or `all`.
    pub(crate) what: &'a str,
    /// Is it an experiment of the user's own: any but a study that is reproduced?
    pub(crate) own: bool,
    /// The scenarios.
    pub(crate) scenarios: &'a [Scenario],
    /// The runs.
    pub(crate) jobs: Vec<Job>,
    /// Published numbers to set beside the results.
    pub(crate) published: &'a [Published],
    /// Published numbers for which these results have no cell, each with the reason.
    pub(crate) left: &'a dyn Fn(&[Cell]) -> Vec<(Published, String)>,
    /// Which series are written: `none`, `key` or `all`.
    pub(crate) series: &'a str,
    /// Captures, by number of the job.
    pub(crate) captures: Vec<(usize, Captures)>,
    /// Are the results printed as JSON?
    pub(crate) json: bool,
    /// Options of both verbs.
    pub(crate) making: &'a Making,
}

/// Makes the runs, writes their results and prints them.
pub(crate) fn perform(e: &Experiment<'_>, common: &Common) -> Done {
    let (all, making) = (&e.jobs, e.making);
    let shown = wanted(&making.metric)?;
    refuse_many(all, making.force)?;
    let asked = threads(making.threads);
    announce(e, asked, common);
    Output::check(&making.out, making.force)?;
    let watch = Arc::new(Watch::default());
    // A second opinion takes no run from the store, and leaves none there.
    let kept = making.engine == EngineArg::Fast;
    look::on_interrupt(&watch, kept);
    let started = std::time::Instant::now();
    let place = (making.out.as_path(), making.force);
    if e.what == "quick" && kept && !common.quiet {
        first_look(e, place, asked, &watch)?;
    }
    let (captures, mut files) = (&e.captures[..], Vec::new());
    let records = with_store(all, place, &watch, common.quiet, |store| match &all[..] {
        jobs if !captures.is_empty() => {
            let threads = (making.threads.min(64), asked);
            run_with_captures((jobs, captures), store, &watch, threads, &mut files)
        }
        // One run may take several threads; many take one each.
        [one] => run_job(one, Some(store), &watch, making.threads.min(64)).map(|r| vec![r]),
        many => run_jobs(many, Some(store), asked, &watch),
    })??;
    let made = Made::of(e, records.into_iter().flatten().collect(), &watch);
    let finished = (made.records.len(), all.len());
    let Some(mut output) = Output::open(&making.out, &e.command, &made.records, made.partial, making.force)?
    else {
        return interrupted(&watch, finished, kept, Some(&making.out));
    };
    made.write(e, &mut output)?;
    let out = output.dir().to_path_buf();
    if files.iter().any(|(file, _)| file.name.ends_with("pcapng")) {
        output.write(DISSECTOR.0, DISSECTOR.1.as_bytes())?;
    }
    for (file, cut) in &files {
        output.write(&file.name, &file.bytes)?;
        tell_capture(file, *cut, &out, common.quiet);
    }
    // The first seed's series stand for the figures of many cases; all others are in the store.
    let first = made.records.iter().map(|r| r.seed).min().unwrap_or(1);
    let text = output.results(&made.records, |r| e.series != "none" && (e.is_single() || r.seed == first))?;
    if common.verbose {
        effort(&watch, &made.records);
    }
    if e.json {
        println!("{text}");
    } else {
        made.tell(e, &out, &shown, common);
    }
    if !common.quiet {
        unshown(&making.metric, &made.records).iter().for_each(|line| eprintln!("note: {line}"));
        let (hops, seconds) = (watch.hops.load(Ordering::Relaxed), started.elapsed().as_secs_f64());
        let all: u64 = made.records.iter().map(|r| r.execution.packet_hops).sum();
        let stored =
            if hops < all { format!(" ({all} in all, the others from the store)") } else { String::new() };
        let to = out.join("results.json");
        eprintln!("{hops} packet-hops simulated in {seconds:.2} s{stored}; results in {}", to.display());
    }
    interrupted(&watch, finished, kept, None)?;
    missed(making.fail_on_miss, made.cells.iter().map(|c| c.verdict))?;
    // In the embedded studies a deadlock is what was published.
    if e.own { notes::ends(&made.records) } else { Ok(()) }
}

/// Prints what is about to run, with notes on it.
fn announce(e: &Experiment<'_>, threads: usize, common: &Common) {
    // Of the embedded studies docs/assumptions.md speaks.
    if e.own {
        tell_notes(&e.jobs, common);
    }
    if !common.quiet {
        let runs = look::count(e.jobs.len() as u64, "run");
        eprintln!("cnsim {}: {runs} of {}, {threads} threads", env!("CARGO_PKG_VERSION"), e.what);
    }
    if let ([first, ..], true, true) = (&e.jobs[..], e.is_single(), common.verbose) {
        eprintln!("effective configuration: {:#}", first.ready.config);
    }
}

impl Experiment<'_> {
    /// Are all runs of one case?
    fn is_single(&self) -> bool {
        self.jobs.iter().all(|job| job.case == self.jobs[0].case)
    }
}

/// The runs of an experiment, and what follows from them.
struct Made {
    records: Vec<RunRecord>,
    cells: Vec<Cell>,
    findings: Vec<(&'static Claim, Finding)>,
    partial: Option<Partial>,
    report: Report,
}

impl Made {
    fn of(e: &Experiment<'_>, records: Vec<RunRecord>, watch: &Watch) -> Self {
        let cells = cells(&records, e.published, e.scenarios);
        let left = (e.left)(&cells);
        let findings = findings(&judged(&records, e.scenarios));
        let partial = partial(watch, records.len(), e.jobs.len());
        let command = format!("cnsim {}", e.command);
        let (scenarios, command) = (e.scenarios, command.as_str());
        let parts =
            Parts { command, scenarios, records: &records, cells: &cells, findings: &findings, left: &left };
        let mut report = build(&parts);
        mark_partial(&mut report, partial);
        Self { records, cells, findings, partial, report }
    }

    /// Writes tables and report; of one run of an import, the file of the other simulator, too.
    fn write(&self, e: &Experiment<'_>, output: &mut Output) -> Done {
        output.write("numbers.csv", numbers_csv(&self.cells, self.partial).as_bytes())?;
        output.write("claims.csv", claims_csv(&self.findings, self.partial).as_bytes())?;
        output.write("report.html", page_of(&self.report)?.as_bytes())?;
        if let ([record], [job]) = (&self.records[..], &e.jobs[..]) {
            let settings = &job.ready.settings;
            let hosts = &settings.wiring.hosts;
            let text =
                settings.fork_columns().then(|| fork_columns(record, hosts, settings.origin().as_ps()));
            if let Some(text) = text.flatten() {
                output.write("fct.txt", text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn tell(&self, e: &Experiment<'_>, out: &Path, shown: &[&'static Metric], common: &Common) {
        if let Some(p) = self.partial {
            println!("{}\n", p.text());
        }
        notes::print(&self.records);
        let alone = e.is_single() && e.own;
        if alone {
            one_case::print(&self.records, shown);
        }
        if !common.quiet && (!alone || self.cells.iter().any(|c| c.published.is_some())) {
            let (metric, what, report) = (&e.making.metric, e.what, &self.report);
            let (cells, findings, records) = (&self.cells[..], &self.findings[..], &self.records[..]);
            summary::tell(&Told { what, metric, out, report, cells, findings, records });
        }
    }
}

/// Makes the runs, those first that are captured, and gives their files.
fn run_with_captures(
    (jobs, captures): (&[Job], &[(usize, Captures)]),
    store: &Store,
    watch: &Watch,
    (of_one, of_all): (usize, usize),
    files: &mut Vec<(CaptureFile, Option<Time>)>,
) -> Result<Vec<Option<RunRecord>>, JobError> {
    let mut records: Vec<Option<RunRecord>> = jobs.iter().map(|_| None).collect();
    for (i, captures) in captures {
        let done = run_captured(&jobs[*i], captures, Some(store), watch, of_one)?;
        let Some((record, new, cut)) = done else { continue };
        files.extend(new.into_iter().map(|file| (file, cut)));
        records[*i] = Some(record);
    }
    let left: Vec<usize> = (0..jobs.len()).filter(|i| records[*i].is_none()).collect();
    let jobs: Vec<Job> = left.iter().map(|i| jobs[*i].clone()).collect();
    let others = run_jobs(&jobs, Some(store), of_all, watch)?;
    left.into_iter().zip(others).for_each(|(i, record)| records[i] = record);
    Ok(records)
}

/// Says where a capture is, and what it has not.
fn tell_capture(file: &CaptureFile, cut: Option<Time>, out: &Path, quiet: bool) {
    let (path, frames) = (out.join(&file.name), look::count(file.frames as u64, "frame"));
    if let Some(cut) = cut {
        eprintln!(
            "note: {} ends at {cut}, as a port had sent its share of {CAPTURED} frames; capture fewer ports or flows, or shorten run.duration",
            path.display()
        );
    }
    if file.frames == 0 {
        eprintln!("note: {} is empty: nothing passed there", path.display());
    } else if !quiet {
        eprintln!("{frames} in {}", path.display());
    }
}

/// Seeds of a first look.
const FIRST: u64 = 2;

/// Shows the first table of few seeds, on standard error, while the others are still to be run. Its runs are kept, and not done again.
fn first_look(e: &Experiment<'_>, place: (&Path, bool), threads: usize, watch: &Arc<Watch>) -> Done {
    let first = &e.jobs[0].case.id;
    let soon = |job: &&Job| job.seed <= FIRST && job.case.id.place() == first.place();
    let jobs: Vec<Job> = e.jobs.iter().filter(soon).cloned().collect();
    let known = |store: &Store| jobs.iter().all(|job| stored(job, store));
    // Who has seen it needs no first look.
    if jobs.len() == e.jobs.len() || known(&Store::open(place.0, place.1)?) {
        return Ok(());
    }
    let records =
        with_store(&jobs, place, watch, true, |store| run_jobs(&jobs, Some(store), threads, watch))??;
    let records: Vec<RunRecord> = records.into_iter().flatten().collect();
    if records.len() == jobs.len() {
        let (cells, scenarios) = (cells(&records, e.published, e.scenarios), e.scenarios);
        let parts =
            Parts { command: "", scenarios, records: &records, cells: &cells, findings: &[], left: &[] };
        eprintln!("\n{}\n", summary::first(&build(&parts), FIRST));
    }
    [&watch.done, &watch.stored, &watch.live].iter().for_each(|n| n.store(0, Ordering::Relaxed));
    Ok(())
}

/// Prints packet-hops and time of the runs.
fn effort(watch: &Watch, records: &[RunRecord]) {
    eprintln!("{} packet-hops simulated now", watch.hops.load(Ordering::Relaxed));
    if let ([record], Ok(cpu)) = (records, cpu_time::ProcessTime::try_now()) {
        if let Some(why) = &record.execution.by_model {
            eprintln!("what ran by the model: {why}");
        }
        if let Some(phases) = &record.execution.phases {
            eprintln!("phases: {phases}");
        }
        let (cpu, peak) = (cpu.as_duration().as_secs_f64(), peak_memory() as f64 / 1e6);
        eprintln!("this took {cpu:.2} CPU-seconds and at most {peak:.1} MB");
    }
}

/// Most experiments other than the study's that are named.
const OTHERS: usize = 4;

/// The runs that get verdicts: those of the studies' own experiments. A note names the others.
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
    // Runs that are in the store cost next to nothing.
    let new = jobs.iter().filter(|j| !stored(j, &store));
    let hops = new.map(|j| j.ready.estimate().packet_hops).sum();
    let done = look::with_progress(jobs.len() as u64, hops, watch, quiet, || work(&store));
    tell_stored(watch, jobs.len(), quiet);
    Ok(done)
}

/// Prints the number of runs from the store. With `--quiet`, zero is not printed.
pub(crate) fn tell_stored(watch: &Watch, of: usize, quiet: bool) {
    let stored = watch.stored.swap(0, Ordering::Relaxed);
    if stored > 0 || !quiet {
        eprintln!("{stored} of {of} runs taken from the store");
    }
}

/// The finished part of an interrupted command.
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

/// A report as a page.
pub(crate) fn page_of(report: &cnsim_report::model::Report) -> Result<String, Failure> {
    cnsim_report::render(report).map_err(|e| Failure::Run(e.to_string()))
}

/// Marks a report as partial, at its head.
pub(crate) fn mark_partial(report: &mut cnsim_report::model::Report, partial: Option<Partial>) {
    if let Some(p) = partial {
        report.title = format!("PARTIAL: {}", report.title);
        report.facts.insert(0, cnsim_report::model::Fact { name: "partial".into(), value: p.text() });
    }
}

/// A line for each metric that was asked for and that no table shows.
fn unshown(asked: &[String], records: &[RunRecord]) -> Vec<String> {
    let studies: std::collections::BTreeSet<&str> = records.iter().map(|r| r.case.study.as_str()).collect();
    if studies.len() > 1 && !asked.is_empty() {
        return vec!["--metric shows metrics of one study: name one; numbers.csv has those of all".into()];
    }
    let none = |id: &&String| !records.iter().any(|r| r.metrics.get(id).is_some());
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
        // An experiment that was stopped with nothing left to do is whole.
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
    fn metrics_that_no_table_shows_are_named() {
        let run = |study: &str| RunRecord {
            case: [study, "", "", "", ""].into(),
            metrics: [("pauses", 1.0)].into(),
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
}
