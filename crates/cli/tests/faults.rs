//! Faults, on the real program: killed, interrupted, disks that are full, folders that take nothing, damaged stores, two at once.
//! `CNSIM_SOAK=100 cargo test --profile try -p cnsim-cli --test faults` does each so often (`make soak`).
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Folder, MANY, cnsim, files, skip, stored, text};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn tries(few: u64) -> u64 {
    std::env::var("CNSIM_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn start(args: &[&str]) -> Child {
    let mut c = Command::new(env!("CARGO_BIN_EXE_cnsim"));
    c.args(args).env("NO_COLOR", "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    // It may have ended by itself meanwhile.
    let kill = format!("kill -{name} {} 2> /dev/null", child.id());
    Command::new("sh").args(["-c", &kill]).status().unwrap();
}

fn temporaries(dir: &Path) -> usize {
    files(dir).iter().filter(|p| p.extension().is_some_and(|e| e == "tmp")).count()
}

/// What an undisturbed call gives.
fn undisturbed(folder: &Folder, file: &str) -> String {
    let done = cnsim(&["run", file, "--quiet", "--out", &folder.file("good")]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    folder.read("good/numbers.csv")
}

/// Waits until so many runs are kept, or the program has ended.
fn wait_for(child: &mut Child, out: &Path, runs: usize) {
    while stored(out).len() < runs && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_half_written() {
    let folder = Folder::new("killed");
    let file = folder.write("many.toml", MANY);
    let good = undisturbed(&folder, &file);
    let out = folder.0.join("out");
    for i in 0..tries(8) {
        let _ = std::fs::remove_dir_all(&out);
        let args = ["run", &file, "--quiet", "--threads", "2", "--out", out.to_str().unwrap()];
        let mut child = start(&args);
        wait_for(&mut child, &out, (i as usize * 13) % 60);
        signal(&child, "KILL");
        child.wait().unwrap();
        let kept = stored(&out);
        for name in ["results.json", "numbers.csv", "report.html"] {
            let path = out.join(name);
            assert!(
                !path.exists() || std::fs::metadata(&path).unwrap().len() > 100,
                "{name} is half written"
            );
        }
        let done = cnsim(&[&args[..], &["--verbose"]].concat());
        let said = text(&done);
        assert!(done.status.success() && !said.contains("run again"), "kill {i}: {said}");
        assert_eq!(folder.read("out/numbers.csv"), good, "kill {i}");
        assert!(kept.iter().all(|k| k.is_file()));
        assert_eq!(temporaries(&out), 0, "kill {i}");
    }
}

/// A signal ends it with 130 before any run has begun: here it waits for a scenario.
#[cfg(unix)]
#[test]
fn a_signal_before_any_run_has_a_code() {
    for name in ["INT", "TERM"] {
        let mut waits = Command::new(env!("CARGO_BIN_EXE_cnsim"));
        waits.args(["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = waits.spawn().unwrap();
        let stdin = child.stdin.take();
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let done = child.wait_with_output().unwrap();
        assert_eq!(
            (done.status.code(), &*String::from_utf8_lossy(&done.stderr)),
            (Some(130), "error: interrupted\n")
        );
        drop(stdin);
    }
}

/// A file that may grow no further is an error with a word, and no signal's end.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_files_is_said() {
    let folder = Folder::new("limit");
    let file = folder.write("many.toml", MANY);
    let out = folder.0.join("out");
    let line = format!(
        "ulimit -f 8; exec {} run {file} --quiet --out {}",
        env!("CARGO_BIN_EXE_cnsim"),
        out.display()
    );
    let done = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(matches!(done.status.code(), Some(1 | 2)), "{:?}: {}", done.status, text(&done));
    assert!(text(&done).contains("File too large"), "{}", text(&done));
}

/// A file that is too large is refused by its length: it is not read, as the memory here would not hold it.
#[cfg(target_os = "linux")]
#[test]
fn files_too_large_are_refused_unread() {
    let folder = Folder::new("large");
    for name in ["results.json", "pauses.csv"] {
        // Holes alone: the file takes no room on the disk.
        let file = std::fs::File::create(folder.file(name)).unwrap();
        file.set_len(3_000_000_000).unwrap();
    }
    let (results, pauses) = (folder.file("results.json"), folder.file("pauses.csv"));
    let asked = [
        format!("verify {results}"),
        format!("compare {results} {results}"),
        format!("explain-pause {pauses}"),
    ];
    for words in asked {
        let line = format!("ulimit -v 1000000; exec {} {words}", env!("CARGO_BIN_EXE_cnsim"));
        let done = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{words}: {}", text(&done));
        assert!(text(&done).contains("is larger than 1907 MB"), "{words}: {}", text(&done));
    }
}

#[test]
fn interrupted_it_says_so_and_keeps_what_was_finished() {
    let folder = Folder::new("interrupted");
    let file = folder.write("many.toml", MANY);
    let good = undisturbed(&folder, &file);
    for i in 0..tries(6) {
        let name = if i % 2 == 0 { "INT" } else { "TERM" };
        // Half of them where finished results of fewer seeds stand.
        let out = folder.0.join(format!("out{i}"));
        let path = out.to_str().unwrap();
        let finished = i % 3 == 0;
        if finished {
            let done = cnsim(&["run", &file, "--seeds", "2", "--quiet", "--out", path]);
            assert!(done.status.success(), "{}", text(&done));
        }
        let before = std::fs::read(out.join("results.json")).ok();
        let args = ["run", &file, "--threads", "1", "--out", path];
        let mut child = start(&args);
        wait_for(&mut child, &out, if finished { 15 } else { 2 + i as usize * 5 });
        signal(&child, name);
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let now = std::fs::read_to_string(out.join("results.json")).ok();
        if done.status.code() != Some(0) {
            assert_eq!(done.status.code(), Some(130), "{said}");
            assert!(said.contains("interrupted"), "{said}");
            match (&before, &now) {
                (Some(b), n) => {
                    assert_eq!(n.as_ref().map(String::as_bytes), Some(&b[..]), "finished results stay")
                }
                (None, Some(n)) => {
                    assert!(n.contains("\"partial\":{\"finished\":"), "partial results say so");
                    let numbers = std::fs::read_to_string(out.join("numbers.csv")).unwrap();
                    assert!(numbers.lines().skip(1).all(|l| l.contains("partial: ")), "{numbers}");
                    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("PARTIAL"));
                    // What is there is right, and said to be a part.
                    let verified = cnsim(&["verify", out.join("results.json").to_str().unwrap()]);
                    assert!(
                        verified.status.success() && text(&verified).contains("partial"),
                        "{}",
                        text(&verified)
                    );
                }
                (None, None) => {}
            }
        }
        let done = cnsim(&["run", &file, "--quiet", "--out", path]);
        assert!(done.status.success(), "{}", text(&done));
        assert_eq!(std::fs::read_to_string(out.join("numbers.csv")).unwrap(), good);
        assert!(!std::fs::read_to_string(out.join("results.json")).unwrap().contains("\"partial\""));
    }
}

/// The store keeps no run of the model, and an interruption says so.
#[test]
fn interrupted_the_model_keeps_nothing() {
    let folder = Folder::new("model");
    let long = MANY.replace("duration = \"2 ms\"", "duration = \"20 ms\"");
    let file = folder.write("many.toml", &long);
    for wait in [300, 1000, 4000] {
        let child = start(&["run", &file, "--engine", "model", "--out", &folder.file("out")]);
        std::thread::sleep(Duration::from_millis(wait));
        signal(&child, "INT");
        let ended = child.wait_with_output().unwrap();
        // Before the handler stands, the signal itself ends the program.
        if let Some(code) = ended.status.code() {
            let said = text(&ended);
            assert!(code == 130 && said.contains("interrupted") && !said.contains("kept in"), "{said}");
            return;
        }
    }
    panic!("the handler never stands");
}

/// One huge run ends soon after Ctrl-C, too: while its network is built, or in the middle of it.
#[test]
fn a_long_run_heeds_an_interruption() {
    let folder = Folder::new("long");
    let file = folder.write("long.toml", &MANY.replace("duration = \"2 ms\"", "duration = \"200 s\""));
    for wait in [30, 600] {
        let mut child = start(&["run", &file, "--force", "--out", &folder.file("out")]);
        std::thread::sleep(Duration::from_millis(wait));
        // Until the handler stands, a program started in the background ignores the signal: it is sent until it is heeded.
        let code = loop {
            signal(&child, "INT");
            std::thread::sleep(Duration::from_millis(100));
            if let Some(ended) = child.try_wait().unwrap() {
                break ended.code();
            }
        };
        // Before the handler stands, the signal itself ends the program.
        assert!(code == Some(130) || code.is_none(), "{code:?}");
        assert!(!folder.0.join("out/results.json").exists());
    }
}

#[test]
fn no_damage_of_a_store_goes_unnoticed() {
    let folder = Folder::new("damaged");
    let file = folder.write("many.toml", MANY);
    let good = undisturbed(&folder, &file);
    let args = ["run", &file, "--quiet", "--out", &folder.file("good")];
    let all = stored(&folder.0.join("good"));
    assert_eq!(all.len(), 60);
    for round in 0..tries(2) as usize {
        let mut damaged = 0;
        for (i, path) in all.iter().enumerate() {
            let bytes = std::fs::read(path).unwrap();
            let at = (round * 7919 + i * 104_729) % bytes.len();
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (i % 8);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            damaged += 1;
            match i % 10 {
                0..=2 => std::fs::write(path, &flipped).unwrap(),
                3 => std::fs::write(path, &bytes[..at]).unwrap(),
                4 => std::fs::write(path, b"").unwrap(),
                // Another run under this name.
                5 => drop(std::fs::copy(&all[(i + 11) % all.len()], path).unwrap()),
                6 => std::fs::write(path, text.replacen("\"dropped_frames\":", "\"dropped_frames\":1", 1))
                    .unwrap(),
                7 => std::fs::write(path, text.replacen("\"version\":", "\"version\":1", 1)).unwrap(),
                8 => std::fs::write(path, [&bytes[..], b" "].concat()).unwrap(),
                _ => damaged -= 1,
            }
        }
        let done = cnsim(&args);
        let said = text(&done);
        assert!(done.status.success(), "{said}");
        assert_eq!(said.matches("run again").count(), damaged, "{said}");
        assert_eq!(folder.read("good/numbers.csv"), good);
        let done = cnsim(&args);
        assert!(done.status.success() && !text(&done).contains("run again"), "mended: {}", text(&done));
    }
    // Runs of a version before are not used, and that is told.
    for (i, path) in all.iter().take(4).enumerate() {
        std::fs::rename(path, path.with_file_name(format!("{i:032x}.json"))).unwrap();
        std::fs::write(path.with_file_name(format!("{i:032x}.json")), "{\"study\":\"mine\"}").unwrap();
    }
    let said = text(&cnsim(&args));
    assert!(said.contains("holds 4 files of another version"), "{said}");
    assert_eq!(folder.read("good/numbers.csv"), good);
}

#[test]
fn two_in_one_folder_do_not_disturb_each_other() {
    let folder = Folder::new("two");
    let file = folder.write("many.toml", MANY);
    let good = undisturbed(&folder, &file);
    let args = ["run", &file, "--quiet", "--threads", "1", "--out", &folder.file("out")];
    let both = [start(&args), start(&args)];
    for child in both {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    assert_eq!(folder.read("out/numbers.csv"), good);
    assert!(cnsim(&["verify", &folder.file("out/results.json")]).status.success());
    assert_eq!(temporaries(&folder.0), 0);
}

/// A disk that takes no more than a few kilobytes a file stands for a full one: no rights are needed for it.
#[test]
fn a_full_disk_is_told_with_path_and_remedy() {
    let folder = Folder::new("full");
    let file = folder.write("many.toml", MANY);
    for (verb, more) in [("run", "--seed=1"), ("run", "--seeds=1"), ("sweep", "--over=host.fifo=10,20")] {
        for blocks in ["0", "2"] {
            let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let out = folder.file("out");
            let args = [verb, &file, more, "--quiet", "--out", &out];
            let done = Command::new("sh")
                .args(["-c", &script, env!("CARGO_BIN_EXE_cnsim")])
                .args(args)
                .output()
                .unwrap();
            let said = text(&done);
            assert_eq!(done.status.code(), Some(2), "{verb} {blocks}: {said}");
            assert!(said.contains("/out") && said.contains("--out") && !said.contains("panicked"), "{said}");
            assert_eq!(temporaries(&folder.0), 0, "{verb} {blocks}");
        }
    }
}

/// Nothing that can be written there: a file in the folder's place, and a folder without rights (not for root, who has all).
#[test]
fn a_folder_that_takes_nothing_is_told() {
    let folder = Folder::new("readonly");
    let file = folder.write("many.toml", MANY);
    let plain = folder.write("plain", "mine");
    let locked = folder.file("locked");
    std::fs::create_dir(&locked).unwrap();
    let mut rights = std::fs::metadata(&locked).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&locked, rights).unwrap();
    let root = std::fs::create_dir(format!("{locked}/x")).is_ok();
    // Rights do not stop root; a file system that takes nothing does.
    let locked = if root { "/proc/self".to_string() } else { locked };
    for out in [plain.clone(), format!("{plain}/x"), "/dev/null/x".into(), locked] {
        for (verb, more) in [("run", "--seed=1"), ("run", "--seeds=1"), ("sweep", "--over=host.fifo=10,20")] {
            let done = cnsim(&[verb, &file, more, "--quiet", "--out", &out]);
            let said = text(&done);
            assert_eq!(done.status.code(), Some(2), "{verb} {out}: {said}");
            assert!(said.contains(&out) && said.contains("--out") && !said.contains("panicked"), "{said}");
        }
    }
    assert_eq!(std::fs::read_to_string(plain).unwrap(), "mine");
}

/// Standard output that takes nothing, in every verb.
#[test]
fn no_verb_panics_where_output_ends() {
    if !Path::new("/dev/full").exists() {
        return skip("no_verb_panics_where_output_ends", "/dev/full");
    }
    let folder = Folder::new("devfull");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let out = folder.file("out");
    assert!(cnsim(&["run", &file, "--quiet", "--out", &out]).status.success());
    let results = folder.file("out/results.json");
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let verbs: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["run", &file, "--out", &out],
        &["run", &file, "--out", &out, "--json"],
        &["run", &file, "--out", &out],
        &["sweep", &file, "--over", "host.fifo=10,20", "--out", &out],
        &["list"],
        &["list", "schemes", "--json"],
        &["explain", "ecm"],
        &["explain", "B07/single-hop"],
        &["explain", "time_paused"],
        &["check", &file],
        &["new", "mine"],
        &["tool", "schema"],
        &["headroom"],
        &["bench", "w1", "--duration", "0.1 ms"],
        &["verify", &results],
        &["compare", &results, &results],
        &["tool", "doctor"],
    ];
    for args in verbs {
        let run = |c: &mut Command| c.args(*args).env("NO_COLOR", "1").output().unwrap();
        let mut c = Command::new(env!("CARGO_BIN_EXE_cnsim"));
        let done = run(c.stdout(full()));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("standard output") && !said.contains("panicked"), "{args:?}: {said}");
        // Both full: no word can be said, the code still can.
        let mut c = Command::new(env!("CARGO_BIN_EXE_cnsim"));
        let status = c.args(*args).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}

/// Pipes, devices, links and folders in the place of what cnsim keeps: no hang, nothing taken away, and results all the same.
#[test]
fn what_is_no_file_hangs_nothing() {
    let folder = Folder::new("pipes");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let out = folder.file("out");
    let args = ["run", &file, "--quiet", "--out", &out];
    assert!(cnsim(&args).status.success());
    let all = stored(&folder.0.join("out"));
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let ends = |args: &[&str]| {
        let mut child = start(args);
        for _ in 0..1500 {
            if let Some(ended) = child.try_wait().unwrap() {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
                return (ended.code(), said);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        signal(&child, "KILL");
        panic!("{args:?} hangs");
    };
    for (i, path) in all.iter().take(4).enumerate() {
        std::fs::remove_file(path).unwrap();
        match i {
            0 => pipe(path),
            1 => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            2 => std::os::unix::fs::symlink(&file, path).unwrap(),
            _ => std::fs::create_dir(path).unwrap(),
        }
        let kind = std::fs::symlink_metadata(path).unwrap().file_type();
        let (code, said) = ends(&args);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("is no file of cnsim's; the run is not kept"), "{said}");
        assert_eq!(std::fs::symlink_metadata(path).unwrap().file_type(), kind, "it stays");
    }
    for name in ["runs/.cnsim/lock", ".cnsim/lock", ".cnsim/files.json", "runs", "results.json"] {
        let (path, aside) = (folder.0.join("out").join(name), folder.0.join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        pipe(&path);
        let (code, said) = ends(&args);
        assert!(code == Some(2) && said.contains("out"), "{name}: {said}");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
    }
    assert_eq!(ends(&args).0, Some(0));
}

/// A file of the store that is said to be huge is refused before it fills the memory.
#[test]
fn a_huge_file_in_the_store_takes_no_memory() {
    let folder = Folder::new("huge");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let args = ["run", &file, "--quiet", "--threads", "1", "--out", &folder.file("out")];
    assert!(cnsim(&args).status.success());
    let all = stored(&folder.0.join("out"));
    let bytes = std::fs::read_to_string(&all[0]).unwrap();
    for (i, path) in all.iter().take(3).enumerate() {
        let head = &bytes[..bytes.find("\"bytes\":").unwrap()];
        let key = path.file_stem().unwrap().to_string_lossy().into_owned();
        let head = head.replace(&all[0].file_stem().unwrap().to_string_lossy().into_owned(), &key);
        let size: u64 = 2_000_000_000;
        let start = match i {
            0 => String::new(),
            1 => std::fs::read_to_string(path).unwrap(),
            _ => format!("{head}\"bytes\":{},\"run\":", size - head.len() as u64 - 26),
        };
        std::fs::write(path, start).unwrap();
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(size).unwrap();
    }
    let script = "ulimit -v 1500000; exec \"$0\" \"$@\"";
    let done =
        Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_cnsim")]).args(args).output().unwrap();
    let said = text(&done);
    assert!(done.status.success() && said.matches("run again").count() == 3, "{said}");
    assert!(!text(&cnsim(&args)).contains("run again"));
}

/// `nohup` protects a run: a hang-up that is ignored when the program begins stays ignored. Otherwise it ends the run in order.
#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let folder = Folder::new("nohup");
    let file = folder.write("many.toml", &MANY.replace("duration = \"2 ms\"", "duration = \"20 ms\""));
    // A shell cannot take notice again of what was ignored when it began, such as under `nohup`.
    let own = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = own
        .lines()
        .find_map(|l| l.strip_prefix("SigIgn:"))
        .and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    let inherited = mask.is_some_and(|mask| mask & 1 == 1);
    if inherited {
        skip("a_hang_up_that_is_ignored_stays_ignored: one that is not ignored", "a start without nohup");
    }
    for ignored in [true, false].into_iter().filter(|ignored| *ignored || !inherited) {
        let out = folder.0.join(format!("out-{ignored}"));
        let script = if ignored { "trap '' HUP; exec \"$0\" \"$@\"" } else { "exec \"$0\" \"$@\"" };
        let mut child = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_cnsim"), "run", &file, "--threads", "1", "--out"])
            .arg(&out)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&mut child, &out, 3);
        for _ in 0..3 {
            signal(&child, "HUP");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(child.wait().unwrap().code(), Some(if ignored { 0 } else { 130 }), "ignored: {ignored}");
    }
}
