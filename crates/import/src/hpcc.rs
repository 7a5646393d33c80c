//! Files of the ns-3 fork that Li et al., *HPCC*, SIGCOMM 2019, published, and that most RoCE studies descend from.
//!
//! * Topology: a header, the numbers of the switches, then `a b rate delay [error_rate]` a link. The header is that of the fork or of one
//!   of its kin ([`HEADS`]); SimAI's NVSwitches and the ToRs of ns3-datacenter are switches here.
//! * Flows: their number, then `src dst class dst_port bytes start` a flow, start in seconds. ConWeave's have no port.
//! * Configuration: `KEY value ...` a line.
//!
//! A count that is smaller than the lines that follow is legal, as in the fork, which reads that many and no more.

mod config;
mod marks;
mod modes;
#[cfg(test)]
mod tests;

use config::Setting;
pub use config::{Config, Translated, otherwise};
pub(crate) use modes::largest;

use super::faults::link_rate;
use super::{
    Fabric, FabricLink, Faults, FileFlow, FlowList, ImportError, Unread, count_of, delay, error, lines,
    seconds, word,
};
use cnsim_units::Bytes;
use std::collections::BTreeSet;

/// The headers of a topology.
const HEADS: &str = "write `nodes switches links` as in the HPCC fork, `nodes switches ToRs links [rate rate]` as in ns3-datacenter, or \
                     `nodes gpus_per_server NVSwitches switches links gpu_type` as in SimAI";

/// Refuses words behind the last that the format has: the fork would read them as the next line's.
fn at_most(line: usize, words: &[&str], most: usize, form: &str) -> Result<(), ImportError> {
    match words.get(most) {
        None => Ok(()),
        Some(word) => Err(error(line, format!("`{word}` is one word too many"), format!("a line is {form}"))),
    }
}

/// Numbers that the header of a topology announces.
struct Header {
    nodes: usize,
    switches: usize,
    links: usize,
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

fn header(at: usize, words: &[&str]) -> Result<Header, ImportError> {
    let count = |i: usize, what: &str| count_of(at, words, i, what);
    let nodes = count(0, "the number of nodes");
    let numbers = words.iter().all(|w| is_number(w));
    let (switches, links) = match words.len() {
        3 => (count(1, "the number of switches")?, count(2, "the number of links")?),
        4 | 6 if numbers => {
            let (switches, tors) = (count(1, "the number of switches")?, count(2, "the number of ToRs")?);
            if tors > switches {
                let reason =
                    format!("{tors} ToRs of {switches} switches, read as a header of ns3-datacenter");
                return Err(error(at, reason, HEADS));
            }
            (switches, count(3, "the number of links")?)
        }
        6 if !is_number(words[5]) => {
            let (nvswitches, switches) =
                (count(2, "the number of NVSwitches")?, count(3, "the number of switches")?);
            (nvswitches + switches, count(4, "the number of links")?)
        }
        n => return Err(error(at, format!("{n} words in the first line"), HEADS)),
    };
    let nodes = nodes?;
    if nodes > 70_000 || switches > nodes {
        let reason = format!("{nodes} nodes, {switches} of them switches");
        return Err(error(at, reason, "at most 70,000 nodes are possible"));
    }
    Ok(Header { nodes, switches, links })
}

/// Reads a topology of the fork or of its kin.
///
/// # Errors
/// All lines that are not of the format, fewer links than announced, links to a node that is not there or to itself, rates and delays
/// that are none, links that lose frames.
pub fn topology(text: &str) -> Result<Fabric, Vec<ImportError>> {
    let mut lines = lines(text);
    let Some((first, words)) = lines.next() else { return Err(vec![error(1, "the file is empty", HEADS)]) };
    let Header { nodes, switches, links } = header(first, &words).map_err(|e| vec![e])?;
    let mut is_switch = BTreeSet::new();
    while is_switch.len() < switches {
        let Some((at, words)) = lines.next() else {
            let reason = format!("{switches} switches are announced and {} listed", is_switch.len());
            return Err(vec![error(first, reason, HEADS)]);
        };
        list(at, &words, nodes, &mut is_switch).map_err(|e| vec![e])?;
        if is_switch.len() > switches {
            return Err(vec![error(at, format!("more than the {switches} switches announced"), HEADS)]);
        }
    }
    let name = |id: usize| if is_switch.contains(&id) { format!("S{id}") } else { format!("H{id}") };
    let mut fabric = Fabric {
        hosts: (0..nodes).filter(|n| !is_switch.contains(n)).map(name).collect(),
        switches: (0..nodes).filter(|n| is_switch.contains(n)).map(name).collect(),
        links: Vec::with_capacity(links.min(1 << 20)),
        unread: None,
    };
    let mut faults = Faults::default();
    for read in 0..links {
        let Some((at, words)) = lines.next() else {
            let reason = format!("{links} links are announced and {read} listed");
            faults.push(error(first, reason, "correct the count in the first line, or add the links"));
            break;
        };
        fabric.links.extend(faults.keep(link(at, &words, nodes, name)));
    }
    let is_link = |words: &[&str]| words.len() > 3 && words[..2].iter().all(|w| w.parse::<u64>().is_ok());
    fabric.unread = Unread::of(("links", links), lines, is_link);
    faults.or(fabric)
}

/// The switches of a line.
fn list(at: usize, words: &[&str], nodes: usize, is_switch: &mut BTreeSet<usize>) -> Result<(), ImportError> {
    for i in 0..words.len() {
        let id: usize = word(at, words, i, "the number of a switch")?;
        if id >= nodes {
            let reason = format!("switch {id}: there are nodes 0 to {}", nodes - 1);
            return Err(error(at, reason, "number them from 0"));
        }
        if !is_switch.insert(id) {
            return Err(error(at, format!("switch {id} is listed twice"), "list each switch once"));
        }
    }
    Ok(())
}

fn link(
    line: usize,
    words: &[&str],
    nodes: usize,
    name: impl Fn(usize) -> String,
) -> Result<FabricLink, ImportError> {
    at_most(line, words, 5, "`a b rate delay error_rate`")?;
    let (a, b): (usize, usize) = (word(line, words, 0, "a node")?, word(line, words, 1, "a node")?);
    if let Some(bad) = [a, b].into_iter().find(|n| *n >= nodes) {
        let reason = format!("node {bad}: there are nodes 0 to {}", nodes.saturating_sub(1));
        return Err(error(line, reason, "name two of them"));
    }
    if a == b {
        return Err(error(line, format!("node {a} is linked to itself"), "name two different nodes"));
    }
    let (rate, delay) = (link_rate(line, words, 2)?, delay(line, words, 3)?);
    let loss: f64 = if words.len() > 4 { word(line, words, 4, "an error rate")? } else { 0.0 };
    if loss != 0.0 {
        let reason = format!("the link loses a share {loss} of its frames");
        return Err(error(
            line,
            reason,
            "write 0, and let links of the scenario lose frames ([[event]] loss)",
        ));
    }
    Ok(FabricLink { line, a: name(a), b: name(b), rate, delay })
}

/// A line of a flow file, as it is told by its words.
const FLOW: &str =
    "`src dst class dst_port bytes start`, or `src dst class bytes start` with a start such as 2.000001";

/// Does a line have ConWeave's form, which has no port? Its start has a point.
fn without_port(words: &[&str]) -> bool {
    words.len() == 5 && words[4].contains('.')
}

/// Do lines have the form of ns3-rdma: packets in place of a port, then start and stop in seconds? As flows of the fork all would have
/// fewer bytes than their start has seconds; and a word that is no port or no number of bytes, or a port that is not the fork's own.
fn in_packets(list: &[(usize, Vec<&str>)]) -> bool {
    let number = |words: &[&str], i: usize| words.get(i).and_then(|w| w.parse::<f64>().ok());
    let times =
        |words: &[&str]| number(words, 4).zip(number(words, 5)).is_some_and(|(start, stop)| start < stop);
    let told = |words: &[&str]| words[4].contains('.') || number(words, 3) != Some(f64::from(config::PORT));
    list.iter().all(|(_, words)| words.len() == 6 && times(words))
        && list.iter().any(|(_, words)| told(words))
}

/// Reads flows of the fork or of its kin; `fabric` knows the hosts, where they are to be looked up. They come in the order of the file,
/// which the fork wants to be that of their starts.
///
/// # Errors
/// All lines that are not of the format, fewer flows than announced or none, flows to themselves, of or to a host that is not there,
/// of 0 bytes, or that start before the flow above them; a file whose flows are in packets.
pub fn flows(text: &str, fabric: Option<&Fabric>) -> Result<FlowList, Vec<ImportError>> {
    let mut lines = lines(text);
    let head = "the first line is the number of flows";
    let Some((header, first)) = lines.next() else { return Err(vec![error(1, "the file is empty", head)]) };
    if first.len() != 1 {
        return Err(vec![error(header, format!("{} words in the first line", first.len()), head)]);
    }
    let announced = count_of(header, &first, 0, "the number of flows").map_err(|e| vec![e])?;
    if announced == 0 {
        return Err(vec![error(
            header, "the file announces 0 flows", "write how many of its flows are to run",
        )]);
    }
    let list: Vec<(usize, Vec<&str>)> = lines.by_ref().take(announced).collect();
    let mut faults = Faults::default();
    if list.len() < announced {
        let reason = format!("{announced} flows are announced and {} listed", list.len());
        faults.push(error(header, reason, "correct the count in the first line, or add the flows"));
    }
    if let Some((line, words)) = list.first().filter(|_| in_packets(&list)) {
        let reason = format!(
            "{} packets from {} s to {} s: flows of ns3-rdma, `src dst class packets start stop`",
            words[3], words[4], words[5]
        );
        let remedy = format!("write bytes, and no stop: {FLOW}");
        return Err(vec![error(*line, reason, remedy)]);
    }
    let hosts: BTreeSet<&str> = fabric.iter().flat_map(|f| &f.hosts).map(String::as_str).collect();
    let known = |id: u32| {
        let fabric = fabric.filter(|_| !hosts.contains(format!("H{id}").as_str()))?;
        let is = fabric.switches.contains(&format!("S{id}"));
        Some(if is { "a switch" } else { "not in the topology" })
    };
    let mut flows: Vec<FileFlow> = Vec::new();
    for (line, words) in &list {
        let read = flow(*line, words, known).and_then(|flow| match flows.last() {
            Some(before) if before.start > flow.start => {
                let reason = format!("the flow starts before that of line {}", before.line);
                let remedy = "sort the flows by their start, which is how the fork reads them";
                Err(error(*line, reason, remedy))
            }
            _ => Ok(flow),
        });
        flows.extend(faults.keep(read));
    }
    let is_flow = |words: &[&str]| words.len() > 4 && words.iter().all(|w| is_number(w));
    let unread = Unread::of(("flows", announced), lines, is_flow);
    faults.or(FlowList { flows, unread, ..FlowList::default() })
}

/// The flow of a line; `unknown` says what a number is that names no host.
fn flow(
    line: usize,
    words: &[&str],
    unknown: impl Fn(u32) -> Option<&'static str>,
) -> Result<FileFlow, ImportError> {
    at_most(line, words, 6, FLOW)?;
    let host = |i: usize| -> Result<String, ImportError> {
        let id: u32 = word(line, words, i, "the number of a host")?;
        match unknown(id) {
            None => Ok(format!("H{id}")),
            Some(is) => Err(error(line, format!("node {id} is {is}"), "flows lead from host to host")),
        }
    };
    let (src, dst) = (host(0)?, host(1)?);
    let class: u8 = word(line, words, 2, "a priority class")?;
    if class > 7 {
        return Err(error(line, format!("class {class}"), "there are classes 0 to 7"));
    }
    let (port, next) = if without_port(words) {
        (None, 3)
    } else {
        (Some(u32::from(word::<u16>(line, words, 3, "a port number")?)), 4)
    };
    let bytes: u64 = word(line, words, next, "a number of bytes")?;
    let Some(start) = words.get(next + 1) else {
        return Err(error(
            line,
            format!("{} words: the start is missing", words.len()),
            format!("a line is {FLOW}"),
        ));
    };
    let start = seconds(line, start)?;
    if src == dst {
        return Err(error(line, format!("a flow from {src} to itself"), "name two different hosts"));
    }
    if bytes == 0 {
        return Err(error(line, "a flow of 0 bytes", "a flow has at least 1 byte"));
    }
    Ok(FileFlow { line, src, dst, class, port, bytes: Bytes::new(bytes), start, after: Vec::new() })
}
