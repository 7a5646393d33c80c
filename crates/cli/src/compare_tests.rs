//! Two results, and cases beside a baseline, made up.

use super::*;
use cnsim_measure::PortFacts;
use cnsim_measure::quantity::digits;
use cnsim_measure::traffic::TrafficFacts;
use cnsim_measure::xoff::Xoff;
use cnsim_runs::record::SharedFacts;
use cnsim_scenario::metrics::Id;

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
        ("packet_hops", |r| r.execution.packet_hops = 2),
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
        assert_eq!((row.title().as_str(), row.pairs.difference.n), (name, 3));
        // One of three seeds has 2 more.
        assert!((row.pairs.means[1] - row.pairs.means[0] - 2.0 / 3.0).abs() < 1e-12, "{name}");
        assert!((row.pairs.difference.mean - 2.0 / 3.0).abs() < 1e-12, "{name}");
    }
    assert_eq!(differences(&same, &same).equal, 3);
}

/// Records of places are compared, too: two files that differ there alone are not equal.
#[test]
fn records_of_places_are_compared() {
    let with = |percent: u8| {
        results(2, |seed, r| {
            let percent = if seed == 2 { percent } else { 0 };
            r.xoff = vec![Xoff {
                port: "S>H1".into(),
                tier: "hosts".into(),
                percent: vec![50, percent],
                ..Xoff::default()
            }];
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
        found.places[0].ends_with("seed 2: XOFF of S>H1") && found.places[1].ends_with("shared buffer of S")
    );
    assert_eq!(told(&found)["places"].as_array().map(Vec::len), Some(2));
    assert!(differences(&with(3), &with(3)).places.is_empty());
}

#[test]
fn runs_of_one_file_alone_are_named() {
    let found = differences(&results(3, |_, _| {}), &results(2, |_, _| {}));
    assert_eq!((found.equal, found.only[0].len(), found.only[1].len()), (2, 1, 0));
    assert!(found.only[0][0].ends_with("seed 3"));
    let other =
        differences(&results(1, |_, _| {}), &results(1, |_, r| r.config = json!({"host.fifo": "7"}).into()));
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
            case,
            "metric first second difference verdict",
            "cuts 2 - - not in both",
            // 2, 3 and 7 more: 4 on average, the standard deviation is sqrt 7, and 4.3027 sqrt(7 / 3) = 6.57245.
            &format!(
                "overhead [Mb/s] 1 5 4 ± {} undecided",
                digits(4.302_652_729_911_275 * (7.0_f64 / 3.0).sqrt())
            ),
            "A difference is the mean over 3 seeds, second less first, ± its 95 % interval.",
        ]
    );
    assert_eq!(told(&found)["differences"][0]["ci95"], Value::Null, "a seed lacks it");
    let some = |n: usize| (0..n).map(|i| format!("run {i}")).collect::<Vec<String>>();
    let key = |i: usize| ["c".to_string(), format!("k{i}"), "1".into(), "2".into()];
    let row = |_| Row {
        place: "c".into(),
        own: String::new(),
        base: String::new(),
        name: String::new(),
        id: "q".into(),
        unit: String::new(),
        pairs: Pairs::new(&[((1.0, false), (2.0, false))]).unwrap(),
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
    assert_eq!(twenty.iter().filter(|l| **l == "q 1 2 1 one seed").count(), 200);
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
    assert_eq!(remarks(&read, &files), Vec::<String>::new());
    let (theirs, y) = (read[0].result_version, &mut read[1]);
    y.command = "run y".into();
    y.result_version += 1;
    let partial = cnsim_runs::results::Partial { finished: 1, of: 2 };
    y.partial = Some(partial);
    assert_eq!(
        remarks(&read, &files),
        [
            "b.json was changed after it was written".to_string(),
            format!("b.json: {}", partial.text()),
            format!("results of versions {theirs} and {}", theirs + 1)
        ]
    );
}

/// Seed by seed 10 us less, but over fewer of the flows: no verdict on means, one on what all flows have.
#[test]
fn means_over_different_flows_do_not_decide() {
    let words = |shares: [f64; 2], of_name: [f64; 2]| {
        let one = |scheme: &str, seed: u64, at: usize| {
            let all = |share: f64, mean: f64| {
                [("finished_flows", share), ("completion_time", mean), ("slowdown", mean)].into()
            };
            let mut r = run(scheme, seed, 1.0, false);
            r.metrics = all(shares[at], (seed * 40 - at as u64 * 10) as f64);
            let metrics = all(of_name[at], 1.0);
            r.traffic = vec![TrafficFacts { name: "backup".into(), metrics, ..TrafficFacts::default() }];
            r
        };
        let runs = (1..=3).flat_map(|seed| [one("none", seed, 0), one("ecm", seed, 1)]).collect();
        let Ok((_, rows, _)) = rows(&Results::new("t", None, runs), "none") else { panic!("no rows") };
        let found = rows.iter().find(|r| r.id == "completion_time" && r.name.is_empty());
        let slow = rows.iter().find(|r| r.id == "slowdown" && r.name.is_empty());
        assert_eq!(found.unwrap().pairs.verdict(), slow.unwrap().pairs.verdict());
        found.unwrap().pairs.verdict()
    };
    assert_eq!(words([95.7, 95.7], [100.0, 100.0]), "lower");
    assert_eq!(words([95.7, 93.2], [100.0, 100.0]), "undecided: different flows finished");
    assert_eq!(words([95.0, 95.0], [100.0, 90.0]), "undecided: different flows finished");
}

fn run(scheme: &str, seed: u64, p99: f64, at_least: bool) -> RunRecord {
    let metrics = [(Id::CompletionTimeP99, p99, at_least), (Id::Overhead, 1.0, false)];
    RunRecord {
        case: ["mine", "t", "c", "on", scheme].into(),
        seed,
        metrics: metrics.into_iter().collect(),
        ..RunRecord::default()
    }
}

/// The verdict on a scheme whose tails are these beside a baseline of 100, 120 and 140 us.
fn verdict(tails: [f64; 3], bounds: [bool; 2]) -> &'static str {
    let base = [100.0, 120.0, 140.0];
    let mut runs = Vec::new();
    for seed in 1..=3 {
        runs.push(run("none", seed, base[seed as usize - 1], bounds[0]));
        runs.push(run("ecm", seed, tails[seed as usize - 1], bounds[1]));
    }
    let Ok((_, rows, _)) = rows(&Results::new("t", None, runs), "NONE") else { panic!("no rows") };
    assert_eq!((rows.len(), rows[0].place.as_str(), rows[0].own.as_str()), (2, "mine/t, c, PAUSE on", "ecm"));
    rows.iter().find(|r| r.id == "completion_time_p99").unwrap().pairs.verdict()
}

#[test]
fn who_has_no_partner_is_counted() {
    let alone = |runs: Vec<RunRecord>| match rows(&Results::new("t", None, runs), "none") {
        Ok((_, rows, alone)) => (rows.len(), alone),
        Err(_) => (0, 99),
    };
    let elsewhere = |r: RunRecord| RunRecord { case: CaseId { pause: "off".into(), ..r.case }, ..r };
    let all = [run("none", 1, 1.0, false), run("ecm", 1, 2.0, false)];
    assert_eq!(alone(all.to_vec()), (2, 0));
    let more = [elsewhere(run("ecm", 1, 2.0, false)), run("becn", 2, 2.0, false)];
    assert_eq!(alone([all.to_vec(), more.to_vec()].concat()), (2, 2));
    // Nothing but the baseline.
    assert_eq!(alone(vec![run("none", 1, 1.0, false)]), (0, 99));
}

#[test]
fn pairs_decide_where_means_overlap() {
    // Seed by seed 10 us more or less, though the seeds differ by 40.
    assert_eq!(verdict([110.0, 130.5, 150.0], [false; 2]), "higher");
    assert_eq!(verdict([90.0, 109.5, 130.0], [false; 2]), "lower");
    assert_eq!(verdict([110.0, 110.0, 150.0], [false; 2]), "undecided");
}

#[test]
fn a_lower_bound_decides_one_way_only() {
    assert_eq!(verdict([110.0, 130.5, 150.0], [false, true]), "higher", "it is higher still");
    assert_eq!(
        verdict([110.0, 130.5, 150.0], [true, false]),
        "undecided: one is a bound",
        "the baseline may be higher still"
    );
    assert_eq!(verdict([90.0, 109.5, 130.0], [false, true]), "undecided: one is a bound");
    assert_eq!(verdict([110.0, 110.0, 150.0], [false, true]), "undecided");
    assert_eq!(verdict([90.0, 109.5, 130.0], [true, true]), "undecided: both are bounds");
    assert_eq!(verdict([90.0, 109.5, 130.0], [true, false]), "lower");
    // The difference is a bound, too, without an interval.
    let one = |bounds: [bool; 2]| {
        Pairs::new(&[((0.5, bounds[0]), (1.5, bounds[1])), ((0.5, false), (3.5, false))]).unwrap()
    };
    let texts = [[false; 2], [false, true], [true, false], [true; 2]].map(|b| one(b).text());
    assert_eq!(texts, ["2.00 ± 12.71", "≥ 2.00", "≤ 2.00", "-"]);
}
