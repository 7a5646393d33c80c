//! A scenario: its text, read and checked; the cases of its matrix; and the settings of each case. It knows nothing of published studies.
//!
//! | step | modules |
//! |---|---|
//! | read a text | [`text`], [`kinds`], [`keys`], [`schema`] |
//! | check its settings | [`settings`], [`topology`], [`workload`], [`jobs`], [`headroom`] |
//! | its cases, and the names of their conditions | [`Scenario`], [`case::CaseId`], [`condition`] |
//! | the configuration of a run | [`config::Config`] |
//! | names of metrics, figures and assumptions | [`metrics`], [`figures`], [`assumptions`] |

pub mod assumptions;
pub mod case;
mod checks;
pub mod condition;
pub mod config;
mod embedded;
pub mod figures;
pub mod flows;
mod graph;
pub mod headroom;
mod inline;
pub mod jobs;
pub mod keys;
pub mod kinds;
pub mod meant;
pub mod metrics;
mod reader;
mod scenario;
pub mod schema;
pub mod settings;
pub mod text;
pub mod topology;
pub mod wiring;
pub mod workload;

pub use scenario::{Case, EMBEDDED, Group, Ready, Scenario, needs_queue_pairs};
