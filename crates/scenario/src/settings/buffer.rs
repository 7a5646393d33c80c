//! Memory and PAUSE of the switches: partitions, watermarks, and the headroom between them.

use super::shared::SharedBuffer;
use crate::headroom::Loop;
use crate::kinds::{Buffer, PauseMode};
use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_fabric::{BufferSpec, Organisation, PauseSpec};
use cnsim_units::Bytes;

/// Size of a partition and watermarks where a scenario leaves them out and the headroom needs no others.
const USUAL: (Bytes, Bytes, Bytes) = (Bytes::from_kb(150), Bytes::from_kb(130), Bytes::from_kb(110));

/// Memory of the switches and the watermarks of PAUSE. `loops`: of each link, what the headroom depends on.
pub(super) fn buffer(
    r: &mut Reader<'_>,
    loops: &[Loop],
    shared: Option<&SharedBuffer>,
    wiring: &Wiring,
) -> BufferSpec {
    let kind: Buffer = r.choice("switch.buffer");
    let need = loops.iter().map(Loop::headroom).max().unwrap_or_default();
    let share = match kind {
        Buffer::SplitInput => Bytes::new(r.bytes("switch.capacity").get() / wiring.inputs()),
        Buffer::Shared | Buffer::Crosspoint | Buffer::Input | Buffer::SharedOutput => {
            // As large with PAUSE as without, so that the two can be compared.
            let high = r.bytes_or("pause.high").unwrap_or(USUAL.1);
            let whole = if kind == Buffer::SharedOutput { USUAL.0 } else { USUAL.0.max(high + need) };
            r.bytes_or("switch.share").unwrap_or(whole)
        }
    };
    let output_limit = r.bytes_or("switch.output_limit");
    let mode: PauseMode = r.choice("pause.mode");
    if let Some(shared) = shared {
        let transport = r.choice("pause.transport");
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
        let high = r.bytes_or("pause.high").unwrap_or(USUAL.1.min(most.max(Bytes::new(64))));
        let below = if high > USUAL.2 { USUAL.2 } else { Bytes::new(high.get() / 2) };
        let low = r.bytes_or("pause.low").unwrap_or(below);
        if low >= high {
            let reason = format!("the low watermark {low} is not below the high one {high}");
            r.clash(&["pause.low", "pause.high"], reason, "lower pause.low");
        }
        if high + need > memory {
            let left = memory.saturating_sub(high);
            r.clash(
                &["pause.high", "switch.share", "switch.capacity"],
                format!("watermark without headroom: {memory} - {high} leaves {left} but {need} can still arrive after XOFF"),
                format!("set pause.high to at most {most}, or enlarge switch.share; see `cnsim headroom`"),
            );
        }
        PauseSpec {
            high,
            low,
            global: mode == PauseMode::Global,
            pool: r.switched("pause.pool"),
            transport: r.choice("pause.transport"),
        }
    });
    BufferSpec { organisation, share, output_limit, pause }
}
