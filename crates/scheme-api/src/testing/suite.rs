//! The conformance suite over a registered scheme: at its settings, in threads of its own, each check in a limited time.

use super::conformance::{GAP, LINE, congested};
use super::{CHECKS, Faults, Loopback, PointRig, Promise, ReflectorRig, Violation};
use crate::guard::{guarded, words};
use crate::network::{Purpose, Stream};
use crate::{Plan, Rate, ReflectGate, Registration, Scheme, Time};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SendError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Most time that a check may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How often a bridge is asked whether the suite goes on.
const TICK: Duration = Duration::from_millis(100);

/// Stack of a thread that calls a scheme, bytes: twice that of a program's first thread.
const STACK: usize = 16 << 20;

/// A bridge to another language, in whose interpreter the scheme runs.
pub trait Bridge: Debug + Send + Sync {
    /// Does `work`, which calls the scheme, in the present thread: one of the suite's own.
    fn within(&self, work: Box<dyn FnOnce() + Send + '_>);
    /// Does the suite go on? It asks in the caller's thread, ten times a second, and ends for good where it does not.
    fn goes_on(&self) -> bool;
}

/// Schemes in Rust need no bridge.
#[derive(Debug)]
struct NoBridge;

impl Bridge for NoBridge {
    fn within(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }
    fn goes_on(&self) -> bool {
        true
    }
}

/// A check that was made at a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The parameter at an end of its range, and its value; none at the settings that were asked for.
    pub setting: Option<(String, String)>,
    /// Name of the check.
    pub check: &'static str,
    /// The promise that it looks at.
    pub promise: &'static str,
    /// The events that broke it; none where the promise is kept.
    pub broken: Option<String>,
}

/// A report of a thread of the suite.
enum Said {
    /// A check begins: its name and promise.
    Begins(&'static str, &'static str),
    /// The promise is broken, so.
    Broken(String),
}

/// A thread's way to report. Its reports fail once the time of its check is up: it ends then.
struct Reporter {
    bridge: Arc<dyn Bridge>,
    say: Sender<Said>,
}

type Reported = Result<(), SendError<Said>>;

impl Reporter {
    fn check(
        &self,
        name: &'static str,
        promise: &'static str,
        run: impl FnOnce() -> Result<(), String>,
    ) -> Reported {
        self.say.send(Said::Begins(name, promise))?;
        guarded(run).flatten().or_else(|what| self.say.send(Said::Broken(what)))
    }
}

/// The conformance suite for registered schemes.
#[derive(Clone, Debug)]
pub struct Suite {
    bridge: Arc<dyn Bridge>,
    limit: Duration,
}

impl Default for Suite {
    fn default() -> Self {
        Self::with(Arc::new(NoBridge))
    }
}

impl Suite {
    /// The suite for schemes behind a bridge.
    pub fn with(bridge: Arc<dyn Bridge>) -> Self {
        Self { bridge, limit: LIMIT }
    }

    /// The suite with another limit of time for each check.
    #[cfg(test)]
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Looks at a scheme with these settings: all checks with its promise. A flow must act beside another one, and in another thread, as
    /// it does alone, and the plan must ask for each method that acts. With `ranges`, each parameter that `pairs` does not set is then
    /// set to both ends of its range, to each of its words, and off. There the checks are made that hold whatever a parameter does.
    ///
    /// A check that takes more than a minute breaks its promise and ends the suite. Where a method never returns, its thread is left
    /// behind. The requests of one call, the lists of a rig and the messages on their way are bounded, together by some 100 MB. The
    /// memory of an object itself is not.
    pub fn run(&self, scheme: &Registration, pairs: &[(String, String)], ranges: bool) -> Vec<Checked> {
        let mut all = Vec::new();
        let mut ends = if ranges { ends(scheme) } else { Vec::new() };
        ends.retain(|(key, _)| pairs.iter().all(|p| p.0 != *key));
        for setting in std::iter::once(None).chain(ends.into_iter().map(Some)) {
            if !self.look(scheme, pairs, setting, &mut all) {
                break;
            }
        }
        all
    }

    /// Looks at one setting in a thread of its own, adding to what was found; true if the suite goes on.
    fn look(
        &self,
        scheme: &Registration,
        pairs: &[(String, String)],
        setting: Option<(String, String)>,
        all: &mut Vec<Checked>,
    ) -> bool {
        let (say, heard) = channel();
        let (reporter, scheme) = (Reporter { bridge: self.bridge.clone(), say }, scheme.clone());
        let pairs: Vec<_> = pairs.iter().chain(&setting).cloned().collect();
        let usual = setting.is_none();
        let began = |check, promise| Checked { setting: setting.clone(), check, promise, broken: None };
        let mut now = began("settings", "the scheme can be built with every value that its parameters allow");
        let work = move || {
            let bridge = reporter.bridge.clone();
            // Whom nobody listens to any more has no more to do.
            bridge.within(Box::new(move || drop(look_at(&scheme, &pairs, usual, &reporter))));
        };
        let worker = match thread::Builder::new().stack_size(STACK).spawn(work) {
            Ok(worker) => worker,
            Err(e) => {
                all.push(Checked { broken: Some(format!("no thread can be started: {e}")), ..now });
                return false;
            }
        };
        let mut since = Instant::now();
        let goes_on = loop {
            if !self.bridge.goes_on() {
                break false;
            }
            match heard.recv_timeout(TICK.min(self.limit.saturating_sub(since.elapsed()))) {
                Ok(Said::Begins(check, promise)) => {
                    all.push(std::mem::replace(&mut now, began(check, promise)));
                    since = Instant::now();
                }
                Ok(Said::Broken(what)) => now.broken = Some(what),
                Err(RecvTimeoutError::Disconnected) => {
                    // The thread is at its end, or it has panicked outside of every check.
                    if let Err(panic) = worker.join() {
                        now.broken = Some(words(panic.as_ref()));
                    }
                    break true;
                }
                Err(RecvTimeoutError::Timeout) if since.elapsed() >= self.limit => {
                    now.broken = Some(format!("`{}` has not ended after {:?}", now.check, self.limit));
                    now.promise = "a check ends within a minute";
                    break false;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        all.push(now);
        goes_on
    }
}

/// Values at which a scheme is looked at: each parameter at either end of its range, at each of its words, and off.
fn ends(scheme: &Registration) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for p in &scheme.params {
        let words = p.range.choices.iter().chain(&p.range.low).chain(&p.range.high).cloned();
        let values = words.chain(p.range.optional.then(|| "off".to_string()));
        all.extend(values.map(|value| (p.key.clone(), value)));
    }
    all
}

/// The checks of a setting, all in the present thread.
fn look_at(scheme: &Registration, pairs: &[(String, String)], usual: bool, reporter: &Reporter) -> Reported {
    let built = match scheme.build(pairs) {
        Ok(configured) => configured.scheme,
        Err(e) => return reporter.say.send(Said::Broken(e.to_string())),
    };
    // As in a network, one scheme builds all objects.
    let make = || -> Box<dyn Scheme> { Box::new(built.clone()) };
    // A parameter may lower the floor, or keep a scheme from reacting; what it may not is below.
    let promise = match usual {
        true => scheme.promise,
        false => {
            Promise { floor: Rate::from_bps(1e4), stops: true, warms_up: Time::MAX, ..Promise::default() }
        }
    };
    for check in CHECKS.iter().filter(|c| usual || matches!(c.name, "bounds" | "hostile-messages")) {
        reporter.check(check.name, check.promise, || check.run(&make, &promise).map_err(|v| v.what))?;
    }
    if usual {
        let promise = "objects share nothing but their parameters";
        reporter.check("alone", promise, || alone(&built, reporter.bridge.as_ref()))?;
        let plan_at = |end| {
            let pairs: Vec<_> = pairs.iter().cloned().chain([end]).collect();
            guarded(|| scheme.build(&pairs).map(|c| c.scheme.plan())).ok()?.ok()
        };
        let promise = "the plan asks for each method that acts";
        reporter.check("uncalled", promise, || {
            let others = ends(scheme).into_iter().filter_map(plan_at);
            uncalled(&built, &std::iter::once(built.plan()).chain(others).collect::<Vec<_>>())
        })?;
    }
    Ok(())
}

/// Does a method act that no network would call, as the plan asks for it at none of these settings? Its author thinks that it is
/// called.
fn uncalled(scheme: &dyn Scheme, plans: &[Plan]) -> Result<(), String> {
    let mut draws = Stream::new(71, 1, Purpose::Test);
    let point = PointRig::new(scheme, LINE, 71).filter(|_| !plans.iter().any(|p| p.departures));
    let sink =
        ReflectorRig::new(scheme, LINE, 71).filter(|_| plans.iter().all(|p| p.reflect == ReflectGate::Never));
    let (mut point, mut sink) = (point, sink);
    for step in 0..2000 {
        let queue = 60_000 + draws.below(190_000);
        let departs = point.as_mut().is_some_and(|point| {
            point.wait(GAP);
            point.acts_on_departure(queue)
        });
        let arrives = sink.as_mut().is_some_and(|sink| {
            sink.wait(GAP);
            sink.acts_on_frame()
        });
        for (acts, method, field) in
            [(departs, "on_departure", "departures"), (arrives, "on_frame", "reflect")]
        {
            if acts {
                return Err(format!(
                    "its `{method}` acts (in step {step}), but it is never called: set `Plan::{field}`"
                ));
            }
        }
    }
    Ok(())
}

/// A flow gives what it gives alone: beside another flow of the same scheme, and in another thread.
fn alone(scheme: &Arc<dyn Scheme>, bridge: &dyn Bridge) -> Result<(), String> {
    let (seed, steps) = (61, 2000);
    // The rates of one flow, with another by turns or not.
    let trace = |beside: bool| -> Result<Vec<u64>, String> {
        let make = || -> Box<dyn Scheme> { Box::new(scheme.clone()) };
        let fresh =
            |seed| (Loopback::new(&make, LINE, seed, Faults::default()), Stream::new(seed, 6, Purpose::Test));
        guarded(|| {
            let (mut one, mut other) = (fresh(seed), fresh(seed + 1));
            let step = |_| {
                if beside {
                    congested(&mut other.0, &mut other.1);
                }
                congested(&mut one.0, &mut one.1);
                one.0.reaction.steered()
            };
            (0..steps).flat_map(step).collect()
        })
    };
    // A flow that fails alone is another check's business.
    let Ok(first) = trace(false) else { return Ok(()) };
    let beside = trace(true);
    let mut elsewhere = Err("no thread can be started".into());
    thread::scope(|s| {
        let work = || bridge.within(Box::new(|| elsewhere = trace(false)));
        // Where it cannot begin, that is said above; it does not panic, for it is guarded.
        let begun = thread::Builder::new().stack_size(STACK).spawn_scoped(s, work);
        drop(begun.map(|thread| thread.join()));
    });
    for (then, how) in [(beside, "beside another flow"), (elsewhere, "in another thread")] {
        let then = then.map_err(|why| format!("{how} a flow fails that runs alone: {why}"))?;
        if let Some(at) = first.iter().zip(&then).position(|(a, b)| a != b) {
            return Err(format!("{how} a flow parts in step {} from the same flow alone", at / 2));
        }
    }
    Ok(())
}

/// Runs the suite over a registered scheme, with its defaults and over the ranges of its parameters, by [`Suite::run`].
///
/// # Errors
/// Every promise that is not kept, with the setting.
pub fn conformance_over(scheme: &Registration) -> Result<(), Vec<Violation>> {
    violations(Suite::default().run(scheme, &[], true))
}

pub(super) fn violations(all: Vec<Checked>) -> Result<(), Vec<Violation>> {
    let violation = |c: Checked| {
        let with = c.setting.map(|(key, value)| format!("with {key} = {value}, ")).unwrap_or_default();
        Some(Violation { check: c.check, promise: c.promise, what: format!("{with}{}", c.broken?) })
    };
    let broken: Vec<_> = all.into_iter().filter_map(violation).collect();
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}
