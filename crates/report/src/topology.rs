//! The network as a drawing: hosts below, switches above them by their distance, the congested port marked.

use crate::html::{distinct, esc};
use crate::model::{Hot, Link, Topology};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

/// More hosts than this are drawn together, by switch.
const MANY: usize = 96;
/// Most layers of a drawing.
const LAYERS: u32 = 63;

/// A drawing with its caption.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) svg: String,
    pub(crate) width: f64,
    pub(crate) caption: String,
}

/// A drawn node; it may stand for several hosts.
struct Spot {
    name: String,
    switch: bool,
    layer: usize,
    hosts: usize,
}

/// A drawn link: ends, rate and delay, hot end, its ports, and how many before it have the same ends.
struct Wire<'a> {
    a: usize,
    b: usize,
    about: String,
    hot: Hot,
    ports: &'a [String; 2],
    nth: usize,
}

/// Content of the drawing.
struct Net<'a> {
    spots: Vec<Spot>,
    wires: Vec<Wire<'a>>,
}

impl Net<'_> {
    /// Neighbours of a node.
    fn near(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.wires.iter().filter_map(move |w| if w.a == i { Some(w.b) } else { (w.b == i).then_some(w.a) })
    }
}

/// The class of a port's half of its link, on a map.
type Level<'a> = &'a dyn Fn(&str) -> &'static str;

/// Draws a network; `None` for an empty one.
pub(crate) fn draw(t: &Topology) -> Option<Drawing> {
    drawn(t, None)
}

/// Draws it as a map: every host stands alone, and each half of a link is the port's at its end, with this class.
pub(crate) fn map(t: &Topology, level: Level<'_>) -> Option<Drawing> {
    drawn(t, Some(level))
}

fn drawn(t: &Topology, level: Option<Level<'_>>) -> Option<Drawing> {
    if t.nodes.is_empty() {
        return None;
    }
    let net = gather(t, level.is_none());
    let rows = order(&net);
    let most = rows.iter().map(Vec::len).max().unwrap_or(1);
    let (step, small) = match most {
        0..=16 => (46.0, false),
        17..=40 => (26.0, true),
        _ if level.is_some() => ((1160.0 / most as f64).clamp(1.2, 17.0), true),
        _ => (17.0, true),
    };
    let width = (most as f64 * step + 40.0).max(420.0);
    let rise = if rows.len() > 2 && most > 24 { 104.0 } else { 92.0 };
    // Room for links that arch over their row.
    let arches = net.wires.iter().any(|w| net.spots[w.a].layer == net.spots[w.b].layer);
    // A map says above it what it shows.
    let above = if arches { 64.0 } else { 26.0 } + if level.is_some() { 22.0 } else { 0.0 };
    let height = rise * (rows.len() as f64 - 1.0) + above + 26.0;
    let x = places(&net, &rows, width);
    let y = |n: usize| above + rise * (rows.len() - 1 - net.spots[n].layer) as f64;
    let mut svg = format!(
        "<svg class=\"topology\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px;min-width:{:.0}px\" role=\"img\" aria-label=\"{}\">",
        if small { 0.62 * width } else { 0.0 },
        esc(&format!("network of {} nodes and {} links", t.nodes.len(), t.links.len()))
    );
    match level {
        None => wires(&net, &rows, &|n| (x[n], y(n)), &mut svg),
        Some(level) => halves(&net, &|n| (x[n], y(n)), level, &mut svg),
    }
    for (i, s) in net.spots.iter().enumerate() {
        spot(s, (x[i], y(i)), small.then_some(0.42 * step), &mut svg);
        // A small node of a map has its name beside it, where there is room.
        let room = if s.switch { width / rows[s.layer].len() as f64 } else { step };
        if level.is_some() && small && 7.0 * s.name.chars().count() as f64 <= room {
            let (x, y) = (x[i], if s.layer == 0 { y(i) + 18.0 } else { y(i) - 10.0 });
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", esc(&s.name));
        }
    }
    svg.push_str("</svg>");
    Some(Drawing { svg, width, caption: caption(t) })
}

/// A node; of a `small` one, its host is at most so large.
fn spot(s: &Spot, (x, y): (f64, f64), small: Option<f64>, svg: &mut String) {
    let (radius, small) = (small.unwrap_or(15.0), small.is_some());
    let label = match s.hosts {
        0 | 1 => s.name.clone(),
        all if s.name.contains('#') => format!("{all} NICs"),
        all => format!("{all} hosts"),
    };
    let _ = write!(svg, "<g><title>{}</title>", esc(&label));
    let boxed = s.switch || s.hosts > 1;
    if boxed {
        let half = if small { 6.5 } else { (label.chars().count() as f64 * 3.5 + 11.0).max(20.0) };
        let tall = if small { 6.5 } else { 14.0 };
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" class=\"{}\"/>",
            x - half,
            y - tall,
            2.0 * half,
            2.0 * tall,
            if s.switch { "switch" } else { "host" }
        );
    } else {
        let r = if small { radius.min(4.5) } else { radius };
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" class=\"host\"/>");
    }
    if !small && (boxed || label.chars().count() <= 4) {
        let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 4.0, esc(&label));
    }
    svg.push_str("</g>");
}

fn caption(t: &Topology) -> String {
    if !t.caption.is_empty() {
        return t.caption.clone();
    }
    let hosts = t.nodes.iter().filter(|n| !n.switch).count();
    let switches = t.nodes.len() - hosts;
    let rates = distinct(t.links.iter().map(|l| l.rate.as_str()).filter(|r| !r.is_empty()));
    let count = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let mut text = format!("{}, {}", count(hosts, "host", "hosts"), count(switches, "switch", "switches"));
    if !rates.is_empty() {
        text += &format!(", links of {}", rates.join(", "));
    }
    text
}

/// Links between different nodes that exist.
fn real(t: &Topology) -> impl Iterator<Item = &Link> {
    t.links.iter().filter(|l| l.a < t.nodes.len() && l.b < t.nodes.len() && l.a != l.b)
}

/// Layers: as given, or the distance from the hosts.
fn layers(t: &Topology, near: &[Vec<usize>]) -> Vec<usize> {
    let mut layer: Vec<Option<usize>> = t.nodes.iter().map(|x| (!x.switch).then_some(0)).collect();
    let mut queue: VecDeque<usize> = (0..layer.len()).filter(|&i| layer[i].is_some()).collect();
    while let Some(i) = queue.pop_front() {
        for &j in &near[i] {
            if layer[j].is_none() {
                layer[j] = layer[i].map(|l| l + 1);
                queue.push_back(j);
            }
        }
    }
    let given = |i: usize| t.nodes[i].layer.map(|l| l.min(LAYERS) as usize);
    (0..layer.len()).map(|i| given(i).or(layer[i]).unwrap_or(1)).collect()
}

/// Nodes with their layers; hosts of one switch as one node where there are too many and they may stand together.
fn gather(t: &Topology, may_join: bool) -> Net<'_> {
    let n = t.nodes.len();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut hot = vec![false; n];
    for l in real(t) {
        near[l.a].push(l.b);
        near[l.b].push(l.a);
        for end in [l.a, l.b] {
            hot[end] |= l.hot != Hot::No;
        }
    }
    let layer = layers(t, &near);
    let many = may_join && t.nodes.iter().filter(|x| !x.switch).count() > MANY;
    let mut alike: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut net = Net { spots: Vec::new(), wires: Vec::new() };
    let mut stands: Vec<usize> = vec![0; n];
    let mut together: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, node) in t.nodes.iter().enumerate() {
        if many && !node.switch && near[i].len() == 1 && !hot[i] {
            if let Some(&at) = together.get(&near[i][0]) {
                stands[i] = at;
                net.spots[at].hosts += 1;
                continue;
            }
            together.insert(near[i][0], net.spots.len());
        }
        stands[i] = net.spots.len();
        let hosts = usize::from(!node.switch);
        net.spots.push(Spot { name: node.name.clone(), switch: node.switch, layer: layer[i], hosts });
    }
    // No empty rows.
    let mut used: Vec<usize> = net.spots.iter().map(|x| x.layer).collect();
    used.sort_unstable();
    used.dedup();
    for x in &mut net.spots {
        x.layer = used.iter().position(|l| *l == x.layer).unwrap_or(0);
    }
    let mut seen = vec![false; net.spots.len()];
    for l in real(t) {
        let (a, b) = (stands[l.a], stands[l.b]);
        if let Some(group) = [a, b].into_iter().find(|&x| net.spots[x].hosts > 1) {
            if seen[group] {
                continue;
            }
            seen[group] = true;
        }
        let parts: Vec<&str> =
            [l.rate.as_str(), l.delay.as_str()].into_iter().filter(|x| !x.is_empty()).collect();
        let before = alike.entry((a.min(b), a.max(b))).or_default();
        net.wires.push(Wire { a, b, about: parts.join(", "), hot: l.hot, ports: &l.ports, nth: *before });
        *before += 1;
    }
    net
}

/// Nodes of each row from left to right: below those above them.
fn order(net: &Net<'_>) -> Vec<Vec<usize>> {
    let height = net.spots.iter().map(|n| n.layer).max().unwrap_or(0) + 1;
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); height];
    for (i, n) in net.spots.iter().enumerate() {
        rows[n.layer].push(i);
    }
    let mut place: Vec<f64> = vec![0.5; net.spots.len()];
    for r in (0..height).rev() {
        let mean = |i: usize| mean(net.near(i).filter(|&j| net.spots[j].layer > r).map(|j| place[j]));
        let mut keyed: Vec<(f64, usize)> = rows[r].iter().map(|&i| (mean(i).unwrap_or(0.5), i)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        rows[r] = keyed.into_iter().map(|k| k.1).collect();
        let n = rows[r].len() as f64;
        for (k, &i) in rows[r].iter().enumerate() {
            place[i] = (k as f64 + 0.5) / n;
        }
    }
    rows
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Horizontal places: the lowest row evenly, those above over the middle of what hangs below, if that leaves room.
fn places(net: &Net<'_>, rows: &[Vec<usize>], width: f64) -> Vec<f64> {
    let mut x = vec![width / 2.0; net.spots.len()];
    for (r, row) in rows.iter().enumerate() {
        let even = |k: usize| 20.0 + (k as f64 + 0.5) * (width - 40.0) / row.len() as f64;
        let want: Vec<f64> = row
            .iter()
            .enumerate()
            .map(|(k, &i)| {
                mean(net.near(i).filter(|&j| net.spots[j].layer < r).map(|j| x[j])).unwrap_or_else(|| even(k))
            })
            .collect();
        let room = (0.55 * (width - 40.0) / row.len() as f64).max(30.0);
        let crowded = r == 0 || want.windows(2).any(|w| w[1] - w[0] < room);
        for (k, &i) in row.iter().enumerate() {
            x[i] = if crowded { even(k) } else { want[k] };
        }
    }
    x
}

/// The links of a map, in two halves. Links beside each other in a row arch, and parallel ones bow out in turns.
fn halves(net: &Net<'_>, at: &dyn Fn(usize) -> (f64, f64), level: Level<'_>, svg: &mut String) {
    svg.push_str("<text class=\"when\" x=\"6\" y=\"13\"></text>");
    for w in &net.wires {
        let ((x1, y1), (x2, y2)) = (at(w.a), at(w.b));
        let (dx, dy) = (x2 - x1, y2 - y1);
        let arch = if net.spots[w.a].layer == net.spots[w.b].layer {
            (30.0 + 0.1 * dx.abs()).min(112.0)
        } else {
            0.0
        };
        let side = if w.nth.is_multiple_of(2) { 1.0 } else { -1.0 };
        let bow = side * 22.0 * w.nth.div_ceil(2) as f64 / (dx * dx + dy * dy).sqrt().max(1.0);
        let (cx, cy) = ((x1 + x2) / 2.0 - dy * bow, (y1 + y2) / 2.0 + dx * bow - arch);
        let (mx, my) = ((x1 + 2.0 * cx + x2) / 4.0, (y1 + 2.0 * cy + y2) / 4.0);
        for (port, (x, y)) in w.ports.iter().zip([(x1, y1), (x2, y2)]) {
            let (qx, qy) = (f64::midpoint(x, cx), f64::midpoint(y, cy));
            let _ = write!(
                svg,
                "<path class=\"w {}\" data-port=\"{}\" d=\"M{x:.1} {y:.1}Q{qx:.1} {qy:.1} {mx:.1} {my:.1}\"/>",
                level(port),
                esc(port)
            );
        }
    }
}

fn wires(net: &Net<'_>, rows: &[Vec<usize>], at: &dyn Fn(usize) -> (f64, f64), svg: &mut String) {
    let mut column = vec![0_usize; net.spots.len()];
    for row in rows {
        for (k, &i) in row.iter().enumerate() {
            column[i] = k;
        }
    }
    let mut usual: BTreeMap<&str, usize> = BTreeMap::new();
    for w in &net.wires {
        *usual.entry(w.about.as_str()).or_default() += 1;
    }
    let most = usual.iter().max_by_key(|(_, n)| **n).map_or("", |(r, _)| *r);
    let odd = net.wires.iter().filter(|w| w.about != most).count();
    let right = (0..net.spots.len()).map(|i| at(i).0).fold(0.0, f64::max);
    let (mut plain, mut hot) = (String::new(), String::new());
    for w in &net.wires {
        let ((x1, y1), (x2, y2)) = (at(w.a), at(w.b));
        let beside = net.spots[w.a].layer == net.spots[w.b].layer;
        let arch = beside && column[w.a].abs_diff(column[w.b]) > 1;
        let lift = if arch { (30.0 + 0.05 * (x2 - x1).abs()).min(56.0) } else { 0.0 };
        let d = if arch {
            format!("M{x1:.1} {y1:.1}Q{:.1} {:.1} {x2:.1} {y2:.1}", (x1 + x2) / 2.0, y1 - 2.0 * lift)
        } else {
            format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}")
        };
        let title = format!("{} to {}: {}", net.spots[w.a].name, net.spots[w.b].name, w.about);
        let out = if w.hot == Hot::No { &mut plain } else { &mut hot };
        let _ = write!(
            out,
            "<path d=\"{d}\" class=\"wire{}\"><title>{}</title></path>",
            if w.hot == Hot::No { "" } else { " hot" },
            esc(&title)
        );
        if w.about != most && odd <= 12 && !w.about.is_empty() {
            let (x, y) = ((x1 + x2) / 2.0, (y1 + y2) / 2.0 - lift);
            let _ = write!(
                out,
                "<text class=\"rate\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y - 4.0,
                esc(&w.about)
            );
        }
        if w.hot != Hot::No {
            let (from, to) = if w.hot == Hot::A { ((x1, y1), (x2, y2)) } else { ((x2, y2), (x1, y1)) };
            hot_port(from, to, lift, right, &mut hot);
        }
    }
    // The hot ones on top.
    svg.push_str(&plain);
    svg.push_str(&hot);
}

/// An arrow in the middle of the link, pointing the way of the congested port's frames.
fn hot_port((x1, y1): (f64, f64), (x2, y2): (f64, f64), lift: f64, right: f64, out: &mut String) {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let (x, y) = (x1 + dx * 0.5, y1 + dy * 0.5 - lift);
    let (bx, by) = (x - 7.0 * ux, y - 7.0 * uy);
    let _ = write!(
        out,
        "<path class=\"arrow\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/>",
        x + 7.0 * ux,
        y + 7.0 * uy,
        bx - 6.0 * uy,
        by + 6.0 * ux,
        bx + 6.0 * uy,
        by - 6.0 * ux
    );
    // Beside a steep link, above a flat one, and inside the drawing.
    let left = if dx < 0.0 { x > 80.0 } else { x > right - 50.0 };
    let (anchor, tx, ty) = if ux.abs() > 0.9 {
        ("middle", x, y - 12.0)
    } else if left {
        ("end", x - 12.0, y)
    } else {
        ("start", x + 12.0, y)
    };
    let _ = write!(
        out,
        "<text class=\"hotlabel\" style=\"text-anchor:{anchor}\" x=\"{tx:.1}\" y=\"{:.1}\">hot port</text>",
        ty + 4.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Node;

    fn host(i: usize) -> Node {
        Node { name: format!("H{i}"), ..Node::default() }
    }

    fn switch(name: &str) -> Node {
        Node { name: name.into(), switch: true, layer: None }
    }

    #[test]
    fn a_star_has_all_its_parts() {
        let mut nodes: Vec<Node> = (0..10).map(host).collect();
        nodes.push(switch("S<1>"));
        let link = |b| Link { a: 10, b, hot: if b == 1 { Hot::A } else { Hot::No }, ..Link::default() };
        let t = Topology { nodes, links: (0..10).map(link).collect(), ..Topology::default() };
        let d = draw(&t).unwrap();
        assert_eq!(d.svg.matches("<circle").count(), 10);
        assert_eq!(d.svg.matches("<rect").count(), 1);
        assert_eq!(d.svg.matches("wire hot").count(), 1);
        assert!(d.svg.contains("S&lt;1&gt;") && !d.svg.contains("S<1>"));
        assert_eq!(d.caption, "10 hosts, 1 switch");
    }

    /// The label of a hot port at the edge stays inside.
    #[test]
    fn labels_stay_inside() {
        for hot in [0, 59] {
            let mut nodes: Vec<Node> = (0..60).map(host).collect();
            nodes.extend((0..2).map(|i| switch(&format!("S{i}"))));
            let link = |a: usize| Link {
                a,
                b: 60 + a / 30,
                hot: if a == hot { Hot::B } else { Hot::No },
                ..Link::default()
            };
            let links = (0..60).map(link).collect();
            let d = draw(&Topology { nodes, links, ..Topology::default() }).unwrap();
            let label = d.svg.split("class=\"hotlabel\"").nth(1).unwrap();
            let x: f64 = label.split(" x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            let (from, to) = if label.contains("anchor:end") { (x - 55.0, x) } else { (x, x + 55.0) };
            assert!(from > 0.0 && to < d.width, "{hot}: {from} to {to} of {}", d.width);
        }
    }

    #[test]
    fn a_thousand_hosts_stand_together() {
        let mut nodes: Vec<Node> = (0..1024).map(host).collect();
        nodes.extend((0..64).map(|i| switch(&format!("E{i}"))));
        let links = (0..1024).map(|a| Link { a, b: 1024 + a / 16, ..Link::default() }).collect();
        let mut t = Topology { nodes, links, ..Topology::default() };
        let d = draw(&t).unwrap();
        assert!(d.svg.matches("<rect").count() == 128 && d.svg.len() < 60_000, "{}", d.svg.len());
        assert_eq!(d.svg.matches("<title>16 hosts</title>").count(), 64);
        // NICs of hosts are no hosts.
        t.nodes[..1024].iter_mut().for_each(|n| n.name += "#1");
        let d = draw(&t).unwrap();
        assert_eq!(d.svg.matches("<title>16 NICs</title>").count(), 64);
    }

    #[test]
    fn odd_input_is_no_panic() {
        assert!(draw(&Topology::default()).is_none());
        let links = vec![Link { a: 0, b: 99, ..Link::default() }, Link { a: 0, b: 0, ..Link::default() }];
        let lonely = Node { layer: Some(u32::MAX), ..switch("x") };
        assert!(draw(&Topology { nodes: vec![lonely], links, ..Topology::default() }).is_some());
    }
}
