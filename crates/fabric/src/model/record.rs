//! What is written down of single frames and moments: deliveries at a host, queues at a switch.

use super::frame::Data;
use crate::check::{Hash, Ledger};
use crate::net::Net;
use crate::outcome::{Completion, HostOutcome, LATENCY_BUCKETS, Series, SeriesKind, latency_bucket};
use crate::per_bin::PerBin;
use cnsim_scheme_api::{NodeId, Time};
use std::collections::{BTreeMap, VecDeque};

/// Finite transfers from one source.
#[derive(Debug, Default)]
struct Expected {
    /// Bytes received.
    received: u64,
    /// (bytes at which it is complete, its bytes, its start), in order.
    list: VecDeque<(u64, u64, u64)>,
}

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
    flows: Vec<(u32, PerBin)>,
    expected: BTreeMap<u32, Expected>,
    completions: Vec<Completion>,
}

impl Deliveries {
    /// Nothing yet.
    pub(crate) fn new(net: &Net, host: u32) -> Self {
        let record = &net.record;
        let bins = || PerBin::new(record.bin.as_ps(), net.duration);
        let on = record.bin > Time::ZERO;
        let mut expected: BTreeMap<u32, Expected> = BTreeMap::new();
        for &(src, bytes, start) in net.transfers.get(&host).into_iter().flatten() {
            let e = expected.entry(src).or_default();
            let before = e.list.back().map_or(0, |l| l.0);
            e.list.push_back((before + bytes, bytes, start));
        }
        let flows = record.flows.iter().filter(|f| on && f.1.0 == host);
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
            flows: flows.map(|f| (f.0.0, bins())).collect(),
            expected,
            completions: Vec::new(),
        }
    }

    /// A data frame has arrived whole.
    pub(crate) fn take(&mut self, now: u64, data: &Data, len: u16, hosts: u32) {
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
        if let Some((_, bins)) = self.flows.iter_mut().find(|f| f.0 == data.src) {
            bins.add(now, bits);
        }
        self.complete(now, data.src, u64::from(len));
    }

    /// Counts bytes of finite transfers.
    fn complete(&mut self, now: u64, src: u32, len: u64) {
        let Some(e) = self.expected.get_mut(&src) else { return };
        e.received += len;
        while let Some(&(at, bytes, start)) = e.list.front() {
            if at > e.received {
                break;
            }
            e.list.pop_front();
            let (start, end) = (Time::from_ps(start), Time::from_ps(now));
            self.completions.push(Completion { src: NodeId(src), bytes, start, end });
        }
    }

    /// Hands in what was received, and the series of it.
    pub(crate) fn close(&mut self, out: &mut HostOutcome) -> Vec<Series> {
        out.delivered = self.got.frames;
        out.delivered_bits = self.bits;
        out.latency_sum = Time::from_ps(self.latency_sum);
        out.latency_max = Time::from_ps(self.latency_max);
        out.latency = std::mem::take(&mut self.histogram);
        out.completions = std::mem::take(&mut self.completions);
        out.incomplete = self.expected.values().map(|e| e.list.len() as u64).sum();
        let all = self.per_bin.iter().map(|b| (SeriesKind::Delivered { host: self.host }, b));
        let flow = |&(src, ref bins)| (SeriesKind::Flow { src: NodeId(src), dst: self.host }, bins);
        let bin = self.bin;
        all.chain(self.flows.iter().map(flow))
            .map(|(kind, b)| Series { kind, bin, values: b.rates() })
            .collect()
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
