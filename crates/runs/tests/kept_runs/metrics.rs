//! Every metric has a run that measures it.

use cnsim_runs::run::{Watch, jobs, run_job};
use cnsim_scenario::Scenario;
use cnsim_scenario::metrics::METRICS;
use std::collections::BTreeSet;

/// Short runs that together have everything that a metric is taken of.
const RUNS: [&str; 8] = [
    // A hotspot without PAUSE, under a scheme with positive feedback.
    "[topology]\nkind = \"single-switch\"\n[switch]\nshare = \"20 KB\"\n[hotspot]\nhost = \"H0\"\nstart = \"5 ms\"\nstop = \"10 ms\"\n[record]\nbin = \"0.02 ms\"\n\
     latency = \"on\"\n[run]\nduration = \"20 ms\"\n[matrix]\npause = [\"off\"]\nschemes = [\"ecm\"]\n",
    // A port that is slow again and again.
    "[topology]\nkind = \"single-switch\"\n[hotspot]\nhost = \"H0\"\nstart = \"0 ms\"\nstop = \"10 ms\"\nperiod = \"1 ms\"\n\
     [run]\nduration = \"10 ms\"\n[matrix]\nschemes = [\"none\"]\n",
    // Greedy flows over two switches, with XOFFs kept.
    "[topology]\nkind = \"core-edge\"\nedges = [2, 2]\n[workload]\nkind = \"greedy\"\ndestinations = [\"H0\"]\n\
     [record]\nflows = [\"H2>H0\", \"H3>H0\"]\nports = [\"E1>H0\", \"X>E1\"]\npauses = \"on\"\n[run]\nduration = \"5 ms\"\n\
     [matrix]\nschemes = [\"none\"]\n",
    // Queue pairs under a shared buffer, a port that says XOFF for no reason, and watchdogs.
    "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nper_switch = 3\n[switch]\nbuffer = \"shared\"\n[host]\nqueues = \"per-flow\"\n\
     [transport]\nkind = \"go-back-n\"\n[[traffic]]\nhosts = [\"H0..H2\"]\nkind = \"incast\"\ndestinations = [\"H3\"]\nsize = \"90 KB\"\n\
     [[traffic]]\nhosts = [\"H4\"]\nkind = \"incast\"\ndestinations = [\"H5\"]\nsize = \"2 MB\"\n\
     [[fault]]\nhost = \"H3\"\nfrom = \"20 us\"\nto = \"1 ms\"\n[watchdog]\naction = \"forward\"\ndetect = \"0.1 ms\"\n[record]\npauses = \"on\"\n\
     [run]\nduration = \"5 ms\"\n[matrix]\nschemes = [\"dcqcn\"]\n",
    // A port that stops for good.
    "[topology]\nkind = \"single-switch\"\n[workload]\nkind = \"greedy\"\ndestinations = [\"H0\"]\n[hotspot]\nhost = \"H0\"\nrate = \"0 Gb/s\"\n\
     start = \"1 ms\"\nstop = \"10 ms\"\n[run]\nduration = \"10 ms\"\n[matrix]\nschemes = [\"none\"]\n",
    // Paths of each frame and a link that loses frames, under selective repeat.
    "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 2\nrouting = \"frame-hash\"\n[host]\nqueues = \"per-flow\"\n\
     [transport]\nkind = \"selective\"\n[workload]\nkind = \"transfers\"\ntransfers = [\"0 us, H0, H3, 300 KB\", \"0 us, H1, H3, 300 KB\"]\n\
     [[event]]\nlink = \"L1-S1\"\nloss = \"2 %\"\n[run]\nduration = \"5 ms\"\n[matrix]\nschemes = [\"none\"]\n",
    // A collective, with computing between its rounds.
    "[topology]\nkind = \"single-switch\"\nhosts = 4\n[host]\nqueues = \"per-flow\"\n[[traffic]]\nname = \"job\"\nkind = \"all-reduce\"\n\
     hosts = \"all\"\nsize = \"400 KB\"\nrepeat = 2\ngap = \"10 us\"\n[run]\nduration = \"5 ms\"\n[matrix]\nschemes = [\"none\"]\n",
    // Reads from three servers, one round after the other.
    "[topology]\nkind = \"single-switch\"\nhosts = 4\n[host]\nqueues = \"per-flow\"\n[[traffic]]\nname = \"reads\"\nkind = \"query\"\n\
     hosts = \"H1..H3\"\ndestinations = [\"H0\"]\nfan_in = 3\nsize = \"20 KB\"\nrounds = 2\n[run]\nduration = \"5 ms\"\n[matrix]\nschemes = [\"none\"]\n",
];

#[test]
fn each_metric_is_measured() {
    let mut measured = BTreeSet::new();
    for text in RUNS {
        let text = format!("name = \"short\"\n{text}").replace("[matrix]", "seeds = 1\n[matrix]");
        let scenario = Scenario::parse("short.toml", &text, &[]).unwrap_or_else(|p| panic!("{p:#?}\n{text}"));
        for job in jobs(&scenario, scenario.cases()).unwrap() {
            let record = run_job(&job, None, &Watch::default(), 1).unwrap().unwrap();
            measured.extend(record.metrics.0.into_keys());
        }
    }
    let never: Vec<&str> = METRICS.iter().map(|m| m.id).filter(|id| !measured.contains(*id)).collect();
    assert!(never.is_empty(), "no run measures {never:?}: add one to RUNS");
}
