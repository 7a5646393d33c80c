//! The model stands alone, and is short.
#![allow(clippy::unwrap_used)]

use std::path::Path;

/// The model knows nothing of what is faster: it uses itself, the books, and what says what a network is. It stays short, and what
/// moves into it leaves another place.
#[test]
fn the_model_stands_alone() {
    let common = [
        "check", "flows", "mix", "net", "numbers", "outcome", "paged", "per_bin", "scheme", "spec", "timers",
        "tx_rate",
    ];
    let (mut lines, mut of_model, mut folders) =
        (0, 0, vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")]);
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let model = path.parent().is_some_and(|p| p.ends_with("model"));
        lines += text.lines().count();
        of_model += if model { text.lines().count() } else { 0 };
        for used in text.lines().filter(|_| model).filter_map(|l| l.strip_prefix("use ")) {
            let known = common.iter().any(|c| used.starts_with(&format!("crate::{c}::")));
            let outside = ["super::", "std::", "cnsim_scheme_api::"].iter().any(|c| used.starts_with(c));
            assert!((known || outside) && !used.contains("::*"), "{used}");
        }
    }
    assert!(of_model <= 9_583, "the model has {of_model} lines: it is to be read in an hour");
    assert!(
        lines <= 22_218,
        "the crate has {lines} lines: 12,500, why XOFF is decided, faults of ports, shared buffers, watchdogs, dependent flows, hosts with several NICs, where the time of flows goes and what cuts them, TCP with RACK, handshakes, bursts, proportional reduction, ECN and kept connections, captures, traits for one body of a switch, classes with turns, schemes, operations, recorded queues and pools of their own, pools of headroom, draws by place, what links carry over time, what a switch remembers of paths and steps, outputs out of step, states of a transmission, phases that are taken from equal ones before, and networks of classes in both engines"
    );
}
