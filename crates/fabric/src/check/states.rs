//! Changes of state: those that the page of states draws (`docs/reference/states.md`) may happen.

use super::broken;

/// The page's table, a line for each change: where, of what, from, to, why, and in which file.
const CHANGES: &str = include_str!("../../states.csv");

/// A part of the network goes from a state to another. A build with checks ends the run where the page draws no such change.
#[inline(always)]
pub(crate) fn changes(what: &str, from: &str, to: &str) {
    let drawn = || CHANGES.lines().any(|line| line.split(',').skip(1).take(3).eq([what, from, to]));
    if cfg!(debug_assertions) && !drawn() {
        broken(&format!("{what}: no way leads from `{from}` to `{to}`"));
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_is_not_drawn_ends_the_run() {
        changes("transmitter", "idle", "sending");
        for (from, to) in [("sending", "sending"), ("idle", "idle"), ("idle", "gone")] {
            let why = std::panic::catch_unwind(|| changes("transmitter", from, to)).unwrap_err();
            let why = why.downcast_ref::<String>().unwrap();
            assert!(why.starts_with("transmitter: no way leads from `"), "{why}");
        }
    }
}
