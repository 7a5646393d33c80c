"""Delay target in Python: a scheme that the catalogue does not have, driven by the round-trip time alone."""

import cnsim as cn


@cn.scheme("delay-target")
class DelayTarget(cn.Scheme):
    """Rates follow the distance of the round-trip time from a target: additive below it, in proportion above it.

    The source has one frame in every `segment` bytes acknowledged; no switch takes part. Idea: G. Kumar et al., "Swift: Delay is
    Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, here with rates in place of windows.
    """

    target = cn.param.time("30 us", low="1 us", high="10 ms", symbol="T", doc="Round-trip time that is aimed at.")
    step = cn.param.rate("50 Mb/s", low="1 Mb/s", high="10 Gb/s", symbol="a", doc="Rate won per acknowledgement.")
    beta = cn.param.number(0.8, low=0, high=1, doc="Gain of a cut.")
    deepest = cn.param.number(0.5, low=0, high=1, doc="Largest cut at once.")
    segment = cn.param.bytes("16 KB", low=64, high="10 MB", doc="Bytes from one acknowledged frame to the next.")
    floor = cn.param.rate("10 Mb/s", low="1 Mb/s", high="10 Gb/s", doc="Smallest rate.")
    plan = cn.Plan(first_frame=True, echo=True)
    promise = cn.Promise(floor=10e6)
    counters = {"delay_cuts": "acknowledgements that lowered a rate"}

    class ReactionPoint(cn.ReactionPoint):
        p: "DelayTarget"

        def start(self, limiter: cn.Limiter) -> None:
            limiter.wake_after(self.p.segment)
            self.last_cut = -1.0

        def on_bytes(self, limiter: cn.Limiter) -> None:
            limiter.echo_next()
            limiter.wake_after(self.p.segment)

        def on_ack(self, ack: cn.Ack, limiter: cn.Limiter) -> None:
            p, rate = self.p, limiter.rate
            if ack.rtt <= p.target:
                limiter.rate = min(rate + p.step, limiter.line_rate)
            elif limiter.now - self.last_cut >= ack.rtt:  # one cut in a round trip
                cut = min(p.beta * (ack.rtt - p.target) / ack.rtt, p.deepest)
                limiter.engage()
                limiter.rate = min(max(rate * (1.0 - cut), p.floor), limiter.line_rate)
                limiter.count("delay_cuts")
                self.last_cut = limiter.now
            if limiter.rate >= limiter.line_rate:
                limiter.release_when_empty()
