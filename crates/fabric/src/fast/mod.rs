//! The fast way: nodes that are run a window at a time, with tables of their own.
//!
//! Everything here gives the same bits as the network's laws event by event; what each file gains, and why it may, stands at
//! its top.

mod bits;
pub(crate) mod bodies;
pub(crate) mod classed;
mod crossing;
pub(crate) mod frame;
pub(crate) mod host;
pub(crate) mod inbox;
mod mmu;
pub(crate) mod order;
pub(crate) mod records;
#[cfg(test)]
mod sizes;
pub(crate) mod sweep;
pub(crate) mod switch;
pub(crate) mod wheel;
pub(crate) mod wires;
