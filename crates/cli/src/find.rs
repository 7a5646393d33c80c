//! Everything that has a name, for questions that name it wrongly or by another kind.

use crate::Failure;
use cnsim_papers::PAPERS;
use cnsim_scenario::EMBEDDED;
use cnsim_scenario::assumptions::ASSUMPTIONS;
use cnsim_scenario::keys::{KEYS, Key};
use cnsim_scenario::metrics::METRICS;
use cnsim_scheme_api::{Gauge, Registration, Registry};
use std::collections::BTreeSet;

/// Most things that an answer names.
const MOST: usize = 6;

/// Something that can be asked for.
pub(crate) struct Thing {
    kind: &'static str,
    name: String,
    about: String,
    /// Further text in which a word may be found.
    more: String,
}

/// All there are.
pub(crate) fn things(registry: &Registry) -> Vec<Thing> {
    let thing = |kind, name: &str, about: &str| Thing {
        kind,
        name: name.into(),
        about: about.into(),
        more: String::new(),
    };
    let scheme = |e: &Registration| Thing { more: e.about.clone(), ..thing("scheme", &e.name, &e.title) };
    let mut all: Vec<Thing> = registry.iter().map(|e| scheme(e)).collect();
    all.extend(PAPERS.iter().map(|p| thing("study", p.id, p.title)));
    all.extend(EMBEDDED.iter().map(|(id, _)| thing("scenario", id, "")));
    all.extend(METRICS.iter().map(|m| thing("metric", m.id, m.about)));
    all.extend(ASSUMPTIONS.iter().map(|a| thing("assumption", a.name, a.about)));
    all.extend(PAPERS.iter().flat_map(|p| p.claims).map(|c| thing("claim", c.id, c.text)));
    all.extend(KEYS.iter().map(|k| thing("key", k.path, k.doc)));
    // What several schemes have stands there once, with the words of the first.
    let params = registry.iter().flat_map(|e| &e.params).map(|p| thing("parameter", &p.key, &p.doc));
    let counters = registry.iter().flat_map(|e| &e.counters).map(|c| thing("counter", &c.name, &c.meaning));
    let gauges = registry.iter().flat_map(|e| &e.gauges);
    let gauges = gauges.map(|g| thing("gauge", &g.name, "a value that schemes show of themselves"));
    let mut seen = BTreeSet::new();
    let mine = params.chain(counters).chain(gauges);
    all.extend(mine.filter(|t| seen.insert((t.kind, t.name.clone()))));
    all
}

/// Terms of the field, as the manual has them.
const GLOSSARY: &str = include_str!("../../../docs/reference/glossary.md");

/// A term by one of its names (`CNP`, `congestion notification packet`), and its meaning.
pub(crate) fn term(word: &str) -> Option<(String, String)> {
    let plain = |t: &str| t.trim().to_lowercase();
    let rows = GLOSSARY.lines().filter_map(|l| l.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let mut rows = rows.filter(|(term, _)| *term != "term" && !term.starts_with('-'));
    let word = plain(word);
    // One of its names, or the plural of one.
    let same = |t: String| !t.is_empty() && (t == word || word.strip_suffix('s') == Some(&t));
    let named = |term: &str| term.split([',', '(', ')']).map(plain).any(same);
    let begins = |term: &str| plain(term).starts_with(&(word.clone() + "'s "));
    let (term, meaning) = rows.find(|(term, _)| named(term) || begins(term))?;
    Some((term.to_owned(), meaning.replace('`', "")))
}

/// The gauge of this name, and the schemes that have it.
pub(crate) fn gauge<'a>(registry: &'a Registry, name: &str) -> Option<(&'a Gauge, Vec<&'a str>)> {
    let of = |e: &'a Registration| e.gauges.iter().find(|g| g.name.eq_ignore_ascii_case(name));
    let having: Vec<(&Gauge, &str)> =
        registry.iter().filter_map(|e| Some((of(e)?, e.name.as_str()))).collect();
    Some((having.first()?.0, having.iter().map(|h| h.1).collect()))
}

/// A table of the scenario file by its name, with its keys; `[[traffic]]` is one.
pub(crate) fn table(what: &str) -> Option<(&'static str, Vec<&'static Key>)> {
    let name = what.trim_matches(['[', ']', ' ']);
    let mine = |k: &&Key| k.path.split_once('.').is_some_and(|(t, _)| t == name);
    let keys: Vec<&Key> = KEYS.iter().filter(mine).collect();
    let name = keys.first()?.path.split_once('.')?.0;
    Some((name, keys))
}

/// The error for an unknown name, with the nearest names of any kind. Texts with the word go first, then names that contain it,
/// then names of similar spelling.
pub(crate) fn unknown(registry: &Registry, word: &str) -> Failure {
    let all = things(registry);
    let small = word.to_lowercase();
    let named = |t: &&Thing| t.name.to_lowercase().contains(&small);
    let told = |t: &&Thing| {
        let text = format!("{} {} {}", t.name, t.about, t.more).to_lowercase();
        text.split(|c: char| !c.is_alphanumeric()).any(|w| w == small)
    };
    let mut near: Vec<&Thing> = Vec::new();
    if small.len() > 1 {
        near.extend(all.iter().filter(told));
        near.extend(all.iter().filter(|t| named(t) && !told(t)));
    }
    if near.is_empty() {
        // A scenario may be called by its name without its study.
        let short = |t: &Thing| t.name.rsplit('/').next().map(str::to_string);
        let names: Vec<String> =
            all.iter().flat_map(|t| [Some(t.name.clone()), short(t)]).flatten().collect();
        let alike = cnsim_problem::nearest(word, names.iter().map(String::as_str));
        let meant = cnsim_scenario::meant::metric(word);
        near.extend(all.iter().filter(|t| t.kind == "metric" && meant == Some(t.name.as_str())));
        near.extend(all.iter().filter(|t| {
            meant != Some(t.name.as_str())
                && alike.is_some_and(|a| a == t.name || short(t).as_deref() == Some(a))
        }));
    }
    let shown = |t: &&Thing| {
        let colon = if t.about.is_empty() { "" } else { ": " };
        format!("\n    cnsim explain {}  ({}){colon}{}", t.name, t.kind, t.about)
    };
    let list: String = near.iter().take(MOST).map(shown).collect();
    let head = "there is no scheme, study, scenario, metric, assumption, claim, counter, parameter or key";
    Failure::input(match list.is_empty() {
        true => format!(
            "{head} `{word}`\n  help: `cnsim list schemes|scenarios|studies|metrics|assumptions` shows them"
        ),
        false => format!("{head} `{word}`\n  help: did you mean{list}"),
    })
}

/// The keys that have this last word, but those of arrays of tables.
pub(crate) fn keys_named(word: &str) -> impl Iterator<Item = &'static Key> {
    let tables = cnsim_scenario::keys::TABLES;
    let ends = move |k: &&Key| {
        k.path.rsplit_once('.').is_some_and(|(table, leaf)| leaf == word && !tables.contains(&table))
    };
    KEYS.iter().filter(ends)
}

/// A key by its last word, where only one thing has that name: `k_min` is `scheme.params.k_min`, `link_delay` is
/// `topology.link_delay`. A scheme's parameter may lack the first word: `dcqcn.k_min` is `scheme.dcqcn.k_min`. Anything else is
/// itself.
pub(crate) fn whole_key(registry: &Registry, key: &str) -> String {
    let key = key.trim();
    if let Some((name, param)) = key.split_once('.')
        && registry.find(name).is_some_and(|e| e.param(param).is_some())
    {
        return format!("scheme.{key}");
    }
    if key.contains('.') || cnsim_scenario::keys::find(key).is_some() {
        return key.into();
    }
    if cnsim_scenario::assumptions::find(key).is_some() {
        return cnsim_runs::grid::canonical_key(key);
    }
    let mut found: Vec<String> = keys_named(key).map(|k| k.path.into()).collect();
    if registry.iter().any(|e| e.param(key).is_some()) {
        found.push(format!("scheme.params.{key}"));
    }
    match found.pop() {
        Some(one) if found.is_empty() => one,
        _ => key.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_finds_its_key() {
        let registry = cnsim_schemes::registry();
        for (short, whole) in [
            ("k_min", "scheme.params.k_min"),
            ("link_delay", "topology.link_delay"),
            ("efr", "scheme.params.efr"),
            ("hotspot.rate", "hotspot.rate"),
            ("dcqcn.k_min", "scheme.dcqcn.k_min"),
            ("ecm.k_min", "ecm.k_min"),
            ("start", "start"),
            ("name", "name"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(whole_key(&registry, short), whole);
        }
    }

    #[test]
    fn any_kind_is_found() {
        let registry = cnsim_schemes::registry();
        for (word, near) in [
            ("ecn", "explain dcqcn"),
            ("dcqc", "explain dcqcn"),
            ("queue_maxx", "explain queue_max"),
            ("fct_p99", "explain completion_time_p99"),
        ] {
            let Failure::Input(text) = unknown(&registry, word) else { panic!() };
            assert!(text.contains(near), "{word}: {text}");
        }
    }

    #[test]
    fn a_gauge_is_found() {
        let mut registry = cnsim_schemes::registry();
        let ecm = registry.find("ecm").unwrap();
        let mut mine = (**ecm).clone();
        (mine.name, mine.aliases) = ("mine".into(), Vec::new());
        let mine = mine.counting(Vec::new(), vec![Gauge::new("fairness", "%")]);
        registry.register(mine).unwrap();
        let (found, schemes) = gauge(&registry, "Fairness").unwrap();
        assert_eq!((&*found.unit, schemes), ("%", vec!["mine"]));
        assert!(gauge(&registry, "fairnesses").is_none());
        let Failure::Input(text) = unknown(&registry, "fairnes") else { panic!() };
        assert!(text.contains("explain fairness"), "{text}");
    }

    #[test]
    fn terms_of_the_field_are_explained() {
        for (word, meaning) in [
            ("pfc", "priority flow control"),
            ("FCT", "completion_time_p99"),
            ("ecn", "mark in a data frame"),
            ("cp", "watches itself"),
            ("xon", "go on"),
            ("pause", "stop and go"),
            ("jain", "fairness"),
            ("nack", "go-back-n"),
            ("Queue pairs", "finite flow"),
            ("acks", "confirms"),
            ("RTO", "transport.rto"),
            ("bdp", "base round-trip time"),
            ("int", "HPCC reads"),
            ("roce", "RDMA"),
            ("deadlock", "circle"),
        ] {
            let (term, found) = term(word).unwrap_or_default();
            assert!(found.contains(meaning) || term.contains(meaning), "{word}: {term}: {found}");
        }
        assert_eq!((term("term"), term("qqq"), term("")), (None, None, None));
    }

    /// Words that users of other simulators ask for name the keys that stand for them here.
    #[test]
    fn words_of_other_simulators_are_explained() {
        for (word, keys) in [
            ("ecmp", &["topology.routing = \"flow-hash\""][..]),
            ("spraying", &["\"frame-hash\"", "\"round-robin\""]),
            ("class", &["control.transport", "transport.ack_class"]),
            ("tcp", &["transport.kind = \"tcp\"", "newreno", "cubic", "dctcp"]),
            ("collective", &["workload.algorithm", "collectives.csv"]),
            ("dependent transfer", &["after", "workload.transfers"]),
            ("nics", &["topology.nic", "paused_hosts"]),
            ("Rails", &["topology.kind = \"rails\"", "#1", "#2"]),
            ("dual-ToR", &["topology.kind = \"dual-tor\""]),
            ("query", &["workload.kind = \"query\"", "query_time"]),
            ("RACK", &["transport.recovery = \"rack\"", "RFC 8985", "transport.probe"]),
            ("goal", &["workload.kind = \"graph\"", "rank r"]),
            ("critical path", &["critical_path.csv", "network_share"]),
            ("straggler", &["straggler_time"]),
            ("bus bandwidth", &["nccl-tests"]),
            ("link failure", &["rate = \"0 Gb/s\"", "loss = \"100 %\""]),
            ("capture", &["--pcap", "--trace"]),
            ("reuse", &["run.reuse", "run.draws"]),
            ("packet loss", &["[[event]]", "loss", "lose", "transport.kind"]),
        ] {
            let (term, meaning) = term(word).unwrap_or_else(|| panic!("{word}"));
            for key in keys {
                assert!(meaning.contains(key), "{key} of {term}: {meaning}");
            }
        }
    }

    /// Each term of a lossless fabric has a meaning of its own, in short sentences.
    #[test]
    fn terms_of_lossless_fabrics_are_explained() {
        let words = [
            "shared buffer", "reserve", "pool", "headroom", "alpha", "XOFF", "XON", "PFC", "PAUSE", "victim",
            "root", "watchdog", "storm", "deadlock", "dynamic threshold", "lossless",
            "head-of-line blocking", "congestion spreading",
        ];
        let mut meanings = BTreeSet::new();
        for word in words {
            let (term, meaning) = term(word).unwrap_or_else(|| panic!("{word}"));
            for sentence in meaning.split(['.', ':', ';']) {
                assert!(sentence.split_whitespace().count() <= 25, "{term}: {sentence}");
            }
            assert!(meanings.insert(meaning), "{word} and another word have one meaning");
        }
        for (word, names) in [
            ("shared buffers", "switch.buffer"),
            ("pool", "shared_max"),
            ("alpha", "switch.alpha"),
            ("reserve", "switch.reserve"),
            ("headroom", "cnsim headroom"),
            ("root", "cnsim explain-pause"),
            ("storms", "watchdog.detect"),
            ("DT", "switch.threshold"),
            ("victims", "victim_time"),
        ] {
            assert!(term(word).is_some_and(|t| t.1.contains(names)), "{word}: {names}");
        }
    }

    /// A letter is in every text: only names that are spelled alike are offered; keys are found as all else.
    #[test]
    fn a_letter_is_no_word() {
        let registry = cnsim_schemes::registry();
        let of = |word: &str| match unknown(&registry, word) {
            Failure::Input(text) => text,
            _ => panic!(),
        };
        let text = of("a");
        let names: BTreeSet<&str> =
            text.split("\n    cnsim ").skip(1).filter_map(|l| l.split(' ').nth(1)).collect();
        assert!(names.len() <= 1, "{text}");
        assert!(
            of("topology.hosst").contains("cnsim explain topology.hosts  (key)"),
            "{}",
            of("topology.hosst")
        );
        assert!(of("single-hopp").contains("cnsim explain B07/single-hop  (scenario)"));
        assert!(of("qqqqqqqqq").contains("cnsim list schemes"));
    }
}
