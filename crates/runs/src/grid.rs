//! Grids over keys of a scenario: `KEY=V1,V2`, ranges, their product, and the runs that it asks for.
//!
//! | written | values |
//! |---|---|
//! | `host.limiter_queue=10,100,1000` | these |
//! | `hotspot.rate=1Gb/s..4Gb/s/4` | 1, 2, 3 and 4 Gb/s: evenly spaced |
//! | `hotspot.rate=0.1Gb/s..10Gb/s/3/log` | 0.1, 1 and 10 Gb/s: by equal factors |
//! | `workload.loads=[50 %, 60 %],[70 %, 80 %]` | two lists |

use crate::run::Job;
use crate::store::Asked;
use cnsim_measure::quantity::digits;
use cnsim_problem::{Problem, printable};
use cnsim_scenario::{Case, Ready, Scenario};
use cnsim_scenario::{assumptions, tables};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Largest number of values of one key.
pub const MAX_VALUES: usize = 1000;
/// Largest number of points of a grid.
pub const MAX_POINTS: usize = 100_000;

/// A key and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Dotted path of the key that is varied.
    pub key: String,
    /// Values as they would be written in a file.
    pub values: Vec<String>,
    /// Written as a range of equal factors.
    pub log: bool,
}

/// The key that a name of an assumption stands for; any other key is itself.
pub fn canonical_key(key: &str) -> String {
    let name = key.strip_prefix("assumptions.").unwrap_or(key);
    let known = assumptions::find(name).filter(|_| key.contains('.') == key.contains("assumptions."));
    known.map_or_else(|| key.into(), |a| a.key.into())
}

/// Reads `KEY=V1,V2`.
///
/// # Errors
/// The fault and its remedy.
pub fn axis(text: &str) -> Result<Axis, String> {
    let wrong = |reason: String, help: &str| Err(format!("--over {text}: {reason}\n  help: {help}"));
    let Some((key, list)) = text.split_once('=') else {
        return wrong(
            "has no `=`".into(),
            "write --over KEY=V1,V2, for example --over hotspot.rate=\"1 Gb/s\",\"2 Gb/s\"",
        );
    };
    const MODE: &str = tables::pause::MODE.path;
    const SEEDS: &str = tables::run::SEEDS.path;
    let key = key.trim();
    match key {
        "" => return wrong("names no key".into(), "write --over KEY=V1,V2"),
        "scheme" | "schemes" => return wrong("a scheme is not a key".into(), "use --scheme S1,S2"),
        "pause" | MODE => return wrong("PAUSE has its own option".into(), "use --pause on,off"),
        "seed" | "seeds" | SEEDS => {
            return wrong("seeds have their own option".into(), "use --seeds N");
        }
        k if k.starts_with("matrix.") || k.starts_with("rows.") => {
            return wrong("the matrix itself cannot be varied".into(), "name the key without `matrix.`");
        }
        k if matches!(k, "study" | "name" | "title" | "question" | "source" | "condition")
            || k.starts_with("figure.") =>
        {
            return wrong(
                format!("`{k}` changes nothing of a run"),
                "name a key that does; `cnsim tool schema` lists them",
            );
        }
        _ => {}
    }
    let (mut values, mut log): (Vec<String>, bool) = (Vec::new(), false);
    for part in split(list) {
        match range(&part) {
            None => values.push(part),
            Some(Ok((more, by_factors))) => {
                values.extend(more);
                log |= by_factors;
            }
            Some(Err(reason)) => {
                return wrong(
                    reason,
                    "write FROM..TO/COUNT or FROM..TO/COUNT/log, for example 1Gb/s..10Gb/s/4",
                );
            }
        }
    }
    if values.iter().any(String::is_empty) || values.is_empty() {
        return wrong("a value is empty".into(), "write the values with commas between them");
    }
    if values.len() > MAX_VALUES {
        return wrong(format!("{} values", values.len()), "use at most 1000");
    }
    for (i, v) in values.iter().enumerate() {
        if values[..i].contains(v) {
            return wrong(format!("`{v}` stands there twice"), "name each value once");
        }
    }
    Ok(Axis { key: canonical_key(key), values, log })
}

/// Reads all axes. Each key may occur once, under any of its names.
///
/// # Errors
/// As [`axis`].
pub fn axes(texts: &[String]) -> Result<Vec<Axis>, String> {
    let mut all: Vec<Axis> = Vec::new();
    for text in texts {
        let more = axis(text)?;
        if all.iter().any(|a| a.key == more.key) {
            return Err(format!(
                "--over {text}: `{}` is varied twice\n  help: put all its values behind one --over",
                more.key
            ));
        }
        all.push(more);
    }
    let points = all.iter().fold(1_usize, |n, a| n.saturating_mul(a.values.len()));
    if points > MAX_POINTS {
        return Err(format!(
            "{points} points are more than {MAX_POINTS}\n  help: use fewer values, or several sweeps"
        ));
    }
    Ok(all)
}

/// At commas outside brackets; quotes around a value are dropped.
fn split(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_i32);
    for c in list.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|p| p.trim().trim_matches('"').trim().to_string()).collect()
}

/// A number and its unit.
fn number(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let ends = text.char_indices().map(|(i, c)| i + c.len_utf8()).rev();
    for end in ends {
        let (head, tail) = text.split_at(end);
        let plain = head.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        if let Some(v) = plain.then(|| head.parse::<f64>().ok()).flatten().filter(|v| v.is_finite()) {
            return Some((v, tail.trim().to_string()));
        }
    }
    None
}

/// Values as numbers of one unit, where they are numbers at all.
pub fn numbers(values: &[String]) -> Option<(Vec<f64>, String)> {
    let all: Vec<(f64, String)> = values.iter().map(|v| number(v)).collect::<Option<_>>()?;
    let unit = all.first()?.1.clone();
    if all.iter().all(|v| v.1 == unit) {
        return Some((all.into_iter().map(|v| v.0).collect(), unit));
    }
    fn of<T: FromStr>(values: &[String], size: fn(&T) -> f64, unit: &str) -> Option<(Vec<f64>, String)> {
        let all: Option<Vec<f64>> = values.iter().map(|v| v.parse::<T>().ok().map(|t| size(&t))).collect();
        Some((all?, unit.into()))
    }
    of::<Rate>(values, |r| r.bps() / 1e6, "Mb/s")
        .or_else(|| of::<Time>(values, |t| t.as_secs_f64() * 1e6, "us"))
        .or_else(|| of::<Bytes>(values, |b| b.get() as f64, "B"))
}

/// `FROM..TO/COUNT[/log]`, if this is meant to be one: names of hosts (`H0..H9/3`) are not.
fn range(text: &str) -> Option<Result<(Vec<String>, bool), String>> {
    let (from, rest) = text.split_once("..")?;
    let numeric =
        |t: &str| t.trim_start().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    if !numeric(from) || !numeric(rest) {
        return None;
    }
    Some(spread(from, rest))
}

fn spread(from: &str, rest: &str) -> Result<(Vec<String>, bool), String> {
    let (rest, log) = match rest.trim().rsplit_once('/') {
        Some((r, "log")) => (r, true),
        Some((r, "lin")) => (r, false),
        _ => (rest.trim(), false),
    };
    let count = rest.rsplit_once('/').and_then(|(to, n)| Some((to, n.trim().parse::<usize>().ok()?)));
    let Some((to, count)) = count else { return Err("a range without the number of its values".into()) };
    if !(2..=MAX_VALUES).contains(&count) {
        return Err(format!("a range of {count} values; 2 to {MAX_VALUES} are possible"));
    }
    let ends = [from.trim().to_string(), to.trim().to_string()];
    let Some((v, unit)) = numbers(&ends) else {
        return Err(format!(
            "`{}` and `{}` are not of one kind; write a unit at both ends",
            ends[0], ends[1]
        ));
    };
    let (a, b) = (v[0], v[1]);
    if log && (a <= 0.0 || b <= 0.0) {
        return Err("equal factors need ends above 0".into());
    }
    let factor = if log { root(b / a, count - 1) } else { 1.0 };
    let mut power = 1.0;
    let mut values = Vec::new();
    for i in 0..count {
        let even = a + (b - a) * i as f64 / (count - 1) as f64;
        let value = if i + 1 == count {
            b
        } else if log {
            a * power
        } else {
            even
        };
        power *= factor;
        let text = digits(value);
        values.push(if unit.is_empty() { text } else { format!("{text} {unit}") });
    }
    Ok((values, log))
}

/// The n-th root by bisection: multiplication alone, so that the values are the same on every platform.
fn root(x: f64, n: usize) -> f64 {
    let (mut low, mut high) = (x.min(1.0), x.max(1.0));
    for _ in 0..200 {
        let mid = low.midpoint(high);
        if (0..n).fold(1.0, |p, _| p * mid) < x { low = mid } else { high = mid }
    }
    high
}

/// The product of the axes: an index into the values of each, the last one fastest.
pub fn product(axes: &[Axis]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for a in axes {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| {
                (0..a.values.len()).map(move |i| {
                    let mut p = p.clone();
                    p.push(i);
                    p
                })
            })
            .collect();
    }
    all
}

/// A point of a sweep: a value of each axis, PAUSE and scheme.
#[derive(Clone, Debug)]
pub struct Point {
    /// Values, parallel to the axes.
    pub values: Vec<String>,
    /// The case that is run.
    pub case: Case,
    /// Index of the point's first job; the jobs of its seeds follow each other.
    pub first: usize,
}

/// A sweep made ready.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The keys that the sweep varies.
    pub axes: Vec<Axis>,
    /// The points of the grid, in the order in which they are run.
    pub points: Vec<Point>,
    /// The runs of all points; points with equal configurations share them.
    pub jobs: Vec<Job>,
    /// Seeds of a point.
    pub seeds: u64,
    /// Notes on values that were left out or have no effect, a sentence each.
    pub notes: Vec<String>,
}

/// Jobs of all seeds of a case, unless they are there already; gives the first one's index.
pub fn enlist(
    jobs: &mut Vec<Job>,
    known: &mut BTreeMap<String, usize>,
    case: &Case,
    ready: Ready,
    seeds: u64,
) -> usize {
    let key = Asked { config: &ready.config, code: "", seed: 0, all_series: false }.key();
    *known.entry(key).or_insert_with(|| {
        let first = jobs.len();
        jobs.extend((1..=seeds).map(|seed| Job::new(case.clone(), ready.clone(), seed)));
        first
    })
}

/// Is a problem only that a value changes nothing under the other settings?
pub fn harmless(problems: &[Problem]) -> bool {
    !problems.is_empty() && problems.iter().all(|p| p.reason.starts_with("has no effect"))
}

/// A problem of points that are refused.
struct Refused {
    text: String,
    /// The first of the points.
    at: String,
    /// How many more there are.
    more: usize,
}

impl Refused {
    /// The problem with the points behind its reason.
    fn text(&self) -> String {
        let (reason, rest) = self.text.split_once('\n').unwrap_or((&self.text, ""));
        let more = if self.more > 0 { format!(" and {} more points", self.more) } else { String::new() };
        let rest = if rest.is_empty() { String::new() } else { format!("\n{rest}") };
        printable(&format!("{reason} (at {}{more})", self.at)).into_owned() + &rest
    }
}

/// Notes the problems of a point; those that another one has, too, count it.
fn refused(all: &mut Vec<Refused>, problems: &[Problem], sets: &[(String, String)], scheme: Option<&str>) {
    let values = sets.iter().map(|(k, v)| format!("{k}={v}")).chain(scheme.map(String::from));
    let at = values.collect::<Vec<_>>().join(", ");
    for p in problems {
        let text = p.to_string();
        match all.iter_mut().find(|r| r.text == text) {
            Some(r) => r.more += 1,
            None => all.push(Refused { text, at: at.clone(), more: 0 }),
        }
    }
}

/// Plans a sweep over a case: every point under each PAUSE mode with each scheme.
///
/// # Errors
/// All faults of keys and values, before anything runs.
pub fn plan(
    scenario: &Scenario,
    axes: Vec<Axis>,
    base: &Case,
    pauses: &[String],
    schemes: &[String],
    seeds: u64,
) -> Result<Sweep, String> {
    let (mut points, mut jobs, mut notes, mut problems) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut known = BTreeMap::new();
    let row: Vec<(String, String)> =
        base.row.iter().filter(|(k, _)| !axes.iter().any(|a| a.key == *k)).cloned().collect();
    let all = product(&axes);
    for index in &all {
        let values: Vec<String> = index.iter().zip(&axes).map(|(i, a)| a.values[*i].clone()).collect();
        let sets: Vec<(String, String)> =
            axes.iter().zip(&values).map(|(a, v)| (a.key.clone(), v.clone())).collect();
        let varied = match scenario.with(&sets) {
            Ok(s) => s,
            Err(p) => {
                refused(&mut problems, &p, &sets, None);
                continue;
            }
        };
        for pause in pauses {
            for scheme in schemes {
                let case = varied.case(base.group, row.clone(), pause, scheme);
                match varied.ready(&case) {
                    Ok(ready) => {
                        let first = enlist(&mut jobs, &mut known, &case, ready, seeds);
                        points.push(Point { values: values.clone(), case, first });
                    }
                    Err(p) if harmless(&p) && all.len() > 1 => {
                        let what: Vec<String> = sets.iter().map(|(k, v)| format!("{k}={v}")).collect();
                        notes.push(format!("left out: {scheme}, {}: {}", what.join(", "), p[0].reason));
                    }
                    Err(p) => refused(&mut problems, &p, &sets, Some(scheme.as_str())),
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.iter().take(10).map(Refused::text).collect::<Vec<_>>().join("\n"));
    }
    for (i, a) in axes.iter().enumerate().filter(|(_, a)| a.values.len() > 1) {
        for scheme in schemes {
            let mine: Vec<&Point> = points.iter().filter(|p| p.case.id.scheme == *scheme).collect();
            let same = |p: &Point, q: &Point| {
                p.case.id.pause == q.case.id.pause
                    && p.values.iter().zip(&q.values).enumerate().all(|(j, (v, w))| (v == w) != (i == j))
            };
            let idle = |p: &&&Point| mine.iter().filter(|q| same(p, q)).all(|q| q.first == p.first);
            if mine.iter().filter(idle).count() == mine.len() && !mine.is_empty() {
                notes.push(format!("{} has no effect on {scheme}: run once, shown at each value", a.key));
            }
        }
    }
    Ok(Sweep { axes, points, jobs, seeds, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        axis(&format!("a.b={text}")).unwrap().values
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("1, 2,\"3 x\""), ["1", "2", "3 x"]);
        assert_eq!(values("[a, b],[c]"), ["[a, b]", "[c]"]);
        assert_eq!(values("1Gb/s..10Gb/s/4"), ["1 Gb/s", "4 Gb/s", "7 Gb/s", "10 Gb/s"]);
        assert_eq!(values("10..1000/3/log"), ["10", "100", "1000"]);
        assert_eq!(values("0.5 us..2 us/4/lin"), ["0.5 us", "1 us", "1.5 us", "2 us"]);
        assert_eq!(values("500 Mb/s..2 Gb/s/4"), ["500 Mb/s", "1000 Mb/s", "1500 Mb/s", "2000 Mb/s"]);
        assert_eq!(values("8 us..1 ms/2"), ["8 us", "1000 us"]);
        assert_eq!(values("0,1..2/2"), ["0", "1", "2"]);
        assert_eq!(values("H0..H9/3"), ["H0..H9/3"], "hosts are a value");
        assert_eq!(values("10 %..90 %/3"), ["10 %", "50 %", "90 %"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("a.b", "has no `=`"),
            ("a.b=1..2", "without the number"),
            ("a.b=1..2/1", "2 to 1000"),
            ("a.b=0..2/3/log", "above 0"),
            ("a.b=2..0/3/log", "above 0"),
            ("a.b=-2..-1/3/log", "above 0"),
            ("a.b=1..2/1001", "2 to 1000"),
            ("=1,2", "names no key"),
            ("study=x", "changes nothing"),
            ("figure.0.title=x", "changes nothing"),
            ("rows.x=1", "without `matrix.`"),
            ("seeds=1,2", "--seeds"),
            ("a.b=1 Gb/s..2 us/3", "not of one kind"),
            ("a.b=1,,2", "empty"),
            ("a.b=1,1", "twice"),
            ("scheme=ecm", "--scheme"),
            ("pause.mode=on", "--pause"),
            ("matrix.hotspot.rate=1", "without `matrix.`"),
            ("title=x", "changes nothing"),
        ] {
            let said = axis(text).unwrap_err();
            assert!(said.contains(words) && said.contains("help"), "{text}: {said}");
        }
        let twice = ["efr=on".to_string(), "scheme.params.efr=off".to_string()];
        assert!(axes(&twice).unwrap_err().contains("varied twice"));
    }

    #[test]
    fn names_of_assumptions_are_keys() {
        assert_eq!(canonical_key("efr"), "scheme.params.efr");
        assert_eq!(canonical_key("assumptions.limiter_queue"), "host.limiter_queue");
        assert_eq!(canonical_key("hotspot.rate"), "hotspot.rate");
    }

    #[test]
    fn a_grid_runs_each_configuration_once() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let base = &s.cases()[0];
        let words = ["scheme.params.efr=on,off".to_string(), "hotspot.rate=1 Gb/s,2 Gb/s".to_string()];
        let schemes: Vec<String> = ["none", "qcn-2pt"].map(String::from).into();
        let sweep = plan(&s, axes(&words).unwrap(), base, &["on".into()], &schemes, 2).unwrap();
        assert_eq!(sweep.points.len(), 8);
        assert_eq!(sweep.jobs.len(), 2 * (2 + 4), "efr does nothing to `none`");
        assert!(sweep.notes.iter().any(|n| n.contains("efr has no effect on none")), "{:?}", sweep.notes);
        assert!(!sweep.notes.iter().any(|n| n.contains("qcn-2pt")), "{:?}", sweep.notes);
        assert_eq!(sweep.points[0].case.id.condition, "hotspot 1 Gb/s", "the row's own value gives way");
        let bad = |text: &str| {
            plan(&s, axes(&[text.into()]).unwrap(), base, &["on".into()], &schemes, 1).unwrap_err()
        };
        assert!(bad("hotspot.rat=1 Gb/s,2 Gb/s").contains("did you mean `hotspot.rate`"));
        assert!(bad("hotspot.rate=1 GB/s").contains("1 GB/s"));
        assert!(bad("scheme.params.eff=on").contains("no scheme has this parameter"));
        // With EFR off its maximum says nothing: these points are left out, and it is said.
        let words = ["efr=on,off".to_string(), "efr-max=10,50".to_string()];
        let sweep = plan(&s, axes(&words).unwrap(), base, &["on".into()], &schemes[1..], 1).unwrap();
        assert!(sweep.points.len() == 2 && sweep.notes[0].contains("left out"), "{:?}", sweep.notes);
    }

    #[test]
    fn a_grid_has_an_end() {
        let list = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(axis(&format!("a.b={}", list(1000))).unwrap().values.len(), 1000);
        assert!(axis(&format!("a.b={}", list(1001))).unwrap_err().contains("1001 values"));
        let three = |n: usize| axes(&[format!("a.b={}", list(1000)), format!("a.c={}", list(n))]);
        assert_eq!(three(100).unwrap().len(), 2);
        assert!(three(101).unwrap_err().contains("101000 points are more than 100000"));
        let log = axis("a.b=1..100/3/log").unwrap();
        assert!(log.log && !axis("a.b=1..100/3").unwrap().log);
    }

    /// The last axis turns fastest.
    /// A key of the file may have an effect at some points alone, as in a matrix: elsewhere it is as if it were not there.
    #[test]
    fn keys_have_an_effect_at_some_points() {
        let text = "name = \"s\"\n[host]\nqueues = \"per-flow\"\n[[traffic]]\nname = \"job\"\nhosts = \"all\"\nkind = \"all-reduce\"\n\
                    chunk = \"16 KB\"\n[topology]\nhosts = 4\n";
        let of = |text: &str, over: &str| {
            let s = Scenario::parse("s.toml", text, &[]).unwrap();
            plan(&s, axes(&[over.into()]).unwrap(), &s.cases()[0], &["on".into()], &["none".into()], 1)
        };
        let sweep = of(text, "traffic.job.algorithm=ring,halving-doubling").unwrap();
        assert_eq!((sweep.points.len(), sweep.jobs.len()), (2, 2), "{:?}", sweep.notes);
        let fifo = "name = \"s\"\n[host]\nfifo = 20\nlimiter_backlog = \"ahead\"\nnic = 10\n[workload]\nkind = \"permutation\"\n";
        let swept = of(fifo, "host.queues=fifo,per-flow").unwrap();
        let without = "name = \"s\"\n[workload]\nkind = \"permutation\"\n";
        let plain = of(without, "host.queues=fifo,per-flow").unwrap();
        let config = |sweep: &Sweep, n: usize| sweep.jobs[n].ready.config.clone();
        assert_ne!(config(&swept, 0), config(&plain, 0));
        assert_eq!(config(&swept, 1), config(&plain, 1));
    }

    #[test]
    fn a_product_in_order() {
        let axis = |key: &str, n: usize| Axis { key: key.into(), values: vec![String::new(); n], log: false };
        assert_eq!(product(&[axis("a", 2), axis("b", 3)]), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(product(&[]), [[0_usize; 0]]);
    }

    #[test]
    fn a_point_without_effect_is_left_out_of_two() {
        let s = Scenario::load("B07/single-hop", &[])
            .unwrap()
            .with(&[(canonical_key("efr-max"), "10".into())])
            .unwrap();
        let base = &s.cases()[0];
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_string()).collect();
            plan(&s, axes(&words).unwrap(), base, &["on".into()], &["qcn-2pt".into()], 1)
        };
        let two = of(&["efr=on,off"]).unwrap();
        assert!(
            two.points.len() == 1 && two.notes[0].contains("left out: qcn-2pt, scheme.params.efr=off"),
            "{:?}",
            two.notes
        );
        assert!(of(&["efr=off"]).is_err(), "alone it is an error");
    }

    #[test]
    fn an_effect_between_some_values_is_one() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let base = &s.cases()[0];
        let words = ["scheme.params.q_eq=24 KB,24000 B,48 KB,48000 B".to_string()];
        let sweep = plan(&s, axes(&words).unwrap(), base, &["on".into()], &["qcn-2pt".into()], 1).unwrap();
        assert_eq!((sweep.points.len(), sweep.jobs.len()), (4, 2));
        assert!(!sweep.notes.iter().any(|n| n.contains("no effect")), "{:?}", sweep.notes);
    }
}
