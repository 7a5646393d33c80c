//! Classes of data.

use super::{RunSpec, SwitchSpec, TransportSpec};

/// Most classes of data, as in 802.1Q.
pub const MOST_CLASSES: usize = 8;

/// A class of data. It has a queue at each port, memory and XOFF at each switch, and its own side of each host: sources' FIFO, limiters,
/// queue pairs, reflectors. A class with a scheme has congestion points at its queues.
///
/// A switch with a shared buffer has a pool for the classes with PAUSE and one for the others; else each class has partitions of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassSpec {
    /// Name of the class in scenario and results.
    pub name: String,
    /// XOFF and XON of this class, if a switch has PAUSE. They stop this class alone, as in priority flow control (802.1Qbb).
    pub pause: bool,
    /// When it goes at a port, among other classes.
    pub turn: Turn,
    /// The scheme of its congestion points, reaction points and reflectors.
    pub scheme: ClassScheme,
    /// Of its queue pairs, if they are others than [`RunSpec::transport`] says. Class and interval of acknowledgements are those of the run.
    pub transport: Option<TransportSpec>,
}

/// Turns of classes at a port. Control goes before all of them, and nothing interrupts a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// Before all classes of a later number, and before all with a weight.
    #[default]
    Strict,
    /// Deficit round robin: at each visit the class may send so many times the largest frame of the run. What it does not use it keeps for
    /// its next visit, unless nothing of it waits, or it is in XOFF. An output knows the next frame; a host sends while a byte is left, and
    /// takes what is too much from its next visit.
    Weight {
        /// Share of the visits' bytes, 1 or more. Weights of a common divisor count as divided by it.
        weight: u32,
        /// Frames count alike, whatever their length.
        frames: bool,
    },
}

/// The scheme that manages a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassScheme {
    /// The one that each host and switch names.
    #[default]
    OfNodes,
    /// None: feedback is counted and ignored.
    Nobody,
    /// The one of this number in [`RunSpec::schemes`].
    Own(usize),
}

impl ClassSpec {
    /// The scheme of the class at a node that names this one.
    pub(crate) fn scheme(&self, own: Option<usize>) -> Option<usize> {
        match self.scheme {
            ClassScheme::OfNodes => own,
            ClassScheme::Nobody => None,
            ClassScheme::Own(scheme) => Some(scheme),
        }
    }
    /// Its weight; 0: it is strict.
    pub(crate) fn weight(&self) -> u32 {
        if let Turn::Weight { weight, .. } = self.turn { weight } else { 0 }
    }
}

impl RunSpec {
    /// The transport of a class's queue pairs.
    pub(crate) fn transport_of(&self, class: u8) -> Option<&TransportSpec> {
        let own = self.classes.get(usize::from(class)).and_then(|class| class.transport.as_ref());
        own.or(self.transport.as_ref())
    }
    /// The classes of the run's data: those that it names, or a single class if it names none. An error where they cannot be so.
    pub(crate) fn data_classes(&self) -> Result<Vec<ClassSpec>, String> {
        let mut classes = self.classes.clone();
        if classes.is_empty() {
            classes.push(ClassSpec { name: "data".into(), pause: true, ..ClassSpec::default() });
        }
        let (n, last) = (classes.len(), classes.len() - 1);
        refuse!(n > MOST_CLASSES, "{n} classes; at most {MOST_CLASSES} are possible");
        for ClassSpec { name, turn, scheme, transport, .. } in &classes {
            let weightless = matches!(turn, Turn::Weight { weight: 0, .. });
            refuse!(weightless, "class {name} has a weight of 0: it would send nothing");
            let unknown = matches!(scheme, ClassScheme::Own(n) if *n >= self.schemes.len());
            refuse!(unknown, "class {name} names a scheme that the run does not have");
            let Some(transport) = transport else { continue };
            let none = || format!("class {name} has a transport, and flows of the run have no queue pairs");
            let apart = transport.ack_class != self.transport.ok_or_else(none)?.ack_class;
            refuse!(apart, "acknowledgements of class {name} travel in another class than the run's");
            transport.check(self)?;
        }
        for (h, s) in self.hosts.iter().enumerate().flat_map(|(h, s)| s.sources.iter().map(move |s| (h, s))) {
            if usize::from(s.class) > last {
                return Err(format!("a source of host {h} is of class {}; the last is {last}", s.class));
            }
        }
        Ok(classes)
    }
}

impl SwitchSpec {
    /// Does the switch send XOFF for a class?
    pub(crate) fn pauses(&self, class: &ClassSpec) -> bool {
        class.pause && self.buffer.pause.is_some()
    }
    /// Its memories, each with the classes that share it, in order.
    pub(crate) fn memories(&self, classes: &[ClassSpec]) -> Vec<Vec<usize>> {
        if self.shared.is_none() {
            return (0..classes.len()).map(|class| vec![class]).collect();
        }
        let of = |lossless: bool| -> Vec<usize> {
            (0..classes.len()).filter(|class| self.pauses(&classes[*class]) == lossless).collect()
        };
        [of(true), of(false)].into_iter().filter(|classes| !classes.is_empty()).collect()
    }
}
