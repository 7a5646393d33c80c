//! The verb `explain-collective`: how long a collective took, which rank came last, and the chain that decided its end.

use crate::chosen::{self, Chosen};
use crate::explain_pause::put;
use crate::{Done, Failure, look};
use clap::Args;
use cnsim_measure::jobs::{JobFacts, Lane, Part, RoundFacts};
use cnsim_measure::pauses::{exact, part as in_unit, time};
use cnsim_measure::quantity::digits;
use cnsim_problem::joined;
use cnsim_runs::flow_files::labels;
use cnsim_runs::job_files::read_paths;
use cnsim_runs::points::{Point, points};
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Results;
use cnsim_units::Bytes;
use indexmap::{IndexMap, IndexSet};
use std::cmp::Reverse;

/// Arguments of `explain-collective`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExplainCollectiveArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Only the collective of this name.
    #[arg(long)]
    name: Option<String>,
}

/// Collectives that are shown, and parts, ports and owners of one.
const MOST: usize = 4;
const LISTED: usize = 8;

pub(crate) fn explain_collective(args: &ExplainCollectiveArgs) -> Done {
    let file = chosen::file(&args.chosen.results, "results.json")?;
    let mut runs = Results::read(&file).map_err(Failure::input)?.runs;
    if runs.iter().all(|r| r.jobs.is_empty()) {
        return Err(Failure::input(format!(
            "{}: no run of these results has a collective\n  help: run a scenario whose workload.kind is all-reduce, graph, training or another that `cnsim explain workload.kind` names",
            file.display()
        )));
    }
    let paths = file.with_file_name("critical_path.csv");
    if paths.exists() {
        read_paths(&paths, &mut runs).map_err(Failure::input)?;
    }
    let named = |job: &JobFacts| args.name.as_ref().is_none_or(|name| *name == job.name);
    let points = points(&runs);
    let all: Vec<(&Point<'_>, &RunRecord)> =
        points.iter().flat_map(|p| p.runs.iter().map(move |r| (p, *r))).collect();
    let meant = args.chosen.of(&all, |(_, r)| labels(r))?.into_iter();
    let all: Vec<(&Point<'_>, u64, &JobFacts)> =
        meant.flat_map(|(p, r)| r.jobs.iter().map(move |job| (*p, r.seed, job))).collect();
    let found: Vec<_> = all.iter().filter(|(.., job)| named(job)).collect();
    if found.is_empty() {
        let names: IndexSet<&str> = all.iter().map(|(.., job)| job.name.as_str()).collect();
        let help = match names.is_empty() {
            true => "the other runs have: leave out --condition, --scheme or --seed".into(),
            false => format!("there are: {}", joined(names.into_iter().take(LISTED), ", ")),
        };
        return Err(Failure::input(format!("these runs have no such collective\n  help: {help}")));
    }
    for (n, (point, seed, job)) in found.iter().take(MOST).enumerate() {
        if n > 0 {
            println!();
        }
        println!("{}, seed {seed}", point.name());
        page(job).iter().for_each(|line| println!("{line}"));
    }
    if found.len() > MOST {
        println!("\n{} more: choose by --name, --condition, --scheme or --seed", found.len() - MOST);
    }
    Ok(())
}

/// The page on a collective, at most 80 columns wide.
fn page(job: &JobFacts) -> Vec<String> {
    let mut lines = Vec::new();
    let kind = [&job.kind, &job.algorithm].map(String::as_str);
    let kind: Vec<&str> = kind.into_iter().filter(|word| !word.is_empty()).collect();
    let bytes = Bytes::new(job.bytes);
    let head = format!(
        "{}: {}, {}, {bytes}",
        job.name,
        kind.join(" by "),
        look::count(job.ranks.len() as u64, "rank")
    );
    put(&mut lines, ("", "  "), &head);
    let done: Vec<(usize, &RoundFacts)> =
        job.rounds.iter().enumerate().filter(|r| r.1.time.is_some()).collect();
    match job.time {
        Some(t) => lines.push(format!("job time {}", time(t))),
        None => {
            let text = match &job.stands {
                Some(s) => {
                    format!("WAITS FOR EVER since {}: rank {} for {}", time(s.since), s.rank, s.operation)
                }
                None => format!("not done: it waits for {}", job.waits_for.as_deref().unwrap_or("its begin")),
            };
            put(&mut lines, ("", "  "), &text);
            lines.push(format!("{} of {} rounds are done", done.len(), job.planned));
        }
    }
    if let Some((n, slowest)) = done.iter().max_by_key(|r| (r.1.time, Reverse(r.0))) {
        rounds(&mut lines, job, &done, (*n, slowest));
    }
    lanes(&mut lines, "ranks over time (# computes, = transfers, . waits)", &job.lanes);
    lanes(&mut lines, "ports over time (# in XOFF, = transfers, . neither)", &job.ports);
    if job.time.is_some() && job.path.is_empty() {
        lines.push("its critical path is not there: critical_path.csv has it".into());
    } else if !job.path.is_empty() {
        path(&mut lines, job);
    }
    lines
}

/// Columns of a lane: what a part does for most of its time.
fn lanes(lines: &mut Vec<String>, head: &str, all: &[Lane]) {
    if all.is_empty() {
        return;
    }
    lines.push(format!("{head}:"));
    for lane in all.iter().take(2 * LISTED) {
        let shares = Lane::tenths(&lane.first).zip(Lane::tenths(&lane.second));
        let strip = shares.map(|(first, second)| match (first, second) {
            _ if first + second < 5 => '.',
            _ if first >= second => '#',
            _ => '=',
        });
        let name: String = lane.name.chars().take(16).collect();
        lines.push(format!("  {name:<16} {}", strip.collect::<String>()));
    }
    if all.len() > 2 * LISTED {
        lines.push(format!("  {} more, in the report", all.len() - 2 * LISTED));
    }
}

/// The rounds that are done, and the slowest of them.
fn rounds(
    lines: &mut Vec<String>,
    job: &JobFacts,
    done: &[(usize, &RoundFacts)],
    (n, slowest): (usize, &RoundFacts),
) {
    let sum: u64 = done.iter().filter_map(|r| r.1.time).sum();
    let which = match done.len() {
        1 => String::new(),
        all => format!("round {n}, the slowest of {all} ({} in the mean): ", time(sum / all as u64)),
    };
    let rank = slowest.last_rank as usize;
    let host = job.ranks.get(rank).map_or("", String::as_str);
    let last = match slowest.last_transfer.as_str() {
        "" => String::new(),
        transfer => format!(", by transfer {transfer}"),
    };
    let text = format!(
        "{which}{}; rank {rank} ({host}) ended last{last}, {} behind the first",
        time(slowest.time.unwrap_or(0)),
        time(slowest.straggler)
    );
    put(lines, ("", "  "), &text);
    if let Some((algorithm, bus)) = slowest.algorithm_bandwidth.zip(slowest.bus_bandwidth) {
        lines.push(format!(
            "algorithm bandwidth {} GB/s, bus bandwidth {} GB/s",
            digits(algorithm),
            digits(bus)
        ));
    }
}

/// A line of a table: a name, a time, and its share of a whole.
fn row(name: &str, (part, whole): (u64, u64), more: &str) -> String {
    let share = part as f64 / whole.max(1) as f64 * 100.0;
    let room = 30_usize.max(name.chars().count());
    format!("  {name:<room$} {:>10} {share:>5.1} %{more}", in_unit(part, whole))
}

/// Owner of a part, without the layer: `TP all-gather` of `TP all-gather, attention_row`.
fn owner(part: &Part) -> &str {
    part.of.split(", ").next().unwrap_or_default()
}

/// The critical path: its parts by kind, by owner and by port, and the longest ones.
fn path(lines: &mut Vec<String>, job: &JobFacts) {
    let whole: u64 = job.path.iter().map(|p| p.time).sum();
    let transfers = || job.path.iter().filter(|p| p.what == "transfer");
    let of = |what: &str| job.path.iter().filter(|p| p.what == what).map(|p| p.time).sum::<u64>();
    let waits = || transfers().flat_map(|p| &p.waits);
    let (queued, xoff): (u64, u64) = waits().fold((0, 0), |sum, w| (sum.0 + w.queued, sum.1 + w.xoff));
    let alone: u64 = transfers().map(|p| p.alone).sum();
    let answer: u64 = transfers().map(|p| p.answer).sum();
    let elsewhere = of("transfer") - alone - answer - queued - xoff;
    lines.push(format!("critical path, {}:", look::count(job.path.len() as u64, "part")));
    for (name, part) in [
        ("computing", of("compute")),
        ("transfers alone", alone),
        ("in queues", queued),
        ("in XOFF", xoff),
        ("waiting, place not kept", elsewhere),
        ("until acknowledged", answer),
        ("earlier parts, not kept", of("earlier")),
    ] {
        if part > 0 || name == "transfers alone" {
            lines.push(row(name, (part, whole), ""));
        }
    }
    let told = match job.time {
        Some(t) if t == whole => "= job time",
        _ => "and the job time is another: the files do not belong together",
    };
    lines.push(format!("  sum {} {told}", exact(whole)));
    let mut owners: IndexMap<&str, (u64, u64)> = IndexMap::new();
    for part in job.path.iter().filter(|p| !p.of.is_empty()) {
        let sum = owners.entry(owner(part)).or_default();
        *sum = (sum.0 + part.time, sum.1 + 1);
    }
    table(lines, "of it:", owners, whole, |n| format!("  {}", look::count(n, "part")));
    let mut ports: IndexMap<&str, (u64, u64)> = IndexMap::new();
    for wait in waits() {
        let sum = ports.entry(&wait.port).or_default();
        *sum = (sum.0 + wait.queued + wait.xoff, sum.1 + wait.xoff);
    }
    let in_xoff =
        |xoff| if xoff > 0 { format!("  {} of it in XOFF", in_unit(xoff, whole)) } else { String::new() };
    table(lines, "waits by port:", ports, whole, in_xoff);
    let mut longest: Vec<&Part> = job.path.iter().filter(|p| p.what != "earlier").collect();
    longest.sort_by_key(|p| (Reverse(p.time), p.from));
    lines.push("longest parts:".into());
    for p in longest.into_iter().take(LISTED) {
        let time = |ps| in_unit(ps, whole);
        let mut text = format!("at {}  {}  {} {}", time(p.from), time(p.time), p.what, p.place);
        if p.what == "transfer" {
            text += &format!(", {}, alone {}", Bytes::new(p.bytes), time(p.alone));
        }
        if !p.of.is_empty() {
            text += &format!(" ({})", p.of);
        }
        if let Some(most) = p.waits.iter().rev().max_by_key(|w| w.queued + w.xoff) {
            text += &format!("; most at {}, {}", most.port, time(most.queued + most.xoff));
        }
        put(lines, ("  ", "    "), &text);
    }
}

/// A table of shares of the path, the largest first; the rest in a line.
fn table(
    lines: &mut Vec<String>,
    head: &str,
    rows: IndexMap<&str, (u64, u64)>,
    whole: u64,
    more: impl Fn(u64) -> String,
) {
    let mut rows: Vec<(&str, (u64, u64))> = rows.into_iter().collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|r| Reverse(r.1.0));
    lines.push(head.into());
    for (name, (part, n)) in rows.iter().take(LISTED) {
        lines.push(row(name, (*part, whole), &more(*n)));
    }
    if rows.len() > LISTED {
        let rest: u64 = rows[LISTED..].iter().map(|r| r.1.0).sum();
        lines.push(row(&format!("{} more", rows.len() - LISTED), (rest, whole), ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::jobs::{Standing, Wait};

    /// A path of four parts, by hand.
    #[test]
    fn a_collective_is_told_in_eighty_columns() {
        let us = 1_000_000;
        let transfer = |place: &str, from, time, alone, waits: Vec<Wait>| Part {
            what: "transfer".into(),
            place: place.into(),
            of: "TP all-gather, attention_column_of_a_long_name".into(),
            bytes: 100_000,
            from,
            time,
            alone,
            waits,
            answer: 0,
        };
        let wait = |port: &str, queued, xoff| Wait { port: port.into(), queued, xoff };
        let compute = |from, time| Part {
            what: "compute".into(),
            place: "H0".into(),
            of: "forward, mlp".into(),
            from,
            time,
            ..Part::default()
        };
        let parts = vec![
            compute(0, 5 * us),
            transfer("H0>H1", 5 * us, 12 * us, 10 * us, vec![wait("S>H1", 2 * us, 0)]),
            transfer(
                "H1>H2",
                17 * us,
                16 * us,
                10 * us,
                vec![wait("H1>S", us, 2 * us), wait("S>H1", 2 * us, us)],
            ),
            compute(33 * us, us),
        ];
        let round = RoundFacts {
            time: Some(34 * us),
            algorithm_bandwidth: Some(2.5),
            bus_bandwidth: Some(3.75),
            last_rank: 2,
            last_transfer: "H1>H2".into(),
            straggler: 3 * us,
            ..RoundFacts::default()
        };
        let mut job = JobFacts {
            name: "job".into(),
            kind: "all-reduce".into(),
            algorithm: "ring".into(),
            ranks: ["H0", "H1", "H2"].map(String::from).into(),
            bytes: 300_000,
            rounds: vec![round],
            planned: 1,
            time: Some(34 * us),
            path: parts,
            lanes: vec![Lane {
                name: "0 H0".into(),
                first: format!("a6{}", "0".repeat(58)),
                second: format!("04a5{}", "4".repeat(56)),
            }],
            ..JobFacts::default()
        };
        let want = "\
job: all-reduce by ring, 3 ranks, 300 KB
job time 34.00 us
34.00 us; rank 2 (H2) ended last, by transfer H1>H2, 3.000 us behind the first
algorithm bandwidth 2.5 GB/s, bus bandwidth 3.75 GB/s
ranks over time (# computes, = transfers, . waits):
  0 H0             ##==........................................................
critical path, 4 parts:
  computing                        6.000 us  17.6 %
  transfers alone                  20.00 us  58.8 %
  in queues                        5.000 us  14.7 %
  in XOFF                          3.000 us   8.8 %
  sum 34 us = job time
of it:
  TP all-gather                    28.00 us  82.4 %  2 parts
  forward                          6.000 us  17.6 %  2 parts
waits by port:
  S>H1                             5.000 us  14.7 %  1.000 us of it in XOFF
  H1>S                             3.000 us   8.8 %  2.000 us of it in XOFF
longest parts:
  at 17.00 us  16.00 us  transfer H1>H2, 100 KB, alone 10.00 us (TP all-gather,
    attention_column_of_a_long_name); most at H1>S, 3.000 us
  at 5.000 us  12.00 us  transfer H0>H1, 100 KB, alone 10.00 us (TP all-gather,
    attention_column_of_a_long_name); most at S>H1, 2.000 us
  at 0 us  5.000 us  compute H0 (forward, mlp)
  at 33.00 us  1.000 us  compute H0 (forward, mlp)";
        let said = page(&job);
        assert!(said.iter().all(|l| l.chars().count() <= 80), "{said:#?}");
        assert_eq!(said.join("\n"), want);
        // Files that do not belong together, and a job that is not done.
        job.path.pop();
        assert!(page(&job).join("\n").contains("sum 33 us and the job time is another"));
        job.path.clear();
        assert!(page(&job).join("\n").contains("critical_path.csv has it"));
        (job.time, job.rounds, job.planned, job.lanes) = (None, Vec::new(), 2, Vec::new());
        job.waits_for = Some("the transfer H0>H1 of 5 B since 3 us, at rank 1 (H1)".into());
        assert_eq!(
            page(&job)[1..],
            [
                "not done: it waits for the transfer H0>H1 of 5 B since 3 us, at rank 1 (H1)",
                "0 of 2 rounds are done"
            ]
        );
        job.stands = Some(Standing { rank: 1, operation: "the transfer H0>H1".into(), since: us });
        assert_eq!(page(&job)[1], "WAITS FOR EVER since 1.000 us: rank 1 for the transfer H0>H1");
    }
}
