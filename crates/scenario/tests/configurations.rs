//! A configuration reads back as the case that it was written from.
#![allow(clippy::unwrap_used)]

use cnsim_scenario::keys::{KEYS, Only, TABLES, find};
use cnsim_scenario::kinds::Kind;
use cnsim_scenario::{EMBEDDED, Ready, Scenario};
use std::path::{Path, PathBuf};

/// Every case of every embedded scenario.
#[test]
fn every_embedded_case_reads_back() {
    for (id, _) in EMBEDDED {
        let scenario = Scenario::load(id, &[]).unwrap();
        for case in scenario.cases() {
            let ready = scenario.ready(&case).unwrap();
            let (copy, same) = Scenario::from_config(&cnsim_schemes::registry(), &ready.config)
                .unwrap_or_else(|p| {
                    panic!("{id}, {}, {}: {}", case.id.condition, case.id.scheme, p[0]);
                });
            let again = copy.ready(&same).unwrap_or_else(|p| panic!("{id}, {}: {}", case.id.condition, p[0]));
            assert_eq!(again.config, ready.config, "{id}");
            assert_eq!(
                (same.id.condition, same.id.pause, same.id.scheme, copy.id()),
                (case.id.condition.clone(), case.id.pause.clone(), case.id.scheme.clone(), scenario.id())
            );
            let specs = [&ready, &again].map(|r| format!("{:?}", r.settings.spec(&r.built, 3, false)));
            let at = specs[0].bytes().zip(specs[1].bytes()).position(|(a, b)| a != b);
            let part = |s: &str| at.map(|at| s[at.saturating_sub(120)..(at + 120).min(s.len())].to_owned());
            assert!(
                specs[0] == specs[1],
                "{id}, {}: {:?} and {:?}",
                case.id,
                part(&specs[0]),
                part(&specs[1])
            );
        }
    }
}

/// Lists whose items hold commas, brackets and quotes; keys without effect; types.
#[test]
fn what_is_not_a_configuration_is_refused() {
    let text = "name = \"x\"\n[topology]\nhosts = 3\n[run]\nduration = \"1 ms\"\n[workload]\nkind = \"transfers\"\n\
                transfers = [\"1 us, H0, H1, 10 KB\", \"2 us, H1, H2, 20 KB\"]\n[matrix]\nschemes = [\"ecm\"]\n";
    let scenario = Scenario::parse("x.toml", text, &[]).unwrap();
    let case = &scenario.cases()[0];
    let config = scenario.ready(case).unwrap().config;
    assert_eq!(config.0["workload.transfers"][1], "2 us, H1, H2, 20 KB");
    assert!(config.0.get("hotspot.rate").is_none(), "there is no hotspot");
    let (copy, same) = Scenario::from_config(&cnsim_schemes::registry(), &config).unwrap();
    assert_eq!(copy.ready(&same).unwrap().config, config);
    let refused = |key: &str, value: serde_json::Value, words: &str| {
        let mut bad = config.clone();
        std::sync::Arc::make_mut(&mut bad.0)[key] = value;
        let found = Scenario::from_config(&cnsim_schemes::registry(), &bad)
            .and_then(|(s, c)| s.ready(&c).map(|r| r.config));
        let said = found.map_err(|p| p[0].to_string()).map(|c| c == bad);
        assert!(said.as_ref().is_err_and(|s| s.contains(words)), "{key}: {said:?}");
    };
    refused("topology.host", "3".into(), "unknown key");
    refused("hotspot.rate", "1 Gb/s".into(), "has no effect");
    refused("workload.on", "1 ms".into(), "has no effect");
    refused("topology.hosts", 3.into(), "neither a text nor a list");
    refused("workload.transfers", serde_json::json!([["x"]]), "neither a text nor a list");
    refused("scheme", serde_json::json!({"name": "emc", "params": {}}), "names no scheme");
    refused("scheme", serde_json::json!({"name": "ecm", "params": {"x": "1"}}), "x");
    refused("scheme", serde_json::json!({"name": "ecm", "params": {}, "more": 1}), "more than");
    // A key that is missing reads back as its default, which is not the same.
    let mut less = config.clone();
    let all = std::sync::Arc::make_mut(&mut less.0);
    all.as_object_mut().unwrap().remove("topology.hosts");
    all["workload.transfers"] = serde_json::json!(["1 us, H0, H1, 10 KB"]);
    let (s, c) = Scenario::from_config(&cnsim_schemes::registry(), &less).unwrap();
    assert_ne!(s.ready(&c).unwrap().config, less);
}

/// Each preset of each scheme, alone and beside each word that a parameter may have: one that makes others idle, too.
#[test]
fn every_preset_reads_back() {
    let registry = cnsim_schemes::registry();
    let (mut all, mut idle) = (0, 0);
    for scheme in registry.iter() {
        let name = &scheme.name;
        let mut more = vec![String::new()];
        for info in &scheme.params {
            let words = match info.kind.as_str() {
                "on/off" => vec!["on".to_string(), "off".into()],
                _ if info.range.optional => vec!["off".to_string()],
                _ => info.range.choices.clone(),
            };
            more.extend(words.iter().map(|word| format!("{} = \"{word}\"\n", info.key)));
        }
        let presets =
            scheme.presets.iter().map(|p| format!("preset = \"{}\"\n", p.name)).chain([String::new()]);
        let tables = presets.flat_map(|preset| more.iter().map(move |line| format!("{preset}{line}")));
        for (table, queues) in tables.flat_map(|t| [(t.clone(), "fifo"), (t, "per-flow")]) {
            let text = format!(
                "name = \"p\"\n[host]\nqueues = \"{queues}\"\n[workload]\nkind = \"permutation\"\n[matrix]\nschemes = [\"{name}\"]\n[scheme.\"{name}\"]\n{table}"
            );
            let Ok(scenario) = Scenario::parse("p.toml", &text, &[]) else { continue };
            let ready = scenario.ready(&scenario.cases()[0]).unwrap();
            let again =
                Scenario::from_config(&registry, &ready.config).and_then(|(copy, same)| copy.ready(&same));
            assert_eq!(again.map(|r| r.config), Ok(ready.config), "{text}");
            (all, idle) = (all + 1, idle + usize::from(!ready.built.idle.is_empty()));
        }
    }
    assert!(all > 300 && idle > 50, "{idle} of {all}");
}

/// A configuration holds every key, also those that nobody wrote and that a user could not write with this effect: a least timeout
/// above a short run, and a delay of acknowledgements that nothing waits for.
#[test]
fn every_transport_reads_back() {
    let registry = cnsim_schemes::registry();
    for (kind, more) in [
        ("none", ""),
        ("go-back-n", ""),
        ("selective", ""),
        ("tcp", ""),
        ("tcp", "ack_every = 2\n"),
        ("tcp", "rto_min = \"dc\"\n"),
        ("tcp", "recovery = \"newreno\"\n"),
        ("tcp", "recovery = \"rack\"\n"),
    ] {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"15 ms\"\n[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"{kind}\"\n{more}\
             [workload]\nkind = \"permutation\"\n[matrix]\nschemes = [\"none\", \"newreno\", \"dctcp\"]\n"
        );
        let scenario = Scenario::parse("t.toml", &text, &[]).unwrap();
        for case in scenario.cases() {
            let ready = scenario.ready(&case).unwrap();
            let again =
                Scenario::from_config(&registry, &ready.config).and_then(|(copy, same)| copy.ready(&same));
            assert_eq!(again.map(|r| r.config), Ok(ready.config), "{text}");
        }
    }
}

/// A value of this kind that is not the default.
fn other_than(default: &str, kind: &Kind) -> Option<String> {
    let all = match kind {
        Kind::Or(word, kind) => {
            [Some((*word).into()), other_than(default, kind)].into_iter().flatten().collect()
        }
        Kind::Choice(words) => words.iter().map(ToString::to_string).collect(),
        Kind::Integer(low, high) => vec![low.to_string(), high.to_string()],
        Kind::Time(low, high) => vec![low.to_string(), high.to_string()],
        Kind::Bytes(low, high) => vec![low.to_string(), high.to_string()],
        Kind::Percent => vec!["7 %".to_string()],
        _ => Vec::new(),
    };
    all.into_iter().find(|value| value != default)
}

/// A key at the top of a file reads as its default in cases that leave it without effect: their configurations, which lack it, read back
/// as the same run.
#[test]
fn idle_keys_read_back() {
    let registry = cnsim_schemes::registry();
    let mut ran = 0;
    for key in KEYS.iter().filter(|k| !TABLES.iter().any(|t| k.path.starts_with(&format!("{t}.")))) {
        let Some(other) = key.only.key().and_then(find) else { continue };
        let Some(value) = other_than(key.default, &key.kind) else { continue };
        let words = match key.only {
            Only::Unless(_, word) => vec![word],
            _ => other.kind.choices().iter().copied().filter(|word| !key.only.admits(word)).collect(),
        };
        for word in words {
            let line = match other.path {
                "pause.mode" => format!("pause = [\"{word}\"]"),
                path => format!("{path} = [\"{word}\"]"),
            };
            for more in ["", "host.queues = \"per-flow\"\nworkload.kind = \"permutation\"\n"] {
                let text = format!("name = \"i\"\n{more}{} = \"{value}\"\n[matrix]\n{line}\n", key.path);
                let Ok(scenario) = Scenario::parse("i.toml", &text, &[]) else { continue };
                let ready = scenario.ready(&scenario.cases()[0]).unwrap();
                let (copy, same) = Scenario::from_config(&registry, &ready.config).unwrap();
                let again = copy.ready(&same).unwrap();
                let run = |r: &Ready| format!("{:?}", r.settings.spec(&r.built, 1, false));
                assert_eq!(run(&ready), run(&again), "{text}");
                ran += 1;
            }
        }
    }
    // Memory without PAUSE is as large as with it.
    let text =
        "name = \"i\"\n[pause]\nhigh = \"1 MB\"\nresponse = \"9 us\"\n[matrix]\npause = [\"on\", \"off\"]\n";
    let scenario = Scenario::parse("i.toml", text, &[]).unwrap();
    let shares = scenario.cases().into_iter().flat_map(|case| {
        let ready = scenario.ready(&case).unwrap();
        let (copy, same) = Scenario::from_config(&registry, &ready.config).unwrap();
        [ready.settings.buffer().share, copy.ready(&same).unwrap().settings.buffer().share]
    });
    let shares: Vec<_> = shares.collect();
    assert!(shares.len() == 4 && shares.iter().all(|s| *s == shares[0] && s.get() > 1_000_000), "{shares:?}");
    assert!(ran > 600, "{ran}");
}

/// The sources below a folder, each with its path.
fn sources(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A key whose row no code names would be accepted and have no effect. A file of a table that no line declares would not be compiled.
#[test]
fn each_key_is_read_and_each_table_is_declared() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let word = |c: char| !c.is_alphanumeric() && c != '_';
    let code = |text: &str| {
        text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let code: Vec<String> = all.iter().map(|(_, text)| code(text)).collect();
    let named = |name: &str| code.iter().flat_map(|text| text.split(word)).filter(|w| *w == name).count();
    let tables = all.iter().filter(|(path, _)| path.components().any(|part| part.as_os_str() == "tables"));
    let (mut keys, mut forgotten) = (0, Vec::new());
    for (path, text) in tables {
        let rows = text.lines().filter_map(|l| Some(l.trim().split_once(" = key(")?.0));
        for name in rows.inspect(|_| keys += 1) {
            // Its row is one place.
            if named(name) < 2 {
                forgotten.push(format!("{name} of {}", path.display()));
            }
        }
        let stem = path.file_stem().unwrap().to_string_lossy();
        if stem != "mod" && named(&stem) == 0 {
            forgotten.push(format!("{}: no `mod`, no line of `tables!`", path.display()));
        }
    }
    assert!(forgotten.is_empty(), "{forgotten:#?}");
    assert!(keys > 150, "{keys} keys");
}
