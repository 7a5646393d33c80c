//! Histograms of latencies.

use cnsim_scheme_api::Time;

/// Buckets of a latency histogram: 16 to an octave of nanoseconds, so that a value is known to 6 %.
pub(crate) const LATENCY_BUCKETS: usize = 16 * 48;

/// Bucket of a latency.
#[inline]
pub(crate) fn latency_bucket(latency: Time) -> usize {
    let ns = latency.as_ps() / 1000;
    // Below 16 ns a bucket is a nanosecond, which the same formula gives for an octave of its own.
    let shift = 59 - (ns | 16).leading_zeros() as usize;
    ((shift + usize::from(ns >= 16)) * 16 + ((ns >> shift) & 15) as usize).min(LATENCY_BUCKETS - 1)
}

/// Latency below which the share `q` of a histogram's frames lies, if they spread evenly in a bucket; none without frames.
pub fn latency_quantile(histogram: &[u64], q: f64) -> Option<Time> {
    let wanted = (histogram.iter().sum::<u64>() as f64 * q).max(0.5);
    let mut below = 0;
    for (i, n) in histogram.iter().enumerate().filter(|(_, n)| **n > 0) {
        if (below + n) as f64 >= wanted {
            let width = 1_u64 << (i / 16).saturating_sub(1);
            let lower = if i < 16 { i as u64 } else { (16 + i as u64 % 16) * width };
            let part = (wanted - below as f64) / *n as f64;
            return Some(Time::from_ps(lower * 1000 + (part * width as f64 * 1000.0) as u64));
        }
        below += n;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of latencies spread evenly up to a bucket's end a quantile is off by less than one in a thousand, and of one by a sixteenth.
    #[test]
    fn quantiles_lie_within_their_buckets() {
        let quantile = |from: u64, frames: u64, q| {
            let mut histogram = vec![0; LATENCY_BUCKETS];
            (from..from + frames).for_each(|ns| histogram[latency_bucket(Time::from_ns(ns))] += 1);
            latency_quantile(&histogram, q).unwrap().as_ps() as f64 / 1e3
        };
        for (q, exact) in [(0.5, 10_180.0), (0.9, 14_324.0), (0.99, 15_256.4), (0.999, 15_349.6)] {
            let found = quantile(5_000, 10_360, q);
            assert!((found / exact - 1.0).abs() < 1e-3, "{q}: {found}");
        }
        for ns in [0, 1, 15, 16, 17, 31, 32, 33, 1000, 12_345, 999_999, 1 << 40] {
            let upper = quantile(ns, 1, 1.0);
            assert!((1.0..=1.0 + ns as f64 / 16.0).contains(&(upper - ns as f64)), "{ns}: {upper}");
        }
    }
}
