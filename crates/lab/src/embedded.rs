//! The scenarios that are part of the program.

/// Embedded scenarios: (id, text).
pub const EMBEDDED: &[(&str, &str)] = &[
    ("B07/baseline", include_str!("../../../scenarios/B07/baseline.toml")),
    ("B07/single-hop", include_str!("../../../scenarios/B07/single-hop.toml")),
    ("B07/multi-hop", include_str!("../../../scenarios/B07/multi-hop.toml")),
    ("B07/fat-tree", include_str!("../../../scenarios/B07/fat-tree.toml")),
    ("B07/fat-tree-next", include_str!("../../../scenarios/B07/fat-tree-next.toml")),
    ("B07/signalling", include_str!("../../../scenarios/B07/signalling.toml")),
    ("B07/uniform", include_str!("../../../scenarios/B07/uniform.toml")),
    ("M08/multi-hop-800ms", include_str!("../../../scenarios/M08/multi-hop-800ms.toml")),
    ("M08/multi-hop-periodic", include_str!("../../../scenarios/M08/multi-hop-periodic.toml")),
    ("M08/symmetric-4-to-1", include_str!("../../../scenarios/M08/symmetric-4-to-1.toml")),
    ("M08/symmetric-16-to-1", include_str!("../../../scenarios/M08/symmetric-16-to-1.toml")),
    ("R07/single-hop-10", include_str!("../../../scenarios/R07/single-hop-10.toml")),
    ("R07/single-hop-20", include_str!("../../../scenarios/R07/single-hop-20.toml")),
    ("R07/chain-20", include_str!("../../../scenarios/R07/chain-20.toml")),
    ("Z07/single-hop-16", include_str!("../../../scenarios/Z07/single-hop-16.toml")),
    ("C07/symmetric-on-off", include_str!("../../../scenarios/C07/symmetric-on-off.toml")),
    ("C07/asymmetric", include_str!("../../../scenarios/C07/asymmetric.toml")),
    ("C07/parking-lot", include_str!("../../../scenarios/C07/parking-lot.toml")),
    (
        "next/input-generated-single-hop",
        include_str!("../../../scenarios/next/input-generated-single-hop.toml"),
    ),
    (
        "next/input-generated-multi-hop",
        include_str!("../../../scenarios/next/input-generated-multi-hop.toml"),
    ),
    ("next/mixed-rates", include_str!("../../../scenarios/next/mixed-rates.toml")),
    ("next/fat-tree-1024", include_str!("../../../scenarios/next/fat-tree-1024.toml")),
    ("modern/incast-schemes", include_str!("../../../scenarios/modern/incast-schemes.toml")),
    ("modern/fork-two-flows", include_str!("../../../scenarios/modern/fork-two-flows.toml")),
    ("modern/fork-incast", include_str!("../../../scenarios/modern/fork-incast.toml")),
    ("modern/fork-320-hosts", include_str!("../../../scenarios/modern/fork-320-hosts.toml")),
    ("modern/conext-star", include_str!("../../../scenarios/modern/conext-star.toml")),
    ("modern/conext-dumbbell", include_str!("../../../scenarios/modern/conext-dumbbell.toml")),
];
