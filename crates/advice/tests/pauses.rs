//! Who stopped whom: the forest of a run, and its file.
#![allow(clippy::unwrap_used)]

use cnsim_measure::pauses::{Forest, Kind, Stops};
use cnsim_runs::pause_files::{pauses_csv, read_pauses, read_victims, victims_csv};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::{Case, Scenario};

/// Three leaves of three hosts under two spines. Five far hosts and a near one send to H0; H7 sends to H1, past it.
const INCAST: &str = "name = \"i\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 2\nper_switch = 3\n\
    [switch]\nbuffer = \"BUFFER\"\nshare = \"60 KB\"\n[pause]\nhigh = \"30 KB\"\nlow = \"20 KB\"\n[workload]\nkind = \"transfers\"\n\
    transfers = [\"0 us, H3, H0, 300 KB\", \"0 us, H4, H0, 300 KB\", \"0 us, H5, H0, 300 KB\", \"0 us, H6, H0, 300 KB\", \
    \"0 us, H8, H0, 300 KB\", \"0 us, H2, H0, 300 KB\", \"0 us, H7, H1, 300 KB\"]\n\
    [record]\npauses = \"on\"\n[run]\nduration = \"3 ms\"\nseeds = 1\n[matrix]\npause = [\"MODE\"]\nschemes = [\"none\"]\n";

fn run(buffer: &str, mode: &str, sets: &[(&str, &str)]) -> RunRecord {
    run_text(INCAST, buffer, mode, sets)
}

fn run_text(text: &str, buffer: &str, mode: &str, sets: &[(&str, &str)]) -> RunRecord {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let text = text.replace("BUFFER", buffer).replace("MODE", mode);
    let scenario = Scenario::parse("i.toml", &text, &sets).unwrap();
    let case = scenario.cases().remove(0);
    let job = Job::new(case.clone(), scenario.ready(&case).unwrap(), 1);
    run_job(&job, None, &Watch::default(), 1).unwrap().unwrap()
}

fn stops(record: &RunRecord) -> &Stops {
    record.over_time.pauses.as_ref().unwrap()
}

#[test]
fn the_trees_have_all_time_in_xoff() {
    for (buffer, mode) in [("IN", "on"), ("XP", "on"), ("SO", "global"), ("XP", "global")] {
        let record = run(buffer, mode, &[]);
        let stops = stops(&record);
        let forest = Forest::of(stops, |_| true);
        let sum: u64 = forest.places.iter().map(|p| p.time).sum();
        assert!(sum > 1_000_000_000, "{buffer} {mode}: PAUSE stops somebody for a millisecond: {sum}");
        assert_eq!(sum, stops.total(), "{buffer} {mode}");
        assert_eq!(sum, forest.roots.iter().map(|r| r.time).sum::<u64>());
        for (parts, xoff) in forest.parts.iter().zip(&stops.xoffs) {
            assert_eq!(parts.iter().map(|p| p.time).sum::<u64>(), xoff.time());
        }
        let metric = |id: &str| record.metrics[id];
        assert_eq!(metric("xoffs"), metric("pauses"));
        assert_eq!(metric("pause_roots"), forest.by_time().len() as f64);
        let hosts = stops.xoffs.iter().filter(|x| x.time() > 0).map(|x| stops.name(x.stopped));
        let hosts: std::collections::BTreeSet<&str> = hosts.filter(|name| !name.contains('>')).collect();
        assert_eq!(metric("paused_hosts"), hosts.len() as f64);
    }
}

/// The port of H0 is the cause of most of it, though H7 stands, too, which sends elsewhere. A port that serves nothing is told from
/// one that is slow.
#[test]
fn the_root_is_the_port_of_the_incast() {
    let record = run("IN", "on", &[]);
    let stops_of = stops(&record);
    let forest = Forest::of(stops_of, |_| true);
    let roots = forest.by_time();
    let (first, root) = roots[0];
    assert_eq!((stops_of.name(root.output), root.kind), ("L1>H0", Kind::Slow));
    assert!(root.time * 2 > stops_of.total());
    let innocent = |x: &usize| stops_of.name(stops_of.xoffs[*x].stopped) == "H7";
    assert!((0..stops_of.xoffs.len()).filter(innocent).any(|x| forest.main_root(x) == Some(first)));
    // H7 sends to H1, past the root for which it stood; who sends to H0 goes by it.
    let found = |flow: &str| stops_of.flows.iter().find(|f| f.flow == flow).unwrap();
    assert!(found("H7>H1").victim && found("H7>H1").stood > 0 && !found("H3>H0").victim);
    assert!(stops_of.flows.iter().all(|f| f.stood <= f.time && f.way.contains(&f.at)));
    assert!(stops_of.flows.iter().is_sorted_by_key(|f| std::cmp::Reverse(f.stood)));
    let victims: Vec<u64> = stops_of.flows.iter().filter(|f| f.victim).map(|f| f.stood).collect();
    assert_eq!(record.metrics["victims"], victims.len() as f64);
    assert!((record.metrics["victim_time"] - victims.iter().sum::<u64>() as f64 / 1e9).abs() < 1e-9);
    let closed = [
        ("hotspot.host", "H0"),
        ("hotspot.rate", "0 Gb/s"),
        ("hotspot.start", "0 us"),
        ("hotspot.stop", "3 ms"),
    ];
    let record = run("IN", "on", &closed);
    let forest = Forest::of(stops(&record), |_| true);
    let root = forest.by_time()[0].1;
    assert_eq!((stops(&record).name(root.output), root.kind), ("L1>H0", Kind::Closed));
    assert!(stops(&record).xoffs.iter().any(|x| x.to_end));
}

/// A storm and an incast at once: each is a root, and has its own.
#[test]
fn a_nic_that_says_xoff_is_a_root() {
    let storm = "[[fault]]\nhost = \"H1\"\nkind = \"xoff\"\nfrom = \"20 us\"\nto = \"1 ms\"\n";
    let record = run_text(&(INCAST.to_string() + storm), "IN", "on", &[]);
    let stops_of = stops(&record);
    let forest = Forest::of(stops_of, |_| true);
    let roots = forest.by_time();
    let of = |kind: Kind| roots.iter().find(|r| r.1.kind == kind).map(|r| r.1).unwrap();
    assert_eq!(stops_of.name(of(Kind::Said).output), "H1");
    assert_eq!(stops_of.name(of(Kind::Slow).output), "L1>H0");
    let [place] = of(Kind::Said).below[..] else { panic!("{:?}", of(Kind::Said)) };
    let place = &forest.places[place as usize];
    assert_eq!((stops_of.name(place.transmitter), place.xoffs), ("L1>H1", 1));
    // From one XOFF and its way to one XON and its.
    assert_eq!(place.time, 980_000_000);
    assert!(!place.below.is_empty());
    assert_eq!(forest.places.iter().map(|p| p.time).sum::<u64>(), stops_of.total());
}

/// One NIC of 320 says XOFF for 1 ms, at 40 % load.
const STORM: &str = "name = \"s\"\n[topology]\nkind = \"clos\"\npods = 5\nleaves = 4\nper_switch = 16\nspines = 4\ncores = 16\n\
        link_rate = \"100 Gb/s\"\nfabric_rate = \"400 Gb/s\"\nlink_delay = \"1 us\"\n[switch]\nprocessing = \"0 us\"\n\
        buffer = \"shared\"\nmemory = \"8 MB\"\nreserve = \"4 KB\"\nalpha = \"1/8\"\nalpha_by_rate = true\nheadroom = \"auto\"\n\
        resume = \"3 KB\"\n[pause]\nframes = \"pfc\"\n[host]\nprocessing = \"0 us\"\nqueues = \"per-destination\"\n[workload]\n\
        kind = \"poisson\"\nsizes = \"fb-hadoop\"\nload = \"40 %\"\nframe = \"1048 B\"\nheader = \"48 B\"\nstop = \"1 ms\"\n[[fault]]\n\
        host = \"H37\"\nkind = \"xoff\"\nfrom = \"0.1 ms\"\nto = \"1.1 ms\"\n[record]\npauses = \"on\"\n[run]\nduration = \"1.5 ms\"\n\
        seeds = 1\n[matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n";

/// The NIC of a storm is the first root by time, its port stood for as long as the fault to the
/// picosecond, the sum over the trees is the time that transmitters stood, and those that stood longest are ranked first.
#[test]
fn a_storm_of_320_hosts() {
    let record = run_text(STORM, "", "", &[]);
    assert_eq!(record.execution.by_model, None);
    let stops = stops(&record);
    let forest = Forest::of(stops, |_| true);
    let (_, root) = forest.by_time()[0];
    assert_eq!((root.kind, stops.name(root.output)), (Kind::Said, "H37"));
    let [port] = root.below[..] else { panic!("{root:?}") };
    let port = &forest.places[port as usize];
    assert_eq!((stops.name(port.transmitter), port.xoffs, port.time), ("L322>H37", 1, 1_000_000_000));
    assert!(!port.below.is_empty(), "it spreads");
    assert_eq!(forest.places.iter().map(|p| p.time).sum::<u64>(), stops.total());
    assert_eq!(forest.roots.iter().map(|r| r.time).sum::<u64>(), stops.total());
    let stood: Vec<u64> = stops.flows.iter().map(|f| f.stood).collect();
    assert!(stood.len() > 100 && stood.is_sorted_by(|a, b| a >= b), "{}", stood.len());
    assert!(stops.flows.iter().any(|f| f.victim && !f.flow.ends_with(">H37")), "victims go elsewhere");
}

/// What a run takes to keep an XOFF of that storm, its causes included: 64 B at most.
#[test]
fn an_xoff_takes_64_bytes() {
    let scenario = Scenario::parse("s.toml", STORM, &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let spec = ready.settings.spec(&ready.built, 1, false);
    let pauses = cnsim_fabric::run(&spec, &cnsim_fabric::Options::default()).unwrap().recorded.pauses;
    let (xoffs, bytes) = (pauses.xoffs.len() as u64, pauses.kept_bytes());
    println!(
        "{:.1} B an XOFF, {:.2} causes",
        bytes as f64 / xoffs as f64,
        pauses.causes.len() as f64 / xoffs as f64
    );
    assert!(xoffs > 500 && bytes <= 64 * xoffs, "{xoffs} XOFFs, {} causes, {bytes} B", pauses.causes.len());
}

/// The table of `modern/storm` in its chapter, of seed 1.
#[test]
fn the_storm_of_its_chapter() {
    let chapter = include_str!("../../../docs/studies/modern.md");
    let scenario = Scenario::load("modern/storm", &[]).unwrap();
    let rows = [
        ("no scheme, no watchdog", "off", "none"),
        ("no scheme, `drop`", "drop", "none"),
        ("DCQCN, no watchdog", "off", "dcqcn"),
        ("DCQCN, `alert`", "alert", "dcqcn"),
        ("DCQCN, `drop`", "drop", "dcqcn"),
    ];
    for (row, action, scheme) in rows {
        let wanted = |c: &Case| c.id.scheme == scheme && c.id.condition == format!("watchdog {action}");
        let case = scenario.cases().into_iter().find(wanted).unwrap();
        let job = Job::new(case.clone(), scenario.ready(&case).unwrap(), 1);
        let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
        let metric = |id: &str| record.metrics.get(id).unwrap();
        let storms = record.metrics.get("watchdog_triggers").map_or(String::new(), |n| format!(" {n}"));
        let [hosts, ports, victims, dropped] =
            ["paused_hosts", "paused_links", "victims", "dropped_frames"].map(metric);
        let (stood, p99) = (metric("victim_time"), metric("completion_time_p99"));
        let told = format!(
            "| {row} |{storms} | {hosts} | {ports} | {victims} | {stood:.1} | {dropped} | {p99:.0} |"
        );
        assert!(chapter.contains(&told), "{told}");
        if (action, scheme) == ("off", "dcqcn") {
            let forest = Forest::of(stops(&record), |_| true);
            let (_, root) = forest.by_time()[0];
            assert_eq!((stops(&record).name(root.output), root.kind), ("H37", Kind::Said));
            let share = root.time as f64 / stops(&record).total() as f64;
            assert!(
                chapter.contains(&format!("root of {:.0} % of all time in XOFF", share * 100.0)),
                "{share}"
            );
        }
    }
}

/// A ring of five switches with a host at each, and beside it a switch E where three hosts send to one, one to a slow reader and one to a
/// NIC that says XOFF: four roots at once, each with those that it stops.
#[test]
fn four_roots_at_once() {
    let ring =
        (1..=5).map(|i| format!("\"R{i} R{} 10 Gb/s 0.5 us\", \"H{i} R{i} 10 Gb/s 0.5 us\"", i % 5 + 1));
    let beside = (6..=13).map(|i| format!("\"H{i} E 10 Gb/s 0.5 us\""));
    let links: Vec<String> = ring.chain(beside).chain(["\"E R1 10 Gb/s 0.5 us\"".into()]).collect();
    let round = (1..=5).map(|i| format!("\"0 us, H{i}, H{}, 3 MB\"", (i + 1) % 5 + 1));
    let others = [(6, 9), (7, 9), (8, 9), (10, 11), (12, 13)];
    let others = others.map(|(from, to)| format!("\"0 us, H{from}, H{to}, 900 KB\""));
    let flows: Vec<String> = round.chain(others).collect();
    let text = format!(
        "name = \"four\"\n[topology]\nkind = \"graph\"\nnodes = [\"R1 4\", \"R2 3\", \"R3 3\", \"R4 3\", \"R5 3\", \"E 9\"]\n\
         links = [{}]\n[switch]\nbuffer = \"IN\"\nshare = \"60 KB\"\n[pause]\nhigh = \"30 KB\"\nlow = \"20 KB\"\n[workload]\n\
         kind = \"transfers\"\ntransfers = [{}]\n[[fault]]\nhost = \"H11\"\nkind = \"slow\"\nrate = \"3 Gb/s\"\nbuffer = \"30 KB\"\n\
         [[fault]]\nhost = \"H13\"\nfrom = \"100 us\"\nto = \"600 us\"\n[record]\npauses = \"on\"\n[run]\n\
         duration = \"5 ms\"\nseeds = 1\n[matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n",
        links.join(", "),
        flows.join(", ")
    );
    let record = run_text(&text, "", "", &[]);
    let stops = stops(&record);
    let forest = Forest::of(stops, |_| true);
    assert_eq!(forest.places.iter().map(|p| p.time).sum::<u64>(), stops.total());
    assert_eq!(forest.roots.iter().map(|r| r.time).sum::<u64>(), stops.total());
    let of = |at: &str, kind: Kind| {
        let root = forest.roots.iter().find(|r| r.kind == kind && stops.name(r.output) == at).unwrap();
        let mut all: Vec<u32> = root.below.clone();
        let mut names = Vec::new();
        while let Some(place) = all.pop() {
            let place = &forest.places[place as usize];
            names.push(stops.name(place.transmitter));
            all.extend(&place.below);
        }
        names.sort_unstable();
        names
    };
    assert_eq!(of("E>H9", Kind::Slow), ["H6", "H7", "H8"], "the incast");
    assert_eq!(of("H11", Kind::Said), ["E>H11", "H10"], "the slow reader");
    assert_eq!(of("H13", Kind::Said), ["E>H13", "H12"], "the storm");
    let standing: Vec<_> = stops.circles().into_iter().filter(|c| c.to_end).collect();
    let [circle] = &standing[..] else { panic!("{standing:?}") };
    let mut ports: Vec<&str> =
        circle.xoffs.iter().map(|x| stops.name(stops.xoffs[*x as usize].stopped)).collect();
    ports.sort_unstable();
    assert_eq!(ports, ["R1>R2", "R2>R3", "R3>R4", "R4>R5", "R5>R1"], "the ring");
    // No other output is a root but those of the ring, before it closes.
    let ring = |r: &&cnsim_measure::pauses::Root| !stops.name(r.output).starts_with('R');
    assert_eq!(forest.roots.iter().filter(ring).count(), 3);
    // Frames of 802.3x name no class, and those of PFC do.
    assert!(stops.xoffs.iter().all(|x| x.class.is_none()));
    let pfc = run_text(&text, "", "", &[("pause.frames", "pfc")]);
    assert!(self::stops(&pfc).xoffs.iter().all(|x| x.class == Some(0)));
    assert_eq!(self::stops(&pfc).xoffs.len(), stops.xoffs.len());
}

/// A ring of switches with a host at each; each sends to the host before its own, so that clockwise all go nearly round.
fn ring(switches: usize, routing: &str, by: usize, load: &str) -> RunRecord {
    let flows: Vec<String> =
        (0..switches).map(|i| format!("\"0 us, H{i}, H{}, {load}\"", (i + by) % switches)).collect();
    let text = format!(
        "name = \"r\"\n[topology]\nkind = \"ring\"\nswitches = {switches}\nper_switch = 1\nrouting = \"{routing}\"\n\
         [switch]\nbuffer = \"IN\"\nshare = \"60 KB\"\n[pause]\nhigh = \"30 KB\"\nlow = \"20 KB\"\n[workload]\n\
         kind = \"transfers\"\ntransfers = [{}]\n[record]\npauses = \"on\"\n[run]\nduration = \"5 ms\"\nseeds = 1\n\
         [matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n",
        flows.join(", ")
    );
    run_text(&text, "", "", &[])
}

/// Rings of three and four close a circle clockwise, and none by shortest paths; one of five does by shortest paths, too. What has left
/// before XOFF closes none.
#[test]
fn circles_are_found_where_they_close() {
    for (switches, routing, by, closes) in [
        (3, "clockwise", 2, true),
        (4, "clockwise", 3, true),
        (3, "flow-hash", 1, false),
        (4, "flow-hash", 1, false),
        (5, "flow-hash", 2, true),
    ] {
        let record = ring(switches, routing, by, "3 MB");
        let circles = stops(&record).circles();
        let standing = circles.iter().find(|c| c.to_end);
        assert_eq!(standing.is_some(), closes, "{switches} {routing}: {circles:?}");
        assert_eq!(record.frozen.as_ref().is_some_and(|f| f.deadlock), closes);
        let Some(circle) = standing else { continue };
        let mut ports: Vec<&str> = circle
            .xoffs
            .iter()
            .map(|x| stops(&record).name(stops(&record).xoffs[*x as usize].stopped))
            .collect();
        ports.sort_unstable();
        let mut frozen = record.frozen.clone().unwrap().ports;
        frozen.sort_unstable();
        assert_eq!(ports, frozen, "the ports that stand at the end");
        assert_eq!(ports.len(), switches);
        assert!((circle.from as f64) < record.frozen.unwrap().since * 1e9);
        let few = ring(switches, routing, by, "20 KB");
        assert!(stops(&few).circles().is_empty() && few.frozen.is_none());
    }
    // Up and down paths close none, however full they are.
    for (buffer, mode) in [("IN", "on"), ("XP", "global"), ("SO", "global")] {
        assert_eq!(stops(&run(buffer, mode, &[])).circles(), []);
    }
    let said = Scenario::parse(
        "i.toml",
        &INCAST.replace("kind = \"leaf-spine\"", "routing = \"clockwise\"\nkind = \"leaf-spine\""),
        &[],
    );
    let said = said.unwrap_err().iter().map(ToString::to_string).collect::<String>();
    assert!(
        said.contains("`topology.routing`") && said.contains("no clockwise paths") && said.contains("ring"),
        "{said}"
    );
}

#[test]
fn the_file_reads_back() {
    let record = run("IN", "on", &[]);
    let dir = std::env::temp_dir().join(format!("cnsim-pauses-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("pauses.csv");
    let text = pauses_csv(std::slice::from_ref(&record)).unwrap();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        read_pauses(&path)
    };
    let back = read(&text).unwrap();
    assert_eq!((back.len(), back[0].0[1].as_str(), back[0].0[3].as_str()), (1, "on", "1"));
    // By names, as a file numbers them in its own order.
    let told = |stops: &Stops| -> Vec<(String, u64, u64, Vec<(String, u64)>)> {
        let causes = |x: &cnsim_measure::pauses::Stop| {
            x.causes.iter().map(|c| (stops.name(c.output).to_string(), c.bytes)).collect()
        };
        stops.xoffs.iter().map(|x| (stops.name(x.stopped).into(), x.decided, x.time(), causes(x))).collect()
    };
    assert_eq!(told(&back[0].1), told(stops(&record)));
    let victims = dir.join("victims.csv");
    std::fs::write(&victims, victims_csv(std::slice::from_ref(&record)).unwrap()).unwrap();
    let mut back = back;
    read_victims(&victims, &mut back).unwrap();
    let flows = |stops: &Stops| -> Vec<(String, u64, u64, Vec<String>, bool)> {
        let way =
            |f: &cnsim_measure::pauses::Stood| f.way.iter().map(|at| stops.name(*at).to_string()).collect();
        stops.flows.iter().map(|f| (f.flow.clone(), f.time, f.stood, way(f), f.victim)).collect()
    };
    assert_eq!(flows(&back[0].1), flows(stops(&record)));
    let roots = |stops: &Stops| -> Vec<(String, u64)> {
        let forest = Forest::of(stops, |_| true);
        forest.by_time().iter().map(|r| (stops.name(r.1.output).into(), r.1.time)).collect()
    };
    assert_eq!(roots(&back[0].1), roots(stops(&record)));
    let first = text.lines().nth(1).unwrap();
    for (from, to) in [("slow", "0"), ("slow", ""), (",on,none,1,0,", ",on,none,1,7,"), (" 31500 ", " x ")] {
        let said = read(&text.replace(first, &first.replace(from, to))).unwrap_err();
        assert!(said.contains("pauses.csv:2: no XOFF") && said.contains("help"), "{to}: {said}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Nothing is kept unless that is asked for, or flows have queue pairs; it is asked for in vain without PAUSE.
#[test]
fn xoffs_are_kept_where_that_makes_sense() {
    assert!(run("IN", "on", &[("record.pauses", "auto")]).over_time.pauses.is_none());
    assert!(run("IN", "on", &[("record.pauses", "off")]).over_time.pauses.is_none());
    let pairs = [("record.pauses", "auto"), ("host.queues", "per-flow")];
    assert!(run("IN", "on", &pairs).over_time.pauses.is_some_and(|stops| !stops.is_empty()));
    let said = Scenario::parse("i.toml", &INCAST.replace("BUFFER", "IN").replace("MODE", "off"), &[]);
    let said = said.unwrap_err().iter().map(ToString::to_string).collect::<String>();
    assert!(
        said.contains("`record.pauses`: has no effect: no case has PAUSE") && said.contains("remove it"),
        "{said}"
    );
}

/// XOFFs of two queue pairs of a host whose link is 0.1 % faster than the receiver's, where DCQCN's marking begins at a queue of `kb`
/// KB and XOFF at 100 KB of the input, which holds all of that queue.
fn xoffs_with_marking_from(kb: u64) -> u64 {
    let text = format!(
        "name = \"i\"\n[topology]\nhosts = 2\nports = 2\nlink_rate = \"10 Gb/s\"\nhost_rates = [\"H1 10.01 Gb/s\"]\n[switch]\n\
         buffer = \"shared\"\nmemory = \"1 MB\"\nreserve = \"0 B\"\nthreshold = \"100 KB\"\nheadroom = \"50 KB\"\n[pause]\nmode = \"on\"\n\
         [host]\nqueues = \"per-flow\"\n[workload]\nkind = \"transfers\"\ntransfers = [\"0 us, H1, H0, 200 MB\", \"0 us, H1, H0, 200 MB\"]\n\
         frame = \"500 B\"\n[run]\nduration = \"0.2 s\"\nseeds = 1\n[matrix]\npause = [\"on\"]\nschemes = [\"dcqcn\"]\n\
         [scheme.dcqcn]\nk_min = \"{kb} KB\"\nk_max = \"{kb} KB\"\np_max = 1\ncnp_interval = \"4 us\"\n"
    );
    let record = run_text(&text, "", "", &[]);
    record.metrics.get("pauses").unwrap_or_default() as u64
}

/// PFC fires where DCQCN's marking begins 2 KB above XOFF, and not where it begins 2 KB below.
#[test]
fn marks_below_xoff_keep_pfc_still() {
    assert_eq!(xoffs_with_marking_from(98), 0);
    assert!(xoffs_with_marking_from(102) > 0);
    assert!(xoffs_with_marking_from(900) > 0, "no frame is marked");
}

/// The first PAUSE of the HPCC fork's incast reaches the host that its own runs name, to the nanosecond, and no frame is lost.
#[test]
fn the_forks_first_pause() {
    for (memory, host, at) in [("8 MiB", "H5", 9141), ("4 MiB", "H15", 4161)] {
        let scenario =
            Scenario::load("modern/fork-incast", &[("record.pauses".into(), "on".into())]).unwrap();
        let wanted = |c: &Case| c.id.scheme == "dcqcn" && c.id.condition.contains(&format!(", {memory}"));
        let case = scenario.cases().into_iter().find(wanted).unwrap();
        let job = Job::new(case.clone(), scenario.ready(&case).unwrap(), 1);
        let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
        let stops = stops(&record);
        let first =
            stops.xoffs.iter().filter(|x| stops.names[x.stopped as usize] == host).map(|x| x.from).min();
        assert_eq!(first, Some(at * 1000), "{memory}");
        assert_eq!(stops.xoffs.iter().map(|x| x.from).min(), first, "none was earlier");
        assert_eq!(record.metrics.get("dropped_frames"), Some(0.0));
    }
}

/// Over 20 seeds the fork's incast has as many PAUSE frames, and as much time in PAUSE for each of 60 hosts, as the fork itself over 200
/// seeds (mean and standard deviation): their means differ by less than three standard errors. The study's table has these figures.
#[test]
fn the_forks_pauses_over_seeds() {
    let page = std::fs::read_to_string("../../docs/studies/modern.md").unwrap();
    let fork = [("8 MiB", [(78.8, 21.7), (161.7, 20.1)]), ("4 MiB", [(462.8, 30.0), (598.8, 51.5)])];
    for (memory, fork) in fork {
        let scenario = Scenario::load("modern/fork-incast", &[]).unwrap();
        let wanted = |c: &Case| c.id.scheme == "dcqcn" && c.id.condition.contains(&format!(", {memory}"));
        let case = scenario.cases().into_iter().find(wanted).unwrap();
        let look = |seed| {
            let job = Job::new(case.clone(), scenario.ready(&case).unwrap(), seed);
            let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
            // Of 4 ms, in per cent.
            [("xoffs", 1.0), ("time_paused_senders", 40.0)].map(|(id, k)| k * record.metrics.get(id).unwrap())
        };
        let runs: Vec<[f64; 2]> = (1..=20).map(look).collect();
        let row = page.lines().find(|l| l.starts_with(&format!("| {memory} | "))).unwrap();
        for (which, (fork, spread)) in fork.into_iter().enumerate() {
            let each = || runs.iter().map(|run| run[which]);
            let mean = each().sum::<f64>() / 20.0;
            let error = spread * f64::sqrt(1.0 / 20.0 + 1.0 / 200.0);
            assert!((mean - fork).abs() < 3.0 * error, "{memory}: {mean}, the fork {fork}, error {error}");
            let (least, most) = (each().fold(f64::MAX, f64::min), each().fold(0.0, f64::max));
            let said = format!("| {mean:.0} ({least:.0} to {most:.0}) |");
            assert!(row.contains(&said), "{said} is not in {row}");
        }
    }
}

/// Flows that a watchdog cut are told as its own loss, not as a want of memory.
#[test]
fn what_a_watchdog_drops_is_told_as_that() {
    let sets = [
        ("fault.1.host", "H0"),
        ("fault.1.kind", "xoff"),
        ("fault.1.from", "0.1 ms"),
        ("fault.1.to", "1 ms"),
        ("watchdog.action", "drop"),
        ("watchdog.detect", "0.2 ms"),
    ];
    let record = run("IN", "on", &sets);
    let dropped = record.metrics.get("watchdog_drops").unwrap();
    assert!(dropped > 0.0 && record.metrics.get("dropped_frames") == Some(dropped));
    let lines = cnsim_advice::unfinished::lines(&[record]).concat();
    assert!(lines.contains(&format!("a watchdog dropped {dropped}")) && !lines.contains("memory"), "{lines}");
}
