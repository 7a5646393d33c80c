use super::*;
use crate::flows::fct::FlowTime;
use crate::measure::PortFacts;
use crate::scenario::Scenario;
use crate::store::Curve;
use serde_json::json;
use std::time::Instant;

/// The first case of a scenario.
fn ready(text: &str) -> Ready {
    let s =
        Scenario::parse("t.toml", &format!("name = \"t\"\n{text}"), &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    s.ready(&s.cases()[0]).unwrap_or_else(|p| panic!("{p:#?}"))
}

/// A run of a scheme and seed with a configuration and metrics.
fn run(scheme: &str, seed: u64, config: Value, metrics: &[(&str, f64)]) -> RunRecord {
    RunRecord {
        study: "mine".into(),
        condition: "c".into(),
        pause: "on".into(),
        scheme: scheme.into(),
        seed,
        config,
        metrics: metrics.iter().map(|(id, v)| ((*id).to_string(), *v)).collect(),
        ..RunRecord::default()
    }
}

#[test]
fn many_receivers_of_a_table_share_its_load() {
    // 4199 of 4200 hosts at 60 %: no port gets more than that, to whichever of them it leads.
    let many = ready(
        "topology.hosts = 4200\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H4199\"\nkind = \"poisson\"\nload = \"60 %\"\ndestinations = \"H0..H4198\"\n",
    );
    assert_eq!(many.settings.overloads(), []);
    // Three hosts at 90 % send to two others, and to one.
    let few = |to: &str| {
        ready(&format!(
            "topology.hosts = 6\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\nload = \"90 %\"\ndestinations = {to}\n"
        ))
    };
    let ports = |r: &Ready| -> Vec<(String, f64)> {
        r.settings
            .overloads()
            .into_iter()
            .map(|o| (o.port, (o.offered / o.carries * 100.0).round()))
            .collect()
    };
    assert_eq!(ports(&few("\"H3..H4\"")), [("S>H3".to_string(), 135.0), ("S>H4".to_string(), 135.0)]);
    assert_eq!(ports(&few("[\"H5\"]")), [("S>H5".to_string(), 270.0)]);
    // An incast that comes once goes to the first of its receivers.
    let once = ready(
        "topology.hosts = 6\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\nkind = \"incast\"\nsize = \"1 MB\"\ndestinations = [\"H4\", \"H5\"]\n",
    );
    assert_eq!(ports(&once), [("S>H4".to_string(), 240.0)]);
}

#[test]
fn an_overload_is_in_one_unit() {
    let fast = ready(
        "topology.hosts = 4\ntopology.link_rate = \"1 Tb/s\"\nswitch.share = \"4 MB\"\nrun.duration = \"0.1 ms\"\n[[traffic]]\nhosts = \"H0..H1\"\nload = \"90 %\"\ndestinations = [\"H2\"]\n",
    );
    let said = before(&fast).join("\n");
    assert!(
        said.contains("S>H2 is offered 1.80 times what it carries, 1.8 Tb/s of 1 Tb/s on average"),
        "{said}"
    );
    assert!(!said.contains("further"), "{said}");
    let two = ready(
        "topology.hosts = 5\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\nload = \"90 %\"\ndestinations = [\"H3\", \"H4\"]\n",
    );
    let said = before(&two).join("\n");
    assert!(said.contains("13.5 Gb/s of 10 Gb/s") && said.contains("1 further port is overloaded"), "{said}");
}

#[test]
fn a_mark_above_xoff_is_reached_as_the_memory_is_organised() {
    let said = |buffer: &str, pause: &str| {
        let text = format!(
            "topology.hosts = 4\nswitch.buffer = \"{buffer}\"\nswitch.share = \"400 KB\"\npause = {{high = \"100 KB\", low = \"80 KB\"{pause}}}\nscheme.ecm.q_eq = \"200 KB\"\nmatrix.schemes = [\"ecm\"]\n"
        );
        before(&ready(&text)).join("\n")
    };
    let inputs = "feedback comes only where 3 or more inputs fill one output";
    assert!(
        said("XP", "").contains(&format!("PAUSE stops an input at 100 KB, so {inputs}")),
        "{}",
        said("XP", "")
    );
    let global = said("IN", ", mode = \"global\"");
    assert!(
        global.contains(&format!("stops all inputs as soon as one holds 100 KB, so {inputs}")),
        "{global}"
    );
    let shared = said("SO", "");
    assert!(
        shared.contains("all inputs as soon as an output holds 100 KB") && !shared.contains("or more"),
        "{shared}"
    );
    assert!(
        said("SO", ", pool = true").contains("as the switch holds 100 KB"),
        "{}",
        said("SO", ", pool = true")
    );
    let off = "topology.hosts = 4\npause.mode = \"off\"\nscheme.ecm.q_eq = \"200 KB\"\nmatrix.schemes = [\"ecm\"]\n";
    assert_eq!(before(&ready(off)), Vec::<String>::new());
}

#[test]
fn what_a_seed_draws() {
    let one = |table: &str| {
        let text = format!(
            "topology.hosts = 6\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H1..H3\"\nphase = \"aligned\"\n{table}\n"
        );
        few_seeds(&ready(&text.replace("phase = \"aligned\"\nphase", "phase")), 1).is_some()
    };
    for drawn in [
        "load = \"10 %\"\ndestinations = [\"H0\"]",
        "kind = \"greedy\"",
        "kind = \"greedy\"\ndestinations = [\"H4\", \"H5\"]",
        "phase = \"random\"\nkind = \"greedy\"\ndestinations = [\"H0\"]",
        "kind = \"on-off\"\noffset = \"random\"\ndestinations = [\"H0\"]",
        "kind = \"poisson\"\nload = \"1 %\"\nsizes = \"file\"\nsize_table = [\"9000 100\"]\ndestinations = [\"H0\"]",
        "kind = \"permutation\"\nsize = \"9 KB\"",
        "kind = \"incast\"\nsize = \"9 KB\"\ndestinations = [\"H0\"]\nfan_in = 2",
        "kind = \"incast\"\nsize = \"9 KB\"\ndestinations = [\"H0\"]\njitter = \"5 us\"",
    ] {
        assert!(one(drawn), "{drawn}");
    }
    for fixed in [
        "kind = \"greedy\"\ndestinations = [\"H0\"]",
        "kind = \"on-off\"\ndestinations = [\"H0\"]",
        "kind = \"transfers\"\ntransfers = [\"0 us, H1, H0, 9 KB\"]",
        "kind = \"all-to-all\"\nsize = \"9 KB\"",
        "kind = \"incast\"\nsize = \"9 KB\"\ndestinations = [\"H0\"]",
        // H1 never sends to itself, so all of the other two take part.
        "kind = \"incast\"\nsize = \"9 KB\"\ndestinations = [\"H1\"]\nfan_in = 2",
    ] {
        // Finite flows start when they are due, whatever the phase of slots.
        assert!(!one(fixed), "{fixed}");
    }
}

/// Runs of two values of a key, each of so many seeds; the last one came out otherwise where it `matters`.
fn swept(key: &str, seeds: u64, matters: bool) -> Vec<RunRecord> {
    let of = |value: &str, seed| {
        let mut r = run("ecm", seed, json!({key: value, "study": value}), &[]);
        let last = matters && value == "b" && seed == seeds;
        r.fingerprint.insert("events".into(), if last { "2".into() } else { "1".into() });
        r
    };
    let seeds = || 1..=seeds;
    seeds().map(|s| of("a", s)).chain(seeds().map(|s| of("b", s))).collect()
}

#[test]
fn a_key_without_effect_is_found_among_all_runs() {
    let said = after(&swept("host.fifo", 3, false));
    assert!(said.len() == 1 && said[0].starts_with("host.fifo changed nothing"), "{said:?}");
    assert_eq!(after(&swept("host.fifo", 1500, true)), Vec::<String>::new(), "the last run differs");
    assert_eq!(
        after(&swept("record.bin", 3, false)),
        Vec::<String>::new(),
        "what is recorded changes no run"
    );
    // Two keys that vary together: nothing is known of either.
    let mut both = swept("host.fifo", 1, false);
    both[0].config["switch.share"] = json!("1 KB");
    both[1].config["switch.share"] = json!("2 KB");
    assert_eq!(after(&both), Vec::<String>::new());
}

#[test]
fn a_sweep_of_many_points_is_read_in_a_moment() {
    let keys: serde_json::Map<String, Value> = (0..40).map(|i| (format!("k{i}"), json!("v"))).collect();
    let mut all = Vec::new();
    for i in 0..6000 {
        let mut config = Value::Object(keys.clone());
        config["host.fifo"] = json!(i.to_string());
        let mut r = run("ecm", 1, config, &[("queue_max", 1.0)]);
        r.fingerprint.insert("events".into(), i.to_string());
        all.push(r);
    }
    let begun = Instant::now();
    assert_eq!(after(&all), Vec::<String>::new());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// A run whose traffic is there in these bins of 1 ms, of ten.
fn busy(bins: std::ops::Range<usize>, config: Value) -> RunRecord {
    let mut r = run("none", 1, config, &[]);
    let values = (0..10).map(|i| if bins.contains(&i) { 1.0 } else { 0.0 }).collect();
    let curve = Curve { unit: "Gb/s".into(), bin: 1e-3, values, peaks: Vec::new() };
    r.series.insert("aggregate_throughput".into(), curve);
    r
}

#[test]
fn idle_before_or_after_and_in_the_measurement() {
    let said = |bins, config: Value| after(&[busy(bins, config)]).join("\n");
    let late = said(7..10, json!({"record.from": "0 us", "record.to": "end"}));
    assert!(late.contains("70 % of the run is idle, as nothing arrives before 7 ms, and"), "{late}");
    assert!(late.contains("let traffic start earlier") && !late.contains("shorten"), "{late}");
    let early = said(0..3, json!({}));
    assert!(
        early.contains("nothing arrives after 3 ms,") && early.contains("shorten run.duration"),
        "{early}"
    );
    let both = said(4..6, json!({}));
    assert!(both.contains("80 %") && both.contains("before 4 ms or after 6 ms"), "{both}");
    // As long as the slowest scheme needs it.
    let slow = RunRecord { scheme: "ecm".into(), ..busy(0..8, json!({})) };
    assert_eq!(after(&[busy(0..3, json!({})), slow.clone()]), Vec::<String>::new());
    let elsewhere = RunRecord { condition: "d".into(), ..slow };
    assert_eq!(after(&[busy(0..3, json!({})), elsewhere]).len(), 1);
    // What is measured counts.
    assert_eq!(said(7..10, json!({"record.from": "7 ms"})), "");
    assert_eq!(said(0..3, json!({"record.to": "4 ms"})), "");
    let window = said(0..6, json!({"record.from": "5 ms"}));
    assert!(window.contains("80 % of the measurement is idle, as nothing arrives after 6 ms"), "{window}");
}

#[test]
fn messages_are_counted_a_run() {
    let of = |messages: f64, flows: u64| {
        let counts = [
            ("control_messages", messages),
            ("pauses", 7.0),
            ("dropped_frames", 0.0),
            ("completed_transfers", 4.0),
            ("incomplete_transfers", 0.0),
        ];
        let seeds = (1..=2).map(|seed| {
            let mut r = run("ecm", seed, json!({}), &counts);
            let bytes = |i| if i < 3 { 200_000 } else { 1000 };
            r.flows = (0..flows)
                .map(|i| FlowTime {
                    bytes: bytes(i),
                    src: 0,
                    dst: 1,
                    start: 0,
                    time: 1,
                    exact: 1,
                    fork: 1,
                    name: 0,
                })
                .collect();
            r
        });
        after(&seeds.collect::<Vec<_>>()).join("\n")
    };
    assert!(
        of(2.0, 4).contains("2 messages for 3 flows a run, fewer than one each, beside 7 XOFF:"),
        "{}",
        of(2.0, 4)
    );
    assert_eq!(of(3.0, 4), "");
    assert_eq!(of(2.0, 0), "", "the flows were not kept");
}

#[test]
fn a_hot_port_by_its_own_frames() {
    let said = |frame: &str, queue_max: f64| {
        let config = json!({"record.host": "H1", "traffic.0.frame": frame});
        let mut r = run("none", 1, config, &[("queue_max", 40.0)]);
        r.ports.insert("S>H1".into(), PortFacts { queue_max, ..PortFacts::default() });
        after(&[r]).join("\n")
    };
    assert!(said("9000 B", 18.0).contains("its port is not hot: its queue never passes 18 KB"));
    assert_eq!(said("1500 B", 18.0), "");
}
