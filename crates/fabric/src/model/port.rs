//! A port: one transmitter at the end of one link.
//!
//! It sends one frame at a time, and nothing interrupts it: a frame that may go before the one in transmission waits for its
//! end. An idle transmitter looks for a frame after everything else that happens at that moment.

use super::agenda::{Kind, NEVER, Turn};
use super::frame::{Frame, Lane, MANAGED, Pause};
use super::pause::Paused;
use crate::check::broken;
use crate::net::{Link, Net};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::Time;

/// When the last bit of a frame leaves whose first bit leaves `now`; never at a rate of zero.
pub(crate) fn end_of_transmission(now: u64, rate: TxRate, len: u16) -> Option<u64> {
    (!rate.stopped()).then(|| now + rate.time(len))
}

/// When an idle transmitter that is free from `free` on starts next, and from which lane: of what is ready by then PAUSE goes before
/// control, and that before data. Each is ready from a time on, or never.
#[inline(always)]
pub(crate) fn next_start(free: u64, pause: u64, control: u64, data: u64) -> (u64, Lane) {
    let start = data.min(control).min(pause).max(free);
    let lane = match start {
        _ if pause <= start => Lane::Pause,
        _ if control <= start => Lane::Control,
        _ => MANAGED,
    };
    (start, lane)
}

/// The lane that starts now, of those that are ready; of data that is the first such class.
pub(crate) fn next_lane(pause: bool, control: bool, data: Option<Lane>) -> Option<Lane> {
    let from = |ready: bool| if ready { 0 } else { NEVER };
    match next_start(0, from(pause), from(control), from(data.is_some())) {
        (NEVER, _) => None,
        (_, Lane::Data(_)) => data,
        (_, lane) => Some(lane),
    }
}

/// A transmitter.
#[derive(Debug)]
pub(crate) struct Transmitter {
    /// Number of its port at the node.
    port: u64,
    /// Its link; none: nothing ever leaves.
    pub(crate) link: Option<Link>,
    /// Rate at which data is served: the link's, unless that was changed. PAUSE and control keep the link's.
    pub(crate) service: TxRate,
    /// XOFF from the far end, by class.
    paused: Vec<Paused>,
    /// The frame in transmission.
    sending: Option<Frame>,
}

impl Transmitter {
    /// An idle one, for the classes of data.
    pub(crate) fn new(port: u64, link: Option<Link>, net: &Net) -> Self {
        let service = link.map_or(TxRate::default(), |l| l.tx);
        let paused = vec![Paused::default(); net.classes.len()];
        Self { port, link, service, paused, sending: None }
    }
    /// The frame in transmission.
    pub(crate) fn sending(&self) -> Option<&Frame> {
        self.sending.as_ref()
    }
    /// If idle, it will look for a frame at the end of this moment.
    pub(crate) fn plan_start(&self, turn: &mut Turn<'_>) {
        if self.sending.is_none() {
            turn.plan(turn.now, Kind::Start, self.port);
        }
    }
    /// Rate at which frames of a lane are sent.
    fn rate(&self, lane: Lane) -> TxRate {
        match lane {
            Lane::Data(_) => self.service,
            Lane::Pause | Lane::Control => self.link.map_or(TxRate::default(), |l| l.tx),
        }
    }
    /// May a frame of this lane start now? PAUSE stops the data of its class, and nothing else.
    pub(crate) fn may_start(&self, lane: Lane) -> bool {
        let stopped = match lane {
            Lane::Data(class) => self.paused.get(usize::from(class)).is_some_and(Paused::is_off),
            Lane::Pause | Lane::Control => false,
        };
        self.sending.is_none() && !self.rate(lane).stopped() && !stopped
    }
    /// Starts a frame that may start.
    pub(crate) fn start(&mut self, frame: Frame, turn: &mut Turn<'_>) {
        if !self.may_start(frame.lane) {
            broken("a frame starts that may not");
        }
        if let Some(end) = end_of_transmission(turn.now, self.rate(frame.lane), frame.len) {
            turn.plan(end, Kind::End, self.port);
            self.sending = Some(frame);
        }
    }
    /// The transmission ends: the frame that leaves. The transmitter looks for the next.
    pub(crate) fn end(&mut self, turn: &mut Turn<'_>) -> (Link, Frame) {
        let (Some(frame), Some(link)) = (self.sending.take(), self.link) else {
            broken("nothing ends at this port")
        };
        self.plan_start(turn);
        (link, frame)
    }
    /// XOFF or XON arrives from the far end.
    pub(crate) fn pause(&mut self, pause: Pause, turn: &mut Turn<'_>) {
        let paused = self.paused.get_mut(usize::from(pause.class));
        let Some(paused) = paused else { broken("PAUSE of no class") };
        if paused.hear(pause.off, turn.now, turn.net.duration) {
            self.plan_start(turn);
        }
    }
    /// XOFF of the first class, as a congestion point sees it.
    pub(crate) fn pause_seen(&self, now: u64) -> (Option<Time>, Time) {
        self.paused.first().map_or((None, Time::ZERO), |p| p.seen(now))
    }
    /// Is data of any class in XOFF?
    pub(crate) fn is_off(&self) -> bool {
        self.paused.iter().any(Paused::is_off)
    }
    /// Is the data of this class stopped: in XOFF, or not served?
    pub(crate) fn stopped(&self, class: u8) -> bool {
        self.service.stopped() || self.paused.get(usize::from(class)).is_some_and(Paused::is_off)
    }
    /// Time spent in XOFF, of each class, and by part of the run.
    pub(crate) fn paused(&self, duration: u64) -> (Time, Vec<u64>) {
        let mut parts = Vec::new();
        let total = self.paused.iter().cloned().map(|p| p.close(duration, &mut parts)).sum();
        (Time::from_ps(total), parts)
    }
}
