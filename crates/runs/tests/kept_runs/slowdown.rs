//! One slowdown: what a run says of it by size, by name and in `fct.csv` is the same number.

use crate::{done, job, job_with};
use cnsim_runs::files::read_csv;
use cnsim_runs::flow_files::{fct_csv, slowdown_csv};

/// The columns of a file of one run with these names, a row each.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at: Vec<usize> = names.iter().map(|n| head.iter().position(|h| h == n).unwrap()).collect();
    read_csv(text).iter().map(|row| at.iter().map(|i| row[*i].parse().unwrap()).collect()).collect()
}

/// The tutorial has hundreds of flows of 20 KB and nine of 1 MB: each size is a group, and its median is that of `fct.csv`.
#[test]
fn a_group_by_size_has_the_median_of_its_flows() {
    let text = include_str!("../../../../docs/tutorial/incast.toml");
    let record = [done(&job(text))];
    let flows = columns(&fct_csv(&record).unwrap(), &["bytes", "slowdown"]);
    let groups = columns(&slowdown_csv(&record).unwrap(), &["from_bytes", "to_bytes", "flows", "p50"]);
    let by_hand = [20_000.0, 1_000_000.0].map(|size| {
        let mut all: Vec<f64> = flows.iter().filter(|f| f[0] == size).map(|f| f[1]).collect();
        all.sort_by(f64::total_cmp);
        vec![size, size, all.len() as f64, all[all.len().div_ceil(2) - 1]]
    });
    assert_eq!(groups, by_hand);
}

/// A flow of each size that is alone in its network: of one byte, of one frame, of frames with a short last one, of many.
const ALONE: &str = r#"
name = "t"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
per_switch = 3
link_rate = "25 Gb/s"
fabric_rate = "100 Gb/s"
link_delay = "700 ns"
[[traffic]]
name = "alone"
hosts = ["all"]
kind = "transfers"
transfers = ["1 us, H0, H5, 1 B", "50 us, H0, H5, 1000 B", "100 us, H0, H5, 10001 B", "150 us, H5, H1, 20900 B", "200 us, H1, H2, 150000 B", "300 us, H1, H4, 1001 B"]
[run]
duration = "1 ms"
"#;

/// By every ideal and with every end a flow alone has 1 in every file, and takes as long as the ideal says.
#[test]
fn a_flow_alone_has_a_slowdown_of_one() {
    let set = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    };
    let pairs = |more: &[(&'static str, &'static str)]| [&[("host.queues", "per-flow")], more].concat();
    let acknowledged = |more: &[(&'static str, &'static str)]| {
        pairs(&[&[("record.completion", "acknowledged")], more].concat())
    };
    let ends = [
        vec![],
        pairs(&[]),
        acknowledged(&[]),
        acknowledged(&[("transport.ack_class", "control")]),
        acknowledged(&[("transport.ack_length", "84 B"), ("transport.ack_every", "3")]),
        acknowledged(&[("transport.ack_length", "60 B"), ("timing.rounding", "whole-ns")]),
        acknowledged(&[("control.transport", "ideal"), ("control.latency", "9 us")]),
    ];
    for (end, ideal) in ends.iter().flat_map(|end| ["exact", "hpcc-fork"].map(|ideal| (end, ideal))) {
        for frames in [&[][..], &[("workload.frame", "1048 B"), ("workload.header", "48 B")]] {
            let frames = frames.iter().map(|(k, v)| (k.replace("workload", "traffic.0"), *v));
            let keys: Vec<(String, String)> = set(end)
                .into_iter()
                .chain(frames.map(|(k, v)| (k, v.to_string())))
                .chain(set(&[("record.ideal", ideal)]))
                .collect();
            let record = [done(&job_with(ALONE, &keys))];
            let told = format!("{keys:?}");
            let flows =
                columns(&fct_csv(&record).unwrap(), &["time_ns", "ideal_ns", "fork_ideal_ns", "slowdown"]);
            assert_eq!(flows.len(), 6, "{told}");
            for f in &flows {
                assert!((f[0] - f[1]).abs() <= 0.003, "{told}: {f:?}");
                assert!((0.99..1.4).contains(&(f[2] / f[1])), "{told}: {f:?}");
                assert_eq!(f[3], 1.0, "{told}: {f:?}");
            }
            let groups = slowdown_csv(&record).unwrap();
            for group in columns(&groups, &["mean", "p50", "p95", "p99", "p99.9"]) {
                assert_eq!(group, [1.0; 5], "{told}");
            }
            for metrics in [&record[0].metrics, &record[0].traffic[0].metrics] {
                for id in ["slowdown", "slowdown_p50", "slowdown_p99", "slowdown_p999"] {
                    assert!((metrics[id] - 1.0).abs() < 1e-6, "{told}: {id} {}", metrics[id]);
                }
            }
        }
    }
}

/// An incast of as many bytes in the same time is the same goodput under every scheme. What telemetry, acknowledgements and headers
/// add stands in the overhead, and the ideal times are alike.
#[test]
fn goodput_has_no_headers() {
    let text = "name = \"t\"\n[topology]\nhosts = 9\nlink_rate = \"100 Gb/s\"\n[switch]\nbuffer = \"shared\"\nmemory = \"2 MB\"\n\
                [host]\nqueues = \"per-flow\"\n[[traffic]]\nname = \"incast\"\nhosts = [\"H1..H8\"]\nkind = \"incast\"\n\
                destinations = [\"H0\"]\nsize = \"1 MB\"\nframe = \"1048 B\"\nheader = \"48 B\"\n[run]\nduration = \"2 ms\"\n";
    let mut ideals = Vec::new();
    for (scheme, least, most) in [("none", 0.0, 0.0), ("dctcp", 1900.0, 2100.0), ("hpcc", 4000.0, 5000.0)] {
        let matrix = format!("{text}[matrix]\npause = [\"on\"]\nschemes = [\"{scheme}\"]\n");
        let r = done(&job(&matrix));
        // 8 MB in 2 ms.
        for id in ["goodput", "aggregate_throughput"] {
            assert!((r.metrics[id] - 32.0).abs() < 1e-9, "{scheme} {id}: {}", r.metrics[id]);
            assert!((r.traffic[0].metrics[id] - 32.0).abs() < 1e-9, "{scheme} {id} of incast");
        }
        let curve = &r.over_time.series["aggregate_throughput"];
        let bits = curve.values.iter().sum::<f64>() * curve.bin;
        assert!((bits - 0.064).abs() < 1e-6, "{scheme}: what is plotted sums up to the payload: {bits} Gb");
        // 8000 acknowledgements of 64 B; HPCC's with 28 B more, and 42 B on each frame.
        let overhead = r.metrics["overhead"];
        assert!((least..=most).contains(&overhead), "{scheme}: {overhead} Mb/s");
        ideals.push(r.flows.times.iter().map(|f| f.exact).max());
    }
    assert!(ideals[0].is_some() && ideals.iter().all(|i| *i == ideals[0]), "{ideals:?}");
}
