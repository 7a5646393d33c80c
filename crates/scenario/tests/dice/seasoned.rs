//! A scenario with keys that its generator does not think of: any key of the table of keys with any value of its kind, and any parameter
//! of its scheme, as long as `check` accepts them.

use super::Dice;
use cnsim_scenario::Scenario;
use cnsim_scenario::keys::{KEYS, Key};
use cnsim_scenario::kinds::Kind;
use cnsim_scheme_api::registry::PRESET;
use cnsim_scheme_api::{Bytes, Rate, Time};

/// Between two numbers, small ones as likely as large ones: each doubling of the least is as likely.
fn scaled(d: &mut Dice, low: f64, high: f64) -> f64 {
    let part = d.below(1 << 20) as f64 / (1 << 20) as f64;
    let least = low.max(high * 1e-12).max(f64::MIN_POSITIVE);
    if low <= 0.0 && d.below(8) == 0 {
        return 0.0;
    }
    let doublings =
        std::iter::successors(Some(least), |v| Some(v * 2.0)).take_while(|&v| v <= high).collect::<Vec<_>>();
    match doublings.len() {
        0 => least,
        n => (doublings[d.below(n as u64) as usize] * (1.0 + part)).min(high),
    }
}

/// A value of a kind; none of files, and of names that the network decides.
fn value(d: &mut Dice, kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Rate(low, high) => Rate::from_bps(scaled(d, low.bps(), high.bps())).to_string(),
        Kind::RateOrShare(..) => format!("{} %", d.of(&["0", "1", "10", "0.0001", "50", "99", "100"])),
        Kind::Time(low, high) => {
            let high = (*high).min(Time::from_ms(100));
            Time::from_ps(scaled(d, low.as_ps() as f64, high.as_ps() as f64) as u64).to_string()
        }
        Kind::Bytes(low, high) => {
            Bytes::new(scaled(d, low.as_f64(), high.as_f64()).round() as u64).to_string()
        }
        Kind::Percent => format!("{} %", d.below(101)),
        Kind::Integer(low, high) => {
            (scaled(d, *low as f64, *high as f64) as u64).clamp(*low, *high).to_string()
        }
        Kind::Choice(words) => d.of(words).to_string(),
        Kind::Or(word, _) if d.below(4) == 0 => word.to_string(),
        Kind::Or(_, kind) | Kind::List(kind) => value(d, kind)?,
        Kind::Host => d.of(&["H0", "H1", "A"]).to_string(),
        Kind::Port => d.of(&["S>H0", "S>A", "L1>H1", "S0>H0", "E1>H1", "E1>X", "L1>S1", "S1>S2"]).to_string(),
        Kind::Flow => d.of(&["H0>H1", "H1>H2", "A>B"]).to_string(),
        Kind::Text(_) | Kind::Name(_) | Kind::Line | Kind::File | Kind::Scheme => return None,
    })
}

/// A line of one more key, with the table that it needs.
fn line(d: &mut Dice, key: &Key) -> Option<String> {
    let fixed = ["study", "run.seeds", "run.duration", "pause.mode", "topology.file", "topology.format"];
    let text = match key.path {
        "switch.alpha" => d.of(&["auto", "1/64", "2"]).to_string(),
        path if fixed.contains(&path) || path.starts_with("figure.") || path.starts_with("group.") => {
            return None;
        }
        "topology.host_rates" => d.of(&["H0 1 Gb/s", "H1 100 Gb/s", "A 1 Mb/s"]).to_string(),
        _ => value(d, &key.kind)?,
    };
    let text = match key.kind {
        Kind::Integer(..) => text,
        _ if key.default.starts_with('[') => format!("[\"{text}\"]"),
        _ => format!("\"{text}\""),
    };
    Some(match key.path.split_once('.')? {
        ("event", _) => format!(
            "event = [{{ port = \"{}\", at = \"1 us\", rate = {text} }}]",
            d.of(&["S>H0", "S>A", "L1>H1"])
        ),
        ("fault", "rate") => format!("fault = [{{ host = \"H1\", kind = \"slow\", rate = {text} }}]"),
        ("fault", leaf) => format!("fault = [{{ host = \"H1\", {leaf} = {text} }}]"),
        ("traffic", _) => return None,
        _ => format!("{} = {text}", key.path),
    })
}

/// A line of a parameter of the scenario's scheme.
fn parameter(d: &mut Dice, text: &str) -> Option<String> {
    let name = text.split_once("matrix.schemes = [\"")?.1.split_once('"')?.0;
    let registry = cnsim_schemes::registry();
    let scheme = registry.find(name)?;
    if !scheme.presets.is_empty() && d.below(4) == 0 {
        return Some(format!("scheme.\"{name}\".{PRESET} = \"{}\"", d.of(&scheme.presets).name));
    }
    if scheme.params.is_empty() {
        return None;
    }
    let info = d.of(&scheme.params);
    let bounds = (info.range.low.as_deref(), info.range.high.as_deref());
    let ends = |least: f64, most: f64, read: &dyn Fn(&str) -> Option<f64>| {
        (bounds.0.and_then(read).unwrap_or(least), bounds.1.and_then(read).unwrap_or(most))
    };
    let text = match info.kind.as_str() {
        _ if info.range.optional && d.below(4) == 0 => "off".to_string(),
        "choice" => d.of(&info.range.choices).clone(),
        "on/off" => d.of(&["on", "off"]).to_string(),
        "rate" => {
            let (low, high) = ends(1e3, 1e13, &|t| Some(t.parse::<Rate>().ok()?.bps()));
            Rate::from_bps(scaled(d, low, high)).to_string()
        }
        "bytes" => {
            let (low, high) = ends(1.0, 1e8, &|t| Some(t.parse::<Bytes>().ok()?.as_f64()));
            Bytes::new(scaled(d, low, high) as u64).to_string()
        }
        "time" => {
            let (low, high) = ends(1e5, 1e12, &|t| Some(t.parse::<Time>().ok()?.as_ps() as f64));
            Time::from_ps(scaled(d, low, high) as u64).to_string()
        }
        "number" => {
            let (low, high) = ends(1e-6, 1e6, &|t| t.parse().ok());
            scaled(d, low, high).to_string()
        }
        "integer" => {
            let (low, high) = ends(0.0, 1e6, &|t| t.parse().ok());
            (scaled(d, low, high) as u64).to_string()
        }
        _ => return None,
    };
    Some(format!("scheme.\"{name}\".{} = \"{text}\"", info.key))
}

/// The scenario with up to so many further lines, each of which is accepted.
pub(crate) fn seasoned(d: &mut Dice, text: String, tries: u64) -> String {
    let mut text = text;
    for _ in 0..tries {
        let key = d.of(KEYS);
        let more = if d.below(4) == 0 { parameter(d, &text) } else { line(d, key) };
        let Some(more) = more else { continue };
        let key = more.split(" = ").next().unwrap_or_default();
        let others = text.lines().filter(|l| l.split(" = ").next() != Some(key));
        let now = others.chain([more.as_str()]).collect::<Vec<_>>().join("\n") + "\n";
        if Scenario::parse("random.toml", &now, &[]).is_ok() {
            text = now;
        }
    }
    text
}
