//! Files of other simulators, from their text to a run: what each becomes, what of a scheme they set, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_fabric::{Options, Outcome};
use cnsim_import::{Files, Imported, scenario};
use cnsim_measure::Run;
use cnsim_measure::flow_times::Flows;
use cnsim_scenario::{Ready, Scenario};
use cnsim_scheme_api::NodeId;
use cnsim_units::Rate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of its own for a test's files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // Tests run side by side, and two of one name must not remove each other's files.
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("cnsim-imports-{name}-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    fn write(&self, name: &str, text: &str) -> Option<PathBuf> {
        std::fs::write(self.0.join(name), text).unwrap();
        Some(self.0.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Three hosts at one switch, 100 Gb/s.
const STAR: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
const FLOWS: &str = "2\n0 2 3 100 300000 1.0\n1 2 3 100 300000 1.0\n";

/// A configuration of the fork with this mode and these windows, as its `run.py` writes it.
fn config(mode: u32, has: u32, varies: u32) -> String {
    let (low, high) = if mode == 8 { (300, 300) } else { (400, 1600) };
    format!(
        "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE net.txt\nFLOW_FILE flows.txt\nSIMULATOR_STOP_TIME 1.01\nCC_MODE {mode}\n\
         ALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.0625\nFAST_RECOVERY_TIMES 1\n\
         RATE_AI 50Mb/s\nRATE_HAI 250Mb/s\nMIN_RATE 100Mb/s\nDCTCP_RATE_AI 1000Mb/s\nHAS_WIN {has}\nGLOBAL_T 1\nVAR_WIN {varies}\n\
         FAST_REACT 1\nU_TARGET 0.95\nMI_THRESH 0\nINT_MULTI 1\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\nL2_ACK_INTERVAL 1\nBUFFER_SIZE 16\n\
         KMIN_MAP 1 100000000000 {low}\nKMAX_MAP 1 100000000000 {high}\nPMAX_MAP 1 100000000000 0.2\n"
    )
}

fn read(folder: &Folder, config: Option<&str>, topology: &str, flows: &str) -> Result<Imported, String> {
    let (topology, flows) = (folder.write("net.txt", topology), folder.write("flows.txt", flows));
    let hpcc = config.and_then(|text| folder.write("config.txt", text));
    let (topology, flows) = if hpcc.is_some() { (None, None) } else { (topology, flows) };
    scenario(&Files { hpcc, topology, flows }).map_err(told)
}

fn told(all: Vec<cnsim_problem::Problem>) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn ready(read: &Imported) -> Ready {
    let scenario = Scenario::of_import(&cnsim_schemes::registry(), read, &[], &[]).map_err(told).unwrap();
    let case = scenario.cases()[0].clone();
    scenario.ready(&case).unwrap()
}

fn go(ready: &Ready) -> Outcome {
    let spec = ready.settings.spec(&ready.built, 1, false);
    cnsim_fabric::run(&spec, &Options::default()).unwrap()
}

/// The keys that a scenario's text sets.
fn keys(text: &str) -> BTreeSet<String> {
    let mut table = "";
    let mut keys = BTreeSet::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once(" = ") {
            keys.insert(format!("{table}.{key}"));
        }
    }
    keys
}

/// Parameters of a scheme that are not among these.
fn left(scheme: &str, set: &BTreeSet<String>) -> String {
    let params = &cnsim_schemes::find(scheme).unwrap().params;
    params.iter().map(|p| p.key.as_str()).filter(|k| !set.contains(*k)).collect::<Vec<_>>().join(" ")
}

/// What each preset and import leaves at the default, on purpose: a parameter that is new has to be set, or listed here. Beside what the
/// sources do not speak of stand those that another setting makes idle, and those whose default is the source's value. Presets leave
/// `stamp`: the length of frames is the scenario's.
const LEFT: &[(&str, &str)] = &[
    (
        "dcqcn hpcc",
        "k_table mark_at cnp_spacing cut_order g initial_alpha gd min_dec_fac rate_on_first_cnp \
         clamp_tgt_rate_after_time_inc release",
    ),
    (
        "dcqcn hpcc-paper",
        "k_table mark_at cnp_spacing cut_order g initial_alpha gd min_dec_fac rate_on_first_cnp \
         clamp_tgt_rate_after_time_inc release",
    ),
    (
        "dcqcn nvidia",
        "k_table mark_at echo cnp_spacing alpha_update cut_order gd min_dec_fac cut_when rate_on_first_cnp \
         clamp_tgt_rate_after_time_inc stages stage_test hai_step release",
    ),
    (
        "dcqcn paper",
        "k_min k_max k_rate k_table p_max mark_at echo cnp_interval cnp_spacing alpha_period alpha_update \
         cut_order g initial_alpha gd min_dec_fac cut_period cut_when rate_on_first_cnp clamp_tgt_rate \
         clamp_tgt_rate_after_time_inc time_reset byte_reset threshold stages stage_test ai_rate hai_rate \
         hai_step min_rate release",
    ),
    ("dctcp hpcc", "k_least k_table ramp p_max g initial_alpha initial_window min_window ai_rate base_rtt"),
    ("hpcc hpcc", "eta base_rtt fast_react"),
    (
        "timely hpcc",
        "segment pacing first alpha beta t_low t_high min_rtt hai_after hai_factor max_share stamp",
    ),
    ("timely conext", "sample segment begin alpha beta delta t_low t_high min_rtt hai_factor stamp"),
    (
        "timely-patched hpcc",
        "segment pacing first alpha beta t_low t_high min_rtt hai_after hai_factor max_share stamp",
    ),
    ("timely-patched conext", "sample segment begin alpha beta delta t_low t_high min_rtt hai_factor stamp"),
    (
        "dcqcn import",
        "k_table mark_at cnp_interval cnp_spacing cut_order initial_alpha gd min_dec_fac rate_on_first_cnp \
         clamp_tgt_rate_after_time_inc release",
    ),
    ("hpcc import", ""),
    ("timely import", "segment pacing first max_share"),
    ("dctcp import", "k_least k_table ramp p_max initial_alpha initial_window min_window"),
];

#[test]
fn what_presets_and_imports_leave_at_the_default() {
    let folder = Folder::new("left");
    let mut found: Vec<(String, String)> = Vec::new();
    for scheme in cnsim_schemes::registry().iter() {
        for preset in &scheme.presets {
            let set =
                preset.settings(Rate::from_gbps(100.0), true).into_iter().map(|v| v.0.to_string()).collect();
            found.push((format!("{} {}", scheme.name, preset.name), left(&scheme.name, &set)));
        }
    }
    for (mode, scheme, window) in [(1, "dcqcn", 0), (3, "hpcc", 1), (7, "timely", 0), (8, "dctcp", 1)] {
        let read = read(&folder, Some(&config(mode, window, window)), STAR, FLOWS).unwrap();
        assert_eq!(read.faults(), []);
        let set =
            keys(&read.text).iter().filter_map(|k| Some(k.strip_prefix("scheme.params.")?.into())).collect();
        found.push((format!("{scheme} import"), left(scheme, &set)));
    }
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(found, LEFT, "{found:#?}");
}

/// Keys beside those of the scheme that an import sets: with a configuration the fork's switches, clock, queue pairs and ends; without one
/// no more than the files say.
#[test]
fn keys_of_an_import() {
    let folder = Folder::new("keys");
    let of = |config: Option<&str>| {
        let mut keys = keys(&read(&folder, config, STAR, FLOWS).unwrap().text);
        keys.retain(|k| !k.starts_with('.') && !k.starts_with("scheme."));
        keys.into_iter().collect::<Vec<_>>().join(" ")
    };
    let both = |own: [&str; 6]| {
        format!(
            "{}matrix.schemes {}run.duration run.seeds {}topology.file topology.format topology.hash topology.kind {}workload.file \
             workload.format workload.frame_floor {}workload.kind workload.origin",
            own[0], own[1], own[2], own[3], own[4]
        )
    };
    let without = both([
        "host.fifo host.processing host.queues ",
        "pause.mode record.ideal ",
        "switch.buffer switch.processing switch.share ",
        "",
        "",
        "",
    ]);
    assert_eq!(of(None), without);
    let shared = "switch.buffer switch.memory switch.preset switch.processing timing.rounding timing.ties ";
    let transport = "transport.ack_every transport.ack_length transport.kind transport.rto transport.window ";
    let with = both([
        "host.processing host.queues ",
        "pause.frames pause.length pause.mode record.completion record.ideal ",
        shared,
        transport,
        "workload.header ",
        "",
    ]);
    assert_eq!(
        of(Some(&config(1, 0, 0))),
        with.replace("workload.frame_floor", "workload.frame workload.frame_floor")
    );
}

/// A flow alone has a slowdown of 1 without a configuration, and links carry no more than their rate: 12 MB at 2400 Gb/s take 40 us,
/// and the last frame and two links 5 ns and 2 us. With a configuration the clock is ns-3's, and a note says how much too fast that
/// is.
#[test]
fn a_lone_flow_takes_its_time() {
    let folder = Folder::new("alone");
    let net = "3 1 2\n2\n0 2 2400Gbps 1us 0\n1 2 2400Gbps 1us 0\n";
    let flows = "1\n0 1 3 100 12000000 1.0\n";
    let plain = read(&folder, None, net, flows).unwrap();
    let ready = ready(&plain);
    let out = go(&ready);
    let flows_of = Flows::of(&ready.settings, &out);
    let done = &flows_of.done;
    assert_eq!((done[0].time, done[0].exact), (42_005_000, 42_005_000));
    let run = Run::new(&ready.settings, &out, &flows_of, None).measured();
    let metrics: BTreeMap<_, _> = run.into_iter().map(|(id, v, _)| (id.text(), v)).collect();
    assert_eq!(metrics["slowdown"], 1.0);
    assert_eq!(plain.notes, Vec::<String>::new());
    let fork = config(0, 0, 0);
    let note = read(&folder, Some(&fork), net, flows).unwrap().notes.join("\n");
    assert!(note.contains("with frames of 1048 B: 2.4 Tb/s by 16.4 %"), "{note}");
    let note = read(&folder, Some(&fork), STAR, FLOWS).unwrap().notes.join("\n");
    assert!(note.contains("100 Gb/s by 1.0 %"), "{note}");
}

/// The end that an import chooses counts propagation: over a link of 30 ms both flows arrive.
#[test]
fn the_chosen_end_lets_flows_arrive() {
    let folder = Folder::new("end");
    let net = "5 2 4\n3 4\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n3 4 400Gbps 30ms 0\n2 4 100Gbps 1us 0\n";
    for config in [
        None,
        Some(
            config(1, 0, 0)
                .replace("1.01", "40000000000000.00")
                .replace("BUFFER_SIZE 16", "BUFFER_SIZE 3000"),
        ),
    ] {
        let net = if config.is_some() { net.replace("400Gbps", "100Gbps") } else { net.into() };
        let read = read(&folder, config.as_deref(), &net, FLOWS).unwrap();
        let ready = ready(&read);
        assert_eq!(Flows::of(&ready.settings, &go(&ready)).done.len(), 2, "{}", read.text);
    }
}

/// Marks that do not grow with the rate, and a window that moves with it, run as the stock files of SimAI have them.
#[test]
fn stock_files_of_simai_run() {
    let folder = Folder::new("simai");
    let net = "6 2 0 2 5 H100\n4 5\n0 4 100Gbps 0.0005ms 0\n1 4 100Gbps 0.0005ms 0\n2 5 100Gbps 0.0005ms 0\n3 5 100Gbps 0.0005ms 0\n\
               4 5 200Gbps 0.0005ms 0\n";
    let text = config(1, 1, 1).replace("GLOBAL_T 1", "GLOBAL_T 0").replace("1.01", "40000000000000.00");
    let maps = text.find("KMIN_MAP").unwrap();
    let text = format!(
        "{}KMAX_MAP 3 100000000000 1600 200000000000 1200 1600000000000 2400\nKMIN_MAP 3 100000000000 400 200000000000 300 1600000000000 600\n\
         PMAX_MAP 3 100000000000 0.2 200000000000 0.8 1600000000000 0.2\nNIC_TOTAL_PAUSE_TIME 0\nBW_MON_FILE bw.txt\n",
        &text[..maps]
    );
    let read = read(&folder, Some(&text), net, "2\n0 2 3 100 90000 0\n1 2 3 100 90000 0\n").unwrap();
    let ready = ready(&read);
    let params = &ready.config.0["scheme"]["params"];
    let table = "100 Gb/s: 400 KB to 1600 KB at 0.2; 200 Gb/s: 300 KB to 1200 KB at 0.8";
    let table = table.replace("1600 KB", "1.6 MB").replace("1200 KB", "1.2 MB");
    assert_eq!(params["k_table"].as_str(), Some(table.as_str()));
    let transport = ready.settings.spec(&ready.built, 1, false).transport.unwrap();
    assert!(transport.window_by_rate && transport.window == cnsim_fabric::Window::Bdp);
    assert_eq!(Flows::of(&ready.settings, &go(&ready)).done.len(), 2);
}

/// Lines beyond a count are noted, and an error that they could mend names them. Two hosts are not linked directly.
#[test]
fn what_the_network_lacks_is_one_error() {
    let folder = Folder::new("network");
    let net = "7 3 5\n4 5 6\n0 4 50Gbps 1us 0\n1 4 50Gbps 1us 0\n2 5 50Gbps 1us 0\n3 5 50Gbps 1us 0\n4 6 100Gbps 1us 0\n5 6 100Gbps 1us 0\n";
    let apart = read(&folder, None, net, "1\n0 2 3 100 600000 1.0\n1 3 3 100 600000 1.0\n").unwrap_err();
    assert!(apart.contains("flows.txt:2") && apart.contains("no path from H0 to H2"), "{apart}");
    assert!(apart.contains("the file announces 5 links: line 8 is not read"), "{apart}");
    let near = read(&folder, None, net, "1\n0 1 3 100 600000 1.0\n1 3 3 100 600000 1.0\n").unwrap();
    let notes = near.notes.join("\n");
    assert!(
        notes.contains("net.txt: the file announces 5 links: line 8") && notes.contains("1 flows: line 3"),
        "{notes}"
    );
    let several = "6 2 0 3 6 H100\n3 4 5\n0 3 900Gbps 25ns 0\n0 1 200Gbps 1us 0\n1 3 900Gbps 25ns 0\n1 4 200Gbps 1us 0\n2 5 200Gbps 1us 0\n4 5 200Gbps 1us 0\n";
    let refused = read(&folder, None, several, "1\n0 1 3 100 900000 1.0\n").unwrap_err();
    assert!(refused.contains("net.txt:4:1: H0 and H1, two hosts, are linked directly"), "{refused}");
    assert_eq!(refused.matches("help:").count(), 1, "{refused}");
}

/// Topologies as SimAI's generator writes them: GPUs have a link to the switch inside their server and one or two to switches between
/// servers. A flow takes the nearest, and hosts do not forward.
#[test]
fn topologies_of_simai_have_several_nics() {
    let folder = Folder::new("nics");
    let gpus = |nic: &str, rails: &[(u32, u32)]| {
        // Four GPUs in two servers with the switches 4 and 5; leaves from 6 on.
        let mut net: String = (0..4).map(|g| format!("{g} {} 2880Gbps 0.000025ms 0\n", 4 + g / 2)).collect();
        net.extend(rails.iter().map(|(g, leaf)| format!("{g} {leaf} {nic} 0.0005ms 0\n")));
        net
    };
    // Rail-optimised with one ToR or two, or all GPUs of a server at the same; a spine, or two planes without a way between them.
    let (one, two) = ("200Gbps", "100Gbps");
    let files = [
        (
            "9 2 2 3 10 H100",
            gpus(one, &[(0, 6), (1, 7), (2, 6), (3, 7)]),
            "6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n",
        ),
        (
            "9 2 2 3 14 A100",
            gpus(two, &[(0, 6), (0, 7), (1, 6), (1, 7), (2, 6), (2, 7), (3, 6), (3, 7)]),
            "6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n",
        ),
        (
            "9 2 2 3 10 H800",
            gpus(one, &[(0, 6), (1, 6), (2, 7), (3, 7)]),
            "6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n",
        ),
        ("8 2 2 2 12 H100", gpus(two, &[(0, 6), (0, 7), (1, 6), (1, 7), (2, 6), (2, 7), (3, 6), (3, 7)]), ""),
    ];
    for (head, mut net, spines) in files.map(|(head, net, spines)| (head, net, spines.to_string())) {
        net += &spines;
        let switches = if head.starts_with('9') { "4 5 6 7 8 " } else { "4 5 6 7 " };
        let net = format!("{head}\n{switches}\n{net}");
        let flows = "4\n0 1 3 100 90000 0\n0 2 3 100 90000 0\n1 2 3 100 90000 0\n3 2 3 100 90000 0\n";
        let read = read(&folder, None, &net, flows).unwrap();
        let ready = ready(&read);
        let done = Flows::of(&ready.settings, &go(&ready)).done;
        assert_eq!(done.len(), 4, "{net}");
        let name = |host: NodeId| ready.settings.wiring.hosts[host.0 as usize].clone();
        let spec = ready.settings.spec(&ready.built, 1, false);
        let sent = |host: &str| {
            let at = spec.hosts.iter().position(|h| h.name == host).unwrap();
            spec.hosts[at].sources.iter().flat_map(|s| &s.transfers).map(|t| name(t.dst)).collect::<Vec<_>>()
        };
        assert_eq!(
            (sent("H0#1"), sent("H3#1")),
            (vec!["H1#1".to_string()], vec!["H2#1".to_string()]),
            "{net}"
        );
        assert_eq!(sent("H1#1").len(), 0);
    }
}

/// What is wrong in any of the files is told at once.
#[test]
fn faults_of_all_files_are_told_together() {
    let folder = Folder::new("all");
    let text = config(1, 0, 0).replace("RATE_AI 50Mb/s", "RATE_AI 50Mb/x");
    let net = STAR.replace("1 3 100Gbps", "1 3 fast");
    let flows = FLOWS.replace("1 2 3", "1 1 3").replace("0 2 3 100 300000", "0 2 3 100 0");
    let all = read(&folder, Some(&text), &net, &flows).unwrap_err();
    for place in ["config.txt:13", "net.txt:4", "flows.txt:2", "flows.txt:3"] {
        assert!(all.contains(place), "{place}: {all}");
    }
}

/// Flows that outlast any run are told by the line of the largest, and not by a key of the scenario.
#[test]
fn flows_that_last_too_long() {
    let folder = Folder::new("long");
    let topology = "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n";
    let said =
        read(&folder, None, topology, "2\n0 1 3 100 5000 2.0\n0 1 3 100 70000000000 2.1\n").unwrap_err();
    assert!(said.contains("70 GB and the other flows may take 1120") && said.contains(":3:"), "{said}");
    assert!(!said.contains("run.duration"), "{said}");
}

/// htsim's files are known by what they hold.
#[test]
fn htsim_is_known_by_content() {
    let folder = Folder::new("htsim");
    let tree = "Nodes 8\nTiers 2\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 50\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 800\n\n\
                Tier 1\nDownlink_speed_Gbps 50\nRadix_Down 2\nDownlink_Latency_ns 800\n";
    let read = read(
        &folder,
        None,
        tree,
        "Nodes 8\nConnections 2\n0->1 start 0 size 70000\n2->7 start 0 size 70000\n",
    )
    .unwrap();
    assert!(read.text.contains("format = \"htsim\""), "{}", read.text);
    assert_eq!(Flows::of(&ready(&read).settings, &go(&ready(&read))).done.len(), 2);
}

/// A schedule in GOAL text beside a topology becomes a graph that ends as its ranks do; its faults have their line of the file.
#[test]
fn a_schedule_becomes_a_graph() {
    let folder = Folder::new("goal");
    let text = "// there and back\nnum_ranks 2\nrank 0 {\na: calc 5000\nb: send 200000b to 1 tag 4\nc: recv 1b from 1\nb requires a\n}\n\
                rank 1 {\nr: recv 200000b from 0 tag 4\ns: send 1b to 0\ns requires r\n}\n";
    let imported = read(&folder, None, STAR, text).unwrap();
    assert!(imported.text.contains("kind = \"graph\"") && imported.notes.is_empty(), "{}", imported.text);
    let registry = cnsim_schemes::registry();
    let scenario = Scenario::of_import(&registry, &imported, &[], &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let spec = ready.settings.spec(&ready.built, 1, false);
    let out = cnsim_fabric::run(&spec, &Options::default()).unwrap();
    let job = &ready.settings.traffic.jobs.list[0];
    assert_eq!((job.ranks.len(), job.size.get()), (2, 200_001));
    let ends: Vec<u64> = job.ends.iter().map(|&n| out.operations[n as usize].ended.as_ps() / 1000).collect();
    // 200 kB take 16 us on a link, after 5 us.
    assert!((21_000..26_000).contains(&ends[0]) && ends[0] < ends[1], "{ends:?}");
    for (from, to, place) in [
        ("send 1b to 0", "send 1b to 7", "flows.txt:11"),
        ("num_ranks 2", "num_ranks 9", "flows.txt:2:"),
        ("recv 1b from 1", "recv 1b from 1 tag 9", "flows.txt:6"),
    ] {
        let said = read(&folder, None, STAR, &text.replace(from, to)).unwrap_err();
        assert!(said.contains(place) && said.contains("help:"), "{to}: {said}");
    }
}

/// A workload of SimAI beside a topology becomes an iteration, whose calls are told with their bytes; the run lasts long enough.
#[test]
fn a_workload_becomes_an_iteration() {
    let folder = Folder::new("simai");
    let text = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 3 ep: 1 pp: 1 vpp: 2 ga: 1 all_gpus: 3 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n\
                2\nembedding_layer\t-1\t556000\tALLREDUCE\t3000000\t1\tNONE\t0\t1\tNONE\t0\t100\n\
                mlp     -1 1000  ALLGATHER   30000      1       NONE 0        1      NONE   0      1 \n";
    let imported = read(&folder, None, STAR, text).unwrap();
    assert!(
        imported.text.contains("kind = \"training\"") && imported.text.contains("3 ranks, 2 layers"),
        "{}",
        imported.text
    );
    let calls = "\n# TP all-reduce: 1 call of each rank, 3000000 B in all, over 3 ranks\n# TP all-gather: 1 call of each rank, 30000 B in all, over 3 ranks\n";
    assert!(imported.text.contains(calls) && imported.notes.is_empty(), "{}", imported.text);
    let ready = ready(&imported);
    let out = go(&ready);
    let job = &ready.settings.traffic.jobs.list[0];
    let ends: Vec<u64> = job.ends.iter().map(|&n| out.operations[n as usize].ended.as_ps() / 1000).collect();
    // Four steps of 1 MB take 80 us each, after 556 us.
    assert!(ends.iter().all(|end| (877_000..920_000).contains(end)), "{ends:?}");
    for (from, to, place) in [
        ("all_gpus: 3", "all_gpus: 6", "flows.txt:1:96: 6 ranks, and the topology has 3 hosts"),
        ("ALLGATHER", "GATHER", "flows.txt:4:18: `GATHER` is no collective"),
        ("ep: 1", "cp: 1", "flows.txt:1:61: `cp:` is no word"),
    ] {
        let said = read(&folder, None, STAR, &text.replace(from, to)).unwrap_err();
        assert!(said.contains(place) && said.contains("help:"), "{to}: {said}");
    }
}

/// htsim's triggers: the second flow begins as the first is acknowledged, and a reply as that has arrived.
#[test]
fn connections_follow_their_triggers() {
    let folder = Folder::new("triggers");
    let text = "Nodes 3\nConnections 3\nTriggers 2\n0->1 start 0 size 1500 send_done_trigger 1\n0->1 trigger 1 size 1500 recv_done_trigger 2\n\
                1->2 trigger 2 size 1500\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n";
    let imported = read(&folder, None, STAR, text).unwrap();
    let ready = ready(&imported);
    let out = go(&ready);
    let flows = Flows::of(&ready.settings, &out);
    let mut all: Vec<(u64, u64)> = flows.done.iter().map(|f| (f.start, f.time)).collect();
    all.sort_unstable();
    // A frame of 1500 B takes 120 ns on a link of 1 us, and an acknowledgement of 64 B 5.12 ns.
    let (there, back) = (2 * 120_000 + 2_000_000, 2 * 5_120 + 2_000_000);
    let reply = there + back + there;
    assert_eq!(all.iter().map(|f| f.0).collect::<Vec<_>>(), [0, there + back, reply]);
    assert_eq!(all[1].1, there);
    assert_eq!(all[2].1, there + 5_120, "behind the acknowledgement");
}
