//! `cnsim import`, and `cnsim run --hpcc`: files of other simulators as scenarios.

use crate::{Common, Done, Failure};
use clap::Args;
use cnsim_import::{Files, Imported, scenario};
use cnsim_scenario::Scenario;
use std::path::PathBuf;

/// Which files. A form is told by what the file holds: the HPCC fork's or its kin's, SimAI's, htsim's, a schedule in GOAL text, or a workload of SimAI.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ForeignArgs {
    /// Configuration of the HPCC fork of ns-3.
    #[arg(long, value_name = "CONFIG")]
    pub(crate) hpcc: Option<PathBuf>,
    /// Topology file [default: the one in the configuration].
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// File of flows, a schedule in GOAL text, or a workload of SimAI [default: the one in the configuration].
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
}

impl ForeignArgs {
    /// Is there any?
    pub(crate) fn any(&self) -> bool {
        self.hpcc.is_some() || self.topology.is_some() || self.flows.is_some()
    }

    /// The options with their files, as a user writes them on the command line.
    pub(crate) fn command(&self) -> String {
        let named = [("--hpcc", &self.hpcc), ("--topology", &self.topology), ("--flows", &self.flows)];
        let words = named.iter().filter_map(|(o, f)| Some(format!("{o} {}", f.as_ref()?.display())));
        words.collect::<Vec<_>>().join(" ")
    }

    fn read(&self, common: &Common) -> Result<Imported, Failure> {
        let (hpcc, topology, flows) = (self.hpcc.clone(), self.topology.clone(), self.flows.clone());
        let read = scenario(&Files { hpcc, topology, flows })?;
        if !common.quiet {
            read.notes.iter().for_each(|note| eprintln!("note: {note}"));
        }
        Ok(read)
    }

    /// The scenario that they describe.
    pub(crate) fn scenario(
        &self,
        common: &Common,
        sets: &[(String, String)],
        schemes: &[&str],
    ) -> Result<Scenario, Failure> {
        Ok(Scenario::of_import(&common.registry, &self.read(common)?, sets, schemes)?)
    }
}

/// Arguments of `cnsim import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    files: ForeignArgs,
}

pub(crate) fn import(args: &ImportArgs, common: &Common) -> Done {
    if !args.files.any() {
        return Err(Failure::input(
            "nothing to import\n  help: name a configuration by --hpcc, or files by --topology and --flows",
        ));
    }
    // Only what can be run is written.
    let read = args.files.read(common)?;
    Scenario::of_import(&common.registry, &read, &[], &[])?;
    print!("{}", read.text);
    Ok(())
}
