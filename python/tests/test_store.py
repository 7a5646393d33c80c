"""Kept runs: an edit of whatever a scheme uses makes other runs, and what cannot be known is not kept."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

import cnsim as cn
from cnsim._code import code_of

from conftest import SHORT

HOP = cn.scenario("B07/single-hop")


def module(name: str, text: str) -> types.ModuleType:
    """A module of the user's, as an import would leave it."""
    made = types.ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), made.__dict__)
    sys.modules[name] = made
    return made


def scheme_of(text: str) -> type:
    """The class `Cut` of a program's text."""
    return module("tried_scheme", f"import cnsim as cn\n{text}").__dict__["Cut"]  # type: ignore[no-any-return]


def cutting(by: str, before: str = "", head: str = "self, feedback, limiter") -> str:
    """A scheme whose reaction lowers the rate by a factor that is computed so."""
    return f"""
{before}
class Cut(cn.Scheme):
    class ReactionPoint(cn.ReactionPoint):
        def on_feedback({head}):
            limiter.rate = limiter.rate * {by}
            limiter.engage()
"""


CLOSURE = """
def make(factor):
    class Cut(cn.Scheme):
        class ReactionPoint(cn.ReactionPoint):
            def on_feedback(self, feedback, limiter):
                limiter.rate = limiter.rate * factor
                limiter.engage()
    return Cut
Cut = make({})
"""

#: Programs of which a number is edited that no bytecode of the class holds.
EDITS: dict[str, Callable[[float], str]] = {
    "a constant": lambda x: cutting(str(x)),
    "a global": lambda x: cutting("K", f"K = {x}"),
    "a keyword default": lambda x: cutting("by", head=f"self, feedback, limiter, *, by={x}"),
    "a default": lambda x: cutting("by", head=f"self, feedback, limiter, by={x}"),
    "a closure": lambda x: CLOSURE.format(x),
    "an object": lambda x: cutting("T.k", f"class Table:\n    def __init__(self, k): self.k = k\nT = Table({x})"),
    "an object's method": lambda x: cutting("T()", f"class Table:\n    def __call__(self): return {x}\nT = Table()"),
    "slots": lambda x: cutting("T.k", f"class Table:\n    __slots__ = ('k',)\nT = Table()\nT.k = {x}"),
    "a partial": lambda x: cutting("F()", f"import functools\nF = functools.partial(lambda k: k, {x})"),
    "a cached function": lambda x: cutting("F()", f"import functools\n@functools.cache\ndef F(): return {x}"),
    "a set constant": lambda x: cutting(f"max(k for k in (0.1, 0.2, 0.3) if k in {{0.05, {x}, 'a', 'b'}})"),
    "a set": lambda x: cutting("max(K)", f"K = {{0.01, {x}}}"),
    "a dictionary": lambda x: cutting("K['x'][1]", f"K = {{'x': [0, {x}]}}"),
    "an array": lambda x: cutting("float(K[1])", f"import numpy\nK = numpy.array([0, {x}])"),
    "an enumeration": lambda x: cutting("K.A.value", f"import enum\nclass K(enum.Enum):\n    A = {x}"),
    "a data class": lambda x: cutting("K.x", f"import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: float\nK = P({x})"),
    "a base class": lambda x: cutting("self.k()").replace(
        "class ReactionPoint(cn.ReactionPoint)", f"class ReactionPoint(type('B', (cn.ReactionPoint,), {{'k': lambda self: {x}}}))"
    ),
    "a lambda in a list": lambda x: cutting("L[0]()", f"L = [lambda: {x}]"),
    "a method of an object": lambda x: cutting("M()", f"class A:\n    k = {x}\n    def f(self): return self.k\nM = A().f"),
    "a property": lambda x: cutting("self.k").replace(
        "        def on_feedback", f"        @property\n        def k(self): return {x}\n        def on_feedback"
    ),
    "an engages": lambda x: cutting("0.5") + f"    def engages(self, feedback): return {x} > 0.25\n",
    "a generator's own function": lambda x: cutting("sum(f() for f in [lambda: %s])" % x),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_is_another_code(kind: str) -> None:
    first, same, other = (code_of(scheme_of(EDITS[kind](x))) for x in (0.2, 0.2, 0.3))
    assert first == same and first[1] is None
    assert first[0] != other[0]


@pytest.mark.parametrize(
    "use",
    [
        "import helper\n|helper.cut()",
        "import helper as h\n|h.deep.CUT()",
        "from helper import cut\n|cut()",
        "import helper\nTOOLS = helper\n|TOOLS.cut()",
        "import helper\n|getattr(helper, 'cut')()",
        "|__import_in__",
    ],
)
def test_an_edited_module_is_another_code(use: str) -> None:
    before, by = use.split("|")
    text = cutting(by, before)
    if by == "__import_in__":
        text = cutting("cut()").replace("            limiter.rate", "            from helper import cut\n            limiter.rate", 1)

    def code(x: float) -> tuple[str, str | None]:
        made = module("helper", f"def cut(): return {x}\nclass deep:\n    CUT = staticmethod(lambda: {x})\n")
        assert made.cut() == x
        return code_of(scheme_of(text))

    first, same, other = code(0.2), code(0.2), code(0.3)
    assert first == same and first[1] is None and first[0] != other[0]


def test_another_part_of_a_module_does_not_matter() -> None:
    text = cutting("helper.cut()", "import helper")
    module("helper", "import threading\ndef cut(): return 0.5\nOTHER = 1\nLOCK = threading.Lock()\n")
    first = code_of(scheme_of(text))
    module("helper", "def cut(): return 0.5\nOTHER = 2\n")
    assert code_of(scheme_of(text)) == first and first[1] is None


@pytest.mark.parametrize(
    ("by", "before", "why"),
    [
        ("L.locked() or 0.5", "import threading\nL = threading.Lock()", "on_feedback.L: is a _thread.lock"),
        ("float(open('gain').read())", "", "open: calls `open`"),
        ("eval('0.5')", "", "calls `eval`"),
        ("float(os.environ.get('GAIN', 1))", "import os", "reads the environment"),
        ("float(os.getenv('GAIN', 1))", "import os", "reads the environment"),
        ("float(Path('gain').read_text())", "from pathlib import Path", "files are not part"),
        ("next(G)", "G = (x for x in [0.5])", "is a builtins.generator"),
    ],
)
def test_what_cannot_be_known_is_named(by: str, before: str, why: str) -> None:
    known = code_of(scheme_of(cutting(by, before)))
    assert known[1] is not None and why in known[1], known


def test_a_global_that_a_scheme_sets() -> None:
    text = cutting("N", "N = 1").replace("            limiter.rate", "            global N\n            N += 1\n            limiter.rate", 1)
    assert "sets the global `N`" in (code_of(scheme_of(text))[1] or "")


FULL = """
import helper, os, threading

@cn.scheme("tried-store")
class Cut(cn.Scheme):
    class CongestionPoint(cn.CongestionPoint):
        def start(self, queue):
            queue.sample_after(30000)
        def on_sample(self, frame, queue):
            queue.sample_after(30000)
            if queue.len > 10000:
                queue.notify(frame.flow, cn.Feedback.User(0, 0))
    class ReactionPoint(cn.ReactionPoint):
        def on_feedback(self, feedback, limiter):
            limiter.engage()
            limiter.rate = helper.cut(limiter.rate)
"""


def test_an_edited_helper_takes_nothing_from_the_store(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The module is loaded again in its place, as `importlib.reload` does, and the scenario was there before."""
    found: list[cn.Results] = []

    def run(s: cn.Scenario, by: float, stored: str) -> None:
        exec(f"def cut(rate): return max(rate * {by}, 10e6)", sys.modules["helper"].__dict__)
        found.append(s.run(seeds=2, out=tmp_path, threads=1))
        assert f"{stored} runs taken from the store" in capfd.readouterr().err

    module("helper", "def cut(rate): return rate")
    scheme_of(FULL)
    s = HOP.with_(SHORT, scheme="tried-store")
    run(s, 0.5, "0 of 2")
    run(s, 0.5, "2 of 2")
    run(s, 0.9, "0 of 2")
    run(s, 0.9, "2 of 2")
    assert found[0].fingerprints == found[1].fingerprints != found[2].fingerprints == found[3].fingerprints
    assert len(list((tmp_path / "runs").glob("*.json"))) == 4


def test_a_global_that_is_set_later_is_seen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The scenario was made before, and the class is the same."""
    made = module("helper", "GAIN = 0.5\ndef cut(rate): return max(rate * GAIN, 10e6)")
    scheme_of(FULL)
    s = HOP.with_(SHORT, scheme="tried-store")
    first = s.run(out=tmp_path, threads=1)
    made.GAIN = 0.9  # type: ignore[attr-defined]
    second = s.run(out=tmp_path, threads=1)
    assert first.fingerprints != second.fingerprints and "1 of 1" not in capfd.readouterr().err


def test_what_cannot_be_known_is_not_kept(tmp_path: Path) -> None:
    module("helper", "import threading\nL = threading.Lock()\ndef cut(rate):\n    with L:\n        return max(rate / 2, 10e6)")
    scheme_of(FULL)
    s = HOP.with_(SHORT, scheme="tried-store")
    for _ in range(2):
        with pytest.warns(UserWarning, match="runs of tried-store are not kept: .*cut.L: is a _thread.lock"):
            s.run(out=tmp_path, threads=1)
    assert not list((tmp_path / "runs").glob("*.json"))


def test_all_series_are_not_taken_from_a_run_with_few(tmp_path: Path) -> None:
    s = HOP.with_(SHORT, scheme="ecm")
    few = s.run(out=tmp_path)
    full = s.run(out=tmp_path, series="all")
    assert len(full.series_names) > len(few.series_names)
    assert s.run(out=tmp_path, series="all").series_names == full.series_names


def test_only_the_studys_own_experiment_is_judged() -> None:
    short = HOP.with_(SHORT, scheme="ecm").run()
    judged = [r for r in short.summary() if r["published"] is not None]
    assert judged and {r["verdict"] for r in judged} == {"incomparable"}
    assert all("run.duration is 6 ms, there 1 s" in r["note"] for r in judged)
    own = HOP.with_({"record.flow_times": "on"}, scheme="ecm").run()
    verdicts = {r["verdict"] for r in own.summary() if r["published"] is not None}
    assert "incomparable" not in verdicts and "agrees" in verdicts
    both = HOP.with_({"scheme.params.q_eq": "20 KB"}, scheme="ecm").run()
    rows = cn.Results([*own, *both], [HOP]).summary()
    assert {r["verdict"] for r in rows if r["published"] is not None} == verdicts | {"incomparable"}, "not mixed"


def test_a_folder_of_others_is_not_touched(tmp_path: Path) -> None:
    r = HOP.with_(SHORT, scheme="ecm").run()
    (tmp_path / "results.json").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(cn.CnsimError, match="cnsim did not write results.json there"):
        r.save(tmp_path)
    assert (tmp_path / "results.json").read_text() == "mine" and not (tmp_path / ".cnsim").exists()
    r.save(tmp_path, force=True)
    first = {p for p in tmp_path.rglob("*.csv")}
    other = HOP.with_(SHORT, scheme="none").run()
    other.save(tmp_path)
    assert first and not first & set(tmp_path.rglob("*.csv")), "one result at a time"
    assert "\"scheme\":\"none\"" in (tmp_path / "results.json").read_text()
    assert (tmp_path / "notes.txt").read_text() == "mine"
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / f"{'0' * 32}.json").write_text("mine")
    with pytest.raises(cn.CnsimError, match="cnsim did not write 0+.json there"):
        HOP.with_(SHORT, scheme="ecm").run(out=tmp_path)
