//! The printed results of `cnsim run` and `reproduce`: tables of one study, or a line for each scenario of many.

use crate::look::{self, Colour, at_least, measured, paint};
use cnsim_measure::quantity::digits;
use cnsim_papers::cells::Cell;
use cnsim_papers::claims::{Claim, Finding, Holds};
use cnsim_papers::verdict::Verdict;
use cnsim_problem::joined;
use cnsim_report::model::{self, Page, Report, Table};
use cnsim_runs::record::RunRecord;
use cnsim_runs::store::fingerprint;
use cnsim_scenario::metrics;
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;

/// Largest number of misses that are printed one by one; of more, a few of each kind.
const ONE_BY_ONE: usize = 30;

/// Most rows of a table of ports or switches; the report has the others.
const PORT_ROWS: usize = 24;

/// Content of the summary.
pub(crate) struct Told<'a> {
    /// The command's word for the scenario.
    pub(crate) what: &'a str,
    /// Metrics that are asked for; none for the main ones.
    pub(crate) metric: &'a [String],
    pub(crate) out: &'a std::path::Path,
    pub(crate) report: &'a Report,
    pub(crate) cells: &'a [Cell],
    pub(crate) findings: &'a [(&'static Claim, Finding)],
    pub(crate) records: &'a [RunRecord],
}

pub(crate) fn tell(t: &Told<'_>) {
    println!("{}", text(t, look::colour_on_stdout()));
}

/// The printed summary.
fn text(t: &Told<'_>, colour: bool) -> String {
    let mut lines = Vec::new();
    let out = &mut lines;
    let studies: BTreeSet<&str> = t.cells.iter().map(|c| c.case.study.as_str()).collect();
    let one = studies.len() <= 1;
    if one {
        for page in &t.report.pages {
            for table in &page.tables {
                page_table(page, table, t.metric, colour, out);
            }
        }
    } else {
        out.push(format!("\n{}", scenarios(t)));
    }
    let count = |v: Verdict| t.cells.iter().filter(|c| c.verdict == v && !c.structural).count();
    let zeros = t.cells.iter().filter(|c| c.published.is_some() && c.structural).count();
    // Of an experiment with nothing published beside it, nothing is said of published cells.
    let mut last = match t.cells {
        [] => "Nothing was measured.".into(),
        cells => look::interval(cells.iter().map(|c| c.summary.n as u64)),
    };
    if t.cells.iter().any(|c| c.published.is_some()) {
        let strange = match count(Verdict::Incomparable) {
            0 => String::new(),
            n => format!(", {n} cannot be compared"),
        };
        let open = match count(Verdict::Undecided) {
            0 => String::new(),
            n => format!(", {n} undecided by so few seeds"),
        };
        last = format!(
            "{} published cells agree, {} are near, {} differ{open}{strange}; {zeros} more are zero by construction. {last}",
            count(Verdict::Agrees),
            count(Verdict::Near),
            count(Verdict::Differs),
        );
    }
    out.push(format!("\n{last}"));
    misses(t.cells, out);
    claims(t, one, colour, out);
    let left = t.report.not_run.len() + t.report.pages.iter().map(|p| p.not_run.len()).sum::<usize>();
    if left > 0 {
        out.push(format!("\nPublished, not run: {left} cells; the report lists them."));
    }
    if t.report.pages.len() == 1 {
        queue(t.records, out);
    }
    next(t, out);
    out.push(format!(
        "Fingerprint of all runs: {} (the same on any number of threads)",
        fingerprint(t.records)
    ));
    lines.join("\n")
}

/// A line a scenario: how its cells came out.
fn scenarios(t: &Told<'_>) -> String {
    let header = [
        "scenario", "runs", "agree", "near", "differ", "undecided", "zero", "unpublished", "not run",
        "figures",
    ];
    let rows: Vec<Vec<String>> = t
        .report
        .pages
        .iter()
        .map(|p| {
            let cells = || p.tables.iter().flat_map(|t| &t.rows).flat_map(|r| r.cells.iter().flatten());
            let of = |v: Verdict| cells().filter(|c| c.verdict == v && !c.structural).count();
            let zeros = cells().filter(|c| c.structural && c.published.is_some()).count();
            let runs =
                t.records.iter().filter(|r| p.id == format!("{}/{}", r.case.study, r.case.scenario)).count();
            let figures = p.figures.len();
            let numbers = [
                runs,
                of(Verdict::Agrees),
                of(Verdict::Near),
                of(Verdict::Differs) + of(Verdict::Incomparable),
                of(Verdict::Undecided),
                zeros,
                of(Verdict::Unpublished),
                p.not_run.len(),
                figures,
            ];
            let shown = |n: &usize| if *n == 0 { "-".into() } else { n.to_string() };
            std::iter::once(p.id.clone()).chain(numbers.iter().map(shown)).collect()
        })
        .collect();
    look::table(&header, &rows, false)
}

fn page_table(page: &Page, t: &Table, asked: &[String], colour: bool, out: &mut Vec<String>) {
    let lines = table(t, asked, colour);
    if lines.is_empty() {
        return;
    }
    let title = joined([&page.id, &t.condition, &format!("PAUSE {}", t.pause)], ", ");
    out.push(format!("\n{}", paint(&title, Colour::Bold, colour)));
    out.extend(lines);
}

/// The lines of a table of the report, and its caption; none if it has no column to show.
pub(crate) fn table(t: &Table, asked: &[String], colour: bool) -> Vec<String> {
    lines_of(t, asked, true, colour)
}

/// The first table of a report, of so few seeds that nothing is judged.
pub(crate) fn first(report: &Report, seeds: u64) -> String {
    let page = report.pages.first();
    let Some((page, t)) = page.and_then(|p| Some((p, p.tables.first()?))) else { return String::new() };
    let title = format!(
        "{}, {}, PAUSE {}: a first look at {seeds} seeds; verdicts come with all of them",
        page.id, t.condition, t.pause
    );
    [vec![title], lines_of(t, &[], false, false)].concat().join("\n")
}

/// Does a column hold a published number?
fn published(t: &Table, c: usize) -> bool {
    t.rows.iter().any(|r| r.cells[c].as_ref().is_some_and(|x| x.published.is_some()))
}

/// The columns that are shown, and titles of those that are zero in every row: published ones, and of the others only the five of the
/// printed tables; of an `own` experiment all.
fn columns<'t>(t: &'t Table, asked: &[String], own: bool) -> (Vec<usize>, Vec<&'t str>) {
    let cells = |c: usize| t.rows.iter().filter_map(move |r| r.cells[c].as_ref());
    let said = |c: &usize| cells(*c).any(|x| x.measured.is_some_and(|m| m != 0.0));
    let main = |c: usize| {
        let printed = metrics::find(&t.columns[c].metric).is_some_and(|m| m.printed);
        published(t, c) || printed && !cells(c).all(|x| x.structural)
    };
    let mine = |c: &usize| match asked {
        // Columns that the report leaves to its list of all numbers are left out here, too.
        [] => !t.columns[*c].more && (own || main(*c)),
        asked => asked.contains(&t.columns[*c].metric),
    };
    let (columns, zeros): (Vec<usize>, Vec<usize>) =
        (0..t.columns.len()).filter(mine).partition(|c| !own || !asked.is_empty() || said(c));
    let mut zeros: Vec<&str> = zeros.iter().map(|c| t.columns[*c].title.as_str()).collect();
    zeros.dedup();
    (columns, zeros)
}

fn lines_of(t: &Table, asked: &[String], judge: bool, colour: bool) -> Vec<String> {
    let several = t.rows.iter().any(|r| !r.condition.is_empty());
    let own = !(0..t.columns.len()).any(|c| published(t, c));
    let (columns, zeros) = columns(t, asked, own);
    if columns.is_empty() && zeros.is_empty() {
        return Vec::new();
    }
    let judge = judge && !own;
    let mut header: Vec<String> = Vec::new();
    if several {
        header.push(if t.row_heading.is_empty() { "condition".into() } else { t.row_heading.clone() });
    }
    header.push("scheme".into());
    for &c in &columns {
        let (m, published) = (&t.columns[c], published(t, c));
        header.extend(published.then(|| format!("{} publ.", m.title)));
        let title = if published { "measured" } else { &m.title };
        header.push(if m.unit.is_empty() { title.into() } else { format!("{title} [{}]", m.unit) });
    }
    header.extend(judge.then(|| "verdict".into()));
    let ports = t.row_heading.starts_with("port") || t.row_heading.starts_with("switch");
    let (shown_rows, left) = t.rows.split_at(if ports { whole_ports(t) } else { t.rows.len() });
    let row = |(i, r): (usize, &model::Row)| {
        let same = i > 0 && t.rows[i - 1].condition == r.condition;
        let mut row = Vec::new();
        row.extend(several.then(|| if same { String::new() } else { r.condition.clone() }));
        row.push(r.scheme.clone());
        for &c in &columns {
            let cell = r.cells[c].as_ref();
            let said = |x: &model::Cell| x.published.clone().unwrap_or_else(|| "-".into());
            row.extend(published(t, c).then(|| cell.map_or_else(String::new, said)));
            row.push(cell.and_then(shown).unwrap_or_default());
        }
        row.extend(judge.then(|| verdict(t, r, &columns)));
        row
    };
    let rows: Vec<Vec<String>> = shown_rows.iter().enumerate().map(row).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let tint = |line: &str| match line {
        _ if line.contains("differs") => Colour::Yellow,
        _ if line.ends_with("agrees") => Colour::Green,
        _ => Colour::Plain,
    };
    let mut out = look::painted(&look::table(&header, &rows, judge), colour, tint);
    out.extend((!zeros.is_empty()).then(|| format!("Zero in every row: {}.", zeros.join(", "))));
    let further = look::count(left.len() as u64, "further row");
    out.extend((!left.is_empty()).then(|| format!("{further} are in the report.")));
    out.extend((!t.caption.is_empty()).then(|| t.caption.clone()));
    out
}

/// The verdict on a row in words: the columns that do not agree, by kind.
fn verdict(t: &Table, row: &model::Row, columns: &[usize]) -> String {
    let kinds = [
        (Verdict::Differs, "differs"),
        (Verdict::Near, "near"),
        (Verdict::Undecided, "undecided"),
        (Verdict::Incomparable, "not compared"),
    ];
    let has = |c: usize, of: &dyn Fn(&model::Cell) -> bool| row.cells[c].as_ref().is_some_and(of);
    let told = |(kind, word): (Verdict, &str)| {
        let mine = columns.iter().filter(|c| has(**c, &|x| x.verdict == kind));
        let titles: Vec<&str> = mine.map(|c| t.columns[*c].title.as_str()).collect();
        (!titles.is_empty()).then(|| format!("{word}: {}", titles.join(", ")))
    };
    let parts: Vec<String> = kinds.into_iter().filter_map(told).collect();
    match (parts.is_empty(), columns.iter().any(|c| has(*c, &|x| x.published.is_some()))) {
        (false, _) => parts.join("; "),
        (true, true) => "agrees".into(),
        (true, false) => "-".into(),
    }
}

/// How many rows of a table of ports or switches are shown: those of whole ones, at least of one.
fn whole_ports(t: &Table) -> usize {
    let port = |i: usize| t.rows[i].condition.split(", ").next();
    let mut ends = (1..=t.rows.len()).filter(|&i| i == t.rows.len() || port(i) != port(i - 1));
    let first = ends.next().unwrap_or(0);
    ends.take_while(|&end| end <= PORT_ROWS).last().unwrap_or(first)
}

/// A measured value with its interval, or with the least and greatest of few.
fn shown(c: &model::Cell) -> Option<String> {
    let mean = c.measured?;
    let text = c.range.map_or_else(|| measured(mean, c.ci95), |range| look::ranging(mean, range));
    Some(at_least(c.at_least) + &text)
}

/// Cells that do not agree, by the assumption suspected.
fn misses(cells: &[Cell], out: &mut Vec<String>) {
    let missed: Vec<&Cell> =
        cells.iter().filter(|c| matches!(c.verdict, Verdict::Near | Verdict::Differs)).collect();
    let most = if missed.len() <= ONE_BY_ONE { usize::MAX } else { 2 };
    let mut groups: IndexMap<(String, &str), Vec<&Cell>> = IndexMap::new();
    for c in missed {
        groups.entry((format!("{}/{}", c.case.study, c.case.scenario), &c.note)).or_default().push(c);
    }
    for ((id, note), cells) in groups {
        let note = if note.is_empty() { "no assumption is suspected yet" } else { note };
        out.push(format!("  {id}: {note}"));
        for c in cells.iter().take(most) {
            out.push(format!(
                "    {}, {}: published {}, measured {}{}",
                c.shown().name(),
                c.metric.title,
                c.published.as_ref().map_or("", |p| p.text.as_str()),
                digits(c.summary.mean),
                if c.verdict == Verdict::Near { " (near)" } else { "" }
            ));
        }
        if cells.len() > most {
            out.push(format!("    and {} more", cells.len() - most));
        }
    }
}

fn claims(t: &Told<'_>, one: bool, colour: bool, out: &mut Vec<String>) {
    if t.findings.is_empty() {
        return;
    }
    let missing = t.findings.iter().filter(|f| f.1.holds == Holds::NotRun).count();
    if one && missing == t.findings.len() {
        out.push(format!(
            "\nClaims: the whole study decides them (`cnsim reproduce {}`).",
            t.findings[0].0.study()
        ));
    } else if one {
        out.push(format!("\nClaims ({missing} of {} not run here):", t.findings.len()));
    } else {
        let studies: IndexSet<&str> = t.findings.iter().map(|(c, _)| c.study()).collect();
        let header = ["claims of", "yes", "no", "undecided", "not run", "read from figures"];
        let rows: Vec<Vec<String>> = studies
            .iter()
            .map(|s| {
                let mine = || t.findings.iter().filter(|f| f.0.study() == *s);
                // Claims that could only be read from a figure are shown, not scored.
                let of = |h: Holds| mine().filter(|f| f.1.holds == h && f.0.origin != "figure").count();
                let figures = mine().filter(|f| f.0.origin == "figure").count();
                let numbers =
                    [of(Holds::Yes), of(Holds::No), of(Holds::Undecided), of(Holds::NotRun), figures];
                std::iter::once((*s).to_string()).chain(numbers.iter().map(usize::to_string)).collect()
            })
            .collect();
        out.push(format!("\n{}\n", look::table(&header, &rows, false)));
    }
    for (c, f) in t.findings.iter().filter(|f| f.1.holds != Holds::NotRun) {
        // Among many, those that hold are not told.
        if !one && f.holds == Holds::Yes {
            continue;
        }
        let tint = match f.holds {
            Holds::Yes => Colour::Green,
            Holds::No => Colour::Yellow,
            _ => Colour::Plain,
        };
        out.push(paint(&format!("  {:7} {:9} {}", c.id, f.holds.text(), c.text), tint, colour));
    }
}

/// The hot queue of the first case with a scheme, as a picture in one line.
fn queue(records: &[RunRecord], out: &mut Vec<String>) {
    // A queue that stays below 1 KB is nothing to see.
    let with = records
        .iter()
        .filter_map(|r| Some((r, r.over_time.series.get("hot_queue").filter(|q| q.top() >= 1.0)?)));
    let Some((r, q)) = with.clone().find(|(r, _)| r.case.scheme != "none").or_else(|| with.clone().next())
    else {
        return;
    };
    out.push(format!(
        "\nHot queue, {}, {}: {} 0 to {:.0} KB",
        r.case.scheme,
        r.case.place(),
        look::spark(q.upper(), 50),
        q.top()
    ));
}

/// Places of the files, and next steps.
fn next(t: &Told<'_>, out: &mut Vec<String>) {
    let folder = t.out.display();
    // An experiment of one's own has no claims.
    let claims = if t.findings.is_empty() && t.cells.iter().all(|c| c.published.is_none()) {
        ""
    } else {
        " claims.csv,"
    };
    out.push(format!(
        "\nReport   {folder}/report.html\nNumbers  {folder}/numbers.csv,{claims} results.json, series/"
    ));
    let judged = |c: &&Cell| c.published.is_some() && !c.structural;
    let asked = t.cells.iter().find(|c| c.verdict == Verdict::Differs);
    let asked = asked.or_else(|| t.cells.iter().find(judged)).or(t.cells.first());
    if let Some(c) = asked {
        let place = if t.out.as_os_str() == "out" { String::new() } else { format!(" --out {folder}") };
        if c.published.is_some() {
            out.push(format!(
                "Why      cnsim explain {}/{}/{}/{} --condition \"{}\" --pause {}{place}",
                c.case.study,
                c.case.scenario,
                c.case.scheme,
                c.metric.id,
                c.condition(),
                c.case.pause
            ));
        }
        let more = match t.what {
            "all" => String::new(),
            file if file.ends_with(".toml") => String::new(),
            "quick" => format!("cnsim reproduce {} · cnsim reproduce all · ", c.case.study),
            _ => "cnsim reproduce all · ".into(),
        };
        let name = match t.what {
            file if file.ends_with(".toml") => file.to_string(),
            _ => format!("{}/{}", c.case.study, c.case.scenario),
        };
        let pauses = match t
            .records
            .iter()
            .any(|r| r.over_time.pauses.as_ref().is_some_and(|stops| !stops.is_empty()))
        {
            true => format!("cnsim explain-pause {folder} · "),
            false => String::new(),
        };
        let new = if t.what.ends_with(".toml") { "" } else { " · cnsim new mine > mine.toml" };
        out.push(format!(
            "Next     {more}{pauses}cnsim explain {0} · cnsim run {0} --scheme {1}{new}",
            name, c.case.scheme
        ));
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
