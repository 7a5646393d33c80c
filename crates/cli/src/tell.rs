//! Verbs that need no run: list, check, schema, doctor.

use crate::look::{self, Colour, paint};
use crate::request::Cost;
use crate::{Common, Done, pairs};
use cnsim_papers::PAPERS;
use cnsim_scenario::assumptions::ASSUMPTIONS;
use cnsim_scenario::metrics::METRICS;
use cnsim_scenario::{EMBEDDED, Scenario, embedded_of};
use serde_json::json;

pub(crate) fn list(what: &str, as_json: bool, common: &Common) -> Done {
    let mut rows: Vec<(String, String)> = Vec::new();
    match what {
        "studies" => {
            for p in PAPERS {
                let n = look::count(embedded_of(p.id).count() as u64, "scenario");
                rows.push((p.id.into(), format!("{} ({n}). {}", p.title, p.citation)));
            }
        }
        "schemes" => rows.extend(common.registry.iter().map(|e| (e.name.clone(), e.title.clone()))),
        "metrics" => rows.extend(METRICS.iter().map(|m| (m.id.into(), format!("{} [{}]", m.about, m.unit)))),
        "assumptions" => {
            rows.extend(ASSUMPTIONS.iter().map(|a| {
                (format!("{} {}", a.id, a.name), format!("{} ({} = {})", a.about, a.key, a.alternatives))
            }));
        }
        _ => {
            for (id, _) in EMBEDDED {
                rows.push(((*id).into(), Scenario::load(id, &[])?.title));
            }
        }
    }
    if as_json {
        let list: Vec<_> = rows.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
        println!("{}", json!(list));
        return Ok(());
    }
    // A long name stands on a line of its own, so that texts keep most of the width.
    let width = rows.iter().map(|r| r.0.len()).filter(|n| *n <= 28).max().unwrap_or(0);
    for (name, about) in rows {
        let (name, about) = match name.len() > width {
            true => (name, format!("\n{:width$}  {about}", "")),
            false => (name, about),
        };
        println!("{}  {about}", paint(&format!("{name:width$}"), Colour::Bold, look::colour_on_stdout()));
    }
    Ok(())
}

/// Most networks of a scenario that `check` names.
const NETWORKS: usize = 3;

pub(crate) fn check(file: &str, sets: &[String], common: &Common) -> Done {
    let scenario = Scenario::load_in(&common.registry, file, &pairs(sets, &common.registry)?, &[])?;
    let cost = Cost::of(&scenario)?;
    if !common.quiet {
        let notes = cost.notes.lines();
        let verdict = match cost.notes.count() {
            0 => "no problem".to_string(),
            n => format!("no error, {}", look::count(n as u64, "note")),
        };
        println!(
            "{file}: {verdict}; {}, {} with all seeds, about {:.2e} packet-hops, {:.2} CPU-seconds, {:.0} MB",
            look::count(cost.cases as u64, "case"),
            look::count(cost.runs, "run"),
            cost.packet_hops,
            cost.seconds,
            cost.memory / 1e6
        );
        cost.networks.iter().take(NETWORKS).for_each(|network| println!("network: {network}"));
        notes.iter().for_each(|note| println!("note: {note}"));
    }
    Ok(())
}

pub(crate) fn schema(common: &Common) -> Done {
    println!("{:#}", cnsim_scenario::schema::schema(&common.registry));
    Ok(())
}

pub(crate) fn doctor() -> Done {
    println!("cnsim {} for {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    println!("cores: {}", std::thread::available_parallelism().map_or(1, usize::from));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let tools = [
        ("chromium", "browser tests of the report"),
        ("valgrind", "instruction counts"),
        ("tshark", "tests of captures"),
    ];
    for (tool, what) in tools {
        let found = std::env::split_paths(&paths).any(|d| d.join(tool).is_file());
        println!("{tool}: {} ({what})", if found { "found" } else { "absent; only needed for this" });
    }
    let build = if cfg!(debug_assertions) { "debug: use cargo run --release for speed" } else { "release" };
    println!("build: {build}");
    Ok(())
}
