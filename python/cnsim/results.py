"""Results of runs: metrics, series, tables, figures."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from . import _cnsim
from .errors import CnsimError, UnknownName, near
from .lists import Listing, list_
from .series import Series

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import xarray
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .cards import Card
    from .map import Map
    from .plot import Line
    from .tables import Table

__all__ = ["Estimate", "Flow", "Results", "Series", "load"]


@dataclass(frozen=True)
class Estimate:
    """A metric over some runs: mean, the 95 % interval of the mean, and the values by seed."""

    metric: str
    """Name of the metric."""
    unit: str
    """Unit of all numbers; empty for a share."""
    values: tuple[float, ...]
    """The value of each run."""
    at_least: bool = False
    """Some values are lower bounds, as flows were unfinished. The mean is then a lower bound without an interval."""

    @property
    def mean(self) -> float:
        """Mean of the values."""
        return self._of[0]

    @property
    def ci95(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean; none for one run, and for lower bounds."""
        return self._of[1]

    @property
    def half(self) -> float:
        """Half the length of the interval, NaN without one. The ends may lie unevenly about the mean."""
        return (self.ci95[1] - self.ci95[0]) / 2 if self.ci95 else float("nan")

    @property
    def _of(self) -> tuple[float, tuple[float, float] | None, float]:
        found = _cnsim.interval(list(self.values), metric=self.metric, bound=self.at_least)
        if found is None:
            raise CnsimError(f"`{self.metric}` was measured in no run", "look at r.metrics for what was", key=self.metric)
        return found

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return _measured(self.mean, self.ci95, self.at_least) + unit


def _measured(mean: float, ci95: Sequence[float] | None, at_least: bool = False) -> str:
    """A mean and its interval: ``8.31 ± 0.21``, or both ends if they lie unevenly; ``≥ 8.31`` for a lower bound."""
    import math

    mark = "≥ " if at_least else ""
    if ci95 is None or not ci95[1] > ci95[0]:
        return f"{mark}{mean:.6g}"
    low, high = ci95
    places = max(0, 1 - math.floor(math.log10((high - low) / 2)))
    half = _cnsim.plus_minus(mean, low, high)
    if half is None:
        return f"{mean:.{places}f} ({low:.{places}f} to {high:.{places}f})"
    return f"{mean:.{places}f} ± {half:.{places}f}"


@dataclass(frozen=True)
class Flow:
    """A complete finite flow: where its time went. All times are seconds."""

    name: str
    """``H10>H5``, or ``H10>H5#2`` for the second of its hosts."""
    traffic: str
    """Name of its ``[[traffic]]`` table; empty without one."""
    class_: str
    """Name of its ``[[class]]``, where the run has several."""
    bytes: int
    """Payload."""
    start: float
    """Start."""
    completion: float
    """From the start to the end that ``record.completion`` asks for."""
    alone: float
    """The same, alone in the network."""
    parts: dict[str, float]
    """The parts of its time, in the order of the chain of causes; they add up to ``completion``."""
    ports: tuple[dict[str, Any], ...]
    """The ports on the way of its last frame, each with the times in the queue, in XOFF, onto the link and over it."""
    cuts: tuple[dict[str, Any], ...]
    """What lowered its rate or window: the ten cuts that cost most, by time, each with cause, port of the queue, moment, rate in bit/s and
    window in bytes from then on, and the time that the flow waited until the next cut."""
    cut_by: tuple[dict[str, Any], ...]
    """All cuts by cause and port: how many, and what they cost."""
    ahead: tuple[dict[str, Any], ...]
    """Behind whom its last frame waited at each port, and how long, where ``record.flow_events`` names the flow."""
    label: str = ""
    """The run."""

    def time(self) -> dict[str, float]:
        """The parts of its time that are not zero, the longest first."""
        return dict(sorted(((k, v) for k, v in self.parts.items() if v > 0), key=lambda part: -part[1]))

    @classmethod
    def _of(cls, row: dict[str, Any], run: _cnsim.Record) -> Flow:
        ports = tuple({k: v if k == "port" else v / 1e12 for k, v in at.items()} for at in row["ports"])
        parts = {part: row["parts"][part] / 1e12 for part in _cnsim.FLOW_PARTS}
        start, time, alone = (row[key] / 1e12 for key in ("start", "time", "alone"))
        label = f"{run.scheme}, seed {run.seed}"
        cuts, sums, ahead = (
            tuple({k: v / 1e12 if k in ("at", "cost", "time") else v for k, v in cut.items()} for cut in row[key])
            for key in ("cuts", "cut_by", "ahead")
        )
        head = (row["flow"], row["traffic"], row["class"], row["bytes"])
        return cls(*head, start, time, alone, parts, ports, cuts, sums, ahead, label)


def metrics() -> Listing:
    """All metrics of cnsim."""
    return list_("metrics")


def metric_named(name: str) -> dict[str, Any]:
    """A metric by its name; the error for an unknown name proposes a similar one."""
    known = metrics()
    for row in known:
        if row["name"] == name:
            return row
    raise UnknownName(
        f"there is no metric `{name}`", f'{near(str(name), known.names)}cn.list("metrics") shows them', key="metric"
    )


def estimate(runs: Iterable[_cnsim.Record], name: str, unit: str) -> Estimate:
    """A metric over the runs that have it."""
    having = [r for r in runs if name in r.metrics]
    return Estimate(name, unit, tuple(r.metrics[name] for r in having), any(name in r.at_least for r in having))


class Read(Protocol):
    """A scenario that has been read, which leads to its published values."""

    _read: _cnsim.Scenario


class Results:
    """Finished runs. An item is one run; ``summary()``, ``table()`` and ``plot()`` cover all of them."""

    def __init__(self, records: Sequence[_cnsim.Record], scenarios: Sequence[Read] = ()) -> None:
        self._records, self._scenarios = list(records), list(scenarios)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, at: int) -> _cnsim.Record: ...
    @overload
    def __getitem__(self, at: slice) -> Results: ...
    def __getitem__(self, at: int | slice) -> _cnsim.Record | Results:
        if isinstance(at, slice):
            return Results(self._records[at], self._scenarios)
        return self._records[at]

    def __iter__(self) -> Iterator[_cnsim.Record]:
        return iter(self._records)

    def only(
        self, *, scheme: str | None = None, pause: str | None = None, condition: str | None = None, seed: int | None = None
    ) -> Results:
        """The runs of one scheme, PAUSE mode, condition or seed."""
        wanted = {"scheme": scheme, "pause": pause, "condition": condition, "seed": seed}
        keep = [r for r in self if all(v is None or getattr(r, k) == v for k, v in wanted.items())]
        return Results(keep, self._scenarios)

    @property
    def notes(self) -> list[str]:
        """What may mislead about these runs, as ``cnsim run`` says it before its tables: networks that froze, flows that were not
        received whole, conclusions to be careful with. Mostly none."""
        return _cnsim.notes(self._records)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that were measured."""
        found: dict[str, None] = {}
        for r in self:
            found.update(dict.fromkeys(r.metrics))
        return list(found)

    def metric(self, name: str) -> Estimate:
        """A metric over all these runs."""
        if all(name not in r.metrics for r in self):
            counted = [r.counters[name] for r in self if name in r.counters]
            if counted:
                return Estimate(name, "", tuple(map(float, counted)))
        about = metric_named(name)
        return estimate(self, name, str(about["unit"]))

    def summary(self, metrics: Sequence[str] | None = None) -> Summary:
        """Published values beside measured ones, with verdicts; one row a case and metric."""
        for name in metrics or ():
            metric_named(name)
        rows = json.loads(_cnsim.cells(self._records, [s._read for s in self._scenarios]))
        return Summary(row for row in rows if metrics is None or row["metric"] in metrics)

    @property
    def series_names(self) -> list[str]:
        """Names of the time series that were kept."""
        found: dict[str, None] = {}
        for r in self:
            found.update(dict.fromkeys(r.series_names()))
        return list(found)

    def series(self, name: str) -> Series:
        """A time series of the first run that has it."""
        for r in self:
            found = r.series(name)
            if found is not None:
                return Series(name, *found, label=f"{r.scheme}, seed {r.seed}")
        remedy = f"{near(name, self.series_names)}there are {', '.join(self.series_names) or 'none'}"
        raise UnknownName(f"there is no series `{name}`", remedy, key="series")

    def flows(self) -> list[Flow]:
        """The complete finite flows of all these runs, each with the parts of its time, where the runs kept them (``record.trips``)."""
        return [Flow._of(row, r) for r in self for row in json.loads(r.spent()) or ()]

    def flow(self, name: str) -> Flow:
        """A flow such as ``"H10>H5"`` or ``"H10>H5#2"``, in the first of these runs that has it."""
        known: dict[str, None] = {}
        for r in self:
            rows = json.loads(r.spent()) or ()
            for row in rows:
                if row["flow"].lower() == name.replace(" ", "").removesuffix("#1").lower():
                    return Flow._of(row, r)
            known.update(dict.fromkeys(row["flow"] for row in rows))
        if not known:
            raise CnsimError("these runs kept no parts of flows", 'run with record={"trips": "on"}', key="record.trips")
        raise UnknownName(f"no flow `{name}` is complete", f"{near(name, list(known))}r.flows() has all", key="flow")

    def map(self) -> Map:
        """The network of the first of these runs that kept its ports over time (``record.map``): in a notebook it plays."""
        from .map import Map

        for r in self:
            if r.map_ports() is not None:
                return Map(r)
        raise CnsimError("these runs kept no ports over time", 'run with record={"map": "on"}', key="record.map")

    def time_by_part(self) -> Table:
        """Where the time of flows went: a row for each run, name of traffic and class, with the mean time of a flow by part in us."""
        from .tables import _labels, metadata, rows

        table: list[dict[str, Any]] = []
        for r in self:
            of: dict[tuple[str, str], list[dict[str, Any]]] = {}
            for row in json.loads(r.spent()) or ():
                of.setdefault((row["traffic"], row["class"]), []).append(row)
            for (traffic, class_), all_ in of.items():
                mean = {f"{p}_us": sum(f["parts"][p] for f in all_) / len(all_) / 1e6 for p in _cnsim.FLOW_PARTS}
                time = sum(f["time"] for f in all_) / len(all_) / 1e6
                table.append(_labels(r) | {"traffic": traffic, "class": class_, "flows": len(all_), "time_us": time} | mean)
        if not table:
            raise CnsimError("these runs kept no parts of flows", 'run with record={"trips": "on"}', key="record.trips")
        units = {name: "us" for name in table[0] if name.endswith("_us")}
        return rows(table, units=units, metadata=metadata(self))

    def queue(self, port: str | None = None) -> Series:
        """The queue of a port such as ``"S>H0"``; the default is the first port that the scenario names."""
        return self.series("hot_queue" if port is None else f"queue {port}")

    def table(self, what: str = "metrics") -> Table:
        """An Arrow table: ``metrics``, ``series``, ``flows``, ``events``, ``traffic``, ``classes``, ``ports``, ``xoff``, ``counters`` or ``summary``.
        polars, pandas, pyarrow and DuckDB read it directly. Its metadata has units and the effective configuration."""
        from .tables import table

        return table(self._records, what, lambda: self.summary().flat)

    def to_polars(self, what: str = "metrics") -> polars.DataFrame:
        """A table as polars; needs ``cnsim[polars]``."""
        return self.table(what).to_polars()

    def to_pandas(self, what: str = "metrics") -> pandas.DataFrame:
        """A table as pandas, with the units in ``.attrs["units"]``; needs ``cnsim[pandas]``."""
        return self.table(what).to_pandas()

    def to_xarray(self, what: Literal["metrics", "series"] = "metrics") -> xarray.Dataset:
        """The metrics, or the time series over ``time``, as variables with their units; needs ``cnsim[xarray]``.

        The axes are the swept keys, condition, PAUSE mode and scheme where there are several, and the seed. A metric that was not
        measured is NaN.
        """
        from .arrays import dataset

        return dataset(self._placed(), what)

    def _placed(self) -> list[tuple[dict[str, Any], _cnsim.Record]]:
        """Each run with its place on each axis."""
        labels = ("study", "scenario", "condition", "pause", "scheme", "seed")
        return [({k: getattr(r, k) for k in labels}, r) for r in self]

    def __array__(self, *_: object, **__: object) -> NDArray[np.float64]:
        raise TypeError("results are no array: write r.to_pandas(), pandas.DataFrame(r.table()) or r.to_xarray()")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def to_parquet(self, path: str | os.PathLike[str], what: str = "metrics") -> Path:
        """Writes a table as Parquet, with units and the effective configuration in its metadata; needs ``cnsim[parquet]``."""
        from .tables import write_parquet

        return write_parquet(self.table(what), Path(path))

    def save(self, out: str | os.PathLike[str], command: str = "python", *, force: bool = False) -> Path:
        """Writes ``results.json`` and the series into a folder, as the program does; ``cnsim verify`` and ``compare`` read it.

        The folder then holds these results alone: earlier files of cnsim are removed. Files of others are never touched. Only
        ``force`` writes over those that have the name of a file of cnsim.
        """
        return _cnsim.save(self._records, Path(out), command, force)

    def plot(self, name: str | None = None, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws a time series, one line for each case. Several seeds are a mean, in a band from the smallest to the largest
        value. Returns matplotlib axes."""
        from .plot import bands

        if not self._records:
            raise CnsimError("there is no run to draw", "run the scenario first")
        chosen = name or ("hot_queue" if "hot_queue" in self.series_names else self.series_names[0])
        many = len({(r.condition, r.pause) for r in self}) > 1
        drawn: dict[tuple[str, ...], list[Line]] = {}
        for case, runs in self._cases().items():
            for r in runs:
                found = r.series(chosen)
                if found is not None:
                    words = [r.scheme, f"PAUSE {r.pause}", r.condition] if many else [r.scheme]
                    drawn.setdefault(case, []).append(Series(chosen, *found, label=", ".join([*words, f"seed {r.seed}"]))._line())
        if not drawn:
            self.series(chosen)
        return bands(list(drawn.values()), ax, **line)

    def plot_xoff(self, ax: Axes | None = None) -> Axes:
        """Draws how XOFF spreads in the first of these runs. Each port is a row, in groups by its place in the network, darker the
        longer it was in XOFF. ``r.only(scheme="dcqcn").plot_xoff()`` draws another case. Returns matplotlib axes."""
        from .plot import strip

        if not self._records:
            raise CnsimError("there is no run to draw", "run the scenario first")
        first = self._records[0]
        part, ports = first.xoff()
        rows = [(x["port"], ", ".join(filter(None, (x["tier"], x.get("class")))), x["percent"]) for x in json.loads(ports)]
        if not rows:
            raise CnsimError(f"no port of {first.scheme}, PAUSE {first.pause}, was in XOFF", "choose a run with PAUSE", key="xoff")
        return strip(rows, part * len(rows[0][2]) * 1e3, ax, title=f"{first.scheme}, seed {first.seed}")

    @property
    def fingerprints(self) -> list[dict[str, str]]:
        """Hashes over events, frames and samples of each run: equal for equal results."""
        return [r.fingerprint for r in self]

    def _cases(self) -> dict[tuple[str, str, str, str], list[_cnsim.Record]]:
        cases: dict[tuple[str, str, str, str], list[_cnsim.Record]] = {}
        for r in self:
            cases.setdefault((f"{r.study}/{r.scenario}", r.condition, f"PAUSE {r.pause}", r.scheme), []).append(r)
        return cases

    def __repr__(self) -> str:
        cases = self._cases()
        lines = [f"  {', '.join(case)}: {len(runs)} seeds" for case, runs in list(cases.items())[:8]]
        if len(cases) > 8:
            lines.append(f"  and {len(cases) - 8} more cases")
        return f"<Results of {len(self)} runs\n" + "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        from .cards import cards

        cases = list(self._cases().items())
        return cards([Results(runs)._card(case) for case, runs in cases[:12]], len(cases) - 12)

    def _card(self, case: Sequence[str]) -> Card:
        from .cards import MAIN, Card

        shown = [m for m in MAIN if m in self.metrics] or self.metrics[:6]
        series = next((self.series(n) for n in ("hot_queue", "aggregate_throughput") if n in self.series_names), None)
        drawn = None if series is None else (series.name, series.unit, series.values.tolist())
        return Card(case, len(self), [(m, str(self.metric(m))) for m in shown], drawn, self.notes)


class Summary(list[dict[str, Any]]):
    """Published beside measured: rows with study, scenario, condition, pause, scheme, metric, unit, published, measured, ci95,
    pi95, at_least, seeds, verdict and note."""

    _SHOWN = ("condition", "pause", "scheme", "metric", "unit", "published", "measured", "verdict")

    def _lines(self) -> list[list[str]]:
        def shown(row: dict[str, Any], column: str) -> str:
            if column == "measured":
                return _measured(row["measured"], row["ci95"], row["at_least"])
            value = row[column]
            return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)

        return [[shown(row, column) for column in self._SHOWN] for row in self]

    @property
    def table(self) -> Table:
        """The rows as an Arrow table."""
        from .tables import rows

        return rows(self.flat)

    @property
    def flat(self) -> list[dict[str, Any]]:
        """The rows with a column for each end of an interval."""
        return [{k: v for k, v in r.items() if k not in ("ci95", "pi95")} | _ends(r) for r in self]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        lines = [list(self._SHOWN), *self._lines()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._SHOWN))]
        return "\n".join("  ".join(f"{cell:{w}}" for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self._SHOWN)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in line) + "</tr>" for line in self._lines())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _ends(row: dict[str, Any]) -> dict[str, Any]:
    both = {"ci95": row["ci95"], "pi95": row["pi95"]}
    return {f"{k}_{end}": (v[i] if v else None) for k, v in both.items() for i, end in enumerate(("low", "high"))}


def load(path: str | os.PathLike[str]) -> Results:
    """Reads a ``results.json`` that the program or ``Results.save`` wrote, with the series and the times of flows beside it."""
    where = Path(path)
    where = where / "results.json" if where.is_dir() else where
    return Results(_cnsim.load(where))
