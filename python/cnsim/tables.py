"""Tables in Arrow (arro3), pandas and polars. In Arrow, the metadata of a column has its unit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, DataType, Field, Schema
from arro3.core import Table as Arrow

from .errors import CnsimError, UnknownName, missing, near

if TYPE_CHECKING:
    import pandas
    import polars

    from . import _cnsim

WHAT = ("metrics", "series", "flows", "events", "traffic", "classes", "ports", "xoff", "counters", "summary")


class Table:
    """A table: ``pandas.DataFrame(t)``, ``polars.DataFrame(t)``, pyarrow and DuckDB read it directly. Iteration yields its
    rows as dictionaries. All other attributes are those of its Arrow table."""

    def __init__(self, arrow: Arrow) -> None:
        self.arrow = arrow

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column; empty where it has none."""
        return {name: self.arrow.schema.field(name).metadata_str.get("unit", "") for name in self.arrow.column_names}

    def to_polars(self) -> polars.DataFrame:
        """The table in polars, which keeps no units: `units` has them."""
        try:
            import polars
        except ImportError:
            missing("polars", "polars", "A table of polars")
        return polars.DataFrame(self.arrow)

    def to_pandas(self) -> pandas.DataFrame:
        """The table in pandas, with the units in ``.attrs["units"]``."""
        try:
            import pandas
        except ImportError:
            missing("pandas", "pandas", "A table of pandas")
        found = pandas.DataFrame({name: self._values(name) for name in self.arrow.column_names})
        found.attrs["units"] = self.units
        return found

    def _values(self, name: str) -> Any:
        column = self.arrow.column(name)
        return column.to_numpy() if column.null_count == 0 and column.type != DataType.utf8() else column.to_pylist()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self.arrow.column_names
        for row in zip(*(self.arrow.column(name).to_pylist() for name in names), strict=True):
            yield dict(zip(names, row, strict=True))

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "arrow":
            raise AttributeError(name)
        return getattr(self.arrow, name)

    def __arrow_c_schema__(self) -> object:
        return self.arrow.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        said = ", ".join(f"{name} [{unit}]" if unit else name for name, unit in self.units.items())
        return f"<Table of {len(self)} rows: {said}>"


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
    return Table(Arrow.from_arrays(list(arrays.values()), schema=Schema(fields, metadata=dict(metadata or {}))))


def rows(
    data: Sequence[Mapping[str, Any]], *, units: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None
) -> Table:
    """A table of rows; a value that a row lacks is null."""
    names = dict.fromkeys(name for row in data for name in row)
    return columns({name: [row.get(name) for row in data] for name in names}, units=units, metadata=metadata)


def metadata(results: Iterable[_cnsim.Record]) -> dict[str, str]:
    """The metadata of tables: version, and the effective configuration of each run."""
    from . import _cnsim

    configs = {r.key: json.loads(r.config()) for r in results}
    return {
        "cnsim.version": _cnsim.VERSION,
        "cnsim.result_version": str(_cnsim.RESULT_VERSION),
        "cnsim.configurations": json.dumps(configs, sort_keys=True),
    }


def _labels(record: Any) -> dict[str, Any]:
    return {k: getattr(record, k) for k in ("study", "scenario", "condition", "pause", "scheme", "seed")}


def table(results: Sequence[_cnsim.Record], what: str, summary: Callable[[], Sequence[Mapping[str, Any]]]) -> Table:
    """A table of finished runs; `summary` gives the rows of the table of that name."""
    from .lists import list_

    if what not in WHAT:
        raise UnknownName(
            f"there is no table `{what}`", f"{near(str(what), list(WHAT))}ask for {', '.join(WHAT)}", key="table"
        )
    if not len(results):
        raise CnsimError("there is no run to make a table of", "run the scenario first")
    about = metadata(results)
    if what == "metrics":
        units = {m["name"]: m["unit"] for m in list_("metrics")}
        return rows([_labels(r) | {"run": r.key} | r.metrics for r in results], units=units, metadata=about)
    if what == "flows":
        return flows(results, about)
    if what == "events":
        kept = [(r, json.loads(r.events())) for r in results]
        if all(found is None for _, found in kept):
            remedy = 'run with record={"flow_events": ["H1>H5"]}'
            raise CnsimError("these runs kept no events of flows", remedy, key="record.flow_events")
        units = {"time": "ps", "rate": "bit/s", "window": "B", "in_flight": "B", "rtt": "ps"}
        return rows([_labels(r) | event for r, found in kept for event in found or ()], units=units, metadata=about)
    if what == "counters":
        return rows([_labels(r) | r.counters for r in results], metadata=about)
    if what == "traffic":
        named = [(r, t) for r in results for t in json.loads(r.traffic())]
        if not named:
            raise CnsimError("no traffic has a name", 'give each [[traffic]] table a name = "..."', key="traffic")
        units = {m["name"]: m["unit"] for m in list_("metrics")}
        found = [_labels(r) | {"traffic": t["name"]} | t["metrics"] for r, t in named]
        return rows(found, units=units, metadata=about)
    if what == "classes":
        # Names of traffic have no space.
        classes = [(r, t, t["name"].removeprefix("class ")) for r in results for t in json.loads(r.traffic()) if " " in t["name"]]
        if not classes:
            raise CnsimError("no run has several classes", 'write [[class]] tables, or build(..., class_=[{"name": "roce"}, ...])', key="class")
        units = {m["name"]: m["unit"] for m in list_("metrics")}
        return rows([_labels(r) | {"class": name} | t["metrics"] for r, t, name in classes], units=units, metadata=about)
    if what == "ports":
        found = [_labels(r) | {"port": port} | facts for r in results for port, facts in json.loads(r.ports()).items()]
        units = {"throughput": "Gb/s", "paused": "%", "queue_max": "KB", "mean_queue": "KB", "sd_queue": "KB", "received": "Gb/s"}
        return rows(found, units=units, metadata=about)
    if what == "xoff":
        found = [
            _labels(r)
            | {"port": x["port"], "tier": x["tier"], "class": x.get("class", ""), "time_s": (i + 1) * part, "paused": float(share)}
            for r, (part, ports) in ((r, r.xoff()) for r in results)
            for x in json.loads(ports)
            for i, share in enumerate(x["percent"])
        ]
        return rows(found, units={"time_s": "s", "paused": "%"}, metadata=about)
    if what == "summary":
        return rows(summary(), metadata=about)
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


#: Columns of the times of flows, as the native module hands them over, and their units.
_FLOWS = {"bytes": "B", "start": "ps", "time": "ps", "ideal": "ps", "fork_ideal": "ps"}


def flows(results: Sequence[_cnsim.Record], about: Mapping[str, str]) -> Table:
    """A row for each finite flow that was received whole: hosts, bytes, whole picoseconds, the slowdown, its traffic's name."""
    parts: dict[str, list[Any]] = {k: [] for k in ("study", "scenario", "condition", "pause", "scheme", "source", "destination", "traffic")}
    numbers: dict[str, list[Any]] = {k: [] for k in ("seed", *_FLOWS)}
    slowdowns: list[Any] = []
    for r in results:
        hosts, data = r.flows()
        found = np.frombuffer(data, dtype="<u8").reshape(-1, 8).astype(np.int64)
        label = _labels(r)
        for key in ("study", "scenario", "condition", "pause", "scheme"):
            parts[key].extend([label[key]] * len(found))
        for key, at in (("source", 0), ("destination", 1)):
            parts[key].extend(hosts[n] if n < len(hosts) else str(n) for n in found[:, at])
        slowdowns.append(np.frombuffer(r.slowdowns(), dtype="<f8"))
        names = ["", *(t["name"] for t in json.loads(r.traffic()))]
        parts["traffic"].extend(names[n] for n in found[:, 7])
        numbers["seed"].append(np.full(len(found), r.seed, dtype=np.int64))
        for at, key in enumerate(_FLOWS, 2):
            numbers[key].append(found[:, at])
    if not parts["source"]:
        raise CnsimError(
            "no run kept the times of finite flows",
            'run a scenario that has finite flows, with_({"record.flow_times": "on"}) where it has more than 100,000',
            key="flows",
        )
    whole = {key: np.concatenate(some) for key, some in numbers.items()}
    named = {f"{key}_{_FLOWS[key]}" if _FLOWS.get(key) == "ps" else key: whole[key] for key in whole}
    units = {f"{key}_ps" if unit == "ps" else key: unit for key, unit in _FLOWS.items()}
    return columns({**parts, **named, "slowdown": np.concatenate(slowdowns)}, units=units, metadata=about)


def write_parquet(table: Table, path: Path) -> Path:
    """Writes a table whole, with the metadata of its schema."""
    try:
        from arro3.io import write_parquet as write
    except ImportError:
        missing("arro3-io", "parquet", "Parquet")
    said = table.arrow.schema.metadata_str
    temporary = path.with_name(f".{path.name}.cnsim.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(table.arrow, str(temporary), compression="zstd(3)", key_value_metadata={**said, "cnsim.units": json.dumps(table.units)})
        temporary.replace(path)
    except OSError as e:
        temporary.unlink(missing_ok=True)
        raise CnsimError(f"{path}: {e}", "choose another place", key="path") from None
    return path
