"""Runs elsewhere: on processes of this machine, any ``concurrent.futures.Executor``, or a Dask cluster.

A run is addressed by content. Runs in the store are not done again, a result with another address is refused, and a finished
run is kept at once: workers may die at any moment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from . import _cnsim
from ._work import Task, stop_here, tasks
from ._worker import receive, send
from .errors import CnsimError, ExecutorError, RunError, SchemeError, VersionError
from .places import opened

#: Number of attempts at a task whose workers die.
ATTEMPTS = 4


class Processes(Executor):
    """Worker processes of this machine, for schemes in Python: each has an interpreter of its own.

    They import nothing of the program that starts them, so a script needs no ``if __name__ == "__main__"``.
    """

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="cnsim")
        self._mine = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hands a task to a worker; ``fn`` is always :func:`cnsim._work.work`."""
        return self._pool.submit(self._do, *args)

    def _do(self, task: Task) -> str:
        for _ in range(ATTEMPTS):
            worker = self._worker()
            try:
                send(worker.stdin, task)  # type: ignore[arg-type]
                answer, error = receive(worker.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError):
                worker.kill()
                worker.wait()
                self._mine.worker = None
                if self._over:
                    raise CancelledError from None
                continue
            if error is not None:
                raise error
            return str(answer)
        raise ExecutorError(
            f"{ATTEMPTS} worker processes died on the same run", "look for what kills them: memory, a signal, a crash in the scheme"
        )

    def _worker(self) -> subprocess.Popen[bytes]:
        worker: subprocess.Popen[bytes] | None = getattr(self._mine, "worker", None)
        if worker is None:
            if self._over:
                raise CancelledError
            here = str(Path(__file__).parent.parent)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
            worker = subprocess.Popen(
                [sys.executable, "-m", "cnsim._worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            )
            with self._lock:
                self._all.append(worker)
            self._mine.worker = worker
            send(worker.stdin, sys.path)  # type: ignore[arg-type]
        return worker

    @property
    def pids(self) -> list[int]:
        """Process numbers of the live workers."""
        with self._lock:
            return [w.pid for w in self._all if w.poll() is None]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the workers."""
        self._over = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for worker in self._all:
                worker.kill()
                worker.wait()
                for pipe in (worker.stdin, worker.stdout):
                    if pipe is not None:
                        try:
                            pipe.close()
                        except OSError:
                            pass


def run_in_processes(
    plan: _cnsim.Plan, out: Path | None, count: int, tell: Callable[[int, float], object], go_on: bool = False
) -> list[Any] | None:
    """Does runs of schemes in Python in separate processes; none if a scheme cannot be pickled."""
    try:
        tasks(plan, [])
    except SchemeError:
        return None
    with Processes(count) as pool:
        return run_on(pool, plan, out, tell, go_on)


def run_on(
    executor: Executor | str | Any,
    plan: _cnsim.Plan,
    out: Path | None,
    tell: Callable[[int, float], object],
    go_on: bool = False,
) -> list[Any]:
    """Does the runs of a plan on an executor, a Dask client, or the Dask scheduler at an address. A run that fails is raised;
    with `go_on` its error stands in its place."""
    store = None if out is None else _cnsim.Store(out)
    found: list[_cnsim.Record | CnsimError | None] = [*plan.kept(store)] if store is not None else [None] * len(plan)
    pending = [i for i, r in enumerate(found) if r is None]
    if not pending:
        return [r for r in found if r is not None]
    waiting = deque((i, task, 1) for i, task in zip(pending, tasks(plan, pending), strict=True))
    place = opened(executor)
    futures: dict[Future[str], tuple[int, Task, int]] = {}
    try:
        while futures or waiting:
            while waiting and place.free(len(futures)):
                one = waiting.popleft()
                futures[place.submit(one[1])] = one
            ready, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
            place.look(len(plan) - len(futures) - len(waiting))
            for future in [f for f in futures if place.stranded(f)]:
                waiting.append(futures.pop(future))
                future.cancel()
            for future in ready & futures.keys():
                i, task, attempt = futures.pop(future)
                try:
                    record = _cnsim.Record.of(future.result())
                except (SchemeError, RunError) as e:
                    if not go_on:
                        raise
                    found[i] = e
                    continue
                except VersionError:
                    # Another worker may have the right version.
                    if not place.many or attempt >= ATTEMPTS:
                        raise
                    waiting.append((i, task, attempt + 1))
                    continue
                except (CnsimError, BrokenExecutor):
                    raise
                except (Exception, CancelledError) as e:
                    if type(e).__name__ in ("KilledWorker", "CancelledError") or attempt >= ATTEMPTS:
                        raise _died(len(plan) - len(futures) - len(waiting) - 1, len(plan), out, e) from None
                    waiting.append((i, task, attempt + 1))
                    continue
                found[i] = plan.keep(i, record, store)
            tell(sum(r is not None for r in found), 0.0)
    except BrokenExecutor as e:
        raise _died(sum(r is not None for r in found), len(plan), out, e) from None
    except KeyboardInterrupt:
        stop_here()
        raise
    finally:
        for future in futures:
            future.cancel()
        place.close()
    return [r for r in found if r is not None]


def _died(done: int, total: int, out: Path | None, e: BaseException) -> ExecutorError:
    kept = f"the finished runs are kept in {out}" if out is not None else "with out=FOLDER finished runs would have been kept"
    said = f": {e}" if str(e) else ""
    return ExecutorError(
        f"the executor lost its workers after {done} of {total} runs ({type(e).__name__}{said})",
        f"start it anew and ask again: {kept}",
        key="executor",
    )
