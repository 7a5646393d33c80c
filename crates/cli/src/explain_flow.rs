//! The verb `explain-flow`: where the time of a finite flow went, alone or beside the same flow of another run.

use crate::chosen::{self, Chosen, title};
use crate::{Done, Failure, fit, look};
use clap::Args;
use cnsim_measure::pauses::time;
use cnsim_measure::spent::{AtPort, Cuts, FlowParts, MOST_KEPT, PARTS, SLOWEST, Spent};
use cnsim_problem::nearest;
use cnsim_runs::files::{LARGEST, read_csv};
use cnsim_runs::spent_files::read_spent;
use cnsim_units::{Bytes, Rate};
use indexmap::IndexMap;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Arguments of `explain-flow`.
#[derive(Args, Debug, Clone)]
#[command(mut_arg("seed", |seed| seed.help("Only the run of this seed [default: the first]")))]
pub(crate) struct ExplainFlowArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// The flow: `H10>H5`, or `H10>H5#2` for the second of its hosts [default: the slowest].
    flow: Option<String>,
    /// Beside the same flow of another run: a scheme, `seed 2`, a part of a condition, or another folder of results.
    #[arg(long, value_name = "OTHER")]
    against: Option<String>,
}

/// A run's labels, and where the time of its flows went.
type Run = ([String; 4], Spent);

/// Columns of the page.
const WIDTH: usize = 80;
/// Runs that are shown.
const MOST_RUNS: usize = 4;
/// Flows that are listed.
const MOST: usize = 8;
/// Cuts that are listed.
const MOST_CUTS: usize = 5;

pub(crate) fn explain_flow(args: &ExplainFlowArgs) -> Done {
    let incomplete = |error| none_whole(&args.chosen).unwrap_or(error);
    let (file, runs) = read(&args.chosen.results).map_err(incomplete)?;
    let mut found = args.chosen.of(&runs, |run| &run.0).map_err(incomplete)?;
    // Of several seeds the first.
    found.dedup_by(|b, a| a.0[..3] == b.0[..3]);
    if let Some(other) = &args.against {
        let [run] = found[..] else {
            return Err(Failure::input(format!(
                "--against {other}: {} are like that\n  help: choose one by --condition, --scheme or --seed",
                look::count(found.len() as u64, "run")
            )));
        };
        let flow = args.flow_of(run, &file)?;
        let others = Path::new(other).exists().then(|| read(Path::new(other))).transpose()?;
        let beside = against(run, others.as_ref().map_or(&runs, |(_, runs)| runs), other, others.is_some())?;
        let same = |f: &&FlowParts| (&f.flow, f.nth) == (&flow.flow, flow.nth);
        let Some(its) = beside.1.flows.iter().find(same) else {
            return Err(missing(&flow.name(), beside, None));
        };
        print!("{}", page((run, flow), Some((beside, its))));
        return Ok(());
    }
    for (n, run) in found.iter().take(MOST_RUNS).enumerate() {
        if n > 0 {
            println!();
        }
        let flow = args.flow_of(run, &file)?;
        if args.flow.is_none() {
            print!("{}", slowest(run));
        }
        print!("{}", page((run, flow), None));
    }
    if found.len() > MOST_RUNS {
        println!("{} more runs: choose by --condition, --scheme or --seed", found.len() - MOST_RUNS);
    }
    Ok(())
}

impl ExplainFlowArgs {
    /// The flow of a run that is asked for: the slowest, unless it is named.
    fn flow_of<'a>(&self, run: &'a Run, file: &Path) -> Result<&'a FlowParts, Failure> {
        let flows = &run.1.flows;
        let Some(name) = &self.flow else {
            let slowest = flows.iter().max_by(|a, b| a.slowdown().total_cmp(&b.slowdown()));
            return slowest.ok_or_else(|| Failure::input(format!("{}: no flow is complete", title(&run.0))));
        };
        let asked = name.replace(' ', "");
        let (pair, nth) = asked.split_once('#').unwrap_or((&asked, "1"));
        let nth = nth.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
            Failure::input(format!(
                "{name}: `#{nth}` is no number of a flow\n  help: write \"H10>H5#2\" for the second"
            ))
        })?;
        let mut all = flows.iter().filter(|f| f.flow.eq_ignore_ascii_case(pair));
        all.find(|f| f.nth + 1 == nth).ok_or_else(|| missing(&asked, run, Some(file)))
    }
}

/// Reads a folder of results, or its flows.csv.
fn read(results: &Path) -> Result<(PathBuf, Vec<Run>), Failure> {
    let file = chosen::file(results, "flows.csv")?;
    if !file.exists() {
        return Err(Failure::input(format!(
            "{}: there is none: no run of these results kept where the time of its flows went\n  help: run the scenario with `--set record.trips=on --out {}`",
            file.display(),
            results.display()
        )));
    }
    let runs = read_spent(&file).map_err(Failure::input)?;
    Ok((file, runs))
}

/// The run of these that is meant: like this one, but for what is named.
fn against<'a>(run: &Run, all: &'a [Run], other: &str, elsewhere: bool) -> Result<&'a Run, Failure> {
    let word = other.to_lowercase();
    let seed = word.strip_prefix("seed").map(|n| n.trim_matches([' ', '=']).to_string());
    let meant = |labels: &[String; 4]| {
        let [condition, pause, scheme, number] = labels;
        elsewhere
            || scheme.to_lowercase() == word
            || seed.as_ref() == Some(number)
            || format!("pause {}", pause.to_lowercase()) == word
            || condition.to_lowercase().contains(&word)
    };
    let alike = |labels: &[String; 4]| labels.iter().zip(&run.0).filter(|(a, b)| a == b).count();
    let candidates = all.iter().filter(|r| meant(&r.0) && (elsewhere || r.0 != run.0));
    // Of several the first: that of the least seed.
    let best = candidates.reduce(|best, r| if alike(&r.0) > alike(&best.0) { r } else { best });
    best.ok_or_else(|| {
        let mut known: Vec<String> = all.iter().map(|r| r.0[2].clone()).filter(|s| *s != run.0[2]).collect();
        known.dedup();
        let near = nearest(other, known.iter().map(String::as_str)).map(|n| format!("did you mean `{n}`? "));
        Failure::input(format!(
            "--against {other}: no other run is like that\n  help: {}name a scheme, `seed 2`, a part of a condition, or another folder of results",
            near.unwrap_or_default()
        ))
    })
}

/// The error for a flow that is not there: why, if that is known, and the nearest names.
fn missing(name: &str, (labels, spent): &Run, file: Option<&Path>) -> Failure {
    let pair = name.split('#').next().unwrap_or(name);
    let of_pair = spent.flows.iter().filter(|f| f.flow.eq_ignore_ascii_case(pair)).count();
    let run = title(labels);
    if let Some(why) = file.and_then(|file| unfinished(&file.with_file_name("fct.csv"), labels, name)) {
        return Failure::input(format!(
            "{name} was not received whole ({run}): it waits for {why}\n  help: fct.csv has what is missing of it; a longer run.duration may complete it"
        ));
    }
    let help = if of_pair > 0 {
        format!("{} of these hosts: `{pair}` to `{pair}#{of_pair}`", look::count(of_pair as u64, "flow"))
    } else if spent.complete as usize > MOST_KEPT {
        format!(
            "of {} flows the {SLOWEST} slowest are kept, and those that record.flows names",
            spent.complete
        )
    } else {
        let near = nearest(pair, spent.flows.iter().map(|f| f.flow.as_str()));
        near.map_or_else(
            || "flows.csv lists them".into(),
            |n| format!("did you mean `{n}`? flows.csv lists them"),
        )
    };
    Failure::input(format!("{name}: no such flow is complete ({run})\n  help: {help}"))
}

/// The error for a chosen run of which no flow was received whole.
fn none_whole(chosen: &Chosen) -> Option<Failure> {
    let fct = chosen::path(&chosen.results, "flows.csv").with_file_name("fct.csv");
    let text = cnsim_problem::read_file(&fct, LARGEST).ok()?;
    let rows: Vec<Vec<String>> = read_csv(&text).into_iter().filter(|row| row.len() > 16).collect();
    let waits = |labels: &[String]| {
        let mut mine = rows.iter().skip(1).filter(|row| row[..4] == *labels);
        mine.all(|row| !row[14].is_empty())
    };
    let mut runs: Vec<&[String]> = rows.iter().skip(1).map(|row| &row[..4]).collect();
    runs.dedup();
    runs.retain(|labels| waits(labels));
    let found = chosen.of(&runs, |labels| *labels).ok()?;
    let labels = found.first()?;
    let flows = rows.iter().filter(|row| row[..4] == ***labels).count() as u64;
    Some(Failure::input(format!(
        "{}: none of its {} was received whole, and only of such a flow it is known where its time went\n  help: fct.csv has what each waits for; a longer run.duration may complete them",
        title(labels),
        look::count(flows, "flow")
    )))
}

/// What a flow waits for that was not received whole.
fn unfinished(fct: &Path, labels: &[String; 4], name: &str) -> Option<String> {
    let text = cnsim_problem::read_file(fct, LARGEST).ok()?;
    let (pair, nth) = name.split_once('#').unwrap_or((name, "1"));
    let nth = nth.parse::<u64>().ok()?.checked_sub(1)?.to_string();
    let rows = read_csv(&text).into_iter();
    let mut mine = rows.filter(|row| row.len() > 16 && row[..4] == labels[..]);
    let found =
        mine.find(|row| format!("{}>{}", row[4], row[5]).eq_ignore_ascii_case(pair) && row[16] == nth)?;
    (!found[14].is_empty()).then(|| found[14].clone())
}

/// The slowest flows of a run.
fn slowest((labels, spent): &Run) -> String {
    let mut all: Vec<&FlowParts> = spent.flows.iter().collect();
    all.sort_by(|a, b| b.slowdown().total_cmp(&a.slowdown()));
    let mut lines = Vec::new();
    let shown = all.len().min(MOST);
    let head = format!(
        "{}: the slowest {shown} of {} complete flows, each with its size, its time, that over its time alone, and the largest part",
        title(labels),
        spent.complete
    );
    lines.extend(fit::wrapped(&head, WIDTH));
    for f in all.iter().take(MOST) {
        let parts = f.by_part();
        let most = parts.iter().enumerate().max_by_key(|part| (part.1, Reverse(part.0)));
        let (part, share) = most.map_or(("", 0), |(n, time)| (PARTS[n].1, percent(*time, f.time)));
        let (time, slowdown) = (time(f.time), f.slowdown());
        let size = Bytes::new(f.bytes).to_string();
        let name = f.name();
        lines.push(format!("  {name:<12}{size:>8}{time:>11}{slowdown:>7.1}x {share:>3} % {part}"));
    }
    lines.join("\n") + "\n\n"
}

/// A share in whole percent.
fn percent(part: u64, of: u64) -> u64 {
    (part * 100 + of / 2) / of.max(1)
}

/// A row of the page: where, what, and the times.
struct Row(String, String, Vec<u64>);

/// The rows of some flows, in the order of the chain; those without time in any are left out.
fn rows(flows: &[(&Spent, &FlowParts)]) -> Vec<Row> {
    let mut ports: Vec<&str> = Vec::new();
    for (spent, flow) in flows {
        for at in flow.ports.iter().skip(1) {
            let name = spent.port(at.port);
            if !ports.contains(&name) {
                ports.push(name);
            }
        }
    }
    let by_part: Vec<_> = flows.iter().map(|f| f.1.by_part()).collect();
    let part = |n: usize| by_part.iter().map(|parts| parts[n]).collect::<Vec<u64>>();
    let source = flows.first().map_or("", |f| f.1.flow.split('>').next().unwrap_or_default());
    let mut rows: Vec<Row> = (0..7).map(|n| Row(source.into(), PARTS[n].1.into(), part(n))).collect();
    for port in ports {
        let of = |value: fn(&AtPort) -> u64| {
            let each = flows.iter().map(|(spent, f)| {
                f.ports.iter().skip(1).filter(|at| spent.port(at.port) == port).map(value).sum()
            });
            each.collect::<Vec<u64>>()
        };
        rows.push(Row(port.into(), "queue".into(), of(|at| at.queued)));
        rows.push(Row(port.into(), "XOFF".into(), of(|at| at.xoff)));
    }
    rows.extend((9..PARTS.len()).map(|n| Row(String::new(), PARTS[n].1.into(), part(n))));
    rows.retain(|row| row.2.iter().any(|time| *time > 0));
    rows
}

/// Picoseconds as a page writes them, in microseconds.
type Us<'a> = &'a dyn Fn(u64) -> String;

/// A page about a flow, alone or beside that of another run.
fn page((run, flow): (&Run, &FlowParts), other: Option<(&Run, &FlowParts)>) -> String {
    let decimals = match flow.time / 1_000_000 {
        1000.. => 1,
        10.. => 2,
        _ => 3,
    };
    let us: Us<'_> = &|ps| format!("{:.decimals$}", ps as f64 / 1e6);
    let of = if flow.traffic.is_empty() { String::new() } else { format!(" of {}", flow.traffic) };
    let mut head = format!(
        "{}, {}{of}, {} to {} us: {} us",
        flow.name(),
        Bytes::new(flow.bytes),
        us(flow.start),
        us(flow.start + flow.time),
        us(flow.time)
    );
    if let Some((_, its)) = other {
        let word = if flow.time >= its.time { "longer than" } else { "shorter than" };
        head += &format!(", {} us {word} {} us", us(flow.time.abs_diff(its.time)), us(its.time));
    } else {
        head += &format!("; alone {} us, so {:.1} times as long", us(flow.alone), flow.slowdown());
    }
    let mut lines = fit::wrapped(&title(&run.0), WIDTH);
    if let Some((other, _)) = other {
        lines.extend(fit::wrapped(&format!("against {}", title(&other.0)), WIDTH));
    }
    lines.extend(fit::wrapped(&head, WIDTH));
    let heads = match other {
        Some((other, _)) => differing(&run.0, &other.0),
        None => ["us".into(), "share".into()],
    };
    let flows: Vec<(&Spent, &FlowParts)> =
        std::iter::once((&run.1, flow)).chain(other.map(|(run, flow)| (&run.1, flow))).collect();
    let rows = rows(&flows);
    lines.push(String::new());
    lines.extend(table(&rows, &flows, &heads, us));
    lines.push(String::new());
    lines.extend(costliest(&run.1, flow, us));
    lines.extend(fit::wrapped(&meaning(&rows, &flows, &heads, us), WIDTH));
    lines.join("\n") + "\n"
}

/// The rows of one flow or of two, with their sum; below a queue behind whom a flow waited, and below a wait what cut the flow.
fn table(rows: &[Row], flows: &[(&Spent, &FlowParts)], heads: &[String; 2], us: Us<'_>) -> Vec<String> {
    let beside = flows.len() > 1;
    let [first, second] = heads;
    let more = if beside { format!("{:>13}", "more") } else { String::new() };
    let mut lines = vec![format!("{:<41}{first:>13}{second:>13}{more}", "")];
    let some = |ps: u64| if ps == 0 { "-".into() } else { us(ps) };
    let numbers = |of: &[u64], text: &dyn Fn(u64) -> String| match *of {
        [here, there] => format!("{:>13}{:>13}{:>13}", text(here), text(there), signed(here, there, us)),
        _ => format!("{:>13}{:>11} %", text(of[0]), percent(of[0], flows[0].1.time)),
    };
    // What cut a flow stands behind the part that this cost it most.
    let held = |n: usize| {
        let waits = rows.iter().filter(|row| HELD.contains(&row.1.as_str()) && row.2[n] > 0);
        waits.max_by_key(|row| row.2[n]).map(|row| row.1.as_str())
    };
    let mut place = "";
    for Row(at, what, times) in rows {
        let shown = if at == place { "" } else { at };
        place = at;
        lines.push(format!("{shown:<12}{what:<29}{}", numbers(times, &some)));
        for (n, ((spent, flow), head)) in flows.iter().zip(heads).enumerate() {
            let told = match what.as_str() {
                "queue" => behind(spent, flow, at, us),
                what if held(n) == Some(what) => causes(spent, &flow.by_cause),
                _ => String::new(),
            };
            if !told.is_empty() {
                let whose = if beside { format!("{head}: ") } else { String::new() };
                let told = fit::wrapped(&(whose + &told), WIDTH - 14);
                lines.extend(told.into_iter().map(|line| format!("{:14}{line}", "")));
            }
        }
    }
    let sums: Vec<u64> = flows.iter().map(|f| f.1.time).collect();
    lines.push(format!("{:<41}{}", "sum", numbers(&sums, us)));
    lines
}

/// Behind whom the last frame of a flow waited at a port.
fn behind(spent: &Spent, flow: &FlowParts, port: &str, us: Us<'_>) -> String {
    let here = flow.ahead.iter().filter(|a| spent.port(a.port) == port);
    let who: Vec<String> = here.map(|a| format!("{} {}", a.who, us(a.time))).collect();
    if who.is_empty() { String::new() } else { format!("behind {}", who.join(", ")) }
}

/// Parts in which a flow waits because of what cut its rate or window.
const HELD: [&str; 2] = ["limiter's gap", "window closed"];

/// Several cuts of a cause in words, and the words for one whose port is not known.
fn plural(by: &str) -> (&str, &'static str) {
    const OTHER: &str = "a queue that is not known";
    match by {
        "mark" => ("marks", OTHER),
        "message" => ("messages", OTHER),
        "telemetry" => ("telemetry", "empty queues"),
        "loss" => ("losses", "frames that no switch dropped"),
        "timeout" => ("timeouts", "frames that no switch dropped"),
        "timer" => ("timers", OTHER),
        "round-trip" => ("round trips", OTHER),
        other => (other, OTHER),
    }
}

/// How often a flow was cut, and by which queues: for each cause the port that cost most first; nothing of a flow without cuts.
fn causes(spent: &Spent, sums: &[Cuts]) -> String {
    let mut sums: Vec<&Cuts> = sums.iter().collect();
    sums.sort_by_key(|sum| (Reverse(sum.cost), Reverse(sum.count)));
    let mut kinds: IndexMap<&str, Vec<&Cuts>> = IndexMap::new();
    sums.iter().for_each(|sum| kinds.entry(&sum.by).or_default().push(sum));
    let kind = |(by, of): (&str, Vec<&Cuts>)| {
        let (word, unknown) = plural(by);
        if of.iter().all(|sum| sum.port.is_none()) {
            return word.to_string();
        }
        let port = |sum: &&Cuts| format!("{} ({})", sum.port.map_or(unknown, |p| spent.port(p)), sum.count);
        format!("{word} of {}", of.iter().map(port).collect::<Vec<_>>().join(", "))
    };
    let kinds: Vec<String> = kinds.into_iter().map(kind).collect();
    match sums.iter().map(|sum| sum.count).sum::<u64>() {
        0 => String::new(),
        1 => format!("cut once; by {}", kinds.join("; ")),
        n => format!("cut {n} times; by {}", kinds.join("; ")),
    }
}

/// The cuts of a flow that cost most, each with what the flow waited until the next, and why.
fn costliest(spent: &Spent, flow: &FlowParts, us: Us<'_>) -> Vec<String> {
    let mut cuts: Vec<_> = flow.cuts.iter().filter(|cut| cut.cost > 0).collect();
    cuts.sort_by_key(|cut| (Reverse(cut.cost), cut.at));
    if cuts.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{:>12}{:>14}{:>13}  {}", "cut at us", "to", "then waited", "by")];
    for cut in cuts.into_iter().take(MOST_CUTS) {
        let to = match cut.window.filter(|_| flow.source[1] < flow.source[2]) {
            Some(window) => Bytes::new(window).to_string(),
            None => Rate::from_bps((cut.rate as f64 / 1e6).round() * 1e6).to_string(),
        };
        let port = cut.port.map_or_else(String::new, |port| format!(" of {}", spent.port(port)));
        lines.push(format!("{:>12}{to:>14}{:>13}  {}{port}", us(cut.at), us(cut.cost), cut.by));
    }
    lines.push(String::new());
    lines
}

/// A difference with its sign.
fn signed(a: u64, b: u64, us: Us<'_>) -> String {
    match a.abs_diff(b) {
        0 => "-".into(),
        less if a < b => format!("-{}", us(less)),
        more => format!("+{}", us(more)),
    }
}

/// What tells two runs apart, in few words each.
fn differing(a: &[String; 4], b: &[String; 4]) -> [String; 2] {
    let words = |labels: &[String; 4]| match (a[2] != b[2], a[3] != b[3], a[1] != b[1]) {
        (true, ..) => labels[2].clone(),
        (_, _, true) => format!("PAUSE {}", labels[1]),
        (_, true, _) => format!("seed {}", labels[3]),
        _ => labels[0].clone(),
    };
    let cut = |text: String| text.chars().take(12).collect::<String>();
    let (first, second) = (cut(words(a)), cut(words(b)));
    if first == second { ["this, us".into(), "other, us".into()] } else { [first, second] }
}

/// Why a flow's window was closed: what cut it, and what it waited before that.
fn closed((spent, flow): (&Spent, &FlowParts), us: Us<'_>) -> String {
    let [_, gap, window, ..] = flow.source;
    let (cuts, after) =
        (causes(spent, &flow.by_cause), flow.by_cause.iter().map(|sum| sum.cost).sum::<u64>());
    let small = "was smaller than what the link carries until an acknowledgement comes back";
    let before = (gap + window).saturating_sub(after);
    match (cuts.is_empty(), before) {
        (true, _) => format!("Nothing cut its window, which {small}."),
        (_, 0) => format!("Its window was {cuts}. All of that wait followed a cut."),
        (_, before) => format!(
            "Its window was {cuts}. After cuts it waited {} us. Before the first one it waited {} us, as the window {small}.",
            us(after),
            us(before)
        ),
    }
}

/// What the largest part, or the largest difference, means for the flow that has more of it, and where to look next.
fn meaning(rows: &[Row], flows: &[(&Spent, &FlowParts)], heads: &[String; 2], us: Us<'_>) -> String {
    let weight = |row: &&Row| match row.2.get(1) {
        Some(other) => row.2[0].abs_diff(*other),
        None => row.2[0],
    };
    let Some(row) = rows.iter().max_by_key(weight) else { return String::new() };
    let (place, what) = (&row.0, row.1.as_str());
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let more = usize::from(row.2.get(1).is_some_and(|other| *other > row.2[0]));
    let of @ (_, flow) = flows[more];
    let head = match row.2.get(1) {
        Some(other) => {
            let (by, whose) = (signed(row.2[0], *other, us), heads[more].trim_end_matches(", us"));
            format!("Most of the difference, {by} us: {what}{place}, more of it in {whose}.")
        }
        None => format!("Most of its time, {} us: {what}{place}.", us(row.2[0])),
    };
    let events = format!("`record.flow_events = [\"{}\"]`", flow.flow);
    let next = match what {
        "limiter's gap" => format!(
            "The scheme let the flow send less than its link carries. {events} keeps each event of its limiter."
        ),
        "connection not open" => "The flow waited for the answer that opens its connection.".into(),
        "window closed" => format!(
            "The flow waited for acknowledgements before it could send more. {} {events} keeps its window and round trips.",
            closed(of, us)
        ),
        "XOFF at the NIC" | "XOFF" => format!(
            "The far end of its link stopped the port by PAUSE. `cnsim explain-pause --flow \"{}\"` says for whom.",
            flow.flow
        ),
        "other flows' turn" => {
            "The flow shared its host's link with other flows, acknowledgements or control.".into()
        }
        "resend and timeout" => "Frames of the flow were lost, found late, or sent again.".into(),
        "queue" => format!(
            "The last frame stood there behind other frames, of its own flow or of others. {events} tells behind whom."
        ),
        "way back of the acknowledgement" => {
            "The last acknowledgement took so long, its queues included.".into()
        }
        _ if flows.len() > 1 => "No wait differs by more.".into(),
        _ => "No wait took longer.".into(),
    };
    format!("{head} {next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_with_their_queues() {
        let spent = Spent { ports: vec!["S>H1".into()], ..Spent::default() };
        let cuts = |by: &str, port, count, cost| Cuts { by: by.into(), port, count, cost };
        let mut all =
            vec![cuts("telemetry", None, 75, 1), cuts("telemetry", Some(0), 2, 9), cuts("timer", None, 3, 0)];
        assert_eq!(causes(&spent, &all), "cut 80 times; by telemetry of S>H1 (2), empty queues (75); timers");
        all = vec![cuts("loss", Some(0), 1, 0), cuts("loss", None, 1, 0)];
        assert_eq!(
            causes(&spent, &all),
            "cut 2 times; by losses of S>H1 (1), frames that no switch dropped (1)"
        );
        assert_eq!(
            (causes(&spent, &all[1..]), causes(&spent, &[])),
            ("cut once; by losses".into(), String::new())
        );
    }
}
