//! Scenarios, and the runs that are asked of them.

use crate::errors::{problems, raise, told};
use crate::plan::Plan;
use crate::record::{Record, plain};
use crate::spec::Registry;
use cnsim_papers::cells::all_cases;
use cnsim_papers::published::{self, Published};
use cnsim_runs::grid;
use cnsim_runs::run::{Job, jobs};
use cnsim_scenario::Case;
use cnsim_scenario::config::Config;
use cnsim_scenario::meant::did_you_mean;
use cnsim_scenario::tables;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Values of keys, as texts.
type Sets = Vec<(String, String)>;

/// A scenario, read and checked.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) inner: cnsim_scenario::Scenario,
    registry: Registry,
    sets: Sets,
}

/// Which case of a scenario is meant, as `cnsim run` takes it.
#[derive(Debug, FromPyObject)]
struct Asked {
    #[pyo3(item)]
    scheme: Option<String>,
    #[pyo3(item)]
    pause: Option<String>,
    #[pyo3(item)]
    condition: Option<String>,
}

impl Scenario {
    fn scheme(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        scheme(py, &self.registry, name)
    }

    /// The case that is meant: the first of the scheme asked for; a scheme that the scenario does not run takes the first
    /// case's place. A key that was set wins over the matrix.
    fn chosen(&self, py: Python<'_>, asked: &Asked) -> PyResult<Case> {
        let cases = self.inner.cases();
        let scheme = asked.scheme.as_deref().map(|s| self.scheme(py, s)).transpose()?;
        let first =
            cases.iter().find(|c| scheme.as_ref().is_none_or(|s| *s == c.id.scheme)).or(cases.first());
        let first = first.ok_or_else(|| {
            let why = "the scenario has no case";
            raise(py, "ScenarioError", why, "give its matrix a scheme", "matrix.schemes")
        })?;
        let set_pause = self.sets.iter().find(|s| s.0 == tables::pause::MODE.path).map(|s| s.1.as_str());
        let pause = asked.pause.as_deref().or(set_pause);
        let case = match &asked.condition {
            None => {
                let scheme = scheme.as_ref().unwrap_or(&first.id.scheme);
                self.inner.case(first.group, first.row.clone(), pause.unwrap_or(&first.id.pause), scheme)
            }
            Some(text) => self
                .inner
                .case_asked(text, pause, scheme.as_deref())
                .map_err(|(why, remedy)| raise(py, "ScenarioError", &why, &remedy, "condition"))?,
        };
        let mut row = case.row.clone();
        row.retain(|(k, _)| asked.condition.is_some() || !self.sets.iter().any(|s| s.0 == *k));
        Ok(self.inner.case(case.group, row, &case.id.pause, &case.id.scheme))
    }

    fn plan(&self, jobs: Vec<Job>) -> Plan {
        Plan::new(jobs, self.registry.clone())
    }
}

/// A scheme's registered name.
fn scheme(py: Python<'_>, registry: &Registry, name: &str) -> PyResult<String> {
    let found = registry.inner.find(name.trim()).map(|s| s.name.clone());
    found.ok_or_else(|| {
        let hint = did_you_mean(name, registry.inner.names());
        let remedy = format!("{hint}cn.list(\"schemes\") shows them");
        raise(py, "ScenarioError", &format!("there is no scheme `{name}`"), &remedy, "scheme")
    })
}

#[pymethods]
impl Scenario {
    /// Reads an embedded scenario or a file, or a text under a name; `schemes` are those that will be run.
    #[new]
    #[pyo3(signature = (registry, what, text, sets, schemes))]
    fn new(
        py: Python<'_>,
        registry: &Registry,
        what: &str,
        text: Option<&str>,
        sets: Sets,
        schemes: Vec<String>,
    ) -> PyResult<Self> {
        let asked = schemes.iter().map(|s| scheme(py, registry, s)).collect::<PyResult<Vec<_>>>()?;
        let names: Vec<&str> = asked.iter().map(String::as_str).collect();
        let inner = match text {
            Some(text) => cnsim_scenario::Scenario::parse_in(&registry.inner, what, text, &sets, &names),
            None => cnsim_scenario::Scenario::load_in(&registry.inner, what, &sets, &names),
        };
        let inner = inner.map_err(|p| problems(py, &p))?;
        Ok(Self { inner, registry: registry.clone(), sets })
    }

    /// The scenario's heading, question and source, default number of seeds, and cases: (condition, PAUSE, scheme).
    fn about(&self) -> String {
        let s = &self.inner;
        let case = |c: &Case| json!([c.id.condition, c.id.pause, c.id.scheme]);
        json!({
            "id": s.id(), "study": s.study, "name": s.name, "title": s.title, "question": s.question,
            "source": s.source, "seeds": s.seeds, "cases": s.cases().iter().map(case).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// Runs of one case with consecutive seeds.
    #[pyo3(signature = (asked, seed, seeds, all_series))]
    fn plan_run(
        &self,
        py: Python<'_>,
        asked: Asked,
        seed: u64,
        seeds: u64,
        all_series: bool,
    ) -> PyResult<Plan> {
        let case = self.chosen(py, &asked)?;
        let ready = self.inner.ready(&case).map_err(|p| problems(py, &p))?;
        let job = |seed| Job { all_series, ..Job::new(case.clone(), ready.clone(), seed) };
        Ok(self.plan((0..seeds).map(|i| job(seed.saturating_add(i))).collect()))
    }

    /// Runs of the whole matrix and of all that was published about it.
    #[pyo3(signature = (seeds))]
    fn plan_all(&self, py: Python<'_>, seeds: Option<u64>) -> PyResult<Plan> {
        let mut scenario = self.inner.clone();
        if let Some(n) = seeds {
            scenario.set_seeds(n);
        }
        let (cases, _) = all_cases(&scenario, &published_rows(py)?);
        let jobs = jobs(&scenario, cases).map_err(|text| told(py, "ScenarioError", &text))?;
        Ok(self.plan(jobs))
    }

    /// Runs of a grid over keys, as `cnsim sweep --over` takes them; with a description of its points as JSON.
    #[pyo3(signature = (asked, over, schemes, pauses, seeds))]
    fn plan_sweep(
        &self,
        py: Python<'_>,
        asked: Asked,
        over: Vec<String>,
        schemes: Vec<String>,
        pauses: Vec<String>,
        seeds: u64,
    ) -> PyResult<(Plan, String)> {
        let axes = grid::axes(&over).map_err(|text| told(py, "ScenarioError", &text))?;
        let mut schemes = schemes.iter().map(|s| self.scheme(py, s)).collect::<PyResult<Vec<_>>>()?;
        let first = asked.scheme.clone().or(schemes.first().cloned());
        let base = self.chosen(py, &Asked { scheme: first, ..asked })?;
        if schemes.is_empty() {
            schemes.push(base.id.scheme.clone());
        }
        let pauses = if pauses.is_empty() { vec![base.id.pause.clone()] } else { pauses };
        let sweep = grid::plan(&self.inner, axes, &base, &pauses, &schemes, seeds)
            .map_err(|text| told(py, "ScenarioError", &text))?;
        let axis = |a: &grid::Axis| json!({"key": a.key, "values": a.values, "log": a.log, "numbers": grid::numbers(&a.values).map(|n| (n.0, n.1))});
        let point = |p: &grid::Point| json!({"values": p.values, "condition": p.case.id.condition, "pause": p.case.id.pause, "scheme": p.case.id.scheme, "first": p.first});
        let about = json!({
            "axes": sweep.axes.iter().map(axis).collect::<Vec<_>>(),
            "points": sweep.points.iter().map(point).collect::<Vec<_>>(),
            "seeds": sweep.seeds, "notes": sweep.notes,
        });
        Ok((self.plan(sweep.jobs), about.to_string()))
    }
}

/// The published numbers.
pub(crate) fn published_rows(py: Python<'_>) -> PyResult<Vec<Published>> {
    published::parse("published.csv", published::EMBEDDED).map_err(|e| told(py, "CnsimError", &e))
}

/// Published beside measured values, one row a case and metric, as JSON.
#[pyfunction]
pub(crate) fn cells(
    py: Python<'_>,
    records: Vec<Bound<'_, Record>>,
    scenarios: Vec<Bound<'_, Scenario>>,
) -> PyResult<String> {
    let scenarios: Vec<cnsim_scenario::Scenario> = scenarios.iter().map(|s| s.get().inner.clone()).collect();
    let cells = cnsim_papers::cells::cells(&plain(&records), &published_rows(py)?, &scenarios);
    let row = |c: &cnsim_papers::cells::Cell| {
        json!({
            "study": c.case.study, "scenario": c.case.scenario, "condition": c.condition(), "pause": c.case.pause,
            "scheme": c.case.scheme, "metric": c.metric.id, "unit": c.unit,
            "published": c.published.as_ref().map(|p| p.value), "measured": c.summary.mean,
            "ci95": c.summary.confidence(), "pi95": c.summary.prediction(),
            "at_least": c.summary.bound, "seeds": c.summary.n,
            "verdict": c.verdict.text(), "note": c.note,
        })
    };
    Ok(json!(cells.iter().map(row).collect::<Vec<_>>()).to_string())
}

/// The runs of a list of tasks: a configuration, a seed, whether all series are kept, study and scenario, as JSON.
#[pyfunction]
pub(crate) fn plan_of(py: Python<'_>, registry: &Registry, tasks: Vec<String>) -> PyResult<Plan> {
    let bad = |why: String| raise(py, "CnsimError", &why, "only what cnsim has written can be run", "");
    let mut jobs = Vec::new();
    for text in tasks {
        let task: Value = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        let config = Config::from(task["config"].clone());
        let name = config.scheme();
        let mine = registry.inner.find(name).and_then(|s| s.build(&[]).ok());
        let mine = mine.and_then(|b| b.values.into_iter().find(|v| v.0 == "code")).map(|v| v.1);
        if config.text("scheme.params.code") != mine.as_deref() {
            let why = format!("the scheme `{name}` here is of other code than the runs asked for");
            return Err(raise(py, "VersionError", &why, "give both places the same scheme", ""));
        }
        let (scenario, case) =
            cnsim_scenario::Scenario::from_config(&registry.inner, &config).map_err(|p| problems(py, &p))?;
        let ready = scenario.ready(&case).map_err(|p| problems(py, &p))?;
        let seed = task["seed"].as_u64().ok_or_else(|| bad("a task has no seed".into()))?;
        let all_series = task["all_series"].as_bool().unwrap_or(false);
        jobs.push(Job { all_series, ..Job::new(case, ready, seed) });
    }
    Ok(Plan::new(jobs, registry.clone()))
}
