//! Notes on `[[class]]` tables.

use cnsim_scenario::Ready;
use cnsim_scenario::workload::SourcePlan;

/// Classes that nobody sends, but for those of a preset.
pub(super) fn silent(ready: &Ready) -> Option<String> {
    let settings = &ready.settings;
    let sent = |n: usize| {
        let plans = (0..settings.hosts()).flat_map(|host| settings.plans(host));
        plans.map(SourcePlan::class).any(|class| class == n)
    };
    let silent: Vec<&str> = (settings.classes.list.iter().enumerate())
        .filter(|(n, class)| !class.preset && !sent(*n))
        .map(|(_, class)| &*class.name)
        .collect();
    (!silent.is_empty()).then(|| {
        format!("nobody sends in class {}: name it in traffic.class, or remove its table", silent.join(", "))
    })
}
