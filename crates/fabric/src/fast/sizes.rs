//! Sizes that memory and caches depend on (docs/performance.md has them in a table): a test, so that growth is noticed.

use crate::fast::frame::{Entry, Frame};
use crate::fast::host::Host;
use crate::fast::inbox::Inbox;
use crate::fast::switch::{Port, Switch};
use std::mem::{offset_of, size_of};

#[test]
fn hot_objects_keep_their_sizes() {
    assert_eq!(size_of::<Frame>(), 24, "a frame");
    assert_eq!(size_of::<Entry>(), 32, "a frame that waits");
    assert_eq!(size_of::<Inbox>(), 192, "the receiving side of a port");
    assert!(size_of::<Port>() <= 448, "a switch's port: {}", size_of::<Port>());
    // Fields of the sending side that a frame touches lie near those of the line.
    let line = offset_of!(Host, sides.sender);
    assert!(line <= 4 * 64, "a host's line and sources: {line}");
    assert!(size_of::<Host>() <= 1280, "a host: {}", size_of::<Host>());
    assert!(size_of::<Switch>() <= 896, "a switch: {}", size_of::<Switch>());
}
