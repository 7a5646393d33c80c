//! A report of invented numbers, to look at: `cargo run -p cnsim-report --example demo -- FILE [large]`.
//!
//! Nothing in it was simulated. The published numbers are those of the study, so that widths and digits are real; what
//! stands beside them comes from a toy. `large` makes about as many figures as all studies have.

// A toy's curves need not be the same bits everywhere.
#![allow(clippy::disallowed_methods)]

use cnsim_report::model::{
    Assumption, Axis, Band, Cell, Claim, Column, Fact, Figure, Holds, Hot, Kind, Level, Link, Node, NotRun,
    Page, Report, Row, Study, Table, Topology, Trace, Verdict, Window,
};

/// A small generator, the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
    fn noise(&mut self) -> f64 {
        (0..6).map(|_| self.next()).sum::<f64>() - 3.0
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "demo.html".into());
    let copies = if args.next().as_deref() == Some("large") { 12 } else { 0 };
    let html = cnsim_report::render(&report(copies))?;
    println!("{file}: {:.2} MB", html.len() as f64 / 1e6);
    std::fs::write(file, html)?;
    Ok(())
}

fn text(s: &str) -> String {
    s.into()
}

fn report(copies: usize) -> Report {
    let mut pages = vec![
        single_hop("B07/single-hop", 1, 1000),
        multi_hop(),
        fat_tree(),
        delays(),
        severities(),
        chain(),
        mixed(),
    ];
    pages.extend((1..=copies).map(|i| single_hop(&format!("Z07/copy-{i}"), 6, 8000)));
    let study = |id: &str, title: &str, summary: &str| Study {
        id: id.into(),
        title: title.into(),
        citation: text("IEEE 802.1 interim meeting (demo text)"),
        summary: summary.into(),
    };
    let facts = [
        ("data", "DEMO: nothing here was simulated"),
        ("runs", "160"),
        ("seeds", "1, 2, 3, 4, 5"),
        ("packet-hops", "4.21e9"),
        ("fingerprint", "9e1d44c0a2b7f001 (the same on any number of threads)"),
        ("target", "x86_64-linux"),
    ];
    let colours =
        [("none", 0), ("qcn-2pt", 1), ("ecm", 2), ("qcn-3pt", 3), ("qcn-h", 5), ("qcn-serial-hai", 6)];
    Report {
        title: text("Published beside measured (demo: invented numbers)"),
        version: text("0.1.0"),
        command: text("cargo run -p cnsim-report --example demo"),
        facts: facts.map(|(name, value)| Fact { name: name.into(), value: value.into() }).into(),
        studies: vec![
            study(
                "B07",
                "ECM and QCN on the CN-SIM benchmarks",
                "How do ECM and two forms of QCN compare where one output slows down? Demo: all keep the innocent flows going; ECM comes closest to the ideal.",
            ),
            study("M08", "QCN with serial HAI; PAUSE and delay", ""),
            study("R07", "Fb-hat and probing variants of QCN", ""),
        ],
        pages,
        claims: claims(),
        assumptions: assumptions(),
        not_run: vec![NotRun {
            place: text("B07/single-hop, hotspot 1 Gb/s, PAUSE on, ecm, aggregate_throughput"),
            value: text("80.1 Gb/s"),
            reason: text("the condition does not parse (demo)"),
        }],
        not_modelled: Vec::new(),
        by_model: Vec::new(),
        colours: colours.map(|(name, colour)| (name.into(), colour)).into(),
    }
}

fn claims() -> Vec<Claim> {
    let rows = [
        ("B07.1", "printed", Holds::Yes, "EFR is essential for stability"),
        ("B07.2", "printed", Holds::Yes, "byte-based sampling jitters less than packet-based"),
        ("B07.3", "printed", Holds::No, "both QCN do their job, ECM does better, 2pt suffers most"),
        ("B07.4", "printed", Holds::Yes, "QCN-3pt's overhead is one to two orders of magnitude larger"),
        ("B07.7", "printed", Holds::Undecided, "recovery is slower than ECM's"),
        ("B07.8", "table", Holds::Yes, "without PAUSE, loss falls by orders of magnitude"),
        ("B07.9", "table", Holds::NotRun, "fat tree: schemes keep what none loses"),
        ("M08.1", "table", Holds::Yes, "QCN with PAUSE keeps innocent flows going"),
        ("M08.2", "table", Holds::Yes, "QCN tolerates delay up to 500 us"),
        ("M08.4", "figure", Holds::Yes, "the hot queue settles at the set point"),
        ("R07.1", "printed", Holds::Yes, "QCN is much improved with Fb-hat"),
        ("R07.7", "printed", Holds::Undecided, "sub-path probing is best, path probing worse"),
    ];
    let evidence = "2 Gb/s: 81.98 <= 82.27 <= 82.43 Gb/s; 0.5 Gb/s: 77.3 <= 78.9 <= 80.1 Gb/s; 0 Gb/s: 70.1, 71.9, 71.2 Gb/s (demo)";
    rows.into_iter()
        .map(|(id, origin, holds, what)| Claim {
            id: id.into(),
            text: what.into(),
            origin: origin.into(),
            holds,
            evidence: if holds == Holds::NotRun { String::new() } else { evidence.into() },
        })
        .collect()
}

fn assumptions() -> Vec<Assumption> {
    [
        (
            "A1",
            "source-queue",
            "A source's frames wait in an application queue without end.",
            "source.queue = bounded",
        ),
        ("A7", "reflection", "A frame that nobody sampled is not reflected.", "assumptions.reflection = all"),
    ]
    .map(|(id, name, what, other)| Assumption {
        id: id.into(),
        name: name.into(),
        text: what.into(),
        alternatives: other.into(),
    })
    .into()
}

/// Scheme, then per metric the published number and about what we would measure.
type Rows = [(&'static str, [(&'static str, f64); 5]); 4];

const TWO: Rows = [
    ("none", [("62.79", 62.81), ("6.01", 6.02), ("31.86", 31.7), ("0", 0.0), ("0", 0.0)]),
    ("qcn-2pt", [("81.99", 81.98), ("5.49", 5.43), ("0.15", 0.17), ("0", 0.0), ("0.517", 0.52)]),
    ("qcn-3pt", [("82.28", 82.27), ("5.79", 5.74), ("0.04", 0.04), ("0", 0.0), ("140.36", 141.9)]),
    ("ecm", [("82.44", 82.43), ("5.95", 5.94), ("0", 0.0), ("0", 0.0), ("4.83", 4.71)]),
];
const HALF: Rows = [
    ("none", [("57.33", 57.30), ("5.41", 5.43), ("37.9", 37.92), ("0", 0.0), ("0", 0.0)]),
    ("qcn-2pt", [("77.40", 79.62), ("4.09", 4.48), ("7.07", 3.31), ("0", 0.0), ("0.351", 0.36)]),
    ("qcn-3pt", [("80.64", 80.70), ("4.99", 5.01), ("0.30", 0.29), ("0", 0.0), ("137.80", 138.1)]),
    ("ecm", [("81.05", 81.00), ("5.35", 5.33), ("0.07", 0.07), ("0", 0.0), ("5.25", 5.19)]),
];
const OFF: Rows = [
    ("none", [("80.38", 80.41), ("6.01", 6.02), ("0", 0.0), ("1733213", 1_733_400.0), ("0", 0.0)]),
    ("qcn-2pt", [("82.05", 82.02), ("5.50", 5.42), ("0", 0.0), ("2231", 2410.0), ("0.530", 0.53)]),
    ("qcn-3pt", [("82.27", 82.29), ("5.77", 5.75), ("0", 0.0), ("410", 395.0), ("140.39", 141.6)]),
    ("ecm", [("82.45", 82.44), ("5.95", 5.94), ("0", 0.0), ("19", 11.0), ("4.90", 4.81)]),
];

fn columns() -> Vec<Column> {
    [
        (
            "aggregate_throughput",
            "Aggregate throughput",
            "Gb/s",
            "All bits that hosts received, over the run.",
        ),
        ("hot_port_throughput", "Hot-port throughput", "Gb/s", "Bits that left the hot port, over the run."),
        (
            "time_paused",
            "Time paused",
            "%",
            "Share of time that host links stood under PAUSE, mean over hosts.",
        ),
        ("dropped_frames", "Dropped frames", "frames", "Frames that found no room, all switches."),
        ("overhead", "Control overhead", "Mb/s", "Bits of control frames that hosts received, over the run."),
    ]
    .map(|(metric, title, unit, about)| Column {
        metric: metric.into(),
        title: title.into(),
        unit: unit.into(),
        about: about.into(),
        ..Column::default()
    })
    .into()
}

fn cell(published: Option<&str>, mean: f64, spread: f64, structural: bool, dice: &mut Dice) -> Cell {
    let s = mean * spread;
    let (ci, pi) = (1.24 * s, 3.04 * s);
    let value = published.and_then(|p| p.parse::<f64>().ok());
    let reach = pi.max(0.015 * value.unwrap_or(0.0));
    let agrees = value.map(|v| (v - mean).abs() <= reach);
    Cell {
        published: published.map(str::to_owned),
        measured: Some(mean),
        ci95: Some((mean - ci, mean + ci)),
        range: None,
        pi95: Some((mean - pi, mean + pi)),
        accept: value.map(|_| (mean - reach, mean + reach)),
        seeds: 5,
        values: (0..5).map(|_| mean + s * dice.noise()).collect(),
        verdict: match agrees {
            None => Verdict::Unpublished,
            Some(true) => Verdict::Agrees,
            Some(false) => Verdict::Differs,
        },
        structural,
        at_least: false,
        note: match agrees {
            Some(false) => text(
                "A7 reflection: whether unsampled frames are reflected is not stated; with `assumptions.reflection = all` the gap halves (demo).",
            ),
            _ => String::new(),
        },
    }
}

fn table(id: &str, condition: &str, pause: &str, rows: &Rows, dice: &mut Dice) -> Table {
    let mut cell = |scheme: &str, i: usize, (published, measured): &(&str, f64)| {
        let zero = (i == 3 && pause == "on") || (i == 4 && scheme == "none") || (i == 2 && pause == "off");
        let mut c = cell(Some(published), *measured, [0.0006, 0.004, 0.05, 0.03, 0.012][i], zero, dice);
        if i == 3 && pause == "off" && scheme == "ecm" {
            c.verdict = Verdict::Incomparable;
            c.note = text("The study counts dropped frames of one port only (demo).");
        }
        Some(c)
    };
    Table {
        id: id.into(),
        condition: condition.into(),
        pause: pause.into(),
        columns: columns(),
        rows: rows
            .iter()
            .map(|(scheme, cells)| Row {
                scheme: text(scheme),
                condition: String::new(),
                cells: cells.iter().enumerate().map(|(i, c)| cell(scheme, i, c)).collect(),
            })
            .collect(),
        ..Table::default()
    }
}

/// A queue that jumps when the port slows down, and what leaves the port, per scheme.
fn course(scheme: &str, rate: f64, queue: bool, points: usize, dice: &mut Dice) -> Trace {
    let (overshoot, settle, floor, jitter, back) = match scheme {
        "none" => (f64::INFINITY, 1.0, 0.0, 0.002, 60.0),
        "ecm" => (620.0, 18.0, 24.0, 0.20, 22.0),
        "qcn-3pt" => (860.0, 30.0, 27.0, 0.35, 45.0),
        _ => (1180.0, 42.0, 31.0, 0.5, 140.0),
    };
    let mut trace = Trace { name: scheme.into(), ..Trace::default() };
    let mut band = Band::default();
    let (mut slow, mut wide) = (0.0, 0.5);
    for i in 0..points {
        let t = (i as f64 + 1.0) * 1000.0 / points as f64;
        slow = 0.8 * slow + 0.2 * dice.noise();
        wide = 0.9 * wide + 0.1 * dice.next();
        let since = t - 100.0;
        let after = (t - 500.0).max(0.0);
        let hot = (0.0..400.0).contains(&since);
        let v: f64 = match (queue, hot) {
            (true, true) if overshoot.is_infinite() => {
                1500.0 * (1.0 - (-since / 4.0).exp()) + 8.0 * dice.noise()
            }
            (true, true) => {
                overshoot * (-since / settle).exp() * (1.0 - (-since / 2.0).exp())
                    + floor * (1.0 + jitter * slow)
            }
            (true, false) if after > 0.0 && scheme == "none" => (1500.0 - after * 75.0).max(6.0 + 3.0 * slow),
            (true, false) => 6.0 + 3.0 * slow,
            (false, true) => rate * (1.0 - 0.02 * jitter * slow.abs()),
            (false, false) if after > 0.0 => {
                rate + (8.5 - rate) * (1.0 - (-after / back).exp()) + 0.05 * slow
            }
            (false, false) => 8.5 + 0.06 * slow,
        };
        let v = v.max(0.0);
        let spread = if queue { 0.2 * v * wide + 2.0 } else { 0.05 + 0.03 * v * wide };
        trace.x.push(t);
        trace.y.push(v);
        band.low.push((v - spread).max(0.0));
        band.high.push(v + spread);
    }
    trace.band = Some(band);
    trace
}

fn axis(title: &str, unit: &str) -> Axis {
    Axis { title: title.into(), unit: unit.into(), log: false }
}

fn pair(group: &str, rate: f64, points: usize, dice: &mut Dice) -> [Figure; 2] {
    [true, false].map(|queue| Figure {
        group: group.into(),
        title: text(if queue { "Hot queue length" } else { "Hot-port throughput" }),
        caption: text("Line: seed 1; band: least and greatest of 5 seeds (demo)."),
        x: axis("time", "ms"),
        y: if queue { axis("queue", "KB") } else { axis("throughput", "Gb/s") },
        traces: ["none", "qcn-2pt", "qcn-3pt", "ecm"].map(|s| course(s, rate, queue, points, dice)).into(),
        windows: vec![Window { from: 100.0, to: 500.0, label: text("hotspot") }],
        levels: vec![match queue {
            true => Level { value: 26.0, label: text("set point 26 KB") },
            false => Level { value: rate, label: format!("service rate {rate} Gb/s") },
        }],
        ..Figure::default()
    })
}

fn hosts(n: usize) -> Vec<Node> {
    (0..n).map(|i| Node { name: format!("H{i}"), ..Node::default() }).collect()
}

fn switches<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<Node> {
    names.into_iter().map(|n| Node { name: n.as_ref().into(), switch: true, layer: None }).collect()
}

fn link(a: usize, b: usize) -> Link {
    Link { a, b, rate: text("10 Gb/s"), delay: text("500 ns"), hot: Hot::No }
}

fn network(nodes: [Vec<Node>; 2], mut links: Vec<Link>, hot: usize) -> Topology {
    links[hot].hot = Hot::A;
    Topology { nodes: nodes.concat(), links, caption: String::new() }
}

fn star(n: usize, hot: usize) -> Topology {
    network([hosts(n), switches(["switch"])], (0..n).map(|i| link(n, i)).collect(), hot)
}

fn single_hop(id: &str, pairs: usize, points: usize) -> Page {
    let mut dice = Dice(7);
    let tables = [
        ("2-on", "hotspot 2 Gb/s", "on", TWO, 2.0),
        ("05-on", "hotspot 0.5 Gb/s", "on", HALF, 0.5),
        ("2-off", "hotspot 2 Gb/s", "off", OFF, 2.0),
    ];
    let figures = tables.iter().flat_map(|(t, .., rate)| vec![(*t, *rate); pairs]);
    Page {
        id: id.into(),
        title: text("Single-hop output-generated hotspot"),
        question: text(
            "Ten hosts send to each other at 85 % of 10 Gb/s. From 100 to 500 ms one output is served at a fraction of its rate. Do the other nine outputs keep their traffic?",
        ),
        source: text(
            "D. Bergamasco, \"ECM and QCN on the CN-SIM benchmarks\", IEEE 802.1 interim meeting, July 2007, pages 9 to 22 (demo text)",
        ),
        topology: star(10, 1),
        figures: figures.flat_map(|(t, rate)| pair(t, rate, points, &mut dice)).collect(),
        tables: tables.iter().map(|(id, c, p, rows, _)| table(id, c, p, rows, &mut Dice(3))).collect(),
        claims: claims().into_iter().filter(|c| c.id == "B07.3" || c.id == "B07.7").collect(),
        assumptions: assumptions(),
        ..Page::default()
    }
}

fn multi_hop() -> Page {
    let edges = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3];
    let mut links: Vec<Link> = edges.iter().enumerate().map(|(h, e)| link(10 + e, h)).collect();
    links.extend((0..4).map(|e| link(14, 10 + e)));
    let mut dice = Dice(11);
    Page {
        id: text("B07/multi-hop"),
        title: text("Multi-hop output-generated hotspot"),
        question: text(
            "Ten hosts behind a core and four edges. Does the congestion of one edge port spread to flows that never use it?",
        ),
        source: text("As above (demo)"),
        topology: network([hosts(10), switches(["E1", "E2", "E3", "E4", "core"])], links, 6),
        tables: vec![table("2-on", "hotspot 2 Gb/s", "on", &TWO, &mut dice)],
        figures: pair("2-on", 2.0, 12_000, &mut dice).into(),
        ..Page::default()
    }
}

fn fat_tree() -> Page {
    let names = ["edge", "middle", "top"].iter().flat_map(|l| (0..16).map(move |i| format!("{l} {i}")));
    let mut links: Vec<Link> = (0..64).map(|h| link(64 + h / 4, h)).collect();
    for e in 0..16 {
        for k in 0..4 {
            links.push(link(80 + (e / 4) * 4 + k, 64 + e));
            links.push(link(96 + (e % 4) * 4 + k, 80 + e));
        }
    }
    Page {
        id: text("B07/fat-tree"),
        title: text("Fat tree of 64 hosts"),
        question: text(
            "Sixty-four hosts and 48 switches in three stages. What does one slow output do to a whole network?",
        ),
        source: text("As above (demo)"),
        topology: network([hosts(64), switches(names)], links, 5),
        tables: vec![table("2-on", "hotspot 2 Gb/s", "on", &TWO, &mut Dice(5))],
        figures: pair("2-on", 2.0, 1000, &mut Dice(5)).into(),
        ..Page::default()
    }
}

fn column(title: &str, unit: &str) -> Column {
    Column { title: title.into(), unit: unit.into(), ..Column::default() }
}

fn delays() -> Page {
    let mut dice = Dice(23);
    let names = ["delay 8 us", "delay 50 us", "delay 100 us", "delay 200 us", "delay 500 us", "delay 1 ms"];
    let tables = names.iter().enumerate().map(|(i, n)| {
        let c = cell(i.is_multiple_of(2).then_some("9.98"), 9.97 - 0.03 * i as f64, 0.001, false, &mut dice);
        Table {
            id: format!("d{i}"),
            condition: format!("control loop {n}"),
            pause: text("off"),
            columns: vec![column("Throughput", "Gb/s")],
            rows: vec![Row { scheme: text("qcn-serial-hai"), cells: vec![Some(c)], ..Row::default() }],
            ..Table::default()
        }
    });
    let tables = tables.collect();
    let mut line = |i: usize, n: &str, queue: bool| {
        let like = if i.is_multiple_of(2) { "ecm" } else { "qcn-2pt" };
        Trace { name: text(n), band: None, ..course(like, 3.0 + i as f64 * 0.7, queue, 2000, &mut dice) }
    };
    Page {
        id: text("M08/symmetric-4-to-1"),
        title: text("Four to one, with delay in the control loop"),
        question: text("Four greedy sources into one port. How much delay does QCN bear?"),
        source: text("M. Gusat, IEEE 802.1 (demo text)"),
        topology: star(5, 4),
        tables,
        figures: [("Queue length", "queue", "KB", true), ("Throughput", "throughput", "Gb/s", false)]
            .map(|(title, y, unit, queue)| Figure {
                title: title.into(),
                x: axis("time", "ms"),
                y: axis(y, unit),
                traces: names.iter().enumerate().map(|(i, n)| line(i, n, queue)).collect(),
                ..Figure::default()
            })
            .into(),
        ..Page::default()
    }
}

fn severities() -> Page {
    let schemes = ["ecm", "qcn-2pt", "qcn-h", "qcn-p", "qcn-hp", "qcn-sp", "qcn-hsp", "qcn-pp"];
    let rates = [0.1, 0.5, 1.0, 2.0];
    let mut dice = Dice(31);
    let mut row = |i: usize, r: f64| {
        let total = cell(None, 80.0 + i as f64 * 0.3 + r, 0.001, false, &mut dice);
        let deficit = (i > 0).then(|| cell(None, 120.0 - i as f64 * 9.0, 0.06, false, &mut dice));
        Row { scheme: text(schemes[i]), cells: vec![Some(total), deficit], ..Row::default() }
    };
    let tables = rates.map(|r| Table {
        id: format!("r{r}"),
        condition: format!("hotspot {r} Gb/s"),
        columns: vec![column("Total throughput", "Gb/s"), column("Recovery deficit", "Mb")],
        rows: (0..schemes.len()).map(|i| row(i, r)).collect(),
        ..Table::default()
    });
    let lines = |x: &[f64], y: &dyn Fn(usize, f64) -> f64| -> Vec<Trace> {
        let line = |i: usize| rates.iter().map(|r| y(i, *r)).collect();
        let trace =
            |(i, s): (usize, &&str)| Trace { name: text(s), x: x.into(), y: line(i), ..Trace::default() };
        schemes.iter().enumerate().map(trace).collect()
    };
    Page {
        id: text("R07/single-hop-10"),
        title: text("Probing variants, ten hosts"),
        question: text("How long does recovery take, and does positive feedback shorten it?"),
        source: text("R07 (demo text)"),
        topology: star(10, 1),
        tables: tables.into(),
        figures: vec![
            Figure {
                title: text("Recovery time by severity"),
                kind: Kind::Points,
                x: Axis { log: true, ..axis("service rate", "Gb/s") },
                y: axis("recovery", "ms"),
                traces: lines(&rates, &|i, r| (150.0 - 14.0 * i as f64) / (0.4 + r)),
                ..Figure::default()
            },
            Figure {
                title: text("Total throughput by severity"),
                kind: Kind::Bars,
                x: axis("hotspot", "Gb/s"),
                y: axis("total", "Gb/s"),
                categories: rates.iter().map(f64::to_string).collect(),
                traces: lines(&[0.0, 1.0, 2.0, 3.0], &|i, r| 70.0 + r * 3.0 + i as f64 * 0.4),
                ..Figure::default()
            },
        ],
        ..Page::default()
    }
}

fn chain() -> Page {
    let mut links: Vec<Link> = (0..54).map(|h| link(54 + h / 3, h)).collect();
    links.extend((0..17).map(|s| link(54 + s, 55 + s)));
    Page {
        id: text("R07/chain-20"),
        title: text("A chain of 18 switches"),
        question: text("Bursty sources along a chain: several hotspots at once."),
        topology: network([hosts(54), switches((0..18).map(|i| format!("S{i}")))], links, 55),
        ..Page::default()
    }
}

fn mixed() -> Page {
    let rate = |h: usize| ["1 Gb/s", "10 Gb/s", "100 Gb/s"][h % 3];
    let mut links: Vec<Link> = (0..9).map(|h| Link { rate: text(rate(h)), ..link(9 + h / 3, h) }).collect();
    links.extend([(9, 10), (10, 11), (9, 11)].map(|(a, b)| Link { rate: text("100 Gb/s"), ..link(a, b) }));
    Page {
        id: text("next/mixed-rates"),
        title: text("Links of 1, 10 and 100 Gb/s in a ring"),
        question: text("Does QCN share a ring of unequal links?"),
        topology: network([hosts(9), switches(["S0", "S1", "S2"])], links, 3),
        ..Page::default()
    }
}
