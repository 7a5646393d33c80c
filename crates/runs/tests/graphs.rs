//! Random graphs: collectives of every kind, schedules, queries and listed transfers that follow each other, several at once, over random
//! networks with PAUSE, losses and classes. Both engines on one, two and four threads have the same bits, and the parts of each critical
//! path add up to its job's time. And schedules beside a program of their own.
//!
//! `CNSIM_NETWORKS=1000 CNSIM_SEED=5000 cargo test --profile try -p cnsim-runs --test graphs` tries as many (`make soak`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../scenario/tests/dice/mod.rs"]
mod dice;

use cnsim_fabric::{Engine, Options};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, record};
use cnsim_scenario::Scenario;
use dice::{Dice, first, tries};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::fmt::Write as _;

const FRAMES: &str = "frame = \"1048 B\"\nheader = \"48 B\"";

/// A topology and how many hosts it has.
fn topology(d: &mut Dice) -> (String, u64) {
    let (a, b, c) = (d.between(1, 2), d.between(1, 3), d.between(2, 4));
    let (kind, hosts) = match d.below(6) {
        0 => (format!("hosts = {}", 2 + 2 * c), 2 + 2 * c),
        1 => (
            format!("kind = \"leaf-spine\"\nleaves = {}\nspines = {b}\nper_switch = {c}", a + 1),
            (a + 1) * c,
        ),
        2 => (
            format!("kind = \"clos\"\npods = 2\nleaves = {a}\nspines = 2\nper_switch = {c}\ncores = 2"),
            2 * a * c,
        ),
        3 => (format!("kind = \"rails\"\nservers = {}\ngpus = {c}\nspines = {a}", a + 1), (a + 1) * c),
        4 => (format!("kind = \"dual-tor\"\nleaves = {}\nspines = {b}\nper_switch = {c}", 2 * a), a * c),
        _ => ("kind = \"fat-tree\"\nk = 4".into(), 16),
    };
    let (rate, delay) = (*d.of(&[10, 40, 100, 400]), *d.of(&[100, 300, 500, 500, 1700]));
    (format!("{kind}\nlink_rate = \"{rate} Gb/s\"\nlink_delay = \"{delay} ns\""), hosts)
}

/// A collective over so many ranks.
fn collective(d: &mut Dice, n: u64) -> String {
    let pairs = n.is_power_of_two();
    let (kind, algorithms): (&str, &[&str]) = match d.below(7) {
        0 => ("all-reduce", &["ring", "tree", "double-tree", "direct", "halving-doubling"]),
        1 => ("reduce-scatter", &["ring", "direct", "halving-doubling"]),
        2 => ("all-gather", &["ring", "direct", "halving-doubling"]),
        3 => ("all-to-all", &["direct", "rotated", "pairwise"]),
        4 => ("broadcast", &["ring", "tree", "direct"]),
        5 => ("reduce", &["ring", "tree", "direct"]),
        _ => ("barrier", &["tree", "ring", "direct", "halving-doubling"]),
    };
    let able: Vec<&str> = algorithms
        .iter()
        .copied()
        .filter(|a| pairs || !["halving-doubling", "pairwise"].contains(a))
        .collect();
    let algorithm = *d.of(&able);
    let mut text = format!("kind = \"{kind}\"\nalgorithm = \"{algorithm}\"\n");
    if kind != "barrier" {
        let _ = writeln!(text, "size = \"{} B\"", n * d.between(1, 30_000));
    }
    if kind != "barrier" && ["ring", "tree", "double-tree"].contains(&algorithm) && d.below(2) == 0 {
        let _ = writeln!(text, "chunk = \"{} B\"", d.between(4000, 40_000));
    }
    if algorithm == "ring" && !["broadcast", "reduce", "barrier"].contains(&kind) && d.below(3) == 0 {
        text += "channels = 2\n";
    }
    if ["all-reduce", "reduce-scatter", "reduce"].contains(&kind) && d.below(2) == 0 {
        text += "reduce_time = \"15 ps\"\n";
    }
    if d.below(2) == 0 {
        let _ = writeln!(text, "repeat = 2\ngap = \"{} us\"", d.below(20));
    }
    if d.below(3) == 0 {
        let _ = writeln!(text, "jitter = \"{} us\"", d.between(1, 30));
    }
    text
}

/// What an operation of a schedule does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Takes so many ns of a processor.
    Calc(u64, u64),
    /// Sends bytes to a rank, by a tag.
    Send(usize, u64, u64),
    /// Receives from a rank, by a tag; the bytes are there for the text alone.
    Receive(usize, u64, u64),
}

/// An operation: its rank, and what it waits for, each with whether the begin is enough.
#[derive(Clone, Debug)]
struct One {
    rank: usize,
    does: Does,
    after: Vec<(usize, bool)>,
}

fn one(rank: usize, does: Does, after: &[(usize, bool)]) -> One {
    One { rank, does, after: after.to_vec() }
}

/// Operations that wait for none that comes behind them, so that no schedule stands. Each message has a tag of its own.
fn schedule(d: &mut Dice, ranks: usize, most: u64) -> Vec<One> {
    let mut all: Vec<One> = Vec::new();
    for tag in 0..d.between(3, most) {
        let rank = d.index(ranks);
        let does = match d.below(3) {
            0 => vec![(rank, Does::Calc(d.below(9000), d.below(2)))],
            _ => {
                let (to, bytes) = ((rank + 1 + d.index(ranks - 1)) % ranks, d.between(1, 40_000));
                vec![(rank, Does::Send(to, bytes, tag)), (to, Does::Receive(rank, bytes, tag))]
            }
        };
        for (rank, does) in does {
            let before: Vec<usize> = (0..all.len()).filter(|&n| all[n].rank == rank).collect();
            let mut after = Vec::new();
            if !before.is_empty() && d.below(4) > 0 {
                after.push((before[d.index(before.len())], d.below(4) == 0));
                after.push((before[before.len() - 1], d.below(4) == 0));
            }
            after.sort_unstable();
            after.dedup_by_key(|a| a.0);
            all.push(one(rank, does, &after));
        }
    }
    all
}

/// The schedule in GOAL text.
fn goal(ranks: usize, all: &[One]) -> Vec<String> {
    let mut lines = vec![format!("num_ranks {ranks}")];
    for rank in 0..ranks {
        lines.push(format!("rank {rank} {{"));
        for (n, one) in all.iter().enumerate().filter(|o| o.1.rank == rank) {
            lines.push(match one.does {
                Does::Calc(ns, cpu) => format!("o{n}: calc {ns} cpu {cpu}"),
                Does::Send(to, bytes, tag) => format!("o{n}: send {bytes}b to {to} tag {tag}"),
                Does::Receive(from, bytes, tag) => format!("o{n}: recv {bytes}b from {from} tag {tag}"),
            });
            let of = |begun: bool| if begun { "irequires" } else { "requires" };
            lines.extend(one.after.iter().map(|&(before, begun)| format!("o{n} {} o{before}", of(begun))));
        }
        lines.push("}".into());
    }
    lines
}

/// The scenario of a seed.
fn scenario(seed: u64) -> String {
    let d = &mut Dice::new(seed);
    let (topology, hosts) = topology(d);
    let scheme = *d.of(&["none", "none", "dcqcn", "hpcc"]);
    let lossy = d.below(4) == 0;
    let mut text = format!(
        "name = \"t\"\n[topology]\n{topology}\n[host]\nqueues = \"per-flow\"\n[run]\nduration = \"1500 us\"\n\
         [transport]\nkind = \"{}\"\n",
        if lossy { *d.of(&["go-back-n", "selective"]) } else { "go-back-n" }
    );
    text += if lossy { "" } else { "rto = \"1 ms\"\n" };
    let (pause, classes) = (d.below(3) > 0, d.below(8) == 0);
    text += match pause {
        true => {
            "[switch]\nbuffer = \"IN\"\nshare = \"500 KB\"\n[pause]\nhigh = \"40 KB\"\nlow = \"20 KB\"\nframes = \"pfc\"\n"
        }
        false => "[switch]\nshare = \"1 GB\"\n[pause]\nmode = \"off\"\n",
    };
    let _ = writeln!(
        text,
        "[matrix]\npause = [\"{}\"]\nschemes = [\"{scheme}\"]",
        if pause { "on" } else { "off" }
    );
    if scheme != "none" {
        let _ = writeln!(text, "[scheme.{scheme}]\npreset = \"hpcc\"");
    }
    if classes {
        text += "[[class]]\nname = \"jobs\"\nweight = 3\n[[class]]\nname = \"rest\"\nweight = 1\n";
    }
    for n in 0..d.between(1, 3) {
        let ranks = d.between(2, hosts.min(9));
        let from = d.below(hosts - ranks + 1);
        let list = format!("hosts = \"H{from}..H{}\"\nstart = \"{} us\"", from + ranks - 1, d.below(30));
        let of = match d.below(5) {
            0 => {
                let all = goal(ranks as usize, &schedule(d, ranks as usize, 30));
                let ends = *d.of(&["sent", "acknowledged"]);
                format!("{list}\nkind = \"graph\"\nsend_ends = \"{ends}\"\noperations = {all:?}\n")
            }
            1 => format!(
                "{list}\nkind = \"query\"\ndestinations = \"H{from}\"\nsize = \"{} B\"\nrounds = {}\ngap = \"{} us\"\n",
                d.between(1, 90_000),
                d.between(2, 4),
                d.below(9)
            ),
            _ => format!("{list}\n{}", collective(d, ranks)),
        };
        let _ = writeln!(text, "[[traffic]]\nname = \"job{n}\"\n{of}{FRAMES}");
    }
    if d.below(2) == 0 {
        let of = |d: &mut Dice| d.between(1, 60_000);
        let class = if classes { "class = \"rest\"\n" } else { "" };
        let follows = if classes { "" } else { " after a" };
        let _ = writeln!(
            text,
            "[[traffic]]\nhosts = \"all\"\n{class}kind = \"transfers\"\ntransfers = [\"2 us, H0, H1, {} B{}\", \"5 us, H1, H0, {} B{}\"]\n{FRAMES}",
            of(d),
            if classes { "" } else { ", name a" },
            of(d),
            if classes { String::new() } else { format!(",{follows}") }
        );
    }
    if lossy && text.contains("hosts = ") && topology.starts_with("hosts") {
        let _ =
            writeln!(text, "[[event]]\nlink = \"S-H{}\"\nloss = \"{} %\"", d.below(hosts), d.between(1, 4));
    }
    text
}

/// Jobs that were done, ports at which transfers of their paths waited, and times in XOFF among these.
#[derive(Default)]
struct Sum {
    done: usize,
    waits: usize,
    xoffs: usize,
}

fn check(seed: u64, sum: &mut Sum) {
    let text = scenario(seed);
    let told = |p: Vec<cnsim_problem::Problem>| -> String { p.iter().map(|p| format!("{p}\n")).collect() };
    let read = Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{seed}:\n{text}{}", told(p)));
    let case = read.cases()[0].clone();
    let ready = read.ready(&case).unwrap_or_else(|p| panic!("{seed}:\n{text}{}", told(p)));
    let spec = ready.settings.spec(&ready.built, seed, false);
    let run = |engine, threads| {
        let options = Options { engine, threads, ..Options::default() };
        cnsim_fabric::run(&spec, &options).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}")).results()
    };
    let out = run(Engine::Fast, 1);
    let seen = format!("{out:?}");
    for (engine, threads) in [(Engine::Model, 1), (Engine::Fast, if seed.is_multiple_of(2) { 2 } else { 4 })]
    {
        let other = format!("{:?}", run(engine, threads));
        assert!(other == seen, "{seed}: {engine:?} on {threads} threads differs\n{text}");
    }
    let r = record(&Job::new(case, ready, seed), &out);
    for job in r.jobs.iter().filter(|job| job.time.is_some()) {
        sum.done += 1;
        let parts = job.path.iter().map(|p| p.time).sum::<u64>();
        assert_eq!(Some(parts), job.time, "{seed}: {}\n{text}", job.name);
        for part in job.path.iter().filter(|p| p.what == "transfer") {
            let at_ports: u64 = part.waits.iter().map(|w| w.queued + w.xoff).sum();
            assert_eq!(part.alone + part.answer + at_ports, part.time, "{seed}: {part:?}\n{text}");
            sum.waits += usize::from(part.waits.len() > 1);
            sum.xoffs += part.waits.iter().filter(|w| w.xoff > 0).count();
        }
    }
}

/// Both engines, one to four threads, and parts that add up.
#[test]
fn random_graphs() {
    let count = tries("CNSIM_NETWORKS", 40);
    let mut sum = Sum::default();
    (first()..first() + count).for_each(|seed| check(seed, &mut sum));
    let Sum { done, waits, xoffs } = sum;
    println!(
        "{count} networks: {done} jobs done, {waits} transfers waited at several ports, {xoffs} in XOFF"
    );
    assert!(
        count < 40 || done as u64 > count && waits as u64 > count / 4 && xoffs > 0,
        "{done} {waits} {xoffs}"
    );
}

/// A frame of 1048 B at 100 Gb/s, ps.
const FRAME: u64 = 83_840;

/// A message by itself: until its last frame begins, has left the source, and is there; and when its first one leaves the switch, ps. Frames
/// have 1000 B of payload and 48 B.
fn message(bytes: u64) -> (u64, u64, u64, u64) {
    let (whole, rest) = (bytes / 1000, bytes % 1000);
    let last = if rest > 0 { (rest + 48).max(64) * 80 } else { FRAME };
    let before = (whole - u64::from(rest == 0)) * FRAME;
    // At the switch a short last frame waits until the whole one before it is gone.
    let (turn, first) = if before > 0 { (before + FRAME, FRAME) } else { (last, last) };
    (before, before + last, turn + last + 2_000_000, first + 1_000_000)
}

/// When an operation begins and ends, ps.
type Times = Vec<(u64, u64)>;

/// The times of a schedule by a program of its own: messages and receives meet as they come, by sender, receiver and tag. None where two
/// messages share a link, or an operation never ends.
fn by_itself(all: &[One]) -> Option<Times> {
    const NEVER: u64 = u64::MAX;
    let mut times = vec![(NEVER, NEVER); all.len()];
    let mut left: Vec<usize> = all.iter().map(|o| o.after.len()).collect();
    let mut free: HashMap<(usize, u64), u64> = HashMap::new();
    let mut busy: BTreeMap<(usize, bool), Vec<(u64, u64)>> = BTreeMap::new();
    // Messages under way or there, and receives that wait.
    let mut sent: HashMap<(usize, usize, u64), VecDeque<u64>> = HashMap::new();
    let mut posted: HashMap<(usize, usize, u64), VecDeque<usize>> = HashMap::new();
    // What happens: when, as 0 ready, 1 begun or 2 ended, in the order of ranks and lines.
    let mut events: BinaryHeap<Reverse<(u64, usize, usize, u8)>> = BinaryHeap::new();
    let push = |events: &mut BinaryHeap<_>, at: u64, n: usize, what: u8| {
        events.push(Reverse((at, all[n].rank, n, what)));
    };
    (0..all.len()).filter(|&n| left[n] == 0).for_each(|n| push(&mut events, 0, n, 0));
    while let Some(Reverse((at, rank, n, what))) = events.pop() {
        match (what, all[n].does) {
            (0, Does::Calc(ns, cpu)) => {
                let free = free.entry((rank, cpu)).or_default();
                let begins = at.max(*free);
                *free = begins + 1000 * ns;
                push(&mut events, begins, n, 1);
                push(&mut events, *free, n, 2);
            }
            (0, Does::Send(to, bytes, tag)) => {
                let (last, gone, whole, first) = message(bytes);
                busy.entry((rank, true)).or_default().push((at, at + gone));
                busy.entry((to, false)).or_default().push((at + first, at + whole - 1_000_000));
                push(&mut events, at, n, 1);
                push(&mut events, at + last, n, 2);
                let key = (rank, to, tag);
                match posted.entry(key).or_default().pop_front() {
                    Some(receive) => push(&mut events, at + whole, receive, 2),
                    None => sent.entry(key).or_default().push_back(at + whole),
                }
            }
            (0, Does::Receive(from, _, tag)) => {
                push(&mut events, at, n, 1);
                let key = (from, rank, tag);
                match sent.entry(key).or_default().pop_front() {
                    Some(arrives) => push(&mut events, arrives.max(at), n, 2),
                    None => posted.entry(key).or_default().push_back(n),
                }
            }
            _ => {
                if what == 1 {
                    times[n].0 = at
                } else {
                    times[n].1 = at
                }
                for (next, other) in all.iter().enumerate() {
                    let met = other.after.iter().filter(|a| **a == (n, what == 1)).count();
                    left[next] -= met;
                    if met > 0 && left[next] == 0 {
                        push(&mut events, at, next, 0);
                    }
                }
            }
        }
    }
    let apart = busy.values_mut().all(|spans| {
        spans.sort_unstable();
        spans.windows(2).all(|two| two[0].1 <= two[1].0)
    });
    (apart && times.iter().all(|t| t.1 < NEVER)).then_some(times)
}

/// Runs a schedule on a star of 100 Gb/s and 1 us.
fn on_a_star(ranks: usize, all: &[One]) -> RunRecord {
    let text = format!(
        "name = \"t\"\n[topology]\nhosts = {ranks}\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
         [host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n[run]\nduration = \"1 ms\"\n\
         [[traffic]]\nname = \"job\"\nkind = \"graph\"\nsend_ends = \"sent\"\nhosts = \"all\"\noperations = {:?}\n{FRAMES}\n",
        goal(ranks, all)
    );
    let read = Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
    let case = read.cases()[0].clone();
    let ready = read.ready(&case).unwrap();
    let spec = ready.settings.spec(&ready.built, 1, false);
    let out = cnsim_fabric::run(&spec, &Options::default()).unwrap();
    record(&Job::new(case, ready, 1), &out)
}

/// A run has the starts of messages, and the end of the last operation, that the program of its own has. How many messages there are.
fn agrees(ranks: usize, all: &[One], times: &Times) -> usize {
    let r = on_a_star(ranks, all);
    let mut due: Vec<(u64, u64, u64, u64)> = Vec::new();
    for (one, time) in all.iter().zip(times) {
        if let Does::Send(to, bytes, _) = one.does {
            due.push((time.0, one.rank as u64, to as u64, message(bytes).2));
        }
    }
    let mut seen: Vec<_> = r.flows.times.iter().map(|f| (f.start, f.src, f.dst, f.time)).collect();
    due.sort_unstable();
    seen.sort_unstable();
    let text = || goal(ranks, all).join("\n");
    assert_eq!(seen, due, "{}", text());
    assert_eq!(r.jobs[0].time, times.iter().map(|t| t.1).max(), "{}", text());
    due.len()
}

/// Schedules by hand: every way in which an operation waits, tags against the order, two processors, sides that come early and late.
#[test]
fn schedules_beside_a_program() {
    use Does::{Calc, Receive as Recv, Send};
    let all: Vec<(usize, Vec<One>)> = vec![
        // A receive waits for its message, and a message for its receive.
        (
            2,
            vec![
                one(0, Send(1, 5000, 0), &[]),
                one(1, Recv(0, 5000, 0), &[]),
                one(1, Calc(700, 0), &[(1, false)]),
            ],
        ),
        (
            2,
            vec![
                one(0, Send(1, 5000, 0), &[]),
                one(1, Calc(90_000, 0), &[]),
                one(1, Recv(0, 5000, 0), &[(1, false)]),
                one(1, Send(0, 1, 0), &[(2, false)]),
                one(0, Recv(1, 1, 0), &[]),
            ],
        ),
        // What waits for a begin goes on while a receive is posted.
        (
            2,
            vec![
                one(0, Calc(40_000, 0), &[]),
                one(0, Send(1, 3000, 0), &[(0, false)]),
                one(1, Calc(5000, 0), &[]),
                one(1, Recv(0, 3000, 0), &[(2, false)]),
                one(1, Calc(300, 1), &[(3, true)]),
                one(1, Send(0, 2500, 1), &[(4, false)]),
                one(0, Recv(1, 2500, 1), &[]),
            ],
        ),
        // Tags against the order of the messages, and of the receives.
        (
            2,
            vec![
                one(0, Send(1, 2000, 1), &[]),
                one(0, Calc(30_000, 0), &[]),
                one(0, Send(1, 9000, 2), &[(1, false)]),
                one(1, Recv(0, 9000, 2), &[]),
                one(1, Recv(0, 2000, 1), &[(3, false)]),
                one(1, Send(0, 700, 0), &[(4, false)]),
                one(0, Recv(1, 700, 0), &[]),
            ],
        ),
        // Of one tag, by time: the message that stands last in the file goes first.
        (
            2,
            vec![
                one(0, Calc(50_000, 0), &[]),
                one(0, Send(1, 4000, 5), &[(0, false)]),
                one(0, Send(1, 1000, 5), &[]),
                one(1, Recv(0, 4000, 5), &[]),
                one(1, Calc(100, 0), &[(3, false)]),
                one(1, Recv(0, 4000, 5), &[(4, false)]),
                one(1, Send(0, 10, 0), &[(3, false)]),
                one(0, Recv(1, 10, 0), &[]),
            ],
        ),
        // Two processors at once, one of them in turns.
        (
            2,
            vec![
                one(0, Calc(10_000, 0), &[]),
                one(0, Calc(10_000, 0), &[]),
                one(0, Calc(3000, 1), &[(0, true)]),
                one(0, Calc(3000, 1), &[]),
                one(0, Send(1, 1000, 0), &[(1, false), (2, false), (3, false)]),
                one(1, Recv(0, 1000, 0), &[]),
            ],
        ),
        // A message begins with another's begin, and with its end.
        (
            3,
            vec![
                one(0, Send(1, 64_000, 0), &[]),
                one(1, Recv(0, 64_000, 0), &[]),
                one(1, Send(2, 3000, 0), &[(1, true)]),
                one(2, Recv(1, 3000, 0), &[]),
                one(2, Send(0, 1500, 0), &[(3, false)]),
                one(0, Recv(2, 1500, 0), &[(0, false)]),
            ],
        ),
        // A ring of three, each step after the step before.
        (
            3,
            (0..9)
                .flat_map(|n| {
                    let (step, rank) = (n / 3, n % 3);
                    let before = if step == 0 {
                        vec![]
                    } else {
                        vec![(6 * (step - 1) + 2 * ((rank + 2) % 3) + 1, false)]
                    };
                    [
                        one(rank, Send((rank + 1) % 3, 8000, step as u64), &before),
                        one((rank + 1) % 3, Recv(rank, 8000, step as u64), &[]),
                    ]
                })
                .collect(),
        ),
        // Computing of no time, and a message of one byte.
        (
            2,
            vec![
                one(0, Calc(0, 0), &[]),
                one(0, Calc(0, 0), &[(0, false)]),
                one(0, Send(1, 1, 9), &[(1, true)]),
                one(1, Recv(0, 1, 9), &[]),
            ],
        ),
        // A diamond: two ways to one end, of which the slower decides.
        (
            4,
            vec![
                one(0, Send(1, 1000, 0), &[]),
                one(0, Send(2, 50_000, 0), &[(0, false), (3, false)]),
                one(1, Recv(0, 1000, 0), &[]),
                one(0, Calc(20_000, 0), &[(0, false)]),
                one(2, Recv(0, 50_000, 0), &[]),
                one(1, Send(3, 2000, 0), &[(2, false)]),
                one(2, Calc(60_000, 3), &[(4, false)]),
                one(2, Send(3, 2000, 1), &[(6, false)]),
                one(3, Recv(2, 2000, 1), &[]),
                one(3, Recv(1, 2000, 0), &[]),
                one(3, Calc(1000, 0), &[(8, false), (9, false)]),
            ],
        ),
        // Both post before either sends; computing holds up one of them.
        (
            2,
            vec![
                one(0, Recv(1, 6000, 4), &[]),
                one(1, Recv(0, 6000, 4), &[]),
                one(0, Send(1, 6000, 4), &[]),
                one(1, Calc(2500, 1), &[]),
                one(1, Send(0, 6000, 4), &[(3, false)]),
                one(0, Calc(10, 0), &[(0, false), (2, false)]),
                one(1, Calc(10, 0), &[(1, false), (4, false)]),
            ],
        ),
        // A receive that follows the begin of another, which waits long.
        (
            3,
            vec![
                one(0, Recv(1, 100, 0), &[]),
                one(0, Recv(2, 100, 0), &[(0, true)]),
                one(0, Send(2, 900, 0), &[(1, false)]),
                one(1, Calc(80_000, 0), &[]),
                one(1, Send(0, 100, 0), &[(3, false)]),
                one(2, Send(0, 100, 0), &[]),
                one(2, Recv(0, 900, 0), &[]),
            ],
        ),
    ];
    for (ranks, all) in &all {
        let times = by_itself(all).unwrap_or_else(|| panic!("no times: {}", goal(*ranks, all).join("\n")));
        agrees(*ranks, all, &times);
    }
    // And those drawn at random in which no two messages share a link.
    let (mut alone, mut messages) = (0, 0);
    for seed in first()..first() + 40 * tries("CNSIM_NETWORKS", 40) {
        let d = &mut Dice::new(seed ^ 0x60a1);
        let ranks = 2 + d.index(6);
        let all = schedule(d, ranks, 12);
        if let Some(times) = by_itself(&all) {
            alone += 1;
            messages += agrees(ranks, &all, &times);
        }
    }
    println!("{alone} schedules at random with {messages} messages");
    assert!(alone > 40, "{alone}");
}
