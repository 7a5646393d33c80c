"""Bad input: each is an exception of ours that says what is wrong and what would be right, and nothing is half-written."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn
from cnsim.scenario import sweep

from conftest import SHORT

HOP = cn.scenario("B07/single-hop")


def refused(kind: type[cn.CnsimError], words: str, call: Any, *args: Any, **kwargs: Any) -> cn.CnsimError:
    with pytest.raises(kind) as e:
        call(*args, **kwargs)
    text = str(e.value)
    assert words in text, text
    assert e.value.reason and e.value.remedy, text
    return e.value


def test_scenarios() -> None:
    refused(cn.ScenarioError, "did you mean `B07/single-hop`?", cn.scenario, "B07/single-hpo")
    refused(cn.ScenarioError, "give a name or the path", cn.scenario, 7)
    refused(cn.ScenarioError, "no such file", cn.scenario, "no/such.toml")
    e = refused(cn.ScenarioError, "did you mean `hotspot.rate`", HOP.with_, hotspot__rat="1 Gb/s")
    assert isinstance(e, cn.ScenarioError)
    assert e.problems[0].key == "hotspot.rat" and e.problems[0].file == "" and "--" not in str(e) and e.key == "hotspot.rat"
    assert isinstance(e, (KeyError, ValueError)) and isinstance(e, cn.UnknownName)
    refused(cn.ScenarioError, "1 GB/s", HOP.with_, hotspot__rate="1 GB/s")
    refused(cn.ScenarioError, "did you mean `qcn-2pt`?", HOP.with_, scheme="qcn-2p")
    refused(cn.ScenarioError, "global", HOP.with_, pause="maybe")
    refused(cn.ScenarioError, "text with a unit", HOP.with_, run__duration=float("nan"))
    refused(cn.ScenarioError, "text with a unit", HOP.with_, run__duration=object())
    refused(cn.ScenarioError, "does not fit", HOP.with_(condition="nonsense").run)


def test_errors_are_pythons_own() -> None:
    """A name that there is not is a `KeyError`, what cannot be used a `ValueError`, and none speaks of the command line."""
    names: list[Any] = [
        lambda: cn.scenario("B07/single-hpo"), lambda: HOP.with_(scheme="qcn-2p"), lambda: HOP.with_({"scheme.params.q_e": 1}),
        lambda: sweep(HOP, hotspot__rat=[1, 2]), lambda: cn.list("schemas"),
    ]  # fmt: skip
    for call in names:
        with pytest.raises(KeyError) as e:
            call()
        assert isinstance(e.value, ValueError) and not re.search(r"--(set|over)|`cnsim ", str(e.value)), str(e.value)
        assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    for call in (lambda: HOP.with_(pause="maybe"), lambda: sweep(HOP, hotspot__rate=["1 GB/s"]), lambda: HOP.run(seeds=0)):
        with pytest.raises(ValueError) as f:
            call()
        assert not isinstance(f.value, KeyError) and "--" not in str(f.value), str(f.value)


def test_parts() -> None:
    refused(cn.ScenarioError, "networkx graph", cn.build, "x", topology=7)
    refused(cn.ScenarioError, "mapping of keys", cn.build, "x", run=7)
    refused(cn.ScenarioError, "did you mean", cn.build, "x", run={"duratoin": "1 ms"})


def test_a_file_says_where(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('name = "x"\n[run]\nduration = "5 parsecs"\n')
    e = refused(cn.ScenarioError, "my.toml:3:", cn.scenario, file)
    assert isinstance(e, cn.ScenarioError)
    problem = e.problems[0]
    assert (problem.line, problem.key) == (3, "run.duration") and problem.remedy
    file.write_bytes(b"\xff\xfe\x00")
    refused(cn.ScenarioError, "my.toml", cn.scenario, file)
    same = pickle.loads(pickle.dumps(e))
    assert str(same) == str(e) and same.key == e.key


def test_counts() -> None:
    for seeds in (0, -1, 2.5, True, "3", 10**7):
        refused(cn.ScenarioError, "whole number from 1", HOP.run, seeds=seeds)
        refused(cn.ScenarioError, "whole number from 1", sweep, HOP, seeds=seeds)
    refused(cn.ScenarioError, "threads=-1", HOP.run, threads=-1)
    refused(cn.ScenarioError, '"key" or "all"', HOP.run, series="most")
    refused(cn.ScenarioError, "force=True", HOP.with_(run__duration="1000 s").run, seeds=1000)


def test_results() -> None:
    r = HOP.with_(SHORT, scheme="qcn-2pt").run()
    refused(cn.ScenarioError, "did you mean `overhead`?", r.metric, "overhed")
    refused(cn.ScenarioError, "did you mean", r.summary, ["overhed"])
    refused(cn.ScenarioError, "did you mean `metrics`?", r.table, "metric")
    refused(cn.ScenarioError, "did you mean `hot_queue`?", r.series, "hot_quee")
    refused(cn.ScenarioError, "there are no `schemas`", cn.list, "schemas")
    refused(cn.CnsimError, "run the scenario first", r.only(scheme="ecm").table)
    refused(cn.CnsimError, "results.json", cn.load, "no/such")


def test_results_of_another_version(tmp_path: Path) -> None:
    path = HOP.with_(SHORT).run().save(tmp_path)
    path.write_text(path.read_text().replace(f'"result_version":{cn.RESULT_VERSION}', '"result_version":1'))
    refused(cn.VersionError, "results of version 1", cn.load, path)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(cn.CnsimError, "another", HOP.with_(SHORT).run, out=tmp_path / "file")
    refused(cn.CnsimError, "another", HOP.with_(SHORT).run().save, tmp_path / "file")


def test_sweeps() -> None:
    refused(cn.ScenarioError, "did you mean `hotspot.rate`", sweep, HOP, hotspot__rat=["1 Gb/s", "2 Gb/s"])
    refused(cn.ScenarioError, "twice", sweep, HOP, hotspot__rate=["1 Gb/s", "1 Gb/s"])
    refused(cn.ScenarioError, "at least one", sweep, HOP, hotspot__rate=[])
    refused(cn.ScenarioError, "give a share", sweep, HOP, until="much")
    refused(cn.ScenarioError, "did you mean", sweep, HOP, until={"overhed": "1%"})
    refused(cn.ScenarioError, "is no scenario", sweep, 7)
    refused(cn.ExecutorError, "is no executor", sweep, HOP.with_(SHORT), executor=7)
    s = sweep(HOP.with_(SHORT), scheme=["none"], seeds=1)
    refused(cn.ScenarioError, "no point of the sweep", s.compare, "overhead", "ecm")
    refused(cn.ScenarioError, "did you mean", s.compare, "overhed", "none")


def test_an_extra_that_is_missing_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['arro3.io'] = None; import cnsim as cn\n"
        f"r = cn.scenario('B07/single-hop').with_({SHORT!r}).run()\n"
        "for call in (r.plot, lambda: r.to_parquet('x.parquet')):\n"
        "    try: call()\n"
        "    except cn.MissingExtra as e: print(e.remedy)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "pip install 'cnsim[plot]'\npip install 'cnsim[parquet]'\n", done.stderr
