//! Records of single frames and moments: deliveries at a host, queues at a switch.

use super::agenda::Moment;
use super::frame::{Data, flow_of};
use crate::check::{Delivered, Hash, Ledger};
use crate::flows::Arrived;
use crate::net::{FrameNo, NEVER, Net, Ps};
use crate::outcome::{
    Completion, HostOutcome, Incomplete, LATENCY_BUCKETS, PortOutcome, Series, SeriesKind, latency_bucket,
};
use crate::per_bin::PerBin;
use cnsim_scheme_api::{FlowId, NodeId, Time};

/// Deliveries at a host. Fields that each frame touches stand first.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Deliveries {
    pub(crate) got: Ledger,
    /// Time, flow and number of each frame.
    pub(crate) hash: Hash,
    pub(crate) last: Ps,
    /// Frames that were received and discarded.
    pub(crate) unwanted: Ledger,
    bits: u64,
    latency_sum: Ps,
    latency_max: Ps,
    /// Where more is recorded of single frames.
    detail: Option<Box<Detail>>,
}

/// A frame that has come for the first time: its connection and message, and how many frames of the connection have come in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub(crate) of: FlowId,
    pub(crate) message: FlowId,
    pub(crate) in_order: FrameNo,
}

/// What a data frame holds. It is found where it is needed, as what holds it lies in one word.
pub(crate) trait Of: Fn() -> Data + Copy {}
impl<F: Fn() -> Data + Copy> Of for F {}

/// Records of single frames.
#[derive(Debug, Default)]
struct Detail {
    histogram: Vec<u64>,
    by_source: Vec<u64>,
    /// Delivered bytes in each bin: in all, and of the flow from a host.
    all: Option<PerBin>,
    by_flow: Vec<(u32, PerBin)>,
    flows: Arrived,
    completions: Vec<Completion>,
    /// Messages that have arrived whole, and wait for frames before them on their connection.
    behind: Vec<Completion>,
    header_bits: u64,
    /// What is delivered, where a run is put together from phases.
    kept: Vec<Delivered>,
}

impl Deliveries {
    /// Nothing yet of a class.
    pub(crate) fn new(net: &Net, host: u32, class: u8) -> Self {
        let record = &net.record;
        let bins = || PerBin::new(record.bin.into(), net.duration);
        let on = record.bin > Time::ZERO;
        let all = (on && record.delivered.contains(&NodeId(host))).then(bins);
        let to_here = record.flows.iter().filter(|f| on && f.1.0 == host);
        let by_flow: Vec<_> = to_here.map(|f| (f.0.0, bins())).collect();
        let flows = net.flows.to(host, class);
        let timed = all.is_some() || !by_flow.is_empty() || flows.len() > 0;
        let detail = || Detail {
            histogram: vec![0; if record.latency { LATENCY_BUCKETS } else { 0 }],
            by_source: vec![0; if record.matrix { net.hosts as usize } else { 0 }],
            all,
            by_flow,
            completions: Vec::with_capacity(flows.len()),
            flows,
            ..Detail::default()
        };
        let detail = (timed || record.latency || record.matrix).then(|| Box::new(detail()));
        Self { detail, ..Self::default() }
    }
    /// A data frame has arrived whole, of this flow if that has a queue pair. An error if it is of no flow that is expected.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        at: Moment<'_>,
        frame: (impl Of, u16),
        pair: Option<Came>,
    ) -> Result<(), String> {
        let data = frame.0();
        let latency = at.now - data.born;
        self.bits += u64::from(frame.1) * 8;
        self.latency_sum += latency;
        self.latency_max = self.latency_max.max(latency);
        self.got.enter(data.src, data.dst, data.number);
        let flow = flow_of(data.src, data.dst, at.net.hosts);
        self.hash.add(at.now.0, u64::from(flow.0) << 32 | u64::from(data.number));
        self.last = at.now;
        self.detail.as_mut().map_or(Ok(()), |detail| detail.take(at, frame, pair))
    }
    /// Flows that have arrived whole.
    pub(crate) fn whole(&self) -> &[Completion] {
        self.detail.as_ref().map_or(&[], |detail| &detail.completions)
    }
    /// What was kept of single frames.
    pub(super) fn kept(&mut self) -> Vec<Delivered> {
        self.detail.as_mut().map(|detail| std::mem::take(&mut detail.kept)).unwrap_or_default()
    }
    /// Hands in what was received, the series of it, and the bytes by source where they are recorded.
    pub(crate) fn close(&mut self, out: &mut HostOutcome, host: u32, net: &Net) -> (Vec<Series>, Vec<u64>) {
        out.delivered = self.got.frames;
        out.delivered_bits = self.bits;
        out.latencies.sum = self.latency_sum.time();
        out.latencies.max = self.latency_max.time();
        let Some(detail) = &mut self.detail else { return Default::default() };
        out.latencies.histogram = std::mem::take(&mut detail.histogram);
        out.transfers.completions = std::mem::take(&mut detail.completions);
        out.header_bits = detail.header_bits;
        out.transfers.missing = detail.flows.missing(|at| net.flows.at(host, at));
        out.transfers.missing.extend(detail.behind.drain(..).map(|message| {
            let Completion { src, bytes, start, nth, flow, class, .. } = message;
            Incomplete { src, bytes, start, nth, missing: 0, flow, class }
        }));
        let host = NodeId(host);
        let flow = |(src, b): &(u32, PerBin)| (SeriesKind::Flow { src: NodeId(*src), dst: host }, b.rates());
        let all = detail.all.iter().map(|bins| (SeriesKind::Delivered { host }, bins.rates()));
        let series = all.chain(detail.by_flow.iter().map(flow));
        let series = series.map(|(kind, values)| Series { kind, bin: net.record.bin, values }).collect();
        (series, std::mem::take(&mut detail.by_source))
    }
}

impl Detail {
    /// A frame of finite traffic has arrived, by its source, number and length: its bits, of payload alone where headers are known.
    #[inline(always)]
    fn finite(&mut self, at: Moment<'_>, of: (u32, u32, u16), pair: Option<Came>) -> Result<u64, String> {
        let ((src, number, len), now) = (of, at.now);
        let mut bits = u64::from(len) * 8;
        let (flows, message) = (&at.net.flows, pair.map(|came| came.message));
        let place = message.and_then(|flow| flows.numbered(flow)).map(|flow| flow.at);
        let more = self.flows.count(place, len);
        let done = if more { None } else { self.flows.take(now, src, number, place, len)? };
        if let Some(header) = at.net.record.headers.get(src as usize) {
            let padding = done.map_or(0, |(_, padding)| padding);
            let beside = 8 * (u64::from(*header) + padding);
            self.header_bits += beside;
            bits = bits.saturating_sub(beside);
        }
        let done = done.map(|(done, _)| Completion { flow: message, ..done });
        match pair.filter(|came| flows.shares(came.of)) {
            None => self.completions.extend(done),
            // A stream is read in order.
            Some(Came { of, in_order, .. }) => {
                self.behind.extend(done);
                let read = |c: &mut Completion| {
                    let message = c.flow.filter(|message| flows.connection(*message) == of);
                    message.is_some_and(|message| flows.end_of(message) <= in_order)
                };
                let read = self.behind.extract_if(.., read);
                self.completions.extend(read.map(|c| Completion { end: now.time(), ..c }));
            }
        }
        Ok(bits)
    }
    #[inline(never)]
    fn take(&mut self, at: Moment<'_>, frame: (impl Of, u16), pair: Option<Came>) -> Result<(), String> {
        let (now, Data { src, number, born, finite, .. }, len) = (at.now, frame.0(), frame.1);
        let mut bits = u64::from(len) * 8;
        if let Some(n) = self.histogram.get_mut(latency_bucket((now - born).time())) {
            *n += 1;
        }
        if let Some(bytes) = self.by_source.get_mut(src as usize) {
            *bytes += u64::from(len);
        }
        if finite {
            bits = self.finite(at, (src, number, len), pair)?;
        }
        if let Some(Came { of, .. }) = pair.filter(|_| self.kept.len() < at.net.keeps) {
            self.kept.push((now, of.0, number as u16, (bits / 8) as u16));
        }
        if let Some(bins) = &mut self.all {
            bins.add(now, bits);
        }
        for (_, bins) in self.by_flow.iter_mut().filter(|f| f.0 == src) {
            bins.add(now, bits);
        }
        Ok(())
    }
}

/// Records of the queue at an output.
#[derive(Debug)]
pub(crate) struct QueueSeries {
    pub(crate) port: u16,
    /// At the end of each bin that is over: bytes queued, most of them since the end before, data bits sent, and frames discarded.
    bins: Vec<[f64; 4]>,
    /// Largest length in all of these.
    queue_max: u64,
    /// Bytes queued at the end of each bin by class, bin for bin, where there are several.
    pub(crate) of_classes: Vec<f64>,
}

impl QueueSeries {
    /// Series of a switch.
    pub(crate) fn of_switch(net: &Net, id: u32) -> impl Iterator<Item = Self> {
        let recorded = net.record.queues.iter().filter(move |q| q.0.0 == id && net.record.bin > Time::ZERO);
        let new =
            |port| Self { port, bins: Vec::with_capacity(net.bins()), queue_max: 0, of_classes: Vec::new() };
        recorded.map(move |q| new(q.1))
    }
    /// So many bins were empty.
    pub(super) fn skip(&mut self, bins: usize) {
        self.bins.resize(bins, [0.0; 4]);
    }
    /// A bin ends, with so many bytes queued, the largest number of them since the last one ended, data bits sent, frames discarded.
    pub(crate) fn take(&mut self, queued: u64, queue_max: &mut u64, (sent_bits, discarded): (u64, u64)) {
        self.bins.push([queued, *queue_max, sent_bits, discarded].map(|value| value as f64));
        self.queue_max = self.queue_max.max(*queue_max);
        // The next bin has a largest length of its own.
        *queue_max = queued;
    }
    /// Ends the run. The bin that ends with it is not over before: what stands then is its value.
    pub(crate) fn close(mut self, net: &Net, id: u32, queued: u64, port: &mut PortOutcome) -> Vec<Series> {
        let last = [queued, port.queue_max, port.sent_bits, port.discarded()].map(|value| value as f64);
        self.bins.resize(net.bins(), last);
        port.queue_max = port.queue_max.max(self.queue_max);
        let (node, port, bin) = (NodeId(id), self.port, net.record.bin);
        let of = |i: usize| self.bins.iter().map(move |values| values[i]);
        let before = std::iter::once(0.0).chain(of(2));
        let rates = of(2).zip(before).map(|(to, from)| (to - from) / bin.as_secs_f64()).collect();
        let classes = net.classes.len();
        let of_class = |class: usize| {
            let values =
                self.of_classes.iter().skip(class).step_by(classes).take(net.bins()).copied().collect();
            Series { kind: SeriesKind::ClassQueue { node, port, class: class as u8 }, bin, values }
        };
        let own = (0..classes).filter(|_| classes > 1).map(of_class);
        let all = [
            Series { kind: SeriesKind::Queue { node, port }, bin, values: of(0).collect() },
            Series { kind: SeriesKind::QueuePeak { node, port }, bin, values: of(1).collect() },
            Series { kind: SeriesKind::Sent { node, port }, bin, values: rates },
            Series { kind: SeriesKind::Discarded { node, port }, bin, values: of(3).collect() },
        ];
        all.into_iter().chain(own).collect()
    }
}

/// The rates of a host's limiters at the end of each bin, of those that are recorded.
#[derive(Debug)]
pub(crate) struct RateSeries {
    /// When the next bin ends, ps.
    pub(crate) next: Ps,
    by_destination: Vec<(u32, Vec<f64>)>,
}

impl RateSeries {
    /// Series of a host's class: of the first with a scheme.
    pub(crate) fn new(net: &Net, host: u32, class: u8) -> Self {
        let shown = net.shown_class() == usize::from(class);
        let mine = net.record.rates.iter().filter(|f| f.0.0 == host && shown);
        let by_destination: Vec<_> = mine.map(|f| (f.1.0, Vec::new())).collect();
        let on = !by_destination.is_empty() && net.record.bin > Time::ZERO;
        Self { next: if on { net.record.bin.into() } else { NEVER }, by_destination }
    }
    /// A bin ends.
    pub(crate) fn take(&mut self, net: &Net, rate_to: impl Fn(u32) -> f64) {
        self.next += net.record.bin.into();
        self.by_destination.iter_mut().for_each(|(dst, rates)| rates.push(rate_to(*dst)));
    }
    /// Ends the run of host `id`.
    pub(super) fn close(self, net: &Net, id: u32, rate: impl Fn(u32) -> f64) -> impl Iterator<Item = Series> {
        self.by_destination.into_iter().map(move |(dst, mut values)| {
            values.resize(net.bins(), rate(dst));
            let kind = SeriesKind::LimiterRate { src: NodeId(id), dst: NodeId(dst) };
            Series { kind, bin: net.record.bin, values }
        })
    }
}
