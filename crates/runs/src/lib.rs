//! Runs of a scenario's cases: carried out, recorded, kept, and written as results.
//!
//! | step | modules |
//! |---|---|
//! | the runs of cases, and the points of a sweep | [`run`], [`grid`], [`points`] |
//! | what a run gave | [`record::RunRecord`] |
//! | runs that are kept | [`store`], [`code`] |
//! | frames of ports and flows, for Wireshark and as columns | [`capture`] |
//! | write and read results | [`results`], [`files`], [`flow_files`], [`pause_files`], [`spent_files`], [`saved`], [`place`] |
//!
//! ```
//! use cnsim_runs::run::{Watch, jobs, run_job};
//! use cnsim_scenario::Scenario;
//!
//! let text = r#"
//! name = "two-senders"
//! [topology]
//! kind = "single-switch"
//! hosts = 3
//! [pause]
//! mode = "on"
//! [[traffic]]
//! hosts = ["H0", "H1"]
//! kind = "greedy"
//! destinations = ["H2"]
//! [run]
//! duration = "1 ms"
//! seeds = 1
//! [matrix]
//! schemes = ["none"]
//! "#;
//! let scenario = Scenario::parse_in(&cnsim_schemes::registry(), "two-senders", text, &[], &[]).unwrap();
//! for job in jobs(&scenario, scenario.cases()).unwrap() {
//!     let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
//!     assert!(record.metrics["aggregate_throughput"] > 9.0, "one port of 10 Gb/s is full");
//! }
//! ```

pub mod capture;
pub mod code;
mod curves;
pub mod demo;
pub mod files;
pub mod flow_files;
pub mod grid;
pub mod job_files;
pub mod pause_files;
pub mod place;
pub mod points;
pub mod record;
pub mod results;
pub mod run;
pub mod saved;
pub mod spent_files;
pub mod store;
