//! T11: TCP in converged data-centre Ethernet, Hot Interconnects 2011.

use super::Paper;
use crate::claims::{Claim, Evidence, Parts, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "T11",
    title: "TCP in converged data-centre Ethernet",
    citation: "D. Crisan, A. S. Anghel, R. Birke, C. Minkenberg, M. Gusat, Short and Fat: TCP Performance in CEE Datacenter Networks, IEEE Hot Interconnects 2011; by public notes, the paper itself was not opened",
    summary: "What do priority flow control, QCN and RED do to NewReno and CUBIC: queries over background, and exchanges of a parallel program?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim(
        "T11.1",
        "printed",
        "PFC shortens queries under every scheme but QCN with a set point of 20 KB",
        pfc_shortens,
    ),
    claim("T11.2", "printed", "without PFC CUBIC is slower than NewReno", cubic),
    claim("T11.3", "printed", "RED beats QCN for commercial traffic", red_beats_qcn),
    claim("T11.4", "printed", "RED is worse without PFC", red_without_pfc),
    claim(
        "T11.5",
        "printed",
        "exchanges: with PFC RED is best, without it QCN with a set point of 20 KB",
        exchanges,
    ),
    claim("T11.6", "printed", "only QCN restores fairness between TCP and UDP", fairness),
    claim("T11.7", "printed", "the queue over time is a sawtooth without PFC, and a step with it", sawtooth),
];

/// The study prints orders alone, so nothing is suspected.
fn suspect(_run: &RunRecord, _metric: Id) -> &'static str {
    "no numbers of the study are known"
}

const QCN: &str = "qcn-802.1Qau";

/// A case of the fat tree: what is written behind the number of hosts, and the scheme. QCN's set point is 66 KB if no other is written.
type Case = (&'static str, &'static str);
/// RED's marks, as conditions write them.
const RAMP: &str = ", RED from 25.6 KB, RED to 76.8 KB";
const NEWRENO: Case = ("", "newreno");
const CUBIC: Case = ("", "cubic");
const RED: Case = (RAMP, "newreno");
const QCN_66: Case = ("", QCN);
const QCN_20: Case = (", Q_eq 20 KB", QCN);

fn name((more, scheme): Case) -> String {
    let point = if (more, scheme) == QCN_66 { ", Q_eq 66 KB" } else { "" };
    let more = if more == RAMP { ", RED" } else { more };
    format!("{scheme}{more}{point}")
}

/// Words of a condition on a port's memory, where it has PFC.
fn room(pause: &str) -> &'static str {
    if pause == "on" { ", headroom 90 KB" } else { "" }
}

fn query(e: &Evidence<'_>, (more, scheme): Case, pause: &str) -> Values {
    e.runs("commercial", &format!("32 hosts{more}{}", room(pause)), pause, scheme).metric(Id::QueryTime)
}

fn exchange(e: &Evidence<'_>, (more, scheme): Case, pause: &str) -> Values {
    e.runs("hpc", &format!("32 hosts{more}{}", room(pause)), pause, scheme).metric(Id::JobTime)
}

fn pfc_shortens(e: &Evidence<'_>, parts: &mut Parts) {
    for case in [NEWRENO, CUBIC, RED, QCN_66, QCN_20] {
        let (on, off) = (query(e, case, "on"), query(e, case, "off"));
        let text = format!("{}: {:.3} ms with PFC, {:.3} without", name(case), on.mean(), off.mean());
        // Within the tolerance of a time PFC does not shorten.
        let holds = if case == QCN_20 { at_most(0.95, &off, &on) } else { less(&on, &off) };
        parts.add(holds, text);
    }
}

fn cubic(e: &Evidence<'_>, parts: &mut Parts) {
    let (reno, cubic) = (query(e, NEWRENO, "off"), query(e, CUBIC, "off"));
    parts.add(less(&reno, &cubic), format!("NewReno {:.3} ms, CUBIC {:.3}", reno.mean(), cubic.mean()));
}

fn red_beats_qcn(e: &Evidence<'_>, parts: &mut Parts) {
    for pause in ["on", "off"] {
        for case in [QCN_66, QCN_20] {
            let (red, qcn) = (query(e, RED, pause), query(e, case, pause));
            let text = format!("PFC {pause}: RED {:.3} ms, {} {:.3}", red.mean(), name(case), qcn.mean());
            parts.add(less(&red, &qcn), text);
        }
    }
}

fn red_without_pfc(e: &Evidence<'_>, parts: &mut Parts) {
    let (on, off) = (query(e, RED, "on"), query(e, RED, "off"));
    parts.add(less(&on, &off), format!("{:.3} ms with PFC, {:.3} without", on.mean(), off.mean()));
}

fn exchanges(e: &Evidence<'_>, parts: &mut Parts) {
    for (pause, best, others) in
        [("on", RED, [NEWRENO, CUBIC, QCN_66, QCN_20]), ("off", QCN_20, [NEWRENO, CUBIC, RED, QCN_66])]
    {
        for other in others {
            let (a, b) = (exchange(e, best, pause), exchange(e, other, pause));
            let (best, other) = (name(best), name(other));
            parts.add(
                less(&a, &b),
                format!("PFC {pause}: {best} {:.2} ms, {other} {:.2}", a.mean(), b.mean()),
            );
        }
    }
}

/// Share of TCP in what arrives of TCP and UDP.
fn share(run: &RunRecord) -> Option<f64> {
    let of = |name: &str| run.traffic.iter().find(|t| t.name == name)?.metrics.get(Id::Goodput.text());
    let (tcp, udp) = (of("tcp")?, of("udp")?);
    Some(tcp / (tcp + udp))
}

fn fairness(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |more: &str, scheme: &str| {
        e.runs("fairness", &format!("2 and 2 hosts{more}{}", room("on")), "on", scheme).each(share)
    };
    for (more, scheme) in [QCN_66, QCN_20] {
        let seen = of(more, scheme);
        parts.add(
            seen.within(0.3, 0.7),
            format!("{}: TCP has {:.0} %", name((more, scheme)), seen.mean() * 100.0),
        );
    }
    for more in [RAMP, ""] {
        let seen = of(more, "none");
        parts.add(
            seen.at_most(0.25),
            format!(
                "no QCN{}: TCP has {:.0} %",
                if more == RAMP { ", RED" } else { "" },
                seen.mean() * 100.0
            ),
        );
    }
}

fn sawtooth(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |pause| {
        let runs = e.runs("queue", "8 hosts", pause, "newreno");
        runs.metric(Id::SdHotQueue).with(&runs.metric(Id::MeanHotQueue), |sd, mean| sd / mean)
    };
    let (on, off) = (of("on"), of("off"));
    parts.add(off.at_least(0.1), format!("deviation of the queue {:.2} of its mean without PFC", off.mean()));
    parts.add(at_most(3.0, &on, &off), format!("{:.2} with PFC", on.mean()));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::synthetic::{Synthetic as _, run};
    use cnsim_measure::traffic::TrafficFacts;

    /// Runs in which every claim holds.
    pub(crate) fn runs() -> Vec<RunRecord> {
        let mut all = Vec::new();
        for seed in 1..=3 {
            let new = |scenario, condition: &str, pause, scheme| {
                run("T11", scenario, condition, pause, scheme, seed)
            };
            for (case, query, exchange) in [
                (NEWRENO, [1.0, 1.2], [14.0, 19.0]),
                (CUBIC, [1.1, 1.4], [14.2, 20.0]),
                (RED, [0.4, 0.5], [12.0, 18.0]),
                (QCN_66, [0.7, 0.8], [14.1, 18.5]),
                (QCN_20, [0.9, 0.9], [14.3, 17.0]),
            ] {
                for (i, pause) in ["on", "off"].into_iter().enumerate() {
                    let condition = format!("32 hosts{}{}", case.0, room(pause));
                    all.push(new("commercial", &condition, pause, case.1).has(Id::QueryTime, query[i]));
                    all.push(new("hpc", &condition, pause, case.1).has(Id::JobTime, exchange[i]));
                }
            }
            for (more, scheme, tcp) in
                [("", QCN, 5.0), (", Q_eq 20 KB", QCN, 4.5), ("", "none", 1.0), (RAMP, "none", 0.5)]
            {
                let mut r = new("fairness", &format!("2 and 2 hosts{more}{}", room("on")), "on", scheme);
                for (name, rate) in [("tcp", tcp), ("udp", 9.5 - tcp)] {
                    let mut facts = TrafficFacts { name: name.into(), ..TrafficFacts::default() };
                    facts.metrics.insert(Id::Goodput, rate);
                    r.traffic.push(facts);
                }
                all.push(r);
            }
            for (pause, sd) in [("on", 1.0), ("off", 50.0)] {
                let r = new("queue", "8 hosts", pause, "newreno");
                all.push(r.has(Id::MeanHotQueue, 200.0).has(Id::SdHotQueue, sd));
            }
        }
        all
    }
}
