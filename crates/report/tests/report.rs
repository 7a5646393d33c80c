//! The report as a file: complete, escaped, offline, small enough, and drawn by a real browser.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use cnsim_report::model::{
    Alert, Assumption, Axis, Band, Cell, Claim, Column, Fact, Figure, Holds, Hot, Kind, Level, Link, Node,
    NotRun, Page, Report, Row, Study, Table, Topology, Trace, Verdict, Window,
};
use cnsim_report::render;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// A text that must never get through as it is.
const EVIL: &str = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>";

fn cell(r: usize, c: usize) -> Cell {
    // Numbers that binary fractions hold exactly.
    let mean = 10.0 * r as f64 + c as f64 + 0.125;
    Cell {
        published: (c < 3).then(|| format!("{}.50", 10 * r + c)),
        measured: Some(mean),
        ci95: Some((mean - 0.0625, mean + 0.0625)),
        pi95: Some((mean - 0.25, mean + 0.375)),
        seeds: 5,
        values: vec![mean; 5],
        verdict: if r == 2 && c == 1 {
            Verdict::Near
        } else {
            [Verdict::Agrees, Verdict::Differs, Verdict::Unpublished, Verdict::Incomparable][c % 4]
        },
        structural: c == 0 && r == 0,
        note: format!("suspected: A{r}{c}"),
        ..Cell::default()
    }
}

fn figure(group: &str, title: &str) -> Figure {
    let n = 20_000;
    let trace = |name: &str, k: f64| Trace {
        name: name.into(),
        x: (0..n).map(|i| f64::from(i) * 0.05).collect(),
        y: (0..n).map(|i| f64::from(i % 97) * k).collect(),
        band: Some(Band { low: vec![0.0; n as usize], high: vec![99.0 * k; n as usize] }),
        ..Trace::default()
    };
    Figure {
        group: group.into(),
        title: title.into(),
        x: Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: Axis { title: "queue".into(), unit: "KB".into(), log: false },
        windows: vec![Window { from: 100.0, to: 500.0, label: "hotspot".into() }],
        levels: vec![Level { value: 26.0, label: "set point".into() }],
        traces: vec![trace("none", 1.0), trace("ecm", 2.0)],
        ..Figure::default()
    }
}

fn sample() -> Report {
    let table = Table {
        id: "hotspot 2 Gb/s on".into(),
        condition: "hotspot 2 Gb/s".into(),
        pause: "on".into(),
        columns: (0..4)
            .map(|c| Column {
                metric: format!("metric_{c}"),
                title: format!("Metric {c}"),
                unit: "Gb/s".into(),
                about: "what it is".into(),
                ..Column::default()
            })
            .collect(),
        rows: ["none", "qcn-2pt", "ecm"]
            .iter()
            .enumerate()
            .map(|(r, s)| Row {
                scheme: (*s).into(),
                cells: (0..4).map(|c| Some(cell(r, c))).collect(),
                ..Row::default()
            })
            .collect(),
        ..Table::default()
    };
    let node = |name: &str, switch| Node { name: name.into(), switch, layer: None };
    let link = |b: usize| Link { a: 2, b, hot: if b == 1 { Hot::A } else { Hot::No }, ..Link::default() };
    Report {
        title: "A & B".into(),
        colours: [("none", 0), ("qcn-2pt", 1), ("ecm", 2)].map(|(n, c)| (n.to_string(), c)).into(),
        version: "0.0".into(),
        command: "cnsim <test>".into(),
        facts: vec![Fact { name: "seeds".into(), value: "1, 2".into() }],
        studies: vec![Study { id: "T".into(), title: "A study".into(), ..Study::default() }],
        pages: vec![Page {
            id: "T/one".into(),
            title: "Scenario one".into(),
            question: "why?".into(),
            source: "see https://example.org/paper.pdf".into(),
            alerts: vec![Alert {
                title: "A <title>".into(),
                lines: vec!["a <frozen> network".into()],
                ..Alert::default()
            }],
            topology: Topology {
                nodes: vec![node("H0", false), node("H1", false), node("S", true)],
                links: vec![link(0), link(1)],
                ..Topology::default()
            },
            figures: vec![figure(&table.id, "Hot queue"), figure("", "Hot throughput")],
            figures_first: false,
            plays: Vec::new(),
            tables: vec![table],
            claims: vec![Claim { id: "T.1".into(), holds: Holds::No, ..Claim::default() }],
            assumptions: vec![Assumption { id: "A9".into(), name: "a-name".into(), ..Assumption::default() }],
            not_run: vec![NotRun { place: "a lost row".into(), value: "1.23".into(), ..NotRun::default() }],
        }],
        claims: vec![Claim { id: "T.2".into(), holds: Holds::Undecided, ..Claim::default() }],
        ..Report::default()
    }
}

/// What the scripts are given for a page.
fn data(html: &str, page: &str) -> serde_json::Value {
    let from = html.find(&format!("data-for=\"{page}\">")).expect("data of the page");
    let from = from + html[from..].find('>').unwrap() + 1;
    serde_json::from_str(&html[from..from + html[from..].find("</script>").unwrap()]).unwrap()
}

#[test]
fn every_cell_of_the_input_is_there() {
    let report = sample();
    let html = render(&report).unwrap();
    // All of it for hovering and for files ...
    let tables: Vec<Table> = serde_json::from_value(data(&html, "T/one")["tables"].clone()).unwrap();
    assert_eq!(tables, report.pages[0].tables);
    // ... and, rounded, for reading.
    for (r, row) in tables[0].rows.iter().enumerate() {
        for (c, cell) in row.cells.iter().flatten().enumerate() {
            let td = html.split("<td").find(|t| t.contains(&format!("data-at=\"{r},{c}\""))).expect("a cell");
            // The column's two decimals, and three significant digits.
            let (value, decimals) = (cell.measured.unwrap(), if cell.measured < Some(1.0) { 3 } else { 2 });
            assert!(td.contains(&format!(">{value:.decimals$}<")), "{td}");
            let word = match (r, c) {
                (0, 0) => "zero",
                (2, 1) => "near",
                _ => ["agrees", "differs", "unpublished", "incomparable"][c],
            };
            assert!(td.contains(&format!("</b>{word}</span>")), "{td}");
            assert!(cell.published.as_ref().is_none_or(|p| html.contains(&format!(">{p}</td>"))));
        }
    }
    for text in [
        "A &amp; B", "cnsim &lt;test&gt;", "T.1", "T.2", "A9", "a lost row", "suspected: A21", "why?",
        "a &lt;frozen&gt; network",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(html.contains("data-route=\"T/one\"") && html.contains("data-route=\"T\""));
}

/// The first page counts cells by metric, zeros by construction apart, and names near cells with those that differ.
#[test]
fn cells_are_counted_by_metric() {
    let html = render(&sample()).unwrap();
    let table =
        html.split("id=\"by-metric\"").nth(1).and_then(|t| t.split("</table>").next()).expect("a table");
    let numbers = |title: &str| -> Vec<&str> {
        let row = table.split("<tr>").find(|r| r.contains(title)).expect("a row");
        row.split("<td class=\"n").skip(1).filter_map(|c| c.split('>').nth(1)?.split('<').next()).collect()
    };
    assert_eq!(numbers("Metric 0"), ["2", "0", "0", "0", "1"]);
    assert_eq!(numbers("Metric 1"), ["0", "1", "2", "0", "0"]);
    assert!(!table.contains("Metric 2"), "nothing published has a verdict there");
    let listed = html.split("<h2>Numbers that do not agree</h2>").nth(1).expect("a list");
    assert!(listed.contains("suspected: A21"), "the near one is explained, too");
}

/// The HTML of a page, as the browser reads it when it is shown.
fn page_of(html: &str, route: &str) -> String {
    let from = html.find(&format!("data-page=\"{route}\"")).expect("the page");
    html[from..from + html[from..].find("</script></section>").unwrap()].to_owned()
}

#[test]
fn rows_may_have_their_own_conditions() {
    let mut report = sample();
    let table = &mut report.pages[0].tables[0];
    table.condition = String::new();
    table.columns.truncate(2);
    for (row, condition) in table.rows.iter_mut().zip(["RTT 0 us", "RTT 0 us", "RTT 10 us"]) {
        row.condition = condition.into();
        row.cells.truncate(2);
        // Nothing is published in the second column: it stands alone, without verdicts.
        let cell = row.cells[1].as_mut().unwrap();
        (cell.published, cell.verdict) = (None, Verdict::Unpublished);
    }
    let html = page_of(&render(&report).unwrap(), "T/one");
    let cells: Vec<&str> = html.split("<td").filter(|t| t.contains("class=\"condition\"")).collect();
    let texts: Vec<bool> = cells.iter().map(|t| t.contains(">RTT ")).collect();
    assert_eq!(texts, [true, false, true], "a condition is said once");
    assert_eq!(html.matches("colspan=\"2\"").count(), 1, "one column has published numbers");
    assert_eq!(html.matches(" alone\"").count(), 3);
    assert!(!html.contains("</b>unpublished</span>"));
    let data: Vec<Table> =
        serde_json::from_value(data(&render(&report).unwrap(), "T/one")["tables"].clone()).unwrap();
    assert_eq!(data[0].rows[2].condition, "RTT 10 us");
}

/// Pages are not HTML until they are shown, and nothing in them ends the script that holds them.
#[test]
fn pages_wait_until_they_are_shown() {
    let mut report = sample();
    report.pages[0].question = "</script><!-- <script>".into();
    let html = render(&report).unwrap();
    let page = page_of(&html, "T/one");
    assert!(page.contains("hidden><script type=\"text/html\">"));
    let inside = page.split_once("text/html\">").unwrap().1;
    assert!(!inside.contains("</script") && !inside.contains("<!--") && !inside.contains("<script"));
    assert!(inside.contains("&lt;/script&gt;"));
}

#[test]
fn nothing_is_loaded_from_outside() {
    let html = render(&sample()).unwrap();
    assert!(html.contains("content=\"default-src 'none'"), "no policy");
    // A place inside the file, and the name of a vocabulary that is never asked for.
    let html = html.replace("url(#", "(#").replace("'http://www.w3.org/2000/svg'", "''");
    let loads = ["src=", "url(", "@import", "<link", "<iframe", "<object", "<embed", "<base", "import("];
    let asks = ["fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "href=\"http", "href='http"];
    for load in loads.into_iter().chain(asks) {
        assert!(!html.contains(load), "{load}");
    }
    // An address is only ever text.
    for (at, _) in html.match_indices("://") {
        let before = &html[html.floor_char_boundary(at.saturating_sub(9))..at];
        assert!(before.ends_with("see https"), "an address: {before}...");
    }
}

#[test]
fn every_text_is_escaped() {
    // Every string becomes the evil one, but for those of enumerations.
    fn poison(value: &mut serde_json::Value, key: &str) {
        match value {
            serde_json::Value::String(s) if !["verdict", "holds", "hot", "kind"].contains(&key) => {
                *s = EVIL.into();
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(|v| poison(v, key)),
            serde_json::Value::Object(map) => map.iter_mut().for_each(|(k, v)| poison(v, k)),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(sample()).unwrap();
    poison(&mut value, "");
    let report: Report = serde_json::from_value(value).unwrap();
    let html = render(&report).unwrap();
    for leak in ["<script>alert", "<img", "\"'&<"] {
        assert!(!html.contains(leak), "{leak}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;&lt;img"));
}

#[test]
fn small_and_large_reports_keep_their_size() {
    let one = sample();
    let html = render(&one).unwrap();
    assert!(html.len() < 300_000, "{} bytes", html.len());
    let points = data(&html, "T/one")["figures"][0]["traces"][0]["line"]["y"]["coded"][2].as_u64().unwrap();
    assert!((3000..=4000).contains(&points), "{points}");

    let many = |n: usize| vec![one.pages[0].figures[0].clone(); n];
    let mut crowded = one.clone();
    crowded.pages[0].figures = many(60);
    let size = render(&crowded).unwrap().len();
    assert!(size < 5_000_000, "{size} bytes");

    let mut all = one.clone();
    all.pages =
        (0..40).map(|i| Page { id: format!("T/{i}"), figures: many(8), ..one.pages[0].clone() }).collect();
    let size = render(&all).unwrap().len();
    assert!((10_000_000..22_000_000).contains(&size), "{size} bytes");
}

#[test]
fn an_empty_report_is_a_report() {
    assert!(render(&Report::default()).unwrap().contains("Published beside measured"));
}

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Names the test as skipped where `make test` looks; under `CNSIM_STRICT=1` that is a failure.
fn skip(name: &str, needs: &str) {
    assert!(std::env::var("CNSIM_STRICT").as_deref() != Ok("1"), "{name} needs {needs}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t));
    let list = std::fs::OpenOptions::new().create(true).append(true).open(target.join("skipped.txt"));
    let _ = list.and_then(|mut f| writeln!(f, "SKIPPED: {name} (needs {needs})"));
}

/// Bars have their intervals as whiskers.
#[test]
fn bars_in_chromium() {
    let Some(browser) = browser() else { return skip("bars_in_chromium", "chromium") };
    let mut report = sample();
    let bars = Figure {
        title: "Drops".into(),
        kind: Kind::Bars,
        categories: vec!["a".into(), "b".into()],
        traces: vec![Trace {
            name: "ecm".into(),
            x: vec![0.0, 1.0],
            y: vec![5.0, 3.0],
            band: Some(Band { low: vec![4.0, 2.0], high: vec![6.0, 4.0] }),
            ..Trace::default()
        }],
        ..Figure::default()
    };
    report.pages[0].figures = vec![bars];
    let (dom, errors) = shown_by(browser, "bars", &report);
    assert_eq!(dom.matches("class=\"trace bars\"").count(), 1, "{errors}");
    assert_eq!(dom.matches("class=\"errorbar\"").count(), 2, "{errors}");
    // Names of many bars are turned: their lower ends stay above the title of the axis.
    let bars = &mut report.pages[0].figures[0];
    bars.x.title = "traffic".into();
    bars.categories = (0..40).map(|i| format!("{i:02} of the background load")).collect();
    let (dom, errors) = shown_by(browser, "turned", &report);
    let number = |text: &str| text.split([' ', ')', '"']).next().and_then(|n| n.parse::<f64>().ok()).unwrap();
    let chart = dom.split("<svg class=\"chart\"").nth(1).expect("a chart");
    let height = number(chart.split(" height=\"").nth(1).expect("a height"));
    let name = chart.split("class=\"end\" transform=\"translate(").nth(1).expect(&errors);
    let top = number(name.split_once(' ').unwrap().1);
    // 24 letters of 6 pixels at 28 degrees; the title is 10 high and stands 6 above the lower end.
    assert!(top + 24.0 * 6.0 * 0.47 < height - 16.0, "{top} {height}");
}

/// What a browser makes of a report's page `T/one`, in dark colours, and what it says on the way.
fn shown_by(browser: &str, name: &str, report: &Report) -> (String, String) {
    route_by(browser, name, report, "T/one")
}

/// The same of any route.
fn route_by(browser: &str, name: &str, report: &Report, route: &str) -> (String, String) {
    let dir = std::env::temp_dir().join(format!("cnsim-report-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let page = dir.join("r.html");
    std::fs::write(&page, render(report).unwrap()).unwrap();
    let profile = format!("--user-data-dir={}", dir.join("profile").display());
    let url = format!("file://{}?theme=dark#{route}", page.display());
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    let out = Command::new(browser)
        .args(flags)
        .args([&profile, "--virtual-time-budget=8000", "--window-size=1400,2400", "--dump-dom", &url])
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    let dom = String::from_utf8_lossy(&out.stdout).into_owned();
    // Without the scripts, which hold the same words.
    let dom = dom.split("<script>").next().unwrap_or_default().to_owned();
    (dom, String::from_utf8_lossy(&out.stderr).into_owned())
}

/// A legend switches the lines of its own figures: figures with other lines have another.
#[test]
fn unrelated_figures_have_legends_of_their_own() {
    let mut report = sample();
    let figure = |names: &[&str], slot: Option<u8>| Figure {
        title: names.join(" and "),
        traces: names
            .iter()
            .enumerate()
            .map(|(i, n)| Trace {
                name: (*n).into(),
                slot: slot.map(|s| s + i as u8),
                x: vec![0.0, 1.0],
                y: vec![1.0, 2.0],
                ..Trace::default()
            })
            .collect(),
        ..Figure::default()
    };
    report.pages[0].figures = vec![
        figure(&["none", "qcn-2pt"], None),
        figure(&["none", "qcn-2pt"], None),
        figure(&["S0>S1", "S8>S9"], Some(0)),
    ];
    let html = page_of(&render(&report).unwrap(), "T/one");
    let legends: Vec<&str> =
        html.split("class=\"legend\"").skip(1).map(|l| &l[..l.find("</div>").unwrap()]).collect();
    assert_eq!(legends.len(), 2, "two figures share a legend, the third has its own");
    assert!(legends[0].contains("data-name=\"qcn-2pt\"") && !legends[0].contains("S0"));
    assert!(legends[1].contains("data-name=\"S0&gt;S1\"") && !legends[1].contains("qcn-2pt"));
    // No colour of a scheme stands for a port.
    let colours = |legend: &str| -> Vec<u8> {
        legend.split("swatch c").skip(1).map(|s| s[..s.find(' ').unwrap()].parse().unwrap()).collect()
    };
    assert!(colours(legends[0]).iter().all(|c| *c < 8) && colours(legends[1]).iter().all(|c| *c >= 8));
}

/// A scenario of one's own opens with its page; nothing is counted as published.
#[test]
fn one_experiment_opens_with_its_page() {
    let mut report = sample();
    assert!(render(&report).unwrap().contains("data-route=\"\""));
    for cell in report.pages[0].tables[0].rows.iter_mut().flat_map(|r| r.cells.iter_mut().flatten()) {
        (cell.published, cell.verdict) = (None, Verdict::Unpublished);
    }
    let html = render(&report).unwrap();
    assert!(!html.contains("data-route=\"\"") && !html.contains("class=\"big\""), "no empty scoreboard");
    let first = html.split("<section").nth(1).unwrap();
    assert!(first.contains("data-route=\"T/one\"") && first.contains("cnsim &lt;test&gt;"));
}

/// Columns of zeros are a sentence; a zero that differs stays.
#[test]
fn columns_of_zeros_are_said_in_words() {
    let mut report = sample();
    for (r, row) in report.pages[0].tables[0].rows.iter_mut().enumerate() {
        for c in [1, 3] {
            let cell = row.cells[c].as_mut().unwrap();
            cell.measured = Some(0.0);
            (cell.published, cell.verdict) = match (c, r) {
                (3, _) => (None, Verdict::Unpublished),
                (_, 2) => (Some("7".into()), Verdict::Differs),
                _ => (Some("0".into()), Verdict::Agrees),
            };
        }
    }
    let html = page_of(&render(&report).unwrap(), "T/one");
    assert!(html.contains("Zero in every row: metric 3."), "nothing published");
    assert!(!html.contains(">Metric 3 <") && html.contains(">Metric 1 <"));
    assert!(html.contains("data-at=\"0,2\"") && !html.contains("data-at=\"0,3\""));
}

/// What failed of a claim's evidence stands first.
#[test]
fn failed_evidence_stands_first() {
    let mut report = sample();
    report.pages[0].claims[0].evidence = "a [yes]; b [undecided]; c [no]; d [yes]".into();
    let html = page_of(&render(&report).unwrap(), "T/one");
    assert!(html.contains("<b>c [no]</b><br>b [undecided]<br>a [yes]<br>d [yes]"));
}

/// Many figures are small, with a picker of scheme and condition.
#[test]
fn many_figures_are_small_and_picked() {
    let mut report = sample();
    let of = |i: usize| Figure {
        scheme: ["bcn", "becn"][i % 2].into(),
        condition: format!("delay {} us", i / 2),
        group: "Rates".into(),
        ..figure("", &format!("figure {i}"))
    };
    report.pages[0].figures = (0..20).map(of).collect();
    let html = page_of(&render(&report).unwrap(), "T/one");
    assert_eq!(html.matches("class=\"canvas tiny\"").count(), 20);
    assert_eq!(html.matches("<option>").count(), 2 + 10);
    assert!(html.contains("data-scheme=\"becn\" data-condition=\"delay 9 us\""));
}

/// A strip of heat has a row a port under its tier, parts that are equal as one, and no legend of ports.
#[test]
fn heat_in_chromium() {
    let Some(browser) = browser() else { return skip("heat_in_chromium", "chromium") };
    let mut report = sample();
    let row = |name: &str, group: &str, y: Vec<f64>| Trace {
        name: name.into(),
        group: group.into(),
        x: (1..=4).map(f64::from).collect(),
        y,
        ..Trace::default()
    };
    let strip = Figure {
        title: "How XOFF spreads".into(),
        kind: Kind::Heat,
        traces: vec![
            row("S1>L1", "level 2 to 1", vec![0.0, 50.0, 50.0, 7.0]),
            row("H1", "hosts", vec![0.0, 0.0, 100.0, 0.0]),
        ],
        ..Figure::default()
    };
    report.pages[0].figures = vec![strip];
    let (dom, errors) = shown_by(browser, "heat", &report);
    // Five of the scale, two and one of the rows.
    assert_eq!(dom.matches("class=\"heat\"").count(), 5 + 3, "{errors}");
    assert!(dom.contains(">level 2 to 1 (1)<") && dom.contains(">S1&gt;L1<"), "{errors}");
    assert!(!dom.contains("data-name=\"H1\""), "a legend: {errors}");
}

/// Bars over time: a row a transmitter, a legend even of one root, and the bars of two roots of one time upon each other.
#[test]
fn spans_in_chromium() {
    let Some(browser) = browser() else { return skip("spans_in_chromium", "chromium") };
    let mut report = sample();
    let line = |name: &str, group: &str, slot: u8, y: Vec<f64>| Trace {
        name: name.into(),
        group: group.into(),
        slot: Some(slot),
        x: vec![1.0, 3.0, 10.0],
        y,
        ..Trace::default()
    };
    let traces = vec![
        line("L1>H0: slow", "H1", 0, vec![75.0, 0.0, 0.0]),
        line("other roots", "H1", 32, vec![25.0, 0.0, 0.0]),
        line("L1>H0: slow", "S1>L1", 0, vec![0.0, 100.0, 0.0]),
    ];
    report.pages[0].figures =
        vec![Figure { title: "PAUSE".into(), kind: Kind::Spans, traces, ..Figure::default() }];
    let (dom, errors) = shown_by(browser, "spans", &report);
    let bars: Vec<&str> =
        dom.split("class=\"span\" ").skip(1).map(|b| b.split("/>").next().unwrap()).collect();
    let ends = |bar: &str, of: &str| -> f64 {
        let text = bar.split(&format!("{of}=\"")).nth(1).unwrap().split('"').next().unwrap();
        text.parse().unwrap()
    };
    assert_eq!(bars.len(), 3, "{dom} {errors}");
    let tall: Vec<f64> = bars.iter().map(|b| ends(b, "height")).collect();
    assert!((tall[0] - 3.0 * tall[1]).abs() < 0.2 && (tall[2] - 15.0).abs() < 0.1, "{bars:?}");
    assert!((ends(bars[1], " y") + tall[1] - ends(bars[0], " y")).abs() < 0.11, "{bars:?}");
    assert!((3.5 * ends(bars[0], "width") - ends(bars[2], "width")).abs() < 0.4, "{bars:?}");
    assert!(dom.contains("color:var(--s8)") && dom.contains("color:var(--s0)"), "{errors}");
    assert!(dom.contains("data-name=\"L1&gt;H0: slow\"") && dom.contains(">S1&gt;L1<"), "{errors}");
    assert!(dom.contains("PAUSE; 2 rows, the first H1; L1&gt;H0: slow: 8.5"), "{dom}");
}

/// A browser says that there is no such page, and finds cells by words.
#[test]
fn unknown_pages_and_searches_in_chromium() {
    let Some(browser) = browser() else { return skip("unknown_pages_and_searches_in_chromium", "chromium") };
    let (dom, errors) = route_by(browser, "unknown", &sample(), "T/oen");
    assert!(dom.contains("This report has no page “T/oen”"), "{errors}");
    let (dom, errors) = route_by(browser, "search", &sample(), "find/ecm%20near");
    assert!(
        dom.contains("ecm · Metric 1: 21.125 Gb/s (published 21.50, near)"),
        "{} {errors}",
        dom.split("id=\"found\"").nth(1).unwrap_or("none")
    );
}

/// A real browser draws the figures from disk, in the colours asked for, and shows the route asked for.
#[test]
fn report_in_chromium() {
    let Some(browser) = browser() else { return skip("report_in_chromium", "chromium") };
    let (dom, errors) = shown_by(browser, "lines", &sample());
    assert_eq!(dom.matches("data-drawn=\"1\"").count(), 2, "figures drawn: {errors}");
    // Two figures, each with two lines and two bands.
    assert_eq!(dom.matches("class=\"trace scatter line").count(), 4, "lines drawn: {errors}");
    assert_eq!(dom.matches("class=\"trace scatter band").count(), 4, "bands drawn: {errors}");
    // Lines that cover one another are told apart by marks.
    assert!(dom.matches("class=\"mark\"").count() >= 4 + 2 * 6, "{errors}");
    assert!(dom.contains("data-theme=\"dark\""), "{errors}");
    let shown = dom.split("<section").find(|s| s.contains("data-route=\"T/one\"")).expect("the page");
    assert!(!shown[..shown.find('>').unwrap()].contains("hidden"), "the page is not shown: {errors}");
}
