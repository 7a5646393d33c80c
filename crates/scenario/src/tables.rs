//! The tables of a scenario file, a file each: its keys with their kinds, defaults and meanings, and the reading of them.
//!
//! A new table is a file, and its lines here.

pub mod control;
pub mod event;
pub mod fault;
pub mod figure;
pub mod group;
pub mod head;
pub mod host;
pub mod hotspot;
pub mod record;
pub mod run;
pub mod switch;
pub mod timing;
pub mod topology;
pub mod transport;
pub mod watchdog;
pub mod workload;

use crate::row::Table;
pub use switch::pause;
pub use workload::traffic;

/// The tables, in the order of the documents.
pub(crate) const ALL: &[Table] = &[
    Table::one("", head::KEYS),
    Table::one("topology", topology::KEYS),
    Table::one("switch", switch::KEYS),
    Table::one("pause", pause::KEYS),
    Table::one("control", control::KEYS),
    Table::one("host", host::KEYS),
    Table::one("transport", transport::KEYS),
    Table::one("workload", workload::KEYS),
    Table { shares: Some("workload"), ..Table::many("traffic", traffic::KEYS) },
    Table::one("hotspot", hotspot::KEYS),
    Table::many("event", event::KEYS),
    Table::many("fault", fault::KEYS),
    Table::one("watchdog", watchdog::KEYS),
    Table::many("group", group::KEYS),
    Table::many("figure", figure::KEYS),
    Table::one("timing", timing::KEYS),
    Table::one("run", run::KEYS),
    Table::one("record", record::KEYS),
];
