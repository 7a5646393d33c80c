//! Scenario files that someone spoiled, made from seeds: reading never panics, what is accepted runs, and a run stays near its
//! estimate. `CNSIM_MUTANTS` sets how many are tried, and `CNSIM_SEED` from where; a failure names its seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dice;

use cnsim_fabric::Options;
use cnsim_scenario::{EMBEDDED, Scenario};
use dice::scenario::scenario;
use dice::{Dice, placed, tries};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Values that stand where others are due.
const STRANGE: &[&str] = &[
    "[]", "{}", "true", "-1", "1e309", "nan", "0x10", "18446744073709551616", "\"\"", "\"0\"", "\"-5 us\"",
    "\"1e-300 b/s\"", "\"1e300 Gb/s\"", "\"never\"", "\"off\"", "\"auto\"", "\"all\"", "\"H0\"",
    "\"H0..H9999\"", "\"\\u001b[31m\"", "\"../../x\"", "[\"a\", \"b\"]", "[1, 2]", "[[1]]", "\"100 %\"",
    "\"1 us\"", "\"64 B\"", "\"1 Mb/s\"", "1979-05-27", "\"S>H0\"",
];

/// Lines that stand where none is due.
const LINES: &[&str] = &[
    "[traffic]",
    "[[traffic]]",
    "[[event]]",
    "[event]",
    "[[rows]]",
    "[matrix]",
    "[workload]",
    "[[topology]]",
    "\"topology.hosts\" = 3",
    "hosts = 70000",
    "\"hotspot.rate\" = [\"1 Gb/s\", \"2 Gb/s\"]",
    "kind = \"graph\"",
    "kind = \"transfers\"",
    "period = \"1 us\"",
    "file = \"/dev/zero\"",
    "loads = [\"1 %\"]",
    "nonsense = 1",
    "pause = []",
    "schemes = [\"none\", \"none\"]",
    "= 3",
    "\u{feff}",
    "]",
];

/// The text with some of its bytes, values, lines or tables changed.
fn spoiled(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..1 + dice.index(3) {
        let at = dice.index(lines.len());
        match dice.index(9) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, (*dice.of(LINES)).into()),
            2 => {
                let copy = lines[at].clone();
                lines.insert(dice.index(lines.len() + 1), copy);
            }
            3 => {
                let other = dice.index(lines.len());
                lines.swap(at, other);
            }
            4 | 5 => {
                if let Some((key, _)) = lines[at].clone().split_once('=') {
                    lines[at] = format!("{key}= {}", dice.of(STRANGE));
                }
            }
            6 => {
                // Another number.
                let digits: Vec<usize> =
                    lines[at].char_indices().filter(|c| c.1.is_ascii_digit()).map(|c| c.0).collect();
                if let Some(i) = digits.get(dice.index(digits.len())) {
                    let new = dice.of(&["0", "9", "77", "-3", "0.001", "1e9", "65536"]);
                    lines[at].replace_range(*i..=*i, new);
                }
            }
            7 => {
                let mut bytes = lines[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let i = dice.index(bytes.len());
                    bytes[i] = dice.next() as u8;
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => lines.truncate(at + 1),
        }
        if lines.is_empty() {
            lines.push("x = 1".into());
        }
    }
    lines.join("\n") + "\n"
}

/// Reads a text and runs its first case if that is short: a word for what came of it.
fn tried(text: &str, seed: u64) -> &'static str {
    let read = catch_unwind(AssertUnwindSafe(|| Scenario::parse("spoiled.toml", text, &[])));
    let scenario = match read.unwrap_or_else(|_| panic!("seed {seed}: reading panicked:\n{text}")) {
        Ok(scenario) => scenario,
        Err(problems) => {
            let said: String = problems.iter().map(|p| format!("{p}\n")).collect();
            let plain = |c: char| !c.is_control() || c == '\n';
            assert!(!problems.is_empty() && said.chars().all(plain), "seed {seed}: {said:?}");
            let wrong = placed(&problems, &[("spoiled.toml".into(), text.into())]);
            wrong.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            return "refused";
        }
    };
    let case = scenario.cases().into_iter().next().unwrap_or_else(|| panic!("seed {seed}: no case\n{text}"));
    let ready = scenario.ready(&case).unwrap_or_else(|p| panic!("seed {seed}: {}\n{text}", p[0]));
    let estimate = ready.estimate();
    if estimate.packet_hops > 60_000.0 || estimate.seconds > 0.2 || estimate.memory > 60e6 {
        return "accepted";
    }
    let spec = ready.settings.spec(&ready.built, 1, false);
    let run = catch_unwind(AssertUnwindSafe(|| {
        cnsim_fabric::run(&spec, &Options { threads: 1, ..Options::default() })
    }));
    let run = run.unwrap_or_else(|_| panic!("seed {seed}: the run panicked:\n{text}"));
    let out = run.unwrap_or_else(|e| panic!("seed {seed}: accepted, and then: {e}\n{text}"));
    let most = 3.0 * estimate.packet_hops + 2000.0;
    let data = (out.packet_hops - out.control_hops) as f64;
    assert!(data < most, "seed {seed}: {data} packet-hops, {} estimated\n{text}", estimate.packet_hops);
    "run"
}

#[test]
fn spoiled_files_are_refused_or_run() {
    let (first, count) = (dice::first(), tries("CNSIM_MUTANTS", 120));
    let mut came = std::collections::BTreeMap::new();
    for seed in first..first + count {
        let mut dice = Dice::new(seed);
        let (_, text) = EMBEDDED[dice.index(EMBEDDED.len())];
        // Short, so that what is accepted can be run.
        let short =
            text.replace("1 s\"", "1 ms\"").replace("100 ms\"", "0.1 ms\"").replace("500 ms\"", "0.5 ms\"");
        let short = if dice.index(2) == 0 { short } else { scenario(&mut dice) };
        *came.entry(tried(&spoiled(&short, &mut dice), seed)).or_insert(0) += 1;
    }
    // A generator whose texts are all refused would show little.
    assert!(
        count < 100 || came.get("run").is_some_and(|n| n * 10 > count) && came.contains_key("refused"),
        "{came:?}"
    );
}
