//! R07: Fb-hat and probing variants of QCN.

use super::Paper;
use crate::claims::{Claim, Evidence, Holds, Parts, Runs, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use cnsim_scheme_api::Rate;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "R07",
    title: "Fb-hat and probing variants of QCN",
    citation: "G. Roeck, Simulation Results for QCN-FbHat and other variants of QCN, August 2007",
    summary: "What do a combined feedback, probes along the path and hyperactive increase bring QCN?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim("R07.1", "printed", "QCN is much improved with Fb-hat", fb_hat),
    claim("R07.2", "printed", "hyperactive increase makes QCN much faster", hyperactive),
    claim("R07.3", "printed", "recovery time depends on severity", severity),
    claim("R07.4", "printed", "throughput is a little worse with more nodes", nodes),
    claim("R07.5", "printed", "positive feedback helps", positive),
    claim(
        "R07.6",
        "printed",
        "ECM suffers in the chain: false positives discarded, CPID thrashing",
        false_positives,
    ),
    claim(
        "R07.7",
        "printed",
        "sub-path probing is best, path probing worse, CP-directed marginally worse",
        routes,
    ),
    claim("R07.8", "printed", "ECM would gain from oversampling", oversampling),
];

/// Service rates of the hot port, most severe first, Gb/s.
const RATES: [f64; 4] = [0.1, 0.5, 1.0, 2.0];
const PROBING: [&str; 5] = ["qcn-p", "qcn-hp", "qcn-sp", "qcn-hsp", "qcn-pp"];
/// Conditions of the chain.
const CHAIN: [&str; 2] = ["bursty", "bursty, HAI"];
/// Total through all hotspots of the chain.
const TOTAL: &str = Id::PortsThroughput.text();

fn hotspot(rate: f64, more: &str) -> String {
    format!("hotspot {rate} Gb/s{more}")
}

fn ten<'a>(e: &Evidence<'a>, condition: &str, scheme: &str) -> Runs<'a> {
    e.runs("single-hop-10", condition, "on", scheme)
}

fn chain(e: &Evidence<'_>, condition: &str, scheme: &str, metric: &str) -> Values {
    e.runs("chain-20", condition, "on", scheme).metric(metric)
}

/// Is a > b, beyond the noise? Equal values are not.
fn above(a: &Values, b: &Values) -> Holds {
    less(b, a)
}

/// Yes if one of two is; no if neither is.
fn either(a: Holds, b: Holds) -> Holds {
    match (a, b) {
        (Holds::Yes, _) | (_, Holds::Yes) => Holds::Yes,
        (Holds::No, Holds::No) => Holds::No,
        (Holds::NotRun, _) | (_, Holds::NotRun) => Holds::NotRun,
        _ => Holds::Undecided,
    }
}

/// A metric's mean at each hotspot rate with ten hosts, in words: the evidence of claims that are not judged.
fn shown(e: &Evidence<'_>, scheme: &str, more: &str, metric: &str) -> String {
    let of = |r: &f64| ten(e, &hotspot(*r, more), scheme).metric(metric);
    if RATES.iter().any(|r| of(r).is_empty()) {
        return "not run".into();
    }
    RATES.iter().map(|r| format!("{:.1}", of(r).mean())).collect::<Vec<_>>().join(", ")
}

fn fb_hat(e: &Evidence<'_>, parts: &mut Parts) {
    for (metric, what) in [(TOTAL, "total"), (Id::PortThroughput.text(), "switch 2")] {
        for condition in CHAIN {
            let hat = chain(e, condition, "qcn-h", metric);
            for (more, a) in [("", 12), (", A 24 Mb/s", 24)] {
                let plain = chain(e, &format!("{condition}{more}"), "qcn-2pt", metric);
                let text = format!(
                    "{condition}, {what}: QCN-H {:.2}, QCN with A = {a} Mb/s {:.2} Gb/s",
                    hat.mean(),
                    plain.mean()
                );
                parts.add(above(&hat, &plain), text);
            }
        }
    }
    for (more, name) in [("", "without HAI"), (", HAI", "with HAI")] {
        parts.show(format!(
            "single hop, 10 nodes, {name}: recovery deficit in ms at 0.1, 0.5, 1, 2 Gb/s: QCN-H {}, QCN with A = 12 {}, with A = 24 {}",
            shown(e, "qcn-h", more, Id::RecoveryDeficit.text()),
            shown(e, "qcn-2pt", more, Id::RecoveryDeficit.text()),
            shown(e, "qcn-2pt", &format!("{more}, A 24 Mb/s"), Id::RecoveryDeficit.text())
        ));
    }
}

fn hyperactive(e: &Evidence<'_>, parts: &mut Parts) {
    let (off, on) = (chain(e, CHAIN[0], "qcn-2pt", TOTAL), chain(e, CHAIN[1], "qcn-2pt", TOTAL));
    let ratio = on.mean() / off.mean();
    parts.add(
        at_most(1.03, &off, &on),
        format!("chain: total {:.2} Gb/s with HAI, {:.2} without, x {ratio:.3}", on.mean(), off.mean()),
    );
    for rate in RATES {
        let get = |more| ten(e, &hotspot(rate, more), "qcn-2pt").metric(Id::RecoveryDeficit);
        let (off, on) = (get(""), get(", HAI"));
        let ratio = on.mean() / off.mean();
        let text = format!(
            "{rate} Gb/s: deficit {:.1} ms with HAI, {:.1} without, x {ratio:.2}",
            on.mean(),
            off.mean()
        );
        if rate >= 1.0 {
            parts.add(above(&off, &on), text);
        } else if !off.is_empty() {
            parts.show(text);
        }
        let much = at_most(1.0 / 0.7, &on, &off);
        if much != Holds::NotRun {
            parts.show(format!("{rate} Gb/s: at most 0.7 x, the study's \"much\": {}", much.text()));
        }
    }
}

fn severity(e: &Evidence<'_>, parts: &mut Parts) {
    for pair in RATES.windows(2) {
        let get = |rate| ten(e, &hotspot(rate, ""), "qcn-2pt").metric(Id::RecoveryTime);
        let (worse, milder) = (get(pair[0]), get(pair[1]));
        let text =
            format!("{} Gb/s {:.0} ms, {} Gb/s {:.0} ms", pair[0], worse.mean(), pair[1], milder.mean());
        parts.add(above(&worse, &milder), text);
    }
    parts.show(format!(
        "recovery deficit at 0.1, 0.5, 1, 2 Gb/s: {} ms",
        shown(e, "qcn-2pt", "", Id::RecoveryDeficit.text())
    ));
    parts.show(format!(
        "with HAI: recovery time {} ms",
        shown(e, "qcn-2pt", ", HAI", Id::RecoveryTime.text())
    ));
}

fn nodes(e: &Evidence<'_>, parts: &mut Parts) {
    for rate in RATES {
        let share = |scenario: &str, hosts: f64, more: &str| {
            let ideal = hosts * 8.5 - 0.4 * (8.5 - rate);
            let runs = e.runs(scenario, &hotspot(rate, more), "on", "qcn-2pt");
            runs.metric(Id::AggregateThroughput).map(|v| v / ideal * 100.0)
        };
        for more in ["", ", HAI"] {
            let (few, many) = (share("single-hop-10", 10.0, more), share("single-hop-20", 20.0, more));
            let text = format!(
                "{}: 20 nodes {:.2} % of the ideal, 10 nodes {:.2} %",
                hotspot(rate, more),
                many.mean(),
                few.mean()
            );
            if more.is_empty() {
                parts.add(at_most(1.0, &many, &few), text);
                if rate >= 0.5 {
                    let gap = few.with(&many, |f, m| f - m);
                    parts.add(gap.at_most(5.0), format!("{rate} Gb/s: within 5 points"));
                }
            } else if !few.is_empty() && !many.is_empty() {
                parts.show(text);
            }
        }
    }
}

fn positive(e: &Evidence<'_>, parts: &mut Parts) {
    let mut add = |place: &str, plain: &Values, with: &Values, scheme: &str| {
        let text = format!("{place}: {scheme} {:.2}, QCN {:.2} Gb/s", with.mean(), plain.mean());
        parts.add(less(plain, with), text);
    };
    for scheme in ["qcn-p", "qcn-sp"] {
        for scenario in ["single-hop-10", "single-hop-20"] {
            for rate in RATES {
                for more in ["", ", HAI"] {
                    let get =
                        |s| e.runs(scenario, &hotspot(rate, more), "on", s).metric(Id::AggregateThroughput);
                    let place = format!("{scenario}, {}", hotspot(rate, more));
                    add(&place, &get("qcn-2pt"), &get(scheme), scheme);
                }
            }
        }
        for condition in CHAIN {
            let get = |s| chain(e, condition, s, TOTAL);
            add(&format!("chain, {condition}"), &get("qcn-2pt"), &get(scheme), scheme);
        }
    }
}

fn false_positives(e: &Evidence<'_>, parts: &mut Parts) {
    let condition = CHAIN[1];
    let total = |s: &str| chain(e, condition, s, TOTAL);
    for s in PROBING {
        let text = format!("total ECM {:.2}, {s} {:.2} Gb/s", total("ecm").mean(), total(s).mean());
        parts.add(above(&total(s), &total("ecm")), text);
    }
    let share = chain(e, condition, "ecm", Id::DiscardedPositiveShare.text());
    parts.add(share.at_least(10.0), format!("{:.1} % of ECM's positive messages discarded", share.mean()));
    let get = |c: &str, metric: &str| chain(e, c, "ecm", metric);
    let changes = get(condition, Id::PointChanges.text());
    if !changes.is_empty() {
        parts.show(format!("CPID changes: ECM {:.0}", changes.mean()));
    }
    let cp = format!("{condition}, tag match cp");
    if !get(&cp, TOTAL).is_empty() {
        parts.show(format!(
            "with tag_match = cp: total {:.2} Gb/s, {:.2} % discarded, overhead {:.0} instead of {:.0} Mb/s",
            get(&cp, TOTAL).mean(),
            get(&cp, Id::DiscardedPositiveShare.text()).mean(),
            get(&cp, Id::Overhead.text()).mean(),
            get(condition, Id::Overhead.text()).mean()
        ));
    }
}

fn routes(e: &Evidence<'_>, parts: &mut Parts) {
    let total = |s: &str| chain(e, CHAIN[1], s, TOTAL);
    let (p, sp, hsp, pp, plain) =
        (total("qcn-p"), total("qcn-sp"), total("qcn-hsp"), total("qcn-pp"), total("qcn-2pt"));
    let ratio = sp.with(&p, |a, b| a / b);
    parts.add(
        ratio.within(0.98, 1.02),
        format!("total SP {:.2}, P {:.2} Gb/s: within 2 %", sp.mean(), p.mean()),
    );
    parts.add(at_most(1.0, &pp, &sp), format!("SP {:.2}, PP {:.2} Gb/s", sp.mean(), pp.mean()));
    parts.add(above(&sp, &plain), format!("SP {:.2}, QCN {:.2} Gb/s", sp.mean(), plain.mean()));
    parts.add(above(&hsp, &plain), format!("HSP {:.2}, QCN {:.2} Gb/s", hsp.mean(), plain.mean()));
    let best = at_most(1.0, &p, &sp);
    if best != Holds::NotRun {
        parts.show(format!(
            "\"SP is best\", SP at least P: {}; HP {:.2}",
            best.text(),
            total("qcn-hp").mean()
        ));
    }
}

fn oversampling(e: &Evidence<'_>, parts: &mut Parts) {
    for rate in RATES {
        let get = |more: &str, metric: &str| ten(e, &hotspot(rate, more), "ecm").metric(metric);
        let pair = |metric| (get("", metric), get(", oversampling", metric));
        let ((total, more), (time, shorter)) =
            (pair(Id::AggregateThroughput.text()), pair(Id::RecoveryTime.text()));
        let text = format!(
            "{rate} Gb/s: total {:.2} Gb/s with, {:.2} without; recovery {:.0} ms with, {:.0} without",
            more.mean(),
            total.mean(),
            shorter.mean(),
            time.mean()
        );
        parts.add(either(above(&more, &total), above(&time, &shorter)), text);
    }
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: Id) -> &'static str {
    let (scheme, chain) = (run.case.scheme.as_str(), run.case.scenario.starts_with("chain"));
    let severe = run.config.read(tables::hotspot::RATE) == Some(Rate::from_mbps(100.0));
    match metric {
        Id::TimePaused | Id::DroppedFrames => {
            "A72 pause-high and A73 output-limit: of the switch's memory only `1 MB` is printed, no watermark"
        }
        Id::DiscardedPositives | Id::DiscardedPositiveShare | Id::PointChanges => {
            "A71 tag-match: who filters positive messages by their tag is not printed"
        }
        _ if chain && scheme == "ecm" => {
            "A71 tag-match, and A75 chain-bursts: with bursts at all nodes ECM comes first"
        }
        _ if chain => "A75 chain-bursts and A74 chain-length decide what the chain carries",
        _ if scheme == "ecm" => "A6 oversampling: the study has it off, and the rest as in B07",
        Id::RecoveryTime | Id::RecoveryDeficit if scheme == "qcn-2pt" => {
            "A70 drift-of: what drift multiplies moves recovery by up to a factor of two; A78 ai-bytes"
        }
        _ if severe => {
            "A5 r-min: ten times 10 Mb/s hardly drain a port of 0.1 Gb/s, so its queue, and PAUSE, stay"
        }
        _ if scheme.starts_with("qcn-h") => "A76 fb-hat: its definition was not found",
        _ if scheme.starts_with("qcn-") && scheme != "qcn-2pt" => {
            "A77 probe-interval: the mechanics of probes are not printed"
        }
        _ => "A70 drift-of and A12 hai: rules of 2007 that are not printed",
    }
}

#[cfg(test)]
#[path = "r07_tests.rs"]
pub(super) mod tests;
