//! Whose file is it: what stands in a folder of results or of kept runs and is not of cnsim stays as it is.
#![cfg(unix)]

use crate::common::{Folder, MANY, cnsim, files, stored, text};
use std::path::{Path, PathBuf};

/// Everything in a folder, with contents; links as links.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all: Vec<(PathBuf, Vec<u8>)> = files(dir)
        .into_iter()
        .map(|p| match std::fs::read_link(&p) {
            Ok(to) => (p, to.into_os_string().into_encoded_bytes()),
            Err(_) => {
                let bytes = std::fs::read(&p).unwrap();
                (p, bytes)
            }
        })
        .collect();
    all.sort();
    all
}

/// The verbs that write results, short.
fn writers<'a>(file: &'a str, out: &'a str) -> [Vec<&'a str>; 3] {
    let of = |verb: &'a str, more: &'a str| vec![verb, file, more, "--quiet", "--out", out];
    [of("run", "--seed=1"), of("run", "--seeds=1"), of("sweep", "--over=host.fifo=10,20")]
}

/// Whatever name of cnsim's a file of the user's has: it stays, and so does all beside it, unless the user insists.
#[test]
fn files_of_others_are_never_written_over() {
    let folder = Folder::new("others");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let names = [
        "results.json", "numbers.csv", "claims.csv", "report.html", "sweep.csv", "sweep.html", "fct.csv",
        "slowdown.csv", "fct.txt", "assume.csv", "series",
    ];
    for (i, name) in names.iter().enumerate() {
        let dir = folder.0.join(format!("d{i}"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("notes.txt"), "mine").unwrap();
        match *name {
            "series" => {
                std::fs::create_dir(dir.join(name)).unwrap();
                std::fs::write(dir.join("series/mine.csv"), "mine").unwrap();
            }
            // What looks like results of ours is not.
            "results.json" => std::fs::write(dir.join(name), "{\"schema\":1,\"version\":\"0.1.0\"}").unwrap(),
            // A link to what stands elsewhere.
            "fct.csv" => std::os::unix::fs::symlink(dir.join("notes.txt"), dir.join(name)).unwrap(),
            _ => std::fs::write(dir.join(name), "mine").unwrap(),
        }
        let before = snapshot(&dir);
        for args in writers(&file, dir.to_str().unwrap()) {
            let done = cnsim(&args);
            let said = text(&done);
            assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
            assert!(
                said.contains(&format!("cnsim did not write {name} there")) && said.contains("--force"),
                "{said}"
            );
            assert_eq!(snapshot(&dir), before, "{args:?}");
        }
    }
    // Insisted on: what has the name is replaced, the rest stays.
    let dir = folder.0.join("d1");
    let done = cnsim(&["run", &file, "--seeds=1", "--quiet", "--force", "--out", dir.to_str().unwrap()]);
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!(folder.read("d1/notes.txt"), "mine");
    assert!(folder.read("d1/numbers.csv").starts_with("study,"));
    // What comes into a folder of cnsim's later is the user's, too.
    folder.write("d1/fct.csv", "mine");
    let done = cnsim(&["run", &file, "--seeds=1", "--quiet", "--out", dir.to_str().unwrap()]);
    assert_eq!(
        (done.status.code(), folder.read("d1/fct.csv").as_str()),
        (Some(2), "mine"),
        "{}",
        text(&done)
    );
}

/// Files of other names stay where they are, beside results and in the store.
#[test]
fn other_files_do_not_hinder() {
    let folder = Folder::new("beside");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let out = folder.0.join("out");
    std::fs::create_dir_all(out.join("runs/mine")).unwrap();
    let elsewhere = folder.write("elsewhere.txt", "mine");
    for name in
        ["notes.csv", ".hidden", "x.tmp", "runs/a.json", "runs/b.tmp", "runs/lock", "runs/mine/c.json"]
    {
        std::fs::write(out.join(name), "mine").unwrap();
    }
    for link in [".lock", "runs/.lock", "runs/link.json"] {
        std::os::unix::fs::symlink(&elsewhere, out.join(link)).unwrap();
    }
    let before = snapshot(&out);
    let kept = |now: &[(PathBuf, Vec<u8>)]| before.iter().all(|b| now.contains(b));
    for args in writers(&file, out.to_str().unwrap()) {
        let done = cnsim(&args);
        assert!(done.status.success(), "{args:?}: {}", text(&done));
        assert!(kept(&snapshot(&out)), "{args:?}");
    }
    assert!(stored(&out).len() > 3);
    for more in ["--dry-run", "--quiet"] {
        let done = cnsim(&["tool", "clean", "--out", out.to_str().unwrap(), more]);
        let said = text(&done);
        assert!(done.status.success() && said.contains("entries there are not of cnsim"), "{said}");
        assert!(kept(&snapshot(&out)), "{said}");
    }
    assert_eq!(stored(&out).len(), 2, "the user's two stay");
    assert_eq!(folder.read("elsewhere.txt"), "mine");
}

/// A folder of kept runs that cnsim did not mark, with a name of cnsim's in it.
#[test]
fn a_store_of_others_is_refused() {
    let folder = Folder::new("foreign-store");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let out = folder.file("out");
    std::fs::create_dir_all(folder.0.join("out/runs")).unwrap();
    let name = "out/runs/0123456789abcdef0123456789abcdef.json";
    folder.write(name, "{\"mine\":1}");
    let before = snapshot(&folder.0);
    for args in [&["tool", "clean", "--out", &out][..], &["run", &file, "--quiet", "--out", &out]] {
        let done = cnsim(args);
        let said = text(&done);
        assert!(done.status.code() == Some(2) && said.contains("cnsim did not write"), "{said}");
        assert_eq!(snapshot(&folder.0), before);
    }
    let done = cnsim(&["run", &file, "--quiet", "--force", "--out", &out]);
    assert!(done.status.success(), "{}", text(&done));
    assert!(cnsim(&["tool", "clean", "--out", &out]).status.success());
    assert_eq!(folder.read(name), "{\"mine\":1}");
}

/// Results of a cnsim that left no mark are taken for its own, once, and its store, too.
#[test]
fn folders_of_an_earlier_cnsim_are_taken_over() {
    let folder = Folder::new("earlier");
    let file = folder.write("many.toml", &MANY.replace("seeds = 10", "seeds = 1"));
    let out = folder.file("out");
    let args = ["run", &file, "--out", &out];
    assert!(cnsim(&args).status.success());
    let good = folder.read("out/numbers.csv");
    std::fs::remove_dir_all(folder.0.join("out/.cnsim")).unwrap();
    std::fs::remove_dir_all(folder.0.join("out/runs/.cnsim")).unwrap();
    let said = text(&cnsim(&args));
    assert!(said.contains("holds results of an earlier cnsim") && said.contains("6 of 6 runs"), "{said}");
    let said = text(&cnsim(&args));
    assert!(!said.contains("earlier cnsim"), "only once: {said}");
    assert_eq!(folder.read("out/numbers.csv"), good);
    // One of the files is not of cnsim.
    std::fs::remove_dir_all(folder.0.join("out/.cnsim")).unwrap();
    folder.write("out/numbers.csv", "mine");
    assert_eq!(cnsim(&args).status.code(), Some(2));
    assert_eq!(folder.read("out/numbers.csv"), "mine");
}

/// What one command leaves does not stand beside the results of the next.
#[test]
fn a_folder_holds_the_results_of_one_command() {
    let folder = Folder::new("one");
    let flows = "kind = \"transfers\"\ntransfers = [\"0 us, H1, H2, 20 KB\"]";
    let plain = MANY.replace("seeds = 10", "seeds = 1");
    let with = plain
        .replace("name = \"many\"", "name = \"flows\"")
        .replace("[run]", &format!("[workload]\n{flows}\n[run]"));
    let (plain, with) = (folder.write("plain.toml", &plain), folder.write("with.toml", &with));
    let out = folder.file("out");
    let run = |file: &str| {
        let done = cnsim(&["run", file, "--quiet", "--out", &out]);
        assert!(done.status.success(), "{}", text(&done));
        files(&folder.0.join("out"))
    };
    let first = run(&with);
    assert!(first.iter().any(|p| p.ends_with("fct.csv")), "{first:?}");
    folder.write("out/series/mine.csv", "mine");
    let second = run(&plain);
    let left = |p: &&PathBuf| p.ends_with("fct.csv") || p.to_string_lossy().contains("series/mine-flows");
    assert_eq!(second.iter().filter(left).count(), 0, "{second:?}");
    assert_eq!(folder.read("out/series/mine.csv"), "mine");
}
