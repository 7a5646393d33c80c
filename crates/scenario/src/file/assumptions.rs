//! Named assumptions: gaps in the sources, each with a default and alternatives.
//! A study names the ones that it suspects behind a miss (`cnsim_papers`).

use crate::tables;
use cnsim_scheme_api::Registration;

/// A point that the sources leave open, with its readings and the keys that switch them.
#[derive(Clone, Copy, Debug)]
pub struct Assumption {
    /// Number, as notes cite it.
    pub id: &'static str,
    /// Name for `assumptions.NAME`.
    pub name: &'static str,
    /// The assumption, in a sentence.
    pub about: &'static str,
    /// Alternatives as values with ` | ` between them; a remark in brackets may follow a value.
    pub alternatives: &'static str,
    /// Key of the scenario that holds it.
    pub key: &'static str,
}

impl Assumption {
    /// The alternatives, the default among them, as they would be written in a scenario.
    pub fn values(&self) -> Vec<&'static str> {
        let plain = |t: &'static str| t.split_once('(').map_or(t, |(value, _)| value).trim();
        self.alternatives.split('|').map(plain).filter(|t| !t.is_empty()).collect()
    }
}

/// The alternatives of an assumption that a scheme can read: two schemes may mean two things by one key.
pub fn readable(a: &Assumption, scheme: &Registration) -> Vec<&'static str> {
    let Some(leaf) = a.key.strip_prefix("scheme.params.") else { return Vec::new() };
    let reads = |v: &&str| scheme.build(&[(leaf.to_string(), (*v).to_string())]).is_ok();
    a.values().into_iter().filter(reads).collect()
}

const fn a(
    id: &'static str,
    name: &'static str,
    key: &'static str,
    alternatives: &'static str,
    about: &'static str,
) -> Assumption {
    Assumption { id, name, about, alternatives, key }
}

/// Finds one by its name, in which underscores stand for hyphens, or by its number.
pub fn find(name: &str) -> Option<&'static Assumption> {
    ASSUMPTIONS.iter().find(|a| a.name == name.replace('_', "-") || a.id.eq_ignore_ascii_case(name))
}

/// All named assumptions, in the order of their numbers.
#[rustfmt::skip]
pub const ASSUMPTIONS: &[Assumption] = &[
    a("A1", "source-queue", tables::host::FIFO.path, "10100 (single hop) | 500 (multi-hop, fat tree)",
        "each host keeps this many frames in application queue and NIC; the surplus that the PAUSE rows deliver after the hotspot fixes it"),
    a("A2", "limiter-queue", tables::host::LIMITER_QUEUE.path, "10 | 100 | 10000",
        "frames that a limited flow may hold at its source: the NIC's 100 each (B07), or those 100 shared among the limiters of nine flows (M08, multi-hop); it moves B07's hot port by up to 0.7 Gb/s, M08's innocents by 3 %"),
    a("A3", "limiter-position", tables::host::LIMITER_POSITION.path, "at-source | below-queue",
        "a frame meets its limiter when generated, and joins the host's FIFO afterwards, or on leaving for the link"),
    a("A3b", "limiter-backlog", tables::host::LIMITER_BACKLOG.path, "behind | ahead",
        "the host's backlog waits behind the limiters, or ahead of them in an application FIFO: a held flow then blocks nobody, and what XOFF stops are the few frames of the host's FIFO (host.nic)"),
    a("A4", "efr", "scheme.params.efr", "on | off",
        "extra fast recovery: messages before the first finished cycle keep the target"),
    a("A4b", "efr-target", "scheme.params.efr_target", "before-cut | after-cut",
        "what the first message of a burst does to the target"),
    a("A4c", "efr-max", "scheme.params.efr_max_count", "off | 2 | 10 | 50",
        "messages in a row after which extra fast recovery lowers the target after all (EFR MAX)"),
    a("A5", "r-min", "scheme.params.r_min", "1 Mb/s | 2 Mb/s | 3 Mb/s (B07) | 5 Mb/s | 7 Mb/s | 10 Mb/s (M08 prints it, schemes' default) | 20 Mb/s | 50 Mb/s",
        "smallest rate of a limiter, any from 1 to 20 Mb/s; B07 prints none, and 3 Mb/s is nearest over its tables together"),
    a("A6", "oversampling", "scheme.params.oversampling", "off | proportional | above-qmc | next-frame | negative | both-ends | weighed",
        "how ECM samples faster under congestion"),
    a("A7", "gate-qoff", "scheme.params.gate_qoff", "on | off",
        "a congestion point sends negative feedback only while q > Q_eq"),
    a("A8", "sampling", "scheme.params.sampling", "bytes | packet-last | packet-current", "how frames are sampled"),
    a("A8b", "quantiser", "scheme.params.quantiser", "shift | scale63 | ceil", "how |Fb| becomes six bits"),
    a("A9", "buffer", tables::switch::BUFFER.path, "XP | IN | SO",
        "buffer organisation; B07's `output buffer partitioned per input port` is read as crosspoint"),
    a("A10", "pause-transport", tables::pause::TRANSPORT.path, "frame | wire",
        "PAUSE as a 64 B frame that waits for the one in transmission, or effective a flat delay later"),
    a("A11", "control-transport", tables::control::TRANSPORT.path, "priority | in-band | ideal",
        "feedback in frames ahead of data, among it, or without frames after control.latency"),
    a("A12", "hai", "scheme.params.hai", "off | linear | fixed | doubling | timer", "hyperactive increase of 2007"),
    a("A13", "sample-dropped", "scheme.params.sample_dropped", "on | off",
        "frames that are being dropped are counted and sampled"),
    a("A14", "routing", tables::topology::ROUTING.path, "destination | round-robin | frame-hash | flow-hash",
        "B07's `perfect hashing` in the fat tree is read as a hash by flow without collisions (d-mod-k); in turn by frame is the other reading"),
    a("A15", "paused-over", tables::record::PAUSED.path, "touched | senders | affected | all",
        "B07's `average time paused` is over all transmitters that were in XOFF at some time, those of links between switches too (touched): only so are its five numbers without a scheme met; or over the sending hosts, those of them that were paused, or hosts and links together"),
    a("A16", "pause-scope", tables::pause::POOL.path, "off | on",
        "C07's thresholds of 140 and 130 KB apply to any one output's share of the memory, or to the whole pool"),
    a("A17", "rate-averaging", "scheme.params.rate_averaging", "off | rate | load",
        "what a port averages: BECN nothing, FECN the advertised rate with weight 0.5"),
    a("A19", "shortest-latency", "scheme.params.l0", "probe-always | unloaded | first-sample",
        "where E2CM takes a flow's shortest latency from: probes since the start, the idle path, or the limiter's first probe"),
    a("A20", "jitter", "scheme.params.jitter", "0.15 | 0.3", "width of QCN's sampling jitter"),
    a("A21", "de-rule", "scheme.params.de", "queue | feedback | never",
        "QCN-3pt: which frames are marked, so that they are not reflected"),
    a("A22", "fb0-cycle", "scheme.params.fr_every_n_messages", "1 | 4",
        "QCN-3pt: messages with Fb = 0 that make a fast-recovery cycle"),
    a("A23", "reflected-byte-cycles", "scheme.params.byte_counter", "on | off",
        "QCN-3pt: byte cycles as in QCN-2pt beside the reflected messages"),
    a("A30", "periodic-start", tables::hotspot::START.path, "0 ms | 10 ms",
        "M08's periodic congestion begins with the run; its utilisation with PAUSE alone fits the share of time that this gives"),
    a("A31", "loop-delay", tables::topology::LINK_DELAY.path, "1.667 us | 0.5 us",
        "M08's control loops of 16 us are spread evenly over the links of the path, those of 8 us to 1 ms lie on the senders' links, half each way"),
    a("A32", "tr-over-8", "scheme.params.tr_over_8", "on | off",
        "serial HAI: at the end of the first cycle after a cut a target above ten times the rate is divided by 8"),
    a("A33", "mark-interval", "scheme.params.mark_interval", "last-sample | current",
        "serial HAI: the bytes until the next sample follow the feedback of the last one, or that of each arriving frame"),
    a("A34", "byte-restart", "scheme.params.byte_restart", "after-cycle | always",
        "QCN: a message restarts the byte counter only after a finished byte cycle, as the pseudocode of November 2007 has it, or always (R07, which prints no number)"),
    a("A35", "counter-end", "scheme.params.counter_end", "below-zero | at-zero",
        "serial HAI: a count of 150 KB ends when it is below zero, at the 101st frame, as written, or at zero, at the 100th"),
    a("A40", "initial-rate", "scheme.params.initial_rate", "line | own",
        "ECM and E2CM: a new limiter starts from the line rate, or from what its flow has sent"),
    a("A41", "first-probe", "scheme.params.first_probe", "uniform | at-once | full-interval",
        "E2CM: when a new limiter sends its first probe"),
    a("A42", "max-occupancy", "scheme.params.max_f", "56 KB | off",
        "E2CM: an occupancy above this cuts at full strength"),
    a("A43", "largest-cut", "scheme.params.max_cut", "0.5 | 1",
        "E2CM: largest share of its rate that one probe takes from a flow; its gain alone would take more than all"),
    a("A44", "probe-history", "scheme.params.history", "restarted | kept",
        "E2CM: what a new limiter knows of probes sent before it"),
    a("A50", "stamping", "scheme.params.stamp_at", "transmission | enqueue",
        "FECN: a port lowers a tag as the frame starts transmission, or as it arrives"),
    a("A51", "return-rule", "scheme.params.return_rule", "every-tag | once-per-interval",
        "FECN: which tags the destination returns"),
    a("A52", "tag-rate", "scheme.params.tag_rate", "line | current", "FECN: the rate that tags start with"),
    a("A53", "tag-by", "scheme.params.tag_by", "frames | time",
        "FECN: a source tags a share of its frames, or one in T"),
    a("A54", "interval-phase", "scheme.params.phase", "random | common",
        "BECN and FECN: ports measure each at a phase of its own, or all together"),
    a("A55", "silent-ports", "scheme.params.unattached_ports", "on | off",
        "BECN: ports without a link broadcast as well; the printed overhead needs them"),
    a("A60", "association", "scheme.params.assoc", "last-negative | most-negative | first-until-timeout",
        "BCN and ECM: which congestion point owns a limiter"),
    a("A62", "limiter-scope", "scheme.params.limiter_scope", "per-flow | per-host",
        "BCN and ECM: a limiter for each flow, or one for all of a host's"),
    a("A61", "clipping", "scheme.params.clip_components", "off | on",
        "BCN and ECM: Fb is clipped as a whole, or offset and growth before they are weighed"),
    a("A70", "drift-of", "scheme.params.drift_of", "both | current | target",
        "R07's drift of 1.005 per 500 us multiplies target and current rate of an active limiter, or one of them"),
    a("A71", "tag-match", "scheme.params.tag_match", "cp | rp",
        "ECM: a congestion point answers positively only frames with its own tag, or every tagged one and the source filters; R07's many false positives in the chain need the second"),
    a("A72", "pause-high", tables::pause::HIGH.path, "30 KB (R07, 20 hosts) | 80 KB (10 hosts) | 180 KB (chain)",
        "watermark of XOFF, where a study prints none: the input's memory less 20 KB of headroom, XON 20 KB lower"),
    a("A73", "output-limit", tables::switch::OUTPUT_LIMIT.path, "off | 1500 KB",
        "R07's egress buffer of 1000 packets is the host's queue (host.fifo = 1000), or a limit of each output"),
    a("A74", "chain-length", tables::topology::SWITCHES.path, "18 | 19",
        "R07's chain ends at S17; a nineteenth switch stands for a link from S17 back to S0, as nothing else shares the ports that H51 and H53 would reach"),
    a("A75", "chain-bursts", "traffic.kind", "greedy | on-off",
        "R07's chain: only nodes 3k send in bursts, as printed, or all (traffic.1.kind and traffic.2.kind = on-off, with on = off = 1 ms, step = 0.1 ms)"),
    a("A76", "fb-hat", "scheme.params.fbhat_mode", "ewma | ewma-signed | gated | predictive | rp-side",
        "what Fb-hat is: its specification was not found"),
    a("A77", "probe-interval", "scheme.params.probe_interval", "500 us",
        "a limited flow sends a probe so often, or every probe_bytes; mechanics of probes are not printed"),
    a("A79", "probe-answer", "scheme.params.fbhat_answer", "signed | sampled | raw",
        "what a probe reads at a congestion point with Fb-hat"),
    a("A80", "path-start", "scheme.params.path_start", "first | zero",
        "QCN-PP: the first congestion point writes its Fb whatever it is, or only a negative one"),
    a("A78", "ai-bytes", "scheme.params.ai_bytes", "37500 B | 150 KB",
        "bytes of an active-increase cycle: B07's, or the only byte count that R07 prints"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::keys::find;

    /// A scenario must read every value that the search tries.
    #[test]
    fn every_alternative_can_be_set() {
        for a in ASSUMPTIONS {
            assert!(!a.values().is_empty(), "{}", a.name);
            for value in a.values() {
                let Some(param) = a.key.strip_prefix("scheme.params.") else {
                    let key = find(a.key).unwrap();
                    let fits = key.kind.read(value).is_ok()
                        || value == "off"
                        || value.parse::<u64>().is_ok()
                        || crate::case::condition::quantity(value).is_some();
                    assert!(fits, "{} = {value}", a.key);
                    continue;
                };
                let pairs = [(param.to_string(), value.to_string())];
                assert!(
                    cnsim_schemes::registry().iter().any(|e| e.build(&pairs).is_ok()),
                    "{param} = {value}"
                );
            }
        }
    }

    /// ECM's jitter is bytes, QCN's a share; serial HAI has no quantiser that rounds up.
    #[test]
    fn alternatives_of_a_scheme() {
        let of = |name, scheme| {
            let known = super::find(name).unwrap();
            readable(known, &cnsim_schemes::find(scheme).unwrap())
        };
        assert_eq!(of("jitter", "qcn-2pt"), ["0.15", "0.3"]);
        assert!(of("jitter", "ecm").is_empty() && of("source-queue", "ecm").is_empty());
        assert_eq!(of("quantiser", "qcn-serial-hai"), ["shift", "scale63"]);
    }

    #[test]
    fn remarks_are_no_part_of_a_value() {
        assert_eq!(ASSUMPTIONS[0].values(), ["10100", "500"]);
    }
}
