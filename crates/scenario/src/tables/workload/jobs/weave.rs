//! The algorithms of collectives: who sends what to whom, after what.
//!
//! Bytes are cut into equal chunks, of which the last is shorter. Pieces of a chunk travel one after the other: a piece begins when it
//! may, and all of the one before it by that way is sent. An operation of a rank follows what has arrived there, or has been reduced.

use super::Operations;
use crate::flows::Framing;
use crate::wiring::Wiring;
use crate::wiring::nics::Takes;
use cnsim_fabric::{After, Transfer};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Time};
use std::collections::HashMap;
use std::ops::Range;

/// Transfers by host.
pub(super) type ByHost = HashMap<usize, Vec<Transfer>>;

/// Which transfers a rank waits for before it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// An arriving piece is passed on, or is a part of a later result.
    Midway,
    /// An arriving piece is part of the rank's own result.
    Result,
}
use Counts::{Midway, Result as Own};

/// Transfers of hosts, added as operations.
pub(super) struct Sends<'w> {
    pub(super) operations: &'w mut Operations,
    wiring: &'w Wiring,
    /// Which NICs transfers take, and the first two hosts that no path joins.
    takes: Takes<'w>,
    pub(super) apart: Option<(usize, usize)>,
    /// By NIC: index of its source, and what that sends.
    pub(super) sources: Vec<(u32, Vec<Transfer>)>,
    framing: Framing,
}

impl<'w> Sends<'w> {
    /// None yet. `sources`: how many sources each NIC has before.
    pub(super) fn new(
        operations: &'w mut Operations,
        wiring: &'w Wiring,
        sources: &[usize],
        framing: Framing,
    ) -> Self {
        let sources = sources.iter().map(|&source| (source as u32, Vec::new())).collect();
        let takes = Takes::new(wiring.machines.as_deref());
        Self { operations, wiring, takes, apart: None, sources, framing }
    }

    /// A host sends payload to another one, after what has happened: the operation that does.
    pub(super) fn pass(
        &mut self,
        (from, to): (usize, usize),
        bytes: u64,
        after: impl IntoIterator<Item = After>,
    ) -> u32 {
        let [a, b] = [from, to].map(|host| self.wiring.nics(host));
        let (nic, dst) = self.takes.take(a, b).unwrap_or_else(|| *self.apart.get_or_insert((from, to)));
        let (source, transfers) = &mut self.sources[nic];
        let place = (*source, transfers.len() as u32);
        let bytes = self.framing.on_link(Bytes::new(bytes));
        transfers.push(Transfer { start: Transfer::FOLLOWS, dst: NodeId(dst as u32), bytes });
        self.operations.send(nic, place, after)
    }

    /// The transfers of hosts that send any.
    pub(super) fn by_host(self) -> ByHost {
        let tight = |(_, mut transfers): (u32, Vec<Transfer>)| {
            transfers.shrink_to_fit();
            transfers
        };
        let all = self.sources.into_iter().map(tight).enumerate();
        all.filter(|s| !s.1.is_empty()).collect()
    }
}

/// One round of a collective.
pub(super) struct Weave<'a, 'w> {
    pub(super) sends: &'a mut Sends<'w>,
    /// Hosts, by rank: of each its first NIC.
    pub(super) ranks: &'a [usize],
    /// Largest piece, and what reducing a byte takes, ps.
    pub(super) piece: u64,
    pub(super) reduce: u64,
    /// By rank: what it begins after. All ranks begin in one moment, so that nobody hears of another before (`even`).
    pub(super) gates: Vec<After>,
    pub(super) even: bool,
    /// By rank: what it must have, and what it has sent.
    pub(super) got: Vec<Vec<After>>,
    pub(super) gone: Vec<Vec<After>>,
}

impl Weave<'_, '_> {
    fn n(&self) -> usize {
        self.ranks.len()
    }

    /// Pieces of so many bytes; none of 0.
    fn pieces(&self, bytes: u64) -> Vec<u64> {
        let piece = self.piece.min(bytes).max(1);
        (0..bytes.div_ceil(piece)).map(|i| piece.min(bytes - i * piece)).collect()
    }

    /// One rank sends bytes to another, after what has happened at the first: what then has happened at the second, where they may be
    /// reduced. `line`: the piece before it by this way.
    fn pass(
        &mut self,
        (from, to): (usize, usize),
        bytes: u64,
        (after, line): (&[After], Option<&mut Option<u32>>),
        (reduced, counts): (bool, Counts),
    ) -> After {
        let gate = (after.is_empty() || !self.even).then_some(self.gates[from]);
        let before = line.as_ref().and_then(|line| line.map(After::Sent));
        let all = after.iter().copied().chain(gate).chain(before);
        let sent = self.sends.pass((self.ranks[from], self.ranks[to]), bytes, all);
        line.into_iter().for_each(|line| *line = Some(sent));
        self.gone[from].push(After::Ended(sent));
        let arrived = After::Ended(sent);
        let has = if reduced && self.reduce > 0 {
            let gate = (!self.even).then_some(self.gates[to]);
            let time = Time::from_ps(self.reduce.saturating_mul(bytes));
            After::Ended(self.sends.operations.wait(
                self.ranks[to],
                time,
                std::iter::once(arrived).chain(gate),
            ))
        } else {
            arrived
        };
        if counts == Own {
            self.got[to].push(has);
        }
        has
    }

    /// A ring over the ranks from `first` on, of these steps: in step k each sends the chunk that came in step k - 1. Chunks are
    /// reduced in the first n - 1 steps where `reduced` says so.
    pub(super) fn ring(&mut self, bytes: u64, first: usize, steps: Range<usize>, reduced: bool) {
        let n = self.n();
        let chunk = bytes.div_ceil(n as u64);
        let of = |c: usize| chunk.min(bytes.saturating_sub(c as u64 * chunk));
        let mut has: Vec<Vec<Option<After>>> = vec![Vec::new(); n];
        let mut lines: Vec<Option<u32>> = vec![None; n];
        // The last chunk that a rank reduces is its own; what comes later is whole.
        let (last, whole) = (steps.end - 1, if reduced { n - 2 } else { 0 });
        for k in steps {
            let mut next = vec![Vec::new(); n];
            for p in 0..n {
                let (from, to) = ((first + p) % n, (first + p + 1) % n);
                let pieces = self.pieces(of((p + 2 * n - k) % n));
                for (j, &bytes) in pieces.iter().enumerate() {
                    let after = has[p].get(j).copied().flatten();
                    let line = (pieces.len() > 1).then_some(&mut lines[p]);
                    let counts = if k >= whole || k == last { Own } else { Midway };
                    let arrives = self.pass(
                        (from, to),
                        bytes,
                        (after.as_slice(), line),
                        (reduced && k + 1 < n, counts),
                    );
                    next[(p + 1) % n].push(Some(arrives));
                }
            }
            has = next;
        }
    }

    /// Along a tree, in pieces: up to the root with reduction, down from it, or both. `parents` by rank; the root has none.
    pub(super) fn tree(&mut self, bytes: u64, parents: &[Option<usize>], (up, down): (bool, bool)) {
        let n = self.n();
        let depth = |mut r: usize| {
            let mut steps = 0;
            while let Some(parent) = parents[r] {
                (r, steps) = (parent, steps + 1);
            }
            steps
        };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&r| (depth(r), r));
        let pieces = self.pieces(bytes);
        let several = pieces.len() > 1;
        // By rank and piece: what has come.
        let mut has: Vec<Vec<Vec<After>>> = vec![vec![Vec::new(); pieces.len()]; n];
        let mut lines: Vec<Option<u32>> = vec![None; n];
        if up {
            for &from in order.iter().rev() {
                let Some(to) = parents[from] else { continue };
                let counts = if down && parents[to].is_some() { Midway } else { Own };
                for (j, &bytes) in pieces.iter().enumerate() {
                    let (after, line) =
                        (std::mem::take(&mut has[from][j]), several.then_some(&mut lines[from]));
                    let arrives = self.pass((from, to), bytes, (&after, line), (true, counts));
                    has[to][j].push(arrives);
                }
            }
        }
        lines.fill(None);
        if down {
            for &to in &order {
                let Some(from) = parents[to] else { continue };
                for (j, &bytes) in pieces.iter().enumerate() {
                    let line = several.then_some(&mut lines[to]);
                    let arrives = self.pass((from, to), bytes, (&has[from][j].clone(), line), (false, Own));
                    has[to][j] = vec![arrives];
                }
            }
        }
    }

    /// Halving, doubling, or both, of n = 2^k ranks.
    pub(super) fn halving_doubling(&mut self, bytes: u64, (halve, double): (bool, bool)) {
        let n = self.n();
        let chunk = bytes.div_ceil(n as u64);
        let of = |from: usize, to: usize| {
            (chunk * to as u64).min(bytes).saturating_sub((chunk * from as u64).min(bytes))
        };
        let mut has: Vec<Vec<After>> = vec![Vec::new(); n];
        let sizes = || std::iter::successors(Some(n / 2), |h| Some(h / 2)).take_while(|h| *h > 0);
        for h in sizes().filter(|_| halve) {
            let mut next = has.clone();
            for (from, has) in has.iter().enumerate() {
                let to = from ^ h;
                // The half of its part in which the partner is.
                let first = to / h * h;
                let counts = if h == 1 { Own } else { Midway };
                if of(first, first + h) > 0 {
                    next[to].push(self.pass((from, to), of(first, first + h), (has, None), (true, counts)));
                }
            }
            has = next;
        }
        let sizes: Vec<usize> = sizes().collect();
        for &h in sizes.iter().rev().filter(|_| double) {
            let mut next = has.clone();
            for (from, has) in has.iter().enumerate() {
                let (to, first) = (from ^ h, from / h * h);
                if of(first, first + h) > 0 {
                    next[to].push(self.pass((from, to), of(first, first + h), (has, None), (false, Own)));
                }
            }
            has = next;
        }
    }

    /// Recursive doubling with a byte: a barrier of n = 2^k ranks.
    pub(super) fn exchange(&mut self) {
        let n = self.n();
        let mut has: Vec<Vec<After>> = vec![Vec::new(); n];
        let mut h = 1;
        while h < n {
            let mut next = vec![Vec::new(); n];
            for (from, has) in has.iter().enumerate() {
                next[from ^ h].push(self.pass((from, from ^ h), 1, (has, None), (false, Own)));
            }
            next.iter_mut().zip(&has).for_each(|(now, before)| now.extend(before));
            (has, h) = (next, 2 * h);
        }
    }

    /// Each rank sends every other one its own chunk at once, or the whole (`alike`): what has arrived, by rank.
    pub(super) fn all_at_once(
        &mut self,
        of: impl Fn(usize, usize) -> u64,
        after: &[Vec<After>],
        reduced: bool,
    ) -> Vec<Vec<After>> {
        let n = self.n();
        let mut has = vec![Vec::new(); n];
        for from in 0..n {
            for step in 1..n {
                let to = (from + step) % n;
                let none = Vec::new();
                let after = after.get(from).unwrap_or(&none);
                if of(from, to) > 0 {
                    has[to].push(self.pass((from, to), of(from, to), (after, None), (reduced, Own)));
                }
            }
        }
        has
    }

    /// Step by step: in each a rank sends to one other, after what came in the step before.
    pub(super) fn in_steps(&mut self, of: impl Fn(usize) -> u64, goal: impl Fn(usize, usize) -> usize) {
        let n = self.n();
        let mut has: Vec<Vec<After>> = vec![Vec::new(); n];
        for step in 1..n {
            let mut next = has.clone();
            for (from, has) in has.iter().enumerate() {
                let to = goal(from, step);
                if of(to) > 0 {
                    next[to] = vec![self.pass((from, to), of(to), (has, None), (false, Own))];
                }
            }
            has = next;
        }
    }
}

/// Parents in the binary tree of NCCL, with rank 0 as the root: the lowest set bit is cleared and the next higher one set, or only
/// cleared where that is no rank.
pub(super) fn binary_tree(n: usize) -> Vec<Option<usize>> {
    let parent = |r: usize| {
        let bit = r & r.wrapping_neg();
        let (cleared, up) = (r & !bit, (r & !bit) | bit << 1);
        if up < n { up } else { cleared }
    };
    (0..n).map(|r| (r > 0).then(|| parent(r))).collect()
}

/// Parents in its second tree: the first one over n - 1 - r where n is even, else over r - 1. Each rank is a leaf of one tree at least.
pub(super) fn second_tree(n: usize) -> Vec<Option<usize>> {
    let first = binary_tree(n);
    let (there, back): (fn(usize, usize) -> usize, fn(usize, usize) -> usize) = match n % 2 {
        0 => (|r, n| n - 1 - r, |r, n| n - 1 - r),
        _ => (|r, n| (r + n - 1) % n, |r, n| (r + 1) % n),
    };
    (0..n).map(|r| first[there(r, n)].map(|parent| back(parent, n))).collect()
}
