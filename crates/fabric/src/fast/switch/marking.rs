//! Marks by a ramp: what a port draws, and when it need not look.
//!
//! A frame whose departure may be marked costs one draw of the port's stream, and nearly all draws mark nothing: those above
//! the ramp's largest probability on its slope. So the port draws ahead up to one that may, and where so many are known to mark
//! nothing, departures only count them. The stream is the same, draw by draw.
//!
//! * Claim: most departures that a ramp may mark only count a draw.
//! * Same bits: draws are taken from the same stream in the same order; those above the largest probability mark nothing
//!   whatever the queue.
//! * Bench row: w2 dcqcn (`cnsim bench --schemes w2`).
//! * Marks: IdleDraws.

use super::port::Port;
use crate::fast::frame::{NEVER, Ring};
use crate::marks::{Mark, hit};
use cnsim_scheme_api::network::Stream;
use cnsim_scheme_api::{Ramp, RampAt};

/// Draws ahead at a time.
const AHEAD: u32 = 256;

/// The draws of a port's ramp: its own, as ports are not replayed in step.
#[derive(Debug)]
pub(crate) struct Draws {
    /// Behind all that has been drawn.
    stream: Stream,
    /// Before the last ones drawn ahead, how many there were that mark nothing, and the one behind them, if it may.
    before: Stream,
    ahead: u32,
    next: Option<f64>,
}

impl Draws {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { before: stream.clone(), stream, ahead: 0, next: None }
    }

    /// Does the next draw mark with probability `chance`? `idle`: draws ahead that mark nothing with up to `most`, which is not
    /// below any chance of the ramp.
    #[cold]
    #[inline(never)]
    fn mark(&mut self, idle: &mut u32, chance: f64, most: f64) -> bool {
        let drawn = self.next.take().unwrap_or_else(|| self.stream.uniform());
        self.before = self.stream.clone();
        self.ahead = 0;
        while self.ahead < AHEAD {
            let next = self.stream.uniform();
            if next < most {
                self.next = Some(next);
                break;
            }
            self.ahead += 1;
        }
        *idle = self.ahead;
        drawn < chance
    }

    /// What has been drawn ahead and not used is yet to be drawn: all of the last time but `idle` has been.
    fn forget(&mut self, idle: &mut u32) {
        if self.ahead > 0 || self.next.is_some() {
            self.stream = self.before.clone();
            for _ in *idle..self.ahead {
                self.stream.uniform();
            }
        }
        (self.ahead, self.next, *idle) = (0, None, 0);
    }
}

/// Does a ramp mark with this probability? One draw, where it is not certain.
#[inline]
pub(super) fn draw(ramp: &Ramp, draws: &mut Option<Box<Draws>>, idle: &mut u32, chance: f64) -> bool {
    if chance <= 0.0 || chance >= 1.0 {
        return chance >= 1.0;
    }
    if *idle > 0 {
        hit(Mark::IdleDraws);
        *idle -= 1;
        return false;
    }
    // No less than what a slope yields, rounding and all.
    let slope = ramp.p_max * 1.001;
    let most = if ramp.p_beyond < 1.0 { slope.max(ramp.p_beyond) } else { slope };
    draws.as_mut().is_some_and(|d| d.mark(idle, chance, most))
}

/// Does the ramp at departure mark a frame whose transmission began at `began`? What had arrived behind it by then counts, of
/// the `queued` bytes that are stored behind it. The frame itself may stand in the queue or not.
#[inline(never)]
pub(crate) fn leaves_marked(
    ramp: &Option<Ramp>,
    draws: &mut Option<Box<Draws>>,
    idle: &mut u32,
    data: &Ring,
    queued: u64,
    began: u64,
) -> bool {
    let Some(ramp) = ramp.as_ref().filter(|r| r.at == RampAt::Departure) else { return false };
    let ahead = data.entries().iter().rev().take_while(|e| e.ready > began);
    let chance = ramp.probability(queued - ahead.map(|e| u64::from(e.frame.len)).sum::<u64>());
    draw(ramp, draws, idle, chance)
}

impl Port {
    pub(crate) fn set_ramp(&mut self, ramp: Option<Ramp>) {
        if let Some(draws) = &mut self.draws {
            draws.forget(&mut self.idle_draws);
        }
        self.ramp = ramp;
        let low = |r: Ramp| if r.at == RampAt::Departure { r.low.get() } else { NEVER };
        self.mark_from = ramp.map_or(NEVER, low);
        let behind = self.mark_from / u64::from(self.longest) + 1;
        self.mark_behind = behind.min(u64::from(u16::MAX)) as u16;
    }

    /// Does the ramp at arrival mark a frame with which the queue is so long?
    #[inline]
    pub(super) fn marks_arrival(&mut self, queued: u64) -> bool {
        let Some(ramp) = self.ramp.as_ref().filter(|r| r.at == RampAt::Arrival) else { return false };
        draw(ramp, &mut self.draws, &mut self.idle_draws, ramp.probability(queued))
    }

    /// Can it be that the ramp at departure marks the first frame or one behind it, the last of which begins to leave at `began`?
    /// Not where too few had arrived by then: one look, as most of a queue may have arrived later. More than the ramp's low end
    /// is stored behind the first.
    #[inline(always)]
    pub(crate) fn may_mark(&self, began: u64) -> bool {
        self.data.place_at(u32::from(self.mark_behind)).is_some_and(|e| e.ready <= began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::Bytes;
    use cnsim_scheme_api::network::Purpose;

    /// Draws ahead are the draws of the stream, also where the ramp changes between.
    #[test]
    fn draws_are_those_of_the_stream() {
        let ramps = [(0.01, 1.0), (0.3, 0.0), (1.0, 1.0), (0.002, 0.5), (1e-9, 1.0), (0.0, 0.25)];
        for seed in 0..20 {
            let mut r = Stream::new(seed, 1, Purpose::Test);
            let mut plain = Stream::new(seed, 2, Purpose::Test);
            let mut draws = Some(Box::new(Draws::new(plain.clone())));
            let mut idle = 0;
            let (mut ramp, mut marks, mut waited) = (Ramp::step(Bytes::new(0)), 0, 0);
            for i in 0..20_000 {
                if r.below(700) == 0 || i == 0 {
                    if let Some(d) = &mut draws {
                        d.forget(&mut idle);
                    }
                    let (p_max, p_beyond) = ramps[r.below(6) as usize];
                    (ramp.low, ramp.high) = (Bytes::new(5_000), Bytes::new(200_000));
                    (ramp.p_max, ramp.p_beyond) = (p_max, p_beyond);
                }
                let long = if r.below(2) == 0 { 250_000 } else { 9_000 };
                let chance = ramp.probability(r.below(long));
                let expected = chance >= 1.0 || (chance > 0.0 && plain.chance(chance));
                waited += u32::from(idle > 0);
                let marked = draw(&ramp, &mut draws, &mut idle, chance);
                assert_eq!(marked, expected, "seed {seed}, draw {i}, {chance}");
                marks += u32::from(marked && chance < 1.0);
            }
            assert!(marks > 100 && waited > 1000, "{marks} {waited}");
        }
    }
}
