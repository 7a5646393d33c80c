//! What is said of runs, as a reader has it: each mistake is told, by its cause, and nothing is told of what is sound.
#![allow(clippy::unwrap_used, clippy::panic)]

use cnsim_advice::notes::{after, before, frozen, of_settings};
use cnsim_advice::unfinished;
use cnsim_measure::pauses::Stops;
use cnsim_runs::flow_files::fork_columns;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, jobs, run_job};
use cnsim_scenario::Scenario;

/// The first seed of each case of a scenario.
fn runs(text: &str) -> Vec<RunRecord> {
    let scenario = Scenario::parse_in(&cnsim_schemes::registry(), "t.toml", text, &[], &[])
        .unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    let all = jobs(&scenario, scenario.cases()).unwrap();
    let first = |job: &&Job| job.seed == 1;
    all.iter().filter(first).map(|job| run_job(job, None, &Watch::default(), 1).unwrap().unwrap()).collect()
}

/// All that is said of a scenario before and after its runs.
fn said(text: &str) -> Vec<String> {
    let scenario = Scenario::parse_in(&cnsim_schemes::registry(), "t.toml", text, &[], &[])
        .unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    let ready = scenario.cases().into_iter().map(|c| scenario.ready(&c).unwrap());
    let mut all: Vec<String> = ready.flat_map(|r| [of_settings(&r), before(&r)].concat()).collect();
    let runs = runs(text);
    all.extend(frozen(&runs));
    all.extend(unfinished::lines(&runs));
    all.extend(after(&runs));
    all
}

fn stops(run: &RunRecord) -> &Stops {
    run.over_time.pauses.as_ref().unwrap()
}

/// Of three flows of a pair that begin at once each has its own way, time and place among the flows of its hosts.
#[test]
fn a_flow_has_its_own_way() {
    let text = |sizes: [&str; 3]| {
        let of = |size: &str| format!("\"10 us, H0, H4, {size}\"");
        format!(
            "name = \"w\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 4\nper_switch = 4\n[host]\nqueues = \"per-flow\"\n\
             [[fault]]\nport = \"S1>L1\"\nfrom = \"0.1 ms\"\nto = \"1 ms\"\n[[traffic]]\nhosts = [\"H0\"]\nkind = \"transfers\"\n\
             transfers = [{}]\n[record]\npauses = \"on\"\n[run]\nduration = \"4 ms\"\nseeds = 1\n[matrix]\npause = [\"on\"]\n\
             schemes = [\"none\"]\n",
            sizes.map(of).join(", ")
        )
    };
    // Exchanged sizes exchange no ways: the number of a flow decides.
    let ways = |sizes: [&str; 3]| {
        let run = runs(&text(sizes)).remove(0);
        let bytes = |size: &str| size.parse::<cnsim_units::Bytes>().unwrap().get();
        let numbers: Vec<Vec<u64>> = sizes
            .iter()
            .map(|s| run.flows.times.iter().filter(|f| f.bytes == bytes(s)).map(|f| f.nth).collect())
            .collect();
        assert_eq!(numbers, [[0], [1], [2]], "{sizes:?}");
        let stops = stops(&run);
        let mut by: Vec<u64> = stops.flows.iter().filter(|f| f.way.len() > 1).map(|f| f.nth).collect();
        by.sort_unstable();
        assert!(stops.flows.iter().all(|f| f.bytes == bytes(sizes[f.nth as usize])), "{:?}", stops.flows);
        by
    };
    let first = ways(["1 MB", "300 KB", "500 KB"]);
    assert!(first.len() < 3, "{first:?}");
    for sizes in [["300 KB", "1 MB", "500 KB"], ["500 KB", "1 MB", "300 KB"], ["1 MB", "500 KB", "300 KB"]] {
        assert_eq!(ways(sizes), first, "{sizes:?}");
    }
    // The fork's port of a flow follows its number, whichever ends first.
    let run = runs(&text(["1 MB", "300 KB", "500 KB"])).remove(0);
    let columns = fork_columns(&run, &run.flows.hosts, 0).unwrap();
    for (port, bytes) in [("10000", "1000000"), ("10001", "300000"), ("10002", "500000")] {
        let line = columns.lines().find(|l| l.split(' ').nth(2) == Some(port)).unwrap();
        assert!(line.contains(bytes), "{columns}");
    }
}

/// A host stands whose frames take several ways: it is found, and is a victim as its frames never go by the root.
#[test]
fn victims_are_counted_where_frames_choose_their_ways() {
    let text = |routing: &str| {
        format!(
            "name = \"v\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 2\nper_switch = 3\nrouting = \"{routing}\"\n\
             [switch]\nbuffer = \"IN\"\nshare = \"60 KB\"\n[pause]\nhigh = \"30 KB\"\nlow = \"20 KB\"\n[workload]\nkind = \"transfers\"\n\
             transfers = [\"0 us, H3, H0, 300 KB\", \"0 us, H4, H0, 300 KB\", \"0 us, H5, H0, 300 KB\", \"0 us, H7, H0, 300 KB\", \
             \"0 us, H8, H1, 300 KB\"]\n[record]\npauses = \"on\"\n[run]\nduration = \"4 ms\"\nseeds = 1\n[matrix]\npause = [\"on\"]\n\
             schemes = [\"none\"]\n"
        )
    };
    for routing in ["frame-hash", "round-robin"] {
        let run = runs(&text(routing)).remove(0);
        let flows = &stops(&run).flows;
        let of = |flow: &str| flows.iter().find(|f| f.flow == flow).unwrap();
        assert!(of("H8>H1").victim && of("H8>H1").stood > 0, "{routing}: {flows:?}");
        assert!(flows.iter().all(|f| f.victim == (f.flow == "H8>H1")), "{routing}: {flows:?}");
        assert_eq!(run.metrics["victims"], 1.0);
    }
}

/// Two hosts send to each other, and both NICs say XOFF: two faults, and no circle.
#[test]
fn two_faults_are_no_circle() {
    let fault = |h: &str, to: &str| format!("[[fault]]\nhost = \"{h}\"\nfrom = \"0.1 ms\"\n{to}\n");
    let text = |net: &str, to: &str| {
        format!(
            "name = \"c\"\n[topology]\n{net}\n{}{}[workload]\nkind = \"transfers\"\n\
             transfers = [\"0 us, H1, H2, 2 MB\", \"0 us, H2, H1, 2 MB\"]\n[record]\npauses = \"on\"\n[run]\nduration = \"5 ms\"\nseeds = 1\n\
             [matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n",
            fault("H1", to),
            fault("H2", to)
        )
    };
    for net in ["hosts = 3", "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 2"] {
        let run = runs(&text(net, "")).remove(0);
        assert_eq!(stops(&run).circles(), [], "{net}");
        let told = run.frozen.as_ref().unwrap();
        assert!(!told.deadlock && told.text().contains("says XOFF by a fault"), "{}", told.text());
        assert!(told.help().contains("[[fault]] of H") && !told.help().contains("circle"), "{}", told.help());
        let passes = runs(&text(net, "to = \"1 ms\"")).remove(0);
        assert!(passes.frozen.is_none() && stops(&passes).circles().is_empty());
    }
}

/// Frames that are sent again before they can be acknowledged: who sends in vain, since when.
#[test]
fn a_livelock_names_its_flow() {
    let text = |rto: &str| {
        format!(
            "name = \"l\"\n[topology]\nhosts = 3\n[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"go-back-n\"\nrto = \"{rto}\"\n\
             nack_interval = \"500 us\"\n[workload]\nkind = \"transfers\"\ntransfers = [\"30 us, H1, H0, 300 KB\"]\n\
             [[event]]\nat = \"0 us\"\nport = \"S>H0\"\nrate = \"RATE\"\n[run]\nduration = \"20 ms\"\nseeds = 1\n[matrix]\npause = [\"off\"]\n\
             schemes = [\"none\"]\n"
        )
    };
    let vain = said(&text("60 us").replace("RATE", "0.05 Gb/s")).join("\n");
    assert!(vain.contains("H1>H0 sends in vain since "), "{vain}");
    assert!(vain.contains("transport.rto") && !vain.contains("idle"), "{vain}");
    let sound = said(&text("2 ms").replace("RATE", "10 Gb/s")).join("\n");
    assert!(!sound.contains("in vain"), "{sound}");
}

/// Eight hosts send to one, with queue pairs and a shared buffer; `more` comes before the traffic.
fn incast(scheme: &str, more: &str) -> String {
    format!(
        "name = \"i\"\n[topology]\nhosts = 9\nlink_rate = \"100 Gb/s\"\n[switch]\nbuffer = \"shared\"\nmemory = \"2 MB\"\n[host]\n\
         queues = \"per-flow\"\n{more}\n[[traffic]]\nhosts = [\"H1..H8\"]\nkind = \"incast\"\ndestinations = [\"H0\"]\nsize = \"500 KB\"\n\
         jitter = \"10 us\"\n[run]\nduration = \"0.7 ms\"\nseeds = 5\n[matrix]\npause = [\"on\"]\nschemes = [\"{scheme}\"]\n"
    )
}

/// Eight hosts of two leaves send messages to each other until 0.8 ms; `more` comes before the traffic.
fn messages(scheme: &str, load: &str, table: &str, more: &str) -> String {
    format!(
        "name = \"m\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 4\nlink_rate = \"100 Gb/s\"\n[switch]\n\
         buffer = \"shared\"\nmemory = \"2 MB\"\n[host]\nqueues = \"per-flow\"\n{more}\n[[traffic]]\nhosts = [\"all\"]\nkind = \"poisson\"\n\
         load = \"{load}\"\nsizes = \"file\"\nsize_table = [{table}]\nstop = \"0.8 ms\"\n[run]\nduration = \"1 ms\"\nseeds = 5\n[matrix]\n\
         pause = [\"on\"]\nschemes = [\"{scheme}\"]\n"
    )
}

const TABLE: &str = "\"1000 20\", \"10000 60\", \"60000 100\"";
const DCQCN: &str = "[scheme.dcqcn]\npreset = \"hpcc\"\nk_min = \"60 KB\"\nk_max = \"240 KB\"";

/// No number of a note is unrounded, infinite, none, or a zero with a sign.
fn well_said(notes: &[String]) {
    for note in notes {
        for word in note.split([' ', ',', '(', ')', ';', ':']) {
            let number = word.strip_suffix('.').unwrap_or(word);
            let digits = number.chars().filter(char::is_ascii_digit).count();
            let whole = !number.contains('.');
            assert!(!["inf", "NaN", "-inf", "-0"].contains(&number), "{note}");
            assert!(number.parse::<f64>().is_err() || whole || digits <= 7, "{note}");
        }
    }
}

#[test]
fn nothing_is_said_of_sound_scenarios() {
    let preset = |scheme: &str| format!("[scheme.{scheme}]\npreset = \"hpcc\"");
    let again = "[transport]\nkind = \"go-back-n\"\nrto = \"200 us\"\n";
    let brief = |text: String| text.replace("0.7 ms", "0.5 ms");
    let mut wrong: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, text) in [
        ("hpcc", incast("hpcc", &preset("hpcc"))),
        ("swift", brief(incast("swift", ""))),
        ("dctcp", brief(incast("dctcp", &preset("dctcp")))),
        ("timely", incast("timely", &preset("timely"))),
        ("dcqcn", incast("dcqcn", DCQCN).replace("0.7 ms", "1.1 ms")),
        ("hpcc that sends again", incast("hpcc", &format!("{again}{}", preset("hpcc")))),
        ("messages by hpcc", messages("hpcc", "30 %", TABLE, &preset("hpcc"))),
        ("messages by swift", messages("swift", "30 %", TABLE, "")),
        ("messages by dctcp", messages("dctcp", "30 %", TABLE, &preset("dctcp"))),
        ("messages by timely", messages("timely", "30 %", TABLE, &preset("timely"))),
        ("messages by dcqcn", messages("dcqcn", "30 %", TABLE, DCQCN)),
        ("a window of the product", messages("none", "30 %", TABLE, "[transport]\nwindow = \"bdp\"")),
        ("messages that are sent again", messages("dcqcn", "30 %", TABLE, &format!("{again}{DCQCN}"))),
        ("large windows", messages("none", "20 %", TABLE, "[transport]\nwindow = \"200 KB\"")),
    ] {
        let notes = said(&text);
        if !notes.is_empty() {
            wrong.push((name, notes));
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn each_mistake_is_said() {
    let again = "[transport]\nkind = \"go-back-n\"\n";
    let off = |text: String| text.replace("pause = [\"on\"]", "pause = [\"off\"]");
    let late = |scheme: &str, sets: &str| incast(scheme, &format!("[scheme.{scheme}]\n{sets}"));
    let mut silent: Vec<(&str, Vec<String>)> = Vec::new();
    for (text, words) in [
        (
            late("dctcp", "preset = \"hpcc\"\nk = \"3 MB\""),
            "dctcp marks frames above a queue of 3 MB (scheme.dctcp.k), but no queue",
        ),
        (
            late("dcqcn", "preset = \"hpcc\"\nk_min = \"1000 KB\"\nk_max = \"1100 KB\""),
            "but PAUSE stops all inputs at",
        ),
        (
            off(late("dctcp", "preset = \"hpcc\"\nk = \"1500 KB\"")),
            "an output may hold no more by switch.alpha or switch.memory",
        ),
        (late("dcqcn", "k_min = \"40 KB\""), "dcqcn runs with its defaults but for k_min"),
        (
            late("timely", "preset = \"hpcc\"\nt_low = \"5 ms\"\nt_high = \"9 ms\""),
            "timely: the scheme slowed no flow, beside",
        ),
        (
            late("swift", "base_target = \"20 ms\"").replace("memory = \"2 MB\"", "memory = \"600 KB\""),
            "swift: the scheme slowed no flow, beside",
        ),
        (messages("none", "30 %", TABLE, "[transport]\nwindow = \"5 KB\""), "transport.window = 5 KB is"),
        (
            messages("hpcc", "30 %", "\"1 20\", \"10 60\", \"100 100\"", "[scheme.hpcc]\npreset = \"hpcc\""),
            "sizes are in bytes",
        ),
        (
            messages("hpcc", "60 %", TABLE, "[scheme.hpcc]\npreset = \"hpcc\"")
                .replace("hosts = [\"all\"]", "hosts = [\"H1..H7\"]\ndestinations = [\"H0\"]")
                .replace("stop = \"0.8 ms\"", "stop = \"0.1 ms\""),
            "L1>H0 is offered 4.32 times what it carries, 432 Gb/s of 100 Gb/s on average while sources send, from 0 us to 100 us",
        ),
        (
            off(incast("swift", "")).replace("memory = \"2 MB\"", "memory = \"60 KB\""),
            "let queue pairs send again (transport.kind = \"go-back-n\")",
        ),
        (
            incast(
                "hpcc",
                "[scheme.hpcc]\npreset = \"hpcc\"\n[[event]]\nat = \"5 us\"\nport = \"S>H0\"\nrate = \"0 Gb/s\"",
            ),
            "S>H0 serves nothing from 5 us on, and 4",
        ),
        (incast("swift", "[[fault]]\nhost = \"H0\"\nfrom = \"20 us\""), "to which H0 says XOFF by a fault"),
        (
            incast("hpcc", &format!("{again}rto = \"2 us\"\n[scheme.hpcc]\npreset = \"hpcc\"")),
            "transport.rto = 2 us is below",
        ),
        (
            messages("dcqcn", "30 %", TABLE, &format!("{again}{DCQCN}"))
                .replace("per_switch = 4\n", "per_switch = 4\nrouting = \"frame-hash\"\n"),
            "overtake each other, which go-back-n takes for losses",
        ),
        (
            messages(
                "newreno",
                "30 %",
                TABLE,
                "[transport]\nkind = \"tcp\"\nrto_min = \"200 us\"\nreceive_window = \"15 KB\"",
            ),
            "transport.receive_window = 15 KB is",
        ),
        (
            messages(
                "timely",
                "30 %",
                TABLE,
                "[scheme.timely]\npreset = \"hpcc\"\nt_low = \"2 us\"\nt_high = \"3 us\"",
            ),
            "timely slows a flow whose round trip takes longer than 3 us",
        ),
        (
            incast("hpcc", "[transport]\nack_every = 4\n[scheme.hpcc]\npreset = \"hpcc\""),
            "such flows: its window closes before an acknowledgement is due (transport.ack_every)",
        ),
        (
            incast(
                "hpcc",
                &format!("{again}ack_every = 4\nrto = \"100 us\"\n[scheme.hpcc]\npreset = \"hpcc\""),
            ),
            "although no frame was lost, where an acknowledgement waits for 4 frames",
        ),
    ] {
        let notes = said(&text);
        if !notes.iter().any(|n| n.contains(words)) {
            silent.push((words, notes.clone()));
        }
        assert!(!notes.iter().any(|n| n.contains("made no message") || n.contains("circle")), "{notes:#?}");
        well_said(&notes);
    }
    assert_eq!(silent, []);
}

/// Rates of 0, one flow, and ports that serve nothing leave no number unsaid.
#[test]
fn numbers_of_notes_are_finite_and_rounded() {
    for (at, rate, duration) in
        [("0 us", "0 Gb/s", "1 ms"), ("5 us", "0 Gb/s", "100 ms"), ("7 us", "0.0137 Gb/s", "33 ms")]
    {
        let text = format!(
            "name = \"n\"\n[topology]\nhosts = 3\nlink_rate = \"40 Gb/s\"\n[host]\nqueues = \"per-flow\"\n[workload]\nkind = \"transfers\"\n\
             transfers = [\"0 us, H1, H0, 777 KB\"]\n[run]\nduration = \"{duration}\"\nseeds = 1\n[[event]]\nat = \"{at}\"\nport = \"S>H0\"\n\
             rate = \"{rate}\"\n[matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n"
        );
        let notes = said(&text);
        assert!(notes.iter().any(|n| n.contains("S>H0")), "{notes:#?}");
        well_said(&notes);
    }
}

/// A class that no traffic names is told, but for those of a preset; one that sends is not.
#[test]
fn a_class_that_nobody_sends_is_told() {
    let text = |class: &str| {
        format!(
            r#"
            name = "silent"
            [topology]
            hosts = 2
            link_rate = "10 Gb/s"
            [switch]
            buffer = "shared"
            memory = "2 MB"
            [pause]
            frames = "pfc"
            [[class]]
            name = "roce"
            [[class]]
            name = "bulk"
            [[traffic]]
            class = "roce"
            hosts = "H0"
            kind = "transfers"
            transfers = ["0 us, H0, H1, 10 KB"]
            [[traffic]]
            class = "{class}"
            hosts = "H1"
            kind = "transfers"
            transfers = ["0 us, H1, H0, 10 KB"]
            [run]
            duration = "1 ms"
            "#
        )
    };
    let told = |class| said(&text(class)).iter().any(|note| note.contains("nobody sends in class bulk:"));
    assert_eq!([told("roce"), told("bulk")], [true, false]);
}
