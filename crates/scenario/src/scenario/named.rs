//! The case that a condition names.

use super::{Case, Scenario};
use cnsim_problem::nearest;

impl Scenario {
    /// The case of a published row: the row that the condition names, of a group that runs the scheme; else one of the first
    /// group whose template reads the condition and that runs the scheme (or, failing that, the first whose template reads it).
    pub fn case_of(&self, condition: &str, pause: &str, scheme: &str) -> Option<Case> {
        let read: Vec<(usize, Vec<(String, String)>)> = self
            .groups
            .iter()
            .enumerate()
            .filter_map(|(g, group)| Some((g, group.template.parse_text(condition)?)))
            .collect();
        let runs = |g: usize| self.groups[g].schemes.iter().any(|s| s == scheme);
        for (g, _) in read.iter().filter(|(g, _)| runs(*g)) {
            let cases = self.groups[*g].rows.iter().map(|row| self.case(*g, row.clone(), pause, scheme));
            if let Some(case) = cases.into_iter().find(|case| case.id.condition == condition) {
                return Some(case);
            }
        }
        let (g, row) = read.iter().find(|(g, _)| runs(*g)).or(read.first())?;
        // Settings of a group's only row, beside its template, belong to its published rows too.
        let mut row = row.clone();
        if let [only] = &self.groups[*g].rows[..] {
            row.extend(
                only.iter().filter(|(k, _)| !row.iter().any(|r| r.0 == *k)).cloned().collect::<Vec<_>>(),
            );
        }
        Some(self.case(*g, row, pause, scheme))
    }

    /// The case that a condition names; PAUSE mode and scheme are those of its group where none is asked for.
    pub fn case_named(&self, condition: &str, pause: Option<&str>, scheme: Option<&str>) -> Option<Case> {
        let found = self.case_of(condition, pause.unwrap_or("off"), scheme.unwrap_or(""))?;
        let group = self.groups.get(found.group)?;
        let pause = pause.or(group.pauses.first().map(String::as_str)).unwrap_or("off");
        let scheme = scheme.or(group.schemes.first().map(String::as_str)).unwrap_or("none");
        Some(self.case(found.group, found.row, pause, scheme))
    }

    /// As [`Self::case_named`], for a condition that a user wrote.
    ///
    /// # Errors
    /// Reason and remedy: no template reads the condition, or one of the values that it sets cannot be.
    pub fn case_asked(
        &self,
        condition: &str,
        pause: Option<&str>,
        scheme: Option<&str>,
    ) -> Result<Case, (String, String)> {
        let known: Vec<String> = self.cases().into_iter().map(|case| case.id.condition).collect();
        let remedy = || match (nearest(condition, known.iter().map(String::as_str)), known.first()) {
            (Some(near), _) => format!("did you mean \"{near}\"?"),
            (None, first) => format!("write for example \"{}\"", first.map_or("", String::as_str)),
        };
        let Some(case) = self.case_named(condition, pause, scheme) else {
            let reason = format!("the condition `{condition}` does not fit this scenario's templates");
            return Err((reason, remedy()));
        };
        let problems = match known.contains(&case.id.condition) {
            true => Vec::new(),
            false => self.ready(&case).err().unwrap_or_default(),
        };
        let set = |key: &str| case.row.iter().any(|(own, _)| own == key);
        match problems.iter().find(|problem| set(&problem.key)) {
            None => Ok(case),
            Some(p) => {
                let reason = format!("the condition `{condition}` sets {}: {}", p.key, p.reason);
                Err((reason, format!("{} ({})", remedy(), p.remedy)))
            }
        }
    }
}
