//! Named assumptions: what the sources leave open, what was chosen, and which one is suspected behind a miss.

use crate::store::RunRecord;

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

/// The assumption suspected when a cell misses, with a sentence.
pub fn suspect(r: &RunRecord, metric: &str) -> String {
    let (scheme, pause, condition) = (r.scheme.as_str(), r.pause.as_str(), r.condition.as_str());
    let zero = condition.ends_with(" 0 Gb/s");
    let half = condition.ends_with(" 0.5 Gb/s");
    let qcn = scheme.starts_with("qcn");
    let text = match (qcn, pause, metric) {
        (true, "on", _) if zero || half => {
            "A3 limiter-position, known miss: in the published row innocent flows lose throughput after PAUSE for longer than any reading tried explains"
        }
        (true, "on", "time_paused" | "overhead") => {
            "A8 sampling: the first messages of the start-up burst decide how long PAUSE lasts"
        }
        (_, "off", "overhead") if zero => {
            "A7 gate-qoff: the three rows at 0 Gb/s without PAUSE look like a build without the gate"
        }
        (true, "off", "dropped_frames") if zero && scheme == "qcn-3pt" => {
            "A5 r-min: 14 537 drops would fit a floor of 50 Mb/s for this scheme alone"
        }
        (true, "off", _) if half => "A4 efr: the published hot port lies between EFR on and off",
        (true, "off", "dropped_frames") => "A8 sampling: early drops depend on when the first samples fall",
        (true, "off", "hot_port_throughput" | "innocent_throughput" | "aggregate_throughput") => {
            "A4 efr and A2 limiter-queue decide the hot port's recovery"
        }
        (true, _, _) => "A2 limiter-queue and A8 sampling decide the hot port's share",
        (_, "on", _) if zero && scheme == "ecm" => {
            "A3 limiter-position and A6 oversampling decide how many innocent flows are limited after PAUSE"
        }
        (_, _, "dropped_frames" | "overhead") if scheme == "ecm" => {
            "A6 oversampling: rule and factor are not printed"
        }
        _ if scheme == "ecm" => "A6 oversampling and A2 limiter-queue",
        _ => "A1 source-queue",
    };
    format!("suspected: {text}")
}
