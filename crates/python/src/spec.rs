//! A Python class as a registration, and the registry that holds ours and such ones.

use crate::bridge::{Bridged, Trouble};
use crate::errors::{raise, refused};
use crate::handles::gate;
use crate::params::{Declared, Number, Value};
use cnsim_problem::nearest;
use cnsim_scheme_api::registry::{Code, Configured};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Acks, Built, Bytes, Counter, Gauge, ParamError, Plan, Rate, Registration, Scope, Speaks, Time,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::sync::Arc;

/// The parameter that stands for the code of a scheme in Python: a run is another one when the code is.
const CODE: &str = "code";

/// A scheme's plan, which the network must know in advance, as Python gives it.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
struct Planned {
    scope: String,
    acks: String,
    first_frame: bool,
    reflect: String,
    reflect_probability: f64,
    reflector_scope: String,
    received: bool,
    initial_rate: bool,
    departures: bool,
    exact_marks: bool,
}

/// A scheme's promises as Python gives them: bit/s, seconds, bytes.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
struct Promised {
    floor: f64,
    stops: bool,
    warms_up: f64,
    reacts: bool,
    recovers: Option<(u64, f64)>,
}

impl Promised {
    fn promise(&self) -> Promise {
        Promise {
            floor: Rate::from_bps(self.floor),
            stops: self.stops,
            warms_up: Time::from_secs_f64(self.warms_up),
            reacts: self.reacts,
            recovers: self.recovers.map(|(b, s)| (Bytes::new(b), Time::from_secs_f64(s))),
        }
    }
}

/// A field of a plan, from its word.
fn word<T: Copy>(py: Python<'_>, field: &str, word: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let why = format!("the plan has {field}={word:?}");
        raise(py, "SchemeError", &why, &format!("write one of {}", names.join(", ")), field)
    })
}

const SCOPES: [(&str, Scope); 3] = [("flow", Scope::Flow), ("pair", Scope::Pair), ("host", Scope::Host)];
const ACKS: [(&str, Acks); 3] =
    [("optional", Acks::Optional), ("needed", Acks::Needed), ("telemetry", Acks::Telemetry)];

impl Planned {
    fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        let reflect = gate(py, &self.reflect, self.reflect_probability)?;
        let (acks, scope) = (word(py, "acks", &self.acks, &ACKS)?, word(py, "scope", &self.scope, &SCOPES)?);
        if acks != Acks::Optional && scope != Scope::Flow {
            let why = format!("acknowledgements are of a flow, and its scope is {}", self.scope);
            let remedy = format!("write plan = cn.Plan(scope=\"flow\", acks=\"{}\")", self.acks);
            return Err(raise(py, "SchemeError", &why, &remedy, "scope"));
        }
        Ok(Plan {
            acks,
            limiter_scope: scope,
            initial_rate: self.initial_rate,
            paces: false,
            exact_marks: self.exact_marks,
            built: if self.first_frame { Built::FirstFrame } else { Built::OnFeedback },
            reflect,
            reflector_scope: word(py, "reflector_scope", &self.reflector_scope, &SCOPES)?,
            received: self.received,
            departures: self.departures,
            stamp: Bytes::ZERO,
            speaks: Speaks::default(),
        })
    }
}

/// A scheme in Python, ready to be registered.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Debug)]
pub(crate) struct SchemeSpec {
    pub(crate) registration: Registration,
    pub(crate) trouble: Arc<Trouble>,
}

#[pymethods]
impl SchemeSpec {
    /// From the parts of a class: `make` is called with a dictionary of parameters and gives an instance, `code` gives a hash
    /// of what the class does now, and what of it cannot be known.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each thing that a registration says")]
    fn new(
        py: Python<'_>,
        name: String,
        title: &str,
        about: &str,
        code: Py<PyAny>,
        params: Vec<Declared>,
        counters: Vec<(String, String)>,
        gauges: Vec<(String, String)>,
        plan: Planned,
        promise: Promised,
        make: Py<PyAny>,
    ) -> PyResult<Self> {
        let plan = plan.plan(py)?;
        let wrong = |e: ParamError| {
            let why = format!("scheme `{name}`: parameter `{}`: {}", e.key, e.reason);
            raise(py, "SchemeError", &why, &e.remedy, &e.key)
        };
        let infos = params.iter().map(Declared::info).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let usual = params.iter().zip(&infos).map(|(p, info)| p.read(&info.default));
        let usual: Vec<Value> = usual.collect::<Result<_, _>>().map_err(wrong)?;
        let counter =
            |(name, meaning): (String, String)| Counter { name: name.into(), meaning: meaning.into() };
        let counters: Vec<Counter> = counters.into_iter().map(counter).collect();
        let gauge = |(name, unit): (String, String)| Gauge { name: name.into(), unit: unit.into() };
        let gauges: Vec<Gauge> = gauges.into_iter().map(gauge).collect();
        let trouble = Arc::new(Trouble::default());
        let (shared, called, counted) = (trouble.clone(), name.clone(), (counters.clone(), gauges.clone()));
        let build = move |pairs: &[(String, String)]| {
            let known = Python::attach(|py| code.call0(py)?.extract::<(String, Option<String>)>(py));
            let (code, unknown) = known.map_err(|e| ParamError {
                key: CODE.into(),
                reason: format!("the code of `{called}` cannot be looked at: {e}"),
                remedy: "report it".into(),
            })?;
            let values = given(&called, (&params, &usual), &code, pairs)?;
            let object =
                Python::attach(|py| instance(py, &make, &params, &values)).map_err(|e| ParamError {
                    key: String::new(),
                    reason: format!("`{called}` cannot be made: {e}"),
                    remedy: "mend its __init__ or __post_init__".into(),
                })?;
            let mut shown: Vec<(String, String)> =
                params.iter().zip(&values).map(|(p, v)| (p.key.clone(), v.text.clone())).collect();
            shown.push((CODE.into(), code));
            Ok(Configured {
                windowless: None,
                scheme: Arc::new(Bridged {
                    name: called.clone(),
                    plan,
                    counters: counted.0.clone(),
                    gauges: counted.1.clone(),
                    object,
                    trouble: shared.clone(),
                }),
                values: shown,
                code: unknown.map_or(Code::Known, Code::Unknown),
                idle: Vec::new(),
            })
        };
        let registration = Registration::bridged(&name, title, about, infos, build)
            .counting(counters, gauges)
            .promise(promise.promise());
        Ok(Self { registration, trouble })
    }

    /// Name of the scheme.
    #[getter]
    fn name(&self) -> &str {
        &self.registration.name
    }

    /// The class's instance with these parameters, as texts: for tests of a scheme alone.
    fn build(&self, py: Python<'_>, pairs: Vec<(String, String)>) -> PyResult<Vec<(String, String)>> {
        let built = self.registration.build(&pairs);
        built.map(|c| c.values).map_err(|e| raise(py, "SchemeError", &e.reason, &e.remedy, &e.key))
    }
}

/// The values of all parameters where some are given as texts; the text of the code must be that of the class.
fn given(
    scheme: &str,
    (params, usual): (&[Declared], &[Value]),
    code: &str,
    pairs: &[(String, String)],
) -> Result<Vec<Value>, ParamError> {
    let mut values = usual.to_vec();
    let wrong = |key: &str, reason: String, remedy: String| ParamError { key: key.into(), reason, remedy };
    for (key, text) in pairs {
        if key == CODE {
            if text != code {
                let reason = format!("these results are of other code than this `{scheme}` has");
                return Err(wrong(key, reason, "load the scheme as it was then, or run anew".into()));
            }
            continue;
        }
        let Some(at) = params.iter().position(|p| p.key == *key) else {
            let near = nearest(key, params.iter().map(|p| p.key.as_str()));
            let all = || format!("`cnsim explain {scheme}` shows them");
            let remedy = near.map_or_else(all, |n| format!("did you mean `{n}`?"));
            return Err(wrong(key, format!("`{scheme}` has no such parameter"), remedy));
        };
        values[at] = params[at].read(text)?;
    }
    Ok(values)
}

/// An instance of the user's class with these parameters.
fn instance(py: Python<'_>, make: &Py<PyAny>, params: &[Declared], values: &[Value]) -> PyResult<Py<PyAny>> {
    let all = PyDict::new(py);
    for (p, v) in params.iter().zip(values) {
        let number: &Number = &v.number;
        all.set_item(&p.key, number.object(py)?)?;
    }
    make.call1(py, (all,))
}

/// The schemes that a program knows: those of this repository, and some in Python.
#[pyclass(module = "cnsim._cnsim", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    pub(crate) inner: cnsim_scheme_api::Registry,
    /// Schemes in Python: name, and the exceptions that they raised.
    pub(crate) python: Vec<(String, Arc<Trouble>)>,
}

#[pymethods]
impl Registry {
    /// Ours and these.
    #[new]
    fn new(py: Python<'_>, schemes: Vec<Bound<'_, SchemeSpec>>) -> PyResult<Self> {
        let mut inner = cnsim_schemes::registry();
        let mut python = Vec::new();
        for s in schemes {
            let spec = s.get();
            inner.register(spec.registration.clone()).map_err(|e| refused(py, &e))?;
            python.push((spec.registration.name.clone(), spec.trouble.clone()));
        }
        Ok(Self { inner, python })
    }

    /// All schemes as JSON: name, title, text, parameters, counters, gauges.
    fn schemes(&self) -> String {
        let one = |e: &Arc<Registration>| {
            let param = |p: &cnsim_scheme_api::ParamInfo| json!({"key": p.key, "kind": p.kind, "default": p.default, "range": p.range.to_string(), "symbol": p.symbol, "about": p.doc});
            let counter = |c: &Counter| json!({"name": c.name, "about": c.meaning});
            let gauge = |g: &Gauge| json!({"name": g.name, "unit": g.unit});
            json!({
                "name": e.name, "title": e.title, "about": e.about,
                "params": e.params.iter().map(param).collect::<Vec<_>>(),
                "counters": e.counters.iter().map(counter).collect::<Vec<_>>(),
                "gauges": e.gauges.iter().map(gauge).collect::<Vec<_>>(),
                "python": self.python.iter().any(|p| p.0 == e.name),
            })
        };
        json!(self.inner.iter().map(one).collect::<Vec<_>>()).to_string()
    }

    /// The first exception that a scheme in Python raised, taken away.
    #[pyo3(name = "trouble")]
    fn trouble_value(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.trouble().map(|e| e.into_value(py).into_any())
    }
}

impl Registry {
    /// Is this scheme one in Python?
    pub(crate) fn is_python(&self, scheme: &str) -> bool {
        self.python.iter().any(|p| p.0 == scheme)
    }

    /// Takes the exception that a scheme in Python raised.
    pub(crate) fn trouble(&self) -> Option<PyErr> {
        self.python.iter().find_map(|p| p.1.take())
    }

    /// Takes the exception that a scheme in Python raised in a run on this thread.
    pub(crate) fn trouble_here(&self) -> Option<PyErr> {
        self.python.iter().find_map(|p| p.1.take_mine())
    }

    /// Begins no call of a scheme in Python any more, or does again.
    pub(crate) fn stop(&self, stop: bool) {
        self.python.iter().for_each(|p| p.1.stop(stop));
    }
}
