//! The tables of a scenario file, a file each: its keys with their kinds, defaults and meanings, the reading of them, and what they are in
//! the specification of a run.
//!
//! A new table is a file, and three lines here: its module, its keys in [`ALL`], and its field in [`Settings`].

pub mod class;
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

use crate::language::reader::Reader;
use crate::language::row::Table;
use crate::wiring::Wiring;
use cnsim_fabric::{ControlTransport, PortFault, RunSpec, WatchdogSpec};
use cnsim_units::Time;
use std::collections::BTreeSet;
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
    Table::many("class", class::KEYS),
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

/// A table of a scenario file, as a case has it.
pub(crate) trait Section: Sized {
    /// Reads it, after the tables that stand before it in [`Settings`]. Faults are reported. The topology alone changes what stands
    /// there, the delays of links.
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self;

    /// Puts it into a run. No other place knows these fields of the specification.
    fn put(&self, settings: &Settings, run: &mut RunSpec);
}

/// Declares the settings: a field for each table, in the order of their reading.
macro_rules! sections {
    ($($(#[$doc:meta])* $see:vis $field:ident: $kind:ty,)*) => {
        /// Everything that the tables of a case say, typed and in range.
        #[derive(Clone, Debug, Default)]
        pub struct Settings {
            /// Hosts, switches, links.
            pub wiring: Wiring,
            /// Simulated time.
            pub duration: Time,
            /// The scheme, as the settings depend on it.
            pub(crate) steered: transport::Steered,
            /// Keys that were read. The run depends on them.
            pub(crate) keys: BTreeSet<String>,
            $($(#[$doc])* $see $field: $kind,)*
        }

        impl Settings {
            /// Reads the tables, each after those before it.
            pub(crate) fn read_tables(&mut self, r: &mut Reader<'_>) {
                $(self.$field = Section::read(r, self);)*
            }

            /// Puts all tables into a run.
            pub(crate) fn put_tables(&self, run: &mut RunSpec) {
                $(self.$field.put(self, run);)*
            }
        }
    };
}

sections! {
    pub(crate) host: host::Host,
    /// Queue pairs of finite flows, where they have some.
    pub(crate) pairs: Option<transport::QueuePairs>,
    /// Classes of data, where there are several.
    pub classes: class::Classes,
    /// The sources of all hosts.
    pub traffic: workload::Sources,
    pub(crate) topology: topology::Topology,
    /// Frames of PAUSE.
    pub pause: pause::Pause,
    pub(crate) switch: switch::Switch,
    pub(crate) events: event::Events,
    /// Hotspots; the first host's are those that metrics speak of.
    pub hotspots: Vec<hotspot::Hotspot>,
    /// Ports that say XOFF for causes of their own.
    pub(crate) faults: Vec<PortFault>,
    /// Watchdogs of switch outputs against storms of PAUSE, where there are some.
    pub watchdog: Option<WatchdogSpec>,
    pub(crate) control: ControlTransport,
    pub(crate) timing: timing::Timing,
    /// Hosts that run without the scheme.
    pub(crate) bare: group::Bare,
    /// What is recorded.
    pub record: record::Record,
    pub(crate) draws: cnsim_fabric::Draws,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file of a table is listed, and each key belongs to its table.
    #[test]
    fn every_file_is_a_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tables");
        let files = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
            let path = entry.unwrap().path();
            (path.extension()? == "rs").then(|| path.file_stem().unwrap().to_string_lossy().into_owned())
        });
        for file in files {
            let name = if file == "head" { "" } else { &file };
            assert!(ALL.iter().any(|table| table.name == name), "{file} is not in ALL");
        }
        for table in ALL {
            assert!(table.keys.iter().all(|k| k.parts().0 == table.name), "[{}]", table.name);
        }
    }
}
