//! The runs that a verb looks into: a folder of results, and which of its runs.

use crate::Failure;
use clap::Args;
use cnsim_problem::joined;
use std::path::{Path, PathBuf};

/// Arguments that choose runs.
#[derive(Args, Debug, Clone)]
pub(crate) struct Chosen {
    /// Folder of the results, or the file in it that this verb reads.
    #[arg(default_value = "out")]
    pub(crate) results: PathBuf,
    /// Only runs whose name contains this text: condition, PAUSE mode and scheme.
    #[arg(long)]
    condition: Option<String>,
    /// Only runs of this scheme.
    #[arg(long)]
    scheme: Option<String>,
    /// Only the run of this seed.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs that an error lists.
const LISTED: usize = 8;

impl Chosen {
    /// The runs that are meant, by their labels: condition, PAUSE mode, scheme and seed.
    ///
    /// # Errors
    /// None of some runs is meant.
    pub(crate) fn of<'a, T, L: AsRef<[String]>>(
        &self,
        runs: &'a [T],
        labels: impl Fn(&'a T) -> L,
    ) -> Result<Vec<&'a T>, Failure> {
        let found: Vec<&T> = runs.iter().filter(|run| self.takes(labels(run).as_ref())).collect();
        if found.is_empty() && !runs.is_empty() {
            let some = runs.iter().take(LISTED).map(|run| title(labels(run).as_ref()));
            let more = match runs.len().saturating_sub(LISTED) {
                0 => String::new(),
                n => format!("; and {n} more"),
            };
            return Err(Failure::input(format!(
                "no run is like that\n  help: leave out --condition, --scheme or --seed; there are: {}{more}",
                joined(some, "; ")
            )));
        }
        Ok(found)
    }

    fn takes(&self, labels: &[String]) -> bool {
        let name = title(labels).to_lowercase();
        self.condition.as_ref().is_none_or(|c| name.contains(&c.to_lowercase()))
            && self.scheme.as_ref().is_none_or(|s| s.eq_ignore_ascii_case(&labels[2]))
            && self.seed.is_none_or(|n| labels[3] == n.to_string())
    }
}

/// The file of this name in a folder of results, or the file that is given itself.
///
/// # Errors
/// There is neither folder nor file.
pub(crate) fn file(results: &Path, name: &str) -> Result<PathBuf, Failure> {
    if !results.exists() {
        return Err(Failure::input(format!(
            "{}: there is no such folder of results\n  help: name the one that `cnsim run SCENARIO --out FOLDER` wrote",
            results.display()
        )));
    }
    Ok(path(results, name))
}

/// The file of this name in a folder of results, or the file that is given itself, whether it exists or not.
pub(crate) fn path(results: &Path, name: &str) -> PathBuf {
    if results.is_dir() { results.join(name) } else { results.to_path_buf() }
}

/// Name of a run, by its labels.
pub(crate) fn title(labels: &[String]) -> String {
    let words = labels.iter().zip(["", "PAUSE ", "", "seed "]).map(|(word, head)| format!("{head}{word}"));
    joined(words, ", ")
}
