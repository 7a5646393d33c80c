//! Hosts, ports and pairs of hosts by their names, as a list or a word of a file has them.

use super::Wiring;
use crate::language::reader::{List, Reader};
use cnsim_scheme_api::NodeId;

impl Wiring {
    /// Why no host or NIC has this name, and the remedy.
    pub(crate) fn no_host(&self, text: &str) -> (String, String) {
        if let Some((nics, number)) =
            text.rsplit_once('#').and_then(|(name, n)| Some((self.nics(self.host(name)?), n)))
        {
            let (name, all) = (self.machine(nics.start), &self.hosts[nics]);
            let remedy = match all {
                [first, .., last] => format!("name one of {first} to {last}, or {name}"),
                _ => format!("write {name}"),
            };
            return (format!("{name} has no NIC {number}: it has {}", all.len()), remedy);
        }
        let remedy = match (text.split_once('-'), &self.hosts[..]) {
            (Some((a, b)), _) if self.host(a.trim()).is_some() && self.host(b.trim()).is_some() => {
                format!("did you mean \"{}..{}\"?", a.trim(), b.trim())
            }
            (_, [_, .., _]) => {
                format!("hosts are {} to {}", self.machine(0), self.machine(self.hosts.len() - 1))
            }
            _ => "see topology".into(),
        };
        (format!("there is no host `{text}`"), remedy)
    }
}

impl Reader<'_> {
    /// Index of a host by its name, item `item` of a key's list. Of a host with several NICs one must be named.
    pub(crate) fn host(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        text: &str,
        wiring: &Wiring,
    ) -> Option<usize> {
        let index = self.known(&key, item, text, wiring)?;
        let nics = wiring.nics(index);
        if nics.len() > 1 && !wiring.hosts[index].eq_ignore_ascii_case(text.trim()) {
            let reason = format!("`{}` has {} NICs, and one is due", text.trim(), nics.len());
            let [first, .., last] = &wiring.hosts[nics] else { return None };
            self.wrong_item(key, item, reason, format!("name one of {first} to {last}"));
            return None;
        }
        Some(index)
    }

    /// Index of a host, or of its first NIC, by its name.
    fn known(&mut self, key: impl AsRef<str>, item: usize, text: &str, wiring: &Wiring) -> Option<usize> {
        let index = wiring.host(text.trim());
        if index.is_none() {
            let (reason, remedy) = wiring.no_host(text.trim());
            self.wrong_item(key, item, reason, remedy);
        }
        index
    }

    /// Hosts of a word: `H3`, `H0..H9`, every third host `H0..H9/3`, or `all`; with all their NICs.
    pub(crate) fn range(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        text: &str,
        wiring: &Wiring,
    ) -> Vec<usize> {
        if text.contains('#') {
            return self.host(key, item, text, wiring).into_iter().collect();
        }
        let machines = self.machines_of(key, item, text, wiring);
        machines.into_iter().flat_map(|nic| wiring.nics(nic)).collect()
    }

    /// Hosts of a word, each by its first NIC.
    fn machines_of(&mut self, key: impl AsRef<str>, item: usize, text: &str, wiring: &Wiring) -> Vec<usize> {
        if text.eq_ignore_ascii_case("all") {
            return wiring.all_machines().collect();
        }
        let Some((from, to)) = text.split_once("..") else {
            let found = self.known(&key, item, text, wiring);
            if let Some(nic) = found.filter(|nic| wiring.nics(*nic).len() > 1 && text.contains('#')) {
                let reason = format!("`{}` is a NIC, and a host is due", text.trim());
                self.wrong_item(
                    &key,
                    item,
                    reason,
                    format!("write {}: a flow takes its NIC", wiring.machine(nic)),
                );
                return Vec::new();
            }
            return found.into_iter().collect();
        };
        let (to, step) = to.split_once('/').unwrap_or((to, "1"));
        let Some(step) = step.trim().parse::<usize>().ok().filter(|s| *s > 0) else {
            self.wrong_item(
                key,
                item,
                format!("`{text}` has no whole step"),
                "write for example \"H0..H9/3\"",
            );
            return Vec::new();
        };
        let (from, to) = (self.known(&key, item, from, wiring), self.known(&key, item, to, wiring));
        match (from, to) {
            (Some(a), Some(b)) if a <= b && wiring.machines.is_none() => (a..=b).step_by(step).collect(),
            (Some(a), Some(b)) if a <= b => {
                wiring.all_machines().filter(|nic| (a..=b).contains(nic)).step_by(step).collect()
            }
            (Some(_), Some(_)) => {
                self.wrong_item(key, item, format!("`{text}` runs backwards"), "write the lower host first");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// All hosts of a list of such words.
    pub(crate) fn ranges(&mut self, list: &List, wiring: &Wiring) -> Vec<usize> {
        let each = list.items.iter().enumerate();
        each.flat_map(|(i, n)| self.range(&list.key, i, n, wiring)).collect()
    }

    /// All hosts of a list of such words, each by its first NIC.
    pub(crate) fn machines(&mut self, list: &List, wiring: &Wiring) -> Vec<usize> {
        let each = list.items.iter().enumerate();
        each.flat_map(|(i, n)| self.machines_of(&list.key, i, n, wiring)).collect()
    }

    /// An output port by its name: `X>E5`.
    pub(crate) fn port(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        text: &str,
        wiring: &Wiring,
    ) -> Option<(NodeId, u16)> {
        let port = wiring.port(text).filter(|p| p.0.0 as usize >= wiring.hosts.len());
        if port.is_none() {
            let hint = match text.contains("->") {
                true => format!("did you mean \"{}\"?", text.replace("->", ">")),
                false => "name a switch and its neighbour: \"S>H1\"; `cnsim explain` shows the names".into(),
            };
            self.wrong_item(key, item, format!("there is no switch port `{text}`"), hint);
        }
        port
    }

    /// Two different hosts: `H1>H5`.
    pub(crate) fn pair(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        text: &str,
        wiring: &Wiring,
    ) -> Option<(NodeId, NodeId)> {
        let Some((a, b)) = text.split_once('>').filter(|(a, _)| !a.ends_with('-')) else {
            let hint = match text.contains("->") {
                true => format!("did you mean \"{}\"?", text.replace("->", ">")),
                false => "write source and destination: \"H1>H5\"".into(),
            };
            self.wrong_item(key, item, format!("`{text}` is not a flow"), hint);
            return None;
        };
        let (a, b) = (self.host(&key, item, a, wiring)?, self.host(&key, item, b, wiring)?);
        if a == b {
            self.wrong_item(key, item, format!("`{text}` leads from a host to itself"), "name two hosts");
            return None;
        }
        Some((NodeId(a as u32), NodeId(b as u32)))
    }
}
