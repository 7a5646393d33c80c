//! `[[group]]`: hosts that run without the scheme of the others, and what cannot stand side by side.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use cnsim_fabric::{Engine, Outcome, SeriesKind};
use cnsim_scenario::Scenario;
use cnsim_scheme_api::NodeId;
use text::{outcome, ready, refused_keys};

/// Four greedy senders to H4; the group as given.
fn text(scheme: &str, group: &str) -> String {
    format!(
        r#"
        name = "groups"
        [topology]
        hosts = 5
        [switch]
        buffer = "XP"
        share = "100 MB"
        [pause]
        mode = "off"
        [[traffic]]
        hosts = "H0..H3"
        kind = "greedy"
        destinations = ["H4"]
        {group}
        [run]
        duration = "20 ms"
        [record]
        flows = ["H0>H4", "H1>H4", "H2>H4", "H3>H4"]
        [matrix]
        pause = ["off"]
        schemes = ["{scheme}"]
        "#
    )
}

fn go(scheme: &str, group: &str) -> Outcome {
    outcome(&ready(&text(scheme, group)), Engine::Fast, 0)
}

fn rates(out: &Outcome) -> Vec<f64> {
    let flow = |h| SeriesKind::Flow { src: NodeId(h), dst: NodeId(4) };
    let mean = |h| {
        let bins = &out.series(flow(h)).unwrap().values[10..];
        bins.iter().sum::<f64>() / bins.len() as f64 / 1e9
    };
    (0..4).map(mean).collect()
}

/// Where and why a group is refused.
fn refused(group: &str) -> String {
    refused_keys(&text("dcqcn", group))
}

/// All four share the port; without the scheme, H0 keeps what it can get, and each message to it is counted.
#[test]
fn feedback_to_a_host_without_the_scheme_is_ignored() {
    let same = go("dcqcn", "");
    assert_eq!(same.messages.ignored, 0);
    assert!(rates(&same).iter().all(|r| (r / 2.5 - 1.0).abs() < 0.3), "{:?}", rates(&same));
    assert!(same.hosts[..4].iter().all(|h| h.limited_flows == 1));

    let mixed = go("dcqcn", "[[group]]\nhosts = [\"H0\"]\nscheme = \"none\"");
    let counter = |name: &str| mixed.counters.iter().find(|c| c.0.ends_with(name)).unwrap().1;
    assert_eq!((mixed.messages.discarded, mixed.hosts[0].limited_flows), (0, 0));
    assert!(mixed.hosts[1..4].iter().all(|h| h.limited_flows == 1));
    // Each CNP cuts a rate or is ignored; at most one per flow is still under way.
    let (sent, heard) = (counter("cnps_sent"), mixed.messages.ignored + counter("cuts"));
    assert!(mixed.messages.ignored > 100 && heard <= sent && sent - heard <= 4, "{sent} sent, {heard} heard");
    // H0 sends on at line rate: what it does not get at the port waits or is lost there.
    let sent: Vec<u64> = mixed.hosts[..4].iter().map(|h| h.sent).collect();
    let line = (10e9 * 0.02 / 12_000.0) as u64;
    assert!(sent[0] > line * 99 / 100, "{sent:?}");
    assert!(rates(&mixed)[0] > 2.0 * rates(&mixed)[1], "{:?}", rates(&mixed));
}

/// A group is not there to bring a second kind of congestion point into the same queues.
#[test]
fn a_second_scheme_is_refused() {
    let said = refused("[[group]]\nhosts = [\"H0\"]\nscheme = \"qcn-2pt\"");
    assert!(
        said.contains("group.0.scheme: a group cannot bring `qcn-2pt` beside the scheme of the matrix"),
        "{said}"
    );
    assert!(said.contains("two kinds of congestion point exclude each other in one queue"), "{said}");
    assert!(said.contains("hosts in no group run the scheme of the matrix"), "{said}");
    let said = refused("[[group]]\nhosts = [\"H0\"]\nscheme = \"qnc\"");
    assert!(said.contains("group.0.scheme: there is no scheme `qnc`; a group can be `none`"), "{said}");
    let said = refused("[[group]]\nscheme = \"none\"");
    assert!(said.contains("group.0: names no hosts: the group has no effect"), "{said}");
    let said = refused("[[group]]\nhosts = [\"H9\"]\nscheme = \"none\"");
    assert!(said.contains("group.0.hosts: there is no host `H9`; hosts are H0 to H4"), "{said}");
}

/// Other names and cases of `none` are the same.
#[test]
fn none_has_other_names() {
    let out = go("dcqcn", "[[group]]\nhosts = [\"H0\"]\nscheme = \"NoCM\"");
    assert_eq!(out.hosts[0].limited_flows, 0);
    assert!(out.messages.ignored > 0);
}

/// A scheme's own value goes before that of all schemes, whatever its name; the command line goes before the file.
#[test]
fn own_parameters_before_shared_ones() {
    let file = "name = \"x\"\n[matrix]\nschemes = [\"ecm\", \"qcn-2pt\"]\n[scheme.params]\nq_eq = \"30 KB\"\n\
                [scheme.ecm]\nq_eq = \"40 KB\"\n[scheme.qcn-2pt]\nq_eq = \"50 KB\"\n";
    let q_eq = |sets: &[(&str, &str)], scheme: &str| {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let scenario = Scenario::parse("x", file, &sets).unwrap();
        let case = scenario.cases().into_iter().find(|c| c.id.scheme == scheme).unwrap();
        let built = scenario.ready(&case).unwrap().built;
        built.values.iter().find(|v| v.0 == "q_eq").unwrap().1.clone()
    };
    assert_eq!((q_eq(&[], "ecm"), q_eq(&[], "qcn-2pt")), ("40 KB".into(), "50 KB".into()));
    let sets = [("scheme.params.q_eq", "20 KB"), ("scheme.qcn-2pt.q_eq", "10 KB")];
    assert_eq!((q_eq(&sets, "ecm"), q_eq(&sets, "qcn-2pt")), ("20 KB".into(), "10 KB".into()));
}
