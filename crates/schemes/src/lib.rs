//! Congestion-management schemes, one file each, in their papers' own words, and the one list that registers them.

pub mod dcqcn;
pub mod ecm;
pub mod none;
pub mod qcn_2pt;
pub mod qcn_3pt;

use cnsim_scheme_api::{ParamError, ParamInfo, Params, Scheme};
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

use dcqcn::{Dcqcn, DcqcnParams};
use ecm::{Ecm, EcmParams};
use none::{NoScheme, NoneParams};
use qcn_2pt::{Qcn2pt, QcnParams};
use qcn_3pt::{Qcn3pt, Qcn3ptParams};

static CATALOGUE: &[Entry] = catalogue! {
    "none", ["nocm"], "no congestion management", "none.rs", NoneParams, NoneParams::default(), |_| Vec::new(), |_| NoScheme;
    "bcn", [], "backward congestion notification (2006)", "ecm.rs", EcmParams, EcmParams::bcn(), EcmParams::idle,
        |params| Ecm { name: "bcn", params };
    "ecm", [], "Ethernet congestion management, BCN v2 (2007)", "ecm.rs", EcmParams, EcmParams::default(), EcmParams::idle,
        |params| Ecm { name: "ecm", params };
    "qcn-2pt", [], "quantised congestion notification, two points (2007)", "qcn_2pt.rs", QcnParams, QcnParams::default(),
        QcnParams::idle, Qcn2pt;
    "qcn-3pt", [], "QCN with a reflection point (2007)", "qcn_3pt.rs", Qcn3ptParams, Qcn3ptParams::default(),
        Qcn3ptParams::idle, Qcn3pt;
    "dcqcn", [], "data centre QCN for RoCEv2 (2015)", "dcqcn.rs", DcqcnParams, DcqcnParams::default(), DcqcnParams::idle, Dcqcn;
};

/// All registered schemes, in the order of the studies.
pub fn catalogue() -> &'static [Entry] {
    CATALOGUE
}

/// Finds a scheme by name or alias, whatever its case.
pub fn find(name: &str) -> Option<&'static Entry> {
    let name = name.to_ascii_lowercase();
    catalogue().iter().find(|e| e.name == name || e.aliases.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{Promise, conformance};
    use cnsim_scheme_api::{Bytes, Rate, Time};

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
        fn engages(&self, f: &cnsim_scheme_api::Feedback) -> bool {
            self.0.engages(f)
        }
    }

    #[test]
    fn every_scheme_conforms() {
        for entry in catalogue() {
            let make = || -> Box<dyn Scheme> { Box::new(Shared((entry.build)(&[]).unwrap().scheme)) };
            let qcn2 = entry.name == "qcn-2pt";
            let promise = Promise {
                floor: if entry.name == "none" { Rate::ZERO } else { Rate::from_mbps(10.0) },
                recovers: qcn2.then(|| (Bytes::from_mb(40), Time::from_ms(100))),
            };
            conformance(&make, promise).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        }
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
