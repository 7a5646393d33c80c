//! Next steps that the studies named. No numbers were published. What the runs of TCP show are claims of our own, most of them derived
//! beforehand.

use super::Paper;
use crate::claims::{Claim, Evidence, Parts, Values, at_most, claim};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// No study of its own: the list of next steps.
pub(super) const PAPER: Paper = Paper {
    id: "next",
    title: "What the studies left as next steps",
    citation: "named by the studies of 2007 and 2008; the scenarios are ours",
    summary: "Hotspots made by inputs alone, links of different rates, a network of 1024 hosts, TCP in place of raw Ethernet, and a congestion managed domain.",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim("next.1", "derived", "with PAUSE no read times out, at any number of servers", paused_reads),
    claim(
        "next.2",
        "derived",
        "without PAUSE, answers of one window of w frames time out from the first N on whose (N - 1) w + 1 frames pass the buffer",
        first_timeout,
    ),
    claim(
        "next.3",
        "derived",
        "a least timeout of 200 us ends the collapse that one of 200 ms makes",
        least_timeout,
    ),
    claim(
        "next.4",
        "measured",
        "802.1Qau beside PAUSE costs reads a third of their goodput and more",
        qcn_beside_pause,
    ),
    claim(
        "next.5",
        "measured",
        "over TCP a control loop of 1 ms does not stop QCN, which it does over raw Ethernet",
        long_loop,
    ),
    claim(
        "next.6",
        "measured",
        "past a slow port TCP alone leaves the others what they offer; PAUSE takes 40 % of that and more",
        innocents,
    ),
    claim("next.7", "measured", "without PAUSE, QCN under TCP cuts losses tenfold", losses),
    claim(
        "next.8",
        "measured",
        "with PAUSE, QCN behind edge ports that defend its domain cuts the mean latency in it twentyfold; neither does so alone",
        defended,
    ),
];

/// Nothing was published, so nothing can be missed.
fn suspect(_run: &RunRecord, _metric: Id) -> &'static str {
    "nothing was published"
}

const SERVERS: [u32; 9] = [1, 2, 4, 8, 10, 11, 16, 32, 64];

/// A metric of reads without a scheme, or with one.
fn reads(
    e: &Evidence<'_>,
    (servers, size, rto): (u32, &str, &str),
    pause: &str,
    scheme: &str,
    metric: Id,
) -> Values {
    let limit = if pause == "on" { ", no output limit" } else { "" };
    let condition = format!("{servers} servers, {size} each, least timeout {rto}, first {rto}{limit}");
    e.runs("incast", &condition, pause, scheme).metric(metric)
}

fn paused_reads(e: &Evidence<'_>, parts: &mut Parts) {
    for n in SERVERS {
        let seen = reads(e, (n, "256 KB", "200 ms"), "on", "none", Id::Timeouts);
        parts.add(seen.at_most(0.0), format!("{n} servers: {:.0} timeouts", seen.mean()));
    }
}

fn first_timeout(e: &Evidence<'_>, parts: &mut Parts) {
    /// Frames of an answer, and of the buffer.
    const WINDOW: u32 = 10;
    const BUFFER: u32 = 100;
    for n in [4, 8, 10, 11, 16, 32, 64] {
        let seen = reads(e, (n, "14.6 KB", "10 ms"), "off", "none", Id::Timeouts);
        let fits = (n - 1) * WINDOW < BUFFER;
        let holds = if fits { seen.at_most(0.0) } else { seen.at_least(1.0) };
        parts.add(
            holds,
            format!("{n} servers: {} frames at most, {:.0} timeouts", (n - 1) * WINDOW + 1, seen.mean()),
        );
    }
}

fn least_timeout(e: &Evidence<'_>, parts: &mut Parts) {
    for n in [4, 8, 16, 32, 47] {
        let of = |rto| reads(e, (n, "256 KB", rto), "off", "none", Id::QueryGoodput);
        let (short, long) = (of("200 us"), of("200 ms"));
        let text = format!("{n} servers: {:.2} Gb/s at 200 us, {:.2} at 200 ms", short.mean(), long.mean());
        parts.add(at_most(20.0, &long, &short), text);
    }
}

fn qcn_beside_pause(e: &Evidence<'_>, parts: &mut Parts) {
    for n in [4, 8, 16, 32, 64] {
        let of = |scheme| reads(e, (n, "256 KB", "200 ms"), "on", scheme, Id::QueryGoodput);
        let (alone, with) = (of("none"), of("qcn-802.1Qau"));
        let text = format!(
            "{n} servers: {:.2} Gb/s with PAUSE alone, {:.2} with 802.1Qau",
            alone.mean(),
            with.mean()
        );
        parts.add(at_most(1.5, &with, &alone), text);
    }
}

fn long_loop(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |kind: &str| {
        e.runs("tcp-symmetric", &format!("{kind}, 4 to 1, loop 1 ms"), "off", "qcn-serial-hai")
            .metric(Id::Throughput)
    };
    let (tcp, raw) = (of("TCP"), of("raw, Bernoulli"));
    parts.add(tcp.at_least(8.0), format!("{:.2} Gb/s over TCP", tcp.mean()));
    parts.add(at_most(2.0, &raw, &tcp), format!("{:.2} Gb/s raw", raw.mean()));
}

/// A metric of the single hop at 0.5 Gb/s.
fn hop(e: &Evidence<'_>, kind: &str, pause: &str, scheme: &str, metric: Id) -> Values {
    e.runs("tcp-single-hop", &format!("{kind}, hotspot 0.5 Gb/s"), pause, scheme).metric(metric)
}

fn innocents(e: &Evidence<'_>, parts: &mut Parts) {
    /// Nine tenths of what is offered, Gb/s.
    const MOST: f64 = 0.9 * 76.5;
    let of = |pause| hop(e, "TCP", pause, "none", Id::InnocentThroughput);
    let (off, on) = (of("off"), of("on"));
    parts.add(off.at_least(MOST), format!("{:.1} of 76.5 Gb/s without PAUSE", off.mean()));
    parts.add(at_most(1.0 / 0.6, &on, &off), format!("{:.1} Gb/s with PAUSE", on.mean()));
}

fn losses(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |scheme| hop(e, "TCP", "off", scheme, Id::DroppedFrames);
    let (alone, with) = (of("none"), of("qcn-serial-hai"));
    let text =
        format!("{:.0} frames lost by TCP alone, {:.0} with QCN serial HAI", alone.mean(), with.mean());
    parts.add(at_most(10.0, &with, &alone), text);
}

/// Mean latency in the managed class.
fn in_domain(e: &Evidence<'_>, defence: &str, scheme: &str) -> Values {
    let runs = e.runs("cn-domain", &format!("hotspot 2 Gb/s, defence {defence}"), "on", scheme);
    runs.each(|run| {
        run.traffic.iter().find(|t| t.name == "class managed")?.metrics.get(Id::MeanLatency.text())
    })
}

fn defended(e: &Evidence<'_>, parts: &mut Parts) {
    let both = in_domain(e, "outside", "qcn-2pt");
    for (what, alone) in [
        ("QCN without defence", in_domain(e, "off", "qcn-2pt")),
        ("defence without QCN", in_domain(e, "outside", "none")),
    ] {
        let text = format!("{:.0} us with both, {:.0} us by {what}", both.mean(), alone.mean());
        parts.add(at_most(20.0, &both, &alone), text);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::synthetic::{Synthetic as _, run};
    use cnsim_measure::traffic::TrafficFacts;
    use cnsim_runs::record::RunRecord;
    use cnsim_scenario::metrics::Id;

    /// Runs in which every claim holds.
    pub(crate) fn runs() -> Vec<RunRecord> {
        let mut all = Vec::new();
        for seed in 1..=3 {
            let new = |scenario, condition: &str, pause, scheme| {
                run("next", scenario, condition, pause, scheme, seed)
            };
            for n in [1, 2, 4, 8, 10, 11, 16, 32, 47, 64] {
                let of = |size: &str, rto: &str| {
                    format!("{n} servers, {size} each, least timeout {rto}, first {rto}")
                };
                for (rto, rate) in [("200 us", 9.0), ("200 ms", 0.1)] {
                    all.push(new("incast", &of("256 KB", rto), "off", "none").has(Id::QueryGoodput, rate));
                }
                for (scheme, rate) in [("none", 9.6), ("qcn-802.1Qau", 4.0)] {
                    let condition = format!("{}, no output limit", of("256 KB", "200 ms"));
                    let r = new("incast", &condition, "on", scheme);
                    all.push(r.has(Id::QueryGoodput, rate).has(Id::Timeouts, 0.0));
                }
                let times = if n > 10 { 5.0 } else { 0.0 };
                all.push(new("incast", &of("14.6 KB", "10 ms"), "off", "none").has(Id::Timeouts, times));
            }
            for (kind, rate) in [("TCP", 9.0), ("raw, Bernoulli", 2.0)] {
                let r = new("tcp-symmetric", &format!("{kind}, 4 to 1, loop 1 ms"), "off", "qcn-serial-hai");
                all.push(r.has(Id::Throughput, rate));
            }
            for (pause, scheme, rate, lost) in [
                ("off", "none", 74.0, 30e3),
                ("on", "none", 35.0, 0.0),
                ("off", "qcn-serial-hai", 73.0, 500.0),
            ] {
                let r = new("tcp-single-hop", "TCP, hotspot 0.5 Gb/s", pause, scheme);
                all.push(r.has(Id::InnocentThroughput, rate).has(Id::DroppedFrames, lost));
            }
            for (defence, scheme, latency) in [
                ("off", "none", 9050.0),
                ("outside", "none", 7620.0),
                ("off", "qcn-2pt", 4430.0),
                ("outside", "qcn-2pt", 90.0),
            ] {
                let mut r = new("cn-domain", &format!("hotspot 2 Gb/s, defence {defence}"), "on", scheme);
                let mut facts = TrafficFacts { name: "class managed".into(), ..TrafficFacts::default() };
                facts.metrics.insert(Id::MeanLatency, latency * (1.0 + seed as f64 * 1e-4));
                r.traffic.push(facts);
                all.push(r);
            }
        }
        all
    }
}
