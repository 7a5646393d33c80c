//! Marking ramps: the network marks frames by them, and wakes no object.

use crate::random::Stream;
use cnsim_units::Bytes;

/// When a ramp looks at the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RampAt {
    /// The ramp looks at the queue when a frame arrives; the frame is part of the queue.
    #[default]
    Arrival,
    /// The ramp looks at the queue when a frame's transmission begins; the frame carries the mark and is no part of the queue.
    Departure,
}

/// Marking ramp of a queue: probability 0 up to `low`, rising to `p_max` at `high`, `p_beyond` above. `low == high` is a
/// step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Queue length up to which no frame is marked.
    pub low: Bytes,
    /// Queue length at which the probability reaches `p_max`.
    pub high: Bytes,
    /// Probability at `high`, 0 to 1.
    pub p_max: f64,
    /// Probability above `high`, 0 to 1.
    pub p_beyond: f64,
    /// Whether it looks at the queue when a frame arrives or when it departs.
    pub at: RampAt,
}

impl Ramp {
    /// A step: every frame is marked while the queue is longer than `threshold`.
    pub fn step(threshold: Bytes) -> Self {
        Self { low: threshold, high: threshold, p_max: 1.0, p_beyond: 1.0, at: RampAt::Arrival }
    }

    /// The law of the mark: is a frame marked that meets a queue of this length? It draws only where that is not certain.
    #[inline]
    pub fn marks(&self, len: u64, draws: &mut Stream) -> bool {
        let p = self.probability(len);
        p >= 1.0 || (p > 0.0 && draws.chance(p))
    }

    /// Probability of a mark at this queue length.
    pub fn probability(&self, len: u64) -> f64 {
        let (low, high) = (self.low.get(), self.high.get());
        if len <= low {
            0.0
        } else if len > high {
            self.p_beyond
        } else {
            self.p_max * (len - low) as f64 / (high - low) as f64
        }
    }
}
