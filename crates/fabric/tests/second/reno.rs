//! The window of the test's own scheme.

/// A window by RFC 5681, as the scheme of this test keeps it, bytes.
#[derive(Debug)]
pub(crate) struct Reno {
    pub(crate) window: u64,
    threshold: u64,
    until: u64,
    timed_out_at: Option<u64>,
}

impl Reno {
    pub(crate) fn new(frame: u64, frames: u64) -> Self {
        Self { window: frame * frames, threshold: u64::MAX, until: 0, timed_out_at: None }
    }
    /// Nothing grows before all is acknowledged that was sent as a loss was found.
    pub(crate) fn ack(
        &mut self,
        frame: u64,
        (acked, newly): (u64, u64),
        marked: bool,
        (outstanding, next): (u64, u64),
    ) {
        if acked <= self.until {
            return;
        }
        if marked {
            (self.threshold, self.until) = ((outstanding / 2).max(2 * frame), next);
            self.window = (outstanding / 2).max(frame);
            return;
        }
        if newly == 0 {
            return;
        }
        self.window += if self.window < self.threshold {
            newly.min(frame)
        } else {
            (frame * frame / self.window).max(1)
        };
    }
    pub(crate) fn loss(&mut self, frame: u64, timeout: bool, outstanding: u64, (acked, next): (u64, u64)) {
        if !timeout || self.timed_out_at != Some(acked) {
            self.threshold = (outstanding / 2).max(2 * frame);
        }
        self.timed_out_at = self.timed_out_at.filter(|_| !timeout).or(timeout.then_some(acked));
        (self.window, self.until) = if timeout { (frame, 0) } else { (self.threshold, next) };
    }
}
