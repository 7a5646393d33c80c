//! The map: the network with a run's ports over time and the ways of its flows. `assets/map.js` plays it.

use crate::html::{anchor, esc, scroll};
use crate::model::Page;
use crate::{build, topology};
use cnsim_measure::map::{Map, SHOWN, decoded};
use cnsim_measure::spent::PARTS;
use maud::{Markup, PreEscaped, html};

/// The part of a page that has runs to show.
pub(crate) fn article(p: &Page) -> Markup {
    let drawing = topology::map(&p.topology, &|_| "none").filter(|_| !p.plays.is_empty());
    let option = |value: usize, words: &str| html! { option value=(value) { (words) } };
    html! {
        @if let Some(d) = drawing {
            article.play id=(anchor(&p.id, "map")) data-parts=(parts()) {
                div.head { h2 tabindex="-1" { "Map" } }
                div.picker role="group" aria-label="what the map shows" {
                    label { "run " select data-map="run" { @for (i, r) in p.plays.iter().enumerate() { (option(i, &r.title)) } } }
                    label {
                        "colour "
                        select data-map="what" {
                            @for s in SHOWN {
                                option value=(s.row) data-unit=(s.unit) data-of=(s.of) data-worth=(s.worth) data-all=[s.all] { (s.words) }
                            }
                        }
                    }
                    label { "port " select data-map="port" {} }
                    label { "flow " select data-map="flow" {} }
                }
                div.picker.time role="group" aria-label="time" {
                    button type="button" data-map="go" { "Play" }
                    input type="range" data-map="at" min="0" value="0" aria-label="step of time";
                    output {}
                    button type="button" data-map="svg" title="save as SVG" { "SVG" }
                }
                p.scale {}
                figure.net { (scroll("map of the network", PreEscaped(&d.svg))) figcaption { (d.caption) } }
                p.small.said role="status" {}
                div.block { div.legend {} div.figures.course {} }
                div.block { div.figures.many.series {} }
                ul.small.notes {}
            }
        }
    }
}

/// The names of a flow's parts with their colours, for the script.
fn parts() -> String {
    PARTS
        .iter()
        .enumerate()
        .map(|(i, part)| format!("{}:{}", build::slot_of(i), part.1))
        .collect::<Vec<_>>()
        .join("|")
}

/// How dark a value is drawn, from 0 to 8: in eighths of all, or by halves of the `most` that there is.
fn level(value: u64, most: u64, all: Option<u64>) -> usize {
    match (value, all) {
        (0, _) => 0,
        (v, Some(all)) => (v * 8).div_ceil(all).min(8) as usize,
        (v, None) => 8 - (most / v).max(1).ilog2().min(7) as usize,
    }
}

/// The classes of levels; the last is of ports of which nothing is known.
const CLASSES: [&str; 10] = ["u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "none"];

/// A step of a map as SVG, coloured by `used`, `queue`, `xoff` or `lost`; none if there is no such row or step.
pub fn still(map: &Map, what: &str, step: usize) -> Option<String> {
    let cnsim_measure::map::Shown { words, of, unit, worth, all, .. } =
        SHOWN.into_iter().find(|s| s.row == what)?;
    if step >= map.steps || what == "xoff" && map.xoff_until.is_none() {
        return None;
    }
    let rows: Vec<(&str, Option<Vec<u64>>)> =
        map.ports.iter().map(|p| (p.port.as_str(), p.row(what).map(|row| decoded(row, map.steps)))).collect();
    let most = rows.iter().flat_map(|r| r.1.iter().flatten()).copied().max().unwrap_or(0);
    let class: std::collections::BTreeMap<&str, &str> = rows
        .iter()
        .map(|(port, row)| {
            (*port, row.as_ref().map_or(CLASSES[9], |row| CLASSES[level(row[step], most, all)]))
        })
        .collect();
    let class = |port: &str| CLASSES.into_iter().find(|c| class.get(port) == Some(c)).unwrap_or(CLASSES[9]);
    let d = topology::map(&build::of_map(map), &class)?;
    let at = |step: usize| (step as u64 * map.bin) as f64 / 1e9;
    let dark = all.unwrap_or(most) as f64 * worth * if all.is_some() { 0.875 } else { 0.5 };
    let words = format!("{words}: {of}, {} to {} ms; darkest: above {dark} {unit}", at(step), at(step + 1));
    let style = format!("<style>{}</style>", crate::sheet::style());
    let svg = d.svg.replacen(
        "<text class=\"when\" x=\"6\" y=\"13\"></text>",
        &format!("<text class=\"when\" x=\"6\" y=\"13\">{}</text>", esc(&words)),
        1,
    );
    let svg = svg.replacen(
        "<svg ",
        &format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" ", d.width),
        1,
    );
    Some(svg.replacen('>', &format!(">{style}"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_eighths_or_halves() {
        assert_eq!([0, 1, 125, 126, 1000, 1200].map(|v| level(v, 0, Some(1000))), [0, 1, 1, 2, 8, 8]);
        assert_eq!([0, 1, 50, 51, 99, 100].map(|v| level(v, 100, None)), [0, 2, 7, 8, 8, 8]);
        assert_eq!(level(1, 1 << 40, None), 1, "the least is seen");
    }
}
