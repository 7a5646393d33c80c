//! Time: when a queue pair takes what it has sent for lost. RFC 6298 in whole picoseconds.

use crate::numbers::{NEVER, Ps};
use crate::spec::{Reliability, TcpSpec};
use std::num::NonZeroU64;

/// The round-trip time of a flow, and how often its timeout has doubled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// ps; none before the first sample.
    smooth: Option<NonZeroU64>,
    varies: Ps,
    backoff: u32,
}

impl RoundTrip {
    /// An acknowledgement of new data after a round trip.
    pub(crate) fn sample(&mut self, rtt: Ps) {
        let Some(smooth) = self.smooth.map(NonZeroU64::get) else {
            (self.smooth, self.varies, self.backoff) = (NonZeroU64::new(rtt.0), rtt / 2, 0);
            return;
        };
        // (2.3) The variation first, by the mean before.
        self.varies = (3 * self.varies + Ps(smooth.abs_diff(rtt.0))) / 4;
        (self.smooth, self.backoff) = (NonZeroU64::new((7 * smooth + rtt.0) / 8), 0);
    }
    /// The mean round trip; 0 before the first sample.
    pub(crate) fn smooth(&self) -> Ps {
        Ps(self.smooth.map_or(0, NonZeroU64::get))
    }
    /// A timeout: the next one takes twice as long.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }
    fn of_tcp(&self, tcp: &TcpSpec) -> Ps {
        let quantum = tcp.quantum.as_ps();
        let rto = self.smooth.map_or(tcp.rto_first.as_ps(), |smooth| {
            tcp.rto_min.as_ps().max(smooth.get() + quantum.max(4 * self.varies.0))
        });
        let doubled = rto.checked_shl(self.backoff).filter(|d| d >> self.backoff == rto);
        doubled.map_or(NEVER, Ps).min(tcp.rto_max.into())
    }
    /// When a flow times out if nothing is acknowledged from now on, with so many frames on their way, ps.
    pub(crate) fn deadline(&self, now: Ps, ahead: u64, by: &Reliability) -> Ps {
        match by {
            Reliability::None => NEVER,
            Reliability::GoBackN { rto, .. } => now.saturating_add((*rto).into()),
            Reliability::Selective(s) => {
                let rto = if ahead < u64::from(s.few) { s.rto_low } else { s.rto_high };
                now.saturating_add(rto.into())
            }
            Reliability::Tcp(tcp) => {
                let end = now.saturating_add(self.of_tcp(tcp));
                // An expiry waits for the next tick of the timer.
                let quantum = tcp.quantum.as_ps().max(1);
                Ps(end.0.div_ceil(quantum).saturating_mul(quantum))
            }
        }
    }
}
