//! `[[group]]` tables: hosts that run without the scheme of the matrix.

use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_scheme_api::Registry;

/// Hosts that `[[group]]` tables take out of the scheme.
pub(super) fn bare(r: &mut Reader<'_>, registry: &Registry, wiring: &Wiring) -> Vec<bool> {
    let mut bare = vec![false; wiring.hosts.len()];
    for prefix in r.tables("group") {
        let scheme = r.word(&format!("{prefix}.scheme"));
        match registry.find(&scheme) {
            Some(entry) if entry.name == "none" => {}
            Some(_) => {
                let reason = format!("a group cannot bring `{scheme}` beside the scheme of the matrix");
                let hint = "two kinds of congestion point exclude each other in one queue; a group can be `none`, and \
                            hosts in no group run the scheme of the matrix";
                r.wrong(&format!("{prefix}.scheme"), reason, hint);
            }
            None => r.wrong(
                &format!("{prefix}.scheme"),
                format!("there is no scheme `{scheme}`"),
                "a group can be `none`",
            ),
        }
        let names = r.listed(&format!("{prefix}.hosts"));
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
