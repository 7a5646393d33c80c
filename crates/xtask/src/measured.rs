//! The one source of every measured figure in the documents: `published/measured.csv` and `published/claims.csv`.
//!
//! Both come from one run of everything: `cnsim reproduce all --out DIR`, then `cargo xtask measured DIR`
//! (or a folder for each study). A document
//! shows their figures between `<!-- measured: KIND -->` and `<!-- end -->`; [`stale`] finds a block with other figures. The first line
//! of `measured.csv` is a stamp over everything that decides these results. A change of the stamp requires a new run.
//!
//! | kind | shows |
//! |---|---|
//! | `cells STUDY/SCENARIO; PAUSE; METRIC, METRIC` | a row for each condition and scheme: published / measured |
//! | `scores STUDY` | how many cells agree, by scenario; without a name, for all five studies |
//! | `agree STUDY` | `150 of 206` |
//! | `zeros STUDY` | how many of the cells that were published as zero agree: `76 of 76` |
//! | `within PERCENT STUDY` | throughputs and utilisations whose mean is within so many per cent: `106 of 132` |
//! | `claims STUDY` | a row for each claim |
//! | `claims-hold` | scored claims that hold: `29 of 37` |

use cnsim_papers::published::{EMBEDDED, Published, parse};
use cnsim_runs::store::{RESULT_VERSION, sha256};
use cnsim_scenario::EMBEDDED as SCENARIOS;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::find;
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const CELLS: &str = "published/measured.csv";
const CLAIMS: &str = "published/claims.csv";
/// Studies whose claims and cells are counted in the README.
const STUDIES: [&str; 5] = ["B07", "M08", "Z07", "C07", "R07"];
const BEGIN: &str = "<!-- measured: ";
const END: &str = "<!-- end -->";
/// Columns of `numbers.csv` that are kept.
const KEPT: [&str; 10] =
    ["study", "scenario", "condition", "pause", "scheme", "metric", "unit", "measured", "seeds", "verdict"];

/// A published cell, with the value that was measured.
#[derive(Clone, Debug)]
struct Cell {
    published: Published,
    measured: f64,
    verdict: String,
}

impl Cell {
    fn is_zero(&self) -> bool {
        self.published.value == 0.0
    }
    /// `81.99 / 82.04`, with as many decimals as printed; bold where the verdict is *differs*.
    fn text(&self) -> String {
        let decimals = self.published.text.split_once('.').map_or(0, |(_, d)| d.len());
        let measured = format!("{:.decimals$}", self.measured);
        let marked = match self.verdict.as_str() {
            "differs" => format!("**{measured}**"),
            "near" => format!("{measured} (near)"),
            "undecided" => format!("{measured} (?)"),
            _ => measured,
        };
        format!("{} / {marked}", self.published.text)
    }
}

/// A judged claim: id, text, origin, verdict, evidence.
type Claim = [String; 5];

/// The content of the two files.
#[derive(Debug)]
struct Measured {
    cells: Vec<Cell>,
    claims: Vec<Claim>,
}

fn bad(message: impl Into<String>) -> io::Error {
    io::Error::other(message.into())
}

/// A stamp that changes whenever results of a counted study may change: version of the results, and the study's published rows,
/// scenarios without figures, and fingerprints.
fn stamp(root: &Path) -> io::Result<String> {
    let of_study = |id: &str| {
        STUDIES.iter().any(|s| id.strip_prefix(s).is_some_and(|rest| rest.starts_with(['/', ','])))
    };
    let mut text = format!("{RESULT_VERSION}\n");
    EMBEDDED.lines().filter(|l| of_study(l)).for_each(|l| text.push_str(l));
    for (id, scenario) in SCENARIOS.iter().filter(|(id, _)| of_study(id)) {
        let _ = writeln!(text, "{id}");
        without_figures(scenario).for_each(|line| text.extend([line, "\n"]));
    }
    let fingerprints = fs::read_to_string(root.join(crate::fingerprints::TABLE))?;
    fingerprints.lines().filter(|l| of_study(l)).for_each(|l| text.push_str(l));
    Ok(format!("# stamp {}", &sha256(text.as_bytes())[..16]))
}

/// A scenario without its `[[figure]]` tables, which draw what was measured and change no number.
fn without_figures(scenario: &str) -> impl Iterator<Item = &str> {
    let mut figure = false;
    scenario.lines().filter(move |line| {
        figure = if line.starts_with('[') { *line == "[[figure]]" } else { figure };
        !figure
    })
}

/// Keeps the published cells and the claims of the results in these folders. A claim is kept from the folder that judged it.
///
/// # Errors
/// A folder without results, results that were cut short or lack a published cell, a file that cannot be written.
pub fn take(root: &Path, folders: &[&str]) -> io::Result<()> {
    let mut cells = csv::Writer::from_writer(Vec::new());
    cells.write_record(KEPT)?;
    let mut claims = csv::Writer::from_writer(Vec::new());
    for (i, out) in folders.iter().map(Path::new).enumerate() {
        published_cells(out, &mut cells)?;
        let text = fs::read_to_string(out.join("claims.csv"))?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        if i == 0 {
            claims.write_record(reader.headers()?)?;
        }
        for record in reader.records() {
            let record = record?;
            if &record[4] != "not-run" {
                claims.write_record(&record)?;
            }
        }
    }
    let whole = |w: csv::Writer<Vec<u8>>| {
        w.into_inner().map_err(|e| bad(e.to_string())).map(|t| String::from_utf8_lossy(&t).into_owned())
    };
    let (cells, claims) = (format!("{}\n{}", stamp(root)?, whole(cells)?), whole(claims)?);
    Measured::parse(&cells, &claims)?;
    fs::write(root.join(CELLS), cells)?;
    fs::write(root.join(CLAIMS), claims)
}

/// Copies the published cells of the results in a folder.
fn published_cells(out: &Path, cells: &mut csv::Writer<Vec<u8>>) -> io::Result<()> {
    let text = fs::read_to_string(out.join("numbers.csv"))?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let at = |name: &str| {
        header.iter().position(|h| h == name).ok_or_else(|| bad(format!("numbers.csv has no column {name}")))
    };
    let (published, note) = (at("published")?, at("note")?);
    let kept: Vec<usize> = KEPT.iter().map(|name| at(name)).collect::<io::Result<_>>()?;
    for record in reader.records() {
        let record = record?;
        if record[note].starts_with("partial:") {
            return Err(bad("these results were cut short; run the study to its end"));
        }
        if !record[published].is_empty() {
            cells.write_record(kept.iter().map(|&k| &record[k]))?;
        }
    }
    Ok(())
}

impl Measured {
    fn read(root: &Path) -> io::Result<Self> {
        let text = |path: &str| fs::read_to_string(root.join(path));
        Self::parse(&text(CELLS)?, &text(CLAIMS)?)
    }

    fn parse(cells: &str, claims: &str) -> io::Result<Self> {
        let mut found: BTreeMap<(CaseId, String), (f64, String)> = BTreeMap::new();
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(cells.as_bytes());
        for record in reader.records() {
            let record = record?;
            let number =
                record[7].parse().map_err(|_| bad(format!("{CELLS}: {} is no number", &record[7])))?;
            let case = CaseId::from([0, 1, 2, 3, 4].map(|i| &record[i]));
            found.insert((case, record[5].to_string()), (number, record[9].into()));
        }
        let all = parse("published.csv", EMBEDDED).map_err(bad)?;
        let mut cells = Vec::new();
        for published in all {
            let p = &published;
            let key = (p.case.clone(), p.metric.clone());
            match found.remove(&key) {
                Some((measured, verdict)) => cells.push(Cell { published, measured, verdict }),
                None if STUDIES.contains(&p.case.study.as_str()) => {
                    return Err(bad(format!("{CELLS} lacks {}, {}", key.0, key.1)));
                }
                None => {}
            }
        }
        let mut reader = csv::Reader::from_reader(claims.as_bytes());
        let claim = |r: csv::StringRecord| [1, 2, 3, 4, 5].map(|i| r.get(i).unwrap_or("").to_string());
        let claims = reader.records().map(|r| r.map(claim)).collect::<Result<_, _>>()?;
        Ok(Self { cells, claims })
    }

    /// Cells that were not published as zero, of one study or of all five.
    fn of(&self, study: &str) -> impl Iterator<Item = &Cell> {
        let named = move |c: &&Cell| match study {
            "" => STUDIES.contains(&c.published.case.study.as_str()),
            _ => c.published.case.study == study,
        };
        self.cells.iter().filter(named).filter(|c| !c.is_zero())
    }

    /// The text of a block.
    fn block(&self, kind: &str) -> Result<String, String> {
        let (verb, rest) = kind.split_once(' ').unwrap_or((kind, ""));
        let agree = |cells: &[&Cell]| cells.iter().filter(|c| c.verdict == "agrees").count();
        match verb {
            "cells" => self.table(rest),
            "scores" => Ok(self.scores(rest)),
            "agree" => {
                let cells: Vec<&Cell> = self.of(rest).collect();
                Ok(format!("{} of {}", agree(&cells), cells.len()))
            }
            "zeros" => {
                let of = |c: &&Cell| match rest {
                    "" => STUDIES.contains(&c.published.case.study.as_str()),
                    study => c.published.case.study == study,
                };
                let zeros: Vec<&Cell> = self.cells.iter().filter(|c| c.is_zero()).filter(of).collect();
                Ok(format!("{} of {}", agree(&zeros), zeros.len()))
            }
            "within" => {
                let (percent, study) = rest.split_once(' ').unwrap_or((rest, ""));
                let bound: f64 = percent.parse().map_err(|_| format!("{percent} is no number"))?;
                let share = |c: &&Cell| {
                    ["throughput", "utilization"].iter().any(|end| c.published.metric.ends_with(end))
                };
                let near =
                    |c: &&&Cell| (c.measured - c.published.value).abs() <= c.published.value * bound / 100.0;
                let cells: Vec<&Cell> = self.of(study).filter(share).collect();
                Ok(format!("{} of {}", cells.iter().filter(near).count(), cells.len()))
            }
            "claims" => Ok(self.claims(rest)),
            "claims-hold" => {
                let mine = |c: &&Claim| STUDIES.iter().any(|s| c[0].split('.').next() == Some(s));
                let scored: Vec<&Claim> =
                    self.claims.iter().filter(mine).filter(|c| c[2] != "figure").collect();
                let hold = scored.iter().filter(|c| c[3] == "yes").count();
                Ok(format!("{hold} of {}", scored.len()))
            }
            _ => Err(format!("there is no kind of block `{kind}`")),
        }
    }

    fn table(&self, what: &str) -> Result<String, String> {
        let parts: Vec<&str> = what.split("; ").collect();
        let [scenario, pause, metrics] = parts[..] else {
            return Err(format!("`cells {what}`: not STUDY/SCENARIO; PAUSE; METRICS"));
        };
        let metrics: Vec<&str> = metrics.split(", ").collect();
        let name = |p: &Published| format!("{}/{}", p.case.study, p.case.scenario);
        let cells: Vec<&Cell> = (self.cells.iter())
            .filter(|c| name(&c.published) == scenario && c.published.case.pause == pause)
            .collect();
        let mut rows: Vec<(&str, &str)> = Vec::new();
        for c in &cells {
            let row = (c.published.case.condition.as_str(), c.published.case.scheme.as_str());
            if metrics.contains(&c.published.metric.as_str()) && !rows.contains(&row) {
                rows.push(row);
            }
        }
        if rows.is_empty() {
            return Err(format!("`cells {what}`: no cell was published"));
        }
        let unit = |id: &str| {
            cells.iter().find(|c| c.published.metric == id).map_or("", |c| c.published.unit.as_str())
        };
        let mut text = String::from("| condition | scheme |");
        for id in &metrics {
            let title = find(id).ok_or_else(|| format!("`{id}` is no metric"))?.id.replace('_', " ");
            let _ = write!(text, " {title}, {} |", unit(id));
        }
        let _ = write!(text, "\n|---|---|{}", "---|".repeat(metrics.len()));
        for (condition, scheme) in rows {
            let _ = write!(text, "\n| {condition} | {scheme} |");
            for id in &metrics {
                let is = |c: &&&Cell| {
                    let p = &c.published;
                    (p.case.condition.as_str(), p.case.scheme.as_str(), p.metric.as_str())
                        == (condition, scheme, id)
                };
                let _ = write!(text, " {} |", cells.iter().find(is).map_or(String::new(), |c| c.text()));
            }
        }
        Ok(text)
    }

    fn scores(&self, study: &str) -> String {
        let mut groups: IndexMap<String, Vec<&Cell>> = IndexMap::new();
        for c in self.of(study) {
            let name = format!("{}/{}", c.published.case.study, c.published.case.scenario);
            groups.entry(name).or_default().push(c);
        }
        groups.insert("all".into(), self.of(study).collect());
        let mut text = String::from(
            "| cells that are not zero | agree | near | differ | undecided | of |\n|---|---|---|---|---|---|",
        );
        for (name, cells) in groups {
            let of = |v: &str| cells.iter().filter(|c| c.verdict == v).count();
            let (agree, near, open) = (of("agrees"), of("near"), of("undecided"));
            let differ = cells.len() - agree - near - open;
            let _ = write!(text, "\n| {name} | {agree} | {near} | {differ} | {open} | {} |", cells.len());
        }
        text
    }

    fn claims(&self, study: &str) -> String {
        let mut text = String::from("| claim | holds | evidence |\n|---|---|---|");
        for [id, says, origin, holds, evidence] in &self.claims {
            if id.split('.').next() == Some(study) {
                let figure = if origin == "figure" { " (from a figure, not scored)" } else { "" };
                let holds = if holds == "yes" { "yes".to_string() } else { format!("**{holds}**") };
                let _ = write!(text, "\n| {id} {says}{figure} | {holds} | {} |", evidence.replace('|', "/"));
            }
        }
        text
    }

    /// A document with its blocks made anew.
    fn fill(&self, file: &str, text: &str) -> io::Result<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(begin) = rest.find(BEGIN) {
            let wrong = |reason: &str| bad(format!("{file}: {reason}"));
            let (before, block) = rest.split_at(begin);
            let (head, tail) =
                block[BEGIN.len()..].split_once(" -->").ok_or_else(|| wrong("a block has no head"))?;
            let (old, after) = tail.split_once(END).ok_or_else(|| wrong("a block has no end"))?;
            let new = self.block(head).map_err(|e| wrong(&e))?;
            // A block of lines stands apart from its marks, a figure in a sentence does not.
            let new = if old.starts_with('\n') { format!("\n\n{new}\n\n") } else { new };
            let _ = write!(filled, "{before}{BEGIN}{head} -->{new}{END}");
            rest = after;
        }
        Ok(filled + rest)
    }
}

/// Every document that may have blocks.
fn documents(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    for folder in ["docs", "docs/studies"] {
        for entry in fs::read_dir(root.join(folder))? {
            found.push(entry?.path());
        }
    }
    found.retain(|p| p.extension().is_some_and(|e| e == "md"));
    found.sort();
    Ok(found)
}

/// Writes the blocks of all documents anew.
///
/// # Errors
/// A file that cannot be read or written, a block that cannot be made.
pub fn write(root: &Path) -> io::Result<()> {
    let measured = Measured::read(root)?;
    for path in documents(root)? {
        let text = fs::read_to_string(&path)?;
        let filled = measured.fill(&path.display().to_string(), &text)?;
        if filled != text {
            fs::write(&path, filled)?;
        }
    }
    Ok(())
}

/// One line for each document whose figures differ from the stored run, and one line if that run is out of date.
///
/// # Errors
/// A file that cannot be read, a block that cannot be made.
pub fn stale(root: &Path) -> io::Result<Vec<String>> {
    let mut complaints = Vec::new();
    let stamped = fs::read_to_string(root.join(CELLS))?;
    if stamped.lines().next() != Some(&stamp(root)?) {
        complaints.push(format!(
            "{CELLS}: results may have changed since; `cnsim reproduce all --out DIR`, then `cargo xtask measured DIR`"
        ));
    }
    let measured = Measured::read(root)?;
    for path in documents(root)? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if measured.fill(&shown, &text)? != text {
            complaints.push(format!("{shown}: stale figures; run `cargo xtask generate`"));
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A figure that is drawn otherwise lets a stamp stand; a key of a run does not.
    #[test]
    fn figures_are_no_part_of_a_stamp() {
        let of = |text: &str| without_figures(text).collect::<String>();
        let file = "a = 1\n[[figure]]\nseries = [\"x\"]\n[[figure]]\n[run]\nseeds = 1\n";
        assert_eq!(of(file), "a = 1[run]seeds = 1");
        assert_eq!(of(file), of(&file.replace('x', "y")));
        assert_ne!(of(file), of(&file.replace("seeds = 1", "seeds = 2")));
    }

    fn made_up() -> Measured {
        let cell = |scheme: &str, metric: &str, text: &str, measured: f64, verdict: &str| Cell {
            published: Published {
                case: ["B07", "single-hop", "hotspot 2 Gb/s", "on", scheme].into(),
                metric: metric.into(),
                value: text.parse().unwrap(),
                text: text.into(),
                unit: "Gb/s".into(),
                note: String::new(),
            },
            measured,
            verdict: verdict.into(),
        };
        let claim =
            |id: &str, origin: &str, holds: &str| [id, "says so", origin, holds, "1 | 2"].map(String::from);
        Measured {
            cells: vec![
                cell("none", "aggregate_throughput", "62.79", 62.744, "agrees"),
                cell("none", "dropped_frames", "0", 0.0, "agrees"),
                cell("ecm", "aggregate_throughput", "80.0", 84.04, "differs"),
                cell("ecm", "hot_port_throughput", "5.0", 5.1, "near"),
            ],
            claims: vec![
                claim("B07.1", "printed", "yes"),
                claim("B07.2", "table", "no"),
                claim("B07.3", "figure", "yes"),
            ],
        }
    }

    #[test]
    fn blocks_by_hand() {
        let m = made_up();
        let block = |kind: &str| m.block(kind).unwrap();
        assert_eq!(
            (block("agree B07"), block("agree"), block("agree M08")),
            ("1 of 3".into(), "1 of 3".into(), "0 of 0".into())
        );
        assert_eq!((block("zeros B07"), block("claims-hold")), ("1 of 1".into(), "1 of 2".into()));
        assert_eq!(
            (block("within 2"), block("within 5"), block("within 6 B07")),
            ("2 of 3".into(), "2 of 3".into(), "3 of 3".into())
        );
        assert_eq!(
            block("cells B07/single-hop; on; aggregate_throughput, hot_port_throughput"),
            "| condition | scheme | aggregate throughput, Gb/s | hot port throughput, Gb/s |\n|---|---|---|---|\n\
             | hotspot 2 Gb/s | none | 62.79 / 62.74 |  |\n| hotspot 2 Gb/s | ecm | 80.0 / **84.0** | 5.0 / 5.1 (near) |"
        );
        assert!(block("scores B07").ends_with("| all | 1 | 1 | 1 | 0 | 3 |"), "{}", block("scores B07"));
        assert!(
            block("claims B07").contains("| B07.2 says so | **no** | 1 / 2 |"),
            "{}",
            block("claims B07")
        );
        for wrong in ["cells B07/none; on; overhead", "cells x", "within x", "sum"] {
            assert!(m.block(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_figure_that_differs_is_found() {
        let m = made_up();
        let good = "so <!-- measured: agree B07 -->1 of 3<!-- end --> agree";
        assert_eq!(m.fill("x", good).unwrap(), good);
        assert_ne!(m.fill("x", &good.replace("1 of 3", "2 of 3")).unwrap(), good.replace("1 of 3", "2 of 3"));
        assert!(m.fill("x", &good.replace(END, "")).is_err());
    }
}
