//! Max-min fair rates of greedy flows on fixed paths: the rates under an ideal scheme without signalling.

use cnsim_scenario::topology::Wiring;
use std::collections::VecDeque;

/// Rates in bit/s of flows (source, destination), each on a shortest path, by water-filling: raise all rates together;
/// whoever meets a full link keeps its rate.
pub fn max_min(wiring: &Wiring, flows: &[(usize, usize)]) -> Vec<f64> {
    let paths: Vec<Vec<usize>> = flows.iter().map(|&(a, b)| path(wiring, a, b)).collect();
    let mut room: Vec<f64> = wiring.links.iter().flat_map(|l| [l.rate.bps(); 2]).collect();
    let mut rates = vec![0.0; flows.len()];
    let mut open: Vec<bool> = paths.iter().map(|p| !p.is_empty()).collect();
    while open.iter().any(|o| *o) {
        let users = |link: usize| (0..flows.len()).filter(|f| open[*f] && paths[*f].contains(&link)).count();
        let counts: Vec<usize> = (0..room.len()).map(users).collect();
        let step = room.iter().zip(&counts).filter(|(_, n)| **n > 0).map(|(r, n)| r / *n as f64);
        let step = step.fold(f64::INFINITY, f64::min);
        for (r, n) in room.iter_mut().zip(&counts) {
            *r -= step * *n as f64;
        }
        for f in 0..flows.len() {
            if open[f] {
                rates[f] += step;
                open[f] = !paths[f].iter().any(|l| room[*l] <= 1.0);
            }
        }
    }
    rates
}

/// Directed links (twice the link's index, one more for the way back) of a shortest path between two hosts.
fn path(wiring: &Wiring, from: usize, to: usize) -> Vec<usize> {
    let nodes = wiring.hosts.len() + wiring.switches.len();
    let mut came: Vec<Option<(usize, usize)>> = vec![None; nodes];
    let mut queue = VecDeque::from([from]);
    while let Some(n) = queue.pop_front() {
        for (i, l) in wiring.links.iter().enumerate() {
            for (way, (a, b)) in [(l.a, l.b), (l.b, l.a)].into_iter().enumerate() {
                let next = b.0.0 as usize;
                if a.0.0 as usize == n && next != from && came[next].is_none() {
                    came[next] = Some((n, 2 * i + way));
                    if next >= wiring.hosts.len() {
                        queue.push_back(next);
                    }
                }
            }
        }
    }
    let mut links = Vec::new();
    let mut at = to;
    while at != from {
        let Some((before, link)) = came[at] else { return Vec::new() };
        links.push(link);
        at = before;
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scenario::Scenario;

    /// A path's links lead from one host to the other, end to end: by two links within a leaf, and by four over the spine.
    #[test]
    fn a_path_is_links_end_to_end() {
        let text =
            "name = \"t\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nper_switch = 2\n";
        let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
        let wiring = scenario.ready(&scenario.cases()[0]).unwrap().settings.wiring;
        for (from, to, hops) in [(0, 1, 2), (1, 0, 2), (0, 3, 4), (3, 0, 4)] {
            let mut links = path(&wiring, from, to);
            links.reverse();
            let end = links.iter().try_fold(from as u32, |at, link| {
                let l = &wiring.links[link / 2];
                let (a, b) = if link % 2 == 0 { (l.a.0.0, l.b.0.0) } else { (l.b.0.0, l.a.0.0) };
                (a == at).then_some(b)
            });
            assert_eq!((end, links.len()), (Some(to as u32), hops), "{from} to {to}");
        }
    }
}
