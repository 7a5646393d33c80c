//! What the tests by chance share: draws from a seed, how many, and where findings are kept.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

pub(crate) mod scenario;
pub(crate) mod seasoned;

use cnsim_problem::Problem;
use std::path::PathBuf;

/// Draws (SplitMix64): the same on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// A place in a list of so many.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// From `low` to `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// One of these.
    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// How many are tried: a few in `make test`, as many as the variable says in `make soak`.
pub(crate) fn tries(variable: &str, few: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// The first seed: `CNSIM_SEED`, or 0.
pub(crate) fn first() -> u64 {
    tries("CNSIM_SEED", 0)
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// What was kept: name and bytes.
pub(crate) fn kept(name: &str) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder(name)).into_iter().flatten().flatten();
    let mut all: Vec<(String, Vec<u8>)> = files
        .map(|f| (f.file_name().to_string_lossy().into_owned(), std::fs::read(f.path()).unwrap()))
        .collect();
    all.sort();
    all
}

/// Keeps a finding for ever; returns its path.
pub(crate) fn keep(name: &str, file: &str, bytes: &[u8]) -> String {
    std::fs::create_dir_all(folder(name)).unwrap();
    let path = folder(name).join(file);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Asserts that each problem names one of these files, and a line that the file has.
pub(crate) fn placed(problems: &[Problem], files: &[(String, String)]) -> Result<(), String> {
    for p in problems {
        let Some((_, text)) = files.iter().find(|f| f.0 == p.file) else {
            return Err(format!("`{}` is no file that is read: {p}", p.file));
        };
        let lines = text.lines().count().max(1);
        match p.position {
            Some(at) if (1..=lines).contains(&at.line) && at.column > 0 => {}
            // A file may end in an empty line.
            Some(at) if at.line == lines + 1 && text.ends_with('\n') => {}
            _ => return Err(format!("no line of the {lines}: {p}")),
        }
    }
    Ok(())
}

/// A text with some of its bytes, lines, numbers or words changed.
pub(crate) fn mutated(d: &mut Dice, text: &[u8], words: &[&str]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..d.between(1, 4) {
        let at = d.below(bytes.len() as u64 + 1) as usize;
        match d.below(9) {
            0 => drop(bytes.get_mut(at).map(|b| *b ^= 1 << (at % 8))),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, d.next() as u8),
            3 => drop(bytes.splice(at..at, d.of(words).bytes())),
            // A line is left out, doubled, or moved.
            n @ 4..=6 => {
                let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let from = d.below(lines.len() as u64) as usize;
                let line = if n == 4 { lines.remove(from) } else { lines[from].clone() };
                if n > 4 {
                    let to = d.below(lines.len() as u64 + 1) as usize;
                    lines.insert(if n == 5 { from } else { to }, line);
                }
                bytes = lines.join(&b'\n');
            }
            // A word takes the place of what stands between two marks.
            _ => {
                let marks = |b: &u8| matches!(b, b'"' | b',' | b'=' | b':' | b'\n' | b'[' | b']');
                let end = bytes[at..].iter().position(marks).map_or(bytes.len(), |n| at + n);
                drop(bytes.splice(at..end, d.of(words).bytes()));
            }
        }
    }
    bytes
}
