//! Metrics of queue pairs, of outcomes that are made up, each worked out by hand.

use super::*;
use cnsim_fabric::{Completion, TransportOutcome};
use cnsim_scenario::Scenario;
use cnsim_units::Bytes;
use std::collections::BTreeMap;

/// H0 and H2 send 1000 B each to H1, over queue pairs.
fn settings(more: &str) -> Settings {
    let text = format!(
        "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"1 ms\"\n\
         [[traffic]]\nhosts = [\"H0\", \"H2\"]\nkind = \"incast\"\ndestinations = \"H1\"\nsize = \"1000 B\"\n{more}"
    );
    let scenario = Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    scenario.ready(&scenario.cases()[0]).unwrap().settings
}

const PAIRS: &str = "[host]\nqueues = \"per-flow\"\n";

fn run() -> Outcome {
    Outcome { duration: Time::from_ms(1), hosts: vec![HostOutcome::default(); 3], ..Outcome::default() }
}

fn measured_by_name(settings: &Settings, out: &Outcome) -> BTreeMap<&'static str, f64> {
    let flows = Flows::of(settings, out);
    Run::new(settings, out, &flows, None).measured().into_iter().map(|(id, v, _)| (id.text(), v)).collect()
}

fn near(is: f64, by_hand: f64) {
    assert!((is - by_hand).abs() < 1e-9 * by_hand.abs().max(1.0), "{is} {by_hand}");
}

#[test]
fn shares_timeouts_and_round_trips_by_hand() {
    let mut out = run();
    let mut rtt = vec![0; 40];
    // Three of 10 to 11 ns, one of 20 to 21: the second octave has steps of 1 ns.
    (rtt[10], rtt[20]) = (3, 1);
    out.hosts[0].transport =
        TransportOutcome { acked: 3000, marked: 600, resent: 4, timeouts: 2, rtt, ..Default::default() };
    out.hosts[2].transport = TransportOutcome { acked: 1000, resent: 1, timeouts: 1, ..Default::default() };
    (out.hosts[0].sent, out.hosts[2].sent) = (40, 60);
    let all = measured_by_name(&settings(PAIRS), &out);
    for (id, by_hand) in [
        ("marked_share", 600.0 / 4000.0 * 100.0),
        ("resent_share", 5.0),
        ("timeouts", 3.0),
        // Two thirds into the bucket from 10 ns; 96 % into that from 20 ns.
        ("rtt_p50", (10.0 + 2.0 / 3.0) / 1e3),
        ("rtt_p99", 20.96 / 1e3),
    ] {
        println!("{id}");
        assert!((all[id] - by_hand).abs() < 2e-6 * by_hand.abs().max(1.0), "{} {by_hand}", all[id]);
    }
    // What is known of frames in any order is not known where they are taken in order.
    let ids = ["recoveries", "reorder_bytes_max"];
    assert!(ids.iter().all(|id| !all.contains_key(id)));
    let mut unordered = out.clone();
    for host in &mut unordered.hosts {
        (host.out_of_order, host.transport.recoveries, host.held_max) = (vec![0], 2, 3000);
    }
    let told = measured_by_name(&settings(PAIRS), &unordered);
    assert_eq!(ids.map(|id| told[id]), [6.0, 3.0]);
    // Without acknowledgements nothing is known of marks and round trips; without queue pairs there is none of it.
    let all = measured_by_name(&settings(PAIRS), &run());
    assert!(!all.contains_key("marked_share") && !all.contains_key("rtt_p50"));
    near(all["resent_share"], 0.0);
    near(all["timeouts"], 0.0);
    let all = measured_by_name(&settings(""), &out);
    for id in ["marked_share", "resent_share", "timeouts", "rtt_p50", "rtt_p99"] {
        assert!(!all.contains_key(id) && cnsim_scenario::metrics::find(id).is_some(), "{id}");
    }
}

/// A thousand acknowledgements of 64 B, 6000 B that are sent again, and 1000 bits of messages, in 1 ms.
#[test]
fn overhead_by_hand() {
    let mut out = run();
    out.messages.bits = 1000;
    out.hosts[0].transport = TransportOutcome { resent_bytes: 6000, resent: 4, ..Default::default() };
    out.hosts[0].sent = 40;
    out.hosts[1].transport = TransportOutcome { acks_made: 1000, ..Default::default() };
    near(measured_by_name(&settings(PAIRS), &out)["overhead"], 1.0 + 512.0 + 48.0);
}

/// One flow is received after 30 us and acknowledged after 40, the other received after 50 and not acknowledged.
#[test]
fn a_flow_ends_as_the_scenario_says() {
    let received = settings(PAIRS);
    let acknowledged = settings(&format!("{PAIRS}[record]\ncompletion = \"acknowledged\"\n"));
    let bytes = received.plans(0)[0].framing.on_link(Bytes::new(1000)).get();
    let done = |src: u32, us: u64, back: Option<u64>| Completion {
        class: 0,
        flow: None,
        src: NodeId(src),
        bytes,
        start: Time::from_us(10),
        nth: 0,
        end: Time::from_us(10 + us),
        acknowledged: back.map(|us| Time::from_us(10 + us)),
    };
    let mut out = run();
    out.hosts[1].transfers.completions = vec![done(0, 30, Some(40)), done(2, 50, None)];
    let all = measured_by_name(&received, &out);
    near(all["completion_time"], 40.0);
    near(all["finished_flows"], 100.0);
    let all = measured_by_name(&acknowledged, &out);
    near(all["completion_time"], 40.0);
    near(all["completion_time_p50"], 40.0);
    near(all["finished_flows"], 50.0);
    near(all["incomplete_transfers"], 1.0);
    // The one that lasts has taken 990 us so far. The ideal time has the way back: 64 B take 51.2 ns on each link, and 1.5 us.
    near(all["completion_time_max"], 990.0);
    let flows = Flows::of(&acknowledged, &out);
    let back = flows.timed[0].ideal - Flows::of(&received, &out).timed[0].ideal;
    assert_eq!(back, Time::from_ps(2 * (51_200 + 1_500_000)));
    assert_eq!((flows.done.len(), flows.done[0].time), (1, 40_000_000));
    let open = flows.unfinished(&acknowledged, &out, &Default::default());
    assert_eq!((open.len(), open[0].flow.as_str(), open[0].missing), (1, "H2>H1", 0));
    assert_eq!(open[0].waits_for, "its last acknowledgement");
    assert!(Flows::of(&received, &out).unfinished(&received, &out, &Default::default()).is_empty());
    // Frames that switches drop are sent again by go-back-n, and lost without it.
    let again = settings(&format!("{PAIRS}[transport]\nkind = \"go-back-n\"\n"));
    out.hosts[1].transfers.missing = vec![cnsim_fabric::Incomplete {
        src: NodeId(2),
        bytes,
        start: Time::from_us(20),
        nth: 0,
        missing: 9,
        class: 0,
        flow: None,
    }];
    out.hosts[1].transfers.completions.truncate(1);
    out.hosts[0].source_discards = 1;
    let waits =
        |s: &Settings| Flows::of(s, &out).unfinished(s, &out, &Default::default())[0].waits_for.clone();
    assert!(
        waits(&received).ends_with("none is sent again") && waits(&again).ends_with("they are sent again")
    );
}
