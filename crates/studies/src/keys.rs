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
    key(
        "topology.kind",
        "single-switch|core-edge|k-ary-n-tree|fat-tree|leaf-spine|chain|ring|parking-lot|graph",
        "single-switch",
        "shape of the network",
    ),
    key(
        "topology.first",
        "integer",
        "0",
        "number of the first host: hosts are named H0, H1, ... or H1, H2, ...",
    ),
    only(key("topology.hosts", "integer", "10", "number of hosts"), "topology.kind", &["single-switch"]),
    only(
        key("topology.ports", "integer", "16", "ports of a switch (more if the wiring needs them)"),
        "topology.kind",
        &["single-switch", "core-edge", "chain", "ring", "parking-lot"],
    ),
    only(
        key(
            "topology.edges",
            "list",
            "[3, 3, 2, 2]",
            "hosts at each edge switch; edges E1, E2, ... hang on the core X",
        ),
        "topology.kind",
        &["core-edge"],
    ),
    only(
        key(
            "topology.k",
            "integer",
            "4",
            "arity of the tree (k^n hosts), or ports of a fat tree's switches (k^3/4 hosts)",
        ),
        "topology.kind",
        &["k-ary-n-tree", "fat-tree"],
    ),
    only(key("topology.n", "integer", "3", "levels of the tree"), "topology.kind", &["k-ary-n-tree"]),
    only(key("topology.leaves", "integer", "4", "leaf switches"), "topology.kind", &["leaf-spine"]),
    only(key("topology.spines", "integer", "2", "spine switches"), "topology.kind", &["leaf-spine"]),
    only(
        key("topology.switches", "integer", "4", "switches in the line or ring"),
        "topology.kind",
        &["chain", "ring"],
    ),
    only(
        key("topology.per_switch", "integer", "3", "hosts at each switch, or leaf"),
        "topology.kind",
        &["leaf-spine", "chain", "ring"],
    ),
    only(key("topology.stages", "integer", "2", "bottlenecks in a row"), "topology.kind", &["parking-lot"]),
    only(
        key("topology.long", "integer", "4", "hosts that send over all of them"),
        "topology.kind",
        &["parking-lot"],
    ),
    only(
        key("topology.nodes", "list", "[]", "switches of a graph, each with its number of ports: \"S1 16\""),
        "topology.kind",
        &["graph"],
    ),
    only(
        key(
            "topology.links",
            "list",
            "[]",
            "links of a graph: \"H1 S1\" or \"S1 S2 40 Gb/s 2 us\"; a name that is no switch is a host",
        ),
        "topology.kind",
        &["graph"],
    ),
    only(
        key(
            "topology.file",
            "file",
            "off",
            "file with the lines of a graph: `switch S1 16`, `link H1 S1 10 Gb/s 0.5 us`",
        ),
        "topology.kind",
        &["graph"],
    ),
    key(
        "topology.routing",
        "flow-hash|frame-hash|round-robin|destination",
        "flow-hash",
        "choice among equal paths: by flow, by frame, in turn per destination, or by the destination's digit (d-mod-k)",
    ),
    key("topology.link_rate", "rate", "10 Gb/s", "rate of every link"),
    key("topology.link_delay", "time", "0.5 us", "propagation delay of every link"),
    key("topology.host_rates", "list", "[]", "access links with another rate: \"H5 1 Gb/s\""),
    key(
        "topology.added_delay",
        "time",
        "0 us",
        "further delay, each way, of the access links of hosts that send",
    ),
    key(
        "topology.loop_delay",
        "time",
        "off",
        "control loop between a sending host and its switch, there and back with processing: sets the delay of its access link; off leaves link_delay",
    ),
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
    key(
        "control.transport",
        "priority|in-band|ideal",
        "priority",
        "feedback in frames ahead of data, in frames among it, or without frames after a fixed time (probes then travel ahead of data)",
    ),
    only(
        key("control.latency", "time", "20 us", "of ideal feedback: from the node that makes it to its host"),
        "control.transport",
        &["ideal"],
    ),
    key("host.processing", "time", "1 us", "processing delay of a NIC"),
    key("host.fifo", "integer", "10100", "frames that wait at a host: application queue and NIC"),
    key("host.limiter_queue", "integer", "100", "frames that a rate limiter's queue holds"),
    key("host.limiter_position", "at-source|below-queue", "below-queue", "where a frame meets its limiter"),
    key(
        "host.limiter_backlog",
        "behind|ahead",
        "behind",
        "where the host's frames wait: all behind the limiters, or all but `host.nic` in an application FIFO ahead of them",
    ),
    only(
        key("host.nic", "integer", "500", "of `host.fifo`, the frames behind the limiters"),
        "host.limiter_backlog",
        &["ahead"],
    ),
    key(
        "host.queues",
        "fifo|per-destination",
        "fifo",
        "one FIFO, or a virtual output queue per destination, served in turn",
    ),
    key(
        "host.feedback_delay",
        "time",
        "0 us",
        "from the arrival of a feedback message to its effect: processing at the reaction point, or the extra round trip of a study",
    ),
    only(
        key("host.ignores_pause", "on|off", "off", "a fault: hosts send on in XOFF"),
        "pause.mode",
        &["on", "global"],
    ),
    key(
        "host.feedback_lost",
        "integer",
        "0",
        "a fault: every n-th feedback message to a host is lost, 0 for none",
    ),
    key(
        "workload.kind",
        "bernoulli|greedy|on-off|bursts|transfers",
        "bernoulli",
        "arrivals: a draw per frame time, back to back, alternating, bursts of frames, or finite transfers",
    ),
    only(
        key("workload.load", "percent", "85 %", "share of the access link that a host offers"),
        "workload.kind",
        &["bernoulli", "bursts"],
    ),
    only(
        key("workload.loads", "list", "[]", "loads per host, in order, instead of one load"),
        "workload.kind",
        &["bernoulli", "bursts"],
    ),
    only(key("workload.on", "time", "20 ms", "time on"), "workload.kind", &["on-off"]),
    only(key("workload.off", "time", "20 ms", "time off"), "workload.kind", &["on-off"]),
    only(
        key("workload.step", "time", "0 us", "added to on and off time for each further host"),
        "workload.kind",
        &["on-off"],
    ),
    only(
        key(
            "workload.offset",
            "in-phase|random",
            "in-phase",
            "on-off sources start together, or anywhere in their period",
        ),
        "workload.kind",
        &["on-off"],
    ),
    only(
        key("workload.burst", "integer", "10", "frames of a burst, all to one destination"),
        "workload.kind",
        &["bursts"],
    ),
    key("workload.frame", "bytes", "1500 B", "frame length, 64 to 9216 B"),
    only(
        key(
            "workload.destinations",
            "list",
            "uniform",
            "uniform, permutation (drawn by the seed), +N (the host N further on), or names of hosts",
        ),
        "workload.kind",
        &["bernoulli", "bursts", "greedy", "on-off"],
    ),
    key("workload.phase", "random|aligned", "random", "phase of the hosts' slots"),
    key("workload.start", "time", "0 us", "first moment of the sources"),
    key("workload.stop", "time", "off", "no frame at or after this moment, off for the whole run"),
    only(
        key("workload.transfers", "list", "[]", "finite transfers: \"10 us, H1, H2, 1 MB\""),
        "workload.kind",
        &["transfers"],
    ),
    only(
        key(
            "workload.file",
            "file",
            "off",
            "file of transfers, a line each: start, source, destination, bytes",
        ),
        "workload.kind",
        &["transfers"],
    ),
    key(
        "traffic.hosts",
        "list",
        "[]",
        "[[traffic]] tables replace the workload: hosts that this one is for (H0..H9, H0..H9/3, all); other keys as in workload",
    ),
    key("hotspot.host", "list", "off", "host (or hosts) whose switch port slows down, off for none"),
    key("hotspot.rate", "rate", "2 Gb/s", "service rate of that port, or a share of the link: 10%"),
    key("hotspot.start", "time", "100 ms", "when it slows down"),
    key("hotspot.stop", "time", "500 ms", "when it is back"),
    key(
        "hotspot.period",
        "time",
        "off",
        "slow for this long, then at full rate for as long, and so on; off for once",
    ),
    key("event.at", "time", "0 us", "[[event]] tables change a port's service rate: when"),
    key("event.port", "port", "", "which switch port: \"X>E5\""),
    key("event.rate", "rate", "10 Gb/s", "its service rate from then on"),
    key("group.hosts", "list", "[]", "[[group]] tables: hosts that run another scheme than the matrix says"),
    key("group.scheme", "text", "none", "their scheme; feedback to them is delivered, counted and ignored"),
    key(
        "figure.title",
        "text",
        "",
        "[[figure]] tables are drawn in the report beside those of every table: heading",
    ),
    key("figure.caption", "text", "", "a remark below"),
    key(
        "figure.series",
        "list",
        "[]",
        "time series, one line each: hot_queue, hot_port_throughput, aggregate_throughput, ports_throughput, overhead, fairness, \"queue X>E5\", \"sent X>E5\" (the hot port), \"flow H1>H5\", \"limiter H1>H5\"",
    ),
    key("figure.metric", "text", "none", "or a metric, bars with intervals"),
    key("figure.conditions", "list", "[]", "only these conditions"),
    key("figure.pause", "list", "[]", "only these PAUSE modes"),
    key("figure.schemes", "list", "[]", "only these schemes"),
    key("figure.each", "off|condition|pause|scheme", "off", "one figure for each of them"),
    key("figure.across", "condition|pause|scheme", "condition", "horizontal axis of a metric"),
    key("run.duration", "time", "1 s", "simulated time"),
    key("run.seeds", "integer", "5", "number of seeds"),
    key(
        "record.bin",
        "time",
        "auto",
        "width of a bin of the time series; auto follows the run: 1 ms where there are 200 of them, else less",
    ),
    key("record.from", "time", "0 us", "rates, fairness and queue statistics are measured from here"),
    key("record.to", "time", "end", "to here"),
    key(
        "record.host",
        "host",
        "auto",
        "receiver whose port is the hot one; auto: that of the hotspot, or the only destination",
    ),
    key("record.port", "port", "auto", "hot port, where it is another than the receiver's: \"X>E5\""),
    key("record.ports", "list", "[]", "further switch ports whose queue is recorded"),
    key("record.flows", "list", "[]", "flows whose delivered rate is recorded: \"H1>H5\""),
    key("record.limiters", "list", "[]", "flows whose limiter's rate is recorded"),
    key(
        "record.paused",
        "senders|touched",
        "senders",
        "whose share of time in XOFF `time_paused` averages: the sending hosts' but the hot one's, or that of every transmitter, hosts and links between switches, that was in XOFF at some time",
    ),
    key("record.latency", "on|off", "off", "keep latencies' percentiles"),
];

/// Names of arrays of tables, whose keys carry a number: `traffic.0.kind`.
pub const TABLES: &[&str] = &["traffic", "event", "group", "figure"];

/// Finds a key. Keys of traffic are those of the workload, but for its own.
pub fn find(path: &str) -> Option<&'static Key> {
    let at = |path: &str| KEYS.iter().find(|k| k.path == path);
    let Some((table, rest)) = path.split_once('.').filter(|(t, _)| TABLES.contains(t)) else {
        return at(path);
    };
    let leaf = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
    at(&format!("{table}.{leaf}")).or_else(|| {
        if table == "traffic" && leaf != "loads" { at(&format!("workload.{leaf}")) } else { None }
    })
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
        if table != section && !TABLES.contains(&table) {
            let _ = write!(out, "\n[{table}]\n");
            section = table;
        }
        if TABLES.contains(&table) {
            continue;
        }
        let value = match k.path {
            "name" => name.to_string(),
            "hotspot.host" => "H0".into(),
            "condition" => "hotspot {hotspot.rate}".into(),
            _ => k.default.to_string(),
        };
        let bare = k.kind == "integer" || value.starts_with('[');
        let quoted = if bare { value } else { format!("{value:?}") };
        // Keys that need another setting than the default's are shown as comments.
        let idle = !k.only.0.is_empty() && find(k.only.0).is_some_and(|o| !k.only.1.contains(&o.default));
        let idle = idle || matches!(k.default, "[]" | "off" | "end" | "auto") && k.path != "hotspot.host";
        let kind = if k.kind.contains('|') { k.kind.replace('|', " | ") } else { k.kind.to_string() };
        let _ = writeln!(out, "{}{leaf} = {quoted}    # {} ({kind})", if idle { "# " } else { "" }, k.doc);
    }
    out.push_str("\n[matrix]\n\"hotspot.rate\" = [\"2 Gb/s\", \"0.5 Gb/s\"]    # rows: any key, a list of values\npause = [\"on\"]\nschemes = [\"none\", \"qcn-2pt\", \"ecm\"]\n\n# [scheme.params]    # parameters of the schemes that know them: cnsim describe ecm\n# q_eq = \"24 KB\"\n");
    out
}

/// JSON Schema of scenarios (draft 2020-12).
pub fn schema(registry: &cnsim_scheme_api::Registry) -> serde_json::Value {
    use serde_json::{Map, Value, json};
    let mut root = Map::new();
    for k in KEYS {
        let kind = match k.kind {
            "integer" => json!({"type": "integer", "minimum": 0}),
            "list" => json!({"type": ["array", "string"]}),
            "text" | "host" | "port" | "file" => json!({"type": "string"}),
            "rate" => {
                json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*([kKmMgGtT]?(b|bit)(/s|ps)|%)\s*$"})
            }
            "time" => {
                json!({"type": "string", "pattern": r"^\s*([0-9.eE+-]+\s*(ps|ns|us|µs|ms|s)|off|end|auto)\s*$"})
            }
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
    // Arrays of tables; traffic knows the workload's keys too.
    let shared = root.get("workload").and_then(|w| w.get("properties")).and_then(Value::as_object).cloned();
    for name in TABLES {
        if let Some(mut one) = root.remove(*name) {
            if let (&"traffic", Some(o)) = (name, one.get_mut("properties").and_then(Value::as_object_mut)) {
                shared.iter().flatten().filter(|(k, _)| *k != "loads").for_each(|(k, v)| {
                    o.entry(k.clone()).or_insert_with(|| v.clone());
                });
            }
            root.insert((*name).into(), json!({"type": "array", "items": one}));
        }
    }
    let mut params = Map::new();
    for entry in registry.iter() {
        for info in &entry.params {
            params.entry(info.key.clone()).or_insert_with(
                || json!({"description": format!("{} ({}; {})", info.doc, info.kind, info.range), "default": info.default}),
            );
        }
    }
    let names: Vec<&str> = registry.names().collect();
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
    root.insert(
        "rows".into(),
        json!({"type": "array", "items": {"type": "object", "properties": {
            "condition": {"type": "string", "description": "template of these rows; the scenario's where it is left out"},
            "seeds": {"type": "integer", "minimum": 1, "description": "number of seeds of these rows; run.seeds where it is left out"},
            "pause": {"type": "array", "items": {"enum": ["on", "off", "global"]}},
            "schemes": {"type": "array", "items": {"enum": names}}},
            "additionalProperties": {"type": ["array", "string", "number", "boolean"]}}}),
    );
    let assumptions: Map<String, Value> = crate::assumptions::ASSUMPTIONS
        .iter()
        .map(|a| (a.name.into(), json!({"description": format!("stands for {}: {}", a.key, a.about)})))
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
