//! PAUSE headroom: bytes that can still arrive at a port after it sent XOFF.

use cnsim_units::{Bytes, Rate, Time};

/// Quantities that determine the headroom of PAUSE.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Time,
    /// Processing delay at an end.
    pub processing: Time,
    /// Length of the largest data frame.
    pub frame: Bytes,
}

impl Loop {
    /// Bytes that can still arrive after XOFF is triggered. The XOFF waits for a frame in transmission, travels and is processed; then
    /// the sender finishes its frame. Frames on the link and in processing arrive, and the frame that triggered the XOFF counts.
    pub fn headroom(&self) -> Bytes {
        cnsim_fabric::headroom(self.rate, self.rate, self.delay, self.processing, self.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gb/s, 0.5 us, 1 us, 1500 B: 2 x 1.2 + 0.0512 + 3 us = 5.4512 us are 6814 B, and 1564 B for the frame and the XOFF.
    #[test]
    fn by_hand() {
        let l = Loop {
            rate: Rate::from_gbps(10.0),
            delay: Time::from_ns(500),
            processing: Time::from_us(1),
            frame: Bytes::new(1500),
        };
        assert_eq!(l.headroom().get(), 6814 + 1564);
    }
}
