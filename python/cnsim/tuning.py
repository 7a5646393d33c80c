"""Search for good parameters: Optuna proposes settings, and runs decide between them."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _cnsim, _values
from .errors import ScenarioError, missing
from .results import Estimate, metric_named, metrics
from .scenario import Scenario, scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Range", "Trial", "Tuning", "tune"]

#: Units whose quantities are whole numbers of a smaller unit.
_WHOLE = {
    "B": {"B": 1, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    "ps": {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12},
}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Range:
    """The values of a key: numbers of one unit between two ends, evenly or by equal factors."""

    key: str
    """The key whose values these are."""
    low: float
    """Smallest value, in ``unit``."""
    high: float
    """Largest value, in ``unit``."""
    unit: str
    """Unit of both ends."""
    log: bool
    """Are values spaced by equal factors?"""
    whole: bool = False
    """Are only whole numbers allowed?"""

    def text(self, value: float) -> str:
        """A value as a scenario file has it, exactly: bytes and picoseconds are whole."""
        for exact, sizes in _WHOLE.items():
            if self.unit in sizes:
                return f"{round(value * sizes[self.unit])} {exact}"
        if self.whole:
            return str(round(value))
        return f"{float(f'{value:.9g}'):.9g} {self.unit}".strip()

    def shown(self, value: float) -> str:
        """A value for a reader."""
        return f"{round(value) if self.whole else float(f'{value:.4g}'):g} {self.unit}".strip()

    def at(self, share: float) -> float:
        """The value at a share of the way from the low end."""
        share = min(max(share, 0.0), 1.0)
        if self.log:
            return float(self.low * math.exp(share * math.log(self.high / self.low)))
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """The share of the way from the low end at which a value lies."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Trial:
    """A setting that was tried."""

    values: dict[str, float]
    """Values of the keys, in their units."""
    aims: tuple[Estimate, ...]
    """Values of the aims: the metrics that are minimised or maximised."""
    feasible: bool
    """Did all runs keep the condition?"""


class Tuning:
    """The result of a search."""

    def __init__(
        self, base: Scenario, ranges: Sequence[Range], aims: Sequence[tuple[str, int]], condition: str, trials: Sequence[Trial],
        ask: Callable[[Mapping[str, float]], Trial],
    ) -> None:  # fmt: skip
        self.base, self.ranges, self.aims, self.condition = base, list(ranges), list(aims), condition
        self.trials, self._ask = list(trials), ask

    def _cost(self, trial: Trial) -> tuple[float, ...]:
        return tuple(sign * e.mean for e, (_, sign) in zip(trial.aims, self.aims, strict=True))

    @property
    def usual(self) -> Trial:
        """The setting of the scenario before tuning."""
        return self.trials[0]

    @property
    def pareto(self) -> list[Trial]:
        """Feasible settings of the Pareto front: no other is better in every aim."""
        ok = [t for t in self.trials if t.feasible]
        costs = {id(t): self._cost(t) for t in ok}

        def beaten(t: Trial) -> bool:
            mine = costs[id(t)]
            return any(o != mine and all(a <= b for a, b in zip(o, mine, strict=True)) for o in costs.values())

        return sorted((t for t in ok if not beaten(t)), key=self._cost)

    @property
    def best(self) -> Trial:
        """The best feasible setting. With several aims it has the smallest sum of costs, each scaled by its spread."""
        front = self.pareto
        if not front:
            raise ScenarioError(
                f"no setting of {len(self.trials)} keeps `{self.condition}`", "widen the ranges, or ask for less", key="subject_to"
            )
        spread = []
        for i in range(len(self.aims)):
            all_ = [self._cost(t)[i] for t in front]
            spread.append((min(all_), max(max(all_) - min(all_), 1e-300)))
        return min(front, key=lambda t: sum((c - low) / width for c, (low, width) in zip(self._cost(t), spread, strict=True)))

    def scenario(self, trial: Trial | None = None) -> Scenario:
        """The scenario with a setting; the default is the best."""
        chosen = trial or self.best
        return self.base.with_({r.key: r.text(chosen.values[r.key]) for r in self.ranges})

    def sensitivity(self, aim: int = 0) -> dict[str, float]:
        """Effect of each key on an aim by PAWN, 0 (none) to 1: the distance between the aim's distribution over all trials and
        that with the key nearly fixed. Needs SALib; it uses the finished trials."""
        try:
            from SALib.analyze import pawn
        except ImportError:
            missing("SALib", "tune", "Sensitivity")
        import numpy as np

        if len(self.trials) < 10:
            raise ScenarioError("too few trials for a sensitivity", "ask for at least 10", key="trials")
        x = np.array([[r.share(t.values[r.key]) for r in self.ranges] for t in self.trials])
        y = np.array([t.aims[aim].mean for t in self.trials])
        problem = {"num_vars": len(self.ranges), "names": [r.key for r in self.ranges], "bounds": [[0.0, 1.0]] * len(self.ranges)}
        if float(y.max() - y.min()) == 0.0:
            return {r.key: 0.0 for r in self.ranges}
        slices = 2 if len(y) < 24 else 4 if len(y) < 60 else 8
        found = pawn.analyze(problem, x, y, S=slices, seed=1)
        return {r.key: float(d) for r, d in zip(self.ranges, found["median"], strict=True)}

    def explain(self, cliff: float = 0.25) -> str:
        """Describes the best setting: its gain, the directions in which it is fragile, and the distance to the nearest cliff.

        Each key is moved alone, up and down by 5, 10, 20 and 40 % of its range, and run with the same seeds. At a cliff the
        condition breaks, or the first aim becomes worse by more than the share ``cliff``.
        """
        best = self.best
        lines = ["Best setting: " + ", ".join(f"{r.key} = {r.shown(best.values[r.key])}" for r in self.ranges)]
        for (name, sign), new, old in zip(self.aims, best.aims, self.usual.aims, strict=True):
            both = [a - b for a, b in zip(new.values, old.values, strict=True)]
            mean, ci, _ = _cnsim.interval(both, paired=True) or (0.0, None, 0.0)
            bound = new.at_least or old.at_least
            sure = "" if ci is None or bound else f" (95 %: {ci[0]:.4g} to {ci[1]:.4g})"
            share = f", {mean / old.mean:+.1%}" if old.mean else ""
            word = "better" if sign * mean < 0 else "worse" if sign * mean > 0 else "the same"
            undecided = bound or (ci is not None and ci[0] <= 0 <= ci[1] and mean != 0)
            lines.append(
                f"{name}: {new} instead of {old}; {mean:+.4g}{sure}{share}: {'undecided' if undecided else word}"
            )
        if not self.usual.feasible:
            lines.append(f"The usual setting does not keep `{self.condition}`.")
        worst: tuple[float, str] | None = None
        nearest: tuple[float, str] | None = None
        name, sign = self.aims[0]
        for r in self.ranges:
            here = r.share(best.values[r.key])
            for way, word in ((1, "higher"), (-1, "lower")):
                for n, step in enumerate((0.05, 0.1, 0.2, 0.4)):
                    if not -1e-9 <= here + way * step <= 1 + 1e-9:
                        break
                    value = r.at(here + way * step)
                    t = self._ask({**best.values, r.key: value})
                    worse = sign * (t.aims[0].mean - best.aims[0].mean) / max(abs(best.aims[0].mean), 1e-300)
                    said = f"{r.key} {word}, at {r.shown(value)}"
                    if n == 0 and (worst is None or worse > worst[0]):
                        worst = (worse, said)
                    if not t.feasible or worse > cliff:
                        why = f"breaks `{self.condition}`" if not t.feasible else f"makes {name} {worse:.0%} worse"
                        if nearest is None or step < nearest[0]:
                            nearest = (step, f"{said}: it {why}")
                        break
        if worst is not None:
            lines.append(
                f"Most fragile: {worst[1]} (5 % of its range), {name} is {worst[0]:.1%} worse"
                if worst[0] > 0
                else "No key moved by 5 % of its range makes it worse."
            )
        lines.append(
            f"Nearest cliff: {nearest[0]:.0%} of the range away, {nearest[1]}" if nearest else "No cliff within 40 % of any range."
        )
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws all trials: two aims against each other with the Pareto front, or the course of one aim."""
        from .plot import axes, colour

        ax = axes(ax)
        names = [f"{n.replace('_', ' ')} [{self.usual.aims[i].unit}]".replace(" []", "") for i, (n, _) in enumerate(self.aims)]
        ok = [t for t in self.trials if t.feasible]
        bad = [t for t in self.trials if not t.feasible]
        if len(self.aims) == 1:
            at = [i for i, t in enumerate(self.trials) if t.feasible]
            ax.plot(at, [t.aims[0].mean for t in ok], "o", color=colour(1), markersize=4)
            ax.set_xlabel("trial")
            ax.set_ylabel(names[0])
            return ax
        for some, look, label in ((bad, "x", "breaks the condition"), (ok, "o", "trial")):
            if some:
                x, y = ([t.aims[i].mean for t in some] for i in (0, 1))
                ax.plot(x, y, look, color=colour(0), markersize=4, linestyle="none", label=label)
        front = self.pareto
        ax.plot(
            [t.aims[0].mean for t in front], [t.aims[1].mean for t in front], "o-", color=colour(1), markersize=5, label="Pareto front"
        )
        ax.plot([self.usual.aims[0].mean], [self.usual.aims[1].mean], "s", color=colour(2), markersize=6, label="usual setting")
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        ax.legend(frameon=False, fontsize=9)
        return ax

    def __repr__(self) -> str:
        aims = ", ".join(n for n, _ in self.aims)
        return f"<Tuning of {self.base.id}: {len(self.trials)} trials for {aims}, {len(self.pareto)} on the front>"


def _range(key: str, given: Any) -> Range:
    wrong = ScenarioError(
        f"`{key}`: {given!r} is no range", 'give (low, high) or (low, high, "log") with units, such as ("8 KB", "64 KB")', key=key
    )
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 3 or (len(given) == 3 and given[2] not in ("log", "lin")):
        raise wrong
    found = _cnsim.numbers([_values.text(key, v) for v in given[:2]])
    if found is None:
        raise wrong
    (low, high), unit = found
    log = len(given) == 3 and given[2] == "log"
    if not low < high or (log and low <= 0):
        raise wrong
    return Range(key, low, high, unit, log, all(isinstance(v, int) for v in given[:2]))


def _condition(text: str | None) -> Callable[[Mapping[str, float]], bool]:
    if text is None:
        return lambda _: True
    tests = []
    for part in re.split(r"\s+and\s+", text.strip()):
        found = re.fullmatch(r"\s*([a-z0-9_]+)\s*(==|<=|>=|<|>)\s*([-+.0-9eE]+)\s*", part)
        try:
            name, how, number = found.groups()  # type: ignore[union-attr]
            tests.append((name, _COMPARE[how], float(number)))
        except (AttributeError, ValueError):
            raise ScenarioError(
                f"subject_to={text!r}", 'write a metric, a comparison and a number, such as "dropped_frames == 0"', key="subject_to"
            ) from None
        metric_named(name)
    return lambda found: all(how(found.get(name, 0.0), number) for name, how, number in tests)


def tune(
    what: Scenario | str,
    over: Mapping[str, Any],
    *,
    minimise: str | Sequence[str] = (),
    maximise: str | Sequence[str] = (),
    subject_to: str | None = None,
    trials: int = 40,
    seeds: int = 3,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    executor: Any = None,
    progress: bool | None = None,
) -> Tuning:
    """Searches for the values of keys that serve one or two aims best, with Optuna; needs ``cnsim[tune]``.

    ``over`` gives each key a range, such as ``{"scheme.params.q_eq": ("8 KB", "64 KB"), "scheme.params.gd": (1/512, 1/16, "log")}``.
    Every trial has the same seeds, and the first is the scenario's own setting. ``out`` keeps the runs, so an interrupted search
    continues. The same ``seed`` gives the same search.
    """
    from .running import Running

    base = scenario(what) if isinstance(what, (str, os.PathLike)) else what
    if not isinstance(base, Scenario):
        raise ScenarioError(f"{what!r} is no scenario", "give a scenario or its name", key="scenario")
    ranges = [_range(_values.key(k), v) for k, v in over.items()]
    if not ranges:
        raise ScenarioError("there is no key to tune", 'give over={"scheme.params.KEY": (low, high)}', key="over")
    aims = [(n, s) for names, s in ((minimise, 1), (maximise, -1)) for n in ([names] if isinstance(names, str) else names)]
    if not aims:
        raise ScenarioError("there is no aim", 'give minimise="METRIC" or maximise="METRIC"', key="minimise")
    units = {m["name"]: m["unit"] for m in metrics()}
    for name, _ in aims:
        metric_named(name)
    keeps = _condition(subject_to)
    seeds, trials = _values.count("seeds", seeds), _values.count("trials", trials, 1, 100_000)
    running = Running(out=out, threads=threads, executor=executor, progress=progress)
    try:
        import optuna
    except ImportError:
        missing("optuna", "tune", "Tuning")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    known: dict[tuple[str, ...], Trial] = {}

    def ask(values: Mapping[str, float], usual: bool = False) -> Trial:
        texts = {r.key: r.text(values[r.key]) for r in ranges}
        if tuple(texts.values()) in known:
            return known[tuple(texts.values())]
        tried = base if usual else base.with_(texts)
        records = running.run(tried._read.plan_run(tried._asked(), 1, seeds, False))
        for name, _ in aims:
            if not all(name in r.metrics for r in records):
                raise ScenarioError(f"`{name}` is not measured here", "choose another aim: `.run().metrics` lists them", key=name)
        found = tuple(
            Estimate(n, units[n], tuple(r.metrics[n] for r in records), any(n in r.at_least for r in records)) for n, _ in aims
        )
        trial = Trial(dict(values), found, all(keeps(r.metrics) for r in records))
        if not usual:
            known[tuple(texts.values())] = trial
        return trial

    start = _usual(base, ranges)
    done = [ask(start, usual=True)]
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        later = hasattr(optuna.trial.Trial, "set_constraint")
        old: dict[str, Any] = {} if later else {"constraints_func": lambda t: t.user_attrs["broken"]}
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=max(8, trials // 5), **old)
        study = optuna.create_study(directions=["minimize"] * len(aims), sampler=sampler)
        for _ in range(trials):
            t = study.ask()
            values = {r.key: t.suggest_float(r.key, r.low, r.high, log=r.log) for r in ranges}
            trial = ask(values)
            broken = 0.0 if trial.feasible else 1.0
            if later:
                t.set_constraint("subject_to", broken)
            else:
                t.set_user_attr("broken", [broken])
            study.tell(t, [s * e.mean for e, (_, s) in zip(trial.aims, aims, strict=True)])
            done.append(trial)
    return Tuning(base, ranges, aims, subject_to or "", done, ask)


def _usual(base: Scenario, ranges: Sequence[Range]) -> dict[str, float]:
    """The scenario's own values, in the units of the ranges."""
    config = base.config()
    flat = {k: v for k, v in config.items() if isinstance(v, str)}
    flat.update({f"scheme.params.{k}": v for k, v in config["scheme"]["params"].items()})
    name = config["scheme"]["name"]
    found = {}
    for r in ranges:
        key = r.key.replace(f"scheme.{name}.", "scheme.params.")
        text = flat.get(key)
        if text is None:
            from .errors import near

            raise ScenarioError(f"`{r.key}` is no key of this scenario", f"{near(key, list(flat))}`.config()` lists them", key=r.key)
        at = _cnsim.numbers([r.text(r.low), text])
        if at is None:
            raise ScenarioError(f"`{r.key}` is `{text}`, which is no number of the range's kind", "give the range in its unit", key=r.key)
        # Both in the unit that they share, then back into that of the range.
        found[r.key] = at[0][1] * r.low / at[0][0] if r.low else at[0][1]
    return found
