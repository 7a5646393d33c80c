//! Faults of a port: it says XOFF though its node has room, or its host reads slower than its link and says XOFF when its buffer is full.

use super::agenda::{Moment, NEVER};
use crate::check::Decisions;
use crate::net::Net;
use crate::spec::{FaultKind, PauseTransport, PortFault};
use crate::tx_rate::TxRate;

/// A fault, and how it stands.
#[derive(Clone, Debug)]
struct Faulty {
    port: u16,
    from: u64,
    to: u64,
    transport: PauseTransport,
    slow: Option<Slow>,
    /// XOFF is said and XON is not.
    off: bool,
    /// When it next says something, if no frame arrives before.
    at: u64,
}

/// A host that reads its buffer at a rate: bytes in it are counted by the time that they take to be read.
#[derive(Clone, Copy, Debug)]
struct Slow {
    rate: TxRate,
    /// More than this is XOFF, and no more than half of it is XON, ps.
    full: u64,
    /// The buffer is empty from then on, ps.
    empty_from: u64,
}

impl Slow {
    /// When it says XON, if nothing arrives.
    fn lets_go(&self) -> u64 {
        self.empty_from.saturating_sub(self.full / 2)
    }
}

/// XOFF or XON that a fault says at a port, and how it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) port: u16,
    pub(crate) off: bool,
    pub(crate) transport: PauseTransport,
}

impl Said {
    /// Notes it among the XOFFs that its node decides, as one without causes.
    pub(crate) fn note(self, decisions: &mut Option<Box<Decisions>>, now: u64) {
        if let (true, Some(decisions)) = (self.off, decisions) {
            decisions.fault(now, self.port);
        }
    }
}

/// The faults of a node's ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortFaults(Vec<Faulty>);

impl PortFaults {
    /// Those of a node.
    pub(crate) fn new(net: &Net, node: u32) -> Self {
        let mine = net.faults.iter().filter(|f| f.node.0 == node);
        Self(mine.map(|fault| Faulty::new(fault, net)).collect())
    }

    /// When the next of them says something, ps.
    pub(crate) fn next(&self) -> u64 {
        self.0.iter().map(|fault| fault.at).min().unwrap_or(NEVER)
    }

    /// Does a fault hold the far end of a port in XOFF?
    pub(crate) fn hold(&self, port: usize) -> bool {
        self.0.iter().any(|fault| fault.off && usize::from(fault.port) == port)
    }

    /// What the next of those that are due by `now` says; none if none is.
    pub(crate) fn say(&mut self, now: u64) -> Option<Said> {
        let fault = self.0.iter_mut().find(|fault| fault.at <= now)?;
        fault.off = !fault.off;
        fault.at = if fault.off { fault.to } else { NEVER };
        Some(fault.said())
    }

    /// So many bytes of data have reached a port: XOFF, if they fill its host's buffer.
    pub(crate) fn take(&mut self, port: u16, len: u16, at: Moment<'_>) -> Option<Said> {
        let reads = |f: &&mut Faulty| f.port == port && f.from <= at.now && at.now < f.to;
        self.0.iter_mut().filter(reads).find_map(|fault| fault.take(len, at.now))
    }
}

impl Faulty {
    fn new(fault: &PortFault, net: &Net) -> Self {
        let &PortFault { port, from, to, transport, kind, .. } = fault;
        let slow = match kind {
            FaultKind::Xoff => None,
            FaultKind::Slow { rate, buffer } => {
                let rate = net.switch_clock.tx(rate);
                let full = (rate.per_byte() * buffer.get() as f64) as u64;
                Some(Slow { rate, full, empty_from: 0 })
            }
        };
        let (from, to) = (from.as_ps(), to.as_ps());
        let at = if slow.is_some() { NEVER } else { from };
        Self { port, from, to, transport, slow, off: false, at }
    }

    fn said(&self) -> Said {
        Said { port: self.port, off: self.off, transport: self.transport }
    }

    fn take(&mut self, len: u16, now: u64) -> Option<Said> {
        let slow = self.slow.as_mut()?;
        slow.empty_from = slow.empty_from.max(now) + slow.rate.time(len);
        let fills = !self.off && slow.empty_from - now > slow.full;
        self.off |= fills;
        if self.off {
            self.at = slow.lets_go().min(self.to);
        }
        fills.then(|| self.said())
    }
}
