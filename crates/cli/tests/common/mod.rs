//! What the tests of the command line share: the program as a user starts it, and a folder that goes away again.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program, without colour.
pub(crate) fn cnsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cnsim")).args(args).env("NO_COLOR", "1").output().unwrap()
}

/// All that it said.
pub(crate) fn text(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned() + &String::from_utf8_lossy(&o.stderr)
}

/// Names the test as skipped where `make test` looks; under `CNSIM_STRICT=1` that is a failure.
pub(crate) fn skip(name: &str, needs: &str) {
    assert!(std::env::var("CNSIM_STRICT").as_deref() != Ok("1"), "{name} needs {needs}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t));
    let list = std::fs::OpenOptions::new().create(true).append(true).open(target.join("skipped.txt"));
    let _ = list.and_then(|mut f| writeln!(f, "SKIPPED: {name} (needs {needs})"));
}

/// A folder of a test's own.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        // Each file of tests is a process of its own.
        let path = std::env::temp_dir().join(format!("cnsim-test-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.file(name)
    }

    /// Number of runs in the store of its folder `out`.
    pub(crate) fn runs(&self) -> usize {
        let all = std::fs::read_dir(self.0.join("out/runs")).unwrap();
        all.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "json")).count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A small scenario, fast to run.
pub(crate) const SMALL: &str = r#"study = "mine"
name = "small"
condition = "hotspot {hotspot.rate}"
[topology]
hosts = 4
[hotspot]
host = "H1"
rate = "1 Gb/s"
start = "1 ms"
stop = "4 ms"
[run]
duration = "6 ms"
[record]
bin = "0.1 ms"
[matrix]
"hotspot.rate" = ["1 Gb/s", "0.5 Gb/s"]
pause = ["on", "off"]
schemes = ["none", "ecm"]
"#;

/// Sixty short runs.
pub(crate) const MANY: &str = r#"study = "mine"
name = "many"
condition = "hotspot {hotspot.rate}"
[topology]
hosts = 8
[hotspot]
host = "H1"
start = "0.2 ms"
stop = "1.5 ms"
[run]
duration = "2 ms"
seeds = 10
[record]
bin = "0.1 ms"
[matrix]
"hotspot.rate" = ["1 Gb/s", "0.5 Gb/s", "2 Gb/s"]
pause = ["off"]
schemes = ["none", "ecm"]
"#;

/// Kept runs of a folder.
pub(crate) fn stored(out: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(out.join("runs")).into_iter().flatten().flatten().map(|f| f.path());
    let mut all: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    all.sort();
    all
}

/// Every file under a folder.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() { all.extend(files(&entry.path())) } else { all.push(entry.path()) }
    }
    all
}
