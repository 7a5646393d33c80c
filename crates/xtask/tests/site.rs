//! The documentation site is built as `make site` builds it: every page of `docs` in the navigation, every link and anchor there,
//! nothing asked for outside. And its playground gives the bits of this machine's program.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names the test as skipped where `make test` looks; under `CNSIM_STRICT=1` that is a failure.
fn skip(name: &str, needs: &str) {
    let strict = std::env::var("CNSIM_STRICT").as_deref() == Ok("1");
    // A machine that cannot have the target for browsers says so.
    let excused = needs == TARGET && std::env::var_os("CNSIM_NO_WASM").is_some();
    assert!(!strict || excused, "{name} needs {needs}");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |t| root().join(t));
    let list = fs::OpenOptions::new().create(true).append(true).open(target.join("skipped.txt"));
    let _ = list.and_then(|mut f| writeln!(f, "SKIPPED: {name} (needs {needs})"));
}

/// The site, built once for all tests of this file; none where there is no Python that can make the environment.
fn site() -> Option<&'static Output> {
    static BUILT: OnceLock<Option<Output>> = OnceLock::new();
    let build = || {
        let out = Command::new("python3").arg(root().join("site/build.py")).output().ok()?;
        (out.status.code() != Some(3)).then_some(out)
    };
    BUILT.get_or_init(build).as_ref()
}

/// What is missing where [`site`] is none.
const PYTHON: &str = "python3 with venv, and a package index";
/// What the playground's simulator is compiled for.
const TARGET: &str = "the Rust target wasm32-wasip1";

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let Some(out) = site() else { return skip("every_link_of_the_site_leads_somewhere", PYTHON) };
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    let number = |at: usize| said.split_whitespace().nth(at).and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
    // "49 pages, 3897 links and 320 assets checked, ...": not an empty site.
    assert!(number(0) > 40 && number(2) > 1000 && number(5) > 100, "{said}");
}

/// The check itself finds each kind of fault.
#[test]
fn a_broken_site_is_told() {
    let folder = std::env::temp_dir().join(format!("cnsim-links-{}", std::process::id()));
    fs::create_dir_all(folder.join("sub")).unwrap();
    let index = r##"<a href="sub/b.html#there">fine</a> <a href="gone.html">1</a> <a href="sub/b.html#gone">2</a>
        <script src="https://example.org/x.js"></script> <img src="gone.png"> <a href="https://example.org">fine</a>"##;
    fs::write(folder.join("index.html"), index).unwrap();
    fs::write(folder.join("sub/b.html"), r#"<h1 id="there">B</h1>"#).unwrap();
    fs::write(folder.join("orphan.html"), "nobody").unwrap();
    fs::write(folder.join("a.css"), "@import 'https://example.org/font.css';").unwrap();
    let code = "import sys; sys.path.insert(0, sys.argv[1]); import links, pathlib; \
                print('\\n'.join(links.check(pathlib.Path(sys.argv[2])).complaints))";
    let out = Command::new("python3").args(["-c", code]).arg(root().join("site")).arg(&folder).output();
    fs::remove_dir_all(&folder).unwrap();
    let Ok(out) = out else { return skip("a_broken_site_is_told", "python3") };
    let said = String::from_utf8_lossy(&out.stdout);
    let expected = [
        "index.html: gone.html: leads nowhere",
        "index.html: sub/b.html#gone: no such anchor",
        "index.html: https://example.org/x.js: asks for something outside the site",
        "index.html: gone.png: leads nowhere",
        "a.css: https://example.org/font.css: asks for something outside the site",
        "orphan.html: no page leads here",
    ];
    assert_eq!(said.lines().count(), expected.len(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    expected.iter().for_each(|line| assert!(said.contains(line), "{line}\n{said}"));
}

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Settings of both experiments in the browser and here: the same fingerprints.
#[test]
fn the_playground_gives_the_same_bits_in_a_browser() {
    let name = "the_playground_gives_the_same_bits_in_a_browser";
    let Some(browser) = browser() else { return skip(name, "chromium") };
    if site().is_none() {
        return skip(name, PYTHON);
    }
    let folder = root().join("target/site/html/docs/playground").canonicalize().unwrap();
    if !fs::read_to_string(folder.join("engine.js")).unwrap().starts_with("const CNSIM_ENGINE") {
        return skip(name, TARGET);
    }
    for (link, words) in [
        ("", vec!["q_eq=26 KB"]),
        (
            "#w=8&gd=0.00390625&q_eq=52&flows=12&loop_delay=160",
            vec!["w=8", "gd=0.00390625", "q_eq=52 KB", "flows=12", "loop_delay=160 us"],
        ),
        (
            "#scheme=qcn-802.1Qau&flows=16&loop_delay=1000",
            vec!["scheme=qcn-802.1Qau", "flows=16", "loop_delay=1 ms"],
        ),
        ("#scene=incast&k_min=30&flows=4", vec!["scene=incast", "k_min=30 KB", "flows=4"]),
        ("#scene=incast&scheme=none", vec!["scene=incast", "scheme=none"]),
    ] {
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let here = cnsim_playground::answer(&words).unwrap();
        let here =
            ["events", "frames", "samples"].map(|k| here["fingerprint"][k].as_str().unwrap().to_owned());
        let look = || {
            let out = Command::new(browser)
                .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
                .args(["--virtual-time-budget=20000", "--dump-dom"])
                .arg(format!("file://{}/index.html{link}", folder.display()))
                .output()
                .unwrap();
            let page = String::from_utf8_lossy(&out.stdout).into_owned();
            let after = page.split("data-fingerprint=\"").nth(1)?;
            after.split('"').next().map(str::to_owned)
        };
        // On a busy machine the browser may give the page away before its run is over: look again.
        let there = (0..10).find_map(|_| look());
        assert_eq!(there, Some(here.join(" ")), "{link}");
    }
}
