//! The command line of cnsim, its verbs and exit codes.

/// `println!` of this program: lines are wrapped to the terminal.
macro_rules! println {
    () => { $crate::look::say("") };
    ($($text:tt)*) => { $crate::look::say(&format!($($text)*)) };
}

/// `print!` of this program: text as it is.
macro_rules! print {
    ($($text:tt)*) => { $crate::look::raw(&format!($($text)*)) };
}

/// `eprintln!` of this program: lines are wrapped to the terminal.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::look::complain(&format!($($text)*)) };
}

mod answer;
mod assume;
mod baseline;
mod bench;
mod chosen;
mod compare;
mod describe;
mod draw;
mod experiment;
mod explain;
mod explain_collective;
mod explain_flow;
mod explain_pause;
mod find;
mod fit;
mod headroom;
mod housekeeping;
mod import;
mod look;
mod names;
mod notes;
mod one_case;
mod output;
mod pairs;
mod progress;
mod reproduce;
mod request;
mod run;
mod start;
mod subject;
mod summary;
mod sweep;
mod tell;
mod verbs;
mod verify;

use crate::names::Names;
use clap::{Args, Parser, Subcommand};
use cnsim_fabric::Engine;
use cnsim_runs::run::JobError;
use cnsim_scheme_api::Registry;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The reason why a verb failed, by exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A run or a law failed.
    Run(String),
    /// Bad input, or a place that takes no output: a full disk, a folder without rights.
    Input(String),
    /// Verification differs.
    Differs(String),
    /// A network froze.
    Frozen(String),
    /// A collective waits for ever.
    Stands(String),
    /// Ctrl-C.
    Interrupted(String),
}

impl Failure {
    fn input(text: impl Into<String>) -> Self {
        Self::Input(text.into())
    }
    /// From an operation on files.
    pub(crate) fn io(what: &std::path::Path, e: &std::io::Error) -> Self {
        Self::Input(format!("{}: {e}; choose another place with --out", what.display()))
    }
}

impl From<JobError> for Failure {
    fn from(e: JobError) -> Self {
        match e {
            JobError::Failed { .. } => Self::Run(e.to_string()),
            JobError::NotKept(text) => Self::Input(text),
        }
    }
}

impl From<Vec<cnsim_problem::Problem>> for Failure {
    fn from(problems: Vec<cnsim_problem::Problem>) -> Self {
        Self::Input(cnsim_problem::told(problems))
    }
}

pub(crate) type Done = Result<(), Failure>;

pub use cnsim_report::{plus_minus, still};
pub use pairs::Pairs;

/// The figures of a scenario's page as the report draws them, from finished runs: for documents.
pub fn figures(
    scenario: &cnsim_scenario::Scenario,
    records: &[cnsim_runs::record::RunRecord],
) -> Vec<cnsim_report::model::Figure> {
    cnsim_report::build::figures_of(scenario, records)
}

/// The map of a run alone, as a page that needs nothing else; none if the run kept no ports over time.
pub fn map_page(run: &cnsim_runs::record::RunRecord) -> Option<String> {
    cnsim_report::render(&cnsim_report::build::alone(run)?).ok()
}

/// Exit codes and their meanings.
pub(crate) const EXIT_CODES: [(u8, &str); 7] = [
    (0, "done"),
    (1, "a run or a law failed"),
    (2, "bad input or usage, or output that cannot be written (a full disk, a folder without rights)"),
    (3, "verification differs, or a published cell with --fail-on-miss"),
    (4, "a network froze: its results are written"),
    (5, "a collective waits for ever for what was lost: its results are written"),
    (130, "interrupted"),
];

/// The laboratory for congestion management in data-centre Ethernet. Without a verb: `reproduce quick`.
#[derive(Parser, Debug)]
#[command(name = "cnsim", version, about, arg_required_else_help = false)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    common: Common,
}

/// Options that every verb takes.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Common {
    /// Print results and errors only.
    #[arg(long, global = true)]
    quiet: bool,
    /// Report each step.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Colours of the output.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    color: String,
    /// The schemes that the program knows.
    #[arg(skip)]
    registry: Registry,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Run a study's tables and show measured beside published numbers.
    Reproduce(ReproduceArgs),
    /// Run a scenario: every case and seed of its matrix, or the cases that the options choose.
    Run(Box<RunArgs>),
    /// List studies, scenarios, schemes, metrics or assumptions.
    List {
        /// List to print.
        #[arg(default_value = "scenarios", value_parser = ["studies", "scenarios", "schemes", "metrics", "assumptions"])]
        what: String,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain any name: scheme, study, scenario, metric, key, parameter, counter, cell, claim, assumption, exit code,
    /// term of the field.
    Explain {
        /// Name or id, or a scenario file; a cell is `STUDY/SCENARIO/SCHEME[/METRIC]`.
        #[arg(value_parser = Names::Any, hide_possible_values = true)]
        what: String,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
        /// Explain the cell of this condition only.
        #[arg(long)]
        condition: Option<String>,
        /// Explain the cell of this PAUSE mode only.
        #[arg(long)]
        pause: Option<String>,
        /// Folder of the results that it looks into.
        #[arg(long, default_value = "out")]
        out: PathBuf,
    },
    /// Explain where the time of a finite flow went, alone or beside another run.
    ExplainFlow(explain_flow::ExplainFlowArgs),
    /// Explain why transmitters stood in XOFF: the tree from each cause to all that it stopped.
    ExplainPause(explain_pause::ExplainPauseArgs),
    /// Explain how long a collective took: its last rank and transfer, and the critical path by computing, transfers, queues and XOFF.
    ExplainCollective(explain_collective::ExplainCollectiveArgs),
    /// Convert files of another simulator into a scenario, on standard output.
    Import(import::ImportArgs),
    /// Check a scenario file and list all its faults.
    Check {
        /// Scenario file, or - for standard input.
        file: String,
        /// Set a key of the scenario for this check.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a commented scenario to standard output: every key, or with --topology a short one.
    New(start::NewArgs),
    /// Compute the PAUSE headroom of a link: the bytes that can still arrive after XOFF.
    Headroom(headroom::HeadroomArgs),
    /// Measure the simulator's speed.
    Bench {
        /// Rows to measure [default: all].
        rows: Vec<String>,
        /// Compare the cost of every scheme with `none` on these rows [default: w2-60, a row without congestion].
        #[arg(long)]
        schemes: bool,
        /// With --schemes: number of measurements of each scheme, taken in turn; the median counts.
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
        rounds: u16,
        /// Simulated time of a row, such as `5 ms` [default: the row's own].
        #[arg(long, value_name = "TIME")]
        duration: Option<String>,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
        /// Run one row in this process (used by bench itself).
        #[arg(long, hide = true)]
        child: bool,
    },
    /// Run the configurations of a results.json again and compare all its numbers and series.
    Verify {
        /// The results.json to verify.
        file: PathBuf,
        /// Number of threads.
        #[arg(long, default_value_t = 0, hide_default_value = true)]
        threads: usize,
        /// Engine that repeats the runs.
        #[arg(long, value_enum, default_value_t)]
        engine: EngineArg,
        /// Run despite a huge estimate of time or memory.
        #[arg(long)]
        force: bool,
    },
    /// Compare two results, or with --baseline the cases of one; values are paired by seed.
    ///
    /// Two results: runs that only one has, changed configurations, and metrics. The exit code is 3 if they differ.
    /// With --baseline: every other scheme or condition beside the baseline, with interval and verdict.
    Compare {
        /// One or two results: results.json, or its folder.
        #[arg(required = true, num_args = 1..=2)]
        results: Vec<PathBuf>,
        /// Case with which all others are compared: a scheme, a condition, "PAUSE on", or KEY=VALUE.
        #[arg(long, value_name = "CASE")]
        baseline: Option<String>,
        /// Metrics that the table of a baseline shows [default: the main ones].
        #[arg(long, value_delimiter = ',', requires = "baseline", value_parser = Names::Metrics, hide_possible_values = true)]
        metric: Vec<String>,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run a scenario over a grid of values of its keys; write table, CSV file and figures.
    Sweep(sweep::SweepArgs),
    /// Try other readings of what the papers leave open, and rank them by their fit to the published numbers.
    Assume(assume::AssumeArgs),
    /// Further tools: schema, diff, clean, completions, man, doctor.
    #[command(subcommand)]
    Tool(Tool),
}

/// The verbs of `cnsim tool`.
#[derive(Subcommand, Debug)]
enum Tool {
    /// Print the JSON Schema of scenarios.
    Schema,
    /// Show the keys in which the first cases of two scenarios differ.
    Diff {
        /// First scenario: name or file.
        a: String,
        /// Second scenario: name or file.
        b: String,
        /// Set a key in both scenarios.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print the answer as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove the stored runs of an output folder; results and reports stay.
    Clean {
        /// Folder for the results.
        #[arg(long, default_value = "out")]
        out: PathBuf,
        /// List the files that would be removed, and remove none.
        #[arg(long)]
        dry_run: bool,
    },
    /// Write completions for a shell to standard output.
    Completions {
        /// Name of the shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual page to standard output, or with --out a page for each verb to a folder.
    Man {
        /// Folder for the pages.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Report version, cores, optional programs and kind of build.
    Doctor,
}

/// Arguments of `reproduce`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ReproduceArgs {
    /// Studies to run: quick, all, a study or STUDY/SCENARIO.
    #[arg(default_value = "quick", value_parser = Names::Studies, hide_possible_values = true)]
    what: String,
    /// Number of seeds of each cell [default: the scenario's].
    #[arg(long)]
    seeds: Option<u64>,
    #[command(flatten)]
    making: Making,
}

/// The arguments of the bare verb.
impl Default for ReproduceArgs {
    fn default() -> Self {
        let bare = Self::augment_args(clap::Command::new("reproduce")).get_matches_from(["reproduce"]);
        clap::FromArgMatches::from_arg_matches(&bare).unwrap_or_else(|e: clap::Error| e.exit())
    }
}

/// Options that `run` and `reproduce` share.
#[derive(Args, Debug, Clone)]
pub(crate) struct Making {
    /// Run only the cases whose condition, PAUSE mode or scheme contains this text.
    #[arg(long)]
    only: Option<String>,
    /// File of published numbers [default: the embedded ones].
    #[arg(long)]
    published: Option<PathBuf>,
    /// End with exit code 3 if a published cell differs from the measured one.
    #[arg(long)]
    fail_on_miss: bool,
    /// Show only these metrics in the tables of the terminal; the files have all.
    #[arg(long, value_delimiter = ',', value_parser = Names::Metrics, hide_possible_values = true)]
    metric: Vec<String>,
    /// Number of threads [default: all cores; of a single run, by its size].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Engine of the runs.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineArg,
    /// Folder for the results.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// Run despite a huge estimate of time or memory, and overwrite files of other programs.
    #[arg(long)]
    force: bool,
}

/// Options that sweeps and searches share.
#[derive(Args, Debug, Clone)]
pub(crate) struct Batch {
    /// Number of threads [default: all cores].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Folder for the results.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// Print the results as JSON on standard output.
    #[arg(long)]
    json: bool,
    /// Run despite a huge estimate of time or memory, and overwrite files of other programs.
    #[arg(long)]
    force: bool,
}

/// Which engine runs a scenario. Both give the same bits.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EngineArg {
    /// The fast engine.
    #[default]
    Fast,
    /// The model, one event at a time: a second opinion, several times slower. Its runs are neither taken from the store nor
    /// kept there.
    Model,
}

impl EngineArg {
    /// The engine of that name.
    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::Fast => Engine::Fast,
            Self::Model => Engine::Model,
        }
    }
}

/// Arguments of `run`.
#[derive(Args, Debug, Clone)]
pub(crate) struct RunArgs {
    /// Scenario: embedded name, file or - for standard input; none with --hpcc, --topology or --flows.
    #[arg(required_unless_present_any = ["hpcc", "topology", "flows"], conflicts_with_all = ["hpcc", "topology", "flows"])]
    scenario: Option<String>,
    #[command(flatten)]
    foreign: import::ForeignArgs,
    /// Schemes that are run [default: the scenario's].
    #[arg(long, value_delimiter = ',', value_parser = Names::Schemes, hide_possible_values = true)]
    scheme: Vec<String>,
    /// PAUSE modes that are run [default: the scenario's].
    #[arg(long, value_delimiter = ',', value_parser = ["on", "off", "global"])]
    pause: Vec<String>,
    /// The one condition that is run, as `cnsim explain SCENARIO` lists it: "hotspot 2 Gb/s" [default: all].
    #[arg(long)]
    condition: Option<String>,
    /// The only case that is run: "CONDITION, PAUSE on, SCHEME".
    #[arg(long, value_name = "ID", conflicts_with_all = ["scheme", "pause", "condition"])]
    case: Option<String>,
    /// Seed that is run; with --seeds, the first seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of seeds of each case [default: the scenario's].
    #[arg(long)]
    seeds: Option<u64>,
    /// Set a key of the scenario.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Time series to write beside the results; of several cases, those of the first seed.
    #[arg(long, default_value = "key", value_parser = ["none", "key", "all"])]
    series: String,
    /// Capture these ports (`L1>S1`: the link in both directions) or flows (`H10>H5`, at the links of their hosts) for Wireshark; of
    /// several cases and seeds, the first seed of each case.
    #[arg(long, value_name = "PORTS|FLOWS", value_delimiter = ',')]
    pcap: Vec<String>,
    /// Capture these ports or flows as columns of a CSV file; the names are those of --pcap.
    #[arg(long, value_name = "PORTS|FLOWS", value_delimiter = ',')]
    trace: Vec<String>,
    /// Print the results as JSON on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    making: Making,
}

/// Splits KEY=VALUE. The last word of a key is enough.
pub(crate) fn pairs(
    sets: &[String],
    registry: &cnsim_scheme_api::Registry,
) -> Result<Vec<(String, String)>, Failure> {
    sets.iter()
        .map(|s| {
            let (key, value) = s.split_once('=').ok_or_else(|| {
                Failure::input(format!("--set {s}: has no `=`\n  help: write --set KEY=VALUE, for example --set hotspot.rate=\"1 Gb/s\""))
            })?;
            Ok((find::whole_key(registry, key), value.trim().to_string()))
        })
        .collect()
}

/// The command line of the program, for documents that are made from it.
pub fn command() -> clap::Command {
    verbs::command()
}

/// The program `cnsim` with the schemes of this repository.
pub fn main() -> ExitCode {
    main_with(cnsim_schemes::registry())
}

/// The program `cnsim` with the schemes of this registry. A crate with further schemes calls it. The head of
/// this file lists the exit codes.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     let registry = cnsim_schemes::registry();
///     // registry.register(my_scheme::registration()) ...
///     cnsim_cli::main_with(registry)
/// }
/// ```
pub fn main_with(registry: Registry) -> ExitCode {
    progress::heed_signals();
    ExitCode::from(program(registry, std::env::args_os()))
}

/// The command line; or the exit code, where it is wrong or asks for help, which is printed.
fn parsed(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, u8> {
    let parsed = verbs::command().try_get_matches_from(args);
    parsed.and_then(|m| <Cli as clap::FromArgMatches>::from_arg_matches(&m)).map_err(|e| {
        if let Some(text) = verbs::moved(&e) {
            eprintln!("{text}");
        } else if e.use_stderr() {
            eprintln!("{}", e.render().to_string().trim_end());
        } else if e.print().and_then(|()| std::io::Write::flush(&mut std::io::stdout())).is_err() {
            eprintln!("error: standard output takes nothing more");
            return 2;
        }
        if e.use_stderr() { 2 } else { 0 }
    })
}

/// As [`main_with`], with these arguments; the first is the program's name. Returns the exit code. For a host that is
/// another program, such as a Python package.
pub fn program(registry: Registry, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    // `cnsim list | head` ends quietly, as other tools do.
    sigpipe::reset();
    let mut cli = match parsed(args) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    cli.common.registry = registry;
    let common = &cli.common;
    look::colour(&common.color);
    let done = match cli.verb.unwrap_or(Verb::Reproduce(ReproduceArgs::default())) {
        Verb::Reproduce(args) => reproduce::reproduce(&args, common),
        Verb::Run(args) => run::run(&args, common),
        Verb::List { what, json } => tell::list(&what, json, common),
        Verb::Explain { what, json, condition, pause, out } => {
            let asked = subject::Asked { what: &what, condition, pause, out: &out, common };
            explain::explain(&asked, json)
        }
        Verb::ExplainFlow(args) => explain_flow::explain_flow(&args),
        Verb::ExplainPause(args) => explain_pause::explain_pause(&args),
        Verb::ExplainCollective(args) => explain_collective::explain_collective(&args),
        Verb::Import(args) => import::import(&args, common),
        Verb::Check { file, sets, json: true } => answer::check(&file, &sets, common),
        Verb::Check { file, sets, .. } => tell::check(&file, &sets, common),
        Verb::New(args) => start::new(&args),
        Verb::Headroom(args) => headroom::headroom(&args),
        Verb::Bench { rows, schemes: true, rounds, duration, json, .. } => {
            bench::compare_schemes(&rows, rounds, duration.as_deref(), json, common)
        }
        Verb::Bench { rows, duration, json, child, .. } => {
            bench::bench(&rows, duration.as_deref(), json, child, common)
        }
        Verb::Verify { file, threads, engine, force } => {
            verify::verify(&file, (threads, engine.engine()), force, common)
        }
        Verb::Compare { results, baseline, metric, json } => {
            compare::compare(&results, baseline.as_deref(), &metric, json)
        }
        Verb::Sweep(args) => sweep::sweep(&args, common),
        Verb::Assume(args) => assume::assume(&args, common),
        Verb::Tool(Tool::Schema) => tell::schema(common),
        Verb::Tool(Tool::Diff { a, b, sets, json }) => housekeeping::diff(&a, &b, &sets, json, common),
        Verb::Tool(Tool::Clean { out, dry_run }) => housekeeping::clean(&out, dry_run),
        Verb::Tool(Tool::Completions { shell }) => housekeeping::completions(shell),
        Verb::Tool(Tool::Man { out }) => housekeeping::man(out.as_deref()),
        Verb::Tool(Tool::Doctor) => tell::doctor(),
    };
    let (code, text) = match done {
        Ok(()) => return 0,
        Err(Failure::Run(text)) => (1, text),
        Err(Failure::Input(text)) => (2, text),
        Err(Failure::Differs(text)) => (3, text),
        Err(Failure::Frozen(text)) => (4, text),
        Err(Failure::Stands(text)) => (5, text),
        Err(Failure::Interrupted(text)) => (130, text),
    };
    eprintln!("{}: {text}", look::paint("error", look::Colour::Red, look::colour_on_stderr()));
    code
}
