//! Files of the ns-3 fork that Li et al., *HPCC*, SIGCOMM 2019, published, and that most RoCE studies descend from.
//!
//! * Topology: `nodes switches links`, the numbers of the switches, then `a b rate delay error_rate` a link. SimAI's has
//!   another first line, `nodes gpus_per_server nvswitches switches links gpu_type`; its NVSwitches are switches here.
//! * Flows: their number, then `src dst class dst_port bytes start` a flow, start in seconds.
//! * Configuration: `KEY value ...` a line.
//!
//! This file is long because a configuration has many keys. A count that is smaller than the lines that follow is legal, as in the fork, which reads that many and no more.

mod modes;

use super::{Fabric, FabricLink, FileFlow, ImportError, error, lines, seconds, word};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Most nodes, links and flows that a file may announce.
const MOST: u64 = 50_000_000;

fn count(line: usize, words: &[&str], at: usize, what: &str) -> Result<usize, ImportError> {
    let n: u64 = word(line, words, at, what)?;
    if n > MOST {
        return Err(error(line, format!("{n} is too many for {what}"), format!("at most {MOST} are read")));
    }
    Ok(n as usize)
}

/// Refuses words behind the last that the format has: the fork would read them as the next line's.
fn at_most(line: usize, words: &[&str], most: usize, form: &str) -> Result<(), ImportError> {
    match words.get(most) {
        None => Ok(()),
        Some(word) => Err(error(line, format!("`{word}` is one word too many"), format!("a line is {form}"))),
    }
}

/// Reads a topology of the fork, or one with SimAI's header.
///
/// # Errors
/// The first line that is not of the format, fewer links than announced, a link to a node that is not there or to itself,
/// a rate or delay that is none, a link that loses frames (cnsim's do not).
pub fn topology(text: &str) -> Result<Fabric, ImportError> {
    let mut lines = lines(text);
    let head = "the first line is `nodes switches links`, or `nodes gpus_per_server nvswitches switches links gpu_type`";
    let Some((at, first)) = lines.next() else { return Err(error(1, "the file is empty", head)) };
    let (header, simai) = (at, first.len() == 6);
    if !simai && first.len() != 3 {
        return Err(error(at, format!("{} words in the first line", first.len()), head));
    }
    let nodes = count(at, &first, 0, "the number of nodes")?;
    let switches = if simai {
        count(at, &first, 2, "the number of NVSwitches")? + count(at, &first, 3, "the number of switches")?
    } else {
        count(at, &first, 1, "the number of switches")?
    };
    let links = count(at, &first, if simai { 4 } else { 2 }, "the number of links")?;
    if nodes > 70_000 || switches > nodes {
        return Err(error(
            at,
            format!("{nodes} nodes, {switches} of them switches"),
            "at most 70,000 nodes are possible",
        ));
    }
    let mut is_switch = BTreeSet::new();
    while is_switch.len() < switches {
        let Some((at, words)) = lines.next() else {
            let reason = format!("{switches} switches are announced and {} listed", is_switch.len());
            return Err(error(header, reason, head));
        };
        for i in 0..words.len() {
            let id: usize = word(at, &words, i, "the number of a switch")?;
            if id >= nodes {
                return Err(error(
                    at,
                    format!("switch {id}: there are nodes 0 to {}", nodes - 1),
                    "number them from 0",
                ));
            }
            if !is_switch.insert(id) {
                return Err(error(at, format!("switch {id} is listed twice"), "list each switch once"));
            }
        }
        if is_switch.len() > switches {
            return Err(error(at, format!("more than the {switches} switches announced"), head));
        }
    }
    let name = |id: usize| if is_switch.contains(&id) { format!("S{id}") } else { format!("H{id}") };
    let mut fabric = Fabric {
        hosts: (0..nodes).filter(|n| !is_switch.contains(n)).map(name).collect(),
        switches: (0..nodes).filter(|n| is_switch.contains(n)).map(name).collect(),
        links: Vec::with_capacity(links.min(1 << 20)),
    };
    for _ in 0..links {
        let Some((at, words)) = lines.next() else {
            let reason = format!("{links} links are announced and {} listed", fabric.links.len());
            return Err(error(header, reason, "correct the count in the first line, or add the links"));
        };
        at_most(at, &words, 5, "`a b rate delay error_rate`")?;
        let (a, b): (usize, usize) = (word(at, &words, 0, "a node")?, word(at, &words, 1, "a node")?);
        if let Some(bad) = [a, b].into_iter().find(|n| *n >= nodes) {
            return Err(error(
                at,
                format!("node {bad}: there are nodes 0 to {}", nodes - 1),
                "name two of them",
            ));
        }
        if a == b {
            return Err(error(at, format!("node {a} is linked to itself"), "name two different nodes"));
        }
        let rate: Rate = word(at, &words, 2, "a rate such as 100Gbps")?;
        let delay: Time = word(at, &words, 3, "a delay such as 1000ns")?;
        if rate <= Rate::ZERO {
            return Err(error(at, "the link has no rate", "write for example 100Gbps"));
        }
        if words.len() > 4 {
            let loss: f64 = word(at, &words, 4, "an error rate")?;
            if loss != 0.0 {
                return Err(error(
                    at,
                    format!("the link loses a share {loss} of its frames"),
                    "links of cnsim lose none: write 0",
                ));
            }
        }
        fabric.links.push(FabricLink { line: at, a: name(a), b: name(b), rate, delay });
    }
    Ok(fabric)
}

/// Reads flows of the fork; `fabric` knows the hosts, where they are to be looked up. They come in the order of the file, which the fork wants to be that of
/// their starts.
///
/// # Errors
/// The first line that is not of the format, fewer flows than announced, a flow to itself, of or to a host that is not there,
/// of 0 bytes, or that starts before the flow above it.
pub fn flows(text: &str, fabric: Option<&Fabric>) -> Result<Vec<FileFlow>, ImportError> {
    let mut lines = lines(text);
    let head = "the first line is the number of flows";
    let Some((header, first)) = lines.next() else { return Err(error(1, "the file is empty", head)) };
    if first.len() != 1 {
        return Err(error(header, format!("{} words in the first line", first.len()), head));
    }
    let announced = count(header, &first, 0, "the number of flows")?;
    let hosts: BTreeSet<&str> = fabric.iter().flat_map(|f| &f.hosts).map(String::as_str).collect();
    let mut out: Vec<FileFlow> = Vec::new();
    for _ in 0..announced {
        let Some((line, words)) = lines.next() else {
            let reason = format!("{announced} flows are announced and {} listed", out.len());
            return Err(error(header, reason, "correct the count in the first line, or add the flows"));
        };
        at_most(line, &words, 6, "`src dst class dst_port bytes start`")?;
        let host = |i: usize| -> Result<String, ImportError> {
            let id: u32 = word(line, &words, i, "the number of a host")?;
            let name = format!("H{id}");
            let Some(fabric) = fabric.filter(|_| !hosts.contains(name.as_str())) else { return Ok(name) };
            let is =
                if fabric.switches.contains(&format!("S{id}")) { "a switch" } else { "not in the topology" };
            Err(error(line, format!("node {id} is {is}"), "flows lead from host to host"))
        };
        let (src, dst) = (host(0)?, host(1)?);
        let class: u8 = word(line, &words, 2, "a priority class")?;
        if class > 7 {
            return Err(error(line, format!("class {class}"), "there are classes 0 to 7"));
        }
        let port: u16 = word(line, &words, 3, "a port number")?;
        let bytes: u64 = word(line, &words, 4, "a number of bytes")?;
        let start = seconds(line, words.get(5).copied().unwrap_or(""))?;
        if src == dst {
            return Err(error(line, format!("a flow from {src} to itself"), "name two different hosts"));
        }
        if bytes == 0 {
            return Err(error(line, "a flow of 0 bytes", "a flow has at least 1 byte"));
        }
        if let Some(before) = out.last().filter(|f| f.start > start) {
            let reason = format!("the flow starts before that of line {}", before.line);
            return Err(error(
                line,
                reason,
                "sort the flows by their start, which is how the fork reads them",
            ));
        }
        let port = Some(u32::from(port));
        out.push(FileFlow { line, src, dst, class, port, bytes: Bytes::new(bytes), start });
    }
    Ok(out)
}

/// A configuration file of the fork: its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    entries: Vec<Setting>,
    /// Number of the last line, from 1.
    last: usize,
}

/// A line of a configuration.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    line: usize,
    key: String,
    values: Vec<String>,
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
    /// Topology file, as the configuration names it.
    pub topology: String,
    /// Flow file, as the configuration names it.
    pub flows: String,
    /// When it stops, by the clock of the flow file.
    pub stop: Time,
    /// Memory of a switch.
    pub buffer: Option<Bytes>,
    /// Name of the scheme that the file asks for.
    pub scheme: String,
    /// Settings that were left out, each with the reason.
    pub notes: Vec<String>,
    maps: Vec<Map>,
    window: modes::HeldBack,
}

/// Values by link rate: `KMIN_MAP` and the like.
#[derive(Clone, Debug, Default, PartialEq)]
struct Map {
    line: usize,
    key: String,
    /// Rates, Gb/s.
    rates: Vec<f64>,
}

impl Translated {
    /// Refuses DCQCN without its clocks, and links whose rate a map of marks lacks: the fork stops there.
    ///
    /// # Errors
    /// The line of the map, or the last line where a key is missing.
    pub fn fits(&self, fabric: &Fabric) -> Result<(), ImportError> {
        if self.scheme == "none" {
            return Ok(());
        }
        let clocks = [("ALPHA_RESUME_INTERVAL", "alpha_period"), ("RATE_DECREASE_INTERVAL", "cut_period")];
        for (key, set) in clocks.into_iter().filter(|_| self.scheme == "dcqcn") {
            if !self.from.contains_key(&format!("scheme.params.{set}")) {
                let reason = "is missing: the fork's DCQCN runs by this clock".to_string();
                let remedy = format!("write {key} and its microseconds");
                return Err(ImportError { line: self.last, key: key.into(), reason, remedy });
            }
        }
        for key in MAPS {
            let map = self.maps.iter().find(|m| m.key == *key);
            let has = |gbps: f64| map.is_some_and(|m| m.rates.iter().any(|r| (r - gbps).abs() < 1e-6 * gbps));
            if let Some(link) = fabric.links.iter().find(|l| !has(l.rate.gbps())) {
                let reason = format!(
                    "has no value for links of {}, as in line {} of the topology: the fork stops",
                    link.rate, link.line
                );
                let remedy = format!("name every rate: {key} 1 {} VALUE", link.rate.bps());
                let line = map.map_or(self.last, |m| m.line);
                return Err(ImportError { line, key: (*key).into(), reason, remedy });
            }
        }
        Ok(())
    }
}

/// Differences of these flows from the fork, a sentence each; `shared`: flows of a pair of hosts have no queue pairs.
pub fn otherwise(flows: &[FileFlow], shared: bool) -> Vec<String> {
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
    limiters.into_iter().chain(ports).collect()
}

/// Port at the receiving host that the hash of paths includes: that of the fork's own files.
const PORT: u32 = 100;

/// Maps of marks.
const MAPS: &[&str] = &["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"];

/// Keys whose defaults in the fork are not cnsim's.
const WANTED: &[&str] = &[
    "PACKET_PAYLOAD_SIZE", "BUFFER_SIZE", "HAS_WIN", "RP_TIMER", "EWMA_GAIN", "FAST_RECOVERY_TIMES",
    "RATE_AI", "RATE_HAI", "MIN_RATE", "CLAMP_TARGET_RATE",
];

impl Config {
    /// Reads the lines.
    ///
    /// # Errors
    /// A key that stands twice, or without a value.
    pub fn parse(text: &str) -> Result<Self, ImportError> {
        let mut config = Self { last: text.lines().count().max(1), ..Self::default() };
        for (line, words) in lines(text).filter(|(_, w)| !w[0].starts_with('#')) {
            let values: Vec<String> = words[1..].iter().map(|w| (*w).to_string()).collect();
            let fault = if values.is_empty() {
                Some(("has no value".to_string(), "write `KEY value`"))
            } else {
                let before = config.entries.iter().find(|e| e.key == words[0]);
                before.map(|e| (format!("stands in line {} already", e.line), "write each key once"))
            };
            if let Some((reason, remedy)) = fault {
                let key = words[0].to_string();
                return Err(ImportError { line, key, reason, remedy: remedy.into() });
            }
            config.entries.push(Setting { line, key: words[0].into(), values });
        }
        Ok(config)
    }

    /// Converts the configuration. `files_given`: topology and flows come from other files than those in it.
    ///
    /// # Errors
    /// An unknown key, an invalid value, or a setting that cnsim does not support.
    pub fn translate(&self, files_given: bool) -> Result<Translated, ImportError> {
        let mut t = Translated { last: self.last, ..Translated::default() };
        for e in &self.entries {
            let before = t.keys.len();
            e.translate(&mut t)?;
            for (key, _) in &t.keys[before..] {
                t.from.insert(key.clone(), (e.line, e.key.clone()));
            }
            let also = ALSO.iter().find(|a| a.0 == e.key);
            t.from.extend(also.map(|a| (a.1.to_string(), (e.line, e.key.clone()))));
        }
        if t.scheme.is_empty() {
            t.scheme = "dcqcn".into();
        }
        let payload = self.find("PACKET_PAYLOAD_SIZE").map_or(Ok(1000), Setting::whole)?;
        self.acknowledgements(payload, &mut t)?;
        self.window(payload, &mut t)?;
        if t.scheme == "dcqcn" {
            self.thresholds(&mut t)?;
            let readings =
                READINGS.iter().map(|(key, value)| (format!("scheme.params.{key}"), format!("\"{value}\"")));
            t.keys.extend(readings);
            let absent: Vec<&str> = WANTED.iter().copied().filter(|k| self.find(k).is_none()).collect();
            if !absent.is_empty() {
                let keys = absent.join(", ");
                t.notes.push(format!("without {keys}: cnsim's default, which need not be the fork's"));
            }
        } else {
            t.keys.retain(|k| !k.0.starts_with("scheme."));
            t.from.retain(|key, _| !key.starts_with("scheme."));
            self.mode(&mut t)?;
        }
        let missing = |key: &str, remedy: String| {
            let reason = "is missing".to_string();
            Err(ImportError { line: self.last, key: key.into(), reason, remedy })
        };
        for (key, is) in [("TOPOLOGY_FILE", t.topology.is_empty()), ("FLOW_FILE", t.flows.is_empty())] {
            if is && !files_given {
                return missing(key, format!("name the file: {key} topology.txt"));
            }
        }
        if t.stop == Time::ZERO {
            return missing("SIMULATOR_STOP_TIME", "say when the run ends, in seconds".into());
        }
        Ok(t)
    }

    fn find(&self, key: &str) -> Option<&Setting> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// `k_min` and `k_max`, both at the slowest rate of the first map that is there.
    fn thresholds(&self, t: &mut Translated) -> Result<(), ImportError> {
        let mut at = None;
        for (name, key) in [("KMIN_MAP", "scheme.params.k_min"), ("KMAX_MAP", "scheme.params.k_max")] {
            let Some(map) = self.find(name) else { continue };
            let (rate, value) = map.scaled()?;
            let reference = *at.get_or_insert(rate);
            t.keys.push((key.into(), format!("\"{} KB\"", value * reference / rate)));
            t.from.insert(key.into(), (map.line, name.into()));
        }
        let rate =
            at.map(|rate| ("scheme.params.k_rate".to_string(), format!("\"{}\"", Rate::from_gbps(rate))));
        t.keys.extend(rate);
        Ok(())
    }
}

impl Setting {
    fn error(&self, reason: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError { line: self.line, key: self.key.clone(), reason: reason.into(), remedy: remedy.into() }
    }

    /// Its only value.
    fn one(&self) -> Result<&str, ImportError> {
        match &self.values[..] {
            [one] => Ok(one),
            many => Err(self.error(format!("has {} values", many.len()), "write one value")),
        }
    }

    fn number(&self) -> Result<f64, ImportError> {
        let text = self.one()?;
        let value = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        value.ok_or_else(|| self.error(format!("`{text}` is not a number"), "write a number from 0 on"))
    }

    fn whole(&self) -> Result<u32, ImportError> {
        let value = self.number()?;
        let whole = value.fract() == 0.0 && value <= f64::from(u32::MAX);
        if whole {
            Ok(value as u32)
        } else {
            Err(self.error(format!("{value} is no whole number"), "write one"))
        }
    }

    fn rate(&self) -> Result<Rate, ImportError> {
        let text = self.one()?;
        text.parse().map_err(|_| self.error(format!("`{text}` is not a rate"), "write for example 100Gb/s"))
    }

    /// `n rate value rate value ...`: values by link rate, in Gb/s.
    fn by_rate(&self) -> Result<Vec<(f64, f64)>, ImportError> {
        let numbers: Vec<f64> = self.values.iter().filter_map(|v| v.parse().ok()).collect();
        let pairs: Vec<(f64, f64)> =
            numbers.get(1..).unwrap_or(&[]).chunks_exact(2).map(|c| (c[0] / 1e9, c[1])).collect();
        let good = numbers.len() == self.values.len()
            && numbers
                .first()
                .is_some_and(|n| *n == pairs.len() as f64 && numbers.len() == 2 * pairs.len() + 1);
        let twice = |i: usize| pairs[..i].iter().any(|p| p.0 == pairs[i].0);
        if let Some(i) = (0..pairs.len()).find(|i| good && twice(*i)) {
            return Err(self.error(format!("has two values for {} Gb/s", pairs[i].0), "name each rate once"));
        }
        if good && !pairs.is_empty() && pairs.iter().all(|p| p.0 > 0.0 && p.1 >= 0.0) {
            Ok(pairs)
        } else {
            Err(self.error("is not `n rate value rate value ...`", "write for example 1 100000000000 400"))
        }
    }

    fn map(&self) -> Result<Map, ImportError> {
        let rates = self.by_rate()?.into_iter().map(|p| p.0).collect();
        Ok(Map { line: self.line, key: self.key.clone(), rates })
    }

    /// The value at the slowest rate, in Gb/s, of a map in which values grow as rates do.
    fn scaled(&self) -> Result<(f64, f64), ImportError> {
        let all = self.by_rate()?;
        let slowest = all.iter().copied().fold(all[0], |a, b| if b.0 < a.0 { b } else { a });
        let per_rate = slowest.1 / slowest.0;
        if all.iter().any(|(rate, value)| (value / rate - per_rate).abs() > 1e-9 * per_rate) {
            let remedy = format!("write {per_rate} times the rate in Gb/s for every rate");
            return Err(
                self.error("is not proportional to the rate; cnsim has only thresholds that are", remedy)
            );
        }
        Ok(slowest)
    }

    fn translate(&self, t: &mut Translated) -> Result<(), ImportError> {
        let mut put = |key: &str, value: String| t.keys.push((key.to_string(), value));
        let flag = |want: f64, has: &str| -> Result<(), ImportError> {
            if self.number()? == want {
                return Ok(());
            }
            Err(self.error(
                format!("{} asks for {has}, which cnsim has not", self.one()?),
                format!("write {want}"),
            ))
        };
        let micros = |v: f64| format!("\"{v} us\"");
        match self.key.as_str() {
            "CC_MODE" => match self.whole()? {
                0 => t.scheme = "none".into(),
                1 => t.scheme = "dcqcn".into(),
                3 => t.scheme = "hpcc".into(),
                7 => t.scheme = "timely".into(),
                8 => t.scheme = "dctcp".into(),
                mode => {
                    let name = if mode == 10 { "HPCC-PINT" } else { "no scheme that is known" };
                    let reason = format!("{mode} is {name}, which cnsim has not");
                    let help = "write 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP), or 0 for no scheme";
                    return Err(self.error(reason, help));
                }
            },
            "TOPOLOGY_FILE" => t.topology = self.one()?.into(),
            "FLOW_FILE" => t.flows = self.one()?.into(),
            "SIMULATOR_STOP_TIME" => {
                t.stop = seconds(self.line, self.one()?)
                    .map_err(|e| ImportError { key: self.key.clone(), ..e })?;
            }
            "PACKET_PAYLOAD_SIZE" => {
                let payload = self.whole()?;
                if !(16..=9168).contains(&payload) {
                    return Err(self.error(format!("{payload} bytes"), "allowed: 16 to 9168 bytes"));
                }
                put("workload.frame", format!("\"{} B\"", u64::from(payload) + HEADER));
                put("workload.header", format!("\"{HEADER} B\""));
            }
            "BUFFER_SIZE" => {
                let mib = self.number()?;
                if !(0.001..=4000.0).contains(&mib) {
                    return Err(self.error(format!("{mib} MB"), "allowed: 0.001 to 4000 MB"));
                }
                t.buffer = Some(Bytes::new((mib * 1_048_576.0) as u64));
            }
            "ALPHA_RESUME_INTERVAL" => put("scheme.params.alpha_period", micros(self.number()?)),
            "RATE_DECREASE_INTERVAL" => put("scheme.params.cut_period", micros(self.number()?)),
            "RP_TIMER" => put("scheme.params.time_reset", micros(self.number()?)),
            "EWMA_GAIN" => put("scheme.params.g", format!("{}", self.number()?)),
            "FAST_RECOVERY_TIMES" => put("scheme.params.threshold", self.whole()?.to_string()),
            "RATE_AI" => put("scheme.params.ai_rate", format!("\"{}\"", self.rate()?)),
            "RATE_HAI" => put("scheme.params.hai_rate", format!("\"{}\"", self.rate()?)),
            "MIN_RATE" => put("scheme.params.min_rate", format!("\"{}\"", self.rate()?)),
            "CLAMP_TARGET_RATE" => {
                put("scheme.params.clamp_tgt_rate", (self.number()? != 0.0).to_string());
            }
            // Read together, by `Config::thresholds`.
            "KMIN_MAP" | "KMAX_MAP" => t.maps.push(self.map()?),
            "PMAX_MAP" => {
                let all = self.by_rate()?;
                t.maps.push(self.map()?);
                let (_, first) = all[0];
                if all.iter().any(|p| p.1 != first) {
                    return Err(self.error(
                        "differs from rate to rate, which cnsim has not",
                        "write the same for all rates",
                    ));
                }
                put("scheme.params.p_max", format!("{first}"));
            }
            "ENABLE_QCN" => flag(1.0, "switches that do not mark")?,
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
            key if OF_MODES.contains(&key) => {
                self.one()?;
            }
            key if OUTPUTS.contains(&key) => {
                t.notes.push(format!("line {}: {key}: cnsim writes its own files", self.line));
            }
            _ => {
                let known = KNOWN.iter().chain(OF_MODES).chain(OUTPUTS).copied();
                let near = cnsim_problem::nearest(&self.key, known);
                let remedy = near.map_or_else(
                    || "remove the line if the run does not need it".into(),
                    |n| format!("did you mean {n}?"),
                );
                return Err(self.error("is not a key that cnsim knows", remedy));
            }
        }
        Ok(())
    }
}

/// Bytes that every frame of the fork carries beside its payload: Ethernet 14, IPv4 20, UDP 8, sequence number and class 6.
pub const HEADER: u64 = 48;

/// How the fork reads DCQCN where its configuration has no key for it: marks are echoed on every acknowledgement, cuts come by a
/// clock, stages count expiries of the timer before this one, there is no byte counter, and steps do not grow.
const READINGS: &[(&str, &str)] = &[
    ("echo", "acks"),
    ("alpha_update", "periodic"),
    ("cut_when", "periodic"),
    ("stages", "timer"),
    ("stage_test", "before"),
    ("hai_step", "fixed"),
    ("byte_reset", "off"),
];

/// Keys of a scenario that a line decides beside those that it becomes.
const ALSO: &[(&str, &str)] = &[
    ("BUFFER_SIZE", "switch.memory"),
    ("SIMULATOR_STOP_TIME", "run.duration"),
    ("TOPOLOGY_FILE", "topology.file"),
    ("FLOW_FILE", "workload.file"),
    ("KMIN_MAP", "scheme.params.k_rate"),
];

/// Keys that concern one scheme or another, or acknowledgements and windows: [`modes`] reads them. The rest has no effect in the
/// fork's runs.
const OF_MODES: &[&str] = &[
    "DCTCP_RATE_AI", "HAS_WIN", "GLOBAL_T", "VAR_WIN", "FAST_REACT", "U_TARGET", "MI_THRESH", "INT_MULTI",
    "MULTI_RATE", "SAMPLE_FEEDBACK", "PINT_LOG_BASE", "PINT_PROB", "ACK_HIGH_PRIO", "L2_CHUNK_SIZE",
    "L2_ACK_INTERVAL", "PAUSE_TIME", "DATA_RATE", "LINK_DELAY",
];

/// Keys of the fork's output files and their content.
const OUTPUTS: &[&str] = &[
    "TRACE_FILE", "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE",
    "QLEN_MON_START", "QLEN_MON_END",
];

/// The other keys.
const KNOWN: &[&str] = &[
    "CC_MODE", "TOPOLOGY_FILE", "FLOW_FILE", "SIMULATOR_STOP_TIME", "PACKET_PAYLOAD_SIZE", "BUFFER_SIZE",
    "ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "RP_TIMER", "EWMA_GAIN", "FAST_RECOVERY_TIMES",
    "RATE_AI", "RATE_HAI", "MIN_RATE", "CLAMP_TARGET_RATE", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP", "ENABLE_QCN",
    "RATE_BOUND", "ERROR_RATE_PER_LINK", "ENABLE_TRACE", "L2_BACK_TO_ZERO", "LINK_DOWN",
    "USE_DYNAMIC_PFC_THRESHOLD",
];

#[cfg(test)]
mod tests {
    use super::*;

    const STAR: &str =
        "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1000ns 0\n0 3 25Gbps 1us 0\n0 9 1Gbps 1us 0\n";

    #[test]
    fn a_topology_is_read_up_to_its_count() {
        let fabric = topology(STAR).unwrap();
        assert_eq!(fabric.hosts, ["H1", "H2", "H3"]);
        assert_eq!(fabric.switches, ["S0"]);
        assert_eq!(fabric.links.len(), 3);
        assert_eq!(fabric.links[2].rate, Rate::from_gbps(25.0));
        assert!(fabric.links.iter().all(|l| l.delay == Time::from_us(1) && l.a == "S0"));
        let simai = topology(
            "4 2 1 1 3 H100\n2 3\n0 2 2400Gbps 0.000025ms 0\n1 2 2400Gbps 25ns 0\n2 3 1Gbps 1us 0\n",
        );
        let simai = simai.unwrap();
        assert_eq!((simai.hosts.len(), &simai.switches[..]), (2, &["S2".to_string(), "S3".to_string()][..]));
        assert_eq!(simai.links[0].delay, simai.links[1].delay);
    }

    #[test]
    fn what_is_no_topology_is_refused_by_line() {
        let line = |text: &str| topology(text).unwrap_err().line;
        assert_eq!(line(""), 1);
        assert_eq!(line("4 1\n"), 1);
        assert_eq!(line("99999999 1 1\n"), 1);
        assert_eq!(line("4 1 9999999999999\n"), 1);
        assert_eq!(line("4 1 3\n7\n"), 2);
        assert_eq!(line("4 2 3\n1 1\n"), 2);
        assert_eq!(line("4 2 3\n1\n"), 1);
        assert_eq!(line("4 1 1\n0\n0 0 1Gbps 1us 0\n"), 3);
        assert_eq!(line("4 1 1\n0\n0 4 1Gbps 1us 0\n"), 3);
        assert_eq!(line("4 1 1\n0\n0 1 1Gbps\n"), 3);
        assert_eq!(line("4 1 1\n0\n0 1 quick 1us 0\n"), 3);
        assert_eq!(line("4 1 1\n0\n0 1 1Gbps 1us 0.01\n"), 3);
        assert_eq!(line("4 1 2\n0\n0 1 1Gbps 1us 0\n"), 1);
        assert_eq!(line("4 1 1\n0\n0 1 1Gbps 1us 0 1\n"), 3);
    }

    #[test]
    fn flows_are_read_up_to_their_count() {
        let fabric = topology(STAR).unwrap();
        let text = "2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000034\n3 1 3 100 7 1\n";
        let read = flows(text, Some(&fabric)).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].src.as_str(), read[1].bytes, read[1].class), ("H3", Bytes::new(5), 3));
        assert_eq!(read[1].start, Time::from_ns(2_000_000_034));
        let line = |text: &str| flows(text, Some(&fabric)).unwrap_err().line;
        assert_eq!(line(""), 1);
        assert_eq!(line("x\n"), 1);
        assert_eq!(line("2\n2 1 3 100 5 2\n"), 1);
        for bad in [
            "2 2 3 100 5 2", "2 0 3 100 5 2", "2 8 3 100 5 2", "2 1 9 100 5 2", "2 1 3 100 0 2",
            "2 1 3 100 5 x", "2 1 3 100 5", "2 1 3 100 5 2 7", "2 1 3 70000 5 2",
        ] {
            assert_eq!(line(&format!("1\n{bad}\n")), 2, "{bad}");
        }
        assert_eq!(line("2\n2 1 3 100 5 2\n2 1 3 100 5 1.5\n"), 3);
    }

    #[test]
    fn a_configuration_comes_to_keys() {
        let text = "CC_MODE 1\nTOPOLOGY_FILE mix/fat.txt\nFLOW_FILE mix/flow.txt\nSIMULATOR_STOP_TIME 2.02\n\
                    PACKET_PAYLOAD_SIZE 1000\nRATE_AI 20Mb/s\nLINK_DOWN 0 0 0\nHAS_WIN 0\nENABLE_QCN 1\n\
                    KMIN_MAP 2 100000000000 400 400000000000 1600\n";
        let t = Config::parse(text).unwrap().translate(false).unwrap();
        assert_eq!((t.topology.as_str(), t.flows.as_str()), ("mix/fat.txt", "mix/flow.txt"));
        assert_eq!((t.stop, t.scheme.as_str()), (Time::from_ms(2020), "dcqcn"));
        let value = |key: &str| t.keys.iter().find(|k| k.0 == key).map(|k| k.1.as_str());
        assert_eq!(value("workload.frame"), Some("\"1048 B\""));
        assert_eq!(value("scheme.params.ai_rate"), Some("\"0.02 Gb/s\""));
        assert_eq!(value("scheme.params.k_min"), Some("\"400 KB\""));
        assert_eq!(value("scheme.params.k_rate"), Some("\"100 Gb/s\""));
        assert_eq!(value("scheme.params.cut_when"), Some("\"periodic\""));
        let error = |line: &str| {
            let e = Config::parse(&format!("{text}{line}\n")).and_then(|c| c.translate(false)).unwrap_err();
            (e.line, e.key, e.reason)
        };
        assert_eq!(error("HAS_WIN 1").0, 11);
        for bad in [
            "CC_MODES 1",
            "VAR_WIN",
            "VAR_WIN 1 2",
            "L2_ACK_INTERVAL 1001",
            "L2_ACK_INTERVAL 0",
            "ERROR_RATE_PER_LINK 0.1",
            "RATE_HAI x",
            "KMAX_MAP 2 1 2",
            "RP_TIMER -1",
            "RATE_BOUND 0",
            "CC_MODE 1.5",
            "FAST_RECOVERY_TIMES 1.5",
            "PMAX_MAP 2 100000000000 0.2 100000000000 0.2",
        ] {
            let (line, key, _) = error(bad);
            assert_eq!((line, key.as_str()), (11, bad.split(' ').next().unwrap()), "{bad}");
        }
        assert!(Config::parse("CC_MODE 10").unwrap().translate(false).unwrap_err().reason.contains("HPCC"));
        assert_eq!(Config::parse("CC_MODE 1").unwrap().translate(false).unwrap_err().key, "TOPOLOGY_FILE");
    }
}
