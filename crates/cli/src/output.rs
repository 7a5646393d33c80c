//! Where results go. A folder keeps what was finished in it: a command never replaces finished results by fewer, nor those of
//! another command by its own; then its results go to a folder of its own beside them, and it says so. What a command that
//! was cut short has finished is written only where nothing better stands, and says that it is partial.

use crate::{Done, Failure};
use cnsim_studies::flow_files::{fct_csv, slowdown_csv};
use cnsim_studies::results::{self, Partial, Results, Run, case_title, series_csv, series_file};
use cnsim_studies::store::{RunRecord, sweep, write_atomically};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A folder that takes the results of a command; nobody else writes there meanwhile.
pub(crate) struct Output {
    dir: PathBuf,
    command: String,
    partial: Option<Partial>,
    /// Files of series that the results before had.
    before: Vec<String>,
    _lock: File,
}

impl Output {
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
    ) -> Result<Option<Self>, Failure> {
        let (lock, before) = enter(out)?;
        let mine = counted(records.iter().map(|r| (labels(r), r.seed)));
        let verb = |command: &str| results::folder(command.split(' ').next().unwrap_or_default());
        let fewer = |old: &Results| {
            let theirs = counted(old.runs.iter().map(|r| (r.case(), r.seed)));
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
        let (mut dir, mut lock, mut before) = (out.to_path_buf(), lock, before);
        for name in [verb(command), results::folder(command)] {
            if !stays(&before) {
                break;
            }
            let taken = before.as_ref().map_or("", |old| &old.command).to_owned();
            let next = out.join(name);
            eprintln!(
                "note: {} keeps the results of `cnsim {taken}`; these are in {}",
                dir.display(),
                next.display()
            );
            (lock, before) = enter(&next)?;
            dir = next;
        }
        let before = before.into_iter().flat_map(|old| old.runs).flat_map(|r| r.series).collect();
        Ok(Some(Self { dir, command: command.into(), partial, before, _lock: lock }))
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of it whole.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Done {
        write(&self.dir.join(name), bytes)
    }

    /// Writes the series of those runs for which they are wanted, then results.json, and removes series that the results
    /// before had and these have not. Returns the text of results.json.
    pub(crate) fn results(
        &self,
        records: &[RunRecord],
        with_series: impl Fn(&RunRecord) -> bool,
    ) -> Result<String, Failure> {
        let mut runs = Vec::new();
        for r in records {
            let mut files = Vec::new();
            for (name, curve) in r.series.iter().filter(|_| with_series(r)) {
                let file = series_file(r, name);
                let text = series_csv(name, curve);
                let path = self.dir.join(&file);
                // The same bytes need not go to the disk again.
                if !std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                    write(&path, text.as_bytes())?;
                }
                files.push(file);
            }
            runs.push(Run::of(r, files));
        }
        for (name, text) in [("fct.csv", fct_csv(records)), ("slowdown.csv", slowdown_csv(records))] {
            if let Some(text) = text {
                self.write(name, text.as_bytes())?;
            }
        }
        let all = Results::new(&self.command, self.partial, runs);
        let text = all.text().map_err(Failure::Run)?;
        self.write("results.json", text.as_bytes())?;
        let now: Vec<&String> = all.runs.iter().flat_map(|r| &r.series).collect();
        for old in self.before.iter().filter(|old| !now.contains(old)) {
            let plain =
                old.strip_prefix("series/").is_some_and(|f| f.ends_with(".csv") && !f.contains(['/', '\\']));
            if plain {
                let _ = std::fs::remove_file(self.dir.join(old));
            }
        }
        Ok(text)
    }
}

/// Makes a folder, locks it, clears what killed writers left, and reads the results that it holds.
fn enter(dir: &Path) -> Result<(File, Option<Results>), Failure> {
    let tidy = || {
        std::fs::create_dir_all(dir)?;
        let lock = File::create(dir.join(".lock"))?;
        lock.lock()?;
        sweep(dir)?;
        match dir.join("series") {
            series if series.is_dir() => sweep(&series)?,
            _ => {}
        }
        Ok(lock)
    };
    let lock = tidy().map_err(|e| Failure::io(dir, &e))?;
    let path = dir.join("results.json");
    if !path.exists() {
        return Ok((lock, None));
    }
    match Results::read(&path) {
        Ok(old) => Ok((lock, Some(old))),
        Err(e) => {
            eprintln!("warning: {}; it is replaced", e.lines().next().unwrap_or_default());
            Ok((lock, None))
        }
    }
}

fn labels(r: &RunRecord) -> String {
    let (study, scenario, condition, pause, scheme) = r.case();
    case_title([study, scenario, condition, pause, scheme])
}

/// How often each run is there: the points of a sweep have the same names.
fn counted(runs: impl Iterator<Item = (String, u64)>) -> BTreeMap<(String, u64), usize> {
    let mut all = BTreeMap::new();
    runs.for_each(|run| *all.entry(run).or_insert(0) += 1);
    all
}

/// Writes a file whole.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Done {
    write_atomically(path, bytes).map_err(|e| Failure::io(path, &e))
}

/// A word of a command line, in quotes where it needs them.
pub(crate) fn quoted(s: &str) -> String {
    if s.contains(' ') || s.is_empty() { format!("{s:?}") } else { s.to_string() }
}
