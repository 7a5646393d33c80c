//! Configurations: their lines, and what each becomes in a scenario.

#[cfg(test)]
mod tests;

use super::marks::Map;
use super::{Fabric, modes};
use crate::{Faults, FileFlow, ImportError, data_rate, error, lines, seconds};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A configuration file of the fork: its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    entries: Vec<Setting>,
    /// Number of the last line, from 1.
    pub(super) last: usize,
}

/// A line of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// A configuration in cnsim's terms: keys of a scenario, files, and settings without effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Translated {
    /// Dotted keys with their values, as TOML writes them.
    pub keys: Vec<(String, String)>,
    /// Line and key of the configuration that decide a dotted key.
    pub from: BTreeMap<String, (usize, String)>,
    /// Number of the last line.
    pub last: usize,
    /// Topology file, as the configuration names it; empty if it names none.
    pub topology: String,
    /// Flow file, as the configuration names it; empty if it names none.
    pub flows: String,
    /// When it stops, by the clock of the flow file; none: when the flows should be over.
    pub stop: Option<Time>,
    /// Memory of a switch.
    pub buffer: Option<Bytes>,
    /// Name of the scheme that the file asks for.
    pub scheme: String,
    /// Settings that were left out, each with the reason.
    pub notes: Vec<String>,
    pub(super) maps: Vec<Map>,
    pub(super) window: modes::HeldBack,
}

impl Translated {
    /// Settles what depends on the network: marks, base round-trip time and window.
    ///
    /// # Errors
    /// DCQCN and DCTCP: links whose rate a map of marks lacks.
    pub fn settle(&mut self, fabric: &Fabric) -> Result<(), Vec<ImportError>> {
        self.hold_back(fabric);
        self.mark(fabric)
    }

    /// Bytes of a full frame on a link.
    pub fn frame(&self) -> u64 {
        self.window.payload + HEADER + modes::beside(&self.scheme)
    }

    /// Sets a key by a line of the configuration.
    pub(super) fn put(&mut self, key: &str, value: String, from: (usize, String)) {
        self.keys.push((key.into(), value));
        self.from.insert(key.into(), from);
    }
}

/// Differences of these flows from the fork, a sentence each; `shared`: flows of a pair of hosts have no queue pairs.
pub fn otherwise(flows: &[FileFlow], shared: bool, scheme: &str) -> Vec<String> {
    let mut of_pair: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    flows.iter().for_each(|f| of_pair.entry((&f.src, &f.dst)).or_default().push(f.line));
    let several: Vec<&Vec<usize>> = of_pair.values().filter(|lines| lines.len() > 1).collect();
    let limiters = several.iter().min().filter(|_| shared).map(|first| {
        format!(
            "{} pairs of hosts have several flows, as in lines {} and {} of the flows: flows of a pair share one queue here, and \
             each has its own in the fork",
            several.len(),
            first[0],
            first[1]
        )
    });
    let ports = flows.iter().find_map(|f| Some((f.line, f.port.filter(|p| *p != PORT)?))).map(|(line, port)| {
        format!("line {line} of the flows has port {port}: paths are those of port {PORT}, which the hash of the fork includes")
    });
    let hosts: BTreeSet<&str> = flows.iter().map(|f| f.src.as_str()).collect();
    let sleeps = (scheme == "hpcc" && hosts.len() < flows.len()).then(|| {
        "hosts send several flows, and the NIC of the fork sleeps while one of them waits for its window and another for its time: the \
         fork ends them later than cnsim does"
            .to_string()
    });
    limiters.into_iter().chain(ports).chain(sleeps).collect()
}

/// Port at the receiving host that the hash of paths includes: that of the fork's own files.
pub(super) const PORT: u32 = 100;

/// Keys that DCQCN, TIMELY and the fork itself cannot do without, or whose absence leaves a value of cnsim's.
const WANTED: &[(&str, &[&str])] = &[
    ("RP_TIMER", &["dcqcn"]),
    ("EWMA_GAIN", &["dcqcn", "dctcp"]),
    ("RATE_AI", &["dcqcn", "hpcc", "timely"]),
    ("RATE_HAI", &["dcqcn", "timely"]),
];

/// Values that the fork takes where a configuration has none, and the schemes for which they matter; of an empty list: all.
const OWN: &[(&str, &str, &[&str])] = &[
    ("PACKET_PAYLOAD_SIZE", "1000", &[]),
    ("BUFFER_SIZE", "16", &[]),
    ("HAS_WIN", "1", &[]),
    ("VAR_WIN", "0", &[]),
    ("GLOBAL_T", "1", &[]),
    ("ALPHA_RESUME_INTERVAL", "55", &["dcqcn"]),
    ("RATE_DECREASE_INTERVAL", "4", &["dcqcn"]),
    ("FAST_RECOVERY_TIMES", "5", &["dcqcn"]),
    ("CLAMP_TARGET_RATE", "0", &["dcqcn"]),
    ("MIN_RATE", "100Mb/s", &["dcqcn", "hpcc", "timely", "dctcp"]),
    ("DCTCP_RATE_AI", "1000Mb/s", &["dctcp"]),
    ("U_TARGET", "0.95", &["hpcc"]),
    ("MI_THRESH", "5", &["hpcc"]),
    ("INT_MULTI", "1", &["hpcc"]),
    ("FAST_REACT", "1", &["hpcc"]),
    ("MULTI_RATE", "1", &["hpcc"]),
];

impl Config {
    /// Reads the lines.
    ///
    /// # Errors
    /// All keys that stand twice, or without a value.
    pub fn parse(text: &str) -> Result<Self, Vec<ImportError>> {
        let mut config = Self { last: text.lines().count().max(1), ..Self::default() };
        let mut faults = Faults::default();
        for (line, words) in lines(text).filter(|(_, w)| !w[0].starts_with('#')) {
            let values: Vec<String> = words[1..].iter().map(|w| (*w).to_string()).collect();
            let setting = Setting { line, key: words[0].into(), values };
            if setting.values.is_empty() {
                faults.push(setting.error("has no value", "write `KEY value`"));
            } else if let Some(before) = config.find(words[0]) {
                let reason = format!("stands in line {} already", before.line);
                faults.push(setting.error(reason, "write each key once"));
            } else {
                config.entries.push(setting);
            }
        }
        faults.or(config)
    }

    /// Converts the configuration, and names all faults in it: unknown keys, invalid values, settings that cnsim does not support.
    /// `given`: topology and flows come from other files than those in it.
    pub fn translate(&self, given: (bool, bool)) -> (Translated, Vec<ImportError>) {
        let (mut t, mut faults) =
            (Translated { last: self.last, ..Translated::default() }, Faults::default());
        let other = self.entries.iter().filter(|e| RDMA.contains(&e.key.as_str())).collect::<Vec<_>>();
        if let [first, rest @ ..] = &other[..] {
            let more =
                if rest.is_empty() { String::new() } else { format!(", as are {} others", rest.len()) };
            let reason =
                format!("is a key of ns3-rdma{more}: a DCQCN without acknowledgements, in other terms");
            faults.push(
                first
                    .error(reason, "write a configuration of the HPCC fork, or a scenario with scheme dcqcn"),
            );
        }
        t.scheme = self.find("CC_MODE").map_or(Ok("dcqcn"), Setting::mode).unwrap_or("none").into();
        let full = self.completed(&mut t);
        let mut outputs: Vec<&Setting> = Vec::new();
        for e in &full.entries {
            let before = t.keys.len();
            if OUTPUTS.contains(&e.key.as_str()) {
                outputs.push(e);
            } else if !RDMA.contains(&e.key.as_str()) {
                faults.keep(e.translate(&full, &mut t));
            }
            for (key, _) in &t.keys[before..] {
                t.from.insert(key.clone(), (e.line, e.key.clone()));
            }
            let also = ALSO.iter().find(|a| a.0 == e.key);
            t.from.extend(also.map(|a| (a.1.to_string(), (e.line, e.key.clone()))));
        }
        if let [first, rest @ ..] = &outputs[..] {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} other keys", rest.len()) };
            t.notes.push(format!("line {}: {}{more}: cnsim writes its own files", first.line, first.key));
        }
        full.modes(&mut t, &mut faults);
        for (key, name, given) in [("TOPOLOGY_FILE", &t.topology, given.0), ("FLOW_FILE", &t.flows, given.1)]
        {
            if name.is_empty() && !given {
                faults.push(self.missing(key, format!("name the file: {key} FILE")));
            }
        }
        if t.stop.is_none() && self.find("SIMULATOR_STOP_TIME").or(self.find("FLOWGEN_STOP_TIME")).is_none() {
            faults.push(self.missing("SIMULATOR_STOP_TIME", "say when the run ends, in seconds".into()));
        }
        (t, faults.all())
    }

    fn missing(&self, key: &str, remedy: String) -> ImportError {
        ImportError { key: key.into(), ..error(self.last, "is missing", remedy) }
    }

    /// With the values that the fork takes where the file has none, and notes on these and on those that the fork has not.
    fn completed(&self, t: &mut Translated) -> Self {
        let mut full = self.clone();
        let scheme = t.scheme.as_str();
        let (mut own, mut absent) = (Vec::new(), Vec::new());
        for (key, value, schemes) in OWN.iter().filter(|o| self.find(o.0).is_none()) {
            if schemes.is_empty() || schemes.contains(&scheme) {
                // Without a window the settings of one have no effect.
                let windows = self.find("HAS_WIN").is_none_or(|s| s.values != ["0"]);
                if windows || !matches!(*key, "VAR_WIN" | "GLOBAL_T") {
                    own.push(format!("{key} {value}"));
                }
                let values = vec![(*value).to_string()];
                full.entries.push(Setting { line: self.last, key: (*key).into(), values });
            }
        }
        let wanted = WANTED.iter().filter(|w| w.1.contains(&scheme) && self.find(w.0).is_none());
        absent.extend(wanted.map(|w| w.0));
        if !own.is_empty() {
            t.notes
                .push(format!("the fork's own values of what the configuration lacks: {}", own.join(", ")));
        }
        if !absent.is_empty() {
            let keys = absent.join(", ");
            t.notes.push(format!("without {keys}: cnsim's default, for the fork has none"));
        }
        full
    }

    pub(super) fn find(&self, key: &str) -> Option<&Setting> {
        self.entries.iter().find(|e| e.key == key)
    }
}

impl Setting {
    pub(super) fn error(&self, reason: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError { key: self.key.clone(), ..error(self.line, reason, remedy) }
    }

    /// The only value of the key.
    pub(super) fn one(&self) -> Result<&str, ImportError> {
        match &self.values[..] {
            [one] => Ok(one),
            many => Err(self.error(format!("has {} values", many.len()), "write one value")),
        }
    }

    pub(super) fn number(&self) -> Result<f64, ImportError> {
        let text = self.one()?;
        let value = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        value.ok_or_else(|| self.error(format!("`{text}` is not a number"), "write a number from 0 on"))
    }

    pub(super) fn whole(&self) -> Result<u32, ImportError> {
        let value = self.number()?;
        let whole = value.fract() == 0.0 && value <= f64::from(u32::MAX);
        if whole {
            Ok(value as u32)
        } else {
            Err(self.error(format!("{value} is no whole number"), "write one"))
        }
    }

    pub(super) fn flag(&self) -> Result<bool, ImportError> {
        match self.whole()? {
            0 => Ok(false),
            1 => Ok(true),
            n => Err(self.error(format!("{n} is neither 0 nor 1"), "write 0 or 1")),
        }
    }

    pub(super) fn rate(&self) -> Result<Rate, ImportError> {
        let text = self.one()?;
        data_rate(text)
            .ok_or_else(|| self.error(format!("`{text}` is not a rate"), "write for example 100Gb/s"))
    }

    /// The scheme that a `CC_MODE` names. The fork has no handler for mode 12, which astra-sim's files ask for: its flows send at
    /// line rate.
    fn mode(&self) -> Result<&'static str, ImportError> {
        Ok(match self.whole()? {
            0 | 12 => "none",
            1 => "dcqcn",
            3 => "hpcc",
            7 => "timely",
            8 => "dctcp",
            mode => {
                let name = if mode == 10 { "HPCC-PINT" } else { "no scheme that is known" };
                let reason = format!("{mode} is {name}, which cnsim has not");
                let help = "write 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP), or 0 for no scheme";
                return Err(self.error(reason, help));
            }
        })
    }

    fn translate(&self, config: &Config, t: &mut Translated) -> Result<(), ImportError> {
        let dcqcn = t.scheme == "dcqcn";
        let mut put = |key: &str, value: String| t.keys.push((key.to_string(), value));
        // A parameter of DCQCN has to be valid under other schemes, too, and has no effect there.
        let mut param = |key: &str, value: String| {
            if dcqcn {
                put(&format!("scheme.params.{key}"), value);
            }
        };
        let micros = |v: f64| format!("\"{v} us\"");
        match self.key.as_str() {
            "CC_MODE" => {
                if self.mode()? == "none" && self.whole()? == 12 {
                    t.notes.push(format!(
                        "line {}: CC_MODE 12 has no handler in the fork's kin: flows send at line rate, as with 0",
                        self.line
                    ));
                }
            }
            "TOPOLOGY_FILE" => t.topology = self.one()?.into(),
            "FLOW_FILE" => t.flows = self.one()?.into(),
            "SIMULATOR_STOP_TIME" => t.stop = self.stop(&mut t.notes)?,
            "PACKET_PAYLOAD_SIZE" => {
                let payload = self.within(self.whole()?, 16..=9168, "bytes")?;
                put("workload.frame", format!("\"{} B\"", u64::from(payload) + HEADER));
                put("workload.header", format!("\"{HEADER} B\""));
            }
            "BUFFER_SIZE" => {
                let mib = self.within(self.number()?, 0.001..=4000.0, "MB")?;
                t.buffer = Some(Bytes::new((mib * 1_048_576.0) as u64));
            }
            "ALPHA_RESUME_INTERVAL" => param("alpha_period", micros(self.number()?)),
            "RATE_DECREASE_INTERVAL" => param("cut_period", micros(self.number()?)),
            "RP_TIMER" => param("time_reset", micros(self.number()?)),
            "EWMA_GAIN" => param("g", format!("{}", self.number()?)),
            "FAST_RECOVERY_TIMES" => param("threshold", self.whole()?.to_string()),
            "RATE_AI" => param("ai_rate", format!("\"{}\"", self.rate()?)),
            "RATE_HAI" => param("hai_rate", format!("\"{}\"", self.rate()?)),
            "MIN_RATE" => param("min_rate", format!("\"{}\"", self.rate()?)),
            "CLAMP_TARGET_RATE" => param("clamp_tgt_rate", (self.number()? != 0.0).to_string()),
            "KMIN_MAP" | "KMAX_MAP" | "PMAX_MAP" => {
                let map = Map::read(self);
                t.maps.push(map.clone().unwrap_or_else(|_| Map::unreadable(self)));
                t.notes.extend(map?.unread());
            }
            _ => return self.lacking(config, t),
        }
        Ok(())
    }

    /// A key that asks for what cnsim has not, unless its value says otherwise; or one that the run does not need.
    fn lacking(&self, config: &Config, t: &mut Translated) -> Result<(), ImportError> {
        let flag = |want: f64, has: &str| -> Result<(), ImportError> {
            if self.number()? == want {
                return Ok(());
            }
            let reason = format!("{} asks for {has}, which cnsim has not", self.one()?);
            Err(self.error(reason, format!("write {want}")))
        };
        match self.key.as_str() {
            "ENABLE_QCN" => {
                if matches!(t.scheme.as_str(), "dcqcn" | "dctcp") {
                    flag(1.0, "switches that do not mark")?;
                } else {
                    self.flag()?;
                }
            }
            "RATE_BOUND" => flag(1.0, "flows without pacing")?,
            "ERROR_RATE_PER_LINK" => flag(0.0, "links that lose frames")?,
            "ENABLE_TRACE" => {
                if self.number()? != 0.0 {
                    t.notes
                        .push(format!("line {}: {}: cnsim writes no trace of packets", self.line, self.key));
                }
            }
            "L2_BACK_TO_ZERO" => flag(0.0, "transfers that begin anew after a loss")?,
            "LINK_DOWN" => {
                if self.values.iter().any(|v| v.parse() != Ok(0.0)) {
                    return Err(
                        self.error("asks for a link that fails, which cnsim cannot simulate", "write 0 0 0")
                    );
                }
            }
            "USE_DYNAMIC_PFC_THRESHOLD" => t.notes.push(format!(
                "line {}: {}: the fork's switches have dynamic thresholds, whatever it says",
                self.line, self.key
            )),
            "LB_MODE" => flag(0.0, "load balancing of ConWeave's simulator").map_err(|e| ImportError {
                remedy: "write 0; a scenario has topology.routing".into(),
                ..e
            })?,
            "ENABLE_PFC" => flag(1.0, "switches of ConWeave's simulator without PFC")?,
            "ENABLE_IRN" => flag(0.0, "selective retransmission")?,
            key if OF_MODES.contains(&key) || UNUSED.contains(&key) || key.starts_with("CONWEAVE_") => {
                self.one()?;
            }
            _ => return Err(self.unknown(config)),
        }
        Ok(())
    }

    /// The run's end; none where that is the end of its flows. Files of astra-sim and SimAI have 4e13 s for it.
    fn stop(&self, notes: &mut Vec<String>) -> Result<Option<Time>, ImportError> {
        let text = self.one()?;
        if text.parse::<f64>().is_ok_and(|s| s > LONGEST && s.is_finite()) {
            notes.push(format!(
                "line {}: SIMULATOR_STOP_TIME {text} is taken as: to the end of the flows",
                self.line
            ));
            return Ok(None);
        }
        let stop = seconds(self.line, text).map_err(|e| ImportError { key: self.key.clone(), ..e })?;
        if stop == Time::ZERO {
            return Err(self.error("0 s: the run ends as it begins", "write a later end, in seconds"));
        }
        Ok(Some(stop))
    }

    /// A number that lies within its bounds.
    fn within<T: PartialOrd + Display + Copy>(
        &self,
        number: T,
        bounds: RangeInclusive<T>,
        unit: &str,
    ) -> Result<T, ImportError> {
        if bounds.contains(&number) {
            return Ok(number);
        }
        let allowed = format!("allowed: {} to {} {unit}", bounds.start(), bounds.end());
        Err(self.error(format!("{number} {unit}"), allowed))
    }

    /// A key that is not known, with the nearest one that the file has not.
    fn unknown(&self, config: &Config) -> ImportError {
        let known = KNOWN.iter().chain(OF_MODES).chain(OUTPUTS).copied();
        let near = cnsim_problem::nearest(&self.key, known.filter(|k| config.find(k).is_none()));
        let remedy = near.map_or_else(
            || "remove the line if the run does not need it".into(),
            |n| format!("did you mean {n}?"),
        );
        self.error("is not a key that cnsim knows", remedy)
    }
}

/// Longest run, seconds: what ends later runs to the end of its flows.
const LONGEST: f64 = 1000.0;

/// Bytes that every frame of the fork carries beside its payload: Ethernet 14, IPv4 20, UDP 8, sequence number and class 6.
const HEADER: u64 = 48;

/// Keys of a scenario that a line decides beside those that it becomes.
const ALSO: &[(&str, &str)] = &[
    ("BUFFER_SIZE", "switch.memory"),
    ("SIMULATOR_STOP_TIME", "run.duration"),
    ("TOPOLOGY_FILE", "topology.file"),
    ("FLOW_FILE", "workload.file"),
];

/// Keys that concern one scheme or another, or acknowledgements and windows: [`modes`] reads them. The rest has no effect in the
/// fork's runs.
const OF_MODES: &[&str] = &[
    "DCTCP_RATE_AI", "HAS_WIN", "GLOBAL_T", "VAR_WIN", "FAST_REACT", "U_TARGET", "MI_THRESH", "INT_MULTI",
    "MULTI_RATE", "SAMPLE_FEEDBACK", "PINT_LOG_BASE", "PINT_PROB", "ACK_HIGH_PRIO", "L2_CHUNK_SIZE",
    "L2_ACK_INTERVAL", "PAUSE_TIME", "DATA_RATE", "LINK_DELAY",
];

/// Keys of ConWeave's simulator that say how its flows were made.
const UNUSED: &[&str] = &["FLOWGEN_START_TIME", "FLOWGEN_STOP_TIME", "LOAD", "RANDOM_SEED", "TRACE_FILE"];

/// Keys of the output files of the fork, of ConWeave's simulator, of SimAI and of astra-sim, and of their content.
const OUTPUTS: &[&str] = &[
    "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE", "QLEN_MON_START",
    "QLEN_MON_END", "FLOW_INPUT_FILE", "CNP_OUTPUT_FILE", "VOQ_MON_FILE", "VOQ_MON_DETAIL_FILE",
    "UPLINK_MON_FILE", "CONN_MON_FILE", "EST_ERROR_MON_FILE", "SW_MONITORING_INTERVAL", "BW_MON_FILE",
    "RATE_MON_FILE", "CNP_MON_FILE", "MON_START", "MON_END", "QP_MON_INTERVAL", "QLEN_MON_INTERVAL",
    "BW_MON_INTERVAL", "TRACE_NODE", "NIC_TOTAL_PAUSE_TIME",
];

/// Keys of ns3-rdma that the fork has not.
const RDMA: &[&str] = &[
    "PACKET_LEVEL_ECMP", "FLOW_LEVEL_ECMP", "TCP_FLOW_FILE", "SEND_IN_CHUNKS", "APP_START_TIME",
    "APP_STOP_TIME", "CNP_INTERVAL", "NP_SAMPLING_INTERVAL", "CLAMP_TARGET_RATE_AFTER_TIMER", "BYTE_COUNTER",
    "DCTCP_GAIN", "KMAX", "KMIN", "PMAX", "L2_WAIT_FOR_ACK",
];

/// Keys that are known beside those of the schemes.
const KNOWN: &[&str] = &[
    "CC_MODE", "TOPOLOGY_FILE", "FLOW_FILE", "SIMULATOR_STOP_TIME", "PACKET_PAYLOAD_SIZE", "BUFFER_SIZE",
    "ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "RP_TIMER", "EWMA_GAIN", "FAST_RECOVERY_TIMES",
    "RATE_AI", "RATE_HAI", "MIN_RATE", "CLAMP_TARGET_RATE", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP", "ENABLE_QCN",
    "RATE_BOUND", "ERROR_RATE_PER_LINK", "ENABLE_TRACE", "L2_BACK_TO_ZERO", "LINK_DOWN",
    "USE_DYNAMIC_PFC_THRESHOLD", "TRACE_FILE",
];
