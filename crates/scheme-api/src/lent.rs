//! How the network makes a handle, and what a scheme cannot do with it.

use cnsim_units::Time;

/// A handle, as who lends it sees it.
pub trait Lent<'a> {
    /// What stands behind it in the network.
    type State;
    /// What its verbs ask of the network.
    type Action;
    /// The handle for one call at this time; what it is asked for joins `actions`.
    fn new(now: Time, state: &'a mut Self::State, actions: &'a mut Vec<Self::Action>) -> Self;
    /// Exchanges what stands behind the handle for what the caller holds. A bridge to another language, whose objects cannot
    /// borrow, keeps it in such an object for the time of a call, and exchanges it back.
    fn exchange(&mut self, state: &mut Self::State, actions: &mut Vec<Self::Action>);
    /// Stops the run after this call, with time, site and cause. A bridge reports so what was raised in the other language; a
    /// scheme in Rust panics.
    fn fail(&mut self, cause: impl Into<String>);
}
