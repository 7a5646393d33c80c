//! Notes before the tables: runs that froze, flows that were not received whole, and conclusions that may mislead. Runs that froze
//! decide the exit code, too.

use crate::look::{self, Colour, paint};
use crate::{Done, Failure};
use cnsim_advice::notes::{after, frozen};
use cnsim_advice::unfinished;
use cnsim_runs::record::RunRecord;

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

/// The end of a verb some of whose runs froze.
pub(crate) fn ends(records: &[RunRecord]) -> Done {
    let all = records.len() as u64;
    match records.iter().filter(|r| r.frozen.is_some()).count() {
        0 => Ok(()),
        n => Err(Failure::Frozen(format!(
            "the network froze in {n} of {}; all results are written\n  help: PAUSE needs paths without a circle: \
             see topology.routing, or try --pause off; with record.pauses = \"on\" `cnsim explain-pause` names what closed a circle",
            look::count(all, "run")
        ))),
    }
}
