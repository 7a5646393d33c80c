//! How long a frame takes on a link, by the clock of the node that sends it.

use crate::numbers::Ps;
use crate::spec::Rounding;
use cnsim_scheme_api::Rate;

/// The clock by which a node sends.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Clock {
    /// How fast it runs: 1 for exact time.
    speed: f64,
    /// Transmissions and gaps are cut to whole nanoseconds.
    whole: bool,
}

impl Clock {
    /// One that runs so many parts in a million too fast.
    pub(crate) fn new(rounding: Rounding, ppm: f64) -> Self {
        Self { speed: 1.0 + ppm * 1e-6, whole: rounding == Rounding::WholeNs }
    }
    /// Transmission times at a link of this rate.
    pub(crate) fn tx(self, rate: Rate) -> TxRate {
        let bps = rate.bps() * self.speed;
        let exact = if bps <= 0.0 { 0 } else { (8e12 * 1_048_576.0 / bps).round() as u64 };
        TxRate(if self.whole && exact > 0 { exact | WHOLE } else { exact })
    }
    /// Gap between the begins of a frame of `len` bytes and of the next one at this rate, ps; none where there is no rate.
    pub(crate) fn gap(self, len: u16, rate: Rate) -> Option<Ps> {
        let (bps, bits) = (rate.bps() * self.speed, f64::from(len) * 8.0);
        let gap = if bps <= 0.0 { return None } else { bits / bps };
        Some(if self.whole { cut_seconds(gap) } else { Ps(nearest(gap * 1e12)) })
    }
}

/// `x.round() as u64` of what is not negative, without a call.
fn nearest(x: f64) -> u64 {
    let whole = x as u64;
    // The difference, the fraction of `x`, is exact.
    whole.saturating_add(u64::from(x - whole as f64 >= 0.5))
}

/// Seconds in ps, cut to whole nanoseconds, as in ns-3: it keeps 64 binary places of a second.
fn cut_seconds(seconds: f64) -> Ps {
    const SECOND: f64 = 18_446_744_073_709_551_616.0;
    let (parts, ns) = (seconds * SECOND, 1_000_000_000);
    // Mostly less than a second, which takes one product.
    let product =
        if parts < SECOND { u128::from(parts as u64) * ns } else { (parts as u128).saturating_mul(ns) };
    Ps(((product >> 64) as u64).max(1).saturating_mul(1000))
}

/// Says of a rate that its times are cut to whole nanoseconds.
const WHOLE: u64 = 1 << 63;

/// Transmission times of a rate: ps per byte in fixed point (20 fraction bits); 0 = stopped. The highest bit cuts them to whole ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct TxRate(u64);

impl TxRate {
    /// Time to send `len` bytes, ps, rounded to nearest, or cut to whole nanoseconds.
    #[inline]
    pub(crate) fn time(self, len: u16) -> Ps {
        if self.0 >= WHOLE { self.time_whole(len) } else { Ps((u64::from(len) * self.0 + (1 << 19)) >> 20) }
    }
    /// One of whole nanoseconds loses one: the fraction of a second in which ns-3 holds it is a little less.
    #[cold]
    fn time_whole(self, len: u16) -> Ps {
        // Rounded to nearest first, which is half a ps more, then a ps less.
        let less = (u64::from(len) * (self.0 & !WHOLE)).saturating_sub(1 << 19);
        Ps((less / (1000 << 20)).max(1) * 1000)
    }
    /// ps.
    pub(crate) fn per_byte(self) -> f64 {
        (self.0 & !WHOLE) as f64 / 1_048_576.0
    }
    /// Most bytes that are sent in a ps, of frames one after the other. A time cut to whole nanoseconds, one at least, is more than half.
    pub(crate) fn most_per_ps(self) -> f64 {
        self.per_byte().recip() * if self.0 >= WHOLE { 2.0 } else { 1.0 }
    }
    /// Bytes that are sent in a time, ps, if nothing is rounded.
    pub(crate) fn bytes(self, within: Ps) -> u64 {
        (within.0 << 20) / (self.0 & !WHOLE).max(1)
    }
    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the slowest rate of a port to the fastest link, products of the longest frame's time stay below 64 bits, and times are those
    /// of exact arithmetic to the picosecond, and the fixed point's share of it.
    #[test]
    fn times_fit_at_all_rates() {
        for bps in [1e4, 1e6, 1e9, 1.6e12, 2.4e12, 7.2e12, 1e13] {
            let tx = Clock::new(Rounding::Exact, 0.0).tx(Rate::from_bps(bps));
            for len in [64, 1048, 1500, 9216] {
                assert!(tx.0.checked_mul(u64::from(len) + 1).is_some(), "{bps} b/s, {len} B");
                let exact = f64::from(len) * 8e12 / bps;
                let off = (tx.time(len).0 as f64 - exact).abs();
                assert!(off <= 0.51 + exact * 1e-6, "{bps} b/s, {len} B: {off} ps");
            }
        }
    }

    /// Times of ns-3 at 100 Gb/s: 83.84, 30, 4.8 and 0.08 ns; and 20 ns at 400 Gb/s. Gaps of 8384 and of 374.9996 ns.
    #[test]
    fn ns3_cuts_whole_nanoseconds_too() {
        let clock = Clock::new(Rounding::WholeNs, 0.0);
        let tx = clock.tx(Rate::from_gbps(100.0));
        assert_eq!([1048, 375, 60, 1].map(|len| tx.time(len).0), [83_000, 29_000, 4_000, 1_000]);
        assert_eq!(clock.tx(Rate::from_gbps(400.0)).time(1000), Ps(19_000));
        let gap = |len, bps| clock.gap(len, Rate::from_bps(bps)).unwrap();
        assert_eq!((gap(1048, 1e9), gap(1090, 23_253_359_302.0)), (Ps(8_383_000), Ps(374_000)));
    }

    #[test]
    fn nearest_is_round() {
        let odd =
            [0.49999999999999994, 0.5, 1.5, 2.5, 4503599627370495.5, 9007199254740993.0, 1e300, f64::NAN];
        odd.iter().for_each(|&x| assert_eq!(nearest(x), x.round() as u64, "{x}"));
    }
}
