//! A scenario: text, checked; its matrix of cases; and the run that each case asks for.

pub mod config;
mod embedded;
mod groups;
mod imported;
mod named;
mod scheme;

use crate::case::CaseId;
use crate::case::condition::{Template, canonical};
use crate::file::checks::{
    drop_idle, expand_assumptions, expand_classes, known_keys, perhaps_unread, unread_params, without_effect,
};
use crate::file::inline::inline_files;
use crate::file::keys::{MAX_CASES, MAX_CONDITION, find};
use crate::language::kinds::Kind;
use crate::language::reader::MAX_PROBLEMS;
use crate::language::text::{Flat, Place};
use crate::settings::{Estimate, Settings, Steered};
use crate::tables::figure::{self, FigureSpec};
use crate::tables::{head, pause, run, topology};
use cnsim_problem::{MAX_TEXT, Problem, nearest, read_file, read_from};
use cnsim_scheme_api::registry::Configured;
use cnsim_scheme_api::{Acks, Registration, Registry};
use config::Config;
pub use embedded::{EMBEDDED, embedded_of};
use groups::{groups, whole};
use std::collections::{BTreeMap, BTreeSet};

/// A scenario whose text has been read; its cases are checked one by one.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Study, such as B07.
    pub study: String,
    /// Name within the study.
    pub name: String,
    /// Heading of the scenario.
    pub title: String,
    /// The question that the scenario asks.
    pub question: String,
    /// Where it comes from.
    pub source: String,
    /// Default number of seeds.
    pub seeds: u64,
    /// Groups of rows: that of the matrix, then those of `[[rows]]`.
    pub groups: Vec<Group>,
    /// Figures beside those of every table.
    pub figures: Vec<FigureSpec>,
    flat: Flat,
    registry: Registry,
}

/// Rows x PAUSE modes x schemes.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The template that names the group's rows.
    pub template: Template,
    /// Rows: values of keys.
    pub rows: Vec<Vec<(String, String)>>,
    /// The PAUSE modes that the group runs.
    pub pauses: Vec<String>,
    /// Schemes, by registered name.
    pub schemes: Vec<String>,
    /// Number of seeds, where it is another than the scenario's.
    pub seeds: Option<u64>,
}

/// One cell of a scenario's matrix: condition, PAUSE mode and scheme.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// Index of the case's group among the scenario's.
    pub group: usize,
    /// The keys and values that the condition sets.
    pub row: Vec<(String, String)>,
    /// The case's id.
    pub id: CaseId,
}

/// A case made ready.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The settings of the case, read and checked.
    pub settings: Settings,
    /// The scheme with its effective parameters.
    pub built: Configured,
    /// Registered name of the scheme.
    pub scheme: String,
    /// All that determines the run but the seed; enough to run it again.
    pub config: Config,
    /// How the scheme's defaults do not fit the links, where they do not.
    pub misfit: Option<String>,
}

impl Ready {
    /// Estimated cost of a run.
    pub fn estimate(&self) -> Estimate {
        self.settings.estimate(self.scheme != "none", &self.built.scheme.plan())
    }
}

impl Scenario {
    /// Reads an embedded scenario (by id, or name where unique) or, failing that, a file.
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn load(what: &str, sets: &[(String, String)]) -> Result<Self, Vec<Problem>> {
        Self::load_in(&cnsim_schemes::registry(), what, sets, &[])
    }

    /// As [`Scenario::load`], with the schemes of this registry. A command that runs only `schemes` names them (none: all of the
    /// matrix). Keys without an effect on other schemes are then no fault.
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn load_in(
        registry: &Registry,
        what: &str,
        sets: &[(String, String)],
        schemes: &[&str],
    ) -> Result<Self, Vec<Problem>> {
        let known = EMBEDDED.iter().find(|(id, _)| {
            id.eq_ignore_ascii_case(what)
                || id.rsplit('/').next().is_some_and(|n| n.eq_ignore_ascii_case(what))
        });
        if let Some((id, text)) = known {
            return Self::parse_in(registry, id, text, sets, schemes);
        }
        let lost = |reason: String, remedy: String| vec![Problem::of_file(what, reason, remedy)];
        let unread = |remedy: &'static str| move |why| vec![Problem::unread(what, why, remedy)];
        if what == "-" {
            let text = read_from(std::io::stdin(), MAX_TEXT).map_err(unread("write a scenario to it"))?;
            return Self::parse_in(registry, "standard input", &text, sets, schemes);
        }
        if !what.ends_with(".toml") {
            let near =
                nearest(what, EMBEDDED.iter().flat_map(|(id, _)| [*id, id.rsplit('/').next().unwrap_or(id)]));
            let hint = near.map_or_else(String::new, |n| format!("did you mean `{n}`? "));
            return Err(lost(
                "no scenario of this name".into(),
                format!("{hint}`cnsim list scenarios` shows them; a file's name must end in .toml"),
            ));
        }
        let text = read_file(std::path::Path::new(what), MAX_TEXT)
            .map_err(unread("give the path of a scenario file"))?;
        Self::parse_in(registry, what, &text, sets, schemes)
    }

    /// Reads a scenario's text and checks every case of its matrix.
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn parse(file: &str, text: &str, sets: &[(String, String)]) -> Result<Self, Vec<Problem>> {
        Self::parse_in(&cnsim_schemes::registry(), file, text, sets, &[])
    }

    /// As [`Scenario::parse`], with the schemes of this registry; `schemes` is as in [`Scenario::load_in`].
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn parse_in(
        registry: &Registry,
        file: &str,
        text: &str,
        sets: &[(String, String)],
        schemes: &[&str],
    ) -> Result<Self, Vec<Problem>> {
        let mut flat = Flat::parse(file, text).map_err(capped)?;
        for (key, value) in sets {
            flat.set(key, value, Place::Set);
        }
        flat.number_tables();
        let mut problems = Vec::new();
        inline_files(&mut flat, file, &mut problems);
        expand_assumptions(&mut flat, &mut problems);
        expand_classes(&mut flat);
        // The classes of a preset have names, too.
        flat.number_tables();
        known_keys(&flat, registry, &mut problems);
        let word = |key: &str| -> String {
            flat.leaves
                .get(key)
                .and_then(|l| l.items.first().cloned())
                .unwrap_or_else(|| find(key).map_or("", |k| k.default).into())
        };
        if !flat.leaves.contains_key("name") {
            problems.push(flat.problem(head::NAME.path, None, "is missing", "write name = \"my-scenario\""));
        }
        let groups = groups(&flat, registry, &word, &mut problems);
        let figures = figure::read(&flat, registry, &mut problems);
        let matrix: Vec<&str> = groups.iter().flat_map(|g| g.schemes.iter().map(String::as_str)).collect();
        unread_params(&flat, registry, &matrix, schemes, &mut problems);
        let scenario = Self {
            study: word(head::STUDY.path),
            name: word(head::NAME.path),
            title: word(head::TITLE.path),
            question: word(head::QUESTION.path),
            source: word(head::SOURCE.path),
            seeds: whole(run::SEEDS.path, &word(run::SEEDS.path)).unwrap_or(5),
            groups,
            figures,
            flat,
            registry: registry.clone(),
        };
        if let Err(problem) = scenario.countable() {
            problems.push(problem);
            return Err(capped(problems));
        }
        scenario.rows_told_apart(&mut problems);
        scenario.mode_of_no_case(&mut problems);
        scenario.each_case(sets.is_empty(), schemes, &mut problems);
        if problems.is_empty() { Ok(scenario) } else { Err(capped(problems)) }
    }

    /// Checks every case that runs one of these schemes (none: all), and what none of them reads or draws. Figures are checked where the
    /// file says `all` by itself: what is set from outside may well leave one without cases.
    fn each_case(&self, all: bool, schemes: &[&str], problems: &mut Vec<Problem>) {
        // The values in the file themselves, too: the matrix may hide them.
        let first = self.groups.first().and_then(|g| g.pauses.first().zip(g.schemes.first()));
        let written = first.map(|(pause, scheme)| {
            self.case(0, Vec::new(), pause, schemes.first().copied().unwrap_or(scheme))
        });
        self.other_schemes(problems);
        let runs = |c: &Case| schemes.is_empty() || schemes.contains(&c.id.scheme.as_str());
        let mut recorded = BTreeSet::new();
        let mut idle = perhaps_unread(&self.flat, !schemes.is_empty());
        for case in written.into_iter().chain(self.cases()).filter(runs) {
            match self.ready(&case) {
                Ok(ready) => {
                    recorded.extend(ready.settings.placed_series(&ready.built.scheme.gauges()));
                    idle.retain(|(_, key)| ready.config.value(key).is_none());
                }
                Err(more) => {
                    for p in more {
                        if !problems.contains(&p) {
                            problems.push(p);
                        }
                    }
                }
            }
            if problems.len() > MAX_PROBLEMS {
                break;
            }
        }
        if problems.is_empty() {
            problems.extend(idle.iter().map(|(path, key)| without_effect(&self.flat, path, key)));
        }
        if problems.is_empty() && all && schemes.is_empty() {
            let cases: Vec<CaseId> = self.cases().into_iter().map(|c| c.id).collect();
            figure::unmet(&self.flat, &self.figures, &cases, &recorded, problems);
        }
    }

    /// Refuses a `pause.mode` of the file that its matrix never runs: it would be read as something else.
    fn mode_of_no_case(&self, problems: &mut Vec<Problem>) {
        let Some(leaf) = self.flat.leaves.get(pause::MODE.path).filter(|l| l.place != Place::Set) else {
            return;
        };
        let Some(mode) = leaf.items.first() else { return };
        if !self.groups.iter().any(|g| g.pauses.contains(mode)) {
            let reason = format!("has no effect: no case runs `{mode}`, for `pause` of the matrix decides");
            problems.push(self.flat.at(pause::MODE.path, reason, "remove one of the two"));
        }
    }

    /// Reads the tables of schemes that no case runs, as `--scheme` may request them. Faults are reported now.
    fn other_schemes(&self, problems: &mut Vec<Problem>) {
        let own = |path: &str| Some(path.strip_prefix("scheme.")?.rsplit_once('.')?.0.to_string());
        let run = self.schemes();
        let named: BTreeSet<String> = self.flat.leaves.keys().filter_map(|path| own(path)).collect();
        for entry in self.registry.iter().filter(|e| !run.contains(&e.name)) {
            if !named.iter().any(|name| entry.is_called(name)) {
                continue;
            }
            let mut found = Vec::new();
            self.scheme(&self.flat, &entry.name, None, false, &mut found);
            // A parameter of all schemes is the business of those that run.
            problems.extend(found.into_iter().filter(|p| own(&p.key).is_some_and(|n| entry.is_called(&n))));
        }
    }

    /// Refuses too many cases before any is built, and a group without cases.
    fn countable(&self) -> Result<(), Problem> {
        let mut all = 0_usize;
        for (g, group) in self.groups.iter().enumerate() {
            let prefix = self.prefix(g);
            let lists = [("pause", group.pauses.len()), ("schemes", group.schemes.len())];
            if let Some((name, _)) = lists.iter().find(|l| l.1 == 0) {
                let at = format!("{prefix}.{name}");
                return Err(self
                    .flat
                    .at(&at, "is empty: there is no case", "name at least one, or remove the key"));
            }
            let cases = [group.rows.len(), group.pauses.len(), group.schemes.len()];
            all = all.saturating_add(cases.into_iter().fold(1, usize::saturating_mul));
        }
        let hint = format!("at most {MAX_CASES}: vary fewer keys, or use `cnsim sweep`");
        if all > MAX_CASES {
            Err(self.flat.at("matrix", format!("asks for {all} cases"), hint))
        } else {
            Ok(())
        }
    }

    /// Refuses rows that have the same condition although they set different values, as one would stand for the other, and
    /// conditions that no table can show.
    fn rows_told_apart(&self, problems: &mut Vec<Problem>) {
        let mut known: BTreeMap<(String, &str), (usize, Vec<(String, String)>)> = BTreeMap::new();
        for (g, group) in self.groups.iter().enumerate() {
            let prefix = self.prefix(g);
            for (row, scheme) in group.rows.iter().flat_map(|r| group.schemes.iter().map(move |s| (r, s))) {
                let condition = self.case(g, row.clone(), "", scheme).id.condition;
                if let Err(wrong) = Kind::Text(MAX_CONDITION).read(&condition) {
                    let begin: String = condition.chars().take(40).collect();
                    let reason = format!("gives the condition `{begin}...`, which {}", wrong.reason);
                    return problems.push(self.flat.at(&self.template_key(&prefix), reason, wrong.remedy));
                }
                if condition.trim().is_empty() || condition.starts_with(['=', '+', '-', '@']) {
                    let reason = format!("gives the condition `{condition}`");
                    let hint = "begin it with a word, so that tables and spreadsheets can show it";
                    return problems.push(self.flat.at(&self.template_key(&prefix), reason, hint));
                }
                // A row need not set a key to the scenario's own value.
                let own = |key: &str| canonical(&self.value(key, &[], scheme));
                let set = row.iter().map(|(k, v)| (k.clone(), canonical(v)));
                let set: Vec<(String, String)> = set.filter(|(k, v)| own(k) != *v).collect();
                let Some((h, before)) = known.get(&(condition.clone(), scheme.as_str())) else {
                    known.insert((condition, scheme), (g, set));
                    continue;
                };
                let met = |p: &String| self.groups[*h].pauses.contains(p);
                if *before == set || !group.pauses.iter().any(met) {
                    continue;
                }
                let differs = |a: &[(String, String)], b: &[(String, String)]| {
                    a.iter().find(|x| !b.contains(x)).map(|x| x.0.clone())
                };
                let key = differs(&set, before).or_else(|| differs(before, &set)).unwrap_or_default();
                let at = format!("{prefix}.{key}");
                let at = if self.flat.leaves.contains_key(&at) { at } else { prefix.clone() };
                let reason = format!(
                    "two rows have the condition `{condition}`, but not the same `{key}`: their runs could not be distinguished"
                );
                let template = self.flat.leaves.get(head::CONDITION.path).and_then(|l| l.items.first());
                let hint = format!(
                    "name it in the condition: \"{}, {key} {{{key}}}\"",
                    template.map_or("...", |t| t)
                );
                return problems.push(self.flat.at(&at, reason, hint));
            }
        }
    }

    /// The key that holds the template of a group.
    fn template_key(&self, prefix: &str) -> String {
        let own = format!("{prefix}.condition");
        if self.flat.leaves.contains_key(&own) { own } else { head::CONDITION.path.into() }
    }

    /// The table of a group: `matrix`, `rows.0`, ...
    fn prefix(&self, group: usize) -> String {
        match group.checked_sub(self.matrix()) {
            Some(row) => format!("rows.{row}"),
            None => "matrix".into(),
        }
    }

    /// A copy of the scenario with some keys set anew, as a point of a sweep. Values are checked when a case is made ready. A setting for all schemes
    /// (`scheme.params.K`) replaces the file's setting for one scheme (`scheme.NAME.K`).
    ///
    /// # Errors
    /// Keys that nobody reads, or that have no effect here.
    pub fn with(&self, sets: &[(String, String)]) -> Result<Self, Vec<Problem>> {
        let (mut flat, mut problems) = (self.flat.clone(), Vec::new());
        for (key, value) in sets {
            flat.set(key, value, Place::Over);
        }
        if sets.iter().any(|(key, _)| key.ends_with("file")) {
            let file = flat.file.clone();
            inline_files(&mut flat, &file, &mut problems);
        }
        expand_assumptions(&mut flat, &mut problems);
        expand_classes(&mut flat);
        for (key, leaf) in flat.leaves.clone() {
            let shared = key.strip_prefix("scheme.params.").filter(|_| leaf.place.is_typed());
            for (own, value) in
                flat.leaves.iter_mut().filter(|(k, _)| shared.is_some() && k.starts_with("scheme."))
            {
                if own.rsplit('.').next() == shared {
                    value.items.clone_from(&leaf.items);
                }
            }
        }
        known_keys(&flat, &self.registry, &mut problems);
        if problems.is_empty() { Ok(Self { flat, ..self.clone() }) } else { Err(problems) }
    }

    /// The schemes that it knows.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The scenario's id, `STUDY/NAME`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.study, self.name)
    }

    /// All cases: rows x PAUSE x schemes of every group, each once.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let mut seen = BTreeSet::new();
        for (g, group) in self.groups.iter().enumerate() {
            for row in &group.rows {
                for pause in &group.pauses {
                    for scheme in &group.schemes {
                        let case = self.case(g, row.clone(), pause, scheme);
                        if seen.insert(case.id.clone()) {
                            cases.push(case);
                        }
                    }
                }
            }
        }
        cases
    }

    /// Number of seeds of a case: its group's, else the scenario's.
    pub fn seeds_of(&self, case: &Case) -> u64 {
        self.groups.get(case.group).and_then(|g| g.seeds).unwrap_or(self.seeds)
    }

    /// Gives every group the same number of seeds.
    pub fn set_seeds(&mut self, seeds: u64) {
        self.seeds = seeds;
        self.groups.iter_mut().for_each(|g| g.seeds = None);
    }

    /// Makes one case of a group.
    pub fn case(&self, group: usize, row: Vec<(String, String)>, pause: &str, scheme: &str) -> Case {
        let template = self.groups.get(group).map(|g| &g.template);
        let condition = template.map_or_else(String::new, |t| {
            t.format(&|key| self.value(key, &row, scheme), &|key| self.value(key, &[], scheme))
        });
        Case { group, row, id: [self.study.as_str(), &self.name, &condition, pause, scheme].into() }
    }

    /// The value of a key in a row: the row's, else the file's, else the default.
    fn value(&self, key: &str, row: &[(String, String)], scheme: &str) -> String {
        if let Some((_, v)) = row.iter().find(|(k, _)| k == key) {
            return v.clone();
        }
        let own = |key: &str| self.flat.leaves.get(key).and_then(|l| l.items.first().cloned());
        if let Some(v) = own(key) {
            return v;
        }
        let Some(leaf) = key.strip_prefix("scheme.").and_then(|k| k.split_once('.')).map(|(_, leaf)| leaf)
        else {
            return find(key).map_or("", |k| k.default).into();
        };
        let of_scheme = own(&format!("scheme.{scheme}.{leaf}"));
        of_scheme.or_else(|| own(&format!("scheme.params.{leaf}"))).unwrap_or_else(|| {
            let info = self.registry.find(scheme).and_then(|e| e.param(leaf));
            info.map_or_else(String::new, |i| i.default.clone())
        })
    }

    /// Makes a case ready to run.
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn ready(&self, case: &Case) -> Result<Ready, Vec<Problem>> {
        let mut flat = self.flat.clone();
        let mut set = |key: &str, value: &str| {
            let written = flat.leaves.get(&format!("{}.{key}", self.prefix(case.group)));
            let place = written.map_or(Place::Condition, |l| {
                l.place_of(l.items.iter().position(|i| i == value).unwrap_or(usize::MAX))
            });
            flat.set(key, value, place);
        };
        for (key, value) in &case.row {
            set(key, value);
        }
        set(pause::MODE.path, &case.id.pause);
        drop_idle(&mut flat);
        let mut problems = Vec::new();
        let name = case.id.scheme.as_str();
        let (mut built, mut above) = (None, Vec::new());
        let settings =
            Settings::read(&flat, &self.registry, &mut problems, |rate, acknowledged, problems| {
                built = self.scheme(&flat, name, rate, acknowledged, problems);
                if let Some((built, _)) = &mut built {
                    self.put_above(&flat, (built, &mut above), rate, acknowledged, problems);
                }
                let plan = built.as_ref().map(|b| b.0.scheme.plan()).unwrap_or_default();
                let initial = built.as_ref().map_or(0, |b| scheme::initial(&b.0));
                let classes = self.class_schemes(&flat, rate, acknowledged, problems);
                Steered { name: name.into(), plan, initial, classes }
            });
        let (Some(mut settings), Some((built, misfit))) = (settings, built) else { return Err(problems) };
        if !problems.is_empty() {
            return Err(problems);
        }
        let graph =
            flat.leaves.get(topology::KIND.path).is_some_and(|l| l.items.iter().any(|kind| kind == "graph"));
        if graph && let Some(why) = settings.unrouted(&built) {
            return Err(vec![flat.at(topology::KIND.path, why, "link the switches more regularly")]);
        }
        above.extend(settings.steered.classes.iter().flatten().flat_map(|(own, built)| {
            let path =
                |(key, value): &(String, String)| (format!("scheme.{}.{key}", own.name), value.clone());
            built.values.iter().map(path).collect::<Vec<_>>()
        }));
        let config = config::write(&flat, case, &mut settings, (&built, &above));
        Ok(Ready { settings, built, scheme: case.id.scheme.clone(), config, misfit })
    }

    /// Number of groups before those of `[[rows]]`: one where there is a matrix.
    fn matrix(&self) -> usize {
        self.groups.len().saturating_sub(self.flat.tables("rows").len())
    }

    /// Every scheme that the scenario runs, in order.
    pub fn schemes(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for s in self.groups.iter().flat_map(|g| &g.schemes) {
            if !all.contains(s) {
                all.push(s.clone());
            }
        }
        all
    }

    /// The scenario's text, flattened to dotted keys.
    pub fn flat(&self) -> &Flat {
        &self.flat
    }
}

/// Does a scheme with its defaults run on queue pairs only, as it needs their acknowledgements?
pub fn needs_queue_pairs(scheme: &Registration) -> bool {
    scheme.build(&[]).is_ok_and(|built| built.scheme.plan().acks != Acks::Optional)
}

/// At most so many problems as someone reads.
fn capped(mut problems: Vec<Problem>) -> Vec<Problem> {
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    if let (Some(last), true) = (problems.last(), more > 0) {
        let (file, position) = (last.file.clone(), last.position);
        let reason = format!("{more} further problems");
        problems.push(Problem { position, ..Problem::of_file(&file, reason, "mend those above first") });
    }
    problems
}
