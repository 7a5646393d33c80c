//! A scenario: its text, read and checked; the cases of its matrix; and the settings of each case. It knows nothing of published studies.
//!
//! | step | modules |
//! |---|---|
//! | read a text | [`text`], [`kinds`], [`keys`], [`schema`] |
//! | a table of the file: its keys, and what they say | [`tables`] |
//! | check its settings | [`settings`], [`headroom`] |
//! | its cases, and the names of their conditions | [`Scenario`], [`case::CaseId`], [`condition`] |
//! | the configuration of a run | [`config::Config`] |
//! | names of metrics, figures and assumptions | [`metrics`], [`tables::figure`], [`assumptions`] |

pub mod assumptions;
pub mod case;
mod checks;
pub mod columns;
pub mod condition;
pub mod config;
mod embedded;
pub mod flows;
pub mod headroom;
mod inline;
pub mod keys;
pub mod kinds;
pub mod meant;
pub mod metrics;
mod nics;
mod reader;
mod row;
mod scenario;
pub mod schema;
pub mod settings;
pub mod tables;
pub mod text;
pub mod wiring;

pub use scenario::{Case, EMBEDDED, Group, Ready, Scenario, needs_queue_pairs};
pub use tables::workload::jobs;
pub use tables::{figure as figures, topology, workload};
