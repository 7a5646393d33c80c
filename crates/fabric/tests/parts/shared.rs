//! Thresholds of a shared buffer.

use super::*;
use cnsim_scheme_api::Bytes;

/// Two inputs with 1000 B of reserve and 2000 B of headroom each, and a pool of 8000 B of which each may have half of what is free.
fn two() -> Shared {
    let input = SharedInput { reserve: Bytes::new(1000), headroom: Bytes::new(2000), alpha: 0.5 };
    let (memory, resume) = (Bytes::new(14_000), Bytes::new(500));
    let spec = SharedSpec { memory, inputs: vec![input; 2], resume, ..SharedSpec::default() };
    Shared::new(&spec, 14_000, &[&spec.inputs], true)
}

/// The first 1000 B go to the reserve. In the pool, 2000 B leave 6000 B free, so the threshold is 3000 B; with 3000 B it is 2500 B,
/// which is XOFF. Then frames go to the headroom until that is full.
#[test]
fn reserve_pool_headroom_by_hand() {
    let mut shared = two();
    let asks: Vec<bool> = (0..4).map(|_| shared.store(0, 1000)).collect();
    assert_eq!((asks, shared.used), (vec![false, false, false, true], 3000));
    for used in [1000, 2000] {
        assert!(shared.admits(0, 0, 1000, 0) && shared.store(0, 1000));
        assert_eq!((shared.used, shared.above), (3000, used));
    }
    assert!(!shared.admits(0, 0, 1000, 0), "its headroom is full");
    assert!(shared.admits(0, 1, 1000, 0), "the other input has its reserve");
    // Headroom empties first. 3000 B in the pool are above the threshold of 2500 B; 2000 B and 500 B are below that of 3000 B.
    assert_eq!([0; 3].map(|i| shared.free(i, 1000)), [false, false, true]);
    assert_eq!((shared.used, shared.above, shared.held), (2000, 0, 3000));
    let SharedUse { reserve, pool, headroom, sizes } = shared.most();
    assert_eq!((reserve, pool, headroom, sizes), (1000, 3000, 2000, (2000, 8000, 4000)));
}

/// Bytes that others take of the pool lower a threshold; an input learns of it only when a frame of its own comes or leaves.
#[test]
fn others_lower_the_threshold() {
    let mut shared = two();
    assert!(!(shared.store(0, 1000) | shared.store(0, 1000)));
    (0..3).for_each(|_| _ = shared.store(1, 1000));
    // 1000 and 2000 B are in the pool; with 1000 B more 4000 B are free, 2000 B for each.
    assert!(shared.store(0, 1000));
    assert!(!shared.free(0, 200), "1800 and 500 B are more than 2100");
    assert!(shared.free(0, 300), "1500 and 500 B are less than 2250");
}

/// Without PAUSE a queue takes frames while it is shorter than half of what is free.
#[test]
fn a_lossy_class_has_limits_at_outputs() {
    let spec = SharedSpec {
        memory: Bytes::new(8000),
        inputs: vec![SharedInput { alpha: 0.5, ..SharedInput::default() }; 2],
        ..SharedSpec::default()
    };
    let mut shared = Shared::new(&spec, 8000, &[&spec.inputs], false);
    assert!(shared.admits(0, 1, 1000, 3999) && !shared.admits(0, 1, 1000, 4000));
    (0..6).for_each(|_| _ = shared.store(1, 1000));
    assert!(shared.admits(0, 1, 1000, 999) && !shared.admits(0, 1, 1000, 1000));
    assert!(!shared.admits(0, 1, 2001, 0), "it is full");
}
