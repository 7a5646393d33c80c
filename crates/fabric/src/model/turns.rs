//! Whose turn it is among the lanes of a port or host: PAUSE, control, strict classes by number, then the others by deficit round robin.
//!
//! The classes that wait stand in a ring, in the order in which they began to wait. At a visit a class may send as much more as its quantum
//! is; it sends while its deficit reaches, and keeps the rest for its next visit. One that waits no longer leaves the ring; one in XOFF is
//! passed over, and keeps its place. Both lose their deficit. Bounds: after m visits a class that waits has sent no more than m quanta, and
//! less than a frame below that.
//!
//! A host makes a frame as it goes. So its classes stand in the ring always, and one sends while its deficit is above 0: after m visits it
//! has sent m quanta or more, by less than a frame.

use super::frame::{Lane, MANAGED};
use crate::net::Net;
use crate::spec::{MOST_CLASSES, Turn};
use std::sync::Arc;

/// The first lane of a port with one class from which `take` takes something: PAUSE goes before control, and that before data.
#[inline(always)]
pub(crate) fn first<T>(mut take: impl FnMut(Lane) -> Option<T>) -> Option<T> {
    ahead(&mut take).or_else(|| take(MANAGED))
}

/// The same of what goes before all data.
#[inline(always)]
fn ahead<T>(take: &mut impl FnMut(Lane) -> Option<T>) -> Option<T> {
    take(Lane::Pause).or_else(|| take(Lane::Control))
}

/// What a lane has to send.
#[derive(Debug)]
pub(crate) enum Offer<T> {
    /// A frame that was taken, its length, and whether it was the last that waits.
    Frame(T, u16, bool),
    /// Its first frame is longer than it may be.
    TooLong,
    /// None waits.
    Nothing,
    /// None may go; of a host also: none waits.
    Stopped,
}

/// What the classes may send in their turns, once for all ports of a node.
#[derive(Debug)]
pub(crate) struct Weights {
    /// Classes without a weight, in order.
    strict: Vec<u8>,
    /// By class, bytes of a visit; 0: it is strict.
    quanta: Vec<i64>,
    /// By class: each frame counts as the largest of the run.
    frames: Vec<bool>,
    largest: i64,
}

/// Classes in a circle: four bits each, the first lowest.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    order: u32,
    len: u32,
    /// A bit for each.
    members: u32,
}

impl Ring {
    #[inline]
    fn front(self) -> Option<u8> {
        (self.len > 0).then_some((self.order & 15) as u8)
    }
    /// One that is no member becomes the last.
    #[inline]
    fn join(&mut self, class: u8) {
        if self.members >> class & 1 == 0 {
            self.order |= u32::from(class) << (4 * self.len);
            self.members |= 1 << class;
            self.len += 1;
        }
    }
    /// The first leaves.
    #[inline]
    fn leave(&mut self) -> Option<u8> {
        let class = self.front()?;
        self.order >>= 4;
        self.members &= !(1 << class);
        self.len -= 1;
        Some(class)
    }
    /// The first becomes the last.
    #[inline]
    fn pass(&mut self) {
        self.leave().into_iter().for_each(|class| self.join(class));
    }
}

/// The turns of a port or host.
#[derive(Debug)]
pub(crate) struct Lanes {
    weights: Arc<Weights>,
    /// The classes that wait, of those with a weight; the first is next.
    ring: Ring,
    deficits: [i64; MOST_CLASSES],
    /// The first of the ring has got the quantum of this visit.
    visited: bool,
}

impl Weights {
    pub(crate) fn new(net: &Net) -> Self {
        let weights: Vec<u32> = net.classes.iter().map(|class| class.weight()).collect();
        let common = weights.iter().fold(0, |common, weight| divisor(common, *weight)).max(1);
        let largest = i64::from(net.longest_frame());
        let alike = |turn| matches!(turn, Turn::Weight { frames: true, .. });
        Self {
            strict: (0..).zip(&weights).filter(|c| *c.1 == 0).map(|c| c.0).collect(),
            quanta: weights.iter().map(|weight| i64::from(weight / common) * largest).collect(),
            frames: net.classes.iter().map(|class| alike(class.turn)).collect(),
            largest,
        }
    }
}

impl Lanes {
    /// Of an output, where nothing waits.
    pub(crate) fn of_output(weights: &Arc<Weights>) -> Self {
        let (ring, deficits) = (Ring::default(), [0; MOST_CLASSES]);
        Self { weights: weights.clone(), ring, deficits, visited: false }
    }

    /// Of a host.
    pub(crate) fn of_host(net: &Net) -> Self {
        let mut lanes = Self::of_output(&Arc::new(Weights::new(net)));
        (0..lanes.weights.quanta.len() as u8).for_each(|class| lanes.join(class));
        lanes
    }

    /// A frame waits in a class: it takes turns from now on.
    pub(crate) fn join(&mut self, class: u8) {
        if self.weights.quanta[usize::from(class)] > 0 {
            self.ring.join(class);
        }
    }

    /// No class has anything to send, of those of a host: all are passed, after the one that has used up its visit.
    pub(crate) fn pass_all(&mut self, is_stopped: impl FnOnce(u8) -> bool) {
        let first = self.ring.front().filter(|_| self.visited);
        if first.is_some_and(|class| self.most(usize::from(class)) <= 0 && !is_stopped(class)) {
            self.ring.pass();
        }
        self.deficits.fill(0);
        self.visited = false;
    }

    /// The longest frame that a class may send at this visit, as it stands.
    fn most(&self, class: usize) -> i64 {
        match self.weights.frames[class] {
            false => self.deficits[class],
            true if self.deficits[class] >= self.weights.largest => i64::MAX,
            true => 0,
        }
    }

    /// The frame that goes next: `offer` takes one from a lane, if its first is no longer than this.
    pub(crate) fn next<T>(&mut self, mut offer: impl FnMut(Lane, i64) -> Offer<T>) -> Option<T> {
        let mut take = |lane| if let Offer::Frame(f, ..) = offer(lane, i64::MAX) { Some(f) } else { None };
        let first = ahead(&mut take)
            .or_else(|| self.weights.strict.iter().find_map(|class| take(Lane::Data(*class))));
        first.or_else(|| self.next_by_weight(offer))
    }

    fn next_by_weight<T>(&mut self, mut offer: impl FnMut(Lane, i64) -> Offer<T>) -> Option<T> {
        let mut passed = 0;
        while passed < self.ring.len {
            let class = self.ring.front()?;
            let at = usize::from(class);
            if !std::mem::replace(&mut self.visited, true) {
                self.deficits[at] += self.weights.quanta[at];
            }
            match offer(Lane::Data(class), self.most(at)) {
                Offer::Frame(frame, len, last) => {
                    self.deficits[at] -=
                        if self.weights.frames[at] { self.weights.largest } else { len.into() };
                    if last {
                        self.leave();
                    }
                    return Some(frame);
                }
                Offer::Nothing => self.leave(),
                Offer::TooLong => passed = 0,
                Offer::Stopped => {
                    self.deficits[at] = 0;
                    passed += 1;
                }
            }
            // Who has left has no place to keep.
            if std::mem::take(&mut self.visited) {
                self.ring.pass();
            }
        }
        None
    }

    /// Nothing of the first of the ring waits any more.
    fn leave(&mut self) {
        self.ring.leave().into_iter().for_each(|class| self.deficits[usize::from(class)] = 0);
        self.visited = false;
    }
}

/// The largest number that divides both.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}
