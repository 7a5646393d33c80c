//! The scenarios that are part of the program.

macro_rules! embedded {
    ($($id:literal,)*) => {
        /// Embedded scenarios: (id, text).
        pub const EMBEDDED: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../scenarios/", $id, ".toml")))),*];
    };
}

/// Ids of the embedded scenarios of a study, in any case of its letters.
pub fn embedded_of(study: &str) -> impl Iterator<Item = &'static str> {
    let of = move |id: &&str| id.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(study));
    EMBEDDED.iter().map(|(id, _)| *id).filter(of)
}

// The files of `scenarios/`, in the order in which they are listed.
embedded! {
    "B07/baseline", "B07/single-hop", "B07/multi-hop", "B07/fat-tree", "B07/fat-tree-next", "B07/signalling",
    "B07/uniform",
    "M08/multi-hop-800ms", "M08/multi-hop-periodic", "M08/symmetric-4-to-1", "M08/symmetric-16-to-1",
    "R07/single-hop-10", "R07/single-hop-20", "R07/chain-20",
    "Z07/single-hop-16",
    "C07/symmetric-on-off", "C07/asymmetric", "C07/parking-lot",
    "next/input-generated-single-hop", "next/input-generated-multi-hop", "next/mixed-rates",
    "next/fat-tree-1024",
    "modern/incast-schemes", "modern/schemes-320", "modern/fork-two-flows", "modern/fork-incast",
    "modern/fork-320-hosts", "modern/collectives", "modern/storm", "modern/two-classes",
    "modern/isolation",
    "modern/conext-star", "modern/conext-dumbbell",
    "next/cn-domain", "next/incast", "next/tcp-single-hop", "next/tcp-symmetric", "next/tcp-periodic",
    "T11/commercial", "T11/hpc", "T11/fairness", "T11/queue",
}
