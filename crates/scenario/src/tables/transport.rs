//! Queue pairs: `host.queues = "per-flow"`, `[transport]`, and the checks of what a scheme needs of them.

use super::control::{self, ControlTravels};
use super::host::{self, Queues};
use super::record::{self, Completed};
use super::topology::{self, Paths};
use super::workload::{self, Paired, SourcePlan, flows_of_a_pair};
use super::{Section, Settings, run};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{LONGEST, MAX_FRAME, MAX_TRANSFER};
use crate::wiring::Wiring;
use cnsim_fabric::{Recovery, Reliability, RunSpec, SelectiveSpec, TcpSpec, TransportSpec, Window};
use cnsim_scheme_api::registry::Configured;
use cnsim_scheme_api::{Acks, Class, Plan};
use cnsim_units::{Bytes, Time};

words! {
    /// `transport.ack_class`.
    Class { Data = "data", Control = "control", }
}

choices! {
    /// `transport.kind`, and `class.transport`.
    SendsAgain { Nothing = "none", GoBackN = "go-back-n", Selective = "selective", Tcp = "tcp", }
    /// `transport.recovery`.
    Repairs { Sack = "sack", NewReno = "newreno", Rack = "rack", }
    /// `transport.ecn`.
    Echoes { Exact = "exact", UntilCut = "rfc3168", }
    /// `transport.reduction`.
    Reduces { AtOnce = "at-once", Proportional = "proportional", }
}

/// Words of `transport.rto_min`, and the times that they stand for.
const LEAST: [(&str, Time); 8] = [
    ("rfc", Time::from_s(1)),
    ("windows", Time::from_ms(300)),
    ("linux", Time::from_ms(200)),
    ("freebsd", Time::from_ms(30)),
    ("dc", Time::from_ms(10)),
    ("cee-2011", Time::from_ms(2)),
    ("fine", Time::from_ms(1)),
    ("micro", Time::from_us(200)),
];

const HEADER: Kind = Kind::Bytes(Bytes::ZERO, Bytes::new(1000));
const BYTES: Kind = Kind::Bytes(Bytes::new(1), MAX_TRANSFER);
const RETRY: Kind = Kind::Time(Time::from_ns(100), LONGEST);
const OR_FAST: Kind =
    Kind::Or(LEAST[4].0, &Kind::Or(LEAST[5].0, &Kind::Or(LEAST[6].0, &Kind::Or(LEAST[7].0, &RETRY))));
const LEAST_TIMEOUT: Kind =
    Kind::Or(LEAST[0].0, &Kind::Or(LEAST[1].0, &Kind::Or(LEAST[2].0, &Kind::Or(LEAST[3].0, &OR_FAST))));

rows! {
    KIND = key("transport.kind", Kind::Choice(SendsAgain::WORDS), "none",
        "lost frames of queue pairs: not sent again, sent again with all frames that follow (go-back-n), or sent again alone, by selective repeat as in IRN, or as TCP does").with_pairs().also("class.transport");
    ACK_EVERY = key("transport.ack_every", Kind::Or("auto", &Kind::Integer(0, 1_000_000)), "auto",
        "acknowledges one frame in so many, and at once a marked frame, one after a gap and the last; 0: none; auto: 1 where the scheme, the window, transport.kind or record.completion needs acknowledgements, else 0")
        .with_pairs();
    ACK_CLASS = key("transport.ack_class", Kind::Choice(Class::WORDS), "data",
        "acknowledgements travel among the data, as RoCE has it, or ahead of it").with_pairs().unread(NO_ACKS.0, NO_ACKS.1);
    ACK_LENGTH = key("transport.ack_length", kind::ANSWER, "64 B",
        "length of an acknowledgement; the HPCC fork of ns-3 has 60 B").with_pairs().unread(NO_ACKS.0, NO_ACKS.1);
    TELEMETRY = key("transport.telemetry", HEADER, "42 B",
        "bytes of telemetry that a data frame carries beside header and payload, of a scheme that reads telemetry").with_pairs().unread(NO_READER.0, NO_READER.1);
    ACK_TELEMETRY = key("transport.ack_telemetry", HEADER, "28 B",
        "bytes of telemetry that an acknowledgement carries beside its length, of a scheme that reads telemetry").with_pairs().unread(NO_READER.0, NO_READER.1);
    CONGESTION = key("transport.congestion", Kind::Or("scheme", &Kind::Scheme), "scheme",
        "scheme that sets the windows of flows above one that sets none, such as newreno above qcn-802.1Qau: each flow then has a limiter of its own; scheme: the case's scheme does all. It has no effect on a scheme that takes acknowledgements itself")
        .with_pairs();
    WINDOW = key("transport.window", Kind::Or("scheme", &Kind::Or("off", &Kind::Or("bdp", &BYTES))), "scheme",
        "bytes in flight at which a flow waits: as the scheme sets it, no bound, the line rate times the smallest round-trip time of the path, or so many; it sends a frame while less than the window is in flight, so the last one may go beyond it; pacing goes on beside it")
        .with_pairs();
    WINDOW_BY_RATE = key("transport.window_by_rate", kind::SWITCHED, "off",
        "that window is the one at the line rate, and moves with the flow's rate, as with VAR_WIN in the HPCC fork of ns-3")
        .unless(WINDOW, "scheme").read_with_pairs();
    NACK_INTERVAL = key("transport.nack_interval", RETRY, "500 us",
        "least time between two NACKs for the same frame").only(KIND, one_of!(SendsAgain: GoBackN)).read_with_pairs();
    RTO = key("transport.rto", RETRY, "1 ms",
        "timeout: a flow begins anew with the first frame not acknowledged if nothing is acknowledged for this time").only(KIND, one_of!(SendsAgain: GoBackN)).read_with_pairs();
    GAP_FRAMES = key("transport.gap_frames", Kind::Integer(1, 10_000), "1",
        "a report of a frame that came out of order is a NACK when so many later frames have come: more than 1 for paths that reorder")
        .only(KIND, one_of!(SendsAgain: Selective)).read_with_pairs();
    GAP_TIME = key("transport.gap_time", kind::PROCESSING, "0 us",
        "such a report is a NACK when the first missing frame has been the first for this time").only(KIND, one_of!(SendsAgain: Selective)).read_with_pairs();
    RTO_LOW = key("transport.rto_low", RETRY, "100 us",
        "timeout of selective repeat while fewer than transport.few frames are sent and not acknowledged (IRN)").only(KIND, one_of!(SendsAgain: Selective)).read_with_pairs();
    RTO_HIGH = key("transport.rto_high", RETRY, "320 us", "any other timeout of selective repeat (IRN)").only(KIND, one_of!(SendsAgain: Selective)).read_with_pairs();
    FEW = key("transport.few", Kind::Integer(0, 10_000), "3", "see transport.rto_low").only(KIND, one_of!(SendsAgain: Selective)).read_with_pairs();
    RECOVERY = key("transport.recovery", Kind::Choice(Repairs::WORDS), "sack",
        "TCP finds losses by reports of what came out of order (sack, RFC 6675), by duplicate acknowledgements (newreno, RFC 6582), or by reports and the times at which frames were sent (rack, RFC 8985)")
        .only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    PROBE = key("transport.probe", kind::SWITCHED, "on",
        "two round trips after the last acknowledgement a probe asks after the end of a flow: a new frame, or the last one again (RFC 8985)")
        .only(RECOVERY, one_of!(Repairs: Rack)).read_with_pairs();
    REDUCTION = key("transport.reduction", Kind::Choice(Reduces::WORDS), "at-once",
        "in a recovery TCP sends nothing until less than the cut window is on its way (at-once, RFC 6675), or sends in proportion to what is delivered (RFC 6937)")
        .only(RECOVERY, one_of!(Repairs: Sack | Rack)).read_with_pairs();
    HANDSHAKE = key("transport.handshake", kind::SWITCHED, "off",
        "a flow of TCP opens a connection first: a frame of transport.ack_length to its destination and one back, each sent again by transport.rto_first; its completion counts from the first. A lost one leaves the first window as it is")
        .only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    ECN = key("transport.ecn", Kind::Choice(Echoes::WORDS), "exact",
        "how marks come back to flows of TCP: with the acknowledgement of what was marked (exact, as RFC 8257 has it), or with each acknowledgement until a frame says that the window is cut (rfc3168), of which a flow heeds one a window; schemes that count marks, as dctcp, have them exact all the same")
        .only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    BURST = key("transport.burst", Kind::Integer(1, 1000), "1",
        "frames of a flow of TCP that leave back to back, as segmentation in the NIC lets them: new data waits until the window has room for so many, at most a third of it, for all that is left, or until nothing is on its way")
        .only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    LIMITED_TRANSMIT = key("transport.limited_transmit", kind::SWITCHED, "on",
        "the first two duplicate acknowledgements let a new frame go each (RFC 3042)").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    RECEIVE_WINDOW = key("transport.receive_window", Kind::Or("off", &BYTES), "off",
        "most bytes that a TCP source is ahead of the first byte that is not acknowledged, whatever the scheme's window").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    RTO_MIN = key("transport.rto_min", LEAST_TIMEOUT, "linux",
        "least timeout of TCP (RFC 6298), or that of an implementation: rfc 1 s, windows 300 ms, linux 200 ms, freebsd 30 ms, dc 10 ms, cee-2011 2 ms, fine 1 ms, micro 200 us")
        .only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    RTO_FIRST = key("transport.rto_first", RETRY, "1 s", "timeout of TCP before the first round trip is measured").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    RTO_MAX = key("transport.rto_max", RETRY, "60 s", "largest timeout of TCP: each expiry doubles it").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    TIMER_QUANTUM = key("transport.timer_quantum", kind::PROCESSING, "0 us",
        "tick of TCP's timer: an expiry is rounded up to the next tick, and the variation counts as one at least; 0: exact").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
    ACK_DELAY = key("transport.ack_delay", kind::PROCESSING, "40 ms",
        "longest time that an acknowledgement of TCP waits for a further frame, where transport.ack_every is more than 1; 0: without bound").only(KIND, one_of!(SendsAgain: Tcp)).read_with_pairs();
}

/// Reason and remedy of a key of acknowledgements where there are none.
const NO_ACKS: (&str, &str) =
    ("no case has frames of acknowledgements", "remove it, or set transport.ack_every = 1");
/// Reason and remedy of a key of telemetry where no scheme reads any.
const NO_READER: (&str, &str) =
    ("no scheme here reads telemetry", "remove it, or run a scheme that does, as hpcc");

impl Key {
    /// The key has an effect with queue pairs.
    pub(crate) const fn with_pairs(self) -> Self {
        self.only(host::QUEUES, one_of!(Queues: PerFlow)).read_with_pairs()
    }

    /// Nothing of the key is read where no case has queue pairs.
    const fn read_with_pairs(self) -> Self {
        self.unread("no case has queue pairs", "remove it, or set host.queues = \"per-flow\"")
    }
}

/// The scheme of a case, as the settings depend on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steered {
    /// Registered name.
    pub(crate) name: String,
    /// Needs of the scheme; those of no scheme if it could not be built.
    pub(crate) plan: Plan,
    /// Frames with which its flows begin, where it says so.
    pub(crate) initial: u64,
    /// Of each class with a scheme of its own: that.
    pub(crate) classes: Vec<Option<(Steered, Configured)>>,
}

/// Queue pairs of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePairs {
    /// The transport of all hosts.
    pub(crate) spec: TransportSpec,
    /// The moment at which a flow is complete.
    pub(crate) completed: Completed,
    /// Changes that the queue pairs make to the flows.
    pub(crate) flows: Paired,
    /// Length of an acknowledgement without telemetry.
    pub(crate) plain: Bytes,
    /// Frames with which a flow begins, where the scheme says so.
    initial: u64,
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
pub(crate) fn may_acknowledge(r: &mut Reader<'_>, queues: Queues) -> bool {
    queues == Queues::PerFlow && r.integer_or(ACK_EVERY) != Some(0)
}

impl Section for Option<QueuePairs> {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        QueuePairs::read(r, settings.host.queues, &settings.steered, None)
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.transport = self.map(|pairs| pairs.spec);
    }
}

/// Frames for one acknowledgement; `needed`: who cannot do without any.
fn ack_every(r: &mut Reader<'_>, needed: Option<String>, reliability: Reliability) -> u32 {
    let every = match (r.integer_or(ACK_EVERY), needed) {
        (Some(0), Some(who)) => {
            let reason = format!("0 stands for no acknowledgements, and {who} needs them");
            r.wrong(ACK_EVERY, reason, "write 1 or more, or \"auto\"");
            1
        }
        (Some(n), _) => n as u32,
        (None, needed) => u32::from(needed.is_some()),
    };
    if matches!(reliability, Reliability::Tcp(_)) && every < 2 && r.is_asked(ACK_DELAY) {
        let reason = "each frame is acknowledged at once, so that no acknowledgement waits";
        r.wrong(ACK_DELAY, reason, "write transport.ack_every = 2, or leave it out");
    }
    every
}

impl QueuePairs {
    /// The queue pairs that the scenario asks for; none if flows have no queue pairs. A class may have another kind of transport.
    pub(super) fn read(
        r: &mut Reader<'_>,
        queues: Queues,
        scheme: &Steered,
        kind: Option<SendsAgain>,
    ) -> Option<Self> {
        let (name, acks) = (&scheme.name, scheme.plan.acks);
        if queues != Queues::PerFlow {
            if acks != Acks::Optional {
                let reason = format!(
                    "{name} needs acknowledgements, and with host.queues = {} there are none",
                    r.word(host::QUEUES)
                );
                r.wrong(
                    host::QUEUES,
                    reason,
                    "write host.queues = \"per-flow\": each finite flow has a queue pair",
                );
            }
            return None;
        }
        // The scheme has been built with it.
        r.word(CONGESTION);
        let of_run = r.choice(KIND);
        let (window, reliability) = (window(r), reliability(r, kind.unwrap_or(of_run)));
        let completed = r.choice(record::COMPLETION);
        let needed = if acks != Acks::Optional {
            Some(format!("the scheme {name}"))
        } else if reliability != Reliability::None {
            Some(format!("the transport {}", kind.unwrap_or(of_run).word()))
        } else if matches!(window, Window::Bdp | Window::Fixed(_)) {
            Some("a window".into())
        } else {
            (completed == Completed::Acknowledged).then(|| "record.completion = acknowledged".into())
        };
        let ack_every = ack_every(r, needed, reliability);
        let reads = acks == Acks::Telemetry;
        if reads && matches!(r.choice(topology::ROUTING), Paths::FrameHash | Paths::RoundRobin) {
            let reason = format!(
                "{name} compares the telemetry of a flow's frames port by port, and with {} each frame has a path of its own",
                r.word(topology::ROUTING)
            );
            r.wrong(topology::ROUTING, reason, "write flow-hash or destination");
        }
        let telemetry = if reads { r.bytes(TELEMETRY) } else { scheme.plan.stamp };
        // Without a frame, an acknowledgement has neither class nor length.
        let framed = ack_every > 0 && r.choice::<ControlTravels>(control::TRANSPORT) != ControlTravels::Ideal;
        let (ack_class, mut ack_length) = match framed {
            true => (r.choice(ACK_CLASS), r.bytes(ACK_LENGTH)),
            false => (Class::Data, Bytes::new(64)),
        };
        let plain = ack_length;
        if framed && reads {
            ack_length += r.bytes(ACK_TELEMETRY);
        }
        let window_by_rate = r.switched(WINDOW_BY_RATE);
        let spec = TransportSpec { reliability, ack_every, ack_class, ack_length, window, window_by_rate };
        Some(Self {
            spec,
            completed,
            flows: Paired { telemetry, begins: scheme.plan.initial_rate },
            plain,
            initial: scheme.initial,
        })
    }

    /// Refuses a least timeout that no run can see.
    pub(crate) fn in_time(&self, r: &mut Reader<'_>, duration: Time) {
        if let Reliability::Tcp(TcpSpec { rto_min, .. }) = self.spec.reliability
            && rto_min >= duration
            && r.is_asked(RTO_MIN)
        {
            let reason = format!("no timeout of {rto_min} or more happens in a run of {duration}");
            r.clash(&[RTO_MIN, run::DURATION], reason, "lower it, or lengthen run.duration");
        }
    }

    /// Refuses frames that do not fit, larger than possible with telemetry or than the window, and flows that their frames cannot name:
    /// too many of a pair of hosts, or of too many frames.
    pub(crate) fn fit(&self, r: &mut Reader<'_>, plans: &[Vec<SourcePlan>], wiring: &Wiring) {
        let reports = matches!(self.spec.reliability, Reliability::Selective(_) | Reliability::Tcp(_));
        if !reports && plans.iter().flatten().any(|p| p.connected) {
            let reason =
                "flows keep a connection, and their messages need a transport that sends single frames again";
            r.clash(
                &[KIND, workload::CONNECTION, workload::MESSAGES],
                reason.into(),
                "write transport.kind = \"tcp\" or \"selective\"",
            );
        }
        let most = f64::from(TransportSpec::MOST_OF_PAIR);
        let full = |(host, own): (usize, &Vec<SourcePlan>)| Some((host, flows_of_a_pair(host, own, most)?));
        if let Some((host, flows)) = plans.iter().enumerate().find_map(full) {
            let name = &wiring.hosts[host];
            r.wrong(
                host::QUEUES,
                format!("up to {flows} flows go from {name} to one host, and {most} of a pair can have queue pairs"),
                "let fewer flows begin, or spread them over more hosts",
            );
        }
        let frames = plans.iter().flatten().map(SourcePlan::most_frames).max().unwrap_or(0);
        if frames > u32::MAX.into() {
            let reason = format!("a flow has {frames} frames, and a queue pair counts {}", u32::MAX);
            r.wrong(host::QUEUES, reason, "make the flows smaller, or their frames longer");
        }
        let frame = plans.iter().flatten().map(|p| p.frame).max().unwrap_or_default();
        if frame > MAX_FRAME {
            let reason =
                format!("a frame of {frame} with its telemetry or time stamp is larger than {MAX_FRAME}");
            r.clash(&[TELEMETRY, workload::FRAME], reason, "lower it, or the length of frames");
        }
        let mut holds = |key, window: Bytes| {
            if window < frame {
                let reason = format!("a window of {window} is smaller than a frame of {frame}");
                r.clash(&[key], reason, format!("write at least \"{frame}\""));
            }
        };
        if let Window::Fixed(window) = self.spec.window {
            holds(WINDOW, window);
        }
        if let Reliability::Tcp(TcpSpec { receive_window: Some(window), .. }) = self.spec.reliability {
            holds(RECEIVE_WINDOW, window);
            let begins = frame * self.initial;
            if (frame..begins).contains(&window) {
                let reason = format!(
                    "a receive window of {window} is below the {} frames, {begins}, with which a flow begins",
                    self.initial
                );
                let remedy = format!("write at least \"{begins}\", or lower the scheme's initial_window");
                r.clash(&[RECEIVE_WINDOW], reason, remedy);
            }
        }
    }
}

/// The window that the scenario gives all flows.
fn window(r: &mut Reader<'_>) -> Window {
    match (r.bytes_or(WINDOW), r.word(WINDOW).as_str()) {
        (Some(bytes), _) => Window::Fixed(bytes),
        (None, "off") => Window::Off,
        (None, "bdp") => Window::Bdp,
        _ => Window::Scheme,
    }
}

/// Whether lost frames are sent again, and how.
fn reliability(r: &mut Reader<'_>, kind: SendsAgain) -> Reliability {
    match kind {
        SendsAgain::Nothing => Reliability::None,
        SendsAgain::GoBackN => {
            Reliability::GoBackN { nack_interval: r.time(NACK_INTERVAL), rto: r.time(RTO) }
        }
        SendsAgain::Selective => Reliability::Selective(SelectiveSpec {
            gap_frames: r.integer(GAP_FRAMES) as u32,
            gap_time: r.time(GAP_TIME),
            rto_low: r.time(RTO_LOW),
            rto_high: r.time(RTO_HIGH),
            few: r.integer(FEW) as u32,
        }),
        SendsAgain::Tcp => Reliability::Tcp(tcp(r)),
    }
}

/// The keys of TCP.
fn tcp(r: &mut Reader<'_>) -> TcpSpec {
    let word = r.word(RTO_MIN);
    let named = LEAST.iter().find(|(name, _)| *name == word).map(|named| named.1);
    let (rto_min, rto_max) = (r.time_or(RTO_MIN).or(named).unwrap_or_default(), r.time(RTO_MAX));
    if rto_max < rto_min {
        let reason = format!("the largest timeout, {rto_max}, is below the least, {rto_min}");
        r.clash(&[RTO_MAX, RTO_MIN], reason, "raise transport.rto_max");
    }
    let handshake = r.switched(HANDSHAKE);
    if handshake && r.choice::<ControlTravels>(control::TRANSPORT) == ControlTravels::Ideal {
        let reason = "a connection opens by two frames, and control that is ideal takes none";
        r.clash(&[HANDSHAKE, control::TRANSPORT], reason.into(), "write control.transport = \"priority\"");
    }
    let reports = r.choice::<Repairs>(RECOVERY) != Repairs::NewReno;
    TcpSpec {
        handshake,
        classic_ecn: r.choice::<Echoes>(ECN) == Echoes::UntilCut,
        proportional: reports && r.choice::<Reduces>(REDUCTION) == Reduces::Proportional,
        burst: r.integer(BURST) as u32,
        recovery: match r.choice(RECOVERY) {
            Repairs::Sack => Recovery::Sack,
            Repairs::NewReno => Recovery::NewReno,
            Repairs::Rack => Recovery::Rack,
        },
        probe: r.choice::<Repairs>(RECOVERY) == Repairs::Rack && r.switched(PROBE),
        limited_transmit: r.switched(LIMITED_TRANSMIT),
        receive_window: r.bytes_or(RECEIVE_WINDOW),
        rto_first: r.time(RTO_FIRST),
        rto_min,
        rto_max,
        quantum: r.time(TIMER_QUANTUM),
        ack_delay: r.time(ACK_DELAY),
    }
}
