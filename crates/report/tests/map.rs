//! The map: what a page holds equals what the run recorded, and a browser colours the ports by it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use cnsim_measure::map::{SHOWN, decoded};
use cnsim_report::build::{Parts, build};
use cnsim_report::model::{Play, Report};
use cnsim_report::render;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, jobs, run_jobs};
use cnsim_scenario::Scenario;
use std::process::Command;

/// Two leaves of four hosts under two spines. An incast fills the port to H0, and a link between switches loses frames.
const TEXT: &str = r#"
study = "mine"
name = "small"
title = "Small"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
per_switch = 4
[switch]
share = "60 KB"
[[traffic]]
name = "incast"
hosts = ["H1..H7"]
kind = "incast"
destinations = ["H0"]
size = "150 KB"
start = "100 us"
[[event]]
link = "L2-S1"
loss = "5 %"
[run]
duration = "3 ms"
[record]
bin = "50 us"
ports = ["L2>S1"]
map = "on"
[matrix]
pause = ["on", "off"]
schemes = ["none", "dcqcn"]
"#;

/// The scenario with other settings, its runs with all their series, and its report.
fn made(sets: &[(&str, &str)]) -> (Vec<Job>, Vec<RunRecord>, Report) {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
    let scenario = Scenario::parse("t.toml", TEXT, &sets).expect("it reads");
    let mut all = jobs(&scenario, scenario.cases()).unwrap();
    all.retain(|job| job.seed == 1);
    all.iter_mut().for_each(|job| job.all_series = true);
    let records = run_jobs(&all, None, 1, &Watch::default()).unwrap();
    let records: Vec<RunRecord> = records.into_iter().flatten().collect();
    let scenarios = [scenario];
    let cells = cnsim_papers::cells::cells(&records, &[], &scenarios);
    let parts = Parts {
        command: "x",
        scenarios: &scenarios,
        records: &records,
        cells: &cells,
        findings: &[],
        left: &[],
    };
    let report = build(&parts);
    (all, records, report)
}

/// What the page holds for the script.
fn embedded(html: &str) -> Vec<Play> {
    let data = html.split("data-for=\"mine/small\">").nth(1).expect("data of the page");
    let data: serde_json::Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    serde_json::from_value(data["plays"].clone()).unwrap()
}

#[test]
fn the_page_holds_what_the_runs_recorded() {
    let (jobs, records, report) = made(&[]);
    let plays = embedded(&render(&report).unwrap());
    assert_eq!(plays.len(), 4);
    let (mut lost, mut stood, mut full) = (0, 0, 0);
    for ((play, run), job) in plays.iter().zip(&records).zip(&jobs) {
        let (map, wiring) = (play.map.as_ref().unwrap(), &job.ready.settings.wiring);
        assert_eq!((map.bin, map.steps, map.ports.len()), (50_000_000, 60, 2 * wiring.links.len()));
        for (end, port) in wiring.links.iter().flat_map(|l| [l.a, l.b]).zip(&map.ports) {
            let row = |what: &str| port.row(what).map(|row| decoded(row, map.steps));
            let sum = |what: &str| row(what).unwrap().iter().sum::<u64>();
            let host = end.0.0 < 8;
            assert_eq!((&port.port, row("queue").is_none()), (&wiring.port_name(end), host));
            // Each largest queue to the unit.
            if let Some(curve) = run.over_time.series.get(&format!("queue {}", port.port)) {
                let peaks: Vec<u64> = curve.peaks.iter().map(|kb| (kb * 10.0).round() as u64).collect();
                assert_eq!(row("queue").unwrap(), peaks, "{}", port.port);
                full += peaks.iter().filter(|p| **p > 0).count();
            } else {
                assert!(
                    host || end == job.ready.settings.record.named.ports[0],
                    "{} has a series",
                    port.port
                );
            }
            let facts = run.ports.get(if host { wiring.name(end.0) } else { &port.port });
            let Some(facts) = facts else {
                assert_eq!(sum("xoff") + sum("lost"), 0, "{}", port.port);
                continue;
            };
            // Of a sum each value is off by half a unit, and of XOFF by one.
            let share = sum("xoff") as f64 / 10.0 / map.steps as f64;
            assert!(
                (facts.paused - 1e-9..facts.paused + 0.1).contains(&share),
                "{}: {share} {facts:?}",
                port.port
            );
            assert_eq!(sum("lost"), facts.dropped as u64 + facts.lost, "{}", port.port);
            (lost, stood) = (lost + facts.lost, stood + u64::from(share > 0.0));
            if !host {
                let used =
                    sum("used") as f64 / 1e3 / map.steps as f64 * wiring.link(end).unwrap().rate.bps() / 1e9;
                assert!((used - facts.throughput).abs() < 0.005, "{}: {used} {facts:?}", port.port);
            }
        }
        // A host has put on its link what arrived and what was lost on the way, within half a unit a step.
        let sent: f64 = map
            .ports
            .iter()
            .filter(|p| p.port.starts_with('H'))
            .flat_map(|p| decoded(&p.used, map.steps))
            .map(|v| v as f64)
            .sum();
        let sent = sent / 1e3 * 10e9 * 50e-6 / 8.0;
        assert!(sent > 0.99 * 7.0 * 150e3 && sent < 1.06 * 7.0 * 150e3, "{sent} B");
        assert_eq!(play.map, run.over_time.map);
        // Flows can be chosen, and the ports on their ways are ports of the map.
        assert!(play.flows.windows(2).all(|w| w[0].slowdown() >= w[1].slowdown()));
        for flow in &play.flows {
            assert_eq!(flow.by_part().iter().sum::<u64>(), flow.time);
            assert!(
                flow.ports.iter().all(|p| map.ports.iter().any(|m| m.port == play.ports[p.port as usize]))
            );
        }
    }
    assert!(plays.iter().any(|p| !p.flows.is_empty()));
    assert!(lost > 0 && stood > 3 && full > 100, "{lost} {stood} {full}");
    assert!(
        plays[0].title.starts_with("none, PAUSE on") && plays[0].title.ends_with("seed 1"),
        "{}",
        plays[0].title
    );
}

/// Results do not depend on what is recorded. What is not recorded is said with the key that records it.
#[test]
fn what_was_not_recorded_is_said() {
    let (_, with, _) = made(&[]);
    let (_, without, report) = made(&[("record.map", "off")]);
    for (a, b) in with.iter().zip(&without) {
        assert_eq!(a.fingerprint, b.fingerprint);
        assert_eq!(a.metrics.get("completion_time_p99"), b.metrics.get("completion_time_p99"));
    }
    let plays = embedded(&render(&report).unwrap());
    let notes = |plays: &[Play]| plays.iter().flat_map(|p| &p.notes).cloned().collect::<Vec<_>>().join(" ");
    assert!(
        plays.iter().all(|p| p.map.is_none() && !p.flows.is_empty())
            && notes(&plays).contains("`record.map = \"on\"`")
    );
    let (_, _, report) = made(&[("record.pauses", "off"), ("record.trips", "off")]);
    let plays = embedded(&render(&report).unwrap());
    let said = notes(&plays);
    assert!(said.contains("`record.pauses = \"on\"`") && said.contains("`record.trips = \"on\"`"), "{said}");
    assert_eq!(plays[0].map.as_ref().unwrap().xoff_until, None);
    let (_, _, report) = made(&[("record.map", "off"), ("record.trips", "off")]);
    let html = render(&report).unwrap();
    assert!(embedded(&html).is_empty() && !html.contains("data-map=\"run\""), "the network is drawn still");
}

/// A map of endless length is refused with the remedy.
#[test]
fn a_map_has_a_limit() {
    let sets = [("record.bin", "1 us"), ("run.duration", "1 s")].map(|(k, v)| (k.to_string(), v.to_string()));
    let why = format!("{:?}", Scenario::parse("t.toml", TEXT, &sets).unwrap_err());
    assert!(why.contains("more than a map keeps") && why.contains("use a larger record.bin"), "{why}");
}

/// A still has a class for each half of a link, by the value there.
#[test]
fn a_still_is_coloured_by_value() {
    let (_, records, _) = made(&[]);
    let map = records[0].over_time.map.as_ref().unwrap();
    let row = map.values("L1>H0", &SHOWN[1]).unwrap();
    let (step, most) = row.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let svg = cnsim_report::still(map, "queue", step).unwrap();
    assert!(
        svg.contains("class=\"w u8\" data-port=\"L1&gt;H0\"")
            && svg.contains("class=\"w none\" data-port=\"H0&gt;L1\"")
    );
    assert!(
        svg.contains(&format!("darkest: above {}", most / 2.0))
            && svg.contains("xmlns=")
            && svg.contains("--ink:")
    );
    assert!(
        cnsim_report::still(map, "queue", 60).is_none() && cnsim_report::still(map, "speed", 0).is_none()
    );
}

/// A browser colours each port at a step as the still does, and asks nobody for anything.
#[test]
fn the_map_in_chromium() {
    let known = |b: &&str| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success());
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(known) else {
        assert!(std::env::var("CNSIM_STRICT").as_deref() != Ok("1"), "the_map_in_chromium needs chromium");
        return;
    };
    let (_, records, report) = made(&[]);
    let run = report.pages[0].plays.iter().position(|p| !p.flows.is_empty()).unwrap();
    let step = 12;
    let act = format!(
        "<script>addEventListener('load', function () {{ setTimeout(function () {{ var root = document.querySelector('article.play');\
         [['run', '{run}'], ['what', 'queue'], ['port', 'L1>H0'], ['flow', '0']].forEach(function (s) {{ var e = root.querySelector('[data-map=' + s[0] + ']');\
         e.value = s[1]; e.dispatchEvent(new Event('change', {{ bubbles: true }})); }}); cnsimMap.step(root, {step}); root.scrollIntoView(); cnsimFigures.show(root.closest('section')); }}, 50); }});</script></body>"
    );
    let dir = std::env::temp_dir().join(format!("cnsim-map-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("r.html"), render(&report).unwrap().replace("</body>", &act)).unwrap();
    let flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--virtual-time-budget=8000",
    ];
    let profile = format!("--user-data-dir={}", dir.join("profile").display());
    let url = format!("file://{}#mine/small", dir.join("r.html").display());
    let out = Command::new(browser)
        .args(flags)
        .args([&profile, "--window-size=1400,2400", "--dump-dom", &url])
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    let (dom, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let dom = dom.split("<script>").next().unwrap();
    let still = cnsim_report::still(records[run].over_time.map.as_ref().unwrap(), "queue", step).unwrap();
    let halves: Vec<&str> =
        still.split("<path class=\"w ").skip(1).filter_map(|p| p.split("\" d=").next()).collect();
    let dark = halves.iter().filter(|h| !h.starts_with("u0") && !h.starts_with("none")).count();
    assert!(halves.len() == 24 && dark >= 3, "{halves:?}");
    for half in halves {
        assert!(dom.contains(&format!("class=\"w {half}")), "{half} {errors}");
    }
    // The chosen port is told in words and has charts; the flow has its bar, and its way is marked.
    assert!(
        dom.contains("L1&gt;H0, step 13: use of the link ") && dom.contains("0.6 to 0.65 ms"),
        "{errors}"
    );
    let play = dom.split("class=\"play\"").nth(1).unwrap_or_default();
    assert!(dom.contains("Where the time of ") && dom.matches("class=\"way\"").count() >= 3, "{play}");
    assert!(
        dom.matches("class=\"trace scatter line").count() >= 2 && dom.contains("class=\"span\""),
        "{errors}"
    );
}
