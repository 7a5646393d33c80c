//! What a run costs is told before it: packet-hops within a factor of two, for more than twenty kinds of networks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_fabric::Options;
use cnsim_studies::scenario::Scenario;

/// Tables, simulated time, PAUSE, scheme.
type Row = (&'static str, &'static str, &'static str, &'static str);

const STAR: &str = "topology.hosts = 10\n";
const HOT: &str = "workload.load = \"85 %\"\nhotspot = {host = \"H1\", rate = \"1 Gb/s\", start = \"0.5 ms\", stop = \"4 ms\"}";
const TO_ONE: &str = "workload = {kind = \"greedy\", destinations = \"H0\"}";

const ROWS: &[(&str, Row)] = &[
    (STAR, ("workload.load = \"50 %\"", "5 ms", "on", "none")),
    (STAR, (HOT, "5 ms", "on", "none")),
    (STAR, (HOT, "5 ms", "on", "ecm")),
    (STAR, (HOT, "5 ms", "off", "none")),
    (STAR, (TO_ONE, "5 ms", "on", "none")),
    (STAR, (TO_ONE, "5 ms", "off", "none")),
    (STAR, (TO_ONE, "5 ms", "on", "qcn-hsp")),
    (
        STAR,
        (
            "workload = {kind = \"on-off\", on = \"1 ms\", off = \"3 ms\", destinations = \"+1\"}",
            "12 ms",
            "on",
            "none",
        ),
    ),
    (STAR, ("workload = {kind = \"bursts\", load = \"40 %\", burst = 20}", "5 ms", "on", "none")),
    (STAR, ("workload = {load = \"60 %\", frame = \"64 B\"}", "0.5 ms", "on", "none")),
    (
        STAR,
        (
            "workload = {kind = \"transfers\", transfers = [\"0 us, H4, H0, 1 MB\", \"9 us, H5, H0, 2 MB\"]}",
            "5 ms",
            "on",
            "dcqcn",
        ),
    ),
    (STAR, ("workload.load = \"99 %\"\nhost.fifo = 10100", "3 ms", "off", "none")),
    (
        "topology = {hosts = 8, host_rates = [\"H1 1 Gb/s\", \"H2 40 Gb/s\"]}\n",
        ("workload.load = \"70 %\"", "5 ms", "on", "qcn-802.1Qau"),
    ),
    ("topology = {hosts = 6, link_rate = \"1 Mb/s\"}\n", ("workload.load = \"60 %\"", "10 s", "off", "none")),
    (
        "topology = {hosts = 6, link_rate = \"1.6 Tb/s\"}\nswitch.share = \"4 MB\"\npause = {high = \"2 MB\", low = \"1 MB\"}\n",
        ("workload.load = \"60 %\"", "50 us", "on", "none"),
    ),
    ("topology = {hosts = 500}\nhost.fifo = 10\n", ("workload.load = \"20 %\"", "200 us", "off", "none")),
    ("topology = {kind = \"leaf-spine\"}\n", ("workload.load = \"40 %\"", "2 ms", "off", "none")),
    ("topology = {kind = \"fat-tree\", k = 4}\n", ("workload.load = \"10 %\"", "5 ms", "off", "none")),
    (
        "topology = {kind = \"fat-tree\", k = 4}\n",
        ("workload = {kind = \"greedy\", destinations = \"H0\"}", "5 ms", "on", "fecn"),
    ),
    (
        "topology = {kind = \"fat-tree\", k = 8}\n",
        ("workload = {kind = \"greedy\", destinations = \"permutation\"}", "1 ms", "on", "none"),
    ),
    (
        "topology = {kind = \"k-ary-n-tree\", k = 4, n = 3}\n",
        ("workload.load = \"90 %\"", "1 ms", "on", "none"),
    ),
    (
        "topology = {kind = \"chain\", switches = 8, per_switch = 4}\n",
        ("workload.load = \"60 %\"", "2 ms", "on", "qcn-2pt"),
    ),
    (
        "topology = {kind = \"ring\", switches = 8, per_switch = 4}\n",
        ("workload.load = \"40 %\"", "2 ms", "off", "none"),
    ),
    (
        "topology = {kind = \"parking-lot\", stages = 3, long = 2}\n",
        ("workload.kind = \"greedy\"", "3 ms", "on", "becn"),
    ),
    (
        "topology = {kind = \"parking-lot\", link_rate = \"0.1 Gb/s\", stages = 1, long = 2}\n",
        ("workload.kind = \"greedy\"", "25 ms", "on", "becn"),
    ),
];

#[test]
fn hops_are_within_a_factor_of_two() {
    let mut wrong = Vec::new();
    for (network, (more, time, pause, scheme)) in ROWS {
        let text = format!(
            "name = \"e\"\n{network}{more}\nrun = {{duration = \"{time}\", seeds = 1}}\nmatrix = {{pause = [\"{pause}\"], schemes = [\"{scheme}\"]}}\n"
        );
        let scenario = Scenario::parse("e.toml", &text, &[]).unwrap_or_else(|p| panic!("{}\n{text}", p[0]));
        let ready = scenario.ready(&scenario.cases()[0]).unwrap();
        let spec = ready.settings.spec(&ready.built, 1, false);
        let out = cnsim_fabric::run(&spec, &Options { threads: 1, ..Options::default() }).unwrap();
        let ratio = ready.estimate().packet_hops / out.packet_hops as f64;
        println!("{ratio:.2} of {} hops: {}", out.packet_hops, text.lines().collect::<Vec<_>>().join("; "));
        if !(0.5..=2.0).contains(&ratio) {
            wrong.push(format!("{ratio:.2} times {} hops:\n{text}", out.packet_hops));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
