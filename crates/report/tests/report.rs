//! The report as a file: complete, escaped, offline, small enough, and drawn by a real browser.
#![allow(clippy::unwrap_used)]

use cnsim_report::{Cell, Claim, Figure, Page, Report, Table, Topology, Trace, render};
use std::io::Write;

fn sample() -> Report {
    let cell = |text: &str, verdict: &str| {
        Some(Cell {
            published: "1.50".into(),
            measured: text.into(),
            half: "0.01".into(),
            detail: "<b>detail</b>".into(),
            note: "suspected: A1".into(),
            verdict: verdict.into(),
        })
    };
    let n = 20_000;
    let trace = |name: &str, k: f64| Trace {
        name: name.into(),
        x: (0..n).map(|i| f64::from(i) * 0.05).collect(),
        y: (0..n).map(|i| f64::from(i % 97) * k).collect(),
    };
    Report {
        version: "0.0".into(),
        command: "cnsim <test>".into(),
        pages: vec![Page {
            id: "T/one".into(),
            title: "A & B".into(),
            question: "why?".into(),
            topology: Topology {
                nodes: vec![
                    ("H0".into(), 1, true, true),
                    ("H1".into(), 1, true, false),
                    ("S".into(), 0, false, false),
                ],
                links: vec![(0, 2), (1, 2)],
                caption: "two hosts".into(),
            },
            tables: vec![Table {
                title: "row".into(),
                columns: vec![("aggregate".into(), "Gb/s".into())],
                rows: vec![
                    ("none".into(), vec![cell("1.234567", "agrees")]),
                    ("ecm".into(), vec![cell("7.654321", "differs")]),
                ],
                figures: vec![Figure {
                    title: "queue".into(),
                    y: "KB".into(),
                    shade: Some((100.0, 500.0)),
                    level: None,
                    traces: vec![trace("none", 1.0), trace("ecm", 2.0)],
                }],
            }],
            ..Page::default()
        }],
        claims: vec![Claim { id: "T.1".into(), holds: "no".into(), ..Claim::default() }],
        ..Report::default()
    }
}

#[test]
fn complete_escaped_offline_and_small() {
    let html = render(&sample()).unwrap();
    assert!(html.len() < 8_000_000, "{} bytes", html.len());
    for text in [
        "1.234567",
        "7.654321",
        "A &amp; B",
        "cnsim &lt;test&gt;",
        "&lt;b&gt;detail&lt;/b&gt;",
        "T.1",
        "suspected: A1",
        "data-route=\"T/one\"",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let head = &html[..html.find("id=\"figures\"").unwrap()];
    for load in ["src=", "url(", "@import", "href=\"http"] {
        assert!(!head.contains(load), "the page loads something: {load}");
    }
    let data = &html[html.find("id=\"figures\">").unwrap()..];
    let figures: serde_json::Value =
        serde_json::from_str(&data[data.find('[').unwrap()..data.find("</script>").unwrap()]).unwrap();
    let points = figures[0]["traces"][0]["x"].as_array().unwrap().len();
    assert!((2000..=4000).contains(&points), "{points}");
}

/// A real browser draws the figure from disk, with no network.
#[test]
fn report_in_chromium() {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| std::process::Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()));
    let Some(browser) = browser else {
        assert!(std::env::var_os("CNSIM_STRICT").is_none(), "chromium is needed under CNSIM_STRICT");
        let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/skipped.txt");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(list);
        let _ = file.and_then(|mut f| writeln!(f, "SKIPPED: report_in_chromium (needs chromium)"));
        return;
    };
    let dir = std::env::temp_dir().join(format!("cnsim-report-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let page = dir.join("r.html");
    std::fs::write(&page, render(&sample()).unwrap()).unwrap();
    let profile = format!("--user-data-dir={}", dir.join("profile").display());
    let url = format!("file://{}?theme=dark#T/one", page.display());
    let args = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        &profile,
        "--virtual-time-budget=8000",
        "--window-size=1400,2000",
        "--dump-dom",
        &url,
    ];
    let out = std::process::Command::new(browser).args(args).output().unwrap();
    let dom = String::from_utf8_lossy(&out.stdout);
    let _ = std::fs::remove_dir_all(&dir);
    assert!(dom.contains("js-plotly-plot"), "no figure was drawn: {}", String::from_utf8_lossy(&out.stderr));
    assert!(dom.contains("data-theme=\"dark\""));
    assert!(dom.matches("class=\"trace scatter").count() >= 2 || dom.matches("scatterlayer").count() >= 1);
}
