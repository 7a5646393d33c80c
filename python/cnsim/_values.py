"""Keys and values as scenario files and ``--set`` write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import ScenarioError
from .schemes import plain


def key(name: str) -> str:
    """``hotspot__rate`` is the key ``hotspot.rate``."""
    return name.replace("__", ".")


def text(name: str, value: Any) -> str:
    """A value as a scenario file writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "off"
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(name, v) for v in value) + "]"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return plain(value)
    raise ScenarioError(
        f"`{name}` cannot be {value!r}", 'give a text with a unit such as "10 Gb/s", a number, True or False, or a list', key=name
    )


def sets(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs for ``--set``."""
    return [(key(name), text(key(name), value)) for name, value in values.items()]


def count(name: str, value: Any, low: int = 1, high: int = 1_000_000) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScenarioError(f"{name}={value!r}", f"give a whole number from {low} to {high}", key=name)
    return value
