//! Memory and PAUSE of the switches: partitions, watermarks, and the headroom between them.

pub mod pause;
mod shared;

use super::{Section, Settings};
use crate::headroom::Loop;
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::wiring::Wiring;
use cnsim_fabric::{BufferSpec, LinkSpec, Organisation, PauseSpec, RunSpec, SwitchSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Time};
use pause::PauseMode;

pub(crate) use shared::{Part, SharedBuffer, share_of_pool};

choices! {
    /// `switch.buffer`.
    Buffer { Crosspoint = "XP", Input = "IN", SharedOutput = "SO", SplitInput = "SW", Shared = "shared", }
    /// `switch.preset`.
    SharedPreset { Nothing = "none", HpccFork = "hpcc-fork", BroadcomLike = "broadcom-like", }
    /// `switch.freed`.
    FreedAt { End = "end", Start = "start", }
}

rows! {
    PROCESSING = key("switch.processing", kind::PROCESSING, "1 us", "processing delay of a switch");
    BUFFER = key("switch.buffer", Kind::Choice(Buffer::WORDS), "XP",
        "buffer organisation: per crosspoint (XP), per input (IN), one pool whose outputs above XOFF pause all transmitters (SO), a capacity split over the inputs in use (SW), or a reserve, a share of a pool and headroom for each input (shared)");
    SHARE = key("switch.share", Kind::Or("auto", &kind::MEMORY), "auto",
        "size of one partition; auto: 150 KB, or more where PAUSE needs more headroom")
        .only(BUFFER, one_of!(Buffer: Crosspoint | Input | SharedOutput))
        // PAUSE may need 167 KB behind a port of 0.5 Gb/s.
        .sample("200 KB");
    CAPACITY = key("switch.capacity", kind::MEMORY, "1 MB",
        "memory of a switch; the inputs in use share it evenly").only(BUFFER, one_of!(Buffer: SplitInput));
    PRESET = key("switch.preset", Kind::Choice(SharedPreset::WORDS), "none",
        "values of a shared buffer that are not given: those of the HPCC fork of ns-3 (12 MiB, headroom of 3 rate x delay, alpha by rate, memory free as a transmission starts), or of a Broadcom chip as ns3-rdma models it (9 MB, alpha 1/16, headroom 103 KB)")
        .shared();
    MEMORY = key("switch.memory", Kind::Or("auto", &kind::MEMORY), "auto", "all of a shared buffer; auto: that of the preset, or 12 MiB")
        .shared();
    RESERVE = key("switch.reserve", Kind::Or("auto", &kind::BUFFER), "auto",
        "bytes of a shared buffer that each input with a link has for itself; auto: 4 KiB").shared().lossless();
    HEADROOM = key("switch.headroom", Kind::Or("auto", &kind::BUFFER), "auto",
        "bytes of a shared buffer that each input has for what still comes after XOFF; auto: that of the preset, or as much as can come (`cnsim headroom`)")
        .shared().lossless();
    HEADROOM_POOL = key("switch.headroom_pool", Kind::Or("auto", &kind::MEMORY), "auto",
        "headroom of all inputs of a switch together, of which each lossless class takes at each input up to its own; auto: the sum of all, or with class.preset = sonic-like at most 26 % of the memory, as SONiC has it for 32 ports of 100 Gb/s")
        .shared().lossless();
    ALPHA = key("switch.alpha", Kind::Line, "auto",
        "an input is in XOFF when it holds this share of what is free of the pool, such as 1/8; without PAUSE the share is an output's; auto: that of the preset, or 1/8")
        .shared().dynamic();
    ALPHA_BY_RATE = key("switch.alpha_by_rate", kind::SWITCHED, "off",
        "alpha is that of a port as fast as the slowest host; it doubles with each doubling of a port's rate, up to 1; the preset hpcc-fork has it on")
        .shared().dynamic();
    THRESHOLD = key("switch.threshold", Kind::Or("dynamic", &kind::MEMORY), "dynamic",
        "XOFF at so many bytes of an input in the pool, in place of switch.alpha; dynamic: by switch.alpha").shared();
    RESUME = key("switch.resume", Kind::Or("auto", &kind::BUFFER), "auto",
        "XON when an input of a shared buffer holds so much less of the pool than its threshold; auto: that of the preset, or 3 KiB")
        .shared().lossless();
    FREED = key("switch.freed", Kind::Choice(FreedAt::WORDS), "end",
        "a frame's bytes of a shared buffer are free when its transmission ends, or as it starts, as in the preset hpcc-fork").shared();
    LOSSY_MEMORY = key("switch.lossy_memory", Kind::Or("auto", &kind::MEMORY), "auto",
        "part of a shared buffer that is the pool of the classes that are not lossless, where others are; auto: half of what reserves and headroom leave")
        .shared().lossless().unread("no case has lossless classes beside others", "remove it, or write [[class]] tables");
    OUTPUT_LIMIT = key("switch.output_limit", Kind::Or("off", &kind::MEMORY), "off", "largest queue of one output, off for none");
}

impl Key {
    /// The key has an effect with a shared buffer.
    const fn shared(self) -> Self {
        self.only(BUFFER, one_of!(Buffer: Shared))
    }

    /// The key has an effect with PAUSE alone.
    const fn lossless(self) -> Self {
        let remedy = "remove it, or set pause.mode = \"on\": without PAUSE frames are lost above an output's threshold";
        self.needs(pause::MODE, |word| PauseMode::of(word) != Some(PauseMode::Off), remedy)
    }

    /// The key has an effect if XOFF depends on what is free.
    const fn dynamic(self) -> Self {
        let remedy = "remove it, or write switch.threshold = \"dynamic\"";
        self.needs(THRESHOLD, |word| word == "dynamic", remedy)
    }
}

/// Size of a partition and watermarks where a scenario leaves them out and the headroom needs no others.
const USUAL: (Bytes, Bytes, Bytes) = (Bytes::from_kb(150), Bytes::from_kb(130), Bytes::from_kb(110));

/// All switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    pub(crate) processing: Time,
    pub(crate) buffer: BufferSpec,
    pub(crate) shared: Option<SharedBuffer>,
}

impl Default for Switch {
    fn default() -> Self {
        let organisation = Organisation::Crosspoint;
        let buffer = BufferSpec { organisation, share: USUAL.0, output_limit: None, pause: None };
        Self { processing: Time::ZERO, buffer, shared: None }
    }
}

impl Section for Switch {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (wiring, pause) = (&settings.wiring, settings.pause.frames);
        let longest = settings.traffic.plans.iter().flatten().map(|plan| plan.frame).max();
        let frame = longest.unwrap_or(Bytes::new(1500));
        let own = r.time(PROCESSING);
        let processing = own.max(settings.host.processing);
        let of = |l: &LinkSpec| Loop { rate: l.rate, delay: l.delay, processing, frame, pause };
        let loops: Vec<Loop> = wiring.links.iter().map(of).collect();
        let of_classes = (&settings.classes.parts(true)[..], settings.classes.headroom_share);
        let shared = (r.choice::<Buffer>(BUFFER) == Buffer::Shared)
            .then(|| SharedBuffer::read(r, (frame, processing, pause), wiring, of_classes));
        Self { processing: own, buffer: buffer(r, &loops, shared.as_ref(), wiring), shared }
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        let wiring = &settings.wiring;
        let parts = settings.classes.parts(self.buffer.pause.is_some());
        let switch = |(node, (name, ports)): (u32, &(String, u16))| SwitchSpec {
            name: name.clone(),
            ports: *ports,
            processing: self.processing,
            buffer: self.buffer,
            shared: self.shared.map(|s| s.of(NodeId(node), *ports, wiring, &parts)),
            scheme: Some(0),
        };
        run.switches = (wiring.hosts.len() as u32..).zip(&wiring.switches).map(switch).collect();
    }
}

/// Memory of the switches and the watermarks of PAUSE. `loops`: of each link, what the headroom depends on.
fn buffer(r: &mut Reader<'_>, loops: &[Loop], shared: Option<&SharedBuffer>, wiring: &Wiring) -> BufferSpec {
    let kind: Buffer = r.choice(BUFFER);
    let need = loops.iter().map(Loop::headroom).max().unwrap_or_default();
    let share = match kind {
        Buffer::SplitInput => Bytes::new(r.bytes(CAPACITY).get() / wiring.inputs()),
        Buffer::Shared | Buffer::Crosspoint | Buffer::Input | Buffer::SharedOutput => {
            // As large with PAUSE as without, so that the two can be compared.
            let high = r.bytes_or(pause::HIGH).unwrap_or(USUAL.1);
            let whole = if kind == Buffer::SharedOutput { USUAL.0 } else { USUAL.0.max(high + need) };
            r.bytes_or(SHARE).unwrap_or(whole)
        }
    };
    let output_limit = r.bytes_or(OUTPUT_LIMIT);
    let mode: PauseMode = r.choice(pause::MODE);
    if let Some(shared) = shared {
        let transport = r.choice(pause::TRANSPORT);
        let (high, low, global, pool) = (Bytes::ZERO, Bytes::ZERO, false, false);
        let pause = PauseSpec { high, low, global, pool, transport };
        return shared.buffer(output_limit, (mode != PauseMode::Off).then_some(pause));
    }
    let organisation = match kind {
        Buffer::Shared | Buffer::Input | Buffer::SplitInput => Organisation::Input,
        Buffer::SharedOutput => Organisation::SharedOutput,
        Buffer::Crosspoint => Organisation::Crosspoint,
    };
    let paused = match mode {
        PauseMode::On | PauseMode::Global => true,
        PauseMode::Off => false,
    };
    let pause = paused.then(|| {
        let memory = match organisation {
            Organisation::SharedOutput => {
                share * wiring.switches.iter().map(|s| u64::from(s.1)).min().unwrap_or(1)
            }
            Organisation::Input | Organisation::Crosspoint => share,
        };
        let most = memory.saturating_sub(need);
        let high = r.bytes_or(pause::HIGH).unwrap_or(USUAL.1.min(most.max(Bytes::new(64))));
        let below = if high > USUAL.2 { USUAL.2 } else { Bytes::new(high.get() / 2) };
        let low = r.bytes_or(pause::LOW).unwrap_or(below);
        if low >= high {
            let reason = format!("the low watermark {low} is not below the high one {high}");
            r.clash(&[pause::LOW, pause::HIGH], reason, "lower pause.low");
        }
        if high + need > memory {
            let left = memory.saturating_sub(high);
            r.clash(
                &[pause::HIGH, SHARE, CAPACITY],
                format!("watermark without headroom: {memory} - {high} leaves {left} but {need} can still arrive after XOFF"),
                format!("set pause.high to at most {most}, or enlarge switch.share; see `cnsim headroom`"),
            );
        }
        PauseSpec {
            high,
            low,
            global: mode == PauseMode::Global,
            pool: r.switched(pause::POOL),
            transport: r.choice(pause::TRANSPORT),
        }
    });
    BufferSpec { organisation, share, output_limit, pause }
}
