//! `cnsim compare --baseline`: every other scheme or condition beside the baseline, paired by seed, with interval and verdict.

use crate::baseline::{Baseline, choices, points};
use crate::look::{self, Colour, at_least, measured, paint};
use crate::{Done, Failure, notes};
use cnsim_advice::unfinished::FINISHED;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Results;
use cnsim_scenario::columns::COMPARED;
use cnsim_scenario::metrics::Times;
use cnsim_scenario::metrics::{METRICS, Metric};
use indexmap::IndexSet;
use serde_json::json;
use std::collections::BTreeMap;

/// A metric of two points, seed by seed: the baseline and the other point.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Means of both.
    pub means: [f64; 2],
    /// Whether either is a lower bound, as flows were unfinished.
    pub bounds: [bool; 2],
    /// It is a mean over finished flows, and the two sides finished different shares of theirs under some seed.
    other_flows: bool,
    /// Differences from the baseline under the same seed.
    pub difference: Summary,
}

/// A metric of two points, and where they are.
struct Row {
    place: String,
    own: String,
    /// The point of the baseline.
    base: String,
    name: String,
    metric: &'static Metric,
    pairs: Pairs,
}

impl Pairs {
    /// A metric, of all traffic or that of a name, of two points whose runs stand by seed; none if no seed has it on both sides.
    fn of(base: &BySeed<'_>, here: &BySeed<'_>, name: &str, metric: &Metric) -> Option<Self> {
        let pair = |(seed, run): (&u64, &&RunRecord)| {
            Some((value(base.get(seed)?, name, metric)?, value(run, name, metric)?))
        };
        let pairs: Vec<((f64, bool), (f64, bool))> = here.iter().filter_map(pair).collect();
        let difference = Summary::of(&pairs.iter().map(|(b, v)| v.0 - b.0).collect::<Vec<_>>())?;
        let apart = |(seed, run): (&u64, &&RunRecord)| {
            base.get(seed).is_some_and(|b| !finished(b, name).eq(finished(run, name)))
        };
        let n = pairs.len() as f64;
        Some(Self {
            means: [
                pairs.iter().map(|p| p.0.0).sum::<f64>() / n,
                pairs.iter().map(|p| p.1.0).sum::<f64>() / n,
            ],
            bounds: [pairs.iter().any(|p| p.0.1), pairs.iter().any(|p| p.1.1)],
            other_flows: metric.times == Some(Times::Finished) && here.iter().any(apart),
            difference,
        })
    }

    /// The same of finished runs; one of several runs with a seed counts.
    pub fn of_records(base: &[&RunRecord], here: &[&RunRecord], metric: &Metric) -> Option<Self> {
        let [base, here] = [base, here].map(|of| of.iter().map(|r| (r.seed, *r)).collect());
        Self::of(&base, &here, "", metric)
    }

    /// The 95 % interval of the difference; none for one seed, nor where either side is a bound.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.difference.paired().filter(|_| self.bounds == [false; 2])
    }

    /// `higher`, `lower`, `one seed` or `undecided`; with the reason, where it is not that the interval holds zero.
    pub fn verdict(&self) -> &'static str {
        if self.other_flows {
            return "undecided: different flows finished";
        }
        if self.bounds == [true; 2] {
            return "undecided: both are bounds";
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

    fn changes(&self) -> bool {
        self.difference.mean != 0.0 || self.difference.sd != 0.0
    }

    /// The difference with its interval; of a bound on one side the bound of the difference.
    fn text(&self) -> String {
        let text = measured(self.difference.mean, self.interval());
        match self.bounds {
            [true, true] => "-".into(),
            [true, false] => format!("≤ {text}"),
            [_, bound] => at_least(bound) + &text,
        }
    }
}

impl Row {
    /// The verdict for a person: which direction is better, where the metric has one.
    fn verdict(&self) -> String {
        let verdict = self.pairs.verdict();
        match self.metric.better {
            Some(better) if verdict == better.text() => format!("{verdict}: better"),
            Some(_) if matches!(verdict, "lower" | "higher") => format!("{verdict}: worse"),
            _ => verdict.into(),
        }
    }

    /// `completion_time_p99 of victim`.
    fn title(&self) -> String {
        if self.name.is_empty() {
            self.metric.id.into()
        } else {
            format!("{} of {}", self.metric.id, self.name)
        }
    }
}

/// The runs of a point by seed.
type BySeed<'a> = BTreeMap<u64, &'a RunRecord>;

/// A metric of a run, of all traffic or that of a name, and whether it is a lower bound.
fn value(r: &RunRecord, name: &str, metric: &Metric) -> Option<(f64, bool)> {
    r.of_traffic(name)?.0.get(metric.id).map(|q| (q.value, q.at_least))
}

/// The shares of flows that finished: of the name, or of all and of each name.
fn finished<'a>(r: &'a RunRecord, name: &'a str) -> impl Iterator<Item = Option<f64>> + 'a {
    let names = r.traffic.iter().map(|t| t.name.as_str()).filter(move |_| name.is_empty());
    let share = |of: &str| METRICS.iter().find(|m| m.id == FINISHED).and_then(|m| value(r, of, m));
    std::iter::once(name).chain(names).map(move |of| share(of).map(|v| v.0))
}

/// All metrics of these runs beside the baseline, and the number of cases without a partner in the baseline.
fn rows(all: &Results, asked: &str) -> Result<(Baseline, Vec<Row>, u64), Failure> {
    let points = points(&all.runs)?;
    let baseline = Baseline::read(asked, &points)?;
    if points.iter().all(|p| baseline.is(p)) {
        return Err(Failure::input(format!(
            "all runs are the baseline {}\n  help: {}",
            baseline.text(),
            choices(&points)
        )));
    }
    let (mut rows, mut alone) = (Vec::new(), 0);
    for p in points.iter().filter(|p| !baseline.is(p)) {
        let mut bases = baseline.of(p, &points);
        bases.retain(|(b, _)| b.seeds.keys().any(|seed| p.seeds.contains_key(seed)));
        alone += u64::from(bases.is_empty());
        let names: Vec<&str> =
            std::iter::once("").chain(p.run.traffic.iter().map(|t| t.name.as_str())).collect();
        for (base, title) in bases {
            let rest = baseline.rest(p, base);
            for (name, metric) in names.iter().flat_map(|name| METRICS.iter().map(move |m| (*name, m))) {
                let Some(pairs) = Pairs::of(&base.seeds, &p.seeds, name, metric) else { continue };
                let (place, own, base) = (rest.clone(), baseline.own(p), title.clone());
                rows.push(Row { place, own, base, name: name.into(), metric, pairs });
            }
        }
    }
    Ok((baseline, rows, alone))
}

/// Compares all runs of these results with those of the baseline.
pub(crate) fn paired(files: Vec<Results>, text: &str, asked: &[&'static Metric], as_json: bool) -> Done {
    let all = Results::new("compare", None, files.into_iter().flat_map(|f| f.runs).collect());
    let (baseline, rows, alone) = rows(&all, text)?;
    if rows.is_empty() {
        return Err(Failure::input(format!(
            "nothing can be paired with {}\n  help: the others must have run under the same seeds, and differ from it in that alone",
            baseline.text()
        )));
    }
    if as_json {
        let wanted = |r: &&Row| asked.is_empty() || asked.iter().any(|m| m.id == r.metric.id);
        let row = |r: &Row| {
            json!({
                "place": r.place, "case": r.own, "beside": r.base, "traffic": r.name, "metric": r.metric.id, "unit": r.metric.unit,
                "baseline": r.pairs.means[0], "value": r.pairs.means[1], "at_least": r.pairs.bounds,
                "difference": r.pairs.difference.mean, "ci95": r.pairs.interval(), "seeds": r.pairs.difference.n,
                "verdict": r.pairs.verdict(),
            })
        };
        let rows: Vec<_> = rows.iter().filter(wanted).map(row).collect();
        println!("{}", json!({"schema": 1, "baseline": baseline.text(), "rows": rows, "unpaired": alone}));
        return Ok(());
    }
    notes::print(&all.runs);
    tell(&rows, asked);
    if alone > 0 {
        println!(
            "{} left out: no run of {} has the same seed and is alike in all else.",
            look::count(alone, "case"),
            baseline.text()
        );
    }
    Ok(())
}

fn tell(rows: &[Row], asked: &[&'static Metric]) {
    let wanted = |r: &&Row| match asked {
        [] => COMPARED.contains(&r.metric.key),
        asked => asked.iter().any(|m| m.id == r.metric.id),
    };
    let rank = |r: &Row| COMPARED.iter().position(|id| *id == r.metric.key);
    let places: IndexSet<[&str; 3]> =
        rows.iter().filter(wanted).map(|r| [&*r.place, &*r.own, &*r.base]).collect();
    for at @ [place, own, base] in places {
        let here = |r: &&Row| [&r.place, &r.own, &r.base] == at;
        let mut mine: Vec<&Row> = rows.iter().filter(wanted).filter(here).collect();
        let all = mine.len();
        mine.retain(|r| r.pairs.changes());
        mine.sort_by_key(|r| (r.name.clone(), rank(r)));
        let title = format!("{place}: {own} beside {base}");
        println!("{}", paint(&title, Colour::Bold, look::colour_on_stdout()));
        let line = |r: &&Row| {
            let unit = if r.metric.unit.is_empty() { String::new() } else { format!(" [{}]", r.metric.unit) };
            let shown = |at: usize| at_least(r.pairs.bounds[at]) + &measured(r.pairs.means[at], None);
            vec![r.title() + &unit, shown(0), shown(1), r.pairs.text(), r.verdict()]
        };
        let lines: Vec<Vec<String>> = mine.iter().map(line).collect();
        if !lines.is_empty() {
            println!(
                "{}",
                look::table(&["metric", "baseline", "here", "difference", "verdict"], &lines, true)
            );
        }
        if all > lines.len() {
            let equal = look::count((all - lines.len()) as u64, "further metric");
            let are = if all - lines.len() == 1 { "is" } else { "are" };
            println!("{equal} {are} equal under every seed.");
        }
        println!();
    }
    let seeds = || rows.iter().map(|r| r.pairs.difference.n as u64);
    let over = match (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0)) {
        (few, most) if few < most => format!("the {few} to {most} seeds that both have"),
        (_, most) => look::count(most, "seed"),
    };
    println!(
        "A difference is the mean over {over}, each less the baseline under the same seed, ± its 95 % interval. \"undecided\" without a reason: the interval contains zero. Each interval stands alone: of twenty without a true difference, one would miss zero."
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::traffic::TrafficFacts;
    use cnsim_scenario::case::CaseId;
    use cnsim_scenario::metrics::Id;

    /// Seed by seed 10 us less, but over fewer of the flows: no verdict on means, one on what all flows have.
    #[test]
    fn means_over_different_flows_do_not_decide() {
        let words = |shares: [f64; 2], of_name: [f64; 2]| {
            let one = |scheme: &str, seed: u64, at: usize| {
                let all = |share: f64, mean: f64| {
                    [("finished_flows", share), ("completion_time", mean), ("slowdown", mean)].into()
                };
                let mut r = run(scheme, seed, 1.0, false);
                r.metrics = all(shares[at], (seed * 40 - at as u64 * 10) as f64);
                r.traffic = vec![TrafficFacts { name: "backup".into(), metrics: all(of_name[at], 1.0) }];
                r
            };
            let runs = (1..=3).flat_map(|seed| [one("none", seed, 0), one("ecm", seed, 1)]).collect();
            let Ok((_, rows, _)) = rows(&Results::new("t", None, runs), "none") else { panic!("no rows") };
            let found = rows.iter().find(|r| r.metric.id == "completion_time" && r.name.is_empty());
            let slow = rows.iter().find(|r| r.metric.id == "slowdown" && r.name.is_empty());
            assert_eq!(found.unwrap().pairs.verdict(), slow.unwrap().pairs.verdict());
            found.unwrap().pairs.verdict()
        };
        assert_eq!(words([95.7, 95.7], [100.0, 100.0]), "lower");
        assert_eq!(words([95.7, 93.2], [100.0, 100.0]), "undecided: different flows finished");
        assert_eq!(words([95.0, 95.0], [100.0, 90.0]), "undecided: different flows finished");
    }

    fn run(scheme: &str, seed: u64, p99: f64, at_least: bool) -> RunRecord {
        let metrics = [(Id::CompletionTimeP99, p99, at_least), (Id::Overhead, 1.0, false)];
        RunRecord {
            case: ["mine", "t", "c", "on", scheme].into(),
            seed,
            metrics: metrics.into_iter().collect(),
            ..RunRecord::default()
        }
    }

    /// The verdict on a scheme whose tails are these beside a baseline of 100, 120 and 140 us.
    fn verdict(tails: [f64; 3], bounds: [bool; 2]) -> &'static str {
        let base = [100.0, 120.0, 140.0];
        let mut runs = Vec::new();
        for seed in 1..=3 {
            runs.push(run("none", seed, base[seed as usize - 1], bounds[0]));
            runs.push(run("ecm", seed, tails[seed as usize - 1], bounds[1]));
        }
        let Ok((_, rows, _)) = rows(&Results::new("t", None, runs), "NONE") else { panic!("no rows") };
        assert_eq!(
            (rows.len(), rows[0].place.as_str(), rows[0].own.as_str()),
            (2, "mine/t, c, PAUSE on", "ecm")
        );
        rows.iter().find(|r| r.metric.id == "completion_time_p99").unwrap().pairs.verdict()
    }

    #[test]
    fn who_has_no_partner_is_counted() {
        let alone = |runs: Vec<RunRecord>| match rows(&Results::new("t", None, runs), "none") {
            Ok((_, rows, alone)) => (rows.len(), alone),
            Err(_) => (0, 99),
        };
        let elsewhere = |r: RunRecord| RunRecord { case: CaseId { pause: "off".into(), ..r.case }, ..r };
        let all = [run("none", 1, 1.0, false), run("ecm", 1, 2.0, false)];
        assert_eq!(alone(all.to_vec()), (2, 0));
        let more = [elsewhere(run("ecm", 1, 2.0, false)), run("becn", 2, 2.0, false)];
        assert_eq!(alone([all.to_vec(), more.to_vec()].concat()), (2, 2));
        // Nothing but the baseline.
        assert_eq!(alone(vec![run("none", 1, 1.0, false)]), (0, 99));
    }

    #[test]
    fn pairs_decide_where_means_overlap() {
        // Seed by seed 10 us more or less, though the seeds differ by 40.
        assert_eq!(verdict([110.0, 130.5, 150.0], [false; 2]), "higher");
        assert_eq!(verdict([90.0, 109.5, 130.0], [false; 2]), "lower");
        assert_eq!(verdict([110.0, 110.0, 150.0], [false; 2]), "undecided");
    }

    #[test]
    fn a_lower_bound_decides_one_way_only() {
        assert_eq!(verdict([110.0, 130.5, 150.0], [false, true]), "higher", "it is higher still");
        assert_eq!(
            verdict([110.0, 130.5, 150.0], [true, false]),
            "undecided: one is a bound",
            "the baseline may be higher still"
        );
        assert_eq!(verdict([90.0, 109.5, 130.0], [false, true]), "undecided: one is a bound");
        assert_eq!(verdict([110.0, 110.0, 150.0], [false, true]), "undecided");
        assert_eq!(verdict([90.0, 109.5, 130.0], [true, true]), "undecided: both are bounds");
        assert_eq!(verdict([90.0, 109.5, 130.0], [true, false]), "lower");
        // The difference is a bound, too, without an interval.
        let one = |bounds| Pairs {
            means: [1.0; 2],
            bounds,
            other_flows: false,
            difference: Summary::of(&[1.0, 3.0]).unwrap(),
        };
        let texts = [[false; 2], [false, true], [true, false], [true; 2]].map(|b| one(b).text());
        assert_eq!(texts, ["2.00 ± 12.71", "≥ 2.00", "≤ 2.00", "-"]);
    }
}
