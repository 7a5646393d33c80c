//! The studies by their pages and published cells. One binary: each of its files would link all crates again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod b07;
mod c07;
mod m08;
mod r07;
mod single_hop;
mod tcp;
mod windows;
mod z07;

use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::Scenario;

/// A study's scenario, with keys of this test's own.
fn scenario(id: &str, sets: &[(&str, &str)]) -> Scenario {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Scenario::load(id, &sets).unwrap()
}

/// The first seed of one of its cases: condition, PAUSE mode and scheme.
fn job(id: &str, [condition, pause, scheme]: [&str; 3], sets: &[(&str, &str)]) -> Job {
    let scenario = scenario(id, sets);
    let case = scenario.case_of(condition, pause, scheme).unwrap();
    assert_eq!(case.id.condition, condition);
    let ready = scenario.ready(&case).unwrap();
    Job::new(case, ready, 1)
}

/// What the first seed of a case measures.
fn go(id: &str, case: [&str; 3], sets: &[(&str, &str)]) -> RunRecord {
    run_job(&job(id, case, sets), None, &Watch::default(), 1).unwrap().unwrap()
}
