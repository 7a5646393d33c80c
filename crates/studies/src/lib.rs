//! From a scenario as written to a verdict on what was published: read, check, plan, run, measure, compare.

pub mod assume;
pub mod assumptions;
mod checks;
pub mod claims;
pub mod condition;
pub mod demo;
mod embedded;
pub mod fair;
pub mod figures;
pub mod files;
pub mod grid;
pub mod headroom;
pub mod keys;
pub mod measure;
pub mod metrics;
pub mod papers;
pub mod per_study;
pub mod published;
mod reader;
pub mod scenario;
pub mod settings;
pub mod stats;
pub mod store;
pub mod study;
pub mod text;
pub mod topology;
pub mod workload;
