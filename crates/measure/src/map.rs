//! Every port over time, for a map that plays: use, largest queue, time in XOFF and losses in each bin (`record.map`).
//!
//! A row of whole numbers is kept as a short text, which the report embeds as it is ([`coded`]).

use cnsim_fabric::{Outcome, SeriesKind};
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All ports of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Width of a bin, ps.
    pub bin: u64,
    /// Number of bins.
    pub steps: usize,
    /// Up to when XOFFs are known, ps; none where they are not kept (`record.pauses`).
    pub xoff_until: Option<u64>,
    /// Names of the hosts, by NIC.
    pub hosts: Vec<String>,
    /// Names of the switches.
    pub switches: Vec<String>,
    /// The ends of each link: a host, or beyond the hosts a switch.
    pub links: Vec<(u32, u32)>,
    /// The ports, by link: of each that of its first end, then that of its second.
    pub ports: Vec<MapPort>,
}

/// A port over time: a row for each quantity ([`decoded`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapPort {
    /// Name of the port, `L1>S1`, or `H1>L1` of a host.
    pub port: String,
    /// Data that it put on its link, in thousandths of the link's capacity in the bin. A frame counts as its last bit leaves.
    pub used: String,
    /// Largest queue in the bin, in units of 100 B; none for a host, whose frames wait in queues of their flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Time in XOFF, of any class, in thousandths of the bin, rounded up.
    pub xoff: String,
    /// Data frames that found no room in the switch's queue for it, and those that its link lost; drops by watchdogs are left out.
    pub lost: String,
}

/// A quantity of ports over time.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Name of its rows: `used`.
    pub row: &'static str,
    /// The quantity in words.
    pub words: &'static str,
    /// What it is of: the denominator of a share, or what is counted.
    pub of: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What 1 of a row is in that unit.
    pub worth: f64,
    /// The number of a row that is all, if there is one.
    pub all: Option<u64>,
}

/// The quantities of a map.
pub const SHOWN: [Shown; 4] = [
    Shown {
        row: "used",
        words: "use of the link",
        of: "data, of the link's capacity in the step",
        unit: "%",
        worth: 0.1,
        all: Some(1000),
    },
    Shown {
        row: "queue",
        words: "largest queue",
        of: "of all classes together in the step",
        unit: "KB",
        worth: 0.1,
        all: None,
    },
    Shown {
        row: "xoff",
        words: "time in XOFF",
        of: "of any class, of the step",
        unit: "%",
        worth: 0.1,
        all: Some(1000),
    },
    Shown {
        row: "lost",
        words: "losses",
        of: "data frames in the step that found no room or that the link lost, without those of watchdogs",
        unit: "frames",
        worth: 1.0,
        all: None,
    },
];

impl MapPort {
    /// The row of a quantity ([`Shown::row`]); none where it is not kept.
    pub fn row(&self, what: &str) -> Option<&str> {
        match what {
            "used" => Some(&self.used),
            "queue" => self.queue.as_deref(),
            "xoff" => Some(&self.xoff),
            "lost" => Some(&self.lost),
            _ => None,
        }
    }

    /// Letters of all its rows.
    pub fn letters(&self) -> usize {
        SHOWN.iter().filter_map(|s| self.row(s.row)).map(str::len).sum()
    }
}

impl Map {
    /// The values of a quantity at a port, in its unit; none without such a port or row, and where XOFFs were not kept.
    pub fn values(&self, port: &str, shown: &Shown) -> Option<Vec<f64>> {
        let known = shown.row != "xoff" || self.xoff_until.is_some();
        let row = self.ports.iter().find(|p| p.port == port).filter(|_| known)?.row(shown.row)?;
        Some(decoded(row, self.steps).into_iter().map(|v| v as f64 * shown.worth).collect())
    }

    /// Of a run that recorded its queues and links.
    pub fn of(settings: &Settings, out: &Outcome) -> Self {
        let (wiring, bin) = (&settings.wiring, settings.record.bin.as_ps().max(1));
        let steps = (out.duration.as_ps() / bin) as usize;
        let mut stood: BTreeMap<(NodeId, u16), Vec<(u64, u64)>> = BTreeMap::new();
        for x in &out.recorded.pauses.xoffs {
            stood.entry(x.stopped).or_default().push((x.from.as_ps(), x.until.as_ps()));
        }
        let [mut sent, mut peaks, mut discarded] = [const { BTreeMap::new() }; 3];
        for s in &out.recorded.series {
            match s.kind {
                SeriesKind::Sent { node, port } => sent.insert((node, port), &s.values[..]),
                SeriesKind::QueuePeak { node, port } => peaks.insert((node, port), &s.values[..]),
                SeriesKind::Discarded { node, port } => discarded.insert((node, port), &s.values[..]),
                _ => None,
            };
        }
        let links: BTreeMap<_, _> = out.lost_on_links.iter().map(|l| ((l.node, l.port), l)).collect();
        let port = |at: (NodeId, u16)| {
            let host = (at.0.0 as usize) < settings.hosts();
            let seconds = bin as f64 / 1e12;
            let mille = 1e3 / wiring.link(at).map_or(1.0, |l| l.rate.bps() * seconds);
            let (bits, on_link) = links.get(&at).map_or((&[][..], &[][..]), |l| (&l.bits[..], &l.by_bin[..]));
            let of = |all: &BTreeMap<_, &[f64]>| all.get(&at).map_or(Vec::new(), |values| values.to_vec());
            let bits: Vec<f64> = match host {
                true => bits.iter().map(|bits| *bits as f64).collect(),
                false => of(&sent).iter().map(|rate| rate * seconds).collect(),
            };
            let (mut lost, mut before) = (on_link.to_vec(), 0.0);
            lost.resize(steps, 0);
            for (sum, until) in lost.iter_mut().zip(of(&discarded)) {
                *sum += (until - before) as u64;
                before = until;
            }
            MapPort {
                port: wiring.port_name(at),
                used: coded(&bits.iter().map(|bits| (bits * mille).round() as u64).collect::<Vec<_>>()),
                queue: (!host).then(|| {
                    coded(&of(&peaks).iter().map(|b| (b / 100.0).round() as u64).collect::<Vec<_>>())
                }),
                xoff: coded(&shares(stood.get(&at).cloned().unwrap_or_default(), bin, steps)),
                lost: coded(&lost),
            }
        };
        let last = out.recorded.pauses.xoffs.last().filter(|_| out.recorded.pauses.left_out > 0);
        let known = last.map_or(out.duration, |last| last.decided).as_ps();
        let kept = settings.keeps_pauses() || settings.buffer().pause.is_none();
        let ends = wiring.links.iter().flat_map(|l| [l.a, l.b]);
        Self {
            bin,
            steps,
            xoff_until: kept.then_some(known),
            hosts: wiring.hosts.clone(),
            switches: wiring.switches.iter().map(|s| s.0.clone()).collect(),
            links: wiring.links.iter().map(|l| (l.a.0.0, l.b.0.0)).collect(),
            ports: ends.map(port).collect(),
        }
    }
}

/// Thousandths of each bin that these spans of time cover, each moment once, rounded up.
fn shares(mut spans: Vec<(u64, u64)>, bin: u64, steps: usize) -> Vec<u64> {
    spans.sort_unstable();
    let (mut covered, mut done) = (vec![0; steps], 0);
    for (from, until) in spans {
        let mut at = from.max(done);
        done = done.max(until);
        while at < until {
            let end = ((at / bin + 1) * bin).min(until);
            covered.get_mut((at / bin) as usize).into_iter().for_each(|sum| *sum += end - at);
            at = end;
        }
    }
    covered.into_iter().map(|ps: u64| (ps * 1000).div_ceil(bin)).collect()
}

/// The digits of a coded row, six bits each.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Appends a number: its lowest five bits first, and a sixth that says that more follow.
fn put(mut n: u64, out: &mut String) {
    while n > 31 {
        out.push(DIGITS[(n & 31 | 32) as usize].into());
        n >>= 5;
    }
    out.push(DIGITS[n as usize].into());
}

/// A row as text: for each value its difference from the one before (from 0 at first), twice as large, and odd if it is negative. `*` and
/// a number stand for so many further values that equal the last one. A row of zeros is empty. `assets/map.js` reads it, too.
pub fn coded(row: &[u64]) -> String {
    let (mut out, mut last, mut at) = (String::new(), 0, 0);
    if row.iter().all(|value| *value == 0) {
        return out;
    }
    for same in row.chunk_by(|a, b| a == b) {
        let by = same[0] as i64 - last;
        // A row may begin with zeros: they equal what is before it.
        let mut more = same.len();
        if by != 0 || at == 0 {
            put((by.unsigned_abs() << 1) - u64::from(by < 0), &mut out);
            more -= 1;
        }
        if more > 0 {
            out.push('*');
            put(more as u64, &mut out);
        }
        (last, at) = (same[0] as i64, at + same.len());
    }
    out
}

/// A row of so many values that is coded in this text; digits that are none end it.
pub fn decoded(text: &str, steps: usize) -> Vec<u64> {
    let (mut row, mut last) = (Vec::with_capacity(steps), 0_i64);
    let mut digits = text.bytes().peekable();
    while digits.peek().is_some() && row.len() < steps {
        let run = digits.next_if_eq(&b'*').is_some();
        let (mut n, mut shift) = (0_u64, 0);
        while let Some(digit) = digits.next().and_then(|d| DIGITS.iter().position(|known| *known == d)) {
            n |= (digit as u64 & 31) << shift.min(59);
            shift += 5;
            if digit < 32 {
                break;
            }
        }
        if run {
            row.extend(std::iter::repeat_n(last as u64, (n as usize).min(steps - row.len())));
        } else {
            let by = n.div_ceil(2) as i64;
            last += if n & 1 == 0 { by } else { -by };
            row.push(last as u64);
        }
    }
    row.resize(steps, 0);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let long: Vec<u64> = (0..500).map(|i| i * i * 7919 % 100_003).collect();
        for row in [
            &[0, 0, 0][..],
            &[5],
            &[0, 0, 7, 7, 7, 0, 0],
            &[1000, 0, 1000, 1000],
            &[31, 32, 0, 1 << 40],
            &long,
        ] {
            assert_eq!(decoded(&coded(row), row.len()), row, "{}", coded(row));
        }
        // By hand: 3 is 6, then two more of it; down by 1 is 1; up by 30 is 60, which is 28 and 1 in digits of five bits.
        assert_eq!(coded(&[3, 3, 3, 2, 32]), "G*CB8B");
        assert_eq!((coded(&[0; 9]), coded(&[0, 0, 1])), (String::new(), "A*BC".into()));
        // Odd text is no panic.
        assert_eq!(decoded("<script>*", 4).len(), 4);
    }

    #[test]
    fn spans_cover_each_moment_once() {
        assert_eq!(shares(vec![(20, 25), (5, 12), (8, 21), (99, 200)], 10, 4), [500, 1000, 500, 0]);
        assert_eq!(shares(vec![(0, 1)], 10_000, 2), [1, 0], "the least is seen");
    }
}
