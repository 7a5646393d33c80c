//! Frames, feedback messages, acknowledgements and probes, as Python sees them. Rates are in bit/s, times in
//! seconds, lengths in bytes.

use crate::errors::raise;
use cnsim_scheme_api as api;
use cnsim_scheme_api::{Bytes, PointId, ProbeTarget, Rate, Tag, Time};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A quantity that Python gave: finite, and 0 or more.
fn quantity(py: Python<'_>, what: &str, number: f64, (kind, unit): (&str, &str)) -> PyResult<f64> {
    if number.is_finite() && number >= 0.0 {
        return Ok(number);
    }
    let why = format!("{what}({number}): that is no {kind}");
    Err(raise(py, "SchemeError", &why, &format!("give a finite number of {unit}, 0 or more"), ""))
}

/// A rate that Python gave, in bit/s.
pub(crate) fn rate(py: Python<'_>, what: &str, bps: f64) -> PyResult<Rate> {
    quantity(py, what, bps, ("rate", "bit/s")).map(Rate::from_bps)
}

/// A time that Python gave, in seconds.
pub(crate) fn time(py: Python<'_>, what: &str, seconds: f64) -> PyResult<Time> {
    quantity(py, what, seconds, ("time", "seconds")).map(Time::from_secs_f64)
}

/// A number of bytes that Python gave; a fraction is cut off.
pub(crate) fn bytes(py: Python<'_>, what: &str, number: f64) -> PyResult<Bytes> {
    quantity(py, what, number, ("number of bytes", "bytes")).map(|n| Bytes::new(n as u64))
}

/// A data frame, as a scheme sees it.
#[pyclass(module = "cnsim._cnsim")]
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Number of its flow.
    #[pyo3(get)]
    flow: u32,
    /// Source host.
    #[pyo3(get)]
    src: u32,
    /// Destination host.
    #[pyo3(get)]
    dst: u32,
    /// Length on the link, bytes.
    #[pyo3(get)]
    len: u64,
    /// Was it marked on its way? A congestion point may mark it.
    #[pyo3(get, set)]
    pub(crate) marked: bool,
    /// Is it about to be dropped at this queue?
    #[pyo3(get)]
    dropped: bool,
    pub(crate) tag: Tag,
}

impl Frame {
    /// The view of a frame that a scheme in Rust has.
    pub(crate) fn of(f: &api::FrameView) -> Self {
        let (flow, src, dst) = (f.flow.0, f.src.0, f.dst.0);
        Self { flow, src, dst, len: f.len.get(), marked: f.marked, dropped: f.dropped, tag: f.tag }
    }
}

#[pymethods]
impl Frame {
    /// The 32 bits of a tag that `tag_frames` wrote; none where it carries none.
    #[getter]
    fn tag(&self) -> Option<u32> {
        if let Tag::User(bits) = self.tag { Some(bits) } else { None }
    }
    /// A congestion point may rewrite it.
    #[setter]
    fn set_tag(&mut self, bits: Option<u32>) {
        self.tag = bits.map_or(Tag::None, Tag::User);
    }
    fn __repr__(&self) -> String {
        format!("Frame(flow={}, src={}, dst={}, len={})", self.flow, self.src, self.dst, self.len)
    }
}

/// A feedback message: one class per published format, and `User` for new schemes.
#[pyclass(module = "cnsim._cnsim", frozen, from_py_object)]
#[derive(Clone, Debug)]
pub(crate) enum Feedback {
    /// QCN congestion notification message: `|Fb|` in six bits, `Qoff` and `Qdelta` in bytes.
    Cnm { point: u32, qntz_fb: u8, q_off: i32, q_delta: i32 },
    /// BCN or ECM message; all in pages of 64 B. `stop` is ECM(0,0).
    Ecm { point: u32, q_off: f64, q_delta: f64, fb: f64, stop: bool },
    /// QCN-3pt's message without a value.
    Reflection(),
    /// An advertised rate, bit/s.
    AdvertisedRate { point: u32, rate: f64 },
    /// The smallest rate met on a path, bit/s.
    ReturnedRate { rate: f64 },
    /// DCQCN's congestion notification packet.
    Cnp(),
    /// A probe's answer: by the answering node's clock, with the rate received since the previous one, bit/s.
    ProbeReply { probe: Probe, at: f64, rx_rate: f64 },
    /// Two numbers of one's own, 0 to 2^64 - 1.
    User { a: u64, b: u64 },
    /// A message that this version does not show.
    Other(),
}

impl Feedback {
    /// The view of a message that Python has.
    pub(crate) fn of(f: &api::Feedback) -> Self {
        match *f {
            api::Feedback::Cnm { point, qntz_fb, q_off, q_delta } => {
                Self::Cnm { point: point.0, qntz_fb, q_off, q_delta }
            }
            api::Feedback::Ecm { point, q_off, q_delta, fb, stop } => {
                Self::Ecm { point: point.0, q_off, q_delta, fb, stop }
            }
            api::Feedback::Reflection => Self::Reflection(),
            api::Feedback::AdvertisedRate { point, rate } => {
                Self::AdvertisedRate { point: point.0, rate: rate.bps() }
            }
            api::Feedback::ReturnedRate { rate } => Self::ReturnedRate { rate: rate.bps() },
            api::Feedback::Cnp => Self::Cnp(),
            api::Feedback::ProbeReply { probe, at, rx_rate } => {
                Self::ProbeReply { probe: Probe(probe), at: at.as_secs_f64(), rx_rate: rx_rate.bps() }
            }
            api::Feedback::User([a, b]) => Self::User { a, b },
            _ => Self::Other(),
        }
    }

    /// The message that Python asks for.
    pub(crate) fn message(&self, py: Python<'_>) -> PyResult<api::Feedback> {
        Ok(match self {
            &Self::Cnm { point, qntz_fb, q_off, q_delta } => {
                api::Feedback::Cnm { point: PointId(point), qntz_fb, q_off, q_delta }
            }
            &Self::Ecm { point, q_off, q_delta, fb, stop } => {
                api::Feedback::Ecm { point: PointId(point), q_off, q_delta, fb, stop }
            }
            Self::Reflection() => api::Feedback::Reflection,
            &Self::AdvertisedRate { point, rate: bps } => api::Feedback::AdvertisedRate {
                point: PointId(point),
                rate: rate(py, "Feedback.AdvertisedRate", bps)?,
            },
            &Self::ReturnedRate { rate: bps } => {
                api::Feedback::ReturnedRate { rate: rate(py, "Feedback.ReturnedRate", bps)? }
            }
            Self::Cnp() => api::Feedback::Cnp,
            Self::ProbeReply { probe, at, rx_rate } => api::Feedback::ProbeReply {
                probe: probe.0,
                at: time(py, "Feedback.ProbeReply", *at)?,
                rx_rate: rate(py, "Feedback.ProbeReply", *rx_rate)?,
            },
            &Self::User { a, b } => api::Feedback::User([a, b]),
            Self::Other() => {
                let why = "Feedback.Other cannot be sent";
                return Err(raise(py, "SchemeError", why, "send a format that has a name, or User", ""));
            }
        })
    }
}

/// A record that the network wrote as a frame began to leave an output port.
#[pyclass(module = "cnsim._cnsim", frozen, get_all)]
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    /// Rate of the link, bit/s.
    rate: f64,
    /// When the frame began to leave, seconds.
    time: f64,
    /// When the frame began to leave, whole picoseconds.
    time_ps: u64,
    /// Bytes that the port had sent before it.
    sent: u64,
    /// Bytes that stayed in the port's queues.
    queue: u64,
}

impl Hop {
    fn of(hop: &api::Hop) -> Self {
        let (time, time_ps) = (hop.time.as_secs_f64(), hop.time.as_ps());
        Self { rate: hop.rate.bps(), time, time_ps, sent: hop.sent, queue: hop.queue.get() }
    }
}

#[pymethods]
impl Hop {
    fn __repr__(&self) -> String {
        let Self { rate, time, sent, queue, .. } = self;
        format!("Hop(rate={rate}, time={time}, sent={sent}, queue={queue})")
    }
}

/// An acknowledgement, as a reaction point receives it.
#[pyclass(module = "cnsim._cnsim", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct Ack {
    /// Round-trip time, seconds.
    rtt: f64,
    /// Round-trip time, whole picoseconds.
    rtt_ps: u64,
    /// All bytes of the flow below this have arrived. With `echo`: bytes received since the first frame that was acknowledged.
    acked: u64,
    /// Bytes acknowledged since the last call of `on_ack`.
    newly: u64,
    /// Newly acknowledged bytes that came with a mark.
    newly_marked: u64,
    /// Was the frame marked on its way?
    marked: bool,
    /// Records of the ports that the frame left, the first switch first.
    path: Py<PyTuple>,
}

impl Ack {
    pub(crate) fn of(py: Python<'_>, a: &api::Ack<'_>) -> Result<Self, PyErr> {
        Ok(Self {
            rtt: a.rtt.as_secs_f64(),
            rtt_ps: a.rtt.as_ps(),
            acked: a.acked.get(),
            newly: a.newly.get(),
            newly_marked: a.newly_marked.get(),
            marked: a.marked,
            path: PyTuple::new(py, a.path.iter().map(Hop::of))?.unbind(),
        })
    }
}

#[pymethods]
impl Ack {
    fn __repr__(&self) -> String {
        format!("Ack(rtt={}, acked={}, newly={}, marked={})", self.rtt, self.acked, self.newly, self.marked)
    }
}

/// Which acknowledgements wake a reaction point.
#[pyclass(module = "cnsim._cnsim", frozen, get_all, from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct AckGate {
    /// Each one.
    each: bool,
    /// Each one with a mark.
    marked: bool,
    /// Once a round trip.
    per_window: bool,
}

impl AckGate {
    pub(crate) fn gate(&self) -> api::AckGate {
        api::AckGate { each: self.each, marked: self.marked, per_window: self.per_window }
    }
}

#[pymethods]
impl AckGate {
    #[new]
    #[pyo3(signature = (*, each=false, marked=false, per_window=false))]
    fn new(each: bool, marked: bool, per_window: bool) -> Self {
        Self { each, marked, per_window }
    }
    fn __repr__(&self) -> String {
        let word = |on| if on { "True" } else { "False" };
        let (each, marked, per_window) = (word(self.each), word(self.marked), word(self.per_window));
        format!("AckGate(each={each}, marked={marked}, per_window={per_window})")
    }
}

/// A probe: a 64 B frame sent by a reaction point.
#[pyclass(module = "cnsim._cnsim", from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct Probe(pub(crate) api::Probe);

#[pymethods]
impl Probe {
    /// A fresh probe with a number of one's own. It ends at the flow's destination, or at the congestion point named. With
    /// `control` it is served first everywhere; else it queues with the data.
    #[new]
    #[pyo3(signature = (number=0, point=None, control=true))]
    fn new(number: u32, point: Option<u32>, control: bool) -> Self {
        let target = point.map_or(ProbeTarget::Destination, |p| ProbeTarget::Point(PointId(p)));
        let class = if control { api::Class::Control } else { api::Class::Data };
        Self(api::Probe::new(number, target, class))
    }
    /// Number, chosen by the sender.
    #[getter]
    fn number(&self) -> u32 {
        self.0.number
    }
    /// When it was sent, seconds, by the sender's clock.
    #[getter]
    fn sent_at(&self) -> f64 {
        self.0.sent_at.as_secs_f64()
    }
    /// When it was sent, whole picoseconds.
    #[getter]
    fn sent_at_ps(&self) -> u64 {
        self.0.sent_at.as_ps()
    }
    /// Bytes that the flow had sent before it.
    #[getter]
    fn sent_bytes(&self) -> u64 {
        self.0.sent_bytes
    }
    /// Feedback value that congestion points write.
    #[getter]
    fn fb(&self) -> i32 {
        self.0.fb
    }
    #[setter]
    fn set_fb(&mut self, fb: i32) {
        self.0.fb = fb;
    }
    /// Congestion point that wrote `fb`.
    #[getter]
    fn point(&self) -> Option<u32> {
        self.0.point.map(|p| p.0)
    }
    #[setter]
    fn set_point(&mut self, point: Option<u32>) {
        self.0.point = point.map(PointId);
    }
    fn __repr__(&self) -> String {
        format!("Probe(number={}, fb={})", self.0.number, self.0.fb)
    }
}
