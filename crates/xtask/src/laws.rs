//! The laws of the network, each written once: `model/` has them, and `fast/`, the seam and the rigs of schemes call them.
//!
//! A second body of a law is found by words that every body must contain, and by the state that it writes. A change that moves a law
//! must move its row.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// A law, the file that has its body, and words that stand in no other.
const LAWS: &[(&str, &str, &[&str])] = &[
    ("which data frames wake a congestion point", "crates/scheme-api/src/point.rs", &["Gate::Tagged =>"]),
    ("whether a ramp marks", "crates/scheme-api/src/ramp.rs", &["p > 0.0 && draws.chance(p)"]),
    ("which frames a memory admits", "crates/fabric/src/model/memory.rs", &["Err(Refusal::"]),
    (
        "a frame is stored or lost, and then the congestion point looks",
        "crates/fabric/src/model/switching.rs",
        &["memory.admits(", "p.state.sample_dropped"],
    ),
    ("what follows from a lost frame", "crates/fabric/src/model/switching.rs", &["management.refuse("]),
    ("which probes end, and where", "crates/fabric/src/model/switching.rs", &[".after_point("]),
    ("what follows as a watchdog looks", "crates/fabric/src/model/switching.rs", &["watchdogs.look("]),
    ("what follows as PAUSE arrives", "crates/fabric/src/model/switching.rs", &["watchdogs.hear("]),
    ("what a switch does of its own", "crates/fabric/src/model/switching.rs", &["Verb::Timer(Slot("]),
    ("which frames stand still for good", "crates/fabric/src/model/switching.rs", &["Stopped::new("]),
    (
        "how bytes come and go in a memory",
        "crates/fabric/src/model/memory.rs",
        &["occupied.wrapping_add_signed"],
    ),
    ("what has left by a port", "crates/fabric/src/model/port.rs", &["self.control.0 + 1"]),
    (
        "which XOFF and XON a switch tells, and by which ports",
        "crates/fabric/src/model/switching.rs",
        &["sift(signal", "in signal.targets("],
    ),
    ("what a switch tells for a fault", "crates/fabric/src/model/switching.rs", &["faults.say(now"]),
    (
        "from which occupancy on a memory's order of events matters",
        "crates/fabric/src/model/memory.rs",
        &["self.limits.pool", "self.limits.output", "watermarks.high.min("],
    ),
    (
        "what telemetry says",
        "crates/fabric/src/model/point.rs",
        &["arrived - sent - u64::from(frame.bytes())", "frame.take_hop("],
    ),
    ("which bytes a ramp reads", "crates/fabric/src/model/point.rs", &["RampAt::Departure =>"]),
    ("the partition of a frame's memory", "crates/fabric/src/spec.rs", &["Organisation::Crosspoint =>"]),
    (
        "when XOFF begins and ends",
        "crates/fabric/src/model/memory.rs",
        &["> self.watermarks.high", "self.off[domain]"],
    ),
    ("which cells keep a domain in XOFF", "crates/fabric/src/model/pause.rs", &["> self.low"]),
    ("where XOFF and XON go", "crates/fabric/src/model/pause.rs", &["input..(input + 1)"]),
    ("why an XOFF is decided", "crates/fabric/src/model/cause.rs", &["_ if closed => HeldBy::Closed"]),
    ("which XOFF a transmitter heard", "crates/fabric/src/check/pauses.rs", &["spans.get(told[at].len())"]),
    ("how PAUSE affects a transmitter", "crates/fabric/src/model/pause.rs", &["self.since.min(now)"]),
    ("when a limiter lets a frame go", "crates/fabric/src/model/limiter.rs", &["saturating_add(gap)"]),
    (
        "whether a frame waits at its limiter",
        "crates/fabric/src/model/limiter.rs",
        &["rate < state.line_rate || waiting"],
    ),
    ("which finite flow sends next", "crates/fabric/src/model/transfers.rs", &["Part::Limiter(at) =>"]),
    ("which lane of a port or host is next", "crates/fabric/src/model/turns.rs", &["take(Lane::Control)"]),
    ("at which rate a lane is sent", "crates/fabric/src/model/port.rs", &["Lane::Data(_) => service"]),
    (
        "when a transmission starts and ends",
        "crates/fabric/src/model/port.rs",
        &["ready.max(free)", "+ rate.time(len)"],
    ),
    ("how a short frame is padded", "crates/fabric/src/spec.rs", &["bytes.max(floor)"]),
    (
        "which PAUSE reaches a transmitter",
        "crates/fabric/src/model/pause.rs",
        &["PAUSE of no class", ".hear(self.off"],
    ),
    ("the key of a limiter", "crates/fabric/src/scheme.rs", &["(Scope::Host, _) => WHOLE_HOST"]),
    (
        "the cells and domains of a memory",
        "crates/fabric/src/spec.rs",
        &["Organisation::SharedOutput =>", "p.global)", "input * self.step.1"],
    ),
    ("which memory is lossless", "crates/fabric/src/model/memory.rs", &["watermarks.high < u64::MAX"]),
    (
        "below which level nothing follows from a cell",
        "crates/fabric/src/model/memory.rs",
        &["low.min(self.limits.cell)"],
    ),
    (
        "what a congestion point writes into a frame",
        "crates/fabric/src/model/packet.rs",
        &["view.tag.pack()", "(view.marked);"],
    ),
    ("when a lane is stopped", "crates/fabric/src/model/port.rs", &[".is_zero()", "some_and(Paused::stops)"]),
    ("which frames a congestion point counts", "crates/fabric/src/model/point.rs", &["countdown -= i64"]),
    (
        "the queue's state as a congestion point reads it",
        "crates/fabric/src/model/point.rs",
        &["link.map_or(Rate::ZERO"],
    ),
    ("how a stamp lowers a tag", "crates/fabric/src/model/frame.rs", &[".min(rate)"]),
    ("which frames that leave are marked", "crates/fabric/src/model/point.rs", &["self.decided != began"]),
    ("when a rate of service changes", "crates/fabric/src/model/management.rs", &["changes.pop_front()"]),
    ("which slots have a frame", "crates/fabric/src/model/source.rs", &["0xFFFF_FFFF) <"]),
    ("which frames a host discards", "crates/fabric/src/model/sender.rs", &["source_discards += 1"]),
    ("which PAUSE a host ignores", "crates/fabric/src/model/sender.rs", &["spec.faults.ignores_pause"]),
    ("which of equal paths is next", "crates/fabric/src/net.rs", &["((s as u64) << 17)", "* way.share"]),
    ("which frames wake a reflector", "crates/scheme-api/src/reflector.rs", &[".selects("]),
    (
        "which tags a host returns",
        "crates/scheme-api/src/reflector.rs",
        &["ReturnTags(counter)", "push(ReflectorAction::Count("],
    ),
    (
        "which flow of a host sends next",
        "crates/fabric/src/model/sender.rs",
        &["flows_next |=", "self.next_place ="],
    ),
    ("which queue takes a source's frame", "crates/fabric/src/model/sender.rs", &["room.min(enough)"]),
    ("which feedback is lost", "crates/fabric/src/model/steering.rs", &["is_multiple_of(nth)"]),
    ("effects of reaction points", "crates/fabric/src/model/steering.rs", &["limiter.state.retime"]),
    ("effects of reflectors", "crates/fabric/src/model/host.rs", &["src | SINK"]),
    ("when a limiter is released", "crates/fabric/src/model/pacing.rs", &["self.limiters.remove("]),
    (
        "which acknowledgements wake a reaction point",
        "crates/scheme-api/src/acks.rs",
        &["gate.per_window &&", "take(&mut self.newly)"],
    ),
    ("when a window holds a flow back", "crates/fabric/src/model/queue_pair.rs", &["in_flight() <"]),
    (
        "when a flow begins anew",
        "crates/fabric/src/model/queue_pair.rs",
        &["next_seq, progress.loss) =", "next_seq) = (pair.highest"],
    ),
    ("which frames are acknowledged", "crates/fabric/src/model/come.rs", &["frames >= every"]),
    ("which frames a queue pair takes for lost", "crates/fabric/src/model/sent.rs", &["self.due.enter("]),
    ("when a queue pair times out", "crates/fabric/src/model/timeout.rs", &["4 * self.varies"]),
    ("which frames a link loses", "crates/fabric/src/model/loss.rs", &["stream.chance(*p)"]),
    ("which virtual output queue is next", "crates/fabric/src/model/voq.rs", &["rotate_left(first + 1)"]),
    (
        "effects of congestion points",
        "crates/fabric/src/model/management.rs",
        &["PointAction::Notify(flow, feedback) =>", "0x3000"],
    ),
    ("where a control frame goes on", "crates/fabric/src/model/frame.rs", &["NextHop::Past(net"]),
    ("which congestion point sees a probe", "crates/fabric/src/model/frame.rs", &["if ends(out"]),
    ("which congestion points read probes", "crates/fabric/src/model/point.rs", &["&& !self.state.probes"]),
    (
        "the record of what congestion points saw",
        "crates/fabric/src/model/management.rs",
        &["self.samples.add("],
    ),
    ("how a congestion point is woken", "crates/fabric/src/model/management.rs", &["point.wake("]),
    ("the end of a bin of queues", "crates/fabric/src/model/switching.rs", &["series.take("]),
    (
        "XOFF and XON by wire or as a frame",
        "crates/fabric/src/model/pause.rs",
        &["PauseTransport::Wire", "xoffs += u64"],
    ),
    (
        "the threshold of a shared buffer",
        "crates/fabric/src/model/shared.rs",
        &["(self.pool - used) as i64", "+ self.resume <="],
    ),
    ("when a slow reader says XOFF", "crates/fabric/src/model/fault.rs", &["> slow.full"]),
    ("when a watchdog sees a storm", "crates/fabric/src/model/watchdog.rs", &["stood >= watch.detect"]),
    (
        "when a watchdog restores an output",
        "crates/fabric/src/model/watchdog.rs",
        &["watched.free_since + watch.restore"],
    ),
    ("where a probe ends", "crates/fabric/src/model/management.rs", &["== ProbeTarget::Point("]),
    ("when feedback takes no link", "crates/fabric/src/model/agenda.rs", &["moment.net.direct("]),
    ("the record of a drop", "crates/fabric/src/model/management.rs", &["dropped_by_limit +=", "0x2000"]),
    ("which hosts receive a broadcast", "crates/fabric/src/net.rs", &["is_some_and(|l| l.tree)"]),
    ("the record of a queue", "crates/fabric/src/model/record.rs", &["SeriesKind::QueuePeak {"]),
    (
        "how a reflector is woken",
        "crates/fabric/src/model/receiver.rs",
        &[".listens(Time::", "ReflectorControl::new(Time::"],
    ),
    ("the record of a delivery", "crates/fabric/src/model/record.rs", &["latency_max.max("]),
];

/// State of a law, and the functions that write it: files below `crates/fabric/src`.
const STATES: &[(&str, &str, &[(&str, &str)])] = &[
    (
        "how bytes come and go in a memory",
        "pool",
        &[("model/memory.rs", "shift"), ("model/shared.rs", "store")],
    ),
    ("which cells keep a domain in XOFF", "holding", &[("model/memory.rs", "change")]),
    ("when XOFF begins and ends", "off_count", &[("model/memory.rs", "change")]),
    ("which bytes stand in headroom", "above", &[("model/shared.rs", "store"), ("model/shared.rs", "free")]),
    ("how PAUSE affects a transmitter", "since", &[("model/pause.rs", "hear")]),
    (
        "which PAUSE and which feedback is ignored",
        "ignored",
        &[("model/watchdog.rs", "look"), ("model/steering.rs", "obey")],
    ),
    ("when a watchdog restores an output", "free_since", &[("model/watchdog.rs", "hear")]),
    ("when a slow reader says XOFF", "empty_from", &[("model/fault.rs", "take")]),
    ("which control is discarded", "discarded", &[("model/management.rs", "refuse")]),
    ("which drops are those of an output's limit", "dropped_by_limit", &[("model/management.rs", "refuse")]),
    ("the end of a bin of queues", "next_tick", &[("model/management.rs", "end_bin")]),
    (
        "which control has joined the data",
        "in_band",
        &[("model/port.rs", "note_in_band"), ("model/port.rs", "forget_in_band")],
    ),
    (
        "which departures are recorded",
        "records_from",
        &[("model/point.rs", "wake"), ("fast/switch/port.rs", "decide")],
    ),
];

/// Folders in which laws are called.
const CALLERS: &[&str] = &["crates/fabric/src", "crates/scheme-api/src"];

/// Complains about each law that is not in the file of the table, and about each other file with words of its body.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for folder in CALLERS {
        read(root, &root.join(folder), &mut texts)?;
    }
    texts.sort();
    let mut found = complaints(LAWS, &texts);
    found.extend(STATES.iter().flat_map(|state| strangers(state, &texts)));
    Ok(found)
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
fn strangers((law, field, known): &(&str, &str, &[(&str, &str)]), texts: &[(String, String)]) -> Vec<String> {
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
        format!("{file}: `{function}` no longer writes `{field}` (\"{law}\"); move its row in crates/xtask/src/laws.rs")
    });
    more.chain(less).collect()
}

/// Every source file under a folder: its path from the root, and its text.
fn read(root: &Path, folder: &Path, texts: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(root, &path, texts)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            texts.push((shown, fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

fn complaints(laws: &[(&str, &str, &[&str])], texts: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (law, body, words) in laws {
        for word in *words {
            let mut with = texts.iter().filter(|(_, text)| text.contains(word)).map(|(file, _)| file);
            if !with.clone().any(|file| file == body) {
                found.push(format!("{body}: the law \"{law}\" is missing here (no `{word}`); move its row in crates/xtask/src/laws.rs"));
            }
            found.extend(with.by_ref().filter(|file| file != body).map(|file| {
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
            "self.next_place = 1 % (self.limiters.places.len() + 1);",
            "stored.tag = view.tag.pack();",
            "let admitted = self.mmu.memory.admits(out, usize::from(frame.input), frame.len, port.queued);",
            "let limit = if shared { self.limits.pool } else { self.limits.output };",
            "let behind = match at { RampAt::Departure => queued - u64::from(len), RampAt::Arrival => queued };",
            "if let (ReflectGate::ReturnTags(counter), Tag::RateDiscovery(rate)) = (gate, tag) {",
        ] {
            let texts = [("crates/fabric/src/fast/host.rs".to_string(), line.to_string())];
            let refused = |c: &String| c.starts_with("crates/fabric/src/fast/host.rs: a second body");
            assert!(complaints(LAWS, &texts).iter().any(refused), "{line}");
        }
    }

    /// By structure: other words that write the same state, in another function of any file.
    #[test]
    fn a_second_writer_of_a_laws_state_is_refused() {
        let row = &("when XOFF begins", "off", &[("a.rs", "change")][..]);
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
        let laws: &[(&str, &str, &[&str])] = &[("when XOFF begins", "a.rs", &["> self.high"])];
        let text = |file: &str, text: &str| (file.to_string(), text.to_string());
        let once = [text("a.rs", "cell > self.high"), text("b.rs", "marks.call_for_xoff(cell)")];
        assert_eq!(complaints(laws, &once), Vec::<String>::new());
        let twice = [text("a.rs", "cell > self.high"), text("b.rs", "if now > self.high {")];
        assert!(complaints(laws, &twice)[0].starts_with("b.rs: a second body"));
        assert!(complaints(laws, &once[1..])[0].starts_with("a.rs: the law"));
    }
}
