//! What a colleague would say of results, before their tables: said once, each with a remedy.

use crate::look::{self, Colour, paint};
use cnsim_studies::advice::after;
use cnsim_studies::store::RunRecord;

/// What stands above the lines.
const HEAD: &str = "BEFORE YOU CONCLUDE";

/// Tells it before the tables.
pub(crate) fn tell(records: &[RunRecord]) {
    let lines = after(records);
    if lines.is_empty() {
        return;
    }
    println!("{}", paint(HEAD, Colour::Yellow, look::colour_on_stdout()));
    lines.iter().for_each(|l| println!("  {l}"));
    println!();
}
