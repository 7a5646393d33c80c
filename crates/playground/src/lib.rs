//! The simulator behind the playground page: a few settings in, one run out, as JSON.
//!
//! The program of this crate is built twice. Compiled for the target `wasm32-wasip1` it runs in the reader's browser, a fresh
//! instance for each run; compiled for this machine it prints the same text. A test compares the two, fingerprints included.

use cnsim_studies::scenario::Scenario;
use cnsim_studies::store::RunRecord;
use cnsim_studies::study::{Job, Watch, run_job};
use cnsim_studies::text::Problem;
use serde_json::{Value, json};

/// The scenario, a file of the documents.
pub const SCENARIO: &str = include_str!("../../../docs/playground/bottleneck.toml");

/// Most flows that the page asks for.
const MOST_FLOWS: u64 = 16;
/// Schemes that the page offers, and their names for W, G_d and Q_eq.
const SCHEMES: [(&str, [&str; 3]); 2] =
    [("qcn-2pt", ["w", "gd", "q_eq"]), ("qcn-802.1Qau", ["cp_w", "rpg_gd", "cp_q_sp"])];

/// What the page lets a reader move, each as text with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    scheme: usize,
    /// W, G_d, Q_eq, where they are set.
    control: [Option<String>; 3],
    flows: u64,
    loop_delay: Option<String>,
}

impl Settings {
    /// Reads words `key=value`: `scheme`, `w`, `gd`, `q_eq`, `flows`, `loop_delay`.
    fn read(words: &[String]) -> Result<Self, String> {
        let mut all = Self { scheme: 0, control: [None, None, None], flows: 4, loop_delay: None };
        for word in words {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("`{word}` has no `=`; write KEY=VALUE"))?;
            match key {
                "w" => all.control[0] = Some(value.into()),
                "gd" => all.control[1] = Some(value.into()),
                "q_eq" => all.control[2] = Some(value.into()),
                "loop_delay" => all.loop_delay = Some(value.into()),
                "scheme" => {
                    let found = SCHEMES.iter().position(|(name, _)| *name == value);
                    let names = SCHEMES.map(|(name, _)| name).join(" or ");
                    all.scheme = found.ok_or_else(|| format!("scheme `{value}`: write {names}"))?;
                }
                "flows" => {
                    let flows = value.parse().ok().filter(|n| (1..=MOST_FLOWS).contains(n));
                    all.flows = flows
                        .ok_or_else(|| format!("flows `{value}`: write a number from 1 to {MOST_FLOWS}"))?;
                }
                _ => {
                    return Err(format!(
                        "`{key}` cannot be set; scheme, w, gd, q_eq, flows and loop_delay can"
                    ));
                }
            }
        }
        Ok(all)
    }

    /// As keys of the scenario, what `--set` takes.
    fn sets(&self) -> Vec<(String, String)> {
        let (_, names) = SCHEMES[self.scheme];
        let control = names.iter().zip(&self.control);
        let control =
            control.filter_map(|(name, value)| Some((format!("scheme.params.{name}"), value.clone()?)));
        let mut sets: Vec<_> = control.collect();
        sets.push(("topology.hosts".into(), (self.flows + 1).to_string()));
        sets.extend(self.loop_delay.iter().map(|v| ("topology.loop_delay".to_owned(), v.clone())));
        sets
    }
}

/// Runs the scenario with these settings, words `key=value`: `scheme` (`qcn-2pt` or `qcn-802.1Qau`), `w`, `gd`, `q_eq`
/// (with unit), `flows` (1 to 16), `loop_delay` (with unit). What is left out has its default.
///
/// The answer has the width of a bin in ms, the queue in KB and each flow's delivered rate in Gb/s bin by bin, some metrics, the
/// run's fingerprint, and the command that does the same run.
///
/// # Errors
/// A setting that cannot be read or does not fit, with reason and remedy.
pub fn answer(words: &[String]) -> Result<Value, String> {
    let settings = Settings::read(words)?;
    let sets = settings.sets();
    let scheme = SCHEMES[settings.scheme].0;
    let shown: String = sets.iter().map(|(key, value)| format!(" --set {key}=\"{value}\"")).collect();
    let command = format!("cnsim run docs/playground/bottleneck.toml --scheme {scheme}{shown}");
    let names: Vec<String> = (1..=settings.flows).map(|n| format!("\"H{n}>H0\"")).collect();
    let mut sets = sets;
    sets.push(("record.flows".into(), format!("[{}]", names.join(", "))));
    let lines = |all: Vec<Problem>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let registry = cnsim_schemes::registry();
    let scenario =
        Scenario::parse_in(&registry, "bottleneck.toml", SCENARIO, &sets, &[scheme]).map_err(lines)?;
    let cases = scenario.cases();
    let case = cases.into_iter().find(|c| c.scheme == scheme).ok_or("the scenario has no such case")?;
    let ready = scenario.ready(&case).map_err(lines)?;
    let job = Job::new(&scenario, case, ready, 1);
    let record = run_job(&job, None, &Watch::default(), 1)?.ok_or("the run was stopped")?;
    Ok(told(&settings, &record, &command))
}

/// The answer as the page reads it.
fn told(settings: &Settings, record: &RunRecord, command: &str) -> Value {
    let curve = |name: &str| record.series.get(name);
    let metric = |name: &str| record.metrics.get(name).copied();
    let rate = |n: u64| {
        let mbps = curve(&format!("flow H{n}>H0")).map(|c| c.values.as_slice()).unwrap_or_default();
        mbps.iter().map(|v| v / 1e3).collect::<Vec<f64>>()
    };
    json!({
        "bin": curve("hot_queue").map(|c| c.bin * 1e3),
        "queue": curve("hot_queue").map(|c| &c.values),
        "rates": (1..=settings.flows).map(rate).collect::<Vec<_>>(),
        "set_point": record.config["scheme"]["params"][SCHEMES[settings.scheme].1[2]],
        "throughput": metric("throughput"),
        "mean_queue": metric("mean_hot_queue"),
        "largest_queue": metric("queue_max"),
        "fairness": metric("fairness"),
        "dropped_frames": metric("dropped_frames"),
        "messages": metric("control_messages"),
        "packet_hops": record.packet_hops,
        "fingerprint": record.fingerprint,
        "command": command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(',').filter(|w| !w.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn every_setting_moves_the_run_and_the_same_settings_do_not() {
        let run = |text: &str| answer(&words(text)).unwrap();
        let usual = run("");
        assert_eq!(usual["queue"], run("flows=4,scheme=qcn-2pt,loop_delay=10 us")["queue"], "the defaults");
        for moved in ["w=6", "gd=0.002", "q_eq=60 KB", "flows=5", "loop_delay=300 us", "scheme=qcn-802.1Qau"]
        {
            assert_ne!(usual["fingerprint"], run(moved)["fingerprint"], "{moved}");
        }
        let standard = run("scheme=qcn-802.1Qau");
        for moved in ["w=6", "gd=0.002", "q_eq=60 KB"] {
            let run = run(&format!("scheme=qcn-802.1Qau,{moved}"));
            assert_ne!(standard["fingerprint"], run["fingerprint"], "{moved}");
        }
    }

    #[test]
    fn the_answer_has_what_the_page_draws() {
        let run = answer(&words("flows=3,q_eq=40 KB")).unwrap();
        let queue = run["queue"].as_array().unwrap();
        let rates = run["rates"].as_array().unwrap();
        assert_eq!((queue.len(), rates.len(), rates[2].as_array().unwrap().len()), (500, 3, 500));
        assert_eq!(run["set_point"], "40 KB");
        let sum: f64 = rates.iter().map(|r| r[250].as_f64().unwrap()).sum();
        assert!(sum > 5.0 && sum < 10.1, "{sum} Gb/s");
        assert!(
            run["command"].as_str().unwrap().ends_with("--set topology.hosts=\"4\""),
            "{}",
            run["command"]
        );
    }

    #[test]
    fn a_setting_that_does_not_fit_is_told() {
        for (word, part) in [
            ("w", "has no `=`"),
            ("w=many", "w"),
            ("flows=17", "1 to 16"),
            ("flows=0", "1 to 16"),
            ("scheme=tcp", "qcn-2pt or qcn-802.1Qau"),
            ("speed=1", "cannot be set"),
            ("loop_delay=1 us", "loop_delay"),
        ] {
            let told = answer(&words(word)).unwrap_err();
            assert!(told.contains(part), "{word}: {told}");
        }
    }
}
