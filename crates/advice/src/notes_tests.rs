use super::*;
use cnsim_measure::PortFacts;
use cnsim_measure::fct::FlowTime;
use cnsim_measure::frozen::Frozen;
use cnsim_runs::record::Curve;
use cnsim_scenario::Scenario;
use serde_json::{Value, json};
use std::sync::Arc;
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
        case: ["mine", "", "c", "on", scheme].into(),
        seed,
        config: config.into(),
        metrics: metrics.iter().copied().collect(),
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
        said.contains("S>H2 is offered 1.8 times what it carries, 1.8 Tb/s of 1 Tb/s on average"),
        "{said}"
    );
    assert!(!said.contains("further"), "{said}");
    let two = ready(
        "topology.hosts = 5\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\nload = \"90 %\"\ndestinations = [\"H3\", \"H4\"]\n",
    );
    let said = before(&two).join("\n");
    assert!(said.contains("13.5 Gb/s of 10 Gb/s") && said.contains("1 further port is overloaded"), "{said}");
}

/// Notes are on one's own experiments: a published study has none before its runs.
#[test]
fn published_studies_have_no_notes() {
    let over = |study: &str| {
        before(&ready(&format!(
            "study = \"{study}\"\ntopology.hosts = 5\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\nload = \"90 %\"\ndestinations = [\"H3\"]\n"
        )))
    };
    assert_eq!((over("mine").len(), over("B07").len()), (1, 0));
    assert!(of_others("b07") && !of_others("mine") && !of_others(""));
}

/// A table of sizes that look like KB is told by the sizes that it draws: none has the first one, and all are below 64 B.
#[test]
fn sizes_that_look_like_kb_by_hand() {
    let said = before(&ready(
        "topology.hosts = 3\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H1..H2\"\nkind = \"poisson\"\nload = \"1 %\"\nsizes = \"file\"\nsize_table = [\"1 0\", \"20 50\", \"40 100\"]\ndestinations = [\"H0\"]\n",
    ))
    .join("\n");
    assert!(said.contains("100 % of the flows have fewer than 64 B"), "{said}");
    assert!(said.contains("the table of sizes goes from 20 to 40)"), "{said}");
}

/// Aligned sources without a scheme keep their phases, which a scheme would part.
#[test]
fn phases_lock_without_a_scheme() {
    let said = |scheme: &str| {
        of_settings(&ready(&format!(
            "topology.hosts = 3\nswitch.output_limit = \"100 KB\"\npause.mode = \"off\"\nmatrix.schemes = [\"{scheme}\"]\n[[traffic]]\nhosts = \"H1..H2\"\nkind = \"greedy\"\ndestinations = [\"H0\"]\n"
        )))
        .into_iter()
        .filter(|note| note.contains("phase"))
        .count()
    };
    assert_eq!((said("none"), said("ecm")), (1, 0));
}

/// A ramp without a share marks from its end on: above 200 KB, and no queue gets longer than 150 KB. With one it marks from 5 KB on.
#[test]
fn a_ramp_without_a_share_marks_from_its_end() {
    let said = |p_max: &str| {
        let text = format!(
            "topology.hosts = 2\npause.mode = \"off\"\nswitch.share = \"150 KB\"\nscheme.dcqcn.p_max = {p_max}\nmatrix.schemes = [\"dcqcn\"]\n"
        );
        before(&ready(&text)).join("\n")
    };
    let never = said("0");
    assert!(never.contains("dcqcn marks frames above a queue of 200 KB (scheme.dcqcn.k_max)"), "{never}");
    assert_eq!(said("0.01"), "");
}

#[test]
fn a_mark_above_xoff_is_reached_as_the_memory_is_organised() {
    let said = |buffer: &str, pause: &str| {
        let text = format!(
            "topology.hosts = 4\nswitch.buffer = \"{buffer}\"\nswitch.share = \"400 KB\"\npause = {{high = \"100 KB\", low = \"80 KB\"{pause}}}\nscheme.ecm.q_eq = \"350 KB\"\nmatrix.schemes = [\"ecm\"]\n"
        );
        before(&ready(&text)).join("\n")
    };
    let inputs = "feedback comes only where 4 or more inputs fill one output, and here at most 3 do";
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
    let off = |hosts: u32, level: &str, more: &str| {
        let text = format!(
            "topology.hosts = {hosts}\npause.mode = \"off\"\nscheme.ecm.q_eq = \"{level}\"\nmatrix.schemes = [\"ecm\"]\n{more}"
        );
        before(&ready(&text)).join("\n")
    };
    // Without PAUSE, what can wait is the bound: three inputs of 150 KB.
    assert_eq!(off(4, "200 KB", ""), "");
    assert!(off(4, "500 KB", "").contains("no queue gets longer than 450 KB (3 inputs fill it)"));
    assert_eq!(off(8, "500 KB", ""), "");
    let limited = off(8, "500 KB", "switch.output_limit = \"400 KB\"\n");
    assert!(limited.contains("no queue gets longer than 400 KB (switch.output_limit)"), "{limited}");
    // Two senders of a star of many hosts are two inputs.
    let two = "[[traffic]]\nhosts = \"H1..H2\"\nload = \"10 %\"\ndestinations = [\"H0\"]\n";
    assert!(off(8, "500 KB", two).contains("longer than 300 KB (2 inputs fill it)"));
    // Enough inputs fill the port above the mark.
    let on = |hosts: u32| {
        before(&ready(&format!(
            "topology.hosts = {hosts}\nscheme.ecm.q_eq = \"400 KB\"\nmatrix.schemes = [\"ecm\"]\n"
        )))
    };
    assert!(on(4)[0].contains("4 or more inputs fill one output, and here at most 3 do"));
    assert_eq!(on(5), Vec::<String>::new());
}

#[test]
fn sources_in_turns_and_slow_ports_count() {
    let ports = |more: &str| -> Vec<(String, f64)> {
        let r = ready(&format!(
            "topology.hosts = 6\nrun.duration = \"1 ms\"\n[[traffic]]\nhosts = \"H0..H2\"\n{more}\ndestinations = [\"H5\"]\n"
        ));
        let all = r.settings.overloads().into_iter();
        all.map(|o| (o.port, (o.offered / o.carries * 100.0).round())).collect()
    };
    let turns = |on: &str| ports(&format!("kind = \"on-off\"\non = \"{on}\"\noff = \"10 us\""));
    assert_eq!(turns("10 us"), [("S>H5".to_string(), 150.0)]);
    assert_eq!(turns("4 us"), []);
    assert_eq!(ports("kind = \"greedy\""), [], "what is greedy takes what there is");
    // Half of the time the port serves a tenth: 5.5 Gb/s.
    let slow = |at: &str| {
        let text = format!("[[event]]\nat = \"{at}\"\nport = \"S>H5\"\nrate = \"1 Gb/s\"\n[[traffic]]\n");
        let r = ready(&format!(
            "topology.hosts = 6\nrun.duration = \"1 ms\"\n{text}hosts = \"H0..H2\"\nload = \"25 %\"\ndestinations = [\"H5\"]\n"
        ));
        before(&r).join("\n")
    };
    assert!(slow("0.5 ms").contains("S>H5 is offered 1.36 times what it carries, 7.5 Gb/s of 5.5 Gb/s"));
    assert_eq!(slow("0.9 ms"), "");
}

#[test]
fn a_hot_port_must_get_more_than_others() {
    let said = |host: &str, traffic: &str| {
        before(&ready(&format!(
            "topology.hosts = 6\nrun.duration = \"1 ms\"\nrecord.host = \"{host}\"\n{traffic}"
        )))
        .join("\n")
    };
    let uniform = "workload.load = \"30 %\"\n";
    assert!(said("H3", uniform).contains("H3, but its port is no hotter than others: 3 Gb/s are sent to H3"));
    assert_eq!(said("auto", uniform), "");
    let more = "[[traffic]]\nhosts = \"all\"\nload = \"30 %\"\n[[traffic]]\nhosts = \"H1\"\nload = \"30 %\"\ndestinations = [\"H3\"]\n";
    assert_eq!(said("H3", more), "");
    assert!(said("H4", more).contains("record.host names H4"));
    // Two ports may be full.
    let both = "[[traffic]]\nhosts = \"H2..H3\"\nkind = \"greedy\"\ndestinations = [\"H0\"]\n[[traffic]]\nhosts = \"H4..H5\"\nkind = \"greedy\"\ndestinations = [\"H1\"]\n";
    assert_eq!(said("H0", both), "");
}

#[test]
fn a_scheme_must_run_where_traffic_starts() {
    let said = |hosts: &str| {
        before(&ready(&format!(
            "topology.hosts = 5\nrun.duration = \"1 ms\"\nmatrix.schemes = [\"ecm\"]\n[[group]]\nhosts = \"{hosts}\"\nscheme = \"none\"\n[[traffic]]\nhosts = \"H1..H3\"\nkind = \"greedy\"\ndestinations = [\"H0\"]\n"
        )))
        .join("\n")
    };
    assert!(said("H1..H4").contains("no host that sends runs ecm"));
    assert_eq!(said("H2..H4"), "");
}

#[test]
fn who_made_no_message_and_who_lost() {
    let of = |scheme: &str, seed: u64, messages: f64, lost: f64, events: &str| {
        let counts = [
            ("control_messages", messages),
            ("slowed_flows", messages),
            ("pauses", 0.0),
            ("dropped_frames", lost),
            ("completed_transfers", 0.0),
            ("incomplete_transfers", 0.0),
        ];
        let mut r = run(scheme, seed, json!({}), &counts);
        r.fingerprint.insert("frames".into(), events.into());
        r
    };
    let said =
        after(&[of("none", 1, 0.0, 30.0, "a"), of("none", 2, 0.0, 50.0, "b"), of("ecm", 1, 0.0, 30.0, "a")]);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("frames were lost, and none is sent again (frames a run: none 40, ecm 30)"),
        "{said:?}"
    );
    assert!(
        said[1].starts_with("c, PAUSE on, ecm: the scheme made no message")
            && said[1].contains("30 frames lost")
    );
    // Finite flows beside it that all finished change nothing of that; unfinished ones have a line of their own.
    let beside = |open: f64| {
        let mut r = of("ecm", 1, 1.0, 30.0, "a");
        r.metrics.insert("completed_transfers", 5.0);
        r.metrics.insert("incomplete_transfers", open);
        after(&[r]).join("\n")
    };
    // Who lives by acknowledgements makes no message: its limiters say what it did.
    let acked = |slowed: f64, marked: f64| {
        let mut r = of("dctcp", 1, 0.0, 30.0, "a");
        r.config = json!({"scheme": {"name": "dctcp", "params": {"k": "90 KB"}}}).into();
        r.metrics.insert("slowed_flows", slowed);
        r.metrics.insert("marked_share", marked);
        after(&[r]).join("\n")
    };
    assert!(!acked(4.0, 3.0).contains("scheme"), "{}", acked(4.0, 3.0));
    let told = acked(0.0, 0.0);
    assert!(told.contains("dctcp: the scheme slowed no flow, as no acknowledged frame was marked"), "{told}");
    assert!(told.contains("lower scheme.dctcp.k = 90 KB") && !told.contains("message"), "{told}");
    assert!(!acked(0.0, 3.0).contains("as no acknowledged"), "{}", acked(0.0, 3.0));
    assert!(beside(0.0).contains("(frames a run: ecm 30)") && !beside(1.0).contains("frames a run"));
    // Drops of watchdogs are not among the lost frames.
    let watched = |storms: f64| {
        let mut r = of("ecm", 1, 1.0, 30.0, "a");
        r.metrics.insert("watchdog_drops", storms);
        after(&[r]).join("\n")
    };
    assert!(watched(28.0).contains("(frames a run: ecm 2)") && !watched(30.0).contains("were lost"));
    // Frames that a source discards; where a port is slowed on purpose, they are what it costs, unless latency is compared.
    let discards = |config: Value, latency: bool| {
        let mut r = of("ecm", 1, 1.0, 0.0, "a");
        r.config = config.into();
        r.metrics.insert("source_discards", 9.0);
        if latency {
            r.metrics.insert("latency_p99", 1.0);
        }
        after(&[r]).join("\n")
    };
    assert!(discards(json!({"hotspot.host": "off"}), false).contains("sources discarded frames"));
    assert!(discards(json!({}), false).contains("(host.fifo) were full (frames a run: ecm 9)"));
    for on_purpose in
        [json!({"hotspot.host": "H0"}), json!({"hotspot.host": ["H0"]}), json!({"event.0.rate": "1 Gb/s"})]
    {
        assert_eq!(discards(on_purpose.clone(), false), "");
        assert!(discards(on_purpose, true).contains("sources discarded frames"));
    }
    // Without a message, but with another course: marks alone may act.
    let said = after(&[of("none", 1, 0.0, 30.0, "a"), of("ecm", 1, 0.0, 3.0, "c")]);
    assert!(said.len() == 1 && said[0].contains("none 30, ecm 3"), "{said:?}");
    assert_eq!(after(&[of("none", 1, 0.0, 0.0, "a"), of("ecm", 1, 0.0, 0.0, "a")]), Vec::<String>::new());
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
    // A key that has an effect beside one value of another key follows that key.
    let mut follows = swept("topology.routing", 2, false);
    follows
        .iter_mut()
        .take(2)
        .for_each(|r| Arc::make_mut(&mut r.config.0)["topology.hash"] = json!("per-switch"));
    let said = after(&follows);
    assert!(said.len() == 1 && said[0].starts_with("topology.routing changed nothing"), "{said:?}");
    // Two keys that vary together: nothing is known of either.
    let mut both = swept("host.fifo", 1, false);
    Arc::make_mut(&mut both[0].config.0)["switch.share"] = json!("1 KB");
    Arc::make_mut(&mut both[1].config.0)["switch.share"] = json!("2 KB");
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
    r.over_time.series.insert("aggregate_throughput".into(), curve);
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
    // A network that stands still is idle for another reason.
    let still = Frozen { since: 3.0, ports: vec!["S>H0".into()], deadlock: false, by: None };
    assert_eq!(after(&[RunRecord { frozen: Some(still), ..busy(0..3, json!({})) }]), Vec::<String>::new());
    let both = said(4..6, json!({}));
    assert!(both.contains("80 %") && both.contains("before 4 ms or after 6 ms"), "{both}");
    // A twentieth of the run is no pause worth a word.
    let mut worth = busy(0..0, json!({}));
    let values = (0..20).map(|i| f64::from(u8::from((10..19).contains(&i)))).collect();
    let curve = Curve { unit: "Gb/s".into(), bin: 1.0, values, peaks: Vec::new() };
    worth.over_time.series.insert("aggregate_throughput".into(), curve);
    let worth = after(&[worth]).join("\n");
    assert!(worth.contains("55 % of the run is idle, as nothing arrives before 10 s, and"), "{worth}");
    // As long as the slowest scheme needs it.
    let mut slow = busy(0..8, json!({}));
    slow.case = slow.case.under("ecm");
    assert_eq!(after(&[busy(0..3, json!({})), slow.clone()]), Vec::<String>::new());
    let mut elsewhere = slow;
    elsewhere.case.condition = "d".into();
    assert_eq!(after(&[busy(0..3, json!({})), elsewhere]).len(), 1);
    // Only the measured part of a run counts.
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
            r.flows.times = (0..flows)
                .map(|i| FlowTime {
                    bytes: bytes(i),
                    nth: i,
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

#[test]
fn what_go_back_n_sent_again_on_many_paths() {
    let of = |routing: &str, kind: &str, shares: [f64; 2]| {
        let config = json!({"topology.routing": routing, "transport.kind": kind});
        let runs: Vec<_> = shares
            .iter()
            .zip(1..)
            .map(|(s, n)| run("none", n, config.clone(), &[("resent_share", *s)]))
            .collect();
        after(&runs).join("\n")
    };
    let told = of("frame-hash", "go-back-n", [1.5, 2.0]);
    assert!(
        told.contains("1.75 % of the frames were sent again") && told.contains("overtake each other"),
        "{told}"
    );
    assert_eq!(of("frame-hash", "go-back-n", [0.0; 2]), "");
    assert_eq!(of("flow-hash", "go-back-n", [1.5, 2.0]), "");
    assert_eq!(of("frame-hash", "none", [1.5, 2.0]), "");
}

/// A mean of lower bounds has no interval.
#[test]
fn lower_bounds_are_not_wide() {
    let said = |at_least: bool| {
        let run = |seed: u64, value: f64| {
            let metrics = [("completion_time_p99", value)].into();
            let mut r = RunRecord { seed, metrics, ..RunRecord::default() };
            r.metrics.0.values_mut().for_each(|q| q.at_least = at_least);
            r
        };
        after(&[run(1, 3.0), run(2, 9.0)]).join("\n")
    };
    assert!(said(false).contains("is wider than its mean of 6"), "{}", said(false));
    assert!(!said(true).contains("wider"), "{}", said(true));
}
