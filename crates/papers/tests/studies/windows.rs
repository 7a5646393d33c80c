//! What bins and windows do to metrics: nothing hides a queue, all rates belong to one measurement, and no utilisation
//! exceeds its law.

use cnsim_fabric::{Options, run};
use cnsim_papers::cells::cells;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, record};
use cnsim_scenario::Scenario;
use cnsim_scenario::metrics::{METRICS, Span};

/// A star of 10 Gb/s in one shared memory.
fn star(rest: &str) -> String {
    format!(
        r#"
        name = "windows"
        [topology]
        hosts = 9
        [switch]
        buffer = "SO"
        share = "10 MB"
        {rest}
        [matrix]
        pause = ["off"]
        schemes = ["none"]
        "#
    )
}

fn measured(text: &str) -> RunRecord {
    let scenario = Scenario::parse("windows.toml", text, &[]).unwrap();
    let case = scenario.cases().remove(0);
    let ready = scenario.ready(&case).unwrap();
    let job = Job::new(case, ready, 1);
    let out = run(&job.ready.settings.spec(&job.ready.built, 1, false), &Options::default()).unwrap();
    record(&job, &out)
}

/// Eight transfers of 100 KB meet at H0: with the bin that follows the run the series shows the queue, and with a bin in
/// which it comes and goes, the metric still does.
#[test]
fn no_bin_hides_an_incast() {
    let incast = |record: &str| {
        let transfers: Vec<String> = (1..9).map(|h| format!("\"10 us, H{h}, H0, 100 KB\"")).collect();
        measured(&star(&format!(
            "[workload]\nkind = \"transfers\"\ntransfers = [{}]\n[run]\nduration = \"4 ms\"\n{record}",
            transfers.join(",")
        )))
    };
    let (auto, coarse) = (incast(""), incast("[record]\nbin = \"1 ms\""));
    let exact = auto.metrics["queue_max"];
    assert!(exact > 500.0 && exact < 800.0, "{exact}");
    assert_eq!(exact, coarse.metrics["queue_max"]);
    let peak = |r: &RunRecord| r.over_time.series["hot_queue"].values.iter().copied().fold(0.0, f64::max);
    assert!(peak(&auto) > 0.9 * exact, "{} of {exact}", peak(&auto));
    assert_eq!(peak(&coarse), 0.0, "this is why");
    // Each bin has its largest queue beside its sample.
    for r in [&auto, &coarse] {
        let queue = &r.over_time.series["hot_queue"];
        assert_eq!(queue.top(), exact);
        assert!(queue.values.iter().zip(&queue.peaks).all(|(v, p)| v <= p));
    }
    let peaks = &coarse.over_time.series["hot_queue"].peaks;
    assert_eq!(peaks.len(), 4);
    assert!(peaks[0] == exact && peaks[2..] == [0.0, 0.0], "the incast is over within its bin: {peaks:?}");
    assert!(auto.metrics.0.contains_key("queue_p99") && !coarse.metrics.0.contains_key("queue_p99"));
    let at = |id: &str| auto.metrics[id];
    let percentiles =
        ["completion_time_p50", "completion_time_p90", "completion_time_p99", "completion_time_max"].map(at);
    assert!(percentiles.is_sorted() && percentiles[3] > 640.0, "{percentiles:?}");
    assert!(
        auto.metrics
            .values()
            .values()
            .chain(&auto.over_time.series["hot_queue"].values)
            .all(|v| !v.is_sign_negative())
    );
}

/// Three greedy hosts start at 2 ms: measured from there, every rate says that the port is full.
#[test]
fn rates_belong_to_one_measurement() {
    let text = star(
        "[[traffic]]\nhosts = \"H1..H3\"\nkind = \"greedy\"\ndestinations = [\"H0\"]\nstart = \"2 ms\"\n\
         [run]\nduration = \"6 ms\"\n[record]\nfrom = \"3 ms\"\nports = [\"S>H1\"]",
    );
    let record = measured(&text);
    let at = |id: &str| record.metrics[id];
    for (id, due) in [
        ("aggregate_throughput", 10.0),
        ("hot_port_throughput", 10.0),
        ("flow_rate", 10e3 / 3.0),
        ("ports_throughput", 10.0),
        ("port_throughput", 10.0),
    ] {
        assert!((at(id) / due - 1.0).abs() < 0.01, "{id}: {} where {due} is due", at(id));
    }
    for id in ["throughput_loss", "aggregate_loss"] {
        assert!(at(id).abs() < 0.1, "{id}: {}", at(id));
    }
    let hot = &record.ports["S>H0"];
    assert!((hot.throughput - 10.0).abs() < 0.1, "{hot:?}");
    assert!(
        record.over_time.series.keys().all(|n| !n.starts_with("flow ")),
        "flows that nobody named: {:?}",
        record.over_time.series.keys()
    );
    let scenario = Scenario::parse("windows.toml", &text, &[]).unwrap();
    for c in cells(&[record], &[], &[scenario]) {
        let due = match c.metric.span {
            Span::Run => "of the whole run",
            _ => "",
        };
        assert_eq!(c.note, due, "{}", c.metric.id);
    }
}

#[test]
fn utilisations_end_at_one() {
    let hotspots = [
        // Shorter than a bin, across bins, and as transfers that are all for others.
        "[hotspot]\nhost = \"H0\"\nrate = \"1 Gb/s\"\nstart = \"1.2 ms\"\nstop = \"1.7 ms\"\n[record]\nbin = \"1 ms\"",
        "[hotspot]\nhost = \"H0\"\nrate = \"1 Gb/s\"\nstart = \"1.2 ms\"\nstop = \"4.6 ms\"\n[record]\nbin = \"1 ms\"",
        "[hotspot]\nhost = \"H0\"\nrate = \"1 Gb/s\"\nstart = \"1 ms\"\nstop = \"4 ms\"\nperiod = \"300 us\"\n[record]\nfrom = \"2 ms\"\nto = \"2.5 ms\"",
    ];
    let sources = [
        "[workload]\nkind = \"bernoulli\"\nload = \"90 %\"\n",
        "[workload]\nkind = \"transfers\"\ntransfers = [\"0 us, H1, H2, 3 MB\", \"0 us, H3, H0, 300 KB\"]\n",
        "[workload]\nkind = \"greedy\"\ndestinations = [\"+1\"]\nstart = \"2.2 ms\"\n",
    ];
    for hotspot in hotspots {
        for source in sources {
            let record = measured(&star(&format!("{source}[run]\nduration = \"6 ms\"\n{hotspot}")));
            for (id, v) in record.metrics.values().iter().filter(|m| m.0.contains("utilization")) {
                assert!((0.0..=100.0).contains(v), "{id}: {v} with {source}{hotspot}");
            }
        }
    }
    // Nothing is known of a time shorter than a bin; nothing is said.
    let short = measured(&star(&format!("{}[run]\nduration = \"6 ms\"\n{}", sources[0], hotspots[0])));
    assert!(!short.metrics.0.contains_key("bottleneck_utilization"));
}

/// Every metric that speaks of "the measurement" is of it.
#[test]
fn spans_cover_the_metrics() {
    let of = |span: Span| METRICS.iter().filter(|m| m.span == span).count();
    assert_eq!(of(Span::Measurement), 14);
    assert_eq!(of(Span::Hotspot), 6);
    assert_eq!(of(Span::Afterwards), 2);
}
