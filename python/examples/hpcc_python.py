"""HPCC in Python: telemetry that the network writes beside each frame. Its runs are those of `hpcc`, bit for bit, where the
scenario gives no initial rate."""

import cnsim as cn


@cn.scheme("hpcc-python")
class Hpcc(cn.Scheme):
    """High-precision congestion control (2019): rate and window follow the utilisation of the busiest port of the path."""

    eta = cn.param.number(0.95, low=0.01, high=1, symbol="eta", doc="Utilisation that is aimed at.")
    max_stage = cn.param.integer(5, low=0, high=1_000_000, symbol="maxStage", doc="Additive steps in a row.")
    ai_rate = cn.param.rate("50 Mb/s", low=0, high="10 Tb/s", symbol="R_AI", doc="Additive step.")
    min_rate = cn.param.rate("100 Mb/s", low="10 kb/s", high="10 Tb/s", symbol="R_min", doc="Smallest rate.")
    plan = cn.Plan(scope="flow", acks="telemetry")
    promise = cn.Promise(floor=100e6, warms_up=1e6, reacts=True)

    class CongestionPoint(cn.CongestionPoint):
        def start(self, queue: cn.Queue) -> None:
            queue.record_departures()

    class ReactionPoint(cn.ReactionPoint["Hpcc"]):
        def start(self, limiter: cn.Limiter) -> None:
            self.t = max(self.site.base_rtt, 1e-9)
            self.reference = min(max(limiter.line_rate, self.p.min_rate), limiter.line_rate)
            self.u, self.stage = 1.0, 0
            self.last: tuple[cn.Hop, ...] = ()
            self.update_after: int | None = None  # an acknowledgement of more than this commits
            limiter.engage()
            self.set(self.reference, limiter)
            limiter.wake_on_acks(cn.AckGate(each=True))

        def set(self, rate: float, limiter: cn.Limiter) -> None:
            limiter.rate = rate
            limiter.window = max(int(rate / 8.0 * self.t), 1)
            limiter.retime()

        def measure(self, path: tuple[cn.Hop, ...]) -> tuple[float, float] | None:
            """The largest utilisation of a port since the last acknowledgement, and the seconds between the two records."""
            before, self.last = self.last, path
            largest: tuple[float, float] | None = None
            for old, new in zip(before, path) if len(before) == len(path) else ():
                tau = (new.time_ps - old.time_ps) * 1e-12
                if tau > 0 and new.sent >= old.sent and new.rate > 0:
                    queue = min(new.queue, old.queue) * 8.0
                    u = (new.sent - old.sent) * 8.0 / tau / new.rate + queue / (new.rate * self.t)
                    if largest is None or u > largest[0]:
                        largest = u, tau
            return largest

        def on_ack(self, ack: cn.Ack, limiter: cn.Limiter) -> None:
            found = self.measure(ack.path)
            if self.update_after is None:
                self.update_after = limiter.next_seq
                return
            commit = ack.acked > self.update_after
            if found is not None:
                u, tau = found[0], min(found[1], self.t)
                self.u = (self.u * (self.t - tau) + u * tau) / self.t
                k, stage = self.u / self.p.eta, self.stage + 1
                rate = self.reference + self.p.ai_rate
                if k >= 1.0 or self.stage >= self.p.max_stage:
                    rate, stage = (self.reference / k if k > 0 else limiter.line_rate) + self.p.ai_rate, 0
                rate = min(max(rate, self.p.min_rate), limiter.line_rate)
                self.set(rate, limiter)
                if commit:
                    self.reference, self.stage = rate, stage
            if commit:
                self.update_after = max(limiter.next_seq, self.update_after)
