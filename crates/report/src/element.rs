//! Elements of an SVG as text. Numbers are rounded by who gives them.

use crate::html::esc;
use std::fmt::Display;

/// A number with one decimal.
pub(crate) fn one(v: f64) -> String {
    format!("{v:.1}")
}

/// A text of a class, or of none, at a place.
pub(crate) fn text(class: &str, (x, y): (impl Display, impl Display), words: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<text{class} x=\"{x}\" y=\"{y}\">{}</text>", esc(words))
}

/// A rectangle of a class: place, width and height.
pub(crate) fn rect(
    class: &str,
    (x, y): (impl Display, impl Display),
    (w, h): (impl Display, impl Display),
) -> String {
    format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>")
}
