//! Parts of networks that the tests of schemes build by hand. Each test changes what it is about.

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Scheme, Time};
use std::sync::Arc;

/// A scheme with some of its parameters set.
pub(crate) fn scheme(name: &str, sets: &[(&str, &str)]) -> Arc<dyn Scheme> {
    let pairs: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
    cnsim_schemes::find(name).unwrap().build(&pairs).unwrap().scheme
}

/// A source of 1500 B frames for the whole run.
pub(crate) fn source(arrivals: Arrivals, destinations: Destinations) -> SourceSpec {
    SourceSpec {
        initial_rate: None,
        connected: false,
        class: 0,
        arrivals,
        destinations,
        floor: Bytes::SMALLEST_FRAME,
        frame: Bytes::new(1500),
        start: Time::ZERO,
        stop: Time::MAX,
        phase: Phase::Random,
        transfers: Vec::new(),
    }
}

/// A host with one FIFO of 100 frames below its limiters, each of which holds as many.
pub(crate) fn host(name: String, sources: Vec<SourceSpec>) -> HostSpec {
    HostSpec {
        name,
        processing: Time::from_us(1),
        sources,
        fifo_frames: 100,
        limiter_frames: 100,
        limiter_position: LimiterPosition::BelowQueue,
        backlog_frames: 0,
        queues: HostQueues::Fifo,
        feedback_delay: Time::ZERO,
        faults: Faults::default(),
        clock_ppm: 0.0,
        scheme: Some(0),
    }
}

/// PAUSE in frames, with these watermarks in KB.
#[allow(dead_code, reason = "a test without PAUSE shares the other parts")]
pub(crate) fn pause(high: u64, low: u64) -> PauseSpec {
    let (high, low) = (Bytes::from_kb(high), Bytes::from_kb(low));
    PauseSpec { high, low, global: false, pool: false, transport: PauseTransport::Frame }
}

/// A switch with this buffer.
pub(crate) fn switch(name: String, ports: u16, buffer: BufferSpec) -> SwitchSpec {
    SwitchSpec { name, ports, processing: Time::from_us(1), buffer, shared: None, scheme: Some(0) }
}

/// A run of seed 1 under one scheme, without a change of rates: nodes, links and duration are still to come.
pub(crate) fn network(scheme: Arc<dyn Scheme>) -> RunSpec {
    RunSpec {
        transport: None,
        graph: None,
        classes: Vec::new(),
        hosts: Vec::new(),
        switches: Vec::new(),
        links: Vec::new(),
        routing: Routing::FlowHash,
        schemes: vec![scheme],
        laws: Laws::default(),
        events: PortEvents::default(),
        duration: Time::ZERO,
        seed: 1,
        record: Record::default(),
    }
}
