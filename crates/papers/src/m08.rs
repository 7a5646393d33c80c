//! M08: QCN with serial HAI: PAUSE and delay.

use super::Paper;
use crate::claims::{Claim, Evidence, Parts, Values, at_most, claim, less};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables::topology::LOOP_DELAY;
use cnsim_scheme_api::Time;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "M08",
    title: "QCN with serial HAI: PAUSE and delay",
    citation: "B. Matthews, B. Kwan, A. Lakshmikantha, Initial QCN Serial HAI Results: Effects of PAUSE and RTT Delay, IEEE 802.1Qau interim, January 2008",
    summary: "Does QCN with serial hyperactive increase keep innocent flows going beside PAUSE, and how long may its control loop be?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[
    claim("M08.1", "table", "QCN with PAUSE keeps innocent flows going", innocents),
    claim("M08.2", "table", "QCN tolerates delay up to 500 us", delay),
    claim("M08.3", "table", "drops grow with delay, and with the number of sources", drops),
    claim("M08.4", "figure", "the hot queue settles at the set point", set_point),
    claim(
        "M08.5",
        "table",
        "PAUSE alone follows the share of time that the period leaves congested",
        congested_share,
    ),
];

const QCN: &str = "qcn-serial-hai";
const PERIODS: [&str; 5] = ["25 ms", "80 ms", "125 ms", "150 ms", "200 ms"];
const DELAYS: [&str; 4] = ["8 us", "100 us", "500 us", "1 ms"];

/// Utilisation by innocent flows at a period.
fn utilisation(e: &Evidence<'_>, period: &str, scheme: &str) -> Values {
    let condition = format!("congestion {period} on/off");
    e.runs("multi-hop-periodic", &condition, "on", scheme).metric(Id::InnocentFlowUtilization)
}

/// A metric of the symmetric runs at a delay.
fn symmetric(e: &Evidence<'_>, sources: u32, delay: &str, metric: &str) -> Values {
    let condition = format!("control loop delay {delay}");
    e.runs(&format!("symmetric-{sources}-to-1"), &condition, "off", QCN).metric(metric)
}

fn innocents(e: &Evidence<'_>, parts: &mut Parts) {
    for period in PERIODS {
        let (with, alone) = (utilisation(e, period, QCN), utilisation(e, period, "none"));
        parts.add(with.at_least(90.0), format!("{period}: {:.2} % with QCN", with.mean()));
        parts.add(alone.at_most(70.0), format!("{period}: {:.2} % with PAUSE alone", alone.mean()));
    }
}

fn delay(e: &Evidence<'_>, parts: &mut Parts) {
    let at = |delay| symmetric(e, 4, delay, Id::Throughput.text());
    for delay in &DELAYS[..3] {
        parts.add(at(delay).at_least(9.4), format!("{delay}: {:.3} Gb/s", at(delay).mean()));
    }
    let text = format!("1 ms: {:.2} Gb/s, less than half of that at 500 us", at("1 ms").mean());
    parts.add(at_most(2.0, &at("1 ms"), &at("500 us")), text);
    for delay in ["500 us", "1 ms"] {
        let condition = format!("control loop delay {delay}, without TR/8");
        let runs = e.runs("symmetric-4-to-1", &condition, "off", QCN);
        let (rate, lost) = (runs.metric(Id::Throughput), runs.metric(Id::DroppedFrames));
        if !rate.is_empty() {
            let (rate, lost) = (rate.mean(), lost.mean());
            parts.show(format!("without the TR/8 rule at {delay}: {rate:.2} Gb/s, {lost:.0} drops"));
        }
    }
}

fn drops(e: &Evidence<'_>, parts: &mut Parts) {
    for sources in [4, 16] {
        for pair in DELAYS.windows(2) {
            let at = |delay| symmetric(e, sources, delay, Id::DroppedFrames.text());
            let (a, b) = (at(pair[0]), at(pair[1]));
            let text =
                format!("{sources} to 1: {:.0} at {}, {:.0} at {}", a.mean(), pair[0], b.mean(), pair[1]);
            parts.add(less(&a, &b), text);
        }
    }
    for delay in DELAYS {
        let at = |sources| symmetric(e, sources, delay, Id::DroppedFrames.text());
        let (few, many) = (at(4), at(16));
        let text = format!("{delay}: {:.0} with 4, {:.0} with 16", few.mean(), many.mean());
        parts.add(less(&few, &many), text);
    }
}

/// Mean of a series between two moments, seconds.
fn mean_between(run: &RunRecord, series: &str, from: f64, to: f64) -> Option<f64> {
    let curve = run.over_time.series.get(series)?;
    let at = |t: f64| ((t / curve.bin).round() as usize).min(curve.values.len());
    let part = curve.values.get(at(from)..at(to)).filter(|p| !p.is_empty())?;
    Some(part.iter().sum::<f64>() / part.len() as f64)
}

fn set_point(e: &Evidence<'_>, parts: &mut Parts) {
    /// Q_EQ of the study, KB.
    const SET_POINT: f64 = 26.0;
    let runs = e.runs("multi-hop-800ms", "hotspot 0.5 Gb/s", "off", QCN);
    let queue = runs.each(|r| mean_between(r, "hot_queue", 0.1, 0.81));
    let rate = runs.each(|r| mean_between(r, Id::HotPortThroughput.text(), 0.1, 0.81));
    let text = format!("mean queue from 100 to 810 ms {:.1} KB, set point {SET_POINT} KB", queue.mean());
    parts.add(queue.within(0.5 * SET_POINT, 1.5 * SET_POINT), text);
    let text = format!("hot port {:.1} of 500 Mb/s", rate.mean() * 1e3);
    parts.add(rate.at_least(0.95 * 0.5), text);
}

fn congested_share(e: &Evidence<'_>, parts: &mut Parts) {
    let at = |period| utilisation(e, period, "none");
    let (short, long) = (PERIODS[0], PERIODS[4]);
    for period in &PERIODS[1..] {
        let text = format!("{:.2} % at {short}, {:.2} % at {period}", at(short).mean(), at(period).mean());
        parts.add(less(&at(period), &at(short)), text);
    }
    for period in &PERIODS[1..4] {
        let text = format!("{:.2} % at {long}, {:.2} % at {period}", at(long).mean(), at(period).mean());
        parts.add(less(&at(long), &at(period)), text);
    }
}

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(run: &RunRecord, metric: Id) -> &'static str {
    match (run.case.scenario.as_str(), run.case.scheme.as_str(), metric) {
        ("multi-hop-periodic", "none", _) => {
            "A30 periodic-start: when the port is first slow decides the share of the run that is congested; A1 source-queue adds a little after each congestion"
        }
        ("multi-hop-periodic", ..) => {
            "A2 limiter-queue: with 100 frames a limiter in place of 10 the innocents get 0.4 to 2.6 points more; A3 limiter-position at the source gives less"
        }
        (_, QCN, Id::DroppedFrames) if run.config.read(LOOP_DELAY) != Some(Time::from_ms(1)) => {
            "A33 mark-interval: an interval that follows the present frame sees the start-up at once and brings the drops at 8, 100 and 500 us nearer; the periodic rows then go away"
        }
        (_, QCN, Id::DroppedFrames) => {
            "A13 sample-dropped and A31 loop-delay: how soon the first messages reach the senders decides the loss of the start"
        }
        (_, QCN, _) => "A32 tr-over-8: the first cycle after a cut decides how long a recovery takes",
        _ => "A1 source-queue",
    }
}

#[cfg(test)]
#[path = "m08_tests.rs"]
pub(super) mod tests;
