//! What is written down of single frames and moments: deliveries at a host, queues at a switch.

use super::frame::{Data, Frame};
use crate::check::{Hash, Ledger};
use crate::flows::Arrived;
use crate::net::Net;
use crate::outcome::{Completion, HostOutcome, LATENCY_BUCKETS, Series, SeriesKind, latency_bucket};
use crate::per_bin::PerBin;
use cnsim_scheme_api::{NodeId, Time};

/// What a host received.
#[derive(Debug)]
pub(crate) struct Deliveries {
    host: NodeId,
    bin: Time,
    pub(crate) got: Ledger,
    /// Time, flow and number of each frame.
    pub(crate) hash: Hash,
    pub(crate) last: u64,
    bits: u64,
    latency_sum: u64,
    latency_max: u64,
    histogram: Vec<u64>,
    pub(crate) by_source: Vec<u64>,
    per_bin: Option<PerBin>,
    by_flow: Vec<(u32, PerBin)>,
    flows: Arrived,
    completions: Vec<Completion>,
}

impl Deliveries {
    /// Nothing yet.
    pub(crate) fn new(net: &Net, host: u32) -> Self {
        let record = &net.record;
        let bins = || PerBin::new(record.bin.as_ps(), net.duration);
        let on = record.bin > Time::ZERO;
        let by_flow = record.flows.iter().filter(|f| on && f.1.0 == host);
        Self {
            host: NodeId(host),
            bin: record.bin,
            got: Ledger::default(),
            hash: Hash::default(),
            last: 0,
            bits: 0,
            latency_sum: 0,
            latency_max: 0,
            histogram: vec![0; if record.latency { LATENCY_BUCKETS } else { 0 }],
            by_source: vec![0; if record.matrix { net.hosts as usize } else { 0 }],
            per_bin: (on && record.delivered.contains(&NodeId(host))).then(bins),
            by_flow: by_flow.map(|f| (f.0.0, bins())).collect(),
            flows: net.flows.to(host),
            completions: Vec::new(),
        }
    }

    /// A data frame has arrived whole.
    pub(crate) fn take(&mut self, now: u64, data: &Data, len: u16, hosts: u32) -> Result<(), String> {
        let latency = now - data.born;
        let bits = u64::from(len) * 8;
        self.bits += bits;
        self.latency_sum += latency;
        self.latency_max = self.latency_max.max(latency);
        self.got.enter(data.src, data.dst, data.number);
        self.hash.add(now, u64::from(data.flow(hosts).0) << 32 | u64::from(data.number));
        self.last = now;
        if let Some(n) = self.histogram.get_mut(latency_bucket(Time::from_ps(latency))) {
            *n += 1;
        }
        if let Some(bytes) = self.by_source.get_mut(data.src as usize) {
            *bytes += u64::from(len);
        }
        if let Some(bins) = &mut self.per_bin {
            bins.add(now, bits);
        }
        if let Some((_, bins)) = self.by_flow.iter_mut().find(|f| f.0 == data.src) {
            bins.add(now, bits);
        }
        if data.finite {
            self.completions.extend(self.flows.take(now, data.src, data.number, len)?);
        }
        Ok(())
    }

    /// Hands in what was received, and the series of it.
    pub(crate) fn close(&mut self, out: &mut HostOutcome) -> Vec<Series> {
        out.delivered = self.got.frames;
        out.delivered_bits = self.bits;
        out.latency_sum = Time::from_ps(self.latency_sum);
        out.latency_max = Time::from_ps(self.latency_max);
        out.latency = std::mem::take(&mut self.histogram);
        out.completions = std::mem::take(&mut self.completions);
        out.incomplete = self.flows.incomplete();
        out.missing = self.flows.missing();
        let all = self.per_bin.iter().map(|b| (SeriesKind::Delivered { host: self.host }, b));
        let flow = |&(src, ref bins)| (SeriesKind::Flow { src: NodeId(src), dst: self.host }, bins);
        let bin = self.bin;
        all.chain(self.by_flow.iter().map(flow))
            .map(|(kind, b)| Series { kind, bin, values: b.rates() })
            .collect()
    }
}

impl Ledger {
    /// Enters those of these frames that are data.
    pub(crate) fn enter_all<'a>(&mut self, frames: impl IntoIterator<Item = &'a Frame>) {
        for data in frames.into_iter().filter_map(Frame::as_data) {
            self.enter(data.src, data.dst, data.number);
        }
    }
}

/// Values taken at the end of each bin.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// A bin ends.
    pub(crate) fn take(&mut self, value: f64) {
        self.0.push(value);
    }
    /// The bin that ends with the run is not over before it: what stands then is its value.
    pub(crate) fn close(&mut self, net: &Net, last: f64) -> Vec<f64> {
        let bins = net.duration.checked_div(net.record.bin.as_ps()).unwrap_or(0) as usize;
        if self.0.len() < bins {
            self.0.push(last);
        }
        std::mem::take(&mut self.0)
    }
}
