//! Scenarios that configurations become, and faults of configurations.

use super::*;
use crate::hpcc::topology;

const FABRIC: &str = "4 1 3\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n0 3 400Gbps 1us 0\n";
const TEXT: &str = "CC_MODE 1\nTOPOLOGY_FILE mix/fat.txt\nFLOW_FILE mix/flow.txt\nSIMULATOR_STOP_TIME 2.02\n\
                    PACKET_PAYLOAD_SIZE 1000\nRATE_AI 20Mb/s\nLINK_DOWN 0 0 0\nHAS_WIN 0\nENABLE_QCN 1\n\
                    KMIN_MAP 2 100000000000 400 400000000000 1600\nKMAX_MAP 2 100000000000 900 400000000000 3600\n\
                    PMAX_MAP 2 100000000000 0.2 400000000000 0.2\n";

/// All that is wrong with a text, and what it becomes.
fn read(text: &str) -> (Translated, Vec<ImportError>) {
    let (mut t, mut wrong) = match Config::parse(text) {
        Ok(config) => config.translate((false, false)),
        Err(wrong) => return (Translated::default(), wrong),
    };
    wrong.extend(t.settle(&topology(FABRIC).unwrap()).err().into_iter().flatten());
    (t, wrong)
}

fn value<'a>(t: &'a Translated, key: &str) -> Option<&'a str> {
    t.keys.iter().find(|k| k.0 == key).map(|k| k.1.as_str())
}

#[test]
fn a_configuration_comes_to_keys() {
    let (t, wrong) = read(TEXT);
    assert_eq!(wrong, []);
    assert_eq!((t.topology.as_str(), t.flows.as_str()), ("mix/fat.txt", "mix/flow.txt"));
    assert_eq!((t.stop, t.scheme.as_str()), (Some(Time::from_ms(2020)), "dcqcn"));
    for (key, due) in [
        ("workload.frame", "\"1048 B\""),
        ("workload.header", "\"48 B\""),
        ("scheme.params.ai_rate", "\"0.02 Gb/s\""),
        ("scheme.params.k_min", "\"400 KB\""),
        ("scheme.params.k_max", "\"900 KB\""),
        ("scheme.params.k_rate", "\"100 Gb/s\""),
        ("scheme.params.p_max", "0.2"),
        ("scheme.params.cut_when", "\"periodic\""),
        // The fork's own values of what the file lacks.
        ("scheme.params.alpha_period", "\"55 us\""),
        ("scheme.params.min_rate", "\"0.1 Gb/s\""),
    ] {
        assert_eq!(value(&t, key), Some(due), "{key}");
    }
    assert_eq!((t.buffer, value(&t, "scheme.params.k_table")), (Some(Bytes::new(16 << 20)), None));
    let notes = t.notes.join("\n");
    assert!(
        notes.contains("the configuration lacks: BUFFER_SIZE 16, ALPHA_RESUME_INTERVAL 55")
            && notes.contains("without RP_TIMER"),
        "{notes}"
    );
}

/// A full frame of 1000 B of payload has 48 B of headers, and 42 B of telemetry or a time stamp of 8 B beside them.
#[test]
fn frames_of_each_mode() {
    for (mode, bytes) in [(0, 1048), (1, 1048), (3, 1090), (7, 1056), (8, 1048)] {
        let (t, _) = read(&TEXT.replace("CC_MODE 1", &format!("CC_MODE {mode}")));
        assert_eq!(t.frame(), bytes, "CC_MODE {mode}");
    }
}

/// A line behind the others that is at fault is named alone, and all of several are named together.
#[test]
fn faults_are_named_by_line_and_key() {
    let bad = [
        "CC_MODES 1", "VAR_WIN", "VAR_WIN 1 2", "L2_ACK_INTERVAL 1001", "L2_ACK_INTERVAL 0",
        "ERROR_RATE_PER_LINK 0.1", "RATE_HAI x", "RP_TIMER -1", "RATE_BOUND 0", "HAS_WIN 1",
        "FAST_RECOVERY_TIMES 1.5", "EWMA_GAIN fast", "MIN_RATE 40Mb/x", "BUFFER_SIZE 0", "LB_MODE 6",
        "ENABLE_PFC 0", "ENABLE_IRN 1", "KMAX 400",
    ];
    for line in bad {
        let (_, wrong) = read(&format!("{TEXT}{line}\n"));
        let found: Vec<_> = wrong.iter().map(|e| (e.line, e.key.as_str())).collect();
        assert_eq!(found, [(13, line.split(' ').next().unwrap())], "{line}: {wrong:?}");
        assert!(wrong.iter().all(|e| !e.reason.is_empty() && !e.remedy.is_empty()), "{wrong:?}");
    }
    let four = TEXT.replace("LINK_DOWN 0 0 0", "QP_WATCH_STEP 100").replace("20Mb/s", "40Mb/x");
    let (_, wrong) = read(&format!("{four}EWMA_GAIN fast\nBUFFER_SIZE 0\nKMAX 4\nKMIN 4\n"));
    assert_eq!(wrong.iter().map(|e| e.line).collect::<Vec<_>>(), [6, 7, 13, 14, 15], "{wrong:?}");
    assert!(wrong[4].reason.contains("ns3-rdma, as are 1 others"), "{}", wrong[4]);
    for (from, to, line, key) in [
        ("CC_MODE 1", "CC_MODE 10", 1, "CC_MODE"),
        ("CC_MODE 1", "CC_MODE 1.5", 1, "CC_MODE"),
        ("2 100000000000 900", "3 100000000000 900", 11, "KMAX_MAP"),
        ("PMAX_MAP 2 100000000000", "PMAX_MAP 2 400000000000", 12, "PMAX_MAP"),
        ("TOPOLOGY_FILE mix/fat.txt\n", "", 11, "TOPOLOGY_FILE"),
        ("SIMULATOR_STOP_TIME 2.02\n", "", 11, "SIMULATOR_STOP_TIME"),
        ("SIMULATOR_STOP_TIME 2.02\n", "SIMULATOR_STOP_TIME 0\n", 4, "SIMULATOR_STOP_TIME"),
    ] {
        let (_, wrong) = read(&TEXT.replacen(from, to, 1));
        assert_eq!(wrong.first().map(|e| (e.line, e.key.as_str())), Some((line, key)), "{to}: {wrong:?}");
    }
}

/// A suggestion is a key that the file has not.
#[test]
fn a_suggestion_is_of_use() {
    let near = |line: &str| read(&format!("{TEXT}{line}\n")).1[0].remedy.clone();
    assert!(near("EWMA_GAIM 0.1").contains("EWMA_GAIN"), "{}", near("EWMA_GAIM 0.1"));
    assert!(!near("CC_MODEL 3").contains("CC_MODE"), "{}", near("CC_MODEL 3"));
}

/// Keys of the stock files of astra-sim, SimAI, ConWeave and ns3-datacenter are read with their meaning, or have none.
#[test]
fn keys_of_the_forks_kin_are_read() {
    let text = TEXT.replace("2.02", "40000000000000.00").replace("CC_MODE 1", "CC_MODE 12");
    let more = "NIC_TOTAL_PAUSE_TIME 0\nMON_START 0\nBW_MON_FILE b.txt\nLB_MODE 0\nENABLE_PFC 1\nENABLE_IRN 0\n\
                CONWEAVE_TX_EXPIRY_TIME 300\nLOAD 40\n";
    let (t, wrong) = read(&format!("{text}{more}"));
    assert_eq!((wrong, t.stop, t.scheme.as_str()), (vec![], None, "none"));
    let notes = t.notes.join("\n");
    for part in
        ["to the end of the flows", "CC_MODE 12 has no handler", "NIC_TOTAL_PAUSE_TIME and 2 other keys"]
    {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    // No scheme marks, so nothing asks for marks.
    let (_, wrong) = read(&TEXT.replace("CC_MODE 1", "CC_MODE 0").replace("ENABLE_QCN 1", "ENABLE_QCN 0"));
    assert_eq!(wrong, []);
    let (_, wrong) = read(&TEXT.replace("ENABLE_QCN 1", "ENABLE_QCN 0"));
    assert_eq!(wrong[0].key, "ENABLE_QCN");
    // Pairs behind the announced count are noted, and are not read.
    let (t, wrong) = read(&TEXT.replace("900 400000000000 3600", "900 400000000000 3600 7 7"));
    assert_eq!(wrong, []);
    assert!(t.notes.join("\n").contains("KMAX_MAP announces 2 rates: 2 words"), "{:?}", t.notes);
}

/// Rates that the network lacks have no effect. Marks that do not grow as rates do are a table.
#[test]
fn marks_are_those_of_the_networks_rates() {
    let with = |low: &str, high: &str, p: &str| {
        let maps = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"].into_iter().zip([low, high, p]);
        let all = maps.fold(TEXT[..TEXT.find("KMIN").unwrap()].to_string(), |text, (key, map)| {
            format!(
                "{text}{key} 3 40000000000 {} 100000000000 {} 400000000000 {}\n",
                { map.split(' ').next().unwrap() },
                map.split(' ').nth(1).unwrap(),
                map.split(' ').nth(2).unwrap()
            )
        });
        let (t, wrong) = read(&all);
        assert_eq!(wrong, []);
        ["k_min", "k_max", "p_max", "k_rate", "k_table"]
            .map(|key| value(&t, &format!("scheme.params.{key}")).unwrap_or("").replace('"', ""))
    };
    let absent = with("180 400 1600", "700 1600 6400", "0.9 0.2 0.2");
    assert_eq!(absent, ["400 KB", "1600 KB", "0.2", "100 Gb/s", ""]);
    let stock = with("200 400 300", "800 1600 1200", "0.2 0.2 0.8");
    let table = "100 Gb/s: 400 KB to 1600 KB at 0.2; 400 Gb/s: 300 KB to 1200 KB at 0.8";
    assert_eq!(stock, ["400 KB", "1600 KB", "0.2", "", table]);
}

/// The number before a map is whole, at least 1, and no more than its pairs; rates are above 0 and stand once, values are not negative.
#[test]
fn what_is_no_map() {
    let keep = "KMAX_MAP 2 100000000000 900 400000000000 3600";
    let with = |map: &str| read(&TEXT.replace(keep, &format!("KMAX_MAP {map}"))).1;
    for bad in [
        "", "1.5 100000000000 900 400000000000 3600", "0 100000000000 900 400000000000 3600",
        "-1 100000000000 900 400000000000 3600", "3 100000000000 900 400000000000 3600",
        "2 100000000000 900 400000000000", "2 100000000000 900 0 3600",
        "2 100000000000 -1 400000000000 3600", "2 100000000000 900 100000000000 3600",
        "2 100000000000 900 400000000000 x",
    ] {
        let wrong = with(bad);
        assert_eq!(
            wrong.iter().map(|e| (e.line, e.key.as_str())).collect::<Vec<_>>(),
            [(11, "KMAX_MAP")],
            "{bad}"
        );
        let why = if bad.contains("900 100000000000") { "two values" } else { "is not `n rate value" };
        assert!(wrong[0].reason.contains(why) || bad.is_empty(), "{bad}: {}", wrong[0]);
    }
    // One pair is a map, which lacks the other link's rate; a value may be 0.
    let wrong = with("1 100000000000 900");
    assert!(wrong.len() == 1 && wrong[0].reason.contains("no value for links of 400 Gb/s"), "{wrong:?}");
    assert!(wrong[0].reason.contains("line 5 of the topology"), "{}", wrong[0]);
    assert_eq!(with("2 100000000000 900 400000000000 3600"), []);
    assert_eq!(
        read(&TEXT.replace(
            "KMIN_MAP 2 100000000000 400 400000000000 1600",
            "KMIN_MAP 2 100000000000 0 400000000000 0"
        ))
        .1,
        []
    );
}
