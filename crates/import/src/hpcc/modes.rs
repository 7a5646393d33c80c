//! What depends on the scheme, `CC_MODE`: its parameters, its acknowledgements and its window.
//!
//! The fork's window is the product of rate and base round-trip time: that of a flow's own pair, or with `GLOBAL_T` the largest of
//! all pairs of hosts. With `VAR_WIN` it moves with the rate. Its base round-trip time is twice the propagation, and one payload at
//! each link of the way out, each in whole nanoseconds.

use super::{Config, Fabric, ImportError, Setting, Translated};
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

/// What a scheme reads: key of the fork, parameter, form.
type Reads = &'static [(&'static str, &'static str, Form)];
/// What the fork has fixed: parameter, value.
type Fixed = &'static [(&'static str, &'static str)];

/// What HPCC reads, and its readings in the fork; then TIMELY and DCTCP.
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

/// The window that the fork gives its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HeldBack {
    /// The largest base round-trip time is that of all flows: line and key that ask for it.
    global: Option<(usize, String)>,
    /// Windows of a constant size: line and key that ask for them.
    constant: Option<(usize, String)>,
    /// Payload of a frame.
    payload: u64,
}

impl Setting {
    fn flag(&self) -> Result<bool, ImportError> {
        match self.whole()? {
            0 => Ok(false),
            1 => Ok(true),
            n => Err(self.error(format!("{n} is neither 0 nor 1"), "write 0 or 1")),
        }
    }
}

impl Config {
    fn flag(&self, key: &str, usual: bool) -> Result<bool, ImportError> {
        self.find(key).map_or(Ok(usual), Setting::flag)
    }

    /// The frames of a scheme and its acknowledgements, one for each frame. With an L2_ACK_INTERVAL above a payload the fork acknowledges
    /// the frames that pass its multiples alone, and the last frame of a flow only by chance.
    pub(super) fn acknowledgements(&self, payload: u32, t: &mut Translated) -> Result<(), ImportError> {
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
        self.flag("ACK_HIGH_PRIO", true)?;
        let mut put = |key: &str, value: String| t.keys.push((format!("transport.{key}"), value));
        put("ack_every", "1".into());
        put("ack_length", format!("\"{ACK} B\""));
        if t.scheme == "hpcc" {
            put("telemetry", format!("\"{TELEMETRY} B\""));
            put("ack_telemetry", format!("\"{ACK_TELEMETRY} B\""));
        }
        Ok(())
    }

    /// The window: that of the scheme, a constant one, or none.
    pub(super) fn window(&self, payload: u32, t: &mut Translated) -> Result<(), ImportError> {
        let own = matches!(t.scheme.as_str(), "hpcc" | "dctcp");
        let (has, varies) = (self.flag("HAS_WIN", own)?, self.flag("VAR_WIN", own)?);
        let global = self.flag("GLOBAL_T", true)?;
        let at = |key: &str| self.find(key).map_or((self.last, key.to_string()), |s| (s.line, s.key.clone()));
        t.from.insert("transport.window".into(), at("HAS_WIN"));
        t.window.payload = u64::from(payload);
        t.window.global = global.then(|| at("GLOBAL_T"));
        if !has {
            t.keys.push(("transport.window".into(), "\"off\"".into()));
        } else if !varies {
            t.window.constant = Some(at("HAS_WIN"));
        } else if !own {
            let setting = self.find("VAR_WIN");
            let reason =
                format!("asks for a window in proportion to the rate, which cnsim's {} has not", t.scheme);
            return setting.map_or(Ok(()), |s| Err(s.error(reason, "write 0, or HAS_WIN 0")));
        }
        Ok(())
    }

    /// Parameters of HPCC, TIMELY and DCTCP.
    pub(super) fn mode(&self, t: &mut Translated) -> Result<(), ImportError> {
        let Some((name, reads, fixed)) = SCHEMES.iter().find(|s| s.0 == t.scheme) else { return Ok(()) };
        let param = |key: &str| format!("scheme.params.{key}");
        let mut absent = Vec::new();
        for (key, own, form) in *reads {
            let Some(s) = self.find(key) else {
                absent.push(*key);
                continue;
            };
            let value = match form {
                Form::Rate => format!("\"{}\"", s.rate()?),
                Form::Number => s.number()?.to_string(),
                Form::Whole => s.whole()?.to_string(),
                Form::Flag => s.flag()?.to_string(),
            };
            t.keys.push((param(own), value));
            t.from.insert(param(own), (s.line, s.key.clone()));
        }
        t.keys.extend(fixed.iter().map(|(key, value)| (param(key), (*value).to_string())));
        match *name {
            "hpcc" => {
                for key in ["MULTI_RATE", "SAMPLE_FEEDBACK"] {
                    if let Some(s) = self.find(key).filter(|s| s.one().is_ok_and(|v| v != "0")) {
                        return Err(s.error("asks for a variant of HPCC which cnsim has not", "write 0"));
                    }
                }
            }
            "timely" => self.faster(t)?,
            _ => self.step(t)?,
        }
        absent.extend(
            ["PACKET_PAYLOAD_SIZE", "BUFFER_SIZE", "HAS_WIN"].iter().filter(|k| self.find(k).is_none()),
        );
        if !absent.is_empty() {
            let keys = absent.join(", ");
            t.notes.push(format!("without {keys}: cnsim's default, which need not be the fork's"));
        }
        Ok(())
    }

    /// TIMELY's step after five increases in a row, as a multiple of the usual one.
    fn faster(&self, t: &mut Translated) -> Result<(), ImportError> {
        let (Some(usual), Some(faster)) = (self.find("RATE_AI"), self.find("RATE_HAI")) else {
            return Ok(());
        };
        let (one, more) = (usual.rate()?, faster.rate()?);
        if one <= Rate::ZERO || more < one {
            return Err(faster.error(format!("{more} is less than RATE_AI, {one}"), "write at least RATE_AI"));
        }
        t.keys.push(("scheme.params.hai_factor".into(), (more.bps() / one.bps()).to_string()));
        t.from.insert("scheme.params.hai_factor".into(), (faster.line, faster.key.clone()));
        Ok(())
    }

    /// DCTCP marks by a step: both ends of the ramp are one.
    fn step(&self, t: &mut Translated) -> Result<(), ImportError> {
        let (Some(low), Some(high)) = (self.find("KMIN_MAP"), self.find("KMAX_MAP")) else { return Ok(()) };
        if low.by_rate()? != high.by_rate()? {
            let reason = "differs from KMIN_MAP: marks of a ramp, and cnsim's DCTCP marks by a step";
            return Err(high.error(reason, "write the values of KMIN_MAP"));
        }
        let (rate, value) = low.scaled()?;
        for (key, value) in
            [("k", format!("\"{value} KB\"")), ("k_rate", format!("\"{}\"", Rate::from_gbps(rate)))]
        {
            t.keys.push((format!("scheme.params.{key}"), value));
            t.from.insert(format!("scheme.params.{key}"), (low.line, low.key.clone()));
        }
        Ok(())
    }
}

impl Translated {
    /// Settles what depends on the network: base round-trip time and window.
    pub(crate) fn hold_back(&mut self, fabric: &Fabric) {
        let (trip, product) = largest(fabric, self.window.payload);
        let own = matches!(self.scheme.as_str(), "hpcc" | "dctcp");
        if let Some(from) = self.window.global.clone().filter(|_| own) {
            self.keys.push(("scheme.params.base_rtt".into(), format!("\"{trip} ns\"")));
            self.from.insert("scheme.params.base_rtt".into(), from);
        }
        let Some(from) = self.window.constant.clone() else { return };
        let value = match self.window.global {
            Some(_) => format!("{product} B"),
            None => {
                self.notes.push(
                    "GLOBAL_T 0 without VAR_WIN: the window of a flow is that of cnsim's round-trip time, with headers and the acknowledgement"
                        .into(),
                );
                "bdp".into()
            }
        };
        self.keys.push(("transport.window".into(), format!("\"{value}\"")));
        self.from.insert("transport.window".into(), from);
    }
}

/// The largest base round-trip time of two hosts, ns, and the largest product with the slowest rate on the way, bytes.
pub(super) fn largest(fabric: &Fabric, payload: u64) -> (u64, u64) {
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

    fn of(text: &str) -> Result<Translated, ImportError> {
        let fabric = topology("4 1 3\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n").unwrap();
        let mut t = Config::parse(&format!("{FILES}{MAPS}{text}")).unwrap().translate(false)?;
        t.fits(&fabric)?;
        t.hold_back(&fabric);
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
        check(fixed, "none", &[("transport.window", "\"52000 B\"")]);
        let own = keys(fixed).1;
        assert!(own.keys().all(|k| !k.starts_with("scheme.")), "{own:?}");
    }

    /// What has no counterpart names its key.
    #[test]
    fn what_has_no_counterpart_is_refused() {
        for (text, key, word) in [
            ("CC_MODE 10", "CC_MODE", "HPCC-PINT"),
            ("CC_MODE 7\nHAS_WIN 1\nVAR_WIN 1", "VAR_WIN", "cnsim's timely has not"),
            ("CC_MODE 8\nKMAX_MAP_ 1", "KMAX_MAP_", "not a key"),
            ("CC_MODE 3\nMULTI_RATE 1", "MULTI_RATE", "a variant of HPCC"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 1001", "L2_ACK_INTERVAL", "acknowledges no last frame"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 4000", "L2_ACK_INTERVAL", "4000 bytes"),
            ("CC_MODE 3\nL2_ACK_INTERVAL 0", "L2_ACK_INTERVAL", "0 bytes"),
            ("CC_MODE 3\nGLOBAL_T 2", "GLOBAL_T", "neither 0 nor 1"),
            ("CC_MODE 3\nRATE_BOUND 0", "RATE_BOUND", "without pacing"),
            ("CC_MODE 7\nRATE_AI 5Mb/s\nRATE_HAI 1Mb/s", "RATE_HAI", "less than RATE_AI"),
        ] {
            let e = of(text).unwrap_err();
            assert!(e.key == key && e.reason.contains(word) && !e.remedy.is_empty(), "{text}: {e}");
        }
        let ramp = MAPS.replace("KMAX_MAP 1 100000000000 300", "KMAX_MAP 1 100000000000 900");
        let e = Config::parse(&format!("{FILES}{ramp}CC_MODE 8\n")).unwrap().translate(false).unwrap_err();
        assert_eq!((e.key.as_str(), e.line), ("KMAX_MAP", 7));
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
