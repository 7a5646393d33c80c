//! `cnsim run`.

use crate::bench::peak_memory;
use crate::look::{self, Colour, at_least, interval, measured, paint};
use crate::output::{Output, quoted};
use crate::reproduce::tell_stored;
use crate::request::{
    condition_of, first_case, refuse_many, refuse_no_seeds, tell_notes, threads, unknown_scheme, wanted,
};
use crate::{Common, Done, Failure, RunArgs, notes, pairs, summary};
use cnsim_lab::files::digits;
use cnsim_lab::flow_files::fork_columns;
use cnsim_lab::flows::fct::{SizeGroup, Unfinished};
use cnsim_lab::metrics::{METRICS, Metric};
use cnsim_lab::run::{Job, Watch, run_job, run_jobs};
use cnsim_lab::scenario::Scenario;
use cnsim_lab::stats::Summary;
use cnsim_lab::store::RunRecord;
use cnsim_report::build::{CaseRuns, ports, traffic};
use cnsim_units::{Bytes, Time};
use std::sync::Arc;

pub(crate) fn run(args: &RunArgs, common: &Common) -> Done {
    let sets = pairs(&args.sets, &common.registry)?;
    let asked = match &args.scheme {
        None => None,
        Some(s) => {
            let found = common.registry.find(s).ok_or_else(|| unknown_scheme(&common.registry, s))?;
            Some(found.name.as_str())
        }
    };
    let scenario = match &args.scenario {
        Some(name) => Scenario::load_in(&common.registry, name, &sets, asked.as_slice())?,
        None => args.foreign.scenario(common, &sets, asked.as_slice())?,
    };
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
    refuse_no_seeds(args.seeds)?;
    let shown = wanted(&args.metric)?;
    let all_series = args.series == "all";
    let engine = args.engine.engine();
    let job = |seed| Job { all_series, engine, ..Job::new(&scenario, case.clone(), ready.clone(), seed) };
    let jobs: Vec<Job> = (0..args.seeds).map(|i| job(args.seed.saturating_add(i))).collect();
    refuse_many(&jobs, args.force)?;
    tell_notes(&jobs, common);
    if common.verbose {
        eprintln!("effective configuration: {:#}", ready.config);
    }
    Output::check(&args.out, args.force)?;
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch, false);
    let started = std::time::Instant::now();
    let work = jobs.iter().map(|j| j.ready.estimate().packet_hops).sum();
    let records = look::with_progress(args.seeds, work, &watch, common.quiet, || match &jobs[..] {
        // One run may take several threads; many take one each.
        [one] => Ok(vec![run_job(one, None, &watch, args.threads.min(64))?]),
        many => run_jobs(many, None, threads(args.threads), &watch),
    });
    tell_stored(&watch, jobs.len(), common.quiet);
    let records: Option<Vec<RunRecord>> = records?.into_iter().collect();
    let Some(records) = records else {
        return Err(Failure::Interrupted("interrupted: nothing was written".into()));
    };
    let command = format!("run {}", quoted(&args.scenario.clone().unwrap_or_else(|| args.foreign.command())));
    let Some(mut output) = Output::open(&args.out, &command, &records, None, args.force)? else {
        return Err(Failure::Run("nothing was written".into()));
    };
    if let ([record], true) = (&records[..], ready.settings.fork_columns()) {
        let origin = ready.settings.origin().as_ps();
        if let Some(text) = fork_columns(record, &ready.settings.wiring.hosts, origin) {
            output.write("fct.txt", text.as_bytes())?;
        }
    }
    let path = output.dir().join("results.json");
    let text = output.results(&records, |_| args.series != "none")?;
    if common.verbose {
        if let Some(by) = records.first().and_then(|r| r.by_model.as_ref()) {
            eprintln!("{}", by.text());
        }
        let cpu = cpu_time::ProcessTime::try_now().map_or(0.0, |t| t.as_duration().as_secs_f64());
        let peak = peak_memory() as f64 / 1e6;
        eprintln!("this took {cpu:.2} CPU-seconds and at most {peak:.1} MB");
    }
    if args.json {
        println!("{text}");
        return notes::ends(&records);
    }
    notes::print(&records);
    tell(&scenario.id(), &records, &shown);
    if !common.quiet {
        let hops: u64 = records.iter().map(|r| r.packet_hops).sum();
        let s = started.elapsed().as_secs_f64();
        eprintln!("{hops} packet-hops in {s:.2} s; results in {}", path.display());
    }
    notes::ends(&records)
}

/// What the runs of one case measured: the metrics asked for, or all, with the ports.
fn tell(id: &str, records: &[RunRecord], shown: &[&'static Metric]) {
    let Some(record) = records.first() else { return };
    let seeds = match records {
        [_] => format!("seed {}", record.seed),
        all => format!("seeds {} to {}", record.seed, record.seed + all.len() as u64 - 1),
    };
    let title = format!("{id}, {}, PAUSE {}, {}, {seeds}", record.condition, record.pause, record.scheme);
    println!("{}", paint(&title, Colour::Bold, look::colour_on_stdout()));
    let case = CaseRuns {
        condition: &record.condition,
        pause: &record.pause,
        scheme: &record.scheme,
        runs: records.iter().collect(),
    };
    let value = |s: Summary| {
        let one = if s.n == 1 { digits(s.mean) } else { measured(s.mean, s.confidence()) };
        at_least(s.bound) + &one
    };
    let metric =
        |m: &&'static Metric| Some(vec![m.id.to_string(), value(case.summary(m)?), m.unit.to_string()]);
    let metrics: Vec<&'static Metric> =
        if shown.is_empty() { METRICS.iter().collect() } else { shown.to_vec() };
    let counter = |name: &String| {
        let counts: Vec<f64> =
            records.iter().filter_map(|r| r.counters.get(name).map(|n| *n as f64)).collect();
        let s = Summary::of(&counts)?.within((0.0, f64::INFINITY));
        Some(vec![name.clone(), value(s), String::new()])
    };
    let counters = record.counters.keys().filter(|_| shown.is_empty()).filter_map(counter);
    let rows: Vec<Vec<String>> = metrics.iter().filter_map(metric).chain(counters).collect();
    println!("{}", look::table(&["metric", "value", "unit"], &rows, true));
    if records.len() > 1 {
        println!("{}", interval([records.len() as u64]));
    }
    let cases = [case];
    let mut tables = if shown.is_empty() { ports(&cases) } else { Vec::new() };
    tables.extend(traffic(&cases));
    for t in tables {
        let title = paint(&t.condition, Colour::Bold, look::colour_on_stdout());
        println!("\n{title}\n{}", summary::table(&t, &[], look::colour_on_stdout()).join("\n"));
    }
    by_size(record);
    unfinished_flows(record);
    if let Some(q) = record.series.get("hot_queue") {
        println!("\nhot queue  {}  up to {:.0} KB", look::spark(q.upper(), 40), q.top());
    }
    for r in records {
        let f = &r.fingerprint;
        println!("fingerprint {} {} {} (events, frames, samples)", f["events"], f["frames"], f["samples"]);
    }
}

/// Slowdowns of finite flows by size.
fn by_size(record: &RunRecord) {
    if record.by_size.is_empty() {
        return;
    }
    let of = record.config["record.ideal"].as_str().unwrap_or("exact");
    println!("\nSlowdown by size (seed {}; ideal time: {of})", record.seed);
    let row = |g: &SizeGroup| {
        let sizes = [g.sizes.0, g.sizes.1].map(|b| Bytes::new(b).to_string());
        let mean = if g.finished > 0 { digits(g.mean) } else { "-".into() };
        let numbers = g.slowdown.iter().zip(g.at_least).map(|(v, bound)| at_least(bound) + &digits(*v));
        let counts = [g.flows.to_string(), g.finished.to_string(), mean];
        sizes.into_iter().chain(counts).chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = record.by_size.iter().map(row).collect();
    println!(
        "{}",
        look::table(&["from", "to", "flows", "finished", "mean", "p50", "p95", "p99", "p99.9"], &rows, false)
    );
}

/// Most unfinished flows that are told.
const UNFINISHED: usize = 16;

/// Flows that were not received whole: how many, the first ones, and what they wait for.
fn unfinished_flows(record: &RunRecord) {
    if record.unfinished.is_empty() {
        return;
    }
    let all = record.metrics.get("incomplete_transfers").copied().unwrap_or(0.0);
    println!("\n{all} flows are unfinished at the end of the run (seed {}). The first of them:", record.seed);
    let row = |f: &Unfinished| {
        let (bytes, missing) = (Bytes::new(f.bytes).to_string(), Bytes::new(f.missing).to_string());
        let lost = f.lost.map_or_else(|| "?".into(), |n| n.to_string());
        vec![f.flow.clone(), Time::from_ps(f.start).to_string(), bytes, missing, lost, f.waits_for.clone()]
    };
    let rows: Vec<Vec<String>> = record.unfinished.iter().take(UNFINISHED).map(row).collect();
    println!(
        "{}",
        look::table(
            &["flow", "start", "bytes", "missing on the link", "frames lost", "waits for"],
            &rows,
            true
        )
    );
}
