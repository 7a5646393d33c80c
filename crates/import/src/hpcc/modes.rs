//! Settings that depend on the scheme, `CC_MODE`: its parameters, its acknowledgements and its window.
//!
//! The fork's window is the product of rate and base round-trip time: that of a flow's own pair, or with `GLOBAL_T` the largest of
//! all pairs of hosts. With `VAR_WIN` it moves with the rate. Its base round-trip time is twice the propagation, and one payload at
//! each link of the way out, each in whole nanoseconds.

use super::{Config, Fabric, Setting, Translated};
use crate::{Faults, ImportError};
use cnsim_units::Rate;
use std::collections::{BTreeMap, VecDeque};

/// How a value reads in the fork, and in a scenario.
#[derive(Clone, Copy, Debug)]
enum Form {
    Rate,
    Number,
    Whole,
    Flag,
}

/// Parameters that a scheme reads: key of the fork, parameter, form.
type Reads = &'static [(&'static str, &'static str, Form)];
/// Parameters that the fork has fixed: parameter, value.
type Fixed = &'static [(&'static str, &'static str)];

/// Parameters of HPCC, and its readings in the fork; then TIMELY and DCTCP.
const SCHEMES: &[(&str, Reads, Fixed)] = &[
    (
        "hpcc",
        &[
            ("RATE_AI", "ai_rate", Form::Rate),
            ("MIN_RATE", "min_rate", Form::Rate),
            ("U_TARGET", "eta", Form::Number),
            ("MI_THRESH", "max_stage", Form::Whole),
            ("FAST_REACT", "fast_react", Form::Flag),
            ("INT_MULTI", "int_multi", Form::Whole),
        ],
        &[("telemetry", "\"quantised\""), ("header", "\"90 B\"")],
    ),
    (
        "timely",
        &[("RATE_AI", "delta", Form::Rate), ("MIN_RATE", "min_rate", Form::Rate)],
        &[
            ("sample", "\"window\""),
            ("begin", "\"line\""),
            ("stamp", "\"8 B\""),
            ("alpha", "0.875"),
            ("beta", "0.8"),
            ("t_low", "\"50 us\""),
            ("t_high", "\"500 us\""),
            ("min_rtt", "\"20 us\""),
            ("hai_after", "5"),
        ],
    ),
    (
        "dctcp",
        &[
            ("DCTCP_RATE_AI", "ai_rate", Form::Rate),
            ("MIN_RATE", "min_rate", Form::Rate),
            ("EWMA_GAIN", "g", Form::Number),
        ],
        &[("form", "\"rate\""), ("mark_at", "\"departure\""), ("header", "\"48 B\"")],
    ),
];

/// Length of an acknowledgement of the fork, and what telemetry adds to it and to a data frame, bytes.
const ACK: u64 = 60;
const ACK_TELEMETRY: u64 = 28;
const TELEMETRY: u64 = 42;

/// Time stamp of a frame with TIMELY, bytes.
const STAMP: u64 = 8;

/// Bytes that a scheme's data frames carry beside header and payload.
pub(super) fn beside(scheme: &str) -> u64 {
    match scheme {
        "hpcc" => TELEMETRY,
        "timely" => STAMP,
        _ => 0,
    }
}

/// How the fork reads DCQCN where its configuration has no key for it: marks are echoed on every acknowledgement, cuts come by a
/// clock, stages count expiries of the timer before this one, there is no byte counter, and steps do not grow.
const READINGS: Fixed = &[
    ("echo", "\"acks\""),
    ("alpha_update", "\"periodic\""),
    ("cut_when", "\"periodic\""),
    ("stages", "\"timer\""),
    ("stage_test", "\"before\""),
    ("hai_step", "\"fixed\""),
    ("byte_reset", "\"off\""),
];

/// The window that the fork gives its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HeldBack {
    /// The largest base round-trip time is that of all flows: line and key that ask for it.
    global: Option<(usize, String)>,
    /// A window beside the scheme's own: line and key that ask for it.
    beside: Option<(usize, String)>,
    /// Line and key that ask for a window that moves with the flow's rate.
    varies: Option<(usize, String)>,
    /// Payload of a frame.
    pub(super) payload: u64,
}

impl Config {
    fn flag(&self, key: &str) -> Result<bool, ImportError> {
        self.find(key).map_or(Ok(false), Setting::flag)
    }

    /// Everything that depends on the scheme.
    pub(super) fn modes(&self, t: &mut Translated, faults: &mut Faults) {
        let payload = self.find("PACKET_PAYLOAD_SIZE").and_then(|s| s.whole().ok()).unwrap_or(1000);
        faults.keep(self.acknowledgements(payload, t));
        faults.keep(self.window(payload, t));
        self.mode(t, faults);
    }

    /// The acknowledgements of a scheme, one for each frame, and what its frames carry. With an L2_ACK_INTERVAL above a payload the fork
    /// acknowledges the frames that pass its multiples alone, and the last frame of a flow only by chance.
    fn acknowledgements(&self, payload: u32, t: &mut Translated) -> Result<(), ImportError> {
        let mut put = |key: &str, value: String| t.keys.push((format!("transport.{key}"), value));
        put("ack_every", "1".into());
        put("ack_length", format!("\"{ACK} B\""));
        if t.scheme == "hpcc" {
            put("telemetry", format!("\"{TELEMETRY} B\""));
            put("ack_telemetry", format!("\"{ACK_TELEMETRY} B\""));
        }
        if let Some(interval) = self.find("L2_ACK_INTERVAL") {
            let bytes = interval.whole()?;
            if bytes == 0 || bytes > payload {
                let reason = format!(
                    "{bytes} bytes: the fork then acknowledges no last frame, unless its flow ends at a multiple"
                );
                let remedy = format!(
                    "write at most {payload}, the payload of a frame; set transport.ack_every in a scenario for fewer"
                );
                return Err(interval.error(reason, remedy));
            }
            t.from.insert("transport.ack_every".into(), (interval.line, interval.key.clone()));
        }
        // At hosts acknowledgements go first and at switches among the data, with either value.
        self.flag("ACK_HIGH_PRIO").map(|_| ())
    }

    /// The window: that of the scheme, one beside it, or none.
    fn window(&self, payload: u32, t: &mut Translated) -> Result<(), ImportError> {
        t.window.payload = u64::from(payload);
        let (has, varies, global) = (self.flag("HAS_WIN")?, self.flag("VAR_WIN")?, self.flag("GLOBAL_T")?);
        let at = |key: &str| self.find(key).map_or((self.last, key.to_string()), |s| (s.line, s.key.clone()));
        t.from.insert("transport.window".into(), at("HAS_WIN"));
        t.window.global = global.then(|| at("GLOBAL_T"));
        let own = matches!(t.scheme.as_str(), "hpcc" | "dctcp");
        if !has {
            t.keys.push(("transport.window".into(), "\"off\"".into()));
        } else if !(own && varies) {
            t.window.beside = Some(at("HAS_WIN"));
            // Without a scheme a rate does not move, nor does its window.
            t.window.varies = (varies && t.scheme != "none").then(|| at("VAR_WIN"));
        }
        Ok(())
    }

    /// Parameters of the scheme.
    fn mode(&self, t: &mut Translated, faults: &mut Faults) {
        let param = |key: &str| format!("scheme.params.{key}");
        let fixed = |t: &mut Translated, list: Fixed| {
            t.keys.extend(list.iter().map(|(key, value)| (param(key), (*value).to_string())));
        };
        if t.scheme == "dcqcn" {
            fixed(t, READINGS);
        }
        let Some((name, reads, own)) = SCHEMES.iter().find(|s| s.0 == t.scheme) else { return };
        for (key, own, form) in *reads {
            let Some(s) = self.find(key) else { continue };
            let value = match form {
                Form::Rate => s.rate().map(|rate| format!("\"{rate}\"")),
                Form::Number => s.number().map(|n| n.to_string()),
                Form::Whole => s.whole().map(|n| n.to_string()),
                Form::Flag => s.flag().map(|on| on.to_string()),
            };
            if let Some(value) = faults.keep(value) {
                t.put(&param(own), value, (s.line, s.key.clone()));
            }
        }
        fixed(t, own);
        match *name {
            "hpcc" => {
                for key in ["MULTI_RATE", "SAMPLE_FEEDBACK"] {
                    if let Some(s) = self.find(key).filter(|s| s.one().is_ok_and(|v| v != "0")) {
                        faults.push(s.error("asks for a variant of HPCC which cnsim has not", "write 0"));
                    }
                }
            }
            "timely" => {
                faults.keep(self.faster(t));
            }
            _ => {}
        }
    }

    /// TIMELY's step after five increases in a row, as a multiple of the usual one.
    fn faster(&self, t: &mut Translated) -> Result<(), ImportError> {
        let (Some(usual), Some(faster)) = (self.find("RATE_AI"), self.find("RATE_HAI")) else {
            return Ok(());
        };
        let (Ok(one), Ok(more)) = (usual.rate(), faster.rate()) else { return Ok(()) };
        if one <= Rate::ZERO || more < one {
            return Err(faster.error(format!("{more} is less than RATE_AI, {one}"), "write at least RATE_AI"));
        }
        let factor = (more.bps() / one.bps()).to_string();
        t.put("scheme.params.hai_factor", factor, (faster.line, faster.key.clone()));
        Ok(())
    }
}

impl Translated {
    /// Settles base round-trip time and window.
    pub(super) fn hold_back(&mut self, fabric: &Fabric) {
        let (trip, product) = largest(fabric, self.window.payload);
        let own = matches!(self.scheme.as_str(), "hpcc" | "dctcp");
        if let Some(from) = self.window.global.clone().filter(|_| own) {
            self.put("scheme.params.base_rtt", format!("\"{trip} ns\""), from);
        }
        let Some(from) = self.window.beside.clone() else { return };
        let value = match self.window.global {
            // The fork's window counts payload, and cnsim's what is on the link.
            Some(_) => format!("{} B", (product * self.frame()).div_ceil(self.window.payload.max(1))),
            None => {
                self.notes.push(
                    "GLOBAL_T 0: the window of a flow is that of cnsim's round-trip time, with headers and the acknowledgement"
                        .into(),
                );
                "bdp".into()
            }
        };
        self.put("transport.window", format!("\"{value}\""), from);
        if let Some(from) = self.window.varies.clone() {
            self.put("transport.window_by_rate", "\"on\"".into(), from);
        }
    }
}

/// The largest base round-trip time of two hosts, ns, and the largest product with the slowest rate on the way, bytes.
pub(crate) fn largest(fabric: &Fabric, payload: u64) -> (u64, u64) {
    let names = fabric.hosts.iter().chain(&fabric.switches).enumerate();
    let number: BTreeMap<&str, usize> = names.map(|(i, name)| (name.as_str(), i)).collect();
    let mut ways: Vec<Vec<(usize, u64, u64, f64)>> = vec![Vec::new(); number.len()];
    for l in &fabric.links {
        let (Some(a), Some(b)) = (number.get(l.a.as_str()), number.get(l.b.as_str())) else { continue };
        let frame = (payload as f64 * 8e9 / l.rate.bps()) as u64;
        let way = (l.delay.as_ps() / 1000, frame, l.rate.bps());
        ways[*a].push((*b, way.0, way.1, way.2));
        ways[*b].push((*a, way.0, way.1, way.2));
    }
    let hosts = fabric.hosts.len();
    // Hosts with one link to the same switch and alike are as far from all others.
    let mut seen = std::collections::BTreeSet::new();
    let (mut trip, mut product) = (0, 0);
    for from in 0..hosts {
        let alike: Vec<_> = ways[from].iter().map(|w| (w.0, w.1, w.3.to_bits())).collect();
        if alike.len() == 1 && !seen.insert(alike) {
            continue;
        }
        let mut at: Vec<Option<(u64, u64, f64)>> = vec![None; ways.len()];
        at[from] = Some((0, 0, f64::INFINITY));
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let Some((delay, frames, rate)) = at[node] else { continue };
            if node < hosts && node != from {
                let own = 2 * delay + frames;
                trip = trip.max(own);
                product = product.max((own as f64 * rate / 8e9) as u64);
                continue;
            }
            for (next, more, frame, bps) in &ways[node] {
                if at[*next].is_none() {
                    at[*next] = Some((delay + more, frames + frame, rate.min(*bps)));
                    queue.push_back(*next);
                }
            }
        }
    }
    (trip, product)
}

#[cfg(test)]
mod tests {
    use super::super::topology;
    use super::*;

    const FILES: &str =
        "TOPOLOGY_FILE t\nFLOW_FILE f\nSIMULATOR_STOP_TIME 2.02\nPACKET_PAYLOAD_SIZE 1000\nBUFFER_SIZE 32\n";
    const MAPS: &str =
        "KMIN_MAP 1 100000000000 300\nKMAX_MAP 1 100000000000 300\nPMAX_MAP 1 100000000000 1\n";

    fn of(text: &str) -> Result<Translated, Vec<ImportError>> {
        let fabric = topology("4 1 3\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n").unwrap();
        let (mut t, wrong) =
            Config::parse(&format!("{FILES}{MAPS}{text}")).unwrap().translate((false, false));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        t.settle(&fabric)?;
        Ok(t)
    }

    /// Each mode has its own parameters, and nothing of another's.
    #[test]
    fn modes_come_to_schemes() {
        let common = "RATE_AI 50Mb/s\nRATE_HAI 250Mb/s\nMIN_RATE 100Mb/s\nDCTCP_RATE_AI 615Mb/s\nEWMA_GAIN 0.0625\nU_TARGET 0.95\n\
                      MI_THRESH 0\nINT_MULTI 4\nFAST_REACT 1\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\nGLOBAL_T 1\nL2_CHUNK_SIZE 4000\n";
        let keys = |mode: &str| {
            let t = of(&format!("{common}{mode}")).unwrap();
            (t.scheme, t.keys.into_iter().collect::<BTreeMap<_, _>>())
        };
        let check = |mode: &str, scheme: &str, expected: &[(&str, &str)]| {
            let (name, keys) = keys(mode);
            assert_eq!(name, scheme);
            for (key, value) in expected {
                assert_eq!(keys.get(*key).map(String::as_str), Some(*value), "{scheme} {key}");
            }
            keys
        };
        let hpcc = check(
            "CC_MODE 3\nHAS_WIN 1\nVAR_WIN 1\nACK_HIGH_PRIO 0\n",
            "hpcc",
            &[
                ("scheme.params.ai_rate", "\"0.05 Gb/s\""),
                ("scheme.params.eta", "0.95"),
                ("scheme.params.max_stage", "0"),
                ("scheme.params.int_multi", "4"),
                ("scheme.params.fast_react", "true"),
                ("scheme.params.telemetry", "\"quantised\""),
                ("scheme.params.base_rtt", "\"4160 ns\""),
                ("transport.telemetry", "\"42 B\""),
                ("transport.ack_length", "\"60 B\""),
                ("transport.ack_telemetry", "\"28 B\""),
                ("transport.ack_every", "1"),
                ("workload.frame", "\"1048 B\""),
            ],
        );
        assert!(!hpcc.contains_key("transport.window") && !hpcc.contains_key("scheme.params.k_min"));
        let timely = check(
            "CC_MODE 7\nHAS_WIN 0\nVAR_WIN 0\n",
            "timely",
            &[
                ("scheme.params.delta", "\"0.05 Gb/s\""),
                ("scheme.params.hai_factor", "5"),
                ("scheme.params.min_rate", "\"0.1 Gb/s\""),
                ("scheme.params.begin", "\"line\""),
                ("scheme.params.stamp", "\"8 B\""),
                ("workload.frame", "\"1048 B\""),
                ("workload.header", "\"48 B\""),
                ("transport.window", "\"off\""),
            ],
        );
        assert!(
            !timely.contains_key("transport.telemetry") && !timely.contains_key("scheme.params.base_rtt")
        );
        check(
            "CC_MODE 8\nHAS_WIN 1\nVAR_WIN 1\nL2_ACK_INTERVAL 1000\n",
            "dctcp",
            &[
                ("scheme.params.form", "\"rate\""),
                ("scheme.params.k", "\"300 KB\""),
                ("scheme.params.k_rate", "\"100 Gb/s\""),
                ("scheme.params.ai_rate", "\"0.615 Gb/s\""),
                ("scheme.params.g", "0.0625"),
                ("transport.ack_every", "1"),
            ],
        );
        // A constant window: 4160 ns at 100 Gb/s.
        let fixed = "CC_MODE 0\nHAS_WIN 1\nVAR_WIN 0\n";
        check(fixed, "none", &[("transport.window", "\"54496 B\"")]);
        let own = keys(fixed).1;
        assert!(own.keys().all(|k| !k.starts_with("scheme.")), "{own:?}");
    }

    /// An error about a setting without a counterpart names its key.
    #[test]
    fn what_has_no_counterpart_is_refused() {
        for (text, key, word) in [
            ("CC_MODE 10", "CC_MODE", "HPCC-PINT"),
            ("CC_MODE 8\nKMAX_MAP_ 1", "KMAX_MAP_", "not a key"),
            ("CC_MODE 3\nMULTI_RATE 1", "MULTI_RATE", "a variant of HPCC"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 1001", "L2_ACK_INTERVAL", "acknowledges no last frame"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 4000", "L2_ACK_INTERVAL", "4000 bytes"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 0", "L2_ACK_INTERVAL", "0 bytes"),
            ("CC_MODE 3\nGLOBAL_T 2", "GLOBAL_T", "neither 0 nor 1"),
            ("CC_MODE 3\nRATE_BOUND 0", "RATE_BOUND", "without pacing"),
            ("CC_MODE 7\nRATE_AI 5Mb/s\nRATE_HAI 1Mb/s", "RATE_HAI", "less than RATE_AI"),
        ] {
            let e = &of(text).unwrap_err()[0];
            assert!(e.key == key && e.reason.contains(word) && !e.remedy.is_empty(), "{text}: {e}");
        }
    }

    /// A window in proportion to the rate, beside a scheme that sets none; without a scheme its rate does not move.
    #[test]
    fn windows_may_move_with_the_rate() {
        for (mode, window, by_rate) in [
            ("CC_MODE 1\nHAS_WIN 1\nVAR_WIN 1", Some("\"54496 B\""), Some("\"on\"")),
            ("CC_MODE 7\nHAS_WIN 1\nVAR_WIN 1\nGLOBAL_T 0", Some("\"bdp\""), Some("\"on\"")),
            ("CC_MODE 1\nHAS_WIN 1\nVAR_WIN 0", Some("\"54496 B\""), None),
            ("CC_MODE 0\nHAS_WIN 1\nVAR_WIN 1", Some("\"54496 B\""), None),
            ("CC_MODE 3\nHAS_WIN 1\nVAR_WIN 1\nMULTI_RATE 0", None, None),
            ("CC_MODE 1\nHAS_WIN 0\nVAR_WIN 1", Some("\"off\""), None),
        ] {
            let t = of(&format!("{mode}\n")).unwrap();
            let value = |key: &str| t.keys.iter().find(|k| k.0 == key).map(|k| k.1.as_str());
            assert_eq!(
                (value("transport.window"), value("transport.window_by_rate")),
                (window, by_rate),
                "{mode}"
            );
        }
    }

    /// DCTCP marks by the step of its maps, or by their ramp.
    #[test]
    fn dctcp_marks_by_step_or_ramp() {
        let ramp = MAPS.replace("KMAX_MAP 1 100000000000 300", "KMAX_MAP 1 100000000000 900");
        let fabric = topology("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n").unwrap();
        let (mut t, wrong) =
            Config::parse(&format!("{FILES}{ramp}CC_MODE 8\n")).unwrap().translate((false, false));
        t.settle(&fabric).unwrap();
        let value = |key: &str| t.keys.iter().find(|k| k.0 == key).map(|k| k.1.as_str());
        assert_eq!(wrong, []);
        assert_eq!(value("scheme.params.k_table"), Some("\"100 Gb/s: 300 KB to 900 KB at 1\""));
    }

    /// The fork's 320 hosts: six links of 1 us, of which two have 100 Gb/s and four 400: 12,000 + 2 x 80 + 4 x 20 ns.
    #[test]
    fn base_round_trips_of_the_forks_networks() {
        let mut links = String::new();
        // One pod of two leaves, and another: host, leaf, spine, core.
        for (a, b, rate) in [(0, 2, 100), (1, 3, 100), (2, 4, 400), (3, 5, 400), (4, 6, 400), (5, 6, 400)] {
            links += &format!("{a} {b} {rate}Gbps 1000ns 0\n");
        }
        let fabric = topology(&format!("7 5 6\n2 3 4 5 6\n{links}")).unwrap();
        assert_eq!(largest(&fabric, 1000), (12_240, 153_000));
    }
}
