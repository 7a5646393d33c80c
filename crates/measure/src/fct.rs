//! Completion times of finite flows: ideal times by two named formulas, slowdowns, and their percentiles by size.
//!
//! *Slowdown* is the completion time over the ideal one of the same end. A flow alone in its network has 1, without a scheme that
//! adds telemetry or holds it back. Studies differ in the ideal, so both are named:
//!
//! * [`Path::fork_ideal`]: the formula of the ns-3 fork of Li et al., HPCC, SIGCOMM 2019: propagation plus all bytes at the
//!   slowest link, in whole nanoseconds. It counts one payload a hop too much, so that about half of that fork's own flows beat
//!   it. As in that fork's scripts, no slowdown by it is below 1.
//! * [`Path::exact_ideal`]: the moment at which the last byte arrives if nobody else sends, store and forward, to the picosecond.
//!   [`Path::answered`] is the moment at which its acknowledgement is back.

use crate::stats::rank;
use cnsim_scenario::flows::Bins;
use cnsim_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

/// A finite flow that was received whole; times in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 9]", into = "[u64; 9]")]
pub struct FlowTime {
    /// Sending host, by number.
    pub src: u64,
    /// Receiving host, by number.
    pub dst: u64,
    /// Number among the flows of its pair of hosts, by start, from 0 on.
    pub nth: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Start.
    pub start: u64,
    /// From the start to the end that `record.completion` asks for.
    pub time: u64,
    /// Ideal time to that end: alone in the network, store and forward.
    pub exact: u64,
    /// Ideal time to that end by the formula of the HPCC fork.
    pub fork: u64,
    /// Index of the traffic's name among those of the run, from 1; 0 without a name.
    pub name: u64,
}

impl From<[u64; 9]> for FlowTime {
    fn from([src, dst, nth, bytes, start, time, exact, fork, name]: [u64; 9]) -> Self {
        Self { src, dst, nth, bytes, start, time, exact, fork, name }
    }
}

impl From<FlowTime> for [u64; 9] {
    fn from(f: FlowTime) -> Self {
        [f.src, f.dst, f.nth, f.bytes, f.start, f.time, f.exact, f.fork, f.name]
    }
}

/// In place of a start: the flow has not begun.
pub const NOT_BEGUN: u64 = u64::MAX;

/// A finite flow that was not received whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unfinished {
    /// `H3>H1`.
    pub flow: String,
    /// Sending host, by number.
    pub src: u64,
    /// Receiving host, by number.
    pub dst: u64,
    /// Number among the flows of its pair of hosts, by start, from 0 on.
    pub nth: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Start, ps; [`NOT_BEGUN`] of one that follows others and has not begun.
    pub start: u64,
    /// From the start to the end of the run, ps: it takes longer than that.
    pub so_far: u64,
    /// Bytes on the link that have not arrived.
    pub missing: u64,
    /// Frames of the flow that switches dropped; none if its pair of hosts has other traffic or the network has many hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Since when it has sent in vain, ps, and how often it has begun anew since: nothing of it was acknowledged meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_vain: Option<(u64, u64)>,
    /// Since when it has stood for good, ps: all that it sent has arrived, and its window closes before an acknowledgement is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands: Option<u64>,
    /// The reason why the flow waits.
    pub waits_for: String,
    /// Index of the traffic's name among those of the run, from 1; 0 without a name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub name: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Hops of a flow, from its source to its destination: rate and delay (propagation and processing at the far end) of each link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// (rate, delay) of each link in order.
    pub hops: Vec<(Rate, Time)>,
    /// Transmissions are cut to whole nanoseconds.
    pub whole_ns: bool,
}

/// Time to put `bytes` on a link of `rate`, ps.
fn transmission(rate: Rate, bytes: u64) -> f64 {
    bytes as f64 * 8.0 / rate.bps() * 1e12
}

impl Path {
    /// Smallest rate of the links.
    pub fn bottleneck(&self) -> Rate {
        self.hops.iter().map(|h| h.0).fold(Rate::from_gbps(1e9), |a, b| if b < a { b } else { a })
    }

    /// Ideal completion time by the fork's formula, whole nanoseconds: `2 * propagation + payload / rate, summed over the links +
    /// (bytes + header * frames) / bottleneck`. To the last byte instead of its acknowledgement, propagation counts once.
    pub fn fork_ideal(&self, bytes: Bytes, payload: u64, header: u64, acknowledged: bool) -> Time {
        let nanos =
            |rate: Rate, bytes: u64| (u128::from(bytes) * 8_000_000_000 / (rate.bps() as u128).max(1)) as u64;
        let delay: u64 = self.hops.iter().map(|h| h.1.as_ps() / 1000).sum();
        let one_way: u64 = self.hops.iter().map(|h| nanos(h.0, payload)).sum();
        let frames = bytes.get().div_ceil(payload.max(1));
        let all = nanos(self.bottleneck(), bytes.get() + header * frames);
        Time::from_ns(if acknowledged { 2 * delay } else { delay } + one_way + all)
    }

    /// Time of a frame on a link, as the network rounds it.
    fn frame(&self, rate: Rate, bytes: u64) -> f64 {
        let exact = transmission(rate, bytes).round();
        if self.whole_ns { ((exact - 1.0) / 1e3).floor().max(1.0) * 1e3 } else { exact }
    }

    /// Time at which the last byte arrives if the flow is alone: frames of `payload + header` bytes follow each other over
    /// store-and-forward hops. The last frame holds the rest of the flow (at least `least` bytes on the wire).
    pub fn exact_ideal(&self, bytes: Bytes, payload: u64, header: u64, least: u64) -> Time {
        let frames = bytes.get().div_ceil(payload.max(1)).max(1);
        let last = (bytes.get() - (frames - 1) * payload + header).max(least);
        let full = if frames > 1 { payload + header } else { last };
        let delay: u64 = self.hops.iter().map(|h| h.1.as_ps()).sum();
        // The last frame may catch up with the one before at any hop: the longest way through the grid of frames and hops.
        // Up to the hop `c`, full frames: one transmission at each hop and all further ones at the slowest so far; then the last.
        let (mut longest, mut sum, mut slowest): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for c in 0..self.hops.len() {
            let one = self.frame(self.hops[c].0, full);
            (sum, slowest) = (sum + one, slowest.max(one));
            let tail: f64 = self.hops[c..].iter().map(|h| self.frame(h.0, last)).sum();
            let ahead = if frames > 1 { sum + (frames - 2) as f64 * slowest } else { 0.0 };
            longest = longest.max(ahead + tail);
        }
        Time::from_ps(delay + longest.round() as u64)
    }

    /// Time at which the acknowledgement of the last frame has come back over this path, if that frame arrives at `last`. The
    /// acknowledgement of a frame that arrived at `before` goes ahead of it.
    pub fn answered(&self, before: Option<Time>, last: Time, length: u64) -> Time {
        let (mut ahead, mut at) = (before.map_or(0.0, |t| t.as_ps() as f64), last.as_ps() as f64);
        for (rate, delay) in &self.hops {
            let (takes, delay) = (self.frame(*rate, length), delay.as_ps() as f64);
            let free = if before.is_some() { ahead + takes } else { 0.0 };
            (ahead, at) = (free + delay, at.max(free) + takes + delay);
        }
        Time::from_ps(at.round() as u64)
    }
}

/// A finite flow with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Payload.
    pub bytes: Bytes,
    /// From its start to the arrival of its last byte, or to the end of the run.
    pub time: Time,
    /// Ideal time that its slowdown refers to.
    pub ideal: Time,
    /// The ideal is the fork's formula, and no slowdown is below 1.
    pub floored: bool,
    /// Whether the flow was received whole.
    pub whole: bool,
    /// Index of the traffic's name among those of the run, from 1; 0 without a name.
    pub name: u64,
}

impl Timed {
    /// The flow's completion time over its ideal time.
    pub fn slowdown(&self) -> f64 {
        slowdown(self.time.as_ps(), self.ideal.as_ps(), self.floored)
    }
}

/// A time over the ideal one; at least 1 where that is the fork's formula (`floored`).
pub fn slowdown(time: u64, ideal: u64, floored: bool) -> f64 {
    let ratio = time as f64 / (ideal as f64).max(1.0);
    if floored { ratio.max(1.0) } else { ratio }
}

/// Statistics of flows of which some may be unfinished, and their printed form.
pub const ABOUT_UNFINISHED: &str = "Percentiles of completion times and slowdowns are over all finite flows: those that were not received \
     whole count as longer than all others. Where a percentile falls among them it is a lower bound, shown with >=: the longest \
     finished one, or the time that the unfinished one has taken so far. Means are over those received whole; finished_flows is their share.";

/// Times, or slowdowns, of all flows of a list in order: those received whole, and those that were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ordered {
    whole: Vec<f64>,
    open: Vec<f64>,
}

impl Ordered {
    /// Values of `of` for these flows.
    pub fn of<'a>(flows: impl Iterator<Item = &'a Timed>, of: impl Fn(&Timed) -> f64) -> Self {
        let mut all = Self::default();
        for f in flows {
            if f.whole { all.whole.push(of(f)) } else { all.open.push(of(f)) }
        }
        all.whole.sort_by(f64::total_cmp);
        all.open.sort_by(f64::total_cmp);
        all
    }

    /// The percentile for a share `q` of all flows, and whether it is a lower bound ([`ABOUT_UNFINISHED`]); none of no flow.
    pub fn percentile(&self, q: f64) -> Option<(f64, bool)> {
        let at = rank(self.whole.len() + self.open.len(), q)? - 1;
        match at.checked_sub(self.whole.len()) {
            None => Some((*self.whole.get(at)?, false)),
            Some(at) => {
                let so_far = *self.open.get(at)?;
                Some((self.whole.last().map_or(so_far, |longest| longest.max(so_far)), true))
            }
        }
    }

    /// Mean of those received whole; none if none was.
    pub fn mean(&self) -> Option<f64> {
        let n = self.whole.len();
        (n > 0).then(|| self.whole.iter().sum::<f64>() / n as f64)
    }
}

/// Slowdowns of the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeGroup {
    /// Smallest and largest flow, bytes.
    pub sizes: (u64, u64),
    /// Number of flows.
    pub flows: usize,
    /// Number of flows that were received whole.
    pub finished: usize,
    /// Slowdown that 50, 95, 99 and 99.9 % of the flows do not exceed ([`ABOUT_UNFINISHED`]).
    pub slowdown: [f64; 4],
    /// Which of these are lower bounds.
    pub at_least: [bool; 4],
    /// Mean slowdown of those received whole; 0 if none was.
    pub mean: f64,
}

/// The shares of [`SizeGroup::slowdown`].
pub const SHARES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Slowdowns by size, smallest flows first. All flows of one size are in one group. If there are no more sizes than equal
/// groups, each size is a group; else a border that falls within a size moves to the nearer end of it. Groups without flows
/// are left out.
pub fn by_size(flows: &[Timed], bins: Bins) -> Vec<SizeGroup> {
    let mut sorted = flows.to_vec();
    sorted.sort_by_key(|f| f.bytes);
    let end_of = |bytes: Bytes| sorted.partition_point(|f| f.bytes <= bytes);
    let borders: Vec<usize> = match bins {
        Bins::Equal(n) => {
            let n = n.max(1);
            let ends: Vec<usize> =
                sorted.chunk_by(|a, b| a.bytes == b.bytes).map(|c| end_of(c[0].bytes)).collect();
            let nearest = |at: usize| {
                let above = ends.partition_point(|end| *end < at);
                let below = above.checked_sub(1).map_or(0, |i| ends[i]);
                ends.get(above).map_or(at, |end| if at - below < end - at { below } else { *end })
            };
            if ends.len() <= n { ends } else { (1..=n).map(|i| nearest(i * sorted.len() / n)).collect() }
        }
        Bins::Decades => (3..=15u32).map(|d| end_of(Bytes::new(10u64.pow(d)))).collect(),
    };
    let from = std::iter::once(0).chain(borders.iter().copied());
    from.zip(&borders).filter_map(|(from, to)| group(&sorted[from..*to])).collect()
}

/// All flows of a list as one group; none of an empty one.
pub fn group(flows: &[Timed]) -> Option<SizeGroup> {
    let sizes = (flows.iter().map(|f| f.bytes.get()).min()?, flows.iter().map(|f| f.bytes.get()).max()?);
    let slowdowns = Ordered::of(flows.iter(), Timed::slowdown);
    let found = SHARES.map(|p| slowdowns.percentile(p).unwrap_or((0.0, false)));
    Some(SizeGroup {
        sizes,
        flows: flows.len(),
        finished: flows.iter().filter(|f| f.whole).count(),
        slowdown: found.map(|f| f.0),
        at_least: found.map(|f| f.1),
        mean: slowdowns.mean().unwrap_or(0.0),
    })
}

/// Number of flows that were faster than their ideal time. If it is not zero, the ideal time is not a bound.
pub fn beat_ideal(flows: &[Timed]) -> usize {
    flows.iter().filter(|f| f.whole && f.time < f.ideal).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Purpose, Stream};

    fn path(rates: &[f64], delay: Time) -> Path {
        Path { hops: rates.iter().map(|r| (Rate::from_gbps(*r), delay)).collect(), whole_ns: false }
    }

    /// Ideal times that the fork wrote into its results (case C: 41>40, 193>202, 298>314; A: 200 MB; B: 500 kB).
    #[test]
    fn the_forks_formula_gives_its_own_numbers() {
        let us = Time::from_us(1);
        let (star, tree) = (path(&[100.0, 100.0], us), path(&[100.0, 400.0, 400.0, 100.0], us));
        let ns = |p: &Path, bytes: u64| p.fork_ideal(Bytes::new(bytes), 1000, 48, true).as_ps() / 1000;
        assert_eq!(ns(&star, 661), 4216);
        assert_eq!(ns(&star, 555), 4208);
        assert_eq!(ns(&star, 500_000), 46_080);
        assert_eq!(ns(&star, 200_000_000), 16_772_160);
        assert_eq!(ns(&tree, 335), 8230);
    }

    /// The closed form equals a simulation of one frame after the other.
    #[test]
    fn exact_ideal_is_what_single_frames_do() {
        let mut r = Stream::new(1, 0, Purpose::Test);
        for _ in 0..2000 {
            let rates: Vec<f64> =
                (0..1 + r.below(6)).map(|_| [10.0, 25.0, 100.0, 400.0][r.below(4) as usize]).collect();
            let p = Path { whole_ns: r.below(2) == 0, ..path(&rates, Time::from_ns(500)) };
            let bytes = 1 + r.below(9000);
            let (payload, header) = (1000, 48);
            let frames = bytes.div_ceil(payload);
            let mut ready = vec![0.0; frames as usize];
            for (rate, delay) in &p.hops {
                let mut free: f64 = 0.0;
                for (k, at) in ready.iter_mut().enumerate() {
                    let left = bytes - k as u64 * payload;
                    let len = (left.min(payload) + header).max(64);
                    free = free.max(*at) + p.frame(*rate, len);
                    *at = free + delay.as_ps() as f64;
                }
            }
            let last = ready.last().unwrap().round() as u64;
            let is = p.exact_ideal(Bytes::new(bytes), payload, header, 64).as_ps();
            assert!(is.abs_diff(last) <= 1, "{rates:?} {bytes}: {is} {last}");
        }
    }

    #[test]
    fn groups() {
        let flows: Vec<Timed> = (1..=1000u64)
            .map(|i| Timed {
                bytes: Bytes::new(i * 100),
                time: Time::from_ns(i * 10),
                ideal: Time::from_ns(1000),
                floored: false,
                whole: true,
                name: 0,
            })
            .collect();
        let twenty = by_size(&flows, Bins::Equal(20));
        assert_eq!(twenty.len(), 20);
        assert!(twenty.iter().all(|g| g.flows == 50));
        assert_eq!(twenty[0].sizes, (100, 5000));
        // Of 9.51, 9.52, ... 10.00 the 25th, the 48th, and the last one.
        for (is, by_hand) in twenty[19].slowdown.into_iter().zip([9.75, 9.98, 10.0, 10.0]) {
            assert!((is - by_hand).abs() < 1e-9, "{is} {by_hand}");
        }
        assert!((twenty[19].mean - 9.755).abs() < 1e-9);
        let decades = by_size(&flows, Bins::Decades);
        assert_eq!(decades.iter().map(|g| g.flows).collect::<Vec<_>>(), [10, 90, 900]);
        assert_eq!(beat_ideal(&flows), 99);
        assert!(by_size(&[], Bins::Equal(20)).is_empty());
        // Flows of one size are one group.
        let alike: Vec<Timed> = (0..50)
            .map(|i| Timed { bytes: Bytes::new(if i < 35 { 2000 } else { 7000 + i }), ..flows[0] })
            .collect();
        let groups = by_size(&alike, Bins::Equal(20));
        assert_eq!((groups[0].sizes, groups[0].flows), ((2000, 2000), 35));
        assert!(
            groups[1..].iter().all(|g| g.flows < 4) && groups.iter().map(|g| g.flows).sum::<usize>() == 50
        );
    }
    /// Six flows, of which four were received whole, in 1, 2, 3 and 40 us; one has taken 5 us and one 60 us so far.
    #[test]
    fn unfinished_flows_count_as_longer() {
        let flow = |us: u64, whole: bool| Timed {
            bytes: Bytes::new(100 + us),
            time: Time::from_us(us),
            ideal: Time::from_us(2),
            floored: false,
            whole,
            name: 0,
        };
        let flows =
            [flow(60, false), flow(3, true), flow(1, true), flow(5, false), flow(40, true), flow(2, true)];
        let times = Ordered::of(flows.iter(), |f| f.time.as_secs_f64() * 1e6);
        let near = |q: f64, value: f64, at_least: bool| {
            let (is, bound) = times.percentile(q).unwrap();
            assert!((is - value).abs() < 1e-9 && bound == at_least, "{q}: {is} {bound}");
        };
        near(0.5, 3.0, false);
        near(4.0 / 6.0, 40.0, false);
        // The fifth is one of the unfinished ones: not shorter than the longest finished one.
        near(5.0 / 6.0, 40.0, true);
        near(1.0, 60.0, true);
        assert!((times.mean().unwrap() - 11.5).abs() < 1e-9);
        assert_eq!(Ordered::default().percentile(0.5), None);
        assert_eq!(Ordered::default().mean(), None);
        let group = group(&flows).unwrap();
        assert_eq!((group.flows, group.finished, group.sizes), (6, 4, (101, 160)));
        assert_eq!(group.at_least, [false, true, true, true]);
        assert!((group.mean - 5.75).abs() < 1e-9 && (group.slowdown[3] - 30.0).abs() < 1e-9);
        assert_eq!(beat_ideal(&flows), 1, "1 us for 2; 2 us for 2 is no less");
        let alone = Ordered::of([flow(7, false)].iter(), Timed::slowdown);
        assert_eq!(alone.percentile(0.5), Some((3.5, true)));
    }

    /// Two frames of 1000 + 48 bytes over one link of 10 Gb/s take 838.4 ns each; over two links one more; the fork adds a payload a
    /// link, both ways' delay, and cuts to whole nanoseconds.
    #[test]
    fn ideal_times_by_hand() {
        let ps = |t: Time| t.as_ps();
        let (one, two) = (path(&[10.0], Time::ZERO), path(&[10.0, 10.0], Time::from_ns(500)));
        assert_eq!(ps(one.exact_ideal(Bytes::new(2000), 1000, 48, 64)), 1_676_800);
        assert_eq!(ps(two.exact_ideal(Bytes::new(2000), 1000, 48, 64)), 3 * 838_400 + 1_000_000);
        assert_eq!(ps(one.exact_ideal(Bytes::new(5), 1000, 48, 64)), 51_200, "64 bytes at least");
        assert_eq!(ps(one.exact_ideal(Bytes::new(1000), 1000, 48, 64)), 838_400);
        // 1001 bytes: a full frame, and one of 49 bytes that is sent as 64.
        assert_eq!(ps(one.exact_ideal(Bytes::new(1001), 1000, 48, 64)), 838_400 + 51_200);
        let whole = Path { whole_ns: true, ..two.clone() };
        assert_eq!(ps(whole.exact_ideal(Bytes::new(2000), 1000, 48, 64)), 3 * 838_000 + 1_000_000);
        let fast = Path { whole_ns: true, ..path(&[1e6], Time::ZERO) };
        assert_eq!(ps(fast.exact_ideal(Bytes::new(5), 1000, 48, 64)), 1000, "a nanosecond at least");
        // 2 (500 + 500) + 2 x 800 + 2096 x 8 / 10 = 2000 + 1600 + 1676.
        assert_eq!(ps(two.fork_ideal(Bytes::new(2000), 1000, 48, true)), 5_276_000);
        assert_eq!(ps(two.fork_ideal(Bytes::new(2000), 1000, 48, false)), 4_276_000);
        // 60 bytes take 48 ns on each of two links of 10 Gb/s. An acknowledgement that began 20 ns earlier holds the last one up by 28.
        let (before, last) = (Time::from_ns(980), Time::from_ns(1000));
        assert_eq!(ps(two.answered(None, last, 60)), 1_000_000 + 2 * 548_000);
        assert_eq!(ps(two.answered(Some(before), last, 60)), 1_028_000 + 2 * 548_000);
        assert_eq!(ps(two.answered(Some(Time::from_ns(900)), last, 60)), 1_000_000 + 2 * 548_000);
        assert_eq!(path(&[40.0, 10.0, 25.0], Time::ZERO).bottleneck(), Rate::from_gbps(10.0));
    }

    #[test]
    fn groups_at_their_edges() {
        let of = |bytes: u64| Timed {
            bytes: Bytes::new(bytes),
            time: Time::from_us(2),
            ideal: Time::from_us(1),
            floored: false,
            whole: true,
            name: 0,
        };
        let flows = [of(1000), of(1001), of(10_000), of(10_001)];
        let decades = by_size(&flows, Bins::Decades);
        assert_eq!(
            decades.iter().map(|g| g.sizes).collect::<Vec<_>>(),
            [(1000, 1000), (1001, 10_000), (10_001, 10_001)]
        );
        assert_eq!(by_size(&flows, Bins::Equal(0)).len(), 1);
        assert_eq!(by_size(&flows, Bins::Equal(3)).iter().map(|g| g.flows).collect::<Vec<_>>(), [1, 1, 2]);
        // Half of the flows have one size. The slowest of them are not told beside flows of other sizes.
        let mixed: Vec<Timed> = (0..60u64)
            .map(|i| match i {
                0..31 => Timed { time: Time::from_us(if i < 25 { 1 } else { 50 }), ..of(1000) },
                _ => Timed { time: Time::from_us(3), ..of(2000 * i) },
            })
            .rev()
            .collect();
        let groups = by_size(&mixed, Bins::Equal(20));
        assert_eq!((groups[0].sizes, groups[0].flows, groups[0].slowdown[0]), ((1000, 1000), 31, 1.0));
        assert!(groups[1..].iter().all(|g| g.slowdown == [3.0; 4] && g.sizes.0 > 1000));
        assert_eq!(groups[1..].iter().map(|g| g.flows).collect::<Vec<_>>(), [2, 3, 3, 3, 3, 3, 3, 3, 3, 3]);
        // No more sizes than groups: each is one, however few flows it has.
        let few: Vec<Timed> = [1, 2, 2, 2, 2, 2, 2, 2, 2, 3].map(of).into();
        let sizes = |n: usize| by_size(&few, Bins::Equal(n)).iter().map(|g| g.sizes).collect::<Vec<_>>();
        assert_eq!(sizes(3), [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(sizes(2), [(1, 2), (3, 3)], "a border at 5 of 10 moves to 9, which is nearer than 1");
        // More groups than flows.
        assert_eq!(by_size(&flows, Bins::Equal(9)).len(), 4);
        assert!((of(1).slowdown() - 2.0).abs() < 1e-12);
        assert_eq!(Timed { ideal: Time::ZERO, ..of(1) }.slowdown(), 2e6, "no ideal below a picosecond");
        assert_eq!((slowdown(9, 10, false), slowdown(9, 10, true), slowdown(15, 10, true)), (0.9, 1.0, 1.5));
    }
}
