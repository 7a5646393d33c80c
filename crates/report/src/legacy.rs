//! The first version's data, as the command line still fills it. It goes when `model` is filled directly.

use crate::model;

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
#[derive(Clone, Debug, Default)]
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
#[derive(Clone, Debug, Default)]
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

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl From<&Report> for model::Report {
    fn from(r: &Report) -> Self {
        Self {
            title: "Published beside measured".into(),
            version: r.version.clone(),
            command: r.command.clone(),
            facts: r.facts.iter().map(|(n, v)| model::Fact { name: n.clone(), value: v.clone() }).collect(),
            pages: r.pages.iter().map(page).collect(),
            claims: r.claims.iter().map(claim).collect(),
            assumptions: r.assumptions.iter().map(assumption).collect(),
            not_run: r
                .not_run
                .iter()
                .map(|(p, v)| model::NotRun { place: p.clone(), value: v.clone(), reason: String::new() })
                .collect(),
            ..Self::default()
        }
    }
}

fn claim(c: &Claim) -> model::Claim {
    model::Claim {
        id: c.id.clone(),
        text: c.text.clone(),
        origin: c.origin.clone(),
        holds: match c.holds.as_str() {
            "yes" => model::Holds::Yes,
            "no" => model::Holds::No,
            "undecided" => model::Holds::Undecided,
            _ => model::Holds::NotRun,
        },
        evidence: c.evidence.clone(),
    }
}

fn assumption((name, text, alternatives): &(String, String, String)) -> model::Assumption {
    let (id, name) = name.split_once(' ').unwrap_or((name, ""));
    model::Assumption {
        id: id.into(),
        name: name.into(),
        text: text.clone(),
        alternatives: alternatives.clone(),
    }
}

fn page(p: &Page) -> model::Page {
    let groups = || p.tables.iter().enumerate().map(|(i, t)| (format!("t{i}"), t));
    model::Page {
        id: p.id.clone(),
        title: p.title.clone(),
        question: p.question.clone(),
        source: p.source.clone(),
        topology: topology(&p.topology),
        tables: groups().map(|(id, t)| table(id, t)).collect(),
        figures: groups().flat_map(|(id, t)| t.figures.iter().map(move |f| figure(id.clone(), f))).collect(),
        ..model::Page::default()
    }
}

fn topology(t: &Topology) -> model::Topology {
    let node = |i: usize| t.nodes.get(i);
    let top = t.nodes.iter().map(|n| n.1).max().unwrap_or(0);
    model::Topology {
        nodes: t
            .nodes
            .iter()
            .map(|(name, row, host, _)| model::Node {
                name: name.clone(),
                switch: !host,
                layer: Some(top - row),
            })
            .collect(),
        links: t
            .links
            .iter()
            .map(|&(a, b)| model::Link {
                a,
                b,
                hot: if node(a).is_some_and(|n| n.3) {
                    model::Hot::B
                } else if node(b).is_some_and(|n| n.3) {
                    model::Hot::A
                } else {
                    model::Hot::No
                },
                ..model::Link::default()
            })
            .collect(),
        caption: t.caption.clone(),
    }
}

fn table(id: String, t: &Table) -> model::Table {
    let (condition, pause) = t.title.split_once(", PAUSE ").unwrap_or((&t.title, ""));
    model::Table {
        id,
        condition: condition.into(),
        pause: pause.into(),
        columns: t
            .columns
            .iter()
            .map(|(title, unit)| model::Column {
                title: title.clone(),
                unit: unit.clone(),
                ..model::Column::default()
            })
            .collect(),
        rows: t
            .rows
            .iter()
            .map(|(s, cells)| model::Row {
                scheme: s.clone(),
                cells: cells.iter().map(|c| c.as_ref().map(cell)).collect(),
            })
            .collect(),
        ..model::Table::default()
    }
}

fn cell(c: &Cell) -> model::Cell {
    let measured: Option<f64> = c.measured.parse().ok();
    let half: Option<f64> = c.half.parse().ok();
    let pi95 = c.detail.split("interval of one run: ").nth(1).and_then(|rest| {
        let (low, high) = rest.lines().next()?.split_once(" to ")?;
        Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
    });
    model::Cell {
        published: some(&c.published),
        measured,
        ci95: measured.zip(half).map(|(m, h)| (m - h, m + h)),
        pi95,
        verdict: match c.verdict.as_str() {
            "agrees" | "zero" => model::Verdict::Agrees,
            "differs" => model::Verdict::Differs,
            "incomparable" => model::Verdict::Incomparable,
            _ => model::Verdict::Unpublished,
        },
        structural: c.verdict == "zero",
        note: c.note.clone(),
        ..model::Cell::default()
    }
}

fn figure(group: String, f: &Figure) -> model::Figure {
    let (y, unit) = f.y.split_once(" [").unwrap_or((&f.y, ""));
    model::Figure {
        group,
        title: f.title.clone(),
        x: model::Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: model::Axis { title: y.into(), unit: unit.trim_end_matches(']').into(), log: false },
        traces: f
            .traces
            .iter()
            .map(|t| model::Trace {
                name: t.name.clone(),
                x: t.x.clone(),
                y: t.y.clone(),
                ..model::Trace::default()
            })
            .collect(),
        windows: f
            .shade
            .iter()
            .map(|&(from, to)| model::Window { from, to, label: "hotspot".into() })
            .collect(),
        levels: f
            .level
            .iter()
            .map(|(value, label)| model::Level { value: *value, label: label.clone() })
            .collect(),
        ..model::Figure::default()
    }
}
