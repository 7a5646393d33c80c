//! `[[traffic]]` tables: the sources of some hosts, with a name. They have the keys of `[workload]`, too.

use crate::language::row::declare::*;

rows! {
    HOSTS = key("traffic.hosts", kind::LINES, "[]",
        "hosts of a [[traffic]] table: H0..H9, H0..H9/3 or all; the tables replace [workload] and have its keys");
    CLASS = key("traffic.class", Kind::Or("first", &Kind::Name(40)), "first",
        "class of this traffic, by the name of a [[class]] table");
    NAME = key("traffic.name", Kind::Or("off", &Kind::Name(40)), "off",
        "name of this traffic; results show completion, slowdown, throughput and loss of each name; off: the name of its class, where there are several");
}
