//! Student's t, confidence and prediction intervals.

/// Mean, standard deviation and intervals of a handful of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Sample standard deviation; 0 for one value.
    pub sd: f64,
}

impl Summary {
    /// The summary of these values; none where there is no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let var = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n.max(2) - 1) as f64;
        Some(Self { n, mean, sd: var.sqrt() })
    }

    /// 95 % interval of the mean; none for one value.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        let half = t95(self.n.checked_sub(1)?)? * self.sd / (self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }

    /// 95 % prediction interval of one further run: mean +- t s sqrt(1 + 1/n); none for one value.
    pub fn prediction(&self) -> Option<(f64, f64)> {
        let half = t95(self.n.checked_sub(1)?)? * self.sd * (1.0 + 1.0 / self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
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
        let s = Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((s.confidence().unwrap().1 - 4.9632).abs() < 1e-3);
        assert!((s.prediction().unwrap().1 - 7.8089).abs() < 1e-3);
        assert_eq!(Summary::of(&[2.0]).unwrap().confidence(), None);
        assert_eq!(Summary::of(&[]), None);
    }
}
