//! Text for HTML: escaping, names for anchors, badges.

use crate::model::{Cell, Holds, Page, Verdict};
use maud::{Markup, html};

/// Escapes text of a drawing, attributes included.
pub(crate) fn esc(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Controls are not allowed in HTML; tabs and line ends are.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON that can stand inside a script element.
pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, crate::ReportError> {
    let text = serde_json::to_string(value).map_err(|e| crate::ReportError(e.to_string()))?;
    Ok(text.replace('<', "\\u003c"))
}

/// A table's or section's anchor: the page's route and a name without spaces.
pub(crate) fn anchor(page: &str, part: &str) -> String {
    let part: String = part.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    format!("{page}/{part}")
}

/// The study of a page or a claim: its id up to the first `/` or `.`.
pub(crate) fn study(id: &str) -> &str {
    id.split(['/', '.']).next().unwrap_or(id)
}

/// A page's name without its study.
pub(crate) fn scenario(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, name)| name)
}

/// Verdict of a cell, by class, icon and word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Agrees,
    Near,
    Differs,
    Undecided,
    Incomparable,
    Unpublished,
    Zero,
}

impl Mark {
    pub(crate) const ALL: [Self; 7] = [
        Self::Agrees,
        Self::Near,
        Self::Differs,
        Self::Undecided,
        Self::Incomparable,
        Self::Unpublished,
        Self::Zero,
    ];

    pub(crate) fn of(cell: &Cell) -> Self {
        match cell.verdict {
            // A zero that is not zero after all is no structural zero.
            Verdict::Differs => Self::Differs,
            _ if cell.structural => Self::Zero,
            Verdict::Agrees => Self::Agrees,
            Verdict::Near => Self::Near,
            Verdict::Undecided => Self::Undecided,
            Verdict::Incomparable => Self::Incomparable,
            Verdict::Unpublished => Self::Unpublished,
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Near => "near",
            Self::Differs => "differs",
            Self::Undecided => "undecided",
            Self::Incomparable => "incomparable",
            Self::Unpublished => "unpublished",
            Self::Zero => "zero",
        }
    }

    pub(crate) fn icon(self) -> &'static str {
        match self {
            Self::Agrees => "✓",
            Self::Near => "~",
            Self::Differs => "✗",
            Self::Undecided => "?",
            Self::Incomparable => "≁",
            Self::Unpublished => "·",
            Self::Zero => "∅",
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Zero => "zero by construction",
            other => other.class(),
        }
    }

    /// The verb or adjective for a count of cells.
    pub(crate) fn of_many(self, n: usize) -> &'static str {
        match self {
            Self::Agrees if n != 1 => "agree",
            Self::Differs if n != 1 => "differ",
            other => other.words(),
        }
    }

    /// Icon and word: never colour alone.
    pub(crate) fn badge(self) -> Markup {
        let word = if self == Self::Zero { "zero" } else { self.class() };
        badge(self.class(), self.icon(), word)
    }
}

/// The marks of lines, as the script has them.
pub(crate) const MARKS: &str = include_str!("../assets/marks.js");

/// The shape of a slot's mark, around the origin.
fn mark(slot: u8) -> &'static str {
    MARKS.split('"').nth(2 * usize::from(slot % 8) + 1).unwrap_or_default()
}

/// A line with its mark, as a legend shows it.
pub(crate) fn swatch((slot, dash): (u8, u8)) -> Markup {
    html! {
        svg class={ "swatch c" (slot) " d" (dash) } viewBox="0 0 24 10" width="24" height="10"
            aria-hidden="true" {
            path.line d="M1 5H23" {}
            path.mark d=(mark(slot)) transform="translate(12 5)" {}
        }
    }
}

fn badge(class: &str, icon: &str, word: &str) -> Markup {
    html! { span.badge.(class) { b aria-hidden="true" { (icon) } (word) } }
}

/// Class, icon and words of a claim's outcome.
pub(crate) fn holds(holds: Holds) -> (&'static str, &'static str, &'static str) {
    match holds {
        Holds::Yes => ("yes", "✓", "holds"),
        Holds::No => ("no", "✗", "does not hold"),
        Holds::Undecided => ("undecided", "≈", "undecided"),
        Holds::NotRun => ("not-run", "–", "not run"),
    }
}

/// Icon and words of a claim's outcome.
pub(crate) fn holds_badge(outcome: Holds) -> Markup {
    let (class, icon, words) = holds(outcome);
    badge(class, icon, words)
}

/// Cells that count as each mark, in the order of [`Mark::ALL`].
pub(crate) type Counts = [usize; Mark::ALL.len()];

/// How many cells of a page count as each mark.
pub(crate) fn counts(page: &Page) -> Counts {
    let mut n = Counts::default();
    page.cells().filter(|f| !f.column.more).for_each(|f| n[Mark::of(f.cell) as usize] += 1);
    n
}

/// A box that scrolls sideways where its content is wider; the keyboard reaches it.
pub(crate) fn scroll(name: &str, content: impl maud::Render) -> Markup {
    html! { div.scroll role="region" tabindex="0" aria-label=(name) { (content) } }
}

/// A table with these columns, each with its class, in a box that scrolls. Only readers of the text hear the heading of bars.
pub(crate) fn plain(class: &str, name: &str, columns: &[(&str, &str)], body: Markup) -> Markup {
    let table = html! {
        table class=(class) {
            thead {
                tr {
                    @for (class, title) in columns {
                        th class=[Some(class).filter(|c| !c.is_empty())] {
                            @if *class == "barcol" { span.away { (title) } } @else { (title) }
                        }
                    }
                }
            }
            (body)
        }
    };
    scroll(name, table)
}

/// A part of a page under its heading.
pub(crate) fn titled(title: &str, content: Markup) -> Markup {
    html! { article { div.head { h2 { (title) } } (content) } }
}

/// Each value once, in their order.
pub(crate) fn distinct<T: std::hash::Hash + Eq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect::<indexmap::IndexSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through() {
        assert_eq!(
            esc("<a href=\"x\" id='y'>&\u{1}"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}"
        );
        assert_eq!(json("</script><!--").unwrap(), "\"\\u003c/script>\\u003c!--\"");
        assert_eq!(anchor("B07/x", "hotspot 2 Gb/s"), "B07/x/hotspot-2-Gb-s");
    }

    #[test]
    fn each_slot_has_a_mark() {
        let marks = crate::html::distinct((0..8).map(mark));
        assert!(
            marks.len() == 8 && marks.iter().all(|m| m.starts_with('M') && m.ends_with('z')),
            "{marks:?}"
        );
        assert_eq!(mark(11), mark(3));
    }

    #[test]
    fn a_zero_that_differs_is_not_hidden() {
        let cell = Cell { structural: true, verdict: Verdict::Differs, ..Cell::default() };
        assert_eq!(Mark::of(&cell), Mark::Differs);
        assert!(Mark::ALL.iter().enumerate().all(|(i, m)| *m as usize == i));
    }
}
