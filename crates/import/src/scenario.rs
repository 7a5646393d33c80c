//! Files of other simulators as scenarios: TOML that a person can read and change.

use super::hpcc::{Config, Translated};
use super::{Fabric, FlowList, Form, ImportError, error, hpcc};
use cnsim_problem::{MAX_FILE, Position, Problem, read_file};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files to import: a configuration that names others, or these themselves.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Configuration of the HPCC fork.
    pub hpcc: Option<PathBuf>,
    /// Topology, in place of the one that the configuration names.
    pub topology: Option<PathBuf>,
    /// Flows, in place of those that the configuration names.
    pub flows: Option<PathBuf>,
}

/// A scenario from files of another simulator.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario, as TOML.
    pub text: String,
    /// Differences from the other simulator, a sentence each.
    pub notes: Vec<String>,
    source: PathBuf,
    translated: Translated,
    faults: Vec<Problem>,
}

impl Imported {
    /// Faults of the configuration, whose lines the scenario leaves out. It is valid only without them.
    pub fn faults(&self) -> &[Problem] {
        &self.faults
    }

    /// The configuration, or else the topology.
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The line of the configuration, and its key there, that decides a key of the scenario.
    pub fn origin(&self, key: &str) -> Option<(usize, &str)> {
        self.translated.from.get(key).map(|(line, key)| (*line, key.as_str()))
    }
}

/// The fault in a line, as a problem of its file.
fn problem(file: &Path, e: ImportError) -> Problem {
    let position = Some(Position { line: e.line.max(1), column: e.column });
    let file = file.display().to_string();
    Problem { position, key: e.key, ..Problem::of_file(&file, e.reason, e.remedy) }
}

/// The faults of a file, as its problems.
fn problems(file: &Path, all: Vec<ImportError>) -> Vec<Problem> {
    all.into_iter().map(|e| problem(file, e)).collect()
}

fn read_text(path: &Path) -> Result<String, Vec<Problem>> {
    let help = "give the path of a text file";
    read_file(path, MAX_FILE).map_err(|why| vec![Problem::unread(&path.display().to_string(), why, help)])
}

/// A file that a configuration names: from here, from the configuration's folder or the one above, or by its bare name beside it.
fn find(config: &Path, key: &str, name: &str, line: usize) -> Result<PathBuf, Problem> {
    let dir = config.parent().unwrap_or(Path::new(""));
    let above = dir.parent().unwrap_or(Path::new(""));
    let bare = Path::new(name).file_name().unwrap_or_default();
    let places = [PathBuf::from(name), dir.join(name), above.join(name), dir.join(bare)];
    places.iter().find(|p| p.is_file()).cloned().ok_or_else(|| {
        let option = if key == "TOPOLOGY_FILE" { "--topology" } else { "--flows" };
        let reason =
            format!("names `{name}`, and there is no such file from here or beside the configuration");
        let remedy = format!("name the file by {option}");
        problem(config, ImportError { key: key.into(), ..error(line, reason, remedy) })
    })
}

/// A text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Files of another simulator, as they were read.
struct Network {
    topology: (PathBuf, Form),
    flows: (PathBuf, Form),
    fabric: Fabric,
    list: FlowList,
}

impl Network {
    /// Reads the files that the options or the configuration name, with all their faults.
    fn read(files: &Files, config: Option<(&Path, &Translated)>) -> Result<Self, Vec<Problem>> {
        let named = |own: &Option<PathBuf>, key: &str, option: &str| match (own, config) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some((path, t))) => {
                let (name, of) = match key {
                    "TOPOLOGY_FILE" => (&t.topology, "topology.file"),
                    _ => (&t.flows, "workload.file"),
                };
                find(path, key, name, t.from.get(of).map_or(t.last, |f| f.0))
            }
            (None, None) => Err(Problem::of_file("import", format!("{option} is missing"), "name the file")),
        };
        let mut wrong = Vec::new();
        // A configuration that names no file is at fault already.
        let lacks = |own: &Option<PathBuf>, name: fn(&Translated) -> &String| {
            own.is_none() && config.is_some_and(|(_, t)| name(t).is_empty())
        };
        let mut open = |own: &Option<PathBuf>, key: &str, option: &str| {
            let read = named(own, key, option).map_err(|p| vec![p]);
            let read = read.and_then(|path| Ok((read_text(&path)?, path)));
            read.map_err(|all| wrong.extend(all)).ok().map(|(text, path)| (Form::of(&text), text, path))
        };
        let topology = match lacks(&files.topology, |t| &t.topology) {
            true => None,
            false => open(&files.topology, "TOPOLOGY_FILE", "--topology"),
        };
        let flows = match lacks(&files.flows, |t| &t.flows) {
            true => None,
            false => open(&files.flows, "FLOW_FILE", "--flows"),
        };
        let fabric = topology.as_ref().and_then(|(form, text, path)| {
            super::topology(*form, text).map_err(|all| wrong.extend(problems(path, all))).ok()
        });
        let list = flows.as_ref().and_then(|(form, text, path)| {
            let read = super::flows(*form, text, fabric.as_ref());
            read.map_err(|all| wrong.extend(problems(path, all))).ok()
        });
        match (topology, flows, fabric, list) {
            (Some(topology), Some(flows), Some(fabric), Some(list)) if wrong.is_empty() => {
                let network =
                    Self { topology: (topology.2, topology.0), flows: (flows.2, flows.0), fabric, list };
                network.joined().map_err(|p| vec![p])?;
                Ok(network)
            }
            _ => Err(wrong),
        }
    }

    /// Refuses links between two hosts, and flows between hosts that no path joins: hosts do not forward.
    fn joined(&self) -> Result<(), Problem> {
        let hosts: BTreeSet<&String> = self.fabric.hosts.iter().collect();
        let is_host = |name: &String| hosts.contains(name);
        if let Some(l) = self.fabric.links.iter().find(|l| is_host(&l.a) && is_host(&l.b)) {
            let reason = format!("{} and {}, two hosts, are linked directly", l.a, l.b);
            return Err(problem(&self.topology.0, error(l.line, reason, "put a switch between them")));
        }
        let mut parts = Parts::of(&self.fabric);
        match self.list.flows.iter().find(|f| !parts.joins(&f.src, &f.dst)) {
            None => Ok(()),
            Some(f) => {
                let remedy = self.fabric.unread.as_ref().map_or_else(
                    || "link their switches in the topology".to_string(),
                    |unread| format!("in {}, {unread}", self.topology.0.display()),
                );
                let reason = format!("there is no path from {} to {}", f.src, f.dst);
                Err(problem(&self.flows.0, error(f.line, reason, remedy)))
            }
        }
    }
}

/// The parts of a network that links between switches join, and the switches of its hosts.
struct Parts<'a> {
    number: BTreeMap<&'a str, usize>,
    /// By node, another of its part, or itself; a host is a part of its own.
    next: Vec<usize>,
    /// By node, the switches of a host.
    seats: Vec<Vec<usize>>,
}

impl<'a> Parts<'a> {
    fn of(fabric: &'a Fabric) -> Self {
        let names = fabric.hosts.iter().chain(&fabric.switches).enumerate();
        let number: BTreeMap<&str, usize> = names.map(|(i, name)| (name.as_str(), i)).collect();
        let nodes = number.len();
        let mut parts = Self { next: (0..nodes).collect(), seats: vec![Vec::new(); nodes], number };
        for l in &fabric.links {
            let ends = [&l.a, &l.b].map(|end| parts.number.get(end.as_str()).copied());
            let [Some(a), Some(b)] = ends else { continue };
            match [a, b].map(|end| end < fabric.hosts.len()) {
                [true, _] => parts.seats[a].push(b),
                [_, true] => parts.seats[b].push(a),
                _ => {
                    let (a, b) = (parts.root(a), parts.root(b));
                    parts.next[a] = b;
                }
            }
        }
        parts
    }
    fn root(&mut self, mut at: usize) -> usize {
        while self.next[at] != at {
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        at
    }
    fn joins(&mut self, a: &str, b: &str) -> bool {
        let mut roots = |name: &str| -> Vec<usize> {
            let seats = self.number.get(name).map(|at| self.seats[*at].clone()).unwrap_or_default();
            seats.into_iter().map(|seat| self.root(seat)).collect()
        };
        let (from, to) = (roots(a), roots(b));
        from.iter().any(|root| to.contains(root))
    }
}

/// How much faster than their rates links are whose times are cut to whole nanoseconds, as ns-3 does: a note.
fn too_fast(fabric: &Fabric, frame: u64) -> Option<String> {
    let mut rates: Vec<Rate> = Vec::new();
    for l in &fabric.links {
        if !rates.contains(&l.rate) {
            rates.push(l.rate);
        }
    }
    rates.sort_by(|a, b| a.bps().total_cmp(&b.bps()));
    let excess = |rate: &Rate| {
        let exact = frame as f64 * 8e9 / rate.bps();
        let whole = ((exact - 1e-3) as u64).max(1) as f64;
        let percent = 100.0 * (exact / whole - 1.0);
        (percent >= 0.05).then(|| format!("{rate} by {percent:.1} %"))
    };
    let all: Vec<String> = rates.iter().filter_map(excess).collect();
    (!all.is_empty()).then(|| {
        format!(
            "whole nanoseconds, as in ns-3, make links faster than their rate, with frames of {frame} B: {}",
            all.join(", ")
        )
    })
}

/// The scenario that files of another simulator describe.
///
/// # Errors
/// Everything in the files that is wrong, or that cnsim has not, with file, line and key. Where the network can be read, faults of the
/// configuration are left to [`Imported::faults`], so that they are told beside those that the scenario shows.
pub fn scenario(files: &Files) -> Result<Imported, Vec<Problem>> {
    let mut faults = Vec::new();
    let mut translated = None;
    if let Some(path) = &files.hpcc {
        let config = Config::parse(&read_text(path)?).map_err(|all| problems(path, all))?;
        let (t, wrong) = config.translate((files.topology.is_some(), files.flows.is_some()));
        faults.extend(problems(path, wrong));
        translated = Some((path, t));
    }
    let of = translated.as_ref().map(|(path, t)| (path.as_path(), t));
    let network = match Network::read(files, of) {
        Ok(network) => network,
        Err(wrong) => {
            faults.extend(wrong);
            return Err(faults);
        }
    };
    if let Some((path, t)) = &mut translated
        && let Err(all) = t.settle(&network.fabric)
    {
        faults.extend(problems(path, all));
    }
    let translated = translated.map(|(_, t)| t);
    let source = files.hpcc.as_ref().unwrap_or(&network.topology.0).clone();
    let run = Run::of(&network, translated.as_ref());
    if let Some(wrong) = run.too_long() {
        faults.push(wrong);
        return Err(faults);
    }
    let notes = run.notes();
    let text = run.text(&source, &notes);
    Ok(Imported { text, notes, source, translated: translated.unwrap_or_default(), faults })
}

/// A scenario to be written.
struct Run<'a> {
    network: &'a Network,
    translated: Option<&'a Translated>,
    /// Do its flows belong to ranks, which stand for hosts?
    ranked: bool,
    /// Has each flow a queue pair without a configuration, because others follow it?
    pairs: bool,
    origin: Time,
    stop: Time,
}

impl<'a> Run<'a> {
    fn of(network: &'a Network, translated: Option<&'a Translated>) -> Self {
        let flows = &network.list.flows;
        let ranked = network.flows.1.is_of_ranks();
        let pairs = ranked || flows.iter().any(|f| !f.after.is_empty());
        let given = translated.and_then(|t| t.stop);
        let stop = given.unwrap_or_else(|| guess(&network.fabric, &network.list, pairs));
        let first = flows.iter().map(|f| f.start).min().unwrap_or_default();
        let origin = Time::from_ms(first.as_ps() / 1_000_000_000);
        Self { network, translated, ranked, pairs, origin, stop }
    }

    /// A flow that begins after the end of the run, or that takes longer than a run may.
    fn too_long(&self) -> Option<Problem> {
        let (file, flows) = (&self.network.flows.0, &self.network.list.flows);
        let last = flows.iter().map(|f| f.start).max().unwrap_or_default();
        if self.stop <= last {
            let late = flows.iter().find(|f| f.start >= self.stop);
            let reason = format!("a flow that begins at {last}, after the end of the run at {}", self.stop);
            let remedy = "let it begin earlier, or let SIMULATOR_STOP_TIME be later";
            return Some(problem(file, error(late.map_or(1, |f| f.line), reason, remedy)));
        }
        let (takes, most) = (self.stop - self.origin, Time::LONGEST_RUN);
        (takes > most).then(|| {
            let largest = flows.iter().max_by_key(|f| f.bytes);
            let (line, bytes) = largest.map_or((1, Bytes::new(0)), |f| (f.line, f.bytes));
            let reason = format!("{bytes} and the other flows may take {takes}: a run lasts {most} at most");
            let remedy = "send less, or end the run by SIMULATOR_STOP_TIME in a configuration (--hpcc)";
            problem(file, error(line, reason, remedy))
        })
    }

    /// Is it the fork's own network?
    fn of_fork(&self) -> bool {
        self.network.topology.1 == Form::Fork
    }

    fn scheme(&self) -> &str {
        self.translated.map_or("none", |t| t.scheme.as_str())
    }

    /// Differences from the other simulator.
    fn notes(&self) -> Vec<String> {
        let Network { topology, flows, fabric, list } = self.network;
        let mut notes: Vec<String> = self.translated.iter().flat_map(|t| &t.notes).cloned().collect();
        let unread = [(&topology.0, &fabric.unread), (&flows.0, &list.unread)];
        let unread = unread.into_iter().filter_map(|(path, unread)| Some((path, unread.as_ref()?)));
        notes.extend(unread.map(|(path, unread)| format!("{}: {unread}", path.display())));
        notes.extend(list.notes.iter().cloned());
        if self.of_fork() && !self.ranked {
            let scheme = self.translated.map_or("", |t| t.scheme.as_str());
            notes.extend(hpcc::otherwise(&list.flows, self.translated.is_none(), scheme));
        }
        let fork = self.translated.filter(|_| self.of_fork());
        notes.extend(fork.and_then(|t| too_fast(fabric, t.frame())));
        notes
    }

    /// The scenario as a file.
    fn text(&self, source: &Path, notes: &[String]) -> String {
        let Network { topology, fabric, list, .. } = self.network;
        let stem = source.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name: String = name.trim_start_matches('-').chars().take(80).collect();
        let title = quoted(&match list.what.as_str() {
            "" => format!("{} hosts, {} flows", fabric.hosts.len(), list.flows.len()),
            what => format!("{} hosts, {what}", fabric.hosts.len()),
        });
        let made = quoted(&format!("made by cnsim import from {}", source.display()));
        let notes: String = notes.iter().map(|note| format!("# {note}\n")).collect();
        let (scheme, form) = (self.scheme(), topology.1.name());
        let file = quoted(&topology.0.display().to_string());
        let hash = if self.of_fork() { "hash = \"hpcc-fork\"\n" } else { "" };
        // The fork's clock. Files without a configuration say nothing of ns-3's.
        let fork = self.translated.is_some() && self.of_fork();
        let rounding = if fork { "\n[timing]\nrounding = \"whole-ns\"\nties = \"start\"\n" } else { "" };
        let ideal = if fork { "hpcc-fork" } else { "exact" };
        let completion = if self.translated.is_some() { "completion = \"acknowledged\"\n" } else { "" };
        let (switch, host, transport, workload) =
            (self.switch(), self.host(), self.transport(), self.workload());
        let (params, duration) = (self.keys("scheme.params."), self.stop - self.origin);
        let params = if params.is_empty() { params } else { format!("\n[scheme.params]\n{params}") };
        format!(
            r#"study = "imported"
name = "{name}"
title = {title}
source = {made}
condition = "as imported"
{notes}
[matrix]
schemes = ["{scheme}"]

[topology]
kind = "graph"
format = "{form}"
file = {file}
{hash}
{switch}
{host}{rounding}{transport}
{workload}
[run]
duration = "{duration}"
seeds = 1

[record]
ideal = "{ideal}"
{completion}{params}"#
        )
    }

    /// Keys of a table that the configuration decides.
    fn keys(&self, table: &str) -> String {
        let keys = self.translated.iter().flat_map(|t| &t.keys);
        let mine = keys.filter_map(|(key, value)| Some((key.strip_prefix(table)?, value)));
        mine.map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    fn switch(&self) -> String {
        let fabric = &self.network.fabric;
        let buffer = self.translated.and_then(|t| t.buffer).unwrap_or(Bytes::from_mb(32));
        if self.translated.is_some() {
            return format!(
                "# The fork's switches: PFC by shared memory.\n[switch]\nprocessing = \"0 us\"\nbuffer = \"shared\"\n\
                 preset = \"hpcc-fork\"\nmemory = \"{} B\"\n\n[pause]\nmode = \"on\"\nframes = \"pfc\"\nlength = \"43 B\"\n",
                buffer.get()
            );
        }
        let ports = |s: &String| fabric.links.iter().flat_map(|l| [&l.a, &l.b]).filter(|e| *e == s).count();
        let most = fabric.switches.iter().map(ports).max().unwrap_or(1).max(2) as u64;
        format!(
            "# One pool of {buffer} at the largest switch.\n[switch]\nprocessing = \"0 us\"\nbuffer = \"SO\"\nshare = \"{} B\"\n\n\
             [pause]\nmode = \"off\"\n",
            buffer.get() / most
        )
    }

    fn host(&self) -> &'static str {
        if self.translated.is_some() || self.pairs {
            return "# Each flow has a queue pair.\n[host]\nprocessing = \"0 us\"\nqueues = \"per-flow\"\n";
        }
        "# The flows of a pair of hosts are paced in a queue of their own.\n[host]\nprocessing = \"0 us\"\n\
         queues = \"per-destination\"\nfifo = 100000000\n"
    }

    fn transport(&self) -> String {
        let keys = self.keys("transport.");
        match (self.translated, self.pairs) {
            // The fork has no timeout: as long as the run it never ends.
            (Some(_), _) => {
                let rto = self.stop - self.origin;
                format!("\n[transport]\nkind = \"go-back-n\"\nrto = \"{rto}\"\n{keys}")
            }
            (None, true) => {
                "\n# A transfer has ended at its source as it is acknowledged. Lost frames go again.\n\
                 [transport]\nkind = \"go-back-n\"\nack_every = 1\n"
                    .into()
            }
            (None, false) => keys,
        }
    }

    fn workload(&self) -> String {
        let (path, form) = &self.network.flows;
        let (file, keys) = (quoted(&path.display().to_string()), self.keys("workload."));
        if self.ranked {
            let kind = if *form == Form::Simai { "training" } else { "graph" };
            let calls: String = self.network.list.calls.iter().map(|call| format!("# {call}\n")).collect();
            return format!(
                "# Rank r is the r-th host.\n{calls}[workload]\nkind = \"{kind}\"\nfile = {file}\n{keys}"
            );
        }
        let (form, origin) = (form.name(), self.origin);
        format!(
            "[workload]\nkind = \"transfers\"\nformat = \"{form}\"\nfile = {file}\norigin = \"{origin}\"\nframe_floor = \"0 B\"\n{keys}"
        )
    }
}

/// An end of the run where none is given: when all flows would be over, those to a host one after another at the slowest link; twice, and
/// twice the longest round trip. Flows of which some follow others (`pairs`) may go one by one, each with a round trip; and of a schedule a
/// rank computes, besides.
fn guess(fabric: &Fabric, FlowList { flows, busy, moved, steps, .. }: &FlowList, pairs: bool) -> Time {
    let slowest =
        fabric.links.iter().map(|l| l.rate).fold(Rate::from_gbps(1e6), |a, b| if b < a { b } else { a });
    let mut to: BTreeMap<&str, f64> = BTreeMap::new();
    flows.iter().for_each(|f| *to.entry(&f.dst).or_default() += f.bytes.as_f64() * 8.0 / slowest.bps());
    let longest = to.values().copied().fold(1e-3, f64::max);
    let (trip, _) = hpcc::largest(fabric, 1500);
    let last = flows.iter().map(|f| f.start).max().unwrap_or_default();
    let mut of: BTreeMap<&str, u64> = BTreeMap::new();
    flows.iter().filter(|_| pairs).for_each(|f| *of.entry(&f.src).or_default() += 1);
    let trips = (2 * trip).saturating_mul(1 + of.into_values().max().unwrap_or(0) + steps);
    let all = last + Time::from_us((longest * 2e6).ceil() as u64) + Time::from_us(trips.div_ceil(1000));
    let follow = flows.iter().any(|f| !f.after.is_empty());
    let bits: f64 = flows.iter().filter(|_| follow).map(|f| f.bytes.as_f64() * 8.0).sum();
    let bits = bits + *moved as f64 * 8.0;
    let busy = *busy + Time::from_us((bits / slowest.bps() * 1e6).ceil() as u64);
    let later = all + Time::from_us(2 * busy.as_ps().div_ceil(1_000_000));
    if pairs { later.min(all.max(Time::LONGEST_RUN)) } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileFlow;

    /// H1 and H2 at a switch, by links of 100 and 25 Gb/s of 1 us each.
    fn star() -> Fabric {
        hpcc::topology("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 25Gbps 1us 0\n")
            .unwrap_or_else(|all| panic!("{all:?}"))
    }

    /// 25 MB to H2 take 8 ms at 25 Gb/s: the run lasts twice that behind the last start, and twice the round trip. Two frames of 1500 B take
    /// 0.6 us, and the links 4 us. A millisecond is the least that flows are given.
    #[test]
    fn an_end_by_hand() {
        let flow = |dst: &str, bytes: u64, us: u64| FileFlow {
            line: 1,
            src: "H1".into(),
            dst: dst.into(),
            class: 0,
            port: None,
            bytes: Bytes::new(bytes),
            start: Time::from_us(us),
            after: Vec::new(),
        };
        let list =
            |flows: Vec<FileFlow>, us| FlowList { flows, busy: Time::from_us(us), ..FlowList::default() };
        let all = vec![flow("H2", 12_500_000, 0), flow("H1", 1_000_000, 3), flow("H2", 12_500_000, 2)];
        assert_eq!(guess(&star(), &list(all, 0), false), Time::from_us(3 + 16_000 + 10));
        assert_eq!(guess(&star(), &list(vec![flow("H2", 9, 5)], 0), false), Time::from_us(5 + 2000 + 10));
        // A schedule: twice what a rank computes, and a round trip more for each message of a rank.
        let schedule = list(vec![flow("H2", 9, 5)], 100);
        assert_eq!(guess(&star(), &schedule, true), Time::from_us(5 + 2000 + 19 + 200));
        // 25 MB that follow others may go by themselves, too: twice 8 ms more, and a round trip.
        let after = FileFlow { after: vec![9], ..flow("H2", 25_000_000, 5) };
        assert_eq!(guess(&star(), &list(vec![after], 0), true), Time::from_us(5 + 16_000 + 19 + 16_000));
    }

    /// 1048 B take 83.84 ns at 100 Gb/s, of which 83 are left, and 335.36 ns at 25 Gb/s. 1000 B take 80 and 320 ns, and whole nanoseconds
    /// lose one.
    #[test]
    fn links_that_are_too_fast() {
        for (frame, told) in [(1048, ["0.1", "1.0"]), (1000, ["0.3", "1.3"])] {
            let note = too_fast(&star(), frame).unwrap_or_default();
            let due =
                format!("with frames of {frame} B: 25 Gb/s by {} %, 100 Gb/s by {} %", told[0], told[1]);
            assert!(note.ends_with(&due), "{note}");
        }
    }
}
