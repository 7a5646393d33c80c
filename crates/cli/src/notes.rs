//! Notes before the tables: runs that froze, flows that were not received whole, and conclusions that may mislead. Runs that froze
//! decide the exit code, too.

use crate::look::{self, Colour, paint};
use crate::{Done, Failure};
use cnsim_advice::notes::{after, frozen};
use cnsim_advice::unfinished;
use cnsim_runs::record::RunRecord;
use indexmap::IndexSet;

/// Prints them, each group under its heading.
pub(crate) fn print(records: &[RunRecord]) {
    let colour = look::colour_on_stdout();
    for (head, red, lines) in [
        ("FROZEN: the numbers below are of a network that stands still", true, frozen(records)),
        (unfinished::HEAD, false, unfinished::lines(records)),
        ("BEFORE YOU CONCLUDE", false, after(records)),
    ] {
        if !lines.is_empty() {
            println!("{}", paint(head, if red { Colour::Red } else { Colour::Yellow }, colour));
            lines.iter().for_each(|l| println!("  {l}"));
            println!();
        }
    }
}

/// Most remedies that are named.
const REMEDIES: usize = 3;

/// The end of a verb some of whose runs froze.
pub(crate) fn ends(records: &[RunRecord]) -> Done {
    let all = records.len() as u64;
    let frozen: Vec<_> = records.iter().filter_map(|r| r.frozen.as_ref()).collect();
    if frozen.is_empty() {
        return Ok(());
    }
    let remedies: IndexSet<String> = frozen.iter().map(|f| f.help()).collect();
    let remedies: Vec<String> = remedies.into_iter().take(REMEDIES).collect();
    Err(Failure::Frozen(format!(
        "the network froze in {} of {}; all results are written\n  help: {}",
        frozen.len(),
        look::count(all, "run"),
        remedies.join("\n  help: ")
    )))
}
