//! The forest of a run's XOFFs: at each root an output that was too slow by itself, below it the transmitters that were stopped for
//! it, and below each of these the ones that were stopped because it was.
//!
//! The bytes that called for an XOFF waited for outputs. Its time is shared out among these by their bytes. The share of an output that
//! was stopped itself goes to the roots of the XOFF that stopped it, as those share it. All shares are whole picoseconds, and those of
//! an XOFF add up to its time.

use super::{Held, Stops};
use std::collections::BTreeMap;

/// The weights of an XOFF's places add up to this.
const WHOLE: u64 = 1 << 40;
/// Most places that an XOFF has a share of: smaller shares go to these.
const MOST: usize = 64;

/// Why a root is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An output that was too slow for what came, and was not stopped itself.
    Slow,
    /// An output that serves nothing.
    Closed,
    /// A NIC or a port whose fault says XOFF.
    Said,
}

/// The beginning of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The output, or the NIC or port with a fault, among the names.
    pub output: u32,
    /// Why it is a root.
    pub kind: Kind,
    /// Places below it, in the order in which they were met.
    pub below: Vec<u32>,
    /// Time that all transmitters stood for it, ps.
    pub time: u64,
    /// First and last moment at which a transmitter stood for it, ps.
    pub span: (u64, u64),
}

/// A transmitter at its place in a tree: the path from the root to it leads by the transmitters that were stopped before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The transmitter, among the names.
    pub transmitter: u32,
    /// Number of the XOFF's root.
    pub root: u32,
    /// The place above this one; none below a root.
    pub above: Option<u32>,
    /// Places below this one.
    pub below: Vec<u32>,
    /// XOFFs that stopped the transmitter at this place.
    pub xoffs: u64,
    /// Time that the transmitter stood at this place, ps.
    pub time: u64,
    /// Of the bytes that called for these XOFFs, those that waited for the output above; and all of them.
    pub bytes: (u64, u64),
}

/// A share of an XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The place.
    pub place: u32,
    /// The root's share of the XOFF's time, ps.
    pub time: u64,
}

/// All trees of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest {
    /// The roots, those with most time first.
    pub roots: Vec<Root>,
    /// All places.
    pub places: Vec<Place>,
    /// By XOFF, its shares.
    pub parts: Vec<Vec<Part>>,
}

/// Shares out a whole number by weights, which are not all zero, and with which it makes no product above 2^127: the shares add up to
/// it, and none is off by one or more. Of what is left over, those get one whose remainders are largest, the earlier first.
fn shared(whole: u64, weights: &[u128]) -> Vec<u64> {
    let sum: u128 = weights.iter().sum::<u128>().max(1);
    let mut shares: Vec<u64> = Vec::with_capacity(weights.len());
    let mut rest: Vec<(u128, usize)> = Vec::with_capacity(weights.len());
    for (i, weight) in weights.iter().enumerate() {
        let product = u128::from(whole) * weight;
        shares.push((product / sum) as u64);
        rest.push((product % sum, i));
    }
    let left = whole - shares.iter().sum::<u64>();
    rest.sort_by_key(|r| (std::cmp::Reverse(r.0), r.1));
    rest.iter().take(left as usize).for_each(|r| shares[r.1] += 1);
    shares
}

impl Forest {
    /// The forest of a run's XOFFs. Only `wanted` XOFFs count their time; the others serve as causes.
    pub fn of(stops: &Stops, wanted: impl Fn(usize) -> bool) -> Self {
        let mut forest = Self::default();
        let mut roots: BTreeMap<(u32, Kind), u32> = BTreeMap::new();
        // The place of a transmitter below a root, or below a place.
        let mut known: BTreeMap<(u32, Option<u32>, u32), u32> = BTreeMap::new();
        // By XOFF: its places and their weights.
        let mut weights: Vec<Vec<(u32, u64)>> = Vec::with_capacity(stops.xoffs.len());
        for (number, stop) in stops.xoffs.iter().enumerate() {
            let all: u64 = stop.causes.iter().map(|c| c.bytes).sum();
            // (root, place above, bytes for the output above) with weights.
            let mut above: Vec<((u32, Option<u32>, u64), u128)> = Vec::new();
            for cause in &stop.causes {
                // A fault has none.
                let bytes = u128::from(cause.bytes.max(1));
                let kind = match cause.held {
                    Held::Slow => Kind::Slow,
                    Held::Closed => Kind::Closed,
                    Held::Said => Kind::Said,
                    Held::Xoff(by) => {
                        let parts = weights.get(by as usize).map_or(&[][..], Vec::as_slice);
                        let part = |&(at, w): &(u32, u64)| {
                            let root = forest.places[at as usize].root;
                            ((root, Some(at), cause.bytes), bytes * u128::from(w))
                        };
                        above.extend(parts.iter().map(part));
                        continue;
                    }
                };
                let root = *roots.entry((cause.output, kind)).or_insert_with(|| {
                    let span = (u64::MAX, 0);
                    forest.roots.push(Root { output: cause.output, kind, below: Vec::new(), time: 0, span });
                    forest.roots.len() as u32 - 1
                });
                above.push(((root, None, cause.bytes), bytes * u128::from(WHOLE)));
            }
            above.sort_by_key(|a| std::cmp::Reverse(a.1));
            above.truncate(MOST);
            let shares = shared(WHOLE, &above.iter().map(|a| a.1).collect::<Vec<_>>());
            let mut mine: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
            for (((root, over, bytes), _), share) in above.into_iter().zip(shares) {
                let at = forest.place(&mut known, (root, over), stop.stopped);
                let sum = mine.entry(at).or_default();
                *sum = (sum.0 + share, sum.1.max(bytes));
            }
            let times = shared(stop.time(), &mine.values().map(|s| u128::from(s.0)).collect::<Vec<_>>());
            let counts = wanted(number);
            let mut parts = Vec::new();
            for ((&at, &(_, bytes)), time) in mine.iter().zip(times) {
                parts.push(Part { place: at, time });
                if counts {
                    let place = &mut forest.places[at as usize];
                    place.xoffs += 1;
                    place.time += time;
                    place.bytes = (place.bytes.0 + bytes, place.bytes.1 + all);
                    let root = &mut forest.roots[place.root as usize];
                    root.time += time;
                    root.span = (root.span.0.min(stop.from), root.span.1.max(stop.until));
                }
            }
            forest.parts.push(parts);
            weights.push(mine.into_iter().map(|(at, s)| (at, s.0)).collect());
        }
        forest
    }

    /// The place of a transmitter below a root or another place. Where it stands above that already, the place is that one: a path by
    /// which XOFF came back to where it had been goes round no second time.
    fn place(
        &mut self,
        known: &mut BTreeMap<(u32, Option<u32>, u32), u32>,
        (root, above): (u32, Option<u32>),
        transmitter: u32,
    ) -> u32 {
        let mut next = above;
        while let Some(at) = next {
            let place = &self.places[at as usize];
            if place.transmitter == transmitter {
                return at;
            }
            next = place.above;
        }
        let number = self.places.len() as u32;
        let at = *known.entry((root, above, transmitter)).or_insert(number);
        if at == number {
            let place =
                Place { transmitter, root, above, below: Vec::new(), xoffs: 0, time: 0, bytes: (0, 0) };
            self.places.push(place);
            match above {
                Some(above) => self.places[above as usize].below.push(at),
                None => self.roots[root as usize].below.push(at),
            }
        }
        at
    }

    /// Roots for which a transmitter stood, those of most time first.
    pub fn by_time(&self) -> Vec<(u32, &Root)> {
        let mut all: Vec<(u32, &Root)> = (0..).zip(&self.roots).filter(|r| r.1.time > 0).collect();
        all.sort_by_key(|r| (std::cmp::Reverse(r.1.time), r.0));
        all
    }

    /// Places, by number, of most time first, without those where nothing stood, nor below them.
    pub fn below(&self, places: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = places.iter().copied().filter(|at| self.stands(*at)).collect();
        all.sort_by_key(|at| (std::cmp::Reverse(self.places[*at as usize].time), *at));
        all
    }

    /// Time that transmitters stood at a place and below it, ps.
    pub fn time(&self, at: u32) -> u64 {
        let place = &self.places[at as usize];
        place.time + place.below.iter().map(|at| self.time(*at)).sum::<u64>()
    }

    /// Does anything stand at a place, or below it?
    fn stands(&self, at: u32) -> bool {
        let place = &self.places[at as usize];
        place.xoffs > 0 || place.below.iter().any(|at| self.stands(*at))
    }

    /// The root that has most of an XOFF.
    pub fn main_root(&self, xoff: usize) -> Option<u32> {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for part in self.parts.get(xoff)? {
            *sums.entry(self.places[part.place as usize].root).or_default() += part.time;
        }
        sums.into_iter().max_by_key(|(root, time)| (*time, std::cmp::Reverse(*root))).map(|(root, _)| root)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cause, Stop};
    use super::*;

    fn stop(stopped: u32, span: (u64, u64), causes: &[(u32, u64, Held)]) -> Stop {
        let causes = causes.iter().map(|&(output, bytes, held)| Cause { output, bytes, held }).collect();
        Stop { stopped, decided: span.0, from: span.0, until: span.1, causes, ..Stop::default() }
    }

    fn stops(xoffs: Vec<Stop>) -> Stops {
        let names = (0..10).map(|i| format!("T{i}")).collect();
        Stops { names, xoffs, ..Stops::default() }
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(shared(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(shared(7, &[0, 2, 1]), [0, 5, 2]);
        assert_eq!(shared(0, &[3, 1]), [0, 0]);
        assert_eq!(shared(WHOLE, &[1 << 80, (1 << 80) - 1, 1]).iter().sum::<u64>(), WHOLE);
    }

    /// Output 0 stops transmitter 1; that stops 2, of whose bytes a quarter was for output 5, which serves nothing.
    #[test]
    fn time_is_shared_by_bytes_down_to_the_roots() {
        let all = stops(vec![
            stop(1, (100, 200), &[(0, 500, Held::Slow)]),
            stop(2, (150, 190), &[(1, 300, Held::Xoff(0)), (5, 100, Held::Closed)]),
            stop(3, (170, 177), &[(2, 9, Held::Xoff(1))]),
        ]);
        let forest = Forest::of(&all, |_| true);
        let times: Vec<(u32, Kind, u64)> =
            forest.by_time().iter().map(|(_, r)| (r.output, r.kind, r.time)).collect();
        // 100 + 30 + 7 * 3 / 4 and 10 + 7 / 4, to the picosecond.
        assert_eq!(times, [(0, Kind::Slow, 135), (5, Kind::Closed, 12)]);
        assert_eq!(all.total(), 147);
        let names = |below: &[u32]| -> Vec<u32> {
            forest.below(below).iter().map(|at| forest.places[*at as usize].transmitter).collect()
        };
        let first = &forest.roots[0];
        assert_eq!(names(&first.below), [1]);
        let one = &forest.places[first.below[0] as usize];
        assert_eq!((one.time, one.xoffs, one.bytes, names(&one.below)), (100, 1, (500, 500), vec![2]));
        let two = &forest.places[one.below[0] as usize];
        assert_eq!((two.time, two.bytes, names(&two.below)), (30, (300, 400), vec![3]));
        assert_eq!(forest.time(first.below[0]), 135, "all of the root's");
        assert_eq!((forest.main_root(2), forest.roots[1].span), (Some(0), (150, 190)));
        // Of some alone, the others are causes still.
        let late = Forest::of(&all, |x| x == 2);
        assert_eq!(late.roots.iter().map(|r| r.time).collect::<Vec<_>>(), [5, 2]);
    }

    /// XOFF that comes back to where it was goes round no second time, and no picosecond is lost.
    #[test]
    fn a_path_does_not_go_round() {
        let mut xoffs = vec![stop(1, (0, 10), &[(0, 5, Held::Slow)])];
        for n in 1..300_u32 {
            let t = u64::from(n);
            xoffs.push(stop(1 + n % 3, (t, t + 17), &[(1 + (n - 1) % 3, 5, Held::Xoff(n - 1))]));
        }
        let all = stops(xoffs);
        let forest = Forest::of(&all, |_| true);
        assert_eq!(forest.places.len(), 3);
        assert_eq!(forest.places.iter().map(|p| p.time).sum::<u64>(), all.total());
    }
}
