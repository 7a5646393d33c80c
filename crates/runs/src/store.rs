//! Finished runs on disk: `DIR/runs/`, one file a run, found by a hash of configuration, seed and version. A stored run
//! is not repeated. A damaged record is reported, and its run is repeated.

use crate::files::read_start;
use crate::place::{Kind, MARK, Place, PlaceError, is_file, lock_in, write_in};
use crate::record::RunRecord;
use cnsim_scenario::config::Config;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Bumped whenever the same configuration gives other results.
pub const RESULT_VERSION: u32 = 10;

/// Key of a run: all that determines its record. Names do not count: equal settings under two names are one run.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The effective configuration.
    pub config: &'a Config,
    /// Hash of the program's code, if the scheme belongs to the program.
    pub code: &'a str,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// Are the series of every queue and host kept?
    pub all_series: bool,
}

impl<'a> Asked<'a> {
    /// Key of a finished run.
    pub fn of(record: &'a RunRecord) -> Self {
        let RunRecord { config, seed, execution, .. } = record;
        Self { config, code: &execution.code, seed: *seed, all_series: execution.all_series }
    }

    /// The key of the run: a hash over all of that, and over the code and the versions of cnsim.
    pub fn key(&self) -> String {
        let Self { config, code, seed, all_series } = self;
        let own = crate::code::CNSIM;
        let mut hash = Hash::of(&config.essence());
        hash.text.update(format!("|{seed}|{all_series}|{code}|{own}|{RESULT_VERSION}|{STORE_FORMAT}"));
        hexadecimal(&hash.text.finalize())[..KEY].to_string()
    }

    /// Do two addresses mean one run?
    fn is(&self, other: &Self) -> bool {
        (self.seed, self.all_series, self.code) == (other.seed, other.all_series, other.code)
            && self.config.essence() == other.config.essence()
    }
}

/// Bumped whenever the form of a kept file changes.
pub const STORE_FORMAT: u32 = 8;

/// A hash as one writes to a file, and how many bytes were written.
#[derive(Default)]
struct Hash {
    text: Sha256,
    bytes: u64,
}

impl Hash {
    /// The hash of a value's JSON, which is never held as a text: it may be too long.
    fn of(value: &impl serde::Serialize) -> Self {
        let mut hash = Self::default();
        // It cannot fail: a hash takes all bytes.
        let _ = serde_json::to_writer(&mut hash, value);
        hash
    }
}

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// SHA-256 of a value's JSON in hexadecimal.
pub(crate) fn sha256_of(value: &impl serde::Serialize) -> String {
    hexadecimal(&Hash::of(value).text.finalize())
}

/// SHA-256 of these bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The store of one output folder. A kept file is one JSON object: checksum of the run's text, key, form, version, length, run. It is
/// accepted only if every byte before the run is as this program would write it, and the run is the requested one.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Opens (and makes) the store under an output folder.
    ///
    /// # Errors
    /// A folder that cannot be made or written, or that others' files stand in ([`Place::open`]).
    pub fn open(out: &Path, force: bool) -> Result<Self, PlaceError> {
        let dir = out.join("runs");
        Place::open(&dir, &RUNS, force)?;
        Ok(Self { dir })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// Is something kept for this run? It may still turn out to be damaged.
    pub fn has(&self, asked: &Asked<'_>) -> bool {
        is_file(&self.path(&asked.key()))
    }

    /// The obstacle in the place of this run: a pipe, a link, a folder.
    pub fn blocked(&self, asked: &Asked<'_>) -> Option<String> {
        let path = self.path(&asked.key());
        let there = fs::symlink_metadata(&path).ok().filter(|there| !there.is_file());
        there.map(|_| format!("{}: is no file of cnsim's; the run is not kept", path.display()))
    }

    /// Number of kept files that another version of the program has written: they are never used.
    pub fn strangers(&self) -> usize {
        let mine = format!("{}\"bytes\":", versions());
        let strange = |path: &Path| !start(path).is_some_and(|s| s.contains(&mine));
        entries(&self.dir).filter(|p| named_by_key(p) && is_file(p) && strange(p)).count()
    }

    /// Removes the kept runs under an output folder, of this and other versions; `dry` only counts them. Files without the mark of a
    /// kept run stay.
    ///
    /// # Errors
    /// A folder that is not cnsim's, or a file that cannot be removed.
    pub fn clean(out: &Path, dry: bool) -> Result<Cleaned, PlaceError> {
        let dir = out.join("runs");
        let mut cleaned = Cleaned::default();
        if !dir.is_dir() {
            return Ok(cleaned);
        }
        Place::check(&dir, &RUNS, false)?;
        let _lock =
            if dry || !Place::is_marked(&dir) { None } else { Some(Place::open(&dir, &RUNS, false)?) };
        for path in entries(&dir) {
            let key = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let says = format!("\"key\":\"{key}\"");
            let ours = named_by_key(&path)
                && start(&path).is_some_and(|s| s.starts_with(FIRST) && s.contains(&says));
            let io = |e| PlaceError::Io(path.clone(), e);
            if ours {
                cleaned.files += 1;
                cleaned.bytes += path.metadata().map_err(io)?.len();
                if !dry {
                    fs::remove_file(&path).map_err(io)?;
                }
            } else if path.file_name().is_none_or(|n| n != MARK) {
                cleaned.left += 1;
            }
        }
        Ok(cleaned)
    }

    /// The finished run that is asked for. `Err` describes a file that is there and does not hold it; running
    /// again and keeping that run mends it.
    ///
    /// # Errors
    /// The fault in the file.
    pub fn get(&self, asked: &Asked<'_>) -> Result<Option<RunRecord>, String> {
        let key = asked.key();
        let path = self.path(&key);
        let damaged = |what: &str| format!("{}: {what}; it is run again", path.display());
        if fs::symlink_metadata(&path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let not_ours = || damaged("not a run that cnsim has kept");
        let head = start(&path).ok_or_else(not_ours)?;
        let (before, _) = head.split_once(RUN).ok_or_else(not_ours)?;
        let word = |name: &str| before.split_once(name).map_or("", |(_, rest)| rest);
        let checksum = word(FIRST).split('"').next().unwrap_or_default();
        let bytes: u64 = word("\"bytes\":").parse().map_err(|_| not_ours())?;
        let first = self::head(checksum, &key, bytes);
        if format!("{before}{RUN}") != first {
            return Err(damaged("key or version do not fit its contents"));
        }
        let io = |e: io::Error| damaged(&e.to_string());
        let mut file = fs::File::open(&path).map_err(io)?;
        let whole = first.len() as u64 + bytes + END.len() as u64;
        if file.metadata().map_err(io)?.len() != whole {
            return Err(damaged("it is cut short, or longer than it was"));
        }
        // Looked at in pieces first: what is damaged never fills the memory.
        let (mut hash, mut piece, mut left) = (Sha256::new(), vec![0; 1 << 16], bytes as usize);
        file.seek(SeekFrom::Start(first.len() as u64)).map_err(io)?;
        while left > 0 {
            let part = left.min(piece.len());
            file.read_exact(&mut piece[..part]).map_err(io)?;
            hash.update(&piece[..part]);
            left -= part;
        }
        let mut end = Vec::new();
        file.read_to_end(&mut end).map_err(io)?;
        if hexadecimal(&hash.finalize()) != checksum || end != END.as_bytes() {
            return Err(damaged("the checksum does not fit its contents"));
        }
        file.seek(SeekFrom::Start(first.len() as u64)).map_err(io)?;
        let mut run = String::new();
        file.take(bytes).read_to_string(&mut run).map_err(io)?;
        let record: RunRecord = serde_json::from_str(&run).map_err(|e| damaged(&e.to_string()))?;
        if !Asked::of(&record).is(asked) {
            return Err(damaged("it holds another run"));
        }
        Ok(Some(record))
    }

    /// Keeps a finished run.
    ///
    /// # Errors
    /// Path and reason, when it cannot be written.
    pub fn put(&self, record: &RunRecord) -> Result<(), String> {
        let key = Asked::of(record).key();
        let path = self.path(&key);
        let write = || {
            let _lock = lock_in(&self.dir)?;
            if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
                return Err(io::Error::other("stands there and is no file: it is not cnsim's"));
            }
            let hash = Hash::of(record);
            let mut all = head(&hexadecimal(&hash.text.finalize()), &key, hash.bytes).into_bytes();
            all.reserve_exact(hash.bytes as usize + END.len());
            serde_json::to_writer(&mut all, record).map_err(io::Error::other)?;
            all.extend_from_slice(END.as_bytes());
            write_in(&self.dir, &path, &all)
        };
        write().map_err(|e| {
            format!("{}: {e}; make room there, or choose another place with --out", path.display())
        })
    }
}

/// Runs that were removed from a store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cleaned {
    /// Finished runs.
    pub files: u64,
    /// Size of the finished runs, bytes.
    pub bytes: u64,
    /// Entries of others, which stay.
    pub left: u64,
}

/// The folder of kept runs.
const RUNS: Kind = Kind {
    writes: |name| named_by_key(Path::new(name)),
    earlier: |dir, names| {
        let ours = |n: &String| start(&dir.join(n)).is_some_and(|s| s.starts_with(FIRST));
        names.iter().all(ours).then(Vec::new)
    },
    named: false,
};

/// Is this the name of a kept run: a key, and `.json`?
fn named_by_key(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    path.extension().is_some_and(|e| e == "json") && stem.len() == KEY && stem.bytes().all(hexadecimal)
}

/// Entries of a folder.
fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path())
}

/// The first bytes of a regular file; none of others.
fn start(path: &Path) -> Option<String> {
    read_start(path, 256)
}

/// Characters of a key.
const KEY: usize = 32;
/// The first bytes of a kept file.
const FIRST: &str = "{\"checksum\":\"";
/// The last bytes of a kept file.
const END: &str = "}\n";
/// Separator between the head of a record and the run.
const RUN: &str = ",\"run\":";

/// The versions, as a kept file names them.
fn versions() -> String {
    format!("\"store\":{STORE_FORMAT},\"version\":{RESULT_VERSION},")
}

/// The beginning of a kept file, whose run has so many bytes.
fn head(checksum: &str, key: &str, bytes: u64) -> String {
    format!("{FIRST}{checksum}\",\"key\":\"{key}\",{}\"bytes\":{bytes}{RUN}", versions())
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
    use crate::record::Execution;

    fn record(seed: u64) -> RunRecord {
        RunRecord {
            case: ["B07", "s", "c", "on", "none"].into(),
            seed,
            config: serde_json::json!({"a": "1", "study": "B07"}).into(),
            metrics: [("overhead", 100.000_999_999_999_99)].into(),
            execution: Execution { packet_hops: 5, ..Execution::default() },
            ..RunRecord::default()
        }
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("cnsim-store-{name}-{}", std::process::id()))
    }

    #[test]
    fn keeps_and_finds() {
        let dir = folder("finds");
        let store = Store::open(&dir, false).unwrap();
        let one = record(1);
        let other = |change: &dyn Fn(&mut RunRecord)| {
            let mut other = record(1);
            change(&mut other);
            Asked::of(&other).key()
        };
        assert_ne!(other(&|r| r.seed = 2), Asked::of(&one).key());
        assert_ne!(other(&|r| r.execution.code = "ab".into()), Asked::of(&one).key(), "edited");
        assert_ne!(other(&|r| r.execution.all_series = true), Asked::of(&one).key(), "more of it is kept");
        assert_eq!(
            other(&|r| std::sync::Arc::make_mut(&mut r.config.0)["study"] = "M08".into()),
            Asked::of(&one).key()
        );
        assert_eq!(store.get(&Asked::of(&one)), Ok(None));
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| store.put(&record(1)).unwrap());
            }
        });
        assert_eq!(store.get(&Asked::of(&one)).unwrap().unwrap(), record(1), "floats survive to the bit");
        assert_eq!(store.strangers(), 0);
        fs::write(dir.join("runs/0123.json"), "{\"study\":\"B07\"}").unwrap();
        assert_eq!(store.strangers(), 0, "no kept run has such a name");
        fs::write(dir.join("runs/0123456789abcdef0123456789abcdef.json"), "{\"study\":\"B07\"}").unwrap();
        assert_eq!(store.strangers(), 1);
        fs::write(dir.join("runs/.cnsim/1.x.tmp"), "half").unwrap();
        Store::open(&dir, false).unwrap();
        assert!(!dir.join("runs/.cnsim/1.x.tmp").exists(), "left by one that was killed");
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Every bit of a kept file counts, and so do its name and its length.
    #[test]
    fn no_damage_goes_unnoticed() {
        let dir = folder("damage");
        let store = Store::open(&dir, false).unwrap();
        store.put(&record(1)).unwrap();
        store.put(&record(2)).unwrap();
        let one = record(1);
        let (path, other) = (store.path(&Asked::of(&one).key()), store.path(&Asked::of(&record(2)).key()));
        let good = fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            store.get(&Asked::of(&one)).is_err_and(|said| said.contains("run again"))
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
        let key = Asked::of(&one).key();
        assert!(refused(
            format!("{}{forged}}}\n", head(&sha256(forged.as_bytes()), &key, forged.len() as u64)).as_bytes()
        ));
        store.put(&record(1)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), good, "keeping it again mends it");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(
            store.get(&Asked::of(&one)).is_err() && !store.has(&Asked::of(&one)),
            "a folder in its place"
        );
        assert!(store.put(&record(1)).unwrap_err().contains("is no file"));
        fs::remove_dir_all(&dir).unwrap();
    }
}
