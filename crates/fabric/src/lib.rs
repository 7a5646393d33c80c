//! The network: frames, links, ports, PAUSE, switches, hosts, engines.
