"""Searching for parameters, and what is said about the answer."""

from __future__ import annotations

import pytest

import cnsim as cn

from conftest import SHORT, needs
from test_errors import refused

pytestmark = pytest.mark.usefixtures("optuna")
# With the study's floor and the default byte counter one setting is the best in both aims, and there is no front to look at.
FORMER = {"scheme.params.r_min": "10 Mb/s", "scheme.params.byte_restart": "always"}
HOP = cn.scenario("B07/single-hop").with_({**SHORT, **FORMER}, scheme="qcn-2pt")
OVER = {"scheme.params.q_eq": ("8 KB", "64 KB", "log"), "scheme.params.gd": (1 / 512, 1 / 16, "log")}


@pytest.fixture(scope="module")
def optuna() -> None:
    """The extra that tuning needs."""
    needs("optuna")


@pytest.fixture(scope="module")
def found(optuna: None) -> cn.Tuning:
    return cn.tune(HOP, OVER, minimise=["mean_hot_queue", "overhead"], subject_to="dropped_frames == 0", trials=12, seeds=2)


def test_the_front(found: cn.Tuning) -> None:
    assert len(found.trials) == 13 and found.usual.values["scheme.params.q_eq"] == pytest.approx(26.176)
    front = [tuple(e.mean for e in t.aims) for t in found.pareto]
    every = [tuple(e.mean for e in t.aims) for t in found.trials if t.feasible]
    assert all(not (a[0] <= b[0] and a[1] <= b[1] and a != b) for b in front for a in every)
    assert len(front) >= 2 and all(b[0] >= a[0] and b[1] <= a[1] for a, b in zip(front, front[1:]))
    best = found.scenario().run(seeds=2)
    assert best.metric("mean_hot_queue").values == found.best.aims[0].values, "the setting is what was run"


def test_the_same_seed_searches_the_same(found: cn.Tuning) -> None:
    again = cn.tune(HOP, OVER, minimise=["mean_hot_queue", "overhead"], subject_to="dropped_frames == 0", trials=12, seeds=2)
    assert [t.values for t in again.trials] == [t.values for t in found.trials]


def test_the_answer_is_explained(found: cn.Tuning) -> None:
    said = found.explain()
    for words in ("Best setting: scheme.params.q_eq = ", "95 %", "5 % of its range", "liff"):
        assert words in said, said
    needs("SALib")
    shares = found.sensitivity()
    assert set(shares) == set(OVER) and all(0 <= v <= 1 for v in shares.values())


def test_one_aim_that_is_maximised_and_a_condition_that_nothing_keeps() -> None:
    one = cn.tune(HOP, {"scheme.params.gd": (1 / 512, 1 / 16, "log")}, maximise="aggregate_throughput", trials=5, seeds=1)
    assert one.best.aims[0].mean == max(t.aims[0].mean for t in one.trials)
    none = cn.tune(HOP, {"scheme.params.gd": (1 / 512, 1 / 16)}, minimise="overhead", subject_to="mean_hot_queue < 0", trials=2, seeds=1)
    refused(cn.ScenarioError, "keeps `mean_hot_queue < 0`", none.explain)


def test_bad_input() -> None:
    over = {"scheme.params.gd": (0.001, 0.1)}
    refused(cn.ScenarioError, "no key to tune", cn.tune, HOP, {}, minimise="overhead")
    refused(cn.ScenarioError, "no aim", cn.tune, HOP, over)
    refused(cn.ScenarioError, "did you mean", cn.tune, HOP, over, minimise="overhed")
    refused(cn.ScenarioError, "comparison", cn.tune, HOP, over, minimise="overhead", subject_to="none dropped")
    refused(cn.ScenarioError, "is no range", cn.tune, HOP, {"scheme.params.gd": (0.1, 0.001)}, minimise="overhead")
    refused(cn.ScenarioError, "is no range", cn.tune, HOP, {"scheme.params.gd": 3}, minimise="overhead")
    refused(cn.ScenarioError, "is no key", cn.tune, HOP, {"scheme.params.gdd": (0.001, 0.1)}, minimise="overhead")
    refused(cn.ScenarioError, "whole number", cn.tune, HOP, over, minimise="overhead", trials=0)
