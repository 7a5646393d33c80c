"""One run in another process or on a worker of a cluster."""

from __future__ import annotations

import importlib
import pickle
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _cnsim
from .errors import SchemeError, VersionError
from .schemes import Scheme, registered, registry, scheme, spec_named


@dataclass(frozen=True)
class Task:
    """A run to be done elsewhere."""

    version: str
    """Version of cnsim that made the task."""
    result_version: int
    """Version of the results of that cnsim."""
    text: str
    """Configuration and seed, as JSON."""
    key: str
    """Address of the run, which the result must have."""
    schemes: bytes
    """Schemes in Python that the run needs, pickled."""


def versions() -> tuple[str, int]:
    """Versions of program and results here."""
    return _cnsim.VERSION, _cnsim.RESULT_VERSION


def work(task: Task) -> str:
    """Does a task; returns the finished run as JSON. A task of another version is refused."""
    asked = (task.version, task.result_version)
    if asked != versions():
        raise VersionError(
            "this worker has cnsim {} with results of version {}, the task was made by {} with {}".format(*versions(), *asked),
            "install the same cnsim on all workers",
            key="version",
        )
    unpacked(task.schemes)
    plan = _cnsim.plan_of(registry(), [task.text])
    if plan.key(0) != task.key:
        raise VersionError(
            f"this worker makes another run ({plan.key(0)}) of the task ({task.key})",
            "install the same cnsim on all workers",
            key="version",
        )
    _under_way.add(plan)
    try:
        record: _cnsim.Record = plan.run(None, 1, None)[0]
        return record.json()
    except SchemeError as e:
        if e.__cause__ is None:
            raise
        raise SchemeError(e.reason, e.remedy, key=e.key, text=f"{e}\n{own_traceback(e.__cause__)}") from None
    finally:
        _under_way.discard(plan)


#: Plans that threads of this process run now.
_under_way: set[_cnsim.Plan] = set()


def stop_here() -> None:
    """Ends the runs of this process's threads, after Ctrl-C."""
    for plan in tuple(_under_way):
        plan.stop()


def interrupt(threads: list[int]) -> None:
    """Raises ``KeyboardInterrupt`` in those of these threads that run Python code, so that a scheme that loops ends."""
    import ctypes

    for ident, frame in sys._current_frames().items():
        if ident in threads and frame is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(KeyboardInterrupt))


def own_traceback(e: BaseException) -> str:
    """The traceback of an exception that a scheme raised: the scheme's frames only."""
    return "".join(traceback.format_exception(type(e), e, _own(e.__traceback__))).rstrip()


def _own(tb: TracebackType | None) -> TracebackType | None:
    while tb is not None and "/cnsim/" in tb.tb_frame.f_code.co_filename.replace("\\", "/") and tb.tb_next is not None:
        tb = tb.tb_next
    return tb


def _resolved(found: tuple[str, str] | bytes | type[Scheme]) -> type[Scheme]:
    if isinstance(found, tuple):
        module, name = found
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        return value  # type: ignore[no-any-return]
    if isinstance(found, bytes):
        return pickle.loads(found)  # type: ignore[no-any-return]
    return found


def packed(names: list[str]) -> bytes:
    """The schemes in Python of these names, to be handed to another process: by import where that can be, else by value."""
    found: list[tuple[str, tuple[str, str] | bytes]] = []
    for name in names:
        cls = registered()[name]
        if _importable(cls):
            found.append((name, (cls.__module__, cls.__qualname__)))
            continue
        try:
            import cloudpickle
        except ImportError:
            raise SchemeError(
                f"scheme `{name}` cannot be handed to another process: its class is not in a module that can be imported",
                "put it into a file of its own and import that, or pip install 'cnsim[dask]', which sends classes by value",
                key=name,
            ) from None
        try:
            found.append((name, cloudpickle.dumps(cls)))
        except Exception as e:
            raise SchemeError(
                f"scheme `{name}` cannot be handed to another process: {type(e).__name__}: {e}",
                "keep files, locks, connections and generators out of the class",
                key=name,
            ) from None
    return pickle.dumps(found)


def _importable(cls: type[Scheme]) -> bool:
    module = sys.modules.get(cls.__module__)
    spec = getattr(module, "__spec__", None)
    if module is None or cls.__module__ == "__main__" or spec is None or spec.origin is None:
        return False
    value: Any = module
    for part in cls.__qualname__.split("."):
        value = getattr(value, part, None)
    return value is cls


def unpacked(schemes: bytes) -> None:
    """Registers the schemes that were packed, where they are not known."""
    for name, found in pickle.loads(schemes):
        cls = _resolved(found)
        if registered().get(name) is not cls:
            scheme(name)(cls)


def tasks(plan: _cnsim.Plan, which: list[int]) -> list[Task]:
    """The tasks of these runs of a plan."""
    names = [name for name in registered() if spec_named(name) is not None and name in plan.schemes]
    schemes = packed(names)
    return [Task(*versions(), plan.task(i), plan.key(i), schemes) for i in which]
