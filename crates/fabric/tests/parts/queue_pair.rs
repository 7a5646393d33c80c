//! The size of a live flow.

use super::{QueuePair, SentFrames};
use crate::model::rack::Rack;
use std::mem::size_of;

/// What a flow under way costs its source beside its scheme: a queue pair, for TCP and selective repeat the state of its frames, and for
/// RACK their starts. Three maps with a bit a frame come with the first frame that is reported or lost.
#[test]
fn a_live_flow_keeps_its_size() {
    let sizes = [size_of::<Option<QueuePair>>(), size_of::<SentFrames>(), size_of::<Rack>()];
    assert!(sizes.iter().zip([200, 120, 144]).all(|(size, most)| *size <= most), "{sizes:?} B");
}
