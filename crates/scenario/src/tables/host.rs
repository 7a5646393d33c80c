//! `[host]`: NICs, their queues and limiters.

use crate::row::declare::*;
use cnsim_fabric::LimiterPosition;

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
