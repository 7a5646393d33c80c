//! Which nodes have something to do in which turn. Where windows hold few frames, only those are visited, and turns
//! in which nobody has anything to do are passed over.
//!
//! A wheel of bit sets: one for each of the next 64 turns, and one for each of the 63 groups of 64 turns after
//! them. Order within a turn is free, so nothing is sorted, and a node is entered in constant time. A node entered too
//! early is visited in vain and enters itself anew; too late it is never.
//!
//! * Claim: turns in which nobody has anything to do are passed over.
//! * Same bits: a node entered too early is visited in vain, too late it is never.
//! * Bench row: sparse.
//! * Marks: PassedOver.

use crate::check::broken;

/// Turns of the fine wheel, and groups of the coarse one.
const SLOTS: u64 = 64;

/// The node of a receiving port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Station {
    pub(crate) node: u32,
    /// Its number among the node's ports, modulo 64.
    pub(crate) bit: u8,
}

#[derive(Debug, Default)]
pub(crate) struct Wheel {
    /// Of a turn, ps.
    length: u64,
    /// 2^64 / length, rounded down.
    reciprocal: u64,
    /// The run's end, ps.
    duration: u64,
    /// The turn in hand.
    now: u64,
    /// Words of a bit set.
    words: usize,
    fine: Vec<u64>,
    coarse: Vec<u64>,
    /// Which sets are not empty.
    fine_full: u64,
    coarse_full: u64,
    /// The nodes that have odd turns, as a bit set; the others have the even ones. If not `halves` (1, else 0), all have all.
    odd: Vec<u64>,
    halves: u64,
    /// Per receiving port.
    pub(crate) stations: Vec<Station>,
    /// Receiving ports (their numbers modulo 64) at which something is due in a turn: per turn of the fine wheel and switch, and
    /// after these per switch, without saying in which turn.
    arrived: Vec<u64>,
    /// Switches, and the nodes before them.
    switches: usize,
    hosts: usize,
}

impl Wheel {
    /// For turns of a length (ps) up to a duration; per node, `hosts` first: is it one of the odd turns, where they come in halves?
    pub(crate) fn new(
        turn: u64,
        duration: u64,
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
        let set = vec![0; words * SLOTS as usize];
        Self {
            odd: bits,
            halves: u64::from(halves),
            length: turn.max(1),
            reciprocal: u64::MAX / turn.max(1),
            duration,
            now: 0,
            words,
            coarse: set.clone(),
            fine: set,
            fine_full: 0,
            coarse_full: 0,
            stations,
            arrived: vec![0; (SLOTS as usize + 1) * (nodes - hosts)],
            switches: nodes - hosts,
            hosts,
        }
    }

    /// Forgets all; turn `now` is the last one that is over.
    pub(crate) fn restart(&mut self, now: u64) {
        self.now = now;
        self.fine.fill(0);
        self.coarse.fill(0);
        self.arrived.fill(0);
        (self.fine_full, self.coarse_full) = (0, 0);
    }

    /// The turn in which time comes to `time`.
    #[inline(always)]
    pub(crate) fn turn(&self, time: u64) -> u64 {
        // The product is at most one too low.
        let low = ((u128::from(time) * u128::from(self.reciprocal)) >> 64) as u64;
        low + u64::from(time - low * self.length >= self.length)
    }

    /// Enters a node for a turn after the one in hand: its first that is not before `turn`. Says which of the fine wheel's that
    /// is, or [`SLOTS`].
    #[inline(always)]
    pub(crate) fn enter(&mut self, node: u32, turn: u64) -> usize {
        let turn = turn.max(self.now + 1);
        let (place, bit) = (node as usize / 64, 1 << (node % 64));
        let odd = self.odd.get(place).map_or(0, |word| word >> (node % 64));
        let turn = turn + ((turn ^ odd) & self.halves);
        if turn - self.now < SLOTS {
            let slot = (turn % SLOTS) as usize;
            self.fine_full |= 1 << slot;
            if let Some(word) = self.fine.get_mut(slot * self.words + place) {
                *word |= bit;
            }
            slot
        } else {
            let group = (turn / SLOTS).min(self.now / SLOTS + SLOTS - 1);
            let slot = (group % SLOTS) as usize;
            self.coarse_full |= 1 << slot;
            if let Some(word) = self.coarse.get_mut(slot * self.words + place) {
                *word |= bit;
            }
            SLOTS as usize
        }
    }

    /// Enters the node of a receiving port for the turn in which a frame that is sent to it must be looked at; `alone`: no
    /// other waits there.
    #[inline(always)]
    pub(crate) fn announce(&mut self, port: usize, ready: u64) {
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
        let now = (self.now % SLOTS) as usize * self.switches + switch;
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
    pub(crate) fn enter_at(&mut self, node: u32, time: u64) {
        if time < self.duration {
            self.enter(node, self.turn(time));
        }
    }

    /// The next turn for which a node is entered; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        let next = |full: u64, from: u64| match full.rotate_right((from % SLOTS) as u32).trailing_zeros() {
            64 => u64::MAX,
            ahead => from + u64::from(ahead),
        };
        let fine = next(self.fine_full, self.now + 1);
        let group = next(self.coarse_full, self.now / SLOTS + 1);
        fine.min(group.saturating_mul(SLOTS))
    }

    /// Goes on to a turn, which is at most the next one for which a node is entered, or that of a frame which came from another
    /// worker since [`Wheel::next`] was asked.
    pub(crate) fn go_to(&mut self, turn: u64) {
        self.now = turn;
        let group = (turn / SLOTS % SLOTS) as usize;
        if self.coarse_full & (1 << group) != 0 {
            // The nodes of a group have their turn at its beginning, and enter themselves anew. Of a frame from another worker
            // the beginning may have been passed over; its own turn has not.
            self.coarse_full &= !(1 << group);
            let [slot, next] = [turn, turn + 1].map(|t| (t % SLOTS) as usize);
            self.fine_full |= self.halves << next;
            for word in 0..self.words {
                let nodes = std::mem::take(&mut self.coarse[group * self.words + word]);
                let others = if turn.is_multiple_of(2) { self.odd[word] } else { !self.odd[word] };
                let others = if self.halves == 0 { 0 } else { others };
                self.fine[slot * self.words + word] |= nodes & !others;
                self.fine[next * self.words + word] |= nodes & others;
            }
        }
        self.fine_full &= !(1 << (turn % SLOTS));
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Takes 64 nodes' bits of the turn in hand.
    #[inline]
    pub(crate) fn take(&mut self, word: usize) -> u64 {
        let place = (self.now % SLOTS) as usize * self.words + word;
        self.fine.get_mut(place).map_or(0, std::mem::take)
    }
}
