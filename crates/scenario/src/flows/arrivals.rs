//! Arrivals of finite flows: who sends how many bytes to whom, and when, drawn from a seed.
//!
//! Each sending host draws from a stream of its own, so that adding a host or a table of traffic moves nobody else's flows.

use super::sizes::Sizes;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::{Bytes, Rate, Time};

/// A finite flow of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When it starts.
    pub start: Time,
    /// Sending host, by number.
    pub src: usize,
    /// Receiving host, by number.
    pub dst: usize,
    /// Payload.
    pub bytes: Bytes,
}

/// Bytes that count as load: at 100 % they fill the access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LoadCounts {
    /// Payload alone, as most traffic generators count: frames on the wire take more by their headers.
    #[default]
    Payload,
    /// Payload and headers.
    Wire,
}

/// Flows that start at random, independently of each other, by load.
#[derive(Clone, Debug)]
pub struct Poisson {
    /// Sizes of the flows.
    pub sizes: Sizes,
    /// Share of the sender's access link that they ask for, above 0.
    pub load: f64,
    /// No flow starts before this.
    pub start: Time,
    /// No flow starts at or after this.
    pub stop: Time,
    /// Mean bytes of a flow as the load counts them, and on the wire.
    counted: f64,
    on_wire: f64,
}

impl Poisson {
    /// Flows of these sizes for a load that counts this. A full frame carries `frame.0` bytes of payload, and every frame
    /// `frame.1` bytes of header.
    pub fn new(
        sizes: Sizes,
        (load, counts): (f64, LoadCounts),
        frame: (u64, u64),
        (start, stop): (Time, Time),
    ) -> Self {
        let on_wire = sizes.mean_on_wire(frame.0, frame.1);
        let counted = match counts {
            LoadCounts::Payload => sizes.mean(),
            LoadCounts::Wire => on_wire,
        };
        Self { sizes, load, start, stop, counted, on_wire }
    }

    /// Mean bytes of a flow on the wire.
    pub fn mean_on_wire(&self) -> f64 {
        self.on_wire
    }

    /// Mean time between two flows of a host with an access link of `line`, seconds.
    pub fn mean_gap(&self, line: Rate) -> f64 {
        self.counted * 8.0 / (line.bps() * self.load)
    }

    /// Flows of host `src` to the hosts `to`, in order of start. It draws each receiver with an equal chance, never itself. `site`
    /// separates the draws of a host for several tables.
    pub fn flows(&self, src: usize, line: Rate, to: &[usize], seed: u64, site: u64) -> Vec<Flow> {
        // The picks after its own place in the list are one further on.
        let me = to.iter().position(|d| *d == src).unwrap_or(to.len());
        let others = to.len() - usize::from(me < to.len());
        let gap = self.mean_gap(line) * 1e12;
        let mut out = Vec::new();
        if others == 0 || !gap.is_finite() {
            return out;
        }
        let mut stream = Stream::new(seed, src as u64 | site << 32 | 1 << 56, Purpose::Source);
        let mut at = self.start.as_ps() as f64;
        loop {
            at += exponential(&mut stream) * gap;
            let bytes = self.sizes.draw(&mut stream);
            let pick = stream.below(others as u64) as usize;
            if at >= self.stop.as_ps() as f64 {
                return out;
            }
            let dst = to[pick + usize::from(pick >= me)];
            out.push(Flow { start: Time::from_ps(at as u64), src, dst, bytes: Bytes::new(bytes) });
        }
    }
}

/// Many hosts that send to one at the same time, once or again and again.
#[derive(Clone, Debug)]
pub struct Incast {
    /// Bytes of each sender.
    pub bytes: Bytes,
    /// How many senders take part; drawn anew each time where fewer than there are.
    pub fan_in: usize,
    /// When the first one starts.
    pub start: Time,
    /// None starts at or after this.
    pub stop: Time,
    /// From one to the next; none: once.
    pub period: Option<Time>,
    /// Gaps are drawn (exponential, `period` on average) instead of being equal.
    pub random: bool,
    /// Each sender starts later by a time drawn from zero to this.
    pub jitter: Time,
}

impl Incast {
    /// All flows, in order of start. Receivers are taken in turn from `to`, senders from `from` (never the receiver).
    pub fn flows(&self, from: &[usize], to: &[usize], seed: u64, site: u64) -> Vec<Flow> {
        let mut stream = Stream::new(seed, site << 32 | 1 << 57, Purpose::Source);
        let mut out = Vec::new();
        let mut at = self.start.as_ps() as f64;
        for (turn, &dst) in to.iter().cycle().enumerate() {
            if (turn > 0 || self.random)
                && let Some(period) = self.period
            {
                let gap = if self.random { exponential(&mut stream) } else { 1.0 };
                at += if turn == 0 && !self.random { 0.0 } else { gap * period.as_ps() as f64 };
            }
            if at >= self.stop.as_ps() as f64 {
                break;
            }
            let mut senders: Vec<usize> = from.iter().copied().filter(|s| *s != dst).collect();
            let take = self.fan_in.min(senders.len());
            // The first `take` of a shuffle: each set of senders is equally likely.
            for i in 0..take {
                let j = i + stream.below((senders.len() - i) as u64) as usize;
                senders.swap(i, j);
            }
            senders.truncate(take);
            senders.sort_unstable();
            for src in senders {
                let later = stream.below(self.jitter.as_ps() + 1);
                out.push(Flow { start: Time::from_ps(at as u64 + later), src, dst, bytes: self.bytes });
            }
            if self.period.is_none_or(|p| p == Time::ZERO) {
                break;
            }
        }
        out.sort_by_key(|f| (f.start, f.src, f.dst));
        out
    }
}

/// Every host of a group sends to every other one: in the order `i -> i + 1`, `i -> i + 2`, ... so that no receiver is hit
/// by all at once.
pub fn all_to_all(hosts: &[usize], bytes: Bytes, start: Time) -> Vec<Flow> {
    let n = hosts.len();
    let pairs = (1..n).flat_map(|step| (0..n).map(move |i| (i, (i + step) % n)));
    pairs.map(|(a, b)| Flow { start, src: hosts[a], dst: hosts[b], bytes }).collect()
}

/// Every host of a group sends to one host and receives from one: a cycle through the group, drawn by the seed.
pub fn permutation(hosts: &[usize], bytes: Bytes, start: Time, seed: u64, site: u64) -> Vec<Flow> {
    let mut order = hosts.to_vec();
    let mut stream = Stream::new(seed, site << 32 | 1 << 58, Purpose::Source);
    for i in (1..order.len()).rev() {
        order.swap(i, stream.below(i as u64 + 1) as usize);
    }
    let n = order.len();
    let mut out: Vec<Flow> = (0..if n > 1 { n } else { 0 })
        .map(|i| Flow { start, src: order[i], dst: order[(i + 1) % n], bytes })
        .collect();
    out.sort_by_key(|f| f.src);
    out
}

/// An exponentially distributed number with mean 1.
///
/// By von Neumann's comparison of uniform numbers (Ahrens and Dieter, Communications of the ACM 15, 1972, algorithm SA with
/// base e written as repeated trials): it needs no logarithm, so all platforms draw the same bits.
pub(crate) fn exponential(stream: &mut Stream) -> f64 {
    let mut whole = 0.0;
    loop {
        let first = stream.uniform();
        let (mut last, mut odd) = (first, true);
        loop {
            let next = stream.uniform();
            if next >= last {
                break;
            }
            last = next;
            odd = !odd;
        }
        // A falling run of odd length is accepted: its first number has the density of an exponential below 1.
        if odd {
            return whole + first;
        }
        whole += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poisson(name: &str, load: f64, counts: LoadCounts) -> Poisson {
        let times = (Time::ZERO, Time::from_ms(40));
        Poisson::new(Sizes::named(name).unwrap(), (load, counts), (1000, 48), times)
    }

    /// Distance of Kolmogorov and Smirnov of sorted values from a distribution.
    fn distance(sorted: &[f64], law: impl Fn(f64) -> f64) -> f64 {
        let n = sorted.len() as f64;
        sorted
            .iter()
            .enumerate()
            .map(|(i, &x)| {
                let p = law(x);
                ((i + 1) as f64 / n - p).abs().max((p - i as f64 / n).abs())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    #[allow(clippy::disallowed_methods)] // The law against which draws are tested feeds no simulation.
    fn gaps_are_exponential() {
        let mut stream = Stream::new(5, 0, Purpose::Test);
        let mut drawn: Vec<f64> = (0..100_000).map(|_| exponential(&mut stream)).collect();
        drawn.sort_by(f64::total_cmp);
        let worst = distance(&drawn, |x| 1.0 - (-x).exp());
        assert!(worst < 1.95 / (drawn.len() as f64).sqrt(), "{worst}");
    }

    /// Gaps and sizes of the flows of all built-in tables, by Kolmogorov and Smirnov at the 99.9 % point; a drawn size is rounded
    /// down, and stands for sizes up to a byte more.
    #[test]
    #[allow(clippy::disallowed_methods)] // The law against which draws are tested feeds no simulation.
    fn arrivals_follow_the_law() {
        let line = Rate::from_gbps(100.0);
        for (name, _) in super::super::BUILT_IN {
            let mut p = poisson(name, 0.5, LoadCounts::Payload);
            let mean = p.mean_gap(line);
            p.stop = Time::from_ps((mean * 20_000.0 * 1e12) as u64);
            let flows = p.flows(3, line, &[0, 1, 2], 7, 0);
            let n = flows.len() as f64;
            assert!((n - 20_000.0).abs() < 5.0 * 20_000f64.sqrt(), "{name}: {n} flows");
            let starts: Vec<f64> = flows.iter().map(|f| f.start.as_secs_f64()).collect();
            let mut gaps: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]) / mean).collect();
            gaps.sort_by(f64::total_cmp);
            let worst = distance(&gaps, |x| 1.0 - (-x).exp());
            assert!(worst < 1.95 / n.sqrt(), "{name}: gaps {worst}");
            let mut sizes: Vec<u64> = flows.iter().map(|f| f.bytes.get()).collect();
            sizes.sort_unstable();
            let last = |i: &usize| sizes.get(i + 1) != Some(&sizes[*i]);
            let off = |i: usize| ((i + 1) as f64 / n - p.sizes.share_up_to(sizes[i] as f64 + 1.0)).abs();
            let worst = (0..sizes.len()).filter(last).map(off).fold(0.0, f64::max);
            assert!(worst < 1.95 / n.sqrt(), "{name}: sizes {worst}");
        }
    }

    #[test]
    fn load_is_what_was_asked_for() {
        let line = Rate::from_gbps(100.0);
        let to: Vec<usize> = (0..64).collect();
        for (counts, header) in [(LoadCounts::Payload, 0.0), (LoadCounts::Wire, 48.0)] {
            let p = poisson("ali-storage", 0.6, counts);
            let flows: Vec<Flow> = to.iter().flat_map(|h| p.flows(*h, line, &to, 9, 0)).collect();
            let bytes: f64 =
                flows.iter().map(|f| f.bytes.as_f64() + header * (f.bytes.as_f64() / 1000.0).ceil()).sum();
            let load = bytes * 8.0 / (0.04 * 64.0 * line.bps());
            // The standard deviation of the load is about 1.5 % here.
            assert!((load - 0.6).abs() < 0.6 * 0.05, "{counts:?}: {load}");
            assert!(flows.iter().all(|f| f.src != f.dst && f.start < p.stop));
            for host in 0..64 {
                let n = flows.iter().filter(|f| f.dst == host).count() as f64;
                let mean = flows.len() as f64 / 64.0;
                assert!((n - mean).abs() < 5.0 * mean.sqrt(), "host {host} receives {n} of {mean}");
            }
        }
    }

    #[test]
    fn one_more_host_moves_nobody_else() {
        let p = poisson("fb-hadoop", 0.5, LoadCounts::Payload);
        let line = Rate::from_gbps(25.0);
        let starts = |n: usize| -> Vec<Time> {
            let to: Vec<usize> = (0..n).collect();
            p.flows(3, line, &to, 1, 0).iter().map(|f| f.start).collect()
        };
        assert_eq!(starts(8), starts(9));
        assert_ne!(p.flows(3, line, &[0, 1, 2], 1, 0), p.flows(3, line, &[0, 1, 2], 1, 1));
    }

    #[test]
    fn incasts() {
        let mut incast = Incast {
            bytes: Bytes::from_kb(500),
            fan_in: 4,
            start: Time::from_us(10),
            stop: Time::from_ms(1),
            period: None,
            random: false,
            jitter: Time::ZERO,
        };
        let hosts: Vec<usize> = (0..10).collect();
        let once = incast.flows(&hosts, &[3], 1, 0);
        assert_eq!(once.len(), 4);
        assert!(once.iter().all(|f| f.dst == 3 && f.src != 3 && f.start == Time::from_us(10)));
        incast.period = Some(Time::from_us(100));
        let periodic = incast.flows(&hosts, &[3, 4], 1, 0);
        assert_eq!(periodic.len(), 40);
        assert_eq!(periodic.iter().filter(|f| f.dst == 4).count(), 20);
        incast.random = true;
        incast.jitter = Time::from_us(2);
        let n: usize = (0..50).map(|seed| incast.flows(&hosts, &[3], seed, 0).len() / 4).sum();
        // 9.9 incasts a run on average, so 495 in all with a standard deviation of 22.
        assert!((n as f64 - 495.0).abs() < 90.0, "{n}");
        incast.fan_in = 100;
        incast.period = None;
        assert_eq!(incast.flows(&hosts, &[3], 1, 0).len(), 9);
    }

    #[test]
    fn all_to_all_and_permutation() {
        let hosts = [2, 5, 7, 9];
        let all = all_to_all(&hosts, Bytes::from_kb(1), Time::ZERO);
        assert_eq!(all.len(), 12);
        assert!(all.chunks(4).all(|round| {
            let mut to: Vec<usize> = round.iter().map(|f| f.dst).collect();
            to.sort_unstable();
            to == hosts
        }));
        for seed in 0..20 {
            let one = permutation(&hosts, Bytes::from_mb(2), Time::ZERO, seed, 0);
            let mut to: Vec<usize> = one.iter().map(|f| f.dst).collect();
            to.sort_unstable();
            assert_eq!(to, hosts);
            assert!(one.iter().all(|f| f.src != f.dst));
        }
        assert!(permutation(&[1], Bytes::from_mb(2), Time::ZERO, 1, 0).is_empty());
    }

    /// Three hosts have two cycles, equally likely. In one, the first host sends to the second.
    #[test]
    fn permutations_are_equally_likely() {
        let first = |seed| permutation(&[0, 1, 2], Bytes::from_mb(2), Time::ZERO, seed, 0)[0].dst;
        let n = (0..2000).filter(|seed| first(*seed) == 1).count() as f64;
        assert!((n - 1000.0).abs() < 5.0 * 500f64.sqrt(), "{n} of 2000");
        let all = permutation(&[9, 4, 7], Bytes::from_mb(2), Time::ZERO, 1, 0);
        assert_eq!(all.iter().map(|f| f.src).collect::<Vec<_>>(), [4, 7, 9], "in order of sources");
        let two = permutation(&[3, 5], Bytes::from_mb(2), Time::ZERO, 1, 0);
        assert_eq!(two.iter().map(|f| (f.src, f.dst)).collect::<Vec<_>>(), [(3, 5), (5, 3)]);
    }

    /// Senders that start later by chance still stand in order of start.
    #[test]
    fn incasts_with_jitter_are_in_order() {
        let incast = Incast {
            bytes: Bytes::from_kb(1),
            fan_in: 50,
            start: Time::from_us(10),
            stop: Time::from_ms(1),
            period: Some(Time::from_us(10)),
            random: false,
            jitter: Time::from_us(30),
        };
        let all = incast.flows(&(0..60).collect::<Vec<_>>(), &[3], 1, 0);
        assert!(all.windows(2).all(|w| w[0].start <= w[1].start));
        let latest = all.iter().map(|f| f.start).max().unwrap();
        assert!(latest > Time::from_us(990) && latest <= Time::from_us(1020), "{latest}");
        assert!(all[0].start >= Time::from_us(10));
    }

    #[test]
    fn nobody_to_send_to_and_no_load() {
        let line = Rate::from_gbps(10.0);
        let p = poisson("solar", 0.5, LoadCounts::Payload);
        assert!(p.flows(3, line, &[3], 1, 0).is_empty());
        assert!(p.flows(3, line, &[], 1, 0).is_empty());
        assert!(p.flows(3, line, &[3, 5], 1, 0).iter().all(|f| f.dst == 5));
        assert!(poisson("solar", 0.0, LoadCounts::Payload).flows(3, line, &[3, 5], 1, 0).is_empty());
        // 39,424 bytes a flow at half of 10 Gb/s: 63.1 us from one to the next.
        assert!((p.mean_gap(line) - 63.08e-6).abs() < 0.05e-6, "{}", p.mean_gap(line));
    }
}
