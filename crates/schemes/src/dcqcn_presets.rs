//! Named settings of DCQCN that fit the rate of the links. The defaults of its parameters are the paper's, for 40 Gb/s. On
//! faster links the defaults cut too deep and recover too slowly.
//!
//! Sources: alibaba-edu/High-Precision-Congestion-Control 9f4be2a, `run.py` (rules by NIC speed) and `rdma-hw.cc` (what they
//! mean); NVIDIA DOCA 3.4, "DCQCN CC parameters"; Y. Zhu et al., SIGCOMM 2015.

use cnsim_scheme_api::{Preset, Rate};

/// All presets, the one that fits every rate first.
pub(crate) const PRESETS: [Preset; 4] = [
    Preset {
        name: "hpcc",
        source: "the simulator of HPCC (alibaba-edu/High-Precision-Congestion-Control 9f4be2a), which sets ramp and steps by the speed of the NIC",
        values: hpcc,
        acknowledged: &MARKS_ON_ACKS,
    },
    Preset {
        name: "hpcc-paper",
        source: "the simulator of HPCC with the clocks of the paper: its `dcqcn_paper`, else as `hpcc`",
        values: hpcc_paper,
        acknowledged: &MARKS_ON_ACKS,
    },
    Preset {
        name: "nvidia",
        source: "defaults of NVIDIA's NICs (DOCA 3.4, \"DCQCN CC parameters\"); the ramp, which is the switch's, is that of `hpcc`",
        values: nvidia,
        acknowledged: &[],
    },
    Preset {
        name: "paper",
        source: "Y. Zhu et al., SIGCOMM 2015, for 40 Gb/s: the defaults",
        values: |_| Vec::new(),
        acknowledged: &[],
    },
];

/// HPCC's simulator sends no CNPs: each acknowledgement returns the mark of its frame (`rdma-hw.cc`).
const MARKS_ON_ACKS: [(&str, &str); 1] = [("echo", "acks")];

type Values = Vec<(&'static str, String)>;

/// The ramp of a port as fast as the hosts' links: 4 to 16 KB for each Gb/s. It grows with a port's rate.
fn ramp(rate: Rate) -> Values {
    let kb = |per_gbps: f64| format!("{:.0} KB", (per_gbps * rate.gbps()).max(per_gbps));
    vec![("k_min", kb(4.0)), ("k_max", kb(16.0)), ("k_rate", rate.to_string()), ("p_max", "0.2".into())]
}

/// The clocks of the NIC, which `hpcc` and `nvidia` share.
fn clocks() -> Values {
    let all = [
        ("alpha_period", "1 us"),
        ("cut_period", "4 us"),
        ("time_reset", "300 us"),
        ("byte_reset", "off"),
        ("threshold", "1"),
        ("clamp_tgt_rate", "off"),
    ];
    all.map(|(key, text)| (key, text.to_string())).to_vec()
}

fn hpcc(rate: Rate) -> Values {
    let step = |share: f64| format!("{:.0} Mb/s", (share * rate.gbps()).max(1.0));
    let own = [
        ("cnp_interval", "0 us".to_string()),
        ("alpha_update", "periodic".into()),
        ("cut_when", "periodic".into()),
        ("stages", "timer".into()),
        ("stage_test", "before".into()),
        ("ai_rate", step(0.2)),
        ("hai_rate", step(2.0)),
        ("hai_step", "fixed".into()),
        ("min_rate", crate::queue_pair::preset_floor(rate)),
    ];
    [ramp(rate), clocks(), own.to_vec()].concat()
}

fn hpcc_paper(rate: Rate) -> Values {
    let paper = |key, text| match key {
        "alpha_period" | "cut_period" => "50 us".into(),
        "time_reset" => "55 us".into(),
        _ => text,
    };
    hpcc(rate).into_iter().map(|(key, text)| (key, paper(key, text))).collect()
}

fn nvidia(rate: Rate) -> Values {
    let own = [
        ("cnp_interval", "4 us"),
        ("g", "0.0048828125"),
        ("initial_alpha", "0.9990234375"),
        ("ai_rate", "5 Mb/s"),
        ("hai_rate", "50 Mb/s"),
        ("min_rate", "1 Mb/s"),
    ];
    let own = own.map(|(key, text)| (key, text.to_string()));
    [ramp(rate), clocks(), own.to_vec()].concat()
}
