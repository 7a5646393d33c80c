//! Parts that the schemes of queue pairs share: where a flow begins, the window that goes with a rate, and the settings of HPCC's
//! simulator; and how ports mark.

use cnsim_scheme_api::{
    Acks, Bytes, CongestionPoint, FrameView, ParamValue, Plan, PointControl, Preset, Queue, Ramp, RampAt,
    Rate, SourceSite, Time,
};

/// The plan of a scheme that steers queue pairs by acknowledgements; they may begin at a rate of the scenario.
pub(crate) fn plan(acks: Acks) -> Plan {
    Plan { initial_rate: true, ..Plan::acknowledged(acks) }
}

/// The rate at which a flow begins: that of the scenario, else the line rate.
pub(crate) fn initial_rate(site: &SourceSite) -> Rate {
    site.initial_rate.unwrap_or(site.line_rate).min(site.line_rate)
}

/// The rate at which a flow begins, but at least this one.
pub(crate) fn initial_rate_from(least: Rate, site: &SourceSite) -> Rate {
    initial_rate(site).max(least).min(site.line_rate)
}

/// The base round-trip time: `own`, or that of the flow's path where that is 0.
pub(crate) fn base_rtt(own: Time, site: &SourceSite) -> Time {
    if own == Time::ZERO { site.base_rtt } else { own }.max(Time::from_ns(1))
}

/// The window of a flow that is paced: the bandwidth-delay product at its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacedWindow {
    /// Seconds of sending at the present rate that it holds.
    seconds: f64,
}

impl PacedWindow {
    /// A window of this base round-trip time, which does not count `header` bytes of each full frame.
    pub(crate) fn new(base_rtt: Time, header: Bytes, site: &SourceSite) -> Self {
        let (frame, header) = (site.mtu.as_f64(), header.as_f64());
        let scale = if header < frame { frame / (frame - header) } else { 1.0 };
        Self { seconds: base_rtt.as_secs_f64() * scale }
    }

    /// The product at this rate; never 0.
    pub(crate) fn at(self, rate: Rate) -> Bytes {
        Bytes::new((rate.bps() / 8.0 * self.seconds) as u64).max(Bytes::new(1))
    }
}

/// The preset `hpcc`, with these settings for hosts' links of a rate.
pub(crate) const fn preset_hpcc(values: fn(Rate) -> Vec<(&'static str, String)>) -> Preset {
    let source = "`run.py` of the simulator of HPCC (alibaba-edu/High-Precision-Congestion-Control 9f4be2a), by the speed of the NIC";
    Preset { name: "hpcc", source, values, acknowledged: &[] }
}

/// The smallest rate that HPCC's simulator sets, 1 Gb/s, which is for NICs of 25 Gb/s and more; less on slower ones.
pub(crate) fn preset_floor(rate: Rate) -> String {
    format!("{:.0} Mb/s", (40.0 * rate.gbps()).clamp(1.0, 1000.0))
}

/// How ports of a rate mark, in the text `100 Gb/s: 400 KB to 1600 KB at 0.2`: nothing up to the first queue length, all above the second,
/// and a share of frames that grows up to this at the end of the ramp between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkRow {
    rate: Rate,
    low: Bytes,
    high: Bytes,
    p_max: f64,
}

impl MarkRow {
    /// The ramp of ports of this rate, where a table has a row for it.
    pub(crate) fn ramp(table: Option<&Vec<Self>>, rate: Rate, at: RampAt) -> Option<Ramp> {
        let near = |row: &&Self| (row.rate.bps() - rate.bps()).abs() <= 1e-6 * rate.bps();
        let row = table?.iter().find(near)?;
        Some(Ramp { low: row.low.min(row.high), high: row.high, p_max: row.p_max, p_beyond: 1.0, at })
    }
}

impl ParamValue for MarkRow {
    type Bound = Self;
    const KIND: &'static str = "marks of a rate";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        let parts = text.split_once(':').and_then(|(rate, rest)| {
            let (low, rest) = rest.split_once(" to ")?;
            let (high, p_max) = rest.split_once(" at ")?;
            Some((rate, low, high, p_max))
        });
        let remedy = || "write for example 100 Gb/s: 400 KB to 1600 KB at 0.2".to_string();
        let (rate, low, high, p_max) =
            parts.ok_or_else(|| (format!("`{text}` is not `RATE: BYTES to BYTES at SHARE`"), remedy()))?;
        let row = Self {
            rate: Rate::parse(rate.trim())?,
            low: Bytes::parse(low.trim())?,
            high: Bytes::parse(high.trim())?,
            p_max: f64::parse(p_max)?,
        };
        if row.rate <= Rate::ZERO || row.low > row.high || !(0.0..=1.0).contains(&row.p_max) {
            return Err((format!("`{text}` has no rate, a ramp that falls, or a share above 1"), remedy()));
        }
        Ok(row)
    }
    fn show(&self) -> String {
        format!("{}: {} to {} at {}", self.rate, self.low, self.high, self.p_max.show())
    }
    fn sizes(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// A congestion point that marks, and nothing else.
#[derive(Debug)]
pub(crate) struct Marker(pub(crate) Ramp);

impl CongestionPoint for Marker {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.mark(self.0);
    }
}

/// Random early detection (S. Floyd, V. Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, 1993; from memory): a mean
/// of the queue that frames meet decides on marks, and spaces them.
#[derive(Debug)]
pub(crate) struct Red {
    ramp: Ramp,
    weight: f64,
    /// The mean, bytes.
    mean: f64,
    /// Frames since the last mark, while the mean is on the ramp.
    count: u32,
    /// The queue is empty from then on.
    drained: Time,
}

impl Red {
    /// With this ramp, over a mean in which each queue has this weight.
    pub(crate) fn new(ramp: Ramp, weight: f64) -> Self {
        Self { ramp, weight, mean: 0.0, count: 0, drained: Time::ZERO }
    }
    /// A frame of so many bytes meets a queue that has so many with it: is it marked, if this draw decides?
    fn marks(&mut self, now: Time, (len, queued): (u64, u64), rate: Rate, draw: f64) -> bool {
        let before = queued.saturating_sub(len);
        if before > 0 {
            self.mean += self.weight * (before as f64 - self.mean);
        } else {
            // As many frames might have met an empty queue as the link could have sent.
            let frames = now.saturating_sub(self.drained).as_ps()
                / rate.transmission_time(Bytes::new(len)).as_ps().max(1);
            self.mean *= power(1.0 - self.weight, frames);
        }
        self.drained = now + rate.transmission_time(Bytes::new(queued));
        let p = self.ramp.probability(self.mean as u64);
        if p <= 0.0 || p >= 1.0 {
            self.count = 0;
            return p >= 1.0;
        }
        // Of 1/p frames each is as likely as another to be the next that is marked.
        let left = 1.0 - f64::from(self.count) * p;
        let marked = left <= p || draw < p / left;
        self.count = if marked { 0 } else { self.count + 1 };
        marked
    }
}

/// `x` to the power of `n`, by multiplications alone.
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut y = 1.0;
    while n > 0 {
        y *= if n % 2 == 1 { x } else { 1.0 };
        (x, n) = (x * x, n / 2);
    }
    y
}

impl CongestionPoint for Red {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_always();
        ctl.sample_dropped(false);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let (sizes, draw) = ((frame.len.get(), queue.len.get()), ctl.uniform());
        frame.marked |= self.marks(ctl.now(), sizes, queue.line_rate, draw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A steady queue of 40 KB brings the mean there by a share of 1 - 0.998^n. A ramp of 20 to 60 KB up to 2 % has a
    /// chance of 1 % there: any of a hundred frames may be the next one that is marked, in the mean each 50.5th. An idle time of a thousand frames leaves 0.998^1000 of the mean.
    #[test]
    fn a_mean_decides_and_spaces() {
        let (low, high) = (Bytes::from_kb(20), Bytes::from_kb(60));
        let ramp = Ramp { low, high, p_max: 0.02, p_beyond: 1.0, at: RampAt::Arrival };
        let (mut red, rate) = (Red::new(ramp, 0.002), Rate::from_gbps(10.0));
        let mut draws =
            cnsim_scheme_api::network::Stream::new(1, 0, cnsim_scheme_api::network::Purpose::Node);
        let now = std::cell::Cell::new(Time::ZERO);
        let mut meet = |red: &mut Red, n: u32, queued: u64| {
            let mut gaps = vec![0_u32];
            for _ in 0..n {
                now.set(now.get() + Time::from_ns(1200));
                let marked = red.marks(now.get(), (1500, queued), rate, draws.uniform());
                *gaps.last_mut().unwrap() += 1;
                if marked {
                    gaps.push(0);
                }
            }
            gaps
        };
        meet(&mut red, 346, 41_500);
        assert!((red.mean - 40_000.0 * (1.0 - power(0.998, 346))).abs() < 1e-6);
        assert!((red.mean / 20_000.0 - 1.0).abs() < 0.01, "half the way: 0.998^346 is a half");
        meet(&mut red, 10_000, 41_500);
        let gaps = meet(&mut red, 100_000, 41_500);
        let (marks, widest) = (gaps.len() as f64 - 1.0, gaps.iter().max().unwrap());
        assert!((marks / 1980.0 - 1.0).abs() < 0.03 && *widest <= 100, "{marks}, {widest}");
        let mean = red.mean;
        let idle = now.get() + Time::from_ns(41_500 * 8 / 10) + Time::from_us(1200);
        red.marks(idle, (1500, 1500), rate, 1.0);
        assert!((red.mean / mean / power(0.998, 1000) - 1.0).abs() < 1e-9);
        assert!(meet(&mut red, 10_000, 81_500).len() > 5000, "above the ramp each frame is marked");
    }
}
