"""Grids over keys, schemes and PAUSE modes, with paired comparisons."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _cnsim, _values
from .errors import CnsimError, ScenarioError, SweepWarning
from .results import Read, Results, estimate, metric_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .running import Running
    from .tables import Table

__all__ = ["Comparison", "Point", "Sweep", "swept"]

#: Largest number of seeds with `until`.
MOST_SEEDS = 256


class Point(Results):
    """The runs of one point of a sweep. ``failed`` is the first seed that failed with its reason (``seed 2: ...``), or none."""

    def __init__(
        self,
        records: Sequence[_cnsim.Record],
        scenarios: Sequence[Read],
        values: Mapping[str, str],
        condition: str,
        pause: str,
        scheme: str,
        failed: str | None = None,
    ) -> None:
        super().__init__(records, scenarios)
        self.values, self.condition, self.pause, self.scheme = dict(values), condition, pause, scheme
        self.failed = failed

    @property
    def name(self) -> str:
        """The swept keys with their values, PAUSE mode and scheme."""
        return ", ".join([*(f"{k}={v}" for k, v in self.values.items()), f"PAUSE {self.pause}", self.scheme])

    def __repr__(self) -> str:
        return f"<Point {self.name}: {'failed' if self.failed else f'{len(self)} runs'}>"


class Comparison(list[dict[str, Any]]):
    """Differences from a baseline, paired by seed: rows with the swept values, pause, scheme, baseline, metric, unit, seeds,
    difference, ci95_low, ci95_high and verdict. The verdict is higher, lower or undecided, with the reason unless the interval holds
    zero. Means over different finished flows are undecided, and so are lower bounds."""

    @property
    def table(self) -> Table:
        """The rows as an Arrow table."""
        from .tables import rows

        return rows(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def _lines(self) -> list[list[str]]:
        def shown(value: Any) -> str:
            return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)

        return [list(self[0]) if self else []] + [[shown(v) for v in row.values()] for row in self]

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        return "\n".join("  ".join(f"{c:{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        lines = ["<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in line) + "</tr>" for line in self._lines()]
        return f"<table>{''.join(lines)}</table>"


class Sweep(Results):
    """A finished sweep: its points, and all their runs. ``failed`` lists the points with a failed run. Their other runs are
    kept, but not evaluated."""

    def __init__(self, points: Sequence[Point], axes: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> None:
        seen: dict[str, _cnsim.Record] = {}
        for p in points:
            for r in p:
                seen.setdefault(r.key, r)
        super().__init__(list(seen.values()), points[0]._scenarios if points else ())
        self.failed = [p for p in points if p.failed]
        self.points, self.axes, self._own = list(points), [dict(a) for a in axes], list(notes)

    @property
    def notes(self) -> list[str]:
        """What may mislead about the runs, and about the sweep itself."""
        return [*super().notes, *self._own]

    @property
    def keys(self) -> list[str]:
        """The keys that were varied."""
        return [str(a["key"]) for a in self.axes]

    def table(self, what: str = "metrics") -> Table:
        """An Arrow table; ``points`` has a row for each run of each point, the swept values before the metrics."""
        if what != "points":
            return super().table(what)
        from .lists import list_
        from .tables import metadata, rows

        units = {m["name"]: m["unit"] for m in list_("metrics")}
        found = []
        for p in self.points:
            label = {"pause": p.pause, "scheme": p.scheme, "failed": p.failed}
            for r in p if not p.failed else ():
                found.append({**p.values, **label, "seed": r.seed, "run": r.key, **r.metrics})
            if p.failed:
                found.append({**p.values, **label})
        for axis in self.axes:
            if axis["numbers"]:
                numbers = dict(zip(axis["values"], axis["numbers"][0], strict=True))
                units[axis["key"]] = axis["numbers"][1]
                found = [{**row, axis["key"]: numbers[row[axis["key"]]]} for row in found]
        return rows(found, units=units, metadata=metadata(self))

    def _placed(self) -> list[tuple[dict[str, Any], _cnsim.Record]]:
        labels = ("condition", "pause", "scheme")
        return [
            ({**p.values, **{k: getattr(p, k) for k in labels if k != "condition" or not p.values}, "seed": r.seed}, r)
            for p in self.points
            if not p.failed
            for r in p
        ]

    def means(self, metric: str) -> list[dict[str, Any]]:
        """Mean and interval of a metric at each point. ``at_least`` marks a mean that is a lower bound and has no interval."""
        unit = metric_named(metric)["unit"]
        found = []
        for p in self.points:
            e = estimate(p, metric, unit)
            if not e.values or p.failed:
                continue
            low, high = e.ci95 or (None, None)
            row = {"mean": e.mean, "ci95_low": low, "ci95_high": high, "at_least": e.at_least, "unit": unit, "seeds": len(e.values)}
            found.append({**p.values, "pause": p.pause, "scheme": p.scheme, **row})
        return found

    def compare(self, metric: str, baseline: str | Mapping[str, Any]) -> Comparison:
        """Differences of a metric from a baseline, paired by seed, with 95 % intervals.

        A scheme or ``"PAUSE on"`` as baseline is compared at the same values of the keys. A mapping of swept keys to values is
        compared with the same scheme. The same seed gives all schemes the same arrivals, so paired intervals are narrow.
        Verdicts are those of ``cnsim compare``.
        """
        unit = metric_named(metric)["unit"]
        words = [{**p.values, "pause": p.pause, "scheme": p.scheme} for p in self.points]
        fixed = self._baseline(baseline, words)

        def is_base(w: Mapping[str, str]) -> bool:
            return all(k in w and _values.same(w[k], v) for k, v in fixed.items())

        bases = [(w, p) for w, p in zip(words, self.points, strict=True) if is_base(w)]
        if not bases:
            known = {k: list(dict.fromkeys(w[k] for w in words)) for k in (words[0] if words else {})}
            raise ScenarioError(
                f"no point of the sweep is the baseline {fixed}", f"the sweep has {known}", key="baseline"
            )
        found = Comparison()
        for w, p in zip(words, self.points, strict=True):
            rest = {k: v for k, v in w.items() if k not in fixed}
            beside = [q for x, q in bases if {k: v for k, v in x.items() if k not in fixed} == rest]
            if is_base(w) or p.failed or not beside or beside[0].failed:
                continue
            if len(beside) > 1:
                raise ScenarioError(
                    f"{len(beside)} points of the sweep are the baseline {fixed} beside {p.name}", "name one of them", key="baseline"
                )
            # If a key has no effect, two points have the same runs.
            said = None if [r.key for r in p] == [r.key for r in beside[0]] else _cnsim.paired(list(beside[0]), list(p), metric)
            if said is None:
                continue
            difference, ci, seeds, verdict = said
            low, high = ci or (None, None)
            about = {"baseline": ", ".join(fixed.values()), "metric": metric, "unit": unit, "seeds": seeds}
            found.append({**w, **about, "difference": difference, "ci95_low": low, "ci95_high": high, "verdict": verdict})
        if not found:
            raise ScenarioError(
                f"nothing can be paired with the baseline {fixed} in `{metric}`",
                "other points must have run under the same seeds, differ from it in that alone, and have that metric",
                key="baseline",
            )
        return found

    def _baseline(self, asked: str | Mapping[str, Any], words: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """Keys and values that the baseline fixes, from a name as in `cnsim compare` or from a mapping."""
        if not isinstance(asked, str):
            return dict(_values.sets(asked))
        if any(_values.same(w["scheme"], asked) for w in words):
            return {"scheme": asked}
        key, sign, value = ("pause", " ", asked.strip()[6:]) if asked.strip().lower().startswith("pause ") else asked.partition("=")
        return {_values.key(key.strip()): value.strip()} if sign else {"scheme": asked}

    def plot(self, name: str | None = None, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws a metric over the first swept key, one line for each scheme, with 95 % intervals; or a time series by its name."""
        from .plot import points

        metric = name or "aggregate_throughput"
        if not self.axes or (metric not in self.metrics and metric in self.series_names):
            return super().plot(name, ax, **line)
        about = metric_named(metric)
        axis = self.axes[0]
        numbers = axis["numbers"]
        at = dict(zip(axis["values"], numbers[0] if numbers else range(len(axis["values"])), strict=True))
        groups: dict[tuple[str, ...], list[tuple[float, float, tuple[float, float]]]] = {}
        for row in self.means(metric):
            rest = tuple(str(row[k]) for k in ["scheme", *self.keys[1:]])
            ends = (row["mean"], row["mean"]) if row["ci95_low"] is None else (row["ci95_low"], row["ci95_high"])
            groups.setdefault(rest, []).append((float(at[row[axis["key"]]]), row["mean"], ends))
        unit = f" [{numbers[1]}]" if numbers and numbers[1] else ""
        lines = [
            (", ".join(key), [p[0] for p in some], [p[1] for p in some], [p[2] for p in some])
            for key, some in groups.items()
        ]
        y = f"{about['title']} [{about['unit']}]" if about["unit"] else str(about["title"])
        ticks = None if numbers else axis["values"]
        return points(lines, ax, x=f"{axis['key']}{unit}", y=y, log=bool(axis["log"]), ticks=ticks)

    def __repr__(self) -> str:
        size = " × ".join([*(f"{len(a['values'])} {a['key']}" for a in self.axes)])
        failed = "".join(f"\n  failed: {p.name}, {p.failed}" for p in self.failed)
        return f"<Sweep of {len(self.points)} points ({size}), {len(self)} runs{failed}>"


def swept(
    base: Read,
    native: _cnsim.Scenario,
    asked: Mapping[str, str | None],
    over: Sequence[str],
    schemes: Sequence[str],
    pauses: Sequence[str],
    count: int,
    until: str | Mapping[str, str] | None,
    running: Running,
) -> Sweep:
    """Runs a grid of a scenario with these schemes and seeds, and with as many more seeds as `until` requires."""
    narrow = _narrow(until)
    found: dict[str, _cnsim.Record] = {}
    lost: dict[str, str] = {}
    wide: set[int] | None = None
    while True:
        # One pass without `until`, several with it.
        plan, about_text = native.plan_sweep(asked, over, schemes, pauses, count)
        about = json.loads(about_text)
        rows = about["points"]
        wanted = [i for n, row in enumerate(rows) if wide is None or n in wide for i in range(row["first"], row["first"] + count)]
        todo = [i for i in dict.fromkeys(wanted) if plan.key(i) not in found and plan.key(i) not in lost]
        if todo:
            for i, r in zip(todo, running.each(plan.select(todo)), strict=True):
                if isinstance(r, CnsimError):
                    lost[plan.key(i)] = str(r)
                else:
                    found[r.key] = r
        points = []
        for row in rows:
            keys_of = [plan.key(i) for i in range(row["first"], row["first"] + count)]
            mine = [found[k] for k in keys_of if k in found]
            failed = next((f"seed {n}: {lost[k]}" for n, k in enumerate(keys_of, 1) if k in lost), None)
            values = dict(zip((a["key"] for a in about["axes"]), row["values"], strict=True))
            points.append(Point(mine, [base], values, row["condition"], row["pause"], row["scheme"], failed))
        if not narrow:
            break
        for metric in narrow:
            if any(p.metrics for p in points) and not any(metric in p.metrics for p in points):
                raise ScenarioError(f"until: `{metric}` is not measured here", "name one of `.run().metrics`", key="until")
        wide = {n for n, p in enumerate(points) if not p.failed and not all(_reached(p, m, share) for m, share in narrow.items())}
        if not wide or count >= MOST_SEEDS:
            break
        count = min(count * 2, MOST_SEEDS)
    notes = list(about["notes"])
    if narrow and wide:
        notes.append(f"{len(wide)} points are not as narrow as asked with {MOST_SEEDS} seeds")
    bound = sum(any(estimate(p, m, "").at_least for m in narrow) for p in points)
    if bound:
        notes.append(f"{bound} points have unfinished flows: a lower bound has no interval to narrow")
    done = Sweep(points, about["axes"], notes)
    if done.failed:
        import warnings

        said = f"{len(done.failed)} of {len(points)} points failed: `.failed` has the reasons\n"
        warnings.warn(said + "\n".join(f"  {p.name}, {p.failed}" for p in done.failed[:4]), SweepWarning, stacklevel=3)
    return done


def _narrow(until: Any) -> dict[str, float]:
    if until is None:
        return {}
    wanted = dict(until) if isinstance(until, Mapping) else {"aggregate_throughput": until}
    found = {}
    for metric, share in wanted.items():
        metric_named(metric)
        try:
            number = float(str(share).rstrip("% ")) / (100 if "%" in str(share) else 1)
        except ValueError:
            number = math.nan
        if not 0 < number < 1:
            raise ScenarioError(f"until={share!r}", 'give a share such as "1%"', key="until")
        found[metric] = number
    return found


def _reached(point: Point, metric: str, share: float) -> bool:
    e = estimate(point, metric, "")
    # More seeds give a lower bound no interval.
    return not e.values or e.at_least or (e.ci95 is not None and e.half <= share * abs(e.mean))
