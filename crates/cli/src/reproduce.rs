//! `cnsim reproduce`: run, compare, write, tell.

use crate::look::{self, Colour, paint};
use crate::{Common, Done, Failure, ReproduceArgs};
use cnsim_studies::claims::{Claim, Finding, claims_csv, findings};
use cnsim_studies::published::{self, Published};
use cnsim_studies::scenario::{Case, EMBEDDED, Scenario};
use cnsim_studies::store::{RunRecord, Store, write_atomically};
use cnsim_studies::study::{
    Cell, Job, Verdict, Watch, cells, digits, jobs, not_run, numbers_csv, results_json, run_jobs,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Seconds of CPU and bytes beyond which a request needs --force.
pub(crate) const HUGE_SECONDS: f64 = 4.0 * 3600.0;
pub(crate) const HUGE_BYTES: f64 = 8e9;
/// Packet-hops a CPU-second assumed by estimates.
pub(crate) const ASSUMED_SPEED: f64 = 12e6;

/// The scenarios that a word asks for, and which of their cases.
fn choose(what: &str) -> Result<Vec<Scenario>, Failure> {
    if what == "quick" {
        return Ok(vec![Scenario::load("B07/single-hop", &[])?]);
    }
    let wanted = |id: &str| {
        what == "all" || id.eq_ignore_ascii_case(what) || id.split('/').any(|p| p.eq_ignore_ascii_case(what))
    };
    let ids: Vec<&str> = EMBEDDED.iter().map(|(id, _)| *id).filter(|id| wanted(id)).collect();
    if ids.is_empty() {
        return Err(Failure::input(format!(
            "there is no study or scenario `{what}`\n  help: write quick, all, a study or STUDY/SCENARIO; `cnsim list scenarios` shows them"
        )));
    }
    ids.iter().map(|id| Ok(Scenario::load(id, &[])?)).collect()
}

/// `quick` = the 2 and 0.5 Gb/s tables with PAUSE.
fn is_quick(case: &Case) -> bool {
    case.pause == "on" && matches!(case.condition.as_str(), "hotspot 2 Gb/s" | "hotspot 0.5 Gb/s")
}

pub(crate) fn reproduce(args: &ReproduceArgs, common: &Common) -> Done {
    let mut scenarios = choose(&args.what)?;
    if let Some(seeds) = args.seeds {
        scenarios.iter_mut().for_each(|s| s.set_seeds(seeds));
    }
    let published = match &args.published {
        None => published::parse("published.csv", published::EMBEDDED),
        Some(file) => std::fs::read_to_string(file)
            .map_err(|e| format!("{}: {e}", file.display()))
            .and_then(|text| published::parse(&file.display().to_string(), &text)),
    };
    let published = published.map_err(Failure::Input)?;
    let quick = args.what == "quick";
    let only = args.only.as_ref().map(|t| t.to_lowercase());
    let keep = |case: &Case| {
        let text = format!("{}, PAUSE {}, {}", case.condition, case.pause, case.scheme).to_lowercase();
        (!quick || is_quick(case)) && only.as_ref().is_none_or(|t| text.contains(t))
    };
    let mut all: Vec<Job> = Vec::new();
    let mut lost: Vec<Published> = Vec::new();
    for s in &scenarios {
        if s.seeds == 0 {
            return Err(Failure::input("--seeds 0 runs nothing; use at least 1 (2 for intervals)"));
        }
        let (more, unread) = jobs(s, &published, s.seeds, &keep).map_err(Failure::Input)?;
        all.extend(more);
        lost.extend(unread);
    }
    if all.is_empty() {
        return Err(Failure::input(
            "no case is left to run\n  help: `--only` must match a part of `CONDITION, PAUSE on|off, SCHEME`",
        ));
    }
    refuse_huge(&all, args.force)?;
    let threads = threads(args.threads);
    if !common.quiet {
        eprintln!(
            "cnsim {}: {} of {} cases x seeds, {} threads",
            env!("CARGO_PKG_VERSION"),
            args.what,
            all.len(),
            threads
        );
    }
    let store = Store::open(&args.out).map_err(|e| Failure::io(&args.out, &e))?;
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch);
    let records = look::with_progress(all.len() as u64, &watch, common.quiet, || {
        run_jobs(&all, Some(&store), threads, &watch)
    });
    let records: Vec<RunRecord> = records.map_err(Failure::Run)?.into_iter().flatten().collect();
    if common.verbose {
        let hops = watch.hops.load(Ordering::Relaxed);
        eprintln!("{} runs, {hops} packet-hops simulated now, the rest from the store", records.len());
    }
    let interrupted = watch.stop.load(Ordering::Relaxed);
    let cells = cells(&records, &published, &scenarios);
    let mut left = not_run(&published, &cells, &scenarios);
    if quick || only.is_some() {
        left.clear();
    }
    left.extend(lost);
    let findings = findings(&records);
    write_all(&args.out, &records, &cells, &findings)?;
    let command = command_line(args);
    let report = crate::look_report::build(&command, &scenarios, &records, &cells, &findings, &left);
    let html = cnsim_report::render(&report).map_err(|e| Failure::Run(e.to_string()))?;
    write(&args.out.join("report.html"), html.as_bytes())?;
    if !common.quiet {
        tell(args, &cells, &findings, &left, &records);
    }
    if interrupted {
        return Err(Failure::Interrupted(format!(
            "interrupted: {} of {} runs are finished and kept; the same command goes on from here",
            records.len(),
            all.len()
        )));
    }
    Ok(())
}

fn command_line(args: &ReproduceArgs) -> String {
    let mut text = format!("cnsim reproduce {}", args.what);
    if let Some(n) = args.seeds {
        text += &format!(" --seeds {n}");
    }
    if let Some(o) = &args.only {
        text += &format!(" --only {o:?}");
    }
    text
}

/// Number of threads asked for, or all cores.
pub(crate) fn threads(asked: usize) -> usize {
    if asked > 0 { asked.min(256) } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// Refuses what would take hours or fill the memory.
pub(crate) fn refuse_huge(jobs: &[Job], force: bool) -> Done {
    let hops: f64 = jobs.iter().map(|j| j.ready.settings.packet_hops()).sum();
    let memory = jobs.iter().map(|j| j.ready.settings.memory()).fold(0.0, f64::max);
    let seconds = hops / ASSUMED_SPEED;
    if !force && (seconds > HUGE_SECONDS || memory > HUGE_BYTES) {
        return Err(Failure::input(format!(
            "this is huge: about {hops:.1e} packet-hops, {:.1} CPU-hours, {:.1} GB of memory a run\n  help: shorten run.duration, use fewer hosts or seeds, or insist with --force",
            seconds / 3600.0,
            memory / 1e9
        )));
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Done {
    write_atomically(path, bytes).map_err(|e| Failure::io(path, &e))
}

/// File name of a run's series.
pub(crate) fn series_file(r: &RunRecord, name: &str) -> String {
    let plain = |s: &str| {
        s.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect::<String>()
    };
    format!(
        "series/{}-{}-{}-pause-{}-{}-seed{}-{name}.csv",
        r.study,
        r.scenario,
        plain(&r.condition),
        r.pause,
        r.scheme,
        r.seed
    )
}

/// Writes the series of a run.
pub(crate) fn write_series(out: &Path, r: &RunRecord) -> Done {
    for (name, curve) in &r.series {
        let mut text = format!("time_s,{name}_{}\n", curve.unit.replace('/', "_per_"));
        for (i, v) in curve.values.iter().enumerate() {
            text += &format!("{},{}\n", digits((i + 1) as f64 * curve.bin), digits(*v));
        }
        write(&out.join(series_file(r, name)), text.as_bytes())?;
    }
    Ok(())
}

fn write_all(
    out: &Path,
    records: &[RunRecord],
    cells: &[Cell],
    findings: &[(&'static Claim, Finding)],
) -> Done {
    write(&out.join("numbers.csv"), numbers_csv(cells).as_bytes())?;
    write(&out.join("claims.csv"), claims_csv(findings).as_bytes())?;
    // The first seed's series stand for the figures; all others are in the store.
    for r in records.iter().filter(|r| r.seed == 1) {
        write_series(out, r)?;
    }
    let series = |r: &RunRecord| -> Vec<String> {
        if r.seed == 1 { r.series.keys().map(|n| series_file(r, n)).collect() } else { Vec::new() }
    };
    let json =
        serde_json::to_vec(&results_json(records, &series)).map_err(|e| Failure::Run(e.to_string()))?;
    write(&out.join("results.json"), &json)
}

/// The five columns of the printed tables.
const COLUMNS: [&str; 5] =
    ["aggregate_throughput", "hot_port_throughput", "time_paused", "dropped_frames", "overhead"];

fn tell(
    args: &ReproduceArgs,
    cells: &[Cell],
    findings: &[(&'static Claim, Finding)],
    left: &[Published],
    records: &[RunRecord],
) {
    let colour = look::colour_on_stdout();
    let mut tables: Vec<(&str, &str, &str, &str)> = Vec::new();
    for c in cells {
        let id = (c.study.as_str(), c.scenario.as_str(), c.condition.as_str(), c.pause.as_str());
        if !tables.contains(&id) {
            tables.push(id);
        }
    }
    for (study, scenario, condition, pause) in tables {
        println!(
            "\n{}",
            paint(&format!("{study}/{scenario}, {condition}, PAUSE {pause}"), Colour::Bold, colour)
        );
        let of = |c: &&Cell| {
            (c.study.as_str(), c.scenario.as_str(), c.condition.as_str(), c.pause.as_str())
                == (study, scenario, condition, pause)
        };
        let mut schemes: Vec<&str> = Vec::new();
        cells.iter().filter(of).for_each(|c| {
            if !schemes.contains(&c.scheme.as_str()) {
                schemes.push(&c.scheme);
            }
        });
        let mut header = vec!["scheme".to_string()];
        // A column that is zero by construction throughout says nothing.
        let columns: Vec<&str> = COLUMNS
            .into_iter()
            .filter(|id| cells.iter().filter(of).any(|c| c.metric.id == *id && !c.structural))
            .collect();
        for m in columns.iter().filter_map(|id| cnsim_studies::metrics::find(id)) {
            header.push(format!("{} publ.", m.title));
            header.push(format!("measured [{}]", m.unit));
        }
        header.push("verdict".into());
        let rows: Vec<Vec<String>> = schemes
            .iter()
            .map(|s| {
                let mut row = vec![(*s).to_string()];
                let mut missed = Vec::new();
                for &id in &columns {
                    let cell = cells.iter().filter(of).find(|c| c.scheme == *s && c.metric.id == id);
                    let Some(c) = cell else {
                        row.extend(["".into(), "".into()]);
                        continue;
                    };
                    row.push(c.published.as_ref().map_or_else(|| "-".into(), |p| p.text.clone()));
                    let half = c.summary.confidence().map_or(0.0, |(l, h)| (h - l) / 2.0);
                    row.push(measured(c.summary.mean, half));
                    if c.verdict == Verdict::Differs {
                        missed.push(c.metric.title);
                    }
                }
                row.push(if missed.is_empty() {
                    "agrees".into()
                } else {
                    format!("differs: {}", missed.join(", "))
                });
                row
            })
            .collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        for (i, line) in look::table(&header, &rows, true).lines().enumerate() {
            let tint = if i < 2 {
                Colour::Dim
            } else if line.contains("differs") {
                Colour::Yellow
            } else {
                Colour::Green
            };
            println!("{}", paint(line, tint, colour));
        }
    }
    let count = |v: Verdict| cells.iter().filter(|c| c.verdict == v && !c.structural).count();
    let zeros = cells.iter().filter(|c| c.published.is_some() && c.structural).count();
    println!(
        "\n{} published cells agree, {} differ; {zeros} more are zero by construction. ± is the 95 % interval of the mean.",
        count(Verdict::Agrees),
        count(Verdict::Differs)
    );
    for c in cells.iter().filter(|c| c.verdict == Verdict::Differs) {
        println!(
            "  {}, PAUSE {}, {}, {}: published {}, measured {}; {}",
            c.condition,
            c.pause,
            c.scheme,
            c.metric.title,
            c.published.as_ref().map_or("", |p| p.text.as_str()),
            digits(c.summary.mean),
            c.note
        );
    }
    let not_yet = findings.iter().filter(|f| f.1.holds == cnsim_studies::claims::Holds::NotRun).count();
    println!("\nClaims ({not_yet} of {} not run here):", findings.len());
    for (c, f) in findings.iter().filter(|f| f.1.holds != cnsim_studies::claims::Holds::NotRun) {
        println!("  {:6} {:9} {}", c.id, f.holds.text(), c.text);
    }
    if !left.is_empty() {
        println!("\nPublished, not run: {} cells; the report lists them.", left.len());
    }
    if let Some(r) = records.iter().find(|r| r.scheme == "qcn-2pt" && r.seed == 1)
        && let Some(q) = r.series.get("hot_queue")
    {
        println!(
            "\nHot queue, {}, {}: {} 0 to {:.0} KB",
            r.scheme,
            r.condition,
            look::spark(&q.values, 50),
            q.values.iter().copied().fold(0.0, f64::max)
        );
    }
    let out = args.out.display();
    println!("\nReport   {out}/report.html\nNumbers  {out}/numbers.csv, claims.csv, results.json, series/");
    println!("Why      cnsim explain B07/single-hop/qcn-2pt/aggregate_throughput");
    println!(
        "Next     cnsim reproduce B07 · cnsim list · cnsim run single-hop --scheme ecm · cnsim new mine > mine.toml"
    );
    println!("Fingerprint of all runs: {} (the same on any number of threads)", fingerprint(records));
}

/// Mean and half width with as many decimals as mean something.
pub(crate) fn measured(mean: f64, half: f64) -> String {
    let decimals = if mean.abs() >= 1000.0 {
        0
    } else if mean.abs() >= 100.0 {
        1
    } else if mean.abs() >= 1.0 || mean == 0.0 {
        2
    } else {
        3
    };
    if mean == 0.0 && half == 0.0 { "0".into() } else { format!("{mean:.decimals$} ± {half:.decimals$}") }
}

/// One hash over all runs' fingerprints.
pub(crate) fn fingerprint(records: &[RunRecord]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in records.iter().flat_map(|r| r.fingerprint.values()).flat_map(|h| h.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}
