//! Runs of cases over seeds: jobs, in parallel, from the store or anew, and the record that each gives.

use crate::record::{Execution, FlowRecord, OverTime, RunRecord, SharedFacts};
use crate::store::{Asked, Store};
use crate::{code, curves};
use cnsim_fabric::{Engine, Options, Outcome, RunError, RunSpec, Ways};
use cnsim_measure::events::Events;
use cnsim_measure::fct::NOT_BEGUN;
use cnsim_measure::flow_times::{Flows, unfinished};
use cnsim_measure::frozen::Frozen;
use cnsim_measure::jobs;
use cnsim_measure::map::Map;
use cnsim_measure::owners::Owners;
use cnsim_measure::pauses::{Places, Stood, Stops};
use cnsim_measure::spent::Spent;
use cnsim_measure::xoff::spread;
use cnsim_measure::{Pauses, Run, ports};
use cnsim_scenario::{Case, Ready, Scenario};
use cnsim_scheme_api::NodeId;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A run to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// The case that is run.
    pub case: Case,
    /// The case's settings and scheme, ready to run.
    pub ready: Ready,
    /// Seed of the run.
    pub seed: u64,
    /// Keep the series of every queue and host, not only the key ones.
    pub all_series: bool,
    /// Which engine runs it. Both give the same bits.
    pub engine: Engine,
}

impl Job {
    /// A run of a case, with the key series only.
    pub fn new(case: Case, ready: Ready, seed: u64) -> Self {
        Self { case, ready, seed, all_series: false, engine: Engine::Fast }
    }

    /// Key of the run in a store.
    ///
    /// # Errors
    /// Why it is neither kept nor taken from a store: the scheme's code is not known, or the run is a second opinion.
    pub fn asked(&self) -> Result<Asked<'_>, &str> {
        (self.engine == Engine::Fast).then_some(()).ok_or("the model's engine runs them anew")?;
        let (config, code) = (&self.ready.config, code::of(&self.ready)?);
        Ok(Asked { config, code, seed: self.seed, all_series: self.all_series })
    }

    /// The run's record before anything is measured.
    pub fn record(&self) -> RunRecord {
        RunRecord {
            case: self.case.id.clone(),
            seed: self.seed,
            config: self.ready.config.clone(),
            execution: Execution {
                code: code::of(&self.ready).unwrap_or_default().into(),
                all_series: self.all_series,
                ..Execution::default()
            },
            ..RunRecord::default()
        }
    }

    /// The run as the network takes it.
    pub(crate) fn spec(&self) -> RunSpec {
        let mut spec = self.ready.settings.spec(&self.ready.built, self.seed, self.all_series);
        // Who stood before a flow is known by the frames of the ports on its ways.
        let ways = (!spec.record.flow_events.is_empty()).then(|| Ways::new(&spec).ok()).flatten();
        for &(src, dst) in &spec.record.flow_events {
            let all = ways.iter().flat_map(|ways| (0..MOST_WAYS).filter_map(|nth| ways.of(src, dst, nth)));
            for port in all.flat_map(|way| way.into_iter().skip(1)) {
                if !spec.record.captures.contains(&port) {
                    spec.record.captures.push(port);
                }
            }
        }
        spec.record.capture_limit = MOST_AHEAD / (spec.record.captures.len() as u64).max(1);
        spec
    }

    /// A finished run with these settings, under this job's own names.
    pub fn named(&self, found: RunRecord) -> RunRecord {
        RunRecord { case: self.case.id.clone(), config: self.ready.config.clone(), ..found }
    }
}

/// Flows of a pair of hosts whose ways are looked at.
const MOST_WAYS: u32 = 16;
/// Frames that are kept of all ports on the ways of named flows together.
const MOST_AHEAD: u64 = 1_000_000;

/// Why a run gave no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobError {
    /// A law was broken, or a scheme failed: the run's name, and why.
    Failed {
        /// Scenario, condition, PAUSE mode, scheme and seed of the run.
        run: String,
        /// The failure and its simulated time.
        why: String,
    },
    /// The run is finished, and the disk does not take its record: path, reason and remedy.
    NotKept(String),
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed { run, why } => write!(f, "{run}: {why}"),
            Self::NotKept(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for JobError {}

impl From<JobError> for String {
    fn from(e: JobError) -> Self {
        e.to_string()
    }
}

/// Shared between the runs and whoever watches them.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set it to stop after the runs that are under way.
    pub stop: AtomicBool,
    /// Set when no run is left that could be stopped.
    pub over: AtomicBool,
    /// Number of runs that are finished.
    pub done: AtomicU64,
    /// Number of those that were taken from the store.
    pub stored: AtomicU64,
    /// Packet-hops simulated in finished runs.
    pub hops: AtomicU64,
    /// Packet-hops simulated now and before, roughly.
    pub live: AtomicU64,
}

/// Runs jobs in parallel, one a core; finished ones come from the store and go there.
///
/// The first failure. A stop is no failure: the finished runs are returned.
///
/// # Errors
/// A law broken, a scheme that failed, a disk that does not take the result.
pub fn run_jobs(
    jobs: &[Job],
    store: Option<&Store>,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<Option<RunRecord>>, JobError> {
    run_until(jobs, store, threads, watch, |_| true).into_iter().collect()
}

/// Carries out jobs; a run that fails leaves the others alone. Only a disk that takes no result ends it: its error stands at one of
/// the jobs, and those that it kept from running are none.
pub fn run_each(
    jobs: &[Job],
    store: Option<&Store>,
    threads: usize,
    watch: &Watch,
) -> Vec<Result<Option<RunRecord>, JobError>> {
    run_until(jobs, store, threads, watch, |e| matches!(e, JobError::NotKept(_)))
}

/// Runs jobs until one fails in a way that `ends` them. The result of a job that was not run is none.
fn run_until(
    jobs: &[Job],
    store: Option<&Store>,
    threads: usize,
    watch: &Watch,
    ends: impl Fn(&JobError) -> bool + Sync,
) -> Vec<Result<Option<RunRecord>, JobError>> {
    // Stored results come first, so that an interruption leaves none of them out.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    if let Some(store) = store {
        order.sort_by_cached_key(|i| !stored(&jobs[*i], store));
    }
    let next = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    let work = || {
        let mut mine = Vec::new();
        while !ended.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((i, job)) = order.get(at).map(|i| (*i, &jobs[*i])) else { break };
            let result = run_job(job, store, watch, 1);
            ended.fetch_or(result.as_ref().is_err_and(&ends), Ordering::Relaxed);
            mine.push((i, result));
        }
        mine
    };
    let mut all: Vec<Result<Option<RunRecord>, JobError>> = jobs.iter().map(|_| Ok(None)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.clamp(1, jobs.len().max(1))).map(|_| scope.spawn(work)).collect();
        let done = threads
            .into_iter()
            .flat_map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.for_each(|(i, result)| all[i] = result);
    });
    all
}

/// Runs one job on a number of threads.
///
/// # Errors
/// As [`run_jobs`].
pub fn run_job(
    job: &Job,
    store: Option<&Store>,
    watch: &Watch,
    threads: usize,
) -> Result<Option<RunRecord>, JobError> {
    if watch.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let store = open_to(job, store);
    if let Some(store) = store {
        match kept(job, store) {
            Ok(Some(record)) => {
                watch.stored.fetch_add(1, Ordering::Relaxed);
                watch.done.fetch_add(1, Ordering::Relaxed);
                return Ok(Some(record));
            }
            Ok(None) => {}
            Err(problem) => eprintln!("warning: {problem}"),
        }
    }
    let out = simulate(job, &job.spec(), watch, threads)?;
    out.map(|out| finish(job, &out, store, watch)).transpose()
}

/// The store, if it takes this job's run.
pub(crate) fn open_to<'a>(job: &Job, store: Option<&'a Store>) -> Option<&'a Store> {
    let (store, asked) = (store?, job.asked().ok()?);
    match store.blocked(&asked) {
        Some(why) => {
            eprintln!("warning: {why}");
            None
        }
        None => Some(store),
    }
}

/// Carries out a run; none if it was stopped.
pub(crate) fn simulate(
    job: &Job,
    spec: &RunSpec,
    watch: &Watch,
    threads: usize,
) -> Result<Option<Outcome>, JobError> {
    let last = AtomicU64::new(0);
    let progress = |_, hops: u64| {
        watch.live.fetch_add(hops - last.swap(hops, Ordering::Relaxed), Ordering::Relaxed);
        !watch.stop.load(Ordering::Relaxed)
    };
    let reuse = job.ready.settings.run.reuse;
    let options =
        Options { threads, engine: job.engine, reuse, progress: Some(&progress), ..Options::default() };
    let out = match cnsim_fabric::run(spec, &options) {
        Ok(out) => out,
        Err(RunError::Stopped) => return Ok(None),
        Err(e) => {
            return Err(JobError::Failed { run: job.record().title(), why: e.to_string() });
        }
    };
    watch.live.fetch_add(out.packet_hops - last.load(Ordering::Relaxed), Ordering::Relaxed);
    Ok(Some(out))
}

/// Measures a run and keeps its record.
pub(crate) fn finish(
    job: &Job,
    out: &Outcome,
    store: Option<&Store>,
    watch: &Watch,
) -> Result<RunRecord, JobError> {
    let record = record(job, out);
    if let Some(store) = store {
        store.put(&record).map_err(|e| JobError::NotKept(format!("a finished run cannot be kept: {e}")))?;
    }
    watch.done.fetch_add(1, Ordering::Relaxed);
    watch.hops.fetch_add(out.packet_hops, Ordering::Relaxed);
    Ok(record)
}

/// The stored run of a job, under the job's own names: two scenarios or conditions may have the same settings.
///
/// # Errors
/// As [`Store::get`].
pub fn kept(job: &Job, store: &Store) -> Result<Option<RunRecord>, String> {
    let Ok(asked) = job.asked() else { return Ok(None) };
    Ok(store.get(&asked)?.map(|found| job.named(found)))
}

/// Is something kept for this run? It may still turn out to be damaged.
pub fn stored(job: &Job, store: &Store) -> bool {
    job.asked().is_ok_and(|asked| store.has(&asked))
}

/// Schemes whose runs are not kept, each with the reason.
pub fn unkept(jobs: &[Job]) -> Vec<String> {
    let one =
        |job: &Job| Some(format!("runs of {} are not kept: {}", job.case.id.scheme, job.asked().err()?));
    let all: BTreeSet<String> = jobs.iter().filter_map(one).collect();
    all.into_iter().collect()
}

/// The record of a run.
pub fn record(job: &Job, out: &Outcome) -> RunRecord {
    let settings = &job.ready.settings;
    let wiring = &settings.wiring;
    let events = Events::of(settings, out);
    let owners = Owners::new(settings, job.seed);
    let flows = Flows::with(settings, out, &owners);
    let (kept, open) = (flows.kept(settings), flows.unfinished(settings, out, &owners));
    let f = out.fingerprint;
    let hex = |(name, v): (&str, u64)| (name.to_string(), format!("{v:016x}"));
    let stopped = settings.keeps_pauses().then(|| stopped(job, out, (&flows, &owners)));
    let of_pauses = stopped.as_ref().map(|(stops, victims)| Pauses { stops, victims: *victims });
    let metrics = Run::new(settings, out, &flows, of_pauses).measured().into_iter();
    let recorded =
        !out.operations.is_empty() && out.hosts.iter().any(|host| !host.transfers.trips.is_empty());
    let recorded = recorded.then(|| settings.spec(&job.ready.built, job.seed, false));
    let ways = recorded.and_then(|spec| Ways::new(&spec).ok());
    let jobs = jobs::facts(settings, out, job.seed, ways.as_ref());
    let metrics = metrics.chain(jobs::measured(&jobs, out.duration)).collect();
    let traffic = cnsim_measure::traffic::measure(settings, out, &flows.timed, &owners, &jobs);
    let names: Vec<String> = traffic.iter().map(|t| t.name.clone()).collect();
    let over_time = OverTime {
        series: curves::of(settings, out, events.as_ref(), job.all_series),
        map: settings.record.map.then(|| Map::of(settings, out)),
        pauses: stopped.map(|(stops, _)| stops),
    };
    let asked = job.record();
    RunRecord {
        fingerprint: [("events", f.events), ("frames", f.frames), ("samples", f.samples)].map(hex).into(),
        metrics,
        counters: out.counters.iter().cloned().collect(),
        ports: ports(settings, out),
        xoff: spread(settings, out),
        shared: shared(settings, out),
        execution: Execution {
            packet_hops: out.packet_hops,
            by_model: out.by_model.clone(),
            phases: out.phases.as_ref().map(ToString::to_string),
            ..asked.execution
        },
        frozen: Frozen::of(settings, out),
        flows: FlowRecord {
            hosts: if kept.is_empty() && open.is_empty() { Vec::new() } else { wiring.hosts.clone() },
            times: kept,
            spent: Spent::of(settings, out, &flows, &names),
            events,
            by_size: flows.by_size(settings),
            unfinished: open,
        },
        over_time,
        traffic,
        jobs,
        ..asked
    }
}

/// The XOFFs of a run with the flows that stood; number of victims and the time that they stood, ps, if any flow is known with its way.
fn stopped(job: &Job, out: &Outcome, flows: (&Flows, &Owners)) -> (Stops, Option<(usize, u64)>) {
    let settings = &job.ready.settings;
    let classes = settings.classes.priorities();
    let (mut stops, places) = Stops::of(&settings.wiring, out, settings.pause.pfc.then_some(&classes));
    let Some(travelled) = travelled(job, out, flows, &places).filter(|all| !all.is_empty()) else {
        return (stops, None);
    };
    let stood = stops.stood(travelled.into_iter());
    let of = || stood.iter().filter(|f| f.victim);
    let victims = (of().count(), of().map(|f| f.stood).sum());
    stops.keep(stood);
    (stops, Some(victims))
}

/// The finite flows of a run, each with its way, or with all the ways that its frames may take.
fn travelled(
    job: &Job,
    out: &Outcome,
    (flows, owners): (&Flows, &Owners),
    places: &Places,
) -> Option<Vec<Stood>> {
    let settings = &job.ready.settings;
    let done = flows.done.iter().map(|f| (f.src, f.dst, f.nth, f.bytes, f.start, f.time));
    let open = unfinished(settings, out, owners).into_iter().filter(|f| f.start != NOT_BEGUN);
    let open = open.map(|f| (f.src, f.dst, f.nth, f.bytes, f.start, f.so_far));
    let mut all = done.chain(open).peekable();
    if all.peek().is_none() || out.recorded.pauses.xoffs.is_empty() {
        return Some(Vec::new());
    }
    let ways = Ways::new(&settings.spec(&job.ready.built, job.seed, false)).ok()?;
    let name = |host: u64| settings.wiring.name(NodeId(host as u32));
    let one = |(src, dst, nth, bytes, start, time)| {
        let way = ways.of(NodeId(src as u32), NodeId(dst as u32), nth as u32)?;
        let (flow, way) = (format!("{}>{}", name(src), name(dst)), places.of(&way));
        Some(Stood { flow, nth, bytes, start, time, way, ..Stood::default() })
    };
    all.map(one).collect()
}

/// The use of shared buffers, by switch.
fn shared(settings: &cnsim_scenario::settings::Settings, out: &Outcome) -> Vec<SharedFacts> {
    let switches = settings.wiring.switches.iter().zip(&out.switches).filter(|(_, s)| s.shared.sizes.1 > 0);
    let facts = switches.map(|((name, _), s)| {
        let (used, sizes) = (s.shared, s.shared.sizes);
        let (reserve, pool, headroom) =
            ((used.reserve, sizes.0), (used.pool, sizes.1), (used.headroom, sizes.2));
        SharedFacts { switch: name.clone(), reserve, pool, headroom }
    });
    facts.collect()
}

/// The runs of these cases, all seeds ([`Scenario::seeds_of`]).
///
/// # Errors
/// A case whose values cannot be run: all its faults, one a line.
pub fn jobs(scenario: &Scenario, cases: impl IntoIterator<Item = Case>) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for case in cases {
        let ready = scenario.ready(&case).map_err(cnsim_problem::told)?;
        let seeds = 1..=scenario.seeds_of(&case);
        jobs.extend(seeds.map(|seed| Job::new(case.clone(), ready.clone(), seed)));
    }
    Ok(jobs)
}
