//! `[[event]]` tables: a switch port serves data at another rate from a moment on.

mod losses;

use super::{Section, Settings, run};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{FASTEST, SLOWEST_SERVICE};
use crate::wiring::Wiring;
use cnsim_fabric::{LinkLoss, RateChange, RunSpec};
use cnsim_units::{Rate, Time};

rows! {
    AT = key("event.at", kind::MOMENT, "0 us", "time at which an [[event]] table changes the service rate of a port");
    PORT = key("event.port", Kind::Port, "", "switch port whose service rate changes: \"X>E5\", or \"X>E5#2\" for the second of several");
    RATE = key("event.rate", Kind::Rate(Rate::ZERO, FASTEST), "10 Gb/s", "service rate of the port from then on");
    LINK = key("event.link", Kind::Line, "",
        "link that loses frames, in an [[event]] table without port: \"L1-S1\", by its two ends; XOFF and XON are never lost");
    LOSS = key("event.loss", Kind::Line, "", "probability with which the link loses each frame, data and control: 1e-3 or 0.1 %");
    LOSE = key("event.lose", kind::LINES, "[]",
        "frames that the link loses: \"H1>H0 3\" is the third frame of that pair's data to cross it while the table lasts, \"H1>H0#2 3\" that of the pair's second flow, \"H1>H0 ack 3\" the third acknowledgement; what is sent again counts again");
    FROM = key("event.from", kind::MOMENT, "0 us", "time at which the link begins to lose");
    TO = key("event.to", Kind::Or("off", &kind::MOMENT), "off", "time at which it ends; off: at the end of the run");
}

/// Changes of ports and links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) changes: Vec<RateChange>,
    /// Links that lose frames.
    pub(crate) losses: Vec<LinkLoss>,
}

impl Section for Events {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (wiring, duration) = (&settings.wiring, settings.duration);
        Self { changes: events(r, wiring, duration), losses: losses::losses(r, wiring, duration) }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.events.changes.extend_from_slice(&self.changes);
        run.events.losses.clone_from(&self.losses);
    }
}

/// Refuses a service so slow that a frame would take longer than a run; none at all stops a port.
pub(crate) fn slow(r: &mut Reader<'_>, key: impl AsRef<str>, rate: Rate) {
    if rate > Rate::ZERO && rate < SLOWEST_SERVICE {
        let hint = format!("use 0 Gb/s to stop the port, or at least {SLOWEST_SERVICE}");
        r.wrong(key, format!("{rate} is too slow"), hint);
    }
}

/// `[[event]]` tables: a switch port serves data at another rate from a moment on.
fn events(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<RateChange> {
    let mut events = Vec::new();
    for prefix in r.tables("event") {
        if losses::is_loss(r, &prefix) {
            continue;
        }
        let key = |leaf: Key| leaf.of(&prefix);
        let (at, rate) = (r.time(key(AT)), r.rate(key(RATE)));
        if at >= duration {
            let reason = format!("the event at {at} is outside the run of {duration}");
            r.clash(
                &[key(AT), run::DURATION.into()],
                reason,
                "let it happen earlier, or lengthen run.duration",
            );
        }
        if !r.is_set(key(PORT)) {
            r.wrong(&prefix, "names no port", "write for example port = \"S>H1\"");
            continue;
        }
        let name = r.word(key(PORT));
        if let Some((node, port)) = r.port(key(PORT), 0, &name, wiring) {
            if let Some(l) = wiring.link((node, port)).filter(|l| l.rate < rate) {
                let reason = format!("{rate} is more than the link's {}", l.rate);
                let at = if r.is_set(key(RATE)) { key(RATE).path.into() } else { prefix.clone() };
                r.wrong(&at, reason, "use at most the link's rate");
            }
            slow(r, key(RATE), rate);
            events.push(RateChange { at, node, port, rate });
        }
    }
    events
}
