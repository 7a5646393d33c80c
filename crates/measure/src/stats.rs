//! Confidence and prediction intervals of a handful of runs, and the rule of all percentiles.
//!
//! Means of few skewed values are skewed themselves: Student's interval of five recovery times, most of them short and some long,
//! covers the mean in 88 of 100 draws where it promises 95. N. J. Johnson, *Modified t tests and confidence intervals for
//! asymmetrical populations*, J. Am. Statist. Assoc. 73 (1978), corrects the t statistic for skewness; to the first order its quantile
//! moves by `skew (2 t^2 + 1) / (6 sqrt n)` standard errors. The end on the side of the tail reaches farther by that; the other end
//! stays Student's. So an interval is never shorter than Student's. Of five values that are not skewed it is about a sixth longer, as
//! a sample's skewness scatters. `tests/coverage.rs` measures what it covers, and what it costs.
//!
//! An interval ends where its values can be: a share between 0 and 100 %, a rate or a time at 0 ([`Summary::within`]). That costs no
//! coverage, as no mean lies beyond.
//!
//! A mean of which some values are lower bounds (flows were unfinished) is one itself, and has no interval ([`Summary::bounded`]).
//!
//! Differences that are paired by seed and a further run's prediction keep to Student's t: differences are hardly skewed
//! (measured there, too), and a prediction of one run rests on its values, not on the mean's distribution.

use cnsim_scenario::metrics::Metric;

/// Definition of the interval of a mean, for `cnsim explain` and the reference.
pub const ABOUT_INTERVALS: &str = "Over several seeds, the 95 % interval of the mean is Student's t with Johnson's correction for skewness (1978): \
     its end on the side of the tail reaches farther, by skew (2 t^2 + 1) / (6 sqrt n) standard errors. It ends where values can be: \
     shares at 0 and 100 %, rates, lengths and times at 0. A mean of lower bounds has none. What stands after ± is half its length; where its ends lie unevenly \
     about the mean, they are given instead.";

/// How a percentile is taken, in a sentence for `cnsim explain` and the reference.
pub const ABOUT_PERCENTILES: &str = "A percentile of n values is the least of them that at least that share of all does not exceed: in \
     order of size the one with number ceil(share x n), by nearest rank, so it is one of the values.";

/// The percentile of sorted values at share `q`, 0 to 1 ([`ABOUT_PERCENTILES`]); none without values.
pub fn percentile(sorted: &[f64], q: f64) -> Option<f64> {
    sorted.get(rank(sorted.len(), q)?.checked_sub(1)?).copied()
}

/// Number, from 1 on, of the percentile for a share `q` among `n` values in order of size; none of no value.
pub fn rank(n: usize, q: f64) -> Option<usize> {
    // A product that is a whole number but for its last bits is that number.
    (n > 0).then(|| ((n as f64 * q - 1e-9).ceil().max(1.0) as usize).min(n))
}

/// Mean, standard deviation and intervals of a handful of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Sample standard deviation; 0 for one value.
    pub sd: f64,
    /// Adjusted skewness (Fisher and Pearson's, times `sqrt(n (n - 1)) / (n - 2)`); 0 of fewer than three values, and where all
    /// are the same.
    pub skew: f64,
    /// Least and greatest value that there can be.
    pub range: (f64, f64),
    /// Some of the values are lower bounds, so the mean is one and has no interval.
    pub bound: bool,
}

impl Summary {
    /// The summary of these values; none if there is no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let size = n as f64;
        let mean = values.iter().sum::<f64>() / size;
        let sum = |power: i32| {
            let term = |v: &f64| (0..power).fold(1.0, |product, _| product * (v - mean));
            values.iter().map(term).sum::<f64>()
        };
        let second = sum(2);
        let sd = (second / (n.max(2) - 1) as f64).sqrt();
        // Differences in the last bits of equal values have no shape.
        let shaped = n > 2 && sd > 1e-9 * mean.abs();
        let variance = second / size;
        let plain = if shaped { sum(3) / size / (variance * variance.sqrt()) } else { 0.0 };
        let skew = if shaped { plain * (size * (size - 1.0)).sqrt() / (size - 2.0) } else { 0.0 };
        Some(Self { n, mean, sd, skew, range: (f64::NEG_INFINITY, f64::INFINITY), bound: false })
    }

    /// The summary of values of a metric; none if there is no value.
    pub fn of_metric(metric: &Metric, values: &[f64]) -> Option<Self> {
        Some(Self::of(values)?.within(metric.range()))
    }

    /// A summary of values that can only be in this range: intervals of the mean and of a further run end at its bounds.
    pub fn within(self, range: (f64, f64)) -> Self {
        Self { range, ..self }
    }

    /// A summary in which some values may be lower bounds: intervals of the mean and of a further run have no upper end.
    pub fn bounded(self, bound: bool) -> Self {
        Self { bound, ..self }
    }

    /// Two-sided 95 % quantile for these values; none for one value, and for lower bounds.
    fn t95(&self) -> Option<f64> {
        t95(self.n.checked_sub(1)?).filter(|_| !self.bound)
    }

    /// 95 % interval of the mean, for skewed values, too: Student's, farther on the side of the tail; none for one value and
    /// for lower bounds.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        let t = self.t95()?;
        let error = self.sd / (self.n as f64).sqrt();
        let tail = self.skew * (2.0 * t * t + 1.0) / (6.0 * (self.n as f64).sqrt());
        let (below, above) = (t + (-tail).max(0.0), t + tail.max(0.0));
        Some(self.cut((self.mean - below * error, self.mean + above * error)))
    }

    /// 95 % interval of a mean of differences that are paired by seed, by Student's t; none for one value.
    pub fn paired(&self) -> Option<(f64, f64)> {
        let half = t95(self.n.checked_sub(1)?)? * self.sd / (self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }

    /// 95 % prediction interval of one further run: mean +- t s sqrt(1 + 1/n); none for one value and for lower bounds.
    pub fn prediction(&self) -> Option<(f64, f64)> {
        let half = self.t95()? * self.sd * (1.0 + 1.0 / self.n as f64).sqrt();
        Some(self.cut((self.mean - half, self.mean + half)))
    }

    /// The part of an interval that lies in the range. The mean stays inside.
    fn cut(&self, (low, high): (f64, f64)) -> (f64, f64) {
        (low.max(self.range.0).min(self.mean), high.min(self.range.1).max(self.mean))
    }
}

/// Two-sided 95 % quantile of Student's t with `df` degrees of freedom; none for 0.
pub fn t95(df: usize) -> Option<f64> {
    if df == 0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 13.0);
    for _ in 0..80 {
        let t = 0.5 * (low + high);
        if central(t, df) < 0.95 { low = t } else { high = t }
    }
    Some(0.5 * (low + high))
}

/// P(-t < T < t), by the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4).
fn central(t: f64, df: usize) -> f64 {
    let theta = (t / (df as f64).sqrt()).atan_();
    let (cos2, sin) = (1.0 / (1.0 + t * t / df as f64), t / (df as f64 + t * t).sqrt());
    if df.is_multiple_of(2) {
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..df / 2 {
            term *= cos2 * (2 * k - 1) as f64 / (2 * k) as f64;
            sum += term;
        }
        return sin * sum;
    }
    let mut sum = 0.0;
    if df > 1 {
        let mut term = cos2.sqrt();
        sum = term;
        for k in 1..(df - 1) / 2 {
            term *= cos2 * (2 * k) as f64 / (2 * k + 1) as f64;
            sum += term;
        }
    }
    std::f64::consts::FRAC_2_PI * (theta + sin * sum)
}

/// Arc tangent from arithmetic alone, so that verdicts are the same on every platform.
trait Atan {
    fn atan_(self) -> f64;
}

impl Atan for f64 {
    fn atan_(self) -> f64 {
        // Three halvings of the angle, then the series.
        let mut x = self;
        for _ in 0..3 {
            x /= 1.0 + (1.0 + x * x).sqrt();
        }
        let (x2, mut power, mut sum) = (x * x, x, 0.0);
        for k in 0..20 {
            let term = power / f64::from(2 * k + 1);
            sum += if k % 2 == 0 { term } else { -term };
            power *= x2;
        }
        8.0 * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_tables() {
        for (df, t) in [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (30, 2.0423), (120, 1.9799)] {
            assert!((t95(df).unwrap() - t).abs() < 1e-4, "{df}: {:?}", t95(df));
        }
        assert_eq!(t95(0), None);
    }

    /// 1..5: mean 3, s = 1.5811, CI half width 1.9632, PI half width 4.8089.
    #[test]
    fn intervals_by_hand() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} {b}");
        let s = Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        near(s.sd, 1.5811);
        near(s.confidence().unwrap().1, 4.9632);
        near(s.prediction().unwrap().0, -1.8089);
        near(s.prediction().unwrap().1, 7.8089);
        assert_eq!(s.confidence(), s.paired(), "symmetric in itself: Student's");
        assert_eq!(Summary::of(&[2.0]).unwrap().confidence(), None);
        assert_eq!(Summary::of(&[2.0, 9.0]).unwrap().skew, 0.0);
        // 0, 0, 0, 0, 5: mean 1, standard error 1; skewness 1.5, adjusted 1.5 sqrt(20) / 3 = 2.2361; t = 2.7764; the tail reaches
        // 2.2361 (2 t^2 + 1) / (6 sqrt 5) = 2.7362 farther.
        let s = Summary::of(&[0.0, 0.0, 0.0, 0.0, 5.0]).unwrap();
        near(s.skew, 2.2361);
        let (low, high) = s.confidence().unwrap();
        near(low, 1.0 - 2.7764);
        near(high, 1.0 + 2.7764 + 2.7362);
        near(s.paired().unwrap().1, 1.0 + 2.7764);
        let mirrored = Summary::of(&[0.0, 0.0, 0.0, 0.0, -5.0]).unwrap().confidence().unwrap();
        near(mirrored.0, -high);
        near(mirrored.1, -low);
        assert_eq!(Summary::of(&[0.1 + 0.2, 0.3, 0.3]).unwrap().skew, 0.0);
        // Three values: 0, 0, 3: adjusted skewness sqrt 3, standard error 1.
        let three = Summary::of(&[0.0, 0.0, 3.0]).unwrap();
        near(three.skew, 1.7321);
        near(three.confidence().unwrap().0, 1.0 - 4.3027);
    }

    #[test]
    fn intervals_end_where_values_can_be() {
        let s = Summary::of(&[0.0, 0.0, 0.0, 0.0, 5.0]).unwrap();
        let (low, high) = s.confidence().unwrap();
        assert_eq!(s.within((0.0, f64::INFINITY)).confidence(), Some((0.0, high)));
        assert_eq!(s.within((0.0, 6.0)).confidence(), Some((0.0, 6.0)));
        assert_eq!(s.within((-9.0, 9.0)).confidence(), Some((low, high)));
        assert_eq!(s.within((0.0, 4.0)).prediction(), Some((0.0, 4.0)));
        assert_eq!(s.within((0.0, 4.0)).paired(), s.paired(), "differences have no range");
        assert_eq!(s.within((2.0, 3.0)).confidence(), Some((1.0, 3.0)), "the mean stays in its interval");
    }

    #[test]
    fn lower_bounds_have_no_interval() {
        let s = Summary::of(&[1.0, 2.0, 4.0]).unwrap();
        assert_eq!(s.bounded(false), s);
        let bound = s.bounded(true);
        assert_eq!((bound.mean, bound.confidence(), bound.prediction()), (s.mean, None, None));
    }

    #[test]
    fn percentiles_by_hand() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        for (q, is) in [
            (0.0, 1.0),
            (0.1, 1.0),
            (0.11, 2.0),
            (0.5, 5.0),
            (0.51, 6.0),
            (0.9, 9.0),
            (0.95, 10.0),
            (1.0, 10.0),
        ] {
            assert_eq!(percentile(&ten, q), Some(is), "{q}");
        }
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!((rank(1, 0.999), rank(0, 0.5)), (Some(1), None));
        // n times a share is a whole number here, but for the last bits: the rank is that number, by whole numbers.
        for n in 1..3000_u64 {
            for thousandths in [500, 900, 950, 990, 999] {
                let exact = (n * thousandths).div_ceil(1000) as usize;
                assert_eq!(rank(n as usize, thousandths as f64 / 1000.0), Some(exact), "{n}, {thousandths}");
            }
        }
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
    }
}
