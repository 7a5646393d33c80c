"""Schemes in Python: a class with up to three rooms, registered under a name.

Samples, feedback, timers and byte counts wake a scheme; every frame does so only on request. Its rooms are classes inside of it:
``CongestionPoint`` at the output queue of a switch, ``ReactionPoint`` at the source of a flow, ``Reflector`` at its
destination. Rates are in bit/s, times in seconds, lengths in bytes.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

from . import _cnsim
from ._code import code_of
from ._declared import FIXED, alike, changeable, here, names_used, place, refuse_call, refuse_chance, refuse_methods, refuse_shared
from .errors import SchemeError
from .rooms import ROOMS, Plan, Promise, Room

if TYPE_CHECKING:
    from ._cnsim import Feedback

__all__ = ["Scheme", "param", "scheme"]


class _Param(NamedTuple):
    kind: str
    default: str
    low: str | None
    high: str | None
    choices: tuple[str, ...]
    symbol: str
    doc: str
    optional: bool


class param:
    """Declares a parameter of a scheme: default, range, symbol and description.

    A parameter is set by ``.with_(**{"scheme.params.KEY": ...})``, by ``--set``, in scenario files and in sweeps. ``explain``
    and the report show it. On an instance it is the value: an ``int`` of bytes, a ``float`` of bit/s or seconds.
    """

    @staticmethod
    def bytes(
        default: int | str, *, low: int | str | None = None, high: int | str | None = None, symbol: str = "", doc: str = ""
    ) -> int:
        """A number of bytes: ``26_000`` or ``"26 KB"``."""
        return cast(int, _declared("bytes", default, low, high, symbol, doc))

    @staticmethod
    def rate(
        default: float | str,
        *,
        low: float | str | None = None,
        high: float | str | None = None,
        symbol: str = "",
        doc: str = "",
    ) -> float:
        """A rate: ``12e6`` (bit/s) or ``"12 Mb/s"``."""
        return cast(float, _declared("rate", default, low, high, symbol, doc))

    @staticmethod
    def time(
        default: float | str,
        *,
        low: float | str | None = None,
        high: float | str | None = None,
        symbol: str = "",
        doc: str = "",
    ) -> float:
        """A time: ``500e-6`` (seconds) or ``"500 us"``."""
        return cast(float, _declared("time", default, low, high, symbol, doc))

    @staticmethod
    def number(
        default: float | str,
        *,
        low: float | str | None = None,
        high: float | str | None = None,
        symbol: str = "",
        doc: str = "",
    ) -> float:
        """A number without a unit: ``2.0`` or ``"1/128"``."""
        return cast(float, _declared("number", default, low, high, symbol, doc))

    @staticmethod
    def integer(
        default: int, *, low: int | None = None, high: int | None = None, symbol: str = "", doc: str = ""
    ) -> int:
        """A whole number from 0 to 2^32 - 1."""
        return cast(int, _declared("integer", default, low, high, symbol, doc))

    @staticmethod
    def switch(default: bool, *, symbol: str = "", doc: str = "") -> bool:
        """On or off."""
        return cast(bool, _declared("on/off", default, None, None, symbol, doc))

    @staticmethod
    def choice(default: str, *others: str, symbol: str = "", doc: str = "") -> str:
        """One of some words; the first is the default."""
        return cast(str, _Param("choice", default, None, None, (default, *others), symbol, doc, False))


_UNITS = {"bytes": " B", "rate": " b/s", "time": " s", "number": "", "integer": ""}


def _declared(kind: str, default: object, low: object, high: object, symbol: str, doc: str) -> _Param:
    def text(value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, (int, float)):
            return plain(value) + _UNITS[kind]
        where: Any = sys._getframe(1)
        while where.f_code.co_filename == __file__ and where.f_back is not None:
            where = where.f_back
        raise SchemeError(
            f"a parameter of kind {kind} cannot be {value!r} ({where.f_code.co_filename}:{where.f_lineno})",
            "give a number, or a text with a unit",
            key=kind,
        )

    def bound(value: object) -> str | None:
        return None if value is None else text(value)

    return _Param(kind, text(default), bound(low), bound(high), (), symbol, doc, False)


def plain(value: float) -> str:
    """A number as text without an exponent, which reads back as the same bits."""
    from decimal import Decimal

    if isinstance(value, int) or not -1e300 < value < 1e300:
        return repr(value)
    return format(Decimal(repr(value)), "f")


class Scheme:
    """A congestion-management scheme: its parameters, and its rooms as classes inside of it.

    >>> import cnsim as cn
    >>> @cn.scheme("deaf")
    ... class Deaf(cn.Scheme):
    ...     '''Halves the rate when a message arrives.'''
    ...     class ReactionPoint(cn.ReactionPoint):
    ...         def on_feedback(self, feedback, limiter):
    ...             limiter.rate = limiter.rate / 2
    """

    plan: ClassVar[Plan] = Plan()
    """Facts that the network must know in advance."""
    promise: ClassVar[Promise] = Promise()
    """Promises that the conformance suite checks."""
    counters: ClassVar[dict[str, str]] = {}
    """Counters that its rooms raise with ``count``: name and meaning."""
    gauges: ClassVar[dict[str, str]] = {}
    """Values that its rooms show with ``gauge``: name and unit. A gauge is a series if its port or flow is recorded."""

    def engages(self, feedback: Feedback) -> bool:
        """May this message build a reaction point where there is none?"""
        return True

    def __setattr__(self, key: str, value: object) -> None:
        if "_made" in self.__dict__:
            raise SchemeError(
                f"`{key}` of the scheme was set in a run: all rooms and all runs share the scheme",
                f"keep it in the room: self.{key} = ...",
                key=key,
            )
        object.__setattr__(self, key, value)

    def _room(self, kind: str, site: tuple[Any, ...]) -> object:
        _, place, _ = ROOMS[kind]
        found = getattr(type(self), kind, None)
        if kind == "Reflector" and found is None and self.plan.echo:
            return "echo"
        if found is None:
            return None
        room = found.__new__(found)
        room.p, room.site = self, place(*site)
        room.__init__()
        return room


_T = TypeVar("_T", bound=type[Scheme])

_known: dict[str, tuple[type[Scheme], _cnsim.SchemeSpec]] = {}
_registry: list[_cnsim.Registry] = []


def params_of(cls: type[Scheme]) -> dict[str, _Param]:
    """The parameters of a class and of those that it builds on."""
    found: dict[str, _Param] = {}
    for base in reversed(cls.__mro__):
        found.update({k: v for k, v in vars(base).items() if isinstance(v, _Param)})
    return found


def scheme(name: str, *, title: str = "") -> Callable[[_T], _T]:
    """Registers a class under a name, for scenarios, ``--set``, sweeps and reports.

    A second registration replaces the first, so a notebook's cell can be run again. ``title`` is one line for lists; its
    default is the first line of the class's docstring.
    """
    if not isinstance(name, str):
        raise SchemeError("a scheme was registered without a name", 'write @cn.scheme("my-scheme")', key="name")

    def register(cls: _T) -> _T:
        if not (isinstance(cls, type) and issubclass(cls, Scheme)):
            raise SchemeError(
                f"scheme `{name}`: {getattr(cls, '__name__', cls)!r} is no class of schemes",
                "derive it from cn.Scheme",
                key=name,
            )
        here[:] = [sys._getframe(1).f_code.co_filename]
        spec = spec_of(name, title, cls)
        spec.build([])
        others = [s for n, (_, s) in _known.items() if n != name]
        _cnsim.Registry([*others, spec])
        _known[name] = (cls, spec)
        _registry.clear()
        cls._name = name  # type: ignore[attr-defined]
        return cls

    return register


def _refuse_scheme(name: str, cls: type[Scheme], rooms: list[str]) -> None:
    """Refuses attributes of a class, beside its rooms, that have no effect or that all rooms would share."""
    for key, kind in (("plan", Plan), ("promise", Promise)):
        if not isinstance(getattr(cls, key), kind):
            raise SchemeError(
                f"scheme `{name}`: its {key} is {getattr(cls, key)!r}{place(cls, key)}", f"write {key} = cn.{kind.__name__}(...)", key=key
            )
    for key, example in (("counters", '{"my_cuts": "messages that lowered a rate"}'), ("gauges", '{"fair_rate": "bit/s"}')):
        words = getattr(cls, key)
        if not isinstance(words, Mapping) or not all(isinstance(w, str) for pair in words.items() for w in pair):
            raise SchemeError(f"scheme `{name}`: its {key} are {words!r}{place(cls, key)}", f"write {key} = {example}", key=key)
    used = {base for kind in rooms for base in getattr(cls, kind).__mro__}
    methods = {m for base, _, _ in ROOMS.values() for m in vars(base) if m.startswith("on_")}
    for base in cls.__mro__[: cls.__mro__.index(Scheme)]:
        for key, value in vars(base).items():
            where = f"scheme `{name}`: {key}"
            room = next((k for k, r in ROOMS.items() if isinstance(value, type) and issubclass(value, r[0])), None)
            if room is not None and key not in ROOMS and not key.startswith("_") and value not in used:
                raise SchemeError(f"{where} is a {room} that nobody asks for{place(base, key)}", f"call it {room}", key=key)
            if key in methods:
                raise SchemeError(
                    f"{where} stands in the scheme, where nobody calls it{place(base, key)}",
                    "move it into the class CongestionPoint, ReactionPoint or Reflector inside of the scheme",
                    key=key,
                )
            meant = type(value).__name__.lower() if isinstance(value, (Plan, Promise)) else None
            if isinstance(value, types.FunctionType):
                meant = alike(key, ["engages"])
            if meant is not None and key != meant and not key.startswith("_"):
                raise SchemeError(f"{where} is no part of a scheme{place(base, key)}", f"did you mean `{meant}`?", key=key)
            if isinstance(value, _Param) and (key == "code" or key.startswith("_") or hasattr(Scheme, key)):
                raise SchemeError(f"{where} cannot be the name of a parameter{place(base, key)}", "call it otherwise", key=key)
    for key, count in (("engages", 1), ("__init__", 0)):
        if isinstance(getattr(cls, key), types.FunctionType):
            refuse_call(f"scheme `{name}`: {key}", getattr(cls, key), count, cls, key, Scheme)
    refuse_shared(name, cls.__name__, cls, {getattr(cls, kind) for kind in rooms}, but=("counters", "gauges"))
    refuse_chance(name, cls.__name__, cls)


def _refuse_uncalled(name: str, cls: type[Scheme]) -> None:
    """Refuses methods that are never called, as the plan does not ask for them."""
    reaction, sink = getattr(cls, "ReactionPoint", None), getattr(cls, "Reflector", None)
    if cls.plan.echo and sink is not None:
        raise SchemeError(
            f"scheme `{name}`: its Reflector stands in place of the one that echo brings{place(sink)}", "leave one of the two out", key="echo"
        )

    def has(room: type[Room[Any]] | None, method: str) -> bool:
        return room is not None and room._has(room.__new__(room), method)

    frames = cls.plan.reflect != "never"
    # A scheme may use acknowledgements that it does not need: those of a flow.
    uses = reaction is not None and "wake_on_acks" in names_used(reaction) and cls.plan.scope == "flow"
    acked = cls.plan.echo or cls.plan.acks != "optional" or uses
    for room, method, asked, words in (
        (reaction, "on_ack", acked, 'scope="flow", acks="needed") for the acknowledgements of queue pairs, or cn.Plan(echo=True'),
        (sink, "on_frame", frames, 'reflect="marked"'),
        # A reflector is built by the first frame or probe that wakes it.
        (sink, "on_timer", frames or has(sink, "on_probe"), 'reflect="marked"'),
    ):
        if not asked and room is not None and has(room, method):
            where = f"scheme `{name}`: nobody calls {room.__name__}.{method}, as the plan does not ask for it"
            raise SchemeError(f"{where}{place(getattr(room, method))}", f"write plan = cn.Plan({words})", key=method)


def spec_of(name: str, title: str, cls: type[Scheme]) -> _cnsim.SchemeSpec:
    """The registration of a class; raises an error for a wrong declaration."""
    rooms = [kind for kind in ROOMS if getattr(cls, kind, None) is not None]
    for kind in rooms:
        base, _, needs = ROOMS[kind]
        room = getattr(cls, kind)
        if not (isinstance(room, type) and issubclass(room, base)):
            raise SchemeError(
                f"scheme `{name}`: its {kind} is no cn.{kind}{place(cls, kind)}", f"write class {kind}(cn.{kind})", key=kind
            )
        methods = {m: len(inspect.signature(f).parameters) - 1 for m, f in vars(base).items() if m.startswith(("on_", "start"))}
        refuse_methods(name, kind, room, methods, base)
        refuse_shared(name, kind, room, set())
        refuse_chance(name, kind, room)
        if not any(room._has(room.__new__(room), m) for m in methods):
            raise SchemeError(f"scheme `{name}`: its {kind} has no method{place(room)}", f"give it {needs}", key=kind)
        if kind == "ReactionPoint" and not any(room._has(room.__new__(room), m) for m in ("on_feedback", "on_ack")):
            raise SchemeError(f"scheme `{name}`: its ReactionPoint receives nothing{place(room)}", f"give it {needs}", key=kind)
    _refuse_scheme(name, cls, rooms)
    if not rooms:
        raise SchemeError(
            f"scheme `{name}`: the class {cls.__name__} has no room",
            "write a class CongestionPoint, ReactionPoint or Reflector inside of it",
            key=name,
        )
    _refuse_uncalled(name, cls)
    text = inspect.getdoc(cls) or ""
    if text == inspect.getdoc(Scheme):
        text = ""
    plan = cls.plan._asdict()
    if plan.pop("echo"):
        plan.update(reflect="tagged", received=True)
    point = getattr(cls, "CongestionPoint", None)
    plan["departures"] = point is not None and point._has(point.__new__(point), "on_departure")
    declared = [{"key": k, **p._asdict(), "choices": list(p.choices)} for k, p in params_of(cls).items()]

    def make(values: dict[str, Any]) -> Scheme:
        made = cls.__new__(cls)
        made.__dict__.update(values)
        made.__init__()  # type: ignore[misc]
        for key, value in vars(made).items():
            words = changeable(value)
            if words is not None:
                raise SchemeError(
                    f"scheme `{name}`: `{key}`, which its __init__ makes, is {words}: all rooms and all runs would share it",
                    f"make it in the room that remembers it, in `start`; {FIXED}",
                    key=key,
                )
        made.__dict__["_made"] = True
        return made

    try:
        return _cnsim.SchemeSpec(
            name,
            title or (text.splitlines()[0] if text else cls.__name__),
            text,
            lambda: code_of(cls),
            declared,
            list(cls.counters.items()),
            list(cls.gauges.items()),
            plan,
            cls.promise._asdict(),
            make,
        )
    except (SchemeError, TypeError, OverflowError) as e:
        reason, remedy = (e.reason, e.remedy) if isinstance(e, SchemeError) else (str(e), "look at the fields of cn.Plan and cn.Promise")
        reason = reason if reason.startswith("scheme `") else f"scheme `{name}`: {reason}"
        raise SchemeError(f"{reason}{place(cls)}", remedy, key=getattr(e, "key", "")) from None


def name_of(cls: type[Scheme]) -> str:
    """The name under which a class is registered."""
    for name, (known, _) in _known.items():
        if known is cls:
            return name
    raise SchemeError(
        f"the class {cls.__qualname__} is not registered{place(cls)}", 'write @cn.scheme("my-scheme") above it', key="scheme"
    )


def registry() -> _cnsim.Registry:
    """The registry of all schemes at present: those of cnsim, and those in Python."""
    if not _registry:
        _registry.append(_cnsim.Registry([s for _, s in _known.values()]))
    return _registry[0]


def registered() -> dict[str, type[Scheme]]:
    """The schemes in Python by name."""
    return {name: cls for name, (cls, _) in _known.items()}


def spec_named(name: str) -> _cnsim.SchemeSpec | None:
    """The registration of a scheme in Python by its name; none for other names."""
    found = _known.get(name)
    return found and found[1]


def troubles(known: _cnsim.Registry) -> list[BaseException]:
    """Returns and clears the exceptions that schemes raised in runs."""
    found = known.trouble()
    return [] if found is None else [found]
