//! Counters of a scheme: names, words and numbers.

use std::borrow::Cow;
use std::sync::Arc;

/// A counter of a scheme: a constant beside the scheme, which [`crate::Scheme::counters`] returns and `count` of a handle raises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name in the results: snake case.
    pub name: Cow<'static, str>,
    /// The counted event, in words.
    pub meaning: Cow<'static, str>,
}

impl Counter {
    /// A counter of this name and meaning.
    pub const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), meaning: Cow::Borrowed(meaning) }
    }
}

/// A value of a scheme's own, such as a fair rate or a state. [`crate::Scheme::gauges`] declares it, and `gauge` of a handle sets it.
/// It is a series of the results where its place is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Name in the results: snake case.
    pub name: Cow<'static, str>,
    /// Unit of the values; empty for a plain number.
    pub unit: Cow<'static, str>,
}

impl Gauge {
    /// A gauge of this name and unit.
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), unit: Cow::Borrowed(unit) }
    }
}

impl From<Gauge> for Cow<'static, str> {
    fn from(gauge: Gauge) -> Self {
        gauge.name
    }
}

impl From<Counter> for Cow<'static, str> {
    fn from(counter: Counter) -> Self {
        counter.name
    }
}

/// The numbers counted at one node of the network, by the order of [`crate::Scheme::counters`].
#[derive(Clone, Debug, Default)]
pub struct Counts {
    names: Arc<[Counter]>,
    numbers: Vec<u64>,
}

impl Counts {
    /// Counts of these counters, all at zero.
    pub fn new(counters: Vec<Counter>) -> Self {
        Self { numbers: vec![0; counters.len()], names: counters.into() }
    }
    /// Adds one to the counter of this name.
    ///
    /// # Errors
    /// The scheme has no such counter: the cause to stop the run with.
    #[inline]
    pub fn add(&mut self, name: &str) -> Result<(), String> {
        let at = self.names.iter().position(|c| c.name == name);
        match at.and_then(|at| self.numbers.get_mut(at)) {
            Some(number) => *number += 1,
            None => return Err(format!("there is no counter `{name}` among `Scheme::counters`")),
        }
        Ok(())
    }
    /// Adds what others have counted.
    pub fn merge(&mut self, others: &Self) {
        self.numbers.iter_mut().zip(&others.numbers).for_each(|(sum, n)| *sum += n);
    }
    /// All numbers counted so far, in the order of [`crate::Scheme::counters`].
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }
    /// The number of the counter of this name; none where the scheme has no such counter.
    pub fn of(&self, name: &str) -> Option<u64> {
        let at = self.names.iter().position(|c| c.name == name)?;
        self.numbers.get(at).copied()
    }
}
