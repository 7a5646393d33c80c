//! Named settings of DCQCN that fit a link's rate, as `cnsim new` writes them. The parameters' defaults are those of the paper
//! at 40 Gb/s; on faster links they cut too deep and recover too slowly.

use cnsim_units::Rate;

/// Names, with where their values come from.
pub(crate) const PRESETS: [(&str, &str); 3] = [
    (
        "hpcc",
        "the open simulator of HPCC (alibaba-edu/High-Precision-Congestion-Control), its run.py by NIC speed",
    ),
    (
        "nvidia",
        "NVIDIA's defaults, list \"DCQCN CC parameters\" of DOCA; the ramp, which is the switch's, is HPCC's",
    ),
    ("paper", "Zhu et al., SIGCOMM 2015, 40 Gb/s: the defaults"),
];

/// Keys and values of a preset at a rate; none of that name.
pub(crate) fn dcqcn(name: &str, rate: Rate) -> Option<Vec<(&'static str, String)>> {
    let b = rate.gbps();
    let text = |t: &str| t.to_string();
    // The ramp grows with the rate: K_min 4 KB and K_max 16 KB for each Gb/s.
    let ramp = || {
        vec![
            ("k_min", format!("{:.0} KB", (4.0 * b).max(4.0))),
            ("k_max", format!("{:.0} KB", (16.0 * b).max(16.0))),
            ("p_max", text("0.2")),
        ]
    };
    let shared = || {
        vec![
            ("alpha_period", text("1 us")),
            ("cut_period", text("4 us")),
            ("time_reset", text("300 us")),
            ("byte_reset", text("off")),
            ("threshold", text("1")),
            ("clamp_tgt_rate", text("off")),
        ]
    };
    let own = match name {
        "paper" => return Some(Vec::new()),
        "hpcc" => vec![
            ("cnp_interval", text("0 us")),
            ("alpha_update", text("periodic")),
            ("stage_test", text("before")),
            ("ai_rate", format!("{:.0} Mb/s", (b / 5.0).max(1.0))),
            ("min_rate", format!("{:.0} Mb/s", (10.0 * b).clamp(1.0, 1000.0))),
        ],
        "nvidia" => vec![
            ("cnp_interval", text("4 us")),
            ("g", text("0.0048828125")),
            ("initial_alpha", text("0.9990234375")),
            ("ai_rate", text("5 Mb/s")),
            ("min_rate", text("1 Mb/s")),
        ],
        _ => return None,
    };
    Some([ramp(), shared(), own].concat())
}
