//! Scenarios that tests write as texts: made ready, refused, and run.
#![allow(dead_code, reason = "each test uses a part")]

use cnsim_fabric::{Engine, Options, Outcome, run};
use cnsim_scenario::{Ready, Scenario};

/// The first case of a text.
pub(crate) fn ready(text: &str) -> Ready {
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    scenario.ready(&scenario.cases()[0]).unwrap()
}

/// All that is wrong with the first case of a text, by key, a line each.
pub(crate) fn refused_keys(text: &str) -> String {
    let problems = Scenario::parse("t.toml", text, &[]);
    let problems = problems.and_then(|s| s.ready(&s.cases()[0]).map(|_| ())).unwrap_err();
    problems.iter().map(|p| format!("{}: {}; {}\n", p.key, p.reason, p.remedy)).collect()
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

/// When each rank of the first job has ended, ps, by both engines.
pub(crate) fn ends(text: &str) -> Vec<u64> {
    let ready = ready(text);
    let job = &ready.settings.traffic.jobs.list[0];
    let [fast, model] = [Engine::Fast, Engine::Model].map(|engine| {
        let out = outcome(&ready, engine, 0);
        job.ends.iter().map(|&n| out.operations[n as usize].ended.as_ps()).collect::<Vec<_>>()
    });
    assert_eq!(fast, model, "{text}");
    fast
}
