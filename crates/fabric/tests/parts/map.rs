//! The map of frames.

use super::*;
use std::collections::BTreeSet;

/// A map equals a set of the library over many random steps.
#[test]
fn a_map_is_a_set() {
    let (mut map, mut set, mut x) = (FrameMap::default(), BTreeSet::new(), 7_u64);
    for step in 0..20_000_u64 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (below, frame) = (FrameNo(step / 20), FrameNo(step / 20 + (x >> 33) % 300));
        match (x >> 20) % 8 {
            0 => (map.remove(frame), _ = set.remove(&frame)).0,
            1 => (map.forget_below(below), set = set.split_off(&below)).0,
            2 if step % 997 == 0 => (map.clear(), set.clear()).0,
            _ => assert_eq!(map.enter(frame), set.insert(frame)),
        }
        assert_eq!((map.count, map.has(frame)), (set.len() as u64, set.contains(&frame)));
        assert_eq!(map.count_from(frame), set.range(frame..).count() as u64);
        assert_eq!((map.first(), map.nth_last(3)), (set.first().copied(), set.iter().rev().nth(2).copied()));
        let missing = (frame.0..).map(FrameNo).find(|f| !set.contains(f));
        assert_eq!(Some(map.next_missing(frame)), missing);
        let begin = (0..=frame.0).rev().find(|f| *f == 0 || !set.contains(&FrameNo(f - 1)));
        assert_eq!(Some(map.run_begin(frame)), begin.map(FrameNo));
    }
}
