//! Scenarios that must be refused, each for its own reason: nothing that is written is ignored, cut or read as something else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_advice::notes::of_settings;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::Scenario;

/// A valid scenario; `{}` stands for more lines before `[run]`.
const BASE: &str = "study = \"t\"\nname = \"g\"\ncondition = \"c\"\n[topology]\nhosts = 4\n{}\n[run]\nduration = \"1 ms\"\nseeds = 1\n[matrix]\npause = [\"off\"]\nschemes = [\"none\"]\n";

fn said(text: &str) -> String {
    match Scenario::parse("f.toml", text, &[]) {
        Ok(_) => "no problem".into(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn nothing_written_is_ignored() {
    assert_eq!(said(&BASE.replace("{}", "")), "no problem");
    for (more, words) in [
        // Tables with the wrong brackets, or with nothing in them.
        ("[traffic]\nkind = \"banana\"", &["[[traffic]]", "`banana` is not a choice"][..]),
        ("[event]\nat = \"1 us\"", &["[[event]]"]),
        ("[group]\nhosts = \"H0\"", &["[[group]]"]),
        ("[figure]\ntitle = \"x\"", &["[[figure]]"]),
        ("[rows]\nseeds = 3", &["[[rows]]"]),
        ("[[switch]]\nbuffer = \"XP\"", &["array of tables", "[switch]"]),
        ("[[traffic]]", &["traffic.0", "is empty"]),
        ("[[event]]", &["event.0", "is empty"]),
        ("[swich]", &["unknown table", "[switch]"]),
        ("[scheme.qnc-2pt]", &["names no scheme"]),
        // Tables of schemes that no case runs, but `--scheme` may ask for.
        ("[scheme.ecm]\nbanana = 1", &["scheme.ecm.banana"]),
        ("[scheme.ecm]\nw = \"3 Gb/s\"", &["scheme.ecm.w", "`3 Gb/s`"]),
        ("[scheme.dcqcn]\nk_max = -9223372036854775808", &["scheme.dcqcn.k_max", "negative"]),
        ("[pause]\nmode = \"on\"", &["pause.mode", "no case runs `on`"]),
        // Tables where a value is due.
        ("[scheme.params]\nq_eq = {}", &["f.toml:7:8", "scheme.params.q_eq", "a value is due"]),
        ("[scheme.ecm]\nq_eq = {}", &["scheme.ecm.q_eq", "a value is due"]),
        ("[scheme.\"qcn-802.1Qau\"]\ngd = {}", &["scheme.qcn-802.1Qau.gd", "a value is due"]),
        ("[workload]\nload = {}", &["workload.load", "a table where a value is due"]),
        ("[[traffic]]\nhosts = \"H0\"\nload = {}", &["traffic.0.load", "a table where a value is due"]),
        ("[[rows]]\n\"workload.load\" = {}", &["rows.0.workload.load", "a value is due"]),
        ("[assumptions]\nbuffer = {}", &["assumptions.buffer", "a value is due"]),
        // Figures of what no case has.
        (
            "[[figure]]\nseries = [\"hot_queue\"]\nconditions = [\"d\"]",
            &["f.toml:8:15", "no case has `d`", "cases have: c"],
        ),
        ("[[figure]]\nseries = [\"hot_queue\"]\nschemes = [\"ecm\"]", &["no case has `ecm`"]),
        ("[[figure]]\nmetric = \"queue_max\"\npause = [\"on\"]", &["no case has `on`"]),
        ("[[figure]]\nseries = [\"queue S>H9\"]", &["no case records `queue S>H9`", "hot_queue"]),
        ("[[figure]]\nseries = [\"queue S>H0\"]", &["no case records `queue S>H0`", "hot_queue"]),
        (
            "[record]\nports = [\"S>H2\"]\n[[figure]]\nseries = [\"queue S>H3\"]",
            &["no case records", "did you mean `queue S>H2`"],
        ),
        // Values of a wrong kind.
        ("link_rate = [\"1 Gb/s\", \"40 Gb/s\"]", &["f.toml:6:13", "a list of 2 where one value is due"]),
        ("link_rate = []", &["a list of 0"]),
        ("link_delay = {}", &["a table where a value is due"]),
        ("ports = 1.5", &["`1.5` is not a whole number"]),
        ("ports = 1e20", &["not a whole number"]),
        ("ports = -3", &["not a whole number"]),
        ("ports = true", &["`true` where this is due: integer"]),
        ("[scheme.params]\nefr = [\"on\"]", &["scheme.params.efr", "list of 1"]),
        ("[workload]\nframe = 1500", &["did you mean \"1500 B\"?"]),
        ("[workload]\nload = 0.5", &["did you mean \"50 %\"?"]),
        ("[switch]\nshare = \"100G\"", &["did you mean \"100 GB\"?"]),
        // Keys without effect.
        (
            "[workload]\nload = \"10 %\"\n[[traffic]]\nhosts = \"H0\"\ndestinations = \"H1\"",
            &["workload.load", "[[traffic]] tables replace the workload"],
        ),
        ("[hotspot]\nrate = \"1 Gb/s\"", &["has no effect: there is no hotspot"]),
        ("[[event]]\nat = \"1 us\"\nrate = \"1 Gb/s\"", &["names no port"]),
        ("[[event]]\nat = \"1 ms\"\nrate = \"1 Gb/s\"\nport = \"S>H0\"", &["outside the run of 1 ms"]),
        ("[workload]\ndestinations = []", &["no host has anybody to send to"]),
        ("[workload]\nstart = \"5 us\"\nstop = \"5 us\"", &["not after their start"]),
        // Rates and links beyond what is possible.
        (
            "[[event]]\nport = \"S>H0\"\nrate = \"1e-6 b/s\"",
            &["event.0.rate", "too slow", "at least 10 kb/s"],
        ),
        ("[[event]]\nport = \"S>H0\"\nrate = \"11 Gb/s\"", &["more than the link's 10 Gb/s"]),
        ("host_rates = [\"H1 20 Tb/s\"]", &["20 Tb/s is out of range"]),
        ("host_rates = [\"H1 1 Gb/s\", \"H1 2 Gb/s\"]", &["entry 2", "is there twice"]),
        ("host_rates = [\"H9 1 Gb/s\"]", &["there is no host `H9`"]),
        ("host_rates = [\"H0..H9 1 Gb/s\"]", &["there is no host `H9`", "hosts are H0 to H3"]),
        ("host_rates = [\"H0..H2 1 Gb/s\", \"H2 2 Gb/s\"]", &["entry 2", "`H2` is there twice"]),
        ("rate = \"1 Gb/s\"", &["unknown key", "did you mean"]),
        ("fabric_rate = \"1 Gb/s\"", &["topology.fabric_rate", "set topology.kind to core-edge"]),
        ("[workload]\nloads = [\"1 %\", \"2 %\", \"x\", \"4 %\"]", &["f.toml:7:24", "entry 3: `x`"]),
    ] {
        let text = said(&BASE.replace("{}", more));
        for word in words {
            assert!(text.contains(word), "`{word}` is not in what is said of\n{more}\n{text}");
        }
    }
    // Figures of what is there.
    for more in [
        "[record]\nports = [\"S>H2\"]\n[[figure]]\nseries = [\"queue S>H2\", \"hot_queue\"]\nconditions = [\"c\"]",
        "[record]\nflows = [\"H1>H2\"]\n[[figure]]\nseries = [\"flow H1>H2\"]\nschemes = [\"none\"]\npause = [\"off\"]",
    ] {
        assert_eq!(said(&BASE.replace("{}", more)), "no problem");
    }
    // A wrong entry is said once, not for every host.
    assert_eq!(
        said(&BASE.replace("{}", "[workload]\nloads = [\"1 %\", \"2 %\", \"x\", \"4 %\"]"))
            .matches("f.toml:")
            .count(),
        1
    );
}

#[test]
fn graphs_have_bounds_and_positions() {
    let graph = |nodes: &str, links: &str| {
        let more = format!("kind = \"graph\"\nnodes = [{nodes}]\nlinks = [{links}]");
        said(&BASE.replace("hosts = 4\n{}", &more))
    };
    assert_eq!(graph("\"S 4\"", "\"a S\", \"b S 40Gb/s 2us\", \"c S 2 us 1 Gb/s\""), "no problem");
    for (nodes, links, word) in [
        ("\"S 4\"", "\"a S\", \"b S 20 Tb/s\"", "`20 Tb/s` is out of range"),
        ("\"S 4\"", "\"a S\", \"b S 200 ms\"", "`200 ms` is out of range"),
        ("\"S 4\"", "\"a S\", \"b S 1 Gb/s 2 Gb/s\"", "second rate"),
        ("\"S 2\"", "\"a S\", \"b S\", \"c S\"", "more links than its 2 ports"),
        ("\"S 4\"", "\"a S\", \"b S\", \"S S\"", "linked to itself"),
        ("\"S 4\"", "\"a S\", \"b a\"", "two hosts, are linked directly"),
        ("\"S 4\", \"T 4\"", "\"a S\", \"b S\", \"c T\"", "there is no path from a to c"),
        ("\"S 4\"", "\"../x S\", \"b S\"", "is not a name"),
        ("\"S 4\"", "\"all S\", \"b S\"", "a meaning of its own"),
        ("\"S x\"", "\"a S\", \"b S\"", "not a number of ports"),
    ] {
        let text = graph(nodes, links);
        assert!(text.contains(word), "`{word}` is not in\n{text}");
    }
}

#[test]
fn rows_are_told_apart_and_named_safely() {
    let rows = |condition: &str, row: &str| {
        let text = BASE.replace("{}", "").replace("condition = \"c\"", &format!("condition = {condition:?}"));
        said(&(text + row))
    };
    let loads = "\"workload.load\" = [\"10 %\", \"50 %\"]\n";
    assert_eq!(rows("load {workload.load}", loads), "no problem");
    assert!(rows("c", loads).contains("could not be distinguished"));
    assert!(rows("c", "\"workload.load\" = [\"10 %\", \"10 %\"]\n").contains("is there twice"));
    assert!(
        rows("c", "\"workload.on\" = [\"1 ms\"]\n").contains("has no effect with workload.kind = bernoulli")
    );
    assert!(rows("c", "\"workload.load\" = []\n").contains("has no value"));
    assert!(rows("c", "\"workload.load\" = [\"10 %\", \"500 %\"]\n").contains("500 % is out of range"));
    assert!(rows("=1+1", "").contains("spreadsheets"));
    assert!(rows(&"c".repeat(300), "").contains("has 300 characters"));
    for (key, value) in [("study", "../../escaped"), ("name", ""), ("name", "a b"), ("title", "\\u001b[31m")]
    {
        let line = format!("{key} = \"{value}\"\n");
        let own = if key == "study" { "study = \"t\"\n" } else { "name = \"g\"\n" };
        let text = if key == "title" {
            line + &BASE.replace("{}", "")
        } else {
            BASE.replace("{}", "").replace(own, &line)
        };
        let text = said(&text);
        assert!(text.contains(&format!("`{key}`")) && !text.contains('\u{1b}'), "{key}: {text}");
    }
}

/// What is too large is refused before it is built.
#[test]
fn sizes_are_bounded() {
    let sixty: Vec<String> = (1..=60).map(|i| format!("\"{i} us\"")).collect();
    let list = sixty.join(", ");
    let keys = [
        "host.processing", "switch.processing", "workload.start", "topology.link_delay", "record.from",
        "hotspot.start",
    ];
    let rows: String = keys.iter().map(|k| format!("\"{k}\" = [{list}]\n")).collect();
    assert!(said(&(BASE.replace("{}", "") + &rows)).contains("asks for 46656000000 rows"));
    for (more, word) in [
        ("kind = \"chain\"\nswitches = 4096\nper_switch = 1\nports = 4096", "ports of switches are too many"),
        ("kind = \"fat-tree\"\nk = 64", "65536 hosts are too many"),
        ("kind = \"leaf-spine\"\nleaves = 4096\nspines = 4096", "too many"),
        ("kind = \"k-ary-n-tree\"\nk = 64\nn = 8", "too many"),
    ] {
        let text = said(&BASE.replace("hosts = 4\n{}", more));
        assert!(text.contains(word), "{text}");
    }
    let slow = "[hotspot]\nhost = \"H0\"\nstart = \"0 s\"\nstop = \"1000 s\"\nperiod = \"1 us\"";
    let text = BASE.replace("{}", slow).replace("duration = \"1 ms\"", "duration = \"1000 s\"");
    assert!(said(&text).contains("changes of the service rate are too many"));
}

/// Where XOFF waits behind slow data frames, memory that would do elsewhere is too small: that is told before frames are lost.
#[test]
fn pause_that_cannot_hold_every_frame_is_told() {
    let text = "name = \"slow\"\n[topology]\nkind = \"core-edge\"\nedges = [3, 3, 2, 2]\nfirst = 1\nlink_delay = \"1.667 us\"\n\
                [switch]\nbuffer = \"IN\"\nshare = \"SHARE\"\n[pause]\nhigh = \"130 KB\"\nlow = \"110 KB\"\n[host]\nfifo = 100\n\
                [hotspot]\nhost = \"H7\"\nrate = \"0.5 Gb/s\"\nstart = \"0 ms\"\nstop = \"3 ms\"\nperiod = \"0.25 ms\"\n\
                [run]\nduration = \"3 ms\"\nseeds = 1\n[matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n";
    let run = |share: &str| {
        let scenario = Scenario::parse("f.toml", &text.replace("SHARE", share), &[]).unwrap();
        let case = scenario.cases().remove(0);
        let ready = scenario.ready(&case).unwrap();
        let notes = of_settings(&ready).join("\n");
        let job = Job::new(case, ready, 1);
        let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
        (notes, record.metrics["dropped_frames"])
    };
    let (notes, dropped) = run("150 KB");
    assert!(
        notes.contains("PAUSE may lose frames") && notes.contains("E3>H7") && dropped > 0.0,
        "{dropped}: {notes}"
    );
    // With the memory that the note asks for, nothing is lost, and nothing is said of it.
    let (notes, dropped) = run("170 KB");
    assert!(!notes.contains("PAUSE may lose") && dropped == 0.0, "{dropped}: {notes}");
}

/// Errors that point to what was meant.
#[test]
fn errors_name_what_was_meant() {
    let whole = |head: &str, topology: &str, schemes: &str| {
        format!(
            "name = \"g\"\n{head}\n[topology]\n{topology}\n[run]\nduration = \"1 ms\"\n[matrix]\nschemes = [\"{schemes}\"]\n"
        )
    };
    for (text, words) in [
        (
            whole("", "kind = \"leaf-spine\"\nhosts = 64", "none"),
            &["write leaves = 8 and per_switch = 8 in its place"][..],
        ),
        (whole("", "kind = \"leaf-spine\"\nhosts = 12", "none"), &["write leaves = 3 and per_switch = 4"]),
        (
            whole("link_rate = \"1 Gb/s\"", "hosts = 4", "none"),
            &["did you mean `topology.link_rate`? Write it below [topology]"],
        ),
        (
            whole("", "hosts = 4", "qcn"),
            &["`qcn` is a family: choose one of qcn-2pt, qcn-3pt", "qcn-802.1Qau"],
        ),
        (whole("", "hosts = 4", "nvidia"), &["`nvidia` is a preset of dcqcn"]),
        (
            whole("", "hosts = 4\nlink_delay = \"5\"", "none"),
            &["did you mean \"5 ns\", \"5 us\" or \"5 ms\"?"],
        ),
        (
            whole("", "hosts = 4\nname = \"x\"", "none"),
            &["did you mean `name`? Write it before the first [table]"],
        ),
        (whole("", "hosts = 4\nstudy = \"x\"", "none"), &["`study`? Write it before the first [table]"]),
        (
            whole("", "kind = \"leaf-spine\"\nfabric_rates = \"40 Gb/s\"", "none"),
            &["did you mean `topology.fabric_rate`?"],
        ),
        (
            whole("", "kind = \"leaf-spine\"\nuplink_rate = \"40 Gb/s\"", "none"),
            &["write `topology.fabric_rate`: the key has a new name"],
        ),
        (
            whole("", "kind = \"clo\"", "none"),
            &["choose one of single-switch, core-edge,", "parking-lot or graph"],
        ),
        (
            whole("[[figure]]\nmetric = \"fct_p99\"", "hosts = 4", "none"),
            &["did you mean `completion_time_p99`?"],
        ),
        (
            whole("[record]\nflows = [\"H1->H2\"]\nports = [\"S->H2\"]", "hosts = 4", "none"),
            &["did you mean \"H1>H2\"?", "did you mean \"S>H2\"?"],
        ),
        (whole("[[traffic]]\nhosts = [\"H1-H3\"]", "hosts = 4", "none"), &["did you mean \"H1..H3\"?"]),
        (whole("[[traffics]]\nhosts = \"all\"", "hosts = 4", "none"), &["did you mean [[traffic]]?"]),
        (
            whole("[[traffic]]\nhosts = \"all\"\n[traffic]\nhosts = \"H1\"", "hosts = 4", "none"),
            &[
                "f.toml:4:",
                "`traffic`: stands in single and in double brackets",
                "write [[traffic]] each time",
            ],
        ),
        (
            whole("[traffic]\nhosts = \"all\"\n[[traffic]]\nhosts = \"H1\"", "hosts = 4", "none"),
            &["`traffic`: stands in single and in double brackets"],
        ),
        (whole("", "hosts = 4", "none").replace("schemes", "scheme"), &["did you mean `schemes`?"]),
        (whole("schemes = [\"ecm\"]", "hosts = 4", "none"), &["did you mean `matrix.schemes`?"]),
        (whole("k_mn = \"5 KB\"", "hosts = 4", "none"), &["did you mean `scheme.params.k_min`?"]),
        (whole("[scheme]\nk_min = \"5 KB\"", "hosts = 4", "none"), &["did you mean `scheme.params.k_min`?"]),
    ] {
        let told = said(&text);
        assert!(words.iter().all(|w| told.contains(w)), "{told}");
    }
}

/// A clos of two pods: each leaf meets the spines of its pod, each spine its own half of the cores, and numbers go on after the hosts.
#[test]
fn pods_and_cores_of_a_clos() {
    let text = |cores: u32| {
        format!(
            "name = \"g\"\n[topology]\nkind = \"clos\"\npods = 2\nleaves = 2\nspines = 2\ncores = {cores}\nper_switch = 1\nfabric_rate = \"40 Gb/s\"\n[run]\nduration = \"1 ms\"\n"
        )
    };
    let s = Scenario::parse("f.toml", &text(4), &[]).unwrap();
    let w = s.ready(&s.cases()[0]).unwrap().settings.wiring;
    let named = |node: cnsim_scheme_api::NodeId| w.name(node).to_owned();
    let links: Vec<String> =
        w.links.iter().map(|l| format!("{}-{} {}", named(l.a.0), named(l.b.0), l.rate.gbps())).collect();
    let pods = ["L4-S8", "L4-S9", "L5-S8", "L5-S9", "L6-S10", "L6-S11", "L7-S10", "L7-S11"];
    let cores = ["S8-C12", "S8-C13", "S9-C14", "S9-C15", "S10-C12", "S10-C13", "S11-C14", "S11-C15"];
    let hosts = ["H0-L4 10", "H1-L5 10", "H2-L6 10", "H3-L7 10"].map(str::to_owned);
    assert_eq!(links[..4], hosts);
    assert_eq!(links[4..], pods.iter().chain(&cores).map(|l| format!("{l} 40")).collect::<Vec<_>>());
    let told = said(&text(3));
    assert!(told.contains("3 cores cannot be shared out among the 2 spines of a pod"), "{told}");
}

/// Links between switches have a rate of their own, and ranges of hosts another one.
#[test]
fn rates_of_uplinks_and_of_ranges() {
    let of = |more: &str| {
        let text = format!(
            "name = \"g\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 8\n{more}\n[run]\nduration = \"1 ms\"\n"
        );
        let s = Scenario::parse("f.toml", &text, &[]).unwrap();
        s.ready(&s.cases()[0]).unwrap().settings.wiring
    };
    let rates = |more: &str| -> Vec<f64> { of(more).links.iter().map(|l| l.rate.gbps()).collect() };
    assert_eq!(rates(""), vec![10.0; 20]);
    let up = rates("fabric_rate = \"40 Gb/s\"");
    assert_eq!((&up[..16], &up[16..]), (&[10.0; 16][..], &[40.0; 4][..]));
    let mixed = rates("host_rates = [\"H0..H3 1 Gb/s\", \"H8..H15/4 100 Gb/s\"]");
    assert_eq!(mixed[..4], [1.0; 4]);
    assert_eq!([mixed[8], mixed[9], mixed[12], mixed[15]], [100.0, 10.0, 100.0, 10.0]);
    // Eight hosts at 10 Gb/s over two uplinks.
    assert_eq!(of("").oversubscription(), Some((4.0, "L1")));
    assert_eq!(of("fabric_rate = \"100 Gb/s\"").oversubscription(), Some((0.4, "L1")));
    assert_eq!(of("host_rates = [\"H8..H15 25 Gb/s\"]").oversubscription(), Some((10.0, "L2")));
}

/// Faults of ports: each says its place, and what would be right.
#[test]
fn faults() {
    let base = BASE.replace("pause = [\"off\"]", "pause = [\"on\"]");
    let one = |lines: &str| said(&base.replace("{}", &format!("[[fault]]\n{lines}")));
    assert_eq!(one("host = \"H1\"\nfrom = \"10 us\"\nto = \"20 us\""), "no problem");
    assert_eq!(one("host = \"H1\"\nkind = \"slow\"\nrate = \"1 Gb/s\"\nbuffer = \"9 KB\""), "no problem");
    assert_eq!(one("port = \"S>H1\""), "no problem");
    for (lines, words) in [
        ("from = \"10 us\"", &["names not one place", "host = \"H1\""][..]),
        ("host = \"H1\"\nport = \"S>H1\"", &["names not one place"]),
        ("host = \"H9\"", &["f.toml:7:8", "no host `H9`", "H0 to H3"]),
        ("port = \"S>H9\"", &["no switch port `S>H9`"]),
        ("host = \"H1\"\nfrom = \"1 ms\"", &["fault.0.from", "after the run of 1 ms"]),
        ("host = \"H1\"\nfrom = \"9 us\"\nto = \"9 us\"", &["fault.0.to", "its begin at 9 us"]),
        ("host = \"H1\"\nto = \"2 ms\"", &["fault.0.to", "the run's end at 1 ms"]),
        ("host = \"H1\"\nrate = \"1 Gb/s\"", &["fault.0.rate", "has no effect with fault.0.kind = xoff"]),
        ("port = \"S>H1\"\nkind = \"slow\"", &["fault.0.port", "has no effect with fault.0.kind = slow"]),
        ("host = \"H1\"\nkind = \"slow\"\nrate = \"10 Gb/s\"", &["fault.0.rate", "is not slow"]),
        (
            "host = \"H1\"\n[[fault]]\nhost = \"H1\"\nfrom = \"5 us\"",
            &["fault.1.from", "overlaps another fault"],
        ),
    ] {
        let given = one(lines);
        words.iter().for_each(|word| assert!(given.contains(word), "{lines}: {given}"));
    }
    let off = base
        .replace("pause = [\"on\"]\n", "")
        .replace("{}", "[pause]\nmode = \"off\"\n[[fault]]\nhost = \"H1\"");
    let off = said(&off);
    assert!(off.contains("fault.0.host") && off.contains("has no effect"), "{off}");
    let off = said(&BASE.replace("{}", "[[fault]]\nhost = \"H1\""));
    assert!(off.contains("fault.0.host") && off.contains("no case has PAUSE"), "{off}");
    // Where one row has PAUSE, the others run without the fault.
    let both = BASE.replace("[\"off\"]", "[\"on\", \"off\"]").replace("{}", "[[fault]]\nhost = \"H1\"");
    assert_eq!(said(&both), "no problem");
}

/// Watchdogs: times that cannot be, and keys that have no effect. A matrix may turn them on.
#[test]
fn watchdogs() {
    let base = BASE.replace("pause = [\"off\"]", "pause = [\"on\"]");
    let one = |lines: &str| said(&base.replace("{}", &format!("[watchdog]\n{lines}")));
    let fine = "action = \"drop\"\ndetect = \"100 us\"";
    assert_eq!(one(fine), "no problem");
    assert_eq!(one(&format!("{fine}\nrule = \"polled-99\"\nrestore = \"100 us\"")), "no problem");
    for (lines, words) in [
        (
            "action = \"alert\"\ndetect = \"100 us\"\nrestore = \"99 us\"",
            &["f.toml:9:11", "watchdog.restore", "restored after 99 us", "at least watchdog.detect"][..],
        ),
        ("action = \"drop\"", &["watchdog.detect", "no storm is seen in a run of 1 ms", "shorten"]),
        ("action = \"drop\"\ndetect = \"0 us\"", &["watchdog.detect", "out of range", "1 ns"]),
        ("action = \"drop\"\ndetect = \"9 us\"\nrestore = \"0 us\"", &["watchdog.restore", "out of range"]),
        ("action = \"reset\"", &["watchdog.action", "is not a choice", "forward"]),
        ("rule = \"polled-80\"", &["watchdog.rule", "has no effect with watchdog.action = off"]),
        ("detect = \"10 us\"", &["watchdog.detect", "has no effect"]),
        ("action = \"off\"\nrestore = \"10 us\"", &["watchdog.restore", "has no effect"]),
    ] {
        let given = one(lines);
        words.iter().for_each(|word| assert!(given.contains(word), "`{word}`: {lines}: {given}"));
    }
    let off = said(&BASE.replace("{}", &format!("[watchdog]\n{fine}")));
    assert!(off.contains("watchdog.action") && off.contains("no case has PAUSE"), "{off}");
    let varied = base
        .replace("condition = \"c\"", "condition = \"{watchdog.action}\"")
        .replace("[matrix]", "[matrix]\n\"watchdog.action\" = [\"off\", \"drop\"]");
    assert_eq!(
        said(&varied.replace("{}", "[watchdog]\ndetect = \"10 us\"\nrule = \"polled-80\"")),
        "no problem"
    );
}

/// What watchdogs see and drop is in the results of a run: own counts, and among the dropped frames.
#[test]
fn watchdogs_are_measured() {
    let text = BASE
        .replace("pause = [\"off\"]", "pause = [\"on\"]")
        .replace("{}", "[[fault]]\nhost = \"H1\"\nfrom = \"200 us\"\nto = \"600 us\"\n[workload]\ndestinations = [\"H1\"]\n[watchdog]\naction = \"drop\"\ndetect = \"50 us\"");
    let run = |text: &str| {
        let scenario = Scenario::parse("f.toml", text, &[]).unwrap();
        let case = scenario.cases().remove(0);
        let ready = scenario.ready(&case).unwrap();
        let notes = of_settings(&ready);
        let job = Job::new(case, ready, 1);
        (notes, run_job(&job, None, &Watch::default(), 1).unwrap().unwrap())
    };
    let (notes, record) = run(&text);
    assert!(notes.iter().any(|n| n.contains("scaled down: detect 50 us and restore 100 us")), "{notes:?}");
    let of = |name: &str| record.metrics.get(name);
    assert_eq!(of("watchdog_triggers"), Some(1.0));
    assert!(of("watchdog_drops") > Some(100.0) && of("watchdog_drops") == of("dropped_frames"), "{record:?}");
    let (notes, record) = run(&text.replace("action = \"drop\"\ndetect = \"50 us\"", "action = \"off\""));
    assert!(!notes.iter().any(|n| n.contains("scaled")) && record.metrics.get("watchdog_drops").is_none());
}

/// Shared buffers: each key that has no effect, and each value that cannot be.
#[test]
fn shared_buffers() {
    let base = BASE
        .replace("pause = [\"off\"]", "pause = [\"on\"]")
        .replace("{}", "[switch]\nbuffer = \"shared\"\n{}");
    let one = |lines: &str| said(&base.replace("{}", lines));
    for good in [
        "", "preset = \"hpcc-fork\"", "preset = \"broadcom-like\"", "threshold = \"30 KB\"", "alpha = 0.5",
        "alpha = \"1/8\"\nfreed = \"start\"",
    ] {
        assert_eq!(one(good), "no problem", "{good}");
    }
    for (lines, words) in [
        ("alpha = \"0\"", &["switch.alpha", "no share of the free pool", "\"1/8\""][..]),
        ("alpha = \"1/0\"", &["switch.alpha"]),
        ("memory = \"20 KB\"", &["switch.memory", "all of its memory is 20 KB"]),
        ("threshold = \"2 KB\"", &["switch.resume", "an input would never go on"]),
        (
            "threshold = \"20 KB\"\nalpha = \"1/8\"",
            &["switch.alpha", "has no effect with switch.threshold = 20 KB"],
        ),
        ("[pause]\nhigh = \"20 KB\"", &["pause.high", "has no effect with switch.buffer = shared"]),
        ("share = \"20 KB\"", &["switch.share", "has no effect"]),
    ] {
        let given = one(lines);
        words.iter().for_each(|word| assert!(given.contains(word), "{lines}: {given}"));
    }
    let lossy =
        base.replace("pause = [\"on\"]\n", "").replace("{}", "headroom = \"9 KB\"\n[pause]\nmode = \"off\"");
    assert!(said(&lossy).contains("has no effect with pause.mode = off"), "{}", said(&lossy));
    // A word that is none is named alone: it says nothing of the keys that depend on it.
    let typo = said(&base.replace("\"shared\"", "\"sharde\"").replace("{}", "alpha = 0.5"));
    assert!(typo.contains("`sharde` is not a choice") && !typo.contains("has no effect"), "{typo}");
    let global = said(&base.replace("[\"on\"]", "[\"global\"]").replace("{}", ""));
    assert!(global.contains("stops one input at a time"), "{global}");
}

/// Whatever the network refuses is refused before, at a key: nothing that is accepted cannot be run.
#[test]
fn what_the_network_refuses_has_a_key() {
    let on = BASE.replace("pause = [\"off\"]", "pause = [\"on\"]");
    let pairs = |lines: &str| {
        on.replace("{}", &format!("link_rate = \"100 Gb/s\"\n[host]\nqueues = \"per-flow\"\n{lines}"))
    };
    let incast = |more: &str| {
        pairs(&format!("[workload]\nkind = \"incast\"\ndestinations = [\"H0\"]\nsize = \"1 B\"\n{more}"))
    };
    let finite = "[workload]\nkind = \"permutation\"\nsize = \"10 KB\"";
    let chain = |text: &str| text.replace("hosts = 4", "kind = \"chain\"");
    let regular = incast("period = \"10 ns\"");
    let fits = regular.replace("[workload]", "[workload]\nstop = \"655360 ns\"");
    let hash = "hash = \"hpcc-fork\"\n";
    let slow = |rate: &str| {
        on.replace("{}", &format!("[[fault]]\nhost = \"H3\"\nkind = \"slow\"\nrate = \"{rate}\""))
    };
    let large = pairs("[workload]\nkind = \"permutation\"\nsize = \"7000 GB\"");
    let lossy = BASE.replace("{}", "[switch]\nbuffer = \"shared\"\nthreshold = \"2 KB\"");
    for (text, words) in [
        (&on.replace("{}", &format!("{hash}{finite}")), &["topology.hash", "`S` has none"][..]),
        (&chain(&on.replace("{}", &format!("{hash}{finite}"))), &["no problem"]),
        (&chain(&on.replace("{}", hash)), &["topology.hash", "H0 sends endless ones"]),
        (&regular, &["host.queues", "100000 flows go from H1", "65536 of a pair"]),
        (&fits, &["no problem"]),
        (&fits.replace("655360", "655361"), &["65537 flows go from H1"]),
        (&incast("period = \"10 ns\"\nfan_in = 1"), &["no problem"]),
        (&incast("period = \"4 ns\"\nfan_in = 1"), &["host.queues", "flows go from H1"]),
        (&incast("period = \"10 ns\"").replace("[\"H0\"]", "[\"H0\", \"H1\"]"), &["no problem"]),
        (
            &pairs("[workload]\nkind = \"poisson\"\nsizes = \"file\"\nsize_table = [\"100 100\"]"),
            &["no problem"],
        ),
        (&large, &["host.queues", "a flow has 4"]),
        (&large.replace("7000", "6000"), &["no problem"]),
        (&slow("0 %"), &["fault.0.rate", "never goes on", "kind = \"xoff\""]),
        (&slow("0.00001 %"), &["fault.0.rate", "at least 10 kb/s"]),
        (&slow("0.0001 %"), &["no problem"]),
        (&lossy, &["no problem"]),
    ] {
        let given = said(text);
        words.iter().for_each(|word| assert!(given.contains(word), "`{word}`: {text}: {given}"));
        if given == "no problem" {
            let scenario = Scenario::parse("f.toml", text, &[]).unwrap();
            let case = scenario.cases().remove(0);
            let ready = scenario.ready(&case).unwrap();
            assert!(cnsim_fabric::Ways::new(&ready.settings.spec(&ready.built, 1, false)).is_ok(), "{text}");
        }
    }
}
