//! Collectives against closed forms, to the picosecond: a star of equal links on which no two transfers of a step meet; and what is
//! refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use cnsim_fabric::Engine;
use cnsim_scenario::Scenario;
use text::{outcome, ready, refused};

/// A star of hosts with such a collective: rate in Gb/s, further lines.
fn text(n: usize, gbps: u64, job: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\nhosts = {n}\nlink_rate = \"{gbps} Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
         [host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n\
         [run]\nduration = \"900 ms\"\n[record]\nflow_times = \"off\"\n\
         [[traffic]]\nname = \"job\"\nhosts = \"all\"\nframe = \"1048 B\"\nheader = \"48 B\"\n{job}\n"
    )
}

/// From the first rank's begin to the last rank's end, ps.
fn takes(text: &str, engine: Engine) -> u64 {
    let ready = ready(text);
    let out = outcome(&ready, engine, 0);
    let job = &ready.settings.traffic.jobs.list[0];
    let ended = |n: &u32| out.operations[*n as usize].ended.as_ps();
    let first = job.gates.iter().map(ended).min().unwrap();
    job.ends.iter().map(ended).max().unwrap() - first
}

/// Transmission of so many bytes on a link, ps.
fn tau(bytes: u64, gbps: u64) -> u64 {
    (bytes as f64 * 8e3 / gbps as f64).round() as u64
}

/// A transfer of so many bytes of payload over two links, alone: from its start to its last byte.
fn alone(bytes: u64, gbps: u64) -> u64 {
    let frames = bytes.div_ceil(1000);
    let last = tau((bytes - (frames - 1) * 1000 + 48).max(64), gbps);
    let links = 2_000_000;
    if frames == 1 { 2 * last + links } else { frames * tau(1048, gbps) + last + links }
}

fn log2(n: usize) -> u32 {
    n.trailing_zeros()
}

#[test]
fn rings_take_2_n_less_1_transfers() {
    for (n, gbps, size) in [
        (2, 100, 64_000),
        (3, 25, 64_000),
        (4, 100, 64_000),
        (8, 100, 1 << 20),
        (64, 800, 64_000),
        (6, 400, 1 << 20),
        (2, 25, 64_000_000),
    ] {
        let chunk = (size as u64).div_ceil(n as u64);
        let job = |kind: &str| {
            text(n, gbps, &format!("kind = \"{kind}\"\nalgorithm = \"ring\"\nsize = \"{size} B\""))
        };
        let steps = 2 * (n as u64 - 1);
        assert_eq!(takes(&job("all-reduce"), Engine::Fast), steps * alone(chunk, gbps), "{n} {gbps} {size}");
        for half in ["reduce-scatter", "all-gather"] {
            assert_eq!(takes(&job(half), Engine::Fast), steps / 2 * alone(chunk, gbps), "{n} {gbps} {size}");
        }
    }
    // next.md's own numbers are 9533.44, 20551.68, 38563.84, 183070.72 ns.
    for (n, size, ps) in
        [(2, 64_000, 9_533_440), (4, 64_000, 20_551_680), (8, 64_000, 38_563_840), (8, 1 << 20, 183_070_720)]
    {
        let ring = text(n, 100, &format!("kind = \"all-reduce\"\nsize = \"{size} B\""));
        assert_eq!(takes(&ring, Engine::Fast), ps);
        if size < 100_000 {
            assert_eq!(takes(&ring, Engine::Model), ps);
        }
    }
}

#[test]
fn halving_and_doubling_take_halves() {
    for (n, gbps, size) in [(2, 100, 64_000), (8, 100, 1 << 20), (16, 400, 1 << 16), (64, 25, 1 << 16)] {
        let half: u64 = (1..=log2(n)).map(|k| alone((size as u64) >> k, gbps)).sum();
        for (kind, times) in [("all-reduce", 2), ("reduce-scatter", 1), ("all-gather", 1)] {
            let job = format!("kind = \"{kind}\"\nalgorithm = \"halving-doubling\"\nsize = \"{size} B\"");
            assert_eq!(takes(&text(n, gbps, &job), Engine::Fast), times * half, "{kind} {n} {gbps} {size}");
        }
    }
    let job = "kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nsize = \"1048576 B\"";
    assert_eq!(takes(&text(8, 100, job), Engine::Fast), 166_369_280, "166369.28 ns");
}

#[test]
fn all_to_all_takes_steps_or_the_port() {
    for (n, gbps) in [(2, 100), (5, 100), (8, 25), (16, 800)] {
        let chunk = 40_000_u64;
        let job = |algorithm: &str| {
            let size = chunk * n as u64;
            text(n, gbps, &format!("kind = \"all-to-all\"\nalgorithm = \"{algorithm}\"\nsize = \"{size} B\""))
        };
        let steps = (n as u64 - 1) * alone(chunk, gbps);
        assert_eq!(takes(&job("rotated"), Engine::Fast), steps, "{n} {gbps}");
        if n.is_power_of_two() {
            assert_eq!(takes(&job("pairwise"), Engine::Fast), steps, "{n} {gbps}");
        }
        // At once, whole frames of all others arrive without a gap, once the first has come.
        let port = ((n as u64 - 1) * chunk / 1000 + 1) * tau(1048, gbps) + 2_000_000;
        assert_eq!(takes(&job("direct"), Engine::Fast), port, "{n} {gbps}");
    }
}

/// The largest queue of an all-to-all at once, to the byte. A chunk of 10.5 KB is a burst of ten frames of 1048 B and one of 548 B.
#[test]
fn an_all_to_all_at_once_fills_the_slow_port() {
    let queues = |text: &str| -> Vec<u64> {
        let ready = ready(text);
        let [fast, model] = [Engine::Fast, Engine::Model].map(|engine| {
            let ports = &outcome(&ready, engine, 0).switches[0].ports;
            ports.iter().map(|port| port.queue_max).collect::<Vec<_>>()
        });
        assert_eq!(fast, model);
        fast
    };
    for n in [2, 5, 8] {
        let burst = 10 * 1048 + 548;
        let job = |kind: &str, chunk: u64| {
            let size = chunk * n;
            text(n as usize, 100, &format!("kind = \"{kind}\"\nalgorithm = \"direct\"\nsize = \"{size} B\""))
        };
        // The first frame to H0 leaves its port in 8.4 ms, and all others are there by then.
        let slow = job("all-to-all", 10_500);
        let slow = slow.replace("[pause]", "host_rates = [\"H0 1 Mb/s\"]\n[pause]").replace("900 ms", "8 ms");
        assert_eq!(queues(&slow)[0], (n - 1) * burst, "{n}");
        // With equal links each rank sends whole frames to the others in turn, no two ranks to one at a time: no frame waits.
        assert_eq!(queues(&job("all-to-all", 10_000)).iter().max(), Some(&1048), "{n}");
        // All to one: n - 1 bursts of w frames come side by side, while w - 1 frames leave.
        for frames in [1, 10] {
            let reduce = job("reduce", 1000 * frames)
                .replace(&format!("{} B", 1000 * frames * n), &format!("{} B", 1000 * frames));
            assert_eq!(queues(&reduce)[0], 1048 * ((n - 1) * frames - (frames - 1)), "{n} {frames}");
        }
    }
}

/// In m pieces each further rank adds a piece; in one, a whole transfer. A piece here is of whole frames.
#[test]
fn chains_add_a_piece_a_rank() {
    for kind in ["broadcast", "reduce"] {
        for (n, gbps, size, piece) in
            [(4, 100, 400_000, 400_000), (4, 100, 400_000, 50_000), (9, 400, 1_000_000, 10_000)]
        {
            let job = format!(
                "kind = \"{kind}\"\nalgorithm = \"ring\"\nsize = \"{size} B\"\nchunk = \"{piece} B\""
            );
            let by_hand = alone(size, gbps) + (n as u64 - 2) * alone(piece, gbps);
            assert_eq!(takes(&text(n, gbps, &job), Engine::Fast), by_hand, "{kind} {n} {gbps} {piece}");
        }
    }
}

/// A ring in pieces never lets its links idle, if a chunk takes longer than a piece's way.
#[test]
fn a_ring_in_pieces_is_never_idle() {
    let (n, pieces, piece) = (4_u64, 10, 100_000);
    let size = n * pieces * piece;
    let job = format!("kind = \"all-reduce\"\nsize = \"{size} B\"\nchunk = \"{piece} B\"");
    let by_hand = (2 * (n - 1) * pieces - 1) * 100 * tau(1048, 100) + alone(piece, 100);
    assert_eq!(takes(&text(n as usize, 100, &job), Engine::Fast), by_hand);
}

/// What arrives is reduced before it is sent on; rounds follow one another after a gap.
#[test]
fn reducing_and_gaps_take_their_time() {
    let job = "kind = \"all-reduce\"\nsize = \"400 KB\"\nreduce_time = \"20 ps\"\nrepeat = 3\ngap = \"7 us\"\nstart = \"1 us\"";
    let round = 6 * alone(100_000, 100) + 3 * 100_000 * 20;
    assert_eq!(takes(&text(4, 100, job), Engine::Fast), 3 * round + 2 * 7_000_000);
    let tree = "kind = \"reduce\"\nalgorithm = \"tree\"\nsize = \"50 KB\"\nreduce_time = \"20 ps\"";
    // Four ranks: 1 and 3 to 2, whose second one comes a whole transfer later by the same port; then 2 to 0.
    let both = alone(50_000, 100) + 50 * tau(1048, 100) + 50_000 * 20;
    assert_eq!(takes(&text(4, 100, tree), Engine::Fast), both + alone(50_000, 100) + 50_000 * 20);
}

/// The trees of NCCL: of four ranks 2 is below 0, and 1 and 3 are below 2. A barrier is a byte up and a byte down.
#[test]
fn trees_go_up_and_down() {
    let n = 4;
    let small = tau(64, 100);
    // Two bytes meet at one port on their way up, and follow one another on their way down.
    let barrier = 2 * (2 * (2 * small + 2_000_000) + small);
    assert_eq!(takes(&text(n, 100, "kind = \"barrier\""), Engine::Fast), barrier);
    let job = "kind = \"barrier\"\nalgorithm = \"halving-doubling\"";
    assert_eq!(takes(&text(8, 100, job), Engine::Fast), 3 * (2 * small + 2_000_000));
    let job = "kind = \"broadcast\"\nalgorithm = \"tree\"\nsize = \"50 KB\"";
    // 0 to 2, then 2 to 1 and 3, frame by frame in turn.
    let last = 100 * tau(1048, 100) + tau(1048, 100) + 2_000_000;
    assert_eq!(takes(&text(n, 100, job), Engine::Fast), alone(50_000, 100) + last);
    // Both trees move halves: of two ranks each is the root of one.
    let double = "kind = \"all-reduce\"\nalgorithm = \"double-tree\"\nsize = \"100 KB\"";
    assert_eq!(takes(&text(2, 100, double), Engine::Fast), 2 * alone(50_000, 100));
}

/// A listed transfer follows others by name, after a time.
#[test]
fn listed_transfers_follow_others() {
    let job = "kind = \"transfers\"\ntransfers = [\"1 us, H0, H1, 10 KB, name a\", \"2 us, H1, H2, 5 KB, name b, after a\", \
               \"0 us, H1, H0, 1 KB, after a b\", \"3 us, H3, H2, 1 KB\"]";
    let ready = ready(&text(4, 100, job));
    let out = outcome(&ready, Engine::Fast, 0);
    let done = |host: usize| {
        out.hosts[host]
            .transfers
            .completions
            .iter()
            .map(|c| (c.start.as_ps(), c.end.as_ps()))
            .collect::<Vec<_>>()
    };
    let a = 1_000_000 + alone(10_000, 100);
    assert_eq!(done(1), [(1_000_000, a)]);
    let b = a + 2_000_000;
    assert_eq!(done(2), [(3_000_000, 3_000_000 + alone(1000, 100)), (b, b + alone(5000, 100))]);
    // Without acknowledgements b is sent as its last frame begins.
    let sent = b + 4 * tau(1048, 100);
    assert_eq!(done(0), [(sent, sent + tau(1048, 100) + alone(1000, 100))]);
}

#[test]
fn what_no_collective_can_be() {
    let star = |job: &str| text(12, 100, job);
    for (job, why) in [
        (
            "kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"",
            "needs a number of ranks that is a power of two, and there are 12",
        ),
        ("kind = \"all-to-all\"\nalgorithm = \"pairwise\"", "needs a number of ranks that is a power of two"),
        ("kind = \"all-reduce\"\nalgorithm = \"rotated\"", "all-reduce has no algorithm `rotated`"),
        ("kind = \"all-reduce\"\nsize = \"11 B\"", "11 B for 12 ranks: not a byte for each"),
        ("kind = \"all-reduce\"\nalgorithm = \"direct\"\nchunk = \"1 KB\"", "is not cut into pieces"),
        ("kind = \"all-reduce\"\nalgorithm = \"tree\"\nchannels = 2", "tree has no rings"),
        ("kind = \"barrier\"\nsize = \"1 KB\"", "traffic.0.size"),
        ("kind = \"all-reduce\"\ngap = \"1 us\"", "gap"),
        ("kind = \"all-reduce\"\nrepeat = 100000\nsize = \"1 KB\"", "repeat"),
        ("kind = \"all-reduce\"\nstart = \"2 s\"", "lengthen run.duration"),
        (
            "kind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 KB, name a, after b\", \"0 us, H1, H0, 1 KB, name b, after a\"]",
            "a circle, in which none ever begins: a after b after a",
        ),
        ("kind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 KB, after z\"]", "no transfer has that name"),
        (
            "kind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 KB, name a\", \"0 us, H2, H1, 1 KB, after a\"]",
            "of whose end H2 sees nothing",
        ),
        (
            "kind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 KB, call a\"]",
            "behind the fourth come name and after",
        ),
        (
            "kind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 1 KB, name a\", \"0 us, H0, H1, 1 KB, name a\"]",
            "two transfers have the name a",
        ),
    ] {
        let said = refused(&star(job));
        assert!(said.contains(why), "{job}\n{said}");
    }
    let hosts =
        |list: &str| star("kind = \"all-reduce\"").replace("hosts = \"all\"", &format!("hosts = {list}"));
    assert!(refused(&hosts("[\"H3\"]")).contains("a collective of one rank moves nothing"));
    assert!(refused(&hosts("[\"H1..H4\", \"H3\"]")).contains("H3 is a rank twice"));
    assert!(refused(&hosts("[\"H1..H40\"]")).contains("there is no host `H40`"));
    let fifo = star("kind = \"all-reduce\"").replace("queues = \"per-flow\"", "queues = \"fifo\"");
    assert!(refused(&fifo).contains("need queue pairs"));
}

/// A table is found by its name: in the matrix, in the condition, and from outside.
#[test]
fn a_table_is_found_by_its_name() {
    let matrix = "\n[matrix]\n\"traffic.job.algorithm\" = [\"ring\", \"tree\"]\npause = [\"off\"]";
    let text = text(4, 100, "kind = \"all-reduce\"") + matrix;
    let text = text.replace(
        "name = \"t\"\n",
        "name = \"t\"\ncondition = \"{traffic.job.algorithm}, {traffic.job.size}\"\n",
    );
    let sets = [("traffic.job.size".to_string(), "40 KB".to_string())];
    let scenario = Scenario::parse("t.toml", &text, &sets).unwrap_or_else(|p| panic!("{p:#?}"));
    let conditions: Vec<String> = scenario.cases().iter().map(|c| c.id.condition.clone()).collect();
    assert_eq!(conditions, ["ring, 40 KB", "tree, 40 KB"]);
}

/// Of algorithms that a matrix compares, each takes the keys that it has, and its configuration reads back.
#[test]
fn algorithms_are_compared_with_one_number_of_rings() {
    let job = "kind = \"all-reduce\"\nchannels = 2\nchunk = \"10 KB\"";
    let matrix = "\n[matrix]\n\"traffic.job.algorithm\" = [\"ring\", \"double-tree\", \"halving-doubling\"]\npause = [\"off\"]";
    let text = text(4, 100, job) + matrix;
    let text = text.replace("name = \"t\"\n", "name = \"t\"\ncondition = \"{traffic.job.algorithm}\"\n");
    let scenario = Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    let transfers = |case| {
        let ready = scenario.ready(case).unwrap();
        let again = Scenario::from_config(scenario.registry(), &ready.config)
            .and_then(|(copy, same)| copy.ready(&same))
            .unwrap();
        assert_eq!(again.config, ready.config);
        let plans = (0..4).flat_map(|host| ready.settings.plans(host).to_vec());
        plans.map(|plan| plan.transfers.len()).sum::<usize>()
    };
    let cases = scenario.cases();
    // 6 steps of 4 ranks on 2 rings in 1 or more pieces; a tree in pieces; 4 steps of 4 ranks, whole.
    let sent: Vec<usize> = cases.iter().map(transfers).collect();
    assert_eq!(sent[2], 4 * 4, "{sent:?}");
    assert!(sent[0].is_multiple_of(48) && sent[1] > 6, "{sent:?}");
}

/// With acknowledgements among the data, windows and PFC armed, by hand: six cases on links of 100 Gb/s.
///
/// An acknowledgement of 64 B takes A = 5.12 ns on a link. That of a step's last frame leaves as the frame arrives, so the rank's next
/// frame begins A later. Those of earlier frames have left by then, as chunks are shorter than two links of 1 us hold (23 frames). On
/// the way back they meet no data: they reach a rank's port behind its last data of the step, and before the next.
#[test]
fn acknowledgements_among_the_data_delay_each_step() {
    const A: u64 = 5_120;
    let of = |n: usize, more: &str, job: &str| {
        let text = text(n, 100, job).replace("[pause]\nmode = \"off\"\n", &format!("{more}\n"));
        [Engine::Fast, Engine::Model].map(|engine| takes(&text, engine))
    };
    let acks = "[pause]\nmode = \"off\"\n[transport]\nack_every = 1";
    let window = "[pause]\nmode = \"off\"\n[transport]\nwindow = \"100 KB\"";
    let armed = "[pause]\nmode = \"on\"\nframes = \"pfc\"\nhigh = \"300 KB\"\nlow = \"200 KB\"\n[transport]\nack_every = 1";
    for (n, frames, more) in [(4, 1, acks), (8, 5, acks), (3, 20, window), (6, 12, armed)] {
        let job = format!("kind = \"all-reduce\"\nsize = \"{} B\"", 1000 * frames * n);
        let steps = 2 * (n as u64 - 1);
        let due = steps * alone(1000 * frames as u64, 100) + (steps - 1) * A;
        assert_eq!(of(n, more, &job), [due; 2], "{n} ranks, {frames} frames: {more}");
    }
    // A chain of six ranks passes a frame on, behind its acknowledgement; an all-gather of two has one step.
    let chain = "kind = \"broadcast\"\nalgorithm = \"ring\"\nsize = \"1 KB\"";
    assert_eq!(of(6, acks, chain), [5 * alone(1000, 100) + 4 * A; 2]);
    let gather = "kind = \"all-gather\"\nsize = \"24 KB\"";
    assert_eq!(of(2, armed, gather), [alone(12_000, 100); 2]);
}
