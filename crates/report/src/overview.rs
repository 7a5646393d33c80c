//! The picture of the first page: every judged number as a dot, at the relative distance of the measured value from the published
//! one.

use crate::html::{Mark, anchor, distinct, study};
use crate::model::{Cell, Found, Page, Report};
use crate::number::log10;
use crate::table::heading;
use maud::{Markup, html};

/// Most scenarios with a row each; with more, each study has a row.
const MANY: usize = 14;
/// Distance at which the scale turns from linear to logarithmic, %.
const BEND: f64 = 1.0;
/// End of the scale, %. Dots beyond it stand on the edge.
const END: f64 = 100.0;

/// A judged cell, by its distance in %.
struct Dot<'a> {
    off: f64,
    mark: Mark,
    to: String,
    about: String,
    row: (&'a str, String),
}

/// The picture; empty without judged cells.
pub(crate) fn picture(r: &Report) -> Markup {
    let all = dots(r);
    let sign = |tick: f64| format!("{}{tick}", if tick > 0.0 { "+" } else { "" }).replace('-', "\u{2212}");
    html! {
        @if !all.is_empty() {
            figure.devs {
                figcaption {
                    b { "Measured against published" } " "
                    span { "distance of each measured number from the printed one" }
                }
                @for row in distinct(all.iter().map(|d| &d.row)) {
                    (strip(row, &all.iter().filter(|d| d.row == *row).collect::<Vec<_>>()))
                }
                div.dev.axis aria-hidden="true" {
                    span {}
                    div {
                        @for tick in [-100.0, -20.0, -5.0, -1.0, 0.0, 1.0, 5.0, 20.0, 100.0_f64] {
                            i class=[[1.0, 20.0].contains(&tick.abs()).then_some("minor")]
                                style=(format!("left:{:.2}%", place(tick))) {
                                (sign(tick)) @if tick == 0.0 { " %" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// All judged cells with a published number other than zero.
fn dots<'a>(r: &'a Report) -> Vec<Dot<'a>> {
    let dot = |f: Found<'a>| -> Option<Dot<'a>> {
        let off = distance(f.cell)?;
        let to = anchor(&f.page.id, &f.table.id);
        Some(Dot { off, mark: Mark::of(f.cell), to, about: about(&f, off), row: place_of(r, &f) })
    };
    r.pages.iter().flat_map(Page::cells).filter_map(dot).collect()
}

/// Link and words of the row in which a cell stands: its study, its scenario, or on a single page its column.
fn place_of<'a>(r: &Report, f: &Found<'a>) -> (&'a str, String) {
    let (page, column) = (f.page, &f.column.title);
    match r.pages.len() {
        1 if page.tables.len() > 2 => (&page.id, column.clone()),
        1 => (&page.id, format!("{}: {}", heading(f.table), column.to_lowercase())),
        n if n <= MANY => (&page.id, page.id.clone()),
        _ => (study(&page.id), study(&page.id).to_owned()),
    }
}

/// Distance of a judged number from the published one, %.
fn distance(c: &Cell) -> Option<f64> {
    let judged = matches!(Mark::of(c), Mark::Agrees | Mark::Near | Mark::Differs | Mark::Undecided);
    let said: f64 = c.published.as_deref()?.trim().parse().ok()?;
    (judged && said != 0.0).then_some((c.measured? / said - 1.0) * 100.0).filter(|d| d.is_finite())
}

fn about(f: &Found<'_>, off: f64) -> String {
    let condition = if f.row.condition.is_empty() { heading(f.table) } else { f.row.condition.clone() };
    format!(
        "{}, {condition}, {}: {} published {}, measured {off:+.1} %",
        f.page.id,
        f.row.scheme,
        f.column.title.to_lowercase(),
        f.cell.published.as_deref().unwrap_or("")
    )
}

/// Place on the scale from 0 to 100: linear to [`BEND`], logarithmic to [`END`].
fn place(percent: f64) -> f64 {
    let f = |v: f64| log10(1.0 + v / BEND);
    let size = f(percent.abs().min(END)) / f(END);
    50.0 + 48.0 * size.copysign(percent)
}

/// One row: its dots side by side in columns, so that all are visible.
fn strip((to, words): &(&str, String), dots: &[&Dot<'_>]) -> Markup {
    let agree = dots.iter().filter(|d| d.mark == Mark::Agrees).count();
    let furthest = dots.iter().map(|d| d.off.abs()).fold(0.0, f64::max);
    let mut taken: Vec<(f64, usize)> = Vec::new();
    let mut sorted: Vec<&&Dot<'_>> = dots.iter().collect();
    sorted.sort_by(|a, b| a.off.total_cmp(&b.off));
    let mut style = |d: &Dot<'_>| {
        let x = place(d.off);
        let level = (0..9).find(|l| taken.iter().all(|(at, at_level)| at_level != l || (x - at).abs() > 1.1));
        let level = level.unwrap_or(taken.len() % 9);
        taken.push((x, level));
        // 0, +1, -1, +2, ... around the middle.
        let step = (level as f64 / 2.0).ceil() * if level % 2 == 1 { 1.0 } else { -1.0 };
        format!("left:{x:.2}%;top:{:.0}%", 50.0 + 10.5 * step)
    };
    let all =
        format!("{words}: {agree} of {} numbers agree; the furthest is off by {furthest:.1} %", dots.len());
    html! {
        div.dev {
            span { a href={ "#" (to) } { (words) } " " small { (agree) " of " (dots.len()) } }
            div role="img" aria-label=(all) {
                s {}
                @for d in sorted { i.(d.mark.class()) style=(style(d)) title=(d.about) data-go=(d.to) {} }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Row, Table, Verdict};

    #[test]
    fn the_scale_is_even_and_ends() {
        assert!((place(0.0) - 50.0).abs() < 1e-9 && (place(100.0) - 98.0).abs() < 1e-9);
        assert!((place(5.0) + place(-5.0) - 100.0).abs() < 1e-9);
        assert_eq!(place(1e9), place(END));
        assert!(place(0.5) > 51.0);
    }

    #[test]
    fn only_what_was_judged_has_a_distance() {
        let cell = |published: &str, verdict| Cell {
            published: Some(published.into()),
            measured: Some(1.1),
            verdict,
            ..Cell::default()
        };
        assert!((distance(&cell("1.0", Verdict::Differs)).unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(distance(&cell("0", Verdict::Differs)), None);
        assert_eq!(distance(&cell("about 1", Verdict::Agrees)), None);
        assert_eq!(distance(&cell("1.0", Verdict::Incomparable)), None);
    }

    /// Pages of one table with one row, of which each cell is published as 10 and measured as 10 and so many per cent.
    fn report(pages: &[(&str, &[(f64, Verdict)])]) -> Report {
        let cell = |&(off, verdict): &(f64, Verdict)| {
            Some(Cell {
                published: Some("10".into()),
                measured: Some(10.0 + off / 10.0),
                verdict,
                ..Cell::default()
            })
        };
        let page = |(id, cells): &(&str, &[(f64, Verdict)])| {
            let columns = (0..cells.len())
                .map(|i| crate::model::Column { title: format!("Metric {i}"), ..Default::default() });
            let row = Row { scheme: "ecm".into(), cells: cells.iter().map(cell).collect(), ..Row::default() };
            let table =
                Table { id: "t".into(), columns: columns.collect(), rows: vec![row], ..Table::default() };
            Page { id: (*id).into(), tables: vec![table], ..Page::default() }
        };
        Report { pages: pages.iter().map(page).collect(), ..Report::default() }
    }

    fn drawn(r: &Report) -> String {
        picture(r).into_string()
    }

    /// Places and words of the dots, then of the rows.
    fn parts<'a>(html: &'a str, from: &str, to: &str) -> Vec<&'a str> {
        html.split(from).skip(1).filter_map(|p| Some(p.split_once(to)?.0)).collect()
    }

    #[test]
    fn dots_stand_side_by_side() {
        let same = [(1.0, Verdict::Agrees); 11];
        let html = drawn(&report(&[("A/one", &same)]));
        // 11 dots of one row each: on a page of one table a row is a column.
        assert_eq!(parts(&html, "<div class=\"dev\">", "</div>").len(), 11);
        let html = drawn(&report(&[
            ("A/one", &same),
            ("B/one", &[(-10.0, Verdict::Differs), (10.0, Verdict::Near)]),
        ]));
        // Ten and a half per cent of the height apart, up and down around the middle; of nine places, then again.
        let tops = parts(&html, ";top:", "%");
        assert_eq!(tops[..11], ["50", "60", "40", "71", "29", "82", "18", "92", "8", "50", "60"]);
        assert_eq!(tops[11..], ["50", "50"], "far apart");
        let at = parts(&html, "\" style=\"left:", "%;");
        // log10(2) / log10(101) and log10(11) / log10(101) of 48.
        assert!(at[..11].iter().all(|x| *x == "57.21"), "{at:?}");
        assert_eq!(at[11..], ["25.06", "74.94"]);
        assert_eq!(
            parts(&html, "aria-label=\"", "\""),
            [
                "A/one: 11 of 11 numbers agree; the furthest is off by 1.0 %",
                "B/one: 0 of 2 numbers agree; the furthest is off by 10.0 %"
            ]
        );
        assert!(html.contains(
            "title=\"B/one, Results, ecm: metric 0 published 10, measured -10.0 %\" data-go=\"B/one/t\""
        ));
        assert!(html.contains("<i class=\"differs\"") && html.contains("<i class=\"near\""));
        assert!(
            html.ends_with("</div></div></figure>")
                && html.matches("<div").count() == html.matches("</div>").count()
        );
        let axis = html.split_once("dev axis").unwrap().1;
        let ticks: Vec<&str> = parts(axis, "%\">", "</i>");
        assert_eq!(
            ticks,
            ["\u{2212}100", "\u{2212}20", "\u{2212}5", "\u{2212}1", "0 %", "+1", "+5", "+20", "+100"]
        );
        assert_eq!(parts(axis, "left:", "%")[4..6], ["50.00", "57.21"]);
        assert_eq!(parts(axis, "class=\"minor\" style=\"left:", "%").len(), 4);
        assert_eq!(drawn(&report(&[("A/one", &[(1.0, Verdict::Unpublished)])])), "");
    }

    #[test]
    fn a_row_is_a_column_a_scenario_or_a_study() {
        let one: &[(f64, Verdict)] = &[(1.0, Verdict::Agrees)];
        let words = |r: &Report| {
            parts(&drawn(r), "<a href=\"#", "</a>").iter().map(|s| (*s).to_string()).collect::<Vec<_>>()
        };
        let mut single = report(&[("A/one", one)]);
        assert_eq!(words(&single), ["A/one\">Results: metric 0"]);
        let table = single.pages[0].tables[0].clone();
        single.pages[0].tables = vec![table.clone(); 2];
        assert_eq!(words(&single), ["A/one\">Results: metric 0"]);
        single.pages[0].tables.push(table);
        assert_eq!(words(&single), ["A/one\">Metric 0"], "of three tables, a row a metric");
        let ids: Vec<String> = (0..15).map(|i| format!("A/{i}")).collect();
        let pages: Vec<(&str, &[(f64, Verdict)])> = ids.iter().map(|id| (id.as_str(), one)).collect();
        assert_eq!(words(&report(&pages[..14])).len(), 14);
        assert_eq!(words(&report(&pages)), ["A\">A"], "of more than fourteen pages, a row a study");
    }
}
