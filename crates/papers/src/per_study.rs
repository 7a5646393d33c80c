//! Settings of the studies: values of a scheme's parameters in their scenarios, beside its defaults.

use cnsim_scenario::{Scenario, embedded_of};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeMap;

/// Studies with published numbers, by date of the parameters.
const STUDIES: [&str; 5] = ["C07", "Z07", "B07", "R07", "M08"];

/// For each parameter of a scheme the studies in which it has other values than the default, with these: `Z07: 75 KB`. Empty for
/// a scheme that no study runs.
pub fn in_studies(scheme: &str) -> BTreeMap<String, String> {
    let Some(entry) = cnsim_schemes::find(scheme) else { return BTreeMap::new() };
    let mut all: BTreeMap<String, IndexMap<String, Vec<&str>>> = BTreeMap::new();
    for study in STUDIES {
        let mut values: BTreeMap<String, IndexSet<String>> = BTreeMap::new();
        for id in embedded_of(study) {
            let Ok(scenario) = Scenario::load(id, &[]) else { continue };
            for case in scenario.cases().iter().filter(|c| c.id.scheme == entry.name) {
                let built = scenario.ready(case).map(|r| r.built.values).unwrap_or_default();
                for (key, value) in built {
                    values.entry(key).or_default().insert(value);
                }
            }
        }
        for (key, seen) in values {
            if seen.len() == 1 && entry.param(&key).map(|p| &p.default) == seen.first() {
                continue;
            }
            let text = seen.into_iter().collect::<Vec<_>>().join(", ");
            all.entry(key).or_default().entry(text).or_default().push(study);
        }
    }
    let told = |(text, studies): (&String, &Vec<&str>)| format!("{}: {text}", studies.join(", "));
    all.into_iter().map(|(k, v)| (k, v.iter().map(told).collect::<Vec<_>>().join("; "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_differ_from_the_defaults() {
        let ecm = in_studies("ecm");
        assert_eq!(ecm["q_eq"], "Z07: 75 KB");
        assert!(ecm["oversampling"].contains("Z07") && ecm["oversampling"].contains("R07"), "{ecm:?}");
        assert!(!ecm.contains_key("w"), "2 everywhere");
        assert_eq!(in_studies("becn")["interval"], "C07: 30 us, 300 us, 3 ms, 12 ms");
        assert!(in_studies("qcn-2pt")["q_eq"].contains("R07: 24 KB"));
        assert!(in_studies("dcqcn").is_empty() && in_studies("nothing").is_empty());
    }
}
