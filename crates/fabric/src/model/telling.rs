//! What a switch tells its neighbours: XOFF and XON, as its memory or a fault of a port asks for it.
//!
//! Both ways to run call it. They differ in how they keep what waits, and in how a frame goes on a link.

use super::fault::PortFaults;
use super::frame::Pause;
use super::management::Management;
use super::memory::Memory;
use super::pause::Signal;
use crate::net::Link;

/// A frame from an input has come for an output, or has left it: what a memory tells follows from that.
pub(crate) type By = (usize, u16);

/// A switch that tells; `C` is what its acts need besides.
pub(crate) trait Telling<C> {
    /// The moment, ps.
    fn now(&self, with: &C) -> u64;
    /// Its ports.
    fn ports(&self) -> usize;
    /// The faults of its ports, and the memory of its first class.
    fn faults(&mut self) -> (&mut PortFaults, &Memory);
    /// What stands at a port: its link, if it has one, and how many XOFFs it has sent.
    fn end(&mut self, port: usize) -> (&mut Management, Option<Link>, &mut u64);
    /// Notes why XOFF is decided, where that is recorded.
    fn note(&mut self, signal: Signal, class: u8, by: By, now: u64);
    /// XON follows as a transmission starts: ports that look for a frame before that one have done so.
    fn look_before(&mut self, _signal: Signal, _by: By, _with: &mut C) {}
    /// XOFF or XON leaves by a port: at once on this link, or it waits there.
    fn put(&mut self, port: usize, at_once: Option<Link>, pause: Pause, with: &mut C);

    /// Tells what the memory of a class asks for.
    fn tell(&mut self, signal: Signal, class: u8, by: By, with: &mut C) {
        let ports = self.ports();
        match self.faults().0.sift(signal, class, ports) {
            None => self.tell_all(signal, class, by, with),
            Some(parts) => parts.into_iter().for_each(|part| self.tell_all(part, class, by, with)),
        }
    }
    /// The same, where no fault has a part in it.
    fn tell_all(&mut self, signal: Signal, class: u8, by: By, with: &mut C) {
        self.note(signal, class, by, self.now(with));
        self.look_before(signal, by, with);
        for port in signal.targets(self.ports()) {
            self.say(port, Pause { off: signal.off, class }, with);
        }
    }
    /// Says XOFF or XON by a port.
    fn say(&mut self, port: usize, pause: Pause, with: &mut C) {
        let (management, link, xoffs) = self.end(port);
        if let Some(at_once) = management.signal(pause.off, link, xoffs) {
            self.put(port, at_once, pause, with);
        }
    }
    /// Faults of ports say what is due.
    fn fail(&mut self, with: &mut C) {
        let now = self.now(with);
        let due = |this: &mut Self| {
            let (faults, memory) = this.faults();
            faults.say(now, |port| memory.is_off(port))
        };
        while let Some(said) = due(self) {
            let port = usize::from(said.port);
            said.note(&mut self.end(port).0.decisions, now);
            self.say(port, Pause { off: said.off, class: 0 }, with);
        }
    }
}
