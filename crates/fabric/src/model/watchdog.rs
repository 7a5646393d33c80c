//! Watchdogs of switches: an output that was in XOFF for too long, while frames wait there, is in a storm. From then on, until it has
//! been let go for long enough, it drops what is for it, ignores PAUSE, or is only counted.
//!
//! A storm begins, by the *continuous* rule, when XOFF has stood without a break for `detect` and a frame waits: at that moment, or when
//! the first frame comes after it. By a *polled* rule it begins at the end of an interval of `detect`, counted from the start of the run,
//! if XOFF stood for 80 or 99 % of that interval or more, in one piece or in several, and a frame waits. By each rule it ends when the
//! output was without XOFF for `restore`, to the picosecond and without a break. The sources count PAUSE frames that arrive; here XOFF
//! stands until XON, so an output that stays in XOFF counts as one that goes on hearing it.

use super::agenda::NEVER;
use super::pause::Paused;
use crate::outcome::Storm;
use crate::spec::{WatchdogAction, WatchdogSpec};
use cnsim_scheme_api::Time;

/// What is known of a class at an output.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// Its time in XOFF at the last end of a polling interval.
    polled: Time,
    /// Since when it is without XOFF, if it is, ps.
    free_since: u64,
    /// Its storm among those of the switch, while that lasts.
    storm: Option<usize>,
}

/// What happens to a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turning {
    /// It begins, and then its output looks again at this time, ps.
    Begins(u64),
    Ends,
}

/// The watchdogs of a switch; they do nothing where the run has none.
#[derive(Debug, Default)]
pub(crate) struct Watchdogs {
    spec: Option<WatchdogSpec>,
    classes: usize,
    /// By output, then by class.
    watched: Vec<Watched>,
    storms: Vec<Storm>,
    /// When a polling interval ends next, ps.
    next_poll: u64,
}

impl Watchdogs {
    /// Those of a switch with so many outputs.
    pub(crate) fn new(spec: Option<WatchdogSpec>, outputs: usize, classes: usize) -> Self {
        let Some(watch) = spec else { return Self::default() };
        let next_poll = watch.rule.share().map_or(NEVER, |_| watch.detect.as_ps());
        let watched = vec![Watched::default(); outputs * classes];
        Self { spec, classes, watched, storms: Vec::new(), next_poll }
    }

    /// Are there any?
    pub(crate) fn exist(&self) -> bool {
        self.spec.is_some()
    }

    /// When a polling interval ends next, ps.
    pub(crate) fn next_poll(&self) -> u64 {
        if self.spec.is_some() { self.next_poll } else { NEVER }
    }

    /// Does a polling interval end now? Then the next begins.
    pub(crate) fn polls(&mut self, now: u64) -> bool {
        let ends = self.spec.is_some() && now >= self.next_poll;
        if let Some(watch) = self.spec.filter(|_| ends) {
            self.next_poll += watch.detect.as_ps();
        }
        ends
    }

    fn place(&self, (output, class): (usize, usize)) -> usize {
        output * self.classes + class
    }

    /// A class at an output has heard XOFF or XON, which `ended` a pause or not: when it is to be looked at, ps.
    pub(crate) fn hear(&mut self, at: (usize, usize), paused: &Paused, ended: bool, now: u64) -> u64 {
        let (Some(watch), place) = (self.spec, self.place(at)) else { return NEVER };
        let watched = &mut self.watched[place];
        if ended {
            watched.free_since = now;
            return watched.storm.map_or(NEVER, |_| now + watch.restore.as_ps());
        }
        let stood = paused.stands(now).filter(|_| watched.storm.is_none() && watch.rule.share().is_none());
        stood.map_or(NEVER, |stood| now + watch.detect.as_ps().saturating_sub(stood.as_ps()))
    }

    /// Looks at a class of an output, where a frame waits or not, at the end of a polling interval (`polls`) or not.
    pub(crate) fn look(
        &mut self,
        at: (usize, usize),
        paused: &Paused,
        (waits, polls): (bool, bool),
        now: u64,
    ) -> Option<Turning> {
        let (watch, place) = (self.spec?, self.place(at));
        let watched = &mut self.watched[place];
        let stands = paused.stands(now);
        let total = paused.total(now);
        let before = if polls { std::mem::replace(&mut watched.polled, total) } else { total };
        if let Some(storm) = watched.storm {
            if stands.is_some() || now < watched.free_since + watch.restore.as_ps() {
                return None;
            }
            watched.storm = None;
            self.storms[storm].until = Some(Time::from_ps(now));
            return Some(Turning::Ends);
        }
        let stormy = match watch.rule.share() {
            None => stands.is_some_and(|stood| stood >= watch.detect),
            Some(percent) => {
                polls && (total - before).as_ps() as u128 * 100 >= u128::from(watch.detect.as_ps()) * percent
            }
        };
        if !(stormy && waits) {
            return None;
        }
        watched.storm = Some(self.storms.len());
        let (port, class) = (at.0 as u16, at.1 as u8);
        self.storms.push(Storm { port, class, from: Time::from_ps(now), until: None, dropped: 0 });
        Some(Turning::Begins(stands.map_or(watched.free_since + watch.restore.as_ps(), |_| NEVER)))
    }

    /// Does a storm with this action last in a class at an output?
    pub(crate) fn act(&self, at: (usize, usize), action: WatchdogAction) -> bool {
        let acts = self.spec.is_some_and(|watch| watch.action == action);
        acts && self.watched[self.place(at)].storm.is_some()
    }

    /// A frame is dropped at an output in a storm.
    pub(crate) fn drop_one(&mut self, at: (usize, usize)) {
        let place = self.place(at);
        if let Some(storm) = self.watched.get(place).and_then(|watched| watched.storm) {
            self.storms[storm].dropped += 1;
        }
    }

    /// The storms of the run, in order of their begin.
    pub(crate) fn close(self) -> Vec<Storm> {
        self.storms
    }
}
