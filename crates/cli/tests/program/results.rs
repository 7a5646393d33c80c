//! What is written is read: `verify` and `compare`, and which results may stand where.

use crate::common::{Folder, cnsim, text};
use cnsim_fabric::Reliability;
use cnsim_scenario::{Case, EMBEDDED, Scenario};
use cnsim_units::Time;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A small scenario, fast to run.
const SMALL: &str = r#"study = "mine"
name = "small"
condition = "hotspot {hotspot.rate}"
[topology]
hosts = 4
[hotspot]
host = "H1"
start = "0.2 ms"
stop = "0.8 ms"
[run]
duration = "1 ms"
seeds = 3
[record]
bin = "0.1 ms"
ports = ["S>H2"]
[matrix]
"hotspot.rate" = ["1 Gb/s", "0.5 Gb/s"]
pause = ["off"]
schemes = ["none", "ecm"]
"#;

/// Runs the program in a test's folder: exit code, and all that it said.
fn go(args: &[&str]) -> (i32, String) {
    let done = cnsim(args);
    let said = text(&done);
    assert!(!said.contains("panicked"), "{said}");
    (done.status.code().unwrap(), said)
}

fn load(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

/// One case of every embedded scenario, cut short: verified by the engine that wrote it, and the model gives the same bits.
#[test]
fn results_of_every_embedded_scenario_verify_by_both_engines() {
    let folder = Folder::new("verify-all");
    let out = folder.file("out");
    for (i, (id, _)) in EMBEDDED.iter().enumerate() {
        let scenario = Scenario::load(id, &[]).unwrap();
        let cases = scenario.cases();
        let case = &cases[(i * 7) % cases.len()];
        // Less than a millisecond of it, or as long as the hotspot of some row lasts: what a row says goes before what is set.
        let rows = || scenario.groups.iter().flat_map(|g| &g.rows).flatten();
        let late = rows().filter(|r| r.0 == "hotspot.stop").map(|r| r.1.parse::<Time>().unwrap()).max();
        // A least timeout is below the duration.
        let least = |c: &Case| match scenario.ready(c).unwrap().settings.reliability() {
            Some(Reliability::Tcp(tcp)) => tcp.rto_min * 2,
            _ => Time::ZERO,
        };
        let timeouts = cases.iter().map(least).max().unwrap_or_default();
        let duration = late.unwrap_or(Time::from_us(400)).max(timeouts).to_string();
        let mut sets = BTreeMap::from([("run.duration", duration.as_str())]);
        for key in scenario.flat().leaves.keys() {
            let short = ["hotspot.", "traffic.", "workload."].iter().any(|t| key.starts_with(t));
            let end = if late.is_some() && key.starts_with("hotspot.") { &duration } else { "0.3 ms" };
            match key.rsplit('.').next().unwrap() {
                "start" if short => drop(sets.insert(key, "0.1 ms")),
                "stop" if short => drop(sets.insert(key, end)),
                "from" if key.starts_with("fault.") => drop(sets.insert(key, "0.1 ms")),
                "to" if key.starts_with("fault.") => drop(sets.insert(key, "0.3 ms")),
                _ if key == "watchdog.detect" => drop(sets.insert(key, "0.1 ms")),
                _ if key == "record.bin" => drop(sets.insert(key, "auto")),
                _ if key == "record.from" => drop(sets.insert(key, "0.1 ms")),
                _ if key == "record.to" => drop(sets.insert(key, "0.4 ms")),
                _ => {}
            }
        }
        let sets: Vec<String> = sets.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let mut args = vec!["run", id, "--condition", &case.id.condition, "--scheme", &case.id.scheme];
        args.extend(["--pause", &case.id.pause, "--seed", "1", "--quiet", "--threads", "1", "--out", &out]);
        args.extend(["--series", ["key", "none", "all"][i % 3]]);
        sets.iter().for_each(|s| args.extend(["--set", s]));
        let (code, said) = go(&args);
        assert_eq!(code, 0, "{args:?}: {said}");
        for engine in [&[][..], &["--engine", "model"]] {
            let file = folder.file("out/results.json");
            let (code, said) = go(&[&["verify", &file, "--threads", "1"], engine].concat());
            assert!(code == 0 && said.contains("the same bits"), "{id}, {engine:?}: {said}");
        }
    }
}

/// A matrix by the model is no run of the store, gives the fast engine's bits, and says in results and report how it was run.
#[test]
fn a_matrix_runs_by_the_model() {
    let folder = Folder::new("by-model");
    let file = folder.write("small.toml", SMALL);
    let go_to = |out: &str, more: &[&str]| {
        let out = folder.file(out);
        let (code, said) = go(&[&["run", &file, "--out", &out], more].concat());
        assert_eq!(code, 0, "{said}");
        said
    };
    go_to("out", &[]);
    let fast = load(&folder, "out/results.json");
    let report = folder.read("out/report.html");
    assert!(!report.contains("ran by the model"));
    // What the store has is not simulated, and the line on speed says so.
    let again = go_to("out", &[]);
    assert!(
        again.contains("\n0 packet-hops simulated in") && again.contains("others from the store)"),
        "{again}"
    );
    let said = go_to("out", &["--engine", "model"]);
    assert!(said.contains("0 of 12 runs taken from the store"), "{said}");
    assert!(!said.contains("from the store)"), "{said}");
    let model = load(&folder, "out/results.json");
    let runs = |r: &Value| r["runs"].as_array().unwrap().clone();
    for (a, b) in runs(&fast).iter().zip(&runs(&model)) {
        assert_eq!((&a["fingerprint"], &a["metrics"]), (&b["fingerprint"], &b["metrics"]));
        assert!(a.get("by_model").is_none());
        assert_eq!(b["by_model"], "the model's engine was asked for");
    }
    assert_eq!(runs(&model).len(), 12);
    let says = "12 of 12 runs: the model's engine was asked for.";
    let report = folder.read("out/report.html");
    assert!(report.replace("&#39;", "'").contains(says), "the method page of the report");
    let (_, said) = go(&[
        "run",
        &file,
        "-v",
        "--case",
        "hotspot 1 Gb/s, PAUSE off, ecm",
        "--seed",
        "1",
        "--engine",
        "model",
        "--out",
        &folder.file("one"),
    ]);
    assert!(said.contains("what ran by the model"), "{said}");
}

/// Anything edited is refused, or the difference is named; what a program adds to the checksum does not help.
#[test]
fn verify_names_what_was_edited() {
    let folder = Folder::new("verify-edits");
    let file = folder.write("small.toml", SMALL);
    let case = "--case=hotspot 1 Gb/s, PAUSE off, ecm";
    let args = ["run", &file, case, "--seed", "1", "--quiet", "--out", &folder.file("out")];
    assert_eq!(go(&args).0, 0);
    let good = load(&folder, "out/results.json");
    let verify = || go(&["verify", &folder.file("out/results.json")]);
    assert!(verify().1.contains("1 runs verified, "), "{}", verify().1);
    type Edit = fn(&mut Value);
    let edits: &[(Edit, i32, &str)] = &[
        (
            |r| r["runs"][0]["metrics"]["overhead"]["value"] = json!(7.25),
            3,
            "metric overhead is 7.25 Mb/s, the run gives",
        ),
        (|r| r["runs"][0]["metrics"]["overhead"]["unit"] = json!("Gb/s"), 3, "metric overhead"),
        (
            |r| drop(r["runs"][0]["metrics"].as_object_mut().unwrap().remove("overhead")),
            3,
            "overhead is missing",
        ),
        (|r| r["runs"][0]["metrics"]["more"] = json!({"value": 1.0, "unit": ""}), 3, "metric more is 1 "),
        (|r| r["runs"][0]["counters"] = json!({}), 3, "counter"),
        (|r| r["runs"][0]["ports"]["S>H2"]["dropped"] = json!(1e9), 3, "port S>H2"),
        (|r| r["runs"][0]["packet_hops"] = json!(1), 3, "packet_hops is 1"),
        (|r| r["runs"][0]["seed"] = json!(2), 3, "fingerprint"),
        (|r| r["runs"][0]["fingerprint"]["frames"] = json!("0"), 3, "fingerprint of frames is 0"),
        (|r| r["runs"][0]["fingerprint"]["more"] = json!("0"), 3, "fingerprint of more"),
        (|r| r["runs"][0]["condition"] = json!("hotspot 9 Gb/s"), 3, "it is of mine/small, hotspot 9 Gb/s,"),
        (|r| r["runs"][0]["scheme"] = json!("bcn"), 3, "bcn, its configuration of mine/small"),
        (|r| r["runs"][0]["study"] = json!("B07"), 3, "it is of B07/small"),
        (|r| r["runs"][0]["config"]["topology.hosts"] = json!("5"), 3, "fingerprint"),
        (
            |r| drop(r["runs"][0]["config"].as_object_mut().unwrap().remove("host.fifo")),
            3,
            "host.fifo is missing",
        ),
        (|r| r["runs"][0]["config"]["host.feedback_delay"] = json!("0 us "), 3, "host.feedback_delay"),
        (|r| r["runs"][0]["series"][0] = json!("../x.csv"), 3, "no such series"),
        (|r| r["version"] = json!("9"), 3, "changed after it was written"),
        (|r| r["command"] = json!("run other"), 3, "changed after it was written"),
        (|r| r["runs"] = json!([]), 2, "holds no run"),
        (|r| r["runs"][0]["seed"] = json!("x"), 2, "invalid type"),
        (|r| r["runs"][0]["sed"] = json!(1), 2, "unknown field `sed`"),
        (|r| r["runs"][0]["config"]["topology.host"] = json!("5"), 2, "unknown key"),
        (|r| r["runs"][0]["ports"]["S>H2"]["more"] = json!(1.5), 2, "unknown field `more`"),
        (|r| r["runs"][0]["config"]["topology.hosts"] = json!(5), 2, "neither a text nor a list"),
        (|r| r["runs"][0]["config"]["topology.hosts"] = json!("99999999999"), 2, "topology.hosts"),
        (|r| r["runs"][0]["config"] = json!([]), 2, "not an object"),
        (|r| r["schema"] = json!(2), 2, "schema 1"),
        (|r| drop(r.as_object_mut().unwrap().remove("checksum")), 2, "missing field `checksum`"),
    ];
    for (edit, code, words) in edits {
        let mut bad = good.clone();
        edit(&mut bad);
        assert_ne!(bad, good);
        folder.write("out/results.json", &bad.to_string());
        let (found, said) = verify();
        assert!(found == *code && said.contains(words), "{words}: exit {found}: {said}");
    }
    // What is said of traffic by name.
    let named = "name = \"named\"\n[topology]\nhosts = 4\n[[traffic]]\nname = \"fan\"\nhosts = \"H1..H3\"\nkind = \"incast\"\nsize = \"9 KB\"\ndestinations = [\"H0\"]\n[run]\nduration = \"0.1 ms\"\n";
    let named = folder.write("named.toml", named);
    assert_eq!(go(&["run", &named, "--quiet", "--out", &folder.file("named")]).0, 0);
    let fan = load(&folder, "named/results.json");
    let edits: [(Edit, &str); 3] = [
        (
            |r| r["runs"][0]["traffic"][0]["metrics"]["completed_transfers"]["value"] = json!(2.0),
            "traffic fan: metric completed_transfers is 2 , the run gives 3",
        ),
        (|r| r["runs"][0]["traffic"][0]["name"] = json!("victim"), "traffic is [\"victim\"], the run gives"),
        (|r| drop(r["runs"][0].as_object_mut().unwrap().remove("traffic")), "traffic is [], the run gives"),
    ];
    for (edit, words) in edits {
        let mut bad = fan.clone();
        edit(&mut bad);
        folder.write("named/results.json", &bad.to_string());
        let (found, said) = go(&["verify", &folder.file("named/results.json")]);
        assert!(found == 3 && said.contains(words), "{words}: exit {found}: {said}");
    }
    // Layout is no content.
    folder.write("out/results.json", &format!("{good:#}"));
    assert_eq!(verify().0, 0, "{}", verify().1);
    // The series beside it count; results alone verify with a word.
    let series = good["runs"][0]["series"].as_array().unwrap().iter().map(|s| s.as_str().unwrap());
    let series = series.clone().find(|s| s.contains("hot_queue")).unwrap();
    let path = folder.file(&format!("out/{series}"));
    let edited = std::fs::read_to_string(&path).unwrap().replacen(",0,", ",1,", 1);
    std::fs::write(&path, edited).unwrap();
    let (code, said) = verify();
    assert!(code == 3 && said.contains("another series"), "{said}");
    std::fs::remove_dir_all(folder.file("out/series")).unwrap();
    let (code, said) = verify();
    assert!(code == 0 && said.contains("were not compared"), "{said}");
    // Hours of work are asked about first.
    let mut huge = good.clone();
    for (key, value) in [("run.duration", "900 s"), ("topology.hosts", "5000"), ("topology.ports", "5000")] {
        huge["runs"][0]["config"][key] = json!(value);
    }
    folder.write("out/results.json", &huge.to_string());
    let (code, said) = verify();
    assert!(code == 2 && said.contains("--force"), "{said}");
}

#[test]
fn compare_tells_every_difference() {
    let folder = Folder::new("compare");
    let file = folder.write("small.toml", SMALL);
    let reproduce = |out: &str, more: &[&str]| {
        let out = folder.file(out);
        let args = [&["run", &file, "--quiet", "--out", &out][..], more].concat();
        let (code, said) = go(&args);
        assert_eq!(code, 0, "{said}");
    };
    reproduce("a", &[]);
    let (a, b) = (folder.file("a/results.json"), folder.file("b.json"));
    let (code, said) = go(&["compare", &a, &a]);
    assert!(code == 0 && said.contains("12 runs equal, 0 only in"), "{said}");
    let good = load(&folder, "a/results.json");
    let compare = |edit: &dyn Fn(&mut Value)| {
        let mut other = good.clone();
        edit(&mut other);
        folder.write("b.json", &other.to_string());
        go(&["compare", &a, &b])
    };
    // A fingerprint alone; a run in one file only; a configuration.
    let (code, said) = compare(&|r| r["runs"][0]["fingerprint"]["frames"] = json!("0"));
    assert!(code == 3 && said.contains("11 runs equal") && said.contains("Other fingerprints"), "{said}");
    let (code, said) = compare(&|r| drop(r["runs"].as_array_mut().unwrap().remove(0)));
    assert!(code == 3 && said.contains("11 runs equal, 1 only in") && said.contains("seed 1"), "{said}");
    let (code, said) = compare(&|r| r["runs"][0]["config"]["host.fifo"] = json!("7"));
    assert!(code == 3 && said.contains("host.fifo is 10100 in the first, 7 in the second"), "{said}");
    // A metric: one row for all seeds, the mean of paired differences and its interval.
    let (code, said) = compare(&|r| {
        for (i, run) in r["runs"].as_array_mut().unwrap().iter_mut().take(3).enumerate() {
            let value = &mut run["metrics"]["aggregate_throughput"]["value"];
            *value = json!(value.as_f64().unwrap() + 1.0 + i as f64);
        }
    });
    let rows: Vec<&str> = said.lines().filter(|l| l.contains("aggregate_throughput [Gb/s]")).collect();
    // Differences 1, 2 and 3: mean 2, half width 4.303 / sqrt 3.
    assert!(
        code == 3 && rows.len() == 1 && rows[0].contains("2 ± 2.484") && rows[0].ends_with("undecided"),
        "{said}"
    );
    // A sweep is matched by what it varies.
    let swept = ["--over", "scheme.params.q_eq=24 KB,48 KB", "--scheme", "ecm", "--seeds", "2", "--quiet"];
    let (code, said) = go(&[&["sweep", &file, "--out", &folder.file("s")][..], &swept].concat());
    assert_eq!(code, 0, "{said}");
    let s = folder.file("s/results.json");
    let (code, said) = go(&["compare", &s, &s]);
    assert!(code == 0 && said.contains("4 runs equal, 0 only"), "{said}");
    let one = ["--over", "scheme.params.q_eq=24 KB,30 KB", "--scheme", "ecm", "--seeds", "2", "--quiet"];
    go(&[&["sweep", &file, "--out", &folder.file("t")][..], &one].concat());
    let (code, said) = go(&["compare", &s, &folder.file("t/results.json")]);
    assert!(code == 3 && said.contains("2 runs equal, 2 only in"), "{said}");
    assert!(said.contains("q_eq = 48 KB, seed 2") && said.contains("q_eq = 30 KB, seed 1"), "{said}");
    // JSON alone on standard output.
    let done = cnsim(&["compare", &s, &folder.file("t/results.json"), "--json"]);
    let all: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((all["equal"].as_u64(), all["only_first"].as_array().unwrap().len()), (Some(2), 2));
    // A folder stands for its results; what is not there is named.
    assert_eq!(go(&["compare", &s, &folder.file("s")]).0, 0);
    let (code, said) = go(&["compare", &s, &folder.file("no.json")]);
    assert!(code == 2 && said.contains("no such file") && !said.contains("os error"), "{said}");
    let (code, said) = go(&["compare", &s]);
    assert!(code == 2 && said.contains("--baseline none"), "{said}");
    // Against a baseline: a scheme, and a value of what was swept; without lines where nothing differs.
    let (code, said) = go(&["compare", &folder.file("a"), "--baseline", "none"]);
    assert!(
        code == 0 && said.contains("ecm beside none") && said.contains("equal under every seed"),
        "{said}"
    );
    let (code, said) =
        go(&["compare", &s, "--baseline", "scheme.params.q_eq=24KB", "--metric", "mean_hot_queue"]);
    assert!(code == 0 && said.contains("48 KB beside scheme.params.q_eq = 24KB"), "{said}");
    assert!(said.contains("mean_hot_queue [KB]") && !said.contains("overhead"), "{said}");
    let (code, said) = go(&["compare", &s, "--baseline", "nobody"]);
    assert!(code == 2 && said.contains("does not distinguish any runs"), "{said}");
}

#[test]
fn finished_results_stay() {
    let folder = Folder::new("stay");
    let file = folder.write("small.toml", SMALL);
    let out = folder.file("out");
    let runs = |name: &str| load(&folder, name)["runs"].as_array().unwrap().len();
    let series = |name: &str| -> Vec<String> {
        let all = std::fs::read_dir(folder.file(name)).unwrap();
        all.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(go(&["run", &file, "--quiet", "--out", &out]).0, 0);
    let (numbers, files) = (folder.read("out/numbers.csv"), series("out/series"));
    // Fewer of them go to a folder beside; those of another verb, too.
    let few = ["run", &file, "--case", "hotspot 1 Gb/s, PAUSE off, ecm", "--seed", "1"];
    let (code, said) = go(&[&few[..], &["--out", &out]].concat());
    assert!(code == 0 && said.contains("keeps the results of") && said.contains("out/run"), "{said}");
    let sweep =
        ["sweep", &file, "--over", "host.fifo=10,20", "--scheme", "ecm", "--seeds", "1", "--out", &out];
    let (code, said) = go(&sweep);
    assert!(code == 0 && said.contains("keeps the results of"), "{said}");
    assert_eq!((runs("out/results.json"), runs("out/run/results.json")), (12, 1));
    assert_eq!((numbers, files), (folder.read("out/numbers.csv"), series("out/series")));
    // More replaces.
    assert_eq!(go(&["run", &file, "--seeds", "4", "--quiet", "--out", &out]).0, 0);
    assert_eq!(runs("out/results.json"), 16);
    // A run takes the place of the run before, with its series.
    let before = series("out/run/series");
    let named = ["--set", "record.flows=[H0>H2]", "--set", "record.ports=[]"];
    assert_eq!(go(&[&few[..], &["--out", &out, "--quiet"], &named].concat()).0, 0);
    let now = series("out/run/series");
    assert!(
        now.iter().any(|f| f.contains("flow-H0-H2")) && !now.iter().any(|f| before.contains(f)),
        "{now:?}"
    );
}

#[test]
fn nothing_escapes_the_folder() {
    let folder = Folder::new("escape");
    for (from, to) in [("\"mine\"", "\"../../escaped\""), ("\"small\"", "\"/../x\"")] {
        let file = folder.write("bad.toml", &SMALL.replace(from, to));
        assert_eq!(go(&["run", &file, "--out", &folder.file("in/out")]).0, 2, "{to} is no name");
    }
    let long = "y".repeat(90);
    let text = SMALL.replace("condition = \"hotspot", &format!("condition = \"all ../{long} hotspot"));
    let file = folder.write("bad.toml", &text);
    std::fs::create_dir(folder.file("in")).unwrap();
    let (code, said) = go(&["run", &file, "--quiet", "--out", &folder.file("in/out")]);
    assert_eq!(code, 0, "{said}");
    let names = |dir: &str| -> Vec<String> {
        let all = std::fs::read_dir(folder.file(dir)).unwrap();
        all.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!((names("in"), names(".").len()), (vec!["out".to_string()], 2));
    let (code, said) = go(&["verify", &folder.file("in/out/results.json")]);
    assert_eq!(code, 0, "{said}");
    assert!(folder.read("in/out/numbers.csv").contains(",all ../yy"), "a condition stands as it is");
    // Neither does what a results.json lists as its old series.
    let mut results = load(&folder, "in/out/results.json");
    results["command"] = json!("run x");
    results["runs"].as_array_mut().unwrap().truncate(1);
    results["runs"][0]["series"] = json!(["../../keep.csv", "series/../../../keep.csv"]);
    folder.write("keep.csv", "mine");
    folder.write("in/out/results.json", &results.to_string());
    assert_eq!(go(&["run", &file, "--quiet", "--out", &folder.file("in/out")]).0, 0);
    assert_eq!(folder.read("keep.csv"), "mine");
}

/// A study's file with other settings is another experiment, and the published numbers are not its.
#[test]
fn only_the_studys_own_experiment_is_judged() {
    let folder = Folder::new("other");
    let text = include_str!("../../../../scenarios/B07/single-hop.toml");
    let judge = |name: &str, text: &str| {
        let file = folder.write(name, text);
        let (out, only) = (folder.file("out"), "hotspot 2 Gb/s, PAUSE on, ecm");
        let (code, said) = go(&["run", &file, "--seeds", "1", "--only", only, "--out", &out]);
        assert_eq!(code, 0, "{said}");
        said
    };
    let short = text
        .replace("\"1 s\"", "\"20 ms\"")
        .replace("\"100 ms\"", "\"4 ms\"")
        .replace("\"500 ms\"", "\"12 ms\"");
    assert_ne!(text, short);
    let said = judge("short.toml", &short);
    assert!(said.contains("no verdict: not the study's experiment: "), "{said}");
    assert!(said.contains("run.duration is 20 ms, there 1 s"), "{said}");
    assert!(said.contains("0 published cells agree, 0 are near, 0 differ, 4 cannot be compared"), "{said}");
    let numbers = folder.read("out/numbers.csv");
    assert!(
        numbers.contains("incomparable") && !numbers.contains(",agrees,") && !numbers.contains(",differs,"),
        "{numbers}"
    );
    assert!(!folder.read("out/claims.csv").contains(",yes,"), "{}", folder.read("out/claims.csv"));
    // Words that no run feels make no other experiment.
    let words = text.replace("title = \"", "title = \"My ").replace("seeds = 5", "seeds = 7");
    let said = judge("words.toml", &words);
    assert!(!said.contains("no verdict") && !said.contains("cannot be compared"), "{said}");
    assert!(folder.read("out/numbers.csv").contains(",agrees,"));
}
