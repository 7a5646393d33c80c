//! The network: frames, links, ports, PAUSE, switches, hosts, limiters, traffic, and the engines that run them.
//!
//! Describe a run by a [`RunSpec`], call [`run`], read the [`Outcome`].

/// An error with this text, where that is so.
macro_rules! refuse {
    ($so:expr, $($text:tt)+) => { if $so { return Err(format_args!($($text)+).to_string()); } };
}

mod check;
mod engine;
mod fast;
mod flows;
mod hash;
mod headroom;
#[cfg_attr(not(debug_assertions), doc(hidden))]
pub mod marks;
mod mix;
mod model;
mod net;
mod numbers;
mod outcome;
mod paged;
mod per_bin;
mod scheme;
mod spec;
mod timers;
mod tx_rate;
mod ways;

pub use engine::run;
pub use hash::number_in;
pub use headroom::{Shortage, headroom, shortages};

pub use flows::{numbered, precede};
pub use outcome::{
    Capture, Captured, Cause, Completion, Content, Cut, Cuts, Fingerprint, FlowEvent, Freeze, GaugeSite,
    Held, HostOutcome, HostPause, Incomplete, Latencies, LostOnLink, Messages, Outcome, Pauses, Phases,
    PortOutcome, Recorded, Series, SeriesKind, SharedUse, SourcePart, Standstill, Stay, Storm, SwitchOutcome,
    TransfersTo, TransportOutcome, Trigger, Trip, Waiting, Xoff, latency_quantile,
};
pub use spec::{
    Act, After, Arrivals, BufferSpec, ClassScheme, ClassSpec, ControlTransport, Destinations, Draws,
    FaultKind, Faults, Graph, HostQueues, HostSpec, Lasted, Laws, LimiterPosition, LinkLoss, LinkSpec,
    LossKind, LostFrame, MOST_CLASSES, Operation, Organisation, PauseFrames, PauseSpec, PauseTransport,
    Phase, PortEvents, PortFault, RateChange, Record, Recovery, Reliability, Rounding, Routing, RunSpec,
    SelectiveSpec, SharedInput, SharedSpec, SourceSpec, SwitchSpec, TcpSpec, Ties, Transfer, TransportSpec,
    Turn, WatchdogAction, WatchdogRule, WatchdogSpec, Window,
};
pub use ways::Ways;

/// Which engine runs a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// The fast nodes (`src/fast`) in conservative windows, on one thread or several.
    #[default]
    Fast,
    /// The model's nodes (`src/model`), one event at a time: simple, the oracle.
    Model,
}

/// How the fast engine visits the nodes; results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Visits {
    /// The way follows the mean number of frames in a port's window, which is measured repeatedly.
    #[default]
    Adaptive,
    /// Every node is visited in every window.
    All,
    /// Only nodes with due work are visited.
    Due,
    /// The ways alternate after some windows: for tests.
    Turns,
}

/// Whether parts of a run that repeat are simulated once; results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reuse {
    /// What begins from rest as before is taken from before, where draws are keyed ([`Draws::Keyed`]).
    #[default]
    Auto,
    /// All is simulated.
    Off,
    /// As [`Reuse::Auto`], but a share of what is taken is simulated as well. A difference is an error.
    Verify,
}

/// How a run is carried out; results do not depend on it.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Which engine carries out the run.
    pub engine: Engine,
    /// Most threads for one run (fast engine); 0 = by the work of a window and the free cores. With few frames in a window, one
    /// thread does the run, unless `visits` is not adaptive.
    pub threads: usize,
    /// How nodes are visited (fast engine), on any number of threads. Stars whose nodes run further than a window do so on one thread.
    pub visits: Visits,
    /// Whether parts that repeat are simulated once.
    pub reuse: Reuse,
    /// Called repeatedly with (simulated time, packet-hops so far); it returns false to stop the run.
    pub progress: Option<&'a (dyn Fn(cnsim_scheme_api::Time, u64) -> bool + Sync)>,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The spec cannot be run: the item and the reason.
    Spec(String),
    /// A law was broken: time, place and cause.
    Law(String),
    /// A scheme failed, panicked, or made an impossible request: site, time and cause.
    Scheme(String),
    /// The progress callback stopped the run.
    Stopped,
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Spec(s) => write!(f, "cannot run: {s}"),
            RunError::Law(s) => write!(f, "law broken: {s}"),
            RunError::Scheme(s) => write!(f, "the scheme failed: {s}"),
            RunError::Stopped => write!(f, "stopped"),
        }
    }
}

impl std::error::Error for RunError {}
