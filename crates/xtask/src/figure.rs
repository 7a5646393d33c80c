//! A scheme's figure for its chapter: two flows at one bottleneck, as SVG in light and dark.
//!
//! The run is deterministic, and the script that draws it rounds every number, so the file is the same on every machine.

use cnsim_report::model::{Axis, Figure, Level, Trace, Window};
use cnsim_runs::demo::{Demo, demo};
use cnsim_units::Bytes;

/// The figure of a scheme.
///
/// # Errors
/// A run that failed.
pub fn svg(scheme: &str) -> Result<String, String> {
    let registry = cnsim_schemes::registry();
    let (d, title) = (demo(&registry, scheme)?, format!("One flow meets one bottleneck under {scheme}"));
    crate::draw::svg(&title, &panels(scheme, &d), &registry)
}

/// The panels of the figure: delivered rates of both flows, then the queue.
fn panels(scheme: &str, d: &Demo) -> Vec<Figure> {
    let trace = |name: &str, slot: Option<u8>, y: Vec<f64>| Trace {
        name: name.into(),
        slot,
        x: (1..=y.len()).map(|i| i as f64 * d.bin).collect(),
        y,
        ..Trace::default()
    };
    // The second flow: only from its start, and as long as it delivers.
    let start = (d.second.0 / d.bin).round() as usize;
    let last = d.rates[1].iter().rposition(|v| *v > 0.0).unwrap_or(0);
    let shown = |(i, v): (usize, &f64)| if i >= start && i <= last { *v } else { f64::NAN };
    let second = d.rates[1].iter().enumerate().map(shown).collect();
    let figure = |title: &str, y: &str, unit: &str, traces: Vec<Trace>| Figure {
        title: title.into(),
        x: Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: Axis { title: y.into(), unit: unit.into(), log: false },
        windows: vec![Window { from: d.second.0, to: d.second.1, label: "H2 sends".into() }],
        traces,
        ..Figure::default()
    };
    let rates = figure(
        "Delivered",
        "rate",
        "Gb/s",
        vec![trace("H1", Some(0), d.rates[0].clone()), trace("H2", Some(3), second)],
    );
    let mut queue = figure("Before the port", "queue", "KB", vec![trace(scheme, None, d.queue.clone())]);
    if let Some(q) = set_point(d) {
        queue.levels.push(Level { value: q, label: format!("set point {q} KB") });
    }
    vec![rates, queue]
}

/// The scheme's set point in KB, if it has one.
fn set_point(d: &Demo) -> Option<f64> {
    d.record.config.read::<Bytes>("scheme.params.q_eq").map(|b| b.as_f64() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_same_twice_and_shows_both_flows() {
        let a = svg("qcn-2pt").unwrap();
        assert_eq!(a, svg("qcn-2pt").unwrap());
        assert!(a.len() < 40_000, "{}", a.len());
        for part in [">H1<", ">H2<", ">qcn-2pt<", "set point 26.176 KB", "</svg>"] {
            assert!(a.contains(part), "{part}");
        }
        assert!(!a.contains("NaN") && !a.contains("inf"));
        assert_ne!(a, svg("none").unwrap());
    }
}
