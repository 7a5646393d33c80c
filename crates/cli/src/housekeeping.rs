//! Verbs around the program itself: shell completions, manual pages, the difference of two configurations, and clearing the
//! store of runs.

use crate::look;
use crate::{Common, Done, Failure, pairs};
use cnsim_runs::place::PlaceError;
use cnsim_runs::store::Store;
use cnsim_scenario::Scenario;
use cnsim_scenario::config::Config;
use serde_json::{Value, json};
use std::path::Path;

/// `cnsim tool completions SHELL`.
pub(crate) fn completions(shell: clap_complete::Shell) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "cnsim", &mut text);
    print!("{}", String::from_utf8_lossy(&text));
    Ok(())
}

/// `cnsim tool man`: cnsim.1 on standard output, or a page a verb in a folder.
pub(crate) fn man(out: Option<&Path>) -> Done {
    let Some(out) = out else {
        let mut text = Vec::new();
        let page = clap_mangen::Man::new(crate::command()).render(&mut text);
        page.map_err(|e| Failure::Run(e.to_string()))?;
        print!("{}", String::from_utf8_lossy(&text));
        return Ok(());
    };
    std::fs::create_dir_all(out).map_err(|e| Failure::io(out, &e))?;
    clap_mangen::generate_to(crate::command(), out).map_err(|e| Failure::io(out, &e))?;
    println!("The manual pages are in {0}: man -l {0}/cnsim.1", out.display());
    Ok(())
}

/// A scenario's effective configuration of its first case.
fn configuration(name: &str, sets: &[(String, String)], common: &Common) -> Result<Config, Failure> {
    let scenario = Scenario::load_in(&common.registry, name, sets, &[])?;
    let cases = scenario.cases();
    let first = crate::request::first_case(&cases, None)?;
    Ok(scenario.ready(first)?.config)
}

/// `cnsim tool diff A B`: keys whose values differ between the first cases of two scenarios, parameters of the scheme included.
pub(crate) fn diff(a: &str, b: &str, sets: &[String], as_json: bool, common: &Common) -> Done {
    let sets = pairs(sets, &common.registry)?;
    let (x, y) = (configuration(a, &sets, common)?, configuration(b, &sets, common)?);
    let (x, y) = (x.leaves(), y.leaves());
    let keys: std::collections::BTreeSet<&String> = x.keys().chain(y.keys()).collect();
    let value = |all: &std::collections::BTreeMap<String, String>, k: &String| {
        all.get(k).cloned().unwrap_or_default()
    };
    let rows: Vec<Vec<String>> = keys
        .into_iter()
        .filter(|k| x.get(*k) != y.get(*k))
        .map(|k| vec![k.clone(), value(&x, k), value(&y, k)])
        .collect();
    if as_json {
        let all: Vec<Value> =
            rows.iter().map(|r| json!({"key": r[0], "first": r[1], "second": r[2]})).collect();
        println!("{}", json!(all));
    } else if rows.is_empty() {
        println!("The first cases of {a} and {b} have the same configuration.");
    } else {
        println!("{}", look::words(&["key", a, b], &rows));
    }
    Ok(())
}

/// `cnsim tool clean`: removes the finished runs that `DIR/runs` keeps; results, tables and reports stay.
pub(crate) fn clean(out: &Path, dry: bool) -> Done {
    let store = out.join("runs");
    let cleaned = Store::clean(out, dry).map_err(|e| match e {
        PlaceError::Foreign(..) => {
            Failure::input(format!("{e}: nothing is removed\n  help: remove by hand what is yours"))
        }
        e => e.into(),
    })?;
    if (cleaned.files, cleaned.left) == (0, 0) {
        println!("{} keeps no runs.", out.display());
        return Ok(());
    }
    let word = if dry { "would be removed" } else { "removed" };
    let (files, size) = (cleaned.files, cleaned.bytes as f64 / 1e6);
    println!("{files} finished runs, {size:.1} MB: {word} from {}.", store.display());
    if cleaned.left > 0 {
        println!("{} entries there are not of cnsim, and stay.", cleaned.left);
    }
    Ok(())
}
