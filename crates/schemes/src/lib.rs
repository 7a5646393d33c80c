//! Congestion-management schemes, one file each, in their papers' own words, and the one list that registers them.

pub mod becn;
pub mod counters;
pub mod dcqcn;
pub mod e2cm;
pub mod ecm;
pub mod explicit_rate;
pub mod fb_hat;
pub mod fecn;
pub mod join;
pub mod none;
pub mod qcn_2pt;
pub mod qcn_3pt;
pub mod qcn_8021qau;
pub mod qcn_probing;
pub mod qcn_serial_hai;

use cnsim_scheme_api::{ParamError, ParamInfo, Params, Rate, Scheme};
use std::sync::Arc;

/// Keys that were set but have no effect, with the reason.
pub type Idle = Vec<(&'static str, &'static str)>;

/// One registered scheme.
#[derive(Debug)]
pub struct Entry {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other names that find it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub title: &'static str,
    /// Source text of the scheme's file; [`Entry::about`] is its head.
    pub source: &'static str,
    /// Parameters with defaults.
    pub info: fn() -> Vec<ParamInfo>,
    /// Builds it from (key, text) pairs over the defaults.
    pub build: fn(&[(String, String)]) -> Result<Built, ParamError>,
}

impl Entry {
    /// The head of the scheme's file, as Markdown: idea, sources, assumptions and deviations.
    pub fn about(&self) -> String {
        let lines = self.source.lines().take_while(|l| l.starts_with("//!"));
        lines
            .map(|l| l.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// What it counts: (name, meaning).
    pub fn counters(&self) -> Vec<(&'static str, &'static str)> {
        let names = (self.build)(&[]).map(|b| b.scheme.counters()).unwrap_or_default();
        names.iter().map(|n| (*n, counters::meaning(n).unwrap_or_default())).collect()
    }
}

/// A scheme ready to run, with all its parameters as they are in effect.
#[derive(Debug, Clone)]
pub struct Built {
    /// The scheme.
    pub scheme: Arc<dyn Scheme>,
    /// Effective parameters.
    pub values: Vec<(&'static str, String)>,
    /// Parameters without effect under these settings.
    pub idle: Idle,
}

/// Sets the pairs over the default parameters and builds a scheme.
///
/// # Errors
/// The first pair that is refused.
pub fn build_with<P: Params + Clone, S: Scheme + 'static>(
    mut params: P,
    pairs: &[(String, String)],
    idle: impl FnOnce(&P) -> Idle,
    make: impl FnOnce(P) -> S,
) -> Result<Built, ParamError> {
    for (key, text) in pairs {
        params.set(key, text)?;
    }
    Ok(Built { values: params.values(), idle: idle(&params), scheme: Arc::new(make(params)) })
}

/// Name, aliases, title, file, parameter type, its defaults, idle keys, maker.
macro_rules! catalogue {
    ($( $name:literal, [$($alias:literal),*], $title:literal, $file:literal, $params:ty, $default:expr, $idle:expr, $make:expr; )*) => {
        &[ $( Entry {
            name: $name,
            aliases: &[$($alias),*],
            title: $title,
            source: include_str!($file),
            info: || {
                let values = Params::values(&$default);
                let mut info = <$params as Params>::info();
                for (i, (_, value)) in info.iter_mut().zip(values) {
                    i.default = value;
                }
                info
            },
            build: |pairs| build_with($default, pairs, $idle, $make),
        }, )* ]
    };
}

use becn::{Becn, BecnParams};
use dcqcn::{Dcqcn, DcqcnParams};
use e2cm::{Basis, E2cm, E2cmParams};
use ecm::{Ecm, EcmParams};
use fb_hat::{HatParams, QcnH};
use fecn::{Fecn, FecnParams};
use join::Join;
use none::{NoScheme, NoneParams};
use qcn_2pt::{Qcn2pt, QcnParams};
use qcn_3pt::{Qcn3pt, Qcn3ptParams};
use qcn_8021qau::{Qau, QauParams};
use qcn_probing::{HatProbeParams, PlainParams, QcnProbing, Route, WholePathParams};
use qcn_serial_hai::{SerialHai, SerialHaiParams};

static CATALOGUE: &[Entry] = catalogue! {
    "none", ["nocm"], "no congestion management", "none.rs", NoneParams, NoneParams::default(), |_| Vec::new(), |_| NoScheme;
    "bcn", [], "backward congestion notification (2006)", "ecm.rs", EcmParams, EcmParams::bcn(), EcmParams::idle,
        |params| Ecm { name: "bcn", params: Arc::new(params) };
    "ecm", [], "Ethernet congestion management, BCN v2 (2007)", "ecm.rs", EcmParams, EcmParams::default(), EcmParams::idle,
        |params| Ecm { name: "ecm", params: Arc::new(params) };
    "qcn-2pt", [], "quantised congestion notification, two points (2007)", "qcn_2pt.rs", QcnParams, QcnParams::default(),
        QcnParams::idle, Qcn2pt;
    "qcn-3pt", [], "QCN with a reflection point (2007)", "qcn_3pt.rs", Qcn3ptParams, Qcn3ptParams::default(),
        Qcn3ptParams::idle, Qcn3pt;
    "dcqcn", [], "data centre QCN for RoCEv2 (2015)", "dcqcn.rs", DcqcnParams, DcqcnParams::default(), DcqcnParams::idle, Dcqcn::new;
    "qcn-serial-hai", [], "QCN with byte counter and timer, serial hyperactive increase (2008)", "qcn_serial_hai.rs",
        SerialHaiParams, SerialHaiParams::default(), SerialHaiParams::idle, SerialHai;
    "qcn-802.1Qau", ["qcn-8021qau"], "QCN as standardised, IEEE 802.1Qau-2010", "qcn_8021qau.rs", QauParams,
        QauParams::default(), QauParams::idle, Qau;
    "qcn-h", [], "QCN with Fb-hat (2007)", "fb_hat.rs", Join<QcnParams, HatParams>,
        Join { first: QcnParams::r07(Rate::from_mbps(24.0)), second: HatParams::default() },
        |p| [p.first.idle(), p.second.idle()].concat(), QcnH;
    "qcn-p", [], "QCN with probes to the congestion point (2007)", "qcn_probing.rs", PlainParams, qcn_probing::plain(),
        |p| p.first.idle(), |p| QcnProbing::plain("qcn-p", Route::Directed, p);
    "qcn-hp", [], "QCN with Fb-hat and probes to the congestion point (2007)", "qcn_probing.rs", HatProbeParams,
        qcn_probing::with_hat(), HatProbeParams::idle, |p| QcnProbing::hat("qcn-hp", Route::Directed, p);
    "qcn-sp", [], "QCN with probes along the sub-path (2007)", "qcn_probing.rs", PlainParams, qcn_probing::plain(),
        |p| p.first.idle(), |p| QcnProbing::plain("qcn-sp", Route::SubPath, p);
    "qcn-hsp", [], "QCN with Fb-hat and probes along the sub-path (2007)", "qcn_probing.rs", HatProbeParams,
        qcn_probing::with_hat(), HatProbeParams::idle, |p| QcnProbing::hat("qcn-hsp", Route::SubPath, p);
    "qcn-pp", [], "QCN with probes along the whole path (2007)", "qcn_probing.rs", WholePathParams,
        qcn_probing::whole_path(), |p| p.first.first.idle(), |p| QcnProbing::whole_path("qcn-pp", p);
    "e2cm-src", [], "ECM with a probe along each flow's path, measured by the source (2007)", "e2cm.rs", E2cmParams,
        E2cmParams::default(), E2cmParams::idle, |params| E2cm { basis: Basis::Source, params: Arc::new(params) };
    "e2cm-dst", [], "ECM with a probe along each flow's path, measured by the destination (2007)", "e2cm.rs", E2cmParams,
        E2cmParams::default(), E2cmParams::idle, |params| E2cm { basis: Basis::Destination, params: Arc::new(params) };
    "becn", [], "explicit rates, broadcast by every port (2006)", "becn.rs", BecnParams, BecnParams::default(), BecnParams::idle,
        Becn;
    "fecn", [], "explicit rates, collected along the path (2007)", "fecn.rs", FecnParams, FecnParams::default(),
        FecnParams::idle, Fecn;
};

/// All registered schemes, in the order of the studies.
pub fn catalogue() -> &'static [Entry] {
    CATALOGUE
}

/// Finds a scheme by name or alias, whatever its case.
pub fn find(name: &str) -> Option<&'static Entry> {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    catalogue().iter().find(|e| same(e.name) || e.aliases.iter().any(|a| same(a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{CHECKS, Faults, Loopback, Promise, conformance};
    use cnsim_scheme_api::{Bytes, Feedback, Time};
    use std::collections::BTreeSet;

    /// A fresh scheme behind a box, as anyone's would be.
    #[derive(Debug)]
    struct Shared(Arc<dyn Scheme>);

    impl Scheme for Shared {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn plan(&self) -> cnsim_scheme_api::Plan {
            self.0.plan()
        }
        fn congestion_point(
            &self,
            s: &cnsim_scheme_api::QueueSite,
        ) -> Option<Box<dyn cnsim_scheme_api::CongestionPoint>> {
            self.0.congestion_point(s)
        }
        fn reaction_point(
            &self,
            s: &cnsim_scheme_api::SourceSite,
        ) -> Option<Box<dyn cnsim_scheme_api::ReactionPoint>> {
            self.0.reaction_point(s)
        }
        fn reflector(&self, s: &cnsim_scheme_api::SinkSite) -> Option<Box<dyn cnsim_scheme_api::Reflector>> {
            self.0.reflector(s)
        }
        fn engages(&self, f: &cnsim_scheme_api::Feedback) -> bool {
            self.0.engages(f)
        }
    }

    /// What each scheme of the catalogue promises with its default parameters.
    fn promise(name: &str) -> Promise {
        let floor = Rate::from_mbps(match name {
            "qcn-802.1Qau" => 5.0,
            "e2cm-src" | "e2cm-dst" => 1.0,
            "dcqcn" => 40.0,
            _ => 10.0,
        });
        let recovers = match name {
            "qcn-2pt" | "qcn-h" | "qcn-p" | "qcn-hp" | "qcn-sp" | "qcn-hsp" | "qcn-pp" => {
                Some((Bytes::from_mb(40), Time::from_ms(100)))
            }
            // Five stages of 15 ms, then one stage of 7.5 ms and a good many of bytes.
            "qcn-serial-hai" | "qcn-802.1Qau" | "dcqcn" => Some((Bytes::from_mb(100), Time::from_ms(200))),
            // The others rise when told to.
            _ => None,
        };
        let stops = matches!(name, "bcn" | "ecm" | "e2cm-src" | "e2cm-dst");
        // Explicit rates start at a tenth of the line.
        let warms_up = if matches!(name, "becn" | "fecn") { Time::from_ms(5) } else { Time::ZERO };
        Promise { floor, stops, warms_up, reacts: name != "none", recovers }
    }

    #[test]
    fn every_scheme_conforms() {
        let broken: Vec<String> = catalogue()
            .iter()
            .filter_map(|entry| {
                let make = || -> Box<dyn Scheme> { Box::new(Shared((entry.build)(&[]).unwrap().scheme)) };
                let broken = conformance(&make, promise(entry.name)).err()?;
                Some(broken.iter().map(|b| format!("{}: {b}\n", entry.name)).collect())
            })
            .collect();
        assert!(broken.is_empty(), "\n{}", broken.concat());
    }

    /// The suite's loop brings each scheme the messages that it lives on: probes are answered, tags returned.
    #[test]
    fn loops_carry_each_format() {
        let kind = |f: &Feedback| match f {
            Feedback::Ecm { .. } => "ecm",
            Feedback::Cnm { .. } => "cnm",
            Feedback::Reflection => "reflection",
            Feedback::AdvertisedRate { .. } => "advertised",
            Feedback::ReturnedRate { .. } => "returned",
            Feedback::Cnp => "cnp",
            Feedback::ProbeReply { .. } => "reply",
            _ => "other",
        };
        for entry in catalogue() {
            let make = || -> Box<dyn Scheme> { Box::new(Shared((entry.build)(&[]).unwrap().scheme)) };
            let mut l = Loopback::new(&make, Rate::from_gbps(10.0), 1, Faults::default());
            let mut seen = BTreeSet::new();
            for step in 0..40_000u64 {
                let queue = if step % 8000 < 4000 { 60_000 + step * 7919 % 190_000 } else { 3000 };
                l.others(15, queue);
                l.step(Time::from_us(12), queue);
                seen.extend(l.last.iter().map(kind));
            }
            let expected: &[&str] = match entry.name {
                "none" => &[],
                "bcn" | "ecm" => &["ecm"],
                "qcn-3pt" => &["cnm", "reflection"],
                "qcn-2pt" | "qcn-h" | "qcn-serial-hai" | "qcn-802.1Qau" => &["cnm"],
                "qcn-p" | "qcn-hp" | "qcn-sp" | "qcn-hsp" | "qcn-pp" => &["cnm", "reply"],
                "e2cm-src" | "e2cm-dst" => &["ecm", "reply"],
                "becn" => &["advertised"],
                "fecn" => &["returned"],
                "dcqcn" => &["cnp"],
                _ => continue,
            };
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected, "{}", entry.name);
        }
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        for entry in catalogue() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                for written in [(*name).to_string(), name.to_ascii_lowercase(), name.to_ascii_uppercase()] {
                    assert_eq!(find(&written).map(|e| e.name), Some(entry.name), "{written}");
                }
            }
        }
        assert_eq!(find("qcn-802.1qau").map(|e| e.name), Some("qcn-802.1Qau"));
        assert!(find("qcn-802").is_none());
    }

    /// Bounds of a range as texts, `off` left away.
    fn bounds(range: &str) -> Option<(String, String)> {
        let plain = range.trim_start_matches("off, or ");
        plain.split_once(" to ").map(|(low, high)| (low.to_string(), high.to_string()))
    }

    #[test]
    fn every_number_has_a_range() {
        for entry in catalogue() {
            for i in (entry.info)() {
                let numeric = !matches!(i.kind, "choice" | "on/off");
                assert_eq!(bounds(&i.range).is_some(), numeric, "{}.{}: {}", entry.name, i.key, i.range);
                assert!(numeric || i.range.contains(" | "), "{}.{}: {}", entry.name, i.key, i.range);
            }
        }
    }

    /// Whatever a parameter may be, alone: nothing panics, and rates stay where they may.
    #[test]
    fn every_value_keeps_within_bounds() {
        let mut broken = Vec::new();
        for entry in catalogue() {
            for i in (entry.info)() {
                let mut values: Vec<String> = match bounds(&i.range) {
                    Some((low, high)) => vec![low, high],
                    None => i.range.split(" | ").map(String::from).collect(),
                };
                if i.range.starts_with("off, or ") {
                    values.push("off".into());
                }
                for value in values {
                    let pairs = [(i.key.to_string(), value.clone())];
                    let build = || (entry.build)(&pairs);
                    if let Err(e) = build() {
                        broken.push(format!("{}.{}: {e}", entry.name, i.key));
                        continue;
                    }
                    let make = || -> Box<dyn Scheme> { Box::new(Shared(build().unwrap().scheme)) };
                    // A parameter may lower the floor, or keep a scheme from reacting; what it may not is below.
                    let promise = Promise {
                        floor: Rate::from_bps(1e4),
                        stops: true,
                        warms_up: Time::MAX,
                        ..Promise::default()
                    };
                    for check in CHECKS.iter().filter(|c| matches!(c.name, "bounds" | "hostile-messages")) {
                        if let Err(b) = check.run(&make, &promise) {
                            broken.push(format!("{}.{} = {value}: {b}", entry.name, i.key));
                        }
                    }
                }
            }
        }
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    }

    #[test]
    fn every_parameter_reads_back() {
        for entry in catalogue() {
            for i in (entry.info)() {
                let built = (entry.build)(&[(i.key.into(), i.default.clone())]);
                let built = built.unwrap_or_else(|e| panic!("{}.{}: {e}", entry.name, i.key));
                assert!(
                    built.values.iter().any(|(k, v)| *k == i.key && *v == i.default),
                    "{}.{}",
                    entry.name,
                    i.key
                );
            }
            assert!(entry.name == "none" || entry.about().contains("Sources"), "{}", entry.name);
        }
    }
}
