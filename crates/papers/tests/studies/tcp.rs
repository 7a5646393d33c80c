//! The pages on TCP: every cell of their tables is the run that its row and column name, at seed 1.

use cnsim_runs::run::{Job, Watch, run_jobs};
use cnsim_scenario::Scenario;

/// A table behind `<!-- runs: SCENARIO; METRIC; DECIMALS -->`: the cells by condition, PAUSE and scheme. A row begins with a condition, a
/// column with `SCHEME, PAUSE on`.
struct Block {
    scenario: String,
    metric: String,
    decimals: usize,
    cells: Vec<(String, String, String, String)>,
}

fn fields(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut all = Vec::new();
    for part in text.split("<!-- runs: ").skip(1) {
        let (head, table) = part.split_once("-->").unwrap();
        let [scenario, metric, decimals] = head.split(';').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{head}: write SCENARIO; METRIC; DECIMALS")
        };
        let mut lines = table.trim_start().lines().take_while(|l| l.starts_with('|'));
        let columns = fields(lines.next().unwrap());
        let mut cells = Vec::new();
        for line in lines.skip(1) {
            let row = fields(line);
            assert_eq!(row.len(), columns.len(), "{line}");
            for (column, cell) in columns.iter().zip(&row).skip(1).filter(|c| *c.1 != "–") {
                let (scheme, pause) = column.split_once(", PAUSE ").unwrap_or_else(|| panic!("{column}"));
                cells.push((row[0].into(), pause.into(), scheme.into(), (*cell).into()));
            }
        }
        let (scenario, metric) = (scenario.into(), metric.into());
        all.push(Block { scenario, metric, decimals: decimals.parse().unwrap(), cells });
    }
    all
}

#[test]
fn tcp_beside_pause_and_qcn() {
    figures("tcp", 9);
}

#[test]
fn hot_interconnects_2011() {
    figures("t11", 4);
}

/// Holds the figures of a page with so many tables against their runs.
fn figures(page: &str, tables: usize) {
    let path = format!("{}/../../docs/studies/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = blocks(&text);
    let all: Vec<&String> = blocks.iter().flat_map(|b| &b.cells).map(|c| &c.3).collect();
    let bold = text.split("**").skip(1).step_by(2).filter(|b| b.starts_with(|c: char| c.is_ascii_digit()));
    let strange: Vec<&str> = bold.filter(|b| all.iter().all(|cell| cell != b)).collect();
    assert!(strange.is_empty(), "bold figures that stand in no table: {strange:?}");
    assert_eq!(blocks.len(), tables);
    let mut wrong = Vec::new();
    for Block { scenario: id, metric, decimals, cells } in blocks {
        let scenario = Scenario::load(&id, &[]).unwrap();
        let jobs: Vec<Job> = cells
            .iter()
            .map(|(condition, pause, scheme, _)| {
                let is = |c: &cnsim_scenario::Case| {
                    (&c.id.condition, &c.id.pause, &c.id.scheme) == (condition, pause, scheme)
                };
                let case = scenario.cases().into_iter().find(is);
                let case = case.unwrap_or_else(|| panic!("{id} has no {condition}, PAUSE {pause}, {scheme}"));
                let ready = scenario.ready(&case).unwrap();
                Job::new(case, ready, 1)
            })
            .collect();
        let records = run_jobs(&jobs, None, 2, &Watch::default()).unwrap();
        for (record, (condition, pause, scheme, cell)) in records.into_iter().zip(&cells) {
            let seen = format!("{:.decimals$}", record.unwrap().metrics[metric.as_str()]);
            if seen != *cell {
                wrong.push(format!(
                    "{id}, {condition}, PAUSE {pause}, {scheme}: {metric} is {seen}, not {cell}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
