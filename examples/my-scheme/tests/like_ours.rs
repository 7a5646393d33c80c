//! A scheme from another crate keeps the contract and runs like ours.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::{Engine, Options, run};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::Registry;
use cnsim_scheme_api::testing::conformance_over;

fn registry() -> Registry {
    let mut registry = cnsim_schemes::registry();
    registry.register(my_scheme::registration()).unwrap();
    registry
}

#[test]
fn it_keeps_the_contract() {
    assert_eq!(conformance_over(&my_scheme::registration()), Ok(()));
}

/// Two flows of 10 Gb/s into one port.
const TEXT: &str = r#"
name = "two"
[topology]
kind = "single-switch"
hosts = 3
first = 1
[pause]
mode = "off"
[[traffic]]
hosts = ["H1", "H2"]
kind = "greedy"
destinations = ["H3"]
[run]
duration = "30 ms"
seeds = 1
[matrix]
schemes = ["my-timely"]
"#;

/// It is read from TOML, its parameters from `scheme.my-timely`, and both engines agree on it bit for bit. Its acknowledgements
/// are one for each segment, and its rates come down by delay alone: the port does nothing.
#[test]
fn it_runs_from_a_scenario() {
    let registry = registry();
    let text = format!("{TEXT}[scheme.my-timely]\nsegment = \"32 KB\"\n");
    let scenario = Scenario::parse_in(&registry, "two.toml", &text, &[], &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    assert!(ready.built.values.contains(&("segment".into(), "32 KB".into())));
    let spec = ready.settings.spec(&ready.built, 1, false);
    let go = |engine| run(&spec, &Options { engine, threads: 1, ..Options::default() }).unwrap().results();
    let (fast, oracle) = (go(Engine::Fast), go(Engine::Model));
    assert_eq!(format!("{fast:?}"), format!("{oracle:?}"));
    let counter = |name: &str| fast.counters.iter().find(|c| c.0 == name).unwrap().1;
    let sent: u64 = fast.hosts.iter().map(|h| h.sent).sum();
    let segments = sent * 1500 / 33_000;
    assert!(counter("acks") > segments * 8 / 10 && counter("acks") <= segments + 2, "{}", counter("acks"));
    assert!(counter("delay_cuts") > 100, "{}", counter("delay_cuts"));
}

/// The registry without it does not know it, and says so.
#[test]
fn it_is_unknown_elsewhere() {
    let problems = Scenario::parse("two.toml", TEXT, &[]).unwrap_err();
    assert!(problems.iter().any(|p| p.reason.contains("there is no scheme `my-timely`")), "{problems:?}");
}
