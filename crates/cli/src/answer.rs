//! The answers of `explain` and `check` as JSON.

use crate::describe::PRESET_RATES;
use crate::request::Cost;
use crate::subject::Subject;
use crate::{Common, Done, Failure, pairs};
use cnsim_papers::claims::Claim;
use cnsim_papers::files::COLUMNS;
use cnsim_papers::published::{self, carried_claim};
use cnsim_problem::Problem;
use cnsim_runs::files::read_csv;
use cnsim_scenario::keys::Key;
use cnsim_scenario::metrics::Better;
use cnsim_scenario::{Scenario, embedded_of};
use cnsim_scheme_api::{ParamInfo, Rate, Registration};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The keys of a table of the scenario file.
fn keys(all: &[&Key]) -> Value {
    all.iter().map(|k| json!({"key": k.path, "default": k.default, "about": k.doc})).collect()
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
        json!({"name": p.name, "source": p.source, "values": PRESET_RATES.map(at).into_iter().collect::<BTreeMap<_, _>>(),
            "where_acknowledged": p.acknowledged.iter().copied().collect::<BTreeMap<_, _>>()})
    };
    json!({
        "kind": "scheme", "name": e.name, "aliases": e.aliases, "title": e.title, "about": e.about,
        "parameters": e.params.iter().map(param).collect::<Vec<_>>(),
        "counters": e.counters.iter().map(counter).collect::<Vec<_>>(),
        "presets": e.presets.iter().map(preset).collect::<Vec<_>>(),
    })
}

fn study(p: &cnsim_papers::Paper) -> Value {
    let claims: Vec<Value> =
        p.claims.iter().map(|c| json!({"id": c.id, "origin": c.origin, "text": c.text})).collect();
    json!({
        "kind": "study", "id": p.id, "title": p.title, "about": p.summary, "source": p.citation, "claims": claims,
        "agreement": published::agreement(p.id, None), "scenarios": embedded_of(p.id).collect::<Vec<_>>(),
    })
}

fn scenario(s: &Scenario) -> Result<Value, Failure> {
    let mut cases = Vec::new();
    for case in s.cases() {
        let ready = s.ready(&case)?;
        cases.push(json!({
            "condition": case.id.condition, "pause": case.id.pause, "scheme": case.id.scheme, "seeds": s.seeds_of(&case),
            "packet_hops": ready.estimate().packet_hops, "config": ready.config,
        }));
    }
    Ok(json!({
        "kind": "scenario", "id": s.id(), "title": s.title, "question": s.question, "source": s.source, "cases": cases,
    }))
}

/// The object of a name; a claim with its verdict in the results of a folder.
pub(crate) fn json_of(subject: &Subject<'_>, out: &Path) -> Result<Value, Failure> {
    Ok(match subject {
        Subject::Scheme(e) => scheme(e),
        Subject::Study(p) => study(p),
        Subject::Scenario(s) => scenario(s)?,
        Subject::Metric(m) => json!({
            "kind": "metric", "id": m.id, "title": m.title, "unit": m.unit, "about": m.about, "span": m.span.text(),
            "near": m.tolerance.text(m.unit), "better": m.better.map(Better::text),
        }),
        Subject::Claim(c) => claim(c, out),
        Subject::Assumption(a) => json!({
            "kind": "assumption", "id": a.id, "name": a.name, "about": a.about, "key": a.key, "alternatives": a.alternatives,
        }),
        Subject::Counter(c, schemes) => {
            json!({"kind": "counter", "name": c.name, "about": c.meaning, "schemes": schemes})
        }
        Subject::Gauge(g, schemes) => {
            json!({"kind": "gauge", "name": g.name, "unit": g.unit, "schemes": schemes})
        }
        Subject::Parameter(having) => {
            let one = |(e, p): &(&Registration, &ParamInfo)| json!({"scheme": e.name, "default": p.default, "range": p.range.to_string(), "meaning": p.doc});
            let key = having.first().map_or("", |(_, p)| p.key.as_str());
            let schemes: Vec<Value> = having.iter().map(one).collect();
            json!({"kind": "parameter", "key": format!("scheme.params.{key}"), "schemes": schemes})
        }
        Subject::Key(k) => json!({"kind": "key", "key": k.path, "default": k.default, "about": k.doc}),
        Subject::ExitCode(code, meaning) => json!({"kind": "exit code", "code": code, "about": meaning}),
        Subject::Table((name, all)) => json!({"kind": "table", "name": name, "keys": keys(all)}),
        Subject::Term(term, about, None) => json!({"kind": "term", "name": term, "about": about}),
        Subject::Term(term, about, Some((_, all))) => {
            json!({"kind": "term", "name": term, "about": about, "keys": keys(all)})
        }
        Subject::Cells(rows) => {
            let row = |r: &Vec<String>| {
                let fields = COLUMNS.iter().zip(r).filter(|(_, v)| !v.is_empty());
                fields.map(|(c, v)| ((*c).to_string(), json!(v))).collect::<serde_json::Map<_, _>>()
            };
            json!({"kind": "cells", "cells": rows.iter().map(row).collect::<Vec<_>>()})
        }
    })
}

fn claim(c: &Claim, out: &Path) -> Value {
    let carried = carried_claim(c.id).map(|[holds, evidence]| json!({"holds": holds, "evidence": evidence}));
    let mut value =
        json!({"kind": "claim", "id": c.id, "origin": c.origin, "text": c.text, "carried": carried});
    let verdicts = read_csv(&std::fs::read_to_string(out.join("claims.csv")).unwrap_or_default());
    if let Some(line) = verdicts.iter().find(|l| l[1] == c.id) {
        value["holds"] = json!(line[4]);
        value["evidence"] = json!(line[5]);
    }
    value
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
    let answer = json!({
        "file": file, "ok": true, "cases": cost.cases, "runs": cost.runs, "packet_hops": cost.packet_hops,
        "cpu_seconds": cost.seconds, "memory_bytes": cost.memory, "problems": [], "notes": cost.notes.lines(),
    });
    println!("{answer}");
    Ok(())
}
