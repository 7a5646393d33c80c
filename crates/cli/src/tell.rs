//! Verbs that need no run: list, check, schema, headroom, doctor.

use crate::look::{self, Colour, paint};
use crate::request::Cost;
use crate::{Common, Done, Failure, pairs};
use cnsim_lab::assumptions::ASSUMPTIONS;
use cnsim_lab::headroom::Loop;
use cnsim_lab::metrics::METRICS;
use cnsim_lab::scenario::{EMBEDDED, Scenario};
use cnsim_papers::PAPERS;
use cnsim_units::{Bytes, Rate, Time};
use serde_json::json;

pub(crate) fn list(what: &str, as_json: bool, common: &Common) -> Done {
    let mut rows: Vec<(String, String)> = Vec::new();
    match what {
        "studies" => {
            let scenarios = |id: &str| {
                let mine = |e: &&(&str, &str)| e.0.split('/').next().is_some_and(|s| s == id);
                EMBEDDED.iter().filter(mine).count()
            };
            let counted = |n: usize| format!("{n} scenario{}", if n == 1 { "" } else { "s" });
            for p in PAPERS {
                let n = counted(scenarios(p.id));
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
    println!("{:#}", cnsim_lab::schema::schema(&common.registry));
    Ok(())
}

pub(crate) fn headroom(rate: &str, length: &str, mtu: &str, processing: &str, as_json: bool) -> Done {
    let bad = |key: &str, text: &str, e: cnsim_units::UnitError| {
        Failure::input(format!("--{key} {text}: {}\n  help: write for example \"{}\"", e.reason, e.example))
    };
    let rate: Rate = rate.parse().map_err(|e| bad("rate", rate, e))?;
    let frame: Bytes = mtu.parse().map_err(|e| bad("mtu", mtu, e))?;
    let processing: Time = processing.parse().map_err(|e| bad("processing", processing, e))?;
    // Metres, with or without their unit; kilometres.
    let (number, unit) = length.trim().split_at(length.trim().trim_end_matches(char::is_alphabetic).len());
    let scale = match unit {
        "" | "m" => Some(1.0),
        "km" => Some(1e3),
        _ => None,
    };
    let metres = scale.and_then(|s| Some(s * number.trim().parse::<f64>().ok()?));
    let Some(length) = metres else {
        return Err(Failure::input(format!(
            "--length {length}: not a length\n  help: write for example 30, 30m or \"2 km\""
        )));
    };
    if !(0.0..=1e6).contains(&length) || rate == Rate::ZERO || !(64..=9216).contains(&frame.get()) {
        return Err(Failure::input("--length must be 0 to 1000000 m, --rate above 0, --mtu 64 B to 9216 B"));
    }
    let delay = Time::from_secs_f64(length * 5e-9);
    let need = Loop { rate, delay, processing, frame }.headroom();
    if as_json {
        println!(
            "{}",
            json!({"rate_bps": rate.bps(), "delay_s": delay.as_secs_f64(), "processing_s": processing.as_secs_f64(), "mtu_bytes": frame.get(), "headroom_bytes": need.get()})
        );
        return Ok(());
    }
    println!(
        "Headroom above XOFF for {rate}, {length} m ({delay}), frames of {frame}, {processing} of processing at each end: {need}"
    );
    println!(
        "  XOFF waits for a frame in transmission, is sent, travels and is processed; the sender finishes its frame;"
    );
    println!(
        "  what is on the link and in processing still arrives, and the frame that triggered XOFF is above the mark."
    );
    Ok(())
}

pub(crate) fn doctor() -> Done {
    println!("cnsim {} for {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    println!("cores: {}", std::thread::available_parallelism().map_or(1, usize::from));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    for (tool, what) in [("chromium", "browser tests of the report"), ("valgrind", "instruction counts")] {
        let found = std::env::split_paths(&paths).any(|d| d.join(tool).is_file());
        println!("{tool}: {} ({what})", if found { "found" } else { "absent; only needed for this" });
    }
    let build = if cfg!(debug_assertions) { "debug: use cargo run --release for speed" } else { "release" };
    println!("build: {build}");
    Ok(())
}
