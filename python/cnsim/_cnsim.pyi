"""The native module, on which the package's other modules build. Rates are in bit/s, times in seconds, lengths in bytes."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

from typing_extensions import disjoint_base

__all__ = [
    "Ack",
    "AckGate",
    "Feedback",
    "Frame",
    "Hop",
    "Limiter",
    "Plan",
    "Probe",
    "Queue",
    "CODE",
    "FLOW_PARTS",
    "RESULT_VERSION",
    "Record",
    "Registry",
    "STORE_FORMAT",
    "Scenario",
    "SchemeSpec",
    "Sink",
    "Store",
    "VERSION",
    "cells",
    "check",
    "interval",
    "lists",
    "load",
    "main",
    "notes",
    "numbers",
    "paired",
    "plan_of",
    "plus_minus",
    "save",
]

VERSION: str
CODE: str
FLOW_PARTS: list[str]
RESULT_VERSION: int
STORE_FORMAT: int

@final
class Frame:
    """A data frame, as a scheme sees it."""

    @property
    def flow(self) -> int: ...
    @property
    def src(self) -> int: ...
    @property
    def dst(self) -> int: ...
    @property
    def len(self) -> int: ...
    @property
    def marked(self) -> bool: ...
    @marked.setter
    def marked(self, value: bool) -> None: ...
    @property
    def dropped(self) -> bool: ...
    @property
    def tag(self) -> int | None: ...
    @tag.setter
    def tag(self, value: int | None) -> None: ...

@disjoint_base
class Feedback:
    """A feedback message: one class per published format, and ``User`` for new schemes."""

    @final
    class Cnm(Feedback):
        __match_args__ = ("point", "qntz_fb", "q_off", "q_delta")
        def __new__(cls, /, point: int, qntz_fb: int, q_off: int, q_delta: int) -> Feedback.Cnm: ...
        @property
        def point(self) -> int: ...
        @property
        def qntz_fb(self) -> int: ...
        @property
        def q_off(self) -> int: ...
        @property
        def q_delta(self) -> int: ...

    @final
    class Ecm(Feedback):
        __match_args__ = ("point", "q_off", "q_delta", "fb", "stop")
        def __new__(cls, /, point: int, q_off: float, q_delta: float, fb: float, stop: bool) -> Feedback.Ecm: ...
        @property
        def point(self) -> int: ...
        @property
        def q_off(self) -> float: ...
        @property
        def q_delta(self) -> float: ...
        @property
        def fb(self) -> float: ...
        @property
        def stop(self) -> bool: ...

    @final
    class Reflection(Feedback):
        __match_args__ = ()
        def __new__(cls) -> Feedback.Reflection: ...

    @final
    class AdvertisedRate(Feedback):
        __match_args__ = ("point", "rate")
        def __new__(cls, /, point: int, rate: float) -> Feedback.AdvertisedRate: ...
        @property
        def point(self) -> int: ...
        @property
        def rate(self) -> float: ...

    @final
    class ReturnedRate(Feedback):
        __match_args__ = ("rate",)
        def __new__(cls, /, rate: float) -> Feedback.ReturnedRate: ...
        @property
        def rate(self) -> float: ...

    @final
    class Cnp(Feedback):
        __match_args__ = ()
        def __new__(cls) -> Feedback.Cnp: ...

    @final
    class ProbeReply(Feedback):
        __match_args__ = ("probe", "at", "rx_rate")
        def __new__(cls, /, probe: Probe, at: float, rx_rate: float) -> Feedback.ProbeReply: ...
        @property
        def probe(self) -> Probe: ...
        @property
        def at(self) -> float: ...
        @property
        def rx_rate(self) -> float: ...

    @final
    class User(Feedback):
        __match_args__ = ("a", "b")
        def __new__(cls, /, a: int, b: int) -> Feedback.User: ...
        @property
        def a(self) -> int: ...
        @property
        def b(self) -> int: ...

    @final
    class Other(Feedback):
        __match_args__ = ()
        def __new__(cls) -> Feedback.Other: ...

@final
class Ack:
    """An acknowledgement, as a reaction point receives it."""

    @property
    def rtt(self) -> float:
        """Time from the start of the frame's transmission to the arrival of the acknowledgement."""
    @property
    def rtt_ps(self) -> int:
        """The same in whole picoseconds."""
    @property
    def acked(self) -> int:
        """All bytes of the flow below this have arrived. With ``echo``: bytes received since the first frame that was acknowledged."""
    @property
    def newly(self) -> int:
        """Bytes acknowledged since the last call of ``on_ack``; 0 with ``echo``."""
    @property
    def newly_marked(self) -> int:
        """Of ``newly``, the bytes that came with a mark."""
    @property
    def marked(self) -> bool:
        """Was the frame marked on its way?"""
    @property
    def path(self) -> tuple[Hop, ...]:
        """Records of the ports that the frame left, the first switch first; empty without telemetry."""

@final
class Hop:
    """A record that the network wrote as a frame began to leave an output port."""

    @property
    def rate(self) -> float:
        """Rate of the link."""
    @property
    def time(self) -> float:
        """When the frame began to leave."""
    @property
    def time_ps(self) -> int:
        """The same in whole picoseconds."""
    @property
    def sent(self) -> int:
        """Bytes that the port had sent before it, control included and PAUSE aside."""
    @property
    def queue(self) -> int:
        """Bytes that stayed in the port's queues, control included."""

@final
class AckGate:
    """Which acknowledgements wake a reaction point. The others are counted, and the next that wakes it has their sum."""

    def __new__(cls, /, *, each: bool = False, marked: bool = False, per_window: bool = False) -> AckGate: ...
    @property
    def each(self) -> bool:
        """Each one."""
    @property
    def marked(self) -> bool:
        """Each one with a mark."""
    @property
    def per_window(self) -> bool:
        """The first that acknowledges a byte which was sent after the last wake by this clause: once a round trip."""

@final
class Probe:
    """A probe: a 64 B frame sent by a reaction point."""

    def __new__(cls, /, number: int = 0, point: int | None = None, control: bool = True) -> Probe: ...
    @property
    def number(self) -> int: ...
    @property
    def sent_at(self) -> float: ...
    @property
    def sent_at_ps(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...
    @property
    def fb(self) -> int: ...
    @fb.setter
    def fb(self, value: int) -> None: ...
    @property
    def point(self) -> int | None: ...
    @point.setter
    def point(self, value: int | None) -> None: ...

@final
class Queue:
    """An output queue of a switch, as its congestion point controls it."""

    @property
    def len(self) -> int:
        """Bytes queued now, including the frame in transmission and the arriving frame."""
    @property
    def line_rate(self) -> float:
        """Nominal rate of the link."""
    @property
    def service_rate(self) -> float:
        """Present rate at which data is served."""
    @property
    def arrived(self) -> int:
        """Bytes that have arrived for this port."""
    @property
    def sent(self) -> int:
        """Bytes that have been sent through this port."""
    @property
    def now(self) -> float:
        """Simulated time."""
    @property
    def now_ps(self) -> int:
        """Simulated time, whole picoseconds."""
    @property
    def paused(self) -> float | None:
        """Time since the present XOFF of the port began, seconds; none while its data may leave."""
    @property
    def paused_in_all(self) -> float:
        """Total time of the port in XOFF since the start, seconds; a present XOFF counts."""
    @property
    def bytes_since_armed(self) -> int:
        """Bytes that arrived since the call of ``sample_after``, the present frame included."""
    def uniform(self) -> float:
        """Uniform draw in [0, 1) from this queue's own stream."""
    def sample_after(self, /, number: float) -> None:
        """Call ``on_sample`` at the frame with which ``number`` bytes have arrived from now on."""
    def sample_with(self, /, p: float) -> None:
        """Call ``on_sample`` at each frame with probability ``p``."""
    def sample_tagged(self) -> None:
        """Call ``on_sample`` at frames that carry a tag."""
    def sample_never(self) -> None:
        """Stop the calls of ``on_sample``; timers go on."""
    def sample_dropped(self, /, on: bool) -> None:
        """Choose whether frames that are being dropped are counted and sampled."""
    def mark(
        self, /, low: float, high: float, p_max: float = 1.0, p_beyond: float = 1.0, *, at_departure: bool = False
    ) -> None:
        """Mark frames by a ramp from ``low`` to ``high`` bytes, without a call of the congestion point."""
    def record_departures(self) -> None:
        """Have the network write a record for each data frame that leaves; its acknowledgement has them in ``ack.path``."""
    def notify(self, /, flow: int, feedback: Feedback) -> None:
        """Send a message to the source of a flow."""
    def broadcast(self, /, feedback: Feedback) -> None:
        """Send a message to every host."""
    def start_timer(self, /, number: int, after: float) -> None:
        """Start or restart timer 0, 1, 2 or 3."""
    def stop_timer(self, /, number: int) -> None:
        """Stop a timer."""
    def answer(self) -> None:
        """In ``on_probe``: end the probe here and send it back."""
    def gauge(self, /, name: str, value: float) -> None:
        """Set a gauge that the scheme declares: a series if this port or flow is recorded."""
    def count(self, /, counter: str) -> None:
        """Add one to a counter that the scheme declares."""

@final
class Limiter:
    """The rate limiter of a flow or of a host."""

    @property
    def now(self) -> float:
        """Simulated time."""
    @property
    def now_ps(self) -> int:
        """Simulated time, whole picoseconds."""
    @property
    def rate(self) -> float:
        """Current rate. A rate above ``line_rate`` is an error."""
    @rate.setter
    def rate(self, value: float) -> None: ...
    @property
    def line_rate(self) -> float:
        """Rate of the access link."""
    @property
    def engaged(self) -> bool:
        """Are frames queued and paced here?"""
    @property
    def sent(self) -> int:
        """Data bytes of the flow sent so far."""
    def uniform(self) -> float:
        """Uniform draw in [0, 1) from this site's own stream."""
    def engage(self) -> None:
        """Queue and pace the flow's frames here from now on."""
    def release_when_empty(self) -> None:
        """Release the limiter as soon as its queue is empty."""
    def retime(self) -> None:
        """Schedule the next frame anew, from the present rate."""
    def wake_after(self, /, number: float) -> None:
        """Call ``on_bytes`` when ``number`` further bytes have been sent."""
    def wake_never(self) -> None:
        """Cancel ``wake_after``."""
    def tag_frames(self, /, bits: int | None, p: float = 1.0) -> None:
        """Put a tag of 32 bits into the flow's frames from now on, each with probability ``p``; ``None`` puts none."""
    def echo_next(self) -> None:
        """Have the next frame acknowledged: ``on_ack`` receives it. The plan must have ``echo=True``."""
    def wake_on_acks(self, /, gate: AckGate) -> None:
        """Call ``on_ack`` at these acknowledgements of the network from now on; at first at none."""
    @property
    def window(self) -> int | None:
        """Most bytes in flight; none without a window. No frame begins while as many bytes or more are in flight."""
    @window.setter
    def window(self, value: float | None) -> None: ...
    @property
    def in_flight(self) -> int:
        """Bytes of the flow on their way: sent and not acknowledged, less those reported as come, or lost."""
    @property
    def outstanding(self) -> int:
        """Bytes of the flow sent and not acknowledged, reported and lost ones too."""
    @property
    def reported(self) -> int:
        """Bytes of the flow that came out of order, as the destination reports."""
    @property
    def next_seq(self) -> int:
        """Number of the flow's next byte to be sent: what is sent again counts once."""
    @property
    def acked(self) -> int:
        """All bytes of the flow below this are acknowledged."""
    def send_probe(self, /, probe: Probe) -> None:
        """Send a probe along the flow."""
    def start_timer(self, /, number: int, after: float) -> None:
        """Start or restart timer 0, 1, 2 or 3."""
    def stop_timer(self, /, number: int) -> None:
        """Stop a timer."""
    def gauge(self, /, name: str, value: float) -> None:
        """Set a gauge that the scheme declares: a series if this port or flow is recorded."""
    def count(self, /, counter: str) -> None:
        """Add one to a counter that the scheme declares."""

@final
class Sink:
    """The receiving end of a flow or of a host, as its reflector controls it."""

    @property
    def now(self) -> float:
        """Simulated time."""
    @property
    def now_ps(self) -> int:
        """Simulated time, whole picoseconds."""
    @property
    def received(self) -> int:
        """Data bytes received since the reflector was built; the plan must have ``received=True``."""
    def uniform(self) -> float:
        """Uniform draw in [0, 1) from this site's own stream."""
    def reply(self, /, feedback: Feedback) -> None:
        """Send a message to the source of the present frame or probe; in ``on_timer`` to the source of the reflector's flow."""
    def start_timer(self, /, number: int, after: float) -> None:
        """Start or restart timer 0, 1, 2 or 3."""
    def stop_timer(self, /, number: int) -> None:
        """Stop a timer."""
    def ignore_for(self, /, seconds: float) -> None:
        """Ignore data frames for this many seconds."""
    def hear(self, /, frames: str, p: float = 1.0) -> None:
        """Choose the data frames that call ``on_frame`` from the next one on: marked, unmarked, tagged, always or never."""
    def gauge(self, /, name: str, value: float) -> None:
        """Set a gauge that the scheme declares: a series if this port or flow is recorded."""
    def count(self, /, counter: str) -> None:
        """Add one to a counter that the scheme declares."""

@final
class SchemeSpec:
    """A scheme in Python, ready to be registered."""

    def __new__(
        cls,
        /,
        name: str,
        title: str,
        about: str,
        code: Callable[[], tuple[str, str | None]],
        params: Sequence[Mapping[str, Any]],
        counters: Sequence[tuple[str, str]],
        gauges: Sequence[tuple[str, str]],
        plan: Mapping[str, Any],
        promise: Mapping[str, Any],
        make: Callable[[dict[str, Any]], object],
    ) -> SchemeSpec: ...
    @property
    def name(self) -> str: ...
    def build(self, /, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]: ...

@final
class Registry:
    """The registered schemes: those of cnsim, and those in Python."""

    def __new__(cls, /, schemes: Sequence[SchemeSpec]) -> Registry: ...
    def schemes(self) -> str: ...
    def trouble(self) -> BaseException | None: ...

@final
class Record:
    """A finished run."""

    @staticmethod
    def of(text: str) -> Record:
        """Reads a run from the text of ``json``."""
    def json(self) -> str:
        """The whole run as JSON."""
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...
    @property
    def study(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def condition(self) -> str: ...
    @property
    def pause(self) -> str: ...
    @property
    def scheme(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def fingerprint(self) -> dict[str, str]:
        """Hashes over events, frames and samples."""
    @property
    def metrics(self) -> dict[str, float]:
        """Values by metric."""
    @property
    def at_least(self) -> list[str]:
        """Metrics whose value is a lower bound, as flows were unfinished."""
    @property
    def counters(self) -> dict[str, int]:
        """The scheme's own counters."""
    @property
    def packet_hops(self) -> int:
        """Data and control frames that finished a link."""
    @property
    def key(self) -> str:
        """Address of the run: a hash of configuration, seed and version."""
    def config(self) -> str:
        """The effective configuration, as JSON."""
    def traffic(self) -> str:
        """Metrics of traffic by name, as JSON: a list of names with their metrics."""

    def ports(self) -> str:
        """Measurements at ports, as JSON."""
    def xoff(self) -> tuple[float, str]:
        """Length of a sixtieth of the run in seconds, and JSON: each port with its tier and its per cent of XOFF in each sixtieth."""
    def spent(self) -> str:
        """Where the time of its complete flows went, as JSON; null if it was not kept."""
    def map_ports(self) -> list[str] | None:
        """Names of the ports that it kept over time."""
    def map_row(self, /, port: str, what: str) -> tuple[str, float, bytes] | None:
        """A quantity of such a port: unit, width of a bin in seconds, values."""
    def map_page(self) -> str | None:
        """The map as a page."""
    def map_still(self, /, what: str, at: float) -> str | None:
        """The map at a time, seconds, as SVG."""
    def events(self) -> str:
        """Events of the flows that record.flow_events names, as JSON; null if none is named."""
    def slowdowns(self) -> bytes:
        """Slowdown of each of the flows, as 64-bit floating-point numbers, little-endian."""
        ...
    def flows(self) -> tuple[list[str], bytes]:
        """Names of the hosts, and eight whole numbers for each finite flow that was received whole."""
    def series_names(self) -> list[str]:
        """Names of the time series."""
    def series(self, /, name: str) -> tuple[str, float, bytes] | None:
        """A time series: unit, width of a bin in seconds, values."""

@final
class Store:
    """The finished runs in an output folder, shared with the command line."""

    def __new__(cls, /, out: str | PathLike[str]) -> Store: ...

@final
class Plan:
    """Runs to be done, in order."""

    def __len__(self) -> int: ...
    def task(self, /, at: int) -> str: ...
    def key(self, /, at: int) -> str: ...
    def config(self, /, at: int) -> str: ...
    @property
    def python(self) -> bool: ...
    @property
    def schemes(self) -> list[str]: ...
    @property
    def stored(self) -> int: ...
    @property
    def unkept(self) -> list[str]: ...
    def estimate(self) -> tuple[float, float, float]: ...
    def kept(self, /, store: Store) -> list[Record | None]: ...
    def keep(self, /, at: int, record: Record, store: Store | None) -> Record: ...
    def select(self, /, which: Sequence[int]) -> Plan: ...
    def stop(self) -> None: ...
    def run(
        self,
        /,
        out: str | PathLike[str] | None,
        threads: int,
        progress: Callable[[int, float], object] | None,
        go_on: bool = False,
    ) -> list[Any]: ...

@final
class Scenario:
    """A scenario, read and checked."""

    def __new__(
        cls,
        /,
        registry: Registry,
        what: str,
        text: str | None,
        sets: Sequence[tuple[str, str]],
        schemes: Sequence[str],
    ) -> Scenario: ...
    def about(self) -> str: ...
    def plan_run(self, /, asked: Mapping[str, str | None], seed: int, seeds: int, all_series: bool) -> Plan: ...
    def plan_all(self, /, seeds: int | None) -> Plan: ...
    def plan_sweep(
        self,
        /,
        asked: Mapping[str, str | None],
        over: Sequence[str],
        schemes: Sequence[str],
        pauses: Sequence[str],
        seeds: int,
    ) -> tuple[Plan, str]: ...

def plan_of(registry: Registry, tasks: Sequence[str]) -> Plan: ...
def notes(records: Sequence[Record]) -> list[str]: ...
def cells(records: Sequence[Record], scenarios: Sequence[Scenario]) -> str: ...
def interval(
    values: Sequence[float], paired: bool = False, metric: str = "", bound: bool = False
) -> tuple[float, tuple[float, float] | None, float] | None: ...
def plus_minus(mean: float, low: float, high: float) -> float | None: ...
def paired(
    base: Sequence[Record], here: Sequence[Record], metric: str
) -> tuple[float, tuple[float, float] | None, int, str] | None: ...
def numbers(values: Sequence[str]) -> tuple[list[float], str] | None: ...
def lists(what: str) -> str: ...
def load(path: str | PathLike[str]) -> list[Record]: ...
def save(records: Sequence[Record], out: str | PathLike[str], command: str, force: bool = False) -> Path: ...
def check(spec: SchemeSpec, pairs: Sequence[tuple[str, str]], ranges: bool) -> list[tuple[str, str, str | None]]: ...
def main(registry: Registry, args: Sequence[str]) -> int: ...
