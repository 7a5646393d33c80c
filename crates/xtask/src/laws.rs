//! The laws of the network, each written once: `model/` has them, and `fast/`, the seam and the rigs of schemes call them.
//!
//! A second body of a law is found by words that every body must contain, and by the state that it writes. A change that moves a law
//! must move its row.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// A line a law: its name, the file that has its body, and words that stand in no other.
const LAWS: &str = include_str!("../laws.csv");
/// A line a state: its law, its name, and the functions that write it, `FILE: FUNCTION`; files are below `crates/fabric/src`.
const STATES: &str = include_str!("../states.csv");

/// Folders in which laws are called.
const CALLERS: &[&str] = &["crates/fabric/src", "crates/scheme-api/src"];

/// Complains about each law that is not in the file of the table, and about each other file with words of its body.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for folder in CALLERS {
        let below = crate::texts(&root.join(folder), ".rs")?;
        texts.extend(below.into_iter().map(|(file, text)| (format!("{folder}/{file}"), text)));
    }
    texts.sort();
    let mut found = complaints(&rows(LAWS), &texts);
    found.extend(rows(STATES).iter().flat_map(|state| strangers(state, &texts)));
    Ok(found)
}

/// The lines of a table of texts, of any length.
fn rows(table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    reader.records().flatten().map(|r| r.iter().map(String::from).collect()).collect()
}

/// Does a line write this field, or a part of it?
fn writes(line: &str, field: &str) -> bool {
    line.match_indices(&format!(".{field}")).any(|(at, name)| {
        let rest = &line[at + name.len()..];
        let rest = rest.strip_prefix('[').map_or(rest, |r| r.split_once(']').map_or(r, |(_, r)| r));
        let rest = rest.trim_start_matches(['.', '0', '1', ' ']);
        let rest = rest.strip_prefix(['+', '-', '|']).unwrap_or(rest);
        rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    })
}

/// Complains about each function that writes the state of a law and is not in its row, and about each that is there and does not.
fn strangers(row: &[String], texts: &[(String, String)]) -> Vec<String> {
    let [law, field, known @ ..] = row else { return Vec::new() };
    let known: Vec<(&str, &str)> = known.iter().filter_map(|writer| writer.split_once(": ")).collect();
    let mut found = BTreeSet::new();
    for (file, text) in texts {
        let (mut function, file) = ("", file.trim_start_matches("crates/fabric/src/"));
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if let Some((_, name)) = line.split_once("fn ") {
                function = name.split(['(', '<']).next().unwrap_or_default();
            }
            if writes(line, field) {
                found.insert((file, function));
            }
        }
    }
    let more = found.iter().filter(|writer| !known.contains(writer)).map(|(file, function)| {
        format!("{file}: `{function}` writes `{field}`, the state of the law \"{law}\"; call {known:?}")
    });
    let less = known.iter().filter(|writer| !found.contains(writer)).map(|(file, function)| {
        format!("{file}: `{function}` no longer writes `{field}` (\"{law}\"); move its row in crates/xtask/states.csv")
    });
    more.chain(less).collect()
}

fn complaints(laws: &[Vec<String>], texts: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for row in laws {
        let [law, body, words @ ..] = &row[..] else { continue };
        for word in words {
            let mut with = texts.iter().filter(|(_, text)| text.contains(word)).map(|(file, _)| file);
            if !with.clone().any(|file| file == body) {
                found.push(format!("{body}: the law \"{law}\" is missing here (no `{word}`); move its row in crates/xtask/laws.csv"));
            }
            found.extend(with.by_ref().filter(|file| *file != body).map(|file| {
                format!("{file}: a second body of the law \"{law}\" (`{word}`); call that of {body}")
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of second bodies that were found in the fast engine, or in the model itself.
    #[test]
    fn bodies_that_stood_twice_are_refused() {
        let laws = rows(LAWS);
        for line in [
            "Some(e) if !self.paused.is_off() && !self.service.is_zero() => e.ready,",
            "let begins = now > marks.high && !self.off[domain];",
            "port.countdown -= i64::from(frame.len);",
            "!dropped || port.point.as_ref().is_some_and(|p| p.state.sample_dropped)",
            "line_rate: self.link.map_or(Rate::ZERO, |l| l.rate),",
            "self.ext = if stamped { self.ext.min(rate) } else { self.ext };",
            "if let Some(RateChange { port, rate, .. }) = self.management.changes.pop_front() {",
            "if self.to_follow > 0 || (bits & 0xFFFF_FFFF) < threshold {",
            "self.sender.journal.out.source_discards += 1;",
            "deaf_to_pause: spec.faults.ignores_pause,",
            "mix((u64::from(flow) << 32) ^ u64::from(seq) ^ ((s as u64) << 17)) as u16",
            "let selected = gate.selects(frame.marked(), frame.tag_kind(), &mut self.gate_stream);",
            "let mut actions = point.wake(self.now, &view, std::mem::take(&mut self.actions), verb);",
            "series.take(queued, &mut port.queue_max, sent_bits);",
            "PauseTransport::Wire => {",
            "self.ports[t].out.xoffs += u64::from(signal.off);",
            "let start = entry.ready.max(free);",
            "ready + rate.time(len)",
            "Organisation::SharedOutput => {",
            "let one = buffer.organisation == Organisation::SharedOutput || buffer.pause.is_some_and(|p| p.global);",
            "let cell = row + input * self.step.1;",
            "let pause = s.buffer.pause.filter(|_| net.classes.first().is_some_and(|c| class.pause));",
            "let calm = watermarks.low.min(self.limits.cell);",
            "let key = if plan.limiter_scope == Scope::Host (Scope::Host, _) => WHOLE_HOST.0 };",
            "rest.min(bytes.max(floor))",
            "self.limiters.next_place = 1 % (self.limiters.places.len() + 1);",
            "stored.tag = view.tag.pack();",
            "let admitted = self.mmu.memory.admits(out, usize::from(frame.input), frame.len, port.queued);",
            "let limit = if shared { self.limits.pool } else { self.limits.output };",
            "let behind = match at { RampAt::Departure => queued - u64::from(len), RampAt::Arrival => queued };",
            "if let (ReflectGate::ReturnTags(counter), Tag::RateDiscovery(rate)) = (gate, tag) {",
        ] {
            let texts = [("crates/fabric/src/fast/host.rs".to_string(), line.to_string())];
            let refused = |c: &String| c.starts_with("crates/fabric/src/fast/host.rs: a second body");
            assert!(complaints(&laws, &texts).iter().any(refused), "{line}");
        }
    }

    /// By structure: other words that write the same state, in another function of any file.
    #[test]
    fn a_second_writer_of_a_laws_state_is_refused() {
        let row = &["when XOFF begins", "off", "a.rs: change"].map(String::from);
        let text = |file: &str, text: &str| (file.to_string(), text.to_string());
        let one = text(
            "a.rs",
            "fn change(&mut self) {\n    self.off[at] |= now > high;\n}\nfn other() {\n    self.off == x;\n}",
        );
        assert_eq!(strangers(row, std::slice::from_ref(&one)), Vec::<String>::new());
        for line in ["m.off = true;", "m.off[1].0 += 1;", "*x = m.off = y;"] {
            let two = [one.clone(), text("b.rs", &format!("pub fn too<T>(m: T) {{\n    {line}\n}}"))];
            assert!(strangers(row, &two)[0].starts_with("b.rs: `too` writes `off`"), "{line}");
        }
        assert!(strangers(row, &[])[0].starts_with("a.rs: `change` no longer"));
    }

    #[test]
    fn a_second_body_is_refused_and_a_lost_one_missed() {
        let laws = &[["when XOFF begins", "a.rs", "> self.high"].map(String::from).to_vec()];
        let text = |file: &str, text: &str| (file.to_string(), text.to_string());
        let once = [text("a.rs", "cell > self.high"), text("b.rs", "marks.call_for_xoff(cell)")];
        assert_eq!(complaints(laws, &once), Vec::<String>::new());
        let twice = [text("a.rs", "cell > self.high"), text("b.rs", "if now > self.high {")];
        assert!(complaints(laws, &twice)[0].starts_with("b.rs: a second body"));
        assert!(complaints(laws, &once[1..])[0].starts_with("a.rs: the law"));
    }
}
