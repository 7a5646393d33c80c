//! `cnsim explain`: anything that has a name, for a reader or as JSON.

use crate::look;
use crate::request::is_file;
use crate::subject::{Asked, Keys, Subject};
use crate::{Done, answer, describe, find};
use cnsim_advice::notes::of_others;
use cnsim_measure::stats::ABOUT_INTERVALS;
use cnsim_papers::PAPERS;
use cnsim_papers::claims::{Claim, grounds};
use cnsim_papers::per_study::in_studies;
use cnsim_papers::published::carried_claim;
use cnsim_scenario::keys::{KEYS, Key, TABLES};
use cnsim_scenario::metrics::Metric;
use cnsim_scheme_api::{Gauge, ParamInfo, Registration};
use indexmap::IndexSet;
use std::path::Path;

/// Prints the answer to a question.
///
/// # Errors
/// A name that nothing has, with those that come nearest; a file that is no scenario; a cell that was not run.
pub(crate) fn explain(asked: &Asked<'_>, as_json: bool) -> Done {
    let subject = Subject::of(asked)?;
    if as_json {
        println!("{}", answer::json_of(&subject, asked.out)?);
        return Ok(());
    }
    match subject {
        Subject::Scheme(e) => describe::scheme(&asked.common.registry, e)?,
        Subject::Study(p) => describe::study(p)?,
        Subject::Scenario(s) => {
            let written = if is_file(asked.what) { asked.what.into() } else { s.id() };
            describe::scenario(&s, written)?;
        }
        Subject::Metric(m) => metric(m),
        Subject::Claim(c) => claim(c, asked.out)?,
        Subject::Assumption(a) => {
            println!("{} {}: {}.", a.id, a.name, a.about);
            println!("Set it with {} = {} (or assumptions.{}).", a.key, a.alternatives, a.name);
            println!(
                "`cnsim assume STUDY/SCENARIO --over {}` tries its alternatives against the published numbers.",
                a.id
            );
            if let Some(param) = a.key.strip_prefix("scheme.params.") {
                println!("`cnsim explain {param}` names the schemes that have it, and their defaults.");
            }
        }
        Subject::Counter(c, schemes) => {
            println!("{}: {}.", c.name, c.meaning);
            println!("Counted by {}; it stands with a run's metrics.", schemes.join(", "));
        }
        Subject::Gauge(g, schemes) => gauge(g, &schemes),
        Subject::Parameter(having) => {
            parameter(&having);
            for k in find::keys_named(asked.what) {
                println!("\nA key has this name, too: {}: {}.", k.path, k.doc);
            }
            for k in KEYS.iter().filter(|k| k.kind.choices().contains(&asked.what)) {
                println!("\nIt is a value of a key, too: {}: {}.", k.path, k.doc);
            }
            also_a_term(asked.what);
        }
        Subject::Key(k) => {
            let default = if k.default.is_empty() { "none: it must be given" } else { k.default };
            println!("{}: {}.", k.path, k.doc);
            if !k.kind.choices().is_empty() {
                println!("One of: {}.", k.kind.choices().join(", "));
            }
            println!("Default: {default}. Set it in a scenario, or with --set {}=VALUE.", k.path);
            also_a_term(asked.what);
        }
        Subject::ExitCode(code, meaning) => println!("exit code {code}: {meaning}."),
        Subject::Term(term, meaning, keys) => {
            println!("{term}: {meaning}.");
            if let Some(keys) = keys {
                println!();
                table(&keys);
            }
        }
        Subject::Table(keys) => table(&keys),
        Subject::Cells(rows) => cells(&rows),
    }
    Ok(())
}

/// The meaning of a word that is a term of the field besides.
fn also_a_term(word: &str) {
    if let Some((term, meaning)) = find::term(word) {
        println!("\n{term}: {meaning}.");
    }
}

fn metric(m: &Metric) {
    println!("{} [{}]: {}.", m.id, m.unit, m.about);
    println!("{}", m.span.text());
    if let Some(better) = m.better {
        println!("Better if {}.", better.text());
    }
    println!("{ABOUT_INTERVALS}");
    println!(
        "Agrees with a published value that lies in the 95 % prediction interval of one run, or within 2 % of the mean. Near: within {}.",
        m.tolerance.text(m.unit)
    );
}

fn gauge(g: &Gauge, schemes: &[&str]) {
    let unit = if g.unit.is_empty() { String::new() } else { format!(" [{}]", g.unit) };
    let show = if schemes.len() == 1 { "shows of itself" } else { "show of themselves" };
    println!("{}{unit}: a value that {} {show}.", g.name, schemes.join(", "));
    println!(
        "It is a series at the ports of record.ports and for the flows of record.limiters: \"gauge {} S>H0\".",
        g.name
    );
}

/// A table of the scenario file, a key in each row.
fn table((name, keys): &Keys) {
    let mark = if TABLES.contains(name) { format!("[[{name}]]") } else { format!("[{name}]") };
    let row = |k: &&Key| vec![k.path.into(), k.default.into(), k.doc.into()];
    println!("{mark} is a table of the scenario file.");
    println!("{}", look::words(&["key", "default", "meaning"], &keys.iter().map(row).collect::<Vec<_>>()));
    if *name == "traffic" {
        println!(
            "\nIt takes the keys of [workload], too, and replaces that table: `cnsim explain workload`."
        );
    }
}

/// A parameter in each scheme that has it.
fn parameter(having: &[(&Registration, &ParamInfo)]) {
    let row = |(e, p): &(&Registration, &ParamInfo)| {
        let studies = in_studies(&e.name).remove(&p.key).unwrap_or_default();
        let (symbol, default) = (p.symbol.clone(), p.default.clone());
        vec![e.name.clone(), symbol, default, studies, p.range.to_string(), p.doc.clone()]
    };
    let rows: Vec<Vec<String>> = having.iter().map(row).collect();
    println!("{}", look::words(&["scheme", "symbol", "default", "in studies", "range", "meaning"], &rows));
    let key = having.first().map_or("", |(_, p)| p.key.as_str());
    println!("\nSet it with scheme.params.{key}, or for one of them with scheme.NAME.{key}.");
}

fn cells(rows: &[Vec<String>]) {
    let own = rows.iter().all(|r| !of_others(&r[0]));
    if !own {
        println!("One published cell is one run; the 95 % prediction interval of one run judges it.");
    }
    for r in rows {
        let (published, pi) = (&r[7], (&r[11], &r[12]));
        println!("\n{}/{}, {}, PAUSE {}, {}, {}", r[0], r[1], r[2], r[3], r[4], r[5]);
        match r[13].as_str() {
            "1" => println!("  measured {} {} under one seed: no interval", r[8], r[6]),
            n => {
                println!("  measured {} {} over {n} seeds, one run lies in {} to {}", r[8], r[6], pi.0, pi.1)
            }
        }
        if own {
        } else if published.is_empty() {
            println!("  nothing was published");
        } else {
            println!("  published {published}: {}", r[14]);
        }
        if !r[15].is_empty() {
            println!("  {}", r[15]);
        }
        let rests = |c: &&Claim| grounds(c, &[]).contains(&(r[1].clone(), r[5].clone()));
        let all = PAPERS.iter().filter(|p| p.id == r[0]).flat_map(|p| p.claims);
        let claims: Vec<&str> = all.filter(rests).map(|c| c.id).collect();
        if !claims.is_empty() {
            println!("  claims that rest on it: {}", claims.join(", "));
        }
    }
}

/// A claim: its text, its scenarios and metrics, and its verdict in the results at hand.
fn claim(c: &Claim, out: &Path) -> Done {
    println!("{}: {} ({}).", c.id, c.text, c.origin);
    let grounds = grounds(c, &[]);
    let list = |all: IndexSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    let scenarios = list(grounds.iter().map(|(scenario, _)| format!("{}/{scenario}", c.study())).collect());
    println!("It rests on {scenarios} and is decided on differences paired by seed.");
    let used = list(grounds.into_iter().map(|(_, metric)| metric).filter(|m| !m.is_empty()).collect());
    if !used.is_empty() {
        println!("Metrics: {used}.");
    }
    let show = |from: &str, holds: &str, evidence: &str| {
        println!("{from}: {holds}");
        evidence.split("; ").filter(|e| !e.is_empty()).for_each(|e| println!("  {e}"));
    };
    let path = out.join("claims.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(line) = cnsim_runs::files::read_csv(&text).iter().find(|l| l[1] == c.id) {
        show(&path.display().to_string(), &line[4], &line[5]);
        return Ok(());
    }
    if let Some([holds, evidence]) = carried_claim(c.id) {
        show("With the defaults", &holds, &evidence);
    }
    println!("Not run here yet: `cnsim reproduce {}` decides it.", c.study());
    Ok(())
}
