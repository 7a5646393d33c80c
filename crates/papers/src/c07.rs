//! C07: BCN against BECN and FECN.

use super::Paper;
use crate::claims::{Claim, Evidence, Holds, Parts, Runs, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "C07",
    title: "BCN against BECN and FECN",
    citation: "D. Bergamasco, A Comparison of BCN and [B|F]ECN, IEEE 802.1 interim, January 2007",
    summary: "What do broadcast and forward explicit-rate schemes cost beside backward notification, and what do they gain?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim("C07.1", "printed", "BCN's overhead is about three orders of magnitude smaller", overhead),
    claim("C07.2", "printed", "BECN is nearly perfectly fair, BCN converges slower", fair),
    claim("C07.3", "printed", "BECN's overhead costs throughput", cost),
    claim("C07.4", "printed", "the congestion point moves to the edge switch", place),
    claim("C07.5", "printed", "broadcasting fails with several hotspots", several),
    claim("C07.6", "printed", "at 30 us the 1 Gb/s link is overrun and congestion spreads", overrun),
    claim("C07.7a", "printed", "BECN is max-min fair in the parking lot", max_min_becn),
    claim("C07.7b", "printed", "so is BCN", max_min_bcn),
    claim("C07.8", "printed", "BCN's W compensates delay", weight),
    claim("C07.9", "figure", "FECN slows down with the tagging rate", tagging),
    claim("C07.10", "printed", "BECN loses throughput, BCN virtually none", loss),
    claim("C07.11", "figure", "with its overhead cut to BCN's, BECN controls worse", cut),
    claim("C07.12", "figure", "at equal signalling FECN settles later than BCN", later),
];

const BECN: &str = "measurement interval 30 us";
const BCN: &str = "sampling rate 1%";
/// Sources change on and off this often, ms.
const PHASE: usize = 20;

fn case<'a>(e: &Evidence<'a>, scenario: &str, condition: &str, scheme: &str) -> Runs<'a> {
    e.runs(scenario, condition, "global", scheme)
}

/// Mean over the bins from `from` to `to` ms of the sum of these series.
fn mean_of(r: &RunRecord, names: &[&str], from: f64, to: f64) -> Option<f64> {
    let mut sum = 0.0;
    for name in names {
        let curve = r.over_time.series.get(*name)?;
        let at = |ms: f64| ((ms / 1e3 / curve.bin).round() as usize).min(curve.values.len());
        let bins = curve.values.get(at(from)..at(to)).filter(|b| !b.is_empty())?;
        sum += bins.iter().sum::<f64>() / bins.len() as f64;
    }
    Some(sum)
}

fn queue(runs: &Runs<'_>, port: &str) -> Values {
    runs.each(|r| r.ports.get(port)?.mean_queue)
}

fn overhead(e: &Evidence<'_>, parts: &mut Parts) {
    let [becn, bcn] =
        [(BECN, "becn"), (BCN, "bcn")].map(|(c, s)| case(e, "symmetric-on-off", c, s).metric(Id::Overhead));
    let ratio = becn.with(&bcn, |a, b| a / b);
    let text = format!("BECN {:.0} Mb/s, BCN {:.2} Mb/s, ratio {:.0}", becn.mean(), bcn.mean(), ratio.mean());
    parts.add(ratio.within(300.0, 3000.0), text);
}

fn fair(e: &Evidence<'_>, parts: &mut Parts) {
    let index = |c, s| case(e, "symmetric-on-off", c, s).metric(Id::Fairness);
    let (becn, bcn, fecn) = (index(BECN, "becn"), index(BCN, "bcn"), index("tagging rate 100%", "fecn"));
    parts.add(becn.at_least(0.99), format!("mean Jain index of BECN {:.4}", becn.mean()));
    let ahead = becn.with(&bcn, |a, b| a - b);
    let holds = match ahead.0.iter().all(|d| d.1 > 0.0) {
        _ if ahead.is_empty() => Holds::NotRun,
        true => Holds::Yes,
        false => Holds::No,
    };
    parts.add(holds, format!("BCN {:.4}; BECN above it in every seed", bcn.mean()));
    if !fecn.is_empty() {
        parts.show(format!("FECN, every frame tagged: {:.4}", fecn.mean()));
    }
}

fn cost(e: &Evidence<'_>, parts: &mut Parts) {
    let runs = case(e, "symmetric-on-off", BECN, "becn");
    let (hot, control) = (runs.metric(Id::HotPortThroughput), runs.metric(Id::Overhead));
    let share = hot.with(&control, |hot, control| hot / (10.0 - control / 1e3));
    let text = format!(
        "hot throughput {:.3} Gb/s, 10 Gb/s less the overhead {:.3}",
        hot.mean(),
        10.0 - control.mean() / 1e3
    );
    parts.add(share.within(0.98, 1.02), text);
}

fn place(e: &Evidence<'_>, parts: &mut Parts) {
    for (c, s, longest, other) in [(BECN, "becn", "E5>H5", "X>E5"), (BCN, "bcn", "X>E5", "E5>H5")] {
        let runs = case(e, "symmetric-on-off", c, s);
        let (a, b) = (queue(&runs, longest), queue(&runs, other));
        let text = format!("{s}: mean queue {:.1} KB at {longest}, {:.1} KB at {other}", a.mean(), b.mean());
        // Longer by more than a frame.
        parts.add(a.with(&b, |a, b| a - b).at_least(1.5), text);
    }
}

fn several(e: &Evidence<'_>, parts: &mut Parts) {
    let becn = case(e, "asymmetric", "measurement interval 300 us", "becn");
    let (least, most) = (becn.metric(Id::FlowRateMin), becn.metric(Id::FlowRateMax));
    let text = format!("BECN at 300 us: flows from {:.1} to {:.1} Mb/s", least.mean(), most.mean());
    parts.add(least.at_least(418.0 * 0.98), text.clone());
    parts.add(most.at_most(418.0 * 1.02), text);
    let bcn = case(e, "asymmetric", BCN, "bcn");
    let late = bcn.each(|r| mean_of(r, &[Id::AggregateThroughput.text()], 50.0, 100.0));
    let least = late.0.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
    parts.add(
        late.at_least(9.5),
        format!("BCN over [50, 100] ms: {:.3} Gb/s in all, least {least:.2}", late.mean()),
    );
}

fn overrun(e: &Evidence<'_>, parts: &mut Parts) {
    let runs = case(e, "asymmetric", BECN, "becn");
    // Every message goes to every host, so what is made is what comes for H6.
    let control = runs.each(|r| mean_of(r, &["control_rate"], 0.0, 1.0));
    parts.add(
        control.at_least(1000.0),
        format!("control for the 1 Gb/s port in the first ms: {:.0} Mb/s", control.mean()),
    );
    let paused = runs.each(|r| Some(r.ports.get("E1>X")?.paused));
    parts.add(
        paused.at_least(50.0),
        format!("the core holds E1 in XOFF for {:.0} % of the run", paused.mean()),
    );
    let total = runs.metric(Id::AggregateThroughput);
    parts.add(total.at_most(0.5), format!("aggregate {:.3} Gb/s", total.mean()));
    let frozen = runs.metric(Id::FrozenSince);
    parts.show(format!(
        "{} of {} runs deliver nothing any more, since {:.1} ms in the mean",
        frozen.0.len(),
        total.0.len(),
        frozen.mean()
    ));
}

/// The least and the greatest of the flows' rates, as shares of their mean, within `share` of it.
fn equal(parts: &mut Parts, runs: &Runs<'_>, share: f64, what: &str) {
    let [least, mean, most] =
        [Id::FlowRateMin.text(), Id::FlowRate.text(), Id::FlowRateMax.text()].map(|m| runs.metric(m));
    let text =
        format!("{what}: from {:.0} to {:.0} Mb/s, mean {:.0}", least.mean(), most.mean(), mean.mean());
    parts.add(at_most(1.0 - share, &mean, &least), text.clone());
    parts.add(mean.with(&most, |mean, most| (1.0 + share) * mean - most).at_least(0.0), text);
}

fn max_min_becn(e: &Evidence<'_>, parts: &mut Parts) {
    let runs = case(e, "parking-lot", BECN, "becn");
    equal(parts, &runs, 0.05, "six flows");
    let (mean, control) = (runs.metric(Id::FlowRate), runs.metric(Id::BottleneckControl));
    let share = mean.with(&control, |mean, control| mean / ((10_000.0 - control) / 5.0));
    let text = format!(
        "mean {:.0} Mb/s, (C - control load)/5 = {:.0} Mb/s",
        mean.mean(),
        (10_000.0 - control.mean()) / 5.0
    );
    parts.add(share.within(0.95, 1.05), text);
}

fn max_min_bcn(e: &Evidence<'_>, parts: &mut Parts) {
    equal(parts, &case(e, "parking-lot", "sampling rate 1%, run 1 s", "bcn"), 0.15, "six flows over 1 s");
    let runs = case(e, "parking-lot", "sampling rate 1%, run 1 s", "bcn");
    let long = runs.each(|r| mean_of(r, &["flow H1>H9", "flow H2>H9", "flow H3>H9", "flow H4>H9"], 0.0, 1e3));
    let short = runs.each(|r| mean_of(r, &["flow H5>H7", "flow H6>H8"], 0.0, 1e3));
    if !long.is_empty() {
        parts.show(format!(
            "over both bottlenecks {:.0} Mb/s each, over one {:.0}; max-min 2000 and 2000, proportional 1667 and 3333",
            long.mean() / 4.0,
            short.mean() / 2.0
        ));
    }
}

fn weight(e: &Evidence<'_>, parts: &mut Parts) {
    for delay in ["50 us", "100 us", "200 us"] {
        let of = |w: &str| {
            let runs = case(e, "parking-lot", &format!("{BCN}, added delay {delay}{w}"), "bcn");
            let frozen = |r: &RunRecord| r.metrics.get(Id::FrozenSince).is_some();
            let sd = runs.each(|r| r.metrics.get(Id::SdHotQueue).filter(|_| !frozen(r)));
            (sd, runs.each(|r| frozen(r).then_some(1.0)).0.len())
        };
        let ((two, f2), (four, f4), (eight, f8)) = (of(""), of(", W 4"), of(", W 8"));
        let text = format!(
            "{delay}: sd of L2's queue {:.1} KB at W 2, {:.1} at W 4, {:.1} at W 8; {} runs frozen",
            two.mean(),
            four.mean(),
            eight.mean(),
            f2 + f4 + f8
        );
        parts.add(less(&four, &two), text);
    }
}

/// Milliseconds after each on-off change until a condition on bins holds for the rest of the phase; the whole phase where
/// it does not. One value a phase of 20 ms, the first one left out.
fn settling(r: &RunRecord, series: &[&str], good: &dyn Fn(usize, &[f64]) -> bool) -> Option<Vec<f64>> {
    let curves: Vec<_> = series.iter().map(|s| r.over_time.series.get(*s)).collect::<Option<_>>()?;
    let bin = curves.first()?.bin * 1e3;
    let bins = curves.iter().map(|c| c.values.len()).min()?;
    let per_phase = (PHASE as f64 / bin).round() as usize;
    let phase = |p: usize| {
        let range = p * per_phase..(p + 1) * per_phase;
        let bad = range.clone().rev().find(|&b| {
            let here: Vec<f64> = curves.iter().map(|c| c.values[b]).collect();
            !good(p, &here)
        });
        bad.map_or(0.0, |b| (b + 1 - range.start) as f64 * bin)
    };
    Some((1..bins / per_phase.max(1)).map(phase).collect())
}

/// After each change, time until every flow that is on stays within 20 % of its fair share.
fn settled_rates(r: &RunRecord) -> Option<Vec<f64>> {
    let flows = ["flow H1>H5", "flow H2>H5", "flow H3>H5", "flow H4>H5"];
    settling(r, &flows, &|phase, rates| {
        // H1 and H2 are on in even phases.
        let (on, share) = if phase.is_multiple_of(2) { (rates, 2500.0) } else { (&rates[2..], 5000.0) };
        on.iter().all(|rate| (rate / share - 1.0).abs() <= 0.2)
    })
}

/// After each change, time until the hot port stays at 95 % of 10 Gb/s or more.
fn settled_port(r: &RunRecord) -> Option<Vec<f64>> {
    settling(r, &[Id::HotPortThroughput.text()], &|_, v| v[0] >= 9.5)
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len().max(1) as f64
}

fn tagging(e: &Evidence<'_>, parts: &mut Parts) {
    let runs = |p: &str| case(e, "symmetric-on-off", &format!("tagging rate {p}"), "fecn");
    let index = |p| runs(p).metric(Id::Fairness);
    // 100 % and 10 % may be equal, to a thousandth; the lower rates are worse by more than that.
    for (more, less, least) in [("100%", "10%", -1e-3), ("10%", "5%", 1e-3), ("5%", "1%", 1e-3)] {
        let (a, b) = (index(more), index(less));
        let text = format!("mean Jain index {:.4} at {more}, {:.4} at {less}", a.mean(), b.mean());
        parts.add(a.with(&b, |a, b| a - b).at_least(least), text);
    }
    let fast = runs("100%").each(|r| settled_rates(r).map(|t| mean(&t)));
    parts.add(fast.at_most(1.0), format!("settled {:.1} ms after a change at 100 %", fast.mean()));
    let slow = runs("1%").each(|r| {
        settled_rates(r).map(|t| t.iter().filter(|t| **t > 10.0).count() as f64 / t.len().max(1) as f64)
    });
    let text = format!("at 1 % {:.0} % of the phases take more than 10 ms", slow.mean() * 100.0);
    parts.add(slow.at_least(0.5), text);
}

fn loss(e: &Evidence<'_>, parts: &mut Parts) {
    let becn = case(e, "parking-lot", BECN, "becn");
    let (lost, control) = (becn.metric(Id::ThroughputLoss), becn.metric(Id::BottleneckControl));
    let text = format!(
        "BECN loses {:.3} Gb/s at the most loaded port, whose control load is {:.3}",
        lost.mean(),
        control.mean() / 1e3
    );
    parts.add(lost.with(&control, |l, c| l * 1e3 / c).within(0.95, 1.05), text);
    let total = becn.metric(Id::AggregateLoss);
    let text = format!("aggregate loss {:.3} Gb/s", total.mean());
    parts.add(total.within(1.638 * 0.97, 1.638 * 1.03), text);
    let worst = case(e, "parking-lot", BCN, "bcn").each(|r| {
        let long = mean_of(r, &["flow H1>H9", "flow H2>H9", "flow H3>H9", "flow H4>H9"], 20.0, 100.0)?;
        let [first, second] = ["flow H5>H7", "flow H6>H8"].map(|f| mean_of(r, &[f], 20.0, 100.0));
        Some(10.0 - (long + first?.min(second?)) / 1e3)
    });
    let text = format!("BCN's worse port loses {:.3} Gb/s over [20, 100] ms", worst.mean());
    parts.add(worst.at_most(0.3), text);
}

fn cut(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |c, s| case(e, "symmetric-on-off", c, s);
    let (becn, bcn) = (of("measurement interval 12 ms", "becn"), of(BCN, "bcn"));
    let (a, b) = (becn.metric(Id::SdHotQueue), bcn.metric(Id::SdHotQueue));
    let text = format!(
        "sd of the core port's queue {:.1} KB with BECN at 12 ms ({:.2} Mb/s), {:.1} KB with BCN ({:.2} Mb/s)",
        a.mean(),
        becn.metric(Id::Overhead).mean(),
        b.mean(),
        bcn.metric(Id::Overhead).mean()
    );
    parts.add(less(&b, &a), text);
}

fn later(e: &Evidence<'_>, parts: &mut Parts) {
    let of = |c, s| case(e, "symmetric-on-off", c, s).each(|r| settled_port(r).map(|t| mean(&t)));
    let (fecn, bcn) = (of("tagging rate 1%", "fecn"), of(BCN, "bcn"));
    let text = format!(
        "hot port back at 95 % after {:.1} ms with FECN at 1 %, {:.1} ms with BCN (mean over changes; 20 ms where never)",
        fecn.mean(),
        bcn.mean()
    );
    parts.add(fecn.with(&bcn, |f, b| f - b).at_least(1e-6), text);
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: Id) -> &'static str {
    match (run.case.scheme.as_str(), run.case.scenario.as_str(), metric) {
        ("becn", "parking-lot", Id::ThroughputLoss) => {
            "no assumption but the reading of the number: the loss summed over the six flows, 96 x 512 bit / 30 us = 1.638 Gb/s, is the printed one (aggregate_loss); through the most loaded port pass the messages of 80 of the 96 ports"
        }
        ("becn", "parking-lot", Id::FlowRate) => {
            "no assumption: the printed C/5 is from a model without signalling load and excludes the loss printed for the same case; what control leaves is (10 - 1.365)/5"
        }
        ("becn", ..) => {
            "A11 control-transport: BECN's cost is that its messages share the data's class and its buffers"
        }
        ("bcn", "asymmetric", Id::AggregateThroughput) => {
            "no assumption: the printed value is the settled one (from 50 ms on 10.0 is measured, claim C07.5); the whole run has the first 20 ms in it, in which BCN comes down from line rate"
        }
        ("fecn", ..) => "A17 rate-averaging: FECN's average, return rule and stamping instant are assumed",
        _ => "A16 pause-scope",
    }
}

#[cfg(test)]
#[path = "c07_tests.rs"]
pub(super) mod tests;
