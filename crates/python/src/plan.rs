//! Runs to be done, and doing them: without the interpreter's lock, with progress, until Ctrl-C.

use crate::errors::raise;
use crate::record::{Record, refused};
use crate::spec::Registry;
use cnsim_studies::store::{RunRecord, Store};
use cnsim_studies::study::{Job, JobError, Watch, kept, run_job, run_jobs, unkept};
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How often signals are looked at and progress is told.
const TICK: Duration = Duration::from_millis(100);

/// What came of running.
type Finished = Result<Vec<Option<RunRecord>>, JobError>;

/// Runs to be done, in order.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Debug)]
pub(crate) struct Plan {
    jobs: Arc<Vec<Job>>,
    registry: Registry,
    /// Runs that the store had when it was last asked.
    stored: Arc<AtomicU64>,
}

impl Plan {
    pub(crate) fn new(jobs: Vec<Job>, registry: Registry) -> Self {
        Self { jobs: Arc::new(jobs), registry, stored: Arc::default() }
    }

    fn job(&self, py: Python<'_>, at: usize) -> PyResult<&Job> {
        let none = || raise(py, "CnsimError", &format!("there is no run {at}"), "ask for fewer", "");
        self.jobs.get(at).ok_or_else(none)
    }
}

/// Finished runs of an output folder, the same as the program keeps.
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

/// Runs jobs on threads of our own, each known to the interpreter as long as it lives: schemes in Python call back often.
fn run_python(jobs: &[Job], store: Option<&Store>, threads: usize, watch: &Watch) -> Finished {
    let at = AtomicUsize::new(0);
    let one = || {
        let mut mine = Vec::new();
        loop {
            let i = at.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { break };
            let result = run_job(job, store, watch, 1);
            if result.is_err() {
                at.store(jobs.len(), Ordering::Relaxed);
            }
            mine.push((i, result));
        }
        mine
    };
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, jobs.len().max(1)))
            .map(|_| scope.spawn(|| Python::attach(|py| py.detach(one))))
            .collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|a| a.0);
    let mut done: Vec<Option<RunRecord>> = all.into_iter().map(|a| a.1).collect::<Result<_, _>>()?;
    done.resize(jobs.len(), None);
    Ok(done)
}

#[pymethods]
impl Plan {
    fn __len__(&self) -> usize {
        self.jobs.len()
    }

    /// What a run is made from, as JSON: what `plan_of` reads.
    fn task(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let job = self.job(py, at)?;
        let task = json!({"config": job.ready.config, "seed": job.seed, "all_series": job.all_series});
        Ok(task.to_string())
    }

    /// The key of a run in a store.
    fn key(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let job = self.job(py, at)?;
        Ok(job.record().asked().key())
    }

    /// The effective configuration of a run, as JSON.
    fn config(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        Ok(self.job(py, at)?.ready.config.to_string())
    }

    /// Is a scheme in Python among them?
    #[getter]
    fn python(&self) -> bool {
        self.jobs.iter().any(|j| self.registry.is_python(&j.case.scheme))
    }

    /// Packet-hops and CPU-seconds of all runs, and bytes of memory of the largest.
    fn estimate(&self) -> (f64, f64, f64) {
        let all = self.jobs.iter().map(|j| j.ready.estimate());
        all.fold((0.0, 0.0, 0.0), |t, e| {
            (t.0 + e.packet_hops, t.1 + e.seconds, if e.memory > t.2 { e.memory } else { t.2 })
        })
    }

    /// What a store has of each run; none where it has nothing that can be used.
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
        let names: BTreeSet<&String> = self.jobs.iter().map(|j| &j.case.scheme).collect();
        names.into_iter().cloned().collect()
    }

    /// Keeps a run that was done elsewhere, if it is what was asked for.
    fn keep(&self, py: Python<'_>, at: usize, record: &Record, store: Option<&Kept>) -> PyResult<Record> {
        let job = self.job(py, at)?;
        let (asked, got) = (job.record().asked().key(), record.key());
        if asked != got {
            let why = format!("a worker answered with another run ({got}) than was asked for ({asked})");
            let remedy = "give all workers the same version of cnsim";
            return Err(raise(py, "VersionError", &why, remedy, ""));
        }
        let own = job.record();
        let (study, scenario, condition, config) = (own.study, own.scenario, own.condition, own.config);
        let record = RunRecord { study, scenario, condition, config, ..record.0.clone() };
        if let Some(store) = store.filter(|_| job.asked().is_ok()) {
            let put = store.0.put(&record);
            put.map_err(|e| raise(py, "CnsimError", &e, "make room there, or choose another out=", ""))?;
        }
        Ok(Record(record))
    }

    /// Does the runs on so many threads. What a store has need not be run. `progress(done, hops)` is called now and then.
    #[pyo3(signature = (out, threads, progress))]
    fn run(
        &self,
        py: Python<'_>,
        out: Option<PathBuf>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Record>> {
        let store = out.map(|out| Kept::new(py, out)).transpose()?.map(|kept| kept.0);
        let watch = Arc::new(Watch::default());
        let (jobs, seen, python) = (self.jobs.clone(), watch.clone(), self.python());
        drop(self.registry.trouble());
        let (tell, told) = mpsc::channel();
        let told = Mutex::new(told);
        let worker = std::thread::spawn(move || {
            let done = match &jobs[..] {
                jobs if python => run_python(jobs, store.as_ref(), threads, &seen),
                [one] => run_job(one, store.as_ref(), &seen, threads).map(|r| vec![r]),
                many => run_jobs(many, store.as_ref(), threads, &seen),
            };
            let _ = tell.send(());
            done
        });
        let mut stopped = None;
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
            if let Err(e) = said {
                watch.stop.store(true, Ordering::Relaxed);
                stopped.get_or_insert(e);
            }
        }
        let done = py.detach(|| worker.join());
        self.stored.store(watch.stored.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some(e) = stopped {
            return Err(e);
        }
        let trouble = self.registry.trouble();
        let failed = |text: &str| match trouble {
            Some(_) => raise(py, "SchemeError", text, "mend the scheme: the exception above is its own", ""),
            None => raise(py, "RunError", text, "report it with the scenario and the seed", ""),
        };
        let error = match done {
            // What `engages` raises stops no run.
            Ok(Ok(_)) if trouble.is_some() => failed("the scheme's `engages` raised"),
            Ok(Ok(records)) => return Ok(records.into_iter().flatten().map(Record).collect()),
            Ok(Err(e)) => failed(&e.to_string()),
            Err(_) => failed("a run panicked: this is a defect of cnsim"),
        };
        if let Some(cause) = trouble {
            error.set_cause(py, Some(cause));
        }
        Err(error)
    }
}
