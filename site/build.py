"""Builds the documentation site: `python3 site/build.py` (`make site`).

The pages are the documents of this repository; no text stands here a second time. The script makes its virtual environment
(target/venv-site), lays the pages of the navigation out under target/site/source as they stand in the repository, builds
them into target/site/html, and checks every link (site/links.py). After the first installation it needs no network. The simulator of
the playground is compiled for the browser, and notebooks are run with the Python package, which is built for them where it is not
there yet. Parts whose tools are missing are left out, and one line at the end names them with the command that brings them.

Exit codes: 0 built and sound, 1 complaints (one per line), 3 the virtual environment cannot be made.
"""

import base64
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "site"
VENV = ROOT / "target" / "venv-site"
OUT = ROOT / "target" / "site"
TARGET = "wasm32-wasip1"
SOURCE, HTML = OUT / "source", OUT / "html"
# Written here from the package's docstrings, not a file of the repository.
PYTHON_REFERENCE = "docs/reference/python.md"
# Where `make test` installs the Python package; notebooks are run with it.
PACKAGE = Path(os.environ.get("CNSIM_VENV", ROOT / "target" / "venv"))
# Exit code of a notebook that lacks an extra.
NO_EXTRA = 4
RUN = ROOT / "target" / "site-notebooks"
# Beside pages: files that pages show or link to, from the root.
ASSETS = ["docs/**/*.svg", "docs/**/*.toml", "docs/**/*.png", "LICENSE-*", "docs/**/*.js", "docs/**/*.css", "docs/notebooks/*.py", "python/examples/*.py", "examples/**/*.rs", "site/*.css", "site/*.js"]


# What is left out, and how to have it.
LEFT_OUT: dict[str, list[str]] = {}


def leave_out(what: str, remedy: str) -> None:
    """Notes what the site will not have."""
    LEFT_OUT.setdefault(remedy, []).append(what)


def environment() -> Path:
    """The Python of the virtual environment, which is made if it is missing or its list of packages has changed."""
    wanted = hashlib.sha256((HERE / "requirements.txt").read_bytes()).hexdigest()
    python, stamp = VENV / "bin" / "python", VENV / "requirements.sha256"
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(VENV, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", VENV],
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt"],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                said = (done.stderr or done.stdout).strip().splitlines()
                print(f"site: the virtual environment cannot be made: {said[-1] if said else command}", file=sys.stderr)
                print("site: needed are Python with venv (Debian: python3-venv) and a package index", file=sys.stderr)
                sys.exit(3)
        stamp.write_text(wanted)
    return python


def expanded(nav, pages, complaints):
    """The navigation with its patterns replaced by what matches; `pages` collects every page."""
    entries = []
    for entry in nav:
        if isinstance(entry, str) and "*" in entry:
            found = sorted(ROOT.glob(entry), key=lambda p: p.name)
            if not found:
                complaints.append(f"site/mkdocs.yml: nothing matches {entry}")
            # A notebook's page is made from it.
            names = [str(p.relative_to(ROOT)).replace(".py", ".md") for p in found]
            entries += expanded(names, pages, complaints)
        elif isinstance(entry, str):
            pages.append(entry)
            entries.append(entry)
        else:
            for title, what in entry.items():
                if isinstance(what, str):
                    pages.append(what)
                    entries.append({title: what})
                else:
                    entries.append({title: expanded(what, pages, complaints)})
    return entries


def stage() -> list[str]:
    """Lays out the pages and the configuration; returns complaints."""
    import yaml

    complaints: list[str] = []
    config = yaml.safe_load((HERE / "mkdocs.yml").read_text(encoding="utf-8"))
    pages: list[str] = []
    config["nav"] = expanded(config["nav"], pages, complaints)
    config["docs_dir"], config["site_dir"] = "source", "html"
    if "CNSIM_SITE_VERSIONED" in os.environ:
        # The selector of the header reads versions.json, which site/versions.py writes beside the versions' folders.
        config["extra"] = {"version": {"provider": "mike", "default": "latest"}}
    shown = {*pages}
    for page in sorted(ROOT.glob("docs/**/*.md")):
        if str(page.relative_to(ROOT)) not in shown:
            complaints.append(f"{page.relative_to(ROOT)}: not in the navigation (site/mkdocs.yml)")
    shutil.rmtree(OUT, ignore_errors=True)
    assets = [str(p.relative_to(ROOT)) for pattern in ASSETS for p in ROOT.glob(pattern) if p.is_file()]
    complaints += reference(SOURCE / PYTHON_REFERENCE) if PYTHON_REFERENCE in pages else []
    for notebook in [ROOT / page.replace(".md", ".py") for page in pages if page.startswith("docs/notebooks/")]:
        complaints += run(notebook)
    for name in [*pages, *assets]:
        if (SOURCE / name).is_file():
            continue
        if not (ROOT / name).is_file():
            complaints.append(f"site/mkdocs.yml: {name} is not there")
            continue
        target = SOURCE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    (OUT / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return complaints


def reference(page: Path) -> list[str]:
    """Writes the reference of the Python package; returns complaints."""
    import api

    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(api.page(ROOT / "python" / "cnsim"), encoding="utf-8")
    return []


@functools.cache
def package() -> Path | None:
    """Where the Python package is installed for notebooks; it is built if it is not there. None where it cannot be had."""
    where = "import cnsim._cnsim, matplotlib, pathlib; print(pathlib.Path(cnsim.__file__).parent)"
    python = PACKAGE / "bin" / "python"
    for _ in range(2):
        if python.exists():
            found = subprocess.run([python, "-c", where], capture_output=True, text=True)
            if found.returncode == 0:
                return Path(found.stdout.strip())
        if "CNSIM_VENV" in os.environ or not shutil.which("cargo"):
            return None
        print("site: building the Python package, some minutes the first time", file=sys.stderr)
        subprocess.run(["python3", ROOT / "python" / "check.py", "--only", "build"], cwd=ROOT, capture_output=True, text=True)
    return None


def run(notebook: Path) -> list[str]:
    """Runs a notebook, or takes its page of last time where nothing has changed since; returns complaints.

    Where the package or an extra that it uses is not there, the notebook is shown without results.
    """
    found = package()
    unrun = found is None
    # CNSIM_TRIALS shortens notebooks that search.
    trials = os.environ.get("CNSIM_TRIALS", "").encode()
    digest = hashlib.sha256(notebook.read_bytes() + (HERE / "notebook.py").read_bytes() + trials)
    for file in [] if found is None else sorted(found.glob("*")):
        digest.update(file.read_bytes() if file.is_file() else b"")
    kept = RUN / f"{notebook.stem}-{'unrun' if unrun else digest.hexdigest()[:16]}"
    page = kept / f"{notebook.stem}.md"
    if unrun or not page.exists():
        shutil.rmtree(kept, ignore_errors=True)
        python = sys.executable if unrun else PACKAGE / "bin" / "python"
        command = [python, HERE / "notebook.py", notebook, page, *(["--unrun"] if unrun else [])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == NO_EXTRA:
            shutil.rmtree(kept, ignore_errors=True)
            leave_out(f"results of {notebook.name}", done.stderr.strip().splitlines()[-1])
            # Not under the name of a page with results.
            kept = RUN / f"{notebook.stem}-unrun"
            command = [python, HERE / "notebook.py", notebook, kept / page.name, "--unrun"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(kept, ignore_errors=True)
            return [f"{notebook.relative_to(ROOT)}: {done.stderr.strip()}"]
    if unrun:
        leave_out(f"results of {notebook.name}", "python3 python/check.py --only build")
    target = SOURCE / notebook.relative_to(ROOT).parent
    shutil.copytree(kept, target, dirs_exist_ok=True)
    return []


def engine() -> list[str]:
    """Compiles the simulator of the playground and lays it beside its page; returns complaints."""
    said: list[str] = []
    text = "// Built without the simulator.\n"
    ask = ["rustc", "--print", "sysroot"]
    sysroot = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True).stdout.strip() if shutil.which("rustc") and shutil.which("cargo") else ""
    there = Path(sysroot) / "lib" / "rustlib" / TARGET
    if sysroot and not there.is_dir() and shutil.which("rustup"):
        subprocess.run(["rustup", "target", "add", TARGET], cwd=ROOT, capture_output=True, text=True)
    if not sysroot or not there.is_dir():
        leave_out("the simulator of the playground", f"rustup target add {TARGET}" if sysroot else "install Rust")
    else:
        name = "cnsim-playground"
        cargo = ["cargo", "rustc", "--quiet", "--profile", "try", "--target", TARGET, "-p", name, "--bin", name]
        done = subprocess.run([*cargo, "--", "-C", "strip=symbols"], cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
            program = (folder / TARGET / "try" / f"{name}.wasm").read_bytes()
            text = f'const CNSIM_ENGINE = "{base64.b64encode(program).decode()}";\n'
        else:
            said.append(f"{name}: {done.stderr.strip()}")
    (SOURCE / "docs" / "playground" / "engine.js").write_text(text, encoding="ascii")
    return said


def drawer() -> None:
    """Lays the report's drawer of figures beside the playground's page."""
    assets, page = ROOT / "crates" / "report" / "assets", SOURCE / "docs" / "playground"
    marks, chart, rules, base = ((assets / name).read_text(encoding="utf-8") for name in ("marks.js", "chart.js", "chart.css", "base.css"))
    light, dark = (base.split(f":root{which} {{")[1].split("}")[0] for which in ("", '[data-theme="dark"]'))
    style = f'#cnsim-playground {{{light}}}\n[data-md-color-scheme="slate"] #cnsim-playground {{{dark}}}\n{rules}'
    (page / "chart.js").write_text(marks + chart, encoding="utf-8")
    (page / "chart.css").write_text(style, encoding="utf-8")


def build() -> int:
    """Inside the virtual environment: stage, build, check."""
    import links

    start = time.monotonic()
    complaints = stage()
    complaints += engine()
    drawer()
    zensical = [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", "mkdocs.yml"]
    done = subprocess.run(zensical, cwd=OUT, capture_output=True, text=True)
    if done.returncode != 0:
        complaints.append(f"zensical: {done.stdout}{done.stderr}")
    found = links.check(HTML)
    complaints += found.complaints
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if LEFT_OUT:
        parts = [f"{', '.join(what)} (to have it: {remedy})" for remedy, what in LEFT_OUT.items()]
        print(f"site: left out: {'; '.join(parts)}", file=sys.stderr)
    print(
        f"{found.pages} pages, {found.links} links and {found.assets} assets checked, {len(complaints)} complaints, "
        f"{time.monotonic() - start:.1f} s: target/site/html/index.html"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    if Path(sys.prefix) == VENV:
        sys.exit(build())
    inside = environment()
    os.chdir(ROOT)
    sys.exit(subprocess.run([inside, Path(__file__).resolve()]).returncode)
