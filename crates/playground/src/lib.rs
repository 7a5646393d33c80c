//! The simulator behind the playground page: a few settings in, one run out, as JSON.
//!
//! The program of this crate is built twice. Compiled for the target `wasm32-wasip1` it runs in the reader's browser, a fresh
//! instance for each run; compiled for this machine it prints the same text. A test compares the two, fingerprints included.

use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_job};
use cnsim_scenario::Scenario;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::tables;
use serde_json::{Value, json};

/// An experiment of the page: a scenario of the documents, and what of it can be moved.
struct Scene {
    /// Name of the scenario's file in `docs/playground`, without its ending.
    name: &'static str,
    text: &'static str,
    /// Schemes that the page offers; the first is the default.
    schemes: &'static [&'static str],
    /// PAUSE modes; the first is the default.
    pauses: &'static [&'static str],
    /// Words of the page, and the key that each sets; of parameters one for each scheme, empty where it has none.
    knobs: &'static [(&'static str, &'static [&'static str])],
    /// Flows where the page asks for no number.
    flows: u64,
    /// Further flows that are shown.
    others: &'static [&'static str],
    /// Parameter of each scheme at which a line is drawn into the queue's figure; empty for none.
    level: &'static [&'static str],
}

/// Most flows that the page asks for.
const MOST_FLOWS: u64 = 16;

const SCENES: [Scene; 2] = [
    Scene {
        name: "bottleneck",
        text: include_str!("../../../docs/playground/bottleneck.toml"),
        schemes: &["qcn-2pt", "qcn-802.1Qau"],
        pauses: &["off"],
        knobs: &[
            ("w", &["scheme.params.w", "scheme.params.cp_w"]),
            ("gd", &["scheme.params.gd", "scheme.params.rpg_gd"]),
            ("q_eq", &["scheme.params.q_eq", "scheme.params.cp_q_sp"]),
            ("loop_delay", &[tables::topology::LOOP_DELAY.path, tables::topology::LOOP_DELAY.path]),
        ],
        flows: 4,
        others: &[],
        level: &["q_eq", "cp_q_sp"],
    },
    Scene {
        name: "incast",
        text: include_str!("../../../docs/playground/incast.toml"),
        schemes: &["dcqcn", "none"],
        pauses: &["on", "off"],
        knobs: &[
            ("k_min", &["scheme.params.k_min", ""]),
            ("size", &["traffic.0.size", "traffic.0.size"]),
            ("link_delay", &[tables::topology::LINK_DELAY.path, tables::topology::LINK_DELAY.path]),
        ],
        flows: 8,
        others: &["H1>H17"],
        level: &["k_min", ""],
    },
];

/// What the page lets a reader move, each as text with its unit.
struct Settings {
    scene: &'static Scene,
    scheme: usize,
    pause: &'static str,
    /// In the order of the scene's knobs, where they are set.
    knobs: Vec<Option<String>>,
    flows: u64,
}

impl Settings {
    /// Reads words `key=value`: `scene`, `scheme`, `pause`, `flows`, and the knobs of the scene.
    fn read(words: &[String]) -> Result<Self, String> {
        let pairs: Vec<(&str, &str)> = words
            .iter()
            .map(|w| w.split_once('=').ok_or_else(|| format!("`{w}` has no `=`; write KEY=VALUE")))
            .collect::<Result<_, _>>()?;
        let one_of = |key: &str, value: &str, known: &[&'static str]| {
            let at = known.iter().position(|k| *k == value);
            at.ok_or_else(|| format!("{key} `{value}`: write {}", cnsim_problem::any_of(known)))
        };
        let names = SCENES.each_ref().map(|s| s.name);
        let asked = pairs.iter().find(|p| p.0 == "scene").map_or(Ok(0), |p| one_of("scene", p.1, &names))?;
        let scene = &SCENES[asked];
        let mut all = Self {
            scene,
            scheme: 0,
            pause: scene.pauses[0],
            knobs: vec![None; scene.knobs.len()],
            flows: scene.flows,
        };
        for (key, value) in pairs {
            match key {
                "scene" => {}
                "scheme" => all.scheme = one_of(key, value, scene.schemes)?,
                "pause" => all.pause = scene.pauses[one_of(key, value, scene.pauses)?],
                "flows" => {
                    let flows = value.parse().ok().filter(|n| (1..=MOST_FLOWS).contains(n));
                    all.flows = flows
                        .ok_or_else(|| format!("flows `{value}`: write a number from 1 to {MOST_FLOWS}"))?;
                }
                _ => match scene.knobs.iter().position(|k| k.0 == key) {
                    Some(at) => all.knobs[at] = Some(value.into()),
                    None => {
                        let knobs: Vec<&str> = scene.knobs.iter().map(|k| k.0).collect();
                        return Err(format!(
                            "`{key}` cannot be set; scene, scheme, pause, flows, {} can",
                            knobs.join(", ")
                        ));
                    }
                },
            }
        }
        Ok(all)
    }

    /// As keys of the scenario, what `--set` takes.
    fn sets(&self) -> Vec<(String, String)> {
        let knobs = self.scene.knobs.iter().zip(&self.knobs);
        let set = |(knob, value): (&(&str, &[&str]), &Option<String>)| {
            let key = knob.1[self.scheme];
            value.clone().filter(|_| !key.is_empty()).map(|v| (key.to_owned(), v))
        };
        let mut sets: Vec<_> = knobs.filter_map(set).collect();
        sets.push(match self.scene.name {
            "incast" => ("traffic.0.hosts".into(), format!("H1..H{}", self.flows)),
            _ => (tables::topology::HOSTS.path.into(), (self.flows + 1).to_string()),
        });
        sets
    }

    /// The flows that are shown.
    fn shown(&self) -> Vec<String> {
        let senders = (1..=self.flows).map(|n| format!("H{n}>H0"));
        senders.chain(self.scene.others.iter().map(|f| (*f).to_owned())).collect()
    }
}

/// Runs a scenario with these settings, words `key=value`. `scene` is `bottleneck` (the default) or `incast`; `scheme`, `pause` and
/// `flows` (1 to 16) go with both. Of the bottleneck `w`, `gd`, `q_eq` and `loop_delay` can be set, of the incast `k_min`, `size` and
/// `link_delay`, with their units. What is left out has its default.
///
/// The answer has the width of a bin in ms, the queue in KB and each flow's delivered rate in Gb/s bin by bin, some metrics, the
/// run's fingerprint, and the command that does the same run.
///
/// # Errors
/// A setting that cannot be read or does not fit, with reason and remedy.
pub fn answer(words: &[String]) -> Result<Value, String> {
    let settings = Settings::read(words)?;
    let (sets, scene) = (settings.sets(), settings.scene);
    let scheme = scene.schemes[settings.scheme];
    let shown: String = sets.iter().map(|(key, value)| format!(" --set {key}=\"{value}\"")).collect();
    let pause = if scene.pauses.len() > 1 { format!(" --pause {}", settings.pause) } else { String::new() };
    let command = format!("cnsim run docs/playground/{}.toml --scheme {scheme}{pause}{shown}", scene.name);
    let names: Vec<String> = settings.shown().iter().map(|f| format!("\"{f}\"")).collect();
    let mut sets = sets;
    sets.push((tables::record::FLOWS.path.into(), format!("[{}]", names.join(", "))));
    let registry = cnsim_schemes::registry();
    let file = format!("{}.toml", scene.name);
    let scenario =
        Scenario::parse_in(&registry, &file, scene.text, &sets, &[scheme]).map_err(cnsim_problem::told)?;
    let mut cases = scenario.cases().into_iter();
    let case = cases.find(|c| c.id.scheme == scheme && c.id.pause == settings.pause);
    let case = case.ok_or("the scenario has no such case")?;
    let ready = scenario.ready(&case).map_err(cnsim_problem::told)?;
    let job = Job::new(case, ready, 1);
    let record = run_job(&job, None, &Watch::default(), 1)?.ok_or("the run was stopped")?;
    Ok(told(&settings, &record, &command))
}

/// The answer as the page reads it.
fn told(settings: &Settings, record: &RunRecord, command: &str) -> Value {
    let curve = |name: &str| record.over_time.series.get(name);
    let metric = |name: &str| record.metrics.get(name);
    let rate = |flow: &String| {
        let mbps = curve(&format!("flow {flow}")).map(|c| c.values.as_slice()).unwrap_or_default();
        mbps.iter().map(|v| v / 1e3).collect::<Vec<f64>>()
    };
    let longest = |name: &str| {
        let named = record.traffic.iter().find(|t| t.name == name)?;
        named.metrics.get(Id::CompletionTimeP99)
    };
    json!({
        "bin": curve("hot_queue").map(|c| c.bin * 1e3),
        "queue": curve("hot_queue").map(|c| &c.values),
        "rates": settings.shown().iter().map(rate).collect::<Vec<_>>(),
        "flows": settings.shown(),
        "set_point": record.config.value(format!("scheme.params.{}", settings.scene.level[settings.scheme])),
        "throughput": metric(Id::Throughput.text()),
        "mean_queue": metric(Id::MeanHotQueue.text()),
        "largest_queue": metric(Id::QueueMax.text()),
        "fairness": metric(Id::Fairness.text()),
        "paused": metric(Id::TimePaused.text()),
        "finished": metric(Id::FinishedFlows.text()),
        "incast": longest("incast"),
        "victim": longest("victim"),
        "dropped_frames": metric(Id::DroppedFrames.text()),
        "messages": metric(Id::ControlMessages.text()),
        "packet_hops": record.execution.packet_hops,
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
            ("scene=circle", "bottleneck or incast"),
            ("scene=incast,w=2", "k_min"),
            ("scene=incast,pause=maybe", "on or off"),
        ] {
            let told = answer(&words(word)).unwrap_err();
            assert!(told.contains(part), "{word}: {told}");
        }
    }

    /// PAUSE alone stops the victim, DCQCN lets it pass.
    #[test]
    fn the_incast_has_a_victim() {
        let run = |text: &str| answer(&words(&format!("scene=incast,{text}"))).unwrap();
        let (stopped, spared) = (run("scheme=none"), run("scheme=dcqcn"));
        let time = |r: &Value, who: &str| r[who].as_f64().unwrap();
        assert!(time(&stopped, "victim") > 5.0 * time(&spared, "victim"), "{stopped} {spared}");
        assert!(time(&spared, "incast") > time(&stopped, "incast"), "the incast pays");
        assert_eq!(
            (spared["rates"].as_array().unwrap().len(), spared["set_point"].as_str()),
            (9, Some("60 KB"))
        );
        for moved in ["k_min=30 KB", "flows=4", "size=300 KB", "link_delay=3 us", "pause=off"] {
            assert_ne!(spared["fingerprint"], run(moved)["fingerprint"], "{moved}");
        }
        assert!(run("pause=off,scheme=none")["dropped_frames"].as_f64().unwrap() > 100.0);
    }
}
