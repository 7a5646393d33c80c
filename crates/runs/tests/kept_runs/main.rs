//! Runs and the files that keep them. One binary: each of its files would link all crates again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod captures;
mod collectives;
mod metrics;
mod named_traffic;
mod slowdown;

use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::Scenario;

/// The first case of a scenario, with its first seed.
fn job_with(text: &str, sets: &[(String, String)]) -> Job {
    let scenario = Scenario::parse("t.toml", text, sets).unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    let case = scenario.cases()[0].clone();
    let ready = scenario.ready(&case).unwrap();
    Job::new(case, ready, 1)
}

/// The first case of a scenario as its text says, with its first seed.
fn job(text: &str) -> Job {
    job_with(text, &[])
}

/// What a job's run keeps.
fn done(job: &Job) -> RunRecord {
    run_job(job, None, &Watch::default(), 1).unwrap().expect("not interrupted")
}
