"""A session: scenario, run, results, tables, figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cnsim as cn

from conftest import SHORT


def test_import_is_light() -> None:
    """Nothing heavy is loaded by the import, and no extra is needed for it."""
    said = subprocess.run(
        [sys.executable, "-c", "import sys, cnsim; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numpy", "arro3", "matplotlib", "pandas", "polars", "distributed", "optuna", "asyncio", "concurrent.futures"}
    assert not heavy & set(said)


def test_lists() -> None:
    names = cn.list().names
    assert "B07/single-hop" in names and len(names) >= 20
    assert {"none", "qcn-2pt", "ecm"} <= set(cn.list("schemes").names)
    assert "overhead" in cn.list("metrics").names
    assert "B07/single-hop" in repr(cn.list()) and "<table>" in cn.list()._repr_html_()


def test_a_run_is_the_programs_run(short: cn.Scenario, tmp_path: Path) -> None:
    """The same configuration gives the same bits from Python and from the command line, and both share one store."""
    r = short.run(seeds=2, out=tmp_path)
    sets = [x for k, v in SHORT.items() for x in ("--set", f"{k}={v}")]
    args = ["run", "B07/single-hop", "--scheme", "qcn-2pt", "--seeds", "2", *sets, "--json", "--quiet", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "cnsim.program", *args], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)["runs"]
    assert [x["fingerprint"] for x in theirs] == r.fingerprints
    assert [x["config"] for x in theirs] == [json.loads(x.config()) for x in r]
    assert r[0].fingerprint != r[1].fingerprint
    kept = sorted((tmp_path / "runs").glob("*.json"))
    assert [p.stem for p in kept] == sorted(x.key for x in r)
    before = [p.stat().st_mtime_ns for p in kept]
    again = short.run(seeds=2, out=tmp_path)
    assert [p.stat().st_mtime_ns for p in kept] == before and again.fingerprints == r.fingerprints
    saved = r.save(tmp_path / "saved")
    verified = subprocess.run([sys.executable, "-m", "cnsim.program", "verify", str(saved)], capture_output=True, text=True)
    assert verified.returncode == 0 and "2 runs verified" in verified.stdout, verified.stderr
    assert cn.load(saved)["runs"][0]["scheme"] == "qcn-2pt"


def test_with_names_the_same_keys_as_the_command_line() -> None:
    s = cn.scenario("B07/single-hop")
    one = s.with_(scheme="ecm", hotspot__rate="0.5 Gb/s", pause=False)
    two = s.with_({"hotspot.rate": "0.5 Gb/s"}, scheme="ecm", pause="off")
    assert one == two and one != s and one.config()["hotspot.rate"] == "0.5 Gb/s"
    assert one.config()["pause.mode"] == "off" and one.config()["scheme"]["name"] == "ecm"
    assert s.with_(run__duration="2 s").config()["run.duration"] == "2 s"


def test_published_beside_measured() -> None:
    found = cn.scenario("B07/single-hop").with_(scheme="none").run()
    rows = found.summary(["aggregate_throughput"])
    assert rows[0]["published"] is not None and rows[0]["verdict"] in ("agrees", "near", "differs")
    assert "published" in repr(rows) and "<table>" in rows._repr_html_()


def test_tables_are_arrow(short: cn.Scenario, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    r = short.run(seeds=3)
    frame = pl.DataFrame(r.table())
    assert frame["seed"].to_list() == [1, 2, 3]
    assert frame["overhead"].to_list() == [x.metrics["overhead"] for x in r]
    series = pl.DataFrame(r.table("series"))
    mine = series.filter((pl.col("series") == "hot_queue") & (pl.col("seed") == 1))
    assert np.array_equal(mine["value"].to_numpy(), r.queue().values)
    assert mine["time_s"][0] == pytest.approx(1e-4)
    assert pl.DataFrame(r.queue()).columns == ["time_s", "hot_queue_KB"]
    assert {"port", "queue_max"} <= set(pl.DataFrame(r.table("ports")).columns)
    assert "cnm_messages" in pl.DataFrame(r.table("counters")).columns
    path = r.to_parquet(tmp_path / "runs.parquet")
    assert pl.read_parquet(path)["run"].to_list() == [x.key for x in r]
    said = pl.read_parquet_metadata(path)
    assert json.loads(said["cnsim.units"])["overhead"] == "Mb/s"
    assert json.loads(said["cnsim.configurations"])[r[0].key]["scheme"]["name"] == "qcn-2pt"
    assert list(tmp_path.iterdir()) == [path]


def test_series_share_their_memory(short: cn.Scenario) -> None:
    q = short.run().queue()
    assert q.unit == "KB" and len(q) == 60 and not q.values.flags.owndata
    assert np.shares_memory(q.values, q.values) and q.time[-1] == pytest.approx(6e-3)


def test_figures_are_drawn(short: cn.Scenario, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    r = short.run(seeds=2)
    ax = r.plot()
    assert ax.get_xlabel() == "time [ms]" and ax.get_ylabel() == "hot queue [KB]" and len(ax.lines) == 1
    ax.figure.savefig(tmp_path / "a.png")
    from cnsim.plot import slots

    every = cn.list("schemes").names
    assert slots(["none"]) == {"none": 0} and len(set(slots(every[:16]).values())) == 16
    some = slots(["qcn-2pt", "mine", "ecm", every[16 + every.index("qcn-2pt")]])
    assert len(set(some.values())) == 4
    card = r._repr_html_()
    assert "±" in card and "<svg" in card and "http" not in card


def test_a_graph_of_networkx_is_a_topology() -> None:
    nx = pytest.importorskip("networkx")
    g = nx.Graph()
    for h in range(4):
        g.add_edge(f"H{h}", "S0", rate="10 Gb/s", delay="1 us")
    s = cn.build("star", topology=g, workload={"kind": "bernoulli", "load": "50 %"}, run={"duration": "1 ms"})
    r = s.with_(scheme="qcn-2pt").run()
    assert 15 < r.metric("aggregate_throughput").mean < 25
    g.add_edge("H0", "H1")
    with pytest.raises(cn.ScenarioError) as e:
        cn.build("odd", topology=g.to_directed())
    assert "undirected" in e.value.remedy


def test_progress_and_ctrl_c(short: cn.Scenario, tmp_path: Path) -> None:
    """Ctrl-C ends a long run soon, and nothing is half-written."""
    script = tmp_path / "long.py"
    script.write_text(
        "import cnsim as cn, os, signal, threading\n"
        "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "s = cn.scenario('B07/single-hop').with_(scheme='qcn-2pt', run__duration='500 s')\n"
        f"try:\n    s.run(out={str(tmp_path / 'o')!r}, force=True)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped\n", done.stderr
    assert [p.name for p in (tmp_path / "o" / "runs").iterdir()] == ["lock"]


def test_runs_release_the_lock_of_the_interpreter(short: cn.Scenario) -> None:
    """While a run goes on, another thread computes."""
    import threading

    ticks, over = [0], threading.Event()

    def tick() -> None:
        while not over.is_set():
            ticks[0] += 1
            over.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    short.with_(run__duration="300 ms").run(seeds=2)
    over.set()
    thread.join()
    assert ticks[0] > 20
