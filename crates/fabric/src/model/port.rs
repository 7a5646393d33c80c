//! A port: one transmitter at the end of one link.
//!
//! It sends one frame at a time, and nothing interrupts it: a frame that may go before the one in transmission waits for its
//! end. An idle transmitter looks for a frame after everything else that happens at that moment.

use super::agenda::Turn;
use super::frame::{Lane, MANAGED};
use super::packet::Packet;
use super::pause::Paused;
use super::point::count_down;
use super::turns::first;
use crate::check::{broken, changes};
use crate::net::{Link, NEVER, Net, Ps};
use crate::tx_rate::TxRate;

/// An output and a class.
pub(crate) type At = (usize, usize);

/// The link of a host.
pub(crate) fn line(net: &Net, host: u32) -> Link {
    let link = net.links[net.ports[host as usize] as usize];
    link.unwrap_or_else(|| broken("a host without a link"))
}

/// Rate at which frames of a lane are sent: data at that of the port's service, PAUSE and control at that of its link.
#[inline(always)]
pub(crate) fn rate_of(lane: Lane, service: TxRate, link: TxRate) -> TxRate {
    match lane {
        Lane::Data(_) => service,
        Lane::Pause | Lane::Control => link,
    }
}

/// Is a lane stopped that is sent at this rate? A rate of zero stops it. PAUSE stops the data of its class (`paused`, by class), and
/// nothing else.
#[inline(always)]
pub(crate) fn is_stopped(lane: Lane, rate: TxRate, paused: &[Paused]) -> bool {
    let off = match lane {
        Lane::Data(class) => paused.get(usize::from(class)).is_some_and(Paused::stops),
        Lane::Pause | Lane::Control => false,
    };
    rate.is_zero() || off
}

/// Start and end of a transmission: it starts when its frame is ready and the transmitter is free, and nothing interrupts it.
#[inline(always)]
pub(crate) fn transmission(ready: Ps, free: Ps, rate: TxRate, len: u16) -> (Ps, Ps) {
    let start = ready.max(free);
    (start, start + rate.time(len))
}

/// When an idle transmitter that is free from `free` on starts next, and from which lane. Each is ready from a time on, or never.
#[inline(always)]
pub(crate) fn next_start(free: Ps, pause: Ps, control: Ps, data: Ps) -> (Ps, Lane) {
    let start = data.min(control).min(pause).max(free);
    let ready = |lane| match lane {
        Lane::Pause => pause,
        Lane::Control => control,
        Lane::Data(_) => data,
    };
    let first = first(|lane| (ready(lane) <= start).then_some(lane));
    (start, first.unwrap_or(MANAGED))
}

/// What has left by an output, PAUSE aside. Control that is queued among the data is counted as that joins, so that nothing is asked as
/// it leaves.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Most bytes of data that were queued, since a bin of the recording ended.
    pub(crate) peak: u64,
    /// Frames that were queued as data.
    queued: u64,
    /// Control frames that have joined the data, and their bytes.
    in_band: (u64, u64),
    /// Control at priority that has left: frames and bytes.
    control: (u64, u64),
}

impl Left {
    /// A frame has left that was queued as data.
    #[inline(always)]
    pub(crate) fn count_queued(&mut self, len: u16) {
        self.bytes += u64::from(len);
        self.queued += 1;
    }
    /// It has not.
    pub(crate) fn take_back(&mut self, len: u16) {
        self.bytes -= u64::from(len);
        self.queued -= 1;
    }
    /// A frame has left.
    pub(crate) fn count(&mut self, lane: Lane, len: u16) {
        match lane {
            Lane::Pause => {}
            Lane::Control => {
                self.bytes += u64::from(len);
                self.control = (self.control.0 + 1, self.control.1 + u64::from(len));
            }
            Lane::Data(_) => self.count_queued(len),
        }
    }
    /// So many bytes of data are queued.
    pub(crate) fn note_peak(&mut self, queued: u64) {
        self.peak = self.peak.max(queued);
    }
    /// A frame joins the data. Data is counted down: true where the congestion point may have to look. Control counts apart.
    #[inline(always)]
    pub(crate) fn join<F: Packet>(&mut self, frame: &F, countdown: Option<&mut i64>) -> bool {
        if frame.is_data() {
            return countdown.is_some_and(|countdown| count_down(countdown, frame.bytes()));
        }
        self.in_band = (self.in_band.0 + 1, self.in_band.1 + u64::from(frame.bytes()));
        false
    }
    /// It will not leave.
    pub(crate) fn forget_in_band(&mut self, len: u16) {
        self.in_band = (self.in_band.0 - 1, self.in_band.1 - u64::from(len));
    }
    /// Frames that have left.
    pub(crate) fn frames(&self) -> u64 {
        self.queued + self.control.0
    }
    /// Data frames that have left, their bits, and control frames, while control of these lengths waits among the data.
    pub(crate) fn sent(&self, waits: impl Iterator<Item = u16>) -> (u64, u64, u64) {
        let waits = waits.take(self.in_band.0 as usize);
        let gone = waits.fold(self.in_band, |gone, len| (gone.0 - 1, gone.1 - u64::from(len)));
        let bytes = self.bytes - self.control.1 - gone.1;
        (self.queued - gone.0, bytes * 8, self.control.0 + gone.0)
    }
}

/// A transmitter. What it sends is known by a `T`; a `P` holds XOFF of its classes; an `L` is its link, or none.
#[derive(Debug)]
pub(crate) struct Transmitter<T, P = Vec<Paused>, L = Option<Link>> {
    /// Number of its port at the node.
    pub(crate) port: u16,
    /// Link of the port; none: nothing ever leaves.
    pub(crate) link: L,
    /// Rate at which data is served: the link's, unless that was changed. PAUSE and control keep the link's.
    pub(crate) service: TxRate,
    /// XOFF from the far end, by class.
    pub(crate) paused: P,
    /// What is in transmission, unless it stands on its link already, and until when.
    pub(crate) sends: Option<T>,
    pub(crate) until: Ps,
}

impl<T, P: AsRef<[Paused]>, L: Copy + Into<Option<Link>>> Transmitter<T, P, L> {
    /// An idle one.
    pub(crate) fn new(port: u16, link: L, paused: P) -> Self {
        let service = link.into().map_or(TxRate::default(), |l| l.tx);
        Self { port, link, service, paused, sends: None, until: NEVER }
    }
    /// If idle, it will look for a frame at the end of this moment.
    pub(crate) fn plan_start<O>(&self, turn: &mut Turn<'_, O>) {
        if self.sends.is_none() {
            turn.agenda.plan_start(turn.now, self.port);
        }
    }
    /// Rate at which frames of a lane are sent.
    fn rate(&self, lane: Lane) -> TxRate {
        rate_of(lane, self.service, self.link.into().map_or(TxRate::default(), |l| l.tx))
    }
    /// Is a lane stopped?
    pub(crate) fn is_stopped(&self, lane: Lane) -> bool {
        is_stopped(lane, self.rate(lane), self.paused.as_ref())
    }
    /// A frame of this lane and length, which may start, starts: the end of its transmission is planned.
    #[inline]
    pub(crate) fn start<O>(&mut self, what: T, (lane, len): (Lane, u16), turn: &mut Turn<'_, O>) {
        self.begin(Some(what), (lane, len), turn.now);
        turn.agenda.plan_end(self.port, self.until);
    }
    /// A frame of this lane and length starts now.
    #[inline]
    pub(crate) fn begin(&mut self, what: Option<T>, (lane, len): (Lane, u16), now: Ps) {
        changes("transmitter", if self.sends.is_some() { "sending" } else { "idle" }, "sending");
        self.sends = what;
        self.until = transmission(now, now, self.rate(lane), len).1;
    }
    /// The transmission ends: what was sent, and the link on which it goes. The transmitter looks for the next.
    #[inline]
    pub(crate) fn end<O>(&mut self, turn: &mut Turn<'_, O>) -> (T, Link) {
        let ended = self.finish();
        self.plan_start(turn);
        ended
    }
    /// The transmission ends: what was sent, and the link on which it goes.
    #[inline]
    pub(crate) fn finish(&mut self) -> (T, Link) {
        changes("transmitter", if self.sends.is_some() { "sending" } else { "idle" }, "idle");
        self.until = NEVER;
        let ended = self.sends.take().zip(self.link.into());
        ended.unwrap_or_else(|| broken("nothing ends at this port"))
    }
}
