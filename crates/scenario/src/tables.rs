//! The tables of a scenario file, a file each: its keys with their kinds, defaults and meanings, the reading of them, and what they are in
//! the specification of a run.
//!
//! A new table is a file, and a line here, in [`tables!`].

use crate::language::reader::Reader;
use crate::language::row::Table;
use crate::wiring::Wiring;
use cnsim_fabric::RunSpec;
use cnsim_units::Time;
use std::collections::BTreeSet;

/// A table of a scenario file, as a case has it.
pub(crate) trait Section: Sized {
    /// Reads it, after those of earlier [`Turn`]s. Faults are reported. The topology alone changes what stands there, the delays of
    /// links.
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self;

    /// Puts it into a run. No other place knows these fields of the specification.
    fn put(&self, settings: &Settings, run: &mut RunSpec);
}

/// When a table is read: after all of earlier turns, and after those of its turn that stand above it.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Sources,
    Links,
    Rest,
}

/// Declares the tables, in the order of the documents: as a file writes it, its module, when it is read, and its field in the settings.
macro_rules! tables {
    (@module $module:ident) => { pub mod $module; };
    (@module $module:ident $parent:ident) => { pub use $parent::$module; };
    (@row [] $module:ident) => { Table::one("", $module::KEYS) };
    (@row [[traffic]] traffic) => { Table { shares: Some("workload"), ..Table::many("traffic", traffic::KEYS) } };
    (@row [[$name:ident]] $module:ident) => { Table::many(stringify!($name), $module::KEYS) };
    (@row [$name:ident] $module:ident) => { Table::one(stringify!($name), $module::KEYS) };
    ($($table:tt $module:ident $(of $parent:ident)? $(, $turn:ident $see:vis $field:ident: $kind:ty $(, $doc:literal)?)?;)*) => {
        $(tables!(@module $module $($parent)?);)*

        /// The tables, in the order of the documents.
        pub(crate) const ALL: &[Table] = &[$(tables!(@row $table $module)),*];

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
            $($($(#[doc = $doc])? $see $field: $kind,)?)*
        }

        impl Settings {
            /// Reads the tables, each in its turn.
            pub(crate) fn read_tables(&mut self, r: &mut Reader<'_>) {
                for turn in [Turn::Sources, Turn::Links, Turn::Rest] {
                    $($(if turn == Turn::$turn {
                        self.$field = Section::read(r, self);
                    })?)*
                }
            }

            /// Puts all tables into a run, in the order in which they were read.
            pub(crate) fn put_tables(&self, run: &mut RunSpec) {
                for turn in [Turn::Sources, Turn::Links, Turn::Rest] {
                    $($(if turn == Turn::$turn {
                        self.$field.put(self, run);
                    })?)*
                }
            }
        }
    };
}

#[rustfmt::skip]
tables! {
    [] head;
    [topology] topology, Links pub(crate) topology: topology::Topology;
    [switch] switch, Rest pub(crate) switch: switch::Switch;
    [pause] pause of switch, Links pub pause: pause::Pause, "Frames of PAUSE.";
    [control] control, Rest pub(crate) control: cnsim_fabric::ControlTransport;
    [host] host, Sources pub(crate) host: host::Host;
    [transport] transport, Sources pub(crate) pairs: Option<transport::QueuePairs>, "Queue pairs of finite flows, where they have some.";
    [[class]] class, Sources pub classes: class::Classes, "Classes of data, where there are several.";
    [workload] workload, Sources pub traffic: workload::Sources, "The sources of all hosts.";
    [[traffic]] traffic of workload;
    [hotspot] hotspot, Rest pub hotspots: Vec<hotspot::Hotspot>, "Hotspots; the first host's are those that metrics speak of.";
    [[event]] event, Links pub(crate) events: event::Events;
    [[fault]] fault, Rest pub(crate) faults: Vec<cnsim_fabric::PortFault>, "Ports that say XOFF for causes of their own.";
    [watchdog] watchdog, Rest pub watchdog: Option<cnsim_fabric::WatchdogSpec>, "Watchdogs of switch outputs, where there are some.";
    [[group]] group, Rest pub(crate) bare: group::Bare, "Hosts that run without the scheme.";
    [[figure]] figure;
    [timing] timing, Rest pub(crate) timing: timing::Timing;
    [run] run, Rest pub run: run::Run, "How it draws, and whether what repeats is simulated once.";
    [record] record, Rest pub record: record::Record, "What is recorded.";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file of a table is listed, in one line, and each key belongs to its table.
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
        let list = include_str!("tables.rs").split("\ntables! {\n").nth(1).unwrap();
        assert_eq!(list.split("\n}\n").next().unwrap().lines().count(), ALL.len());
        for table in ALL {
            assert!(table.keys.iter().all(|k| k.parts().0 == table.name), "[{}]", table.name);
        }
    }
}
