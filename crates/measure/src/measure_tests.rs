//! Metrics of outcomes that are made up, each worked out by hand: every value stands at an edge of what its metric counts.

use super::*;
use crate::ports::ports;
use cnsim_fabric::{
    Completion, Freeze, HostPause, Incomplete, Messages, PortOutcome, Recorded, Series, SwitchOutcome,
};
use cnsim_scenario::Scenario;
use cnsim_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

fn settings(text: &str) -> Settings {
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    scenario.ready(&scenario.cases()[0]).unwrap().settings
}

/// A star of H0, H1 and H2, whose switch is node 3, for 200 ms in bins of 1 ms. H1's port is slow, 1 Gb/s, from 60.5 to 80 ms; what
/// is said of the measurement is of 100 to 150 ms.
const HOTSPOT: &str = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[hotspot]\nhost = \"H1\"\nrate = \"1 Gb/s\"\n\
    start = \"60.5 ms\"\nstop = \"80 ms\"\n[run]\nduration = \"200 ms\"\n[record]\nbin = \"1 ms\"\nfrom = \"100 ms\"\nto = \"150 ms\"\n";
const HOT: (NodeId, u16) = (NodeId(3), 1);
/// A series of 200 bins.
fn series(kind: SeriesKind, of: impl Fn(usize) -> f64) -> Series {
    Series { kind, bin: Time::from_ms(1), values: (0..200).map(of).collect() }
}

/// A host that was in XOFF for so many ms.
fn host(ms: u64) -> HostOutcome {
    let pause = HostPause { time: Time::from_ms(ms), ..HostPause::default() };
    HostOutcome { generated: 1, pause, ..HostOutcome::default() }
}

/// A run of that star.
fn hotspot_run() -> Outcome {
    // The hot port: 8 Gb/s in the 50 whole bins before the hotspot, 0.9 in the 19 whole bins of it. Afterwards nothing for 5 bins,
    // 15 bins at 93.75 % of 8 Gb/s, and 7.7105 for the rest: the mean over 20 bins is 7.605 ten bins after the hotspot.
    let hot = |i: usize| match i {
        0..=9 => 2e9,
        10..=59 => 8e9,
        60 => 5e9,
        61..=79 => 0.9e9,
        80..=84 => 0.0,
        85..=99 => 7.5e9,
        _ => 7.7105e9,
    };
    let mut hosts = vec![host(20), host(100), host(0)];
    hosts[0].delivered = 600;
    hosts[2].delivered = 400;
    hosts[0].latencies.sum = Time::from_ms(2);
    hosts[2].latencies.sum = Time::from_ms(1);
    hosts[2].source_discards = 7;
    // 100 frames in the bucket from 16 to 17 us (16 to an octave, of 1.024 us here), 100 in a later one.
    hosts[0].latencies.histogram = vec![0; 400];
    hosts[0].latencies.histogram[160] = 100;
    hosts[2].latencies.histogram = vec![0; 400];
    hosts[2].latencies.histogram[320] = 100;
    let port = |dropped, dropped_by_limit, xoffs, queue_max| PortOutcome {
        dropped,
        dropped_by_limit,
        xoffs,
        queue_max,
        ..PortOutcome::default()
    };
    let delivered = |h: u32| SeriesKind::Delivered { host: NodeId(h) };
    Outcome {
        duration: Time::from_ms(200),
        hosts,
        switches: vec![SwitchOutcome {
            ports: vec![port(4, 0, 2, 900), port(20, 10, 3, 5000), port(5, 1, 0, 4999)],
            ..SwitchOutcome::default()
        }],
        messages: Messages { made: 9, bits: 4_000_000, discarded: 1, ignored: 2, lost: 3 },
        counters: vec![
            ("false_positives".into(), 3),
            ("positive_messages".into(), 12),
            ("cpid_changes".into(), 5),
        ],
        recorded: Recorded {
            series: vec![
                series(delivered(0), |_| 0.0),
                series(delivered(1), hot),
                series(delivered(2), |i| if (100..150).contains(&i) { 2e9 } else { 9e9 }),
                // 9 bins of 100 KB and 10 of 40 KB while the port is slow.
                series(SeriesKind::Queue { node: HOT.0, port: HOT.1 }, |i| match i {
                    61..=69 => 100e3,
                    70..=79 => 40e3,
                    _ => 7e3,
                }),
                series(SeriesKind::Sent { node: HOT.0, port: HOT.1 }, |i| {
                    if (100..150).contains(&i) { 3e9 } else { 9e9 }
                }),
                series(SeriesKind::Dropped { node: HOT.0 }, |i| (i * i) as f64),
            ],
            ..Recorded::default()
        },
        freeze: Freeze { last_delivery: Some(Time::from_us(12_500)), standstill: None },
        ..Outcome::default()
    }
}

/// The metrics that are lower bounds.
fn bounds_of(flows: &Flows) -> BTreeSet<&'static str> {
    let all = Completions::new(&flows.timed).measured();
    all.into_iter().filter(|m| m.2).map(|m| m.0.text()).collect()
}

/// The metrics of a run, by name.
fn measured_by_name(settings: &Settings, out: &Outcome) -> BTreeMap<&'static str, f64> {
    let flows = Flows::of(settings, out);
    Run::new(settings, out, &flows, None).measured().into_iter().map(|(id, v, _)| (id.text(), v)).collect()
}

#[track_caller]
fn near(is: f64, by_hand: f64) {
    assert!((is - by_hand).abs() <= 1e-6 * by_hand.abs().max(1e-3), "{is}, by hand {by_hand}");
}

#[test]
fn a_hotspot_by_hand() {
    let all = measured_by_name(&settings(HOTSPOT), &hotspot_run());
    for (id, by_hand) in [
        ("hot_port_throughput", 7.7105),
        ("throughput", 7.7105),
        ("aggregate_throughput", 9.7105),
        ("innocent_throughput", 2.0),
        ("bottleneck_utilization", 90.0),
        ("mean_hot_queue", 1300.0 / 19.0),
        // (9 (600/19)^2 + 10 (540/19)^2) / 18 = 947.3684.
        ("sd_hot_queue", 30.779_351),
        ("mean_hot_queue_late", 40.0),
        // The bins from 71 on lie in the second half, which begins at 70.25 ms.
        ("late_drops", 79.0 * 79.0 - 71.0 * 71.0),
        ("innocent_drop_share", 25.0),
        ("dropped_frames", 40.0),
        ("recovery_time", 10.0),
        // 5 bins without anything, 15 that lack a sixteenth, 100 that lack 0.2895 of 8.
        ("recovery_deficit", 5.0 + 15.0 / 16.0 + 100.0 * 0.2895 / 8.0),
        ("time_paused", 5.0),
        ("time_paused_senders", 5.0),
        ("time_paused_affected", 10.0),
        ("time_paused_touched", 30.0),
        ("overhead", 20.0),
        ("mean_latency", 3.0),
        ("source_discards", 7.0),
        ("control_messages", 9.0),
        ("control_discarded", 1.0),
        ("feedback_ignored", 2.0),
        ("feedback_lost", 3.0),
        ("pauses", 5.0),
        ("queue_max", 5.0),
        ("discarded_positives", 3.0),
        ("discarded_positive_share", 25.0),
        ("point_changes", 5.0),
        ("frozen_since", 12.5),
    ] {
        assert!(all.contains_key(id), "{id} is not among {:?}", all.keys());
        println!("{id}");
        near(all[id], by_hand);
    }
    assert!(!all.contains_key("queue_p99"), "19 samples have no 99th percentile");
    assert!(!all.contains_key("time_paused_links"), "a star has no link between switches");
    // The median is at the upper end of the first bucket that has frames.
    assert!(all["latency_p50"] < all["latency_p99"]);
}

/// A run whose hot port never recovers: the rest of the run.
#[test]
fn no_recovery_takes_the_rest() {
    let mut out = hotspot_run();
    let delivered = SeriesKind::Delivered { host: NodeId(1) };
    let Some(s) = out.recorded.series.iter_mut().find(|s| s.kind == delivered) else { panic!() };
    s.values[100..].fill(7.5e9);
    near(measured_by_name(&settings(HOTSPOT), &out)["recovery_time"], 120.0);
}

/// On and off again: the hotspot's windows are the measurement of the queue, and what is otherwise delivered counts apart.
#[test]
fn a_periodic_hotspot_by_hand() {
    // Slow from 60 to 70 and from 80 to 90 ms. H0 and H2 offer 20 % of 10 Gb/s each to the two others: 2 Gb/s to H1.
    let text = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[workload]\nload = \"20 %\"\n[hotspot]\nhost = \"H1\"\n\
                rate = \"1 Gb/s\"\nstart = \"60 ms\"\nstop = \"100 ms\"\nperiod = \"10 ms\"\n[run]\nduration = \"200 ms\"\n[record]\nbin = \"1 ms\"\n";
    let mut out = hotspot_run();
    out.recorded.series = vec![series(SeriesKind::Delivered { host: NodeId(1) }, |i| match i {
        60..=69 => 0.5e9,
        80..=89 => 0.7e9,
        _ => 8e9,
    })];
    // 0.6 Gb/s for 20 ms, and 90 % of 2 Gb/s for the other 180 ms.
    out.hosts[1].delivered_bits = 12_000_000 + 324_000_000;
    let settings = settings(text);
    let offered: f64 =
        (0..3).map(|h| settings.offered_between(h, true, (Time::ZERO, settings.duration))).sum();
    near(offered, 2e9);
    let all = measured_by_name(&settings, &out);
    near(all["bottleneck_utilization"], 60.0);
    near(all["victim_utilization_otherwise"], 90.0);
    near(all["victim_flow_utilization"], 336.0 / 380.0 * 100.0);
    assert!(!all.contains_key("recovery_time"));
}

#[test]
fn bins_lie_wholly_within() {
    let ten: Vec<usize> = (0..10).collect();
    let of = |from: f64, to: f64| slice(&ten, 0.001, from, to).to_vec();
    assert_eq!(of(0.002, 0.005), [2, 3, 4]);
    assert_eq!(of(0.0021, 0.0059), [3, 4]);
    assert_eq!(of(0.0, 1.0), ten);
    assert_eq!(of(0.0098, 1.0), [0; 0]);
    assert_eq!(of(0.005, 0.002), [0; 0]);
    // Rounding of a product is no part of a bin.
    assert_eq!(of(0.003_000_000_000_1, 0.004_999_999_999_9), [3, 4]);
    assert_eq!(share(1.2), 100.0);
    assert_eq!(share(-0.1), 0.0);
    assert_eq!(share(0.25), 25.0);
}

#[test]
fn percentiles_of_samples_need_a_hundred() {
    let samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(quantile(&samples, 0.99), Some(99.0));
    assert_eq!(quantile(&samples[..99], 0.99), None);
}

/// H0 sends to H1 always, H2 from 5 ms on. Two milliseconds after a change are left out, and bins without anything.
#[test]
fn fairness_by_hand() {
    let text = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[[traffic]]\nhosts = [\"H0\"]\nkind = \"greedy\"\ndestinations = \"H1\"\n\
                [[traffic]]\nhosts = [\"H2\"]\nkind = \"greedy\"\ndestinations = \"H1\"\nstart = \"5 ms\"\n[run]\nduration = \"10 ms\"\n\
                [record]\nbin = \"1 ms\"\nflows = [\"H0>H1\", \"H2>H1\"]\n";
    let settings = settings(text);
    let flow = |src: u32, of: [f64; 10]| Series {
        kind: SeriesKind::Flow { src: NodeId(src), dst: NodeId(1) },
        bin: Time::from_ms(1),
        values: of.to_vec(),
    };
    let hosts = vec![HostOutcome::default(); 3];
    let mut out = Outcome { duration: Time::from_ms(10), hosts, ..Outcome::default() };
    out.recorded.series = vec![
        flow(0, [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 3.0, 3.0, 0.0]),
        flow(2, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 1.0, 0.0]),
    ];
    let found = fairness(&settings, &out);
    assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), {
        let mut settled = [true; 10];
        [0, 1, 5, 6].iter().for_each(|i| settled[*i] = false);
        settled
    });
    assert!(found[..5].iter().all(|f| f.0.is_none()), "one source alone is not fair or unfair");
    near(found[5].0.unwrap(), 0.5);
    near(found[7].0.unwrap(), 64.0 / 68.0);
    assert_eq!(found[9].0, None, "nothing arrived");
    // The mean of bins 7 and 8: 64/68 and 16/20.
    let all = measured_by_name(&settings, &out);
    near(all["fairness"], (64.0 / 68.0 + 16.0 / 20.0) / 2.0);
}

/// H0 and H2 send to H1 as fast as they may, over links of 10 Gb/s, for 10 ms.
#[test]
fn rates_of_fixed_flows_by_hand() {
    let text = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[[traffic]]\nhosts = [\"H0\", \"H2\"]\nkind = \"greedy\"\n\
                destinations = \"H1\"\n[run]\nduration = \"10 ms\"\n";
    let mut hosts = vec![HostOutcome::default(); 3];
    hosts[1].delivered_bits = 80_000_000;
    let port = |sent_bits, control_sent| PortOutcome { sent_bits, control_sent, ..PortOutcome::default() };
    let mut matrix = vec![0; 9];
    (matrix[1], matrix[7]) = (1_250_000, 3_750_000);
    let out = Outcome {
        duration: Time::from_ms(10),
        hosts,
        // To H1 9 Gb/s of data and a thousand control frames of 64 bytes; to H0 9 Gb/s without.
        switches: vec![SwitchOutcome {
            ports: vec![port(90_000_000, 0), port(90_000_000, 1000), port(0, 5)],
            ..SwitchOutcome::default()
        }],
        recorded: Recorded { matrix, ..Recorded::default() },
        ..Outcome::default()
    };
    let all = measured_by_name(&settings(text), &out);
    for (id, by_hand) in [
        ("flow_rate", 2000.0),
        ("flow_rate_min", 1000.0),
        ("flow_rate_max", 3000.0),
        ("throughput_loss", 1.0),
        ("bottleneck_control", 51.2),
        // 5 Gb/s each would be fair; 8 of the 10 arrived.
        ("aggregate_loss", 2.0),
        ("aggregate_throughput", 8.0),
        ("throughput", 8.0),
        ("dropped_frames", 0.0),
        ("mean_latency", 0.0),
    ] {
        println!("{id}");
        near(all[id], by_hand);
    }
    assert!(!all.contains_key("innocent_drop_share"), "none was dropped");
}

/// Flows of 1000 and 100,000 bytes, of which the latter are not small, from H0 and H2 to H1.
#[test]
fn completion_by_hand() {
    let text = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"1 ms\"\n\
                [[traffic]]\nhosts = [\"H0\", \"H2\"]\nkind = \"incast\"\ndestinations = \"H1\"\nsize = \"1000 B\"\n";
    let settings = settings(text);
    let framing = settings.plans(0).iter().find(|p| p.finite()).unwrap().framing;
    let on_link = |bytes: u64| framing.on_link(Bytes::new(bytes)).get();
    let done = |src: u32, bytes: u64, us: u64| Completion {
        src: NodeId(src),
        bytes: on_link(bytes),
        start: Time::from_us(10),
        nth: 0,
        end: Time::from_us(10 + us),
        ..Completion::default()
    };
    let mut out =
        Outcome { duration: Time::from_ms(1), hosts: vec![HostOutcome::default(); 3], ..Outcome::default() };
    // 10, 20, 30, 40 us, and a large one, of 100 KB, of 500 us; a small one has been on its way for 100 us.
    out.hosts[1].transfers.completions = vec![
        done(0, 1000, 30),
        done(2, 1000, 10),
        done(0, 1000, 40),
        done(2, 1000, 20),
        done(0, 100_000, 500),
    ];
    out.hosts[1].transfers.missing = vec![Incomplete {
        src: NodeId(2),
        bytes: on_link(1000),
        start: Time::from_us(900),
        nth: 0,
        missing: 500,
        class: 0,
        flow: None,
    }];
    let flows = Flows::of(&settings, &out);
    let all = measured_by_name(&settings, &out);
    for (id, by_hand) in [
        ("completed_transfers", 5.0),
        ("incomplete_transfers", 1.0),
        ("finished_flows", 500.0 / 6.0),
        ("completion_time", 120.0),
        // The third, the sixth of six; the last one is not finished and counts as long as the longest.
        ("completion_time_p50", 30.0),
        ("completion_time_p90", 500.0),
        ("completion_time_max", 500.0),
        // Of five small ones the third, and the unfinished one, 100 us so far.
        ("small_completion_p50", 30.0),
        ("small_completion_p90", 100.0),
        ("flows_below_ideal", 0.0),
    ] {
        println!("{id}");
        near(all[id], by_hand);
    }
    let ideal = flows.timed[0].ideal.as_secs_f64() * 1e6;
    // 500 us where about 84 would do is the third, behind 10 and 20 us.
    let large = flows.timed.iter().find(|f| f.bytes.get() == 100_000).unwrap().slowdown();
    assert!(20.0 / ideal < large && large < 30.0 / ideal, "{large}");
    near(all["slowdown_p50"], large);
    let bounds = bounds_of(&flows);
    assert!(bounds.contains("completion_time_p90") && bounds.contains("small_completion_p90"), "{bounds:?}");
    assert!(
        !bounds.contains("completion_time_p50") && !bounds.contains("small_completion_p50"),
        "{bounds:?}"
    );
    out.hosts[1].transfers.missing.clear();
    let flows = Flows::of(&settings, &out);
    assert!(bounds_of(&flows).is_empty());
    let all = measured_by_name(&settings, &out);
    near(all["finished_flows"], 100.0);
    near(all["completion_time_p50"], 30.0);
    near(all["completion_time_p90"], 500.0);
    assert!(
        !measured_by_name(
            &settings,
            &Outcome { hosts: vec![HostOutcome::default(); 3], ..Outcome::default() }
        )
        .contains_key("finished_flows")
    );
}

/// Facts are kept of named ports, and of those with most of PAUSE, XOFF and drops; named ones come first.
#[test]
fn facts_of_ports_by_hand() {
    let mut out = hotspot_run();
    out.switches[0].ports[0].sent_bits = 400_000_000;
    let all = ports(&settings(HOTSPOT), &out);
    near(all["S>H0"].throughput, 0.4 / 0.2);
    assert_eq!(all.keys().map(String::as_str).collect::<Vec<_>>(), ["H0", "H1", "S>H0", "S>H1", "S>H2"]);
    near(all["H0"].paused, 10.0);
    near(all["H1"].paused, 50.0);
    assert_eq!((all["S>H0"].xoffs, all["S>H0"].dropped, all["S>H0"].queue_max), (2, 4.0, 0.9));
    assert_eq!((all["S>H2"].xoffs, all["S>H2"].dropped), (0, 6.0));
    // The named port's queue in the measurement, 100 to 150 ms.
    near(all["S>H1"].throughput, 3.0);
    assert_eq!(
        (all["S>H1"].mean_queue, all["S>H1"].sd_queue, all["S>H1"].dropped),
        (Some(7.0), Some(0.0), 30.0)
    );
}

/// Of 129 ports with facts 128 are kept: those with the most of PAUSE (per cent of the run), XOFF messages and drops together.
#[test]
fn the_port_with_least_is_left_out() {
    let text =
        "name = \"t\"\n[topology]\nhosts = 140\nlink_rate = \"10 Gb/s\"\n[run]\nduration = \"200 ms\"\n";
    let settings = settings(text);
    let port = |ms: u64, xoffs: u64, dropped: u64, dropped_by_limit: u64| PortOutcome {
        paused: Time::from_ms(ms),
        xoffs,
        dropped,
        dropped_by_limit,
        ..PortOutcome::default()
    };
    // 120 of 200 ms are 60 %.
    let pairs = [
        (port(120, 0, 0, 0), port(0, 59, 0, 0)),
        (port(0, 61, 0, 0), port(120, 0, 0, 0)),
        (port(0, 0, 61, 0), port(120, 0, 0, 0)),
        (port(0, 0, 60, 1), port(120, 0, 0, 0)),
        (port(60, 31, 0, 0), port(120, 0, 0, 0)),
        (port(60, 0, 31, 0), port(120, 0, 0, 0)),
        (port(0, 31, 30, 0), port(120, 0, 0, 0)),
    ];
    for (i, (more, less)) in pairs.into_iter().enumerate() {
        let mut all = vec![port(0, 1000, 0, 0); 127];
        all.extend([less, more]);
        all.extend(vec![port(0, 0, 0, 0); 11]);
        let out = Outcome {
            duration: Time::from_ms(200),
            hosts: vec![HostOutcome::default(); 140],
            switches: vec![SwitchOutcome { ports: all, ..SwitchOutcome::default() }],
            ..Outcome::default()
        };
        let kept = ports(&settings, &out);
        assert_eq!(kept.len(), 128, "{i}");
        assert!(kept.contains_key("S>H128") && !kept.contains_key("S>H127"), "{i}");
    }
    // A host's port weighs by its time in XOFF alone.
    let mut hosts = vec![HostOutcome::default(); 140];
    hosts[7].pause.time = Time::from_ms(120);
    for (xoffs, host) in [(59, true), (61, false)] {
        let mut all = vec![port(0, 1000, 0, 0); 127];
        all.push(port(0, xoffs, 0, 0));
        all.extend(vec![port(0, 0, 0, 0); 12]);
        let switches = vec![SwitchOutcome { ports: all, ..SwitchOutcome::default() }];
        let out =
            Outcome { duration: Time::from_ms(200), hosts: hosts.clone(), switches, ..Outcome::default() };
        assert_eq!(ports(&settings, &out).contains_key("H7"), host, "{xoffs}");
    }
}

/// Three switches in a ring, a host each: of the six transmitters between switches the two of the last link were in XOFF for a fifth.
#[test]
fn paused_links_by_hand() {
    let text = "name = \"t\"\n[topology]\nkind = \"ring\"\nswitches = 3\nper_switch = 1\nlink_rate = \"10 Gb/s\"\n[record]\npaused = \"all\"\n\
                [run]\nduration = \"100 ms\"\n";
    let settings = settings(text);
    let first = settings.hosts() as u32;
    let last = settings
        .wiring
        .links
        .iter()
        .find(|l| l.a.0.0 > first && l.b.0.0 == first)
        .expect("the ring is closed");
    let mut switches =
        vec![SwitchOutcome { ports: vec![PortOutcome::default(); 16], ..SwitchOutcome::default() }; 3];
    for (node, port) in [last.a, last.b] {
        switches[(node.0 - first) as usize].ports[port as usize].paused = Time::from_ms(20);
    }
    let hosts = vec![host(10), host(0), host(0)];
    let out = Outcome { duration: Time::from_ms(100), hosts, switches, ..Outcome::default() };
    let all = measured_by_name(&settings, &out);
    for (id, by_hand) in [
        ("time_paused_links", 40.0 / 6.0),
        ("time_paused_all", 50.0 / 9.0),
        ("time_paused", 50.0 / 9.0),
        ("time_paused_senders", 10.0 / 3.0),
        ("time_paused_affected", 10.0),
        ("time_paused_touched", 50.0 / 3.0),
    ] {
        println!("{id}");
        near(all[id], by_hand);
    }
}

#[test]
fn what_has_no_meaning_is_not_measured() {
    // A port that delivers nothing has no utilisation.
    let still = settings(&HOTSPOT.replace("rate = \"1 Gb/s\"", "rate = \"0 Gb/s\""));
    assert!(!measured_by_name(&still, &hotspot_run()).contains_key("bottleneck_utilization"));
    // One frame: its own latency, 1 ms and 2 ms in all.
    let mut out = hotspot_run();
    out.switches[0].ports = vec![PortOutcome::default(); 3];
    out.switches[0].ports[0].dropped = 1;
    near(measured_by_name(&settings(HOTSPOT), &out)["innocent_drop_share"], 100.0);
    let mut out = hotspot_run();
    (out.hosts[0].delivered, out.hosts[2].delivered) = (1, 0);
    near(measured_by_name(&settings(HOTSPOT), &out)["mean_latency"], 3000.0);
    // Schemes that answer with positive feedback take all of it; one that has none says nothing of it.
    out.counters = vec![("answers_positive".into(), 4), ("point_changes".into(), 6)];
    let all = measured_by_name(&settings(HOTSPOT), &out);
    assert_eq!(
        (all["discarded_positives"], all["discarded_positive_share"], all["point_changes"]),
        (0.0, 0.0, 6.0)
    );
    out.counters = vec![("cuts".into(), 4)];
    let all = measured_by_name(&settings(HOTSPOT), &out);
    assert!(!all.contains_key("discarded_positives") && !all.contains_key("point_changes"));
    // None of none is no share above 100 %.
    out.counters = vec![("false_positives".into(), 0), ("positive_messages".into(), 0)];
    near(measured_by_name(&settings(HOTSPOT), &out)["discarded_positive_share"], 0.0);
}

/// 1000 flows of 1, 2, ... 1000 us, alike in size.
#[test]
fn percentiles_of_completion_by_hand() {
    let text = "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"2 ms\"\n\
                [[traffic]]\nhosts = [\"H0\", \"H2\"]\nkind = \"incast\"\ndestinations = \"H1\"\nsize = \"1000 B\"\n";
    let settings = settings(text);
    let framing = settings.plans(0).iter().find(|p| p.finite()).unwrap().framing;
    let bytes = framing.on_link(Bytes::new(1000)).get();
    let mut out =
        Outcome { duration: Time::from_ms(2), hosts: vec![HostOutcome::default(); 3], ..Outcome::default() };
    out.hosts[1].transfers.completions = (1..=1000)
        .map(|us| Completion {
            src: NodeId(0),
            bytes,
            start: Time::from_us(5),
            nth: us as u32 - 1,
            end: Time::from_us(5 + us),
            ..Completion::default()
        })
        .collect();
    let flows = Flows::of(&settings, &out);
    let ideal = flows.timed[0].ideal.as_secs_f64() * 1e6;
    let all = measured_by_name(&settings, &out);
    for (id, by_hand) in [
        ("completion_time", 500.5),
        ("completion_time_p50", 500.0),
        ("completion_time_p90", 900.0),
        ("completion_time_p95", 950.0),
        ("completion_time_p99", 990.0),
        ("completion_time_p999", 999.0),
        ("completion_time_max", 1000.0),
        ("small_completion_p50", 500.0),
        ("small_completion_p90", 900.0),
        ("slowdown", 500.5 / ideal),
        ("slowdown_p50", 500.0 / ideal),
        ("slowdown_p95", 950.0 / ideal),
        ("slowdown_p99", 990.0 / ideal),
        ("slowdown_p999", 999.0 / ideal),
        // A frame of 1000 B and its header takes more than 1 us on a link of 10 Gb/s, and there are two: 1 us alone is too short.
        ("flows_below_ideal", (ideal.ceil() - 1.0).max(1.0)),
    ] {
        println!("{id}");
        near(all[id], by_hand);
    }
}

/// Twenty flows that were not received whole: all are named where times are kept, else the first sixteen by start.
#[test]
fn unfinished_flows_are_named() {
    let text = |kept: &str| {
        format!(
            "name = \"t\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"1 ms\"\n\
             [[traffic]]\nhosts = [\"H0\", \"H2\"]\nkind = \"incast\"\ndestinations = \"H1\"\nsize = \"1000 B\"\n[record]\nflow_times = \"{kept}\"\n"
        )
    };
    let of = |kept: &str, out: &Outcome| {
        let settings = settings(&text(kept));
        Flows::of(&settings, out).unfinished(&settings, out, &Default::default())
    };
    let framing = settings(&text("on")).plans(0).iter().find(|p| p.finite()).unwrap().framing;
    let bytes = framing.on_link(Bytes::new(1000)).get();
    let mut out =
        Outcome { duration: Time::from_ms(1), hosts: vec![HostOutcome::default(); 3], ..Outcome::default() };
    out.hosts[1].transfers.missing = (0..20)
        .map(|i| Incomplete {
            class: 0,
            src: NodeId(2),
            bytes,
            start: Time::from_us(900 - i),
            nth: i as u32,
            missing: bytes - i % 2,
            flow: None,
        })
        .collect();
    let all = of("on", &out);
    assert_eq!((all.len(), of("off", &out).len()), (20, 16));
    assert_eq!(of("off", &out)[..], all[..16]);
    let first = &all[0];
    assert_eq!((first.flow.as_str(), first.src, first.dst, first.bytes), ("H2>H1", 2, 1, 1000));
    assert_eq!((first.start, first.so_far, first.missing), (881_000_000, 119_000_000, bytes - 1));
    assert!(all.windows(2).all(|w| w[0].start < w[1].start));
    assert!(all[0].waits_for.contains("on their way") && all[1].waits_for.contains("its turn"));
    out.freeze.last_delivery = Some(Time::from_us(950));
    assert!(of("on", &out)[0].waits_for.contains("stood still"));
    out.hosts[0].source_discards = 3;
    assert!(of("on", &out)[0].waits_for.contains("some of the 3"));
}
