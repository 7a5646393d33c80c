//! Metrics of shared buffers, watchdogs and records of XOFF, of outcomes that are made up, each worked out by hand.

use super::*;
use crate::ports::ports;
use cnsim_fabric::{PortOutcome, SwitchOutcome};
use cnsim_scenario::Scenario;
use std::collections::BTreeMap;

/// Two leaves of one host each, and one spine, with these lines besides.
fn settings(more: &str) -> Settings {
    let text = format!(
        "name = \"t\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nper_switch = 1\n[run]\nduration = \"1 ms\"\n{more}"
    );
    let scenario = Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    scenario.ready(&scenario.cases()[0]).unwrap().settings
}

/// A run in which nothing happened.
fn still(settings: &Settings) -> Outcome {
    let ports = |s: &(String, u16)| vec![PortOutcome::default(); s.1.into()];
    let switch = |s| SwitchOutcome { ports: ports(s), ..SwitchOutcome::default() };
    let switches = settings.wiring.switches.iter().map(switch).collect();
    Outcome {
        duration: Time::from_ms(1),
        hosts: vec![HostOutcome::default(); 2],
        switches,
        ..Outcome::default()
    }
}

fn measured_by_name(
    settings: &Settings,
    out: &Outcome,
    pauses: Option<Pauses<'_>>,
) -> BTreeMap<&'static str, f64> {
    let flows = Flows::of(settings, out);
    Run::new(settings, out, &flows, pauses).measured().into_iter().map(|(id, v, _)| (id.text(), v)).collect()
}

/// The fullest pool and the fullest headroom need not be of one switch. A switch without a pool has no part in it.
#[test]
fn the_fullest_parts_of_shared_buffers() {
    let settings = settings("");
    let mut out = still(&settings);
    assert!(!measured_by_name(&settings, &out, None).contains_key("shared_max"));
    for (switch, (pool, headroom, size)) in out.switches.iter_mut().zip([
        (900_000, 10_000, 1_000_000),
        (400_000, 30_000, 500_000),
        (7e6 as u64, 50_000, 0),
    ]) {
        switch.shared = SharedUse { pool, headroom, sizes: (0, size, 0), ..SharedUse::default() };
    }
    let all = measured_by_name(&settings, &out, None);
    assert_eq!((all["shared_max"], all["headroom_max"]), (900.0, 30.0));
}

/// Frames that a watchdog drops count among all dropped frames of their port, and have a metric of their own.
#[test]
fn drops_of_watchdogs_are_told_apart() {
    let watched = settings("[watchdog]\naction = \"drop\"\ndetect = \"10 us\"\nrestore = \"20 us\"\n");
    let mut out = still(&watched);
    let storm = |port, dropped| Storm { port, class: 0, from: Time::ZERO, until: None, dropped };
    out.switches[0].storms = vec![storm(0, 3), storm(1, 4), storm(0, 5)];
    out.switches[1].storms = vec![storm(0, 20)];
    (out.switches[0].ports[0].dropped, out.switches[0].ports[0].dropped_by_limit) = (2, 1);
    let all = measured_by_name(&watched, &out, None);
    assert_eq!((all["watchdog_triggers"], all["watchdog_drops"], all["dropped_frames"]), (4.0, 32.0, 35.0));
    let facts: BTreeMap<String, f64> =
        ports(&watched, &out).into_iter().map(|(name, p)| (name, p.dropped)).collect();
    assert_eq!(
        facts,
        [("L1>H0", 11.0), ("L1>S1", 4.0), ("L2>H1", 20.0)].map(|(n, d)| (n.to_string(), d)).into()
    );
    let all = measured_by_name(&settings(""), &out, None);
    assert!(!all.contains_key("watchdog_drops") && !all.contains_key("watchdog_triggers"));
}

/// A host and two ports of switches stood; one flow was a victim, for 2.5 us.
#[test]
fn records_of_xoff_by_hand() {
    let settings = settings("");
    let mut out = still(&settings);
    out.hosts[1].pause.time = Time::from_ps(1);
    out.switches[0].ports[0].paused = Time::from_ps(1);
    out.switches[2].ports[1].paused = Time::from_us(9);
    (out.switches[0].ports[0].xoffs, out.switches[1].ports[1].xoffs) = (4, 5);
    let stop = |stopped, output| crate::pauses::Stop {
        stopped,
        until: 7,
        causes: vec![crate::pauses::Cause { output, bytes: 1, ..Default::default() }],
        ..Default::default()
    };
    let stops = Stops { xoffs: vec![stop(1, 0), stop(2, 0), stop(3, 5)], ..Stops::default() };
    let all =
        measured_by_name(&settings, &out, Some(Pauses { stops: &stops, victims: Some((1, 2_500_000)) }));
    for (id, by_hand) in [
        ("xoffs", 3.0),
        ("pause_roots", 2.0),
        ("paused_hosts", 1.0),
        ("paused_links", 2.0),
        ("victims", 1.0),
        ("victim_time", 0.0025),
        ("pauses", 9.0),
    ] {
        assert_eq!(all[id], by_hand, "{id}");
    }
    let all = measured_by_name(&settings, &out, Some(Pauses { stops: &stops, victims: None }));
    assert!(!all.contains_key("victims") && !all.contains_key("victim_time") && all.contains_key("xoffs"));
    assert!(!measured_by_name(&settings, &out, None).contains_key("paused_hosts"));
}
