//! Networks as text: a tree where they are one, a line for chains and rings, layers for everything else.

use cnsim_report::build::{caption, hot_ports};
use cnsim_scenario::Ready;
use cnsim_scenario::topology::Wiring;
use cnsim_scheme_api::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// Width of a drawing, columns.
const WIDTH: usize = 78;
/// Most switches that are drawn one by one.
const MANY: usize = 40;

/// The network of a case, drawn; the congested ports are marked.
pub(crate) fn network(ready: &Ready) -> String {
    let hot = hot_ports(ready);
    let wiring = &ready.settings.wiring;
    let net = Net::of(wiring, &hot);
    let switches = wiring.switches.len();
    let mut out = if net.path().is_some() && switches > 3 {
        net.line()
    } else if wiring.links.len() + 1 == net.near.len() && switches <= MANY {
        net.tree()
    } else {
        net.layers()
    };
    let names: Vec<String> = hot.iter().take(8).map(|p| wiring.port_name(*p)).collect();
    if !names.is_empty() {
        let more = if hot.len() > 8 { format!(" and {} more", hot.len() - 8) } else { String::new() };
        let port = if hot.len() == 1 { "hot port" } else { "hot ports" };
        let _ = writeln!(out, "* behind the {port} {}{more}", names.join(", "));
    }
    let _ = writeln!(out, "{}", caption(ready));
    out
}

/// A network as neighbours.
struct Net<'a> {
    wiring: &'a Wiring,
    hosts: usize,
    near: Vec<Vec<usize>>,
    /// Hosts and switches behind a hot port.
    hot: BTreeSet<usize>,
    /// Links that differ from most: rate and delay, by ends.
    odd: BTreeMap<(usize, usize), String>,
}

impl<'a> Net<'a> {
    fn of(wiring: &'a Wiring, ports: &BTreeSet<(NodeId, u16)>) -> Self {
        let hosts = wiring.hosts.len();
        let mut near = vec![Vec::new(); hosts + wiring.switches.len()];
        let (mut hot, mut usual) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
        let about = |l: &cnsim_fabric::LinkSpec| format!("{}, {}", l.rate, l.delay);
        for l in &wiring.links {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            near[a].push(b);
            near[b].push(a);
            if ports.contains(&l.a) {
                hot.insert(b);
            }
            if ports.contains(&l.b) {
                hot.insert(a);
            }
            *usual.entry(about(l)).or_default() += 1;
        }
        let most = usual.into_iter().max_by_key(|u| u.1).map(|u| u.0).unwrap_or_default();
        let mut odd = BTreeMap::new();
        for l in wiring.links.iter().filter(|l| about(l) != most) {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            odd.insert((a.min(b), a.max(b)), about(l));
        }
        Self { wiring, hosts, near, hot, odd }
    }

    fn name(&self, n: usize) -> String {
        let mark = if self.hot.contains(&n) { "*" } else { "" };
        format!("{}{mark}", self.wiring.name(NodeId(n as u32)))
    }

    fn switches(&self, n: usize) -> Vec<usize> {
        self.near[n].iter().copied().filter(|&m| m >= self.hosts).collect()
    }

    /// Hosts at a switch, those with the same odd link together.
    fn hosts_at(&self, n: usize) -> String {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for &h in self.near[n].iter().filter(|&&m| m < self.hosts) {
            let about = self.odd.get(&(h.min(n), h.max(n))).map_or("", String::as_str);
            match groups.last_mut() {
                Some(g) if g.0 == about => g.1.push(self.name(h)),
                _ => groups.push((about, vec![self.name(h)])),
            }
        }
        let shown = |(about, names): &(&str, Vec<String>)| match *about {
            "" => ranges(names),
            about => format!("{} ({about})", ranges(names)),
        };
        groups.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// Distance of each node from the hosts.
    fn levels(&self) -> Vec<usize> {
        let mut level: Vec<Option<usize>> =
            (0..self.near.len()).map(|n| (n < self.hosts).then_some(0)).collect();
        let mut queue: VecDeque<usize> = (0..self.hosts).collect();
        while let Some(n) = queue.pop_front() {
            for &m in &self.near[n] {
                if level[m].is_none() {
                    level[m] = level[n].map(|l| l + 1);
                    queue.push_back(m);
                }
            }
        }
        level.into_iter().map(|l| l.unwrap_or(1)).collect()
    }

    /// From the switch farthest from the hosts down.
    fn tree(&self) -> String {
        let level = self.levels();
        let switches = self.hosts..self.near.len();
        let root = switches.rev().max_by_key(|&n| (level[n], self.switches(n).len())).unwrap_or(0);
        let mut out = String::new();
        self.branch(root, None, "", "", &mut out);
        out
    }

    fn branch(&self, n: usize, from: Option<usize>, lead: &str, below: &str, out: &mut String) {
        let odd = from.and_then(|f| self.odd.get(&(f.min(n), f.max(n))));
        let odd = odd.map_or_else(String::new, |o| format!(" ({o})"));
        let hosts = self.hosts_at(n);
        let tail = if hosts.is_empty() { String::new() } else { format!(" ── {hosts}") };
        let _ = writeln!(out, "{lead}[{}]{odd}{tail}", self.name(n));
        let next: Vec<usize> = self.switches(n).into_iter().filter(|m| Some(*m) != from).collect();
        for (i, m) in next.iter().enumerate() {
            let (arm, cover) =
                if i + 1 == next.len() { ("└── ", "    ") } else { ("├── ", "│   ") };
            self.branch(*m, Some(n), &format!("{below}{arm}"), &format!("{below}{cover}"), out);
        }
    }

    /// The switches in their order, if they stand in a line or a ring.
    fn path(&self) -> Option<Vec<usize>> {
        let all: Vec<usize> = (self.hosts..self.near.len()).collect();
        if all.iter().any(|&n| self.switches(n).len() > 2) {
            return None;
        }
        let start = *all.iter().find(|&&n| self.switches(n).len() == 1).or(all.first())?;
        let mut order = vec![start];
        while let Some(&last) = order.last() {
            match self.switches(last).into_iter().find(|m| !order.contains(m)) {
                Some(m) => order.push(m),
                None => break,
            }
        }
        (order.len() == all.len()).then_some(order)
    }

    fn line(&self) -> String {
        let order = self.path().unwrap_or_default();
        let (mut out, mut row) = (String::new(), String::new());
        for (i, &n) in order.iter().enumerate() {
            let odd = i.checked_sub(1).and_then(|b| self.odd.get(&(order[b].min(n), order[b].max(n))));
            let join = match (i, odd) {
                (0, _) => String::new(),
                (_, Some(o)) => format!(" ─({o})─ "),
                _ => " ── ".into(),
            };
            let hosts = self.hosts_at(n);
            let hosts = if hosts.is_empty() { String::new() } else { format!(": {hosts}") };
            let part = format!("{join}[{}{hosts}]", self.name(n));
            if row.chars().count() + part.chars().count() > WIDTH {
                let _ = writeln!(out, "{row}");
                row = " ".into();
            }
            row += &part;
        }
        let ring = order.len() > 2 && order.last().is_some_and(|l| self.near[*l].contains(&order[0]));
        if ring {
            row += &format!(" ── back to [{}]", self.name(order[0]));
        }
        let _ = writeln!(out, "{row}");
        out
    }

    /// A line for each distance from the hosts.
    fn layers(&self) -> String {
        let level = self.levels();
        let top = level.iter().copied().max().unwrap_or(0);
        let mut out = String::new();
        for l in (0..=top).rev() {
            let here: Vec<usize> = (0..self.near.len()).filter(|&n| level[n] == l).collect();
            let names: Vec<String> = here.iter().map(|&n| self.name(n)).collect();
            let down: Vec<usize> =
                here.iter().map(|&n| self.near[n].iter().filter(|&&m| level[m] < l).count()).collect();
            let beside = here.iter().any(|&n| self.near[n].iter().any(|&m| level[m] == l));
            let span = |v: &[usize]| match (v.iter().min(), v.iter().max()) {
                (Some(a), Some(b)) if a != b => format!("{a} to {b}"),
                (_, Some(b)) => b.to_string(),
                _ => "0".into(),
            };
            let label = if l == 0 { "hosts" } else { "switches" };
            let _ = write!(out, "{:4} {label:8}  {}", here.len(), clipped(&ranges(&names)));
            if beside {
                let _ = write!(out, "; joined to one another");
            }
            let _ = writeln!(out);
            if l > 0 {
                let _ = writeln!(out, "{:15}│ {} links down from each", "", span(&down));
            }
        }
        out
    }
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= WIDTH - 20 {
        return text.into();
    }
    format!("{} ...", text.chars().take(WIDTH - 24).collect::<String>())
}

/// Names in short: `H0..H9 H12`.
pub(crate) fn ranges(names: &[String]) -> String {
    let parts = |name: &str| -> Option<(String, u64, String)> {
        let last = name.rfind(|c: char| c.is_ascii_digit())?;
        let head = &name[..=last];
        let first = head
            .rfind(|c: char| !c.is_ascii_digit())
            .map_or(0, |i| i + head[i..].chars().next().map_or(1, char::len_utf8));
        Some((head[..first].into(), head[first..].parse().ok()?, name[last + 1..].into()))
    };
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for i in 0..names.len() {
        let follows = runs.last().is_some_and(|&(_, end)| match (parts(&names[end]), parts(&names[i])) {
            (Some(a), Some(b)) => a.0 == b.0 && a.2 == b.2 && a.1 + 1 == b.1,
            _ => false,
        });
        match runs.last_mut() {
            Some(run) if follows => run.1 = i,
            _ => runs.push((i, i)),
        }
    }
    let shown = |(a, b): &(usize, usize)| match b - a {
        0 => names[*a].clone(),
        1 => format!("{} {}", names[*a], names[*b]),
        _ => format!("{}..{}", names[*a], names[*b]),
    };
    runs.iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scenario::Scenario;

    fn drawn(topology: &str) -> String {
        let text =
            format!("study = \"t\"\nname = \"t\"\n[topology]\n{topology}\n[matrix]\nschemes = [\"none\"]\n");
        let s = Scenario::parse("t", &text, &[]).unwrap();
        network(&s.ready(&s.cases()[0]).unwrap())
    }

    #[test]
    fn every_kind_is_drawn() {
        let star = drawn("hosts = 10");
        assert!(star.starts_with("[S] ── H0..H9\n"), "{star}");
        let core = drawn("kind = \"core-edge\"\nedges = [3, 2]\nfirst = 1");
        assert!(core.starts_with("[X]\n├── [E1] ── H1..H3\n└── [E2] ── H4 H5\n"), "{core}");
        let chain = drawn("kind = \"chain\"\nswitches = 18\nper_switch = 3");
        assert!(chain.starts_with("[S0: H0..H2] ── [S1: H3..H5] ── "), "{chain}");
        assert!(chain.lines().all(|l| l.chars().count() <= WIDTH + 1), "{chain}");
        let ring = drawn("kind = \"ring\"\nswitches = 4\nper_switch = 1");
        assert!(ring.contains("[S3: H3] ── back to [S0]"), "{ring}");
        let lot = drawn("kind = \"parking-lot\"\nstages = 2\nlong = 2\nfirst = 1");
        assert!(lot.contains("└── [S3]") && lot.contains("[E1] ── H1 H2"), "{lot}");
        let fat = drawn("kind = \"fat-tree\"\nk = 4");
        assert!(fat.contains("   4 switches  C0..C3") && fat.contains("  16 hosts     H0..H15"), "{fat}");
        let tree = drawn("kind = \"k-ary-n-tree\"\nk = 4\nn = 3");
        assert!(tree.contains("  16 switches  <2;0>..<2;15>"), "{tree}");
        let odd = drawn(
            "kind = \"graph\"\nnodes = [\"A 4\", \"B 4\"]\nlinks = [\"H1 A\", \"H2 A\", \"A B 1 Gb/s 5 us\", \"H3 B\"]",
        );
        assert!(
            odd.contains("[B] (1 Gb/s, 5 us) ── H3") || odd.contains("[A] (1 Gb/s, 5 us) ── H1 H2"),
            "{odd}"
        );
    }

    #[test]
    fn names_in_short() {
        let names = |list: &[&str]| ranges(&list.iter().map(|n| (*n).to_string()).collect::<Vec<_>>());
        assert_eq!(
            names(&["H1", "H2", "H3", "H5", "X", "<0;1>", "<0;2>", "<0;3>"]),
            "H1..H3 H5 X <0;1>..<0;3>"
        );
        assert_eq!(names(&["H1", "H2*", "H3"]), "H1 H2* H3");
    }
}
