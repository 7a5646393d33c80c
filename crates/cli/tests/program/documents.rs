//! The documents as a reader follows them: files are saved, commands are typed, and each must work.

use crate::common::Folder;
use std::path::Path;
use std::process::Command;

fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What a reader does, in order.
#[derive(Debug, PartialEq)]
enum Step {
    Save(String, String),
    Type(Vec<String>),
}

/// Files after a line with "ave this as `NAME`", and the lines of `sh` blocks that start with `cnsim`.
fn steps(text: &str) -> Vec<Step> {
    let mut all = Vec::new();
    let mut name = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((_, rest)) = line.split_once("ave this as `") {
            name = rest.split('`').next().map(str::to_owned);
        }
        let Some(kind) = line.strip_prefix("```").filter(|k| !k.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        match (kind, name.take()) {
            ("sh", _) => all.extend(block.iter().filter_map(|l| words(l)).map(Step::Type)),
            (_, Some(name)) => all.push(Step::Save(name, block.join("\n") + "\n")),
            _ => {}
        }
    }
    all
}

/// The words after `cnsim`, quotes as in a shell, without the comment.
fn words(line: &str) -> Option<Vec<String>> {
    let rest = line.strip_prefix("cnsim ")?;
    let (mut all, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in rest.chars() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted && word.is_empty() => break,
            ' ' if !quoted => {
                if !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        all.push(word);
    }
    Some(all)
}

/// Follows a document in a folder of its own; returns what was said.
fn follow(path: &str, folder: &Folder) -> String {
    let mut said = String::new();
    let steps = steps(&document(path));
    assert!(steps.iter().any(|s| matches!(s, Step::Type(_))), "{path} has no command");
    for step in steps {
        match step {
            Step::Save(name, text) => {
                folder.write(&name, &text);
            }
            Step::Type(mut args) => {
                let into = args.iter().position(|word| word == ">").map(|at| args.split_off(at));
                let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
                    .args(&args)
                    .current_dir(&folder.0)
                    .env("NO_COLOR", "1")
                    .output()
                    .unwrap();
                let text = crate::common::text(&out);
                assert!(out.status.success(), "{path}: cnsim {}\n{text}", args.join(" "));
                if let Some([_, file]) = into.as_deref() {
                    folder.write(file, &String::from_utf8_lossy(&out.stdout));
                }
                said += &text;
            }
        }
    }
    said
}

#[test]
fn steps_of_a_document() {
    let text = "Save this as `a.toml`:\n\n```toml\nname = \"a\"\n```\n\n```sh\ncnsim run a.toml --set b=\"1 Gb/s\"   # why\nmake test\n```\n\n```text\nnothing\n```\n";
    let typed = ["run", "a.toml", "--set", "b=1 Gb/s"].map(str::to_owned).to_vec();
    assert_eq!(steps(text), [Step::Save("a.toml".into(), "name = \"a\"\n".into()), Step::Type(typed)]);
}

/// Mean over the seeds of what `column` has in the lines of a table that begin so and hold these words.
fn mean(table: &str, begins: &str, words: &[&str], column: usize) -> f64 {
    let fits =
        |l: &&str| l.starts_with(begins) && words.iter().all(|w| l.split(',').skip(4).any(|f| f == *w));
    let values: Vec<f64> =
        table.lines().filter(fits).map(|l| l.split(',').nth(column).unwrap().parse().unwrap()).collect();
    assert!(!values.is_empty(), "{begins} {words:?}");
    values.iter().sum::<f64>() / values.len() as f64
}

/// Figures of the first experiment as the documents write them, from the folder of its results.
struct Figures {
    /// Time in PAUSE, per cent; then 99 % completion of background, victim and incast, us: without and with DCQCN.
    paused: [String; 2],
    background: [String; 2],
    victim: [String; 2],
    incast: [String; 2],
}

impl Figures {
    fn of(folder: &Folder) -> Self {
        let (numbers, traffic) = (folder.read("mine/numbers.csv"), folder.read("mine/traffic.csv"));
        let both = |of: &dyn Fn(&str) -> String| ["none", "dcqcn"].map(of);
        let tail = |name: &str| {
            both(&|scheme| {
                let us = mean(&traffic, &format!("default,on,{scheme},"), &[name, "completion_time_p99"], 7);
                format!("{us:.0}")
            })
        };
        let paused = |scheme: &str| {
            format!("{:.1}", mean(&numbers, &format!("mine,incast,default,on,{scheme},time_paused,"), &[], 8))
        };
        Self {
            paused: both(&paused),
            background: tail("background"),
            victim: tail("victim"),
            incast: tail("incast"),
        }
    }
}

/// A document says each of these things, whatever its line breaks.
fn says(path: &str, phrases: &[String]) {
    let text = document(path).split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in phrases {
        assert!(text.contains(phrase.as_str()), "{path} does not have: {phrase}");
    }
}

/// 99 % completion of a name at the values of the sweep, us.
fn swept(folder: &Folder, name: &str) -> [String; 3] {
    let table = folder.read("resets/sweep.csv");
    let us = |reset: &str| {
        mean(&table, &format!("{reset},mine,incast,default,on,dcqcn,completion_time_p99,"), &[name], 8)
    };
    ["300us", "100us", "20us"].map(|reset| format!("{:.0}", us(reset)))
}

/// The first experiment, its picture and its sweep show what README and gallery say of them.
#[test]
fn the_first_experiment_of_the_readme() {
    let folder = Folder::new("readme");
    follow("README.md", &folder);
    assert_eq!(folder.read("incast.toml"), document("docs/tutorial/incast.toml"), "one experiment");
    let Figures { paused, background, victim, incast } = Figures::of(&folder);
    says(
        "README.md",
        &[
            format!(
                "from {} to {} %. Yet the victim takes {} us instead of {} us",
                paused[0], paused[1], victim[1], victim[0]
            ),
            format!("| senders' time in PAUSE | {} % | {} % |", paused[0], paused[1]),
            format!("| background, 99 % completion | {} us | {} us |", background[0], background[1]),
            format!("| victim, completion | {} us | {} us |", victim[0], victim[1]),
            format!("| incast, 99 % completion | {} us | {} us |", incast[0], incast[1]),
            format!("With 20 us the victim takes {} us", swept(&folder, "victim")[2]),
            format!("background's tail stays at {} us", swept(&folder, "background")[2]),
        ],
    );
    says(
        "docs/gallery/README.md",
        &[
            format!("Its 1 MB takes {} us, and 86 us without other traffic", victim[0]),
            format!("from {} to {} %. Yet the victim takes {} us", paused[0], paused[1], victim[1]),
            format!("falls from {} to {} us", background[0], background[1]),
        ],
    );
    let number = |text: &String| text.parse::<f64>().unwrap();
    assert!(number(&swept(&folder, "victim")[2]) < number(&victim[0]), "less than under PAUSE alone");
    assert!(number(&background[1]) < 0.6 * number(&background[0]), "the tail is halved");
    let report = folder.read("mine/report.html");
    for part in ["99 % completion by traffic", "S1&gt;L1", "99 % completion", "Traffic by name"] {
        assert!(report.contains(part), "{part}");
    }
    let first = report.split("<section").nth(1).unwrap();
    assert!(first.contains("data-route=\"mine/incast\""), "the report opens with the experiment");
    // The victim alone in the network.
    let flows = folder.read("mine/fct.csv");
    let ideal = mean(&flows, "default,on,none,1,H10,H5,", &["victim"], 9) / 1e3;
    assert_eq!(format!("{ideal:.0}"), "86");
    // What the picture's text says: the port to H0 idles under DCQCN, while the victim is held at its least rate.
    let series = |of: &str| {
        let files = std::fs::read_dir(folder.0.join("mine/series")).unwrap();
        let named = |name: &str| name.contains("dcqcn") && name.contains(of);
        let path =
            files.map(|f| f.unwrap().path()).find(|p| named(&p.file_name().unwrap().to_string_lossy()));
        let text = std::fs::read_to_string(path.unwrap_or_else(|| panic!("{of}"))).unwrap();
        let values = text.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().parse().unwrap());
        values.collect::<Vec<f64>>()[40..64].to_vec()
    };
    assert!(series("hot_queue").iter().all(|kb| *kb < 5.0), "empty from 0.4 to 0.65 ms");
    let rate = series("flow");
    assert!(rate.iter().sum::<f64>() / (rate.len() as f64) < 2_000.0, "about 1 Gb/s: {rate:?}");
}

/// Captions of the gallery that give figures of studies, beside the runs of seed 1 that were drawn.
#[test]
fn the_gallery_of_studies() {
    let folder = Folder::new("gallery");
    let run = |scenario: &str, condition: &str, schemes: &str, out: &str| {
        let args = ["run", scenario, "--only", condition, "--scheme", schemes, "--seed", "1", "--quiet"];
        let said = Command::new(env!("CARGO_BIN_EXE_cnsim"))
            .args(args)
            .args(["--out", out])
            .current_dir(&folder.0)
            .output()
            .unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    };
    let probes = ["qcn-hsp", "ecm", "qcn-2pt"];
    run("R07/single-hop-10", "hotspot 0.5 Gb/s", &probes.join(","), "r07");
    let numbers = folder.read("r07/numbers.csv");
    let recovery = probes.map(|scheme| {
        let begins = format!("R07,single-hop-10,hotspot 0.5 Gb/s,on,{scheme},recovery_time,");
        format!("{:.0}", mean(&numbers, &begins, &[], 8))
    });
    let control = "control loop delay 500 us";
    run("M08/symmetric-4-to-1", control, "qcn-serial-hai,qcn-802.1Qau", "m08");
    let values = |scheme: &str, what: &str| -> Vec<f64> {
        let name = format!("500-us-pause-off-{scheme}-seed1-{what}");
        let mut files = std::fs::read_dir(folder.0.join("m08/series")).unwrap().map(|f| f.unwrap().path());
        let path = files.find(|p| p.to_string_lossy().contains(&name)).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect()
    };
    // A value is of 1 ms; the port is full for some ms before the first messages come.
    let full = ["qcn-serial-hai", "qcn-802.1Qau"].map(|scheme| {
        let queue = values(scheme, "hot_queue");
        assert!(queue[100..].iter().all(|kb| *kb < 50.0) && queue[100..].contains(&0.0), "{scheme}");
        let again = values(scheme, "hot_port_throughput").iter().skip(10).position(|rate| *rate >= 9.9);
        again.unwrap() + 11
    });
    says(
        "docs/gallery/README.md",
        &[
            format!(
                "in {} ms, ECM in {} ms, and QCN without probes in {} ms",
                recovery[0], recovery[1], recovery[2]
            ),
            format!("it takes {} to {} ms until the port is full again", full[0], full[1]),
            "oscillates between 0 and 50 KB".to_string(),
        ],
    );
}

#[test]
fn the_tutorial() {
    let folder = Folder::new("tutorial");
    let said = follow("docs/tutorial.md", &folder);
    assert!(said.contains("no problem"), "{said}");
    assert_eq!(folder.read("incast.toml"), document("docs/tutorial/incast.toml"), "one experiment");
    let report = folder.read("mine/report.html");
    assert!(report.contains("What the victim H10&gt;H5 gets"));
    let Figures { paused, background, victim, .. } = Figures::of(&folder);
    let [reset_victim, reset_background, reset_incast] =
        ["victim", "background", "incast"].map(|name| swept(&folder, name));
    says(
        "docs/tutorial.md",
        &[
            format!("from {} to {} %", paused[0], paused[1]),
            format!("from {} to {} us", background[0], background[1]),
            format!("the victim takes {} us under DCQCN, and {} us under PAUSE alone", victim[1], victim[0]),
            format!("{}, {} and {} us", reset_victim[0], reset_victim[1], reset_victim[2]),
            format!("{}, {} and {} us", reset_background[0], reset_background[1], reset_background[2]),
            format!("falls from {} to {} us", reset_incast[0], reset_incast[2]),
        ],
    );
    assert!(folder.read("resets/sweep.html").contains("Sweep: An incast, a victim and a background"));
}

#[test]
fn the_tasks() {
    for (task, file) in [
        ("compare", "compared/report.html"),
        ("sweep", "rates/sweep.html"),
        ("headroom", "lossless/results.json"),
        ("explain-pause", "stopped/pauses.csv"),
        ("capture", "seen/captures/seen-default-pause-on-dcqcn-seed1.pcapng"),
        ("import", "imported/report.html"),
        ("all-reduce", "mine/collectives.csv"),
    ] {
        let folder = Folder::new(task);
        let said = follow(&format!("docs/tasks/{task}.md"), &folder);
        assert!(folder.0.join(file).is_file(), "{task}: {file}");
        // Examples are sound; what another simulator's files describe may be idle for most of its time.
        let notes = ["note: ", "UNFINISHED", "BEFORE YOU CONCLUDE"];
        let notes = &notes[..if task == "import" { 2 } else { 3 }];
        // A watchdog of a short run is faster than one of the field, and says so.
        let due = |l: &str| l.starts_with("note: ") && l.contains("the watchdogs' times are scaled down");
        let noted = |l: &str| notes.iter().any(|n| l.starts_with(n)) && !due(l);
        assert!(!said.lines().any(noted), "{task}: {said}");
        // The best of three algorithms of an imported workload is the one that the task names.
        for row in ["ring none 0.730", "double-tree none 1.05", "direct none 0.720"]
            .iter()
            .filter(|_| task == "import")
        {
            let seen =
                said.lines().any(|l| l.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(row));
            assert!(seen && said.contains("training 0: training by direct, 3 ranks"), "{row}: {said}");
        }
        // What the task on comparing says of pairs is seen in its own example.
        let verdicts = ["higher", "lower", "undecided"].iter().filter(|v| said.contains(**v)).count();
        assert!(task != "compare" || (verdicts > 1 && said.contains("beside none")), "{said}");
    }
}

/// Times and ratios of the page on all-reduce are those of its run.
#[test]
fn the_times_of_all_reduce() {
    let folder = Folder::new("times-of-all-reduce");
    let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
        .args(["run", "modern/collectives", "--out", "allreduce", "--quiet"])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", crate::common::text(&out));
    let rounds = folder.read("allreduce/collectives.csv");
    // A condition has two commas of its own.
    let column = |name: &str| rounds.lines().next().unwrap().split(',').position(|c| c == name).unwrap() + 2;
    let us = |algorithm: &str, scheme: &str, size: &str| {
        mean(&rounds, &format!("\"{algorithm}, {size}\",on,{scheme},"), &[], column("time_ns")) / 1e3
    };
    let sizes = ["64 KB", "1 MB", "8 MB"];
    let fabrics = ["leaf-spine", "clos", "rails"];
    let rows = fabrics.iter().flat_map(|fabric| {
        let of = [
            ("ring, no scheme", "ring", "none"),
            ("double tree, no scheme", "double-tree", "none"),
            ("halving-doubling, no scheme", "halving-doubling", "none"),
            ("halving-doubling, DCQCN", "halving-doubling", "dcqcn"),
            ("halving-doubling, HPCC", "halving-doubling", "hpcc"),
        ];
        of.map(|(told, algorithm, scheme)| {
            let cells =
                sizes.map(|size| format!("{:.1}", us(&format!("{fabric}, {algorithm}"), scheme, size)));
            format!("| {fabric}, {told} | {} |", cells.join(" | "))
        })
    });
    let rows: Vec<String> = rows.collect();
    says("docs/tasks/all-reduce.md", &rows);
    let large = |algorithm: &str, scheme: &str| us(&format!("leaf-spine, {algorithm}"), scheme, "8 MB");
    let bus = mean(&rounds, "\"leaf-spine, ring, 8 MB\",on,none,", &[], column("bus_GB/s"));
    let halving = |scheme: &str| large("halving-doubling", scheme) / large("halving-doubling", "none");
    says(
        "docs/tasks/all-reduce.md",
        &[
            format!("Its bus bandwidth is {bus:.1} GB/s of {:.1}", 50.0 * 1000.0 / 1048.0),
            format!(
                "takes {:.1} times as long as the ring",
                large("halving-doubling", "none") / large("ring", "none")
            ),
            format!("{:.1} times as long, HPCC {:.1} times", halving("dcqcn"), halving("hpcc")),
        ],
    );
    for (algorithm, scheme) in
        [("ring", "dcqcn"), ("ring", "hpcc"), ("double-tree", "dcqcn"), ("double-tree", "hpcc")]
    {
        for fabric in fabrics {
            let of = |scheme| us(&format!("{fabric}, {algorithm}"), scheme, "8 MB");
            let more = of(scheme) / of("none");
            assert!(more < 1.05, "{fabric}, {algorithm}, {scheme}: {more}");
        }
    }
    let first = |fabric: &str, size: &str| {
        let all = ["ring", "double-tree", "halving-doubling"];
        let of = |algorithm: &str| us(&format!("{fabric}, {algorithm}"), "none", size);
        all.into_iter().min_by(|a, b| of(a).total_cmp(&of(b))).unwrap()
    };
    assert_eq!(sizes.map(|size| first("leaf-spine", size)), ["halving-doubling", "double-tree", "ring"]);
    assert_eq!(sizes.map(|size| first("clos", size)), ["halving-doubling", "double-tree", "ring"]);
    assert_eq!(sizes.map(|size| first("rails", size)), ["halving-doubling"; 3]);
}
