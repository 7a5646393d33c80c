//! `cnsim sweep` and `cnsim assume` as a user meets them.

use crate::common::{Folder, SMALL, cnsim, text};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, FrameView, PointControl, Queue, QueueSite, Registration, Scheme, params,
};
use serde_json::Value;

fn small(name: &str) -> (Folder, String, String) {
    let folder = Folder::new(name);
    let three = SMALL.replace("\"on\", ", "").replace("\"ecm\"", "\"ecm\", \"qcn-2pt\"");
    let file = folder.write("small.toml", &three);
    let out = folder.file("out");
    (folder, file, out)
}

#[test]
fn a_sweep_writes_all_points_and_runs_each_once() {
    let (folder, file, out) = small("sweep");
    let args = [
        "sweep", &file, "--over", "hotspot.rate=1Gb/s..3Gb/s/3", "--over", "scheme.params.q_eq=24 KB,48 KB",
        "--scheme", "none,ecm", "--seeds", "2", "--metric", "hot_port_throughput", "--out", &out,
        "--threads", "2",
    ];
    let done = cnsim(&args);
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("q_eq has no effect on none"), "{said}");
    assert!(said.contains("hot port [Gb/s]") && said.contains('±'), "{said}");
    assert_eq!(folder.runs(), 2 * (3 + 6), "`none` once a rate, ECM at each point");
    let csv = folder.read("out/sweep.csv");
    assert!(csv.starts_with(
        "hotspot.rate,scheme.params.q_eq,study,scenario,condition,pause,scheme,metric,unit,measured,ci95_low"
    ));
    let hot: Vec<&str> = csv.lines().filter(|l| l.contains(",hot_port_throughput,")).collect();
    assert_eq!(hot.len(), 12);
    let value = |rate: &str, q: &str, scheme: &str| -> f64 {
        let start = format!("{rate},{q},mine,small,hotspot {rate},off,{scheme},");
        let line = hot.iter().find(|l| l.starts_with(&start)).unwrap_or_else(|| panic!("{start} in {hot:?}"));
        line.split(',').nth(9).unwrap().parse().unwrap()
    };
    assert!(value("3 Gb/s", "24 KB", "none") > value("1 Gb/s", "24 KB", "none") + 0.5);
    assert_eq!(value("2 Gb/s", "24 KB", "none").to_bits(), value("2 Gb/s", "48 KB", "none").to_bits());
    assert_ne!(value("2 Gb/s", "24 KB", "ecm").to_bits(), value("2 Gb/s", "48 KB", "ecm").to_bits());
    assert!(folder.read("out/sweep.html").contains("hotspot.rate"));
    // The results can be run again, and JSON is alone on standard output.
    let results = folder.file("out/results.json");
    assert_eq!(cnsim(&["verify", &results, "--threads", "2"]).status.code(), Some(0));
    let mut again = args.to_vec();
    again.push("--json");
    let done = cnsim(&again);
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 12);
    assert_eq!(json["rows"][0]["metrics"]["hot_port_throughput"]["ci95"].as_array().unwrap().len(), 2);
    assert_eq!(folder.runs(), 18, "all from the store");
    assert_eq!(csv, folder.read("out/sweep.csv"), "and the same");
}

params! {
    /// A scheme with a slip: it counts by a name that it has not declared, as soon as a sample is due.
    pub struct Slip {
        /// The slip comes with fewer bytes between samples than 100 KB.
        interval: Bytes = Bytes::from_kb(150), symbol "I", from Bytes::new(64), to Bytes::from_mb(10);
    }
}

impl Scheme for Slip {
    fn name(&self) -> &str {
        "slip"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(self.clone()))
    }
}

impl CongestionPoint for Slip {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(self.interval);
    }
    fn on_sample(&mut self, _: &mut FrameView, _: &Queue, ctl: &mut PointControl<'_>) {
        if self.interval < Bytes::from_kb(100) {
            ctl.count("undeclared");
        }
        ctl.sample_after(self.interval);
    }
}

/// One of three points fails: the others go on, the table and the file have its reason, and the exit code is 1.
#[test]
fn a_point_that_fails_leaves_the_others() {
    let (folder, file, out) = small("failing-point");
    let run = |over: &str| {
        let mut schemes = cnsim_schemes::registry();
        schemes.register(Registration::new("a slip", "", Slip::default(), |p| p)).unwrap();
        let args = ["cnsim", "--quiet", "sweep", &file, "--over", over, "--scheme", "slip,none"];
        let more = ["--over", "hotspot.rate=1 Gb/s", "--seeds", "2", "--out", &out, "--threads", "2"];
        cnsim_cli::program(schemes, args.iter().chain(&more))
    };
    assert_eq!(run("interval=150 KB,50 KB,200 KB"), 1);
    let csv = folder.read("out/sweep.csv");
    let failed: Vec<&str> = csv.lines().filter(|l| l.contains(",failed,")).collect();
    assert_eq!(failed.len(), 1, "{csv}");
    assert!(
        failed[0].starts_with("50 KB,1 Gb/s,mine,small,hotspot 1 Gb/s,off,slip,failed,,,,,,,2,"),
        "{failed:?}"
    );
    assert!(failed[0].contains("failed: seed 1: ") && failed[0].contains("undeclared"), "{failed:?}");
    let points = |scheme: &str| {
        csv.lines().filter(|l| l.contains(&format!(",{scheme},aggregate_throughput,"))).count()
    };
    assert_eq!((points("slip"), points("none")), (2, 3));
    assert_eq!(folder.runs(), 2 * (2 + 1), "what ran is kept");
    let html = folder.read("out/sweep.html");
    assert!(
        html.contains("failed: scheme.params.interval=50 KB, hotspot.rate=1 Gb/s, PAUSE off, slip, seed 1: ")
    );
    assert_eq!(run("interval=150 KB,200 KB"), 0);
    assert!(!folder.read("out/sweep.csv").contains("failed"));
}

#[test]
fn a_bad_sweep_is_refused_before_anything_runs() {
    let (folder, file, out) = small("bad-sweep");
    let long = format!("host.fifo={}", (1..=900).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    for (args, words) in [
        (vec!["--over", "hotspot.rat=1 Gb/s"], "did you mean `hotspot.rate`"),
        (vec!["--over", "hotspot.rate=1 GB/s"], "1 GB/s"),
        (vec!["--over", "hotspot.stop=4 ms,0.5 ms"], "(at hotspot.stop=0.5 ms, none and 2 more points)"),
        (vec!["--over", "hotspot.rate=1..2"], "without the number of its values"),
        (vec!["--over", "scheme=ecm"], "use --scheme"),
        (vec!["--over", "efr=on,off", "--scheme", "ecmm"], "did you mean `ecm`"),
        (vec!["--over", "efr=on,off", "--metric", "overhed"], "did you mean `overhead`"),
        (vec!["--over", "efr=on,off", "--seeds", "0"], "at least 1"),
        (vec!["--over", "efr=on,off", "--condition", "what"], "hotspot 1 Gb/s"),
        (vec!["--over", &long, "--over", "host.limiter_queue=1..10/10"], "--force"),
        (vec![], "--over"),
    ] {
        let mut all = vec!["sweep", &file, "--out", &out];
        all.extend(&args);
        let done = cnsim(&all);
        let said = text(&done);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words) && !said.contains("panicked"), "{args:?}: {said}");
    }
    assert!(!folder.0.join("out").exists());
}

/// Published numbers for the small scenario; ECM's would need another limiter queue.
fn published(folder: &Folder) -> String {
    let head = "study,scenario,condition,pause,scheme,metric,value,unit,note\n";
    let row = |scheme: &str, metric: &str, value: &str, unit: &str| {
        format!("mine,small,hotspot 1 Gb/s,off,{scheme},{metric},{value},{unit},\n")
    };
    let rows = [
        row("none", "aggregate_throughput", "27.00", "Gb/s"),
        row("ecm", "hot_port_throughput", "5.00", "Gb/s"),
        row("ecm", "overhead", "10.00", "Mb/s"),
        row("qcn-2pt", "hot_port_throughput", "5.00", "Gb/s"),
    ];
    folder.write("p.csv", &(head.to_string() + &rows.concat()))
}

#[test]
fn assume_ranks_and_runs_only_what_a_switch_changes() {
    let (folder, file, out) = small("assume");
    let numbers = published(&folder);
    let args = [
        "assume", &file, "--published", &numbers, "--over", "efr=on,off", "--over", "oversampling=off",
        "--over", "limiter-queue=3,10", "--set", "host.fifo=5000", "--seeds", "2", "--out", &out,
        "--threads", "2",
    ];
    let done = cnsim(&args);
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    for words in
        ["One switch at a time", "as it is", "efr=off", "Combinations, the nearest", "4 published cells"]
    {
        assert!(said.contains(words), "`{words}` is not in:\n{said}");
    }
    // 3 cases as they are; EFR off: 1; oversampling off: 1; limiter queue: 2 each, with the others 1 more each.
    assert_eq!(folder.runs(), 2 * (3 + 1 + 1 + 4 + 2 + 2), "{said}");
    let ranking = folder.read("out/assume.csv");
    let distances: Vec<f64> = ranking.lines().skip(1).map(|l| column(l, 2).parse().unwrap()).collect();
    assert_eq!(distances.len(), 2 * 2 * 3, "every combination");
    assert!(distances.windows(2).all(|w| w[0] <= w[1]), "nearest first: {distances:?}");
    let cells = folder.read("out/assume-cells.csv");
    assert_eq!(cells.lines().count(), 1 + 12 * 4);
    let cell = |reading: &str, scheme: &str| {
        let of = |l: &&str| column(l, 0) == reading && l.contains(&format!(",{scheme},"));
        cells.lines().find(of).map(|l| column(l, 9)).unwrap()
    };
    assert_eq!(cell("as it is", "ecm"), cell("efr=off", "ecm"), "EFR is no matter of ECM");
    assert_ne!(cell("as it is", "ecm"), cell("limiter-queue=3", "ecm"));
    let mut again = args.to_vec();
    again.push("--json");
    let before = folder.runs();
    let json: Value = serde_json::from_slice(&cnsim(&again).stdout).unwrap();
    assert_eq!((json["readings"].as_array().unwrap().len(), json["cells"].as_u64()), (12, Some(4)));
    assert_eq!(folder.runs(), before, "all from the store");
    assert_eq!(ranking, folder.read("out/assume.csv"), "and the same");
}

/// A field of a line of CSV, quotes taken off.
fn column(line: &str, n: usize) -> String {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields[n].clone()
}

#[test]
fn a_bad_search_is_refused_before_anything_runs() {
    let (folder, file, out) = small("bad-assume");
    let numbers = published(&folder);
    for (args, words) in [
        (vec!["--over", "efrr"], "did you mean `efr`"),
        (vec!["--over", "efr=maybe"], "neither on nor off"),
        (vec!["--over", "host.fifoo=5"], "did you mean `host.fifo`"),
        (vec!["--over", "hotspot.rate=1 Gb/s"], "cnsim sweep"),
        (vec!["--over", "efr=on"], "no alternative changes anything"),
        (vec!["--over", "efr", "--only", "PAUSE on"], "nothing published is left"),
        (vec!["--over", "efr", "--only", "ecm"], "no alternative changes anything"),
        (
            vec!["--over", "efr", "--over", "limiter-queue=1..101/101", "--over", "host.fifo=1..101/101"],
            "more than 10000 combinations",
        ),
        (vec!["--over", "efr", "--seeds", "0"], "at least 1"),
    ] {
        let mut all = vec!["assume", &file, "--published", &numbers, "--out", &out];
        all.extend(&args);
        let done = cnsim(&all);
        let said = text(&done);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words) && !said.contains("panicked"), "{args:?}: {said}");
    }
    assert!(!folder.0.join("out").exists());
    let done = cnsim(&["assume", "no-such"]);
    assert_eq!(done.status.code(), Some(2));
}

/// Transfers that cannot end within the run: 10 MB take 8 ms at 10 Gb/s, and the run has 1 ms.
#[test]
fn a_sweep_says_what_was_not_finished() {
    let folder = Folder::new("unfinished");
    let text = "study = \"mine\"\nname = \"short\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n[[traffic]]\nhosts = [\"H0\"]\n\
                kind = \"incast\"\ndestinations = \"H1\"\nsize = \"10 MB\"\n[run]\nduration = \"1 ms\"\n[matrix]\nschemes = [\"none\"]\n";
    let (file, out) = (folder.write("short.toml", text), folder.file("out"));
    let done = cnsim(&["sweep", &file, "--over", "run.duration=0.5 ms,1 ms", "--seeds", "1", "--out", &out]);
    let said = crate::common::text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(
        said.contains("UNFINISHED") && said.contains("1 ms: 1 of 1 flows were not received whole"),
        "{said}"
    );
    assert!(said.contains(": 2 points of mine/short, 2 runs, "), "{said}");
}

/// One of two transfers ends in the short run, both in the long one: their means are over different flows, and the share stands by.
#[test]
fn means_over_different_flows_are_not_compared() {
    let folder = Folder::new("different-flows");
    let text = "study = \"mine\"\nname = \"two\"\n[topology]\nhosts = 3\nlink_rate = \"10 Gb/s\"\n\
                [[traffic]]\nname = \"short\"\nhosts = [\"H0\"]\nkind = \"transfers\"\ntransfers = [\"0 us, H0, H1, 20 KB\"]\n\
                [[traffic]]\nname = \"backup\"\nhosts = [\"H2\"]\nkind = \"transfers\"\ntransfers = [\"0 us, H2, H1, 200 KB\"]\n\
                [run]\nduration = \"1 ms\"\n[matrix]\nschemes = [\"none\"]\n";
    let (file, out) = (folder.write("two.toml", text), folder.file("out"));
    let over = ["--over", "run.duration=0.1 ms,1 ms", "--seeds", "2", "--metric", "completion_time"];
    let done = cnsim(&[&["sweep", &file, "--out", &out][..], &over].concat());
    let said = crate::common::text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("cases finished different shares of the flows: from 50 % ("), "{said}");
    assert!(said.contains("2 of 4 flows in 2 seeds were not received whole (2 of 2 of backup)"), "{said}");
    assert!(said.contains("  finished [%]  backup: finished [%]  completion time [us]"), "{said}");
    let beside = ["--baseline", "run.duration=1ms", "--metric", "completion_time"];
    let said = crate::common::text(&cnsim(&[&["compare", &out][..], &beside].concat()));
    let verdict = |metric: &str, word: &str| said.lines().any(|l| l.starts_with(metric) && l.ends_with(word));
    assert!(verdict("completion_time [us]", "undecided: different flows finished"), "{said}");
    assert!(verdict("finished_flows [%]", "lower: worse"), "{said}");
    let said = crate::common::text(&cnsim(&["run", &file, "--metric", "slowdown", "--out", &out]));
    assert!(said.contains("finished_flows") && said.contains("slowdown"), "{said}");
}
