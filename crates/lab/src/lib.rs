//! The lab: from a scenario file to the results of its runs. It knows nothing of published studies.
//!
//! | step | modules |
//! |---|---|
//! | read and check a scenario | [`scenario`], [`keys`], [`schema`], [`topology`], [`workload`], [`settings`] |
//! | its cases, a sweep's points | [`scenario::Case`], [`grid`], [`points`] |
//! | run them, keep them | [`run`], [`store`] |
//! | which case, which run | [`case::CaseId`], [`config::Config`], [`record::RunRecord`] |
//! | measure | [`metrics`], [`quantity`], [`measure`], [`flow_times`], [`traffic`], [`stats`] |
//! | write and read results | [`results`], [`files`], [`flow_files`], [`saved`] |
//! | notes on settings and results that may mislead | [`advice`] |
//!
//! ```
//! use cnsim_lab::run::{Watch, jobs, run_job};
//! use cnsim_lab::scenario::Scenario;
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

pub mod advice;
pub mod assumptions;
pub mod case;
mod checks;
pub mod code;
pub mod condition;
pub mod config;
pub mod demo;
mod embedded;
pub mod fair;
pub mod figures;
pub mod files;
pub mod flow_files;
pub mod flow_times;
pub mod flows;
pub mod frozen;
mod graph;
pub mod grid;
pub mod headroom;
mod inline;
pub mod keys;
pub mod kinds;
pub mod meant;
pub mod measure;
pub mod metrics;
pub mod owners;
pub mod pause_files;
pub mod pauses;
pub mod place;
pub mod points;
pub mod quantity;
mod reader;
pub mod record;
pub mod results;
mod round_trips;
pub mod run;
pub mod saved;
pub mod scenario;
pub mod schema;
pub mod settings;
pub mod stats;
pub mod store;
pub mod text;
pub mod topology;
pub mod traffic;
pub mod unfinished;
mod wiring;
pub mod workload;
pub mod xoff;
