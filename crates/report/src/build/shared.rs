//! The table of shared buffers: how close each switch came to its limits.

use super::facts::{self, by_pause};
use super::scene::CaseRuns;
use crate::model::{Cell, Table};
use cnsim_runs::record::SharedFacts;
use std::collections::BTreeMap;

/// Most switches of a table: those that came closest to a limit.
const MOST: usize = 8;

/// A column: its name, title, unit and meaning, whether it stands only in the list of all numbers, and the value of a switch.
type Fact = (&'static str, &'static str, &'static str, &'static str, bool, fn(&SharedFacts) -> Option<f64>);

const FACTS: [Fact; 7] = [
    (
        "pool_share",
        "Pool",
        "%",
        "most that the common pool held, of its size, rounded up to a 64th",
        false,
        |s| share(s.pool),
    ),
    ("pool", "Pool", "KB", "most that the common pool held, rounded up to a 64th of its size", false, |s| {
        kilobytes(s.pool)
    }),
    (
        "headroom_share",
        "Headroom",
        "%",
        "most that the headroom of all inputs held, of its size",
        false,
        |s| share(s.headroom),
    ),
    ("headroom", "Headroom", "KB", "most that the headroom of all inputs held together", false, |s| {
        kilobytes(s.headroom)
    }),
    (
        "reserve_share",
        "Reserves",
        "%",
        "what the reserves held, of their size, as the pool came to its most",
        true,
        |s| share(s.reserve),
    ),
    ("pool_size", "Pool size", "KB", "size of the common pool", true, |s| kilobytes((s.pool.1, s.pool.1))),
    ("headroom_size", "Headroom size", "KB", "size of the headroom of all inputs", true, |s| {
        kilobytes((s.headroom.1, s.headroom.1))
    }),
];

/// Share of a part of the buffer that was used, %; none of a part without size.
fn share((held, size): (u64, u64)) -> Option<f64> {
    (size > 0).then(|| 100.0 * held as f64 / size as f64)
}

/// Bytes that a part of the buffer held, in KB; none of a part without size.
fn kilobytes((held, size): (u64, u64)) -> Option<f64> {
    (size > 0).then(|| held as f64 / 1e3)
}

/// How close a switch came to a limit that ends in loss: that of its pool or its headroom.
fn close(s: &SharedFacts) -> f64 {
    share(s.pool).unwrap_or(0.0).max(share(s.headroom).unwrap_or(0.0))
}

/// A table for each PAUSE mode, a row for each switch and case; none without shared buffers.
pub fn shared(cases: &[CaseRuns<'_>]) -> Vec<Table> {
    by_pause(cases, table)
}

fn table(pause: &str, mine: &[&CaseRuns<'_>]) -> Option<Table> {
    let mut closest: BTreeMap<&str, f64> = BTreeMap::new();
    for s in mine.iter().flat_map(|c| &c.runs).flat_map(|r| &r.shared) {
        let most = closest.entry(&s.switch).or_default();
        *most = most.max(close(s));
    }
    let mut ranked: Vec<(&str, f64)> = closest.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let names: Vec<&str> = ranked.iter().take(MOST).map(|n| n.0).collect();
    let cells = |name: &str, c: &CaseRuns<'_>| {
        let of = |s: &&SharedFacts| s.switch == name;
        let seeds: Vec<&SharedFacts> = c.runs.iter().flat_map(|r| &r.shared).filter(of).collect();
        let most = |f: &Fact| {
            let values: Vec<f64> = seeds.iter().filter_map(|s| f.5(s)).collect();
            let measured = values.iter().copied().reduce(f64::max)?;
            Some(Cell { measured: Some(measured), seeds: values.len() as u32, values, ..Cell::default() })
        };
        (!seeds.is_empty()).then(|| FACTS.iter().map(most).collect())
    };
    let t = Table {
        id: format!("shared buffers, PAUSE {pause}"),
        condition: "Shared buffers".into(),
        pause: pause.into(),
        caption: caption(mine, ranked.len() - names.len()),
        columns: FACTS.iter().map(|f| facts::column([f.0, f.1, f.2, f.3], f.4)).collect(),
        ..Table::default()
    };
    facts::table(t, "switch", (mine, &names), &cells, |_| true)
}

/// Caption of the table: the meaning of its numbers, their runs, and how exact they are.
fn caption(cases: &[&CaseRuns<'_>], left: usize) -> String {
    let most = cases.iter().map(|c| c.runs.len()).max().unwrap_or(0);
    let runs = match (most, cases.first().and_then(|c| c.runs.first())) {
        (1, Some(run)) => format!("in one run of each case (seed {})", run.seed),
        _ => format!("in any of the {most} runs (seeds) of a case"),
    };
    let more = match left {
        0 => String::new(),
        1 => " And 1 more switch is in results.json.".into(),
        n => format!(" And {n} more switches are in results.json."),
    };
    format!(
        "The most that pool and headroom of a switch's shared buffer held {runs}; the closest to a limit first. \
         The pool is told in 64ths of its size, rounded up, one at least.{more}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_runs::record::RunRecord;

    fn run(seed: u64, scheme: &str, switches: &[(&str, u64, u64)]) -> RunRecord {
        let facts = |&(name, pool, headroom): &(&str, u64, u64)| SharedFacts {
            switch: name.into(),
            reserve: (1_000, 4_000),
            pool: (pool, 64_000),
            headroom: (headroom, 20_000),
        };
        let case = ["mine", "small", "c", "on", scheme].into();
        RunRecord { case, seed, shared: switches.iter().map(facts).collect(), ..RunRecord::default() }
    }

    fn tables(runs: &[RunRecord]) -> Vec<Table> {
        shared(&CaseRuns::of(runs))
    }

    /// S2 comes closest, by its headroom, though S1 has most in its pool; of two seeds the greater value stands.
    #[test]
    fn the_switch_closest_to_a_limit_stands_first() {
        let runs = [
            run(1, "none", &[("S1", 32_000, 0), ("S2", 1_000, 10_000)]),
            run(2, "none", &[("S1", 16_000, 0), ("S2", 2_000, 15_000)]),
        ];
        let all = tables(&runs);
        assert_eq!(all.len(), 1);
        let t = &all[0];
        let names: Vec<&str> = t.rows.iter().map(|r| r.condition.as_str()).collect();
        assert_eq!(names, ["S2", "S1"]);
        let shown: Vec<(&str, &str)> =
            t.columns.iter().filter(|c| !c.more).map(|c| (c.title.as_str(), c.unit.as_str())).collect();
        assert_eq!(shown, [("Pool", "%"), ("Pool", "KB"), ("Headroom", "%"), ("Headroom", "KB")]);
        let of = |row: usize| -> Vec<f64> {
            t.rows[row].cells.iter().map(|c| c.as_ref().unwrap().measured.unwrap()).collect()
        };
        assert_eq!(of(0), [3.125, 2.0, 75.0, 15.0, 25.0, 64.0, 20.0]);
        assert_eq!(of(1), [50.0, 32.0, 0.0, 0.0, 25.0, 64.0, 20.0]);
        assert_eq!(t.rows[1].cells[0].as_ref().unwrap().values, [50.0, 25.0], "each seed's");
        assert!(
            t.caption.contains("any of the 2 runs (seeds)") && t.caption.contains("64ths"),
            "{}",
            t.caption
        );
        assert!(!t.caption.contains("more switch"), "{}", t.caption);
    }

    #[test]
    fn few_switches_stand_for_many_and_the_others_are_counted() {
        let names: Vec<String> = (0..11).map(|n| format!("S{n:02}")).collect();
        let facts: Vec<(&str, u64, u64)> =
            names.iter().zip(1..).map(|(n, pool)| (&**n, 1_000 * pool, 0)).collect();
        let all = tables(&[run(4, "none", &facts), run(4, "dcqcn", &facts[..2])]);
        let t = &all[0];
        // Only `none` has the switches of most use.
        assert_eq!((t.rows.len(), t.rows[0].condition.as_str()), (MOST, "S10"));
        assert!(t.caption.contains("one run of each case (seed 4)"), "{}", t.caption);
        assert!(t.caption.ends_with("And 3 more switches are in results.json."), "{}", t.caption);
    }

    #[test]
    fn a_part_without_size_has_no_column_and_no_buffer_no_table() {
        let mut lossy = run(1, "none", &[("S1", 32_000, 0)]);
        lossy.shared[0].headroom = (0, 0);
        let t = &tables(&[lossy])[0];
        assert!(t.columns.iter().all(|c| !c.metric.starts_with("headroom")), "{:?}", t.columns);
        assert_eq!(t.rows[0].cells.len(), t.columns.len());
        assert!(tables(&[run(1, "none", &[])]).is_empty());
    }
}
