"""A session: scenario, run, results, tables, figures."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cnsim as cn

from conftest import SHORT, needs

import qcn_python  # noqa: F401


POISSON = {"kind": "poisson", "load": "60 %", "sizes": "fb-hadoop"}


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
    case = f"{r[0].condition}, PAUSE {r[0].pause}, qcn-2pt"
    args = ["run", "B07/single-hop", "--case", case, "--seeds", "2", *sets, "--json", "--quiet", "--out", str(tmp_path)]
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
    assert cn.load(saved).fingerprints == r.fingerprints


def test_with_names_the_same_keys_as_the_command_line() -> None:
    s = cn.scenario("B07/single-hop")
    one = s.with_(scheme="ecm", hotspot__rate="0.5 Gb/s", pause=False)
    two = s.with_({"hotspot.rate": "0.5 Gb/s"}, scheme="ecm", pause="off")
    assert one == two and one != s and one.config()["hotspot.rate"] == "0.5 Gb/s"
    assert one.config()["pause.mode"] == "off" and one.config()["scheme"]["name"] == "ecm"
    assert s.with_(run__duration="2 s").config()["run.duration"] == "2 s"


def test_published_beside_measured() -> None:
    case = cn.scenario("B07/single-hop").with_(scheme="none")
    rows = case.run(seeds=4).summary(["aggregate_throughput"])
    assert rows[0]["published"] is not None and rows[0]["verdict"] in ("agrees", "near", "differs")
    assert case.run(seeds=1).summary(["aggregate_throughput"])[0]["verdict"] == "undecided"
    assert "published" in repr(rows) and "<table>" in rows._repr_html_()


def test_tables_are_arrow(short: cn.Scenario, tmp_path: Path) -> None:
    pl = needs("polars")
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
    matplotlib = needs("matplotlib")
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


def test_xoff_spreads_over_ports_and_time(short: cn.Scenario, tmp_path: Path) -> None:
    matplotlib = needs("matplotlib")
    matplotlib.use("agg")
    r = short.with_(scheme="none", pause="on").run()
    rows = list(r.table("xoff"))
    ports = {x["port"] for x in rows}
    assert ports and len(rows) == 60 * len(ports) and rows[59]["time_s"] == pytest.approx(6e-3)
    whole = {x["port"]: 0.0 for x in rows}
    for x in rows:
        whole[x["port"]] += x["paused"] / 60
    known = {p["port"]: p["paused"] for p in r.table("ports")}
    # Each part is rounded up to a whole per cent.
    assert all(known[p] <= whole[p] + 1e-9 <= known[p] + 1 for p in ports)
    ax = r.plot_xoff()
    assert ax.get_xlabel() == "time [ms]" and "hosts (" in ax.get_yticklabels()[0].get_text()
    ax.figure.savefig(tmp_path / "a.png")
    with pytest.raises(cn.CnsimError, match="was in XOFF"):
        short.with_(pause="off").run().plot_xoff()


def test_the_map_of_a_run(short: cn.Scenario, tmp_path: Path) -> None:
    r = short.with_(scheme="none", pause="on", record__map="on").run()
    m = r.map()
    assert "H1>S" in m.ports and len(m.ports) == 20 and "20 ports" in repr(m)
    queue, hot = m.series("S>H0"), r.queue()
    assert queue.unit == "KB" and queue.bin == hot.bin and len(queue) == len(hot)
    assert max(queue.values) >= max(hot.values) - 0.05 and m.series("H1>S", "used").unit == "%"
    top = int(queue.values.argmax())
    svg = m.still("queue", queue.bin * top)
    assert 'class="w u8" data-port="S&gt;H0"' in svg and "largest queue" in svg
    assert m.save(tmp_path / "m.svg", "queue", at=queue.bin * top).read_text() == svg
    page = m.save(tmp_path / "m.html").read_text()
    assert "article class=&quot;play" in m._repr_html_() and "data-map" in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    with pytest.raises(cn.UnknownName, match="there is no port `H1>T`"):
        m.series("H1>T")
    with pytest.raises(cn.UnknownName, match="`queue`"):
        m.series("H1>S")
    with pytest.raises(cn.CnsimError, match="kept no ports over time"):
        short.with_(scheme="none").run().map()


def test_a_graph_of_networkx_is_a_topology() -> None:
    nx = needs("networkx")
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
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "s = cn.scenario('B07/single-hop').with_(scheme='qcn-2pt', run__duration='500 s')\n"
        f"try:\n    s.run(out={str(tmp_path / 'o')!r}, force=True)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped\n", done.stderr
    assert {p.name for p in (tmp_path / "o" / "runs").iterdir()} == {".cnsim"}, "begun, no run, nothing half-written"


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


def test_results_are_saved_loaded_and_pickled(short: cn.Scenario, tmp_path: Path) -> None:
    """Everything comes back: metrics, counters, ports, series with their peaks, the times of flows."""
    r = short.run(seeds=2)
    flows = cn.build("flows", topology={"hosts": 4}, run={"duration": "2 ms"}, workload=POISSON).run()
    assert len(flows[0].flows()[1]) > 0
    for one in (r, flows):
        folder = tmp_path / one[0].scenario
        for back in (cn.load(one.save(folder)), cn.load(folder), pickle.loads(pickle.dumps(one))):
            assert back.fingerprints == one.fingerprints and [x.metrics for x in back] == [x.metrics for x in one]
            assert [x.ports() for x in back] == [x.ports() for x in one] and [x.key for x in back] == [x.key for x in one]
            for x, y in zip(back, one):
                assert x.series_names() == y.series_names()
                for n in y.series_names():
                    (unit, width, data), (u, w, d) = x.series(n) or ("", 0, b""), y.series(n) or ("", 0, b"")
                    # A file has six digits.
                    assert (unit, width) == (u, pytest.approx(w)) and np.allclose(np.frombuffer(data), np.frombuffer(d), rtol=1e-5)
            assert one is r or list(back.table("flows")) == list(one.table("flows"))
            assert [row["measured"] for row in back.summary()] == [row["measured"] for row in one.summary()]
    q = pickle.loads(pickle.dumps(r.queue()))
    assert np.array_equal(q.values, r.queue().values) and q.unit == "KB"
    sweep = cn.sweep(short, hotspot__rate=["2 Gb/s", "1 Gb/s"], seeds=1)
    again = pickle.loads(pickle.dumps(sweep))
    assert [p.name for p in again.points] == [p.name for p in sweep.points] and again.fingerprints == sweep.fingerprints
    series = sorted((tmp_path / r[0].scenario / "series").glob("*.csv"))[0]
    series.write_text("time_s,hot_queue_KB\n1,x\n")
    with pytest.raises(cn.CnsimError, match=":2: no line of two or three numbers"):
        cn.load(tmp_path / r[0].scenario)
    file = tmp_path / r[0].scenario / "results.json"
    file.write_text(file.read_text().replace('"seed":1', '"seed":7', 1))
    with pytest.raises(cn.CnsimError, match="was changed after it was written"):
        cn.load(file)


def test_a_scenario_takes_its_scheme_along(tmp_path: Path) -> None:
    """Another process gets the scenario with its scheme in Python, from `__main__`, too."""
    needs("cloudpickle")
    (tmp_path / "one.py").write_text(
        "import pickle, sys, cnsim as cn\n@cn.scheme('carried')\nclass Carried(cn.Scheme):\n"
        "    class ReactionPoint(cn.ReactionPoint):\n        def on_feedback(self, feedback, limiter):\n            pass\n"
        "s = cn.scenario('B07/single-hop').with_(scheme='carried')\nopen(sys.argv[1], 'wb').write(pickle.dumps(s))\n"
    )
    subprocess.run([sys.executable, str(tmp_path / "one.py"), str(tmp_path / "s")], check=True)
    other = f"import pickle; s = pickle.load(open({str(tmp_path / 's')!r}, 'rb')); print(s.config()['scheme']['name'])"
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True)
    assert done.stdout == "carried\n", done.stderr


def test_a_scenario_never_changes(short: cn.Scenario) -> None:
    with pytest.raises(AttributeError, match=r"write s = s.with_\(scheme=...\)"):
        short.scheme = "ecm"  # type: ignore[misc]
    assert short.scheme == "qcn-2pt" and short.pause is None and short.condition is None
    for given in ({"scheme": ["ecm", "none"]}, {"pause": ["on", "off"]}, {"condition": ["a", "b"]}):
        with pytest.raises(cn.ScenarioError, match="for several write cn.sweep"):
            short.with_(**given)


def test_a_number_has_the_unit_of_its_key(short: cn.Scenario) -> None:
    """A number without a unit is bit/s, seconds or bytes, as its key asks."""
    assert short.with_(hotspot__rate=1e9).config()["hotspot.rate"] == "1 Gb/s"
    assert short.with_(run__duration=0.007).config()["run.duration"] == "7 ms"
    s = short.with_({"scheme.params.q_eq": 30_000, "scheme.params.gd": 0.01}, hotspot__rate="0")
    assert s.config()["scheme"]["params"]["q_eq"] == "30 KB" and s.config()["hotspot.rate"] == "0 Gb/s"
    assert short.with_(hotspot__rate=np.float64(5e8)).config()["hotspot.rate"] == "500 Mb/s"
    with pytest.raises(cn.ScenarioError):
        short.with_(hotspot__rate=-1e9)


def test_frames_and_arrays(short: cn.Scenario) -> None:
    """pandas, polars and xarray take results as they are, and say the units where they can."""
    pl, pd, xr = needs("polars"), needs("pandas"), needs("xarray")
    r = short.run(seeds=3)
    overhead = [x.metrics["overhead"] for x in r]
    for frame in (pl.DataFrame(r), pl.DataFrame(r.table()), r.to_polars()):
        assert frame["overhead"].to_list() == overhead
    for frame in (pd.DataFrame(r.table()), r.to_pandas()):
        assert frame["overhead"].tolist() == overhead and frame["seed"].tolist() == [1, 2, 3]
    assert r.to_pandas().attrs["units"]["overhead"] == "Mb/s" and r.table().units["overhead"] == "Mb/s"
    with pytest.raises(TypeError, match="r.to_pandas()"):
        pd.DataFrame(r)
    a = r.to_xarray()
    assert a.overhead.dims == ("seed",) and a.overhead.values.tolist() == overhead and a.overhead.attrs["units"] == "Mb/s"
    assert isinstance(a, xr.Dataset) and str(a.scheme.values) == "qcn-2pt"
    q = r.to_xarray("series").hot_queue
    assert q.dims == ("seed", "time") and q.time.attrs["units"] == "s" and np.array_equal(q.sel(seed=2).values, r[1:2].queue().values)
    s = cn.sweep(short, scheme=["none", "qcn-2pt"], hotspot__rate=["2 Gb/s", 1e9], seeds=2)
    b = s.to_xarray()
    assert b.overhead.dims == ("hotspot.rate", "scheme", "seed") and b["hotspot.rate"].attrs["units"] in ("Gb/s", "Mb/s")
    one = next(p for p in s.points if p.scheme == "qcn-2pt" and p.values["hotspot.rate"] == "2 Gb/s")
    assert b.overhead.isel({"hotspot.rate": 0}).sel(scheme="qcn-2pt", seed=2) == one[1].metrics["overhead"]
    points = s.table("points")
    assert points.units["hotspot.rate"] == b["hotspot.rate"].attrs["units"] and points.units["overhead"] == "Mb/s"
    assert pl.DataFrame(points)["hotspot.rate"].dtype == pl.Float64


def test_the_times_of_flows(short: cn.Scenario) -> None:
    with pytest.raises(cn.CnsimError, match="no run kept the times"):
        short.run().table("flows")
    s = cn.build("flows", topology={"hosts": 4}, run={"duration": "2 ms"}, workload=POISSON)
    table = s.run(seeds=2).table("flows")
    rows = list(table)
    assert len(rows) > 20 and {r["seed"] for r in rows} == {1, 2} and table.units["time_ps"] == "ps"
    assert all(r["slowdown"] == pytest.approx(r["time_ps"] / r["ideal_ps"]) and r["bytes"] > 0 for r in rows)
    assert all(r["source"] != r["destination"] for r in rows)


def test_where_the_time_of_flows_went(short: cn.Scenario, tmp_path: Path) -> None:
    with pytest.raises(cn.CnsimError, match="kept no parts"):
        short.run().flow("H1>H2")
    s = cn.build("flows", topology={"hosts": 4}, run={"duration": "2 ms"}, workload=POISSON)
    r = s.run(seeds=2)
    for f in r.flows():
        assert sum(f.parts.values()) == pytest.approx(f.completion, abs=1e-15) and f.completion >= f.alone * (1 - 1e-12)
        assert sum(at["link"] for at in f.ports) == pytest.approx(f.parts["links"]) and len(f.ports) == 2
    one = r.flows()[0]
    assert r.flow(one.name).time() == one.time() and "own" in one.parts and "limiter" not in one.time()
    with pytest.raises(cn.UnknownName, match="no flow `H9>H1` is complete"):
        r.flow("H9>H1")
    table = r.time_by_part()
    assert table.units["turn_us"] == "us" and {row["seed"] for row in table} == {1, 2}
    rows = [(row["time_us"], sum(row[f"{p}_us"] for p in one.parts)) for row in table]
    assert all(time == pytest.approx(parts) for time, parts in rows)
    r.save(tmp_path / "kept")
    assert cn.load(tmp_path / "kept").flow(one.name).parts == one.parts


def test_a_figure_shows_all_seeds_or_names_its_own(short: cn.Scenario) -> None:
    needs("matplotlib").use("agg")
    r = short.run(seeds=3)
    ax = r.plot()
    every = np.stack([np.frombuffer((x.series("hot_queue") or ("", 0, b""))[2]) for x in r])
    assert np.allclose(ax.lines[0].get_ydata(), every.mean(axis=0)) and len(ax.collections) == 1
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(every.max()) and "mean and range of 3 seeds" in ax.get_legend().get_texts()[0].get_text()
    assert r[:1].plot().get_legend().get_texts()[0].get_text() == "qcn-2pt, seed 1"
    assert r.queue().plot().get_legend().get_texts()[0].get_text() == "qcn-2pt, seed 1" and "seed 1" in repr(r.queue())


def test_a_strangers_scheme_passes_mypy(tmp_path: Path) -> None:
    """`self.p` is typed by the scheme that stands in brackets, and a wrong name is found."""
    needs("mypy")
    good = (
        "import cnsim as cn\n\n\n@cn.scheme('typed')\nclass Typed(cn.Scheme):\n"
        "    step = cn.param.rate('50 Mb/s', doc='Step.')\n    plan = cn.Plan(first_frame=True, echo=True)\n"
        "    promise = cn.Promise(floor=1e6)\n    counters = {'cuts': 'rates that were cut'}\n\n"
        "    def engages(self, feedback: cn.Feedback) -> bool:\n        return isinstance(feedback, cn.Feedback.User)\n\n"
        "    class CongestionPoint(cn.CongestionPoint):\n        def start(self, queue: cn.Queue) -> None:\n"
        "            self.seen: dict[int, int] = {}\n            queue.sample_after(self.p.step)\n\n"
        "    class ReactionPoint(cn.ReactionPoint['Typed']):\n        def on_ack(self, ack: cn.Ack, limiter: cn.Limiter) -> None:\n"
        "            rate: float = limiter.rate - self.p.step\n            limiter.rate = rate\n            at: int = limiter.now_ps + ack.rtt_ps\n"
        "            reveal_type(self.p)\n            limiter.start_timer(0, at * 1e-12)\n\n\n"
        "r = cn.scenario('B07/single-hop').with_(scheme=Typed).run(seeds=2)\nx: float = r[0].metrics['overhead']\nn: int = len(r[:1])\n"
    )
    def checked(text: str) -> str:
        (tmp_path / "typed.py").write_text(text)
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "typed.py"],
            cwd=tmp_path, capture_output=True, text=True,
        ).stdout  # fmt: skip

    said = checked(good)
    assert 'Revealed type is "typed.Typed"' in said and "Success" in said, said
    assert '"Typed" has no attribute "stpe"' in checked(good.replace("- self.p.step", "- self.p.stpe"))


@pytest.mark.parametrize(
    ("scheme", "seeds"),
    [("while True:\n                pass", 1), ("while True:\n                pass", 3), ("time.sleep(0.1)", 1), ("time.sleep(1000)", 1),
     ("while True:\n                try:\n                    while True: pass\n                except BaseException: pass", 1)],
)  # fmt: skip
def test_ctrl_c_ends_a_callback(scheme: str, seeds: int, tmp_path: Path) -> None:
    """Within a second: a callback that loops, sleeps, or takes 0.1 s each time; here and in processes of their own."""
    script = tmp_path / "long.py"
    script.write_text(
        "import cnsim as cn, os, signal, threading, time\n"
        "@cn.scheme('slow')\nclass Slow(cn.Scheme):\n    class CongestionPoint(cn.CongestionPoint):\n"
        "        def start(self, queue):\n            queue.start_timer(0, 1e-6)\n"
        f"        def on_timer(self, timer, queue):\n            {scheme}\n            queue.start_timer(0, 1e-6)\n"
        "def stop():\n    global at\n    at = time.monotonic()\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\nthreading.Timer(2.0, stop).start()\n"
        f"try:\n    cn.scenario('B07/single-hop').with_(scheme='slow').run(seeds={seeds})\n"
        "except KeyboardInterrupt:\n    print('stopped', time.monotonic() - at, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("stopped"), done.stderr
    assert float(done.stdout.split()[1]) < 1.5, done.stdout


def test_ctrl_c_ends_the_program(tmp_path: Path) -> None:
    """The program with a scheme that loops ends with code 130 within seconds."""
    import signal
    import time

    (tmp_path / "loops.py").write_text(
        "import cnsim as cn\n@cn.scheme('loops')\nclass Loops(cn.Scheme):\n    class CongestionPoint(cn.CongestionPoint):\n"
        "        def start(self, queue):\n            open('begun', 'w').close()\n            while True: pass\n"
        "        def on_timer(self, timer, queue):\n            pass\n"
    )
    program = [sys.executable, "-m", "cnsim.program", "--python", "loops.py", "run", "B07/single-hop", "--scheme", "loops", "--quiet"]
    running = subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE)
    while not (tmp_path / "begun").exists() and running.poll() is None:
        time.sleep(0.05)
    at = time.monotonic()
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130 and time.monotonic() - at < 3


def test_classes() -> None:
    transfers = ["0 us, H0, H2, 100 KB", "0 us, H1, H2, 100 KB"]
    s = cn.build(
        "classes",
        topology={"hosts": 3},
        pause_={"frames": "pfc"},
        class_=[{"name": "roce", "weight": "3"}, {"name": "tcp", "weight": "1", "lossless": "off"}],
        traffic=[
            {"hosts": [f"H{n}"], "class": name, "kind": "transfers", "transfers": [transfers[n]]}
            for n, name in enumerate(["roce", "tcp"])
        ],
        run={"duration": "2 ms"},
    )
    r = s.run(seeds=2, progress=False)
    table = list(r.table("classes"))
    assert [(row["class"], row["seed"]) for row in table] == [("roce", 1), ("tcp", 1), ("roce", 2), ("tcp", 2)]
    assert table[0]["completion_time"] < table[1]["completion_time"]
    assert r.table("classes").units["completion_time"] == "us"
    assert {row["class"]: row["flows"] for row in r.time_by_part()} == {"roce": 1, "tcp": 1}
    assert s.with_({"class.1.weight": "9"}).run(progress=False).table("classes").num_rows == 2
    with pytest.raises(cn.CnsimError, match="no run has several classes"):
        cn.build("bare", topology={"hosts": 3}, run={"duration": "1 ms"}).run(progress=False).table("classes")


def test_traffic_by_name() -> None:
    """Completion and throughput of each name, and the name of each flow."""
    incast = {"name": "incast", "hosts": ["H1", "H2", "H3"], "kind": "incast", "destinations": ["H0"], "size": "50 KB"}
    noise = {"name": "noise", "hosts": ["H4"], "kind": "greedy", "destinations": ["H5"]}
    s = cn.build("named", topology={"hosts": 6}, traffic=[incast, noise], run={"duration": "1 ms"}, scheme=["none"])
    r = s.run(seeds=2, progress=False)
    table = list(r.table("traffic"))
    assert [(row["traffic"], row["seed"]) for row in table] == [("incast", 1), ("noise", 1), ("incast", 2), ("noise", 2)]
    assert table[0]["completed_transfers"] == 3 and table[0]["completion_time_p99"] > 100
    assert table[1]["completion_time"] is None and table[1]["aggregate_throughput"] > 9
    assert r.table("traffic").units["completion_time_p99"] == "us"
    assert {row["traffic"] for row in r.table("flows")} == {"incast"}
    with pytest.raises(cn.CnsimError, match="no traffic has a name"):
        cn.build("bare", topology={"hosts": 3}, run={"duration": "1 ms"}).run(progress=False).table("traffic")


def test_notes_are_said_once_and_on_the_card(tmp_path: Path) -> None:
    file = tmp_path / "n.toml"
    file.write_text(
        'name = "n"\n[topology]\nhosts = 4\n[workload]\nkind = "permutation"\nsize = "10 MB"\n[run]\nduration = "100 us"\nseeds = 2\n'
    )
    with pytest.warns(cn.ResultsWarning, match="8 of 8") as told:
        r = cn.scenario(str(file)).run(seeds=2)
    lines = [line for line in r.notes if "8 of 8" in line]
    assert len(told) == 1 and lines, r.notes
    assert lines[0].replace(">", "&gt;") in r._repr_html_()
