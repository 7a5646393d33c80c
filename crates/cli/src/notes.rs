//! Notes before the tables: runs that froze, flows that were not received whole, and conclusions that may mislead. Runs that froze
//! and collectives that never end decide the exit code, too.

use crate::look::{self, Colour, paint};
use crate::{Done, Failure};
use cnsim_advice::notes::{after, frozen};
use cnsim_advice::unfinished;
use cnsim_measure::pauses::time;
use cnsim_runs::record::RunRecord;
use indexmap::IndexSet;

/// Prints them, each group under its heading.
pub(crate) fn print(records: &[RunRecord]) {
    let colour = look::colour_on_stdout();
    for (head, red, lines) in [
        ("FROZEN: the numbers below are of a network that stands still", true, frozen(records)),
        ("WAITS FOR EVER: a collective never ends", true, stands(records)),
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

/// The collectives that never end, a line each: who waits, for what, since when.
fn stands(records: &[RunRecord]) -> Vec<String> {
    let all = records.iter().flat_map(|r| r.jobs.iter().map(move |job| (r, job)));
    all.filter_map(|(r, job)| {
        let s = job.stands.as_ref()?;
        let host = job.ranks.get(s.rank as usize).map_or("", String::as_str);
        Some(format!(
            "{}, seed {}: {}: rank {} ({host}) waits since {} for {}",
            r.case,
            r.seed,
            job.name,
            s.rank,
            time(s.since),
            s.operation
        ))
    })
    .collect()
}

/// Most remedies that are named.
const REMEDIES: usize = 3;

/// The end of a verb some of whose runs froze.
pub(crate) fn ends(records: &[RunRecord]) -> Done {
    let all = records.len() as u64;
    let frozen: Vec<_> = records.iter().filter_map(|r| r.frozen.as_ref()).collect();
    if frozen.is_empty() {
        return match stands(records).len() as u64 {
            0 => Ok(()),
            n => Err(Failure::Stands(format!(
                "{} for ever; all results are written\n  help: let queue pairs send again (transport.kind = \"go-back-n\"), turn PAUSE on, or give \
                 switches more memory",
                if n == 1 {
                    "a collective waits".into()
                } else {
                    format!("{} wait", look::count(n, "collective"))
                }
            ))),
        };
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
