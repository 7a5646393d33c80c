//! The figures of a scenario's page: time series below each table, then those that the scenario asks for.

use super::bars::bars;
use super::percentiles::percentiles;
use super::scene::{CaseRuns, Scene, ordinal, split};
use super::slowdown::slowdowns;
use super::table::Layout;
use super::traffic::tails;
use crate::html::distinct;
use crate::model::{Axis, Band, Figure, Level, Trace, Window};
use cnsim_problem::joined;
use cnsim_runs::record::Curve;
use cnsim_scenario::case::Dimension;
use cnsim_scenario::figures::{FigureSpec, Show};
use cnsim_scenario::metrics::{Id, find};
use cnsim_scenario::tables;
use cnsim_scheme_api::Bytes;
use indexmap::{IndexMap, IndexSet};

/// Most lines of a figure; with more it is split.
const MOST: usize = 10;
/// Columns of time series below a table: the first that is there of each.
const BELOW: [&[&str]; 2] = [&["hot_queue"], &[HOT, ALL]];
const HOT: &str = Id::HotPortThroughput.text();
const ALL: &str = Id::AggregateThroughput.text();

pub(crate) fn figures(scene: &Scene<'_>, layout: Layout) -> Vec<Figure> {
    let mut all = match layout {
        Layout::Apart => below_each(scene, layout),
        Layout::Together => below_all(scene, layout),
    };
    // Below the table where there is one only, else in a section of their own.
    let tables: std::collections::BTreeSet<String> =
        scene.cases.iter().map(|c| layout.table(&c.case)).collect();
    let only = tables.first().filter(|_| layout == Layout::Apart && tables.len() == 1);
    for spec in &scene.scenario.figures {
        let mut some = asked(scene, spec);
        if let (Some(id), [one]) = (only, &mut some[..]) {
            one.group.clone_from(id);
        }
        all.extend(some);
    }
    // A name has one look in all figures that stand together.
    let together = |i: usize, f: &Figure| if f.group.is_empty() { Err(i) } else { Ok(f.group.clone()) };
    let mut looks: IndexMap<Result<String, usize>, IndexSet<String>> = IndexMap::new();
    for (i, f) in all.iter().enumerate() {
        let names = f.traces.iter().filter(|t| t.slot.is_some()).map(|t| t.name.clone());
        looks.entry(together(i, f)).or_default().extend(names);
    }
    for (i, f) in all.iter_mut().enumerate() {
        let names = &looks[&together(i, f)];
        for t in f.traces.iter_mut().filter(|t| t.slot.is_some()) {
            t.slot = names.get_index_of(&t.name).map(|i| spread(i, names.len()));
        }
    }
    all
}

/// Slot of the `i`-th of `n` settings: few are spread over the colours, more than there are colours are dashed.
fn spread(i: usize, n: usize) -> u8 {
    match n {
        0 | 1 => 2,
        2..=8 => (i * 7 / (n - 1)) as u8,
        _ => ordinal(i),
    }
}

/// A line: its case, the series, its name, and a slot where the name is no scheme's.
struct Line<'s, 'a> {
    case: &'s CaseRuns<'a>,
    series: String,
    name: String,
    slot: Option<u8>,
}

/// Below each table: a figure per series, one line a scheme.
fn below_each(scene: &Scene<'_>, layout: Layout) -> Vec<Figure> {
    let mut tables: IndexMap<String, Vec<&CaseRuns<'_>>> = IndexMap::new();
    scene.cases.iter().for_each(|c| tables.entry(layout.table(&c.case)).or_default().push(c));
    let mut all = Vec::new();
    let hot = scene.has_hot_port();
    for (id, cases) in &tables {
        for series in shown(cases, hot) {
            let lines = cases
                .iter()
                .map(|c| Line { case: c, series: series.into(), name: c.case.scheme.clone(), slot: None })
                .collect::<Vec<_>>();
            all.extend(over_time(scene, &lines, id, title(series), String::new()));
        }
        // Of several classes each has a line.
        let mut lines = Vec::new();
        for case in cases.iter().filter(|_| hot) {
            lines.extend(of_classes(case).map(|(series, class, scheme)| Line {
                case,
                series: series.clone(),
                name: format!("{scheme}, {class}"),
                slot: None,
            }));
        }
        all.extend(over_time(scene, &lines, id, "Hot queue length by class".into(), String::new()));
        all.extend(tails(cases, id));
        all.extend(percentiles(cases, id));
        all.extend(slowdowns(cases, id));
    }
    all
}

/// Below a table of many conditions: a figure per scheme and series, one line a condition; none that the scenario asks
/// for itself.
fn below_all(scene: &Scene<'_>, layout: Layout) -> Vec<Figure> {
    let mut sets: IndexMap<(String, &str), Vec<&CaseRuns<'_>>> = IndexMap::new();
    scene.cases.iter().for_each(|c| sets.entry((layout.table(&c.case), &c.case.scheme)).or_default().push(c));
    let mut all = Vec::new();
    let hot = scene.has_hot_port();
    for ((id, scheme), cases) in &sets {
        let conditions: Vec<&str> = cases.iter().map(|c| c.case.condition.as_str()).collect();
        let mut drawn: IndexMap<&str, String> =
            shown(cases, hot).map(|series| (series, (*scheme).into())).collect();
        // Of several classes each has a figure.
        let own = cases.iter().filter(|_| hot).flat_map(|c| of_classes(c));
        drawn.extend(own.map(|(series, _, scheme)| (series.as_str(), scheme)));
        for (rest, members) in split(&conditions) {
            for (series, scheme) in &drawn {
                let asked = |c: &CaseRuns<'_>| {
                    scene.scenario.figures.iter().any(|f| {
                        let same = matches!(&f.show, Show::Series(list) if list.iter().any(|s| s == series));
                        same && f.takes(&c.case)
                    })
                };
                let line = |(i, (name, condition)): (usize, &(String, String))| {
                    let case = cases.iter().find(|c| c.case.condition == *condition)?;
                    let (series, slot) = ((*series).into(), Some(ordinal(i)));
                    Some(Line { case, series, name: name.clone(), slot })
                };
                let lines: Vec<Line<'_, '_>> = members.iter().enumerate().filter_map(line).collect();
                if lines.iter().all(|l| asked(l.case)) {
                    continue;
                }
                let title = format!("{}: {}", title(series), joined([scheme.as_str(), rest.as_str()], ", "));
                all.extend(over_time(scene, &lines, id, title, String::new()));
            }
        }
    }
    all
}

/// What is drawn below a table: of each kind the first series that a run has. Those of the hot port only where there is one.
fn shown(cases: &[&CaseRuns<'_>], hot: bool) -> impl Iterator<Item = &'static str> {
    let is_shown = move |n: &&str| has(cases, n) && (hot || !n.starts_with("hot_"));
    BELOW.iter().filter_map(move |names| names.iter().copied().find(is_shown))
}

/// Series of the hot queue that a case has by class, the class, and under which scheme it is: one of its own stands beside the case's.
fn of_classes<'c>(case: &'c CaseRuns<'_>) -> impl Iterator<Item = (&'c String, &'c str, String)> {
    let series =
        case.runs.first().into_iter().flat_map(|run| run.over_time.series.keys().map(move |s| (run, s)));
    series.filter_map(|(run, series)| {
        let class = series.strip_prefix("hot_queue, ")?;
        let own = run.traffic.iter().find(|facts| facts.name == class && !facts.scheme.is_empty());
        let all = case.case.scheme.clone();
        Some((series, class, own.map_or(all.clone(), |own| format!("{} beside {all}", own.scheme))))
    })
}

fn has(cases: &[&CaseRuns<'_>], series: &str) -> bool {
    cases.iter().any(|c| c.runs.first().is_some_and(|r| r.over_time.series.contains_key(series)))
}

/// Heading of a series.
fn title(series: &str) -> String {
    match series {
        "hot_queue" => "Hot queue length".into(),
        HOT => "Hot-port throughput".into(),
        ALL => "Aggregate throughput".into(),
        other => match other.split_once(' ') {
            Some(("queue", port)) => format!("Queue {port}"),
            Some(("flow", flow)) => format!("Delivered rate {flow}"),
            Some(("limiter", flow)) => format!("Limiter's rate {flow}"),
            _ => capital(&other.replace('_', " ")),
        },
    }
}

/// Quantity of a series, for its axis.
fn quantity(series: &str) -> &'static str {
    let of = |word: &str| series.contains(word);
    match series {
        _ if of("queue") => "queue",
        _ if of("throughput") => "throughput",
        _ if of("flow") || of("limiter") || of("delivered") || of("rate") => "rate",
        _ if of("fair") => "fairness",
        _ if of("drop") => "frames",
        _ => "value",
    }
}

/// The series of a run by its name; the hot port's queue by its own name, too.
fn curve<'r>(scene: &Scene<'_>, case: &CaseRuns<'r>, seed_at: usize, series: &str) -> Option<&'r Curve> {
    let run = case.runs.get(seed_at)?;
    if let Some((_, c)) = run.over_time.series.iter().find(|(name, _)| name.eq_ignore_ascii_case(series)) {
        return Some(c);
    }
    let (port, class) = series.strip_prefix("queue ")?.split_once(", ").map_or_else(
        || (series.strip_prefix("queue ").unwrap_or_default(), String::new()),
        |(port, class)| (port, format!(", {class}")),
    );
    let settings = &scene.ready(case)?.settings;
    let named = settings.wiring.port(port)?;
    if settings.record.named.ports.first() == Some(&named) {
        run.over_time.series.get(&format!("hot_queue{class}"))
    } else {
        None
    }
}

/// The end of each bin of a series, ms.
fn times(curve: &Curve) -> Vec<f64> {
    (1..=curve.values.len()).map(|i| ((i as f64 * curve.bin) * 1e7).round() / 1e4).collect()
}

/// The trace of a line: its first seed, within the least and the greatest of all seeds; and whether those are peaks between samples.
fn drawn(scene: &Scene<'_>, line: &Line<'_, '_>, first: &Curve) -> (Trace, bool) {
    let n = first.values.len();
    let seeds = (0..line.case.runs.len()).filter_map(|i| curve(scene, line.case, i, &line.series));
    let others: Vec<&Curve> = seeds.filter(|c| c.values.len() == n).collect();
    let extreme = |of: fn(&Curve) -> &[f64], f: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..n).map(|i| others.iter().map(|c| of(c)[i]).reduce(f).unwrap_or(0.0)).collect()
    };
    let peaks = others.iter().any(|c| !c.peaks.is_empty());
    let band = (others.len() > 1 || peaks)
        .then(|| Band { low: extreme(|c| &c.values, f64::min), high: extreme(Curve::upper, f64::max) });
    let (name, slot, y) = (line.name.clone(), line.slot, first.values.clone());
    (Trace { name, slot, x: times(first), y, band, ..Trace::default() }, peaks)
}

/// Which seed the lines are of, and what their bands are of all seeds: of some lines `few`, of others `many`.
fn about(seed: u64, (few, many): (u64, u64), peaked: bool) -> String {
    match (many, peaked) {
        (0, _) => String::new(),
        (1, false) => format!("Seed {seed}."),
        (1, true) => format!(
            "Seed {seed}: the line is the length at the end of each bin; the band extends to the longest queue in the bin."
        ),
        _ => {
            let band = match peaked {
                true => "from the least sample to the longest queue of each bin,",
                false => "least and greatest",
            };
            let most = if few == many { "" } else { "up to " };
            format!("Seed {seed}; band: {band} of {most}{many} seeds.")
        }
    }
}

/// A figure over time, or one for each unit.
fn over_time(
    scene: &Scene<'_>,
    lines: &[Line<'_, '_>],
    group: &str,
    title: String,
    caption: String,
) -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    let mut seeds = (u64::MAX, 0);
    // Units of the figures whose lines are queues with their peaks.
    let mut peaked: Vec<String> = Vec::new();
    for line in lines {
        let Some(first) = curve(scene, line.case, 0, &line.series) else { continue };
        let y = Axis { title: quantity(&line.series).into(), unit: first.unit.clone(), log: false };
        let (trace, peaks) = drawn(scene, line, first);
        peaked.extend(peaks.then(|| y.unit.clone()));
        let runs = line.case.runs.len() as u64;
        seeds = (seeds.0.min(runs), seeds.1.max(runs));
        match all.iter_mut().find(|f| f.y == y) {
            Some(f) => f.traces.push(trace),
            None => all.push(Figure {
                group: group.into(),
                title: title.clone(),
                x: Axis { title: "time".into(), unit: "ms".into(), log: false },
                y,
                traces: vec![trace],
                ..Figure::default()
            }),
        }
    }
    let seed = lines.iter().find_map(|l| l.case.runs.first()).map_or(1, |r| r.seed);
    let windows = windows(scene, lines);
    let same = |d: Dimension| match &distinct(lines.iter().map(|l| d.of(&l.case.case)))[..] {
        [one] => (*one).to_string(),
        _ => String::new(),
    };
    let [condition, pause, scheme] = DIMENSIONS.map(same);
    for f in &mut all {
        (f.scheme, f.condition, f.pause) = (scheme.clone(), condition.clone(), pause.clone());
        f.caption = joined([&caption, &about(seed, seeds, peaked.contains(&f.y.unit))], " ");
        f.windows.clone_from(&windows);
        f.levels = levels(scene, lines, &f.y);
    }
    all
}

/// The spans in which the hot port is slow, where all lines agree on them.
fn windows(scene: &Scene<'_>, lines: &[Line<'_, '_>]) -> Vec<Window> {
    let mut found: Vec<Vec<(f64, f64)>> = Vec::new();
    for line in lines {
        let spans = scene.ready(line.case).and_then(|r| r.settings.hotspot()).map_or_else(Vec::new, |h| {
            h.windows().iter().map(|(a, b)| (a.as_secs_f64() * 1e3, b.as_secs_f64() * 1e3)).collect()
        });
        if !found.contains(&spans) {
            found.push(spans);
        }
    }
    let [spans] = &found[..] else { return Vec::new() };
    let label = |i: usize| if i == 0 { "hotspot" } else { "" };
    let window =
        |(i, (from, to)): (usize, &(f64, f64))| Window { from: *from, to: *to, label: label(i).into() };
    spans.iter().enumerate().map(window).collect()
}

/// Set points and the queue's limit for queues; the service rate for a throughput or rate of the hot port.
fn levels(scene: &Scene<'_>, lines: &[Line<'_, '_>], y: &Axis) -> Vec<Level> {
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut add = |value: f64, label: String| {
        if !found.iter().any(|f| f.0 == value) {
            found.push((value, label));
        }
    };
    for line in lines.iter().filter(|l| quantity(&l.series) == y.title) {
        let Some(run) = line.case.runs.first() else { continue };
        if y.title == "queue" && y.unit == "KB" {
            if let Some(b) = run.config.read::<Bytes>("scheme.params.q_eq") {
                add(b.as_f64() / 1e3, format!("set point {b}"));
            }
            if let Some(b) = run.config.read::<Bytes>(tables::switch::OUTPUT_LIMIT) {
                add(b.as_f64() / 1e3, format!("limit {b}"));
            }
        }
        if line.series == HOT
            && let Some(h) = scene.ready(line.case).and_then(|r| r.settings.hotspot())
        {
            add(h.rate.gbps(), format!("service rate {}", h.rate));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    if found.len() > 3 {
        return Vec::new();
    }
    // Labels of levels that lie close together would cover each other.
    let close = |a: f64, b: f64| (b - a) < 0.2 * b;
    let mut levels: Vec<Level> = Vec::new();
    for (value, label) in found {
        match levels.last_mut() {
            Some(l) if close(l.value, value) && l.label.starts_with("set point") => {
                let first = std::mem::take(&mut l.label);
                let more = label.trim_start_matches("set point ");
                levels.push(Level {
                    value,
                    label: format!("{}, {more}", first.replace("set point ", "set points ")),
                });
            }
            _ => levels.push(Level { value, label }),
        }
    }
    levels
}

/// A figure that the scenario asks for, or one for each value of a dimension.
fn asked(scene: &Scene<'_>, spec: &FigureSpec) -> Vec<Figure> {
    let cases: Vec<&CaseRuns<'_>> = scene.cases.iter().filter(|c| spec.takes(&c.case)).collect();
    let value = |c: &CaseRuns<'_>, d: Dimension| match d {
        Dimension::Pause => format!("PAUSE {}", c.case.pause),
        _ => d.of(&c.case).to_string(),
    };
    let mut parts: IndexMap<String, Vec<&CaseRuns<'_>>> = IndexMap::new();
    for c in cases {
        parts.entry(spec.each.map_or_else(String::new, |d| value(c, d))).or_default().push(c);
    }
    let heading = match (&spec.show, spec.title.is_empty()) {
        (_, false) => spec.title.clone(),
        (Show::Series(list), _) => list.first().map_or_else(String::new, |s| title(s)),
        (Show::Metric(m), _) => capital(find(m).map_or(m.as_str(), |m| m.title)),
    };
    let mut all = Vec::new();
    for (at, cases) in &parts {
        match &spec.show {
            Show::Metric(m) => {
                for (rest, some) in sorted(cases, spec.across == Dimension::Condition) {
                    let inner = joined([at, &rest], ", ");
                    let title = if inner.is_empty() { heading.clone() } else { inner };
                    all.extend(bars(&some, m, spec.across, title, spec.caption.clone()));
                }
            }
            Show::Series(list) => all.extend(series(scene, cases, list, at, spec, &heading)),
        }
    }
    // Several under one heading, or one with its own.
    let group = if all.len() > 1 { heading } else { String::new() };
    for f in &mut all {
        f.group.clone_from(&group);
    }
    all
}

/// Cases whose conditions differ in more than one clause, in groups that differ in one; else all together.
fn sorted<'s, 'a>(cases: &[&'s CaseRuns<'a>], wanted: bool) -> Vec<(String, Vec<&'s CaseRuns<'a>>)> {
    let groups = split(&distinct(cases.iter().map(|c| c.case.condition.as_str())));
    if !wanted || groups.len() < 2 || groups.iter().any(|g| g.1.len() < 2) {
        return vec![(String::new(), cases.to_vec())];
    }
    let mine = |members: &[(String, String)]| {
        let of = |c: &&&CaseRuns<'_>| members.iter().any(|m| m.1 == c.case.condition);
        cases.iter().filter(of).copied().collect::<Vec<_>>()
    };
    groups.iter().map(|(rest, members)| (rest.clone(), mine(members))).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + letters.as_str())
}

/// Series of some cases: one line each, split where there are too many.
fn series(
    scene: &Scene<'_>,
    cases: &[&CaseRuns<'_>],
    list: &[String],
    at: &str,
    spec: &FigureSpec,
    heading: &str,
) -> Vec<Figure> {
    if let Some(parts) = parts(cases, list.len()) {
        let each = |(part, some): &(String, Vec<&CaseRuns<'_>>)| {
            series(scene, some, list, &joined([at, part], ", "), spec, heading)
        };
        return parts.iter().flat_map(each).collect();
    }
    let [conditions, pauses, schemes] = DIMENSIONS.map(|d| values(cases, d));
    let short = split(&conditions);
    let told = |c: &CaseRuns<'_>, s: &str| -> (String, bool) {
        let mut words = Vec::new();
        if schemes.len() > 1 {
            words.push(c.case.scheme.to_string());
        }
        if conditions.len() > 1 {
            // One clause says it all, if they differ in no other.
            let clause = match &short[..] {
                [(_, members)] => members.iter().find(|m| m.1 == c.case.condition).map(|m| m.0.clone()),
                _ => None,
            };
            words.push(clause.unwrap_or_else(|| c.case.condition.to_string()));
        }
        if pauses.len() > 1 {
            words.push(format!("PAUSE {}", c.case.pause));
        }
        if list.len() > 1 {
            words.push(s.split_once(' ').map_or_else(|| title(s), |(_, what)| what.to_string()));
        }
        let plain = words.len() <= 1 && schemes.len() > 1 || words.is_empty();
        (if words.is_empty() { c.case.scheme.to_string() } else { words.join(", ") }, plain)
    };
    let mut lines = Vec::new();
    for (c, s) in cases.iter().flat_map(|c| list.iter().map(move |s| (c, s))) {
        let (name, plain) = told(c, s);
        let slot = (!plain).then(|| ordinal(lines.len()));
        lines.push(Line { case: c, series: s.clone(), name, slot });
    }
    let title = if at.is_empty() { heading.to_string() } else { at.to_string() };
    over_time(scene, &lines, "", title, spec.caption.clone())
}

const DIMENSIONS: [Dimension; 3] = [Dimension::Condition, Dimension::Pause, Dimension::Scheme];

/// Values of a dimension, each once.
fn values<'s>(cases: &[&'s CaseRuns<'_>], d: Dimension) -> Vec<&'s str> {
    distinct(cases.iter().map(|c| d.of(&c.case)))
}

/// Cases in parts that have a figure each: by their conditions, or with too many lines by scheme, condition or PAUSE mode, whichever
/// leaves fewest figures.
fn parts<'s, 'a>(cases: &[&'s CaseRuns<'a>], series: usize) -> Option<Vec<(String, Vec<&'s CaseRuns<'a>>)>> {
    let groups = sorted(cases, cases.len() * series > 4);
    if groups.len() > 1 {
        return Some(groups);
    }
    if cases.len() * series <= MOST {
        return None;
    }
    let by = [Dimension::Scheme, Dimension::Condition, Dimension::Pause].map(|d| (values(cases, d), d));
    let (values, d) = by.into_iter().filter(|b| b.0.len() > 1).min_by_key(|b| b.0.len())?;
    let part = |value: &str| {
        let some = cases.iter().copied().filter(|c| d.of(&c.case) == value).collect();
        (if d == Dimension::Pause { format!("PAUSE {value}") } else { value.into() }, some)
    };
    Some(values.into_iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_split_by_the_clause_that_varies_most() {
        let mut conditions = Vec::new();
        for limit in ["output-queue limit 600 KB", "no output-queue limit"] {
            for rtt in [10, 100, 200] {
                conditions.push(format!("service rate 10%, RTT {rtt} us, {limit}"));
            }
            conditions.push(format!("service rate 10%, {limit}"));
        }
        let groups = split(&conditions.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].0, "output-queue limit 600 KB");
        let names: Vec<&str> = groups[0].1.iter().map(|m| m.0.as_str()).collect();
        assert_eq!(names, ["RTT 10 us", "RTT 100 us", "RTT 200 us", "RTT as usual"]);
        assert_eq!(split(&["a"]), [(String::new(), vec![("a".into(), "a".into())])]);
        assert_eq!(split(&["hotspot 2 Gb/s", "hotspot 1 Gb/s"])[0].1.len(), 2);
    }

    #[test]
    fn quantities_of_series() {
        for (series, is) in [
            ("queue S>H1", "queue"),
            ("hot_port_throughput", "throughput"),
            ("flow H0>H1", "rate"),
            ("limiter H0>H1", "rate"),
            ("delivered H1", "rate"),
            ("fairness", "fairness"),
            ("dropped S", "frames"),
            ("gauge alpha H0>H1", "value"),
        ] {
            assert_eq!(quantity(series), is, "{series}");
        }
        assert_eq!(
            (title("queue S>H1"), title("limiter a"), title("some_thing")),
            ("Queue S>H1".into(), "Limiter's rate a".into(), "Some thing".into())
        );
        assert_eq!(
            [(0, 1), (0, 2), (1, 2), (2, 4), (7, 8), (8, 9), (32, 40)].map(|(i, n)| spread(i, n)),
            [2, 0, 7, 4, 7, 8, 0]
        );
        assert_eq!(capital(""), "");
    }
}
