//! Leave one table out: a reading is judged on a table that it was not chosen on.

use super::{Scored, ScoredCell};
use indexmap::IndexSet;

/// Result with one table left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Scenario, condition and PAUSE mode.
    pub table: String,
    /// Index of the reading that is nearest on all other tables.
    pub chosen: usize,
    /// Cells of the table.
    pub cells: usize,
    /// Mean distance of these cells under the chosen reading, and under the scenario as it is.
    pub distance: (f64, f64),
    /// Cells of the table that agree under either.
    pub agree: (usize, usize),
}

/// The table of a cell.
pub(super) fn table(c: &ScoredCell) -> String {
    let case = c.cell.shown();
    format!("{}/{} {}", case.study, case.scenario, case.place())
}

/// Leaves out each table in turn, in the order of the cells, and chooses among readings that have the same cells and the
/// scenario as it is among them; none if that is missing or there are fewer than two tables. Equal distances choose the
/// reading with fewer switches.
pub fn leave_one_out(scored: &[Scored]) -> Vec<Fold> {
    let Some(base) = scored.iter().find(|s| s.combination.is_empty()) else { return Vec::new() };
    let tables: Vec<String> = base.cells.iter().map(table).collect();
    let distinct: IndexSet<&String> = tables.iter().collect();
    if distinct.len() < 2 {
        return Vec::new();
    }
    let mean = |s: &Scored, inside: bool, t: &String| {
        let mine = s.cells.iter().zip(&tables).filter(|(_, own)| (*own == t) == inside);
        let all: Vec<f64> = mine.map(|(c, _)| c.distance).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    let agree =
        |s: &Scored, t: &String| s.cells.iter().zip(&tables).filter(|(c, own)| *own == t && c.agrees).count();
    let fold = |t: &&String| {
        let rank = |i: &usize| (mean(&scored[*i], false, t), scored[*i].combination.len());
        let chosen = (0..scored.len()).min_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        })?;
        let best = &scored[chosen];
        Some(Fold {
            table: (*t).clone(),
            chosen,
            cells: tables.iter().filter(|own| own == t).count(),
            distance: (mean(best, true, t), mean(base, true, t)),
            agree: (agree(best, t), agree(base, t)),
        })
    };
    distinct.iter().filter_map(fold).collect()
}
