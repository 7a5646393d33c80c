//! Congestion-management schemes, one file each, in their papers' own words, and the one list that registers them.

use cnsim_scheme_api::{ParamError, ParamInfo, Params, Scheme};
use std::sync::Arc;

/// One registered scheme.
#[derive(Debug)]
pub struct Entry {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other names that find it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub title: &'static str,
    /// The head of the scheme's file: idea, citation, deviations.
    pub about: &'static str,
    /// Parameters with defaults.
    pub info: fn() -> Vec<ParamInfo>,
    /// Builds it from (key, text) pairs over the defaults.
    pub build: fn(&[(String, String)]) -> Result<Built, ParamError>,
}

/// A scheme ready to run, with all its parameters as they are in effect.
#[derive(Debug, Clone)]
pub struct Built {
    /// The scheme.
    pub scheme: Arc<dyn Scheme>,
    /// Effective parameters.
    pub values: Vec<(&'static str, String)>,
}

/// Sets the pairs over the default parameters and builds a scheme.
///
/// # Errors
/// The first pair that is refused.
pub fn build_with<P: Params + Clone, S: Scheme + 'static>(
    mut params: P,
    pairs: &[(String, String)],
    make: impl FnOnce(P) -> S,
) -> Result<Built, ParamError> {
    for (key, text) in pairs {
        params.set(key, text)?;
    }
    Ok(Built { values: params.values(), scheme: Arc::new(make(params)) })
}

/// All registered schemes, in the order of the studies.
pub fn catalogue() -> &'static [Entry] {
    &[]
}

/// Finds a scheme by name or alias, whatever its case.
pub fn find(name: &str) -> Option<&'static Entry> {
    let name = name.to_ascii_lowercase();
    catalogue().iter().find(|e| e.name == name || e.aliases.contains(&name.as_str()))
}
