//! Verdicts: a published number beside the measured runs.

use crate::published::Published;
use cnsim_measure::stats::Summary;
use cnsim_scenario::metrics::{Metric, Tolerance};
use serde::{Deserialize, Serialize};

/// Verdict of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The published value is [`accepted`]: one honest run may give it.
    Agrees,
    /// The published value is not accepted, but lies within the metric's tolerance.
    Near,
    /// The published value lies outside of the metric's tolerance, too.
    Differs,
    /// The published value is [`accepted`] only because the prediction interval is wide: too few seeds to tell ([`decided`]).
    Undecided,
    /// Nothing was published for the cell.
    #[default]
    Unpublished,
    /// The published value cannot be compared; the note has the reason.
    Incomparable,
}

impl Verdict {
    /// The verdict's word in numbers.csv.
    pub fn text(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Near => "near",
            Self::Differs => "differs",
            Self::Undecided => "undecided",
            Self::Unpublished => "unpublished",
            Self::Incomparable => "incomparable",
        }
    }
}

/// How far the measured mean may be from a published number that is near, in its unit: the metric's tolerance, and at
/// least half a unit of the last printed digit.
pub fn allowance(metric: &Metric, published: &Published) -> f64 {
    let around = match metric.tolerance.around(published.value) {
        // A tolerance in the metric's unit, where another one is published.
        _ if published.unit != metric.unit => match metric.tolerance {
            Tolerance::Relative(share) | Tolerance::Either(share, _) => share * published.value.abs(),
            Tolerance::Absolute(_) => 0.0,
        },
        t => t,
    };
    around.max(published.half_unit())
}

/// Share of the measured mean by which a published number of any metric may differ and still agree.
pub const CLOSE: f64 = 0.02;

/// Where a published number agrees: in the prediction interval of one run, widened by half a unit of its last printed
/// digit, or within [`CLOSE`] of the mean. The interval that spans both, in the unit of the summary.
pub fn accepted(published: &Published, summary: &Summary) -> (f64, f64) {
    let half = published.half_unit();
    let close = (CLOSE * summary.mean.abs()).max(half);
    let (low, high) = (summary.mean - close, summary.mean + close);
    summary.prediction().map_or((low, high), |(l, h)| (low.min(l - half), high.max(h + half)))
}

/// Is the prediction interval of one run narrow enough to tell: at most half of the published number long, or as long as the
/// band of *near* around it? Of one seed there is none, so nothing is decided.
pub fn decided(metric: &Metric, published: &Published, summary: &Summary) -> bool {
    let most = (published.value.abs() / 2.0).max(2.0 * allowance(metric, published));
    summary.prediction().is_some_and(|(low, high)| high - low <= most + 1e-12)
}

/// The verdict on a published number: it is one run, so the prediction interval judges it. A number outside of a wide
/// interval differs, and one inside of it is undecided.
pub fn judge(metric: &Metric, published: &Published, summary: &Summary) -> Verdict {
    let (low, high) = accepted(published, summary);
    let near = (published.value - summary.mean).abs() <= allowance(metric, published) + 1e-12;
    let inside = published.value >= low - 1e-12 && published.value <= high + 1e-12;
    match decided(metric, published, summary) {
        false if inside || summary.n < 2 => Verdict::Undecided,
        _ if inside => Verdict::Agrees,
        _ if near => Verdict::Near,
        _ => Verdict::Differs,
    }
}

/// Factor from one unit to another of the same kind; none between kinds.
pub fn factor(from: &str, to: &str) -> Option<f64> {
    const RATES: [(&str, f64); 3] = [("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)];
    let of = |u: &str| RATES.iter().find(|r| r.0 == u).map(|r| r.1);
    if from == to { Some(1.0) } else { Some(of(from)? / of(to)?) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scenario::metrics::find;

    #[test]
    fn verdicts_by_hand() {
        let metric = find("time_paused").unwrap();
        let printed = |text: &str| Published {
            metric: "time_paused".into(),
            value: text.parse().unwrap(),
            text: text.into(),
            unit: "%".into(),
            ..Published::default()
        };
        let s = Summary::of(&[31.0, 31.0, 31.0]).unwrap();
        assert_eq!(judge(metric, &printed("31.6"), &s), Verdict::Agrees, "2 % of 31");
        let small = Summary::of(&[1.0, 1.0, 1.0]).unwrap();
        assert_eq!(judge(metric, &printed("1.0"), &small), Verdict::Agrees);
        assert_eq!(judge(metric, &printed("1.04"), &small), Verdict::Near, "0.5 points are near, not right");
        assert_eq!(judge(metric, &printed("1.5"), &small), Verdict::Near);
        assert_eq!(judge(metric, &printed("1.51"), &small), Verdict::Differs);
        // 2 % of the mean and no more, on both sides; half a unit of the last digit more.
        let hundred = Summary::of(&[100.0, 100.0]).unwrap();
        assert_eq!(judge(metric, &printed("102.0"), &hundred), Verdict::Agrees);
        assert_eq!(judge(metric, &printed("98.0"), &hundred), Verdict::Agrees);
        assert_eq!(judge(metric, &printed("102.1"), &hundred), Verdict::Differs);
        assert_eq!(judge(metric, &printed("97.9"), &hundred), Verdict::Differs);
        let throughput = find("aggregate_throughput").unwrap();
        let of = |text: &str| Published { unit: "Gb/s".into(), ..printed(text) };
        assert_eq!(judge(throughput, &of("103.0"), &hundred), Verdict::Near, "3 % of what was published");
        assert_eq!(judge(throughput, &of("103.1"), &hundred), Verdict::Differs);
        let spread = Summary::of(&[99.0, 101.0]).unwrap();
        // The prediction interval is 100 +- 12.706 sqrt(2) sqrt(1.5), and half a unit wider: 22.007 and 0.5.
        let (low, high) = accepted(&printed("100"), &spread);
        assert!((low - 77.493).abs() < 1e-3 && (high - 122.507).abs() < 1e-3, "{low} {high}");
        // 31 +- 4.3027 x 11 x sqrt(4 / 3) = 31 +- 54.6.
        let wide = Summary::of(&[20.0, 31.0, 42.0]).unwrap();
        assert_eq!(judge(metric, &printed("60"), &wide), Verdict::Undecided, "inside an interval of 109");
        assert_eq!(
            judge(metric, &printed("31"), &wide),
            Verdict::Undecided,
            "no seed tells, though the mean is it"
        );
        assert_eq!(judge(metric, &printed("90"), &wide), Verdict::Differs, "outside of a wide one");
        // A mean of 31 again: 31 +- 4.3027 x 1 x 1.1547 = 31 +- 4.968.
        let narrow = Summary::of(&[30.0, 31.0, 32.0]).unwrap();
        assert_eq!(judge(metric, &printed("35.9"), &narrow), Verdict::Agrees, "9.94 is at most half of it");
        assert_eq!(judge(metric, &printed("36.1"), &narrow), Verdict::Differs);
        // Of 15 half is 7.5. A number near zero has the band of near: one point.
        let low = Summary::of(&[15.0, 16.0, 17.0]).unwrap();
        assert_eq!(judge(metric, &printed("15.0"), &low), Verdict::Undecided);
        let zero = Summary::of(&[0.0, 0.05, 0.1]).unwrap();
        assert_eq!(judge(metric, &printed("0.00"), &zero.within((0.0, 100.0))), Verdict::Agrees);
        let spread = Summary::of(&[0.0, 0.5, 1.0]).unwrap();
        assert_eq!(judge(metric, &printed("0.00"), &spread.within((0.0, 100.0))), Verdict::Undecided);
        // Two seeds: 75.18 +- 48.61 beside 77.40.
        let two = Summary::of(&[72.055, 78.305]).unwrap();
        assert_eq!(judge(throughput, &of("77.40"), &two), Verdict::Undecided);
        let one = Summary::of(&[100.0]).unwrap();
        for text in ["100", "101", "140"] {
            assert_eq!(judge(throughput, &of(text), &one), Verdict::Undecided, "one seed");
        }
    }

    #[test]
    fn units_of_one_kind_have_a_factor() {
        assert_eq!(factor("Mb/s", "Gb/s"), Some(1e-3));
        assert_eq!(factor("Gb/s", "kb/s"), Some(1e6));
        assert_eq!(factor("KB", "KB"), Some(1.0));
        assert_eq!(factor("Mb/s", "s"), None);
    }

    /// A value published in another unit than the metric's: a share is compared in any unit, a difference only in its own.
    #[test]
    fn allowances_of_other_units() {
        let published = |text: &str, unit: &str| Published {
            value: text.parse().unwrap(),
            text: text.into(),
            unit: unit.into(),
            ..Published::default()
        };
        let near = |id: &str, text: &str, unit: &str, by_hand: f64| {
            let is = allowance(find(id).unwrap(), &published(text, unit));
            assert!((is - by_hand).abs() < 1e-9, "{id} {text} {unit}: {is}");
        };
        near("overhead", "2.00", "Mb/s", 0.1);
        near("overhead", "-2.00", "Gb/s", 0.1);
        near("dropped_frames", "2000", "thousand frames", 20.0);
        near("dropped_frames", "2000", "frames", 100.0);
        near("time_paused", "20.0", "%", 0.5);
        // Half a unit of the last digit is all that is left of a difference.
        near("time_paused", "20.0", "ms", 0.05);
        near("time_paused", "20", "%", 0.5);
        near("time_paused", "20", "ms", 0.5);
    }

    #[test]
    fn tolerances_by_hand() {
        for (tolerance, value, around, text) in [
            (Tolerance::Relative(0.03), -50.0, 1.5, "3 %"),
            (Tolerance::Absolute(0.5), 50.0, 0.5, "0.5 KB"),
            (Tolerance::Either(0.01, 100.0), 20_000.0, 200.0, "1 % or 100 KB"),
            (Tolerance::Either(0.01, 100.0), -20_000.0, 200.0, "1 % or 100 KB"),
            (Tolerance::Either(0.01, 100.0), 5000.0, 100.0, "1 % or 100 KB"),
        ] {
            assert!((tolerance.around(value) - around).abs() < 1e-9, "{tolerance:?} of {value}");
            assert_eq!(tolerance.text("KB"), text);
        }
    }
}
