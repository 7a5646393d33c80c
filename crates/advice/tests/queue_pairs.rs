//! Keys of queue pairs: which network they describe, and which combinations are refused, each for its own reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_advice::notes::{before, of_settings};
use cnsim_fabric::{
    LinkLoss, LossKind, LostFrame, Recovery, Reliability, RunSpec, SelectiveSpec, TcpSpec, TransportSpec,
    Window,
};
use cnsim_scenario::{Ready, Scenario};
use cnsim_scheme_api::registry::Configured;
use cnsim_scheme_api::{Acks, Bytes, Class, NodeId, Plan, Rate, Registration, Registry, Scheme, Time};
use std::sync::Arc;

/// A scheme with needs, and nothing else.
#[derive(Clone, Debug)]
struct Wants(&'static str, Acks);

impl Scheme for Wants {
    fn name(&self) -> &str {
        self.0
    }
    fn plan(&self) -> Plan {
        Plan { acks: self.1, initial_rate: self.1 != Acks::Optional, ..Plan::default() }
    }
}

/// Schemes that want nothing, acknowledgements, telemetry, and no rate to begin with.
fn schemes() -> Registry {
    let mut all = Registry::default();
    for (name, acks) in [
        ("none", Acks::Optional),
        ("asks", Acks::Needed),
        ("reads", Acks::Telemetry),
        ("dcqcn", Acks::Needed),
    ] {
        let make = move |_: &[(String, String)]| {
            let scheme = Arc::new(Wants(name, acks));
            Ok(Configured {
                windowless: None,
                values: Vec::new(),
                idle: Vec::new(),
                scheme,
                code: Default::default(),
            })
        };
        all.register(Registration::bridged(name, "a test", "", Vec::new(), make)).unwrap();
    }
    all
}

/// Eight hosts of a leaf and spine; one flow of three full frames and a short one.
fn text(more: &str, scheme: &str) -> String {
    let traffic = if more.contains("[workload]") || more.contains("[[traffic]]") {
        ""
    } else {
        "[workload]\nkind = \"transfers\"\ntransfers = [\"0 us, H0, H7, 3500 B\"]\nframe = \"1048 B\"\nheader = \"48 B\"\n"
    };
    format!(
        "name = \"q\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 4\n{more}\n{traffic}[run]\nduration = \"1 ms\"\n\
         [matrix]\npause = [\"off\"]\nschemes = [\"{scheme}\"]\n"
    )
}

fn read(more: &str, scheme: &str) -> Result<Ready, String> {
    let parsed = Scenario::parse_in(&schemes(), "f.toml", &text(more, scheme), &[], &[]);
    let said =
        |all: Vec<cnsim_problem::Problem>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    parsed.and_then(|s| s.ready(&s.cases()[0])).map_err(said)
}

fn spec(more: &str, scheme: &str) -> RunSpec {
    let ready = read(more, scheme).unwrap();
    ready.settings.spec(&ready.built, 1, false)
}

const PAIRS: &str = "[host]\nqueues = \"per-flow\"\n";

#[test]
fn keys_become_a_transport() {
    let of = |more: &str, scheme: &str| spec(&format!("{PAIRS}{more}"), scheme).transport.unwrap();
    let plain = TransportSpec {
        reliability: Reliability::None,
        ack_every: 0,
        ack_class: Class::Data,
        ack_length: Bytes::new(64),
        window: Window::Scheme,
        window_by_rate: false,
    };
    assert_eq!(of("", "none"), plain);
    assert!(spec("", "none").transport.is_none());
    assert_eq!(of("", "asks"), TransportSpec { ack_every: 1, ..plain });
    // Whatever needs acknowledgements gets them.
    let one = |more: &str| of(&format!("[transport]\n{more}"), "none").ack_every;
    assert_eq!([one("window = \"bdp\""), one("window = \"9 KB\""), one("kind = \"go-back-n\"")], [1; 3]);
    assert_eq!([one("window = \"off\""), one("window = \"scheme\""), one("kind = \"none\"")], [0; 3]);
    assert_eq!(of("[record]\ncompletion = \"acknowledged\"", "none").ack_every, 1);
    let all = of(
        "[transport]\nkind = \"go-back-n\"\nack_every = 4\nack_class = \"control\"\nack_length = \"60 B\"\nwindow = \"20 KB\"\n\
         window_by_rate = \"on\"\nnack_interval = \"100 us\"\nrto = \"3 ms\"",
        "none",
    );
    let again = Reliability::GoBackN { nack_interval: Time::from_us(100), rto: Time::from_ms(3) };
    assert_eq!(
        all,
        TransportSpec {
            reliability: again,
            ack_every: 4,
            ack_class: Class::Control,
            ack_length: Bytes::new(60),
            window: Window::Fixed(Bytes::from_kb(20)),
            window_by_rate: true,
        }
    );
    let usual = Reliability::GoBackN { nack_interval: Time::from_us(500), rto: Time::from_ms(1) };
    assert_eq!(of("[transport]\nkind = \"go-back-n\"", "none").reliability, usual);
    // Telemetry makes frames and acknowledgements longer, not their payload: four frames, of 42 B more.
    let reads = spec(PAIRS, "reads");
    let source = &reads.hosts[0].sources[0];
    assert_eq!((source.frame, source.transfers[0].bytes), (Bytes::new(1090), Bytes::new(3500 + 4 * 90)));
    assert_eq!(reads.transport.unwrap().ack_length, Bytes::new(92));
    let source = &spec(PAIRS, "asks").hosts[0].sources[0];
    assert_eq!((source.frame, source.transfers[0].bytes), (Bytes::new(1048), Bytes::new(3500 + 4 * 48)));
    let fork = spec(
        &format!("{PAIRS}[transport]\nack_length = \"60 B\"\ntelemetry = \"10 B\"\nack_telemetry = \"8 B\""),
        "reads",
    );
    assert_eq!(fork.transport.unwrap().ack_length, Bytes::new(68));
    assert_eq!(fork.hosts[0].sources[0].frame, Bytes::new(1058));
    // A rate to begin with, of all flows or of a table.
    let traffic = "[[traffic]]\nhosts = \"H0\"\nkind = \"transfers\"\ntransfers = [\"0 us, H0, H7, 1 KB\"]\ninitial_rate = \"3 Gb/s\"\n\
                   [[traffic]]\nhosts = \"H1\"\nkind = \"transfers\"\ntransfers = [\"0 us, H1, H7, 1 KB\"]";
    let begins = spec(&format!("{PAIRS}{traffic}"), "asks");
    assert_eq!(begins.hosts[0].sources[0].initial_rate, Some(Rate::from_gbps(3.0)));
    assert_eq!(begins.hosts[1].sources[0].initial_rate, None);
}

/// A run's configuration has the keys of queue pairs only where they have an effect, and makes the same run again.
#[test]
fn a_configuration_runs_again() {
    assert!(read("", "none").unwrap().config.keys().all(|(k, _)| !k.starts_with("transport.")));
    let ready = read(&format!("{PAIRS}[transport]\nkind = \"go-back-n\"\nrto = \"2 ms\""), "reads").unwrap();
    for (key, value) in
        [("transport.rto", "2 ms"), ("transport.telemetry", "42 B"), ("record.completion", "received")]
    {
        assert_eq!(ready.config.text(key), Some(value), "{key}");
    }
    for key in ["host.fifo", "host.limiter_queue", "host.limiter_position", "host.limiter_backlog"] {
        assert!(ready.config.value(key).is_none(), "{key}");
    }
    let (again, case) = Scenario::from_config(&schemes(), &ready.config).unwrap();
    let again = again.ready(&case).unwrap();
    assert_eq!(again.config, ready.config);
    let spec = |r: &Ready| r.settings.spec(&r.built, 1, false);
    assert_eq!(spec(&again).transport, spec(&ready).transport);
    assert_eq!(spec(&again).hosts[0].sources[0].transfers, spec(&ready).hosts[0].sources[0].transfers);
}

#[test]
fn what_cannot_go_together_is_refused() {
    assert!(read(PAIRS, "asks").is_ok());
    for (more, scheme, words) in [
        ("", "asks", &["f.toml:1:1", "host.queues", "asks needs acknowledgements", "\"per-flow\""][..]),
        ("[host]\nqueues = \"per-destination\"", "reads", &["f.toml:8:10", "reads needs acknowledgements"]),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_every = 0",
            "asks",
            &["f.toml:10:13", "transport.ack_every", "the scheme asks needs them", "write 1 or more"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_every = 0\nkind = \"go-back-n\"",
            "none",
            &["f.toml:10:13", "go-back-n needs them"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nack_every = 0",
            "none",
            &["f.toml:11:13", "the transport tcp needs them"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nrto_min = \"cee-2011\"",
            "none",
            &["f.toml:11:11", "no timeout of 2 ms or more", "a run of 1 ms"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nrto_min = \"fast\"",
            "none",
            &["f.toml:11:11", "`fast`", "linux"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nrto_min = \"2 us\"\nrto_max = \"1 us\"",
            "none",
            &["1 us, is below the least, 2 us", "raise"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nreceive_window = \"1 KB\"",
            "none",
            &["f.toml:11:18", "smaller than a frame of 1.048 KB"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nrecovery = \"newreno\"\nprobe = \"on\"",
            "none",
            &["f.toml:12:9", "no effect with transport.recovery = newreno", "rack"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\nack_delay = \"1 ms\"",
            "none",
            &["f.toml:11:13", "no acknowledgement waits", "ack_every = 2"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"tcp\"\ngap_frames = 3",
            "none",
            &["transport.gap_frames", "selective"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"go-back-n\"\nrecovery = \"sack\"",
            "none",
            &["transport.recovery", "tcp"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_every = 0\nwindow = \"bdp\"",
            "none",
            &["f.toml:10:13", "a window needs them"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_every = 0\n[record]\ncompletion = \"acknowledged\"",
            "none",
            &["f.toml:10:13", "record.completion = acknowledged needs them"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nwindow = \"1047 B\"",
            "none",
            &["f.toml:10:10", "smaller than a frame of 1.048 KB", "write at least"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nwindow = \"1080 B\"",
            "reads",
            &["f.toml:10:10", "smaller than a frame of 1.09 KB"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nwindow = \"big\"",
            "none",
            &["f.toml:10:10", "`big`", "\"bdp\"", "\"off\"", "\"scheme\""],
        ),
        (
            "routing = \"frame-hash\"\n[host]\nqueues = \"per-flow\"",
            "reads",
            &["f.toml:7:11", "topology.routing", "telemetry", "each frame has a path", "flow-hash"],
        ),
        ("routing = \"round-robin\"\n[host]\nqueues = \"per-flow\"", "reads", &["f.toml:7:11"]),
        (
            "[host]\nqueues = \"per-flow\"\n[workload]\nload = \"10 %\"",
            "none",
            &["workload.kind", "`bernoulli` is endless", "write transfers, poisson"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[[traffic]]\nhosts = \"H1\"\nkind = \"greedy\"",
            "asks",
            &["f.toml:11:8", "traffic.0.kind", "`greedy` is endless"],
        ),
        // Keys without effect.
        ("[transport]\nwindow = \"bdp\"", "none", &["f.toml:8:10", "no effect", "host.queues to per-flow"]),
        ("[record]\ncompletion = \"acknowledged\"", "none", &["f.toml:8:14", "host.queues to per-flow"]),
        (
            "[host]\nqueues = \"per-flow\"\nfifo = 100",
            "none",
            &["f.toml:9:8", "no effect with host.queues = per-flow"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nrto = \"1 ms\"",
            "none",
            &["f.toml:10:7", "no effect with transport.kind = none"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_length = \"60 B\"",
            "none",
            &["f.toml:10:14", "no effect: no case has frames of acknowledgements"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\nack_class = \"control\"\n[control]\ntransport = \"ideal\"",
            "asks",
            &["f.toml:10:13", "no case has frames of acknowledgements"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[transport]\ntelemetry = \"10 B\"",
            "asks",
            &["f.toml:10:13", "no scheme here reads telemetry"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[[traffic]]\nhosts = \"H0\"\nkind = \"incast\"\ndestinations = \"H7\"\ninitial_rate = \"1 Gb/s\"",
            "none",
            &["f.toml:13:16", "traffic.0.initial_rate", "no scheme here takes an initial rate"],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[[traffic]]\nhosts = \"H0\"\nkind = \"incast\"\ndestinations = \"H7\"\ninitial_rate = \"11 Gb/s\"",
            "asks",
            &[
                "f.toml:13:16",
                "traffic.0.initial_rate",
                "11 Gb/s is above the rate of the link of H0, 10 Gb/s",
                "at most",
            ],
        ),
        (
            "[host]\nqueues = \"per-flow\"\n[workload]\nkind = \"all-to-all\"\nframe = \"9200 B\"",
            "reads",
            &["transport.telemetry", "a frame of 9.242 KB with its telemetry or time stamp is larger"],
        ),
    ] {
        let told = read(more, scheme).err().unwrap_or_default();
        for word in words {
            assert!(told.contains(word), "`{word}` is not in what is reported of\n{more}\n{told}");
        }
        assert!(told.contains("help: "), "{told}");
    }
    let narrow =
        text(&format!("{PAIRS}[transport]\nkind = \"tcp\"\nreceive_window = \"10 KB\"\n"), "newreno");
    let told = Scenario::parse("f.toml", &narrow, &[]).unwrap_err()[0].to_string();
    assert!(told.contains("10 KB is below the 10 frames, 10.48 KB") && told.contains("f.toml:"), "{told}");
    // What one case of the matrix reads has an effect.
    let both =
        text(&format!("{PAIRS}[transport]\ntelemetry = \"10 B\"\nack_length = \"60 B\""), "none\", \"reads");
    assert!(Scenario::parse_in(&schemes(), "f.toml", &both, &[], &[]).is_ok());
    // A scheme that is asked for beside the matrix leaves the file's keys alone, and not those of the command line.
    assert!(Scenario::parse_in(&schemes(), "f.toml", &both, &[], &["none"]).is_ok());
    let set = [("transport.ack_telemetry".to_string(), "9 B".to_string())];
    let told = Scenario::parse_in(&schemes(), "f.toml", &both, &set, &["none"]).unwrap_err();
    assert!(told[0].to_string().contains("no scheme here reads telemetry"), "{}", told[0]);
    // The matrix and rows may vary a key.
    let rows = text(PAIRS, "none") + "\"transport.window\" = [\"off\", \"bdp\", \"20 KB\"]\n";
    let rows = rows.replace("name = \"q\"", "name = \"q\"\ncondition = \"window {transport.window}\"");
    let s = Scenario::parse_in(&schemes(), "f.toml", &rows, &[], &[]).unwrap();
    let windows: Vec<String> = s.cases().iter().map(|c| c.id.condition.clone()).collect();
    assert_eq!(windows, ["window off", "window bdp", "window 20 KB"]);
}

/// What is valid and hardly intended is a note: a timeout below the round trip, and frames that overtake each other.
#[test]
fn doubts_of_go_back_n() {
    let notes = |more: &str| {
        let ready = read(&format!("{more}[transport]\nkind = \"go-back-n\"\n"), "none").unwrap();
        of_settings(&ready).join("\n")
    };
    assert_eq!(notes(PAIRS), "");
    let ready = read(&format!("{PAIRS}[transport]\nkind = \"go-back-n\"\nrto = \"10 us\""), "none").unwrap();
    let told = of_settings(&ready).join("\n");
    // Out: 4 x (838.4 ns + 0.5 us + 1 us), back: 4 x (51.2 ns + 1.5 us).
    assert!(
        told.contains("transport.rto = 10 us is below the round-trip time of H0 > H4, 15.5584 us"),
        "{told}"
    );
    let cubic = text(&format!("{PAIRS}[transport]\nkind = \"go-back-n\"\n"), "cubic");
    let scenario = Scenario::parse("f.toml", &cubic, &[]).unwrap();
    let told = before(&scenario.ready(&scenario.cases()[0]).unwrap()).join("\n");
    assert!(
        told.contains("cubic slows a flow at a loss") && told.contains("all that follow it again"),
        "{told}"
    );
    let told = notes(&format!("routing = \"frame-hash\"\n{PAIRS}"));
    assert!(told.contains("overtake each other") && told.contains("resent_share"), "{told}");
}

/// A link that loses: both its senses, by chance or as a list says; a table for the events of ports stands beside it.
#[test]
fn links_lose_what_a_table_says() {
    let spec = |table: &str| {
        let ready = read(&format!("{PAIRS}[[event]]\n{table}"), "none").unwrap();
        ready.settings.spec(&ready.built, 1, false).events.losses
    };
    let drawn = spec("link = \"H0-L1\"\nloss = \"0.1 %\"\nfrom = \"10 us\"\nto = \"20 us\"");
    let (from, to, kind) = (Time::from_us(10), Time::from_us(20), LossKind::Drawn(0.001));
    let one = |node, port| LinkLoss { node: NodeId(node), port, from, to, kind: kind.clone() };
    assert_eq!(drawn, [one(0, 0), one(8, 0)]);
    let listed = spec("link = \"L1-S1\"\nlose = [\"H0>H7 3\", \"H0>H7#2 1\", \"H0>H7 ack 2\"]");
    let frame = |number, acknowledgement, nth| LostFrame {
        flow: (NodeId(0), NodeId(7)),
        number,
        acknowledgement,
        nth,
    };
    let list = vec![frame(None, false, 3), frame(Some(1), false, 1), frame(None, true, 2)];
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[1].kind, listed[1].to), (&LossKind::Listed(list), Time::from_ms(1)));
    for (table, words) in [
        ("link = \"H0-S1\"\nloss = \"1e-3\"", &["f.toml:10:8", "there is no link `H0-S1`", "neighbours"][..]),
        ("link = \"H0-L1\"", &["f.toml:9:1", "not in one way", "either loss"]),
        ("link = \"H0-L1\"\nloss = \"1e-3\"\nlose = [\"H0>H7 3\"]", &["not in one way"]),
        ("link = \"H0-L1\"\nloss = \"2\"", &["f.toml:11:8", "`2` is no probability", "above 0, at most 1"]),
        ("link = \"H0-L1\"\nlose = [\"H0>H7 0\"]", &["f.toml:11:9", "`H0>H7 0` names no frame", "ack 3"]),
        ("link = \"H0-L1\"\nlose = [\"H0>H9 1\"]", &["there is no host `H9`"]),
        ("link = \"H0-L1\"\nloss = \"1e-3\"\nto = \"2 ms\"", &["do not lie within the run of 1 ms"]),
        (
            "link = \"H0-L1\"\nloss = \"1e-3\"\nrate = \"1 Gb/s\"",
            &["event.0.rate", "is of a port", "a table for each"],
        ),
        ("port = \"L1>H0\"\nloss = \"1e-3\"", &["is of a link that loses", "no `link`"]),
        (
            "link = \"H0-L1\"\nloss = \"1e-3\"\n[[event]]\nlink = \"L1-H0\"\nloss = \"1e-3\"",
            &["overlaps other losses"],
        ),
    ] {
        let said = read(&format!("{PAIRS}[[event]]\n{table}"), "none").unwrap_err();
        assert!(words.iter().all(|word| said.contains(word)), "{table}\n{said}");
    }
}

/// The keys of selective repeat and TCP, and their defaults: those of IRN, and of Linux.
#[test]
fn frames_go_again_alone() {
    let of = |more: &str| {
        let ready = read(&format!("{PAIRS}[transport]\n{more}"), "none").unwrap();
        ready.settings.spec(&ready.built, 1, false).transport.unwrap()
    };
    let irn = SelectiveSpec {
        gap_frames: 1,
        gap_time: Time::ZERO,
        rto_low: Time::from_us(100),
        rto_high: Time::from_us(320),
        few: 3,
    };
    let spec = of("kind = \"selective\"");
    assert_eq!((spec.reliability, spec.ack_every), (Reliability::Selective(irn), 1));
    let late = SelectiveSpec { gap_frames: 4, gap_time: Time::from_us(5), few: 9, ..irn };
    let spec = of("kind = \"selective\"\ngap_frames = 4\ngap_time = \"5 us\"\nfew = 9");
    assert_eq!(spec.reliability, Reliability::Selective(late));
    let linux = TcpSpec {
        recovery: Recovery::Sack,
        probe: false,
        handshake: false,
        classic_ecn: false,
        proportional: false,
        burst: 1,
        limited_transmit: true,
        receive_window: None,
        rto_first: Time::from_s(1),
        rto_min: Time::from_ms(200),
        rto_max: Time::from_s(60),
        quantum: Time::ZERO,
        ack_delay: Time::from_ms(40),
    };
    assert_eq!(of("kind = \"tcp\"").reliability, Reliability::Tcp(linux));
    let all = "kind = \"tcp\"\nrecovery = \"newreno\"\nlimited_transmit = \"off\"\nreceive_window = \"128 KB\"\nrto_first = \"10 ms\"\n\
               rto_min = \"micro\"\nrto_max = \"1 s\"\ntimer_quantum = \"1 us\"\nack_delay = \"2 ms\"\nack_every = 2\nhandshake = \"on\"\nburst = 4";
    let given = TcpSpec {
        recovery: Recovery::NewReno,
        probe: false,
        handshake: true,
        classic_ecn: false,
        proportional: false,
        burst: 4,
        limited_transmit: false,
        receive_window: Some(Bytes::from_kb(128)),
        rto_first: Time::from_ms(10),
        rto_min: Time::from_us(200),
        rto_max: Time::from_s(1),
        quantum: Time::from_us(1),
        ack_delay: Time::from_ms(2),
    };
    assert_eq!((of(all).reliability, of(all).ack_every), (Reliability::Tcp(given), 2));
    assert_eq!(
        of("kind = \"tcp\"\nrto_min = \"70 us\"").reliability,
        Reliability::Tcp(TcpSpec { rto_min: Time::from_us(70), ..linux })
    );
    let proportional = "kind = \"tcp\"\nreduction = \"proportional\"";
    assert_eq!(of(proportional).reliability, Reliability::Tcp(TcpSpec { proportional: true, ..linux }));
    for (probe, more) in [(true, ""), (false, "\nprobe = \"off\"")] {
        let rack = TcpSpec { recovery: Recovery::Rack, probe, ..linux };
        assert_eq!(
            of(&format!("kind = \"tcp\"\nrecovery = \"rack\"{more}")).reliability,
            Reliability::Tcp(rack)
        );
    }
}
