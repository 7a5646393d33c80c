//! Twenty experiments with a mistake in each are reported as such by `check` or beside their results, and twenty sound ones are not.

use crate::common::{Folder, cnsim};
use std::process::Command;

/// A leaf-spine of 16 hosts at 100 Gb/s; the rest is the scenario's own.
fn fabric(rest: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 8\nlink_rate = \"100 Gb/s\"\nrouting = \"frame-hash\"\n{rest}"
    )
}

const TO_H0: &str = "[[traffic]]\nhosts = [\"H8\", \"H9\", \"H10\", \"H11\"]\nkind = \"incast\"\ndestinations = [\"H0\"]\nsize = \"500 KB\"\n";

/// What `check` and `run` report of a scenario, or `sweep` over this key.
fn said(text: &str, over: &str) -> String {
    let sum = text.bytes().fold(over.len(), |sum, b| sum.wrapping_mul(31).wrapping_add(usize::from(b)));
    let folder = Folder::new(&format!("advice-{sum:x}"));
    folder.write("t.toml", text);
    let go = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
            .args(args)
            .current_dir(&folder.0)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = crate::common::text(&out);
        assert!(
            out.status.success() || out.status.code() == Some(4),
            "{args:?}\n{text}\n{}",
            folder.read("t.toml")
        );
        text
    };
    let checked = go(&["check", "t.toml"]);
    let ran = match over {
        "" => go(&["run", "t.toml", "--quiet"]),
        over => go(&["sweep", "t.toml", "--over", over, "--quiet"]),
    };
    // The report has the same.
    let report = folder.read(if over.is_empty() { "out/report.html" } else { "out/sweep.html" });
    assert!(!ran.contains("BEFORE YOU CONCLUDE") || report.contains("Before you conclude."), "{ran}");
    checked + &ran
}

/// Twenty scenarios with a mistake in each, the key of a sweep, and words of what must be reported.
fn mistakes() -> Vec<(String, &'static str, &'static str)> {
    let case = |rest: &str, over: &'static str, word: &'static str| (fabric(rest), over, word);
    let run = |ms: &str| format!("[run]\nduration = \"{ms}\"\nseeds = 3\n");
    let poisson = |load: &str| {
        format!(
            "[[traffic]]\nhosts = \"H0..H7\"\nkind = \"poisson\"\nload = \"{load}\"\nsizes = \"file\"\nsize_table = [\"20000 100\"]\ndestinations = \"H8..H15\"\nstop = \"0.9 ms\"\n"
        )
    };
    let with = |traffic: &str, ms: &str, rest: &str| format!("{traffic}{}{rest}", run(ms));
    let dcqcn = "[matrix]\npause = [\"on\"]\nschemes = [\"none\", \"dcqcn\"]\n";
    let room = "[switch]\nshare = \"300 KB\"\n";
    vec![
        case(
            &with(&poisson("60 %").replace("stop = \"0.9 ms\"\n", ""), "1 ms", ""),
            "",
            "times what it carries",
        ),
        case(
            &with("[[traffic]]\nhosts = \"H8..H11\"\nload = \"50 %\"\ndestinations = [\"H0\"]\n", "1 ms", ""),
            "",
            "L1>H0 is offered 2 times",
        ),
        case(&with(&TO_H0.replace("500 KB", "5 MB"), "1 ms", ""), "", "times what it can"),
        case(
            &with(
                "[[traffic]]\nhosts = \"H0..H15\"\nkind = \"incast\"\ndestinations = [\"H0\"]\nsize = \"100 KB\"\nperiod = \"50 us\"\n",
                "1 ms",
                "",
            ),
            "",
            "times what it can",
        ),
        case(
            &with(TO_H0, "1 ms", &format!("{room}[scheme.dcqcn]\npreset = \"hpcc\"\n{dcqcn}")),
            "",
            "only where",
        ),
        case(
            &with(
                TO_H0,
                "0.25 ms",
                &format!(
                    "{room}[scheme.dcqcn]\npreset = \"hpcc\"\nk_min = \"60 KB\"\nk_max = \"600 KB\"\np_max = 0.001\n{dcqcn}"
                ),
            ),
            "",
            "messages for 4 flows a run, fewer than one each",
        ),
        case(
            &with(
                TO_H0,
                "1 ms",
                &format!(
                    "{room}[scheme.ecm]\nq_eq = \"280 KB\"\n[matrix]\npause = [\"on\"]\nschemes = [\"ecm\"]\n"
                ),
            ),
            "",
            "only where",
        ),
        case(&with(TO_H0, "0.1 ms", ""), "", "lengthen run.duration"),
        // Flows arrive to the end of the run.
        case(
            &with(
                &poisson("30 %").replace("20000", "900000").replace("stop = \"0.9 ms\"\n", ""),
                "0.2 ms",
                "",
            ),
            "",
            "or let the last flows start earlier",
        ),
        // Who loses most has the shortest queue.
        case(
            &with(
                &TO_H0.replace("500 KB\"", "100 KB\"\nperiod = \"100 us\"\nstop = \"0.85 ms\""),
                "1 ms",
                "[switch]\nshare = \"90 KB\"\n[scheme.dcqcn]\npreset = \"hpcc\"\nk_min = \"5 KB\"\nk_max = \"20 KB\"\n[matrix]\npause = [\"off\"]\nschemes = [\"none\", \"dcqcn\"]\n",
            ),
            "",
            "schemes finished different shares of the flows (none 2.8 %",
        ),
        case(&with(TO_H0, "0.3 ms", room), "host.fifo=10000,20000", "changed nothing"),
        case(
            &with(&TO_H0.replace("500 KB", "50 KB"), "0.03 ms", room),
            "switch.share=300KB,400KB",
            "changed nothing",
        ),
        case(&with(TO_H0, "2 ms", ""), "", "of the run is idle"),
        case(
            &with(&TO_H0.replace("size", "start = \"1.5 ms\"\nsize"), "2 ms", ""),
            "",
            "of the run is idle, as nothing arrives before 1.5 ms",
        ),
        case(&with(&poisson("30 %"), "4 ms", ""), "", "of the run is idle"),
        case(&with(&poisson("30 %"), "1 ms", "").replace("seeds = 3", "seeds = 1"), "", "one seed"),
        case(
            &with(
                &poisson("4 %")
                    .replace("\"20000 100\"", "\"2000 0\", \"2000 95\", \"900000 96\", \"900000 100\"")
                    .replace("H0..H7", "H0..H1")
                    .replace("0.9 ms", "0.3 ms"),
                "0.6 ms",
                "",
            )
            .replace("seeds = 3", "seeds = 2"),
            "",
            "is wider than its mean",
        ),
        case(&with(TO_H0, "0.3 ms", "[record]\nhost = \"H5\"\n"), "", "its port is not hot"),
        case(&with(&poisson("40 %"), "1 ms", "[record]\nhost = \"H3\"\n"), "", "its port is not hot"),
        case(
            &with(&TO_H0.replace("500 KB", "900 KB"), "0.5 ms", "[pause]\nmode = \"off\"\n"),
            "",
            "frames were lost",
        ),
    ]
}

/// Twenty scenarios without a mistake.
fn sound() -> Vec<(String, &'static str)> {
    let run = |ms: &str| format!("[run]\nduration = \"{ms}\"\nseeds = 3\n");
    let poisson = |load: &str, size: &str| {
        format!(
            "[[traffic]]\nhosts = \"H0..H15\"\nkind = \"poisson\"\nload = \"{load}\"\nsizes = \"file\"\nsize_table = [\"{size} 100\"]\nstop = \"0.9 ms\"\n"
        )
    };
    let case = |traffic: &str, ms: &str, rest: &str| (fabric(&format!("{traffic}{}{rest}", run(ms))), "");
    let schemes = |list: &str| {
        format!(
            "[switch]\nshare = \"300 KB\"\n[scheme.dcqcn]\npreset = \"hpcc\"\nk_min = \"60 KB\"\nk_max = \"240 KB\"\ntime_reset = \"20 us\"\n[matrix]\npause = [\"on\"]\nschemes = [{list}]\n"
        )
    };
    let noise = "[[traffic]]\nhosts = \"H0..H15\"\nload = \"20 %\"\n";
    let greedy = "[[traffic]]\nhosts = [\"H8\", \"H9\"]\nkind = \"greedy\"\ndestinations = [\"H0\"]\n";
    let new = |args: &str| {
        let args: Vec<&str> = ["new", "t"].into_iter().chain(args.split_whitespace()).collect();
        (String::from_utf8(cnsim(&args).stdout).unwrap(), "")
    };
    let two = "[[traffic]]\nhosts = [\"H8\"]\nkind = \"transfers\"\ntransfers = [\"0 us, H8, H0, 1 MB\", \"10 us, H8, H1, 1 MB\"]\n";
    vec![
        case(TO_H0, "0.25 ms", ""),
        case(TO_H0, "0.25 ms", "[record]\nhost = \"H0\"\n"),
        case(&TO_H0.replace("500 KB", "1500 KB"), "0.8 ms", &schemes("\"none\", \"dcqcn\"")),
        case(two, "0.25 ms", ""),
        case(noise, "0.5 ms", ""),
        new("--hosts 16 --rate 100Gb/s --incast 8"),
        case(&noise.replace("20 %", "15 %"), "1 ms", &schemes("\"none\", \"dcqcn\"")),
        case(greedy, "1 ms", ""),
        case(greedy, "1 ms", "[record]\nhost = \"H0\"\n"),
        case(greedy, "1 ms", &schemes("\"none\", \"dcqcn\"")),
        case(&poisson("10 %", "10000"), "1 ms", ""),
        new("--topology leaf-spine --hosts 16 --rate 100Gb/s"),
        // What is measured is busy, though it starts late.
        case(&TO_H0.replace("size", "start = \"1.5 ms\"\nsize"), "1.75 ms", "[record]\nfrom = \"1.5 ms\"\n"),
        case(&poisson("15 %", "20000"), "1 ms", &schemes("\"none\"")),
        case("[[traffic]]\nhosts = \"H0..H7\"\nkind = \"permutation\"\nsize = \"200 KB\"\n", "25 us", ""),
        case("[[traffic]]\nhosts = \"H0..H3\"\nkind = \"all-to-all\"\nsize = \"50 KB\"\n", "20 us", ""),
        case(
            "[[traffic]]\nhosts = [\"H8\"]\nkind = \"on-off\"\non = \"100 us\"\noff = \"100 us\"\ndestinations = [\"H0\"]\n",
            "1 ms",
            "",
        ),
        (fabric(&format!("{TO_H0}{}", run("0.25 ms"))), "topology.link_delay=0.5us,1us"),
        (fabric(&format!("{noise}{}", run("0.5 ms"))), "traffic.0.load=10%,20%"),
        (
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial/incast.toml"))
                .unwrap(),
            "",
        ),
    ]
}

/// A single switch of so many hosts, with memory for XOFF, and three seeds of 2 ms.
fn star(hosts: u32, rest: &str) -> String {
    format!("name = \"t\"\n[topology]\nhosts = {hosts}\n{rest}[run]\nduration = \"2 ms\"\nseeds = 3\n")
}

/// Traffic without an end, and marks beside the memory: each experiment with the key of a sweep, and words of what must be
/// reported; of a sound one, none.
#[test]
fn traffic_without_an_end() {
    let to_h0 = |hosts: &str, rest: &str| {
        format!("[[traffic]]\nhosts = \"{hosts}\"\ndestinations = [\"H0\"]\n{rest}\n")
    };
    let greedy = |hosts: &str| to_h0(hosts, "kind = \"greedy\"");
    let turns =
        |hosts: &str, off: &str| to_h0(hosts, &format!("kind = \"on-off\"\non = \"50 us\"\noff = \"{off}\""));
    let matrix =
        |pause: &str, schemes: &str| format!("[matrix]\npause = [\"{pause}\"]\nschemes = [{schemes}]\n");
    let event = |rate: &str| format!("[[event]]\nat = \"0.2 ms\"\nport = \"S>H0\"\nrate = \"{rate}\"\n");
    let q_eq = |level: &str| format!("[scheme.ecm]\nq_eq = \"{level}\"\n");
    let group = |hosts: &str| format!("[[group]]\nhosts = \"{hosts}\"\nscheme = \"none\"\n");
    let both = "\"none\", \"ecm\"";
    let light = to_h0("H1..H2", "load = \"30 %\"");
    let cases: &[(String, &str, &str)] = &[
        (star(8, &turns("H1..H5", "100 us")), "", "S>H0 is offered 1.67 times"),
        (star(8, &turns("H1..H2", "100 us")), "", ""),
        (star(6, &(event("2 Gb/s") + &light)), "", "S>H0 is offered 2.14 times"),
        (star(6, &(event("8 Gb/s") + &light)), "", ""),
        (
            star(4, &(greedy("H1..H3") + &matrix("off", both) + "[scheme.ecm]\nq_eq = \"40 KB\"\n")),
            "",
            "frames were lost, and none is sent again (frames a run: none",
        ),
        (
            star(4, &(greedy("H1..H3") + &matrix("off", both) + &q_eq("500 KB"))),
            "",
            "the scheme made no message and slowed no flow",
        ),
        (star(4, &(greedy("H1..H3") + &matrix("off", both) + &q_eq("500 KB"))), "", "longer than 450 KB"),
        (star(6, &(greedy("H1..H2") + &matrix("on", both) + &q_eq("280 KB"))), "", "here at most 2 do"),
        (star(6, &(greedy("H1..H4") + &matrix("on", both) + &q_eq("280 KB"))), "", ""),
        (
            star(6, &light),
            "topology.routing=flow-hash,round-robin,destination",
            "topology.routing changed nothing",
        ),
        (
            star(6, "[record]\nhost = \"H5\"\n[workload]\nload = \"40 %\"\n"),
            "",
            "its port is no hotter than others",
        ),
        (star(6, &("[record]\nhost = \"H0\"\n".to_string() + &greedy("H1..H3"))), "", ""),
        (
            star(5, &(group("H0..H4") + &greedy("H1..H3") + &matrix("on", both))),
            "",
            "no host that sends runs ecm",
        ),
        (star(5, &(group("H3..H4") + &greedy("H1..H3") + &matrix("on", both))), "", ""),
        (
            fabric("[workload]\nload = \"20 %\"\n[run]\nduration = \"0.5 ms\"\nseeds = 5\n"),
            "topology.routing=flow-hash,frame-hash",
            "",
        ),
        // A port that is slowed down, with traffic and without.
        (
            star(6, &(event("1 Gb/s").replace("H0", "H5") + &light)),
            "",
            "nothing is sent through S>H5, which is slowed down",
        ),
        (
            star(6, &format!("{light}[hotspot]\nhost = \"H4\"\nstart = \"0.5 ms\"\nstop = \"1 ms\"\n")),
            "",
            "nothing is sent through S>H4, which is slowed down",
        ),
        // Lowest rates that together fill the link.
        (
            star(12, &(greedy("H1..H10") + &matrix("on", both) + "[scheme.ecm]\nr_min = \"1.5 Gb/s\"\n")),
            "",
            "10 hosts send to H0: together they fill its link of 10 Gb/s 1.5 times over; set scheme.ecm.r_min below 1 Gb/s",
        ),
        (star(12, &(greedy("H1..H10") + &matrix("on", both) + "[scheme.ecm]\nr_min = \"0.5 Gb/s\"\n")), "", ""),
        (star(6, &(light.clone() + "[record]\nbin = \"1 ms\"\n")), "", "leaves fewer than 4 values"),
        (star(6, &(light.clone() + "[record]\nflows = [\"H1>H5\"]\n")), "", "nothing of flow H1>H5 was received"),
        (
            star(
                6,
                &(light.clone()
                    + "[[traffic]]\nname = \"rare\"\nhosts = [\"H3\"]\nkind = \"poisson\"\nload = \"0.1 %\"\nsizes = \"file\"\nsize_table = [\"2000000 100\"]\ndestinations = [\"H4\"]\n"),
            ),
            "",
            "nothing of rare was received",
        ),
        // Uniform traffic that fits all paths together, where a hash puts too much on one of them.
        (
            fabric("[workload]\nload = \"46 %\"\n[host]\nfifo = 50\n[run]\nduration = \"2 ms\"\nseeds = 5\n[pause]\nmode = \"on\"\n")
                .replace("per_switch = 8", "per_switch = 4")
                .replace("46 %", "90 %")
                .replace("frame-hash", "flow-hash"),
            "",
            "sources discarded frames, as their queues (host.fifo) were full (frames a run: none",
        ),
    ];
    for (text, over, word) in cases {
        let said = said(text, over);
        let noted = ["note:", "BEFORE YOU CONCLUDE", "UNFINISHED"].iter().any(|w| said.contains(w));
        assert!(if word.is_empty() { !noted } else { said.contains(word) }, "`{word}`:\n{text}\n{said}");
    }
}

#[test]
fn mistakes_are_reported() {
    let all = mistakes();
    assert_eq!(all.len(), 20);
    let silent: Vec<String> = all
        .iter()
        .filter_map(|(text, over, word)| {
            let said = said(text, over);
            (!said.contains(word)).then(|| format!("{word}:\n{text}\n{said}"))
        })
        .collect();
    assert!(silent.is_empty(), "{} of 20 are not said:\n{}", silent.len(), silent.join("\n----\n"));
}

#[test]
fn sound_ones_have_no_note() {
    let all = sound();
    assert_eq!(all.len(), 20);
    let spoken: Vec<String> = all
        .iter()
        .filter_map(|(text, over)| {
            let said = said(text, over);
            let words = ["note:", "BEFORE YOU CONCLUDE", "UNFINISHED"];
            words.iter().any(|w| said.contains(w)).then(|| format!("{text}\n{said}"))
        })
        .collect();
    assert!(spoken.is_empty(), "{} of 20 are spoken of:\n{}", spoken.len(), spoken.join("\n----\n"));
}
