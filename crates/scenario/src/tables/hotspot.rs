//! `[hotspot]`: a switch port that slows down for a while.

use super::event::slow;
use super::{Section, Settings, run};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{FASTEST, LONGEST, MAX_CHANGES};
use crate::wiring::Wiring;
use cnsim_fabric::{RateChange, RunSpec};
use cnsim_units::{Rate, Time};

rows! {
    HOST = key("hotspot.host", Kind::Or("off", &Kind::List(&Kind::Host)), "off",
        "host or hosts whose switch port slows down; off: none").sample("H0");
    RATE = key("hotspot.rate", Kind::RateOrShare(Rate::ZERO, FASTEST), "2 Gb/s",
        "service rate of the slow port, or a share of the link: 10%").while_slow();
    START = key("hotspot.start", kind::MOMENT, "100 ms", "time at which the port slows down").while_slow();
    STOP = key("hotspot.stop", kind::MOMENT, "500 ms", "time at which the port is back at full rate").while_slow();
    PERIOD = key("hotspot.period", Kind::Or("off", &Kind::Time(Time::from_us(1), LONGEST)), "off",
        "the port alternates: slow for this time, then at full rate for this time; off: slow once").while_slow();
}

impl Key {
    /// The key has an effect if there is a hotspot.
    const fn while_slow(self) -> Self {
        let why = |_: &str, _: &str| {
            Some(("has no effect: there is no hotspot".into(), "set hotspot.host, or remove this key".into()))
        };
        self.unless(HOST, "off").why(why)
    }
}

/// A hotspot: the switch port that feeds a host slows down for a while.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot {
    /// Host behind the port.
    pub host: usize,
    /// Service rate.
    pub rate: Rate,
    /// From.
    pub start: Time,
    /// To.
    pub stop: Time,
    /// Slow for this long, then as long at full rate, and so on; none: slow all the time.
    pub period: Option<Time>,
}

impl Hotspot {
    /// The spans in which the port is slow.
    pub fn windows(&self) -> Vec<(Time, Time)> {
        let Some(period) = self.period else { return vec![(self.start, self.stop)] };
        let starts = (0..).map(|i| self.start + period * (2 * i)).take_while(|t| *t < self.stop);
        starts.map(|t| (t, (t + period).min(self.stop))).collect()
    }
}

impl Section for Vec<Hotspot> {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        hotspots(r, &settings.wiring, settings.duration)
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        for hot in self {
            let (node, port) = settings.wiring.feeder(hot.host);
            let rate = settings.wiring.access(hot.host).map_or(hot.rate, |l| l.rate);
            for (start, stop) in hot.windows() {
                run.events.changes.push(RateChange { at: start, node, port, rate: hot.rate });
                if stop < settings.duration {
                    run.events.changes.push(RateChange { at: stop, node, port, rate });
                }
            }
        }
    }
}

/// The hotspots of a case.
fn hotspots(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<Hotspot> {
    let names = r.listed(HOST);
    if names.items.is_empty() || names.items[..] == ["off"] {
        return Vec::new();
    }
    let (start, stop) = (r.time(START), r.time(STOP));
    let period = r.time_or(PERIOD);
    if stop <= start {
        let reason = format!("the hotspot stops at {stop}, not after its start at {start}");
        r.clash(&[STOP, START], reason, "make hotspot.stop later");
    } else if stop > duration {
        let reason = format!("the hotspot ends at {stop}, outside the run of {duration}");
        let remedy = "lengthen run.duration or shorten the hotspot";
        r.clash(&[STOP, run::DURATION], reason, remedy);
    }
    let changes = period.map_or(0, |p| stop.saturating_sub(start).as_ps() / p.as_ps().max(1));
    if changes.saturating_mul(names.items.len() as u64) > MAX_CHANGES {
        let reason = format!("{changes} changes of the service rate are too many");
        r.clash(&[PERIOD], reason, format!("at most {MAX_CHANGES}: lengthen the period"));
        return Vec::new();
    }
    let mut hotspots: Vec<Hotspot> = Vec::new();
    for host in r.ranges(&names, wiring) {
        let line = wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let rate = r.rate_or_share(RATE, line);
        if rate > line {
            let reason = format!("{rate} is more than the {line} of the link of {}", wiring.hosts[host]);
            r.wrong(RATE, reason, "use at most the link's rate");
        }
        slow(r, RATE, rate);
        if hotspots.iter().any(|h| h.host == host) {
            r.wrong(HOST, format!("{} is there twice", wiring.hosts[host]), "name it once");
        }
        hotspots.push(Hotspot { host, rate, start, stop, period });
    }
    hotspots
}
