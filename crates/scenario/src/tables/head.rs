//! The keys at the top of a file, and those of `[matrix]` and `[[rows]]`.

use super::{pause::PauseMode, run};
use crate::language::row::declare::*;

rows! {
    STUDY = key("study", Kind::Name(40), "mine", "study that the scenario belongs to").fixed("");
    NAME = key("name", Kind::Name(80), "", "name of the scenario within its study").fixed("");
    TITLE = key("title", kind::TEXT, "untitled", "heading").fixed("");
    QUESTION = key("question", kind::TEXT, "none", "question that the scenario answers").fixed("");
    SOURCE = key("source", kind::TEXT, "none", "source: publication or author").fixed("");
    CONDITION = key("condition", kind::TEMPLATE, "default", "template that names a row, such as `hotspot {hotspot.rate}`")
        .sample("hotspot {hotspot.rate}");
}

/// Keys of `[matrix]` and `[[rows]]` beside those that they vary.
#[rustfmt::skip]
pub const MATRIX: &[Key] = &[
    key("condition", kind::TEMPLATE, "", "template that names these rows [default: the scenario's]"),
    key("pause", Kind::List(&Kind::Choice(PauseMode::WORDS)), "", "PAUSE modes of these rows [default: the scenario's]"),
    key("schemes", kind::SCHEMES, "", "schemes of these rows [default: those of the matrix, or none]"),
    key("seeds", run::SEEDS.kind, "", "number of seeds of these rows [default: run.seeds]"),
];
