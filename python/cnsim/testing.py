"""The conformance suite for schemes."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _cnsim, _values
from .errors import SchemeError, near
from .schemes import Scheme, registered, spec_named, spec_of

__all__ = ["Check", "Report", "check_scheme"]


class Check(NamedTuple):
    """One check of the suite."""

    name: str
    """Short name of the check."""
    promise: str
    """The promise that is checked."""
    broken: str | None
    """The events that broke the promise; none if it is kept."""


class Report(tuple[Check, ...]):
    """All checks of a scheme."""

    @property
    def ok(self) -> bool:
        """Are all promises kept?"""
        return all(c.broken is None for c in self)

    def __repr__(self) -> str:
        said = [f"{'ok    ' if c.broken is None else 'BROKEN'}  {c.name}: {c.broken or c.promise}" for c in self]
        return "\n".join(said)


def check_scheme(what: str | type[Scheme], *, ranges: bool = False, **params: Any) -> Report:
    """Runs the conformance suite on a scheme with these parameters; ``what`` is a class or its name.

    The suite drives the scheme without a network: bounds of rates, lost, doubled, late and hostile messages, the same seed twice. A
    flow must behave the same alone, beside another flow, and in another thread. With ``ranges`` each other parameter is then set to
    both ends of its range, one at a time.

    A promise that is not kept raises :class:`cnsim.SchemeError`. So does a scheme that raises, with its own traceback as the cause.
    A check that takes more than a minute is the last one. Ctrl-C ends the suite.
    """
    if isinstance(what, str):
        spec = spec_named(what)
        if spec is None:
            names = list(registered())
            raise SchemeError(
                f"there is no scheme `{what}` in Python", f"{near(what, names)}registered are {', '.join(names) or 'none'}"
            )
    elif isinstance(what, type) and issubclass(what, Scheme):
        spec = spec_of(str(getattr(what, "_name", what.__name__.lower())), "", what)
    else:
        raise SchemeError(f"{what!r} is no scheme", "give a class derived from cn.Scheme, or its registered name")
    try:
        found = _cnsim.check(spec, _values.sets(params), ranges)
    except SchemeError:
        raise
    except Exception as e:
        raise SchemeError(
            f"scheme `{spec.name}` raises {type(e).__name__} in the conformance suite: {e}",
            "mend the scheme: the exception above is its own",
        ) from e
    report = Report(Check(*row) for row in found)
    if not report.ok:
        broken = "\n".join(f"  {c.name}: promised: {c.promise}; {c.broken}" for c in report if c.broken is not None)
        raise SchemeError(f"scheme `{spec.name}` breaks promises:\n{broken}", "mend it, or state other promises with cn.Promise")
    return report
