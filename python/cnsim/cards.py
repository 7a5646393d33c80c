"""Cards for notebooks: HTML without scripts or external resources."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

#: Metrics that a card shows, if they were measured.
MAIN = (
    "finished_flows",
    "completion_time_p99",
    "goodput",
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


class Card(NamedTuple):
    """A case: its names, its number of seeds, metrics with their values, a series with its unit, and notes."""

    case: Sequence[str]
    seeds: int
    metrics: Sequence[tuple[str, str]]
    series: tuple[str, str, list[float]] | None
    notes: Sequence[str]


def cards(found: Sequence[Card], more: int) -> str:
    """These cards, and a line with the number of further cases."""
    shown = "".join(map(_card, found))
    rest = f"<p>and {more} more cases: <code>.summary()</code> has all</p>" if more > 0 else ""
    return f"<div>{shown}{rest}</div>"


def _card(card: Card) -> str:
    rows = "".join(
        f"<tr><td style='text-align:left'>{html.escape(m.replace('_', ' '))}</td>"
        f"<td style='text-align:right'>{html.escape(value)}</td></tr>"
        for m, value in card.metrics
    )
    picture = ""
    if card.series is not None:
        name, unit, values = card.series
        most = max(values, default=0.0)
        picture = f"<div>{spark(values)}<br><small>{html.escape(name.replace('_', ' '))}, up to {most:.4g} {unit}</small></div>"
    notes = "".join(f"<li>{html.escape(line)}</li>" for line in card.notes)
    told = f"<ul style='max-width:36em;text-align:left'>{notes}</ul>" if notes else ""
    title = f"<b>{html.escape(card.case[0])}</b> {html.escape(', '.join(card.case[1:]))}"
    seeds = f"{card.seeds} seed{'s' if card.seeds > 1 else ''}"
    return (
        f"<div style='display:inline-block;vertical-align:top;border:1px solid #cfd4d9;border-radius:6px;padding:8px;margin:4px'>"
        f"{title}<br><small>{seeds}, with the 95 % interval of the mean</small><table>{rows}</table>{picture}{told}</div>"
    )
