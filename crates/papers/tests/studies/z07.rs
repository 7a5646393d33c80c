//! Z07's scenario: all of it can be run, and a short piece of it shows what the study is about.

use crate::go;
use cnsim_papers::cells::all_cases;
use cnsim_papers::published;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::jobs;
use cnsim_scenario::Scenario;

const NO_LIMIT: &str = "service rate 10%, no output-queue limit";
const LIMIT: &str = "service rate 10%, output-queue limit 600 KB";

/// The run ends after 30 ms, in the middle of the transient; the row with a shorter window must fit in, too.
const SHORT: &[(&str, &str)] =
    &[("run.duration", "30 ms"), ("hotspot.stop", "30 ms"), ("rows.2.hotspot.stop", "20 ms")];

fn short(case: [&str; 3]) -> RunRecord {
    go("Z07/single-hop-16", case, SHORT)
}

#[test]
fn all_rows_are_read_and_ready() {
    let scenario = Scenario::load("Z07/single-hop-16", &[]).unwrap();
    assert_eq!(scenario.cases().len(), 2 * 5 * 3 * 2 + 2 * 3 + 2 * 3);
    let published = published::parse("published.csv", published::EMBEDDED).unwrap();
    let (cases, lost) = all_cases(&scenario, &published);
    let jobs = jobs(&scenario, cases).unwrap();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(jobs.len(), 72 * 5 + 8 * 5, "eight cases have ten seeds");
    // Values that nobody printed, and the words of a whole condition.
    for text in [
        "service rate 10%, RTT 300 us, output-queue limit 600 KB",
        "service rate 20%, RTT 1 ms, no output-queue limit",
        "service rate 10%, RTT 500 us, output-queue limit 300 KB, hotspot until 110 ms, dropped frames sampled",
    ] {
        let case = scenario.case_of(text, "off", "ecm").unwrap();
        assert_eq!(case.id.condition, text);
        scenario.ready(&case).unwrap();
    }
    let same =
        scenario.case_of("service rate 10%, RTT 0 us, output-queue limit 600 KB", "off", "ecm").unwrap();
    assert_eq!(same.id.condition, LIMIT, "no extra delay is the scenario's own");
}

/// The parameters of ECM are the study's, as those that E2CM has for its congestion points.
#[test]
fn ecm_has_the_studys_parameters() {
    let scenario = Scenario::load("Z07/single-hop-16", &[]).unwrap();
    let params = |scheme: &str| {
        let case = scenario.case_of(NO_LIMIT, "off", scheme).unwrap();
        scenario.ready(&case).unwrap().config.0["scheme"]["params"].clone()
    };
    let (ecm, e2cm) = (params("ecm"), params("e2cm-src"));
    for (key, value) in ecm.as_object().unwrap() {
        assert_eq!(&e2cm[key], value, "{key}");
    }
}

/// Without a limit the hot frames hog all memory and nearly all loss is of innocents; with it, of the hot flows alone, and
/// ten times less. The hot port is used fully all the time.
#[test]
fn the_limit_saves_the_innocents() {
    let seen = [[NO_LIMIT, "off", "ecm"], [LIMIT, "off", "ecm"], [LIMIT, "off", "e2cm-src"]].map(short);
    let get = |i: usize, id: &str| seen[i].metrics[id];
    assert!(get(0, "innocent_drop_share") > 80.0 && get(1, "innocent_drop_share") < 1.0);
    assert!(get(0, "dropped_frames") > 4.0 * get(1, "dropped_frames"));
    assert!(get(2, "dropped_frames") < get(1, "dropped_frames"), "probes stop the loss");
    (0..3).for_each(|i| assert!(get(i, "bottleneck_utilization") > 97.0));
    assert!(seen[1].over_time.series["hot_queue"].values.iter().all(|kb| *kb <= 600.0));
}

/// PAUSE keeps all frames, unless the output queue is limited.
#[test]
fn pause_and_limit() {
    let seen = [[NO_LIMIT, "on", "e2cm-dst"], [LIMIT, "on", "e2cm-dst"]].map(short);
    assert_eq!(seen[0].metrics["dropped_frames"], 0.0);
    assert!(seen[0].metrics["time_paused"] > 0.0);
    assert!(seen[1].metrics["dropped_frames"] > 0.0);
}
