//! Is the largest part of a difference its cause? Of two runs of the README's victim, under a scheme and under none, the mechanism of that
//! part is switched off: the part has to be gone, and the difference to follow. Two of these pairs may fail: under PAUSE alone the frames
//! that XOFF no longer stops wait in a queue instead.

use crate::common::{Folder, cnsim, text};
use std::collections::BTreeMap;

/// Schemes, each with the transport that it needs: `""` is none.
const PAIRS: [(&str, &str); 14] = [
    ("dcqcn", ""),
    ("qcn-802.1Qau", ""),
    ("ecm", ""),
    ("bcn", ""),
    ("af-qcn", ""),
    ("fecn", ""),
    ("qcn-2pt", ""),
    ("dcqcn", "go-back-n"),
    ("dctcp", "go-back-n"),
    ("timely", "go-back-n"),
    ("hpcc", "go-back-n"),
    ("swift", "go-back-n"),
    ("cubic", "tcp"),
    ("newreno", "tcp"),
];
/// At least so many of them.
const RIGHT: usize = 12;

/// The parts of the victim's time, us.
type Parts = BTreeMap<String, f64>;

/// The tutorial's incast, until every victim is complete, under one scheme.
struct Network<'a> {
    scheme: &'a str,
    transport: &'a str,
    /// The victim's host is outside the scheme.
    apart: bool,
    pause: bool,
}

impl Network<'_> {
    fn text(&self) -> String {
        let file = format!("{}/../../docs/tutorial/incast.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let mut text = text.split("[scheme.dcqcn]").next().unwrap().replace("seeds = 3", "seeds = 1");
        text = text.replace("duration = \"2 ms\"", "duration = \"60 ms\"");
        if self.scheme == "dcqcn" {
            text += "[scheme.dcqcn]\npreset = \"hpcc\"\nk_min = \"60 KB\"\nk_max = \"240 KB\"\n";
        }
        if !self.transport.is_empty() {
            text = text.replace("frame-hash", "flow-hash");
            text += &format!("[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"{}\"\n", self.transport);
        }
        if self.apart {
            text += "[[group]]\nhosts = [\"H10\"]\nscheme = \"none\"\n";
        }
        if !self.pause {
            text = text.replace("300 KB", "20 MB");
        }
        let pause = if self.pause { "on" } else { "off" };
        text + &format!("[matrix]\npause = [\"{pause}\"]\nschemes = [\"{}\"]\n", self.scheme)
    }

    fn victim(&self, folder: &Folder, name: &str) -> Parts {
        let (file, out) = (folder.write(&format!("{name}.toml"), &self.text()), folder.file(name));
        let done = cnsim(&["run", &file, "--out", &out]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done));
        let flows = folder.read(&format!("{name}/flows.csv"));
        let head: Vec<&str> = flows.lines().next().unwrap().split(',').collect();
        let line = flows.lines().find(|line| line.contains(",H10>H5,0,")).unwrap();
        let cells = head.iter().zip(line.split(','));
        let first = head.iter().position(|name| *name == "time_ns").unwrap();
        let last = head.iter().position(|name| *name == "answer_ns").unwrap();
        let times = cells.skip(first).take(last + 1 - first).filter(|(name, _)| **name != "alone_ns");
        times.map(|(name, ns)| (name.to_string(), ns.parse::<f64>().unwrap() / 1e3)).collect()
    }
}

/// The largest part of the difference, what that is, and the difference.
fn difference(a: &Parts, b: &Parts) -> (String, f64, f64) {
    let of = |name: &str| a[name] - b[name];
    let parts = a.keys().filter(|name| *name != "time_ns");
    let most = parts.max_by(|a, b| of(a).abs().total_cmp(&of(b).abs())).unwrap();
    (most.clone(), of(most), of("time_ns"))
}

#[test]
fn the_largest_part_is_the_cause() {
    let folder = Folder::new("causes");
    let mut right = 0;
    for (n, (scheme, transport)) in PAIRS.into_iter().enumerate() {
        let network = |scheme, apart, pause| Network { scheme, transport, apart, pause };
        let run = |name: &str, network: Network<'_>| network.victim(&folder, &format!("{n}-{name}"));
        let (with, none) =
            (run("with", network(scheme, false, true)), run("none", network("none", false, true)));
        let (part, more, before) = difference(&with, &none);
        let stopped = part.contains("xoff");
        let (with, none) = match stopped {
            true => {
                (run("off", network(scheme, false, false)), run("none-off", network("none", false, false)))
            }
            false => (run("off", network(scheme, true, true)), none),
        };
        let (left, after) = (with[&part] - none[&part], with["time_ns"] - none["time_ns"]);
        let follows = left.abs() < 0.1 * more.abs() && (before - after) * more.signum() > 0.0;
        right += usize::from(follows);
        println!(
            "{scheme} {transport}: {before:.1} us, of {part} {more:.1}; without: {after:.1} us, {left:.1}"
        );
    }
    assert!(right >= RIGHT, "{right} of {}", PAIRS.len());
}
