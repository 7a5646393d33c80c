//! Notes on `[transport]`: timeouts below the round trip, windows below what fills a path, frames that overtake each other.

use super::event;
use super::rounded::{three, told_bytes};
use cnsim_fabric::{Reliability, Routing};
use cnsim_measure::fct::Path;
use cnsim_measure::flow_times::Paths;
use cnsim_measure::pauses::time;
use cnsim_measure::quantity::digits;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::Ready;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::settings::Settings;
use cnsim_scenario::tables;
use cnsim_units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Sentences on a transport that is valid but hardly intended.
pub(super) fn doubts(ready: &Ready) -> Vec<String> {
    let settings = &ready.settings;
    let narrow = narrow(settings);
    // TCP's timeout follows the round trip. Selective repeat that waits before a NACK knows that paths differ.
    let (kind, least, at_once) = match settings.reliability() {
        Some(Reliability::GoBackN { rto, .. }) => ("go-back-n", Some(("rto", rto)), true),
        Some(Reliability::Selective(s)) => {
            let at_once = s.gap_frames < 2 && s.gap_time == Time::ZERO;
            ("selective", Some(("rto_low", s.rto_low.min(s.rto_high))), at_once)
        }
        Some(Reliability::Tcp(_)) => ("tcp", None, true),
        _ => return narrow.into_iter().collect(),
    };
    let name = |host: usize| &settings.wiring.hosts[host];
    let early = |(key, rto)| Some((key, rto, longest_round_trip(settings).filter(|(trip, ..)| rto < *trip)?));
    let late = least.and_then(early).map(|(key, rto, (trip, from, to))| {
        format!(
            "transport.{key} = {rto} is below the round-trip time of {} > {}, {trip} without a queue: frames are sent again that are \
             not lost",
            name(from),
            name(to)
        )
    });
    let scatters = at_once && matches!(settings.routing(), Routing::FrameHash | Routing::RoundRobin);
    let scattered = scatters.then(|| {
        format!(
            "frames of a flow take several paths and overtake each other, which {kind} takes for losses: resent_share shows the frames \
             that it sends again"
        )
    });
    late.into_iter().chain(scattered).chain(narrow).collect()
}

/// Share of a path's bandwidth-delay product below which a window is no choice of a lossless network.
const NARROW: f64 = 0.5;

/// A window far below what fills the longest path that traffic takes.
fn narrow(settings: &Settings) -> Option<String> {
    let received = match settings.reliability() {
        Some(Reliability::Tcp(tcp)) => tcp.receive_window.map(|window| ("receive_window", window)),
        _ => None,
    };
    let sent = settings.fixed_window().map(|window| ("window", window));
    let (key, window) = received.into_iter().chain(sent).min_by_key(|w| w.1)?;
    let (trip, from, to) = longest_round_trip(settings)?;
    let rate = Paths::new(settings).between(from, to).bottleneck();
    let product = rate.bps() / 8.0 * trip.as_secs_f64();
    let share = window.as_f64() / product;
    let other = if key == "window" { "write \"bdp\"" } else { "leave it out" };
    (share < NARROW).then(|| {
        format!(
            "transport.{key} = {window} is {} % of the {} that fill the path of {} > {} ({rate}, {} for a round trip without a queue): \
             a flow alone gets no more of its link; raise it, or {other}",
            digits(three(share * 100.0)),
            told_bytes(product),
            settings.wiring.hosts[from],
            settings.wiring.hosts[to],
            time(trip.as_ps())
        )
    })
}

/// A scheme of TCP above go-back-N, which sends more again than TCP does.
pub(super) fn all_again(ready: &Ready) -> Option<String> {
    let scheme = &ready.scheme;
    let goes_back = matches!(ready.settings.reliability(), Some(Reliability::GoBackN { .. }));
    (goes_back && ["newreno", "cubic"].contains(&scheme.as_str())).then(|| {
        format!(
            "{scheme} slows a flow at a loss, and go-back-n sends the lost frame and all that follow it again: resent_share shows how many; \
             transport.kind = \"tcp\" sends the lost ones alone"
        )
    })
}

/// A note on frames that were sent again because frames of a flow take several paths.
pub(super) fn overtaken(case: &[&RunRecord]) -> Option<String> {
    let config = &case.first()?.config;
    let routing =
        config.text(tables::topology::ROUTING).filter(|r| matches!(*r, "frame-hash" | "round-robin"))?;
    let shares: f64 = case.iter().map(|r| r.metrics.get(Id::ResentShare)).sum::<Option<f64>>()?;
    let share = shares / case.len() as f64;
    (config.sends_again().0 && share > 0.0).then(|| {
        format!(
            "{share:.2} % of the frames were sent again: with topology.routing = {routing} frames of a flow overtake each other, which \
             {} takes for losses: write flow-hash",
            config.text(tables::transport::KIND).unwrap_or_default()
        )
    })
}

/// Timeouts of runs that lost nothing.
pub(super) fn too_early(case: &[&RunRecord]) -> Option<String> {
    let sum = |id: Id| case.iter().map(|r| r.metrics.get(id)).sum::<Option<f64>>();
    let (timeouts, lost) = (sum(Id::Timeouts)?, sum(Id::DroppedFrames)?);
    let config = &case.first()?.config;
    let each = config.read::<u64>(tables::transport::ACK_EVERY).unwrap_or(1);
    let (cause, remedy) = if each > 1 {
        (
            format!(", where an acknowledgement waits for {each} frames"),
            "lower transport.ack_every, raise the window, or ",
        )
    } else {
        (String::new(), "")
    };
    (timeouts > 0.0 && lost == 0.0 && !event::stops(config)).then(|| {
        format!(
            "flows timed out {} times a run although no frame was lost{cause}: {remedy}raise the timeout above the round trip with its queues",
            digits((timeouts / case.len() as f64 * 10.0).round() / 10.0)
        )
    })
}

/// Most switches of which a host is looked at for the longest round trip.
const MOST_SWITCHES: usize = 256;

/// The longest round trip without a queue, of the longest frame out and an acknowledgement back, with the hosts at both ends. Of
/// each switch that host counts whose link takes longest. None without queue pairs.
pub(super) fn longest_round_trip(settings: &Settings) -> Option<(Time, usize, usize)> {
    let answer = settings.ack_length()?;
    let frames = (0..settings.hosts()).flat_map(|h| settings.plans(h)).map(|p| p.frame);
    let frame = frames.max()?;
    let mut of_switch: BTreeMap<u32, (Time, usize)> = BTreeMap::new();
    let sends = |h: usize| !settings.plans(h).is_empty();
    let receives =
        |to: usize| (0..settings.hosts()).any(|h| settings.plans(h).iter().any(|p| p.may_send(to)));
    let few = settings.hosts() <= MOST_SWITCHES;
    for h in (0..settings.hosts()).filter(|h| !few || sends(*h) || receives(*h)) {
        let Some(link) = settings.wiring.access(h) else { continue };
        let takes = (link.delay + link.rate.transmission_time(frame), h);
        let at = of_switch.entry(settings.wiring.feeder(h).0.0).or_insert(takes);
        if takes.0 > at.0 {
            *at = takes;
        }
    }
    let one = of_switch.len() == 1;
    let mut hosts: Vec<usize> = of_switch.values().map(|far| far.1).take(MOST_SWITCHES).collect();
    if one {
        // Two hosts of the one switch.
        hosts.extend(
            (0..settings.hosts()).find(|h| !hosts.contains(h) && (!few || sends(*h) || receives(*h))),
        );
    }
    let mut paths = Paths::new(settings);
    let way = |path: &Path, bytes: Bytes| path.exact_ideal(bytes, bytes.get(), 0, 1);
    let pairs = hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)));
    let trip = |(from, to): (usize, usize)| {
        (way(&paths.between(from, to), frame) + way(&paths.between(to, from), answer), from, to)
    };
    pairs.filter(|(from, to)| from != to).map(trip).max_by_key(|t| (t.0, Reverse((t.1, t.2))))
}
