//! A shared buffer of a switch.

use super::{BufferSpec, Organisation, PauseSpec, SwitchSpec};
use cnsim_scheme_api::Bytes;

/// A buffer that the inputs of a switch share. With PAUSE each input has a reserve, a threshold in the pool, and headroom. Without, the
/// whole is a pool, and a queue takes a frame while it is shorter than its output's threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedSpec {
    /// All of the buffer.
    pub memory: Bytes,
    /// By port.
    pub inputs: Vec<SharedInput>,
    /// A constant threshold; none: `alpha` times what is free of the pool.
    pub threshold: Option<Bytes>,
    /// XON is sent when an input holds so much less of the pool than its threshold.
    pub resume: Bytes,
    /// A frame's bytes are free as its transmission starts, as in the HPCC fork of ns-3, and not at its end.
    pub at_start: bool,
}

/// A port's part of a shared buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SharedInput {
    /// Bytes that are its own.
    pub reserve: Bytes,
    /// Bytes for what still comes after XOFF.
    pub headroom: Bytes,
    /// Share of the free pool that is its threshold, above 0.
    pub alpha: f64,
}

impl SharedSpec {
    /// Why a switch cannot have it.
    pub(crate) fn refused(&self, switch: &SwitchSpec) -> Option<String> {
        let BufferSpec { organisation, pause, .. } = &switch.buffer;
        let kept = self.inputs.iter().fold(Bytes::ZERO, |sum, i| sum + i.reserve + i.headroom);
        if *organisation != Organisation::Input || matches!(pause, Some(PauseSpec { global: true, .. })) {
            Some("it is organised by input, and stops one input at a time".into())
        } else if self.inputs.len() != usize::from(switch.ports) {
            Some(format!("it has {} inputs, and the switch has {} ports", self.inputs.len(), switch.ports))
        } else if self.inputs.iter().any(|i| i.alpha.is_nan() || i.alpha <= 0.0) {
            Some("an alpha of 0 or less".into())
        } else if pause.is_some() && kept >= self.memory {
            Some(format!("reserves and headroom are {kept}, and all of it is {}", self.memory))
        } else {
            self.threshold
                .filter(|t| pause.is_some() && *t <= self.resume)
                .map(|t| format!("XON is {} below XOFF at {t}", self.resume))
        }
    }
}
