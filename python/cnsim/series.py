"""Series of runs over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .plot import Line
    from .tables import Table

__all__ = ["Series"]


class Series:
    """A time series: values in bins, with their unit."""

    def __init__(self, name: str, unit: str, bin: float, data: bytes, label: str = "") -> None:
        self.name, self.unit, self.bin, self._data, self.label = name, unit, bin, data, label

    @property
    def values(self) -> NDArray[np.float64]:
        """Values, one a bin; the array is read-only and shares the memory."""
        import numpy as np

        return np.frombuffer(self._data, dtype="<f8")

    @property
    def time(self) -> NDArray[np.float64]:
        """Ends of the bins, seconds."""
        import numpy as np

        return np.arange(1, len(self) + 1, dtype=np.float64) * self.bin

    @property
    def table(self) -> Table:
        """An Arrow table: the column ``time_s``, and one with name and unit of the series."""
        from .tables import columns

        unit = self.unit.replace("/", "_per_")
        name = f"{self.name}_{unit}" if unit else self.name
        units = {"time_s": "s", name: self.unit}
        return columns({"time_s": self.time, name: self.values}, units=units)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def plot(self, ax: Axes | None = None, **line: Any) -> Axes:
        """Draws the series over time; returns matplotlib axes."""
        from .plot import series

        return series([self._line()], ax, **line)

    def _line(self) -> Line:
        from .plot import Line

        return Line(self.name, self.unit, self.label, self.time, self.values)

    def __len__(self) -> int:
        return len(self._data) // 8

    def __repr__(self) -> str:
        label = f" of {self.label}" if self.label else ""
        return f"<Series {self.name} [{self.unit}]{label}: {len(self)} bins of {self.bin:g} s>"
