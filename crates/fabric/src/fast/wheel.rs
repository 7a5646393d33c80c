//! Which nodes have something to do in which turn. Where windows hold few frames, only those are visited, and turns
//! in which nobody has anything to do are passed over.
//!
//! A wheel of bit sets, one for each of the next 64 turns, and a heap for the turns after them. Order within a turn is free, so that
//! nothing in the wheel is sorted, and a node is entered in constant time.
//!
//! * Claim: turns in which nobody has anything to do are passed over.
//! * Same bits: a node entered too early is visited in vain and enters itself anew; too late it is never.
//! * Bench row: sparse.
//! * Marks: PassedOver.

use crate::check::broken;
use crate::numbers::Ps;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Turns of the wheel.
const SLOTS: u64 = 64;

/// The node of a receiving port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Station {
    pub(crate) node: u32,
    /// Number of the port at its node, modulo 64.
    pub(crate) bit: u8,
}

#[derive(Debug, Default)]
pub(crate) struct Wheel {
    /// Of a turn, ps.
    length: Ps,
    /// 2^64 / length, rounded down.
    reciprocal: u64,
    /// The run's end, ps.
    duration: Ps,
    /// The turn in hand.
    turn: u64,
    /// Words of a bit set.
    pub(crate) words: usize,
    near: Vec<u64>,
    /// Which sets are not empty.
    full: u64,
    /// Turn and node; and by node, the first turn for which it has been put there.
    far: BinaryHeap<Reverse<(u64, u32)>>,
    first: Vec<u64>,
    /// The nodes that have odd turns, as a bit set; the others have the even ones. If not `halves` (1, else 0), all have all.
    odd: Vec<u64>,
    halves: u64,
    /// Per receiving port.
    pub(crate) stations: Vec<Station>,
    /// Receiving ports (their numbers modulo 64) at which something is due in a turn: per turn of the wheel and switch, and
    /// after these per switch, without saying in which turn.
    arrived: Vec<u64>,
    /// Switches, and the nodes before them.
    switches: usize,
    hosts: usize,
}

impl Wheel {
    /// For turns of a length (ps) up to a duration; per node, `hosts` first: is it one of the odd turns, where they come in halves?
    pub(crate) fn new(
        turn: Ps,
        duration: Ps,
        odd: &[bool],
        hosts: usize,
        halves: bool,
        stations: Vec<Station>,
    ) -> Self {
        let (nodes, words) = (odd.len(), odd.len().div_ceil(64));
        let mut bits = vec![0; words];
        for (n, _) in odd.iter().enumerate().filter(|&(_, &odd)| odd && halves) {
            bits[n / 64] |= 1 << (n % 64);
        }
        Self {
            odd: bits,
            halves: u64::from(halves),
            length: turn.max(Ps(1)),
            reciprocal: u64::MAX / turn.0.max(1),
            duration,
            turn: 0,
            words,
            near: vec![0; words * SLOTS as usize],
            full: 0,
            far: BinaryHeap::new(),
            first: vec![u64::MAX; nodes],
            stations,
            arrived: vec![0; (SLOTS as usize + 1) * (nodes - hosts)],
            switches: nodes - hosts,
            hosts,
        }
    }

    /// Forgets all; `turn` is the last one that is over.
    pub(crate) fn restart(&mut self, turn: u64) {
        self.turn = turn;
        self.near.fill(0);
        self.arrived.fill(0);
        self.full = 0;
        self.far.clear();
        self.first.fill(u64::MAX);
    }

    /// The turn in which time comes to `time`.
    #[inline(always)]
    pub(crate) fn turn(&self, time: Ps) -> u64 {
        // The product is at most one too low.
        let low = ((u128::from(time.0) * u128::from(self.reciprocal)) >> 64) as u64;
        low + u64::from(time - low * self.length >= self.length)
    }

    /// Enters a node for a turn after the one in hand: its first that is not before `turn`. Says which of the wheel's that is, or
    /// [`SLOTS`].
    #[inline(always)]
    pub(crate) fn enter(&mut self, node: u32, turn: u64) -> usize {
        let turn = turn.max(self.turn + 1);
        let odd = self.odd.get(node as usize / 64).map_or(0, |word| word >> (node % 64));
        let turn = turn + ((turn ^ odd) & self.halves);
        if turn - self.turn < SLOTS {
            self.put(node, turn);
            return (turn % SLOTS) as usize;
        }
        self.put_far(node, turn);
        SLOTS as usize
    }

    #[inline(never)]
    fn put_far(&mut self, node: u32, turn: u64) {
        if let Some(first) = self.first.get_mut(node as usize).filter(|first| turn < **first) {
            *first = turn;
            self.far.push(Reverse((turn, node)));
        }
    }

    #[inline(always)]
    fn put(&mut self, node: u32, turn: u64) {
        let slot = (turn % SLOTS) as usize;
        self.full |= 1 << slot;
        if let Some(word) = self.near.get_mut(slot * self.words + node as usize / 64) {
            *word |= 1 << (node % 64);
        }
    }

    /// Enters the node of a receiving port for the turn in which a frame that is sent to it must be looked at; `alone`: no
    /// other waits there.
    #[inline(always)]
    pub(crate) fn announce(&mut self, port: usize, ready: Ps) {
        let station = self.stations.get(port);
        let Some(&station) = station else { broken("nobody receives at this port") };
        let turn = self.turn(ready);
        let row = self.enter(station.node, turn);
        if let Some(switch) = (station.node as usize).checked_sub(self.hosts)
            && let Some(set) = self.arrived.get_mut(row * self.switches + switch)
        {
            *set |= 1 << (station.bit & 63);
        }
    }

    /// Takes the receiving ports of a switch at which something is due in the turn in hand, and those at which something may be.
    #[inline(always)]
    pub(crate) fn take_arrived(&mut self, node: u32) -> (u64, u64) {
        let switch = node as usize - self.hosts;
        let now = (self.turn % SLOTS) as usize * self.switches + switch;
        let near = self.arrived.get_mut(now).map_or(0, std::mem::take);
        let far = self.arrived.get_mut(SLOTS as usize * self.switches + switch).map_or(0, std::mem::take);
        (near, far)
    }

    /// Something may be due at these receiving ports in any later turn.
    #[inline(always)]
    pub(crate) fn keep_arrived(&mut self, node: u32, far: u64) {
        let switch = node as usize - self.hosts;
        if let Some(set) = self.arrived.get_mut(SLOTS as usize * self.switches + switch) {
            *set |= far;
        }
    }

    /// Enters a node for the turn of a time, unless that is after the run's end.
    #[inline(always)]
    pub(crate) fn enter_at(&mut self, node: u32, time: Ps) {
        if time < self.duration {
            self.enter(node, self.turn(time));
        }
    }

    /// The next turn for which a node is entered; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        let near = match self.full.rotate_right(((self.turn + 1) % SLOTS) as u32).trailing_zeros() {
            64 => u64::MAX,
            ahead => self.turn + 1 + u64::from(ahead),
        };
        near.min(self.far.peek().map_or(u64::MAX, |far| far.0.0))
    }

    /// Goes on to a turn, which is at most the next one for which a node is entered, or that of a frame which came from another
    /// worker since [`Wheel::next`] was asked.
    pub(crate) fn go_to(&mut self, turn: u64) {
        self.turn = turn;
        while let Some(&Reverse((due, node))) = self.far.peek()
            && due <= turn
        {
            self.far.pop();
            self.first[node as usize] = u64::MAX;
            self.put(node, turn);
        }
        self.full &= !(1 << (turn % SLOTS));
    }

    /// Takes 64 nodes' bits of the turn in hand.
    #[inline]
    pub(crate) fn take(&mut self, word: usize) -> u64 {
        let place = (self.turn % SLOTS) as usize * self.words + word;
        self.near.get_mut(place).map_or(0, std::mem::take)
    }
}
