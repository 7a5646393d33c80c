//! A scenario: its text, read and checked; the cases of its matrix; and the settings of each case. It knows nothing of published studies.
//!
//! | folder | holds |
//! |---|---|
//! | [`language`] | how a file is written, whatever its keys are: [`text`], [`kinds`], rows of keys, [`meant`] |
//! | [`tables`] | each table: its keys, their reading, and what they are in the specification of a run |
//! | [`settings`] | what follows from the tables of a case: estimates, bounds, the run's specification |
//! | [`file`] | all keys of a file: [`keys`], checks, [`assumptions`], [`schema`] |
//! | [`case`] | ids of cases and the names of their [`condition`]s |
//! | `scenario` | a [`Scenario`] with its cases, and the [`config::Config`] of a run |
//!
//! Arrows go one way: a folder uses those above it, and `scenario` uses all. Names of metrics stand in [`metrics`] and [`columns`].

pub mod case;
pub mod columns;
pub mod file;
pub mod flows;
pub mod headroom;
pub mod language;
pub mod metrics;
mod scenario;
pub mod settings;
pub mod tables;
pub mod wiring;

pub use case::condition;
pub use file::{assumptions, keys, schema};
pub use language::{kinds, meant, text};
pub use scenario::{Case, EMBEDDED, Group, Ready, Scenario, config, embedded_of, needs_queue_pairs};
pub use tables::workload::jobs;
pub use tables::{figure as figures, topology, workload};
