//! The HTML report: one file that opens from disk, offline; pages are routes in it (`#B07/single-hop`).
//!
//! Plain data in, one text out. The drawing library comes embedded in the `plotly` crate; everything else is ours.

mod page;
mod reduce;

pub use reduce::reduce;

use serde::Serialize;

/// Largest number of points of a drawn series.
pub const MAX_POINTS: usize = 4000;

/// The whole report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Version of cnsim.
    pub version: String,
    /// The command that made it.
    pub command: String,
    /// Facts for the head: (name, value).
    pub facts: Vec<(String, String)>,
    /// One page per scenario.
    pub pages: Vec<Page>,
    /// Claims of all studies.
    pub claims: Vec<Claim>,
    /// Named assumptions: (id and name, text, alternatives).
    pub assumptions: Vec<(String, String, String)>,
    /// Published numbers that were not run: (place, value, note).
    pub not_run: Vec<(String, String)>,
}

/// A scenario's page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Route, `STUDY/SCENARIO`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What is asked.
    pub question: String,
    /// Where it comes from.
    pub source: String,
    /// The network, drawn.
    pub topology: Topology,
    /// Tables, with their figures.
    pub tables: Vec<Table>,
}

/// A drawn network: nodes in rows.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// (name, row from the top, is a host, is hot).
    pub nodes: Vec<(String, u32, bool, bool)>,
    /// Pairs of nodes.
    pub links: Vec<(usize, usize)>,
    /// What to say below.
    pub caption: String,
}

/// A table: one condition and PAUSE mode.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Columns: heading and unit.
    pub columns: Vec<(String, String)>,
    /// Rows: scheme and a cell per column.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
    /// Figures of the same condition.
    pub figures: Vec<Figure>,
}

/// A measured cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// As printed by the study; empty if nothing was.
    pub published: String,
    /// Mean.
    pub measured: String,
    /// Half width of the 95 % interval of the mean.
    pub half: String,
    /// All numbers and the note, for a closer look.
    pub detail: String,
    /// Suspected assumption.
    pub note: String,
    /// agrees, differs, unpublished, incomparable; `zero` where it is zero by construction.
    pub verdict: String,
}

/// A figure over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// What the y axis shows, with unit.
    pub y: String,
    /// Shaded from, to (ms).
    pub shade: Option<(f64, f64)>,
    /// A dashed line: height and name.
    pub level: Option<(f64, String)>,
    /// One per scheme.
    pub traces: Vec<Trace>,
}

/// A line of a figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trace {
    /// Scheme.
    pub name: String,
    /// Times, ms.
    pub x: Vec<f64>,
    /// Values.
    pub y: Vec<f64>,
}

/// A claim and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// Number.
    pub id: String,
    /// Text.
    pub text: String,
    /// printed, table or figure.
    pub origin: String,
    /// yes, no, undecided, not-run.
    pub holds: String,
    /// Numbers.
    pub evidence: String,
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
pub fn render(report: &Report) -> Result<String, ReportError> {
    let script = plotly_script()?;
    let mut figures: Vec<Figure> = Vec::new();
    let body = page::body(report, &mut figures);
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
