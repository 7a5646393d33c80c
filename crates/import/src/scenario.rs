//! Files of other simulators as scenarios: TOML that a person can read and change.

use super::hpcc::{Config, Translated};
use super::{Fabric, FileFlow, ImportError, hpcc, htsim};
use cnsim_problem::{MAX_FILE, Position, Problem, read_file};
use cnsim_units::{Bytes, Rate, Time};
use std::fmt::Write as _;
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
}

impl Imported {
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
fn problem(file: &Path, e: ImportError) -> Vec<Problem> {
    let position = Some(Position { line: e.line, column: 1 });
    let file = file.display().to_string();
    vec![Problem { position, key: e.key, ..Problem::of_file(&file, e.reason, e.remedy) }]
}

fn read(path: &Path) -> Result<String, Vec<Problem>> {
    let help = "give the path of a text file";
    read_file(path, MAX_FILE).map_err(|why| vec![Problem::unread(&path.display().to_string(), why, help)])
}

/// A file that a configuration names: from here, from the configuration's folder or the one above, or by its bare name beside it.
fn find(config: &Path, key: &str, name: &str, line: usize) -> Result<PathBuf, Vec<Problem>> {
    let dir = config.parent().unwrap_or(Path::new(""));
    let above = dir.parent().unwrap_or(Path::new(""));
    let bare = Path::new(name).file_name().unwrap_or_default();
    let places = [PathBuf::from(name), dir.join(name), above.join(name), dir.join(bare)];
    places.iter().find(|p| p.is_file()).cloned().ok_or_else(|| {
        let option = if key == "TOPOLOGY_FILE" { "--topology" } else { "--flows" };
        problem(
            config,
            ImportError {
                line,
                key: key.into(),
                reason: format!(
                    "names `{name}`, and there is no such file from here or beside the configuration"
                ),
                remedy: format!("name the file by {option}"),
            },
        )
    })
}

/// The form of a file by its name: htsim's end in `.topo` and `.cm`.
fn form(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("topo" | "cm") => "htsim",
        _ => "hpcc",
    }
}

/// A text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The scenario that files of another simulator describe.
///
/// # Errors
/// Everything in the files that is wrong, or that cnsim has not, with file, line and key.
pub fn scenario(files: &Files) -> Result<Imported, Vec<Problem>> {
    let mut translated = match &files.hpcc {
        Some(path) => {
            let config = Config::parse(&read(path)?).map_err(|e| problem(path, e))?;
            let both = files.topology.is_some() && files.flows.is_some();
            Some((path, config.translate(both).map_err(|e| problem(path, e))?))
        }
        None => None,
    };
    let named = |own: &Option<PathBuf>, key: &str, option: &str| match (own, &translated) {
        (Some(path), _) => Ok(path.clone()),
        (None, Some((config, t))) => {
            let (name, of) = match key {
                "TOPOLOGY_FILE" => (&t.topology, "topology.file"),
                _ => (&t.flows, "workload.file"),
            };
            find(config, key, name, t.from.get(of).map_or(t.last, |f| f.0))
        }
        (None, None) => {
            Err(vec![Problem::of_file("import", format!("{option} is missing"), "name the file")])
        }
    };
    let topology = named(&files.topology, "TOPOLOGY_FILE", "--topology")?;
    let flows = named(&files.flows, "FLOW_FILE", "--flows")?;
    let wrong = |file: &Path| {
        let file = file.to_path_buf();
        move |e| problem(&file, e)
    };
    let text = read(&topology)?;
    let fabric: Fabric = match form(&topology) {
        "htsim" => htsim::topology(&text),
        _ => hpcc::topology(&text),
    }
    .map_err(wrong(&topology))?;
    let text = read(&flows)?;
    let list: Vec<FileFlow> = match form(&flows) {
        "htsim" => htsim::flows(&text, Some(&fabric)),
        _ => hpcc::flows(&text, Some(&fabric)),
    }
    .map_err(wrong(&flows))?;
    if let Some((config, t)) = &mut translated {
        t.fits(&fabric).map_err(|e| problem(config, e))?;
        t.hold_back(&fabric);
    }
    let mut notes: Vec<String> = translated.iter().flat_map(|(_, t)| &t.notes).cloned().collect();
    if form(&topology) == "hpcc" {
        notes.extend(hpcc::otherwise(&list, translated.is_none()));
    }
    let first = list.iter().map(|f| f.start).min().unwrap_or_default();
    let last = list.iter().map(|f| f.start).max().unwrap_or_default();
    let origin = Time::from_ms(first.as_ps() / 1_000_000_000);
    let stop = translated.as_ref().map_or_else(|| guess(&fabric, &list), |(_, t)| t.stop);
    if stop <= last {
        let late = list.iter().find(|f| f.start >= stop);
        return Err(problem(
            &flows,
            ImportError {
                line: late.map_or(1, |f| f.line),
                key: String::new(),
                reason: format!("a flow that begins at {last}, after the end of the run at {stop}"),
                remedy: "let it begin earlier, or let SIMULATOR_STOP_TIME be later".into(),
            },
        ));
    }
    let source = files.hpcc.as_ref().unwrap_or(&topology);
    let stem = |p: &Path| p.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String =
        stem(source).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let scheme = translated.as_ref().map_or("none", |(_, t)| t.scheme.as_str());
    let path = |p: &Path| quoted(&p.display().to_string());
    let mut out = String::new();
    let _ = write!(
        out,
        "study = \"imported\"\nname = \"{}\"\ntitle = {}\nsource = {}\ncondition = \"as imported\"\n",
        name.trim_start_matches('-').chars().take(80).collect::<String>(),
        quoted(&format!("{} hosts, {} flows", fabric.hosts.len(), list.len())),
        quoted(&format!("made by cnsim import from {}", source.display())),
    );
    for note in &notes {
        let _ = writeln!(out, "# {note}");
    }
    let hash = if form(&topology) == "hpcc" { "hash = \"hpcc-fork\"\n" } else { "" };
    let _ = write!(
        out,
        "\n[matrix]\nschemes = [\"{scheme}\"]\n\n[topology]\nkind = \"graph\"\nformat = \"{}\"\nfile = {}\n{hash}",
        form(&topology),
        path(&topology),
    );
    let buffer = translated.as_ref().and_then(|(_, t)| t.buffer).unwrap_or(Bytes::from_mb(32));
    let ports = |s: &String| fabric.links.iter().flat_map(|l| [&l.a, &l.b]).filter(|e| *e == s).count();
    let most = fabric.switches.iter().map(ports).max().unwrap_or(1).max(2) as u64;
    let _ = match translated {
        Some(_) => write!(
            out,
            "\n# The fork's switches: PFC by shared memory.\n[switch]\nprocessing = \"0 us\"\nbuffer = \"shared\"\n\
             preset = \"hpcc-fork\"\nmemory = \"{} B\"\n\n[pause]\nmode = \"on\"\nframes = \"pfc\"\nlength = \"43 B\"\n",
            buffer.get(),
        ),
        None => write!(
            out,
            "\n# One pool of {buffer} at the largest switch.\n[switch]\nprocessing = \"0 us\"\nbuffer = \"SO\"\nshare = \"{} B\"\n\n\
             [pause]\nmode = \"off\"\n",
            buffer.get() / most,
        ),
    };
    let rounding = if form(&topology) == "hpcc" {
        "\n[timing]\nrounding = \"whole-ns\"\nties = \"start\"\n"
    } else {
        ""
    };
    let _ = write!(
        out,
        "\n{}{rounding}",
        match translated {
            Some(_) =>
                "# Each flow has a queue pair.\n[host]\nprocessing = \"0 us\"\nqueues = \"per-flow\"\n",
            None => {
                "# The flows of a pair of hosts are paced in a queue of their own.\n[host]\nprocessing = \"0 us\"\n\
                 queues = \"per-destination\"\nfifo = 100000000\n"
            }
        }
    );
    let keys = || translated.iter().flat_map(|(_, t)| &t.keys);
    let of =
        |table: &'static str| keys().filter_map(move |(key, value)| Some((key.strip_prefix(table)?, value)));
    if translated.is_some() {
        // The fork has no timeout: as long as the run it never ends.
        let _ = write!(out, "\n[transport]\nkind = \"go-back-n\"\nrto = \"{}\"\n", stop - origin);
    }
    for (key, value) in of("transport.") {
        let _ = writeln!(out, "{key} = {value}");
    }
    let _ = write!(
        out,
        "\n[workload]\nkind = \"transfers\"\nformat = \"{}\"\nfile = {}\norigin = \"{origin}\"\nframe_floor = \"0 B\"\n",
        form(&flows),
        path(&flows),
    );
    for (key, value) in of("workload.") {
        let _ = writeln!(out, "{key} = {value}");
    }
    let ideal = if form(&topology) == "hpcc" { "hpcc-fork" } else { "exact" };
    let _ = write!(
        out,
        "\n[run]\nduration = \"{}\"\nseeds = 1\n\n[record]\nideal = \"{ideal}\"\n",
        stop - origin
    );
    if translated.is_some() {
        out.push_str("completion = \"acknowledged\"\n");
    }
    if of("scheme.params.").next().is_some() {
        out.push_str("\n[scheme.params]\n");
    }
    for (key, value) in of("scheme.params.") {
        let _ = writeln!(out, "{key} = {value}");
    }
    let translated = translated.map(|(_, t)| t).unwrap_or_default();
    Ok(Imported { text: out, notes, source: source.clone(), translated })
}

/// An end of the run where none is given: when all flows would be over, one after another at the slowest link, twice.
fn guess(fabric: &Fabric, flows: &[FileFlow]) -> Time {
    let slowest =
        fabric.links.iter().map(|l| l.rate).fold(Rate::from_gbps(1e6), |a, b| if b < a { b } else { a });
    let mut to: std::collections::HashMap<&str, f64> = std::collections::HashMap::new();
    flows.iter().for_each(|f| *to.entry(&f.dst).or_default() += f.bytes.as_f64() * 8.0 / slowest.bps());
    let longest = to.values().copied().fold(1e-3, f64::max);
    let last = flows.iter().map(|f| f.start).max().unwrap_or_default();
    last + Time::from_us((longest * 2e6).ceil() as u64)
}
