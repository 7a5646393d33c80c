//! Hashes.

/// A well-spread hash of 64 bits (finaliser of splitmix64).
#[inline]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// An order-sensitive running hash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    #[inline]
    pub(crate) fn add(&mut self, a: u64, b: u64) {
        self.0 = (self.0 ^ a).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ b;
    }
}
