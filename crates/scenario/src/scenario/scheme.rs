//! The scheme of a case, built from the scenario's settings.

use super::Scenario;
use crate::language::text::{Flat, Place};
use crate::settings::Steered;
use crate::tables::{host, transport};
use cnsim_problem::Problem;
use cnsim_scheme_api::registry::{Configured, PRESET};
use cnsim_scheme_api::{Above, Acks, Rate, Registration};
use std::sync::Arc;

/// A scenario's settings of a scheme.
struct Setting<'a> {
    /// The command line goes before the file, and the scheme's own value before that of all schemes.
    rank: (bool, bool),
    key: &'a str,
    text: String,
    path: &'a str,
}

/// All settings of a scheme in a scenario, in rising order of priority.
fn settings<'a>(flat: &'a Flat, entry: &Registration) -> Vec<Setting<'a>> {
    let mut found = Vec::new();
    for (path, leaf) in &flat.leaves {
        let shared = path.strip_prefix("scheme.params.").filter(|k| entry.reads(k));
        // By any name of the scheme, which may hold a dot itself.
        let own = path
            .strip_prefix("scheme.")
            .and_then(|p| p.rsplit_once('.'))
            .filter(|(owner, _)| entry.is_called(owner));
        if let Some(key) = own.map(|o| o.1).or(shared) {
            let rank = (leaf.place.is_typed(), own.is_some());
            found.push(Setting { rank, key, text: leaf.items.join("; "), path });
        }
    }
    found.sort_by_key(|f| f.rank);
    found
}

/// The note on a scheme whose defaults are made for much slower or faster links.
fn misfit(
    entry: &Registration,
    rate: Rate,
    set: &[Setting<'_>],
    idle: &[(String, String)],
) -> Option<String> {
    let made_for = entry.made_for?;
    let factor = rate.bps() / made_for.bps();
    let preset = entry.presets.first()?;
    // Parameters that depend on the rate. A user who has set half of them knows the others.
    let usual = (preset.values)(made_for);
    let mut scaled: Vec<&str> =
        (preset.values)(rate).iter().filter(|v| !usual.contains(v)).map(|v| v.0).collect();
    scaled.retain(|key| idle.iter().all(|i| i.0 != *key));
    let own: Vec<&str> = scaled.iter().copied().filter(|key| set.iter().any(|s| s.key == *key)).collect();
    let chosen = set.iter().any(|s| s.key == PRESET) || !own.is_empty() && 2 * own.len() >= scaled.len();
    let fits = (0.5..=2.0).contains(&factor) || rate == Rate::ZERO || chosen;
    let but = if own.is_empty() { String::new() } else { format!(" but for {}", own.join(" and ")) };
    (!fits).then(|| {
        format!(
            "{0} runs with its defaults{but}, which are made for links of {made_for}; those of the hosts have {rate}. \
             scheme.{0}.{PRESET} = \"{1}\" fits them: see `cnsim explain {0}`",
            entry.name, preset.name
        )
    })
}

/// Frames with which flows of a scheme begin, where it says so.
pub(super) fn initial(built: &Configured) -> u64 {
    let value = built.values.iter().find(|value| value.0 == "initial_window");
    value.and_then(|value| value.1.parse().ok()).unwrap_or_default()
}

impl Scenario {
    /// Puts the scheme of `transport.congestion` above a case's, if that sets no windows: `built` is then both. Its parameters join
    /// `values`, each by its path.
    pub(super) fn put_above(
        &self,
        flat: &Flat,
        (built, values): (&mut Configured, &mut Vec<(String, String)>),
        rate: Option<Rate>,
        acknowledged: bool,
        problems: &mut Vec<Problem>,
    ) {
        const KEY: &str = transport::CONGESTION.path;
        let word = |key: &str| flat.leaves.get(key).and_then(|l| l.items.first().cloned());
        let Some(name) = word(KEY).filter(|name| name != "scheme") else { return };
        let per_flow = word(host::QUEUES.path).is_some_and(|queues| queues == "per-flow");
        if !per_flow || built.scheme.plan().acks != Acks::Optional {
            return;
        }
        let Some(entry) = self.registry.find(&name) else {
            let remedy = crate::language::meant::scheme(&self.registry, &name);
            let reason = format!("there is no scheme `{name}`");
            return problems.push(flat.at(KEY, reason, format!("{remedy}`cnsim list schemes` shows them")));
        };
        let Some((window, _)) = self.scheme(flat, &entry.name, rate, acknowledged, problems) else { return };
        match Above::of(window.scheme.clone(), built.scheme.clone()) {
            Ok(both) => {
                built.windowless = Some(Arc::new(both.without_window()));
                built.scheme = Arc::new(both);
            }
            Err((reason, remedy)) => return problems.push(flat.at(KEY, reason, remedy)),
        }
        let path = |(key, value): (String, String)| (format!("scheme.{}.{key}", entry.name), value);
        *values = window.values.into_iter().map(path).collect();
    }

    /// The schemes that `[[class]]` tables name beside the case's, by table.
    pub(super) fn class_schemes(
        &self,
        flat: &Flat,
        rate: Option<Rate>,
        acknowledged: bool,
        problems: &mut Vec<Problem>,
    ) -> Vec<Option<(Steered, Configured)>> {
        let mut of = |table: String| {
            let word = flat.leaves.get(&format!("{table}.scheme"))?.items.first()?;
            let entry = self.registry.find(word).filter(|entry| entry.name != "none")?;
            let (built, _) = self.scheme(flat, &entry.name, rate, acknowledged, problems)?;
            let (plan, initial) = (built.scheme.plan(), initial(&built));
            Some((Steered { name: entry.name.clone(), plan, initial, classes: Vec::new() }, built))
        };
        flat.tables("class").into_iter().map(&mut of).collect()
    }

    /// Builds a scheme from `scheme.params` (those it knows) and `scheme.NAME` (all), with a note where its defaults do not fit.
    /// A preset takes the rate of the hosts' links, and whether the network acknowledges frames where the scheme asks for it.
    pub(super) fn scheme(
        &self,
        flat: &Flat,
        name: &str,
        rate: Option<Rate>,
        acknowledged: bool,
        problems: &mut Vec<Problem>,
    ) -> Option<(Configured, Option<String>)> {
        let entry = self.registry.find(name)?;
        let found = settings(flat, entry);
        let mut pairs: Vec<(String, String)> = Vec::new();
        if let Some(asked) = found.iter().rfind(|s| s.key == PRESET && entry.reads(PRESET)) {
            let Some(preset) = entry.preset(&asked.text) else {
                let known: Vec<&str> = entry.presets.iter().map(|p| p.name).collect();
                problems.push(flat.at(
                    asked.path,
                    format!("{name} has no preset `{}`", asked.text),
                    format!("known: {}; `cnsim explain {name}` shows them", known.join(", ")),
                ));
                return None;
            };
            pairs.extend(
                preset.settings(rate?, acknowledged).into_iter().map(|(key, text)| (key.to_string(), text)),
            );
        }
        let own = found.iter().filter(|s| s.key != PRESET || !entry.reads(PRESET));
        pairs.extend(own.map(|s| (s.key.to_string(), s.text.clone())));
        let path_of = |key: &str| found.iter().rfind(|s| s.key == key).map(|s| s.path);
        match entry.build(&pairs) {
            Ok(built) => {
                let written = |path: &&str| flat.leaves.get(*path).is_some_and(|l| l.place != Place::Config);
                for (key, why) in &built.idle {
                    if let Some(path) = path_of(key).filter(written) {
                        problems.push(flat.at(
                            path,
                            format!("has no effect: {why}"),
                            "remove it, or change the other setting",
                        ));
                    }
                }
                let note = rate.and_then(|rate| misfit(entry, rate, &found, &built.idle));
                Some((built, note))
            }
            Err(e) => {
                let path = path_of(&e.key).unwrap_or_default();
                // A name may be a factor in one scheme and a rate in another.
                let reason = match path.starts_with("scheme.params.") {
                    true => format!("{} (as {name} reads it)", e.reason),
                    false => e.reason,
                };
                problems.push(flat.at(path, reason, e.remedy));
                None
            }
        }
    }
}
