//! Arithmetic of whole numbers with a unit: it saturates at zero and at the largest value.

/// Differences, sums and multiples of a type that wraps a `u64`, and its text for debugging.
macro_rules! arithmetic {
    ($amount:ident) => {
        impl $amount {
            /// The difference, or zero where `other` is larger.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The sum, or `None` where it exceeds the largest value.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }
        }

        impl std::fmt::Debug for $amount {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::ops::Add for $amount {
            type Output = Self;
            /// Saturates at the largest value.
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl std::ops::AddAssign for $amount {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl std::ops::Sub for $amount {
            type Output = Self;
            /// Stops at zero: nothing here is negative.
            fn sub(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
        }

        impl std::ops::SubAssign for $amount {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl std::ops::Mul<u64> for $amount {
            type Output = Self;
            /// Saturates at the largest value.
            fn mul(self, factor: u64) -> Self {
                Self(self.0.saturating_mul(factor))
            }
        }

        impl std::iter::Sum for $amount {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, std::ops::Add::add)
            }
        }
    };
}
pub(crate) use arithmetic;
