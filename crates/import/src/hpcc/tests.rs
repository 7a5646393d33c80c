//! Topologies and flows of the fork and its kin.

use super::*;
use cnsim_units::{Rate, Time};

const STAR: &str = "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1000ns 0\n0 3 25Gbps 1us 0\n0 9 1Gbps 1us 0\n\nsrc dst rate delay\n";

#[test]
fn a_topology_is_read_up_to_its_count() {
    let fabric = topology(STAR).unwrap();
    assert_eq!(fabric.hosts, ["H1", "H2", "H3"]);
    assert_eq!(fabric.switches, ["S0"]);
    assert_eq!(fabric.links.len(), 3);
    assert_eq!(fabric.links[2].rate, Rate::from_gbps(25.0));
    assert!(fabric.links.iter().all(|l| l.delay == Time::from_us(1) && l.a == "S0"));
    let unread = fabric.unread.unwrap();
    assert_eq!(unread.to_string(), "the file announces 3 links: line 6 is not read");
}

/// The headers of the fork's kin: NVSwitches and servers, ToRs, two rates; and rates without a unit.
#[test]
fn headers_of_the_forks_kin() {
    let links = "2 3\n0 2 2400Gbps 0.000025ms 0\n1 2 2400Gbps 25ns\n2 3 1000000000.0 1us 0\n";
    for head in ["4 2 3", "4 2 1 1 3 H100", "4 2 1 3", "4 2 1 3 25000000000 50000000000"] {
        let fabric = topology(&format!("{head}\n{links}")).unwrap();
        assert_eq!(
            (fabric.hosts.len(), &fabric.switches[..]),
            (2, &["S2".to_string(), "S3".into()][..]),
            "{head}"
        );
        assert_eq!(fabric.links[0].delay, fabric.links[1].delay);
        assert_eq!((fabric.links[2].rate, fabric.unread), (Rate::from_gbps(1.0), None), "{head}");
    }
    for head in ["4", "4 2", "4 2 1 3 7", "4 2 3 3", "4 2 1 1 3 H100 8 9", "x y z", "4 x 3", "4 5 3"] {
        let all = topology(&format!("{head}\n{links}")).unwrap_err();
        assert_eq!((all.len(), all[0].line), (1, 1), "{head}: {all:?}");
    }
}

#[test]
fn what_is_no_topology_is_refused_by_line() {
    let line = |text: &str| topology(text).unwrap_err()[0].line;
    assert_eq!(line(""), 1);
    assert_eq!(line("99999999 1 1\n"), 1);
    assert_eq!(line("4 1 9999999999999\n"), 1);
    assert_eq!(line("4 1 3\n7\n"), 2);
    assert_eq!(line("4 2 3\n1 1\n"), 2);
    assert_eq!(line("4 2 3\n1\n"), 1);
    assert_eq!(line("4 1 2\n0\n0 1 1Gbps 1us 0\n"), 1);
    let links = [
        "0 0 1Gbps 1us 0", "0 4 1Gbps 1us 0", "0 1 1Gbps", "0 1 quick 1us 0", "0 1 1Gbps 1us 0.01",
        "0 1 1Gbps 1us 0 1", "0 1 0Gbps 1us 0", "0 1 1Gbps soon 0", "a 1 1Gbps 1us 0", "0 1 100 1us 0",
        "0 1 20000Gbps 1us 0",
    ];
    for link in links {
        assert_eq!(line(&format!("4 1 1\n0\n{link}\n")), 3, "{link}");
    }
    // All at once.
    let all = topology(&format!("4 1 {}\n0\n{}\n", links.len(), links.join("\n"))).unwrap_err();
    assert_eq!(all.iter().map(|e| e.line).collect::<Vec<_>>(), (3..14).collect::<Vec<_>>());
    assert!(
        all[9].reason.contains("100 b/s") && all[9].remedy.contains("a number alone is in bit/s"),
        "{}",
        all[9]
    );
}

#[test]
fn flows_are_read_up_to_their_count() {
    let fabric = topology(STAR).unwrap();
    let text = "2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000034\n3 1 3 100 7 1\n\nsrc0 dst0 3 dst_port0 size0 start_time0\n";
    let list = flows(text, Some(&fabric)).unwrap();
    let read = list.flows;
    assert_eq!(read.len(), 2);
    assert_eq!((read[1].src.as_str(), read[1].bytes, read[1].class), ("H3", Bytes::new(5), 3));
    assert_eq!((read[1].start, read[1].port), (Time::from_ns(2_000_000_034), Some(100)));
    assert_eq!(list.unread.unwrap().to_string(), "the file announces 2 flows: line 4 is not read");
    let line = |text: &str| flows(text, Some(&fabric)).unwrap_err()[0].line;
    assert_eq!(line(""), 1);
    assert_eq!(line("x\n"), 1);
    assert_eq!(line("2\n2 1 3 100 5 2\n"), 1);
    assert_eq!(line("0\n"), 1);
    let bad = [
        "2 2 3 100 5 2", "2 0 3 100 5 2", "2 8 3 100 5 2", "2 1 9 100 5 2", "2 1 3 100 0 2", "2 1 3 100 5 x",
        "2 1 3 100 5", "2 1 3 100 5 2 7", "2 1 3 70000 5 2",
    ];
    for bad in bad {
        assert_eq!(line(&format!("1\n{bad}\n")), 2, "{bad}");
    }
    let all = flows(&format!("{}\n{}\n", bad.len(), bad.join("\n")), Some(&fabric)).unwrap_err();
    assert_eq!(all.iter().map(|e| e.line).collect::<Vec<_>>(), (2..11).collect::<Vec<_>>());
    assert_eq!(line("2\n2 1 3 100 5 2\n2 1 3 100 5 1.5\n"), 3);
}

/// ConWeave's flows have no port. Those of ns3-rdma count packets, and are refused in one line.
#[test]
fn flows_of_the_forks_kin() {
    let fabric = topology(STAR).unwrap();
    let list = flows("2\n2 1 3 150000 1.000000250\n3 1 3 90000 1.000004000\n2", Some(&fabric)).unwrap();
    let read: Vec<_> = list.flows.iter().map(|f| (f.bytes.get(), f.port, f.start)).collect();
    // The double is a little less.
    let start = Time::from_ns(1_000_003_999);
    assert_eq!((read[0].0, read[1]), (150_000, (90_000, None, start)));
    for rdma in [
        "2 1 3 30000 1 4\n3 1 3 30000 1 4", "2 1 3 10000000 2.0 9.5\n3 1 3 100 2 9",
        "2 1 3 7 1 4\n3 1 3 8 2 4",
    ] {
        let all = flows(&format!("2\n{rdma}\n"), Some(&fabric)).unwrap_err();
        assert_eq!((all.len(), all[0].line), (1, 2), "{rdma}: {all:?}");
        assert!(all[0].reason.contains("ns3-rdma"), "{rdma}: {}", all[0]);
    }
    // Flows of 1 B at 2 s are the fork's where the port is its own, or where another flow has more bytes than seconds.
    for fork in ["2 1 3 100 1 2\n3 1 3 100 1 2", "2 1 3 7 1 2\n3 1 3 8 3 2"] {
        assert!(flows(&format!("2\n{fork}\n"), Some(&fabric)).is_ok(), "{fork}");
    }
}
