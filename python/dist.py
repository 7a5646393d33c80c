"""Makes what is installed without a compiler: a wheel and a static program in target/dist (`make dist`).

    python3 python/dist.py [--profile NAME]

The wheel is for CPython 3.11 and later (abi3) on any Linux with glibc 2.17 or later (manylinux2014): zig links it, so that no
container is needed. The program is linked against musl and needs no library at all. Both are then tried where there is no Rust: the
wheel in a fresh virtual environment, the program in an empty root where this user may change the root, else without an environment.

Needed are Rust and Python with venv, a package index for maturin and ziglang, and the target of Rust that the message names.
Exit codes: 0 both made and tried, 1 something failed, 2 wrong words, 3 something is not there.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "target" / "dist"
TOOLS = ROOT / "target" / "venv-dist"
TARGET = f"{platform.machine()}-unknown-linux-musl"
# A run of less than a second.
TRIAL = ["run", "B07/single-hop", "--scheme", "qcn-2pt", "--set", "run.duration=20 ms", "--set", "hotspot.start=2 ms", "--set", "hotspot.stop=15 ms"]


def run(*command: str | Path, **more: object) -> bool:
    """Runs a command at the root; true if it succeeds."""
    print("$", *command, flush=True)
    return subprocess.run([str(c) for c in command], cwd=ROOT, check=False, **more).returncode == 0  # type: ignore[call-overload,no-any-return]


def absent(what: str, remedy: str) -> int:
    print(f"dist: {what} is not there: {remedy}", file=sys.stderr)
    return 3


def program(profile: str) -> Path | int:
    """The static program."""
    installed = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    there = Path(installed) / "lib" / "rustlib" / TARGET
    if not there.is_dir() and shutil.which("rustup"):
        run("rustup", "target", "add", TARGET)
    if not there.is_dir():
        return absent(f"the Rust target {TARGET}", f"rustup target add {TARGET}")
    if not run("cargo", "build", "--profile", profile, "--target", TARGET, "-p", "cnsim-cli"):
        return 1
    folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    made = OUT / f"cnsim-{TARGET}"
    # The profile `dev` keeps its files under another name.
    shutil.copy2(folder / TARGET / {"dev": "debug", "test": "debug", "bench": "release"}.get(profile, profile) / "cnsim", made)
    return made


def wheel(profile: str) -> Path | int:
    """The wheel."""
    python = TOOLS / "bin" / "python"
    if not (TOOLS / "installed").exists():
        shutil.rmtree(TOOLS, ignore_errors=True)
        venv.create(TOOLS, with_pip=True)
        if not run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "maturin>=1.9,<2", "ziglang"):
            return absent("maturin or ziglang", "give pip a package index")
        (TOOLS / "installed").touch()
    path = {**os.environ, "PATH": os.pathsep.join([str(python.parent), os.environ["PATH"]]), "VIRTUAL_ENV": str(TOOLS)}
    options = ["--profile", profile, "--zig", "--compatibility", "manylinux2014", "--out", OUT]
    if not run(python, "-m", "maturin", "build", *options, env=path):
        return 1
    return max(OUT.glob("*.whl"), key=lambda p: p.stat().st_mtime)


def tried(made: Path) -> bool:
    """Does the program run where nothing else is?"""
    with tempfile.TemporaryDirectory() as root:
        shutil.copy2(made, Path(root) / "cnsim")
        (Path(root) / "tmp").mkdir()
        for change in (["chroot", root], ["unshare", "--user", "--map-root-user", "chroot", root]):
            if shutil.which(change[0]) and subprocess.run([*change, "/cnsim", "--version"], capture_output=True, check=False).returncode == 0:
                return run(*change, "/cnsim", *TRIAL, "--out", "/tmp/out")
        return run(Path(root) / "cnsim", *TRIAL, "--out", Path(root) / "tmp" / "out", env={})


def imported(made: Path) -> bool:
    """Does the wheel install and run where there is no Rust?"""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        bare = {"PATH": f"{folder}/bin", "HOME": folder}
        code = (
            "import shutil, cnsim as cn; assert shutil.which('cargo') is None; "
            "s = cn.scenario('B07/single-hop').with_({'run.duration': '20 ms', 'hotspot.start': '2 ms', 'hotspot.stop': '15 ms'}); "
            "print(s.with_(scheme='qcn-2pt').run().metric('aggregate_throughput'))"
        )
        return run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", made) and run(python, "-c", code, env=bare)


def main(args: list[str]) -> int:
    """Makes and tries both; gives the exit code."""
    if not sys.platform.startswith("linux"):
        return absent("Linux", "run this in a Linux system, or install from the checkout")
    options = argparse.ArgumentParser(prog="dist.py", description="Makes a wheel and a static program in target/dist, and tries both.")
    options.add_argument("--profile", default="release", help="profile of cargo [release]")
    profile = options.parse_args(args).profile
    if not shutil.which("cargo"):
        return absent("Rust", "https://rustup.rs")
    OUT.mkdir(parents=True, exist_ok=True)
    for make, trial in ((program, tried), (wheel, imported)):
        made = make(profile)
        if isinstance(made, int):
            return made
        if not trial(made):
            print(f"dist: {made.relative_to(ROOT)} was made, but does not run on its own", file=sys.stderr)
            return 1
        print(f"dist: {made.relative_to(ROOT)} runs where there is no Rust")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
