//! # NewReno: TCP's additive increase and halving
//!
//! The window grows by a frame for each acknowledged one in slow start, then by a frame a round trip. A loss halves what is
//! outstanding, and the window stays at that until all is repaired that had been sent by then. A timeout begins with one frame again.
//! With ECN a mark counts as a loss, once a window. Which frames are lost, and which go again, the transport says.
//!
//! Sources: RFC 5681 (congestion control), RFC 6582 (NewReno), RFC 6928 (initial window), RFC 3168 (ECN), RFC 7661 (a window that is
//! not used); from memory.
//!
//! | RFC | here |
//! |---|---|
//! | slow start: `cwnd += min(N, L MSS)` for an acknowledgement of N bytes | `tcp::Window::acknowledged` |
//! | congestion avoidance: `cwnd += MSS MSS / cwnd` for each acknowledgement | [`increase`] |
//! | `ssthresh = max(FlightSize / 2, 2 MSS)` at a loss | `Law::cut` |
//! | `cwnd = 1 MSS` at a timeout; `ssthresh` once, until all is acknowledged that had been sent | `tcp::Window::lose` |
//!
//! ## Assumptions, each a parameter
//!
//! * `slow_start = 1`: an acknowledgement of two frames raises the window by one (RFC 5681). RFC 3465 allows 2.
//! * `increase = acks`: the window grows by each acknowledgement, so one of every second frame halves its growth. `bytes`: by what it
//!   acknowledges.
//! * `restart = rfc5681`: where messages share a connection, a window that was not used for the time of a timeout is the initial one at most.
//!   `rfc2861` halves it for each such time, as Linux did first; `off` keeps it.
//! * `pacing = off`: a window goes as the link takes it. On: twice the window a round trip in slow start, then 1.2 windows, by the mean
//!   round trip of RFC 6298, as in Linux; the first window goes unpaced.
//! * `mark_from = off`: no frame is marked. With it ports mark by a ramp of the queue's length at a frame's arrival.
//!
//! ## Deviations
//!
//! * A window that the flow does not fill does not grow; in slow start it grows to twice of what was in flight. So a flow that its
//!   link limits stays near the bandwidth-delay product.
//! * A window is inflated by no duplicate: the transport takes what has left the network from what is in flight, which is the same.
//! * By default an acknowledgement carries the marks of the frames that it acknowledges, as RFC 8257 has it. `transport.ecn = "rfc3168"` echoes
//!   a mark until a frame says that the window is cut. Frames that are sent again can be marked, too, which RFC 3168 forbids.
//!
//! ## Not modelled
//!
//! HyStart, and undoing a cut that was made for nothing.
//!
//! ## Against closed forms
//!
//! N flows in step, whose buffer is a share b of the bandwidth-delay product, use
//! `[(1 - b)(3 + b) / 8 + b (1 + b / 2)] / [(1 - b) / 2 + b (1 + b / 2)]` of the link. Marks keep flows in step: four of them are within 1 %.
//! Drops from a full queue do not: the flows cut in turn and use more. One flow is within 1 % once its first tooth is over. With a buffer of
//! three frames the first window loses frames at once. So the climb to half the product is slow, and a mean from the start on is lower: 73 %
//! for 75 % after 40 s, with a product of 500 frames.
//!
//! A flow that loses each 1/p-th frame keeps a window of `sqrt(3 / (2 p))` frames (Mathis). Chance makes that 7 % more for small p. Each repair
//! costs a round trip without growth, which counts more the smaller the window is. Padhye's law adds timeouts. It assumes that a loss takes the
//! later frames of its round with it. With such losses a window by another hand, with SACK, is within 3 % of the law up to p = 3 %, and 11 % below
//! at 10 %. Where frames are lost each for itself, duplicates come, and fast retransmit repairs what the law leaves to a timeout. Measured
//! frames a round trip, with a timeout of 25 round trips and acknowledgements that are lost, too:
//!
//! | over the law of | recovery | p = 1e-4 | 1e-3 | 1e-2 | 3e-2 | 1e-1 |
//! |---|---|---|---|---|---|---|
//! | Mathis | SACK | 1.06 | 1.04 | 0.94 | 0.78 | 0.21 |
//! | Padhye, short form | SACK | 1.06 | 1.09 | 1.46 | 2.12 | 1.77 |
//! | Padhye, short form | NewReno | 1.06 | 1.09 | 1.44 | 2.03 | 1.65 |
//! | Padhye, short form | RACK with probe | 1.06 | 1.09 | 1.46 | 2.30 | 3.60 |

use crate::tcp::{self, Control, Law, Moment};
use cnsim_scheme_api::{Registration, choice, params};

choice! {
    /// Unit of the window's growth.
    pub enum Increase {
        /// By each acknowledgement.
        Acks = "acks",
        /// By what is acknowledged.
        Bytes = "bytes",
    }
}

params! {
    /// Parameters of NewReno, beside TCP's.
    pub struct NewReno {
        /// Unit of the window's growth after slow start.
        increase: Increase = Increase::Acks, symbol "";
    }
}

/// Frames that an acknowledgement of so many frames adds to a window after slow start.
pub fn increase(by: Increase, window: f64, frames: f64) -> f64 {
    match by {
        Increase::Acks => 1.0 / window,
        Increase::Bytes => frames / window,
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "TCP NewReno: additive increase, halving at a loss (RFC 5681)";
    tcp::registration::<NewReno>(title, include_str!("newreno.rs"))
}

impl Control for NewReno {
    const NAME: &'static str = "newreno";
    type Law = Increase;
    fn law(&self) -> Increase {
        self.increase
    }
}

impl Law for Increase {
    fn grow(&mut self, cwnd: f64, frames: f64, _: Moment) -> f64 {
        cwnd + increase(*self, cwnd, frames)
    }
    fn cut(&mut self, _: f64, flight: f64) -> f64 {
        flight / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{Tcp, TcpParams};
    use cnsim_scheme_api::testing::ReactionRig;
    use cnsim_scheme_api::{Bytes, Join, Loss, Rate, Time};

    const RTT: Time = Time::from_us(12);

    fn rig(sets: &[(&str, &str)]) -> ReactionRig {
        use cnsim_scheme_api::Params;
        let mut p = Join::<TcpParams, NewReno>::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        let mut rig = ReactionRig::new(Tcp::of(p), Rate::from_gbps(10.0));
        (rig.site.base_rtt, rig.site.mtu) = (RTT, Bytes::new(1000));
        rig.begin();
        rig
    }

    fn window(rig: &ReactionRig) -> u64 {
        rig.state().acks.window
    }

    /// Fills the window, and has all acknowledged, so many frames at a time: frames sent.
    fn round(rig: &mut ReactionRig, every: u64) -> u64 {
        while rig.state().acks.in_flight() + 1000 <= window(rig) {
            rig.frame(1000);
        }
        let (from, to) = (rig.state().acks.acked / 1000, rig.state().acks.next_seq / 1000);
        (from + 1..=to).filter(|n| (n - from).is_multiple_of(every) || *n == to).for_each(|n| {
            rig.ack(n * 1000, false, RTT, &[]);
        });
        to - from
    }

    /// 3, 6, 12; by every second acknowledgement 4, 6, 9; with L = 2 as without.
    #[test]
    fn slow_start_by_hand() {
        let of = |sets: &[(&str, &str)], every| {
            let mut rig = rig(sets);
            (0..3).map(|_| round(&mut rig, every)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("initial_window", "3")], 1), [3, 6, 12]);
        assert_eq!(of(&[("initial_window", "4")], 2), [4, 6, 9]);
        assert_eq!(of(&[("initial_window", "4"), ("slow_start", "2")], 2), [4, 8, 16]);
    }

    /// In slow start a window grows to twice the most frames that were in flight in this window or the last one: 4 of 16, then 9, so that
    /// two acknowledgements raise it to 18, and a third does not.
    #[test]
    fn a_window_that_is_not_filled() {
        let mut rig = rig(&[("initial_window", "16")]);
        (0..4).for_each(|_| _ = rig.frame(1000));
        let ack = |rig: &mut ReactionRig, n: u64| {
            rig.ack(n * 1000, false, RTT, &[]);
            window(rig) / 1000
        };
        assert_eq!(ack(&mut rig, 1), 16);
        (0..6).for_each(|_| _ = rig.frame(1000));
        assert_eq!([2, 3, 4].map(|n| ack(&mut rig, n)), [17, 18, 18]);
    }

    /// A loss with 16 frames outstanding leaves 8, and none more until it is repaired; then about a frame a round trip.
    #[test]
    fn a_loss_halves_and_growth_goes_on() {
        let mut rig = rig(&[("initial_window", "16")]);
        (0..16).for_each(|_| _ = rig.frame(1000));
        rig.lose(Loss::Nack);
        assert_eq!(window(&rig), 8000);
        (0..15).for_each(|_| _ = rig.frame(1000));
        rig.ack(15_000, false, RTT, &[]);
        assert_eq!(window(&rig), 8000, "frames sent again are acknowledged in part");
        rig.frame(1000);
        rig.ack(16_000, false, RTT, &[]);
        assert_eq!(window(&rig), 8000, "all");
        let sent: Vec<u64> = (0..4).map(|_| round(&mut rig, 1)).collect();
        assert_eq!(sent, [8, 8, 9, 10]);
    }

    /// A timeout begins anew with one frame, and slow start ends at half of what was outstanding. A second one before all of that is
    /// acknowledged leaves the threshold.
    #[test]
    fn timeouts_by_hand() {
        let mut rig = rig(&[("initial_window", "16")]);
        (0..16).for_each(|_| _ = rig.frame(1000));
        rig.lose(Loss::Timeout);
        assert_eq!(window(&rig), 1000);
        rig.frame(1000);
        rig.lose(Loss::Timeout);
        let sent: Vec<u64> = (0..6).map(|_| round(&mut rig, 1)).collect();
        assert_eq!(sent, [1, 2, 4, 8, 8, 9]);
    }

    /// Paced after the first round trip of 100 us: of 11 frames in slow start two windows go in it, of 5 frames after a loss 1.2.
    #[test]
    fn frames_are_paced() {
        let rtt = Time::from_us(100);
        let mut rig = rig(&[("pacing", "on")]);
        (0..10).for_each(|_| _ = rig.frame(1000));
        assert_eq!(rig.rate(), Rate::from_gbps(10.0));
        rig.ack(1000, false, rtt, &[]);
        assert_eq!(rig.rate(), Rate::from_bps(2.0 * 11.0 * 8000.0 / 100e-6));
        rig.frame(1000);
        rig.lose(Loss::Nack);
        assert_eq!(window(&rig), 5000);
        assert!((rig.rate().mbps() - 1.2 * 5.0 * 80.0).abs() < 1e-9, "{}", rig.rate());
        rig.ack(2000, false, Time::from_us(180), &[]);
        assert!(
            (rig.rate().mbps() - 480.0 / 1.1).abs() < 1e-9,
            "a round trip of 110 us in the mean: {}",
            rig.rate()
        );
    }

    /// After 2.5 timeouts without data a window of 24 frames is the initial one of 10, or a quarter of it. One of 16 frames that a loss cut
    /// to 8 and that has grown to 9 is halved twice, and slow start ends at 8.
    #[test]
    fn idle_connections_restart() {
        let of = |restart: &str, timeouts: f64| {
            let mut rig = rig(&[("initial_window", "10"), ("restart", restart)]);
            (0..6).for_each(|_| _ = rig.frame(1000));
            (1..=6).for_each(|n| _ = rig.ack(n * 1000, false, RTT, &[]));
            round(&mut rig, 1);
            let before = window(&rig) / 1000;
            rig.restart(Time::from_ms(1).scale(timeouts), Time::from_ms(1));
            (before, window(&rig) / 1000)
        };
        assert_eq!(of("rfc5681", 2.5), (24, 10));
        assert_eq!(of("rfc5681", 1.0), (24, 24), "no longer than a timeout");
        assert_eq!(of("off", 2.5), (24, 24));
        assert_eq!(of("rfc2861", 2.5), (24, 6), "24 / 4");
        let mut rig = rig(&[("initial_window", "16"), ("restart", "rfc2861")]);
        (0..16).for_each(|_| _ = rig.frame(1000));
        rig.lose(Loss::Nack);
        (0..16).for_each(|_| _ = rig.frame(1000));
        rig.ack(16_000, false, RTT, &[]);
        assert_eq!((0..3).map(|_| round(&mut rig, 1)).collect::<Vec<_>>(), [8, 8, 9]);
        rig.restart(Time::from_ms(2), Time::from_us(900));
        assert_eq!((0..4).map(|_| round(&mut rig, 1)).collect::<Vec<_>>(), [2, 4, 8, 9]);
    }

    /// A mark halves once a window; the frames of a cut window bring no second cut.
    #[test]
    fn a_mark_is_a_loss() {
        let mut rig = rig(&[("initial_window", "16"), ("mark_from", "10 KB")]);
        (0..16).for_each(|_| _ = rig.frame(1000));
        rig.ack(1000, true, RTT, &[]);
        assert_eq!(window(&rig), 7500);
        rig.ack(16_000, true, RTT, &[]);
        assert_eq!(window(&rig), 7500);
        (0..7).for_each(|_| _ = rig.frame(1000));
        rig.ack(17_000, true, RTT, &[]);
        assert_eq!(window(&rig), 3000, "of six outstanding");
        assert_eq!(rig.counts.of("cuts"), Some(2));
    }
}
