//! Runs to be done, and doing them: without the interpreter's lock, with progress, until Ctrl-C.

use crate::errors::raise;
use crate::record::{Record, refused};
use crate::spec::Registry;
use crate::threads::{PATIENCE, STACK, TICK, Threads};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, JobError, Watch, kept, run_each, run_job, run_jobs, unkept};
use cnsim_runs::store::{Asked, Store};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

/// Result of a run: its record, none if it was stopped, or its failure and the exception of its scheme.
type Finished = Result<Option<RunRecord>, (JobError, Option<PyErr>)>;

/// Runs to be done, in order.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    jobs: Arc<Vec<Job>>,
    registry: Registry,
    /// Runs that the store had when it was last asked.
    stored: Arc<AtomicU64>,
    /// Are they to end?
    stopped: Arc<AtomicBool>,
}

impl Plan {
    pub(crate) fn new(jobs: Vec<Job>, registry: Registry) -> Self {
        Self { jobs: Arc::new(jobs), registry, stored: Arc::default(), stopped: Arc::default() }
    }

    fn job(&self, py: Python<'_>, at: usize) -> PyResult<&Job> {
        let none = || raise(py, "CnsimError", &format!("there is no run {at}"), "ask for fewer", "");
        self.jobs.get(at).ok_or_else(none)
    }
}

/// The finished runs in an output folder, shared with the command line.
#[pyclass(name = "Store", module = "cnsim._cnsim", frozen)]
#[derive(Debug)]
pub(crate) struct Kept(Store);

#[pymethods]
impl Kept {
    /// Opens the store of a folder, and makes it where there is none.
    #[new]
    fn new(py: Python<'_>, out: PathBuf) -> PyResult<Self> {
        Store::open(&out, false).map(Self).map_err(|e| refused(py, &e))
    }
}

/// Runs jobs on threads of our own, each known to the interpreter as long as it lives: schemes in Python call back often. The
/// first failure ends it, unless it goes on. They are `known` to who may interrupt them.
fn run_python(
    plan: &Plan,
    store: Option<&Store>,
    threads: usize,
    watch: &Watch,
    go_on: bool,
    known: &Threads,
) -> Vec<Finished> {
    let (jobs, at) = (&plan.jobs, AtomicUsize::new(0));
    let one = || {
        let mut mine = Vec::new();
        loop {
            let i = at.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { break };
            let result = run_job(job, store, watch, 1);
            if result.as_ref().is_err_and(|e| !go_on || matches!(e, JobError::NotKept(_))) {
                at.store(jobs.len(), Ordering::Relaxed);
            }
            mine.push((i, result.map_err(|e| (e, plan.registry.trouble_here()))));
        }
        mine
    };
    let mut all: Vec<Finished> = jobs.iter().map(|_| Ok(None)).collect();
    std::thread::scope(|scope| {
        let spawn = |_| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, || known.within(one)).ok()
        };
        let workers: Vec<_> = (0..threads.clamp(1, jobs.len().max(1))).filter_map(spawn).collect();
        let done = workers
            .into_iter()
            .flat_map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.for_each(|(i, result)| all[i] = result);
    });
    all
}

/// Runs jobs that need no Python; the first failure ends it, unless it goes on.
fn run_rust(plan: &Plan, store: Option<&Store>, threads: usize, watch: &Watch, go_on: bool) -> Vec<Finished> {
    let plain = |all: Vec<Result<Option<RunRecord>, JobError>>| {
        all.into_iter().map(|r| r.map_err(|e| (e, None))).collect()
    };
    match &plan.jobs[..] {
        [one] => plain(vec![run_job(one, store, watch, threads)]),
        many if go_on => plain(run_each(many, store, threads, watch)),
        many => match run_jobs(many, store, threads, watch) {
            Ok(all) => all.into_iter().map(Ok).collect(),
            Err(e) => vec![Err((e, None))],
        },
    }
}

#[pymethods]
impl Plan {
    fn __len__(&self) -> usize {
        self.jobs.len()
    }

    /// The task of a run as JSON, which `plan_of` reads.
    fn task(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let job = self.job(py, at)?;
        let task = json!({"config": job.ready.config, "seed": job.seed, "all_series": job.all_series});
        Ok(task.to_string())
    }

    /// The key of a run in a store.
    fn key(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let job = self.job(py, at)?;
        Ok(Asked::of(&job.record()).key())
    }

    /// The effective configuration of a run, as JSON.
    fn config(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        Ok(self.job(py, at)?.ready.config.to_string())
    }

    /// Is a scheme in Python among them?
    #[getter]
    fn python(&self) -> bool {
        self.jobs.iter().any(|j| self.registry.is_python(&j.case.id.scheme))
    }

    /// Packet-hops and CPU-seconds of all runs, and bytes of memory of the largest.
    fn estimate(&self) -> (f64, f64, f64) {
        let all = self.jobs.iter().map(|j| j.ready.estimate());
        all.fold((0.0, 0.0, 0.0), |t, e| {
            (t.0 + e.packet_hops, t.1 + e.seconds, if e.memory > t.2 { e.memory } else { t.2 })
        })
    }

    /// The stored record of each run; none if the store has none that can be used.
    fn kept(&self, store: &Kept) -> Vec<Option<Record>> {
        let one = |job| {
            kept(job, &store.0).unwrap_or_else(|problem| {
                eprintln!("warning: {problem}");
                None
            })
        };
        let found: Vec<Option<Record>> = self.jobs.iter().map(|job| one(job).map(Record)).collect();
        self.stored.store(found.iter().flatten().count() as u64, Ordering::Relaxed);
        found
    }

    /// Number of runs that were taken from the store.
    #[getter]
    fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Why runs are not kept, a sentence a scheme.
    #[getter]
    fn unkept(&self) -> Vec<String> {
        unkept(&self.jobs)
    }

    /// Some of these runs.
    fn select(&self, py: Python<'_>, which: Vec<usize>) -> PyResult<Self> {
        let jobs = which.into_iter().map(|i| self.job(py, i).cloned()).collect::<PyResult<_>>()?;
        Ok(Self::new(jobs, self.registry.clone()))
    }

    /// Schemes of these runs.
    #[getter]
    fn schemes(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.jobs.iter().map(|j| &j.case.id.scheme).collect();
        names.into_iter().cloned().collect()
    }

    /// Keeps a run that was done elsewhere, if it is what was asked for.
    fn keep(&self, py: Python<'_>, at: usize, record: &Record, store: Option<&Kept>) -> PyResult<Record> {
        let job = self.job(py, at)?;
        let (asked, got) = (Asked::of(&job.record()).key(), record.key());
        if asked != got {
            let why = format!("a worker answered with another run ({got}) than was asked for ({asked})");
            let remedy = "give all workers the same version of cnsim";
            return Err(raise(py, "VersionError", &why, remedy, ""));
        }
        let record = job.named(record.0.clone());
        if let Some(store) = store.filter(|_| job.asked().is_ok()) {
            let put = store.0.put(&record);
            put.map_err(|e| raise(py, "CnsimError", &e, "make room there, or choose another out=", ""))?;
        }
        Ok(Record(record))
    }

    /// Ends runs of this plan that go on in another thread: they raise `KeyboardInterrupt`.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Does the runs on so many threads. What a store has need not be run. `progress(done, hops)` is called now and then. A run
    /// that fails is raised; with `go_on` its exception stands among the records.
    #[pyo3(signature = (out, threads, progress, go_on = false))]
    fn run(
        &self,
        py: Python<'_>,
        out: Option<PathBuf>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        go_on: bool,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let store = out.map(|out| Kept::new(py, out)).transpose()?.map(|kept| kept.0);
        let watch = Arc::new(Watch::default());
        let callers = Arc::new(Threads::default());
        let (plan, seen, known) = (self.clone(), watch.clone(), callers.clone());
        drop(self.registry.trouble());
        self.registry.stop(false);
        self.stopped.store(false, Ordering::Relaxed);
        let (tell, told) = mpsc::channel();
        let told = Mutex::new(told);
        let worker = std::thread::spawn(move || {
            let done = if plan.python() {
                run_python(&plan, store.as_ref(), threads, &seen, go_on, &known)
            } else {
                run_rust(&plan, store.as_ref(), threads, &seen, go_on)
            };
            let _ = tell.send(());
            done
        });
        let stopped = self.wait(py, &told, (&watch, &callers), progress);
        self.stored.store(watch.stored.load(Ordering::Relaxed), Ordering::Relaxed);
        stopped.map_or(Ok(()), Err)?;
        let done = py.detach(|| worker.join());
        let Ok(done) = done else {
            let why = "a run panicked: this is a defect of cnsim";
            return Err(raise(py, "RunError", why, "report it with the scenario and the seed", ""));
        };
        let mut found = Vec::new();
        for finished in done {
            match finished {
                Ok(None) => {}
                Ok(Some(record)) => found.push(Py::new(py, Record(record))?.into_any()),
                Err((e, raised)) => {
                    let error = failed(py, &e, raised);
                    if !go_on || matches!(e, JobError::NotKept(_)) {
                        return Err(error);
                    }
                    found.push(error.into_value(py).into_any());
                }
            }
        }
        Ok(found)
    }
}

impl Plan {
    /// Waits for the end of runs, with progress; until Ctrl-C, an exception of `progress`, or [`Plan::stop`], which is then given back.
    fn wait(
        &self,
        py: Python<'_>,
        told: &Mutex<mpsc::Receiver<()>>,
        (watch, callers): (&Watch, &Threads),
        progress: Option<Py<PyAny>>,
    ) -> Option<PyErr> {
        let mut stopped: Option<(PyErr, Instant)> = None;
        loop {
            let ended = py.detach(|| {
                let told = told.lock().unwrap_or_else(PoisonError::into_inner);
                !matches!(told.recv_timeout(TICK), Err(mpsc::RecvTimeoutError::Timeout))
            });
            if ended {
                break;
            }
            let mut said = py.check_signals();
            if let (Ok(()), Some(p)) = (&said, &progress) {
                let (done, hops) = (watch.done.load(Ordering::Relaxed), watch.live.load(Ordering::Relaxed));
                said = p.call1(py, (done, hops)).map(drop);
            }
            if said.is_ok() && self.stopped.load(Ordering::Relaxed) {
                said = Err(PyKeyboardInterrupt::new_err(()));
            }
            if let Err(e) = said {
                watch.stop.store(true, Ordering::Relaxed);
                self.registry.stop(true);
                stopped.get_or_insert((e, Instant::now()));
            }
            if let Some((_, since)) = &stopped {
                // A call that sleeps outside of the interpreter cannot be ended: its thread is left alone.
                if callers.interrupt(py).is_err() || since.elapsed() > PATIENCE {
                    break;
                }
            }
        }
        stopped.map(|(e, _)| e)
    }
}

/// A run that failed as an exception; what its scheme raised is the cause.
fn failed(py: Python<'_>, e: &JobError, raised: Option<PyErr>) -> PyErr {
    let (class, remedy) = match (e, &raised) {
        (JobError::NotKept(_), _) => ("CnsimError", "make room there, or choose another out="),
        (_, Some(_)) => ("SchemeError", "mend the scheme: the exception above is its own"),
        (_, None) => ("RunError", "report it with the scenario and the seed"),
    };
    let error = raise(py, class, &e.to_string(), remedy, "");
    if raised.is_some() {
        error.set_cause(py, raised);
    }
    error
}
