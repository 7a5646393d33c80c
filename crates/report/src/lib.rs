//! The HTML report: one file that opens from disk, offline; pages are routes in it (`#B07/single-hop`).
//!
//! Plain data in ([`model`]), one text out ([`render`]). The drawing library comes embedded in the `plotly` crate;
//! everything else is ours.

mod legacy;
pub mod model;
mod page;
mod reduce;

pub use legacy::{Cell, Claim, Figure, Page, Report, Table, Topology, Trace};
pub use reduce::reduce;

use std::borrow::Cow;

/// Largest number of points of a drawn series.
pub const MAX_POINTS: usize = 4000;

/// What can be rendered: [`model::Report`], and for now the first version's [`Report`].
pub trait Source {
    /// The report as plain data.
    fn report(&self) -> Cow<'_, model::Report>;
}

impl Source for model::Report {
    fn report(&self) -> Cow<'_, model::Report> {
        Cow::Borrowed(self)
    }
}

impl Source for Report {
    fn report(&self) -> Cow<'_, model::Report> {
        Cow::Owned(self.into())
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportError(pub String);

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the report cannot be made: {}", self.0)
    }
}

impl std::error::Error for ReportError {}

/// Renders the report.
///
/// # Errors
/// When the drawing library is not in the `plotly` crate as expected, or the figures cannot be written as JSON.
pub fn render<R: Source>(report: &R) -> Result<String, ReportError> {
    let report = report.report();
    let script = plotly_script()?;
    let mut figures: Vec<model::Figure> = Vec::new();
    let body = page::body(&report, &mut figures);
    for trace in figures.iter_mut().flat_map(|f| &mut f.traces) {
        (trace.x, trace.y) = reduce(&trace.x, &trace.y, MAX_POINTS);
    }
    let data = serde_json::to_string(&figures).map_err(|e| ReportError(e.to_string()))?.replace("</", "<\\/");
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><title>cnsim: published beside measured</title><style>{css}</style></head>\n<body>{body}\n\
         <script type=\"application/json\" id=\"figures\">{data}</script>\n<script>{script}</script>\n<script>{js}</script></body></html>\n",
        css = include_str!("../assets/report.css"),
        js = include_str!("../assets/report.js"),
    ))
}

/// The drawing library's script, out of what the crate embeds (it also carries a typesetter that we do not need).
fn plotly_script() -> Result<String, ReportError> {
    let all = plotly::Plot::offline_js_sources();
    let scripts = all.split("<script").filter_map(|s| {
        let start = s.find('>')? + 1;
        let end = s.find("</script>")?;
        s.get(start..end)
    });
    let found = scripts.max_by_key(|s| s.len()).filter(|s| s.contains("Plotly"));
    found.map(str::to_owned).ok_or_else(|| ReportError("the plotly crate embeds no script".into()))
}
