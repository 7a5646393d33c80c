//! Named assumptions: what the sources leave open, and what was chosen. Which one is
//! suspected behind a miss is said by the study, in [`crate::papers`].

/// A named assumption.
#[derive(Clone, Copy, Debug)]
pub struct Assumption {
    /// Number, as notes cite it.
    pub id: &'static str,
    /// Name for `assumptions.NAME`.
    pub name: &'static str,
    /// What is assumed.
    pub about: &'static str,
    /// Alternatives, as values.
    pub alternatives: &'static str,
    /// Key of the scenario that holds it.
    pub key: &'static str,
}

const fn a(
    id: &'static str,
    name: &'static str,
    key: &'static str,
    alternatives: &'static str,
    about: &'static str,
) -> Assumption {
    Assumption { id, name, about, alternatives, key }
}

/// All of them.
pub const ASSUMPTIONS: &[Assumption] = &[
    a(
        "A1",
        "source-queue",
        "host.fifo",
        "10100 (single hop) | 500 (multi-hop, fat tree)",
        "each host keeps this many frames in application queue and NIC; the surplus that the PAUSE rows deliver after the hotspot fixes it",
    ),
    a(
        "A2",
        "limiter-queue",
        "host.limiter_queue",
        "10 | 100 | 10000",
        "frames that a limited flow may hold at its source; it moves the hot port by up to 0.7 Gb/s",
    ),
    a(
        "A3",
        "limiter-position",
        "host.limiter_position",
        "at-source | below-queue",
        "a frame meets its limiter when generated, and joins the host's FIFO afterwards, or on leaving for the link",
    ),
    a(
        "A4",
        "efr",
        "scheme.params.efr",
        "on | off",
        "extra fast recovery: messages before the first finished cycle keep the target",
    ),
    a(
        "A4b",
        "efr-target",
        "scheme.params.efr_target",
        "before-cut | after-cut",
        "what the first message of a burst does to the target",
    ),
    a(
        "A5",
        "r-min",
        "scheme.params.r_min",
        "1 Mb/s | 10 Mb/s | 50 Mb/s",
        "smallest rate of a limiter; 10 Mb/s fits the drops at 0 Gb/s",
    ),
    a(
        "A6",
        "oversampling",
        "scheme.params.oversampling",
        "off | proportional | above-qmc | next-frame | negative",
        "how ECM samples faster under congestion",
    ),
    a(
        "A7",
        "gate-qoff",
        "scheme.params.gate_qoff",
        "on | off",
        "a congestion point sends negative feedback only while q > Q_eq",
    ),
    a(
        "A8",
        "sampling",
        "scheme.params.sampling",
        "bytes | packet-last | packet-current",
        "how QCN samples frames",
    ),
    a("A8b", "quantiser", "scheme.params.quantiser", "shift | scale63 | ceil", "how |Fb| becomes six bits"),
    a(
        "A9",
        "buffer",
        "switch.buffer",
        "XP | IN | SO",
        "buffer organisation; B07's `output buffer partitioned per input port` is read as crosspoint",
    ),
    a(
        "A10",
        "pause-transport",
        "pause.transport",
        "frame | wire",
        "PAUSE as a 64 B frame that waits for the one in transmission, or effective a flat delay later",
    ),
    a(
        "A11",
        "control-transport",
        "control.transport",
        "priority | in-band",
        "feedback ahead of data, or among it",
    ),
    a(
        "A12",
        "hai",
        "scheme.params.hai",
        "off | linear | fixed | doubling | timer",
        "hyperactive increase of 2007",
    ),
    a(
        "A13",
        "sample-dropped",
        "scheme.params.sample_dropped",
        "on | off",
        "frames that are being dropped are counted and sampled",
    ),
];
