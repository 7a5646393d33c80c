//! Headroom: bytes that can still arrive at a port after it sent XOFF, by the laws of this simulator and by the rules of the field.

use cnsim_fabric::PauseFrames;
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
    /// Length of PAUSE frames, and the time from the arrival of one to its effect, beside the frame in transmission.
    pub pause: PauseFrames,
}

impl Loop {
    /// Bytes that can still arrive after XOFF is triggered. The XOFF waits for a frame in transmission, travels and is processed; then
    /// the sender finishes its frame. Frames on the link and in processing arrive, and the frame that triggered the XOFF counts.
    pub fn headroom(&self) -> Bytes {
        cnsim_fabric::headroom(self.rate, self.rate, self.delay, self.processing, self.frame)
            + self.pause.headroom(self.rate)
    }
}

/// Terms of the headroom of one lossless class, by IEEE 802.1Qbb, Annex O: two frames with preamble and gap, a PFC frame, both
/// interfaces, the response of the sender, and the cable both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pfc {
    /// Two frames of the largest size, each with 20 B of preamble and gap.
    pub frames: Bytes,
    /// The PFC frame with preamble and gap: 84 B.
    pub message: Bytes,
    /// Delay of the interfaces at both ends.
    pub interfaces: Bytes,
    /// Time from the arrival of the PFC frame to the sender's last bit, the frame in transmission aside.
    pub response: Bytes,
    /// The cable, both ways.
    pub cable: Bytes,
}

/// Rate of a link in Gb/s, with the delay of an interface and the longest response of a sender in bit times (IEEE 802.1Qbb, Annex O).
/// At 400 Gb/s the source names no delay of an interface.
const ANNEX_O: [(f64, Option<u32>, u32); 5] = [
    (10.0, Some(8_192), 30_720),
    (25.0, Some(6_144), 40_960),
    (40.0, Some(24_576), 60_416),
    (100.0, Some(122_880), 201_728),
    (400.0, None, 463_360),
];

/// Response in the short rule of vendors: 60 quanta of 512 bit times, at any rate.
const SHORT: u32 = 60 * 512;

/// Delay of an interface and longest response at this rate, by Annex O; none of what the source does not name.
pub fn annex_o(rate: Rate) -> (Option<Time>, Option<Time>) {
    let row = ANNEX_O.into_iter().find(|row| Rate::from_gbps(row.0) == rate);
    let time = |bits: u32| Time::from_secs_f64(f64::from(bits) / rate.bps());
    (row.and_then(|row| row.1).map(time), row.map(|row| time(row.2)))
}

impl Pfc {
    /// By Annex O's terms, with these delays.
    pub fn new(link: &Loop, interface: Time, response: Time) -> Self {
        let bytes = |time: Time| Bytes::new((link.rate.bps() * time.as_secs_f64() / 8.0).ceil() as u64);
        Self {
            frames: (link.frame + Bytes::new(20)) * 2,
            message: Bytes::new(84),
            interfaces: bytes(interface * 2),
            response: bytes(response),
            cable: bytes(link.delay * 2),
        }
    }
    /// By the short rule of vendors: no interface, and 60 quanta of response at any rate.
    pub fn short(link: &Loop) -> Self {
        Self::new(link, Time::ZERO, Time::from_secs_f64(f64::from(SHORT) / link.rate.bps()))
    }
    /// Headroom: the sum of all parts.
    pub fn headroom(&self) -> Bytes {
        self.frames + self.message + self.interfaces + self.response + self.cable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headroom in KB by Annex O and by the short rule, worked out by hand to three digits.
    #[test]
    fn annex_o_and_the_short_rule() {
        for (frame, metres, cells) in [
            (1500, 5, [(10, 9.1, 7.0), (25, 9.9, 7.1), (40, 17.1, 7.2), (100, 59.7, 7.6), (400, 63.5, 9.5)]),
            (
                9216,
                300,
                [
                    (10, 28.2, 26.1),
                    (25, 34.6, 31.8),
                    (40, 47.3, 37.4),
                    (100, 112.0, 59.9),
                    (400, 226.0, 172.0),
                ],
            ),
        ] {
            for (gbps, annex, short) in cells {
                let rate = Rate::from_gbps(f64::from(gbps));
                let (delay, frame) = (Time::from_ns(5 * metres), Bytes::new(frame));
                let link = Loop { rate, delay, processing: Time::ZERO, frame, pause: PauseFrames::default() };
                let (interface, response) = annex_o(rate);
                let by_annex = Pfc::new(&link, interface.unwrap_or(Time::ZERO), response.unwrap()).headroom();
                for (due, got) in [(annex, by_annex), (short, Pfc::short(&link).headroom())] {
                    let off = (got.get() as f64 / 1000.0 - due).abs();
                    assert!(off <= if due < 100.0 { 0.051 } else { 0.51 }, "{gbps} {metres}: {due} {got}");
                }
            }
        }
        assert_eq!(annex_o(Rate::from_gbps(50.0)), (None, None));
        assert_eq!(annex_o(Rate::from_gbps(10.0)).0, Some(Time::from_ps(819_200)));
    }

    /// 10 Gb/s, 0.5 us, 1 us, 1500 B: 2 x 1.2 + 0.0512 + 3 us = 5.4512 us are 6814 B, and 1564 B for the frame and the XOFF.
    #[test]
    fn by_hand() {
        let l = Loop {
            rate: Rate::from_gbps(10.0),
            delay: Time::from_ns(500),
            processing: Time::from_us(1),
            frame: Bytes::new(1500),
            pause: PauseFrames::default(),
        };
        assert_eq!(l.headroom().get(), 6814 + 1564);
        // 436 B more of PAUSE frame, and 1 us.
        let pause = PauseFrames { length: Bytes::new(500), response: Time::from_us(1) };
        assert_eq!(Loop { pause, ..l }.headroom().get(), 6814 + 1564 + 436 + 1250);
    }
}
