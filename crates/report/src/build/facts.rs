//! Tables of parts of the network, such as ports: a row for each part and case, a column for each fact that tells something.

use super::scene::CaseRuns;
use crate::model::{Cell, Column, Row, Table};
use cnsim_problem::joined;
use indexmap::IndexMap;

/// What a function gives for the cases of each PAUSE mode.
pub(crate) fn by_pause<'s, 'a, I: IntoIterator>(
    cases: &'s [CaseRuns<'a>],
    of: impl Fn(&'s str, &[&'s CaseRuns<'a>]) -> I,
) -> Vec<I::Item> {
    let mut modes: IndexMap<&str, Vec<&CaseRuns<'a>>> = IndexMap::new();
    cases.iter().for_each(|c| modes.entry(&c.case.pause).or_default().push(c));
    modes.iter().flat_map(|(pause, mine)| of(pause, mine)).collect()
}

/// Do the cases have several conditions?
pub(crate) fn several(cases: &[&CaseRuns<'_>]) -> bool {
    cases.windows(2).any(|w| w[0].case.condition != w[1].case.condition)
}

/// The cells of a part in a case, one for each column; none without a row.
type Cells<'c> = &'c dyn Fn(&str, &CaseRuns<'_>) -> Option<Vec<Option<Cell>>>;

/// Fills `t`, which has its columns: a row for each part and case. Columns in which no cell is `told` are left out; none if all are. `part`
/// is the word for a part.
pub(crate) fn table(
    mut t: Table,
    part: &str,
    (cases, names): (&[&CaseRuns<'_>], &[&str]),
    cells: Cells<'_>,
    told: fn(&Cell) -> bool,
) -> Option<Table> {
    let several = several(cases);
    for (name, c) in names.iter().flat_map(|name| cases.iter().map(move |c| (*name, c))) {
        let condition = joined([name, if several { &c.case.condition } else { "" }], ", ");
        let row = |cells| Row { scheme: c.case.scheme.clone(), condition, cells };
        t.rows.extend(cells(name, c).map(row));
    }
    let says = |at: &usize| t.rows.iter().any(|r| r.cells[*at].as_ref().is_some_and(told));
    let known: Vec<usize> = (0..t.columns.len()).filter(says).collect();
    t.rows.iter_mut().for_each(|r| r.cells = known.iter().map(|at| r.cells[*at].take()).collect());
    t.columns = known.iter().map(|at| std::mem::take(&mut t.columns[*at])).collect();
    t.row_heading = joined([part, if several { "condition" } else { "" }], ", ");
    (!known.is_empty()).then_some(t)
}

/// A column by its name, title, unit and meaning.
pub(crate) fn column([metric, title, unit, about]: [&str; 4], more: bool) -> Column {
    let [metric, title, unit, about] = [metric, title, unit, about].map(String::from);
    Column { metric, title, unit, about, more }
}
