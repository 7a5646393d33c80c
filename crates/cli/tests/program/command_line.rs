//! The command line as a user meets it: exit codes, messages with place and remedy, files, determinism.

use crate::common::{Folder, SMALL, cnsim, text};
use std::path::Path;
use std::process::Command;

/// `check` on a changed text: exit 2, and all of these words.
fn refused(change: (&str, &str), words: &[&str]) {
    let folder = Folder::new(&format!("refused-{}", words.join("").len() + change.1.len() * 1000));
    let file = folder.file("bad.toml");
    assert!(SMALL.contains(change.0), "{}", change.0);
    std::fs::write(&file, SMALL.replacen(change.0, change.1, 1)).unwrap();
    let out = cnsim(&["check", &file]);
    let said = text(&out);
    assert_eq!(out.status.code(), Some(2), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in:\n{said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn bad_input_names_file_line_key_reason_remedy() {
    refused(
        ("hosts = 4", "host = 4"),
        &["bad.toml:5:", "topology.host", "unknown key", "did you mean `topology.hosts`"],
    );
    refused(("\"1 Gb/s\"\nstart", "\"1 GB/s\"\nstart"), &["bad.toml:8:", "hotspot.rate", "1 GB/s", "help"]);
    refused(("\"1 Gb/s\"\nstart", "1\nstart"), &["bad.toml:8:", "hotspot.rate"]);
    refused(("host = \"H1\"", "host = \"H9\""), &["bad.toml:7:", "there is no host `H9`", "H0 to H3"]);
    refused(("stop = \"4 ms\"", "stop = \"9 ms\""), &["bad.toml:10:", "outside the run of 6 ms"]);
    refused(("stop = \"4 ms\"", "stop = \"1 ms\""), &["hotspot.stop", "not after its start"]);
    refused(
        ("[run]", "[switch]\nshare = \"150 KB\"\n[pause]\nhigh = \"149 KB\"\n[run]"),
        &["bad.toml:14:", "watermark without headroom", "at most", "cnsim headroom"],
    );
    refused(("[run]", "[pause]\nlow = \"140 KB\"\n[run]"), &["pause.low", "not below"]);
    refused(
        ("[run]", "[workload]\nload = \"150 %\"\n[run]"),
        &["workload.load", "out of range", "0 % to 100 %"],
    );
    refused(("[run]", "[workload]\non = \"1 ms\"\n[run]"), &["workload.on", "no effect", "workload.kind"]);
    refused(
        ("[run]", "[scheme.params]\nqeq = \"24 KB\"\n[run]"),
        &["scheme.params.qeq", "did you mean `q_eq`"],
    );
    refused(
        ("[run]", "[scheme.params]\nk = 5\noversampling = \"off\"\n[run]"),
        &["scheme.params.k", "has no effect"],
    );
    refused(("[run]", "[scheme.ecm]\nw = 1e9\n[run]"), &["scheme.ecm.w", "out of range"]);
    refused(("\"ecm\"]", "\"emc\"]"), &["there is no scheme `emc`", "did you mean `ecm`"]);
    refused(("[topology]", "[topology"), &["bad.toml:4:"]);
    refused(("hosts = 4", "hosts = 99999999"), &["topology.hosts", "out of range"]);
    refused(("[run]", "[assumptions]\nefrr = \"off\"\n[run]"), &["unknown assumption", "did you mean `efr`"]);
}

/// Cells and claims of the run that the program carries with it stand where a study is described, without a run of one's own.
#[test]
fn descriptions_carry_the_verdicts_of_the_stored_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../published/");
    let read = |name: &str| std::fs::read_to_string(root.to_string() + name).unwrap();
    let (cells, claims) = (read("measured.csv"), read("claims.csv"));
    let published = read("published.csv");
    let zero = |cell: &str| {
        let place: Vec<&str> = cell.split(',').take(6).collect();
        published.lines().any(|l| l.starts_with(&(place.join(",") + ",0,")))
    };
    let mine: Vec<&str> = cells.lines().filter(|l| l.starts_with("C07,asymmetric,")).collect();
    let (zeros, rest): (Vec<&str>, Vec<&str>) = mine.iter().partition(|l| zero(l));
    let agree = |rows: &[&str]| rows.iter().filter(|l| l.ends_with(",agrees")).count();
    let said = text(&cnsim(&["explain", "C07/asymmetric"]));
    let says = format!("with the defaults {} of {} agree", agree(&rest), rest.len());
    assert!(rest.len() > 2 && said.contains(&says), "{says}, {} zeros:\n{said}", zeros.len());
    let folder = Folder::new("no-run");
    let line = claims.lines().find(|l| l.starts_with("C07,C07.7b,")).unwrap();
    assert!(line.contains(",printed,no,"), "{line}");
    let said = text(&cnsim(&["explain", "C07.7b", "--out", &folder.file("none")]));
    assert!(said.contains("With the defaults: no\n  six flows over 1 s"), "{said}");
    // Results of other studies decide nothing of it.
    std::fs::create_dir(folder.file("other")).unwrap();
    folder
        .write("other/claims.csv", "study,claim,text,origin,holds,evidence\nB07,B07.1,t,printed,yes,seen\n");
    let said = text(&cnsim(&["explain", "C07.7b", "--out", &folder.file("other")]));
    assert!(said.contains("With the defaults: no\n") && said.contains("Not run here yet"), "{said}");
    let said = text(&cnsim(&["explain", "B07.1", "--out", &folder.file("other")]));
    assert!(said.contains("claims.csv: yes\n  seen"), "{said}");
    // In a study's table, cells that were published as zero are no agreement.
    let row = format!("{} of {}", agree(&rest), rest.len());
    let said = text(&cnsim(&["explain", "C07"]));
    let asymmetric = said.lines().find(|l| l.starts_with("C07/asymmetric ")).unwrap();
    assert!(asymmetric.contains(&row), "{row}: {asymmetric}");
}

/// What depends on a wrong value is not complained of as well.
#[test]
fn one_wrong_value_is_one_complaint() {
    let folder = Folder::new("one-complaint");
    let file = folder.file("bad.toml");
    for (right, wrong, key) in [
        ("duration = \"6 ms\"", "duration = \"6 mms\"", "run.duration"),
        ("start = \"1 ms\"", "start = \"soon\"", "hotspot.start"),
        ("stop = \"4 ms\"", "stop = \"-4 ms\"", "hotspot.stop"),
        ("[run]", "[pause]\nhigh = \"much\"\n[run]", "pause.high"),
    ] {
        assert!(SMALL.contains(right), "{right}");
        std::fs::write(&file, SMALL.replacen(right, wrong, 1)).unwrap();
        let out = cnsim(&["check", &file]);
        let said = text(&out);
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains(key), "{said}");
        assert_eq!(said.matches("bad.toml:").count(), 1, "{said}");
    }
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        &["reproduce", "nothing"][..],
        &["run", "no-such"],
        &["run", "/no/such.toml"],
        &["run", "single-hop", "--scheme", "qcn"],
        &["run", "single-hop", "--set", "x"],
        &["run", "single-hop", "--set", "hotspot.rate=fast"],
        &["run", "single-hop", "--condition", "sunny"],
        &["explain", "qnc-2pt"],
        &["explain", "aggregat_throughput"],
        &["frobnicate"],
        &["bench", "w9"],
        &["bench", "--schemes", "w9"],
        &["bench", "w1", "--duration", "soon"],
        &["bench", "--schemes", "--rounds", "0"],
        &["headroom", "--rate", "10"],
        &["headroom", "--response", "2 s"],
        &["verify", "/no/such.json"],
        &["new", "a b"],
        &["reproduce", "B07", "--only", "zzz"],
        &[
            "run", "single-hop", "--set", "run.duration=900 s", "--set", "topology.hosts=5000", "--set",
            "topology.ports=5000",
        ],
    ] {
        let out = cnsim(args);
        let said = text(&out);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
        assert!(!said.contains("panicked") && said.len() > 20, "{args:?}: {said}");
    }
}

#[test]
fn a_new_scenario_checks_and_runs() {
    let folder = Folder::new("new");
    let file = folder.file("mine.toml");
    let out = cnsim(&["new", "mine"]);
    assert!(out.status.success());
    std::fs::write(&file, &out.stdout).unwrap();
    let out = cnsim(&["check", &file]);
    assert!(out.status.success(), "{}", text(&out));
    assert!(text(&out).contains("no problem"), "{}", text(&out));
}

#[test]
fn every_note_counts() {
    let folder = Folder::new("notes");
    let rates: Vec<String> = (1..=10).map(|r| format!("\"0.{r:02} Gb/s\"")).collect();
    let many = SMALL
        .replace("\"hotspot.rate\" = [", &format!("\"hotspot.rate\" = [{}, ", rates.join(", ")))
        .replace("[run]", "[switch]\nshare = \"150 KB\"\n[run]");
    let said = text(&cnsim(&["check", &folder.write("many.toml", &many)]));
    let notes = said.lines().filter(|l| l.starts_with("note: hotspot")).count();
    let counted: usize = said.split("no error, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(notes == 8 && counted > 9, "{said}");
    assert!(said.contains(&format!("note: and {} more", counted - notes)), "{said}");
}

fn small(folder: &Folder) -> String {
    folder.write("small.toml", SMALL)
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn run_writes_results_that_verify_on_any_number_of_threads() {
    let folder = Folder::new("run");
    let file = small(&folder);
    let mut prints = Vec::new();
    for threads in ["1", "2", "8"] {
        let out = folder.file(&format!("out{threads}"));
        let o = cnsim(&[
            "run", &file, "--case=hotspot 1 Gb/s, PAUSE on, ecm", "--seeds=2", "--threads", threads, "--out",
            &out, "--json", "--quiet",
        ]);
        assert!(o.status.success(), "{}", text(&o));
        let result: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
        assert_eq!(result["schema"], 1);
        assert_eq!(result["runs"][0]["metrics"]["aggregate_throughput"]["unit"], "Gb/s");
        prints.push(result["runs"][0]["fingerprint"].to_string());
        let series = result["runs"][0]["series"][0].as_str().unwrap();
        assert!(folder.0.join(format!("out{threads}")).join(series).is_file());
    }
    assert!(prints.windows(2).all(|w| w[0] == w[1]));
    let results = folder.file("out1/results.json");
    let o = cnsim(&["verify", &results]);
    assert!(o.status.success() && text(&o).contains("same bits"), "{}", text(&o));
    let mut broken = json(Path::new(&results));
    broken["runs"][0]["seed"] = 2.into();
    std::fs::write(folder.file("broken.json"), broken.to_string()).unwrap();
    let o = cnsim(&["verify", &folder.file("broken.json")]);
    assert_eq!(o.status.code(), Some(3), "{}", text(&o));
    let o = cnsim(&["compare", &results, &folder.file("out8/results.json")]);
    assert!(text(&o).contains("2 runs equal"), "{}", text(&o));
}

#[test]
fn settings_on_the_command_line_have_their_effect() {
    let folder = Folder::new("set");
    let file = small(&folder);
    let value = |sets: &[&str], metric: &str| -> f64 {
        let out = folder.file("out");
        let mut args =
            vec!["run", file.as_str(), "--out", out.as_str(), "--json", "--quiet", "--series", "none"];
        for s in sets {
            args.extend(["--set", s]);
        }
        let o = cnsim(&args);
        assert!(o.status.success(), "{}", text(&o));
        let r: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
        r["runs"][0]["metrics"][metric]["value"].as_f64().unwrap()
    };
    let base = value(&[], "hot_port_throughput");
    assert!(value(&["hotspot.rate=0 Gb/s"], "hot_port_throughput") < base - 0.3);
    assert!(value(&["workload.load=20 %"], "aggregate_throughput") < 10.0);
    assert!(value(&["assumptions.source-queue=20"], "source_discards") >= value(&[], "source_discards"));
    // By its last word, too.
    for key in ["topology.link_delay", "link_delay"] {
        let later = value(&[&format!("{key}=5 us")], "mean_latency");
        assert!(later > value(&[], "mean_latency") + 8.0, "{key}");
    }
    let out = folder.file("out");
    let runs = |more: &[&str]| {
        let o = cnsim(&[&["run", &file, "--json", "--quiet", "--seeds", "1", "--out", &out], more].concat());
        assert!(o.status.success(), "{more:?}: {}", text(&o));
        let r: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
        let one = |r: &serde_json::Value| {
            ["condition", "pause", "scheme", "seed"].map(|k| r[k].to_string().replace('"', "")).join("/")
        };
        r["runs"].as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let two = "hotspot 1 Gb/s/on/none/1 hotspot 1 Gb/s/on/ecm/1";
    assert_eq!(runs(&["--scheme", "none,ecm", "--only", "1 Gb/s, PAUSE on"]), two);
    assert_eq!(
        runs(&["--pause", "on", "--set", "hotspot.rate=1 Gb/s"]),
        two,
        "a key that is set wins over the matrix"
    );
    assert_eq!(runs(&["--case", "mine/small, hotspot 1 Gb/s, PAUSE on, ECM"]), "hotspot 1 Gb/s/on/ecm/1");
    let strange = ["--scheme", "fecn", "--pause", "off", "--condition", "hotspot 1 Gb/s", "--seed", "7"];
    assert_eq!(runs(&strange), "hotspot 1 Gb/s/off/fecn/7", "beside the matrix");
    for (named, set) in [
        ("--condition=hotspot 1 Gb/s", "hotspot.rate=2 Gb/s"),
        ("--case=hotspot 1 Gb/s, PAUSE on, ecm", "hotspot.rate=2 Gb/s"),
        ("--case=hotspot 1 Gb/s, PAUSE on, ecm", "pause.mode=off"),
    ] {
        let said = text(&cnsim(&["run", &file, named, "--set", set, "--out", &out]));
        assert!(
            said.contains("--set makes another case") && said.contains("leave out"),
            "{named}, {set}: {said}"
        );
    }
    let same = runs(&["--case", "hotspot 1 Gb/s, PAUSE on, ecm", "--set", "hotspot.rate=1Gb/s"]);
    assert_eq!(same, "hotspot 1 Gb/s/on/ecm/1");
    let none = cnsim(&["run", &file, "--case", "hotspot 9 Gb/s, PAUSE on, ecm", "--out", &out]);
    let said = text(&none);
    assert!(
        none.status.code() == Some(2) && said.contains("no such case") && said.contains("PAUSE on, none"),
        "{said}"
    );
}

#[test]
fn gd_of_zero_is_no_congestion_management_and_schemes_help() {
    let folder = Folder::new("gd");
    let file = small(&folder);
    let drops = |scheme: &str, sets: &[&str]| -> f64 {
        let out = folder.file("out");
        let mut args = vec![
            "run",
            file.as_str(),
            "--scheme",
            scheme,
            "--pause",
            "off",
            "--out",
            out.as_str(),
            "--json",
            "--quiet",
            "--series",
            "none",
        ];
        for s in sets {
            args.extend(["--set", s]);
        }
        let o = cnsim(&args);
        assert!(o.status.success(), "{}", text(&o));
        let r: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
        r["runs"][0]["metrics"]["aggregate_throughput"]["value"].as_f64().unwrap()
    };
    let none = drops("none", &[]);
    for scheme in ["qcn-2pt", "ecm"] {
        let off = drops(scheme, &["scheme.params.gd=0"]);
        assert!((off / none - 1.0).abs() < 2e-3, "{scheme}: {off} against {none}");
    }
}

#[test]
fn reproduce_writes_all_files_and_resumes() {
    let folder = Folder::new("reproduce");
    let out = folder.file("out");
    let args =
        ["reproduce", "B07/single-hop", "--only", "2 Gb/s, PAUSE off, none", "--seeds", "2", "--out", &out];
    let o = cnsim(&args);
    assert!(o.status.success(), "{}", text(&o));
    assert!(text(&o).contains("82.41"), "{}", text(&o));
    let first = std::fs::read_to_string(folder.file("out/numbers.csv")).unwrap();
    assert!(first.starts_with("study,scenario,condition,pause,scheme,metric,unit,published,measured,ci95_low,ci95_high,pi95_low,pi95_high,seeds,verdict,note\n"));
    assert!(first.contains("B07,single-hop,hotspot 2 Gb/s,off,none,aggregate_throughput,Gb/s,82.41,"));
    assert!(json(&folder.0.join("out/results.json"))["runs"].as_array().unwrap().len() == 2);
    assert!(std::fs::metadata(folder.file("out/report.html")).unwrap().len() < 8_000_000);
    // The second call finds the runs in the store; a broken one is run again.
    let runs: Vec<_> = std::fs::read_dir(folder.file("out/runs"))
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    assert_eq!(runs.len(), 2);
    std::fs::write(&runs[0], "{").unwrap();
    let o = cnsim(&args);
    assert!(o.status.success() && text(&o).contains("run again"), "{}", text(&o));
    assert_eq!(first, std::fs::read_to_string(folder.file("out/numbers.csv")).unwrap());
    let o = cnsim(&["explain", "B07/single-hop/none/aggregate_throughput", "--out", &out]);
    assert!(text(&o).contains("published 82.41: agrees"), "{}", text(&o));
}

#[test]
fn a_new_published_row_adds_its_run() {
    let folder = Folder::new("published");
    let file = folder.file("p.csv");
    let head = "study,scenario,condition,pause,scheme,metric,value,unit,note\n";
    std::fs::write(&file, format!("{head}B07,single-hop,hotspot 1 Gb/s,off,none,dropped_frames,250000,frames,\nB07,single-hop,sunny,off,none,overhead,1,Mb/s,\n")).unwrap();
    let out = folder.file("out");
    let o = cnsim(&[
        "reproduce", "B07", "--published", &file, "--only", "hotspot 1 Gb/s, PAUSE off, none", "--seeds",
        "2", "--out", &out,
    ]);
    assert!(o.status.success(), "{}", text(&o));
    let numbers = std::fs::read_to_string(folder.file("out/numbers.csv")).unwrap();
    assert!(numbers.contains("hotspot 1 Gb/s,off,none,dropped_frames,frames,250000,"), "{numbers}");
    assert!(text(&o).contains("Published, not run: 1"), "{}", text(&o));
    std::fs::write(&file, format!("{head}B07,single-hop,x,off,none,overhead,many,Mb/s,\n")).unwrap();
    let o = cnsim(&["reproduce", "B07", "--published", &file, "--out", &out]);
    assert_eq!(o.status.code(), Some(2));
    assert!(text(&o).contains("p.csv:2:36: `value`: `many` is not a number"), "{}", text(&o));
}

/// A reader that goes away is no panic.
#[test]
fn a_closed_pipe_is_quiet() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_cnsim"))
        .args(["tool", "schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&out.stderr).contains("panicked"), "{}", text(&out));
}

#[test]
fn tells() {
    for (args, words) in [
        (&["list", "schemes"][..], &["none", "ecm", "qcn-2pt", "qcn-3pt", "bcn"][..]),
        (&["list", "metrics", "--json"], &["aggregate_throughput"]),
        (&["list", "assumptions"], &["limiter-position"]),
        (&["list"], &["B07/single-hop"]),
        (&["list", "studies"], &["Bergamasco"]),
        (&["explain", "ECM"], &["Q_eq", "24 KB", "Oversampling", "false"]),
        (&["explain", "dctcp"], &["9 MB", "rate H2"]),
        (&["explain", "single-hop"], &["H0*", "hotspot 0.5 Gb/s"]),
        (&["explain", "time_paused"], &["XOFF", "0.5"]),
        (&["tool", "schema"], &["json-schema.org", "hotspot"]),
        (&["headroom", "--rate", "100 Gb/s", "--length", "300"], &["Headroom", "100 Gb/s"]),
        (&["headroom", "--rate", "100 Gb/s"], &["Annex O", " 71560 ", "vendors' short rule", " 19464 "]),
        (&["headroom", "--rate", "50 Gb/s"], &[" 13214 ", "needs --interface and --response"]),
        (
            &["headroom", "--rate", "50 Gb/s", "--interface", "100 ns", "--response", "1 us"],
            &["Annex O ", " 16874 "],
        ),
        (&["headroom", "--rate", "400 Gb/s"], &[" 111044 ", "--interface sets it"]),
        (&["tool", "doctor"], &["cores"]),
        (&["--version"], &["cnsim 0.1.0"]),
    ] {
        let o = cnsim(args);
        let said = text(&o);
        assert!(o.status.success(), "{args:?}: {said}");
        for w in words {
            assert!(said.contains(w) || *w == "false", "{args:?}: `{w}` is not in {said}");
        }
    }
}

#[test]
fn a_condition_brings_its_group_s_scheme() {
    let run = |args: &[&str]| {
        let mut all =
            vec!["run", "C07/parking-lot", "--quiet", "--seeds=2", "--set", "run.duration=2 ms", "--out"];
        let folder = Folder::new(&format!("group-{}", args.len()));
        let out = folder.file("out");
        all.push(&out);
        all.extend(args);
        text(&cnsim(&all))
    };
    let own = run(&["--condition", "sampling rate 2%"]);
    assert!(own.starts_with("C07/parking-lot, sampling rate 2%, PAUSE global, bcn, seeds 1 to 2"), "{own}");
    let asked = run(&["--condition", "sampling rate 2%", "--scheme", "none"]);
    assert!(asked.contains("sampling rate 2%, PAUSE global, none"), "{asked}");
    let wrong = run(&["--condition", "sampling often"]);
    assert!(wrong.contains("does not fit"), "{wrong}");
    // A value that the condition sets, and that cannot be.
    let wrong = text(&cnsim(&["run", "next/tcp-single-hop", "--condition", "TCP, hotspot 0.5"]));
    assert!(wrong.contains("the condition `TCP, hotspot 0.5` sets hotspot.rate: "), "{wrong}");
    assert!(wrong.contains("did you mean \"TCP, hotspot 0.5 Gb/s\"?"), "{wrong}");
}

#[test]
fn figures_name_what_is_recorded() {
    let figure = |series: &str| format!("[[figure]]\ntitle = \"x\"\nseries = [\"{series}\"]\n[topology]");
    refused(("[topology]", &figure("hot_queu")), &["figure.0.series", "did you mean `hot_queue`"]);
    refused(("[topology]", &figure("flow H0>H1")), &["`H0>H1` is not recorded", "record.flows"]);
    refused(("[topology]", "[[figure]]\ntitle = \"x\"\n[topology]"), &["shows nothing"]);
}

/// Drift is a factor to QCN and a rate to ECM: whoever runs one of them says what that one reads, and what nobody reads that
/// runs is refused.
#[test]
fn parameters_concern_the_schemes_that_run() {
    let folder = Folder::new("parameters");
    let file = folder.file("mine.toml");
    std::fs::write(&file, SMALL.replace("\"none\", \"ecm\"", "\"none\", \"ecm\", \"qcn-2pt\"")).unwrap();
    let out = folder.file("out");
    let run = |scheme: &[&str], set: &str| {
        let all = [&["run", &file, "--set", set, "--out", &out, "--series", "none"], scheme].concat();
        let found = cnsim(&all);
        (found.status.code(), text(&found))
    };
    for (scheme, drift) in [("qcn-2pt", "1.005"), ("ecm", "1 Mb/s")] {
        let (code, said) = run(&["--scheme", scheme], &format!("scheme.params.drift={drift}"));
        assert_eq!(code, Some(0), "{said}");
    }
    let (code, said) = run(&["--scheme", "ecm"], "scheme.params.drift=1.005");
    assert!(code == Some(2) && said.contains("has no unit (as ecm reads it)"), "{said}");
    let (code, said) = run(&["--scheme", "qcn-2pt"], "scheme.params.tagging=0.1");
    assert!(code == Some(2) && said.contains("qcn-2pt has no such parameter"), "{said}");
    let (code, said) = run(&["--scheme", "fecn"], "scheme.params.tagging=0.1");
    assert_eq!(code, Some(0), "beside the matrix: {said}");
    let (code, said) = run(&[], "scheme.params.tagging=0.1");
    assert!(code == Some(2) && said.contains("none, ecm, qcn-2pt has no such parameter"), "{said}");
    let sweep = ["sweep", &file, "--over", "hotspot.rate=1 Gb/s,2 Gb/s", "--seeds", "1", "--out", &out];
    let found = cnsim(&[&sweep[..], &["--scheme", "qcn-2pt", "--set", "scheme.params.drift=1.005"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found));
}

#[test]
fn bench_compares_every_scheme_with_none() {
    let o = cnsim(&["bench", "--schemes", "w1", "--rounds", "1", "--duration", "0.2 ms", "--json"]);
    assert!(o.status.success(), "{}", text(&o));
    let said: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    let rows = said["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|r| r["scheme"].as_str().unwrap()).collect();
    let registry = cnsim_schemes::registry();
    let known = registry.iter().filter(|e| !cnsim_scenario::needs_queue_pairs(e));
    let known: Vec<&str> = known.map(|e| e.name.as_str()).collect();
    assert_eq!(names, known);
    let speed = |r: &serde_json::Value| r["mhops_per_cpu_s"].as_f64().unwrap();
    for r in rows {
        assert!(r["name"] == "w1" && r["cpu_s"].as_f64().unwrap() > 0.0, "{r}");
        let share = r["share_of_none"].as_f64().unwrap();
        assert!((share - speed(r) / speed(&rows[0])).abs() < 1e-9, "{r}");
    }
    // Ten hosts at 85 % of 10 Gb/s send 1417 frames of 1500 B in 0.2 ms, over two links each.
    let hops = rows[0]["packet_hops"].as_u64().unwrap();
    assert!((2600..2900).contains(&hops), "{hops}");
    assert_eq!(rows[0]["scheme"], "none");
}

/// What stands in a result or a scenario file can be asked for.
#[test]
fn counters_and_parameters_are_explained() {
    for (what, words) in [
        ("false_positives", ["discards", "bcn, ecm, e2cm-src, e2cm-dst"]),
        ("CPID_changes", ["another congestion point became the owner", "ecm"]),
        ("q_eq", ["Z07: 75 KB", "Q_eq"]),
        ("scheme.params.fbhat_g", ["qcn-hsp", "0 to 1"]),
        ("pfc", ["PFC: priority flow control", "pause.mode"]),
        ("fct", ["flow completion time", "completion_time_p99"]),
        ("completion_time_p99", ["99th percentile of the completion time", "over all finite flows"]),
        ("scheme.dcqcn.k_min", ["K_min", "5 KB"]),
        ("[[traffic]]", ["traffic.name", "keys of [workload]"]),
        ("weighed", ["oversampling", "B07: weighed"]),
        ("significance", ["cnsim compare", "undecided"]),
        ("A6", ["--over A6", "explain oversampling"]),
        ("nack", ["a frame is missing", "go-back-n"]),
        ("window", ["transport.window", "congestion window"]),
        ("telemetry", ["exact | quantised", "transport.telemetry"]),
        ("initial_rate", ["before its first cut", "workload.initial_rate"]),
        ("per-flow", ["limiter holds", "host.queues"]),
    ] {
        let out = cnsim(&["explain", what]);
        let said = text(&out);
        assert_eq!(out.status.code(), Some(0), "{said}");
        assert!(words.iter().all(|w| said.contains(w)), "{what}: {said}");
    }
    let out = cnsim(&["explain", "false_positve"]);
    assert!(out.status.code() == Some(2) && text(&out).contains("cnsim explain false_positives"));
    let said = text(&cnsim(&["explain", "ecn"]));
    assert!(said.contains("explicit congestion notification"), "{said}");
    let said = text(&cnsim(&["explain", "e2cm-src"]));
    assert!(said.contains("probes_returned") && !said.contains("width of QCN's"), "{said}");
}
