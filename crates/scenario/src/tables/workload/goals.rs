//! Destinations of the hosts of a table of traffic.

use super::Traffic;
use crate::language::reader::{List, Reader};
use crate::wiring::Wiring;
use cnsim_fabric::Destinations;
use cnsim_scheme_api::NodeId;
use std::sync::Arc;

/// Destinations that lists of hosts may name, those of all sources together.
const MAX_NAMED: usize = 20_000_000;

/// Where the hosts of a table send.
pub(super) enum Goals {
    /// Nothing is drawn: transfers name their own.
    Own,
    /// To all hosts alike.
    Uniform,
    /// To where a permutation, drawn by the seed, sends them.
    Permutation(Arc<Vec<usize>>),
    /// To the host so many further on.
    Further(usize),
    /// To one of these.
    Named(Vec<usize>),
}

impl Goals {
    pub(super) fn read(
        r: &mut Reader<'_>,
        list: List,
        kind: Traffic,
        hosts: &Arc<Vec<usize>>,
        wiring: &Wiring,
    ) -> Self {
        let own = |one: &str| one == "permutation" || one.starts_with('+');
        let poisson = kind == Traffic::Poisson && matches!(&list.items[..], [one] if own(one));
        if kind.is_finite() && !poisson {
            return Self::Own;
        }
        match &list.items[..] {
            [one] if one == "uniform" => Self::Uniform,
            [one] if one == "permutation" => {
                if hosts.len() < 2 {
                    r.wrong(&list.key, "one host alone makes no permutation", "name at least two hosts");
                }
                Self::Permutation(hosts.clone())
            }
            [one] if one.starts_with('+') => match one[1..].parse::<usize>() {
                Ok(n) if n > 0 => Self::Further(n),
                _ => {
                    r.wrong(&list.key, format!("`{one}` is not a distance"), "write for example \"+3\"");
                    Self::Own
                }
            },
            _ => {
                let named = r.machines(&list, wiring);
                let mut once = named.clone();
                once.sort_unstable();
                once.dedup();
                if once.len() < named.len() {
                    r.wrong(&list.key, "names a host twice", "name each host once");
                }
                if named.len().saturating_mul(hosts.len()) > MAX_NAMED {
                    let reason =
                        format!("{} destinations of each of {} hosts are too many", named.len(), hosts.len());
                    r.wrong(&list.key, reason, "use \"uniform\", or name fewer hosts");
                    return Self::Own;
                }
                Self::Named(named)
            }
        }
    }

    /// Destinations of a host, and the permutation that decides; none if the host has nobody to send to.
    pub(super) fn of(&self, host: usize, wiring: &Wiring) -> Option<(Destinations, Option<Arc<Vec<usize>>>)> {
        let fixed = |n: usize| Some((Destinations::Fixed(NodeId(n as u32)), None));
        match self {
            Self::Own | Self::Uniform => Some((Destinations::Uniform, None)),
            Self::Permutation(hosts) => Some((Destinations::Among(Vec::new()), Some(hosts.clone()))),
            Self::Further(n) if wiring.machines.is_none() => {
                fixed(host.checked_add(*n).filter(|to| *to < wiring.hosts.len())?)
            }
            Self::Further(n) => fixed(wiring.all_machines().skip_while(|h| *h < host).nth(*n)?),
            Self::Named(ids) => {
                let others: Vec<NodeId> =
                    ids.iter().filter(|n| **n != host).map(|n| NodeId(*n as u32)).collect();
                match others[..] {
                    [] => None,
                    [one] => fixed(one.0 as usize),
                    _ => Some((Destinations::Among(others), None)),
                }
            }
        }
    }
}
