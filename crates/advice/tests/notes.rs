//! What is said of runs, as a reader has it: each mistake is told, by its cause, and nothing is told of what is sound.
#![allow(clippy::unwrap_used)]

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
    run.pauses.as_ref().unwrap()
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
            .map(|s| run.flows.iter().filter(|f| f.bytes == bytes(s)).map(|f| f.nth).collect())
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
    let columns = fork_columns(&run, &run.hosts, 0).unwrap();
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
