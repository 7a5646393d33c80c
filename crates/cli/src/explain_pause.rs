//! The verb `explain-pause`: the tree from each cause of PAUSE to the transmitters that it stopped.

use crate::chosen::{self, Chosen};
use crate::request::quantity;
use crate::{Done, Failure, fit, look};
use clap::Args;
use cnsim_measure::pauses::{Circle, Forest, Stood, Stops, time};
use cnsim_runs::pause_files::{read_pauses, read_victims};
use cnsim_units::Time;

/// Arguments of `explain-pause`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExplainPauseArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Only the XOFFs that stand at this time, such as "2.5 ms".
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Only the XOFFs that stopped this finite flow: those on its way, from its start to its end.
    #[arg(long, value_name = "H1>H5")]
    flow: Option<String>,
}

/// Columns of the tree.
const WIDTH: usize = 80;
/// Roots that are shown one by one.
const MOST: usize = 8;
/// Roots and places are told together where less than this part of all standing time stood, with all below them.
const LEAST: u64 = 40;
/// Runs that are shown.
const MOST_RUNS: usize = 4;

pub(crate) fn explain_pause(args: &ExplainPauseArgs) -> Done {
    let file = chosen::file(&args.chosen.results, "pauses.csv")?;
    if !file.exists() {
        return Err(Failure::input(format!(
            "{}: there is none: no run of these results kept its XOFFs\n  help: run the scenario with PAUSE and --set record.pauses=on",
            file.display()
        )));
    }
    let at: Option<Time> = args.at.as_deref().map(|text| quantity("at", text)).transpose()?;
    let mut runs = read_pauses(&file).map_err(Failure::input)?;
    let victims = file.with_file_name("victims.csv");
    if victims.exists() {
        read_victims(&victims, &mut runs).map_err(Failure::input)?;
    }
    let found = args.chosen.of(&runs, |run| &run.0)?;
    if found.is_empty() {
        println!("No transmitter was told to stop.");
    }
    for (run, stops) in found.iter().take(MOST_RUNS) {
        println!("{}", chosen::title(run));
        if let Some(flow) = args.flow.as_deref().filter(|flow| !stops.flows.iter().any(|f| is(f, flow))) {
            return Err(Failure::input(format!(
                "--flow {flow}: no such flow stood in this run\n  help: `victims.csv` has the flows that stood"
            )));
        }
        println!("{}", tree(stops, at, args.flow.as_deref()));
    }
    if found.len() > MOST_RUNS {
        println!("{} more runs: choose by --condition, --scheme or --seed", found.len() - MOST_RUNS);
    }
    Ok(())
}

/// Bytes with three digits.
fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.1} KB", n as f64 / 1e3),
        _ => format!("{:.1} MB", n as f64 / 1e6),
    }
}

/// A number with its noun.
fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        2 => "twice".into(),
        _ => format!("{n} times"),
    }
}

/// A line whose parts after the first stand below it, further right.
pub(crate) fn put(lines: &mut Vec<String>, (first, rest): (&str, &str), text: &str) {
    let room = WIDTH.saturating_sub(first.chars().count()).max(20);
    // No line ends between a number and its unit.
    let mut glued = String::with_capacity(text.len());
    for c in text.chars() {
        let after_digit = glued.ends_with(|c: char| c.is_ascii_digit());
        glued.push(if c == ' ' && after_digit { '\u{a0}' } else { c });
    }
    for (n, part) in fit::wrapped(&glued, room).into_iter().enumerate() {
        lines.push(format!("{}{}", if n == 0 { first } else { rest }, part.replace('\u{a0}', " ")));
    }
}

/// The circles of a run: one that stands to its end, and how many have dissolved.
fn circles(stops: &Stops, at: Option<Time>) -> Vec<String> {
    let during = |c: &Circle| {
        at.is_none_or(|at| (c.from..c.until).contains(&at.as_ps()) || c.to_end && at.as_ps() >= c.from)
    };
    let all: Vec<Circle> = stops.circles().into_iter().filter(during).collect();
    let (stand, passed): (Vec<&Circle>, Vec<&Circle>) = all.iter().partition(|c| c.to_end);
    let mut lines = Vec::new();
    if let Some(circle) = stand.first() {
        let head = format!("DEADLOCK since {}: {}", time(circle.from), told(stops, circle));
        put(&mut lines, ("", "  "), &head);
    }
    if let Some(longest) = passed.iter().max_by_key(|c| c.until - c.from) {
        let number = look::count(passed.len() as u64, "circle");
        let lasted = time(longest.until - longest.from);
        let text = format!(
            "{number} of XOFF dissolved; the longest stood {lasted} from {} on: {}",
            time(longest.from),
            told(stops, longest)
        );
        put(&mut lines, ("", "  "), &text);
    }
    lines
}

/// The ports of a circle, and what closed it.
fn told(stops: &Stops, circle: &Circle) -> String {
    let stop = |x: &u32| &stops.xoffs[*x as usize];
    let mut ports: Vec<&str> = circle.xoffs.iter().map(|x| stops.name(stop(x).stopped)).collect();
    if ports.len() > 2 * MOST {
        ports.splice(MOST..ports.len() - MOST, ["..."]);
    }
    let Some(first) = circle.xoffs.first() else { return String::new() };
    let closing = stop(first);
    let causes: Vec<String> = closing
        .causes
        .iter()
        .take(4)
        .map(|c| format!("{} for {}", bytes(c.bytes), stops.name(c.output)))
        .collect();
    format!(
        "{} waits for {}, in {}; closed by XOFF {first} of {}, decided at {} with {}",
        ports.join(" waits for "),
        ports.first().unwrap_or(&"?"),
        closing.class.map_or_else(|| "all classes".into(), |class| format!("class {class}")),
        stops.switches.get(closing.by as usize).map_or("?", String::as_str),
        time(closing.decided),
        causes.join(", ")
    )
}

/// Is it a flow of this pair of hosts?
fn is(flow: &Stood, pair: &str) -> bool {
    flow.flow.eq_ignore_ascii_case(&pair.replace(' ', ""))
}

/// The flows that stood, and of them those that do not go by their root.
fn victims(lines: &mut Vec<String>, stops: &Stops, flows: &[&Stood]) {
    if flows.is_empty() {
        return;
    }
    let hit: Vec<&&Stood> = flows.iter().filter(|f| f.victim).collect();
    let sum: u64 = hit.iter().map(|f| f.stood).sum();
    let all = look::count(flows.len() as u64, "flow");
    let head =
        format!("{all} stood; victims, which do not go by their root: {}, {} in all", hit.len(), time(sum));
    put(lines, ("", "  "), &head);
    if stops.flows.len() >= Stops::MOST_FLOWS {
        let most = Stops::MOST_FLOWS;
        put(
            lines,
            ("", "  "),
            &format!("only the {most} flows that stood longest are kept: more may have stood"),
        );
    }
    // Where no flow is a victim, all flows are shown: one that is asked for is among them.
    let shown = if hit.is_empty() { flows.iter().collect() } else { hit };
    for f in shown.into_iter().take(MOST) {
        let text = format!(
            "{}  {}  stood {} of {}, most at {}, most for {}",
            f.flow,
            bytes(f.bytes),
            time(f.stood),
            time(f.time),
            stops.name(f.at),
            stops.name(f.root)
        );
        put(lines, ("  ", "    "), &text);
    }
}

/// The trees of a run, at most 80 columns wide.
fn tree(stops: &Stops, at: Option<Time>, flow: Option<&str>) -> String {
    let under_way = |f: &Stood| at.is_none_or(|at| (f.start..f.start + f.time).contains(&at.as_ps()));
    let wanted = |f: &&Stood| flow.is_none_or(|flow| is(f, flow)) && under_way(f);
    let mine: Vec<&Stood> = stops.flows.iter().filter(wanted).collect();
    let standing = |n: usize| {
        let x = &stops.xoffs[n];
        let stops = |f: &&Stood| f.way.contains(&x.stopped) && x.from < f.start + f.time && f.start < x.until;
        at.is_none_or(|at| (x.from..x.until).contains(&at.as_ps()))
            && (flow.is_none() || mine.iter().any(stops))
    };
    let forest = Forest::of(stops, standing);
    let roots = forest.by_time();
    let sum: u64 = forest.roots.iter().map(|r| r.time).sum();
    let large = roots.iter().take_while(|r| r.1.time >= sum / LEAST).count();
    // One small root in place of a line that says so.
    let shown = if roots.len() - large == 1 { large + 1 } else { large }.min(MOST);
    let mut lines = circles(stops, at);
    for (rank, (_, root)) in roots.iter().enumerate().take(shown) {
        let (from, until) = (time(root.span.0), time(root.span.1));
        let head = format!(
            "root {}  {}; stopped {} ({}), {from} to {until}",
            rank + 1,
            stops.root(root.output, root.kind),
            time(root.time),
            share((root.time, sum))
        );
        put(&mut lines, ("", "        "), &head);
        let least = sum / LEAST;
        branch(&mut lines, (stops, &forest, least), "", (&root.below, stops.name(root.output)));
    }
    if roots.len() > shown {
        let rest: u64 = roots[shown..].iter().map(|r| r.1.time).sum();
        let more = look::count((roots.len() - shown) as u64, "more root");
        lines.push(format!("{more}: {}, {}", time(rest), share((rest, sum))));
    }
    victims(&mut lines, stops, &mine);
    let stood: u64 = (0..).zip(&stops.xoffs).filter(|x| standing(x.0)).map(|x| x.1.time()).sum();
    let (sum, stood) = (Time::from_ps(sum), Time::from_ps(stood));
    let text = match sum == stood {
        true => format!("sum over the trees {sum} = time that transmitters stood in XOFF"),
        false => format!("sum over the trees {sum}; and transmitters stood {stood} in XOFF"),
    };
    put(&mut lines, ("", "  "), &text);
    if stops.left_out > 0 {
        let kept = stops.xoffs.len();
        let text = format!("{} later XOFFs are not kept: the trees are of the first {kept}", stops.left_out);
        put(&mut lines, ("", "  "), &text);
    }
    lines.iter().map(|l| format!("{}\n", l.trim_end())).collect()
}

/// A share in words: whole percent.
fn share((part, all): (u64, u64)) -> String {
    match (part as f64 / all.max(1) as f64 * 100.0).round() {
        _ if part == all => "all".into(),
        x if x < 1.0 => "<1 %".into(),
        x if x >= 100.0 => ">99 %".into(),
        x => format!("{x} %"),
    }
}

/// The places below one, whose output has this name. Those where less than so much stood, with all below them, are told together.
fn branch(
    lines: &mut Vec<String>,
    (stops, forest, least): (&Stops, &Forest, u64),
    before: &str,
    (below, over): (&[u32], &str),
) {
    let mut all = forest.below(below);
    all.sort_by_key(|at| std::cmp::Reverse(forest.time(*at)));
    let ends = |at: &u32| forest.below(&forest.places[*at as usize].below).is_empty();
    // Hosts of which several stand there are told together, as are places of little time.
    let host = |at: &u32| !stops.name(forest.places[*at as usize].transmitter).contains('>');
    let (mut alone, mut hosts): (Vec<u32>, Vec<u32>) =
        all.into_iter().partition(|at| !(host(at) && ends(at)));
    if hosts.len() < 3 {
        alone.append(&mut hosts);
    }
    let (mut alone, mut few): (Vec<u32>, Vec<u32>) =
        alone.into_iter().partition(|at| forest.time(*at) >= least);
    if few.len() == 1 && ends(&few[0]) {
        alone.append(&mut few);
    }
    let groups = [(few, "place"), (hosts, "host")];
    let groups: Vec<&(Vec<u32>, &str)> = groups.iter().filter(|g| !g.0.is_empty()).collect();
    let number = alone.len() + groups.len();
    let lead = |n: usize| match n + 1 == number {
        true => (format!("{before}└─ "), format!("{before}   ")),
        false => (format!("{before}├─ "), format!("{before}│  ")),
    };
    for (n, at) in alone.iter().enumerate() {
        let place = &forest.places[*at as usize];
        let name = stops.name(place.transmitter);
        let called = match place.bytes.1 {
            0 => String::new(),
            all => format!(": {} of its {} for {over}", share(place.bytes), bytes(all)),
        };
        let text = match place.xoffs {
            0 => format!("{name} does not stand any more; it stopped"),
            xoffs => format!("{name} stopped {}, {}{called}", times(xoffs), time(place.time)),
        };
        let (first, rest) = lead(n);
        put(lines, (&first, &format!("{rest}  ")), &text);
        branch(lines, (stops, forest, least), &rest, (&place.below, name));
    }
    for (n, (group, what)) in groups.into_iter().enumerate() {
        let sum: u64 = group.iter().map(|at| forest.time(*at)).sum();
        let names: Vec<&str> =
            group.iter().take(4).map(|at| stops.name(forest.places[*at as usize].transmitter)).collect();
        let more = if group.len() > names.len() { ", ..." } else { "" };
        let nics = names.iter().any(|name| name.contains('#'));
        let count = look::count(group.len() as u64, if nics { "NIC" } else { what });
        let stood = match *what {
            "host" => format!("{} each in the mean", time(sum / group.len() as u64)),
            _ => format!("{} in all, with those below", time(sum)),
        };
        let (first, rest) = lead(alone.len() + n);
        put(lines, (&first, &rest), &format!("{count} ({}{more}), {stood}", names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::pauses::{Cause, Held, Stop};

    /// H37's port stops a spine, that stops a far leaf and the hosts there; nearby hosts stand for the port itself.
    #[test]
    fn the_tree_is_told_in_eighty_columns() {
        let mut names: Vec<String> = ["S322>H37", "S340>S322", "S360>S340"].map(String::from).into();
        names.extend((0..5).map(|h| format!("H{h}")));
        names.push("S9>H9".into());
        let cause = |output, bytes, held| Cause { output, bytes, held };
        let stop = |stopped, span: (u64, u64), causes: Vec<Cause>| {
            let ms = 1_000_000_000;
            let (from, until) = (span.0 * ms, span.1 * ms);
            Stop { stopped, decided: from, from, until, causes, ..Stop::default() }
        };
        let mut xoffs =
            vec![stop(1, (2, 7), vec![cause(0, 208_000, Held::Slow), cause(8, 4_000, Held::Closed)])];
        xoffs.push(stop(2, (3, 7), vec![cause(1, 50_000, Held::Xoff(0))]));
        xoffs.extend((3..7).map(|h| stop(h, (4, 7), vec![cause(2, 9_000, Held::Xoff(1))])));
        xoffs.push(stop(7, (3, 4), vec![cause(0, 9_000, Held::Slow)]));
        let stops = Stops { names, xoffs, left_out: 2, ..Stops::default() };
        let want = "\
root 1  S322>H37: took in less than came; stopped 21.60 ms (98 %), 2.000 ms to
        7.000 ms
├─ S340>S322 stopped once, 4.906 ms: 98 % of its 212.0 KB for S322>H37
│  └─ S360>S340 stopped once, 3.925 ms: all of its 50.0 KB for S340>S322
│     └─ 4 hosts (H0, H1, H2, H3), 2.943 ms each in the mean
└─ H4 stopped once, 1.000 ms: all of its 9.0 KB for S322>H37
root 2  S9>H9: serves nothing; stopped 396.2 us (2 %), 2.000 ms to 7.000 ms
└─ 1 place (S340>S322), 396.2 us in all, with those below
sum over the trees 22 ms = time that transmitters stood in XOFF
2 later XOFFs are not kept: the trees are of the first 7
";
        let said = tree(&stops, None, None);
        assert!(said.lines().all(|l| l.chars().count() <= 80), "{said}");
        assert_eq!(said, want);
        let flow = Stood { flow: "H0>H1".into(), time: 1, stood: 1, ..Stood::default() };
        let kept = |flows| tree(&Stops { flows: vec![flow.clone(); flows], ..stops.clone() }, None, None);
        assert!(kept(Stops::MOST_FLOWS).contains("only the 10000 flows that stood longest are kept"));
        assert!(!kept(Stops::MOST_FLOWS - 1).contains("longest are kept"));
        let late = tree(&stops, Some(Time::from_us(2_500)), None);
        assert!(late.contains("sum over the trees 5 ms = time") && !late.contains("S360"), "{late}");
    }
}
