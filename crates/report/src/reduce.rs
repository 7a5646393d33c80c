//! Reducing a series for drawing without losing its extremes.

/// At most `max` points: buckets of equal size, of each its smallest and largest value, in order of time.
pub fn reduce(x: &[f64], y: &[f64], max: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    if n <= max || max < 2 {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let buckets = max / 2;
    let (mut rx, mut ry) = (Vec::with_capacity(max), Vec::with_capacity(max));
    for b in 0..buckets {
        let (from, to) = (b * n / buckets, ((b + 1) * n / buckets).max(b * n / buckets + 1));
        let by = |a: &usize, b: &usize| y[*a].total_cmp(&y[*b]);
        let (Some(low), Some(high)) = ((from..to).min_by(by), (from..to).max_by(by)) else { continue };
        let mut kept = [low, high];
        kept.sort_unstable();
        for i in &kept[..if low == high { 1 } else { 2 }] {
            rx.push(x[*i]);
            ry.push(y[*i]);
        }
    }
    (rx, ry)
}

#[cfg(test)]
mod tests {
    use super::reduce;

    #[test]
    fn keeps_extremes_and_size() {
        let x: Vec<f64> = (0..100_003).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|v| (v * 0.01) % 7.0).collect();
        y[54_321] = 99.0;
        y[77_777] = -99.0;
        let (rx, ry) = reduce(&x, &y, 4000);
        assert!(rx.len() <= 4000 && rx.len() > 2000);
        assert!(ry.contains(&99.0) && ry.contains(&-99.0));
        assert!(rx.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(reduce(&x[..10], &y[..10], 4000).0.len(), 10);
    }
}
