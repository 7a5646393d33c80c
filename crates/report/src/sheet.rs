//! Figures for documents: drawn by the script that draws those of pages.

use crate::colour::Colours;
use crate::encode::{FigureData, figure};
use crate::html::{MARKS, json};
use crate::model::{Figure, Page};
use crate::{MAX_POINTS, ReportError};
use std::collections::BTreeMap;

/// Figures below one another under one heading, as a script for any engine of JavaScript. Its value is the text of one SVG in the
/// reader's light or dark colours. `schemes` are the slots of names that are schemes: [`crate::model::Report::colours`].
///
/// # Errors
/// When the data cannot be written as JSON.
pub fn sheet(title: &str, figures: &[Figure], schemes: &BTreeMap<String, u8>) -> Result<String, ReportError> {
    let page = Page { figures: figures.to_vec(), ..Page::default() };
    let colours = Colours::of(&page, schemes);
    let data: Vec<FigureData<'_>> =
        figures.iter().map(|f| figure(f, MAX_POINTS, |t| colours.trace(t))).collect();
    let (chart, sheet) = (include_str!("../assets/chart.js"), include_str!("../assets/sheet.js"));
    let (title, data, style) = (json(title)?, json(&data)?, json(&style())?);
    Ok(format!("{MARKS}{chart}{sheet}cnsimSheet({title}, {data}, {style})"))
}

/// The rules of a drawing outside of a page, in light and dark.
pub(crate) fn style() -> String {
    let base = |of: &str| {
        let rules = include_str!("../assets/base.css").split_once(of).map_or("", |s| s.1);
        rules.split_once('}').map_or("", |s| s.0)
    };
    format!(
        "svg{{{}font:12px sans-serif}}.topology{{background:var(--panel)}}.bg{{fill:var(--panel)}}\
         .chart .heading{{font-size:14px;font-weight:600;fill:var(--ink)}}\
         @media(prefers-color-scheme:dark){{svg{{{}}}}}\n{}",
        base(":root {"),
        base(":root[data-theme=\"dark\"] {"),
        include_str!("../assets/chart.css")
    )
}
