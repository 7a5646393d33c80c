"""Lists of scenarios, studies, schemes, metrics, assumptions."""

from __future__ import annotations

import html
import json
from typing import Any

from . import _cnsim
from .errors import UnknownName, near
from .schemes import registry

__all__ = ["Listing", "list_"]

_WHAT = ["scenarios", "studies", "schemes", "metrics", "assumptions"]


class Listing(list[dict[str, Any]]):
    """A list of rows with a name and a text, shown as a table."""

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [str(row["name"]) for row in self]

    def _rows(self) -> list[tuple[str, str]]:
        return [(str(r["name"]), str(r.get("title") or r.get("about") or "")) for r in self]

    def __repr__(self) -> str:
        width = max((len(name) for name, _ in self._rows()), default=0)
        return "\n".join(f"{name:{width}}  {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        cell = "<tr><td style='text-align:left'><code>{}</code></td><td style='text-align:left'>{}</td></tr>"
        return "<table>" + "".join(cell.format(*map(html.escape, row)) for row in self._rows()) + "</table>"


def list_(what: str = "scenarios") -> Listing:
    """Lists scenarios, studies, schemes, metrics or assumptions, as ``cnsim list`` does."""
    if what not in _WHAT:
        raise UnknownName(
            f"there are no `{what}`", f"{near(str(what), _WHAT)}ask for {', '.join(_WHAT)}", key="what"
        )
    text = registry().schemes() if what == "schemes" else _cnsim.lists(what)
    return Listing(json.loads(text))
