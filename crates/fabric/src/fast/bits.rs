//! Sets of ports, as bits.

/// Bit of a port in a set of ports modulo 64.
#[inline(always)]
pub(crate) fn bit(port: usize) -> u64 {
    1 << (port % 64)
}

/// The ports, of so many, whose bits are set, bit by bit.
#[inline(always)]
pub(crate) fn of_bits(mut bits: u64, ports: usize) -> impl Iterator<Item = usize> {
    let mut next = ports;
    std::iter::from_fn(move || {
        while next >= ports {
            next = (bits != 0).then_some(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
        }
        next += 64;
        Some(next - 64)
    })
}
