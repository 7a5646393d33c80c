"""Sweeps: local, on processes, on a Dask cluster, killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn
from cnsim import _cnsim, _work
from cnsim.executors import Processes, run_on

from conftest import EXAMPLES, SHORT, needs
from test_errors import refused

import qcn_python  # noqa: F401

HOP = cn.scenario("B07/single-hop").with_(SHORT)


def rows(s: cn.Sweep) -> list[tuple[Any, ...]]:
    """Everything that a sweep measured, row for row."""
    return [(p.values, p.pause, p.scheme, r.seed, r.key, r.metrics, r.fingerprint) for p in s.points for r in p]


def test_a_grid_with_paired_differences() -> None:
    s = cn.sweep(HOP, scheme=["none", "qcn-2pt"], hotspot__rate=["2 Gb/s", "0.5 Gb/s"], seeds=4)
    assert len(s.points) == 4 and len(s) == 16 and s.keys == ["hotspot.rate"]
    found = s.compare("time_paused", baseline="none")
    assert [(r["hotspot.rate"], r["scheme"], r["seeds"]) for r in found] == [("2 Gb/s", "qcn-2pt", 4), ("0.5 Gb/s", "qcn-2pt", 4)]
    a, b = s.points[0], s.points[1]
    by_hand = [y.metrics["time_paused"] - x.metrics["time_paused"] for x, y in zip(a, b)]
    assert found[0]["difference"] == pytest.approx(sum(by_hand) / 4)
    low, high = found[0]["ci95_low"], found[0]["ci95_high"]
    assert low < found[0]["difference"] < high
    wanted = "higher" if low > 0 else "lower" if high < 0 else "undecided"
    assert found[0]["verdict"] == wanted and "difference" in repr(found)
    other = s.compare("time_paused", baseline={"hotspot.rate": "2 Gb/s"})
    assert {r["scheme"] for r in other} == {"none", "qcn-2pt"} and all(r["hotspot.rate"] == "0.5 Gb/s" for r in other)
    assert s.table("points").num_rows == 16
    matplotlib = needs("matplotlib")
    matplotlib.use("agg")
    ax = s.plot("aggregate_throughput")
    assert ax.get_xlabel().startswith("hotspot.rate [")


def test_comparisons_are_those_of_the_program(tmp_path: Path) -> None:
    """Lower bounds, means over different flows, other spellings: the rows of `cnsim compare`, in numbers and verdicts."""
    incast = {"kind": "incast", "hosts": ["H1", "H2", "H3", "H4"], "destinations": ["H0"], "size": "200 KB"}
    noise = {"kind": "poisson", "hosts": ["H5"], "destinations": ["H6"], "load": "40 %", "sizes": "file", "size_table": ["20000 100"]}
    base = cn.build("bounds", topology={"hosts": 7}, traffic=[incast, noise], run={"duration": "1 ms"}, scheme=["none"])
    s = cn.sweep(base, {"topology.link_rate": ["5 Gb/s", "10 Gb/s"]}, scheme=["none", "ecm"], pause=["on", "off"], seeds=3, progress=False)
    s.save(tmp_path)
    metrics = ("completion_time_p99", "completion_time", "aggregate_throughput", "time_paused", "finished_flows")
    verdicts = set()
    for text, same in (
        ("none", ["NONE", {"scheme": "none"}]),
        ("PAUSE on", [{"pause": "on"}]),
        ("topology.link_rate=5 Gb/s", [{"topology.link_rate": "5Gb/s"}, {"topology__link_rate": "5000 Mb/s"}]),
    ):
        command = [sys.executable, "-m", "cnsim.program", "compare", str(tmp_path), "--baseline", text, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for metric in metrics:
            theirs = [r for r in json.loads(done.stdout)["rows"] if r["metric"] == metric and not r["traffic"]]
            wanted = sorted((r["difference"], *(r["ci95"] or (None, None)), r["seeds"], r["verdict"]) for r in theirs)
            for way in (text, *same):
                ours = s.compare(metric, way)
                assert sorted((r["difference"], r["ci95_low"], r["ci95_high"], r["seeds"], r["verdict"]) for r in ours) == wanted
            verdicts |= {r["verdict"] for r in theirs}
    assert {"higher", "lower", "undecided: different flows finished"} <= verdicts
    assert any("bound" in v for v in verdicts), verdicts
    refused(cn.ScenarioError, "nothing can be paired", s.compare, "recovery_time", "none")
    means = s.means("completion_time_p99")
    assert any(m["at_least"] for m in means) and all(m["ci95_low"] is None for m in means if m["at_least"])


def test_points_that_are_the_same_runs_are_not_compared() -> None:
    s = cn.sweep(HOP, {"scheme.params.q_eq": ["20 KB", "30 KB"]}, scheme=["none", "ecm"], seeds=2, progress=False)
    found = s.compare("overhead", {"scheme.params.q_eq": "20KB"})
    assert [(r["scheme"], r["scheme.params.q_eq"]) for r in found] == [("ecm", "30 KB")]


def test_intervals_stay_where_values_can_be() -> None:
    """A lower bound has no interval, ± reaches beyond no limit, and `until` does not chase a bound."""
    share = cn.results.Estimate("finished_flows", "%", (98.0, 100.0, 100.0))
    assert share.ci95 is not None and share.ci95[1] == 100.0 and str(share) == "99.3 (92.2 to 100.0) %"
    bound = cn.results.Estimate("completion_time_p99", "us", (10.0, 20.0, 30.0), at_least=True)
    assert bound.ci95 is None and str(bound) == "≥ 20 us"
    assert str(cn.results.Estimate("completion_time_p99", "us", (19.0, 20.0, 21.0))) == "20.0 ± 2.5 us"
    incast = {"kind": "incast", "hosts": ["H1", "H2"], "destinations": ["H0"], "size": "9 MB"}
    base = cn.build("long", topology={"hosts": 3}, traffic=[incast], run={"duration": "1 ms"}, scheme=["none"])
    s = cn.sweep(base, {"run.duration": ["1 ms", "2 ms"]}, until={"completion_time_p99": "1%"}, progress=False)
    assert {len(p) for p in s.points} == {4} and "2 points have unfinished flows" in s.notes[-1]
    row = next(r for r in base.run(seeds=2, progress=False).summary(["completion_time_p99"]))
    assert row["at_least"] and row["ci95"] is None and "≥ 1" in repr(cn.results.Summary([row]))


def test_the_ranges_of_the_documents() -> None:
    """What README, docstrings and chapters show as values of a sweep runs."""
    s = cn.sweep(HOP, hotspot__rate=["2 Gb/s", "0"], scheme=["none"], seeds=1)
    assert [p.values["hotspot.rate"] for p in s.points] == ["2 Gb/s", "0 Gb/s"]
    for words in ("1 Gb/s..5 Gb/s/5", [1e9, 2e9, 3e9, 4e9, 5e9], range(1_000_000_000, 5_000_000_001, 1_000_000_000)):
        found = cn.sweep(HOP, hotspot__rate=words, scheme=["none"], seeds=1)
        assert [p.values["hotspot.rate"] for p in found.points] == [f"{n} Gb/s" for n in (1, 2, 3, 4, 5)]
    said = re.findall(r"--over (?:'([^']+)'|(\S+))", (Path(__file__).parents[2] / "docs/python.md").read_text())
    assert said
    for quoted, plain in said:
        key, _, values = (quoted or plain.strip("`,")).partition("=")
        assert len(cn.sweep(HOP, {key: values}, scheme=["none"], seeds=1).points) > 1


def test_intervals_by_hand() -> None:
    """Student's t for four degrees of freedom is 2.776445; of skewed values it reaches farther on the side of the tail."""
    values = [1.0, 2.5, 2.0, 4.0, 3.5]
    mean, ci, sd = _cnsim.interval(values, paired=True) or (0.0, None, 0.0)
    assert (mean, sd) == (pytest.approx(2.6), pytest.approx(1.193734))
    t, error = 2.776445, sd / 5**0.5
    assert ci == pytest.approx((2.6 - t * error, 2.6 + t * error), rel=1e-6)
    second, third = (sum((v - mean) ** n for v in values) / 5 for n in (2, 3))
    skew = third / second**1.5 * (5 * 4) ** 0.5 / 3
    tail = skew * (2 * t * t + 1) / (6 * 5**0.5)
    skewed = (_cnsim.interval(values) or (0.0, None, 0.0))[1]
    assert tail < 0 and skewed == pytest.approx((2.6 - (t - tail) * error, 2.6 + t * error), rel=1e-6)


def test_until_narrows_the_interval() -> None:
    s = cn.sweep(HOP, scheme=["none"], hotspot__rate=["2 Gb/s", "0 Gb/s"], until={"aggregate_throughput": "0.4%"}, seeds=2)
    for row in s.means("aggregate_throughput"):
        assert (row["ci95_high"] - row["ci95_low"]) / 2 <= 0.004 * row["mean"]
    refused(cn.ScenarioError, "is not measured here", cn.sweep, HOP, until={"completion_time": "1%"})
    assert max(len(p) for p in s.points) > 2


def test_the_store_is_that_of_the_program(tmp_path: Path) -> None:
    s = cn.sweep(HOP, scheme=["none", "ecm"], hotspot__rate=["2 Gb/s", "0 Gb/s"], seeds=2, out=tmp_path)
    kept = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "runs").glob("*.json")}
    sets = [x for k, v in SHORT.items() for x in ("--set", f"{k}={v}")]
    args = ["sweep", "B07/single-hop", "--over", "hotspot.rate=2 Gb/s,0 Gb/s", "--scheme", "none,ecm", "--seeds", "2", *sets]
    done = subprocess.run([sys.executable, "-m", "cnsim.program", *args, "--out", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "runs").glob("*.json")} == kept and len(kept) == len(s) == 8


def failing_at(rate: float) -> None:
    """Registers a scheme that fails where its parameter has this value."""
    space: dict[str, Any] = {"cn": cn, "__name__": "__main__"}
    exec(
        "@cn.scheme('fails-at')\nclass FailsAt(cn.Scheme):\n    limit = cn.param.rate('1 Gb/s', low=0, high='1 Tb/s')\n"
        "    class CongestionPoint(cn.CongestionPoint):\n        def start(self, queue):\n            queue.sample_after(1000)\n"
        "        def on_sample(self, frame, queue):\n"
        f"            if self.p.limit == {rate}: raise ValueError('too slow')\n",
        space,
    )


@pytest.mark.parametrize("how", ["threads", "processes", "executor"])
def test_a_point_that_fails_leaves_the_others(how: str, tmp_path: Path) -> None:
    """The rest goes on; the failed point has its reason in table and text, and no number is made of it."""
    failing_at(2e9)
    if how != "threads":
        needs("cloudpickle")
    over = {"scheme.params.limit": ["1 Gb/s", "2 Gb/s", "3 Gb/s"]}
    pool = ThreadPoolExecutor(1) if how == "executor" else None
    with pytest.warns(cn.SweepWarning, match=r"1 of 3 points failed: `.failed` has the reasons\n  scheme.params.limit=2 Gb/s, PAUSE on, fails-at, seed 1"):
        s = cn.sweep(HOP, over, scheme="fails-at", seeds=2, out=tmp_path, threads=1 if how == "threads" else 2, executor=pool)
    assert [bool(p.failed) for p in s.points] == [False, True, False] and s.failed == [s.points[1]]
    said = s.points[1].failed or ""
    assert said.startswith("seed 1: ") and "ValueError: too slow" in said and "us" in said and "failed:" in repr(s)
    rows = list(s.table("points"))
    assert [r["failed"] for r in rows] == [None, None, said, None, None] and rows[2]["aggregate_throughput"] is None
    assert [r["scheme.params.limit"] for r in rows] == [1.0, 1.0, 2.0, 3.0, 3.0]
    assert len(s.means("aggregate_throughput")) == 2
    assert len(s.compare("aggregate_throughput", {"scheme.params.limit": "1 Gb/s"})) == 1
    assert len(list((tmp_path / "runs").glob("*.json"))) >= 4
    with pytest.raises(cn.SchemeError):
        HOP.with_({"scheme.params.limit": "2 Gb/s"}, scheme="fails-at").run()


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_any_executor(kind: str, tmp_path: Path) -> None:
    local = cn.sweep(HOP, scheme=["none", "qcn-2pt-python"], seeds=2, threads=1)
    pool = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2)
    with pool:
        there = cn.sweep(HOP, scheme=["none", "qcn-2pt-python"], seeds=2, executor=pool, out=tmp_path)
    assert rows(there) == rows(local)


def test_processes_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    s = HOP.with_(scheme="qcn-2pt-python", run__duration="40 ms")
    plan = s._read.plan_run(s._asked(), 1, 8, False)
    with Processes(2) as pool:
        over = threading.Event()

        def kill() -> None:
            for _ in range(3):
                while not over.is_set() and not pool.pids:
                    time.sleep(0.01)
                over.wait(0.4)
                for pid in pool.pids[:1]:
                    os.kill(pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        found = run_on(pool, plan, tmp_path, lambda done, hops: None)
        over.set()
        thread.join()
    rust = s.with_({"scheme.params.sampling": "bytes"}, scheme="qcn-2pt")
    assert [r.fingerprint for r in found] == rust.run(seeds=8).fingerprints


def test_an_executor_that_dies(tmp_path: Path) -> None:
    """What is finished is kept, and the next call goes on."""
    pool = ProcessPoolExecutor(1)
    pool.submit(int).result()
    s = HOP.with_(scheme="none", run__duration="30 ms")

    def killed(done: int, hops: float) -> None:
        for process in list((pool._processes or {}).values()) if done else []:
            process.kill()

    plan = s._read.plan_run(s._asked(), 1, 12, False)
    e = refused(cn.ExecutorError, "lost its workers", run_on, pool, plan, tmp_path, killed)
    assert str(tmp_path) in e.remedy
    kept = len(list((tmp_path / "runs").glob("*.json")))
    assert 0 < kept < 12
    assert len(s.run(seeds=12, out=tmp_path)) == 12


def test_what_cannot_be_handed_on() -> None:
    space: dict[str, Any] = {"cn": cn, "__name__": "__main__", "lock": threading.Lock()}
    exec(
        "@cn.scheme('locked')\nclass Locked(cn.Scheme):\n    class ReactionPoint(cn.ReactionPoint):\n"
        "        def on_feedback(self, feedback, limiter):\n            lock.acquire()\n",
        space,
    )
    with ThreadPoolExecutor(1) as pool:
        refused(cn.SchemeError, "cannot be handed to another process", HOP.with_(scheme="locked").run, seeds=2, executor=pool)


def test_a_result_of_another_version_is_refused(tmp_path: Path) -> None:
    s = HOP.with_(scheme="none")
    plan = s._read.plan_run(s._asked(), 1, 1, False)
    other = s.run(seed=2)[0]
    refused(cn.VersionError, "another run", plan.keep, 0, other, None)
    task = _work.Task("0.0.9", 1, plan.task(0), plan.key(0), b"")
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr("cnsim.executors.tasks", lambda plan, which: [task for _ in which])
        refused(cn.VersionError, "the task was made by 0.0.9", s.run, seeds=1, executor=pool, out=tmp_path)
    assert not list((tmp_path / "runs").glob("*.json"))


# A real cluster: a scheduler and workers, each a process of its own.


def started(*command: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), str(Path(__file__).parent)])}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def worker(address: str, *more: str) -> subprocess.Popen[bytes]:
    return started("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *more)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Address of a scheduler."""
    needs("distributed")
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    scheduler = started("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    try:
        yield f"tcp://127.0.0.1:{port}"
    finally:
        scheduler.kill()
        scheduler.wait()


def test_dask_workers_killed_and_of_another_version(cluster: str, tmp_path: Path) -> None:
    """A sweep of 100 runs on a cluster equals the local one row for row, though a worker is killed in its midst."""
    from distributed import Client

    old = tmp_path / "old.py"
    old.write_text(
        "from cnsim import _work\n_work.versions.__code__ = (lambda: ('0.0.9', 1)).__code__\n"
        "def dask_setup(worker):\n    pass\n"
    )
    workers = [worker(cluster), worker(cluster), worker(cluster, "--preload", str(old))]
    try:
        with Client(cluster, timeout=60) as client:
            client.wait_for_workers(3, timeout=60)
            grid = {"scheme": ["none", "qcn-2pt", "ecm", "qcn-2pt-python"], "hotspot__rate": [f"{n} Gb/s" for n in (1, 2, 3, 4, 5)]}
            s = HOP.with_(run__duration="12 ms")
            done = threading.Event()

            def kill() -> None:
                runs = tmp_path / "o" / "runs"
                while not done.is_set() and len(list(runs.glob("*.json"))) < 20:
                    time.sleep(0.02)
                workers[0].kill()

            thread = threading.Thread(target=kill)
            thread.start()
            with pytest.warns(UserWarning, match="0.0.9"):
                there = cn.sweep(s, seeds=5, executor=client, out=tmp_path / "o", **grid)
            done.set()
            thread.join()
            assert workers[0].wait(10) == -signal.SIGKILL
            assert len(there) == 100
            assert rows(there) == rows(cn.sweep(s, seeds=5, **grid))
            assert len(list((tmp_path / "o" / "runs").glob("*.json"))) == 100
            workers[1].kill()
            workers[1].wait()
            while len(client.scheduler_info(n_workers=-1)["workers"]) > 1:
                time.sleep(0.05)
            refused(cn.VersionError, "no worker has cnsim", cn.sweep, HOP, scheme=["none"], seeds=1, executor=client)
    finally:
        for w in workers:
            w.kill()
            w.wait()


def test_dask_workers_are_judged_when_they_join(cluster: str, tmp_path: Path) -> None:
    """One of another version that joins gets no task; a good one that joins later works."""
    from distributed import Client

    old = tmp_path / "old.py"
    old.write_text("from cnsim import _work\n_work.versions.__code__ = (lambda: ('0.0.9', 1)).__code__\ndef dask_setup(worker):\n    pass\n")
    workers = [worker(cluster), worker(cluster, "--preload", str(old))]
    try:
        with Client(cluster, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            before = set(client.scheduler_info(n_workers=-1)["workers"])
            joined = threading.Event()

            def join() -> None:
                runs = tmp_path / "o" / "runs"
                while not len(list(runs.glob("*.json"))) > 3:
                    time.sleep(0.02)
                workers.append(worker(cluster, "--preload", str(old)))
                workers.append(worker(cluster))
                joined.set()

            thread = threading.Thread(target=join)
            thread.start()
            with pytest.warns(UserWarning, match="0.0.9") as said:
                s = cn.sweep(HOP.with_(run__duration="200 ms"), scheme=["none"], seeds=60, executor=client, out=tmp_path / "o")
            thread.join()
            assert len(s) == 60 and joined.is_set() and not s.failed
            assert len(said) >= 1
            done = client.run(lambda dask_worker: dask_worker.state.executed_count)
            late = [n for a, n in done.items() if a not in before]
            assert sorted(n > 0 for n in late) == [False, True], done
    finally:
        for w in workers:
            w.kill()
            w.wait()


def test_the_program_sweeps_on_a_cluster(cluster: str, tmp_path: Path) -> None:
    workers = [worker(cluster)]
    try:
        sets = [x for k, v in SHORT.items() for x in ("--set", f"{k}={v}")]
        args = ["sweep", "B07/single-hop", "--over", "hotspot.rate=2 Gb/s,0 Gb/s", "--scheme", "none,qcn-2pt-python", "--seeds", "2", *sets]
        program = [sys.executable, "-m", "cnsim.program", "--python", str(EXAMPLES / "qcn_python.py"), *args, "--quiet"]
        there = subprocess.run([*program, "--executor", cluster, "--out", str(tmp_path / "a")], capture_output=True, text=True)
        here = subprocess.run([*program, "--out", str(tmp_path / "b")], capture_output=True, text=True)
        assert there.returncode == here.returncode == 0, there.stderr + here.stderr
        assert (tmp_path / "a/sweep.csv").read_text() == (tmp_path / "b/sweep.csv").read_text()
        assert len(list((tmp_path / "a/runs").glob("*.json"))) == 8
    finally:
        for w in workers:
            w.kill()
            w.wait()


def test_no_cluster() -> None:
    needs("distributed")
    refused(cn.ExecutorError, "no Dask scheduler answers", cn.sweep, HOP, seeds=1, executor="tcp://127.0.0.1:9")
    refused(cn.ExecutorError, "is no executor", cn.sweep, HOP, seeds=1, executor="somewhere")


def test_the_script_for_slurm() -> None:
    needs("dask_jobqueue")
    from cnsim.cluster import slurm

    with slurm(cores=4, memory="8GB", walltime="00:30:00", queue="batch", account="lab") as cluster:  # type: ignore[attr-defined]
        script = cluster.job_script()
    for line in ("#SBATCH -p batch", "#SBATCH -A lab", "#SBATCH --cpus-per-task=4", "#SBATCH -t 00:30:00", "--nworkers 4", "--nthreads 1"):
        assert line in script, script
