//! Any graph, and access links with rates of their own: lines that a scenario or a file lists, taken apart.

use super::{HOST_RATES, LINK_DELAY, LINK_RATE, LINKS, NODES, PORTS};
use crate::language::kinds::{Value, is_name};
use crate::language::reader::{List, Reader};
use crate::language::row::{Key, MAX_HOSTS, MAX_PORTS, MAX_SWITCHES};
use crate::wiring::{Builder, End, Wiring};
use cnsim_units::{Rate, Time};
use std::collections::HashMap;

/// Words that name no host, as they stand for something else where hosts are named.
const RESERVED: &[&str] = &["all", "auto", "off", "uniform", "permutation"];

/// Words of a line, each with the number of characters before it.
fn words(line: &str) -> Vec<(usize, &str)> {
    let begins = |w: &str| line[..w.as_ptr() as usize - line.as_ptr() as usize].chars().count();
    line.split_whitespace().map(|w| (begins(w), w)).collect()
}

/// Any graph: `topology.nodes` lists switches with their ports, `topology.links` links with rate and delay. A name of a link that
/// is no switch is a host.
pub(crate) fn graph(r: &mut Reader<'_>, b: &mut Builder) {
    let before = r.problems.len();
    let (nodes, links) = (r.listed(NODES), r.listed(LINKS));
    // Switches first: what is left are hosts.
    let (mut known, ports) = switches(r, b, &nodes);
    if !fits(r, NODES, 0, nodes.items.len(), ports) {
        return;
    }
    let mut at_switch = vec![0u32; b.used.len()];
    for (i, line) in links.items.iter().enumerate() {
        let found = words(line);
        let [from, to, ref rest @ ..] = found[..] else {
            r.wrong_item(&links.key, i, format!("`{line}` is not a link"), "write \"H1 S1 10 Gb/s 0.5 us\"");
            continue;
        };
        let (rate, delay) = rate_and_delay(r, &links.key, i, rest);
        let [a, z] = [from, to].map(|word| end(r, b, &mut known, (&links.key, i), word));
        for end in [a, z] {
            if let End::Switch(s) = end {
                at_switch[s] += 1;
            }
        }
        let (from, to) = (from.1, to.1);
        match (a, z) {
            (End::Host(_), End::Host(_)) => {
                let reason = format!("`{from}` and `{to}`, two hosts, are linked directly");
                let remedy = "put a switch between them: a switch is listed in topology.nodes with its ports";
                r.wrong_item(&links.key, i, reason, remedy);
            }
            (End::Switch(x), End::Switch(y)) if x == y => {
                r.wrong_item(&links.key, i, format!("`{from}` is linked to itself"), "link two switches");
            }
            _ => {}
        }
        let over = [a, z].into_iter().find_map(|end| match end {
            End::Switch(s) if at_switch[s] == u32::from(b.wiring.switches[s].1) + 1 => {
                let (name, ports) = &b.wiring.switches[s];
                Some(format!("switch `{name}` has more links than its {ports} ports"))
            }
            _ => None,
        });
        if let Some(reason) = over {
            r.wrong_item(&links.key, i, reason, "give it as many ports in topology.nodes");
        }
        let (a, z) = if matches!(z, End::Host(_)) { (z, a) } else { (a, z) };
        b.pending.push((a, z, rate.unwrap_or(b.rate), delay.unwrap_or(b.delay)));
    }
    if r.problems.len() == before && b.wiring.hosts.is_empty() {
        r.wrong(LINKS, "a graph needs hosts", "write [\"H1 S1\", \"H2 S1\"]");
    }
    fits(r, LINKS, b.wiring.hosts.len(), 0, 0);
}

/// Ends of links by their names in small letters.
type Known = HashMap<String, End>;

/// The switches of a list, and how many ports they have.
fn switches(r: &mut Reader<'_>, b: &mut Builder, nodes: &List) -> (Known, usize) {
    let (mut known, mut ports) = (Known::new(), 0);
    for (i, line) in nodes.items.iter().enumerate() {
        let [(_, name), (at, number)] = words(line)[..] else {
            let hint = "write a name and a number of ports: \"S1 16\"";
            r.wrong_item(&nodes.key, i, format!("`{line}` is not a switch"), hint);
            continue;
        };
        let Ok(Value::Integer(n)) = PORTS.kind.read(number) else {
            let reason = format!("`{number}` is not a number of ports");
            r.wrong_at(&nodes.key, i, at, reason, "write a number from 2 to 65000");
            continue;
        };
        if let Err(wrong) = is_name(name) {
            r.wrong_item(&nodes.key, i, wrong.reason, wrong.remedy);
        }
        ports += n as usize;
        let end = b.switch(name, n as u16);
        if known.insert(name.to_ascii_lowercase(), end).is_some() {
            r.wrong_item(&nodes.key, i, format!("switch `{name}` is there twice"), "give each a name");
        }
    }
    (known, ports)
}

/// The end of a link of this name: a known one, or a new host.
fn end(
    r: &mut Reader<'_>,
    b: &mut Builder,
    known: &mut Known,
    (key, item): (&str, usize),
    (at, name): (usize, &str),
) -> End {
    *known.entry(name.to_ascii_lowercase()).or_insert_with(|| {
        if let Err(wrong) = is_name(name) {
            r.wrong_at(key, item, at, wrong.reason, wrong.remedy);
        } else if RESERVED.iter().any(|w| name.eq_ignore_ascii_case(w)) {
            let reason = format!("`{name}` has a meaning of its own");
            r.wrong_at(key, item, at, reason, "give the host another name");
        }
        let host = b.host();
        if let Some(h) = b.wiring.hosts.last_mut() {
            *h = name.into();
        }
        host
    })
}

/// Rate and delay behind the ends of a link, in either order, each at most once.
fn rate_and_delay(
    r: &mut Reader<'_>,
    key: &str,
    item: usize,
    rest: &[(usize, &str)],
) -> (Option<Rate>, Option<Time>) {
    let (mut rate, mut delay) = (None, None);
    let mut left = rest.iter().copied();
    while let Some((at, word)) = left.next() {
        // A number's unit may stand apart.
        let text = match word.ends_with(|c: char| c.is_ascii_digit()) {
            true => format!("{word} {}", left.next().map_or("", |w| w.1)),
            false => word.into(),
        };
        let wrong = match (LINK_RATE.kind.read(&text), LINK_DELAY.kind.read(&text)) {
            (Ok(Value::Rate(v)), _) => rate.replace(v).map(|_| "is a second rate".to_string()),
            (_, Ok(Value::Time(v))) => delay.replace(v).map(|_| "is a second delay".to_string()),
            (Err(w), _) if text.parse::<Rate>().is_ok() => Some(format!("is out of range: {}", w.remedy)),
            (_, Err(w)) if text.parse::<Time>().is_ok() => Some(format!("is out of range: {}", w.remedy)),
            _ => Some("is neither a rate nor a delay".into()),
        };
        if let Some(wrong) = wrong {
            r.wrong_at(key, item, at, format!("`{text}` {wrong}"), "write \"H1 S1 10 Gb/s 0.5 us\"");
        }
    }
    (rate, delay)
}

/// `topology.host_rates`: access links that differ.
pub(crate) fn host_rates(r: &mut Reader<'_>, wiring: &mut Wiring) {
    let list = r.listed(HOST_RATES);
    let mut seen = vec![false; wiring.hosts.len()];
    for (i, line) in list.items.iter().enumerate() {
        let Some((name, rate)) = line.trim().split_once(' ') else {
            let reason = format!("`{line}` is not hosts and a rate");
            r.wrong_item(&list.key, i, reason, "write for example [\"H5 1 Gb/s\", \"H8..H15 10 Gb/s\"]");
            continue;
        };
        let hosts = r.range(&list.key, i, name, wiring);
        match LINK_RATE.kind.read(rate) {
            Ok(Value::Rate(rate)) => {
                for host in hosts {
                    if std::mem::replace(&mut seen[host], true) {
                        let reason = format!("`{}` is there twice", wiring.hosts[host]);
                        r.wrong_item(&list.key, i, reason, "give it one rate");
                    }
                    if let Some(l) = wiring.access_mut(host) {
                        l.rate = rate;
                    }
                }
            }
            Err(wrong) => r.wrong_item(&list.key, i, wrong.reason, wrong.remedy),
            _ => {}
        }
    }
}

/// Checks that a network of this size can be built. Otherwise reports a problem of the key.
pub(crate) fn fits(r: &mut Reader<'_>, key: Key, hosts: usize, switches: usize, ports: usize) -> bool {
    let sizes = [
        ("hosts", hosts, MAX_HOSTS),
        ("switches", switches, MAX_SWITCHES),
        ("ports of switches", ports, MAX_PORTS),
    ];
    let over = sizes.into_iter().find(|(_, n, most)| n > most);
    if let Some((what, n, most)) = over {
        r.wrong(key, format!("{n} {what} are too many"), format!("at most {most}"));
    }
    over.is_none()
}
