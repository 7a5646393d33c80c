//! Hashes the sources on which a run's results rest into `CNSIM_CODE`. So two builds of one version number differ.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates that take part in every run.
const CRATES: [&str; 9] =
    ["units", "problem", "import", "scheme-api", "schemes", "fabric", "scenario", "measure", "runs"];

fn main() -> io::Result<()> {
    let here = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("cargo names no folder"))?;
    let mut hash = DefaultHasher::new();
    // The native module of the Python package runs schemes of its own kind.
    let python = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "cnsim-python");
    for name in CRATES.into_iter().chain(python.then_some("python")) {
        let sources = Path::new(&here).join("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        add(&sources, &mut hash)?;
    }
    println!("cargo::rustc-env=CNSIM_CODE={:016x}", hash.finish());
    Ok(())
}

/// Names and contents of all files under a folder, in the order of their names.
fn add(folder: &Path, hash: &mut DefaultHasher) -> io::Result<()> {
    let mut all = fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    all.sort();
    for path in all {
        if path.is_dir() {
            add(&path, hash)?;
            continue;
        }
        for part in [path.file_name().unwrap_or_default().as_encoded_bytes(), &fs::read(&path)?] {
            hash.write_usize(part.len());
            hash.write(part);
        }
    }
    Ok(())
}
