//! Finished runs on disk: `DIR/runs/`, one file a run, found by a hash of configuration, seed and version. What is there
//! need not be run again; what is damaged is reported and run again.

use crate::flows::fct::{FlowTime, SizeGroup, Unfinished};
use crate::frozen::Frozen;
use crate::measure::PortFacts;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Keys that name a run and change nothing of it.
pub const LABELS: [&str; 3] = ["study", "name", "condition"];

/// Bumped whenever the same configuration gives other results.
pub const RESULT_VERSION: u32 = 8;

/// A time series of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Curve {
    /// Unit of the values.
    pub unit: String,
    /// Width of a bin, seconds.
    pub bin: f64,
    /// The values, one for each bin.
    pub values: Vec<f64>,
    /// Of a queue: its largest length in each bin, however short it was. Empty for other series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<f64>,
}

impl Curve {
    /// The largest value that is known: of a queue its peak, which no bin hides.
    pub fn top(&self) -> f64 {
        self.upper().iter().copied().fold(0.0, f64::max)
    }

    /// The largest value in each bin that is known: the peaks of a queue, the values of another series.
    pub fn upper(&self) -> &[f64] {
        if self.peaks.len() == self.values.len() { &self.peaks } else { &self.values }
    }
}

/// A finished run: what it was and what was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct RunRecord {
    /// Study that the run belongs to.
    pub study: String,
    /// Name of the scenario within its study.
    pub scenario: String,
    /// Condition of the run, as its scenario's template writes it.
    pub condition: String,
    /// PAUSE mode of the run: `on`, `off` or `global`.
    pub pause: String,
    /// Registered name of the scheme.
    pub scheme: String,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// Hashes over events, frames and samples, hexadecimal.
    pub fingerprint: BTreeMap<String, String>,
    /// All that determines the run but the seed and the code.
    pub config: Value,
    /// Hash of the program's code where the scheme is part of it and not of cnsim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The series of every queue and host were kept, not only the key ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_series: bool,
    /// The measured values by their metrics' ids.
    pub metrics: BTreeMap<String, f64>,
    /// What the scheme counted, by the names of its counters.
    pub counters: BTreeMap<String, u64>,
    /// What was measured at the named ports.
    pub ports: BTreeMap<String, PortFacts>,
    /// The recorded series by their names.
    pub series: BTreeMap<String, Curve>,
    /// Data and control frames that finished a link.
    pub packet_hops: u64,
    /// Only where the network stood still at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Frozen>,
    /// Names of its hosts, where the times of its flows are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Times of its finite flows, where they are kept (record.flow_times).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowTime>,
    /// Slowdowns of its finite flows by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<SizeGroup>,
    /// The first finite flows that were not received whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
}

impl RunRecord {
    /// Study, scenario, condition, PAUSE and scheme: what runs have in common that differ by the seed.
    pub fn case(&self) -> (&str, &str, &str, &str, &str) {
        (&self.study, &self.scenario, &self.condition, &self.pause, &self.scheme)
    }

    /// What the run is known by in a store.
    pub fn asked(&self) -> Asked<'_> {
        let Self { config, code, seed, all_series, .. } = self;
        Asked { config, code, seed: *seed, all_series: *all_series }
    }
}

/// What a run is known by: all that determines what is kept of it. Names do not count: the same settings under two names are
/// one run.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The effective configuration.
    pub config: &'a Value,
    /// Hash of the program's code where the scheme is part of it; cnsim's own is known.
    pub code: &'a str,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// Are the series of every queue and host kept?
    pub all_series: bool,
}

impl Asked<'_> {
    /// The key of the run: a hash over all of that, and over the code and the versions of cnsim.
    pub fn key(&self) -> String {
        let Self { config, code, seed, all_series } = self;
        let own = crate::code::CNSIM;
        let text =
            format!("{}|{seed}|{all_series}|{code}|{own}|{RESULT_VERSION}|{STORE_FORMAT}", essence(config));
        sha256(text.as_bytes())[..32].to_string()
    }

    /// Do both mean the same run?
    fn is(&self, other: &Self) -> bool {
        (self.seed, self.all_series, self.code) == (other.seed, other.all_series, other.code)
            && essence(self.config) == essence(other.config)
    }
}

/// Bumped whenever the form of a kept file changes.
pub const STORE_FORMAT: u32 = 2;

/// SHA-256 of these bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// What of a configuration determines the run: all but the labels.
fn essence(config: &Value) -> Value {
    let mut config = config.clone();
    if let Some(all) = config.as_object_mut() {
        LABELS.iter().for_each(|label| drop(all.remove(*label)));
    }
    config
}

/// The store of one output folder. A kept file is one JSON object: checksum of the run's text, key, form, version, run. It is
/// believed only if every byte before the run is what this program would write for this run, and the run is what was asked for.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Opens (and makes) the store under an output folder, and removes what writers left that were killed.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn open(out: &Path) -> io::Result<Self> {
        let dir = out.join("runs");
        fs::create_dir_all(&dir)?;
        let store = Self { dir };
        let _lock = store.lock()?;
        sweep(&store.dir)?;
        Ok(store)
    }

    /// Writers wait for each other, across processes.
    fn lock(&self) -> io::Result<fs::File> {
        let lock = fs::File::create(self.dir.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// Is something kept for this run? It may still turn out to be damaged.
    pub fn has(&self, asked: &Asked<'_>) -> bool {
        self.path(&asked.key()).exists()
    }

    /// Number of kept files that another version of the program has written: they are never used.
    pub fn strangers(&self) -> usize {
        let mine = head("", "");
        let tail = mine.rsplit_once("\"key\":\"\"").map_or("", |(_, t)| t);
        let strange = |path: &Path| {
            let mut start = [0; 256];
            let read = fs::File::open(path).and_then(|mut f| f.read(&mut start)).unwrap_or(0);
            !String::from_utf8_lossy(&start[..read]).contains(tail)
        };
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|e| e.path());
        files.filter(|p| p.extension().is_some_and(|e| e == "json") && p.is_file() && strange(p)).count()
    }

    /// The finished run that is asked for. `Err` describes a file that is there and does not hold it; running
    /// again and keeping that run mends it.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn get(&self, asked: &Asked<'_>) -> Result<Option<RunRecord>, String> {
        let key = asked.key();
        let path = self.path(&key);
        let damaged = |what: &str| format!("{}: {what}; it is run again", path.display());
        let bytes = match fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(damaged(&e.to_string())),
            Ok(bytes) => bytes,
        };
        let not_ours = || damaged("not a run that cnsim has kept");
        let text = std::str::from_utf8(&bytes).map_err(|_| not_ours())?;
        let (start, run) = text.split_once(RUN).ok_or_else(not_ours)?;
        let run = run.strip_suffix("}\n").ok_or_else(|| damaged("it is cut short"))?;
        if format!("{start}{RUN}") != head(&sha256(run.as_bytes()), &key) {
            return Err(damaged("checksum, key or version do not fit its contents"));
        }
        let record: RunRecord = serde_json::from_str(run).map_err(|e| damaged(&e.to_string()))?;
        if !record.asked().is(asked) {
            return Err(damaged("it holds another run"));
        }
        Ok(Some(record))
    }

    /// Keeps a finished run.
    ///
    /// # Errors
    /// Path and reason, when it cannot be written.
    pub fn put(&self, record: &RunRecord) -> Result<(), String> {
        let key = record.asked().key();
        let path = self.path(&key);
        let write = || {
            let _lock = self.lock()?;
            let run = serde_json::to_string(record).map_err(io::Error::other)?;
            // What stands in the place of the file may be anything, a folder too.
            if path.is_dir() {
                fs::remove_dir_all(&path)?;
            }
            write_atomically(&path, format!("{}{run}}}\n", head(&sha256(run.as_bytes()), &key)).as_bytes())
        };
        write().map_err(|e| {
            format!("{}: {e}; make room there, or choose another place with --out", path.display())
        })
    }
}

/// Between what is said of a run and the run itself.
const RUN: &str = ",\"run\":";

/// The beginning of a kept file.
fn head(checksum: &str, key: &str) -> String {
    format!(
        "{{\"checksum\":\"{checksum}\",\"key\":\"{key}\",\"store\":{STORE_FORMAT},\"version\":{RESULT_VERSION}{RUN}"
    )
}

/// Removes the temporary files of writers that were killed. Only for whoever holds the folder's lock.
///
/// # Errors
/// When the folder cannot be read, or a file not be removed.
pub fn sweep(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') && name.ends_with(TEMPORARY) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// How the names of our temporary files end.
const TEMPORARY: &str = ".cnsim.tmp";

/// Writes a whole file or none of it: temporary file, sync, rename.
///
/// # Errors
/// When it cannot be written; nothing is left behind then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let temporary = dir.join(format!(".{}.{:?}{TEMPORARY}", std::process::id(), std::thread::current().id()));
    let write = || {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// One hash over all runs' fingerprints.
pub fn fingerprint(records: &[RunRecord]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in records.iter().flat_map(|r| r.fingerprint.values()).flat_map(|h| h.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seed: u64) -> RunRecord {
        RunRecord {
            study: "B07".into(),
            scenario: "s".into(),
            condition: "c".into(),
            pause: "on".into(),
            scheme: "none".into(),
            seed,
            config: serde_json::json!({"a": "1", "study": "B07"}),
            metrics: BTreeMap::from([("overhead".to_string(), 100.000_999_999_999_99)]),
            packet_hops: 5,
            ..RunRecord::default()
        }
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("cnsim-store-{name}-{}", std::process::id()))
    }

    #[test]
    fn keeps_and_finds() {
        let dir = folder("finds");
        let store = Store::open(&dir).unwrap();
        let one = record(1);
        let other = |change: &dyn Fn(&mut RunRecord)| {
            let mut other = record(1);
            change(&mut other);
            other.asked().key()
        };
        assert_ne!(other(&|r| r.seed = 2), one.asked().key());
        assert_ne!(other(&|r| r.code = "ab".into()), one.asked().key(), "edited");
        assert_ne!(other(&|r| r.all_series = true), one.asked().key(), "more of it is kept");
        assert_eq!(other(&|r| r.config["study"] = "M08".into()), one.asked().key());
        assert_eq!(store.get(&one.asked()), Ok(None));
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| store.put(&record(1)).unwrap());
            }
        });
        assert_eq!(store.get(&one.asked()).unwrap().unwrap(), record(1), "floats survive to the bit");
        assert_eq!(store.strangers(), 0);
        fs::write(dir.join("runs/0123.json"), "{\"study\":\"B07\"}").unwrap();
        assert_eq!(store.strangers(), 1);
        fs::write(dir.join("runs/.1.x.cnsim.tmp"), "half").unwrap();
        Store::open(&dir).unwrap();
        assert!(!dir.join("runs/.1.x.cnsim.tmp").exists(), "left by one that was killed");
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Every bit of a kept file counts, and so do its name and its length.
    #[test]
    fn no_damage_goes_unnoticed() {
        let dir = folder("damage");
        let store = Store::open(&dir).unwrap();
        store.put(&record(1)).unwrap();
        store.put(&record(2)).unwrap();
        let one = record(1);
        let (path, other) = (store.path(&one.asked().key()), store.path(&record(2).asked().key()));
        let good = fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            store.get(&one.asked()).is_err_and(|said| said.contains("run again"))
        };
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(refused(&bad), "bit {bit}");
        }
        for length in 0..good.len() {
            assert!(refused(&good[..length]), "{length} bytes");
        }
        assert!(refused(&[&good[..], b" "].concat()), "longer");
        assert!(refused(&fs::read(&other).unwrap()), "another run under this name");
        // Whoever knows the form and forges a checksum still has to hold the run that was asked for.
        let forged = serde_json::to_string(&record(2)).unwrap();
        let key = one.asked().key();
        assert!(refused(format!("{}{forged}}}\n", head(&sha256(forged.as_bytes()), &key)).as_bytes()));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(store.get(&one.asked()).is_err(), "a folder in its place");
        store.put(&record(1)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), good, "keeping it again mends it");
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let dir = folder("nothing");
        fs::create_dir_all(dir.join("target")).unwrap();
        assert!(write_atomically(&dir.join("target"), b"x").is_err(), "a folder is in its place");
        let left: Vec<_> = fs::read_dir(&dir).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, ["target"]);
        fs::remove_dir_all(&dir).unwrap();
    }
}
