//! Circles of XOFF, found by playing a run's XOFFs in the order in which they began to stand.
//!
//! A transmitter that stands waits for the outputs for which the bytes were that called for its XOFF. Where such an output stands in
//! XOFF of the same class itself, it waits in turn. Whom a fault stopped waits for nobody but that fault: a host whose NIC says XOFF
//! may still send. The XOFF with which such a chain comes back to its beginning closes a circle:
//! no port of it can move until another one does. One that dissolves had bytes to lose by another way; one that stands to the
//! end of the run is a deadlock.

use super::{Held, Stops};
use std::collections::BTreeMap;

/// Transmitters that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The XOFFs in which they stood: each waits for the next, and the last for the first, which closed it.
    pub xoffs: Vec<u32>,
    /// When it was closed, ps.
    pub from: u64,
    /// When the first of them was let go, ps.
    pub until: u64,
    /// Whether the circle stood to the end of the run.
    pub to_end: bool,
}

impl Stops {
    /// The circles of a run, in the order in which they were closed.
    pub fn circles(&self) -> Vec<Circle> {
        let mut order: Vec<u32> = (0..self.xoffs.len() as u32).collect();
        order.retain(|x| self.xoffs[*x as usize].time() > 0);
        order.sort_by_key(|x| (self.xoffs[*x as usize].from, *x));
        // By transmitter and class: the XOFF in which it stood last.
        let mut last: BTreeMap<(u32, Option<u8>), u32> = BTreeMap::new();
        let mut circles = Vec::new();
        for number in order {
            let x = &self.xoffs[number as usize];
            last.insert((x.stopped, x.class), number);
            circles.extend(self.closed_by(number, &last));
        }
        circles
    }

    /// The circle that an XOFF closes as it begins to stand.
    fn closed_by(&self, number: u32, last: &BTreeMap<(u32, Option<u8>), u32>) -> Option<Circle> {
        let closing = &self.xoffs[number as usize];
        // The XOFFs that stand at outputs for which a transmitter waits.
        let waits = |x: u32| {
            let stop = &self.xoffs[x as usize];
            let outputs = stop.causes.iter().filter(|c| c.held != Held::Said);
            let at = outputs.filter_map(|c| last.get(&(c.output, stop.class)).copied());
            at.filter(|by| self.xoffs[*by as usize].until > closing.from)
        };
        // Breadth first: of several circles the shortest.
        let mut before: BTreeMap<u32, u32> = BTreeMap::new();
        let mut queue = vec![number];
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for by in waits(at) {
                if by == number {
                    let mut xoffs = vec![at];
                    while let Some(&last) = xoffs.last().filter(|last| **last != number) {
                        xoffs.extend(before.get(&last));
                    }
                    xoffs.reverse();
                    let members = || xoffs.iter().map(|x| &self.xoffs[*x as usize]);
                    let until = members().map(|x| x.until).min().unwrap_or(closing.until);
                    let to_end = members().all(|x| x.to_end);
                    return Some(Circle { from: closing.from, until, to_end, xoffs });
                }
                before.entry(by).or_insert_with(|| {
                    queue.push(by);
                    at
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cause, Stop};
    use super::*;

    /// Transmitters 0, 1 and 2 wait for each other; 3 waits for 0 and is part of no circle.
    #[test]
    fn the_last_xoff_closes_a_circle() {
        let stop = |stopped, span: (u64, u64), outputs: &[u32]| {
            let cause = |&output: &u32| Cause { output, bytes: 9, held: Held::Slow };
            let causes = outputs.iter().map(cause).collect();
            let to_end = span.1 == 100;
            Stop { stopped, from: span.0, until: span.1, causes, to_end, ..Stop::default() }
        };
        let find = |xoffs: Vec<Stop>| Stops { xoffs, ..Stops::default() }.circles();
        let all = |until| {
            vec![
                stop(0, (10, 100), &[7, 1]),
                stop(1, (20, until), &[2]),
                stop(3, (25, 100), &[0]),
                stop(2, (30, 100), &[0]),
                stop(3, (40, 100), &[0]),
            ]
        };
        let circle = |until, to_end| vec![Circle { xoffs: vec![3, 0, 1], from: 30, until, to_end }];
        assert_eq!(find(all(100)), circle(100, true));
        assert_eq!(find(all(60)), circle(60, false));
        // One was let go before the last one stood.
        assert_eq!(find(all(30)), []);
        let mut other = all(100);
        other[1].class = Some(1);
        assert_eq!(find(other), []);
        // NIC 2 says XOFF by a fault: it does not wait for what it sends itself.
        let mut fault = all(100);
        fault[1].causes = vec![Cause { output: 2, bytes: 0, held: Held::Said }];
        assert_eq!(find(fault), []);
    }
}
