//! A folder of results: `results.json`, series and tables of its runs, and other files of a verb. It holds the results of one
//! command. Files of an earlier command are removed when those of the next are complete.

use crate::capture::FOLDER as CAPTURES;
use crate::files::read_start;
use crate::flow_files::{fct_csv, slowdown_csv, traffic_csv};
use crate::job_files::{collectives_csv, critical_path_csv};
use crate::pause_files::{pauses_csv, victims_csv};
use crate::place::{Kind, Place, PlaceError, is_file};
use crate::record::RunRecord;
use crate::results::{Partial, Results, series_csv, series_file};
use crate::spent_files::{flow_events_csv, flows_csv};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Folder of the series.
const SERIES: &str = "series";
/// Files of the search for readings, which is no command's result.
const SEARCH: &str = "assume";
/// In the head of each page that cnsim writes.
const PAGE: &str = "<meta name=\"generator\" content=\"cnsim ";

/// Files that cnsim writes, each with words that its beginning has.
const FILES: [(&str, &str); 17] = [
    ("results.json", "{\"schema\":1,\"version\":\""),
    ("numbers.csv", "study,scenario,condition,pause,scheme,metric,unit,published,measured,"),
    ("claims.csv", "study,claim,text,origin,holds,evidence"),
    ("report.html", PAGE),
    ("sweep.csv", "study,scenario,condition,pause,scheme,metric,unit,measured,"),
    ("sweep.html", PAGE),
    ("fct.csv", "condition,pause,scheme,seed,source,destination,bytes,start_ns,"),
    ("slowdown.csv", "condition,pause,scheme,seed,from_bytes,to_bytes,flows,"),
    ("traffic.csv", "condition,pause,scheme,seed,traffic,metric,"),
    ("pauses.csv", "condition,pause,scheme,seed,xoff,"),
    ("victims.csv", "condition,pause,scheme,seed,flow,"),
    ("flows.csv", "condition,pause,scheme,seed,flow,number,"),
    ("flow_events.csv", "condition,pause,scheme,seed,flow,number,time_ns,"),
    ("fct.txt", ""),
    ("assume.csv", "distance"),
    ("assume-cells.csv", "reading,study,scenario,"),
    ("assume-tables.csv", "table,chosen,cells,"),
];

/// A folder of results.
pub const RESULTS: Kind = Kind {
    writes: |name| name == SERIES || name == CAPTURES || FILES.iter().any(|f| f.0 == name),
    earlier,
    named: true,
};

/// Files of a cnsim that left no mark: results.json whole, and the others by their beginnings.
fn earlier(dir: &Path, names: &[String]) -> Option<Vec<String>> {
    let mut ours = Vec::new();
    let results = dir.join("results.json");
    let kept =
        if is_file(&results) { Results::read(&results).ok().filter(|r| r.sum() == r.checksum) } else { None };
    for name in names {
        if name == SERIES {
            let files = kept.iter().flat_map(|k| &k.runs).flat_map(|r| &r.files);
            ours.extend(files.filter(|f| is_file(&dir.join(f))).cloned());
            kept.as_ref()?;
            continue;
        }
        let words = FILES.iter().find(|f| f.0 == name)?.1;
        let start = read_start(&dir.join(name), 1024)?;
        if !start.contains(words) || (kept.is_none() && matches!(name.as_str(), "results.json" | "fct.txt")) {
            return None;
        }
        ours.push(name.clone());
    }
    Some(ours)
}

/// A folder that takes the results of a command; nobody else writes there meanwhile.
#[derive(Debug)]
pub struct Saved {
    place: Place,
    written: BTreeSet<String>,
}

impl Saved {
    /// Takes a folder ([`Place::open`]).
    ///
    /// # Errors
    /// A folder that cannot be written, or that others' files stand in.
    pub fn open(dir: &Path, force: bool) -> Result<Self, PlaceError> {
        Ok(Self { place: Place::open(dir, &RESULTS, force)?, written: BTreeSet::new() })
    }

    /// The folder, with its mark.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// A name that somebody else's file has; a disk that does not take it.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), PlaceError> {
        self.written.insert(name.into());
        self.place.write(name, bytes)
    }

    /// Writes the requested series of runs, the tables of their flows, then results.json, and removes files of earlier results. All
    /// other files are written before. Returns the text of results.json.
    ///
    /// # Errors
    /// As [`Saved::write`].
    pub fn results(
        mut self,
        command: &str,
        partial: Option<Partial>,
        records: &[RunRecord],
        with_series: impl Fn(&RunRecord) -> bool,
    ) -> Result<String, PlaceError> {
        let wanted = |r: &RunRecord| -> Vec<(String, String)> {
            let names = r.over_time.series.keys().filter(|_| with_series(r));
            names.map(|name| (series_file(r, name), name.clone())).collect()
        };
        let series: Vec<Vec<(String, String)>> = records.iter().map(wanted).collect();
        self.place.claim(series.iter().flatten().map(|s| s.0.as_str()))?;
        let mut runs = Vec::new();
        for (r, series) in records.iter().zip(series) {
            for (file, name) in &series {
                let text =
                    r.over_time.series.get(name).map_or_else(String::new, |curve| series_csv(name, curve));
                // A series file that has these bytes already is not written again.
                let path = self.place.dir().join(file);
                if is_file(&path) && std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                    self.written.insert(file.clone());
                } else {
                    self.write(file, text.as_bytes())?;
                }
            }
            runs.push(r.brief(series.into_iter().map(|s| s.0).collect()));
        }
        let tables = [
            ("fct.csv", fct_csv(records)),
            ("flows.csv", flows_csv(records)),
            ("flow_events.csv", flow_events_csv(records)),
            ("slowdown.csv", slowdown_csv(records)),
            ("traffic.csv", traffic_csv(records)),
            ("collectives.csv", collectives_csv(records)),
            ("critical_path.csv", critical_path_csv(records)),
            ("pauses.csv", pauses_csv(records)),
            ("victims.csv", victims_csv(records)),
        ];
        for (name, text) in tables {
            if let Some(text) = text {
                self.write(name, text.as_bytes())?;
            }
        }
        let text = Results::new(command, partial, runs).text();
        let text = text.map_err(|e| PlaceError::Io(self.place.dir().into(), io::Error::other(e)))?;
        self.write("results.json", text.as_bytes())?;
        self.place.keep(|name| self.written.contains(name) || name.starts_with(SEARCH))?;
        Ok(text)
    }
}
