//! Scenarios that files of another simulator describe.

use super::Scenario;
use cnsim_import::Imported;
use cnsim_problem::{Position, Problem};
use cnsim_scheme_api::Registry;

impl Scenario {
    /// The scenario of an import, checked; `schemes` is as in [`Scenario::load_in`].
    ///
    /// # Errors
    /// All faults, each with file and line. If a line of the configuration decides the key at fault, it is that line.
    pub fn of_import(
        registry: &Registry,
        read: &Imported,
        sets: &[(String, String)],
        schemes: &[&str],
    ) -> Result<Self, Vec<Problem>> {
        let name = read.source().display().to_string();
        // No file has this name, so that what is wrong with the text is told from what is wrong with a file that it names.
        let own = format!("imported from {name}");
        let placed = |mut p: Problem| {
            if p.file == own {
                let (line, key) = read.origin(&p.key).unwrap_or((1, &p.key));
                (p.file, p.key, p.excerpt) = (name.clone(), key.into(), None);
                p.position = Some(Position { line, column: 1 });
            }
            p
        };
        let parsed = Self::parse_in(registry, &own, &read.text, sets, schemes);
        let mut all = read.faults().to_vec();
        let known =
            |all: &[Problem], p: &Problem| all.iter().any(|q| (&q.file, q.position) == (&p.file, p.position));
        match parsed {
            Ok(scenario) if all.is_empty() => return Ok(scenario),
            Ok(_) => {}
            Err(more) => {
                let more: Vec<Problem> = more.into_iter().map(placed).filter(|p| !known(&all, p)).collect();
                all.extend(more);
            }
        }
        all.sort_by(|a, b| {
            (&a.file, a.position.map(|at| at.line)).cmp(&(&b.file, b.position.map(|at| at.line)))
        });
        Err(all)
    }
}
