"""Slips of schemes in Python: each ends the run with its cause, place and simulated time, or is harmless."""

from __future__ import annotations

from typing import Any

import pytest

import cnsim as cn

HOP = cn.scenario("B07/single-hop").with_({"run.duration": "2 ms", "hotspot.start": "0.2 ms", "hotspot.stop": "1.8 ms"})

ROOMS = """
@cn.scheme("slips")
class Slips(cn.Scheme):
    plan = cn.Plan({plan})
    counters = {{"known": "what is counted"}}
    class CongestionPoint(cn.CongestionPoint):
        def start(self, queue):
            {start}
            queue.sample_after(1e4)
        def on_sample(self, frame, queue):
            queue.notify(frame.flow, cn.Feedback.User(1, 2))
            queue.sample_after(1e4)
            {sample}
        def on_timer(self, timer, queue):
            {timer}
    class ReactionPoint(cn.ReactionPoint):
        def on_feedback(self, feedback, limiter):
            {feedback}
        def on_timer(self, timer, limiter):
            {expiry}
    class Reflector(cn.Reflector):
        def on_frame(self, frame, sink):
            {frame}
"""


def scheme(plan: str = 'reflect="always"', **bodies: str) -> None:
    """Registers a scheme with these bodies."""
    rooms = dict.fromkeys(("start", "sample", "timer", "feedback", "expiry", "frame"), "pass")
    space: dict[str, Any] = {"cn": cn, "__name__": "slips"}
    exec(ROOMS.format(plan=plan, **{**rooms, **bodies}), space)


@pytest.mark.parametrize(
    ("room", "body", "words"),
    [
        ("start", "queue.mark(0, 9, p_max=7)", "7 is no probability of a mark"),
        ("start", "queue.mark(0, 9, p_beyond=float('nan'))", "NaN is no probability"),
        ("start", "queue.mark(9, 5)", "the ramp falls"),
        ("start", "queue.mark(-1, 5)", "that is no number of bytes"),
        ("start", "queue.sample_with(float('nan'))", "NaN is no probability of a sample"),
        ("start", "queue.sample_with(1.5)", "1.5 is no probability"),
        ("start", "queue.start_timer(4, 1.0)", "slots are 0 to 3"),
        ("start", "queue.start_timer(0, float('inf'))", "that is no time"),
        ("start", "queue.sampel_with(0.1)", "AttributeError"),
        ("start", "self.p.nothing", "AttributeError"),
        ("start", "queue.len = 0", "AttributeError"),
        ("sample", "queue.notify(999999, cn.Feedback.User(1, 2))", "there is no flow 999999"),
        ("sample", "queue.notify(-1, cn.Feedback.User(1, 2))", "OverflowError"),
        ("sample", "queue.notify(frame, cn.Feedback.User(1, 2))", "TypeError"),
        ("sample", "queue.notify(frame.flow, 'slow down')", "TypeError"),
        ("sample", "queue.notify(frame.flow, cn.Feedback.Cnm(1, 64, 0, 0))", "its format cannot carry"),
        ("sample", "queue.notify(frame.flow, cn.Feedback.Ecm(1, 0.0, 0.0, float('nan'), False))", "cannot carry"),
        ("sample", "queue.broadcast(cn.Feedback.AdvertisedRate(1, -5.0))", "that is no rate"),
        ("sample", "queue.answer()", "none is in hand"),
        ("sample", "queue.count('unknown')", "there is no counter `unknown`"),
        ("sample", "frame.tag = 1 << 40", "OverflowError"),
        ("feedback", "limiter.rate = limiter.rate * 2", "is above the link's 10 Gb/s"),
        ("feedback", "limiter.rate = limiter.rate * float('nan')", "that is no rate"),
        ("feedback", "limiter.rate = limiter.rate / 0", "ZeroDivisionError"),
        ("feedback", "limiter.rate -= 1e12", "that is no rate"),
        ("feedback", "limiter.send_probe(cn.Probe(1, 4711))", "congestion point 4711"),
        ("feedback", "limiter.send_probe(1)", "TypeError"),
        ("feedback", "limiter.start_timer(0, 0)", "time does not pass"),
        ("feedback", "feedback.point", "AttributeError"),
        ("feedback", "assert feedback.a == 2", "AssertionError"),
        ("feedback", "raise SystemExit(3)", "SystemExit"),
        ("frame", "sink.received", "`Plan::received` is off"),
        ("frame", "sink.hear('all')", "a reflector cannot hear `all`"),
        ("frame", "sink.hear('unmarked', 2.0)", "2 is no probability"),
        ("frame", "sink.ignore_for(-1)", "that is no time"),
        ("frame", "sink.reply(cn.Feedback.Cnm(1, 200, 0, 0))", "its format cannot carry"),
        ("frame", "self.here = sink; self.__class__.on_frame = 1; sink.nothing()", "AttributeError"),
    ],
)
def test_a_slip_ends_the_run(room: str, body: str, words: str) -> None:
    """With the scheme, its site, the seed and the simulated time; the exception has the scheme's own line."""
    scheme(**{room: body, "expiry": "limiter.start_timer(0, 0)"})
    with pytest.raises(cn.CnsimError) as e:
        HOP.with_(scheme="slips").run(threads=1)
    text = str(e.value)
    assert words in text, text
    assert all(part in text for part in ("slips", "seed 1", "at ", "us: ")), text
    assert any(site in text for site in ("congestion point of port", "reaction point of flow", "reflector of flow")), text


@pytest.mark.parametrize("plan", ['reflect="unmarked", reflect_probability=float("nan")', 'reflect="sometimes"'])
def test_a_plan_that_cannot_be(plan: str) -> None:
    with pytest.raises(cn.SchemeError):
        scheme(plan)


@pytest.mark.parametrize(
    ("room", "body"),
    [
        ("start", "queue.sample_after(0)"),
        ("start", "queue.sample_after(1e300)"),
        ("start", "queue.stop_timer(3)"),
        ("start", "queue.start_timer(1, 1e9)"),
        ("sample", "frame.tag = None"),
        ("feedback", "limiter.rate = limiter.line_rate / 3 * 3"),
        ("feedback", "limiter.wake_after(1e300)"),
        ("feedback", "limiter.release_when_empty()"),
        ("frame", "sink.ignore_for(1e9)"),
    ],
)
def test_harmless(room: str, body: str) -> None:
    scheme(**{room: body})
    assert HOP.with_(scheme="slips").run(threads=1)[0].packet_hops > 1000
