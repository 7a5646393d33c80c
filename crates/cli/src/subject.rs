//! The object of a name, of any kind.

use crate::request::is_file;
use crate::{Common, EXIT_CODES, Failure, find};
use cnsim_advice::notes::of_others;
use cnsim_papers::claims::Claim;
use cnsim_papers::{PAPERS, Paper};
use cnsim_scenario::Scenario;
use cnsim_scenario::assumptions::{ASSUMPTIONS, Assumption};
use cnsim_scenario::keys::{self, Key};
use cnsim_scenario::metrics::{self, Metric};
use cnsim_scheme_api::{Counter, Gauge, ParamInfo, Registration, Registry};
use std::path::Path;

/// A question.
pub(crate) struct Asked<'a> {
    pub(crate) what: &'a str,
    /// The condition of a cell.
    pub(crate) condition: Option<String>,
    /// The PAUSE mode of a cell.
    pub(crate) pause: Option<String>,
    /// Folder of the last results.
    pub(crate) out: &'a Path,
    pub(crate) common: &'a Common,
}

/// A table of the scenario file, and its keys.
pub(crate) type Keys = (&'static str, Vec<&'static Key>);

/// The object of a name.
pub(crate) enum Subject<'a> {
    Scheme(&'a Registration),
    Study(&'static Paper),
    Scenario(Box<Scenario>),
    Metric(&'static Metric),
    Claim(&'static Claim),
    Assumption(&'static Assumption),
    /// A counter, and the schemes that count it.
    Counter(&'a Counter, Vec<&'a str>),
    /// A gauge, and the schemes that show it.
    Gauge(&'a Gauge, Vec<&'a str>),
    /// A parameter of each scheme that has it.
    Parameter(Vec<(&'a Registration, &'a ParamInfo)>),
    Key(&'static Key),
    /// An exit code of the program, and its meaning.
    ExitCode(u8, &'static str),
    /// A term of the field, its meaning, and the table of the scenario file of this name, if there is one.
    Term(String, String, Option<Keys>),
    /// A table of the scenario file, and its keys.
    Table(Keys),
    /// Rows of numbers.csv.
    Cells(Vec<Vec<String>>),
}

impl<'a> Subject<'a> {
    /// The thing that a question names.
    ///
    /// # Errors
    /// A name that nothing has, with those that come nearest; a file that is no scenario; a cell that was not run.
    pub(crate) fn of(asked: &Asked<'a>) -> Result<Self, Failure> {
        let (what, registry) = (asked.what, &asked.common.registry);
        if let Some(known) = named(registry, what) {
            return Ok(known);
        }
        let of_a_cell = asked.condition.is_some() || asked.pause.is_some();
        match Scenario::load_in(registry, what, &[], &[]) {
            Ok(s) if !of_a_cell => return Ok(Subject::Scenario(Box::new(s))),
            Err(problems) if is_file(what) => return Err(problems.into()),
            _ => {}
        }
        if what.contains('/') {
            return rows(asked).map(Subject::Cells);
        }
        Err(find::unknown(registry, what))
    }
}

/// Objects of this name that are no file, scenario or cell.
fn named<'a>(registry: &'a Registry, what: &str) -> Option<Subject<'a>> {
    let same = |name: &str| name.eq_ignore_ascii_case(what);
    let having = |c: &Counter| {
        registry.iter().filter(|e| e.counters.contains(c)).map(|e| e.name.as_str()).collect::<Vec<_>>()
    };
    let parameters = |by_value: bool| {
        let key = what.trim_start_matches("scheme.params.");
        let (of_one, key) = match key.trim_start_matches("scheme.").split_once('.') {
            Some((name, param)) => (Some(registry.find(name)?.name.as_str()), param),
            None => (None, key),
        };
        // A word that a parameter can have as its value is explained by the parameter.
        let is = |p: &&ParamInfo| p.key.eq_ignore_ascii_case(key);
        let takes = |p: &&ParamInfo| of_one.is_none() && p.range.choices.iter().any(|c| c == key);
        let having = |wanted: &dyn Fn(&&ParamInfo) -> bool| {
            let mine = registry.iter().filter(|e| of_one.is_none_or(|name| name == e.name));
            let all: Vec<_> = mine.filter_map(|e| Some((&**e, e.params.iter().find(wanted)?))).collect();
            (!all.is_empty()).then_some(Subject::Parameter(all))
        };
        if by_value { having(&takes) } else { having(&is) }
    };
    let code = |what: &str| {
        let number = what.trim_start_matches("exit").trim().trim_start_matches("code").trim();
        EXIT_CODES.iter().find(|c| number.parse() == Ok(c.0)).map(|c| Subject::ExitCode(c.0, c.1))
    };
    let counter = || registry.iter().flat_map(|e| &e.counters).find(|c| same(&c.name));
    let assumption = || {
        let number = what.split(' ').next().unwrap_or_default();
        ASSUMPTIONS.iter().find(|a| a.id.eq_ignore_ascii_case(number) || same(a.name))
    };
    // `poisson` is explained by workload.kind.
    let choice = || keys::KEYS.iter().find(|k| k.kind.choices().contains(&what)).map(Subject::Key);
    registry
        .find(what.trim_start_matches("scheme."))
        .map(|e| Subject::Scheme(e))
        .or_else(|| cnsim_papers::find(what).map(Subject::Study))
        .or_else(|| metrics::find(what).map(Subject::Metric))
        .or_else(|| PAPERS.iter().flat_map(|p| p.claims).find(|c| same(c.id)).map(Subject::Claim))
        .or_else(|| assumption().map(Subject::Assumption))
        .or_else(|| counter().map(|c| Subject::Counter(c, having(c))))
        .or_else(|| find::gauge(registry, what).map(|(g, schemes)| Subject::Gauge(g, schemes)))
        .or_else(|| parameters(false))
        .or_else(|| keys::find(&find::whole_key(registry, what)).map(Subject::Key))
        .or_else(|| code(&what.to_lowercase()))
        .or_else(|| find::term(what).map(|(term, meaning)| Subject::Term(term, meaning, find::table(what))))
        .or_else(|| find::table(what).map(Subject::Table))
        .or_else(|| parameters(true))
        .or_else(choice)
}

/// Rows of numbers.csv that a question names.
fn rows(asked: &Asked<'_>) -> Result<Vec<Vec<String>>, Failure> {
    let id: Vec<&str> = asked.what.split('/').collect();
    let path = asked.out.join("numbers.csv");
    let text = std::fs::read_to_string(&path).map_err(|e| {
        Failure::input(format!(
            "{}: {e}\n  help: `cnsim run` or `cnsim reproduce` first, or give their --out",
            path.display()
        ))
    })?;
    let fits = |line: &Vec<String>| {
        let same = |(want, c): (&&str, usize)| line.get(c).is_some_and(|v| v.eq_ignore_ascii_case(want));
        id.iter().zip([0, 1, 4, 5]).all(same)
            && asked.condition.as_ref().is_none_or(|c| line[2] == *c)
            && asked.pause.as_ref().is_none_or(|p| line[3] == *p)
    };
    let rows: Vec<Vec<String>> = cnsim_runs::files::read_csv(&text).into_iter().filter(fits).collect();
    if rows.is_empty() {
        return Err(Failure::input(format!(
            "{}: no such cell was run\n  help: {}",
            asked.out.display(),
            match of_others(id[0]) {
                true => format!(
                    "`cnsim reproduce {}` runs it; if it ran into another folder, name that by --out",
                    id[..2.min(id.len())].join("/")
                ),
                false => "run its file, or give the folder of its results by --out".into(),
            }
        )));
    }
    Ok(rows)
}
