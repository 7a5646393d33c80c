//! Sums and hashes by which runs are compared.

use crate::mix::mix;

/// An order-sensitive running hash: equal only if the same pairs were added in the same order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    /// Adds a pair of numbers.
    #[inline]
    pub(crate) fn add(&mut self, a: u64, b: u64) {
        self.0 = (self.0 ^ a).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ b;
    }
}

/// One side of the law that no frame is lost or doubled: how many frames, and the sum of their identities, which does not
/// depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    /// Data frames.
    pub(crate) frames: u64,
    /// Sum of their identities.
    pub(crate) identity: u64,
}

impl Ledger {
    /// Enters the frame with this number at its source, from `src` to `dst`.
    #[inline]
    pub(crate) fn enter(&mut self, src: u32, dst: u32, number: u32) {
        self.frames += 1;
        let identity = mix(u64::from(src) | u64::from(dst) << 16 | u64::from(number) << 32);
        self.identity = self.identity.wrapping_add(identity);
    }
    /// Enters all frames of another ledger.
    pub(crate) fn merge(&mut self, other: &Ledger) {
        self.frames += other.frames;
        self.identity = self.identity.wrapping_add(other.identity);
    }
}
