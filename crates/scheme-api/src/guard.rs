//! Calls into a scheme's code, and the objects that panicked or could not be made.

use crate::lent::Lent;
use crate::{
    CongestionPoint, Feedback, Limiter, PointControl, Queue, ReactionPoint, Reflector, ReflectorControl,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls into a scheme's code. Where that panics, data that it was lent may be half written: the caller drops them.
///
/// # Errors
/// The words of the panic.
#[inline]
pub fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|cause| words(cause.as_ref()))
}

/// The words of a panic.
#[cold]
pub(crate) fn words(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("it panics: {text}")
}

/// In place of an object that panicked or could not be made: it stops the run with its cause as soon as it may.
#[derive(Clone, Debug)]
pub struct Failing(pub String);

impl CongestionPoint for Failing {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.fail(self.0.clone());
    }
}

impl ReactionPoint for Failing {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.fail(self.0.clone());
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
}

impl Reflector for Failing {
    fn start(&mut self, ctl: &mut ReflectorControl<'_>) {
        ctl.fail(self.0.clone());
    }
}
