//! `[[group]]` tables: hosts that run without the scheme of the matrix, or without the windows above it.

use super::{Section, Settings, transport};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::wiring::Wiring;
use cnsim_fabric::RunSpec;

rows! {
    HOSTS = key("group.hosts", kind::LINES, "[]", "hosts of a [[group]] table, which run another scheme than the matrix says");
    SCHEME = key("group.scheme", Kind::Scheme, "none",
        "scheme of the group; feedback to its hosts is delivered, counted and ignored");
    CONGESTION = key("group.congestion", Kind::Choice(&["scheme", "off"]), "scheme",
        "off: the flows of the group's hosts have no window, though transport.congestion is set; they obey the matrix's scheme alone, as UDP would, and what is lost goes again");
}

/// Of each host: does it run without the scheme, and without a window above it?
#[derive(Clone, Debug, Default)]
pub(crate) struct Bare(pub(crate) Vec<bool>, Vec<bool>);

impl Section for Bare {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (bare, loose) = bare(r, &settings.wiring);
        Self(bare, loose)
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        for (host, _) in run.hosts.iter_mut().zip(&self.0).filter(|(_, bare)| **bare) {
            let own = host.sources.iter_mut();
            own.for_each(|source| source.class = settings.classes.behind_edge(source.class, true));
            host.scheme = None;
        }
        // Where two schemes are one, the second of a run is that for flows without a window.
        let windowless = (run.schemes.len() > 1 + settings.classes.own_schemes()).then_some(1);
        for (host, _) in run.hosts.iter_mut().zip(&self.1).filter(|(_, loose)| **loose) {
            host.scheme = windowless.or(host.scheme);
        }
    }
}

/// Hosts that `[[group]]` tables take out of the scheme, and those whose flows have no window above it.
fn bare(r: &mut Reader<'_>, wiring: &Wiring) -> (Vec<bool>, Vec<bool>) {
    let (mut bare, mut loose) = (vec![false; wiring.hosts.len()], vec![false; wiring.hosts.len()]);
    for prefix in r.tables("group") {
        let scheme = r.word(SCHEME.of(&prefix));
        match r.registry.find(&scheme) {
            Some(entry) if entry.name == "none" => {}
            Some(_) => {
                let reason = format!("a group cannot bring `{scheme}` beside the scheme of the matrix");
                let hint = "two kinds of congestion point exclude each other in one queue; a group can be `none`, and \
                            hosts in no group run the scheme of the matrix";
                r.wrong(SCHEME.of(&prefix), reason, hint);
            }
            None => {
                r.wrong(SCHEME.of(&prefix), format!("there is no scheme `{scheme}`"), "a group can be `none`")
            }
        }
        let windows = r.word(CONGESTION.of(&prefix)) != "off";
        if !windows && r.word(transport::CONGESTION) == "scheme" {
            let reason = "has no effect: transport.congestion puts no window above the scheme";
            r.wrong(CONGESTION.of(&prefix), reason, "set transport.congestion, or remove it");
        }
        let names = r.listed(HOSTS.of(&prefix));
        if names.items.is_empty() {
            let hint = "write for example hosts = \"H0..H4\"";
            r.wrong(&prefix, "names no hosts: the group has no effect", hint);
        }
        for host in r.ranges(&names, wiring) {
            *if windows { &mut bare[host] } else { &mut loose[host] } = true;
        }
    }
    (bare, loose)
}
