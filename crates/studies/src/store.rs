//! Finished runs on disk: `DIR/runs/`, one file a run, found by a hash of configuration, seed and result version. What
//! is there need not be run again; what is broken is reported and run again.

use crate::measure::PortFacts;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bumped whenever the same configuration gives other results.
pub const RESULT_VERSION: u32 = 6;

/// A time series of a run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Curve {
    /// Unit of the values.
    pub unit: String,
    /// Width of a bin, seconds.
    pub bin: f64,
    /// Values.
    pub values: Vec<f64>,
}

/// A finished run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct RunRecord {
    /// Study.
    pub study: String,
    /// Scenario.
    pub scenario: String,
    /// Condition.
    pub condition: String,
    /// PAUSE.
    pub pause: String,
    /// Scheme.
    pub scheme: String,
    /// Seed.
    pub seed: u64,
    /// Hashes over events, frames and samples, hexadecimal.
    pub fingerprint: BTreeMap<String, String>,
    /// All that determines the run but the seed.
    pub config: Value,
    /// Metric -> value.
    pub metrics: BTreeMap<String, f64>,
    /// Scheme's own counters.
    pub counters: BTreeMap<String, u64>,
    /// What was measured at the named ports.
    pub ports: BTreeMap<String, PortFacts>,
    /// Series by name.
    pub series: BTreeMap<String, Curve>,
    /// Data and control frames that finished a link.
    pub packet_hops: u64,
}

impl RunRecord {
    /// Study, scenario, condition, PAUSE and scheme: what runs have in common that differ by the seed.
    pub fn case(&self) -> (&str, &str, &str, &str, &str) {
        (&self.study, &self.scenario, &self.condition, &self.pause, &self.scheme)
    }
}

/// The store of one output folder.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Opens (and makes) the store under an output folder.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(out: &Path) -> io::Result<Self> {
        let dir = out.join("runs");
        fs::create_dir_all(&dir)?;
        Ok(Self { dir })
    }

    /// The key of a run.
    pub fn key(config: &Value, seed: u64) -> String {
        let mut hash = Sha256::new();
        hash.update(config.to_string().as_bytes());
        hash.update(format!("|{seed}|{RESULT_VERSION}").as_bytes());
        hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// Is a run of this key kept? It may still turn out to be broken.
    pub fn has(&self, key: &str) -> bool {
        self.path(key).is_file()
    }

    /// A finished run; `Err` describes a file that is there but broken.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn get(&self, key: &str) -> Result<Option<RunRecord>, String> {
        let path = self.path(key);
        match fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(format!("{}: {e}; it is run again", path.display())),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|e| format!("{}: {e}; it is run again", path.display())),
        }
    }

    /// Keeps a finished run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, key: &str, record: &RunRecord) -> io::Result<()> {
        let lock = fs::File::create(self.dir.join("lock"))?;
        lock.lock()?;
        let text = serde_json::to_vec(record).map_err(io::Error::other)?;
        write_atomically(&self.path(key), &text)
    }
}

/// Writes a whole file or none of it: temporary file, sync, rename.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = dir.join(format!(".{name}.{}.{:?}.tmp", std::process::id(), std::thread::current().id()));
    let mut file = fs::File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
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
            fingerprint: BTreeMap::new(),
            config: serde_json::json!({"a": 1}),
            metrics: BTreeMap::from([("overhead".to_string(), 100.000_999_999_999_99)]),
            counters: BTreeMap::new(),
            ports: BTreeMap::new(),
            series: BTreeMap::new(),
            packet_hops: 5,
        }
    }

    #[test]
    fn keeps_finds_and_reports() {
        let dir = std::env::temp_dir().join(format!("cnsim-store-{}", std::process::id()));
        let store = Store::open(&dir).unwrap();
        let key = Store::key(&record(1).config, 1);
        assert_ne!(key, Store::key(&record(1).config, 2));
        assert_eq!(store.get(&key), Ok(None));
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| store.put(&key, &record(1)).unwrap());
            }
        });
        assert_eq!(store.get(&key).unwrap().unwrap(), record(1), "floats survive to the bit");
        fs::write(store.path(&key), b"{").unwrap();
        assert!(store.get(&key).unwrap_err().contains("run again"));
        fs::remove_dir_all(&dir).unwrap();
    }
}
