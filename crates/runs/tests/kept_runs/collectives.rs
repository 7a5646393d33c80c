//! Results of collectives: rounds, critical paths and metrics, by hand on a star where a transfer of c bytes takes a known time.

use crate::{done, job};
use cnsim_measure::jobs::Lane;
use cnsim_runs::flow_files::{fct_csv, read_flows};
use cnsim_runs::job_files::{collectives_csv, critical_path_csv, read_paths};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::Job;
use std::slice::from_ref;

fn run(n: usize, duration: &str, tables: &str) -> RunRecord {
    let text = format!(
        "name = \"t\"\n[topology]\nhosts = {n}\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
         [host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n\
         [run]\nduration = \"{duration}\"\n{tables}\n"
    );
    done(&job(&text))
}

const FRAMES: &str = "frame = \"1048 B\"\nheader = \"48 B\"";

/// 100 KB in frames of 1000 B and 48 B over two links of 100 Gb/s and 1 us, ps.
const ALONE: u64 = 101 * 83_840 + 2_000_000;

#[test]
fn a_ring_by_hand() {
    let ring = format!(
        "[[traffic]]\nname = \"job\"\nkind = \"all-reduce\"\nhosts = \"all\"\nsize = \"400 KB\"\n{FRAMES}\nrepeat = 3\n\
         gap = \"7 us\"\nreduce_time = \"20 ps\""
    );
    let r = run(4, "1 ms", &ring);
    let [job] = &r.jobs[..] else { panic!("{:?}", r.jobs) };
    let round = 6 * ALONE + 3 * 2_000_000;
    let whole = 3 * round + 2 * 7_000_000;
    assert_eq!((job.time, job.planned, job.rounds.len()), (Some(whole), 3, 3));
    assert!(job.rounds.iter().all(|r| r.time == Some(round) && r.straggler == 0), "{:?}", job.rounds);
    let begins: Vec<u64> = job.rounds.iter().map(|r| r.begin).collect();
    assert_eq!(begins, [0, round + 7_000_000, 2 * (round + 7_000_000)]);
    // 400 KB in a round, times 2 (n - 1) / n.
    let rate = 400_000.0 / round as f64 * 1e3;
    assert!((job.rounds[0].algorithm_bandwidth.unwrap() - rate).abs() < 1e-9);
    assert!((r.metrics["bus_bandwidth"] - rate * 1.5).abs() < 1e-9);
    assert_eq!(r.metrics.get("straggler_time"), Some(0.0));
    assert!((r.metrics["job_time"] - whole as f64 / 1e9).abs() < 1e-12);
    // The parts of the path add up: 18 transfers alone, 9 reductions, 2 gaps.
    assert_eq!(job.path.iter().map(|p| p.time).sum::<u64>(), whole);
    let of = |what: &str| job.path.iter().filter(|p| p.what == what).map(|p| p.time).sum::<u64>();
    assert_eq!((of("transfer"), of("compute")), (18 * ALONE, 9 * 2_000_000 + 14_000_000));
    assert!(job.path.iter().filter(|p| p.what == "transfer").all(|p| p.alone == ALONE && p.bytes == 100_000));
    assert!(job.path.windows(2).all(|p| p[0].from + p[0].time == p[1].from));
    // No rank ever waits: it transfers, or reduces, or computes between rounds, all of them alike.
    assert_eq!(
        job.lanes.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(),
        ["0 H0", "1 H1", "2 H2", "3 H3"]
    );
    for lane in &job.lanes {
        let shares = Lane::tenths(&lane.first).zip(Lane::tenths(&lane.second));
        assert!(shares.clone().all(|(first, second)| first + second == 10), "{lane:?}");
        let computes: u32 = shares.map(|s| s.0).sum();
        let due = 600.0 * (9 * 2_000_000 + 14_000_000) as f64 / whole as f64;
        assert!((f64::from(computes) - due).abs() < 12.0, "{computes} of {due}");
    }
    let share = 18.0 * ALONE as f64 / whole as f64 * 100.0;
    assert!((r.metrics["network_share"] - share).abs() < 1e-9);
    assert_eq!(r.traffic[0].metrics.get("job_time"), r.metrics.get("job_time"));
    let records = std::slice::from_ref(&r);
    assert_eq!(collectives_csv(records).unwrap().lines().count(), 4);
    let path = critical_path_csv(records).unwrap();
    assert_eq!(path.lines().count(), 1 + job.path.len());
}

/// A critical path is read as it was written; a line of no collective of these runs is refused with its number.
#[test]
fn paths_are_read_back() {
    let layer = "x -1 1000 ALLREDUCE 60000 500 NONE 0 500 ALLGATHER 9000 10";
    let head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 3 all_gpus: 6";
    let training = format!(
        "[[traffic]]\nname = \"job\"\nkind = \"training\"\nhosts = \"all\"\n{FRAMES}\noperations = [{head:?}, \"2\", {layer:?}, {layer:?}]"
    );
    let r = run(6, "1 ms", &training);
    let of: Vec<&str> = r.jobs[0].path.iter().map(|p| p.of.as_str()).collect();
    for (words, n) in [("forward, x", 2), ("gradient of weights, x", 2), ("DP all-gather, x", 1)] {
        assert!(of.iter().filter(|of| **of == words).count() >= n, "{words}: {of:?}");
    }
    assert_eq!(r.jobs[0].path.iter().map(|p| p.time).sum::<u64>(), r.jobs[0].time.unwrap());
    let text = critical_path_csv(std::slice::from_ref(&r)).unwrap();
    let path = std::env::temp_dir().join(format!("cnsim-paths-{}.csv", std::process::id()));
    std::fs::write(&path, &text).unwrap();
    let mut bare = [r.brief(Vec::new())];
    assert!(bare[0].jobs[0].path.is_empty());
    read_paths(&path, &mut bare).unwrap();
    assert_eq!(bare[0].jobs[0].path, r.jobs[0].path);
    for (from, to, line) in
        [(",job,0,", ",other,0,", ":2:"), ("transfer,", ",", ":"), (",transfer,", ",transfer,x,", ":")]
    {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let said = read_paths(&path, &mut [r.brief(Vec::new())]).unwrap_err();
        assert!(said.contains(line) && said.contains("collective"), "{said}");
    }
    // Two points of a sweep have one name; a path belongs to the one whose time it has.
    let slower = run(6, "1 ms", &training.replace("60000", "90000"));
    std::fs::write(&path, critical_path_csv(&[r.clone(), slower.clone()]).unwrap()).unwrap();
    let mut both = [slower.brief(Vec::new()), r.brief(Vec::new())];
    read_paths(&path, &mut both).unwrap();
    assert_eq!([&both[0].jobs[0].path, &both[1].jobs[0].path], [&slower.jobs[0].path, &r.jobs[0].path]);
    std::fs::remove_file(&path).unwrap();
}

/// A frame of a ring is lost and nothing sends it again: the rank, the transfer and the time are named. What is merely late, or sent
/// again, does not wait for ever.
#[test]
fn a_job_that_waits_for_ever() {
    let of = |more: &str, traffic: &str| {
        let text = format!(
            "name = \"t\"\n[topology]\nhosts = 4\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
             [host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"10 KB\"\n\
             [run]\nduration = \"1 ms\"\n{more}\n[[traffic]]\nname = \"job\"\nhosts = \"all\"\n{FRAMES}\n{traffic}\n"
        );
        done(&job(&text))
    };
    // Three send 60 KB to one whose port has room for ten frames.
    let incast = "kind = \"reduce\"\nalgorithm = \"direct\"\nsize = \"60 KB\"";
    let r = of("", incast);
    let job = &r.jobs[0];
    let stands = job.stands.clone().unwrap_or_else(|| panic!("{job:?}"));
    assert_eq!((stands.rank, stands.since, job.time), (0, 0, None));
    assert!(
        stands.operation.starts_with("the transfer H")
            && stands.operation.contains(">H0 of 60 KB: frames of it were lost"),
        "{stands:?}"
    );
    assert!(job.waits_for.clone().unwrap().ends_with(" since 0 us, at rank 0 (H0)"), "{job:?}");
    // Sent again it ends.
    let again = of("[transport]\nkind = \"go-back-n\"", incast);
    assert_eq!((again.jobs[0].stands.clone(), again.jobs[0].time.is_some()), (None, true));
    // Lost on a link, in the third step of a ring.
    let lossy = "[[event]]\nlink = \"H1-S\"\nlose = [\"H1>H2 25\"]\n";
    let r = of(lossy, "kind = \"all-reduce\"\nsize = \"40 KB\"");
    let stands = r.jobs[0].stands.clone().unwrap_or_else(|| panic!("{:?}", r.jobs[0]));
    assert!(stands.rank == 2 && stands.operation.starts_with("the transfer H1>H2 of 10 KB:"), "{stands:?}");
    let step = 11 * 83_840 + 2_000_000;
    assert_eq!(stands.since, 2 * step);
    // At the end of a short run frames are under way.
    let late = of("", "kind = \"all-reduce\"\nsize = \"40 MB\"");
    assert_eq!((late.jobs[0].stands.clone(), late.jobs[0].time), (None, None));
}

/// Transfers that wait for others are longer than alone, and the path says by how much; a late rank is the last.
#[test]
fn waits_and_stragglers() {
    let late = format!(
        "[[traffic]]\nkind = \"broadcast\"\nalgorithm = \"direct\"\nhosts = \"H0..H2\"\nsize = \"100 KB\"\n{FRAMES}\n\
         [[traffic]]\nkind = \"transfers\"\nhosts = \"H3\"\ntransfers = [\"0 us, H3, H2, 100 KB\"]\n{FRAMES}"
    );
    let r = run(4, "1 ms", &late);
    let [job] = &r.jobs[..] else { panic!("{:?}", r.jobs) };
    assert_eq!(job.name, "broadcast 0");
    // Both go out frame by frame in turn: 200 frames. H2's last waits behind one of H3.
    let time = job.time.unwrap();
    let [part] = &job.path[..] else { panic!("{:?}", job.path) };
    assert_eq!((part.place.as_str(), part.time, part.alone), ("H0>H2", time, ALONE));
    assert!(part.time > 2 * part.alone - 3_000_000, "{part:?}");
    // Its frames take turns with the 100 to H1 at their source, and meet none of H3 at the switch.
    let waits: Vec<_> = part.waits.iter().map(|w| (w.port.as_str(), w.queued, w.xoff)).collect();
    assert_eq!((waits, part.answer), (vec![("H0>S", 100 * 83_840, 0)], 0));
    assert_eq!((job.rounds[0].last_rank, job.rounds[0].last_transfer.as_str()), (2, "H0>H2"));
}

/// A job that is not done says what it waits for; a flow that has not begun has no start, in the files too.
#[test]
fn a_job_that_is_not_done() {
    let slow = format!(
        "[[traffic]]\nname = \"job\"\nkind = \"all-reduce\"\nhosts = \"all\"\nsize = \"4 MB\"\n{FRAMES}"
    );
    let mut r = run(4, "200 us", &slow);
    let [job] = &r.jobs[..] else { panic!("{:?}", r.jobs) };
    assert_eq!((job.time, job.rounds[0].time, job.path.len()), (None, None, 0));
    let waits = job.waits_for.clone().unwrap();
    assert!(waits.starts_with("the transfer ") && waits.contains(" of 1 MB since "), "{waits}");
    assert!((r.metrics["job_time"] - 0.2).abs() < 1e-9 && r.metrics.at_least("job_time"));
    let begun = r.flows.unfinished.iter().filter(|f| f.start < u64::MAX).count();
    assert_eq!(r.flows.unfinished.len(), 24 - 8, "two of six steps are over");
    assert_eq!(begun, 4, "{:?}", r.flows.unfinished);
    assert!(
        r.flows
            .unfinished
            .iter()
            .filter(|f| f.start == u64::MAX)
            .all(|f| f.waits_for.contains("has not begun"))
    );
    let text = fct_csv(std::slice::from_ref(&r)).unwrap();
    let path = std::env::temp_dir().join(format!("cnsim-collectives-{}.csv", std::process::id()));
    std::fs::write(&path, &text).unwrap();
    let open = std::mem::take(&mut r.flows.unfinished);
    read_flows(&path, std::slice::from_mut(&mut r)).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        r.flows.unfinished.iter().map(|f| f.start).collect::<Vec<_>>(),
        open.iter().map(|f| f.start).collect::<Vec<_>>()
    );
}

/// Two jobs on the same hosts with equal transfers: each flow has its own job's name.
#[test]
fn flows_of_two_jobs_keep_their_names() {
    let job = |name: &str, kind: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"{kind}\"\nhosts = \"all\"\nsize = \"40 KB\"\n{FRAMES}\n"
        )
    };
    let r = run(4, "1 ms", &(job("a", "all-gather") + &job("b", "all-reduce")));
    let flows =
        |name: &str| r.traffic.iter().find(|t| t.name == name).unwrap().metrics.get("completed_transfers");
    assert_eq!((flows("a"), flows("b")), (Some(12.0), Some(24.0)));
    assert_eq!(r.jobs.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

/// A request of 64 B in a frame of 112 B goes over both links, then the answer: and again after the gap.
#[test]
fn a_query_by_hand() {
    let ask = 2 * 8_960 + 2_000_000;
    let query = |more: &str| {
        format!(
            "[[traffic]]\nname = \"q\"\nkind = \"query\"\ndestinations = [\"H0\"]\nsize = \"100 KB\"\n{FRAMES}\n{more}"
        )
    };
    let r = run(4, "1 ms", &query("hosts = [\"H1\"]\nrounds = 3\ngap = \"7 us\"\nstart = \"5 us\""));
    let job = &r.jobs[0];
    assert_eq!((job.kind.as_str(), &job.ranks[..], job.bytes), ("query", &["H0".to_string()][..], 100_000));
    let (one, begin) = (ask + ALONE, |k: u64| 5_000_000 + k * (ask + ALONE + 7_000_000));
    let seen: Vec<_> = job.queries.iter().map(|q| (q.round, q.rank, q.begin, q.time)).collect();
    assert_eq!(seen, [0, 1, 2].map(|k| (k, 0, begin(k), Some(one))));
    assert_eq!(job.time, Some(3 * one + 14_000_000));
    assert!((r.metrics["query_time"] - one as f64 / 1e9).abs() < 1e-12);
    assert!((r.metrics["query_goodput"] - 100_000.0 * 8e3 / one as f64).abs() < 1e-9);
    assert_eq!(r.metrics.get("query_time_p99"), Some(r.metrics["query_time"]));
    assert_eq!(r.traffic[0].metrics.get("query_time"), r.metrics.get("query_time"));
    // Its requests are flows of no name.
    let payload = r.traffic[0].metrics.get("goodput").unwrap();
    assert!((payload - 300_000.0 * 8.0 / 1e6).abs() < 1e-9, "{payload} Gb/s of 1 ms");
    let table = collectives_csv(std::slice::from_ref(&r)).unwrap();
    assert_eq!(table.lines().count(), 4);
    // Three servers: the requests leave one after the other, the answers share the port of H0.
    let r = run(4, "1 ms", &query("hosts = \"all\"\nrounds = 2"));
    let three = ask + 3 * 100 * 83_840 + 83_840 + 2_000_000;
    assert!(r.jobs[0].queries.iter().all(|q| q.time == Some(three)), "{:?}", r.jobs[0].queries);
    assert_eq!(r.jobs[0].bytes, 300_000);
    // One that is not done has lasted to the end.
    let r = run(4, "30 us", &query("hosts = \"all\"\nrounds = 2"));
    let open = (30_000_000 - three) as f64;
    assert_eq!(r.jobs[0].queries.last().unwrap().time, None);
    assert!((r.metrics["query_time"] - (three as f64 + open) / 2e9).abs() < 1e-12);
    assert!((r.metrics["query_goodput"] - 300_000.0 * 8e3 / 30e6).abs() < 1e-9);
}

/// Of seven servers a query takes three others each time, alike for all seeds; hosts ask independently of one another.
#[test]
fn queries_draw_their_servers() {
    let table = format!(
        "[[traffic]]\nkind = \"query\"\nhosts = \"all\"\ndestinations = [\"H0\", \"H5\"]\nfan_in = 3\nsize = \"10 KB\"\nrounds = 40\n{FRAMES}"
    );
    let r = run(8, "5 ms", &table);
    assert_eq!(r.jobs[0].queries.len(), 80);
    assert!(r.jobs[0].queries.iter().all(|q| q.time.is_some()));
    let flows = fct_csv(std::slice::from_ref(&r)).unwrap();
    let answers =
        |to: &str, from: &str| flows.lines().filter(|l| l.contains(&format!(",{from},{to},10000,"))).count();
    let count: Vec<usize> = (1..8).map(|h| answers("H0", &format!("H{h}"))).collect();
    assert_eq!(answers("H0", "H0"), 0);
    // 120 answers of seven servers, about 17 each.
    assert!(count.iter().sum::<usize>() == 120 && count.iter().all(|n| *n > 7), "{count:?}");
}

/// Two flows of 100 frames inside a server and one across: what each NIC sent and received, and the hosts' sums, also over time.
#[test]
fn nics_and_their_hosts() {
    let text = format!(
        "name = \"t\"\n[topology]\nkind = \"rails\"\nservers = 2\ngpus = 4\n[host]\nqueues = \"per-flow\"\n[run]\nduration = \"1 ms\"\n\
         [[traffic]]\nkind = \"transfers\"\nhosts = \"all\"\ntransfers = [\"0 us, H0, H1, 100 KB\", \"0 us, H2, H1, 100 KB\", \"0 us, H5, H1, 100 KB\"]\n{FRAMES}\n"
    );
    let r = done(&Job { all_series: true, ..job(&text) });
    // 100 KB of payload in 1 ms are 0.8 Gb/s.
    let of = |port: &str| (r.ports[port].received.map(|g| (g * 10.0).round()), r.ports[port].sent_frames);
    let seen = ["H0", "H0#1", "H0#2", "H1", "H1#1", "H1#2", "H5", "H5#1", "H5#2"].map(of);
    let (one, two, three) = (Some(8.0), Some(16.0), Some(24.0));
    let (idle, sends) = ((Some(0.0), Some(0)), (Some(0.0), Some(100)));
    let received = |rate| (rate, Some(0));
    let by_hand = [sends, sends, idle, received(three), received(two), received(one), sends, idle, sends];
    assert_eq!(seen, by_hand);
    let [sum, first, second] =
        ["H1", "H1#1", "H1#2"].map(|n| &r.over_time.series[&format!("delivered {n}")].values);
    for (n, sum) in sum.iter().enumerate() {
        assert!((sum - first[n] - second[n]).abs() < 1e-4 * sum.max(1.0), "{n}: {sum}");
    }
    assert!(sum.iter().sum::<f64>() > 1.9 * second.iter().sum::<f64>());
}

/// An incast that begins from rest again and again is simulated once, with results equal in every field: with PAUSE, and with each scheme that
/// says that it behaves alike whenever a flow begins.
#[test]
fn what_repeats_is_simulated_once() {
    let mut ranks = vec![String::new(); 6];
    let add = |to: &mut String, line: String| *to += &format!("\"{line}\", ");
    for r in 0..9 {
        add(&mut ranks[0], format!("c{r}: calc 3103000"));
        for i in 1..6 {
            add(&mut ranks[0], format!("a{r}_{i}: recv 200000b from {i} tag {r}"));
            add(&mut ranks[0], format!("c{r} requires a{r}_{i}"));
            add(&mut ranks[0], format!("b{r}_{i}: send 64b to {i} tag {}", 100 + r));
            add(&mut ranks[0], format!("b{r}_{i} requires c{r}"));
            add(&mut ranks[i], format!("s{r}: send 200000b to 0 tag {r}"));
            add(&mut ranks[i], format!("g{r}: recv 64b from 0 tag {}", 100 + r));
            if r > 0 {
                add(&mut ranks[i], format!("s{r} requires g{}", r - 1));
            }
        }
    }
    let ranks = (0..).zip(ranks).map(|(n, lines): (usize, _)| format!("\"rank {n} {{\", {lines}\"}}\", "));
    let operations = format!("[\"num_ranks 6\", {}]", ranks.collect::<String>());
    for scheme in ["none", "dcqcn", "dctcp", "hpcc", "swift", "timely", "newreno", "cubic"] {
        let of = |reuse: &str| {
            let more = match scheme {
                "newreno" | "cubic" => "kind = \"tcp\"\n[pause]\nmode = \"off\"\n[switch]\nshare = \"2 MB\"",
                _ => "kind = \"go-back-n\"",
            };
            let text = format!(
                "name = \"t\"\n[matrix]\nschemes = [\"{scheme}\"]\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nper_switch = 3\n\
                 [host]\nqueues = \"per-flow\"\n[[traffic]]\nkind = \"graph\"\nhosts = \"all\"\noperations = {operations}\n{FRAMES}\n\
                 [run]\nduration = \"1 s\"\ndraws = \"keyed\"\nreuse = \"{reuse}\"\n[record]\nlatency = \"on\"\n\
                 [transport]\n{more}\n"
            );
            let mut r = done(&job(&text));
            let phases = r.execution.phases.take().unwrap_or_default();
            let files = (collectives_csv(from_ref(&r)), critical_path_csv(from_ref(&r)));
            (phases, format!("{files:?}\n{r:#?}"))
        };
        let (off, on, verified) = (of("off"), of("auto"), of("verify"));
        // The first incast, all others with what lets them begin, and that alone at the end.
        let phases = [
            "",
            "3 simulated, of them 0 to verify, and 7 taken",
            "4 simulated, of them 1 to verify, and 6 taken",
        ];
        let starts = [&off, &on, &verified].iter().zip(phases).all(|(run, phases)| run.0.starts_with(phases));
        assert!(off.0.is_empty() && starts, "{scheme}: {}; {}", on.0, verified.0);
        for (a, b) in off.1.lines().zip(on.1.lines()).chain(off.1.lines().zip(verified.1.lines())) {
            // What differs is what was asked for.
            assert!(a == b || a.contains("reuse"), "{scheme}: {a}, and with reuse {b}");
        }
    }
}
