//! TCP above the schemes of IEEE 802.1Qau and PAUSE: what can be said beforehand of bursts, timeouts and samples.
#![allow(clippy::unwrap_used, clippy::panic)]

use cnsim_fabric::{Engine, Options, Outcome, run};
use cnsim_scenario::{Ready, Scenario};

/// Servers H1 to HN that answer H0 at once through a switch of 10 Gb/s: their number, the bytes of each, the memory of an output, PAUSE,
/// the scheme, and further lines.
struct Star<'a> {
    servers: usize,
    size: u64,
    memory: u64,
    pause: &'a str,
    scheme: &'a str,
    more: &'a str,
    duration: &'a str,
}

const FRAME: u64 = 1500;
const STAR: Star<'_> = Star {
    servers: 4,
    size: 15_000,
    memory: 100_000,
    pause: "off",
    scheme: "none",
    more: "",
    duration: "20 ms",
};

impl Star<'_> {
    fn text(&self) -> String {
        let Star { servers, size, memory, pause, scheme, more, duration } = self;
        let hosts = servers + 1;
        let (buffer, limit) = match *pause {
            "off" => ("SO", format!("output_limit = \"{memory} B\"")),
            _ => ("XP", String::new()),
        };
        format!(
            "name = \"star\"\n[topology]\nkind = \"single-switch\"\nhosts = {hosts}\nports = {hosts}\nlink_rate = \"10 Gb/s\"\nlink_delay = \"500 ns\"\n\
             [switch]\nprocessing = \"0 us\"\nbuffer = \"{buffer}\"\nshare = \"{memory} B\"\n{limit}\n\
             [host]\nprocessing = \"0 us\"\nqueues = \"per-flow\"\n\
             [transport]\nkind = \"tcp\"\ncongestion = \"newreno\"\nrto_min = \"dc\"\nrto_first = \"10 ms\"\nack_class = \"control\"\n\
             [[traffic]]\nname = \"answers\"\nhosts = \"H1..H{servers}\"\nkind = \"incast\"\ndestinations = \"H0\"\nframe = \"1500 B\"\nsize = \"{size} B\"\n\
             [scheme.newreno]\ninitial_window = 10\n{more}\n[run]\nduration = \"{duration}\"\n[record]\nhost = \"H0\"\n\
             [matrix]\npause = [\"{pause}\"]\nschemes = [\"{scheme}\"]\n"
        )
    }
    fn ready(&self) -> Ready {
        let text = self.text();
        let scenario = Scenario::parse("star.toml", &text, &[]).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
        scenario.ready(&scenario.cases()[0]).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
    }
    fn by(&self, engine: Engine) -> Outcome {
        let ready = self.ready();
        run(&ready.settings.spec(&ready.built, 1, false), &Options { engine, ..Options::default() }).unwrap()
    }
    fn run(&self) -> Outcome {
        self.by(Engine::Fast)
    }
}

fn timeouts(out: &Outcome) -> u64 {
    out.hosts.iter().map(|h| h.transport.timeouts).sum()
}
fn dropped(out: &Outcome) -> u64 {
    out.switches.iter().map(|s| s.dropped()).sum()
}
fn done(out: &Outcome) -> usize {
    out.hosts[0].transfers.completions.len()
}
/// Most bytes that the port to H0 held.
fn peak(out: &Outcome) -> u64 {
    out.switches[0].ports[0].queue_max
}

/// N bursts of w frames in phase fill (N - 1) w + 1 frames. With memory for them none is lost; with a frame less one is, and the first
/// timeout comes where no later frame of its flow tells of it: the burst is the whole flow.
#[test]
fn a_burst_fills_n_less_1_windows_and_a_frame() {
    for (servers, window) in [(2, 10), (4, 10), (7, 10), (12, 4), (33, 2), (64, 1)] {
        let frames = (servers as u64 - 1) * window + 1;
        let star = Star { servers, size: window * FRAME, ..STAR };
        let enough = Star { memory: frames * FRAME, ..star }.run();
        assert_eq!((peak(&enough), dropped(&enough)), (frames * FRAME, 0), "{servers} x {window}");
        assert_eq!((timeouts(&enough), done(&enough)), (0, servers), "{servers} x {window}");
        let less = Star { memory: frames * FRAME - 1, ..star }.run();
        assert_eq!((dropped(&less), timeouts(&less)), (1, 1), "{servers} x {window}");
        assert_eq!(done(&less), servers);
    }
}

/// With PAUSE no number of senders times out, whatever the memory; without, the same senders do.
#[test]
fn with_pause_nothing_times_out() {
    for servers in [2, 8, 16, 32, 64] {
        let with = Star {
            servers,
            size: 60_000,
            pause: "on",
            memory: 150_000,
            more: "[pause]\nhigh = \"130 KB\"\nlow = \"110 KB\"",
            ..STAR
        }
        .run();
        assert_eq!((dropped(&with), timeouts(&with), done(&with)), (0, 0, servers), "{servers}");
        let without = Star { servers, size: 60_000, duration: "90 ms", ..STAR }.run();
        let burst = (servers as u64 - 1) * 10 + 1 > 66;
        assert_eq!(timeouts(&without) > 0, burst, "{servers}: {}", timeouts(&without));
    }
}

/// A congestion point that samples every 150 KB sees no frame of a 20 KB query to fewer than 8 servers; the 8th brings it to 160 KB.
#[test]
fn a_query_below_the_sampling_interval_is_not_seen() {
    for servers in [1, 2, 4, 7, 8, 12] {
        let out = Star {
            servers,
            size: 20_000,
            memory: 1_000_000,
            scheme: "qcn-802.1Qau",
            more: "[scheme.\"qcn-802.1Qau\"]\ncp_jitter = 0\ncp_q_sp = \"20 KB\"",
            ..STAR
        }
        .run();
        assert_eq!(out.messages.made > 0, servers >= 8, "{servers}: {}", out.messages.made);
        assert_eq!(done(&out), servers);
    }
}

/// TCP above a scheme that does nothing is TCP. Above 802.1Qau each flow that is told has a limiter, and none of the others.
#[test]
fn a_limiter_below_the_window() {
    let long = Star { size: 6_000_000, memory: 1_000_000, duration: "60 ms", ..STAR };
    let alone = Star { scheme: "newreno", ..long }.run();
    let above = long.run();
    let ends =
        |o: &Outcome| o.hosts[0].transfers.completions.iter().map(|c| (c.src, c.end)).collect::<Vec<_>>();
    assert_eq!((ends(&alone), peak(&alone)), (ends(&above), peak(&above)));
    assert_eq!(above.fingerprint, alone.fingerprint);
    let star = Star {
        scheme: "qcn-802.1Qau",
        more: "[scheme.\"qcn-802.1Qau\"]\ncp_q_sp = \"20 KB\"\nrpg_min_rate = \"10 Mb/s\"",
        ..long
    };
    let (qcn, model) = (star.run(), star.by(Engine::Model));
    assert_eq!(ends(&qcn), ends(&model));
    assert_eq!((qcn.messages.made, peak(&qcn)), (model.messages.made, peak(&model)));
    let limited: u64 = qcn.hosts.iter().map(|h| h.limited_flows).sum();
    assert!(qcn.messages.made > 0 && (1..=4).contains(&limited), "{} {limited}", qcn.messages.made);
    assert!(peak(&qcn) < peak(&alone), "{} and {}", peak(&qcn), peak(&alone));
    assert!(ends(&qcn) != ends(&alone));
}

/// What cannot be put above another scheme is refused by name; results hold the parameters of both.
#[test]
fn what_stands_above_is_checked_and_kept() {
    let ready = STAR.ready();
    let base = ready.config;
    let (again, case) = Scenario::from_config(&cnsim_schemes::registry(), &base).unwrap();
    let again = again.ready(&case).unwrap();
    assert_eq!(again.config, base, "a result reads back as the same run");
    assert_eq!(again.built.scheme.plan().acks, ready.built.scheme.plan().acks);
    assert_eq!(base.settings().get("scheme.newreno.initial_window").map(String::as_str), Some("10"));
    let refused = |congestion: &str, scheme: &str, more: &str| {
        let named = format!("congestion = \"{congestion}\"");
        let text = Star { scheme, more, ..STAR }.text().replace("congestion = \"newreno\"", &named);
        let read = Scenario::parse("star.toml", &text, &[]);
        let said = read.and_then(|s| s.ready(&s.cases()[0])).err().unwrap_or_default();
        said.iter().map(ToString::to_string).collect::<String>()
    };
    assert!(
        refused("newrno", "none", "").contains("did you mean `newreno`"),
        "{}",
        refused("newrno", "none", "")
    );
    assert!(refused("ecm", "none", "").contains("ecm sets no windows by acknowledgements alone"));
    assert!(refused("hpcc", "none", "").contains("hpcc sets no windows"));
    let one = "[scheme.\"qcn-802.1Qau\"]\nrpp_max_rps = 1";
    assert!(refused("newreno", "qcn-802.1Qau", one).contains("limits whole hosts"));
    let paced = "pacing = \"on\"";
    for (above, more) in
        [("newreno", paced), ("swift", ""), ("timely", ""), ("dctcp", "[scheme.dctcp]\nform = \"rate\"")]
    {
        let said = refused(above, "qcn-802.1Qau", more);
        assert!(said.contains(&format!("{above} sets rates, and above qcn-802.1Qau")), "{said}");
    }
    assert_eq!(refused("dctcp", "qcn-802.1Qau", ""), "");
    assert_eq!(refused("cubic", "none", ""), "");
    assert_eq!(refused("newreno", "dctcp", ""), "", "a scheme with windows of its own needs none above it");
}

/// Hosts without a window send as fast as their link, or their limiter, lets them. Where nothing is put above the scheme that is refused.
#[test]
fn hosts_without_a_window() {
    let star = Star { servers: 2, size: 3_000_000, memory: 60_000, duration: "60 ms", ..STAR };
    let own = Star { more: "[[group]]\nhosts = \"H2\"\ncongestion = \"off\"", ..star };
    let (both, one) = (star.run(), own.run());
    // Windows are cut at a loss, and a link is not.
    assert!(dropped(&one) > 2 * dropped(&both), "{} and {}", dropped(&one), dropped(&both));
    assert_eq!(one.fingerprint, own.by(Engine::Model).fingerprint);
    // Its limiter does.
    let qcn =
        "[[group]]\nhosts = \"H2\"\ncongestion = \"off\"\n[scheme.\"qcn-802.1Qau\"]\ncp_q_sp = \"20 KB\"";
    let limited =
        Star { scheme: "qcn-802.1Qau", size: 6_000_000, memory: 1_000_000, more: qcn, ..star }.run();
    assert!(limited.hosts[2].limited_flows > 0 && limited.hosts[2].slowed_flows > 0);
    let text = own.text().replace("congestion = \"newreno\"\n", "");
    let said = Scenario::parse("star.toml", &text, &[]).unwrap_err();
    let said = said.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("group.0.congestion") && said.contains("no window above the scheme"), "{said}");
}
