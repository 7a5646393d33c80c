//! A scheme's figure for its chapter: one flow meeting one bottleneck, as SVG in light and dark.
//!
//! The run is deterministic and every number is rounded here, so the file is the same on every machine.

use cnsim_studies::demo::{Demo, SECOND, demo};
use std::fmt::Write as _;

/// Left edge, width and height of the two panels, and their tops.
const LEFT: f64 = 58.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;
const TOPS: [f64; 2] = [34.0, 204.0];
/// Simulated time, ms, and the link's rate, Gb/s.
const END: f64 = 30.0;
const RATE: f64 = 10.0;

const STYLE: &str = "svg{background:#fff}text{font:12px sans-serif;fill:#333;paint-order:stroke;stroke:#fff;stroke-width:3px}.g{stroke:#ddd;fill:none}.w{fill:#f0f0f0}\
    .a{stroke:#0072b2;fill:none;stroke-width:1.6}.b{stroke:#d55e00;fill:none;stroke-width:1.6}.q{stroke:#333;fill:none;stroke-width:1.4}\
    .p{stroke:#888;fill:none;stroke-dasharray:5 4}.t{font-weight:bold}.la{fill:#0072b2}.lb{fill:#d55e00}.e{text-anchor:end}.m{text-anchor:middle}\
    @media(prefers-color-scheme:dark){svg{background:#14171a}text{fill:#ccc;stroke:#14171a}.g{stroke:#333}.w{fill:#20252a}.a{stroke:#56b4e9}\
    .b{stroke:#e69f00}.q{stroke:#ddd}.la{fill:#56b4e9}.lb{fill:#e69f00}}";

/// The figure of a scheme.
///
/// # Errors
/// A run that failed.
pub fn svg(scheme: &str) -> Result<String, String> {
    let d = demo(&cnsim_schemes::registry(), scheme)?;
    Ok(draw(scheme, &d))
}

fn draw(scheme: &str, d: &Demo) -> String {
    let (right, bottom) = (LEFT + WIDTH, TOPS[1] + HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" role=\"img\"><title>One flow meets one bottleneck under {}</title><style>{STYLE}</style>\n",
        right + 16.0,
        bottom + 40.0,
        escape(scheme)
    );
    let x = |ms: f64| LEFT + ms / END * WIDTH;
    let set_point = set_point(d);
    let most = d.queue.iter().copied().fold(set_point.unwrap_or(0.0) * 1.2, f64::max).max(10.0);
    let tops = [RATE, ceiling(most)];
    let names = ["delivered rate [Gb/s]", "queue [KB]"];
    for (panel, &top) in TOPS.iter().enumerate() {
        let y = |v: f64| top + HEIGHT * (1.0 - v / tops[panel]);
        let _ = writeln!(
            out,
            "<path class=\"w\" d=\"M{:.1} {top}H{:.1}V{:.1}H{:.1}z\"/>",
            x(SECOND.0),
            x(SECOND.1),
            top + HEIGHT,
            x(SECOND.0)
        );
        for step in 0..=2 {
            let v = tops[panel] * f64::from(step) / 2.0;
            let _ = writeln!(
                out,
                "<path class=\"g\" d=\"M{LEFT} {0:.1}H{right}\"/><text class=\"e\" x=\"{1}\" y=\"{2:.1}\">{v}</text>",
                y(v),
                LEFT - 6.0,
                y(v) + 4.0
            );
        }
        let _ =
            writeln!(out, "<text class=\"t\" x=\"{LEFT}\" y=\"{:.1}\">{}</text>", top - 10.0, names[panel]);
    }
    let line = |values: &[f64], panel: usize, class: &str| {
        let y = |v: f64| TOPS[panel] + HEIGHT * (1.0 - (v / tops[panel]).min(1.02));
        let mut path = String::new();
        for (i, v) in values.iter().enumerate() {
            let at = if i == 0 { "M" } else { "L" };
            let _ = write!(path, "{at}{:.1} {:.1}", x((i + 1) as f64 * d.bin), y(*v));
        }
        format!("<path class=\"{class}\" d=\"{path}\"/>\n")
    };
    out += &line(&d.rates[0], 0, "a");
    // The second flow, from its start to a moment after its end.
    let bins = |ms: f64| ((ms / d.bin).round() as usize).min(d.rates[1].len());
    let second: Vec<f64> =
        d.rates[1].iter().enumerate().map(|(i, v)| if i < bins(SECOND.0) { f64::NAN } else { *v }).collect();
    out += &shown(&second, d.bin, &x);
    out += &line(&d.queue, 1, "q");
    if let Some(q) = set_point {
        let y = TOPS[1] + HEIGHT * (1.0 - q / tops[1]);
        let _ = writeln!(
            out,
            "<path class=\"p\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"e\" x=\"{right}\" y=\"{:.1}\">set point {q} KB</text>",
            y - 4.0
        );
    }
    let legend = TOPS[0] - 10.0;
    let _ = writeln!(
        out,
        "<text class=\"e la\" x=\"{:.1}\" y=\"{legend}\">H1</text><text class=\"e lb\" x=\"{right}\" y=\"{legend}\">H2, from {} to {} ms</text>",
        right - 136.0,
        SECOND.0,
        SECOND.1
    );
    for ms in [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0] {
        let _ = writeln!(out, "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">{ms}</text>", x(ms), bottom + 16.0);
    }
    let _ = writeln!(
        out,
        "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">time [ms]</text></svg>",
        x(15.0),
        bottom + 33.0
    );
    out
}

/// The second flow's line: only where it has a value.
fn shown(values: &[f64], bin: f64, x: &dyn Fn(f64) -> f64) -> String {
    let y = |v: f64| TOPS[0] + HEIGHT * (1.0 - (v / RATE).min(1.02));
    let last = values.iter().rposition(|v| *v > 0.0).map_or(0, |i| i + 1);
    let mut path = String::new();
    for (i, v) in values.iter().enumerate().take(last + 1).filter(|(_, v)| v.is_finite()) {
        let at = if path.is_empty() { "M" } else { "L" };
        let _ = write!(path, "{at}{:.1} {:.1}", x((i + 1) as f64 * bin), y(*v));
    }
    format!("<path class=\"b\" d=\"{path}\"/>\n")
}

/// The scheme's set point in KB, if it has one.
fn set_point(d: &Demo) -> Option<f64> {
    let text = d.record.config["scheme"]["params"]["q_eq"].as_str()?;
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "B" => 1e-3,
        "KB" => 1.0,
        "MB" => 1e3,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|n| n * scale)
}

/// The next round number: 1, 2 or 5 times a power of ten, or 1.5, 3, 4, 6 or 8 of them.
fn ceiling(v: f64) -> f64 {
    let mut scale = 1.0;
    while scale * 10.0 < v {
        scale *= 10.0;
    }
    [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|m| m * scale)
        .find(|c| *c >= v)
        .unwrap_or(v)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_same_twice_and_shows_both_flows() {
        let a = svg("qcn-2pt").unwrap();
        assert_eq!(a, svg("qcn-2pt").unwrap());
        assert!(a.len() < 40_000, "{}", a.len());
        for part in ["class=\"a\"", "class=\"b\"", "class=\"q\"", "set point 26.176 KB", "</svg>"] {
            assert!(a.contains(part), "{part}");
        }
        assert!(!a.contains("NaN") && !a.contains("inf"));
        assert_ne!(a, svg("none").unwrap());
    }

    #[test]
    fn round_tops() {
        for (v, c) in [(10.0, 10.0), (11.0, 15.0), (96.0, 100.0), (264.0, 300.0), (610.0, 800.0)] {
            assert_eq!(ceiling(v), c);
        }
    }
}
