//! Confidence and prediction intervals of a handful of runs.
//!
//! Means of few skewed values are skewed themselves: Student's interval of five recovery times, most of them short and some long,
//! covers the mean in 88 of 100 draws where it promises 95. P. Hall, *On the removal of skewness by transformation*, J. R.
//! Statist. Soc. B 54 (1992), section 3, has a monotone cubic of the t statistic whose distribution is less skewed:
//! `g(t) = t + A t^2 + A^2 t^3 / 3 + A / 2`, where `A = skewness / (3 sqrt n)`. Its inverse gives ends that lie unevenly about the
//! mean. The confidence interval reaches to the farther of both, at each end, so it is never shorter than Student's; of symmetric
//! values it is about a quarter longer. `tests/coverage.rs` measures what it covers, from 40 seeds of real runs.
//!
//! Differences that are paired by seed and a further run's prediction keep to Student's t: differences are hardly skewed
//! (measured there, too), and a prediction of one run rests on its values, not on the mean's distribution.

/// What the interval of a mean is, in a sentence for `cnsim explain` and the reference.
pub const ABOUT_INTERVALS: &str = "Over several seeds, the 95 % interval of the mean reaches at each end to the farther of Student's t and of \
     Hall's transformation of it for skewed values (1992), so its ends may lie unevenly about the mean; what stands after ± is half \
     its length.";

/// Mean, standard deviation and intervals of a handful of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Sample standard deviation; 0 for one value.
    pub sd: f64,
    /// Skewness: third moment about the mean over the second to the power 3/2; 0 where all values are the same.
    pub skew: f64,
}

impl Summary {
    /// The summary of these values; none where there is no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let sum = |power: i32| {
            let term = |v: &f64| (0..power).fold(1.0, |product, _| product * (v - mean));
            values.iter().map(term).sum::<f64>()
        };
        let second = sum(2);
        let sd = (second / (n.max(2) - 1) as f64).sqrt();
        // Differences in the last bits of equal values have no shape.
        let shaped = sd > 1e-9 * mean.abs();
        let skew =
            if shaped { sum(3) / n as f64 / (second / n as f64 * (second / n as f64).sqrt()) } else { 0.0 };
        Some(Self { n, mean, sd, skew })
    }

    /// 95 % interval of the mean, for skewed values, too; none for one value. The farther end of Student's and of Hall's, on each
    /// side.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        let t = t95(self.n.checked_sub(1)?)?;
        let a = self.skew / (3.0 * (self.n as f64).sqrt());
        // Solves g(x) = u.
        let inverse =
            |u: f64| if a.abs() < 1e-6 { u } else { (cube_root(1.0 + 3.0 * a * (u - a / 2.0)) - 1.0) / a };
        let error = self.sd / (self.n as f64).sqrt();
        Some((self.mean - inverse(t).max(t) * error, self.mean - inverse(-t).min(-t) * error))
    }

    /// 95 % interval of a mean of differences that are paired by seed, by Student's t; none for one value.
    pub fn paired(&self) -> Option<(f64, f64)> {
        let half = t95(self.n.checked_sub(1)?)? * self.sd / (self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }

    /// 95 % prediction interval of one further run: mean +- t s sqrt(1 + 1/n); none for one value.
    pub fn prediction(&self) -> Option<(f64, f64)> {
        let half = t95(self.n.checked_sub(1)?)? * self.sd * (1.0 + 1.0 / self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }
}

/// Cube root from arithmetic alone, by Newton's method, so that intervals are the same on every platform.
fn cube_root(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let mut root = x.abs().max(1.0);
    for _ in 0..200 {
        let next = (2.0 * root + x.abs() / (root * root)) / 3.0;
        if next >= root {
            break;
        }
        root = next;
    }
    root.copysign(x)
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
        let s = Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((s.confidence().unwrap().1 - 4.9632).abs() < 1e-3);
        assert!((s.prediction().unwrap().1 - 7.8089).abs() < 1e-3);
        assert_eq!(s.confidence(), s.paired(), "symmetric in itself: Hall's is Student's");
        assert_eq!(Summary::of(&[2.0]).unwrap().confidence(), None);
        // 0, 0, 0, 0, 5: mean 1, sd sqrt 5, skewness 1.5, A = 0.223607; g(-t) at -11.0266, Student's t = 2.7764.
        let s = Summary::of(&[0.0, 0.0, 0.0, 0.0, 5.0]).unwrap();
        assert!((s.skew - 1.5).abs() < 1e-12);
        let (low, high) = s.confidence().unwrap();
        let a = 1.5 / (3.0 * 5.0_f64.sqrt());
        let g = |x: f64| x + a * x * x + a * a * x * x * x / 3.0 + a / 2.0;
        assert!((g(1.0 - high) + 2.7764).abs() < 1e-3, "{high}");
        assert!((low - (1.0 - 2.7764)).abs() < 1e-3 && high > 1.0 + 2.7764, "{low} to {high}");
        let (mirrored_low, mirrored_high) =
            Summary::of(&[0.0, 0.0, 0.0, 0.0, -5.0]).unwrap().confidence().unwrap();
        assert!((mirrored_low + high).abs() < 1e-9 && (mirrored_high + low).abs() < 1e-9);
        assert_eq!(Summary::of(&[0.1 + 0.2, 0.3, 0.3]).unwrap().skew, 0.0);
    }

    #[test]
    fn cube_roots() {
        for x in [0.0, 1e-9, 0.5, 1.0, 27.0, 1e12, -8.0] {
            let root = cube_root(x);
            assert!((root * root * root - x).abs() <= 1e-12 * x.abs(), "{x}: {root}");
        }
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
    }
}
