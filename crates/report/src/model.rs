//! Content of a report, as plain data. The builder measures and judges; the rest of the crate only draws.
//!
//! Everything has a default, so a literal may end in `..Default::default()`. Numbers are given as numbers, with their
//! unit beside them; they are rounded, aligned and escaped here.

use cnsim_measure::map::Map;
use cnsim_measure::spent::FlowParts;
pub use cnsim_papers::claims::Holds;
pub use cnsim_papers::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that a report shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Heading of the first page.
    pub title: String,
    /// Version of cnsim that measured the numbers.
    pub version: String,
    /// The command that made the report, ready to be repeated.
    pub command: String,
    /// Identification of the runs: seeds, fingerprint, target, number.
    pub facts: Vec<Fact>,
    /// The studies, for headings and citations; a study that only occurs in a page's id needs no entry.
    pub studies: Vec<Study>,
    /// One page per scenario.
    pub pages: Vec<Page>,
    /// Claims of whole studies; those of `Page::claims` are added by id.
    pub claims: Vec<Claim>,
    /// Named assumptions of all studies; those of `Page::assumptions` are added by id.
    pub assumptions: Vec<Assumption>,
    /// Published rows that were not run; those of `Page::not_run` are added.
    pub not_run: Vec<NotRun>,
    /// Limits of the model, a sentence each; if empty, a general list is printed.
    pub not_modelled: Vec<String>,
    /// Runs by the model instead of the fast engine, a sentence for each reason.
    pub by_model: Vec<String>,
    /// Colours of schemes by name, from 0 to 7; a scheme without one takes one that is free.
    pub colours: BTreeMap<String, u8>,
}

impl Report {
    /// Is it one experiment without published numbers: a scenario of the user's, or a sweep? Such a report opens with
    /// its page.
    pub fn is_one_experiment(&self) -> bool {
        self.pages.len() == 1 && !self.is_judged()
    }

    /// Has any table a published number?
    pub fn is_judged(&self) -> bool {
        self.pages.iter().any(Page::is_judged)
    }
}

/// A name and its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// Name of the property: `seeds`.
    pub name: String,
    /// The fact's value, such as `1, 2, 3, 4, 5`.
    pub value: String,
}

/// A study: the part of a page's id before the slash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Study {
    /// The study's id, such as `B07`.
    pub id: String,
    /// `ECM and QCN on the CN-SIM benchmarks`.
    pub title: String,
    /// Author, title, place, date.
    pub citation: String,
    /// Question and answer, in a few sentences.
    pub summary: String,
}

/// The page of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Page {
    /// Identity and route, `STUDY/SCENARIO`.
    pub id: String,
    /// Heading of the page.
    pub title: String,
    /// The question that the scenario asks.
    pub question: String,
    /// Source of the scenario: a citation, printed as text.
    pub source: String,
    /// Warnings at the head of the page, before any number.
    pub alerts: Vec<Alert>,
    /// The network, to be drawn.
    pub topology: Topology,
    /// The tables of the page, one per condition and PAUSE mode.
    pub tables: Vec<Table>,
    /// Figures; those whose `group` is a table's `id` stand below that table, the others in a section of their own.
    pub figures: Vec<Figure>,
    /// Whether figures without a table precede the tables, as in a sweep.
    pub figures_first: bool,
    /// Runs that the map of the network shows; empty: it is drawn still.
    pub plays: Vec<Play>,
    /// Claims that are decided here.
    pub claims: Vec<Claim>,
    /// Assumptions that this scenario makes.
    pub assumptions: Vec<Assumption>,
    /// Published rows of this scenario that were not run.
    pub not_run: Vec<NotRun>,
}

impl Page {
    /// Has a table of this page a published number?
    pub fn is_judged(&self) -> bool {
        self.cells().any(|f| f.cell.published.is_some())
    }

    /// All cells of its tables, row by row.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Found<'_>> {
        let rows = self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        rows.flat_map(move |(table, row)| {
            let cells = row.cells.iter().zip(&table.columns);
            cells.filter_map(move |(cell, column)| {
                Some(Found { page: self, table, row, column, cell: cell.as_ref()? })
            })
        })
    }
}

/// A cell, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) page: &'a Page,
    pub(crate) table: &'a Table,
    pub(crate) row: &'a Row,
    pub(crate) column: &'a Column,
    pub(crate) cell: &'a Cell,
}

/// A table: one condition and PAUSE mode, a row per scheme, a group of columns per metric; or several conditions, where
/// its rows name theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Table {
    /// Unique within the page; figures name it in `group`.
    pub id: String,
    /// The condition: `hotspot 2 Gb/s`.
    pub condition: String,
    /// `on`, `off`, `global`, or empty if it does not apply.
    pub pause: String,
    /// Further text above the table.
    pub caption: String,
    /// The columns of the table, a metric each.
    pub columns: Vec<Column>,
    /// Heading of the column of the rows' own conditions; empty: `condition`.
    pub row_heading: String,
    /// The schemes; `cells` is parallel to `columns`.
    pub rows: Vec<Row>,
    /// The file beside the report that has metrics that this table lacks; empty if the table has all.
    pub file: String,
}

/// A metric of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    /// Id of the column's metric, such as `aggregate_throughput`.
    pub metric: String,
    /// Heading of the column, such as `Aggregate throughput`.
    pub title: String,
    /// Unit of the column's numbers, such as `Gb/s`.
    pub unit: String,
    /// Definition of the metric in a sentence, shown on hover.
    pub about: String,
    /// The column stands only in the list of all numbers, in the CSV file and in the search.
    pub more: bool,
}

/// A warning before the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Alert {
    /// Heading of the alert: `The network stood still.`
    pub title: String,
    /// The consequence for the numbers, in a sentence.
    pub about: String,
    /// The cases, a sentence each.
    pub lines: Vec<String>,
    /// Whether it is a note: the numbers are valid without it.
    pub mild: bool,
}

/// A row of a table: the values of a scheme.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Scheme id, as in the traces of figures: `qcn-2pt`.
    pub scheme: String,
    /// Condition of the row, if the table holds several; empty: the table's condition.
    pub condition: String,
    /// The cells of the row, one per column; `None` where nothing was measured nor published.
    pub cells: Vec<Option<Cell>>,
}

/// A number, published beside measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    /// The number as the study printed it, digits kept: `77.40`.
    pub published: Option<String>,
    /// Mean of the measured values over the seeds.
    pub measured: Option<f64>,
    /// 95 % confidence interval of the mean.
    pub ci95: Option<(f64, f64)>,
    /// Least and greatest value, if there are too few seeds for an interval; then there is no `ci95`.
    pub range: Option<(f64, f64)>,
    /// 95 % prediction interval of one run.
    pub pi95: Option<(f64, f64)>,
    /// Range in which a published number agrees: `pi95` widened by its last digit, or close to the mean.
    pub accept: Option<(f64, f64)>,
    /// Number of seeds behind the mean.
    pub seeds: u32,
    /// The value of each seed, if wanted on hover.
    pub values: Vec<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the cell is zero by construction (drops with PAUSE, overhead without a scheme): counted apart.
    pub structural: bool,
    /// The measured value is a lower bound.
    pub at_least: bool,
    /// Reason why the number does not agree or cannot be compared; it names the suspected assumption (`A1 source-queue`).
    pub note: String,
}

/// A figure: lines over time, or another quantity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figure {
    /// The `id` of the table below which it stands; empty: in the section of figures.
    pub group: String,
    /// Heading: `Hot queue length`.
    pub title: String,
    /// A remark below: `seed 1; band: least and greatest of 5 seeds`.
    pub caption: String,
    /// Horizontal axis: `time`, `ms`.
    pub x: Axis,
    /// Vertical axis: `queue`, `KB`.
    pub y: Axis,
    /// How it is drawn.
    pub kind: Kind,
    /// Names of the places on the horizontal axis where it is not a quantity (`Kind::Bars`): place `i` is `x = i`.
    pub categories: Vec<String>,
    /// The lines of the figure, one per scheme or setting.
    pub traces: Vec<Trace>,
    /// Shaded spans of the horizontal axis: the hotspot's window.
    pub windows: Vec<Window>,
    /// Dashed horizontal lines: set point, service rate.
    pub levels: Vec<Level>,
    /// The scheme of all lines, used to choose among many figures; empty if they differ.
    pub scheme: String,
    /// The condition of all its lines; empty if they differ.
    pub condition: String,
    /// The PAUSE mode of all its lines; empty if they differ.
    pub pause: String,
}

/// An axis of a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Axis {
    /// Quantity of the axis.
    pub title: String,
    /// Unit of the axis, such as `ms`.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Lines; long ones are reduced.
    #[default]
    Lines,
    /// Lines with a mark at each point.
    Points,
    /// Bars at the categories.
    Bars,
    /// A row for each line, in groups, shaded by a value from 0 to 100 between the places of `x`.
    Heat,
    /// A row for each group, of bars over time. From each place of `x` to the next, a line's bar has its value in % of the row's
    /// height; lines of one group that begin at one place stand upon each other.
    Spans,
}

/// A line of a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// Scheme id, or the setting in which the lines differ: `RTT 100 us`.
    pub name: String,
    /// Slot 0 to 31 of a setting, a flow or a port: its colour, modulo 8, and its dashes; 32, grey: all others. `None`: the colour of
    /// the scheme, or without a scheme the next free colour of the page.
    pub slot: Option<u8>,
    /// Heading that the line stands under in a strip of heat; the row in which its bars stand.
    pub group: String,
    /// Horizontal values of the line's points, ascending.
    pub x: Vec<f64>,
    /// Vertical values, parallel to `x`.
    pub y: Vec<f64>,
    /// Least and greatest over the seeds, each parallel to `x`; of bars, the ends of the interval of the mean.
    pub band: Option<Band>,
    /// Words that the reader finds beside the value of each point, parallel to `x`: `9 flows`; empty: none.
    pub notes: Vec<String>,
}

/// Range around a line or a bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Band {
    /// Least value at each point.
    pub low: Vec<f64>,
    /// Greatest value at each point.
    pub high: Vec<f64>,
}

/// A shaded span of the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    /// Where it starts, in the axis' unit.
    pub from: f64,
    /// Where the shaded span ends.
    pub to: f64,
    /// Words beside the shaded span, such as `hotspot`.
    pub label: String,
}

/// A dashed horizontal line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Level {
    /// Height of the horizontal line, in the axis' unit.
    pub value: f64,
    /// `set point 26 KB`.
    pub label: String,
}

/// A run on the map: its ports over time, and flows with their ways and waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Play {
    /// The run: scheme, PAUSE mode, condition and seed.
    pub title: String,
    /// All ports over time, if the run kept them.
    pub map: Option<Map>,
    /// Flows that can be chosen, the largest slowdown first.
    pub flows: Vec<FlowParts>,
    /// Names of the ports that the flows go by, by their number.
    pub ports: Vec<String>,
    /// What is shown, and what was not recorded, a sentence each.
    pub notes: Vec<String>,
}

/// The network that a page draws.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topology {
    /// Hosts and switches of the network.
    pub nodes: Vec<Node>,
    /// Links between hosts and switches.
    pub links: Vec<Link>,
    /// Text below the figure.
    pub caption: String,
}

/// A host or a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Name of the node, such as `H1` or `core`.
    pub name: String,
    /// True for a switch, false for a host.
    pub switch: bool,
    /// Row of the drawing, 0 = hosts; `None`: its distance from the hosts.
    pub layer: Option<u32>,
}

/// A link, both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Index of one end in `Topology::nodes`.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// Rate of the link, such as `10 Gb/s`.
    pub rate: String,
    /// `500 ns`, or empty.
    pub delay: String,
    /// The congested port of the link, if it has one.
    pub hot: Hot,
    /// Names of the port of `a` and of that of `b`, by which the map knows them.
    pub ports: [String; 2],
}

/// The congested port of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hot {
    /// Neither end of the link is hot.
    #[default]
    No,
    /// The output of `a` that sends to `b`.
    A,
    /// The output of `b` that sends to `a`.
    B,
}

/// A conclusion of a study, with its verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// The claim's id, such as `B07.3`.
    pub id: String,
    /// The statement of the study.
    pub text: String,
    /// `printed`, `table` or `figure`.
    pub origin: String,
    /// The verdict.
    pub holds: Holds,
    /// The numbers, items separated by `; `.
    pub evidence: String,
}

impl Claim {
    /// Is the claim scored? A claim read from a figure is shown only.
    pub fn is_scored(&self) -> bool {
        self.origin != "figure"
    }
}

/// A named assumption of the scenario's study.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Assumption {
    /// The assumption's id, such as `A1`.
    pub id: String,
    /// The assumption's name, such as `source-queue`.
    pub name: String,
    /// The assumption, in a sentence.
    pub text: String,
    /// The alternatives, and how to set them.
    pub alternatives: String,
}

/// A published row that was not run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotRun {
    /// The row: study, scenario, condition, PAUSE, scheme, metric.
    pub place: String,
    /// The published value with its unit.
    pub value: String,
    /// Why it was not run.
    pub reason: String,
}
