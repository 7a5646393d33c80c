"""Scenarios: named, from a file, or built from parts."""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _cnsim, _values
from .errors import ResultsWarning, ScenarioError
from .schemes import Scheme, name_of, registered, registry

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .results import Results
    from .sweeps import Sweep

__all__ = ["Case", "Scenario", "build", "scenario", "sweep"]

Pause = Literal["on", "off", "global"] | bool


class Case(tuple[str, str, str]):
    """A cell of a scenario's matrix: condition, PAUSE mode and scheme."""

    @property
    def condition(self) -> str:
        """The condition, as the scenario's template writes it."""
        return self[0]

    @property
    def pause(self) -> str:
        """PAUSE mode: on, off or global."""
        return self[1]

    @property
    def scheme(self) -> str:
        """Name of the scheme."""
        return self[2]


def pause_word(value: Any) -> str:
    """The word for a PAUSE mode."""
    word = ("on" if value else "off") if isinstance(value, bool) else value
    if not isinstance(word, str) or word not in ("on", "off", "global"):
        remedy = one_of("pause", value, 'give "on", "off", "global", True or False')
        raise ScenarioError(f"pause={value!r}", remedy, key="pause")
    return str(word)


def scheme_word(value: Any) -> str | None:
    """The name of a scheme, given as a name or as a registered class."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, type) and issubclass(value, Scheme):
        return name_of(value)
    raise ScenarioError(f"scheme={value!r}", one_of("scheme", value, 'give the name of a scheme, as cn.list("schemes") shows them'), key="scheme")


def one_of(name: str, value: Any, otherwise: str) -> str:
    """The remedy for several values where one is due: a sweep."""
    several = isinstance(value, (list, tuple, set)) and all(isinstance(v, str) for v in value)
    return f"give one; for several write cn.sweep(s, {name}={list(value)!r})" if several else otherwise


class Scenario:
    """A network, its traffic, its events and a scheme. A scenario never changes; ``with_`` returns another."""

    _what: str
    _text: str | None
    _sets: tuple[tuple[str, str], ...]
    _scheme: str | None
    _pause: str | None
    _condition: str | None
    _about: dict[str, Any]
    _read: _cnsim.Scenario

    def __init__(
        self,
        what: str,
        text: str | None = None,
        sets: Sequence[tuple[str, str]] = (),
        scheme: str | None = None,
        pause: str | None = None,
        condition: str | None = None,
        *,
        numbers: Collection[str] = (),
    ) -> None:
        schemes = () if scheme is None else (scheme,)
        read, written = _values.settled(
            lambda pairs: _cnsim.Scenario(registry(), what, text, pairs, list(schemes)), sets, numbers
        )
        self.__dict__.update(
            _what=what, _text=text, _sets=tuple(written), _scheme=scheme, _pause=pause, _condition=condition,
            _read=read, _about=json.loads(read.about()),
        )  # fmt: skip

    def __setattr__(self, name: str, value: object) -> None:
        said = f"{name}=..." if name in ("scheme", "pause", "condition") else "KEY=..."
        raise AttributeError(f"a scenario never changes, so `{name}` cannot be set\n  help: write s = s.with_({said})")

    def _native(self, schemes: Sequence[str]) -> _cnsim.Scenario:
        return _cnsim.Scenario(registry(), self._what, self._text, list(self._sets), list(schemes))

    def _asked(self) -> dict[str, str | None]:
        return {"scheme": self._scheme, "pause": self._pause, "condition": self._condition}

    @property
    def id(self) -> str:
        """Identity of the scenario, ``STUDY/NAME``."""
        return str(self._about["id"])

    @property
    def title(self) -> str:
        """Heading of the scenario."""
        return str(self._about["title"])

    @property
    def question(self) -> str:
        """The question that the scenario asks."""
        return str(self._about["question"])

    @property
    def source(self) -> str:
        """The publication that the scenario comes from."""
        return str(self._about["source"])

    @property
    def cases(self) -> list[Case]:
        """The cells of the scenario's matrix."""
        return [Case(c) for c in self._about["cases"]]

    @property
    def sets(self) -> dict[str, str]:
        """Keys that were set, with their values."""
        return dict(self._sets)

    @property
    def scheme(self) -> str | None:
        """The chosen scheme; none if the scenario's first case decides."""
        return self._scheme

    @property
    def pause(self) -> str | None:
        """The chosen PAUSE mode; none if the scenario decides."""
        return self._pause

    @property
    def condition(self) -> str | None:
        """The chosen condition; none if the scenario's first case decides."""
        return self._condition

    def with_(
        self,
        keys: Mapping[str, Any] | None = None,
        *,
        scheme: str | type[Scheme] | None = None,
        pause: Pause | None = None,
        condition: str | None = None,
        **more: Any,
    ) -> Scenario:
        """The same scenario with another scheme, PAUSE mode, condition or value of a key.

        Keys are those of scenario files; ``hotspot__rate=...`` is ``{"hotspot.rate": ...}``. A number without a unit is bit/s,
        seconds or bytes, depending on the key. All keys and values are checked at once.
        """
        if not isinstance(keys or {}, Mapping):
            raise ScenarioError(f"{keys!r} is no mapping of keys", 'write with_({"hotspot.rate": "1 Gb/s"})', key="keys")
        if condition is not None and not isinstance(condition, str):
            remedy = one_of("condition", condition, f'give a text such as "{self.cases[0].condition}"')
            raise ScenarioError(f"condition={condition!r}", remedy, key="condition")
        given = {**(keys or {}), **more}
        new = {**dict(self._sets), **dict(_values.sets(given))}
        return Scenario(
            self._what,
            self._text,
            list(new.items()),
            scheme_word(scheme) or self._scheme,
            pause_word(pause) if pause is not None else self._pause,
            condition if condition is not None else self._condition,
            numbers=_values.unitless(given),
        )

    def config(self) -> dict[str, Any]:
        """The effective configuration: every key that is read, with its value."""
        config: dict[str, Any] = json.loads(self._read.plan_run(self._asked(), 1, 1, False).config(0))
        return config

    def estimate(self, seeds: int = 1) -> dict[str, float]:
        """The cost of the runs: packet-hops and CPU-seconds of all runs, bytes of memory of one."""
        plan = self._read.plan_run(self._asked(), 1, _values.count("seeds", seeds), False)
        return dict(zip(("packet_hops", "cpu_seconds", "memory"), plan.estimate(), strict=True))

    def run(
        self,
        seeds: int = 1,
        *,
        seed: int = 1,
        series: Literal["key", "all"] = "key",
        out: str | os.PathLike[str] | None = None,
        threads: int = 0,
        executor: Executor | str | None = None,
        progress: bool | None = None,
        force: bool = False,
    ) -> Results:
        """Runs one case with consecutive seeds, from ``seed`` on.

        ``out`` is a folder that keeps finished runs, as ``--out`` does; they are not repeated. ``threads`` is the number of
        threads of this process (0: by the machine). ``executor`` does the runs elsewhere. ``progress`` shows a bar (none: on
        a terminal or in a notebook). Ctrl-C ends the runs, and ``out`` keeps the finished ones.
        """
        from .running import Running

        if series not in ("key", "all"):
            raise ScenarioError(f"series={series!r}", 'give "key" or "all"', key="series")
        first = _values.count("seed", seed, 0, 2**63)
        plan = self._read.plan_run(self._asked(), first, _values.count("seeds", seeds), series == "all")
        running = Running(out=out, threads=threads, executor=executor, progress=progress, force=force)
        return self._results(running.run(plan))

    def reproduce(
        self,
        seeds: int | None = None,
        *,
        out: str | os.PathLike[str] | None = None,
        threads: int = 0,
        executor: Executor | str | None = None,
        progress: bool | None = None,
        force: bool = False,
    ) -> Results:
        """Runs the whole matrix and all published cases; ``summary()`` then shows published beside measured values."""
        from .running import Running

        plan = self._read.plan_all(None if seeds is None else _values.count("seeds", seeds))
        running = Running(out=out, threads=threads, executor=executor, progress=progress, force=force)
        return self._results(running.run(plan))

    def sweep(self, *args: Any, **over: Any) -> Sweep:
        """Runs :func:`cnsim.sweep` on this scenario."""
        return sweep(self, *args, **over)

    def _results(self, records: list[_cnsim.Record]) -> Results:
        from .results import Results

        results = Results(records, [self])
        if notes := results.notes:
            more = f" (and {len(notes) - 1} more: see r.notes)" if len(notes) > 1 else ""
            warnings.warn(f"{notes[0]}{more}", ResultsWarning, stacklevel=3)
        return results

    def _schemes(self) -> list[str]:
        """The schemes in Python that the scenario may run."""
        named = {c.scheme for c in self.cases} | ({self._scheme} if self._scheme else set())
        return [name for name in registered() if name in named]

    def _parts(self) -> tuple[Any, ...]:
        return self._what, self._text, self._sets, self._scheme, self._pause, self._condition

    def __reduce__(self) -> tuple[object, ...]:
        from ._work import packed

        names = self._schemes()
        return _again, (packed(names) if names else b"", self._parts())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        said = [("scheme", self._scheme), ("pause", self._pause), ("condition", self._condition), *self._sets]
        return f"<Scenario {self.id}{''.join(f', {k} {v}' for k, v in said if v is not None)}>"

    def _repr_html_(self) -> str:
        rows = [("scheme", self._scheme), ("PAUSE", self._pause), ("condition", self._condition), *self._sets]
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows if v
        )
        return (
            f"<div><b>{html.escape(self.id)}</b> {html.escape(self.title)}<p>{html.escape(self.question)}</p>"
            f"<table>{cells}</table><small>{len(self.cases)} cases. {html.escape(self.source)}</small></div>"
        )


def _again(schemes: bytes, parts: tuple[Any, ...]) -> Scenario:
    """A scenario that was pickled, with its schemes in Python."""
    if schemes:
        from ._work import unpacked

        unpacked(schemes)
    return Scenario(*parts)


def scenario(what: str | os.PathLike[str], **keys: Any) -> Scenario:
    """A scenario by its name, such as ``"B07/single-hop"``, or from a file that ends in ``.toml``."""
    if not isinstance(what, (str, os.PathLike)):
        raise ScenarioError(f"{what!r} is no scenario", "give a name or the path of a file", key="scenario")
    name = os.fspath(what)
    if not isinstance(name, str):
        raise ScenarioError(f"{what!r} is no scenario", "give a name or the path of a file", key="scenario")
    # A scenario that is pickled for another process refers to its file by an absolute path.
    path = Path(name)
    found = Scenario(str(path.resolve()) if name.endswith(".toml") and path.exists() else name)
    return found.with_(**keys) if keys else found


def sweep(
    what: Scenario | str,
    over: Mapping[str, Any] | None = None,
    *,
    scheme: str | Sequence[str] | None = None,
    pause: Any = None,
    condition: str | None = None,
    seeds: int | None = None,
    until: str | Mapping[str, str] | None = None,
    executor: Executor | str | Any = None,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    progress: bool | None = None,
    force: bool = False,
    **keys: Any,
) -> Sweep:
    """Runs a grid over keys: every point under each PAUSE mode with each scheme and all seeds.

    ``hotspot__rate=["2 Gb/s", "0"]`` varies a key over a list, ``"8 us..1 ms/5/log"`` over a range, as ``cnsim sweep --over``.
    If a run of a point fails, the other points go on. ``Sweep.failed`` lists the point, and a :class:`cnsim.SweepWarning` is given.
    ``until="1%"`` adds seeds until half the 95 % interval of each point's mean is at most that share of the mean. It applies to
    aggregate_throughput, or to the metrics of a mapping such as ``{"overhead": "5%"}``. :meth:`cnsim.Scenario.run` describes
    ``executor``, ``out`` and the others. Without ``executor`` the runs are done on the threads of this process.
    """
    from .running import Running
    from .sweeps import swept

    base = scenario(what) if isinstance(what, (str, os.PathLike)) else what
    if not isinstance(base, Scenario):
        raise ScenarioError(f"{what!r} is no scenario", "give a scenario or its name", key="scenario")
    schemes = [str(scheme_word(s)) for s in _words(scheme)]
    pauses = [pause_word(p) for p in _words(pause)]
    text = [_over(base, k, v) for k, v in {**(over or {}), **keys}.items()]
    asked = {**base._asked(), **({"condition": condition} if condition is not None else {})}
    if schemes:
        asked["scheme"] = schemes[0]
    native = base._native(schemes) if schemes else base._read
    count = _values.count("seeds", seeds) if seeds is not None else 5 if until is None else 4
    running = Running(out=out, threads=threads, executor=executor, progress=progress, force=force)
    return swept(base, native, asked, text, schemes, pauses, count, until, running)


def _over(base: Scenario, name: str, values: Any) -> str:
    """An axis in the form of the command line; a number without a unit takes the unit of its key."""
    key = _values.key(name)
    if isinstance(values, str):
        return f"{key}={values}"
    try:
        listed = list(values)
    except TypeError:
        listed = [values]
    if not listed:
        raise ScenarioError(f"`{key}` has no value to sweep over", "give at least one", key=key)

    def text(value: Any) -> str:
        return base.with_({key: value}).sets[key] if _values.is_number(value) else _values.text(key, value)

    return f"{key}=" + ",".join(map(text, listed))


def _words(value: str | Sequence[Any] | None) -> list[Any]:
    if value is None:
        return []
    return [value] if isinstance(value, (str, bool, type)) else list(value)


def build(
    name: str,
    *,
    topology: Mapping[str, Any] | Any = None,
    scheme: str | Sequence[str] = "none",
    pause: Pause = "on",
    study: str = "my",
    title: str = "",
    **tables: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> Scenario:
    """A scenario from parts: each table of a scenario file is a mapping of keys, and a list of tables (``traffic``) a list of them.
    ``class_`` is a list of ``[[class]]`` tables, as ``class`` is a word of Python; ``pause_`` is the table ``[pause]``, ``scheme_`` that
    of schemes.

    ``topology`` may be a networkx graph, whose nodes of degree one are hosts; the others are switches. Its edges may have
    ``rate`` and ``delay``.

    >>> import cnsim as cn
    >>> cn.build("two", topology={"kind": "single-switch", "hosts": 3}, workload={"load": "50 %"}, run={"duration": "1 ms"}).id
    'my/two'
    """
    from .topology import lines

    schemes = [scheme] if isinstance(scheme, str) else list(scheme)
    head = {"study": study, "name": name, "title": title or name}
    text = "".join(f"{key} = {_quoted(value)}\n" for key, value in head.items())
    parts: dict[str, Any] = {"topology": lines(topology), **{table.removesuffix("_"): given for table, given in tables.items()}}
    parts["matrix"] = {"pause": [pause_word(pause)], "schemes": schemes}
    for table, given in parts.items():
        several = isinstance(given, (list, tuple))
        for keys in given if several else [given]:
            if not isinstance(keys, Mapping):
                raise ScenarioError(f"`{table}` is {keys!r}", "give a mapping of keys to values", key=table)
            text += f"\n[[{table}]]\n" if several else f"\n[{table}]\n"
            text += "".join(f"{_quoted(key) if '.' in key else key} = {_toml(key, value)}\n" for key, value in keys.items())
    return Scenario(f"{name} (built)", text)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _toml(key: str, value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(key, v) for v in value) + "]"
    return _quoted(_values.text(key, value))
