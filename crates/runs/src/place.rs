//! Folders that cnsim writes to. Each bears a mark, the folder `.cnsim`, which lists the files that cnsim wrote. Only
//! these are ever overwritten or removed. Other files in the folder belong to the user.
//!
//! A folder without a mark is marked, if nothing in it has a name that cnsim would write; it may hold other files. Results of a
//! cnsim that left no mark are known by their form, and the folder is marked then.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Name of the mark in a folder.
pub const MARK: &str = ".cnsim";
/// Form of the mark. A folder of a later form is refused.
const FORM: u32 = 1;
/// Largest list of files that is read, bytes.
const LARGEST: u64 = 100_000_000;
/// Most files of others that are named.
const NAMED: usize = 5;

/// Why a folder is not written to.
#[derive(Debug)]
pub enum PlaceError {
    /// The operation that the system refused, and its place.
    Io(PathBuf, io::Error),
    /// Files that cnsim has not written stand where it would write.
    Foreign(PathBuf, Vec<String>),
    /// The mark cannot be used, for this reason.
    Mark(PathBuf, String),
}

impl std::fmt::Display for PlaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, e) => write!(f, "{}: {e}", path.display()),
            Self::Foreign(dir, names) => {
                let (first, hidden) = (&names[..names.len().min(NAMED)], names.len().saturating_sub(NAMED));
                let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
                write!(f, "{}: cnsim did not write {}{more} there", dir.display(), first.join(", "))
            }
            Self::Mark(dir, why) => write!(f, "{}: {why}", dir.join(MARK).display()),
        }
    }
}

impl std::error::Error for PlaceError {}

/// Kinds of folders that cnsim keeps.
#[derive(Debug)]
pub struct Kind {
    /// Would cnsim write a file or folder of this name there?
    pub writes: fn(&str) -> bool,
    /// Which of such entries of a folder without a mark have an earlier cnsim's form; none if one has not.
    pub earlier: fn(&Path, &[String]) -> Option<Vec<String>>,
    /// Is each file named in the mark? Otherwise all files of such names are of cnsim.
    pub named: bool,
}

/// The list in a mark.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    /// [`FORM`].
    cnsim: u32,
    /// Version of the program that wrote last.
    version: String,
    /// Files of cnsim, from the folder.
    files: BTreeSet<String>,
}

/// A folder that bears the mark. Nobody else writes there as long as this lives.
#[derive(Debug)]
pub struct Place {
    dir: PathBuf,
    mark: Mark,
    /// Files of others may be written over.
    force: bool,
    /// True if the folder held files of a cnsim without marks; it is marked now.
    pub adopted: bool,
    _lock: File,
}

/// The kind of file at a path; symbolic links are not followed.
fn there(path: &Path) -> Option<fs::Metadata> {
    fs::symlink_metadata(path).ok()
}

/// Is this a file, and no link to one?
pub(crate) fn is_file(path: &Path) -> bool {
    there(path).is_some_and(|m| m.is_file())
}

impl Place {
    /// Would [`Place::open`] take this folder? Nothing is made or changed.
    ///
    /// # Errors
    /// Why it would not.
    pub fn check(dir: &Path, kind: &Kind, force: bool) -> Result<(), PlaceError> {
        look(dir, kind, force).map(drop)
    }

    /// Makes a folder or takes one that is there, marks it, and waits until nobody else writes there. With `force` files of
    /// others are written over where cnsim has a file of their name; they are not removed.
    ///
    /// # Errors
    /// A folder that cannot be written, or that others' files of cnsim's names stand in.
    pub fn open(dir: &Path, kind: &Kind, force: bool) -> Result<Self, PlaceError> {
        // Nothing is made in a folder that is refused.
        look(dir, kind, force)?;
        let lock = lock(dir)?;
        let (mark, adopted) = look(dir, kind, force)?;
        let marked = mark.is_some() && !adopted;
        let mark =
            mark.unwrap_or_else(|| Mark { cnsim: FORM, version: String::new(), files: BTreeSet::new() });
        let mut place = Self { dir: dir.into(), mark, force, adopted, _lock: lock };
        place.clear()?;
        if !marked {
            place.save()?;
        }
        Ok(place)
    }

    /// Has this folder a mark?
    pub fn is_marked(dir: &Path) -> bool {
        is_file(&list(dir))
    }

    /// Folder of the place.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Has cnsim written this file?
    pub fn has(&self, name: &str) -> bool {
        self.mark.files.contains(name) && is_file(&self.dir.join(name))
    }

    /// Removes temporary files of writers that were killed.
    fn clear(&self) -> Result<(), PlaceError> {
        let own = self.dir.join(MARK);
        for entry in fs::read_dir(&own).map_err(|e| PlaceError::Io(own.clone(), e))?.flatten() {
            if entry.path().extension().is_some_and(|e| e == "tmp") && is_file(&entry.path()) {
                fs::remove_file(entry.path()).map_err(|e| PlaceError::Io(entry.path(), e))?;
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), PlaceError> {
        self.mark.version = env!("CARGO_PKG_VERSION").into();
        let path = list(&self.dir);
        let text = serde_json::to_string(&self.mark).map_err(io::Error::other);
        text.and_then(|t| write_in(&self.dir, &path, t.as_bytes())).map_err(|e| PlaceError::Io(path, e))
    }

    /// Takes names for files of cnsim's that are to be written.
    ///
    /// # Errors
    /// A name that somebody else's file has.
    pub fn claim<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), PlaceError> {
        let new: Vec<String> = names.filter(|n| !self.mark.files.contains(*n)).map(String::from).collect();
        let foreign: Vec<String> =
            new.iter().filter(|n| there(&self.dir.join(n)).is_some()).cloned().collect();
        let folders = foreign.iter().any(|n| !is_file(&self.dir.join(n)));
        if !foreign.is_empty() && (folders || !self.force) {
            return Err(PlaceError::Foreign(self.dir.clone(), foreign));
        }
        if !new.is_empty() {
            self.mark.files.extend(new);
            self.save()?;
        }
        Ok(())
    }

    /// Writes a file of cnsim's whole.
    ///
    /// # Errors
    /// A name that somebody else's file has; a disk that does not take it.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), PlaceError> {
        self.claim(std::iter::once(name))?;
        let path = self.dir.join(name);
        // A folder, a link or a device that has come in a file's place is not cnsim's.
        if there(&path).is_some_and(|m| !m.is_file()) {
            return Err(PlaceError::Foreign(self.dir.clone(), vec![name.into()]));
        }
        write_in(&self.dir, &path, bytes).map_err(|e| PlaceError::Io(path, e))
    }

    /// Removes the files of cnsim's that are not to stay, and folders that are empty then.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn keep(&mut self, stays: impl Fn(&str) -> bool) -> Result<(), PlaceError> {
        let gone: Vec<String> = self.mark.files.iter().filter(|n| !stays(n)).cloned().collect();
        for name in &gone {
            let path = self.dir.join(name);
            if plain(name) && is_file(&path) {
                fs::remove_file(&path).map_err(|e| PlaceError::Io(path.clone(), e))?;
            }
            if let Some(folder) = path.parent().filter(|f| *f != self.dir) {
                let _ = fs::remove_dir(folder);
            }
            self.mark.files.remove(name);
        }
        if gone.is_empty() { Ok(()) } else { self.save() }
    }
}

/// Does a name lead to no other place than the folder, or a folder in it?
fn plain(name: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    parts.len() <= 2 && parts.iter().all(|c| matches!(c, Component::Normal(_)))
}

/// The list of a folder's mark.
fn list(dir: &Path) -> PathBuf {
    dir.join(MARK).join("files.json")
}

/// Makes the folder and its mark's, and waits for its lock.
fn lock(dir: &Path) -> Result<File, PlaceError> {
    let own = dir.join(MARK);
    fs::create_dir_all(&own).map_err(|e| PlaceError::Io(dir.into(), e))?;
    lock_in(dir).map_err(|e| PlaceError::Io(own, e))
}

/// Waits for the lock of a folder that has a mark.
pub(crate) fn lock_in(dir: &Path) -> io::Result<File> {
    let path = dir.join(MARK).join("lock");
    if there(&path).is_some_and(|m| !m.is_file()) {
        return Err(io::Error::other("lock: no file of cnsim's"));
    }
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    lock.lock()?;
    Ok(lock)
}

/// The mark of a folder, and whether it is to be made for an earlier cnsim's files; neither where there is none.
fn look(dir: &Path, kind: &Kind, force: bool) -> Result<(Option<Mark>, bool), PlaceError> {
    let mut names = Vec::new();
    match fs::read_dir(dir) {
        Ok(entries) => names.extend(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((None, false)),
        Err(e) => return Err(PlaceError::Io(dir.into(), e)),
    }
    names.retain(|n| (kind.writes)(n));
    names.sort();
    // The mark is looked at last: who has written a file before has marked the folder before.
    let mark = read(dir)?;
    let known = |name: &String| match &mark {
        Some(_) if !kind.named => true,
        Some(mark) => {
            let inside = format!("{name}/");
            let folder = there(&dir.join(name)).is_some_and(|m| m.is_dir());
            let has = mark.files.range(inside.clone()..).next().is_some_and(|f| f.starts_with(&inside));
            (mark.files.contains(name) && is_file(&dir.join(name))) || (folder && has)
        }
        None => false,
    };
    let foreign: Vec<String> = names.into_iter().filter(|n| !known(n)).collect();
    if foreign.is_empty() {
        return Ok((mark, false));
    }
    if let (None, Some(files)) = (&mark, (kind.earlier)(dir, &foreign)) {
        let mark = Mark { cnsim: FORM, version: String::new(), files: files.into_iter().collect() };
        return Ok((Some(mark), true));
    }
    if force { Ok((mark, false)) } else { Err(PlaceError::Foreign(dir.into(), foreign)) }
}

/// Reads the mark of a folder.
fn read(dir: &Path) -> Result<Option<Mark>, PlaceError> {
    let own = dir.join(MARK);
    let bad = |why: &str| Err(PlaceError::Mark(dir.into(), why.into()));
    if there(&own).is_none_or(|m| m.is_dir()) && there(&list(dir)).is_none() {
        return Ok(None);
    }
    let path = list(dir);
    if !is_file(&path) || there(&path).is_some_and(|m| m.len() > LARGEST) {
        return bad("not a mark of cnsim");
    }
    let text = fs::read_to_string(&path).map_err(|e| PlaceError::Io(path, e))?;
    match serde_json::from_str::<Mark>(&text) {
        Ok(mark) if mark.cnsim > FORM => bad("the mark of a later version of cnsim"),
        Ok(mark) => Ok(Some(mark)),
        Err(_) => bad("the mark is damaged"),
    }
}

/// Writes a file whole, or not at all, into a folder with the mark or a folder inside.
pub(crate) fn write_in(dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|f| *f != dir) {
        fs::create_dir_all(folder)?;
    }
    let name = format!("{}.{:?}.tmp", std::process::id(), std::thread::current().id());
    let temporary = dir.join(MARK).join(name);
    let write = || {
        let _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}
