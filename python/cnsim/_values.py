"""Keys and values as scenario files write them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from .errors import ScenarioError
from .schemes import plain


def key(name: str) -> str:
    """The key of a Python name: ``hotspot.rate`` for ``hotspot__rate``."""
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
    """Keys and values as texts."""
    return [(key(name), text(key(name), value)) for name, value in values.items()]


#: Meanings of a number without a unit: a number, bit/s, seconds, bytes; each with its units and their powers of ten.
_UNITS: tuple[tuple[tuple[int, str], ...], ...] = (
    ((0, ""),),
    ((9, " Gb/s"), (6, " Mb/s"), (3, " kb/s"), (0, " b/s")),
    ((0, " s"), (-3, " ms"), (-6, " us"), (-9, " ns"), (-12, " ps")),
    ((6, " MB"), (3, " KB"), (0, " B")),
)


def _in_unit(number: str, units: tuple[tuple[int, str], ...]) -> str:
    """A number, exactly, in the largest of these units in which it is at least 1."""
    from decimal import Decimal

    value = Decimal(number)
    power, unit = next((u for u in units if value and abs(value) >= Decimal(10) ** u[0]), units[-1] if value else units[0])
    return format(value.scaleb(-power).normalize(), "f") + unit


def unitless(values: Mapping[str, Any]) -> set[str]:
    """Keys whose value is "0" or a number without a unit: the key's unit is bit/s, seconds or bytes."""
    return {key(name) for name, value in values.items() if is_number(value)}


def is_number(value: Any) -> bool:
    """Is it a number without a unit, or zero written as a text?"""
    if isinstance(value, str):
        return value.strip() == "0"
    return isinstance(value, (int, float)) or hasattr(value, "item")


_R = TypeVar("_R")


def settled(
    make: Callable[[list[tuple[str, str]]], _R], pairs: Sequence[tuple[str, str]], numbers: Collection[str]
) -> tuple[_R, list[tuple[str, str]]]:
    """The result of `make` for these pairs, with each number in the unit of its key; and the pairs."""
    tried = dict.fromkeys(numbers, 0)
    first: ScenarioError | None = None
    while True:
        written = [(k, _in_unit(v, _UNITS[tried[k]]) if tried.get(k) else v) for k, v in pairs]
        try:
            return make(written), written
        except ScenarioError as e:
            first = first or e
            wrong = {p.key for p in e.problems} & {k for k, n in tried.items() if n + 1 < len(_UNITS)}
            if not wrong:
                raise first from None
            for k in wrong:
                tried[k] += 1


def same(one: str, other: str) -> bool:
    """Do two texts write one value? ``2Gb/s``, ``2 Gb/s`` and ``2000 Mb/s`` do."""
    from . import _cnsim

    bare = ["".join(t.split()).replace('"', "").lower() for t in (one, other)]
    numbers = _cnsim.numbers([one, other])
    return bare[0] == bare[1] or (numbers is not None and numbers[0][0] == numbers[0][1])


def count(name: str, value: Any, low: int = 1, high: int = 1_000_000) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScenarioError(f"{name}={value!r}", f"give a whole number from {low} to {high}", key=name)
    return value
