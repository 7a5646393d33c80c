//! A shared buffer: `switch.buffer = "shared"`, with its presets and what each port has of it.

use super::pause::{self, PauseMode};
use super::{
    ALPHA, ALPHA_BY_RATE, FREED, FreedAt, HEADROOM, MEMORY, PRESET, RESERVE, RESUME, SharedPreset, THRESHOLD,
};
use crate::headroom::Loop;
use crate::language::reader::Reader;
use crate::wiring::Wiring;
use cnsim_fabric::{BufferSpec, Organisation, PauseFrames, PauseSpec, SharedInput, SharedSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Rate, Time};

/// Values of a preset for keys that the scenario leaves out.
struct Preset {
    memory: Bytes,
    reserve: Bytes,
    alpha: f64,
    by_rate: bool,
    resume: Bytes,
    /// Headroom of this many times the rate times the delay of the link; none: what can still arrive after XOFF.
    delays: Option<u64>,
    /// Headroom of so many bytes.
    headroom: Option<Bytes>,
}

/// A shared buffer of all switches, before it is known what each port has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedBuffer {
    memory: Bytes,
    reserve: Bytes,
    headroom: Option<Bytes>,
    delays: Option<u64>,
    alpha: f64,
    by_rate: bool,
    threshold: Option<Bytes>,
    resume: Bytes,
    at_start: bool,
    /// Processing, longest frame and PAUSE frames, by which headroom is computed.
    processing: Time,
    frame: Bytes,
    pause: PauseFrames,
}

/// Reads `1/8` or `0.125`.
fn fraction(text: &str) -> Option<f64> {
    let value = match text.split_once('/') {
        Some((over, under)) => over.trim().parse::<f64>().ok()? / under.trim().parse::<f64>().ok()?,
        None => text.trim().parse().ok()?,
    };
    (value.is_finite() && value > 0.0 && value <= 1024.0).then_some(value)
}

impl SharedBuffer {
    /// Reads it, for a longest frame, processing delay and PAUSE frames.
    pub(crate) fn read(
        r: &mut Reader<'_>,
        (frame, processing, pause): (Bytes, Time, PauseFrames),
        wiring: &Wiring,
    ) -> Self {
        let preset = match r.choice(PRESET) {
            SharedPreset::Nothing => Preset { delays: None, by_rate: false, ..FORK },
            SharedPreset::HpccFork => FORK,
            SharedPreset::BroadcomLike => BROADCOM,
        };
        let alpha = match r.word(ALPHA) {
            text if text == "auto" => preset.alpha,
            text => fraction(&text).unwrap_or_else(|| {
                r.wrong(
                    ALPHA,
                    format!("`{text}` is no share of the free pool"),
                    "write for example \"1/8\", above 0 and at most 1024",
                );
                preset.alpha
            }),
        };
        let by_rate = if r.is_set(ALPHA_BY_RATE) { r.switched(ALPHA_BY_RATE) } else { preset.by_rate };
        let threshold = r.bytes_or(THRESHOLD);
        let fork = matches!(r.choice(PRESET), SharedPreset::HpccFork);
        let at_start =
            if r.is_set(FREED) || !fork { r.choice::<FreedAt>(FREED) == FreedAt::Start } else { true };
        let buffer = Self {
            memory: r.bytes_or(MEMORY).unwrap_or(preset.memory),
            reserve: r.bytes_or(RESERVE).unwrap_or(preset.reserve),
            headroom: r.bytes_or(HEADROOM).or(preset.headroom),
            delays: preset.delays,
            alpha,
            by_rate,
            threshold,
            resume: r.bytes_or(RESUME).unwrap_or(preset.resume),
            at_start,
            processing,
            frame,
            pause,
        };
        let lossless = r.choice::<PauseMode>(pause::MODE) != PauseMode::Off;
        if r.choice::<PauseMode>(pause::MODE) == PauseMode::Global {
            r.wrong(pause::MODE, "a shared buffer stops one input at a time", "write pause.mode = \"on\"");
        }
        if lossless {
            buffer.check(r, wiring);
        }
        buffer
    }

    /// Is there a pool, and is XON below XOFF?
    fn check(&self, r: &mut Reader<'_>, wiring: &Wiring) {
        let hosts = wiring.hosts.len() as u32;
        for (index, (name, ports)) in (hosts..).zip(&wiring.switches) {
            let kept = self
                .of(NodeId(index), *ports, wiring)
                .inputs
                .iter()
                .fold(Bytes::ZERO, |sum, i| sum + i.reserve + i.headroom);
            if kept >= self.memory {
                let reason = format!(
                    "reserve and headroom of the ports of {name} are {kept}, and all of its memory is {}",
                    self.memory
                );
                r.clash(
                    &[MEMORY, HEADROOM, RESERVE],
                    reason,
                    "enlarge switch.memory, or lower switch.headroom or switch.reserve",
                );
                return;
            }
        }
        if let Some(threshold) = self.threshold.filter(|t| *t <= self.resume) {
            let reason = format!(
                "XON is {} below XOFF, which is {threshold}: an input would never go on",
                self.resume
            );
            r.clash(&[RESUME, THRESHOLD], reason, "lower switch.resume");
        }
    }

    /// The whole of a switch.
    pub(crate) fn of(&self, node: NodeId, ports: u16, wiring: &Wiring) -> SharedSpec {
        let base =
            (0..wiring.hosts.len()).filter_map(|h| wiring.access(h)).map(|l| l.rate).fold(None, slower);
        let input = |port| {
            let Some(link) = wiring.link((node, port)) else {
                return SharedInput { alpha: self.alpha, ..SharedInput::default() };
            };
            let mut alpha = self.alpha;
            let mut rate = base.unwrap_or(link.rate);
            while self.by_rate && alpha < 1.0 && link.rate > rate {
                (alpha, rate) = ((alpha * 2.0).min(1.0), rate * 2.0);
            }
            let after = Loop {
                rate: link.rate,
                delay: link.delay,
                processing: self.processing,
                frame: self.frame,
                pause: self.pause,
            };
            let delays = self
                .delays
                .map(|n| Bytes::new((link.rate.bps() * link.delay.as_secs_f64() / 8.0).round() as u64 * n));
            let headroom = self.headroom.or(delays).unwrap_or_else(|| after.headroom());
            SharedInput { reserve: self.reserve, headroom, alpha }
        };
        SharedSpec {
            memory: self.memory,
            inputs: (0..ports).map(input).collect(),
            threshold: self.threshold,
            resume: self.resume,
            at_start: self.at_start,
        }
    }

    /// The partition and the watermarks that stand for it: an input comes to no XOFF below these, while the pool is empty.
    pub(crate) fn buffer(&self, output_limit: Option<Bytes>, pause: Option<PauseSpec>) -> BufferSpec {
        let high = self.threshold.unwrap_or_else(|| Bytes::new((self.alpha * self.memory.as_f64()) as u64))
            + self.reserve;
        let low = high.saturating_sub(self.resume);
        let pause = pause.map(|pause| PauseSpec { high, low, ..pause });
        BufferSpec { organisation: Organisation::Input, share: self.memory, output_limit, pause }
    }
}

/// The slower of two rates, if there is one already.
fn slower(least: Option<Rate>, rate: Rate) -> Option<Rate> {
    Some(least.map_or(rate, |least| if rate < least { rate } else { least }))
}

/// The HPCC fork of ns-3, `switch-mmu`: with `KB` of 1024 B.
const FORK: Preset = Preset {
    memory: Bytes::new(12 << 20),
    reserve: Bytes::new(4 << 10),
    alpha: 0.125,
    by_rate: true,
    resume: Bytes::new(3 << 10),
    delays: Some(3),
    headroom: None,
};

/// As ns3-rdma and ConWeave model a chip: 9 MB, alpha of 1/16 at any rate, headroom of 100 cells of 1030 B, XON two cells lower.
const BROADCOM: Preset = Preset {
    memory: Bytes::from_mb(9),
    reserve: Bytes::new(4 << 10),
    alpha: 0.0625,
    by_rate: false,
    resume: Bytes::new(2060),
    delays: None,
    headroom: Some(Bytes::new(103_000)),
};
