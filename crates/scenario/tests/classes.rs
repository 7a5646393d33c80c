//! `[[class]]`: classes as scenarios write them, what is refused, and RoCE beside TCP on one port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use cnsim_fabric::{ClassScheme, Options, Outcome, Reliability, RunSpec, SharedSpec, Turn, run};
use cnsim_scenario::Scenario;
use text::{ready, refused_keys as refused};

/// Two hosts send to a third, in classes as given.
fn text(classes: &str, more: &str) -> String {
    format!(
        r#"
        name = "classes"
        [topology]
        hosts = 3
        link_rate = "10 Gb/s"
        [switch]
        buffer = "shared"
        memory = "2 MB"
        [pause]
        frames = "pfc"
        [host]
        queues = "per-flow"
        {classes}
        [run]
        duration = "40 ms"
        {more}
        "#
    )
}

const TWO: &str = r#"
    [transport]
    kind = "go-back-n"
    rto_min = "dc"
    rto_first = "10 ms"
    [[class]]
    name = "roce"
    pcp = 3
    weight = "25 %"
    [[class]]
    name = "tcp"
    pcp = 0
    weight = "75 %"
    lossless = false
    scheme = "newreno"
    transport = "tcp"
    alpha = "1"
    [[traffic]]
    class = "roce"
    hosts = "H0"
    kind = "transfers"
    transfers = ["0 us, H0, H2, 100 MB"]
    frame = "1048 B"
    [[traffic]]
    class = "tcp"
    hosts = "H1"
    kind = "transfers"
    transfers = ["0 us, H1, H2, 100 MB"]
    frame = "1048 B"
"#;

fn specs(text: &str) -> RunSpec {
    let ready = ready(text);
    let spec = ready.settings.spec(&ready.built, 1, false);
    // A configuration of the results is the same run.
    let (again, case) = Scenario::from_config(&cnsim_schemes::registry(), &ready.config).unwrap();
    let ready = again.ready(&case).unwrap();
    assert_eq!(format!("{spec:?}"), format!("{:?}", ready.settings.spec(&ready.built, 1, false)));
    spec
}

fn go(text: &str) -> Outcome {
    run(&specs(text), &Options::default()).unwrap()
}

/// RoCE without a scheme, held back by PFC alone, and TCP share the port by their weights to 2 %: nobody starves. TCP loses frames, RoCE
/// none.
#[test]
fn roce_beside_tcp_by_weight() {
    let spec = specs(&text(TWO, ""));
    assert_eq!(spec.classes[1].scheme, ClassScheme::Own(1));
    assert!(matches!(spec.transport.unwrap().reliability, Reliability::GoBackN { .. }));
    assert!(matches!(spec.classes[1].transport.unwrap().reliability, Reliability::Tcp(_)));
    // What TCP's slow start and its repairs leave in the first 20 ms, RoCE takes.
    let early = go(&text(TWO, "").replace("40 ms", "20 ms"));
    let out = go(&text(TWO, ""));
    let bits = |out: &Outcome, class: usize| out.classes[class].hosts[2].delivered_bits as f64;
    let gbps = [0, 1].map(|class| (bits(&out, class) - bits(&early, class)) / 20e-3 / 1e9);
    assert!((gbps[0] / 2.5 - 1.0).abs() < 0.02 && (gbps[1] / 7.5 - 1.0).abs() < 0.02, "{gbps:?}");
    assert!(out.classes[0].dropped() == 0 && out.classes[0].hosts[0].pause.received > 0);
    assert!(out.classes[1].dropped() > 0 && out.classes[1].hosts[1].pause.received == 0);
    assert!(out.classes[1].hosts[1].transport.resent > 0 && out.classes[0].hosts[0].transport.resent == 0);
}

/// The keys of TCP have an effect, as a class runs it.
#[test]
fn keys_of_a_class_transport_have_an_effect() {
    let Reliability::Tcp(tcp) = specs(&text(TWO, "")).classes[1].transport.unwrap().reliability else {
        unreachable!()
    };
    assert_eq!(tcp.rto_min, cnsim_units::Time::from_ms(10));
    let without = TWO.replace("transport = \"tcp\"", "transport = \"go-back-n\"");
    assert!(refused(&text(&without, "")).contains("transport.rto_min: has no effect"));
}

/// A preset is the same as its tables, and a table may change a key of it.
#[test]
fn presets_are_tables() {
    let traffic = TWO.split_once("[[traffic]]").unwrap().1;
    let sources = |more: &str| format!("[transport]\nkind = \"go-back-n\"\n{more}\n[[traffic]]{traffic}");
    let spec = specs(&text(&sources("[[class]]\npreset = \"two-class\"\nweight = 3"), ""));
    let turns: Vec<Turn> = spec.classes.iter().map(|class| class.turn).collect();
    assert_eq!(turns, [3, 1].map(|weight| Turn::Weight { weight, frames: false }));
    assert!(spec.classes[0].pause && !spec.classes[1].pause);
    let sonic = sources("[[class]]\npreset = \"sonic-like\"")
        .replace("\"roce\"", "\"pcp3\"")
        .replace("\"tcp\"", "\"pcp0\"");
    let spec = specs(&text(&sonic, ""));
    let lossless: Vec<usize> = (0..8).filter(|n| spec.classes[*n].pause).collect();
    assert_eq!((spec.classes.len(), lossless), (8, vec![3, 4]));
    let of = |text: &str| specs(text).switches[0].shared.clone().unwrap();
    let (roomy, tight) = (of(&text(&sonic, "")), of(&text(&sonic, "").replace("2 MB", "100 KB")));
    assert!(roomy.lossy.get() > 0 && roomy.headroom.is_none());
    // The pool of headroom is SONiC's part of the memory, where all headroom is more.
    let all = |shared: &SharedSpec| shared.inputs.iter().map(|input| input.headroom.get()).sum::<u64>();
    assert!(all(&roomy) < 524_827 && all(&tight) > 26_241, "{} B", all(&tight));
    assert_eq!(tight.headroom.map(|pool| pool.get()), Some(100_000 * 4_194_112 / 15_982_720));
    let own = text(&sonic, "").replace("memory = \"2 MB\"", "memory = \"100 KB\"\nheadroom_pool = \"20 KB\"");
    assert_eq!(of(&own).headroom.map(|pool| pool.get()), Some(20_000));
}

/// A flow file of the fork with classes 0 and 3: each table takes the flows of its class.
#[test]
fn flows_of_a_file_go_to_their_classes() {
    let file = std::env::temp_dir().join(format!("cnsim-classes-{}.txt", std::process::id()));
    std::fs::write(&file, "3\n0 2 3 100 5000 0\n1 2 0 100 7000 0\n0 2 3 100 9000 0.000001\n").unwrap();
    let table = |class: &str| {
        format!(
            "[[traffic]]\nclass = \"{class}\"\nhosts = \"all\"\nkind = \"transfers\"\nformat = \"hpcc\"\nfile = \"{}\"\n",
            file.display()
        )
    };
    let head = TWO.split_once("[[traffic]]").unwrap().0;
    let spec = specs(&text(&format!("{head}{}{}", table("roce"), table("tcp")), ""));
    let of = |class: u8| -> Vec<u64> {
        let sources = spec.hosts.iter().flat_map(|h| &h.sources).filter(|s| s.class == class);
        sources.flat_map(|s| &s.transfers).map(|t| t.bytes.get()).collect()
    };
    assert_eq!((of(0), of(1)), (vec![5000, 9000], vec![7000]));
    let other = refused(&text(&format!("{}{}", head.replace("pcp = 0", "pcp = 1"), table("roce")), ""));
    assert!(other.contains("class 0, and no [[class]] table has this pcp"), "{other}");
    let none = refused(&text(&table("first").replace("class = \"first\"\n", ""), ""));
    assert!(none.contains("class 0, where line 2 has class 3") && none.contains("[[class]] table"), "{none}");
    std::fs::remove_file(&file).unwrap();
}

/// Headroom is counted by class: each lossless one has its own at each port, and its XOFF may wait for those of the others.
#[test]
fn headroom_is_of_a_class() {
    let of = |text: &str| ready(text).settings.headrooms();
    let one = of(&text(TWO, ""));
    assert_eq!(one.iter().map(|h| (&*h.class, h.ports)).collect::<Vec<_>>(), [("roce", 3)]);
    assert_eq!(one[0].need, one[0].has);
    let both = TWO.replace("lossless = false", "headroom = \"5 KB\"").replace("alpha = \"1\"", "");
    let two = of(&text(&both, ""));
    let need = one[0].need + cnsim_units::Bytes::new(64);
    let told: Vec<_> = two.iter().map(|h| (&*h.class, h.ports, h.need, h.has)).collect();
    assert_eq!(told, [("roce", 3, need, need), ("tcp", 3, need, cnsim_units::Bytes::new(5000))]);
    let pooled = text(TWO, "").replace("memory = \"2 MB\"", "memory = \"2 MB\"\nheadroom_pool = \"6 KB\"");
    let settings = ready(&pooled);
    let notes = settings.settings.shortages(&settings.built);
    assert!(
        notes[0].contains("the pool of headroom of S can need")
            && notes[0].contains("raise switch.headroom_pool")
    );
    let pools = |text: &str| specs(text).switches[0].shared.clone().unwrap();
    let (with, without) = (pools(&pooled), pools(&text(TWO, "")));
    // Half of what is left is the pool of lossy classes.
    let freed = without.inputs.iter().map(|i| i.headroom.get()).sum::<u64>() - 6000;
    assert_eq!(with.lossy.get() - without.lossy.get(), freed / 2);
}

/// A fault stops the class that it names.
#[test]
fn a_fault_is_of_a_class() {
    let fault = "[[fault]]\nhost = \"H2\"\nfrom = \"1 ms\"\nto = \"2 ms\"\nclass = \"tcp\"\n";
    assert_eq!(specs(&text(&format!("{TWO}{fault}"), "")).events.faults[0].class, 1);
    let unknown = refused(&text(&format!("{TWO}{}", fault.replace("tcp", "udp")), ""));
    assert!(unknown.contains("fault.0.class: there is no class `udp`"), "{unknown}");
}

/// An edge port takes the frames of hosts outside the scheme to another class.
#[test]
fn edge_ports_defend_a_domain() {
    let text = r#"
        name = "domain"
        [topology]
        hosts = 3
        [pause]
        frames = "pfc"
        [[class]]
        name = "managed"
        cn_defence = "outside"
        [[class]]
        name = "outside"
        scheme = "none"
        [[group]]
        hosts = "H1"
        scheme = "none"
        [[traffic]]
        hosts = "H0..H1"
        kind = "greedy"
        destinations = "H2"
        [run]
        duration = "1 ms"
        [matrix]
        schemes = ["qcn-2pt"]
    "#;
    let classes = |text: &str| -> Vec<u8> {
        specs(text).hosts.iter().flat_map(|h| &h.sources).map(|s| s.class).collect()
    };
    assert_eq!(classes(text), [0, 1]);
    assert_eq!(classes(&text.replace("cn_defence = \"outside\"", "")), [0, 0]);
    assert!(
        refused(&text.replace("\"outside\"\n        [[class]]", "\"managed\"\n        [[class]]"))
            .contains("is no other class")
    );
}

/// What cannot be is refused with its key, its reason and what would be right.
#[test]
fn impossible_classes_are_refused() {
    let with = |from: &str, to: &str| {
        assert!(TWO.contains(from), "{from}");
        refused(&text(&TWO.replace(from, to), ""))
    };
    for (from, to, why) in [
        ("\"25 %\"", "0", "class.0.weight: `0` is no share of the link"),
        (
            "\"25 %\"",
            "\"30 %\"",
            "class.0.weight: the per cents of the classes sum to 105; let them sum to 100",
        ),
        ("\"25 %\"", "1", "class.1.weight: per cents stand beside numbers"),
        ("name = \"tcp\"", "name = \"first\"", "class.1.name: `first` is the class of the first table"),
        ("name = \"tcp\"", "name = \"roce\"", "class.1.name: two classes have the name `roce`"),
        ("pcp = 0", "pcp = 3", "class.1.pcp: class roce has priority 3, too"),
        ("pcp = 0", "pcp = 9", "class.1.pcp: 9 is out of range"),
        ("name = \"tcp\"\n", "\n", "class.1: has no name"),
        ("class = \"tcp\"", "class = \"udp\"", "traffic.1.class: there is no class `udp`; known: roce, tcp"),
        (
            "alpha = \"1\"",
            "headroom = \"9 KB\"",
            "class.1.headroom: has no effect with class.1.lossless = off",
        ),
        ("alpha = \"1\"", "alpha = \"x\"", "class.1.alpha: `x` is no share of the free pool"),
        ("scheme = \"newreno\"", "scheme = \"newerno\"", "class.1.scheme: there is no scheme `newerno`"),
        (
            "weight = \"25 %\"",
            "weight = \"25 %\"\npriority = \"strict\"",
            "class.0.priority: a strict class has no weight",
        ),
    ] {
        let said = with(from, to);
        assert!(said.contains(why), "{from} -> {to}: {said}");
    }
    assert!(!with("\"25 %\"", "0").contains("sum to"), "the sum follows from the weight that is refused");
    let all = |change: &dyn Fn(String) -> String| refused(&change(text(TWO, "")));
    assert!(
        all(&|t| t.replace("frames = \"pfc\"", "")).contains("pause.frames: frames of 802.3x stop all data")
    );
    assert!(
        all(&|t| t.replace("frames = \"pfc\"", "mode = \"off\"")).contains("class.1.lossless: has no effect")
    );
    let large = all(&|t| t.replace("memory = \"2 MB\"", "memory = \"2 MB\"\nlossy_memory = \"2 MB\""));
    assert!(
        large.contains("switch.lossy_memory: the pool of classes that are not lossless is 2 MB"),
        "{large}"
    );
    // A ramp with its low end above the high one, and headroom that is more than all have.
    let ramp = all(&|t| {
        let t = t.replace("scheme = \"newreno\"", "scheme = \"dcqcn\"").replace("transport = \"tcp\"", "");
        let t = t.replace("rto_min = \"dc\"", "").replace("rto_first = \"10 ms\"", "");
        format!("{t}\n[scheme.dcqcn]\nk_min = \"400 KB\"\nk_max = \"100 KB\"\n")
    });
    assert!(ramp.contains("scheme.dcqcn.k_min: has no effect: k_max is below it"), "{ramp}");
    let pool = all(&|t| t.replace("memory = \"2 MB\"", "memory = \"2 MB\"\nheadroom_pool = \"1 MB\""));
    assert!(pool.contains("switch.headroom_pool: the pool is 1 MB, and all headroom of S is"), "{pool}");
    let lossless = all(&|t| {
        t.replace("lossless = false", "lossless = true").replace("frames = \"pfc\"", "mode = \"off\"")
    });
    assert!(lossless.contains("class.1.lossless: has no effect with pause.mode = off"), "{lossless}");
    let nine = "[[class]]\nname = \"x\"\n".repeat(9);
    assert!(
        all(&|t| t
            .replace("[[class]]\n    name = \"roce\"", &format!("{nine}[[class]]\n    name = \"roce\"")))
        .contains("802.1Q has 8")
    );
}

/// Each refusal names the file, the line that is wrong and its key.
#[test]
fn a_refusal_names_file_line_and_key() {
    let off = "mode = \"off\"\n        frames = \"pfc\"";
    for (from, to, key, line) in [
        ("weight = \"25 %\"", "weight = 0", "class.0.weight", "weight = 0"),
        ("weight = \"25 %\"", "weight = \"30 %\"", "class.0.weight", "weight = \"30 %\""),
        ("name = \"tcp\"", "name = \"roce\" # 2", "class.1.name", "name = \"roce\" # 2"),
        ("pcp = 0", "pcp = 3 # 2", "class.1.pcp", "pcp = 3 # 2"),
        ("class = \"tcp\"", "class = \"udp\"", "traffic.1.class", "class = \"udp\""),
        ("alpha = \"1\"", "headroom = \"9 KB\"", "class.1.headroom", "headroom = \"9 KB\""),
        ("frames = \"pfc\"", off, "class.1.lossless", "lossless = false"),
        (
            "memory = \"2 MB\"",
            "memory = \"2 MB\"\nlossy_memory = \"3 MB\"",
            "switch.lossy_memory",
            "lossy_memory",
        ),
        (
            "memory = \"2 MB\"",
            "memory = \"2 MB\"\nheadroom_pool = \"3 MB\"",
            "switch.headroom_pool",
            "headroom_pool",
        ),
    ] {
        let text = text(TWO, "").replacen(from, to, 1);
        let problems = Scenario::parse("t.toml", &text, &[]);
        let problems = problems.and_then(|s| s.ready(&s.cases()[0]).map(|_| ())).unwrap_err();
        let problem = problems.iter().find(|p| p.key == key);
        let problem = problem.unwrap_or_else(|| panic!("{from} -> {to}: {problems:#?}"));
        let at = text.lines().position(|l| l.contains(line)).unwrap() + 1;
        assert_eq!((&*problem.file, problem.position.map(|p| p.line)), ("t.toml", Some(at)), "{problem}");
    }
}

/// A key takes the name of its class in place of the number, also where a preset gives the names; an unknown name is told as such.
#[test]
fn classes_are_keyed_by_name() {
    let set = |text: &str, key: &str| {
        let sets = [(key.to_string(), "9".to_string())];
        Scenario::parse("s.toml", text, &sets).map_err(|all| all[0].to_string())
    };
    let weight = |text: &str, key: &str, n: usize| {
        let scenario = set(text, key).unwrap();
        let ready = scenario.ready(&scenario.cases()[0]).unwrap();
        ready.settings.spec(&ready.built, 1, false).classes[n].turn
    };
    let nine = Turn::Weight { weight: 9, frames: false };
    let own = text(&TWO.replace("\"25 %\"", "1").replace("\"75 %\"", "1"), "");
    assert_eq!([weight(&own, "class.roce.weight", 0), weight(&own, "class.tcp.weight", 1)], [nine; 2]);
    let traffic = TWO.split_once("[[traffic]]").unwrap().1;
    let head = "[transport]\nkind = \"go-back-n\"\n[[class]]\npreset = \"two-class\"\n[[traffic]]";
    assert_eq!(weight(&text(&format!("{head}{traffic}"), ""), "class.tcp.weight", 1), nine);
    let told = |key: &str| set(&own, key).map(|_| ()).unwrap_err();
    assert!(told("class.rice.weight").contains("no [[class]] table has the name `rice`"));
    assert!(told("weight").contains("write `class.NAME.weight`, with the name or the number of a [[class]]"));
}
