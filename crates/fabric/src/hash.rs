//! By which hash flows are spread over equal paths ([`Routing`]).
//!
//! A flow's path is constant by all hashes but that of frames. A switch remembers it where the hash is dear ([`Paths`]).
//!
//! * Claim: murmur of twelve bytes and a remainder are found once a flow and switch.
//! * Same bits: what chooses a path is all that a remembered one is found by.
//! * Bench row: roce320.
//! * Marks: none of its own: a unit test counts the hashes.

use crate::flows::{BACK, flow_of};
use crate::mix::mix;
use crate::spec::{Arrivals, Draws, HostSpec, Routing, RunSpec};

/// The salt of every switch if hashes are polarised.
const POLAR: u64 = 0x5DEE_CE66;

/// Salts of the nodes for the hash of a flow.
#[derive(Debug, Default)]
pub(crate) struct Salts {
    /// Per switch: with [`Routing::ForkHash`] its number, else its salt.
    switches: Vec<u64>,
    /// Per host, with [`Routing::ForkHash`]: its address.
    addresses: Vec<u32>,
    /// Bits of a frame's number that tell flows of a pair apart: none, or its upper half, where flows have queue pairs, and paths of their own.
    of_pair: u32,
}

impl Salts {
    /// Salts of a run. An error if the run needs numbers that its nodes' names do not have.
    pub(crate) fn new(spec: &RunSpec) -> Result<Self, String> {
        let n = spec.switches.len() as u64;
        let fork = spec.routing == Routing::ForkHash;
        let own = spec.transport.is_some() && (fork || spec.laws.draws == Draws::Stream);
        let of_pair = if own { 0xFFFF_0000 } else { 0 };
        if !fork {
            let own =
                |s: u64| if spec.routing == Routing::PolarisedHash { POLAR } else { salt(spec.seed, s) };
            return Ok(Self { switches: (0..n).map(own).collect(), of_pair, ..Self::default() });
        }
        let endless = |h: &HostSpec| h.sources.iter().any(|s| s.arrivals != Arrivals::Transfers);
        if let Some(host) = spec.hosts.iter().find(|h| endless(h)) {
            return Err(format!("the fork's hash needs finite flows, and host {} has others", host.name));
        }
        let none = |name: &str| {
            format!("the path hash of HPCC's fork needs a number in each node's name, and `{name}` has none")
        };
        let id = |name: &str| number_in(name).ok_or_else(|| none(name));
        let switches = spec.switches.iter().map(|s| id(&s.name).map(u64::from)).collect::<Result<_, _>>()?;
        let addresses = spec.hosts.iter().map(|h| id(&h.name).map(address)).collect::<Result<_, _>>()?;
        Ok(Self { switches, addresses, of_pair })
    }

    /// What a switch knows of the paths of flows to so many hosts, before the first frame.
    pub(crate) fn paths(&self, routing: Routing, hosts: u32) -> Paths {
        let of = |with, places| if routing == with { places } else { 0 };
        let turns = vec![0; of(Routing::RoundRobin, hosts as usize)];
        Paths { turns, known: vec![(u32::MAX, 0, 0, 0); of(Routing::ForkHash, 256)].into() }
    }

    /// Number of a switch, with [`Routing::ForkHash`].
    pub(crate) fn number(&self, s: usize) -> u64 {
        self.switches[s]
    }

    /// Hash of a flow at switch `s`, but for [`Routing::ForkHash`]. Flows with queue pairs have paths of their own, unless draws are keyed.
    #[inline(always)]
    pub(crate) fn of(&self, s: usize, flow: u32, frame: u32) -> u64 {
        mix(u64::from(flow) ^ u64::from(frame & self.of_pair) << 16 ^ self.switches[s])
    }

    /// Hash of the frame with this number, of a flow among so many hosts, with [`Routing::ForkHash`].
    #[inline(always)]
    pub(crate) fn fork(&self, s: usize, hosts: u32, flow: u32, frame: u32) -> u32 {
        let (src, dst) = (flow / hosts, flow % hosts);
        let port = (10_000 + u32::from(flow_of(frame))) & 0xFFFF;
        let back = self.of_pair > 0 && frame & 0xFFFF == BACK;
        let ports = if back { 100 | port << 16 } else { port | 100 << 16 };
        let words = [self.addresses[src as usize], self.addresses[dst as usize], ports];
        murmur3(words, self.switches[s] as u32)
    }
}

/// What a switch remembers of choices among equal paths.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// The next one by turns, by destination host ([`Routing::RoundRobin`]).
    pub(crate) turns: Vec<u8>,
    /// Where the hash is dear: destination, flow, what a hash takes of its frames' numbers, and the port. Each flow has one place.
    known: Box<[(u32, u32, u32, u16)]>,
}

impl Paths {
    /// The port of a frame with this destination, flow and number: `find` chooses it, given the turns, where it is not known.
    #[inline(always)]
    pub(crate) fn of(
        &mut self,
        (dst, flow, nth): (u32, u32, u32),
        find: impl FnOnce(&mut [u8]) -> u16,
    ) -> u16 {
        let number = nth & 0xFFFF_0000 | u32::from(nth & 0xFFFF == BACK);
        let place = (flow ^ number.rotate_left(16)).wrapping_mul(0x9E37_79B1) as usize >> 24;
        let Some(known) = self.known.get_mut(place) else { return find(&mut self.turns) };
        if (known.0, known.1, known.2) != (dst, flow, number) {
            *known = (dst, flow, number, find(&mut self.turns));
        }
        known.3
    }
}

/// Salt of a switch for the hash of a flow, in the run of a seed.
fn salt(seed: u64, switch: u64) -> u64 {
    mix(POLAR ^ seed << 32 ^ switch)
}

/// The number of a node that [`Routing::ForkHash`] takes from its name: its digits, if they are one below 65,536. The NICs `H7#1` and
/// `H7#2` have that of their host.
pub fn number_in(name: &str) -> Option<u32> {
    let name = name.split_once('#').map_or(name, |name| name.0);
    name.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok().filter(|n| *n < 65_536)
}

/// IPv4 address of a node with this number in HPCC's fork of ns-3 (`scratch/third.cc`, `node_id_to_ip`).
fn address(id: u32) -> u32 {
    0x0b00_0001 + (id / 256) * 0x1_0000 + (id % 256) * 0x100
}

/// MurmurHash3, x86, 32 bits (A. Appleby, public domain), of twelve bytes: words in little-endian order.
fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut h = seed;
    for w in words {
        let k = w.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593);
        h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    h ^= 12;
    h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path is found once, and is never another's.
    #[test]
    fn a_path_is_found_once_and_is_its_own() {
        let mut paths = Salts::default().paths(Routing::ForkHash, 320);
        let port = |(dst, flow, n): (u32, u32, u32)| (dst << 12 ^ flow << 3 ^ n >> 14 ^ n & 1) as u16;
        let seen = |i: u32| (i % 7, i / 4 % 90, (i % 4 / 2) << 16 | [BACK, 2][i as usize % 2]);
        for seen in (0..16_000).map(seen) {
            assert_eq!(paths.of(seen, |_| port(seen)), port(seen), "{seen:?}");
            assert_eq!(paths.of(seen, |_| 0x8000), port(seen), "{seen:?} was not known");
        }
    }

    /// A hash of another implementation; switches and seeds salt a flow differently.
    #[test]
    fn murmur_by_known_answers_and_salts() {
        assert_eq!(murmur3([address(41), address(40), 10_000 | 100 << 16], 320), 0xEABC_1E12);
        assert!(salt(1, 0) != salt(1, 1) && salt(1, 0) != salt(2, 0));
    }
}
