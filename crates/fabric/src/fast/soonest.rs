//! Which of a switch's ports ends a transmission next: a tournament over their times.
//!
//! * Claim: the next end of the ports that are kept in step is at hand, however many they are.
//! * Same bits: ends come in order of (time, port), as a look at all ports would find them.
//! * Bench row: perm1024.
//! * Marks: InStep.

use crate::check::broken;
use crate::fast::frame::NEVER;

/// Times of ports, each of which stands for no end at first.
#[derive(Debug, Default)]
pub(crate) struct Soonest {
    /// Of two entries 2n and 2n + 1 the earlier time stands at n; the second half has a place for each port.
    tree: Vec<u64>,
}

impl Soonest {
    /// No port has an end. There are to be so many ports, at least one.
    pub(crate) fn clear(&mut self, ports: usize) {
        self.tree.clear();
        self.tree.resize(2 * ports.next_power_of_two(), NEVER);
    }

    /// The earliest time.
    #[inline(always)]
    pub(crate) fn at(&self) -> u64 {
        self.tree.get(1).copied().unwrap_or(NEVER)
    }

    /// The first port of that time.
    #[inline]
    pub(crate) fn port(&self) -> usize {
        let (leaves, mut n) = (self.tree.len() / 2, 1);
        while let Some(pair) = self.tree.get(2 * n..2 * n + 2)
            && n < leaves
        {
            n = 2 * n + usize::from(pair[1] < pair[0]);
        }
        n - leaves
    }

    /// A port's transmission ends at this time.
    #[inline]
    pub(crate) fn set(&mut self, port: usize, at: u64) {
        let mut n = self.tree.len() / 2 + port;
        let Some(place) = self.tree.get_mut(n) else { broken("no such port") };
        *place = at;
        while n > 1 {
            n /= 2;
            let Some(&[a, b]) = self.tree.get(2 * n..2 * n + 2).and_then(|pair| pair.first_chunk()) else {
                return;
            };
            let first = a.min(b);
            if std::mem::replace(&mut self.tree[n], first) == first {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Purpose, Stream};

    /// Against a look at all, for numbers of ports that are powers of two and others, with many of one time.
    #[test]
    fn as_a_look_at_all_would_have_it() {
        let mut r = Stream::new(5, 0, Purpose::Test);
        for ports in 1..20usize {
            let (mut soonest, mut times) = (Soonest::default(), vec![NEVER; ports]);
            assert_eq!(soonest.at(), NEVER);
            soonest.clear(ports);
            for _ in 0..500 {
                let port = r.below(ports as u64) as usize;
                times[port] = if r.below(4) == 0 { NEVER } else { r.below(30) };
                soonest.set(port, times[port]);
                let first = times.iter().enumerate().map(|(p, &at)| (at, p)).min();
                assert_eq!(Some((soonest.at(), soonest.port())), first);
            }
        }
    }
}
