//! The RoCE networks of the years after 2015: runs of the HPCC fork of ns-3, and the study of DCQCN and TIMELY of 2016. Numbers
//! without claims. What all-reduces on three fabrics, and two classes on a port, show are claims of our own.

use super::Paper;
use crate::claims::{Claim, Evidence, Parts, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// Runs of others' simulators.
pub(super) const PAPER: Paper = Paper {
    id: "modern",
    title: "RoCE networks as other simulators run them",
    citation: "ns-3 fork of Li et al., HPCC, SIGCOMM 2019 (alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a), run by others; Y. Zhu et al., ECN or Delay, CoNEXT 2016",
    summary: "Two flows, an incast and 320 hosts under up to six schemes, beside the completion times of the HPCC fork; the star and the dumbbell of the CoNEXT 2016 study; a storm of PFC and a watchdog; all-reduces on three fabrics; RoCE beside TCP, a class each; a storm in one of two classes.",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim(
        "modern.1",
        "derived",
        "an all-reduce of 64 KB counts steps: halving-doubling ends first and a ring last, on every fabric",
        small,
    ),
    claim(
        "modern.2",
        "derived",
        "one of 8 MB counts bytes on the slowest link: a ring ends first where partners far apart may collide, halving-doubling over rails",
        large,
    ),
    claim(
        "modern.3",
        "measured",
        "no scheme shortens one of 8 MB; where flows of halving-doubling collide, DCQCN and HPCC make it 5 % longer and more",
        schemes,
    ),
    claim(
        "modern.4",
        "measured",
        "the weight of RoCE decides for its incast, which ends in half the time with 16 as with 1; small flows of TCP take a quarter longer at most",
        weights,
    ),
    claim(
        "modern.5",
        "derived",
        "each class has its own flow control: RoCE loses no frame, and TCP is never in XOFF, whatever the weight",
        apart,
    ),
    claim(
        "modern.6",
        "derived",
        "a storm in one class leaves each number of a strict class equal to the bit, where that has its own pool and ports; in one pool it does not",
        storm,
    ),
];

const FABRICS: [&str; 3] = ["leaf-spine", "clos", "rails"];

/// How long an all-reduce takes.
fn all_reduce(e: &Evidence<'_>, (fabric, algorithm, size): (&str, &str, &str), scheme: &str) -> Values {
    e.runs("collectives", &format!("{fabric}, {algorithm}, {size}"), "on", scheme).metric(Id::JobTime)
}

fn small(e: &Evidence<'_>, parts: &mut Parts) {
    for fabric in FABRICS {
        let of = |algorithm| all_reduce(e, (fabric, algorithm, "64 KB"), "none");
        let (first, tree, ring) = (of("halving-doubling"), of("double-tree"), of("ring"));
        let text = |what: &str, more: &Values| {
            format!("{fabric}: halving-doubling {:.4} ms, {what} {:.4}", first.mean(), more.mean())
        };
        parts.add(less(&first, &tree), text("double tree", &tree));
        parts.add(less(&tree, &ring), text("ring", &ring));
    }
}

fn large(e: &Evidence<'_>, parts: &mut Parts) {
    for fabric in FABRICS {
        let best = if fabric == "rails" { "halving-doubling" } else { "ring" };
        let of = |algorithm| all_reduce(e, (fabric, algorithm, "8 MB"), "none");
        for other in ["ring", "double-tree", "halving-doubling"].iter().filter(|other| **other != best) {
            let (a, b) = (of(best), of(other));
            parts.add(less(&a, &b), format!("{fabric}: {best} {:.4} ms, {other} {:.4}", a.mean(), b.mean()));
        }
    }
}

fn schemes(e: &Evidence<'_>, parts: &mut Parts) {
    for scheme in ["dcqcn", "hpcc"] {
        for fabric in FABRICS {
            for algorithm in ["ring", "double-tree", "halving-doubling"] {
                let of = |scheme| all_reduce(e, (fabric, algorithm, "8 MB"), scheme);
                let (alone, with) = (of("none"), of(scheme));
                let collide = algorithm == "halving-doubling" && fabric != "rails";
                let text = format!(
                    "{fabric}, {algorithm}: {:.4} ms, {:.4} under {scheme}",
                    alone.mean(),
                    with.mean()
                );
                parts.add(at_most(if collide { 1.05 } else { 1.0 }, &alone, &with), text);
            }
        }
    }
}

/// A metric of a class beside the other, by the weight of RoCE.
fn of_class(e: &Evidence<'_>, weight: &str, class: &str, id: Id) -> Values {
    let runs = e.runs("two-classes", &format!("weight of roce {weight}"), "on", "dcqcn");
    runs.each(|run| run.traffic.iter().find(|t| t.name == class)?.metrics.get(id.text()))
}

fn weights(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |class, id| (of_class(e, "1", class, id), of_class(e, "16", class, id));
    let (one, more) = of("class roce", Id::CompletionTime);
    parts.add(
        at_most(2.0, &more, &one),
        format!("RoCE {:.0} us with 1, {:.0} with 16", one.mean(), more.mean()),
    );
    let (one, more) = of("class tcp", Id::SmallCompletionP50);
    let text = format!("small flows of TCP {:.1} us with 1, {:.1} with 16", one.mean(), more.mean());
    parts.add(at_most(0.8, &more, &one), text);
}

fn apart(e: &Evidence<'_>, parts: &mut Parts) {
    for weight in ["1", "4", "16"] {
        let lost = of_class(e, weight, "class roce", Id::DroppedFrames);
        let stopped = of_class(e, weight, "class tcp", Id::TimePaused);
        parts.add(lost.at_most(0.0), format!("weight {weight}: RoCE lost {} frames", lost.mean()));
        parts.add(stopped.at_most(0.0), format!("weight {weight}: TCP was in XOFF for {} %", stopped.mean()));
    }
}

/// Numbers of TCP in which a frame that comes at another time shows.
const EXACT: [Id; 6] = [
    Id::CompletionTime,
    Id::CompletionTimeMax,
    Id::MeanLatency,
    Id::DroppedFrames,
    Id::Timeouts,
    Id::QueueMax,
];

fn storm(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |lossless: &str, host: &str, class: &str, id: Id| {
        let runs = e.runs("isolation", &format!("TCP lossless {lossless}, storm at {host}"), "on", "dcqcn");
        runs.each(|run| run.traffic.iter().find(|t| t.name == class)?.metrics.get(id.text()))
    };
    let differs = |a: f64, b: f64| f64::from(u8::from(a.to_bits() != b.to_bits()));
    for id in EXACT {
        let (calm, storm) = (of("off", "H16", "class tcp", id), of("off", "H0", "class tcp", id));
        let text = format!("pools apart: {} {} without, {} with", id.text(), calm.mean(), storm.mean());
        parts.add(calm.with(&storm, differs).at_most(0.0), text);
    }
    let id = Id::CompletionTime;
    let (calm, storm) = (of("on", "H16", "class tcp", id), of("on", "H0", "class tcp", id));
    let text = format!("one pool: TCP {:.1} us without, {:.1} with", calm.mean(), storm.mean());
    parts.add(calm.with(&storm, differs).at_least(1.0), text);
    let id = Id::CompletionTimeP50;
    let (calm, storm) = (of("off", "H16", "class roce", id), of("off", "H0", "class roce", id));
    let text = format!("RoCE's median {:.0} us without, {:.0} with", calm.mean(), storm.mean());
    parts.add(at_most(2.0, &calm, &storm), text);
}

fn suspect(run: &RunRecord, _metric: Id) -> &'static str {
    if run.case.scheme.starts_with("timely") {
        "the study of 2016 gives neither the bounds of TIMELY's rates nor how a segment is sent, and drew one set of flows"
    } else if run.case.scenario.starts_with("conext") {
        "the frame, the table of sizes and the number of flows of the dumbbell are not printed; the star's values are a fluid model's"
    } else if run.case.scenario == "schemes-320" {
        "the fork has one draw of flows, and its hash seeds its own paths"
    } else if run.case.scenario == "fork-incast" {
        "the fork's numbers are of one run, and each mark is drawn"
    } else {
        "the fork's flows end when their last acknowledgement is back, which waits where its path is congested"
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::synthetic::{Synthetic as _, run};
    use cnsim_measure::traffic::TrafficFacts;
    use cnsim_runs::record::RunRecord;
    use cnsim_scenario::metrics::Id;

    fn facts(name: &str, metrics: &[(Id, f64)]) -> TrafficFacts {
        let metrics = metrics.iter().map(|(id, value)| (*id, *value, false)).collect();
        TrafficFacts { name: name.into(), metrics, ..TrafficFacts::default() }
    }

    /// Runs in which every claim holds.
    pub(crate) fn runs() -> Vec<RunRecord> {
        let mut all = Vec::new();
        for seed in 1..=3 {
            for fabric in super::FABRICS {
                let halving = if fabric == "rails" { 0.29 } else { 0.96 };
                for (algorithm, small, large) in
                    [("ring", 0.21, 0.33), ("double-tree", 0.06, 0.38), ("halving-doubling", 0.05, halving)]
                {
                    for (scheme, more) in [("none", 1.0), ("dcqcn", 1.7), ("hpcc", 1.3)] {
                        let more = if large > 0.9 { more } else { 1.0 };
                        for (size, time) in [("64 KB", small), ("8 MB", large * more)] {
                            let condition = format!("{fabric}, {algorithm}, {size}");
                            let r = run("modern", "collectives", &condition, "on", scheme, seed);
                            all.push(r.has(Id::JobTime, time));
                        }
                    }
                }
            }
            for (weight, completion) in [("1", 772.0), ("4", 456.0), ("16", 327.0)] {
                let more = 1.0 + f64::from(seed as u32) * 1e-4;
                let mut r =
                    run("modern", "two-classes", &format!("weight of roce {weight}"), "on", "dcqcn", seed);
                r.traffic = vec![
                    facts("class roce", &[(Id::CompletionTime, completion * more), (Id::DroppedFrames, 0.0)]),
                    facts("class tcp", &[(Id::SmallCompletionP50, 14.0 * more), (Id::TimePaused, 0.0)]),
                ];
                all.push(r);
            }
            for (lossless, host, latency, median) in [
                ("off", "H16", 9.8, 111.0),
                ("off", "H0", 9.8, 844.0),
                ("on", "H16", 9.7, 112.0),
                ("on", "H0", 9.6, 881.0),
            ] {
                let condition = format!("TCP lossless {lossless}, storm at {host}");
                let mut r = run("modern", "isolation", &condition, "on", "dcqcn", seed);
                let own = super::EXACT.map(|id| (id, latency + f64::from(seed as u32)));
                let median = median + f64::from(seed as u32);
                r.traffic = vec![
                    facts("class tcp", &own),
                    facts("class roce", &[(Id::CompletionTimeP50, median), (Id::DroppedFrames, 0.0)]),
                ];
                all.push(r);
            }
        }
        all
    }
}
