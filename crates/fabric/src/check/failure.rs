//! Why a run cannot go on.

use crate::numbers::{NEVER, Ps};
use crate::spec::RunSpec;
use std::cell::Cell;

/// Ends the run, with cause and place in the code, as an impossible state was found: before a frame is lost unnoticed.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn broken(what: &str) -> ! {
    std::panic::resume_unwind(Box::new(format!("{what} ({})", std::panic::Location::caller())))
}

/// Who stops a run, at its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The congestion point of a port.
    Point(u16),
    /// The reaction point of the flow to a host, or of the whole host.
    Reaction(Option<u32>),
    /// The reflector of the flow from a host, or the one that serves that flow among others.
    Reflector(u32),
    /// The network: a frame of no flow has come.
    Receiver,
    /// The network: a memory holds other bytes than those that wait.
    Memory,
}

/// The failure that stops the run at a node. The earliest counts.
#[derive(Debug, Default)]
pub(crate) struct Failure(Option<(Ps, Who, String)>);

thread_local! {
    /// A node of this thread has a failure.
    static ALARM: Cell<bool> = const { Cell::new(false) };
}

/// Has a node of this thread noted a failure since [`quiet`]?
#[inline]
pub(crate) fn alarmed() -> bool {
    ALARM.get()
}

/// A run begins on this thread.
pub(crate) fn quiet() {
    ALARM.set(false);
}

impl Failure {
    /// Notes what happens now (ps) to whom, and why.
    #[cold]
    pub(crate) fn note(&mut self, now: Ps, who: Who, cause: &str) {
        ALARM.set(true);
        if self.0.as_ref().is_none_or(|(before, ..)| now < *before) {
            self.0 = Some((now, who, cause.to_string()));
        }
    }
    /// The earlier of two; of one moment the first.
    pub(crate) fn earlier(first: Self, second: Self) -> Self {
        let at = |failure: &Self| failure.at().unwrap_or(NEVER);
        if at(&second) < at(&first) { second } else { first }
    }
    /// When it happened, ps.
    pub(crate) fn at(&self) -> Option<Ps> {
        self.0.as_ref().map(|f| f.0)
    }
    /// The earliest of all nodes, given in their order: of one moment, the first node's. In words, and whether a scheme's object failed.
    pub(crate) fn first<'a>(nodes: impl Iterator<Item = &'a Self>, spec: &RunSpec) -> Option<(bool, String)> {
        let failed = (0..).zip(nodes).filter_map(|(node, f)| Some((node, f.0.as_ref()?)));
        let (node, (at, who, cause)) = failed.min_by_key(|(_, f)| f.0)?;
        let (here, host) = (spec.name(node), |n: &u32| spec.name(*n));
        let who_text = match who {
            Who::Point(port) => format!("congestion point of port {port} at switch {here}"),
            Who::Reaction(Some(dst)) => format!("reaction point of flow {here}>{}", host(dst)),
            Who::Reaction(None) => format!("reaction point of host {here}"),
            Who::Reflector(src) => format!("reflector of flow {}>{here}", host(src)),
            Who::Receiver => format!("receiver at host {here}"),
            Who::Memory => format!("memory of switch {here}"),
        };
        Some((!matches!(who, Who::Receiver | Who::Memory), format!("{who_text}, at {}: {cause}", at.time())))
    }
}
