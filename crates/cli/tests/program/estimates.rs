//! What a run costs is told before it: packet-hops and memory within a factor of two, for nearly forty kinds of networks.

use crate::common::{Folder, cnsim, text};

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
    // Marks come late from a slow port, so without PAUSE all is sent and lost until then.
    (
        "topology = {hosts = 8, link_rate = \"100 Gb/s\", host_rates = [\"H0 100 Mb/s\"]}\n",
        ("workload = {kind = \"greedy\", destinations = [\"H0\"]}", "2 ms", "off", "dcqcn"),
    ),
    (
        "topology = {hosts = 8, link_rate = \"100 Gb/s\", host_rates = [\"H0 1 Gb/s\"]}\n",
        ("workload = {kind = \"greedy\", destinations = [\"H0\"]}", "2 ms", "off", "dcqcn"),
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
    // Much is under way before its source hears of PAUSE.
    (
        "topology = {kind = \"graph\", nodes = [\"S 8\", \"T 8\"], links = [\"A S\", \"B S\", \"S T\", \"C T 1 Gb/s\"], link_rate = \"1.6 Tb/s\"}\nswitch = {buffer = \"SO\", share = \"23094312 B\"}\npause = {high = \"20584 B\"}\n",
        (
            "workload = {kind = \"bursts\", frame = \"64 B\", burst = 11, load = \"70 %\"}\nhost.fifo = 27\ncontrol.transport = \"in-band\"",
            "2 us",
            "on",
            "none",
        ),
    ),
    (
        "topology = {kind = \"graph\", nodes = [\"S 8\", \"T 8\"], links = [\"A S\", \"B S\", \"S T\", \"C T 1 Gb/s\"], link_rate = \"100 Gb/s\", link_delay = \"50 us\"}\nswitch = {buffer = \"IN\", share = \"1548185 B\"}\npause = {high = \"36957 B\", low = \"26957 B\"}\n",
        ("host.fifo = 13", "345784 ns", "global", "none"),
    ),
    // What takes memory: hosts, bins, latencies, flows, messages without room, ports, changes of rates, frames that wait.
    ("topology = {hosts = 4000}\n", ("workload.load = \"1 %\"", "50 us", "off", "none")),
    (
        "topology = {hosts = 4}\n",
        (
            "workload.load = \"0.1 %\"\nrecord = {bin = \"1 us\", flows = [\"H0>H1\", \"H2>H1\"]}",
            "100 ms",
            "off",
            "none",
        ),
    ),
    (
        "topology = {hosts = 500}\n",
        ("workload.load = \"1 %\"\nrecord = {bin = \"1 us\"}", "2 ms", "off", "none"),
    ),
    (
        "topology = {hosts = 1000}\n",
        ("workload.load = \"5 %\"\nrecord.latency = \"on\"", "200 us", "off", "none"),
    ),
    (
        "topology = {hosts = 16, link_rate = \"100 Gb/s\"}\n",
        ("workload = {kind = \"poisson\", load = \"30 %\", sizes = \"fb-hadoop\"}", "5 ms", "off", "none"),
    ),
    (
        "topology = {kind = \"parking-lot\", link_rate = \"0.1 Gb/s\", stages = 1, long = 2}\n",
        ("workload = {kind = \"greedy\", frame = \"4096 B\"}", "200 ms", "on", "becn"),
    ),
    ("topology = {kind = \"fat-tree\", k = 16}\n", ("workload.load = \"2 %\"", "100 us", "off", "none")),
    (
        "topology = {kind = \"chain\", switches = 400, per_switch = 2, ports = 64}\n",
        ("workload = {load = \"5 %\", destinations = \"+1\"}", "100 us", "off", "none"),
    ),
    // Queue pairs whose flows are acknowledged.
    (
        "topology = {hosts = 300, link_rate = \"100 Gb/s\"}\nhost.queues = \"per-flow\"\n",
        ("workload = {kind = \"all-to-all\", size = \"100 B\"}", "1 ms", "on", "timely"),
    ),
    // A fast host before slow ports: schemes hear little of it where few bytes wait for a port.
    (
        "topology = {hosts = 16, link_rate = \"10 Mb/s\", host_rates = [\"H0 100 Gb/s\"]}\nswitch = {buffer = \"XP\", share = \"40 KB\"}\n",
        ("workload.load = \"90 %\"", "20 ms", "off", "qcn-2pt"),
    ),
    (
        "topology = {hosts = 5, link_rate = \"1 Mb/s\", host_rates = [\"H0 10 Gb/s\"]}\nswitch = {buffer = \"XP\", share = \"20 KB\"}\n",
        ("workload.load = \"90 %\"", "200 ms", "off", "ecm"),
    ),
    (
        "topology = {hosts = 16, link_rate = \"10 Mb/s\", host_rates = [\"H0 100 Gb/s\"]}\nswitch = {buffer = \"IN\", share = \"150 KB\"}\n",
        ("workload.load = \"90 %\"", "20 ms", "off", "qcn-2pt"),
    ),
    (
        "topology = {hosts = 16, link_rate = \"10 Mb/s\", host_rates = [\"H0 100 Gb/s\"]}\n",
        ("workload.load = \"90 %\"", "100 ms", "off", "dcqcn"),
    ),
    // Go-back-N into a port that stands, without and with a window.
    (
        "topology = {hosts = 4}\nhost.queues = \"per-flow\"\ntransport = {kind = \"go-back-n\", rto = \"100 us\"}\n",
        (
            "workload = {kind = \"transfers\", transfers = [\"0 us, H0, H1, 1 MB\", \"0 us, H2, H1, 1 MB\"]}\nhotspot = {host = \"H1\", rate = \"0 Gb/s\", start = \"100 us\", stop = \"20 ms\"}",
            "20 ms",
            "off",
            "dcqcn",
        ),
    ),
    (
        "topology = {hosts = 4}\nhost.queues = \"per-flow\"\ntransport = {kind = \"go-back-n\", rto = \"1 ms\", window = \"100 KB\"}\n",
        (
            "workload = {kind = \"transfers\", transfers = [\"0 us, H0, H1, 1 MB\", \"0 us, H2, H1, 1 MB\"]}\nhotspot = {host = \"H1\", rate = \"0 Gb/s\", start = \"100 us\", stop = \"20 ms\"}",
            "20 ms",
            "off",
            "none",
        ),
    ),
    // Estimate and run agree under an incast, too.
    (
        "topology = {hosts = 9}\nhost.queues = \"per-flow\"\ntransport = {kind = \"go-back-n\", rto = \"500 us\"}\n",
        (
            "traffic = [{name = \"in\", hosts = [\"H1..H8\"], kind = \"incast\", destinations = [\"H0\"], size = \"1 MB\", start = \"50 us\"}]\nhotspot = {host = \"H0\", rate = \"0 Gb/s\", start = \"100 us\", stop = \"20 ms\"}",
            "20 ms",
            "off",
            "none",
        ),
    ),
    (
        "topology = {hosts = 6, link_rate = \"40 Gb/s\"}\nhost.queues = \"per-flow\"\ntransport = {kind = \"go-back-n\", rto = \"200 us\", window = \"64 KB\"}\n",
        (
            "traffic = [{name = \"in\", hosts = [\"H1..H5\"], kind = \"incast\", destinations = [\"H0\"], size = \"400 KB\", period = \"2 ms\"}]\nhotspot = {host = \"H0\", rate = \"0 Gb/s\", start = \"1 ms\", stop = \"10 ms\"}",
            "10 ms",
            "off",
            "none",
        ),
    ),
    // One host that is much faster than the others, and frames on long links.
    (
        "topology = {kind = \"core-edge\", edges = [3, 1], link_rate = \"1 Gb/s\", host_rates = [\"H0 400 Gb/s\"]}\nhost.queues = \"per-destination\"\n",
        ("workload.kind = \"greedy\"", "2 ms", "on", "none"),
    ),
    (
        "topology = {hosts = 16, link_rate = \"10 Mb/s\", host_rates = [\"H0 100 Gb/s\"]}\n",
        ("workload.load = \"90 %\"", "10 ms", "off", "ecm"),
    ),
    (
        "topology = {hosts = 60, link_rate = \"400 Gb/s\", link_delay = \"0.5 ms\"}\n",
        ("workload = {load = \"10 %\", frame = \"64 B\"}", "0.5 ms", "off", "none"),
    ),
    (
        "topology = {hosts = 60, link_rate = \"400 Gb/s\", link_delay = \"0.5 ms\"}\n",
        ("workload = {load = \"20 %\", frame = \"512 B\"}", "1.5 ms", "off", "none"),
    ),
    (
        STAR,
        (
            "workload.load = \"1 %\"\nhotspot = {host = \"H1\", rate = \"1 Gb/s\", start = \"0 ms\", stop = \"50 ms\", period = \"1 us\"}",
            "50 ms",
            "off",
            "none",
        ),
    ),
    (
        "topology = {hosts = 200}\n",
        ("workload = {kind = \"greedy\", destinations = \"H0\"}\nhost.fifo = 10100", "20 ms", "on", "none"),
    ),
    (
        "topology = {hosts = 40}\n",
        ("workload.load = \"30 %\"\nrecord = {bin = \"2 us\"}", "20 ms", "off", "none"),
    ),
];

/// The number before a word, in what the program says.
fn number(said: &str, before: &str) -> f64 {
    let words = &said[..said.find(before).unwrap_or_else(|| panic!("no `{before}` in {said}"))];
    words.split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn hops_and_memory_are_within_a_factor_of_two() {
    let folder = Folder::new("estimates");
    let mut wrong = Vec::new();
    for (network, (more, time, pause, scheme)) in ROWS {
        let scenario = format!(
            "name = \"e\"\n{network}{more}\nrun = {{duration = \"{time}\", seeds = 1}}\nmatrix = {{pause = [\"{pause}\"], schemes = [\"{scheme}\"]}}\n"
        );
        let file = folder.write("e.toml", &scenario);
        let told = cnsim(&["check", &file, "--json"]);
        assert!(told.status.success(), "{}\n{scenario}", text(&told));
        let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        let run = cnsim(&["run", &file, "--verbose", "--threads", "1", "--out", &folder.file("out")]);
        // 4: frozen, as greedy sources under PAUSE can be.
        assert!(matches!(run.status.code(), Some(0 | 4)), "{}\n{scenario}", text(&run));
        let said = String::from_utf8_lossy(&run.stderr);
        let said = said.split("this took ").nth(1).expect("what it took");
        let seen =
            |key: &str, before: &str, unit: f64| (told[key].as_f64().unwrap(), number(said, before) * unit);
        let (hops, memory) = (seen("packet_hops", " packet-hops", 1.0), seen("memory_bytes", " MB", 1e6));
        // CPU-seconds are shown, not judged: they depend on what else the machine does.
        let cpu = seen("cpu_seconds", " CPU-seconds", 1.0);
        let ratios = [hops, memory, cpu].map(|(told, seen)| told / seen);
        let one_line = scenario.lines().collect::<Vec<_>>().join("; ");
        println!("{ratios:.2?} of {:.0} hops, {:.1} MB, {:.2} s: {one_line}", hops.1, memory.1 / 1e6, cpu.1);
        // Where the system does not say how much memory it was, hops are judged alone.
        let known = if memory.1 > 0.0 { 2 } else { 1 };
        if ratios.iter().take(known).any(|r| !(0.5..=2.0).contains(r)) {
            wrong.push(format!(
                "{ratios:.2?} of {:.0} hops and {:.1} MB:\n{scenario}",
                hops.1,
                memory.1 / 1e6
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
