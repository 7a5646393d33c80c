//! Amounts summed over the bins of a recording.

use crate::numbers::Ps;

/// Sums per bin; of width zero, nothing is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerBin {
    width: Ps,
    values: Vec<u64>,
}

impl PerBin {
    /// Bins of this width, in picoseconds, for a whole run.
    pub(crate) fn new(width: Ps, duration: Ps) -> Self {
        Self { width, values: vec![0; duration.0.checked_div(width.0).unwrap_or(0) as usize] }
    }

    /// A bin for each sixtieth of a run, which lasts so many picoseconds.
    pub(crate) fn sixtieths(duration: Ps) -> Self {
        Self::new(duration / 60, duration / 60 * 60)
    }

    /// Adds to the bin in which `now` lies; what comes after the last whole bin is left out.
    pub(crate) fn add(&mut self, now: Ps, amount: u64) {
        let at = now.0.checked_div(self.width.0).unwrap_or(u64::MAX);
        if let Some(v) = usize::try_from(at).ok().and_then(|i| self.values.get_mut(i)) {
            *v += amount;
        }
    }

    /// Adds to each bin how much of it lies between two times.
    pub(crate) fn add_span(&mut self, from: Ps, to: Ps) {
        let mut at = from;
        while at < to && self.width > Ps(0) {
            let end = Ps((at / self.width + 1).saturating_mul(self.width.0)).min(to);
            self.add(at, (end - at).0);
            at = end;
        }
    }

    /// Adds the sums of others like these.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.values.iter_mut().zip(&others.values).for_each(|(sum, v)| *sum += v);
    }

    /// Mean of each bin, per second.
    pub(crate) fn rates(&self) -> Vec<f64> {
        let seconds = self.width.time().as_secs_f64();
        self.values.iter().map(|v| *v as f64 / seconds).collect()
    }

    /// Adds these sums to others.
    pub(crate) fn pour(&self, into: &mut Vec<u64>) {
        add(into, &self.values);
    }
}

/// Adds numbers by place.
pub(crate) fn add<S: Copy + Default + std::ops::AddAssign, T: Copy + Into<S>>(own: &mut Vec<S>, more: &[T]) {
    own.resize(own.len().max(more.len()), S::default());
    own.iter_mut().zip(more).for_each(|(sum, n)| *sum += (*n).into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_spans_are_shared_by_the_bins_that_they_touch() {
        let (mut spans, mut bins, mut sum) =
            (PerBin::new(Ps(10), Ps(40)), PerBin::new(Ps(10), Ps(35)), vec![1]);
        [(3, 5), (8, 21), (30, 30), (39, 45)].iter().for_each(|s| spans.add_span(Ps(s.0), Ps(s.1)));
        [(0, 1), (9, 2), (10, 4), (29, 8), (30, 16)].iter().for_each(|a| bins.add(Ps(a.0), a.1));
        bins.pour(&mut sum);
        assert_eq!((&spans.values[..], sum), (&[4, 10, 1, 1][..], vec![4, 4, 8]));
    }
}
