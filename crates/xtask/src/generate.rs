//! Files made from the code: one command writes them, one check finds stale ones.

use crate::{chapters, commands, figure, gallery, reference, states};
use std::fs;
use std::io;
use std::path::Path;

/// Every generated file that a check makes anew: path from the root, and its text.
fn files(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = vec![
        ("docs/reference/scenarios.md".to_string(), reference::scenarios()),
        ("docs/reference/metrics.md".to_string(), reference::metrics()),
        ("docs/reference/commands.md".to_string(), commands::page()),
        (states::PAGE.to_string(), states::page()),
        (states::FIGURE.to_string(), states::figure()),
    ];
    files.extend(chapters::all(root)?);
    files.extend(gallery::small(root).map_err(io::Error::other)?);
    for entry in cnsim_schemes::registry().iter() {
        let figure =
            figure::svg(&entry.name).map_err(|e| io::Error::other(format!("{}: {e}", entry.name)))?;
        files.push((format!("docs/reference/{}", chapters::picture(&entry.name)), figure));
    }
    Ok(files)
}

/// Writes every generated file under `root`, the pictures of the studies too.
///
/// # Errors
/// A folder or file that cannot be written, a figure's run that failed.
pub fn write(root: &Path) -> io::Result<()> {
    for (path, text) in files(root)?.into_iter().chain(gallery::studies(root).map_err(io::Error::other)?) {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// One line for each generated file under `root` that differs from the text that [`write`] would write.
///
/// # Errors
/// A file that is there and cannot be read, a figure's run that failed.
pub fn stale(root: &Path) -> io::Result<Vec<String>> {
    let mut complaints = Vec::new();
    let files = files(root)?;
    let chapters: io::Result<Vec<String>> = fs::read_dir(root.join(chapters::FOLDER))
        .and_then(|folder| folder.map(|f| Ok(f?.file_name().to_string_lossy().into_owned())).collect());
    let known = |path: &str| files.iter().any(|(p, _)| p == path);
    for path in left_over(chapters::FOLDER, &chapters.unwrap_or_default(), known) {
        complaints.push(format!("{path}: a chapter without a scheme; remove it"));
    }
    for (path, text) in files {
        let present = match fs::read_to_string(root.join(&path)) {
            Ok(present) => present,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        if present != text {
            complaints.push(format!("{path}: stale; run `cargo xtask generate`"));
        }
    }
    Ok(complaints)
}

/// Chapters of schemes that no longer exist.
fn left_over(folder: &str, found: &[String], known: impl Fn(&str) -> bool) -> Vec<String> {
    let paths = found.iter().filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}"));
    paths.filter(|path| !known(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_of_nobody_is_stale() {
        let known = ["docs/schemes/ecm.md"];
        let known = |path: &str| known.contains(&path);
        let found = ["ecm.md".to_owned(), "gone.md".to_owned(), "note.txt".to_owned()];
        assert_eq!(left_over("docs/schemes", &found, known), ["docs/schemes/gone.md"]);
    }
}
