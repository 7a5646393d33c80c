//! Handles as the network sees them: how it makes one, and the verbs that a scheme lacks.

use cnsim_units::Time;

/// A handle, from the side that lends it.
pub trait Lent<'a> {
    /// Data behind the handle, kept by the network.
    type State;
    /// A request of its verbs to the network.
    type Action;
    /// The handle for one call at this time. The requests of the call join `actions`.
    fn new(now: Time, state: &'a mut Self::State, actions: &'a mut Vec<Self::Action>) -> Self;
    /// Exchanges the data behind the handle for the caller's. Objects of another language cannot borrow: a bridge keeps the data
    /// in such an object for the time of a call, and exchanges them back.
    fn exchange(&mut self, state: &mut Self::State, actions: &mut Vec<Self::Action>);
    /// Stops the run after this call, with time, site and cause. A bridge reports the other language's exceptions so. A scheme in
    /// Rust panics.
    fn fail(&mut self, cause: impl Into<String>);
}
