//! Places of results. A command replaces neither finished results by fewer, nor those of another command. Instead it writes to a
//! folder beside them, and reports it. An interrupted command writes its finished part only if nothing better is there, and marks
//! it as partial.

use crate::{Done, Failure};
use cnsim_runs::place::{Place, PlaceError};
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::{self, Partial, Results};
use cnsim_runs::saved::{RESULTS, Saved};
use cnsim_scenario::case::CaseId;
use std::collections::BTreeMap;
use std::path::Path;

impl From<PlaceError> for Failure {
    fn from(e: PlaceError) -> Self {
        let help = match &e {
            PlaceError::Io(..) => return Self::Input(format!("{e}; choose another place with --out")),
            PlaceError::Foreign(..) => "choose another folder with --out, or write over them with --force",
            PlaceError::Mark(..) => "choose another folder with --out",
        };
        Self::Input(format!("{e}\n  help: {help}"))
    }
}

/// A folder that takes the results of a command; nobody else writes there meanwhile.
pub(crate) struct Output {
    saved: Saved,
    command: String,
    partial: Option<Partial>,
}

impl Output {
    /// Refuses a folder in which others' files stand, before anything runs.
    pub(crate) fn check(out: &Path, force: bool) -> Done {
        Ok(Place::check(out, &RESULTS, force)?)
    }

    /// The folder for these results of a command under `out`; none if finished ones stand there that partial ones would
    /// replace.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub(crate) fn open(
        out: &Path,
        command: &str,
        records: &[RunRecord],
        partial: Option<Partial>,
        force: bool,
    ) -> Result<Option<Self>, Failure> {
        let (mut saved, mut before) = enter(out, force)?;
        let mine = counted(records);
        let verb = |command: &str| results::folder(command.split(' ').next().unwrap_or_default());
        let fewer = |old: &Results| {
            let theirs = counted(&old.runs);
            let lost = theirs.iter().any(|(run, n)| mine.get(run).unwrap_or(&0) < n);
            lost && (verb(&old.command) != verb(command) || old.runs.len() > records.len())
        };
        if partial.is_some() {
            let better = |old: &Results| old.partial.is_none_or(|p| p.finished > records.len());
            if records.is_empty() || before.as_ref().is_some_and(better) {
                return Ok(None);
            }
        }
        // Finished results of another command give way to none that lack some of theirs.
        let stays = |old: &Option<Results>| {
            old.as_ref().is_some_and(|old| old.partial.is_none() && old.command != command && fewer(old))
        };
        for name in [verb(command), results::folder(command)] {
            if !stays(&before) {
                break;
            }
            let next = match enter(&out.join(name), force) {
                // Somebody else's: there is another.
                Err(PlaceError::Foreign(..)) => continue,
                next => next?,
            };
            let taken = before.as_ref().map_or("", |old| &old.command).to_owned();
            eprintln!(
                "note: {} keeps the results of `cnsim {taken}`; these are in {}",
                saved.place().dir().display(),
                next.0.place().dir().display()
            );
            (saved, before) = next;
        }
        Ok(Some(Self { saved, command: command.into(), partial }))
    }

    /// Folder of the output.
    pub(crate) fn dir(&self) -> &Path {
        self.saved.place().dir()
    }

    /// Writes a file of the folder, whole or not at all.
    pub(crate) fn write(&mut self, name: &str, bytes: &[u8]) -> Done {
        Ok(self.saved.write(name, bytes)?)
    }

    /// Writes the runs' files and removes files of earlier results ([`Saved::results`]). This is the last step. Returns the text
    /// of results.json.
    pub(crate) fn results(
        self,
        records: &[RunRecord],
        with_series: impl Fn(&RunRecord) -> bool,
    ) -> Result<String, Failure> {
        Ok(self.saved.results(&self.command, self.partial, records, with_series)?)
    }
}

/// Takes a folder, and reads the results that it holds.
fn enter(dir: &Path, force: bool) -> Result<(Saved, Option<Results>), PlaceError> {
    let saved = Saved::open(dir, force)?;
    let place = saved.place();
    if place.adopted {
        eprintln!("note: {} holds results of an earlier cnsim; it is marked as cnsim's now", dir.display());
    }
    if !place.has("results.json") {
        return Ok((saved, None));
    }
    match Results::read(&dir.join("results.json")) {
        Ok(old) => Ok((saved, Some(old))),
        Err(e) => {
            eprintln!("warning: {}; it is replaced", e.lines().next().unwrap_or_default());
            Ok((saved, None))
        }
    }
}

/// How often each run is there: the points of a sweep have the same names.
fn counted(runs: &[RunRecord]) -> BTreeMap<(&CaseId, u64), usize> {
    let mut all = BTreeMap::new();
    runs.iter().for_each(|r| *all.entry((&r.case, r.seed)).or_insert(0) += 1);
    all
}

/// A word of a command line, in quotes where it needs them.
pub(crate) fn quoted(s: &str) -> String {
    if s.contains(' ') || s.is_empty() { format!("{s:?}") } else { s.to_string() }
}
