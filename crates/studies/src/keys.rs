//! The keys of a scenario, declared once: the reader, `cnsim new`, the JSON Schema and the docs come from this table.

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted path.
    pub path: &'static str,
    /// Kind of value: text, rate, time, bytes, percent, integer, host, or choices separated by `|`.
    pub kind: &'static str,
    /// Default; empty = must be given.
    pub default: &'static str,
    /// Meaning, one sentence.
    pub doc: &'static str,
    /// Only with this (key, values) setting; empty = always.
    pub only: (&'static str, &'static [&'static str]),
}

const fn key(path: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> Key {
    Key { path, kind, default, doc, only: ("", &[]) }
}

const fn only(mut k: Key, path: &'static str, values: &'static [&'static str]) -> Key {
    k.only = (path, values);
    k
}

/// All keys but those of `matrix`, `scheme` and `assumptions`.
pub const KEYS: &[Key] = &[
    key("study", "text", "mine", "study that the scenario belongs to"),
    key("name", "text", "", "name within the study"),
    key("title", "text", "untitled", "heading"),
    key("question", "text", "none", "what the scenario asks"),
    key("source", "text", "none", "where it comes from"),
    key("condition", "text", "default", "template that names a row, such as `hotspot {hotspot.rate}`"),
    key("topology.kind", "single-switch|core-edge|k-ary-n-tree", "single-switch", "shape of the network"),
    only(
        key("topology.hosts", "integer", "10", "number of hosts, named H0, H1, ..."),
        "topology.kind",
        &["single-switch"],
    ),
    only(
        key("topology.ports", "integer", "16", "ports of a switch (more if the wiring needs them)"),
        "topology.kind",
        &["single-switch", "core-edge"],
    ),
    only(
        key("topology.edges", "list", "[3, 3, 2, 2]", "hosts at each edge switch"),
        "topology.kind",
        &["core-edge"],
    ),
    only(
        key("topology.k", "integer", "4", "arity of the tree: k^n hosts"),
        "topology.kind",
        &["k-ary-n-tree"],
    ),
    only(key("topology.n", "integer", "3", "levels of the tree"), "topology.kind", &["k-ary-n-tree"]),
    only(
        key(
            "topology.routing",
            "flow-hash|frame-hash|round-robin|destination",
            "flow-hash",
            "choice among equal paths",
        ),
        "topology.kind",
        &["k-ary-n-tree"],
    ),
    key("topology.link_rate", "rate", "10 Gb/s", "rate of every link"),
    key("topology.link_delay", "time", "0.5 us", "propagation delay of every link"),
    key("switch.processing", "time", "1 us", "processing delay of a switch"),
    key(
        "switch.buffer",
        "XP|IN|SO|SW",
        "XP",
        "buffer organisation: crosspoint, per input, shared output, or a capacity split over the used inputs",
    ),
    only(
        key("switch.share", "bytes", "150 KB", "size of one partition"),
        "switch.buffer",
        &["XP", "IN", "SO"],
    ),
    only(
        key("switch.capacity", "bytes", "1 MB", "memory of a switch, split evenly over the inputs in use"),
        "switch.buffer",
        &["SW"],
    ),
    key("switch.output_limit", "bytes", "off", "largest queue of one output, off for none"),
    key("pause.mode", "on|off|global", "on", "802.3x PAUSE of the switches"),
    only(
        key("pause.high", "bytes", "130 KB", "XOFF above this occupancy of a partition"),
        "pause.mode",
        &["on", "global"],
    ),
    only(
        key("pause.low", "bytes", "110 KB", "XON at or below this occupancy"),
        "pause.mode",
        &["on", "global"],
    ),
    only(
        key("pause.pool", "on|off", "off", "watermarks apply to the whole pool (buffer SO)"),
        "switch.buffer",
        &["SO"],
    ),
    only(
        key(
            "pause.transport",
            "frame|wire",
            "frame",
            "PAUSE as 64 B frames, or effective a flat delay later",
        ),
        "pause.mode",
        &["on", "global"],
    ),
    key("control.transport", "priority|in-band", "priority", "feedback ahead of data, or among it"),
    key("host.processing", "time", "1 us", "processing delay of a NIC"),
    key("host.fifo", "integer", "10100", "frames that wait at a host: application queue and NIC"),
    key("host.limiter_queue", "integer", "100", "frames that a rate limiter's queue holds"),
    key("host.limiter_position", "at-source|below-queue", "below-queue", "where a frame meets its limiter"),
    key("workload.kind", "bernoulli|greedy|on-off", "bernoulli", "arrival process of every host"),
    only(
        key("workload.load", "percent", "85 %", "share of the access link that a host offers"),
        "workload.kind",
        &["bernoulli"],
    ),
    only(
        key("workload.loads", "list", "[]", "loads per host, in order, instead of one load"),
        "workload.kind",
        &["bernoulli"],
    ),
    only(key("workload.on", "time", "20 ms", "time on"), "workload.kind", &["on-off"]),
    only(key("workload.off", "time", "20 ms", "time off"), "workload.kind", &["on-off"]),
    key("workload.frame", "bytes", "1500 B", "frame length, 64 to 9216 B"),
    key("workload.destinations", "destination", "uniform", "uniform, or the name of one host"),
    key("workload.phase", "random|aligned", "random", "phase of the hosts' slots"),
    key("hotspot.host", "host", "off", "host whose switch port slows down, off for none"),
    key("hotspot.rate", "rate", "2 Gb/s", "service rate of that port"),
    key("hotspot.start", "time", "100 ms", "when it slows down"),
    key("hotspot.stop", "time", "500 ms", "when it is back"),
    key("run.duration", "time", "1 s", "simulated time"),
    key("run.seeds", "integer", "5", "number of seeds"),
    key("record.bin", "time", "1 ms", "width of a bin of the time series"),
];

/// Names of assumptions that can be set by `assumptions.NAME`, and the keys that they stand for.
pub const ASSUMPTION_KEYS: &[(&str, &str)] = &[
    ("source-queue", "host.fifo"),
    ("limiter-queue", "host.limiter_queue"),
    ("limiter-position", "host.limiter_position"),
    ("buffer", "switch.buffer"),
    ("pause-transport", "pause.transport"),
    ("control-transport", "control.transport"),
    ("efr", "scheme.params.efr"),
    ("efr-target", "scheme.params.efr_target"),
    ("r-min", "scheme.params.r_min"),
    ("oversampling", "scheme.params.oversampling"),
    ("gate-qoff", "scheme.params.gate_qoff"),
    ("sampling", "scheme.params.sampling"),
    ("quantiser", "scheme.params.quantiser"),
    ("hai", "scheme.params.hai"),
    ("sample-dropped", "scheme.params.sample_dropped"),
];

/// Finds a key.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.path == path)
}

/// A scenario to start from: every key with its meaning and default.
pub fn template(name: &str) -> String {
    use std::fmt::Write as _;
    let mut out = format!(
        "# Question: (what do you want to know?)\n# Run it:   cnsim run {name}.toml\n# Check it: cnsim check {name}.toml\n"
    );
    let mut section = "";
    for k in KEYS {
        let (table, leaf) = k.path.rsplit_once('.').unwrap_or(("", k.path));
        if table != section {
            let _ = write!(out, "\n[{table}]\n");
            section = table;
        }
        let value = match k.path {
            "name" => name.to_string(),
            "hotspot.host" => "H0".into(),
            "condition" => "hotspot {hotspot.rate}".into(),
            _ => k.default.to_string(),
        };
        let quoted = if k.kind == "integer" || k.kind == "list" { value } else { format!("{value:?}") };
        // Keys that need another setting than the default's are shown as comments.
        let idle = !k.only.0.is_empty() && find(k.only.0).is_some_and(|o| !k.only.1.contains(&o.default));
        let idle = idle || k.default == "[]";
        let kind = if k.kind.contains('|') { k.kind.replace('|', " | ") } else { k.kind.to_string() };
        let _ = writeln!(out, "{}{leaf} = {quoted}    # {} ({kind})", if idle { "# " } else { "" }, k.doc);
    }
    out.push_str("\n[matrix]\n\"hotspot.rate\" = [\"2 Gb/s\", \"0.5 Gb/s\"]    # rows: any key, a list of values\npause = [\"on\"]\nschemes = [\"none\", \"qcn-2pt\", \"ecm\"]\n\n# [scheme.params]    # parameters of the schemes that know them: cnsim describe ecm\n# q_eq = \"24 KB\"\n");
    out
}

/// JSON Schema of scenarios (draft 2020-12).
pub fn schema() -> serde_json::Value {
    use serde_json::{Map, Value, json};
    let mut root = Map::new();
    for k in KEYS {
        let kind = match k.kind {
            "integer" => json!({"type": "integer", "minimum": 0}),
            "list" => json!({"type": "array"}),
            "text" | "host" | "destination" => json!({"type": "string"}),
            "rate" => {
                json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*[kKmMgGtT]?(b|bit)(/s|ps)\s*$"})
            }
            "time" => json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*(ps|ns|us|µs|ms|s)\s*$"}),
            "bytes" => {
                json!({"type": "string", "pattern": r"^\s*([0-9.eE+-]+\s*([kKmMgG]i?)?(B|pages)|off)\s*$"})
            }
            "percent" => json!({"type": "string", "pattern": r"^\s*[0-9.]+\s*%\s*$"}),
            choices => {
                let list: Vec<&str> = choices.split('|').collect();
                if list == ["on", "off"] {
                    json!({"enum": ["on", "off", true, false]})
                } else {
                    json!({"enum": list})
                }
            }
        };
        let mut entry = kind;
        if let Value::Object(o) = &mut entry {
            o.insert("description".into(), json!(k.doc));
            if !k.default.is_empty() {
                o.insert("default".into(), json!(k.default));
            }
        }
        let mut at = &mut root;
        let mut parts: Vec<&str> = k.path.split('.').collect();
        let leaf = parts.pop().unwrap_or(k.path);
        for part in parts {
            let table = at.entry(part).or_insert_with(
                || json!({"type": "object", "additionalProperties": false, "properties": {}}),
            );
            match table.get_mut("properties").and_then(Value::as_object_mut) {
                Some(next) => at = next,
                None => return Value::Null,
            }
        }
        at.insert(leaf.into(), entry);
    }
    let mut params = Map::new();
    for entry in cnsim_schemes::catalogue() {
        for info in (entry.info)() {
            params.entry(info.key).or_insert_with(
                || json!({"description": format!("{} ({}; {})", info.doc, info.kind, info.range), "default": info.default}),
            );
        }
    }
    let names: Vec<&str> = cnsim_schemes::catalogue().iter().map(|e| e.name).collect();
    root.insert(
        "scheme".into(),
        json!({"type": "object", "properties": {"params": {"type": "object", "additionalProperties": false, "properties": params}}}),
    );
    root.insert(
        "matrix".into(),
        json!({"type": "object", "properties": {
            "pause": {"type": "array", "items": {"enum": ["on", "off", "global"]}},
            "schemes": {"type": "array", "items": {"enum": names}}},
            "additionalProperties": {"type": "array"}}),
    );
    let assumptions: Map<String, Value> = ASSUMPTION_KEYS
        .iter()
        .map(|(n, k)| ((*n).into(), json!({"description": format!("stands for {k}")})))
        .collect();
    root.insert(
        "assumptions".into(),
        json!({"type": "object", "additionalProperties": false, "properties": assumptions}),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cnsim scenario",
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": root,
    })
}
