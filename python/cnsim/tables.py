"""Tables as Arrow (arro3), with units in the metadata of their columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, DataType, Field, Schema, Table

from .errors import CnsimError, ScenarioError, missing, near

if TYPE_CHECKING:
    from .results import Results

WHAT = ("metrics", "series", "ports", "counters", "summary")


def _array(name: str, values: Any) -> Array:
    if isinstance(values, np.ndarray):
        return Array.from_numpy(values)
    values = list(values)
    some = [v for v in values if v is not None]
    kind: DataType = DataType.utf8()
    if some and all(isinstance(v, bool) for v in some):
        kind = DataType.bool()
    elif some and all(isinstance(v, int) for v in some):
        kind = DataType.int64()
    elif some and all(isinstance(v, (int, float)) for v in some):
        kind = DataType.float64()
        values = [None if v is None else float(v) for v in values]
    else:
        values = [None if v is None else str(v) for v in values]
    return Array(values, kind)


def columns(
    data: Mapping[str, Any], *, units: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None
) -> Table:
    """A table of columns: numpy arrays are taken without a copy."""
    arrays = {name: _array(name, values) for name, values in data.items()}
    fields = [
        Field(name, array.type, nullable=True, metadata={"unit": (units or {}).get(name, "")})
        for name, array in arrays.items()
    ]
    return Table.from_arrays(list(arrays.values()), schema=Schema(fields, metadata=dict(metadata or {})))


def rows(
    data: Sequence[Mapping[str, Any]], *, units: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None
) -> Table:
    """A table of rows; a value that a row lacks is null."""
    names = dict.fromkeys(name for row in data for name in row)
    return columns({name: [row.get(name) for row in data] for name in names}, units=units, metadata=metadata)


def metadata(results: Results) -> dict[str, str]:
    """What tables say about their runs: version, and the effective configuration of each."""
    from . import _cnsim

    configs = {r.key: json.loads(r.config()) for r in results}
    return {
        "cnsim.version": _cnsim.VERSION,
        "cnsim.result_version": str(_cnsim.RESULT_VERSION),
        "cnsim.configurations": json.dumps(configs, sort_keys=True),
    }


def _labels(record: Any) -> dict[str, Any]:
    return {k: getattr(record, k) for k in ("study", "scenario", "condition", "pause", "scheme", "seed")}


def table(results: Results, what: str) -> Table:
    """A table of finished runs."""
    from .lists import list_

    if what not in WHAT:
        raise ScenarioError(
            f"there is no table `{what}`", f"{near(str(what), list(WHAT))}ask for {', '.join(WHAT)}", key="table"
        )
    if not len(results):
        raise CnsimError("there is no run to make a table of", "run the scenario first")
    about = metadata(results)
    if what == "metrics":
        units = {m["name"]: m["unit"] for m in list_("metrics")}
        return rows([_labels(r) | {"run": r.key} | r.metrics for r in results], units=units, metadata=about)
    if what == "counters":
        return rows([_labels(r) | r.counters for r in results], metadata=about)
    if what == "ports":
        found = [_labels(r) | {"port": port} | facts for r in results for port, facts in json.loads(r.ports()).items()]
        units = {"throughput": "Gb/s", "paused": "%", "queue_max": "KB", "mean_queue": "KB", "sd_queue": "KB"}
        return rows(found, units=units, metadata=about)
    if what == "summary":
        from .results import _ends

        found = results.summary()
        return rows([{k: v for k, v in r.items() if k not in ("ci95", "pi95")} | _ends(r) for r in found], metadata=about)
    parts: dict[str, list[Any]] = {k: [] for k in ("scheme", "pause", "condition", "seed", "series", "unit")}
    times, values = [], []
    for r in results:
        for name in r.series_names():
            unit, width, data = r.series(name) or ("", 0.0, b"")
            found_values = np.frombuffer(data, dtype="<f8")
            times.append(np.arange(1, len(found_values) + 1) * width)
            values.append(found_values)
            said = {"series": name, "unit": unit, **{k: getattr(r, k) for k in ("scheme", "pause", "condition", "seed")}}
            for key, part in parts.items():
                part.extend([said[key]] * len(found_values))
    numbers = {"time_s": np.concatenate(times), "value": np.concatenate(values)}
    return columns({**parts, **numbers}, units={"time_s": "s"}, metadata=about)


def write_parquet(table: Table, path: Path) -> Path:
    """Writes a table whole, with the metadata of its schema."""
    try:
        from arro3.io import write_parquet as write
    except ImportError:
        missing("arro3-io", "parquet", "Parquet")
    said = table.schema.metadata_str
    units = {field.name: field.metadata_str.get("unit", "") for field in map(table.schema.field, table.schema.names)}
    temporary = path.with_name(f".{path.name}.cnsim.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(table, str(temporary), compression="zstd(3)", key_value_metadata={**said, "cnsim.units": json.dumps(units)})
        temporary.replace(path)
    except OSError as e:
        temporary.unlink(missing_ok=True)
        raise CnsimError(f"{path}: {e}", "choose another place", key="path") from None
    return path
