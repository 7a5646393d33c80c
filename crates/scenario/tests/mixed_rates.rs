//! Links of 1, 100 and 400 Gb/s in one network: throughput and delay as arithmetic has them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use cnsim_fabric::{Engine, Options, Outcome};
use cnsim_scenario::Scenario;

const RATES: [f64; 6] = [1e9, 100e9, 400e9, 400e9, 100e9, 1e9];

/// One switch with hosts of these rates; links of 0.5 us, processing of 1 us.
fn go(traffic: &str, duration: &str, engine: Engine) -> Outcome {
    let text = format!(
        r#"
        name = "rates"
        [topology]
        kind = "single-switch"
        hosts = 6
        host_rates = ["H0 1 Gb/s", "H1 100 Gb/s", "H2 400 Gb/s", "H3 400 Gb/s", "H4 100 Gb/s", "H5 1 Gb/s"]
        [switch]
        share = "1 MB"
        [run]
        duration = "{duration}"
        [matrix]
        pause = ["off"]
        {traffic}
        "#
    );
    let scenario = Scenario::parse("test", &text, &[]).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let spec = ready.settings.spec(&ready.built, 1, false);
    cnsim_fabric::run(&spec, &Options { engine, ..Options::default() }).unwrap()
}

/// Three greedy flows, each between two hosts of one rate, side by side: each fills its own links.
#[test]
fn every_flow_fills_its_links() {
    let flows = ["H0 H5", "H1 H4", "H2 H3"].map(|f| {
        let (from, to) = f.split_once(' ').unwrap();
        format!("[[traffic]]\nhosts = \"{from}\"\nkind = \"greedy\"\ndestinations = \"{to}\"\n")
    });
    let out = go(&flows.concat(), "20 ms", Engine::Fast);
    for to in [5, 4, 3] {
        // On the way at the end: what two links, two processing delays and the frame on each of them hold.
        let missing = RATES[to] * 3e-6 + 3.0 * 12_000.0;
        let bits = out.hosts[to].delivered_bits as f64;
        let full = RATES[to] * 0.02;
        assert!(bits <= full && bits >= full - missing, "H{to}: {bits} of {full} bits");
    }
    assert_eq!(out.dropped(), 0);
}

/// From fast to slow the slow link decides; frames of a finite transfer arrive one after the other at its pace.
#[test]
fn every_path_takes_its_time() {
    let pairs: Vec<(usize, usize)> =
        (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    for frames in [1u32, 20] {
        let list = pairs
            .iter()
            .enumerate()
            .map(|(i, (a, b))| format!("\"{} us, H{a}, H{b}, {} B\"", 10 + 400 * i, 1500 * frames));
        let list: Vec<String> = list.collect();
        let traffic = format!(
            "[[traffic]]\nhosts = \"all\"\nkind = \"transfers\"\nphase = \"aligned\"\ntransfers = [{}]\n",
            list.join(", ")
        );
        for engine in [Engine::Fast, Engine::Model] {
            let out = go(&traffic, "20 ms", engine);
            for (i, &(a, b)) in pairs.iter().enumerate() {
                let start = 1e-6 * (10 + 400 * i) as f64;
                // Completions stand with one of the two hosts.
                let all = out.hosts.iter().flat_map(|h| &h.transfers.completions);
                let done: Vec<f64> = all
                    .filter(|c| (c.start.as_secs_f64() - start).abs() < 1e-9)
                    .map(|c| (c.end - c.start).as_secs_f64())
                    .collect();
                assert_eq!(done.len(), 1, "H{a} to H{b}");
                let time = |rate: f64| 12_000.0 / rate;
                let slow = time(RATES[a]).max(time(RATES[b]));
                let expected = time(RATES[a]) + time(RATES[b]) + f64::from(frames - 1) * slow + 3e-6;
                let off = (done[0] - expected).abs();
                assert!(off < 1e-9, "H{a} to H{b}, {frames} frames: {} s, expected {expected} s", done[0]);
            }
        }
    }
}
