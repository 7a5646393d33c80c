//! The code that runs: a part of a run's address, so that the results of one code are never taken for those of another.
//!
//! cnsim's own part is known when it is compiled. A scheme of another crate is code of the program that it is compiled into:
//! the bytes of that program stand for it. They change with every edit that changes the code, whatever file it is in.

use cnsim_scenario::Ready;
use cnsim_scheme_api::registry::Code;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

/// A hash of the sources of cnsim that take part in a run.
pub const CNSIM: &str = env!("CNSIM_CODE");

/// Hash of the code of a case's scheme: a part of a run's address in the store.
///
/// # Errors
/// Why that cannot be known: such a run is not kept.
pub fn of(ready: &Ready) -> Result<&str, &str> {
    match &ready.built.code {
        Code::Known => Ok(""),
        Code::Program => program(),
        Code::Unknown(why) => Err(why),
    }
}

/// A hash of the code of the running program, with the libraries that it has loaded where the system names them.
///
/// # Errors
/// Why it cannot be known.
pub fn program() -> Result<&'static str, &'static str> {
    static KNOWN: OnceLock<Result<String, String>> = OnceLock::new();
    let found = KNOWN.get_or_init(|| hash(&loaded()?).map_err(|e| format!("the program's code: {e}")));
    found.as_ref().map(String::as_str).map_err(String::as_str)
}

/// The files from which the program's code was loaded.
fn loaded() -> Result<BTreeSet<PathBuf>, String> {
    // On Linux this is the file that runs, even where another has come in its place.
    let own = Path::new("/proc/self/exe");
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
        let own = std::env::current_exe().map_err(|e| format!("the program's file: {e}"))?;
        return Ok(BTreeSet::from([own]));
    };
    let name = fs::read_link(own).map_err(|e| format!("{}: {e}", own.display()))?;
    let code = maps.lines().filter(|l| l.split(' ').nth(1).is_some_and(|rights| rights.contains('x')));
    let files = code.filter_map(|l| l.find('/').map(|at| Path::new(&l[at..])));
    let mut all: BTreeSet<PathBuf> = files.filter(|f| *f != name).map(Path::to_path_buf).collect();
    match all.iter().find(|f| f.to_string_lossy().ends_with(" (deleted)")) {
        Some(gone) => Err(format!("{}: is loaded, and no longer there", gone.display())),
        None => {
            all.insert(own.to_path_buf());
            Ok(all)
        }
    }
}

/// One hash over the contents of these files.
fn hash(files: &BTreeSet<PathBuf>) -> io::Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let bytes = fs::read(file)?;
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
    Ok(hash.finalize()[..16].iter().map(|b| format!("{b:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one_code() {
        let known = program().unwrap();
        assert_eq!((known.len(), program()), (32, Ok(known)));
        assert_eq!(CNSIM.len(), 16);
    }

    #[test]
    fn other_bytes_are_another_code() {
        let dir = std::env::temp_dir().join(format!("cnsim-code-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let files = ["a", "b"].map(|name| dir.join(name));
        let mut seen = BTreeSet::new();
        for texts in [["1", "2"], ["12", ""], ["1", "3"], ["2", "1"]] {
            files.iter().zip(texts).for_each(|(f, t)| fs::write(f, t).unwrap());
            seen.insert(hash(&files.iter().cloned().collect()).unwrap());
        }
        assert_eq!(seen.len(), 4);
        fs::remove_dir_all(&dir).unwrap();
    }
}
