//! A shared buffer: `switch.buffer = "shared"`, with its presets and what each port has of it.

use super::pause::{self, PauseMode};
use super::{
    ALPHA, ALPHA_BY_RATE, FREED, FreedAt, HEADROOM, HEADROOM_POOL, LOSSY_MEMORY, MEMORY, PRESET, RESERVE,
    RESUME, SharedPreset, THRESHOLD,
};
use crate::headroom::Loop;
use crate::language::reader::Reader;
use crate::language::row::At;
use crate::wiring::Wiring;
use cnsim_fabric::{BufferSpec, Organisation, PauseFrames, PauseSpec, SharedInput, SharedSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Rate, Time};

/// A class's part of a shared buffer, where it differs from the keys of `[switch]`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub(crate) lossless: bool,
    pub(crate) alpha: Option<f64>,
    pub(crate) reserve: Option<Bytes>,
    pub(crate) headroom: Option<Bytes>,
}

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
    /// Headroom of all inputs together, where it is less than the sum of theirs.
    pub(crate) headroom_pool: Option<Bytes>,
    delays: Option<u64>,
    alpha: f64,
    by_rate: bool,
    threshold: Option<Bytes>,
    resume: Bytes,
    at_start: bool,
    /// Pool of the classes that are not lossless, where others are.
    lossy: Option<Bytes>,
    /// Processing, longest frame and PAUSE frames, by which headroom is computed.
    processing: Time,
    frame: Bytes,
    pause: PauseFrames,
}

/// A share of the free pool, as a key has it.
pub(crate) fn share_of_pool(r: &mut Reader<'_>, at: At, text: &str) -> Option<f64> {
    let found = fraction(text);
    if found.is_none() {
        let reason = format!("`{text}` is no share of the free pool");
        r.wrong(at, reason, "write for example \"1/8\", above 0 and at most 1024");
    }
    found
}

/// The sum of the reserves, or of the headroom, of inputs.
fn sum(inputs: &[SharedInput], of: fn(&SharedInput) -> Bytes) -> Bytes {
    inputs.iter().fold(Bytes::ZERO, |sum, input| sum + of(input))
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
        (parts, headroom_share): (&[Part], Option<f64>),
    ) -> Self {
        let preset = match r.choice(PRESET) {
            SharedPreset::Nothing => Preset { delays: None, by_rate: false, ..FORK },
            SharedPreset::HpccFork => FORK,
            SharedPreset::BroadcomLike => BROADCOM,
        };
        let alpha = match r.word(ALPHA) {
            text if text == "auto" => preset.alpha,
            text => share_of_pool(r, ALPHA.into(), &text).unwrap_or(preset.alpha),
        };
        let by_rate = if r.is_set(ALPHA_BY_RATE) { r.switched(ALPHA_BY_RATE) } else { preset.by_rate };
        let threshold = r.bytes_or(THRESHOLD);
        let fork = matches!(r.choice(PRESET), SharedPreset::HpccFork);
        let at_start =
            if r.is_set(FREED) || !fork { r.choice::<FreedAt>(FREED) == FreedAt::Start } else { true };
        let memory = r.bytes_or(MEMORY).unwrap_or(preset.memory);
        let mut buffer = Self {
            memory,
            reserve: r.bytes_or(RESERVE).unwrap_or(preset.reserve),
            headroom: r.bytes_or(HEADROOM).or(preset.headroom),
            headroom_pool: r
                .bytes_or(HEADROOM_POOL)
                .or_else(|| headroom_share.map(|share| Bytes::new((memory.as_f64() * share) as u64))),
            delays: preset.delays,
            alpha,
            by_rate,
            threshold,
            resume: r.bytes_or(RESUME).unwrap_or(preset.resume),
            at_start,
            lossy: None,
            processing,
            frame,
            pause,
        };
        let lossless = r.choice::<PauseMode>(pause::MODE) != PauseMode::Off;
        if r.choice::<PauseMode>(pause::MODE) == PauseMode::Global {
            r.wrong(pause::MODE, "a shared buffer stops one input at a time", "write pause.mode = \"on\"");
        }
        if lossless {
            if parts.iter().any(|part| part.lossless) && parts.iter().any(|part| !part.lossless) {
                buffer.lossy = r.bytes_or(LOSSY_MEMORY);
            }
            buffer.check(r, wiring, parts);
        }
        buffer
    }

    /// Bytes of a switch with these inputs that no pool of frames has: reserves and headroom.
    pub(crate) fn kept(&self, inputs: &[SharedInput]) -> Bytes {
        let headroom = sum(inputs, |input| input.headroom);
        sum(inputs, |input| input.reserve) + self.headroom_pool.map_or(headroom, |pool| pool.min(headroom))
    }

    /// Is there a pool, and is XON below XOFF?
    fn check(&self, r: &mut Reader<'_>, wiring: &Wiring, parts: &[Part]) {
        let hosts = wiring.hosts.len() as u32;
        for (index, (name, ports)) in (hosts..).zip(&wiring.switches) {
            let (own, lossy) =
                (self.inputs(NodeId(index), *ports, wiring, parts), self.lossy.unwrap_or_default());
            let (kept, headroom) = (self.kept(&own), sum(&own, |input| input.headroom));
            if let Some(pool) = r.bytes_or(HEADROOM_POOL).filter(|pool| *pool > headroom) {
                let reason = format!(
                    "the pool is {pool}, and all headroom of {name} is {headroom}: the rest is never used"
                );
                r.wrong(HEADROOM_POOL, reason, format!("lower it to {headroom} or less, or leave it out"));
                return;
            }
            if kept < self.memory && kept + lossy >= self.memory {
                let reason = format!(
                    "the pool of classes that are not lossless is {lossy}, reserves and headroom of {name} are {kept}, and all of its \
                     memory is {}",
                    self.memory
                );
                r.clash(&[LOSSY_MEMORY, MEMORY], reason, "lower it, or enlarge switch.memory");
                return;
            }
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

    /// The whole of a switch, for classes with these parts of it.
    pub(crate) fn of(&self, node: NodeId, ports: u16, wiring: &Wiring, parts: &[Part]) -> SharedSpec {
        let inputs = self.inputs(node, ports, wiring, parts);
        let both = parts.iter().any(|part| part.lossless) && parts.iter().any(|part| !part.lossless);
        let half = Bytes::new(self.memory.saturating_sub(self.kept(&inputs)).get() / 2);
        SharedSpec {
            memory: self.memory,
            lossy: if both { self.lossy.unwrap_or(half) } else { Bytes::ZERO },
            headroom: self.headroom_pool.filter(|pool| *pool < sum(&inputs, |input| input.headroom)),
            inputs,
            threshold: self.threshold,
            resume: self.resume,
            at_start: self.at_start,
        }
    }

    /// Reserve, threshold and headroom of each class at each port. Headroom allows for an XOFF that waits for those of other classes.
    fn inputs(&self, node: NodeId, ports: u16, wiring: &Wiring, parts: &[Part]) -> Vec<SharedInput> {
        let lossless = parts.iter().filter(|part| part.lossless).count().max(1) as u64;
        let base =
            (0..wiring.hosts.len()).filter_map(|h| wiring.access(h)).map(|l| l.rate).fold(None, slower);
        let input = |part: &Part, port: u16| {
            let mut alpha = part.alpha.unwrap_or(self.alpha);
            let Some(link) = wiring.link((node, port)) else {
                return SharedInput { alpha, ..SharedInput::default() };
            };
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
            let whole = || after.headroom() + self.pause.length * (lossless - 1);
            let headroom = part.headroom.or(self.headroom).or(delays).unwrap_or_else(whole);
            let reserve = part.reserve.unwrap_or(self.reserve);
            if !part.lossless && parts.len() > 1 {
                return SharedInput { alpha, ..SharedInput::default() };
            }
            SharedInput { reserve, headroom, alpha }
        };
        parts
            .iter()
            .flat_map(|part| (0..ports).map(move |port| (part, port)))
            .map(|(part, port)| input(part, port))
            .collect()
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
