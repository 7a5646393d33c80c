//! Chores of the repository: checks beyond the compiler, and files made from the code.

pub mod chapters;
pub mod check;
pub mod circles;
pub mod commands;
pub mod deny;
pub mod draw;
pub mod figure;
pub mod fingerprints;
pub mod gallery;
pub mod generate;
pub mod laws;
pub mod measured;
pub mod reference;
pub mod states;
mod types;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files below a folder with this ending, in order: the path from there, with slashes, and the text. None without the folder.
fn texts(folder: &Path, ending: &str) -> io::Result<Vec<(String, String)>> {
    let (mut found, mut left) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = left.pop() {
        let here = folder.join(&below);
        for entry in here.is_dir().then(|| fs::read_dir(&here)).transpose()?.into_iter().flatten() {
            let path = below.join(entry?.file_name());
            let whole = folder.join(&path);
            if whole.is_dir() {
                left.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push((path.to_string_lossy().into_owned(), fs::read_to_string(whole)?));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The code in `CONTRIBUTING.md`, compiled as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
