//! A shared buffer of a switch.

use super::{BufferSpec, ClassSpec, Organisation, PauseSpec, SwitchSpec};
use cnsim_scheme_api::Bytes;

/// A buffer that the inputs of a switch share. With PAUSE each input has a reserve, a threshold in the pool, and headroom. Without, the
/// whole is a pool, and a queue takes a frame while it is shorter than its output's threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedSpec {
    /// All of the buffer.
    pub memory: Bytes,
    /// The part of it that is the pool of classes without PAUSE, where there are classes with PAUSE, too.
    pub lossy: Bytes,
    /// By class of the run, then by port.
    pub inputs: Vec<SharedInput>,
    /// A pool of headroom, of which each input takes up to its own; none: the headroom of all inputs together.
    pub headroom: Option<Bytes>,
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
    pub(crate) fn refused(&self, switch: &SwitchSpec, classes: &[ClassSpec]) -> Option<String> {
        let BufferSpec { organisation, pause, .. } = &switch.buffer;
        let ports = usize::from(switch.ports);
        let (all, memories) = (ports * classes.len(), switch.memories(classes));
        let lossless: Vec<_> = (0..classes.len()).filter(|c| switch.pauses(&classes[*c])).collect();
        let own = lossless.iter().filter_map(|class| self.inputs.get(class * ports..(class + 1) * ports));
        let sums = own.flatten().fold((Bytes::ZERO, Bytes::ZERO), |s, i| (s.0 + i.reserve, s.1 + i.headroom));
        let kept = sums.0 + self.headroom.map_or(sums.1, |pool| pool.min(sums.1));
        let lossy = if memories.len() > 1 { self.lossy } else { Bytes::ZERO };
        if *organisation != Organisation::Input || matches!(pause, Some(PauseSpec { global: true, .. })) {
            Some("it is organised by input, and stops one input at a time".into())
        } else if self.inputs.len() != all {
            let n = classes.len();
            let each = if n > 1 { format!(" for each of {n} classes") } else { String::new() };
            Some(format!("it has {} inputs, and the switch has {ports} ports{each}", self.inputs.len()))
        } else if memories.len() > 1 && lossy == Bytes::ZERO {
            Some("classes without PAUSE have no pool".into())
        } else if self.inputs.iter().any(|i| i.alpha.is_nan() || i.alpha <= 0.0) {
            Some("an alpha of 0 or less".into())
        } else if !lossless.is_empty() && kept + lossy >= self.memory {
            let pool = (lossy > Bytes::ZERO).then(|| format!(", the pool of lossy classes is {lossy}"));
            let others = pool.unwrap_or_default();
            Some(format!("reserves and headroom are {kept}{others}, and all of it is {}", self.memory))
        } else {
            self.threshold
                .filter(|t| pause.is_some() && *t <= self.resume)
                .map(|t| format!("XON is {} below XOFF at {t}", self.resume))
        }
    }
}
