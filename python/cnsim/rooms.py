"""The rooms of a scheme: a congestion point at the output queue of a switch, a reaction point at the source of a flow, a
reflector at its destination. Sites are their places; a plan has the facts that the network must know in advance."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from ._cnsim import Ack, Feedback, Frame, Limiter, Probe, Queue, Sink

__all__ = ["CongestionPoint", "Loss", "Plan", "Promise", "QueueSite", "ReactionPoint", "Reflector", "Scope", "SinkSite", "SourceSite"]

Scope = Literal["flow", "pair", "host"]
"""Whether one object serves a finite flow that has a queue pair, all data from one host to another, or a whole host."""


class Loss(enum.Enum):
    """How a source found out that a frame was lost."""

    Nack = "nack"
    """The destination received a later frame, and said so."""
    Timeout = "timeout"
    """Nothing was acknowledged for the time ``transport.rto``."""


class QueueSite(NamedTuple):
    """The place of a congestion point: the output queue of a switch port."""

    point: int
    """Identity to put into feedback messages."""
    rate: float
    """Nominal rate of the link, bit/s."""
    attached: bool
    """Is a link attached?"""


class SourceSite(NamedTuple):
    """The place of a reaction point: a flow at its source."""

    flow: int
    """Number of the flow: of one finite flow where these have queue pairs, elsewhere of all data between two hosts."""
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
    hops: int
    """Links of the path from source to destination."""
    size: int | None
    """Bytes of the flow on its links, headers included; none where the limiter serves more than one finite flow."""
    initial_rate: float | None
    """The rate at which the flow is to begin, bit/s, where the scenario gives one."""
    traffic_class: str
    """Class of its data frames: data or control."""
    others: int
    """Other finite flows of the source host that are under way as this one begins."""


class SinkSite(NamedTuple):
    """The place of a reflector: a flow at its destination."""

    flow: int
    """Number of the flow."""
    src: int
    """Source host of the flow."""
    dst: int
    """The receiving host."""
    line_rate: float
    """Rate of the access link, bit/s."""


class Plan(NamedTuple):
    """Facts of a scheme that the network must know before any object of it exists."""

    scope: Scope = "pair"
    """What a limiter and its reaction point serve: a flow, a pair of hosts or a host. Where flows have no queue pairs, ``flow`` is
    ``pair``."""
    first_frame: bool = False
    """Reaction points are built at a flow's first frame, not at the first message that ``engages`` accepts."""
    acks: Literal["optional", "needed", "telemetry"] = "optional"
    """Whether reaction points need the acknowledgements of the network; then they are built as a flow begins, and a scenario
    without acknowledgements is an error. With ``telemetry`` frames carry the records of ``queue.record_departures()``."""
    initial_rate: bool = False
    """Flows begin at ``site.initial_rate``, where the scenario gives one. Without it such a rate is an error."""
    reflect: Literal["never", "marked", "unmarked", "tagged", "always"] = "never"
    """Which received frames wake the reflector: never, marked, unmarked, tagged or always."""
    reflect_probability: float = 1.0
    """With ``reflect="unmarked"``: the share of unmarked frames that wake the reflector."""
    reflector_scope: Scope = "pair"
    """What a reflector serves: a flow, a pair of hosts or a host."""
    received: bool = False
    """Reflectors ask how many bytes have been received."""
    echo: bool = False
    """Frames that ``limiter.echo_next()`` asks for are acknowledged; no reflector of one's own is needed."""
    exact_marks: bool = False
    """Reaction points count marks, as DCTCP does: acknowledgements carry the mark of what they answer, with ``transport.ecn = "rfc3168"``,
    too."""


class Promise(NamedTuple):
    """The promise of a scheme with its defaults, which the conformance suite checks."""

    floor: float = 0.0
    """Smallest rate of a limiter that sends at all, bit/s."""
    stops: bool = False
    """The scheme may stop a flow."""
    warms_up: float = 0.0
    """Time in which a new flow reaches line rate, seconds; 0 for flows that start at line rate."""
    reacts: bool = False
    """The scheme's own messages about a long queue limit a flow."""
    recovers: tuple[int, float] | None = None
    """Bytes and seconds within which a sending flow without feedback is back at line rate."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar as _TypeVar

    P = _TypeVar("P", default=Any)
else:
    P = TypeVar("P")


class Room(Generic[P]):
    """The base of the three rooms. ``cn.ReactionPoint["MyScheme"]`` gives ``self.p`` its type."""

    p: P
    """The scheme, with its parameters."""

    def _has(self, name: str) -> bool:
        own = getattr(type(self), name, None)
        return own is not None and not getattr(own, "_nothing", False)


def _nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    method._nothing = True  # type: ignore[attr-defined]
    return method


_M = TypeVar("_M", bound=Callable[..., Any])


def _optional(method: _M) -> _M:
    """Marks a method that the network need not call unless a class overrides it."""
    return cast(_M, _nothing(method))


class CongestionPoint(Room[P]):
    """The part of a scheme at the output queue of a switch."""

    site: QueueSite
    """The place of the congestion point."""

    @_optional
    def start(self, queue: Queue) -> None:
        """Called once before the first frame, to arm a sampler, a ramp or timers."""

    @_optional
    def on_sample(self, frame: Frame, queue: Queue) -> None:
        """Called when the armed sampler selects this data frame, which is counted in the queue."""

    @_optional
    def on_departure(self, frame: Frame, queue: Queue) -> None:
        """Called when the transmission of this data frame begins. Its mark and tag can still be set; ``queue`` still counts it."""

    @_optional
    def on_probe(self, probe: Probe, flow: int, queue: Queue) -> None:
        """Called when a probe arrives: read it, write ``probe.fb``, or end it with ``queue.answer()``."""

    @_optional
    def on_timer(self, timer: int, queue: Queue) -> None:
        """Called when a timer expires."""


class ReactionPoint(Room[P]):
    """The part of a scheme at a source: it steers one limiter."""

    site: SourceSite
    """The flow that the reaction point steers."""

    @_optional
    def start(self, limiter: Limiter) -> None:
        """Called once, when the object is built."""

    @_optional
    def on_feedback(self, feedback: Feedback, limiter: Limiter) -> None:
        """Called when a message for this flow arrives."""

    @_optional
    def on_ack(self, ack: Ack, limiter: Limiter) -> None:
        """Called when an acknowledgement arrives that ``limiter.wake_on_acks`` selects, or that ``limiter.echo_next()`` asked for."""

    @_optional
    def on_loss(self, loss: Loss, limiter: Limiter) -> None:
        """Called when frames of the flow were lost: the network sends again what its transport says."""

    @_optional
    def on_recovered(self, limiter: Limiter) -> None:
        """Called when all is acknowledged that had been sent as a loss was found, after the ``on_ack`` of that acknowledgement."""

    @_optional
    def on_restart(self, idle: float, timeout: float, limiter: Limiter) -> None:
        """Called when a message more goes on a connection that has sent nothing for ``idle`` s; its timeout would be ``timeout`` s."""

    @_optional
    def on_bytes(self, limiter: Limiter) -> None:
        """Called when the bytes armed with ``limiter.wake_after`` have been sent."""

    @_optional
    def on_timer(self, timer: int, limiter: Limiter) -> None:
        """Called when a timer expires."""


class Reflector(Room[P]):
    """The part of a scheme at a destination."""

    site: SinkSite
    """The flow that the reflector serves."""

    @_optional
    def start(self, sink: Sink) -> None:
        """Called once, when the object is built."""

    @_optional
    def on_frame(self, frame: Frame, sink: Sink) -> None:
        """Called when a data frame arrives that the plan's ``reflect`` selects."""

    @_optional
    def on_probe(self, probe: Probe, flow: int, sink: Sink) -> None:
        """Called when a probe reaches its destination."""

    @_optional
    def on_timer(self, timer: int, sink: Sink) -> None:
        """Called when a timer expires."""


ROOMS: dict[str, tuple[type[Room[Any]], Callable[..., Any], str]] = {
    "CongestionPoint": (CongestionPoint, QueueSite, "on_sample, on_departure, on_timer or on_probe, or start with queue.mark"),
    "ReactionPoint": (ReactionPoint, SourceSite, "on_feedback, or on_ack with plan = cn.Plan(scope=\"flow\", acks=\"needed\")"),
    "Reflector": (Reflector, SinkSite, "on_frame, on_probe or on_timer"),
}
