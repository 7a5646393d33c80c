//! The command line with its verbs in groups, and the words of earlier versions.

use crate::{Cli, EXIT_CODES, fit};
use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory as _};

/// The groups of verbs. Each verb stands in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Experiment", &["run", "sweep", "compare", "check", "new", "import"]),
    ("Published studies", &["reproduce", "assume"]),
    ("Look up", &["explain", "explain-flow", "explain-pause", "explain-collective", "list"]),
    ("Check and measure", &["verify", "bench", "headroom"]),
    ("Around the program", &["tool", "help"]),
];

/// Verbs of earlier versions, each with its present form.
const MOVED: [(&str, &str); 7] = [
    ("describe", "explain"),
    ("schema", "tool schema"),
    ("diff", "tool diff"),
    ("clean", "tool clean"),
    ("completions", "tool completions"),
    ("man", "tool man"),
    ("doctor", "tool doctor"),
];

/// Columns that help texts are wrapped to where the terminal's width is not known.
const WIDTH: usize = 100;

/// The command line, its verbs in groups.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let width = fit::width().map_or(WIDTH, |w| w.clamp(40, WIDTH));
    let about = |verb: &str| {
        let found = command.find_subcommand(verb).and_then(Command::get_about).map(ToString::to_string);
        found.unwrap_or_else(|| "Print this message, or the help of a verb".into())
    };
    let group = |(title, verbs): &(&str, &[&str])| {
        let text = |v: &str| fit::wrapped(&about(v), width - 22).join(&format!("\n{:22}", ""));
        let verb = |v: &&str| format!("  {v:<20}{}\n", text(v));
        format!("{title}:\n{}\n", verbs.iter().map(verb).collect::<String>())
    };
    let groups: String = GROUPS.iter().map(group).collect();
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    let last = format!(
        "Exit codes: {}. A scenario file `-` is standard input. Without a verb, cnsim runs `reproduce quick`.",
        codes.join("; ")
    );
    let template =
        format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}");
    command.help_template(template).after_help(last)
}

/// The answer to a word of an earlier version.
pub(crate) fn moved(e: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = e.get(ContextKind::InvalidSubcommand) else { return None };
    let (old, new) = MOVED.iter().find(|(old, _)| old == word)?;
    Some(format!(
        "error: `cnsim {old}` is `cnsim {new}` now\n  help: write `cnsim {new}` with the same arguments"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_verb_stands_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|g| g.1).copied().collect();
        let once: BTreeSet<&str> = grouped.iter().copied().collect();
        let command = Cli::command();
        let known: BTreeSet<&str> =
            command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        assert_eq!((once.len(), &once), (grouped.len(), &known));
        for (old, new) in MOVED {
            let mut at = &command;
            for word in new.split(' ') {
                at = at.find_subcommand(word).unwrap_or_else(|| panic!("{new}"));
            }
            assert!(command.find_subcommand(old).is_none(), "{old}");
        }
    }

    #[test]
    fn an_old_word_answers_with_the_new_one() {
        let said =
            |word: &str| moved(&command().try_get_matches_from(["cnsim", "--quiet", word, "x"]).unwrap_err());
        assert!(said("describe").unwrap().contains("`cnsim explain`"));
        assert!(said("clean").unwrap().contains("`cnsim tool clean`"));
        assert_eq!(said("descrive"), None);
    }

    #[test]
    fn help_has_the_groups_within_the_width() {
        let help = command().render_long_help().to_string();
        for (title, _) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
        }
    }
}
