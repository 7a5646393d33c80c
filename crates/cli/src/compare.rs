//! `cnsim compare`: two results.json, run by run. Runs are matched by study, scenario, condition, PAUSE, scheme, seed, and by
//! the keys that vary among the runs of a file which have all these in common: the points of a sweep.

use crate::points::{Point, by_point, swept};
use crate::request::wanted;
use crate::{Done, Failure};
use crate::{look, paired};
use cnsim_measure::quantity::Quantity;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Results;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Largest number of printed lines of each kind; `--json` has all.
const TOLD: usize = 20;

/// Differences of two results.
#[derive(Default)]
struct Found {
    equal: usize,
    only: [Vec<String>; 2],
    /// Case, key, first, second.
    configuration: BTreeSet<[String; 4]>,
    fingerprints: Vec<String>,
    /// Records of places that differ: when a port was in XOFF, what a shared buffer held, whether the network stood.
    places: Vec<String>,
    rows: Vec<Row>,
}

/// A quantity of a case that differs: means over the seeds that both have, and the mean of the paired differences.
struct Row {
    case: String,
    quantity: String,
    unit: String,
    means: [f64; 2],
    difference: Summary,
}

impl Row {
    /// 95 % interval of the mean difference; none of one seed, and where a seed lacks the quantity.
    fn interval(&self) -> Option<(f64, f64)> {
        self.difference.paired().filter(|(low, high)| low.is_finite() && high.is_finite())
    }
}

/// The file that is meant: a folder stands for its results.json.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("results.json") } else { path.into() }
}

pub(crate) fn compare(paths: &[PathBuf], baseline: Option<&str>, metrics: &[String], as_json: bool) -> Done {
    let files: Vec<PathBuf> = paths.iter().map(|p| file_of(p)).collect();
    let (read, wrong): (Vec<_>, Vec<_>) = files.iter().map(|f| Results::read(f)).partition(Result::is_ok);
    if !wrong.is_empty() {
        let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
        return Err(Failure::Input(wrong.join("\n")));
    }
    let read: Vec<Results> = read.into_iter().flatten().collect();
    for (all, file) in read.iter().zip(&files) {
        if all.runs.is_empty() {
            return Err(Failure::input(format!(
                "{}: holds no run: there is nothing to compare",
                file.display()
            )));
        }
    }
    notes(&read, &files).iter().for_each(|n| eprintln!("note: {n}"));
    if let Some(baseline) = baseline {
        return paired::paired(read, baseline, &wanted(metrics)?, as_json);
    }
    let ([x, y], [a, b]) = (&read[..], &files[..]) else {
        return Err(Failure::input(
            "one result is compared with nothing\n  help: name a second one, or a case of this one: --baseline none",
        ));
    };
    let found = differences(x, y);
    if as_json {
        println!("{}", told(&found));
    } else {
        println!("{}", text(&found, [a, b]));
    }
    let same = found.only.iter().all(Vec::is_empty)
        && found.configuration.is_empty()
        && found.fingerprints.is_empty()
        && found.places.is_empty()
        && found.rows.is_empty();
    if same { Ok(()) } else { Err(Failure::Differs("the results differ".into())) }
}

/// Notes on the files themselves.
fn notes(read: &[Results], files: &[PathBuf]) -> Vec<String> {
    let mut notes = Vec::new();
    for (all, file) in read.iter().zip(files) {
        if all.sum() != all.checksum {
            notes.push(format!("{} was changed after it was written", file.display()));
        }
        notes.extend(all.partial.map(|p| format!("{}: {}", file.display(), p.text())));
    }
    let versions: Vec<u32> = read.iter().map(|r| r.result_version).collect();
    if let [x, y] = versions[..]
        && x != y
    {
        notes.push(format!("results of versions {x} and {y}"));
    }
    notes
}

/// All numbers of a run: name -> value and unit.
fn quantities(run: &RunRecord) -> BTreeMap<String, (f64, String)> {
    let mut all: BTreeMap<String, (f64, String)> =
        run.metrics.0.iter().map(|(k, q)| (k.clone(), (q.value, q.unit.to_string()))).collect();
    all.extend(run.counters.iter().map(|(k, v)| (k.clone(), (*v as f64, String::new()))));
    for (port, facts) in &run.ports {
        let facts = serde_json::to_value(facts).unwrap_or_default();
        for (k, v) in facts.as_object().into_iter().flatten() {
            all.insert(format!("{k} of {port}"), (v.as_f64().unwrap_or(f64::NAN), String::new()));
        }
    }
    for t in &run.traffic {
        let of =
            |(id, q): (&String, &Quantity)| (format!("{id} of {}", t.name), (q.value, q.unit.to_string()));
        all.extend(t.metrics.0.iter().map(of));
    }
    all.insert("packet_hops".into(), (run.packet_hops as f64, String::new()));
    all
}

fn differences(x: &Results, y: &Results) -> Found {
    let keys = swept([x, y]);
    let (left, right) = (by_point(x, &keys), by_point(y, &keys));
    let mut found = Found::default();
    let points: BTreeSet<&Point> = left.keys().chain(right.keys()).collect();
    let none = BTreeMap::new();
    for point in points {
        let values: String = point.1.iter().map(|(k, v)| format!(", {k} = {v}")).collect();
        let case = format!("{}{values}", point.0);
        let (mine, theirs) = (left.get(point).unwrap_or(&none), right.get(point).unwrap_or(&none));
        for (side, (one, other)) in [(mine, theirs), (theirs, mine)].into_iter().enumerate() {
            let lonely = one.keys().filter(|k| !other.contains_key(k));
            found.only[side].extend(lonely.map(|(seed, _)| format!("{case}, seed {seed}")));
        }
        let pairs: Vec<(&RunRecord, &RunRecord)> =
            mine.iter().filter_map(|(k, a)| Some((*a, *theirs.get(k)?))).collect();
        let mut numbers: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
        for (a, b) in &pairs {
            let (p, q) = (a.config.settings(), b.config.settings());
            let names: BTreeSet<&String> =
                p.keys().chain(q.keys()).filter(|k| p.get(*k) != q.get(*k)).collect();
            let text = |v: Option<&String>| v.cloned().unwrap_or_else(|| "none".into());
            let mut alike = names.is_empty();
            for k in names {
                found.configuration.insert([case.clone(), k.clone(), text(p.get(k)), text(q.get(k))]);
            }
            if a.fingerprint != b.fingerprint {
                alike = false;
                found.fingerprints.push(format!("{case}, seed {}", a.seed));
            }
            let (p, q) = (a.of_places(), b.of_places());
            let of = p.keys().chain(q.keys()).filter(|k| p.get(*k) != q.get(*k)).collect::<BTreeSet<_>>();
            let stood = (a.frozen != b.frozen).then(|| "where the network stood".to_string());
            let told = of.into_iter().cloned().chain(stood).collect::<Vec<_>>();
            alike &= told.is_empty();
            found.places.extend(told.iter().map(|t| format!("{case}, seed {}: {t}", a.seed)));
            let (p, q) = (quantities(a), quantities(b));
            alike &= p == q;
            for name in p.keys().chain(q.keys()).collect::<BTreeSet<_>>() {
                let of = |all: &BTreeMap<String, (f64, String)>| all.get(name).map_or(f64::NAN, |v| v.0);
                let unit = p.get(name).or(q.get(name)).map_or("", |v| &v.1).to_string();
                numbers.entry((name.clone(), unit)).or_default().push((of(&p), of(&q)));
            }
            found.equal += usize::from(alike);
        }
        for ((quantity, unit), values) in numbers {
            if values.iter().all(|(a, b)| a.to_bits() == b.to_bits()) {
                continue;
            }
            let mean = |of: fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / values.len() as f64;
            let paired: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
            if let Some(difference) = Summary::of(&paired) {
                let means = [mean(|v| v.0), mean(|v| v.1)];
                found.rows.push(Row { case: case.clone(), quantity, unit, means, difference });
            }
        }
    }
    found
}

/// A number, or a dash where there is none.
fn number(value: f64) -> String {
    if value.is_finite() { digits(value) } else { "-".into() }
}

fn told(found: &Found) -> Value {
    let finite = |v: f64| v.is_finite().then_some(v);
    let row = |r: &Row| {
        json!({
            "case": r.case, "quantity": r.quantity, "unit": r.unit, "first": finite(r.means[0]), "second": finite(r.means[1]),
            "difference": finite(r.difference.mean), "ci95": r.interval(), "seeds": r.difference.n,
        })
    };
    let change = |c: &[String; 4]| json!({"case": c[0], "key": c[1], "first": c[2], "second": c[3]});
    json!({
        "schema": 1, "equal": found.equal, "only_first": found.only[0], "only_second": found.only[1],
        "configuration": found.configuration.iter().map(change).collect::<Vec<_>>(),
        "fingerprints": found.fingerprints, "places": found.places, "differences": found.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// The printed differences.
fn text(found: &Found, files: [&Path; 2]) -> String {
    let mut out = Vec::new();
    let [a, b] = [&found.only[0], &found.only[1]];
    out.push(format!(
        "{} runs equal, {} only in {}, {} only in {}",
        found.equal,
        a.len(),
        files[0].display(),
        b.len(),
        files[1].display()
    ));
    let mut list = |title: String, lines: &[String]| {
        if lines.is_empty() {
            return;
        }
        out.push(format!("\n{title}"));
        lines.iter().take(TOLD).for_each(|l| out.push(format!("  {l}")));
        if lines.len() > TOLD {
            out.push(format!("  and {} more (--json lists all)", lines.len() - TOLD));
        }
    };
    list(format!("Only in {}", files[0].display()), a);
    list(format!("Only in {}", files[1].display()), b);
    let changed =
        |c: &[String; 4]| format!("{}: {} is {} in the first, {} in the second", c[0], c[1], c[2], c[3]);
    list("Configuration changed".into(), &found.configuration.iter().map(changed).collect::<Vec<_>>());
    list("Other fingerprints".into(), &found.fingerprints);
    list("Other records of places over time".into(), &found.places);
    if found.rows.is_empty() {
        return out.join("\n");
    }
    let row = |r: &Row| {
        let half = r.interval().map_or_else(String::new, |(l, h)| format!(" ± {}", digits((h - l) / 2.0)));
        vec![
            r.case.clone(),
            if r.unit.is_empty() { r.quantity.clone() } else { format!("{} [{}]", r.quantity, r.unit) },
            number(r.means[0]),
            number(r.means[1]),
            format!("{}{half}", number(r.difference.mean)),
            r.difference.n.to_string(),
        ]
    };
    let header = ["case", "quantity", "first", "second", "difference", "seeds"];
    let shown: Vec<Vec<String>> = found.rows.iter().take(TOLD * 10).map(row).collect();
    out.push(format!("\n{}", look::table(&header, &shown, false)));
    if found.rows.len() > shown.len() {
        out.push(format!("and {} more (--json lists all)", found.rows.len() - shown.len()));
    }
    out.push(
        "A difference is the mean over the seeds that both have, second less first, ± its 95 % interval."
            .into(),
    );
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::PortFacts;
    use cnsim_measure::xoff::Xoff;
    use cnsim_runs::record::{RunRecord, SharedFacts};

    fn results(seeds: u64, of: impl Fn(u64, &mut RunRecord)) -> Results {
        let run = |seed: u64| {
            let facts = PortFacts { xoffs: 4, ..PortFacts::default() };
            let mut r = RunRecord {
                seed,
                metrics: [("overhead", 1.0)].into(),
                counters: BTreeMap::from([("cuts".into(), 2)]),
                ports: BTreeMap::from([("S>H1".into(), facts)]),
                ..RunRecord::default()
            };
            of(seed, &mut r);
            r
        };
        Results::new("run x", None, (1..=seeds).map(run).collect())
    }

    /// All numbers of a run are compared: metrics, counters, facts of ports, packet-hops.
    #[test]
    fn every_number_of_a_run_is_compared() {
        type Change = fn(&mut RunRecord);
        let changes: [(&str, Change); 4] = [
            ("overhead", |r| r.metrics.insert("overhead", 3.0)),
            ("cuts", |r| r.counters.extend([("cuts".into(), 4)])),
            ("xoffs of S>H1", |r| r.ports.get_mut("S>H1").into_iter().for_each(|p| p.xoffs = 6)),
            ("packet_hops", |r| r.packet_hops = 2),
        ];
        let same = results(3, |_, _| {});
        for (name, change) in changes {
            let other = results(3, |seed, r| {
                if seed == 2 {
                    change(r)
                }
            });
            let found = differences(&same, &other);
            assert_eq!((found.equal, found.rows.len()), (2, 1), "{name}");
            let row = &found.rows[0];
            assert_eq!((row.quantity.as_str(), row.difference.n), (name, 3));
            // One of three seeds has 2 more.
            assert!((row.means[1] - row.means[0] - 2.0 / 3.0).abs() < 1e-12, "{name}");
            assert!((row.difference.mean - 2.0 / 3.0).abs() < 1e-12, "{name}");
        }
        assert_eq!(differences(&same, &same).equal, 3);
    }

    /// Records of places are compared, too: two files that differ there alone are not equal.
    #[test]
    fn records_of_places_are_compared() {
        let with = |percent: u8| {
            results(2, |seed, r| {
                let percent = if seed == 2 { percent } else { 0 };
                r.xoff = vec![Xoff { port: "S>H1".into(), tier: "hosts".into(), percent: vec![50, percent] }];
                r.shared = vec![SharedFacts {
                    switch: "S".into(),
                    pool: (u64::from(percent), 9),
                    ..SharedFacts::default()
                }];
            })
        };
        let found = differences(&with(3), &with(4));
        assert_eq!((found.equal, found.rows.len(), found.places.len()), (1, 0, 2));
        assert!(
            found.places[0].ends_with("seed 2: XOFF of S>H1")
                && found.places[1].ends_with("shared buffer of S")
        );
        assert_eq!(told(&found)["places"].as_array().map(Vec::len), Some(2));
        assert!(differences(&with(3), &with(3)).places.is_empty());
    }

    #[test]
    fn runs_of_one_file_alone_are_named() {
        let found = differences(&results(3, |_, _| {}), &results(2, |_, _| {}));
        assert_eq!((found.equal, found.only[0].len(), found.only[1].len()), (2, 1, 0));
        assert!(found.only[0][0].ends_with("seed 3"));
        let other = differences(
            &results(1, |_, _| {}),
            &results(1, |_, r| r.config = json!({"host.fifo": "7"}).into()),
        );
        assert_eq!((other.equal, other.configuration.len()), (0, 1));
    }

    #[test]
    fn what_is_told_by_hand() {
        let files = [Path::new("a.json"), Path::new("b.json")];
        let lines = |found: &Found| -> Vec<String> {
            let text = text(found, files);
            let plain = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
            plain.filter(|l| !l.is_empty() && !l.starts_with('─')).collect()
        };
        let change = |seed: u64, r: &mut RunRecord| {
            r.metrics.insert("overhead", [3.0, 4.0, 8.0][seed as usize - 1]);
            if seed == 3 {
                r.fingerprint.insert("events".into(), "ff".into());
                r.counters.remove("cuts");
            }
        };
        let found = differences(&results(3, |_, _| {}), &results(3, change));
        let case = "/, , PAUSE ,";
        assert_eq!(
            lines(&found),
            [
                "0 runs equal, 0 only in a.json, 0 only in b.json",
                "Other fingerprints",
                &format!("{case} , seed 3"),
                "case quantity first second difference seeds",
                &format!("{case} cuts 2 - - 3"),
                // 2, 3 and 7 more: 4 on average, the standard deviation is sqrt 7, and 4.3027 sqrt(7 / 3) = 6.57245.
                &format!(
                    "{case} overhead [Mb/s] 1 5 4 ± {} 3",
                    digits(4.302_652_729_911_275 * (7.0_f64 / 3.0).sqrt())
                ),
                "A difference is the mean over the seeds that both have, second less first, ± its 95 % interval.",
            ]
        );
        assert_eq!(told(&found)["differences"][0]["ci95"], Value::Null, "a seed lacks it");
        let some = |n: usize| (0..n).map(|i| format!("run {i}")).collect::<Vec<String>>();
        let key = |i: usize| ["c".to_string(), format!("k{i}"), "1".into(), "2".into()];
        let row = |_| Row {
            case: "c".into(),
            quantity: "q".into(),
            unit: String::new(),
            means: [1.0, 2.0],
            difference: Summary::of(&[1.0]).unwrap(),
        };
        let of = |n: usize, rows: usize| Found {
            only: [some(n), some(n + 1)],
            configuration: (0..n).map(key).collect(),
            rows: (0..rows).map(row).collect(),
            ..Found::default()
        };
        let twenty = lines(&of(20, 200));
        assert_eq!(twenty[0], "0 runs equal, 20 only in a.json, 21 only in b.json");
        assert_eq!(
            (&twenty[1][..], &twenty[2][..], &twenty[22][..]),
            ("Only in a.json", "run 0", "Only in b.json")
        );
        assert_eq!(
            (&twenty[43][..], &twenty[44][..]),
            ("and 1 more (--json lists all)", "Configuration changed")
        );
        assert_eq!(twenty[45], "c: k0 is 1 in the first, 2 in the second");
        assert_eq!(twenty.iter().filter(|l| **l == "c q 1 2 1 1").count(), 200);
        assert_eq!(twenty.iter().filter(|l| l.ends_with("(--json lists all)")).count(), 1);
        let more = lines(&of(23, 207));
        assert!(
            more.contains(&"and 3 more (--json lists all)".into())
                && more.contains(&"and 7 more (--json lists all)".into()),
            "{more:?}"
        );
    }

    #[test]
    fn notes_of_the_files() {
        let files = ["a.json", "b.json"].map(PathBuf::from);
        let mut read = [results(1, |_, _| {}), results(1, |_, _| {})];
        assert_eq!(notes(&read, &files), Vec::<String>::new());
        let (theirs, y) = (read[0].result_version, &mut read[1]);
        y.command = "run y".into();
        y.result_version += 1;
        let partial = cnsim_runs::results::Partial { finished: 1, of: 2 };
        y.partial = Some(partial);
        assert_eq!(
            notes(&read, &files),
            [
                "b.json was changed after it was written".to_string(),
                format!("b.json: {}", partial.text()),
                format!("results of versions {theirs} and {}", theirs + 1)
            ]
        );
    }
}
