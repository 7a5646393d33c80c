"""Mistakes that people make in a scheme: each is an error that says where, or does no harm."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn
import cnsim.testing

from conftest import SHORT

HOP = cn.scenario("B07/single-hop").with_(SHORT, hotspot__rate="1 Gb/s")

#: A scheme that does nothing wrong: its parts are put in place of those of a mistake.
PARTS = {
    "head": "",
    "decorate": "",
    "scheme": "",
    "point": "",
    "point_start": "queue.sample_after(20_000)",
    "on_sample": "queue.notify(frame.flow, cn.Feedback.User(1, 2))\nqueue.sample_after(20_000)",
    "reaction": "",
    "on_feedback": "limiter.engage()\nlimiter.rate = max(limiter.rate / 2, 10e6)\nlimiter.start_timer(0, 1e-4)",
    "on_timer": "limiter.rate = min(limiter.rate * 1.5, limiter.line_rate)",
}
TEXT = """\
import cnsim as cn
{head}

@cn.scheme("mistaken")
class Mistaken(cn.Scheme):
{scheme}
    step = cn.param.rate("50 Mb/s", low="1 Mb/s", high="10 Gb/s", doc="Step.")
{decorate}
    class CongestionPoint(cn.CongestionPoint):
{point}
        def start(self, queue):
{point_start}
        def on_sample(self, frame, queue):
{on_sample}
    class ReactionPoint(cn.ReactionPoint):
{reaction}
        def on_feedback(self, feedback, limiter):
{on_feedback}
        def on_timer(self, timer, limiter):
{on_timer}
"""
_DEEP = {"head": 0, "decorate": 4, "scheme": 4, "point": 8, "reaction": 8}


def made(file: Path, **parts: str) -> type[cn.Scheme]:
    """Registers the scheme with these parts from a file of its own."""
    text = TEXT.format(**{k: textwrap.indent(v, " " * _DEEP.get(k, 12)) for k, v in {**PARTS, **parts}.items()})
    file.write_text(text)
    space: dict[str, Any] = {"__name__": "mistaken"}
    exec(compile(text, str(file), "exec"), space)
    found: type[cn.Scheme] = space["Mistaken"]
    return found


#: Declarations that are refused before anything runs: part, text, words of the error, text of the line that it names.
DECLARED = {
    "a dict at class level": ({"reaction": "seen: dict = {}"}, "ReactionPoint.seen is a dict", "seen:"),
    "a list at class level": ({"point": "seen = []"}, "CongestionPoint.seen is a list", "seen ="),
    "a set in the scheme": ({"scheme": "flows = set()"}, "Mistaken.flows is a set", "flows ="),
    "a defaultdict": (
        {"head": "from collections import defaultdict", "reaction": "n = defaultdict(int)"}, "is a defaultdict", "n =",
    ),
    "an object": ({"head": "class Memory:\n    pass", "reaction": "memory = Memory()"}, "is an object of Memory", "memory ="),
    "a tuple with a list": ({"reaction": "both = (1, [2])"}, "a tuple with a list in it", "both ="),
    "state in a helper class": ({"reaction": "class Memory:\n    cells = {}"}, "ReactionPoint.Memory.cells is a dict", "cells ="),
    "a field without a dataclass": (
        {"head": "from dataclasses import field", "reaction": "seen: dict = field(default_factory=dict)"},
        "the class is no dataclass", "seen:",
    ),
    "a mutable default": (
        {"reaction": "def cut(self, seen={}):\n    seen[len(seen)] = 1"}, "the default of `seen` in ReactionPoint.cut is a dict", "def cut",
    ),
    "an iterator": ({"head": "import itertools", "point": "number = itertools.count()"}, "is an object of count", "number ="),
    "state that __init__ of the scheme makes": (
        {"scheme": "def __init__(self):\n    self.seen = {}"}, "`seen`, which its __init__ makes, is a dict", "",
    ),
    "a misspelt callback": ({"point": "def on_smaple(self, frame, queue):\n    pass"}, "did you mean `on_sample`?", "def on_smaple"),
    "a callback in camel case": ({"point": "def onProbe(self, probe, flow, queue):\n    pass"}, "did you mean `on_probe`?", "def onProbe"),
    "a callback of another room": ({"point": "def on_bytes(self, limiter):\n    pass"}, "nobody calls", "def on_bytes"),
    "a callback in the scheme": ({"scheme": "def on_sample(self, frame, queue):\n    pass"}, "stands in the scheme", "def on_sample"),
    "too few arguments": ({"reaction": "def on_bytes(self):\n    pass"}, "write def on_bytes(self, limiter)", "def on_bytes"),
    "too many arguments": ({"reaction": "def on_ack(self, ack, limiter, more):\n    pass"}, "write def on_ack(self, ack, limiter)", "def on_ack"),
    "no self": ({"point": "def on_timer(queue):\n    pass"}, "cannot be called", "def on_timer"),
    "a generator": ({"reaction": "def on_bytes(self, limiter):\n    yield limiter"}, "is a generator", "def on_bytes"),
    "a coroutine": ({"reaction": "async def on_bytes(self, limiter):\n    pass"}, "is asynchronous", "async def on_bytes"),
    "a callback that is no function": ({"reaction": "on_bytes = 5"}, "is no method but 5", "on_bytes ="),
    "__init__ with arguments": ({"reaction": "def __init__(self, site):\n    pass"}, "write def __init__(self)", "def __init__"),
    "__init__ of the scheme with arguments": ({"scheme": "def __init__(self, step):\n    pass"}, "write def __init__(self)", ""),
    "a hidden p": ({"reaction": "p = 0.5"}, "self.p is taken", "p = 0.5"),
    "a hidden site": ({"point": "def site(self):\n    pass"}, "self.site is taken", ""),
    "a room of another name": (
        {"scheme": "class Reaction(cn.Reflector):\n    def on_frame(self, frame, sink):\n        pass"},
        "call it Reflector", "class Reaction(",
    ),
    "a plan of another name": ({"scheme": "plans = cn.Plan(first_frame=True)"}, "did you mean `plan`?", "plans ="),
    "a plan that is a dict": ({"scheme": "plan = {'first_frame': True}"}, "write plan = cn.Plan(...)", "plan ="),
    "a word that no plan knows": ({"scheme": "plan = cn.Plan(reflect='sometimes')"}, "write never, marked", ""),
    "on_frame that the plan does not ask for": (
        {"scheme": "class Reflector(cn.Reflector):\n    def on_frame(self, frame, sink):\n        pass"}, 'Plan(reflect="marked")', "def on_frame",
    ),
    "a timer of a reflector that nobody builds": (
        {"scheme": "class Reflector(cn.Reflector):\n    def on_timer(self, timer, sink):\n        pass"}, 'Plan(reflect="marked")', "def on_timer(self, timer, sink)",
    ),
    "on_ack that the plan does not ask for": ({"reaction": "def on_ack(self, ack, limiter):\n    pass"}, "cn.Plan(echo=True)", "def on_ack"),
    "echo beside a reflector": (
        {"scheme": "plan = cn.Plan(echo=True)\nclass Reflector(cn.Reflector):\n    def on_frame(self, frame, sink):\n        pass"},
        "leave one of the two out", "class Reflector",
    ),
    "a promise of another kind": ({"scheme": "promise = cn.Promise(floor='10 Mb/s')"}, "fields of cn.Plan and cn.Promise", "class Mistaken"),
    "state at a distance": ({"scheme": "seen = bytearray()"}, "Mistaken.seen is a bytearray", "seen ="),
    "counters that are a list": ({"scheme": "counters = ['cuts']"}, "write counters = {", "counters ="),
    "gauges that are a list": ({"scheme": "gauges = ['rate']"}, "write gauges = {", "gauges ="),
    "a misspelt engages": ({"scheme": "def engage(self, feedback):\n    return True"}, "did you mean `engages`?", ""),
    "engages without feedback": ({"scheme": "def engages(self):\n    return True"}, "write def engages(self, feedback)", "def engages"),
    "a default out of range": ({"scheme": "g = cn.param.number(3, low=0, high=1)"}, "allowed: 0 to 1", ""),
    "a default that is NaN": ({"scheme": "g = cn.param.number(float('nan'))"}, "parameter `g`", ""),
    "a default of another unit": ({"scheme": "g = cn.param.time('3 KB')"}, "parameter `g`", ""),
    "a bound that is a list": ({"scheme": "mistaken = cn.param.number(1, low=[0])"}, "cannot be [0]", "low=[0]"),
    "the name of a parameter that is taken": ({"scheme": "code = cn.param.integer(1)"}, "cannot be the name of a parameter", ""),
    "chance": ({"head": "import random", "on_sample": "queue.sample_after(1000 * random.random())"}, "random.random", "random.random()"),
    "chance by name": ({"head": "from random import gauss", "on_sample": "queue.sample_after(gauss(1, 2))"}, "random.gauss", "gauss(1, 2)"),
    "chance of numpy": (
        {"head": "import numpy as np", "on_sample": "queue.sample_after(np.random.rand())"}, "numpy.random.rand", "np.random",
    ),
    "a clock": ({"head": "import time", "on_timer": "self.at = time.time()"}, "take the simulated time", "time.time()"),
}


@pytest.mark.parametrize("what", DECLARED)
def test_declarations_that_are_refused(what: str, tmp_path: Path) -> None:
    parts, words, line = DECLARED[what]
    file = tmp_path / "mistaken.py"
    with pytest.raises(cn.SchemeError) as e:
        made(file, **parts)
    text = str(e.value)
    assert words in text and "mistaken" in text and e.value.remedy, text
    if line:
        at = next(n for n, t in enumerate(file.read_text().splitlines(), 1) if line in t)
        assert f"{file}:{at})" in text, text


#: What a callback does wrong in a run: part, words of the error, which names file and line of the part's last line.
RUNS = {
    "an exception": ({"on_feedback": "1 / 0"}, "ZeroDivisionError"),
    "an exception in start": ({"point_start": "1 / 0"}, "CongestionPoint.start"),
    "an exception in __init__": ({"reaction": "def __init__(self):\n    self.x = {}['none']"}, "KeyError"),
    "a NaN rate": ({"on_feedback": "limiter.rate = float('nan')"}, "finite number of bit/s"),
    "a rate above the link": ({"on_feedback": "limiter.rate = 1e15"}, "above the link"),
    "a negative rate": ({"on_feedback": "limiter.rate = -1e9"}, "that is no rate"),
    "a rate that is a text": ({"on_feedback": "limiter.rate = '1 Gb/s'"}, "TypeError"),
    "a rate that is none": ({"on_feedback": "limiter.rate = None"}, "TypeError"),
    "an infinite rate": ({"on_feedback": "limiter.rate = 1e9 / 1e-320"}, "that is no rate"),
    "a negative time": ({"on_feedback": "limiter.start_timer(0, -1e-6)"}, "that is no time"),
    "a NaN time": ({"on_feedback": "limiter.start_timer(0, float('nan'))"}, "that is no time"),
    "an unknown timer": ({"on_feedback": "limiter.start_timer(9, 1e-6)"}, "slots are 0 to 3"),
    "a negative timer": ({"on_feedback": "limiter.start_timer(-1, 1e-6)"}, "slots are 0 to 3"),
    "a timer that is a text": ({"on_feedback": "limiter.start_timer('a', 1e-6)"}, "TypeError"),
    "negative bytes": ({"on_sample": "queue.sample_after(-5)"}, "that is no number of bytes"),
    "a probability above 1": ({"on_sample": "queue.sample_with(1.5)"}, "is no probability"),
    "a ramp that falls": ({"on_sample": "queue.mark(2000, 1000)"}, "the ramp falls"),
    "a misspelt verb": ({"on_feedback": "limiter.engange()"}, "AttributeError"),
    "a misspelt attribute": ({"on_feedback": "limiter.rat = 5"}, "AttributeError"),
    "a parameter that is not there": ({"on_feedback": "self.p.stpe"}, "AttributeError"),
    "a rate that is called": ({"on_feedback": "limiter.rate()"}, "TypeError"),
    "a field that cannot be set": ({"on_sample": "queue.len = 5"}, "AttributeError"),
    "an unknown counter": ({"on_feedback": "limiter.count('cuts')"}, "there is no counter `cuts`"),
    "a value that is returned": ({"on_sample": "return cn.Feedback.User(1, 2)"}, "nobody reads"),
    "a message that is no message": ({"on_sample": "queue.notify(frame.flow, 5)"}, "TypeError"),
    "a message to a frame": ({"on_sample": "queue.notify(frame, cn.Feedback.User(1, 2))"}, "TypeError"),
    "a message out of range": ({"on_sample": "queue.notify(frame.flow, cn.Feedback.Cnm(0, 99, 0, 0))"}, "cannot carry"),
    "a number that does not fit": ({"on_sample": "queue.notify(frame.flow, cn.Feedback.User(-1, 0))"}, "OverflowError"),
    "a parameter that is set": ({"on_feedback": "self.p.step = 5.0"}, "all rooms and all runs share the scheme"),
    "state put on the scheme": ({"on_feedback": "self.p.seen = {}"}, "all rooms and all runs share the scheme"),
    "endless recursion": ({"head": "def deep(n):\n    return deep(n + 1)", "on_feedback": "deep(0)"}, "RecursionError"),
    "endless recursion through C": (
        {"head": "class Deep:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x')", "on_feedback": "Deep().a"},
        "RecursionError",
    ),
    "sys.exit": ({"head": "import sys", "on_feedback": "sys.exit(3)"}, "SystemExit"),
    "exit": ({"on_feedback": "raise SystemExit"}, "SystemExit"),
    "KeyboardInterrupt": ({"on_feedback": "raise KeyboardInterrupt"}, "KeyboardInterrupt"),
    "an exception without words": ({"on_feedback": "raise Exception"}, "raises Exception"),
    "an assertion": ({"on_feedback": "assert limiter.rate < 0, 'never'"}, "AssertionError: never"),
    "engages that raises": ({"scheme": "def engages(self, feedback):\n    return 1 / 0"}, "mistaken.engages"),
    "engages without an answer": ({"scheme": "def engages(self, feedback):\n    pass"}, "return True or False"),
    "a message to nobody": ({"on_sample": "queue.notify(999_999, cn.Feedback.User(1, 2))"}, "999999"),
    "a timer of zero for ever": ({"on_feedback": "limiter.start_timer(0, 0)", "on_timer": "limiter.start_timer(0, 0)"}, "timer"),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_run_ends_with_place_and_time(what: str, tmp_path: Path) -> None:
    parts, words = RUNS[what]
    made(tmp_path / "mistaken.py", **parts)
    with pytest.raises(cn.CnsimError) as e:
        HOP.with_(scheme="mistaken").run(threads=1)
    text = str(e.value)
    assert words in text and "mistaken" in text and "seed 1" in text and "us" in text, text
    if e.value.__cause__ is not None and "__init__" not in what and "engages" not in what:
        assert f"{tmp_path}/mistaken.py:" in text, text


#: What does no harm.
HARMLESS = {
    "a time beyond all time": {"on_timer": "limiter.start_timer(0, 1e300)"},
    "nothing": {},
    "a table": {"reaction": "table = (1, 2, 3)\nwords = frozenset({'a'})"},
    "a mapping that never changes": {"head": "from types import MappingProxyType", "scheme": "table = MappingProxyType({1: 2})"},
    "constants": {"head": "import re, enum, decimal, math", "reaction": "gain = decimal.Decimal('0.5')\nword = re.compile('a')\npi = math.pi"},
    "a dataclass": {"head": "import dataclasses", "reaction": "count: int = 0\ndef helper(self, more=()):\n    return more"},
    "slots": {"reaction": "__slots__ = ('seen',)"},
    "a property": {"reaction": "@property\ndef half(self):\n    return self.p.step / 2"},
    "a static method": {"reaction": "@staticmethod\ndef half(x):\n    return x / 2"},
    "no super": {"reaction": "def __init__(self):\n    self.seen = {}"},
    "a docstring": {"reaction": "'''A room.'''\nTIMER = 0"},
    "a number of numpy": {"head": "import numpy as np", "on_timer": "limiter.rate = np.float64(1e9)"},
    "memory by functools": {"head": "import functools", "reaction": "@staticmethod\n@functools.lru_cache\ndef root(x):\n    return x ** 0.5"},
    "chance with a seed of its own": {"head": "import random", "point": "def __init__(self):\n    self.own = random.Random(7)"},
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_does_no_harm(what: str, tmp_path: Path) -> None:
    made(tmp_path / "mistaken.py", **HARMLESS[what])
    one, two = (HOP.with_(scheme="mistaken").run(seeds=2, threads=1) for _ in range(2))
    assert one.fingerprints == two.fingerprints


def test_state_of_a_base_is_refused(tmp_path: Path) -> None:
    """The error names the base, its file and line."""
    file = tmp_path / "mistaken.py"
    text = TEXT.format(**{k: textwrap.indent(v, " " * _DEEP.get(k, 12)) for k, v in PARTS.items()})
    text = text.replace("\n@cn.scheme", "class Base(cn.ReactionPoint):\n    seen = {}\n\n@cn.scheme").replace("ReactionPoint(cn.ReactionPoint)", "ReactionPoint(Base)")
    file.write_text(text)
    with pytest.raises(cn.SchemeError, match="of its base Base, is a dict") as e:
        exec(compile(text, str(file), "exec"), {"__name__": "mistaken"})
    assert "all rooms and all runs would share it" in str(e.value)


def test_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    """What a run leaves behind reaches no later run: the same seed gives the same messages three times."""
    made(tmp_path / "mistaken.py", reaction="def start(self, limiter):\n    self.seen = {}", on_feedback="self.seen[len(self.seen)] = 1\nlimiter.engage()\nlimiter.rate = max(limiter.rate / (1 + len(self.seen)), 10e6)")
    s = HOP.with_(scheme="mistaken")
    assert s.run().fingerprints == s.run().fingerprints == HOP.with_(scheme="mistaken").run().fingerprints
