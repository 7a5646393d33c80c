//! A table that is made up: what is shown of it, and where.

use super::*;
use crate::model::Row;
use std::collections::BTreeMap;

fn column(title: &str, unit: &str) -> Column {
    Column { title: title.into(), unit: unit.into(), ..Column::default() }
}

fn cell(published: Option<&str>, measured: f64, verdict: Verdict) -> Option<Cell> {
    Some(Cell {
        published: published.map(str::to_owned),
        measured: Some(measured),
        verdict,
        ..Cell::default()
    })
}

fn row(scheme: &str, condition: &str, cells: Vec<Option<Cell>>) -> Row {
    Row { scheme: scheme.into(), condition: condition.into(), cells }
}

/// The HTML of a table.
fn html(t: &Table) -> String {
    let page = Page { id: "A/one".into(), tables: vec![t.clone()], ..Page::default() };
    table(&page, t, &Colours::of(&page, &BTreeMap::new())).into_string()
}

/// The words of a piece of HTML, without its tags.
fn words(html: &str) -> Vec<String> {
    let text: String =
        html.split('<').map(|p| p.split_once('>').map_or(p, |(_, t)| t)).collect::<Vec<_>>().join(" ");
    text.split_whitespace().map(str::to_owned).collect()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from} in {text}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} in {rest}")).0
}

#[test]
fn headings_say_condition_and_pause() {
    let of = |condition: &str, pause: &str| Table {
        condition: condition.into(),
        pause: pause.into(),
        ..Table::default()
    };
    let head = |t: &Table| words(between(&html(t), "<h2", "<div class=\"tools\"")).join(" ");
    for (condition, pause, whole, title) in [
        ("", "", "Results", "Results"),
        ("default", "on", "PAUSE on", "PAUSE on"),
        ("load 5 %", "", "load 5 %", "load 5 %"),
        ("load 5 %", "off", "load 5 %, PAUSE off", "load 5 % PAUSE off"),
    ] {
        let t = of(condition, pause);
        assert_eq!(heading(&t), whole);
        assert_eq!(head(&t).trim_start_matches("tabindex=\"-1\"> "), title);
        assert_eq!(html(&t).contains("class=\"pill\""), title != whole, "{title}");
    }
    assert!(!html(&of("", "")).contains("<p class"));
    let told = Table { caption: "of ports".into(), ..Table::default() };
    assert!(html(&told).contains("<p class=\"small\">of ports</p>"));
}

/// Columns: drops are zero throughout; overhead was published; fairness was not.
fn three() -> Table {
    let zero = || Some(Cell { structural: true, ..cell(Some("0"), 0.0, Verdict::Agrees).unwrap() });
    let overhead = Cell { ci95: Some((2.0, 3.0)), ..cell(Some("2.0"), 2.5, Verdict::Agrees).unwrap() };
    let rows = vec![
        row("none", "c", vec![zero(), Some(overhead), cell(None, 0.5, Verdict::Unpublished)]),
        row("ecm", "c", vec![zero(), None, None]),
        row(
            "bcn",
            "d",
            vec![zero(), cell(None, 12.0, Verdict::Incomparable), cell(None, 0.25, Verdict::Unpublished)],
        ),
    ];
    let columns = vec![column("Dropped", "frames"), column("Overhead", "Mb/s"), column("Fairness", "")];
    Table { id: "t".into(), condition: "x".into(), pause: "on".into(), columns, rows, ..Table::default() }
}

#[test]
fn a_published_column_has_two_and_a_dull_one_none() {
    let text = html(&three());
    let head = between(&text, "<thead", "</thead>");
    assert_eq!(
        words(head)[..],
        ["condition", "scheme", "Overhead", "Mb/s", "Fairness", "published", "measured"]
    );
    assert_eq!((head.matches("rowspan=\"2\"").count(), head.matches("colspan=\"2\"").count()), (3, 1));
    let body = between(&text, "<tbody role=\"rowgroup\">", "</tbody>");
    let rows: Vec<&str> = body.split("</tr>").filter(|r| !r.is_empty()).collect();
    let told: Vec<String> = rows.iter().map(|r| words(r).join(" ")).collect();
    // 2.5 has a whole interval of 1; a condition is named once.
    assert_eq!(told[0], "c none 2.0 2.50 ± 0.50 ✓ agrees 0.500");
    assert_eq!(told[1], "ecm");
    assert_eq!(told[2], "d bcn – 12.0 ≁ incomparable 0.250");
    let blocks: Vec<bool> = rows.iter().map(|r| r.contains("class=\"block\"")).collect();
    assert_eq!(blocks, [true, false, true]);
    // A cell without a number: two places where something was published, one where nothing was.
    assert_eq!(rows[1].matches("<td").count(), 4);
    let labels: Vec<bool> = rows[1].split("<td").skip(2).map(|td| td.contains("data-label")).collect();
    let first: Vec<bool> = rows[1].split("<td").skip(2).map(|td| td.contains("n first none")).collect();
    assert_eq!((labels, first), (vec![true, false, true], vec![true, false, false]));
    // One cell is reached by the tabulator: the first that is shown.
    assert_eq!(body.matches("tabindex=\"0\"").count(), 1);
    assert!(
        rows[0].contains("data-at=\"0,1\" tabindex=\"0\"")
            && rows[2].contains("data-at=\"2,2\" tabindex=\"-1\"")
    );
    // Whose cell it is, where columns are no columns: at the first of two.
    assert_eq!(rows[0].matches("data-label=\"Overhead [Mb/s]\"").count(), 1);
    assert!(rows[0].contains("alone\" data-label=\"Fairness\""));
    assert!(text.contains("<p class=\"small zeros\">Zero in every row: dropped (as published).</p>"));
    let misses = words(between(&text, "<details class=\"misses\"", "</details>")).join(" ");
    assert!(misses.contains("1 cell is incomparable: suspected assumptions"), "{misses}");
    assert!(
        misses.ends_with(
            "bcn d, overhead: published –, measured 12.0 (incomparable) No assumption is suspected yet."
        ),
        "{misses}"
    );
}

/// One published number makes a column of two, and one named row a column of conditions.
#[test]
fn one_cell_is_enough() {
    let cells = |published, verdict| vec![cell(published, 2.5, verdict)];
    let rows = vec![
        row("none", "", cells(None, Verdict::Unpublished)),
        row("ecm", "c", cells(Some("2.0"), Verdict::Agrees)),
    ];
    let text = html(&Table { columns: vec![column("Overhead", "Mb/s")], rows, ..Table::default() });
    let head = words(between(&text, "<thead", "</thead>"));
    assert_eq!(head, ["condition", "scheme", "Overhead", "Mb/s", "published", "measured"]);
}

#[test]
fn without_anything_published_columns_stand_alone() {
    let mut t = three();
    t.rows.truncate(1);
    t.rows[0].condition.clear();
    t.rows[0].cells[0] =
        Some(Cell { published: None, verdict: Verdict::Unpublished, ..t.rows[0].cells[0].clone().unwrap() });
    t.rows[0].cells[1] = cell(None, 2.5, Verdict::Unpublished);
    let text = html(&t);
    let head = between(&text, "<thead", "</thead>");
    assert_eq!(words(head)[..], ["scheme", "Overhead", "Mb/s", "Fairness"]);
    assert!(!head.contains("span=\"2\"") && head.matches("<tr").count() == 1);
    assert!(text.contains("Zero in every row: dropped.</p>") && !text.contains("class=\"pm\""));
    assert!(!text.contains("class=\"misses\""));
    // The last column stays, however dull.
    let only = Table { columns: vec![column("Dropped", "frames")], ..t.clone() };
    let only = Table { rows: vec![row("none", "", t.rows[0].cells[..1].to_vec())], ..only };
    let text = html(&only);
    assert!(words(between(&text, "<tbody", "</tbody>")).ends_with(&["none".into(), "0".into()]), "{text}");
    assert!(!text.contains("Zero in every row"));
}

#[test]
fn a_lower_bound_and_a_value_that_is_none() {
    let bound = Cell { at_least: true, ..cell(None, 2.5, Verdict::Unpublished).unwrap() };
    assert_eq!(value(&bound, 1), "≥ 2.50");
    assert_eq!(value(&Cell::default(), 1), "–");
    let half_of = |ci95| half(&Cell { ci95, ..Cell::default() });
    assert_eq!(half_of(Some((2.0, 3.0))), Some(0.5));
    assert_eq!(half_of(Some((2.0, 2.0))), None);
    assert_eq!(half_of(Some((2.0, f64::INFINITY))), None);
    // Of few seeds the least and the greatest value, however evenly they lie.
    let few = Cell { measured: Some(2.0), range: Some((1.0, 3.0)), ..Cell::default() };
    assert_eq!(ends(&few, 1), "1.0 to 3.0");
    assert_eq!(ends(&Cell { range: Some((2.0, 2.0)), ..few }, 1), "");
}

/// The strip runs from 5 to 57 over all that is marked on it: here 0 to 4, 13 a unit.
#[test]
fn a_strip_by_hand() {
    let c = Cell {
        ci95: Some((1.0, 3.0)),
        pi95: Some((0.0, 3.5)),
        accept: Some((0.0, 3.0)),
        ..cell(Some("4"), 2.0, Verdict::Differs).unwrap()
    };
    let svg = strip(&c);
    let marks: Vec<&str> = svg.split("class=\"").skip(2).map(|p| p.split("/>").next().unwrap()).collect();
    assert_eq!(
        marks,
        [
            "accept\" d=\"M5.0 6H44.0\"", "pi\" d=\"M5.0 6H50.5\"", "ci\" d=\"M18.0 6H44.0\"",
            "mean\" d=\"M31.0 2V10\"", "said\" d=\"M57.0 2l4 4-4 4-4-4z\"",
        ]
    );
    // An interval without length is seen, too.
    let point = strip(&Cell { ci95: Some((2.0, 2.0)), pi95: None, accept: None, ..c.clone() });
    assert!(point.contains("ci\" d=\"M5.0 6H5.5\"") && point.contains("said\" d=\"M57.0"), "{point}");
    for nothing in [
        Cell { ci95: None, pi95: None, accept: None, ..c.clone() },
        Cell { structural: true, ..c.clone() },
        Cell { measured: None, ..c.clone() },
        Cell { ci95: Some((2.0, 2.0)), pi95: None, accept: None, published: None, ..c.clone() },
        Cell { pi95: Some((0.0, f64::INFINITY)), ..c },
    ] {
        assert_eq!(strip(&nothing), "");
    }
}

#[test]
fn misses_are_told_by_their_note() {
    let miss =
        |verdict, note: &str| Some(Cell { note: note.into(), ..cell(Some("2.0"), 2.5, verdict).unwrap() });
    let of = |cells: Vec<Option<Cell>>| {
        let columns = vec![column("Overhead", "Mb/s"); cells.len()];
        html(&Table { columns, rows: vec![row("ecm", "", cells)], ..Table::default() })
    };
    let text = of(vec![
        miss(Verdict::Differs, "A3"),
        miss(Verdict::Near, "A4"),
        miss(Verdict::Differs, "A3"),
        miss(Verdict::Agrees, "A5"),
        miss(Verdict::Near, ""),
    ]);
    let list = between(&text, "<details class=\"misses\"", "</details>");
    assert!(list.starts_with(" open>"));
    let told = words(list).join(" ");
    let one = "ecm overhead: published 2.0, measured 2.50";
    assert!(
        told.ends_with(&format!(
            "2 cells differ, 2 cells are near: suspected assumptions {one} {one} A3 {one} (near) A4 {one} (near) No assumption is suspected yet."
        )),
        "{told}"
    );
    // Up to eight of them are shown at once.
    let open = |n: usize| of(vec![miss(Verdict::Near, ""); n]).contains("<details class=\"misses\" open>");
    assert_eq!((open(8), open(9)), (true, false));
    let mut mixed = vec![miss(Verdict::Near, ""); 3];
    mixed.extend([miss(Verdict::Differs, ""), miss(Verdict::Incomparable, "")]);
    mixed.extend(vec![miss(Verdict::Differs, ""); 2]);
    mixed.extend(vec![miss(Verdict::Incomparable, ""); 2]);
    assert!(!of(mixed).contains(" open>"), "nine of three kinds");
}

#[test]
fn a_zero_that_differs_is_not_dull() {
    let zero = |verdict| cell(Some("0.0"), 0.0, verdict);
    let is = |cells: &[Option<Cell>]| dull(cells.iter().flatten());
    assert!(is(&[zero(Verdict::Agrees), cell(None, 0.0, Verdict::Unpublished)]));
    assert!(!is(&[zero(Verdict::Agrees), zero(Verdict::Differs)]));
    assert!(!is(&[cell(Some("0.1"), 0.0, Verdict::Near)]));
    assert!(!is(&[cell(Some("0"), 0.5, Verdict::Near)]));
    assert!(!is(&[]), "nothing is not zero");
}

#[test]
fn uneven_ends_are_given_in_full() {
    let of = |ci95| ends(&Cell { measured: Some(100.0), ci95, ..Cell::default() }, 0);
    assert_eq!(of(Some((96.0, 104.0))), "± 4");
    assert_eq!(of(Some((97.0, 105.0))), "± 4", "off by a quarter of the half length");
    assert_eq!(of(Some((0.0, 320.0))), "(0 to 320)", "an end that is cut shows");
    // A share ends at 100 %, however small the part that is cut: ± 4 would reach beyond.
    assert_eq!((of(Some((93.0, 100.0))), of(Some((92.0, 108.0)))), ("(93 to 100)".into(), "± 8".into()));
    let low = Cell { measured: Some(1.0), ci95: Some((0.0, 2.25)), ..Cell::default() };
    assert_eq!(ends(&low, 2), "(0.00 to 2.25)");
    assert_eq!((of(None), of(Some((100.0, 100.0)))), (String::new(), String::new()));
}
