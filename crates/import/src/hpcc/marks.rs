//! Maps of marks by the rate of a link, `KMIN_MAP` and the like. Only rates that the network has count.

use super::{Fabric, Setting, Translated};
use crate::{Faults, ImportError, error};
use cnsim_units::Rate;

/// Values by link rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Map {
    line: usize,
    key: String,
    /// Rates, bit/s, and values.
    rows: Vec<(f64, f64)>,
    /// Words behind the rates that the map announces.
    beyond: usize,
}

impl Map {
    /// Reads `n rate value rate value ...`. The fork reads so many pairs and no more.
    pub(super) fn read(s: &Setting) -> Result<Self, ImportError> {
        let numbers: Option<Vec<f64>> = s.values.iter().map(|v| v.parse().ok()).collect();
        let form = || s.error("is not `n rate value rate value ...`", "write for example 1 100000000000 400");
        let numbers = numbers.ok_or_else(form)?;
        let (n, words) = numbers.split_first().ok_or_else(form)?;
        let rows: Vec<(f64, f64)> = words.chunks_exact(2).map(|c| (c[0], c[1])).collect();
        let whole = n.fract() == 0.0 && *n >= 1.0 && *n <= rows.len() as f64;
        if !whole || rows.iter().any(|p| p.0 <= 0.0 || p.1 < 0.0) {
            return Err(form());
        }
        let beyond = words.len() - 2 * *n as usize;
        let rows = rows[..*n as usize].to_vec();
        let twice = |i: &usize| rows[..*i].iter().any(|p| p.0 == rows[*i].0);
        if let Some(i) = (0..rows.len()).find(twice) {
            let reason = format!("has two values for {} Gb/s", rows[i].0 / 1e9);
            return Err(s.error(reason, "name each rate once"));
        }
        Ok(Self { line: s.line, key: s.key.clone(), rows, beyond })
    }

    /// Without rows: its fault is told, and it lacks no rate.
    pub(super) fn unreadable(s: &Setting) -> Self {
        Self { line: s.line, key: s.key.clone(), ..Self::default() }
    }

    /// A note, where words are behind the announced rates.
    pub(super) fn unread(&self) -> Option<String> {
        (self.beyond > 0).then(|| {
            format!(
                "line {}: {} announces {} rates: {} words behind them are not read",
                self.line,
                self.key,
                self.rows.len(),
                self.beyond
            )
        })
    }

    fn at(&self, rate: Rate) -> Option<f64> {
        self.rows.iter().find(|r| (r.0 - rate.bps()).abs() < 1e-6 * rate.bps()).map(|r| r.1)
    }
}

/// How ports of a rate mark: from `low` KB on, all above `high` KB, a share `p_max` at the end of the ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    rate: Rate,
    low: f64,
    high: f64,
    p_max: f64,
}

impl Translated {
    /// Marks of DCQCN and DCTCP at the ports of switches. The fork stops where a map lacks the rate of one.
    pub(super) fn mark(&mut self, fabric: &Fabric) -> Result<(), Vec<ImportError>> {
        if !matches!(self.scheme.as_str(), "dcqcn" | "dctcp") {
            return Ok(());
        }
        let at_switch = |name: &String| fabric.switches.contains(name);
        let links = fabric.links.iter().filter(|l| at_switch(&l.a) || at_switch(&l.b));
        let mut rates: Vec<(Rate, usize)> = Vec::new();
        for l in links {
            if rates.iter().all(|r| r.0 != l.rate) {
                rates.push((l.rate, l.line));
            }
        }
        let mut faults = Faults::default();
        let map = |key: &str| self.maps.iter().find(|m| m.key == key);
        for key in ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"] {
            let lacks = |(rate, _): &&(Rate, usize)| {
                map(key).is_none_or(|m| !m.rows.is_empty() && m.at(*rate).is_none())
            };
            if let Some((rate, line)) = rates.iter().find(lacks) {
                let reason = format!(
                    "has no value for links of {rate}, as in line {line} of the topology: the fork stops"
                );
                let remedy = format!("name every rate: {key} 1 {} VALUE", rate.bps());
                let line = map(key).map_or(self.last, |m| m.line);
                faults.push(ImportError { key: key.into(), ..error(line, reason, remedy) });
            }
        }
        let of = |key: &str, rate: Rate| map(key).and_then(|m| m.at(rate)).unwrap_or_default();
        let row = |&(rate, _): &(Rate, usize)| Row {
            rate,
            low: of("KMIN_MAP", rate),
            high: of("KMAX_MAP", rate),
            p_max: of("PMAX_MAP", rate),
        };
        let mut rows: Vec<Row> = rates.iter().map(row).collect();
        rows.sort_by(|a, b| a.rate.bps().total_cmp(&b.rate.bps()));
        let from = |key: &str| (map(key).map_or(self.last, |m| m.line), key.to_string());
        let (low, high, p_max) = (from("KMIN_MAP"), from("KMAX_MAP"), from("PMAX_MAP"));
        faults.or(())?;
        let Some(slowest) = rows.first().filter(|_| self.maps.iter().all(|m| !m.rows.is_empty())).copied()
        else {
            return Ok(());
        };
        let dcqcn = self.scheme == "dcqcn";
        let alike = |r: &Row| {
            let scale = r.rate.bps() / slowest.rate.bps();
            let grows = |own: f64, of: f64| (own - of * scale).abs() <= 1e-9 * of * scale;
            let ramp = grows(r.high, slowest.high) && r.p_max == slowest.p_max && dcqcn;
            grows(r.low, slowest.low) && (ramp || !dcqcn && r.low == r.high)
        };
        let param = |key: &str| format!("scheme.params.{key}");
        let kilo = |value: f64| format!("\"{value} KB\"");
        let names = if dcqcn { ["k_min", "k_rate"] } else { ["k", "k_rate"] };
        self.put(&param(names[0]), kilo(slowest.low), low.clone());
        if dcqcn {
            self.put(&param("k_max"), kilo(slowest.high), high);
            self.put(&param("p_max"), format!("{}", slowest.p_max), p_max);
        }
        if rows.iter().all(alike) {
            self.put(&param(names[1]), format!("\"{}\"", slowest.rate), low);
        } else {
            let text = |r: &Row| format!("{}: {} KB to {} KB at {}", r.rate, r.low, r.high, r.p_max);
            let table: Vec<String> = rows.iter().map(text).collect();
            self.put(&param("k_table"), format!("\"{}\"", table.join("; ")), low);
        }
        Ok(())
    }
}
