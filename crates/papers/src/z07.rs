//! Z07: source-based E2CM.

use super::Paper;
use crate::claims::{Claim, Evidence, Holds, Parts, Runs, Values, at_most, claim};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use cnsim_scheme_api::Bytes;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "Z07",
    title: "Source-based E2CM",
    citation: "IBM Research Zurich, Source-based E2CM: Validation of the Orlando Proposal, March 2007",
    summary: "May the source, instead of the destination, measure what a flow gets through, and does a limit on the output queue save the innocents?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim(
        "Z07.1",
        "printed",
        "source-based and destination-based E2CM are practically indistinguishable",
        indistinguishable,
    ),
    claim("Z07.2", "printed", "stable up to 500 us, mean queue grows with RTT", stable),
    claim("Z07.3", "printed", "a limit on the output queue cuts drops about tenfold", limit),
    claim("Z07.4", "table", "no loss with PAUSE", lossless),
    claim("Z07.5", "table", "E2CM drops less than ECM", fewer_drops),
];

const RTTS: [u32; 5] = [0, 10, 100, 200, 500];
const E2CM: [&str; 2] = ["e2cm-src", "e2cm-dst"];
/// The limit on the output queue, KB.
const LIMIT: f64 = 600.0;
/// Seeds that the comparison of queues needs.
const SEEDS: usize = 10;

fn condition(rtt: u32, limited: bool) -> String {
    let rtt = if rtt == 0 { String::new() } else { format!("RTT {rtt} us, ") };
    let limit = if limited { "output-queue limit 600 KB" } else { "no output-queue limit" };
    format!("service rate 10%, {rtt}{limit}")
}

fn case<'a>(e: &Evidence<'a>, rtt: u32, limited: bool, pause: &str, scheme: &str) -> Runs<'a> {
    e.runs("single-hop-16", &condition(rtt, limited), pause, scheme)
}

/// How a case is called in evidence.
fn short(rtt: u32, limited: bool) -> String {
    format!("RTT {rtt} us, {}", if limited { "limit" } else { "no limit" })
}

/// Do the means differ by at most this share of the second, by paired differences?
fn near(a: &Values, b: &Values, share: f64) -> Holds {
    match (at_most(1.0 - share, b, a), at_most(1.0, a, &b.map(|b| b * (1.0 + share)))) {
        (Holds::No, _) | (_, Holds::No) => Holds::No,
        (Holds::Yes, Holds::Yes) => Holds::Yes,
        (Holds::NotRun, _) => Holds::NotRun,
        _ => Holds::Undecided,
    }
}

fn indistinguishable(e: &Evidence<'_>, parts: &mut Parts) {
    for rtt in RTTS {
        let [src, dst] = E2CM.map(|s| case(e, rtt, false, "off", s));
        for (id, share, unit) in [
            (Id::AggregateThroughput.text(), 0.02, "Gb/s"),
            (Id::HotPortThroughput.text(), 0.02, "Gb/s"),
            (Id::MeanHotQueue.text(), 0.2, "KB"),
            (Id::DroppedFrames.text(), 0.2, "drops"),
        ] {
            let (a, b) = (src.metric(id), dst.metric(id));
            let text = format!(
                "RTT {rtt} us: {id} {:.4} by source, {:.4} {unit} by destination",
                a.mean(),
                b.mean()
            );
            parts.add(near(&a, &b, share), text);
        }
    }
}

fn stable(e: &Evidence<'_>, parts: &mut Parts) {
    for scheme in E2CM {
        for limited in [false, true] {
            for rtt in RTTS {
                let runs = case(e, rtt, limited, "off", scheme);
                let what = format!("{scheme}, {}", short(rtt, limited));
                let used = runs.metric(Id::BottleneckUtilization);
                let text = format!("{what}: {:.1} % of the service rate used", used.mean());
                parts.add(used.at_least(90.0), text);
                let (id, bound, unit) = match limited {
                    true => (Id::MeanHotQueueLate.text(), 0.9 * LIMIT, "KB in the queue, second half"),
                    false => (Id::LateDrops.text(), 0.0, "drops in the second half"),
                };
                let late = runs.metric(id);
                parts.add(late.at_most(bound), format!("{what}: {:.0} {unit}", late.mean()));
            }
            let queue = |rtt| case(e, rtt, limited, "off", scheme).metric(Id::MeanHotQueueLate);
            let (near, far) = (queue(0), queue(500));
            let growth = far.with(&near, |far, near| far - near);
            // Strictly more: by at least a thousandth of a frame.
            let holds = match growth.at_least(1e-6) {
                Holds::Yes | Holds::No if growth.0.len() < SEEDS => Holds::Undecided,
                h => h,
            };
            let text = format!(
                "{scheme}, {}: late mean queue {:.0} KB at 0, {:.0} KB at 500 us ({} seeds)",
                if limited { "limit" } else { "no limit" },
                near.mean(),
                far.mean(),
                growth.0.len()
            );
            parts.add(holds, text);
        }
    }
}

fn limit(e: &Evidence<'_>, parts: &mut Parts) {
    for scheme in ["ecm", "e2cm-src", "e2cm-dst"] {
        for rtt in RTTS {
            let [free, tight] = [false, true].map(|l| case(e, rtt, l, "off", scheme));
            let drops = |r: &Runs<'_>| r.metric(Id::DroppedFrames);
            let ratio = drops(&free).with(&drops(&tight), |free, tight| free / tight);
            let text = format!(
                "{scheme}, RTT {rtt} us: {:.0} drops without, {:.0} with, ratio {:.1}",
                drops(&free).mean(),
                drops(&tight).mean(),
                ratio.mean()
            );
            parts.add(ratio.within(5.0, 30.0), text);
            for (runs, what, above) in [(&free, "without", true), (&tight, "with", false)] {
                let share = runs.metric(Id::InnocentDropShare);
                let holds = if above { share.at_least(90.0) } else { share.at_most(5.0) };
                let text = format!(
                    "{scheme}, RTT {rtt} us: {:.1} % of the drops {what} are innocents",
                    share.mean()
                );
                parts.add(holds, text);
            }
        }
    }
    // The hotspot's window and the sampling of dropped frames, beside it.
    for scheme in ["ecm", "e2cm-src", "e2cm-dst"] {
        for limited in [false, true] {
            for (more, what) in [
                (", hotspot until 110 ms", "with the hotspot until 110 ms"),
                (", dropped frames sampled", "with dropped frames sampled"),
            ] {
                let c = condition(0, limited) + more;
                let drops = e.runs("single-hop-16", &c, "off", scheme).metric(Id::DroppedFrames);
                if !drops.is_empty() {
                    parts.show(format!("{scheme}, {}, {what}: {:.0} drops", short(0, limited), drops.mean()));
                }
            }
        }
    }
}

fn lossless(e: &Evidence<'_>, parts: &mut Parts) {
    for scheme in ["ecm", "e2cm-src", "e2cm-dst"] {
        for rtt in RTTS {
            let drops = case(e, rtt, false, "on", scheme).metric(Id::DroppedFrames);
            parts.add(drops.at_most(0.0), format!("{scheme}, RTT {rtt} us: {:.0} drops", drops.mean()));
        }
        let drops = case(e, 0, true, "on", scheme).metric(Id::DroppedFrames);
        if !drops.is_empty() {
            parts.show(format!(
                "{scheme} with PAUSE and a limit on the output queue: {:.0} drops",
                drops.mean()
            ));
        }
    }
}

fn fewer_drops(e: &Evidence<'_>, parts: &mut Parts) {
    for rtt in RTTS {
        for limited in [false, true] {
            let [e2cm, ecm] =
                ["e2cm-src", "ecm"].map(|s| case(e, rtt, limited, "off", s).metric(Id::DroppedFrames));
            let text =
                format!("{}: E2CM {:.0}, ECM {:.0} drops", short(rtt, limited), e2cm.mean(), ecm.mean());
            parts.add(ecm.with(&e2cm, |ecm, e2cm| ecm - e2cm).at_least(1.0), text);
        }
    }
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: Id) -> &'static str {
    let limited = run.config.read::<Bytes>(tables::switch::OUTPUT_LIMIT).is_some();
    match (metric, limited, run.case.scheme.as_str()) {
        (Id::DroppedFrames, true, "e2cm-src" | "e2cm-dst") => {
            "A19 shortest-latency, known miss: the printed number lies between a latency learned before the congestion and one learned in it; other first probes, kept history, deeper cuts or wider jitter give fewer drops or as many"
        }
        (Id::DroppedFrames, false, "e2cm-src" | "e2cm-dst") => {
            "A19 shortest-latency and A13 sample-dropped: all loss falls in the transient, which the first probes end"
        }
        (Id::DroppedFrames, ..) => {
            "A13 sample-dropped: the congestion point's clock during the transient decides the loss"
        }
        _ => "no named assumption: the hotspot's window is not printed",
    }
}

#[cfg(test)]
#[path = "z07_tests.rs"]
pub(super) mod tests;
