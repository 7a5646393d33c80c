//! Files that a scenario names are put in its place, so that a configuration is whole in itself: lists of links, transfers and
//! points, and files of other simulators, whose lines become such lists.

use crate::file::keys::find;
use crate::language::text::{Flat, Form, Leaf, Mark, Place};
use crate::tables::workload::SIZE_FILE;
use cnsim_import::{Fabric, FileFlow, Form as Foreign, ImportError};
use cnsim_problem::{MAX_FILE, Problem, Unread, read_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Contents of a file, and the key that they replace.
type Lists<'a> = BTreeMap<&'a str, (Vec<String>, Vec<Mark>)>;

/// Lists that files stand for.
const LISTS: [&str; 5] = ["nodes", "links", "transfers", "size_table", "operations"];

/// A file that a key names.
struct Named<'a> {
    key: &'a str,
    /// `topology`, `workload` or `traffic.3`.
    table: &'a str,
    file: Arc<str>,
    text: String,
}

/// Replaces keys such as `workload.file` and `topology.file` by the contents of the files.
pub(crate) fn inline_files(flat: &mut Flat, scenario: &str, problems: &mut Vec<Problem>) {
    let is_file = |path: &str| find(path).is_some_and(|k| k.path.ends_with("file"));
    let named: Vec<(String, Leaf)> =
        flat.leaves.iter().filter(|(k, _)| is_file(k)).map(|(k, l)| (k.clone(), l.clone())).collect();
    // The topology first: it knows the hosts of flows.
    let (first, rest): (Vec<_>, Vec<_>) = named.into_iter().partition(|(k, _)| k.starts_with("topology."));
    let mut fabric = None;
    for (key, leaf) in first.into_iter().chain(rest) {
        let [name] = &leaf.items[..] else { continue };
        let Some((table, of)) = key.rsplit_once('.').filter(|_| name != "off") else { continue };
        let Some((file, text)) = contents(flat, &key, (scenario, name), problems) else { continue };
        let kind = flat.leaves.get(&format!("{table}.kind")).and_then(|kind| kind.items.first());
        let of_kind = |word: &str| table != "topology" && kind.is_some_and(|kind| kind == word);
        let (whole, graph) = (of_kind("graph"), of_kind("graph") || of_kind("training"));
        let mine: &[&str] = match (table, of) {
            ("topology", _) => &LISTS[..2],
            (_, of) if of == SIZE_FILE.parts().1 => &LISTS[3..4],
            _ if graph => &LISTS[4..],
            _ => &LISTS[2..3],
        };
        let mut lists = mine.iter().map(|list| format!("{table}.{list}"));
        if let Some(both) = lists.find(|k| flat.leaves.contains_key(k)) {
            let reason = format!("is there beside {key}: one of them would be ignored");
            problems.push(flat.at(&both, reason, "use one of the two"));
        }
        let form_key = format!("{table}.format");
        let form = flat.leaves.get(&form_key).and_then(|l| l.items.first().cloned());
        let form = form.filter(|_| of == "file").unwrap_or_else(|| "lines".into());
        let mut named = Named { key: &key, table, file, text };
        let foreign = [Foreign::Fork, Foreign::Htsim].into_iter().find(|foreign| foreign.name() == form);
        let lists = match (foreign, table) {
            (Some(form), "topology") => named.topology(form).map(|(read, lists)| {
                fabric = Some(read);
                lists
            }),
            (Some(form), _) => named.flows(form, fabric.as_ref(), priorities(flat, table)),
            // A schedule may have a million lines: it stays as it is written.
            (None, _) if whole && of == "file" => Ok(named.whole()),
            (None, _) => Ok(named.lines(flat, if graph { LISTS[4] } else { of }, problems)),
        };
        match lists {
            Ok(mut lists) => {
                // A file without lines is a list without items, and its problem is at the file's key.
                if lists.is_empty() {
                    lists.insert(mine[mine.len() - 1], Default::default());
                }
                flat.leaves.remove(&key);
                if of == "file" {
                    flat.leaves.remove(&form_key);
                }
                flat.from_files.extend(mine.iter().map(|list| (format!("{table}.{list}"), key.clone())));
                flat.leaves.extend(lists.into_iter().map(|(list, (items, marks))| {
                    let (items, marks, place) = (Arc::new(items), Arc::new(marks), leaf.place.clone());
                    (format!("{table}.{list}"), Leaf { items, marks, list: true, place })
                }));
            }
            Err(all) => {
                let problem =
                    |e: ImportError| flat.problem(&key, Some(&named.place(e.line, 1)), e.reason, e.remedy);
                problems.extend(all.into_iter().map(problem));
            }
        }
    }
    without_file(flat, problems);
}

/// The path and the text of a file by its name, from the folder of the scenario or from here.
fn contents(
    flat: &Flat,
    key: &str,
    (scenario, name): (&str, &str),
    problems: &mut Vec<Problem>,
) -> Option<(Arc<str>, String)> {
    let beside = Path::new(scenario).parent().map(|d| d.join(name)).filter(|p| p.exists());
    let path: PathBuf = beside.unwrap_or_else(|| name.into());
    let file: Arc<str> = path.display().to_string().into();
    match read_file(&path, MAX_FILE) {
        Ok(text) => return Some((file, text)),
        Err(Unread { line: Some(line), reason }) => {
            let place = Place::Listed { file, line, column: 1 };
            problems.push(flat.problem(key, Some(&place), reason, "write it in UTF-8"));
        }
        Err(Unread { line: None, reason }) => {
            let hint = "give the path of a text file, from the scenario's folder or from here";
            problems.push(flat.at(key, format!("`{name}` {reason}"), hint));
        }
    }
    None
}

/// Refuses a form without a file to read.
fn without_file(flat: &Flat, problems: &mut Vec<Problem>) {
    for key in flat.leaves.keys().filter(|k| find(k).is_some_and(|k| k.path.ends_with(".format"))) {
        let file = format!("{}file", key.trim_end_matches("format"));
        if flat.leaves.get(&file).is_none_or(|l| l.items.first().is_none_or(|name| name == "off")) {
            let remedy = format!("set {file}, or remove it");
            problems.push(flat.at(key, "has no effect: no file is named", remedy));
        }
    }
}

impl Named<'_> {
    fn place(&self, line: usize, column: usize) -> Place {
        Place::Listed { file: self.file.clone(), line: line.max(1), column }
    }

    fn keep<'l>(&self, lists: &mut Lists<'l>, list: &'l str, line: usize, item: String) {
        let (items, marks) = lists.entry(list).or_default();
        items.push(item);
        marks.push(Mark { place: self.place(line, 1), form: Form::Text });
    }

    /// A topology of another simulator, as nodes and links of a graph.
    fn topology(&self, form: Foreign) -> Result<(Fabric, Lists<'static>), Vec<ImportError>> {
        let read = cnsim_import::topology(form, &self.text)?;
        let mut ports: BTreeMap<&str, usize> = BTreeMap::new();
        for end in read.links.iter().flat_map(|l| [&l.a, &l.b]) {
            *ports.entry(end).or_default() += 1;
        }
        let mut lists = Lists::new();
        for name in &read.switches {
            let n = ports.get(name.as_str()).copied().unwrap_or(0).max(2);
            self.keep(&mut lists, "nodes", 1, format!("{name} {n}"));
        }
        for l in &read.links {
            self.keep(&mut lists, "links", l.line, format!("{} {} {} {}", l.a, l.b, l.rate, l.delay));
        }
        Ok((read, lists))
    }

    /// Flows of another simulator, as transfers.
    fn flows(
        &self,
        form: Foreign,
        fabric: Option<&Fabric>,
        (own, known): (Option<u8>, Vec<u8>),
    ) -> Result<Lists<'static>, Vec<ImportError>> {
        let mut read: Vec<FileFlow> = cnsim_import::flows(form, &self.text, fabric)?.flows;
        let error = |line, reason, remedy: String| {
            vec![ImportError { line, column: 1, key: String::new(), reason, remedy }]
        };
        // Each table of traffic takes the flows of its class.
        if let Some(own) = own {
            if let Some(flow) = read.iter().find(|flow| !known.contains(&flow.class)) {
                let reason = format!("class {}, and no [[class]] table has this pcp", flow.class);
                return Err(error(
                    flow.line,
                    reason,
                    format!("write a [[class]] table with pcp = {}", flow.class),
                ));
            }
            read.retain(|flow| flow.class == own);
        }
        if let Some((first, other)) =
            read.first().and_then(|first| Some((first, read.iter().find(|f| f.class != first.class)?)))
        {
            let reason =
                format!("class {}, where line {} has class {}", other.class, first.line, first.class);
            let remedy = "write a [[class]] table with this pcp for each, and a [[traffic]] table of each class with this file";
            return Err(error(other.line, reason, remedy.into()));
        }
        let mut lists = Lists::new();
        let follow = read.iter().any(|f| !f.after.is_empty());
        for f in &read {
            let mut item = format!("{} ps, {}, {}, {} B", f.start.as_ps(), f.src, f.dst, f.bytes.get());
            // Names that tell the line of the file.
            if follow {
                item += &format!(", name line{}", f.line);
            }
            if !f.after.is_empty() {
                item += ", after";
                f.after.iter().for_each(|line| item += &format!(" line{line}"));
            }
            self.keep(&mut lists, "transfers", f.line, item);
        }
        Ok(lists)
    }

    /// All of the text as one item; none where no line says anything.
    fn whole(&mut self) -> Lists<'static> {
        let mut lists = Lists::new();
        if self.text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#')) {
            let marks = vec![Mark { place: self.place(1, 1), form: Form::Text }];
            let text = std::mem::take(&mut self.text);
            let text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
            lists.insert(LISTS[4], (vec![text], marks));
        }
        lists
    }

    /// Lines as a scenario lists them.
    fn lines(&self, flat: &Flat, of: &str, problems: &mut Vec<Problem>) -> Lists<'static> {
        let mut lists = Lists::new();
        for (number, line) in self.text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let place = |rest: &str| {
                let before = rest.as_ptr() as usize - line.as_ptr() as usize;
                self.place(number + 1, line[..before].chars().count() + 1)
            };
            let keep = |lists: &mut Lists<'static>, list, rest: &str| {
                let (items, marks) = lists.entry(list).or_default();
                items.push(rest.to_string());
                marks.push(Mark { place: place(rest), form: Form::Text });
            };
            if of == SIZE_FILE.parts().1 {
                keep(&mut lists, "size_table", content);
            } else if of == LISTS[4] {
                keep(&mut lists, LISTS[4], content);
            } else if self.table == "topology" {
                match content.split_once(char::is_whitespace) {
                    Some(("switch", rest)) => keep(&mut lists, "nodes", rest.trim()),
                    Some(("link", rest)) => keep(&mut lists, "links", rest.trim()),
                    _ if problems.len() < crate::language::reader::MAX_PROBLEMS => {
                        let reason = format!("`{content}` is neither a switch nor a link");
                        let remedy = "write `switch S1 16` or `link H1 S1 10 Gb/s 0.5 us`";
                        problems.push(flat.problem(self.key, Some(&place(content)), reason, remedy));
                    }
                    _ => break,
                }
            } else if !lists.is_empty() || !is_header(content) {
                keep(&mut lists, "transfers", content);
            }
        }
        lists
    }
}

/// The priority of the class of a table of traffic, and those of all classes; none where there are no classes, or where a table has no key
/// for it.
fn priorities(flat: &Flat, table: &str) -> (Option<u8>, Vec<u8>) {
    let word = |key: String| flat.leaves.get(&key).and_then(|leaf| leaf.items.first().cloned());
    let tables = flat.tables("class");
    let pcp =
        |n: usize, table: &String| word(format!("{table}.pcp")).map_or(Some(n as u8), |pcp| pcp.parse().ok());
    let known: Vec<u8> = tables.iter().enumerate().filter_map(|(n, table)| pcp(n, table)).collect();
    let class = word(format!("{table}.class")).unwrap_or_else(|| "first".into());
    let named = |at: &String| word(format!("{at}.name")).is_some_and(|name| name == class);
    let at = if class == "first" { Some(0) } else { tables.iter().position(named) };
    (at.and_then(|at| known.get(at).copied()).filter(|_| table.starts_with("traffic.")), known)
}

/// The line that names a trace's columns: `start, source, destination, bytes`.
fn is_header(line: &str) -> bool {
    line.split(',').map(str::trim).eq(["start", "source", "destination", "bytes"])
}
