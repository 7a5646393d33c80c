//! Pages of `cnsim explain`: a study, a scenario with its network, a scheme with a picture of its effect.

use crate::look::{self, Colour, paint, said};
use crate::request::{ASSUMED_SPEED, is_file, threads};
use crate::{Done, Failure, draw};
use cnsim_papers::per_study::in_studies;
use cnsim_papers::published::{self, Agreement};
use cnsim_papers::{self, Paper};
use cnsim_runs::demo::{demo, words};
use cnsim_scenario::assumptions::{ASSUMPTIONS, readable};
use cnsim_scenario::config::Config;
use cnsim_scenario::keys;
use cnsim_scenario::needs_queue_pairs;
use cnsim_scenario::{Scenario, embedded_of};
use cnsim_scheme_api::{Rate, Registration, Registry};
use indexmap::IndexSet;

/// Most conditions of a group that are listed.
const MOST: usize = 16;

fn bold(text: &str) -> String {
    paint(text, Colour::Bold, look::colour_on_stdout())
}

/// Published cells by scenario.
fn printed(study: &str, scenario: Option<&str>) -> usize {
    let all = published::parse("published.csv", published::EMBEDDED).unwrap_or_default();
    let mine = |p: &&published::Published| {
        p.case.study.eq_ignore_ascii_case(study)
            && scenario.is_none_or(|s| p.case.scenario.eq_ignore_ascii_case(s))
    };
    all.iter().filter(mine).count()
}

/// How many of a study's or scenario's cells agree in the run that the program carries with it.
fn carried(study: &str, scenario: Option<&str>) -> String {
    let Agreement { cells, zeros } = published::agreement(study, scenario);
    let zero = if zeros.1 > 0 { format!(", and {} of {} zeros", zeros.0, zeros.1) } else { String::new() };
    format!("with the defaults {} of {} agree{zero}", cells.0, cells.1)
}

pub(crate) fn study(p: &Paper) -> Done {
    println!("{}\n\n{}\n\nSource: {}\n", bold(&format!("{}: {}", p.id, p.title)), p.summary, p.citation);
    let mut rows = Vec::new();
    for id in embedded_of(p.id) {
        let s = Scenario::load(id, &[])?;
        let published = printed(&s.study, Some(&s.name)).to_string();
        // Cells that were published as zero agree by themselves.
        let Agreement { cells, .. } = published::agreement(&s.study, Some(&s.name));
        let agree = if cells.1 > 0 { format!("{} of {}", cells.0, cells.1) } else { "-".into() };
        let of = [s.cases().len().to_string(), s.seeds.to_string(), published, agree];
        rows.push([vec![s.id()], of.to_vec(), vec![s.title.clone()]].concat());
    }
    if rows.is_empty() {
        println!("No scenario of it is embedded yet; {} of its numbers are known.", printed(p.id, None));
    } else {
        println!(
            "{}",
            look::table(&["scenario", "cases", "seeds", "published", "agree", "title"], &rows, true)
        );
    }
    if !p.claims.is_empty() {
        let rows: Vec<Vec<String>> =
            p.claims.iter().map(|c| vec![c.id.into(), c.origin.into(), c.text.into()]).collect();
        println!("\n{}", look::words(&["claim", "origin", "statement of the study"], &rows));
    }
    println!("\nRun it: cnsim reproduce {}", p.id);
    Ok(())
}

pub(crate) fn scenario(s: &Scenario, written: String) -> Done {
    println!("{}\n", bold(&format!("{}: {}", s.id(), s.title)));
    if said(&s.question) {
        println!("{}\n", s.question);
    }
    if said(&s.source) {
        println!("Source: {}\n", s.source);
    }
    let cases = s.cases();
    let Some(first) = cases.first() else { return Ok(()) };
    let ready = s.ready(first)?;
    println!("{}", draw::network(&ready));
    let (mut hops, mut runs) = (0.0, 0);
    for case in &cases {
        hops += s.ready(case)?.estimate().packet_hops * s.seeds_of(case) as f64;
        runs += s.seeds_of(case);
    }
    println!(
        "{}",
        bold(&format!(
            "{}, {} with their seeds",
            look::count(cases.len() as u64, "case"),
            look::count(runs, "run")
        ))
    );
    for (g, group) in s.groups.iter().enumerate() {
        let mine = cases.iter().filter(|c| c.group == g);
        let conditions: IndexSet<&str> = mine.map(|c| c.id.condition.as_str()).collect();
        println!("  PAUSE {}; schemes {}:", group.pauses.join(", "), group.schemes.join(", "));
        conditions.iter().take(MOST).for_each(|c| println!("    {c}"));
        if conditions.len() > MOST {
            println!("    and {} more", conditions.len() - MOST);
        }
    }
    let figures: Vec<&str> = s.figures.iter().map(|f| f.title.as_str()).filter(|t| !t.is_empty()).collect();
    if !figures.is_empty() {
        println!("  Figures beside those of every table: {}", figures.join("; "));
    }
    let cells = printed(&s.study, Some(&s.name));
    if cells > 0 {
        println!("  {cells} published cells to set them beside; {}", carried(&s.study, Some(&s.name)));
    }
    let seconds = hops / ASSUMED_SPEED;
    let threads = threads(0);
    println!(
        "  About {hops:.1e} packet-hops: {} of CPU time, {} on {threads} threads",
        look::duration(seconds),
        look::duration(seconds / threads as f64)
    );
    settings(s, &ready.config);
    let bearing = bearing(s, &ready.config);
    if !bearing.is_empty() {
        println!("\n{}", bold("Assumptions that bear on it"));
        println!("{}", look::words(&["id", "key", "here", "alternatives", "what is assumed"], &bearing));
    }
    let whole = if is_file(&written) { "run" } else { "reproduce" };
    println!(
        "\nRun it: cnsim {whole} {written} · one case: cnsim run {written} --case \"{}\"",
        first.id.name()
    );
    Ok(())
}

/// Settings of the first case that are no defaults.
fn settings(s: &Scenario, config: &Config) {
    println!("\n{}", bold("Its settings; all others have their defaults (`cnsim new`)"));
    let shown = cnsim_scenario::config::text;
    for (k, v) in config.keys() {
        let usual = keys::find(k).map_or("", |k| k.default);
        if !matches!(k.as_str(), "scheme" | "study" | "name" | "condition") && shown(v) != usual {
            println!("  {k} = {}", shown(v));
        }
    }
    for (k, leaf) in s.flat().leaves.iter().filter(|(k, _)| k.starts_with("scheme.")) {
        println!("  {k} = {}", leaf.items.join(", "));
    }
}

/// Assumptions whose key the scenario sets, or that are parameters of its schemes.
fn bearing(s: &Scenario, config: &Config) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for a in ASSUMPTIONS {
        let here = match a.key.strip_prefix("scheme.params.") {
            None if s.flat().leaves.contains_key(a.key) => config.text(a.key).unwrap_or("").to_string(),
            None => continue,
            Some(leaf) => {
                let mut values: Vec<String> = Vec::new();
                let reads = |n: &String| s.registry().find(n).is_some_and(|e| !readable(a, e).is_empty());
                for scheme in s.schemes().into_iter().filter(reads) {
                    let case = s.cases().into_iter().find(|c| c.id.scheme == scheme);
                    let built = case.and_then(|c| s.ready(&c).ok()).map(|r| r.built.values);
                    let value = built.and_then(|v| v.into_iter().find(|v| v.0 == leaf));
                    if let Some((_, v)) = value.filter(|v| !values.contains(&v.1)) {
                        values.push(v);
                    }
                }
                if values.is_empty() {
                    continue;
                }
                cnsim_problem::any_of(&values)
            }
        };
        rows.push(vec![
            format!("{} {}", a.id, a.name),
            a.key.into(),
            here,
            a.alternatives.into(),
            a.about.into(),
        ]);
    }
    rows
}

pub(crate) fn scheme(registry: &Registry, e: &Registration) -> Done {
    println!("{}\n", bold(&format!("{}: {}", e.name, e.title)));
    println!("{}\n", plain(&e.about));
    let info = &e.params;
    let studies = in_studies(&e.name);
    let rows: Vec<Vec<String>> = info
        .iter()
        .map(|i| {
            let set = studies.get(&i.key).cloned().unwrap_or_default();
            let (key, symbol, default) = (i.key.clone(), i.symbol.clone(), i.default.clone());
            vec![key, symbol, default, set, i.kind.clone(), i.range.to_string(), i.doc.clone()]
        })
        .collect();
    if rows.is_empty() {
        println!("No parameters.");
    } else {
        let header = ["parameter", "symbol", "default", "in studies", "kind", "range", "meaning"];
        println!("{}", look::words(&header, &rows));
    }
    presets(e);
    let open: Vec<Vec<String>> = ASSUMPTIONS
        .iter()
        .filter_map(|a| {
            let leaf = a.key.strip_prefix("scheme.params.")?;
            let here = info.iter().find(|i| i.key == leaf)?;
            let read = readable(a, e);
            let id = format!("{} {}", a.id, a.name);
            let row = vec![id, leaf.into(), here.default.clone(), read.join(" | "), a.about.into()];
            (!read.is_empty()).then_some(row)
        })
        .collect();
    if !open.is_empty() {
        println!("\n{}", bold("What the sources leave open"));
        println!(
            "{}",
            look::words(&["assumption", "parameter", "default", "alternatives", "what is assumed"], &open)
        );
    }
    let counters: Vec<Vec<String>> =
        e.counters.iter().map(|c| vec![c.name.to_string(), c.meaning.to_string()]).collect();
    if !counters.is_empty() {
        println!("\n{}", bold("What it counts"));
        println!("{}", look::words(&["counter", "meaning"], &counters));
    }
    let gauges: Vec<Vec<String>> =
        e.gauges.iter().map(|g| vec![g.name.to_string(), g.unit.to_string()]).collect();
    if !gauges.is_empty() {
        println!("\n{}", bold("What it shows, as a series where its port or flow is recorded"));
        println!("{}", look::words(&["gauge", "unit"], &gauges));
    }
    picture(registry, &e.name)
}

/// Rates of the hosts' links for which presets are shown.
pub(crate) const PRESET_RATES: [Rate; 3] =
    [Rate::from_gbps(25.0), Rate::from_gbps(100.0), Rate::from_gbps(400.0)];

/// The presets of a scheme, a table each.
fn presets(e: &Registration) {
    let Some(first) = e.presets.first() else { return };
    println!("\n{}", bold("Settings by name that fit the rate of the hosts' links"));
    println!(
        "In a scenario: scheme.{}.preset = \"{}\". A key that is set beside it goes before.",
        e.name, first.name
    );
    for p in &e.presets {
        println!("\n{}: {}.", p.name, p.source);
        let columns = PRESET_RATES.map(p.values);
        let row = |(i, (key, text)): (usize, &(&str, String))| {
            let mut line = vec![
                key.to_string(),
                e.param(key).map_or_else(String::new, |i| i.default.clone()),
                text.clone(),
            ];
            line.extend(columns[1..].iter().map(|c| c[i].1.clone()));
            line
        };
        let rows: Vec<Vec<String>> = columns[0].iter().enumerate().map(row).collect();
        if !rows.is_empty() {
            let rates = PRESET_RATES.map(|r| r.to_string());
            let header = ["parameter", "default", &rates[0], &rates[1], &rates[2]];
            println!("{}", look::table(&header, &rows, false));
        }
        if let Some(more) = p.where_acknowledged() {
            println!("{}", more.replace('`', ""));
        }
    }
}

/// One flow meeting one bottleneck, run now.
fn picture(registry: &Registry, scheme: &str) -> Done {
    const COLUMNS: usize = 42;
    let d = demo(registry, scheme).map_err(Failure::Run)?;
    println!(
        "\n{}\n{}. 30 ms.",
        bold("One flow meets one bottleneck"),
        words(registry.find(scheme).is_some_and(|e| needs_queue_pairs(e)))
    );
    let top = d.queue.iter().copied().fold(0.0, f64::max);
    println!("  queue    {}  0 to {top:.0} KB", look::bars(&d.queue, COLUMNS, top));
    for (name, rate) in ["H1", "H2"].iter().zip(&d.rates) {
        println!("  rate {name}  {}  0 to 10 Gb/s", look::bars(rate, COLUMNS, 10.0));
    }
    let at = |ms: f64| (ms / d.bin / d.queue.len().max(1) as f64 * COLUMNS as f64) as usize;
    let mut marks = vec![' '; COLUMNS];
    for (ms, mark) in [(d.second.0, '↑'), (d.second.1, '↓')] {
        if let Some(m) = marks.get_mut(at(ms)) {
            *m = mark;
        }
    }
    println!("           {}  ↑ H2 starts, ↓ H2 stops", marks.into_iter().collect::<String>());
    Ok(())
}

/// Markdown as a terminal shows it: headings without marks, links as their text, paragraphs as one line, tables as ours.
fn plain(markdown: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut table: Vec<Vec<String>> = Vec::new();
    // Does the next line go on with the last one?
    let mut open = false;
    for line in markdown.lines().chain([""]) {
        let text = line.replace("[`", "`").replace("`]", "`");
        if let Some(cells) = text.strip_prefix('|').and_then(|t| t.trim_end().strip_suffix('|')) {
            if !cells.chars().all(|c| matches!(c, '-' | '|' | ':' | ' ')) {
                table.push(cells.split('|').map(|c| c.trim().to_string()).collect());
            }
            continue;
        }
        if let Some((header, rows)) = table.split_first() {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            let whole: Vec<Vec<String>> = rows.iter().filter(|r| r.len() == header.len()).cloned().collect();
            out.push(look::words(&header, &whole));
            table.clear();
            open = false;
        }
        let starts = text.is_empty() || text.starts_with(['#', '*']) || text.starts_with("    ");
        match out.last_mut() {
            Some(last) if open && !starts => *last += &format!(" {}", text.trim()),
            _ => out.push(match text.trim_start_matches('#') {
                heading if heading.len() < text.len() => bold(heading.trim()),
                _ => text.clone(),
            }),
        }
        open = !text.is_empty() && !text.starts_with('#') && !text.starts_with("    ");
    }
    out.join("\n").trim().to_string()
}
