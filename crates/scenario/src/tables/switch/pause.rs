//! `[pause]`: PAUSE of the switches.

use super::{BUFFER, Buffer};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::tables::{Section, Settings};
use cnsim_fabric::{PauseTransport, RunSpec};

words! {
    /// `pause.transport`.
    PauseTransport { Frame = "frame", Wire = "wire", }
}

choices! {
    /// `pause.mode`.
    PauseMode { On = "on", Off = "off", Global = "global", }
    /// `pause.frames`: 802.3x PAUSE stops all data of a link, PFC of IEEE 802.1Qbb names its class.
    Frames { Pause = "802.3x", Pfc = "pfc", }
}

rows! {
    MODE = key("pause.mode", Kind::Choice(PauseMode::WORDS), "on", "802.3x PAUSE of the switches")
        .fixed("write pause = [\"on\", \"off\"]");
    HIGH = key("pause.high", Kind::Or("auto", &kind::MEMORY), "auto",
        "XOFF is sent above this occupancy of a partition; auto: 130 KB, or less if the headroom needs it")
        .with_pause().sizes().of_partitions();
    LOW = key("pause.low", Kind::Or("auto", &kind::BUFFER), "auto",
        "XON is sent at or below this occupancy; auto: 110 KB, or less below a lower pause.high")
        .with_pause().of_partitions();
    POOL = key("pause.pool", kind::SWITCHED, "off", "watermarks apply to the whole pool (buffer SO)").only(BUFFER, one_of!(Buffer: SharedOutput));
    TRANSPORT = key("pause.transport", Kind::Choice(PauseTransport::WORDS), "frame",
        "PAUSE travels in frames of 64 B, or takes effect after a fixed delay").with_pause();
    FRAMES = key("pause.frames", Kind::Choice(Frames::WORDS), "802.3x",
        "frames of PAUSE: those of 802.3x are for all data of a link, those of pfc (IEEE 802.1Qbb) name its class, which pauses.csv and explain-pause then tell; with one class of data they stop the same")
        .with_pause();
    LENGTH = key("pause.length", kind::ANSWER, "64 B",
        "length of a PAUSE frame; the HPCC fork of ns-3 has 43 B").with_pause().sizes();
    RESPONSE = key("pause.response", kind::PROCESSING, "0 us",
        "time from the arrival of PAUSE to its effect on the transmitter, which finishes a frame in transmission in any case")
        .with_pause().sizes();
}

impl Key {
    /// The key has an effect with PAUSE.
    pub(crate) const fn with_pause(self) -> Self {
        self.only(MODE, one_of!(PauseMode: On | Global))
    }

    /// Nothing of the key is read where no case has PAUSE.
    pub(crate) const fn seen(self) -> Self {
        self.unread("no case has PAUSE", "remove it, or set pause.mode or matrix.pause to on")
    }

    /// The key has no effect with a shared buffer.
    const fn of_partitions(self) -> Self {
        let remedy =
            "remove it: switch.alpha or switch.threshold, and switch.resume, say when XOFF and XON are sent";
        self.needs(BUFFER, |word| Buffer::of(word) != Some(Buffer::Shared), remedy)
    }
}

/// Frames of PAUSE.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    pub(crate) frames: cnsim_fabric::PauseFrames,
    /// PAUSE frames name a class.
    pub pfc: bool,
}

impl Section for Pause {
    fn read(r: &mut Reader<'_>, _: &mut Settings) -> Self {
        let frames = cnsim_fabric::PauseFrames { length: r.bytes(LENGTH), response: r.time(RESPONSE) };
        Self { frames, pfc: r.choice::<Frames>(FRAMES) == Frames::Pfc }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.laws.pause_frames = self.frames;
    }
}
