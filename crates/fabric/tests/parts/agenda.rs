//! The order of events.

use super::*;
use crate::fast::order::{of_rank_in, rank_in, step, step_before};

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

/// What the fast engine packs closer is in the order of keys, too: arrivals in a window, and steps of ports.
#[test]
fn shorter_ranks_keep_the_order_of_keys() {
    let base = Ps(1 << 50);
    let arrivals = [0, 1, (1 << 43) - 1].map(Ps).map(|time| {
        [Kind::Pause, Kind::Control, Kind::Data]
            .map(|kind| [0, 1, 65_535].map(|port| (base + time, kind, port)))
    });
    let arrivals = arrivals.as_flattened().as_flattened();
    for &a in arrivals {
        assert_eq!(of_rank_in(base, rank_in(base, a)), a);
        for &b in arrivals {
            assert_eq!(rank_in(base, a).cmp(&rank_in(base, b)), a.cmp(&b), "{a:?} {b:?}");
        }
    }
    let steps = [5, 6, 7].map(Ps).map(|time| [Kind::End, Kind::Start].map(|kind| (time, kind, 0)));
    for &a in steps.as_flattened() {
        for &b in steps.as_flattened() {
            assert_eq!(step(a.0, a.1).cmp(&step(b.0, b.1)), a.cmp(&b), "{a:?} {b:?}");
        }
        for kind in [Kind::Change, Kind::Pause, Kind::Control, Kind::Data, Kind::Timer] {
            assert_eq!(
                step(a.0, a.1) <= step_before((Ps(6), kind, 0)),
                a < (Ps(6), kind, 0),
                "{a:?} {kind:?}"
            );
        }
    }
}
