"""Figures with matplotlib: the palette of the report, sizes for print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import missing

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

#: The colours of the report in light, by slot: the first is that of `none`.
PALETTE = (
    "#5f6770",
    "#0072b2",
    "#c85200",
    "#008a63",
    "#a87000",
    "#1f8fc6",
    "#7d4b23",
    "#7d7200",
    "#25085a",
    "#5b1a9e",
    "#9b1fb0",
    "#c2188b",
    "#e0457b",
    "#8a4a7a",
    "#7d4a86",
    "#a86cc0",
)
#: Lines differ by more than their colour.
DASHES = ("-", "--", "-.", ":")


class Line(NamedTuple):
    """A time series to draw."""

    name: str
    unit: str
    label: str
    time: NDArray[np.float64]
    values: NDArray[np.float64]


def axes(ax: Axes | None) -> Axes:
    """These axes, or new ones of a column's width."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        missing("matplotlib", "plot", "Drawing")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.2), dpi=150, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#9aa1a8")
    ax.tick_params(colors="#2b3036", labelsize=9)
    ax.grid(True, color="#e3e6e8", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def colour(slot: int) -> str:
    """The colour of a slot."""
    return PALETTE[slot % len(PALETTE)]


def slots(names: Sequence[str]) -> dict[str, int]:
    """A slot for each scheme, in the order of the registry: ``none`` has the first. Schemes of one figure differ."""
    from .lists import list_

    known = list_("schemes").names
    found: dict[str, int] = {}
    for name in dict.fromkeys(names):
        slot = known.index(name) if name in known else len(known)
        while slot % len(PALETTE) in found.values() and len(found) < len(PALETTE):
            slot += 1
        found[name] = slot % len(PALETTE)
    return found


def series(found: Sequence[Line], ax: Axes | None, **line: Any) -> Axes:
    """Draws time series over time in milliseconds."""
    ax = axes(ax)
    taken = slots([s.label.split(",")[0] for s in found])
    seen: dict[str, int] = {}
    for s in found:
        name = s.label.split(",")[0]
        nth = seen.setdefault(name, 0)
        seen[name] += 1
        look: dict[str, Any] = {"color": colour(taken[name]), "linewidth": 1.4, "linestyle": DASHES[nth % 4], "label": s.label or s.name}
        ax.plot(s.time * 1e3, s.values, **(look | line))
    title = found[0].name.replace("_", " ")
    ax.set_xlabel("time [ms]")
    ax.set_ylabel(f"{title} [{found[0].unit}]" if found[0].unit else title)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    if any(s.label for s in found):
        ax.legend(frameon=False, fontsize=9)
    return ax


def bands(groups: Sequence[Sequence[Line]], ax: Axes | None, **line: Any) -> Axes:
    """Draws a line for each group of series. Several seeds are a mean, in a band from the smallest to the largest value."""
    import numpy as np

    drawn = []
    for some in groups:
        first, words = some[0], some[0].label.rpartition(", seed ")[0]
        bins = min(len(s.values) for s in some)
        every = np.stack([s.values[:bins] for s in some])
        if len(some) == 1:
            drawn.append((first, every))
            continue
        label = f"{words}, mean and range of {len(some)} seeds"
        drawn.append((Line(first.name, first.unit, label, first.time[:bins], every.mean(axis=0)), every))
    ax = series([s for s, _ in drawn], ax, **line)
    for (s, every), curve in zip(drawn, ax.lines[-len(drawn) :], strict=True):
        if len(every) > 1:
            ax.fill_between(s.time * 1e3, every.min(axis=0), every.max(axis=0), color=curve.get_color(), alpha=0.2, linewidth=0)
    return ax


def strip(rows: Sequence[tuple[str, str, Sequence[int]]], end: float, ax: Axes | None, *, title: str) -> Axes:
    """Draws a row a port, under the name of its tier, shaded from 0 to 100 % over time in milliseconds."""
    import numpy as np

    tiers = [tier for _, tier, _ in rows]
    shown: list[tuple[str, Sequence[float]]] = []
    for (port, tier, shares), before in zip(rows, ["", *tiers], strict=False):
        if tier != before:
            shown.append((f"{tier} ({tiers.count(tier)})", [float("nan")] * len(shares)))
        shown.append((port, [float(s) for s in shares]))
    given = ax is not None
    ax = axes(ax)
    figure = ax.get_figure()
    if figure is not None and not given:
        figure.set_size_inches(6.4, min(max(2.4, 0.8 + 0.16 * len(shown)), 10.0))  # type: ignore[union-attr]
    ax.grid(False)
    image = ax.imshow(
        np.array([shares for _, shares in shown]), aspect="auto", interpolation="nearest", cmap="Oranges", vmin=0, vmax=100,
        extent=(0, end, len(shown) - 0.5, -0.5),
    )
    # With many rows, only the tiers are named.
    named = [i for i, (name, _) in enumerate(shown) if len(shown) <= 60 or name.endswith(")")]
    ax.set_yticks(named, [shown[i][0] for i in named], fontsize=7)
    ax.set_xlabel("time [ms]")
    ax.set_title(f"how XOFF spreads: {title}", fontsize=9, loc="left")
    if figure is not None:
        figure.colorbar(image, ax=ax, label="share of time in XOFF [%]")
    return ax


def points(
    lines: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[tuple[float, float]]]],
    ax: Axes | None,
    *,
    x: str,
    y: str,
    log: bool = False,
    ticks: Sequence[str] | None = None,
) -> Axes:
    """Draws means with the ends of their 95 % intervals over a swept key, one line a name."""
    ax = axes(ax)
    taken = slots([name for name, *_ in lines])
    for nth, (name, xs, means, ends) in enumerate(lines):
        lengths = [[m - low for m, (low, _) in zip(means, ends, strict=True)], [high - m for m, (_, high) in zip(means, ends, strict=True)]]
        ax.errorbar(
            xs, means, yerr=lengths, color=colour(taken[name]), linestyle=DASHES[nth % 4], marker="o", markersize=4,
            linewidth=1.4, capsize=3, label=name,
        )
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if log:
        ax.set_xscale("log")
    if ticks is not None:
        ax.set_xticks(range(len(ticks)), ticks)
    if len(lines) > 1:
        ax.legend(frameon=False, fontsize=9)
    return ax
