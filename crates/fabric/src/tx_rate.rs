//! How long a frame takes on a link.

/// Transmission times of a rate: picoseconds per byte in fixed point (20 fraction bits); 0 = stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct TxRate(pub(crate) u64);

impl TxRate {
    pub(crate) fn new(rate: cnsim_scheme_api::Rate) -> Self {
        let bps = rate.bps();
        if bps <= 0.0 { Self(0) } else { Self((8e12 * 1_048_576.0 / bps).round() as u64) }
    }
    /// Time to send `len` bytes, ps, rounded to nearest.
    #[inline]
    pub(crate) fn time(self, len: u16) -> u64 {
        (u64::from(len) * self.0 + (1 << 19)) >> 20
    }
    /// ps.
    pub(crate) fn per_byte(self) -> f64 {
        self.0 as f64 / 1_048_576.0
    }
    pub(crate) fn stopped(self) -> bool {
        self.0 == 0
    }
}
