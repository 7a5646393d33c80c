//! Finished runs as Python sees them, and what is made of many.

use crate::errors::{raise, told};
use cnsim_cli::Pairs;
use cnsim_measure::events::Event;
use cnsim_measure::fct::FlowTime;
use cnsim_measure::map::SHOWN;
use cnsim_measure::spent::{AtPort, Cut, Cuts, FlowParts, PARTS as OF_TIME};
use cnsim_measure::stats::Summary;
use cnsim_measure::traffic::TrafficFacts;
use cnsim_measure::xoff::PARTS;
use cnsim_papers::PAPERS;
use cnsim_runs::flow_files::{labels as run_labels, read_flows, slowdown_of};
use cnsim_runs::place::PlaceError;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results::{Results, read_series};
use cnsim_runs::saved::Saved;
use cnsim_runs::spent_files::read_spent;
use cnsim_runs::store::{Asked, RESULT_VERSION};
use cnsim_scenario::EMBEDDED;
use cnsim_scenario::assumptions::ASSUMPTIONS;
use cnsim_scenario::metrics::{self, METRICS};
use cnsim_scenario::tables;
use cnsim_scheme_api::Time;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A finished run.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct Record(pub(crate) RunRecord);

impl Record {
    /// Key of the record in a store.
    pub(crate) fn key(&self) -> String {
        Asked::of(&self.0).key()
    }
}

#[pymethods]
impl Record {
    /// Reads a run from the text of `json`.
    #[staticmethod]
    fn of(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = serde_json::from_str(text).map(Self);
        read.map_err(|e| {
            raise(py, "CnsimError", &format!("not a finished run: {e}"), "give what cnsim has written", "")
        })
    }
    /// The whole run as JSON.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|e| told(py, "CnsimError", &e.to_string()))
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("of")?, (slf.get().json(py)?,)))
    }
    #[getter]
    fn study(&self) -> &str {
        &self.0.case.study
    }
    #[getter]
    fn scenario(&self) -> &str {
        &self.0.case.scenario
    }
    #[getter]
    fn condition(&self) -> &str {
        &self.0.case.condition
    }
    #[getter]
    fn pause(&self) -> &str {
        &self.0.case.pause
    }
    #[getter]
    fn scheme(&self) -> &str {
        &self.0.case.scheme
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }
    /// Hashes over events, frames and samples.
    #[getter]
    fn fingerprint(&self) -> BTreeMap<String, String> {
        self.0.fingerprint.clone()
    }
    /// Values by metric; units are those of `lists`.
    #[getter]
    fn metrics(&self) -> BTreeMap<String, f64> {
        self.0.metrics.values()
    }
    /// Metrics whose value is a lower bound, as flows were unfinished.
    #[getter]
    fn at_least(&self) -> Vec<String> {
        self.0.metrics.bounds()
    }
    /// The scheme's own counters.
    #[getter]
    fn counters(&self) -> BTreeMap<String, u64> {
        self.0.counters.clone()
    }
    /// Data and control frames that finished a link.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.0.execution.packet_hops
    }
    /// The effective configuration, as JSON.
    fn config(&self) -> String {
        self.0.config.to_string()
    }
    /// Metrics of traffic by name, as JSON: a list of names with their metrics.
    fn traffic(&self) -> String {
        let one = |t: &TrafficFacts| json!({"name": t.name, "metrics": t.metrics.values(), "at_least": t.metrics.bounds()});
        json!(self.0.traffic.iter().map(one).collect::<Vec<_>>()).to_string()
    }

    /// Measurements at ports, as JSON.
    fn ports(&self) -> String {
        json!(self.0.ports).to_string()
    }
    /// When each port was in XOFF: the length of a part of the run in seconds, and its ports as JSON.
    fn xoff(&self) -> (f64, String) {
        let part =
            self.0.config.read::<Time>(tables::run::DURATION).map_or(0.0, |d| d.as_secs_f64() / PARTS as f64);
        (part, json!(self.0.xoff).to_string())
    }
    /// Names of its hosts, and eight numbers for each finite flow that was received whole, as 64-bit integers, little-endian: source,
    /// destination, bytes, start, completion time, ideal time, ideal time of the HPCC fork, place of its traffic's name. Times are in
    /// picoseconds. Names of traffic count from 1 in the order of `traffic`; 0 is none.
    fn flows<'py>(&self, py: Python<'py>) -> (Vec<String>, Bound<'py, PyBytes>) {
        let eight = |f: &FlowTime| [f.src, f.dst, f.bytes, f.start, f.time, f.exact, f.fork, f.name];
        let bytes: Vec<u8> = self.0.flows.times.iter().flat_map(eight).flat_map(u64::to_le_bytes).collect();
        (self.0.flows.hosts.clone(), PyBytes::new(py, &bytes))
    }
    /// Where the time of its complete flows went, as JSON: flows by start, with times in picoseconds; null if it was not kept.
    fn spent(&self) -> String {
        let Some(spent) = &self.0.flows.spent else { return "null".into() };
        let port = |p: &AtPort| json!({"port": spent.port(p.port), "queue": p.queued, "xoff": p.xoff, "sending": p.sending, "link": p.link});
        let one = |f: &FlowParts| {
            let parts: BTreeMap<_, _> = OF_TIME.iter().map(|part| part.0).zip(f.by_part()).collect();
            let at = |port: Option<u64>| port.map(|port| spent.port(port));
            let cut = |c: &Cut| json!({"cause": c.by, "port": at(c.port), "at": c.at, "rate": c.rate, "window": c.window, "cost": c.cost});
            let sum = |c: &Cuts| json!({"cause": c.by, "port": at(c.port), "count": c.count, "cost": c.cost});
            json!({"flow": f.name(), "traffic": f.traffic, "class": f.class, "bytes": f.bytes, "start": f.start, "time": f.time,
                "alone": f.alone, "parts": parts, "ports": f.ports.iter().map(port).collect::<Vec<_>>(),
                "ahead": f.ahead.iter().map(|a| json!({"port": spent.port(a.port), "who": a.who, "time": a.time})).collect::<Vec<_>>(),
                "cuts": f.cuts.iter().map(cut).collect::<Vec<_>>(), "cut_by": f.by_cause.iter().map(sum).collect::<Vec<_>>()})
        };
        json!(spent.flows.iter().map(one).collect::<Vec<_>>()).to_string()
    }
    /// Names of the ports that it kept over time; none if it kept none.
    fn map_ports(&self) -> Option<Vec<String>> {
        Some(self.0.over_time.map.as_ref()?.ports.iter().map(|p| p.port.clone()).collect())
    }
    /// A quantity of such a port: unit, width of a bin in seconds, and its values as 64-bit floating-point numbers, little-endian.
    fn map_row<'py>(
        &self,
        py: Python<'py>,
        port: &str,
        what: &str,
    ) -> Option<(&'static str, f64, Bound<'py, PyBytes>)> {
        let (map, shown) = (self.0.over_time.map.as_ref()?, SHOWN.iter().find(|s| s.row == what)?);
        let bytes: Vec<u8> = map.values(port, shown)?.into_iter().flat_map(f64::to_le_bytes).collect();
        Some((shown.unit, map.bin as f64 / 1e12, PyBytes::new(py, &bytes)))
    }
    /// The map as a page.
    fn map_page(&self) -> Option<String> {
        cnsim_cli::map_page(&self.0)
    }
    /// The map at a time, seconds, as SVG.
    fn map_still(&self, what: &str, at: f64) -> Option<String> {
        let map = self.0.over_time.map.as_ref()?;
        cnsim_cli::still(map, what, (at * 1e12 / map.bin as f64 + 1e-6).max(0.0) as usize)
    }
    /// Events of the flows that `record.flow_events` names, as JSON: times in picoseconds, rates in bit/s; null if none is named.
    fn events(&self) -> String {
        let Some(events) = &self.0.flows.events else { return "null".into() };
        let one = |e: &Event| {
            json!({"flow": events.flows.get(e.flow as usize), "number": e.nth, "time": e.at, "cause": e.by,
            "port": e.port, "rate": e.rate, "window": e.window, "in_flight": e.in_flight, "rtt": e.rtt})
        };
        json!(events.list.iter().map(one).collect::<Vec<_>>()).to_string()
    }
    /// Slowdown of each of these flows, as 64-bit floating-point numbers, little-endian.
    fn slowdowns<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let of = |f: &FlowTime| slowdown_of(&self.0, f);
        let bytes: Vec<u8> = self.0.flows.times.iter().map(of).flat_map(f64::to_le_bytes).collect();
        PyBytes::new(py, &bytes)
    }
    /// Names of the time series.
    fn series_names(&self) -> Vec<String> {
        self.0.over_time.series.keys().cloned().collect()
    }
    /// A time series: unit, width of a bin in seconds, and its values as 64-bit floating-point numbers, little-endian.
    fn series<'py>(&self, py: Python<'py>, name: &str) -> Option<(String, f64, Bound<'py, PyBytes>)> {
        let curve = self.0.over_time.series.get(name)?;
        let bytes: Vec<u8> = curve.values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Some((curve.unit.clone(), curve.bin, PyBytes::new(py, &bytes)))
    }
    /// Address of the run: a hash of configuration, seed and version.
    #[getter(key)]
    fn address(&self) -> String {
        self.key()
    }
}

pub(crate) fn plain(records: &[Bound<'_, Record>]) -> Vec<RunRecord> {
    records.iter().map(|r| r.get().0.clone()).collect()
}

/// Notes on what may mislead about these runs, a line each, as the program says it: frozen networks, unfinished flows, and
/// conclusions to be careful with.
#[pyfunction]
pub(crate) fn notes(records: Vec<Bound<'_, Record>>) -> Vec<String> {
    let all = plain(&records);
    let said = cnsim_advice::notes::frozen(&all).into_iter().chain(cnsim_advice::unfinished::lines(&all));
    said.chain(cnsim_advice::notes::after(&all)).map(|line| line.trim().to_string()).collect()
}

/// Mean of some values, the 95 % interval of the mean, and the standard deviation; the interval is none for one value.
/// `paired`: the values are differences taken seed by seed. The interval of a `metric` ends where its values can be. `bound`: some
/// values are lower bounds, so there is no interval.
#[pyfunction]
#[pyo3(signature = (values, paired = false, metric = "", bound = false))]
pub(crate) fn interval(
    values: Vec<f64>,
    paired: bool,
    metric: &str,
    bound: bool,
) -> Option<(f64, Option<(f64, f64)>, f64)> {
    let s = Summary::of(&values)?.bounded(bound);
    let s = metrics::find(metric).map_or(s, |m| s.within(m.range()));
    Some((s.mean, if paired { s.paired() } else { s.confidence() }, s.sd))
}

/// Half the length of an interval, where `mean ± half` tells it; none where both ends must be given.
#[pyfunction]
pub(crate) fn plus_minus(mean: f64, low: f64, high: f64) -> Option<f64> {
    cnsim_cli::plus_minus(mean, (low, high))
}

/// A metric of runs beside a baseline's, paired by seed: mean difference, its 95 % interval, number of seeds, and verdict. None where
/// no seed has it on both sides.
#[pyfunction]
pub(crate) fn paired(
    base: Vec<Bound<'_, Record>>,
    here: Vec<Bound<'_, Record>>,
    metric: &str,
) -> Option<(f64, Option<(f64, f64)>, usize, &'static str)> {
    let [base, here] = [&base, &here].map(|all| all.iter().map(|r| &r.get().0).collect::<Vec<_>>());
    let pairs = Pairs::of_records(&base, &here, metrics::find(metric)?)?;
    Some((pairs.difference.mean, pairs.interval(), pairs.difference.n, pairs.verdict()))
}

/// Texts as numbers of one unit; none where they are not.
#[pyfunction]
pub(crate) fn numbers(values: Vec<String>) -> Option<(Vec<f64>, String)> {
    cnsim_runs::grid::numbers(&values)
}

/// A list as JSON: studies, scenarios, metrics or assumptions.
#[pyfunction]
pub(crate) fn lists(py: Python<'_>, what: &str) -> PyResult<String> {
    let rows: Vec<_> = match what {
        "studies" => {
            PAPERS.iter().map(|p| json!({"name": p.id, "title": p.title, "source": p.citation})).collect()
        }
        "metrics" => METRICS
            .iter()
            .map(|m| json!({"name": m.id, "title": m.title, "unit": m.unit, "about": m.about}))
            .collect(),
        "assumptions" => ASSUMPTIONS
            .iter()
            .map(|a| json!({"name": a.name, "id": a.id, "key": a.key, "about": a.about}))
            .collect(),
        _ => {
            let one = |(id, _): &(&str, &str)| {
                let s =
                    cnsim_scenario::Scenario::load(id, &[]).map_err(|p| crate::errors::problems(py, &p))?;
                Ok(json!({"name": id, "title": s.title, "question": s.question, "source": s.source}))
            };
            EMBEDDED.iter().map(one).collect::<PyResult<_>>()?
        }
    };
    Ok(json!(rows).to_string())
}

/// Writes `results.json` and the series beside it into a folder, as the program does; gives the path. With `force` files of
/// others are written over.
#[pyfunction]
#[pyo3(signature = (records, out, command, force = false))]
pub(crate) fn save(
    py: Python<'_>,
    records: Vec<Bound<'_, Record>>,
    out: PathBuf,
    command: &str,
    force: bool,
) -> PyResult<PathBuf> {
    let saved = Saved::open(&out, force).map_err(|e| refused(py, &e))?;
    saved.results(command, None, &plain(&records), |_| true).map_err(|e| refused(py, &e))?;
    Ok(out.join("results.json"))
}

/// Why a folder is not written to, as an exception.
pub(crate) fn refused(py: Python<'_>, e: &PlaceError) -> PyErr {
    raise(py, "CnsimError", &e.to_string(), "choose another folder", "out")
}

/// Reads a `results.json`, with the series and the times of flows that stand beside it.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Record>> {
    let all = Results::read(&path).map_err(|e| told(py, "CnsimError", &e))?;
    if all.result_version != RESULT_VERSION {
        let why = format!(
            "{}: holds results of version {}, this cnsim's are of version {RESULT_VERSION}",
            path.display(),
            all.result_version
        );
        return Err(raise(py, "VersionError", &why, "run it again, or use the cnsim that wrote it", "path"));
    }
    if all.sum() != all.checksum {
        let why = format!("{}: was changed after it was written", path.display());
        return Err(raise(py, "CnsimError", &why, "take the file as cnsim wrote it", "path"));
    }
    let folder = path.parent().unwrap_or(&path);
    let mut records = Vec::new();
    for mut record in all.runs {
        for file in
            std::mem::take(&mut record.files).iter().filter(|f| f.starts_with("series/") && !f.contains(".."))
        {
            // A results.json may have been handed on alone.
            if !folder.join(file).exists() {
                continue;
            }
            let (name, curve) = read_series(&folder.join(file)).map_err(|e| told(py, "CnsimError", &e))?;
            record.over_time.series.insert(name, curve);
        }
        records.push(record);
    }
    let flows = folder.join("fct.csv");
    if flows.exists() {
        read_flows(&flows, &mut records).map_err(|e| told(py, "CnsimError", &e))?;
    }
    let parts = folder.join("flows.csv");
    if parts.exists() {
        for (labels, spent) in read_spent(&parts).map_err(|e| told(py, "CnsimError", &e))? {
            let mut same = records.iter_mut().filter(|r| run_labels(r)[..] == labels[..]);
            if let (Some(record), None) = (same.next(), same.next()) {
                record.flows.spent = Some(spent);
            }
        }
    }
    Ok(records.into_iter().map(Record).collect())
}
