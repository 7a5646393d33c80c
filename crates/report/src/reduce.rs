//! Reducing a series for drawing without losing its extremes.

/// Indices of at most `max` points of `y` that keep its course: least and greatest value of buckets of equal size, in order of time.
/// Values that are not finite stand for gaps; a bucket of gaps keeps one point.
///
/// `max` below 2 counts as 2.
pub(crate) fn reduce(y: &[f64], max: usize) -> Vec<usize> {
    let (n, max) = (y.len(), max.max(2));
    if n <= max {
        return (0..n).collect();
    }
    let buckets = max / 2;
    let mut kept = Vec::with_capacity(max);
    for bucket in 0..buckets {
        // In 128 bits: n x buckets does not overflow.
        let edge = |b: usize| (b as u128 * n as u128 / buckets as u128) as usize;
        let (from, to) = (edge(bucket), edge(bucket + 1));
        let finite = || (from..to).filter(|&i| y[i].is_finite());
        let by = |a: &usize, b: &usize| y[*a].total_cmp(&y[*b]);
        match (finite().min_by(by), finite().max_by(by)) {
            (Some(low), Some(high)) => {
                kept.push(low.min(high));
                if low != high {
                    kept.push(low.max(high));
                }
            }
            _ => kept.push(from),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::reduce;

    #[test]
    fn keeps_extremes_and_size() {
        let mut y: Vec<f64> = (0..100_003).map(|v| (f64::from(v) * 0.01) % 7.0).collect();
        y[54_321] = 99.0;
        y[77_777] = -99.0;
        for max in [2, 3, 500, 4000, 99_999] {
            let kept = reduce(&y, max);
            assert!(kept.len() <= max && 2 * kept.len() >= max / 2, "{max}: {}", kept.len());
            assert!(kept.contains(&54_321) && kept.contains(&77_777), "{max}");
            assert!(kept.windows(2).all(|w| w[0] < w[1]), "{max}");
        }
    }

    #[test]
    fn keeps_the_extremes_of_every_bucket() {
        let y: Vec<f64> = (0..9973).map(|i| f64::from((i * 7919) % 10_007)).collect();
        let kept = reduce(&y, 400);
        for bucket in 0..200 {
            let span = bucket * y.len() / 200..(bucket + 1) * y.len() / 200;
            let inside: Vec<f64> = kept.iter().filter(|i| span.contains(i)).map(|&i| y[i]).collect();
            let fold = |v: &[f64], f: fn(f64, f64) -> f64| v.iter().copied().reduce(f);
            assert_eq!(fold(&inside, f64::min), fold(&y[span.clone()], f64::min));
            assert_eq!(fold(&inside, f64::max), fold(&y[span], f64::max));
        }
    }

    #[test]
    fn short_series_and_gaps_stay() {
        assert_eq!(reduce(&[1.0, 2.0, 3.0], 4000), [0, 1, 2]);
        assert_eq!(reduce(&[], 4000), Vec::<usize>::new());
        let mut y = vec![f64::NAN; 10_000];
        assert_eq!(reduce(&y, 100).len(), 50);
        y[7] = f64::INFINITY;
        y[8] = -1.0;
        assert!(reduce(&y, 100).contains(&8) && !reduce(&y, 100).contains(&7));
    }
}
