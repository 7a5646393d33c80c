//! Sources of frames: those of [`crate::model`], of which a drawn one is ahead.
//!
//! * Claim: a source that its host never holds back draws its slots ahead up to the next frame.
//! * Same bits: the stream is its own, and each slot takes one draw of it.
//! * Bench row: w1.
//! * Marks: HostCalm.

use crate::fast::frame::NEVER;
use crate::model::{self, Bursts, FlowQueue, Offer};
use crate::net::Net;
use crate::spec::SourceSpec;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::network::Stream;

#[derive(Debug)]
pub(crate) struct Source {
    /// Next slot or begin of a finite flow, ps; of a drawn source, the next slot in which a frame comes.
    pub(crate) next: u64,
    /// A drawn one's stream, as far as it has drawn.
    stream: Stream,
    slot: u64,
    stop: u64,
    /// Their destination is that of the frame that comes next.
    bursts: Bursts,
    /// By chance, and so ahead; else greedy, or of finite flows.
    pub(crate) drawn: bool,
    pub(crate) len: u16,
    /// What it is; one that is not drawn goes by that.
    law: model::Source,
}

impl Source {
    /// Source number `index` of `host`, whose link has the rate `line`.
    pub(crate) fn new(spec: &SourceSpec, at: (u32, usize), line: TxRate, net: &Net) -> Self {
        let law = model::Source::new(spec, at, line, net);
        let mut source = Self {
            next: law.next,
            stream: law.stream.clone(),
            slot: law.slot,
            stop: law.stop.min(net.duration),
            bursts: law.drawn().unwrap_or_default(),
            drawn: law.drawn().is_some(),
            len: law.len,
            law,
        };
        if source.drawn {
            source.seek();
        }
        source
    }

    /// Draws slot by slot from `next` on, until one has a frame: what others do has no part in that.
    #[inline(always)]
    fn seek(&mut self) {
        // Most slots are empty where the load is small: all that a draw needs stays in registers meanwhile.
        let (mut stream, mut next) = (self.stream.clone(), self.next);
        let (stop, slot, held) = (self.stop, self.slot, self.bursts);
        let mut bits = 0;
        while next < stop {
            bits = stream.bits();
            if held.have(bits) {
                break;
            }
            next += slot;
        }
        self.stream = stream;
        if next >= stop {
            self.next = NEVER;
            return;
        }
        self.next = next;
        self.bursts.take(|| self.law.choose(bits >> 32));
    }

    /// The slot that `next` names, of a source that is never held back: its frame's destination.
    #[inline]
    pub(crate) fn frame(&mut self) -> u32 {
        let to = self.bursts.dst;
        self.next += self.slot;
        self.seek();
        to
    }

    /// Are its frames those of finite flows?
    pub(crate) fn is_finite(&self) -> bool {
        self.law.is_finite()
    }

    /// The next of the finite flows that begin now or have begun.
    pub(crate) fn begin(&mut self, now: u64) -> Option<FlowQueue> {
        let flow = self.law.begin(now);
        self.next = self.law.next;
        flow
    }

    /// The slot that begins now: what it offers.
    #[inline]
    pub(crate) fn slot(&mut self) -> Option<Offer> {
        if self.drawn {
            return Some(Offer { dst: self.frame(), len: self.len, class: 0 });
        }
        let offer = self.law.slot();
        self.next = self.law.next;
        offer
    }
}
