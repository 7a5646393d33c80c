//! What is read from a run's outcome: its metrics, the times of its flows, its pauses, and the statistics of several runs.

mod ahead;
pub mod events;
pub mod fair;
pub mod fct;
pub mod flow_times;
pub mod frozen;
pub mod jobs;
pub mod map;
mod measure;
pub mod owners;
pub mod pauses;
mod ports;
pub mod quantity;
mod rates;
pub mod spent;
pub mod stats;
pub mod traffic;
pub mod xoff;

pub use measure::{Completions, Pauses, Run};
pub use ports::{PortFacts, ports};
pub use rates::fairness;
