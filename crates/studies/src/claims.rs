//! Conclusions of the studies as predicates over measured results: yes, no, undecided (inside the noise), not run.

use crate::stats::Summary;
use crate::store::RunRecord;

/// A claim of a study.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Study.
    pub study: &'static str,
    /// Number.
    pub id: &'static str,
    /// What is claimed, in our words.
    pub text: &'static str,
    /// printed, table or figure.
    pub origin: &'static str,
    test: fn(&Evidence<'_>) -> Finding,
}

/// Does it hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// In every part, beyond the noise.
    Yes,
    /// In some part not, beyond the noise.
    No,
    /// A part is inside the noise.
    Undecided,
    /// A part was not run.
    NotRun,
}

impl Holds {
    /// As in claims.csv.
    pub fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Undecided => "undecided",
            Self::NotRun => "not-run",
        }
    }
}

/// Verdict and numbers.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Does it hold?
    pub holds: Holds,
    /// The numbers, or what is missing.
    pub evidence: String,
}

/// Runs to look at.
#[derive(Debug)]
pub struct Evidence<'a> {
    records: &'a [RunRecord],
}

impl Evidence<'_> {
    /// Values by seed, in order of seeds.
    fn values(&self, condition: &str, pause: &str, scheme: &str, metric: &str) -> Vec<f64> {
        let mut found: Vec<(u64, f64)> = self
            .records
            .iter()
            .filter(|r| {
                r.scenario == "single-hop"
                    && r.study == "B07"
                    && r.condition == condition
                    && r.pause == pause
                    && r.scheme == scheme
            })
            .filter_map(|r| Some((r.seed, *r.metrics.get(metric)?)))
            .collect();
        found.sort_by_key(|f| f.0);
        found.into_iter().map(|f| f.1).collect()
    }

    /// Is `factor * a <= b`, by paired differences over seeds?
    fn at_most(&self, factor: f64, a: &[f64], b: &[f64]) -> Holds {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - factor * a).collect();
        let Some(s) = Summary::of(&differences) else { return Holds::NotRun };
        match s.confidence() {
            _ if a.len() != b.len() => Holds::NotRun,
            _ if s.sd == 0.0 && s.mean >= 0.0 => Holds::Yes,
            Some((low, _)) if low >= 0.0 => Holds::Yes,
            Some((_, high)) if high < 0.0 => Holds::No,
            _ => Holds::Undecided,
        }
    }
}

/// Gathers parts: one `no` decides, then what was not run, then what is undecided.
struct Parts {
    parts: Vec<(Holds, String)>,
    missing: &'static str,
}

impl Parts {
    fn new(missing: &'static str) -> Self {
        Self { parts: Vec::new(), missing }
    }
    fn add(&mut self, holds: Holds, text: String) {
        self.parts.push((holds, text));
    }
    fn finding(self) -> Finding {
        let ran: Vec<&(Holds, String)> = self.parts.iter().filter(|p| p.0 != Holds::NotRun).collect();
        let holds = if ran.iter().any(|p| p.0 == Holds::No) {
            Holds::No
        } else if ran.is_empty() {
            Holds::NotRun
        } else if ran.iter().any(|p| p.0 == Holds::Undecided) {
            Holds::Undecided
        } else {
            Holds::Yes
        };
        let mut text: Vec<String> = ran.iter().map(|p| format!("{} [{}]", p.1, p.0.text())).collect();
        if ran.len() < self.parts.len() || ran.is_empty() || !self.missing.is_empty() {
            let left = self.parts.len() - ran.len();
            if left > 0 {
                text.push(format!("{left} parts not run"));
            }
            if !self.missing.is_empty() {
                text.push(self.missing.into());
            }
        }
        Finding { holds, evidence: text.join("; ") }
    }
}

const RATES: [&str; 3] = ["hotspot 2 Gb/s", "hotspot 0.5 Gb/s", "hotspot 0 Gb/s"];

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len().max(1) as f64
}

fn ordering(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::new("");
    for c in RATES {
        let get = |s| e.values(c, "on", s, "aggregate_throughput");
        let (none, two, three, ecm) = (get("none"), get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
        let order = [e.at_most(1.0, &two, &three), e.at_most(1.0, &three, &ecm)];
        let text = format!(
            "{c}: {:.2} / {:.2} / {:.2} Gb/s (2pt / 3pt / ECM)",
            mean(&two),
            mean(&three),
            mean(&ecm)
        );
        for o in order {
            parts.add(o, text.clone());
        }
        if c != RATES[2] {
            parts.add(e.at_most(1.0, &none, &two), format!("{c}: 2pt above none ({:.2})", mean(&none)));
        }
    }
    parts.finding()
}

fn overhead(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::new("single hop only: multi-hop and fat tree are not there yet");
    for c in RATES {
        let get = |s| e.values(c, "on", s, "overhead");
        let (two, three, ecm) = (get("qcn-2pt"), get("qcn-3pt"), get("ecm"));
        for (name, v) in [("2pt", &two), ("ECM", &ecm)] {
            parts.add(
                e.at_most(10.0, v, &three),
                format!("{c}: 3pt {:.1} Mb/s, {name} {:.2}", mean(&three), mean(v)),
            );
        }
    }
    parts.finding()
}

fn recovery(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::new("");
    for c in RATES {
        for pause in ["on", "off"] {
            let (two, ecm) =
                (e.values(c, pause, "qcn-2pt", "recovery_time"), e.values(c, pause, "ecm", "recovery_time"));
            parts.add(
                e.at_most(1.0, &ecm, &two),
                format!("{c}, PAUSE {pause}: {:.0} ms against {:.0} ms", mean(&two), mean(&ecm)),
            );
        }
    }
    parts.finding()
}

fn loss(e: &Evidence<'_>) -> Finding {
    let mut parts = Parts::new("single hop only: multi-hop is not there yet");
    for c in &RATES[..2] {
        let none = e.values(c, "off", "none", "dropped_frames");
        for s in ["qcn-2pt", "qcn-3pt", "ecm"] {
            let with = e.values(c, "off", s, "dropped_frames");
            parts.add(
                e.at_most(100.0, &with, &none),
                format!("{c}: {s} {:.0}, none {:.0}", mean(&with), mean(&none)),
            );
        }
    }
    parts.finding()
}

fn missing(e: &Evidence<'_>) -> Finding {
    let _ = e.records.len();
    Finding { holds: Holds::NotRun, evidence: "its scenario is not there yet".into() }
}

const fn b07(
    id: &'static str,
    origin: &'static str,
    text: &'static str,
    test: fn(&Evidence<'_>) -> Finding,
) -> Claim {
    Claim { study: "B07", id, text, origin, test }
}

/// All claims.
pub const CLAIMS: &[Claim] = &[
    b07("B07.1", "printed", "EFR is essential for stability", missing),
    b07("B07.2", "printed", "byte-based sampling jitters less than packet-based", missing),
    b07("B07.3", "printed", "both QCN do their job, ECM does better, QCN-2pt suffers most", ordering),
    b07("B07.4", "printed", "QCN-3pt's overhead is one to two orders of magnitude larger", overhead),
    b07(
        "B07.5",
        "printed",
        "3pt's overhead scales with nodes x load, the others' with congestion points x bottleneck rate",
        missing,
    ),
    b07("B07.6", "printed", "the same ordering in multi-hop", missing),
    b07("B07.7", "printed", "recovery of QCN-2pt is slower than ECM's", recovery),
    b07("B07.8", "table", "without PAUSE, loss falls by orders of magnitude", loss),
    b07("B07.9", "table", "fat tree: schemes keep what none loses", missing),
    b07("B07.10", "printed", "QCN-3pt signals also without congestion", missing),
];

/// Tests all claims of the studies that were run.
pub fn findings(records: &[RunRecord]) -> Vec<(&'static Claim, Finding)> {
    let ran = |c: &&Claim| records.iter().any(|r| r.study == c.study);
    CLAIMS.iter().filter(ran).map(|c| (c, (c.test)(&Evidence { records }))).collect()
}

/// claims.csv.
pub fn claims_csv(findings: &[(&'static Claim, Finding)]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let _ = out.write_record(["study", "claim", "text", "origin", "holds", "evidence"]);
    for (c, f) in findings {
        let _ = out.write_record([c.study, c.id, c.text, c.origin, f.holds.text(), &f.evidence]);
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_can_say_all_four() {
        let e = Evidence { records: &[] };
        assert_eq!(e.at_most(1.0, &[1.0, 1.1, 0.9], &[2.0, 2.1, 1.9]), Holds::Yes);
        assert_eq!(e.at_most(10.0, &[1.0, 1.1, 0.9], &[2.0, 2.1, 1.9]), Holds::No);
        assert_eq!(e.at_most(1.0, &[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Holds::Undecided);
        assert_eq!(e.at_most(1.0, &[], &[]), Holds::NotRun);
    }
}
