//! `[hotspot]`: a switch port that slows down for a while.

use super::event::slow;
use crate::keys::MAX_CHANGES;
use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_units::{Rate, Time};

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

/// The hotspots of a case.
pub(super) fn hotspots(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<Hotspot> {
    let names = r.listed("hotspot.host");
    if names.items.is_empty() || names.items == ["off"] {
        return Vec::new();
    }
    let (start, stop) = (r.time("hotspot.start"), r.time("hotspot.stop"));
    let period = r.time_or("hotspot.period");
    if stop <= start {
        let reason = format!("the hotspot stops at {stop}, not after its start at {start}");
        r.clash(&["hotspot.stop", "hotspot.start"], reason, "make hotspot.stop later");
    } else if stop > duration {
        let reason = format!("the hotspot ends at {stop}, outside the run of {duration}");
        let remedy = "lengthen run.duration or shorten the hotspot";
        r.clash(&["hotspot.stop", "run.duration"], reason, remedy);
    }
    let changes = period.map_or(0, |p| stop.saturating_sub(start).as_ps() / p.as_ps().max(1));
    if changes.saturating_mul(names.items.len() as u64) > MAX_CHANGES {
        let reason = format!("{changes} changes of the service rate are too many");
        r.clash(&["hotspot.period"], reason, format!("at most {MAX_CHANGES}: lengthen the period"));
        return Vec::new();
    }
    let mut hotspots: Vec<Hotspot> = Vec::new();
    for host in r.ranges(&names, wiring) {
        let line = wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let rate = r.rate_or_share("hotspot.rate", line);
        if rate > line {
            let reason = format!("{rate} is more than the {line} of the link of {}", wiring.hosts[host]);
            r.wrong("hotspot.rate", reason, "use at most the link's rate");
        }
        slow(r, "hotspot.rate", rate);
        if hotspots.iter().any(|h| h.host == host) {
            r.wrong("hotspot.host", format!("{} is there twice", wiring.hosts[host]), "name it once");
        }
        hotspots.push(Hotspot { host, rate, start, stop, period });
    }
    hotspots
}
