//! `[[group]]` tables: hosts that run without the scheme of the matrix.

use super::{Section, Settings};
use crate::reader::Reader;
use crate::row::declare::*;
use crate::wiring::Wiring;
use cnsim_fabric::RunSpec;

rows! {
    HOSTS = key("group.hosts", kind::LINES, "[]", "hosts of a [[group]] table, which run another scheme than the matrix says");
    SCHEME = key("group.scheme", Kind::Scheme, "none",
        "scheme of the group; feedback to its hosts is delivered, counted and ignored");
}

/// Of each host: does it run without the scheme?
#[derive(Clone, Debug, Default)]
pub(crate) struct Bare(pub(crate) Vec<bool>);

impl Section for Bare {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        Self(bare(r, &settings.wiring))
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        for (host, _) in run.hosts.iter_mut().zip(&self.0).filter(|(_, bare)| **bare) {
            host.scheme = None;
        }
    }
}

/// Hosts that `[[group]]` tables take out of the scheme.
fn bare(r: &mut Reader<'_>, wiring: &Wiring) -> Vec<bool> {
    let mut bare = vec![false; wiring.hosts.len()];
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
        let names = r.listed(HOSTS.of(&prefix));
        if names.items.is_empty() {
            let hint = "write for example hosts = \"H0..H4\"";
            r.wrong(&prefix, "names no hosts: the group has no effect", hint);
        }
        for host in r.ranges(&names, wiring) {
            bare[host] = true;
        }
    }
    bare
}
