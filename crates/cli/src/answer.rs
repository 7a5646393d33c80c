//! What `describe`, `explain` and `check` say, as JSON for other programs.

use crate::describe::PRESET_RATES;
use crate::request::Cost;
use crate::tell::rows_of;
use crate::{Common, Done, Failure, find, pairs};
use cnsim_lab::assumptions::ASSUMPTIONS;
use cnsim_lab::files::read_csv;
use cnsim_lab::keys;
use cnsim_lab::metrics;
use cnsim_lab::scenario::{EMBEDDED, Scenario};
use cnsim_papers::files::COLUMNS;
use cnsim_papers::published::{self, carried_claim};
use cnsim_papers::{self, PAPERS};
use cnsim_problem::Problem;
use cnsim_scheme_api::{Rate, Registration};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn say(value: &Value) -> Done {
    println!("{value}");
    Ok(())
}

fn scheme(e: &Registration) -> Value {
    let param = |p: &cnsim_scheme_api::ParamInfo| {
        json!({
            "key": p.key, "symbol": p.symbol, "default": p.default, "kind": p.kind, "range": p.range.to_string(),
            "meaning": p.doc,
        })
    };
    let counter = |c: &cnsim_scheme_api::Counter| json!({"name": c.name, "meaning": c.meaning});
    let preset = |p: &cnsim_scheme_api::Preset| {
        let at = |rate: Rate| (rate.to_string(), (p.values)(rate).into_iter().collect::<BTreeMap<_, _>>());
        json!({"name": p.name, "source": p.source, "values": PRESET_RATES.map(at).into_iter().collect::<BTreeMap<_, _>>()})
    };
    json!({
        "kind": "scheme", "name": e.name, "aliases": e.aliases, "title": e.title, "about": e.about,
        "parameters": e.params.iter().map(param).collect::<Vec<_>>(),
        "counters": e.counters.iter().map(counter).collect::<Vec<_>>(),
        "presets": e.presets.iter().map(preset).collect::<Vec<_>>(),
    })
}

fn study(p: &cnsim_papers::Paper) -> Value {
    let mine = |id: &&str| id.split('/').next() == Some(p.id);
    let claims: Vec<Value> =
        p.claims.iter().map(|c| json!({"id": c.id, "origin": c.origin, "text": c.text})).collect();
    json!({
        "kind": "study", "id": p.id, "title": p.title, "about": p.summary, "source": p.citation, "claims": claims,
        "agreement": published::agreement(p.id, None), "scenarios": EMBEDDED.iter().map(|e| e.0).filter(mine).collect::<Vec<_>>(),
    })
}

fn scenario(s: &Scenario) -> Result<Value, Failure> {
    let mut cases = Vec::new();
    for case in s.cases() {
        let ready = s.ready(&case)?;
        cases.push(json!({
            "condition": case.condition, "pause": case.pause, "scheme": case.scheme, "seeds": s.seeds_of(&case),
            "packet_hops": ready.estimate().packet_hops, "config": ready.config,
        }));
    }
    Ok(json!({
        "kind": "scenario", "id": s.id(), "title": s.title, "question": s.question, "source": s.source, "cases": cases,
    }))
}

/// What has this name and is described.
fn described(name: &str, common: &Common) -> Result<Option<Value>, Failure> {
    if let Some(e) = common.registry.find(name) {
        return Ok(Some(scheme(e)));
    }
    if let Some(p) = cnsim_papers::find(name) {
        return Ok(Some(study(p)));
    }
    match Scenario::load_in(&common.registry, name, &[], &[]) {
        Ok(s) => scenario(&s).map(Some),
        Err(p) if crate::request::is_file(name) => Err(p.into()),
        Err(_) => Ok(None),
    }
}

/// What has this name and is explained.
fn explained(what: &str, common: &Common) -> Option<Value> {
    if let Some(m) = metrics::find(what) {
        return Some(json!({
            "kind": "metric", "id": m.id, "title": m.title, "unit": m.unit, "about": m.about, "span": m.span().text(),
            "near": m.tolerance.text(m.unit),
        }));
    }
    let same = |name: &str| name.eq_ignore_ascii_case(what);
    if let Some(c) = PAPERS.iter().flat_map(|p| p.claims).find(|c| same(c.id)) {
        let carried =
            carried_claim(c.id).map(|[holds, evidence]| json!({"holds": holds, "evidence": evidence}));
        return Some(
            json!({"kind": "claim", "id": c.id, "origin": c.origin, "text": c.text, "carried": carried}),
        );
    }
    if let Some(a) = ASSUMPTIONS.iter().find(|a| same(a.id) || same(a.name)) {
        return Some(json!({
            "kind": "assumption", "id": a.id, "name": a.name, "about": a.about, "key": a.key, "alternatives": a.alternatives,
        }));
    }
    let registry = &common.registry;
    if let Some(c) = registry.iter().flat_map(|e| &e.counters).find(|c| same(&c.name)) {
        return Some(json!({"kind": "counter", "name": c.name, "about": c.meaning}));
    }
    if let Some((gauge, schemes)) = find::gauge(registry, what) {
        return Some(json!({"kind": "gauge", "name": gauge.name, "unit": gauge.unit, "schemes": schemes}));
    }
    let key = what.trim_start_matches("scheme.params.");
    let having: Vec<Value> = registry
        .iter()
        .filter_map(|e| {
            let p = e.params.iter().find(|p| p.key.eq_ignore_ascii_case(key))?;
            Some(json!({"scheme": e.name, "default": p.default, "range": p.range.to_string(), "meaning": p.doc}))
        })
        .collect();
    if !having.is_empty() {
        return Some(json!({"kind": "parameter", "key": format!("scheme.params.{key}"), "schemes": having}));
    }
    if let Some(k) = keys::find(&find::whole_key(registry, what)) {
        return Some(json!({"kind": "key", "key": k.path, "default": k.default, "about": k.doc}));
    }
    let (term, about) = find::term(what)?;
    Some(json!({"kind": "term", "name": term, "about": about}))
}

pub(crate) fn describe(name: &str, common: &Common) -> Done {
    match described(name, common)?.or_else(|| explained(name, common)) {
        Some(value) => say(&value),
        None => Err(find::unknown(&common.registry, name)),
    }
}

pub(crate) fn explain(
    what: &str,
    condition: Option<&str>,
    pause: Option<&str>,
    out: &Path,
    common: &Common,
) -> Done {
    if let Some(value) = explained(what, common) {
        let verdicts = read_csv(&std::fs::read_to_string(out.join("claims.csv")).unwrap_or_default());
        let mut value = value;
        if let Some(line) = verdicts.iter().find(|l| Some(l[1].as_str()) == value["id"].as_str()) {
            value["holds"] = json!(line[4]);
            value["evidence"] = json!(line[5]);
        }
        return say(&value);
    }
    let id: Vec<&str> = what.split('/').collect();
    if id.len() < 2
        || EMBEDDED.iter().any(|(e, _)| e.eq_ignore_ascii_case(what)) && !out.join("numbers.csv").exists()
    {
        return match described(what, common)? {
            Some(value) => say(&value),
            None => Err(find::unknown(&common.registry, what)),
        };
    }
    let rows = rows_of(out, &id, condition, pause)?;
    let row = |r: &Vec<String>| {
        let fields = COLUMNS.iter().zip(r).filter(|(_, v)| !v.is_empty());
        fields.map(|(c, v)| ((*c).to_string(), json!(v))).collect::<serde_json::Map<_, _>>()
    };
    say(&json!({"kind": "cells", "cells": rows.iter().map(row).collect::<Vec<_>>()}))
}

/// Problems as JSON on standard output; the exit code is that of bad input.
fn refused(file: &str, problems: Vec<Problem>) -> Failure {
    let one = |p: &Problem| {
        let (line, column) = (p.position.map(|at| at.line), p.position.map(|at| at.column));
        json!({
            "file": p.file, "line": line, "column": column, "key": p.key, "reason": p.reason, "remedy": p.remedy,
        })
    };
    println!(
        "{}",
        json!({"file": file, "ok": false, "problems": problems.iter().map(one).collect::<Vec<_>>()})
    );
    problems.into()
}

pub(crate) fn check(file: &str, sets: &[String], common: &Common) -> Done {
    let sets = pairs(sets, &common.registry)?;
    let refuse = |p| refused(file, p);
    let scenario = Scenario::load_in(&common.registry, file, &sets, &[]).map_err(refuse)?;
    let cost = Cost::of(&scenario).map_err(refuse)?;
    say(&json!({
        "file": file, "ok": true, "cases": cost.cases, "runs": cost.runs, "packet_hops": cost.packet_hops,
        "cpu_seconds": cost.seconds, "memory_bytes": cost.memory, "problems": [], "notes": cost.notes.lines(),
    }))
}
