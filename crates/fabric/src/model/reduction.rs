//! Proportional rate reduction (RFC 6937): how much a recovery sends for what is delivered, so that it ends at the window that the scheme
//! has set, without a pause or a burst. It counts frames, as Linux does; the RFC counts bytes.

/// Of a recovery under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// Sent and not acknowledged as it began (RecoverFS), more than 0.
    flight: u64,
    /// Delivered since (prr_delivered), and by the last acknowledgement.
    delivered: u64,
    last: u64,
    /// Sent since (prr_out), now and as the last acknowledgement came.
    pub(crate) sent: u64,
    before: u64,
}

impl Reduction {
    /// Of one that begins with so many frames sent and not acknowledged.
    pub(crate) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), delivered: 0, last: 0, sent: 0, before: 0 }
    }
    /// An acknowledgement tells of so many frames that have come.
    pub(crate) fn hear(&mut self, came: u64) {
        (self.delivered, self.last, self.before) = (self.delivered + came, came, self.sent);
    }
    /// Frames that may still go by the last acknowledgement, with so many on their way now and room for so many, not a whole number, in
    /// the window (ssthresh).
    pub(crate) fn room(&self, on_way: u64, (window, whole): (u64, u64)) -> u64 {
        let since = self.sent - self.before;
        let pipe = on_way.saturating_sub(since);
        let may = if pipe.saturating_mul(whole) > window {
            let share = u128::from(self.delivered) * u128::from(window);
            (share.div_ceil(u128::from(self.flight * whole)) as u64).saturating_sub(self.before)
        } else {
            // Slow start towards the window, by a frame more than have come.
            let come = self.delivered.saturating_sub(self.before).max(self.last);
            (window / whole - pipe).min(come + 1)
        };
        may.saturating_sub(since)
    }
}
