"""What can go wrong, as exceptions: each says where, what is wrong, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

__all__ = [
    "CnsimError",
    "ExecutorError",
    "MissingExtra",
    "Problem",
    "RunError",
    "ScenarioError",
    "SchemeError",
    "VersionError",
]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a scenario."""

    file: str
    """File name, name of the scenario, or ``--set`` for a value that was set."""
    line: int | None
    """Line in the file, from 1."""
    column: int | None
    """Column in the line, from 1."""
    key: str
    """Dotted key."""
    reason: str
    """What is wrong."""
    remedy: str
    """What would be right."""


class CnsimError(Exception):
    """Any error of cnsim.

    ``reason`` says what is wrong, ``remedy`` what would be right, ``key`` which key, parameter or argument is meant.
    """

    def __init__(self, reason: str, remedy: str = "", *, key: str = "", text: str = "") -> None:
        self.reason = reason
        self.remedy = remedy
        self.key = key
        self._text = text or (f"{reason}\n  help: {remedy}" if remedy else reason)
        super().__init__(self._text)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.reason, self.remedy, self.key, self._text)


def _again(kind: type[CnsimError], reason: str, remedy: str, key: str, text: str) -> CnsimError:
    return kind(reason, remedy, key=key, text=text)


class ScenarioError(CnsimError):
    """A scenario, a key or a value that cannot be used. ``problems`` lists everything that is wrong."""

    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, found: list[tuple[str, tuple[int, int] | None, str, str, str, str]]) -> ScenarioError:
        """From what the native module found."""
        error = cls(found[0][3], found[0][4], key=found[0][2], text="\n".join(f[5] for f in found))
        error.problems = tuple(
            Problem(file, place and place[0], place and place[1], key, reason, remedy)
            for file, place, key, reason, remedy, _ in found
        )
        return error


class SchemeError(CnsimError):
    """A scheme in Python that is declared wrongly, asks for what cannot be, or raised in a run.

    What the scheme itself raised is ``__cause__``, with its own traceback.
    """


class RunError(CnsimError):
    """A run that broke a law or failed."""


class ExecutorError(CnsimError):
    """An executor that lost its workers or cannot take a run."""


class VersionError(CnsimError):
    """A worker or a result of another version, or with another scheme of the same name."""


class MissingExtra(CnsimError, ImportError):
    """A package that only one of the extras installs."""


def missing(package: str, extra: str, what: str) -> NoReturn:
    """Says which extra holds a package that is not there."""
    raise MissingExtra(
        f"{what} needs the package `{package}`, which is not installed",
        f"pip install 'cnsim[{extra}]'",
        key=package,
    ) from None


def near(name: str, names: list[str]) -> str:
    """``did you mean `x`?`` where a name comes near to one that exists."""
    from difflib import get_close_matches

    found = get_close_matches(name, names, 1)
    return f"did you mean `{found[0]}`? " if found else ""
