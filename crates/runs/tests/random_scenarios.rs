//! Random valid scenarios: what is accepted runs, keeps the laws, gives the same bits on both engines and on threads, costs what was
//! estimated, reads back from its configuration, and does not change where only names or scales do.
//!
//! `CNSIM_RANDOM=1000000 cargo test --profile try -p cnsim-runs --test random_scenarios` tries as many (`make soak`). A scenario
//! that fails is made small, printed, and written to `tests/kept/`; what stands there runs first, for ever.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../scenario/tests/dice/mod.rs"]
mod dice;

use cnsim_fabric::{Engine, Options, Outcome, RunError};
use cnsim_measure::pauses::Forest;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, record};
use cnsim_scenario::{Case, Ready, Scenario};
use cnsim_units::Time;
use dice::scenario::scenario;
use dice::seasoned::seasoned;
use dice::{Dice, kept, tries};

/// Packet-hops beyond which a run is left alone: messages can make many more of them than there are data frames.
const LONG: u64 = 60_000;

/// Runs a scenario; none where that would take long.
fn run(ready: &Ready, engine: Engine, threads: usize) -> Result<Option<Outcome>, String> {
    let spec = ready.settings.spec(&ready.built, 7, false);
    let short = |_, hops: u64| hops < LONG;
    match cnsim_fabric::run(&spec, &Options { engine, threads, progress: Some(&short), ..Options::default() })
    {
        Ok(out) => Ok((out.packet_hops < LONG).then_some(out.results())),
        Err(RunError::Stopped) => Ok(None),
        Err(e) => Err(e.to_string()),
    }
}

/// A scenario that is accepted, with its only case.
fn read(text: &str) -> Result<(Scenario, Case, Ready), String> {
    let scenario = Scenario::parse("random.toml", text, &[]).map_err(|p| p[0].to_string())?;
    let case = scenario.cases().remove(0);
    let ready = scenario.ready(&case).map_err(|p| format!("check passes, run refuses: {}", p[0]))?;
    Ok((scenario, case, ready))
}

/// What must hold of an accepted scenario; says what does not. None: it was not accepted.
fn complaint(text: &str) -> Option<String> {
    let (scenario, case, ready) = match read(text) {
        Err(e) if e.starts_with("check passes") => return Some(e),
        Err(_) => return None,
        Ok(all) => all,
    };
    match laws(&scenario, &case, &ready, text) {
        Ok(()) => Some(String::new()),
        Err(e) => Some(e),
    }
}

fn laws(scenario: &Scenario, case: &Case, ready: &Ready, text: &str) -> Result<(), String> {
    let estimate = ready.estimate();
    if estimate.packet_hops > LONG as f64 || estimate.memory > 60e6 {
        return Ok(());
    }
    let Some(one) = run(ready, Engine::Fast, 1)? else { return Ok(()) };
    // Threads meet in every turn, of which a long run of few frames has very many.
    let brief = one.duration < Time::from_ms(5);
    let ways = [(Engine::Model, 1, "the oracle"), (Engine::Fast, 3, "three threads")];
    for (engine, threads, name) in ways.into_iter().filter(|w| w.1 == 1 || brief) {
        let Some(other) = run(ready, engine, threads)? else { return Err(format!("{name}: more hops")) };
        if format!("{other:?}") != format!("{one:?}") {
            return Err(format!("{name}: another outcome"));
        }
    }
    let job = Job::new(case.clone(), ready.clone(), 7);
    let r = record(&job, &one);
    for (id, value) in &r.metrics.values() {
        let share =
            ["time_paused", "bottleneck_utilization", "innocent_flow_utilization"].contains(&id.as_str());
        if !value.is_finite() || (share && !(-1e-9..=100.0 + 1e-6).contains(value)) {
            return Err(format!("{id} is {value}"));
        }
    }
    stopped(&r, &one)?;
    for (i, h) in one.hosts.iter().enumerate() {
        let most = ready.settings.wiring.access(i).map_or(0.0, |l| l.rate.bps()) * one.duration.as_secs_f64();
        if h.delivered_bits as f64 > most + 9216.0 * 8.0 {
            return Err(format!("host {i} received more than its link carries"));
        }
    }
    // The configuration is the scenario again.
    let (copy, same) = Scenario::from_config(scenario.registry(), &ready.config)
        .map_err(|p| format!("from its configuration: {}", p[0]))?;
    let again = copy.ready(&same).map_err(|p| format!("from its configuration: {}", p[0]))?;
    if again.config != ready.config {
        return Err("its configuration reads back as another".into());
    }
    renamed(text, &one)?;
    with_an_idle_host(text, &one)?;
    scaled(text, &one)?;
    // What go-back-N sends again is not foreseen.
    if text.contains("go-back-n") { Ok(()) } else { estimated(ready, &one) }
}

/// The trees of PAUSE share out the time that transmitters stood, to the picosecond; a shared buffer holds no more than it can.
fn stopped(r: &RunRecord, one: &Outcome) -> Result<(), String> {
    let ports = one.switches.iter().flat_map(|s| &s.ports).map(|p| p.paused.as_ps()).sum::<u64>();
    let stood = ports + one.hosts.iter().map(|h| h.pause.time.as_ps()).sum::<u64>();
    if let Some(stops) = r.over_time.pauses.as_ref().filter(|stops| stops.left_out == 0) {
        let trees: u64 = Forest::of(stops, |_| true).roots.iter().map(|root| root.time).sum();
        if (trees, stops.total()) != (stood, stood) {
            return Err(format!("{stood} ps in XOFF, {} ps kept, {trees} ps in the trees", stops.total()));
        }
    }
    let over = |part: (u64, u64)| part.0 > part.1;
    match r.shared.iter().find(|s| over(s.reserve) || over(s.pool) || over(s.headroom)) {
        Some(s) => Err(format!("more than the shared buffer can hold: {s:?}")),
        None => Ok(()),
    }
}

/// Other names of hosts: the same run.
fn renamed(text: &str, one: &Outcome) -> Result<(), String> {
    if ["hotspot.host", "\"H1\"", "\"graph\"", "edges"].iter().any(|named| text.contains(named)) {
        return Ok(());
    }
    let (_, _, named) = read(&format!("topology.first = 1\n{text}"))?;
    match run(&named, Engine::Fast, 1)? {
        Some(other) if other.fingerprint == one.fingerprint => Ok(()),
        _ => Err("hosts renamed: another fingerprint".into()),
    }
}

/// One host more, that neither sends nor receives: each of the others sends and receives what it did.
fn with_an_idle_host(text: &str, one: &Outcome) -> Result<(), String> {
    let plain = text.contains("\"single-switch\"") && text.contains("[\"none\"]") && text.contains("\"+1\"");
    // An input more takes a part of a shared buffer, and finite flows are drawn for all hosts together.
    if !plain || ["hotspot", "\"shared\"", "workload.size"].iter().any(|w| text.contains(w)) {
        return Ok(());
    }
    let hosts = one.hosts.len();
    let (source, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.starts_with("workload."));
    let source = source.join("\n").replace("workload.", "");
    let rest = rest.join("\n");
    let traffic = format!("\n[[traffic]]\nhosts = \"H0..H{}\"\n{source}\n", hosts - 2);
    let grown =
        rest.replace(&format!("topology.hosts = {hosts}"), &format!("topology.hosts = {}", hosts + 1));
    let (_, _, few) = read(&(rest + &traffic))?;
    let (_, _, more) = read(&(grown + &traffic))?;
    let all = |o: Option<Outcome>| o.map(|o| format!("{:?}", &o.hosts[..hosts]));
    match all(run(&few, Engine::Fast, 1)?) == all(run(&more, Engine::Fast, 1)?) {
        true => Ok(()),
        false => Err("an idle host added: the others did something else".into()),
    }
}

/// Packet-hops and memory are near what was estimated. Below some thousand hops the first and the last frames decide.
fn estimated(ready: &Ready, one: &Outcome) -> Result<(), String> {
    let data = (one.packet_hops - one.control_hops) as f64;
    let most = 3.0 * ready.estimate().packet_hops + 2000.0;
    match data <= most {
        true => Ok(()),
        false => Err(format!("{data} packet-hops of data, {} estimated", ready.estimate().packet_hops)),
    }
}

/// Twice the rates with frames and memories of twice the bytes: the same at every moment, in numbers of frames. Not where
/// something has a size of its own: PAUSE frames, and what schemes send.
fn scaled(text: &str, one: &Outcome) -> Result<(), String> {
    let plain =
        text.contains("pause.mode = \"off\"") && text.contains("[\"none\"]") && !text.contains("\"graph\"");
    let sized = ["9216 B", "10 Tb/s", "\"shared\"", "workload.size"];
    if !plain || sized.iter().any(|w| text.contains(w)) {
        return Ok(());
    }
    let double = |line: &str| -> String {
        let keys = ["topology.link_rate", "switch.share", "switch.output_limit", "workload.frame"];
        let Some((key, value)) = line.split_once(" = ").filter(|(k, _)| keys.contains(k)) else {
            return line.into();
        };
        let (number, unit) = value.trim_matches('"').split_once(' ').unwrap();
        format!("{key} = \"{} {unit}\"", number.parse::<f64>().unwrap() * 2.0)
    };
    let twice: Vec<String> = text.lines().map(double).collect();
    let (_, _, ready) = read(&(twice.join("\n") + "\n"))?;
    let Some(two) = run(&ready, Engine::Fast, 1)? else {
        return Err("rates and sizes doubled: more hops".into());
    };
    let frames = |o: &Outcome| -> Vec<u64> { o.hosts.iter().map(|h| h.delivered).collect() };
    if frames(&two) != frames(one) || two.packet_hops != one.packet_hops {
        return Err("rates and sizes doubled: other numbers of frames".into());
    }
    Ok(())
}

/// Leaves out lines as long as it still fails.
fn small(text: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut i = 0;
    while i < lines.len() {
        let mut less = lines.clone();
        less.remove(i);
        if fails(&(less.join("\n") + "\n")) { lines = less } else { i += 1 }
    }
    lines.join("\n") + "\n"
}

#[test]
fn accepted_scenarios_keep_the_laws() {
    for (name, bytes) in kept("kept") {
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(complaint(&text).unwrap_or_default(), "", "{name}");
    }
    let all = tries("CNSIM_RANDOM", 80);
    let mut accepted = 0;
    for seed in dice::first()..dice::first() + all {
        let text = scenario(&mut Dice::new(seed));
        match complaint(&text) {
            None => {}
            Some(what) if what.is_empty() => accepted += 1,
            Some(what) => {
                let less = small(&text, &|t| complaint(t).is_some_and(|c| !c.is_empty()));
                let path = dice::keep("kept", &format!("random-{seed}.toml"), less.as_bytes());
                panic!("scenario {seed}: {what}\nmade small in {path}:\n{less}");
            }
        }
    }
    assert!(
        accepted * 10 > all * 6,
        "only {accepted} of {all} were accepted: the generator knows the keys no longer"
    );
}

/// What is wrong with a scenario that `check` accepts: it does not run, or runs otherwise from its configuration. Nothing of one that is
/// long.
fn fault(text: &str) -> Option<String> {
    let (scenario, _, ready) = match read(text) {
        Err(e) => return Some(e).filter(|e| e.starts_with("check passes")),
        Ok(all) => all,
    };
    let spec = |ready: &Ready| format!("{:?}", ready.settings.spec(&ready.built, 7, false));
    let copied = Scenario::from_config(scenario.registry(), &ready.config)
        .and_then(|(copy, same)| copy.ready(&same))
        .map_err(|p| format!("verify refuses it: {}", p[0]));
    match copied {
        Err(e) => return Some(e),
        Ok(again) if again.config != ready.config || spec(&again) != spec(&ready) => {
            return Some("verify runs another scenario".into());
        }
        Ok(_) => {}
    }
    let estimate = ready.estimate();
    if estimate.packet_hops > LONG as f64 || estimate.memory > 60e6 || estimate.seconds > 0.3 {
        return None;
    }
    let tried = |engine| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&ready, engine, 1)))
            .unwrap_or_else(|_| Err(format!("{engine:?} panics")))
    };
    match (tried(Engine::Fast), tried(Engine::Model)) {
        (Err(e), _) | (_, Err(e)) => Some(format!("check passes, run says: {e}")),
        (Ok(Some(fast)), Ok(Some(model))) if format!("{fast:?}") != format!("{model:?}") => {
            Some("the engines differ".into())
        }
        _ => None,
    }
}

/// Any keys with any values: where `check` is content, `run` and `verify` are.
#[test]
fn what_is_accepted_runs_and_verifies() {
    for seed in dice::first()..dice::first() + tries("CNSIM_RANDOM", 60) {
        let d = &mut Dice::new(seed ^ 1 << 40);
        let plain = scenario(d);
        let text = seasoned(d, plain, 30);
        if let Some(what) = fault(&text) {
            let less = small(&text, &|t| fault(t).is_some());
            let path = dice::keep("kept", &format!("seasoned-{seed}.toml"), less.as_bytes());
            panic!("scenario {seed}: {what}\nmade small in {path}:\n{less}");
        }
    }
}

/// Each of these is drawn, and accepted, often enough to be tried.
#[test]
fn what_is_drawn_is_accepted() {
    let words = [
        "switch.buffer = \"shared\"", "switch.freed", "switch.threshold", "switch.headroom", "per-flow",
        "go-back-n", "transport.window = \"bdp\"", "kind = \"xoff\"", "kind = \"slow\"",
        "watchdog.action = \"drop\"", "polled-80", "pause.response", "record.pauses = \"on\"", "\"poisson\"",
        "\"incast\"", "workload.kind = \"permutation\"", "\"selective\"", "\"rack\"", "\"newreno\"",
        "\"sack\"", "loss = ",
    ];
    let all: Vec<String> = (0..400).map(|seed| scenario(&mut Dice::new(seed))).collect();
    let accepted: Vec<&String> = all.iter().filter(|text| read(text).is_ok()).collect();
    for word in words {
        let n = accepted.iter().filter(|text| text.contains(word)).count();
        assert!(n >= 3, "{word}: {n} of {}", accepted.len());
    }
}
