"""Exceptions of cnsim: each has place, reason and remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import TracebackType
from typing import NoReturn

__all__ = [
    "CnsimError",
    "ExecutorError",
    "MissingExtra",
    "Problem",
    "ResultsWarning",
    "RunError",
    "ScenarioError",
    "SchemeError",
    "SweepWarning",
    "UnknownName",
    "VersionError",
]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a scenario."""

    file: str
    """File name or name of the scenario; empty for a value that Python gave."""
    line: int | None
    """Line in the file, from 1."""
    column: int | None
    """Column in the line, from 1."""
    key: str
    """Dotted key."""
    reason: str
    """The cause of the error."""
    remedy: str
    """A way to fix it."""


class CnsimError(Exception):
    """Any error of cnsim.

    ``reason`` is the cause, ``remedy`` a way to fix it, and ``key`` the key, parameter or argument concerned.
    """

    def __init__(self, reason: str, remedy: str = "", *, key: str = "", text: str = "") -> None:
        self.reason = reason
        self.remedy = remedy
        self.key = key
        self._text = text or (f"{reason}\n  help: {remedy}" if remedy else reason)
        super().__init__(self._text)

    def __str__(self) -> str:
        return self._text  # a KeyError would show it in quotes

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.reason, self.remedy, self.key, self._text)


def _again(kind: type[CnsimError], reason: str, remedy: str, key: str, text: str) -> CnsimError:
    return kind(reason, remedy, key=key, text=text)


class ScenarioError(CnsimError, ValueError):
    """A scenario, a key or a value that cannot be used. ``problems`` lists everything that is wrong."""

    problems: tuple[Problem, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return (*super().__reduce__(), {"problems": self.problems})


class UnknownName(ScenarioError, KeyError):
    """A key, scenario, scheme, metric, series or table that does not exist."""


class SchemeError(CnsimError, ValueError):
    """A scheme in Python that is declared wrongly, asks for something impossible, or raised in a run.

    ``__cause__`` is the scheme's own exception, with its own traceback.
    """


class RunError(CnsimError, RuntimeError):
    """A run that broke a law or failed."""


class ExecutorError(CnsimError, RuntimeError):
    """An executor that lost its workers or cannot take a run."""


class VersionError(CnsimError, ValueError):
    """A worker or a result of another version, or with another scheme of the same name."""


class ResultsWarning(UserWarning):
    """There are notes on finished runs, which ``Results.notes`` has: flows were not received whole, or a conclusion may mislead."""


class SweepWarning(UserWarning):
    """Some points of a sweep failed. ``Sweep.failed`` has the reasons; all other points have results."""


class MissingExtra(CnsimError, ImportError):
    """A package that only one of the extras installs."""


def missing(package: str, extra: str, what: str) -> NoReturn:
    """Raises an error that names the extra with a missing package."""
    raise MissingExtra(
        f"{what} needs the package `{package}`, which is not installed",
        f"pip install 'cnsim[{extra}]'",
        key=package,
    ) from None


def near(name: str, names: list[str]) -> str:
    """``did you mean `x`?`` for a name that resembles an existing one; else nothing."""
    from difflib import get_close_matches

    found = get_close_matches(name, names, 1)
    return f"did you mean `{found[0]}`? " if found else ""


#: Words of the command line, and the words of Python for them.
_WORDS = (
    (r"^--(set|over): ", ""),
    (r"^--over [^\n]*?: `", "`"),
    (r"put all its values behind one --over", "put all its values into one list"),
    (r"`cnsim list (\w+)` shows them", r'`cn.list("\1")` shows them'),
    (r"`cnsim explain ([\w-]+)` shows them", r'`cn.list("schemes")` shows them'),
)
#: Beginnings of reasons that report an unknown name.
_NAMELESS = re.compile(
    r"(\S+: )?(`[^`]*`: )?(unknown |there is no (?!such file)|no scenario of this name|no scheme has this parameter|`\S+` has no such parameter)"
)


def in_python(text: str) -> str:
    """A text of the program in Python's words."""
    for words, ours in _WORDS:
        text = re.sub(words, ours, text, flags=re.M)
    return text


def made(kind: str, reason: str, remedy: str, key: str) -> CnsimError:
    """An exception of this class, from an error of the native module."""
    reason, remedy = in_python(reason), in_python(remedy)
    unknown = kind == "ScenarioError" and _NAMELESS.match(reason)
    found: type[CnsimError] = UnknownName if unknown else globals()[kind]
    return found(reason, remedy, key=key)


def of_problems(found: list[tuple[str, tuple[int, int] | None, str, str, str, str]]) -> ScenarioError:
    """One exception for all problems of a scenario: file, place, key, reason, remedy and text of each."""
    problems = tuple(
        Problem("" if file == "--set" else file, place and place[0], place and place[1], key, in_python(reason), in_python(remedy))
        for file, place, key, reason, remedy, _ in found
    )
    kind = UnknownName if all(_NAMELESS.match(p.reason) for p in problems) else ScenarioError
    text = "\n".join(in_python(f[5]) for f in found)
    error = kind(problems[0].reason, problems[0].remedy, key=problems[0].key, text=text)
    error.problems = problems
    return error


def raised_at(tb: TracebackType | None) -> str:
    """`` (file.py:12)``: the place of an exception, in the last code that is neither of cnsim nor of a library."""
    from traceback import walk_tb

    found = [(f.f_code.co_filename, line) for f, line in walk_tb(tb)]
    own = [at for at in found if not re.search(r"/site-packages/|/cnsim/|/lib/python3|^<frozen", at[0].replace("\\", "/"))]
    return f" ({(own or found)[-1][0]}:{(own or found)[-1][1]})" if found else ""
