//! Congestion-management schemes, one file each in the terms of its paper, and the list that registers them.

pub mod af_qcn;
pub mod becn;
pub mod counters;
pub mod cubic;
pub mod dcqcn;
mod dcqcn_presets;
pub mod dctcp;
pub mod e2cm;
pub mod ecm;
pub mod explicit_rate;
pub mod fb_hat;
pub mod fecn;
pub mod hpcc;
pub mod newreno;
pub mod none;
pub mod qcn_2pt;
pub mod qcn_3pt;
pub mod qcn_8021qau;
pub mod qcn_probing;
pub mod qcn_serial_hai;
mod queue_pair;
pub mod swift;
mod tcp;
pub mod timely;

use cnsim_scheme_api::registry::Code;
use cnsim_scheme_api::{Registration, Registry};
use std::sync::{Arc, OnceLock};

/// The schemes of this crate, in the order of the studies. Each is registered in its own file. Schemes that a study compares differ in
/// their colours.
fn registrations() -> Vec<Registration> {
    let coloured = |(scheme, colour): (Registration, u8)| scheme.colour(colour);
    let mut all = vec![none::registration().colour(0)];
    all.extend(ecm::registrations().map(|scheme| scheme.colour(2)));
    all.extend([
        qcn_2pt::registration().colour(1),
        qcn_3pt::registration().colour(3),
        dcqcn::registration().colour(4),
        qcn_serial_hai::registration().colour(6),
        qcn_8021qau::registration().colour(5),
        af_qcn::registration(),
        fb_hat::registration().colour(5),
    ]);
    all.extend(qcn_probing::registrations().into_iter().zip([4, 6, 3, 7, 0]).map(coloured));
    all.extend(e2cm::registrations().into_iter().zip([7, 4]).map(coloured));
    all.extend([becn::registration().colour(1), fecn::registration().colour(3)]);
    all.extend([dctcp::registration().colour(7), hpcc::registration().colour(1)]);
    all.extend(timely::registrations().into_iter().zip([3, 6]).map(coloured));
    all.push(swift::registration().colour(5));
    all.extend([newreno::registration().colour(7), cubic::registration().colour(4)]);
    all
}

/// A registry of these schemes, to which others can be added.
pub fn registry() -> Registry {
    // The registry is asked for often, and a copy is cheap.
    static OURS: OnceLock<Registry> = OnceLock::new();
    let ours = || {
        let mut registry = Registry::default();
        for scheme in registrations() {
            // The names differ: a test looks.
            let _ = registry.register(scheme.code(Code::Known));
        }
        registry
    };
    OURS.get_or_init(ours).clone()
}

/// Finds one of these schemes by name or alias, whatever its case.
pub fn find(name: &str) -> Option<Arc<Registration>> {
    registry().find(name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{Faults, Loopback, conformance_over};
    use cnsim_scheme_api::{Feedback, Rate, Scheme, Time};
    use std::collections::BTreeSet;

    /// The scheme with these settings, as often as the suite asks for one.
    fn fresh(entry: &Registration, pairs: &[(String, String)]) -> Box<dyn Scheme> {
        Box::new(entry.build(pairs).unwrap().scheme)
    }

    #[test]
    fn names_differ() {
        assert_eq!(registry().iter().count(), registrations().len());
    }

    /// The suite's loop brings each scheme the messages that it lives on: probes are answered, tags returned.
    #[test]
    fn loops_carry_each_format() {
        let kind = |f: &Feedback| match f {
            Feedback::Ecm { .. } => "ecm",
            Feedback::Cnm { .. } => "cnm",
            Feedback::Reflection => "reflection",
            Feedback::AdvertisedRate { .. } => "advertised",
            Feedback::ReturnedRate { .. } => "returned",
            Feedback::Cnp => "cnp",
            Feedback::ProbeReply { .. } => "reply",
            _ => "other",
        };
        for entry in registry().iter() {
            let make = || fresh(entry, &[]);
            let mut l = Loopback::new(&make, Rate::from_gbps(10.0), 1, Faults::default());
            let mut seen = BTreeSet::new();
            for step in 0..40_000u64 {
                let queue = if step % 8000 < 4000 { 60_000 + step * 7919 % 190_000 } else { 3000 };
                l.others(15, queue);
                l.step(Time::from_us(12), queue);
                seen.extend(l.last.iter().map(kind));
            }
            let expected: &[&str] = match entry.name.as_str() {
                "none" => &[],
                "bcn" | "ecm" => &["ecm"],
                "qcn-3pt" => &["cnm", "reflection"],
                "qcn-2pt" | "qcn-h" | "qcn-serial-hai" | "qcn-802.1Qau" | "af-qcn" => &["cnm"],
                "qcn-p" | "qcn-hp" | "qcn-sp" | "qcn-hsp" | "qcn-pp" => &["cnm", "reply"],
                "e2cm-src" | "e2cm-dst" => &["ecm", "reply"],
                "becn" => &["advertised"],
                "fecn" => &["returned"],
                "dcqcn" => &["cnp"],
                _ => continue,
            };
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected, "{}", entry.name);
        }
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        for entry in registry().iter() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                for written in [name.clone(), name.to_ascii_lowercase(), name.to_ascii_uppercase()] {
                    assert_eq!(find(&written).map(|e| e.name.clone()), Some(entry.name.clone()), "{written}");
                }
            }
        }
        assert_eq!(find("qcn-802.1qau").unwrap().name, "qcn-802.1Qau");
        assert!(find("qcn-802").is_none());
    }

    #[test]
    fn every_number_has_a_range() {
        for entry in registry().iter() {
            // A table of marks is neither a number nor a choice: each of its rows is checked as it is read.
            for i in entry.params.iter().filter(|i| !i.kind.contains("marks of a rate")) {
                let numeric = i.range.low.is_some() && i.range.high.is_some();
                assert_eq!(numeric, i.range.choices.is_empty(), "{}.{}: {}", entry.name, i.key, i.range);
            }
        }
    }

    /// With its defaults, and with each parameter alone at the ends of its range.
    #[test]
    fn every_scheme_conforms() {
        let mut broken = Vec::new();
        for entry in registry().iter() {
            let found = conformance_over(entry).err().unwrap_or_default();
            broken.extend(found.iter().map(|b| format!("{}: {b}", entry.name)));
        }
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    }

    #[test]
    fn every_parameter_reads_back() {
        for entry in registry().iter() {
            for i in &entry.params {
                let built = entry.build(&[(i.key.clone(), i.default.clone())]);
                let built = built.unwrap_or_else(|e| panic!("{}.{}: {e}", entry.name, i.key));
                assert!(
                    built.values.iter().any(|(k, v)| *k == i.key && *v == i.default),
                    "{}.{}",
                    entry.name,
                    i.key
                );
            }
            assert!(entry.name == "none" || entry.about.contains("Sources"), "{}", entry.name);
        }
    }
}
