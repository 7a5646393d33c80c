//! Parts that TCP's congestion controls share: the window, slow start, its growth, and its cuts by losses, marks and timeouts.
//! The transport decides which frames are sent again.

use crate::counters::CUTS;
use cnsim_scheme_api::{Ack, AckGate, Bytes, Limiter, Loss, Ramp, RampAt, SourceSite};

/// The ramp by which a port marks, if it does: a share up to `p_max` from `from` to `all` on, beyond that every frame.
pub(crate) fn marks(from: Option<Bytes>, all: Bytes, p_max: f64) -> Option<Ramp> {
    let low = from?;
    Some(Ramp { low, high: all.max(low), p_max, p_beyond: 1.0, at: RampAt::Arrival })
}

/// Least `ssthresh`, frames (RFC 5681).
const LEAST: f64 = 2.0;

/// A window of TCP.
#[derive(Debug)]
pub(crate) struct Window {
    /// Bytes of a full frame.
    frame: f64,
    /// `cwnd` and `ssthresh`, frames.
    pub(crate) cwnd: f64,
    threshold: f64,
    /// Most frames by which an acknowledgement raises it in slow start.
    slow_start: f64,
    /// From a loss until it is repaired: it does not grow.
    recovering: bool,
    /// No further cut by a mark until more than this is acknowledged.
    cut_until: Option<Bytes>,
    /// A further timeout before this is acknowledged does not lower the threshold again.
    timed_out: Option<Bytes>,
    /// Most frames in flight in this window, and in the one before; whether they filled it; and where this one ends.
    in_flight: [f64; 2],
    filled: [bool; 2],
    window_end: Bytes,
}

impl Window {
    /// The window of a flow that begins with so many frames.
    pub(crate) fn new(site: &SourceSite, initial: u32, slow_start: u32) -> Self {
        Self {
            frame: site.mtu.as_f64(),
            cwnd: f64::from(initial),
            threshold: f64::INFINITY,
            slow_start: f64::from(slow_start),
            recovering: false,
            cut_until: None,
            timed_out: None,
            in_flight: [0.0; 2],
            filled: [false; 2],
            window_end: Bytes::ZERO,
        }
    }

    /// Begins.
    pub(crate) fn start(&self, limiter: &mut Limiter<'_>) {
        limiter.wake_on_acks(AckGate::EACH);
        self.apply(limiter);
    }

    /// Sets the window that holds now.
    pub(crate) fn apply(&self, limiter: &mut Limiter<'_>) {
        limiter.set_window(Bytes::new((self.cwnd * self.frame) as u64).max(Bytes::new(1)));
    }

    /// Frames sent and not acknowledged (`FlightSize`).
    pub(crate) fn flight(&self, limiter: &Limiter<'_>) -> f64 {
        limiter.outstanding().as_f64() / self.frame
    }

    /// An acknowledgement. In slow start the window grows; after it, the frames that it acknowledges where the window may grow: that it
    /// is full (RFC 7661), and no loss is being repaired.
    pub(crate) fn acknowledged(&mut self, ack: &Ack<'_>, limiter: &Limiter<'_>) -> Option<f64> {
        let frames = ack.newly.as_f64() / self.frame;
        let before = limiter.in_flight().as_f64() / self.frame + frames;
        let fills = before >= self.cwnd.floor();
        self.in_flight[0] = self.in_flight[0].max(before);
        self.filled[0] |= fills;
        if ack.acked > self.window_end {
            self.in_flight = [before, self.in_flight[0]];
            self.filled = [fills, self.filled[0]];
            self.window_end = limiter.next_seq();
        }
        if self.timed_out.is_some_and(|until| ack.acked >= until) {
            self.timed_out = None;
        }
        if frames == 0.0 || self.recovering || self.cut_until.is_some() {
            return None;
        }
        let used = self.in_flight[0].max(self.in_flight[1]);
        if self.cwnd >= self.threshold {
            return (self.filled[0] || self.filled[1]).then_some(frames);
        }
        if self.cwnd < 2.0 * used {
            self.cwnd += frames.min(self.slow_start);
        }
        None
    }

    /// Does a mark ask for a cut: the first of a window, while no loss is being repaired?
    pub(crate) fn is_marked(&mut self, ack: &Ack<'_>) -> bool {
        self.cut_until = self.cut_until.filter(|until| ack.acked <= *until);
        ack.marked && self.cut_until.is_none() && !self.recovering
    }

    /// A cut to so many frames, by a loss or a mark.
    pub(crate) fn cut(&mut self, to: f64, limiter: &mut Limiter<'_>) {
        limiter.count(CUTS);
        self.threshold = to.max(LEAST);
        self.cwnd = self.threshold;
        self.cut_until = Some(limiter.next_seq());
    }

    /// A loss: a cut to so many frames, and by a timeout slow start from one frame on.
    pub(crate) fn lose(&mut self, loss: Loss, to: f64, limiter: &mut Limiter<'_>) {
        self.recovering = loss == Loss::Nack;
        if self.recovering {
            return self.cut(to, limiter);
        }
        if self.timed_out.is_none() {
            self.cut(to, limiter);
        }
        self.timed_out = Some(limiter.next_seq());
        (self.cwnd, self.cut_until) = (1.0, None);
    }

    /// The loss is repaired.
    pub(crate) fn recover(&mut self) {
        self.recovering = false;
    }
}

/// Parameters without effect where no frame is marked.
pub(crate) const NO_MARKS: [(&str, &str); 2] =
    [("mark_all", "mark_from is off"), ("p_max", "mark_from is off")];
