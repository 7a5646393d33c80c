//! One slowdown: what a run says of it by size, by name and in `fct.csv` is the same number.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_runs::files::read_csv;
use cnsim_runs::flow_files::{fct_csv, slowdown_csv};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::Scenario;

fn run(text: &str, set: &[(String, String)]) -> RunRecord {
    let scenario = Scenario::parse("t.toml", text, set).unwrap_or_else(|p| panic!("{p:#?}"));
    let case = scenario.cases()[0].clone();
    let ready = scenario.ready(&case).unwrap();
    run_job(&Job::new(case, ready, 1), None, &Watch::default(), 1).unwrap().expect("not interrupted")
}

/// The columns of a file of one run with these names, a row each.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at: Vec<usize> = names.iter().map(|n| head.iter().position(|h| h == n).unwrap()).collect();
    read_csv(text).iter().map(|row| at.iter().map(|i| row[*i].parse().unwrap()).collect()).collect()
}

/// The tutorial has hundreds of flows of 20 KB and nine of 1 MB: each size is a group, and its median is that of `fct.csv`.
#[test]
fn a_group_by_size_has_the_median_of_its_flows() {
    let text = include_str!("../../../docs/tutorial/incast.toml");
    let record = [run(text, &[])];
    let flows = columns(&fct_csv(&record).unwrap(), &["bytes", "slowdown"]);
    let groups = columns(&slowdown_csv(&record).unwrap(), &["from_bytes", "to_bytes", "flows", "p50"]);
    let by_hand = [20_000.0, 1_000_000.0].map(|size| {
        let mut all: Vec<f64> = flows.iter().filter(|f| f[0] == size).map(|f| f[1]).collect();
        all.sort_by(f64::total_cmp);
        vec![size, size, all.len() as f64, all[all.len().div_ceil(2) - 1]]
    });
    assert_eq!(groups, by_hand);
}
