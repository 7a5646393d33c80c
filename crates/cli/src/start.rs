//! `cnsim new`: a scenario to start from. Without options every key with its default; with a topology, a short scenario of
//! that size and speed, an incast if asked for, that `cnsim check` accepts as it stands.

use crate::request::quantity;
use crate::{Done, Failure};
use clap::Args;
use cnsim_fabric::PauseFrames;
use cnsim_scenario::Scenario;
use cnsim_scenario::headroom::Loop;
use cnsim_scenario::keys::{FASTEST, SLOWEST};
use cnsim_units::{Bytes, Rate, Time};

/// Arguments of `new`.
#[derive(Args, Debug, Clone)]
pub(crate) struct NewArgs {
    /// Name of the scenario.
    name: String,
    /// Shape of the network [default with --hosts, --rate or --incast: single-switch].
    #[arg(long, value_parser = ["single-switch", "leaf-spine", "clos", "fat-tree", "k-ary-n-tree", "core-edge", "chain", "ring", "parking-lot"])]
    topology: Option<String>,
    /// Number of hosts, raised to the next number that the shape allows [default: 10].
    #[arg(long)]
    hosts: Option<usize>,
    /// Spine switches of a leaf-spine [default: half as many as a leaf has hosts].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=64))]
    spines: Option<u16>,
    /// Rate of every link [default: 10 Gb/s].
    #[arg(long)]
    rate: Option<String>,
    /// N hosts send a transfer each to the first host, at the same moment.
    #[arg(long, value_name = "N")]
    incast: Option<usize>,
    /// Size of a transfer of the incast.
    #[arg(long, default_value = "1 MB")]
    size: String,
    /// Settings of DCQCN for the rate: hpcc (its open simulator's rule by speed), nvidia (defaults of its NICs) or paper (2015,
    /// 40 Gb/s).
    #[arg(long, default_value = "hpcc", value_parser = ["hpcc", "nvidia", "paper"])]
    dcqcn: String,
}

/// The tables of which a scenario may have several, to be uncommented.
const TABLES: &str = r#"
# Tables that may be given more than once; remove the marks to use one.
#
# [[traffic]]                      # in place of [workload]: some hosts
# name = "incast"                  # its figures are shown apart
# hosts = "H0..H3"                 # H0..H9, H0..H9/3 (every third), all
# kind = "greedy"                  # and the other keys of [workload]
# destinations = ["H4"]
#
# [[class]]                        # a class of data, which traffic names
# name = "bulk"
# lossless = "off"
#
# [[event]]                        # a switch port gets another service rate
# at = "1 ms"
# port = "S>H0"                    # names: cnsim explain FILE
# rate = "1 Gb/s"
#
# [[fault]]                        # a NIC, or port = "S>H0", says XOFF
# host = "H0"
# kind = "xoff"                    # or slow: it reads at `rate`
# from = "1 ms"
# to = "2 ms"
#
# [[group]]                        # hosts that run without the scheme
# hosts = "H0..H1"
# scheme = "none"
#
# [[rows]]                         # more rows, with schemes of their own
# schemes = ["none"]
# condition = "load {workload.load}"
# "workload.load" = ["50 %", "90 %"]
#
# [[figure]]                       # a figure of the report
# title = "Hot queue"
# series = ["hot_queue"]           # or metric = "completion_time_p99"
"#;

pub(crate) fn new(args: &NewArgs) -> Done {
    let name = &args.name;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Err(Failure::input(format!("`{name}` is not a name\n  help: use letters, digits, - and _")));
    }
    let plain = args.topology.is_none()
        && args.hosts.is_none()
        && args.rate.is_none()
        && args.incast.is_none()
        && args.spines.is_none();
    let text = if plain { cnsim_scenario::schema::template(name) + TABLES } else { short(args)? };
    print!("{text}");
    Ok(())
}

/// Keys of a shape with at least so many hosts, and the number that it has.
fn shape(kind: &str, hosts: usize, spines: Option<u16>) -> (String, usize) {
    match kind {
        "leaf-spine" => {
            let leaves =
                if hosts < 8 { 2 } else { (2..=64).find(|l| l * l * 4 >= hosts).unwrap_or(64).max(4) };
            let each = hosts.div_ceil(leaves);
            let spines = spines.map_or((each / 2).clamp(1, 16), usize::from);
            (
                format!("leaves = {leaves}\nspines = {spines}\nper_switch = {each}    # hosts at a leaf"),
                leaves * each,
            )
        }
        "clos" => {
            let pods = if hosts < 64 { 2 } else { 4 };
            let each = hosts.div_ceil(2 * pods);
            let keys = format!(
                "pods = {pods}\nleaves = 2    # in each pod\nspines = 2    # in each pod\ncores = 4\nper_switch = {each}    # hosts at a leaf"
            );
            (keys, 2 * pods * each)
        }
        "fat-tree" => {
            let k = (1..=16).map(|h| 2 * h).find(|k| k * k * k / 4 >= hosts).unwrap_or(32);
            (format!("k = {k}    # ports of a switch: k^3/4 hosts"), k * k * k / 4)
        }
        "k-ary-n-tree" => {
            let k: usize = (2..=32).find(|k: &usize| k.pow(3) >= hosts).unwrap_or(32);
            (format!("k = {k}\nn = 3    # levels: k^n hosts"), k.pow(3))
        }
        "core-edge" => {
            let edges = hosts.div_ceil(4).clamp(2, 16);
            let list: Vec<String> = (0..edges).map(|e| ((hosts + e) / edges).to_string()).collect();
            (format!("edges = [{}]    # hosts at each edge switch", list.join(", ")), hosts)
        }
        "chain" | "ring" => {
            let each = hosts.div_ceil(4);
            (format!("switches = 4\nper_switch = {each}"), 4 * each)
        }
        "parking-lot" => ("stages = 2\nlong = 4".into(), 0),
        _ => (format!("hosts = {hosts}"), hosts),
    }
}

/// Load of the fullest link under uniform traffic, as a share of its rate.
const FULLEST: f64 = 0.9;

/// A short scenario that is asked for, its values in range.
struct Short<'a> {
    args: &'a NewArgs,
    kind: &'a str,
    /// Keys of the shape.
    keys: String,
    hosts: usize,
    rate: Rate,
    size: Bytes,
    schemes: &'static str,
}

/// Load of each host's link by uniform traffic, %.
const LOAD: u32 = 60;

/// A short scenario. Uniform traffic fits every link: where the usual load is too much for one, all hosts send less.
fn short(args: &NewArgs) -> Result<String, Failure> {
    let short = Short::read(args)?;
    // Where a little more would be too much, it is too much for some links by chance.
    let fuller = short.text((f64::from(LOAD) / FULLEST).round() as u32);
    let ready = Scenario::parse(&args.name, &fuller, &[]).ok().and_then(|s| s.ready(s.cases().first()?).ok());
    let worst = ready.and_then(|r| r.settings.overloads().into_iter().next());
    let load = worst.filter(|_| args.incast.is_none()).map_or(LOAD, |o| {
        let fits = f64::from(LOAD) * o.carries / o.offered;
        let step = if fits < 5.0 { 1.0 } else { 5.0 };
        ((fits / step).floor() * step).max(1.0) as u32
    });
    Ok(short.text(load))
}

impl<'a> Short<'a> {
    fn read(args: &'a NewArgs) -> Result<Self, Failure> {
        let kind = args.topology.as_deref().unwrap_or("single-switch");
        let asked = args.hosts.unwrap_or(10);
        if !(2..=4096).contains(&asked) {
            return Err(Failure::input(format!("--hosts {asked}: 2 to 4096 are possible")));
        }
        let rate: Rate = quantity("rate", args.rate.as_deref().unwrap_or("10 Gb/s"))?;
        let size: Bytes = quantity("size", &args.size)?;
        if !(SLOWEST..=FASTEST).contains(&rate) {
            return Err(Failure::input(format!("--rate {rate}: {SLOWEST} to {FASTEST} are possible")));
        }
        if args.spines.is_some() && kind != "leaf-spine" {
            let remedy = "add --topology leaf-spine, or leave --spines out";
            return Err(Failure::input(format!("--spines: a {kind} has none\n  help: {remedy}")));
        }
        let (keys, hosts) = shape(kind, asked, args.spines);
        if let Some(n) = args.incast.filter(|n| *n == 0 || kind == "parking-lot" || *n >= hosts) {
            let most = match kind {
                "parking-lot" => "not on a parking lot, whose hosts have their parts".into(),
                _ => format!("1 to {} are possible with {hosts} hosts", hosts - 1),
            };
            return Err(Failure::input(format!("--incast {n}: {most}")));
        }
        let fast = rate >= Rate::from_gbps(25.0);
        let schemes = if fast { "\"none\", \"dcqcn\"" } else { "\"none\", \"qcn-2pt\", \"ecm\"" };
        Ok(Self { args, kind, keys, hosts, rate, size, schemes })
    }

    /// Memory of a pair of ports, and its watermarks with headroom at the links' rate: share, high, low, KB.
    fn memory(&self) -> [u64; 3] {
        let (frame, pause) = (Bytes::new(1500), PauseFrames::default());
        let (delay, processing) = (Time::from_ns(500), Time::from_us(1));
        // What can still arrive after XOFF fits above the upper watermark.
        let need = Loop { rate: self.rate, delay, processing, frame, pause }.headroom().get().div_ceil(1000);
        let share = (4 * need).max(150);
        let mut high = share - need - share / 20;
        // A mark that is longer than what an input may hold is reached by many inputs together, if at all.
        if let Some(mark) =
            self.schemes.contains("dcqcn").then(|| mark(&self.args.dcqcn, self.rate)).flatten()
        {
            high = high.max(mark.get() / 1000 * 5 / 4);
        }
        [share.max(high + need + high / 20), high, high * 4 / 5]
    }

    /// Keys of the traffic, and the length of the run.
    fn traffic(&self, load: u32) -> (String, Time) {
        let Some(n) = self.args.incast else {
            let about = "of each host's link, to all others alike";
            let keys = format!("kind = \"bernoulli\"\nload = \"{load} %\"    # {about}");
            return (keys, rounded(0.1 * 10e9 / self.rate.bps()));
        };
        // Senders from all over the network, not all behind one switch.
        let sender = |i: usize| 1 + i * (self.hosts - 1) / n;
        let line = |i: usize| format!("    \"10 us, H{}, H0, {}\",\n", sender(i), self.size);
        let lines: String = (0..n).map(line).collect();
        let keys =
            format!("kind = \"transfers\"\ntransfers = [    # start, source, destination, bytes\n{lines}]");
        // The port is full for half of the run, and schemes that finish later have time for it.
        (keys, rounded(1.9 * (n as f64 * self.size.as_f64() * 8.0 / self.rate.bps()) + 20e-6))
    }

    /// The scenario; uniform traffic has this load, %.
    fn text(&self, load: u32) -> String {
        let Self { args, kind, keys, hosts, rate, schemes, .. } = self;
        let (name, title) = (&args.name, title(args, kind, *hosts, *rate));
        let routing = match *kind {
            "leaf-spine" | "clos" | "fat-tree" | "k-ary-n-tree" => {
                "routing = \"frame-hash\"    # each flow uses all paths; \"flow-hash\" gives it one by chance\n"
            }
            _ => "",
        };
        let ([share, high, low], (traffic, duration)) = (self.memory(), self.traffic(load));
        let preset = match schemes.contains("dcqcn") {
            true => format!(
                "\n[scheme.dcqcn]\npreset = \"{}\"    # fits the links' rate: cnsim explain dcqcn\n",
                args.dcqcn
            ),
            false => String::new(),
        };
        let text = format!(
            r#"# Check it:  cnsim check {name}.toml
# Run it:    cnsim run {name}.toml
# Every key: cnsim new {name}
name = "{name}"
title = "{title}"
question = "(what do you want to know?)"

[topology]
kind = "{kind}"
{keys}
link_rate = "{rate}"
link_delay = "0.5 us"
{routing}
[switch]
buffer = "XP"    # a partition for each pair of ports
share = "{share} KB"

[pause]
mode = "on"
high = "{high} KB"    # XOFF; `cnsim headroom` computes the room above it
low = "{low} KB"

[workload]
{traffic}

[run]
duration = "{duration}"
seeds = 5

[record]
latency = true    # percentiles of latency

# What is compared: also any key with a list of values, "workload.frame" = [...]
[matrix]
pause = ["on"]    # also "off", "global"
schemes = [{schemes}]
{preset}
# Parameters of the schemes that know them: cnsim explain SCHEME
# [scheme.params]
"#
        );
        aligned(&text) + TABLES
    }
}

/// Gives the comments behind the keys of a table one column.
fn aligned(text: &str) -> String {
    let table = |keys: &str| {
        let parts = || keys.lines().map(|line| line.split_once("    # ").unwrap_or((line, "")));
        let column = parts().filter(|p| !p.1.is_empty()).map(|p| p.0.trim_end().len()).max().unwrap_or(0);
        let line = |(key, about): (&str, &str)| match about {
            "" => key.to_owned(),
            _ => format!("{:column$}    # {about}", key.trim_end()),
        };
        parts().map(line).collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n").map(table).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// Queue above which DCQCN marks by this preset, on links of this rate.
fn mark(preset: &str, rate: Rate) -> Option<Bytes> {
    let values = (cnsim_schemes::find("dcqcn")?.preset(preset)?.values)(rate);
    values.iter().find(|v| v.0 == "k_min")?.1.parse().ok()
}

fn title(args: &NewArgs, kind: &str, hosts: usize, rate: Rate) -> String {
    let what =
        args.incast.map_or_else(|| "uniform traffic".into(), |n| format!("incast {n}:1 of {}", args.size));
    let hosts = if kind == "parking-lot" { String::new() } else { format!("{hosts} hosts, ") };
    format!("{kind}, {hosts}{rate}: {what}")
}

/// A time of two digits, upwards.
fn rounded(seconds: f64) -> Time {
    let us = ((seconds * 1e6).ceil() as u64).max(20);
    let digit = 10_u64.pow(us.ilog10() - 1);
    Time::from_us(us.div_ceil(digit) * digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_advice::notes::{before, of_settings};

    fn args(topology: &str, hosts: usize, rate: &str, incast: Option<usize>) -> NewArgs {
        NewArgs {
            name: "mine".into(),
            topology: Some(topology.into()),
            hosts: Some(hosts),
            rate: Some(rate.into()),
            incast,
            spines: None,
            size: "1 MB".into(),
            dcqcn: "hpcc".into(),
        }
    }

    /// Every preset is accepted at every speed, and its values are those of the run.
    #[test]
    fn presets_fit_every_rate() {
        for preset in &cnsim_schemes::find("dcqcn").unwrap().presets {
            for (rate, floor) in [("1 Gb/s", 4), ("25 Gb/s", 100), ("100 Gb/s", 400), ("400 Gb/s", 1600)] {
                let args = NewArgs { dcqcn: preset.name.into(), ..args("leaf-spine", 8, rate, Some(4)) };
                let text = short(&args).unwrap();
                let s = Scenario::parse("mine.toml", &text, &[]).unwrap();
                for case in s.cases() {
                    let ready =
                        s.ready(&case).unwrap_or_else(|p| panic!("{}, {rate}: {p:?}\n{text}", preset.name));
                    let k_min = ready.config.read::<Bytes>("scheme.params.k_min");
                    let due = Bytes::from_kb(if preset.name == "paper" { 5 } else { floor });
                    assert_eq!(k_min, (case.id.scheme == "dcqcn").then_some(due), "{}, {rate}", preset.name);
                    assert!(of_settings(&ready).is_empty(), "who chooses a preset is told nothing");
                }
            }
        }
    }

    /// Every case is ready to run, with no fewer hosts than asked for.
    #[test]
    fn what_it_writes_is_accepted() {
        for kind in [
            "single-switch", "leaf-spine", "clos", "fat-tree", "k-ary-n-tree", "core-edge", "chain", "ring",
            "parking-lot",
        ] {
            for (hosts, rate) in [(10, "10 Gb/s"), (32, "100 Gb/s"), (33, "400 Gb/s"), (3, "1 Gb/s")] {
                for incast in [None, Some(2)].into_iter().filter(|i| kind != "parking-lot" || i.is_none()) {
                    let text = short(&args(kind, hosts, rate, incast)).unwrap();
                    let ready = Scenario::parse("mine.toml", &text, &[])
                        .and_then(|s| s.cases().iter().map(|c| s.ready(c)).collect::<Result<Vec<_>, _>>());
                    let ready = ready.unwrap_or_else(|p| panic!("{kind}, {hosts}, {rate}: {p:?}\n{text}"));
                    assert!(kind == "parking-lot" || ready[0].settings.hosts() >= hosts);
                    let notes: Vec<String> =
                        ready.iter().flat_map(|r| [of_settings(r), before(r)].concat()).collect();
                    assert!(notes.is_empty(), "{kind}, {hosts}, {rate}, {incast:?}: {notes:?}");
                }
            }
        }
        let all = cnsim_scenario::schema::template("mine");
        let s = Scenario::parse("mine.toml", &all, &[]).unwrap();
        for ready in s.cases().iter().map(|c| s.ready(c).unwrap()) {
            assert_eq!([of_settings(&ready), before(&ready)].concat(), Vec::<String>::new());
        }
        assert!(short(&args("leaf-spine", 32, "100 Gb/s", Some(32))).is_err());
        assert!(short(&args("leaf-spine", 32, "100", None)).is_err());
        let spines = |kind: &str| short(&NewArgs { spines: Some(3), ..args(kind, 32, "100 Gb/s", None) });
        assert!(spines("leaf-spine").unwrap().contains("spines = 3\n"));
        assert!(spines("chain").is_err());
    }

    /// The commented tables are those that exist, and each is accepted when its marks are removed.
    #[test]
    fn tables_can_be_uncommented() {
        let base = short(&args("single-switch", 10, "10 Gb/s", None)).unwrap().replace(TABLES, "");
        let blocks: Vec<String> = TABLES
            .split("\n#\n")
            .skip(1)
            .map(|b| b.lines().map(|l| l.trim_start_matches('#').trim()).collect::<Vec<_>>().join("\n"))
            .collect();
        assert_eq!(blocks.len(), cnsim_scenario::keys::TABLES.len() + 1, "and [[rows]]");
        for block in blocks {
            let base = if block.starts_with("[[traffic]]") {
                base.replace("[workload]\nkind = \"bernoulli\"\nload = \"60 %\"", "")
            } else {
                base.clone()
            };
            let text = format!("{base}\n{block}\n");
            let ready = Scenario::parse("mine.toml", &text, &[]).and_then(|s| {
                s.cases().iter().map(|c| s.ready(c).map(|_| ())).collect::<Result<Vec<_>, _>>()
            });
            assert!(ready.is_ok(), "{block}: {ready:?}");
        }
    }
}
