//! The handles that Python holds. Each keeps the network's own data while a call lasts, lent by the seam's `exchange`, and its
//! verbs are those of the seam: nothing is said twice. A handle that is used after its call says so.

use crate::errors::raise;
use crate::wire::{AckGate, Feedback, Probe, bytes, rate, time};
use cnsim_scheme_api as api;
use cnsim_scheme_api::network::{Lent, Purpose, Stream};
use cnsim_scheme_api::{Bytes, FlowId, SLOTS, Slot, Tag, Time};
use pyo3::prelude::*;

/// The data behind a handle between two calls, when nothing can read them.
fn nobody() -> Stream {
    Stream::new(0, 0, Purpose::Test)
}

/// A value of the seam, as Python gives it.
trait Given: Sized {
    type From;
    /// The value, for this verb.
    fn take(py: Python<'_>, verb: &str, from: Self::From) -> PyResult<Self>;
}

/// Values of the seam, each with the type that Python gives and how it is read.
macro_rules! given {
    ($($type:ty, $from:ty = |$py:ident, $verb:ident, $value:ident| $taken:expr;)*) => {
        $(impl Given for $type {
            type From = $from;
            fn take($py: Python<'_>, $verb: &str, $value: $from) -> PyResult<Self> {
                $taken
            }
        })*
    };
}

given! {
    bool, bool = |_py, _verb, on| Ok(on);
    f64, f64 = |_py, _verb, number| Ok(number);
    String, String = |_py, _verb, name| Ok(name);
    Bytes, f64 = |py, verb, number| bytes(py, verb, number);
    Time, f64 = |py, verb, seconds| time(py, verb, seconds);
    FlowId, u32 = |_py, _verb, flow| Ok(FlowId(flow));
    api::Feedback, Py<Feedback> = |py, _verb, feedback| feedback.get().message(py);
    api::AckGate, Py<AckGate> = |_py, _verb, gate| Ok(gate.get().gate());
    api::Probe, Py<Probe> = |py, _verb, probe| Ok(probe.borrow(py).0);
    // The seam checks its number.
    Slot, i64 = |py, _verb, number| u8::try_from(number).map(Slot).map_err(|_| {
        let remedy = format!("slots are 0 to {}", SLOTS - 1);
        raise(py, "SchemeError", &format!("there is no timer {number}"), &remedy, "")
    });
}

/// Which received frames wake a reflector, from its word.
pub(crate) fn gate(py: Python<'_>, frames: &str, p: f64) -> PyResult<api::ReflectGate> {
    let gate = match frames {
        "never" => api::ReflectGate::Never,
        "marked" => api::ReflectGate::Marked,
        "unmarked" => api::ReflectGate::Unmarked(p),
        "tagged" => api::ReflectGate::Tagged,
        "always" => api::ReflectGate::Always,
        other => {
            let remedy = "write never, marked, unmarked, tagged or always";
            return Err(raise(
                py,
                "SchemeError",
                &format!("a reflector cannot hear `{other}`"),
                remedy,
                "reflect",
            ));
        }
    };
    gate.check().map_err(|why| raise(py, "SchemeError", &why, "give 0 to 1", "reflect"))
}

/// The error of a handle that is used after its call.
fn stale(py: Python<'_>, what: &str) -> PyErr {
    let remedy = "use it only in the method that it is handed to, or keep the numbers that it gave";
    raise(py, "SchemeError", &format!("a {what} was used after its call"), remedy, "")
}

/// A handle: its values, its verbs, and what neither form can say. A value is read during a call (`get`) or from what the call was
/// given (`of`). A verb has the name and the arguments of the seam's, which [`Given`] makes of Python's.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident, $what:literal, $seam:ident, $state:ident, $action:ident, { $($field:tt)* }
    of { $($(#[$ometa:meta])* $of:ident: $otype:ty = |$view:ident| $ovalue:expr;)* }
    get { $($(#[$gmeta:meta])* $get:ident: $gtype:ty = |$ctl:ident| $gvalue:expr;)* }
    verbs { $($(#[$vmeta:meta])* $verb:ident($($arg:ident: $type:ty),*);)* }
    $($own:tt)*) => {
        $(#[$about])*
        #[pyclass(module = "cnsim._cnsim")]
        #[derive(Debug)]
        pub(crate) struct $name {
            now: Time,
            live: bool,
            state: api::network::$state,
            actions: Vec<api::network::$action>,
            $($field)*
        }

        impl $name {
            /// Does a verb of the seam's handle during a call. An error of the seam is raised here, in the scheme's own line.
            fn tell<R>(
                &mut self,
                py: Python<'_>,
                verb: impl FnOnce(&mut api::$seam<'_>) -> R,
            ) -> PyResult<R> {
                if !self.live {
                    return Err(stale(py, $what));
                }
                let said = verb(&mut api::$seam::new(self.now, &mut self.state, &mut self.actions));
                let refused = self.actions.pop_if(|a| matches!(a, api::network::$action::Fail(_)));
                let Some(api::network::$action::Fail(why)) = refused else { return Ok(said) };
                let (reason, remedy) = why.split_once(": ").unwrap_or((&why, "see the verb's text"));
                Err(raise(py, "SchemeError", reason, remedy, ""))
            }

            /// Takes the network's data for a call.
            pub(crate) fn begin(&mut self, ctl: &mut api::$seam<'_>) {
                self.now = ctl.now();
                ctl.exchange(&mut self.state, &mut self.actions);
                self.live = true;
            }

            /// Returns the network's data after a call.
            pub(crate) fn end(&mut self, ctl: &mut api::$seam<'_>) {
                ctl.exchange(&mut self.state, &mut self.actions);
                self.live = false;
            }
        }

        #[pymethods]
        impl $name {
            /// Simulated time, seconds.
            #[getter]
            fn now(&self) -> f64 {
                self.now.as_secs_f64()
            }
            /// Simulated time, whole picoseconds.
            #[getter]
            fn now_ps(&self) -> u64 {
                self.now.as_ps()
            }
            /// Uniform draw in [0, 1) from this place's own stream.
            fn uniform(&mut self, py: Python<'_>) -> PyResult<f64> {
                self.tell(py, |s| s.uniform())
            }
            /// Start or restart one of four timers; `on_timer` is called after `after` seconds.
            fn start_timer(&mut self, py: Python<'_>, number: i64, after: f64) -> PyResult<()> {
                let (slot, after) = (Slot::take(py, "", number)?, time(py, "start_timer", after)?);
                self.tell(py, |s| s.start_timer(slot, after))
            }
            /// Stop a timer.
            fn stop_timer(&mut self, py: Python<'_>, number: i64) -> PyResult<()> {
                let slot = Slot::take(py, "", number)?;
                self.tell(py, |s| s.stop_timer(slot))
            }
            /// Set a gauge that the scheme declares: a series if this port or flow is recorded.
            fn gauge(&mut self, py: Python<'_>, name: String, value: f64) -> PyResult<()> {
                self.tell(py, |s| s.gauge(name, value))
            }
            /// Add one to a counter that the scheme declares.
            fn count(&mut self, py: Python<'_>, counter: String) -> PyResult<()> {
                self.tell(py, |s| s.count(counter))
            }
            $($(#[$ometa])*
            #[getter]
            fn $of(&self) -> $otype {
                let $view = &self.view;
                $ovalue
            })*
            $($(#[$gmeta])*
            #[getter]
            fn $get(&mut self, py: Python<'_>) -> PyResult<$gtype> {
                self.tell(py, |$ctl| $gvalue)
            })*
            $($(#[$vmeta])*
            fn $verb(&mut self, py: Python<'_>, $($arg: <$type as Given>::From),*) -> PyResult<()> {
                $(let $arg = <$type as Given>::take(py, stringify!($verb), $arg)?;)*
                self.tell(py, |s| s.$verb($($arg),*))
            })*
            $($own)*
        }
    };
}

handle! {
    /// An output queue of a switch, as its congestion point controls it.
    Queue, "queue", PointControl, PointState, PointAction, { pub(crate) view: api::Queue, }

    of {
        /// Bytes queued now, including the frame in transmission and the arriving frame.
        len: u64 = |q| q.len.get();
        /// Nominal rate of the link, bit/s.
        line_rate: f64 = |q| q.line_rate.bps();
        /// Present rate at which data is served, bit/s.
        service_rate: f64 = |q| q.service_rate.bps();
        /// Bytes that have arrived for this port since the start.
        arrived: u64 = |q| q.arrived;
        /// Bytes that have been sent through this port since the start.
        sent: u64 = |q| q.sent;
        /// Time since the present XOFF of the port began, seconds; none while its data may leave.
        paused: Option<f64> = |q| q.paused.map(Time::as_secs_f64);
        /// Total time of the port in XOFF since the start, seconds; a present XOFF counts.
        paused_in_all: f64 = |q| q.paused_in_all.as_secs_f64();
    }
    get {
        /// Bytes that arrived since the call of `sample_after`, the present frame included.
        bytes_since_armed: u64 = |s| s.bytes_since_armed().get();
    }
    verbs {
        /// Call `on_sample` at the frame with which `number` bytes have arrived from now on.
        sample_after(number: Bytes);
        /// Call `on_sample` at each frame with probability `p`.
        sample_with(p: f64);
        /// Call `on_sample` at frames that carry a tag.
        sample_tagged();
        /// Stop the calls of `on_sample`; timers go on.
        sample_never();
        /// Choose whether frames that are being dropped are counted and sampled; the default is on.
        sample_dropped(on: bool);
        /// Have the network write a record for each data frame that leaves: `ack.path`. The plan must have `acks="telemetry"`.
        record_departures();
        /// Send a message to the source of a flow.
        notify(flow: FlowId, feedback: api::Feedback);
        /// Send a message to every host; it counts as one.
        broadcast(feedback: api::Feedback);
        /// In `on_probe`: end the probe here and send it back.
        answer();
    }
    /// Mark frames from now on: with probability 0 up to a queue of `low` bytes, rising to `p_max` at `high`, `p_beyond`
    /// above. The congestion point is not called for it.
    #[pyo3(signature = (low, high, p_max=1.0, p_beyond=1.0, *, at_departure=false))]
    fn mark(
        &mut self,
        py: Python<'_>,
        low: f64,
        high: f64,
        p_max: f64,
        p_beyond: f64,
        at_departure: bool,
    ) -> PyResult<()> {
        let at = if at_departure { api::RampAt::Departure } else { api::RampAt::Arrival };
        let ramp =
            api::Ramp { low: bytes(py, "mark", low)?, high: bytes(py, "mark", high)?, p_max, p_beyond, at };
        self.tell(py, |s| s.mark(ramp))
    }
}

impl Queue {
    /// A handle without data.
    pub(crate) fn new() -> Self {
        let (state, actions) = (api::network::PointState::new(nobody(), 0), Vec::new());
        Self { now: Time::ZERO, live: false, state, actions, view: api::Queue::default() }
    }
}

handle! {
    /// The rate limiter of a flow or of a host.
    Limiter, "limiter", Limiter, LimiterState, LimiterAction, {  }

    of {}
    get {
        /// Current rate, bit/s. A rate above `line_rate` is an error.
        rate: f64 = |s| s.rate().bps();
        /// Rate of the access link, bit/s.
        line_rate: f64 = |s| s.line_rate().bps();
        /// Are frames queued and paced here?
        engaged: bool = |s| s.is_engaged();
        /// Data bytes of the flow sent so far.
        sent: u64 = |s| s.sent();
        /// Most bytes in flight; none without a window. No frame begins while as many bytes or more are in flight.
        window: Option<u64> = |s| Some(s.window()).filter(|w| *w != Bytes::MAX).map(Bytes::get);
        /// Bytes of the flow on their way: sent and not acknowledged, less those reported as come, or lost.
        in_flight: u64 = |s| s.in_flight().get();
        /// Bytes of the flow sent and not acknowledged, reported and lost ones too.
        outstanding: u64 = |s| s.outstanding().get();
        /// Bytes of the flow that came out of order, as the destination reports.
        reported: u64 = |s| s.reported().get();
        /// Number of the flow's next byte to be sent: what is sent again counts once.
        next_seq: u64 = |s| s.next_seq().get();
        /// All bytes of the flow below this are acknowledged.
        acked: u64 = |s| s.acked().get();
    }
    verbs {
        /// Queue and pace the flow's frames here from now on.
        engage();
        /// Release the limiter as soon as its queue is empty.
        release_when_empty();
        /// Schedule the next frame anew, from the present rate.
        retime();
        /// Call `on_bytes` when `number` further bytes have been sent.
        wake_after(number: Bytes);
        /// Cancel `wake_after`.
        wake_never();
        /// Have the next frame acknowledged: `on_ack` receives it. The plan must have `echo=True`.
        echo_next();
        /// Call `on_ack` at these acknowledgements of the network from now on; at first at none.
        wake_on_acks(gate: api::AckGate);
        /// Send a probe along the flow.
        send_probe(probe: api::Probe);
    }
    #[setter]
    fn set_rate(&mut self, py: Python<'_>, bps: f64) -> PyResult<()> {
        let bps = rate(py, "limiter.rate = ", bps)?;
        self.tell(py, |s| s.set_rate(bps))
    }
    #[setter]
    fn set_window(&mut self, py: Python<'_>, number: Option<f64>) -> PyResult<()> {
        let number = number.map_or(Ok(Bytes::MAX), |number| bytes(py, "limiter.window = ", number))?;
        self.tell(py, |s| s.set_window(number))
    }
    /// Put a tag of 32 bits into the flow's frames from now on, each with probability `p`; `None` puts none.
    #[pyo3(signature = (bits, p=1.0))]
    fn tag_frames(&mut self, py: Python<'_>, bits: Option<u32>, p: f64) -> PyResult<()> {
        self.tell(py, |s| s.tag_frames_with(bits.map_or(Tag::None, Tag::User), p))
    }
}

impl Limiter {
    /// A handle without data.
    pub(crate) fn new() -> Self {
        let state = api::network::LimiterState::new(api::Rate::ZERO, nobody());
        Self { now: Time::ZERO, live: false, state, actions: Vec::new() }
    }
}

handle! {
    /// The receiving end of a flow or of a host, as its reflector controls it.
    Sink, "sink", ReflectorControl, ReflectorState, ReflectorAction, {  }

    of {}
    get {
        /// Data bytes received since the reflector was built; the plan must have `received=True`.
        received: u64 = |s| s.received();
    }
    verbs {
        /// Send a message to the source of the present frame or probe; in `on_timer` to the source of the reflector's flow.
        reply(feedback: api::Feedback);
        /// Ignore data frames for this many seconds.
        ignore_for(seconds: Time);
    }
    /// Choose the data frames that call `on_frame` from the next one on: `marked`, `unmarked` (each with probability `p`),
    /// `tagged`, `always` or `never`. The plan must let some frames wake the reflector.
    #[pyo3(signature = (frames, p=1.0))]
    fn hear(&mut self, py: Python<'_>, frames: &str, p: f64) -> PyResult<()> {
        let gate = gate(py, frames, p)?;
        self.tell(py, |s| s.hear(gate))
    }
}

impl Sink {
    /// A handle without data.
    pub(crate) fn new() -> Self {
        let (state, actions) =
            (api::network::ReflectorState::new(nobody(), &api::Plan::default()), Vec::new());
        Self { now: Time::ZERO, live: false, state, actions }
    }
}
