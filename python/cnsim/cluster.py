"""``cnsim sweep ... --executor ADDRESS``: a cluster does the runs, and the program then finds them in its store."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from . import _cnsim
from .errors import CnsimError
from .scenario import scenario, sweep
from .schemes import registry

__all__ = ["slurm", "sweep_command"]


def sweep_command(address: str, args: list[str]) -> int:
    """Runs ``cnsim sweep`` with these arguments on the executor at an address; returns the exit code."""
    try:
        asked = _parser().parse_known_args(args[2:])[0]
        base = scenario(asked.scenario).with_(dict(s.partition("=")[::2] for s in asked.sets))
        over = dict(o.partition("=")[::2] for o in asked.over)
        schemes = asked.scheme.split(",") if asked.scheme else list(dict.fromkeys(c.scheme for c in base.cases))
        seeds = int(asked.seeds) if asked.seeds else int(base._about["seeds"])
        pauses = asked.pause.split(",") if asked.pause else None
        sweep(
            base, over, scheme=schemes, pause=pauses, condition=asked.condition, seeds=seeds,
            executor=address, out=asked.out, force=asked.force,
        )  # fmt: skip
    except CnsimError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1 if type(e).__name__ in ("ExecutorError", "RunError", "SchemeError") else 2
    except KeyboardInterrupt:
        print("error: interrupted: finished runs are kept", file=sys.stderr)
        return 130
    return _cnsim.main(registry(), args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("scenario")
    parser.add_argument("--over", action="append", default=[])
    parser.add_argument("--set", action="append", default=[], dest="sets")
    for option in ("--scheme", "--pause", "--condition", "--seeds"):
        parser.add_argument(option)
    parser.add_argument("--out", default="out")
    parser.add_argument("--force", action="store_true")
    return parser


def slurm(*, cores: int = 1, memory: str = "4GB", walltime: str = "01:00:00", **options: Any) -> Any:
    """A Dask cluster of Slurm jobs (dask-jobqueue): ``cluster.scale(jobs=10)``, then ``executor=cluster.get_client()``.

    One run takes one core, so a job of ``cores`` has as many processes. Each needs as much memory as the largest run.
    """
    from .errors import missing

    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        missing("dask_jobqueue", "slurm", "Slurm")
    return SLURMCluster(cores=cores, processes=cores, memory=memory, walltime=walltime, **options)
