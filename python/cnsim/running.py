"""Doing runs: in this process, in processes of this machine, or on an executor."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _cnsim
from .errors import CnsimError, ScenarioError

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: CPU-seconds, bytes for one run, and runs above which `force=True` is needed, as on the command line.
HUGE_SECONDS, HUGE_BYTES, HUGE_RUNS = 36_000.0, 8e9, 10_000


class Bar:
    """Progress of many runs: by tqdm if it is installed, else as a line on a terminal."""

    def __init__(self, shown: bool | None, total: int, hops: float) -> None:
        self._total, self._hops, self._tqdm, self._line = total, hops, None, False
        if shown is None:
            shown = "ipykernel" in sys.modules or sys.stderr.isatty()
        if not shown or total == 0:
            return
        try:
            from tqdm.auto import tqdm

            self._tqdm = tqdm(total=100, unit="%", leave=False, bar_format="{l_bar}{bar}| {postfix} [{elapsed}<{remaining}]")
        except ImportError:
            self._line = True

    def tell(self, done: int, hops: float) -> None:
        """Shows the number of finished runs and of simulated packet-hops."""
        share = max(done / max(self._total, 1), min(hops / self._hops, 0.99) if self._hops else 0.0)
        words = f"{done}/{self._total} runs"
        if self._tqdm is not None:
            self._tqdm.set_postfix_str(words, refresh=False)
            self._tqdm.n = round(share * 100)
            self._tqdm.refresh()
        elif self._line:
            full = int(share * 24)
            sys.stderr.write(f"\r {'█' * full}{'░' * (24 - full)} {share:4.0%}  {words}")
            sys.stderr.flush()

    def close(self) -> None:
        """Removes the bar."""
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._line:
            sys.stderr.write("\r\x1b[2K")


class Running:
    """Settings with which runs are done: store, threads, executor, progress."""

    def __init__(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        threads: int = 0,
        executor: Executor | str | None = None,
        progress: bool | Callable[[int, float], object] | None = None,
        force: bool = False,
    ) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
            raise ScenarioError(f"threads={threads!r}", "give 0 (by the machine) to 1024", key="threads")
        self.out = None if out is None else Path(out)
        self.threads = threads
        self.executor = executor
        self.progress = progress
        self.force = force

    def run(self, plan: _cnsim.Plan) -> list[_cnsim.Record]:
        """Does all runs of a plan; the records are in its order. The first run that fails raises its error."""
        return self._all(plan, False)

    def each(self, plan: _cnsim.Plan) -> list[_cnsim.Record | CnsimError]:
        """Does all runs of a plan; the error of a run that fails takes the place of its record."""
        return self._all(plan, True)

    def _all(self, plan: _cnsim.Plan, go_on: bool) -> list[Any]:
        hops, seconds, memory = plan.estimate()
        if not self.force and (seconds > HUGE_SECONDS or memory > HUGE_BYTES or len(plan) > HUGE_RUNS):
            raise ScenarioError(
                f"this is huge: {len(plan)} runs, about {hops:.1e} packet-hops, {seconds / 3600:.1f} CPU-hours, "
                f"{memory / 1e9:.1f} GB of memory a run",
                "use fewer values or seeds, shorten run.duration, or insist with force=True",
                key="force",
            )
        shown = None if callable(self.progress) else self.progress
        bar = Bar(shown, len(plan), hops)
        tell = self.progress if callable(self.progress) else bar.tell
        if self.out is not None:
            for why in plan.unkept:
                warnings.warn(why, stacklevel=3)
        try:
            found = self._run(plan, tell, go_on)
        finally:
            bar.close()
        if self.out is not None and self.progress is not False:
            print(f"{plan.stored} of {len(plan)} runs taken from the store", file=sys.stderr)
        return found

    def _run(self, plan: _cnsim.Plan, tell: Callable[[int, float], object], go_on: bool) -> list[Any]:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = self.threads or (0 if len(plan) == 1 and not plan.python else cores)
        if self.executor is not None:
            from .executors import run_on

            return run_on(self.executor, plan, self.out, tell, go_on)
        if plan.python and len(plan) > 1 and threads > 1 and _may_spawn():
            from .executors import run_in_processes

            found = run_in_processes(plan, self.out, min(threads, len(plan)), tell, go_on)
            if found is not None:
                return found
        return plan.run(self.out, threads, tell, go_on)


def _may_spawn() -> bool:
    """May processes be started here? Not in a worker process, and only in the main thread."""
    import multiprocessing

    process: Any = multiprocessing.current_process()
    return not process.daemon and process.name == "MainProcess" and threading.current_thread() is threading.main_thread()
