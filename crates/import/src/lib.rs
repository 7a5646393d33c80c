//! Files of other simulators, read as they are: topologies, flows and configurations.
//!
//! | form | topology | flows | configuration |
//! |---|---|---|---|
//! | HPCC's ns-3 fork (Li et al., SIGCOMM 2019) | yes | yes | [`hpcc::Config`] |
//! | ns3-datacenter: ToRs and two rates in the header, bare rates | yes | as the fork's | as the fork's |
//! | SimAI and astra-sim: servers and NVSwitches in the header | yes | as the fork's | as the fork's |
//! | ConWeave's simulator: flows without a port | as the fork's | yes | as the fork's |
//! | htsim (`.topo`, `.cm`) | yes | yes | |
//! | GOAL text (LogGOPSim, ATLAHS) | | a schedule ([`goal`]) | |
//! | SimAI's workloads | | an iteration of training ([`simai`]) | |
//!
//! A file's form is told by what it holds ([`topology`], [`flows`]). Every refusal names line, fault and remedy, and all faults of a
//! file are named at once.

mod faults;
pub mod goal;
pub mod hpcc;
pub mod htsim;
mod scenario;
pub mod simai;

use faults::{Faults, count_of, data_rate, delay, error, lines, seconds, word};
pub use faults::{ImportError, Unread};
pub use scenario::{Files, Imported, scenario};

use cnsim_units::{Bytes, Rate, Time};

/// Whose form a file of links or flows has, as `topology.format` and `workload.format` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The form of the HPCC fork of ns-3 or of its kin.
    Fork,
    /// The form of htsim.
    Htsim,
    /// A schedule in GOAL text.
    Goal,
    /// A workload of SimAI.
    Simai,
}

impl Form {
    /// Name of the form in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fork => "hpcc",
            Self::Htsim => "htsim",
            Self::Goal => "goal",
            Self::Simai => "simai",
        }
    }

    /// Does it say what ranks do, and what waits for what?
    pub fn is_of_ranks(self) -> bool {
        matches!(self, Self::Goal | Self::Simai)
    }

    /// The form of a file: a schedule begins with `num_ranks`, a workload with capitals, one of htsim with another word, or with a connection
    /// `0->1`; one of the fork's kin with a number.
    pub fn of(text: &str) -> Self {
        let first = lines(text).map(|(_, words)| words[0]).find(|word| !word.starts_with(['#', '/']));
        if first == Some("num_ranks") {
            return Self::Goal;
        }
        if first.is_some_and(simai::begins) {
            return Self::Simai;
        }
        let word =
            first.is_some_and(|w| w.contains("->") || w.starts_with(|c: char| c.is_ascii_alphabetic()));
        if word { Self::Htsim } else { Self::Fork }
    }
}

/// Reads a topology of this form.
///
/// # Errors
/// All its faults, by line.
pub fn topology(form: Form, text: &str) -> Result<Fabric, Vec<ImportError>> {
    match form {
        Form::Fork => hpcc::topology(text),
        Form::Htsim => htsim::topology(text),
        Form::Goal | Form::Simai => Err(vec![error(1, "a schedule is no topology", "name it by --flows")]),
    }
}

/// Reads flows of this form; `fabric` knows the hosts, where they are to be looked up.
///
/// # Errors
/// All its faults, by line.
pub fn flows(form: Form, text: &str, fabric: Option<&Fabric>) -> Result<FlowList, Vec<ImportError>> {
    match form {
        Form::Fork => hpcc::flows(text, fabric),
        Form::Htsim => htsim::flows(text, fabric),
        Form::Goal => messages(text, fabric),
        Form::Simai => training(text, fabric),
    }
}

/// The messages of a schedule, and how long its ranks take; rank r is the r-th host.
fn messages(text: &str, fabric: Option<&Fabric>) -> Result<FlowList, Vec<ImportError>> {
    let read = goal::read(text)?;
    enough(fabric, read.ranks, (read.line, 0))?;
    let host = |rank: u32| match fabric {
        Some(fabric) => fabric.hosts[rank as usize].clone(),
        None => format!("H{rank}"),
    };
    let (mut list, mut busy) = (FlowList::default(), vec![Time::ZERO; read.ranks]);
    for one in &read.operations {
        match one.act {
            goal::GoalAct::Calc(time, _) => {
                let busy = &mut busy[one.rank as usize];
                *busy = Time::from_ps(busy.as_ps().saturating_add(time.as_ps()));
            }
            goal::GoalAct::Send(to, bytes) => list.flows.push(FileFlow {
                line: one.line as usize + 1,
                src: host(one.rank),
                dst: host(to),
                class: 0,
                port: None,
                bytes: Bytes::new(bytes.max(1)),
                start: Time::ZERO,
                after: Vec::new(),
            }),
            goal::GoalAct::Receive(_) => {}
        }
    }
    list.busy = busy.into_iter().max().unwrap_or_default();
    Ok(list)
}

/// Refuses a topology with fewer hosts than ranks; `at` is line and character, from 0, that say how many these are.
fn enough(fabric: Option<&Fabric>, ranks: usize, at: (usize, usize)) -> Result<(), Vec<ImportError>> {
    match fabric.map(|fabric| fabric.hosts.len()).filter(|hosts| *hosts < ranks) {
        None => Ok(()),
        Some(hosts) => {
            let reason = format!("{ranks} ranks, and the topology has {hosts} hosts");
            let wrong = error(at.0 + 1, reason, "name a topology with a host for each rank");
            Err(vec![ImportError { column: at.1 + 1, ..wrong }])
        }
    }
}

/// Bytes and times of a workload's ranks, as if its layers ran one after the other.
fn training(text: &str, fabric: Option<&Fabric>) -> Result<FlowList, Vec<ImportError>> {
    let all: Vec<&str> = text.lines().collect();
    let read = simai::read(&all)?;
    enough(fabric, read.ranks(), read.ranks_at)?;
    let mut list = FlowList { busy: read.busy(), notes: read.notes.clone(), ..FlowList::default() };
    for (call, n) in read.sums() {
        let others = read.size(call.group) as u64 - 1;
        // Twice, for an all-reduce.
        list.steps = list.steps.saturating_add(2 * others * n);
        list.moved = list.moved.saturating_add(call.bytes.saturating_mul(2 * others.min(1)));
        let calls = if n == 1 { "call" } else { "calls" };
        let over = others + 1;
        list.calls
            .push(format!("{call}: {n} {calls} of each rank, {} B in all, over {over} ranks", call.bytes));
    }
    // Stages of a pipeline wait for each other.
    let stages = read.pp as u64;
    list.steps = list.steps.saturating_mul(stages);
    list.moved = list.moved.saturating_mul(stages);
    list.busy = Time::from_ps(list.busy.as_ps().saturating_mul(stages));
    list.what = format!("{} ranks, {} layers", read.ranks(), read.layers.len());
    Ok(list)
}

/// A network as a file describes it. Node names are those of cnsim: `H7` for a host, `S7` for a switch, with the number
/// that the file gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fabric {
    /// Hosts, in order of their numbers.
    pub hosts: Vec<String>,
    /// Switches, in order of their numbers.
    pub switches: Vec<String>,
    /// Links, in the order of the file.
    pub links: Vec<FabricLink>,
    /// Lines beyond the announced links, if there are some.
    pub unread: Option<Unread>,
}

/// A link of a [`Fabric`].
#[derive(Clone, Debug, PartialEq)]
pub struct FabricLink {
    /// Line of the file that describes it, from 1.
    pub line: usize,
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// The finite flows of a file, by start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowList {
    /// The flows.
    pub flows: Vec<FileFlow>,
    /// Lines beyond the announced flows, if there are some.
    pub unread: Option<Unread>,
    /// Time that the busiest rank of a schedule computes in all.
    pub busy: Time,
    /// Ranks and layers of a workload in words, in place of flows.
    pub what: String,
    /// Bytes that a rank of a workload receives in all, beside the flows.
    pub moved: u64,
    /// Messages of a rank of a workload that may wait for each other, beside the flows.
    pub steps: u64,
    /// Calls of a workload with their bytes, a line each.
    pub calls: Vec<String>,
    /// Notes for a reader, a sentence each.
    pub notes: Vec<String>,
}

/// A finite flow of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFlow {
    /// Line of the file, from 1.
    pub line: usize,
    /// Sending host, as in [`Fabric`].
    pub src: String,
    /// Receiving host.
    pub dst: String,
    /// Priority class, 0 if the format has none.
    pub class: u8,
    /// Port at the receiving host, none if the format has none.
    pub port: Option<u32>,
    /// Payload.
    pub bytes: Bytes,
    /// Start, by the file's clock.
    pub start: Time,
    /// Lines of those that it follows: it begins as the last of them has ended at its source.
    pub after: Vec<usize>,
}
