"""Schemes in Python: the same bits, the same places, their own errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn
import cnsim.testing

from conftest import EXAMPLES, SHORT
from test_errors import refused

import delay_target  # noqa: F401
import qcn_python  # noqa: F401

HOP = cn.scenario("B07/single-hop")
# The example samples by bytes; B07's tables sample by frames.
RUST = {"scheme.params.sampling": "bytes"}


@pytest.mark.parametrize("pause", ["on", "off"])
def test_qcn_in_python_has_the_bits_of_qcn_in_rust(pause: str) -> None:
    """Every event, frame and sample of every run."""
    s = HOP.with_({"run.duration": "60 ms", "hotspot.start": "5 ms", "hotspot.stop": "30 ms"}, pause=pause)
    rust = s.with_(RUST, scheme="qcn-2pt").run(seeds=2)
    python = s.with_(scheme="qcn-2pt-python").run(seeds=2, threads=1)
    assert python.fingerprints == rust.fingerprints
    assert [r.metrics for r in python] == [r.metrics for r in rust]
    assert python[0].counters == rust[0].counters and rust[0].counters["cnm_messages"] > 10
    assert all(a.series(n) == b.series(n) for a, b in zip(python, rust) for n in a.series_names())
    set_ = s.with_({"scheme.params.q_eq": "40 KB", "scheme.params.gd": "1/64"})
    again = set_.with_(RUST, scheme="qcn-2pt").run().fingerprints
    assert set_.with_(scheme="qcn-2pt-python").run().fingerprints == again
    assert again != rust[:1].fingerprints


def test_processes_and_threads_give_the_same(tmp_path: Path) -> None:
    s = HOP.with_(SHORT, scheme="qcn-2pt-python")
    one = s.run(seeds=3, threads=1)
    assert s.run(seeds=3, threads=2, out=tmp_path).fingerprints == one.fingerprints
    assert len(list((tmp_path / "runs").glob("*.json"))) == 3


def test_delay_target_holds_its_queue() -> None:
    """A scheme that no switch helps keeps the round trip near its target where `none` fills the memory."""
    s = HOP.with_({"run.duration": "160 ms", "hotspot.start": "5 ms", "hotspot.stop": "155 ms"})
    mine, none = s.with_(scheme="delay-target").run(), s.with_(scheme="none").run()
    assert mine[0].counters["delay_cuts"] > 10
    assert mine.queue().values[100:150].mean() < 0.5 * none.queue().values[100:150].mean()


def test_conformance() -> None:
    for name in ("qcn-2pt-python", "delay-target"):
        report = cn.testing.check_scheme(name)
        assert report.ok and len(report) >= 8 and "bounds" in repr(report)

    assert cn.testing.check_scheme("delay-target", ranges=True).ok
    wild = halving("limiter.engage(); limiter.rate = limiter.line_rate * 2")
    refused(cn.SchemeError, "is above the link's", cn.testing.check_scheme, wild)
    e = refused(cn.SchemeError, "ZeroDivisionError", cn.testing.check_scheme, halving("1 / 0"))
    assert isinstance(e.__cause__, ZeroDivisionError)
    refused(cn.SchemeError, "there is no scheme", cn.testing.check_scheme, "qcn-2pt-pyhton")


def test_parameters_are_known_everywhere(tmp_path: Path) -> None:
    s = HOP.with_(SHORT, scheme="qcn-2pt-python")
    assert s.with_({"scheme.params.ri": "24 Mb/s"}).config()["scheme"]["params"]["ri"] == "0.024 Gb/s"
    refused(cn.ScenarioError, "64 B to 100 MB", s.with_, {"scheme.params.q_eq": "3 B"})
    refused(cn.ScenarioError, "did you mean", s.with_, {"scheme.params.q_e": "26 KB"})
    row = next(r for r in cn.list("schemes") if r["name"] == "qcn-2pt-python")
    assert row["python"] and row["params"][1] == {
        "key": "q_eq", "kind": "bytes", "default": "26.176 KB", "range": "64 B to 100 MB", "symbol": "Q_eq",
        "about": "Set point of the queue.",
    }  # fmt: skip
    program = [sys.executable, "-m", "cnsim.program", "--python", str(EXAMPLES / "qcn_python.py")]
    told = subprocess.run([*program, "explain", "qcn-2pt-python"], capture_output=True, text=True)
    assert told.returncode == 0 and "Set point of the queue." in told.stdout, told.stderr
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\n[topology]\nhosts = 4\n[run]\nduration = "2 ms"\n[scheme.qcn-2pt-python]\nq_eq = "30 KB"\n'
        '[matrix]\nschemes = ["qcn-2pt-python", "qcn-2pt"]\n'
    )
    run = subprocess.run([*program, "run", str(file), "--out", str(tmp_path / "o"), "--json"], capture_output=True, text=True)
    assert run.returncode == 0 and '"q_eq":"30 KB"' in run.stdout, run.stderr
    verify = [sys.executable, "-m", "cnsim.program", "verify", str(tmp_path / "o" / "results.json")]
    assert subprocess.run([*verify, "--python", str(EXAMPLES / "qcn_python.py")], capture_output=True).returncode == 0
    lost = subprocess.run(verify, capture_output=True, text=True)
    assert lost.returncode == 2 and "names no scheme" in " ".join(lost.stderr.split())


def test_two_threads_do_not_wait_for_each_other(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        'name = "two"\n[topology]\nhosts = 23\nlink_rate = "100 Gb/s"\n[host]\nqueues = "per-flow"\n[workload]\n'
        'kind = "all-to-all"\nsize = "3 KB"\n[run]\nduration = "200 us"\nseeds = 6\n[matrix]\nschemes = ["dctcp-python"]\n'
    )
    program = [sys.executable, "-m", "cnsim.program", "--python", str(EXAMPLES / "dctcp_python.py")]
    done = subprocess.run([*program, "run", str(file), "--threads", "2", "--out", str(tmp_path / "o")], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    fct = (tmp_path / "o" / "fct.csv").read_text().splitlines()
    assert len(fct) == 1 + 6 * 23 * 22


def halving(body: str) -> type[cn.Scheme]:
    """A scheme whose reaction point has this body."""
    space: dict[str, Any] = {"cn": cn, "__name__": "tried"}
    exec(
        "@cn.scheme('tried')\nclass Tried(cn.Scheme):\n"
        "    class CongestionPoint(cn.CongestionPoint):\n"
        "        def start(self, queue):\n            queue.sample_after(1e4)\n"
        "        def on_sample(self, frame, queue):\n            queue.notify(frame.flow, cn.Feedback.User(1, 2))\n"
        "    class ReactionPoint(cn.ReactionPoint):\n"
        f"        def on_feedback(self, feedback, limiter):\n            {body}\n",
        space,
    )
    found: type[cn.Scheme] = space["Tried"]
    return found


@pytest.mark.parametrize(
    ("body", "words", "cause"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero", ZeroDivisionError),
        ("limiter.rate = float('nan')", "give a finite number of bit/s", cn.SchemeError),
        ("limiter.rate = -5.0", "that is no rate", cn.SchemeError),
        ("limiter.rate = 'fast'", "TypeError", TypeError),
        ("limiter.start_timer(4, 1.0)", "slots are 0 to 3", cn.SchemeError),
        ("limiter.start_timer(0, -1.0)", "that is no time", cn.SchemeError),
        ("limiter.wake_after(float('inf'))", "that is no number of bytes", cn.SchemeError),
        ("limiter.engge()", "AttributeError", AttributeError),
        ("limiter.count('nothing')", "there is no counter `nothing`", None),
    ],
)
def test_what_a_scheme_raises_ends_the_run(body: str, words: str, cause: type[BaseException] | None) -> None:
    """The run ends with the simulated time and the site; the exception is the cause, with its own traceback."""
    halving(body)
    with pytest.raises(cn.CnsimError) as e:
        HOP.with_(SHORT, scheme="tried").run(threads=1)
    assert words in str(e.value)
    assert "us" in str(e.value) and "seed 1" in str(e.value), "where and when"
    if cause is not None:
        assert isinstance(e.value.__cause__, cause) and "tried.ReactionPoint.on_feedback" in str(e.value)
        frames = e.value.__cause__.__traceback__
        assert frames is not None and frames.tb_frame.f_code.co_name == "on_feedback"


def test_a_handle_lasts_one_call() -> None:
    kept = []
    cls = halving("self.seen(limiter)")
    cls.ReactionPoint.seen = lambda self, limiter: kept.append(limiter)  # type: ignore[attr-defined]
    HOP.with_(SHORT, scheme="tried").run(threads=1)
    refused(cn.SchemeError, "after its call", lambda: kept[0].rate)


def test_a_run_is_known_by_the_schemes_code(tmp_path: Path) -> None:
    """An edited scheme never takes the results of what it was before."""
    halving("limiter.rate = limiter.rate / 2; limiter.engage()")
    s = HOP.with_(SHORT, scheme="tried")
    first = s.run(out=tmp_path, threads=1)
    halving("limiter.rate = limiter.rate / 4; limiter.engage()")
    second = HOP.with_(SHORT, scheme="tried").run(out=tmp_path, threads=1)
    assert first[0].key != second[0].key and first.fingerprints != second.fingerprints
    halving("limiter.rate = limiter.rate / 2; limiter.engage()")
    assert HOP.with_(SHORT, scheme="tried").run(out=tmp_path, threads=1)[0].key == first[0].key


def test_declarations() -> None:
    class Empty(cn.Scheme):
        pass

    class Deaf(cn.Scheme):
        class ReactionPoint(cn.ReactionPoint):
            def on_bytes(self, limiter: cn.Limiter) -> None:
                pass

    class Misspelt(cn.Scheme):
        class CongestionPoint(cn.CongestionPoint):
            def on_sampel(self, frame: cn.Frame, queue: cn.Queue) -> None:
                pass

    class Out(cn.Scheme):
        w = cn.param.number(9, low=0, high=1)
        ReactionPoint = qcn_python.Qcn.ReactionPoint

    class Unit(cn.Scheme):
        w = cn.param.rate("9 parsecs")
        ReactionPoint = qcn_python.Qcn.ReactionPoint

    class Wrong(cn.Scheme):
        class ReactionPoint:
            pass

    refused(cn.SchemeError, "has no room", cn.scheme("x"), Empty)
    refused(cn.SchemeError, "receives nothing", cn.scheme("x"), Deaf)
    refused(cn.SchemeError, "did you mean `on_sample`?", cn.scheme("x"), Misspelt)
    refused(cn.SchemeError, "allowed: 0 to 1", cn.scheme("x"), Out)
    refused(cn.SchemeError, "parsecs", cn.scheme("x"), Unit)
    refused(cn.SchemeError, "is no cn.ReactionPoint", cn.scheme("x"), Wrong)
    refused(cn.SchemeError, "is no class of schemes", cn.scheme("x"), int)
    refused(cn.SchemeError, "is no name", cn.scheme("a b"), qcn_python.Qcn)
    refused(cn.SchemeError, "is taken by `qcn-2pt`", cn.scheme("qcn-2pt"), qcn_python.Qcn)
    refused(cn.SchemeError, "registered without a name", cn.scheme, qcn_python.Qcn)
    assert "x" not in cn.list("schemes").names


@pytest.mark.parametrize("option", ["--python", "--executor"])
def test_an_option_without_its_value_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    from cnsim.program import main

    assert main(["sweep", "B07/single-hop", option]) == 2
    assert f"{option} has no value" in capsys.readouterr().err


def test_the_program_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    def said(text: str | None, *verb: str) -> tuple[int, str]:
        file = tmp_path / "mine.py"
        if text is not None:
            file.write_text(text)
        program = [sys.executable, "-m", "cnsim.program", "--python", str(file)]
        done = subprocess.run([*program, *verb], capture_output=True, text=True)
        assert str(Path(cn.__file__).parent) not in done.stderr, "frames of cnsim are nothing to a user"
        return done.returncode, done.stderr

    code, text = said(None, "list")
    assert code == 2 and "no such file" in text
    code, text = said("x = 1\n", "list")
    assert code == 2 and "registers no scheme" in text
    code, text = said("def f():\n    return 1 / 0\nf()\n", "list")
    assert code == 2 and "line 2, in f" in text and "ZeroDivisionError" in text and "runpy" not in text
    good = (EXAMPLES / "qcn_python.py").read_text()
    sets = [x for k, v in SHORT.items() for x in ("--set", f"{k}={v}")]
    run = ["run", "B07/single-hop", "--scheme", "qcn-2pt-python", *sets, "--out", str(tmp_path / "o")]
    assert said(good, *run)[0] == 0
    code, text = said(good.replace("self.q_old = q\n", "self.q_old = q / 0\n"), *run)
    assert code == 1 and "ZeroDivisionError" in text and "in on_sample" in text and "qcn-2pt-python.CongestionPoint" in text


def suite_script(tmp_path: Path, callback: str, call: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program that looks at a scheme with this callback, while a thread of its own counts; Ctrl-C comes after two seconds."""
    script = tmp_path / "looks.py"
    script.write_text(
        "import cnsim as cn, cnsim.testing, os, signal, sys, threading, time\n"
        "@cn.scheme('slow')\nclass Slow(cn.Scheme):\n"
        "    step = cn.param.number(1, low=0, high=2, doc='Step.')\n    class CongestionPoint(cn.CongestionPoint):\n"
        "        def start(self, queue):\n            queue.start_timer(0, 1e-6)\n"
        f"        def on_timer(self, timer, queue):\n            {callback}\n            queue.start_timer(0, 1e-6)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\nticks, over = 0, False\n"
        "def tick():\n    global ticks\n    while not over:\n        ticks += 1\n        time.sleep(0.001)\n    print('counted', ticks > 100)\n"
        "counting = threading.Thread(target=tick)\n"
        "def stop():\n    global at\n    counting.start()\n    time.sleep(1)\n    at = time.monotonic()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Timer(1.0, stop).start()\n"
        f"try:\n    {call}\n"
        "except KeyboardInterrupt:\n    print('stopped', time.monotonic() - at < 1.5)\n"
        "time.sleep(0.5)\nover = True\ncounting.join()\nsys.stdout.flush()\n"
    )
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("ranges", [False, True])
@pytest.mark.parametrize("callback", ["while True: pass", "time.sleep(0.05)"])
def test_ctrl_c_ends_the_suite(callback: str, ranges: bool, tmp_path: Path) -> None:
    """A callback that loops, or is slow, leaves the suite within a second; another thread of the program goes on."""
    done = suite_script(tmp_path, callback, f"cn.testing.check_scheme(Slow, ranges={ranges})")
    assert done.stdout == "stopped True\ncounted True\n" and done.returncode == 0, done.stdout + done.stderr


def test_ranges_start_from_the_parameters_given() -> None:
    """The settings given are looked at once; at the ends of the other ranges they hold, too."""

    @cn.scheme("ranged")
    class Ranged(cn.Scheme):
        low = cn.param.number(0, low=0, high=1, doc="An end.")
        high = cn.param.number(0, low=0, high=1, doc="Another.")

        class CongestionPoint(cn.CongestionPoint):
            def start(self, queue: cn.Queue) -> None:
                if self.p.low == self.p.high == 1:
                    raise ArithmeticError("both")

    plain = cn.testing.check_scheme("ranged")
    report = cn.testing.check_scheme("ranged", ranges=True)
    assert report[: len(plain)] == plain and len({c.name for c in report}) == len(report)
    assert {"bounds", "alone", "bounds with low = 1", "hostile-messages with high = 0"} <= {c.name for c in report}
    e = refused(cn.SchemeError, "both", cn.testing.check_scheme, "ranged", ranges=True, low=1)
    assert isinstance(e.__cause__, ArithmeticError)
    refused(cn.SchemeError, "0 to 1", cn.testing.check_scheme, "ranged", ranges=True, low=2)
