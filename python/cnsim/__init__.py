"""cnsim: the laboratory for congestion management in data-centre Ethernet, in Python.

>>> import cnsim as cn
>>> s = cn.scenario("B07/single-hop").with_(scheme="qcn-2pt", hotspot__stop="105 ms", run__duration="110 ms")
>>> r = s.run()
>>> r.metric("aggregate_throughput").unit
'Gb/s'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import errors
from ._cnsim import RESULT_VERSION, Ack, AckGate, Feedback, Frame, Hop, Limiter, Probe, Queue, Sink
from ._cnsim import VERSION as __version__
from .errors import (
    CnsimError,
    ExecutorError,
    MissingExtra,
    Problem,
    ResultsWarning,
    RunError,
    ScenarioError,
    SchemeError,
    SweepWarning,
    UnknownName,
    VersionError,
)
from .lists import Listing, list_ as list
from .scenario import Case, Scenario, build, scenario, sweep
from .rooms import CongestionPoint, Loss, Plan, Promise, QueueSite, ReactionPoint, Reflector, Scope, SinkSite, SourceSite
from .schemes import Scheme, param, scheme

if TYPE_CHECKING:
    from . import testing
    from .results import Estimate, Flow, Results, Series, load
    from .sweeps import Sweep
    from .tuning import Tuning, tune

_LATER = {
    "Estimate": "results",
    "Flow": "results",
    "Results": "results",
    "Series": "results",
    "load": "results",
    "Sweep": "sweeps",
    "Tuning": "tuning",
    "tune": "tuning",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "testing":
        return import_module(".testing", __name__)
    if name in _LATER:
        value = getattr(import_module("." + _LATER[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> Sequence[str]:
    return sorted({*globals(), *_LATER, "testing"})


__all__ = [
    "RESULT_VERSION",
    "Ack",
    "AckGate",
    "Case",
    "CnsimError",
    "CongestionPoint",
    "Estimate",
    "ExecutorError",
    "Feedback",
    "Flow",
    "Frame",
    "Hop",
    "Limiter",
    "Listing",
    "Loss",
    "MissingExtra",
    "Plan",
    "Probe",
    "Problem",
    "Promise",
    "Queue",
    "QueueSite",
    "ReactionPoint",
    "Reflector",
    "Results",
    "ResultsWarning",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "SchemeError",
    "Scope",
    "Series",
    "Sink",
    "SinkSite",
    "SourceSite",
    "Sweep",
    "SweepWarning",
    "Tuning",
    "UnknownName",
    "VersionError",
    "__version__",
    "build",
    "errors",
    "list",
    "load",
    "param",
    "scenario",
    "scheme",
    "sweep",
    "testing",
    "tune",
]
