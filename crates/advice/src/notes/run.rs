//! Notes on `[run]`: seeds.

use super::sum;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::columns::RANKED;
use cnsim_scenario::metrics::Id;

/// One seed of traffic that is drawn.
pub fn few_seeds(ready: &Ready, seeds: u64) -> Option<String> {
    let own = !super::of_others(ready.config.text("study").unwrap_or_default());
    (own && seeds == 1 && ready.settings.is_drawn()).then(|| {
        "the traffic is drawn by one seed alone, so a difference may be chance and has no interval: set run.seeds = 5, or use --seeds 5".into()
    })
}

/// An interval that is wider than its value.
pub(super) fn wide(case: &[&RunRecord]) -> Option<String> {
    // Collectives and queries are ranked by their time, not by that of their parts.
    let whole = |id: &&Id| matches!(id, Id::JobTime | Id::QueryTime);
    let timed = RANKED.iter().filter(whole).any(|id| sum(case, id).is_some());
    RANKED.iter().filter(|id| !timed || whole(id)).find_map(|id| {
        let values: Vec<f64> = case.iter().filter_map(|r| r.metrics.get(id)).collect();
        let metric = id.row();
        let id = metric.id;
        let summary = Summary::of_metric(metric, &values)?;
        let summary = summary.bounded(case.iter().any(|r| r.metrics.at_least(id)));
        let (low, high) = summary.confidence()?;
        (high - low > summary.mean && summary.mean > 0.0).then(|| {
            format!(
                "the interval of {id}, {} to {} {}, is wider than its mean of {}: run more than {} seeds (--seeds {})",
                digits(low),
                digits(high),
                metric.unit,
                digits(summary.mean),
                summary.n,
                4 * summary.n
            )
        })
    })
}
