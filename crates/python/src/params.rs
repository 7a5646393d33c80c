//! Parameters that Python declares: the same kinds, ranges and errors as those in Rust.

use cnsim_scheme_api::params::{check_range, range};
use cnsim_scheme_api::{Bytes, ParamError, ParamInfo, ParamValue, Range, Rate, Time};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// A parameter as Python declares it; default and bounds as texts.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Declared {
    pub(crate) key: String,
    kind: String,
    default: String,
    low: Option<String>,
    high: Option<String>,
    choices: Vec<String>,
    symbol: String,
    doc: String,
    optional: bool,
}

/// A value of a parameter: its text, and what Python computes with.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) number: Number,
}

/// A number in Python: bytes and integers are `int`, rates (bit/s) and times (seconds) `float`.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Whole(u64),
    Real(f64),
    Flag(bool),
    Word(String),
    Off,
}

impl Number {
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Whole(n) => n.into_pyobject(py)?.into_any(),
            Self::Real(x) => x.into_pyobject(py)?.into_any(),
            Self::Flag(on) => PyBool::new(py, *on).to_owned().into_any(),
            Self::Word(w) => PyString::new(py, w).into_any(),
            Self::Off => py.None().into_bound(py),
        })
    }
}

impl Declared {
    fn error(&self, reason: String, remedy: String) -> ParamError {
        ParamError { key: self.key.clone(), reason, remedy }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// A wrong unit, or a value out of range.
    pub(crate) fn read(&self, text: &str) -> Result<Value, ParamError> {
        if self.optional && text.trim() == "off" {
            return Ok(Value { text: "off".into(), number: Number::Off });
        }
        match self.kind.as_str() {
            "bytes" => self.of(text, |b: &Bytes| Number::Whole(b.get())),
            "rate" => self.of(text, |r: &Rate| Number::Real(r.bps())),
            "time" => self.of(text, |t: &Time| Number::Real(t.as_secs_f64())),
            "number" => self.of(text, |x: &f64| Number::Real(*x)),
            "integer" => self.of(text, |n: &u32| Number::Whole(u64::from(*n))),
            "on/off" => self.of(text, |on: &bool| Number::Flag(*on)),
            _ => match self.choices.iter().find(|c| *c == text.trim()) {
                Some(c) => Ok(Value { text: c.clone(), number: Number::Word(c.clone()) }),
                None => Err(self.error(
                    format!("`{text}` is none of the choices"),
                    format!("write one of {}", self.choices.join(", ")),
                )),
            },
        }
    }

    fn of<T: ParamValue<Bound = T>>(
        &self,
        text: &str,
        number: fn(&T) -> Number,
    ) -> Result<Value, ParamError> {
        let parse = |t: &str| T::parse(t).map_err(|(reason, remedy)| self.error(reason, remedy));
        let (value, low, high) = (parse(text)?, self.bound::<T>(&self.low)?, self.bound::<T>(&self.high)?);
        check_range(&self.key, &value, low.as_ref(), high.as_ref())?;
        Ok(Value { text: value.show(), number: number(&value) })
    }

    fn bound<T: ParamValue>(&self, text: &Option<String>) -> Result<Option<T>, ParamError> {
        let read = |t: &String| {
            T::parse(t).map_err(|(reason, remedy)| self.error(format!("its bound {t}: {reason}"), remedy))
        };
        text.as_ref().map(read).transpose()
    }

    /// As the registry tells of it.
    ///
    /// # Errors
    /// A default or a bound that cannot be read, or a default out of range.
    pub(crate) fn info(&self) -> Result<ParamInfo, ParamError> {
        let usual = self.read(&self.default)?;
        let mut info = ParamInfo {
            key: self.key.clone(),
            symbol: self.symbol.clone(),
            doc: self.doc.clone(),
            kind: self.kind.clone(),
            default: usual.text,
            range: self.range()?,
        };
        info.range.optional = self.optional;
        Ok(info)
    }

    fn range(&self) -> Result<Range, ParamError> {
        fn of<T: ParamValue<Bound = T>>(d: &Declared) -> Result<Range, ParamError> {
            Ok(range::<T>(d.bound::<T>(&d.low)?.as_ref(), d.bound::<T>(&d.high)?.as_ref()))
        }
        match self.kind.as_str() {
            "bytes" => of::<Bytes>(self),
            "rate" => of::<Rate>(self),
            "time" => of::<Time>(self),
            "number" => of::<f64>(self),
            "integer" => of::<u32>(self),
            "on/off" => of::<bool>(self),
            _ => Ok(Range { choices: self.choices.clone(), ..Range::default() }),
        }
    }
}
