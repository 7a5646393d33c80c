//! Figures of a scenario, as its `[[figure]]` tables ask for them; which runs make which lines. Drawing is the report's.

use super::pause::PauseMode;
use super::record;
use crate::case::{CaseId, Dimension};
use crate::language::meant;
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::text::Flat;
use crate::metrics::Id;
use cnsim_problem::{Problem, nearest};
use cnsim_scheme_api::Registry;
use std::collections::BTreeSet;

words! {
    /// `figure.across`.
    Dimension { Condition = "condition", Pause = "pause", Scheme = "scheme", }
}

words! { Option<Dimension> or "off" { Condition = "condition", Pause = "pause", Scheme = "scheme", } }

rows! {
    TITLE = key("figure.title", kind::TEXT, "", "heading of a [[figure]] table; the report draws it beside its own figures").fixed("");
    CAPTION = key("figure.caption", kind::TEXT, "", "text below the figure").fixed("");
    SERIES = key("figure.series", kind::LINES, "[]",
        "time series, one line each: hot_queue, hot_port_throughput, aggregate_throughput, ports_throughput, control_rate (control messages), fairness, \"queue X>E5\", \"sent X>E5\" (the hot port), \"flow H1>H5\", \"limiter H1>H5\", of flows of record.flow_events \"rate H1>H5\", \"window H1>H5\", \"in_flight H1>H5\", \"rtt H1>H5\" and \"marks H1>H5\", and the gauges of a scheme: \"gauge NAME X>E5\" of a port, \"gauge NAME H1>H5\" of a limiter, \"gauge NAME H1>H5 at its end\" of a reflector").fixed("");
    METRIC = key("figure.metric", kind::TEXT, "none", "metric that the figure shows as bars with intervals, instead of time series").fixed("");
    CONDITIONS = key("figure.conditions", kind::LINES, "[]", "conditions that the figure shows; all without it").fixed("");
    PAUSE = key("figure.pause", Kind::List(&Kind::Choice(PauseMode::WORDS)), "[]",
        "PAUSE modes that the figure shows; all without it").fixed("");
    SCHEMES = key("figure.schemes", kind::SCHEMES, "[]", "schemes that the figure shows; all without it").fixed("");
    EACH = key("figure.each", Kind::Choice(<Option<Dimension>>::WORDS), "off", "draws one figure for each condition, PAUSE mode or scheme").fixed("");
    ACROSS = key("figure.across", Kind::Choice(Dimension::WORDS), "condition", "horizontal axis of a metric").fixed("");
}

/// A figure, or one for each value of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureSpec {
    /// Heading of the figure.
    pub title: String,
    /// A remark that stands below the figure.
    pub caption: String,
    /// The content of the figure.
    pub show: Show,
    /// Only these conditions; empty for all.
    pub conditions: Vec<String>,
    /// Only these PAUSE modes; empty for all.
    pub pauses: Vec<String>,
    /// Only these schemes; empty for all.
    pub schemes: Vec<String>,
    /// The dimension each of whose values gets a figure of its own.
    pub each: Option<Dimension>,
    /// Horizontal axis of a metric.
    pub across: Dimension,
}

/// The content of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    /// Time series by name: `hot_queue`, `queue X>E5`, `flow H1>H5`.
    Series(Vec<String>),
    /// A metric: bars with intervals.
    Metric(String),
}

impl FigureSpec {
    /// Are the runs of this case drawn?
    pub fn takes(&self, case: &CaseId) -> bool {
        let among = |list: &[String], value: &str| list.is_empty() || list.iter().any(|x| x == value);
        among(&self.conditions, &case.condition)
            && among(&self.pauses, &case.pause)
            && among(&self.schemes, &case.scheme)
    }
}

/// Series of every run, and those that a scenario names with a place: `queue X>E5`.
const PLAIN: &[&str] = &[
    "hot_queue",
    Id::HotPortThroughput.text(),
    Id::AggregateThroughput.text(),
    Id::InnocentThroughput.text(),
    Id::PortsThroughput.text(),
    "control_rate",
    Id::Fairness.text(),
];
const PLACED: &[(&str, Key)] = &[
    ("queue", record::PORTS),
    ("sent", record::PORT),
    ("flow", record::FLOWS),
    ("limiter", record::LIMITERS),
    ("gauge", record::LIMITERS),
    ("rate", record::FLOW_EVENTS),
    ("window", record::FLOW_EVENTS),
    ("in_flight", record::FLOW_EVENTS),
    ("rtt", record::FLOW_EVENTS),
    ("marks", record::FLOW_EVENTS),
];

/// The fault in the name of a series and its remedy, by the spelling alone. [`unmet`] checks whether a run has the series.
fn unknown_series(name: &str, flat: &Flat) -> Option<(String, String)> {
    if PLAIN.contains(&name) {
        return None;
    }
    let Some((kind, key)) = PLACED.iter().find(|(k, _)| name.split(' ').next() == Some(k)) else {
        let near = nearest(name, PLAIN.iter().copied());
        let hint = near.map_or_else(|| PLAIN.join(", "), |n| format!("did you mean `{n}`?"));
        return Some((format!("there is no series `{name}`"), hint));
    };
    let mut place = name[kind.len()..].trim();
    if *kind == "gauge" {
        // A gauge's name comes before its place, which is a port or a flow.
        let Some((_, at)) = place.split_once(' ') else {
            return Some((format!("`{name}` has no place"), "write \"gauge NAME H1>H5\"".into()));
        };
        place = at.trim_end_matches(" at its end");
    }
    let named =
        flat.leaves.get(key.path).is_some_and(|l| l.items.iter().any(|i| i.replace(' ', "") == place));
    // The hot port is recorded without being named.
    let hot = matches!(*kind, "queue" | "sent" | "gauge");
    (!named && !hot)
        .then(|| (format!("`{place}` is not recorded"), format!("add \"{place}\" to {}", key.path)))
}

/// Refuses figures that no case of a scenario would draw: of a condition, PAUSE mode or scheme that no case has, or of a place that
/// none records. `recorded` are the names of series with a place that they record.
pub(crate) fn unmet(
    flat: &Flat,
    figures: &[FigureSpec],
    cases: &[CaseId],
    recorded: &BTreeSet<String>,
    problems: &mut Vec<Problem>,
) {
    for (prefix, figure) in flat.tables("figure").iter().zip(figures) {
        let mut missing = |key: &str, named: &[String], part: Dimension| {
            for (i, name) in named.iter().enumerate().filter(|(_, n)| !cases.iter().any(|c| part.of(c) == *n))
            {
                let known: BTreeSet<&str> = cases.iter().map(|c| part.of(c)).collect();
                let near = nearest(name, known.iter().copied());
                let some = known.iter().copied().take(5).collect::<Vec<_>>().join("; ");
                let hint =
                    near.map_or_else(|| format!("cases have: {some}"), |n| format!("did you mean `{n}`?"));
                problems.push(flat.at_item(
                    &format!("{prefix}.{key}"),
                    i,
                    0,
                    format!("no case has `{name}`"),
                    hint,
                ));
            }
        };
        missing("conditions", &figure.conditions, Dimension::Condition);
        missing("pause", &figure.pauses, Dimension::Pause);
        missing("schemes", &figure.schemes, Dimension::Scheme);
        let Show::Series(names) = &figure.show else { continue };
        for (i, name) in names.iter().enumerate().filter(|(_, n)| !PLAIN.contains(&n.as_str())) {
            if !recorded.contains(name) {
                let known: Vec<&str> = recorded.iter().map(String::as_str).take(5).collect();
                let reason = format!("no case records `{name}`");
                let hint = match nearest(name, recorded.iter().map(String::as_str)) {
                    Some(n) => format!("did you mean `{n}`?"),
                    None if known.is_empty() => {
                        "name the place in [record]; the hot port's queue is hot_queue".into()
                    }
                    None => {
                        format!("recorded by name: {}; the hot port's queue is hot_queue", known.join(", "))
                    }
                };
                problems.push(flat.at_item(&format!("{prefix}.series"), i, 0, reason, hint));
            }
        }
    }
}

/// Reads the `[[figure]]` tables.
pub(crate) fn read(flat: &Flat, registry: &Registry, problems: &mut Vec<Problem>) -> Vec<FigureSpec> {
    let mut r = Reader::new(flat, registry, problems);
    let mut all = Vec::new();
    for prefix in flat.tables("figure") {
        let key = |leaf: Key| leaf.of(&prefix);
        let (series, metric) = (r.list(key(SERIES)), r.word(key(METRIC)));
        let show = match (series.is_empty(), metric.as_str()) {
            (false, "none") => Show::Series(series),
            (true, m) if crate::metrics::find(m).is_some() => Show::Metric(metric),
            (true, "none") => {
                r.wrong(&prefix, "shows nothing", "give it series = [\"hot_queue\"], or a metric");
                continue;
            }
            (true, m) => {
                let near = meant::metric(m).map_or_else(String::new, |n| format!("did you mean `{n}`? "));
                let hint = format!("{near}`cnsim list metrics` shows them");
                r.wrong(key(METRIC), format!("there is no metric `{m}`"), hint);
                continue;
            }
            _ => {
                r.wrong(&prefix, "has both series and a metric", "make two figures of it");
                continue;
            }
        };
        if let Show::Series(names) = &show {
            for name in names {
                if let Some((reason, remedy)) = unknown_series(name, flat) {
                    r.wrong(key(SERIES), reason, remedy);
                }
            }
        }
        let schemes = r.list(key(SCHEMES));
        let mut known = Vec::new();
        for s in schemes {
            match registry.find(&s) {
                Some(e) => known.push(e.name.clone()),
                None => {
                    let hint = format!("{}`cnsim list schemes` shows them", meant::scheme(registry, &s));
                    r.wrong(key(SCHEMES), format!("there is no scheme `{s}`"), hint);
                }
            }
        }
        all.push(FigureSpec {
            title: r.word(key(TITLE)),
            caption: r.word(key(CAPTION)),
            show,
            conditions: r.list(key(CONDITIONS)),
            pauses: r.list(key(PAUSE)),
            schemes: known,
            each: r.choice(key(EACH)),
            across: r.choice(key(ACROSS)),
        });
    }
    all
}
