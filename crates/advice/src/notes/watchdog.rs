//! Notes on `[watchdog]`.

use cnsim_fabric::WatchdogSpec;
use cnsim_scenario::Ready;
use cnsim_units::Time;

/// Times of detection in the field are longer, of some hundreds of ms.
const FIELD: Time = Time::from_ms(100);

/// A note on watchdog times that are shorter than those of the field.
pub(super) fn scaled_down(ready: &Ready) -> Vec<String> {
    let short = ready.settings.watchdog.iter().filter(|w| w.detect < FIELD);
    short.map(|WatchdogSpec { detect, restore, .. }| {
        format!(
            "the watchdogs' times are scaled down: detect {detect} and restore {restore}, where those of the field are some hundreds of ms"
        )
    })
    .collect()
}
