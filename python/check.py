"""Builds the Python package in a virtual environment of its own (target/venv) and runs all that checks it.

    python3 python/check.py [--only build|tests|types] [pytest arguments]

What is not there is installed; where the package index cannot be reached, that is named in target/skipped.txt, and with
CNSIM_STRICT=1 it is a failure. Takes about two minutes of two cores after the first call.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "target" / "venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STRICT = os.environ.get("CNSIM_STRICT") == "1"


def skip(why: str) -> int:
    """Names what could not be tested."""
    with (ROOT / "target" / "skipped.txt").open("a") as file:
        file.write(f"SKIPPED: python ({why})\n")
    print(f"SKIPPED: python ({why})")
    return 1 if STRICT else 0


def run(*command: str | Path, later: bool = False) -> int:
    """Runs a command at the root, in the environment; `later`: what it says is told when it is over."""
    path = os.pathsep.join([str(PYTHON.parent), os.environ["PATH"]])
    environment = {**os.environ, "VIRTUAL_ENV": str(VENV), "PATH": path, "MPLBACKEND": "agg"}
    environment.pop("PYTHONPATH", None)
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if later else {}
    if not later:
        print("$", *command, flush=True)
    done = subprocess.run([str(c) for c in command], cwd=ROOT, env=environment, check=False, **said)
    if later:
        print("$", *command, f"\n{done.stdout}", flush=True)
    return done.returncode


def environment() -> str | None:
    """Makes the environment; says what is missing."""
    if sys.version_info < (3, 11):
        return "needs Python 3.11 or later"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + sys.version.encode()).hexdigest()
    stamp = VENV / "installed"
    if stamp.is_file() and stamp.read_text() == wanted:
        return None
    if not PYTHON.exists():
        try:
            venv.create(VENV, with_pip=True)
        except (OSError, subprocess.CalledProcessError):
            shutil.rmtree(VENV, ignore_errors=True)
            return "needs the module venv (python3-venv)"
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    packages = {*project["dependencies"], *(p for extra in extras for p in extra if not p.startswith("cnsim["))}
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "maturin>=1.9,<2", *sorted(packages)):
        return "needs the package index"
    stamp.write_text(wanted)
    return None


def main(args: list[str]) -> int:
    """Builds, tests, and checks types; gives the exit code."""
    only = args[args.index("--only") + 1] if "--only" in args else None
    more = [a for i, a in enumerate(args) if a != "--only" and (i == 0 or args[i - 1] != "--only")]
    (ROOT / "target").mkdir(exist_ok=True)
    why = environment()
    if why is not None:
        return skip(why)
    if run(PYTHON, "-m", "maturin", "develop", "--quiet", "--profile", "try"):
        return 1
    # Types are checked on the core that the tests leave idle.
    types = [["mypy", "--strict", "python/cnsim", "python/examples"], ["mypy.stubtest", "cnsim._cnsim", "--concise"]]
    with ThreadPoolExecutor(1) as beside:
        wanted = types if only in (None, "types") else []
        codes = [beside.submit(run, PYTHON, "-m", *command, later=True) for command in wanted]
        code = run(PYTHON, "-m", "pytest", "-q", *more) if only in (None, "tests") else 0
    return max(code, *(c.result() for c in codes), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
