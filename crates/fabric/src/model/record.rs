//! What is written down of single frames and moments: deliveries at a host, queues at a switch.

use super::agenda::{Moment, NEVER};
use super::frame::{Data, Frame};
use super::packet::Packet;
use crate::check::{Hash, Ledger, broken};
use crate::flows::Arrived;
use crate::net::Net;
use crate::outcome::{
    Completion, HostOutcome, LATENCY_BUCKETS, PortOutcome, Series, SeriesKind, latency_bucket,
};
use crate::per_bin::PerBin;
use cnsim_scheme_api::{NodeId, Time};

/// What a host received. What each frame touches stands first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Deliveries {
    pub(crate) got: Ledger,
    /// Time, flow and number of each frame.
    pub(crate) hash: Hash,
    pub(crate) last: u64,
    bits: u64,
    latency_sum: u64,
    latency_max: u64,
    /// Where more is recorded of single frames.
    detail: Option<Box<Detail>>,
}

/// What is recorded of single frames.
#[derive(Debug)]
struct Detail {
    histogram: Vec<u64>,
    by_source: Vec<u64>,
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
        let of_flow = |f: &(NodeId, NodeId)| (f.0.0, bins());
        let by_flow: Vec<_> = record.flows.iter().filter(|f| on && f.1.0 == host).map(of_flow).collect();
        let per_bin = (on && record.delivered.contains(&NodeId(host))).then(bins);
        let flows = net.flows.to(host);
        let timed = per_bin.is_some() || !by_flow.is_empty() || flows.len() > 0;
        let detail = || Detail {
            histogram: vec![0; if record.latency { LATENCY_BUCKETS } else { 0 }],
            by_source: vec![0; if record.matrix { net.hosts as usize } else { 0 }],
            per_bin,
            by_flow,
            completions: Vec::with_capacity(flows.len()),
            flows,
        };
        Self {
            got: Ledger::default(),
            hash: Hash::default(),
            last: 0,
            bits: 0,
            latency_sum: 0,
            latency_max: 0,
            detail: (timed || record.latency || record.matrix).then(|| Box::new(detail())),
        }
    }

    /// A data frame has arrived whole. An error if it is of no flow that is expected.
    #[inline(always)]
    pub(crate) fn take<F: Packet>(&mut self, at: Moment<'_>, frame: &F) -> Result<(), String> {
        let Some(data) = frame.header() else { broken("control is taken for data") };
        let latency = at.now - data.born;
        self.bits += u64::from(frame.bytes()) * 8;
        self.latency_sum += latency;
        self.latency_max = self.latency_max.max(latency);
        self.got.enter(data.src, data.dst, data.number);
        self.hash.add(at.now, u64::from(data.flow(at.net.hosts).0) << 32 | u64::from(data.number));
        self.last = at.now;
        self.detail.as_mut().map_or(Ok(()), |detail| detail.take(at.now, frame))
    }

    /// Hands in what was received, and the series of it.
    pub(crate) fn close(&mut self, out: &mut HostOutcome, host: u32, bin: Time) -> Vec<Series> {
        out.delivered = self.got.frames;
        out.delivered_bits = self.bits;
        out.latency_sum = Time::from_ps(self.latency_sum);
        out.latency_max = Time::from_ps(self.latency_max);
        let Some(detail) = &mut self.detail else { return Vec::new() };
        out.latency = std::mem::take(&mut detail.histogram);
        out.completions = std::mem::take(&mut detail.completions);
        out.missing = detail.flows.missing();
        out.incomplete = out.missing.len() as u64;
        let host = NodeId(host);
        let all = detail.per_bin.iter().map(|b| (SeriesKind::Delivered { host }, b));
        let flow = |&(src, ref bins)| (SeriesKind::Flow { src: NodeId(src), dst: host }, bins);
        all.chain(detail.by_flow.iter().map(flow))
            .map(|(kind, b)| Series { kind, bin, values: b.rates() })
            .collect()
    }

    /// Bytes by source, where they are recorded.
    pub(crate) fn by_source(self) -> Vec<u64> {
        self.detail.map_or_else(Vec::new, |detail| detail.by_source)
    }
}

impl Detail {
    #[inline(never)]
    fn take<F: Packet>(&mut self, now: u64, frame: &F) -> Result<(), String> {
        let (Some(frame), len) = (frame.header(), frame.bytes()) else { return Ok(()) };
        let bits = u64::from(len) * 8;
        if let Some(n) = self.histogram.get_mut(latency_bucket(Time::from_ps(now - frame.born))) {
            *n += 1;
        }
        if let Some(bytes) = self.by_source.get_mut(frame.src as usize) {
            *bytes += u64::from(len);
        }
        if let Some(bins) = &mut self.per_bin {
            bins.add(now, bits);
        }
        if let Some((_, bins)) = self.by_flow.iter_mut().find(|f| f.0 == frame.src) {
            bins.add(now, bits);
        }
        if frame.finite { self.take_finite(now, &frame, len) } else { Ok(()) }
    }

    #[inline(never)]
    fn take_finite(&mut self, now: u64, frame: &Data, len: u16) -> Result<(), String> {
        self.completions.extend(self.flows.take(now, frame.src, frame.number, len)?);
        Ok(())
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

/// What is recorded of the queue at an output, at the end of each bin.
#[derive(Debug)]
pub(crate) struct QueueSeries {
    pub(crate) port: u16,
    length: Samples,
    /// Largest length since the sample before.
    peak: Samples,
    /// Largest length in all bins that are over.
    queue_max: u64,
    /// Data bits sent up to the end of each bin.
    sent: Samples,
}

impl QueueSeries {
    /// Those of a switch.
    pub(crate) fn of_switch(net: &Net, id: u32) -> impl Iterator<Item = Self> {
        let recorded = net.record.queues.iter().filter(move |q| q.0.0 == id && net.record.bin > Time::ZERO);
        let new = Samples::default;
        recorded.map(move |q| Self { port: q.1, length: new(), peak: new(), queue_max: 0, sent: new() })
    }
    /// A bin ends, with so many bytes queued, the largest number of them since the last one ended, and the data bits sent.
    pub(crate) fn take(&mut self, queued: u64, queue_max: &mut u64, sent_bits: u64) {
        self.length.take(queued as f64);
        self.peak.take(*queue_max as f64);
        self.sent.take(sent_bits as f64);
        self.queue_max = self.queue_max.max(*queue_max);
        // The next bin has a largest length of its own.
        *queue_max = queued;
    }
    /// Ends the run.
    pub(crate) fn close(mut self, net: &Net, id: u32, queued: u64, port: &mut PortOutcome) -> [Series; 3] {
        let (node, bin) = (NodeId(id), net.record.bin);
        let sent = self.sent.close(net, port.sent_bits as f64);
        let before = std::iter::once(&0.0).chain(&sent);
        let rates = sent.iter().zip(before).map(|(to, from)| (to - from) / bin.as_secs_f64()).collect();
        let lengths = self.length.close(net, queued as f64);
        let peaks = self.peak.close(net, port.queue_max as f64);
        port.queue_max = port.queue_max.max(self.queue_max);
        let port = self.port;
        [
            Series { kind: SeriesKind::Queue { node, port }, bin, values: lengths },
            Series { kind: SeriesKind::QueuePeak { node, port }, bin, values: peaks },
            Series { kind: SeriesKind::Sent { node, port }, bin, values: rates },
        ]
    }
}

/// The rates of a host's limiters at the end of each bin, of those that are recorded.
#[derive(Debug)]
pub(crate) struct RateSeries {
    /// When the next bin ends, ps.
    pub(crate) next: u64,
    by_destination: Vec<(u32, Samples)>,
}

impl RateSeries {
    /// Those of a host.
    pub(crate) fn new(net: &Net, host: u32) -> Self {
        let mine = net.record.rates.iter().filter(|f| f.0.0 == host);
        let by_destination: Vec<_> = mine.map(|f| (f.1.0, Samples::default())).collect();
        let on = !by_destination.is_empty() && net.record.bin > Time::ZERO;
        Self { next: if on { net.record.bin.as_ps() } else { NEVER }, by_destination }
    }
    /// A bin ends.
    pub(crate) fn take(&mut self, net: &Net, rate_to: impl Fn(u32) -> f64) {
        self.next += net.record.bin.as_ps();
        self.by_destination.iter_mut().for_each(|(dst, samples)| samples.take(rate_to(*dst)));
    }
    /// Ends the run of host `id`.
    pub(super) fn close(
        self,
        net: &Net,
        id: u32,
        rate_to: impl Fn(u32) -> f64,
    ) -> impl Iterator<Item = Series> {
        self.by_destination.into_iter().map(move |(dst, mut samples)| {
            let kind = SeriesKind::LimiterRate { src: NodeId(id), dst: NodeId(dst) };
            Series { kind, bin: net.record.bin, values: samples.close(net, rate_to(dst)) }
        })
    }
}
