//! Chores of the repository: `cargo xtask check`, `deny`, `generate [--check]`, `fingerprints` and `measured DIR...`.
//!
//! Exit codes: 0 no complaint, 1 complaints (one per line on stderr), 2 usage.

use cnsim_xtask::{check, deny, fingerprints, generate, measured};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Generated files, and blocks of figures in documents, that differ from the code or the stored run.
fn stale(root: &Path) -> std::io::Result<Vec<String>> {
    Ok([generate::stale(root)?, measured::stale(root)?].concat())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let result = match arguments.as_slice() {
        ["check"] => check::all(&root).and_then(|mut complaints| {
            complaints.extend(stale(&root)?);
            Ok(complaints)
        }),
        ["deny"] => deny::all(&root),
        ["generate", "--check"] => stale(&root),
        ["generate"] => generate::write(&root).and_then(|()| measured::write(&root)).map(|()| Vec::new()),
        ["measured", out @ ..] if !out.is_empty() => {
            (measured::take(&root, out)).and_then(|()| measured::write(&root)).map(|()| Vec::new())
        }
        ["fingerprints"] => return rewrite_fingerprints(&root),
        _ => {
            eprintln!(
                "usage: cargo xtask check | deny | generate [--check] | fingerprints | measured DIR..."
            );
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(complaints) if complaints.is_empty() => ExitCode::SUCCESS,
        Ok(complaints) => {
            for complaint in &complaints {
                eprintln!("{complaint}");
            }
            eprintln!("{} complaint(s)", complaints.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the table of fingerprints anew and prints the rows that changed.
fn rewrite_fingerprints(root: &Path) -> ExitCode {
    match fingerprints::write(root) {
        Ok(moved) => {
            moved.iter().for_each(|line| println!("{line}"));
            println!("{} row(s) moved", moved.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace: two levels above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
