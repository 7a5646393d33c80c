//! The network of a scenario, for the report's drawing.

use crate::model::{Hot, Link, Node, Topology};
use cnsim_measure::map::Map;
use cnsim_scenario::Ready;
use cnsim_scheme_api::NodeId;
use std::collections::BTreeSet;

/// Ports that are or become the congested ones: the hot port, those of all hotspots, those that events slow down.
pub fn hot_ports(ready: &Ready) -> BTreeSet<(NodeId, u16)> {
    let settings = &ready.settings;
    let mut hot: BTreeSet<(NodeId, u16)> =
        settings.hotspots.iter().map(|h| settings.wiring.feeder(h.host)).collect();
    if settings.record.hot {
        hot.extend(settings.record.named.ports.first());
    }
    let events = ready.config.keys().filter(|(key, _)| key.starts_with("event.") && key.ends_with(".port"));
    hot.extend(events.filter_map(|(_, name)| settings.wiring.port(name.as_str()?)));
    hot
}

/// The network of a case.
pub(crate) fn topology(ready: &Ready) -> Topology {
    let (wiring, hot) = (&ready.settings.wiring, hot_ports(ready));
    let node = |name: &String, switch| Node { name: name.clone(), switch, layer: None };
    let mut nodes: Vec<Node> = wiring.hosts.iter().map(|h| node(h, false)).collect();
    nodes.extend(wiring.switches.iter().map(|(name, _)| node(name, true)));
    let links = wiring
        .links
        .iter()
        .map(|l| Link {
            a: l.a.0.0 as usize,
            b: l.b.0.0 as usize,
            rate: l.rate.to_string(),
            delay: l.delay.to_string(),
            hot: if hot.contains(&l.a) {
                Hot::A
            } else if hot.contains(&l.b) {
                Hot::B
            } else {
                Hot::No
            },
            ports: [l.a, l.b].map(|end| wiring.port_name(end)),
        })
        .collect();
    Topology { nodes, links, caption: caption(ready) }
}

/// The network of a map.
pub(crate) fn of_map(map: &Map) -> Topology {
    let node = |switch| move |name: &String| Node { name: name.clone(), switch, layer: None };
    let ends = map.links.iter().zip(map.ports.chunks(2));
    Topology {
        nodes: map.hosts.iter().map(node(false)).chain(map.switches.iter().map(node(true))).collect(),
        links: ends
            .filter_map(|(&(a, b), ports)| {
                let ports = [ports.first()?.port.clone(), ports.get(1)?.port.clone()];
                Some(Link { a: a as usize, b: b as usize, ports, ..Link::default() })
            })
            .collect(),
        ..Topology::default()
    }
}

/// Hosts, switches, links and delays in a sentence.
pub fn caption(ready: &Ready) -> String {
    let wiring = &ready.settings.wiring;
    let several = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let span = |mut all: Vec<String>| -> String {
        all.dedup();
        match (all.first(), all.last()) {
            (Some(a), Some(b)) if a != b => format!("{a} to {b}"),
            (Some(a), _) => a.clone(),
            _ => String::new(),
        }
    };
    let mut rates: Vec<_> = wiring.links.iter().map(|l| l.rate).collect();
    rates.sort_by(|a, b| a.bps().total_cmp(&b.bps()));
    let mut delays: Vec<_> = wiring.links.iter().map(|l| l.delay).collect();
    delays.sort_unstable();
    // Where a switch's hosts can send more than its links to other switches carry.
    let over = match wiring.oversubscription().filter(|(ratio, _)| *ratio > 1.0) {
        Some((ratio, switch)) => {
            format!(", oversubscribed {}:1 at {switch}", (ratio * 100.0).round() / 100.0)
        }
        None => String::new(),
    };
    let (nics, hosts) = (wiring.hosts.len(), wiring.all_machines().count());
    let with = if nics > hosts { format!(" with {nics} NICs") } else { String::new() };
    format!(
        "{}{with}, {}, links of {} with a delay of {}{over}",
        several(hosts, "host", "hosts"),
        several(wiring.switches.len(), "switch", "switches"),
        span(rates.iter().map(ToString::to_string).collect()),
        span(delays.iter().map(ToString::to_string).collect())
    )
}
