//! `[host]`: NICs, their queues and limiters.

use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use cnsim_fabric::{Faults, HostQueues, HostSpec, LimiterPosition, RunSpec};
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::Time;

words! {
    /// `host.limiter_position`.
    LimiterPosition { AtSource = "at-source", BelowQueue = "below-queue", }
}

choices! {
    /// `host.queues`.
    Queues { Fifo = "fifo", PerDestination = "per-destination", PerFlow = "per-flow", }
    /// `host.limiter_backlog`.
    Backlog { Behind = "behind", Ahead = "ahead", }
}

const QUEUE: Kind = Kind::Integer(1, 100_000_000);

rows! {
    PROCESSING = key("host.processing", kind::PROCESSING, "1 us", "processing delay of a NIC");
    CLOCK = key("host.clock", Kind::Or("exact", &Kind::Integer(1, 10_000)), "exact",
        "largest error of a host's clock, parts per million; each host draws an error of half to all of it, fast or slow");
    FIFO = key("host.fifo", QUEUE, "10100", "frames that a host can hold: application queue and NIC").unless(QUEUES, "per-flow");
    LIMITER_QUEUE = key("host.limiter_queue", QUEUE, "100", "frames that a rate limiter's queue holds").unless(QUEUES, "per-flow");
    LIMITER_POSITION = key("host.limiter_position", Kind::Choice(LimiterPosition::WORDS), "below-queue",
        "place where a frame meets its limiter").unless(QUEUES, "per-flow");
    LIMITER_BACKLOG = key("host.limiter_backlog", Kind::Choice(Backlog::WORDS), "behind",
        "place where the host's frames wait: behind the limiters, or (all but `host.nic`) in an application FIFO ahead of them")
        .unless(QUEUES, "per-flow");
    NIC = key("host.nic", QUEUE, "500",
        "frames behind the limiters, as part of `host.fifo`").only(LIMITER_BACKLOG, one_of!(Backlog: Ahead));
    QUEUES = key("host.queues", Kind::Choice(Queues::WORDS), "fifo",
        "one FIFO, a virtual output queue per destination, or a queue pair per finite flow, whose frames are made as the link takes them; several are served in turn");
    FEEDBACK_DELAY = key("host.feedback_delay", kind::PROCESSING, "0 us", "time from the arrival of a feedback message to its effect");
    IGNORES_PAUSE = key("host.ignores_pause", kind::SWITCHED, "off",
        "a fault: hosts keep sending while paused").with_pause();
    FEEDBACK_LOST = key("host.feedback_lost", Kind::Integer(0, 1_000_000_000), "0",
        "a fault: every n-th feedback message to a host is lost; 0: none");
}

/// The golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// All NICs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Host {
    pub(crate) queues: Queues,
    pub(crate) processing: Time,
    feedback_delay: Time,
    faults: Faults,
    /// How far clocks may be off, parts per million.
    pub(crate) clock_ppm: u64,
    pub(crate) fifo: u32,
    pub(crate) limiter_queue: u32,
    limiter_position: LimiterPosition,
    /// Frames of `host.fifo` that wait ahead of the limiters.
    pub(crate) backlog: u32,
}

impl Section for Host {
    fn read(r: &mut Reader<'_>, _: &mut Settings) -> Self {
        let queues: Queues = r.choice(QUEUES);
        let limiter_position = r.choice(LIMITER_POSITION);
        if queues == Queues::PerDestination && limiter_position == LimiterPosition::AtSource {
            let reason = "queues per destination are paced in place: a limiter at the source has no effect";
            r.wrong(LIMITER_POSITION, reason, "write below-queue, or host.queues = \"fifo\"");
        }
        let (fifo, limiter_queue) = (r.integer(FIFO) as u32, r.integer(LIMITER_QUEUE) as u32);
        let backlog = match r.choice(LIMITER_BACKLOG) {
            Backlog::Ahead => fifo.saturating_sub(r.integer(NIC) as u32),
            Backlog::Behind => 0,
        };
        if backlog > 0 && queues == Queues::PerDestination {
            let reason = "queues per destination have no FIFO that could stand ahead of the limiters";
            r.wrong(LIMITER_BACKLOG, reason, "write behind, or host.queues = \"fifo\"");
        }
        Self {
            queues,
            processing: r.time(PROCESSING),
            feedback_delay: r.time(FEEDBACK_DELAY),
            faults: Faults {
                ignores_pause: r.switched(IGNORES_PAUSE),
                feedback_lost: r.integer(FEEDBACK_LOST) as u32,
            },
            clock_ppm: r.integer_or(CLOCK).unwrap_or(0),
            fifo: fifo - backlog,
            limiter_queue,
            limiter_position,
            backlog,
        }
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        let seed = run.seed;
        let host = |(h, name): (usize, &String)| HostSpec {
            name: name.clone(),
            processing: self.processing,
            sources: Vec::new(),
            fifo_frames: self.fifo,
            limiter_frames: self.limiter_queue,
            limiter_position: self.limiter_position,
            backlog_frames: self.backlog,
            queues: match self.queues {
                Queues::PerDestination => HostQueues::PerDestination,
                Queues::Fifo | Queues::PerFlow => HostQueues::Fifo,
            },
            feedback_delay: self.feedback_delay,
            faults: self.faults,
            clock_ppm: self.clock_of(h, seed),
            scheme: Some(0),
        };
        run.hosts = settings.wiring.hosts.iter().enumerate().map(host).collect();
    }
}

impl Host {
    /// Error of a host's clock in the run of a seed, parts per million: half to all of the limit, fast or slow. Hosts take steps of the
    /// golden section from a drawn place. So no two clocks of a small network are nearly equal, nor one and the switches'. A further host
    /// changes no other host's clock.
    fn clock_of(&self, host: usize, seed: u64) -> f64 {
        let start = Stream::new(seed, 1 << 51, Purpose::Phase).uniform();
        let place = (start + host as f64 * GOLDEN).fract();
        let side = if place < 0.5 { -1.0 } else { 1.0 };
        side * (0.5 + (2.0 * place).fract() / 2.0) * self.clock_ppm as f64
    }
}
