//! Sums and hashes by which runs are compared.

use crate::mix::mix;
use crate::net::{Net, Ps};

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

/// What a node's hash is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// When, ps, and what.
    Plain(Ps, u64),
    /// A frame is dropped for an output port: when, what, which.
    Drop(Ps, u64, u16),
    /// A message takes effect, at the limiter of this key.
    Message(Ps, u32),
    /// A limiter of this key has this rate.
    Rate(Ps, u32, u64),
}

impl Event {
    /// As the hash takes it: so much later, of a flow in the place of this one.
    #[inline]
    pub(crate) fn pair(self, by: Ps, flow: impl Fn(u32) -> u32) -> (u64, u64) {
        match self {
            Self::Plain(now, what) | Self::Drop(now, what, _) => ((now + by).0, what),
            Self::Message(now, key) => ((now + by).0, 0x4000 | u64::from(flow(key)) << 20),
            Self::Rate(now, key, bits) => ((now + by).0 ^ u64::from(flow(key)) << 40, bits),
        }
    }
}

/// The hash over what happens at a node, which is kept where a run is put together from phases.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) hash: Hash,
    pub(crate) kept: Vec<Event>,
    most: usize,
}

impl Events {
    /// Nothing yet.
    pub(crate) fn new(net: &Net) -> Self {
        Self { most: net.keeps, ..Self::default() }
    }
    /// Adds what happens.
    #[inline]
    pub(crate) fn add(&mut self, event: Event) {
        let (a, b) = event.pair(Ps(0), |flow| flow);
        self.hash.add(a, b);
        if self.kept.len() < self.most {
            self.kept.push(event);
        }
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
