"""Metrics and series of many runs as arrays with named axes (xarray)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _cnsim
from .errors import CnsimError, UnknownName, missing
from .lists import list_

if TYPE_CHECKING:
    import xarray

#: Axes that are left out if all runs have the same value on them.
_LABELS = ("study", "scenario", "condition", "pause", "scheme")


def dataset(placed: Sequence[tuple[dict[str, Any], _cnsim.Record]], what: Literal["metrics", "series"]) -> xarray.Dataset:
    """Metrics or series of these runs, each at its place on the axes."""
    try:
        import xarray
    except ImportError:
        missing("xarray", "xarray", "An array with named axes")
    if what not in ("metrics", "series"):
        raise UnknownName(f"there are no arrays of `{what}`", "ask for metrics or series", key="what")
    if not placed:
        raise CnsimError("there is no run to make arrays of", "run the scenario first")
    units = {m["name"]: m["unit"] for m in list_("metrics")}
    found: dict[str, list[tuple[int, str, Any]]] = {}
    time: Any = None
    for n, (_, r) in enumerate(placed):
        if what == "metrics":
            for name, value in r.metrics.items():
                found.setdefault(name, []).append((n, units.get(name, ""), value))
        for name in r.series_names() if what == "series" else ():
            unit, width, data = r.series(name) or ("", 0.0, b"")
            values = np.frombuffer(data, dtype="<f8")
            found.setdefault(name, []).append((n, unit, values))
            if time is None or len(values) > len(time):
                time = np.arange(1, len(values) + 1) * width
    axes = {k: list(dict.fromkeys(at[k] for at, _ in placed)) for k in placed[0][0]}
    one = {k: v[0] for k, v in axes.items() if k in _LABELS and len(v) == 1}
    axes = {k: v for k, v in axes.items() if k not in one}
    tail = (len(time),) if what == "series" else ()
    dims = [*axes, *(["time"] if tail else [])]
    variables = {}
    for name, some in found.items():
        whole = np.full((*map(len, axes.values()), *tail), np.nan)
        for n, _, values in some:
            at = tuple(axis.index(placed[n][0][k]) for k, axis in axes.items())
            if tail:
                whole[at][: len(values)] = values
            else:
                whole[at] = values
        variables[name] = (dims, whole, {"units": some[0][1]})
    coordinates: dict[str, Any] = dict(one)
    for k, places in axes.items():
        known = _cnsim.numbers(places) if all(isinstance(v, str) for v in places) and k not in _LABELS else None
        coordinates[k] = (k, known[0], {"units": known[1]}) if known else (k, places)
    if tail:
        coordinates["time"] = ("time", time, {"units": "s"})
    return xarray.Dataset(variables, coords=coordinates, attrs={"cnsim_version": _cnsim.VERSION})
