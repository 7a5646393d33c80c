"""DCTCP in Python: a window that acknowledgements steer, and an oracle of the bridge. Its runs are those of `dctcp` with
`form = "window"`, bit for bit, where the scenario gives no initial rate."""

import math

import cnsim as cn


@cn.scheme("dctcp-python")
class Dctcp(cn.Scheme):
    """Data centre TCP (2010): once a window, a mark cuts the window by half of the share of marked bytes."""

    k = cn.param.bytes("97.5 KB", low=0, high="1 GB", symbol="K", doc="Queue length above which every frame is marked.")
    g = cn.param.number("1/16", low=0, high=1, symbol="g", doc="Gain of alpha.")
    initial_window = cn.param.integer(10, low=1, high=1_000_000, symbol="IW", doc="Window at the start, frames.")
    min_window = cn.param.integer(2, low=1, high=1_000_000, doc="Smallest window, frames.")
    plan = cn.Plan(scope="flow", acks="needed")
    promise = cn.Promise(floor=100e6, reacts=True)
    counters = {"cuts": "cuts of a window"}

    class CongestionPoint(cn.CongestionPoint["Dctcp"]):
        def start(self, queue: cn.Queue) -> None:
            queue.mark(self.p.k, self.p.k)

    class ReactionPoint(cn.ReactionPoint["Dctcp"]):
        def start(self, limiter: cn.Limiter) -> None:
            self.window = float(self.p.initial_window)  # in frames
            self.threshold = math.inf  # slow start below it
            self.alpha = 1.0
            self.acked = self.marked = self.window_end = 0  # of the present window
            self.in_flight = self.in_flight_before = 0.0  # most frames in flight, in this window and in the one before
            self.cut_until: int | None = None
            limiter.engage()
            limiter.wake_on_acks(cn.AckGate(each=True))
            self.apply(limiter)

        def apply(self, limiter: cn.Limiter) -> None:
            self.window = max(self.window, float(self.p.min_window))
            limiter.window = int(self.window) * self.site.mtu

        def cut(self, part: float, limiter: cn.Limiter) -> None:
            limiter.count("cuts")
            self.window = self.threshold = max(self.window * part, float(self.p.min_window))
            self.cut_until = limiter.next_seq  # no other cut until all that has been sent is acknowledged

        def on_ack(self, ack: cn.Ack, limiter: cn.Limiter) -> None:
            self.acked += ack.newly
            self.marked += ack.newly_marked
            before = (limiter.in_flight + ack.newly) / self.site.mtu
            self.in_flight = max(self.in_flight, before)
            if ack.acked > self.window_end:
                self.in_flight, self.in_flight_before = before, self.in_flight
                if self.window_end > 0 and self.acked > 0:
                    self.alpha = (1.0 - self.p.g) * self.alpha + self.p.g * (self.marked / self.acked)
                    self.acked = self.marked = 0
                self.window_end = max(limiter.next_seq, 1)
            if self.cut_until is not None and ack.acked > self.cut_until:
                self.cut_until = None
            if ack.marked and self.cut_until is None:
                self.cut(1.0 - self.alpha / 2.0, limiter)
            if self.cut_until is None:
                self.grow(ack.newly / self.site.mtu)
            self.apply(limiter)

        def grow(self, frames: float) -> None:
            used, starts = max(self.in_flight, self.in_flight_before), self.window < self.threshold
            if self.window < (2.0 * used if starts else used + 1.0):  # a window that the flow does not fill stays as it is
                self.window += frames if starts else frames / self.window

        def on_loss(self, loss: cn.Loss, limiter: cn.Limiter) -> None:
            if loss is cn.Loss.Nack and self.cut_until is not None:
                return
            self.cut(0.5, limiter)
            if loss is cn.Loss.Timeout:
                self.window, self.cut_until = 1.0, None
            self.apply(limiter)
