//! Ports and flows that are to be captured, by their names.

use cnsim_fabric::{Arrivals, Captured, RunSpec, numbered};
use cnsim_problem::nearest;
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::NodeId;
use std::ops::Range;

/// A flow that is asked for: hosts at both ends, each with all its NICs, and its number among those of the two; none: all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flow {
    from: Range<u32>,
    to: Range<u32>,
    nth: Option<u32>,
}

/// Ports and flows that are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Ports of which all frames are kept: both ends of each link.
    links: Vec<(NodeId, u16)>,
    /// Flows, of which frames are kept at the links of their hosts.
    flows: Vec<Flow>,
    /// Ports of these links.
    ends: Vec<(NodeId, u16)>,
}

/// Most flows that an error names.
const NAMED: usize = 4;

impl Asked {
    /// Reads names of ports (`L1>S1`) and flows (`H10>H5`, the third one of these hosts `H10>H5#3`). A link is captured in both
    /// directions.
    ///
    /// # Errors
    /// A name that no port and no flow of the run has, with those that come nearest.
    pub fn read(names: &[String], wiring: &Wiring, spec: &RunSpec) -> Result<Self, String> {
        let mut asked = Self::default();
        for name in names.iter().map(|name| name.trim()) {
            if let Some(port) = wiring.port(name) {
                asked.links.extend(ends(wiring, port));
                continue;
            }
            let flow = flow(name, wiring).ok_or_else(|| unknown(name, wiring))?;
            exists(name, &flow, wiring, spec)?;
            for nic in flow.from.clone().chain(flow.to.clone()) {
                asked.ends.extend(ends(wiring, (NodeId(nic), 0)));
            }
            asked.flows.push(flow);
        }
        for all in [&mut asked.links, &mut asked.ends] {
            let mut seen = Vec::new();
            all.retain(|port| {
                !seen.contains(port) && {
                    seen.push(*port);
                    true
                }
            });
        }
        Ok(asked)
    }

    /// Is nothing captured?
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.flows.is_empty()
    }

    /// The ports that are captured, those first of which all frames are kept.
    pub fn ports(&self) -> Vec<(NodeId, u16)> {
        let more = self.ends.iter().filter(|port| !self.links.contains(port));
        self.links.iter().chain(more).copied().collect()
    }

    /// Is this frame of a port or flow that is captured?
    pub fn has(&self, frame: &Captured) -> bool {
        let of = |(src, dst, nth): (NodeId, NodeId, Option<u16>), flow: &Flow| {
            let alike = flow.nth.is_none_or(|n| nth == Some(n as u16));
            flow.from.contains(&src.0) && flow.to.contains(&dst.0) && alike
        };
        let of_flow = || frame.flow.is_some_and(|this| self.flows.iter().any(|flow| of(this, flow)));
        self.links.contains(&frame.port) || self.ends.contains(&frame.port) && of_flow()
    }
}

/// The port and the one at the far end of its link.
fn ends(wiring: &Wiring, port: (NodeId, u16)) -> impl Iterator<Item = (NodeId, u16)> {
    let far = wiring.link(port).map(|link| if link.a == port { link.b } else { link.a });
    std::iter::once(port).chain(far)
}

/// A flow by its name; none if it names no two hosts.
fn flow(name: &str, wiring: &Wiring) -> Option<Flow> {
    let hosts = |name: &str, nth| {
        let (from, to) = name.split_once('>')?;
        let nics = |host: &str| {
            let host = host.trim();
            let at = wiring.host(host)?;
            let nics = if wiring.hosts[at].eq_ignore_ascii_case(host) { at..at + 1 } else { wiring.nics(at) };
            Some(nics.start as u32..nics.end as u32)
        };
        Some(Flow { from: nics(from)?, to: nics(to)?, nth })
    };
    let numbered = || {
        let (name, n) = name.rsplit_once('#')?;
        hosts(name, Some(n.parse::<u32>().ok()?.checked_sub(1)?))
    };
    hosts(name, None).or_else(numbered)
}

/// Refuses a flow that the run has not, where the flows of its source are known beforehand.
fn exists(name: &str, flow: &Flow, wiring: &Wiring, spec: &RunSpec) -> Result<(), String> {
    let sources = || spec.hosts.get(flow.from.start as usize..flow.from.end as usize).unwrap_or_default();
    if sources().iter().flat_map(|h| &h.sources).any(|s| s.arrivals != Arrivals::Transfers) {
        return Ok(());
    }
    let of = |host: &cnsim_fabric::HostSpec| -> Vec<(NodeId, u32)> {
        let lists = host.sources.iter().map(|s| &s.transfers[..]).enumerate();
        let sent = numbered(lists).filter(|(_, t, _)| t.bytes.get() > 0);
        sent.map(|(_, t, nth)| (t.dst, nth)).collect()
    };
    let all: Vec<Vec<(NodeId, u32)>> = sources().iter().map(of).collect();
    let to_it = all.iter().flatten().filter(|(dst, _)| flow.to.contains(&dst.0));
    let most = to_it.map(|(_, nth)| nth + 1).max();
    let help = |text: String| Err(format!("there is no flow `{name}`\n  help: {text}"));
    match (most, flow.nth) {
        (Some(most), Some(nth)) if nth >= most => help(format!("the last of these hosts is #{most}")),
        (Some(_), _) => Ok(()),
        (None, _) => {
            let mut others: Vec<String> = Vec::new();
            for (nic, sent) in (flow.from.start..).zip(&all) {
                let names =
                    sent.iter().map(|(dst, _)| format!("{}>{}", wiring.name(NodeId(nic)), wiring.name(*dst)));
                names.for_each(|name| {
                    if !others.contains(&name) {
                        others.push(name)
                    }
                });
            }
            let from = wiring.machine(flow.from.start as usize);
            match (&others[..], others.len() > NAMED) {
                ([], _) => help(format!("{from} sends nothing")),
                (all, more) => {
                    let first = all[..all.len().min(NAMED)].join(", ");
                    help(format!("{from} sends {first}{}", if more { ", ..." } else { "" }))
                }
            }
        }
    }
}

/// The error about a name of nothing.
fn unknown(name: &str, wiring: &Wiring) -> String {
    let meant = name.replace("->", ">");
    if meant != name && (wiring.port(&meant).is_some() || flow(&meant, wiring).is_some()) {
        return format!("there is no port or flow `{name}`\n  help: did you mean `{meant}`?");
    }
    let ports: Vec<String> =
        wiring.links.iter().flat_map(|l| [l.a, l.b]).map(|port| wiring.port_name(port)).collect();
    let near = nearest(name, ports.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let example = ports.last().map_or("", String::as_str);
    let (first, last) = (wiring.hosts.first(), wiring.hosts.last());
    let hosts = first.zip(last).map_or_else(String::new, |(a, b)| format!("{a}>{b}"));
    format!(
        "there is no port or flow `{name}`\n  help: {near}a port is named by a node and its neighbour, as `{example}`, and a flow by its hosts, as `{hosts}`"
    )
}
