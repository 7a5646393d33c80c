//! Queue pairs: `host.queues = "per-flow"`, `[transport]`, and the checks of what a scheme needs of them.

use crate::keys::{MAX_FRAME, RTO_MINS};
use crate::kinds::{Completed, ControlTravels, Paths, Queues, Repairs, SendsAgain};
use crate::reader::Reader;
use crate::topology::Wiring;
use crate::workload::{Paired, SourcePlan, flows_of_a_pair};
use cnsim_fabric::{Recovery, Reliability, SelectiveSpec, TcpSpec, TransportSpec, Window};
use cnsim_scheme_api::{Acks, Class, Plan};
use cnsim_units::{Bytes, Time};

/// The scheme of a case, as the settings depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steered<'a> {
    /// Registered name.
    pub(crate) name: &'a str,
    /// Its needs; those of no scheme where it could not be built.
    pub(crate) plan: Plan,
}

/// Queue pairs of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePairs {
    /// The transport of all hosts.
    pub(crate) spec: TransportSpec,
    /// The moment at which a flow is complete.
    pub(crate) completed: Completed,
    /// What they change of the flows.
    pub(crate) flows: Paired,
    /// Length of an acknowledgement without telemetry.
    pub(crate) plain: Bytes,
}

/// How the acknowledgement of a flow's last frame comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As a frame of this length, without telemetry; every so many frames are acknowledged.
    Frame {
        /// Bytes on the link.
        length: Bytes,
        /// `transport.ack_every`.
        every: u32,
    },
    /// Without a frame, after this time.
    Direct(Time),
}

/// May the network acknowledge frames, if the scheme asks for it: there are queue pairs, and `ack_every` does not forbid it.
pub(super) fn may_acknowledge(r: &mut Reader<'_>, queues: Queues) -> bool {
    queues == Queues::PerFlow && r.integer_or("transport.ack_every") != Some(0)
}

impl QueuePairs {
    /// Those that the scenario asks for; none where flows have no queue pairs.
    pub(super) fn read(r: &mut Reader<'_>, queues: Queues, scheme: &Steered<'_>) -> Option<Self> {
        let (name, acks) = (scheme.name, scheme.plan.acks);
        if queues != Queues::PerFlow {
            if acks != Acks::Optional {
                let reason = format!(
                    "{name} needs acknowledgements, and with host.queues = {} there are none",
                    r.word("host.queues")
                );
                r.wrong(
                    "host.queues",
                    reason,
                    "write host.queues = \"per-flow\": each finite flow has a queue pair",
                );
            }
            return None;
        }
        // The scheme has been built with it.
        r.word("transport.congestion");
        let window = match (r.bytes_or("transport.window"), r.word("transport.window").as_str()) {
            (Some(bytes), _) => Window::Fixed(bytes),
            (None, "off") => Window::Off,
            (None, "bdp") => Window::Bdp,
            _ => Window::Scheme,
        };
        let reliability = match r.choice("transport.kind") {
            SendsAgain::Nothing => Reliability::None,
            SendsAgain::GoBackN => Reliability::GoBackN {
                nack_interval: r.time("transport.nack_interval"),
                rto: r.time("transport.rto"),
            },
            SendsAgain::Selective => Reliability::Selective(SelectiveSpec {
                gap_frames: r.integer("transport.gap_frames") as u32,
                gap_time: r.time("transport.gap_time"),
                rto_low: r.time("transport.rto_low"),
                rto_high: r.time("transport.rto_high"),
                few: r.integer("transport.few") as u32,
            }),
            SendsAgain::Tcp => Reliability::Tcp(tcp(r)),
        };
        let completed = r.choice("record.completion");
        let needed = if acks != Acks::Optional {
            Some(format!("the scheme {name}"))
        } else if reliability != Reliability::None {
            Some(format!("transport.kind = {}", r.word("transport.kind")))
        } else if matches!(window, Window::Bdp | Window::Fixed(_)) {
            Some("a window".into())
        } else {
            (completed == Completed::Acknowledged).then(|| "record.completion = acknowledged".into())
        };
        let ack_every = match (r.integer_or("transport.ack_every"), needed) {
            (Some(0), Some(who)) => {
                let reason = format!("0 stands for no acknowledgements, and {who} needs them");
                r.wrong("transport.ack_every", reason, "write 1 or more, or \"auto\"");
                1
            }
            (Some(n), _) => n as u32,
            (None, needed) => u32::from(needed.is_some()),
        };
        if matches!(reliability, Reliability::Tcp(_)) && ack_every < 2 && r.is_asked("transport.ack_delay") {
            let reason = "each frame is acknowledged at once, so that no acknowledgement waits";
            r.wrong("transport.ack_delay", reason, "write transport.ack_every = 2, or leave it out");
        }
        let reads = acks == Acks::Telemetry;
        if reads && matches!(r.choice("topology.routing"), Paths::FrameHash | Paths::RoundRobin) {
            let reason = format!(
                "{name} compares the telemetry of a flow's frames port by port, and with {} each frame has a path of its own",
                r.word("topology.routing")
            );
            r.wrong("topology.routing", reason, "write flow-hash or destination");
        }
        let telemetry = if reads { r.bytes("transport.telemetry") } else { scheme.plan.stamp };
        // Without a frame, an acknowledgement has neither class nor length.
        let framed =
            ack_every > 0 && r.choice::<ControlTravels>("control.transport") != ControlTravels::Ideal;
        let (ack_class, mut ack_length) = match framed {
            true => (r.choice("transport.ack_class"), r.bytes("transport.ack_length")),
            false => (Class::Data, Bytes::new(64)),
        };
        let plain = ack_length;
        if framed && reads {
            ack_length += r.bytes("transport.ack_telemetry");
        }
        let window_by_rate = r.switched("transport.window_by_rate");
        let spec = TransportSpec { reliability, ack_every, ack_class, ack_length, window, window_by_rate };
        Some(Self { spec, completed, flows: Paired { telemetry, begins: scheme.plan.initial_rate }, plain })
    }

    /// Refuses a least timeout that no run can see.
    pub(super) fn in_time(&self, r: &mut Reader<'_>, duration: Time) {
        if let Reliability::Tcp(TcpSpec { rto_min, .. }) = self.spec.reliability
            && rto_min >= duration
            && r.is_asked("transport.rto_min")
        {
            let reason = format!("no timeout of {rto_min} or more happens in a run of {duration}");
            r.clash(&["transport.rto_min", "run.duration"], reason, "lower it, or lengthen run.duration");
        }
    }

    /// Refuses frames that do not fit, larger than possible with telemetry or than the window, and flows that their frames cannot name:
    /// too many of a pair of hosts, or of too many frames.
    pub(super) fn fit(&self, r: &mut Reader<'_>, plans: &[Vec<SourcePlan>], wiring: &Wiring) {
        let most = f64::from(TransportSpec::MOST_OF_PAIR);
        let full = |(host, own): (usize, &Vec<SourcePlan>)| Some((host, flows_of_a_pair(host, own, most)?));
        if let Some((host, flows)) = plans.iter().enumerate().find_map(full) {
            let name = &wiring.hosts[host];
            r.wrong(
                "host.queues",
                format!("up to {flows} flows go from {name} to one host, and {most} of a pair can have queue pairs"),
                "let fewer flows begin, or spread them over more hosts",
            );
        }
        let frames = plans.iter().flatten().map(SourcePlan::most_frames).max().unwrap_or(0);
        if frames > u32::MAX.into() {
            let reason = format!("a flow has {frames} frames, and a queue pair counts {}", u32::MAX);
            r.wrong("host.queues", reason, "make the flows smaller, or their frames longer");
        }
        let frame = plans.iter().flatten().map(SourcePlan::frame).max().unwrap_or_default();
        if frame > MAX_FRAME {
            let reason =
                format!("a frame of {frame} with its telemetry or time stamp is larger than {MAX_FRAME}");
            r.clash(&["transport.telemetry", "workload.frame"], reason, "lower it, or the length of frames");
        }
        let mut holds = |key, window: Bytes| {
            if window < frame {
                let reason = format!("a window of {window} is smaller than a frame of {frame}");
                r.clash(&[key], reason, format!("write at least \"{frame}\""));
            }
        };
        if let Window::Fixed(window) = self.spec.window {
            holds("transport.window", window);
        }
        if let Reliability::Tcp(TcpSpec { receive_window: Some(window), .. }) = self.spec.reliability {
            holds("transport.receive_window", window);
        }
    }
}

/// The keys of TCP.
fn tcp(r: &mut Reader<'_>) -> TcpSpec {
    let word = r.word("transport.rto_min");
    let named = RTO_MINS.iter().find(|(name, _)| *name == word).map(|named| named.1);
    let (rto_min, rto_max) =
        (r.time_or("transport.rto_min").or(named).unwrap_or_default(), r.time("transport.rto_max"));
    if rto_max < rto_min {
        let reason = format!("the largest timeout, {rto_max}, is below the least, {rto_min}");
        r.clash(&["transport.rto_max", "transport.rto_min"], reason, "raise transport.rto_max");
    }
    TcpSpec {
        recovery: match r.choice("transport.recovery") {
            Repairs::Sack => Recovery::Sack,
            Repairs::NewReno => Recovery::NewReno,
        },
        limited_transmit: r.switched("transport.limited_transmit"),
        receive_window: r.bytes_or("transport.receive_window"),
        rto_first: r.time("transport.rto_first"),
        rto_min,
        rto_max,
        quantum: r.time("transport.timer_quantum"),
        ack_delay: r.time("transport.ack_delay"),
    }
}
