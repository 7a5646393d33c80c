//! Random streams: one per (seed, site, purpose), so that a new host moves no draw of the others.
//!
//! A stream is xoshiro256++ seeded by Philox4x32-10 (Salmon et al., SC 2011), a counter-based generator that makes the
//! seeds of neighbouring sites independent.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The use of a stream: part of its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// A host's traffic source.
    Source = 1,
    /// Slot phases and on-off phases.
    Phase = 2,
    /// Draws of a congestion point.
    Point = 3,
    /// Draws of a reaction point.
    Reaction = 4,
    /// Draws of a reflector.
    Reflector = 5,
    /// Draws of the network itself at a node (marking, path choice).
    Node = 6,
    /// Generators of scenarios in tests.
    Test = 7,
    /// Losses of the link behind an output port.
    Link = 8,
    /// One draw by place: of a frame at a port.
    Place = 9,
}

/// A deterministic stream of random numbers, equal on every platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of one site and purpose under a run's seed.
    pub fn new(seed: u64, site: u64, purpose: Purpose) -> Self {
        let key = [seed as u32, (seed >> 32) as u32];
        let mut bytes = [0u8; 32];
        for half in 0..2u32 {
            let counter = [half, site as u32, (site >> 32) as u32, purpose as u32];
            for (i, word) in philox4x32(counter, key).iter().enumerate() {
                let at = (half as usize) * 16 + i * 4;
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        Self(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// Draws 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number uniform in [0, 1), with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a number uniform in [low, high).
    #[inline]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Draws an integer uniform in [0, n), by multiplication (bias below n / 2^64); zero for n = 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Draws true with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

/// Philox4x32 with ten rounds.
fn philox4x32(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
        }
        let a = u64::from(c[0]) * 0xD251_1F53;
        let b = u64::from(c[2]) * 0xCD9E_8D57;
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known-answer vectors of the Random123 distribution.
    #[test]
    fn philox_known_answers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = u32::MAX;
        assert_eq!(philox4x32([ones; 4], [ones; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn streams_of_neighbours_differ_and_repeat() {
        let draw = |site, purpose| Stream::new(7, site, purpose).bits();
        assert_eq!(draw(3, Purpose::Source), draw(3, Purpose::Source));
        assert_ne!(draw(3, Purpose::Source), draw(4, Purpose::Source));
        assert_ne!(draw(3, Purpose::Source), draw(3, Purpose::Phase));
    }

    #[test]
    fn uniform_has_the_right_mean() {
        let mut s = Stream::new(1, 1, Purpose::Test);
        let mean = (0..100_000).map(|_| s.uniform()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
