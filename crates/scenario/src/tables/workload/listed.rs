//! Finite transfers that a table of traffic lists, or that its file does.

use super::{ORIGIN, TRANSFERS};
use crate::flows::Framing;
use crate::language::reader::Reader;
use crate::language::row::{LONGEST, MAX_TRANSFER};
use crate::tables::run;
use crate::tables::workload::jobs::{self, Operations};
use crate::wiring::Wiring;
use crate::wiring::nics::Takes;
use cnsim_fabric::Transfer;
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Time};
use std::collections::HashMap;

/// Finite transfers by source, from the list or the file: start, source, destination and bytes of each, perhaps its name, and those that
/// it follows.
pub(super) fn transfers(
    r: &mut Reader<'_>,
    prefix: &str,
    (wiring, framing): (&Wiring, Framing),
    (sources, operations): (&[usize], &mut Operations),
) -> HashMap<usize, Vec<Transfer>> {
    const EXAMPLE: &str = "write \"10 us, H1, H2, 1 MB\": start, source, destination, bytes";
    let list = r.listed(TRANSFERS.of(prefix));
    let (origin, duration) = (r.time(ORIGIN.of(prefix)), r.time(run::DURATION));
    let mut listed = Vec::new();
    let mut takes = Takes::new(wiring.machines.as_deref());
    // A host, or one of its NICs.
    let nics = |text: &str, nic: usize| if text.contains('#') { nic..nic + 1 } else { wiring.nics(nic) };
    for (i, line) in list.items.iter().enumerate() {
        let mut at = 0;
        let fields: Vec<(usize, &str)> = line
            .split(',')
            .map(|field| {
                let blanks = field.chars().take_while(|c| c.is_whitespace()).count();
                let begin = at + blanks;
                at += field.chars().count() + 1;
                (begin, field.trim())
            })
            .collect();
        let [start, from, to, bytes, ref more @ ..] = fields[..] else {
            r.wrong_item(
                &list.key,
                i,
                format!("`{line}` has {} fields; 4 are needed", fields.len()),
                EXAMPLE,
            );
            continue;
        };
        let Some((name, after)) = jobs::named(more) else {
            let reason =
                format!("`{line}` has {} fields; behind the fourth come name and after", fields.len());
            r.wrong_at(&list.key, i, more[0].0, reason, "write \"5 us, H2, H3, 1 MB, name b, after a\"");
            continue;
        };
        let follows = !after.is_empty();
        let begins = |start: Time| if follows { start } else { start.saturating_sub(origin) };
        let wrong =
            match (start.1.parse::<Time>(), wiring.host(from.1), wiring.host(to.1), bytes.1.parse::<Bytes>())
            {
                (Err(e), ..) => (start.0, format!("`{}`: {}", e.input, e.reason)),
                (Ok(start_at), ..) if start_at > LONGEST => {
                    (start.0, format!("{start_at} is later than {}", LONGEST))
                }
                (Ok(start_at), ..) if !follows && start_at < origin => (
                    start.0,
                    format!("{start_at} is before {prefix}.origin, {origin}, at which the run begins"),
                ),
                (Ok(start_at), ..) if begins(start_at) >= duration => (
                    start.0,
                    format!(
                        "a transfer that begins {} after the start of a run of {duration}",
                        begins(start_at)
                    ),
                ),
                (_, None, ..) => (from.0, format!("there is no host `{}`", from.1)),
                (_, _, None, _) => (to.0, format!("there is no host `{}`", to.1)),
                (.., Err(e)) => (bytes.0, format!("`{}`: {}", e.input, e.reason)),
                (_, Some(a), Some(b), _) if wiring.nics(a) == wiring.nics(b) => {
                    (to.0, "source and destination are the same host".into())
                }
                (.., Ok(bytes_of)) if bytes_of == Bytes::ZERO || bytes_of > MAX_TRANSFER => {
                    (bytes.0, format!("{bytes_of} is out of range: 1 B to {MAX_TRANSFER}"))
                }
                (Ok(start), Some(a), Some(b), Ok(bytes)) => {
                    let Some((from, to)) = takes.take(nics(from.1, a), nics(to.1, b)) else {
                        let reason = format!("the NICs of {} and {} reach no common switch", from.1, to.1);
                        let hint = "link their switches, directly or over others: hosts do not forward";
                        r.wrong_at(&list.key, i, from.0, reason, hint);
                        continue;
                    };
                    let (start, bytes) = (begins(start), framing.on_link(bytes));
                    let transfer = Transfer { start, dst: NodeId(to as u32), bytes };
                    listed.push(jobs::Listed { item: i, from, transfer, name, after });
                    continue;
                }
            };
        r.wrong_at(&list.key, i, wrong.0, wrong.1, EXAMPLE);
    }
    if list.items.is_empty() {
        let hint = "list them, or name a file of them in workload.file";
        r.wrong(&list.key, "there are no transfers", hint);
    }
    jobs::follow(r, &list.key, listed, wiring, (sources, operations))
}
