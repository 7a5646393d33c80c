//! The id of a case, from the matrix to the store, results, claims and figures.

pub mod condition;

use serde::{Deserialize, Serialize};
use std::fmt;

/// A cell of a scenario's matrix. Runs of one case differ in the seed, and in a sweep in the swept values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CaseId {
    /// Study that the case belongs to, such as `B07`.
    pub study: String,
    /// Name of the scenario within its study.
    pub scenario: String,
    /// Condition of the case, as its scenario's template writes it.
    pub condition: String,
    /// PAUSE mode of the case: `on`, `off` or `global`.
    pub pause: String,
    /// Registered name of the scheme.
    pub scheme: String,
}

impl CaseId {
    /// Condition and PAUSE mode: the place in which schemes are compared.
    pub fn place(&self) -> String {
        format!("{}, PAUSE {}", self.condition, self.pause)
    }

    /// Condition, PAUSE mode and scheme: the name of the case within its scenario.
    pub fn name(&self) -> String {
        format!("{}, {}", self.place(), self.scheme)
    }

    /// The id of the case with the same study, scenario, condition and PAUSE mode, under another scheme.
    pub fn under(&self, scheme: &str) -> Self {
        Self { scheme: scheme.into(), ..self.clone() }
    }
}

/// Study, scenario, condition, PAUSE mode and scheme.
impl From<[&str; 5]> for CaseId {
    fn from(parts: [&str; 5]) -> Self {
        let [study, scenario, condition, pause, scheme] = parts.map(String::from);
        Self { study, scenario, condition, pause, scheme }
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, {}", self.study, self.scenario, self.name())
    }
}

/// The property in which cases of a scenario differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The condition.
    Condition,
    /// The PAUSE mode.
    Pause,
    /// The scheme.
    Scheme,
}

impl Dimension {
    /// The value of this dimension in a case.
    pub fn of(self, case: &CaseId) -> &str {
        match self {
            Self::Condition => &case.condition,
            Self::Pause => &case.pause,
            Self::Scheme => &case.scheme,
        }
    }
}
