"""Cards that notebooks show: HTML without scripts or anything from outside."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Results

#: Metrics that a card shows, where they were measured.
MAIN = (
    "finished_flows",
    "completion_time_p99",
    "aggregate_throughput",
    "hot_port_throughput",
    "throughput_loss",
    "fairness",
    "completion_time",
    "time_paused",
    "time_paused_links",
    "dropped_frames",
    "overhead",
)


def spark(values: list[float], width: int = 240, height: int = 36) -> str:
    """A series as a small picture: the largest value of each column."""
    if not values:
        return ""
    columns = min(120, len(values))
    step = len(values) / columns
    peaks = [max(values[int(i * step) : max(int((i + 1) * step), int(i * step) + 1)]) for i in range(columns)]
    top = max(peaks) or 1.0
    points = " ".join(
        f"{i / max(columns - 1, 1) * width:.1f},{height - 1 - v / top * (height - 2):.1f}" for i, v in enumerate(peaks)
    )
    return (
        f"<svg width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img'>"
        f"<title>largest value {top:.4g}</title><polyline points='{points}' fill='none' stroke='#0072b2' stroke-width='1.2'/></svg>"
    )


def results(found: Results) -> str:
    """The card of some runs: key numbers with intervals, and the hot queue."""
    from .results import Results

    cards = []
    for case, runs in list(found._cases().items())[:12]:
        mine = Results(runs)
        shown = [m for m in MAIN if m in mine.metrics] or mine.metrics[:6]
        rows = "".join(
            f"<tr><td style='text-align:left'>{html.escape(m.replace('_', ' '))}</td>"
            f"<td style='text-align:right'>{html.escape(str(mine.metric(m)))}</td></tr>"
            for m in shown
        )
        name = next((n for n in ("hot_queue", "aggregate_throughput") if n in mine.series_names), None)
        picture = ""
        if name is not None:
            s = mine.series(name)
            picture = f"<div>{spark(s.values.tolist())}<br><small>{html.escape(name.replace('_', ' '))}, up to {max(s.values.tolist(), default=0.0):.4g} {s.unit}</small></div>"
        title = f"<b>{html.escape(case[0])}</b> {html.escape(', '.join(case[1:]))}"
        seeds = f"{len(runs)} seed{'s' if len(runs) > 1 else ''}"
        cards.append(
            f"<div style='display:inline-block;vertical-align:top;border:1px solid #cfd4d9;border-radius:6px;padding:8px;margin:4px'>"
            f"{title}<br><small>{seeds}, with the 95 % interval of the mean</small><table>{rows}</table>{picture}</div>"
        )
    more = len(found._cases()) - len(cards)
    rest = f"<p>and {more} more cases: <code>.summary()</code> has all</p>" if more > 0 else ""
    return f"<div>{''.join(cards)}{rest}</div>"
