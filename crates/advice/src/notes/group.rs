//! Notes on `[[group]]`.

use cnsim_scenario::Ready;

/// A scheme that no host runs that sends.
pub(super) fn idle_scheme(ready: &Ready) -> Option<String> {
    (ready.scheme != "none" && ready.settings.all_bare()).then(|| {
        format!(
            "no host that sends runs {}: the [[group]] tables take all of them out of it; name fewer hosts there",
            ready.scheme
        )
    })
}
