//! Scenarios that tests write as texts: made ready, refused, and run.

use cnsim_fabric::{Engine, Options, Outcome, run};
use cnsim_scenario::{Ready, Scenario};

/// The first case of a text.
pub(crate) fn ready(text: &str) -> Ready {
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    scenario.ready(&scenario.cases()[0]).unwrap()
}

/// All that is wrong with a text.
pub(crate) fn refused(text: &str) -> String {
    let problems = Scenario::parse("t.toml", text, &[]).expect_err(text);
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What a case gives by an engine on so many threads.
pub(crate) fn outcome(ready: &Ready, engine: Engine, threads: usize) -> Outcome {
    let spec = ready.settings.spec(&ready.built, 1, false);
    run(&spec, &Options { engine, threads, ..Options::default() }).unwrap()
}
