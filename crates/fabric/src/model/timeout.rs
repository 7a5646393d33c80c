//! Time: when a queue pair takes what it has sent for lost. RFC 6298 in whole picoseconds.

use crate::spec::{Reliability, TcpSpec};
use std::num::NonZeroU64;

/// The round-trip time of a flow, and how often its timeout has doubled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// ps; none before the first sample.
    smooth: Option<NonZeroU64>,
    varies: u64,
    backoff: u32,
}

impl RoundTrip {
    /// An acknowledgement of new data after a round trip.
    pub(crate) fn sample(&mut self, rtt: u64) {
        let Some(smooth) = self.smooth.map(NonZeroU64::get) else {
            (self.smooth, self.varies, self.backoff) = (NonZeroU64::new(rtt), rtt / 2, 0);
            return;
        };
        // (2.3) The variation first, by the mean before.
        self.varies = (3 * self.varies + smooth.abs_diff(rtt)) / 4;
        (self.smooth, self.backoff) = (NonZeroU64::new((7 * smooth + rtt) / 8), 0);
    }
    /// The mean round trip; 0 before the first sample.
    pub(crate) fn smooth(&self) -> u64 {
        self.smooth.map_or(0, NonZeroU64::get)
    }
    /// A timeout: the next one takes twice as long.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }
    fn of_tcp(&self, tcp: &TcpSpec) -> u64 {
        let quantum = tcp.quantum.as_ps();
        let rto = self.smooth.map_or(tcp.rto_first.as_ps(), |smooth| {
            tcp.rto_min.as_ps().max(smooth.get() + quantum.max(4 * self.varies))
        });
        let doubled = rto.checked_shl(self.backoff).filter(|d| d >> self.backoff == rto);
        doubled.unwrap_or(u64::MAX).min(tcp.rto_max.as_ps())
    }
    /// When a flow times out if nothing is acknowledged from now on, with so many frames on their way, ps.
    pub(crate) fn deadline(&self, now: u64, ahead: u64, by: &Reliability) -> u64 {
        match by {
            Reliability::None => u64::MAX,
            Reliability::GoBackN { rto, .. } => now.saturating_add(rto.as_ps()),
            Reliability::Selective(s) => {
                let rto = if ahead < u64::from(s.few) { s.rto_low } else { s.rto_high };
                now.saturating_add(rto.as_ps())
            }
            Reliability::Tcp(tcp) => {
                let end = now.saturating_add(self.of_tcp(tcp));
                // An expiry waits for the next tick of the timer.
                let quantum = tcp.quantum.as_ps().max(1);
                end.div_ceil(quantum).saturating_mul(quantum)
            }
        }
    }
}
