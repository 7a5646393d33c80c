//! A quantity of two points, paired by seed: means, differences with their interval, and the verdict.

use crate::look::{self, at_least, measured};
use cnsim_advice::unfinished::FINISHED;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::{METRICS, Metric, Times};
use std::collections::BTreeMap;

/// A metric of two points, seed by seed: the baseline and the other point.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Means of both.
    pub means: [f64; 2],
    /// Whether the value of either side is a lower bound, as flows were unfinished.
    pub bounds: [bool; 2],
    /// The metric is a mean over finished flows, and the two sides finished different shares of their flows under some seed.
    other_flows: bool,
    /// Differences from the baseline under the same seed.
    pub difference: Summary,
}

/// A value, and whether it is a lower bound.
type Value = (f64, bool);

/// The runs of a point by seed.
pub(crate) type BySeed<'a> = BTreeMap<u64, &'a RunRecord>;

impl Pairs {
    /// Pairs the values of both sides, one pair a seed; none without any.
    pub(crate) fn new(pairs: &[(Value, Value)]) -> Option<Self> {
        let difference = Summary::of(&pairs.iter().map(|(b, v)| v.0 - b.0).collect::<Vec<_>>())?;
        let mean = |of: fn(&(Value, Value)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        Some(Self {
            means: [mean(|p| p.0.0), mean(|p| p.1.0)],
            bounds: [pairs.iter().any(|p| p.0.1), pairs.iter().any(|p| p.1.1)],
            other_flows: false,
            difference,
        })
    }

    /// A metric, of all traffic or that of a name, of two points whose runs stand by seed; none if no seed has it on both sides.
    pub(crate) fn of(base: &BySeed<'_>, here: &BySeed<'_>, name: &str, metric: &Metric) -> Option<Self> {
        let both = |(seed, run): (&u64, &&RunRecord)| {
            Some((value(base.get(seed)?, name, metric)?, value(run, name, metric)?))
        };
        let apart = |(seed, run): (&u64, &&RunRecord)| {
            base.get(seed).is_some_and(|b| !finished(b, name).eq(finished(run, name)))
        };
        let other_flows = metric.times == Some(Times::Finished) && here.iter().any(apart);
        Some(Self { other_flows, ..Self::new(&here.iter().filter_map(both).collect::<Vec<_>>())? })
    }

    /// A metric of finished runs; one of several runs with a seed counts.
    pub fn of_records(base: &[&RunRecord], here: &[&RunRecord], metric: &Metric) -> Option<Self> {
        let [base, here] = [base, here].map(|of| of.iter().map(|r| (r.seed, *r)).collect());
        Self::of(&base, &here, "", metric)
    }

    /// The 95 % interval of the difference; none for one seed, nor where either side is a bound.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        self.difference.paired().filter(|interval| self.bounds == [false; 2] && finite(interval))
    }

    /// `higher`, `lower`, `one seed` or `undecided`; with the reason, where it is not that the interval holds zero.
    pub fn verdict(&self) -> &'static str {
        if self.other_flows {
            return "undecided: different flows finished";
        }
        if self.bounds == [true; 2] {
            return "undecided: both are bounds";
        }
        if self.difference.mean.is_nan() {
            return "not in both";
        }
        let Some((low, high)) = self.difference.paired() else { return "one seed" };
        // A lower bound may be higher by any amount.
        match (low > 0.0 && !self.bounds[0], high < 0.0 && !self.bounds[1]) {
            (true, _) => "higher",
            (_, true) => "lower",
            _ if low > 0.0 || high < 0.0 => "undecided: one is a bound",
            _ => "undecided",
        }
    }

    pub(crate) fn changes(&self) -> bool {
        self.difference.mean != 0.0 || self.difference.sd != 0.0
    }

    /// The difference with its interval; of a bound on one side the bound of the difference.
    pub(crate) fn text(&self) -> String {
        let text = measured(self.difference.mean, self.interval());
        match self.bounds {
            [true, true] => "-".into(),
            [true, false] => format!("≤ {text}"),
            [_, bound] => at_least(bound) + &text,
        }
    }
}

/// A quantity of two points, and where they are.
pub(crate) struct Row {
    /// Settings that both points have.
    pub(crate) place: String,
    /// Settings of the point; empty between two results.
    pub(crate) own: String,
    /// The point of the baseline.
    pub(crate) base: String,
    /// Traffic or port; empty for the whole run.
    pub(crate) name: String,
    /// Name of the quantity.
    pub(crate) id: String,
    /// Unit of the quantity.
    pub(crate) unit: String,
    /// The values of both.
    pub(crate) pairs: Pairs,
}

impl Row {
    /// The verdict for a person: which direction is better, where the metric has one.
    fn verdict(&self) -> String {
        let verdict = self.pairs.verdict();
        let better = METRICS.iter().find(|m| m.id == self.id).and_then(|m| m.better);
        match better {
            Some(better) if verdict == better.text() => format!("{verdict}: better"),
            Some(_) if matches!(verdict, "lower" | "higher") => format!("{verdict}: worse"),
            _ => verdict.into(),
        }
    }

    /// `completion_time_p99 of victim`.
    pub(crate) fn title(&self) -> String {
        if self.name.is_empty() { self.id.clone() } else { format!("{} of {}", self.id, self.name) }
    }

    /// The row of a table: with all digits between two results, and with those that mean something beside a baseline.
    fn cells(&self, exact: bool) -> Vec<String> {
        let number = |v: f64| if v.is_finite() { digits(v) } else { "-".into() };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" [{}]", self.unit) };
        let p = &self.pairs;
        let shown = |at: usize| match exact {
            true => number(p.means[at]),
            false => at_least(p.bounds[at]) + &measured(p.means[at], None),
        };
        let difference = match (exact, p.interval()) {
            (false, _) => p.text(),
            (true, None) => number(p.difference.mean),
            (true, Some((l, h))) => format!("{} ± {}", number(p.difference.mean), digits((h - l) / 2.0)),
        };
        vec![self.title() + &unit, shown(0), shown(1), difference, self.verdict()]
    }
}

/// Rows of one place as a table, under these names of both sides.
pub(crate) fn table(rows: &[&Row], [base, here]: [&str; 2], exact: bool) -> String {
    let lines: Vec<Vec<String>> = rows.iter().map(|r| r.cells(exact)).collect();
    look::table(&["metric", base, here, "difference", "verdict"], &lines, true)
}

/// Over what the means of these rows are: `3 seeds`.
pub(crate) fn seeds(rows: &[Row]) -> String {
    let seeds = || rows.iter().map(|r| r.pairs.difference.n as u64);
    match (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0)) {
        (few, most) if few < most => format!("the {few} to {most} seeds that both have"),
        (_, most) => look::count(most, "seed"),
    }
}

/// A metric of a run, of all traffic or that of a name, and whether it is a lower bound.
fn value(r: &RunRecord, name: &str, metric: &Metric) -> Option<Value> {
    r.of_traffic(name)?.0.get(metric.id).map(|q| (q.value, q.at_least))
}

/// The shares of flows that finished: of the name, or of all and of each name.
fn finished<'a>(r: &'a RunRecord, name: &'a str) -> impl Iterator<Item = Option<f64>> + 'a {
    let names = r.traffic.iter().map(|t| t.name.as_str()).filter(move |_| name.is_empty());
    let share = |of: &str| METRICS.iter().find(|m| m.id == FINISHED).and_then(|m| value(r, of, m));
    std::iter::once(name).chain(names).map(move |of| share(of).map(|v| v.0))
}
