//! `results.json`: results of runs, with all that is needed to repeat them. The same types write and read it.

use crate::files::{LARGEST, table};
use crate::record::{Curve, RunRecord};
use crate::store::{RESULT_VERSION, sha256, sha256_of};
use cnsim_measure::quantity::digits;
use cnsim_problem::read_file;
use cnsim_scenario::case::CaseId;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Form of the file.
pub const SCHEMA: u32 = 1;

/// A whole `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Form of the file: [`SCHEMA`].
    pub schema: u32,
    /// Version of the program.
    pub version: String,
    /// Version of the results. It changes if equal configurations give other results.
    pub result_version: u32,
    /// Processor and operating system of the program that wrote the file.
    pub target: String,
    /// The command that made the runs, such as `reproduce quick`.
    pub command: String,
    /// Present only if the command was interrupted: the part that is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// The runs, in the order in which they were asked for.
    pub runs: Vec<RunRecord>,
    /// Over everything else in the file: shows whether it was changed after it was written.
    pub checksum: String,
}

/// The mark that tells a file of this form from others.
#[derive(Deserialize)]
struct Form {
    schema: Option<u32>,
}

/// How much of a command is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// Number of runs that were finished.
    pub finished: usize,
    /// Runs that were asked for.
    pub of: usize,
}

impl Partial {
    /// `20 of 160 runs are finished`.
    pub fn text(self) -> String {
        format!("partial: {} of {} runs are finished", self.finished, self.of)
    }
}

impl Results {
    /// The results of a command.
    pub fn new(command: &str, partial: Option<Partial>, runs: Vec<RunRecord>) -> Self {
        let mut all = Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            result_version: RESULT_VERSION,
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            command: command.into(),
            partial,
            runs,
            checksum: String::new(),
        };
        all.checksum = all.sum();
        all
    }

    /// The checksum that belongs to its contents.
    pub fn sum(&self) -> String {
        let mut rest = serde_json::to_value(self).unwrap_or_default();
        rest.as_object_mut().map(|o| o.remove("checksum"));
        sha256_of(&rest)
    }

    /// The file as text.
    ///
    /// # Errors
    /// None that is known.
    pub fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Path, place, reason and remedy, for all that is no results.json of this version of the form.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |what: String| {
            let help = "give a results.json that this version of cnsim has written";
            format!("{}: {what}\n  help: {help}", path.display())
        };
        let text = read_file(path, LARGEST).map_err(|e| wrong(e.reason))?;
        // The form alone, as all of a large file need not be held twice.
        match serde_json::from_str::<Form>(&text) {
            Ok(form) if form.schema == Some(SCHEMA) => {}
            Err(e) if !e.is_data() => return Err(wrong(format!("not JSON: {e}"))),
            _ => return Err(wrong(format!("not a results.json of schema {SCHEMA}"))),
        }
        serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
    }
}

/// Longest part of a file's name that comes from names, in characters.
const NAME: usize = 120;

/// The file of a run's series, relative to the folder of the results. Every run and series has a file of its own. If a name is cut
/// or changed (only letters, digits and dots stay), a hash at the end keeps it unique.
pub fn series_file(r: &RunRecord, name: &str) -> String {
    let CaseId { study, scenario, condition, pause, scheme } = &r.case;
    let words = [study, scenario, condition, &format!("pause-{pause}"), scheme, &format!("seed{}", r.seed)];
    let readable = words.map(|w| plain(w)).join("-");
    let readable: String = readable.chars().take(NAME).collect();
    let series: String = plain(name).chars().take(NAME / 2).collect();
    format!("series/{readable}-{series}-{}.csv", &sha256_of(&(words, name, &r.config))[..10])
}

/// A name that is a file's name everywhere, and no other place: not one to one by itself.
pub fn plain(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let name: String = text.chars().map(|c| if safe(c) { c } else { '-' }).collect();
    name.trim_start_matches('.').to_string()
}

/// The name of a folder for a text, one to one.
pub fn folder(text: &str) -> String {
    let name: String = plain(text).chars().take(60).collect();
    if name == text && !text.is_empty() { name } else { format!("{name}-{}", &sha256(text.as_bytes())[..10]) }
}

/// The file of a series: time at the end of each bin, and the value in it; of a queue, its largest length in the bin beside.
pub fn series_csv(name: &str, curve: &Curve) -> String {
    let unit = unit_in(&curve.unit);
    let mut header = vec!["time_s".to_string(), format!("{name}{unit}")];
    header.extend((!curve.peaks.is_empty()).then(|| format!("{name}_max{unit}")));
    let row = |(i, v): (usize, &f64)| {
        let peak = curve.peaks.get(i).map(|p| digits(*p));
        [digits((i + 1) as f64 * curve.bin), digits(*v)].into_iter().chain(peak).collect()
    };
    table(&header, &curve.values.iter().enumerate().map(row).collect::<Vec<_>>())
}

/// Reads a file of [`series_csv`]: the name of the series, and its values as written.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_series(path: &Path) -> Result<(String, Curve), String> {
    let help = "take the file as cnsim wrote it, or leave it away";
    let wrong = |line: usize, what: &str| format!("{}:{line}: {what}\n  help: {help}", path.display());
    let text = read_file(path, LARGEST).map_err(|e| format!("{}: {e}\n  help: {help}", path.display()))?;
    let mut lines = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let head = lines.headers().cloned().unwrap_or_default();
    let title = head.get(1).filter(|_| head.get(0) == Some("time_s"));
    let Some(title) = title else { return Err(wrong(1, "no time series")) };
    let unit = ["KB", "Gb/s", "Mb/s", ""].into_iter().find(|u| title.ends_with(&unit_in(u)));
    let name = unit.and_then(|u| title.strip_suffix(&unit_in(u)));
    let (Some(unit), Some(name)) = (unit, name) else { return Err(wrong(1, "no unit that is known")) };
    let mut curve = Curve { unit: unit.into(), ..Curve::default() };
    for (n, line) in lines.records().enumerate() {
        let read =
            |l: csv::StringRecord| l.iter().map(|v| v.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
        match line.ok().and_then(read).as_deref() {
            Some([time, value, rest @ ..]) if rest.len() < 2 => {
                curve.bin = if n == 0 { *time } else { curve.bin };
                curve.values.push(*value);
                curve.peaks.extend(rest);
            }
            _ => return Err(wrong(n + 2, "no line of two or three numbers")),
        }
    }
    Ok((name.into(), curve))
}

/// The unit at the end of a column's name.
fn unit_in(unit: &str) -> String {
    format!("_{}", unit.replace('/', "_per_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(condition: &str) -> RunRecord {
        RunRecord {
            case: ["../../escaped", "/etc", condition, "", ""].into(),
            seed: 1,
            metrics: [("overhead", 0.1 + 0.2)].into(),
            config: serde_json::json!({"a": ["1, 2", "3"]}).into(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn names_are_safe_and_one_to_one() {
        let long = "x".repeat(3000);
        let conditions = ["λ", "μ", "a b", "a-b", "", "..", "/", "\0", &long, &format!("{long}y")];
        let names: Vec<String> = conditions.iter().map(|c| series_file(&record(c), "queue S>H1")).collect();
        for (i, n) in names.iter().enumerate() {
            assert!(!names[..i].contains(n), "{n}");
            let file = n.strip_prefix("series/").unwrap();
            assert!(file.len() < 250 && !file.contains(['/', '\\', '\0']) && !file.starts_with('.'), "{n}");
        }
        assert_ne!(series_file(&record("a"), "queue S>H1"), series_file(&record("a"), "queue S-H1"));
        let folders: Vec<String> = conditions.iter().map(|c| folder(c)).collect();
        assert!(folders.iter().enumerate().all(|(i, f)| !folders[..i].contains(f) && !f.contains('/')));
    }

    #[test]
    fn reads_what_it_writes_and_nothing_else() {
        let dir = std::env::temp_dir().join(format!("cnsim-results-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("results.json");
        let all = Results::new("run x", None, vec![record("c")]);
        let text = all.text().unwrap();
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Results::read(&path)
        };
        let back = read(&text).unwrap();
        assert_eq!((&back, back.sum()), (&all, all.checksum.clone()));
        assert_eq!(back.runs[0].title(), "../../escaped//etc, c, PAUSE , , seed 1");
        for (from, to) in [
            ("\"schema\":1", "\"schema\":3"),
            ("\"seed\":1", "\"seed\":\"x\""),
            ("\"seed\":1", "\"seed\":-1"),
            ("\"seed\":1", "\"seed\":1,\"sed\":1"),
            ("\"runs\":[", "\"more\":1,\"runs\":["),
            ("\"runs\":[", "\"runs\":[[],"),
            ("\"packet_hops\":0,", ""),
        ] {
            assert!(text.contains(from));
            let said = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(said.contains("results.json") && said.contains("help"), "{from} -> {to}: {said}");
        }
        let edited = read(&text.replacen("run x", "run y", 1)).unwrap();
        assert_ne!(edited.sum(), edited.checksum);
        assert!(Results::read(&dir).unwrap_err().contains("folder"));
        assert!(Results::read(&dir.join("no")).unwrap_err().contains("no such file"));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_series_reads_back() {
        let dir = std::env::temp_dir().join(format!("cnsim-series-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("s.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_series(&path)
        };
        let queue = Curve { unit: "KB".into(), bin: 0.5, values: vec![1.0, 3.0], peaks: vec![2.0, 4.5] };
        let text = series_csv("queue S>H1", &queue);
        assert_eq!(text, "time_s,queue S>H1_KB,queue S>H1_max_KB\n0.5,1,2\n1,3,4.5\n");
        assert_eq!(read(&text).unwrap(), ("queue S>H1".to_string(), queue.clone()));
        let rate = Curve { unit: "Gb/s".into(), peaks: Vec::new(), ..queue };
        let text = series_csv("aggregate", &rate);
        assert_eq!(text, "time_s,aggregate_Gb_per_s\n0.5,1\n1,3\n");
        assert_eq!(read(&text).unwrap(), ("aggregate".to_string(), rate));
        for (text, line, what) in [
            ("time,x_KB\n0.5,1\n", 1, "no time series"),
            ("time_s\n0.5\n", 1, "no time series"),
            ("time_s,x\n0.5,1\n", 1, "no unit"),
            ("time_s,x_KB\n0.5,1\n1\n", 3, "two or three numbers"),
            ("time_s,x_KB\n0.5,1,2,3\n", 2, "two or three numbers"),
            ("time_s,x_KB\n0.5,a\n", 2, "two or three numbers"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(&format!("s.csv:{line}: ")) && said.contains(what), "{text}: {said}");
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_folder_keeps_a_plain_name() {
        assert_eq!(folder("single_hop.2"), "single_hop.2");
        assert!(folder("").starts_with('-') && folder("").len() == 11, "{}", folder(""));
        assert!(folder("a/b").starts_with("a-b-"));
        assert_eq!(plain("..hidden"), "hidden");
    }
}
