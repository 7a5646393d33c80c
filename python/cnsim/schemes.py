"""Schemes in Python: a class with up to three rooms, registered under a name.

A scheme is woken on samples, feedback, timers and byte counts, never for every frame. Its rooms are classes inside of it:
``CongestionPoint`` at the output queue of a switch, ``ReactionPoint`` at the source of a flow, ``Reflector`` at its
destination. Rates are in bit/s, times in seconds, lengths in bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

from . import _cnsim
from ._code import code_of
from .errors import SchemeError, near

if TYPE_CHECKING:
    from ._cnsim import Ack, Feedback, Frame, Limiter, Probe, Queue, Sink

__all__ = [
    "CongestionPoint",
    "Plan",
    "Promise",
    "QueueSite",
    "ReactionPoint",
    "Reflector",
    "Scheme",
    "SinkSite",
    "SourceSite",
    "param",
    "scheme",
]


class QueueSite(NamedTuple):
    """Where a congestion point stands: at the output queue of a switch port."""

    node: int
    """Number of the switch."""
    port: int
    """Number of the port within the switch."""
    point: int
    """Identity to put into feedback messages."""
    rate: float
    """Nominal rate of the link, bit/s."""
    attached: bool
    """Is a link attached?"""


class SourceSite(NamedTuple):
    """A source of frames that a reaction point steers."""

    flow: int
    """Number of the flow."""
    src: int
    """Source host."""
    dst: int
    """Destination host."""
    line_rate: float
    """Rate of the access link, bit/s."""
    base_rtt: float
    """Smallest round-trip time of the path, unloaded, seconds."""
    mtu: int
    """Largest data frame, bytes."""


class SinkSite(NamedTuple):
    """A receiving end that a reflector serves."""

    flow: int
    """Number of the flow."""
    src: int
    """Source host of the flow."""
    dst: int
    """The receiving host."""
    line_rate: float
    """Rate of the access link, bit/s."""


class Plan(NamedTuple):
    """What the network must know of a scheme before any object of it exists."""

    per_host: bool = False
    """One limiter and reaction point for a host, not for each flow."""
    first_frame: bool = False
    """Reaction points are built at a flow's first frame, not at the first message that ``engages`` accepts."""
    reflect: str = "never"
    """Which received frames wake the reflector: never, marked, unmarked, tagged or always."""
    reflect_probability: float = 1.0
    """With ``unmarked``: the share of these frames that do."""
    reflector_per_host: bool = False
    """One reflector for a host, not for each flow."""
    received: bool = False
    """Reflectors ask how many bytes have been received."""
    echo: bool = False
    """Frames that ``limiter.echo_next()`` asks for are acknowledged; no reflector of one's own is needed."""


class Promise(NamedTuple):
    """What a scheme promises with its defaults; the conformance suite looks at it."""

    floor: float = 0.0
    """Smallest rate of a limiter that sends at all, bit/s."""
    stops: bool = False
    """It may stop a flow."""
    warms_up: float = 0.0
    """Flows start below line rate and are there after this time, seconds; 0 where they are left alone."""
    reacts: bool = False
    """Its own messages about a long queue limit a flow."""
    recovers: tuple[int, float] | None = None
    """A flow that sends on without feedback is back at line rate within (bytes, seconds)."""


class _Room:
    """What the three rooms have in common."""

    def _has(self, name: str) -> bool:
        own = getattr(type(self), name, None)
        return own is not None and not getattr(own, "_nothing", False)


def _nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    method._nothing = True  # type: ignore[attr-defined]
    return method


_M = TypeVar("_M", bound=Callable[..., Any])


def _optional(method: _M) -> _M:
    """Marks a method that the network need not call where a class has none of its own."""
    return cast(_M, _nothing(method))


_S = TypeVar("_S", bound="Scheme", covariant=True)


class CongestionPoint(_Room):
    """A switch output queue's side of a scheme."""

    p: Any
    """The scheme, with its parameters."""
    site: QueueSite
    """Where it stands."""

    @_optional
    def start(self, queue: Queue) -> None:
        """Called once before the first frame: arm a sampler, a ramp or timers."""

    @_optional
    def on_sample(self, frame: Frame, queue: Queue) -> None:
        """The armed sampler fired on this data frame, which is counted in the queue."""

    @_optional
    def on_probe(self, probe: Probe, flow: int, queue: Queue) -> None:
        """A probe arrived: read it, write ``probe.fb``, or end it with ``queue.answer()``."""

    @_optional
    def on_timer(self, timer: int, queue: Queue) -> None:
        """A timer expired."""


class ReactionPoint(_Room):
    """A sending station's side of a scheme: it steers one limiter."""

    p: Any
    """The scheme, with its parameters."""
    site: SourceSite
    """Which flow it steers."""

    @_optional
    def start(self, limiter: Limiter) -> None:
        """Called once when it is built."""

    @_optional
    def on_feedback(self, feedback: Feedback, limiter: Limiter) -> None:
        """A message for this flow arrived."""

    @_optional
    def on_ack(self, ack: Ack, limiter: Limiter) -> None:
        """A frame that ``limiter.echo_next()`` asked for was received, and its acknowledgement arrived."""

    @_optional
    def on_bytes(self, limiter: Limiter) -> None:
        """The bytes armed with ``limiter.wake_after`` have been sent."""

    @_optional
    def on_timer(self, timer: int, limiter: Limiter) -> None:
        """A timer expired."""


class Reflector(_Room):
    """A receiving station's side of a scheme."""

    p: Any
    """The scheme, with its parameters."""
    site: SinkSite
    """Which flow it serves."""

    @_optional
    def start(self, sink: Sink) -> None:
        """Called once when it is built."""

    @_optional
    def on_frame(self, frame: Frame, sink: Sink) -> None:
        """A data frame that the plan selects arrived."""

    @_optional
    def on_probe(self, probe: Probe, flow: int, sink: Sink) -> None:
        """A probe reached its destination."""


_ROOMS: dict[str, tuple[type[_Room], Callable[..., Any], str]] = {
    "CongestionPoint": (CongestionPoint, QueueSite, "on_sample, on_timer or on_probe, or start with queue.mark"),
    "ReactionPoint": (ReactionPoint, SourceSite, "on_feedback, or on_ack with plan = Plan(echo=True)"),
    "Reflector": (Reflector, SinkSite, "on_frame or on_probe"),
}


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
    """Declares a parameter of a scheme, once: default, range, symbol and words.

    A parameter can be set by ``.with_(**{"scheme.params.KEY": ...})``, ``--set``, in scenario files and in sweeps, and is shown
    by ``describe`` and the report. On an instance it is the value: an ``int`` of bytes, a ``float`` of bit/s or seconds.
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
        raise SchemeError(
            f"a parameter of kind {kind} cannot be {value!r}", "give a number, or a text with a unit", key=kind
        )

    def bound(value: object) -> str | None:
        return None if value is None else text(value)

    return _Param(kind, text(default), bound(low), bound(high), (), symbol, doc, False)


def plain(value: float) -> str:
    """A number without an exponent where it would have one, and so that it reads back as the same bits."""
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
    """What the network must know in advance."""
    promise: ClassVar[Promise] = Promise()
    """What the conformance suite holds it to."""
    counters: ClassVar[dict[str, str]] = {}
    """What its objects count with ``count``: name and meaning."""

    def engages(self, feedback: Feedback) -> bool:
        """May this message build a reaction point where there is none?"""
        return True

    def _room(self, kind: str, site: tuple[Any, ...]) -> object:
        base, place, _ = _ROOMS[kind]
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
    """Registers a class under a name: scenarios, ``--set``, sweeps and reports then know it.

    Registering a name again replaces what it stood for, so a notebook's cell can be run again. ``title`` is one line for
    lists; without it the first line of the class's text is taken.
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
        spec = spec_of(name, title, cls)
        others = [s for n, (_, s) in _known.items() if n != name]
        _cnsim.Registry([*others, spec])
        _known[name] = (cls, spec)
        _registry.clear()
        cls._name = name  # type: ignore[attr-defined]
        return cls

    return register


def spec_of(name: str, title: str, cls: type[Scheme]) -> _cnsim.SchemeSpec:
    """What is registered of a class; wrong declarations are refused here."""
    rooms = [kind for kind in _ROOMS if getattr(cls, kind, None) is not None]
    for kind in rooms:
        base, _, needs = _ROOMS[kind]
        room = getattr(cls, kind)
        if not (isinstance(room, type) and issubclass(room, base)):
            raise SchemeError(
                f"scheme `{name}`: its {kind} is no cn.{kind}", f"write class {kind}(cn.{kind})", key=kind
            )
        methods = [m for m in vars(base) if m.startswith(("on_", "start"))]
        for own in vars(room):
            if own.startswith("on_") and own not in methods:
                raise SchemeError(
                    f"scheme `{name}`: {kind}.{own} is a method that nobody calls",
                    f"{near(own, methods)}there are {', '.join(methods)}",
                    key=own,
                )
        if not any(room._has(room.__new__(room), m) for m in methods):
            raise SchemeError(f"scheme `{name}`: its {kind} has no method", f"give it {needs}", key=kind)
        if kind == "ReactionPoint" and not any(room._has(room.__new__(room), m) for m in ("on_feedback", "on_ack")):
            raise SchemeError(f"scheme `{name}`: its ReactionPoint hears nothing", f"give it {needs}", key=kind)
    if not rooms:
        raise SchemeError(
            f"scheme `{name}`: the class {cls.__name__} has no room",
            "write a class CongestionPoint, ReactionPoint or Reflector inside of it",
            key=name,
        )
    if not isinstance(cls.plan, Plan) or not isinstance(cls.promise, Promise):
        raise SchemeError(
            f"scheme `{name}`: plan and promise are wrong", "write plan = cn.Plan(...), promise = cn.Promise(...)", key=name
        )
    text = inspect.getdoc(cls) or ""
    if text == inspect.getdoc(Scheme):
        text = ""
    plan = cls.plan._asdict()
    if plan.pop("echo"):
        plan.update(reflect="tagged", received=True)
    declared = [{"key": k, **p._asdict(), "choices": list(p.choices)} for k, p in params_of(cls).items()]

    def make(values: dict[str, Any]) -> Scheme:
        made = cls.__new__(cls)
        made.__dict__.update(values)
        made.__init__()  # type: ignore[misc]
        return made

    return _cnsim.SchemeSpec(
        name,
        title or (text.splitlines()[0] if text else cls.__name__),
        text,
        lambda: code_of(cls),
        declared,
        list(cls.counters.items()),
        plan,
        cls.promise._asdict(),
        make,
    )


def registry() -> _cnsim.Registry:
    """The schemes that are known now: those of cnsim, and those registered."""
    if not _registry:
        _registry.append(_cnsim.Registry([s for _, s in _known.values()]))
    return _registry[0]


def registered() -> dict[str, type[Scheme]]:
    """The schemes in Python by name."""
    return {name: cls for name, (cls, _) in _known.items()}


def spec_named(name: str) -> _cnsim.SchemeSpec | None:
    """What is registered under a name, where it is a scheme in Python."""
    found = _known.get(name)
    return found and found[1]


def troubles(known: _cnsim.Registry) -> list[BaseException]:
    """The exceptions that schemes raised in runs, taken away."""
    found = known.trouble()
    return [] if found is None else [found]
