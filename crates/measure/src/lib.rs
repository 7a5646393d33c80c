//! What is read from a run's outcome: its metrics, the times of its flows, its pauses, and the statistics of several runs.

pub mod fair;
pub mod fct;
pub mod flow_times;
pub mod frozen;
mod measure;
pub mod owners;
pub mod pauses;
pub mod quantity;
pub mod stats;
pub mod traffic;
pub mod xoff;

pub use measure::{PortFacts, completion, fairness, lower_bounds, measure, measure_with, ports};
