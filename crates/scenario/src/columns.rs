//! Which metrics are shown where, in their order. The columns of the published tables (`printed`) and those of a user's own experiment
//! (`own`) stand in the rows of the metrics.

use crate::metrics::Id;

/// Points beside a baseline, where no metric is asked for.
pub const COMPARED: &[Id] = &[
    Id::JobTime,
    Id::BusBandwidth,
    Id::StragglerTime,
    Id::QueryTime,
    Id::QueryTimeP99,
    Id::FinishedFlows,
    Id::DroppedFrames,
    Id::CompletionTimeP99,
    Id::CompletionTimeP50,
    Id::SlowdownP99,
    Id::Goodput,
    Id::AggregateThroughput,
    Id::HotPortThroughput,
    Id::TimePaused,
    Id::QueueMax,
    Id::MeanHotQueue,
    Id::LatencyP99,
    Id::Overhead,
];

/// Traffic by name: unfinished flows first, then tails before means.
pub const OF_TRAFFIC: &[Id] = &[
    Id::FinishedFlows,
    Id::DroppedFrames,
    Id::CompletionTimeP99,
    Id::CompletionTimeP50,
    Id::SlowdownP99,
    Id::SlowdownP50,
    Id::Goodput,
    Id::AggregateThroughput,
    Id::TimePaused,
    Id::QueueMax,
    Id::ResentShare,
    Id::Timeouts,
];

/// Metrics that rank schemes: notes examine their intervals.
pub const RANKED: &[Id] = &[
    Id::JobTime,
    Id::QueryTime,
    Id::CompletionTimeP99,
    Id::CompletionTimeP50,
    Id::Goodput,
    Id::AggregateThroughput,
    Id::HotPortThroughput,
];

/// Figures of percentiles: heading, title of the vertical axis, and the bars with their metrics.
pub const PERCENTILES: &[(&str, &str, &[(&str, Id)])] = &[
    (
        "Completion times of transfers",
        "completion time",
        &[
            ("median", Id::CompletionTimeP50),
            ("mean", Id::CompletionTime),
            ("90 %", Id::CompletionTimeP90),
            ("99 %", Id::CompletionTimeP99),
            ("slowest", Id::CompletionTimeMax),
        ],
    ),
    (
        "Latency of frames",
        "latency",
        &[("median", Id::LatencyP50), ("99 %", Id::LatencyP99), ("99.9 %", Id::LatencyP999)],
    ),
];
