"""What the documents show runs: every block of Python of docs/python.md and README.md, and the notebooks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn

from conftest import needs

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def ran(text: str, name: str) -> dict[str, Any]:
    """Runs a text as the blocks of one session."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.findall(text):
        exec(compile(block, name, "exec"), space)
    return space


@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_documents(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = needs("matplotlib")
    matplotlib.use("agg")
    for package in ("networkx", "optuna", "SALib", "pandas", "xarray"):
        needs(package)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text()
    assert BLOCK.search(text)
    space = ran(text, name)
    if name == "docs/python.md":
        assert cn.testing.check_scheme("my-halve").ok
        rows = space["grid"].compare("time_paused", baseline="none")
        assert {r["scheme"] for r in rows} == {"qcn-2pt", "my-halve"}


def test_the_session_and_the_scheme_are_as_long_as_promised() -> None:
    blocks = BLOCK.findall((ROOT / "docs/python.md").read_text())
    session = blocks[0].strip().splitlines()
    scheme = next(b for b in blocks if "my-halve" in b).strip().splitlines()
    assert len(session) <= 20 and len(scheme) <= 38


def test_plan_and_promise_are_documented() -> None:
    text = (ROOT / "docs/python.md").read_text()
    for kind in (cn.Plan, cn.Promise):
        for field, default in kind._field_defaults.items():
            shown = f'"{default}"' if isinstance(default, str) else repr(default)
            assert f"| `{field}` | `{shown}` |" in text, field


@pytest.mark.parametrize("path", sorted((ROOT / "docs/notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_notebooks(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks are scripts: a shortened run of each."""
    matplotlib = needs("matplotlib")
    matplotlib.use("agg")
    needs("optuna")
    needs("SALib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CNSIM_TRIALS", "10")
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})


def test_the_doc_tests_of_the_package() -> None:
    import doctest
    import sys

    for name in ("cnsim", "cnsim.schemes", "cnsim.scenario"):
        found = doctest.testmod(sys.modules[name])
        assert found.attempted > 0 and found.failed == 0




@pytest.mark.parametrize(
    ("cell", "code", "said"),
    [
        ("import no_such_module_at_all", 4, "pip install no_such_module_at_all"),
        ("import cnsim as cn\nfrom cnsim.errors import missing\nmissing('x', 'plot', 'It')", 4, "pip install 'cnsim[plot]'"),
        # No package has it: a fault of the notebook.
        ("from json import nothing", 1, "cannot import name"),
        ("raise ImportError('no name')", 1, "no name"),
    ],
)
def test_a_notebook_that_lacks_a_module(cell: str, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "n.py").write_text(f"# %%\n{cell}\n")
    command = [sys.executable, ROOT / "site/notebook.py", tmp_path / "n.py", tmp_path / "n.md"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code and said in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("words", [["--profile"], ["--profil", "a", "b"], ["fast"]])
def test_dist_names_wrong_words(words: list[str]) -> None:
    done = subprocess.run([sys.executable, ROOT / "python/dist.py", *words], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "usage: dist.py" in done.stderr


def test_a_site_without_rust_names_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "docs/playground").mkdir(parents=True)
    code = (
        "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import build; build.SOURCE = pathlib.Path(sys.argv[2]); "
        "print(build.engine(), build.LEFT_OUT)"
    )
    command = [sys.executable, "-c", code, ROOT / "site", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.stdout == "[] {'install Rust': ['the simulator of the playground']}\n", done.stderr
    assert (tmp_path / "docs/playground/engine.js").exists()
