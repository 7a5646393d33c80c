//! Tools for claims: conclusions of the studies as predicates over measured results, which come out yes, no, undecided
//! (inside the noise) or not run. The claims themselves stand in [`crate`], a file a study.

use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Adds the parts of a claim, each tested on measured runs.
pub type Test = fn(&Evidence<'_>, &mut Parts);

/// A claim of a study.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Study and number: `B07.3`.
    pub id: &'static str,
    /// The claim, in our words.
    pub text: &'static str,
    /// printed, table or figure; claims from figures are shown, not scored.
    pub origin: &'static str,
    /// The predicate that tests the claim on measured runs, part by part.
    pub test: Test,
}

/// A claim from its id, origin, text and predicate.
pub(crate) const fn claim(id: &'static str, origin: &'static str, text: &'static str, test: Test) -> Claim {
    Claim { id, text, origin, test }
}

impl Claim {
    /// Tests it on these runs.
    pub fn found(&self, records: &[RunRecord]) -> Finding {
        let mut parts = Parts::default();
        (self.test)(&Evidence { records, study: self.study(), asked: &Asked::default() }, &mut parts);
        parts.finding()
    }
    /// The study of the claim: the part of its id before the point.
    pub fn study(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(study, _)| study)
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// In every part, beyond the noise.
    Yes,
    /// In some part not, beyond the noise.
    No,
    /// A part is inside the noise.
    Undecided,
    /// A part was not run.
    #[default]
    NotRun,
}

impl Holds {
    /// The word for it in claims.csv.
    pub fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Undecided => "undecided",
            Self::NotRun => "not-run",
        }
    }
}

/// The verdict of a claim, with the numbers behind it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the claim holds.
    pub holds: Holds,
    /// The numbers, or the missing runs.
    pub evidence: String,
}

/// The runs of a study.
#[derive(Debug)]
pub struct Evidence<'a> {
    records: &'a [RunRecord],
    study: &'static str,
    asked: &'a Asked,
}

/// Scenarios and metrics that a claim asked for; a scenario alone has no metric.
type Asked = RefCell<BTreeSet<(String, String)>>;

impl<'a> Evidence<'a> {
    /// The runs of a case, one a seed.
    pub fn runs(&self, scenario: &str, condition: &str, pause: &str, scheme: &str) -> Runs<'a> {
        let case = CaseId::from([self.study, scenario, condition, pause, scheme]);
        self.asked.borrow_mut().insert((scenario.into(), String::new()));
        let runs = self.records.iter().filter(|r| r.case == case).collect();
        Runs { runs, scenario: scenario.into(), asked: self.asked }
    }
}

/// The runs of a case.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    runs: Vec<&'a RunRecord>,
    scenario: String,
    asked: &'a Asked,
}

impl Runs<'_> {
    /// Any value of each run; runs without it are left out.
    pub fn each(&self, value: impl Fn(&RunRecord) -> Option<f64>) -> Values {
        let mut found: Vec<(u64, f64)> = self.runs.iter().filter_map(|r| Some((r.seed, value(r)?))).collect();
        found.sort_by_key(|f| f.0);
        Values(found)
    }

    /// The values of a metric, by seed.
    pub fn metric(&self, id: impl AsRef<str>) -> Values {
        let id = id.as_ref();
        self.asked.borrow_mut().insert((self.scenario.clone(), id.into()));
        self.each(|r| r.metrics.get(id))
    }

    /// A counter of the scheme; zero if it never counted.
    pub fn counter(&self, name: &str) -> Values {
        self.each(|r| Some(r.counters.get(name).copied().unwrap_or(0) as f64))
    }
}

/// Values by seed, in order of seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(pub Vec<(u64, f64)>);

impl Values {
    /// Mean over seeds, 0 without any.
    pub fn mean(&self) -> f64 {
        self.0.iter().map(|v| v.1).sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Whether there is no value, as nothing was run.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values after a function has been applied to each.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|(seed, v)| (*seed, f(*v))).collect())
    }

    /// Joins two cases seed by seed (common random numbers); seeds that one lacks are left out.
    pub fn with(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let other_at = |seed: u64| other.0.iter().find(|o| o.0 == seed).map(|o| o.1);
        Self(self.0.iter().filter_map(|(seed, v)| Some((*seed, f(*v, other_at(*seed)?)))).collect())
    }

    /// Is the mean at least this, beyond the noise?
    pub fn at_least(&self, bound: f64) -> Holds {
        let differences: Vec<f64> = self.0.iter().map(|v| v.1 - bound).collect();
        let Some(s) = Summary::of(&differences) else { return Holds::NotRun };
        match s.paired() {
            _ if s.sd == 0.0 && s.n > 1 => {
                if s.mean >= 0.0 {
                    Holds::Yes
                } else {
                    Holds::No
                }
            }
            Some((low, _)) if low >= 0.0 => Holds::Yes,
            Some((_, high)) if high < 0.0 => Holds::No,
            _ => Holds::Undecided,
        }
    }

    /// Is the mean at most this, beyond the noise?
    pub fn at_most(&self, bound: f64) -> Holds {
        self.map(|v| -v).at_least(-bound)
    }

    /// Does the mean lie in this interval, beyond the noise?
    pub fn within(&self, low: f64, high: f64) -> Holds {
        match (self.at_least(low), self.at_most(high)) {
            (Holds::No, _) | (_, Holds::No) => Holds::No,
            (Holds::Yes, Holds::Yes) => Holds::Yes,
            (Holds::NotRun, _) => Holds::NotRun,
            _ => Holds::Undecided,
        }
    }
}

/// Is `factor * a <= b`, by paired differences over seeds?
pub fn at_most(factor: f64, a: &Values, b: &Values) -> Holds {
    b.with(a, |b, a| b - factor * a).at_least(0.0)
}

/// Is `a < b`, by paired differences over seeds? Equal values are not.
pub fn less(a: &Values, b: &Values) -> Holds {
    b.with(a, |b, a| b - a).at_least(1e-9)
}

/// Combines parts: one `no` decides, then a part that was not run, then an undecided one.
#[derive(Debug, Default)]
pub struct Parts {
    parts: Vec<(Holds, String)>,
    shown: Vec<String>,
}

impl Parts {
    /// A part that decides, and its numbers.
    pub fn add(&mut self, holds: Holds, text: impl Into<String>) {
        self.parts.push((holds, text.into()));
    }

    /// Something shown beside it, which decides nothing.
    pub fn show(&mut self, text: impl Into<String>) {
        self.shown.push(text.into());
    }

    /// The verdict: yes only if every part was run and holds.
    pub fn finding(self) -> Finding {
        let any = |h: Holds| self.parts.iter().any(|p| p.0 == h);
        let holds = if any(Holds::No) {
            Holds::No
        } else if any(Holds::NotRun) || self.parts.is_empty() {
            Holds::NotRun
        } else if any(Holds::Undecided) {
            Holds::Undecided
        } else {
            Holds::Yes
        };
        let ran = self.parts.iter().filter(|p| p.0 != Holds::NotRun);
        let mut text: Vec<String> = ran.map(|p| format!("{} [{}]", p.1, p.0.text())).collect();
        let left = self.parts.iter().filter(|p| p.0 == Holds::NotRun).count();
        if left > 0 {
            text.push(format!("{left} of {} parts not run", self.parts.len()));
        }
        text.extend(self.shown);
        Finding { holds, evidence: text.join("; ") }
    }
}

/// Scenarios and metrics on which a claim rests; no metric if it rests on something else.
pub fn grounds(claim: &Claim, records: &[RunRecord]) -> BTreeSet<(String, String)> {
    let asked = Asked::default();
    (claim.test)(&Evidence { records, study: claim.study(), asked: &asked }, &mut Parts::default());
    asked.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(v: &[f64]) -> Values {
        Values(v.iter().enumerate().map(|(i, v)| (i as u64, *v)).collect())
    }

    #[test]
    fn at_most_can_say_all_four() {
        let two = values(&[2.0, 2.1, 1.9]);
        assert_eq!(at_most(1.0, &values(&[1.0, 1.1, 0.9]), &two), Holds::Yes);
        assert_eq!(at_most(10.0, &values(&[1.0, 1.1, 0.9]), &two), Holds::No);
        assert_eq!(at_most(1.0, &values(&[1.0, 2.0, 3.0]), &values(&[3.0, 2.0, 1.0])), Holds::Undecided);
        assert_eq!(at_most(1.0, &values(&[]), &two), Holds::NotRun);
        assert_eq!(
            (at_most(1.0, &two, &two), less(&two, &two)),
            (Holds::Yes, Holds::No),
            "equal is not less"
        );
        assert_eq!(less(&values(&[1.0, 1.1, 0.9]), &two), Holds::Yes);
        assert_eq!(two.within(1.0, 3.0), Holds::Yes);
        assert_eq!(two.within(1.99, 3.0), Holds::Undecided);
        assert_eq!(two.within(2.5, 3.0), Holds::No);
        assert_eq!(values(&[5.0, 5.0]).at_most(5.0), Holds::Yes);
        assert_eq!(values(&[5.0]).at_most(6.0), Holds::Undecided, "one seed says nothing about noise");
    }

    #[test]
    fn a_claim_names_its_grounds() {
        let claim = crate::find("B07").unwrap().claims.iter().find(|c| c.id == "B07.7").unwrap();
        let all = grounds(claim, &[]);
        assert!(all.contains(&("single-hop".into(), "recovery_time".into())), "{all:?}");
        assert!(all.iter().all(|(_, m)| m.is_empty() || m == "recovery_time"), "{all:?}");
    }

    #[test]
    fn one_part_decides() {
        let of = |parts: &[Holds]| {
            let mut all = Parts::default();
            parts.iter().for_each(|h| all.add(*h, "x"));
            all.finding().holds
        };
        use Holds::{No, NotRun, Undecided, Yes};
        assert_eq!(of(&[Yes, NotRun, No]), No);
        assert_eq!(of(&[Yes, Undecided, NotRun]), NotRun);
        assert_eq!(of(&[Yes, Undecided]), Undecided);
        assert_eq!(of(&[Yes, Yes]), Yes);
        assert_eq!(of(&[]), NotRun);
    }

    /// Only runs of the claim's cases count. Values come by seed. A counter without entries is zero.
    #[test]
    fn runs_of_a_case_by_seed() {
        let run = |seed: u64, scheme: &str, overhead: f64| RunRecord {
            case: ["X", "s", "c", "on", scheme].into(),
            seed,
            metrics: [("overhead", overhead)].into(),
            counters: if seed == 2 { [("cuts".to_string(), 7)].into() } else { Default::default() },
            ..RunRecord::default()
        };
        let records = [run(3, "ecm", 30.0), run(1, "ecm", 10.0), run(1, "bcn", 99.0), run(2, "ecm", 20.0)];
        let asked = Asked::default();
        let e = Evidence { records: &records, study: "X", asked: &asked };
        let runs = e.runs("s", "c", "on", "ecm");
        assert_eq!(runs.metric("overhead").0, [(1, 10.0), (2, 20.0), (3, 30.0)]);
        assert_eq!(runs.counter("cuts").0, [(1, 0.0), (2, 7.0), (3, 0.0)]);
        assert_eq!(runs.metric("overhead").mean(), 20.0);
        assert_eq!(Values::default().mean(), 0.0);
        for (scenario, condition, pause, scheme) in [
            ("x", "c", "on", "ecm"),
            ("s", "x", "on", "ecm"),
            ("s", "c", "off", "ecm"),
            ("s", "c", "on", "x"),
        ] {
            assert!(e.runs(scenario, condition, pause, scheme).metric("overhead").is_empty());
        }
        // A claim that looks at counters alone rests on its scenario.
        let counted: Test = |e, parts| {
            let some = e.runs("s", "c", "on", "ecm").counter("cuts");
            parts.add(some.at_least(1.0), "");
        };
        let claim = claim("X.1", "printed", "it cuts", counted);
        assert_eq!(grounds(&claim, &records), [("s".to_string(), String::new())].into());
        assert_eq!(claim.found(&records).holds, Holds::Undecided);
    }
}
