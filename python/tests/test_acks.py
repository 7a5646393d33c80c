"""Schemes in Python that need acknowledgements: the same bits as in Rust, and what they receive."""

from __future__ import annotations

from typing import Any

import pytest

import cnsim as cn
import cnsim.testing

from test_errors import refused

import bbr_python  # noqa: F401
import dctcp_python  # noqa: F401
import hpcc_python  # noqa: F401

PAIRS = {"queues": "per-flow"}


def clos(share: str, **more: Any) -> cn.Scenario:
    """Web search in a small Clos network; a small memory drops frames."""
    return cn.build(
        "twins",
        topology={"kind": "leaf-spine", "leaves": 2, "spines": 2, "per_switch": 4, "link_rate": "25 Gb/s"},
        switch={"share": share},
        host=PAIRS,
        transport={"kind": "go-back-n", "rto": "200 us"},
        workload={"kind": "poisson", "sizes": "websearch", "load": "60 %", "frame": "1048 B", "header": "48 B", "stop": "1 ms"},
        run={"duration": "2 ms"},
        record={"completion": "acknowledged"},
        pause="off",
        **more,
    )


def star(scheme: str, transport: dict[str, Any] | None = None, **more: Any) -> cn.Scenario:
    """Two hosts send 30 KB each to a third."""
    return cn.build(
        "star",
        topology={"kind": "single-switch", "hosts": 3},
        host=PAIRS,
        transport=transport or {},
        traffic=[{"hosts": "H1..H2", "kind": "incast", "destinations": "H0", "size": "30 KB"}],
        run={"duration": "2 ms"},
        pause="off",
        scheme=scheme,
        **more,
    )


@pytest.mark.parametrize(
    ("scheme", "share", "sets"),
    [
        ("dctcp", "1 MB", {}),
        ("dctcp", "40 KB", {"scheme.params.k": "30 KB", "scheme.params.initial_window": 4}),
        ("hpcc", "1 MB", {}),
        ("hpcc", "20 KB", {"scheme.params.max_stage": 0, "scheme.params.eta": 0.8}),
    ],
)
def test_windows_in_python_have_the_bits_of_rust(scheme: str, share: str, sets: dict[str, Any]) -> None:
    """Marks, losses and telemetry: every event, frame and sample."""
    rust, python = (clos(share, scheme=name).with_(sets).run(seeds=2, threads=1) for name in (scheme, f"{scheme}-python"))
    assert python.fingerprints == rust.fingerprints
    assert [r.metrics for r in python] == [r.metrics for r in rust] and python[0].counters == rust[0].counters
    if share == "40 KB":
        assert rust[0].metrics["timeouts"] > 0 and rust[0].metrics["resent_share"] > 1
    assert clos("1 MB", scheme=scheme).run(seeds=2, threads=1).fingerprints != rust.fingerprints or not sets


@pytest.mark.parametrize("name", ["dctcp-python", "hpcc-python"])
def test_conformance(name: str) -> None:
    assert "acknowledgements" in {c.name for c in cn.testing.check_scheme(name, ranges=True)}


def test_a_scenario_without_acknowledgements_is_refused() -> None:
    hop = cn.scenario("B07/single-hop")
    e = refused(cn.ScenarioError, "dctcp-python needs acknowledgements", hop.with_, scheme="dctcp-python")
    assert 'host.queues = "per-flow"' in str(e)
    refused(cn.ScenarioError, "0 stands for no acknowledgements", star, "dctcp-python", {"ack_every": 0})


def listening(start: str = "", plan: str = 'cn.Plan(scope="flow", acks="needed")', point: str = "") -> list[Any]:
    """What a reaction point of this plan receives, which begins so: its site, acknowledgements and losses."""
    seen: list[Any] = []
    space: dict[str, Any] = {"cn": cn, "__name__": "tried", "seen": lambda *what: seen.append(what)}
    exec(
        f"@cn.scheme('listening')\nclass Listening(cn.Scheme):\n    plan = {plan}\n"
        + (f"    class CongestionPoint(cn.CongestionPoint):\n        def start(self, queue):\n            {point}\n" if point else "")
        + "    class ReactionPoint(cn.ReactionPoint):\n"
        f"        def start(self, limiter):\n            seen('site', self.site, limiter.window)\n            {start or 'pass'}\n"
        "        def on_ack(self, ack, limiter):\n"
        "            seen('ack', ack, limiter.acked, limiter.in_flight, limiter.next_seq, limiter.now_ps)\n"
        "        def on_loss(self, loss, limiter):\n            seen('loss', loss)\n",
        space,
    )
    return seen


EACH = "limiter.wake_on_acks(cn.AckGate(each=True))"


def test_what_a_reaction_point_receives() -> None:
    seen = listening(f"{EACH}; limiter.window = 15_000")
    star("listening").run(threads=1)
    (_, site, window), *acks = [s for s in seen if s[0] == "site" or s[1].path == () and s[5] >= 0]
    assert window is None and site.hops == 2 and site.size == 30_000 and site.traffic_class == "data"
    assert site.initial_rate is None and site.line_rate == 10e9
    acks = [s for s in acks if s[0] == "ack"]
    assert len(acks) == 40 and sum(a[1].newly for a in acks) == 60_000
    assert all(a[2] == a[1].acked and a[3] == a[4] - a[2] <= 15_000 for a in acks)
    assert all(a[1].rtt_ps >= round(site.base_rtt * 1e12) and not a[1].marked and a[1].newly_marked == 0 for a in acks)


def test_gates() -> None:
    """Once a round trip, or only marks: the acknowledgements between are counted in the next."""
    counts = {}
    for gate in ("each=True", "per_window=True", "marked=True", ""):
        seen = listening(f"limiter.wake_on_acks(cn.AckGate({gate})); limiter.window = 6000", point="queue.mark(20_000, 20_000)")
        star("listening").run(threads=1)
        acks = [s[1] for s in seen if s[0] == "ack"]
        counts[gate] = len(acks), sum(a.newly for a in acks), {a.marked for a in acks}
    assert counts["each=True"][:2] == (40, 60_000) and counts[""][0] == 0
    assert 4 < counts["per_window=True"][0] < 20
    marks = listening(f"{EACH}", point="queue.mark(20_000, 20_000)")
    star("listening").run(threads=1)
    assert {True, False} == {s[1].marked for s in marks if s[0] == "ack"}


def test_telemetry() -> None:
    seen = listening(EACH, 'cn.Plan(scope="flow", acks="telemetry")', "queue.record_departures()")
    clos("1 MB", scheme="listening").run(threads=1)
    paths = [s[1].path for s in seen if s[0] == "ack"]
    assert {len(path) for path in paths} == {1, 3}
    for path in paths:
        assert all(isinstance(hop, cn.Hop) and hop.rate == 25e9 and hop.time_ps == round(hop.time * 1e12) for hop in path)
        assert [hop.time_ps for hop in path] == sorted(hop.time_ps for hop in path)
    assert max(hop.queue for path in paths for hop in path) > 10_000
    listening(EACH, point="queue.record_departures()")
    refused(cn.RunError, "Acks::Telemetry", star("listening").run)


def test_losses() -> None:
    seen = listening(EACH)
    clos("20 KB", scheme="listening").run(threads=1)
    losses = [s[1] for s in seen if s[0] == "loss"]
    assert set(losses) == {cn.Loss.Nack, cn.Loss.Timeout} and any(loss is cn.Loss.Nack for loss in losses)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("limiter.window = 0", "a window of 0 B holds the flow for good"),
        ("limiter.window = -1", "that is no number of bytes"),
        ("limiter.wake_on_acks(True)", "TypeError"),
    ],
)
def test_mistakes(start: str, words: str) -> None:
    listening(start)
    refused(cn.CnsimError, words, lambda: star("listening").run(threads=1))


def test_a_window_is_taken_away() -> None:
    seen = listening("limiter.window = 4e3; seen('site', None, limiter.window); limiter.window = None; seen('site', None, limiter.window)")
    star("listening").run(threads=1)
    assert [s[2] for s in seen[:3]] == [None, 4000, None]


def test_plans_that_cannot_be() -> None:
    refused(cn.SchemeError, 'cn.Plan(scope="flow", acks="needed")', listening, EACH, 'cn.Plan(acks="needed")')
    refused(cn.SchemeError, "write one of optional, needed, telemetry", listening, EACH, 'cn.Plan(scope="flow", acks="yes")')
    refused(cn.SchemeError, "write one of flow, pair, host", listening, EACH, 'cn.Plan(scope="flows", echo=True)')
    refused(cn.SchemeError, "nobody calls ReactionPoint.on_ack", listening, "", 'cn.Plan(scope="flow")')
    refused(cn.SchemeError, "nobody calls ReactionPoint.on_ack", listening, EACH, "cn.Plan()")


def test_acknowledgements_that_are_not_needed() -> None:
    """A scheme may use those that there are, and runs without."""
    seen = listening(EACH, 'cn.Plan(scope="flow", first_frame=True)')
    cn.scenario("B07/single-hop").with_({"run.duration": "2 ms"}, hotspot__start="1 ms", hotspot__stop="2 ms", scheme="listening").run(threads=1)
    assert {s[0] for s in seen} == {"site"}
    seen.clear()
    star("listening", {"kind": "go-back-n"}).run(threads=1)
    assert {s[0] for s in seen} == {"site", "ack"}


def test_a_scheme_that_nothing_wakes_is_found() -> None:
    listening("limiter.engage()")
    refused(cn.SchemeError, "arm `wake_on_acks`", cn.testing.check_scheme, "listening")


def test_rate_and_window_over_tcp() -> None:
    """One frame in 200 is lost of 5 MB through a port of 1 Gb/s, which take 40 ms: samples of delivery mind no loss."""
    lossy = cn.build(
        "lossy",
        topology={"kind": "single-switch", "hosts": 2, "link_delay": "50 us"},
        host=PAIRS,
        transport={"kind": "tcp", "rto_min": "fine"},
        workload={"kind": "transfers", "transfers": ["0 us, H1, H0, 5 MB"]},
        event=[{"port": "S>H0", "at": "0 us", "rate": "1 Gb/s"}, {"link": "H1-S", "loss": "0.5 %"}],
        run={"duration": "200 ms"},
        pause="off",
    )
    mine, reno = (lossy.with_(scheme=scheme).run().metric("completion_time_p99").mean for scheme in ("bbr-python", "newreno"))
    assert 40e3 < mine < 50e3 and reno > mine, (mine, reno)
    cnsim.testing.check_scheme("bbr-python")
