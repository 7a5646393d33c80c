//! Watchdogs of switches: an output that was in XOFF for too long, while frames wait there, is in a storm. From then on, until it has
//! been let go for long enough, it drops what is for it, ignores PAUSE, or is only counted.
//!
//! A storm begins, by the *continuous* rule, when XOFF has stood without a break for `detect` and a frame waits: at that moment, or when
//! the first frame comes after it. By a *polled* rule it begins at the end of an interval of `detect`, counted from the start of the run,
//! if XOFF stood for 80 or 99 % of that interval or more, in one piece or in several, and a frame waits. By each rule it ends when the
//! output was without XOFF for `restore`, to the picosecond and without a break. The sources count PAUSE frames that arrive; here XOFF
//! stands until XON, so an output that stays in XOFF counts as one that goes on hearing it.
//!
//! A polling interval is looked at where a storm may begin at its end: after XOFF or XON was heard, and while a frame waits in XOFF. So
//! watchdogs cost nothing where nothing moves.

use super::pause::Paused;
use crate::check::changes;
use crate::numbers::{NEVER, Ps};
use crate::outcome::Storm;
use crate::spec::{WatchdogAction, WatchdogSpec};
use cnsim_scheme_api::Time;

/// State of a class at an output.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Time in XOFF at the end of the polling interval before the last XOFF or XON, and when that was, ps.
    polled: Time,
    heard: Ps,
    /// The end of a polling interval at which it is to be looked at, ps.
    poll: Ps,
    /// Since when it is without XOFF, if it is, ps.
    free_since: Ps,
    /// When it is to be looked at, ps.
    look: Ps,
    /// Number of the class's storm at the switch, while it lasts.
    storm: Option<usize>,
}

/// The watchdogs of a switch; they do nothing where the run has none.
#[derive(Debug, Default)]
pub(crate) struct Watchdogs {
    spec: Option<WatchdogSpec>,
    classes: usize,
    /// By output, then by class.
    watched: Vec<Watched>,
    storms: Vec<Storm>,
}

impl Watchdogs {
    /// Watchdogs of a switch with so many outputs.
    pub(crate) fn new(spec: Option<WatchdogSpec>, outputs: usize, classes: usize) -> Self {
        let outputs = if spec.is_some() { outputs } else { 0 };
        let (polled, heard, free_since) = (Time::ZERO, Ps(0), Ps(0));
        let one = Watched { polled, heard, poll: NEVER, free_since, look: NEVER, storm: None };
        Self { spec, classes, watched: vec![one; outputs * classes], storms: Vec::new() }
    }

    /// When one looks next, if no frame arrives before, ps.
    pub(crate) fn next(&self) -> Ps {
        self.watched.iter().map(|watched| watched.look.min(watched.poll)).min().unwrap_or(NEVER)
    }

    /// The first output and class that is to be looked at now, of those from a place on (`from` outputs and classes have been); whether a
    /// polling interval ends there; and the place behind it.
    pub(crate) fn due(&self, from: usize, now: Ps) -> Option<((usize, usize), bool, usize)> {
        let mut rest = self.watched.iter().enumerate().skip(from);
        let (place, watched) = rest.find(|(_, watched)| watched.look.min(watched.poll) <= now)?;
        Some(((place / self.classes, place % self.classes), watched.poll <= now, place + 1))
    }

    fn place(&self, (output, class): (usize, usize)) -> usize {
        output * self.classes + class
    }

    /// A class at an output has heard XOFF or XON, which `ended` a pause or not.
    pub(crate) fn hear(&mut self, at: (usize, usize), paused: &Paused, ended: bool, now: Ps) {
        let (Some(watch), place) = (self.spec, self.place(at)) else { return };
        let watched = &mut self.watched[place];
        if watch.rule.share().is_some() {
            let (over, stood) = (now % watch.detect.into(), paused.stands(now) > Some(Time::ZERO));
            if now - over >= watched.heard {
                watched.polled = paused.total(now) - (if ended || stood { over } else { Ps(0) }).time();
            }
            watched.heard = now;
            watched.poll = watched.storm.map_or(now - over + watch.detect.into(), |_| NEVER);
        }
        if ended {
            watched.free_since = now;
            watched.look = watched.storm.map_or(NEVER, |_| now + watch.restore.into());
            return;
        }
        let may_begin = watched.storm.is_none() && watch.rule.share().is_none();
        let stood = paused.stands(now).filter(|&stood| may_begin && stood < watch.detect);
        watched.look = stood.map_or(NEVER, |stood| now + (watch.detect - stood).into());
    }

    /// Looks at a class of an output, where a frame waits or not, at the end of a polling interval (`polls`) or not: true if a storm
    /// begins or ends there.
    pub(crate) fn look(
        &mut self,
        at: (usize, usize),
        paused: &mut Paused,
        (waits, polls): (bool, bool),
        now: Ps,
    ) -> bool {
        let (Some(watch), place) = (self.spec, self.place(at)) else { return false };
        let watched = &mut self.watched[place];
        let stands = paused.stands(now);
        let restored = watched.free_since + watch.restore.into();
        let mut turns = false;
        watched.look = if watched.look <= now { NEVER } else { watched.look };
        if let Some(storm) = watched.storm {
            if stands.is_none() && now >= restored {
                (watched.storm, turns) = (None, true);
                changes("watchdog of an output", "storm", "watching");
                self.storms[storm].until = Some(now.time());
            }
        } else {
            let stormy = match watch.rule.share() {
                None => stands.is_some_and(|stood| stood >= watch.detect),
                Some(percent) => {
                    let part = match watched.heard + watch.detect.into() > now {
                        true => paused.total(now) - watched.polled,
                        false => stands.map_or(Time::ZERO, |_| watch.detect),
                    };
                    polls && u128::from(part.as_ps()) * 100 >= u128::from(watch.detect.as_ps()) * percent
                }
            };
            if stormy && waits {
                (watched.storm, turns) = (Some(self.storms.len()), true);
                changes("watchdog of an output", "watching", "storm");
                watched.look = stands.map_or(restored, |_| NEVER);
                let (port, class) = (at.0 as u16, at.1 as u8);
                self.storms.push(Storm { port, class, from: now.time(), until: None, dropped: 0 });
            }
        }
        if watch.rule.share().is_some() {
            watched.poll = match watched.storm {
                None if stands.is_some() && waits => now - now % watch.detect.into() + watch.detect.into(),
                None if !polls => watched.poll,
                _ => NEVER,
            };
        }
        paused.ignore(self.act(at, WatchdogAction::Forward));
        turns
    }

    /// Does something follow from the next frame that comes for a class at an output, though nothing else happens before?
    pub(crate) fn mind(&self, at: (usize, usize), paused: &Paused) -> bool {
        let Some(watch) = self.spec else { return false };
        let watched = &self.watched[self.place(at)];
        match watched.storm {
            Some(_) => watch.action == WatchdogAction::Drop,
            None => paused.is_off() && watched.look.min(watched.poll) == NEVER,
        }
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
