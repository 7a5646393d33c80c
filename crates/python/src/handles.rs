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

/// A timer's number; the seam checks it.
fn slot(py: Python<'_>, number: i64) -> PyResult<Slot> {
    let remedy = format!("slots are 0 to {}", SLOTS - 1);
    let none = |_| raise(py, "SchemeError", &format!("there is no timer {number}"), &remedy, "");
    u8::try_from(number).map(Slot).map_err(none)
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

/// A handle, with the verbs of all handles and its own.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident, $what:literal, $seam:ident, $state:ident, $action:ident, { $($field:tt)* } $($own:tt)*) => {
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
                let (slot, after) = (slot(py, number)?, time(py, "start_timer", after)?);
                self.tell(py, |s| s.start_timer(slot, after))
            }
            /// Stop a timer.
            fn stop_timer(&mut self, py: Python<'_>, number: i64) -> PyResult<()> {
                let slot = slot(py, number)?;
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
            $($own)*
        }
    };
}

handle! {
    /// An output queue of a switch, as its congestion point controls it.
    Queue, "queue", PointControl, PointState, PointAction, { pub(crate) view: api::Queue, }

    /// Bytes queued now, including the frame in transmission and the arriving frame.
    #[getter]
    fn len(&self) -> u64 {
        self.view.len.get()
    }
    /// Nominal rate of the link, bit/s.
    #[getter]
    fn line_rate(&self) -> f64 {
        self.view.line_rate.bps()
    }
    /// Present rate at which data is served, bit/s.
    #[getter]
    fn service_rate(&self) -> f64 {
        self.view.service_rate.bps()
    }
    /// Bytes that have arrived for this port since the start.
    #[getter]
    fn arrived(&self) -> u64 {
        self.view.arrived
    }
    /// Bytes that have been sent through this port since the start.
    #[getter]
    fn sent(&self) -> u64 {
        self.view.sent
    }
    /// Time since the present XOFF of the port began, seconds; none while its data may leave.
    #[getter]
    fn paused(&self) -> Option<f64> {
        self.view.paused.map(Time::as_secs_f64)
    }
    /// Total time of the port in XOFF since the start, seconds; a present XOFF counts.
    #[getter]
    fn paused_in_all(&self) -> f64 {
        self.view.paused_in_all.as_secs_f64()
    }
    /// Bytes that arrived since the call of `sample_after`, the present frame included.
    #[getter]
    fn bytes_since_armed(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.bytes_since_armed().get())
    }
    /// Call `on_sample` at the frame with which `number` bytes have arrived from now on.
    fn sample_after(&mut self, py: Python<'_>, number: f64) -> PyResult<()> {
        let number = bytes(py, "sample_after", number)?;
        self.tell(py, |s| s.sample_after(number))
    }
    /// Call `on_sample` at each frame with probability `p`.
    fn sample_with(&mut self, py: Python<'_>, p: f64) -> PyResult<()> {
        self.tell(py, |s| s.sample_with(p))
    }
    /// Call `on_sample` at frames that carry a tag.
    fn sample_tagged(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.sample_tagged())
    }
    /// Stop the calls of `on_sample`; timers go on.
    fn sample_never(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.sample_never())
    }
    /// Choose whether frames that are being dropped are counted and sampled; the default is on.
    fn sample_dropped(&mut self, py: Python<'_>, on: bool) -> PyResult<()> {
        self.tell(py, |s| s.sample_dropped(on))
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
    /// Have the network write a record for each data frame that leaves: `ack.path`. The plan must have `acks="telemetry"`.
    fn record_departures(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.record_departures())
    }
    /// Send a message to the source of a flow.
    fn notify(&mut self, py: Python<'_>, flow: u32, feedback: Bound<'_, Feedback>) -> PyResult<()> {
        let message = feedback.get().message(py)?;
        self.tell(py, |s| s.notify(FlowId(flow), message))
    }
    /// Send a message to every host; it counts as one.
    fn broadcast(&mut self, py: Python<'_>, feedback: Bound<'_, Feedback>) -> PyResult<()> {
        let message = feedback.get().message(py)?;
        self.tell(py, |s| s.broadcast(message))
    }
    /// In `on_probe`: end the probe here and send it back.
    fn answer(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.answer())
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

    /// Current rate, bit/s. A rate above `line_rate` is an error.
    #[getter]
    fn rate(&mut self, py: Python<'_>) -> PyResult<f64> {
        self.tell(py, |s| s.rate().bps())
    }
    #[setter]
    fn set_rate(&mut self, py: Python<'_>, bps: f64) -> PyResult<()> {
        let bps = rate(py, "limiter.rate = ", bps)?;
        self.tell(py, |s| s.set_rate(bps))
    }
    /// Rate of the access link, bit/s.
    #[getter]
    fn line_rate(&mut self, py: Python<'_>) -> PyResult<f64> {
        self.tell(py, |s| s.line_rate().bps())
    }
    /// Are frames queued and paced here?
    #[getter]
    fn engaged(&mut self, py: Python<'_>) -> PyResult<bool> {
        self.tell(py, |s| s.is_engaged())
    }
    /// Data bytes of the flow sent so far.
    #[getter]
    fn sent(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.sent())
    }
    /// Queue and pace the flow's frames here from now on.
    fn engage(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.engage())
    }
    /// Release the limiter as soon as its queue is empty.
    fn release_when_empty(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.release_when_empty())
    }
    /// Schedule the next frame anew, from the present rate.
    fn retime(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.retime())
    }
    /// Call `on_bytes` when `number` further bytes have been sent.
    fn wake_after(&mut self, py: Python<'_>, number: f64) -> PyResult<()> {
        let number = bytes(py, "wake_after", number)?;
        self.tell(py, |s| s.wake_after(number))
    }
    /// Cancel `wake_after`.
    fn wake_never(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.wake_never())
    }
    /// Put a tag of 32 bits into the flow's frames from now on, each with probability `p`; `None` puts none.
    #[pyo3(signature = (bits, p=1.0))]
    fn tag_frames(&mut self, py: Python<'_>, bits: Option<u32>, p: f64) -> PyResult<()> {
        self.tell(py, |s| s.tag_frames_with(bits.map_or(Tag::None, Tag::User), p))
    }
    /// Have the next frame acknowledged: `on_ack` receives it. The plan must have `echo=True`.
    fn echo_next(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |s| s.echo_next())
    }
    /// Call `on_ack` at these acknowledgements of the network from now on; at first at none.
    fn wake_on_acks(&mut self, py: Python<'_>, gate: Bound<'_, AckGate>) -> PyResult<()> {
        let gate = gate.get().gate();
        self.tell(py, |s| s.wake_on_acks(gate))
    }
    /// Most bytes in flight; none without a window. No frame begins while as many bytes or more are in flight.
    #[getter]
    fn window(&mut self, py: Python<'_>) -> PyResult<Option<u64>> {
        let window = self.tell(py, |s| s.window())?;
        Ok((window != Bytes::MAX).then_some(window.get()))
    }
    #[setter]
    fn set_window(&mut self, py: Python<'_>, number: Option<f64>) -> PyResult<()> {
        let number = number.map_or(Ok(Bytes::MAX), |number| bytes(py, "limiter.window = ", number))?;
        self.tell(py, |s| s.set_window(number))
    }
    /// Bytes of the flow on their way: sent and not acknowledged, less those reported as come, or lost.
    #[getter]
    fn in_flight(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.in_flight().get())
    }
    /// Bytes of the flow sent and not acknowledged, reported and lost ones too.
    #[getter]
    fn outstanding(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.outstanding().get())
    }
    /// Bytes of the flow that came out of order, as the destination reports.
    #[getter]
    fn reported(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.reported().get())
    }
    /// Number of the flow's next byte to be sent: what is sent again counts once.
    #[getter]
    fn next_seq(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.next_seq().get())
    }
    /// All bytes of the flow below this are acknowledged.
    #[getter]
    fn acked(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.acked().get())
    }
    /// Send a probe along the flow.
    fn send_probe(&mut self, py: Python<'_>, probe: Bound<'_, Probe>) -> PyResult<()> {
        let probe = probe.borrow().0;
        self.tell(py, |s| s.send_probe(probe))
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

    /// Data bytes received since the reflector was built; the plan must have `received=True`.
    #[getter]
    fn received(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.tell(py, |s| s.received())
    }
    /// Send a message to the source of the present frame or probe; in `on_timer` to the source of the reflector's flow.
    fn reply(&mut self, py: Python<'_>, feedback: Bound<'_, Feedback>) -> PyResult<()> {
        let message = feedback.get().message(py)?;
        self.tell(py, |s| s.reply(message))
    }
    /// Ignore data frames for this many seconds.
    fn ignore_for(&mut self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let seconds = time(py, "ignore_for", seconds)?;
        self.tell(py, |s| s.ignore_for(seconds))
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
