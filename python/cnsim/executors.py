"""Runs elsewhere: on processes of this machine, any ``concurrent.futures.Executor``, or a Dask cluster.

A run is addressed by content. What a store has is not asked for again, an answer is believed only if it has the address that
was asked for, and what is finished is kept at once: workers may die at any moment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

from . import _cnsim
from ._work import Task, tasks, versions, work
from ._worker import receive, send
from .errors import CnsimError, ExecutorError, SchemeError, VersionError, missing

#: So often a task is done again whose worker died.
ATTEMPTS = 4
#: So long a cluster may be without any worker, seconds.
PATIENCE = 30.0


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
        """Process numbers of the workers that live."""
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
    plan: _cnsim.Plan, out: Path | None, count: int, tell: Callable[[int, float], object]
) -> list[_cnsim.Record] | None:
    """Does runs of schemes in Python in processes of their own; none where a scheme cannot be handed to them."""
    try:
        tasks(plan, [])
    except SchemeError:
        return None
    with Processes(count) as pool:
        return run_on(pool, plan, out, tell)


def run_on(
    executor: Executor | str | Any, plan: _cnsim.Plan, out: Path | None, tell: Callable[[int, float], object]
) -> list[_cnsim.Record]:
    """Does the runs of a plan on an executor, a Dask client, or the Dask scheduler at an address."""
    store = None if out is None else _cnsim.Store(out)
    found: list[_cnsim.Record | None] = [None] * len(plan) if store is None else plan.kept(store)
    pending = [i for i, r in enumerate(found) if r is None]
    if not pending:
        return [r for r in found if r is not None]
    asked = tasks(plan, pending)
    place, close, alive = _opened(executor)
    futures: dict[Future[str], tuple[int, Task, int]] = {}

    def submit(i: int, task: Task, attempt: int) -> None:
        futures[place.submit(work, task)] = (i, task, attempt)

    try:
        for i, task in zip(pending, asked, strict=True):
            submit(i, task, 1)
        while futures:
            ready, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
            if not ready:
                alive(len(plan) - len(futures))
            for future in ready:
                i, task, attempt = futures.pop(future)
                try:
                    record = _cnsim.Record.of(future.result())
                except CnsimError:
                    raise
                except BrokenExecutor as e:
                    raise _died(len(plan) - len(futures) - 1, len(plan), out, e) from None
                except Exception as e:
                    if type(e).__name__ in ("KilledWorker", "CancelledError") or attempt >= ATTEMPTS:
                        raise _died(len(plan) - len(futures) - 1, len(plan), out, e) from None
                    submit(i, task, attempt + 1)
                    continue
                found[i] = plan.keep(i, record, store)
            tell(sum(r is not None for r in found), 0.0)
    except BrokenExecutor as e:
        raise _died(sum(r is not None for r in found), len(plan), out, e) from None
    finally:
        for future in futures:
            future.cancel()
        close()
    return [r for r in found if r is not None]


def _died(done: int, total: int, out: Path | None, e: BaseException) -> ExecutorError:
    kept = f"the finished runs are kept in {out}" if out is not None else "with out=FOLDER finished runs would have been kept"
    said = f": {e}" if str(e) else ""
    return ExecutorError(
        f"the executor lost its workers after {done} of {total} runs ({type(e).__name__}{said})",
        f"start it anew and ask again: {kept}",
        key="executor",
    )


def _opened(executor: Any) -> tuple[Executor, Callable[[], None], Callable[[int], None]]:
    """An executor of what was given; how it is closed; and a look at whether it is alive."""
    if isinstance(executor, Executor) and not hasattr(executor, "_client"):
        return executor, lambda: None, lambda done: None
    try:
        from distributed import Client
    except ImportError:
        if isinstance(executor, str):
            missing("distributed", "dask", "A cluster")
        raise _no_executor(executor) from None
    if isinstance(executor, str):
        if "://" not in executor:
            raise _no_executor(executor)
        try:
            client = Client(executor, timeout=10)
        except (OSError, TimeoutError, ValueError) as e:
            raise ExecutorError(
                f"no Dask scheduler answers at {executor}: {e}", "start one with `dask scheduler`, and give its address", key="executor"
            ) from None
        place, _, alive = _dask(client)
        return place, client.close, alive
    if isinstance(executor, Client):
        return _dask(executor)
    if hasattr(executor, "_client"):
        return _dask(executor._client)
    raise _no_executor(executor)


def _no_executor(executor: Any) -> ExecutorError:
    return ExecutorError(
        f"{executor!r} is no executor",
        "give a concurrent.futures.Executor, a dask.distributed.Client, or the address of a Dask scheduler such as tcp://HOST:8786",
        key="executor",
    )


def _dask(client: Any) -> tuple[Executor, Callable[[], None], Callable[[int], None]]:
    """An executor of the workers that have this version of cnsim; others are refused."""
    good, bad = _fit(client)
    if bad:
        import warnings

        said = ", ".join(f"{address} has {theirs}" for address, theirs in bad.items())
        if not good:
            raise VersionError(
                f"no worker has cnsim {versions()[0]} with results of version {versions()[1]}: {said}",
                "install the same cnsim on all workers",
                key="version",
            )
        warnings.warn(f"workers of another version are left out: {said}", stacklevel=2)
    if not good:
        raise ExecutorError("the cluster has no worker", "start some with `dask worker ADDRESS`", key="executor")
    options = {"workers": good, "allow_other_workers": False} if bad else {}
    place: Executor = client.get_executor(pure=False, retries=0, **options)
    since = [time.monotonic()]

    def alive(done: int) -> None:
        workers = client.scheduler_info(n_workers=-1)["workers"] if client.status == "running" else {}
        if workers and (not bad or any(w in workers for w in good)):
            since[0] = time.monotonic()
        elif client.status != "running" or time.monotonic() - since[0] > PATIENCE:
            raise ExecutorError(
                f"the cluster has had no worker for {PATIENCE:.0f} s, after {done} runs",
                "start workers and ask again: with out=FOLDER what is finished is kept",
                key="executor",
            )

    return place, lambda: None, alive


def _fit(client: Any) -> tuple[list[str], dict[str, str]]:
    """Addresses of the workers that have this version, and what the others have."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        return [], {}
    good: list[str] = []
    bad: dict[str, str] = {}
    for address, theirs in client.run(_versions_there, on_error="return").items():
        if theirs == versions():
            good.append(address)
        else:
            bad[address] = "no cnsim" if isinstance(theirs, BaseException) else "cnsim {} (results {})".format(*theirs)
    return good, bad


def _versions_there() -> tuple[str, int]:
    from cnsim import _work

    return _work.versions()
