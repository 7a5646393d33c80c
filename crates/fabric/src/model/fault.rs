//! Faults of a port: it says XOFF though its node has room, or its host reads slower than its link and says XOFF when its buffer is full.

use super::agenda::Moment;
use super::frame::Pause;
use super::pause::{Signal, at_once};
use crate::check::Decisions;
use crate::net::{NEVER, Net, Ps};
use crate::spec::{FaultKind, PauseTransport, PortFault};
use crate::tx_rate::TxRate;

/// A fault, and how it stands.
#[derive(Clone, Debug)]
struct Faulty {
    port: u16,
    class: u8,
    from: Ps,
    to: Ps,
    transport: PauseTransport,
    slow: Option<Slow>,
    /// XOFF is said and XON is not.
    off: bool,
    /// When it next says something, if no frame arrives before.
    at: Ps,
}

/// A host that reads its buffer at a rate: bytes in it are counted by the time that they take to be read.
#[derive(Clone, Copy, Debug)]
struct Slow {
    rate: TxRate,
    /// More than this is XOFF, and no more than half of it is XON, ps.
    full: Ps,
    /// The buffer is empty from then on, ps.
    empty_from: Ps,
}

/// XOFF or XON that a fault says at a port, and how it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) port: u16,
    pub(crate) class: u8,
    pub(crate) off: bool,
    pub(crate) transport: PauseTransport,
}

impl Said {
    /// Notes it among the XOFFs that its node decides, as one without causes.
    pub(crate) fn note(self, decisions: &mut Option<Box<Decisions>>, now: Ps) {
        if let (true, Some(decisions)) = (self.off, decisions) {
            decisions.fault((now, self.class), self.port);
        }
    }
}

/// The faults of a node's ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortFaults(Vec<Faulty>);

impl PortFaults {
    /// Faults of a node's ports.
    pub(crate) fn new(net: &Net, node: u32) -> Self {
        let mine = net.events.faults.iter().filter(|f| f.node.0 == node);
        Self(mine.map(|fault| Faulty::new(fault, net)).collect())
    }

    /// When the next of them says something, ps.
    pub(crate) fn next(&self) -> Ps {
        self.0.iter().map(|fault| fault.at).min().unwrap_or(NEVER)
    }

    /// What is sent where a class's memory signals, at so many ports: all of it (none), or the parts for the far ends that no fault
    /// holds in XOFF. Those are stopped already, and stay so.
    pub(crate) fn sift(&self, signal: Signal, class: u8, ports: usize) -> Option<Vec<Signal>> {
        let of = |fault: &Faulty| fault.off.then_some((usize::from(fault.port), fault.class));
        let held = |port: &usize| self.0.iter().any(|fault| of(fault) == Some((*port, class)));
        let targets = signal.targets(ports);
        if !targets.clone().any(|port| held(&port)) {
            return None;
        }
        let free = targets.filter(|port| !held(port));
        Some(free.map(|port| Signal { input: Some(port as u16), ..signal }).collect())
    }

    /// What the next of those that are due by `now` says, of a class or of any, where the memory does not say it, too; none if none is.
    /// Where one ends as another begins, the XOFF comes last.
    pub(crate) fn say(&mut self, now: Ps, class: Option<u8>, is_off: impl Fn(usize) -> bool) -> Option<Said> {
        let due = |faults: &[Faulty]| {
            let is_due = |f: &Faulty| f.at <= now && class.is_none_or(|class| class == f.class);
            let ends = faults.iter().position(|f| is_due(f) && f.off);
            ends.or_else(|| faults.iter().position(is_due))
        };
        while let Some(fault) = due(&self.0).and_then(|i| self.0.get_mut(i)) {
            fault.off = !fault.off;
            fault.at = if fault.off { fault.to } else { NEVER };
            if !is_off(fault.port.into()) {
                return Some(fault.said());
            }
        }
        None
    }

    /// So many bytes of data have reached a port: XOFF, if they fill its host's buffer.
    pub(crate) fn take(&mut self, port: u16, (len, class): (u16, u8), at: Moment<'_>) -> Option<Said> {
        let reads = |f: &&mut Faulty| (f.port, f.class) == (port, class) && f.from <= at.now && at.now < f.to;
        self.0.iter_mut().filter(reads).find_map(|fault| fault.take(len, at.now))
    }
}

/// A host's end of its link, where that has faults.
#[derive(Debug)]
pub(crate) struct Nic {
    faults: PortFaults,
    /// XOFFs of the NIC, if they are recorded.
    pub(crate) decisions: Option<Box<Decisions>>,
}

impl Nic {
    /// The NIC of a host, if there are faults in the run.
    pub(crate) fn new(net: &Net, host: u32) -> Option<Box<Self>> {
        let faults = PortFaults::new(net, host);
        let decisions = Decisions::new(net.record.pauses);
        (!faults.0.is_empty()).then(|| Box::new(Self { faults, decisions }))
    }

    /// When a fault says something next, if no frame arrives before, ps.
    pub(crate) fn next(&self) -> Ps {
        self.faults.next()
    }

    /// Its faults say what is due, or what follows as so many bytes of a class have arrived: it goes on the link at once (true), or as a frame
    /// that waits for it.
    pub(crate) fn fail(&mut self, came: Option<(u16, u8)>, at: Moment<'_>, mut say: impl FnMut(Pause, bool)) {
        let mut next = match came {
            Some(data) => self.faults.take(0, data, at),
            None => self.faults.say(at.now, None, |_| false),
        };
        while let Some(said) = next {
            said.note(&mut self.decisions, at.now);
            let pause = Pause { off: said.off, class: said.class };
            say(pause, at_once(said.transport));
            next = self.faults.say(at.now, None, |_| false);
        }
    }
}

impl Faulty {
    fn new(fault: &PortFault, net: &Net) -> Self {
        let &PortFault { port, class, from, to, transport, kind, .. } = fault;
        let slow = match kind {
            FaultKind::Xoff => None,
            FaultKind::Slow { rate, buffer } => {
                let rate = net.clocks.switches.tx(rate);
                let full = Ps((rate.per_byte() * buffer.get() as f64) as u64);
                Some(Slow { rate, full, empty_from: Ps(0) })
            }
        };
        let (from, to) = (from.into(), to.into());
        let at = if slow.is_some() { NEVER } else { from };
        Self { port, class, from, to, transport, slow, off: false, at }
    }

    fn said(&self) -> Said {
        Said { port: self.port, class: self.class, off: self.off, transport: self.transport }
    }

    fn take(&mut self, len: u16, now: Ps) -> Option<Said> {
        let slow = self.slow.as_mut()?;
        slow.empty_from = slow.empty_from.max(now) + slow.rate.time(len);
        let fills = !self.off && slow.empty_from - now > slow.full;
        self.off |= fills;
        if self.off {
            // It says XON when half is left, if nothing arrives.
            self.at = slow.empty_from.saturating_sub(slow.full / 2).min(self.to);
        }
        fills.then(|| self.said())
    }
}
