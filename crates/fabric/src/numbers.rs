//! Numbers that mean something: times, and the numbers of frames.

use cnsim_scheme_api::Time;
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub};

/// Picoseconds: a moment of a run, or a length of time. It computes as the number in it does, where [`Time`] saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Ps(pub(crate) u64);

/// The number of a frame in its flow or on its connection, from 0 on: as many precede it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct FrameNo(pub(crate) u64);

/// A time that never comes.
pub(crate) const NEVER: Ps = Ps(u64::MAX);

/// Laws of computation: what stands on the left, on the right, and what comes out.
macro_rules! laws {
    ($($left:ty, $law:ident $do:ident $own:ident $by:ident: $right:ty => $out:ty, $what:expr;)+) => {$(
        impl $law<$right> for $left {
            type Output = $out;
            #[inline(always)]
            fn $do(self, $by: $right) -> $out {
                let $own = self;
                $what
            }
        }
    )+};
}

laws! {
    Ps, Add add own by: Ps => Ps, Ps(own.0 + by.0);
    Ps, Sub sub own by: Ps => Ps, Ps(own.0 - by.0);
    Ps, Rem rem own by: Ps => Ps, Ps(own.0 % by.0);
    Ps, Div div own by: Ps => u64, own.0 / by.0;
    Ps, Div div own by: u64 => Ps, Ps(own.0 / by);
    Ps, Mul mul own by: u64 => Ps, Ps(own.0 * by);
    u64, Mul mul own by: Ps => Ps, by * own;
    FrameNo, Add add own by: u64 => FrameNo, FrameNo(own.0 + by);
    FrameNo, Sub sub own by: FrameNo => u64, own.0 - by.0;
}

/// Comparisons of the numbers in two times: derived ones take more instructions.
macro_rules! compared {
    ($($do:ident)+) => {$(
        #[inline(always)]
        fn $do(&self, other: &Self) -> bool {
            self.0.$do(&other.0)
        }
    )+};
}

impl PartialOrd for Ps {
    compared! { lt le gt ge }
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ps {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl AddAssign for Ps {
    #[inline(always)]
    fn add_assign(&mut self, by: Self) {
        self.0 += by.0;
    }
}

impl From<Time> for Ps {
    #[inline(always)]
    fn from(time: Time) -> Self {
        Self(time.as_ps())
    }
}

impl Ps {
    /// What programs outside of the network call it.
    #[inline(always)]
    pub(crate) const fn time(self) -> Time {
        Time::from_ps(self.0)
    }
    /// The sum, or [`NEVER`].
    #[inline(always)]
    pub(crate) const fn saturating_add(self, by: Self) -> Self {
        Self(self.0.saturating_add(by.0))
    }
    /// The difference, or nothing.
    #[inline(always)]
    pub(crate) const fn saturating_sub(self, by: Self) -> Self {
        Self(self.0.saturating_sub(by.0))
    }
}

impl FrameNo {
    /// It and those behind it, up to another.
    pub(crate) fn to(self, end: Self) -> impl DoubleEndedIterator<Item = Self> {
        (self.0..end.0).map(Self)
    }
}
