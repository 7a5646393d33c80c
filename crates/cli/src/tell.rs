//! Verbs that tell: list, explain, check, new, schema, headroom, doctor.

use crate::look::{self, Colour, paint};
use crate::request::Cost;
use crate::{Common, Done, Failure, find, pairs};
use cnsim_lab::assumptions::ASSUMPTIONS;
use cnsim_lab::headroom::Loop;
use cnsim_lab::keys;
use cnsim_lab::metrics::{self, METRICS};
use cnsim_lab::scenario::{EMBEDDED, Scenario};
use cnsim_lab::stats::ABOUT_INTERVALS;
use cnsim_papers::PAPERS;
use cnsim_papers::claims::{Claim, grounds};
use cnsim_papers::per_study::in_studies;
use cnsim_papers::published::carried_claim;
use cnsim_scheme_api::Registry;
use cnsim_units::{Bytes, Rate, Time};
use serde_json::json;
use std::path::Path;

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

/// Rows of numbers.csv that match.
pub(crate) fn rows_of(
    out: &Path,
    id: &[&str],
    condition: Option<&str>,
    pause: Option<&str>,
) -> Result<Vec<Vec<String>>, Failure> {
    let path = out.join("numbers.csv");
    let text = std::fs::read_to_string(&path).map_err(|e| {
        Failure::input(format!("{}: {e}\n  help: run `cnsim reproduce` first, or give --out", path.display()))
    })?;
    let mut rows = Vec::new();
    for line in cnsim_lab::files::read_csv(&text) {
        let columns = [0, 1, 4, 5];
        let fits =
            id.iter().zip(columns).all(|(want, c)| line.get(c).is_some_and(|v| v.eq_ignore_ascii_case(want)));
        if fits && condition.is_none_or(|c| line[2] == c) && pause.is_none_or(|p| line[3] == p) {
            rows.push(line);
        }
    }
    Ok(rows)
}

/// Says what a scheme's parameter is, in each scheme that has it; false if none has.
fn parameter(registry: &Registry, what: &str) -> bool {
    let key = what.trim_start_matches("scheme.params.");
    let mut rows = Vec::new();
    for e in registry.iter() {
        if let Some(i) = e.params.iter().find(|i| i.key.eq_ignore_ascii_case(key)) {
            let studies = in_studies(&e.name).remove(&i.key).unwrap_or_default();
            let (symbol, default, range) = (i.symbol.clone(), i.default.clone(), i.range.to_string());
            rows.push(vec![e.name.clone(), symbol, default, studies, range, i.doc.clone()]);
        }
    }
    if !rows.is_empty() {
        println!(
            "{}",
            look::words(&["scheme", "symbol", "default", "in studies", "range", "meaning"], &rows)
        );
        println!("\nSet it with scheme.params.{key}, or for one of them with scheme.NAME.{key}.");
    }
    !rows.is_empty()
}

/// `cnsim explain`. What is not explained goes on to `otherwise`.
pub(crate) fn explain(
    what: &str,
    condition: Option<&str>,
    pause: Option<&str>,
    out: &Path,
    common: &Common,
    otherwise: fn(&str, &Common) -> Done,
) -> Done {
    let counters = || common.registry.iter().flat_map(|e| &e.counters);
    if let Some(m) = metrics::find(what) {
        println!("{} [{}]: {}.", m.id, m.unit, m.about);
        println!("{}", m.span().text());
        println!("{ABOUT_INTERVALS}");
        println!(
            "Agrees with a published value that lies in the 95 % prediction interval of one run, or within 2 % of the mean. Near: within {}.",
            m.tolerance.text(m.unit)
        );
        return Ok(());
    }
    let claims = || PAPERS.iter().flat_map(|p| p.claims);
    if let Some(c) = claims().find(|c| c.id.eq_ignore_ascii_case(what)) {
        return claim(c, out);
    }
    if let Some(a) =
        ASSUMPTIONS.iter().find(|a| a.id.eq_ignore_ascii_case(what) || a.name.eq_ignore_ascii_case(what))
    {
        println!("{} {}: {}.", a.id, a.name, a.about);
        println!("Set it with {} = {} (or assumptions.{}).", a.key, a.alternatives, a.name);
        return Ok(());
    }
    if let Some(c) = counters().find(|c| c.name.eq_ignore_ascii_case(what)) {
        let having = common.registry.iter().filter(|e| e.counters.contains(c));
        let schemes: Vec<&str> = having.map(|e| e.name.as_str()).collect();
        println!(
            "{}: {}.\nCounted by {}; it stands with a run's metrics.",
            c.name,
            c.meaning,
            schemes.join(", ")
        );
        return Ok(());
    }
    if let Some((gauge, schemes)) = find::gauge(&common.registry, what) {
        let unit = if gauge.unit.is_empty() { String::new() } else { format!(" [{}]", gauge.unit) };
        let show = if schemes.len() == 1 { "shows of itself" } else { "show of themselves" };
        println!("{}{unit}: a value that {} {show}.", gauge.name, schemes.join(", "));
        println!(
            "It is a series at the ports of record.ports and for the flows of record.limiters: \"gauge {} S>H0\".",
            gauge.name
        );
        return Ok(());
    }
    if parameter(&common.registry, what) {
        return Ok(());
    }
    if let Some(k) = keys::find(&find::whole_key(&common.registry, what)) {
        let default = if k.default.is_empty() { "none: it must be given" } else { k.default };
        println!(
            "{}: {}.\nDefault: {default}. Set it in a scenario, or with --set {0}=VALUE.",
            k.path, k.doc
        );
        return Ok(());
    }
    if let Some((term, meaning)) = find::term(what) {
        println!("{term}: {meaning}.");
        return Ok(());
    }
    let id: Vec<&str> = what.split('/').collect();
    let scenario = EMBEDDED.iter().any(|(e, _)| e.eq_ignore_ascii_case(what));
    if id.len() < 2 || (scenario && !out.join("numbers.csv").exists()) {
        // What is not explained may be described; an unknown name is said there.
        return otherwise(what, common);
    }
    let rows = rows_of(out, &id, condition, pause)?;
    if rows.is_empty() {
        return Err(Failure::input(format!(
            "{}: no such cell was run\n  help: `cnsim reproduce {}` runs it",
            out.display(),
            id[..2].join("/")
        )));
    }
    println!("One published cell is one run; the 95 % prediction interval of one run judges it.");
    for r in &rows {
        let (published, pi) = (&r[7], (&r[11], &r[12]));
        println!("\n{}/{}, {}, PAUSE {}, {}, {}", r[0], r[1], r[2], r[3], r[4], r[5]);
        println!("  measured {} {} over {} seeds, one run lies in {} to {}", r[8], r[6], r[13], pi.0, pi.1);
        if published.is_empty() {
            println!("  nothing was published");
        } else {
            println!("  published {published}: {}", r[14]);
        }
        if !r[15].is_empty() {
            println!("  {}", r[15]);
        }
    }
    Ok(())
}

/// A claim: what it says, what it rests on, and what came of it in the last `reproduce`.
fn claim(c: &Claim, out: &Path) -> Done {
    println!("{}: {} ({}).", c.id, c.text, c.origin);
    let mut scenarios: Vec<String> = Vec::new();
    let mut used: Vec<String> = Vec::new();
    for (scenario, metric) in grounds(c, &[]) {
        let id = format!("{}/{scenario}", c.study());
        if !scenarios.contains(&id) {
            scenarios.push(id);
        }
        if !metric.is_empty() && !used.contains(&metric) {
            used.push(metric);
        }
    }
    println!("It rests on {} and is decided on differences paired by seed.", scenarios.join(", "));
    if !used.is_empty() {
        println!("Metrics: {}.", used.join(", "));
    }
    let show = |from: &str, holds: &str, evidence: &str| {
        println!("{from}: {holds}");
        evidence.split("; ").filter(|e| !e.is_empty()).for_each(|e| println!("  {e}"));
    };
    let path = out.join("claims.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(line) = cnsim_lab::files::read_csv(&text).iter().find(|l| l[1] == c.id) {
        show(&path.display().to_string(), &line[4], &line[5]);
        return Ok(());
    }
    if let Some([holds, evidence]) = carried_claim(c.id) {
        show("With the defaults", &holds, &evidence);
    }
    println!("Not run here yet: `cnsim reproduce {}` decides it.", c.study());
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
