//! Tests of the search: what is run, what wins, what is refused.

use super::*;
use crate::published::{self, EMBEDDED};

/// A run record with these metrics, as if the job had been run.
fn record(job: &Job, metrics: &[(&str, f64)]) -> RunRecord {
    RunRecord { metrics: metrics.iter().copied().collect(), ..job.record() }
}

fn lab<'a>(s: &'a Scenario, p: &'a [Published], over: &[&str], only: &str) -> Lab<'a> {
    let over: Vec<String> = over.iter().map(|t| (*t).to_string()).collect();
    let keep = |c: &Case| format!("{}, PAUSE {}, {}", c.id.condition, c.id.pause, c.id.scheme).contains(only);
    Lab::new(std::slice::from_ref(s), p, asked_switches(&over).unwrap(), true, 2, &keep).unwrap()
}

#[test]
fn a_switch_without_effect_on_a_case_runs_nothing_there() {
    let s = Scenario::load("B07/single-hop", &[]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let mut lab = lab(&s, &p, &["efr=on,off", "limiter-queue=10"], "hotspot 2 Gb/s, PAUSE on");
    assert_eq!(lab.cases.len(), 4, "none, 2pt, 3pt, ECM");
    let mut setups = Vec::new();
    let one = lab.one_at_a_time();
    assert_eq!(one.len(), 4);
    lab.add(&mut setups, &one, true).unwrap();
    assert_eq!(setups.len(), 3, "efr=on is the scenario as it is");
    assert_eq!(lab.missing(&setups[..1]).len(), 8);
    assert_eq!(lab.missing(&setups).len(), 2 * (4 + 2 + 3), "EFR: both QCN; limiter queue: not `none`");
    assert_eq!(every(&lab.switches).map(|e| e.len()), Some(6));
    assert_eq!(every(&named_switches()), None, "too many to list");
}

#[test]
fn settings_without_effect_beside_others_fall_away() {
    let s = Scenario::load("B07/single-hop", &[]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let mut lab = lab(&s, &p, &["efr=off", "efr-max=10"], "hotspot 2 Gb/s, PAUSE on, qcn-2pt");
    let mut setups = Vec::new();
    let all = every(&lab.switches).unwrap();
    lab.add(&mut setups, &all, true).unwrap();
    assert_eq!(setups.len(), 3, "EFR off with a maximum is EFR off");
}

#[test]
fn the_nearer_reading_wins_and_scatter_counts_against() {
    let s = Scenario::load("B07/single-hop", &[]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let mut lab = lab(&s, &p, &["limiter-queue=10,1000,10000"], "hotspot 0 Gb/s, PAUSE on, qcn-2pt");
    let mut setups = Vec::new();
    let one = lab.one_at_a_time();
    lab.add(&mut setups, &one, true).unwrap();
    lab.missing(&setups);
    // Published: aggregate 35.55, hot 2.57. As it is: far; 10: near; 1000: right in the mean alone; 10000: worst.
    for (setup, values) in [[54.0, 54.1], [36.0, 36.1], [8.0, 63.1], [70.0, 70.1]].iter().enumerate() {
        for (k, v) in values.iter().enumerate() {
            let at = setups[setup].runs[0] + k;
            lab.records[at] =
                Some(record(&lab.jobs[at], &[("aggregate_throughput", *v), ("hot_port_throughput", 2.57)]));
        }
    }
    let scored = lab.score(&setups);
    let order: Vec<&str> = scored.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(order, ["limiter-queue=10", "as it is", "limiter-queue=1000", "limiter-queue=10000"]);
    assert_eq!((scored[0].better, scored[0].worse, scored[0].agree), (1, 0, 2));
    assert!(scored[0].gain.as_ref().unwrap().mean > 1.0 && scored[3].gain.as_ref().unwrap().mean < 0.0);
    assert_eq!(scored[0].cells[0].scale, scored[3].cells[0].scale, "one scale for all readings");
    let holds: Vec<bool> = scored.iter().map(|s| s.holds_everywhere(&scored[1])).collect();
    assert_eq!(holds, [true, false, false, false]);
}

#[test]
fn bad_switches_are_refused_before_anything_runs() {
    let ask = |t: &str| asked_switches(&[t.to_string()]);
    assert!(ask("eft").unwrap_err().contains("did you mean `efr`"));
    assert_eq!(ask("sampling").unwrap()[0].values.len(), 3);
    assert_eq!(ask("assumptions.r_min=1 Mb/s").unwrap()[0].id, "A5");
    let s = Scenario::load("B07/single-hop", &[]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let all = |_: &Case| true;
    let matrix = Lab::new(std::slice::from_ref(&s), &p, ask("hotspot.rate=1 Gb/s").unwrap(), true, 2, &all)
        .map(|_| ())
        .unwrap_err();
    assert!(matrix.contains("cnsim sweep"), "{matrix}");
    let mut lab = Lab::new(std::slice::from_ref(&s), &p, ask("efr=maybe").unwrap(), true, 2, &all).unwrap();
    let one = lab.one_at_a_time();
    assert!(lab.add(&mut Vec::new(), &one, true).unwrap_err().contains("neither on nor off"));
    let pause = ask("pause.mode=on,off").unwrap_err();
    assert!(pause.contains("neither is an assumption") && pause.contains("--only"), "{pause}");
    let none =
        Lab::new(std::slice::from_ref(&s), &p, Vec::new(), true, 2, &|_| false).map(|_| ()).unwrap_err();
    assert!(none.contains("--only"), "{none}");
}

/// ECM's jitter is bytes: a width of QCN's is for the rows of QCN, and no row of ECM runs again for it.
#[test]
fn a_value_is_for_the_schemes_that_read_it() {
    let bytes = |scheme: &str| (format!("scheme.{scheme}.sampling"), "bytes".to_string());
    let s = Scenario::load("B07/single-hop", &[bytes("qcn-2pt"), bytes("qcn-3pt")]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let mut lab = lab(&s, &p, &["jitter=0.15"], "hotspot 2 Gb/s, PAUSE on");
    let mut setups = Vec::new();
    let one = lab.one_at_a_time();
    lab.add(&mut setups, &one, true).unwrap();
    assert_eq!(lab.missing(&setups).len(), 2 * (4 + 2), "both QCN");
    assert!(lab.refused.is_empty());
}

/// Every published scenario can be searched as it stands: what its matrix sets is no assumption there.
#[test]
fn every_scenario_can_be_searched() {
    let p = published::parse("p", EMBEDDED).unwrap();
    let mut searched = 0;
    for (id, _) in cnsim_scenario::EMBEDDED {
        let s = Scenario::load(id, &[]).unwrap();
        if !p.iter().any(|c| c.case.study == s.study && c.case.scenario == s.name) {
            continue;
        }
        let mut lab = Lab::new(std::slice::from_ref(&s), &p, named_switches(), false, 1, &|_| true).unwrap();
        let (mut setups, one) = (Vec::new(), lab.one_at_a_time());
        lab.add(&mut setups, &one, false).unwrap();
        assert!(setups.len() > 5, "{id}: {} readings", setups.len());
        let odd: Vec<&String> =
            lab.refused.iter().filter(|r| r.contains("number") || r.contains("unit")).collect();
        assert!(odd.is_empty(), "{id}: {odd:?}");
        searched += 1;
    }
    assert!(searched >= 8, "{searched}");
}

/// Z07 prints one case with two numbers, `RTT 0 us` written or not: one run, two cells, one scale.
#[test]
fn a_case_in_two_words_is_one_case() {
    let s = Scenario::load("Z07/single-hop-16", &[]).unwrap();
    let p = published::parse("p", EMBEDDED).unwrap();
    let keep = |c: &Case| {
        let delayed = ["RTT 10", "RTT 20", "RTT 50"].iter().any(|t| c.id.condition.contains(t));
        c.id.scheme == "e2cm-src" && c.id.pause == "off" && !delayed
    };
    let mut lab = Lab::new(std::slice::from_ref(&s), &p, Vec::new(), true, 2, &keep).unwrap();
    let mut setups = Vec::new();
    lab.add(&mut setups, &[Vec::new()], true).unwrap();
    assert_eq!((lab.cases.len(), setups[0].runs.len()), (2, 2), "with and without a limit");
    lab.missing(&setups);
    for at in 0..lab.jobs.len() {
        lab.records[at] = Some(record(&lab.jobs[at], &[("dropped_frames", 150e3 + 1e4 * (at % 2) as f64)]));
    }
    let scored = lab.score(&setups);
    let cells = &scored[0].cells;
    assert_eq!(cells.len(), 3, "two numbers without a limit, one with");
    assert!(cells.iter().all(|c| c.scale > 1e4), "each scale knows the scatter of its runs");
}

/// A reading that fits one table well and the others badly is chosen with that table and loses without it.
#[test]
fn a_reading_is_judged_on_a_table_that_it_was_not_chosen_on() {
    let scenarios: Vec<Scenario> =
        ["B07/single-hop", "B07/multi-hop"].iter().map(|id| Scenario::load(id, &[]).unwrap()).collect();
    let p = published::parse("p", EMBEDDED).unwrap();
    let over = asked_switches(&["limiter-queue=10,20,30".into()]).unwrap();
    let keep = |c: &Case| c.id.scheme == "ecm" && c.id.pause == "off" && c.id.condition != "hotspot 0 Gb/s";
    let mut lab = Lab::new(&scenarios, &p, over, true, 2, &keep).unwrap();
    assert_eq!(lab.cases.len(), 4, "two tables of each scenario");
    assert_eq!(
        (lab.scenario_of(0).name.as_str(), lab.scenario_of(3).name.as_str()),
        ("single-hop", "multi-hop")
    );
    let (mut setups, one) = (Vec::new(), lab.one_at_a_time());
    lab.add(&mut setups, &one, true).unwrap();
    lab.missing(&setups);
    let printed = |job: &Job| {
        let mine = |c: &&Published| c.case == job.case.id && c.metric == "aggregate_throughput";
        p.iter().find(mine).unwrap().value
    };
    // Off by so many percent in each of the four tables. 10 is the best in the mean, by its first table alone; 20 is better
    // than the scenario as it is everywhere; 30 is worse.
    let off = [[8.0, 8.0, 8.0, 8.0], [0.0, 7.5, 7.5, 7.5], [6.0, 6.0, 6.0, 6.0], [9.0, 9.0, 9.0, 9.0]];
    for (setup, off) in setups.iter().zip(off) {
        for (first, off) in setup.runs.iter().zip(off) {
            for at in *first..*first + 2 {
                let value = printed(&lab.jobs[at]) * (1.0 + off / 100.0);
                lab.records[at] = Some(record(&lab.jobs[at], &[("aggregate_throughput", value)]));
            }
        }
    }
    let scored = lab.score(&setups);
    assert_eq!(scored[0].label, "limiter-queue=10", "nearest in the mean over all tables");
    let folds = leave_one_out(&scored);
    let chosen: Vec<&str> = folds.iter().map(|f| scored[f.chosen].label.as_str()).collect();
    assert_eq!(chosen, ["limiter-queue=20", "limiter-queue=10", "limiter-queue=10", "limiter-queue=10"]);
    assert!(folds.iter().all(|f| f.cells == 1 && f.distance.0 < f.distance.1), "{folds:?}");
    assert!(leave_one_out(&scored[..1]).is_empty(), "nothing to compare with");
}
