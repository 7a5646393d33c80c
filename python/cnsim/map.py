"""The network of a run with its ports over time."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Literal

from . import _cnsim
from .errors import CnsimError, UnknownName, near
from .series import Series

__all__ = ["Map"]

What = Literal["used", "queue", "xoff", "lost"]


class Map:
    """A run's ports over time: in a notebook a map that plays. ``used`` is the use of the link in %, ``queue`` the largest queue in
    KB, ``xoff`` the time in XOFF in %, ``lost`` the lost data frames, each of a bin of ``record.bin``."""

    def __init__(self, record: _cnsim.Record) -> None:
        self._record = record

    @property
    def ports(self) -> list[str]:
        """Names of the ports: ``L1>S1``, ``H1>L1``."""
        return self._record.map_ports() or []

    def series(self, port: str, what: What = "queue") -> Series:
        """A quantity of a port over time."""
        found = self._record.map_row(port, what)
        if found is None and port not in self.ports:
            raise UnknownName(f"there is no port `{port}`", f"{near(port, self.ports)}m.ports has all", key="port")
        if found is None:
            raise self._absent(what)
        return Series(f"{what} {port}", *found, label=self._label)

    def still(self, what: What = "used", at: float = 0.0) -> str:
        """The map at a time, seconds, as a text of SVG."""
        found = self._record.map_still(what, at)
        if found is None:
            raise self._absent(what, at)
        return found

    def save(self, path: str | os.PathLike[str], what: What = "used", at: float = 0.0) -> Path:
        """Writes the map that plays as ``.html``, or the map at a time as ``.svg``; gives the path."""
        where = Path(path)
        if where.suffix not in (".html", ".svg"):
            raise CnsimError(f"{where} is neither .html nor .svg", "choose a name with one of these ends", key="path")
        where.write_text(self.still(what, at) if where.suffix == ".svg" else self._page, encoding="utf-8")
        return where

    @property
    def _page(self) -> str:
        return self._record.map_page() or ""

    @property
    def _label(self) -> str:
        return f"{self._record.scheme}, seed {self._record.seed}"

    def _absent(self, what: str, at: float = 0.0) -> CnsimError:
        kept = [w for w in ("used", "queue", "xoff", "lost") if any(self._record.map_row(p, w) for p in self.ports)]
        remedy = f"kept are {', '.join(kept)}; XOFFs are kept by record.pauses, and hosts have no queue of their own"
        return UnknownName(f"nothing of `{what}` at {at:g} s was kept there", remedy, key="what")

    def _repr_html_(self) -> str:
        page = html.escape(self._page, quote=True)
        return f'<iframe srcdoc="{page}" title="map of {html.escape(self._label)}" style="width:100%;height:760px;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<Map of {self._label}: {len(self.ports)} ports; .save(\"map.html\") writes it as a page>"
