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
use cnsim_units::{Bytes, Time, UnitError};
use std::collections::HashMap;

/// How a transfer is written.
const EXAMPLE: &str = "write \"10 us, H1, H2, 1 MB\": start, source, destination, bytes";

/// Finite transfers by source, from the list or the file: start, source, destination and bytes of each, perhaps its name, and those that
/// it follows.
pub(super) fn transfers(
    r: &mut Reader<'_>,
    prefix: &str,
    (wiring, framing): (&Wiring, Framing),
    (sources, operations): (&[usize], &mut Operations),
) -> HashMap<usize, Vec<Transfer>> {
    let list = r.listed(TRANSFERS.of(prefix));
    let (origin, duration) = (r.time(ORIGIN.of(prefix)), r.time(run::DURATION));
    let (mut listed, mut refused) = (Vec::new(), Vec::new());
    let mut takes = Takes::new(wiring.machines.as_deref());
    // A host, or one of its NICs.
    let nics = |text: &str, nic: usize| if text.contains('#') { nic..nic + 1 } else { wiring.nics(nic) };
    for (i, line) in list.items.iter().enumerate() {
        let fields = fields(line);
        let [start, from, to, bytes, ref more @ ..] = fields[..] else {
            let reason = format!("`{line}` has {} fields; 4 are needed", fields.len());
            r.wrong_item(&list.key, i, reason, EXAMPLE);
            continue;
        };
        let Some((name, after)) = jobs::named(more) else {
            let reason =
                format!("`{line}` has {} fields; behind the fourth come name and after", fields.len());
            r.wrong_at(&list.key, i, more[0].0, reason, "write \"5 us, H2, H3, 1 MB, name b, after a\"");
            continue;
        };
        // A transfer that follows others begins so long after them.
        let origin = after.is_empty().then_some((prefix, origin));
        let (start, a, b, bytes) = match transfer([start, from, to, bytes], origin, duration, wiring) {
            Ok(read) => read,
            Err((at, reason, remedy)) => {
                r.wrong_at(&list.key, i, at, reason, remedy);
                refused.extend(name);
                continue;
            }
        };
        let Some((src, dst)) = takes.take(nics(from.1, a), nics(to.1, b)) else {
            let reason = format!("the NICs of {} and {} reach no common switch", from.1, to.1);
            let hint = "link their switches, directly or over others: hosts do not forward";
            r.wrong_at(&list.key, i, from.0, reason, hint);
            refused.extend(name);
            continue;
        };
        let transfer = Transfer { start, dst: NodeId(dst as u32), bytes: framing.on_link(bytes) };
        listed.push(jobs::Listed { item: i, from: src, transfer, name, after });
    }
    if list.items.is_empty() {
        let hint = format!("list them, or name a file of them in {prefix}.file");
        r.lacks(prefix, &list, "there are no transfers", &hint);
    }
    jobs::follow(r, &list.key, (listed, &refused), wiring, (sources, operations))
}

/// A field of a line, and the number of characters before it.
type Field<'a> = (usize, &'a str);

fn fields(line: &str) -> Vec<Field<'_>> {
    let mut at = 0;
    let field = |field: &'_ str| {
        let begin = at + field.chars().take_while(|c| c.is_whitespace()).count();
        at += field.chars().count() + 1;
        begin
    };
    let begins: Vec<usize> = line.split(',').map(field).collect();
    begins.into_iter().zip(line.split(',').map(str::trim)).collect()
}

/// When a transfer begins after the start of the run, its hosts, and its bytes; or the place of a fault, the reason and the remedy. The origin, with the
/// table that has it, is the start of the run.
fn transfer(
    [start, from, to, bytes]: [Field<'_>; 4],
    origin: Option<(&str, Time)>,
    duration: Time,
    wiring: &Wiring,
) -> Result<(Time, usize, usize, Bytes), (usize, String, String)> {
    let unread =
        |at: usize| move |e: UnitError| (at, format!("`{}`: {}", e.input, e.reason), EXAMPLE.to_string());
    let begins = start.1.parse::<Time>().map_err(unread(start.0))?;
    if begins > LONGEST {
        return Err((start.0, format!("{begins} is later than {LONGEST}"), "let it begin earlier".into()));
    }
    if let Some((prefix, origin)) = origin.filter(|(_, origin)| begins < *origin) {
        let reason = format!("{begins} is before {prefix}.origin, {origin}, at which the run begins");
        return Err((start.0, reason, format!("let it begin later, or lower {prefix}.origin")));
    }
    let begins = origin.map_or(begins, |(_, origin)| begins.saturating_sub(origin));
    if begins >= duration {
        let reason = format!("a transfer that begins {begins} after the start of a run of {duration}");
        return Err((start.0, reason, "let it begin earlier, or lengthen run.duration".into()));
    }
    let host = |(at, name): Field<'_>| {
        wiring.host(name).ok_or_else(|| {
            let (reason, remedy) = wiring.no_host(name);
            (at, reason, remedy)
        })
    };
    let (a, b) = (host(from)?, host(to)?);
    let amount = bytes.1.parse::<Bytes>().map_err(unread(bytes.0))?;
    if wiring.nics(a) == wiring.nics(b) {
        return Err((to.0, "source and destination are the same host".into(), "name two hosts".into()));
    }
    if amount == Bytes::ZERO || amount > MAX_TRANSFER {
        let reason = format!("{amount} is out of range: 1 B to {MAX_TRANSFER}");
        return Err((bytes.0, reason, "write an amount in this range".into()));
    }
    Ok((begins, a, b, amount))
}
