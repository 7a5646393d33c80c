//! Published numbers: `published.csv`, embedded or from a file.

use cnsim_problem::{Position, Problem, nearest, obeyed, printable};
use cnsim_runs::files::read_csv;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::condition::canonical;
use cnsim_scenario::metrics;
use cnsim_scenario::{Case, Scenario};

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One printed number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Study, scenario, PAUSE mode and scheme; condition as printed.
    pub case: CaseId,
    /// Id of the metric.
    pub metric: String,
    /// The number that was printed.
    pub value: f64,
    /// Value as printed; its last digit gives its precision.
    pub text: String,
    /// Unit of the number.
    pub unit: String,
    /// Remark of the study.
    pub note: String,
}

impl Published {
    /// Half a unit of the last printed digit.
    pub fn half_unit(&self) -> f64 {
        let decimals = self.text.split_once('.').map_or(0, |(_, d)| d.len());
        (0..decimals).fold(0.5, |h, _| h / 10.0)
    }

    /// The case of a scenario for which the number was printed; none for another scenario's number, for a scheme that is not
    /// known, and for a condition that no template reads.
    pub fn case_in(&self, s: &Scenario) -> Option<Case> {
        let CaseId { study, scenario, condition, pause, scheme } = &self.case;
        let scheme = s.registry().find(scheme).filter(|_| (study, scenario) == (&s.study, &s.name))?;
        s.case_of(condition, pause, &scheme.name)
    }
}

/// The table of published numbers that the program carries with it.
pub const EMBEDDED: &str = include_str!("../../../published/published.csv");

/// Cells and claims of the run of all studies that the program carries with it, made with its own defaults.
const CARRIED: [&str; 2] =
    [include_str!("../../../published/measured.csv"), include_str!("../../../published/claims.csv")];

/// How many published cells agree in the run that the program carries with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// Cells that are not zero: those that agree, and all.
    pub cells: (usize, usize),
    /// Cells that were published as zero: those that agree, and all.
    pub zeros: (usize, usize),
}

/// Each published cell that the carried run has; was it published as zero, and does it agree?
type Judged = (CaseId, bool, bool);

/// The published cells of the run that the program carries with it.
fn judged() -> &'static [Judged] {
    static ALL: OnceLock<Vec<Judged>> = OnceLock::new();
    ALL.get_or_init(judge)
}

fn judge() -> Vec<Judged> {
    let row = |row: Vec<String>| {
        let case: [&str; 5] = std::array::from_fn(|i| row[i].as_str());
        ((CaseId::from(case), row[5].clone()), row[9] == "agrees")
    };
    let agree: BTreeMap<(CaseId, String), bool> =
        read_csv(CARRIED[0].split_once('\n').map_or("", |t| t.1)).into_iter().map(row).collect();
    let of = |p: Published| {
        let place = (p.case, p.metric);
        let agrees = *agree.get(&place)?;
        Some((place.0, p.value == 0.0, agrees))
    };
    parse("published.csv", EMBEDDED).unwrap_or_default().into_iter().filter_map(of).collect()
}

/// Agreement of the cells of a study, or of one of its scenarios.
pub fn agreement(study: &str, scenario: Option<&str>) -> Agreement {
    let mut all = Agreement::default();
    let mine = |(c, ..): &&Judged| {
        c.study.eq_ignore_ascii_case(study) && scenario.is_none_or(|s| c.scenario.eq_ignore_ascii_case(s))
    };
    for (_, zero, agrees) in judged().iter().filter(mine) {
        let (agree, of) = if *zero { &mut all.zeros } else { &mut all.cells };
        *agree += usize::from(*agrees);
        *of += 1;
    }
    all
}

/// Verdict and evidence of a claim in the run that the program carries with it.
pub fn carried_claim(id: &str) -> Option<[String; 2]> {
    let row = read_csv(CARRIED[1]).into_iter().find(|row| row[1].eq_ignore_ascii_case(id))?;
    Some([row[4].clone(), row[5].clone()])
}

const HEADER: [&str; 9] =
    ["study", "scenario", "condition", "pause", "scheme", "metric", "value", "unit", "note"];

/// A table's cell that cannot be read: file, line, column of the field, reason and remedy. Control characters are made
/// visible.
fn wrong(
    file: &str,
    text: &str,
    record: &csv::StringRecord,
    field: usize,
    reason: &str,
    remedy: &str,
) -> String {
    let line = record.position().map_or(0, csv::Position::line);
    let start = record.position().map_or(0, |p| p.byte() as usize);
    // Where the fields before have no quotes, they and their commas stand before this one.
    let plain = text.get(start..).and_then(|t| t.lines().next()).is_some_and(|l| !l.contains('"'));
    let before: usize = (0..field).map(|f| record.get(f).map_or(0, |t| t.chars().count()) + 1).sum();
    let column = if plain { before + 1 } else { 1 };
    let position = Some(Position { line: line as usize, column });
    let name = HEADER.get(field).copied().unwrap_or("");
    let problem = Problem { position, key: name.into(), ..Problem::of_file(file, reason, remedy) };
    problem.to_string()
}

/// Reads published numbers; a byte order mark is skipped.
///
/// # Errors
/// File, line, column, reason and remedy.
pub fn parse(file: &str, text: &str) -> Result<Vec<Published>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let csv_error = |e: csv::Error| {
        let line = e.position().map_or(1, csv::Position::line) as usize;
        let position = Some(Position { line, column: 1 });
        Problem { position, ..Problem::of_file(file, e.to_string(), "the file must be CSV in UTF-8") }
            .to_string()
    };
    let header = reader.headers().map_err(csv_error)?.clone();
    if !header.iter().eq(HEADER) {
        let reason = format!("the header is `{}`", header.iter().collect::<Vec<_>>().join(","));
        return Err(wrong(file, text, &header, 0, &reason, &format!("it must be `{}`", HEADER.join(","))));
    }
    let mut all: Vec<Published> = Vec::new();
    let mut seen = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(csv_error)?;
        let bad = |field: usize, reason: String, remedy: &str| {
            Err(wrong(file, text, &record, field, &reason, remedy))
        };
        if record.len() != HEADER.len() {
            let reason = format!("{} fields; {} are needed", record.len(), HEADER.len());
            return bad(0, reason, &HEADER.join(","));
        }
        if let Some((f, c)) =
            record.iter().enumerate().find_map(|(f, t)| Some((f, t.chars().find(|c| obeyed(*c))?)))
        {
            return bad(
                f,
                format!("has the control character {}", c.escape_unicode()),
                "write printable characters",
            );
        }
        let Some(value) = record[6].parse::<f64>().ok().filter(|v| v.is_finite()) else {
            return bad(6, format!("`{}` is not a number", &record[6]), "write it as printed");
        };
        if !matches!(&record[3], "on" | "off" | "global") {
            return bad(3, format!("`{}` is no PAUSE mode", &record[3]), "write on, off or global");
        }
        let row = Published {
            case: [&record[0], &record[1], &record[2], &record[3], &record[4].to_ascii_lowercase()].into(),
            metric: record[5].into(),
            value,
            text: record[6].into(),
            unit: record[7].into(),
            note: record[8].into(),
        };
        let key = CaseId { condition: canonical(&row.case.condition), ..row.case.clone() };
        let line = record.position().map_or(0, csv::Position::line);
        if let Some(above) = seen.insert((key, row.metric.clone()), line) {
            return bad(0, format!("the same cell stands in line {above}"), "keep one of them");
        }
        all.push(row);
    }
    Ok(all)
}

/// Unknown names in rows, once each: studies (except these) and metrics. Such rows have no cell.
pub fn unknown(rows: &[Published], studies: &[&str]) -> Vec<String> {
    let mut said = BTreeMap::new();
    for p in rows {
        if !studies.contains(&p.case.study.as_str()) {
            let near = nearest(&p.case.study, studies.iter().copied());
            *said.entry((format!("there is no study `{}`", p.case.study), near)).or_insert(0) += 1;
        }
        if metrics::find(&p.metric).is_none() {
            let near = cnsim_scenario::meant::metric(&p.metric);
            *said.entry((format!("there is no metric `{}`", p.metric), near)).or_insert(0) += 1;
        }
    }
    let line = |((what, near), n): ((String, Option<&str>), usize)| {
        let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        let rows = if n == 1 { "1 row has".into() } else { format!("{n} rows have") };
        printable(&format!("{rows} no cell: {what}{hint}")).into_owned()
    };
    let mut lines: Vec<String> = said.into_iter().map(line).collect();
    lines.sort_by_key(|l| l.contains("no metric"));
    lines
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
        let bad = format!("{head}\nB07,s,c,on,none,overhead,1,Gb/s,\nB07,s,c,on,none,overhead,x,Gb/s,\n");
        assert!(parse("f.csv", &bad).unwrap_err().starts_with("f.csv:3:26: `value`: `x` is not a number"));
        let twice =
            format!("\u{feff}{head}\nB07,s,c,on,none,overhead,1,Gb/s,\nB07,s,c,on,none,overhead,2,Gb/s,\n");
        assert!(
            parse("f.csv", &twice)
                .unwrap_err()
                .contains("f.csv:3:1: `study`: the same cell stands in line 2")
        );
        let metric = format!("{head}\nB07,s,c,on,none,overhed,1,Gb/s,\nB70,s,c,on,none,overhead,1,Gb/s,\n");
        let said = unknown(&parse("f.csv", &metric).unwrap(), &["B07"]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("study `B70`") && said[1].contains("did you mean `overhead`"), "{said:?}");
        let escape = format!("{head}\nB07,s,\u{1b}[31m,on,none,overhead,1,Gb/s,\n");
        assert!(
            parse("f.csv", &escape)
                .unwrap_err()
                .contains("f.csv:2:7: `condition`: has the control character")
        );
        assert!(parse("f.csv", "a,b\n").unwrap_err().starts_with("f.csv:1:1: `study`: the header is `a,b`"));
        let one = |line: &str| parse("f.csv", &format!("{head}\n{line}\n")).unwrap_err();
        assert!(
            one("B07,s,c,maybe,none,overhead,1,Gb/s,")
                .starts_with("f.csv:2:9: `pause`: `maybe` is no PAUSE mode")
        );
        assert!(one("B07,s,c,on,none").contains("5 fields; 9 are needed"));
        // Behind quotes columns are not counted.
        assert!(one("B07,s,\"c, d\",on,none,overhead,x,Gb/s,").starts_with("f.csv:2:1: `value`"));
        let twice = format!("{head}\nB07,s,c,on,none,x,1,Gb/s,\nB07,s,c,off,none,x,1,Gb/s,\n");
        assert_eq!(
            unknown(&parse("f.csv", &twice).unwrap(), &["B07"])[0].split(':').next(),
            Some("2 rows have no cell")
        );
        let text = format!("{head}\nB07,s,c,on,none,overhead,1,Gb/s\u{fffd},\n").replace('\u{fffd}', "\u{7}");
        assert!(
            parse("f.csv", &text).unwrap_err().starts_with("f.csv:2:28: `unit`: has the control character")
        );
    }
}
