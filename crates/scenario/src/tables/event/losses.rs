//! `[[event]]` tables with `link`: a link loses frames from one time to another.

use super::{FROM, LINK, LOSE, LOSS, TO};
use crate::language::reader::Reader;
use crate::language::row::{At, Key};
use crate::tables::run;
use crate::wiring::Wiring;
use cnsim_fabric::{LinkLoss, LossKind, LostFrame};
use cnsim_units::Time;

/// The keys of a change of rate, which a table with `link` has not.
const OF_PORTS: [&str; 3] = ["at", "port", "rate"];
/// The keys of a link that loses.
const OF_LINKS: [&str; 4] = ["loss", "lose", "from", "to"];

/// Does a table say what a link loses? Keys of the other form are refused.
pub(crate) fn is_loss(r: &mut Reader<'_>, prefix: &str) -> bool {
    let loses = r.is_set(format!("{prefix}.link"));
    let (others, why) = match loses {
        true => (&OF_PORTS[..], "is of a port that changes its rate, and the table has `link`"),
        false => (&OF_LINKS[..], "is of a link that loses frames, and the table has no `link`"),
    };
    for key in others.iter().map(|leaf| format!("{prefix}.{leaf}")) {
        if r.is_set(&key) {
            r.wrong(&key, why, "write a table for each: one with `port`, one with `link`");
        }
    }
    loses
}

/// The losses of all links of a case, two for each table: one for each sense.
pub(crate) fn losses(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<LinkLoss> {
    let mut losses: Vec<LinkLoss> = Vec::new();
    for prefix in r.tables("event") {
        if !r.is_set(format!("{prefix}.link")) {
            continue;
        }
        let Some(both) = one(r, &prefix, wiring, duration) else { continue };
        let overlaps = |l: &&LinkLoss| {
            (l.node, l.port) == (both[0].node, both[0].port) && l.from < both[0].to && both[0].from < l.to
        };
        if let Some(other) = losses.iter().find(overlaps) {
            let reason = format!("overlaps other losses of this link, from {} to {}", other.from, other.to);
            r.wrong(format!("{prefix}.link"), reason, "let them begin when the others have ended");
            continue;
        }
        losses.extend(both);
    }
    losses
}

/// The losses of a table; none if its link or its frames are not known.
fn one(r: &mut Reader<'_>, prefix: &str, wiring: &Wiring, duration: Time) -> Option<[LinkLoss; 2]> {
    let key = |leaf: Key| leaf.of(prefix);
    let (from, to) = (r.time(key(FROM)), r.time_or(key(TO)).unwrap_or(duration));
    if from >= duration || to <= from || to > duration {
        let reason = format!("losses from {from} to {to} do not lie within the run of {duration}");
        r.clash(
            &[key(FROM), key(TO), run::DURATION.into()],
            reason,
            "let them end after their begin and within the run",
        );
        return None;
    }
    let name = r.word(key(LINK));
    let Some(ends) = wiring.link_ends(&name) else {
        let remedy = "name two neighbours: \"H1-S\"; `cnsim explain` shows the names";
        r.wrong(key(LINK), format!("there is no link `{name}`"), remedy);
        return None;
    };
    let list = r.listed(key(LOSE));
    let kind = match (r.is_set(key(LOSS)), list.items.is_empty()) {
        (true, true) => LossKind::Drawn(chance(r, key(LOSS))?),
        (false, false) => {
            let items = list.items.iter().enumerate();
            LossKind::Listed(items.filter_map(|(i, text)| frame(r, &list.key, i, text, wiring)).collect())
        }
        _ => {
            let remedy =
                "write either loss = \"1e-3\", a probability, or lose = [\"H1>H0 3\"], a list of frames";
            r.wrong(prefix, "says not in one way which frames are lost", remedy);
            return None;
        }
    };
    Some(ends.map(|(node, port)| LinkLoss { node, port, from, to, kind: kind.clone() }))
}

/// A probability: `1e-3` or `0.1 %`.
fn chance(r: &mut Reader<'_>, key: At) -> Option<f64> {
    let text = r.word(&key);
    let (number, of) =
        text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |percent| (percent.trim(), 100.0));
    let read = number.parse::<f64>().ok().map(|p| p / of).filter(|p| *p > 0.0 && *p <= 1.0);
    if read.is_none() {
        r.wrong(
            key,
            format!("`{text}` is no probability"),
            "write a number above 0, at most 1: \"1e-3\" or \"0.1 %\"",
        );
    }
    read
}

/// A frame of a list: `H1>H0 3`, `H1>H0#2 3`, `H1>H0 ack 3`.
fn frame(r: &mut Reader<'_>, key: &str, item: usize, text: &str, wiring: &Wiring) -> Option<LostFrame> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (flow, acknowledgement, nth) = match words[..] {
        [flow, nth] => (flow, false, nth),
        [flow, "ack", nth] => (flow, true, nth),
        _ => ("", false, ""),
    };
    let (pair, number) = match flow.split_once('#') {
        Some((pair, n)) => (pair, n.parse::<u16>().ok().filter(|n| *n > 0)),
        None => (flow, Some(0)),
    };
    let (Some(number), Some(nth)) = (number, nth.parse::<u64>().ok().filter(|n| *n > 0)) else {
        let remedy = "write flow and number, from 1 on: \"H1>H0 3\", \"H1>H0#2 3\" of the pair's second flow, or \"H1>H0 ack 3\"";
        r.wrong_item(key, item, format!("`{text}` names no frame of a flow"), remedy);
        return None;
    };
    let flow = r.pair(key, item, pair, wiring)?;
    Some(LostFrame { flow, number: number.checked_sub(1), acknowledgement, nth })
}
