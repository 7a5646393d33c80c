//! A scheme in Python behind the seam. Its rooms are Python objects; the network calls them through their bound methods, with
//! handles that hold its own data for the time of a call ([`crate::handles`]). What a method raises stops the run: the seam
//! adds time and site, and the exception is kept for whoever started the run.

use crate::errors::raise;
use crate::handles::{Limiter, Queue, Sink};
use crate::wire::{Ack, Feedback, Frame, Probe};
use cnsim_scheme_api as api;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{Counter, FlowId, FrameView, Gauge, Plan, Scheme, Slot};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};

thread_local! {
    /// The exception that `engages` raised on this thread: the reaction point that is then asked for tells it.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Exceptions that schemes raised in runs, by the thread of the run; and whether runs are to stop.
#[derive(Default)]
pub(crate) struct Trouble {
    raised: Mutex<Vec<(ThreadId, PyErr)>>,
    stop: AtomicBool,
}

impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trouble")
    }
}

impl Trouble {
    /// Locks the list. Its holder must not call Python: a wait for the interpreter would block the thread that has it.
    fn all(&self) -> MutexGuard<'_, Vec<(ThreadId, PyErr)>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the first exception away, and forgets the others.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let all = std::mem::take(&mut *self.all());
        all.into_iter().next().map(|one| one.1)
    }

    /// Takes the exception of a run on this thread away.
    pub(crate) fn take_mine(&self) -> Option<PyErr> {
        let (me, mut all) = (current().id(), self.all());
        let at = all.iter().position(|one| one.0 == me)?;
        Some(all.remove(at).1)
    }

    /// No call is begun any more, or they are again.
    pub(crate) fn stop(&self, stop: bool) {
        self.stop.store(stop, Ordering::Relaxed);
    }

    /// Keeps an exception, if it is the first on this thread, and says it in one line, with file and line.
    fn keep(&self, py: Python<'_>, site: &str, e: PyErr) -> String {
        let name = e.get_type(py).name().map_or_else(|_| "an exception".into(), |n| n.to_string());
        let at = py.import("cnsim.errors").and_then(|m| m.getattr("raised_at")?.call1((e.traceback(py),)));
        let at: String = at.and_then(|at| at.extract()).unwrap_or_default();
        let text = format!("{site}{at} raises {name}: {}", e.value(py));
        let (me, mut all) = (current().id(), self.all());
        if !all.iter().any(|one| one.0 == me) {
            all.push((me, e));
        }
        text
    }
}

/// A scheme whose parameters and rooms are Python's.
#[derive(Debug)]
pub(crate) struct Bridged {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) counters: Vec<Counter>,
    pub(crate) gauges: Vec<Gauge>,
    /// The instance of the user's class, with its parameters set.
    pub(crate) object: Py<PyAny>,
    pub(crate) trouble: Arc<Trouble>,
}

/// An object of a scheme in one place: its methods, where it has them.
#[derive(Debug)]
struct Room {
    site: String,
    object: Py<PyAny>,
    trouble: Arc<Trouble>,
}

impl Room {
    /// A method that the user's class has of its own.
    fn method(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        let object = self.object.bind(py);
        let own = object.call_method1("_has", (name,)).and_then(|b| b.is_truthy()).unwrap_or(false);
        if own { object.getattr(name).ok().map(Bound::unbind) } else { None }
    }

    /// Calls a method; the text to stop the run with where it raises.
    fn call<'py>(
        &self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: impl pyo3::call::PyCallArgs<'py>,
    ) -> Result<(), String> {
        if self.trouble.stop.load(Ordering::Relaxed) {
            return Err("interrupted".into());
        }
        let py = method.py();
        let e = match method.call1(args) {
            Ok(nothing) if nothing.is_none() => return Ok(()),
            Ok(value) => {
                let at = py.import("cnsim._declared").and_then(|m| m.getattr("place")?.call1((method,)));
                let at: String = at.and_then(|at| at.extract()).unwrap_or_default();
                let why = format!("it returns {}, which nobody reads{at}", said(&value));
                raise(
                    py,
                    "SchemeError",
                    &why,
                    "call a method of the handle instead, and return nothing",
                    name,
                )
            }
            Err(e) => e,
        };
        Err(self.trouble.keep(py, &format!("{}.{name}", self.site), e))
    }
}

/// A value in a few words.
fn said(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "a value".into(), |r| r.to_string_lossy().chars().take(80).collect())
}

impl Bridged {
    /// Asks the scheme for an object of a room: none where it has no such room, and a text where asking raises.
    fn room<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        site: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    ) -> Result<Option<Room>, String> {
        let name = format!("{}.{kind}", self.name);
        let make = || {
            let site = site.into_pyobject(py).map_err(Into::into)?;
            self.object.bind(py).call_method1("_room", (kind, site))
        };
        match make() {
            Ok(object) if object.is_none() => Ok(None),
            Ok(object) => {
                Ok(Some(Room { site: name, object: object.unbind(), trouble: self.trouble.clone() }))
            }
            Err(e) => Err(self.trouble.keep(py, &name, e)),
        }
    }
}

impl Scheme for Bridged {
    fn name(&self) -> &str {
        &self.name
    }
    fn plan(&self) -> Plan {
        self.plan
    }
    fn congestion_point(&self, s: &api::QueueSite) -> Option<Box<dyn api::CongestionPoint>> {
        Python::attach(|py| {
            let site = (s.point.0, s.rate.bps(), s.attached);
            Point::boxed(py, self.room(py, "CongestionPoint", site))
        })
    }
    fn reaction_point(&self, s: &api::SourceSite) -> Option<Box<dyn api::ReactionPoint>> {
        Python::attach(|py| {
            let (rate, rtt) = (s.line_rate.bps(), s.base_rtt.as_secs_f64());
            let (size, initial) = (s.size.map(api::Bytes::get), s.initial_rate.map(api::Rate::bps));
            let class = match s.class {
                api::Class::Control => "control",
                api::Class::Data => "data",
            };
            let ends = (s.flow.0, s.src.0, s.dst.0);
            let site =
                (ends.0, ends.1, ends.2, rate, rtt, s.mtu.get(), s.hops, size, initial, class, s.others);
            let refused = REFUSED.take();
            Reaction::boxed(py, refused.map_or_else(|| self.room(py, "ReactionPoint", site), Err))
        })
    }
    fn reflector(&self, s: &api::SinkSite) -> Option<Box<dyn api::Reflector>> {
        Python::attach(|py| {
            let site = (s.flow.0, s.src.0, s.dst.0, s.line_rate.bps());
            let room = self.room(py, "Reflector", site);
            // A scheme that is driven by delay leaves the answers to the network's own reflector.
            let echo = |room: &Room| room.object.bind(py).is_instance_of::<pyo3::types::PyString>();
            if matches!(&room, Ok(Some(room)) if echo(room)) {
                return Some(Box::new(api::Acknowledger) as _);
            }
            Reflection::boxed(py, room)
        })
    }
    fn engages(&self, feedback: &api::Feedback) -> bool {
        Python::attach(|py| {
            let site = format!("{}.engages", self.name);
            let asked = Feedback::of(feedback)
                .into_pyobject(py)
                .and_then(|f| self.object.bind(py).call_method1("engages", (f,)))
                .and_then(|answer| {
                    answer.extract::<bool>().map_err(|_| {
                        let why = format!("it returns {}", said(&answer));
                        raise(py, "SchemeError", &why, "return True or False", "engages")
                    })
                });
            // The reaction point that is then asked for tells the exception of `engages`.
            asked.unwrap_or_else(|e| {
                REFUSED.set(Some(self.trouble.keep(py, &site, e)));
                true
            })
        })
    }
    fn counters(&self) -> Vec<Counter> {
        self.counters.clone()
    }
    fn gauges(&self) -> Vec<Gauge> {
        self.gauges.clone()
    }
}

/// An object of a scheme behind the seam: its room, its handle, and the methods that the user's class has.
/// `NAME(ARGUMENTS) => |py| [VALUES]` has a method of the seam call that of the class, with these values before the handle.
macro_rules! bridged {
    ($(#[$about:meta])* $name:ident, $seam:ident, $handle:ident, $ctl:ident, {
        $($method:ident($($arg:ident: $type:ty),*) => |$py:ident| [$($value:expr),*];)*
    }) => {
        bridged! { $(#[$about])* $name, $seam, $handle, $ctl, $($method),* }

        impl api::$seam for $name {
            $(fn $method(&mut self, $($arg: $type,)* ctl: &mut api::$ctl<'_>) {
                self.lend(&self.$method, ctl, |method, handle| {
                    let $py = method.py();
                    self.room.call(method, stringify!($method), ($($value,)* handle,))
                });
            })*
        }
    };
    ($(#[$about:meta])* $name:ident, $seam:ident, $handle:ident, $ctl:ident, $($method:ident),*) => {
        $(#[$about])*
        #[derive(Debug)]
        struct $name {
            room: Room,
            handle: Py<$handle>,
            $($method: Option<Py<PyAny>>,)*
        }

        impl $name {
            /// The object for a room that the scheme gave, if it gave one; one that stops the run where asking raised.
            fn boxed(py: Python<'_>, room: Result<Option<Room>, String>) -> Option<Box<dyn api::$seam>> {
                let made = room.and_then(|room| {
                    let Some(room) = room else { return Ok(None) };
                    let handle =
                        Py::new(py, $handle::new()).map_err(|e| room.trouble.keep(py, &room.site, e))?;
                    Ok(Some(Self { handle, $($method: room.method(py, stringify!($method)),)* room }))
                });
                match made {
                    Ok(made) => made.map(|made| Box::new(made) as _),
                    Err(why) => Some(Box::new(api::network::Failing(why))),
                }
            }

            /// Lends the network's data to the handle, calls a method if there is one, and takes the data back.
            fn lend(
                &self,
                method: &Option<Py<PyAny>>,
                ctl: &mut api::$ctl<'_>,
                call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, $handle>) -> Result<(), String>,
            ) {
                let Some(method) = method else { return };
                Python::attach(|py| {
                    let handle = self.handle.bind(py);
                    handle.borrow_mut().begin(ctl);
                    let said = call(method.bind(py), handle);
                    handle.borrow_mut().end(ctl);
                    if let Err(why) = said {
                        ctl.fail(why);
                    }
                });
            }
        }
    };
}

bridged! {
    /// A congestion point.
    Point, CongestionPoint, Queue, PointControl, start, on_sample, on_departure, on_probe, on_timer
}

impl Point {
    /// Calls a method with a data frame in hand, which it may mark and tag anew.
    fn with_frame(
        &self,
        method: &Option<Py<PyAny>>,
        name: &str,
        frame: &mut FrameView,
        queue: &api::Queue,
        ctl: &mut api::PointControl<'_>,
    ) {
        self.lend(method, ctl, |m, q| {
            q.borrow_mut().view = *queue;
            let seen = Bound::new(m.py(), Frame::of(frame)).map_err(|e| e.to_string())?;
            self.room.call(m, name, (&seen, q))?;
            (frame.tag, frame.marked) = (seen.borrow().tag, seen.borrow().marked);
            Ok(())
        });
    }
}

impl api::CongestionPoint for Point {
    fn start(&mut self, queue: &api::Queue, ctl: &mut api::PointControl<'_>) {
        if self.on_probe.is_some() {
            ctl.wake_at_probes();
        }
        self.lend(&self.start, ctl, |m, q| {
            q.borrow_mut().view = *queue;
            self.room.call(m, "start", (q,))
        });
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &api::Queue, ctl: &mut api::PointControl<'_>) {
        self.with_frame(&self.on_sample, "on_sample", frame, queue, ctl);
    }
    fn on_departure(&mut self, frame: &mut FrameView, queue: &api::Queue, ctl: &mut api::PointControl<'_>) {
        self.with_frame(&self.on_departure, "on_departure", frame, queue, ctl);
    }
    fn on_probe(
        &mut self,
        probe: &mut api::Probe,
        flow: FlowId,
        queue: &api::Queue,
        ctl: &mut api::PointControl<'_>,
    ) {
        self.lend(&self.on_probe, ctl, |m, q| {
            q.borrow_mut().view = *queue;
            let seen = Bound::new(m.py(), Probe(*probe)).map_err(|e| e.to_string())?;
            self.room.call(m, "on_probe", (&seen, flow.0, q))?;
            *probe = seen.borrow().0;
            Ok(())
        });
    }
    fn on_timer(&mut self, slot: Slot, queue: &api::Queue, ctl: &mut api::PointControl<'_>) {
        self.lend(&self.on_timer, ctl, |m, q| {
            q.borrow_mut().view = *queue;
            self.room.call(m, "on_timer", (slot.0, q))
        });
    }
}

bridged! {
    /// A reaction point.
    Reaction, ReactionPoint, Limiter, Limiter, {
        start() => |_py| [];
        on_feedback(feedback: &api::Feedback) => |_py| [Feedback::of(feedback)];
        on_ack(ack: &api::Ack<'_>) => |py| [Ack::of(py, ack).map_err(|e| e.to_string())?];
        on_loss(loss: api::Loss) => |py| [lost(py, loss).map_err(|e| e.to_string())?];
        on_recovered() => |_py| [];
        on_restart(idle: api::Time, timeout: api::Time) => |_py| [idle.as_secs_f64(), timeout.as_secs_f64()];
        on_bytes() => |_py| [];
        on_timer(slot: Slot) => |_py| [slot.0];
    }
}

/// The loss as a member of the package's enumeration.
fn lost(py: Python<'_>, loss: api::Loss) -> PyResult<Bound<'_, PyAny>> {
    let name = match loss {
        api::Loss::Nack => "Nack",
        api::Loss::Timeout => "Timeout",
    };
    py.import("cnsim.rooms")?.getattr("Loss")?.getattr(name)
}

bridged! {
    /// A reflector.
    Reflection, Reflector, Sink, ReflectorControl, {
        start() => |_py| [];
        on_frame(frame: &FrameView) => |_py| [Frame::of(frame)];
        on_probe(probe: &api::Probe, flow: FlowId) => |_py| [Probe(*probe), flow.0];
        on_timer(slot: Slot) => |_py| [slot.0];
    }
}
