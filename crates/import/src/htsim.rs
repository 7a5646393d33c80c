//! Files of htsim: `.topo` (a fat tree of two or three tiers) and `.cm` (a connection matrix).
//!
//! * `.topo`: `Nodes`, `Tiers`, `Podsize`, then for each tier `Tier n` and its settings: `Downlink_speed_Gbps`, `Radix_Down`,
//!   `Radix_Up`, `Downlink_Latency_ns`, `Switch_Latency_ns`, `Oversubscribed`, `Bundle`.
//! * `.cm`: `Nodes n`, `Connections n`, then `src->dst [id n] start PS size BYTES` a connection, start in picoseconds. In place of a start
//!   one may have `trigger N`, which `send_done_trigger N` or `recv_done_trigger N` of others fire as all is acknowledged or has arrived.
//!   `trigger id N oneshot`, `multishot` or `barrier count n` describes it. A trigger that one connection fires, or a barrier, lets
//!   its connections follow those that fire it. Their source must see that end: in htsim it need not.

use super::{Fabric, FabricLink, Faults, FileFlow, FlowList, ImportError, Unread, error, lines};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;

/// Settings of one tier of switches.
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    line: usize,
    /// Rate of a link to the tier below, Gb/s.
    speed: u64,
    down: u64,
    up: u64,
    link_ns: u64,
    bundle: u64,
}

/// Content of a `.topo` file.
#[derive(Debug, Default)]
struct Tree {
    nodes: u64,
    tiers: u64,
    pod: u64,
    all: Vec<Tier>,
}

/// Reads a `.topo` file.
///
/// # Errors
/// All lines that are not of the format; or a tier or setting that is missing, numbers that do not make a tree, a tier with
/// bundles or switches with a latency of their own other than 0 (set `switch.processing` in the scenario for that).
pub fn topology(text: &str) -> Result<Fabric, Vec<ImportError>> {
    let (mut tree, mut faults, mut first) = (Tree::default(), Faults::default(), 1);
    for (line, words) in lines(text).filter(|(_, w)| !w[0].starts_with('#')) {
        if tree.all.is_empty() && tree.nodes == 0 {
            first = line;
        }
        faults.keep(setting(line, &words, &mut tree));
    }
    let Tree { nodes, tiers, pod, all } = faults.or(tree)?;
    if !(2..=3).contains(&tiers) || all.len() as u64 != tiers {
        let reason = format!("{tiers} tiers are announced and {} described", all.len());
        return Err(vec![error(first, reason, "describe 2 or 3")]);
    }
    let mut faults = Faults::default();
    for (i, t) in all.iter().enumerate() {
        let top = i + 1 == all.len();
        if t.speed == 0 || t.down == 0 || (t.up == 0 && !top) || t.link_ns == 0 {
            let remedy = "each tier has Downlink_speed_Gbps, Radix_Down, Downlink_Latency_ns, and all but the last Radix_Up";
            faults.push(error(t.line, format!("tier {i} is not complete"), remedy));
        }
    }
    faults.or(())?;
    grown(nodes, pod, &all).map_err(|e| vec![ImportError { line: e.line.max(first), ..e }])
}

/// A line of a `.topo` file.
fn setting(line: usize, words: &[&str], tree: &mut Tree) -> Result<(), ImportError> {
    let key = words[0].to_ascii_lowercase();
    let value: u64 = super::word(line, words, 1, "a whole number")?;
    if value > 10_000_000 {
        return Err(error(line, format!("{value} is out of range"), "allowed: 0 to 10,000,000"));
    }
    if key == "tier" {
        if value != tree.all.len() as u64 || value > 2 {
            return Err(error(line, format!("tier {value}"), "tiers are 0, 1 and 2, in this order"));
        }
        tree.all.push(Tier { line, bundle: 1, ..Tier::default() });
        return Ok(());
    }
    match (key.as_str(), tree.all.last_mut()) {
        ("nodes", None) => tree.nodes = value,
        ("tiers", None) => tree.tiers = value,
        ("podsize", None) => tree.pod = value,
        ("downlink_speed_gbps", Some(t)) => t.speed = value,
        ("radix_down", Some(t)) => t.down = value,
        ("radix_up", Some(t)) => t.up = value,
        ("downlink_latency_ns", Some(t)) => t.link_ns = value,
        ("bundle", Some(t)) if value >= 1 => t.bundle = value,
        // The scenario's `switch.share` sets the size of queues; oversubscription follows from the radices.
        ("oversubscribed" | "queue_up" | "queue_down", Some(_)) => {}
        ("switch_latency_ns", Some(_)) if value == 0 => {}
        ("switch_latency_ns", Some(_)) => {
            let reason = format!("a switch that takes {value} ns");
            return Err(error(line, reason, "write 0 here and switch.processing in the scenario"));
        }
        _ => {
            let remedy = "htsim has first Nodes, Tiers, Podsize; then for each tier `Tier n`, Downlink_speed_Gbps, Radix_Down, \
                          Radix_Up, Downlink_Latency_ns, Switch_Latency_ns, Oversubscribed, Bundle";
            return Err(error(line, format!("`{}` is not expected here", words[0]), remedy));
        }
    }
    Ok(())
}

/// The switches and links of a tree.
fn grown(nodes: u64, pod: u64, tiers: &[Tier]) -> Result<Fabric, ImportError> {
    let refused = |line: usize, reason: String| {
        Err(error(
            line,
            reason,
            "Nodes, Podsize and the radices must make a whole number of switches and links",
        ))
    };
    let [tor, rest @ ..] = tiers else { return refused(0, "there is no tier".into()) };
    let pod = if tiers.len() == 2 { nodes } else { pod };
    if nodes == 0 || nodes > 65_535 || pod == 0 || !nodes.is_multiple_of(pod) || !pod.is_multiple_of(tor.down)
    {
        return refused(
            0,
            format!("{nodes} nodes in pods of {pod} behind switches with {} of them", tor.down),
        );
    }
    let (pods, tors_a_pod) = (nodes / pod, pod / tor.down);
    let mut fabric = Fabric { hosts: (0..nodes).map(|h| format!("H{h}")).collect(), ..Fabric::default() };
    // So many links side by side from each of the lower nodes to one above it.
    let link = |fabric: &mut Fabric, (a, b): (String, String), tier: &Tier, bundle: u64| {
        let (rate, delay) = (Rate::from_gbps(tier.speed as f64), Time::from_ns(tier.link_ns));
        let one = FabricLink { line: tier.line, a, b, rate, delay };
        fabric.links.extend((0..bundle).map(|_| one.clone()));
    };
    let tors = pods * tors_a_pod;
    fabric.switches.extend((0..tors).map(|s| format!("T{s}")));
    for h in 0..nodes {
        link(&mut fabric, (format!("H{h}"), format!("T{}", h / tor.down)), tor, 1);
    }
    let [middle, core @ ..] = rest else { return refused(0, "there is one tier".into()) };
    // Links of a switch to each one above it, one after another; with a bundle, that many side by side.
    if middle.bundle > 1 && tor.up % middle.bundle != 0 {
        return refused(middle.line, format!("{} uplinks in bundles of {}", tor.up, middle.bundle));
    }
    let above = tor.up / middle.bundle;
    if above == 0 || tors_a_pod * middle.bundle != middle.down {
        let (bundle, down) = (middle.bundle, middle.down);
        let reason =
            format!("{tors_a_pod} switches below one of tier 1, in bundles of {bundle}, and {down} ports");
        return refused(middle.line, reason);
    }
    fabric.switches.extend((0..pods * above).map(|s| format!("A{s}")));
    for (t, a) in (0..tors).flat_map(|t| (0..above).map(move |a| (t, a))) {
        let ends = (format!("T{t}"), format!("A{}", t / tors_a_pod * above + a));
        link(&mut fabric, ends, middle, middle.bundle);
    }
    let Some(core) = core.first() else { return Ok(fabric) };
    if core.bundle > 1 && middle.up % core.bundle != 0 || core.down != pods * core.bundle {
        let (bundle, down) = (core.bundle, core.down);
        return refused(
            core.line,
            format!("{pods} pods below one of tier 2, in bundles of {bundle}, and {down} ports"),
        );
    }
    let each = middle.up / core.bundle;
    fabric.switches.extend((0..above * each).map(|s| format!("C{s}")));
    for (a, c) in (0..pods * above).flat_map(|a| (0..each).map(move |c| (a, c))) {
        let ends = (format!("A{a}"), format!("C{}", a % above * each + c));
        link(&mut fabric, ends, core, core.bundle);
    }
    Ok(fabric)
}

/// A connection, as its line is written.
const CONNECTION: &str = "write src->dst start PICOSECONDS size BYTES, or `trigger N` in place of the start; perhaps send_done_trigger N or recv_done_trigger N";

/// Condition on which a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    Oneshot,
    Multishot,
    Barrier(u64),
}

/// A connection, with the trigger that starts it, and those that it fires: as all is sent and acknowledged, or has arrived (`true`).
struct Connection {
    flow: FileFlow,
    starts: Option<u64>,
    fires: Vec<(u64, bool)>,
}

/// Numbers that a `.cm` file announces, with their lines.
#[derive(Debug, Default)]
struct Announced {
    nodes: Option<(u64, usize)>,
    connections: Option<(u64, usize)>,
    triggers: Option<(u64, usize)>,
}

/// Reads a `.cm` file; `fabric` knows the hosts, where they are to be looked up.
///
/// # Errors
/// All lines that are not of the format; connections to themselves, of 0 bytes, or with a host that is not there or beyond the file's
/// own `Nodes`; fewer connections or triggers than announced, or no connection; triggers whose order a host cannot see or keep.
pub fn flows(text: &str, fabric: Option<&Fabric>) -> Result<FlowList, Vec<ImportError>> {
    let (mut announced, mut faults) = (Announced::default(), Faults::default());
    let hosts = fabric.map(|f| f.hosts.len() as u64);
    let (mut all, mut listed, mut beyond) = (Vec::new(), 0, Vec::new());
    let (mut first, mut triggers) = (None, BTreeMap::new());
    for (line, words) in lines(text).filter(|(_, w)| !w[0].starts_with('#')) {
        if words[0] == "trigger" {
            if let Some((id, fires)) = faults.keep(trigger(line, &words))
                && triggers.insert(id, fires).is_some()
            {
                faults.push(error(line, format!("trigger {id} is there twice"), "describe each once"));
            }
        } else if !words[0].contains("->") {
            faults.keep(announce(line, &words, hosts, &mut announced));
            first.get_or_insert(line);
        } else if announced.connections.is_some_and(|(n, _)| listed >= n) {
            beyond.push((line, words));
        } else {
            listed += 1;
            all.extend(faults.keep(connection(line, &words, hosts, announced.nodes)));
        }
    }
    match announced.connections {
        Some((0, line)) => {
            faults.push(error(line, "the file announces 0 connections", "write how many are to run"))
        }
        Some((n, line)) if n > listed => {
            let reason = format!("{n} connections are announced and {listed} listed");
            faults.push(error(line, reason, "correct the count, or add the connections"));
        }
        None if listed == 0 => {
            faults.push(error(first.unwrap_or(1), "there are no connections", CONNECTION));
        }
        _ => {}
    }
    let count = announced.connections.map_or(0, |c| c.0 as usize);
    let unread = Unread::of(("connections", count), beyond.into_iter(), |_| true);
    if let Some((n, line)) = announced.triggers.filter(|(n, _)| *n != triggers.len() as u64) {
        let reason = format!("{n} triggers are announced and {} described", triggers.len());
        faults.push(error(line, reason, "describe each: trigger id 1 oneshot"));
    }
    let mut flows = followed(all, &triggers, &mut faults);
    flows.sort_by_key(|f: &FileFlow| f.start);
    faults.or(FlowList { flows, unread, ..FlowList::default() })
}

/// A line that says how much there is.
fn announce(
    line: usize,
    words: &[&str],
    hosts: Option<u64>,
    announced: &mut Announced,
) -> Result<(), ImportError> {
    let value: u64 = super::word(line, words, 1, "a whole number")?;
    match (words[0].to_ascii_lowercase().as_str(), hosts) {
        ("nodes", Some(hosts)) if value > hosts => {
            let reason = format!("{value} nodes, and the topology has {hosts} hosts");
            Err(error(line, reason, "give the topology that the matrix was made for"))
        }
        ("nodes", _) => {
            announced.nodes = Some((value, line));
            Ok(())
        }
        ("connections", _) => {
            announced.connections = Some((value, line));
            Ok(())
        }
        ("triggers", _) => {
            announced.triggers = Some((value, line));
            Ok(())
        }
        ("failures", _) if value == 0 => Ok(()),
        _ => {
            let remedy = format!("{CONNECTION}, or Nodes and Connections with a number");
            Err(error(line, format!("`{}` is not supported", words[0]), remedy))
        }
    }
}

/// The trigger of a line.
fn trigger(line: usize, words: &[&str]) -> Result<(u64, Fires), ImportError> {
    const TRIGGER: &str = "write trigger id N oneshot, multishot, or barrier count N";
    let id = super::word(line, words, 2, "the number of a trigger")?;
    match words {
        [_, "id", _, "oneshot"] => Ok((id, Fires::Oneshot)),
        [_, "id", _, "multishot"] => Ok((id, Fires::Multishot)),
        [_, "id", _, "barrier", "count", _] => {
            Ok((id, Fires::Barrier(super::word(line, words, 5, "a count")?)))
        }
        _ => Err(error(line, format!("`{}` is no trigger", words.join(" ")), TRIGGER)),
    }
}

/// The flows: those that a trigger starts follow those that fire it.
fn followed(all: Vec<Connection>, triggers: &BTreeMap<u64, Fires>, faults: &mut Faults) -> Vec<FileFlow> {
    // By trigger: line of a connection that fires it, and the host that sees that.
    let mut fired: BTreeMap<u64, Vec<(usize, String)>> = BTreeMap::new();
    let mut starts: BTreeMap<u64, usize> = BTreeMap::new();
    for one in &all {
        for (id, arrived) in &one.fires {
            let sees = if *arrived { &one.flow.dst } else { &one.flow.src };
            fired.entry(*id).or_default().push((one.flow.line, sees.clone()));
        }
        one.starts.iter().for_each(|id| *starts.entry(*id).or_default() += 1);
    }
    let one = |Connection { mut flow, starts: by, fires }: Connection| {
        for id in by.iter().chain(fires.iter().map(|(id, _)| id)).filter(|id| !triggers.contains_key(id)) {
            let reason = format!("trigger {id} is not described");
            faults.push(error(flow.line, reason, format!("write trigger id {id} oneshot")));
        }
        let Some((id, fires)) = by.and_then(|id| Some((id, *triggers.get(&id)?))) else { return flow };
        let by = fired.get(&id).map_or(&[][..], Vec::as_slice);
        let wrong = match (fires, by) {
            (_, []) => Some((
                format!("no connection fires trigger {id}"),
                "let one have send_done_trigger or recv_done_trigger",
            )),
            (Fires::Barrier(n), by) if n != by.len() as u64 => Some((
                format!("barrier {id} waits for {n} connections, and {} fire it", by.len()),
                "correct the count",
            )),
            (Fires::Oneshot, [_, _, ..]) => Some((
                format!("trigger {id} starts with the first of {} connections", by.len()),
                "let one connection fire it, or write a barrier: in cnsim a flow follows all of those that are named",
            )),
            (Fires::Multishot, by) if by.len() > 1 || starts.get(&id).is_some_and(|n| *n > 1) => Some((
                format!("trigger {id} starts one connection after another, as others fire it"),
                "give each connection a trigger of its own",
            )),
            _ => None,
        };
        if let Some((reason, remedy)) = wrong {
            faults.push(error(flow.line, reason, remedy));
        } else if let Some((line, sees)) = by.iter().find(|by| by.1 != flow.src) {
            let reason =
                format!("{} begins as the connection of line {line} ends, which {sees} sees", flow.src);
            faults.push(error(
                flow.line,
                reason,
                "in cnsim a host knows of its own transfers alone: let it follow one of those",
            ));
        }
        flow.after = by.iter().map(|by| by.0).collect();
        flow
    };
    all.into_iter().map(one).collect()
}

/// The connection of a line.
fn connection(
    line: usize,
    words: &[&str],
    hosts: Option<u64>,
    nodes: Option<(u64, usize)>,
) -> Result<Connection, ImportError> {
    let host = |text: &str| -> Result<String, ImportError> {
        let id: u64 = text.parse().map_err(|_| {
            error(line, format!("`{text}` is not the number of a host"), "write for example 0->1")
        })?;
        match (nodes, hosts) {
            (Some((n, at)), _) if id >= n => {
                let reason = format!("host {id}, and line {at} says that there are {n} nodes");
                Err(error(line, reason, format!("hosts are 0 to {}", n.saturating_sub(1))))
            }
            (_, Some(n)) if id >= n => {
                let remedy = format!("hosts are 0 to {}", n.saturating_sub(1));
                Err(error(line, format!("there is no host {id}"), remedy))
            }
            _ => Ok(format!("H{id}")),
        }
    };
    let (src, dst) = words[0].split_once("->").unwrap_or_default();
    let (src, dst) = (host(src)?, host(dst)?);
    let (mut start, mut bytes): (Option<f64>, Option<u64>) = (None, None);
    let (mut starts, mut fires) = (None, Vec::new());
    for (i, name) in words.iter().enumerate().skip(1).step_by(2) {
        match *name {
            "start" => start = Some(super::word(line, words, i + 1, "a start in picoseconds")?),
            "size" => bytes = Some(super::word(line, words, i + 1, "a number of bytes")?),
            "id" | "prio" => {
                let _: u64 = super::word(line, words, i + 1, "a whole number")?;
            }
            "trigger" => starts = Some(super::word(line, words, i + 1, "the number of a trigger")?),
            "send_done_trigger" | "recv_done_trigger" => {
                let id = super::word(line, words, i + 1, "the number of a trigger")?;
                fires.push((id, *name == "recv_done_trigger"));
            }
            other => return Err(error(line, format!("`{other}` is not supported"), CONNECTION)),
        }
    }
    if starts.is_some() && start.is_some_and(|start| start > 0.0) {
        return Err(error(line, "a start beside a trigger", "write one of the two"));
    }
    let (Some(start), Some(bytes)) = (start.or(starts.map(|_: u64| 0.0)), bytes) else {
        return Err(error(line, "start or size is missing", CONNECTION));
    };
    if src == dst {
        return Err(error(line, format!("a connection from {src} to itself"), "name two different hosts"));
    }
    if bytes == 0 {
        let reason = "size 0: a flow without end in htsim, and flows of files end in cnsim";
        return Err(error(line, reason, "write a size, at least 1 byte"));
    }
    if !(0.0..1e17).contains(&start) {
        return Err(error(line, format!("a start at {start} ps"), "write 0 ps to 1e17 ps"));
    }
    let start = Time::from_ps(start.round() as u64);
    let after = Vec::new();
    let flow = FileFlow { line, src, dst, class: 0, port: None, bytes: Bytes::new(bytes), start, after };
    Ok(Connection { flow, starts, fires })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topo(nodes: u64, pod: u64, radix: u64, core: u64) -> String {
        format!(
            "# a tree\nNodes {nodes}\nTiers 3\nPodsize {pod}\n\nTier 0\nOversubscribed 1\nDownlink_speed_Gbps 100\n\
             Radix_Down {radix}\nRadix_Up {radix}\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n\nTier 1\n\
             Downlink_speed_Gbps 100\nRadix_Down {radix}\nRadix_Up {radix}\nDownlink_Latency_ns 1000\nBundle 1\n\nTier 2\n\
             Downlink_speed_Gbps 100\nRadix_Down {core}\nDownlink_Latency_ns 1000\nBundle 1"
        )
    }

    #[test]
    fn a_fat_tree_of_1024() {
        let fabric = topology(&topo(1024, 64, 8, 16)).unwrap();
        assert_eq!((fabric.hosts.len(), fabric.switches.len(), fabric.links.len()), (1024, 320, 3072));
        // Every core switch has one link into each pod.
        let into = |c: &str| fabric.links.iter().filter(|l| l.b == c).count();
        assert!((0..64).all(|c| into(&format!("C{c}")) == 16));
    }

    /// A flow follows those that fire its trigger, where its source sees them end. All else is refused by line.
    #[test]
    fn triggers_are_followed() {
        let text = "Nodes 4\nConnections 4\nTriggers 2\n0->1 id 1 start 5 size 7 send_done_trigger 1\n0->2 id 2 trigger 1 size 8\n\
                    3->0 start 0 size 9 recv_done_trigger 2 send_done_trigger 9\n0->3 trigger 2 size 1\n\
                    trigger id 1 oneshot\ntrigger id 2 barrier count 1\n";
        let good = text.replace(" send_done_trigger 9", "");
        let after = |text: &str| -> Vec<_> {
            flows(text, None).unwrap().flows.into_iter().map(|f| (f.line, f.start.as_ps(), f.after)).collect()
        };
        assert_eq!(after(&good), [(5, 0, vec![4]), (6, 0, vec![]), (7, 0, vec![6]), (4, 5, vec![])]);
        let both = good.replace("count 1", "count 2").replace("size 7", "size 7 send_done_trigger 2");
        assert_eq!(after(&both)[2], (7, 0, vec![4, 6]));
        for (from, to, line, said) in [
            ("", "", 6, "trigger 9 is not described"),
            ("barrier count 1", "barrier count 3", 7, "waits for 3 connections, and 1 fire it"),
            (
                "recv_done_trigger 2",
                "send_done_trigger 2",
                7,
                "H0 begins as the connection of line 6 ends, which H3 sees",
            ),
            ("size 7", "size 7 send_done_trigger 2", 7, "barrier 2 waits for 1 connections, and 2 fire it"),
            ("send_done_trigger 1\n", "\n", 5, "no connection fires trigger 1"),
            ("barrier count 1", "twice", 9, "is no trigger"),
            ("Triggers 2", "Triggers 3", 3, "3 triggers are announced and 2 described"),
            ("0->2 id 2 trigger 1", "0->2 id 2 start 7 trigger 1", 5, "a start beside a trigger"),
        ] {
            let text = if from.is_empty() { text.to_string() } else { good.replace(from, to) };
            let all = flows(&text, None).unwrap_err();
            assert!(all.iter().any(|e| e.line == line && e.reason.contains(said)), "{to}: {all:?}");
        }
    }

    /// Two pods of two switches, with two above each pod, and behind each of these two core switches by two links each.
    #[test]
    fn two_pods_by_hand() {
        let text = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
                    Downlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n\
                    Downlink_Latency_ns 2\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 3\nBundle 2";
        let fabric = topology(text).unwrap();
        let joined =
            |links: &[FabricLink]| links.iter().map(|l| format!("{}{}", l.a, l.b)).collect::<Vec<_>>();
        let (hosts, rest) = fabric.links.split_at(8);
        let (middle, core) = rest.split_at(8);
        assert_eq!(joined(hosts), ["H0T0", "H1T0", "H2T1", "H3T1", "H4T2", "H5T2", "H6T3", "H7T3"]);
        assert_eq!(joined(middle), ["T0A0", "T0A1", "T1A0", "T1A1", "T2A2", "T2A3", "T3A2", "T3A3"]);
        let two = ["A0C0", "A0C1", "A1C2", "A1C3", "A2C0", "A2C1", "A3C2", "A3C3"];
        assert_eq!(joined(core), two.iter().flat_map(|l| [*l; 2]).collect::<Vec<_>>());
        for (links, line, n) in [(hosts, 4, 1), (middle, 9, 2), (core, 14, 3)] {
            let of = (Rate::from_gbps([100.0, 200.0, 400.0][n as usize - 1]), Time::from_ns(n));
            assert!(links.iter().all(|l| (l.line, (l.rate, l.delay)) == (line, of)), "tier {}", n - 1);
        }
        // The radices make no whole number of switches and links.
        for (from, to, line) in [
            ("Bundle 2", "Bundle 1", 14),
            ("Radix_Up 4", "Radix_Up 3", 14),
            ("Nodes 8\nTiers 3\nPodsize 4", "Nodes 8\nTiers 3\nPodsize 3", 1),
            ("Nodes 8\nTiers 3\nPodsize 4", "Nodes 6\nTiers 3\nPodsize 3", 1),
            ("Radix_Down 2\nRadix_Up 4", "Radix_Down 3\nRadix_Up 4", 9),
        ] {
            assert!(text.contains(from));
            let all = topology(&text.replace(from, to)).unwrap_err();
            assert_eq!((all.len(), all[0].line), (1, line), "{to}: {all:?}");
        }
    }

    #[test]
    fn what_is_no_topology_is_refused() {
        assert!(topology("").is_err());
        assert!(topology(&topo(1000, 64, 8, 16)).is_err());
        assert!(topology(&topo(1024, 64, 8, 15)).is_err());
        let good = topo(1024, 64, 8, 16);
        for (from, to) in [
            ("Tiers 3", "Tiers 4"),
            ("Switch_Latency_ns 0", "Switch_Latency_ns 5"),
            ("Podsize", "Podsizes"),
            ("Radix_Up 8", "Radix_Up x"),
            ("Downlink_Latency_ns 1000", "Downlink_Latency_ns 0"),
        ] {
            assert!(topology(&good.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn a_connection_matrix() {
        let fabric = topology(&topo(1024, 64, 8, 16)).unwrap();
        let text = "Nodes 1024\nConnections 2\n3->5 id 1 start 2000000 size 2000\n0->1023 start 0.000000 size 7 prio 2\n";
        let read = flows(text, Some(&fabric)).unwrap().flows;
        assert_eq!((read[0].src.as_str(), read[0].dst.as_str()), ("H0", "H1023"));
        assert_eq!((read[1].start, read[1].bytes), (Time::from_us(2), Bytes::new(2000)));
        for bad in [
            "Nodes 2000", "1->1 start 0 size 5", "1->2000 start 0 size 5", "1->2 trigger 1 size 5",
            "1->2 start 0 size 0", "1->2 start -1 size 5", "1->2 start 0", "x->2 start 0 size 5",
        ] {
            let all = flows(&format!("Nodes 1024\n{bad}\n3->5 start 0 size 2\n"), Some(&fabric)).unwrap_err();
            assert_eq!((all.len(), all[0].line), (1, 2), "{bad}: {all:?}");
        }
        assert!(flows("Nodes 1024\nConnections 3\n3->5 start 0 size 2\n", Some(&fabric)).is_err());
        // A matrix without connections is at fault where it begins; comments are none of it.
        for (text, line) in [("", 1), ("Nodes 4\nTriggers 0\n", 1), ("#\n# 0->1\nNodes 4\nTriggers 0\n", 3)] {
            let none = flows(text, Some(&fabric)).unwrap_err();
            assert_eq!((none.len(), none[0].line), (1, line), "{text}: {none:?}");
            assert!(none[0].reason.contains("no connections"), "{none:?}");
        }
        // The file's own bound counts, all faults are told, and lines beyond a count are named.
        let all = flows(
            "Nodes 4\nConnections 3\n2->7 start 0 size 7\n0->1 size 7\n4->1 start 0 size 1\n",
            Some(&fabric),
        );
        let all = all.unwrap_err();
        assert_eq!(all.iter().map(|e| e.line).collect::<Vec<_>>(), [3, 4, 5]);
        assert!(all[0].reason.contains("line 1 says that there are 4 nodes"), "{}", all[0]);
        let none = flows("Nodes 4\nConnections 0\n0->1 start 0 size 1\n", Some(&fabric)).unwrap_err();
        assert!(none[0].line == 2 && none[0].reason.contains("0 connections"), "{none:?}");
        let some =
            flows("Connections 1\n0->1 start 0 size 1\n\n1->0 start 0 size 1\n1->2 start 0 size 1\n", None);
        let unread = some.unwrap().unread.unwrap();
        assert_eq!(
            unread.to_string(),
            "the file announces 1 connections: line 4 and 1 behind it are not read"
        );
    }
}
