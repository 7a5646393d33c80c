//! Names that a shell completes. The verb itself reports an unknown name, with the nearest known ones.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use cnsim_scenario::EMBEDDED;
use cnsim_scenario::metrics::METRICS;
use std::ffi::OsStr;

/// Things that have names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names {
    /// Registered schemes.
    Schemes,
    /// Metrics.
    Metrics,
    /// Studies and their scenarios, `quick` and `all`.
    Studies,
    /// All of these.
    Any,
}

impl Names {
    fn all(self) -> Vec<String> {
        let schemes = || cnsim_schemes::registry().names().map(String::from).collect::<Vec<_>>();
        let metrics = || METRICS.iter().map(|m| m.id.into()).collect();
        let studies = || {
            let mut all: Vec<String> = EMBEDDED.iter().map(|(id, _)| (*id).into()).collect();
            all.extend(cnsim_papers::PAPERS.iter().map(|p| p.id.into()));
            all
        };
        match self {
            Self::Schemes => schemes(),
            Self::Metrics => metrics(),
            Self::Studies => [studies(), vec!["quick".into(), "all".into()]].concat(),
            Self::Any => [schemes(), metrics(), studies()].concat(),
        }
    }
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let text = value.to_str().map(String::from);
        text.ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.all().into_iter().map(PossibleValue::new)))
    }
}
