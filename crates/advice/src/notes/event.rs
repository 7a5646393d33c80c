//! Notes on `[[event]]`, `[[fault]]` and `[hotspot]`: ports that are slowed, links that lose, PAUSE without a cause.

use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::config::Config;
use cnsim_scenario::metrics::Id;

/// A port that is slowed down, and to which nothing is sent.
pub(super) fn in_vain(ready: &Ready) -> Option<String> {
    let ports = ready.settings.slowed_in_vain();
    (!ports.is_empty()).then(|| {
        format!(
            "nothing is sent through {}, which is slowed down: name a port that traffic passes, or add its host to the destinations",
            ports.join(", ")
        )
    })
}

/// Is a port slowed on purpose, so that its senders must wait, and is no latency compared?
pub(super) fn slowed(r: &RunRecord) -> bool {
    let hotspot = r.config.has_hotspot();
    let event = r.config.keys().any(|(k, _)| k.starts_with("event."));
    (hotspot || event) && r.metrics.get(Id::LatencyP99).is_none()
}

/// Do links lose acknowledgements, or does PAUSE stop frames for longer than a timeout, because a table asks for it?
pub(super) fn stops(config: &Config) -> bool {
    let loses = |k: &str| k.starts_with("event.") && (k.ends_with(".loss") || k.ends_with(".lose"));
    config.keys().any(|(k, _)| k.starts_with("fault.") || loses(k))
}
