"""Places for runs: a `concurrent.futures.Executor`, or the workers of a Dask cluster that have this version of cnsim."""

from __future__ import annotations

import time
import warnings
from concurrent.futures import Executor, Future
from typing import Any

from ._work import Task, versions, work
from .errors import ExecutorError, VersionError, missing

#: Longest time of a cluster without a usable worker, seconds.
PATIENCE = 30.0
#: Tasks submitted for each thread of a cluster: the others wait here for workers that join.
AHEAD = 2


class Place:
    """A place for runs: an executor."""

    #: May a task that one worker refuses be done by another?
    many = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def free(self, busy: int) -> bool:
        """May another task be submitted, with ``busy`` tasks under way?"""
        return True

    def submit(self, task: Task) -> Future[str]:
        """Submits a task."""
        return self._executor.submit(work, task)

    def look(self, done: int) -> None:
        """Raises an error if the place has no workers left; ``done`` runs are finished."""

    def stranded(self, future: Future[str]) -> bool:
        """Has this task lost all its workers?"""
        return False

    def close(self) -> None:
        """Closes the connection that was opened for it."""


class Cluster(Place):
    """The workers of a Dask cluster. The version of each is checked when it joins; a worker of another version gets no task."""

    many = True

    def __init__(self, client: Any, own: bool = False) -> None:
        self._client, self._own = client, own
        self._good: dict[str, int] = {}
        self._bad: dict[str, str] = {}
        self._for: dict[Future[str], frozenset[str]] = {}
        self._since = time.monotonic()
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ExecutorError("the cluster has no worker", "start some with `dask worker ADDRESS`", key="executor") from None
        self._judge()
        if not self._good:
            raise VersionError(
                f"no worker has cnsim {versions()[0]} with results of version {versions()[1]}: {self._others()}",
                "install the same cnsim on all workers",
                key="version",
            )

    def _others(self) -> str:
        return ", ".join(f"{address} has {theirs}" for address, theirs in self._bad.items())

    def _judge(self) -> None:
        """Updates the list of workers, and checks the version of new ones."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"] if self._client.status == "running" else {}
        self._good = {a: n for a, n in self._good.items() if a in workers}
        self._bad = {a: said for a, said in self._bad.items() if a in workers}
        new = [a for a in workers if a not in self._good and a not in self._bad]
        if not new:
            return
        before = set(self._bad)
        for address, theirs in self._client.run(_versions_there, workers=new, on_error="return").items():
            if theirs == versions():
                self._good[address] = int(workers[address]["nthreads"])
            elif isinstance(theirs, OSError):
                continue  # it has gone meanwhile, or is asked again
            else:
                self._bad[address] = "no cnsim" if isinstance(theirs, BaseException) else "cnsim {} (results {})".format(*theirs)
        if set(self._bad) - before and self._good:
            warnings.warn(f"workers of another version are left out: {self._others()}", stacklevel=2)

    def free(self, busy: int) -> bool:
        return busy < AHEAD * sum(self._good.values())

    def submit(self, task: Task) -> Future[str]:
        workers = list(self._good)
        executor = self._client.get_executor(pure=False, retries=0, workers=workers, allow_other_workers=False)
        future: Future[str] = executor.submit(work, task)
        self._for[future] = frozenset(workers)
        future.add_done_callback(lambda f: self._for.pop(f, None))
        return future

    def look(self, done: int) -> None:
        self._judge()
        if self._good:
            self._since = time.monotonic()
        elif self._client.status != "running" or time.monotonic() - self._since > PATIENCE:
            others = f"; left out: {self._others()}" if self._bad else ""
            raise ExecutorError(
                f"the cluster has had no worker with cnsim {versions()[0]} for {PATIENCE:.0f} s, after {done} runs{others}",
                "start workers and ask again: with out=FOLDER what is finished is kept",
                key="executor",
            )

    def stranded(self, future: Future[str]) -> bool:
        asked = self._for.get(future)
        return asked is not None and bool(self._good) and not asked & self._good.keys() and not future.done()

    def close(self) -> None:
        if self._own:
            self._client.close()


def opened(executor: Any) -> Place:
    """The place for an executor, a Dask client, or the address of a Dask scheduler."""
    if isinstance(executor, Executor) and not hasattr(executor, "_client"):
        return Place(executor)
    wrong = ExecutorError(
        f"{executor!r} is no executor",
        "give a concurrent.futures.Executor, a dask.distributed.Client, or the address of a Dask scheduler such as tcp://HOST:8786",
        key="executor",
    )
    try:
        from distributed import Client
    except ImportError:
        if isinstance(executor, str):
            missing("distributed", "dask", "A cluster")
        raise wrong from None
    if isinstance(executor, str):
        if "://" not in executor:
            raise wrong
        try:
            client = Client(executor, timeout=10)
        except (OSError, TimeoutError, ValueError) as e:
            raise ExecutorError(
                f"no Dask scheduler answers at {executor}: {e}", "start one with `dask scheduler`, and give its address", key="executor"
            ) from None
        try:
            return Cluster(client, own=True)
        except BaseException:
            client.close()
            raise
    if isinstance(executor, Client):
        return Cluster(executor)
    if hasattr(executor, "_client"):
        return Cluster(executor._client)
    raise wrong


def _versions_there() -> tuple[str, int]:
    from cnsim import _work

    return _work.versions()
