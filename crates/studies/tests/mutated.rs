//! Scenario files that someone spoiled, and valid ones that nobody thought of, both made from seeds: reading never panics,
//! what is accepted runs, and a run stays near its estimate. `CNSIM_MUTANTS` and `CNSIM_RANDOM` set how many are tried, and
//! `CNSIM_SEED` from where; a failure names its seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_fabric::Options;
use cnsim_studies::scenario::{EMBEDDED, Scenario};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Numbers from a seed: splitmix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Values that stand where others are due.
const STRANGE: &[&str] = &[
    "[]",
    "{}",
    "true",
    "-1",
    "1e309",
    "nan",
    "0x10",
    "18446744073709551616",
    "\"\"",
    "\"0\"",
    "\"-5 us\"",
    "\"1e-300 b/s\"",
    "\"1e300 Gb/s\"",
    "\"never\"",
    "\"off\"",
    "\"auto\"",
    "\"all\"",
    "\"H0\"",
    "\"H0..H9999\"",
    "\"\\u001b[31m\"",
    "\"../../x\"",
    "[\"a\", \"b\"]",
    "[1, 2]",
    "[[1]]",
    "\"100 %\"",
    "\"1 us\"",
    "\"64 B\"",
    "\"1 Mb/s\"",
    "1979-05-27",
    "\"S>H0\"",
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
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(lines.len());
        match dice.below(9) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, dice.of(LINES).into()),
            2 => {
                let copy = lines[at].clone();
                lines.insert(dice.below(lines.len() + 1), copy);
            }
            3 => {
                let other = dice.below(lines.len());
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
                if let Some(i) = digits.get(dice.below(digits.len())) {
                    let new = dice.of(&["0", "9", "77", "-3", "0.001", "1e9", "65536"]);
                    lines[at].replace_range(*i..=*i, new);
                }
            }
            7 => {
                let mut bytes = lines[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let i = dice.below(bytes.len());
                    bytes[i] = dice.below(256) as u8;
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
    let (first, count) = (number("CNSIM_SEED", 1), number("CNSIM_MUTANTS", 120));
    let mut came = std::collections::BTreeMap::new();
    for seed in first..first + count {
        let mut dice = Dice(seed);
        let (_, text) = EMBEDDED[dice.below(EMBEDDED.len())];
        // Short, so that what is accepted can be run.
        let short =
            text.replace("1 s\"", "1 ms\"").replace("100 ms\"", "0.1 ms\"").replace("500 ms\"", "0.5 ms\"");
        let short = if dice.below(2) == 0 { short } else { valid(&mut dice) };
        *came.entry(tried(&spoiled(&short, &mut dice), seed)).or_insert(0) += 1;
    }
    // A generator whose texts are all refused would show little.
    assert!(
        count < 100 || came.get("run").is_some_and(|n| n * 10 > count) && came.contains_key("refused"),
        "{came:?}"
    );
}

/// A valid scenario, some microseconds to milliseconds long.
fn valid(d: &mut Dice) -> String {
    let mut t = format!("study = \"random\"\nname = \"r{}\"\ncondition = \"c\"\n", d.below(1000));
    let (shape, hosts) = match d.below(8) {
        0 => ("kind = \"single-switch\"\nhosts = 6\nports = 8".to_string(), 6),
        1 => ("kind = \"core-edge\"\nedges = [2, 3, 1]".into(), 6),
        2 => ("kind = \"k-ary-n-tree\"\nk = 2\nn = 3".into(), 8),
        3 => ("kind = \"fat-tree\"\nk = 4".into(), 16),
        4 => ("kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nper_switch = 2".into(), 6),
        5 => ("kind = \"chain\"\nswitches = 4\nper_switch = 2".into(), 8),
        6 => ("kind = \"ring\"\nswitches = 4\nper_switch = 2".into(), 8),
        _ => ("kind = \"parking-lot\"\nstages = 2\nlong = 2".into(), 7),
    };
    // Rates over six decades; a run lasts some hundred frames.
    let (rate, us) = [
        ("1 Mb/s", 2_000_000),
        ("100 Mb/s", 20_000),
        ("1 Gb/s", 2000),
        ("10 Gb/s", 200),
        ("100 Gb/s", 40),
        ("1.6 Tb/s", 8),
    ][d.below(6)];
    let us = us * (1 + d.below(3));
    let routing = d.of(&["flow-hash", "frame-hash", "round-robin", "destination"]);
    let delay = d.of(&["0 us", "0.5 us", "3 us"]);
    let _ = write!(
        t,
        "[topology]\n{shape}\nlink_rate = \"{rate}\"\nlink_delay = \"{delay}\"\nrouting = \"{routing}\"\n"
    );
    if d.below(3) == 0 {
        let _ = writeln!(t, "host_rates = [\"H1 {}\"]", d.of(&["10 Mb/s", "1 Gb/s", "40 Gb/s"]));
    }
    let buffer = d.of(&["XP", "IN", "SO", "SW"]);
    let _ = write!(
        t,
        "[switch]\nprocessing = \"{}\"\nbuffer = \"{buffer}\"\n",
        d.of(&["0.05 us", "1 us", "4 us"])
    );
    match (buffer, d.below(2)) {
        ("SW", _) => t += "capacity = \"40 MB\"\n",
        (_, 0) => t += "share = \"2 MB\"\n",
        _ => {}
    }
    let pause = d.of(&["on", "off", "global"]);
    let _ = writeln!(t, "[control]\ntransport = \"{}\"", d.of(&["priority", "in-band"]));
    let queues = d.of(&["fifo", "per-destination"]);
    let _ = writeln!(
        t,
        "[host]\nqueues = \"{queues}\"\nfifo = {}\nprocessing = \"{}\"",
        1 + d.below(200),
        d.of(&["0.1 us", "1 us"])
    );
    t += "[workload]\n";
    let to = d.of(&["uniform", "permutation", "H1", "+1"]);
    match d.below(5) {
        0 => {
            let _ = writeln!(
                t,
                "kind = \"bernoulli\"\nload = \"{} %\"\ndestinations = \"{to}\"",
                5 + d.below(95)
            );
        }
        1 => {
            let _ = writeln!(t, "kind = \"greedy\"\ndestinations = \"{to}\"");
        }
        2 => {
            let on = (us / 8).max(1);
            let _ = writeln!(
                t,
                "kind = \"on-off\"\non = \"{on} us\"\noff = \"{on} us\"\ndestinations = \"{to}\""
            );
        }
        3 => {
            let _ = writeln!(
                t,
                "kind = \"bursts\"\nload = \"{} %\"\nburst = {}\ndestinations = \"{to}\"",
                5 + d.below(60),
                1 + d.below(30)
            );
        }
        _ => {
            let lists: Vec<String> = (0..1 + d.below(12))
                .map(|_| {
                    let from = 1 + d.below(hosts - 2);
                    let to = (1 + (from + d.below(hosts - 3)) % (hosts - 2)).max(1);
                    let to = if to == from { hosts - 1 } else { to };
                    format!("\"{} us, H{from}, H{to}, {} B\"", d.below(us), 1 + d.below(60_000))
                })
                .collect();
            let _ = writeln!(t, "kind = \"transfers\"\ntransfers = [{}]", lists.join(", "));
        }
    }
    let _ = writeln!(t, "frame = \"{} B\"", [64, 512, 1500, 9216][d.below(4)]);
    if d.below(3) == 0 {
        let _ = writeln!(
            t,
            "[hotspot]\nhost = \"H1\"\nrate = \"{} %\"\nstart = \"{} us\"\nstop = \"{us} us\"",
            d.below(60),
            us / 4
        );
    }
    let _ = writeln!(t, "[run]\nduration = \"{us} us\"\nseeds = 1\n[matrix]\npause = [\"{pause}\"]");
    let scheme = d.of(&[
        "none",
        "none",
        "bcn",
        "ecm",
        "qcn-2pt",
        "qcn-802.1Qau",
        "becn",
        "fecn",
        "e2cm-src",
        "dcqcn",
        "qcn-hsp",
    ]);
    let _ = writeln!(t, "schemes = [\"{scheme}\"]");
    t
}

#[test]
fn valid_files_run() {
    let (first, count) = (number("CNSIM_SEED", 1), number("CNSIM_RANDOM", 40));
    let mut came = std::collections::BTreeMap::new();
    for seed in first..first + count {
        *came.entry(tried(&valid(&mut Dice(seed ^ 0xABCD_0000)), seed)).or_insert(0) += 1;
    }
    assert!(count < 20 || came.get("run").is_some_and(|n| n * 4 > count), "{came:?}");
}
