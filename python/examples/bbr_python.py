"""A BBR-like scheme over TCP: rate and window from samples of delivery. It is `examples/my-scheme/src/bbr.rs` in Python."""

import cnsim as cn


@cn.scheme("bbr-python")
class Bbr(cn.Scheme):
    """Paces at the largest rate of delivery of the last rounds, with a window of twice that times the least round trip."""

    initial_window = cn.param.integer(10, low=1, high=1_000_000, symbol="IW", doc="Window before the first sample, frames.")
    startup = cn.param.number(2.885, low=1.1, high=10, doc="Gain of the rate at the start.")
    probe = cn.param.number(1.25, low=1, high=2, doc="Gain of the rate in one of eight round trips.")
    window_gain = cn.param.number(2, low=1, high=10, doc="Window, as a multiple of bandwidth and least round trip.")
    memory = cn.param.integer(10, low=1, high=1000, doc="Rounds whose samples count.")
    min_rate = cn.param.rate("1 Mb/s", low="0.01 Mb/s", high="10 Gb/s", doc="Smallest rate.")
    plan = cn.Plan(scope="flow", acks="needed")
    promise = cn.Promise(floor=0.01e6, warms_up=1e9)  # below line rate for as long as it measures

    class ReactionPoint(cn.ReactionPoint["Bbr"]):
        def start(self, limiter: cn.Limiter) -> None:
            self.phase, self.part, self.until = "startup", 2, 0.0
            self.best, self.still = 0.0, 0  # the bandwidth when it last grew by a quarter, and rounds since
            self.least = 0.0  # least round trip, s; 0 before the first
            self.samples: list[float] = []  # B/s, the last one at the end
            self.round: tuple[float, int, int] | None = None  # when it began, what had been delivered, the byte that ends it
            limiter.engage()
            limiter.wake_on_acks(cn.AckGate(each=True))
            limiter.window = self.p.initial_window * self.site.mtu

        def on_ack(self, ack: cn.Ack, limiter: cn.Limiter) -> None:
            delivered = ack.acked + limiter.reported
            self.least = min(self.least, ack.rtt) if self.least else ack.rtt
            if self.round is None or ack.acked >= self.round[2]:
                last, self.round = self.round, (limiter.now, delivered, limiter.next_seq)
                if last is not None and last[0] < limiter.now:
                    self.sample(max(delivered - last[1], 0) / (limiter.now - last[0]))
            self.apply(limiter)

        def sample(self, rate: float) -> None:
            self.samples = [*self.samples, rate][-self.p.memory :]
            if self.phase == "startup":
                bandwidth = max(self.samples)
                grows = bandwidth >= 1.25 * self.best
                self.best, self.still = (bandwidth, 0) if grows else (self.best, self.still + 1)
                if self.still == 3:
                    self.phase = "drain"

        def apply(self, limiter: cn.Limiter) -> None:
            bandwidth = max(self.samples, default=0.0)
            if bandwidth == 0:
                return
            product = bandwidth * self.least
            if self.phase == "drain" and limiter.in_flight <= product:
                self.phase, self.until = "cycle", limiter.now + self.least
            elif self.phase == "cycle" and limiter.now >= self.until:
                self.part, self.until = (self.part + 1) % 8, limiter.now + self.least
            cycle = {0: self.p.probe, 1: 1 / self.p.probe}.get(self.part, 1.0)
            gain = {"startup": self.p.startup, "drain": 1 / self.p.startup}.get(self.phase, cycle)
            limiter.rate = min(max(8 * gain * bandwidth, self.p.min_rate), limiter.line_rate)
            width = max(self.p.startup, self.p.window_gain) if self.phase == "startup" else self.p.window_gain
            limiter.window = max(width * product, 4 * self.site.mtu)
