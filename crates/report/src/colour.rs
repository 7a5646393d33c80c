//! One colour per scheme in all figures, and other colours for everything that is no scheme.
//!
//! Slots 0 to 7 are the schemes': 0 grey, 1 blue, 2 vermillion, 3 green, 4 orange, 5 sky, 6 brown, 7 olive. Schemes that a
//! study compares never share one. Slots 8 to 15 run from violet to pink: settings, flows and ports. So no colour means
//! a scheme in one figure and a setting in the next.

use crate::model::{Page, Report, Trace};
use std::collections::BTreeMap;

/// The slot of a trace of all others together: grey.
pub(crate) const REST: u8 = 32;

/// The slots of all schemes. Those without a colour of their own, but with rows, have the same on every page, and none of a scheme
/// beside them while others are left.
pub(crate) fn schemes(report: &Report) -> BTreeMap<String, u8> {
    let rows = || report.pages.iter().flat_map(|p| &p.tables).flat_map(|t| &t.rows).map(|r| &r.scheme);
    let mut found = report.colours.clone();
    let mut order = [4, 5, 6, 7, 3, 1, 2];
    order.sort_by_key(|slot| rows().any(|scheme| found.get(scheme) == Some(slot)));
    for scheme in rows() {
        let next = order[(found.len() - report.colours.len()) % order.len()];
        found.entry(scheme.clone()).or_insert(next);
    }
    found
}

/// Slots of a page's traces and rows.
#[derive(Debug, Default)]
pub(crate) struct Colours {
    slots: BTreeMap<String, (u8, u8)>,
}

impl Colours {
    /// Slots and dashes of a page: who shares a colour on it has another dash.
    pub(crate) fn of(page: &Page, schemes: &BTreeMap<String, u8>) -> Self {
        let rows = page.tables.iter().flat_map(|t| &t.rows).map(|r| r.scheme.as_str());
        // Traces with a slot have their looks already.
        let traces = page.figures.iter().flat_map(|f| &f.traces).filter(|t| t.slot.is_none());
        let names: Vec<&str> = rows.chain(traces.map(|t| t.name.as_str())).collect();
        let fixed = |name: &str| schemes.get(name).copied();
        let mut taken = [0_u8; 16];
        let mut slots: BTreeMap<String, (u8, u8)> = BTreeMap::new();
        for own in [true, false] {
            for &name in &names {
                let fixed = fixed(name);
                if slots.contains_key(name) || fixed.is_some() != own {
                    continue;
                }
                let free = || (8..16).min_by_key(|s: &u8| taken[usize::from(*s)]);
                let slot = fixed.or_else(free).unwrap_or(0);
                slots.insert(name.into(), (slot, taken[usize::from(slot)] % 4));
                taken[usize::from(slot)] = taken[usize::from(slot)].saturating_add(1);
            }
        }
        Self { slots }
    }

    /// Slot and dash of a name.
    pub(crate) fn get(&self, name: &str) -> (u8, u8) {
        self.slots.get(name).copied().unwrap_or((0, 0))
    }

    /// Slot and dash of a trace.
    pub(crate) fn trace(&self, trace: &Trace) -> (u8, u8) {
        match trace.slot {
            None => self.get(&trace.name),
            Some(REST) => (0, 0),
            Some(s) => (8 + s % 8, s / 8 % 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Figure, Row, Table};

    #[test]
    fn schemes_of_a_scenario_differ() {
        for (id, _) in cnsim_scenario::EMBEDDED {
            let scenario = cnsim_scenario::Scenario::load(id, &[]).unwrap();
            let all = crate::build::colours(scenario.registry());
            let mut named: Vec<String> = scenario.cases().into_iter().map(|c| c.id.scheme).collect();
            named.sort_unstable();
            named.dedup();
            let mut colours: Vec<u8> = named.iter().map(|name| all[name]).collect();
            colours.sort_unstable();
            colours.dedup();
            assert_eq!(colours.len(), named.len(), "{id}: {named:?}");
        }
    }

    #[test]
    fn a_stranger_beside_a_known_scheme_has_another_colour() {
        let rows = ["dcqcn", "rocc", "qcn-h", "pcn", "rocc"];
        let rows = rows.map(|scheme| Row { scheme: scheme.into(), ..Row::default() }).to_vec();
        let page = Page { tables: vec![Table { rows, ..Table::default() }], ..Page::default() };
        let colours = BTreeMap::from([("dcqcn".into(), 4), ("qcn-h".into(), 5), ("ecm".into(), 6)]);
        let all = schemes(&Report { pages: vec![page], colours: colours.clone(), ..Report::default() });
        let strangers: Vec<_> = all.into_iter().filter(|(name, _)| !colours.contains_key(name)).collect();
        assert_eq!(strangers, [("pcn".into(), 7), ("rocc".into(), 6)], "4 and 5 are taken");
    }

    #[test]
    fn names_get_their_own_looks() {
        let names = ["none", "ecm", "RTT 0", "RTT 10 us", "RTT 100 us", "a", "b", "c", "d", "e"];
        let traces = names.iter().map(|n| Trace { name: (*n).into(), ..Trace::default() }).collect();
        let page = Page { figures: vec![Figure { traces, ..Figure::default() }], ..Page::default() };
        let colours = Colours::of(&page, &[("none", 0), ("ecm", 2)].map(|(n, c)| (n.to_string(), c)).into());
        let mut looks: Vec<(u8, u8)> = names.iter().map(|n| colours.get(n)).collect();
        assert_eq!(&looks[..3], [(0, 0), (2, 0), (8, 0)]);
        assert!(looks[2..].iter().all(|l| l.0 >= 8), "what is no scheme has no scheme's colour");
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), names.len());
    }
}
