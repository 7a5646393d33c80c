//! The order of events.

use super::*;

/// Ranks are in the order of keys, and each says its key.
#[test]
fn ranks_keep_the_order_of_keys() {
    let of_time = |time| Kind::ALL.map(|kind| [0, 1, u64::MAX].map(|number| (time, kind, number)));
    let keys = [0, 1, 1 << 54, (1 << 59) - 1, u64::MAX].map(Ps).map(of_time);
    for &a in keys.as_flattened().as_flattened() {
        assert_eq!(of_rank(rank(a)), a);
        for &b in keys.as_flattened().as_flattened() {
            assert_eq!(rank(a).cmp(&rank(b)), a.cmp(&b), "{a:?} {b:?}");
        }
    }
    assert!(rank((Ps(1 << 60), Kind::Change, 0)) > rank((Ps((1 << 59) - 1), Kind::Tick, u64::MAX)));
}
