//! Published numbers: `published.csv`, embedded or from a file.

use crate::condition::canonical;

/// One printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Study.
    pub study: String,
    /// Scenario.
    pub scenario: String,
    /// Condition, as printed.
    pub condition: String,
    /// on, off or global.
    pub pause: String,
    /// Scheme.
    pub scheme: String,
    /// Metric.
    pub metric: String,
    /// Value.
    pub value: f64,
    /// Value as printed: its last digit says how exact it is.
    pub text: String,
    /// Unit.
    pub unit: String,
    /// What the study says beside it.
    pub note: String,
}

impl Published {
    /// Half a unit of the last printed digit.
    pub fn half_unit(&self) -> f64 {
        let decimals = self.text.split_once('.').map_or(0, |(_, d)| d.len());
        (0..decimals).fold(0.5, |h, _| h / 10.0)
    }
}

/// The embedded copy.
pub const EMBEDDED: &str = include_str!("../../../published/published.csv");

const HEADER: [&str; 9] =
    ["study", "scenario", "condition", "pause", "scheme", "metric", "value", "unit", "note"];

/// Reads published numbers.
///
/// # Errors
/// File, line, column, reason and remedy.
pub fn parse(file: &str, text: &str) -> Result<Vec<Published>, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header: Vec<String> = reader
        .headers()
        .map_err(|e| format!("{file}: {e}"))?
        .iter()
        .map(|h| h.trim_start_matches('\u{feff}').to_string())
        .collect();
    if header != HEADER {
        return Err(format!(
            "{file}:1: the header is `{}`; it must be `{}`",
            header.join(","),
            HEADER.join(",")
        ));
    }
    let mut all: Vec<Published> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| format!("{file}: {e}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != HEADER.len() {
            return Err(format!(
                "{file}:{line}: {} fields; {} are needed ({})",
                record.len(),
                HEADER.len(),
                HEADER.join(",")
            ));
        }
        let value: f64 = record[6].parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
            format!("{file}:{line}: value `{}` is not a number; write it as printed", &record[6])
        })?;
        if !matches!(&record[3], "on" | "off" | "global") {
            return Err(format!("{file}:{line}: pause `{}`; write on, off or global", &record[3]));
        }
        let row = Published {
            study: record[0].into(),
            scenario: record[1].into(),
            condition: record[2].into(),
            pause: record[3].into(),
            scheme: record[4].to_ascii_lowercase(),
            metric: record[5].into(),
            value,
            text: record[6].into(),
            unit: record[7].into(),
            note: record[8].into(),
        };
        let key = |p: &Published| {
            (
                p.study.clone(),
                p.scenario.clone(),
                canonical(&p.condition),
                p.pause.clone(),
                p.scheme.clone(),
                p.metric.clone(),
            )
        };
        if all.iter().any(|p| key(p) == key(&row)) {
            return Err(format!("{file}:{line}: the same cell stands above; keep one"));
        }
        all.push(row);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_copy_reads() {
        let all = parse("published.csv", EMBEDDED).unwrap();
        assert!(all.len() > 100);
        let cell = all.iter().find(|p| p.text == "0.517").unwrap();
        assert!((cell.half_unit() - 0.0005).abs() < 1e-12);
    }

    #[test]
    fn errors_name_the_line() {
        let head = HEADER.join(",");
        let bad = format!("{head}\nB07,s,c,on,none,m,1,Gb/s,\nB07,s,c,on,none,m,x,Gb/s,\n");
        assert!(parse("f.csv", &bad).unwrap_err().starts_with("f.csv:3: value `x`"));
        let twice = format!("{head}\nB07,s,c,on,none,m,1,Gb/s,\nB07,s,c,on,none,m,2,Gb/s,\n");
        assert!(parse("f.csv", &twice).unwrap_err().contains("f.csv:3"));
        assert!(parse("f.csv", "a,b\n").unwrap_err().contains("header"));
    }
}
