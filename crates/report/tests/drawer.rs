//! The one drawer of figures, without a browser: its script runs in an engine of JavaScript.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use cnsim_report::model::{Axis, Band, Figure, Kind, Level, Trace, Window};
use cnsim_report::sheet;
use rquickjs::{CatchResultExt, Context, Runtime};
use std::collections::BTreeMap;

/// The figures as a document shows them, and what an expression says afterwards.
fn drawn(title: &str, figures: &[Figure], ask: &str) -> (String, String) {
    let script = sheet(title, figures, &BTreeMap::new()).unwrap();
    let engine = Runtime::new().unwrap();
    Context::full(&engine).unwrap().with(|c| {
        let eval = |text: &str| c.eval::<String, _>(text).catch(&c).map_err(|e| e.to_string()).unwrap();
        (eval(&script), eval(ask))
    })
}

fn trace(name: &str, group: &str, x: &[f64], y: &[f64]) -> Trace {
    let (x, y) = (x.to_vec(), y.to_vec());
    Trace { name: name.into(), group: group.into(), slot: Some(0), x, y, ..Trace::default() }
}

fn figure(kind: Kind, traces: Vec<Trace>) -> Figure {
    Figure {
        title: "Queue <hot>".into(),
        x: Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: Axis { title: "queue".into(), unit: "KB".into(), log: false },
        kind,
        traces,
        ..Figure::default()
    }
}

/// Two lines with bands, a window and a level.
fn lines(kind: Kind, log: bool) -> Figure {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let line = |name: &str, k: f64| Trace {
        band: Some(Band { low: vec![0.0; 50], high: vec![60.0 * k; 50] }),
        ..trace(name, "", &x, &x.iter().map(|v| v * k).collect::<Vec<_>>())
    };
    let mut f = figure(kind, vec![line("none", 1.0), line("ecm", 2.5)]);
    f.y.log = log;
    f.windows = vec![Window { from: 5.0, to: 20.0, label: "incast".into() }];
    f.levels = vec![Level { value: 26.0, label: "set point 26 KB".into() }];
    f
}

/// The rectangles of a class: x, y, width and height of each.
fn rects(svg: &str, class: &str) -> Vec<[f64; 4]> {
    let of = |rect: &str, key: &str| -> f64 {
        let text = rect.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap();
        text.parse().unwrap()
    };
    let head = format!("<rect class=\"{class}\"");
    let rects = svg.split(&head).skip(1);
    rects
        .map(|r| r.split("/>").next().unwrap())
        .map(|r| ["x", "y", "width", "height"].map(|k| of(r, k)))
        .collect()
}

/// Every kind and every view has finite numbers alone, on a phone and on a desk.
#[test]
fn every_kind_is_drawn_with_finite_numbers() {
    for (kind, log, part) in [
        (Kind::Lines, false, "class=\"trace scatter line\""),
        (Kind::Points, true, "class=\"mark\""),
        (Kind::Bars, true, "class=\"errorbar\""),
        (Kind::Heat, false, "class=\"heat\""),
        (Kind::Spans, false, "class=\"span\""),
    ] {
        let f = lines(kind, log);
        // The views that a page offers of this kind.
        let modes = if kind == Kind::Lines { "['lines', 'apart', 'cdf']" } else { "['lines']" };
        let views = "const data = JSON.parse(JSON.stringify(FIGURES));\
            [140, 340, 1100].flatMap((width) => MODES.flatMap((mode) => [null, true].flatMap((log) =>\
            [null, [7.5, 7.6]].flatMap((zoom) => [false, true].map((tiny) => cnsimChart.draw(data[0], { width, mode, log, zoom, tiny }).svg))))).join('')";
        let data = serde_json::to_string(&[serde_json::json!({
            "title": "T", "x": f.x, "y": f.y, "kind": kind, "categories": [], "windows": f.windows, "levels": f.levels,
            "traces": f.traces.iter().map(|t| serde_json::json!({
                "name": t.name, "group": "", "slot": 0, "dash": 0, "line": {"x": {"plain": t.x}, "y": {"plain": t.y}}
            })).collect::<Vec<_>>()
        })]).unwrap();
        let (text, views) =
            drawn("A & B", &[f.clone(), f], &views.replace("FIGURES", &data).replace("MODES", modes));
        assert!(text.contains(part) && text.contains("A &#38; B") && text.contains("Queue &#60;hot&#62;"));
        for text in [&text, &views] {
            for wrong in ["NaN", "Infinity", "undefined", "null"] {
                assert!(!text.contains(wrong), "{kind:?}: {wrong}");
            }
        }
        assert!(
            text.contains("prefers-color-scheme:dark")
                && views.matches("<svg").count() == if kind == Kind::Lines { 72 } else { 24 }
        );
        if matches!(kind, Kind::Lines | Kind::Points | Kind::Bars) {
            assert_eq!((text.matches(">incast<").count(), text.matches("set point 26 KB").count()), (2, 2));
        }
    }
}

#[test]
fn nothing_to_draw_is_no_error() {
    for kind in [Kind::Lines, Kind::Points, Kind::Bars, Kind::Heat, Kind::Spans] {
        let (text, _) = drawn("none", &[figure(kind, Vec::new())], "''");
        assert!(text.ends_with("</svg>\n") && !text.contains("NaN"), "{kind:?} {text}");
    }
    assert!(drawn("empty", &[], "''").0.contains("</svg>"));
}

/// Round numbers stand at an axis; long ones have their thousands apart.
#[test]
fn ticks_are_round() {
    let f = figure(Kind::Lines, vec![trace("none", "", &[0.0, 12_000.0], &[0.0, 9.5])]);
    let (text, _) = drawn("T", &[f], "''");
    let numbers = |class: &str| -> Vec<&str> {
        text.split(&format!("<text class=\"{class}\""))
            .skip(1)
            .filter_map(|t| t.split(['>', '<']).nth(1))
            .collect()
    };
    assert_eq!(numbers("end"), ["0", "2.5", "5", "7.5", "10"]);
    assert_eq!(numbers("mid")[..3], ["0", "2000", "4000"]);
    assert_eq!(numbers("mid")[5..7], ["10\u{202f}000", "12\u{202f}000"]);
    let mut f = figure(Kind::Points, vec![trace("none", "", &[1.0, 1e5], &[0.02, 3.0])]);
    (f.x.log, f.y.log) = (true, true);
    let (text, _) = drawn("T", &[f], "''");
    for number in ["1", "100", "100\u{202f}000", "0.03", "0.1"] {
        assert!(text.contains(&format!(">{number}</text>")), "{number}: {text}");
    }
}

/// What Rust encodes, the script decodes: extremes to the last bit, gaps as gaps, each value within a step of 1/65534 of the range.
#[test]
fn series_come_back() {
    let x: Vec<f64> = (0..9000).map(|i| 0.2 + f64::from(i) * 0.1).collect();
    let mut y: Vec<f64> = (0..9000).map(|i| f64::from(i * 7919 % 10_007) * 0.37).collect();
    (y[100], y[4321], y[7000]) = (f64::NAN, 1234567.875, -0.1);
    for n in [150, 3000, 9000] {
        let f = figure(Kind::Lines, vec![trace("none", "", &x[..n], &y[..n])]);
        let script = sheet("T", &[f], &BTreeMap::new()).unwrap();
        let data = script.rsplit_once("cnsimSheet(\"T\", ").unwrap().1.split_once(", \"svg{").unwrap().0;
        let ask = format!("JSON.stringify(cnsimChart.decode({data}[0]).traces[0].data)");
        let (_, said) = drawn("T", &[], &ask);
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let back = |key: &str| -> Vec<Option<f64>> { serde_json::from_value(said[key].clone()).unwrap() };
        let (bx, by) = (back("x"), back("y"));
        assert!(bx.len() == by.len() && bx.len() == n.min(4000), "{}", bx.len());
        let (low, high) = y[..n]
            .iter()
            .filter(|v| v.is_finite())
            .fold((f64::MAX, f64::MIN), |e, v| (e.0.min(*v), e.1.max(*v)));
        let step = if n > 200 { 0.5 * (high - low) / 65_534.0 } else { 0.01 };
        for (bx, by) in bx.iter().zip(&by) {
            let at = ((bx.unwrap() - 0.2) / 0.1).round() as usize;
            assert!((x[at] - bx.unwrap()).abs() < 1e-4, "{at}");
            assert!(
                by.map_or(y[at].is_nan(), |v| (v - y[at]).abs() <= step * 1.001),
                "{at}: {by:?} {}",
                y[at]
            );
        }
        if n == 9000 {
            assert!(by.contains(&Some(low)) && by.contains(&Some(high)));
        } else {
            assert!(by.contains(&None));
        }
    }
}

/// Of many points to a pixel, each column of pixels keeps its least and its greatest.
#[test]
fn a_long_line_keeps_its_peaks() {
    let x: Vec<f64> = (0..3999).map(f64::from).collect();
    let mut y = vec![1.0; 3999];
    (y[2000], y[2001]) = (50.0, 0.25);
    let (text, _) = drawn("T", &[figure(Kind::Lines, vec![trace("none", "", &x, &y)])], "''");
    let d = text.split("class=\"trace scatter line\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    let points: Vec<(f64, f64)> = d[1..]
        .split('L')
        .map(|p| p.split_once(' ').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    assert!(points.len() < 800, "{}", points.len());
    let most = points.iter().map(|p| p.1).fold(f64::MAX, f64::min);
    let flat = points[0].1;
    let least = points.iter().map(|p| p.1).fold(0.0, f64::max);
    assert!(((flat - most) / (least - flat) - 49.0 / 0.75).abs() < 3.0, "{most} {flat} {least}");
}

/// H1 stood from 1 to 3 ms, three quarters of it for A; H2 from 4 to 8 ms for B.
#[test]
fn bars_of_one_time_stand_upon_each_other() {
    let f = figure(
        Kind::Spans,
        vec![
            trace("A", "H1", &[1.0, 3.0, 10.0], &[75.0, 0.0, 0.0]),
            trace("B", "H1", &[1.0, 3.0, 10.0], &[25.0, 0.0, 0.0]),
            trace("B", "H2", &[4.0, 8.0, 10.0], &[100.0, 0.0, 0.0]),
        ],
    );
    let (text, _) = drawn("T", &[f], "''");
    let [a, b, c] = rects(&text, "span")[..] else { panic!("three bars: {text}") };
    assert!(
        (a[3] - 11.25).abs() < 0.1 && (b[3] - 3.75).abs() < 0.1 && (c[3] - 15.0).abs() < 0.1,
        "{a:?} {b:?} {c:?}"
    );
    assert!(
        (b[1] + b[3] - a[1]).abs() < 0.11 && (c[1] - b[1] - 17.0).abs() < 0.11,
        "B stands upon A, and H2 is the next row"
    );
    assert!(
        a[0] == b[0] && a[2] == b[2] && (c[2] - 2.0 * a[2]).abs() < 0.2 && c[0] > a[0] + a[2],
        "{a:?} {c:?}"
    );
    assert!(text.contains(">H1<") && text.contains(">H2<"));
}

#[test]
fn rows_of_heat_stand_in_groups_and_equal_parts_are_one() {
    let x = [2.0, 4.0, 6.0, 8.0];
    let row = |name: &str, group: &str, y: &[f64]| trace(name, group, &x[..y.len()], y);
    let traces = vec![
        row("S1>L1", "level 2 to 1", &[0.0, 50.0, 50.0, 0.0]),
        row("H1", "hosts", &[100.0, 0.0, 0.0, 20.0]),
        row("H2", "hosts", &[0.0; 4]),
    ];
    let (text, _) = drawn("T", &[figure(Kind::Heat, traces)], "''");
    // Five more explain the shades.
    let bars = &rects(&text, "heat")[5..];
    assert_eq!(bars.len(), 3, "{text}");
    assert!((bars[0][2] - 2.0 * bars[1][2]).abs() < 0.2 && bars[0][0] > bars[1][0], "{bars:?}");
    assert!(
        bars[1][1] - bars[0][1] == 31.0 && bars[1][1] == bars[2][1],
        "a row of 13 and a heading of 18: {bars:?}"
    );
    assert!(
        text.contains("fill-opacity=\"0.575\"")
            && text.contains(">hosts (2)<")
            && text.contains(">S1&#62;L1<")
    );
    // Of many rows none has room for a name.
    let (text, _) = drawn("T", &[figure(Kind::Heat, vec![row("H1", "hosts", &[1.0, 2.0]); 128])], "''");
    assert!(!text.contains(">H1<") && rects(&text, "window").len() == 128);
}
