//! Parts that the schemes of queue pairs share: where a flow begins, the window that goes with a rate, and the settings of HPCC's
//! simulator.

use cnsim_scheme_api::{
    Acks, Bytes, CongestionPoint, ParamValue, Plan, PointControl, Preset, Queue, Ramp, RampAt, Rate,
    SourceSite, Time,
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
